#include "support/watch.h"
#include "build/build.h"

#include "support/check.h"

#include "core/context.h"

#include <math.h>

// The system's functions take no user data, so that the counter is found through the functions themselves: they are the
// first member that the system points to.
static void watch_force(const pcs_system *self, pcs_instant at, double *f)
{
    watch *w = (watch *)((char *)self->ops - offsetof(watch, counting));
    w->nforce += w->is_stepping;
    w->ops->force(self, at, f);
}

static pcs_status watch_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    watch *w = (watch *)((char *)self->ops - offsetof(watch, stepping));
    w->is_stepping = true;
    pcs_status status = w->scheme_ops->start(self, x, report);
    w->is_stepping = false;
    return status;
}

static pcs_status watch_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    watch *w = (watch *)((char *)self->ops - offsetof(watch, stepping));
    w->is_stepping = true;
    pcs_status status = w->scheme_ops->step(self, x, h, report);
    w->is_stepping = false;
    return status;
}

watch *watch_open(const char *path, const char *const *set)
{
    int nset = 0;
    watch *w = pcs_scratch(NULL, 1, sizeof *w);
    CHECK(w != NULL);
    *w = (watch){ 0 };
    while (set != NULL && set[nset] != NULL) nset++;
    CHECK_OK(NULL, pcs_context_create(&w->ctx));
    CHECK_OK(w->ctx, pcs_build_sim_from(w->ctx, path, nset, set, &w->sim));
    w->ops = w->sim->system->ops;
    w->counting = *w->ops;
    w->counting.force = watch_force;
    w->sim->system->ops = &w->counting;
    w->scheme_ops = w->sim->scheme->ops;
    w->stepping = *w->scheme_ops;
    w->stepping.start = watch_start;
    w->stepping.step = watch_step;
    w->sim->scheme->ops = &w->stepping;
    CHECK_OK(w->ctx, pcs_sim_start(w->sim));
    return w;
}

void watch_close(watch **w)
{
    pcs_context_destroy(&(*w)->ctx);
    pcs_scratch_free(*w);
    *w = NULL;
}

double watch_exact_ball(double t)
{
    double start = 1.0, flight = 1.0;
    if (t < 1.0) return 1.0 - t * t;
    if (t >= 3.0) return 0.0;
    for (; flight > 0.0 && t >= start + flight; flight *= 0.5) start += flight;
    return (t - start) * (flight - (t - start));
}

double watch_exact_oscillator(double t)
{
    const double pi = 3.14159265358979323846;
    if (t < 0.25) return cos(2.0 * pi * t);
    double arc = floor((t - 0.25) / 0.5);
    return pow(0.5, arc + 1.0) * sin(2.0 * pi * (t - 0.25 - 0.5 * arc));
}

watch_errors watch_measure(const char *path, const char *const *set, double (*exact)(double t))
{
    watch *w = watch_open(path, set);
    watch_errors errors = { 0 };
    while (!pcs_sim_is_done(w->sim)) {
        double before = w->sim->state.t;
        CHECK_OK(w->ctx, pcs_sim_step(w->sim));
        double distance = fabs(w->sim->state.q[0] - exact(w->sim->state.t));
        errors.l1 += distance * (w->sim->state.t - before);
        errors.max = fmax(errors.max, distance);
    }
    errors.nstep = w->sim->state.step;
    errors.attempts = w->sim->view.attempts;
    errors.rejections = w->sim->view.rejections;
    errors.nforce = w->nforce;
    watch_close(&w);
    return errors;
}
