// Step solver `condensed`: active-set semi-smooth Newton on a linear step condensed onto its contact rows, over kept
// factorizations.
//
//   S* = c M + h C + h kb K,   X = M^-1 G^T,   YK = S*^-1 h K X,   YW = S*^-1 (h C + h kw K) X
//   d = y0 - YK nu - YW La,   y0 = S*^-1 h f(qt0, vt0),   U = X nu,   W = X La
//
// Derivation: theory of the nonsmooth generalized-alpha scheme of Bruls, Acary and Cardona (2014), eq. 44,
// with U and W eliminated first. One solve per step, whatever the active set does.

#include "core/loop.h"
#include "step/dense_contacts.h"
#include "step/projection.h"
#include "system/slices.h"

#include <math.h>
#include <string.h>

// Holds the contribution of a contact to the motion on low <= i < high: a multiple of column Y, through d, and
// multiples of column X in q and v alone.
typedef struct condense_part {
    int low, high;
    const double *Y, *X;  // [n]; Y is NULL where only X acts
    double smooth, moved; // factors of Y: in d and v, and in q
    double shift, jump;   // factors of X: in q, and in v
} condense_part;

typedef struct condense {
    pcs_matrix *S;
    pcs_linsolve *iteration; // of S
    bool has_slices;         // solves slice by slice
    pcs_columns *YK, *YW;    // [nrow]
    bool has_YK, has_YW;     // the columns are not zero
    condense_part *parts;    // [3 nrow] of each row with YK, with YW and with X alone
    condense_part **acting;  // [2 nrow] parts that act in the step
    int nacting;
    pcs_dense_contacts *contacts;
} condense;

enum { WITH_K, WITH_W, WITH_X, NKIND }; // parts of a row

static pcs_status condense_setup(pcs_step_solver *self)
{
    condense *c = self->data;
    int n = self->system->nv, m = self->system->nrow;
    PCS_TRY(pcs_columns_create(self->ctx, n, m, &c->YK));
    PCS_TRY(pcs_columns_create(self->ctx, n, m, &c->YW));
    PCS_TAKE(self->ctx, c->parts, NKIND * (size_t)m, "the contact problem");
    PCS_TAKE(self->ctx, c->acting, 2 * (size_t)m, "the contact problem");
    return pcs_dense_contacts_create(self->ctx, self->system, true, &c->contacts);
}

// Fills the columns YK_j and YW_j for the present form.
static void condense_fill_columns(pcs_step_solver *self, condense *c)
{
    const pcs_system *system = self->system;
    const pcs_step_form *form = &self->form;
    c->has_YK = form->has_position || form->kh > 0.0;
    c->has_YW = system->C != NULL || form->kw != 0.0;
    for (int j = 0; j < system->nrow; j++) {
        double *yk = c->YK->value[j], *yw = c->YW->value[j];
        const double *X = self->projection->X->value[j];
        memset(yk, 0, (size_t)system->nv * sizeof *yk);
        memset(yw, 0, (size_t)system->nv * sizeof *yw);
        if (c->has_YK) {
            pcs_matrix_add_multiply(system->K, form->h, X, yk);
            pcs_linsolve_solve(c->iteration, yk);
        }
        if (c->has_YW) {
            if (form->kw != 0.0) pcs_matrix_add_multiply(system->K, form->h * form->kw, X, yw);
            if (system->C != NULL) pcs_matrix_add_multiply(system->C, form->h, X, yw);
            pcs_linsolve_solve(c->iteration, yw);
        }
        pcs_columns_trim(c->YK, j);
        pcs_columns_trim(c->YW, j);
    }
}

// Fills a part with column j of X and of Y, which may be NULL, and the window where one of them is not zero.
static void condense_fill_part(const pcs_columns *X, const pcs_columns *Y, int j, condense_part *a)
{
    *a = (condense_part){ .low = X->low[j], .high = X->high[j], .X = X->value[j] };
    if (Y != NULL) {
        a->Y = Y->value[j];
        a->low = Y->low[j] < a->low ? Y->low[j] : a->low;
        a->high = Y->high[j] > a->high ? Y->high[j] : a->high;
    }
    if (a->high == X->n) a->high = pcs_whole_vectors(a->high); // entries up to the next whole vector are zero
}

static void condense_fill_parts(const pcs_step_solver *self, const condense *c)
{
    const pcs_columns *X = self->projection->X;
    for (int j = 0; j < self->system->nrow; j++) {
        condense_fill_part(X, c->YK, j, &c->parts[NKIND * j + WITH_K]);
        condense_fill_part(X, c->YW, j, &c->parts[NKIND * j + WITH_W]);
        condense_fill_part(X, NULL, j, &c->parts[NKIND * j + WITH_X]);
    }
}

static void condense_fill_contacts(pcs_step_solver *self, condense *c)
{
    const pcs_rows *G = self->system->G;
    const pcs_step_form *form = &self->form;
    pcs_dense_contacts *s = c->contacts;
    int m = s->p.m, n = s->p.n;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            double GX = self->projection->GX[i * m + j];
            double GYK = pcs_rows_dot(G, i, c->YK->value[j]), GYW = pcs_rows_dot(G, i, c->YW->value[j]);
            bool holds = form->kh != 0.0;
            s->P_gate[i * n + j] = -form->kb * GYK;
            s->P_gate[i * n + m + j] = -form->kb * GYW;
            s->P[i * n + j] = GX - (holds ? form->kh : form->kb) * GYK;
            s->P[i * n + m + j] = holds ? -form->kh * GYW : form->kw * GX - form->kb * GYW;
            s->P[(m + i) * n + j] = -GYK;
            s->P[(m + i) * n + m + j] = GX - GYW;
        }
    for (int j = 0; j < m; j++) s->p.r[j] = s->p.r[m + j] = self->effective_mass[j];
    s->p.h = form->h;
    s->p.has_position = form->has_position;
    s->p.gate_is_live = form->gate_is_live;
}

static pcs_status condense_prepare(pcs_step_solver *self, pcs_outcome *outcome)
{
    condense *c = self->data;
    if (!self->form.has_dynamics) return PCS_OK;
    PCS_TRY(pcs_step_factor_iteration(self, &c->S, &c->iteration, outcome));
    if (*outcome != PCS_CONVERGED) return PCS_OK;
    c->has_slices = pcs_linsolve_has_slices(c->iteration);
    condense_fill_columns(self, c);
    condense_fill_parts(self, c);
    condense_fill_contacts(self, c);
    return PCS_OK;
}

// Returns G_j d for d = h y, m/s.
static double condense_rate(const pcs_rows *G, int j, double h, const double *y)
{
    double rate = 0.0;
    for (int k = G->start[j]; k < G->start[j + 1]; k++) rate += G->value[k] * (h * y[G->column[k]]);
    return rate;
}

enum { BLOCK = 1024 }; // equations whose vectors stay in the first cache from one pass to the next

// Arguments of a step that is computed slice by slice.
typedef struct condense_job {
    const pcs_step_solver *self;
    const condense *c;
    const pcs_step_problem *p;
} condense_job;

// Evaluates the right-hand side f(qt0, vt0) on low <= i < high, block by block after the prediction.
static void condense_fill(void *data, int slice, int low, int high)
{
    const condense_job *job = data;
    const pcs_step_problem *p = job->p;
    const pcs_system *system = job->self->system;
    const pcs_ends at = { .q = p->q, .v = p->v };
    int predicted = low > 0 ? low - 1 : 0;
    for (int start = low, end; start < high; start = end) {
        end = start + BLOCK < high ? start + BLOCK : high;
        int next = end < system->nv ? end + 1 : end;
        if (p->predict != NULL) p->predict(p->passes, slice, predicted, next);
        predicted = next;
        system->slices->force(system, p->t, &at, start, end, p->d);
    }
}

static void condense_take(void *data, int slice, int low, int high);

static pcs_slice_solve condense_slices(condense_job *job)
{
    return (pcs_slice_solve){ .x = job->p->d, .fill = condense_fill, .take = condense_take, .data = job };
}

// Returns true if the step is solved in slices. A force applied from outside removes the slices of the system.
static bool condense_has_slices(const pcs_step_solver *self, const condense *c)
{
    return c->has_slices && self->system->slices != NULL;
}

// Solves for y = y0/h into p->d; with slices, at least at the equations of the contacts.
static void condense_find_motion(pcs_step_solver *self, const condense *c, const pcs_step_problem *p)
{
    const pcs_system *system = self->system;
    if (condense_has_slices(self, c)) {
        condense_job job = { .self = self, .c = c, .p = p };
        pcs_slice_solve slices = condense_slices(&job);
        c->iteration->ops->begin(c->iteration, &slices, system->G->start[system->nrow], system->G->column);
        return;
    }
    if (p->predict != NULL)
        pcs_pool_cover(pcs_context_pool(self->ctx), pcs_whole_vectors(system->nv), p->predict, p->passes);
    system->ops->force(system, pcs_at(p->t, p->q, p->v), p->d);
    pcs_linsolve_solve(c->iteration, p->d);
}

// Evaluates the rows without multipliers, gaps at qt0 + kb y0. Returns false if one is not finite.
static bool condense_free_motion(pcs_step_solver *self, condense *c, pcs_step_problem *p)
{
    pcs_system *system = self->system;
    const pcs_step_form *form = &self->form;
    pcs_contact_problem *s = &c->contacts->p;
    bool sees_gaps = pcs_form_sees_gaps(form), is_finite = true;
    condense_find_motion(self, c, p);
    if (sees_gaps) pcs_system_gaps(system, pcs_at(self->t, p->q, NULL), s->b);
    for (int j = 0; j < s->m; j++) {
        double gap = sees_gaps ? s->b[j] : 0.0;
        if (p->held != NULL) gap = pcs_rows_dot(system->G, j, p->drift);
        double xi = pcs_rows_dot(system->G, j, p->v) + p->target[j];
        double rate = condense_rate(system->G, j, form->h, p->d);
        gap += (p->held == NULL ? form->kb : form->kh) * rate;
        xi += rate;
        s->b[j] = s->b_gate[j] = gap;
        s->b[s->m + j] = xi;
        is_finite = is_finite && isfinite(gap) && isfinite(xi);
    }
    return is_finite;
}

// Selects what a pass does besides adding a part: free motion, d to vd, acceleration. Known at compile time.
enum { FREE = 1, FOLLOWED = 2, ACCELERATED = 4 };

// Adds the free motion d = h y on low <= i < high, a part, or both, and updates vd and a once d is complete.
static inline __attribute__((always_inline)) void condense_pass(int low, int high, int what, const condense_part *a,
                                                                const condense_job *job)
{
    const pcs_step_problem *p = job->p;
    double h = job->self->form.h, kb = job->self->form.kb, *d = p->d, *q = p->q, *v = p->v, *acceleration = p->a;
    double vd_of_d = p->vd_of_d, a_of_vd = p->a_of_vd;
    PCS_INDEPENDENT
    for (int i = low; i < high; i++) {
        double increment = d[i], position = q[i], velocity = v[i];
        if (what & FREE) {
            increment *= h;
            velocity += increment;
            position += kb * increment;
        }
        if (a != NULL) {
            increment += a->smooth * a->Y[i];
            velocity += a->smooth * a->Y[i];
            position += a->moved * a->Y[i];
            position += a->shift * a->X[i];
            velocity += a->jump * a->X[i];
        }
        if (what & FOLLOWED) increment *= vd_of_d;
        if (what & ACCELERATED) acceleration[i] += a_of_vd * increment;
        d[i] = increment;
        q[i] = position;
        v[i] = velocity;
    }
}

// Adds a part that acts through X alone: shift X to q, jump X to v.
static inline __attribute__((always_inline)) void condense_shift(int low, int high, const condense_part *a,
                                                                 const condense_job *job)
{
    double *q = job->p->q, *v = job->p->v, shift = a->shift, jump = a->jump;
    const double *X = a->X;
    if (shift != 0.0) PCS_INDEPENDENT
    for (int i = low; i < high; i++) q[i] += shift * X[i];
    if (jump != 0.0) PCS_INDEPENDENT
    for (int i = low; i < high; i++) v[i] += jump * X[i];
}

static int condense_clip(int i, int low, int high)
{
    if (i < low) return low;
    return i < high ? i : high;
}

// Adds the free motion, in one pass with the first part if that has a Y, and the other parts, each in its window.
PCS_WIDE static void condense_move(const condense_job *job, int low, int high)
{
    const condense *c = job->c;
    bool is_free = true;
    if (c->nacting == 0 || c->acting[0]->Y == NULL) {
        condense_pass(low, high, FREE, NULL, job);
        is_free = false;
    }
    for (int k = 0; k < c->nacting; k++) {
        const condense_part a = *c->acting[k];
        int first = condense_clip(a.low, low, high), last = condense_clip(a.high, low, high);
        if (is_free) {
            condense_pass(low, first, FREE, NULL, job);
            condense_pass(first, last, FREE, &a, job);
            condense_pass(last, high, FREE, NULL, job);
            is_free = false;
        } else if (a.Y != NULL) {
            condense_pass(first, last, 0, &a, job);
        } else {
            condense_shift(first, last, &a, job);
        }
    }
}

// Adds the free motion and the only part, if any, which covers all of it, and updates vd and a in the same pass.
PCS_WIDE static void condense_move_once(const condense_job *job, int low, int high, const condense_part *part)
{
    enum { D = FREE | FOLLOWED, A = FREE | FOLLOWED | ACCELERATED };
    bool has_a = job->p->a != NULL;
    if (part == NULL) {
        if (has_a) condense_pass(low, high, A, NULL, job);
        else condense_pass(low, high, D, NULL, job);
        return;
    }
    const condense_part a = *part;
    if (has_a) condense_pass(low, high, A, &a, job);
    else condense_pass(low, high, D, &a, job);
}

// Returns true if at most one part acts on low <= i < high, and covers all of it; *only is NULL if there is none.
static bool condense_is_single(const condense *c, int low, int high, const condense_part **only)
{
    *only = NULL;
    for (int k = 0; k < c->nacting; k++) {
        const condense_part *part = c->acting[k];
        if (part->low >= high || part->high <= low) continue;
        if (*only != NULL || part->Y == NULL || part->low > low || part->high < high) return false;
        *only = part;
    }
    return true;
}

static void condense_take(void *data, int slice, int low, int high)
{
    const condense_job *job = data;
    const pcs_step_problem *p = job->p;
    const condense_part *only;
    bool is_followed = p->vd_of_d != 0.0;
    for (int start = low, end; start < high; start = end) {
        end = start + BLOCK < high ? start + BLOCK : high;
        int whole = p->predict != NULL && end == job->self->system->nv ? pcs_whole_vectors(end) : end;
        if (is_followed && condense_is_single(job->c, start, whole, &only)) {
            condense_move_once(job, start, whole, only);
        } else {
            condense_move(job, start, whole);
            if (is_followed) pcs_step_follow(p, start, whole);
        }
        if (p->finish != NULL) p->finish(p->passes, slice, start, end);
    }
}

// Adds a part to those that act: `smooth` times its column Y. Writes the numbers where they are read: reading a copy
// would have to wait until it is stored.
static condense_part *condense_let_act(const pcs_step_solver *self, condense *c, int part, double smooth)
{
    condense_part *a = &c->parts[part];
    c->acting[c->nacting++] = a;
    a->smooth = smooth;
    a->moved = smooth * self->form.kb;
    a->shift = a->jump = 0.0;
    return a;
}

// Collects the parts by which the multipliers nu and la change the motion.
static void condense_collect_parts(const pcs_step_solver *self, condense *c, const pcs_step_problem *p)
{
    c->nacting = 0;
    for (int j = 0; j < self->system->nrow; j++) {
        double nu = p->nu[j], la = p->la[j], shift = nu + self->form.kw * la;
        bool has_K = c->has_YK && nu != 0.0, has_W = c->has_YW && la != 0.0;
        if (shift == 0.0 && la == 0.0) continue;
        condense_part *part = NULL;
        if (has_K) part = condense_let_act(self, c, NKIND * j + WITH_K, -nu);
        if (has_W) part = condense_let_act(self, c, NKIND * j + WITH_W, -la);
        if (part == NULL) part = condense_let_act(self, c, NKIND * j + WITH_X, 0.0);
        part->shift = shift;
        part->jump = la;
    }
}

// Adds the free motion and the effect of the multipliers.
static void condense_finish(pcs_step_solver *self, condense *c, const pcs_step_problem *p)
{
    condense_job job = { .self = self, .c = c, .p = p };
    condense_collect_parts(self, c, p);
    if (condense_has_slices(self, c)) {
        pcs_slice_solve slices = condense_slices(&job);
        c->iteration->ops->end(c->iteration, &slices);
    } else {
        pcs_pool_cover(pcs_context_pool(self->ctx), self->system->nv, condense_take, &job);
    }
}

static void condense_solve(pcs_step_solver *self, pcs_step_problem *p, pcs_step_result *result)
{
    condense *c = self->data;
    pcs_contact_problem *s = &c->contacts->p;
    size_t bytes = (size_t)s->m * sizeof(double);
    if (!self->form.has_dynamics) {
        pcs_dense_contacts_impact(c->contacts, self, p, result);
        return;
    }
    *result = (pcs_step_result){ .outcome = PCS_CONVERGED, .iterations = 1 };
    bool is_finite = condense_free_motion(self, c, p);
    memcpy(s->gate, p->gate, (size_t)s->m);
    s->held = p->held;
    s->gate_tolerance = p->gate_tolerance;
    if (!is_finite) result->outcome = PCS_NOT_FINITE;
    else if (!pcs_dense_contacts_solve(c->contacts, &result->iterations)) result->outcome = PCS_NOT_CONVERGED;
    if (result->outcome != PCS_CONVERGED) return;
    memcpy(p->nu, s->z, bytes);
    memcpy(p->la, s->z + s->m, bytes);
    memcpy(p->gate, s->gate, (size_t)s->m);
    if (p->smooth_gap != NULL) memcpy(p->smooth_gap, s->gate_gap, bytes);
    condense_finish(self, c, p);
    const double *product = self->projection->GX;
    for (int j = 0; j < s->m; j++, product += s->m) {
        double rate = s->value[s->m + j] - p->target[j];
        for (int i = 0; i < s->m; i++) rate -= product[i] * p->la[i];
        p->rate_before[j] = rate;
    }
}

const pcs_step_solver_ops pcs_step_condensed = {
    .name = "condensed",
    .summary = "active-set Newton on condensed contact rows, for linear models without friction and joints",
    .data_size = sizeof(condense),
    .does_passes = true,
    .setup = condense_setup,
    .prepare = condense_prepare,
    .solve = condense_solve,
};
