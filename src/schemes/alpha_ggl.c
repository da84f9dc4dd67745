// Nonsmooth generalized-alpha scheme with constraints at position and velocity level (GGL).
// Bruls, Acary, Cardona: Simultaneous enforcement of constraints at position and velocity levels in the
// nonsmooth generalized-alpha scheme, CMAME 281 (2014), eqs. 29-31.
//
//   M vd = f(q, v, t)                                          smooth motion, free of contact forces
//   M U = G^T nu,   0 <= g(q) _|_ nu >= 0                      position correction
//   M W = G^T La,   0 <= G v + e G v_n _|_ La >= 0 if g(qt) <= 0   velocity jump
//   qt = q_n + h v_n + h^2 (1/2 - be) a_n + h^2 be a           q = qt + U
//   vt = v_n + h (1 - ga) a_n + h ga a                         v = vt + W
//   (1 - am) a + am a_n = (1 - af) vd + af vd_n
//
//   am = (2 rho - 1)/(rho + 1), af = rho/(rho + 1), ga = 1/2 + af - am, be = (ga + 1/2)^2/4
//
// The prediction sets vd = 0; then d = vt - vt0 gives vd = (c/h) d with c = (1 - am)/((1 - af) ga), and
// qt = qt0 + kb d with kb = h be/ga.
//
// Energy: there is no closed dissipation formula; what the ledger does not explain otherwise is the remainder. An
// impulse moves positions by (h/2) W on its own account, as in every velocity-level scheme; only what the position
// constraint asks beyond that, U - (h/2) W, is a correction, and its work is that of strain and gravity along it.

#include "core/loop.h"
#include "schemes/common.h"

#include "step/columns.h"

typedef struct ggl_params {
    double rho_inf;
} ggl_params;

static const pcs_option ggl_options[] = {
    { .name = "rho_inf",
      .kind = PCS_OPTION_REAL,
      .help = "spectral radius at high frequency: 1 keeps, 0 kills",
      .offset = offsetof(ggl_params, rho_inf),
      .preset = "0.8",
      .range = PCS_ZERO_TO_ONE },
    { 0 },
};

enum { HISTORY_A, HISTORY_VD };
static const char *const ggl_history[] = { "a", "vd", NULL };

typedef struct ggl {
    pcs_next next;
    double am, af, ga, be;
    double *correction;   // [nrow] nu - (h/2) La, kg m
    double resultant[3];  // of M vd, N, at the start of the step
    double filtered[3];   // of M a, N
    double damping_power; // v^T C v at the start of the step, W
    bool has_joints;      // bilateral rows
} ggl;

static pcs_step_form ggl_form(const pcs_scheme *self, double h)
{
    const ggl *s = self->data;
    return (pcs_step_form){ .h = h,
                            .c = (1.0 - s->am) / ((1.0 - s->af) * s->ga),
                            .kb = h * s->be / s->ga,
                            .has_dynamics = true,
                            .gate_tolerance = 1e-13 * self->system->length,
                            .has_smooth_multipliers = s->has_joints,
                            .has_position = true,
                            .gate_is_live = true };
}

static pcs_status ggl_setup(pcs_scheme *self)
{
    ggl *s = self->data;
    double rho = ((const ggl_params *)self->params)->rho_inf;
    s->am = (2.0 * rho - 1.0) / (rho + 1.0);
    s->af = rho / (rho + 1.0);
    s->ga = 0.5 + s->af - s->am;
    s->has_joints = pcs_has_bilateral_rows(self->system);
    s->be = 0.25 * (s->ga + 0.5) * (s->ga + 0.5);
    PCS_TAKE(self->ctx, s->correction, self->system->nrow, "position corrections");
    return pcs_next_create(self, &s->next);
}

// vd_0 from the free equations of motion even if a contact is closed; a_0 = vd_0 keeps the order 2.
static pcs_status ggl_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    ggl *s = self->data;
    const pcs_system *system = self->system;
    double *a = x->history[HISTORY_A], *vd = x->history[HISTORY_VD];
    if (!pcs_projection_move(self->solver, x->q))
        return pcs_fail(self->ctx, PCS_FAILED, "the initial mass is singular");
    pcs_joint_acceleration(self, x->t, x->q, x->v, vd);
    for (int i = 0; i < system->nv; i++) a[i] = vd[i];
    pcs_resultant(system, x->t, x->q, x->v, s->resultant);
    for (int k = 0; k < 3; k++) s->filtered[k] = s->resultant[k];
    s->damping_power = pcs_damping_power(system, x->v);
    for (int j = 0; j < system->nrow; j++) s->next.was_loaded[j] = 0;
    pcs_start_report(self, x, &s->next, report);
    return PCS_OK;
}

// qt0, vt0 and a* = (af vd_n - am a_n)/(1 - am)
static void ggl_predict(ggl *s, const pcs_state *x, int n, double h)
{
    const double *q = x->q, *v = x->v;
    const double *a = x->history[HISTORY_A], *vd = x->history[HISTORY_VD];
    double *q_new = s->next.q, *v_new = s->next.v, *a_new = s->next.a;
    double from_vd = s->af / (1.0 - s->am), from_a = s->am / (1.0 - s->am);
    double v_old = h * (1.0 - s->ga), v_fresh = h * s->ga, q_old = h * h * (0.5 - s->be), q_fresh = h * h * s->be;
    PCS_INDEPENDENT
    for (int i = 0; i < n; i++) {
        double star = from_vd * vd[i] - from_a * a[i];
        a_new[i] = star;
        v_new[i] = v[i] + (v_old * a[i] + v_fresh * star);
        q_new[i] = q[i] + (h * v[i] + (q_old * a[i] + q_fresh * star));
    }
}

// vd = (c/h) d in place of d, and a = a* + (1 - af)/(1 - am) vd
static void ggl_correct(ggl *s, int n, double vd_of_d)
{
    double *d = s->next.d, *a = s->next.a;
    double a_of_vd = (1.0 - s->af) / (1.0 - s->am);
    PCS_INDEPENDENT
    for (int i = 0; i < n; i++) {
        d[i] *= vd_of_d;
        a[i] += a_of_vd * d[i];
    }
}

// The impulse of the smooth forces as the scheme adds it up: the filter acts on the resultants, too.
static void ggl_balance(pcs_scheme *self, const pcs_state *x, double h, double resultant[3], double filtered[3],
                        double impulse[3])
{
    ggl *s = self->data;
    pcs_resultant(self->system, x->t + h, s->next.q, s->next.v, resultant);
    for (int k = 0; k < 3; k++) {
        filtered[k] = ((1.0 - s->af) * resultant[k] + s->af * s->resultant[k] - s->am * s->filtered[k]) / (1.0 - s->am);
        impulse[k] = h * ((1.0 - s->ga) * s->filtered[k] + s->ga * filtered[k]);
    }
}

static double ggl_correction_work(pcs_scheme *self, double h)
{
    ggl *s = self->data;
    if (!self->system->is_linear) return 0.0; // left to the remainder
    for (int j = 0; j < self->system->nrow; j++) s->correction[j] = s->next.nu[j] - 0.5 * h * s->next.la[j];
    return pcs_displacement_work(self->solver, s->correction, s->next.q);
}

static void ggl_accept(pcs_scheme *self, pcs_state *x, const pcs_step_report *report)
{
    ggl *s = self->data;
    double *a = x->history[HISTORY_A], *vd = x->history[HISTORY_VD];
    x->history[HISTORY_A] = s->next.a;
    x->history[HISTORY_VD] = s->next.d;
    s->next.a = a;
    s->next.d = vd;
    pcs_next_accept(&s->next, x, report, self->system->nrow);
}

static pcs_status ggl_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    ggl *s = self->data;
    const pcs_system *system = self->system;
    pcs_step_form form = ggl_form(self, h);
    pcs_begin_report(report, h);
    PCS_TRY(pcs_step_solver_prepare(self->solver, &form, &report->outcome));
    if (report->outcome != PCS_CONVERGED) return PCS_OK;

    ggl_predict(s, x, system->nv, h);
    pcs_next_targets(self, &s->next, x->v);
    pcs_step_problem problem = pcs_next_problem(&s->next, x->t + h);
    pcs_step_result result;
    self->solver->ops->solve(self->solver, &problem, &result);
    report->outcome = result.outcome;
    report->iterations = result.iterations;
    if (result.outcome != PCS_CONVERGED || !pcs_next_measure(self, &s->next, report)) return PCS_OK;

    ggl_correct(s, system->nv, form.c / h);
    pcs_next_report_rows(self, x, &s->next, 0.5, report);
    double resultant[3], filtered[3], power = pcs_damping_power(system, s->next.v);
    ggl_balance(self, x, h, resultant, filtered, report->smooth_impulse);
    report->correction_work = ggl_correction_work(self, h);
    report->external_work = pcs_trapezoidal_load_work(system, x, s->next.q, h);
    report->damping_loss = 0.5 * h * (s->damping_power + power);
    for (int k = 0; k < 3; k++) {
        s->resultant[k] = resultant[k];
        s->filtered[k] = filtered[k];
    }
    s->damping_power = power;
    ggl_accept(self, x, report);
    return PCS_OK;
}

const pcs_scheme_ops pcs_scheme_alpha_ggl = {
    .name = "alpha_ggl",
    .summary = "nonsmooth generalized-alpha, gap and gap velocity both enforced; no penetration",
    .options = ggl_options,
    .params_size = sizeof(ggl_params),
    .data_size = sizeof(ggl),
    .nhistory = 2,
    .history_names = ggl_history,
    .is_position_level = true,
    .allows_control = true,
    .setup = ggl_setup,
    .start = ggl_start,
    .step = ggl_step,
};
