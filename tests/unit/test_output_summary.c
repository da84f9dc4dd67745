// summary.json and summary.txt: contact intervals, totals beyond what is kept, energy, verdicts, valid JSON always.

#include "test_output_fake.h"

#include "output/summary.h"

extern const pcs_observer_ops pcs_observer_summary;

// The parameters as the option table's offsets have them: open_time and filter, s.
// The options as the observer keeps them.
typedef struct options {
    double open_time, filter;
    bool text;
} options;

static const options at_once = { 0.0, NAN, true }, by_default = { NAN, NAN, true };

static const pcs_summary *summary_of(const fake_run *r)
{
    return r->observer.data;
}

// One step in which the first contact passes on `force` and an impact impulse, the second nothing.
static void push(fake_run *r, long step, double force, double impulse)
{
    fake_move(r, step);
    for (int j = 0; j < FAKE_ROWS; j++) {
        r->rows[j] = (pcs_row_report){ .gap = 1.0 + j };
    }
    r->rows[1].force = force;
    r->rows[1].impulse = impulse;
    r->rows[1].step_impulse = force * fake_h + impulse;
    r->rows[1].is_impact = impulse > 0.0;
    r->rows[1].gap = 0.5 - (double)step / 128.0;
    CHECK_OK(r->ctx, r->observer.ops->step(&r->observer));
}

static void start_with(fake_run *r, const options *params)
{
    fake_create(r, "summary", &pcs_observer_summary, params);
    for (int j = 0; j < FAKE_ROWS; j++) r->rows[j] = (pcs_row_report){ .gap = 1.0 + j, .force = NAN };
    fake_open(r);
}

static void start(fake_run *r)
{
    start_with(r, &at_once);
}

static int count_intervals(const fake_run *r)
{
    char *text = fake_read(r, "summary.json");
    int count = 0;
    for (const char *p = text; (p = strstr(p, "\"first_step\"")) != NULL; p++) count++;
    free(text);
    return count;
}

TEST(intervals_are_runs_of_steps_with_an_impulse)
{
    fake_run r;
    start(&r);
    const double force[] = { 0, 0, 100, 300, 200, 0, 0, 50, 60 };
    for (long step = 1; step <= 9; step++) push(&r, step, force[step - 1], step == 3 ? 0.25 : 0.0);
    const pcs_contact_record *c = &summary_of(&r)->contacts[0];
    CHECK(c->ninterval == 2);
    CHECK(c->is_touching);
    const pcs_interval *i = &c->kept[0];
    CHECK(i->first_step == 3 && i->last_step == 5 && i->nimpact == 1);
    CHECK_NEAR(i->start, 2 * fake_h, 0.0); // the beginning of step 3
    CHECK_NEAR(i->end, 5 * fake_h, 0.0);
    CHECK_NEAR(i->peak_force, 300.0, 0.0);
    CHECK_NEAR(i->peak_time, 4 * fake_h, 0.0);
    // The mean is over the smooth force, the total has the impact impulse too.
    CHECK_NEAR(pcs_interval_mean(i), 200.0, 1e-12 * 200.0);
    CHECK_NEAR(i->impulse, 0.6 + 0.25, 1e-15);
    CHECK(c->kept[1].first_step == 8 && c->kept[1].last_step == 9 && c->kept[1].nimpact == 0);
    CHECK_NEAR(c->touching_time, 5 * fake_h, 1e-18);
    CHECK_NEAR(c->impulse, 0.6 + 0.25 + 0.11, 1e-15);
    CHECK_NEAR(c->peak_force, 300.0, 0.0);
    CHECK_NEAR(c->min_gap, 0.5 - 9.0 / 128.0, 0.0);
    CHECK_NEAR(c->min_gap_time, 9 * fake_h, 0.0);
    CHECK(summary_of(&r)->contacts[1].ninterval == 0);
    CHECK_NEAR(summary_of(&r)->contacts[1].min_gap, 3.0, 0.0);
    fake_close(&r);
    CHECK(count_intervals(&r) == 2);
}

// Open for 2 ms, 3 ms and 4 ms: by default three steps of a millisecond end nothing.
TEST(an_interval_ends_after_the_open_time)
{
    const int touches[] = { 1, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1 };
    const options params[] = { { NAN, NAN, true }, { 2e-3, NAN, true }, { 0.0, NAN, false } };
    const long count[] = { 2, 3, 4 }, last[] = { 9, 5, 2 };
    const double lasts[] = { 10e-3, 7e-3, 5e-3 }, mean[] = { 40.0 / 9.0, 6.0, 10.0 };
    for (int k = 0; k < 3; k++) {
        fake_run r;
        start_with(&r, &params[k]);
        for (long step = 1; step <= 14; step++) push(&r, step, 10.0 * touches[step - 1], 0.0);
        const pcs_contact_record *c = &summary_of(&r)->contacts[0];
        CHECK(c->ninterval == count[k]);
        CHECK(c->kept[0].first_step == 1 && c->kept[0].last_step == last[k]);
        // Openings within an interval belong to its time, and lower its mean force.
        CHECK_NEAR(c->touching_time, lasts[k], 1e-15);
        CHECK_NEAR(pcs_interval_mean(&c->kept[0]), mean[k], 1e-12);
        CHECK_NEAR(pcs_contact_mean(c), 50e-3 / c->touching_time, 1e-12);
        fake_close(&r);
    }
}

// What closes and opens again within a step has an impulse and no force; the next interval has both.
TEST(an_impulse_alone_has_no_force)
{
    fake_run r;
    start(&r);
    push(&r, 1, 0.0, 0.5); // half-explicit: no smooth part
    push(&r, 2, 0.0, 0.0);
    fake_move(&r, 3); // implicit: force is the impulse over the step
    for (int j = 0; j < FAKE_ROWS; j++) r.rows[j] = (pcs_row_report){ .gap = 1.0 };
    r.rows[1] = (pcs_row_report){ .force = 700.0, .impulse = 0.7, .step_impulse = 0.7, .is_impact = true };
    CHECK_OK(r.ctx, r.observer.ops->step(&r.observer));
    const pcs_contact_record *c = &summary_of(&r)->contacts[0];
    CHECK(c->ninterval == 2 && !pcs_interval_has_force(&c->kept[0]) && !pcs_interval_has_force(&c->kept[1]));
    CHECK(isnan(pcs_interval_mean(&c->kept[0])) && isnan(pcs_contact_mean(c)) && c->peak_force == -INFINITY);
    CHECK_NEAR(c->impulse, 1.2, 1e-15);
    push(&r, 4, 100.0, 0.0); // goes on: now all of the interval has a force
    CHECK(c->ninterval == 2 && pcs_interval_has_force(&c->last));
    CHECK_NEAR(c->peak_force, 700.0, 0.0);
    CHECK_NEAR(pcs_contact_mean(c), 400.0, 1e-9);
    fake_close(&r);
    CHECK(fake_is_json(&r, "summary.json"));
    fake_has(&r, "summary.json",
             "\"mean_force\": null,\n          \"peak_force\": null,\n          \"peak_force_time\": null,");
}

// Of the size that solvers leave over: neither a contact nor an impact. m_eff times the largest rate is 2 N s.
TEST(an_impulse_of_round_off_is_none)
{
    const double mass[FAKE_ROWS] = { 0.5, 0.5, 0.5 };
    fake_run r;
    start(&r);
    r.view.effective_mass = mass;
    r.state.largest_rate = 4.0;
    push(&r, 1, 0.0, 1e-246);
    push(&r, 2, 1e-9, 0.0);
    CHECK(summary_of(&r)->contacts[0].ninterval == 0 && summary_of(&r)->contacts[0].nimpact == 0);
    push(&r, 3, 1e-6, 0.0); // small, and a force
    CHECK(summary_of(&r)->contacts[0].ninterval == 1);
    fake_close(&r);
}

// A ripple of period 4 steps about 100 N: the mean over 8 steps does not see it, over 2 steps it does.
TEST(the_filtered_peak_is_the_largest_moving_mean)
{
    const double ripple[] = { 0.0, 60.0, 0.0, -60.0 };
    const options params[] = { { 0.0, 8e-3, true }, { 0.0, 2e-3, true }, { 0.0, 2.5e-3, true }, { 0.0, 50e-3, true } };
    const double peak[] = { 100.0, 130.0, 100.0 + 60.0 / 2.5, NAN };
    for (int k = 0; k < 4; k++) {
        fake_run r;
        start_with(&r, &params[k]);
        for (long step = 1; step <= 40; step++) push(&r, step, 100.0 + ripple[step % 4], 0.0);
        const pcs_contact_record *c = &summary_of(&r)->contacts[0];
        CHECK_NEAR(c->peak_force, 160.0, 0.0);
        if (isnan(peak[k])) CHECK(isnan(c->smooth_peak)); // no interval lasts that long
        else CHECK_NEAR(c->smooth_peak, peak[k], 1e-9);
        fake_close(&r);
    }
}

// Steps that are far smaller than the window are told by few points, and an interval that begins again starts anew.
TEST(the_window_holds_any_number_of_steps)
{
    pcs_contact_record c = { .open_time = 0.0, .window_time = 1.0, .peak_force = -INFINITY, .smooth_peak = NAN };
    double t = 0.0, h = 1e-4;
    for (long step = 1; step <= 30000; step++, t += h) {
        double force = t < 1.5 ? t : 3.0 - t; // a triangle: the largest mean over 1 s is that about its top
        pcs_contact_step now = { t, t + h, h, force, force * h, 0.0, force * h, force > 0.0, step, 0 };
        pcs_contact_record_add(&c, &now);
    }
    CHECK(c.window.count <= PCS_WINDOW_POINTS);
    CHECK_NEAR(c.smooth_peak, 1.25, 2e-3);
    CHECK_NEAR(c.smooth_time, 2.0, 2e-2);
}

// Round-off decides no time of a plateau; what grows slowly is followed.
TEST(the_peak_is_when_it_is_first_reached)
{
    pcs_contact_record c = { .open_time = 0.0, .window_time = 0.5, .peak_force = -INFINITY, .smooth_peak = NAN };
    double h = 0.1;
    for (long step = 1; step <= 40; step++) {
        double t = (double)(step - 1) * h,
               force = 5.0 + 1e-14 * (double)step + (step > 30 ? 4e-9 * (double)(step - 30) : 0.0);
        pcs_contact_step now = { t, t + h, h, force, force * h, 0.0, force * h, true, step, 0 };
        pcs_contact_record_add(&c, &now);
        if (step > 30) continue;
        CHECK(c.peak_force == force && c.last.peak_force == force);
        CHECK_NEAR(c.peak_time, 0.1, 1e-12);
        CHECK_NEAR(c.last.peak_time, 0.1, 1e-12);
        if (step >= 5) CHECK_NEAR(c.smooth_time, 0.5, 1e-12);
    }
    CHECK_NEAR(c.peak_force, 5.0 + 4e-8, 1e-12);
    CHECK(c.peak_time > 3.8 && c.smooth_time > 3.5);
}

TEST(losses_and_sliding_are_told_by_contact)
{
    static const pcs_row rows[FAKE_ROWS] = { { .contact = 0, .ntangent = 1, .friction = 0.5 },
                                             { .contact = 0, .first_tangent = 1, .ntangent = 1, .friction = 0.5 },
                                             { .contact = 1, .first_tangent = 2, .ntangent = 1, .friction = 0.5 } };
    pcs_contact_info contacts[2];
    fake_run r;
    fake_create(&r, "summary", &pcs_observer_summary, &by_default);
    fake_friction(&r, rows, contacts);
    for (int j = 0; j < FAKE_ROWS; j++) r.rows[j] = (pcs_row_report){ .gap = 1.0, .force = NAN };
    r.rows[1] = (pcs_row_report){ .force = NAN, .is_closed = true, .slip = { 4.0 } };
    fake_open(&r);
    for (long step = 1; step <= 4; step++) {
        fake_move(&r, step);
        for (int j = 0; j < FAKE_ROWS; j++) r.rows[j] = (pcs_row_report){ .gap = 1.0, .slip = { 100.0 } };
        r.rows[1] = (pcs_row_report){ .force = 1.0,
                                      .step_impulse = 1e-3,
                                      .multiplier = 1e-3,
                                      .is_closed = true,
                                      .slip = { 4.0 - (double)step },
                                      .last_tangent = { -0.5e-3 },
                                      .normal_loss = 0.25,
                                      .friction_loss = 2.0,
                                      .drive_work = 0.125 };
        CHECK_OK(r.ctx, r.observer.ops->step(&r.observer));
    }
    const pcs_contact_record *c = summary_of(&r)->contacts;
    CHECK_NEAR(c[0].slid, 8e-3, 1e-15); // 4 -> 0 m/s in 4 ms
    CHECK_NEAR(c[1].slid, 0.0, 0.0);    // open, however fast
    CHECK(c[0].impact_loss == 1.0 && c[0].friction_loss == 8.0 && c[0].work == -8.5 && c[1].work == 0.0);
    r.ledger.friction_loss = 8.0;
    fake_close(&r);
    fake_has(&r, "summary.json", "\"friction_loss\": 8,\n      \"work\": -8.5,\n      \"sliding_distance\": 0.008");
    fake_has(&r, "summary.txt", "slid 0.008 m, friction took 8 J");
    fake_has(&r, "summary.txt", "  friction                           -8\n");
}

// Opens with an impact of the first contact at t = 0, which has no force.
static void start_with_impact(fake_run *r)
{
    fake_create(r, "summary", &pcs_observer_summary, &at_once);
    for (int j = 0; j < FAKE_ROWS; j++) r->rows[j] = (pcs_row_report){ .gap = 0.0 };
    r->rows[1] = (pcs_row_report){ .step_impulse = 2.0, .impulse = 2.0, .force = NAN, .is_impact = true };
    fake_open(r);
}

TEST(an_impact_at_the_start_counts)
{
    fake_run r;
    start_with_impact(&r);
    push(&r, 1, 100.0, 0.0);
    push(&r, 2, 0.0, 0.0);
    const pcs_contact_record *c = &summary_of(&r)->contacts[0];
    CHECK(c->ninterval == 1 && c->nimpact == 1 && !c->is_touching);
    CHECK_NEAR(c->impulse, 2.1, 1e-15);
    CHECK_NEAR(c->kept[0].start, 0.0, 0.0);
    CHECK_NEAR(c->kept[0].end, fake_h, 0.0);
    CHECK_NEAR(pcs_interval_mean(&c->kept[0]), 100.0, 1e-12);
    CHECK_NEAR(c->peak_force, 100.0, 0.0);
    fake_close(&r);
}

TEST(an_impact_without_duration_has_no_mean_force)
{
    fake_run r;
    start_with_impact(&r);
    push(&r, 1, 0.0, 0.0);
    CHECK(summary_of(&r)->contacts[0].ninterval == 1);
    CHECK_NEAR(summary_of(&r)->contacts[0].impulse, 2.0, 0.0);
    fake_close(&r);
    CHECK(fake_is_json(&r, "summary.json"));
    fake_has(&r, "summary.json", "\"mean_force\": null");
    fake_has(&r, "summary.json", "\"duration\": 0,");
}

TEST(totals_are_exact_beyond_the_intervals_kept)
{
    fake_run r;
    start(&r);
    enum { BOUNCES = 3 * PCS_KEPT_INTERVALS };
    for (long step = 1; step <= 2 * BOUNCES; step++) push(&r, step, step % 2 == 0 ? (double)step : 0.0, 0.0);
    const pcs_contact_record *c = &summary_of(&r)->contacts[0];
    CHECK(c->ninterval == BOUNCES);
    CHECK(c->kept[PCS_KEPT_INTERVALS - 1].first_step == 2 * PCS_KEPT_INTERVALS);
    CHECK(c->last.first_step == 2 * BOUNCES);
    CHECK_NEAR(c->impulse, fake_h * BOUNCES * (BOUNCES + 1.0), 1e-9);
    CHECK_NEAR(c->peak_force, 2.0 * BOUNCES, 0.0);
    fake_close(&r);
    CHECK(fake_is_json(&r, "summary.json"));
    CHECK(count_intervals(&r) == PCS_KEPT_INTERVALS + 1);
    fake_has(&r, "summary.json", "\"interval_count\": 192");
    char *text = fake_read(&r, "summary.txt");
    CHECK_TEXT(text, "... 188 more");
    int nline = 0;
    for (const char *p = text; *p != '\0'; p++) nline += *p == '\n';
    CHECK(nline >= 20 && nline <= 45);
    free(text);
}

TEST(json_tells_the_run)
{
    fake_run r;
    start(&r);
    push(&r, 1, 0.0, 0.0);
    r.ledger = (pcs_ledger){ .now = { .kinetic = 300, .strain = 150, .potential = 47.5 },
                             .initial = 500,
                             .external_work = 1,
                             .damping_loss = 0.5,
                             .impact_loss = 1.5,
                             .friction_loss = 0.5,
                             .correction_work = 0.25,
                             .numerical_loss = 1.125,
                             .largest_rise = NAN };
    r.view.reason = "step 2 \"did not\" converge";
    r.view.ending = PCS_STOPPED;
    CHECK_OK(r.ctx, r.observer.ops->close(&r.observer));
    CHECK(fake_is_json(&r, "summary.json"));
    char *text = fake_read(&r, "summary.json");
    const char *const parts[] = {
        "\"case\": \"fake\"",
        "\"ending\": \"stopped\"",
        "\"reason\": \"step 2 \\\"did not\\\" converge\"",
        "\"dofs\": 12",
        "\"done\": 1",
        "\"planned\": 10",
        "\"iterations_mean\": 1,",
        "\"factorizations\": 2",
        "\"initial\": 500",
        "\"final\": 497.5",
        "\"numerical_loss\": 1.125",
        "\"numerical_loss_is\": \"formula\"",
        // 497.5 - 500 - (1 - 0.5 - 1.5 - 0.5 + 0.25 - 1.125)
        "\"imbalance\": -0.125",
        "\"largest_rise\": null",
        "\"steps_per_second\": 2",
        "\"total\": 0.71875",
        "\"memory_bytes\": 123456",
        "\"worst_ratio\": 0.25",
        "\"worst_value\": -2.5e-13",
        "\"verdict\": \"reported\"",
        "\"broken\": null",
        "\"peak_force\": null",
        "\"interval_count\": 0",
        "\"min_gap\": 0.4921875",
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) CHECK_TEXT(text, parts[i]);
    free(text);
    fake_has(&r, "summary.txt",
             "fake stopped at t = 0.001 s after 1 of 10 steps of 0.001 s\nreason: step 2 \"did not\" converge\n");
    fake_has(&r, "summary.txt", "never closed");
    fake_has(&r, "summary.txt", "by formula");
    fake_has(&r, "summary.txt", "every check held");
    CHECK(!fake_exists(&r, "summary.json.part"));
    CHECK(!fake_exists(&r, "summary.txt.part"));
    pcs_context_destroy(&r.ctx);
}

TEST(a_broken_certificate_is_named)
{
    fake_run r;
    start(&r);
    r.checks[1].worst_ratio = 17.0;
    r.certificate.broken = &r.checks[1];
    fake_close(&r);
    fake_has(&r, "summary.json", "\"verdict\": \"broken\",\n    \"broken\": \"momentum\"");
    fake_has(&r, "summary.json", "\"worst_ratio\": 17,");
    fake_has(&r, "summary.txt", "Certificate: BROKEN, first 'momentum'");
    r.checks[0].worst_ratio = NAN;
    assert_string_equal(pcs_check_verdict(&r.checks[0]), "broken");
    assert_string_equal(pcs_check_verdict(&r.checks[1]), "broken");
    assert_string_equal(pcs_check_verdict(&r.checks[2]), "reported");
    r.checks[0].worst_ratio = 1.0;
    assert_string_equal(pcs_check_verdict(&r.checks[0]), "held");
}

TEST(a_marked_check_is_named)
{
    fake_run r;
    start(&r);
    r.checks[1].worst_ratio = 0.02;
    r.checks[1].mark = 0.01;
    fake_close(&r);
    fake_has(&r, "summary.json", "\"verdict\": \"marked\",\n    \"broken\": null");
    fake_has(&r, "summary.txt", "Certificate: every check held; MARKED: momentum\n");
    r.checks[1].worst_ratio = 0.01;
    assert_string_equal(pcs_check_verdict(&r.checks[1]), "held");
    r.checks[2].mark = 1.0;
    r.checks[2].worst_ratio = 2.0;
    assert_string_equal(pcs_check_verdict(&r.checks[2]), "marked");
}

// Where most steps had to be cut, a length that needed no cut is told.
TEST(steps_that_are_too_long_are_told)
{
    for (long cut = 1; cut <= 2; cut++) {
        fake_run r;
        start(&r);
        push(&r, 1, 0.0, 0.0);
        push(&r, 2, 0.0, 0.0);
        push(&r, 3, 0.0, 0.0);
        r.view.step_size = 0.016;
        r.view.cut_steps = cut;
        r.view.finest_cut = 4;
        fake_close(&r);
        char *text = fake_read(&r, "summary.txt");
        CHECK_TEXT(text, "covered by smaller ones");
        CHECK((strstr(text, "Steps of 0.001 s usually take less work") != NULL) == (cut == 2));
        free(text);
    }
}

TEST(json_stays_valid_whatever_comes)
{
    fake_run r;
    start(&r);
    static char endless[60000];
    memset(endless, '\x01', sizeof endless - 1);
    r.view.title = endless;
    r.view.reason = "\xff\xfe\"\\\n";
    r.view.case_name = "";
    r.view.step_backend = r.view.mass_backend = NULL;
    r.system.picture = NULL;
    r.state.t = INFINITY;
    r.timing = (pcs_timing){ NAN, 0, 0, 0, 0 };
    r.certificate.ncheck = 0;
    fake_close(&r);
    CHECK(fake_is_json(&r, "summary.json"));
    fake_has(&r, "summary.json", "\"title\": \"\\u0001\\u0001");
    CHECK(fake_exists(&r, "summary.txt"));
}
