// Creates the rows of contacts and joints, and evaluates them for the system.
//
// A source states its rows in nodes, forces and moments (rows/source.h). A frozen row is g = g_0 + G q.

#include "rows/table.h"

#include "system/rotations.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static pcs_status forces_create(pcs_system *self, const double *rest);
static void forces_press(const pcs_system *self, pcs_instant at, pcs_row_report *rows);

// Finds positions and velocities of nodes for contacts and joints, and writes row directions in terms of equations.
//
// A moment m on a node with the material rotation R enters its three equations as R^T m.

int pcs_table_rotation(const pcs_system *self, const pcs_dofmap *map, int node)
{
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
    double *rotation = out->rotation;
    pcs_dofmap_vector(map, true, node, view->at.q, rotation);
    for (int k = 0; k < 3; k++) out->x[k] = places->mesh->x[node][k] + displacement[k];
    if (is_finite) {
        pcs_rotation_exp(rotation, out->R);
    } else {
        const double R[9] = { 1.0,          -rotation[2], rotation[1], rotation[2], 1.0,
                              -rotation[0], -rotation[1], rotation[0], 1.0 };
        memcpy(out->R, R, sizeof R);
    }
    if (!places->has_velocities) return;
    pcs_dofmap_vector(map, false, node, view->at.v, out->v);
    pcs_dofmap_vector(map, true, node, view->at.v, spin);
    if (pcs_table_rotation(view->self, map, node) >= 0) pcs_rotation_apply(out->R, spin, out->w); // v is material there
    else memcpy(out->w, spin, sizeof spin);
}

static pcs_places table_places(const pcs_table_view *view)
{
    return (pcs_places){ .mesh = view->self->row_set.table->map->mesh,
                         .t = view->at.t,
                         .has_velocities = view->at.v != NULL,
                         .owner = view,
                         .find = resolve_place };
}

// Evaluates all rows of a source at places.
static void table_look_at(const pcs_table_source *source, const pcs_places *places, pcs_row_state *states)
{
    // Joints have no tangents and are evaluated often.
    size_t size = source->is_joint ? offsetof(pcs_row_state, tangent) : sizeof *states;
    for (int i = 0; i < source->nrow; i++) memset(&states[i], 0, size);
    source->model->ops->evaluate(source->instance, places, states);
}

void pcs_table_look(const pcs_system *self, pcs_instant at, bool is_soft)
{
    const pcs_row_table *table = self->row_set.table;
    pcs_table_view view = { self, at };
    pcs_places places = table_places(&view);
    for (int k = 0; k < self->ncontact; k++) {
        const pcs_table_source *source = &table->sources[k];
        if (source->is_frozen || source->nrow == 0 || source->is_soft != is_soft) continue;
        table_look_at(source, &places, table->states + source->first_row);
    }
}

// Resolves the term of one node along its dofs. Returns the number of entries.
static int resolve_term(const pcs_system *self, const pcs_row_term *term, const double *q, int *column, double *value)
{
    const pcs_dofmap *map = self->row_set.table->map;
    double material[3], R[9];
    int count = 0, equation = pcs_table_rotation(self, map, term->node);
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

// Writes a direction as equations and their coefficients, [PCS_ROW_TERMS] at most. Returns their number.
static int table_put(const pcs_system *self, const pcs_row_direction *direction, const double *q, int *column,
                     double *value)
{
    int count = 0;
    for (int i = 0; i < direction->nterm; i++)
        count += resolve_term(self, &direction->term[i], q, column + count, value + count);
    return count;
}

// Allocates rows of PCS_ROW_TERMS entries.
static pcs_status table_take_rows(pcs_system *self, int count, pcs_rows **out)
{
    PCS_TRY(pcs_rows_create(self->ctx, count, self->nv, count * PCS_ROW_TERMS, out));
    for (int i = 0; i <= count; i++) (*out)->start[i] = i * PCS_ROW_TERMS;
    return PCS_OK;
}

// Puts a direction into a row, and zeros into the rest of its entries.
static void resolve_row(const pcs_system *self, const pcs_row_direction *direction, const double *q, pcs_rows *rows,
                        int row)
{
    int place = rows->start[row];
    place += table_put(self, direction, q, rows->column + place, rows->value + place);
    for (; place < rows->start[row + 1]; place++) {
        rows->column[place] = 0;
        rows->value[place] = 0.0;
    }
}

// Largest component of a unit vector along a direction that counts as round-off, as in pcs_dofmap_resolve.
static const double round_off = 1e-12;

// Puts a constant direction into the entries from `place` on, without zeros, and returns their number. Only counts them
// if `rows` is NULL.
static int table_put_constant(const pcs_system *self, const pcs_row_direction *direction, const double *rest,
                              pcs_rows *rows, int place)
{
    int column[PCS_ROW_TERMS], count = 0;
    double value[PCS_ROW_TERMS];
    int n = table_put(self, direction, rest, column, value);
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

static void table_put_directions(const pcs_system *self, bool is_soft, bool is_first, const double *q, pcs_rows *G,
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
    pcs_table_look(self, pcs_at(0.0, q, NULL), true); // contacts have no motion of their own
    table_put_directions(self, true, false, q, table->L, table->T);
    table_put_gaps(self, true, table->L, q, table->gap);
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
    // The shape of a joint is known also on processes without its rows.
    bool is_elsewhere = info->is_joint && pcs_rows_are_distributed(self) && !table->joint_is_here[k - table->ncontact];
    source->nrow = info->nrow = info->nall = is_elsewhere ? 0 : shape->nrow;
    info->ntangent = info->nrow > 0 ? shape->ntangent : 0;
    source->is_joint = info->is_joint;
    source->is_soft = pcs_law_is_force(&model->law);
    return PCS_OK;
}

// Makes the shapes of contacts agree on all processes, also on those that have no rows of them.
static void table_join_shapes(pcs_system *self, const pcs_row_table *table, pcs_contact_info *info)
{
    for (int k = 0; k < self->ncontact; k++) {
        pcs_source_shape *shape = &table->sources[k].shape;
        double facts[4] = { shape->ntangent, !shape->is_constant, shape->size, shape->reach };
        pcs_rows_max_each(self, 4, facts);
        shape->ntangent = info[k].ntangent = (int)facts[0];
        shape->is_constant = facts[1] == 0.0;
        shape->size = facts[2];
        shape->reach = facts[3];
    }
}

// Returns the index, among all rows of a contact, of the i-th one here.
static int table_place(const pcs_system *self, const pcs_row_source *c, int i)
{
    const pcs_mesh *mesh = self->row_set.table->map->mesh;
    int count = c->ops->count(c->params, mesh);
    const char *name = pcs_source_set_name(c->ops, c->params, 0);
    const pcs_set *here = pcs_set_touching(pcs_mesh_node_set(mesh, name), name);
    return count * here->place[i / count] + i % count;
}

// Assigns numbers to all rows, and to the tangents of those with multipliers, as in one process; for distributed rows.
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
        PCS_TRY(table_take_rows(self, self->ntangent, &self->T));
        self->T->halo = self->G->halo;
    }
    table_put_directions(self, false, true, rest, self->G, self->T);
    return PCS_OK;
}

// Creates the sources of all rows; if they are distributed, all processes fail when one does.
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
    PCS_TRY(pcs_rows_agree(self, status));
    if (pcs_rows_are_distributed(self)) table_join_shapes(self, table, info);
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
        source->first_row = info[k].first_row = info[k].first_all = row;
        for (; row < source->first_row + source->nrow; row++, tangent += source->shape.ntangent)
            self->laws[row] = (pcs_row){ .contact = k,
                                         .is_bilateral = info[k].is_joint,
                                         .is_driven = model->ops->drive != NULL,
                                         .is_revolute_gap = source->shape.is_revolute_gap,
                                         .changes_sense = k >= table->ncontact + table->njoint - table->nheld,
                                         .law = model->law,
                                         .friction = model->friction,
                                         .tangent_restitution = source->is_soft ? 0.0 : model->tangent_restitution,
                                         .first_tangent = tangent,
                                         .ntangent = source->shape.ntangent };
    }
    return PCS_OK;
}

// Evaluates rows with constant directions once for all times, unless they are driven.
static void table_freeze(pcs_system *self, pcs_row_table *table, const double *rest)
{
    pcs_row_set *set = &self->row_set;
    pcs_table_view view = { self, pcs_at(0.0, rest, NULL) };
    pcs_places places = table_places(&view);
    for (int k = 0; k < self->ncontact; k++) {
        pcs_table_source *source = &table->sources[k];
        const pcs_source_ops *ops = source->model->ops;
        source->is_frozen = source->shape.is_constant && ops->drive == NULL;
        if (source->is_frozen && source->nrow > 0) table_look_at(source, &places, table->states + source->first_row);
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
        bool is_revolute_gap = pcs_dot3(state->normal, state->normal) == 0.0;
        const double *d = is_revolute_gap ? state->couple : state->normal;
        *culprit = pcs_culprit(self->ctx, "joints", info->name);
        return pcs_fail(self->ctx, PCS_BAD_INPUT, "joint '%s' holds what supports hold already: %s [%g, %g, %g]",
                        info->name, is_revolute_gap ? "rotations about" : "motion along", d[0], d[1], d[2]);
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
    return forces_create(self, rest);
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
    PCS_TAKE(self->ctx, self->memory, self->ncontact + 6, "contacts"); // six more for materials, friction and reactions
    PCS_TAKE(self->ctx, rest, self->nq, "contact rows");
    self->contacts = info;
    self->time_here = NAN; // positions of a run differ from these
    PCS_TRY(table_create_sources(self, table, info, culprit));
    pcs_status status = table_describe_rows(self, table, info);
    if (pcs_rows_are_distributed(self) && status == PCS_OK) status = table_number(self, table, info);
    if (status == PCS_OK) status = table_prepare(self, table, rest);
    PCS_TRY(pcs_rows_agree(self, status));
    PCS_TRY(table_make_directions(self, table, rest));
    pcs_table_evaluate(self, pcs_at(0.0, rest, NULL), &(pcs_row_values){ .G = self->G, .T = self->T });
    self->time_here = NAN;
    table_find_angles(self);
    status = table_demand_motion(self, culprit);
    return pcs_rows_agree(self, status);
}

pcs_status pcs_table_search(pcs_system *self, pcs_instant at, bool *has_changed)
{
    const pcs_row_table *table = self->row_set.table;
    pcs_table_view view = { self, at };
    pcs_places places = table_places(&view);
    *has_changed = false;
    self->time_here = NAN; // rows may touch other bodies now
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
    pcs_places from = table_places(&views[0]), to = table_places(&views[1]);
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

static void table_drive(const pcs_system *self, double t, double *drive, double *speed)
{
    const pcs_row_table *table = self->row_set.table;
    for (int row = 0; row < self->nrow; row++) drive[row] = speed[row] = 0.0;
    for (int k = table->ncontact; k < self->ncontact; k++) {
        const pcs_table_source *s = &table->sources[k];
        if (s->model->ops->drive != NULL)
            s->model->ops->drive(s->instance, t, drive + s->first_row, speed + s->first_row);
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

void pcs_table_evaluate(pcs_system *self, pcs_instant at, const pcs_row_values *out)
{
    const pcs_row_table *table = self->row_set.table;
    bool sees_q = out->gap != NULL || out->bias != NULL || out->G != NULL || out->point != NULL || out->across != NULL;
    if (sees_q && table->has_evaluated)
        pcs_table_look(self, pcs_at(at.t, at.q, out->bias == NULL ? NULL : at.v), false);
    if (out->gap != NULL) table_put_gaps(self, false, self->G, at.q, out->gap);
    for (int row = 0; row < (out->bias == NULL ? 0 : self->nrow); row++)
        out->bias[row] = table->states[row].bias; // 0 for frozen rows
    if (out->G != NULL) table_put_directions(self, false, false, at.q, out->G, out->T);
    if (out->G == self->G && self->gap_here != NULL) {
        table_put_gaps(self, false, self->G, at.q, self->gap_here);
        self->time_here = at.t;
    }
    if (out->point != NULL) table_put_points(self, at.q, out->point, out->normal);
    for (int row = 0; row < (out->across == NULL ? 0 : pcs_system_npoint(self)); row++)
        for (int t = 0; t < self->rows[row].ntangent; t++)
            memcpy(out->across[self->rows[row].first_tangent + t], table->states[row].across[t], sizeof *out->across);
    if (out->drive != NULL) table_drive(self, at.t, out->drive, out->speed);
    if (out->pressed != NULL && table->L != NULL) forces_press(self, at, out->pressed);
}

// Contacts with force laws: forces, energies, reports and tangents of their points, and the state of friction.
//
// A point sticks by a spring of the stiffness k_t, in a row with a slider that gives way at mu F. On a path on which
// the bodies slide by s over each other, from a state with the force f_0 and the stiffness k_0,
//
//   f* = min(1, k_t/k_0) f_0 - k_m s,   f = f* where |f*| <= mu F, else mu F f*/|f*|,   energy |f|^2/(2 k_t)
//
// with k_m = k_t where it falls, else the mean (k_0 + k_t)/2, or that since the bodies touched where they did not at
// first. A stiffness that falls keeps the stretch, one that grows keeps the force: neither gives energy. The loss is
// E_0 - E - (f_0 + f)/2 . s, and nothing where it sticks with a constant k_t. s = p w, w = T(q) (q - q_n), is the
// displacement since the last commit n; p = 1, or g/(g - g_n) for a point that was open there, g_n > 0. The force of
// the last commit is kept in space, and is resolved along the current tangents.
//
// Tangents, with a = -dF/dg, b = -dF/dg', c = df/dF and e = c a + df/dk_t k_t' - k_m p' df/df* w:
//
//   K = a L^T L + b L^T (dL/dq v)^T - F dL^T/dq,   C = b L^T L + T^T c b L^T
//   K += T^T (k_m p df/df* T + e L^T + df/df* (k_m p (dw/dq - T) - df_0/dq) + c b (dL/dq v)^T) - f dT^T/dq
//
// dL/dq comes from central differences along the equations of a point; points that have no equation in common are
// moved at once. It is exact to about 1e-9 of the curvature, which costs no more than a part of an iteration.

// Sets the step of central differences: a fraction of the model size, or rad for rotations.
static const double small_increment = 1e-6;

// Holds the friction of a point at the last commit.
typedef struct forces_grip {
    double force[3];  // friction force in space, N
    double stiffness; // N/m
    double gap;       // m
} forces_grip;

// Holds the tangential displacement of a point since the last commit, and what it starts from.
typedef struct forces_slide {
    double drive[2];  // T (q - q_n), m
    double part;      // fraction of it that counts, 0 to 1
    double by_gap;    // -d(part)/dg, 1/m
    double force[2];  // friction at the last commit, along the current tangents, N
    double stiffness; // tangential stiffness there, N/m
} forces_slide;

// Holds the friction of one point at the end of an increment; all zero but the loss if the point is open.
typedef struct forces_friction {
    double force[2];        // f, N
    double by_trial[2][2];  // df/df*
    double by_normal[2];    // df/dF
    double by_stiffness[2]; // df/dk_t, m
    double stiffness;       // k_m, N/m
    double energy, loss;    // stored energy, and loss over the increment, J
} forces_friction;

typedef struct forces_point {
    pcs_law_force law;
    forces_slide slide;
    forces_friction friction;
} forces_point;

// Holds the directions of a point at a displaced position.
typedef struct forces_moved {
    int column[PCS_ROW_TERMS];
    double r[3][PCS_ROW_TERMS]; // normal and tangents
    forces_slide slide;
} forces_moved;

struct pcs_forces {
    forces_point *point;       // [ncompliant] at the last evaluation
    double *is_late;           // [ncompliant] 1 if the damper acts from the next step on (pcs_forces_delay_dampers)
    pcs_row_state *trial;      // [ncompliant] at a displaced position
    forces_moved *moved[2];    // [ncompliant] at q plus and minus a small displacement
    unsigned char *is_waiting; // [ncompliant] 1 if its tangent is still to be computed
    int *taken;                // [ncompliant] points of the current round
    int *mark;                 // [nv] round in which each equation was last used
    double *x, *q;             // [nv]
    // Allocated only with friction:
    double *memory;     // state at commits: [ncompliant] forces_grip, 1 after the first commit, [nq] positions
    forces_grip *grips; // [ncompliant] in `memory`
    double *origin, *is_committed; // in `memory`
    double *drive;                 // [nv] displacement from there
};

// Adds words of state per point to a memory, with their numbers in one process; the first process has `nmore` besides.
static pcs_status forces_number(pcs_system *self, int words, int nmore, pcs_memory *out)
{
    int *serial, count = words * self->ncompliant;
    if (!pcs_rows_are_distributed(self)) return PCS_OK;
    PCS_TAKE(self->ctx, serial, count + 1, "force laws");
    for (int i = 0; i < count; i++)
        serial[i] = words * (self->row_number[self->nrow + i / words] - self->nrow_all) + i % words;
    serial[count] = words * self->ncompliant_all;
    out->serial = serial;
    out->nown = count + (pcs_is_root(self->ctx) ? nmore : 0);
    out->nall = words * self->ncompliant_all + nmore;
    return PCS_OK;
}

// Allocates the state of friction of all points, and the positions at the last commit, distributed like q.
static pcs_status forces_make_friction(pcs_system *self, struct pcs_forces *work)
{
    enum { words = sizeof(forces_grip) / sizeof(double) };
    size_t grips = (size_t)self->ncompliant * words, n = (size_t)self->nq;
    PCS_TAKE(self->ctx, work->memory, grips + 1 + n, "friction of force laws");
    PCS_TAKE(self->ctx, work->drive, self->nv, "friction of force laws");
    work->grips = (forces_grip *)work->memory;
    work->is_committed = work->memory + grips;
    work->origin = work->is_committed + 1;
    pcs_memory here = { .bytes = work->memory, .size = (grips + 1) * sizeof(double) };
    pcs_memory origin = { .bytes = work->origin, .size = n * sizeof(double) };
    PCS_TRY(forces_number(self, words, 1, &here));
    if (self->layout != NULL) {
        origin.size = (size_t)self->layout->n * sizeof(double);
        origin.serial = self->layout->serial;
        origin.nown = self->layout->nown;
        origin.nall = self->layout->nglobal;
    }
    self->memory[self->nmemory++] = here;
    self->memory[self->nmemory++] = origin;
    return PCS_OK;
}

static pcs_status forces_take_work(pcs_system *self, pcs_row_table *table)
{
    int n = self->ncompliant;
    struct pcs_forces *work;
    PCS_TAKE(self->ctx, work, 1, "force laws");
    table->forces = work;
    PCS_TRY(table_take_rows(self, n, &table->L));
    PCS_TRY(table_take_rows(self, self->ncompliant_tangent, &table->T));
    PCS_TAKE(self->ctx, table->gap, n, "force laws");
    PCS_TAKE(self->ctx, table->ends, n, "force laws");
    PCS_TAKE(self->ctx, work->point, n, "force laws");
    PCS_TAKE(self->ctx, work->is_late, n, "force laws");
    PCS_TAKE(self->ctx, work->trial, n, "force laws");
    PCS_TAKE(self->ctx, work->moved[0], n, "force laws");
    PCS_TAKE(self->ctx, work->moved[1], n, "force laws");
    PCS_TAKE(self->ctx, work->is_waiting, n, "force laws");
    PCS_TAKE(self->ctx, work->taken, n, "force laws");
    PCS_TAKE(self->ctx, work->mark, self->nv, "force laws");
    PCS_TAKE(self->ctx, work->x, self->nv, "force laws");
    PCS_TAKE(self->ctx, work->q, self->nv, "force laws");
    return PCS_OK;
}

// Creates the workspace of rows with force laws and finds the bounds of their forces.
static pcs_status forces_create(pcs_system *self, const double *rest)
{
    pcs_row_table *table = self->row_set.table;
    bool has_laws = false, has_jumps = false;
    for (int k = 0; k < table->ncontact; k++) {
        const pcs_table_source *own = &table->sources[k];
        const pcs_law *law = &own->model->law;
        pcs_law_bound bound;
        if (!own->is_soft) continue;
        has_laws = true;
        law->ops->bound(law->params, 1.0, 1.0, &bound);
        has_jumps = has_jumps || bound.at_touch > 0.0;
        if (self->soft_friction == NULL && own->shape.ntangent > 0)
            self->soft_friction = pcs_culprit(self->ctx, "contacts", own->model->name);
    }
    if (!has_laws) return PCS_OK;
    if (self->ncompliant_tangent > 0 && self->soft_friction == NULL) return PCS_NO_MEMORY;
    PCS_TRY(forces_take_work(self, table));
    table_put_directions(self, true, true, rest, table->L, table->T);
    if (has_jumps) {
        self->dampers.bytes = table->forces->is_late;
        self->dampers.size = (size_t)self->ncompliant * sizeof(double);
        PCS_TRY(forces_number(self, 1, 0, &self->dampers));
    }
    return self->soft_friction == NULL ? PCS_OK : forces_make_friction(self, table->forces);
}

// Computes the displacements of all equations since the last commit.
static void forces_find_direction(const pcs_system *self, const double *q)
{
    const struct pcs_forces *work = self->row_set.table->forces;
    if (self->ncompliant_tangent == 0) return;
    if (*work->is_committed == 0.0) memset(work->drive, 0, (size_t)self->nv * sizeof *work->drive);
    else pcs_difference(&self->rotations, work->origin, q, work->drive);
}

// Finds the slide of a point with tangents r[1], r[2]. The force of the last commit keeps its magnitude.
static forces_slide forces_find_slide(const pcs_system *self, int point, const int *column, const double *const r[3],
                                      const pcs_row_state *state)
{
    const pcs_row_table *table = self->row_set.table;
    const forces_grip *grip = &table->forces->grips[point];
    int count = self->rows[self->nrow + point].ntangent;
    forces_slide x = { .part = 1.0, .stiffness = grip->stiffness };
    for (int t = 0; t < count; t++) {
        for (int i = 0; i < PCS_ROW_TERMS; i++) x.drive[t] += r[1 + t][i] * table->forces->drive[column[i]];
        x.force[t] = pcs_dot3(state->across[t], grip->force);
    }
    double kept = hypot(x.force[0], x.force[1]), depth = -table->gap[point];
    if (kept > 0.0)
        for (int t = 0; t < count; t++) x.force[t] *= pcs_norm3(grip->force) / kept;
    if (grip->gap > 0.0 && depth > 0.0) {
        x.part = depth / (depth + grip->gap);
        x.by_gap = grip->gap / ((depth + grip->gap) * (depth + grip->gap));
    }
    return x;
}

// Evaluates friction while sliding: f = mu F f*/|f*|.
static void forces_slip(double friction, double normal, const double trial[2], double size, forces_friction *x)
{
    double along[2] = { trial[0] / size, trial[1] / size }, share = friction * normal / size;
    for (int i = 0; i < 2; i++) {
        x->force[i] = friction * normal * along[i];
        x->by_normal[i] = friction * along[i];
        for (int j = 0; j < 2; j++) x->by_trial[i][j] = share * ((i == j) - along[i] * along[j]);
    }
}

// Evaluates friction after a slide with Coulomb's coefficient; F and k_t are those of `at`.
static forces_friction forces_have_friction(const forces_slide *from, double friction, const pcs_law_force *at)
{
    const double *f0 = from->force, s[2] = { from->part * from->drive[0], from->part * from->drive[1] };
    double k = at->tangent, k0 = from->stiffness, trial[2], slope[2];
    double before = k0 > 0.0 ? 0.5 * (f0[0] * f0[0] + f0[1] * f0[1]) / k0 : 0.0;
    forces_friction x = { .loss = before };
    if (!(at->force > 0.0)) return x;
    bool falls = k < k0;
    double by_k = k0 > 0.0 ? 0.5 : at->tangent_mean / k; // dk_m/dk_t
    if (falls) by_k = 1.0;
    x.stiffness = k0 > 0.0 && !falls ? 0.5 * (k0 + k) : by_k * k;
    for (int i = 0; i < 2; i++) {
        trial[i] = (falls ? k / k0 : 1.0) * f0[i] - x.stiffness * s[i];
        slope[i] = (falls ? f0[i] / k0 : 0.0) - by_k * s[i];
        x.force[i] = trial[i];
        x.by_trial[i][i] = 1.0;
    }
    double size = hypot(trial[0], trial[1]);
    bool slides = size > friction * at->force;
    if (slides) forces_slip(friction, at->force, trial, size, &x);
    for (int i = 0; i < 2; i++) x.by_stiffness[i] = x.by_trial[i][0] * slope[0] + x.by_trial[i][1] * slope[1];
    x.energy = 0.5 * (x.force[0] * x.force[0] + x.force[1] * x.force[1]) / k;
    double work = 0.5 * ((f0[0] + x.force[0]) * s[0] + (f0[1] + x.force[1]) * s[1]);
    x.loss = slides || k != k0 ? fmax(0.0, before - x.energy - work) : 0.0;
    return x;
}

// Returns the index of a point's first row of T.
static int forces_tangent(const pcs_system *self, int point)
{
    return self->rows[self->nrow + point].first_tangent - self->ntangent;
}

// Finds the rows of a point, normal and tangents. Returns their equations.
static const int *forces_rows(const pcs_system *self, int point, const double *r[3])
{
    const pcs_row_table *table = self->row_set.table;
    r[0] = table->L->value + table->L->start[point];
    for (int t = 0; t < self->rows[self->nrow + point].ntangent; t++)
        r[1 + t] = table->T->value + table->T->start[forces_tangent(self, point) + t];
    return table->L->column + table->L->start[point];
}

// Evaluates all points. Returns the results.
static const forces_point *forces_at(const pcs_system *self, pcs_instant at)
{
    const pcs_row_table *table = self->row_set.table;
    pcs_table_look_at_laws(self, at.q);
    forces_find_direction(self, at.q);
    for (int i = 0; i < self->ncompliant; i++) {
        forces_point *p = &table->forces->point[i];
        const pcs_row *row = &self->rows[self->nrow + i];
        const double *r[3];
        const int *column = forces_rows(self, i, r);
        bool is_late = table->forces->is_late[i] != 0.0;
        pcs_law_input input = { table->gap[i], pcs_rows_dot(table->L, i, at.v), is_late };
        p->law = (pcs_law_force){ 0 };
        row->law.ops->force(row->law.params, &input, &p->law);
        if (row->ntangent == 0) continue;
        p->slide = forces_find_slide(self, i, column, r, &table->states[self->nrow + i]);
        p->friction = forces_have_friction(&p->slide, row->friction, &p->law);
    }
    return table->forces->point;
}

void pcs_forces_add(const pcs_system *self, pcs_instant at, double *f)
{
    const pcs_row_table *table = self->row_set.table;
    const forces_point *point = forces_at(self, at);
    for (int i = 0; i < self->ncompliant; i++) {
        if (point[i].law.force == 0.0) continue;
        pcs_rows_add_transposed(table->L, i, point[i].law.force, f);
        for (int t = 0; t < self->rows[self->nrow + i].ntangent; t++)
            pcs_rows_add_transposed(table->T, forces_tangent(self, i) + t, point[i].friction.force[t], f);
    }
}

// Adds the resultant, N, over own equations.
void pcs_forces_add_resultant(const pcs_system *self, pcs_instant at, double sum[3])
{
    double *f = self->row_set.table->forces->x;
    memset(f, 0, (size_t)self->nv * sizeof *f);
    pcs_forces_add(self, at, f);
    for (int i = 0; i < pcs_system_nown(self); i++)
        for (int k = 0; k < 3; k++) sum[k] += f[i] * self->direction[i][k];
}

double pcs_forces_energy(const pcs_system *self, pcs_instant at, double *loss)
{
    const pcs_rows *L = self->row_set.table->L;
    const double *u = at.along == NULL ? at.v : at.along;
    double energy = 0.0;
    *loss = 0.0;
    // If all processes know all points, only one of them adds.
    if (self->layout != NULL && !pcs_rows_are_distributed(self) && !pcs_is_root(self->ctx)) return 0.0;
    const forces_point *point = forces_at(self, at);
    for (int i = 0; i < self->ncompliant; i++) {
        double lost = point[i].law.loss;
        energy += point[i].law.energy + point[i].friction.energy;
        if (lost != 0.0) *loss += lost / pcs_rows_dot(L, i, at.v) * pcs_rows_dot(L, i, u);
    }
    return energy;
}

void pcs_forces_delay_dampers(pcs_system *self, pcs_instant at)
{
    const pcs_row_table *table = self->row_set.table;
    if (at.q != NULL) pcs_table_look_at_laws(self, at.q);
    for (int i = 0; i < self->ncompliant; i++)
        table->forces->is_late[i] = at.q != NULL && table->gap[i] > 0.0 ? 1.0 : 0.0;
}

void pcs_forces_commit(pcs_system *self, pcs_instant at)
{
    if (self->soft_friction == NULL) return;
    const pcs_row_table *table = self->row_set.table;
    struct pcs_forces *work = table->forces;
    const forces_point *point = forces_at(self, at);
    for (int i = 0; i < self->ncompliant; i++) {
        const pcs_law_force *law = &point[i].law;
        work->grips[i] = (forces_grip){ .stiffness = law->force > 0.0 ? law->tangent : 0.0, .gap = table->gap[i] };
        for (int t = 0; t < self->rows[self->nrow + i].ntangent; t++)
            for (int k = 0; k < 3; k++)
                work->grips[i].force[k] += point[i].friction.force[t] * table->states[self->nrow + i].across[t][k];
    }
    memcpy(work->origin, at.q, (size_t)self->nq * sizeof *at.q);
    *work->is_committed = 1.0;
}

// Fills in the reports of their points.
static void forces_press(const pcs_system *self, pcs_instant at, pcs_row_report *rows)
{
    const pcs_row_table *table = self->row_set.table;
    const forces_point *point = forces_at(self, at);
    for (int i = 0; i < self->ncompliant; i++) {
        pcs_row_report *row = &rows[self->nrow + i];
        row->gap = table->gap[i];
        row->rate = pcs_rows_dot(table->L, i, at.v);
        row->force = row->multiplier = point[i].law.force;
        row->friction_loss = point[i].friction.loss;
        for (int t = 0; t < self->rows[self->nrow + i].ntangent; t++) {
            row->last_tangent[t] = point[i].friction.force[t];
            row->slip[t] = pcs_rows_dot(table->T, forces_tangent(self, i) + t, at.v);
        }
        row->is_closed = row->gap <= 0.0;
    }
}

// Returns the number of equations of a point.
static int forces_count(const pcs_system *self, int point)
{
    const pcs_row_table *table = self->row_set.table;
    const pcs_row_direction *direction = &table->states[self->nrow + point].direction;
    int count = 0;
    for (int i = 0; i < direction->nterm; i++) {
        int node = direction->term[i].node;
        for (int d = table->map->first[node]; d < table->map->first[node + 1]; d++)
            count += table->map->dof[d].equation >= 0;
    }
    return count;
}

static void forces_add_entry(pcs_matrix *to, int row, int column, double value)
{
    int place = value == 0.0 ? -1 : pcs_pattern_find(to->pattern, row, column);
    if (place >= 0) to->value[place] += value;
}

// Adds r^T D r of the rows of a point to a matrix.
static void forces_add_product(const pcs_system *self, int point, double D[3][3], pcs_matrix *to)
{
    const double *r[3];
    const int *column = forces_rows(self, point, r);
    int nr = 1 + self->rows[self->nrow + point].ntangent, count = forces_count(self, point);
    for (int a = 0; a < nr * nr; a++) {
        const double *x = r[a / nr], *y = r[a % nr], value = D[a / nr][a % nr];
        for (int i = 0; i < count; i++)
            for (int j = 0; j < count; j++) forces_add_entry(to, column[i], column[j], value * x[i] * y[j]);
    }
}

// Adds the tangents of a point to K and C with its directions held constant.
static void forces_add_tangent(pcs_system *self, int point)
{
    const forces_point *p = &self->row_set.table->forces->point[point];
    const forces_friction *f = &p->friction;
    double K[3][3] = { { p->law.by_gap } }, C[3][3] = { { p->law.by_rate } };
    for (int t = 0; t < self->rows[self->nrow + point].ntangent; t++) {
        K[1 + t][0] = f->by_normal[t] * p->law.by_gap + f->by_stiffness[t] * p->law.tangent_by_gap;
        C[1 + t][0] = f->by_normal[t] * p->law.by_rate;
        for (int u = 0; u < 2; u++) {
            double slope = f->stiffness * f->by_trial[t][u];
            K[1 + t][0] -= p->slide.by_gap * slope * p->slide.drive[u];
            K[1 + t][1 + u] = p->slide.part * slope;
        }
    }
    forces_add_product(self, point, K, self->K);
    if (self->C != NULL) forces_add_product(self, point, C, self->C);
}

// Takes waiting points that share no equation with one another, in order. Returns their number.
static int forces_take_round(const pcs_system *self, const pcs_table_source *own, int round)
{
    const pcs_row_table *table = self->row_set.table;
    struct pcs_forces *work = table->forces;
    int ntaken = 0;
    for (int p = own->first_row - self->nrow; p < own->first_row - self->nrow + own->nrow; p++) {
        const int *column = table->L->column + table->L->start[p];
        int count = forces_count(self, p);
        bool is_free = work->is_waiting[p] != 0;
        for (int e = 0; e < count && is_free; e++) is_free = work->mark[column[e]] != round;
        if (!is_free) continue;
        for (int e = 0; e < count; e++) work->mark[column[e]] = round;
        work->is_waiting[p] = 0;
        work->taken[ntaken++] = p;
    }
    return ntaken;
}

// Returns the small displacement of an equation, m or rad.
static double forces_step(const pcs_system *self, int equation)
{
    return pcs_norm3(self->direction[equation]) == 0.0 ? small_increment : small_increment * self->length;
}

// Evaluates the directions of the points taken, entry e of each displaced by its small displacement or its negative.
static void forces_move(const pcs_system *self, const pcs_table_source *own, const double *q, int ntaken, int e,
                        bool is_behind)
{
    const pcs_row_table *table = self->row_set.table;
    struct pcs_forces *work = table->forces;
    memset(work->x, 0, (size_t)self->nv * sizeof *work->x);
    for (int k = 0; k < ntaken; k++) {
        int p = work->taken[k], equation = table->L->column[table->L->start[p] + e];
        if (e < forces_count(self, p)) work->x[equation] = (is_behind ? -1.0 : 1.0) * forces_step(self, equation);
    }
    pcs_retract(&self->rotations, q, work->x, work->q);
    pcs_table_view view = { self, pcs_at(0.0, work->q, NULL) };
    pcs_places places = table_places(&view);
    table_look_at(own, &places, work->trial + own->first_row - self->nrow);
    if (own->shape.ntangent > 0) forces_find_direction(self, work->q);
    for (int k = 0; k < ntaken; k++) {
        int p = work->taken[k], column[PCS_ROW_TERMS];
        forces_moved *moved = &work->moved[is_behind][p];
        const pcs_row_state *state = &work->trial[p];
        const double *const r[3] = { moved->r[0], moved->r[1], moved->r[2] };
        memset(moved, 0, sizeof *moved);
        (void)table_put(self, &state->direction, work->q, moved->column, moved->r[0]);
        for (int t = 0; t < own->shape.ntangent; t++)
            (void)table_put(self, &state->tangent[t], work->q, column, moved->r[1 + t]);
        if (own->shape.ntangent > 0) moved->slide = forces_find_slide(self, p, moved->column, r, state);
    }
}

// Computes the change of f* along each tangent with entry e, as the directions change; `r` at q.
static void forces_find_rise(const forces_point *p, const forces_moved *const ends[2], double span,
                             const double *const r[3], int e, double rise[2])
{
    const forces_slide *ahead = &ends[0]->slide, *behind = &ends[1]->slide;
    double k = p->law.tangent, k0 = ahead->stiffness;
    for (int u = 0; u < 2; u++)
        rise[u] = p->friction.stiffness * ahead->part * ((ahead->drive[u] - behind->drive[u]) / span - r[1 + u][e]) -
                  (k < k0 ? k / k0 : 1.0) * (ahead->force[u] - behind->force[u]) / span;
}

// Adds to column e of K the terms by the change of directions. Skips a point that has moved to other nodes.
static void forces_add_column(pcs_system *self, int point, int e, const double *v)
{
    const struct pcs_forces *work = self->row_set.table->forces;
    const forces_point *p = &work->point[point];
    const forces_moved *const ends[2] = { &work->moved[0][point], &work->moved[1][point] };
    int nt = self->rows[self->nrow + point].ntangent, count = forces_count(self, point);
    const double zero[PCS_ROW_TERMS] = { 0.0 }, *r[3] = { zero, zero, zero };
    const int *column = forces_rows(self, point, r);
    size_t bytes = (size_t)count * sizeof *column;
    if (e >= count || memcmp(column, ends[0]->column, bytes) != 0 || memcmp(column, ends[1]->column, bytes) != 0)
        return;
    double span = 2.0 * forces_step(self, column[e]), rotation = 0.0, rise[2] = { 0.0 };
    for (int i = 0; i < count; i++) rotation += (ends[0]->r[0][i] - ends[1]->r[0][i]) / span * v[column[i]];
    if (nt > 0) forces_find_rise(p, ends, span, r, e, rise);
    double force[3] = { p->law.force }, along[3] = { p->law.by_rate * rotation };
    for (int t = 0; t < nt; t++) {
        const forces_friction *f = &p->friction;
        force[1 + t] = f->force[t];
        along[1 + t] =
            f->by_normal[t] * p->law.by_rate * rotation + f->by_trial[t][0] * rise[0] + f->by_trial[t][1] * rise[1];
    }
    for (int i = 0; i < count; i++) {
        double value = 0.0;
        for (int a = 0; a <= nt; a++)
            value += along[a] * r[a][i] - force[a] * (ends[0]->r[a][i] - ends[1]->r[a][i]) / span;
        forces_add_entry(self->K, column[i], column[e], value);
    }
}

static void forces_add_rotation(pcs_system *self, const pcs_table_source *own, const double *q, const double *v)
{
    struct pcs_forces *work = self->row_set.table->forces;
    memset(work->mark, 0, (size_t)self->nv * sizeof *work->mark);
    int first = own->first_row - self->nrow;
    for (int p = first; p < first + own->nrow; p++) work->is_waiting[p] = work->point[p].law.force > 0.0;
    for (int round = 1, ntaken = 1; ntaken > 0; round++) {
        ntaken = forces_take_round(self, own, round);
        for (int e = 0; e < PCS_ROW_TERMS && ntaken > 0; e++) {
            forces_move(self, own, q, ntaken, e, false);
            forces_move(self, own, q, ntaken, e, true);
            for (int k = 0; k < ntaken; k++) forces_add_column(self, work->taken[k], e, v);
        }
    }
}

void pcs_forces_add_tangents(pcs_system *self, const double *q, const double *v)
{
    const pcs_row_table *table = self->row_set.table;
    const forces_point *point = forces_at(self, pcs_at(0.0, q, v));
    for (int p = 0; p < self->ncompliant; p++)
        if (point[p].law.force > 0.0) forces_add_tangent(self, p);
    for (int k = 0; k < table->ncontact; k++) {
        const pcs_table_source *own = &table->sources[k];
        if (own->is_soft && !own->is_frozen) forces_add_rotation(self, own, q, v);
    }
}

// Computes dG/dx, the change of joint directions with node positions, from the rates of rows while one coordinate after
// the other moves at unit speed. Nodes without a row in common have one colour and move at once.
//
//   moment m on a node with the rotation R   d(R^T m) = R^T (dm - w x m),  w the rotation of the node in space
//   increments x, R = R_0 exp(x)             rotation in the axes of the body = T(x) dx
//   impulses, C(x) R^T m                     their change by C, too: system/rotations.c

struct pcs_derivative {
    pcs_slopes by;         // workspace
    int nnode, *node;      // nodes of joints whose directions vary
    int *place_of_node;    // [mesh nnode] index among these, or -1
    int ncolour, *colour;  // [nnode]
    double *still_K;       // [nnz] K without the stiffness of joints if nobody else makes it anew
    pcs_row_state *states; // [most rows of a joint]
    pcs_place *places;     // [nnode]
};

// Identifies dof `dof` of all nodes of a colour.
typedef struct derivative_move {
    int colour, dof;
} derivative_move;

static void derivative_find_place(const pcs_places *self, int node, pcs_place *out)
{
    const struct pcs_derivative *d = self->owner;
    *out = d->places[d->place_of_node[node]];
}

static bool derivative_has(const pcs_row_table *table, int k)
{
    return k >= table->ncontact && !table->sources[k].shape.is_constant;
}

// Returns true if a joint's directions vary with this dof; with a translation only if they follow lines between nodes.
static bool derivative_may_rotate(const pcs_table_source *source, const pcs_dof *d)
{
    return d->equation >= 0 && (d->is_rotation || source->shape.has_lines);
}

// Counts the entries of a row in *size. Returns how many of them vary it, with their indices in `entry` unless NULL.
static int derivative_count(const pcs_row_table *table, int row, const pcs_table_source *source, int *size, int *entry)
{
    const pcs_dofmap *map = table->map;
    const pcs_row_direction *direction = &table->states[row].direction;
    int count = 0;
    *size = 0;
    for (int t = 0; t < direction->nterm; t++)
        for (int i = map->first[direction->term[t].node]; i < map->first[direction->term[t].node + 1]; i++) {
            bool rotates = derivative_may_rotate(source, &map->dof[i]);
            if (rotates && entry != NULL) entry[count] = *size;
            count += rotates;
            *size += map->dof[i].equation >= 0;
        }
    return count;
}

// Allocates the rows and their coordinates.
static pcs_status derivative_take_rows(pcs_system *self, const pcs_row_table *table, pcs_slopes *s)
{
    int count = 0, nnz = 0, size;
    PCS_TAKE(self->ctx, s->row, self->nrow, "the stiffness of joints");
    PCS_TAKE(self->ctx, s->start, self->nrow + 1, "the stiffness of joints");
    for (int k = 0; k < self->ncontact; k++)
        for (int i = 0; derivative_has(table, k) && i < table->sources[k].nrow; i++) {
            const pcs_table_source *source = &table->sources[k];
            int row = source->first_row + i, width = derivative_count(table, row, source, &size, NULL);
            s->row[s->count] = row;
            s->start[++s->count] = count += width;
            nnz += width * size;
        }
    PCS_TAKE(self->ctx, s->entry, count, "the stiffness of joints");
    PCS_TRY(pcs_rows_create(self->ctx, count, self->nv, nnz, &s->by));
    nnz = 0;
    for (int i = 0; i < s->count; i++) {
        const int *column = self->G->column + self->G->start[s->row[i]];
        const pcs_table_source *source = &table->sources[self->rows[s->row[i]].contact];
        (void)derivative_count(table, s->row[i], source, &size, s->entry + s->start[i]);
        for (int c = s->start[i]; c < s->start[i + 1]; c++, nnz += size) {
            s->by->start[c] = nnz;
            memcpy(s->by->column + nnz, column, (size_t)size * sizeof *column);
        }
    }
    s->by->start[count] = nnz;
    return PCS_OK;
}

static pcs_status derivative_take_nodes(pcs_system *self, const pcs_row_table *table, struct pcs_derivative *d)
{
    int nnode = table->map->mesh->nnode;
    PCS_TAKE(self->ctx, d->place_of_node, nnode, "the stiffness of joints");
    PCS_TAKE(self->ctx, d->node, PCS_ROW_NODES * d->by.count, "the stiffness of joints");
    PCS_TAKE(self->ctx, d->colour, PCS_ROW_NODES * d->by.count, "the stiffness of joints");
    for (int i = 0; i < nnode; i++) d->place_of_node[i] = -1;
    for (int i = 0; i < d->by.count; i++) {
        const pcs_row_direction *direction = &table->states[d->by.row[i]].direction;
        for (int t = 0; t < direction->nterm; t++) {
            int node = direction->term[t].node;
            if (d->place_of_node[node] >= 0) continue;
            d->place_of_node[node] = d->nnode;
            d->node[d->nnode++] = node;
        }
    }
    return PCS_OK;
}

// Assigns different colours to the nodes of each row, by passes over the rows until no two are equal.
static void derivative_find_colours(const pcs_row_table *table, struct pcs_derivative *d)
{
    bool changes = true;
    while (changes) {
        changes = false;
        for (int i = 0; i < d->by.count; i++) {
            const pcs_row_direction *direction = &table->states[d->by.row[i]].direction;
            for (int t = 1; t < direction->nterm; t++)
                for (int other = 0; other < t; other++) {
                    int a = d->place_of_node[direction->term[other].node];
                    int b = d->place_of_node[direction->term[t].node];
                    if (d->colour[a] != d->colour[b]) continue;
                    d->colour[a > b ? a : b]++;
                    changes = true;
                }
        }
    }
    for (int i = 0; i < d->nnode; i++)
        if (d->colour[i] >= d->ncolour) d->ncolour = d->colour[i] + 1;
}

pcs_status pcs_derivative_create(pcs_system *self)
{
    pcs_row_table *table = self->row_set.table;
    struct pcs_derivative *d;
    int most = 0;
    size_t nnz = (size_t)self->K->pattern->nnz;
    PCS_TAKE(self->ctx, d, 1, "the stiffness of joints");
    table->derivative = d;
    PCS_TRY(derivative_take_rows(self, table, &d->by));
    self->slopes = &d->by;
    if (d->by.count == 0) return PCS_OK;
    PCS_TRY(derivative_take_nodes(self, table, d));
    derivative_find_colours(table, d);
    for (int k = 0; k < self->ncontact; k++)
        if (derivative_has(table, k) && table->sources[k].nrow > most) most = table->sources[k].nrow;
    PCS_TAKE(self->ctx, d->states, most, "the stiffness of joints");
    PCS_TAKE(self->ctx, d->places, d->nnode, "the stiffness of joints");
    if (self->tangents_vary) return PCS_OK; // then K is made anew before
    PCS_TAKE(self->ctx, d->still_K, nnz, "the stiffness of joints");
    memcpy(d->still_K, self->K->value, nnz * sizeof(double));
    return PCS_OK;
}

// Sets the velocities of a move to `speed`: 1, or 0 afterwards.
static void derivative_set_speeds(const pcs_system *self, derivative_move move, double speed)
{
    const pcs_dofmap *map = self->row_set.table->map;
    const struct pcs_derivative *own = self->row_set.table->derivative;
    for (int i = 0; i < own->nnode; i++) {
        int node = own->node[i], dof = map->first[node] + move.dof;
        if (own->colour[i] != move.colour || dof >= map->first[node + 1]) continue;
        const pcs_dof *d = &map->dof[dof];
        double *to = d->is_rotation ? own->places[i].w : own->places[i].v;
        for (int axis = 0; axis < 3; axis++) to[axis] = speed * d->direction[axis];
        if (d->is_rotation && speed != 0.0 && pcs_table_rotation(self, map, node) >= 0)
            pcs_rotation_apply(own->places[i].R, d->direction, to);
    }
}

// Computes the derivatives of the entries of a row from the rates of its terms.
static void derivative_put(const pcs_system *self, const pcs_row_state *state, double *out)
{
    const pcs_dofmap *map = self->row_set.table->map;
    const struct pcs_derivative *own = self->row_set.table->derivative;
    for (int t = 0; t < state->direction.nterm; t++) {
        const pcs_row_term *term = &state->direction.term[t];
        double moment[3], rotated[3];
        memcpy(moment, state->rate[t].moment, sizeof moment);
        if (pcs_table_rotation(self, map, term->node) >= 0) {
            const pcs_place *place = &own->places[own->place_of_node[term->node]];
            pcs_cross(place->w, term->moment, rotated);
            for (int k = 0; k < 3; k++) rotated[k] = moment[k] - rotated[k];
            pcs_rotation_apply_transposed(place->R, rotated, moment);
        }
        for (int i = map->first[term->node]; i < map->first[term->node + 1]; i++) {
            const pcs_dof *d = &map->dof[i];
            if (d->equation >= 0) *out++ = pcs_dot3(d->is_rotation ? moment : state->rate[t].force, d->direction);
        }
    }
}

// Returns the index, among a joint row's coordinates, of the one that moves; -1 if none does.
static int derivative_coordinate(const pcs_row_table *table, const pcs_table_source *source, int row,
                                 derivative_move move)
{
    const pcs_dofmap *map = table->map;
    const struct pcs_derivative *own = table->derivative;
    const pcs_row_direction *direction = &table->states[row].direction;
    int count = 0;
    for (int t = 0; t < direction->nterm; t++) {
        int node = direction->term[t].node, first = map->first[node], end = map->first[node + 1];
        bool is_here = own->colour[own->place_of_node[node]] == move.colour;
        for (int i = first; i < end; i++) {
            bool rotates = derivative_may_rotate(source, &map->dof[i]);
            if (is_here && i == first + move.dof) return rotates ? count : -1;
            count += rotates;
        }
    }
    return -1;
}

// Evaluates the derivatives of all joints while a colour moves. The i-th row that varies is the first of a joint.
static void derivative_look(pcs_system *self, const pcs_places *places, derivative_move move)
{
    const pcs_row_table *table = self->row_set.table;
    const struct pcs_derivative *own = table->derivative;
    derivative_set_speeds(self, move, 1.0);
    for (int k = table->ncontact, i = 0; k < self->ncontact; k++) {
        const pcs_table_source *source = &table->sources[k];
        bool is_known = false;
        if (!derivative_has(table, k)) continue;
        for (int j = 0; j < source->nrow; j++, i++) {
            int f = derivative_coordinate(table, source, source->first_row + j, move);
            if (f < 0) continue;
            if (!is_known) table_look_at(source, places, own->states);
            is_known = true;
            derivative_put(self, &own->states[j], pcs_slopes_by(self->slopes, i, f));
        }
    }
    derivative_set_speeds(self, move, 0.0);
}

void pcs_derivative_update(pcs_system *self, pcs_instant at, const double *x)
{
    const struct pcs_derivative *own = self->row_set.table->derivative;
    if (self->slopes->count == 0) return;
    const pcs_rows *by = own->by.by;
    pcs_table_view view = { self, pcs_at(at.t, at.q, NULL) };
    pcs_places find = table_places(&view), places = find;
    places.owner = own;
    places.find = derivative_find_place;
    places.has_velocities = true;
    memset(by->value, 0, (size_t)by->start[by->nrow] * sizeof(double));
    for (int i = 0; i < own->nnode; i++) find.find(&find, own->node[i], &own->places[i]);
    for (int colour = 0; colour < own->ncolour; colour++)
        for (int k = 0; k < PCS_MAX_NODE_DOFS; k++) derivative_look(self, &places, (derivative_move){ colour, k });
    if (x != NULL) pcs_rotate_slopes(&self->rotations, x, self->slopes);
}

void pcs_derivative_add_stiffness(pcs_system *self, pcs_instant at, const double *lam)
{
    const pcs_slopes *s = self->slopes;
    if (s == NULL) return;
    const double *still_K = self->row_set.table->derivative->still_K;
    if (still_K != NULL) memcpy(self->K->value, still_K, (size_t)self->K->pattern->nnz * sizeof(double));
    pcs_derivative_update(self, at, NULL);
    for (int i = 0; i < s->count; i++)
        for (int f = 0; f < pcs_slopes_width(s, i); f++)
            for (int e = 0; e < pcs_slopes_size(s, i); e++) {
                int row = pcs_slopes_columns(s, i)[e], place = -1;
                if (row < pcs_system_nown(self)) // a copy need not have the cells that couple its dofs
                    place = pcs_pattern_find(self->K->pattern, row, pcs_slopes_equation(s, i, f));
                if (place >= 0) self->K->value[place] -= lam[s->row[i]] * pcs_slopes_by(s, i, f)[e];
            }
}
