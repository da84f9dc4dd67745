// Springs and dampers along the global axes, translational and torsional, between two nodes or to the ground; no mass.
//
//   force = k (u2 - u1) + c (u2 - u1)' axis by axis, moments alike with kr, cr; small rotations about y and z
//
// It gives its nodes the directions alone in which it has a stiffness or a damper, so that it fits bars, plane frames
// and space frames. Between two nodes it is meant for ends at one place, or apart along the one axis it works on:
// forces across a distance would turn the body.

#include "core/rotation.h"
#include "elements/modal.h"
#include "elements/one_node.h"

#include <math.h>

typedef struct bushing_params {
    double stiffness[3], damping[3], torsional_stiffness[3], torsional_damping[3];
    int angles;
} bushing_params;

enum { NMODE = 6 };

static const char *const bushing_angles[] = { "small", "finite", NULL };

static const pcs_option bushing_options[] = {
    PCS_VECTOR("stiffness", bushing_params, stiffness, PCS_DEFAULT("[0, 0, 0]"), PCS_NOT_NEGATIVE, "[kx, ky, kz], N/m"),
    PCS_VECTOR("damper", bushing_params, damping, PCS_DEFAULT("[0, 0, 0]"), PCS_NOT_NEGATIVE, "[cx, cy, cz], N s/m"),
    PCS_VECTOR("torsional_stiffness", bushing_params, torsional_stiffness, PCS_DEFAULT("[0, 0, 0]"), PCS_NOT_NEGATIVE,
               "[krx, kry, krz], N m/rad"),
    PCS_VECTOR("torsional_damper", bushing_params, torsional_damping, PCS_DEFAULT("[0, 0, 0]"), PCS_NOT_NEGATIVE,
               "[crx, cry, crz], N m s/rad"),
    PCS_CHOICE("angles", bushing_params, angles, PCS_DEFAULT("small"), bushing_angles,
               "of its nodes; finite in the plane only, for nodes of exact beams and rigid bodies"),
    { 0 },
};

static const char *const bushing_fields[] = { "force", "moment", "strain_energy", NULL };

static double bushing_stiffness(const bushing_params *p, int i)
{
    return (i < 3 ? p->stiffness : p->torsional_stiffness)[i % 3];
}

static double bushing_damping(const bushing_params *p, int i)
{
    return (i < 3 ? p->damping : p->torsional_damping)[i % 3];
}

static bool bushing_is_free(const bushing_params *p, int i)
{
    return bushing_stiffness(p, i) == 0.0 && bushing_damping(p, i) == 0.0;
}

static pcs_status bushing_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                    pcs_node_dofs *out)
{
    (void)local_node;
    const bushing_params *p = batch->params;
    bool is_there = false;
    pcs_cell_space_dofs(out);
    out->is_finite = p->angles == 1;
    for (int i = 0; i < NMODE; i++) {
        if (bushing_is_free(p, i)) out->direction[i][i % 3] = 0.0;
        else is_there = true;
    }
    PCS_TRY(pcs_one_node_check(ctx, batch, cell));
    bool is_in_plane = bushing_is_free(p, 3) && bushing_is_free(p, 4);
    if (out->is_finite && !is_in_plane)
        return pcs_fail(ctx, PCS_BAD_INPUT,
                        "element group '%s': finite angles are for the plane: torsion about z alone, not about x or y",
                        batch->name);
    if (is_there) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': all its stiffnesses and dampings are zero", batch->name);
}

static void bushing_make(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    (void)cell;
    const bushing_params *p = batch->params;
    int n = batch->ops->ndof;
    for (int i = 0; i < NMODE; i++) {
        kind->D[i * NMODE + i] = bushing_stiffness(p, i);
        if (!batch->ops->is_one_node) kind->B[i * n + i] = -1.0;
        kind->B[i * n + n - NMODE + i] = 1.0;
        for (int a = i; a < n; a += NMODE)
            for (int b = i; b < n; b += NMODE) kind->own->C[a * n + b] = (a == b ? 1.0 : -1.0) * bushing_damping(p, i);
    }
}

static pcs_status bushing_setup(pcs_context *ctx, pcs_batch *batch)
{
    return pcs_modal_setup(ctx, batch, NMODE, 3, bushing_make);
}

// Force and moment with the dampers' part.
static void bushing_read_fields(const pcs_batch *batch, int cell, const double *q, const double *v,
                                double field[PCS_MAX_CELL_FIELDS])
{
    const bushing_params *p = batch->params;
    double e[PCS_MAX_MODES], rate[PCS_MAX_MODES], s[NMODE];
    pcs_modal_deform(batch, cell, q, e);
    pcs_modal_deform(batch, cell, v, rate);
    field[2] = 0.0;
    for (int i = 0; i < NMODE; i++) {
        s[i] = bushing_stiffness(p, i) * e[i] + bushing_damping(p, i) * rate[i];
        field[2] += 0.5 * bushing_stiffness(p, i) * e[i] * e[i];
    }
    field[0] = pcs_norm3(s);
    field[1] = sqrt(pcs_dot3(s + 3, s + 3));
}

#define BUSHING_COMMON                                                                                   \
    .options = bushing_options, .params_size = sizeof(bushing_params), .sees_velocity = true,            \
    .fields = bushing_fields, .node_dofs = bushing_node_dofs, .setup = bushing_setup, PCS_MODAL_KERNELS, \
    .read_fields = bushing_read_fields

const pcs_element_ops pcs_element_bushing = {
    .name = "bushing",
    .summary = "springs and dampers along the global axes between two nodes; no mass",
    .ndof = 2 * NMODE,
    BUSHING_COMMON,
};

const pcs_element_ops pcs_element_mount = {
    .name = "mount",
    .summary = "springs and dampers along the global axes between a node and the ground; no mass",
    .ndof = NMODE,
    .is_one_node = true,
    BUSHING_COMMON,
};
