// Half-explicit trapezoidal scheme with contact on velocity level.
// Schindler, Rezaei, Kursawe, Acary: Half-explicit timestepping schemes on velocity level based on
// time-discontinuous Galerkin methods, CMAME 290 (2015), sec. 4.
//
//   stage 1   a0 = M^-1 f(t, q, v),  I0 = { g(q) <= tol }
//             v1 = v + h a0 + M(q)^-1 G(q)^T P0,   0 <= G(q + h v) v1 _|_ P0 >= 0 on I0
//             q' = q + (h/2) (v + v1),  I1 = { g(q') <= tol },  a1 = M^-1 f(t + h, q', v1)
//   stage 2   no contact has closed (I1 within I0):
//               v' = v + (h/2) (a0 + a1) + M^-1 G^T (P0/2 + P1),   0 <= G v' _|_ P1 >= 0 on I1
//             else an impact on all of I1, the contact forces dropped:
//               v- = v + (h/2) (a0 + a1),  v' = v- + M^-1 G^T La,   0 <= G v' + e G v- _|_ La >= 0
//
// A driven row follows s(t): in stage 1 (h/2) G (v + v1) = s(t + h) - s(t) minus the error of positions, in
// stage 2 G v' = s'(t + h).
//
// Tangential rows with friction join all contact problems. For order 2 stage 1 has to push along G(q) and to constrain
// along G(q + h v). If f does not depend on the velocity, a1 is a0 of the next step, so that one solve is enough.
//
// If M and G are constant, without friction and driven rows, contact problems need v1 and v' in a few equations only,
// and their impulses are added in the passes that compute q' and v'. A long bar is computed slice by slice
// (system/slices.h): q' and a1 of a slice, then v' and its energies, while it is in the cache; slices with contacts
// come first.
//
// With `impulsive_step` a step in which a contact closes is repeated in smaller ones (sec. 6.2 of the paper takes a
// tenth): an impact is of order 1 only.

#include "core/loop.h"
#include "schemes/explicit.h"

#include "step/projection.h"

#include <math.h>
#include <string.h>

typedef struct half_params {
    double impulsive_step;
} half_params;

static const pcs_option half_options[] = {
    PCS_REAL("impulsive_step", half_params, impulsive_step, PCS_OPTIONAL, PCS_POSITIVE,
             "a step in which a contact closes is taken in steps of at most this size, s"),
    { 0 },
};

enum { HISTORY_A };

typedef struct half_memory {
    double resultant[3]; // N, of f at the start of the step
} half_memory;

// One pass over the vectors of a step.
typedef struct half_pass {
    const pcs_scheme *scheme;
    const double *q, *v, *a0;
    double *q_new, *v_new, *a1;
    double h;
    bool is_impact;
} half_pass;

typedef struct half {
    pcs_explicit base;
    half_pass pass;             // pass of the present step
    double *first;              // [nrow] P0
    bool reuses_acceleration;   // f does not depend on the velocity
    bool is_plain;              // M and G are constant, without friction and driven rows
    pcs_state start;            // for a step with an impact:
    pcs_row_report *joined_row; // [nrow] sums over its smaller steps
} half;

static pcs_status half_setup(pcs_scheme *self)
{
    half *s = self->data;
    const pcs_system *system = self->system;
    const half_params *params = self->params;
    PCS_TRY(pcs_explicit_setup(self));
    PCS_TRY(pcs_explicit_take_stages(self, self->rule.tableau));
    PCS_TAKE(self->ctx, s->first, system->nrow, "the stage impulses");
    s->reuses_acceleration = system->is_linear && !pcs_system_is_damped(system);
    s->is_plain = s->reuses_acceleration && system->ntangent == 0 && system->row_set.ndriven == 0 &&
                  self->solver->projection->has_columns;
    if (isnan(params->impulsive_step)) return PCS_OK;
    PCS_TAKE(self->ctx, s->joined_row, system->nrow, "the impulsive step");
    return pcs_state_create(self, &s->start);
}

static pcs_status half_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    PCS_TRY(pcs_explicit_start(self, x, report));
    if (report->outcome != PCS_CONVERGED) return PCS_OK;
    pcs_free_acceleration(self, x->t, x->q, x->v, x->history[HISTORY_A]);
    pcs_system_resultant(self->system, pcs_at(x->t, x->q, x->v), ((half_memory *)x->memory)->resultant);
    return PCS_OK;
}

static void half_set_pass(const pcs_scheme *self, const pcs_state *x, double h)
{
    half *s = self->data;
    const pcs_next *next = &s->base.next;
    half_pass *p = &s->pass;
    p->scheme = self;
    p->q = x->q;
    p->v = x->v;
    p->a0 = x->history[HISTORY_A];
    p->q_new = next->q;
    p->v_new = next->v;
    p->a1 = next->a;
    p->h = h;
    p->is_impact = false;
}

// Computes q' without P0.
PCS_WIDE static void half_move_range(void *data, int range, int low, int high)
{
    const half_pass p = *(const half_pass *)data;
    (void)range;
    PCS_INDEPENDENT
    for (int i = low; i < high; i++) {
        double v1 = p.v[i] + p.h * p.a0[i];
        p.q_new[i] = p.q[i] + 0.5 * p.h * (p.v[i] + v1);
    }
}

// Computes v + (h/2)(a0 + a1).
PCS_WIDE static void half_velocity_range(void *data, int range, int low, int high)
{
    const half_pass p = *(const half_pass *)data;
    (void)range;
    PCS_INDEPENDENT
    for (int i = low; i < high; i++) p.v_new[i] = p.v[i] + 0.5 * p.h * (p.a0[i] + p.a1[i]);
}

// Adds X z to x on low <= i < high, with impulses z = P0 kept + La.
static void half_push_within(const half_pass *p, double kept, const double *la, double *x, int low, int high)
{
    const half *s = p->scheme->data;
    for (int j = 0; j < p->scheme->system->nrow; j++) {
        double z = kept * s->first[j] + (la == NULL ? 0.0 : la[j]);
        if (z != 0.0) pcs_columns_add_within(p->scheme->solver->projection->X, j, z, low, high, x);
    }
}

// Computes q' on low <= i < high.
static void half_move(void *data, int range, int low, int high)
{
    const half_pass *p = data;
    half_move_range(data, range, low, high);
    half_push_within(p, 0.5 * p->h, NULL, p->q_new, low, high);
}

// Computes v' on low <= i < high.
static void half_jump(void *data, int range, int low, int high)
{
    const half_pass *p = data;
    half_velocity_range(data, range, low, high);
    half_push_within(p, p->is_impact ? 0.0 : 0.5, ((const half *)p->scheme->data)->base.next.la, p->v_new, low, high);
}

enum { BLOCK = 1024 }; // equations whose vectors stay in the first cache from one pass to the next

// Evaluates the right-hand side f(q') of a slice, block by block after q'.
static void half_fill(void *data, int slice, int low, int high)
{
    const half_pass *p = data;
    const pcs_system *system = p->scheme->system;
    const pcs_ends at = { .q = p->q_new, .v = p->v }; // f does not depend on the velocity
    for (int start = low, end; start < high; start = end) {
        end = start + BLOCK < high ? start + BLOCK : high;
        half_move(data, slice, start > 0 ? start - 1 : 0, end < system->nv ? end + 1 : end);
        system->slices->force(system, p->scheme->solver->t, &at, start, end, p->a1);
    }
}

// Computes v' of a slice, and sums its energies.
static void half_take(void *data, int slice, int low, int high)
{
    const half_pass *p = data;
    const pcs_next *next = &((const half *)p->scheme->data)->base.next;
    for (int start = low, end; start < high; start = end) {
        end = start + BLOCK < high ? start + BLOCK : high;
        half_jump(data, slice, start, end);
        pcs_next_sum(p->scheme, next, slice, start, end);
    }
}

static bool half_has_slices(const pcs_scheme *self)
{
    const half *s = self->data;
    return s->is_plain && self->system->slices != NULL && pcs_linsolve_has_slices(self->solver->mass);
}

// Solves stage 1 of plain systems for P0: computes v1 at the equations of contacts only.
static pcs_outcome half_first_plainly(pcs_scheme *self, const pcs_state *x, double h, pcs_step_report *report)
{
    half *s = self->data;
    pcs_next *next = &s->base.next;
    const pcs_system *system = self->system;
    const pcs_rows *G = system->G;
    double *v1 = s->base.v[1];
    if (pcs_next_find_closed(self, &s->base.next, NULL, 0.0, x->q, s->base.was_closed) == 0) return PCS_CONVERGED;
    for (int k = 0; k < G->start[system->nrow]; k++) {
        int i = G->column[k];
        v1[i] = x->v[i] + h * s->pass.a0[i];
    }
    for (int j = 0; j < system->nrow; j++) next->gate[j] = s->base.was_closed[j];
    self->solver->t = x->t + h;
    pcs_outcome outcome = pcs_explicit_contact(self, &s->base, v1, s->first, next->la_t, report);
    for (int j = 0; j < system->nrow; j++) s->base.stage[j] = 0.5 * s->first[j];
    return outcome;
}

// Computes v' of plain systems without the impulses of stage 2, at the equations of contacts only.
static void half_find_velocities(pcs_scheme *self)
{
    half_pass *p = &((half *)self->data)->pass;
    const pcs_rows *G = self->system->G;
    for (int k = 0; k < G->start[self->system->nrow]; k++) {
        int i = G->column[k];
        p->v_new[i] = p->v[i] + 0.5 * p->h * (p->a0[i] + p->a1[i]);
        if (!p->is_impact) half_push_within(p, 0.5, NULL, p->v_new, i, i + 1);
    }
}

// Makes a step of a plain system, slice by slice if it is long.
static pcs_outcome half_go_plainly(pcs_scheme *self, const pcs_state *x, double h, bool *is_impact,
                                   pcs_step_report *report)
{
    half *s = self->data;
    pcs_next *next = &s->base.next;
    const pcs_rows *G = self->system->G;
    pcs_linsolve *mass = self->solver->mass;
    pcs_slice_solve slices = { .x = next->a, .fill = half_fill, .take = half_take, .data = &s->pass };
    bool has_slices = half_has_slices(self);
    int count = G->start[self->system->nrow], whole = pcs_whole_vectors(self->system->nv);
    pcs_outcome outcome = half_first_plainly(self, x, h, report);
    if (outcome != PCS_CONVERGED) return outcome;
    self->solver->t = x->t + h;
    if (has_slices) {
        pcs_next_await_sums(self, next, x, false);
        mass->ops->begin(mass, &slices, count, G->column);
    } else {
        pcs_pool_cover(next->pool, whole, half_move, &s->pass);
        pcs_free_acceleration(self, x->t + h, next->q, x->v, next->a);
    }
    *is_impact = s->pass.is_impact = pcs_explicit_arrive(self, &s->base, next->q);
    half_find_velocities(self);
    outcome = *is_impact ? pcs_explicit_impact(self, &s->base, report) : pcs_explicit_impose(self, &s->base, report);
    if (outcome != PCS_CONVERGED) return outcome;
    if (has_slices) mass->ops->end(mass, &slices);
    else pcs_pool_cover(next->pool, whole, half_jump, &s->pass);
    return PCS_CONVERGED;
}

static void half_report_momentum(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    half *s = self->data;
    double end[3], *resultant = ((half_memory *)x->memory)->resultant;
    const double *v1 = s->reuses_acceleration ? s->base.next.v : s->base.v[1]; // f does not depend on it then
    pcs_system_resultant(self->system, pcs_at(x->t + h, s->base.next.q, v1), end);
    for (int k = 0; k < 3; k++) report->smooth_impulse[k] = 0.5 * h * (resultant[k] + end[k]);
    pcs_explicit_add_rotated_momentum(self, &s->base, report->smooth_impulse);
    if (v1 == s->base.next.v) memcpy(resultant, end, sizeof end);
    else pcs_system_resultant(self->system, pcs_at(x->t + h, s->base.next.q, s->base.next.v), resultant);
}

// Computes the next state, which the caller accepts or rejects; report->outcome says whether there is one.
static pcs_status half_try(pcs_scheme *self, const pcs_state *x, double h, bool *is_impact, pcs_step_report *report)
{
    half *s = self->data;
    PCS_TRY(pcs_explicit_begin(self, x, h, report));
    for (int j = 0; j < self->system->nrow; j++) s->first[j] = 0.0;
    s->base.next.ends.q = NULL;
    s->base.leaves_velocity = s->is_plain;
    if (s->is_plain) {
        half_set_pass(self, x, h);
        report->outcome = half_go_plainly(self, x, h, is_impact, report);
        if (report->outcome == PCS_CONVERGED) (void)pcs_next_measure(self, x, &s->base.next, report);
        return PCS_OK;
    }
    double *a1 = s->base.free[1];
    pcs_explicit_advance(self, x, is_impact, report);
    s->base.free[1] = s->base.next.a;
    s->base.next.a = a1;
    return PCS_OK;
}

static void half_accept(pcs_scheme *self, pcs_state *x, double h, bool is_impact, pcs_step_report *report)
{
    half *s = self->data;
    pcs_explicit_report_rows(self, &s->base, x, 0.5 * h, is_impact, report);
    // Forces of stages are known to order 1, their mean over the step to the order of velocities.
    int nrow = is_impact ? 0 : self->system->nrow;
    for (int j = 0; j < nrow; j++)
        if (self->system->rows[j].is_bilateral) report->rows[j].force = report->rows[j].step_impulse / h;
    half_report_momentum(self, x, h, report);
    pcs_explicit_report_work(self, &s->base, x, report);
    double *a = x->history[HISTORY_A];
    x->history[HISTORY_A] = s->base.next.a;
    s->base.next.a = a;
    pcs_next_accept(self, &s->base.next, x, report);
    if (!s->reuses_acceleration) pcs_free_acceleration(self, x->t, x->q, x->v, x->history[HISTORY_A]);
}

// Repeats the step in `count` smaller ones. Their reports are summed; the laws of rows are those of the last.
static pcs_status half_impulsive_step(pcs_scheme *self, pcs_state *x, double h, int count, pcs_step_report *report)
{
    half *s = self->data;
    int nrow = self->system->nrow;
    pcs_step_report joined = { .rows = s->joined_row };
    pcs_state_copy(x, &s->start);
    for (int k = 0; k < count; k++) {
        bool is_impact = false;
        PCS_TRY(half_try(self, x, h / count, &is_impact, report));
        if (report->outcome != PCS_CONVERGED) {
            pcs_state_copy(&s->start, x);
            return PCS_OK;
        }
        half_accept(self, x, h / count, is_impact, report);
        if (k > 0) pcs_join_reports(self->system, &joined, nrow, s->base.next.q, x->q, report);
        pcs_copy_report(report, nrow, &joined);
    }
    x->t = s->start.t + h;
    x->step = s->start.step + 1;
    return PCS_OK;
}

static pcs_status half_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    double small = ((const half_params *)self->params)->impulsive_step;
    bool is_impact = false;
    PCS_TRY(half_try(self, x, h, &is_impact, report));
    if (report->outcome != PCS_CONVERGED) return PCS_OK;
    if (is_impact && small < h) return half_impulsive_step(self, x, h, (int)ceil(fmin(h / small, 1e6) - 1e-9), report);
    half_accept(self, x, h, is_impact, report);
    return PCS_OK;
}

const pcs_scheme_ops pcs_scheme_half_explicit = {
    .name = "half_explicit",
    .summary =
        "explicit trapezoidal rule, contact implicit at velocity level; impacts with restitution; needs a stable step",
    .options = half_options,
    .params_size = sizeof(half_params),
    .data_size = sizeof(half),
    .rule = { .kind = PCS_RULE_HEUN,
              .tableau = &pcs_tableau_trapezoidal,
              .move = NAN,
              .rate = PCS_RATE_BEFORE,
              .impact = PCS_IMPACT_WHEN_CLOSING,
              .rows_at = PCS_ROWS_WITHIN },
    .takes = PCS_TAKES_ROTATIONS | PCS_TAKES_MATERIALS | PCS_TAKES_DISTRIBUTED_ROWS,
    .nhistory = 1,
    .nresultant = 1,
    .memory_size = sizeof(half_memory),
    .stable_step = pcs_stable_trapezoidal,
    .largest_rotation = 0.02, // w' = i w grows by |1 + i y - y^2/2| = 1 + y^4/8
    .setup = half_setup,
    .start = half_start,
    .step = half_step,
};
