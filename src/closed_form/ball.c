// A ball falling on a plane: q is the height of its centre.
//
//   m q'' = -m (g + r t^2),   gap = q - R
//
// Bouncing with restitution e under constant gravity, the impacts accumulate at t1 (1 + e)/(1 - e), t1 = sqrt(2 gap_0 /
// g) (Bruls, Acary, Cardona 2014, sec. 10.1). With g = 0 and the ramp r it is the free flight and the rest of
// Schindler, Acary: Timestepping schemes for nonsmooth dynamics based on discontinuous Galerkin methods (2014),
// prob. 4.2, 4.3.

#include "closed_form/outline.h"
#include "percuss_system.h"

#include <math.h>
#include <stddef.h>

enum { MASS, RADIUS, GRAVITY, RAMP, HEIGHT, SPEED, RESTITUTION };

static const percuss_parameter ball_parameters[] = {
    [MASS] = { "mass", "kg", 1.0, PERCUSS_ABOVE_ZERO, INFINITY },
    [RADIUS] = { "radius", "m", 0.2, 0.0, INFINITY },
    [GRAVITY] = { "gravity", "m/s^2, downwards", 10.0, -INFINITY, INFINITY },
    [RAMP] = { "ramp", "m/s^4, an acceleration downwards that grows as ramp t^2", 0.0, -INFINITY, INFINITY },
    [HEIGHT] = { "height", "of the centre at t = 0, m", 1.001, -INFINITY, INFINITY },
    [SPEED] = { "velocity", "at t = 0, upwards, m/s", 0.0, -INFINITY, INFINITY },
    [RESTITUTION] = { "restitution", "Newton's coefficient e", 0.8, 0.0, 1.0 },
    { NULL, NULL, 0.0, 0.0, 0.0 },
};

static const char *const ball_coordinates[] = { "height" };

static void ball_rows(const double *p, percuss_row *row)
{
    row[0] = (percuss_row){ .contact = "floor", .restitution = p[RESTITUTION] };
}

static void ball_start(const double *p, double *q, double *v)
{
    q[0] = p[HEIGHT];
    v[0] = p[SPEED];
}

static double ball_length(const double *p)
{
    double length = fabs(p[HEIGHT]) + p[RADIUS];
    return length > 0.0 ? length : 1.0;
}

static void ball_force(const double *p, double t, const double *q, const double *v, double *f)
{
    f[0] = -p[MASS] * (p[GRAVITY] + p[RAMP] * t * t);
}

static double ball_load_work(const double *p, double t, const double *q0, const double *q1)
{
    return -p[MASS] * p[RAMP] * t * t * (q1[0] - q0[0]);
}

static void ball_gaps(const double *p, const double *q, double *g)
{
    g[0] = q[0] - p[RADIUS];
}

static void ball_energy(const double *p, const double *q, const double *v, double *kinetic, double *potential)
{
    *kinetic = 0.5 * p[MASS] * v[0] * v[0];
    *potential = p[MASS] * p[GRAVITY] * (q[0] - p[RADIUS]);
}

static const int ball_cells[][2] = { PCS_OUTLINE_CIRCLE_CELLS };

// Draws a ball, or a point as a small ball above its contact point.
static void ball_points(const double *p, const double *q, double (*x)[3])
{
    double radius = p[RADIUS] > 0.0 ? p[RADIUS] : pcs_outline_block_size(ball_length(p));
    pcs_outline_circle(0.0, q[0] - p[RADIUS] + radius, radius, 0.0, x);
}

static void ball_contact_points(const double *p, const double *q, double (*position)[3], double (*normal)[3])
{
    pcs_outline_point(&position[0], 0.0, q[0] - p[RADIUS]);
    pcs_outline_point(&normal[0], 0.0, 1.0);
}

const percuss_system_definition pcs_closed_ball = {
    .abi = PERCUSS_SYSTEM_ABI,
    .name = "ball",
    .summary = "a ball falling on a plane",
    .parameters = ball_parameters,
    .ncoordinate = 1,
    .coordinates = ball_coordinates,
    .is_linear = 1,
    .row_count = pcs_one_row,
    .rows = ball_rows,
    .start = ball_start,
    .length = ball_length,
    .mass = pcs_mass_on_line,
    .force = ball_force,
    .gaps = ball_gaps,
    .directions = pcs_direction_on_line,
    .energy = ball_energy,
    .load_work = ball_load_work,
    .npoint = PCS_OUTLINE_CIRCLE,
    .ncell = PCS_OUTLINE_CIRCLE_LINES,
    .cells = ball_cells,
    .points = ball_points,
    .contact_points = ball_contact_points,
};
