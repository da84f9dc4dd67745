// A ball in a planar box under gravity that may be tilted: q = (x, y) of its centre, no friction.
//
//   m q'' = -m g (cos a, sin a),   gaps x - R, y - R, A - R - x, B - R - y
//
// Schindler, Rezaei, Kursawe, Acary: Half-explicit timestepping schemes on velocity level (2015), sec. 5.2.

#include "closed_form/outline.h"
#include "percuss_system.h"

#include <math.h>
#include <stddef.h>

enum { MASS, RADIUS, WIDTH, HEIGHT, GRAVITY, GRAVITY_DEGREES, X, Y, VX, VY, RESTITUTION };

static const percuss_parameter box_parameters[] = {
    [MASS] = { "mass", "kg", 1.0, PERCUSS_ABOVE_ZERO, INFINITY },
    [RADIUS] = { "radius", "m", 1.0, 0.0, INFINITY },
    [WIDTH] = { "width", "of the box, m", 4.0, PERCUSS_ABOVE_ZERO, INFINITY },
    [HEIGHT] = { "height", "of the box, m", 4.0, PERCUSS_ABOVE_ZERO, INFINITY },
    [GRAVITY] = { "gravity", "m/s^2", 9.81, 0.0, INFINITY },
    [GRAVITY_DEGREES] = { "gravity_degrees", "gravity pulls along -(cos, sin) of this angle; 90: straight down", 30.0,
                          -360.0, 360.0 },
    [X] = { "x", "of the centre at t = 0, m", 2.0, -INFINITY, INFINITY },
    [Y] = { "y", "of the centre at t = 0, m", 2.0, -INFINITY, INFINITY },
    [VX] = { "vx", "at t = 0, m/s", 0.0, -INFINITY, INFINITY },
    [VY] = { "vy", "at t = 0, m/s", 0.0, -INFINITY, INFINITY },
    [RESTITUTION] = { "restitution", "Newton's coefficient e of all walls", 0.3, 0.0, 1.0 },
    { NULL, NULL, 0.0, 0.0, 0.0 },
};

static const char *const box_coordinates[] = { "x", "y" };

static const char *box_check(const double *p, const char **parameter)
{
    *parameter = "radius";
    return 2.0 * p[RADIUS] > fmin(p[WIDTH], p[HEIGHT]) ? "the ball does not fit into the box: radius must be at most "
                                                         "half of width and of height"
                                                       : NULL;
}

static int box_row_count(const double *p)
{
    return 4;
}

static void box_rows(const double *p, percuss_row *row)
{
    static const char *const names[] = { "left", "floor", "right", "ceiling" };
    for (int j = 0; j < 4; j++) row[j] = (percuss_row){ .contact = names[j], .restitution = p[RESTITUTION] };
}

static void box_start(const double *p, double *q, double *v)
{
    q[0] = p[X];
    q[1] = p[Y];
    v[0] = p[VX];
    v[1] = p[VY];
}

static double box_length(const double *p)
{
    return fmax(p[WIDTH], p[HEIGHT]);
}

static void box_force(const double *p, double t, const double *q, const double *v, double *f)
{
    pcs_split_degrees(p[GRAVITY_DEGREES], &f[1], &f[0]);
    f[0] *= -p[MASS] * p[GRAVITY];
    f[1] *= -p[MASS] * p[GRAVITY];
}

static void box_gaps(const double *p, const double *q, double *g)
{
    g[0] = q[0] - p[RADIUS];
    g[1] = q[1] - p[RADIUS];
    g[2] = p[WIDTH] - p[RADIUS] - q[0];
    g[3] = p[HEIGHT] - p[RADIUS] - q[1];
}

static const double box_normals[4][2] = { { 1.0, 0.0 }, { 0.0, 1.0 }, { -1.0, 0.0 }, { 0.0, -1.0 } };

static void box_directions(const double *p, const double *q, double *G, double *T)
{
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 2; i++) G[2 * j + i] = box_normals[j][i];
}

static void box_energy(const double *p, const double *q, const double *v, double *kinetic, double *potential)
{
    double x, y;
    pcs_split_degrees(p[GRAVITY_DEGREES], &y, &x);
    *kinetic = 0.5 * p[MASS] * (v[0] * v[0] + v[1] * v[1]);
    *potential = p[MASS] * p[GRAVITY] * (x * q[0] + y * q[1]);
}

enum { FIRST_WALL = PCS_OUTLINE_CIRCLE };
static const int box_cells[][2] = { PCS_OUTLINE_CIRCLE_CELLS,
                                    { FIRST_WALL, FIRST_WALL + 1 },
                                    { FIRST_WALL + 1, FIRST_WALL + 2 },
                                    { FIRST_WALL + 2, FIRST_WALL + 3 },
                                    { FIRST_WALL + 3, FIRST_WALL } };

static void box_points(const double *p, const double *q, double (*x)[3])
{
    pcs_outline_circle(q[0], q[1], p[RADIUS], 0.0, x);
    pcs_outline_rectangle(0.5 * p[WIDTH], 0.5 * p[HEIGHT], 0.5 * p[WIDTH], 0.5 * p[HEIGHT], 0.0, &x[FIRST_WALL]);
}

static void box_contact_points(const double *p, const double *q, double (*position)[3], double (*normal)[3])
{
    for (int j = 0; j < 4; j++) {
        pcs_outline_point(&position[j], q[0] - p[RADIUS] * box_normals[j][0], q[1] - p[RADIUS] * box_normals[j][1]);
        pcs_outline_point(&normal[j], box_normals[j][0], box_normals[j][1]);
    }
}

const percuss_system_definition pcs_closed_ball_in_box = {
    .abi = PERCUSS_SYSTEM_ABI,
    .name = "ball_in_box",
    .summary = "a ball in a box with four walls, gravity tilted",
    .parameters = box_parameters,
    .ncoordinate = 2,
    .coordinates = box_coordinates,
    .is_linear = 1,
    .check = box_check,
    .row_count = box_row_count,
    .rows = box_rows,
    .start = box_start,
    .length = box_length,
    .mass = pcs_mass_in_plane,
    .force = box_force,
    .gaps = box_gaps,
    .directions = box_directions,
    .energy = box_energy,
    .npoint = PCS_OUTLINE_CIRCLE + 4,
    .ncell = PCS_OUTLINE_CIRCLE_LINES + 4,
    .cells = box_cells,
    .points = box_points,
    .contact_points = box_contact_points,
};
