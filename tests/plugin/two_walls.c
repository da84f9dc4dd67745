// A system of your own: a bead that flies to and fro between two walls, each with its own restitution.
//
//   m x'' = -c x',   gaps x and L - x
//
// Build it against the installed header and name the object in a case:
//
//   cc -shared -fPIC -o two_walls.so two_walls.c $(pkg-config --cflags percuss)
//   percuss run two_walls.yaml

#include <math.h>
#include <percuss_system.h>
#include <stddef.h>

// Parameters are numbers with a default and a range; the case may give them under these names.
enum { MASS, DAMPING, LENGTH, POSITION, VELOCITY, LEFT, RIGHT };

static const percuss_parameter walls_parameters[] = {
    [MASS] = { "mass", "kg", 1.0, PERCUSS_ABOVE_ZERO, INFINITY },
    [DAMPING] = { "damping", "N s/m", 0.0, 0.0, INFINITY },
    [LENGTH] = { "length", "between the walls, m", NAN, PERCUSS_ABOVE_ZERO, INFINITY }, // NAN: the case must give it
    [POSITION] = { "position", "at t = 0, m", 0.5, -INFINITY, INFINITY },
    [VELOCITY] = { "velocity", "at t = 0, m/s", 1.0, -INFINITY, INFINITY },
    [LEFT] = { "left_restitution", "Newton's coefficient e", 1.0, 0.0, 1.0 },
    [RIGHT] = { "right_restitution", "Newton's coefficient e", 1.0, 0.0, 1.0 },
    { NULL, NULL, 0.0, 0.0, 0.0 },
};

static const char *const walls_coordinates[] = { "x" };

// What ranges cannot say. The message comes with the place of the parameter in the case.
static const char *walls_check(const double *p, const char **parameter)
{
    *parameter = "position";
    return p[POSITION] > p[LENGTH] ? "the bead starts behind the right wall" : NULL;
}

static int walls_row_count(const double *p)
{
    (void)p;
    return 2;
}

static void walls_rows(const double *p, percuss_row *row)
{
    row[0] = (percuss_row){ .contact = "left", .restitution = p[LEFT] };
    row[1] = (percuss_row){ .contact = "right", .restitution = p[RIGHT] };
}

static void walls_start(const double *p, double *q, double *v)
{
    q[0] = p[POSITION];
    v[0] = p[VELOCITY];
}

static double walls_length(const double *p)
{
    return p[LENGTH];
}

static void walls_mass(const double *p, const double *q, double *M)
{
    (void)q;
    M[0] = p[MASS];
}

static void walls_force(const double *p, double t, const double *q, const double *v, double *f)
{
    (void)t;
    (void)q;
    f[0] = -p[DAMPING] * v[0];
}

static void walls_gaps(const double *p, const double *q, double *g)
{
    g[0] = q[0];
    g[1] = p[LENGTH] - q[0];
}

static void walls_directions(const double *p, const double *q, double *G, double *T)
{
    (void)p;
    (void)q;
    (void)T;
    G[0] = 1.0;
    G[1] = -1.0;
}

static void walls_energy(const double *p, const double *q, const double *v, double *kinetic, double *potential)
{
    (void)q;
    *kinetic = 0.5 * p[MASS] * v[0] * v[0];
    *potential = 0.0;
}

const percuss_system_definition percuss_system = {
    .abi = PERCUSS_SYSTEM_ABI,
    .name = "two_walls",
    .summary = "a bead between two walls",
    .parameters = walls_parameters,
    .ncoordinate = 1,
    .coordinates = walls_coordinates,
    .is_linear = 1,
    .check = walls_check,
    .row_count = walls_row_count,
    .rows = walls_rows,
    .start = walls_start,
    .length = walls_length,
    .mass = walls_mass,
    .force = walls_force,
    .gaps = walls_gaps,
    .directions = walls_directions,
    .energy = walls_energy,
};
