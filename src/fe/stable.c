// Largest stable step of explicit schemes, from the cells: no mode of the model is faster than its fastest cell.
//
//   w^2 = largest eigenvalue of K_e x = w^2 M_e x,   xi = (alpha / w + beta w) / 2
//   h < (2 / w) (sqrt(1 + xi^2) - xi)
//
// The state is that at rest.
//
// Parts that spin at given speeds have gyroscopic moments G v, G skew. No mode has a larger spin than the largest cell,
//
//   q'' + i spin q' + w^2 q = 0,   spin = largest |eigenvalue| of i s M_e x = G_e x,
//
// and of w and spin together the scheme finds its step, without damping, on which slower modes cannot rely.
//
// Springs without mass add to w^2 and alpha of every cell.
// A cell with mass has M_e >= m_e D_e, D_e the diagonal of M_e and m_e the smallest eigenvalue of D_e^-1/2 M_e
// D_e^-1/2; so M >= D = sum m_e D_e, and for every x
//
//   x^T K x / x^T M x  <=  fastest cell with mass + largest eigenvalue of K_s x = r D x over the cells without mass,
//
// where a node that several such cells share gives each of them its part of D. Dampers count in the same way, and so do
// points of contacts with force laws.
//
// Largest step that the present state of bodies that turn by finite angles allows an explicit scheme.
//
// A body that tumbles in space has gyroscopic moments, whose motion an explicit rule lets grow by a power of its turn
// in a step, h |w| + h^2 |w'|/2: the scheme says how large that may be. Springs, bushings and mounts at points of
// bodies change their stiffness with the place of the point and with their force, so that of the present counts:
//
//   w^2 <= |D^-1/2 K(q, v) D^-1/2|,   2 xi w <= |D^-1/2 C(q, v) D^-1/2|    in the norm of Frobenius,
//
// D being the mass that a cell has to itself. Central differences keep v^2 + w^2 q^2 (1 - (w h)^2/4), so
// that the energy of an oscillation swings by a factor 1/(1 - (w h)^2/4): a share of the stable step bounds it.

#include "core/rotation.h"
#include "fe/data.h"

#include <math.h>
#include <string.h>

// Contacts with force laws in a finite-element model: the sparsity pattern of their tangents, and bounds of the
// frequencies that they cause, for the stable step.

// Largest number of matrix entries that the points of a contact may need.
static const double most_entries = 4e7;

// Holds the nodes of one of a contact's sets at which it has points on this process.
typedef struct bounds_nodes {
    const pcs_set *nodes, *cells; // one is NULL
} bounds_nodes;

static bounds_nodes bounds_set(const fe_data *fe, const pcs_row_source *c, int k)
{
    const pcs_mesh *mesh = fe->model.mesh;
    const char *name = pcs_source_set_name(c->ops, c->params, k), *first = pcs_source_set_name(c->ops, c->params, 0);
    return c->ops->sets[k].is_cells ? (bounds_nodes){ .cells = pcs_mesh_cell_set(mesh, name) }
                                    : (bounds_nodes){ .nodes = pcs_set_touching(pcs_mesh_node_set(mesh, name), first) };
}

static int bounds_count(const bounds_nodes *set)
{
    return set->cells != NULL ? 2 * set->cells->count : set->nodes->count;
}

static int bounds_node(const fe_data *fe, const bounds_nodes *set, int i)
{
    return set->cells != NULL ? fe->model.mesh->cell[set->cells->items[i / 2]][i % 2] : set->nodes->items[i];
}

static pcs_status bounds_join(const fe_data *fe, pcs_pattern_builder *builder, int a, int b)
{
    int equation[2 * PCS_MAX_NODE_DOFS], count = 0;
    const int node[2] = { a, b };
    for (int k = 0; k < (a == b ? 1 : 2); k++)
        for (int d = fe->map.first[node[k]]; d < fe->map.first[node[k] + 1]; d++)
            equation[count++] = fe->map.dof[d].equation;
    for (int i = 0; i < count; i++)
        if (equation[i] < 0) equation[i] = -1;
    return pcs_pattern_add_cells(builder, 1, count, equation);
}

// Adds the pairs of every node with itself, and with every node it may press on: all of the other set, or its partner.
static pcs_status bounds_join_contact(pcs_system *self, const fe_data *fe, const pcs_row_source *c,
                                      pcs_pattern_builder *builder)
{
    const pcs_source_set *other = &c->ops->sets[1];
    bounds_nodes a = bounds_set(fe, c, 0), b = other->option == NULL ? a : bounds_set(fe, c, 1);
    bool is_paired = other->option != NULL && !other->is_common;
    int na = bounds_count(&a), nb = other->option == NULL ? 0 : bounds_count(&b);
    if (!is_paired && (double)na * nb * PCS_MAX_NODE_DOFS * PCS_MAX_NODE_DOFS > most_entries)
        return pcs_fail(self->ctx, PCS_BAD_INPUT,
                        "a force law between %d and %d ends of cells or nodes is too large: each of them may press on "
                        "each; name smaller sets, or take the rigid law",
                        na, nb);
    for (int i = 0; i < na; i++) PCS_TRY(bounds_join(fe, builder, bounds_node(fe, &a, i), bounds_node(fe, &a, i)));
    for (int j = 0; j < nb; j++) PCS_TRY(bounds_join(fe, builder, bounds_node(fe, &b, j), bounds_node(fe, &b, j)));
    if (is_paired && na != nb) return PCS_OK; // reported when the points are made
    for (int i = 0; i < na; i++)
        for (int j = is_paired ? i : 0; j < (is_paired ? i + 1 : nb); j++)
            PCS_TRY(bounds_join(fe, builder, bounds_node(fe, &a, i), bounds_node(fe, &b, j)));
    return PCS_OK;
}

pcs_status pcs_fe_add_law_pattern(pcs_system *self, const fe_data *fe, pcs_pattern_builder *builder,
                                  const char **culprit)
{
    for (int k = 0; k < fe->model.ncontact; k++) {
        const pcs_row_source *c = &fe->model.contacts[k];
        if (!pcs_law_is_force(&c->law)) continue;
        pcs_status status = bounds_join_contact(self, fe, c, builder);
        if (status != PCS_OK) *culprit = pcs_culprit(self->ctx, "contacts", c->name);
        PCS_TRY(status);
    }
    return PCS_OK;
}

// Returns the smallest mass, kg (or inertia, kg m^2), at an equation on which the points of a contact may act.
static double bounds_least_mass(const pcs_system *self, const pcs_row_source *c, const double *mass, bool of_rotations)
{
    const fe_data *fe = self->data;
    double least = INFINITY;
    for (int s = 0; c->ops->sets[s].option != NULL; s++) {
        bounds_nodes set = bounds_set(fe, c, s);
        for (int i = 0; i < bounds_count(&set); i++) {
            int node = bounds_node(fe, &set, i);
            for (int d = fe->map.first[node]; d < fe->map.first[node + 1]; d++) {
                const pcs_dof *dof = &fe->map.dof[d];
                bool is_own = dof->equation >= 0 && dof->equation < pcs_system_nown(self);
                if (is_own && dof->is_rotation == of_rotations) least = fmin(least, mass[dof->equation]);
            }
        }
    }
    return -pcs_system_max(self, -least);
}

// Returns L D^-1 L^T, 1/kg, of a row with constant direction, to which each equation gives a share of its mass.
static double bounds_mobility(const pcs_system *self, const pcs_rows *L, int row, const double *mass, const int *share)
{
    double sum = 0.0;
    for (int e = L->start[row]; e < L->start[row + 1]; e++) {
        int equation = L->column[e];
        if (L->value[e] == 0.0 || equation >= pcs_system_nown(self)) continue;
        sum += L->value[e] * L->value[e] * (share[equation] > 0 ? share[equation] : 1) / mass[equation];
    }
    if (!pcs_rows_are_distributed(self)) pcs_system_sum(self, 1, &sum);
    return sum;
}

// Finds the largest mobilities L M^-1 L^T, 1/kg, of the points here, along normals and tangents; friction acts
// on rotations, too. If directions vary, bounds them by the least masses of the nodes of both sides, arms up to the
// contact's reach, and two points at one node.
static void bounds_find_mobility(const pcs_system *self, const pcs_table_source *own, const double *mass,
                                 const int *share, double most[2])
{
    const pcs_row_source *c = own->model;
    const pcs_row_table *table = self->row_set.table;
    most[0] = most[1] = 0.0;
    if (!own->is_frozen) {
        double sides = c->ops->sets[1].option == NULL ? 1.0 : 2.0, arm = own->shape.reach;
        double mobility = 1.0 / bounds_least_mass(self, c, mass, false);
        if (arm > 0.0) mobility += arm * arm / bounds_least_mass(self, c, mass, true);
        bool has_cells = c->ops->sets[0].is_cells || (sides > 1.0 && c->ops->sets[1].is_cells);
        most[0] = (has_cells ? 2.0 : 1.0) * sides * mobility;
        if (own->shape.ntangent > 0) most[1] = most[0];
    }
    for (int row = own->first_row; row < own->first_row + own->nrow; row++) {
        int first = self->rows[row].first_tangent - self->ntangent;
        if (own->is_frozen) most[0] = fmax(most[0], bounds_mobility(self, table->L, row - self->nrow, mass, share));
        for (int t = first; t < first + own->shape.ntangent; t++)
            most[1] = fmax(most[1], bounds_mobility(self, table->T, t, mass, share));
    }
}

// Counts the rows of points with constant directions that share the mass at every equation; `rest` is zero.
static void fe_share_laws(const pcs_system *self, const double *rest, int *share)
{
    const pcs_row_table *table = self->row_set.table;
    if (table->L == NULL) return;
    pcs_table_look_at_laws(self, rest);
    for (int row = self->nrow; row < pcs_system_npoint(self); row++) {
        if (!table->sources[self->rows[row].contact].is_frozen) continue;
        for (int t = -1; t < self->rows[row].ntangent; t++) {
            const pcs_rows *L = t < 0 ? table->L : table->T;
            int i = t < 0 ? row - self->nrow : self->rows[row].first_tangent - self->ntangent + t;
            for (int e = L->start[i]; e < L->start[i + 1]; e++) share[L->column[e]] += L->value[e] != 0.0;
        }
    }
}

// Returns the work of gravity, J, over the largest gap, plus that over the size of the model and rotations of 1 rad.
static double bounds_fall(const pcs_system *self)
{
    const fe_data *fe = self->data;
    const pcs_row_table *table = self->row_set.table;
    double sum[4] = { 0.0 }, distance = 0.0; // weight by directions, and work through the size
    int ndof = self->gravity == NULL ? 0 : fe->map.ndof;
    for (int i = 0; i < ndof; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (d->equation < 0 || d->equation >= pcs_system_nown(self)) continue;
        double force = self->gravity[d->equation], weight = d->is_rotation ? 0.0 : force;
        for (int k = 0; k < 3; k++) sum[k] += weight * d->direction[k];
        sum[3] += fabs(force) * (d->is_rotation ? 1.0 : self->length);
    }
    pcs_system_sum(self, 4, sum);
    for (int p = 0; p < self->ncompliant; p++)
        if (isfinite(table->gap[p]))
            distance = fmax(distance, -pcs_dot3(sum, table->states[self->nrow + p].normal) * fmax(table->gap[p], 0.0));
    return sum[3] + pcs_system_max(self, distance);
}

// Bounds the energy that a law can store, J, by that of the initial state and the fall from there. Also sets `speed`.
static double bounds_energy(const pcs_system *self, double *q, double *v, double *speed)
{
    const char *culprit;
    pcs_measure measure;
    *speed = 0.0;
    (void)pcs_fe_initial_state(self, q, v, &culprit); // errors are reported when the state is made
    self->ops->measure(self, pcs_at(0.0, q, v), PCS_ENERGY, &measure);
    pcs_table_look_at_laws(self, q);
    double energy = measure.kinetic + measure.strain + bounds_fall(self);
    if (self->mass > 0.0) *speed = sqrt(2.0 * energy / self->mass);
    return energy;
}

static void fe_find_law_rates(pcs_system *self, fe_data *fe, const double *mass, const int *share, double *work)
{
    double speed;
    if (!fe->has_laws) return;
    double energy = bounds_energy(self, work, work + self->nv, &speed);
    for (int k = 0; k < fe->model.ncontact; k++) {
        const pcs_table_source *own = &self->row_set.table->sources[k];
        const pcs_law *law = &own->model->law;
        double mobility[2];
        pcs_law_bound bound;
        if (!own->is_soft) continue;
        law->ops->bound(law->params, energy, speed, &bound);
        bounds_find_mobility(self, own, mass, share, mobility);
        fe->spring_rate2 = fmax(fe->spring_rate2, fmax(mobility[0] * bound.by_gap, mobility[1] * bound.tangent));
        fe->spring_damping = fmax(fe->spring_damping, mobility[0] * bound.by_rate);
    }
}

// Finds (LAPACK) the eigenvalues of A x = w B x, ascending, A symmetric and B positive definite; both are overwritten.
void dsygv_(const int *type, const char *job, const char *triangle, const int *n, double *A, const int *lda, double *B,
            const int *ldb, double *w, double *work, const int *lwork, int *info, size_t job_length,
            size_t triangle_length);

enum { ENTRIES = PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS };

static bool stable_is_massless(int n, const double *M)
{
    for (int i = 0; i < n * n; i++)
        if (M[i] != 0.0) return false;
    return true;
}

// Finds the eigenvalues of A x = w B x, ascending, A symmetric and B positive definite. Returns false on failure.
static bool stable_eigenvalues(int n, const double *A, const double *B, double w[PCS_MAX_CELL_DOFS])
{
    double a[4 * ENTRIES], b[4 * ENTRIES], work[8 * PCS_MAX_CELL_DOFS]; // of stable_spin at most
    size_t bytes = (size_t)(n * n) * sizeof(double);
    memcpy(a, A, bytes);
    memcpy(b, B, bytes);
    int type = 1, room = 8 * PCS_MAX_CELL_DOFS, info = 0;
    dsygv_(&type, "N", "U", &n, a, &n, b, &n, w, work, &room, &info, 1, 1);
    return info == 0;
}

// Returns the largest |s| of i s M x = G x, 1/s, G the skew part of C: an eigenvalue of a symmetric matrix of twice the
// size; INFINITY if the mass matrix is singular.
static double stable_spin(int n, const double *M, const double *C)
{
    double A[4 * ENTRIES] = { 0.0 }, B[4 * ENTRIES] = { 0.0 }, s[2 * PCS_MAX_CELL_DOFS];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int low = i * 2 * n + j, high = (n + i) * 2 * n + n + j;
            A[high - n] = 0.5 * (C[i * n + j] - C[j * n + i]);
            A[low + n] = -A[high - n];
            B[low] = B[high] = M[i * n + j];
        }
    return stable_eigenvalues(2 * n, A, B, s) ? s[2 * n - 1] : INFINITY;
}

// Returns the stable step, s, of one mode with frequency w and damping 2 xi w = alpha + beta w^2, or spin instead of
// damping; that of central differences, (2/w) (sqrt(1 + xi^2) - xi) without cancellation, of no scheme.
static double stable_mode_step(double w2, double alpha, double beta, double spin, const pcs_step_limit *limit)
{
    if (isinf(w2)) return 0.0;
    if (w2 <= 0.0 && alpha <= 0.0 && (spin <= 0.0 || limit->modes == NULL)) return INFINITY;
    // Replaces w = 0 by a small w if there is no stiffness, so that xi stays finite.
    double w = w2 > 0.0 ? sqrt(w2) : 1e-6 * (alpha + spin), xi = 0.5 * (alpha / w + beta * w);
    if (limit->modes == NULL) return 2.0 / w / (sqrt(1.0 + xi * xi) + xi);
    double step = limit->modes(limit->params, w, xi, 0.0);
    return spin > 0.0 ? fmin(step, limit->modes(limit->params, w, 0.0, spin)) : step;
}

// Finds the smallest and largest eigenvalue of A x = w diag(d) x. Returns false on failure.
static bool springs_range(int n, const double *A, const double *d, double *low, double *high)
{
    double b[ENTRIES] = { 0 }, w[PCS_MAX_CELL_DOFS];
    for (int i = 0; i < n; i++) b[i * n + i] = d[i];
    bool is_found = stable_eigenvalues(n, A, b, w);
    *low = w[0];
    *high = w[n - 1];
    return is_found;
}

// Adds the cell's part of D, or counts it at the equations it shares with other cells without mass.
static void springs_add_cell(int n, const int *equation, const double *M, double *mass, int *share)
{
    double d[PCS_MAX_CELL_DOFS] = { 0 }, low, high; // compilers do not know that n > 0
    bool is_massless = stable_is_massless(n, M);
    for (int i = 0; i < n; i++) d[i] = M[i * n + i];
    bool is_sound = !is_massless && springs_range(n, M, d, &low, &high) && low > 0.0;
    for (int i = 0; i < n; i++) {
        if (equation[i] < 0) continue;
        if (is_massless) share[equation[i]]++;
        else if (is_sound) mass[equation[i]] += low * d[i];
    }
}

// Returns the largest eigenvalue of A over the free equations on which it acts.
static double springs_rate(int n, const int *equation, const double *A, const double *mass, const int *share)
{
    int place[PCS_MAX_CELL_DOFS], count = 0;
    double a[ENTRIES], d[PCS_MAX_CELL_DOFS], low, high;
    for (int i = 0; i < n; i++)
        if (equation[i] >= 0 && A[i * n + i] != 0.0) place[count++] = i;
    if (count == 0) return 0.0;
    for (int i = 0; i < count; i++) {
        int e = equation[place[i]];
        d[i] = mass[e] / share[e];
        for (int j = 0; j < count; j++) a[i * count + j] = A[place[i] * n + place[j]];
    }
    return springs_range(count, a, d, &low, &high) ? fmax(high, 0.0) : INFINITY;
}

// Visits all cells: the first pass sums the mass at every equation, the second bounds the springs.
static void springs_go_round(fe_data *fe, bool is_first, double *mass, int *share)
{
    double M[ENTRIES], K[ENTRIES], C[ENTRIES];
    for (int b = 0; b < fe->nbatch; b++) {
        const pcs_batch *batch = &fe->batches[b];
        const pcs_element_ops *ops = fe->batches[b].ops;
        for (int c = 0; c < batch->ncell; c++) {
            const int *equation = batch->equation + (size_t)c * (size_t)ops->ndof;
            ops->matrices(batch, c, NULL, M, NULL, NULL);
            if (is_first) springs_add_cell(ops->ndof, equation, M, mass, share);
            if (is_first || !stable_is_massless(ops->ndof, M)) continue;
            ops->matrices(batch, c, pcs_stiffest, NULL, K, NULL);
            fe->spring_rate2 = fmax(fe->spring_rate2, springs_rate(ops->ndof, equation, K, mass, share));
            if (!ops->is_nonlinear && !ops->sees_velocity) continue;
            ops->matrices(batch, c, NULL, NULL, K, C);
            fe->spring_damping = fmax(fe->spring_damping, springs_rate(ops->ndof, equation, C, mass, share));
        }
    }
}

static bool springs_are_there(const fe_data *fe)
{
    double M[ENTRIES];
    for (int b = 0; b < fe->nbatch; b++) {
        const pcs_element_ops *ops = fe->batches[b].ops;
        if (fe->batches[b].ncell == 0) continue;
        ops->matrices(&fe->batches[b], 0, NULL, M, NULL, NULL);
        if (stable_is_massless(ops->ndof, M)) return true;
    }
    return false;
}

static pcs_status springs_find(pcs_system *self, fe_data *fe)
{
    if (!fe->has_laws && !springs_are_there(self->data)) return PCS_OK;
    if (fe->has_tumbling) PCS_TAKE(self->ctx, fe->own_mass, self->nv, "bodies that turn");
    size_t n = (size_t)self->nv;
    double *mass = pcs_scratch(NULL, 3 * n, sizeof *mass);
    int *share = pcs_scratch(NULL, n, sizeof *share);
    bool is_out = mass == NULL || share == NULL;
    if (!is_out) {
        memset(mass, 0, 3 * n * sizeof *mass);
        memset(share, 0, n * sizeof *share);
        springs_go_round(fe, true, mass, share);
        fe_share_laws(self, mass + n, share);
        springs_go_round(fe, false, mass, share);
        fe_find_law_rates(self, fe, mass, share, mass + n);
        for (size_t i = 0; i < (fe->has_tumbling ? n : 0); i++)
            fe->own_mass[i] = mass[i] / (share[i] > 0 ? share[i] : 1);
    }
    pcs_scratch_free(mass);
    pcs_scratch_free(share);
    return is_out ? pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: springs of %d equations", self->nv) : PCS_OK;
}

static const double share_of_stable = 0.2; // the energy may vary by 0.2^2

// Returns true if the cells act at points that rotate with their nodes.
static bool tumbling_has_points(const pcs_batch *batch, const pcs_element_ops *ops)
{
    return ops->is_nonlinear && pcs_element_outline(ops, batch->params, (double[3]){ 0.0 }).is_finite;
}

static double tumbling_size(const int *equation, const double *x)
{
    double w[3];
    for (int k = 0; k < 3; k++) w[k] = equation[k] < 0 ? 0.0 : x[equation[k]];
    return pcs_norm3(w);
}

// Returns the least root h, s, of h |w| + h^2 |w'|/2 = turn, without cancellation.
static double tumbling_bodies(const pcs_batch *batch, int ndof, const double *v, const pcs_step_limit *limit)
{
    double step = INFINITY;
    if (isinf(limit->rotation)) return step;
    for (int c = 0; c < batch->ncell; c++) {
        const int *equation = batch->equation + (ptrdiff_t)ndof * (c + 1) - 3;
        double speed = tumbling_size(equation, v), gain = limit->a == NULL ? 0.0 : tumbling_size(equation, limit->a);
        step = fmin(step, 2.0 * limit->rotation / (speed + sqrt(speed * speed + 2.0 * gain * limit->rotation)));
    }
    return step;
}

// Returns |D^-1/2 A D^-1/2| over the free equations.
static double tumbling_norm(const fe_data *fe, int n, const int *equation, const double *A)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        if (equation[i] < 0) continue;
        for (int j = 0; j < n; j++) {
            if (equation[j] < 0 || A[i * n + j] == 0.0) continue;
            sum += A[i * n + j] * A[i * n + j] / (fe->own_mass[equation[i]] * fe->own_mass[equation[j]]);
        }
    }
    return sqrt(sum);
}

static double tumbling_cell(const fe_data *fe, int b, int c, const double *q, const double *v,
                            const pcs_step_limit *limit)
{
    const pcs_element_ops *ops = fe->batches[b].ops;
    const int *equation = fe->batches[b].equation + (size_t)c * (size_t)ops->ndof;
    double K[ENTRIES], C[ENTRIES];
    ops->matrices(&fe->batches[b], c, &(pcs_cell_state){ .q = q, .v = v }, NULL, K, C);
    return share_of_stable * stable_mode_step(tumbling_norm(fe, ops->ndof, equation, K),
                                              tumbling_norm(fe, ops->ndof, equation, C), 0.0, 0.0, limit);
}

static double tumbling_step(const pcs_system *self, const double *q, const double *v, const pcs_step_limit *limit)
{
    const fe_data *fe = self->data;
    double step = INFINITY;
    if (!fe->has_tumbling) return step;
    for (int b = 0; b < fe->nbatch; b++) {
        const pcs_batch *batch = &fe->batches[b];
        const pcs_element_ops *ops = fe->batches[b].ops;
        if (batch->tumbles) step = fmin(step, tumbling_bodies(batch, ops->ndof, v, limit));
        if (!tumbling_has_points(batch, ops)) continue;
        for (int c = 0; c < batch->ncell; c++) step = fmin(step, tumbling_cell(fe, b, c, q, v, limit));
    }
    return self->layout == NULL ? step : -pcs_system_max(self, -step);
}

bool pcs_fe_tumbles(const pcs_system *self)
{
    return ((const fe_data *)self->data)->has_tumbling;
}

// Limits the number of cells whose eigenproblem is stored: in a line all cells are equal, in a lattice a few alternate.
enum { STABLE_RECENT = 16 };

typedef struct stable_recent {
    int count, oldest, last;
    double M[STABLE_RECENT][ENTRIES], K[STABLE_RECENT][ENTRIES];
} stable_recent;

// Returns true if an equal cell has been seen. Otherwise stores this one.
static bool stable_is_known(stable_recent *recent, size_t bytes, const double *M, const double *K)
{
    for (int i = 0; i < recent->count; i++) {
        int k = (recent->last + i) % recent->count;
        if (memcmp(M, recent->M[k], bytes) != 0 || memcmp(K, recent->K[k], bytes) != 0) continue;
        recent->last = k;
        return true;
    }
    int k = recent->count < STABLE_RECENT ? recent->count++ : recent->oldest++ % STABLE_RECENT;
    memcpy(recent->M[k], M, bytes);
    memcpy(recent->K[k], K, bytes);
    recent->last = k;
    return false;
}

// Returns the stable step, s. Also raises `*spin` to that of the cells, unless it is NULL.
static double stable_step(const pcs_system *self, const pcs_step_limit *limit, double *spin)
{
    const fe_data *fe = self->data;
    double step = INFINITY, M[ENTRIES], K[ENTRIES], C[ENTRIES], w[PCS_MAX_CELL_DOFS];
    stable_recent recent;
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_batch *batch = &fe->batches[g];
        const pcs_element_ops *ops = fe->batches[g].ops;
        size_t bytes = (size_t)(ops->ndof * ops->ndof) * sizeof(double);
        recent.count = recent.oldest = recent.last = 0;
        for (int c = 0; c < batch->ncell; c++) {
            ops->matrices(batch, c, NULL, M, K, ops->sees_velocity ? C : NULL);
            if (stable_is_known(&recent, bytes, M, K) || stable_is_massless(ops->ndof, M)) continue;
            if (ops->sees_velocity && spin != NULL) *spin = fmax(*spin, stable_spin(ops->ndof, M, C));
            // The largest w^2 of the cell, 1/s^2, is infinite if its mass matrix is singular.
            double w2 = fe->spring_rate2 + (stable_eigenvalues(ops->ndof, K, M, w) ? w[ops->ndof - 1] : INFINITY);
            double alpha = batch->damping_mass + fe->spring_damping;
            step = fmin(step, stable_mode_step(w2, alpha, batch->damping_stiffness, fe->spin, limit));
            if (fe->spring_damping > 0.0) // a mode may leave the dampers at rest, without which forward Euler grows
                step = fmin(step, stable_mode_step(w2 - fe->spring_rate2, batch->damping_mass, batch->damping_stiffness,
                                                   fe->spin, limit));
        }
    }
    return self->layout == NULL ? step : -pcs_system_max(self, -step);
}

double pcs_fe_stable_step(const pcs_system *self, const double *q, const double *v, const pcs_step_limit *limit)
{
    return q == NULL ? stable_step(self, limit, NULL) : tumbling_step(self, q, v, limit);
}

static void stable_find_travel(pcs_system *self)
{
    const fe_data *fe = self->data;
    for (int kind = 0; kind < PCS_WAVE_KINDS; kind++)
        for (int g = 0; g < fe->model.ngroup; g++) {
            const pcs_element_ops *ops = fe->batches[g].ops;
            if (ops->travel_time == NULL) continue;
            for (int c = 0; c < fe->batches[g].ncell; c++) {
                pcs_travel *travel = &self->travel[kind];
                double time = ops->travel_time(&fe->batches[g], c, kind == PCS_WAVE_TRANSVERSE);
                travel->shortest = travel->count == 0 ? time : fmin(travel->shortest, time);
                travel->longest = fmax(travel->longest, time);
                travel->mean += (time - travel->mean) / ++travel->count;
            }
        }
}

pcs_status pcs_fe_find_stable_step(pcs_system *self, fe_data *fe)
{
    for (int b = 0; b < fe->nbatch; b++)
        if (fe->batches[b].tumbles || tumbling_has_points(&fe->batches[b], fe->batches[b].ops)) fe->has_tumbling = true;
    PCS_TRY(springs_find(self, fe));
    fe->spring_rate2 = pcs_system_max(self, fe->spring_rate2);
    fe->spring_damping = pcs_system_max(self, fe->spring_damping);
    self->stable_step = stable_step(self, &(pcs_step_limit){ 0 }, &fe->spin);
    fe->spin = pcs_system_max(self, fe->spin);
    stable_find_travel(self);
    return PCS_OK;
}
