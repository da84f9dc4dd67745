// Computes dG/dx, the change of joint directions with node positions, from the rates of rows while one coordinate after
// the other moves at unit speed. Nodes without a row in common have one colour and move at once.
//
//   moment m on a node with the rotation R   d(R^T m) = R^T (dm - w x m),  w the rotation of the node in space
//   increments x, R = R_0 exp(x)             rotation in the axes of the body = T(x) dx
//   impulses, C(x) R^T m                     their change by C, too: system/rotations.c

#include "rows/table.h"
#include "system/rotations.h"

#include <string.h>

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
static bool derivative_may_turn(const pcs_table_source *source, const pcs_dof *d)
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
            bool turns = derivative_may_turn(source, &map->dof[i]);
            if (turns && entry != NULL) entry[count] = *size;
            count += turns;
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
        if (d->is_rotation && speed != 0.0 && pcs_table_rotation(self, node) >= 0)
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
        double moment[3], turned[3];
        memcpy(moment, state->rate[t].moment, sizeof moment);
        if (pcs_table_rotation(self, term->node) >= 0) {
            const pcs_place *place = &own->places[own->place_of_node[term->node]];
            pcs_cross(place->w, term->moment, turned);
            for (int k = 0; k < 3; k++) turned[k] = moment[k] - turned[k];
            pcs_rotation_apply_transposed(place->R, turned, moment);
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
            bool turns = derivative_may_turn(source, &map->dof[i]);
            if (is_here && i == first + move.dof) return turns ? count : -1;
            count += turns;
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
            if (!is_known) pcs_table_look_at(source, places, own->states);
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
    pcs_places find = pcs_table_places(&view), places = find;
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
