// A spinning ball hits a rough plane: q = (x, y, theta) of its centre, counter-clockwise.
//
//   M = diag(m, m, J),   f = (0, -m g, 0),   gap = y - R,   tangential velocity x' + R theta'
//
// Impact with v_y = -u and slip w:  P_N = m (1 + e) u,  P_T = -(1 + e_T) w / (1/m + R^2/J) while that is below mu P_N
// (the contact sticks), else -mu P_N w/|w|.

#include "closed_form/outline.h"
#include "percuss_system.h"

#include <math.h>
#include <stddef.h>

enum { MASS, INERTIA, RADIUS, GRAVITY, RESTITUTION, TANGENT_RESTITUTION, FRICTION, X, HEIGHT, VX, VY, SPIN };

static const percuss_parameter spin_parameters[] = {
    [MASS] = { "mass", "kg", 1.0, PERCUSS_ABOVE_ZERO, INFINITY },
    [INERTIA] = { "inertia", "about the centre, kg m^2", 0.016, PERCUSS_ABOVE_ZERO, INFINITY },
    [RADIUS] = { "radius", "m", 0.2, PERCUSS_ABOVE_ZERO, INFINITY },
    [GRAVITY] = { "gravity", "m/s^2, along -y", 0.0, -INFINITY, INFINITY },
    [RESTITUTION] = { "restitution", "Newton's coefficient e", 0.8, 0.0, 1.0 },
    [TANGENT_RESTITUTION] = { "tangent_restitution", "of the tangential velocity", 0.0, 0.0, 1.0 },
    [FRICTION] = { "friction", "Coulomb's coefficient", 0.3, 0.0, INFINITY },
    [X] = { "x", "of the centre at t = 0, m", 0.0, -INFINITY, INFINITY },
    [HEIGHT] = { "height", "of the centre at t = 0, m", 1.2, -INFINITY, INFINITY },
    [VX] = { "vx", "at t = 0, m/s", 1.0, -INFINITY, INFINITY },
    [VY] = { "vy", "at t = 0, m/s", -2.0, -INFINITY, INFINITY },
    [SPIN] = { "spin", "at t = 0, counter-clockwise, rad/s", 0.0, -INFINITY, INFINITY },
    { NULL, NULL, 0.0, 0.0, 0.0 },
};

static const char *const spin_coordinates[] = { "x", "y", "theta" };

static void spin_rows(const double *p, percuss_row *row)
{
    row[0] = (percuss_row){ .contact = "floor",
                            .restitution = p[RESTITUTION],
                            .tangent_restitution = p[TANGENT_RESTITUTION],
                            .friction = p[FRICTION],
                            .ntangent = 1 };
}

static void spin_start(const double *p, double *q, double *v)
{
    q[0] = p[X];
    q[1] = p[HEIGHT];
    q[2] = 0.0;
    v[0] = p[VX];
    v[1] = p[VY];
    v[2] = p[SPIN];
}

static double spin_length(const double *p)
{
    return fabs(p[HEIGHT]) + p[RADIUS];
}

static void spin_mass(const double *p, const double *q, double *M)
{
    for (int k = 0; k < 9; k++) M[k] = 0.0;
    M[0] = M[4] = p[MASS];
    M[8] = p[INERTIA];
}

static void spin_force(const double *p, double t, const double *q, const double *v, double *f)
{
    f[0] = f[2] = 0.0;
    f[1] = -p[MASS] * p[GRAVITY];
}

static void spin_gaps(const double *p, const double *q, double *g)
{
    g[0] = q[1] - p[RADIUS];
}

static void spin_directions(const double *p, const double *q, double *G, double *T)
{
    G[0] = G[2] = T[1] = 0.0;
    G[1] = T[0] = 1.0;
    T[2] = p[RADIUS];
}

static void spin_energy(const double *p, const double *q, const double *v, double *kinetic, double *potential)
{
    *kinetic = 0.5 * (p[MASS] * (v[0] * v[0] + v[1] * v[1]) + p[INERTIA] * v[2] * v[2]);
    *potential = p[MASS] * p[GRAVITY] * (q[1] - p[RADIUS]);
}

static const int spin_cells[][2] = { PCS_OUTLINE_CIRCLE_CELLS };

static void spin_points(const double *p, const double *q, double (*x)[3])
{
    pcs_outline_circle(q[0], q[1], p[RADIUS], q[2], x);
}

static void spin_contact_points(const double *p, const double *q, double (*position)[3], double (*normal)[3])
{
    pcs_outline_point(&position[0], q[0], q[1] - p[RADIUS]);
    pcs_outline_point(&normal[0], 0.0, 1.0);
}

const percuss_system_definition pcs_closed_spinning_ball = {
    .abi = PERCUSS_SYSTEM_ABI,
    .name = "spinning_ball",
    .summary = "a spinning ball hits a rough plane",
    .parameters = spin_parameters,
    .ncoordinate = 3,
    .coordinates = spin_coordinates,
    .is_linear = 1,
    .row_count = pcs_one_row,
    .rows = spin_rows,
    .start = spin_start,
    .length = spin_length,
    .mass = spin_mass,
    .force = spin_force,
    .gaps = spin_gaps,
    .directions = spin_directions,
    .energy = spin_energy,
    .npoint = PCS_OUTLINE_CIRCLE,
    .ncell = PCS_OUTLINE_CIRCLE_LINES,
    .cells = spin_cells,
    .points = spin_points,
    .contact_points = spin_contact_points,
};
