// A block on a rough floor, pushed to and fro: q = (x, y), the block is a point.
//
//   m x'' = A sin(2 pi F t) + friction,   m y'' = -m g,   gap = y,   tangent = x
//
// It sticks while the push is below mu m g, slides with mu m g against the motion, and sticks again.

#include "closed_form/outline.h"
#include "percuss_system.h"

#include <math.h>
#include <stddef.h>

enum { MASS, GRAVITY, AMPLITUDE, FREQUENCY, FRICTION, RESTITUTION, POSITION, VELOCITY };

static const percuss_parameter slip_parameters[] = {
    [MASS] = { "mass", "kg", 1.0, PERCUSS_ABOVE_ZERO, INFINITY },
    [GRAVITY] = { "gravity", "m/s^2, along -y", 10.0, -INFINITY, INFINITY },
    [AMPLITUDE] = { "amplitude", "of the push, N", 5.0, -INFINITY, INFINITY },
    [FREQUENCY] = { "frequency", "of the push, Hz", 1.0, 0.0, INFINITY },
    [FRICTION] = { "friction", "Coulomb's coefficient", 0.3, 0.0, INFINITY },
    [RESTITUTION] = { "restitution", "Newton's coefficient e", 0.0, 0.0, 1.0 },
    [POSITION] = { "position", "x at t = 0, m", 0.0, -INFINITY, INFINITY },
    [VELOCITY] = { "velocity", "of x at t = 0, m/s", 0.0, -INFINITY, INFINITY },
    { NULL, NULL, 0.0, 0.0, 0.0 },
};

static const char *const slip_coordinates[] = { "x", "y" };

static void slip_rows(const double *p, percuss_row *row)
{
    row[0] = (percuss_row){ .contact = "floor", .restitution = p[RESTITUTION], .friction = p[FRICTION], .ntangent = 1 };
}

static void slip_start(const double *p, double *q, double *v)
{
    q[0] = p[POSITION];
    v[0] = p[VELOCITY];
    q[1] = v[1] = 0.0;
}

static double slip_length(const double *p)
{
    return 1.0 + fabs(p[POSITION]);
}

static double slip_push(const double *p, double t)
{
    return p[AMPLITUDE] * sin(6.283185307179586 * p[FREQUENCY] * t);
}

static void slip_force(const double *p, double t, const double *q, const double *v, double *f)
{
    f[0] = slip_push(p, t);
    f[1] = -p[MASS] * p[GRAVITY];
}

static double slip_load_work(const double *p, double t, const double *q0, const double *q1)
{
    return slip_push(p, t) * (q1[0] - q0[0]);
}

static void slip_energy(const double *p, const double *q, const double *v, double *kinetic, double *potential)
{
    *kinetic = 0.5 * p[MASS] * (v[0] * v[0] + v[1] * v[1]);
    *potential = p[MASS] * p[GRAVITY] * q[1];
}

static const int slip_cells[][2] = { PCS_OUTLINE_BLOCK_CELLS };

static void slip_points(const double *p, const double *q, double (*x)[3])
{
    pcs_outline_block(q[0], q[1], slip_length(p), 0.0, x);
    pcs_outline_point(&x[5], p[POSITION], 0.0);
}

static void slip_contact_points(const double *p, const double *q, double (*position)[3], double (*normal)[3])
{
    pcs_outline_point(&position[0], q[0], q[1]);
    pcs_outline_point(&normal[0], 0.0, 1.0);
}

const percuss_system_definition pcs_closed_stick_slip = {
    .abi = PERCUSS_SYSTEM_ABI,
    .name = "stick_slip",
    .summary = "a block on a rough floor, pushed by a sine",
    .parameters = slip_parameters,
    .ncoordinate = 2,
    .coordinates = slip_coordinates,
    .is_linear = 1,
    .row_count = pcs_one_row,
    .rows = slip_rows,
    .start = slip_start,
    .length = slip_length,
    .mass = pcs_mass_in_plane,
    .force = slip_force,
    .gaps = pcs_gap_on_floor,
    .directions = pcs_directions_on_floor,
    .energy = slip_energy,
    .load_work = slip_load_work,
    .npoint = PCS_OUTLINE_BLOCK,
    .ncell = PCS_OUTLINE_BLOCK_LINES,
    .cells = slip_cells,
    .points = slip_points,
    .contact_points = slip_contact_points,
};
