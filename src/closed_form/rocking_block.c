// A block falling on its edge and rocking: q = (x, y, theta) of its centre; contact at n points of its base.
//
//   M = diag(m, m, m (L^2 + l^2)/12),   f = (0, -m g, 0)
//   point s in [-1, 1] of the base:  gap = y + s (L/2) sin theta - (l/2) cos theta
//                                    tangent: x + s (L/2) cos theta + (l/2) sin theta
//
// Two points are the corners of Bruls, Acary, Cardona (2014), sec. 10.4; with more the forces are not unique.

#include "closed_form/outline.h"
#include "percuss_system.h"

#include <math.h>
#include <stddef.h>

enum { MASS, WIDTH, HEIGHT, GRAVITY, POINTS, RESTITUTION, FRICTION, TANGENT_RESTITUTION, X, Y, ANGLE, VX, VY, RATE };

static const percuss_parameter block_parameters[] = {
    [MASS] = { "mass", "kg", 1.0, PERCUSS_ABOVE_ZERO, INFINITY },
    [WIDTH] = { "width", "of the base, m", 1.0, PERCUSS_ABOVE_ZERO, INFINITY },
    [HEIGHT] = { "height", "m", 1.5, PERCUSS_ABOVE_ZERO, INFINITY },
    [GRAVITY] = { "gravity", "m/s^2, along -y", 9.81, -INFINITY, INFINITY },
    [POINTS] = { "points", "contact points along the base, a whole number", 2.0, 2.0, 9.0 },
    [RESTITUTION] = { "restitution", "Newton's coefficient e", 0.5, 0.0, 1.0 },
    [FRICTION] = { "friction", "Coulomb's coefficient", 0.0, 0.0, INFINITY },
    [TANGENT_RESTITUTION] = { "tangent_restitution", "of the tangential velocity", 0.0, 0.0, 1.0 },
    [X] = { "x", "of the centre at t = 0, m", 0.0, -INFINITY, INFINITY },
    [Y] = { "y", "of the centre at t = 0, m", 1.0, -INFINITY, INFINITY },
    [ANGLE] = { "angle", "at t = 0, counter-clockwise, rad", 0.2, -INFINITY, INFINITY },
    [VX] = { "vx", "at t = 0, m/s", 0.0, -INFINITY, INFINITY },
    [VY] = { "vy", "at t = 0, m/s", 0.0, -INFINITY, INFINITY },
    [RATE] = { "rate", "of the angle at t = 0, rad/s", 0.0, -INFINITY, INFINITY },
    { NULL, NULL, 0.0, 0.0, 0.0 },
};

static const char *const block_coordinates[] = { "x", "y", "theta" };

static const char *block_check(const double *p, const char **parameter)
{
    *parameter = "points";
    return p[POINTS] != floor(p[POINTS]) ? "points must be a whole number" : NULL;
}

static int block_row_count(const double *p)
{
    return (int)p[POINTS];
}

static void block_rows(const double *p, percuss_row *row)
{
    for (int j = 0; j < block_row_count(p); j++)
        row[j] = (percuss_row){ .contact = "floor",
                                .restitution = p[RESTITUTION],
                                .tangent_restitution = p[TANGENT_RESTITUTION],
                                .friction = p[FRICTION],
                                .ntangent = 1 };
}

static void block_start(const double *p, double *q, double *v)
{
    q[0] = p[X];
    q[1] = p[Y];
    q[2] = p[ANGLE];
    v[0] = p[VX];
    v[1] = p[VY];
    v[2] = p[RATE];
}

static double block_length(const double *p)
{
    return p[WIDTH] + p[HEIGHT];
}

static void block_mass(const double *p, const double *q, double *M)
{
    for (int k = 0; k < 9; k++) M[k] = 0.0;
    M[0] = M[4] = p[MASS];
    M[8] = p[MASS] * (p[WIDTH] * p[WIDTH] + p[HEIGHT] * p[HEIGHT]) / 12.0;
}

static void block_force(const double *p, double t, const double *q, const double *v, double *f)
{
    f[0] = f[2] = 0.0;
    f[1] = -p[MASS] * p[GRAVITY];
}

// Returns the signed lever arm of point j, m, between half of the width and minus that: the right corner first.
static double block_arm(const double *p, int j)
{
    return 0.5 * p[WIDTH] * (1.0 - 2.0 * j / (p[POINTS] - 1.0));
}

static void block_gaps(const double *p, const double *q, double *g)
{
    double s = sin(q[2]), c = cos(q[2]);
    for (int j = 0; j < block_row_count(p); j++) g[j] = q[1] + block_arm(p, j) * s - 0.5 * p[HEIGHT] * c;
}

static void block_directions(const double *p, const double *q, double *G, double *T)
{
    double s = sin(q[2]), c = cos(q[2]);
    for (int j = 0; j < block_row_count(p); j++) {
        G[3 * j] = T[3 * j + 1] = 0.0;
        G[3 * j + 1] = T[3 * j] = 1.0;
        G[3 * j + 2] = block_arm(p, j) * c + 0.5 * p[HEIGHT] * s;
        T[3 * j + 2] = 0.5 * p[HEIGHT] * c - block_arm(p, j) * s;
    }
}

static void block_rate_bias(const double *p, const double *q, const double *v, double *bias)
{
    double s = sin(q[2]), c = cos(q[2]);
    for (int j = 0; j < block_row_count(p); j++) bias[j] = (0.5 * p[HEIGHT] * c - block_arm(p, j) * s) * v[2] * v[2];
}

static void block_energy(const double *p, const double *q, const double *v, double *kinetic, double *potential)
{
    double inertia = p[MASS] * (p[WIDTH] * p[WIDTH] + p[HEIGHT] * p[HEIGHT]) / 12.0;
    *kinetic = 0.5 * (p[MASS] * (v[0] * v[0] + v[1] * v[1]) + inertia * v[2] * v[2]);
    *potential = p[MASS] * p[GRAVITY] * q[1];
}

static const int block_cells[][2] = { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 0 } };

static void block_points(const double *p, const double *q, double (*x)[3])
{
    pcs_outline_rectangle(q[0], q[1], 0.5 * p[WIDTH], 0.5 * p[HEIGHT], q[2], x);
}

static void block_contact_points(const double *p, const double *q, double (*position)[3], double (*normal)[3])
{
    double s = sin(q[2]), c = cos(q[2]), half = 0.5 * p[HEIGHT];
    for (int j = 0; j < block_row_count(p); j++) {
        double arm = block_arm(p, j);
        pcs_outline_point(&position[j], q[0] + arm * c + half * s, q[1] + arm * s - half * c);
        pcs_outline_point(&normal[j], 0.0, 1.0);
    }
}

const percuss_system_definition pcs_closed_rocking_block = {
    .abi = PERCUSS_SYSTEM_ABI,
    .name = "rocking_block",
    .summary = "a block rocking on a plane, contact at 2 to 9 points of its base, with or without friction",
    .parameters = block_parameters,
    .ncoordinate = 3,
    .coordinates = block_coordinates,
    .has_constant_mass = 1,
    .check = block_check,
    .row_count = block_row_count,
    .rows = block_rows,
    .start = block_start,
    .length = block_length,
    .mass = block_mass,
    .force = block_force,
    .gaps = block_gaps,
    .directions = block_directions,
    .rate_bias = block_rate_bias,
    .energy = block_energy,
    .npoint = 4,
    .ncell = 4,
    .cells = block_cells,
    .points = block_points,
    .contact_points = block_contact_points,
    .tangents = pcs_tangents_of_weight,
};
