// The exact beam in space: force against energy, tangents against differences, rigid motion, closed forms, the bend of
// 45 degrees, right-angle frames.

#include "core/rotation.h"
#include "support/bend.h"
#include "support/check.h"
#include "support/model.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

// A zigzag, straight between its nodes or as arcs, with large displacements and turns; one of psi is close to pi.
static void open_bent(bend *b, bool is_arc, double *q)
{
    const double x[5][3] = { { 0, 0, 0 }, { 1, 0.5, 0.3 }, { 1.4, 1.6, 0.1 }, { 0.8, 2.2, 1.0 }, { -0.5, 2.0, 1.3 } };
    const double plane[5][3] = { { 0, 0, 0 }, { 1, 0.5, 0 }, { 1.4, 1.6, 0 }, { 0.8, 2.2, 0 }, { -0.5, 2.0, 0 } };
    bend_material m = bend_stocky();
    unsigned long long seed = 41;
    m.curvature[2] = is_arc ? 0.6 : 0.0;
    bend_open(b, "beam_exact_3d", 5, is_arc ? plane : x, &m);
    bend_hold(b, 2, "010000");
    model_randomize(&seed, b->n, q);
    q[b->map[0][3]] = 1.9;
    q[b->map[0][4]] = -1.2;
}

TEST(force_is_the_slope_of_the_energy)
{
    for (int is_arc = 0; is_arc < 2; is_arc++) {
        bend b;
        double q[BEND_MAX_SIZE];
        open_bent(&b, is_arc, q);
        bend_check_force(&b, q);
        bend_close(&b);
    }
}

TEST(tangents_are_the_slope_of_the_force)
{
    for (int variant = 0; variant < 8; variant++) {
        bend b;
        static double K[900], C[900], alone[900];
        double q[BEND_MAX_SIZE], v[BEND_MAX_SIZE], power = 0.0;
        unsigned long long seed = 42;
        open_bent(&b, variant & 4, q);
        model_randomize(&seed, b.n, v);
        b.batch.damping_mass = variant & 1 ? 0.7 : 0.0;
        b.batch.damping_stiffness = variant & 2 ? 0.3 : 0.0;
        bend_tangents(&b, q, v, K, C);
        bend_check_tangent(&b, q, v, false, K, 1e-10);
        bend_check_tangent(&b, q, v, true, C, 1e-10);
        bend_tangents(&b, q, v, alone, NULL);
        CHECK_ALL_NEAR(b.n * b.n, alone, K, 0.0);
        // What is taken is the work of the force that changes sign with v; the gyroscopic one does none.
        double f[BEND_MAX_SIZE], elastic[BEND_MAX_SIZE];
        bend_force(&b, q, v, f);
        bend_force(&b, q, NULL, elastic);
        for (int i = 0; i < b.n; i++) power -= v[i] * (f[i] - elastic[i]);
        CHECK_NEAR(bend_sums(&b, q, v).power, power, 1e-12 * (1.0 + power));
        CHECK((variant & 3) == 0 ? fabs(power) < 1e-12 : power > 0.1);
        bend_close(&b);
    }
}

// One cell bent by every kind of angle: series and closed forms of the functions of psi, and where they change.
TEST(tangents_hold_for_every_angle)
{
    const double angles[] = { 0.0, 1e-6, 0.02, 0.062, 0.064, 0.2, 0.4, 0.49, 0.51, 1.0, 2.0, 3.0, 3.1 };
    const double x[2][3] = { { 0, 0, 0 }, { 0.9, 0.2, -0.3 } };
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        bend b;
        bend_material m = bend_stocky();
        double q[12], v[BEND_MAX_SIZE] = { 0 }, K[144], C[144], psi[3] = { 2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0 };
        unsigned long long seed = 44;
        bend_open(&b, "beam_exact_3d", 2, x, &m);
        b.batch.damping_stiffness = 0.3;
        model_randomize(&seed, 12, q);
        model_randomize(&seed, 12, v);
        for (int k = 0; k < 3; k++) psi[k] *= angles[i];
        pcs_rotation_compose(q + 3, psi, q + 9);
        bend_tangents(&b, q, v, K, C);
        bend_check_tangent(&b, q, v, false, K, 1e-10);
        bend_check_tangent(&b, q, v, true, C, 1e-10);
        bend_close(&b);
    }
}

// A small moment M at the end of one arc of 120 degrees: psi changes by p = L Dm^-1 m with m = T^T B^T M, and the end
// turns by B T p, T the tangent of the exponential at psi0 and B = exp(psi0/2).
TEST(arc_turns_under_a_moment)
{
    const double x[2][3] = { { 0, 0, 0 }, { 1, 0, 0 } }, M[3] = { 2e-6, 3e-6, -1e-6 }, angle = 2.0 * pi / 3.0;
    const double compliance[3] = { 1.0 / (84.0 * 0.03), 1.0 / (210.0 * 0.02), 1.0 / (210.0 * 0.05) };
    const double psi0[3] = { 0.0, 0.0, angle }, half[3] = { 0.0, 0.0, 0.5 * angle };
    bend b;
    bend_material m = bend_stocky();
    double q[6] = { 0 }, residual[61], T[9], B[9], a[3], c[3], wanted[3], load[6] = { 0 };
    memcpy(m.orientation, (double[3]){ 0.0, 1.0, 0.0 }, sizeof m.orientation); // section axes: the global ones
    m.curvature[2] = sqrt(3.0);
    bend_open(&b, "beam_exact_3d", 2, x, &m);
    bend_hold(&b, 0, "111111");
    memcpy(load + 3, M, sizeof M);
    CHECK(bend_equilibrium(&b, load, 20, 1e-14, q, residual) < 20);
    pcs_rotation_tangent(psi0, T);
    pcs_rotation_exp(half, B);
    pcs_rotation_apply_transposed(B, M, a);
    pcs_rotation_apply_transposed(T, a, c);
    for (int k = 0; k < 3; k++) c[k] *= compliance[k];
    pcs_rotation_apply(T, c, a);
    pcs_rotation_apply(B, a, wanted);
    CHECK_ALL_NEAR(3, q + 3, wanted, 1e-5 * 2e-6);
    bend_close(&b);
}

// x -> t + Q x, R -> Q R.
static void turn(const bend *b, const double p[3], const double t[3], double *q)
{
    double Q[9];
    pcs_rotation_exp(p, Q);
    for (int i = 0; i < b->nnode; i++) {
        const int *map = b->map[i];
        double x[3], y[3], turned[3];
        for (int k = 0; k < 3; k++) x[k] = b->x[i][k] + q[map[k]];
        pcs_rotation_apply(Q, x, y);
        pcs_rotation_compose(p, q + map[3], turned);
        for (int k = 0; k < 3; k++) {
            q[map[k]] = t[k] + y[k] - b->x[i][k];
            q[map[3 + k]] = turned[k];
        }
    }
}

static void open_free(bend *b, bool is_arc, double *q)
{
    double x[5][3];
    bend_material m = bend_stocky();
    unsigned long long seed = 43;
    for (int i = 0; i < 5; i++) {
        double angle = 0.3 + 0.5 * i;
        x[i][0] = 2.0 * sin(angle);
        x[i][1] = -2.0 * cos(angle);
        x[i][2] = is_arc ? 0.4 : 0.2 * i;
    }
    m.curvature[2] = is_arc ? 0.5 : 0.0;
    bend_open(b, "beam_exact_3d", 5, (const double(*)[3])x, &m);
    model_randomize(&seed, b->n, q);
}

TEST(rigid_motion_changes_nothing)
{
    const double turns[4][3] = { { 0.1, 0.2, -0.3 }, { 1.0, 2.0, -1.0 }, { 0.0, 3.1, 0.5 }, { -3.0, 0.0, 0.9 } };
    const double shift[3] = { 3.0, -2.0, 1.0 };
    for (int k = 0; k < 8; k++) {
        bend b;
        const double *p = turns[k / 2];
        double q[BEND_MAX_SIZE], turned[BEND_MAX_SIZE], f[BEND_MAX_SIZE], g[BEND_MAX_SIZE], Q[9];
        open_free(&b, k % 2 == 1, q);
        memcpy(turned, q, sizeof q);
        turn(&b, p, shift, turned);
        CHECK_RELATIVE(bend_sums(&b, turned, NULL).strain, bend_sums(&b, q, NULL).strain, 1e-13);
        bend_force(&b, q, NULL, f);
        bend_force(&b, turned, NULL, g);
        pcs_rotation_exp(p, Q);
        for (int i = 0; i < b.n; i += 6) {
            double wanted[3];
            pcs_rotation_apply(Q, f + i, wanted); // forces turn, moments are material
            CHECK_ALL_NEAR(3, g + i, wanted, 1e-13 * 63.0 * 10.0);
            CHECK_ALL_NEAR(3, g + i + 3, f + i + 3, 1e-13 * 63.0 * 10.0);
        }
        // From rest: nothing, but round-off.
        memset(turned, 0, sizeof turned);
        CHECK(bend_sums(&b, turned, NULL).strain == 0.0);
        turn(&b, p, shift, turned);
        bend_force(&b, turned, NULL, g);
        CHECK(bend_sums(&b, turned, NULL).strain <= 1e-26);
        for (int i = 0; i < b.n; i++) CHECK_NEAR(g[i], 0.0, 2e-13 * 63.0);
        bend_close(&b);
    }
}

TEST(rigid_spin_is_not_damped)
{
    for (int is_arc = 0; is_arc < 2; is_arc++) {
        bend b;
        const double w[3] = { 2.0, -1.0, 1.5 };
        double q[BEND_MAX_SIZE], v[BEND_MAX_SIZE];
        open_free(&b, is_arc, q);
        b.batch.damping_stiffness = 0.3;
        for (int i = 0; i < b.nnode; i++) {
            const int *map = b.map[i];
            double x[3], R[9];
            for (int k = 0; k < 3; k++) x[k] = b.x[i][k] + q[map[k]];
            pcs_cross(w, x, v + map[0]);
            pcs_rotation_exp(q + map[3], R);
            pcs_rotation_apply_transposed(R, w, v + map[3]);
        }
        CHECK_NEAR(bend_sums(&b, q, v).power, 0.0, 1e-24);
        v[4] += 1.0;
        CHECK(bend_sums(&b, q, v).power > 1.0);
        bend_close(&b);
    }
}

TEST(newton_is_quadratic)
{
    bend b;
    bend_material m = bend_stocky();
    double x[9][3] = { { 0 } }, q[BEND_MAX_SIZE] = { 0 }, load[BEND_MAX_SIZE] = { 0 }, residual[61], best = 0.0;
    for (int i = 0; i <= 8; i++) x[i][0] = 0.25 * i;
    bend_open(&b, "beam_exact_3d", 9, (const double(*)[3])x, &m);
    bend_hold(&b, 0, "111111");
    const int *tip = b.map[8];
    load[tip[1]] = 1.0;
    load[tip[2]] = -0.7;
    load[tip[3]] = 0.5;
    int iterations = bend_equilibrium(&b, load, 20, 1e-13, q, residual);
    CHECK(iterations < 20);
    for (int i = 2; i <= iterations; i++)
        if (residual[i] > 1e-12)
            best = fmax(best, log(residual[i] / residual[i - 1]) / log(residual[i - 1] / residual[i - 2]));
    CHECK(best > 1.8);
    bend_close(&b);
}

// In equilibrium the fields are those of statics: the force and the moment of the load in the axes of the turned
// section.
TEST(fields_are_section_forces)
{
    bend b;
    bend_material m = bend_stocky();
    double x[7][3] = { { 0 } }, q[BEND_MAX_SIZE] = { 0 }, load[BEND_MAX_SIZE] = { 0 }, residual[61], energy = 0.0;
    const double P[3] = { 0.8, 1.1, -0.9 };
    for (int i = 0; i <= 6; i++) x[i][0] = 0.4 * i;
    memcpy(m.orientation, (double[3]){ 0.0, 1.0, 0.0 }, sizeof m.orientation); // section axes: the global ones
    bend_open(&b, "beam_exact_3d", 7, (const double(*)[3])x, &m);
    bend_hold(&b, 0, "111111");
    const int *tip = b.map[6];
    for (int k = 0; k < 3; k++) load[tip[k]] = P[k];
    CHECK(bend_equilibrium(&b, load, 30, 1e-12, q, residual) < 30);
    for (int cell = 0; cell < 6; cell++) {
        double field[PCS_MAX_CELL_FIELDS], local[2][3], turns[2][3] = { { 0 } }, psi[3], back[3], middle[3], force[3];
        b.ops->read_fields(&b.batch, cell, &(pcs_cell_state){ .q = q, .v = q }, field);
        for (int i = 0; i < 2; i++) {
            const int *map = b.map[cell + i];
            double arm[3], moment[3], R[9];
            for (int k = 0; k < 3; k++) {
                arm[k] = x[6][k] + q[tip[k]] - x[cell + i][k] - (map[k] < 0 ? 0.0 : q[map[k]]);
                turns[i][k] = map[3 + k] < 0 ? 0.0 : q[map[3 + k]];
            }
            pcs_cross(arm, P, moment);
            pcs_rotation_exp(turns[i], R);
            pcs_rotation_apply_transposed(R, moment, local[i]);
        }
        for (int k = 0; k < 3; k++) back[k] = -turns[0][k];
        pcs_rotation_compose(back, turns[1], psi);
        for (int k = 0; k < 3; k++) psi[k] *= 0.5;
        pcs_rotation_compose(turns[0], psi, middle);
        double R[9];
        pcs_rotation_exp(middle, R);
        pcs_rotation_apply_transposed(R, P, force);
        CHECK_NEAR(field[0], force[0], 1e-11);
        CHECK_NEAR(field[1], hypot(force[1], force[2]), 1e-11);
        CHECK_NEAR(field[3], hypot(local[0][1], local[0][2]), 1e-11);
        CHECK_NEAR(field[4], hypot(local[1][1], local[1][2]), 1e-11);
        CHECK_RELATIVE(field[5], field[0] / 0.3, 1e-14);
        CHECK_NEAR(field[6],
                   fmax(fabs(local[0][2]), fabs(local[1][2])) * 0.4 / 0.05 +
                       fmax(fabs(local[0][1]), fabs(local[1][1])) * 0.25 / 0.02,
                   1e-10);
        CHECK_NEAR(field[8], force[1], 1e-11);
        CHECK_NEAR(field[9], force[2], 1e-11);
        // constant curvature: the moment half way lies between those of the ends
        CHECK_NEAR(field[2], 0.5 * (local[0][0] + local[1][0]), 0.02);
        CHECK_NEAR(field[10], 0.5 * (local[0][1] + local[1][1]), 0.02);
        CHECK_NEAR(field[11], 0.5 * (local[0][2] + local[1][2]), 0.02);
        energy += field[7];
    }
    CHECK_RELATIVE(energy, bend_sums(&b, q, NULL).strain, 1e-13);
    bend_close(&b);
}

// Displacements consistent or lumped, the spins' inertia J = rho L/2 diag(Iy + Iz, Iy, Iz) in the section's axes.
TEST(mass_is_consistent_with_nodal_spins)
{
    for (int is_lumped = 0; is_lumped < 2; is_lumped++) {
        bend b;
        bend_material m = bend_stocky();
        const double x[2][3] = { { 0, 0, 0 }, { 0, 0.5, 0 } }; // along y; with orientation x the section's z is -z
        double M[144], K[144], wanted[144] = { 0 }, share = 7.0 * 0.5;
        const double inertia[3] = { 0.02, 0.07, 0.05 }; // about x: Iy, about y: the beam, about z: Iz
        m.is_lumped = is_lumped;
        memcpy(m.orientation, (double[3]){ 1.0, 0.0, 0.0 }, sizeof m.orientation);
        bend_open(&b, "beam_exact_3d", 2, x, &m);
        b.ops->matrices(&b.batch, 0, NULL, M, K, NULL);
        for (int i = 0; i < 12; i++) {
            bool is_spin = i % 6 >= 3;
            wanted[i * 12 + i] = is_spin ? 0.5 * share * inertia[i % 3] : share * 0.3 / (is_lumped ? 2.0 : 3.0);
            if (!is_spin && !is_lumped) wanted[i * 12 + (i + 6) % 12] = share * 0.3 / 6.0;
        }
        CHECK_ALL_NEAR(144, M, wanted, 1e-15);
        bend_close(&b);
    }
}

TEST(impossible_cells_are_named)
{
    const double x[2][3] = { { 1, 1, 1 }, { 1, 3, 1 } };
    const struct {
        double orientation[3], curvature[3];
        const char *message;
    } cases[3] = {
        { { 0, -2, 0 }, { 0, 0, 0 }, "the orientation [0, -2, 0] is parallel to cell 0" },
        { { 1, 0, 0 }, { 0, 0.1, 0.2 }, "the curvature [0, 0.1, 0.2] is not square to cell 0" },
        { { 1, 0, 0 }, { 0, 0, 1.5 }, "cell 0 of length 2 cannot be an arc of curvature 1.5, must be below 1" }
    };
    for (int i = 0; i < 3; i++) {
        bend b;
        bend_material m = bend_stocky();
        pcs_node_dofs dofs;
        bend_open(&b, "beam_exact_3d", 2, x,
                  &(bend_material){ .E = 1, .rho = 1, .orientation = { 1, 0, 0 }, .section = m.section });
        char *params = (char *)b.batch.params;
        for (int k = 0; b.ops->options[k].name != NULL; k++) {
            const pcs_option *option = &b.ops->options[k];
            if (strcmp(option->name, "orientation") == 0) memcpy(params + option->offset, cases[i].orientation, 24);
            if (strcmp(option->name, "curvature") == 0) memcpy(params + option->offset, cases[i].curvature, 24);
        }
        CHECK_STATUS(NULL, b.ops->node_dofs(b.ctx, &b.batch, 0, 0, &dofs), PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(b.ctx), cases[i].message);
        bend_close(&b);
    }
}
