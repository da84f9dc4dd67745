#include "step/past.h"

#include "core/loop.h"

#include <math.h>

enum { PIECES = PCS_PAST_ORDERS + 2, PAUSE = 16 };
_Static_assert(PIECES + 2 <= PCS_DAMPER_MEMORY, "room for the pieces of the past");

pcs_status pcs_past_create(pcs_step_solver *solver, int nforce, int first, pcs_past **out)
{
    pcs_past *self;
    const pcs_layout *layout = solver->system->layout;
    PCS_TAKE(solver->ctx, self, 1, "accelerations of earlier steps");
    self->n = solver->system->nv;
    self->nforce = nforce;
    size_t nrise = (size_t)PCS_PAST_ORDERS * (size_t)nforce;
    PCS_TAKE(solver->ctx, self->force_rise, nrise, "accelerations of earlier steps");
    solver->memory[first] = (pcs_memory){ .bytes = &self->head, .size = sizeof self->head };
    solver->memory[first + 1] = (pcs_memory){ .bytes = self->force_rise, .size = nrise * sizeof(double) };
    for (int k = 0; k < PCS_PAST_ORDERS; k++) {
        PCS_TAKE(solver->ctx, self->rise[k], self->n, "accelerations of earlier steps");
        pcs_memory *piece = &solver->memory[first + 2 + k];
        *piece = (pcs_memory){ .bytes = self->rise[k], .size = (size_t)self->n * sizeof(double) };
        if (layout == NULL) continue;
        piece->size = (size_t)layout->n * sizeof(double);
        piece->serial = layout->serial;
        piece->nown = layout->nown;
        piece->nall = layout->nglobal;
    }
    *out = self;
    return PCS_OK;
}

static int past_order(const pcs_past *self, double h)
{
    return self->head.h == h ? (int)self->head.order : 0;
}

void pcs_past_guess(const pcs_past *self, double h, double scale, const double *acceleration, double *d)
{
    int order = past_order(self, h);
    for (int i = 0; i < self->n; i++) d[i] = scale * acceleration[i];
    for (int k = 0; k < order; k++) {
        const double *rise = self->rise[k];
        PCS_INDEPENDENT
        for (int i = 0; i < self->n; i++) d[i] += scale * rise[i];
    }
}

void pcs_past_guess_forces(const pcs_past *self, double h, const double *last, double *force)
{
    int order = past_order(self, h);
    for (int i = 0; i < self->nforce; i++) {
        force[i] = last[i];
        for (int k = 0; k < order; k++) force[i] += self->force_rise[k * self->nforce + i];
    }
}

// Differences of the step take the place of those of the step before, of which the first `count` are known; gives the
// largest of each order.
static void past_renew(pcs_past *self, int count, const double *last, const double *d, double scale, double *largest)
{
    for (int k = 0; k < PCS_PAST_ORDERS; k++) largest[k] = 0.0;
    for (int i = 0; i < self->n; i++) {
        double rise = scale * d[i] - last[i];
        for (int k = 0; k < count; k++) {
            double before = self->rise[k][i];
            self->rise[k][i] = rise;
            largest[k] = fmax(largest[k], fabs(rise));
            rise -= before;
        }
        if (count == PCS_PAST_ORDERS) continue;
        self->rise[count][i] = rise;
        largest[count] = fmax(largest[count], fabs(rise));
    }
}

void pcs_past_learn(pcs_past *self, const pcs_system *system, double h, const double *last, const double *d,
                    double scale)
{
    double largest[PCS_PAST_ORDERS];
    if (self->head.h != h) pcs_past_forget(self);
    if (self->head.count < 0.0) {
        self->head.count += 1.0;
        return;
    }
    int count = (int)self->head.count, known = count < PCS_PAST_ORDERS ? count + 1 : count, best = 0;
    past_renew(self, count, last, d, scale, largest);
    for (int k = 0; k < known; k++) largest[k] = pcs_system_max(system, largest[k]);
    for (int k = 1; k < known; k++)
        if (largest[k] < largest[best]) best = k;
    bool is_rough = count == PCS_PAST_ORDERS && best == 0;
    self->head = (pcs_past_head){ .h = h, .count = is_rough ? -PAUSE : known, .order = best };
}

void pcs_past_learn_forces(pcs_past *self, const double *last, const double *force)
{
    for (int i = 0; i < self->nforce; i++) {
        double rise = force[i] - last[i];
        for (int k = 0; k < (int)self->head.count; k++) {
            double before = self->force_rise[k * self->nforce + i];
            self->force_rise[k * self->nforce + i] = rise;
            rise -= before;
        }
    }
}

void pcs_past_forget(pcs_past *self)
{
    self->head = (pcs_past_head){ 0 };
}
