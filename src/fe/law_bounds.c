// Contacts with force laws in a finite-element model: the sparsity pattern of their tangents, and bounds of the
// frequencies that they cause, for the stable step.

#include "fe/data.h"

#include <math.h>

// Largest number of matrix entries that the points of a contact may need.
static const double most_entries = 4e7;

void pcs_fe_find_laws(fe_data *fe)
{
    for (int k = 0; k < fe->model.ncontact; k++) {
        const pcs_law *law = &fe->model.contacts[k].law;
        pcs_law_bound bound;
        if (!pcs_law_is_force(law)) continue;
        law->ops->bound(law->params, 1.0, 1.0, &bound);
        fe->is_damped = fe->is_damped || bound.by_rate > 0.0;
        fe->has_laws = fe->is_nonlinear = true;
    }
}

// Holds the nodes of one of a contact's sets at which it has points on this rank.
typedef struct bounds_nodes {
    const pcs_set *nodes, *cells; // one is NULL
} bounds_nodes;

static bounds_nodes bounds_set(const fe_data *fe, const pcs_row_source *c, int k)
{
    const pcs_mesh *mesh = fe->model.mesh;
    const char *name = pcs_source_set_name(c->ops, c->params, k), *first = pcs_source_set_name(c->ops, c->params, 0);
    return c->ops->sets[k].is_cells ? (bounds_nodes){ .cells = pcs_mesh_cell_set(mesh, name) }
                                    : (bounds_nodes){ .nodes = pcs_set_touching(pcs_mesh_node_set(mesh, name), first) };
}

static int bounds_count(const bounds_nodes *set)
{
    return set->cells != NULL ? 2 * set->cells->count : set->nodes->count;
}

static int bounds_node(const fe_data *fe, const bounds_nodes *set, int i)
{
    return set->cells != NULL ? fe->model.mesh->cell[set->cells->items[i / 2]][i % 2] : set->nodes->items[i];
}

static pcs_status bounds_join(const fe_data *fe, pcs_pattern_builder *builder, int a, int b)
{
    int equation[2 * PCS_MAX_NODE_DOFS], count = 0;
    const int node[2] = { a, b };
    for (int k = 0; k < (a == b ? 1 : 2); k++)
        for (int d = fe->map.first[node[k]]; d < fe->map.first[node[k] + 1]; d++)
            equation[count++] = fe->map.dof[d].equation;
    for (int i = 0; i < count; i++)
        if (equation[i] < 0) equation[i] = -1;
    return pcs_pattern_add_cells(builder, 1, count, equation);
}

// Adds the pairs of every node with itself, and with every node it may press on: all of the other set, or its partner.
static pcs_status bounds_join_contact(pcs_system *self, const fe_data *fe, const pcs_row_source *c,
                                      pcs_pattern_builder *builder)
{
    const pcs_source_set *other = &c->ops->sets[1];
    bounds_nodes a = bounds_set(fe, c, 0), b = other->option == NULL ? a : bounds_set(fe, c, 1);
    bool is_paired = other->option != NULL && !other->is_common;
    int na = bounds_count(&a), nb = other->option == NULL ? 0 : bounds_count(&b);
    if (!is_paired && (double)na * nb * PCS_MAX_NODE_DOFS * PCS_MAX_NODE_DOFS > most_entries)
        return pcs_fail(self->ctx, PCS_BAD_INPUT,
                        "a force law between %d and %d ends of cells or nodes is too large: each of them may press on "
                        "each; name smaller sets, or take the rigid law",
                        na, nb);
    for (int i = 0; i < na; i++) PCS_TRY(bounds_join(fe, builder, bounds_node(fe, &a, i), bounds_node(fe, &a, i)));
    for (int j = 0; j < nb; j++) PCS_TRY(bounds_join(fe, builder, bounds_node(fe, &b, j), bounds_node(fe, &b, j)));
    if (is_paired && na != nb) return PCS_OK; // reported where the points are made
    for (int i = 0; i < na; i++)
        for (int j = is_paired ? i : 0; j < (is_paired ? i + 1 : nb); j++)
            PCS_TRY(bounds_join(fe, builder, bounds_node(fe, &a, i), bounds_node(fe, &b, j)));
    return PCS_OK;
}

pcs_status pcs_fe_add_law_pattern(pcs_system *self, const fe_data *fe, pcs_pattern_builder *builder,
                                  const char **culprit)
{
    for (int k = 0; k < fe->model.ncontact; k++) {
        const pcs_row_source *c = &fe->model.contacts[k];
        if (!pcs_law_is_force(&c->law)) continue;
        pcs_status status = bounds_join_contact(self, fe, c, builder);
        if (status != PCS_OK) *culprit = pcs_culprit(self->ctx, "contacts", c->name);
        PCS_TRY(status);
    }
    return PCS_OK;
}

// Returns the smallest mass, kg (or inertia, kg m^2), at an equation on which the points of a contact may act.
static double bounds_least_mass(const pcs_system *self, const pcs_row_source *c, const double *mass, bool of_rotations)
{
    const fe_data *fe = self->data;
    double least = INFINITY;
    for (int s = 0; c->ops->sets[s].option != NULL; s++) {
        bounds_nodes set = bounds_set(fe, c, s);
        for (int i = 0; i < bounds_count(&set); i++) {
            int node = bounds_node(fe, &set, i);
            for (int d = fe->map.first[node]; d < fe->map.first[node + 1]; d++) {
                const pcs_dof *dof = &fe->map.dof[d];
                bool is_own = dof->equation >= 0 && dof->equation < pcs_system_nown(self);
                if (is_own && dof->is_rotation == of_rotations) least = fmin(least, mass[dof->equation]);
            }
        }
    }
    return -pcs_system_max(self, -least);
}

// Returns L D^-1 L^T, 1/kg, of a row with constant direction, to which each equation gives a share of its mass.
static double bounds_mobility(const pcs_system *self, const pcs_rows *L, int row, const double *mass, const int *share)
{
    double sum = 0.0;
    for (int e = L->start[row]; e < L->start[row + 1]; e++) {
        int equation = L->column[e];
        if (L->value[e] == 0.0 || equation >= pcs_system_nown(self)) continue;
        sum += L->value[e] * L->value[e] * (share[equation] > 0 ? share[equation] : 1) / mass[equation];
    }
    if (self->row_comm == NULL) pcs_system_sum(self, 1, &sum);
    return sum;
}

// Finds the largest mobilities L M^-1 L^T, 1/kg, of the points on this rank, along normals and tangents; friction acts
// on rotations, too. If directions vary, bounds them by the least masses of the nodes of both sides, arms up to the
// contact's reach, and two points at one node.
static void bounds_find_mobility(const pcs_system *self, const pcs_table_source *own, const double *mass,
                                 const int *share, double most[2])
{
    const pcs_row_source *c = own->model;
    const pcs_row_table *table = self->row_set.table;
    most[0] = most[1] = 0.0;
    if (!own->is_frozen) {
        double sides = c->ops->sets[1].option == NULL ? 1.0 : 2.0, arm = own->shape.reach;
        double mobility = 1.0 / bounds_least_mass(self, c, mass, false);
        if (arm > 0.0) mobility += arm * arm / bounds_least_mass(self, c, mass, true);
        bool has_cells = c->ops->sets[0].is_cells || (sides > 1.0 && c->ops->sets[1].is_cells);
        most[0] = (has_cells ? 2.0 : 1.0) * sides * mobility;
        if (own->shape.ntangent > 0) most[1] = most[0];
    }
    for (int row = own->first_row; row < own->first_row + own->nrow; row++) {
        int first = self->rows[row].first_tangent - self->ntangent;
        if (own->is_frozen) most[0] = fmax(most[0], bounds_mobility(self, table->L, row - self->nrow, mass, share));
        for (int t = first; t < first + own->shape.ntangent; t++)
            most[1] = fmax(most[1], bounds_mobility(self, table->T, t, mass, share));
    }
}

// Counts the rows of points with constant directions that share the mass at every equation; `rest` is zero.
void pcs_fe_share_laws(const pcs_system *self, const double *rest, int *share)
{
    const pcs_row_table *table = self->row_set.table;
    if (table->L == NULL) return;
    pcs_table_look_at_laws(self, rest);
    for (int row = self->nrow; row < pcs_system_npoint(self); row++) {
        if (!table->sources[self->rows[row].contact].is_frozen) continue;
        for (int t = -1; t < self->rows[row].ntangent; t++) {
            const pcs_rows *L = t < 0 ? table->L : table->T;
            int i = t < 0 ? row - self->nrow : self->rows[row].first_tangent - self->ntangent + t;
            for (int e = L->start[i]; e < L->start[i + 1]; e++) share[L->column[e]] += L->value[e] != 0.0;
        }
    }
}

// Returns the work of gravity, J, over the current gap for which it is largest, plus that over the size of the model
// and rotations of 1 rad.
static double bounds_fall(const pcs_system *self)
{
    const fe_data *fe = self->data;
    const pcs_row_table *table = self->row_set.table;
    double sum[4] = { 0.0 }, way = 0.0; // weight by directions, and work through the size
    int ndof = self->gravity == NULL ? 0 : fe->map.ndof;
    for (int i = 0; i < ndof; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (d->equation < 0 || d->equation >= pcs_system_nown(self)) continue;
        double force = self->gravity[d->equation], weight = d->is_rotation ? 0.0 : force;
        for (int k = 0; k < 3; k++) sum[k] += weight * d->direction[k];
        sum[3] += fabs(force) * (d->is_rotation ? 1.0 : self->length);
    }
    pcs_system_sum(self, 4, sum);
    for (int p = 0; p < self->ncompliant; p++)
        if (isfinite(table->gap[p]))
            way = fmax(way, -pcs_dot3(sum, table->states[self->nrow + p].normal) * fmax(table->gap[p], 0.0));
    return sum[3] + pcs_system_max(self, way);
}

// Bounds the energy that a law can store, J, by that of the initial state and the fall from there. Also sets `speed`.
static double bounds_energy(const pcs_system *self, double *q, double *v, double *speed)
{
    const char *culprit;
    pcs_measure measure;
    *speed = 0.0;
    (void)pcs_fe_initial_state(self, q, v, &culprit); // faults are reported where the state is made
    self->ops->measure(self, pcs_at(0.0, q, v), PCS_ENERGY, &measure);
    pcs_table_look_at_laws(self, q);
    double energy = measure.kinetic + measure.strain + bounds_fall(self);
    if (self->mass > 0.0) *speed = sqrt(2.0 * energy / self->mass);
    return energy;
}

void pcs_fe_find_law_rates(pcs_system *self, fe_data *fe, const double *mass, const int *share, double *work)
{
    double speed;
    if (!fe->has_laws) return;
    double energy = bounds_energy(self, work, work + self->nv, &speed);
    for (int k = 0; k < fe->model.ncontact; k++) {
        const pcs_table_source *own = &self->row_set.table->sources[k];
        const pcs_law *law = &own->model->law;
        double mobility[2];
        pcs_law_bound bound;
        if (!own->is_soft) continue;
        law->ops->bound(law->params, energy, speed, &bound);
        bounds_find_mobility(self, own, mass, share, mobility);
        fe->spring_rate2 = fmax(fe->spring_rate2, fmax(mobility[0] * bound.by_gap, mobility[1] * bound.tangent));
        fe->spring_damping = fmax(fe->spring_damping, mobility[0] * bound.by_rate);
    }
}
