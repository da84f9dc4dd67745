// Springs and dampers along three axes, translational and torsional, between two nodes or to the ground; no mass.
//
//   force = k e + c e' axis by axis,   e = u_b - u_a + turn_b x r - turn_a x s
//   moments alike with kr, cr and turn_b - turn_a
//
// with s, r the arms from the nodes to the point of the bushing, which both bodies carry, so that its forces have no
// resultant moment. Without offsets there are no arms: between two nodes it is then meant for ends at one place, or
// apart along the one axis it works on, as forces across a distance would turn the body. Finite angles with arms, and
// in space, are in bushing_turning.c.
//
// It gives its nodes the directions alone in which it has a stiffness or a damper, and the rotations that move its
// point along those, so that it fits bars, plane frames and space frames.

#include "elements/bushing.h"
#include "elements/modal.h"

#include <math.h>
#include <string.h>

enum { NMODE = PCS_BUSHING_MODES };

static const char *const bushing_angles[] = { "small", "finite", NULL };
static const char *const bushing_spaces[] = { "auto", "plane", "space", NULL };
static const double same_point = 1e-9; // of the arms and the distance of the nodes

#define BUSHING_SPRINGS                                                                                      \
    PCS_VECTOR("stiffness", pcs_bushing_params, stiffness, PCS_DEFAULT("[0, 0, 0]"), PCS_NOT_NEGATIVE,       \
               "[kx, ky, kz], N/m"),                                                                         \
        PCS_VECTOR("damper", pcs_bushing_params, damping, PCS_DEFAULT("[0, 0, 0]"), PCS_NOT_NEGATIVE,        \
                   "[cx, cy, cz], N s/m"),                                                                   \
        PCS_VECTOR("torsional_stiffness", pcs_bushing_params, torsional_stiffness, PCS_DEFAULT("[0, 0, 0]"), \
                   PCS_NOT_NEGATIVE, "[krx, kry, krz], N m/rad"),                                            \
        PCS_VECTOR("torsional_damper", pcs_bushing_params, torsional_damping, PCS_DEFAULT("[0, 0, 0]"),      \
                   PCS_NOT_NEGATIVE, "[crx, cry, crz], N m s/rad")

#define BUSHING_ANGLES                                                                                  \
    PCS_CHOICE("angles", pcs_bushing_params, angles, PCS_DEFAULT("small"), bushing_angles,              \
               "of its nodes: small as at linear beams, or finite as at exact beams and rigid bodies"), \
        PCS_CHOICE(                                                                                     \
            "in", pcs_bushing_params, in, PCS_DEFAULT("auto"), bushing_spaces,                          \
            "how nodes with finite angles turn; auto: in the plane where no spring, damper or offset is out of it")

static const pcs_option bushing_options[] = {
    BUSHING_SPRINGS,
    PCS_VECTOR(
        "offset_a", pcs_bushing_params, offset_a, PCS_OPTIONAL, PCS_ANY_NUMBER,
        "arm from the first node to the point of the bushing, in the reference state, m; it turns with the node. "
        "Or offset_b"),
    PCS_VECTOR("offset_b", pcs_bushing_params, offset_b, PCS_OPTIONAL, PCS_ANY_NUMBER,
               "the same from the second node; finite angles: the axes turn with the first"),
    BUSHING_ANGLES,
    { 0 },
};

static const pcs_option mount_options[] = {
    BUSHING_SPRINGS,
    PCS_VECTOR("offset", pcs_bushing_params, offset_b, PCS_OPTIONAL, PCS_ANY_NUMBER,
               "arm from the node to the point that is mounted, in the reference state, m; it turns with the node"),
    BUSHING_ANGLES,
    { 0 },
};

static const char *const bushing_fields[] = { "force", "moment", "strain_energy", NULL };

static const char *bushing_check(const void *params, const char **option)
{
    const pcs_bushing_params *p = params;
    *option = "in";
    if (p->in != PCS_BUSHING_PLANE || !pcs_bushing_leaves_plane(p)) return NULL;
    return "in the plane nothing acts along z or about x or y, and no offset points out of it";
}

// Returns true if finite rotations do not simply add up.
static bool bushing_turns(const pcs_bushing_params *p, bool has_offset)
{
    bool tilts = !pcs_bushing_is_free(p, 3) || !pcs_bushing_is_free(p, 4);
    return p->angles == 1 && (has_offset || tilts || p->in == PCS_BUSHING_SPACE);
}

static bool bushing_has_offset(const pcs_bushing_params *p)
{
    return !isnan(p->offset_a[0]) || !isnan(p->offset_b[0]);
}

// Finds the arms: zero without offsets; with rotating axes the point is the second node. True if they rotate finitely.
static bool bushing_arms(const void *params, const double span[3], double arm[2][3])
{
    const pcs_bushing_params *p = params;
    bool is_from_a = isnan(p->offset_b[0]) && !isnan(p->offset_a[0]);
    double size = 0.0;
    memset(arm, 0, 2 * sizeof arm[0]);
    if (!bushing_has_offset(p) && !bushing_turns(p, false)) return false;
    for (int k = 0; k < 3; k++) {
        double b = isnan(p->offset_b[k]) ? 0.0 : p->offset_b[k];
        arm[0][k] = is_from_a ? p->offset_a[k] : span[k] + b;
        arm[1][k] = is_from_a ? p->offset_a[k] - span[k] : b;
        size += fabs(span[k]) + fabs(arm[0][k]) + fabs(arm[1][k]);
    }
    for (int i = 0; i < 2; i++) // differences of places leave round-off where there is no arm
        if (pcs_norm3(arm[i]) <= 1e-12 * size) memset(arm[i], 0, sizeof arm[i]);
    return p->angles == 1;
}

static bool mount_arms(const void *params, const double span[3], double arm[2][3])
{
    const pcs_bushing_params *p = params;
    (void)span;
    for (int k = 0; k < 3; k++) arm[0][k] = arm[1][k] = isnan(p->offset_b[k]) ? 0.0 : p->offset_b[k];
    return p->angles == 1;
}

// Fails unless two given offsets lead to the same point.
static pcs_status bushing_check_offsets(pcs_context *ctx, const pcs_batch *batch, int cell)
{
    const pcs_bushing_params *p = batch->params;
    double span[3], apart[3];
    if (batch->ops->nnode == 1 || isnan(p->offset_a[0]) || isnan(p->offset_b[0])) return PCS_OK;
    pcs_cell_span(batch, cell, span);
    for (int k = 0; k < 3; k++) apart[k] = span[k] + p->offset_b[k] - p->offset_a[k];
    double size = pcs_norm3(span) + pcs_norm3(p->offset_a) + pcs_norm3(p->offset_b);
    if (pcs_norm3(apart) <= same_point * size) return PCS_OK;
    return pcs_fail(
        ctx, PCS_BAD_INPUT,
        "element group '%s': cell %d: 'offset_a' and 'offset_b' lead to points that are %g m apart, a bushing "
        "has one: give one of them",
        batch->name, batch->cells[cell], pcs_norm3(apart));
}

static pcs_status bushing_check_cell(pcs_context *ctx, const pcs_batch *batch, int cell)
{
    bool is_there = false;
    for (int i = 0; i < NMODE; i++) is_there = is_there || !pcs_bushing_is_free(batch->params, i);
    PCS_TRY(pcs_one_node_check(ctx, batch, cell));
    if (is_there) return bushing_check_offsets(ctx, batch, cell);
    return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': all its stiffnesses and dampings are zero", batch->name);
}

// Returns (e_j x arm)_i: the displacement of the point along axis i per unit rotation about axis j.
static double bushing_lever(const double arm[3], int j, int i)
{
    if (i == (j + 1) % 3) return -arm[(j + 2) % 3];
    return i == (j + 2) % 3 ? arm[(j + 1) % 3] : 0.0;
}

// Returns true if a rotation about axis j moves the point along an axis with stiffness or damping.
static bool bushing_moves(const pcs_bushing_params *p, const double arm[3], int j)
{
    for (int i = 0; i < 3; i++)
        if (!pcs_bushing_is_free(p, i) && bushing_lever(arm, j, i) != 0.0) return true;
    return false;
}

static pcs_status bushing_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                    pcs_node_dofs *out)
{
    const pcs_bushing_params *p = batch->params;
    double arm[2][3];
    PCS_TRY(bushing_check_cell(ctx, batch, cell));
    pcs_bushing_cell_arms(batch, cell, arm);
    pcs_cell_space_dofs(out);
    out->is_finite = p->angles == 1;
    for (int i = 0; i < NMODE; i++) {
        bool is_free = pcs_bushing_is_free(p, i);
        if (i >= 3) is_free = is_free && !bushing_moves(p, arm[local_node], i - 3);
        if (is_free) out->direction[i][i % 3] = 0.0;
    }
    return PCS_OK;
}

// Declares the dofs for finite angles with arms, or in space.
static pcs_status bushing_turning_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                       pcs_node_dofs *out)
{
    const pcs_bushing_params *p = batch->params;
    bool in_space = pcs_bushing_in_space(p), is_mount = batch->ops->nnode == 1, turns = !is_mount && local_node == 0;
    double arm[2][3];
    PCS_TRY(bushing_check_cell(ctx, batch, cell));
    pcs_bushing_cell_arms(batch, cell, arm);
    turns = turns || pcs_norm3(arm[1]) > 0.0;
    for (int i = 3; i < NMODE; i++) turns = turns || !pcs_bushing_is_free(p, i);
    pcs_cell_space_dofs(out);
    out->is_finite = turns;
    for (int k = 0; k < 3; k++) {
        // The axes of a mount are fixed, those of a bushing may come to lie along all directions.
        if (is_mount ? pcs_bushing_is_free(p, k) : k == 2 && !in_space) out->direction[k][k] = 0.0;
        if (!turns || (k < 2 && !in_space)) out->direction[3 + k][k] = 0.0;
    }
    return PCS_OK;
}

static void bushing_make(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    const pcs_bushing_params *p = batch->params;
    int n = batch->ops->ndof;
    double arm[2][3];
    pcs_bushing_cell_arms(batch, cell, arm);
    for (int i = 0; i < NMODE; i++) {
        double *B = kind->B + (ptrdiff_t)i * n;
        kind->D[i * NMODE + i] = pcs_bushing_stiffness(p, i);
        for (int node = 2 - batch->ops->nnode; node < 2; node++) {
            double *own = B + n - (2 - node) * NMODE, sign = node == 0 ? -1.0 : 1.0;
            own[i] = sign;
            if (i < 3)
                for (int j = 0; j < 3; j++) own[3 + j] = sign * bushing_lever(arm[node], j, i);
        }
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++) kind->own->C[a * n + b] += pcs_bushing_damping(p, i) * (B[a] * B[b]);
    }
}

static pcs_status bushing_setup(pcs_context *ctx, pcs_batch *batch)
{
    return pcs_modal_setup(ctx, batch, NMODE, 3, bushing_make);
}

// Evaluates force and moment, including the dampers.
static void bushing_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                                double field[PCS_MAX_CELL_FIELDS])
{
    double e[PCS_MAX_MODES], rate[PCS_MAX_MODES];
    pcs_modal_deform(batch, cell, at->q, e);
    pcs_modal_deform(batch, cell, at->v, rate);
    pcs_bushing_put_fields(batch->params, e, rate, field);
}

#define BUSHING_COMMON \
    .params_size = sizeof(pcs_bushing_params), .check = bushing_check, .sees_velocity = true, .fields = bushing_fields
#define BUSHING_NAME                                                                                 \
    .name = "bushing", .summary = "springs and dampers along three axes between two nodes; no mass", \
    .options = bushing_options, .arms = bushing_arms, .nnode = 2, .ndof = 2 * NMODE, BUSHING_COMMON
#define MOUNT_NAME                                                                                                  \
    .name = "mount", .summary = "springs and dampers along the global axes between a node and the ground; no mass", \
    .options = mount_options, .arms = mount_arms, .nnode = 1, .ndof = NMODE, BUSHING_COMMON
#define BUSHING_KERNELS \
    .node_dofs = bushing_node_dofs, .setup = bushing_setup, PCS_MODAL_KERNELS, .read_fields = bushing_read_fields

static const pcs_element_ops bushing_that_turns = {
    BUSHING_NAME,
    .node_dofs = bushing_turning_dofs,
    PCS_TURNING_KERNELS,
};

static const pcs_element_ops mount_that_turns = {
    MOUNT_NAME,
    .node_dofs = bushing_turning_dofs,
    PCS_TURNING_KERNELS,
};

static const pcs_element_ops *bushing_variant(const void *params)
{
    const pcs_bushing_params *p = params;
    return bushing_turns(p, bushing_has_offset(p)) ? &bushing_that_turns : NULL;
}

static const pcs_element_ops *mount_variant(const void *params)
{
    const pcs_bushing_params *p = params;
    return bushing_turns(p, !isnan(p->offset_b[0])) ? &mount_that_turns : NULL;
}

const pcs_element_ops pcs_element_bushing = {
    BUSHING_NAME,
    .variant = bushing_variant,
    BUSHING_KERNELS,
};

const pcs_element_ops pcs_element_mount = {
    MOUNT_NAME,
    .variant = mount_variant,
    BUSHING_KERNELS,
};
