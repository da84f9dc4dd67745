// Constraint rows of a finite-element model: contacts first, then joints.
//
// A constant row is g = g_0 + G q. A varying one is stated by its contact or joint in nodes, forces and moments
// (contact/row.h).

#include "core/loop.h"
#include "fe/laws.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static pcs_status rows_fill_constant(pcs_system *self, fe_data *fe, int contact, const pcs_contact_info *info)
{
    const pcs_fe_contact *c = &fe->model.contacts[contact];
    for (int i = 0; i < info->nrow; i++)
        PCS_TRY(c->ops->fill(self->ctx, c->params, &fe->map, i, &fe->points[info->first_row + i]));
    return PCS_OK;
}

// Returns true if another rank has the rows of joint k, whose shape is known here all the same.
static bool rows_is_elsewhere(const pcs_system *self, const fe_data *fe, int k)
{
    int joint = k - fe->model.ncontact;
    return self->row_comm != NULL && joint >= 0 && fe->share->joint_rank[joint] != self->row_comm->rank;
}

// Counts the rows of contact or joint k and, where they vary, makes their instance.
static pcs_status rows_count(pcs_system *self, fe_data *fe, int k, pcs_contact_info *info)
{
    fe_work *work = self->work;
    fe_row_source *source = &fe->sources[k];
    *info = (pcs_contact_info){ .first_row = self->nrow };
    if (k < fe->model.ncontact) {
        const pcs_fe_contact *c = &fe->model.contacts[k];
        info->name = c->name;
        info->writes_points = c->writes_points;
        source->evaluate = c->ops->evaluate;
        if (c->law != NULL) return pcs_fe_count_law(self, fe, k); // no rows
        bool may_stay = c->ops->count != NULL && pcs_fe_contact_law(c)->friction == 0.0;
        info->nrow = may_stay ? c->ops->count(c->params, fe->model.mesh) : -1;
        if (info->nrow < 0) {
            PCS_TRY(c->ops->create(self->ctx, c->params, &fe->map, &work->instances[k], &source->contact));
            info->nrow = source->contact.nrow;
            if (pcs_fe_contact_law(c)->friction == 0.0) source->contact.ntangent = 0;
            const pcs_memory *memory = &source->contact.memory;
            if (memory->size > 0 || memory->nall > 0) self->memory[self->nmemory++] = *memory;
        }
    } else {
        const pcs_fe_joint *joint = &fe->model.joints[k - fe->model.ncontact];
        info->name = joint->name;
        info->is_joint = true;
        source->evaluate = joint->ops->evaluate;
        PCS_TRY(joint->ops->create(self->ctx, joint->params, &fe->map, &work->instances[k], &source->joint));
        info->nrow = rows_is_elsewhere(self, fe, k) ? 0 : source->joint.nrow;
    }
    source->varies = source->evaluate != NULL && work->instances[k] != NULL;
    source->first_row = info->first_row;
    source->nrow = info->nrow;
    self->nrow += info->nrow;
    return PCS_OK;
}

static void rows_describe(pcs_system *self, int k, const pcs_contact_info *info, pcs_row *rows)
{
    const fe_data *fe = self->data;
    const pcs_joint_shape *joint = &fe->sources[k].joint;
    pcs_row row = { .contact = k, .is_bilateral = info->is_joint, .is_driven = joint->is_driven };
    row.is_turn = joint->is_turn;
    row.changes_sense = k >= fe->model.ncontact + fe->model.njoint - fe->nheld;
    if (!info->is_joint) {
        const pcs_contact_law *law = pcs_fe_contact_law(&fe->model.contacts[k]);
        row.restitution = law->restitution;
        row.friction = law->friction;
        row.tangent_restitution = law->tangent_restitution;
        row.ntangent = fe->sources[k].contact.ntangent;
    }
    for (int i = 0; i < info->nrow; i++) {
        row.first_tangent = self->ntangent;
        rows[info->first_row + i] = row;
        self->ntangent += row.ntangent;
    }
}

// Makes the shapes of contacts agree on all ranks, also on those that have no rows of them.
static void rows_join_shapes(pcs_system *self, const fe_data *fe, pcs_contact_info *info)
{
    for (int k = 0; k < self->ncontact; k++) {
        pcs_contact_shape *shape = &fe->sources[k].contact;
        double facts[4] = { shape->ntangent, !shape->is_constant, shape->size, shape->reach };
        self->row_comm->max(self->row_comm, 4, facts);
        shape->ntangent = info[k].ntangent = (int)facts[0];
        shape->is_constant = facts[1] == 0.0;
        shape->size = facts[2];
        shape->reach = facts[3];
    }
}

// Which of all rows of a contact the i-th of those here is.
static int rows_place(const pcs_system *self, const fe_data *fe, const pcs_fe_contact *c, int i)
{
    const pcs_comm *comm = self->row_comm;
    if (c->ops->places != NULL) return pcs_comm_first(comm, comm->rank, c->ops->places(c->params, fe->model.mesh)) + i;
    const char *name = pcs_gap_set_name(c->ops, c->params, 0);
    const pcs_set *here = pcs_set_touching(pcs_mesh_node_set(fe->model.mesh, name), name);
    int npoint = c->ops->rows_per_node(c->params);
    return npoint * here->place[i / npoint] + i % npoint;
}

// Numbers of the points of a contact, or of the rows of a joint, in one process, from `first` on.
static void rows_number_points(const pcs_system *self, const fe_data *fe, int first, pcs_contact_info *info,
                               int *number)
{
    const pcs_fe_contact *c = info->is_joint ? NULL : &fe->model.contacts[info - self->contacts];
    info->first_all = first;
    if (c == NULL) info->nall = fe->sources[info - self->contacts].joint.nrow;
    else info->nall = pcs_gap_rows(c->ops, c->params, fe->model.mesh);
    for (int i = 0; i < info->nrow; i++)
        number[info->first_row + i] = first + (c == NULL ? i : rows_place(self, fe, c, i));
}

// Numbers of rows and tangents in one process, where they are dealt out, and then of points with force laws.
static pcs_status rows_number(pcs_system *self, const fe_data *fe, pcs_contact_info *info)
{
    int *row_number, *tangent_number;
    PCS_TAKE(self->ctx, row_number, pcs_system_npoint(self), "contact rows");
    PCS_TAKE(self->ctx, tangent_number, self->ntangent, "contact rows");
    for (int k = 0; k < self->ncontact; k++) {
        int nt = info[k].ntangent;
        if (!info[k].is_joint && fe->model.contacts[k].law != NULL) continue;
        rows_number_points(self, fe, self->nrow_all, &info[k], row_number);
        for (int row = info[k].first_row; row < info[k].first_row + info[k].nrow; row++)
            for (int t = 0; t < nt; t++)
                tangent_number[self->rows[row].first_tangent + t] =
                    self->ntangent_all + nt * (row_number[row] - self->nrow_all) + t;
        self->nrow_all += info[k].nall;
        self->ntangent_all += nt * info[k].nall;
    }
    for (int k = 0; k < fe->model.ncontact; k++) {
        if (fe->model.contacts[k].law == NULL) continue;
        rows_number_points(self, fe, self->nrow_all + self->ncompliant_all, &info[k], row_number);
        self->ncompliant_all += info[k].nall;
    }
    self->row_number = row_number;
    self->tangent_number = tangent_number;
    return PCS_OK;
}

// Room for the directions; those of constant rows are filled in.
static pcs_status rows_make_directions(pcs_system *self, fe_data *fe)
{
    int nnz = 0, place = 0;
    for (int k = 0; k < self->ncontact; k++)
        for (int i = 0; i < fe->sources[k].nrow; i++)
            nnz += fe->sources[k].varies ? FE_ROW_TERMS : fe->points[fe->sources[k].first_row + i].nterm;
    PCS_TRY(pcs_rows_create(self->ctx, self->nrow, self->nv, nnz, &self->G));
    for (int k = 0; k < self->ncontact; k++)
        for (int row = fe->sources[k].first_row; row < fe->sources[k].first_row + fe->sources[k].nrow; row++) {
            self->G->start[row] = place;
            if (fe->sources[k].varies) place += FE_ROW_TERMS;
            for (int j = 0; j < fe->points[row].nterm; j++) {
                self->G->column[place] = fe->points[row].equation[j];
                self->G->value[place++] = fe->points[row].coefficient[j];
            }
        }
    self->G->start[self->nrow] = place;
    if (self->layout != NULL) self->G->halo = self->layout->halo;
    if (pcs_system_ntangent(self) == 0) return PCS_OK;
    PCS_TRY(pcs_rows_create(self->ctx, self->ntangent, self->nv, self->ntangent * FE_ROW_TERMS, &self->T));
    for (int t = 0; t <= self->ntangent; t++) self->T->start[t] = t * FE_ROW_TERMS;
    self->T->halo = self->G->halo;
    return PCS_OK;
}

// Rows of all contacts and joints; ranks that have different ones hear of one another's faults.
static pcs_status rows_count_all(pcs_system *self, fe_data *fe, pcs_contact_info *info, const char **culprit)
{
    pcs_status status = PCS_OK;
    for (int k = 0; k < self->ncontact && status == PCS_OK; k++) {
        status = rows_count(self, fe, k, &info[k]);
        if (status != PCS_OK)
            *culprit = pcs_fe_culprit(self->ctx, info[k].is_joint ? "joints" : "contacts", info[k].name);
    }
    if (self->row_comm == NULL) return status;
    PCS_TRY(pcs_comm_agree(self->ctx, status));
    rows_join_shapes(self, fe, info);
    pcs_fe_join_laws(fe);
    return PCS_OK;
}

static pcs_status rows_create(pcs_system *self, fe_data *fe, pcs_contact_info *info, pcs_row **out,
                              const char **culprit)
{
    fe_work *work = self->work;
    pcs_row *rows;
    PCS_TRY(rows_count_all(self, fe, info, culprit));
    PCS_TAKE(self->ctx, rows, self->nrow + (fe->laws == NULL ? 0 : fe->laws->nrow), "contact rows");
    PCS_TAKE(self->ctx, fe->points, self->nrow, "contact rows");
    PCS_TAKE(self->ctx, work->states, self->nrow, "contact rows");
    PCS_TAKE(self->ctx, self->gap_here, self->nrow, "contact rows");
    self->time_here = NAN;
    self->rows = self->laws = *out = rows;
    for (int k = 0; k < self->ncontact; k++) {
        rows_describe(self, k, &info[k], rows);
        fe->has_evaluated_rows = fe->has_evaluated_rows || fe->sources[k].varies;
        fe->has_varying_rows = fe->has_varying_rows || (fe->sources[k].varies && !fe->sources[k].joint.is_constant &&
                                                        !fe->sources[k].contact.is_constant);
        const pcs_gap_ops *gaps = info[k].is_joint ? NULL : fe->model.contacts[k].ops;
        self->row_set.ndriven += fe->sources[k].joint.is_driven;
        self->row_set.may_change = self->row_set.may_change || (gaps != NULL && gaps->search != NULL);
        self->row_set.may_pass = self->row_set.may_pass || (gaps != NULL && gaps->passage != NULL);
        if (fe->sources[k].varies) continue;
        pcs_status status = rows_fill_constant(self, fe, k, &info[k]);
        if (status != PCS_OK) *culprit = pcs_fe_culprit(self->ctx, "contacts", info[k].name);
        PCS_TRY(status);
    }
    return fe->laws == NULL ? PCS_OK : pcs_fe_make_laws(self, fe, info, rows, culprit);
}

// A joint between nodes that supports hold along its direction holds nothing.
static pcs_status rows_demand_motion(pcs_system *self, const char **culprit)
{
    const pcs_rows *G = self->G;
    for (int row = 0; row < self->nrow; row++) {
        const pcs_contact_info *info = &self->contacts[self->rows[row].contact];
        bool is_zero = info->is_joint;
        for (int i = G->start[row]; i < G->start[row + 1]; i++) is_zero = is_zero && fabs(G->value[i]) < 1e-12;
        if (!is_zero) continue;
        const fe_work *work = self->work;
        const pcs_row_state *state = &work->states[row];
        bool is_turn = pcs_dot3(state->normal, state->normal) == 0.0;
        const double *d = is_turn ? state->couple : state->normal;
        *culprit = pcs_fe_culprit(self->ctx, "joints", info->name);
        return pcs_fail(self->ctx, PCS_BAD_INPUT, "joint '%s' holds what supports hold already: %s [%g, %g, %g]",
                        info->name, is_turn ? "rotations about" : "motion along", d[0], d[1], d[2]);
    }
    return PCS_OK;
}

// Contacts whose directions never change are not evaluated again: their rows are as good as constant ones.
static void rows_freeze_constant(pcs_system *self, fe_data *fe)
{
    const fe_work *work = self->work;
    fe->has_evaluated_rows = false;
    for (int k = 0; k < self->ncontact; k++) {
        fe_row_source *source = &fe->sources[k];
        if (source->contact.is_constant)
            for (int i = 0; i < source->nrow; i++) {
                int row = source->first_row + i;
                const pcs_row_state *state = &work->states[row];
                pcs_contact_point *point = &fe->points[row];
                *point = (pcs_contact_point){ .gap = state->gap, .node = state->direction.term[0].node, .other = -1 };
                if (state->direction.nterm > 1) point->other = state->direction.term[1].node;
                const double *x = fe->model.mesh->x[point->node];
                for (int axis = 0; axis < 3; axis++) point->arm[axis] = state->point[axis] - x[axis];
                memcpy(point->normal, state->normal, sizeof point->normal);
            }
        if (source->contact.is_constant) source->varies = false;
        fe->has_evaluated_rows = fe->has_evaluated_rows || fe->sources[k].varies;
    }
}

// Rows of joints that push no node, but turn it, hold angles.
static void rows_find_angles(const pcs_system *self, pcs_row *rows)
{
    const pcs_row_state *states = ((const fe_work *)self->work)->states;
    for (int j = 0; j < self->nrow; j++) {
        const pcs_row_direction *direction = &states[j].direction;
        rows[j].is_angle = rows[j].is_bilateral && direction->nterm > 0;
        for (int i = 0; i < direction->nterm; i++)
            if (pcs_norm3(direction->term[i].force) > 0.0) rows[j].is_angle = false;
    }
}

pcs_status pcs_fe_make_rows(pcs_system *self, fe_data *fe, const char **culprit)
{
    fe_work *work = self->work;
    pcs_contact_info *info;
    pcs_row *rows = NULL;
    self->ncontact = fe->model.ncontact + fe->model.njoint;
    PCS_TAKE(self->ctx, info, self->ncontact, "contacts");
    PCS_TAKE(self->ctx, fe->sources, self->ncontact, "contacts");
    PCS_TAKE(self->ctx, work->instances, self->ncontact, "contacts");
    PCS_TAKE(self->ctx, self->memory, self->ncontact + 6, "contacts"); // and those of materials, friction and reactions
    self->contacts = info;
    if (fe->share != NULL && fe->share->deals_rows) self->row_comm = fe->share->layout.comm;
    pcs_status status = rows_create(self, fe, info, &rows, culprit);
    if (self->row_comm != NULL && status == PCS_OK) status = rows_number(self, fe, info);
    PCS_TRY(self->row_comm == NULL ? status : pcs_comm_agree(self->ctx, status));
    if (fe->laws != NULL) PCS_TRY(pcs_fe_number_dampers(self, fe->laws));
    if (fe->laws != NULL) PCS_TRY(pcs_fe_make_law_friction(self, fe->laws));
    PCS_TRY(rows_make_directions(self, fe));
    if (!fe->has_evaluated_rows) return PCS_OK;
    double *rest;
    PCS_TAKE(self->ctx, rest, self->nq, "contact rows");
    pcs_system_aim(self, pcs_at(0.0, rest, NULL));
    rows_find_angles(self, rows);
    status = rows_demand_motion(self, culprit);
    PCS_TRY(self->row_comm == NULL ? status : pcs_comm_agree(self->ctx, status));
    rows_freeze_constant(self, fe);
    self->time_here = NAN; // positions of a run are others
    return PCS_OK;
}

void pcs_fe_clear_states(bool is_joint, int nrow, pcs_row_state *states)
{
    size_t size = is_joint ? offsetof(pcs_row_state, tangent) : sizeof *states;
    for (int j = 0; j < nrow; j++) memset(&states[j], 0, size);
}

void pcs_fe_look_at_rows(pcs_system *self, pcs_instant at)
{
    const fe_data *fe = self->data;
    fe_work *work = self->work;
    fe_view view = { fe, at };
    pcs_places places = pcs_fe_places(self, &view);
    for (int k = 0; k < self->ncontact; k++) {
        const fe_row_source *source = &fe->sources[k];
        if (!source->varies || rows_is_elsewhere(self, fe, k)) continue;
        pcs_row_state *states = work->states + source->first_row;
        pcs_fe_clear_states(k >= fe->model.ncontact, source->nrow, states);
        source->evaluate(work->instances[k], &places, states);
    }
}

static inline double rows_constant_gap(const pcs_system *self, int row, const double *q)
{
    return ((const fe_data *)self->data)->points[row].gap + pcs_rows_dot(self->G, row, q);
}

// Gaps of the rows as they were evaluated last, at q.
static void rows_tell_gaps(const pcs_system *self, const double *q, double *gap)
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    for (int k = 0; k < self->ncontact; k++) {
        const fe_row_source *source = &fe->sources[k];
        for (int row = source->first_row; row < source->first_row + source->nrow; row++)
            gap[row] = source->varies ? work->states[row].gap : rows_constant_gap(self, row, q);
    }
}

static void rows_put_directions(const pcs_system *self, const double *q, pcs_rows *G, pcs_rows *T)
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    for (int k = 0; k < self->ncontact; k++) {
        const fe_row_source *source = &fe->sources[k];
        if (!source->varies) continue;
        for (int row = source->first_row; row < source->first_row + source->nrow; row++) {
            pcs_fe_put_direction(fe, &work->states[row].direction, q, G, row);
            for (int t = 0; t < self->rows[row].ntangent; t++)
                pcs_fe_put_direction(fe, &work->states[row].tangent[t], q, T, self->rows[row].first_tangent + t);
        }
    }
}

pcs_status pcs_fe_search(pcs_system *self, pcs_instant at, bool *has_changed)
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    fe_view view = { fe, at };
    pcs_places places = pcs_fe_places(self, &view);
    *has_changed = false;
    self->time_here = NAN; // rows may be about others now
    for (int k = 0; k < fe->model.ncontact; k++) {
        const pcs_fe_contact *c = &fe->model.contacts[k];
        if (c->ops->search == NULL) continue;
        if (c->ops->search(self->ctx, work->instances[k], &places, has_changed) != PCS_OK)
            return pcs_wrap(self->ctx, PCS_FAILED, "contact '%s'", c->name);
    }
    *has_changed = pcs_rows_any(self, *has_changed);
    return PCS_OK;
}

void pcs_fe_passages(pcs_system *self, const double *q0, const double *q1, const pcs_passage_row *rows,
                     pcs_passage *worst)
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    fe_view views[2] = { { fe, pcs_at(0.0, q0, NULL) }, { fe, pcs_at(0.0, q1, NULL) } };
    pcs_places from = pcs_fe_places(self, &views[0]), to = pcs_fe_places(self, &views[1]);
    for (int k = 0; k < fe->model.ncontact; k++) {
        const pcs_gap_ops *ops = fe->model.contacts[k].ops;
        int first = fe->sources[k].first_row;
        pcs_passage own = { 0 };
        if (ops->passage == NULL) continue;
        const pcs_passage_row *ends = rows + first;
        if (fe->model.contacts[k].law != NULL) ends = pcs_fe_law_ends(self, k, q0, q1, &first);
        ops->passage(work->instances[k], &from, &to, ends, &own);
        if (own.allowed > 0.0) pcs_passage_note(worst, own.depth, own.allowed, first + own.row);
    }
}

static void rows_drive(const pcs_system *self, double t, double *way, double *speed)
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    for (int row = 0; row < self->nrow; row++) way[row] = speed[row] = 0.0;
    for (int k = fe->model.ncontact; k < self->ncontact; k++) {
        const fe_row_source *source = &fe->sources[k];
        if (!source->joint.is_driven) continue;
        int row = source->first_row;
        fe->model.joints[k - fe->model.ncontact].ops->drives(work->instances[k], t, way + row, speed + row);
    }
}

static void rows_put_points(const pcs_system *self, const double *q, double (*position)[3], double (*normal)[3])
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    for (int k = 0; k < self->ncontact; k++) {
        const fe_row_source *source = &fe->sources[k];
        for (int row = source->first_row; row < source->first_row + source->nrow; row++) {
            const pcs_contact_point *point = &fe->points[row];
            const double *n = source->varies ? work->states[row].normal : point->normal;
            memcpy(normal[row], n, 3 * sizeof *n);
            if (source->varies) {
                memcpy(position[row], work->states[row].point, 3 * sizeof *n);
                continue;
            }
            pcs_fe_node_vector(fe, point->node, q, position[row]);
            for (int i = 0; i < 3; i++) position[row][i] += fe->model.mesh->x[point->node][i] + point->arm[i];
        }
    }
    if (fe->laws != NULL) pcs_fe_law_points(self, q, position, normal);
}

static void rows_put_across(const pcs_system *self, double (*across)[3])
{
    const fe_work *work = self->work;
    for (int row = 0; row < pcs_system_npoint(self); row++) {
        const pcs_row_state *state = row < self->nrow ? &work->states[row] : pcs_fe_law_state(self, row - self->nrow);
        for (int t = 0; t < self->rows[row].ntangent; t++)
            memcpy(across[self->rows[row].first_tangent + t], state->across[t], sizeof *across);
    }
}

void pcs_fe_evaluate_rows(pcs_system *self, pcs_instant at, const pcs_row_values *out)
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    bool sees_q = out->gap != NULL || out->bias != NULL || out->G != NULL || out->point != NULL || out->across != NULL;
    if (sees_q && fe->has_evaluated_rows)
        pcs_fe_look_at_rows(self, pcs_at(at.t, at.q, out->bias == NULL ? NULL : at.v));
    if (out->gap != NULL) rows_tell_gaps(self, at.q, out->gap);
    for (int row = 0; row < (out->bias == NULL ? 0 : self->nrow); row++)
        out->bias[row] = fe->has_evaluated_rows ? work->states[row].bias : 0.0;
    if (out->G != NULL) rows_put_directions(self, at.q, out->G, out->T);
    if (out->G == self->G && self->gap_here != NULL) {
        rows_tell_gaps(self, at.q, self->gap_here);
        self->time_here = at.t;
    }
    if (out->point != NULL) rows_put_points(self, at.q, out->point, out->normal);
    if (out->across != NULL) rows_put_across(self, out->across);
    if (out->way != NULL) rows_drive(self, at.t, out->way, out->speed);
    if (out->pressed != NULL && fe->laws != NULL) pcs_fe_press(self, at, out->pressed);
}
