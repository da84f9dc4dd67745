// Spring and damper along the line between two nodes, however far they move; no mass of its own.
//
//   N = stiffness (l - rest) + force + damper l', or by a table, polynomial, clearance, stop and exponent: axial_law.h

#include "elements/axial.h"

#include <math.h>

typedef struct spring_params {
    pcs_axial_law law;
    double rest, force;
    int in;
} spring_params;

static const char *const spring_spaces[] = { "line", "plane", "space", NULL };

static const pcs_option spring_options[] = {
    PCS_REAL("stiffness", spring_params, law.stiffness, PCS_DEFAULT("0"), PCS_NOT_NEGATIVE, "N/m"),
    PCS_LIST("polynomial", spring_params, law.polynomial, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "in place of stiffness: k1, k2, .. of the force k1 e + k2 e^2 + .., e the stretch in m"),
    PCS_LIST("table", spring_params, law.table, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "in place of stiffness: rows [stretch, force], m and N; linear between them and on beyond the ends"),
    PCS_REAL("clearance", spring_params, law.clearance, PCS_DEFAULT("0"), PCS_NOT_NEGATIVE,
             "play on either side of rest in which the spring has no force, m"),
    PCS_REAL("stop", spring_params, law.stop, PCS_OPTIONAL, PCS_NOT_NEGATIVE,
             "stretch, in either direction, at which a stop sets in, m"),
    PCS_REAL("stop_stiffness", spring_params, law.stop_stiffness, PCS_OPTIONAL, PCS_POSITIVE, "of the stop, N/m"),
    PCS_REAL("damper", spring_params, law.damper, PCS_DEFAULT("0"), PCS_NOT_NEGATIVE,
             "force at a speed of 1 m/s, N (s/m)^damper_exponent"),
    PCS_REAL("damper_exponent", spring_params, law.exponent, PCS_DEFAULT("1"), PCS_ABOVE(0.0, 10.0),
             "of the speed in the force of the damper"),
    PCS_REAL("damper_speed", spring_params, law.speed, PCS_DEFAULT("0"), PCS_NOT_NEGATIVE,
             "speed below which a damper with an exponent is linear, m/s; needed for exponents below 1"),
    PCS_REAL("rest", spring_params, rest, PCS_OPTIONAL, PCS_NOT_NEGATIVE,
             "length without spring force, m; the distance of the nodes in the mesh where it is not given"),
    PCS_REAL("force", spring_params, force, PCS_DEFAULT("0"), PCS_ANY_NUMBER,
             "constant force besides, N; positive pulls the nodes together"),
    PCS_CHOICE("in", spring_params, in, PCS_DEFAULT("space"), spring_spaces,
               "how its nodes move: along x, in x and y, or in x, y and z"),
    { 0 },
};

static const char *const spring_fields[] = { "axial_force", "elongation", "strain_energy", NULL };

static pcs_status spring_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                   pcs_node_dofs *out)
{
    (void)local_node;
    return pcs_axial_node_dofs(ctx, batch, cell, ((const spring_params *)batch->params)->in + 1, out);
}

static const char *spring_check(const void *params, const char **option)
{
    return pcs_axial_law_check(&((const spring_params *)params)->law, option);
}

// A spring and a damper that are linear need no law.
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

static pcs_status spring_setup(pcs_context *ctx, pcs_batch *batch)
{
    const spring_params *p = batch->params;
    pcs_axial *axial;
    PCS_TRY(pcs_axial_create(ctx, batch, &axial));
    PCS_TRY(spring_prepare_law(ctx, p, axial));
    double stiffness = p->law.stiffness; // that of Rayleigh's damping is the one at rest
    if (axial->law != NULL) stiffness = pcs_axial_law_at(axial->law, 0.0, 0.0).stiffness;
    for (int c = 0; c < batch->ncell; c++) {
        pcs_axial_cell *cell = &axial->cell[c];
        cell->stiffness = stiffness;
        cell->damping = (axial->law == NULL ? p->law.damper : 0.0) + batch->damping_stiffness * stiffness;
        cell->slack = isnan(p->rest) ? 0.0 : cell->length - p->rest;
        cell->preload = p->force;
    }
    return PCS_OK;
}

static void spring_read_fields(const pcs_batch *batch, int cell, const double *q, const double *v,
                               double field[PCS_MAX_CELL_FIELDS])
{
    pcs_axial_view at = pcs_axial_look(batch, cell, q, v);
    field[0] = at.tension;
    field[1] = at.stretch;
    field[2] = at.energy;
}

const pcs_element_ops pcs_element_spring_damper = {
    .name = "spring_damper",
    .summary = "spring and damper along the present line between two nodes; no mass",
    .options = spring_options,
    .params_size = sizeof(spring_params),
    .check = spring_check,
    .stiffest = pcs_axial_stiffest,
    .ndof = 6,
    .is_nonlinear = true,
    .sees_velocity = true,
    .fields = spring_fields,
    .node_dofs = spring_node_dofs,
    .setup = spring_setup,
    .read_fields = spring_read_fields,
    PCS_AXIAL_KERNELS,
};
