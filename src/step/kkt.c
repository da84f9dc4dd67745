// Step solver `kkt`: active-set semi-smooth Newton on the sparse saddle matrix S_t of Bruls, Acary and
// Cardona (2014), eq. 44, for x = (d, dU/h, -dnu/h, dW, -dLa):
//
//   r1 = c M d - h f(q, v)            S*          h^2 K   0      h C + h kw K   0
//   r3 = (M U - G^T nu) / h           0           M       G^T    0              0
//   r4 = g_A / h  or  nu / h          (kb/h) G_A  G_A     -I     (kw/h) G_A     0
//   r5 = M W - G^T La                 0           0       0      M              G^T
//   r6 = (G v + target)_B  or  La     G_B         0       0      G_B            -I
//
// -I stands on the rows out of the sets A and B. Equations of motion are divided by their own mass and multipliers are
// counted in effective masses, so that all entries are of one size in any units. A change of the sets changes values,
// never the pattern; the factorization is kept while the sets stay as they are.

#include "step/columns.h"
#include "step/contact_problem.h"

#include <math.h>
#include <string.h>

enum { ITERATIONS = 60, FREEZE_GATE_AFTER = 8, PIVOT_AFTER = 20 };

typedef struct kkt {
    int n, m;
    int at_d, at_U, at_nu, at_W, at_la, size; // first index of each block; -1: absent
    pcs_matrix *saddle;
    pcs_linsolve *solver;
    int nentry;                  // entries in the order of kkt_emit
    int *position;               // [nentry] where each goes in the values
    double *x;                   // [size] right-hand side and solution
    double *q0, *v0, *U, *W, *f; // [n]
    double *gap, *gate_gap, *xi; // [m]
    unsigned char *in_A, *in_B;  // [m]
    double *per_mass;            // [n] 1/M_ii, of the equations of motion
    double *unit;                // [m] kg, of multipliers
    bool is_factored;            // for the sets held
} kkt;

// Receives the entries of the saddle matrix one by one, always in the same order.
typedef struct emitter {
    int count;
    int *row, *column;   // NULL while values are filled in
    const int *position; // NULL while the pattern is found
    double *value;
} emitter;

static void kkt_put(emitter *e, int row, int column, double value)
{
    if (e->row != NULL) {
        e->row[e->count] = row;
        e->column[e->count] = column;
    }
    if (e->position != NULL) e->value[e->position[e->count]] += value;
    e->count++;
}

// a M + b C + k K with its corner at (row, column).
typedef struct kkt_weights {
    double M, C, K;
} kkt_weights;

static void kkt_put_block(emitter *e, const pcs_step_solver *self, int row, int column, kkt_weights w)
{
    const pcs_system *system = self->system;
    const double *per_mass = ((const kkt *)self->data)->per_mass;
    const pcs_pattern *pattern = system->M->pattern;
    const pcs_matrix *M = pcs_system_inertia(system);
    for (int j = 0; j < pattern->n; j++)
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++) {
            double value = w.M * M->value[p] + w.K * system->K->value[p];
            if (system->C != NULL) value += w.C * system->C->value[p];
            kkt_put(e, row + pattern->row[p], column + j, value * per_mass[pattern->row[p]]);
        }
}

static void kkt_put_transposed(emitter *e, const pcs_step_solver *self, int row, int column)
{
    const kkt *s = self->data;
    const pcs_rows *G = self->system->G;
    for (int j = 0; j < G->nrow; j++)
        for (int p = G->start[j]; p < G->start[j + 1]; p++) {
            int i = G->column[p];
            kkt_put(e, row + i, column + j, G->value[p] * s->per_mass[i] * s->unit[j]);
        }
}

// Rows of G, scaled and only where `is_on`.
static void kkt_put_rows(emitter *e, const pcs_rows *G, int row, int column, double scale, const unsigned char *is_on)
{
    for (int j = 0; j < G->nrow; j++)
        for (int p = G->start[j]; p < G->start[j + 1]; p++)
            kkt_put(e, row + j, column + G->column[p], is_on[j] ? scale * G->value[p] : 0.0);
}

static void kkt_put_inactive(emitter *e, int at, int m, const unsigned char *is_on)
{
    for (int j = 0; j < m; j++) kkt_put(e, at + j, at + j, is_on[j] ? 0.0 : -1.0);
}

static void kkt_emit(const pcs_step_solver *self, emitter *e)
{
    const kkt *s = self->data;
    const pcs_system *system = self->system;
    const pcs_step_form *form = &self->form;
    double h = form->h;
    if (form->has_dynamics) {
        kkt_put_block(e, self, s->at_d, s->at_d, (kkt_weights){ form->c, h, h * form->kb });
        kkt_put_block(e, self, s->at_d, s->at_W, (kkt_weights){ 0.0, h, h * form->kw });
        kkt_put_rows(e, system->G, s->at_la, s->at_d, 1.0, s->in_B);
    }
    if (form->has_position) {
        if (form->has_dynamics) {
            kkt_put_block(e, self, s->at_d, s->at_U, (kkt_weights){ 0.0, 0.0, h * h });
            kkt_put_rows(e, system->G, s->at_nu, s->at_d, form->kb / h, s->in_A);
        }
        kkt_put_block(e, self, s->at_U, s->at_U, (kkt_weights){ 1.0, 0.0, 0.0 });
        kkt_put_transposed(e, self, s->at_U, s->at_nu);
        kkt_put_rows(e, system->G, s->at_nu, s->at_U, 1.0, s->in_A);
        kkt_put_rows(e, system->G, s->at_nu, s->at_W, form->kw / h, s->in_A);
        kkt_put_inactive(e, s->at_nu, s->m, s->in_A);
    }
    kkt_put_block(e, self, s->at_W, s->at_W, (kkt_weights){ 1.0, 0.0, 0.0 });
    kkt_put_transposed(e, self, s->at_W, s->at_la);
    kkt_put_rows(e, system->G, s->at_la, s->at_W, 1.0, s->in_B);
    kkt_put_inactive(e, s->at_la, s->m, s->in_B);
}

static void kkt_place_blocks(kkt *s, const pcs_step_form *form)
{
    int at = 0;
    s->at_d = s->at_U = s->at_nu = -1;
    if (form->has_dynamics) s->at_d = at, at += s->n;
    if (form->has_position) {
        s->at_U = at;
        s->at_nu = at + s->n;
        at += s->n + s->m;
    }
    s->at_W = at;
    s->at_la = at + s->n;
    s->size = at + s->n + s->m;
}

static pcs_status kkt_setup(pcs_step_solver *self)
{
    kkt *s = self->data;
    if (self->system->layout != NULL)
        return pcs_fail(
            self->ctx, PCS_UNSUPPORTED,
            "step solver 'kkt' keeps its saddle matrix in one process; use 'condensed', 'newton' or 'schur'");
    s->n = self->system->nv;
    s->m = self->system->nrow;
    double **vectors[] = { &s->q0, &s->v0, &s->U, &s->W, &s->f, &s->per_mass };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        PCS_TAKE(self->ctx, *vectors[i], s->n, "the saddle solver");
    double **rows[] = { &s->gap, &s->gate_gap, &s->xi, &s->unit };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) PCS_TAKE(self->ctx, *rows[i], s->m, "the saddle solver");
    PCS_TAKE(self->ctx, s->in_A, s->m, "the saddle solver");
    PCS_TAKE(self->ctx, s->in_B, s->m, "the saddle solver");
    return PCS_OK;
}

// Compressed columns from the emitted entries (no place is emitted twice): count, sort by row, then by column.
static pcs_status kkt_compress(pcs_context *ctx, kkt *s, const int *row, const int *column, int *by_row,
                               pcs_pattern **out)
{
    pcs_pattern *pattern;
    int *start, *sorted, *next;
    size_t nentry = (size_t)s->nentry, size = (size_t)s->size;
    PCS_TAKE(ctx, pattern, 1, "the saddle pattern");
    PCS_TAKE(ctx, start, size + 1, "the saddle pattern");
    PCS_TAKE(ctx, sorted, nentry, "the saddle pattern");
    PCS_TAKE(ctx, next, size + 1, "the saddle pattern");
    PCS_TAKE(ctx, s->position, nentry, "the saddle pattern");
    for (size_t k = 0; k < nentry; k++) next[row[k] + 1]++;
    for (size_t i = 0; i < size; i++) next[i + 1] += next[i];
    for (size_t k = 0; k < nentry; k++) by_row[next[row[k]]++] = (int)k;
    for (size_t k = 0; k < nentry; k++) start[column[k] + 1]++;
    for (size_t i = 0; i < size; i++) start[i + 1] += start[i];
    memcpy(next, start, (size + 1) * sizeof *next);
    for (size_t k = 0; k < nentry; k++) {
        int entry = by_row[k];
        s->position[entry] = next[column[entry]];
        sorted[next[column[entry]]++] = row[entry];
    }
    *pattern = (pcs_pattern){ .n = s->size, .nnz = s->nentry, .start = start, .row = sorted };
    *out = pattern;
    return PCS_OK;
}

static pcs_status kkt_make_pattern(pcs_step_solver *self, pcs_pattern **pattern)
{
    kkt *s = self->data;
    emitter e = { 0 };
    kkt_emit(self, &e);
    s->nentry = e.count;
    int *buffer = pcs_scratch(NULL, 3 * (size_t)s->nentry, sizeof *buffer);
    if (buffer == NULL)
        return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: saddle matrix with %d entries", s->nentry);
    e = (emitter){ .row = buffer, .column = buffer + s->nentry };
    kkt_emit(self, &e);
    pcs_status status = kkt_compress(self->ctx, s, e.row, e.column, buffer + 2 * (size_t)s->nentry, pattern);
    pcs_scratch_free(buffer);
    return status;
}

// The pattern depends only on which blocks a form has, and a scheme never changes those.
static pcs_status kkt_prepare(pcs_step_solver *self, pcs_outcome *outcome)
{
    kkt *s = self->data;
    (void)outcome; // values are factored when the sets are known
    s->is_factored = false;
    if (s->solver != NULL) return PCS_OK;
    pcs_pattern *pattern = NULL;
    kkt_place_blocks(s, &self->form);
    PCS_TRY(kkt_make_pattern(self, &pattern));
    PCS_TRY(pcs_matrix_create(self->ctx, pattern, &s->saddle));
    PCS_TAKE(self->ctx, s->x, s->size, "the saddle solver");
    const char *backend = strcmp(self->linear, "dense") == 0 ? "dense" : "umfpack";
    self->iteration_backend = backend;
    return pcs_linsolve_create(self->ctx, backend, s->saddle, PCS_GENERAL, &s->solver);
}

// q, v and what the rows see of them.
static void kkt_move(pcs_step_solver *self, pcs_step_problem *p)
{
    kkt *s = self->data;
    pcs_system *system = self->system;
    const pcs_step_form *form = &self->form;
    for (int i = 0; i < s->n; i++) p->q[i] = s->q0[i] + form->kb * p->d[i];
    system->ops->gaps(system, p->q, s->gate_gap);
    for (int i = 0; i < s->n; i++) {
        p->q[i] += s->U[i] + form->kw * s->W[i];
        p->v[i] = s->v0[i] + p->d[i] + s->W[i];
    }
    system->ops->gaps(system, p->q, s->gap);
    for (int j = 0; j < s->m; j++) s->xi[j] = pcs_rows_dot(system->G, j, p->v) + p->target[j];
}

// Where gap and multiplier, or velocity and impulse, both vanish, only round-off would move a row between the sets.
static bool kkt_is_noise(const pcs_step_solver *self, const pcs_step_problem *p, int row, double test, bool is_gap)
{
    const kkt *s = self->data;
    double h = self->form.h, size = fmax(pcs_step_largest(s->n, s->v0), pcs_step_largest(s->n, p->v));
    if (is_gap) size = h * size + pcs_step_largest(s->n, p->q);
    return fabs(test) <= 1e-12 * self->effective_mass[row] * size;
}

// True when the sets stay as they are. As the iterations go on the gate is frozen and rows on the verge stay where
// they are; later still only the first row that differs is changed.
static bool kkt_update_sets(pcs_step_solver *self, pcs_step_problem *p, int iteration)
{
    kkt *s = self->data;
    bool is_same = true, is_late = iteration > FREEZE_GATE_AFTER, has_position = self->form.has_position;
    for (int j = 0; j < s->m; j++) {
        double r = self->effective_mass[j], position = p->nu[j] - r * s->gap[j], velocity = p->la[j] - r * s->xi[j];
        bool is_closed = pcs_gate_is_closed(s->gate_gap[j], p->nu[j], r, p->gate_tolerance),
             was_closed = p->gate[j] != 0;
        // A gate that still changes when it is frozen has no consistent answer and counts as closed.
        if (self->form.gate_is_live && !is_late)
            p->gate[j] = is_closed || (iteration == FREEZE_GATE_AFTER && was_closed);
        bool in_A = has_position && position >= 0.0, in_B = p->gate[j] && velocity >= 0.0;
        if (is_late && has_position && kkt_is_noise(self, p, j, position, true)) in_A = s->in_A[j];
        if (is_late && p->gate[j] && kkt_is_noise(self, p, j, velocity, false)) in_B = s->in_B[j];
        if (in_A == s->in_A[j] && in_B == s->in_B[j]) continue;
        is_same = false;
        s->in_A[j] = in_A;
        s->in_B[j] = in_B;
        if (iteration > PIVOT_AFTER) break;
    }
    if (!is_same) s->is_factored = false;
    return is_same;
}

// -(r1, r3, r4, r5, r6)
static void kkt_residual(pcs_step_solver *self, pcs_step_problem *p)
{
    kkt *s = self->data;
    const pcs_system *system = self->system;
    double h = self->form.h;
    memset(s->x, 0, (size_t)s->size * sizeof *s->x);
    if (s->at_d >= 0) {
        system->ops->force(system, p->t, p->q, p->v, s->f);
        for (int i = 0; i < s->n; i++) s->x[s->at_d + i] = h * s->f[i];
        pcs_matrix_add_multiply(system->M, -self->form.c, p->d, s->x + s->at_d);
    }
    if (s->at_U >= 0) {
        pcs_matrix_add_multiply(system->M, -1.0 / h, s->U, s->x + s->at_U);
        for (int j = 0; j < s->m; j++) {
            pcs_rows_add_transposed(system->G, j, p->nu[j] / h, s->x + s->at_U);
            s->x[s->at_nu + j] = -(s->in_A[j] ? s->gap[j] : p->nu[j] / s->unit[j]) / h;
        }
    }
    pcs_matrix_add_multiply(pcs_system_inertia(system), -1.0, s->W, s->x + s->at_W);
    for (int j = 0; j < s->m; j++) {
        pcs_rows_add_transposed(system->G, j, p->la[j], s->x + s->at_W);
        s->x[s->at_la + j] = -(s->in_B[j] ? s->xi[j] : p->la[j] / s->unit[j]);
    }
    const int blocks[3] = { s->at_d, s->at_U, s->at_W };
    for (int k = 0; k < 3; k++) {
        if (blocks[k] < 0) continue;
        for (int i = 0; i < s->n; i++) s->x[blocks[k] + i] *= s->per_mass[i];
    }
}

static void kkt_correct(pcs_step_solver *self, pcs_step_problem *p)
{
    kkt *s = self->data;
    double h = self->form.h;
    for (int i = 0; i < s->n; i++) {
        if (s->at_d >= 0) p->d[i] += s->x[s->at_d + i];
        if (s->at_U >= 0) s->U[i] += h * s->x[s->at_U + i];
        s->W[i] += s->x[s->at_W + i];
    }
    for (int j = 0; j < s->m; j++) {
        // A multiplier out of its set is zero, not merely small.
        if (s->at_nu >= 0) p->nu[j] = s->in_A[j] ? p->nu[j] - h * s->unit[j] * s->x[s->at_nu + j] : 0.0;
        p->la[j] = s->in_B[j] ? p->la[j] - s->unit[j] * s->x[s->at_la + j] : 0.0;
    }
}

static pcs_outcome kkt_factor(pcs_step_solver *self)
{
    kkt *s = self->data;
    bool is_singular = false;
    if (s->is_factored) return PCS_CONVERGED;
    emitter e = { .position = s->position, .value = s->saddle->value };
    pcs_matrix_zero(s->saddle);
    kkt_emit(self, &e);
    self->nfactor++;
    if (pcs_linsolve_factor(s->solver, &is_singular) != PCS_OK || is_singular) {
        self->advice = "contacts that say the same thing twice need solver 'condensed'";
        return PCS_SINGULAR;
    }
    s->is_factored = true;
    return PCS_CONVERGED;
}

static pcs_outcome kkt_iterate(pcs_step_solver *self, pcs_step_problem *p, int *iterations)
{
    kkt *s = self->data;
    kkt_move(self, p);
    (void)kkt_update_sets(self, p, 0);
    for (*iterations = 1; *iterations <= ITERATIONS; ++*iterations) {
        kkt_residual(self, p);
        pcs_outcome outcome = kkt_factor(self);
        if (outcome != PCS_CONVERGED) return outcome;
        pcs_linsolve_solve(s->solver, s->x);
        kkt_correct(self, p);
        kkt_move(self, p);
        for (int j = 0; j < s->m; j++)
            if (!isfinite(s->xi[j]) || (pcs_form_sees_gaps(&self->form) && !isfinite(s->gap[j]))) return PCS_NOT_FINITE;
        if (kkt_update_sets(self, p, *iterations)) return PCS_CONVERGED;
    }
    return PCS_NOT_CONVERGED;
}

static void kkt_find_scales(const pcs_step_solver *self)
{
    kkt *s = self->data;
    const pcs_matrix *M = pcs_system_inertia(self->system);
    for (int i = 0; i < s->n; i++) {
        double mass = pcs_matrix_diagonal(M, i);
        s->per_mass[i] = mass > 0.0 ? 1.0 / mass : 1.0; // without a mass the matrix is singular in any scale
    }
    memcpy(s->unit, self->effective_mass, (size_t)s->m * sizeof *s->unit);
}

static void kkt_solve(pcs_step_solver *self, pcs_step_problem *p, pcs_step_result *result)
{
    kkt *s = self->data;
    if (!s->is_factored) kkt_find_scales(self);
    size_t bytes = (size_t)s->n * sizeof(double), rows = (size_t)s->m * sizeof(double);
    *result = (pcs_step_result){ 0 };
    memcpy(s->q0, p->q, bytes);
    memcpy(s->v0, p->v, bytes);
    memset(p->d, 0, bytes);
    memset(s->U, 0, bytes);
    memset(s->W, 0, bytes);
    memset(p->nu, 0, rows);
    memset(p->la, 0, rows);
    result->outcome = kkt_iterate(self, p, &result->iterations);
    if (p->smooth_gap != NULL) memcpy(p->smooth_gap, s->gate_gap, rows);
    for (int j = 0; j < s->m; j++) p->rate_before[j] = s->xi[j] - p->target[j] - pcs_rows_dot(self->system->G, j, s->W);
}

// The sets that are factored.
static void kkt_carry(pcs_step_solver *self, pcs_carrier *c)
{
    kkt *s = self->data;
    bool is_factored = s->is_factored;
    pcs_carry_bytes(c, "in_A", s->in_A, (size_t)s->m);
    pcs_carry_bytes(c, "in_B", s->in_B, (size_t)s->m);
    pcs_carry_flags(c, "is_factored", &is_factored, 1);
    if (!pcs_carry_reads(c) || !is_factored) return;
    s->is_factored = false;
    kkt_find_scales(self);
    if (s->solver == NULL || kkt_factor(self) != PCS_CONVERGED)
        pcs_carry_refuse(c, "is_factored", "is told of a matrix that cannot be factored");
}

const pcs_step_solver_ops pcs_step_kkt = {
    .name = "kkt",
    .summary = "active-set semi-smooth Newton on the sparse saddle matrix (UMFPACK): an independent check of condensed",
    .data_size = sizeof(kkt),
    .setup = kkt_setup,
    .prepare = kkt_prepare,
    .solve = kkt_solve,
    .carry = kkt_carry,
};
