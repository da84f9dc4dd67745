// Smooth generalized-alpha scheme with constraints at position level (index 3), for comparison: impacts are not
// foreseen. Arnold, Bruls: Convergence of the generalized-alpha scheme for constrained mechanical systems, Multibody
// Syst. Dyn. 18 (2007); with contact as in Bruls, Acary, Cardona (2014), eqs. 51 and 52.
//
//   M vd = f(q, v, t) + G^T lam,   g_b(q) = 0,   0 <= g_u(q) _|_ lam_u >= 0
//   q = q_n + h v_n + h^2 (1/2 - be) a_n + h^2 be a,     v = v_n + h (1 - ga) a_n + h ga a
//   (1 - am) a + am a_n = (1 - af) vd + af vd_n
//
// With La = (h/c) lam the forces act like velocity jumps that share the kinematics of d: c M d = h f, M W = G^T La,
// v = vt0 + d + W, q = qt0 + kb (d + W), and vd = (c/h) (d + W). The law of La is 0 <= g(q)/kb, which for linear
// systems is G v + target with target = g(qt0)/kb - G vt0.
//
// There is no impact law and no restitution: where a contact closes, the velocity of the gap is left to itself and the
// scheme gains energy. The filter also spreads a contact force over later steps: step_impulse is h times what the
// velocity formula makes of the filtered force, which may last, weakly and of either sign, after the contact has
// opened.

#include "core/loop.h"
#include "schemes/implicit.h"

#include "step/projection.h"

typedef struct index3_params {
    double rho_inf;
} index3_params;

static const pcs_option index3_options[] = {
    PCS_REAL("rho_inf", index3_params, rho_inf, PCS_DEFAULT("0.8"), PCS_ZERO_TO_ONE,
             "spectral radius at high frequency: 1 without numerical damping, 0 with most"),
    { 0 },
};

static const char *index3_refuses(const pcs_system *system, const void *params)
{
    (void)params;
    bool has_friction = false;
    for (int j = 0; j < system->nrow; j++) has_friction = has_friction || system->rows[j].friction != 0.0;
    return pcs_rows_any(system, has_friction) ? "it has no law at velocity level, which friction needs" : NULL;
}

static pcs_status index3_setup(pcs_scheme *self)
{
    self->rule.w = pcs_weights_of_radius(((const index3_params *)self->params)->rho_inf);
    return pcs_implicit_setup(self);
}

// Closes the gate of every row and sets its target so that kb (G v + target) is the gap at the end, linearised.
static void index3_state_law(pcs_scheme *self, double t, double kb)
{
    pcs_implicit *s = self->data;
    pcs_next *next = &s->next;
    self->solver->t = t;
    pcs_system_gaps(self->system, pcs_at(self->solver->t, next->q, NULL), next->gap);
    for (int j = 0; j < self->system->nrow; j++) {
        next->target[j] = next->gap[j] / kb - pcs_system_rate(self->system, j, next->v);
        next->gate[j] = 1;
    }
    for (int k = 0; k < self->system->ntangent; k++) next->target_t[k] = 0.0;
}

// Reports the rows; forces at the end of the step take the place of those at its start.
static void index3_report_rows(pcs_scheme *self, pcs_state *x, double force_of_la, double kb, pcs_step_report *report)
{
    pcs_implicit *s = self->data;
    pcs_system *system = self->system;
    const pcs_next *next = &s->next;
    double *last = x->row_history[PCS_IMPLICIT_FORCE], *filtered = x->row_history[PCS_IMPLICIT_FILTERED];
    double h = report->h;
    self->solver->t = x->t + h;
    pcs_system_gaps(system, pcs_at(self->solver->t, next->q, NULL), next->gap);
    for (int j = 0; j < system->nrow; j++) {
        double force = next->lam[j] = force_of_la * next->la[j], rate = pcs_system_rate(system, j, next->v);
        pcs_row_report *row = &report->rows[j];
        bool is_impact = force > 0.0 && last[j] == 0.0 && !system->rows[j].is_bilateral;
        double impulse = h * pcs_implicit_filter(&self->rule.w, force, &last[j], &filtered[j]);
        *row = (pcs_row_report){ .gap = next->gap[j],
                                 .rate = rate,
                                 .rate_before = rate,
                                 .nu = kb * next->la[j],
                                 .force = force,
                                 .step_impulse = impulse,
                                 .impulse = is_impact ? impulse : 0.0,
                                 .is_impact = is_impact,
                                 .is_closed = force > 0.0 || next->gap[j] <= 0.0 };
        if (!system->rows[j].is_driven) continue;
        row->drive_work = 0.5 * impulse * (pcs_system_rate(system, j, x->v) + rate);
        report->external_work += row->drive_work;
    }
}

// Removes from the impulse of the step the part that the report assigns to the rows: along the directions of the end,
// as the filter spreads forces over several steps.
static void index3_leave_rows(const pcs_scheme *self, pcs_step_report *report)
{
    double *impulse = ((const pcs_implicit *)self->data)->next.rate_before;
    if (!pcs_system_is_mesh(self->system)) return;
    for (int j = 0; j < self->system->nrow; j++) impulse[j] = report->rows[j].step_impulse;
    pcs_add_row_momentum(self->system, -1.0, impulse, NULL, report->smooth_impulse);
}

static pcs_status index3_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    pcs_implicit *s = self->data;
    const pcs_step_form *form = pcs_implicit_form(self, h);
    PCS_TRY(pcs_implicit_begin(self, x, h, report));
    if (report->outcome != PCS_CONVERGED) return PCS_OK;

    pcs_implicit_predict(self, x, h);
    index3_state_law(self, x->t + h, form->kb);
    pcs_step_problem problem = pcs_next_problem(self, &s->next, x, x->t + h);
    if (!pcs_implicit_solve(self, x, &problem, report)) return PCS_OK;

    // Adds W to d: d + W = v - vt0, so that the acceleration includes the contact forces.
    pcs_projection_push(self->solver, 1.0, s->next.la, NULL, s->next.d);
    pcs_implicit_correct(self);
    index3_report_rows(self, x, form->c / h, form->kb, report);
    pcs_implicit_memory now;
    pcs_implicit_book(self, x, s->next.v, report);
    pcs_implicit_balance(self, x, &now, report);
    index3_leave_rows(self, report);
    pcs_implicit_accept(self, x, &now, report);
    return PCS_OK;
}

const pcs_scheme_ops pcs_scheme_alpha_index3 = {
    .name = "alpha_index3",
    .summary = "smooth generalized-alpha, gap enforced alone: gains energy at impacts; for comparison",
    .options = index3_options,
    .params_size = sizeof(index3_params),
    .data_size = sizeof(pcs_implicit),
    PCS_IMPLICIT_KEEPS,
    .rule = { .kind = PCS_RULE_IMPLICIT, .move = 0.5, .position = PCS_POSITION_FORCE, .gains_energy = true },
    .takes = PCS_TAKES_DISTRIBUTED_ROWS,
    .refuses = index3_refuses,
    .needs_equal_steps =
        "at index 3 a change of the step disturbs the contact forces by an error of positions over h^2",
    .setup = index3_setup,
    .start = pcs_implicit_start,
    .step = index3_step,
};
