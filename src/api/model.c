// Returns parts of a model to the caller: nodes, cells, sets, equations, its picture, and matrices.

#include "api/handle.h"

#include <stdio.h>
#include <string.h>

static const pcs_mesh *model_mesh(const percuss *p)
{
    return p == NULL || p->map == NULL ? NULL : p->map->mesh;
}

int percuss_dofs(const percuss *p)
{
    return p == NULL || p->system == NULL ? 0 : p->system->nq;
}

double percuss_length(const percuss *p)
{
    return p == NULL || p->system == NULL ? 0.0 : p->system->length;
}

int percuss_nodes(const percuss *p)
{
    const pcs_mesh *mesh = model_mesh(p);
    return mesh == NULL ? 0 : mesh->nnode;
}

const double *percuss_coordinates(const percuss *p)
{
    const pcs_mesh *mesh = model_mesh(p);
    return mesh == NULL || mesh->nnode == 0 ? NULL : mesh->x[0];
}

int percuss_cells(const percuss *p)
{
    const pcs_mesh *mesh = model_mesh(p);
    return mesh == NULL ? 0 : mesh->ncell;
}

const int *percuss_cell_nodes(const percuss *p)
{
    const pcs_mesh *mesh = model_mesh(p);
    return mesh == NULL || mesh->ncell == 0 ? NULL : mesh->cell[0];
}

int percuss_sets(const percuss *p)
{
    const pcs_mesh *mesh = model_mesh(p);
    return mesh == NULL ? 0 : mesh->nnode_set + mesh->ncell_set;
}

static percuss_set model_set(const pcs_set *set, bool is_cells)
{
    if (set == NULL) return (percuss_set){ 0 };
    return (percuss_set){ .name = set->name, .is_cells = is_cells, .count = set->count, .items = set->items };
}

percuss_set percuss_set_at(const percuss *p, int i)
{
    const pcs_mesh *mesh = model_mesh(p);
    if (i < 0 || i >= percuss_sets(p)) return (percuss_set){ 0 };
    if (i < mesh->nnode_set) return model_set(&mesh->node_set[i], false);
    return model_set(&mesh->cell_set[i - mesh->nnode_set], true);
}

percuss_set percuss_set_named(const percuss *p, const char *name, int is_cells)
{
    const pcs_mesh *mesh = model_mesh(p);
    if (mesh == NULL || name == NULL) return (percuss_set){ 0 };
    return model_set(is_cells ? pcs_mesh_cell_set(mesh, name) : pcs_mesh_node_set(mesh, name), is_cells != 0);
}

int percuss_node_dofs(const percuss *p, int node, percuss_dof out[6])
{
    if (node < 0 || node >= percuss_nodes(p)) return 0;
    int first = p->map->first[node], count = p->map->first[node + 1] - first;
    if (count > PCS_MAX_NODE_DOFS) count = PCS_MAX_NODE_DOFS;
    for (int i = 0; i < count; i++) {
        const pcs_dof *d = &p->map->dof[first + i];
        out[i] = (percuss_dof){ .equation = d->equation < 0 ? -1 : d->equation, .is_rotation = d->is_rotation };
        memcpy(out[i].direction, d->direction, sizeof d->direction);
    }
    return count;
}

int percuss_equation(const percuss *p, int node, int axis)
{
    percuss_dof dof[6];
    int count = percuss_node_dofs(p, node, dof);
    for (int i = 0; i < count; i++) {
        bool is_kind = (dof[i].is_rotation != 0) == (axis >= 3);
        // A direction off by round-off is the axis, as it is for supports and loads.
        if (axis >= 0 && axis < 6 && is_kind && dof[i].direction[axis % 3] > 1.0 - 1e-9) return dof[i].equation;
    }
    return -2;
}

void percuss_name_equation(const percuss *p, int equation, size_t size, char *text)
{
    if (size == 0) return;
    text[0] = '\0';
    if (equation >= 0 && equation < percuss_dofs(p))
        p->system->ops->describe(p->system, equation, NULL, NULL, size, text);
}

const char *percuss_coordinate_name(const percuss *p, int i)
{
    if (i < 0 || i >= percuss_dofs(p) || p->system->coordinates == NULL) return NULL;
    return p->system->coordinates[i];
}

percuss_picture percuss_draw(percuss *p)
{
    if (!pcs_api_may_evaluate(p) || p->system->picture == NULL) return (percuss_picture){ 0 };
    pcs_picture *picture = p->system->picture;
    if (picture->npoint == 0) return (percuss_picture){ 0 };
    p->system->ops->draw(p->system, pcs_api_at(p), picture);
    return (percuss_picture){ .npoint = picture->npoint,
                              .ncell = picture->ncell,
                              .nfield = picture->nfield,
                              .reference = picture->reference[0],
                              .displacement = picture->displacement[0],
                              .velocity = picture->velocity[0],
                              .cells = picture->ncell == 0 ? NULL : picture->cells[0],
                              .field_names = picture->field_names,
                              .fields = (const double *const *)picture->fields };
}

static pcs_status model_reserve_columns(percuss *p, int nnz)
{
    if (p->column_start == NULL) PCS_TAKE(p->ctx, p->column_start, p->system->nv + 1, "directions by columns");
    if (p->row_of != NULL && nnz <= p->room) return PCS_OK;
    PCS_TAKE(p->ctx, p->row_of, nnz, "directions by columns");
    PCS_TAKE(p->ctx, p->value_of, nnz, "directions by columns");
    p->room = nnz;
    return PCS_OK;
}

// Entries of rows, zeros left out, sorted into columns; what a row says twice of an equation adds up.
static void model_sort_columns(percuss *p, const pcs_rows *G)
{
    int n = p->system->nv, *end = p->column_start;
    memset(end, 0, ((size_t)n + 1) * sizeof *end);
    for (int k = 0; k < G->start[G->nrow]; k++)
        if (G->value[k] != 0.0) end[G->column[k] + 1]++;
    for (int j = 0; j < n; j++) end[j + 1] += end[j];
    // Filled from the last entry to the first, every start moves to where its column begins.
    for (int i = G->nrow - 1; i >= 0; i--)
        for (int k = G->start[i + 1] - 1; k >= G->start[i]; k--) {
            if (G->value[k] == 0.0) continue;
            int place = --end[G->column[k] + 1];
            p->row_of[place] = i;
            p->value_of[place] = G->value[k];
        }
    for (int j = 0; j < n; j++) end[j] = end[j + 1];
}

// Column j began with all entries counted from end[j + 1] down; doubles are joined and gaps closed.
static int model_join_columns(percuss *p, int nnz)
{
    int n = p->system->nv, used = 0, *start = p->column_start;
    for (int j = 0; j < n; j++) {
        int first = start[j], last = j + 1 < n ? start[j + 1] : nnz, begin = used;
        for (int k = first; k < last; k++) {
            if (used > begin && p->row_of[used - 1] == p->row_of[k]) {
                p->value_of[used - 1] += p->value_of[k];
                continue;
            }
            p->row_of[used] = p->row_of[k];
            p->value_of[used++] = p->value_of[k];
        }
        start[j] = begin;
    }
    return start[n] = used;
}

static pcs_status model_directions(percuss *p, percuss_matrix *out)
{
    pcs_api_aim(p);
    const pcs_rows *G = p->system->G;
    int nnz = 0;
    for (int k = 0; k < G->start[G->nrow]; k++) nnz += G->value[k] != 0.0;
    PCS_TRY(model_reserve_columns(p, nnz));
    model_sort_columns(p, G);
    *out = (percuss_matrix){ .nrow = G->nrow, .ncol = p->system->nv, .nnz = model_join_columns(p, nnz) };
    out->start = p->column_start;
    out->row = p->row_of;
    out->value = p->value_of;
    return PCS_OK;
}

static pcs_status model_no_damping(percuss *p, percuss_matrix *out)
{
    if (p->no_start == NULL) PCS_TAKE(p->ctx, p->no_start, p->system->nv + 1, "damping");
    *out = (percuss_matrix){ .nrow = p->system->nv, .ncol = p->system->nv, .start = p->no_start };
    out->row = p->no_start;
    return PCS_OK;
}

int percuss_matrix_of(percuss *p, percuss_matrix_kind kind, percuss_matrix *out)
{
    *out = (percuss_matrix){ 0 };
    if (!pcs_api_may_evaluate(p) || kind < PERCUSS_MASS || kind > PERCUSS_DIRECTIONS) return 2;
    pcs_system *system = p->system;
    if (kind == PERCUSS_DIRECTIONS) return pcs_api_answer(model_directions(p, out));
    if (kind == PERCUSS_MASS && system->mass_varies) system->ops->update(system, pcs_api_at(p), PCS_MASS, NULL);
    if (kind != PERCUSS_MASS && system->tangents_vary) system->ops->update(system, pcs_api_at(p), PCS_TANGENTS, NULL);
    const pcs_matrix *const matrices[] = { system->M, system->K, system->C };
    const pcs_matrix *A = matrices[kind];
    if (A == NULL) return kind == PERCUSS_DAMPING ? pcs_api_answer(model_no_damping(p, out)) : 2;
    *out = (percuss_matrix){ .nrow = A->pattern->n, .ncol = A->pattern->n, .nnz = A->pattern->nnz };
    out->start = A->pattern->start;
    out->row = A->pattern->row;
    out->value = A->value;
    return 0;
}
