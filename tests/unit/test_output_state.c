// What a row does: open, closed, sticking or sliding; and the columns of a contact with friction.

#include "test_output_fake.h"

#include "output/tally.h"

extern const pcs_observer_ops pcs_observer_history;

static const pcs_row rough[FAKE_ROWS] = {
    { .contact = 0, .ntangent = 2, .friction = 0.5 },
    { .contact = 0, .first_tangent = 2, .ntangent = 2, .friction = 0.5 },
    { .contact = 1, .first_tangent = 4, .ntangent = 2, .friction = 0.5 },
};

static int state_of(pcs_row_report row)
{
    static const double mass[FAKE_ROWS] = { 2.0, 2.0, 2.0 };
    fake_run r = { .report = { .rows = r.rows }, .state = { .largest_rate = 1.0 } };
    r.system.rows = rough;
    r.view = (pcs_view){ .system = &r.system, .state = &r.state, .report = &r.report, .effective_mass = mass };
    r.rows[0] = row;
    return pcs_row_state(&r.view, 0, 3.0);
}

TEST(states_follow_cone_and_velocity)
{
    pcs_row_report row = { .gap = 0.0, .step_impulse = 1.0, .multiplier = 1.0, .is_closed = true };
    row.last_tangent[0] = 0.3;
    row.last_tangent[1] = 0.4;              // on the border of the cone
    CHECK(state_of(row) == PCS_ROW_CLOSED); // and at rest: about to slide
    row.slip[1] = 1e-3;
    CHECK(state_of(row) == PCS_ROW_SLIDES);
    row.slip[1] = 1e-12; // round-off of 3 m/s
    CHECK(state_of(row) == PCS_ROW_CLOSED);
    row.slip[1] = 1.0;
    row.last_tangent[1] = 0.39; // inside: a tangential restitution lets it go, it does not slide
    CHECK(state_of(row) == PCS_ROW_CLOSED);
    // Without a law at the end of the step all of it counts.
    row.multiplier = 0.0;
    row.tangent[0] = 0.5;
    CHECK(state_of(row) == PCS_ROW_SLIDES);
    row.tangent[0] = 0.49;
    CHECK(state_of(row) == PCS_ROW_CLOSED);
    row.is_closed = false;
    CHECK(state_of(row) == PCS_ROW_OPEN);
}

TEST(an_impulse_of_round_off_closes_nothing)
{
    pcs_row_report row = { .gap = 1e-3, .step_impulse = 1e-246, .multiplier = 1e-246, .is_closed = true };
    CHECK(state_of(row) == PCS_ROW_OPEN);
    row.step_impulse = row.multiplier = 1e-11; // 1e-11 of 2 kg at 1 m/s is the bound
    CHECK(state_of(row) == PCS_ROW_OPEN);
    row.step_impulse = row.multiplier = 3e-11;
    CHECK(state_of(row) != PCS_ROW_OPEN);
    row.step_impulse = row.multiplier = 1e-246;
    row.gap = 0.0; // it touches
    CHECK(state_of(row) != PCS_ROW_OPEN);
}

// The n-th field of the last line.
static double last_field(char *text, const char *column)
{
    char *header = text, *line = strchr(text, '\n') + 1;
    for (char *next = strchr(line, '\n'); next[1] != '\0'; next = strchr(line, '\n')) line = next + 1;
    header[strcspn(header, "\n")] = '\0';
    int n = 0;
    for (char *p = header; strncmp(p, column, strlen(column)) != 0 || (p[strlen(column)] != ',' && p[strlen(column)]);
         p = strchr(p, ',') + 1) {
        n++;
        CHECK(strchr(p, ',') != NULL);
    }
    for (; n > 0; n--) line = strchr(line, ',') + 1;
    return strtod(line, NULL);
}

TEST(the_history_has_state_and_loss_of_friction)
{
    static const int every = 3;
    pcs_contact_info contacts[2];
    fake_run r;
    fake_create(&r, "history_rough", &pcs_observer_history, &every);
    fake_friction(&r, rough, contacts);
    fake_open(&r);
    for (long step = 1; step <= 6; step++) {
        fake_move(&r, step);
        for (int j = 0; j < FAKE_ROWS; j++) r.rows[j] = (pcs_row_report){ .gap = 1.0 };
        r.rows[0] =
            (pcs_row_report){ .step_impulse = 1.0, .multiplier = 1.0, .is_closed = true, .friction_loss = 0.25 };
        r.rows[1] = r.rows[0];
        r.rows[1].slip[0] = 1.0;
        r.rows[1].last_tangent[0] = -0.5;
        r.rows[1].friction_loss = (double)step;
        CHECK_OK(r.ctx, r.observer.ops->step(&r.observer));
    }
    fake_close(&r);
    const char *const columns[] = { "wall.state",         "wall[0].state",         "wall[1].state",
                                    "wall.friction_loss", "wall[1].friction_loss", "active" };
    const double expected[] = { 2, 1, 2, 21.0 + 1.5, 21.0, 2 };
    for (int k = 0; k < 6; k++) {
        char *text = fake_read(&r, "history.csv");
        CHECK_NEAR(last_field(text, columns[k]), expected[k], 0.0);
        free(text);
    }
}
