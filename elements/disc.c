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

#include "core/rotation.h"
#include "elements/modal.h"

#include <math.h>

typedef struct disc_params {
    double mass, inertia[3], products[3], axis[3];
    double speed; // rad/s, if given
} disc_params;

enum { NDOF = 6 };

#define DISC_OPTIONS                  \
    PCS_INERTIA_OPTIONS(disc_params), \
        PCS_VECTOR("axis", disc_params, axis, PCS_DEFAULT("[1, 0, 0]"), PCS_ANY_NUMBER, "the axis of spin")

static const pcs_option disc_options[] = {
    DISC_OPTIONS,
    PCS_REAL("speed", disc_params, speed, PCS_DEFAULT("0"), PCS_ANY_NUMBER, "of spin about the axis, constant, rad/s"),
    { 0 },
};

static const pcs_option disc_driven_options[] = {
    DISC_OPTIONS,
    { 0 },
};

// Computes the unit axis. Returns false if it is zero.
static bool disc_axis(const disc_params *p, double axis[3])
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
    const disc_params *p = batch->params;
    double J[9], axis[3];
    pcs_cell_space_dofs(out);
    pcs_inertia_tensor(p->inertia, p->products, J);
    PCS_TRY(pcs_one_node_check(ctx, batch, cell));
    PCS_TRY(pcs_inertia_check(ctx, batch, cell, J));
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
    const disc_params *p = batch->params;
    double J[9], a[3], column[3], speed = batch->ops->is_nonlinear ? 1.0 : p->speed; // driven: C is scaled
    pcs_inertia_tensor(p->inertia, p->products, J);
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

static pcs_status disc_setup(pcs_context *ctx, pcs_batch *batch)
{
    return pcs_modal_setup(ctx, batch, 0, 3, disc_make);
}

// Draws a cylinder of equal mass and inertia: Jp = m r^2/2, Jd = m (r^2/4 + h^2/12), but h at least 0.1 r.
static void disc_outline(const void *params, const double span[3], pcs_cell_outline *outline)
{
    const disc_params *p = params;
    pcs_obstacle *out = &outline->disc;
    double J[9], column[3];
    disc_axis(p, out->axis);
    pcs_inertia_tensor(p->inertia, p->products, J);
    pcs_rotation_apply(J, out->axis, column);
    double polar = pcs_dot3(out->axis, column), across = 0.5 * (J[0] + J[4] + J[8] - polar);
    if (!(polar > 0.0) || !(p->mass > 0.0)) return;
    out->kind = PCS_OBSTACLE_CYLINDER;
    out->radius = sqrt(2.0 * polar / p->mass);
    out->length = fmax(sqrt(fmax(12.0 * (across - 0.5 * polar) / p->mass, 0.0)), 0.1 * out->radius);
}

#define DISC_COMMON                                                                                       \
    .params_size = sizeof(disc_params), .nnode = 1, .ndof = NDOF, .sees_velocity = true,                  \
    .fields = pcs_modal_mass_fields, .node_dofs = disc_node_dofs, .setup = disc_setup, PCS_MODAL_KERNELS, \
    .read_fields = pcs_modal_read_mass_fields, .outline = disc_outline

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
