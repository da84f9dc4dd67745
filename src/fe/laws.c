// Contacts with force laws: their points, forces, energies and reports.

#include "fe/laws.h"

#include <string.h>

static const pcs_force_law *laws_of(const fe_data *fe, int place)
{
    return fe->model.contacts[fe->laws->contacts[place].contact].law;
}

pcs_status pcs_fe_find_laws(pcs_system *self, fe_data *fe)
{
    int count = 0;
    for (int k = 0; k < fe->model.ncontact; k++) count += fe->model.contacts[k].law != NULL;
    if (count == 0) return PCS_OK;
    PCS_TAKE(self->ctx, fe->laws, 1, "force laws");
    PCS_TAKE(self->ctx, fe->laws->contacts, count, "force laws");
    for (int k = 0; k < fe->model.ncontact; k++) {
        const pcs_force_law *law = fe->model.contacts[k].law;
        if (law == NULL) continue;
        fe->laws->contacts[fe->laws->ncontact++].contact = k;
        fe->is_damped = fe->is_damped || pcs_force_law_is_damped(law);
        fe->laws->has_jumps = fe->laws->has_jumps || law->damper > 0.0;
    }
    fe->is_nonlinear = true;
    return PCS_OK;
}

static fe_law_contact *laws_find(const fe_data *fe, int contact)
{
    fe_law_contact *own = fe->laws->contacts;
    while (own->contact != contact) own++;
    return own;
}

pcs_status pcs_fe_count_law(pcs_system *self, fe_data *fe, int contact)
{
    fe_work *work = self->work;
    const pcs_fe_contact *c = &fe->model.contacts[contact];
    fe_law_contact *own = laws_find(fe, contact);
    pcs_contact_shape *shape = &fe->sources[contact].contact;
    own->first = fe->laws->nrow;
    bool rubs = pcs_fe_contact_law(c)->friction > 0.0;
    own->nrow = c->ops->count != NULL && !rubs ? c->ops->count(c->params, fe->model.mesh) : -1;
    if (own->nrow < 0) {
        PCS_TRY(c->ops->create(self->ctx, c->params, &fe->map, &work->instances[contact], shape));
        own->varies = true;
        own->turns = !rubs || !shape->is_constant;
        own->nrow = shape->nrow;
        own->ntangent = rubs ? shape->ntangent : 0;
        shape->ntangent = own->ntangent;
        if (shape->memory.size > 0 || shape->memory.nall > 0) self->memory[self->nmemory++] = shape->memory;
    }
    fe->laws->nrow += own->nrow;
    fe->laws->ntangent += own->nrow * own->ntangent;
    fe->laws->rubs = fe->laws->rubs || own->ntangent > 0;
    return PCS_OK;
}

// Copies the shapes of contacts, which agree on all ranks by now, to their force laws.
void pcs_fe_join_laws(fe_data *fe)
{
    for (int k = 0; fe->laws != NULL && k < fe->laws->ncontact; k++) {
        fe_law_contact *own = &fe->laws->contacts[k];
        const pcs_contact_shape *shape = &fe->sources[own->contact].contact;
        own->ntangent = shape->ntangent;
        if (own->varies && own->ntangent > 0) own->turns = !shape->is_constant;
        fe->laws->rubs = fe->laws->rubs || own->ntangent > 0;
    }
}

int pcs_fe_count_entries(const fe_data *fe, const pcs_row_direction *direction)
{
    int count = 0;
    for (int i = 0; i < direction->nterm; i++) {
        int node = direction->term[i].node;
        for (int d = fe->map.first[node]; d < fe->map.first[node + 1]; d++) count += fe->map.dof[d].equation >= 0;
    }
    return count;
}

static pcs_status laws_take_rows(pcs_system *self, int count, pcs_rows **out)
{
    PCS_TRY(pcs_rows_create(self->ctx, count, self->nv, count * FE_ROW_TERMS, out));
    for (int i = 0; i <= count; i++) (*out)->start[i] = i * FE_ROW_TERMS;
    return PCS_OK;
}

static pcs_status laws_take_work(pcs_system *self, int n, int ntangent, fe_law_work *work)
{
    PCS_TRY(laws_take_rows(self, n, &work->L));
    PCS_TRY(laws_take_rows(self, n, &work->ahead));
    PCS_TRY(laws_take_rows(self, n, &work->behind));
    PCS_TAKE(self->ctx, work->states, n, "force laws");
    PCS_TAKE(self->ctx, work->trial, n, "force laws");
    PCS_TAKE(self->ctx, work->gap, n, "force laws");
    PCS_TAKE(self->ctx, work->ends, n, "force laws");
    PCS_TAKE(self->ctx, work->force, n, "force laws");
    PCS_TAKE(self->ctx, work->is_waiting, n, "force laws");
    PCS_TAKE(self->ctx, work->is_late, n, "force laws");
    PCS_TAKE(self->ctx, work->taken, n, "force laws");
    PCS_TAKE(self->ctx, work->mark, self->nv, "force laws");
    PCS_TAKE(self->ctx, work->x, self->nv, "force laws");
    PCS_TAKE(self->ctx, work->q, self->nv, "force laws");
    if (ntangent == 0) return PCS_OK;
    PCS_TRY(laws_take_rows(self, ntangent, &work->T));
    PCS_TRY(laws_take_rows(self, ntangent, &work->ahead_T));
    return laws_take_rows(self, ntangent, &work->behind_T);
}

// The state of a point whose direction is constant.
static pcs_status laws_fill_point(pcs_system *self, const fe_data *fe, const fe_law_contact *own, int i)
{
    fe_law_work *work = ((fe_work *)self->work)->laws;
    const pcs_fe_contact *c = &fe->model.contacts[own->contact];
    const double at_node[3] = { 0.0 };
    pcs_contact_point point;
    pcs_row_state *state = &work->states[own->first + i];
    PCS_TRY(c->ops->fill(self->ctx, c->params, &fe->map, i, &point));
    const double back[3] = { -point.normal[0], -point.normal[1], -point.normal[2] };
    state->gap = point.gap;
    memcpy(state->normal, point.normal, sizeof state->normal);
    pcs_row_push(&state->direction, point.node, at_node, point.normal);
    if (point.other >= 0) pcs_row_push(&state->direction, point.other, at_node, back);
    pcs_fe_put_direction(fe, &state->direction, work->q, work->L, own->first + i);
    return PCS_OK;
}

// The next point of a contact.
static pcs_row laws_describe(const pcs_system *self, const fe_data *fe, const fe_law_contact *own)
{
    return (pcs_row){ .contact = own->contact,
                      .friction = pcs_fe_contact_law(&fe->model.contacts[own->contact])->friction,
                      .first_tangent = self->ntangent + self->ncompliant_tangent,
                      .ntangent = own->ntangent };
}

pcs_status pcs_fe_make_laws(pcs_system *self, fe_data *fe, pcs_contact_info *info, pcs_row *rows, const char **culprit)
{
    fe_laws *laws = fe->laws;
    fe_work *work = self->work;
    PCS_TAKE(self->ctx, work->laws, 1, "force laws");
    PCS_TAKE(self->ctx, laws->owner, laws->nrow, "force laws");
    PCS_TRY(laws_take_work(self, laws->nrow, laws->ntangent, work->laws));
    self->ncompliant = laws->nrow;
    for (int k = 0; k < laws->ncontact; k++) {
        const fe_law_contact *own = &laws->contacts[k];
        info[own->contact].first_row = self->nrow + own->first;
        info[own->contact].nrow = own->nrow;
        for (int i = 0; i < own->nrow; i++) {
            laws->owner[own->first + i] = k;
            rows[self->nrow + own->first + i] = laws_describe(self, fe, own);
            self->ncompliant_tangent += own->ntangent;
            pcs_status status = own->varies ? PCS_OK : laws_fill_point(self, fe, own, i);
            if (status != PCS_OK) *culprit = pcs_fe_culprit(self->ctx, "contacts", info[own->contact].name);
            PCS_TRY(status);
        }
    }
    return PCS_OK;
}

void pcs_fe_look_at_laws(const pcs_system *self, const double *q)
{
    const fe_data *fe = self->data;
    fe_law_work *work = ((const fe_work *)self->work)->laws;
    for (int k = 0; k < fe->laws->ncontact; k++) {
        const fe_law_contact *own = &fe->laws->contacts[k];
        if (own->varies) pcs_fe_evaluate_contact(self, own->contact, q, work->states + own->first);
        for (int i = own->first; i < own->first + own->nrow; i++) {
            const pcs_row_state *state = &work->states[i];
            if (own->varies) pcs_fe_put_direction(fe, &state->direction, q, work->L, i);
            for (int t = 0; t < own->ntangent; t++)
                pcs_fe_put_direction(fe, &state->tangent[t], q, work->T, pcs_fe_law_tangent(self, i) + t);
            work->gap[i] = own->varies ? state->gap : state->gap + pcs_rows_dot(work->L, i, q);
        }
    }
    if (fe->laws->ntangent > 0) pcs_fe_look_at_slides(self, q, work->way);
}

pcs_force_state pcs_fe_law_force_of(const pcs_system *self, int point, const double *v)
{
    const fe_data *fe = self->data;
    const fe_law_work *work = ((const fe_work *)self->work)->laws;
    pcs_force_law law = *laws_of(fe, fe->laws->owner[point]);
    if (work->is_late[point] != 0.0) law.damper = 0.0;
    return pcs_force_law_at(&law, work->gap[point], pcs_rows_dot(work->L, point, v));
}

pcs_status pcs_fe_number_dampers(pcs_system *self, const fe_laws *laws)
{
    int *serial;
    if (!laws->has_jumps) return PCS_OK;
    self->dampers.bytes = ((fe_work *)self->work)->laws->is_late;
    self->dampers.size = (size_t)laws->nrow * sizeof(double);
    if (self->row_comm == NULL) return PCS_OK;
    PCS_TAKE(self->ctx, serial, laws->nrow + 1, "force laws");
    for (int i = 0; i < laws->nrow; i++) serial[i] = self->row_number[self->nrow + i] - self->nrow_all;
    self->dampers.serial = serial;
    self->dampers.nown = laws->nrow;
    self->dampers.nall = self->ncompliant_all;
    return PCS_OK;
}

void pcs_fe_delay_dampers(pcs_system *self, pcs_instant at)
{
    const fe_laws *laws = ((const fe_data *)self->data)->laws;
    fe_law_work *work = ((fe_work *)self->work)->laws;
    if (at.q != NULL) pcs_fe_look_at_laws(self, at.q);
    for (int i = 0; i < laws->nrow; i++) work->is_late[i] = at.q != NULL && work->gap[i] > 0.0 ? 1.0 : 0.0;
}

void pcs_fe_law_force(const pcs_system *self, const double *q, const double *v, double *f)
{
    const fe_data *fe = self->data;
    const fe_law_work *work = ((const fe_work *)self->work)->laws;
    pcs_fe_look_at_laws(self, q);
    for (int i = 0; i < fe->laws->nrow; i++) {
        pcs_force_state s = pcs_fe_law_force_of(self, i, v);
        if (s.force == 0.0) continue;
        pcs_rows_add_transposed(work->L, i, s.force, f);
        pcs_rub rub = pcs_fe_law_rub(self, i, &s);
        for (int t = 0; t < pcs_fe_law_row(self, i)->ntangent; t++)
            pcs_rows_add_transposed(work->T, pcs_fe_law_tangent(self, i) + t, rub.force[t], f);
    }
}

// Returns the number of points that this rank sums over: 0 if all ranks know all points and this is not rank 0.
static int laws_count(const pcs_system *self)
{
    bool is_elsewhere = self->layout != NULL && self->row_comm == NULL && self->layout->comm->rank != 0;
    return is_elsewhere ? 0 : ((const fe_data *)self->data)->laws->nrow;
}

double pcs_fe_law_energy(const pcs_system *self, const double *q, const double *v)
{
    double energy = 0.0;
    int count = laws_count(self);
    if (count > 0) pcs_fe_look_at_laws(self, q);
    for (int i = 0; i < count; i++) {
        pcs_force_state s = pcs_fe_law_force_of(self, i, v);
        energy += s.energy + pcs_fe_law_rub(self, i, &s).energy;
    }
    return energy;
}

double pcs_fe_law_loss(const pcs_system *self, const double *q, const double *v, const double *u)
{
    const pcs_rows *L = ((const fe_work *)self->work)->laws->L;
    double loss = 0.0;
    int count = laws_count(self);
    if (count > 0) pcs_fe_look_at_laws(self, q);
    for (int i = 0; i < count; i++) {
        double taken = pcs_fe_law_force_of(self, i, v).loss, rate = pcs_rows_dot(L, i, v);
        if (taken != 0.0) loss += taken / rate * pcs_rows_dot(L, i, u);
    }
    return loss;
}

// Adds the resultant, N, of a force along a row of L or T over the equations that this rank owns.
static void laws_add_resultant(const pcs_system *self, const pcs_rows *L, int row, double force, double sum[3])
{
    for (int e = L->start[row]; e < L->start[row + 1]; e++)
        for (int k = 0; k < (L->column[e] < pcs_system_nown(self) ? 3 : 0); k++)
            sum[k] += force * L->value[e] * self->direction[L->column[e]][k];
}

void pcs_fe_law_resultant(const pcs_system *self, const double *q, const double *v, double sum[3])
{
    const fe_data *fe = self->data;
    const fe_law_work *work = ((const fe_work *)self->work)->laws;
    pcs_fe_look_at_laws(self, q);
    for (int i = 0; i < fe->laws->nrow; i++) {
        pcs_force_state s = pcs_fe_law_force_of(self, i, v);
        if (s.force == 0.0) continue;
        laws_add_resultant(self, work->L, i, s.force, sum);
        pcs_rub rub = pcs_fe_law_rub(self, i, &s);
        for (int t = 0; t < pcs_fe_law_row(self, i)->ntangent; t++)
            laws_add_resultant(self, work->T, pcs_fe_law_tangent(self, i) + t, rub.force[t], sum);
    }
}

void pcs_fe_commit_laws(pcs_system *self, const double *q, const double *v)
{
    const fe_laws *laws = ((const fe_data *)self->data)->laws;
    if (laws == NULL || !laws->rubs) return;
    fe_law_work *work = ((fe_work *)self->work)->laws;
    pcs_fe_look_at_laws(self, q);
    for (int p = 0; p < laws->nrow; p++) {
        pcs_force_state force = pcs_fe_law_force_of(self, p, v);
        pcs_rub rub = pcs_fe_law_rub(self, p, &force);
        fe_grip *grip = &work->grips[p];
        *grip = (fe_grip){ .stiffness = force.force > 0.0 ? force.tangent : 0.0, .gap = work->gap[p] };
        for (int t = 0; t < pcs_fe_law_row(self, p)->ntangent; t++)
            for (int k = 0; k < 3; k++) grip->force[k] += rub.force[t] * work->states[p].across[t][k];
    }
    memcpy(work->origin, q, (size_t)self->nq * sizeof *q);
    *work->is_committed = 1.0;
}

void pcs_fe_press(pcs_system *self, pcs_instant at, pcs_row_report *rows)
{
    const fe_data *fe = self->data;
    const fe_law_work *work = ((const fe_work *)self->work)->laws;
    pcs_fe_look_at_laws(self, at.q);
    for (int i = 0; i < fe->laws->nrow; i++) {
        pcs_row_report *row = &rows[self->nrow + i];
        row->gap = work->gap[i];
        row->rate = pcs_rows_dot(work->L, i, at.v);
        pcs_force_state s = pcs_fe_law_force_of(self, i, at.v);
        pcs_rub rub = pcs_fe_law_rub(self, i, &s);
        row->force = row->multiplier = s.force;
        row->friction_loss = rub.loss;
        for (int t = 0; t < pcs_fe_law_row(self, i)->ntangent; t++) {
            row->last_tangent[t] = rub.force[t];
            row->slip[t] = pcs_rows_dot(work->T, pcs_fe_law_tangent(self, i) + t, at.v);
        }
        row->is_closed = row->gap <= 0.0;
    }
}

void pcs_fe_law_points(const pcs_system *self, const double *q, double (*position)[3], double (*normal)[3])
{
    const fe_data *fe = self->data;
    const fe_law_work *work = ((const fe_work *)self->work)->laws;
    pcs_fe_look_at_laws(self, q);
    for (int i = 0; i < fe->laws->nrow; i++) {
        const pcs_row_state *state = &work->states[i];
        int row = self->nrow + i, node = state->direction.term[0].node;
        memcpy(normal[row], state->normal, sizeof *normal);
        memcpy(position[row], state->point, sizeof *position);
        if (fe->laws->contacts[fe->laws->owner[i]].varies) continue;
        pcs_fe_node_vector(fe, node, q, position[row]);
        for (int k = 0; k < 3; k++) position[row][k] += fe->model.mesh->x[node][k];
    }
}

const pcs_row_state *pcs_fe_law_state(const pcs_system *self, int point)
{
    return &((const fe_work *)self->work)->laws->states[point];
}

const pcs_passage_row *pcs_fe_law_ends(const pcs_system *self, int contact, const double *q0, const double *q1,
                                       int *first)
{
    const fe_data *fe = self->data;
    fe_law_work *work = ((const fe_work *)self->work)->laws;
    const fe_law_contact *own = laws_find(fe, contact);
    pcs_fe_look_at_laws(self, q0);
    for (int i = own->first; i < own->first + own->nrow; i++) work->ends[i].gap[0] = work->gap[i];
    pcs_fe_look_at_laws(self, q1);
    for (int i = own->first; i < own->first + own->nrow; i++) {
        work->ends[i].gap[1] = work->gap[i];
        work->ends[i].is_loaded = work->ends[i].gap[0] < 0.0 || work->gap[i] < 0.0;
    }
    *first = self->nrow + own->first;
    return work->ends + own->first;
}
