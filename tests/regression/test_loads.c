// Loads in equilibrium and in motion: follower forces against an integrated elastica, momentum under loads of every
// kind, work and its orders.

#include "core/rotation.h"
#include "support/check.h"
#include "support/ode.h"
#include "support/still.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 400 };

// Axes of a skew frame.
static const double axes[3][3] = { { 1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0 },
                                   { 2.0 / 3.0, -2.0 / 3.0, 1.0 / 3.0 },
                                   { 2.0 / 3.0, 1.0 / 3.0, -2.0 / 3.0 } };

// A beam of length 1 and square section 0.1, E = 1e6.
static const double EA = 1e4, EI = 1e6 * 1e-4 / 12.0, GA = 1e6 / 2.6 * 0.01 * 5.0 / 6.0;

static void in_skew_axes(double a, double b, double out[3])
{
    for (int k = 0; k < 3; k++) out[k] = a * axes[0][k] + b * axes[1][k];
}

// d(x, y, angle, moment)/ds under the force n that every section carries.
static void elastica_slope(const void *force, double at, const double *y, double *out)
{
    const double *n = force;
    double c = cos(y[2]), s = sin(y[2]);
    double stretch = 1.0 + (c * n[0] + s * n[1]) / EA, shear = (c * n[1] - s * n[0]) / GA;
    (void)at;
    out[0] = stretch * c - shear * s;
    out[1] = stretch * s + shear * c;
    out[2] = y[3] / EI;
    out[3] = out[1] * n[0] - out[0] * n[1];
}

// A force that follows the tip is known in the tip's frame, where the beam is integrated backwards, moment free, to its
// root. Gives tip position and angle in the frame of the root.
static void follower_elastica(const double n[2], double tip[3])
{
    double y[4] = { 0 };
    ode_solve(elastica_slope, n, 4, 0.0, -1.0, 2000, y);
    tip[0] = -(cos(y[2]) * y[0] + sin(y[2]) * y[1]);
    tip[1] = -(cos(y[2]) * y[1] - sin(y[2]) * y[0]);
    tip[2] = -y[2];
}

static const char plane_beam[] =
    "mesh: { beam: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: %d } }\n"
    "elements: { beam: { type: beam_exact_2d, mesh: beam, E: 1.0e+6, nu: 0.3, rho: 1000,\n"
    "                    section: { type: rectangle, width: 0.1, height: 0.1 } } }\n"
    "supports: { clamp: { set: beam.start, fix: [x, y, rz] } }\n"
    "loads: { push: { type: force, node: beam.end, value: [%.17g, %.17g, 0], follower: true } }\n"
    "output: { probes: { tip: { node: beam.end, of: [x, y, rz] } } }\n";

// The same along a skew axis; %s is for what the plane has not.
static const char space_beam[] =
    "mesh: { beam: { type: line, from: [0, 0, 0], to: [%.17g, %.17g, %.17g], elements: %d } }\n"
    "elements: { beam: { type: beam_exact_3d, mesh: beam, E: 1.0e+6, nu: 0.3, rho: 1000,\n"
    "                    orientation: [%.17g, %.17g, %.17g],\n"
    "                    section: { type: rectangle, width: 0.1, height: 0.1 } } }\n"
    "supports: { clamp: { set: beam.start, fix: [x, y, z, rx, ry, rz] } }\n"
    "loads: { push: { type: force, node: beam.end, value: [%.17g, %.17g, %.17g], follower: true } }\n"
    "output: { probes: { tip: { node: beam.end, of: [x, y, z, rx, ry, rz] } } }\n";

// Tip position and angle in the plane of bending.
static void plane_tip(const double n[2], int elements, double tip[3])
{
    double q[MOST] = { 0 };
    still s = still_print(NULL, plane_beam, elements, n[0], n[1]);
    still_statics(&s, 0, q);
    tip[0] = still_probe(&s, "tip.x", q);
    tip[1] = still_probe(&s, "tip.y", q);
    tip[2] = still_probe(&s, "tip.rz", q);
    still_close(&s);
}

static void space_tip(const double n[2], int elements, double tip[3])
{
    double q[MOST] = { 0 }, F[3], x[3], rotation[3];
    in_skew_axes(n[0], n[1], F);
    still s = still_print(NULL, space_beam, axes[0][0], axes[0][1], axes[0][2], elements, axes[1][0], axes[1][1],
                          axes[1][2], F[0], F[1], F[2]);
    still_statics(&s, 0, q);
    for (int k = 0; k < 3; k++) {
        x[k] = still_probe(&s, (const char *[]){ "tip.x", "tip.y", "tip.z" }[k], q);
        rotation[k] = still_probe(&s, (const char *[]){ "tip.rx", "tip.ry", "tip.rz" }[k], q);
    }
    tip[0] = pcs_dot3(axes[0], x);
    tip[1] = pcs_dot3(axes[1], x);
    tip[2] = pcs_dot3(axes[2], rotation);
    CHECK_NEAR(pcs_dot3(axes[2], x), 0.0, 1e-10);
    CHECK_NEAR(pcs_dot3(rotation, rotation), tip[2] * tip[2], 1e-10);
    still_close(&s);
}

// Order 2 in the size of the elements, and the same in the plane and in space.
TEST(follower_force_bends_the_elastica)
{
    const double forces[3][2] = { { 0.0, 12.0 }, { -6.0, 20.0 }, { 15.0, -30.0 } };
    for (int i = 0; i < 3; i++) {
        double exact[3], coarse[3], fine[3], skew[3], error[2] = { 0 };
        follower_elastica(forces[i], exact);
        plane_tip(forces[i], 16, coarse);
        plane_tip(forces[i], 32, fine);
        space_tip(forces[i], 16, skew);
        CHECK(fabs(exact[2]) > 0.6);
        for (int k = 0; k < 3; k++) {
            error[0] = fmax(error[0], fabs(coarse[k] - exact[k]));
            error[1] = fmax(error[1], fabs(fine[k] - exact[k]));
            CHECK_NEAR(fine[k] + (fine[k] - coarse[k]) / 3.0, exact[k], 1e-2 * error[1]);
            CHECK_NEAR(skew[k], coarse[k], 1e-9);
        }
        CHECK_NEAR(log2(error[0] / error[1]), 2.0, 0.02);
    }
}

#define SCHEMES                                                                                                \
    {                                                                                                          \
        "alpha_ggl, rho_inf: 0.9", "alpha_velocity, rho_inf: 0.9", "newmark", "hht", "moreau_jean, theta: 0.5" \
    }

// A free beam in space, bent, turned and thrown about by loads of every kind; %s: the force that may follow, the
// scheme.
static const char free_beam[] =
    "mesh: { beam: { type: line, from: [0, 0, 0], to: [2, 1, 0.5], elements: 4 } }\n"
    "elements: { beam: { type: beam_exact_3d, mesh: beam, E: 2.0e+4, nu: 0.25, rho: 3, orientation: [0, 0, 1],\n"
    "                    section: { type: rectangle, width: 0.3, height: 0.2 } } }\n"
    "loads: { weight: { type: gravity, g: [0, 0, -2] },\n"
    "         stands: { type: force, node: beam.start, value: [1, -2, 3] },\n"
    "         turns: { type: moment, node: beam.start, value: [0.5, 2, -1] },\n"
    "         carried: { type: moment, node: beam.end, value: [1, -1, 0.5], follower: true },\n"
    "         motor: { type: torque, node: beam.end, value: 2, axis: [2, 0, 1] },\n"
    "         line: { type: line, cells: beam, value: [0.3, -1, 2] }%s }\n"
    "scheme: { type: %s }\ntime: { step: 2.0e-3, end: 0.4 }\n";

TEST(momentum_is_what_the_forces_gave)
{
    const char *const schemes[] = SCHEMES;
    const double length = sqrt(5.25), mass = 3.0 * 0.06 * length, t = 0.4;
    for (int i = 0; i < 10; i++) {
        text_case c = text_case_print(
            free_beam,
            i % 2 ? ", follows: { type: force, node: beam.end, value: [3, 1, -2], follower: true },"
                    " rises: { type: force, node: beam.end, value: [4, 0, 0], amplitude: { table: [[0, 0], [1, 1]] } }"
                  : "",
            schemes[i / 2]);
        const pcs_system *s = c.sim->system;
        double follower[3] = { 0 }, R[9], force[3];
        while (!pcs_sim_is_done(c.sim)) {
            for (int side = 0; side < 2; side++) {
                pcs_rotation_exp(c.sim->state.q + s->nq - 3, R);
                pcs_rotation_apply(R, (const double[3]){ 3, 1, -2 }, force);
                for (int k = 0; k < 3 && i % 2; k++) follower[k] += 0.5 * 2e-3 * force[k];
                if (side == 0) text_case_step(&c);
            }
        }
        const double *p = c.sim->ledger.now.momentum;
        CHECK_NEAR(p[0], t + 0.3 * length * t + follower[0] + (i % 2 ? 2.0 * t * t : 0.0), i % 2 ? 1e-4 : 1e-11);
        CHECK_NEAR(p[1], -2.0 * t - length * t + follower[1], i % 2 ? 1e-4 : 1e-11);
        CHECK_NEAR(p[2], 3.0 * t + 2.0 * length * t - 2.0 * mass * t + follower[2], i % 2 ? 1e-4 : 1e-11);
        text_case_close(&c);
    }
}

// What the ledger of a damped rod under a force that varies leaves unexplained, J.
static double unexplained(const char *scheme, int steps)
{
    text_case run = text_case_print(
        "mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 4 } }\n"
        "elements: { bar: { type: rod, mesh: bar, E: 1.0, rho: 1.0, area: 1.0, damping: { stiffness: 0.05 } } }\n"
        "supports: { wall: { set: bar.start, fix: [x] } }\n"
        "loads: { push: { type: force, node: bar.end, value: [1, 0, 0], amplitude: { sine: { frequency: 0.7 } } } }\n"
        "scheme: { type: %s }\n"
        "time: { step: %.17g, end: 2.0 }\n",
        scheme, 2.0 / steps);
    text_case_run(&run);
    double loss = run.sim->ledger.numerical_loss, work = run.sim->ledger.external_work;
    text_case_close(&run);
    CHECK(work > 0.1);
    return fabs(loss);
}

TEST(schemes_of_several_points_book_work_and_damping_to_their_order)
{
    const struct {
        const char *scheme;
        double order;
    } known[] = {
        { "half_explicit_rk, method: herk2", 2.0 },
        { "half_explicit_rk, method: hem3", 3.0 },
        { "half_explicit_rk, method: hem4", 4.0 },
        { "half_explicit_rk, method: hem5", 5.0 },
        { "tdg_minus, degree: 2", 4.0 },
        { "tdg_plus, degree: 2", 4.0 },
        { "tdg_plus, degree: 3", 4.0 },
    };
    for (int i = 0; i < (int)(sizeof known / sizeof *known); i++) {
        double coarse = unexplained(known[i].scheme, 80), fine = unexplained(known[i].scheme, 160);
        double order = log2(coarse / fine);
        CHECK(order > known[i].order - 0.4);
    }
}

// A body in the plane that turns by 3 rad/s under a force that follows it, 1 N on 1 kg, after 2 s.
static text_case follower_run(const char *scheme, int steps)
{
    text_case run = text_case_print("mesh: { body: { type: point, at: [0, 0, 0] } }\n"
                                    "elements: { body: { type: rigid_body_2d, mesh: body, mass: 1.0, inertia: 1.0 } }\n"
                                    "loads: { push: { type: force, node: body, value: [1, 0, 0], follower: true } }\n"
                                    "initial: [ { set: body, spin: [0, 0, 3.0], about: [0, 0, 0] } ]\n"
                                    "output: { probes: { p: { node: body, of: [vx, vy] } } }\n"
                                    "scheme: { type: %s }\n"
                                    "time: { step: %.17g, end: 2.0 }\n",
                                    scheme, 2.0 / steps);
    CHECK(!run.sim->system->is_linear);
    text_case_run(&run);
    return run;
}

// Of its velocity, m/s.
static double follower_error(const char *scheme, int steps)
{
    text_case run = follower_run(scheme, steps);
    double x = text_case_probe(&run, "p.vx") - sin(6.0) / 3.0,
           y = text_case_probe(&run, "p.vy") - (1.0 - cos(6.0)) / 3.0;
    text_case_close(&run);
    return hypot(x, y);
}

TEST(a_force_that_follows_a_body_in_the_plane_is_not_linear)
{
    const char *const schemes[] = { "newmark", "hht", "alpha_velocity, rho_inf: 0.5", "jump_newmark, gamma: 0.5",
                                    "alpha_ggl" };
    for (int i = 0; i < 5; i++) {
        double coarse = follower_error(schemes[i], 40), fine = follower_error(schemes[i], 80);
        CHECK(fine < 1e-3 && log2(coarse / fine) > 1.8);
    }
}

// Its work is that of the force where the body is, not along a way on which it turns: also where a run is far shorter
// than 1 s.
TEST(work_of_a_force_that_follows_is_booked_to_the_order_of_the_motion)
{
    const char *const schemes[] = { "mannshardt", "event_driven", "half_explicit_rk, method: hem4",
                                    "tdg_plus, degree: 2" };
    double speed2 = (sin(6.0) * sin(6.0) + (1.0 - cos(6.0)) * (1.0 - cos(6.0))) / 9.0;
    for (int i = 0; i < 4; i++) {
        text_case run = follower_run(schemes[i], 160);
        CHECK_NEAR(run.sim->ledger.external_work, 0.5 * speed2, 1e-7);
        CHECK_NEAR(run.sim->ledger.numerical_loss, 0.0, 1e-8);
        text_case_close(&run);
    }
}
