#include "elements/mounting.h"

#include "core/rotation.h"
#include "elements/one_node.h"

#include <math.h>

enum { NMODE = 6 };

static const char *const mounting_angles[] = { "small", "finite", NULL };

const pcs_option pcs_mounting_options[] = {
    PCS_VECTOR("stiffness", pcs_mounting_params, stiffness, PCS_DEFAULT("[0, 0, 0]"), PCS_NOT_NEGATIVE,
               "[kx, ky, kz], N/m"),
    PCS_VECTOR("damper", pcs_mounting_params, damping, PCS_DEFAULT("[0, 0, 0]"), PCS_NOT_NEGATIVE,
               "[cx, cy, cz], N s/m"),
    PCS_VECTOR("torsional_stiffness", pcs_mounting_params, torsional_stiffness, PCS_DEFAULT("[0, 0, 0]"),
               PCS_NOT_NEGATIVE, "[krx, kry, krz], N m/rad"),
    PCS_VECTOR("torsional_damper", pcs_mounting_params, torsional_damping, PCS_DEFAULT("[0, 0, 0]"), PCS_NOT_NEGATIVE,
               "[crx, cry, crz], N m s/rad"),
    PCS_CHOICE("angles", pcs_mounting_params, angles, PCS_DEFAULT("small"), mounting_angles,
               "of its nodes; finite in the plane only, for nodes of exact beams and rigid bodies"),
    { 0 },
};

const char *const pcs_mounting_fields[] = { "force", "moment", "strain_energy", NULL };

static double mounting_stiffness(const pcs_mounting_params *p, int i)
{
    return (i < 3 ? p->stiffness : p->torsional_stiffness)[i % 3];
}

static double mounting_damping(const pcs_mounting_params *p, int i)
{
    return (i < 3 ? p->damping : p->torsional_damping)[i % 3];
}

static bool mounting_is_free(const pcs_mounting_params *p, int i)
{
    return mounting_stiffness(p, i) == 0.0 && mounting_damping(p, i) == 0.0;
}

pcs_status pcs_mounting_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                  pcs_node_dofs *out)
{
    (void)local_node;
    const pcs_mounting_params *p = batch->params;
    bool is_there = false;
    pcs_one_node_space(out);
    out->is_finite = p->angles == 1;
    for (int i = 0; i < NMODE; i++) {
        if (mounting_is_free(p, i)) out->direction[i][i % 3] = 0.0;
        else is_there = true;
    }
    PCS_TRY(pcs_one_node_check(ctx, batch, cell));
    bool is_in_plane = mounting_is_free(p, 3) && mounting_is_free(p, 4);
    if (out->is_finite && !is_in_plane)
        return pcs_fail(ctx, PCS_BAD_INPUT,
                        "element group '%s': finite angles are for the plane: torsion about z alone, not about x or y",
                        batch->name);
    if (is_there) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': all its stiffnesses and dampings are zero", batch->name);
}

static void mounting_make(const pcs_batch *batch, int nnode, pcs_modal_kind *kind)
{
    const pcs_mounting_params *p = batch->params;
    int n = NMODE * nnode;
    for (int i = 0; i < NMODE; i++) {
        kind->D[i * NMODE + i] = mounting_stiffness(p, i);
        kind->B[i * n + n - NMODE + i] = 1.0;
        if (nnode == 2) kind->B[i * n + i] = -1.0;
        for (int a = i; a < n; a += NMODE)
            for (int b = i; b < n; b += NMODE) kind->own->C[a * n + b] = (a == b ? 1.0 : -1.0) * mounting_damping(p, i);
    }
}

static void mounting_make_ground(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    (void)cell;
    mounting_make(batch, 1, kind);
}

static void mounting_make_pair(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    (void)cell;
    mounting_make(batch, 2, kind);
}

pcs_status pcs_mounting_setup(pcs_context *ctx, pcs_batch *batch, int nnode)
{
    pcs_modal *modal;
    PCS_TRY(pcs_modal_create_own(ctx, batch, NMODE * nnode, NMODE,
                                 nnode == 1 ? mounting_make_ground : mounting_make_pair, &modal));
    for (int i = 0; i < nnode; i++)
        for (int k = 0; k < 3; k++) modal->direction[NMODE * i + k][k] = 1.0;
    modal->is_grounded = nnode == 1;
    batch->data = modal;
    return PCS_OK;
}

// Force and moment with the dampers' part.
void pcs_mounting_read_fields(const pcs_batch *batch, int cell, const double *q, const double *v,
                              double field[PCS_MAX_CELL_FIELDS])
{
    const pcs_mounting_params *p = batch->params;
    double e[PCS_MAX_MODES], rate[PCS_MAX_MODES], s[NMODE];
    pcs_modal_deform(batch, cell, q, e);
    pcs_modal_deform(batch, cell, v, rate);
    field[2] = 0.0;
    for (int i = 0; i < NMODE; i++) {
        s[i] = mounting_stiffness(p, i) * e[i] + mounting_damping(p, i) * rate[i];
        field[2] += 0.5 * mounting_stiffness(p, i) * e[i] * e[i];
    }
    field[0] = sqrt(pcs_dot3(s, s));
    field[1] = sqrt(pcs_dot3(s + 3, s + 3));
}
