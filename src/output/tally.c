// Contact results between two rows or frames of output.

#include "output/tally.h"

#include <math.h>
#include <string.h>

// Numbers of a contact that processes add up: those of a row from its rate to its friction loss.
enum { JOINED = (offsetof(pcs_tally_row, state) - offsetof(pcs_tally_row, rate)) / sizeof(double) };

pcs_status pcs_tally_create(pcs_context *ctx, const pcs_view *view, pcs_tally *out)
{
    *out = (pcs_tally){ .nrow = pcs_system_npoint(view->system), .is_fresh = true };
    PCS_TAKE(ctx, out->rows, out->nrow, "contact results");
    PCS_TAKE(ctx, out->sums, view->system->ncontact, "contact results");
    PCS_TAKE(ctx, out->work, JOINED * view->system->ncontact, "contact results");
    return PCS_OK;
}

// Computes friction of the last step as a force, N: the part of its impulse that is no impact, per time.
static void tally_friction(const pcs_row_report *from, int ntangent, pcs_tally_row *to)
{
    double share = from->step_impulse > 0.0 && isfinite(from->force) ? from->force / from->step_impulse : 0.0;
    for (int t = 0; t < ntangent; t++) to->tangent[t] = share * from->tangent[t];
    to->friction = ntangent == 2 ? hypot(to->tangent[0], to->tangent[1]) : to->tangent[0];
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

static bool tally_is_closed(const pcs_view *view, int row)
{
    const pcs_row_report *r = &view->report->rows[row];
    bool is_round_off = r->step_impulse > 0.0 && r->step_impulse <= pcs_impulse_rounding(view, row);
    return r->is_closed && !(is_round_off && r->gap > 0.0);
}

int pcs_row_state(const pcs_view *view, int row, double speed)
{
    const pcs_row_report *r = &view->report->rows[row];
    if (!tally_is_closed(view, row)) return PCS_ROW_OPEN;
    // The law of the end of the step where it pressed, else all of the step.
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
        tally_friction(from, view->system->rows[j].ntangent, to);
    }
    tally->is_fresh = false;
}

void pcs_tally_carry(pcs_tally *tally, pcs_carrier *c)
{
    pcs_carry_flags(c, "is_fresh", &tally->is_fresh, 1);
    pcs_carry_words(c, "tally_t", &tally->t, 1);
    pcs_carry_words(c, "tally_speed", &tally->speed, 1);
    pcs_carry_words(c, "tally_step", &tally->step, 1);
    size_t size = sizeof *tally->rows;
    pcs_carry_rows(c, "tally_rows", &(pcs_carry_table){ tally->rows, (size_t)tally->nrow, size, size, true });
}

// Sums up rows first .. first + count - 1 as one contact.
static pcs_tally_row tally_sum(const pcs_tally *tally, int first, int count)
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
        sum.friction_loss += r->friction_loss;
        sum.impulse += r->impulse;
        sum.step_impulse += r->step_impulse;
        if (r->state > sum.state) sum.state = r->state;
    }
    return sum;
}

// Sums up a contact; a joint has, in place of the smallest gap, its largest error with opposite sign.
static pcs_tally_row tally_contact(const pcs_tally *tally, const pcs_contact_info *c)
{
    pcs_tally_row sum = tally_sum(tally, c->first_row, c->nrow);
    double misfit = 0.0;
    for (int j = c->first_row; j < c->first_row + c->nrow; j++)
        if (fabs(tally->rows[j].gap) > misfit) misfit = fabs(tally->rows[j].gap);
    if (c->is_joint) sum.gap = -misfit;
    return sum;
}

// Finds the smallest gap of all processes, and the rate of the first row, in the order of one process, that has it.
static void tally_join_gaps(pcs_tally *tally, const pcs_system *system)
{
    double *x = tally->work, *mine = x + 2 * system->ncontact, *first = x + 3 * system->ncontact;
    for (int c = 0; c < system->ncontact; c++) {
        x[2 * c] = system->contacts[c].nrow > 0 ? -tally->sums[c].gap : -INFINITY;
        x[2 * c + 1] = (double)tally->sums[c].state;
    }
    pcs_rows_max_each(system, 2 * system->ncontact, x);
    for (int c = 0; c < system->ncontact; c++) {
        pcs_tally_row *sum = &tally->sums[c];
        bool is_here = system->contacts[c].nrow > 0 && sum->gap == -x[2 * c];
        int row = system->contacts[c].first_row;
        while (is_here && !system->contacts[c].is_joint && tally->rows[row].gap != sum->gap) row++;
        sum->gap = -x[2 * c];
        sum->state = (long)x[2 * c + 1];
        mine[c] = first[c] = is_here ? -(double)system->row_number[row] : -(double)INFINITY;
    }
    pcs_rows_max_each(system, system->ncontact, first);
    for (int c = 0; c < system->ncontact; c++)
        if (mine[c] != first[c]) tally->sums[c].rate = 0.0;
}

static void tally_join_sums(pcs_tally *tally, const pcs_system *system)
{
    const size_t first = offsetof(pcs_tally_row, rate), bytes = JOINED * sizeof(double);
    for (int c = 0; c < system->ncontact; c++)
        memcpy(tally->work + JOINED * c, (const char *)&tally->sums[c] + first, bytes);
    pcs_rows_sum(system, JOINED * system->ncontact, tally->work);
    for (int c = 0; c < system->ncontact; c++) memcpy((char *)&tally->sums[c] + first, tally->work + JOINED * c, bytes);
}

void pcs_tally_join(pcs_tally *tally, const pcs_system *system)
{
    double nactive = 0.0;
    tally->min_gap = INFINITY;
    for (int c = 0; c < system->ncontact; c++) tally->sums[c] = tally_contact(tally, &system->contacts[c]);
    for (int i = 0; i < pcs_contact_rows(system); i++) {
        const pcs_tally_row *row = &tally->rows[pcs_contact_row(system, i)];
        if (row->gap < tally->min_gap) tally->min_gap = row->gap;
        nactive += row->state != PCS_ROW_OPEN;
    }
    if (pcs_rows_are_spread(system)) {
        tally_join_gaps(tally, system);
        tally_join_sums(tally, system);
        pcs_rows_sum(system, 1, &nactive);
        for (int c = 0; c < system->ncontact; c++)
            if (!system->contacts[c].is_joint) tally->min_gap = fmin(tally->min_gap, tally->sums[c].gap);
    }
    tally->nactive = (long)nactive;
}
