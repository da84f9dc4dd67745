// A rigid pendulum in redundant coordinates q = (x, y, theta) of the tip, against a wall:
//
//   M = diag(m, m, J),   f = (0, -m g, 0)
//   x - l cos theta = 0,   y - l sin theta = 0 (bilateral),   gap = x - wall
//
// theta is measured from the x axis, counter-clockwise. Bruls, Acary, Cardona (2014), sec. 10.2.

#include "closed_form/outline.h"
#include "percuss_system.h"

#include <math.h>
#include <stddef.h>

enum { MASS, INERTIA, LENGTH, GRAVITY, WALL, ANGLE, RATE, RESTITUTION };

static const percuss_parameter pendulum_parameters[] = {
    [MASS] = { "mass", "at the tip, kg", 1.0, PERCUSS_ABOVE_ZERO, INFINITY },
    [INERTIA] = { "inertia", "about the tip, kg m^2", 0.1, PERCUSS_ABOVE_ZERO, INFINITY },
    [LENGTH] = { "length", "m", 1.0, PERCUSS_ABOVE_ZERO, INFINITY },
    [GRAVITY] = { "gravity", "m/s^2, along -y", 10.0, -INFINITY, INFINITY },
    [WALL] = { "wall", "the tip stays at x >= wall, m", 0.7071067811865476, -INFINITY, INFINITY },
    [ANGLE] = { "angle", "at t = 0, from the x axis, rad", 0.2617993877991494, -INFINITY, INFINITY },
    [RATE] = { "rate", "of the angle at t = 0, rad/s", 0.0, -INFINITY, INFINITY },
    [RESTITUTION] = { "restitution", "Newton's coefficient e of the wall", 0.8, 0.0, 1.0 },
    { NULL, NULL, 0.0, 0.0, 0.0 },
};

static const char *const pendulum_coordinates[] = { "x", "y", "theta" };

static int pendulum_row_count(const double *p)
{
    return 3;
}

static void pendulum_rows(const double *p, percuss_row *row)
{
    row[0] = row[1] = (percuss_row){ .contact = "pivot", .is_bilateral = 1 };
    row[2] = (percuss_row){ .contact = "wall", .restitution = p[RESTITUTION] };
}

static void pendulum_start(const double *p, double *q, double *v)
{
    q[0] = p[LENGTH] * cos(p[ANGLE]);
    q[1] = p[LENGTH] * sin(p[ANGLE]);
    q[2] = p[ANGLE];
    v[0] = -p[LENGTH] * sin(p[ANGLE]) * p[RATE];
    v[1] = p[LENGTH] * cos(p[ANGLE]) * p[RATE];
    v[2] = p[RATE];
}

static double pendulum_length(const double *p)
{
    return p[LENGTH];
}

static void pendulum_mass(const double *p, const double *q, double *M)
{
    for (int k = 0; k < 9; k++) M[k] = 0.0;
    M[0] = M[4] = p[MASS];
    M[8] = p[INERTIA];
}

static void pendulum_force(const double *p, double t, const double *q, const double *v, double *f)
{
    f[0] = f[2] = 0.0;
    f[1] = -p[MASS] * p[GRAVITY];
}

static void pendulum_gaps(const double *p, const double *q, double *g)
{
    g[0] = q[0] - p[LENGTH] * cos(q[2]);
    g[1] = q[1] - p[LENGTH] * sin(q[2]);
    g[2] = q[0] - p[WALL];
}

static void pendulum_directions(const double *p, const double *q, double *G, double *T)
{
    for (int k = 0; k < 9; k++) G[k] = 0.0;
    G[0] = G[4] = G[6] = 1.0;
    G[2] = p[LENGTH] * sin(q[2]);
    G[5] = -p[LENGTH] * cos(q[2]);
}

static void pendulum_rate_bias(const double *p, const double *q, const double *v, double *bias)
{
    bias[0] = p[LENGTH] * cos(q[2]) * v[2] * v[2];
    bias[1] = p[LENGTH] * sin(q[2]) * v[2] * v[2];
    bias[2] = 0.0;
}

static void pendulum_energy(const double *p, const double *q, const double *v, double *kinetic, double *potential)
{
    *kinetic = 0.5 * (p[MASS] * (v[0] * v[0] + v[1] * v[1]) + p[INERTIA] * v[2] * v[2]);
    *potential = p[MASS] * p[GRAVITY] * q[1];
}

static const int pendulum_cells[][2] = { { 0, 1 }, { 2, 3 } };

static void pendulum_points(const double *p, const double *q, double (*x)[3])
{
    pcs_outline_point(&x[0], 0.0, 0.0);
    pcs_outline_point(&x[1], q[0], q[1]);
    pcs_outline_point(&x[2], p[WALL], -p[LENGTH]);
    pcs_outline_point(&x[3], p[WALL], 0.0);
}

static void pendulum_contact_points(const double *p, const double *q, double (*position)[3], double (*normal)[3])
{
    pcs_outline_point(&position[0], 0.0, 0.0);
    pcs_outline_point(&position[1], 0.0, 0.0);
    pcs_outline_point(&position[2], q[0], q[1]);
    pcs_outline_point(&normal[0], 1.0, 0.0);
    pcs_outline_point(&normal[1], 0.0, 1.0);
    pcs_outline_point(&normal[2], 1.0, 0.0);
}

const percuss_system_definition pcs_closed_pendulum = {
    .abi = PERCUSS_SYSTEM_ABI,
    .name = "pendulum",
    .summary = "a rigid pendulum in redundant coordinates against a wall",
    .parameters = pendulum_parameters,
    .ncoordinate = 3,
    .coordinates = pendulum_coordinates,
    .has_constant_mass = 1,
    .row_count = pendulum_row_count,
    .rows = pendulum_rows,
    .start = pendulum_start,
    .length = pendulum_length,
    .mass = pendulum_mass,
    .force = pendulum_force,
    .gaps = pendulum_gaps,
    .directions = pendulum_directions,
    .rate_bias = pendulum_rate_bias,
    .energy = pendulum_energy,
    .npoint = 4,
    .ncell = 2,
    .cells = pendulum_cells,
    .points = pendulum_points,
    .contact_points = pendulum_contact_points,
    .tangents = pcs_tangents_of_weight,
};
