// Steps that get a frame.
//
// A frame is due every so many steps, within the windows. Near changes of the contacts only: a due frame is held until
// some contact point has opened or closed, and counts then; the next ones count at once.

#include "output/schedule.h"

#include <math.h>

enum { USUAL_FRAMES = 100 };

const char *pcs_schedule_check(const void *params, const char **option)
{
    const pcs_frames_params *p = params;
    *option = "window";
    if (p->window.count != 2 * p->window.nrow) return "must be [from, to] or a list of such pairs";
    for (int i = 0; i < p->window.count; i += 2)
        if (!(p->window.value[i] <= p->window.value[i + 1])) return "a window ends before it begins";
    return NULL;
}

// Part of the run that windows cover, as if they did not overlap.
static double schedule_share(const pcs_frames_params *params, const pcs_view *view)
{
    double sum = 0.0;
    for (int i = 0; i < params->window.count; i += 2) {
        double from = fmax(params->window.value[i], 0.0), to = fmin(params->window.value[i + 1], view->end_time);
        sum += fmax(to - from, 0.0);
    }
    return params->window.count == 0 || !(view->end_time > 0.0) ? 1.0 : fmin(sum / view->end_time, 1.0);
}

long pcs_frames_every(const pcs_frames_params *params, const pcs_view *view)
{
    if (params->every >= 0) return params->every;
    long count = (long)((double)view->nstep * schedule_share(params, view)) / USUAL_FRAMES;
    return count > 1 ? count : 1;
}

pcs_status pcs_schedule_create(pcs_context *ctx, const pcs_frames_params *params, const pcs_view *view,
                               pcs_schedule *out)
{
    *out = (pcs_schedule){ .params = params, .last = -1 };
    if (params->around_contacts > 0) out->nrow = pcs_contact_rows(view->system);
    out->every = pcs_frames_every(params, view);
    PCS_TAKE(ctx, out->was_closed, out->nrow, "states of the contacts");
    for (int j = 0; j < out->nrow; j++)
        out->was_closed[j] = view->report->rows[pcs_contact_row(view->system, j)].is_closed;
    return PCS_OK;
}

void pcs_schedule_carry(pcs_schedule *s, pcs_carrier *c)
{
    pcs_carry_words(c, "last_frame", &s->last, 1);
    pcs_carry_words(c, "frames_left", &s->left, 1);
    pcs_carry_flags(c, "has_change", &s->has_change, 1);
    if (s->params->around_contacts > 0)
        pcs_carry_rows(c, "was_closed", &(pcs_carry_table){ s->was_closed, (size_t)s->nrow, 1, 1, true });
    else pcs_carry_flags(c, "was_closed", s->was_closed, 0);
}

// Times are sums of steps: round-off must not put a frame out of its window.
static bool schedule_is_inside(const pcs_schedule *s, const pcs_view *view)
{
    double t = view->state->t, slack = 1e-6 * view->step_size;
    bool is_inside = s->params->window.count == 0;
    for (int i = 0; i < s->params->window.count; i += 2)
        is_inside =
            is_inside || (t >= s->params->window.value[i] - slack && t <= s->params->window.value[i + 1] + slack);
    return is_inside;
}

static void schedule_look_at_contacts(pcs_schedule *s, const pcs_view *view)
{
    for (int j = 0; j < s->nrow; j++) {
        bool is_closed = view->report->rows[pcs_contact_row(view->system, j)].is_closed;
        s->has_change = s->has_change || is_closed != s->was_closed[j];
        s->was_closed[j] = is_closed;
    }
    if (s->params->around_contacts > 0) s->has_change = pcs_rows_any(view->system, s->has_change);
}

pcs_frame_use pcs_schedule_step(pcs_schedule *s, const pcs_view *view)
{
    if (s->every == 0) return PCS_FRAME_NONE;
    schedule_look_at_contacts(s, view);
    if (view->state->step % s->every != 0) return PCS_FRAME_NONE;
    bool is_inside = schedule_is_inside(s, view), is_limited = s->params->around_contacts > 0;
    if (s->has_change) s->left = s->params->around_contacts;
    s->has_change = false;
    if (is_limited && s->left == 0) return is_inside ? PCS_FRAME_HELD : PCS_FRAME_NONE;
    if (is_limited) s->left--;
    if (!is_inside) return PCS_FRAME_NONE;
    s->last = view->state->step;
    return PCS_FRAME_KEPT;
}

pcs_frame_use pcs_schedule_end(pcs_schedule *s, const pcs_view *view)
{
    if (s->every == 0 || s->last == view->state->step || !schedule_is_inside(s, view)) return PCS_FRAME_NONE;
    s->last = view->state->step;
    return PCS_FRAME_KEPT;
}
