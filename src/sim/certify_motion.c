// Equations of motion over a step, each of them, from forces, masses and directions evaluated anew.
//
// A rule (certify_rules.c) states a step as  M e = b,  e a difference of velocities that known accelerations have been
// taken from and b the impulses of smooth forces and rows; where M varies, b at several places,  e = sum M(q_k)^-1 b_k.
// The residual r = M e - b has to vanish in every equation, up to
//
//   tol_i = sum_j (|M_ij| + h |C_ij| + h^2 |K_ij|) (1e-10 V_j) + 64 eps (sum_j |M_ij| (|v_n,j| + |v_j|)
//           + h |f_n,i| + h |f_i| + sum of the impulses) + 256 eps h sum_j |K_ij| Q_j
//   V_j = sqrt(2 E / M_jj),   Q_j = |q_n,j| + |q_j| + L sqrt(m / M_jj)
//
// The first part is what an iteration that ends at 1e-10 of the velocities leaves over, the second round-off of sums,
// the third round-off of positions in stiff forces. C and K are left out for explicit schemes, which evaluate the same
// forces to the last bit; where the velocity of a stage is taken from a way over h, its round-off Q_j eps/h comes in.
// E is the largest energy so far, L and m are size and mass of the model: V and Q have the units of their equation.
// Positions are held against the rule likewise, M e = b with lengths in place of velocities; numbers that add up are
// exact to |q_n| + |q|, rotations in space to Q.
//
// Momentum in sum: 1e-11 of the momenta that enter, 1e-12 of the forces inside over the step, which cancel in it, and
// what the equations, each within its own tolerance, have left over in this step and, through filters, in the last
// ones. The sum of forces inside is at most sqrt(2 S k n), S the strain energy, k the largest stiffness, n the number
// of equations.

#include "core/rounding.h"
#include "sim/certify_data.h"

#include "core/dense.h"
#include "step/projection.h"
#include "step/sums.h"

#include <math.h>
#include <string.h>

// A report of several steps says nothing about where the last one began.
void pcs_certify_prepare(pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    const pcs_state *x = self->x;
    certify_past *from = &self->past[self->now.past];
    double h = self->report->h;
    if (!(h > 0.0) || self->report->is_joined) return;
    if (!(fabs(x->t - from->t - h) <= 1e-6 * h)) return;
    self->from = from;
    if (!from->has_force) system->ops->force(system, pcs_at(from->t, from->q, from->v), from->f);
    from->has_force = true;
    system->ops->force(system, pcs_at(from->t + h, x->q, x->v), self->f);
    self->has_force = true;
    pcs_difference(&system->rotations, from->q, x->q, self->way);
}

void pcs_certify_motion(pcs_certifier *self)
{
    pcs_system *system = self->scheme->system;
    if (!pcs_certify_is_on(self, CERTIFY_MOTION)) return;
    pcs_certify_rule(self);
    // Resets what the system caches of its rows to the end of the step.
    if (system->row_set.vary) pcs_system_gaps(system, pcs_at(self->x->t, self->x->q, NULL), self->gap);
}

void pcs_certify_momentum(pcs_certifier *self)
{
    const pcs_step_report *report = self->report;
    double defect = 0.0;
    // Springs with a force at rest may have less energy than there.
    double strain = pcs_max(fabs(self->now.measure.strain), fabs(report->measure.strain));
    double size = self->survey.size + self->scheme->system->mass * self->speed;
    for (int k = 0; k < 3; k++) {
        double expected = self->now.momentum[k] + report->smooth_impulse[k] + self->survey.momentum[k];
        double off = fabs(report->measure.free_momentum[k] - expected);
        defect = pcs_larger(defect, off);
        size += fabs(report->smooth_impulse[k]);
        self->now.momentum[k] = report->measure.free_momentum[k];
    }
    if (isnan(defect)) defect = INFINITY;
    if (self->from != NULL || !self->iterates) self->now.last_residual = self->residual;
    pcs_certify_fade(&self->now.residual, self->now.last_residual);
    double noise = PCS_ROUND_VELOCITY * size, left = 4.0 * self->now.residual;
    if (!pcs_certify_is_news(self, CERTIFY_MOMENTUM, defect, noise + left)) return;
    double inside = report->h * sqrt(2.0 * strain * self->stiffness);
    pcs_certify_note(self, CERTIFY_MOMENTUM, defect, noise + PCS_ROUND_FORCE * inside + left, -1, -1);
}
