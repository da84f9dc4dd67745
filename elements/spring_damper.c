// Spring and damper along the line between two nodes, however far they move; no mass of its own.
//
//   N = stiffness (l - rest) + force + damper l', or by a table, polynomial, clearance, stop and exponent: axial.h

#include "core/rotation.h"
#include "elements/axial.h"

#include <math.h>
#include <string.h>

typedef struct spring_params {
    pcs_axial_law law;
    double rest, force;
    double arm[2][3];
    int in, angles;
} spring_params;

static const char *const spring_spaces[] = { "line", "plane", "space", NULL };
static const char *const spring_angles[] = { "finite", "small", NULL };

static const pcs_option spring_options[] = {
    PCS_REAL("stiffness", spring_params, law.stiffness, PCS_DEFAULT("0"), PCS_NOT_NEGATIVE, "N/m"),
    PCS_LIST("polynomial", spring_params, law.polynomial, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "instead of stiffness: k1, k2, .. of the force k1 e + k2 e^2 + .., e the stretch in m"),
    PCS_LIST("table", spring_params, law.table, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "instead of stiffness: rows [stretch, force], m and N; linear between and beyond them"),
    PCS_REAL("clearance", spring_params, law.clearance, PCS_DEFAULT("0"), PCS_NOT_NEGATIVE,
             "play on either side of rest in which the spring has no force, m"),
    PCS_REAL("stop", spring_params, law.stop, PCS_OPTIONAL, PCS_NOT_NEGATIVE,
             "stretch, in either direction, at which a stop sets in, m"),
    PCS_REAL("stop_stiffness", spring_params, law.stop_stiffness, PCS_OPTIONAL, PCS_POSITIVE, "of the stop, N/m"),
    PCS_REAL("damper", spring_params, law.damper, PCS_DEFAULT("0"), PCS_NOT_NEGATIVE,
             "force at a speed of 1 m/s, N (s/m)^damper_exponent"),
    PCS_REAL("damper_exponent", spring_params, law.exponent, PCS_DEFAULT("1"), PCS_ABOVE(0.0, 10.0),
             "exponent p of the speed in the damper force"),
    PCS_REAL("damper_speed", spring_params, law.speed, PCS_DEFAULT("0"), PCS_NOT_NEGATIVE,
             "s in the force damper v (v^2 + s^2)^((p - 1)/2), p = damper_exponent, m/s: linear far below; needed for "
             "p < 1"),
    PCS_REAL("rest", spring_params, rest, PCS_OPTIONAL, PCS_NOT_NEGATIVE,
             "length without spring force, m; by default the distance of its ends in the mesh"),
    PCS_REAL("force", spring_params, force, PCS_DEFAULT("0"), PCS_ANY_NUMBER,
             "additional constant force, N; positive pulls the ends together"),
    PCS_CHOICE("in", spring_params, in, PCS_DEFAULT("space"), spring_spaces,
               "how its nodes move: along x, in x and y, or in x, y and z"),
    PCS_VECTOR("offset_a", spring_params, arm[0], PCS_DEFAULT("[0, 0, 0]"), PCS_ANY_NUMBER,
               "rigid arm from the first node to the end of the spring, in the reference state, m"),
    PCS_VECTOR("offset_b", spring_params, arm[1], PCS_DEFAULT("[0, 0, 0]"), PCS_ANY_NUMBER,
               "the same at the second node"),
    PCS_CHOICE("angles", spring_params, angles, PCS_DEFAULT("finite"), spring_angles,
               "rotations of nodes with arms: finite as of rigid bodies and exact beams, small as of linear beams"),
    { 0 },
};

static const char *const spring_fields[] = { "axial_force", "elongation", "strain_energy", NULL };

// Returns an error message, with the faulty option in *option, or NULL if the law is valid.
static const char *axial_law_check(const pcs_axial_law *law, const char **option)
{
    const double *row = law->table.value;
    *option = "table";
    if (law->table.count > 0 && law->polynomial.count > 0) return "table and polynomial are two springs: give one";
    if (law->table.count > 0 && (law->table.nrow < 2 || law->table.count != 2 * law->table.nrow))
        return "must be two or more rows [stretch, force]";
    for (int i = 1; i < law->table.nrow; i++)
        if (law->table.count > 0 && !(row[2 * i] > row[2 * i - 2])) return "the stretch must rise from row to row";
    if (law->stiffness != 0.0 && law->table.count + law->polynomial.count > 0)
        return "a table or polynomial has its stiffness: leave 'stiffness' out";
    *option = "polynomial";
    if (law->polynomial.count > 0 && law->polynomial.nrow > 1) return "must be one row of coefficients";
    *option = "clearance";
    if (law->clearance > 0.0 && law->table.count > 0) return "put the play into the table";
    *option = "stop";
    if (isnan(law->stop) != isnan(law->stop_stiffness)) return "stop and stop_stiffness are given both or not at all";
    *option = "damper_speed";
    if (law->exponent < 1.0 && law->speed == 0.0)
        return "a damper with an exponent below 1 needs the speed at which it is rounded off";
    return NULL;
}

static pcs_status spring_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                   pcs_node_dofs *out)
{
    return pcs_axial_node_dofs(ctx, batch, cell, ((const spring_params *)batch->params)->in + 1, out);
}

static bool spring_has_arms(const spring_params *p)
{
    return pcs_norm3(p->arm[0]) > 0.0 || pcs_norm3(p->arm[1]) > 0.0;
}

static const char *spring_check(const void *params, const char **option)
{
    const spring_params *p = params;
    const char *fault = axial_law_check(&p->law, option);
    if (fault != NULL || p->in != 0 || !spring_has_arms(p)) return fault;
    *option = pcs_norm3(p->arm[0]) > 0.0 ? "offset_a" : "offset_b";
    return "nodes that move along a line do not rotate: an arm needs 'in: plane' or 'in: space'";
}

// Creates the law, unless spring and damper are linear.
static pcs_status spring_prepare_law(pcs_context *ctx, const spring_params *p, pcs_axial *axial)
{
    pcs_axial_law *law;
    bool is_linear = p->law.table.count + p->law.polynomial.count == 0 && p->law.clearance == 0.0;
    if (is_linear && isnan(p->law.stop) && p->law.exponent == 1.0) return PCS_OK;
    PCS_TAKE(ctx, law, 1, "axial cells");
    *law = p->law;
    if (isnan(law->stop)) law->stop = INFINITY;
    axial->law = law;
    return pcs_axial_law_prepare(ctx, law);
}

static void spring_fill(const pcs_batch *batch, const pcs_axial *axial)
{
    const spring_params *p = batch->params;
    double stiffness = p->law.stiffness; // Rayleigh damping takes the stiffness at rest
    if (axial->law != NULL) stiffness = pcs_axial_law_at(axial->law, 0.0, 0.0).stiffness;
    for (int c = 0; c < batch->ncell; c++) {
        pcs_axial_cell *cell = &axial->cell[c];
        cell->stiffness = stiffness;
        cell->damping = (axial->law == NULL ? p->law.damper : 0.0) + batch->damping_stiffness * stiffness;
        cell->slack = isnan(p->rest) ? 0.0 : cell->length - p->rest;
        cell->preload = p->force;
    }
}

static pcs_status spring_setup(pcs_context *ctx, pcs_batch *batch)
{
    pcs_axial *axial;
    const spring_params *p = batch->params;
    PCS_TRY(pcs_axial_create(ctx, batch, spring_has_arms(p) ? p->arm : NULL, &axial));
    axial->has_small_angles = p->angles == 1;
    PCS_TRY(spring_prepare_law(ctx, p, axial));
    spring_fill(batch, axial);
    return PCS_OK;
}

static void spring_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                               double field[PCS_MAX_CELL_FIELDS])
{
    pcs_axial_view axial = pcs_axial_look(batch, cell, at);
    field[0] = axial.tension;
    field[1] = axial.stretch;
    field[2] = axial.energy;
}

// Declares the dofs of a node; only a node with an arm rotates, in the plane about z.
static pcs_status arms_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out)
{
    const spring_params *p = batch->params;
    int dim = p->in + 1;
    double span[3];
    bool turns = pcs_norm3(p->arm[local_node]) > 0.0;
    pcs_cell_span(batch, cell, span);
    for (int k = 0; k < 3; k++) span[k] += p->arm[1][k] - p->arm[0][k];
    PCS_TRY(pcs_axial_check_ends(ctx, batch, cell, dim, span));
    pcs_cell_space_dofs(out);
    out->is_finite = turns && p->angles == 0;
    for (int k = 0; k < 3; k++) {
        if (k >= dim) out->direction[k][k] = 0.0;
        if (!turns || (dim == 2 && k < 2)) out->direction[3 + k][k] = 0.0;
    }
    return PCS_OK;
}

static void arms_outline(const void *params, const double span[3], pcs_cell_outline *out)
{
    const spring_params *p = params;
    memcpy(out->arm, p->arm, sizeof out->arm);
    out->is_finite = p->angles == 0;
}

#define SPRING_COMMON                                                                                             \
    .name = "spring_damper",                                                                                      \
    .summary = "spring and damper along the present line between two nodes, or points fixed "                     \
               "to them; no mass",                                                                                \
    .options = spring_options, .params_size = sizeof(spring_params), .check = spring_check, .is_nonlinear = true, \
    .sees_velocity = true, .nnode = 2, .fields = spring_fields, .setup = spring_setup,                            \
    .read_fields = spring_read_fields, PCS_AXIAL_KERNELS

static const pcs_element_ops arms_ops = {
    SPRING_COMMON,
    .ndof = 12,
    .node_dofs = arms_node_dofs,
    .outline = arms_outline,
};

static const pcs_element_ops *spring_variant(const void *params)
{
    return spring_has_arms(params) ? &arms_ops : NULL;
}

const pcs_element_ops pcs_element_spring_damper = {
    SPRING_COMMON,
    .variant = spring_variant,
    .ndof = 6,
    .node_dofs = spring_node_dofs,
};
