// The exact beam in the plane: force against energy, tangents against differences, rigid motion, closed forms.

#include "support/bend.h"
#include "support/check.h"
#include "support/model.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static bend_material material(bool is_lumped)
{
    return (bend_material){ .E = 210.0,
                            .nu = 0.25,
                            .rho = 7.0,
                            .is_lumped = is_lumped,
                            .section = { .area = 0.3, .Iz = 0.02, .ky = 0.8, .cy = 0.4 } };
}

// E = 1, I = 1, no cheap way out through stretch or shear: A = 1e4.
static bend_material slender(void)
{
    return (bend_material){ .E = 1.0, .nu = 0.0, .rho = 1.0, .section = { .area = 1e4, .Iz = 1.0, .ky = 1.0 } };
}

static void open_line(bend *b, int ncell, double length, double angle, const bend_material *m)
{
    double x[BEND_MAX_NODES][3] = { { 0 } };
    for (int i = 0; i <= ncell; i++) {
        x[i][0] = 0.3 + length * cos(angle) * i / ncell;
        x[i][1] = -0.2 + length * sin(angle) * i / ncell;
    }
    bend_open(b, "beam_exact_2d", ncell + 1, (const double(*)[3])x, m);
}

// A zigzag with large displacements and turns.
static void open_bent(bend *b, const bend_material *m, double *q)
{
    const double x[5][3] = { { 0, 0, 0 }, { 1, 0.5, 0 }, { 1.4, 1.6, 0 }, { 0.8, 2.2, 0 }, { -0.5, 2.0, 0 } };
    unsigned long long seed = 21;
    bend_open(b, "beam_exact_2d", 5, x, m);
    bend_hold(b, 2, "010");
    model_randomize(&seed, b->n, q);
}

TEST(force_is_the_slope_of_the_energy)
{
    bend b;
    bend_material m = material(false);
    double q[BEND_MAX_SIZE];
    open_bent(&b, &m, q);
    bend_check_force(&b, q);
    bend_close(&b);
}

TEST(tangents_are_the_slope_of_the_force)
{
    for (int damping = 0; damping < 4; damping++) {
        bend b;
        bend_material m = material(damping == 3);
        double q[BEND_MAX_SIZE], v[BEND_MAX_SIZE], K[225], C[225];
        unsigned long long seed = 22;
        open_bent(&b, &m, q);
        model_randomize(&seed, b.n, v);
        b.batch.damping_mass = damping & 1 ? 0.7 : 0.0;
        b.batch.damping_stiffness = damping & 2 ? 0.3 : 0.0;
        bend_tangents(&b, q, v, K, C);
        bend_check_tangent(&b, q, v, false, K, 2e-11);
        for (int i = 0; damping == 0 && i < b.n * b.n; i++) CHECK(C[i] == 0.0);
        if (damping > 0) bend_check_tangent(&b, q, v, true, C, 2e-11);
        double alone[225], power = 0.0;
        bend_tangents(&b, q, v, alone, NULL);
        CHECK_ALL_NEAR(b.n * b.n, alone, K, 0.0);
        for (int i = 0; i < b.n; i++)
            for (int j = 0; j < b.n; j++) power += v[i] * C[i * b.n + j] * v[j];
        CHECK_NEAR(bend_sums(&b, q, v).power, power, 1e-13 * power);
        CHECK(damping == 0 || power > 0.1);
        bend_close(&b);
    }
}

// Turns the whole of a deformed body: x -> t + Q x.
static void turn(const bend *b, double angle, const double t[2], double *q)
{
    double c = cos(angle), s = sin(angle);
    for (int i = 0; i < b->nnode; i++) {
        const int *map = b->map[i];
        double x = b->x[i][0] + q[map[0]], y = b->x[i][1] + q[map[1]];
        q[map[0]] = t[0] + c * x - s * y - b->x[i][0];
        q[map[1]] = t[1] + s * x + c * y - b->x[i][1];
        q[map[2]] += angle;
    }
}

TEST(rigid_motion_changes_nothing)
{
    const double angles[] = { 0.0, 0.4, -2.0, pi, 7.0, 20.0 * pi + 1.0 }, shift[2] = { 3.0, -2.0 };
    for (int k = 0; k < 6; k++) {
        bend b;
        bend_material m = material(false);
        double q[BEND_MAX_SIZE], turned[BEND_MAX_SIZE], f[BEND_MAX_SIZE], g[BEND_MAX_SIZE];
        unsigned long long seed = 23;
        open_line(&b, 4, 2.0, 0.7, &m);
        model_randomize(&seed, b.n, q);
        memcpy(turned, q, sizeof q);
        turn(&b, angles[k], shift, turned);
        CHECK_RELATIVE(bend_sums(&b, turned, NULL).strain, bend_sums(&b, q, NULL).strain, 1e-13);
        bend_force(&b, q, NULL, f);
        bend_force(&b, turned, NULL, g);
        double c = cos(angles[k]), s = sin(angles[k]);
        for (int i = 0; i < b.n; i += 3) {
            CHECK_NEAR(g[i], c * f[i] - s * f[i + 1], 1e-13 * 63.0 * 10.0);
            CHECK_NEAR(g[i + 1], s * f[i] + c * f[i + 1], 1e-13 * 63.0 * 10.0);
            CHECK_NEAR(g[i + 2], f[i + 2], 1e-13 * 63.0 * 10.0);
        }
        // From rest: neither energy nor force, but round-off.
        memset(turned, 0, sizeof turned);
        CHECK(bend_sums(&b, turned, NULL).strain == 0.0);
        turn(&b, angles[k], shift, turned);
        bend_force(&b, turned, NULL, g);
        CHECK(bend_sums(&b, turned, NULL).strain <= 1e-26);
        for (int i = 0; i < b.n; i++) CHECK_NEAR(g[i], 0.0, 1e-13 * 63.0);
        bend_close(&b);
    }
}

// A rigid spin feels no stiffness damping, wherever the beam has turned to.
TEST(rigid_spin_is_not_damped)
{
    bend b;
    bend_material m = material(false);
    const double shift[2] = { 1.0, 2.0 };
    double q[BEND_MAX_SIZE], v[BEND_MAX_SIZE];
    unsigned long long seed = 24;
    open_line(&b, 4, 2.0, -0.3, &m);
    b.batch.damping_stiffness = 0.3;
    model_randomize(&seed, b.n, q);
    turn(&b, 2.5, shift, q);
    for (int i = 0; i < b.nnode; i++) {
        v[b.map[i][0]] = -3.0 * (b.x[i][1] + q[b.map[i][1]]);
        v[b.map[i][1]] = 3.0 * (b.x[i][0] + q[b.map[i][0]]);
        v[b.map[i][2]] = 3.0;
    }
    CHECK_NEAR(bend_sums(&b, q, v).power, 0.0, 1e-24);
    v[1] += 1.0;
    CHECK(bend_sums(&b, q, v).power > 1.0);
    bend_close(&b);
}

// A moment 2 pi E I/L rolls the beam up: the polygon closes exactly.
TEST(roll_up_closes_the_circle)
{
    const int sizes[3] = { 4, 10, 20 };
    for (int k = 0; k < 3; k++) {
        bend b;
        bend_material m = slender();
        double q[BEND_MAX_SIZE] = { 0 }, load[BEND_MAX_SIZE] = { 0 }, residual[61];
        int n = sizes[k];
        open_line(&b, n, 1.0, 0.4, &m);
        bend_hold(&b, 0, "111");
        const int *tip = b.map[n];
        for (int step = 1; step <= 8; step++) {
            load[tip[2]] = 2.0 * pi * step / 8.0;
            CHECK(bend_equilibrium(&b, load, 20, 1e-10, q, residual) < 20);
            if (step != 4) continue;
            // half way a half circle: the chord is L/(n sin(pi/2n)), square to the start
            double chord = 1.0 / (n * sin(pi / (2.0 * n))), dx = cos(0.4) + q[tip[0]], dy = sin(0.4) + q[tip[1]];
            CHECK_NEAR(-sin(0.4) * dx + cos(0.4) * dy, chord, 1e-13);
            if (n == 10) CHECK_NEAR(chord, 0.6392453221499663, 1e-15);
        }
        CHECK_NEAR(q[tip[0]], -cos(0.4), 5e-15 * n);
        CHECK_NEAR(q[tip[1]], -sin(0.4), 5e-15 * n);
        CHECK_NEAR(q[tip[2]], 2.0 * pi, 1e-13);
        bend_close(&b);
    }
}

// Cantilever with P L^2/E I = 10 across its first direction: x = 0.4450044, y = 0.8106090, angle 1.4302855 by elliptic
// integrals; second order in the mesh.
TEST(elastica_is_met_with_second_order)
{
    const int sizes[3] = { 4, 16, 64 };
    const double wanted[3] = { 0.450928, 0.445400, 0.445029 }, exact[3] = { 0.4450044, 0.8106090, 1.4302855 };
    double error[3][3];
    for (int k = 0; k < 3; k++) {
        bend b;
        bend_material m = slender();
        // no stretch and no shear to speak of, yet conditioned well enough for six digits
        m.section.area = 1e7;
        double q[BEND_MAX_SIZE] = { 0 }, load[BEND_MAX_SIZE] = { 0 }, residual[61];
        int n = sizes[k], iterations = 0;
        open_line(&b, n, 1.0, 0.0, &m);
        bend_hold(&b, 0, "111");
        const int *tip = b.map[n];
        for (int step = 1; step <= 10; step++) {
            load[tip[1]] = step;
            iterations = bend_equilibrium(&b, load, 30, 1e-7, q, residual);
            CHECK(iterations < 30);
        }
        double x = 1.0 + q[tip[0]];
        CHECK_NEAR(x, wanted[k], 1e-6);
        error[k][0] = fabs(x - exact[0]);
        error[k][1] = fabs(q[tip[1]] - exact[1]);
        error[k][2] = fabs(q[tip[2]] - exact[2]);
        bend_close(&b);
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) CHECK_NEAR(log(error[k][i] / error[k + 1][i]) / log(4.0), 2.0, 0.15);
}

// Newton's residuals r, r^2, r^4: the order from three successive ones.
TEST(newton_is_quadratic)
{
    bend b;
    bend_material m = material(false);
    double q[BEND_MAX_SIZE] = { 0 }, load[BEND_MAX_SIZE] = { 0 }, residual[61];
    open_line(&b, 8, 2.0, 0.3, &m);
    bend_hold(&b, 0, "111");
    load[b.map[8][1]] = -2.0;
    load[b.map[8][0]] = 1.0;
    int iterations = bend_equilibrium(&b, load, 20, 1e-13, q, residual);
    double best = 0.0;
    for (int i = 2; i <= iterations; i++)
        if (residual[i] > 1e-12)
            best = fmax(best, log(residual[i] / residual[i - 1]) / log(residual[i - 1] / residual[i - 2]));
    CHECK(iterations < 20);
    CHECK(best > 1.8);
    bend_close(&b);
}

// In equilibrium the fields are the forces of statics: N, V in the turned section, moments by the lever arm.
TEST(fields_are_section_forces)
{
    bend b;
    bend_material m = material(false);
    double q[BEND_MAX_SIZE] = { 0 }, load[BEND_MAX_SIZE] = { 0 }, residual[61], energy = 0.0, P[2] = { 1.5, -0.8 };
    open_line(&b, 6, 2.0, 0.3, &m);
    bend_hold(&b, 0, "111");
    const int *tip = b.map[6];
    load[tip[0]] = P[0];
    load[tip[1]] = P[1];
    CHECK(bend_equilibrium(&b, load, 30, 1e-12, q, residual) < 30);
    double end[2] = { b.x[6][0] + q[tip[0]], b.x[6][1] + q[tip[1]] };
    for (int cell = 0; cell < 6; cell++) {
        double field[PCS_MAX_CELL_FIELDS], place[2][2], turns[2], moment[2];
        b.ops->read_fields(&b.batch, cell, &(pcs_cell_state){ .q = q, .v = q }, field);
        for (int i = 0; i < 2; i++) {
            const int *map = b.map[cell + i];
            for (int k = 0; k < 2; k++) place[i][k] = b.x[cell + i][k] + (map[k] < 0 ? 0.0 : q[map[k]]);
            turns[i] = map[2] < 0 ? 0.0 : q[map[2]];
            moment[i] = (end[0] - place[i][0]) * P[1] - (end[1] - place[i][1]) * P[0];
        }
        double angle = 0.3 + 0.5 * (turns[0] + turns[1]);
        CHECK_NEAR(field[0], cos(angle) * P[0] + sin(angle) * P[1], 1e-11);
        CHECK_NEAR(field[1], -sin(angle) * P[0] + cos(angle) * P[1], 1e-11);
        CHECK_NEAR(field[2], moment[0], 1e-11);
        CHECK_NEAR(field[3], moment[1], 1e-11);
        CHECK_RELATIVE(field[4], field[0] / 0.3, 1e-14);
        CHECK_RELATIVE(field[5], fmax(fabs(field[2]), fabs(field[3])) * 0.4 / 0.02, 1e-14);
        energy += field[6];
    }
    CHECK_RELATIVE(energy, bend_sums(&b, q, NULL).strain, 1e-13);
    bend_close(&b);
}

// rho A L/6 [2 1; 1 2] on x and y, rho I L/6 [2 1; 1 2] on the angle; lumped: halves.
TEST(mass_is_consistent_or_lumped)
{
    for (int is_lumped = 0; is_lumped < 2; is_lumped++) {
        bend b;
        bend_material m = material(is_lumped);
        double M[36], K[36], wanted[36] = { 0 };
        open_line(&b, 4, 2.0, 0.3, &m);
        b.ops->matrices(&b.batch, 2, NULL, M, K, NULL);
        for (int i = 0; i < 6; i++) {
            double share = 7.0 * 0.5 * (i % 3 < 2 ? 0.3 : 0.02);
            wanted[i * 6 + i] = is_lumped ? share / 2.0 : share / 3.0;
            if (!is_lumped) wanted[i * 6 + (i + 3) % 6] = share / 6.0;
        }
        CHECK_ALL_NEAR(36, M, wanted, 1e-15);
        bend_close(&b);
    }
}
