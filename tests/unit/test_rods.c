// Rods that move far, springs, mounts and point masses against closed forms.

#include "fe/fe.h"
#include "support/check.h"
#include "support/model.h"

#include <math.h>
#include <string.h>

// A cell between two nodes that are there, or at one of them, as a set of its own.
static void add_cell(model *m, const char *name, int a, int b)
{
    int cell;
    CHECK_OK(m->ctx, pcs_mesh_add_cells(m->mesh, 1, &cell));
    m->mesh->cell[cell][0] = a;
    m->mesh->cell[cell][1] = b;
    CHECK_OK(m->ctx, pcs_mesh_add_cell_range(m->mesh, name, cell, 1));
}

static void add_nodes(model *m, int count, const double (*x)[3])
{
    int node;
    CHECK_OK(m->ctx, pcs_mesh_add_nodes(m->mesh, count, &node));
    memcpy(m->mesh->x + node, x, (size_t)count * sizeof *x);
    for (int i = 0; i < count; i++) {
        char name[16] = { 'n', (char)('0' + node + i), '\0' };
        CHECK_OK(m->ctx, pcs_mesh_add_node_range(m->mesh, name, node + i, 1));
    }
}

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

// A mass between two taut springs: w^2 = k_across/m with F/l for each, and 2 k/m along them; a damper takes c l'^2.
TEST(taut_springs_carry_a_mass)
{
    const double x[3][3] = { { -2, 0, 0 }, { 0, 0, 0 }, { 2, 0, 0 } };
    model *m = model_create();
    add_nodes(m, 3, x);
    add_cell(m, "left", 0, 1);
    add_cell(m, "right", 1, 2);
    add_cell(m, "ball", 1, 1);
    model_group(m, "spring_damper", "left", "stiffness=50 damper=3 force=8");
    model_group(m, "spring_damper", "right", "stiffness=50 rest=1.5");
    model_group(m, "point_mass", "ball", "mass=0.5");
    model_support(m, "n0", "xyz");
    model_support(m, "n2", "xyz");
    model_build(m);
    const double zero[3] = { 0 }, v[3] = { 0.3, 0.7, -0.2 };
    double K[9], M[9], C[9], f[3];
    m->system->ops->update(m->system, pcs_at(0.0, zero, zero), PCS_TANGENTS, NULL);
    model_dense(m->system->K, 3, K);
    model_dense(m->system->M, 3, M);
    model_dense(m->system->C, 3, C);
    // The left spring pulls with 8 N, the right one with 50 * 0.5 = 25 N.
    const double stiffness[9] = { 100, 0, 0, 0, 33.0 / 2.0, 0, 0, 0, 33.0 / 2.0 },
                 mass[9] = { .5, 0, 0, 0, .5, 0, 0, 0, .5 };
    const double damping[9] = { 3 };
    CHECK_ALL_NEAR(9, K, stiffness, 1e-13);
    CHECK_ALL_NEAR(9, M, mass, 0.0);
    CHECK_ALL_NEAR(9, C, damping, 1e-15);
    m->system->ops->force(m->system, pcs_at(0.0, zero, zero), f);
    CHECK_NEAR(f[0], 25.0 - 8.0, 1e-13);
    CHECK_NEAR(pcs_system_damping_power(m->system, pcs_at(0.0, zero, v), v), 3.0 * 0.09, 1e-15);
    pcs_measure measure;
    m->system->ops->measure(m->system, pcs_at(0.0, zero, v), PCS_ENERGY, &measure);
    CHECK_NEAR(measure.strain, 0.5 * 50.0 * 0.25, 1e-14);
    CHECK_NEAR(measure.kinetic, 0.25 * (0.09 + 0.49 + 0.04), 1e-15);
    model_destroy(&m);
}

// A clamped rod of one cell with a mass at its tip: w^2 = (E A / L) / (m + rho A L / 3); the mass adds no directions.
TEST(point_mass_fits_a_rod)
{
    const double x[2][3] = { { 0, 0, 0 }, { 2, 0, 0 } };
    model *m = model_create();
    add_nodes(m, 2, x);
    add_cell(m, "bar", 0, 1);
    add_cell(m, "tip", 1, 1);
    model_group(m, "rod", "bar", "E=10 rho=3 area=0.2");
    model_group(m, "point_mass", "tip", "mass=5 in=line");
    model_support(m, "n0", "x");
    model_gravity(m, -9.81, 0, 0);
    model_build(m);
    CHECK(m->system->nv == 1);
    CHECK_NEAR(m->system->K->value[0], 1.0, 1e-15);
    CHECK_NEAR(m->system->M->value[0], 5.0 + 0.4, 1e-15);
    CHECK_NEAR(m->system->gravity[0], -9.81 * (5.0 + 0.6), 1e-14);
    CHECK_NEAR(m->system->mass, 5.4, 1e-15);
    model_destroy(&m);
}

// Mounts and bushings give their nodes the directions they work on alone, and the stable step counts them:
// w^2 = k/m for a mass on a mount, k (1/m1 + 1/m2) at most 2 k/m for two on a bushing.
TEST(springs_enter_the_stable_step)
{
    const double x[2][3] = { { 0, 0, 0 }, { 0, 0, 0 } };
    model *m = model_create();
    add_nodes(m, 2, x);
    add_cell(m, "ball", 0, 0);
    add_cell(m, "ground", 0, 0);
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
    add_nodes(m, 2, x);
    add_cell(m, "a", 0, 0);
    add_cell(m, "b", 1, 1);
    add_cell(m, "between", 0, 1);
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
