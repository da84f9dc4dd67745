// Bathe's two-substep method with impacts apart: the velocity-level scheme with impulsive correction that Schindler,
// Rezaei, Kursawe, Acary (2015) leave for future work, on an implicit base that kills what it cannot resolve.
// Bathe, Baig: On a composite implicit time integration procedure for nonlinear dynamics, Comput. Struct. 83 (2005);
// index sets and impact: jump_family.h.
//
//   w = 1 - sqrt(1/2), the first substep is 2 w h long:
//   1  v1 = v_n + w h (a_n + a1) + W1,              q1 = q_n + w h (v_n + v1)             trapezoidal rule
//   2  v- = al v1 + (1 - al) v_n + w h a + W2,      q = al q1 + (1 - al) q_n + w h v-     three-point backward formula
//   M a = f + Gb^T lam at the end of each substep, M W = G^T P, 0 <= G v _|_ P >= 0 on I0 at v1 and at v-
//   v = v- + M^-1 G^T La                            if a contact has closed, else v = v-
//
// al = 1/(4 w (1 - w)). With this length of the first substep both have one matrix, M + w h C + (w h)^2 K, factored
// once (the method is then TR-BDF2). Over the step a contact gives the impulse al P1 + P2.
//
// Energy of a step of a linear system, exact up to v-, with d1 = ()1 - ()n and d2 = ()- - ()1, vm = (v_n + v1)/2:
//   dE = F_1 . dq1 + F . dq2 - 2 w h vm . C vm - dq2 . C v- + P1 . G vm + P2 . G v- - loss
//   loss = (|dv2|^2_M + |dq2|^2_K)/2 - (al - 1) (v- . M dv1 - a . M dq1),   F_1 the mean load over the first substep
// The damping is booked as 2 al w h vm . C vm + w h v- . C v-; the rest of it is the scheme's.

#include "core/loop.h"
#include "schemes/jump_family.h"

#include <math.h>
#include <string.h>

typedef struct bathe_params {
    double gap_tolerance;
} bathe_params;

static const pcs_option bathe_options[] = {
    PCS_GAP_TOLERANCE(bathe_params),
    { 0 },
};

enum { HISTORY_A };

typedef struct bathe_memory {
    double resultant[3]; // N, of f at the start of the step
} bathe_memory;

typedef struct bathe {
    pcs_next next;
    pcs_jump jump;
    double w, al;
    double turned[3];        // N s, what impulses of the first substep gave beyond themselves along the last directions
    double *q1, *v1;         // [nv] at the end of the first substep
    double *first, *first_t; // [nrow], [ntangent] its contact impulses, N s
    double *change, *image;  // [nv] work of the energy balance
} bathe;

static pcs_status bathe_setup(pcs_scheme *self)
{
    bathe *s = self->data;
    s->w = 1.0 - sqrt(0.5);
    s->al = 1.0 / (4.0 * s->w * (1.0 - s->w));
    double **vectors[] = { &s->q1, &s->v1, &s->change, &s->image };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        PCS_TAKE(self->ctx, *vectors[i], self->system->nv, "the first substep");
    PCS_TAKE(self->ctx, s->first, self->system->nrow, "the first substep");
    PCS_TAKE(self->ctx, s->first_t, self->system->ntangent, "the first substep");
    PCS_TRY(pcs_next_create(self, &s->next));
    return pcs_jump_create(self, &s->jump, ((const bathe_params *)self->params)->gap_tolerance);
}

// The resultant at (t, q, v), where the joints pull as the last solve has found.
static void bathe_remember(const pcs_scheme *self, double t, const double *q, const double *v, bathe_memory *memory)
{
    const bathe *s = self->data;
    pcs_resultant(self->system, t, q, v, memory->resultant);
    pcs_add_joint_resultant(self->system, s->next.lam, memory->resultant);
}

static pcs_status bathe_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    bathe *s = self->data;
    PCS_TRY(pcs_jump_start(self, &s->jump, &s->next, x, x->history[HISTORY_A], report));
    bathe_remember(self, x->t, x->q, x->v, x->memory);
    return PCS_OK;
}

static void bathe_predict_first(bathe *s, const pcs_state *x, int n, double wh)
{
    const double *q = x->q, *v = x->v, *a = x->history[HISTORY_A];
    double *q_new = s->next.q, *v_new = s->next.v;
    PCS_INDEPENDENT
    for (int i = 0; i < n; i++) {
        double prediction = v[i] + wh * a[i];
        v_new[i] = prediction;
        q_new[i] = q[i] + wh * (v[i] + prediction);
    }
}

// Keeps the state of the first substep and predicts the second; differences first, lest positions round off.
static void bathe_predict_second(bathe *s, const pcs_state *x, int n, double wh)
{
    const double *q = x->q, *v = x->v;
    double *q_new = s->next.q, *v_new = s->next.v, *q1 = s->q1, *v1 = s->v1, beyond = s->al - 1.0;
    PCS_INDEPENDENT
    for (int i = 0; i < n; i++) {
        q1[i] = q_new[i];
        v1[i] = v_new[i];
        double prediction = v1[i] + beyond * (v1[i] - v[i]);
        v_new[i] = prediction;
        q_new[i] = q1[i] + (beyond * (q1[i] - q[i]) + wh * prediction);
    }
}

// a . M (x1 - x0)
static double bathe_product(const pcs_system *system, bathe *s, const double *a, const double *x1, const double *x0)
{
    pcs_matrix_multiply(system->M, a, s->image);
    return pcs_change_dot(system, x1, x0, s->image);
}

// damping_loss; gives the rest of what the damping takes: across = dq1 . C v-, first = 2 w h vm . C vm, dq1 = 2 w h vm.
// C of a spinning body has no symmetry.
static double bathe_damping(pcs_scheme *self, const pcs_state *x, double wh, pcs_step_report *report)
{
    bathe *s = self->data;
    const pcs_system *system = self->system;
    if (!system->has_damping) return 0.0;
    pcs_matrix_multiply(system->C, s->next.v, s->image);
    double across = pcs_change_dot(system, s->q1, x->q, s->image);
    for (int i = 0; i < system->nv; i++) s->change[i] = s->q1[i] - x->q[i];
    pcs_matrix_multiply(system->C, s->change, s->image);
    double first = pcs_change_dot(system, s->q1, x->q, s->image) / (2.0 * wh);
    report->damping_loss = s->al * first + wh * pcs_damping_power(system, s->next.q, s->next.v);
    return (s->al - 1.0) * (across - first);
}

static void bathe_book(pcs_scheme *self, const pcs_state *x, const double *a, double wh, pcs_step_report *report)
{
    bathe *s = self->data;
    const pcs_system *system = self->system;
    double middle = x->t + 2.0 * wh;
    report->external_work =
        0.5 * (pcs_load_work(system, x->t, x->q, s->q1) + pcs_load_work(system, middle, x->q, s->q1)) +
        pcs_load_work(system, x->t + report->h, s->q1, s->next.q);
    if (!system->is_linear) { // the loss is the remainder
        double ends = pcs_damping_power(system, x->q, x->v) + pcs_damping_power(system, s->q1, s->v1);
        report->damping_loss = wh * (s->al * ends + pcs_damping_power(system, s->next.q, s->next.v));
        return;
    }
    pcs_change change = system->ops->change(system, s->q1, s->next.q, s->v1, s->next.v);
    double stored = bathe_product(system, s, s->next.v, s->v1, x->v) - bathe_product(system, s, a, s->q1, x->q);
    report->numerical_loss += 0.5 * (change.stiffness_norm2 + change.mass_norm2) - (s->al - 1.0) * stored;
    report->numerical_loss += bathe_damping(self, x, wh, report);
}

// The resultant at the end of the first substep, and its contact impulses, which count `al` times.
static void bathe_keep_first(pcs_scheme *self, double t, double resultant[3])
{
    bathe *s = self->data;
    pcs_resultant(self->system, t, s->next.q, s->next.v, resultant);
    pcs_add_joint_resultant(self->system, s->next.lam, resultant);
    for (int k = 0; k < 3; k++) s->turned[k] = 0.0;
    if (!pcs_rows_turn(self->system)) return;
    memcpy(s->first, s->next.la, (size_t)self->system->nrow * sizeof *s->first);
    memcpy(s->first_t, s->next.la_t, (size_t)self->system->ntangent * sizeof *s->first_t);
    pcs_add_row_momentum(self->system, s->al, s->first, s->first_t, s->turned);
}

// They are told along the directions of the end.
static void bathe_turn_first(pcs_scheme *self)
{
    bathe *s = self->data;
    if (pcs_rows_turn(self->system)) pcs_add_row_momentum(self->system, -s->al, s->first, s->first_t, s->turned);
}

// Both substeps; next.v is v- then, and next.d the acceleration.
static bool bathe_advance(pcs_scheme *self, const pcs_state *x, double h, pcs_step_report *report)
{
    bathe *s = self->data;
    const pcs_system *system = self->system;
    const bathe_memory *memory = x->memory;
    double wh = s->w * h, middle[3], end[3];
    int n = system->nv;
    bathe_predict_first(s, x, n, wh);
    pcs_jump_begin(self, &s->jump, &s->next, x);
    if (!pcs_jump_stage(self, &s->jump, &s->next, x->t + 2.0 * wh, 1.0, report)) return false;
    pcs_jump_book_stage(self, &s->jump, &s->next, x->v, 0.5, report);
    bathe_keep_first(self, x->t + 2.0 * wh, middle);

    bathe_predict_second(s, x, n, wh);
    if (!pcs_jump_stage(self, &s->jump, &s->next, x->t + h, s->al, report)) return false;
    pcs_jump_book_stage(self, &s->jump, &s->next, x->v, 1.0, report);
    pcs_resultant(system, x->t + h, s->next.q, s->next.v, end);
    pcs_add_joint_resultant(system, s->next.lam, end);
    bathe_turn_first(self);
    for (int k = 0; k < 3; k++)
        report->smooth_impulse[k] = s->al * wh * (memory->resultant[k] + middle[k]) + wh * end[k] + s->turned[k];
    PCS_INDEPENDENT
    for (int i = 0; i < n; i++) s->next.d[i] /= wh;
    bathe_book(self, x, s->next.d, wh, report);
    return true;
}

static void bathe_accept(pcs_scheme *self, pcs_state *x, const pcs_step_report *report)
{
    bathe *s = self->data;
    double *a = x->history[HISTORY_A], t = x->t + report->h;
    if (s->jump.is_impact && s->jump.sees_velocity)
        pcs_joint_acceleration(self, &s->next, t, s->next.q, s->next.v, s->next.d);
    bathe_remember(self, t, s->next.q, s->next.v, x->memory);
    x->history[HISTORY_A] = s->next.d;
    s->next.d = a;
    pcs_next_accept(self, &s->next, x, report);
}

static pcs_status bathe_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    bathe *s = self->data;
    double wh = s->w * h;
    pcs_step_form form = { .h = wh, .c = 1.0, .kb = wh, .kw = wh, .has_dynamics = true };
    form.has_smooth_multipliers = s->jump.has_joints;
    pcs_begin_step(self, x, h, report);
    PCS_TRY(pcs_step_solver_prepare(self->solver, &form, &report->outcome));
    if (report->outcome != PCS_CONVERGED) return PCS_OK;
    if (!bathe_advance(self, x, h, report)) return PCS_OK;
    if (!pcs_jump_impact(self, &s->jump, &s->next, report) || !pcs_next_measure(self, &s->next, report)) return PCS_OK;
    pcs_jump_report_rows(self, &s->jump, &s->next, report);
    bathe_accept(self, x, report);
    return PCS_OK;
}

static void bathe_state_rule(const pcs_scheme *self, pcs_rule *rule)
{
    (void)self;
    *rule = pcs_rule_of(PCS_RULE_BATHE);
    rule->has_smooth_joints = true;
    rule->rate = PCS_RATE_BEFORE_IMPACT;
}

const pcs_scheme_ops pcs_scheme_jump_bathe = {
    .name = "jump_bathe",
    .summary =
        "Bathe's two substeps, impacts solved apart at velocity level; stiff bodies at large steps, quiet forces",
    .options = bathe_options,
    .params_size = sizeof(bathe_params),
    .data_size = sizeof(bathe),
    .nhistory = 1,
    .history_obeys_joints = true,
    .nresultant = 1,
    .memory_size = sizeof(bathe_memory),
    .has_closed_loss = true,
    .separates_impacts = true,
    .takes_dealt_rows = true,
    .state_rule = bathe_state_rule,
    .refuses_drives = "its balance of energy has no place for the work of a prescribed motion; newmark, alpha_velocity "
                      "and moreau_jean "
                      "follow such motions",
    .setup = bathe_setup,
    .start = bathe_start,
    .step = bathe_step,
};
