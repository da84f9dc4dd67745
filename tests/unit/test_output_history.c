// history.csv: names of columns, every number to the last bit, sums over skipped steps, empty fields, failures.

#include "test_output_fake.h"

enum { MAX_ROWS = 64, FIXED = 17, COLUMNS = FIXED + 5 * (1 + 2 + 1) + FAKE_PROBES };

extern const pcs_observer_ops pcs_observer_history;

// The parameters as the option table's offset has them: one count.
static const int every_1 = 1, every_3 = 3, none = 0;

typedef struct table {
    char header[2048];
    int nrow;
    double x[MAX_ROWS][COLUMNS]; // NAN: an empty field
    int ncolumn[MAX_ROWS];
} table;

static table parse(char *text)
{
    table t = { .nrow = 0 };
    char *line = strtok(text, "\n");
    snprintf(t.header, sizeof t.header, "%s", line);
    while ((line = strtok(NULL, "\n")) != NULL && t.nrow < MAX_ROWS) {
        int n = 0;
        for (char *p = line;; n++) {
            CHECK(n < COLUMNS);
            char *end;
            double x = strtod(p, &end);
            CHECK(*end == ',' || *end == '\0');
            t.x[t.nrow][n] = end == p ? NAN : x;
            if (*end == '\0') break;
            p = end + 1;
        }
        t.ncolumn[t.nrow++] = n + 1;
    }
    return t;
}

static table read_table(const fake_run *r, const char *name)
{
    char *text = fake_read(r, name);
    table t = parse(text);
    free(text);
    return t;
}

static void check_exact(double actual, double expected)
{
    CHECK_NEAR(actual, expected, 0.0);
}

// Row of `step` when the impulses are summed over `summed` steps.
static void check_row(const double *x, long step, int summed)
{
    static fake_run r;
    r = (fake_run){ .state = { .q = r.q, .v = r.v }, .report = { .rows = r.rows } };
    double impulse[FAKE_ROWS] = { 0 }, total[FAKE_ROWS] = { 0 };
    for (long s = step - summed + 1; s <= step; s++) {
        fake_move(&r, s);
        for (int j = 0; j < FAKE_ROWS; j++) {
            impulse[j] += r.rows[j].impulse;
            total[j] += r.rows[j].step_impulse;
        }
    }
    const pcs_ledger *l = &r.ledger;
    const double fixed[] = { r.state.t,          (double)step,       l->now.kinetic,    l->now.strain,
                             l->now.potential,   l->external_work,   l->damping_loss,   l->impact_loss,
                             l->friction_loss,   l->correction_work, l->numerical_loss, l->now.momentum[0],
                             l->now.momentum[1], l->now.momentum[2] };
    for (int k = 0; k < 14; k++) check_exact(x[k], fixed[k]);
    int low = r.rows[0].gap <= r.rows[1].gap ? 0 : 1, least = r.rows[2].gap < r.rows[low].gap ? 2 : low;
    check_exact(x[14], r.rows[least].gap);
    check_exact(x[15], r.rows[0].is_closed + r.rows[1].is_closed + r.rows[2].is_closed);
    check_exact(x[16], r.report.iterations);
    const double *c = x + FIXED;
    check_exact(c[0], r.rows[low].gap);
    check_exact(c[1], r.rows[low].rate);
    for (int j = 0; j < FAKE_ROWS; j++) {
        check_exact(c[5 + 5 * j], r.rows[j].gap);
        check_exact(c[6 + 5 * j], r.rows[j].rate);
    }
    check_exact(x[COLUMNS - 2], r.q[9]);
    check_exact(x[COLUMNS - 1], r.v[4]);
    if (step == 0) return;
    check_exact(c[2], r.rows[0].force + r.rows[1].force);
    check_exact(c[3], impulse[0] + impulse[1]);
    check_exact(c[4], total[0] + total[1]);
    for (int j = 0; j < FAKE_ROWS; j++) {
        check_exact(c[7 + 5 * j], r.rows[j].force);
        check_exact(c[8 + 5 * j], impulse[j]);
        check_exact(c[9 + 5 * j], total[j]);
    }
}

TEST(columns_have_the_documented_names)
{
    fake_run r;
    fake_create(&r, "history", &pcs_observer_history, &every_1);
    fake_run_all(&r, 0);
    table t = read_table(&r, "history.csv");
    assert_string_equal(t.header,
                        "t,step,kinetic,strain,potential,external_work,damping_loss,impact_loss,friction_loss,"
                        "correction_work,numerical_loss,"
                        "momentum_x,momentum_y,momentum_z,min_gap,active,iterations,"
                        "wall.gap,wall.gap_rate,wall.force,wall.impulse,wall.step_impulse,"
                        "wall[0].gap,wall[0].gap_rate,wall[0].force,wall[0].impulse,wall[0].step_impulse,"
                        "wall[1].gap,wall[1].gap_rate,wall[1].force,wall[1].impulse,wall[1].step_impulse,"
                        "\"floor, \"\"left\"\".gap\",\"floor, \"\"left\"\".gap_rate\",\"floor, \"\"left\"\".force\","
                        "\"floor, \"\"left\"\".impulse\",\"floor, \"\"left\"\".step_impulse\",tip.x,\"a,b.vx\"");
    CHECK(t.nrow == 1);
}

TEST(every_number_reads_back_to_the_same_bits)
{
    fake_run r;
    fake_create(&r, "history", &pcs_observer_history, &every_1);
    fake_run_all(&r, 40);
    table t = read_table(&r, "history.csv");
    CHECK(t.nrow == 41);
    for (int i = 0; i < t.nrow; i++) {
        CHECK(t.ncolumn[i] == COLUMNS);
        check_row(t.x[i], i, 1);
    }
    CHECK(!fake_exists(&r, "history.csv.part"));
}

TEST(what_does_not_exist_yet_is_empty)
{
    fake_run r;
    fake_create(&r, "history", &pcs_observer_history, &every_1);
    r.rows[2].impulse = r.rows[2].step_impulse = 0.125; // the start was an impact of the second contact
    r.rows[2].force = NAN;
    fake_run_all(&r, 0);
    table t = read_table(&r, "history.csv");
    for (int contact = 0; contact < 3; contact++) {
        for (int k = 0; k < 5; k++) CHECK(isnan(t.x[0][FIXED + 5 * contact + k]) == (k >= 2));
    }
    const double *floor = t.x[0] + FIXED + 15;
    CHECK(isnan(floor[2]));
    check_exact(floor[3], 0.125);
    check_exact(floor[4], 0.125);
}

TEST(without_contacts_there_is_no_smallest_gap)
{
    fake_run r;
    fake_create(&r, "history", &pcs_observer_history, &every_1);
    r.system.nrow = r.system.ncontact = 0;
    fake_run_all(&r, 2);
    table t = read_table(&r, "history.csv");
    CHECK(t.nrow == 3);
    for (int i = 0; i < 3; i++) {
        CHECK(t.ncolumn[i] == FIXED + FAKE_PROBES);
        CHECK(isnan(t.x[i][14]));
        check_exact(t.x[i][15], 0);
        check_exact(t.x[i][16], i);
    }
}

TEST(skipped_steps_keep_their_impulses)
{
    fake_run r;
    fake_create(&r, "history", &pcs_observer_history, &every_3);
    fake_run_all(&r, 11);
    table t = read_table(&r, "history.csv");
    CHECK(t.nrow == 5); // 0, 3, 6, 9 and the last
    for (int i = 0; i < 4; i++) check_row(t.x[i], 3 * i, i == 0 ? 1 : 3);
    check_row(t.x[4], 11, 2);
}

// A rejected step has left its traces in the report; the row of the last good step does not show them.
TEST(the_last_row_is_that_of_the_last_good_step)
{
    fake_run r;
    fake_create(&r, "history", &pcs_observer_history, &every_3);
    fake_open(&r);
    for (long step = 1; step <= 4; step++) fake_step(&r, step);
    CHECK(!fake_exists(&r, "history.csv"));
    CHECK(fake_exists(&r, "history.csv.part"));
    for (int j = 0; j < FAKE_ROWS; j++) r.rows[j].gap = r.rows[j].step_impulse = -77.0;
    fake_close(&r);
    table t = read_table(&r, "history.csv");
    CHECK(t.nrow == 3);
    check_row(t.x[2], 4, 1);
}

TEST(no_history_when_not_wanted)
{
    fake_run r;
    fake_create(&r, "history_none", &pcs_observer_history, &none);
    fake_put(&r, "history.csv", "of an earlier run");
    fake_run_all(&r, 5);
    CHECK(!fake_exists(&r, "history.csv"));
    CHECK(!fake_exists(&r, "history.csv.part"));
}

TEST(a_full_disk_leaves_whole_rows)
{
    fake_run r;
    fake_create(&r, "history_full", &pcs_observer_history, &every_1);
    fake_put(&r, "history.csv", "of an earlier run");
    fake_open(&r);
    fake_set_limit(300000); // the buffer is smaller than that, so that the second hand-over fails midway
    pcs_status status = PCS_OK;
    long step = 0;
    while (status == PCS_OK && step < 10000) {
        fake_move(&r, ++step);
        status = r.observer.ops->step(&r.observer);
    }
    CHECK_STATUS(r.ctx, status, PCS_IO_ERROR);
    CHECK_TEXT(pcs_message(r.ctx), "/history_full/history.csv: File too large");
    CHECK_OK(r.ctx, r.observer.ops->step(&r.observer)); // the fault is reported once
    fake_close(&r);
    fake_set_limit(0);
    CHECK(!fake_exists(&r, "history.csv"));
    char *text = fake_read(&r, "history.csv.part");
    size_t length = strlen(text);
    CHECK(length > 100000 && length < 300000);
    CHECK(text[length - 1] == '\n');
    char *last = text + length - 1;
    while (last[-1] != '\n') last--;
    int ncomma = 0;
    for (const char *p = last; *p != '\0'; p++) ncomma += *p == ',';
    CHECK(ncomma == COLUMNS - 1);
    free(text);
}
