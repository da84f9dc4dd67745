// Nonsmooth generalized-alpha scheme with constraints at position and velocity level (GGL).
// Bruls, Acary, Cardona: Simultaneous enforcement of constraints at position and velocity levels in the
// nonsmooth generalized-alpha scheme, CMAME 281 (2014), eqs. 29-31.
//
//   M vd = f(q, v, t)                                          smooth motion, free of contact forces
//   M U = G^T nu,   0 <= g(q) _|_ nu >= 0                      position correction
//   M W = G^T La,   0 <= G v + e G v_n _|_ La >= 0 if g(qt) <= 0 or nu > 0   velocity jump
//   qt = q_n + h v_n + h^2 (1/2 - be) a_n + h^2 be a           q = qt + U
//   vt = v_n + h (1 - ga) a_n + h ga a                         v = vt + W
//   (1 - am) a + am a_n = (1 - af) vd + af vd_n
//
//   am = (2 rho - 1)/(rho + 1), af = rho/(rho + 1), ga = 1/2 + af - am, be = (ga + 1/2)^2/4
//
// Prediction and correction: alpha_family.h.
//
// `modified_lcp` states the position law for the multiplier that the velocity jump leaves over (eqs. 25 and 27 there):
//   0 <= g(q) _|_ nu - h La >= 0,   that is   U = U' + h W,  M U' = G^T nu',  0 <= g(q) _|_ nu' >= 0
// It chatters, as the paper says: a contact in which La > h nu holds flies off. Only to show that.
//
// Energy: there is no closed dissipation formula; what the ledger does not explain otherwise is the remainder. An
// impulse moves positions by (h/2) W on its own account, as in every velocity-level scheme; only what the position
// constraint asks beyond that, U - (h/2) W, is a correction, and its work is that of strain and gravity along it.

#include "schemes/alpha_family.h"

#include "step/projection.h"

enum { VARIANT_GGL, VARIANT_MODIFIED_LCP };
static const char *const ggl_variants[] = { "ggl", "modified_lcp", NULL };

typedef struct ggl_params {
    double rho_inf;
    int variant;
} ggl_params;

static const pcs_option ggl_options[] = {
    PCS_REAL("rho_inf", ggl_params, rho_inf, PCS_DEFAULT("0.8"), PCS_ZERO_TO_ONE,
             "spectral radius at high frequency: 1 keeps, 0 kills"),
    PCS_CHOICE("variant", ggl_params, variant, PCS_DEFAULT("ggl"), ggl_variants,
               "modified_lcp chatters: a demonstration of what the position law of ggl is good for"),
    { 0 },
};

typedef struct ggl {
    pcs_alpha alpha;
    pcs_step_form form; // of steps as long as the last one
    double *correction; // [nrow] what U is beyond (h/2) W, kg m
    double *smooth_gap; // [nrow] g(qt), m
    double carry;       // how much of h W the position moves by without its own law: 0, or 1 in modified_lcp
} ggl;

static const char *ggl_refuses(const pcs_system *system, const void *params)
{
    if (((const ggl_params *)params)->variant != VARIANT_MODIFIED_LCP) return NULL;
    bool rubs = false;
    for (int j = 0; j < system->nrow; j++) rubs = rubs || system->rows[j].friction != 0.0;
    return pcs_rows_any(system, rubs) ? "the modified LCP is stated without friction" : NULL;
}

static const pcs_step_form *ggl_form(ggl *s, double h)
{
    if (s->form.h == h) return &s->form;
    s->form = pcs_alpha_form(&s->alpha, h);
    s->form.kw = s->carry * h;
    s->form.has_position = s->form.gate_is_live = true;
    return &s->form;
}

static pcs_status ggl_setup(pcs_scheme *self)
{
    ggl *s = self->data;
    const ggl_params *p = self->params;
    pcs_alpha_of_radius(&s->alpha, p->rho_inf);
    s->carry = p->variant == VARIANT_MODIFIED_LCP ? 1.0 : 0.0;
    s->alpha.goes_on = pcs_goes_on(self->system, pcs_alpha_radius(&s->alpha));
    PCS_TAKE(self->ctx, s->correction, self->system->nrow, "position corrections");
    PCS_TAKE(self->ctx, s->smooth_gap, self->system->nrow, "position corrections");
    PCS_TRY(pcs_next_create(self, &s->alpha.next));
    if (pcs_system_has_joints(self->system)) s->alpha.lam = s->alpha.next.lam;
    return PCS_OK;
}

// vd_0 from the free equations of motion even if a contact is closed.
static pcs_status ggl_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    ggl *s = self->data;
    if (!pcs_projection_move(self->solver, x->q))
        return pcs_fail(self->ctx, PCS_FAILED, "the initial mass is singular");
    pcs_joint_acceleration(self, &s->alpha.next, x->t, x->q, x->v, x->history[PCS_ALPHA_VD]);
    pcs_alpha_start(self, &s->alpha, x);
    pcs_start_report(self, x, &s->alpha.next, report);
    return PCS_OK;
}

static double ggl_correction_work(pcs_scheme *self, double h)
{
    ggl *s = self->data;
    const pcs_next *next = &s->alpha.next;
    if (!self->system->is_linear) return 0.0; // left to the remainder
    for (int j = 0; j < self->system->nrow; j++) s->correction[j] = next->nu[j] + (s->carry - 0.5) * h * next->la[j];
    return pcs_displacement_work(self->solver, s->correction, next->q);
}

// Do the smooth gap and the law of the gap disagree with the gate that was taken, by more than a tie? Then imposing the
// law opens the gap and leaving it out closes it, and the solver has made a choice.
static bool ggl_is_contradictory(const pcs_scheme *self, int j)
{
    const ggl *s = self->data;
    double gap = s->smooth_gap[j], tie = 1e-13 * self->system->length;
    if (self->system->rows[j].is_bilateral) return false;
    if (s->alpha.next.gate[j]) return gap > tie && !(s->alpha.next.nu[j] > 0.0);
    return gap < -tie || s->alpha.next.nu[j] > self->solver->effective_mass[j] * tie;
}

static void ggl_report(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    ggl *s = self->data;
    const pcs_next *next = &s->alpha.next;
    double h = report->h;
    pcs_next_report_rows(self, x, next, 0.5, report);
    (void)pcs_alpha_book_joints(self, &s->alpha, x, report);
    for (int j = 0; j < self->system->nrow; j++) {
        report->rows[j].shift = s->carry * h * next->la[j];
        for (int t = 0; t < 2; t++) report->rows[j].tangent_shift[t] = 0.5 * h * report->rows[j].last_tangent[t];
        if (self->system->rows[j].is_bilateral) report->rows[j].force = next->la[j] / h + next->lam[j];
        report->rows[j].gate_is_contradictory = ggl_is_contradictory(self, j);
    }
    report->correction_work = ggl_correction_work(self, h);
    report->external_work += pcs_trapezoidal_load_work(self->system, x, next->q, h);
    report->damping_loss = pcs_alpha_damping_work(self, &s->alpha, x, next->v, h);
}

static pcs_status ggl_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    ggl *s = self->data;
    pcs_next *next = &s->alpha.next;
    pcs_begin_step(self, x, h, report);
    // An attempt that failed has left mass and directions where it gave up.
    if (!self->system->is_linear && !pcs_projection_move(self->solver, x->q)) {
        report->outcome = PCS_SINGULAR;
        return PCS_OK;
    }
    PCS_TRY(pcs_step_solver_prepare(self->solver, ggl_form(s, h), &report->outcome));
    if (report->outcome != PCS_CONVERGED) return PCS_OK;

    pcs_next_targets(self, next, x->v);
    if (self->system->row_set.ndriven > 0) {
        pcs_next_find_drives(self, next, x->t, h);
        pcs_next_drive(self, next);
    }
    pcs_step_problem problem = pcs_next_problem(self, next, x, x->t + h);
    pcs_alpha_set_passes(self, &s->alpha, x, h, &problem);
    problem.smooth_gap = s->smooth_gap;
    if (s->alpha.goes_on) problem.acceleration = x->history[PCS_ALPHA_VD];
    // The largest of all rows: the problem knows one.
    for (int j = 0; j < self->system->nrow; j++)
        problem.gate_tolerance = pcs_max(problem.gate_tolerance, pcs_gap_tie(self->system, j, x->q));
    problem.gate_tolerance = pcs_rows_max(self->system, problem.gate_tolerance);
    pcs_step_result result;
    pcs_step_solve(self->solver, &problem, &result);
    report->outcome = result.outcome;
    report->iterations = result.iterations;
    if (result.outcome != PCS_CONVERGED || !pcs_next_measure(self, x, next, report)) return PCS_OK;

    ggl_report(self, x, report);
    pcs_alpha_memory now;
    pcs_alpha_balance(self, &s->alpha, x, h, &now, report->smooth_impulse);
    pcs_alpha_accept(&s->alpha, x, &now);
    pcs_next_accept(self, next, x, report);
    return PCS_OK;
}

static void ggl_state_rule(const pcs_scheme *self, pcs_rule *rule)
{
    const ggl_params *p = self->params;
    *rule = pcs_rule_of(PCS_RULE_ALPHA);
    rule->radius = p->rho_inf;
    rule->tangent_way = 0.5;
    rule->has_correction = rule->has_smooth_joints = true;
    rule->gains_energy = p->variant == VARIANT_MODIFIED_LCP;
    rule->rate = PCS_RATE_START;
}

const pcs_scheme_ops pcs_scheme_alpha_ggl = {
    .name = "alpha_ggl",
    .summary = "nonsmooth generalized-alpha, gap and gap velocity both enforced; no penetration",
    .options = ggl_options,
    .params_size = sizeof(ggl_params),
    .data_size = sizeof(ggl),
    .nhistory = PCS_ALPHA_NHISTORY,
    .nrow_history = PCS_ALPHA_NROW_HISTORY,
    .nresultant = 2,
    .memory_size = sizeof(pcs_alpha_memory),
    .is_position_level = true,
    .takes_internal = true,
    .refuses = ggl_refuses,
    .takes_rotations = true,
    .state_rule = ggl_state_rule,
    .takes_dealt_rows = true,
    .setup = ggl_setup,
    .start = ggl_start,
    .step = ggl_step,
};
