// Rigid cases with Coulomb friction against closed forms: stopping, sticking without creep, stick-slip, an impact with
// spin, and the circular cone in space.

#include "check.h"
#include "output/summary.h"
#include "output/tally.h"
#include "run_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GGL "scheme={type: alpha_ggl, rho_inf: 0.8}"
#define MOREAU "scheme={type: moreau_jean, theta: 0.5}"
#define HALF "scheme={type: half_explicit}"

static const char *const schemes[] = { GGL, MOREAU, HALF };
enum { SCHEMES = 3 };
static const double degree = 0.017453292519943295, gravity = 9.81;

static const char *step_text(double h, char text[32])
{
    snprintf(text, 32, "time.step=%.6e", h);
    return text;
}

// mu > tan a: stops after v0/(g (mu cos a - sin a)) = 1.594928511 s, after as many metres since v0 = 2 m/s, and stays.
TEST(block_stops_on_the_incline_and_stays)
{
    const double exact = 2.0 / (gravity * (0.5 * cos(20.0 * degree) - sin(20.0 * degree)));
    // Errors of an independent implementation of GGL with friction.
    const double h[] = { 4e-2, 2e-2, 1e-2, 5e-3 }, error[] = { 1.11e-4, 4.75e-5, 1.57e-5, 2.21e-7 };
    char text[32];
    CHECK_NEAR(exact, 1.594928511, 1e-9);
    for (int s = 0; s < SCHEMES; s++)
        for (int k = 0; k < 4; k++) {
            case_run run = case_open("cases/incline", (const char *const[]){ schemes[s], step_text(h[k], text), NULL });
            double creep = 0.0, place = 0.0;
            while (run.sim->state.t < 2.0 - 1e-9) {
                case_step(&run);
                if (run.sim->state.t < exact + h[k]) place = run.sim->state.q[0];
                else creep = fmax(creep, fmax(fabs(run.sim->state.v[0]), fabs(run.sim->state.q[0] - place) / 0.4));
            }
            CHECK_NEAR(run.sim->state.q[0] - exact, error[k], 0.01 * error[k]);
            CHECK_NEAR(creep, 0.0, 2e-13); // round-off of the positions
            CHECK(case_smallest_gap(&run) >= -1e-18);
            // Friction holds the weight's downhill part, the slope its normal part.
            const pcs_row_report *row = &run.sim->report.rows[0];
            CHECK_NEAR(row->step_impulse / h[k], gravity * cos(20.0 * degree), 1e-11);
            CHECK_NEAR(row->tangent[0] / h[k], -gravity * sin(20.0 * degree), 1e-11);
            case_close(&run);
        }
}

// A block that slides to its stop loses mu m g cos a times the way to friction and nothing to impacts, whatever the
// scheme; the contact says the same as the ledger.
TEST(sliding_is_booked_as_friction)
{
    static const char *const all[] = {
        GGL,
        MOREAU,
        HALF,
        "scheme={type: newmark}",
        "scheme={type: hht}",
        "scheme={type: alpha_velocity}",
        "scheme={type: moreau_jean_explicit}",
        "scheme={type: schatzman_paoli}",
        "scheme={type: half_explicit_rk}",
        "scheme={type: splitting}",
        "scheme={type: jump_newmark, rho_inf: 0.8}",
    };
    const double way = 2.0 / (gravity * (0.5 * cos(20.0 * degree) - sin(20.0 * degree)));
    const double exact = 0.5 * gravity * cos(20.0 * degree) * way;
    char text[32];
    for (size_t s = 0; s < sizeof all / sizeof *all; s++) {
        case_run run = case_open("cases/incline", (const char *const[]){ all[s], step_text(5e-3, text), NULL });
        double of_rows = 0.0;
        while (run.sim->state.t < 2.0 - 1e-9) {
            case_step(&run);
            of_rows += run.sim->report.rows[0].friction_loss;
        }
        const pcs_ledger *l = &run.sim->ledger;
        if (fabs(l->friction_loss - exact) > 2e-4 * exact)
            fail_msg("%s: friction takes %.9g J, exactly %.9g J", all[s], l->friction_loss, exact);
        CHECK_NEAR(l->impact_loss, 0.0, 1e-13 * exact);
        CHECK_NEAR(of_rows, l->friction_loss, 1e-12 * exact);
        if (!l->numerical_is_remainder) CHECK_NEAR(pcs_ledger_imbalance(l), 0.0, 1e-12 * exact);
        case_close(&run);
    }
}

// A scheme of first order goes another way, and books the friction of that one, less in the step of the stop.
TEST(friction_is_that_of_the_way_gone)
{
    static const char *const weights[] = { "scheme={type: moreau_jean, theta: 0.5}",
                                           "scheme={type: moreau_jean, theta: 0.8}",
                                           "scheme={type: moreau_jean, theta: 1.0}" };
    for (int s = 0; s < 3; s++) {
        case_run run = case_run_all("cases/incline", (const char *const[]){ weights[s], NULL });
        double exact = 0.5 * gravity * cos(20.0 * degree) * run.sim->state.q[0];
        CHECK_NEAR(run.sim->ledger.friction_loss, exact, 5e-5 * exact);
        case_close(&run);
    }
}

// Where a block stops, and that it stays there. `lag`: by how much it goes on, in units of v0 h; forward Euler moves
// with the old velocity. NAN: splitting, where the block slides freely for every step before the impulse brakes it.
TEST(blocks_stop_under_every_scheme)
{
    static const struct {
        const char *scheme;
        double lag;
    } known[] = {
        { "moreau_jean_explicit", 0.5 },
        { "moreau_midpoint", 0.0 },
        { "schatzman_paoli", 0.0 },
        { "half_explicit_rk, method: hem3", 0.0 },
        { "half_explicit_rk, method: hem5", 0.0 },
        { "ggl_midpoint", 0.0 },
        { "ggl_midpoint, coupling: decoupled", 0.0 },
        { "alpha_velocity, rho_inf: 0.8", 0.0 },
        { "newmark, gamma: 0.5", 0.0 },
        { "hht, alpha: 0.1", 0.0 },
        { "jump_newmark, gamma: 0.5", 0.0 },
        { "splitting", NAN },
    };
    const double pull = gravity * sin(20.0 * degree), rub = 0.5 * gravity * cos(20.0 * degree),
                 exact = 2.0 / (rub - pull);
    for (size_t k = 0; k < 3 * sizeof known / sizeof *known; k++) {
        double h = 1.3e-2 / (1 << k % 3), lag = known[k / 3].lag * 2.0 * h, before = NAN;
        char scheme[96], time[64];
        snprintf(scheme, sizeof scheme, "scheme={type: %s}", known[k / 3].scheme);
        snprintf(time, sizeof time, "time={step: %.17g, end: 2.0}", h);
        case_run run = case_open("cases/incline", (const char *const[]){ scheme, time, NULL });
        while (!pcs_sim_is_done(run.sim)) {
            case_step(&run);
            if (isnan(before) && run.sim->state.t > 1.7) before = run.sim->state.q[0];
        }
        if (isnan(lag)) lag = 0.5 * h * (rub * exact + pull * (2.0 - exact));
        else CHECK_NEAR(run.sim->state.q[0], before, 1e-12);
        if (!(fabs(run.sim->state.q[0] - exact - lag) <= 0.5 * h * h))
            fail_msg("%s, h = %g: off by %g", known[k / 3].scheme, h, run.sim->state.q[0] - exact - lag);
        case_close(&run);
    }
}

// Thrown uphill with mu < tan a the block turns round; position at 2 s.
TEST(block_turns_on_the_incline)
{
    const double s = gravity * sin(20.0 * degree), c = 0.2 * gravity * cos(20.0 * degree);
    const double turn = 2.0 / (s + c), top = -2.0 / (s + c), exact = top + 0.5 * (s - c) * (2.0 - turn) * (2.0 - turn);
    const double h[] = { 1e-2, 5e-3 }, error[] = { -1.30e-2, -7.43e-4 };
    char text[32];
    for (int k = 0; k < 2; k++) {
        case_run run =
            case_run_all("cases/incline", (const char *const[]){ GGL, "system.friction=0.2", "system.velocity=-2.0",
                                                                 step_text(h[k], text), NULL });
        CHECK_NEAR(run.sim->state.q[0] - exact, error[k], 0.01 * fabs(error[k]));
        case_close(&run);
    }
}

// Piece by piece: sticks until |F| = mu m g, slides until it stands still.
typedef struct slip_piece {
    double t, x; // begins here
    int sign;    // of the motion; 0: sticks
} slip_piece;

static const double omega = 6.283185307179586;

static double slip_velocity(const slip_piece *p, double t)
{
    return p->sign == 0 ? 0.0 : -5.0 / omega * (cos(omega * t) - cos(omega * p->t)) - 3.0 * p->sign * (t - p->t);
}

static double slip_position(const slip_piece *p, double t)
{
    if (p->sign == 0) return p->x;
    double s = t - p->t;
    return p->x - 5.0 / (omega * omega) * (sin(omega * t) - sin(omega * p->t)) + 5.0 / omega * cos(omega * p->t) * s -
           1.5 * p->sign * s * s;
}

// End of a piece: 0 < asin(0.6) ends sticking; sliding ends where the velocity vanishes, found by bisection.
static double slip_end(const slip_piece *p)
{
    if (p->sign == 0) {
        double t = asin(0.6) / omega;
        while (t <= p->t + 1e-12) t += 0.5;
        return t;
    }
    double low = p->t + 1e-3, high = p->t + 0.5;
    for (int i = 0; i < 100; i++) {
        double middle = 0.5 * (low + high);
        if (slip_velocity(p, middle) * p->sign > 0.0) low = middle;
        else high = middle;
    }
    return low;
}

// The piece at time t, and the way to its beginning.
static slip_piece slip_find(double t, double *way)
{
    slip_piece p = { 0.0, 0.0, 0 };
    *way = 0.0;
    for (double end = slip_end(&p); end < t; end = slip_end(&p)) {
        double x = slip_position(&p, end), force = 5.0 * sin(omega * end);
        *way += fabs(x - p.x);
        p = (slip_piece){ end, x, p.sign == 0 ? (force > 0.0 ? 1 : -1) : 0 };
    }
    return p;
}

static double slip_exact(double t)
{
    double way;
    slip_piece p = slip_find(t, &way);
    return slip_position(&p, t);
}

// Friction takes 3 N times the way, the summary knows that way, and the state of the contact is that of the exact
// motion but for the steps in which it changes.
TEST(sticking_and_slipping_are_told)
{
    double way;
    slip_piece last = slip_find(2.0, &way);
    way += fabs(slip_position(&last, 2.0) - last.x);
    for (int s = 0; s < SCHEMES; s++) {
        case_run run = case_open("cases/stick_slip", (const char *const[]){ schemes[s], "time.step=2.5e-3", NULL });
        int nwrong = 0;
        while (run.sim->state.t < 2.0 - 1e-9) {
            double unused, speed = 1.0;
            case_step(&run);
            bool slides = slip_find(run.sim->state.t, &unused).sign != 0;
            nwrong += pcs_row_state(&run.sim->view, 0, speed) != (slides ? PCS_ROW_SLIDES : PCS_ROW_CLOSED);
        }
        CHECK(nwrong <= 8); // it changes eight times
        CHECK_NEAR(run.sim->ledger.friction_loss, 3.0 * way, 2e-3 * way);
        CHECK_NEAR(run.sim->ledger.impact_loss, 0.0, 1e-13);
        case_close(&run);
        run = case_open("cases/stick_slip", (const char *const[]){ schemes[s], "time.step=2.5e-3", NULL });
        CHECK_OK(run.ctx, pcs_sim_run(run.sim, TESTS_OUTPUT_FOLDER "/stick_slip", false));
        const pcs_summary *summary = NULL;
        for (int i = 0; i < run.sim->nobserver; i++)
            if (strcmp(run.sim->observers[i].ops->name, "summary") == 0) summary = run.sim->observers[i].data;
        CHECK(summary != NULL && summary->ncontact == 1 && summary->contacts[0].ninterval == 1);
        CHECK_NEAR(summary->contacts[0].slid, way, 1e-3 * way);
        CHECK_NEAR(summary->contacts[0].friction_loss, run.sim->ledger.friction_loss, 1e-12);
        case_close(&run);
    }
}

TEST(pushed_block_sticks_and_slips)
{
    // Errors of an independent implementation; order 2.03 from the first to the last.
    const double h[] = { 2e-2, 1e-2, 5e-3, 2.5e-3 }, error[] = { 8.05e-4, 2.22e-4, 8.08e-5, 1.17e-5 };
    char text[32];
    CHECK_NEAR(slip_exact(0.6), 0.0998484940112, 1e-12);
    for (int s = 0; s < SCHEMES; s++) {
        double largest[4] = { 0 };
        for (int k = 0; k < 4; k++) {
            case_run run =
                case_open("cases/stick_slip", (const char *const[]){ schemes[s], step_text(h[k], text), NULL });
            while (run.sim->state.t < 2.0 - 1e-9) {
                case_step(&run);
                largest[k] = fmax(largest[k], fabs(run.sim->state.q[0] - slip_exact(run.sim->state.t)));
            }
            if (s == 0) CHECK_NEAR(largest[k], error[k], 0.01 * error[k]);
            case_close(&run);
        }
        CHECK(log2(largest[0] / largest[3]) / 3.0 > 1.7);
    }
}

// One impact in flight without gravity: every scheme must give the exact impulses, sticking and sliding.
TEST(spin_changes_at_the_impact)
{
    // spin, e_T; u = 2, e = 0.8, mu = 0.3: P_N = 3.6, mu P_N = 1.08, effective mass of the tangent 2/7
    const double spin[] = { 10.0, -4.0, 30.0, -30.0, 10.0, -5.0 }, tangent[] = { 0.0, 0.0, 0.0, 0.0, 0.5, 0.0 };
    for (int s = 0; s < SCHEMES; s++)
        for (int k = 0; k < 6; k++) {
            char spin_text[48], tangent_text[48];
            snprintf(spin_text, sizeof spin_text, "system.spin=%.1f", spin[k]);
            snprintf(tangent_text, sizeof tangent_text, "system.tangent_restitution=%.1f", tangent[k]);
            case_run run =
                case_run_all("cases/spinning_ball", (const char *const[]){ schemes[s], spin_text, tangent_text, NULL });
            double slip = 1.0 + 0.2 * spin[k], wanted = -(1.0 + tangent[k]) * slip * 2.0 / 7.0;
            double P = fmin(fmax(wanted, -1.08), 1.08);
            CHECK_NEAR(run.sim->state.v[0], 1.0 + P, 1e-14);
            CHECK_NEAR(run.sim->state.v[1], 1.6, 1e-14);
            CHECK_NEAR(run.sim->state.v[2], spin[k] + 0.2 * P / 0.016, 1e-13);
            CHECK(case_impacts(&run) == 1);
            // The ledger knows what the impact took, friction included.
            double before = 0.5 * (1.0 + 4.0 + 0.016 * spin[k] * spin[k]);
            CHECK_NEAR(run.sim->ledger.initial, before, 1e-13);
            const pcs_ledger *l = &run.sim->ledger;
            CHECK_NEAR(before - case_last(&run)->energy, l->impact_loss + l->friction_loss, 1e-12);
            // Each by itself: m u^2 (1 - e^2)/2, and the impulse times the mean of the slip, which it changes by 7/2 P.
            CHECK_NEAR(l->impact_loss, 0.72, 1e-13);
            CHECK_NEAR(l->friction_loss, -P * (slip + 1.75 * P), 1e-13);
            case_close(&run);
        }
}

// The same under other schemes, some of which take two steps for an impact: it sticks, and slips with friction 0.1.
TEST(spin_changes_under_every_scheme)
{
    static const char *const others[] = { "moreau_jean_explicit",
                                          "moreau_midpoint",
                                          "half_explicit_rk",
                                          "schatzman_paoli",
                                          "splitting",
                                          "ggl_midpoint",
                                          "newmark",
                                          "ggl_midpoint, coupling: decoupled" };
    for (size_t k = 0; k < 2 * sizeof others / sizeof *others; k++) {
        char scheme[96];
        double normal = 0.0, tangent = 0.0;
        snprintf(scheme, sizeof scheme, "scheme={type: %s}", others[k / 2]);
        case_run run = case_open(
            "cases/spinning_ball",
            (const char *const[]){ scheme, k % 2 == 0 ? "system.friction=0.3" : "system.friction=0.1", NULL });
        while (!pcs_sim_is_done(run.sim)) {
            case_step(&run);
            normal += run.sim->report.rows[0].step_impulse;
            tangent += fabs(run.sim->report.rows[0].tangent[0]);
        }
        CHECK_NEAR(normal, 3.6, 1e-12);
        CHECK_NEAR(tangent, k % 2 == 0 ? 6.0 / 7.0 : 0.36, 1e-12);
        CHECK_NEAR(run.sim->state.v[1], 1.6, 1e-12);
        case_close(&run);
    }
}

// Pushed across the slope at v0: with k = mu cot a the puck stops at
//   x = v0^2 / (4 g sin a (k^2 - 1)),   y = 2 k v0^2 / (g sin a (4 k^2 - 1)),   t = k v0 / (g sin a (k^2 - 1))
TEST(puck_turns_downhill_and_stops)
{
    const double s = gravity * sin(20.0 * degree), k = 0.5 / tan(20.0 * degree);
    const double x = 1.0 / (s * (k * k - 1.0)), y = 8.0 * k / (s * (4.0 * k * k - 1.0)),
                 stop = 2.0 * k / (s * (k * k - 1.0));
    const double h[] = { 2e-2, 1e-2, 5e-3, 2.5e-3 };
    char text[32];
    for (int scheme = 0; scheme < SCHEMES; scheme++) {
        double error[4];
        for (int i = 0; i < 4; i++) {
            case_run run =
                case_open("cases/puck", (const char *const[]){ schemes[scheme], step_text(h[i], text), NULL });
            while (run.sim->state.t < 2.0 - 1e-9) {
                case_step(&run);
                // The friction force lies on the cone and against the motion, or holds the puck.
                const pcs_row_report *row = &run.sim->report.rows[0];
                double friction = hypot(row->last_tangent[0], row->last_tangent[1]),
                       speed = hypot(run.sim->state.v[0], run.sim->state.v[1]);
                CHECK(friction <= 0.5 * row->multiplier * (1.0 + 1e-12));
                if (speed > 1e-9) {
                    CHECK_NEAR(friction, 0.5 * row->multiplier, 1e-12);
                    CHECK_NEAR(row->last_tangent[0] * run.sim->state.v[1], row->last_tangent[1] * run.sim->state.v[0],
                               1e-12);
                }
                if (run.sim->state.t > stop + 3.0 * h[i]) CHECK_NEAR(speed, 0.0, 1e-14);
            }
            error[i] = hypot(run.sim->state.q[0] - x, run.sim->state.q[1] - y);
            CHECK(fabs(run.sim->state.q[2]) <= 1e-15);
            // At rest, friction has taken all: m v0^2/2 and what the way down the slope gave.
            double taken = run.sim->ledger.initial - case_last(&run)->energy;
            CHECK_NEAR(run.sim->ledger.friction_loss, taken, 2e-3 * taken);
            CHECK_NEAR(run.sim->ledger.impact_loss, 0.0, 1e-13 * taken);
            case_close(&run);
        }
        CHECK_NEAR(error[0], 1.54e-2, 1e-4);
        CHECK_NEAR(log2(error[0] / error[3]) / 3.0, 1.0, 0.05);
    }
}

// A block standing on one corner rocks about it: J_corner theta'' = m g R sin(...), the free end comes down.
static double housner_angle(double t, double start)
{
    const double half_width = 0.5, half_height = 0.75, inertia = (1.0 + 2.25) / 12.0 + 0.25 + 0.5625;
    double theta = start, rate = 0.0, h = t / 4000.0;
    for (int i = 0; i < 4000; i++) {
        double k[4], w[4], share[] = { 0.0, 0.5, 0.5, 1.0 };
        for (int j = 0; j < 4; j++) {
            double x = theta + (j > 0 ? share[j] * h * w[j - 1] : 0.0);
            w[j] = rate + (j > 0 ? share[j] * h * k[j - 1] : 0.0);
            k[j] = -gravity * (half_width * cos(x) - half_height * sin(x)) / inertia;
        }
        theta += h / 6.0 * (w[0] + 2.0 * (w[1] + w[2]) + w[3]);
        rate += h / 6.0 * (k[0] + 2.0 * (k[1] + k[2]) + k[3]);
    }
    return theta;
}

// The left corner sticks under enough friction: GGL follows the pivoting motion in first order.
TEST(block_pivots_on_its_corner)
{
    double error[3];
    const double h[] = { 1e-2, 5e-3, 2.5e-3 }, start = 0.2, end = 0.2;
    char text[32], height[48], angle[48];
    snprintf(angle, sizeof angle, "system.angle=%.17g", start);
    snprintf(height, sizeof height, "system.y=%.17g", 0.75 * cos(start) + 0.5 * sin(start));
    for (int k = 0; k < 3; k++) {
        case_run run = case_open("cases/rocking_block",
                                 (const char *const[]){ angle, height, "system.friction=2.0", "system.restitution=0.0",
                                                        "time.end=0.2", step_text(h[k], text), NULL });
        double corner = run.sim->state.q[0] - 0.5 * cos(start) + 0.75 * sin(start);
        while (run.sim->state.t < end - 1e-9) case_step(&run);
        const double *q = run.sim->state.q;
        error[k] = fabs(q[2] - housner_angle(end, start));
        CHECK(q[2] > 0.02 && q[2] < start); // still in the air on the right
        CHECK(run.sim->report.rows[1].is_closed && !run.sim->report.rows[0].is_closed);
        CHECK_NEAR(q[1] - 0.5 * sin(q[2]) - 0.75 * cos(q[2]), 0.0, 1e-13);
        CHECK_NEAR(q[0] - 0.5 * cos(q[2]) + 0.75 * sin(q[2]), corner,
                   5e-4); // sticks: no slip but that of one step's turn
        case_close(&run);
    }
    CHECK_NEAR(log2(error[0] / error[2]) / 2.0, 1.0, 0.15);
}
