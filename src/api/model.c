// Returns parts of a model to the caller: contacts, joints, reactions, nodes, cells, sets, equations, its picture, and
// matrices.

#include "api/handle.h"

#include <string.h>

// Contacts, joints and reactions.

int percuss_contacts(const percuss *p)
{
    return p == NULL || p->system == NULL ? 0 : pcs_system_npoint(p->system);
}

percuss_contact percuss_contact_at(const percuss *p, int i)
{
    if (i < 0 || i >= percuss_contacts(p)) return (percuss_contact){ .name = "" };
    const pcs_row *law = &p->system->rows[i];
    const pcs_row_report *row = &p->rows[i];
    return (percuss_contact){
        .name = p->system->contacts[law->contact].name,
        .gap = row->gap,
        .gap_rate = row->rate,
        .force = row->force,
        .impulse = row->impulse,
        .step_impulse = row->step_impulse,
        .tangent = { row->tangent[0], row->tangent[1] },
        .slip = { row->slip[0], row->slip[1] },
        .friction = law->friction,
        .restitution = pcs_restitution(law, 0.0),
        .group = law->contact,
        .is_joint = law->is_bilateral,
        .is_closed = row->is_closed,
        .is_impact = row->is_impact,
    };
}

int percuss_groups(const percuss *p)
{
    return p == NULL || p->system == NULL ? 0 : p->system->ncontact;
}

percuss_group percuss_group_at(const percuss *p, int i)
{
    if (i < 0 || i >= percuss_groups(p)) return (percuss_group){ 0 };
    const pcs_contact_info *info = &p->system->contacts[i];
    return (percuss_group){
        .name = info->name, .first = info->first_row, .count = info->nrow, .is_joint = pcs_is_joint(p->system, i)
    };
}

percuss_group percuss_group_named(const percuss *p, const char *name)
{
    for (int i = 0; i < percuss_groups(p); i++)
        if (name != NULL && strcmp(p->system->contacts[i].name, name) == 0) return percuss_group_at(p, i);
    return (percuss_group){ 0 };
}

const double *percuss_rows(const percuss *p, percuss_row_quantity quantity, size_t *stride)
{
    static const size_t offsets[] = {
        offsetof(pcs_row_report, gap),        offsetof(pcs_row_report, rate),         offsetof(pcs_row_report, force),
        offsetof(pcs_row_report, impulse),    offsetof(pcs_row_report, step_impulse), offsetof(pcs_row_report, tangent),
        offsetof(pcs_row_report, tangent[1]), offsetof(pcs_row_report, slip),         offsetof(pcs_row_report, slip[1]),
    };
    *stride = sizeof(pcs_row_report);
    if (percuss_contacts(p) == 0 || quantity < PERCUSS_GAP || quantity > PERCUSS_SLIP_2) return NULL;
    return (const double *)(const void *)((const char *)p->rows + offsets[quantity]);
}

static pcs_status contacts_take_points(percuss *p)
{
    if (p->position != NULL && p->normal != NULL) return PCS_OK;
    PCS_TAKE(p->ctx, p->position, pcs_system_npoint(p->system), "contact points");
    PCS_TAKE(p->ctx, p->normal, pcs_system_npoint(p->system), "contact points");
    return PCS_OK;
}

int percuss_contact_points(percuss *p, const double **position, const double **normal)
{
    if (position != NULL) *position = NULL;
    if (normal != NULL) *normal = NULL;
    if (!pcs_api_may_evaluate(p)) return 2;
    if (pcs_system_npoint(p->system) == 0) return 0;
    if (contacts_take_points(p) != PCS_OK) return 1;
    pcs_system_points(p->system, pcs_api_at(p), p->position, p->normal);
    if (position != NULL) *position = p->position[0];
    if (normal != NULL) *normal = p->normal[0];
    return 0;
}

int percuss_reactions(const percuss *p)
{
    return p == NULL || p->sim == NULL || p->sim->reactions == NULL ? 0 : p->system->nreaction;
}

percuss_reaction percuss_reaction_at(const percuss *p, int i)
{
    if (i < 0 || i >= percuss_reactions(p)) return (percuss_reaction){ 0 };
    const pcs_reaction_info *info = &p->system->reactions[i];
    percuss_reaction out = { .name = info->name, .is_support = info->contact < 0 };
    memcpy(out.force, p->sim->reactions[i].force, sizeof out.force);
    memcpy(out.moment, p->sim->reactions[i].moment, sizeof out.moment);
    out.has_teeth = info->has_teeth;
    out.tangential = p->sim->reactions[i].teeth[0];
    out.separating = p->sim->reactions[i].teeth[1];
    return out;
}

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

// Sorts the nonzero entries of rows into columns; entries of a row for the same equation are neighbours then.
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

// Adds up repeated entries of each column and closes the gaps. Returns the number of entries left.
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
