// Bodies at one node, their centre of mass: a point, a rigid body in the x-y plane, and one in space; and discs.
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
    double axis[3], speed;                // of a disc; rad/s, if given
} body_params;

typedef struct body_data {
    double mass, J[9];
} body_data;

enum { NDOF = 6 }; // number of dofs in space

static const pcs_cell_shape body_shape = { .ndof = NDOF, .node_dofs = NDOF, .translations = 3 };

#define BODY_INERTIA                                                                               \
    PCS_REAL("mass", body_params, mass, PCS_REQUIRED, PCS_POSITIVE, "kg"),                         \
        PCS_VECTOR("inertia", body_params, inertia, PCS_REQUIRED, PCS_POSITIVE,                    \
                   "[Jx, Jy, Jz] about the axes through the node in the reference state, kg m^2"), \
        PCS_VECTOR("products", body_params, products, PCS_DEFAULT("[0, 0, 0]"), PCS_ANY_NUMBER,    \
                   "[Jxy, Jyz, Jzx], the other entries of the tensor (Jxy = -integral x y dm), kg m^2")

// Computes the row-major tensor, kg m^2.
static void body_tensor(const double inertia[3], const double products[3], double J[9])
{
    for (int k = 0; k < 3; k++) {
        int next = (k + 1) % 3;
        J[3 * k + k] = inertia[k];
        J[3 * k + next] = J[3 * next + k] = products[k];
    }
}

// Fails if the tensor is not positive definite, by its leading minors; one that is small against its diagonal entries
// counts as round-off.
static pcs_status body_check_tensor(pcs_context *ctx, const pcs_batch *batch, int cell, const double J[9])
{
    double two = J[0] * J[4] - J[1] * J[3];
    double three =
        J[0] * (J[4] * J[8] - J[5] * J[7]) - J[1] * (J[3] * J[8] - J[5] * J[6]) + J[2] * (J[3] * J[7] - J[4] * J[6]);
    if (J[0] > 0.0 && two > 1e-12 * fabs(J[0] * J[4]) && three > 1e-12 * fabs(J[0] * J[4] * J[8])) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT,
                    "element group '%s': cell %d: the inertia tensor with the diagonal [%g, %g, %g] and the products "
                    "[%g, %g, %g] is not positive definite",
                    batch->name, batch->cells[cell], J[0], J[4], J[8], J[1], J[5], J[2]);
}

static const pcs_option body_options[] = {
    BODY_INERTIA,
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

static pcs_status body_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out)
{
    const body_params *p = batch->params;
    double J[9];
    pcs_cell_space_dofs(out);
    out->is_finite = true;
    body_tensor(p->inertia, p->products, J);
    PCS_TRY(pcs_one_node_check(ctx, batch, cell));
    return body_check_tensor(ctx, batch, cell, J);
}

static pcs_status body_setup(pcs_context *ctx, pcs_batch *batch)
{
    const body_params *p = batch->params;
    body_data *data;
    PCS_TAKE(ctx, data, 1, "rigid bodies");
    data->mass = p->mass;
    body_tensor(p->inertia, p->products, data->J);
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

static const char *const body_mass_fields[] = { "kinetic_energy", NULL };

// Evaluates the field of linear cells.
static void body_read_energy(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                             double field[PCS_MAX_CELL_FIELDS])
{
    const pcs_modal *modal = batch->data;
    const double *M = modal->kinds[modal->kind[cell]].M;
    int n = modal->shape.ndof;
    double w[NDOF];
    pcs_cell_gather(batch->equation + (size_t)cell * (size_t)n, n, at->v, w);
    field[0] = 0.0;
    for (int i = 0; i < n; i++) field[0] += 0.5 * w[i] * pcs_dense_dot(n, M + (ptrdiff_t)i * n, w);
}

#define BODY_LINEAR                                                                        \
    .params_size = sizeof(body_params), .nnode = 1, .ndof = 3, .fields = body_mass_fields, \
    .read_fields = body_read_energy

const pcs_element_ops pcs_element_point_mass = {
    .name = "point_mass",
    .summary = "a mass at one node",
    .options = body_point_options,
    .node_dofs = body_point_node_dofs,
    PCS_MODAL_KERNELS(0, 3, body_point_make),
    BODY_LINEAR,
};

const pcs_element_ops pcs_element_rigid_body_2d = {
    .name = "rigid_body_2d",
    .summary = "rigid body in the x-y plane at one node, its centre of mass; rotates by any angle",
    .options = body_plane_options,
    .node_dofs = body_plane_node_dofs,
    PCS_MODAL_KERNELS(0, 2, body_plane_make),
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

// Discs and other rigid parts on shafts whose deflections and tilts stay small, at one node.
//
//   gyroscopic moment -speed Jp (w x a),   a the axis of spin, Jp = a . J a, w the rate of the rotations
//
// in axes that do not spin. So that the angle of spin does not matter the part must be round: a is a principal axis,
// and all axes across it have the same inertia.
//
// The speed is given, or that of the node when the disc is driven: speed = w . a. Then the rotation about the axis is a
// degree of freedom of any size, the moment takes no power, and Rayleigh's damping by mass does not brake the spin.
// Left out is what is of second order: speed' times the tilt.

#define DISC_OPTIONS \
    BODY_INERTIA, PCS_VECTOR("axis", body_params, axis, PCS_DEFAULT("[1, 0, 0]"), PCS_ANY_NUMBER, "the axis of spin")

static const pcs_option disc_options[] = {
    DISC_OPTIONS,
    PCS_REAL("speed", body_params, speed, PCS_DEFAULT("0"), PCS_ANY_NUMBER, "of spin about the axis, constant, rad/s"),
    { 0 },
};

static const pcs_option disc_driven_options[] = {
    DISC_OPTIONS,
    { 0 },
};

// Computes the unit axis. Returns false if it is zero.
static bool disc_axis(const body_params *p, double axis[3])
{
    double size = pcs_norm3(p->axis);
    for (int k = 0; k < 3; k++) axis[k] = p->axis[k] / size;
    return size > 0.0;
}

// Returns true if J = Jd I + (Jp - Jd) a a^T, up to the digits in which a case is written.
static bool disc_is_round(const double J[9], const double a[3])
{
    double column[3], size = J[0] + J[4] + J[8], off = 0.0;
    pcs_rotation_apply(J, a, column);
    double polar = pcs_dot3(a, column), across = 0.5 * (size - polar);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double wanted = (i == j ? across : 0.0) + (polar - across) * a[i] * a[j];
            off = fmax(off, fabs(J[3 * i + j] - wanted));
        }
    return off <= 1e-6 * size;
}

static pcs_status disc_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out)
{
    const body_params *p = batch->params;
    double J[9], axis[3];
    pcs_cell_space_dofs(out);
    body_tensor(p->inertia, p->products, J);
    PCS_TRY(pcs_one_node_check(ctx, batch, cell));
    PCS_TRY(body_check_tensor(ctx, batch, cell, J));
    if (!disc_axis(p, axis))
        return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': the axis must not be zero", batch->name);
    if ((!batch->ops->is_nonlinear && p->speed == 0.0) || disc_is_round(J, axis)) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT,
                    "element group '%s': what spins must be round: the inertia about all axes across [%g, %g, %g] must "
                    "be the same",
                    batch->name, axis[0], axis[1], axis[2]);
}

static void disc_make(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    const body_params *p = batch->params;
    double J[9], a[3], column[3], speed = batch->ops->is_nonlinear ? 1.0 : p->speed; // driven: C is scaled
    body_tensor(p->inertia, p->products, J);
    disc_axis(p, a);
    pcs_rotation_apply(J, a, column);
    double polar = pcs_dot3(a, column);
    for (int j = 0; j < 3; j++) {
        const double unit[3] = { j == 0, j == 1, j == 2 };
        double moment[3];
        pcs_cross(unit, a, moment);
        kind->M[j * NDOF + j] = kind->own->drag[j * NDOF + j] = p->mass;
        kind->own->spin[3 + j] = a[j];
        for (int i = 0; i < 3; i++) {
            kind->M[(3 + i) * NDOF + 3 + j] = J[3 * i + j];
            kind->own->C[(3 + i) * NDOF + 3 + j] = speed * polar * moment[i];
            kind->own->drag[(3 + i) * NDOF + 3 + j] = J[3 * i + j] - polar * a[i] * a[j];
        }
    }
}

// Draws a cylinder of equal mass and inertia: Jp = m r^2/2, Jd = m (r^2/4 + h^2/12), but h at least 0.1 r.
static void disc_outline(const void *params, const double span[3], pcs_cell_outline *outline)
{
    const body_params *p = params;
    pcs_obstacle *out = &outline->disc;
    double J[9], column[3];
    disc_axis(p, out->axis);
    body_tensor(p->inertia, p->products, J);
    pcs_rotation_apply(J, out->axis, column);
    double polar = pcs_dot3(out->axis, column), across = 0.5 * (J[0] + J[4] + J[8] - polar);
    if (!(polar > 0.0) || !(p->mass > 0.0)) return;
    out->kind = PCS_OBSTACLE_CYLINDER;
    out->radius = sqrt(2.0 * polar / p->mass);
    out->length = fmax(sqrt(fmax(12.0 * (across - 0.5 * polar) / p->mass, 0.0)), 0.1 * out->radius);
}

#define DISC_COMMON                                                                                                  \
    .params_size = sizeof(body_params), .nnode = 1, .ndof = NDOF, .sees_velocity = true, .fields = body_mass_fields, \
    .node_dofs = disc_node_dofs, PCS_MODAL_KERNELS(0, 3, disc_make), .read_fields = body_read_energy,                \
    .outline = disc_outline

const pcs_element_ops pcs_element_disc = {
    .name = "disc",
    .summary = "rigid part on a shaft of linear beams, at one node; small rotations, gyroscopic at a given speed",
    .options = disc_options,
    DISC_COMMON,
};

const pcs_element_ops pcs_element_disc_driven = {
    .name = "disc_driven",
    .summary = "rigid part on a shaft of linear beams, at one node; small tilts, gyroscopic at its own speed of spin",
    .options = disc_driven_options,
    .is_nonlinear = true,
    DISC_COMMON,
};
