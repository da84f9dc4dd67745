// Bodies at one node, their centre of mass: a point, a rigid body in the x-y plane, and one in space.
//
//   point and plane   M = diag(m, m, m) or diag(m, m, J): angles add up, so that the plane body is linear however far
//                     it turns
//   space             m v' = f,   J w' = -w x J w + moment,   w the material angular velocity and J the tensor in
//                     material axes
//
// The mass in space is constant; the gyroscopic moment takes no power: w . (w x J w) = 0. Its damping matrix is
// w^ J - (J w)^.

#include "core/dense.h"
#include "core/rotation.h"
#include "elements/modal.h"

#include <math.h>
#include <string.h>

typedef struct body_params {
    double mass, inertia[3], products[3]; // in the plane only inertia[2]
    int in;                               // plane or space, for a point
} body_params;

typedef struct body_data {
    double mass, J[9];
} body_data;

enum { NDOF = 6 }; // number of dofs in space

static const pcs_cell_shape body_shape = { .ndof = NDOF, .node_dofs = NDOF, .translations = 3 };

static const pcs_option body_options[] = {
    PCS_INERTIA_OPTIONS(body_params),
    { 0 },
};

static const char *const body_fields[] = { "kinetic_energy", "angular_momentum", NULL };

static const char *const body_point_spaces[] = { "line", "plane", "space", NULL };

static const pcs_option body_point_options[] = {
    PCS_REAL("mass", body_params, mass, PCS_REQUIRED, PCS_POSITIVE, "kg"),
    PCS_CHOICE("in", body_params, in, PCS_DEFAULT("space"), body_point_spaces,
               "how its node moves: along x, in x and y, or in x, y and z"),
    { 0 },
};

static const pcs_option body_plane_options[] = {
    PCS_REAL("mass", body_params, mass, PCS_REQUIRED, PCS_POSITIVE, "kg"),
    PCS_REAL("inertia", body_params, inertia[2], PCS_REQUIRED, PCS_POSITIVE,
             "moment of inertia about z at the centre of mass, kg m^2"),
    { 0 },
};

static pcs_status body_point_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                       pcs_node_dofs *out)
{
    *out = (pcs_node_dofs){ .count = 3 };
    for (int k = 0; k <= ((const body_params *)batch->params)->in; k++) out->direction[k][k] = 1.0;
    return pcs_one_node_check(ctx, batch, cell);
}

static pcs_status body_plane_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                       pcs_node_dofs *out)
{
    *out = (pcs_node_dofs){ .count = 3, .is_rotation = { false, false, true }, .is_finite = true };
    for (int k = 0; k < 3; k++) out->direction[k][k] = 1.0;
    return pcs_one_node_check(ctx, batch, cell);
}

static void body_point_make(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    for (int k = 0; k < 3; k++) kind->M[k * 3 + k] = ((const body_params *)batch->params)->mass;
}

static void body_plane_make(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    body_point_make(batch, cell, kind);
    kind->M[2 * 3 + 2] = ((const body_params *)batch->params)->inertia[2];
}

static pcs_status body_point_setup(pcs_context *ctx, pcs_batch *batch)
{
    return pcs_modal_setup(ctx, batch, 0, 3, body_point_make);
}

static pcs_status body_plane_setup(pcs_context *ctx, pcs_batch *batch)
{
    return pcs_modal_setup(ctx, batch, 0, 2, body_plane_make);
}

static pcs_status body_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out)
{
    const body_params *p = batch->params;
    double J[9];
    pcs_cell_space_dofs(out);
    out->is_finite = true;
    pcs_inertia_tensor(p->inertia, p->products, J);
    PCS_TRY(pcs_one_node_check(ctx, batch, cell));
    return pcs_inertia_check(ctx, batch, cell, J);
}

static pcs_status body_setup(pcs_context *ctx, pcs_batch *batch)
{
    const body_params *p = batch->params;
    body_data *data;
    PCS_TAKE(ctx, data, 1, "rigid bodies");
    data->mass = p->mass;
    pcs_inertia_tensor(p->inertia, p->products, data->J);
    batch->data = data;
    batch->tumbles = true;
    return PCS_OK;
}

// Computes v and M v of a cell.
static void body_motion(const pcs_batch *batch, int cell, const pcs_cell_state *at, double w[NDOF], double p[NDOF])
{
    const body_data *data = batch->data;
    double q[NDOF];
    pcs_cell_look_or_rest(batch, cell, NDOF, at, q, w);
    for (int k = 0; k < 3; k++) p[k] = data->mass * w[k];
    pcs_rotation_apply(data->J, w + 3, p + 3);
}

// Computes gyroscopic moment and drag, as forces on the body.
static void body_force(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *force)
{
    double w[NDOF], p[NDOF], gyration[3];
    body_motion(batch, cell, at, w, p);
    pcs_cross(w + 3, p + 3, gyration);
    for (int k = 0; k < 3; k++) {
        force[k] = -batch->damping_mass * p[k];
        force[3 + k] = -batch->damping_mass * p[3 + k] - gyration[k];
    }
}

static void body_add_force(const pcs_batch *batch, const pcs_cell_state *at, double *f)
{
    pcs_cell_add_force(batch, NDOF, body_force, at, f);
}

static void body_mass(const body_data *data, double factor, double *M)
{
    memset(M, 0, NDOF * NDOF * sizeof *M);
    for (int i = 0; i < 3; i++) {
        M[i * NDOF + i] = factor * data->mass;
        for (int j = 0; j < 3; j++) M[(3 + i) * NDOF + 3 + j] = factor * data->J[3 * i + j];
    }
}

static void body_matrices(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *M, double *K, double *C)
{
    const body_data *data = batch->data;
    double w[NDOF], p[NDOF];
    if (M != NULL) body_mass(data, 1.0, M);
    if (K != NULL) memset(K, 0, NDOF * NDOF * sizeof *K);
    if (C == NULL) return;
    body_motion(batch, cell, at, w, p);
    body_mass(data, batch->damping_mass, C);
    for (int j = 0; j < 3; j++) {
        const double unit[3] = { j == 0, j == 1, j == 2 };
        double column[3], with_w[3], with_p[3];
        pcs_rotation_apply(data->J, unit, column);
        pcs_cross(w + 3, column, with_w);
        pcs_cross(unit, p + 3, with_p);
        for (int i = 0; i < 3; i++) C[(3 + i) * NDOF + 3 + j] += with_w[i] + with_p[i];
    }
}

static void body_measure(const pcs_batch *batch, const pcs_cell_state *at, unsigned what, pcs_cell_sums *sum)
{
    if (what & PCS_CELL_RESULTANT) pcs_cell_add_resultant(batch, &body_shape, body_force, at, sum);
    for (int c = 0; c < batch->ncell; c++) {
        const int *equation = batch->equation + NDOF * (size_t)c;
        double w[NDOF], p[NDOF];
        body_motion(batch, c, at, w, p);
        if (what & PCS_CELL_ENERGY) {
            for (int i = 0; i < NDOF; i++) sum->kinetic += 0.5 * w[i] * p[i];
            pcs_cell_add_momentum(batch, &body_shape, c, p, sum);
        }
        if (!(what & PCS_CELL_POWER)) continue;
        pcs_cell_gather(equation, NDOF, at->along, w);
        sum->power += batch->damping_mass * pcs_dense_dot(NDOF, w, p);
    }
}

static void body_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                             double field[PCS_MAX_CELL_FIELDS])
{
    double w[NDOF], p[NDOF];
    body_motion(batch, cell, at, w, p);
    field[0] = 0.0;
    for (int i = 0; i < NDOF; i++) field[0] += 0.5 * w[i] * p[i];
    field[1] = sqrt(pcs_dot3(p + 3, p + 3));
}

#define BODY_LINEAR                                                                                                \
    .params_size = sizeof(body_params), .nnode = 1, .ndof = 3, .fields = pcs_modal_mass_fields, PCS_MODAL_KERNELS, \
    .read_fields = pcs_modal_read_mass_fields

const pcs_element_ops pcs_element_point_mass = {
    .name = "point_mass",
    .summary = "a mass at one node",
    .options = body_point_options,
    .node_dofs = body_point_node_dofs,
    .setup = body_point_setup,
    BODY_LINEAR,
};

const pcs_element_ops pcs_element_rigid_body_2d = {
    .name = "rigid_body_2d",
    .summary = "rigid body in the x-y plane at one node, its centre of mass; rotates by any angle",
    .options = body_plane_options,
    .node_dofs = body_plane_node_dofs,
    .setup = body_plane_setup,
    BODY_LINEAR,
};

const pcs_element_ops pcs_element_rigid_body_3d = {
    .name = "rigid_body_3d",
    .summary = "rigid body in space at one node, its centre of mass; any rotation",
    .options = body_options,
    .params_size = sizeof(body_params),
    .nnode = 1,
    .ndof = NDOF,
    .is_nonlinear = true,
    .sees_velocity = true,
    .fields = body_fields,
    .node_dofs = body_node_dofs,
    .setup = body_setup,
    .matrices = body_matrices,
    .force = body_add_force,
    .measure = body_measure,
    .read_fields = body_read_fields,
};
