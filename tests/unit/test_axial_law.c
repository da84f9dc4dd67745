// Springs and dampers that are not linear: slopes are those of forces and energies, and a spring that turns in space
// has the tangents of its force.

#include "elements/rod.h"
#include "support/check.h"
#include "support/model.h"
#include "support/slopes.h"
#include "support/text_case.h"

#include <math.h>

static const double polynomial[] = { 50.0, -20.0, 300.0 };
static const double table[] = { -2.0, -70.0, -0.5, -30.0, 0.25, 4.0, 1.0, 90.0 };

static const pcs_axial_law laws[] = {
    { .stiffness = 40.0, .clearance = 0.3, .stop = INFINITY, .damper = 3.0, .exponent = 1.0 },
    { .polynomial = { 1, 3, polynomial }, .stop = 0.7, .stop_stiffness = 500.0, .damper = 3.0, .exponent = 2.5 },
    { .polynomial = { 1, 3, polynomial }, .clearance = 0.2, .stop = INFINITY, .exponent = 2.0 },
    { .table = { 4, 8, table }, .stop = 1.5, .stop_stiffness = 90.0, .damper = 3.0, .exponent = 0.4, .speed = 0.05 },
};
enum { NLAW = sizeof laws / sizeof *laws };

TEST_WITH_CONTEXT(slopes_are_those_of_force_and_energy)
{
    pcs_context *ctx = *state;
    for (int l = 0; l < NLAW; l++) {
        pcs_axial_law law = laws[l];
        const double h = 1e-5;
        CHECK_OK(ctx, pcs_axial_law_prepare(ctx, &law));
        CHECK(pcs_axial_law_at(&law, 0.0, 0.0).energy == 0.0);
        for (double s = -2.507; s < 2.5; s += 0.0613) {
            double r = 0.7 * s + 0.1;
            pcs_axial_response a = pcs_axial_law_at(&law, s - h, r), b = pcs_axial_law_at(&law, s + h, r);
            pcs_axial_response at = pcs_axial_law_at(&law, s, r);
            CHECK_NEAR(at.force, (b.energy - a.energy) / (2.0 * h), 1e-5);
            CHECK_NEAR(at.stiffness, (b.force - a.force) / (2.0 * h), 1e-4);
            a = pcs_axial_law_at(&law, s, r - h);
            b = pcs_axial_law_at(&law, s, r + h);
            CHECK_NEAR(at.damping, (b.drag - a.drag) / (2.0 * h), 1e-4);
            CHECK(at.drag * r >= 0.0 && at.damping >= 0.0);
        }
    }
}

// damper v (v^2 + s^2)^((p - 1)/2): 3 v (v^2 + 0.05^2)^-0.3 at a tenth of s, at s and at a hundred times s.
TEST(dampers_with_exponents_are_rounded_off_at_rest)
{
    const pcs_axial_law law = { .damper = 3.0, .exponent = 0.4, .speed = 0.05, .stop = INFINITY };
    const double v[] = { 0.005, 0.05, 5.0 }, drag[] = { 0.09024285868865527, 0.735191128409235, 5.710790498428673 };
    for (int i = 0; i < 3; i++) {
        CHECK_RELATIVE(pcs_axial_law_at(&law, 0.0, v[i]).drag, drag[i], 1e-14);
        CHECK_RELATIVE(pcs_axial_law_at(&law, 0.0, -v[i]).drag, -drag[i], 1e-14);
    }
    CHECK_RELATIVE(drag[2], 3.0 * pow(5.0, 0.4), 1e-4); // the plain power far above
}

static const char *const springs[] = {
    "polynomial: [50, -20, 300], damper: 3, damper_exponent: 2.5",
    "stiffness: 40, clearance: 0.1, stop: 0.15, stop_stiffness: 700, damper: 2",
    "table: [[-2, -70], [-0.5, -30], [0.25, 4], [1, 90]], force: 4, damper: 3, damper_exponent: .4, damper_speed: .05",
};

TEST(tangents_are_slopes_of_the_force)
{
    for (size_t k = 0; k < sizeof springs / sizeof *springs; k++) {
        text_case c = text_case_open("mesh: { tie: { type: line, from: [0, 0, 0], to: [1, 0.5, 0.3], elements: 1 },\n"
                                     "        ends: { type: point, nodes: tie } }\n"
                                     "elements: { tie: { type: spring_damper, mesh: tie, ",
                                     springs[k],
                                     " }, ends: { type: point_mass, mesh: ends, mass: 2 } }\n"
                                     "scheme: { type: newmark }\ntime: { step: 1.0e-3, end: 1.0 }\n",
                                     NULL);
        pcs_system *s = c.sim->system;
        double q[6], v[6];
        unsigned long long seed = 3 + k;
        CHECK(s->nv == 6);
        model_randomize(&seed, 6, q);
        model_randomize(&seed, 6, v);
        slopes_check(s, pcs_at(0.0, q, v), 1e-4, 3e-8);
        text_case_close(&c);
    }
}
