// The woodpecker toy with small rotations (Glocker; Leine, van Campen, Glocker 2003), a plug-in: a sleeve M slides with
// play down a pole of radius r0 and carries the woodpecker S by a torsion spring.
//
//   q = (y, M, S),  masses m, inertias J, distances l along the arm to the spring (M) and from there to the bird (S)
//   gaps: beak l_M + l_G - l_S - r0 - h_S S, lower edge r_M - r0 + h_M M, upper edge r_M - r0 - h_M M
//   sliding: y' + l_M M' + (l_G - l_S) S', y' + r_M M' of both edges

#include <math.h>
#include <percuss_system.h>
#include <stddef.h>

enum { FRICTION, BEAK, EDGE, TILT, BIRD_TILT, SPEED, BIRD_SPIN };

static const double r0 = 0.0025, r_M = 0.0031, h_M = 0.0058, l_M = 0.010, l_G = 0.015, h_S = 0.02, l_S = 0.0201;
static const double m_M = 0.0003, m_S = 0.0045, J_M = 5.0e-9, J_S = 7.0e-7, spring = 0.0056, gravity = 9.81;

static const percuss_parameter woodpecker_parameters[] = {
    [FRICTION] = { "friction", "Coulomb's coefficient of all contacts", 0.3, 0.0, INFINITY },
    [BEAK] = { "beak_restitution", "Newton's coefficient e", 0.5, 0.0, 1.0 },
    [EDGE] = { "edge_restitution", "Newton's coefficient e", 0.0, 0.0, 1.0 },
    [TILT] = { "tilt", "of the sleeve at t = 0, rad", -0.1034, -INFINITY, INFINITY },
    [BIRD_TILT] = { "bird_tilt", "of the woodpecker at t = 0, rad", -0.2788, -INFINITY, INFINITY },
    [SPEED] = { "speed", "of the sleeve at t = 0, upwards, m/s", -0.3411, -INFINITY, INFINITY },
    [BIRD_SPIN] = { "bird_spin", "of the woodpecker at t = 0, rad/s", -7.4583, -INFINITY, INFINITY },
    { NULL, NULL, 0.0, 0.0, 0.0 },
};

static const char *const woodpecker_coordinates[] = { "y", "sleeve", "bird" };

static int woodpecker_row_count(const double *p)
{
    (void)p;
    return 3;
}

static void woodpecker_rows(const double *p, percuss_row *row)
{
    row[0] = (percuss_row){ .contact = "beak", .restitution = p[BEAK], .friction = p[FRICTION], .ntangent = 1 };
    row[1] = (percuss_row){ .contact = "lower", .restitution = p[EDGE], .friction = p[FRICTION], .ntangent = 1 };
    row[2] = (percuss_row){ .contact = "upper", .restitution = p[EDGE], .friction = p[FRICTION], .ntangent = 1 };
}

static void woodpecker_start(const double *p, double *q, double *v)
{
    q[0] = 0.0;
    q[1] = p[TILT];
    q[2] = p[BIRD_TILT];
    v[0] = p[SPEED];
    v[1] = 0.0;
    v[2] = p[BIRD_SPIN];
}

static double woodpecker_length(const double *p)
{
    (void)p;
    return l_M + l_G;
}

static void woodpecker_mass(const double *p, const double *q, double *M)
{
    (void)p;
    (void)q;
    M[0] = m_M + m_S;
    M[1] = M[3] = m_S * l_M;
    M[2] = M[6] = m_S * l_G;
    M[4] = J_M + m_S * l_M * l_M;
    M[5] = M[7] = m_S * l_M * l_G;
    M[8] = J_S + m_S * l_G * l_G;
}

static void woodpecker_force(const double *p, double t, const double *q, const double *v, double *f)
{
    (void)p;
    (void)t;
    (void)v;
    double moment = spring * (q[1] - q[2]);
    f[0] = -(m_M + m_S) * gravity;
    f[1] = -m_S * gravity * l_M - moment;
    f[2] = -m_S * gravity * l_G + moment;
}

static void woodpecker_gaps(const double *p, const double *q, double *g)
{
    (void)p;
    g[0] = l_M + l_G - l_S - r0 - h_S * q[2];
    g[1] = r_M - r0 + h_M * q[1];
    g[2] = r_M - r0 - h_M * q[1];
}

static void woodpecker_directions(const double *p, const double *q, double *G, double *T)
{
    (void)p;
    (void)q;
    for (int i = 0; i < 9; i++) G[i] = 0.0;
    G[2] = -h_S;
    G[4] = h_M;
    G[7] = -h_M;
    T[0] = T[3] = T[6] = 1.0;
    T[1] = l_M;
    T[2] = l_G - l_S;
    T[4] = T[7] = r_M;
    T[5] = T[8] = 0.0;
}

static void woodpecker_energy(const double *p, const double *q, const double *v, double *kinetic, double *potential)
{
    double M[9], twist = q[1] - q[2];
    woodpecker_mass(p, q, M);
    *kinetic = 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) *kinetic += 0.5 * v[i] * M[3 * i + j] * v[j];
    *potential = gravity * ((m_M + m_S) * q[0] + m_S * (l_M * q[1] + l_G * q[2])) + 0.5 * spring * twist * twist;
}

const percuss_system_definition percuss_system = {
    .abi = PERCUSS_SYSTEM_ABI,
    .name = "woodpecker",
    .summary = "a woodpecker that hops down a pole",
    .parameters = woodpecker_parameters,
    .ncoordinate = 3,
    .coordinates = woodpecker_coordinates,
    .is_linear = 1,
    .has_constant_mass = 1,
    .has_constant_directions = 1,
    .row_count = woodpecker_row_count,
    .rows = woodpecker_rows,
    .start = woodpecker_start,
    .length = woodpecker_length,
    .mass = woodpecker_mass,
    .force = woodpecker_force,
    .gaps = woodpecker_gaps,
    .directions = woodpecker_directions,
    .energy = woodpecker_energy,
};
