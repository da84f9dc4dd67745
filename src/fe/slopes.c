// Computes dG/dx, the change of joint directions with node positions, from the rates of rows while one coordinate after
// the other moves at unit speed. Nodes without a row in common move at once.
//
//   moment m on a node with the rotation R   d(R^T m) = R^T (dm - w x m),  w the rotation of the node in space
//   increments x, R = R_0 exp(x)             rotation in the axes of the body = T(x) dx
//   impulses, C(x) R^T m                     their change by C, too: rotations.c

#include "fe/data.h"

#include <string.h>

typedef struct slopes_view {
    const fe_slopes *joints;
    const pcs_place *places; // [nnode] of the nodes of joints
} slopes_view;

static void slopes_find_place(const pcs_places *self, int node, pcs_place *out)
{
    const slopes_view *view = self->owner;
    *out = view->places[view->joints->place_of_node[node]];
}

static bool slopes_has(const fe_data *fe, int k)
{
    return k >= fe->model.ncontact && fe->sources[k].varies && !fe->sources[k].joint.is_constant;
}

// Do the directions of a joint turn with this dof? With a translation only where lines between nodes do.
static bool slopes_may_turn(const fe_data *fe, int source, const pcs_dof *d)
{
    return d->equation >= 0 && (d->is_rotation || fe->sources[source].joint.has_lines);
}

// Entries of a row, and those of them that turn it: their numbers, unless `entry` is NULL.
static int slopes_count(const fe_data *fe, int source, const pcs_row_direction *direction, int *size, int *entry)
{
    int count = 0;
    *size = 0;
    for (int t = 0; t < direction->nterm; t++)
        for (int i = fe->map.first[direction->term[t].node]; i < fe->map.first[direction->term[t].node + 1]; i++) {
            bool turns = slopes_may_turn(fe, source, &fe->map.dof[i]);
            if (turns && entry != NULL) entry[count] = *size;
            count += turns;
            *size += fe->map.dof[i].equation >= 0;
        }
    return count;
}

// Rows and their coordinates.
static pcs_status slopes_take_rows(pcs_system *self, const fe_data *fe, pcs_slopes *s)
{
    const pcs_row_state *states = ((const fe_work *)self->work)->states;
    int count = 0, most = 0, nnz = 0, size;
    for (int k = 0; k < self->ncontact; k++) most += slopes_has(fe, k) ? fe->sources[k].nrow : 0;
    PCS_TAKE(self->ctx, s->row, most, "the stiffness of joints");
    PCS_TAKE(self->ctx, s->start, most + 1, "the stiffness of joints");
    for (int k = 0; k < self->ncontact; k++)
        for (int i = 0; slopes_has(fe, k) && i < fe->sources[k].nrow; i++) {
            int row = fe->sources[k].first_row + i, width = slopes_count(fe, k, &states[row].direction, &size, NULL);
            s->row[s->count] = row;
            s->start[++s->count] = count += width;
            nnz += width * size;
        }
    PCS_TAKE(self->ctx, s->entry, count, "the stiffness of joints");
    PCS_TRY(pcs_rows_create(self->ctx, count, self->nv, nnz, &s->by));
    nnz = 0;
    for (int i = 0; i < s->count; i++) {
        const int *column = self->G->column + self->G->start[s->row[i]];
        int source = self->rows[s->row[i]].contact;
        (void)slopes_count(fe, source, &states[s->row[i]].direction, &size, s->entry + s->start[i]);
        for (int c = s->start[i]; c < s->start[i + 1]; c++, nnz += size) {
            s->by->start[c] = nnz;
            memcpy(s->by->column + nnz, column, (size_t)size * sizeof *column);
        }
    }
    s->by->start[count] = nnz;
    return PCS_OK;
}

static pcs_status slopes_take_nodes(pcs_system *self, fe_slopes *joints)
{
    const fe_data *fe = self->data;
    const pcs_row_state *states = ((const fe_work *)self->work)->states;
    int nnode = fe->model.mesh->nnode;
    PCS_TAKE(self->ctx, joints->place_of_node, nnode, "the stiffness of joints");
    PCS_TAKE(self->ctx, joints->node, PCS_ROW_NODES * joints->by.count, "the stiffness of joints");
    PCS_TAKE(self->ctx, joints->colour, PCS_ROW_NODES * joints->by.count, "the stiffness of joints");
    for (int i = 0; i < nnode; i++) joints->place_of_node[i] = -1;
    for (int i = 0; i < joints->by.count; i++) {
        const pcs_row_direction *d = &states[joints->by.row[i]].direction;
        for (int t = 0; t < d->nterm; t++) {
            int node = d->term[t].node;
            if (joints->place_of_node[node] >= 0) continue;
            joints->place_of_node[node] = joints->nnode;
            joints->node[joints->nnode++] = node;
        }
    }
    return PCS_OK;
}

// Nodes of a row get different colours: rounds over the rows until no two are alike.
static void slopes_find_colours(const pcs_system *self, fe_slopes *joints)
{
    const pcs_row_state *states = ((const fe_work *)self->work)->states;
    bool changes = true;
    while (changes) {
        changes = false;
        for (int i = 0; i < joints->by.count; i++) {
            const pcs_row_direction *d = &states[joints->by.row[i]].direction;
            for (int t = 1; t < d->nterm; t++)
                for (int other = 0; other < t; other++) {
                    int a = joints->place_of_node[d->term[other].node], b = joints->place_of_node[d->term[t].node];
                    if (joints->colour[a] != joints->colour[b]) continue;
                    joints->colour[a > b ? a : b]++;
                    changes = true;
                }
        }
    }
    for (int i = 0; i < joints->nnode; i++)
        if (joints->colour[i] >= joints->ncolour) joints->ncolour = joints->colour[i] + 1;
}

// Which colours the rows of each joint have.
static pcs_status slopes_find_uses(pcs_system *self, const fe_data *fe, fe_slopes *joints)
{
    const pcs_row_state *states = ((const fe_work *)self->work)->states;
    PCS_TAKE(self->ctx, joints->is_used, self->ncontact * joints->ncolour, "the stiffness of joints");
    for (int k = 0; k < self->ncontact; k++)
        for (int i = 0; slopes_has(fe, k) && i < fe->sources[k].nrow; i++) {
            const pcs_row_direction *d = &states[fe->sources[k].first_row + i].direction;
            for (int t = 0; t < d->nterm; t++) {
                int colour = joints->colour[joints->place_of_node[d->term[t].node]];
                joints->is_used[k * joints->ncolour + colour] = true;
            }
        }
    return PCS_OK;
}

pcs_status pcs_fe_prepare_slopes(pcs_system *self, fe_data *fe)
{
    fe_work *work = self->work;
    fe_slopes *joints;
    int most = 0;
    size_t nnz = (size_t)self->K->pattern->nnz;
    PCS_TAKE(self->ctx, joints, 1, "the stiffness of joints");
    fe->slopes = joints;
    PCS_TRY(slopes_take_rows(self, fe, &joints->by));
    self->slopes = &joints->by;
    if (joints->by.count == 0) return PCS_OK;
    PCS_TRY(slopes_take_nodes(self, joints));
    slopes_find_colours(self, joints);
    PCS_TRY(slopes_find_uses(self, fe, joints));
    for (int k = 0; k < self->ncontact; k++)
        if (slopes_has(fe, k) && fe->sources[k].nrow > most) most = fe->sources[k].nrow;
    PCS_TAKE(self->ctx, work->slope_states, most, "the stiffness of joints");
    PCS_TAKE(self->ctx, work->slope_places, joints->nnode, "the stiffness of joints");
    if (fe->is_nonlinear) return PCS_OK; // then K is made anew before
    PCS_TAKE(self->ctx, fe->still_K, nnz, "the stiffness of joints");
    memcpy(fe->still_K, self->K->value, nnz * sizeof(double));
    return PCS_OK;
}

static bool slopes_turns_freely(const fe_data *fe, int node)
{
    return fe->spin_of_node != NULL && fe->spin_of_node[node] >= 0 && fe->spins[fe->spin_of_node[node]][0] >= 0;
}

// Dof k of all nodes of a colour moves at unit speed, or stands again.
static void slopes_set_speeds(const pcs_system *self, int colour, int k, double speed)
{
    const fe_data *fe = self->data;
    pcs_place *places = ((const fe_work *)self->work)->slope_places;
    for (int i = 0; i < fe->slopes->nnode; i++) {
        int node = fe->slopes->node[i], dof = fe->map.first[node] + k;
        if (fe->slopes->colour[i] != colour || dof >= fe->map.first[node + 1]) continue;
        const pcs_dof *d = &fe->map.dof[dof];
        double *to = d->is_rotation ? places[i].w : places[i].v;
        for (int axis = 0; axis < 3; axis++) to[axis] = speed * d->direction[axis];
        if (d->is_rotation && speed != 0.0 && slopes_turns_freely(fe, node))
            pcs_rotation_apply(places[i].R, d->direction, to);
    }
}

// Derivatives of the entries of a row, from the rates of its terms.
static void slopes_put(const fe_data *fe, const pcs_row_state *state, const pcs_place *places, double *out)
{
    for (int t = 0; t < state->direction.nterm; t++) {
        const pcs_row_term *term = &state->direction.term[t];
        double moment[3], turned[3];
        memcpy(moment, state->rate[t].moment, sizeof moment);
        if (slopes_turns_freely(fe, term->node)) {
            const pcs_place *place = &places[fe->slopes->place_of_node[term->node]];
            pcs_cross(place->w, term->moment, turned);
            for (int k = 0; k < 3; k++) turned[k] = moment[k] - turned[k];
            pcs_rotation_apply_transposed(place->R, turned, moment);
        }
        for (int i = fe->map.first[term->node]; i < fe->map.first[term->node + 1]; i++) {
            const pcs_dof *d = &fe->map.dof[i];
            if (d->equation >= 0) *out++ = pcs_dot3(d->is_rotation ? moment : state->rate[t].force, d->direction);
        }
    }
}

// Number, among the coordinates of a row of a joint, of dof k of its node of this colour; -1: there is none.
static int slopes_coordinate(const fe_data *fe, int source, const pcs_row_direction *direction, const int at[2])
{
    int count = 0;
    for (int t = 0; t < direction->nterm; t++) {
        int node = direction->term[t].node, first = fe->map.first[node], end = fe->map.first[node + 1];
        bool is_here = fe->slopes->colour[fe->slopes->place_of_node[node]] == at[0];
        for (int i = first; i < end; i++) {
            bool turns = slopes_may_turn(fe, source, &fe->map.dof[i]);
            if (is_here && i == first + at[1]) return turns ? count : -1;
            count += turns;
        }
    }
    return -1;
}

// The rows of joint `source`, whose first one is number i among those that vary.
static void slopes_look(pcs_system *self, const pcs_places *places, int source, int i, const int at[2])
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    int nrow = fe->sources[source].nrow;
    pcs_fe_clear_states(true, nrow, work->slope_states);
    fe->sources[source].evaluate(work->instances[source], places, work->slope_states);
    for (int j = 0; j < nrow; j++) {
        int f = slopes_coordinate(fe, source, &work->slope_states[j].direction, at);
        if (f >= 0) slopes_put(fe, &work->slope_states[j], work->slope_places, pcs_slopes_by(self->slopes, i + j, f));
    }
}

// Is dof k of some node of this colour a rotation?
static bool slopes_is_turn(const fe_data *fe, int colour, int k)
{
    for (int i = 0; i < fe->slopes->nnode; i++) {
        int node = fe->slopes->node[i], dof = fe->map.first[node] + k;
        if (fe->slopes->colour[i] != colour || dof >= fe->map.first[node + 1]) continue;
        if (fe->map.dof[dof].is_rotation) return true;
    }
    return false;
}

// All joints while dof k of the nodes of a colour moves.
static void slopes_look_at_all(pcs_system *self, const pcs_places *places, int colour, int k)
{
    const fe_data *fe = self->data;
    const fe_slopes *joints = fe->slopes;
    const int at[2] = { colour, k };
    bool is_turn = slopes_is_turn(fe, colour, k);
    slopes_set_speeds(self, colour, k, 1.0);
    for (int source = fe->model.ncontact, i = 0; source < self->ncontact; source++) {
        if (!slopes_has(fe, source)) continue;
        bool may_turn = joints->is_used[source * joints->ncolour + colour];
        if (may_turn && (is_turn || fe->sources[source].joint.has_lines)) slopes_look(self, places, source, i, at);
        i += fe->sources[source].nrow;
    }
    slopes_set_speeds(self, colour, k, 0.0);
}

void pcs_fe_update_slopes(pcs_system *self, pcs_instant at, const double *x)
{
    const fe_data *fe = self->data;
    if (self->slopes->count == 0) return;
    const fe_work *work = self->work;
    const fe_slopes *joints = fe->slopes;
    fe_view view = { fe, pcs_at(at.t, at.q, NULL) };
    slopes_view still = { joints, work->slope_places };
    pcs_places find = pcs_fe_places(self, &view), places = find;
    places.owner = &still;
    places.find = slopes_find_place;
    places.has_velocities = true;
    memset(joints->by.by->value, 0, (size_t)joints->by.by->start[joints->by.by->nrow] * sizeof(double));
    for (int i = 0; i < joints->nnode; i++) find.find(&find, joints->node[i], &work->slope_places[i]);
    for (int colour = 0; colour < joints->ncolour; colour++)
        for (int k = 0; k < PCS_MAX_NODE_DOFS; k++) slopes_look_at_all(self, &places, colour, k);
    if (x != NULL) pcs_rotate_slopes(&self->rotations, x, self->slopes);
}

void pcs_fe_add_joint_stiffness(pcs_system *self, pcs_instant at, const double *lam)
{
    const fe_data *fe = self->data;
    const pcs_slopes *s = self->slopes;
    if (fe->still_K != NULL) memcpy(self->K->value, fe->still_K, (size_t)self->K->pattern->nnz * sizeof(double));
    if (s == NULL) return;
    pcs_fe_update_slopes(self, at, NULL);
    for (int i = 0; i < s->count; i++)
        for (int f = 0; f < pcs_slopes_width(s, i); f++)
            for (int e = 0; e < pcs_slopes_size(s, i); e++) {
                int row = pcs_slopes_columns(s, i)[e], place = -1;
                if (row < pcs_system_nown(self)) // a copy need not have the cells that couple its dofs
                    place = pcs_pattern_find(self->K->pattern, row, pcs_slopes_equation(s, i, f));
                if (place >= 0) self->K->value[place] -= lam[s->row[i]] * pcs_slopes_by(s, i, f)[e];
            }
}
