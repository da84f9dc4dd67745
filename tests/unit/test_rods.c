// Rods that move far keep their digits; mounts and bushings enter the stable step.

#include "fe/fe.h"
#include "support/check.h"
#include "support/model.h"

#include <math.h>
#include <string.h>

// A millimetre of stretch after a flight of ten kilometres keeps its digits.
TEST(far_flight_keeps_the_strain)
{
    const double x[2][3] = { { 0, 0, 0 }, { 3, 4, 0 } };
    model *m = model_create();
    model_chain(m, "bar", 2, x);
    model_group(m, "rod_large_2d", "bar", "E=5e6 rho=1 area=1");
    model_build(m);
    const double far = 1e4, stretch = 1e-3;
    double q[4] = { far, 2 * far, far + 0.6 * stretch, 2 * far + 0.8 * stretch }, v[4] = { 0 }, f[4];
    m->system->ops->force(m->system, pcs_at(0.0, q, v), f);
    CHECK_NEAR(f[0], 0.6 * 1e6 * stretch, 1e6 * 8e-12);
    CHECK_NEAR(f[3], -0.8 * 1e6 * stretch, 1e6 * 8e-12);
    // and a nanometre of 5 m its digits, where l - L would have six
    const double tiny[4] = { 0, 0, 0.6e-9, 0.8e-9 };
    m->system->ops->force(m->system, pcs_at(0.0, tiny, v), f);
    CHECK_RELATIVE(f[0], 0.6e-3, 1e-9);
    model_destroy(&m);
}

// Mounts and bushings give their nodes the directions they work on alone, and the stable step counts them:
// w^2 = k/m for a mass on a mount, k (1/m1 + 1/m2) at most 2 k/m for two on a bushing.
TEST(springs_enter_the_stable_step)
{
    const double x[3] = { 0 };
    model *m = model_create();
    model_point(m, "ball", x);
    model_cell(m, "ground", 0, 0);
    model_group(m, "point_mass", "ball", "mass=4 in=line");
    model_group(m, "mount", "ground", "stiffness=100,0,0 damper=12,0,0");
    model_build(m);
    CHECK(m->system->nv == 1 && m->system->is_linear && pcs_system_is_damped(m->system) &&
          !pcs_system_is_gyroscopic(m->system));
    CHECK_NEAR(m->system->K->value[0], 100.0, 0.0);
    CHECK_NEAR(m->system->C->value[0], 12.0, 0.0);
    double w = 5.0, xi = 12.0 / (2.0 * 4.0 * w);
    CHECK_RELATIVE(m->system->stable_step, 2.0 / w * (sqrt(1.0 + xi * xi) - xi), 1e-14);
    const double v[1] = { 3.0 };
    CHECK_NEAR(pcs_system_damping_power(m->system, pcs_at(0.0, v, v), v), 108.0, 1e-13);
    double resultant[3] = { 0 };
    pcs_system_resultant(m->system, pcs_at(0.0, v, v), resultant);
    CHECK_NEAR(resultant[0], -336.0, 1e-13);
    model_destroy(&m);

    m = model_create();
    model_point(m, "a", x);
    model_point(m, "b", x);
    model_cell(m, "between", 0, 1);
    model_group(m, "rigid_body_2d", "a", "mass=4 inertia=2");
    model_group(m, "rigid_body_2d", "b", "mass=4 inertia=2");
    model_group(m, "bushing", "between", "stiffness=100,100,0 torsional_stiffness=0,0,9 angles=finite");
    model_build(m);
    CHECK(m->system->nv == 6 && m->system->is_linear && !pcs_system_is_damped(m->system) && m->system->C == NULL);
    CHECK_RELATIVE(m->system->stable_step, 2.0 / sqrt(2.0 * 100.0 / 4.0), 1e-14);
    double M[36];
    model_dense(m->system->M, 6, M);
    for (int i = 0; i < 6; i++) CHECK(M[7 * i] == (i % 3 == 2 ? 2.0 : 4.0));
    double q[6] = { 0, 0, 40.0, 0.5, 0, 41.0 }, rest[6] = { 0 }, f[6];
    const double wanted[6] = { 50, 0, 9, -50, 0, -9 };
    m->system->ops->force(m->system, pcs_at(0.0, q, rest), f);
    CHECK_ALL_NEAR(6, f, wanted, 1e-13);
    model_destroy(&m);
}

static const char *const steel = "E=210 rho=3 area=0.5 mass=consistent";

// A bar that has flown 1e12 cell lengths away keeps its strain: forces see differences only.
TEST(flight_costs_no_digits)
{
    model *m = model_create();
    model_line(m, "bar", (double[]){ 0.3, 0, 0 }, (double[]){ 6.6, 0, 0 }, 9);
    model_group(m, "rod", "bar", steel);
    model_build(m);
    double q[10], far[10], v[10] = { 0 }, f[10], f_far[10];
    for (int i = 0; i < 10; i++) {
        q[i] = ldexp((double)(i * i % 7), -10);
        far[i] = q[i] + ldexp(1.0, 40); // exact: multiples of 2^-10 below 2^43, but not when multiplied by k
    }
    pcs_measure now, then;
    m->system->ops->force(m->system, pcs_at(0.0, q, v), f);
    m->system->ops->force(m->system, pcs_at(0.0, far, v), f_far);
    CHECK(memcmp(f, f_far, sizeof f) == 0);
    m->system->ops->measure(m->system, pcs_at(0.0, q, v), PCS_ENERGY, &now);
    m->system->ops->measure(m->system, pcs_at(0.0, far, v), PCS_ENERGY, &then);
    CHECK(now.strain > 0.0 && now.strain == then.strain);
    model_destroy(&m);
}

// Cells of one length make one run, so that the hot loop has no indirection, whatever round-off their ends carry.
TEST(equal_cells_share_their_numbers)
{
    model *m = model_create();
    double M[4], K[4], first_M[4], first_K[4];
    model_line(m, "bar", (double[]){ 1000.1, 0, 0 }, (double[]){ 1003.4, 0, 0 }, 33);
    model_group(m, "rod", "bar", steel);
    model_build(m);
    const pcs_batch *batch = pcs_fe_batch(m->system, 0);
    const pcs_element_ops *ops = batch->ops;
    ops->matrices(batch, 0, NULL, first_M, first_K, NULL);
    CHECK_RELATIVE(first_K[0], 210.0 * 0.5 / 0.1, 1e-12); // the mean length: free of the round-off at x = 1000
    for (int c = 1; c < 33; c++) {
        ops->matrices(batch, c, NULL, M, K, NULL);
        CHECK(memcmp(M, first_M, sizeof M) == 0 && memcmp(K, first_K, sizeof K) == 0);
    }
    model_destroy(&m);
}
