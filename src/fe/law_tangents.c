// Computes the terms of force laws in K and C, their sparsity pattern, and the highest frequency that they cause.
//
//   K = a L^T L + b L^T (dL/dq v)^T - F dL^T/dq,   C = b L^T L,   a = -dF/dg, b = -dF/dg'
//
// and friction f(f*, F, k_t), with f* of the displacement s = p w, w = T (q - q_n) (fe/laws.h), and c = df/dF:
//
//   K += T^T (k_m p df/df* T + e L^T),   e = c a + df/dk_t k_t' - k_m p' df/df* w,   C += T^T c b L^T
//   K += T^T (df/df* (k_m p (dw/dq - T) - df_0/dq) + c b (dL/dq v)^T) - f dT^T/dq
//
// dL/dq comes from central differences along the equations of a point; points that have no equation in common are
// moved at once. It is exact to about 1e-9 of the curvature, which costs no more than a part of an iteration.

#include "fe/laws.h"

#include <math.h>
#include <string.h>

// Sets the step of central differences: a fraction of the model size, or rad for rotations.
static const double small_way = 1e-6;
// Entries of the matrices that the points of a contact may take.
static const double most_entries = 4e7;

// A row of L or T.
typedef struct tangent_row {
    const pcs_rows *of;
    int row;
} tangent_row;

// value x^T y to a matrix, of the first `count` entries of both rows.
static void tangent_add_product(pcs_matrix *to, double value, tangent_row x, tangent_row y, int count)
{
    int a = x.of->start[x.row], b = y.of->start[y.row];
    for (int k = 0; k < count; k++)
        for (int l = 0; l < count; l++) {
            double product = value * x.of->value[a + k] * y.of->value[b + l];
            int place = product == 0.0 ? -1 : pcs_pattern_find(to->pattern, x.of->column[a + k], y.of->column[b + l]);
            if (place >= 0) to->value[place] += product;
        }
}

// a L^T L and b L^T L of a point whose force is known.
static void tangent_of_point(pcs_system *self, int point, int count)
{
    const fe_law_work *work = ((const fe_work *)self->work)->laws;
    const pcs_force_state *s = &work->force[point];
    tangent_row normal = { work->L, point };
    tangent_add_product(self->K, s->by_gap, normal, normal, count);
    if (self->C != NULL) tangent_add_product(self->C, s->by_rate, normal, normal, count);
}

// Adds the friction of a point to K and C with its directions L and T held constant.
static void tangent_of_friction(pcs_system *self, int point, int count)
{
    const fe_law_work *work = ((const fe_work *)self->work)->laws;
    const pcs_force_state *s = &work->force[point];
    const pcs_rub *rub = &work->rub[point];
    int first = pcs_fe_law_tangent(self, point), ntangent = pcs_fe_law_row(self, point)->ntangent;
    fe_slide x = pcs_fe_law_slide(self, point, &work->states[point], work->T, work->way);
    tangent_row normal = { work->L, point };
    for (int t = 0; t < ntangent; t++) {
        tangent_row across = { work->T, first + t };
        double along = rub->by_normal[t] * s->by_gap + rub->by_stiffness[t] * s->tangent_by_gap;
        for (int u = 0; u < ntangent; u++) {
            double slope = rub->stiffness * rub->by_trial[t][u];
            along -= x.by_gap * slope * x.way[u];
            tangent_add_product(self->K, x.part * slope, across, (tangent_row){ work->T, first + u }, count);
        }
        tangent_add_product(self->K, along, across, normal, count);
        if (self->C != NULL) tangent_add_product(self->C, rub->by_normal[t] * s->by_rate, across, normal, count);
    }
}

// The points that wait and share no equation with one another, as far as they come; gives their number.
static int tangent_take_round(const pcs_system *self, const fe_law_contact *own, int round)
{
    const fe_data *fe = self->data;
    fe_law_work *work = ((const fe_work *)self->work)->laws;
    int ntaken = 0;
    for (int p = own->first; p < own->first + own->nrow; p++) {
        const int *column = work->L->column + work->L->start[p];
        int count = pcs_fe_count_entries(fe, &work->states[p].direction);
        bool is_free = work->is_waiting[p] != 0;
        for (int e = 0; e < count && is_free; e++) is_free = work->mark[column[e]] != round;
        if (!is_free) continue;
        for (int e = 0; e < count; e++) work->mark[column[e]] = round;
        work->is_waiting[p] = 0;
        work->taken[ntaken++] = p;
    }
    return ntaken;
}

static double tangent_way(const pcs_system *self, int equation)
{
    const fe_data *fe = self->data;
    return fe->map.dof[fe->dof_of_equation[equation]].is_rotation ? small_way : small_way * self->length;
}

// The tangents, ways and forces at the start of them, at the position looked at.
static void tangent_look_across(const pcs_system *self, const fe_law_contact *own, int ntaken, double sign)
{
    const fe_data *fe = self->data;
    fe_law_work *work = ((const fe_work *)self->work)->laws;
    pcs_rows *out = sign > 0.0 ? work->ahead_T : work->behind_T;
    fe_slide *slides = sign > 0.0 ? work->ahead_slide : work->behind_slide;
    pcs_fe_look_at_slides(self, work->q, work->moved);
    for (int k = 0; k < ntaken; k++) {
        int p = work->taken[k];
        for (int t = 0; t < own->ntangent; t++)
            pcs_fe_put_direction(fe, &work->trial[p].tangent[t], work->q, out, pcs_fe_law_tangent(self, p) + t);
        slides[p] = pcs_fe_law_slide(self, p, &work->trial[p], out, work->moved);
    }
}

// The directions of the points taken, with entry e of each moved by `sign` times its way.
static void tangent_look(const pcs_system *self, const fe_law_contact *own, const double *q, int ntaken, int e,
                         double sign)
{
    const fe_data *fe = self->data;
    fe_law_work *work = ((const fe_work *)self->work)->laws;
    pcs_rows *out = sign > 0.0 ? work->ahead : work->behind;
    memset(work->x, 0, (size_t)self->nv * sizeof *work->x);
    for (int k = 0; k < ntaken; k++) {
        int p = work->taken[k];
        if (e >= pcs_fe_count_entries(fe, &work->states[p].direction)) continue;
        int equation = work->L->column[work->L->start[p] + e];
        work->x[equation] = sign * tangent_way(self, equation);
    }
    pcs_retract(&self->rotations, q, work->x, work->q);
    pcs_fe_evaluate_contact(self, own->contact, work->q, work->trial + own->first);
    for (int k = 0; k < ntaken; k++)
        pcs_fe_put_direction(fe, &work->trial[work->taken[k]].direction, work->q, out, work->taken[k]);
    if (own->ntangent > 0) tangent_look_across(self, own, ntaken, sign);
}

// Adds to column e of K the change of friction with the directions; `turn` is entry e of (dL/dq v)^T.
static void tangent_take_friction(pcs_system *self, int point, int e, int count, double turn)
{
    const fe_law_work *work = ((const fe_work *)self->work)->laws;
    const pcs_force_state *s = &work->force[point];
    const pcs_rub *rub = &work->rub[point];
    const fe_slide *ahead = &work->ahead_slide[point], *behind = &work->behind_slide[point];
    int first = pcs_fe_law_tangent(self, point), ntangent = pcs_fe_law_row(self, point)->ntangent;
    int at = work->T->start[first], width = FE_ROW_TERMS, equation = work->T->column[at + e];
    double span = 2.0 * tangent_way(self, equation), k = s->tangent, k0 = ahead->start.stiffness, rise[2] = { 0.0 };
    for (int u = 0; u < ntangent; u++)
        rise[u] = rub->stiffness * ahead->part *
                      ((ahead->way[u] - behind->way[u]) / span - work->T->value[at + u * width + e]) -
                  (k < k0 ? k / k0 : 1.0) * (ahead->start.force[u] - behind->start.force[u]) / span;
    for (int t = 0; t < ntangent; t++) {
        double across = rub->by_normal[t] * s->by_rate * turn;
        for (int u = 0; u < ntangent; u++) across += rub->by_trial[t][u] * rise[u];
        for (int i = 0; i < count; i++) {
            int p = at + t * width + i;
            double slope = (work->ahead_T->value[p] - work->behind_T->value[p]) / span;
            double value = across * work->T->value[p] - rub->force[t] * slope;
            int place = value == 0.0 ? -1 : pcs_pattern_find(self->K->pattern, work->T->column[p], equation);
            if (place >= 0) self->K->value[place] += value;
        }
    }
}

// Column e of b L^T (dL/dq v)^T - F dL^T/dq. A point that has gone over to other nodes is left out.
static void tangent_take_column(pcs_system *self, int point, int e, const double *v)
{
    const fe_data *fe = self->data;
    const fe_law_work *work = ((const fe_work *)self->work)->laws;
    const pcs_force_state *s = &work->force[point];
    int count = pcs_fe_count_entries(fe, &work->states[point].direction), first = work->L->start[point];
    const int *column = work->L->column + first;
    size_t bytes = (size_t)count * sizeof *column;
    if (e >= count || memcmp(column, work->ahead->column + first, bytes) != 0 ||
        memcmp(column, work->behind->column + first, bytes) != 0)
        return;
    double slope[FE_ROW_TERMS], turn = 0.0;
    for (int i = 0; i < count; i++) {
        slope[i] =
            (work->ahead->value[first + i] - work->behind->value[first + i]) / (2.0 * tangent_way(self, column[e]));
        turn += slope[i] * v[column[i]];
    }
    for (int i = 0; i < count; i++) {
        double value = s->by_rate * turn * work->L->value[first + i] - s->force * slope[i];
        int place = value == 0.0 ? -1 : pcs_pattern_find(self->K->pattern, column[i], column[e]);
        if (place >= 0) self->K->value[place] += value;
    }
    if (pcs_fe_law_row(self, point)->ntangent > 0) tangent_take_friction(self, point, e, count, turn);
}

static void tangent_add_turning(pcs_system *self, const fe_law_contact *own, const double *q, const double *v)
{
    fe_law_work *work = ((const fe_work *)self->work)->laws;
    memset(work->mark, 0, (size_t)self->nv * sizeof *work->mark);
    for (int p = own->first; p < own->first + own->nrow; p++) work->is_waiting[p] = work->force[p].force > 0.0;
    for (int round = 1, ntaken = 1; ntaken > 0; round++) {
        ntaken = tangent_take_round(self, own, round);
        for (int e = 0; e < FE_ROW_TERMS && ntaken > 0; e++) {
            tangent_look(self, own, q, ntaken, e, 1.0);
            tangent_look(self, own, q, ntaken, e, -1.0);
            for (int k = 0; k < ntaken; k++) tangent_take_column(self, work->taken[k], e, v);
        }
    }
}

void pcs_fe_law_tangents(pcs_system *self, const double *q, const double *v)
{
    const fe_data *fe = self->data;
    fe_law_work *work = ((const fe_work *)self->work)->laws;
    pcs_fe_look_at_laws(self, q);
    for (int p = 0; p < fe->laws->nrow; p++) {
        work->force[p] = pcs_fe_law_force_of(self, p, v);
        if (!(work->force[p].force > 0.0)) continue;
        int count = pcs_fe_count_entries(fe, &work->states[p].direction);
        tangent_of_point(self, p, count);
        if (pcs_fe_law_row(self, p)->ntangent == 0) continue;
        work->rub[p] = pcs_fe_law_rub(self, p, &work->force[p]);
        tangent_of_friction(self, p, count);
    }
    for (int k = 0; k < fe->laws->ncontact; k++)
        if (fe->laws->contacts[k].turns) tangent_add_turning(self, &fe->laws->contacts[k], q, v);
}

// Nodes of one of the sets that a contact names, at which it has points here.
typedef struct law_nodes {
    const pcs_set *nodes, *cells; // one of them
} law_nodes;

static law_nodes tangent_set(const fe_data *fe, const pcs_fe_contact *c, const char *option)
{
    const pcs_mesh *mesh = fe->model.mesh;
    const char *name = pcs_option_text(c->ops->options, c->params, option);
    const char *first = pcs_gap_set_name(c->ops, c->params, 0);
    bool is_cells = false;
    if (c->ops->cell_options != NULL)
        for (int i = 0; c->ops->cell_options[i] != NULL; i++)
            is_cells = is_cells || strcmp(c->ops->cell_options[i], option) == 0;
    return is_cells ? (law_nodes){ .cells = pcs_mesh_cell_set(mesh, name) }
                    : (law_nodes){ .nodes = pcs_set_touching(pcs_mesh_node_set(mesh, name), first) };
}

static int tangent_count(const law_nodes *set)
{
    return set->cells != NULL ? 2 * set->cells->count : set->nodes->count;
}

static int tangent_node(const fe_data *fe, const law_nodes *set, int i)
{
    return set->cells != NULL ? fe->model.mesh->cell[set->cells->items[i / 2]][i % 2] : set->nodes->items[i];
}

static pcs_status tangent_join(const fe_data *fe, pcs_pattern_builder *builder, int a, int b)
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

// Every node with itself, and with every node it may press on: all of the other set, or that of its pair.
static pcs_status tangent_join_contact(pcs_system *self, const fe_data *fe, const pcs_fe_contact *c,
                                       pcs_pattern_builder *builder)
{
    const char *const *options = c->ops->set_options;
    law_nodes a = tangent_set(fe, c, options[0]), b = options[1] == NULL ? a : tangent_set(fe, c, options[1]);
    bool is_paired = options[1] != NULL && c->ops->fill != NULL;
    int na = tangent_count(&a), nb = options[1] == NULL ? 0 : tangent_count(&b);
    if (!is_paired && (double)na * nb * PCS_MAX_NODE_DOFS * PCS_MAX_NODE_DOFS > most_entries)
        return pcs_fail(self->ctx, PCS_BAD_INPUT,
                        "a force law between %d and %d ends of cells or nodes is too large: each of them may press on "
                        "each; name smaller sets, or take the rigid law",
                        na, nb);
    for (int i = 0; i < na; i++) PCS_TRY(tangent_join(fe, builder, tangent_node(fe, &a, i), tangent_node(fe, &a, i)));
    for (int j = 0; j < nb; j++) PCS_TRY(tangent_join(fe, builder, tangent_node(fe, &b, j), tangent_node(fe, &b, j)));
    if (is_paired && na != nb) return PCS_OK; // told where the points are made
    for (int i = 0; i < na; i++)
        for (int j = is_paired ? i : 0; j < (is_paired ? i + 1 : nb); j++)
            PCS_TRY(tangent_join(fe, builder, tangent_node(fe, &a, i), tangent_node(fe, &b, j)));
    return PCS_OK;
}

pcs_status pcs_fe_add_law_pattern(pcs_system *self, const fe_data *fe, pcs_pattern_builder *builder,
                                  const char **culprit)
{
    if (fe->laws == NULL) return PCS_OK;
    for (int k = 0; k < fe->laws->ncontact; k++) {
        const pcs_fe_contact *c = &fe->model.contacts[fe->laws->contacts[k].contact];
        pcs_status status = tangent_join_contact(self, fe, c, builder);
        if (status != PCS_OK) *culprit = pcs_fe_culprit(self->ctx, "contacts", c->name);
        PCS_TRY(status);
    }
    return PCS_OK;
}

// Smallest mass at an equation along which the points of a contact may push, or smallest inertia about which they may.
static double tangent_least_mass(const pcs_system *self, const pcs_fe_contact *c, const double *mass, bool of_rotations)
{
    const fe_data *fe = self->data;
    double least = INFINITY;
    for (int s = 0; c->ops->set_options[s] != NULL; s++) {
        law_nodes set = tangent_set(fe, c, c->ops->set_options[s]);
        for (int i = 0; i < tangent_count(&set); i++) {
            int node = tangent_node(fe, &set, i);
            for (int d = fe->map.first[node]; d < fe->map.first[node + 1]; d++) {
                const pcs_dof *dof = &fe->map.dof[d];
                bool is_own = dof->equation >= 0 && dof->equation < pcs_system_nown(self);
                if (is_own && dof->is_rotation == of_rotations) least = fmin(least, mass[dof->equation]);
            }
        }
    }
    return -pcs_system_max(self, -least);
}

// L D^-1 L^T of a row whose direction stands, where each equation gives it a share of its mass.
static double tangent_mobility(const pcs_system *self, const pcs_rows *L, int row, const double *mass, const int *share)
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

// Returns the largest mobility L M^-1 L^T, 1/kg, of the points on this rank. If directions vary, bounds it by the least
// masses of the nodes of both sides, arms up to the contact's reach, and two points at one node.
static double tangent_most_mobile(const pcs_system *self, const fe_law_contact *own, const double *mass,
                                  const int *share)
{
    const pcs_fe_contact *c = &((const fe_data *)self->data)->model.contacts[own->contact];
    const pcs_rows *L = ((const fe_work *)self->work)->laws->L;
    double most = 0.0;
    if (own->turns) {
        double sides = c->ops->set_options[1] == NULL ? 1.0 : 2.0;
        double arm = ((const fe_data *)self->data)->sources[own->contact].contact.reach;
        double mobility = 1.0 / tangent_least_mass(self, c, mass, false);
        if (arm > 0.0) mobility += arm * arm / tangent_least_mass(self, c, mass, true);
        return (c->ops->cell_options == NULL ? 1.0 : 2.0) * sides * mobility;
    }
    for (int i = own->first; i < own->first + own->nrow; i++)
        most = fmax(most, tangent_mobility(self, L, i, mass, share));
    return most;
}

// The same across: friction turns bodies, too.
static double tangent_most_across(const pcs_system *self, const fe_law_contact *own, const double *mass,
                                  const int *share)
{
    const fe_law_work *work = ((const fe_work *)self->work)->laws;
    double most = own->turns && own->ntangent > 0 ? tangent_most_mobile(self, own, mass, share) : 0.0;
    for (int i = own->first; i < own->first + own->nrow; i++) {
        double sum = 0.0;
        for (int t = 0; t < own->ntangent; t++)
            sum = fmax(sum, tangent_mobility(self, work->T, pcs_fe_law_tangent(self, i) + t, mass, share));
        most = fmax(most, sum);
    }
    return most;
}

static void tangent_share(const pcs_rows *L, int row, int *share)
{
    for (int e = L->start[row]; e < L->start[row + 1]; e++) share[L->column[e]] += L->value[e] != 0.0;
}

// Points whose directions stand; `rest` is zero.
void pcs_fe_share_laws(const pcs_system *self, const double *rest, int *share)
{
    const fe_laws *laws = ((const fe_data *)self->data)->laws;
    if (laws == NULL) return;
    const fe_law_work *work = ((const fe_work *)self->work)->laws;
    pcs_fe_look_at_laws(self, rest);
    for (int p = 0; p < laws->nrow; p++) {
        if (laws->contacts[laws->owner[p]].turns) continue;
        tangent_share(work->L, p, share);
        for (int t = 0; t < pcs_fe_law_row(self, p)->ntangent; t++)
            tangent_share(work->T, pcs_fe_law_tangent(self, p) + t, share);
    }
}

// Work of gravity, J, on the way to the contact for which it does most, from where points were looked at, and through
// the size of the model, with turns of 1 rad.
static double tangent_fall(const pcs_system *self)
{
    const fe_data *fe = self->data;
    const fe_law_work *work = ((const fe_work *)self->work)->laws;
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
    for (int p = 0; p < fe->laws->nrow; p++)
        if (isfinite(work->gap[p])) way = fmax(way, -pcs_dot3(sum, work->states[p].normal) * fmax(work->gap[p], 0.0));
    return sum[3] + pcs_system_max(self, way);
}

// The depth that a law can reach follows from the energy of the initial state and the fall from there.
static double tangent_energy(const pcs_system *self, double *q, double *v, double *speed)
{
    const char *culprit;
    pcs_measure measure;
    *speed = 0.0;
    (void)pcs_fe_initial_state(self, q, v, &culprit); // faults are told where the state is made
    self->ops->measure(self, pcs_at(0.0, q, v), PCS_ENERGY, &measure);
    pcs_fe_look_at_laws(self, q);
    double energy = measure.kinetic + measure.strain + tangent_fall(self);
    if (self->mass > 0.0) *speed = sqrt(2.0 * energy / self->mass);
    return energy;
}

void pcs_fe_find_law_rates(pcs_system *self, fe_data *fe, const double *mass, const int *share, double *work)
{
    double speed;
    if (fe->laws == NULL) return;
    pcs_fe_look_at_laws(self, work);
    double energy = tangent_energy(self, work, work + self->nv, &speed);
    for (int k = 0; k < fe->laws->ncontact; k++) {
        const fe_law_contact *own = &fe->laws->contacts[k];
        double by_gap, by_rate, mobility = tangent_most_mobile(self, own, mass, share);
        const pcs_force_law *law = fe->model.contacts[own->contact].law;
        pcs_force_law_bounds(law, energy, speed, &by_gap, &by_rate);
        double across = tangent_most_across(self, own, mass, share) * pcs_force_law_tangent_bound(law, energy);
        fe->spring_rate2 = fmax(fe->spring_rate2, fmax(mobility * by_gap, across));
        fe->spring_damping = fmax(fe->spring_damping, mobility * by_rate);
    }
}
