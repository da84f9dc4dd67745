// One mass on a spring against a rigid stop: q is its position, the spring is slack at q = 0.
//
//   m q'' = -k q,   gap = q - stop
//
// With the stop at 0 and k = 4 pi^2 m the motion is known: released at q0, the mass hits at 1/4 s and then every 1/2 s,
// and each arc is e times as high as the one before (Acary, lectures on nonsmooth dynamical systems).

#include "closed_form/outline.h"
#include "percuss_system.h"

#include <math.h>
#include <stddef.h>

enum { MASS, STIFFNESS, STOP, POSITION, SPEED, RESTITUTION };

static const percuss_parameter impacting_parameters[] = {
    [MASS] = { "mass", "kg", 1.0, PERCUSS_ABOVE_ZERO, INFINITY },
    [STIFFNESS] = { "stiffness", "N/m", 39.47841760435743, 0.0, INFINITY },
    [STOP] = { "stop", "position of the stop, m", 0.0, -INFINITY, INFINITY },
    [POSITION] = { "position", "at t = 0, m", 1.0, -INFINITY, INFINITY },
    [SPEED] = { "velocity", "at t = 0, m/s", 0.0, -INFINITY, INFINITY },
    [RESTITUTION] = { "restitution", "Newton's coefficient e", 0.5, 0.0, 1.0 },
    { NULL, NULL, 0.0, 0.0, 0.0 },
};

static const char *const impacting_coordinates[] = { "position" };

static void impacting_rows(const double *p, percuss_row *row)
{
    row[0] = (percuss_row){ .contact = "stop", .restitution = p[RESTITUTION] };
}

static void impacting_start(const double *p, double *q, double *v)
{
    q[0] = p[POSITION];
    v[0] = p[SPEED];
}

static double impacting_length(const double *p)
{
    double length = fmax(fabs(p[POSITION]), fabs(p[STOP]));
    return length > 0.0 ? length : 1.0;
}

static void impacting_force(const double *p, double t, const double *q, const double *v, double *f)
{
    f[0] = -p[STIFFNESS] * q[0];
}

static void impacting_gaps(const double *p, const double *q, double *g)
{
    g[0] = q[0] - p[STOP];
}

static void impacting_energy(const double *p, const double *q, const double *v, double *kinetic, double *potential)
{
    *kinetic = 0.5 * p[MASS] * v[0] * v[0];
    *potential = 0.5 * p[STIFFNESS] * q[0] * q[0];
}

static const int impacting_cells[][2] = { PCS_OUTLINE_BLOCK_CELLS };

static void impacting_points(const double *p, const double *q, double (*x)[3])
{
    const double upright = -1.5707963267948966;
    pcs_outline_block(q[0], 0.0, impacting_length(p), upright, x);
    pcs_outline_point(&x[5], p[STOP], 0.0);
}

static void impacting_contact_points(const double *p, const double *q, double (*position)[3], double (*normal)[3])
{
    pcs_outline_point(&position[0], q[0], 0.0);
    pcs_outline_point(&normal[0], 1.0, 0.0);
}

const percuss_system_definition pcs_closed_impacting_oscillator = {
    .abi = PERCUSS_SYSTEM_ABI,
    .name = "impacting_oscillator",
    .summary = "a mass on a spring against a rigid stop",
    .parameters = impacting_parameters,
    .ncoordinate = 1,
    .coordinates = impacting_coordinates,
    .is_linear = 1,
    .row_count = pcs_one_row,
    .rows = impacting_rows,
    .start = impacting_start,
    .length = impacting_length,
    .mass = pcs_mass_on_line,
    .force = impacting_force,
    .gaps = impacting_gaps,
    .directions = pcs_direction_on_line,
    .energy = impacting_energy,
    .npoint = PCS_OUTLINE_BLOCK,
    .ncell = PCS_OUTLINE_BLOCK_LINES,
    .cells = impacting_cells,
    .points = impacting_points,
    .contact_points = impacting_contact_points,
};
