// The present state: vectors, probes, energies, certificate.
//
//   M a = f + r,   r = (G^T Lambda + T^T Lambda_t) / h,   Lambda: impulses of the rows over the last step of length h
//   internal forces: -f without loads and gravity
//
// Then the parts of the model: contacts, nodes, sets, equations, its picture, matrices.

#include "api/handle.h"

#include "linsolve/linsolve.h"
#include "step/projection.h"

#include <string.h>

// Returns true if there is a model and its workspace is free.
static bool read_may_evaluate(const percuss *p)
{
    return p != NULL && p->system != NULL && !p->is_stepping;
}

double percuss_time(const percuss *p)
{
    if (p == NULL || p->system == NULL) return 0.0;
    return p->sim == NULL ? p->still.t : p->sim->state.t;
}

double percuss_step_size(const percuss *p)
{
    return p == NULL || p->sim == NULL ? 0.0 : p->sim->step_size;
}

double percuss_end_time(const percuss *p)
{
    return p == NULL || p->sim == NULL ? 0.0 : p->sim->end_time;
}

long percuss_steps(const percuss *p)
{
    return p == NULL || p->sim == NULL ? 0 : p->sim->state.step;
}

void pcs_api_mirror(percuss *p)
{
    if (p->mirror == NULL || !p->mirror->is_read) return;
    memcpy(p->mirror->q, p->sim->state.q, (size_t)p->system->nq * sizeof(double));
    memcpy(p->mirror->v, p->sim->state.v, (size_t)p->system->nv * sizeof(double));
}

static const api_mirror *read_mirror(const percuss *p)
{
    api_mirror *mirror = p->mirror;
    if (mirror->is_read) return mirror;
    mirror->is_read = true;
    memcpy(mirror->q, p->sim->state.q, (size_t)p->system->nq * sizeof(double));
    memcpy(mirror->v, p->sim->state.v, (size_t)p->system->nv * sizeof(double));
    return mirror;
}

const double *percuss_displacement(const percuss *p)
{
    if (p == NULL || p->system == NULL) return NULL;
    return p->sim == NULL ? p->still.q : read_mirror(p)->q;
}

const double *percuss_velocity(const percuss *p)
{
    if (p == NULL || p->system == NULL) return NULL;
    return p->sim == NULL ? p->still.v : read_mirror(p)->v;
}

// Returns an array over the equations, allocated on the first request; NULL if it cannot be evaluated.
static double *read_vector(percuss *p, double **vector)
{
    if (!read_may_evaluate(p)) return NULL;
    if (*vector == NULL) *vector = pcs_take(p->ctx, (size_t)p->system->nv, sizeof **vector, "a vector");
    return *vector;
}

const double *percuss_force(percuss *p)
{
    double *f = p == NULL ? NULL : read_vector(p, &p->force);
    if (f != NULL) p->system->ops->force(p->system, pcs_api_at(p), f);
    return f;
}

// Returns the internal forces; forces that the caller applies count as loads.
const double *percuss_internal_force(percuss *p)
{
    if (p == NULL || p->system == NULL || !pcs_system_is_mesh(p->system)) return NULL;
    double *f = read_vector(p, &p->internal);
    if (f == NULL) return NULL;
    pcs_instant at = pcs_api_at(p);
    at.load_factor = 0.0;
    p->system->ops->force(p->system, at, f);
    for (int i = 0; i < p->system->nv; i++) f[i] = (p->applied == NULL ? 0.0 : p->applied[i]) - f[i];
    return f;
}

static void read_aim(percuss *p)
{
    if (p->system->row_set.vary) pcs_system_aim(p->system, pcs_api_at(p));
}

const double *percuss_contact_force(percuss *p)
{
    double *f = p == NULL ? NULL : read_vector(p, &p->contact_force);
    if (f == NULL) return NULL;
    const pcs_system *system = p->system;
    // A model at rest has forces, a run impulses of its last step; at the start there was none.
    double h = p->sim == NULL ? 1.0 : p->sim->report.h;
    memset(f, 0, (size_t)system->nv * sizeof *f);
    if (!(h > 0.0)) return f;
    read_aim(p);
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row_report *row = &p->rows[j];
        if (row->step_impulse != 0.0) pcs_rows_add_transposed(system->G, j, row->step_impulse / h, f);
        for (int t = 0; t < system->rows[j].ntangent; t++)
            if (row->tangent[t] != 0.0)
                pcs_rows_add_transposed(system->T, system->rows[j].first_tangent + t, row->tangent[t] / h, f);
    }
    return f;
}

const double *percuss_acceleration(percuss *p)
{
    if (p == NULL || p->sim == NULL || p->sim->solver == NULL || p->sim->solver->mass == NULL) return NULL;
    if (p->sim->scheme->rule.kind == PCS_RULE_WAVE) return NULL; // factored is not M, which may be singular
    double *a = read_vector(p, &p->acceleration);
    const double *r = percuss_contact_force(p);
    if (a == NULL || r == NULL || !pcs_projection_move(p->sim->solver, p->sim->state.q)) return NULL;
    p->system->ops->force(p->system, pcs_api_at(p), a);
    for (int i = 0; i < p->system->nv; i++) a[i] += r[i];
    pcs_linsolve_solve(p->sim->solver->mass, a);
    return a;
}

int percuss_probes(const percuss *p)
{
    return p == NULL ? 0 : p->nprobe;
}

const char *percuss_probe_name(const percuss *p, int i)
{
    return i < 0 || i >= percuss_probes(p) ? NULL : p->probes[i].column;
}

double percuss_probe_at(const percuss *p, int i)
{
    if (i < 0 || i >= percuss_probes(p)) return 0.0;
    if (p->sim != NULL) return pcs_state_probe(&p->sim->state, p->system, &p->probes[i]);
    return p->system->ops->probe(p->system, &p->probes[i], p->still);
}

int percuss_probe_named(const percuss *p, const char *name)
{
    for (int i = 0; i < percuss_probes(p); i++)
        if (name != NULL && strcmp(p->probes[i].column, name) == 0) return i;
    return -1;
}

percuss_energy percuss_energies(const percuss *p)
{
    if (p == NULL || p->system == NULL || p->is_stepping) return (percuss_energy){ 0 };
    if (p->sim == NULL) {
        pcs_measure now;
        p->system->ops->measure(p->system, pcs_api_at(p), PCS_ENERGY, &now);
        return (percuss_energy){ .kinetic = now.kinetic, .strain = now.strain, .potential = now.potential };
    }
    const pcs_ledger *l = &p->sim->ledger;
    return (percuss_energy){
        .kinetic = l->now.kinetic,
        .strain = l->now.strain,
        .potential = l->now.potential,
        .external_work = l->external_work,
        .damping_loss = l->damping_loss,
        .impact_loss = l->impact_loss,
        .correction_work = l->correction_work,
        .numerical_loss = l->numerical_loss,
        .friction_loss = l->friction_loss,
        .initial = l->initial,
        .material_loss = l->material_loss,
    };
}

static const pcs_certificate *read_certificate(const percuss *p)
{
    return p == NULL || p->sim == NULL ? NULL : p->sim->view.certificate;
}

int percuss_checks(const percuss *p)
{
    const pcs_certificate *c = read_certificate(p);
    return c == NULL ? 0 : c->ncheck;
}

percuss_check percuss_check_at(const percuss *p, int i)
{
    if (i < 0 || i >= percuss_checks(p)) return (percuss_check){ 0 };
    const pcs_check *c = &read_certificate(p)->checks[i];
    return (percuss_check){ .name = c->name,
                            .unit = c->unit,
                            .worst_ratio = c->worst_ratio,
                            .worst_value = c->worst_value,
                            .tolerance = c->tolerance,
                            .worst_time = c->worst_time,
                            .is_reported_only = c->is_reported_only };
}

percuss_effort percuss_efforts(const percuss *p)
{
    if (p == NULL || p->sim == NULL) return (percuss_effort){ 0 };
    const pcs_view *view = &p->sim->view;
    const pcs_timing *timing = &p->sim->timing;
    return (percuss_effort){ .steps = p->sim->state.step,
                             .iterations = view->iterations,
                             .factorizations = view->factorizations,
                             .attempts = view->attempts,
                             .cut_steps = view->cut_steps,
                             .handovers = view->handovers,
                             .setup = timing->setup,
                             .step = timing->step,
                             .certify = timing->certify,
                             .output = timing->output,
                             .memory = view->memory };
}

// Returns parts of a model: contacts, joints, reactions, nodes, cells, sets, equations, its picture, and matrices.

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
    if (!read_may_evaluate(p)) return 2;
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
        // Rounds a direction that is off an axis by round-off to that axis, as for supports and loads.
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
    if (!read_may_evaluate(p) || p->system->picture == NULL) return (percuss_picture){ 0 };
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

// Fills columns with the nonzero entries of rows, each from end[j] on; entries of a row for one equation are summed.
// Without arrays they are only counted.
static void model_enter_columns(const pcs_rows *G, int *last, int *end, int *row_of, double *value_of)
{
    for (int j = 0; j < G->ncol; j++) last[j] = -1;
    for (int i = 0; i < G->nrow; i++)
        for (int k = G->start[i]; k < G->start[i + 1]; k++) {
            int j = G->column[k];
            if (G->value[k] == 0.0) continue;
            if (last[j] != i) {
                if (row_of != NULL) row_of[end[j]] = i;
                if (row_of != NULL) value_of[end[j]] = 0.0;
                end[j]++;
            }
            if (row_of != NULL) value_of[end[j] - 1] += G->value[k];
            last[j] = i;
        }
}

static void model_sort_columns(percuss *p, const pcs_rows *G, int *last)
{
    int n = p->system->nv, *start = p->column_start;
    memset(start, 0, ((size_t)n + 1) * sizeof *start);
    model_enter_columns(G, last, start + 1, NULL, NULL);
    for (int j = 0; j < n; j++) start[j + 1] += start[j];
    model_enter_columns(G, last, start, p->row_of, p->value_of);
    memmove(start + 1, start, (size_t)n * sizeof *start); // each start has moved to the next one while filling
    start[0] = 0;
}

static pcs_status model_directions(percuss *p, percuss_matrix *out)
{
    read_aim(p);
    const pcs_rows *G = p->system->G;
    int n = p->system->nv, nnz = G->start[G->nrow], *last = pcs_scratch(NULL, (size_t)n, sizeof *last);
    if (last == NULL) return pcs_fail(p->ctx, PCS_NO_MEMORY, "out of memory: directions by columns");
    if (p->column_start == NULL)
        p->column_start = pcs_take(p->ctx, (size_t)n + 1, sizeof(int), "directions by columns");
    if (p->row_of == NULL || nnz > p->room) {
        p->row_of = pcs_take(p->ctx, (size_t)nnz, sizeof(int), "directions by columns");
        p->value_of = pcs_take(p->ctx, (size_t)nnz, sizeof(double), "directions by columns");
        p->room = nnz;
    }
    bool is_taken = p->column_start != NULL && p->row_of != NULL && p->value_of != NULL;
    if (is_taken) model_sort_columns(p, G, last);
    pcs_scratch_free(last);
    if (!is_taken) return PCS_NO_MEMORY;
    *out = (percuss_matrix){ .nrow = G->nrow, .ncol = n, .nnz = p->column_start[n] };
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
    if (!read_may_evaluate(p) || kind < PERCUSS_MASS || kind > PERCUSS_DIRECTIONS) return 2;
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
