// Initial positions and velocities of a finite-element model: linear over each set, or functions of position.
//
// A spin w is given in space: nodes with finite rotations R in space take R^T w. About a point p it is that of a rigid
// body, v = w x (x - p) on top of the velocity given.

#include "core/rotation.h"
#include "fe/data.h"

#include <float.h>
#include <math.h>

enum { HAS_DISPLACEMENT = 1, HAS_VELOCITY = 2, HAS_ROTATION = 4, HAS_SPIN = 8 };

// Holds the initial quantity to set, the nodes that have it already, and the vector it is written to.
typedef struct initial_field {
    const char *what;
    int flag;
    unsigned char *given; // [nnode] flags
    double *out;          // [nq] or [nv]
} initial_field;

// Sets one entry. Fails if two entries of the case differ at a shared node by more than round-off of formulas.
static pcs_status initial_put(const pcs_system *self, const initial_field *field, int node, int equation, double value)
{
    double *out = &field->out[equation];
    bool is_again = (field->given[node] & field->flag) != 0;
    if (is_again && fabs(*out - value) > 1e-12 * fabs(value))
        return pcs_fail(self->ctx, PCS_BAD_INPUT, "the %s of node %d is given twice, as %g and %g", field->what, node,
                        *out, value);
    if (!is_again) *out = value;
    return PCS_OK;
}

static bool initial_can_rotate(const fe_data *fe, int node)
{
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++)
        if (fe->map.dof[i].is_rotation) return true;
    return false;
}

// Resolves a nodal vector along the node's translations, or a rotation vector or an angular velocity along its
// rotations, and sets the entries of their equations.
static pcs_status initial_set_node(const pcs_system *self, int node, const double value[3], const initial_field *field)
{
    const fe_data *fe = self->data;
    const char *what = field->what;
    bool rotates = (field->flag & (HAS_ROTATION | HAS_SPIN)) != 0;
    int dof[PCS_MAX_NODE_DOFS];
    double part[PCS_MAX_NODE_DOFS];
    int count = pcs_dofmap_resolve(&fe->map, rotates, node, value, dof, part);
    if (count < 0 && rotates && !initial_can_rotate(fe, node))
        return pcs_fail(self->ctx, PCS_BAD_INPUT,
                        "node %d has no rotations and cannot have the %s [%g, %g, %g]; the spin of a body of such "
                        "nodes needs 'about', a point on its axis",
                        node, what, value[0], value[1], value[2]);
    if (count < 0)
        return pcs_fail(self->ctx, PCS_BAD_INPUT,
                        "node %d cannot have the %s [%g, %g, %g]: its elements give it no such %s", node, what,
                        value[0], value[1], value[2], rotates ? "rotation" : "direction");
    for (int i = 0; i < count; i++) {
        int equation = fe->map.dof[dof[i]].equation;
        if (equation == PCS_EQUATION_ELSEWHERE) continue;
        if (equation < 0)
            return pcs_fail(self->ctx, PCS_BAD_INPUT,
                            "node %d is held by a support and cannot have the %s [%g, %g, %g]", node, what, value[0],
                            value[1], value[2]);
        PCS_TRY(initial_put(self, field, node, equation, part[i]));
    }
    field->given[node] |= (unsigned char)field->flag;
    return PCS_OK;
}

// Sets the angular velocity of a node, in material components, by the initial rotation that is already in q.
static pcs_status initial_spin_node(const pcs_system *self, const pcs_fe_initial *entry, int node, const double w[3],
                                    const double *q, const initial_field *field)
{
    const fe_data *fe = self->data;
    double material[3] = { w[0], w[1], w[2] };
    int first = pcs_table_rotation(self, &fe->map, node);
    if (entry->has_about && !initial_can_rotate(fe, node)) return PCS_OK; // a node of a truss only translates
    if (first >= 0) {
        double R[9];
        pcs_rotation_exp(q + first, R);
        pcs_rotation_apply_transposed(R, w, material);
    }
    return initial_set_node(self, node, material, field);
}

// Computes w x (x - p), m/s; round-off of x - p is cleared, as a support may fix a node at p.
static void initial_swing(const double w[3], const double x[3], const double p[3], double out[3])
{
    double arm[3];
    for (int k = 0; k < 3; k++) {
        arm[k] = x[k] - p[k];
        if (fabs(arm[k]) <= 4.0 * DBL_EPSILON * (fabs(x[k]) + fabs(p[k]))) arm[k] = 0.0;
    }
    pcs_cross(w, arm, out);
}

// Interpolates linearly between both ends; exact, without round-off, if the ends are equal.
static double initial_mix(const pcs_fe_profile *p, int k, double s)
{
    double from = p->ends[0][k], to = p->ends[1][k];
    return from == to ? from : (1.0 - s) * from + s * to;
}

// Evaluates a profile at a node, at the fraction s of its set.
static pcs_status initial_value(const pcs_system *self, const pcs_fe_profile *p, int node, double s, double out[3])
{
    const fe_data *fe = self->data;
    const double *x = fe->model.mesh->x[node];
    for (int k = 0; k < 3; k++) {
        bool has_formula = p->formula[k] != NULL;
        out[k] = has_formula ? pcs_expression_value(p->formula[k], x) : initial_mix(p, k, s);
        if (!isfinite(out[k]))
            return pcs_fail(self->ctx, PCS_BAD_INPUT, "the formula of %c gives %g at node %d, [%g, %g, %g]", "xyz"[k],
                            out[k], node, x[0], x[1], x[2]);
    }
    return PCS_OK;
}

// Holds a state under construction, and flags of the quantities that each node has been given.
typedef struct initial_state {
    double *q, *v;
    unsigned char *given; // [nnode] flags
} initial_state;

static pcs_status initial_move_node(const pcs_system *self, const pcs_fe_initial *entry, int node, double s,
                                    initial_state x)
{
    const fe_data *fe = self->data;
    const initial_field displacement = { "initial displacement", HAS_DISPLACEMENT, x.given, x.q };
    const initial_field rotation = { "initial rotation", HAS_ROTATION, x.given, x.q };
    double value[3];
    if (entry->displacement.is_given) {
        PCS_TRY(initial_value(self, &entry->displacement, node, s, value));
        PCS_TRY(initial_set_node(self, node, value, &displacement));
    }
    if (!entry->rotation.is_given) return PCS_OK;
    PCS_TRY(initial_value(self, &entry->rotation, node, s, value));
    if (pcs_table_rotation(self, &fe->map, node) >= 0)
        pcs_rotation_compose((const double[3]){ 0.0 }, value, value); // to <= pi
    return initial_set_node(self, node, value, &rotation);
}

static pcs_status initial_push_node(const pcs_system *self, const pcs_fe_initial *entry, int node, double s,
                                    initial_state to)
{
    const fe_data *fe = self->data;
    const initial_field motion = { "initial velocity", HAS_VELOCITY, to.given, to.v };
    const initial_field spin = { "initial spin", HAS_SPIN, to.given, to.v };
    double velocity[3], w[3], x[3], swing[3];
    PCS_TRY(initial_value(self, &entry->velocity, node, s, velocity));
    PCS_TRY(initial_value(self, &entry->spin, node, s, w));
    if (entry->has_about) {
        pcs_dofmap_vector(&fe->map, false, node, to.q, x);
        for (int k = 0; k < 3; k++) x[k] += fe->model.mesh->x[node][k];
        initial_swing(w, x, entry->about, swing);
        for (int k = 0; k < 3; k++) velocity[k] += swing[k];
    }
    if (entry->velocity.is_given || entry->has_about) PCS_TRY(initial_set_node(self, node, velocity, &motion));
    if (!entry->spin.is_given) return PCS_OK;
    return initial_spin_node(self, entry, node, w, to.q, &spin);
}

// Applies an entry to all its nodes: positions or, in a second pass, velocities, which depend on positions.
static pcs_status initial_apply(const pcs_system *self, const pcs_fe_initial *entry, bool is_motion, initial_state x)
{
    int whole = pcs_set_size(entry->nodes);
    for (int i = 0; i < entry->nodes->count; i++) {
        double s = whole > 1 ? (double)pcs_set_place(entry->nodes, i) / (whole - 1) : 0.0;
        int node = entry->nodes->items[i];
        if (is_motion) PCS_TRY(initial_push_node(self, entry, node, s, x));
        else PCS_TRY(initial_move_node(self, entry, node, s, x));
    }
    return PCS_OK;
}

pcs_status pcs_fe_initial_state(const pcs_system *self, double *q, double *v, const char **culprit)
{
    const fe_data *fe = self->data;
    int nnode = fe->model.mesh->nnode;
    *culprit = NULL;
    unsigned char *given = pcs_scratch(NULL, (size_t)nnode, 1);
    if (given == NULL) return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: initial state of %d nodes", nnode);
    for (int i = 0; i < nnode; i++) given[i] = 0;
    pcs_status status = PCS_OK;
    for (int i = 0; i < 2 * fe->model.ninitial && status == PCS_OK; i++) {
        const pcs_fe_initial *entry = &fe->model.initials[i % fe->model.ninitial];
        status = initial_apply(self, entry, i >= fe->model.ninitial, (initial_state){ q, v, given });
        if (status != PCS_OK) *culprit = pcs_culprit(self->ctx, "initial", entry->nodes->name);
    }
    pcs_scratch_free(given);
    return status;
}
