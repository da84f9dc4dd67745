// Progress of the run, through the view's `show`: a bar on a terminal, a line every few seconds otherwise.

#include "core/clock.h"
#include "output/observer.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BAR_WIDTH = 16, TEXT_ROOM = 256, LINE_WIDTH = 79 };

static const double terminal_interval = 0.1; // s between two displays
static const double plain_interval = 5.0;

typedef struct progress_data {
    double start, shown; // s, clock at the start and at the last display
    long first_step;     // first step of this process
    double first_share;
} progress_data;

static void progress_format_time(double seconds, size_t room, char *text)
{
    if (seconds > 99.0 * 3600.0) snprintf(text, room, "days");
    else if (seconds >= 3600.0) snprintf(text, room, "%d:%02d h", (int)seconds / 3600, (int)seconds / 60 % 60);
    else if (seconds >= 60.0) snprintf(text, room, "%d:%02d min", (int)seconds / 60, (int)seconds % 60);
    else if (seconds >= 10.0) snprintf(text, room, "%.0f s", seconds);
    else snprintf(text, room, "%.2g s", seconds);
}

// Returns the fraction of the run that is done. Round-off does not keep it below a whole percent.
static double progress_share(const pcs_view *view)
{
    double length = view->end_time - view->start_time, done = view->state->t - view->start_time;
    double share = length > 0.0 ? done / length * (1.0 + 4.0 * DBL_EPSILON) : 1.0;
    return fmin(fmax(share, 0.0), 1.0);
}

// Shows a line shorter than the narrowest terminal: "[=====> ] 45 % t = 0.675 s E = 497.54 J ... 12 s left".
static void progress_show(const pcs_view *view, const progress_data *d, double now, bool is_last)
{
    double share = progress_share(view), spent = now - d->start;
    const pcs_measure *e = &view->ledger->now;
    char bar[BAR_WIDTH + 5] = "", steps[64] = "", when[24], text[TEXT_ROOM];
    if (view->is_terminal) {
        int full = (int)(share * BAR_WIDTH);
        memcpy(bar, "\r[", 2);
        memset(bar + 2, ' ', BAR_WIDTH);
        memset(bar + 2, '=', (size_t)full);
        if (full < BAR_WIDTH) bar[2 + full] = '>';
        memcpy(bar + BAR_WIDTH + 2, "] ", 3);
    } else {
        int used = snprintf(steps, sizeof steps, "  step %ld", view->state->step);
        if (!view->is_controlled) snprintf(steps + used, sizeof steps - (size_t)used, " of %ld", view->nstep);
    }
    double done = share - d->first_share, steps_done = (double)(view->state->step - d->first_step);
    bool has_estimate = !is_last && done > 0.0;
    progress_format_time(has_estimate ? spent * (1.0 - share) / done : spent, sizeof when, when);
    int used =
        snprintf(text, sizeof text, "%s%3.0f %%  t = %.4g s%s  E = %.5g J  %.2g steps/s", bar, floor(100.0 * share),
                 view->state->t, steps, pcs_measure_energy(e), spent > 0.0 ? steps_done / spent : 0.0);
    const char *tail = is_last ? " in all" : " left";
    if (is_last || has_estimate) used += snprintf(text + used, sizeof text - (size_t)used, "  %s%s", when, tail);
    // Overwrites the end of a longer text with blanks.
    while (view->is_terminal && used < LINE_WIDTH) text[used++] = ' ';
    if (view->is_terminal) used = LINE_WIDTH;
    if (!view->is_terminal || is_last) text[used++] = '\n';
    text[used] = '\0';
    view->show(view->show_user, text);
}

static pcs_status progress_open(pcs_observer *self)
{
    progress_data *d = self->data;
    d->start = d->shown = pcs_clock();
    d->first_step = self->view->state->step;
    d->first_share = progress_share(self->view);
    return PCS_OK;
}

static pcs_status progress_step(pcs_observer *self)
{
    progress_data *d = self->data;
    const pcs_view *view = self->view;
    if (view->show == NULL) return PCS_OK;
    double now = pcs_clock();
    if (now - d->shown < (view->is_terminal ? terminal_interval : plain_interval)) return PCS_OK;
    d->shown = now;
    progress_show(view, d, now, false);
    return PCS_OK;
}

static pcs_status progress_close(pcs_observer *self)
{
    if (self->view->show != NULL) progress_show(self->view, self->data, pcs_clock(), true);
    return PCS_OK;
}

const pcs_observer_ops pcs_observer_progress = {
    .name = "progress",
    .summary = "how far the run is, on the terminal",
    .data_size = sizeof(progress_data),
    .is_default = false,
    .open = progress_open,
    .step = progress_step,
    .close = progress_close,
};
