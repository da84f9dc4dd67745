// Contact results between two rows or frames of output.

#include "output/tally.h"

#include <math.h>

pcs_status pcs_tally_create(pcs_context *ctx, const pcs_view *view, pcs_tally *out)
{
    *out = (pcs_tally){ .nrow = view->system->nrow, .is_fresh = true };
    PCS_TAKE(ctx, out->rows, out->nrow, "contact results");
    return PCS_OK;
}

// Friction of the last step as a force: of its impulse the share that is no impact.
static void tally_friction(const pcs_row_report *from, int ntangent, pcs_tally_row *to)
{
    double share = from->step_impulse > 0.0 && isfinite(from->force) ? from->force / from->step_impulse : 0.0;
    for (int t = 0; t < ntangent; t++) to->tangent[t] = share * from->tangent[t];
    to->friction = ntangent == 2 ? hypot(to->tangent[0], to->tangent[1]) : to->tangent[0];
}

void pcs_tally_add(pcs_tally *tally, const pcs_view *view)
{
    tally->t = view->state->t;
    tally->step = view->state->step;
    for (int j = 0; j < tally->nrow; j++) {
        const pcs_row_report *from = &view->report->rows[j];
        pcs_tally_row *to = &tally->rows[j];
        double impulse = tally->is_fresh ? 0.0 : to->impulse, step_impulse = tally->is_fresh ? 0.0 : to->step_impulse;
        *to = (pcs_tally_row){ .gap = from->gap,
                               .rate = from->rate,
                               .force = from->force,
                               .impulse = impulse + from->impulse,
                               .step_impulse = step_impulse + from->step_impulse,
                               .is_closed = from->is_closed };
        tally_friction(from, view->system->rows[j].ntangent, to);
    }
    tally->is_fresh = false;
}

pcs_tally_row pcs_tally_sum(const pcs_tally *tally, int first, int count)
{
    if (count == 0) return (pcs_tally_row){ .gap = NAN, .rate = NAN };
    pcs_tally_row sum = tally->rows[first];
    for (const pcs_tally_row *r = tally->rows + first + 1; r < tally->rows + first + count; r++) {
        if (r->gap < sum.gap) {
            sum.gap = r->gap;
            sum.rate = r->rate;
        }
        sum.force += r->force;
        sum.friction += r->friction;
        sum.impulse += r->impulse;
        sum.step_impulse += r->step_impulse;
        sum.is_closed = sum.is_closed || r->is_closed;
    }
    return sum;
}
