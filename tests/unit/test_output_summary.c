// summary.json and summary.txt: contact intervals, totals beyond what is kept, energy, verdicts, valid JSON always.

#include "test_output_fake.h"

#include "output/summary.h"

extern const pcs_observer_ops pcs_observer_summary;

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

static void start(fake_run *r)
{
    fake_create(r, "summary", &pcs_observer_summary, NULL);
    for (int j = 0; j < FAKE_ROWS; j++) r->rows[j] = (pcs_row_report){ .gap = 1.0 + j, .force = NAN };
    fake_open(r);
}

static int count_intervals(const fake_run *r)
{
    char *text = fake_read(r, "summary.json");
    int count = 0;
    for (const char *p = text; (p = strstr(p, "\"first_step\"")) != NULL; p++) count++;
    free(text);
    return count;
}

static void intervals_are_runs_of_steps_with_an_impulse(void **state)
{
    (void)state;
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
    CHECK_NEAR(pcs_interval_mean(i->smooth_impulse, i->end - i->start), 200.0, 1e-12 * 200.0);
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

// Opens with an impact of the first contact at t = 0, which has no force.
static void start_with_impact(fake_run *r)
{
    fake_create(r, "summary", &pcs_observer_summary, NULL);
    for (int j = 0; j < FAKE_ROWS; j++) r->rows[j] = (pcs_row_report){ .gap = 0.0 };
    r->rows[1] = (pcs_row_report){ .step_impulse = 2.0, .impulse = 2.0, .force = NAN, .is_impact = true };
    fake_open(r);
}

static void an_impact_at_the_start_counts(void **state)
{
    (void)state;
    fake_run r;
    start_with_impact(&r);
    push(&r, 1, 100.0, 0.0);
    push(&r, 2, 0.0, 0.0);
    const pcs_contact_record *c = &summary_of(&r)->contacts[0];
    CHECK(c->ninterval == 1 && c->nimpact == 1 && !c->is_touching);
    CHECK_NEAR(c->impulse, 2.1, 1e-15);
    CHECK_NEAR(c->kept[0].start, 0.0, 0.0);
    CHECK_NEAR(c->kept[0].end, fake_h, 0.0);
    CHECK_NEAR(pcs_interval_mean(c->kept[0].smooth_impulse, fake_h), 100.0, 1e-12);
    CHECK_NEAR(c->peak_force, 100.0, 0.0);
    fake_close(&r);
}

static void an_impact_without_duration_has_no_mean_force(void **state)
{
    (void)state;
    fake_run r;
    start_with_impact(&r);
    push(&r, 1, 0.0, 0.0);
    CHECK(summary_of(&r)->contacts[0].ninterval == 1);
    CHECK_NEAR(summary_of(&r)->contacts[0].impulse, 2.0, 0.0);
    fake_close(&r);
    CHECK(fake_is_json(&r, "summary.json"));
    char *text = fake_read(&r, "summary.json");
    CHECK_TEXT(text, "\"mean_force\": null");
    CHECK_TEXT(text, "\"duration\": 0,");
    free(text);
}

static void totals_are_exact_beyond_the_intervals_kept(void **state)
{
    (void)state;
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
    char *text = fake_read(&r, "summary.json");
    CHECK_TEXT(text, "\"interval_count\": 192");
    free(text);
    text = fake_read(&r, "summary.txt");
    CHECK_TEXT(text, "... 188 more");
    int nline = 0;
    for (const char *p = text; *p != '\0'; p++) nline += *p == '\n';
    CHECK(nline >= 20 && nline <= 45);
    free(text);
}

static void json_tells_the_run(void **state)
{
    (void)state;
    fake_run r;
    start(&r);
    push(&r, 1, 0.0, 0.0);
    r.ledger = (pcs_ledger){ .now = { .kinetic = 300, .strain = 150, .potential = 47.5 },
                             .initial = 500,
                             .external_work = 1,
                             .damping_loss = 0.5,
                             .impact_loss = 2,
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
        // 497.5 - 500 - (1 - 0.5 - 2 + 0.25 - 1.125)
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
    text = fake_read(&r, "summary.txt");
    CHECK_TEXT(text,
               "fake stopped at t = 0.001 s after 1 of 10 steps of 0.001 s\nreason: step 2 \"did not\" converge\n");
    CHECK_TEXT(text, "never closed");
    CHECK_TEXT(text, "by formula");
    CHECK_TEXT(text, "every check held");
    free(text);
    CHECK(!fake_exists(&r, "summary.json.part"));
    CHECK(!fake_exists(&r, "summary.txt.part"));
    pcs_context_destroy(&r.ctx);
}

static void a_broken_certificate_is_named(void **state)
{
    (void)state;
    fake_run r;
    start(&r);
    r.checks[1].worst_ratio = 17.0;
    r.certificate.broken = &r.checks[1];
    fake_close(&r);
    char *text = fake_read(&r, "summary.json");
    CHECK_TEXT(text, "\"verdict\": \"broken\",\n    \"broken\": \"momentum\"");
    CHECK_TEXT(text, "\"worst_ratio\": 17,");
    free(text);
    text = fake_read(&r, "summary.txt");
    CHECK_TEXT(text, "Certificate: BROKEN, first 'momentum'");
    free(text);
    r.checks[0].worst_ratio = NAN;
    assert_string_equal(pcs_check_verdict(&r.checks[0]), "broken");
    assert_string_equal(pcs_check_verdict(&r.checks[1]), "broken");
    assert_string_equal(pcs_check_verdict(&r.checks[2]), "reported");
    r.checks[0].worst_ratio = 1.0;
    assert_string_equal(pcs_check_verdict(&r.checks[0]), "held");
}

static void json_stays_valid_whatever_comes(void **state)
{
    (void)state;
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
    r.timing = (pcs_timing){ NAN, 0, 0, 0 };
    r.certificate.ncheck = 0;
    fake_close(&r);
    CHECK(fake_is_json(&r, "summary.json"));
    char *text = fake_read(&r, "summary.json");
    CHECK_TEXT(text, "\"title\": \"\\u0001\\u0001"); // cut, not lost
    free(text);
    CHECK(fake_exists(&r, "summary.txt"));
}

static void a_summary_that_does_not_fit_is_an_error(void **state)
{
    (void)state;
    fake_run r;
    start(&r);
    fake_set_limit(100);
    CHECK_STATUS(r.ctx, r.observer.ops->close(&r.observer), PCS_IO_ERROR);
    fake_set_limit(0);
    CHECK_TEXT(pcs_message(r.ctx), "/summary/summary.json: File too large");
    CHECK(!fake_exists(&r, "summary.json"));
    CHECK(!fake_exists(&r, "summary.json.part"));
    pcs_context_destroy(&r.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_are_runs_of_steps_with_an_impulse),
        cmocka_unit_test(an_impact_at_the_start_counts),
        cmocka_unit_test(an_impact_without_duration_has_no_mean_force),
        cmocka_unit_test(totals_are_exact_beyond_the_intervals_kept),
        cmocka_unit_test(json_tells_the_run),
        cmocka_unit_test(a_broken_certificate_is_named),
        cmocka_unit_test(json_stays_valid_whatever_comes),
        cmocka_unit_test(a_summary_that_does_not_fit_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
