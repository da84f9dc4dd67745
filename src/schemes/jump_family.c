// Impacts apart from an implicit smooth motion: index sets, the impact's problem, reports. Equations: jump_family.h.

#include "schemes/jump_family.h"

#include "step/projection.h"

pcs_status pcs_jump_create(pcs_scheme *self, pcs_jump *jump, double gap_tolerance)
{
    const pcs_system *system = self->system;
    jump->gap_tolerance = gap_tolerance;
    jump->sees_velocity = !system->is_linear || system->has_damping;
    jump->has_joints = pcs_system_has_joints(system);
    PCS_TAKE(self->ctx, jump->was_closed, system->nrow, "the closed contacts");
    PCS_TAKE(self->ctx, jump->smooth, system->nrow, "contact impulses");
    PCS_TAKE(self->ctx, jump->no_nu, system->nrow, "contact impulses");
    PCS_TAKE(self->ctx, jump->smooth_t, system->ntangent, "contact impulses");
    PCS_TAKE(self->ctx, jump->slide, system->ntangent, "contact impulses");
    PCS_TAKE(self->ctx, jump->rubbed, system->ntangent, "contact impulses");
    PCS_TAKE(self->ctx, jump->work, system->nv, "contact impulses");
    return pcs_projection_has_columns(self->solver) ? pcs_impact_create(self->solver, &jump->impact) : PCS_OK;
}

// Is the gap of row j at q, which stands in next.gap, none?
static bool jump_is_shut(const pcs_scheme *self, const pcs_jump *jump, const pcs_next *next, const double *q, int j)
{
    double tie = pcs_gap_tie(self->system, j, q) + pcs_impulse_tie(self, jump->before, j, self->system->span);
    return next->gap[j] <= jump->gap_tolerance + tie;
}

// Marks the closed contacts of q, bilateral rows always, and leaves the gaps in next.gap.
static void jump_find_closed(pcs_scheme *self, const pcs_jump *jump, pcs_next *next, const double *q,
                             unsigned char *is_closed)
{
    self->system->ops->gaps(self->system, q, next->gap);
    for (int j = 0; j < self->system->nrow; j++)
        is_closed[j] = self->system->rows[j].is_bilateral || jump_is_shut(self, jump, next, q, j);
}

// v += M^-1 (G^T La + T^T Lt) for the impact on the gated rows; false when it does not settle.
static bool jump_solve_impact(pcs_scheme *self, pcs_jump *jump, pcs_next *next, pcs_step_report *report)
{
    pcs_step_problem problem = pcs_next_problem(self, next, NULL, 0.0);
    pcs_step_result result;
    problem.held = NULL;
    problem.nu_t = NULL;
    problem.nu = jump->no_nu; // positions stay, and so do the multipliers that moved them
    problem.d = jump->work;   // the increment is that of the smooth motion
    if (jump->impact != NULL) pcs_impact_solve(jump->impact, &problem, &result);
    else pcs_step_solver_strike(self->solver, &problem, &result);
    report->outcome = result.outcome;
    report->iterations += result.iterations;
    return result.outcome == PCS_CONVERGED;
}

// Velocities of the rows before the impact, and its targets.
static void jump_meet(pcs_scheme *self, pcs_jump *jump, pcs_next *next)
{
    for (int j = 0; j < self->system->nrow; j++) next->rate_before[j] = pcs_system_rate(self->system, j, next->v);
    for (int t = 0; t < self->system->ntangent; t++) jump->slide[t] = pcs_rows_dot(self->system->T, t, next->v);
    pcs_next_targets(self, next, next->v);
}

static void jump_clear(pcs_scheme *self, pcs_jump *jump, pcs_next *next)
{
    jump->is_impact = false;
    for (int j = 0; j < self->system->nrow; j++)
        jump->smooth[j] = next->la[j] = next->nu[j] = next->lam[j] = next->target[j] = 0.0;
    for (int t = 0; t < self->system->ntangent; t++)
        jump->smooth_t[t] = jump->rubbed[t] = next->la_t[t] = next->target_t[t] = 0.0;
}

// Is a contact closed at x, and approaching? Then it has its impact now.
static bool jump_is_hit(pcs_scheme *self, const pcs_jump *jump, const pcs_state *x)
{
    bool is_hit = false;
    for (int j = 0; j < self->system->nrow; j++)
        if (jump->was_closed[j] && !self->system->rows[j].is_bilateral)
            is_hit = is_hit || pcs_system_rate(self->system, j, x->v) < 0.0;
    return pcs_rows_any(self->system, is_hit);
}

pcs_status pcs_jump_start(pcs_scheme *self, pcs_jump *jump, pcs_next *next, pcs_state *x, double *acceleration,
                          pcs_step_report *report)
{
    const pcs_system *system = self->system;
    if (!pcs_projection_move(self->solver, x->q))
        return pcs_fail(self->ctx, PCS_FAILED, "the initial mass is singular");
    pcs_start_report(self, x, next, report);
    jump->before = x;
    jump_clear(self, jump, next);
    jump_find_closed(self, jump, next, x->q, jump->was_closed);
    if (jump_is_hit(self, jump, x)) {
        for (int i = 0; i < system->nv; i++) {
            next->q[i] = x->q[i];
            next->v[i] = x->v[i];
        }
        for (int j = 0; j < system->nrow; j++) {
            next->gate[j] = jump->was_closed[j];
            jump->was_closed[j] = 0; // what closes at t = 0 has been open before
        }
        jump->is_impact = true;
        jump_meet(self, jump, next);
        if (!jump_solve_impact(self, jump, next, report)) return PCS_OK;
        for (int i = 0; i < system->nv; i++) x->v[i] = next->v[i];
        system->ops->measure(system, x->q, x->v, &report->measure);
        pcs_jump_report_rows(self, jump, next, report);
    }
    for (int j = 0; j < system->nrow; j++) x->was_loaded[j] = report->rows[j].step_impulse > 0.0;
    pcs_joint_acceleration(self, next, x->t, x->q, x->v, acceleration);
    return PCS_OK;
}

void pcs_jump_begin(pcs_scheme *self, pcs_jump *jump, pcs_next *next, const pcs_state *x)
{
    jump->before = x;
    pcs_projection_turn(self->solver, x->q);
    jump_clear(self, jump, next);
    jump_find_closed(self, jump, next, x->q, jump->was_closed);
}

bool pcs_jump_stage(pcs_scheme *self, pcs_jump *jump, pcs_next *next, double t, double weight, pcs_step_report *report)
{
    for (int j = 0; j < self->system->nrow; j++) next->gate[j] = jump->was_closed[j];
    pcs_step_problem problem = pcs_next_problem(self, next, NULL, t);
    problem.q_before = jump->before->q;
    pcs_step_result result;
    self->solver->ops->solve(self->solver, &problem, &result);
    report->outcome = result.outcome;
    report->iterations += result.iterations;
    if (result.outcome != PCS_CONVERGED) return false;
    double more = 0.0;
    for (int j = 0; j < self->system->nrow; j++) jump->smooth[j] = weight * jump->smooth[j] + next->la[j];
    for (int k = 0; k < self->system->ntangent; k++) {
        jump->smooth_t[k] = weight * jump->smooth_t[k] + next->la_t[k];
        more += (weight - 1.0) * jump->rubbed[k];
        jump->rubbed[k] *= weight;
    }
    // The balance of the scheme takes the work of a stage once: the rest is the scheme's doing.
    pcs_rows_sum(self->system, 1, &more);
    report->numerical_loss -= more;
    return true;
}

void pcs_jump_book_stage(pcs_scheme *self, pcs_jump *jump, const pcs_next *next, const double *v0, double theta,
                         pcs_step_report *report)
{
    const pcs_system *system = self->system;
    double work = 0.0;
    for (int j = 0; j < system->nrow; j++)
        if (next->la[j] != 0.0)
            work += next->la[j] *
                    ((1.0 - theta) * pcs_system_rate(system, j, v0) + theta * pcs_system_rate(system, j, next->v));
    pcs_rows_sum(system, 1, &work);
    report->numerical_loss -= work;
    for (int t = 0; t < system->ntangent; t++)
        if (next->la_t[t] != 0.0)
            jump->rubbed[t] -= next->la_t[t] * ((1.0 - theta) * pcs_rows_dot(system->T, t, v0) +
                                                theta * pcs_rows_dot(system->T, t, next->v));
}

bool pcs_jump_impact(pcs_scheme *self, pcs_jump *jump, pcs_next *next, pcs_step_report *report)
{
    jump_find_closed(self, jump, next, next->q, next->gate);
    for (int j = 0; j < self->system->nrow; j++)
        jump->is_impact = jump->is_impact || (next->gate[j] && !jump->was_closed[j]);
    jump->is_impact = pcs_rows_any(self->system, jump->is_impact);
    if (!jump->is_impact) {
        for (int j = 0; j < self->system->nrow; j++) next->gate[j] = jump->was_closed[j];
        return true;
    }
    jump_meet(self, jump, next);
    return jump_solve_impact(self, jump, next, report);
}

static void jump_report_tangents(const pcs_scheme *self, const pcs_jump *jump, const pcs_next *next, int j,
                                 pcs_step_report *report)
{
    const pcs_row *of = &self->system->rows[j];
    pcs_row_report *row = &report->rows[j];
    for (int t = 0; t < of->ntangent; t++) {
        int k = of->first_tangent + t;
        row->last_tangent[t] = next->la_t[k];
        row->tangent[t] = jump->smooth_t[k];
        row->slip[t] = pcs_rows_dot(self->system->T, k, next->v);
        row->friction_loss += jump->rubbed[k];
        if (!jump->is_impact) continue;
        row->tangent[t] += next->la_t[k];
        row->friction_loss -= 0.5 * next->la_t[k] * (jump->slide[k] + row->slip[t]);
    }
    report->friction_loss += row->friction_loss;
}

void pcs_jump_report_rows(pcs_scheme *self, const pcs_jump *jump, const pcs_next *next, pcs_step_report *report)
{
    const pcs_system *system = self->system;
    for (int j = 0; j < system->nrow; j++) {
        double impact = jump->is_impact ? next->la[j] : 0.0;
        pcs_row_report *row = &report->rows[j];
        pcs_next_tell(system, next, j, row);
        pcs_next_tell_held(system, next, j, row);
        row->step_impulse = jump->smooth[j] + impact;
        row->force = report->h > 0.0 ? jump->smooth[j] / report->h : 0.0;
        row->impulse = impact;
        row->is_impact = jump->is_impact && row->is_gated && !jump->was_closed[j] && !system->rows[j].is_bilateral;
        row->is_closed = row->step_impulse > 0.0 || jump_is_shut(self, jump, next, next->q, j);
        if (system->rows[j].is_bilateral) row->force += next->lam[j];
        row->normal_loss = -0.5 * impact * (row->rate_before + row->rate);
        report->impact_loss += row->normal_loss;
        jump_report_tangents(self, jump, next, j, report);
    }
    pcs_report_join(system, report);
}
