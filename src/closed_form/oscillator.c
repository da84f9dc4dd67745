// Two masses on a spring, falling upright on a plane: q = heights of the lower and of the upper centre.
//
//   m1 q1'' = -m1 g + k (q2 - q1 - l),   m2 q2'' = -m2 g - k (q2 - q1 - l),   gap = q1 - R
//
// Chen, Acary, Virlez, Bruls: A nonsmooth generalized-alpha scheme for flexible multibody systems with unilateral
// constraints (2013), sec. 5.2; other values make the two-ball oscillator of Acary's lectures.

#include "closed_form/outline.h"
#include "percuss_system.h"

#include <math.h>
#include <stddef.h>

enum {
    LOWER_MASS,
    UPPER_MASS,
    STIFFNESS,
    REST_LENGTH,
    RADIUS,
    GRAVITY,
    HEIGHT,
    STRETCH,
    LOWER_SPEED,
    UPPER_SPEED,
    RESTITUTION
};

static const percuss_parameter oscillator_parameters[] = {
    [LOWER_MASS] = { "lower_mass", "kg", 1.0, PERCUSS_ABOVE_ZERO, INFINITY },
    [UPPER_MASS] = { "upper_mass", "kg", 1.0, PERCUSS_ABOVE_ZERO, INFINITY },
    [STIFFNESS] = { "stiffness", "of the spring, N/m", 1e4, 0.0, INFINITY },
    [REST_LENGTH] = { "rest_length", "distance of the centres where the spring is slack, m", 1.0, 0.0, INFINITY },
    [RADIUS] = { "radius", "of the lower mass, m", 0.2, 0.0, INFINITY },
    [GRAVITY] = { "gravity", "m/s^2, downwards", 10.0, -INFINITY, INFINITY },
    [HEIGHT] = { "height", "of the lower centre at t = 0, m", 1.001, -INFINITY, INFINITY },
    [STRETCH] = { "stretch", "of the spring at t = 0, m", 0.0, -INFINITY, INFINITY },
    [LOWER_SPEED] = { "lower_velocity", "at t = 0, upwards, m/s", 0.0, -INFINITY, INFINITY },
    [UPPER_SPEED] = { "upper_velocity", "at t = 0, upwards, m/s", 0.0, -INFINITY, INFINITY },
    [RESTITUTION] = { "restitution", "Newton's coefficient e", 0.8, 0.0, 1.0 },
    { NULL, NULL, 0.0, 0.0, 0.0 },
};

static const char *const oscillator_coordinates[] = { "lower", "upper" };

static void oscillator_rows(const double *p, percuss_row *row)
{
    row[0] = (percuss_row){ .contact = "floor", .restitution = p[RESTITUTION] };
}

static void oscillator_start(const double *p, double *q, double *v)
{
    q[0] = p[HEIGHT];
    q[1] = p[HEIGHT] + p[REST_LENGTH] + p[STRETCH];
    v[0] = p[LOWER_SPEED];
    v[1] = p[UPPER_SPEED];
}

static double oscillator_length(const double *p)
{
    double length = fabs(p[HEIGHT]) + p[REST_LENGTH];
    return length > 0.0 ? length : 1.0;
}

static void oscillator_mass(const double *p, const double *q, double *M)
{
    M[0] = p[LOWER_MASS];
    M[3] = p[UPPER_MASS];
    M[1] = M[2] = 0.0;
}

static void oscillator_force(const double *p, double t, const double *q, const double *v, double *f)
{
    double spring = p[STIFFNESS] * (q[1] - q[0] - p[REST_LENGTH]);
    f[0] = -p[LOWER_MASS] * p[GRAVITY] + spring;
    f[1] = -p[UPPER_MASS] * p[GRAVITY] - spring;
}

static void oscillator_gaps(const double *p, const double *q, double *g)
{
    g[0] = q[0] - p[RADIUS];
}

static void oscillator_directions(const double *p, const double *q, double *G, double *T)
{
    G[0] = 1.0;
    G[1] = 0.0;
}

// Computes the energies, J. Gravity's part is zero if the lower centre is at height 0 and the spring is slack; the
// spring's energy is part of the potential.
static void oscillator_energy(const double *p, const double *q, const double *v, double *kinetic, double *potential)
{
    double stretch = q[1] - q[0] - p[REST_LENGTH];
    *kinetic = 0.5 * (p[LOWER_MASS] * v[0] * v[0] + p[UPPER_MASS] * v[1] * v[1]);
    *potential = p[GRAVITY] * (p[LOWER_MASS] * q[0] + p[UPPER_MASS] * (q[1] - p[REST_LENGTH])) +
                 0.5 * p[STIFFNESS] * stretch * stretch;
}

// The lower mass as a circle, the spring as a line, the upper mass as a square of the same width.
enum { UPPER_POINT = PCS_OUTLINE_CIRCLE, CORNER, POINTS = CORNER + 4, LINES = PCS_OUTLINE_CIRCLE_LINES + 5 };
static const int oscillator_cells[LINES][2] = { PCS_OUTLINE_CIRCLE_CELLS,   { UPPER_POINT - 1, UPPER_POINT },
                                                { CORNER, CORNER + 1 },     { CORNER + 1, CORNER + 2 },
                                                { CORNER + 2, CORNER + 3 }, { CORNER + 3, CORNER } };

static void oscillator_points(const double *p, const double *q, double (*x)[3])
{
    pcs_outline_circle(0.0, q[0], p[RADIUS], 0.0, x);
    pcs_outline_point(&x[UPPER_POINT], 0.0, q[1]);
    pcs_outline_rectangle(0.0, q[1], p[RADIUS], p[RADIUS], 0.0, &x[CORNER]);
}

static void oscillator_contact_points(const double *p, const double *q, double (*position)[3], double (*normal)[3])
{
    pcs_outline_point(&position[0], 0.0, q[0] - p[RADIUS]);
    pcs_outline_point(&normal[0], 0.0, 1.0);
}

const percuss_system_definition pcs_closed_oscillator = {
    .abi = PERCUSS_SYSTEM_ABI,
    .name = "oscillator",
    .summary = "two masses on a spring, the lower one bounces on a plane",
    .parameters = oscillator_parameters,
    .ncoordinate = 2,
    .coordinates = oscillator_coordinates,
    .is_linear = 1,
    .row_count = pcs_one_row,
    .rows = oscillator_rows,
    .start = oscillator_start,
    .length = oscillator_length,
    .mass = oscillator_mass,
    .force = oscillator_force,
    .gaps = oscillator_gaps,
    .directions = oscillator_directions,
    .energy = oscillator_energy,
    .npoint = POINTS,
    .ncell = LINES,
    .cells = oscillator_cells,
    .points = oscillator_points,
    .contact_points = oscillator_contact_points,
};
