// <case>.waves.csv: places, every number to the last bit, rows that are asked for, what a failure leaves, wrong fields.

#include "test_output_fake.h"

enum { MAX_ROWS = 64, FIELDS = 3, COLUMNS = 1 + FIELDS * FAKE_CELLS };

extern const pcs_observer_ops pcs_observer_waves;

// As in history.c.
typedef struct waves_params {
    pcs_names body, of;
    int every;
} waves_params;

static const char *const fields[] = { "stress", "vx", "uz" }, *const chain[] = { "chain", "chain" };
static const waves_params each = { { 1, 1, chain }, { 1, FIELDS, fields }, 1 },
                          third = { { 1, 1, chain }, { 1, FIELDS, fields }, 3 };

typedef struct matrix {
    char head[256];
    int nrow;
    double x[MAX_ROWS][COLUMNS];
} matrix;

// The whole file as a matrix; every row must be whole.
static matrix read_matrix(const fake_run *r, const char *name)
{
    matrix m = { .nrow = 0 };
    char *text = fake_read(r, name), *line = strtok(text, "\n");
    snprintf(m.head, sizeof m.head, "%s", line);
    while ((line = strtok(NULL, "\n")) != NULL && m.nrow < MAX_ROWS) {
        int n = 0;
        for (char *p = line, *end;; p = end + 1) {
            CHECK(n < COLUMNS);
            m.x[m.nrow][n++] = strtod(p, &end);
            CHECK(end != p && (*end == ',' || *end == '\0'));
            if (*end == '\0') break;
        }
        CHECK(n == COLUMNS);
        m.nrow++;
    }
    free(text);
    return m;
}

static void check_row(const double *row, long step)
{
    static fake_run r;
    r = (fake_run){ .state = { .q = r.q, .v = r.v }, .report = { .rows = r.rows } };
    fake_move(&r, step);
    CHECK_NEAR(row[0], r.state.t, 0.0);
    for (int c = 0; c < FAKE_CELLS; c++) {
        int a = fake_cells[c][0], b = fake_cells[c][1];
        CHECK_NEAR(row[1 + c], 2e5 * (r.q[3 * c + 3] - r.q[3 * c]), 0.0);
        CHECK_NEAR(row[1 + FAKE_CELLS + c], 0.5 * (r.v[3 * a] + r.v[3 * b]), 0.0);
        CHECK_NEAR(row[1 + 2 * FAKE_CELLS + c], 0.5 * (r.q[3 * a + 2] + r.q[3 * b + 2]), 0.0);
    }
}

TEST(the_matrix_is_fields_over_places_and_times)
{
    fake_run r;
    fake_create(&r, "waves", &pcs_observer_waves, &each);
    fake_run_all(&r, 40);
    matrix m = read_matrix(&r, "fake.waves.csv");
    assert_string_equal(m.head, "# percuss waves: body chain, 3 cells, fields stress vx uz");
    CHECK(m.nrow == 42);
    CHECK_NEAR(m.x[0][0], FIELDS * FAKE_CELLS, 0.0);
    // The cells are 0.1, sqrt(0.02) and sqrt(0.5) long, one after the other.
    const double place[] = { 0.05, 0.1 + 0.5 * sqrt(0.02), 0.1 + sqrt(0.02) + 0.5 * sqrt(0.5) };
    for (int k = 0; k < FIELDS * FAKE_CELLS; k++) CHECK_NEAR(m.x[0][1 + k], place[k % FAKE_CELLS], 1e-15);
    for (long step = 0; step <= 40; step++) check_row(m.x[1 + step], step);
    CHECK(!fake_exists(&r, "fake.waves.csv.part"));
}

TEST(every_third_step_and_the_last_have_rows)
{
    fake_run r;
    fake_create(&r, "waves", &pcs_observer_waves, &third);
    fake_run_all(&r, 11);
    matrix m = read_matrix(&r, "fake.waves.csv");
    const long steps[] = { 0, 3, 6, 9, 11 };
    CHECK(m.nrow == 6);
    for (int i = 0; i < 5; i++) check_row(m.x[1 + i], steps[i]);
}

TEST(a_run_that_is_killed_leaves_whole_rows)
{
    fake_run r;
    fake_create(&r, "waves_killed", &pcs_observer_waves, &each);
    fake_put(&r, "fake.waves.csv", "of an earlier run");
    fake_open(&r);
    for (long step = 1; step <= 5; step++) fake_step(&r, step);
    CHECK(!fake_exists(&r, "fake.waves.csv"));
    matrix m = read_matrix(&r, "fake.waves.csv.part");
    CHECK(m.nrow >= 2);
    for (int i = 1; i < m.nrow; i++) check_row(m.x[i], i - 1);
    fake_close(&r);
}

TEST(what_a_body_does_not_have_is_told)
{
    static const char *const odd[] = { "stress", "stres" };
    const waves_params wrong_field = { { 1, 1, chain }, { 1, 2, odd }, 1 },
                       wrong_body = { { 1, 1, odd }, { 1, 1, fields }, 1 };
    char place[PCS_OBSERVER_PLACE] = "";
    fake_run r;
    fake_create(&r, "waves", &pcs_observer_waves, &wrong_field);
    CHECK_STATUS(r.ctx, r.observer.ops->check(&r.observer, place), PCS_BAD_INPUT);
    CHECK_TEXT(pcs_message(r.ctx),
               "no field 'stres' over a body: there are ux, uy, uz, vx, vy, vz, axial_force, stress");
    CHECK_TEXT(place, "of.1");
    CHECK_STATUS(r.ctx, r.observer.ops->open(&r.observer), PCS_BAD_INPUT);
    CHECK_OK(r.ctx, r.observer.ops->step(&r.observer));
    fake_close(&r);
    fake_create(&r, "waves", &pcs_observer_waves, &wrong_body);
    CHECK_STATUS(r.ctx, r.observer.ops->open(&r.observer), PCS_BAD_INPUT);
    fake_close(&r);
    fake_create(&r, "waves", &pcs_observer_waves, &each);
    r.view.mesh = NULL;
    CHECK_STATUS(r.ctx, r.observer.ops->check(&r.observer, place), PCS_BAD_INPUT);
    pcs_context_destroy(&r.ctx);
}
