// A puck on an inclined plane in space with a circular friction cone: q = (x, y, z), x downhill, y across, z off the
// plane; the puck is a point.
//
//   m q'' = m g (sin a, 0, -cos a),   gap = z,   tangents x and y
//
// Sliding, with phi the angle of the velocity from downhill and k = mu cot a:  |v| sin phi = C tan(phi/2)^k. The
// direction turns downhill; for k > 1 the puck stops.

#include "closed_form/outline.h"
#include "percuss_system.h"

#include <math.h>
#include <stddef.h>

enum { MASS, GRAVITY, SLOPE_DEGREES, FRICTION, RESTITUTION, X, Y, VX, VY };

static const percuss_parameter puck_parameters[] = {
    [MASS] = { "mass", "kg", 1.0, PERCUSS_ABOVE_ZERO, INFINITY },
    [GRAVITY] = { "gravity", "m/s^2", 9.81, 0.0, INFINITY },
    [SLOPE_DEGREES] = { "slope_degrees", "of the plane", 20.0, -90.0, 90.0 },
    [FRICTION] = { "friction", "Coulomb's coefficient", 0.5, 0.0, INFINITY },
    [RESTITUTION] = { "restitution", "Newton's coefficient e", 0.0, 0.0, 1.0 },
    [X] = { "x", "at t = 0, downhill, m", 0.0, -INFINITY, INFINITY },
    [Y] = { "y", "at t = 0, across, m", 0.0, -INFINITY, INFINITY },
    [VX] = { "vx", "at t = 0, m/s", 0.0, -INFINITY, INFINITY },
    [VY] = { "vy", "at t = 0, m/s", 2.0, -INFINITY, INFINITY },
    { NULL, NULL, 0.0, 0.0, 0.0 },
};

static const char *const puck_coordinates[] = { "x", "y", "z" };

static void puck_rows(const double *p, percuss_row *row)
{
    row[0] = (percuss_row){ .contact = "plane", .restitution = p[RESTITUTION], .friction = p[FRICTION], .ntangent = 2 };
}

static void puck_start(const double *p, double *q, double *v)
{
    q[0] = p[X];
    q[1] = p[Y];
    v[0] = p[VX];
    v[1] = p[VY];
    q[2] = v[2] = 0.0;
}

static double puck_length(const double *p)
{
    return 1.0 + fabs(p[X]) + fabs(p[Y]);
}

static void puck_mass(const double *p, const double *q, double *M)
{
    for (int k = 0; k < 9; k++) M[k] = k % 4 == 0 ? p[MASS] : 0.0;
}

static void puck_force(const double *p, double t, const double *q, const double *v, double *f)
{
    double s, c;
    pcs_split_degrees(p[SLOPE_DEGREES], &s, &c);
    f[0] = p[MASS] * p[GRAVITY] * s;
    f[1] = 0.0;
    f[2] = -p[MASS] * p[GRAVITY] * c;
}

static void puck_gaps(const double *p, const double *q, double *g)
{
    g[0] = q[2];
}

static void puck_directions(const double *p, const double *q, double *G, double *T)
{
    for (int k = 0; k < 6; k++) T[k] = k == 0 || k == 4 ? 1.0 : 0.0;
    G[0] = G[1] = 0.0;
    G[2] = 1.0;
}

static void puck_energy(const double *p, const double *q, const double *v, double *kinetic, double *potential)
{
    double s, c;
    pcs_split_degrees(p[SLOPE_DEGREES], &s, &c);
    *kinetic = 0.5 * p[MASS] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    *potential = p[MASS] * p[GRAVITY] * (c * q[2] - s * q[0]);
}

// Computes the position in space, m, with the vertical along +z: the plane descends along x.
static void puck_place(const double *p, const double *q, double x[3])
{
    double s, c;
    pcs_split_degrees(p[SLOPE_DEGREES], &s, &c);
    x[0] = c * q[0] + s * q[2];
    x[1] = q[1];
    x[2] = -s * q[0] + c * q[2];
}

static const int puck_cells[][2] = { PCS_OUTLINE_BLOCK_CELLS };

static void puck_points(const double *p, const double *q, double (*x)[3])
{
    const double start[] = { p[X], p[Y], 0.0 };
    double square[4][3], half = pcs_outline_block_size(puck_length(p));
    pcs_outline_rectangle(q[0], q[1], half, half, 0.0, square);
    for (int i = 0; i < 4; i++) {
        square[i][2] = q[2];
        puck_place(p, square[i], x[i]);
    }
    puck_place(p, q, x[4]);
    puck_place(p, start, x[5]);
}

static void puck_contact_points(const double *p, const double *q, double (*position)[3], double (*normal)[3])
{
    const double up[] = { 0.0, 0.0, 1.0 };
    puck_place(p, q, position[0]);
    puck_place(p, up, normal[0]);
}

const percuss_system_definition pcs_closed_puck = {
    .abi = PERCUSS_SYSTEM_ABI,
    .name = "puck",
    .summary = "a puck sliding on an inclined plane in space, circular friction cone",
    .parameters = puck_parameters,
    .ncoordinate = 3,
    .coordinates = puck_coordinates,
    .is_linear = 1,
    .row_count = pcs_one_row,
    .rows = puck_rows,
    .start = puck_start,
    .length = puck_length,
    .mass = puck_mass,
    .force = puck_force,
    .gaps = puck_gaps,
    .directions = puck_directions,
    .energy = puck_energy,
    .npoint = PCS_OUTLINE_BLOCK,
    .ncell = PCS_OUTLINE_BLOCK_LINES,
    .cells = puck_cells,
    .points = puck_points,
    .contact_points = puck_contact_points,
};
