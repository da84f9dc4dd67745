// Finds positions and velocities of nodes for contacts and joints, and writes row directions in terms of equations.
//
// A moment m on a node with the material rotation R enters its three equations as R^T m.

#include "rows/table.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

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

int pcs_table_put_constant(const pcs_system *self, const pcs_row_direction *direction, const double *rest,
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

void pcs_table_put_gaps(const pcs_system *self, bool is_soft, const pcs_rows *G, const double *q, double *gap)
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
    pcs_table_put_gaps(self, true, table->L, q, table->gap);
}
