// Slider-crank mechanism whose slider moves in a notch with clearance: q = (theta1, theta2, theta3), all absolute
// angles of crank, rod and slider. The four corners of the slider (half length a, half height b) touch the walls y =
// +-(b + c).
//
//   corner (xi, eta), xi = +-a, eta = +-b, at  x + xi cos th3 - eta sin th3,  y + xi sin th3 + eta cos th3
//   y = l1 sin th1 + l2 sin th2,   gap = b + c - sign(eta) (corner's y),   tangent = corner's x
//
// Motion of crank and rod: slider_crank.h. Schindler, Rezaei, Kursawe, Acary (2015), sec. 2.1; Schoeder, Ulbrich,
// Schindler (2014).

#include "closed_form/slider_crank.h"
#include "closed_form/outline.h"

#include <stddef.h>

enum {
    J3 = CRANK_PARAMETERS,
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
    PCS_CRANK_PARAMETERS,
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
    (void)p;
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
    q[0] = p[THETA1];
    q[1] = p[THETA2];
    q[2] = p[THETA3];
    v[0] = p[OMEGA1];
    v[1] = p[OMEGA2];
    v[2] = p[OMEGA3];
}

static double slider_length(const double *p)
{
    return p[L1] + p[L2];
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
    (void)t;
    crank_force(p, q, v, f);
    f[2] = 0.0;
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
    double pin_x = p[L1] * cos(q[0]), pin_y = p[L1] * sin(q[0]);
    double tip_x = pin_x + p[L2] * cos(q[1]), tip_y = pin_y + p[L2] * sin(q[1]);
    double wall = p[HALF_HEIGHT] + p[CLEARANCE], near = p[L2] - p[L1] - 2.0 * p[HALF_LENGTH],
           far = p[L2] + p[L1] + 2.0 * p[HALF_LENGTH];
    pcs_outline_point(&x[0], 0.0, 0.0);
    pcs_outline_point(&x[1], pin_x, pin_y);
    pcs_outline_point(&x[2], tip_x, tip_y);
    pcs_outline_rectangle(tip_x, tip_y, p[HALF_LENGTH], p[HALF_HEIGHT], q[2], &x[3]);
    pcs_outline_point(&x[7], near, wall);
    pcs_outline_point(&x[8], far, wall);
    pcs_outline_point(&x[9], near, -wall);
    pcs_outline_point(&x[10], far, -wall);
}

static void slider_contact_points(const double *p, const double *q, double (*position)[3], double (*normal)[3])
{
    double x = p[L1] * cos(q[0]) + p[L2] * cos(q[1]), y = p[L1] * sin(q[0]) + p[L2] * sin(q[1]);
    double s = sin(q[2]), c = cos(q[2]);
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
    .length = slider_length,
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
};
