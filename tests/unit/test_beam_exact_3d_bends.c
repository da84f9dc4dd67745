// Geometrically exact beams in space at rest under large loads: circle, elastica, 45-degree bend, right-angle frame.

#include "core/rotation.h"
#include "support/bend.h"
#include "support/check.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

// E I = 1 in both planes; no stretch and no shear to speak of.
static bend_material slender(double area)
{
    return (bend_material){ .E = 1.0,
                            .nu = 0.0,
                            .rho = 1.0,
                            .orientation = { 2.0 / 3.0, 2.0 / 3.0, -1.0 / 3.0 },
                            .section = { .area = area, .Iy = 0.7, .Iz = 1.0, .torsion = 1.0, .ky = 1.0, .kz = 1.0 } };
}

// Axes of a skew frame: the beam lies along the first, bends towards the second.
static const double axes[3][3] = { { 1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0 },
                                   { 2.0 / 3.0, -2.0 / 3.0, 1.0 / 3.0 },
                                   { 2.0 / 3.0, 1.0 / 3.0, -2.0 / 3.0 } };

static void open_skew(bend *b, int n, double area)
{
    double x[BEND_MAX_NODES][3];
    bend_material m = slender(area);
    memcpy(m.orientation, axes[1], sizeof m.orientation);
    for (int i = 0; i <= n; i++)
        for (int k = 0; k < 3; k++) x[i][k] = axes[0][k] * i / n;
    bend_open(b, "beam_exact_3d", n + 1, (const double(*)[3])x, &m);
    bend_hold(b, 0, "111111");
}

static double along(const double a[3], const double *x)
{
    return pcs_dot3(a, x);
}

// A moment 2 pi E I/L rolls the beam up, through half a turn of its end, where rotation vectors jump.
TEST(roll_up_closes_the_circle)
{
    const int sizes[3] = { 4, 10, 20 };
    for (int s = 0; s < 3; s++) {
        bend b;
        double q[BEND_MAX_SIZE] = { 0 }, load[BEND_MAX_SIZE] = { 0 }, residual[61];
        int n = sizes[s];
        open_skew(&b, n, 1e4);
        const int *tip = b.map[n];
        for (int step = 1; step <= 8; step++) {
            for (int k = 0; k < 3; k++) load[tip[3 + k]] = 2.0 * pi * step / 8.0 * axes[2][k];
            CHECK(bend_equilibrium(&b, load, 25, 1e-10, q, residual) < 25);
            if (step != 4) continue;
            double end[3];
            for (int k = 0; k < 3; k++) end[k] = axes[0][k] + q[tip[k]];
            CHECK_NEAR(along(axes[0], end), 0.0, 1e-13);
            CHECK_NEAR(along(axes[1], end), 1.0 / (n * sin(pi / (2.0 * n))), 1e-13);
            CHECK_NEAR(along(axes[2], end), 0.0, 1e-13);
        }
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(q[tip[k]], -axes[0][k], 5e-15 * n);
            CHECK_NEAR(q[tip[3 + k]], 0.0, 1e-13);
        }
        bend_close(&b);
    }
}

// As in the plane, P L^2/E I = 10, but in a skew one.
TEST(elastica_is_that_of_the_plane)
{
    const int sizes[3] = { 4, 16, 64 };
    const double wanted[3] = { 0.450928, 0.445400, 0.445029 };
    for (int s = 0; s < 3; s++) {
        bend b;
        double q[BEND_MAX_SIZE] = { 0 }, load[BEND_MAX_SIZE] = { 0 }, residual[61], end[3];
        int n = sizes[s];
        open_skew(&b, n, 1e7);
        const int *tip = b.map[n];
        for (int step = 1; step <= 10; step++) {
            for (int k = 0; k < 3; k++) load[tip[k]] = step * axes[1][k];
            CHECK(bend_equilibrium(&b, load, 30, 1e-6, q, residual) < 30);
        }
        for (int k = 0; k < 3; k++) end[k] = axes[0][k] + q[tip[k]];
        CHECK_NEAR(along(axes[0], end), wanted[s], 1e-6);
        CHECK_NEAR(along(axes[2], end), 0.0, 1e-9);
        bend_close(&b);
    }
}

// An arc of 45 degrees and radius 100 with a force across its plane (Bathe and Bolourchi): section 1 x 1, E = 1e7,
// nu = 0, J = Iy + Iz, no reduced shear. Positions of the tip for eight arcs.
TEST(bend_of_45_degrees)
{
    const double wanted[2][3] = { { 22.2936, 58.8561, 40.0924 }, { 15.7383, 47.2506, 53.3920 } };
    bend_material m = {
        .E = 1e7,
        .rho = 1.0,
        .orientation = { 0.0, 0.0, 1.0 },
        .curvature = { 0.0, 0.0, -0.01 },
        .section = { .area = 1.0, .Iy = 1.0 / 12.0, .Iz = 1.0 / 12.0, .torsion = 1.0 / 6.0, .ky = 1.0, .kz = 1.0 }
    };
    bend b;
    double x[9][3], q[BEND_MAX_SIZE] = { 0 }, load[BEND_MAX_SIZE] = { 0 }, residual[61];
    for (int i = 0; i <= 8; i++) {
        double angle = pi / 4.0 * i / 8.0;
        // along y first, turning towards x: about -z
        x[i][0] = 100.0 * (1.0 - cos(angle));
        x[i][1] = 100.0 * sin(angle);
        x[i][2] = 0.0;
    }
    bend_open(&b, "beam_exact_3d", 9, (const double(*)[3])x, &m);
    bend_hold(&b, 0, "111111");
    const int *tip = b.map[8];
    for (int step = 1; step <= 40; step++) {
        load[tip[2]] = 15.0 * step;
        CHECK(bend_equilibrium(&b, load, 50, 1e-6, q, residual) < 50);
        if (step % 20 != 0) continue;
        for (int k = 0; k < 3; k++) CHECK_NEAR(x[8][k] + q[tip[k]], wanted[step / 20 - 1][k], 5.1e-5);
    }
    bend_close(&b);
}

// Arcs and chords go to the same limit with order two, and arcs have the smaller error.
TEST(chords_and_arcs_agree_in_the_limit)
{
    double height[2][3];
    for (int is_arc = 0; is_arc < 2; is_arc++)
        for (int level = 0; level < 3; level++) {
            bend_material m = { .E = 1e7,
                                .rho = 1.0,
                                .orientation = { 0.0, 0.0, 1.0 },
                                .curvature = { 0.0, 0.0, is_arc ? 0.01 : 0.0 },
                                .section = { .area = 1.0,
                                             .Iy = 1.0 / 12.0,
                                             .Iz = 1.0 / 12.0,
                                             .torsion = 1.0 / 6.0,
                                             .ky = 1.0,
                                             .kz = 1.0 } };
            bend b;
            int n = 8 << level;
            double x[33][3], q[BEND_MAX_SIZE] = { 0 }, load[BEND_MAX_SIZE] = { 0 }, residual[61];
            for (int i = 0; i <= n; i++) {
                x[i][0] = 100.0 * sin(pi / 4.0 * i / n);
                x[i][1] = 100.0 * (1.0 - cos(pi / 4.0 * i / n));
                x[i][2] = 0.0;
            }
            bend_open(&b, "beam_exact_3d", n + 1, (const double(*)[3])x, &m);
            bend_hold(&b, 0, "111111");
            for (int step = 1; step <= 20; step++) {
                load[b.map[n][2]] = 15.0 * step;
                CHECK(bend_equilibrium(&b, load, 50, 1e-6, q, residual) < 50);
            }
            height[is_arc][level] = q[b.map[n][2]];
            bend_close(&b);
        }
    double limit[2];
    for (int i = 0; i < 2; i++) {
        double ratio = (height[i][1] - height[i][0]) / (height[i][2] - height[i][1]);
        CHECK_NEAR(log2(ratio), 2.0, 0.05);
        limit[i] = height[i][2] + (height[i][2] - height[i][1]) / 3.0;
    }
    CHECK_NEAR(limit[0], limit[1], 2e-4);
    CHECK(fabs(height[1][0] - limit[1]) < 0.9 * fabs(height[0][0] - limit[0]));
}

// A right-angle frame clamped at one end: legs a along x and b along y, a force P across their plane at the tip. For
// small P: bending of both legs, torsion of the first, shear; bending with this element is (1 - 1/(4 n^2)) of the
// beam's.
TEST(right_angle_frame_bends_and_twists)
{
    enum { N = 6 };
    const double a = 2.0, c = 1.5, P = 1e-5;
    bend_material m = bend_stocky();
    memcpy(m.orientation, (double[3]){ 0.0, 0.0, 1.0 }, sizeof m.orientation);
    bend b;
    double x[2 * N + 1][3] = { { 0 } }, q[BEND_MAX_SIZE] = { 0 }, load[BEND_MAX_SIZE] = { 0 }, residual[61];
    for (int i = 0; i <= 2 * N; i++) {
        x[i][0] = i < N ? a * i / N : a;
        x[i][1] = i < N ? 0.0 : c * (i - N) / N;
    }
    bend_open(&b, "beam_exact_3d", 2 * N + 1, (const double(*)[3])x, &m);
    bend_hold(&b, 0, "111111");
    const int *tip = b.map[2 * N];
    load[tip[2]] = P;
    CHECK(bend_equilibrium(&b, load, 40, 1e-14, q, residual) < 40);
    double G = 84.0, EI = 210.0 * 0.05, part = 1.0 - 1.0 / (4.0 * N * N);
    double wanted = part * (a * a * a + c * c * c) / (3.0 * EI) + c * c * a / (G * 0.03) + (a + c) / (G * 0.3 * 0.8);
    CHECK_RELATIVE(q[tip[2]], P * wanted, 1e-8);
    // a large force: the reaction at the clamp balances it
    for (int step = 1; step <= 6; step++) {
        load[tip[2]] = 0.5 * step;
        CHECK(bend_equilibrium(&b, load, 40, 1e-12, q, residual) < 40);
    }
    double field[PCS_MAX_CELL_FIELDS], lever[2] = { a + q[tip[0]], c + q[tip[1]] };
    b.ops->read_fields(&b.batch, 0, &(pcs_cell_state){ .q = q, .v = q }, field);
    CHECK_NEAR(hypot(field[0], field[1]), 3.0, 1e-11);
    CHECK_NEAR(field[3], 3.0 * lever[0], 1e-10); // the moment of the clamp about y
    CHECK(q[tip[2]] > 0.5 && lever[0] < a);
    bend_close(&b);
}

// Smallest load at which the frame above, loaded in its plane, can leave it: where the determinant changes sign.
static double determinant_sign(const bend *b, const double *q)
{
    static double K[BEND_MAX_SIZE * BEND_MAX_SIZE];
    int n = b->n;
    double sign = 1.0;
    bend_tangents(b, q, NULL, K, NULL);
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(K[i * n + k]) > fabs(K[pivot * n + k])) pivot = i;
        if (pivot != k) sign = -sign;
        for (int j = 0; j < n && pivot != k; j++) {
            double keep = K[k * n + j];
            K[k * n + j] = K[pivot * n + j];
            K[pivot * n + j] = keep;
        }
        if (K[k * n + k] < 0.0) sign = -sign;
        for (int i = k + 1; i < n; i++) {
            double factor = K[i * n + k] / K[k * n + k];
            for (int j = k; j < n; j++) K[i * n + j] -= factor * K[k * n + j];
        }
    }
    return sign;
}

// Legs of 240, section 30 x 0.6 upright in the plane, E = 71240, nu = 0.31 (Argyris; Simo and Vu-Quoc report 1.09).
TEST(right_angle_frame_buckles_sideways)
{
    enum { N = 10 };
    const double h = 30.0, t = 0.6;
    bend_material m = { .E = 71240.0,
                        .nu = 0.31,
                        .rho = 1.0,
                        .orientation = { 0.0, 0.0,
                                         1.0 }, // local y is the thin way, z the height, which lies in the plane
                        .section = { .area = h * t,
                                     .Iy = t * h * h * h / 12.0,
                                     .Iz = h * t * t * t / 12.0,
                                     .torsion = h * t * t * t / 3.0,
                                     .ky = 5.0 / 6.0,
                                     .kz = 5.0 / 6.0 } };
    bend b;
    double x[2 * N + 1][3] = { { 0 } }, q[BEND_MAX_SIZE] = { 0 }, load[BEND_MAX_SIZE] = { 0 }, residual[61];
    for (int i = 0; i <= 2 * N; i++) {
        x[i][0] = i < N ? 240.0 * i / N : 240.0;
        x[i][1] = i < N ? 0.0 : 240.0 * (i - N) / N;
    }
    bend_open(&b, "beam_exact_3d", 2 * N + 1, (const double(*)[3])x, &m);
    bend_hold(&b, 0, "111111");
    const int *tip = b.map[2 * N];
    double low = 0.0, high = 3.0;
    while (high - low > 1e-4) {
        double middle = 0.5 * (low + high);
        load[tip[0]] = middle;
        CHECK(bend_equilibrium(&b, load, 40, 1e-9, q, residual) < 40);
        if (determinant_sign(&b, q) > 0.0) low = middle;
        else high = middle;
    }
    CHECK_NEAR(low, 1.088, 0.002);
    bend_close(&b);
}
