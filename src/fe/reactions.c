// Computes the forces and moments that joints and supports exert on a finite-element model.
//
// A joint: the sum of its rows' forces, each along its normal and with its couple. A support, per fixed dof s, in the
// mean over a step of length h:
//
//   R_s = (p_s(t) - p_s(t - h)) / h - (f_s(t) + f_s(t - h)) / 2 - rows,   p_s = sum_f M_sf v_f
//
// f_s is what gravity, line loads and elements do to the fixed dof, rows what contacts and joints do to it directly.
// Schemes that weigh the ends of a step differently give other means of f_s. Moments are taken about the
// middle of the set in the reference state.
//
// Fixed dofs get equation numbers from nv on in copies of the batches, so that the elements fill them in.

#include "fe/data.h"

#include <math.h>
#include <string.h>

typedef struct mass_entry {
    int fixed, equation; // row among the fixed dofs, and column
    double value;
} mass_entry;

struct fe_reactions {
    int nfixed;         // number of fixed dofs at nodes of supports whose reactions are reported
    int nown;           // number of these on this process
    int *dof;           // [nfixed]
    int *serial;        // [nfixed] their order in one process
    int *number;        // [map.ndof] index among the fixed ones, -1 if free
    int *owner;         // [nfixed] first support that fixes it
    pcs_batch *batches; // [nbatch]
    int nentry;
    mass_entry *entries; // [nentry] M_sf
    double *weight;      // [nfixed] gravity, N
    double *line;        // [nload * nfixed] line loads at amplitude 1; NULL if absent
    double (*middle)[3]; // [nsupport] reference point of the moments, m
};

static bool reactions_are_asked(const fe_data *fe)
{
    for (int s = 0; s < fe->model.nsupport; s++)
        if (fe->model.supports[s].has_reactions) return true;
    return false;
}

// Adds the dofs that were found, those of this process or of the others, with their indices in one process.
static void reactions_add_fixed(const fe_data *fe, bool is_own, fe_reactions *r)
{
    for (int i = 0, place = 0; i < fe->map.ndof; i++) {
        if (r->number[i] == -1) continue;
        place++;
        if (pcs_fe_owns(fe, fe->map.dof[i].node) != is_own) continue;
        r->owner[r->nfixed] = -1;
        r->dof[r->nfixed] = i;
        r->serial[r->nfixed] = place - 1;
        r->number[i] = r->nfixed++;
    }
}

// Finds the fixed dofs at nodes of supports whose reactions are reported, which all processes have; own ones first.
static void reactions_find_fixed(const fe_data *fe, fe_reactions *r)
{
    for (int i = 0; i < fe->map.ndof; i++) r->number[i] = -1;
    for (int s = 0; s < fe->model.nsupport; s++) {
        const pcs_set *nodes = fe->model.supports[s].nodes;
        if (!fe->model.supports[s].has_reactions) continue;
        for (int n = 0; n < nodes->count; n++)
            for (int i = fe->map.first[nodes->items[n]]; i < fe->map.first[nodes->items[n] + 1]; i++)
                if (fe->map.dof[i].equation == -1) r->number[i] = 0;
    }
    reactions_add_fixed(fe, true, r);
    r->nown = r->nfixed;
    reactions_add_fixed(fe, false, r);
}

// Assigns numbers to the fixed dofs and finds the support that owns each.
static pcs_status reactions_number(pcs_system *self, fe_reactions *r)
{
    const fe_data *fe = self->data;
    PCS_TAKE(self->ctx, r->number, fe->map.ndof, "reactions");
    PCS_TAKE(self->ctx, r->dof, fe->map.ndof, "reactions");
    PCS_TAKE(self->ctx, r->serial, fe->map.ndof, "reactions");
    PCS_TAKE(self->ctx, r->owner, fe->map.ndof, "reactions");
    PCS_TAKE(self->ctx, r->middle, fe->model.nsupport, "reactions");
    reactions_find_fixed(fe, r);
    for (int s = 0; s < fe->model.nsupport; s++) {
        const pcs_fe_support *support = &fe->model.supports[s];
        const pcs_set *nodes = support->nodes;
        for (int n = 0; n < nodes->count; n++) {
            int node = nodes->items[n];
            for (int k = 0; k < 3; k++) r->middle[s][k] += fe->model.mesh->x[node][k] / nodes->count;
            for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++) {
                const pcs_dof *d = &fe->map.dof[i];
                if (r->number[i] < 0 || r->owner[r->number[i]] >= 0) continue;
                for (int k = 0; k < 3; k++)
                    if (support->fixes[k + 3 * d->is_rotation] && d->direction[k] > 1.0 - 1e-9)
                        r->owner[r->number[i]] = s;
            }
        }
    }
    return PCS_OK;
}

// Finds the dof of each entry of a cell, in the order of the element.
static pcs_status reactions_cell_dofs(pcs_system *self, int b, int cell, int dof[PCS_MAX_CELL_DOFS])
{
    const fe_data *fe = self->data;
    const pcs_element_ops *ops = pcs_fe_ops(fe, b);
    const pcs_batch *batch = &fe->batches[b];
    int count = 0;
    for (int i = 0; i < ops->nnode; i++) {
        pcs_node_dofs given;
        PCS_TRY(ops->node_dofs(self->ctx, batch, cell, i, &given));
        int node = batch->nodes[batch->cells[cell]][i];
        for (int j = 0; j < given.count; j++, count++)
            for (int d = fe->map.first[node]; d < fe->map.first[node + 1]; d++)
                if (fe->map.dof[d].is_rotation == given.is_rotation[j] &&
                    pcs_dot3(fe->map.dof[d].direction, given.direction[j]) > 1.0 - 1e-9)
                    dof[count] = d;
    }
    return PCS_OK;
}

// Copies a batch with equations for its fixed dofs, and collects their rows of M.
static pcs_status reactions_extend(pcs_system *self, fe_reactions *r, int b, bool is_counting)
{
    const fe_data *fe = self->data;
    const pcs_element_ops *ops = pcs_fe_ops(fe, b);
    pcs_batch *batch = &r->batches[b];
    int n = ops->ndof, *equation = NULL, dof[PCS_MAX_CELL_DOFS] = { 0 };
    double M[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS];
    if (!is_counting) PCS_TAKE(self->ctx, equation, (size_t)batch->ncell * (size_t)n, "reactions");
    for (int c = 0; c < batch->ncell; c++) {
        PCS_TRY(reactions_cell_dofs(self, b, c, dof));
        if (!is_counting) ops->matrices(&fe->batches[b], c, NULL, M, NULL, NULL);
        for (int i = 0; i < n; i++) {
            int row = r->number[dof[i]];
            if (!is_counting)
                equation[(size_t)c * (size_t)n + (size_t)i] = row < 0 ? fe->map.dof[dof[i]].equation : self->nv + row;
            if (row >= 0)
                for (int j = 0; j < n; j++) {
                    if (!is_counting) r->entries[r->nentry] = (mass_entry){ row, dof[j], M[i * n + j] };
                    r->nentry++;
                }
        }
    }
    if (is_counting) return PCS_OK;
    batch->equation = equation;
    return ops->setup(self->ctx, batch);
}

// Computes gravity on the fixed dofs; then drops all columns of M but those of equations.
static void reactions_weigh(const pcs_system *self, fe_reactions *r)
{
    const fe_data *fe = self->data;
    int kept = 0;
    for (int e = 0; e < r->nentry; e++) {
        mass_entry entry = r->entries[e];
        const pcs_dof *d = &fe->map.dof[entry.equation];
        for (int l = 0; l < fe->model.nload; l++)
            if (fe->model.loads[l].is_gravity && !d->is_rotation)
                r->weight[entry.fixed] += entry.value * pcs_dot3(fe->model.loads[l].value, d->direction);
        if (d->equation < 0 || entry.value == 0.0) continue;
        r->entries[kept++] = (mass_entry){ entry.fixed, d->equation, entry.value };
    }
    r->nentry = kept;
}

// Adds the load of one loaded cell to the fixed dofs, consistent with the free equations.
static pcs_status reactions_line_cell(pcs_system *self, fe_reactions *r, int l, int b, int cell)
{
    const fe_data *fe = self->data;
    int dof[PCS_MAX_CELL_DOFS] = { 0 };
    double force[PCS_MAX_CELL_DOFS];
    PCS_TRY(reactions_cell_dofs(self, b, cell, dof));
    PCS_TRY(pcs_fe_line_force(self, &fe->model.loads[l], b, cell, force));
    for (int i = 0; i < pcs_fe_ops(fe, b)->ndof; i++)
        if (r->number[dof[i]] >= 0) r->line[l * r->nfixed + r->number[dof[i]]] += force[i];
    return PCS_OK;
}

// Adds a line load on all cells here, also those of other processes that touch own nodes.
static pcs_status reactions_take_line(pcs_system *self, fe_reactions *r, int l)
{
    const fe_data *fe = self->data;
    unsigned char *is_loaded = NULL;
    pcs_status status = pcs_fe_mark_loaded(self, &fe->model.loads[l], &is_loaded);
    for (int b = 0; b < fe->nbatch; b++)
        for (int c = 0; c < fe->batches[b].ncell && status == PCS_OK; c++)
            if (is_loaded[fe->batches[b].cells[c]]) status = reactions_line_cell(self, r, l, b, c);
    pcs_scratch_free(is_loaded);
    return status;
}

static pcs_status reactions_take_lines(pcs_system *self, fe_reactions *r)
{
    const fe_data *fe = self->data;
    for (int l = 0; l < fe->model.nload; l++) {
        const pcs_fe_load *load = &fe->model.loads[l];
        if (load->is_gravity || load->kind != PCS_LOAD_LINE) continue;
        if (r->line == NULL) PCS_TAKE(self->ctx, r->line, (size_t)fe->model.nload * (size_t)r->nfixed, "reactions");
        PCS_TRY(reactions_take_line(self, r, l));
    }
    return PCS_OK;
}

// Returns the load on fixed dof s, N or N m.
static double reactions_load(const pcs_system *self, const fe_reactions *r, pcs_instant at, int s)
{
    const fe_data *fe = self->data;
    double f = r->weight[s];
    if (r->line != NULL)
        for (int l = 0; l < fe->model.nload; l++) f += r->line[l * r->nfixed + s] * pcs_fe_load_size(self, l, at.t);
    return at.load_factor * f;
}

static pcs_status reactions_make_supports(pcs_system *self, fe_data *fe)
{
    fe_work *work = self->work;
    fe_reactions *r;
    PCS_TAKE(self->ctx, r, 1, "reactions");
    PCS_TRY(reactions_number(self, r));
    PCS_TAKE(self->ctx, r->batches, fe->nbatch, "reactions");
    memcpy(r->batches, fe->batches, (size_t)fe->nbatch * sizeof *r->batches);
    for (int b = 0; b < fe->nbatch; b++) PCS_TRY(reactions_extend(self, r, b, true));
    PCS_TAKE(self->ctx, r->entries, r->nentry, "reactions");
    r->nentry = 0;
    for (int b = 0; b < fe->nbatch; b++) PCS_TRY(reactions_extend(self, r, b, false));
    double **all[] = { &work->q, &work->v, &work->f }, **fixed[] = { &r->weight, &work->p, &work->R };
    for (int i = 0; i < 3; i++) PCS_TAKE(self->ctx, *all[i], self->nv + r->nfixed, "reactions");
    for (int i = 0; i < 3; i++) PCS_TAKE(self->ctx, *fixed[i], r->nfixed, "reactions");
    PCS_TAKE(self->ctx, work->last_p, r->nfixed, "reactions");
    PCS_TAKE(self->ctx, work->last_f, r->nfixed, "reactions");
    pcs_memory last = { .size = (size_t)r->nfixed * sizeof *work->last_p, .serial = r->serial };
    last.nown = r->nown; // only their own process has all forces on them
    last.nall = r->nfixed;
    for (int i = 0; i < 2; i++) {
        last.bytes = i == 0 ? work->last_p : work->last_f;
        self->memory[self->nmemory++] = last;
    }
    reactions_weigh(self, r);
    PCS_TRY(reactions_take_lines(self, r));
    fe->reactions = r;
    return PCS_OK;
}

// Returns the joint that represents a support, or -1.
static int reactions_held(const fe_data *fe, int support)
{
    for (int j = fe->model.njoint - fe->nheld; j < fe->model.njoint; j++)
        if (strcmp(fe->model.joints[j].name, fe->model.supports[support].name) == 0) return j;
    return -1;
}

static pcs_reaction_info reactions_of_support(const fe_data *fe, int s)
{
    const pcs_fe_support *support = &fe->model.supports[s];
    pcs_reaction_info info = { .name = support->name, .contact = -1 };
    const double(*middle)[3] = (const double(*)[3])fe->reactions->middle;
    bool has_arms[3] = { false };
    for (int n = 0; n < support->nodes->count; n++)
        for (int k = 0; k < 3; k++) {
            double arm = fe->model.mesh->x[support->nodes->items[n]][k] - middle[s][k];
            has_arms[k] = has_arms[k] || arm != 0.0;
        }
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3, m = (k + 2) % 3;
        info.has_force[k] = support->fixes[k];
        info.has_moment[k] = reactions_held(fe, s) >= 0 || support->fixes[3 + k] ||
                             (has_arms[l] && support->fixes[m]) || (has_arms[m] && support->fixes[l]);
    }
    return info;
}

pcs_status pcs_fe_make_reactions(pcs_system *self, fe_data *fe)
{
    pcs_reaction_info *info;
    int count = 0;
    PCS_TAKE(self->ctx, info, fe->model.njoint + fe->model.nsupport, "reactions");
    self->reactions = info;
    for (int j = 0; j < fe->model.njoint - fe->nheld; j++) {
        const pcs_source_shape *shape = &self->row_set.table->sources[fe->model.ncontact + j].shape;
        info[count] = (pcs_reaction_info){ .name = fe->model.joints[j].name, .contact = fe->model.ncontact + j };
        memcpy(info[count].has_force, shape->has_force, sizeof shape->has_force);
        memcpy(info[count].has_moment, shape->has_moment, sizeof shape->has_moment);
        info[count++].has_teeth = shape->has_teeth;
    }
    self->nreaction = count;
    if (!reactions_are_asked(fe)) return PCS_OK;
    PCS_TRY(reactions_make_supports(self, fe));
    for (int s = 0; s < fe->model.nsupport; s++)
        if (fe->model.supports[s].has_reactions) info[count++] = reactions_of_support(fe, s);
    self->nreaction = count;
    return PCS_OK;
}

// Finds the rotation of a node with support about some axes only, whose moments are in its own axes. Takes it half a
// step back, as reactions are means over a step. Such a node rotates about one axis.
static void reactions_turn(const fe_data *fe, int node, double h, const fe_work *work, double turned[9])
{
    double turn[3] = { 0.0 }, spin[3] = { 0.0 };
    if (pcs_fe_turns_finitely(fe, node)) {
        pcs_dofmap_vector(&fe->map, true, node, work->q, turn);
        pcs_dofmap_vector(&fe->map, true, node, work->v, spin);
    }
    for (int k = 0; k < 3; k++) turn[k] -= 0.5 * h * spin[k];
    pcs_rotation_exp(turn, turned);
}

// Subtracts the force along a direction from R, at the fixed dofs of its nodes.
static void reactions_take_direction(const fe_data *fe, const pcs_row_direction *direction, double force, double h,
                                     const fe_work *work)
{
    const fe_reactions *r = fe->reactions;
    double *R = work->R;
    for (int i = 0; i < direction->nterm; i++) {
        const pcs_row_term *term = &direction->term[i];
        double turned[9], moment[3];
        reactions_turn(fe, term->node, h, work, turned);
        pcs_rotation_apply_transposed(turned, term->moment, moment);
        for (int d = fe->map.first[term->node]; d < fe->map.first[term->node + 1]; d++) {
            const pcs_dof *dof = &fe->map.dof[d];
            if (r->number[d] < 0) continue;
            R[r->number[d]] -= force * pcs_dot3(dof->is_rotation ? moment : term->force, dof->direction);
        }
    }
}

// Subtracts from the reactions R the forces that contacts and joints exert on fixed dofs directly.
static void reactions_take_rows(pcs_system *self, double h, const pcs_row_report *rows)
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    const pcs_row_state *states = self->row_set.table->states;
    for (int j = 0; j < pcs_system_npoint(self); j++) {
        const pcs_row *row = &self->rows[j];
        double force = row->is_bilateral ? rows[j].force : rows[j].step_impulse / h;
        reactions_take_direction(fe, &states[j].direction, force, h, work);
        for (int t = 0; t < row->ntangent; t++)
            reactions_take_direction(fe, &states[j].tangent[t], rows[j].tangent[t] / h, h, work);
    }
}

// Computes p and f of the fixed dofs at (q, v), and R of the step since the last call. Only the owner of a dof has all
// its cells; on other processes R holds distributed rows, which no other process has.
static void reactions_of_supports(pcs_system *self, double h, pcs_instant at, const pcs_row_report *rows)
{
    const fe_data *fe = self->data;
    fe_work *work = self->work;
    const fe_reactions *r = fe->reactions;
    int n = self->nv;
    memcpy(work->q, at.q, (size_t)n * sizeof *at.q);
    memcpy(work->v, at.v, (size_t)n * sizeof *at.v);
    memset(work->f, 0, (size_t)(n + r->nfixed) * sizeof *work->f);
    memset(work->p, 0, (size_t)r->nfixed * sizeof *work->p);
    const pcs_cell_state state = { .q = work->q, .v = work->v };
    for (int b = 0; b < fe->nbatch; b++) pcs_fe_ops(fe, b)->force(&r->batches[b], &state, work->f);
    for (int e = 0; e < r->nentry; e++)
        work->p[r->entries[e].fixed] += r->entries[e].value * at.v[r->entries[e].equation];
    for (int s = 0; s < r->nfixed; s++) {
        double f = work->f[n + s] + reactions_load(self, r, at, s);
        work->R[s] = h > 0.0 ? (work->p[s] - work->last_p[s]) / h - 0.5 * (f + work->last_f[s]) : 0.0;
        work->last_p[s] = work->p[s];
        work->last_f[s] = f;
    }
    for (int s = r->nown; s < r->nfixed; s++) work->R[s] = 0.0;
    if (h > 0.0) reactions_take_rows(self, h, rows);
}

// Holds the end of a step, with its forces, and the positions where its rows acted.
typedef struct fe_acting {
    pcs_instant end;
    const double *q; // [nq]
    const pcs_row_report *rows;
} fe_acting;

// Adds the moment of the joint of a support that holds one rotation.
static void reactions_add_held(const pcs_system *self, int support, const fe_acting *at, pcs_reaction *out)
{
    const fe_data *fe = self->data;
    const pcs_row_table *table = self->row_set.table;
    int joint = reactions_held(fe, support);
    if (joint < 0) return;
    const pcs_table_source *source = &table->sources[fe->model.ncontact + joint];
    for (int row = source->first_row; row < source->first_row + source->nrow; row++) {
        double force = pcs_system_carry(self, row, at->end.q, at->q, at->rows[row].force);
        for (int k = 0; k < 3 && isfinite(force); k++) out->moment[k] += force * table->states[row].couple[k];
    }
}

static void reactions_sum_support(const pcs_system *self, int support, double h, pcs_reaction *out)
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    const fe_reactions *r = fe->reactions;
    int count = pcs_rows_are_spread(self) ? r->nfixed : r->nown;
    for (int s = 0; s < count; s++) {
        const pcs_dof *d = &fe->map.dof[r->dof[s]];
        double part[3], arm[3], moment[3], turned[9], along[3];
        if (r->owner[s] != support) continue;
        reactions_turn(fe, d->node, h, work, turned);
        pcs_rotation_apply(turned, d->direction, along);
        for (int k = 0; k < 3; k++) {
            part[k] = work->R[s] * (d->is_rotation ? along[k] : d->direction[k]);
            arm[k] = fe->model.mesh->x[d->node][k] - r->middle[support][k];
        }
        pcs_cross(arm, part, moment);
        for (int k = 0; k < 3; k++) {
            if (!d->is_rotation) out->force[k] += part[k];
            out->moment[k] += d->is_rotation ? part[k] : moment[k];
        }
    }
}

static void reactions_add_all_held(const pcs_system *self, const fe_acting *at, pcs_reaction *out)
{
    const fe_data *fe = self->data;
    for (int s = 0; s < fe->model.nsupport; s++)
        if (fe->model.supports[s].has_reactions) reactions_add_held(self, s, at, out++);
}

static void reactions_join(const pcs_system *self, pcs_reaction *reaction)
{
    pcs_system_sum(self, 3, reaction->force);
    pcs_system_sum(self, 3, reaction->moment);
    if (pcs_rows_are_spread(self)) pcs_system_sum(self, 2, reaction->teeth);
}

static void reactions_find(pcs_system *self, double h, const fe_acting *at, pcs_reaction *out)
{
    const fe_data *fe = self->data;
    const pcs_row_report *rows = at->rows;
    memset(out, 0, (size_t)self->nreaction * sizeof *out);
    int njoint = fe->model.njoint - fe->nheld;
    bool is_dealt = pcs_rows_are_spread(self); // rows then belong to one process each
    for (int i = 0; i < njoint; i++) {
        pcs_table_add_reaction(self, fe->model.ncontact + i, rows, &out[i]);
        if (is_dealt) reactions_join(self, &out[i]);
    }
    if (fe->reactions == NULL) return;
    reactions_of_supports(self, h, at->end, rows);
    int place = njoint;
    for (int s = 0; s < fe->model.nsupport; s++)
        if (fe->model.supports[s].has_reactions) reactions_sum_support(self, s, h, &out[place++]);
    if (is_dealt) reactions_add_all_held(self, at, out + njoint);
    if (self->layout != NULL)
        for (int i = njoint; i < place; i++) reactions_join(self, &out[i]);
    if (!is_dealt) reactions_add_all_held(self, at, out + njoint);
}

void pcs_fe_reactions(pcs_system *self, pcs_instant at, double h, const double *acting, const pcs_row_report *rows,
                      pcs_reaction *out)
{
    pcs_table_look(self, pcs_at(at.t, acting, NULL), false);
    reactions_find(self, h, &(fe_acting){ at, acting, rows }, out);
    if (acting != at.q) pcs_table_look(self, at, false); // other rows are evaluated at the end of the step
}
