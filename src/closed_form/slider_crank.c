// Slider-crank mechanisms: crank and rod as a double pendulum that carries the slider's mass at its tip. Angles are
// absolute, from the x axis. Data: Schindler, Rezaei, Kursawe, Acary (2015), Table 1, after Flores et al.
//
//   M11 = J1 + l1^2 (m1/4 + m2 + m3),   M22 = J2 + l2^2 (m2/4 + m3),   M12 = l1 l2 (m2/2 + m3) cos(th1 - th2)
//   f1 = -l1 l2 (m2/2 + m3) sin(th1 - th2) w2^2 - g l1 cos th1 (m1/2 + m2 + m3)
//   f2 =  l1 l2 (m2/2 + m3) sin(th1 - th2) w1^2 - g l2 cos th2 (m2/2 + m3)
//   tip of the rod:  x = l1 cos th1 + l2 cos th2,   y = l1 sin th1 + l2 sin th2
//
// With clearance, q = (theta1, theta2, theta3): the slider moves in a notch, and its four corners (half length a, half
// height b) touch the walls y = +-(b + c). Schindler, Rezaei, Kursawe, Acary (2015), sec. 2.1.
//
//   corner (xi, eta), xi = +-a, eta = +-b, at  x + xi cos th3 - eta sin th3,  y + xi sin th3 + eta cos th3
//   gap = b + c - sign(eta) (corner's y),   tangent = corner's x
//
// Without clearance, q = (theta1, theta2): the tip stays on the x axis, y = 0 (bilateral). Schoeder, Ulbrich, Schindler
// (2014), sec. 2.1: the drift-off of constraints at velocity level.

#include "closed_form/outline.h"
#include "percuss_system.h"

#include <math.h>
#include <stddef.h>

// Every parameter table begins with these.
enum { L1, L2, M1, M2, M3, J1, J2, GRAVITY, THETA1, THETA2, OMEGA1, OMEGA2, CRANK_COUNT };

// clang-format off
#define CRANK_PARAMETERS                                                                        \
    [L1] = { "crank_length", "m", 0.153, PERCUSS_ABOVE_ZERO, INFINITY },                            \
    [L2] = { "rod_length", "m", 0.306, PERCUSS_ABOVE_ZERO, INFINITY },                              \
    [M1] = { "crank_mass", "kg", 0.038, PERCUSS_ABOVE_ZERO, INFINITY },                             \
    [M2] = { "rod_mass", "kg", 0.038, PERCUSS_ABOVE_ZERO, INFINITY },                               \
    [M3] = { "slider_mass", "kg", 0.076, PERCUSS_ABOVE_ZERO, INFINITY },                            \
    [J1] = { "crank_inertia", "about its centre, kg m^2", 7.4e-5, PERCUSS_ABOVE_ZERO, INFINITY },   \
    [J2] = { "rod_inertia", "about its centre, kg m^2", 5.9e-4, PERCUSS_ABOVE_ZERO, INFINITY },     \
    [GRAVITY] = { "gravity", "m/s^2, along -y", 9.81, -INFINITY, INFINITY },                        \
    [THETA1] = { "theta1", "crank angle at t = 0, rad", 0.0, -INFINITY, INFINITY },                 \
    [THETA2] = { "theta2", "rod angle at t = 0, rad", 0.0, -INFINITY, INFINITY },                   \
    [OMEGA1] = { "omega1", "of the crank at t = 0, rad/s", 150.0, -INFINITY, INFINITY },            \
    [OMEGA2] = { "omega2", "of the rod at t = 0, rad/s", -75.0, -INFINITY, INFINITY }
// clang-format on

static double crank_coupling(const double *p)
{
    return p[L1] * p[L2] * (0.5 * p[M2] + p[M3]);
}

static void crank_mass(const double *p, const double *q, double *M11, double *M12, double *M22)
{
    *M11 = p[J1] + p[L1] * p[L1] * (0.25 * p[M1] + p[M2] + p[M3]);
    *M12 = crank_coupling(p) * cos(q[0] - q[1]);
    *M22 = p[J2] + p[L2] * p[L2] * (0.25 * p[M2] + p[M3]);
}

static void crank_force(const double *p, const double *q, const double *v, double *f)
{
    double s = crank_coupling(p) * sin(q[0] - q[1]);
    f[0] = -s * v[1] * v[1] - p[GRAVITY] * p[L1] * cos(q[0]) * (0.5 * p[M1] + p[M2] + p[M3]);
    f[1] = s * v[0] * v[0] - p[GRAVITY] * p[L2] * cos(q[1]) * (0.5 * p[M2] + p[M3]);
}

// Fills K = -df/dq and C = -df/dv, of n coordinates.
static void crank_tangents(const double *p, const double *q, const double *v, int n, double *K, double *C)
{
    double s = crank_coupling(p) * sin(q[0] - q[1]), c = crank_coupling(p) * cos(q[0] - q[1]);
    for (int k = 0; k < n * n; k++) K[k] = C[k] = 0.0;
    K[1] = -c * v[1] * v[1];
    K[0] = -K[1] - p[GRAVITY] * p[L1] * sin(q[0]) * (0.5 * p[M1] + p[M2] + p[M3]);
    K[n] = -c * v[0] * v[0];
    K[n + 1] = -K[n] - p[GRAVITY] * p[L2] * sin(q[1]) * (0.5 * p[M2] + p[M3]);
    C[1] = 2.0 * s * v[1];
    C[n] = -2.0 * s * v[0];
}

static void crank_inertia_tangent(const double *p, const double *q, const double *a, int n, double *A)
{
    double s = crank_coupling(p) * sin(q[0] - q[1]);
    for (int k = 0; k < n * n; k++) A[k] = 0.0;
    A[1] = s * a[1];
    A[0] = -A[1];
    A[n + 1] = s * a[0];
    A[n] = -A[n + 1];
}

static double crank_kinetic(const double *p, const double *q, const double *v)
{
    double M11, M12, M22;
    crank_mass(p, q, &M11, &M12, &M22);
    return 0.5 * (M11 * v[0] * v[0] + M22 * v[1] * v[1]) + M12 * v[0] * v[1];
}

static double crank_potential(const double *p, const double *q)
{
    return p[GRAVITY] * (p[L1] * sin(q[0]) * (0.5 * p[M1] + p[M2] + p[M3]) + p[L2] * sin(q[1]) * (0.5 * p[M2] + p[M3]));
}

static void crank_start(const double *p, double *q, double *v)
{
    q[0] = p[THETA1];
    q[1] = p[THETA2];
    v[0] = p[OMEGA1];
    v[1] = p[OMEGA2];
}

static double crank_length(const double *p)
{
    return p[L1] + p[L2];
}

// Computes the position of the tip of the rod, m.
static void crank_tip(const double *p, const double *q, double *x, double *y)
{
    *x = p[L1] * cos(q[0]) + p[L2] * cos(q[1]);
    *y = p[L1] * sin(q[0]) + p[L2] * sin(q[1]);
}

// Draws pivot, crank pin and tip.
static void crank_points(const double *p, const double *q, double (*x)[3])
{
    double tip_x, tip_y;
    crank_tip(p, q, &tip_x, &tip_y);
    pcs_outline_point(&x[0], 0.0, 0.0);
    pcs_outline_point(&x[1], p[L1] * cos(q[0]), p[L1] * sin(q[0]));
    pcs_outline_point(&x[2], tip_x, tip_y);
}

enum {
    J3 = CRANK_COUNT,
    HALF_LENGTH,
    HALF_HEIGHT,
    CLEARANCE,
    THETA3,
    OMEGA3,
    RESTITUTION,
    TANGENT_RESTITUTION,
    FRICTION
};

static const percuss_parameter slider_parameters[] = {
    CRANK_PARAMETERS,
    [J3] = { "slider_inertia", "about its centre, kg m^2", 2.7e-6, PERCUSS_ABOVE_ZERO, INFINITY },
    [HALF_LENGTH] = { "slider_half_length", "m", 0.05, PERCUSS_ABOVE_ZERO, INFINITY },
    [HALF_HEIGHT] = { "slider_half_height", "m", 0.025, PERCUSS_ABOVE_ZERO, INFINITY },
    [CLEARANCE] = { "clearance", "between slider and notch, on either side, m", 0.001, 0.0, INFINITY },
    [THETA3] = { "theta3", "slider angle at t = 0, rad", 0.0, -INFINITY, INFINITY },
    [OMEGA3] = { "omega3", "of the slider at t = 0, rad/s", 0.0, -INFINITY, INFINITY },
    [RESTITUTION] = { "restitution", "Newton's coefficient e of all corners", 0.4, 0.0, 1.0 },
    [TANGENT_RESTITUTION] = { "tangent_restitution", "of the tangential velocity", 0.0, 0.0, 1.0 },
    [FRICTION] = { "friction", "Coulomb's coefficient of all corners", 0.01, 0.0, INFINITY },
    { NULL, NULL, 0.0, 0.0, 0.0 },
};

static const char *const slider_coordinates[] = { "theta1", "theta2", "theta3" };

// Signs of xi and eta.
enum { CORNERS = 4 };
static const double slider_xi[CORNERS] = { -1.0, 1.0, -1.0, 1.0 }, slider_eta[CORNERS] = { 1.0, 1.0, -1.0, -1.0 };

static int slider_row_count(const double *p)
{
    return CORNERS;
}

static void slider_rows(const double *p, percuss_row *row)
{
    static const char *const names[] = { "upper_left", "upper_right", "lower_left", "lower_right" };
    for (int j = 0; j < CORNERS; j++)
        row[j] = (percuss_row){ .contact = names[j],
                                .restitution = p[RESTITUTION],
                                .tangent_restitution = p[TANGENT_RESTITUTION],
                                .friction = p[FRICTION],
                                .ntangent = 1 };
}

static void slider_start(const double *p, double *q, double *v)
{
    crank_start(p, q, v);
    q[2] = p[THETA3];
    v[2] = p[OMEGA3];
}

static void slider_mass(const double *p, const double *q, double *M)
{
    crank_mass(p, q, &M[0], &M[1], &M[4]);
    M[3] = M[1];
    M[2] = M[5] = M[6] = M[7] = 0.0;
    M[8] = p[J3];
}

static void slider_force(const double *p, double t, const double *q, const double *v, double *f)
{
    crank_force(p, q, v, f);
    f[2] = 0.0;
}

static void slider_tangents(const double *p, double t, const double *q, const double *v, double *K, double *C)
{
    crank_tangents(p, q, v, 3, K, C);
}

static void slider_inertia_tangent(const double *p, const double *q, const double *a, double *A)
{
    crank_inertia_tangent(p, q, a, 3, A);
}

static void slider_gaps(const double *p, const double *q, double *g)
{
    double y = p[L1] * sin(q[0]) + p[L2] * sin(q[1]), wall = p[HALF_HEIGHT] + p[CLEARANCE];
    double a = p[HALF_LENGTH] * sin(q[2]), b = p[HALF_HEIGHT] * cos(q[2]);
    for (int j = 0; j < CORNERS; j++) g[j] = wall - slider_eta[j] * (y + slider_xi[j] * a) - b;
}

static void slider_directions(const double *p, const double *q, double *G, double *T)
{
    double c1 = p[L1] * cos(q[0]), s1 = p[L1] * sin(q[0]), c2 = p[L2] * cos(q[1]), s2 = p[L2] * sin(q[1]);
    double s3 = sin(q[2]), c3 = cos(q[2]), a = p[HALF_LENGTH], b = p[HALF_HEIGHT];
    for (int j = 0; j < CORNERS; j++) {
        double *Gj = &G[3 * j], *Tj = &T[3 * j], xi = slider_xi[j] * a, sign = slider_eta[j];
        Gj[0] = -sign * c1;
        Gj[1] = -sign * c2;
        Gj[2] = -sign * xi * c3 + b * s3;
        Tj[0] = -s1;
        Tj[1] = -s2;
        Tj[2] = -xi * s3 - sign * b * c3;
    }
}

static void slider_rate_bias(const double *p, const double *q, const double *v, double *bias)
{
    double tip = p[L1] * sin(q[0]) * v[0] * v[0] + p[L2] * sin(q[1]) * v[1] * v[1], w2 = v[2] * v[2];
    double a = p[HALF_LENGTH] * sin(q[2]) * w2, b = p[HALF_HEIGHT] * cos(q[2]) * w2;
    for (int j = 0; j < CORNERS; j++) bias[j] = slider_eta[j] * (tip + slider_xi[j] * a) + b;
}

static void slider_energy(const double *p, const double *q, const double *v, double *kinetic, double *potential)
{
    *kinetic = crank_kinetic(p, q, v) + 0.5 * p[J3] * v[2] * v[2];
    *potential = crank_potential(p, q);
}

// Pivot, crank pin, slider pin, the slider, and both walls over the reach of the slider.
static const int slider_cells[][2] = {
    { 0, 1 }, { 1, 2 }, { 3, 4 }, { 4, 5 }, { 5, 6 }, { 6, 3 }, { 7, 8 }, { 9, 10 }
};

static void slider_points(const double *p, const double *q, double (*x)[3])
{
    double wall = p[HALF_HEIGHT] + p[CLEARANCE], near = p[L2] - p[L1] - 2.0 * p[HALF_LENGTH],
           far = p[L2] + p[L1] + 2.0 * p[HALF_LENGTH];
    crank_points(p, q, x);
    pcs_outline_rectangle(x[2][0], x[2][1], p[HALF_LENGTH], p[HALF_HEIGHT], q[2], &x[3]);
    pcs_outline_point(&x[7], near, wall);
    pcs_outline_point(&x[8], far, wall);
    pcs_outline_point(&x[9], near, -wall);
    pcs_outline_point(&x[10], far, -wall);
}

static void slider_contact_points(const double *p, const double *q, double (*position)[3], double (*normal)[3])
{
    double x, y, s = sin(q[2]), c = cos(q[2]);
    crank_tip(p, q, &x, &y);
    for (int j = 0; j < CORNERS; j++) {
        double xi = slider_xi[j] * p[HALF_LENGTH], eta = slider_eta[j] * p[HALF_HEIGHT];
        pcs_outline_point(&position[j], x + xi * c - eta * s, y + xi * s + eta * c);
        pcs_outline_point(&normal[j], 0.0, -slider_eta[j]);
    }
}

const percuss_system_definition pcs_closed_slider_crank = {
    .abi = PERCUSS_SYSTEM_ABI,
    .name = "slider_crank",
    .summary = "slider-crank mechanism with clearance and friction at the four corners of the slider",
    .parameters = slider_parameters,
    .ncoordinate = 3,
    .coordinates = slider_coordinates,
    .row_count = slider_row_count,
    .rows = slider_rows,
    .start = slider_start,
    .length = crank_length,
    .mass = slider_mass,
    .force = slider_force,
    .gaps = slider_gaps,
    .directions = slider_directions,
    .rate_bias = slider_rate_bias,
    .energy = slider_energy,
    .npoint = 11,
    .ncell = 8,
    .cells = slider_cells,
    .points = slider_points,
    .contact_points = slider_contact_points,
    .tangents = slider_tangents,
    .inertia_tangent = slider_inertia_tangent,
};

static const percuss_parameter guide_parameters[] = {
    CRANK_PARAMETERS,
    { NULL, NULL, 0.0, 0.0, 0.0 },
};

static const char *const guide_coordinates[] = { "theta1", "theta2" };

static void guide_rows(const double *p, percuss_row *row)
{
    row[0] = (percuss_row){ .contact = "guide", .is_bilateral = 1 };
}

static void guide_mass(const double *p, const double *q, double *M)
{
    crank_mass(p, q, &M[0], &M[1], &M[3]);
    M[2] = M[1];
}

static void guide_force(const double *p, double t, const double *q, const double *v, double *f)
{
    crank_force(p, q, v, f);
}

static void guide_tangents(const double *p, double t, const double *q, const double *v, double *K, double *C)
{
    crank_tangents(p, q, v, 2, K, C);
}

static void guide_inertia_tangent(const double *p, const double *q, const double *a, double *A)
{
    crank_inertia_tangent(p, q, a, 2, A);
}

static void guide_gaps(const double *p, const double *q, double *g)
{
    g[0] = p[L1] * sin(q[0]) + p[L2] * sin(q[1]);
}

static void guide_directions(const double *p, const double *q, double *G, double *T)
{
    G[0] = p[L1] * cos(q[0]);
    G[1] = p[L2] * cos(q[1]);
}

static void guide_rate_bias(const double *p, const double *q, const double *v, double *bias)
{
    bias[0] = -p[L1] * sin(q[0]) * v[0] * v[0] - p[L2] * sin(q[1]) * v[1] * v[1];
}

static void guide_energy(const double *p, const double *q, const double *v, double *kinetic, double *potential)
{
    *kinetic = crank_kinetic(p, q, v);
    *potential = crank_potential(p, q);
}

static const int guide_cells[][2] = { { 0, 1 }, { 1, 2 } };

static void guide_contact_points(const double *p, const double *q, double (*position)[3], double (*normal)[3])
{
    double x, y;
    crank_tip(p, q, &x, &y);
    pcs_outline_point(&position[0], x, y);
    pcs_outline_point(&normal[0], 0.0, 1.0);
}

const percuss_system_definition pcs_closed_slider_crank_bilateral = {
    .abi = PERCUSS_SYSTEM_ABI,
    .name = "slider_crank_bilateral",
    .summary = "slider-crank mechanism without clearance: one bilateral constraint",
    .parameters = guide_parameters,
    .ncoordinate = 2,
    .coordinates = guide_coordinates,
    .row_count = pcs_one_row,
    .rows = guide_rows,
    .start = crank_start,
    .length = crank_length,
    .mass = guide_mass,
    .force = guide_force,
    .gaps = guide_gaps,
    .directions = guide_directions,
    .rate_bias = guide_rate_bias,
    .energy = guide_energy,
    .npoint = 3,
    .ncell = 2,
    .cells = guide_cells,
    .points = crank_points,
    .contact_points = guide_contact_points,
    .tangents = guide_tangents,
    .inertia_tangent = guide_inertia_tangent,
};
