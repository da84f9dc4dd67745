// Midpoint rule for waves, with contact on the midpoint velocity V.
//
//   S = M + (h/2) C + (h^2/4) K,     Vf = u_n + (h/2) S^-1 f(t_n + h/2, q_n + (h/2) u_n, u_n)
//   V = Vf + S^-1 G^T P/2,           q = q_n + h V,     u = 2 V - u_n,     mean contact force P/h
//   contact acts  where it did in the step before (P_n > 0), or g(q_n) + share h G Vf <= 0
//   there         0 <= G V + target _|_ P >= 0,  else P = 0;  joints: G V = (s(t + h) - s(t))/h, given motions s
//
// M by one-point quadrature, rho A L/4 [1 1; 1 1], and h = L/c in every cell make waves in rods exact and S diagonal.
// M is singular then: u is known up to a sawtooth, which no energy and no momentum sees. It is a history and never
// shown; the velocity of the state is V, that of the middle of the step. M is neither inverted nor factored.
//
// Energy, exact for any step and mesh, with F the loads at mid-step:   dE = F . dq - h V . C V + P . G V; the last term
// is the work of prescribed motions where it is one of their rows.
//
// A contact that has closed stays so until P = 0. Rounding the impact to a step keeps all fronts on the grid; the
// contact is held at an offset of -(1 - share) h |G V| <= g <= share h |G V|. share 1/2: to the nearest step; 1: to the
// step before, so that nothing penetrates (but by 1e-6 of the path of a step: an impact this near to the end of a step
// belongs to the next one, as one at the very end does, whatever round-off has added up).
//
// Restitution. The end of a bar has no mass of its own: its impact takes no impulse, and it comes back when the wave
// does. A law of Newton could act on the last cell only, for one step, so e has to be 0 there. A mass that sits at a
// node, where u is known, and that waves do not carry,
//   M_ii - sum_j |M_ij| > 0.4 M_ii,     M_ii - (h^2/4) K_ii > M_ii/2,
// does have an impact. V = 0 would send it back with e = 1; target = -(1 - e) G u_n/2 gives G u = -e G u_n, with the e
// of the case in the step that closes and 0 in those that follow, so that it rests.

#include "core/loop.h"
#include "schemes/common.h"
#include "step/projection.h"

#include <math.h>
#include <string.h>

enum { ROUND_NEAREST, ROUND_BEFORE };
static const char *const wave_roundings[] = { "nearest", "before", NULL };
static const char *const wave_kinds[] = { "axial", "transverse", NULL };

typedef struct wave_params {
    int rounding, waves;
    bool allow_mismatch;
} wave_params;

static const pcs_option wave_options[] = {
    PCS_CHOICE("rounding", wave_params, rounding, PCS_DEFAULT("nearest"), wave_roundings,
               "step to which an impact is rounded: the nearest, or the one before, which never penetrates"),
    PCS_CHOICE("waves", wave_params, waves, PCS_DEFAULT("transverse"), wave_kinds,
               "waves in beams whose travel time is the step: those that the contact force excites; rods have axial "
               "ones only"),
    PCS_FLAG("allow_mismatch", wave_params, allow_mismatch, PCS_DEFAULT("false"),
             "accept a step that differs from travel times of waves through cells by more than 1 %, and elements whose "
             "waves ring: rod_2d, rod_3d, rod_love"),
    { 0 },
};

static const double MOST_MISMATCH = 0.01;
static const double AT_REST = 1e-9;   // of the largest gap rate so far: a contact that opens more slowly stays closed
static const double SAME_TIME = 1e-6; // of a step: impacts within this time of the one with a tie count as simultaneous

enum { HISTORY_U };

typedef struct wave {
    pcs_next next;
    double *middle;          // [nv] q_n + (h/2) u_n, then u
    unsigned char *is_heavy; // [nrow] the row has an impact: it acts on masses
    unsigned char *was_held; // [nrow] closed at the start of the step
    double share;            // share of the step in the gate
    double h;                // s, step length for which S was assembled
} wave;

static pcs_wave_demand wave_ask(const pcs_system *system, const void *params)
{
    const wave_params *p = params;
    return (pcs_wave_demand){ .travel = &system->travel[p->waves],
                              .mismatch = p->allow_mismatch ? INFINITY : MOST_MISMATCH };
}

static const char *wave_refuses(const pcs_system *system, const void *params)
{
    (void)params;
    if (!pcs_system_is_mesh(system)) return "waves travel in meshes: rods and linear beams, with masses and springs";
    if (!system->is_linear)
        return "its waves are those of linear models: rods, linear beams, masses, bushings and mounts (a spring_damper "
               "turns with its ends)";
    if (pcs_system_is_gyroscopic(system)) return "gyroscopic moments do not go with it";
    return system->layout == NULL ? NULL : "it runs in one process only";
}

static pcs_status wave_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    wave *s = self->data;
    memcpy(x->history[HISTORY_U], x->v, (size_t)self->system->nv * sizeof *x->v);
    pcs_start_report(self, x, &s->next, report);
    return PCS_OK;
}

// Sets off-diagonal entries that M and K cancel up to round-off to zero, so that S is known to be diagonal.
static void wave_clean(const pcs_system *system, double h)
{
    const pcs_pattern *pattern = system->M->pattern;
    for (int j = 0; j < pattern->n; j++)
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++) {
            double size = fabs(system->M->value[p]) + 0.25 * h * h * fabs(system->K->value[p]);
            if (pattern->row[p] != j && fabs(system->inertia->value[p]) <= PCS_ROUND_SUM * size)
                system->inertia->value[p] = 0.0;
        }
}

// Returns true if an equation has additional mass, which is not part of a rod or beam.
static bool wave_is_mass(const pcs_system *system, int i, double h)
{
    const pcs_pattern *pattern = system->M->pattern;
    double mass = 0.0, shared = 0.0, spring_mass = 0.0;
    for (int p = pattern->start[i]; p < pattern->start[i + 1]; p++) {
        bool is_own = pattern->row[p] == i;
        *(is_own ? &mass : &shared) += fabs(system->M->value[p]);
        if (is_own) spring_mass = 0.25 * h * h * system->K->value[p];
    }
    return mass - shared > 0.4 * mass && mass - spring_mass > 0.5 * mass;
}

static bool wave_find_heavy(const pcs_system *system, int row, double h)
{
    const pcs_rows *G = system->G;
    bool is_heavy = G->start[row + 1] > G->start[row];
    for (int k = G->start[row]; k < G->start[row + 1]; k++)
        if (G->value[k] != 0.0) is_heavy = is_heavy && wave_is_mass(system, G->column[k], h);
    return is_heavy;
}

static pcs_status wave_check_restitution(const pcs_scheme *self)
{
    const wave *s = self->data;
    const pcs_system *system = self->system;
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row *row = &system->rows[j];
        double e = pcs_restitution(row, 0.0);
        bool acts = e != 0.0 && !s->is_heavy[j];
        if (!acts && row->tangent_restitution == 0.0) continue;
        return pcs_fail(self->ctx, PCS_UNSUPPORTED,
                        "contact '%s' has a restitution of %g, but the end of a bar has no mass that could rebound: it "
                        "comes back when the wave does; set it to 0, or put a point_mass there",
                        system->contacts[row->contact].name, acts ? e : row->tangent_restitution);
    }
    return PCS_OK;
}

static pcs_status wave_setup(pcs_scheme *self)
{
    wave *s = self->data;
    const pcs_system *system = self->system;
    PCS_TRY(pcs_next_create(self, &s->next));
    PCS_TAKE(self->ctx, s->middle, system->nv, "the middle of the step");
    PCS_TAKE_EACH(self->ctx, system->nrow, "the contacts of the step", unsigned char, &s->is_heavy, &s->was_held);
    self->rule.gate_share = ((const wave_params *)self->params)->rounding == ROUND_BEFORE ? 1.0 : 0.5;
    if (system->inertia == NULL)
        return pcs_fail(self->ctx, PCS_FAILED, "the step solver of scheme 'wave' was made without pcs_scheme_weigh");
    if (!(self->step > 0.0)) return PCS_OK; // the step is known from the first step on
    for (int j = 0; j < system->nrow; j++) s->is_heavy[j] = wave_find_heavy(system, j, self->step);
    return wave_check_restitution(self);
}

// Assembles and factors S, and prepares the solver, for steps of length h.
static pcs_status wave_prepare(pcs_scheme *self, double h, pcs_outcome *outcome)
{
    wave *s = self->data;
    pcs_system *system = self->system;
    pcs_step_solver *solver = self->solver;
    pcs_step_form form = { .h = h };
    *outcome = PCS_CONVERGED;
    if (s->h == h) return PCS_OK;
    const double weight[3] = { 1.0, 0.5 * h, 0.25 * h * h };
    pcs_matrix_combine(system->inertia, weight, system->M, system->C, system->K);
    wave_clean(system, h);
    for (int j = 0; j < system->nrow; j++) s->is_heavy[j] = wave_find_heavy(system, j, h);
    if (s->h == 0.0) PCS_TRY(wave_check_restitution(self));
    // A resumed run has counted the factors of its step already.
    bool is_counted = s->h == 0.0 && solver->is_prepared && solver->form.h == h;
    int nfactor = solver->nfactor;
    s->h = 0.0;
    if (!pcs_projection_weigh(solver)) *outcome = PCS_SINGULAR;
    if (*outcome == PCS_CONVERGED) PCS_TRY(pcs_step_solver_prepare(solver, &form, outcome));
    if (*outcome == PCS_CONVERGED) s->h = h;
    if (is_counted) solver->nfactor = nfactor;
    return PCS_OK;
}

// Computes Vf into next.v.
static void wave_free_motion(pcs_scheme *self, const pcs_state *x, double h)
{
    wave *s = self->data;
    const double *q = x->q, *u = x->history[HISTORY_U];
    double *middle = s->middle, *v = s->next.v, half = 0.5 * h;
    int n = self->system->nv;
    PCS_INDEPENDENT
    for (int i = 0; i < n; i++) middle[i] = q[i] + half * u[i];
    pcs_free_acceleration(self, x->t + half, middle, u, v);
    PCS_INDEPENDENT
    for (int i = 0; i < n; i++) v[i] = u[i] + half * v[i];
}

// Computes mean speeds of driven rows over the step into next.speed, m/s, and adds them to the targets.
static void wave_drive(pcs_scheme *self, const pcs_state *x, double h)
{
    wave *s = self->data;
    pcs_system *system = self->system;
    if (system->row_set.ndriven == 0) return;
    self->solver->t = x->t + h;
    pcs_system_gaps(system, pcs_at(self->solver->t, x->q, NULL), s->next.speed);
    for (int j = 0; j < system->nrow; j++) {
        s->next.speed[j] = (s->next.speed[j] - s->next.gap[j]) / h;
        s->next.target[j] += s->next.speed[j];
    }
    self->solver->t = x->t;
}

// Finds the gates and targets of all rows. Returns true if a row acts, so that the contact problem has to be solved.
static bool wave_find_gates(pcs_scheme *self, const pcs_state *x, double h)
{
    wave *s = self->data;
    pcs_system *system = self->system;
    pcs_next *next = &s->next;
    bool acts = false;
    self->solver->t = x->t;
    pcs_system_gaps(system, pcs_at(self->solver->t, x->q, NULL), next->gap);
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row *row = &system->rows[j];
        s->was_held[j] = x->was_loaded[j];
        next->rate_before[j] = pcs_system_rate(system, j, next->v);
        double ahead = next->gap[j] + self->rule.gate_share * h * next->rate_before[j];
        // Closes a contact that touches at the very end of the step in the next one with `rounding: before`. Round-off
        // adds up over steps and must not decide this: the tie includes a fraction of the displacement in a step.
        double tie = pcs_gap_tie(system, j, x->q) + SAME_TIME * h * fabs(next->rate_before[j]);
        next->gate[j] = row->is_bilateral || x->was_loaded[j] || ahead <= (self->rule.gate_share < 1.0 ? tie : -tie);
        double rate = pcs_system_rate(system, j, x->history[HISTORY_U]);
        double e = x->was_loaded[j] ? 0.0 : pcs_restitution(row, rate);
        next->target[j] = next->la[j] = next->nu[j] = 0.0;
        if (s->is_heavy[j] && !row->is_bilateral) next->target[j] = -0.5 * (1.0 - e) * rate;
        acts = acts || next->gate[j];
    }
    for (int t = 0; t < system->ntangent; t++) next->target_t[t] = next->la_t[t] = 0.0;
    wave_drive(self, x, h);
    return acts;
}

// Computes q and u from V.
static void wave_move(pcs_scheme *self, const pcs_state *x, double h)
{
    wave *s = self->data;
    const double *q0 = x->q, *u0 = x->history[HISTORY_U], *v = s->next.v;
    double *q = s->next.q, *u = s->middle;
    PCS_INDEPENDENT
    for (int i = 0; i < self->system->nv; i++) {
        q[i] = q0[i] + h * v[i];
        u[i] = 2.0 * v[i] - u0[i];
    }
}

static bool wave_measure(pcs_scheme *self, const pcs_state *x, pcs_step_report *report)
{
    wave *s = self->data;
    double *v = s->next.v;
    s->next.v = s->middle; // kinetic energy and momentum are those of u
    bool is_finite = pcs_next_measure(self, x, &s->next, report);
    s->next.v = v;
    return is_finite;
}

// Reports the rows by their impulses P, and then what differs in this scheme: its law is one of P/2 and V, and the end
// of a bar has no impact.
static void wave_report_rows(pcs_scheme *self, const pcs_state *x, pcs_step_report *report)
{
    const wave *s = self->data;
    const pcs_system *system = self->system;
    for (int j = 0; j < system->nrow; j++) s->next.la[j] *= 2.0;
    for (int t = 0; t < system->ntangent; t++) s->next.la_t[t] *= 2.0;
    pcs_next_report_rows(self, x, &s->next, 1.0, report);
    for (int j = 0; j < system->nrow; j++) {
        pcs_row_report *row = &report->rows[j];
        row->multiplier *= 0.5;
        for (int t = 0; t < 2; t++) row->last_tangent[t] *= 0.5;
        if (!s->is_heavy[j]) row->impulse = 0.0;
        row->is_closed = row->step_impulse > 0.0 || row->gap <= 0.0;
    }
}

static void wave_report(pcs_scheme *self, const pcs_state *x, pcs_step_report *report)
{
    wave *s = self->data;
    pcs_system *system = self->system;
    double h = report->h, t = x->t + 0.5 * h, start[3], end[3];
    wave_report_rows(self, x, report);
    report->external_work += pcs_load_work(system, t, x->q, s->next.q);
    report->damping_loss = h * pcs_system_damping_power(system, pcs_at(x->t + h, s->next.q, s->next.v), NULL);
    // Forces are linear in positions: those of the middle of the step are the mean of both ends.
    pcs_system_resultant(system, pcs_at(t, x->q, s->next.v), start);
    pcs_system_resultant(system, pcs_at(t, s->next.q, s->next.v), end);
    for (int k = 0; k < 3; k++) report->smooth_impulse[k] = 0.5 * h * (start[k] + end[k]);
}

// Keeps a closed contact closed until it separates, with or without force: otherwise round-off would decide whether a
// force of zero opens it, and the next push would have to close it again, rounded to steps.
static void wave_hold(const pcs_scheme *self, pcs_state *x, const pcs_step_report *report)
{
    const wave *s = self->data;
    for (int j = 0; j < self->system->nrow; j++) {
        const pcs_row_report *row = &report->rows[j];
        if (s->was_held[j] && row->rate + row->target <= AT_REST * x->largest_rate) x->was_loaded[j] = 1;
    }
}

static pcs_status wave_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    wave *s = self->data;
    pcs_step_problem problem = pcs_next_problem(self, &s->next, NULL, 0.0);
    pcs_step_result result = { .outcome = PCS_CONVERGED };
    pcs_begin_step(self, x, h, report);
    PCS_TRY(wave_prepare(self, h, &report->outcome));
    if (report->outcome != PCS_CONVERGED) return PCS_OK;
    wave_free_motion(self, x, h);
    if (wave_find_gates(self, x, h)) self->solver->ops->solve(self->solver, &problem, &result);
    report->outcome = result.outcome;
    report->iterations = result.iterations;
    if (report->outcome != PCS_CONVERGED) return PCS_OK;
    wave_move(self, x, h);
    if (!wave_measure(self, x, report)) return PCS_OK;
    wave_report(self, x, report);
    double *u = x->history[HISTORY_U];
    x->history[HISTORY_U] = s->middle;
    s->middle = u;
    pcs_next_accept(self, &s->next, x, report);
    wave_hold(self, x, report);
    return PCS_OK;
}

const pcs_scheme_ops pcs_scheme_wave = {
    .name = "wave",
    .summary = "midpoint rule with contact on the midpoint velocity: exact waves in rods at steps of cell length/speed",
    .options = wave_options,
    .params_size = sizeof(wave_params),
    .data_size = sizeof(wave),
    .rule = { .kind = PCS_RULE_WAVE,
              .move = 1.0,
              .rate = PCS_RATE_REFLECTED,
              .gate = PCS_GATE_HELD,
              .gate_slack = SAME_TIME,
              .gate_rest = AT_REST },
    .nhistory = 1,
    .needs_equal_steps = "its step is the time that a wave takes through a cell",
    .refuses = wave_refuses,
    .ask_waves = wave_ask,
    .setup = wave_setup,
    .start = wave_start,
    .step = wave_step,
};
