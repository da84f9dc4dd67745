// Spring and damper along the line between two nodes, however far they move; no mass of its own.
//
//   N = stiffness (l - rest) + force + damper l', or by a table, polynomial, clearance, stop and exponent: axial.h
//
// Its ends may be points at arms r from the nodes, which turn with them: p = x + R r. With J = dp_2/dx - dp_1/dx, whose
// columns of material spins are +-R (e_j x r), P = I - n n^T, and of each node D = R^T n, W the material angular
// velocity and B = D r^T - (r . D) I:
//
//   force = -N J^T n,   C = c J^T n n^T J
//   K = J^T (n (k n + c P l'/l)^T + (N / l) P) J + sum over the nodes of +-(N B in their rotations + c J^T n (W^T B))
//
// Small rotations leave arms in their reference direction, and the sum vanishes.

#include "core/rotation.h"
#include "elements/axial.h"

#include <math.h>
#include <string.h>

typedef struct spring_params {
    pcs_axial_law law;
    double rest, force;
    double offset_a[3], offset_b[3];
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
    PCS_VECTOR("offset_a", spring_params, offset_a, PCS_DEFAULT("[0, 0, 0]"), PCS_ANY_NUMBER,
               "rigid arm from the first node to the end of the spring, in the reference state, m"),
    PCS_VECTOR("offset_b", spring_params, offset_b, PCS_DEFAULT("[0, 0, 0]"), PCS_ANY_NUMBER,
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
    return pcs_norm3(p->offset_a) > 0.0 || pcs_norm3(p->offset_b) > 0.0;
}

static const char *spring_check(const void *params, const char **option)
{
    const spring_params *p = params;
    const char *fault = axial_law_check(&p->law, option);
    if (fault != NULL || p->in != 0 || !spring_has_arms(p)) return fault;
    *option = pcs_norm3(p->offset_a) > 0.0 ? "offset_a" : "offset_b";
    return "nodes that move along a line do not turn: an arm needs 'in: plane' or 'in: space'";
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
    double stiffness = p->law.stiffness; // that of Rayleigh's damping is the one at rest
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
    PCS_TRY(pcs_axial_create(ctx, batch, &axial));
    PCS_TRY(spring_prepare_law(ctx, batch->params, axial));
    spring_fill(batch, axial);
    return PCS_OK;
}

static void spring_put_fields(const pcs_axial_view *at, double field[PCS_MAX_CELL_FIELDS])
{
    field[0] = at->tension;
    field[1] = at->stretch;
    field[2] = at->energy;
}

static void spring_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                               double field[PCS_MAX_CELL_FIELDS])
{
    pcs_axial_view axial = pcs_axial_look(batch, cell, at);
    spring_put_fields(&axial, field);
}

// Counts the dofs of springs with arms: three displacements and three rotations per node.
enum { NODE = 6, NDOF = 2 * NODE };

static const double *arms_of(const pcs_batch *batch, int node)
{
    const spring_params *p = batch->params;
    return node == 0 ? p->offset_a : p->offset_b;
}

static void arms_span(const pcs_batch *batch, int cell, double span[3])
{
    const spring_params *p = batch->params;
    pcs_cell_span(batch, cell, span);
    for (int k = 0; k < 3; k++) span[k] += p->offset_b[k] - p->offset_a[k];
}

// Declares the dofs of a node; only a node with an arm rotates, in the plane about z.
static pcs_status arms_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out)
{
    const spring_params *p = batch->params;
    int dim = p->in + 1;
    double span[3];
    bool turns = pcs_norm3(arms_of(batch, local_node)) > 0.0;
    arms_span(batch, cell, span);
    PCS_TRY(pcs_axial_check_ends(ctx, batch, cell, dim, span));
    pcs_cell_space_dofs(out);
    out->is_finite = turns && p->angles == 0;
    for (int k = 0; k < 3; k++) {
        if (k >= dim) out->direction[k][k] = 0.0;
        if (!turns || (dim == 2 && k < 2)) out->direction[3 + k][k] = 0.0;
    }
    return PCS_OK;
}

static pcs_status arms_setup(pcs_context *ctx, pcs_batch *batch)
{
    pcs_axial *axial;
    PCS_TRY(pcs_axial_create(ctx, batch, &axial));
    PCS_TRY(spring_prepare_law(ctx, batch->params, axial));
    axial->shape = (pcs_cell_shape){ .ndof = NDOF, .node_dofs = NODE, .translations = 3 };
    for (int c = 0; c < batch->ncell; c++) {
        arms_span(batch, c, axial->cell[c].span);
        axial->cell[c].length = pcs_norm3(axial->cell[c].span);
    }
    spring_fill(batch, axial);
    return PCS_OK;
}

// Holds kinematics of a cell in the current state.
typedef struct arms_state {
    pcs_axial_state axial;
    double J[3][NDOF], Jn[NDOF]; // Jn = J^T n
    double D[2][3], W[2][3];
} arms_state;

// Computes exp(p) r - r without cancellation at small p; p x r if is_small.
static void arms_turn(const double p[3], bool is_small, const double r[3], double out[3])
{
    double half = 0.5 * pcs_norm3(p), sinc = half > 0.0 ? sin(half) / half : 1.0, once[3], twice[3];
    pcs_cross(p, r, once);
    pcs_cross(p, once, twice);
    for (int k = 0; k < 3; k++) out[k] = is_small ? once[k] : sinc * (cos(half) * once[k] + 0.5 * sinc * twice[k]);
}

// Computes the columns of J of one node, and its rotation matrix.
static void arms_columns(const pcs_batch *batch, int node, const double p[3], arms_state *s, double R[9])
{
    const double none[3] = { 0 }, *r = arms_of(batch, node), sign = node == 0 ? -1.0 : 1.0;
    bool is_small = ((const spring_params *)batch->params)->angles == 1;
    pcs_rotation_exp(is_small ? none : p, R);
    for (int j = 0; j < 3; j++) {
        const double unit[3] = { j == 0, j == 1, j == 2 };
        double material[3], turned[3];
        pcs_cross(unit, r, material);
        pcs_rotation_apply(R, material, turned);
        for (int i = 0; i < 3; i++) {
            s->J[i][NODE * node + j] = sign * unit[i];
            s->J[i][NODE * node + 3 + j] = sign * turned[i];
        }
    }
}

// Evaluates a cell from local displacements and velocities.
static void arms_look(const pcs_batch *batch, int cell, const double *u, const double *y, arms_state *s)
{
    bool is_small = ((const spring_params *)batch->params)->angles == 1;
    double x[3], w[3] = { 0 }, turned[2][3], R[2][9];
    for (int node = 0; node < 2; node++) {
        arms_turn(u + NODE * node + 3, is_small, arms_of(batch, node), turned[node]);
        arms_columns(batch, node, u + NODE * node + 3, s, R[node]);
        memcpy(s->W[node], y + NODE * node + 3, sizeof s->W[node]);
    }
    for (int k = 0; k < 3; k++) {
        x[k] = u[NODE + k] + turned[1][k] - (u[k] + turned[0][k]);
        for (int j = 0; j < NDOF; j++) w[k] += s->J[k][j] * y[j];
    }
    s->axial = pcs_axial_find(batch->data, cell, x, w);
    for (int j = 0; j < NDOF; j++)
        s->Jn[j] = s->axial.n[0] * s->J[0][j] + s->axial.n[1] * s->J[1][j] + s->axial.n[2] * s->J[2][j];
    for (int node = 0; node < 2; node++) pcs_rotation_apply_transposed(R[node], s->axial.n, s->D[node]);
}

static void arms_find(const pcs_batch *batch, int cell, const pcs_cell_state *at, arms_state *s)
{
    double u[NDOF], y[NDOF];
    pcs_cell_look_or_rest(batch, cell, NDOF, at, u, y);
    arms_look(batch, cell, u, y, s);
}

// Computes internal and damping force on the dofs of a cell, as forces on the body.
static void arms_cell_force(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *force)
{
    arms_state s;
    arms_find(batch, cell, at, &s);
    for (int i = 0; i < NDOF; i++) force[i] = -s.axial.at.tension * s.Jn[i];
}

static void arms_force(const pcs_batch *batch, const pcs_cell_state *at, double *f)
{
    pcs_cell_add_force(batch, NDOF, arms_cell_force, at, f);
}

// Adds the part of the rotation of one node to K.
static void arms_add_spin(const pcs_batch *batch, const arms_state *s, int node, double *K)
{
    const double *r = arms_of(batch, node), *D = s->D[node], sign = node == 0 ? -1.0 : 1.0;
    double along = pcs_dot3(r, D), pull = sign * s->axial.at.tension, drag = sign * s->axial.at.damping;
    int first = NODE * node + 3;
    for (int j = 0; j < 3; j++) {
        double rate = 0.0;
        for (int i = 0; i < 3; i++) {
            double B = D[i] * r[j] - (i == j ? along : 0.0);
            K[(first + i) * NDOF + first + j] += pull * B;
            rate += s->W[node][i] * B;
        }
        for (int i = 0; i < NDOF; i++) K[i * NDOF + first + j] += drag * s->Jn[i] * rate;
    }
}

static void arms_stiffness(const pcs_batch *batch, const arms_state *s, double *K)
{
    const pcs_axial_view *at = &s->axial.at;
    double across =
        s->axial.length > 0.0 ? 1.0 / s->axial.length : 0.0; // without a length there is no direction across
    for (int j = 0; j < NDOF; j++) {
        double w = 0.0;
        for (int k = 0; k < 3; k++) w += s->axial.w[k] * s->J[k][j];
        double turn = at->damping * across * (w - at->rate * s->Jn[j]);
        for (int i = 0; i < NDOF; i++) {
            double JJ = s->J[0][i] * s->J[0][j] + s->J[1][i] * s->J[1][j] + s->J[2][i] * s->J[2][j];
            double along = s->Jn[i] * s->Jn[j];
            K[i * NDOF + j] = at->stiffness * along + at->tension * across * (JJ - along) + s->Jn[i] * turn;
        }
    }
    if (((const spring_params *)batch->params)->angles == 1) return;
    for (int node = 0; node < 2; node++) arms_add_spin(batch, s, node, K);
}

// Bounds K in all positions: the line may become perpendicular to the arms, which then are levers of full length.
static void arms_stiffest(const pcs_batch *batch, int cell, double *K)
{
    const pcs_axial *axial = batch->data;
    arms_state s;
    arms_find(batch, cell, NULL, &s);
    double at_rest = s.axial.at.stiffness, most = at_rest;
    if (axial->law != NULL) most = pcs_axial_law_stiffest(axial->law);
    s.axial.at.tension = fmax(s.axial.at.tension, 0.0); // a pressure need not last
    arms_stiffness(batch, &s, K);
    double longest[NDOF];
    memcpy(longest, s.Jn, sizeof longest);
    for (int node = 0; node < 2; node++) {
        const double *r = arms_of(batch, node);
        for (int j = 0; j < 3; j++) longest[NODE * node + 3 + j] = hypot(r[(j + 1) % 3], r[(j + 2) % 3]);
    }
    for (int i = 0; i < NDOF; i++)
        for (int j = 0; j < NDOF; j++) K[i * NDOF + j] += most * longest[i] * longest[j] - at_rest * s.Jn[i] * s.Jn[j];
}

static void arms_matrices(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *M, double *K, double *C)
{
    arms_state s;
    if (M != NULL) memset(M, 0, NDOF * NDOF * sizeof *M);
    if (at == pcs_stiffest) {
        arms_stiffest(batch, cell, K);
        return;
    }
    arms_find(batch, cell, at, &s);
    if (K != NULL) arms_stiffness(batch, &s, K);
    for (int i = 0; i < NDOF && C != NULL; i++)
        for (int j = 0; j < NDOF; j++) C[i * NDOF + j] = s.axial.at.damping * s.Jn[i] * s.Jn[j];
}

static void arms_measure(const pcs_batch *batch, const pcs_cell_state *at, unsigned what, pcs_cell_sums *sum)
{
    const pcs_cell_state beside = { .q = at->q, .v = at->along };
    if (what & PCS_CELL_RESULTANT)
        pcs_cell_add_resultant(batch, &((const pcs_axial *)batch->data)->shape, arms_cell_force, at, sum);
    for (int c = 0; c < batch->ncell; c++) {
        arms_state s, along;
        arms_find(batch, c, at, &s);
        if (what & PCS_CELL_ENERGY) sum->strain += s.axial.at.energy;
        if (!(what & PCS_CELL_POWER)) continue;
        arms_find(batch, c, &beside, &along);
        sum->power += s.axial.at.drag * along.axial.at.rate;
    }
}

static void arms_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                             double field[PCS_MAX_CELL_FIELDS])
{
    arms_state s;
    arms_find(batch, cell, at, &s);
    spring_put_fields(&s.axial.at, field);
}

static void arms_outline(const void *params, const double span[3], pcs_cell_outline *out)
{
    const spring_params *p = params;
    memcpy(out->arm[0], p->offset_a, sizeof out->arm[0]);
    memcpy(out->arm[1], p->offset_b, sizeof out->arm[1]);
    out->is_finite = p->angles == 0;
}

#define SPRING_COMMON                                                                                             \
    .name = "spring_damper",                                                                                      \
    .summary = "spring and damper along the present line between two nodes, or points fixed "                     \
               "to them; no mass",                                                                                \
    .options = spring_options, .params_size = sizeof(spring_params), .check = spring_check, .is_nonlinear = true, \
    .sees_velocity = true, .nnode = 2, .fields = spring_fields

static const pcs_element_ops arms_ops = {
    SPRING_COMMON,
    .ndof = NDOF,
    .node_dofs = arms_node_dofs,
    .setup = arms_setup,
    .matrices = arms_matrices,
    .force = arms_force,
    .measure = arms_measure,
    .read_fields = arms_read_fields,
    .outline = arms_outline,
};

static const pcs_element_ops *spring_variant(const void *params)
{
    return spring_has_arms(params) ? &arms_ops : NULL;
}

const pcs_element_ops pcs_element_spring_damper = {
    SPRING_COMMON,         .variant = spring_variant,         .ndof = 6,         .node_dofs = spring_node_dofs,
    .setup = spring_setup, .read_fields = spring_read_fields, PCS_AXIAL_KERNELS,
};
