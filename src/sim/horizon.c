// Runs the neighbours of a run and compares their probes.

#include "sim/horizon.h"

#include "case/case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES = 4096, NEIGHBOURS = 2 };
static const double GROWN = 0.01;  // of the range of a probe: difference that ends its horizon
static const double FIRST = 0.001; // of the range: the probe is not judged if it differs by more at the first sample

struct pcs_horizon_run {
    pcs_horizon found;
    pcs_horizon_build *build;
    void *user;
    double kinetic;    // J, largest so far
    double fastest[2]; // m/s and rad/s, of all equations so far
    long stride;       // steps between samples
    long count;        // samples so far
    double *t;         // [SAMPLES] s
    double *value;     // [SAMPLES][nprobe]
    double *last;      // [nprobe] difference of a neighbour at the last sample, of the range
};

// Drops every other sample.
static void horizon_thin(struct pcs_horizon_run *r, size_t nprobe)
{
    for (size_t k = 0; k < SAMPLES / 2; k++) {
        r->t[k] = r->t[2 * k];
        memmove(r->value + k * nprobe, r->value + 2 * k * nprobe, nprobe * sizeof *r->value);
    }
    r->count = SAMPLES / 2;
    r->stride *= 2;
}

static void horizon_keep(pcs_sim *sim)
{
    struct pcs_horizon_run *r = sim->horizon;
    size_t nprobe = (size_t)sim->nprobe;
    bool is_first = r->count == 0, is_due = sim->state.step % r->stride == 0;
    r->kinetic = fmax(r->kinetic, sim->report.measure.kinetic);
    const bool *rotates = sim->system->scale.is_angle;
    for (int i = 0; i < sim->system->nv; i++)
        r->fastest[rotates[i]] = fmax(r->fastest[rotates[i]], fabs(sim->state.v[i]));
    if (is_due && r->count == SAMPLES) horizon_thin(r, nprobe);
    for (size_t k = 0; k < nprobe; k++) {
        pcs_horizon_probe *probe = &r->found.probes[k];
        double x = pcs_state_probe(&sim->state, sim->system, &sim->probes[k]);
        probe->low = is_first ? x : fmin(probe->low, x);
        probe->high = is_first ? x : fmax(probe->high, x);
        if (is_due) r->value[(size_t)r->count * nprobe + k] = x;
    }
    if (is_due) r->t[r->count++] = sim->state.t;
}

// Compares a neighbour with a sample. A difference counts only if it is as large at the sample before, since an impact
// one step later changes all of a velocity for that step.
static void horizon_compare(struct pcs_horizon_run *r, const pcs_sim *other, long sample)
{
    const double *value = r->value + (size_t)sample * (size_t)other->nprobe;
    for (int k = 0; k < other->nprobe; k++) {
        pcs_horizon_probe *probe = &r->found.probes[k];
        double x = pcs_state_probe(&other->state, other->system, &other->probes[k]);
        double part = fabs(x - value[k]) / (probe->high - probe->low);
        if (sample <= 1 && !(part <= FIRST)) probe->is_judged = false;
        double lasting = sample > 0 ? fmin(part, r->last[k]) : 0.0;
        if (lasting > GROWN) probe->time = fmin(probe->time, r->t[sample - 1]);
        probe->largest = fmax(probe->largest, lasting);
        r->last[k] = part;
    }
}

// Advances a neighbour, in the same steps, until all samples are compared. Returns the time of the last one.
static double horizon_follow(pcs_sim *sim, pcs_sim *other, pcs_status *status)
{
    struct pcs_horizon_run *r = sim->horizon;
    long sample = 0;
    *status = pcs_sim_start(other);
    while (*status == PCS_OK) {
        if (other->state.step == sample * r->stride) horizon_compare(r, other, sample++);
        bool is_stopped = sim->stop_request != NULL && *sim->stop_request != 0;
        if (sample == r->count || pcs_sim_is_done(other) || is_stopped) break;
        *status = pcs_sim_step(other);
    }
    return sample > 0 ? r->t[sample - 1] : sim->start_time;
}

// Judges the probes that move by more than round-off of the motion of the model.
static void horizon_begin(const pcs_sim *sim)
{
    struct pcs_horizon_run *r = sim->horizon;
    double length = PCS_ROUND_LENGTH * sim->system->length;
    // In the order of PCS_PROBE_...; fields have any unit.
    const double noise[PCS_PROBE_FIELD + 1] = { length, length, PCS_ROUND_VELOCITY * r->fastest[0], PCS_ROUND_LENGTH,
                                                PCS_ROUND_VELOCITY * r->fastest[1] };
    for (int k = 0; k < sim->nprobe; k++) {
        pcs_horizon_probe *probe = &r->found.probes[k];
        probe->is_judged = GROWN * (probe->high - probe->low) > noise[sim->probes[k].quantity];
        probe->largest = 0.0;
        probe->time = INFINITY;
    }
    r->found.energy = r->found.size * r->found.size * r->kinetic;
    r->found.compared = r->t[r->count - 1];
    r->found.time = INFINITY;
}

// Returns true if the kinetic energy exceeds the round-off of the energy that contacts remove in each step.
static bool horizon_moves(const pcs_sim *sim)
{
    double noise = PCS_ROUND_VELOCITY * sim->state.largest_rate;
    return sim->horizon->kinetic > 0.5 * sim->system->mass * noise * noise;
}

static void horizon_find(pcs_sim *sim)
{
    struct pcs_horizon_run *r = sim->horizon;
    bool moves = horizon_moves(sim), is_judged = false;
    horizon_begin(sim);
    if (!moves) r->found.compared = sim->start_time;
    int count = moves ? NEIGHBOURS : 0;
    for (int i = 1; i <= count; i++) {
        pcs_context *ctx = NULL;
        pcs_sim *other = NULL;
        double reached = sim->start_time;
        pcs_status status = r->build(r->user, &(pcs_perturbation){ r->found.energy, i }, &ctx, &other);
        if (status == PCS_OK) reached = horizon_follow(sim, other, &status);
        if (status != PCS_OK)
            snprintf(r->found.reason, sizeof r->found.reason, "%s", ctx == NULL ? "out of memory" : pcs_message(ctx));
        r->found.compared = fmin(r->found.compared, reached);
        pcs_context_destroy(&ctx);
    }
    for (int k = 0; k < sim->nprobe; k++) {
        pcs_horizon_probe *probe = &r->found.probes[k];
        probe->is_judged = probe->is_judged && (isfinite(probe->time) || r->found.compared > sim->start_time);
        is_judged = is_judged || probe->is_judged;
        if (!probe->is_judged) probe->time = INFINITY;
        r->found.time = fmin(r->found.time, probe->time);
    }
    const char *why = "no probe moves by more than 1000 times the perturbation";
    if (!(r->found.compared > sim->start_time)) why = moves ? "the run was stopped" : "nothing moves";
    if (!is_judged && r->found.reason[0] == '\0') snprintf(r->found.reason, sizeof r->found.reason, "%s", why);
    sim->view.horizon = &r->found;
}

static void horizon_refuse(pcs_sim *sim, const char *path, const char *text)
{
    pcs_case_error_at(sim->input, pcs_case_find(sim->input, path), NULL, "%s", text);
}

pcs_status pcs_horizon_create(pcs_sim *sim, double size, pcs_horizon_build *build, void *user)
{
    size_t nprobe = (size_t)sim->nprobe;
    struct pcs_horizon_run *r = NULL;
    bool has_summary = false;
    for (int i = 0; i < sim->nobserver; i++)
        has_summary = has_summary || strcmp(sim->observers[i].ops->name, "summary") == 0;
    if (nprobe == 0) horizon_refuse(sim, "output.probes", "--perturb compares probes, and output.probes has none");
    if (sim->perturbation.energy > 0.0)
        horizon_refuse(sim, "perturbation",
                       "--perturb adds its own perturbation: leave 'perturbation' out of the case");
    if (!has_summary) horizon_refuse(sim, "output.summary", "--perturb writes to the summary: output.summary is false");
    if (sim->view.is_controlled)
        horizon_refuse(sim, "time.control", "--perturb compares runs of equal steps: leave 'control' out");
    PCS_TRY(pcs_case_finish(sim->input));
    if (sim->system->layout != NULL)
        return pcs_fail(sim->ctx, PCS_UNSUPPORTED, "a horizon is found in one process only");
    PCS_TAKE(sim->ctx, r, 1, "the horizon");
    PCS_TAKE(sim->ctx, r->found.probes, nprobe, "the horizon");
    PCS_TAKE(sim->ctx, r->t, SAMPLES, "the horizon");
    PCS_TAKE(sim->ctx, r->value, SAMPLES * nprobe, "the horizon");
    PCS_TAKE(sim->ctx, r->last, nprobe, "the horizon");
    r->found.size = size;
    r->stride = 1;
    r->build = build;
    r->user = user;
    sim->horizon = r;
    sim->keep_sample = horizon_keep;
    sim->find_horizon = horizon_find;
    return PCS_OK;
}
