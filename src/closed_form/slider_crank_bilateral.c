// Slider-crank mechanism without clearance: q = (theta1, theta2), the slider's pin stays on the x axis.
//
//   l1 sin th1 + l2 sin th2 = 0 (bilateral);   motion of crank and rod: slider_crank.h
//
// Schoeder, Ulbrich, Schindler (2014), sec. 2.1: the drift-off of constraints at velocity level.

#include "closed_form/outline.h"
#include "closed_form/slider_crank.h"

#include <stddef.h>

static const percuss_parameter joint_parameters[] = {
    PCS_CRANK_PARAMETERS,
    { NULL, NULL, 0.0, 0.0, 0.0 },
};

static const char *const joint_coordinates[] = { "theta1", "theta2" };

static int joint_row_count(const double *p)
{
    (void)p;
    return 1;
}

static void joint_rows(const double *p, percuss_row *row)
{
    (void)p;
    row[0] = (percuss_row){ .contact = "guide", .is_bilateral = 1 };
}

static void joint_start(const double *p, double *q, double *v)
{
    q[0] = p[THETA1];
    q[1] = p[THETA2];
    v[0] = p[OMEGA1];
    v[1] = p[OMEGA2];
}

static double joint_length(const double *p)
{
    return p[L1] + p[L2];
}

static void joint_mass(const double *p, const double *q, double *M)
{
    crank_mass(p, q, &M[0], &M[1], &M[3]);
    M[2] = M[1];
}

static void joint_force(const double *p, double t, const double *q, const double *v, double *f)
{
    (void)t;
    crank_force(p, q, v, f);
}

static void joint_gaps(const double *p, const double *q, double *g)
{
    g[0] = p[L1] * sin(q[0]) + p[L2] * sin(q[1]);
}

static void joint_directions(const double *p, const double *q, double *G, double *T)
{
    (void)T;
    G[0] = p[L1] * cos(q[0]);
    G[1] = p[L2] * cos(q[1]);
}

static void joint_rate_bias(const double *p, const double *q, const double *v, double *bias)
{
    bias[0] = -p[L1] * sin(q[0]) * v[0] * v[0] - p[L2] * sin(q[1]) * v[1] * v[1];
}

static void joint_energy(const double *p, const double *q, const double *v, double *kinetic, double *potential)
{
    *kinetic = crank_kinetic(p, q, v);
    *potential = crank_potential(p, q);
}

static const int joint_cells[][2] = { { 0, 1 }, { 1, 2 } };

static void joint_points(const double *p, const double *q, double (*x)[3])
{
    double pin_x = p[L1] * cos(q[0]), pin_y = p[L1] * sin(q[0]);
    pcs_outline_point(&x[0], 0.0, 0.0);
    pcs_outline_point(&x[1], pin_x, pin_y);
    pcs_outline_point(&x[2], pin_x + p[L2] * cos(q[1]), pin_y + p[L2] * sin(q[1]));
}

static void joint_contact_points(const double *p, const double *q, double (*position)[3], double (*normal)[3])
{
    pcs_outline_point(&position[0], p[L1] * cos(q[0]) + p[L2] * cos(q[1]), p[L1] * sin(q[0]) + p[L2] * sin(q[1]));
    pcs_outline_point(&normal[0], 0.0, 1.0);
}

const percuss_system_definition pcs_closed_slider_crank_bilateral = {
    .abi = PERCUSS_SYSTEM_ABI,
    .name = "slider_crank_bilateral",
    .summary = "slider-crank mechanism without clearance: one bilateral constraint",
    .parameters = joint_parameters,
    .ncoordinate = 2,
    .coordinates = joint_coordinates,
    .row_count = joint_row_count,
    .rows = joint_rows,
    .start = joint_start,
    .length = joint_length,
    .mass = joint_mass,
    .force = joint_force,
    .gaps = joint_gaps,
    .directions = joint_directions,
    .rate_bias = joint_rate_bias,
    .energy = joint_energy,
    .npoint = 3,
    .ncell = 2,
    .cells = joint_cells,
    .points = joint_points,
    .contact_points = joint_contact_points,
};
