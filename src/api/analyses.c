// Equilibrium under loads, and modes of small vibrations, as handles that stand still.

#include "analysis/statics.h"
#include "api/handle.h"

#include <string.h>

// Sets the handle's state to the model at rest at q, and evaluates gaps and forces of its rows there.
static pcs_status analyses_stand(percuss *p, const pcs_analysis *on, const double *q, const pcs_statics *statics)
{
    pcs_system *system = on->system;
    double *zero, *gap;
    pcs_row_report *rows;
    PCS_TAKE(p->ctx, zero, system->nv, "a state at rest");
    PCS_TAKE(p->ctx, gap, system->nrow, "gaps");
    PCS_TAKE(p->ctx, rows, pcs_system_npoint(system), "gaps");
    p->still.q = q;
    p->still.v = zero;
    pcs_system_gaps(system, p->still, gap);
    for (int j = 0; j < system->nrow; j++) {
        rows[j].gap = gap[j];
        if (statics == NULL) continue;
        rows[j].force = rows[j].step_impulse = statics->force[j];
        rows[j].is_closed = statics->held[j] != 0;
        int ntangent = statics->tangent == NULL ? 0 : system->rows[j].ntangent;
        for (int t = 0; t < ntangent; t++) rows[j].tangent[t] = statics->tangent[system->rows[j].first_tangent + t];
    }
    pcs_system_press(system, p->still, rows);
    for (int j = system->nrow; j < pcs_system_npoint(system); j++) rows[j].step_impulse = rows[j].force;
    p->rows = rows;
    pcs_api_take_model(p, system, on->nprobe, on->probes);
    return PCS_OK;
}

static pcs_status analyses_balance(percuss *p, const pcs_analysis *on, const percuss_still_options *options, double *q,
                                   pcs_statics *out)
{
    pcs_statics_options how = on->statics;
    if (options->steps > 0) how.steps = options->steps;
    if (options->time != 0.0) how.time = options->time;
    PCS_TRY(pcs_statics_solve(on, &how, q, NULL, NULL, out));
    p->still = pcs_at_rest(how.time, q, NULL, out->factor); // a path by arc length may end anywhere
    return PCS_OK;
}

static pcs_status analyses_start(percuss *p, const percuss_source *source, pcs_analysis *on, double **q)
{
    pcs_source from = pcs_api_source(source);
    PCS_TRY(pcs_build_analysis_of(p->ctx, &from, on));
    PCS_TAKE(p->ctx, *q, on->system->nq, "a state at rest");
    memcpy(*q, on->start, (size_t)on->system->nq * sizeof **q);
    return PCS_OK;
}

static pcs_status analyses_statics(percuss *p, const percuss_source *source, const percuss_still_options *options)
{
    pcs_analysis on;
    pcs_statics statics;
    double *q;
    PCS_TRY(analyses_start(p, source, &on, &q));
    PCS_TRY(analyses_balance(p, &on, options, q, &statics));
    return analyses_stand(p, &on, q, &statics);
}

static pcs_status analyses_modes(percuss *p, const percuss_source *source, const percuss_still_options *options)
{
    pcs_analysis on;
    pcs_statics statics;
    double *q;
    pcs_modes_options how = { .count = options->count > 0 ? options->count : 10,
                              .is_whirl = options->is_whirl != 0,
                              .time = options->time };
    bool is_balanced = options->is_about_statics != 0;
    PCS_TRY(analyses_start(p, source, &on, &q));
    p->still = pcs_at(0.0, q, NULL);
    if (is_balanced) {
        PCS_TRY(analyses_balance(p, &on, options, q, &statics));
        how.q = q;
        how.held = statics.held;
        how.force = statics.force;
        how.load_factor = statics.factor;
    }
    PCS_TRY(pcs_modes_find(&on, &how, &p->modes));
    return analyses_stand(p, &on, q, is_balanced ? &statics : NULL);
}

typedef pcs_status analyses_kind(percuss *p, const percuss_source *source, const percuss_still_options *options);

static int analyses_run(analyses_kind *kind, const percuss_source *source, const percuss_still_options *options,
                        percuss **out)
{
    static const percuss_still_options none = { 0 };
    percuss *p = *out = pcs_api_create();
    if (p == NULL) return 1;
    if (source == NULL || (source->path == NULL && source->text == NULL))
        return pcs_api_refuse(p, "neither a path nor a text of a case is given");
    return pcs_api_answer(kind(p, source, options == NULL ? &none : options));
}

int percuss_statics(const percuss_source *source, const percuss_still_options *options, percuss **out)
{
    return analyses_run(analyses_statics, source, options, out);
}

int percuss_modes(const percuss_source *source, const percuss_still_options *options, percuss **out)
{
    return analyses_run(analyses_modes, source, options, out);
}

int percuss_mode_count(const percuss *p)
{
    return p == NULL || p->system == NULL ? 0 : p->modes.count;
}

percuss_mode percuss_mode_at(const percuss *p, int i)
{
    if (i < 0 || i >= percuss_mode_count(p)) return (percuss_mode){ 0 };
    const pcs_mode *m = &p->modes.modes[i];
    return (percuss_mode){ .frequency = m->w,
                           .damping = m->damping,
                           .residual = m->residual,
                           .kind = pcs_mode_kind_text(m->kind),
                           .name = m->name,
                           .re = m->re,
                           .im = m->im };
}
