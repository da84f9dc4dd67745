// Areas and sections that vary along a line: integrals by hand, end loads of tapered cantilevers, stresses.
//
// A cone of diameters a (clamped) and b over a length L, with A = pi d^2/4, I = pi d^4/64:
//   axial      4 L/(pi E a b)
//   bending    64 L^3/(3 pi E a^3 b) + 4 L/(pi k G a b)
//   torsion    32 L (a^2 + a b + b^2)/(3 pi G a^3 b^3)

#include "support/check.h"
#include "support/model.h"
#include "support/still.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

// The assembled matrix of an analysis at one place.
static double entry(const still *s, bool of_mass, int i, int j)
{
    double A[MODEL_MAX_SIZE * MODEL_MAX_SIZE];
    int n = s->on.system->nv;
    model_dense(of_mass ? s->on.system->M : s->on.system->K, n, A);
    return A[i * n + j];
}

// One cell of length 2 with E = 3, rho = 5.
static still one_rod(const char *element, const char *area, const char *mass)
{
    char text[512];
    snprintf(text, sizeof text,
             "mesh: { bar: { type: line, from: [0, 0, 0], to: [2, 0, 0], elements: 1 } }\n"
             "elements: { bar: { type: %s, mesh: bar, E: 3.0, rho: 5.0, area: %s, mass: %s } }\n",
             element, area, mass);
    return still_open(text, NULL);
}

// A = a + (b - a) x/L: K = E (a + b)/(2 L), M = rho L/12 [3a + b, a + b; a + b, a + 3b]; lumped by the sums of rows.
TEST(linear_areas_have_the_matrices_of_theory)
{
    static const char *const elements[] = { "rod", "rod_2d", "rod_3d", "rod_large_2d", "rod_large_3d" };
    static const int dimensions[] = { 1, 2, 3, 2, 3 };
    for (int e = 0; e < 5; e++) {
        int last = dimensions[e];
        still s = one_rod(elements[e], "{ from: 0.2, to: 0.8 }", "consistent");
        CHECK_RELATIVE(entry(&s, false, 0, 0), 3.0 * 0.5 / 2.0, 1e-15);
        CHECK_RELATIVE(entry(&s, false, 0, last), -3.0 * 0.5 / 2.0, 1e-15);
        CHECK_RELATIVE(entry(&s, true, 0, 0), 10.0 / 12.0 * 1.4, 1e-14);
        CHECK_RELATIVE(entry(&s, true, 0, last), 10.0 / 12.0 * 1.0, 1e-14);
        CHECK_RELATIVE(entry(&s, true, last, last), 10.0 / 12.0 * 2.6, 1e-14);
        still_close(&s);
        s = one_rod(elements[e], "{ from: 0.2, to: 0.8 }", "lumped");
        CHECK_RELATIVE(entry(&s, true, 0, 0), 10.0 / 12.0 * 2.4, 1e-14);
        CHECK_RELATIVE(entry(&s, true, last, last), 10.0 / 12.0 * 3.6, 1e-14);
        CHECK(entry(&s, true, 0, last) == 0.0);
        still_close(&s);
    }
}

static const char cone[] = "mesh: { bar: { type: line, from: [0, 0, 0], to: [1.5, 0, 0], elements: 1 } }\n"
                           "elements: { bar: { type: beam_timo_2d, mesh: bar, E: 100.0, nu: 0.25, rho: 1.0,\n"
                           "  section: { type: circle, diameter: { from: 0.3, to: 0.1 }, shear_factor: 0.9 } } }\n"
                           "supports: { clamp: { set: bar.start, fix: [x, y, rz] } }\n"
                           "loads: { pull: { type: force, node: bar.end, value: [1.0e-4, 0, 0] } }\n"
                           "output: { probes: { tip: { node: bar.end, of: [ux, uy] } } }\n";

static const char space[] = "elements.bar.type=%s; elements.bar.orientation=[0, 1, 0]; "
                            "supports.clamp.fix=[x, y, z, rx, ry, rz]";

// Displacement of the tip along a unit force, or turn about x under a unit torque.
static double tip(const char *assignments, const char *probe, double load)
{
    double q[MODEL_MAX_SIZE * 8] = { 0 };
    still s = still_open(cone, assignments);
    still_statics(&s, 0, q);
    double value = still_probe(&s, probe, q) / load;
    still_close(&s);
    return value;
}

static const double a = 0.3, b = 0.1, L = 1.5, E = 100.0, G = 40.0, k = 0.9;

static double cone_bending(void)
{
    return 64.0 * L * L * L / (3.0 * pi * E * a * a * a * b) + 4.0 * L / (pi * k * G * a * b);
}

static double cone_twist(void)
{
    return 32.0 * L * (a * a + a * b + b * b) / (3.0 * pi * G * a * a * a * b * b * b);
}

TEST(one_cone_is_exact_for_end_loads)
{
    static const char across[] = "loads.pull.value=[0, 1.0e-4, 0]";
    char text[512], plane[256];
    snprintf(plane, sizeof plane, space, "beam_timo_3d");
    CHECK_RELATIVE(tip(NULL, "tip.ux", 1e-4), 4.0 * L / (pi * E * a * b), 1e-12);
    CHECK_RELATIVE(tip(across, "tip.uy", 1e-4), cone_bending(), 1e-12);
    snprintf(text, sizeof text, "%s; %s", plane, across);
    CHECK_RELATIVE(tip(text, "tip.uy", 1e-4), cone_bending(), 1e-12);
    snprintf(text, sizeof text, "%s; loads.pull.value=[0, 0, 1.0e-4]; output.probes.tip.of=[uz]", plane);
    CHECK_RELATIVE(tip(text, "tip.uz", 1e-4), cone_bending(), 1e-12);
    snprintf(text, sizeof text, "%s; loads.pull={type: moment, node: bar.end, value: [1.0e-4, 0, 0]}; %s", plane,
             "output.probes.tip.of=[rx]");
    CHECK_RELATIVE(tip(text, "tip.rx", 1e-4), cone_twist(), 1e-12);
    // a needle: hundred to one
    double bending = 64.0 * L * L * L / (3.0 * pi * E * a * a * a * 0.003) + 4.0 * L / (pi * k * G * a * 0.003);
    snprintf(text, sizeof text, "%s; elements.bar.section.diameter.to=0.003", across);
    CHECK_RELATIVE(tip(text, "tip.uy", 1e-4), bending, 1e-12);
}

// Width w, height h = b (1 + c x) at x from the tip: flexibilities int x^2/(E I) dx + int dx/(k G A), with I = w h^3/12
// along y and h w^3/12 along z.
TEST(one_wedge_is_exact_for_end_loads)
{
    const double w = 0.06, c = (a / b - 1.0) / L, r = a / b;
    double bend_y = (log(r) + 2.0 / r - 0.5 / (r * r) - 1.5) / (c * c * c) * 12.0 / (E * w * b * b * b);
    double bend_z = (0.5 * r * r - 2.0 * r + log(r) + 1.5) / (c * c * c) * 12.0 / (E * b * w * w * w);
    double shear = log(r) / (c * k * G * w * b);
    char text[512], frame[256];
    snprintf(frame, sizeof frame, space, "beam_timo_3d");
    for (int along = 1; along < 3; along++) {
        snprintf(text, sizeof text,
                 "%s; loads.pull.value=[0, %s]; output.probes.tip.of=[uy, uz]; elements.bar.section={type: rectangle, "
                 "width: 0.06, height: {from: 0.3, to: 0.1}, shear_factor: 0.9}",
                 frame, along == 1 ? "1.0e-4, 0" : "0, 1.0e-4");
        CHECK_RELATIVE(tip(text, along == 1 ? "tip.uy" : "tip.uz", 1e-4), (along == 1 ? bend_y : bend_z) + shear,
                       1e-11);
    }
}

// Exact beams have one point of integration: second order.
TEST(exact_beams_converge_to_the_cone)
{
    char text[512], frame[256];
    double error[3];
    for (int dimension = 2; dimension <= 3; dimension++) {
        snprintf(frame, sizeof frame, space, "beam_exact_3d");
        for (int i = 0; i < 3; i++) {
            snprintf(text, sizeof text, "%s; mesh.bar.elements=%d; loads.pull.value=[0, 1.0e-7, 0]",
                     dimension == 2 ? "elements.bar.type=beam_exact_2d" : frame, 16 << i);
            error[i] = tip(text, "tip.uy", 1e-7) / cone_bending() - 1.0;
        }
        CHECK(fabs(error[2]) < 3e-4);
        for (int i = 0; i < 2; i++) CHECK_NEAR(log2(error[i] / error[i + 1]), 2.0, 0.05);
    }
}

// int_0^1 (a + (b-a) x)^p x^m (1-x)^n dx by many points.
static double moment_of(int p, int m, int n)
{
    const int count = 20000;
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        double x = (i + 0.5) / count;
        sum += pow(a + (b - a) * x, p) * pow(x, m) * pow(1.0 - x, n) / count;
    }
    return sum;
}

// Mass and rotary inertia of a free cone, shared by linear velocities: consistent, and lumped by the sums of rows.
TEST(masses_of_beams_are_where_the_section_is)
{
    static const char *const elements[] = { "beam_exact_2d", "beam_timo_2d", "beam_exact_3d", "beam_timo_3d" };
    double mass = pi / 4.0 * L, inertia = pi / 64.0 * L;
    for (int e = 0; e < 8; e++) {
        bool is_space = e / 2 >= 2, is_lumped = e % 2 == 1, is_exact = e / 2 % 2 == 0;
        int last = is_space ? 6 : 3, rotation = is_space ? 5 : 2;
        char text[512];
        snprintf(text, sizeof text, "elements.bar.type=%s; elements.bar.mass=%s; supports={}%s", elements[e / 2],
                 is_lumped ? "lumped" : "consistent", is_space ? "; elements.bar.orientation=[0, 1, 0]" : "");
        still s = still_open(cone, text);
        CHECK_RELATIVE(entry(&s, true, 0, 0), mass * (is_lumped ? moment_of(2, 0, 1) : moment_of(2, 0, 2)), 1e-8);
        CHECK_RELATIVE(entry(&s, true, last, last), mass * (is_lumped ? moment_of(2, 1, 0) : moment_of(2, 2, 0)), 1e-8);
        CHECK_NEAR(entry(&s, true, 0, last), is_lumped ? 0.0 : mass * moment_of(2, 1, 1), 1e-9);
        bool is_shared = is_lumped || is_space; // rotary inertia in space is at the nodes
        double first = is_shared ? moment_of(4, 0, 1) : moment_of(4, 0, 2);
        double second = is_shared ? moment_of(4, 1, 0) : moment_of(4, 2, 0);
        if (is_exact || is_lumped) {
            CHECK_RELATIVE(entry(&s, true, rotation, rotation), inertia * first, 1e-8);
            CHECK_RELATIVE(entry(&s, true, last + rotation, last + rotation), inertia * second, 1e-8);
        }
        if (is_space && is_exact) CHECK_RELATIVE(entry(&s, true, 3, 3), 2.0 * inertia * first, 1e-8);
        if (is_space && is_exact) CHECK_RELATIVE(entry(&s, true, 4, 4), inertia * first, 1e-8);
        still_close(&s);
    }
}

// Fields and radii are those of the place: stress N/A in the middle, M cy/I at the ends.
TEST(stresses_follow_the_section)
{
    double q[MODEL_MAX_SIZE] = { 0 };
    still s = still_open(cone, "loads.pull.value=[1.0e-4, 1.0e-4, 0]; "
                               "output.probes={at: {element: bar, of: [stress, bending_stress, axial_force]}}");
    still_statics(&s, 0, q);
    double mean = pi / 4.0 * (a * a + a * b + b * b) / 3.0;
    CHECK_RELATIVE(still_probe(&s, "at.axial_force", q), 1e-4, 1e-10);
    CHECK_RELATIVE(still_probe(&s, "at.stress", q), 1e-4 / mean, 1e-10);
    CHECK_RELATIVE(still_probe(&s, "at.bending_stress", q), 1e-4 * L * 32.0 / (pi * a * a * a), 1e-10);
    s.on.system->ops->draw(s.on.system, pcs_at(0.0, q, q), s.on.system->picture);
    CHECK_RELATIVE(s.on.system->picture->radius[0], 0.5 * a, 1e-14);
    CHECK_RELATIVE(s.on.system->picture->radius[1], 0.5 * b, 1e-14);
    still_close(&s);
}
