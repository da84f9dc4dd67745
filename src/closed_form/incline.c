// A block on an incline with Coulomb friction: q = (s, n), along the slope (downhill) and off it; the block is a point.
//
//   m q'' = m g (sin a, -cos a),   gap = n,   tangent = s
//
// Started with v0 downhill and mu > tan a it stops after v0 / (g (mu cos a - sin a)) and must stay where it is.

#include "closed_form/outline.h"
#include "percuss_system.h"

#include <math.h>
#include <stddef.h>

enum {
    MASS,
    GRAVITY,
    SLOPE_DEGREES,
    FRICTION,
    RESTITUTION,
    TANGENT_RESTITUTION,
    POSITION,
    HEIGHT,
    VELOCITY,
    NORMAL_VELOCITY
};

static const percuss_parameter incline_parameters[] = {
    [MASS] = { "mass", "kg", 1.0, PERCUSS_ABOVE_ZERO, INFINITY },
    [GRAVITY] = { "gravity", "m/s^2", 9.81, 0.0, INFINITY },
    [SLOPE_DEGREES] = { "slope_degrees", "of the incline", 20.0, -90.0, 90.0 },
    [FRICTION] = { "friction", "Coulomb's coefficient", 0.5, 0.0, INFINITY },
    [RESTITUTION] = { "restitution", "Newton's coefficient e", 0.0, 0.0, 1.0 },
    [TANGENT_RESTITUTION] = { "tangent_restitution", "of the tangential velocity", 0.0, 0.0, 1.0 },
    [POSITION] = { "position", "along the slope at t = 0, m", 0.0, -INFINITY, INFINITY },
    [HEIGHT] = { "height", "off the slope at t = 0, m", 0.0, -INFINITY, INFINITY },
    [VELOCITY] = { "velocity", "downhill at t = 0, m/s", 2.0, -INFINITY, INFINITY },
    [NORMAL_VELOCITY] = { "normal_velocity", "off the slope at t = 0, m/s", 0.0, -INFINITY, INFINITY },
    { NULL, NULL, 0.0, 0.0, 0.0 },
};

static const char *const incline_coordinates[] = { "s", "n" };

static void incline_rows(const double *p, percuss_row *row)
{
    row[0] = (percuss_row){ .contact = "slope",
                            .restitution = p[RESTITUTION],
                            .tangent_restitution = p[TANGENT_RESTITUTION],
                            .friction = p[FRICTION],
                            .ntangent = 1 };
}

static void incline_start(const double *p, double *q, double *v)
{
    q[0] = p[POSITION];
    q[1] = p[HEIGHT];
    v[0] = p[VELOCITY];
    v[1] = p[NORMAL_VELOCITY];
}

static double incline_length(const double *p)
{
    return 1.0 + fabs(p[POSITION]) + fabs(p[HEIGHT]);
}

static void incline_force(const double *p, double t, const double *q, const double *v, double *f)
{
    double s, c;
    pcs_split_degrees(p[SLOPE_DEGREES], &s, &c);
    f[0] = p[MASS] * p[GRAVITY] * s;
    f[1] = -p[MASS] * p[GRAVITY] * c;
}

static void incline_energy(const double *p, const double *q, const double *v, double *kinetic, double *potential)
{
    double s, c;
    pcs_split_degrees(p[SLOPE_DEGREES], &s, &c);
    *kinetic = 0.5 * p[MASS] * (v[0] * v[0] + v[1] * v[1]);
    *potential = p[MASS] * p[GRAVITY] * (c * q[1] - s * q[0]);
}

static const int incline_cells[][2] = { PCS_OUTLINE_BLOCK_CELLS };

// Draws the block, and the slope from its start.
static void incline_points(const double *p, const double *q, double (*x)[3])
{
    double s, c;
    pcs_split_degrees(p[SLOPE_DEGREES], &s, &c);
    pcs_outline_block(c * q[0] + s * q[1], -s * q[0] + c * q[1], incline_length(p), atan2(-s, c), x);
    pcs_outline_point(&x[5], c * p[POSITION], -s * p[POSITION]);
}

static void incline_contact_points(const double *p, const double *q, double (*position)[3], double (*normal)[3])
{
    double s, c;
    pcs_split_degrees(p[SLOPE_DEGREES], &s, &c);
    pcs_outline_point(&position[0], c * q[0] + s * q[1], -s * q[0] + c * q[1]);
    pcs_outline_point(&normal[0], s, c);
}

const percuss_system_definition pcs_closed_incline = {
    .abi = PERCUSS_SYSTEM_ABI,
    .name = "incline",
    .summary = "a block sliding on an incline with friction",
    .parameters = incline_parameters,
    .ncoordinate = 2,
    .coordinates = incline_coordinates,
    .is_linear = 1,
    .row_count = pcs_one_row,
    .rows = incline_rows,
    .start = incline_start,
    .length = incline_length,
    .mass = pcs_mass_in_plane,
    .force = incline_force,
    .gaps = pcs_gap_on_floor,
    .directions = pcs_directions_on_floor,
    .energy = incline_energy,
    .npoint = PCS_OUTLINE_BLOCK,
    .ncell = PCS_OUTLINE_BLOCK_LINES,
    .cells = incline_cells,
    .points = incline_points,
    .contact_points = incline_contact_points,
};
