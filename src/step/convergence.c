#include "step/convergence.h"

#include "core/rounding.h"

#include <math.h>

enum { STALLED_AFTER = 16 };

// Asked for; what round-off may leave of velocities, and of lengths and positions; a rate that promises an end.
static const double tight = 1e-14, loose = 1e-10, position_noise = 8.0 * DBL_EPSILON;
static const double quick = 0.1, slow = 0.5;

bool pcs_convergence_foresees(const pcs_step_solver *solver, const pcs_step_problem *p, double *gap)
{
    const pcs_system *system = solver->system;
    bool is_live = solver->form.gate_is_live;
    if (is_live) system->ops->gaps(system, p->q, gap);
    for (int j = 0; j < system->nrow; j++) {
        bool closes = is_live ? gap[j] <= solver->form.gate_tolerance : p->gate[j] != 0;
        if (!system->rows[j].is_bilateral && closes != (p->was_loaded[j] != 0)) return true;
    }
    return false;
}

pcs_convergence pcs_convergence_begin(const pcs_step_solver *solver, const double *v)
{
    return (pcs_convergence){ .system = solver->system,
                              .h = solver->form.h,
                              .scale = pcs_system_largest(solver->system, v),
                              .last = INFINITY,
                              .rate = 1.0 };
}

// Positions are rounded off however little moves: in equilibrium, or where joints hold all there is. An angle that has
// grown over many turns is rounded like its size.
static double convergence_noise(const pcs_convergence *c, const pcs_step_problem *p)
{
    double positions = fmax(PCS_ROUND_LENGTH * c->system->length, position_noise * pcs_system_largest(c->system, p->q));
    return fmax(loose * c->scale, positions / c->h) * (c->count > STALLED_AFTER ? 10.0 : 1.0);
}

void pcs_convergence_blame(const pcs_convergence *c, pcs_step_solver *solver, int equation)
{
    solver->bad_equation = equation;
    solver->change = c->last;
    solver->allowed = c->noise;
}

pcs_verdict pcs_convergence_judge(pcs_convergence *c, const pcs_step_problem *p, double change)
{
    // A body at rest has no velocity, but what its weight would give it in a step is rounded off all the same.
    c->scale = fmax(c->scale, fmax(pcs_system_largest(c->system, p->v), pcs_system_largest(c->system, p->d)));
    c->rate = c->count++ > 0 ? change / c->last : 1.0;
    c->last = change;
    if (c->system->is_linear) return PCS_SETTLED; // one linearisation is the whole problem
    // What is left after this change, when the next ones shrink as it did; or round-off, which does not shrink.
    if (change <= tight * c->scale || (c->rate < quick && c->rate * change <= tight * c->scale)) return PCS_SETTLED;
    c->noise = convergence_noise(c, p);
    c->is_at_noise = change <= c->noise && c->rate > slow;
    if (c->is_at_noise) return PCS_SETTLED;
    return c->count > 1 && c->rate > slow ? PCS_GROWING : PCS_SHRINKING;
}
