// Creates step solvers with their factored mass, runs them, and hands steps that do not converge to another one.

#include "step/step.h"

#include "core/comm.h"
#include "core/loop.h"
#include "step/projection.h"

#include <string.h>

#define PCS_STEP_SOLVER(name) extern const pcs_step_solver_ops pcs_step_##name;
#include "step/step_list.def"
#undef PCS_STEP_SOLVER

const pcs_step_solver_ops *const pcs_step_solvers[] = {
#define PCS_STEP_SOLVER(name) &pcs_step_##name,
#include "step/step_list.def"
#undef PCS_STEP_SOLVER
    NULL,
};

const char *pcs_outcome_text(pcs_outcome outcome)
{
    switch (outcome) {
    case PCS_CONVERGED: return "converged";
    case PCS_NOT_CONVERGED: return "the iteration for motion and contacts did not converge";
    case PCS_SINGULAR: return "a matrix of the step is singular";
    case PCS_NOT_FINITE: return "the state is not finite";
    case PCS_NOT_ACCURATE: return "the motion between events does not reach the tolerances 'rtol' and 'atol'";
    case PCS_ACCUMULATES: return "events accumulate";
    }
    return "unknown outcome";
}

static const pcs_step_solver_ops *step_find(const char *name)
{
    for (int i = 0; pcs_step_solvers[i] != NULL; i++)
        if (strcmp(pcs_step_solvers[i]->name, name) == 0) return pcs_step_solvers[i];
    return NULL;
}

// Returns true for constant matrices and unilateral rows without friction, as the condensed and saddle forms require.
static bool step_is_plain(const pcs_system *system)
{
    return system->is_linear && system->ntangent == 0 && !pcs_system_has_joints(system);
}

static pcs_status step_factor_mass(pcs_step_solver *self)
{
    bool is_singular = false;
    const pcs_matrix *inertia = pcs_system_inertia(self->system);
    PCS_TRY(pcs_linsolve_create_labelled(self->ctx, self->linear, "mass", inertia, PCS_SPD, &self->mass));
    PCS_TRY(pcs_linsolve_factor(self->mass, &is_singular));
    self->nfactor++;
    if (!is_singular) return PCS_OK;
    char where[256] = "an unknown equation";
    const bool is_known = self->mass->bad_equation >= 0;
    if (is_known) self->system->ops->describe(self->system, self->mass->bad_equation, NULL, NULL, sizeof where, where);
    pcs_status status = pcs_fail(
        self->ctx, PCS_BAD_INPUT,
        "the mass matrix is singular at %s: give it a mass, hold that direction, or merge it with another node there",
        where);
    PCS_TRY(pcs_agree(self->ctx, is_known ? status : PCS_OK)); // a rank that has the equation speaks
    return status;
}

// Number of rows above which products are faster than columns where the matrix changes from step to step or rows are
// distributed: measured at 20 to 60 in piles of which all rows act at once.
enum { MANY_ROWS = 32 };
// Largest number of entries in the columns of all rows: 320 MB. Those of a few rows are small beside the model itself.
static const double most_columns = 4e7, few_rows = 16;

// Returns the name of the solver that takes the fewest operations per step. A solve with the factor takes S, a product
// 30 per equation and 2000 besides; over ranks those of the largest part count. Solving by products takes 10 of them,
// as times of lattices and piles say (tests/bench/bench_solvers.py). Columns take a solve each, which some 200 steps
// share, then products with them in every step and the dense problem: of n unknowns 0.36 n^3 for its factors and 14 n^2
// for matrix and values, counted for up to 96 bars against a wall. Joints stay with Newton's dense form while it takes
// them.
static const char *step_prefer(const pcs_step_solver *self)
{
    const pcs_system *system = self->system;
    double njoint = 0.0, steps = 200.0, N = pcs_system_ndof(system), m = pcs_system_nrow(system);
    for (int j = 0; j < system->nrow; j++) njoint += system->rows[j].is_bilateral;
    pcs_rows_sum(system, 1, &njoint);
    if (njoint > 0.0 && m > PCS_MAX_ROWS) return "schur";
    m -= njoint;
    bool is_plain = step_is_plain(system);
    const char *dense = is_plain ? "condensed" : "newton";
    if (!system->is_linear || pcs_rows_are_distributed(system)) return m > MANY_ROWS ? "schur" : dense;
    double S = 4.0 * self->mass->entries;
    pcs_process_max(self->ctx, 1, &S);
    if (system->layout != NULL) N /= pcs_process_count(self->ctx);
    double product = S + 30.0 * N + 2000.0;
    double nz = 2.0 * m + pcs_system_ntangent(system), columns = 2.0 * S + 14.0 * nz * nz + 0.36 * nz * nz * nz;
    if (is_plain) columns += 3.0 * m * S / steps + 3.0 * m * N;
    else columns += 2.0 * nz * S / steps + 4.0 * nz * N;
    bool is_room = m <= few_rows || 4.0 * m * N <= most_columns;
    return is_room && columns <= 10.0 * product ? dense : "schur";
}

pcs_status pcs_step_solver_create(pcs_context *ctx, const char *name, const char *linear, pcs_system *system,
                                  pcs_step_solver **out)
{
    pcs_step_solver *self;
    const pcs_step_solver_ops *ops = step_find(name);
    bool is_auto = strcmp(name, "auto") == 0;
    if (ops == NULL && !is_auto) return pcs_fail(ctx, PCS_UNSUPPORTED, "no step solver is called '%s'", name);
    if (!is_auto && !ops->takes_all && !step_is_plain(system))
        return pcs_fail(ctx, PCS_UNSUPPORTED,
                        "step solver '%s' takes linear models without friction and joints; use 'newton'", name);
    PCS_TAKE(ctx, self, 1, "the step solver");
    *self = (pcs_step_solver){ .ctx = ctx, .system = system, .linear = linear, .bad_equation = -1, .bad_row = -1 };
    PCS_TRY(step_factor_mass(self));
    self->ops = is_auto ? step_find(step_prefer(self)) : ops;
    PCS_TAKE(ctx, self->effective_mass, system->nrow, "effective masses");
    PCS_TAKE(ctx, self->tangent_mass, system->ntangent, "effective masses");
    self->data = pcs_take(ctx, 1, self->ops->data_size, "the step solver");
    if (self->data == NULL) return PCS_NO_MEMORY;
    PCS_TRY(pcs_projection_create(self, &self->projection));
    PCS_TRY(self->ops->setup(self));
    self->memory[PCS_DAMPER_MEMORY] = system->dampers;
    for (int i = 0; i < PCS_SOLVER_MEMORY; i++)
        if (self->memory[i].size > 0) self->nmemory = i + 1;
    *out = self;
    return PCS_OK;
}

static const char *step_next(const pcs_step_solver *self)
{
    const pcs_system *system = self->system;
    double columns = 2.0 * pcs_system_nrow(system) + pcs_system_ntangent(system);
    if (strcmp(self->ops->name, "newton") == 0) return "schur";
    bool is_small = columns * (columns + pcs_system_ndof(system)) <= PCS_MOST_NUMBERS;
    return strcmp(self->ops->name, "schur") == 0 && is_small ? "newton" : NULL;
}

pcs_status pcs_step_solver_allow_handover(pcs_step_solver *self)
{
    if (step_next(self) == NULL) return PCS_OK;
    PCS_TAKE(self->ctx, self->q_given, self->system->nv, "the step solver");
    PCS_TAKE(self->ctx, self->v_given, self->system->nv, "the step solver");
    self->hands_over = true;
    return PCS_OK;
}

// Returns true for an impact at a position chosen by the scheme, which the other solver does not know yet.
static bool step_is_impact(const pcs_step_solver *self)
{
    return !self->form.has_dynamics && !pcs_form_sees_gaps(&self->form);
}

void pcs_step_solver_forget(pcs_step_solver *self)
{
    for (int i = 0; i < self->nmemory && i < PCS_DAMPER_MEMORY; i++)
        if (self->memory[i].size > 0) memset(self->memory[i].bytes, 0, self->memory[i].size);
}

// Solves the problem by the next solver. Returns false if that fails, too, or cannot be created.
static bool step_hand_over(pcs_step_solver *self, pcs_step_problem *p, pcs_step_result *result)
{
    size_t bytes = (size_t)self->system->nv * sizeof(double);
    pcs_step_result again;
    pcs_outcome outcome = PCS_CONVERGED;
    if (self->next == NULL) {
        pcs_step_solver *made = NULL;
        pcs_status status = pcs_step_solver_create(self->ctx, step_next(self), self->linear, self->system, &made);
        if (pcs_agree(self->ctx, status) != PCS_OK) return false;
        self->next = made;
    }
    pcs_step_solver *next = self->next;
    next->t = self->t;
    if (pcs_step_solver_prepare(next, &self->form, &outcome) != PCS_OK || outcome != PCS_CONVERGED) return false;
    if (step_is_impact(self) && !pcs_projection_weigh(next)) return false;
    memcpy(p->q, self->q_given, bytes);
    memcpy(p->v, self->v_given, bytes);
    pcs_step_solver_forget(next); // its state from an earlier step is not part of the run's state
    next->ops->solve(next, p, &again);
    result->iterations += again.iterations;
    if (again.outcome != PCS_CONVERGED) return false;
    // Moves the projection to the solution of the other solver, for calls after the step.
    const double *increment = p->base == NULL ? NULL : next->increment;
    if (!step_is_impact(self) && !pcs_projection_move_along(self, p->q, increment)) return false;
    result->outcome = PCS_CONVERGED;
    self->handovers++;
    return true;
}

PCS_WIDE void pcs_step_follow(const pcs_step_problem *p, int low, int high)
{
    double *d = p->d, *a = p->a, vd_of_d = p->vd_of_d, a_of_vd = p->a_of_vd;
    PCS_INDEPENDENT
    for (int i = low; i < high; i++) d[i] *= vd_of_d;
    if (a != NULL) PCS_INDEPENDENT
    for (int i = low; i < high; i++) a[i] += a_of_vd * d[i];
}

static void step_follow_range(void *data, int range, int low, int high)
{
    (void)range;
    pcs_step_follow(data, low, high);
}

static void step_predict(const pcs_step_solver *self, pcs_step_problem *p)
{
    if (p->predict != NULL) pcs_pool_cover(pcs_context_pool(self->ctx), self->system->nv, p->predict, p->passes);
}

static void step_finish(const pcs_step_solver *self, pcs_step_problem *p)
{
    pcs_pool *pool = pcs_context_pool(self->ctx);
    if (p->vd_of_d != 0.0) pcs_pool_cover(pool, self->system->nv, step_follow_range, p);
    if (p->finish != NULL) pcs_pool_cover(pool, self->system->nv, p->finish, p->passes);
}

void pcs_step_solve(pcs_step_solver *self, pcs_step_problem *p, pcs_step_result *result)
{
    size_t bytes = (size_t)self->system->nv * sizeof(double);
    self->bad_equation = self->bad_row = -1;
    if (self->form.has_dynamics) self->t = p->t;
    if (!self->ops->does_passes) step_predict(self, p);
    if (self->hands_over) {
        memcpy(self->q_given, p->q, bytes);
        memcpy(self->v_given, p->v, bytes);
    }
    self->ops->solve(self, p, result);
    if (result->outcome == PCS_NOT_CONVERGED && self->hands_over) (void)step_hand_over(self, p, result);
    if (result->outcome == PCS_CONVERGED && !self->ops->does_passes) step_finish(self, p);
}

pcs_status pcs_step_solver_prepare(pcs_step_solver *self, const pcs_step_form *form, pcs_outcome *outcome)
{
    *outcome = PCS_CONVERGED;
    if (self->is_prepared && memcmp(&self->form, form, sizeof *form) == 0) return PCS_OK;
    self->form = *form;
    self->is_prepared = false; // a preparation that fails leaves nothing ready
    PCS_TRY(self->ops->prepare(self, outcome));
    if (pcs_noted(self->ctx)[0] != '\0') return pcs_fail(self->ctx, PCS_FAILED, "%s", pcs_noted(self->ctx));
    self->is_prepared = *outcome == PCS_CONVERGED;
    return PCS_OK;
}

// Clears the stored impulses before and after, as those of smooth motion are no initial guess for an impact.
void pcs_step_solver_impact(pcs_step_solver *self, pcs_step_problem *p, pcs_step_result *result)
{
    const pcs_step_form still = { .h = 1.0 }, form = self->form;
    bool was_prepared = self->is_prepared;
    pcs_step_solver_forget(self);
    *result = (pcs_step_result){ .outcome = PCS_NOT_CONVERGED };
    pcs_outcome outcome;
    if (pcs_step_solver_prepare(self, &still, &outcome) == PCS_OK) pcs_step_solve(self, p, result);
    pcs_step_solver_forget(self);
    if (was_prepared && pcs_step_solver_prepare(self, &form, &outcome) != PCS_OK) result->outcome = PCS_NOT_CONVERGED;
}
