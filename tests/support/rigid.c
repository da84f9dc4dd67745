#define _POSIX_C_SOURCE 200809L

#include "rigid.h"
#include "build/build.h"

#include "check.h"
#include "core/context.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

rigid_run rigid_open(const char *name, const char *assignments)
{
    rigid_run run = { 0 };
    char path[RIGID_TEXT], text[RIGID_SETS * RIGID_TEXT];
    const char *set[RIGID_SETS];
    int count = 0;
    snprintf(path, sizeof path, "cases/%s", name);
    snprintf(text, sizeof text, "%s", assignments);
    for (char *rest = NULL, *item = strtok_r(text, ";", &rest); item != NULL; item = strtok_r(NULL, ";", &rest)) {
        CHECK(count < RIGID_SETS);
        set[count++] = item;
    }
    CHECK_OK(NULL, pcs_context_create(&run.ctx));
    CHECK_OK(run.ctx, pcs_build_sim_from(run.ctx, path, count, set, &run.sim));
    CHECK_OK(run.ctx, pcs_sim_start(run.sim));
    return run;
}

void rigid_step(rigid_run *run)
{
    CHECK_OK(run->ctx, pcs_sim_step(run->sim));
}

void rigid_close(rigid_run *run)
{
    pcs_context_destroy(&run->ctx);
    *run = (rigid_run){ 0 };
}

// Gap velocities at the directions of the state, not where the scheme left them.
static void rigid_watch_rows(pcs_sim *sim, rigid_trace *trace)
{
    pcs_system *system = sim->system;
    double gap[16];
    CHECK(system->nrow <= 16);
    pcs_system_gaps(system, pcs_at(sim->state.t, sim->state.q, NULL), gap);
    bool has_joints = false;
    for (int j = 0; j < system->nrow; j++) {
        has_joints = has_joints || system->rows[j].is_bilateral;
        if (system->rows[j].is_bilateral) trace->largest_gap = fmax(trace->largest_gap, fabs(gap[j]));
    }
    if (!has_joints || !system->row_set.vary) return;
    // The scheme finds the directions as it left them.
    double kept[256];
    size_t bytes = (size_t)system->G->start[system->nrow] * sizeof(double);
    CHECK(bytes <= sizeof kept);
    memcpy(kept, system->G->value, bytes);
    double kept_tangent[256];
    size_t bytes_t = system->T == NULL ? 0 : (size_t)system->T->start[system->ntangent] * sizeof(double);
    CHECK(bytes_t <= sizeof kept_tangent);
    if (bytes_t > 0) memcpy(kept_tangent, system->T->value, bytes_t);
    pcs_system_aim(system, pcs_at(sim->state.t, sim->state.q, NULL));
    for (int j = 0; j < system->nrow; j++)
        if (system->rows[j].is_bilateral)
            trace->largest_rate = fmax(trace->largest_rate, fabs(pcs_system_rate(system, j, sim->state.v)));
    memcpy(system->G->value, kept, bytes);
    if (bytes_t > 0) memcpy(system->T->value, kept_tangent, bytes_t);
}

static void rigid_keep(const pcs_sim *sim, rigid_trace *trace, double impulse)
{
    size_t bytes = (size_t)trace->n * sizeof(double);
    trace->t[trace->count] = sim->state.t;
    trace->impulse[trace->count] = impulse;
    memcpy(trace->q + trace->count * trace->n, sim->state.q, bytes);
    memcpy(trace->v + trace->count * trace->n, sim->state.v, bytes);
    trace->count++;
}

rigid_trace rigid_run_all(const char *name, const char *assignments, long every)
{
    rigid_run run = rigid_open(name, assignments);
    pcs_sim *sim = run.sim;
    rigid_trace trace = { .n = sim->system->nq };
    size_t room = (size_t)(sim->nstep / every) + 2, n = (size_t)trace.n;
    trace.t = pcs_scratch(NULL, room, sizeof(double));
    trace.impulse = pcs_scratch(NULL, room, sizeof(double));
    trace.q = pcs_scratch(NULL, room * n, sizeof(double));
    trace.v = pcs_scratch(NULL, room * n, sizeof(double));
    double impulse = sim->system->nrow > 0 ? sim->report.rows[0].step_impulse : 0.0;
    rigid_keep(sim, &trace, impulse);
    while (sim->state.step < sim->nstep) {
        rigid_step(&run);
        bool has_impact = false;
        for (int j = 0; j < sim->system->nrow; j++) has_impact = has_impact || sim->report.rows[j].is_impact;
        trace.impacts += has_impact;
        if (sim->system->nrow > 0) impulse += sim->report.rows[0].step_impulse;
        rigid_watch_rows(sim, &trace);
        if (sim->state.step % every == 0) rigid_keep(sim, &trace, impulse);
    }
    rigid_close(&run);
    return trace;
}

void rigid_free(rigid_trace *trace)
{
    pcs_scratch_free(trace->t);
    pcs_scratch_free(trace->impulse);
    pcs_scratch_free(trace->q);
    pcs_scratch_free(trace->v);
    *trace = (rigid_trace){ 0 };
}

static long rigid_ratio(const rigid_trace *a, const rigid_trace *b)
{
    long ratio = (b->count - 1) / (a->count - 1);
    CHECK(ratio >= 1 && ratio * (a->count - 1) == b->count - 1);
    CHECK_NEAR(a->t[a->count - 1], b->t[b->count - 1], 1e-12);
    return ratio;
}

// By power iteration on the Gram matrix.
double rigid_spectral_distance(const rigid_trace *a, const rigid_trace *b, int columns)
{
    double gram[3][3] = { 0 }, x[3] = { 1.0, 1.0, 1.0 }, y[3], value = 0.0;
    CHECK(columns <= 3 && columns <= a->n && columns <= b->n);
    long ratio = rigid_ratio(a, b);
    for (long k = 0; k < a->count; k++)
        for (int i = 0; i < columns; i++)
            for (int j = 0; j < columns; j++)
                gram[i][j] += (a->q[k * a->n + i] - b->q[k * ratio * b->n + i]) *
                              (a->q[k * a->n + j] - b->q[k * ratio * b->n + j]);
    for (int round = 0; round < 500; round++) {
        value = 0.0;
        for (int i = 0; i < columns; i++) {
            y[i] = 0.0;
            for (int j = 0; j < columns; j++) y[i] += gram[i][j] * x[j];
            value = fmax(value, fabs(y[i]));
        }
        if (value == 0.0) return 0.0;
        for (int i = 0; i < columns; i++) x[i] = y[i] / value;
    }
    return sqrt(value);
}

double rigid_largest_distance(const rigid_trace *a, const rigid_trace *b, int columns, bool of_velocities)
{
    double largest = 0.0;
    long ratio = rigid_ratio(a, b);
    const double *x = of_velocities ? a->v : a->q, *y = of_velocities ? b->v : b->q;
    for (long k = 0; k < a->count; k++)
        for (int i = 0; i < columns; i++) largest = fmax(largest, fabs(x[k * a->n + i] - y[k * ratio * b->n + i]));
    return largest;
}

double rigid_slope(int count, const double *step, const double *error)
{
    double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (int i = 0; i < count; i++) {
        double x = log(step[i]), y = log(error[i]);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}
