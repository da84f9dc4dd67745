// Coulomb's law of the contacts, on tangential velocities evaluated anew from the state. Friction Lt that came with the
// impulse La, and the velocity that the law of the scheme is about,
//
//   |Lt| <= mu La,    xt = T v + e_t u,    xt = 0 inside the disc and against Lt on its edge
//   u   T_n v_n: restitution of the start (rule.h);  T v_n along the directions of the law: of the middle, and where
//       the rule has none;  T v before the impulses: of impacts, else 0
//
// are one equation: Lt = P(Lt - m xt), P the nearest point of the disc, for any mass m. What it is off by, over m, is a
// velocity: |xt| where friction is inside the disc, and the smaller of |xt| and mu La/m times the angle between Lt and
// -xt on its edge. Of schemes with several stages this is the last one; impulses summed over a step stay in the sum of
// the discs.
//
// Schemes that follow sticking and sliding by events report how a contact ends: T v = 0 where it sticks; and over a
// step without an impact friction takes energy from one that slides.

#include "sim/certify_data.h"

#include "step/projection.h"

#include <math.h>
#include <string.h>

// Tolerance relative to the largest velocity for the sign of friction work, which is exact to the scheme's order only.
static const double of_work = 1e-3;

static bool friction_has_rebound(const pcs_system *system)
{
    bool has = false;
    for (int j = 0; j < system->nrow; j++)
        has = has || (system->rows[j].ntangent > 0 && system->rows[j].tangent_restitution != 0.0);
    return pcs_rows_any(system, has); // ranks go back together
}

pcs_status pcs_certify_take_friction(pcs_context *ctx, pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    if (friction_has_rebound(system)) PCS_TAKE(ctx, self->rebound, system->ntangent, "the certificate");
    return PCS_OK;
}

// Evaluates T v before the last impulses of the step.
static void friction_go_back(pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    for (int j = 0; j < system->nrow; j++) {
        self->z[j] = self->report->rows[j].multiplier;
        for (int t = 0; t < system->rows[j].ntangent; t++)
            self->z_t[system->rows[j].first_tangent + t] = self->report->rows[j].last_tangent[t];
    }
    memcpy(self->b, self->x->v, (size_t)system->nv * sizeof *self->b);
    pcs_projection_push(self->scheme->solver, -1.0, self->z, self->z_t, self->b);
    pcs_rows_multiply(system->T, self->b, self->rebound);
}

void pcs_certify_find_rebound(pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    const certify_past *from = self->from;
    pcs_rate_kind kind = self->rule->rate;
    bool is_before = kind == PCS_RATE_BEFORE && pcs_certify_may_rebound(self);
    self->has_rebound = kind == PCS_RATE_BEFORE || from != NULL;
    if (self->rebound == NULL || !self->has_rebound) return;
    memset(self->rebound, 0, (size_t)system->ntangent * sizeof *self->rebound);
    if (is_before) friction_go_back(self);
    if (kind == PCS_RATE_BEFORE) return;
    if (kind == PCS_RATE_START) pcs_certify_aim(self, from->t, from->q);
    pcs_rows_multiply(kind == PCS_RATE_START ? self->T : system->T, from->v, self->rebound);
}

// Returns |Lt - P(Lt - m xt)|/m, m/s.
static double friction_defect(double limit, double mass, const double impulse[2], const double slip[2])
{
    double y[2] = { impulse[0] - mass * slip[0], impulse[1] - mass * slip[1] }, length = hypot(y[0], y[1]);
    double share = length > limit ? limit / length : 1.0;
    return hypot(impulse[0] - share * y[0], impulse[1] - share * y[1]) / mass;
}

// Checks that a sticking contact ends with zero slip, and that friction does not drive a sliding one: its work over the
// largest friction impulse mu P, m/s, must not be positive. That work is a quadrature, exact to the scheme's order.
static void friction_check_events(pcs_certifier *self, int row, double tolerance)
{
    const pcs_row_report *r = &self->report->rows[row];
    double slip = hypot(r->slip[0], r->slip[1]), most = self->scheme->system->rows[row].friction * r->step_impulse;
    if (r->is_gated && !r->slides) pcs_certify_note(self, CERTIFY_SLIP, slip, tolerance, row, -1);
    if (r->impulse != 0.0 || !(most > 0.0) || !r->slides) return;
    tolerance += of_work * self->speed + 0.5 * slip;
    pcs_certify_note(self, CERTIFY_SLIP, -r->friction_loss / most, tolerance, row, -1);
}

static void friction_check_slip(pcs_certifier *self, int row, double mass, double tolerance)
{
    const pcs_system *system = self->scheme->system;
    const pcs_row *law = &system->rows[row];
    const pcs_row_report *r = &self->report->rows[row];
    double slip[2] = { 0.0 }, impulse = hypot(r->last_tangent[0], r->last_tangent[1]);
    if (!(r->multiplier > 0.0) && impulse == 0.0) return;
    if (law->tangent_restitution != 0.0 && !self->has_rebound) return;
    for (int t = 0; t < law->ntangent; t++) {
        int k = law->first_tangent + t;
        slip[t] = pcs_rows_dot(system->T, k, self->x->v);
        if (self->rebound != NULL) slip[t] += law->tangent_restitution * self->rebound[k];
    }
    double limit = law->friction * pcs_max(r->multiplier, 0.0);
    double off = friction_defect(limit, mass, r->last_tangent, slip);
    pcs_certify_note(self, CERTIFY_SLIP, off, tolerance + PCS_ROUND_SUM * impulse / mass, row, -1);
}

void pcs_certify_friction(pcs_certifier *self, int row, double mass, double tolerance)
{
    const pcs_row_report *r = &self->report->rows[row];
    double friction = self->scheme->system->rows[row].friction;
    double last = friction * fabs(r->multiplier), all = friction * fabs(r->step_impulse);
    double beyond =
        pcs_max(hypot(r->last_tangent[0], r->last_tangent[1]) - last, hypot(r->tangent[0], r->tangent[1]) - all);
    pcs_certify_note(self, CERTIFY_CONE, beyond, mass * tolerance + PCS_ROUND_SUM * (last + all), row, -1);
    if (!pcs_certify_is_on(self, CERTIFY_SLIP)) return;
    if (self->rule->kind == PCS_RULE_NONE) friction_check_events(self, row, tolerance);
    else friction_check_slip(self, row, mass, tolerance);
}

void pcs_certify_soft_friction(pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    for (int j = system->nrow; j < pcs_system_npoint(system); j++) {
        const pcs_row_report *r = &self->report->rows[j];
        double limit = system->rows[j].friction * r->multiplier, beyond = hypot(r->last_tangent[0], r->last_tangent[1]);
        pcs_certify_note(self, CERTIFY_CONE, beyond - limit, PCS_ROUND_SUM * limit, j, -1);
    }
}
