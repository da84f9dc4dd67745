// Gaps of joints, and of contacts that stay closed, against the size of the deformation: a joint that opens, or a
// contact that sinks, by as much as the model deforms, gives displacements and forces of another model, however small
// that is against the size of the model.
//
//   joints      misfit = |g|, angles times the size of the model
//   contacts    misfit = -g - s - d,   s = penetration that impacts explain: what it was, and 2 h times the speed of
//               approach, when an impulse sets in; d = drift of curved paths. Nothing moves a contact that is held.
//
//   driven      misfit = |g| - d,   d = what the mean of the speeds at both ends of a step misses of the way, which the
//               law of such rows takes away by a quarter in the next steps
//
// The deformation is the largest difference of displacements along an axis, or of turns, up to a radian, times the size
// of the model, between nodes, supports included; so far, as states pass through rest. Of one rigid body and for driven
// rows, it is the motion itself. Schemes that hold gaps by a law of their own have that judged to round-off instead.

#include "sim/certify_data.h"

#include "core/comm.h"
#include "step/sums.h"

#include <math.h>

enum { AXES = 7 };           // displacements, turns, and coordinates of a closed form
enum { STEPS_BETWEEN = 16 }; // at which the deformation is taken: it is needed before a misfit shows, and costs a pass

// Returns the largest relative displacement of the state, m; *motion gets the largest displacement.
static double misfit_deformation(const pcs_certifier *self, double *motion)
{
    const pcs_system *system = self->scheme->system;
    double end[2 * AXES], span = 0.0; // largest and, negative, smallest
    for (int a = 0; a < AXES; a++) end[a] = end[AXES + a] = system->scale.holds[a] ? 0.0 : -INFINITY;
    for (int i = 0; i < pcs_system_nown(system); i++) {
        int a = system->scale.axis[i];
        double x = self->x->q[i] * (system->arms == NULL ? 1.0 : system->arms[i]);
        if (a >= 3 && a < 6) x = pcs_min(pcs_max(x, -system->length), system->length); // the rest is motion
        end[a] = pcs_max(end[a], x);
        end[AXES + a] = pcs_max(end[AXES + a], -x);
    }
    if (system->layout != NULL) system->layout->comm->max(system->layout->comm, 2 * AXES, end);
    *motion = 0.0;
    for (int a = 0; a < AXES; a++) {
        if (end[a] == -INFINITY) continue;
        *motion = pcs_max(*motion, pcs_max(end[a], end[AXES + a]));
        span = pcs_max(span, end[a] + end[AXES + a]);
    }
    return span > PCS_ROUND_LENGTH * *motion ? span : *motion;
}

// Returns the misfit of a contact in this step, m; records the penetration that its impact explains in `sunk`.
static double misfit_of_contact(pcs_certifier *self, int row)
{
    certify_rows *kept = &self->rows;
    double depth = -self->gap[row], before = pcs_max(0.0, -kept->gap[row]), h = self->report->h;
    double approach = pcs_max(0.0, -kept->rate[row]);
    if (depth <= 0.0) kept->sunk[row] = 0.0;
    if (!(self->report->rows[row].step_impulse > 0.0) || depth <= 0.0) return 0.0;
    if (!(kept->impulse[row] > 0.0) || h == 0.0) {
        double explained = h == 0.0 ? depth : before + 2.0 * h * approach;
        kept->sunk[row] = pcs_max(kept->sunk[row], pcs_min(depth, explained));
    }
    return depth - kept->sunk[row] - kept->drift[row];
}

void pcs_certify_find_misfit(pcs_certifier *self, int row)
{
    const pcs_system *system = self->scheme->system;
    const pcs_row *law = &system->rows[row];
    double size = fabs(self->gap[row]) * (law->is_angle ? system->length : 1.0);
    double misfit = law->is_bilateral ? size - self->rows.overlap[row] : misfit_of_contact(self, row);
    if (law->is_bilateral && self->report->h == 0.0) self->rows.overlap[row] = size;
    self->misfit[row] = misfit - 1e3 * pcs_gap_tie(system, row, self->x->q);
}

// Checks that driven rotations are below a radian per step of the case: steps cut a circle into chords, and smaller
// ones that replace such a step follow what it has missed. Leaves in `drive` the motions at the ends of this step.
static void misfit_check_drives(pcs_certifier *self)
{
    pcs_system *system = self->scheme->system;
    double t = self->x->t, h = self->report->h, step = self->is_controlled ? h : self->scheme->step;
    double start = pcs_min(t - h, pcs_max(t - step, 0.0)); // of the step of the case that ends here
    if (system->row_set.ndriven == 0 || !(h > 0.0)) return;
    pcs_system_drives(system, start, self->drive[0], self->drive[1]);
    pcs_system_drives(system, t, self->drive[2], self->drive[3]);
    for (int j = 0; j < system->nrow && !self->report->is_joined; j++)
        if (system->rows[j].is_driven && system->rows[j].is_angle)
            pcs_certify_note(self, CERTIFY_TURN, fabs(self->drive[2][j] - self->drive[0][j]), 0.9, j, -1);
    pcs_system_drives(system, t - h, self->drive[0], self->drive[1]);
}

// Subtracts from the errors of driven rows the displacement that their speeds at the ends of steps do not give.
static void misfit_explain_drives(pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    double h = self->report->h, after = isfinite(self->rule->move) ? self->rule->move : 0.5;
    double left = 1.0 - 0.25 * h / pcs_max(h, self->scheme->step);
    for (int j = 0; j < system->nrow; j++) {
        if (!system->rows[j].is_driven) continue;
        double mean = (1.0 - after) * self->drive[1][j] + after * self->drive[3][j];
        double missed = fabs(self->drive[2][j] - self->drive[0][j] - h * mean);
        double size = system->rows[j].is_angle ? system->length : 1.0;
        self->rows.drift[j] = left * self->rows.drift[j] + 2.0 * size * missed;
        self->misfit[j] -= self->rows.drift[j];
    }
}

void pcs_certify_misfits(pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    certify_memory *now = &self->now;
    double worst = 0.0, motion = 0.0;
    misfit_check_drives(self);
    if (!pcs_certify_is_on(self, CERTIFY_MISFIT)) return;
    if (system->row_set.ndriven > 0 && self->report->h > 0.0) misfit_explain_drives(self);
    for (int j = 0; j < system->nrow; j++) worst = pcs_max(worst, self->misfit[j]);
    if (self->comm != NULL) worst = pcs_all_max(self->comm, worst);
    if (!(worst > 0.0) && self->x->step % STEPS_BETWEEN != 0) return;
    now->deformation = pcs_max(now->deformation, misfit_deformation(self, &motion));
    if (self->report->h == 0.0) return; // what a run starts with is the case's
    for (int j = 0; j < system->nrow; j++) {
        double scale = system->rows[j].is_driven ? pcs_max(motion, now->deformation) : now->deformation;
        pcs_certify_note(self, CERTIFY_MISFIT, self->misfit[j], 0.1 * scale, j, -1);
    }
}
