// Forces from outside, factors of loads and friction: the same motion as by the loads and laws of a case, with every
// scheme, and a certificate that holds.

#include "check.h"
#include "every_scheme.h"
#include "percuss.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 500 };

// A bar that a force drives against a wall; kind of mass, size of the force and scheme are left open.
static const char bar[] =
    "mesh: { bar: { type: line, from: [0.05, 0, 0], to: [1.05, 0, 0], elements: 8 } }\n"
    "elements: { bar: { type: rod, mesh: bar, E: 900.0, rho: 1.0, area: 1.0, mass: %s } }\n"
    "initial: [ { set: bar, velocity: [-0.3, 0, 0] } ]\n"
    "loads: { push: { type: force, node: bar.end, value: [%s, 0, 0] } }\n"
    "contacts: { wall: { type: node_plane, nodes: bar.start, point: [0, 0, 0], normal: [1, 0, 0], "
    "restitution: 0.0 } }\n"
    "scheme: { %s }\n"
    "time: { step: 4.0e-4, end: 1.0 }\n";

// An undamped elastic body with contacts takes neither forward Euler nor splitting without contact forces.
static bool takes_bar(const char *scheme)
{
    return strcmp(scheme, "type: moreau_jean_explicit") != 0 && strcmp(scheme, "type: splitting") != 0;
}

static percuss *open_bar(const char *force, const char *scheme)
{
    char text[2048];
    percuss *p = NULL;
    const char *mass = strstr(scheme, "wave") != NULL ? "one_point" : "lumped";
    snprintf(text, sizeof text, bar, mass, force, scheme);
    int answer = percuss_open(&(percuss_source){ .path = "bar", .text = text }, &p);
    if (answer != 0) fail_msg("%s: %s", scheme, percuss_message(p));
    return p;
}

static void make_step(percuss *p, const char *scheme)
{
    if (percuss_step(p) != 0) fail_msg("%s, step %ld: %s", scheme, percuss_steps(p), percuss_message(p));
}

static void is_near(const percuss *p, const percuss *other, double bound, const char *scheme)
{
    for (int i = 0; i < percuss_dofs(p); i++) {
        double a = percuss_displacement(p)[i], b = percuss_displacement(other)[i];
        if (!(fabs(a - b) <= bound)) fail_msg("%s, step %ld: u[%d] %.17g, %.17g", scheme, percuss_steps(p), i, a, b);
    }
}

static void push(percuss *p, int tip, double by, const char *scheme)
{
    const double force[3] = { -2.0, 0.0, 0.0 };
    percuss_applied_force(p)[tip] = by;
    CHECK(percuss_apply(p, 8, force) == 0);
    make_step(p, scheme);
    CHECK(percuss_applied_force(p)[tip] == 0.0);
}

// How far the last digit of a force, now more and now less, has moved the bar: impacts at position level turn a
// difference of places into one of velocities, 1/h times as large.
static double spread(const percuss *p, const percuss *nudged)
{
    double most = 0.0;
    for (int i = 0; i < percuss_dofs(p); i++)
        most = fmax(most, fabs(percuss_displacement(p)[i] - percuss_displacement(nudged)[i]));
    return most;
}

// Also what a scheme remembers of the start jumps with the forces.
TEST(applied_forces_are_loads)
{
    for (int k = 0; every_scheme[k] != NULL; k++) {
        const char *scheme = every_scheme[k];
        if (!takes_bar(scheme)) continue;
        percuss *loaded = open_bar("-3.0", scheme), *pushed = open_bar("0.0", scheme),
                *nudged = open_bar("0.0", scheme);
        int tip = percuss_equation(pushed, 8, 0);
        double widest = 0.0;
        CHECK(tip == 8 && percuss_equation(pushed, 8, 1) == -2 && percuss_equation(pushed, 9, 0) == -2);
        for (int i = 0; i < STEPS; i++) {
            push(pushed, tip, -1.0, scheme);
            push(nudged, tip, i % 2 == 0 ? -1.0 - 4.0 * DBL_EPSILON : -1.0 + 4.0 * DBL_EPSILON, scheme);
            make_step(loaded, scheme);
            widest = fmax(widest, spread(pushed, nudged));
            is_near(pushed, loaded, 1e-10 + 10.0 * widest, scheme);
        }
        percuss_energy a = percuss_energies(loaded), b = percuss_energies(pushed);
        CHECK_NEAR(a.external_work, b.external_work, 1e-10 + 100.0 * widest);
        CHECK(fabs(a.external_work) > 1e-3);
        percuss_destroy(&loaded);
        percuss_destroy(&pushed);
        percuss_destroy(&nudged);
    }
}

// Forces that jump from step to step, far above those of the model.
TEST(the_certificate_holds_under_any_forces)
{
    for (int k = 0; every_scheme[k] != NULL; k++)
        for (double size = 1e-3; size < 1e4 && takes_bar(every_scheme[k]); size *= 100.0) {
            percuss *p = open_bar("-1.0", every_scheme[k]);
            unsigned seed = 12345u;
            for (int i = 0; i < STEPS; i++) {
                for (int e = 0; e < percuss_dofs(p); e++) {
                    seed = seed * 1664525u + 1013904223u;
                    double f = size * ((double)(seed >> 8) / (double)(1u << 24) - 0.5);
                    if (i % 7 != 0) percuss_applied_force(p)[e] = f;
                }
                if (i % 50 == 20) CHECK(percuss_set_load_factor(p, "push", (double)(i % 3) - 1.0) == 0);
                make_step(p, every_scheme[k]);
            }
            percuss_energy e = percuss_energies(p);
            double reported = e.external_work - e.damping_loss - e.impact_loss - e.friction_loss + e.correction_work -
                              e.numerical_loss;
            double change = e.kinetic + e.strain + e.potential - e.initial;
            CHECK_NEAR(change, reported, 1e-8 * (fabs(e.external_work) + e.initial));
            percuss_destroy(&p);
        }
}

// Joints, rotations in space, friction, systems in closed form: forces of the size of those that act.
TEST(shipped_cases_take_forces)
{
    static const char *const cases[] = { "double_pendulum_stop",
                                         "beam_pendulum",
                                         "slider_crank_bilateral",
                                         "rotor",
                                         "beam_pile",
                                         "slider_crank",
                                         "cantilever_stop",
                                         "ball",
                                         "stick_slip",
                                         "beams_crossed",
                                         "shaft_whirl",
                                         "pendulum",
                                         "frame_lattice",
                                         "spinning_ball" };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char path[64];
        percuss *p = NULL;
        unsigned seed = 1u;
        snprintf(path, sizeof path, "cases/%s", cases[k]);
        CHECK(percuss_load(path, &p) == 0);
        for (int i = 0; i < 60 && !percuss_is_done(p); i++) {
            const double *f = percuss_force(p);
            double size = 0.0, *applied = percuss_applied_force(p);
            for (int e = 0; e < percuss_dofs(p); e++) size = fmax(size, fabs(f[e]));
            for (int e = 0; e < percuss_dofs(p); e++) {
                seed = seed * 1664525u + 1013904223u;
                if (i % 5 != 0) applied[e] = size * 1e-3 * ((double)(seed >> 8) / (double)(1u << 24) - 0.5);
            }
            make_step(p, cases[k]);
        }
        percuss_destroy(&p);
    }
}

// A state has the factor that it was left with, in memory and in files.
TEST(states_have_factors)
{
    static const char path[] = TESTS_OUTPUT_FOLDER "/factor.state";
    for (int k = 0; every_scheme[k] != NULL; k++) {
        if (!takes_bar(every_scheme[k])) continue;
        percuss *p = open_bar("-3.0", every_scheme[k]), *other = open_bar("-3.0", every_scheme[k]);
        CHECK(percuss_set_load_factor(p, "push", 0.5) == 0);
        make_step(p, every_scheme[k]);
        percuss_state *kept = percuss_keep(p);
        CHECK(percuss_save(p, path) == 0 && percuss_load_state(other, path) == 0);
        CHECK(percuss_set_load_factor(p, "push", 7.0) == 0);
        make_step(p, every_scheme[k]);
        CHECK(percuss_restore(p, kept) == 0);
        size_t bytes = (size_t)percuss_dofs(p) * sizeof(double);
        double work = percuss_energies(p).external_work;
        for (int i = 0; i < STEPS; i++) {
            make_step(p, every_scheme[k]);
            make_step(other, every_scheme[k]);
            CHECK(memcmp(percuss_displacement(p), percuss_displacement(other), bytes) == 0);
        }
        percuss *whole = open_bar("-1.5", every_scheme[k]);
        for (int i = 0; i <= STEPS; i++) make_step(whole, every_scheme[k]);
        is_near(p, whole, 1e-10, every_scheme[k]);
        CHECK(percuss_energies(p).external_work != work);
        percuss_destroy(&p);
        percuss_destroy(&other);
        percuss_destroy(&whole);
        percuss_forget(&kept);
    }
    remove(path);
}

// A mass of 1 kg on a floor: 10 m/s^2 press, 2 m/s^2 pull along it.
static const char block[] =
    "mesh: { b: { type: point, at: [0, 0, %s] } }\n"
    "elements: { b: { type: point_mass, mesh: b, mass: 1 } }\n"
    "initial: [ { set: b, velocity: [1, 0, 0] } ]\n"
    "loads: { weight: { type: gravity, g: [2, 0, -10] } }\n"
    "contacts: { floor: { type: node_plane, nodes: b, point: [0, 0, 0], normal: [0, 0, 1], friction: %s%s } }\n"
    "scheme: { %s }\n"
    "time: { step: 1.0e-3, end: 1.0 }\n";
static const char rigid[] = ", restitution: 0", spring[] = ", law: { type: linear, stiffness: 1.0e+4 }";

// NULL: the scheme does not take it.
static percuss *open_block(bool has_law, const char *friction, const char *scheme)
{
    char text[2048];
    percuss *p = NULL;
    snprintf(text, sizeof text, block, has_law ? "-1.0e-3" : "0.0", friction, has_law ? spring : rigid, scheme);
    if (percuss_open(&(percuss_source){ .path = "block", .text = text }, &p) == 0) return p;
    CHECK_TEXT(percuss_message(p), "cannot advance this model");
    percuss_destroy(&p);
    return NULL;
}

// mu = 0 up to 0.2 s, then 1/2, which stops the block at 2/3 s and holds it, from 0.8 s on 1/10, which does not.
static void slide_and_stop(percuss *p, bool has_law, const char *scheme)
{
    double close = has_law ? 5e-2 : 5e-3, friction[] = { 0.0, 0.5, 0.1 };
    double v[] = { 1.4, 0.0, 0.2 }, x[] = { 0.24, 0.24 + 1.96 / 6.0, 0.26 + 1.96 / 6.0 };
    for (int phase = 0, steps[] = { 200, 800, 1000 }; phase < 3; phase++) {
        CHECK(percuss_set_friction(p, "floor", friction[phase]) == 0);
        while (percuss_steps(p) < steps[phase]) make_step(p, scheme);
        double off = fmax(fabs(percuss_velocity(p)[0] - v[phase]), fabs(percuss_displacement(p)[0] - x[phase]));
        if (!(off <= close)) fail_msg("%s, law %d, phase %d: off by %g", scheme, has_law, phase, off);
    }
}

// Friction that is set acts, or is refused where the case has none, with every scheme.
TEST(friction_that_is_set_acts)
{
    int acted = 0, refused = 0;
    for (int i = 0; every_scheme[i / 2] != NULL; i++) {
        const char *scheme = every_scheme[i / 2];
        bool has_law = i % 2 == 1;
        percuss *p = open_block(has_law, "0.5", scheme);
        if (p != NULL) slide_and_stop(p, has_law, scheme);
        acted += p != NULL;
        percuss_destroy(&p);
        p = open_block(has_law, "0", scheme);
        if (p == NULL) continue;
        for (int k = 0; k < 3; k++) make_step(p, scheme);
        CHECK(percuss_set_friction(p, "floor", 0.2) == 2);
        CHECK_TEXT(percuss_message(p), "contact 'floor' has no friction in the case");
        refused++;
        percuss_destroy(&p);
    }
    if (acted < 28 || refused < 36) fail_msg("%d acted, %d refused", acted, refused);
}

TEST(what_cannot_be_driven_is_told)
{
    percuss *p = open_bar("-1.0", every_scheme[0]);
    const double along[3] = { 1.0, 0.0, 0.0 }, across[3] = { 0.0, 1.0, 0.0 }, wild[3] = { NAN, 0.0, 0.0 };
    CHECK(percuss_apply(p, 9, along) == 2);
    CHECK_TEXT(percuss_message(p), "no node 9");
    CHECK(percuss_apply(p, -1, along) == 2 && percuss_apply(p, 0, across) == 2 && percuss_apply(p, 0, wild) == 2);
    CHECK_TEXT(percuss_message(p), "not finite");
    CHECK(percuss_set_load_factor(p, "pull", 1.0) == 2 && percuss_set_load_factor(p, NULL, 1.0) == 2);
    CHECK(percuss_set_load_factor(p, "push", INFINITY) == 2);
    CHECK(percuss_set_friction(p, "wall", 0.3) == 2);
    CHECK_TEXT(percuss_message(p), "no friction in the case");
    CHECK(percuss_set_friction(p, "floor", 0.3) == 2 && percuss_set_friction(p, NULL, 0.3) == 2);
    make_step(p, "after refusals");
    // What is no number ends the run; a kept state leads on.
    percuss_state *kept = percuss_keep(p);
    percuss_applied_force(p)[3] = NAN;
    CHECK(percuss_step(p) == 1 && percuss_is_done(p) && percuss_step(p) == 1);
    CHECK(percuss_restore(p, kept) == 0 && !percuss_is_done(p) && strcmp(percuss_message(p), "") == 0);
    for (int i = 0; i < STEPS; i++) make_step(p, "after a restore");
    percuss_forget(&kept);
    CHECK(kept == NULL);
    percuss_destroy(&p);
}
