// Frequencies against theory: Timoshenko beams with the orders of their elements, free beams, shafts that spin, joints,
// damping, states under load; and what is written.
//
// Exact values of the Timoshenko beam with rotary inertia (steel, L = 1 m, square section d, shear factor 5/6) are
// roots of its frequency equations, those of shafts come from the same equations with gyroscopic terms.

#include "support/check.h"
#include "support/still.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char beam[] =
    "mesh: { beam: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 8 } }\n"
    "elements: { beam: { type: beam_timo_2d, mesh: beam, E: 2.1e11, nu: 0.3, rho: 7800.0,\n"
    "  section: { type: rectangle, width: 0.01, height: 0.01, shear_factor: 0.8333333333333333 } } }\n";

static const char clamped[] = "supports.a={set: beam.start, fix: [x, y, rz]}";
static const char simple[] = "supports.a={set: beam.start, fix: [x, y]}; supports.b={set: beam.end, fix: [y]}";
static const char stocky[] = "elements.beam.section={type: rectangle, width: 0.2, height: 0.2, shear_factor: "
                             "0.8333333333333333}";

static double beam_frequency(const char *supports, const char *section, int elements, int mode)
{
    still s = still_print(beam, "mesh.beam.elements=%d; %s; %s", elements, supports, section);
    pcs_modes modes = still_modes(&s, mode, PCS_EIGEN_AUTO);
    CHECK(modes.count == mode && modes.modes[mode - 1].kind == PCS_MODE_VIBRATION);
    double w = modes.modes[mode - 1].w;
    still_close(&s);
    return w;
}

// Errors of the first mode with 4, 8, 16 and 32 elements, each within a few percent of what the element is known for.
TEST(frequencies_converge_as_the_element_does)
{
    const struct {
        const char *supports, *section;
        double exact, error[4];
    } table[] = {
        { simple, "", 147.807988, { 2.7e-4, 1.8e-5, 1.4e-6, 1.7e-7 } },
        { clamped, "", 52.6608455, { 3.4e-5, 2.3e-6, 1.8e-7, 2.2e-8 } },
        { simple, stocky, 2778.25, { 2.5e-3, 5.8e-4, 1.4e-4, 3.6e-5 } },
        { clamped, stocky, 1021.48, { 3.4e-4, 8.0e-5, 2.0e-5, 4.9e-6 } },
    };
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++) {
            double w = beam_frequency(table[i].supports, table[i].section, 4 << k, 1);
            double error = w / table[i].exact - 1.0, round = i < 2 ? 1e-8 : 5e-6; // of the digits of the exact values
            CHECK_NEAR(error, table[i].error[k], 0.06 * table[i].error[k] + round);
        }
}

TEST(higher_modes_are_right_too)
{
    const double slender[] = { 52.6608455, 329.862708, 922.915464 }, thick[] = { 1021.48, 5501.26, 13094.0 };
    for (int k = 0; k < 3; k++) {
        CHECK_RELATIVE(beam_frequency(clamped, "", 300, k + 1), slender[k], 2e-7);
        // The first longitudinal mode, (pi/2) sqrt(E/rho) = 8150.5, lies between the second and the third.
        CHECK_RELATIVE(beam_frequency(clamped, stocky, 500, k < 2 ? k + 1 : 4), thick[k], 1e-5);
    }
    // The condition number of K is 1e14 here.
    CHECK_RELATIVE(beam_frequency(clamped, "", 2000, 1), 52.6608455, 2e-4);
    CHECK_RELATIVE(beam_frequency(simple, "", 300, 2), 590.931860, 1e-7);
    CHECK_RELATIVE(beam_frequency(simple, stocky, 200, 2), 8150.51, 1e-5);
    CHECK_RELATIVE(beam_frequency(simple, stocky, 400, 3), 9636.19, 2e-5);
}

// Without rotary inertia, and with shear that is next to rigid, the beam is that of Euler and Bernoulli.
TEST(textbook_beams_have_their_frequencies)
{
    static const char bernoulli[] =
        "elements.beam.mass=translational; elements.beam.section={type: rectangle, width: 0.2, "
        "height: 0.2, shear_factor: 1.0e8}";
    const double unit = sqrt(2.1e11 * 0.04 / 12.0 / 7800.0);
    CHECK_RELATIVE(beam_frequency(clamped, bernoulli, 64, 1), 3.5160152685 * unit, 1e-7);
    CHECK_RELATIVE(beam_frequency(simple, bernoulli, 64, 1), 9.8696044011 * unit, 1e-7);
}

// Euler-Bernoulli's free-free beam has 4.73004^2 sqrt(E I / rho A); shear and rotary inertia take 5e-4 away.
TEST(a_free_beam_has_rigid_modes_first)
{
    still s = still_open(beam, "mesh.beam.elements=64");
    pcs_modes modes = still_modes(&s, 5, PCS_EIGEN_AUTO);
    const char *const names[] = { "translation along x", "translation along y", "rotation about z" };
    for (int k = 0; k < 3; k++) {
        CHECK(modes.modes[k].kind == PCS_MODE_RIGID && modes.modes[k].w == 0.0);
        CHECK_TEXT(modes.modes[k].name, names[k]);
    }
    double slim = 22.3732854 * sqrt(2.1e11 * 1e-4 / 12.0 / 7800.0);
    CHECK(modes.modes[3].kind == PCS_MODE_VIBRATION);
    CHECK_RELATIVE(modes.modes[3].w, slim, 1e-3);
    CHECK(modes.modes[3].w < slim);
    still_close(&s);

    const char *in_space =
        "elements.beam.type=beam_timo_3d; elements.beam.orientation=[0, 0, 1]; mesh.beam.elements=24;"
        "mesh.beam.to=[0.6, 0.0, 0.8]";
    still t = still_open(beam, in_space);
    const pcs_eigen_method methods[] = { PCS_EIGEN_DENSE, PCS_EIGEN_ARPACK };
    for (int m = 0; m < 2; m++) {
        pcs_modes free_modes = still_modes(&t, 9, methods[m]);
        for (int k = 0; k < 9; k++) CHECK((free_modes.modes[k].kind == PCS_MODE_RIGID) == (k < 6));
        // A square section bends alike in both planes.
        CHECK_RELATIVE(free_modes.modes[7].w, free_modes.modes[6].w, 1e-9);
        CHECK_RELATIVE(free_modes.modes[6].w, slim, 1e-3);
        CHECK(free_modes.modes[8].w > 2.0 * slim);
    }
    still_close(&t);
}

TEST(damping_is_told)
{
    still s = still_print(beam, "damping={mass: 3.0, stiffness: 1.0e-4}; %s", clamped);
    pcs_modes modes = still_modes(&s, 3, PCS_EIGEN_AUTO);
    pcs_modes damped;
    pcs_modes_options options = { .count = 3, .is_whirl = true };
    CHECK_OK(s.ctx, pcs_modes_find(&s.on, &options, &damped));
    for (int k = 0; k < 3; k++) {
        double w = modes.modes[k].w, xi = 0.5 * (3.0 / w + 1e-4 * w);
        CHECK_RELATIVE(modes.modes[k].damping, xi, 1e-10);
        CHECK_RELATIVE(damped.modes[k].damping, xi, 1e-9);
        CHECK_RELATIVE(damped.modes[k].w, w * sqrt(1.0 - xi * xi), 1e-9);
    }
    still_close(&s);
}

// Beck's column, a cantilever under a follower force at its tip, flutters above 20.0510 E I / L^2 (Beck 1952), where
// its first two frequencies meet at 11.016 sqrt(E I / (rho A L^4)). Below, it vibrates.
TEST(becks_column_flutters)
{
    const double EI = 2.0e11 * 0.01 * 8e-9 / 12.0, unit = sqrt(EI / (7800.0 * 0.01 * 0.002));
    const double load[] = { 19.0, 20.0, 20.1, 25.0 };
    for (int i = 0; i < 4; i++) {
        char value[128];
        snprintf(value, sizeof value, "loads.tip.value=[%.17g, 0, 0]", -load[i] * EI);
        still s = still_open("mesh: { beam: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 200 } }\n"
                             "elements: { beam: { type: beam_exact_2d, mesh: beam, E: 2.0e11, nu: 0.3, rho: 7800.0,\n"
                             "  section: { type: rectangle, width: 0.01, height: 0.002 } } }\n"
                             "supports: { a: { set: beam.start, fix: [x, y, rz] } }\n"
                             "loads: { tip: { type: force, set: beam.end, value: [0, 0, 0], follower: true } }\n",
                             value);
        double *q = calloc((size_t)s.on.system->nq, sizeof *q);
        CHECK(q != NULL);
        still_statics(&s, 0, q);
        pcs_modes modes;
        pcs_modes_options options = { .count = 3, .q = q, .load_factor = 1.0 };
        CHECK_OK(s.ctx, pcs_modes_find(&s.on, &options, &modes));
        bool flutters = load[i] > 20.051;
        CHECK(modes.modes[0].kind == (flutters ? PCS_MODE_FLUTTER : PCS_MODE_VIBRATION));
        CHECK((modes.modes[0].damping < 0.0) == flutters && (modes.modes[1].damping > 0.0) == flutters);
        CHECK(modes.modes[1].kind == PCS_MODE_VIBRATION && modes.modes[2].kind == PCS_MODE_VIBRATION);
        if (flutters) {
            CHECK_TEXT(modes.modes[0].name, "flutter at ");
            CHECK_TEXT(pcs_mode_kind_text(modes.modes[0].kind), "unstable");
        }
        if (i == 2)
            CHECK_RELATIVE(hypot(modes.modes[0].w, modes.modes[0].w * modes.modes[0].damping), 11.016 * unit, 5e-3);
        free(q);
        still_close(&s);
    }
}

// 2 s^2 + 60 s + 200 = 0: s = -15 +- sqrt(125).
TEST(overdamped_motions_tell_their_rates)
{
    const char *text =
        "mesh: { a: { type: point, at: [0, 0, 0] }, b: { type: point, at: [1, 0, 0] },\n"
        "        s: { type: link, a: a, b: b } }\n"
        "elements: { a: { type: point_mass, mesh: a, mass: 1.0 }, b: { type: point_mass, mesh: b, mass: 2.0 },\n"
        "            s: { type: spring_damper, mesh: s, stiffness: 200.0, damper: 60.0 } }\n"
        "supports: { a: { set: a, fix: [x, y, z] }, b: { set: b, fix: [y, z] } }\n";
    still s = still_open(text, NULL);
    pcs_modes modes;
    pcs_modes_options options = { .count = 10, .is_whirl = true };
    CHECK_OK(s.ctx, pcs_modes_find(&s.on, &options, &modes));
    CHECK(modes.count == 2);
    for (int k = 0; k < 2; k++) {
        const pcs_mode *m = &modes.modes[k];
        CHECK(m->kind == PCS_MODE_DECAY && m->damping == 1.0 && pcs_mode_hertz(m) == 0.0);
        CHECK_RELATIVE(m->w, 15.0 + (k == 0 ? -1.0 : 1.0) * sqrt(125.0), 1e-13);
    }
    CHECK_TEXT(modes.modes[0].name, "at 3.81966011 1/s");
    still_close(&s);
}

static const char shaft[] =
    "mesh: { shaft: { type: line, from: [0, 0, 0], to: [0.59, 0, 0], elements: 16 } }\n"
    "elements: { shaft: { type: rotor_beam, mesh: shaft, E: 2.1e11, nu: 0.2962962962962963, rho: 7850.0,\n"
    "  orientation: [0, 1, 0], speed: 0.0, section: { type: circle, diameter: 0.025, shear_factor: "
    "0.886 } } }\n"
    "supports: { a: { set: shaft.start, fix: [x, y, z, rx] }, b: { set: shaft.end, fix: [y, z] } }\n";

TEST(shafts_whirl_backward_and_forward)
{
    const struct {
        const char *speed;
        double backward, forward;
    } table[] = { { "0.0", 914.55356, 914.55356 },
                  { "1000.0", 913.45502, 915.65339 },
                  { "1.0e4", 903.62692, 925.61059 },
                  { "-1.0e4", 903.62692, 925.61059 } };
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 2; k++) {
            still s =
                still_print(shaft, "elements.shaft.speed=%s; mesh.shaft.elements=%d", table[i].speed, k ? 64 : 16);
            pcs_modes modes = still_modes(&s, 2, PCS_EIGEN_AUTO);
            CHECK(modes.is_whirl == (i > 0));
            CHECK(modes.modes[0].kind == (i > 0 ? PCS_MODE_BACKWARD : PCS_MODE_VIBRATION));
            CHECK(modes.modes[1].kind == (i > 0 ? PCS_MODE_FORWARD : PCS_MODE_VIBRATION));
            // 6.2e-6 to 6.8e-6 with 16 elements, and of second order at least.
            double error = k ? 3.3e-7 : 6.5e-6, spread = k ? 0.7e-7 : 0.4e-6;
            CHECK_NEAR(modes.modes[0].w / table[i].backward - 1.0, error, spread);
            CHECK_NEAR(modes.modes[1].w / table[i].forward - 1.0, error, spread);
            CHECK(modes.modes[0].damping == 0.0);
            still_close(&s);
        }
}

// A free shaft keeps its six rigid motions and precesses at Ip W / It besides.
TEST(a_free_shaft_precesses)
{
    still s = still_open(shaft, "elements.shaft.speed=1.0e4; supports={}");
    pcs_modes modes = still_modes(&s, 8, PCS_EIGEN_AUTO);
    double polar = 0.5 * 0.0125 * 0.0125, across = 0.59 * 0.59 / 12.0 + 0.25 * 0.0125 * 0.0125;
    for (int k = 0; k < 6; k++) CHECK(modes.modes[k].kind == PCS_MODE_RIGID);
    CHECK(modes.modes[6].kind == PCS_MODE_FORWARD);
    CHECK_RELATIVE(modes.modes[6].w, 1e4 * polar / across, 1e-3);
    still_close(&s);
}

// A disc on torsional springs: J w^2 -+ Jp s w - k = 0.
TEST(discs_whirl_backward_and_forward)
{
    still s = still_open("mesh: { d: { type: point, at: [0, 0, 0] }, s: { type: point, nodes: d } }\n"
                         "elements: { d: { type: disc, mesh: d, mass: 1, inertia: [0.7, 0.5, 0.5], speed: 30 },\n"
                         "  s: { type: mount, mesh: s, stiffness: [1, 1, 1], torsional_stiffness: [0, 200, 200] } }\n"
                         "supports: { a: { set: d, fix: [x, y, z, rx] } }\n",
                         NULL);
    pcs_modes modes = still_modes(&s, 2, PCS_EIGEN_AUTO);
    double b = 0.7 * 30.0 / (2.0 * 0.5), root = sqrt(b * b + 200.0 / 0.5);
    CHECK(modes.modes[0].kind == PCS_MODE_BACKWARD && modes.modes[1].kind == PCS_MODE_FORWARD);
    CHECK_RELATIVE(modes.modes[0].w, root - b, 1e-12);
    CHECK_RELATIVE(modes.modes[1].w, root + b, 1e-12);
    still_close(&s);
}

// A string of rods has no stiffness across. However many mechanisms there are, and in any units: none of them is a slow
// vibration or unstable.
TEST(mechanisms_are_told_in_any_units)
{
    static const double stiffness[] = { 0.7, 1.0, 12345.678, 2.1e11 }, length[] = { 1.1e-3, 0.3, 1.0, 7.7 };
    for (int i = 0; i < 16; i++)
        for (int n = 2; n <= 5; n++) {
            still s =
                still_print(NULL,
                            "mesh: { bar: { type: line, from: [0, 0, 0], to: [%g, 0, 0], elements: %d } }\n"
                            "elements: { bar: { type: rod_2d, mesh: bar, E: %g, rho: 1.0, area: 1.0 } }\n"
                            "supports: { a: { set: bar.start, fix: [x, y] }, b: { set: bar.end, fix: [x, y] } }\n",
                            length[i % 4], n, stiffness[i / 4]);
            pcs_modes modes = still_modes(&s, n, PCS_EIGEN_AUTO);
            CHECK_TEXT(modes.modes[0].name, "most at node ");
            CHECK_TEXT(modes.modes[0].name, ", direction [0, 1, 0]");
            for (int k = 0; k < n; k++)
                CHECK(modes.modes[k].kind == (k < n - 1 ? PCS_MODE_MECHANISM : PCS_MODE_VIBRATION));
            // A double root s = 0 is one mechanism.
            pcs_modes whirl;
            pcs_modes_options options = { .count = 3 * n, .is_whirl = true };
            CHECK_OK(s.ctx, pcs_modes_find(&s.on, &options, &whirl));
            CHECK(whirl.count == 2 * (n - 1));
            for (int k = 0; k < whirl.count; k++)
                CHECK(whirl.modes[k].kind == (k < n - 1 ? PCS_MODE_MECHANISM : PCS_MODE_VIBRATION));
            CHECK_RELATIVE(whirl.modes[n - 1].w, modes.modes[n - 1].w, 1e-9);
            still_close(&s);
        }
}
