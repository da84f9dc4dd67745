// Contact results between two rows or frames of output.

#include "output/tally.h"

#include <math.h>

pcs_status pcs_tally_create(pcs_context *ctx, const pcs_view *view, pcs_tally *out)
{
    *out = (pcs_tally){ .nrow = pcs_system_npoint(view->system), .is_fresh = true };
    PCS_TAKE(ctx, out->rows, out->nrow, "contact results");
    PCS_TAKE(ctx, out->sums, view->system->ncontact, "contact results");
    int nall = pcs_system_nrow(view->system) + pcs_system_ncompliant(view->system);
    const int *number = pcs_rows_are_distributed(view->system) ? view->system->row_number : NULL;
    return pcs_collector_create(ctx, out->nrow, number, nall, sizeof *out->rows / sizeof(double), &out->collector);
}

double pcs_impulse_rounding(const pcs_view *view, int row)
{
    if (view->effective_mass == NULL || (view->system->ncompliant > 0 && row >= view->system->nrow)) return 0.0;
    return PCS_ROUND_VELOCITY * view->effective_mass[row] * view->state->largest_rate;
}

double pcs_model_speed(const pcs_view *view)
{
    double mass = view->system->mass, kinetic = view->report->measure.kinetic;
    return mass > 0.0 && kinetic > 0.0 ? sqrt(2.0 * kinetic / mass) : 0.0;
}

int pcs_row_state(const pcs_view *view, int row, double speed)
{
    const pcs_row_report *r = &view->report->rows[row];
    bool is_round_off = r->step_impulse > 0.0 && r->step_impulse <= pcs_impulse_rounding(view, row);
    if (!r->is_closed || (is_round_off && r->gap > 0.0)) return PCS_ROW_OPEN;
    // Takes the law of the end of the step where it pressed, else all of the step.
    bool presses = r->multiplier > 0.0;
    double normal = presses ? r->multiplier : r->step_impulse;
    const double *tangent = presses ? r->last_tangent : r->tangent;
    double limit = (1.0 - PCS_ROUND_VELOCITY) * view->system->rows[row].friction * normal;
    if (hypot(tangent[0], tangent[1]) < limit) return PCS_ROW_CLOSED;
    double slip = hypot(r->slip[0], r->slip[1]);
    return slip > PCS_ROUND_VELOCITY * fmax(speed, view->state->largest_rate) ? PCS_ROW_SLIDES : PCS_ROW_CLOSED;
}

void pcs_tally_add(pcs_tally *tally, const pcs_view *view)
{
    tally->t = view->state->t;
    tally->step = view->state->step;
    tally->speed = fmax(tally->speed, pcs_model_speed(view));
    for (int j = 0; j < tally->nrow; j++) {
        const pcs_row_report *from = &view->report->rows[j];
        pcs_tally_row *to = &tally->rows[j];
        double friction_loss = to->friction_loss + from->friction_loss;
        double impulse = tally->is_fresh ? 0.0 : to->impulse, step_impulse = tally->is_fresh ? 0.0 : to->step_impulse;
        *to = (pcs_tally_row){ .gap = from->gap,
                               .rate = from->rate,
                               .force = from->force,
                               .impulse = impulse + from->impulse,
                               .step_impulse = step_impulse + from->step_impulse,
                               .friction_loss = friction_loss,
                               .state = pcs_row_state(view, j, tally->speed) };
        // Friction of the step as a force, N: the part of its impulse that is no impact, per time.
        double share = from->step_impulse > 0.0 && isfinite(from->force) ? from->force / from->step_impulse : 0.0;
        int ntangent = view->system->rows[j].ntangent;
        for (int t = 0; t < ntangent; t++) to->tangent[t] = share * from->tangent[t];
        to->friction = ntangent == 2 ? hypot(to->tangent[0], to->tangent[1]) : to->tangent[0];
    }
    tally->is_fresh = false;
}

void pcs_tally_serialize(pcs_tally *tally, pcs_archive *c)
{
    pcs_archive_flags(c, "is_fresh", &tally->is_fresh, 1);
    pcs_archive_words(c, "tally_t", &tally->t, 1);
    pcs_archive_words(c, "tally_speed", &tally->speed, 1);
    pcs_archive_words(c, "tally_step", &tally->step, 1);
    size_t size = sizeof *tally->rows;
    pcs_archive_rows(c, "tally_rows", &(pcs_archive_table){ tally->rows, (size_t)tally->nrow, size, size, true });
}

// Sums up a contact; a joint has, in place of the smallest gap, its largest error with opposite sign.
static pcs_tally_row tally_contact(const pcs_tally_row *rows, const pcs_contact_info *c)
{
    if (c->nall == 0) return (pcs_tally_row){ .gap = c->is_joint ? -0.0 : NAN, .rate = NAN };
    pcs_tally_row sum = rows[c->first_all];
    if (c->is_joint) sum.gap = -fabs(sum.gap);
    for (const pcs_tally_row *r = rows + c->first_all + 1; r < rows + c->first_all + c->nall; r++) {
        double gap = c->is_joint ? -fabs(r->gap) : r->gap;
        if (gap < sum.gap) {
            sum.gap = gap;
            sum.rate = r->rate;
        }
        sum.force += r->force;
        sum.friction += r->friction;
        sum.friction_loss += r->friction_loss;
        sum.impulse += r->impulse;
        sum.step_impulse += r->step_impulse;
        if (r->state > sum.state) sum.state = r->state;
    }
    return sum;
}

const pcs_tally_row *pcs_tally_join(pcs_tally *tally, const pcs_system *system)
{
    const pcs_tally_row *rows = (const void *)pcs_collect(&tally->collector, sizeof *rows / 8, &tally->rows->gap);
    tally->min_gap = NAN;
    tally->nactive = 0;
    for (int c = 0; c < system->ncontact && rows != NULL; c++) {
        const pcs_contact_info *info = &system->contacts[c];
        tally->sums[c] = tally_contact(rows, info);
        int npoint = info->is_joint ? 0 : info->nall;
        for (int i = 0; i < npoint; i++) {
            const pcs_tally_row *row = &rows[info->first_all + i];
            if (isnan(tally->min_gap)) tally->min_gap = INFINITY;
            if (row->gap < tally->min_gap) tally->min_gap = row->gap;
            tally->nactive += row->state != PCS_ROW_OPEN;
        }
    }
    return rows;
}
