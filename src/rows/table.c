// Creates the rows of contacts and joints, and evaluates them for the system.
//
// A source states its rows in nodes, forces and moments (rows/source.h). A frozen row is g = g_0 + G q.

#include "rows/table.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// Finds positions and velocities of nodes for contacts and joints, and writes row directions in terms of equations.
//
// A moment m on a node with the material rotation R enters its three equations as R^T m.

int pcs_table_rotation(const pcs_system *self, int node)
{
    const pcs_dofmap *map = self->row_set.table->map;
    if (self->rotations.count == 0) return -1;
    for (int i = map->first[node]; i < map->first[node + 1]; i++)
        if (map->dof[i].is_rotation && map->dof[i].equation >= 0)
            return self->rotations.begins[map->dof[i].equation] ? map->dof[i].equation : -1;
    return -1;
}

static void resolve_place(const pcs_places *places, int node, pcs_place *out)
{
    const pcs_table_view *view = places->owner;
    const pcs_dofmap *map = view->self->row_set.table->map;
    double displacement[3], spin[3];
    bool is_finite = false;
    pcs_dofmap_vector(map, false, node, view->at.q, displacement);
    for (int i = map->first[node]; i < map->first[node + 1]; i++) is_finite = is_finite || map->dof[i].is_finite;
    *out = (pcs_place){ .is_small = !is_finite };
    double *turn = out->turn;
    pcs_dofmap_vector(map, true, node, view->at.q, turn);
    for (int k = 0; k < 3; k++) out->x[k] = places->mesh->x[node][k] + displacement[k];
    if (is_finite) {
        pcs_rotation_exp(turn, out->R);
    } else {
        const double R[9] = { 1.0, -turn[2], turn[1], turn[2], 1.0, -turn[0], -turn[1], turn[0], 1.0 };
        memcpy(out->R, R, sizeof R);
    }
    if (!places->has_velocities) return;
    pcs_dofmap_vector(map, false, node, view->at.v, out->v);
    pcs_dofmap_vector(map, true, node, view->at.v, spin);
    if (pcs_table_rotation(view->self, node) >= 0) pcs_rotation_apply(out->R, spin, out->w); // it is material there
    else memcpy(out->w, spin, sizeof spin);
}

pcs_places pcs_table_places(const pcs_table_view *view)
{
    return (pcs_places){ .mesh = view->self->row_set.table->map->mesh,
                         .t = view->at.t,
                         .has_velocities = view->at.v != NULL,
                         .owner = view,
                         .find = resolve_place };
}

void pcs_table_look_at(const pcs_table_source *source, const pcs_places *places, pcs_row_state *states)
{
    // Joints have no tangents, and are evaluated often.
    size_t size = source->is_joint ? offsetof(pcs_row_state, tangent) : sizeof *states;
    for (int i = 0; i < source->nrow; i++) memset(&states[i], 0, size);
    source->model->ops->evaluate(source->instance, places, states);
}

void pcs_table_look(const pcs_system *self, pcs_instant at, bool is_soft)
{
    const pcs_row_table *table = self->row_set.table;
    pcs_table_view view = { self, at };
    pcs_places places = pcs_table_places(&view);
    for (int k = 0; k < self->ncontact; k++) {
        const pcs_table_source *source = &table->sources[k];
        if (source->is_frozen || source->nrow == 0 || source->is_soft != is_soft) continue;
        pcs_table_look_at(source, &places, table->states + source->first_row);
    }
}

// Resolves the term of one node along its dofs. Returns the number of entries.
static int resolve_term(const pcs_system *self, const pcs_row_term *term, const double *q, int *column, double *value)
{
    const pcs_dofmap *map = self->row_set.table->map;
    double material[3], R[9];
    int count = 0, equation = pcs_table_rotation(self, term->node);
    memcpy(material, term->moment, sizeof material);
    if (equation >= 0) {
        pcs_rotation_exp(q + equation, R);
        pcs_rotation_apply_transposed(R, term->moment, material);
    }
    for (int i = map->first[term->node]; i < map->first[term->node + 1]; i++) {
        const pcs_dof *d = &map->dof[i];
        if (d->equation < 0) continue;
        column[count] = d->equation;
        value[count++] = pcs_dot3(d->is_rotation ? material : term->force, d->direction);
    }
    return count;
}

int pcs_table_put(const pcs_system *self, const pcs_row_direction *direction, const double *q, int *column,
                  double *value)
{
    int count = 0;
    for (int i = 0; i < direction->nterm; i++)
        count += resolve_term(self, &direction->term[i], q, column + count, value + count);
    return count;
}

pcs_status pcs_table_take_rows(pcs_system *self, int count, pcs_rows **out)
{
    PCS_TRY(pcs_rows_create(self->ctx, count, self->nv, count * PCS_ROW_TERMS, out));
    for (int i = 0; i <= count; i++) (*out)->start[i] = i * PCS_ROW_TERMS;
    return PCS_OK;
}

// Puts a direction into a row, with zeros after its entries.
static void resolve_row(const pcs_system *self, const pcs_row_direction *direction, const double *q, pcs_rows *rows,
                        int row)
{
    int place = rows->start[row];
    place += pcs_table_put(self, direction, q, rows->column + place, rows->value + place);
    for (; place < rows->start[row + 1]; place++) {
        rows->column[place] = 0;
        rows->value[place] = 0.0;
    }
}

// Component of a unit force along a direction that counts as round-off of the normal, as in pcs_dofmap_resolve.
static const double round_off = 1e-12;

// Puts a constant direction, at rest, at the entries from `place` on, without zeros, and returns their number; only
// counts them if `rows` is NULL.
static int table_put_constant(const pcs_system *self, const pcs_row_direction *direction, const double *rest,
                              pcs_rows *rows, int place)
{
    int column[PCS_ROW_TERMS], count = 0;
    double value[PCS_ROW_TERMS];
    int n = pcs_table_put(self, direction, rest, column, value);
    for (int i = 0; i < n; i++) {
        bool is_rotation = pcs_norm3(self->direction[column[i]]) == 0.0;
        if (fabs(value[i]) <= (is_rotation ? 0.0 : round_off)) continue;
        if (rows != NULL) {
            rows->column[place + count] = column[i];
            rows->value[place + count] = value[i];
        }
        count++;
    }
    return count;
}

static void table_put_gaps(const pcs_system *self, bool is_soft, const pcs_rows *G, const double *q, double *gap)
{
    const pcs_row_table *table = self->row_set.table;
    int first = is_soft ? self->nrow : 0, count = is_soft ? self->ncompliant : self->nrow;
    for (int i = 0; i < count; i++) {
        bool is_frozen = table->sources[self->rows[first + i].contact].is_frozen;
        gap[i] = table->states[first + i].gap + (is_frozen ? pcs_rows_dot(G, i, q) : 0.0);
    }
}

void pcs_table_put_directions(const pcs_system *self, bool is_soft, bool is_first, const double *q, pcs_rows *G,
                              pcs_rows *T)
{
    const pcs_row_table *table = self->row_set.table;
    int first = is_soft ? self->nrow : 0, first_t = is_soft ? self->ntangent : 0;
    for (int k = 0; k < self->ncontact; k++) {
        const pcs_table_source *source = &table->sources[k];
        if (source->is_soft != is_soft || (source->is_frozen && !is_first)) continue;
        for (int row = source->first_row; row < source->first_row + source->nrow; row++) {
            if (is_soft || !source->is_frozen) resolve_row(self, &table->states[row].direction, q, G, row - first);
            for (int t = 0; t < self->rows[row].ntangent; t++)
                resolve_row(self, &table->states[row].tangent[t], q, T, self->rows[row].first_tangent - first_t + t);
        }
    }
}

void pcs_table_look_at_laws(const pcs_system *self, const double *q)
{
    const pcs_row_table *table = self->row_set.table;
    pcs_table_look(self, pcs_at(0.0, q, NULL), true); // contacts do not move by themselves
    pcs_table_put_directions(self, true, false, q, table->L, table->T);
    table_put_gaps(self, true, table->L, q, table->gap);
}

// Returns true if another rank has the rows of source k, a joint whose shape is known here all the same.
static bool table_is_elsewhere(const pcs_system *self, const pcs_row_table *table, int k)
{
    int joint = k - table->ncontact;
    return self->row_comm != NULL && joint >= 0 && table->joint_owner[joint] != self->row_comm->rank;
}

// Makes the instance of a contact or joint, and counts its rows.
static pcs_status table_create_source(pcs_system *self, int k, pcs_contact_info *info)
{
    const pcs_row_table *table = self->row_set.table;
    pcs_table_source *source = &table->sources[k];
    const pcs_row_source *model = source->model;
    pcs_source_shape *shape = &source->shape;
    bool has_friction = shape->has_friction = model->friction > 0.0;
    *info = (pcs_contact_info){ .name = model->name,
                                .writes_points = model->writes_points,
                                .is_joint = k >= table->ncontact };
    PCS_TRY(model->ops->create(self->ctx, model->params, table->map, &source->instance, shape));
    if (!has_friction) shape->ntangent = 0;
    if (shape->memory.size > 0 || shape->memory.nall > 0) self->memory[self->nmemory++] = shape->memory;
    source->nrow = info->nrow = table_is_elsewhere(self, table, k) ? 0 : shape->nrow;
    source->is_joint = info->is_joint;
    source->is_soft = pcs_law_is_force(&model->law);
    return PCS_OK;
}

// Makes the shapes of contacts agree on all ranks, also on those that have no rows of them.
static void table_join_shapes(pcs_system *self, const pcs_row_table *table, pcs_contact_info *info)
{
    for (int k = 0; k < self->ncontact; k++) {
        pcs_source_shape *shape = &table->sources[k].shape;
        double facts[4] = { shape->ntangent, !shape->is_constant, shape->size, shape->reach };
        self->row_comm->max(self->row_comm, 4, facts);
        shape->ntangent = info[k].ntangent = (int)facts[0];
        shape->is_constant = facts[1] == 0.0;
        shape->size = facts[2];
        shape->reach = facts[3];
    }
}

// Returns the index, among all rows of a contact, of the i-th one on this rank.
static int table_place(const pcs_system *self, const pcs_row_source *c, int i)
{
    const pcs_comm *comm = self->row_comm;
    const pcs_mesh *mesh = self->row_set.table->map->mesh;
    int count = c->ops->count(c->params, mesh);
    if (c->ops->sets[0].is_cells) return pcs_comm_first(comm, comm->rank, count) + i;
    const char *name = pcs_source_set_name(c->ops, c->params, 0);
    const pcs_set *here = pcs_set_touching(pcs_mesh_node_set(mesh, name), name);
    return count * here->place[i / count] + i % count;
}

// Assigns numbers to all rows, and to the tangents of those with multipliers, as in one process, if ranks share them.
static pcs_status table_number(pcs_system *self, const pcs_row_table *table, pcs_contact_info *infos)
{
    int *row_number, *tangent_number, first = 0;
    PCS_TAKE(self->ctx, row_number, pcs_system_npoint(self), "contact rows");
    PCS_TAKE(self->ctx, tangent_number, self->ntangent, "contact rows");
    for (int k = 0; k < self->ncontact; k++) {
        const pcs_table_source *source = &table->sources[table->order[k]];
        const pcs_row_source *c = source->model;
        pcs_contact_info *info = &infos[table->order[k]];
        int nt = info->ntangent;
        info->first_all = first;
        info->nall = info->is_joint ? source->shape.nrow : pcs_source_rows(c->ops, c->params, table->map->mesh);
        for (int i = 0; i < info->nrow; i++) {
            int row = info->first_row + i, place = info->is_joint ? i : table_place(self, c, i);
            row_number[row] = first + place;
            for (int t = 0; t < (source->is_soft ? 0 : nt); t++)
                tangent_number[self->rows[row].first_tangent + t] = self->ntangent_all + nt * place + t;
        }
        *(source->is_soft ? &self->ncompliant_all : &self->nrow_all) += info->nall;
        if (!source->is_soft) self->ntangent_all += nt * info->nall;
        first += info->nall;
    }
    self->row_number = row_number;
    self->tangent_number = tangent_number;
    return PCS_OK;
}

// Allocates the directions, and fills in those of frozen rows without their zeros.
static pcs_status table_make_directions(pcs_system *self, const pcs_row_table *table, const double *rest)
{
    int nnz = 0;
    for (int is_counted = 0; is_counted < 2; is_counted++) {
        if (is_counted) PCS_TRY(pcs_rows_create(self->ctx, self->nrow, self->nv, nnz, &self->G));
        nnz = 0;
        for (int row = 0; row < self->nrow; row++) {
            const pcs_row_direction *direction = &table->states[row].direction;
            bool is_frozen = table->sources[self->rows[row].contact].is_frozen;
            nnz += is_frozen ? table_put_constant(self, direction, rest, self->G, nnz) : PCS_ROW_TERMS;
            if (is_counted) self->G->start[row + 1] = nnz;
        }
    }
    if (self->layout != NULL) self->G->halo = self->layout->halo;
    if (pcs_system_ntangent(self) > 0) {
        PCS_TRY(pcs_table_take_rows(self, self->ntangent, &self->T));
        self->T->halo = self->G->halo;
    }
    pcs_table_put_directions(self, false, true, rest, self->G, self->T);
    return PCS_OK;
}

// Creates the sources of all rows; if ranks have different ones, all fail when one does.
static pcs_status table_create_sources(pcs_system *self, pcs_row_table *table, pcs_contact_info *info,
                                       const char **culprit)
{
    pcs_status status = PCS_OK;
    for (int k = 0; k < self->ncontact && status == PCS_OK; k++) {
        int joint = k - table->ncontact;
        table->sources[k].model = joint < 0 ? &table->contacts[k] : &table->joints[joint];
        status = table_create_source(self, k, &info[k]);
        if (status != PCS_OK) *culprit = pcs_culprit(self->ctx, info[k].is_joint ? "joints" : "contacts", info[k].name);
    }
    if (self->row_comm == NULL) return status;
    PCS_TRY(pcs_agree(self->ctx, status));
    table_join_shapes(self, table, info);
    return PCS_OK;
}

// Puts the sources of rows with multipliers first in the order of rows. Counts rows and tangents of both kinds.
static void table_find_order(pcs_system *self, const pcs_row_table *table)
{
    int next[2] = { 0 };
    for (int k = 0; k < self->ncontact; k++) {
        const pcs_table_source *source = &table->sources[k];
        *(source->is_soft ? &self->ncompliant : &self->nrow) += source->nrow;
        *(source->is_soft ? &self->ncompliant_tangent : &self->ntangent) += source->nrow * source->shape.ntangent;
        next[1] += !source->is_soft;
    }
    for (int k = 0; k < self->ncontact; k++) table->order[next[table->sources[k].is_soft]++] = k;
}

static pcs_status table_describe_rows(pcs_system *self, const pcs_row_table *table, pcs_contact_info *info)
{
    int row = 0, tangent = 0;
    table_find_order(self, table);
    PCS_TAKE(self->ctx, self->laws, pcs_system_npoint(self), "contact rows");
    self->rows = self->laws;
    for (int i = 0; i < self->ncontact; i++) {
        int k = table->order[i];
        pcs_table_source *source = &table->sources[k];
        const pcs_row_source *model = source->model;
        source->first_row = info[k].first_row = row;
        for (; row < source->first_row + source->nrow; row++, tangent += source->shape.ntangent)
            self->laws[row] = (pcs_row){ .contact = k,
                                         .is_bilateral = info[k].is_joint,
                                         .is_driven = model->ops->drive != NULL,
                                         .is_turn = source->shape.is_turn,
                                         .changes_sense = k >= table->ncontact + table->njoint - table->nheld,
                                         .law = model->law,
                                         .friction = model->friction,
                                         .tangent_restitution = source->is_soft ? 0.0 : model->tangent_restitution,
                                         .first_tangent = tangent,
                                         .ntangent = source->shape.ntangent };
    }
    return PCS_OK;
}

// Evaluates contacts whose directions are constant, at rest and for all times.
static void table_freeze(pcs_system *self, pcs_row_table *table, const double *rest)
{
    pcs_row_set *set = &self->row_set;
    pcs_table_view view = { self, pcs_at(0.0, rest, NULL) };
    pcs_places places = pcs_table_places(&view);
    for (int k = 0; k < self->ncontact; k++) {
        pcs_table_source *source = &table->sources[k];
        const pcs_source_ops *ops = source->model->ops;
        source->is_frozen = source->shape.is_constant && k < table->ncontact;
        if (source->is_frozen) pcs_table_look_at(source, &places, table->states + source->first_row);
        table->has_evaluated = table->has_evaluated || (!source->is_frozen && !source->is_soft);
        set->vary = set->vary || (!source->shape.is_constant && !source->is_soft);
        set->ndriven += ops->drive != NULL;
        set->may_change = set->may_change || ops->search != NULL;
        set->may_pass = set->may_pass || ops->passage != NULL;
    }
}

// Fails if all nodes of a joint's row are fixed by supports along its direction.
static pcs_status table_demand_motion(pcs_system *self, const char **culprit)
{
    const pcs_rows *G = self->G;
    for (int row = 0; row < self->nrow; row++) {
        const pcs_contact_info *info = &self->contacts[self->rows[row].contact];
        bool is_zero = info->is_joint;
        for (int i = G->start[row]; i < G->start[row + 1]; i++) is_zero = is_zero && fabs(G->value[i]) < 1e-12;
        if (!is_zero) continue;
        const pcs_row_state *state = &self->row_set.table->states[row];
        bool is_turn = pcs_dot3(state->normal, state->normal) == 0.0;
        const double *d = is_turn ? state->couple : state->normal;
        *culprit = pcs_culprit(self->ctx, "joints", info->name);
        return pcs_fail(self->ctx, PCS_BAD_INPUT, "joint '%s' holds what supports hold already: %s [%g, %g, %g]",
                        info->name, is_turn ? "rotations about" : "motion along", d[0], d[1], d[2]);
    }
    return PCS_OK;
}

// Marks rows of joints that exert moments only as angles.
static void table_find_angles(pcs_system *self)
{
    const pcs_row_state *states = self->row_set.table->states;
    for (int j = 0; j < self->nrow; j++) {
        const pcs_row_direction *direction = &states[j].direction;
        double force = 0.0;
        for (int i = 0; i < direction->nterm; i++) force += pcs_norm3(direction->term[i].force);
        self->laws[j].is_angle = self->rows[j].is_bilateral && direction->nterm > 0 && force == 0.0;
    }
}

// Freezes constant rows and creates what force laws need.
static pcs_status table_prepare(pcs_system *self, pcs_row_table *table, const double *rest)
{
    PCS_TAKE(self->ctx, table->states, pcs_system_npoint(self), "contact rows");
    PCS_TAKE(self->ctx, self->gap_here, self->nrow, "contact rows");
    table_freeze(self, table, rest);
    return pcs_forces_create(self, rest);
}

pcs_status pcs_table_create(pcs_system *self, const char **culprit)
{
    pcs_row_table *table = self->row_set.table;
    pcs_contact_info *info;
    double *rest;
    self->ncontact = table->ncontact + table->njoint;
    PCS_TAKE(self->ctx, info, self->ncontact, "contacts");
    PCS_TAKE(self->ctx, table->sources, self->ncontact, "contacts");
    PCS_TAKE(self->ctx, table->order, self->ncontact, "contacts");
    PCS_TAKE(self->ctx, self->memory, self->ncontact + 6, "contacts"); // and those of materials, friction and reactions
    PCS_TAKE(self->ctx, rest, self->nq, "contact rows");
    self->contacts = info;
    self->time_here = NAN; // positions of a run are others
    self->row_comm = table->map->row_comm;
    PCS_TRY(table_create_sources(self, table, info, culprit));
    pcs_status status = table_describe_rows(self, table, info);
    if (self->row_comm != NULL && status == PCS_OK) status = table_number(self, table, info);
    if (status == PCS_OK) status = table_prepare(self, table, rest);
    PCS_TRY(self->row_comm == NULL ? status : pcs_agree(self->ctx, status));
    PCS_TRY(table_make_directions(self, table, rest));
    if (!table->has_evaluated) return PCS_OK;
    pcs_table_evaluate(self, pcs_at(0.0, rest, NULL), &(pcs_row_values){ .G = self->G, .T = self->T });
    self->time_here = NAN;
    table_find_angles(self);
    status = table_demand_motion(self, culprit);
    return self->row_comm == NULL ? status : pcs_agree(self->ctx, status);
}

pcs_status pcs_table_search(pcs_system *self, pcs_instant at, bool *has_changed)
{
    const pcs_row_table *table = self->row_set.table;
    pcs_table_view view = { self, at };
    pcs_places places = pcs_table_places(&view);
    *has_changed = false;
    self->time_here = NAN; // rows may be about others now
    for (int k = 0; k < table->ncontact; k++) {
        const pcs_row_source *c = &table->contacts[k];
        if (c->ops->search == NULL) continue;
        if (c->ops->search(self->ctx, table->sources[k].instance, &places, has_changed) != PCS_OK)
            return pcs_wrap(self->ctx, PCS_FAILED, "contact '%s'", c->name);
    }
    *has_changed = pcs_rows_any(self, *has_changed);
    return PCS_OK;
}

// Fills in the gaps of the rows with force laws at both ends of a step.
static void table_find_ends(pcs_system *self, const double *q0, const double *q1)
{
    const pcs_row_table *table = self->row_set.table;
    pcs_table_look_at_laws(self, q0);
    for (int i = 0; i < self->ncompliant; i++) table->ends[i].gap[0] = table->gap[i];
    pcs_table_look_at_laws(self, q1);
    for (int i = 0; i < self->ncompliant; i++) {
        table->ends[i].gap[1] = table->gap[i];
        table->ends[i].is_loaded = table->ends[i].gap[0] < 0.0 || table->gap[i] < 0.0;
    }
}

void pcs_table_passages(pcs_system *self, const double *q0, const double *q1, const pcs_passage_row *rows,
                        pcs_passage *worst)
{
    const pcs_row_table *table = self->row_set.table;
    pcs_table_view views[2] = { { self, pcs_at(0.0, q0, NULL) }, { self, pcs_at(0.0, q1, NULL) } };
    pcs_places from = pcs_table_places(&views[0]), to = pcs_table_places(&views[1]);
    if (table->L != NULL) table_find_ends(self, q0, q1);
    for (int k = 0; k < table->ncontact; k++) {
        const pcs_table_source *source = &table->sources[k];
        int first = source->first_row;
        pcs_passage own = { 0 };
        if (source->model->ops->passage == NULL) continue;
        const pcs_passage_row *ends = source->is_soft ? table->ends + (first - self->nrow) : rows + first;
        source->model->ops->passage(source->instance, &from, &to, ends, &own);
        if (own.allowed > 0.0) pcs_passage_note(worst, own.depth, own.allowed, first + own.row);
    }
}

static void table_drive(const pcs_system *self, double t, double *way, double *speed)
{
    const pcs_row_table *table = self->row_set.table;
    for (int row = 0; row < self->nrow; row++) way[row] = speed[row] = 0.0;
    for (int k = table->ncontact; k < self->ncontact; k++) {
        const pcs_table_source *s = &table->sources[k];
        if (s->model->ops->drive != NULL)
            s->model->ops->drive(s->instance, t, way + s->first_row, speed + s->first_row);
    }
}

static void table_put_points(const pcs_system *self, const double *q, double (*position)[3], double (*normal)[3])
{
    const pcs_row_table *table = self->row_set.table;
    if (table->L != NULL) pcs_table_look(self, pcs_at(0.0, q, NULL), true);
    for (int row = 0; row < pcs_system_npoint(self); row++) {
        const pcs_row_state *state = &table->states[row];
        double moved[3] = { 0.0 };
        if (table->sources[self->rows[row].contact].is_frozen)
            pcs_dofmap_vector(table->map, false, state->direction.term[0].node, q, moved);
        memcpy(normal[row], state->normal, sizeof *normal);
        for (int k = 0; k < 3; k++) position[row][k] = state->point[k] + moved[k];
    }
}

static void table_put_across(const pcs_system *self, double (*across)[3])
{
    for (int row = 0; row < pcs_system_npoint(self); row++)
        for (int t = 0; t < self->rows[row].ntangent; t++)
            memcpy(across[self->rows[row].first_tangent + t], self->row_set.table->states[row].across[t],
                   sizeof *across);
}

void pcs_table_evaluate(pcs_system *self, pcs_instant at, const pcs_row_values *out)
{
    const pcs_row_table *table = self->row_set.table;
    bool sees_q = out->gap != NULL || out->bias != NULL || out->G != NULL || out->point != NULL || out->across != NULL;
    if (sees_q && table->has_evaluated)
        pcs_table_look(self, pcs_at(at.t, at.q, out->bias == NULL ? NULL : at.v), false);
    if (out->gap != NULL) table_put_gaps(self, false, self->G, at.q, out->gap);
    for (int row = 0; row < (out->bias == NULL ? 0 : self->nrow); row++)
        out->bias[row] = table->states[row].bias; // 0 of frozen rows
    if (out->G != NULL) pcs_table_put_directions(self, false, false, at.q, out->G, out->T);
    if (out->G == self->G && self->gap_here != NULL) {
        table_put_gaps(self, false, self->G, at.q, self->gap_here);
        self->time_here = at.t;
    }
    if (out->point != NULL) table_put_points(self, at.q, out->point, out->normal);
    if (out->across != NULL) table_put_across(self, out->across);
    if (out->way != NULL) table_drive(self, at.t, out->way, out->speed);
    if (out->pressed != NULL && table->L != NULL) pcs_forces_press(self, at, out->pressed);
}

void pcs_table_add_reaction(const pcs_system *self, int source, const pcs_row_report *rows, pcs_reaction *out)
{
    const pcs_row_table *table = self->row_set.table;
    const pcs_table_source *own = &table->sources[source];
    for (int j = own->first_row; j < own->first_row + own->nrow; j++) {
        double force = isfinite(rows[j].force) ? rows[j].force : 0.0; // at t = 0 there may be none
        for (int k = 0; k < 3; k++) {
            out->force[k] += force * table->states[j].normal[k];
            out->moment[k] += force * table->states[j].couple[k];
        }
        for (int k = 0; k < 2; k++) out->teeth[k] += force * own->shape.teeth[k];
    }
}
