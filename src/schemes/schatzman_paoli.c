// Schatzman-Paoli scheme: central differences with the contact law on a mean of two positions.
// Paoli, Schatzman: A numerical scheme for impact problems, SIAM J. Numer. Anal. 40 (2002); as in Acary's lecture
// slides on numerical methods for nonsmooth mechanical systems, eqs. 42-43.
//
//   M (q_{n+1} - 2 q_n + q_{n-1}) = h^2 f(t_n, q_n, v_n) + h G^T La,     v_n = (q_n - q_{n-1})/h
//   0 <= g(z) _|_ La >= 0,   z = (q_{n+1} + e q_{n-1})/(1 + e)
//
// In velocities of the steps, with the contact law made linear about z without contact, M and G at q_n:
//   v_{n+1} = v_n + h a + X La,   q_{n+1} = q_n + h v_{n+1}
//   0 <= G (v_{n+1} - v_free) + (1 + e) g(z_free)/h _|_ La >= 0
// so that every row may have an e of its own (the papers have one for all). The first step starts from the velocity
// v_0 - (h/2) a; where the step changes, from v_n + ((h_n - h)/2) a. The velocity of the state is that of the last
// step: it belongs to its middle. Steps of varying size, as step control takes them, are not for this law.

#include "core/loop.h"
#include "schemes/explicit.h"

#include "step/projection.h"

typedef struct paoli_memory {
    double last_h; // s, of the step before; 0: there is none
} paoli_memory;

typedef struct paoli {
    pcs_explicit base;
    double *back, *mean; // [nv] q_{n-1} and z without contact
} paoli;

static const pcs_option paoli_options[] = { { 0 } };

static pcs_status paoli_setup(pcs_scheme *self)
{
    paoli *s = self->data;
    PCS_TAKE_EACH(self->ctx, self->system->nv, "positions of the step", double, &s->back, &s->mean);
    return pcs_explicit_setup(self);
}

// Computes velocity and position without contact, and the position before.
static void paoli_advance(pcs_scheme *self, const pcs_state *x, double h)
{
    paoli *s = self->data;
    const double *q = x->q, *v = x->v, *a = s->base.next.a;
    double *q_new = s->base.next.q, *v_new = s->base.next.v, *back = s->back;
    double last_h = ((const paoli_memory *)x->memory)->last_h;
    pcs_free_acceleration(self, x->t, x->q, x->v, s->base.next.a);
    PCS_INDEPENDENT
    for (int i = 0; i < self->system->nv; i++) {
        v_new[i] = v[i] + 0.5 * (last_h + h) * a[i];
        q_new[i] = q[i] + h * v_new[i];
        back[i] = q[i] - h * (v_new[i] - h * a[i]);
    }
}

// Sets target = (1 + e) g(z)/h - G v, evaluating the gaps once for every e that occurs.
static void paoli_targets(pcs_scheme *self, const pcs_state *x, double h)
{
    paoli *s = self->data;
    pcs_system *system = self->system;
    pcs_next *next = &s->base.next;
    double last = -1.0;
    self->solver->t = x->t + h;         // of driven rows: all others have no motion of their own
    pcs_next_targets(self, next, x->v); // for the tangential rows
    for (int j = 0; j < system->nrow; j++) {
        double e = pcs_restitution(&system->rows[j], 0.0);
        if (e != last) {
            for (int i = 0; i < system->nv; i++) s->mean[i] = (next->q[i] + e * s->back[i]) / (1.0 + e);
            pcs_system_gaps(system, pcs_at(self->solver->t, s->mean, NULL), next->gap);
        }
        last = e;
        next->target[j] = (1.0 + e) * next->gap[j] / h - pcs_system_rate(system, j, next->v);
        next->gate[j] = 1;
    }
}

// Sets the speeds of driven rows to their mean velocities over the steps, m/s.
static void paoli_find_speeds(pcs_scheme *self, const pcs_state *x)
{
    pcs_next *next = &((paoli *)self->data)->base.next;
    for (int j = 0; j < self->system->nrow; j++) {
        bool is_driven = self->system->rows[j].is_driven;
        next->speed_before[j] = is_driven ? -pcs_system_rate(self->system, j, x->v) : 0.0;
        next->speed[j] = is_driven ? -pcs_system_rate(self->system, j, next->v) : 0.0;
    }
}

// Books the work of driven rows: the part that changes the velocity, m (r^2 - r_n^2)/2; the part that balances forces,
// m G a, which the impulse holds as at the start of the step, with the mean of both ends along the increment; and the
// part that balances impulses of other rows, such as friction on a driven body: the rest of its own.
static void paoli_book_drives(pcs_scheme *self, const pcs_state *x, pcs_step_report *report)
{
    pcs_next *next = &((paoli *)self->data)->base.next;
    const pcs_system *system = self->system;
    double h = report->h, mean = 0.5 * (((const paoli_memory *)x->memory)->last_h + h);
    if (system->row_set.ndriven == 0) return;
    pcs_free_acceleration(self, x->t + h, next->q, next->v, next->d);
    for (int j = 0; j < system->nrow; j++) {
        pcs_row_report *row = &report->rows[j];
        double mass = self->solver->effective_mass[j], start = pcs_system_rate(system, j, x->v), rate = row->rate;
        double pull = pcs_system_rate(system, j, next->a);
        double balance = -0.5 * (pull + pcs_system_rate(system, j, next->d));
        double rest = row->step_impulse - mass * (rate - start - mean * pull);
        if (!system->rows[j].is_driven) continue;
        report->external_work -= row->drive_work;
        row->drive_work = mass * (0.5 * (rate * rate - start * start) + h * balance * rate) + rest * rate;
        report->external_work += row->drive_work;
    }
}

static pcs_status paoli_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    paoli *s = self->data;
    paoli_memory *memory = x->memory;
    pcs_next *next = &s->base.next;
    PCS_TRY(pcs_explicit_begin(self, x, h, report));
    paoli_advance(self, x, h);
    paoli_targets(self, x, h);
    report->outcome = pcs_explicit_impose(self, &s->base, report);
    if (report->outcome != PCS_CONVERGED) return PCS_OK;
    pcs_projection_push(self->solver, h, next->la, next->la_t, next->q);
    if (!pcs_next_measure(self, x, next, report)) return PCS_OK;

    paoli_find_speeds(self, x);
    pcs_explicit_report_stage(self, x, pcs_at(x->t, x->q, x->v), 0.5 * (memory->last_h + h), report);
    paoli_book_drives(self, x, report);
    pcs_next_accept(self, next, x, report);
    memory->last_h = h;
    return PCS_OK;
}

static const char *paoli_refuses(const pcs_system *system, const void *params)
{
    bool varies = false;
    (void)params;
    for (int j = 0; j < system->nrow; j++) {
        const pcs_law_ops *law = system->rows[j].law.ops;
        varies = varies || (law != NULL && law->restitution != NULL && law != &pcs_law_newton);
    }
    return pcs_rows_any(system, varies)
               ? "an impact takes two or three of its steps, over which a restitution that depends on the speed changes"
               : NULL;
}

const pcs_scheme_ops pcs_scheme_schatzman_paoli = {
    .name = "schatzman_paoli",
    .summary = "central differences, contact law on a mean of two positions; velocities belong to the middle of steps",
    .options = paoli_options,
    .data_size = sizeof(paoli),
    .rule = { .kind = PCS_RULE_CENTRAL, .move = 1.0 },
    .takes = PCS_TAKES_MATERIALS | PCS_TAKES_DEALT_ROWS,
    .memory_size = sizeof(paoli_memory),
    .needs_equal_steps = "a shorter step would push out at too high a velocity what a longer one has penetrated",
    .refuses = paoli_refuses,
    .setup = paoli_setup,
    .start = pcs_explicit_start_plainly,
    .step = paoli_step,
};
