// Kinematics and energy of the generalized-alpha family: equations in alpha_family.h. Energy as in Acary's lecture
// slides on nonsmooth mechanical systems, there for Newmark and HHT.
//
// Derivation of the energy balance: both Newmark formulas give dq = h (v_n + v)/2 + (h^2/2) (2 be - ga) da + U; with
// M dv = h M a_ga + G^T La and M vd = F + Gb^T lam - K q - C v at both ends,
// dE = (v_n + v)/2 . M dv + (q_n + q)/2 . K dq. On held contacts G dq = (h/2) G (v_n + v): U takes the rest away.

#include "schemes/alpha_family.h"

#include "core/loop.h"

#include <math.h>

void pcs_alpha_of_radius(pcs_alpha *s, double rho)
{
    s->am = (2.0 * rho - 1.0) / (rho + 1.0);
    s->af = rho / (rho + 1.0);
    s->ga = 0.5 + s->af - s->am;
    s->be = 0.25 * (s->ga + 0.5) * (s->ga + 0.5);
}

void pcs_alpha_of_newmark(pcs_alpha *s, double gamma, double beta)
{
    s->am = s->af = 0.0;
    s->ga = gamma;
    s->be = isnan(beta) ? 0.25 * (gamma + 0.5) * (gamma + 0.5) : beta;
}

double pcs_alpha_radius(const pcs_alpha *s)
{
    double half = 0.5 + s->ga, square = half * half - 4.0 * s->be, held = s->af / (1.0 - s->af);
    if (square <= 0.0) return fmax(held, sqrt((0.5 - s->ga + s->be) / s->be));
    return fmax(held, (fabs(half - 2.0 * s->be) + sqrt(square)) / (2.0 * s->be));
}

pcs_status pcs_alpha_setup(pcs_scheme *self, pcs_alpha *s)
{
    s->goes_on = pcs_goes_on(self->system, pcs_alpha_radius(s));
    PCS_TAKE(self->ctx, s->mix, self->system->nv, "the energy balance");
    PCS_TAKE(self->ctx, s->image, self->system->nv, "the energy balance");
    if (s->holds) {
        PCS_TAKE(self->ctx, s->held, self->system->nrow, "the contacts that are held");
        PCS_TAKE(self->ctx, s->drift, self->system->nv, "the contacts that are held");
        PCS_TAKE(self->ctx, s->next.nu_t, self->system->ntangent, "the contacts that are held");
    }
    return pcs_next_create(self, &s->next);
}

pcs_step_form pcs_alpha_form(const pcs_alpha *s, double h)
{
    return (pcs_step_form){ .h = h,
                            .c = (1.0 - s->am) / ((1.0 - s->af) * s->ga),
                            .kb = h * s->be / s->ga,
                            .kh = s->holds ? 0.5 * h * (2.0 * s->be - s->ga) / s->ga : 0.0,
                            .has_dynamics = true,
                            .has_smooth_multipliers = s->lam != NULL };
}

void pcs_alpha_start(pcs_scheme *self, pcs_alpha *s, pcs_state *x)
{
    double *a = x->history[PCS_ALPHA_A], *vd = x->history[PCS_ALPHA_VD];
    pcs_alpha_memory *memory = x->memory;
    for (int i = 0; i < self->system->nv; i++) a[i] = vd[i];
    for (int k = 0; k < x->nrow_history; k++)
        for (int j = 0; j < self->system->nrow; j++) x->row_history[k][j] = s->lam == NULL ? 0.0 : s->lam[j];
    pcs_system_resultant(self->system, pcs_at(x->t, x->q, x->v), memory->resultant);
    if (s->lam != NULL) pcs_add_joint_resultant(self->system, s->lam, memory->resultant);
    for (int k = 0; k < 3; k++) memory->filtered[k] = memory->resultant[k];
}

void pcs_alpha_start_contacts(const pcs_scheme *self, const pcs_step_report *report, pcs_state *x)
{
    const pcs_rows *G = self->system->G;
    for (int j = 0; j < self->system->nrow; j++) {
        const pcs_row_report *row = &report->rows[j];
        int first = G->start[j], count = G->start[j + 1] - first;
        double rounding = 64.0 * pcs_rounding_of_sum(count, G->value + first, G->column + first, x->v);
        bool lasts = row->is_closed && (row->step_impulse > 0.0 || fabs(row->rate) <= rounding);
        if (lasts && !self->system->rows[j].is_bilateral) x->recent[j] = PCS_RECENT;
        x->impulse[j] = row->step_impulse;
    }
}

PCS_WIDE static void alpha_predict_range(void *data, int range, int low, int high)
{
    const pcs_alpha_pass p = *(const pcs_alpha_pass *)data;
    (void)range;
    PCS_INDEPENDENT
    for (int i = low; i < high; i++) {
        double star = p.from_vd * p.vd[i] - p.from_a * p.a[i];
        p.a_new[i] = star;
        p.v_new[i] = p.v[i] + (p.v_old * p.a[i] + p.v_fresh * star);
        p.q_new[i] = p.q[i] + (p.h * p.v[i] + (p.q_old * p.a[i] + p.q_fresh * star));
    }
}

// Weights of steps of length h.
static void alpha_weigh(pcs_alpha *s, double h)
{
    s->pass = (pcs_alpha_pass){ .h = h,
                                .from_vd = s->af / (1.0 - s->am),
                                .from_a = s->am / (1.0 - s->am),
                                .v_old = h * (1.0 - s->ga),
                                .v_fresh = h * s->ga,
                                .q_old = h * h * (0.5 - s->be),
                                .q_fresh = h * h * s->be,
                                .a_of_vd = (1.0 - s->af) / (1.0 - s->am),
                                .vd_of_d = pcs_alpha_form(s, h).c / h };
}

// The vectors change places from step to step, the weights only where h changes.
static void alpha_set_pass(pcs_alpha *s, const pcs_state *x, double h)
{
    pcs_alpha_pass *p = &s->pass;
    if (p->h != h) alpha_weigh(s, h);
    p->next = &s->next;
    p->q = x->q;
    p->v = x->v;
    p->a = x->history[PCS_ALPHA_A];
    p->vd = x->history[PCS_ALPHA_VD];
    p->q_new = s->next.q;
    p->v_new = s->next.v;
    p->a_new = s->next.a;
    p->d = s->next.d;
}

void pcs_alpha_hold(const pcs_scheme *self, pcs_alpha *s, const pcs_state *x, double h)
{
    const pcs_system *system = self->system;
    bool is_any = false;
    s->next.held = NULL;
    if (!s->holds) return;
    for (int j = 0; j < system->nrow; j++) {
        s->held[j] = x->recent[j] > 0.0 && !system->rows[j].is_bilateral;
        is_any = is_any || s->held[j];
    }
    if (!pcs_rows_any(system, is_any)) return;
    alpha_set_pass(s, x, h);
    const pcs_alpha_pass *p = &s->pass;
    double way = 0.5 * h * h * (2.0 * s->be - s->ga);
    for (int i = 0; i < system->nv; i++) s->drift[i] = way * (p->from_vd * p->vd[i] - p->from_a * p->a[i] - p->a[i]);
    s->next.held = s->held;
    s->next.drift = s->drift;
}

void pcs_alpha_predict(pcs_alpha *s, const pcs_state *x, int n, double h)
{
    alpha_set_pass(s, x, h);
    pcs_pool_cover(s->next.pool, n, alpha_predict_range, &s->pass);
}

PCS_WIDE static void alpha_correct_range(void *data, int range, int low, int high)
{
    const pcs_alpha_pass p = *(const pcs_alpha_pass *)data;
    (void)range;
    PCS_INDEPENDENT
    for (int i = low; i < high; i++) {
        p.d[i] *= p.vd_of_d;
        p.a_new[i] += p.a_of_vd * p.d[i];
    }
}

void pcs_alpha_correct(pcs_alpha *s, int n, double vd_of_d)
{
    pcs_alpha_pass pass = {
        .d = s->next.d, .a_new = s->next.a, .vd_of_d = vd_of_d, .a_of_vd = (1.0 - s->af) / (1.0 - s->am)
    };
    pcs_pool_cover(s->next.pool, n, alpha_correct_range, &pass);
}

static void alpha_finish_slice(void *data, int slice, int low, int high)
{
    const pcs_alpha_pass *p = data;
    pcs_next_sum(p->scheme, p->next, slice, low, high);
}

void pcs_alpha_set_passes(const pcs_scheme *self, pcs_alpha *s, const pcs_state *x, double h, pcs_step_problem *problem)
{
    alpha_set_pass(s, x, h);
    s->pass.scheme = self;
    pcs_next_await_sums(self, &s->next, x, false);
    problem->predict = alpha_predict_range;
    problem->finish = s->next.takes_sums ? alpha_finish_slice : NULL;
    problem->passes = &s->pass;
    problem->a = s->next.a;
    problem->vd_of_d = s->pass.vd_of_d;
    problem->a_of_vd = s->pass.a_of_vd;
}

void pcs_alpha_balance(pcs_scheme *self, const pcs_alpha *s, const pcs_state *x, double h, pcs_alpha_memory *now,
                       double impulse[3])
{
    pcs_system_resultant(self->system, pcs_at(x->t + h, s->next.q, s->next.v), now->resultant);
    if (s->lam != NULL) pcs_add_joint_resultant(self->system, s->lam, now->resultant);
    const pcs_alpha_memory *last = x->memory;
    double am = s->am, af = s->af, ga = s->ga;
    PCS_INDEPENDENT
    for (int k = 0; k < 3; k++) {
        double sum = (1.0 - af) * now->resultant[k] + af * last->resultant[k] - am * last->filtered[k];
        double filtered = sum / (1.0 - am);
        impulse[k] = h * ((1.0 - ga) * last->filtered[k] + ga * filtered);
        now->filtered[k] = filtered;
    }
}

void pcs_alpha_accept(pcs_alpha *s, pcs_state *x, const pcs_alpha_memory *now)
{
    double *a = x->history[PCS_ALPHA_A], *vd = x->history[PCS_ALPHA_VD];
    *(pcs_alpha_memory *)x->memory = *now;
    x->history[PCS_ALPHA_A] = s->next.a;
    x->history[PCS_ALPHA_VD] = s->next.d;
    s->next.a = a;
    s->next.d = vd;
}

// (x1 - x0) . A mix, with A mix in `image`.
static double alpha_product(const pcs_system *system, const pcs_matrix *A, const pcs_alpha *s, const double *x1,
                            const double *x0)
{
    pcs_matrix_multiply(A, s->mix, s->image);
    return pcs_change_dot(system, x1, x0, s->image);
}

// h v_ga . C v_ga; gives by how much dq . C v_ga exceeds it, which is the scheme's doing.
static double alpha_damping(pcs_scheme *self, pcs_alpha *s, const pcs_state *x, const double *v,
                            pcs_step_report *report)
{
    int n = self->system->nv;
    double loss = 0.0;
    if (!pcs_system_is_damped(self->system)) return 0.0;
    PCS_INDEPENDENT
    for (int i = 0; i < n; i++) s->mix[i] = (1.0 - s->ga) * x->v[i] + s->ga * v[i];
    double along = alpha_product(self->system, self->system->C, s, s->next.q, x->q);
    for (int i = 0; i < pcs_system_nown(self->system); i++) loss += s->mix[i] * s->image[i];
    pcs_system_sum(self->system, 1, &loss);
    report->damping_loss = report->h * loss;
    return along - report->damping_loss;
}

double pcs_alpha_book_joints(const pcs_scheme *self, const pcs_alpha *s, pcs_state *x, pcs_step_report *report)
{
    const pcs_system *system = self->system;
    const pcs_rows *G = system->G;
    double am = s->am, af = s->af, ga = s->ga, *force = x->row_history[PCS_ALPHA_FORCE];
    double *filtered = x->row_history[PCS_ALPHA_FILTERED], rest = 0.0;
    for (int j = 0; j < (s->lam == NULL ? 0 : system->nrow); j++) {
        pcs_row_report *row = &report->rows[j];
        if (!system->rows[j].is_bilateral) continue;
        double way = 0.0, now = ((1.0 - af) * s->lam[j] + af * force[j] - am * filtered[j]) / (1.0 - am);
        double mean = (1.0 - ga) * filtered[j] + ga * now, lam_ga = (1.0 - ga) * force[j] + ga * s->lam[j];
        for (int k = G->start[j]; k < G->start[j + 1]; k++)
            way += G->value[k] * (s->next.q[G->column[k]] - x->q[G->column[k]]);
        double speed = system->rows[j].is_driven ? s->next.speed_before[j] + s->next.speed[j] : 0.0;
        double work = -0.5 * report->h * mean * speed;
        row->force +=
            system->rotations.are_somewhere ? s->lam[j] : mean; // rows of rotations in space turn round and scale
        row->drive_work += work;
        report->external_work += work;
        rest += lam_ga * way - work;
        force[j] = s->lam[j];
        filtered[j] = now;
    }
    pcs_rows_sum(system, 1, &rest);
    return rest;
}

// U . M x = nu . G x + nu_t . T x
static double alpha_held_product(const pcs_system *system, const pcs_next *next, const double *x)
{
    double sum = 0.0;
    for (int j = 0; j < system->nrow; j++)
        if (next->nu[j] != 0.0) sum += next->nu[j] * pcs_rows_dot(system->G, j, x);
    for (int t = 0; t < system->ntangent; t++)
        if (next->nu_t[t] != 0.0) sum += next->nu_t[t] * pcs_rows_dot(system->T, t, x);
    pcs_rows_sum(system, 1, &sum);
    return sum;
}

static double alpha_numerical_loss(pcs_scheme *self, pcs_alpha *s, const pcs_state *x, double h)
{
    const pcs_system *system = self->system;
    const double *a0 = x->history[PCS_ALPHA_A], *vd0 = x->history[PCS_ALPHA_VD], *a = s->next.a, *vd = s->next.d;
    double ga = s->ga, spread = 2.0 * s->be - ga, loss = 0.0;
    int n = system->nv;
    if (ga != 0.5) loss = (ga - 0.5) * pcs_norm2_of_change(self, &s->next, system->K, x->q, s->next.q);
    if (spread != 0.0) {
        PCS_INDEPENDENT
        for (int i = 0; i < n; i++) s->mix[i] = (1.0 - ga) * a0[i] + ga * a[i];
        loss += 0.5 * h * h * spread * alpha_product(system, system->M, s, a, a0);
        if (s->next.held != NULL) loss += alpha_held_product(system, &s->next, s->mix);
    }
    if (s->am != 0.0 || s->af != 0.0) {
        PCS_INDEPENDENT
        for (int i = 0; i < n; i++) s->mix[i] = (1.0 - ga) * (vd0[i] - a0[i]) + ga * (vd[i] - a[i]);
        loss += alpha_product(system, system->M, s, s->next.q, x->q);
    }
    return loss;
}

double pcs_alpha_damping_work(const pcs_scheme *self, const pcs_alpha *s, const pcs_state *x, const double *v, double h)
{
    const pcs_ends ends = { .q = s->next.q, .v = v, .q0 = x->q, .v0 = x->v };
    return pcs_damping_work(self, &s->next, &ends, h, s->ga - (s->af - s->am));
}

void pcs_alpha_book(pcs_scheme *self, pcs_alpha *s, const pcs_state *x, const double *v, pcs_step_report *report)
{
    const pcs_system *system = self->system;
    double h = report->h;
    report->external_work += (1.0 - s->ga) * pcs_load_work(system, x->t, x->q, s->next.q) +
                             s->ga * pcs_load_work(system, x->t + h, x->q, s->next.q);
    if (!system->is_linear) { // the loss of the scheme is the remainder
        report->damping_loss = pcs_alpha_damping_work(self, s, x, v, h);
        return;
    }
    report->numerical_loss += alpha_numerical_loss(self, s, x, h) + alpha_damping(self, s, x, v, report);
}
