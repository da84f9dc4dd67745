// Friction of contacts with force laws: displacements of their points over a step, and what they keep from step to
// step.

#include "fe/laws.h"

#include <math.h>
#include <string.h>

// Numbers in one process of what points keep, and, of the first rank, that there was a commit.
static pcs_status friction_number(pcs_system *self, const fe_laws *laws, pcs_memory *out)
{
    enum { words = sizeof(fe_grip) / sizeof(double) };
    int *serial, count = words * laws->nrow, nall = words * self->ncompliant_all;
    PCS_TAKE(self->ctx, serial, count + 1, "friction of force laws");
    for (int i = 0; i < count; i++)
        serial[i] = words * (self->row_number[self->nrow + i / words] - self->nrow_all) + i % words;
    serial[count] = nall;
    out->serial = serial;
    out->nown = self->row_comm->rank == 0 ? count + 1 : count;
    out->nall = nall + 1;
    return PCS_OK;
}

// Allocates the state to serialize: friction of all points, which every rank knows or has some of, and the positions at
// the last commit, distributed over the ranks like q.
static pcs_status friction_make_memory(pcs_system *self, const fe_laws *laws, fe_law_work *work)
{
    const pcs_layout *layout = self->layout;
    size_t grips = (size_t)laws->nrow * (sizeof(fe_grip) / sizeof(double)), n = (size_t)self->nq;
    PCS_TAKE(self->ctx, work->memory, grips + 1 + n, "friction of force laws");
    work->grips = (fe_grip *)work->memory;
    work->is_committed = work->memory + grips;
    work->origin = work->is_committed + 1;
    pcs_memory here = { .bytes = work->memory, .size = (grips + 1) * sizeof(double) };
    pcs_memory origin = { .bytes = work->origin, .size = n * sizeof(double) };
    if (self->row_comm != NULL) PCS_TRY(friction_number(self, laws, &here));
    if (layout != NULL) {
        origin.size = (size_t)layout->n * sizeof(double);
        origin.serial = layout->serial;
        origin.nown = layout->nown;
        origin.nall = layout->nglobal;
    }
    self->memory[self->nmemory++] = here;
    self->memory[self->nmemory++] = origin;
    return PCS_OK;
}

pcs_status pcs_fe_make_law_friction(pcs_system *self, const fe_laws *laws)
{
    fe_law_work *work = ((fe_work *)self->work)->laws;
    if (!laws->rubs) return PCS_OK;
    PCS_TRY(friction_make_memory(self, laws, work));
    PCS_TAKE(self->ctx, work->way, self->nv, "friction of force laws");
    PCS_TAKE(self->ctx, work->moved, self->nv, "friction of force laws");
    PCS_TAKE(self->ctx, work->ahead_slide, laws->nrow, "friction of force laws");
    PCS_TAKE(self->ctx, work->behind_slide, laws->nrow, "friction of force laws");
    PCS_TAKE(self->ctx, work->rub, laws->nrow, "friction of force laws");
    const fe_law_contact *first = laws->contacts;
    while (first->ntangent == 0) first++;
    self->soft_friction = pcs_fe_culprit(self->ctx, "contacts", self->contacts[first->contact].name);
    return PCS_OK;
}

void pcs_fe_look_at_slides(const pcs_system *self, const double *q, double *way)
{
    const fe_law_work *work = ((const fe_work *)self->work)->laws;
    if (*work->is_committed == 0.0) memset(way, 0, (size_t)self->nv * sizeof *way);
    else pcs_difference(&self->rotations, work->origin, q, way);
}

// The force of the last commit along the tangents, of the same size.
static void friction_turn(const fe_grip *grip, const pcs_row_state *state, int ntangent, double force[2])
{
    double kept = 0.0;
    for (int t = 0; t < ntangent; t++) force[t] = pcs_dot3(state->across[t], grip->force);
    kept = hypot(force[0], force[1]);
    if (kept > 0.0)
        for (int t = 0; t < ntangent; t++) force[t] *= pcs_norm3(grip->force) / kept;
}

fe_slide pcs_fe_law_slide(const pcs_system *self, int point, const pcs_row_state *state, const pcs_rows *T,
                          const double *way)
{
    const fe_law_work *work = ((const fe_work *)self->work)->laws;
    const fe_grip *grip = &work->grips[point];
    int first = pcs_fe_law_tangent(self, point), count = pcs_fe_law_row(self, point)->ntangent;
    fe_slide x = { .part = 1.0, .start.stiffness = grip->stiffness };
    for (int t = 0; t < count; t++) x.way[t] = pcs_rows_dot(T, first + t, way);
    friction_turn(grip, state, count, x.start.force);
    double depth = -work->gap[point];
    if (grip->gap > 0.0 && depth > 0.0) {
        x.part = depth / (depth + grip->gap);
        x.by_gap = grip->gap / ((depth + grip->gap) * (depth + grip->gap));
    }
    return x;
}

pcs_rub pcs_fe_law_rub(const pcs_system *self, int point, const pcs_force_state *force)
{
    const fe_law_work *work = ((const fe_work *)self->work)->laws;
    const pcs_row *row = pcs_fe_law_row(self, point);
    if (row->ntangent == 0) return (pcs_rub){ 0 };
    fe_slide x = pcs_fe_law_slide(self, point, &work->states[point], work->T, work->way);
    const double s[2] = { x.part * x.way[0], x.part * x.way[1] };
    return pcs_rub_at(&x.start, row->friction, force, s);
}
