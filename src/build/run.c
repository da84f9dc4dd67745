// Scheme, solver and clock of a case: what advances the model.

#include "build/build.h"
#include "core/clock.h"
#include "core/comm.h"
#include "schemes/common.h"
#include "sim/retry.h"

#include <math.h>
#include <string.h>

static const double SAFE_SHARE = 0.9;  // of the stable step, for `step: auto`
static const double MOST_STEPS = 1e12; // beyond it nobody waits
static const double SAME_STEPS = 1e-9; // end / step this near to a whole number is one

static pcs_status run_read_scheme(pcs_build *b)
{
    const char *names[PCS_BUILD_NAMES];
    if (b->is_model_only && pcs_case_get(b->c, pcs_case_root(b->c), "scheme") == NULL) return PCS_OK;
    pcs_node *node = pcs_case_need(b->c, pcs_case_root(b->c), "scheme", PCS_NODE_MAP, "the time integrator");
    if (node == NULL) return PCS_OK;
    PCS_BUILD_NAMES_OF(pcs_schemes, names);
    int type = pcs_case_type(b->c, node, names);
    if (type < 0) return PCS_OK;
    b->scheme = pcs_schemes[type];
    PCS_TRY(pcs_build_params(b, b->scheme->params_size, &b->scheme_params));
    if (pcs_case_read(b->c, node, b->scheme->options, b->scheme_params))
        pcs_build_check(b, node, b->scheme->check, b->scheme_params);
    return PCS_OK;
}

typedef struct run_solver {
    int nthread;
} run_solver;

const pcs_option pcs_solver_options[] = {
    PCS_COUNT("threads", run_solver, nthread, PCS_DEFAULT("0"), PCS_WITHIN(0.0, 64.0),
              "for the cells of large nonlinear models, the same bits with any number; 0: one per processor"),
    { .name = NULL },
};

pcs_status pcs_build_scheme(pcs_build *b)
{
    static const char *const certify[] = { "strict", "warn", NULL };
    const char *types[PCS_BUILD_NAMES], *linear[PCS_BUILD_NAMES];
    PCS_TRY(run_read_scheme(b));
    types[0] = linear[0] = "auto";
    int count = 1;
    for (; pcs_step_solvers[count - 1] != NULL && count < PCS_BUILD_NAMES - 1; count++)
        types[count] = pcs_step_solvers[count - 1]->name;
    types[count] = NULL;
    count = 1;
    for (; pcs_linsolvers[count - 1] != NULL && count < PCS_BUILD_NAMES - 1; count++)
        linear[count] = pcs_linsolvers[count - 1]->name;
    linear[count] = NULL;
    pcs_node *node = pcs_case_get_map(b->c, pcs_case_root(b->c), "solver");
    if (node != NULL) {
        int type = pcs_case_choice(b->c, node, "type", types, "auto");
        int back_end = pcs_case_choice(b->c, node, "linear", linear, "auto");
        run_solver params = { 0 };
        pcs_case_read(b->c, node, pcs_solver_options, &params);
        b->model.nthread = params.nthread;
        b->solver = type < 0 ? NULL : types[type];
        b->linear = back_end < 0 ? NULL : linear[back_end];
        if (b->linear != NULL && strcmp(b->linear, "petsc") == 0 && !b->is_model_only)
            PCS_TRY(pcs_build_blame(b, node, pcs_comm_start(b->ctx)));
    }
    b->sim->certify_warns = pcs_case_choice(b->c, pcs_case_root(b->c), "certify", certify, "strict") == 1;
    return PCS_OK;
}

typedef struct run_time {
    double end;
    bool allow_unstable;
    int retry;
} run_time;

const pcs_option pcs_time_options[] = {
    PCS_REAL("end", run_time, end, PCS_REQUIRED, PCS_POSITIVE, "end of the run, s"),
    PCS_FLAG("allow_unstable", run_time, allow_unstable, PCS_DEFAULT("false"),
             "take a step above the stable step of an explicit scheme all the same"),
    PCS_COUNT("retry", run_time, retry, PCS_DEFAULT("10"), PCS_WITHIN(0.0, 30.0),
              "how often a step that fails is halved before the run ends; 0: never"),
    { .name = NULL },
};

static void run_read_step(pcs_build *b, pcs_node *node)
{
    const pcs_range positive = PCS_POSITIVE;
    const char *text = pcs_node_text(node);
    b->step_is_auto = strcmp(text, "auto") == 0;
    if (b->step_is_auto) {
        if (b->scheme != NULL && !b->scheme->is_explicit) {
            pcs_case_reject(b->c, node, "must be a number > 0: 'auto' is for explicit schemes, %s is implicit",
                            b->scheme->name);
        }
        return;
    }
    static const char *const words[] = { "auto", NULL };
    char miss[PCS_NEAR_MISS_BYTES];
    pcs_near_miss(text, words, sizeof miss, miss);
    if (miss[0] != '\0') {
        pcs_case_reject(b->c, node, "must be a number > 0 or auto, is '%s'%s", text, miss);
    } else {
        b->step = pcs_case_number(b->c, node, positive);
    }
}

static void run_read_control(pcs_build *b, pcs_node *time)
{
    static const char *const types[] = { "adaptive", NULL };
    pcs_node *node = pcs_case_get(b->c, time, "control");
    if (node == NULL || !pcs_case_is(b->c, node, PCS_NODE_MAP)) return;
    b->has_control = true;
    pcs_case_type(b->c, node, types);
    pcs_case_read(b->c, node, pcs_control_options, &b->control);
}

pcs_status pcs_build_time(pcs_build *b)
{
    if (b->is_model_only && pcs_case_get(b->c, pcs_case_root(b->c), "time") == NULL) return PCS_OK;
    pcs_node *node = pcs_case_need(b->c, pcs_case_root(b->c), "time", PCS_NODE_MAP, "the clock: step and end");
    if (node == NULL) return PCS_OK;
    run_time params = { .end = NAN };
    pcs_node *step = pcs_case_need(b->c, node, "step", PCS_NODE_SCALAR, "step size, s, or auto for explicit schemes");
    if (step != NULL) run_read_step(b, step);
    pcs_case_read(b->c, node, pcs_time_options, &params);
    run_read_control(b, node);
    b->end = params.end;
    b->allows_unstable = params.allow_unstable;
    b->retry = params.retry;
    double ratio = b->end / b->step;
    if (ratio < 1.0 - SAME_STEPS)
        pcs_case_error_at(b->c, node, "end", "end must be >= step, is %g with a step of %g", b->end, b->step);
    if (ratio > MOST_STEPS)
        pcs_case_error_at(b->c, node, "step", "%g steps are more than %g: step is %g, end is %g", ratio, MOST_STEPS,
                          b->step, b->end);
    return PCS_OK;
}

// Largest stable step of the scheme. A closed-form system has no modes that blow up within a run: where no step is
// stable it is only inaccurate.
static double run_stable_step(const pcs_build *b)
{
    const pcs_system *system = b->sim->system;
    pcs_mode_limit *limit = b->scheme->stable_step;
    if (limit == NULL || !isfinite(system->stable_step)) return system->stable_step;
    if (system->ops->stable_step != NULL) return system->ops->stable_step(system, limit, b->scheme_params);
    double step = limit(b->scheme_params, 2.0 / system->stable_step, 0.0);
    return step > 0.0 ? step : INFINITY;
}

// Step of an explicit scheme against its limit.
static pcs_status run_find_step(pcs_build *b, pcs_node *node)
{
    double stable = run_stable_step(b);
    b->control.stable = b->scheme->is_explicit && !b->allows_unstable ? stable : INFINITY;
    if (!(stable > 0.0) && b->scheme->is_explicit && !b->allows_unstable) {
        const char *reason = pcs_scheme_refuses(b->scheme, b->sim->system, b->scheme_params);
        if (reason == NULL) reason = "undamped vibrations grow at any step";
        pcs_case_error_at(b->c, pcs_case_find(b->c, "scheme"), NULL, "scheme '%s' cannot advance system '%s': %s",
                          b->scheme->name, b->sim->system->ops->name, reason);
        return PCS_OK;
    }
    if (b->step_is_auto && !isfinite(stable)) {
        pcs_case_error_at(b->c, node, "step",
                          "nothing limits the step of this model, so 'auto' has no meaning: give a number");
        return PCS_OK;
    }
    if (b->step_is_auto) {
        char text[PCS_NUMBER_BYTES];
        b->step = SAFE_SHARE * stable;
        if (!(b->end >= b->step)) b->step = b->end;
        return pcs_case_resolve(b->c, node, "step", pcs_case_number_text(b->step, text));
    }
    if (b->scheme->is_explicit && b->step > stable && !b->allows_unstable) {
        pcs_case_error_at(b->c, node, "step",
                          "step %g is above the stable step %.6g of %s; take a smaller one, or 'auto' (%.6g), or say "
                          "'allow_unstable: true'",
                          b->step, stable, b->scheme->name, SAFE_SHARE * stable);
    }
    return PCS_OK;
}

pcs_status pcs_build_clock(pcs_build *b)
{
    pcs_node *node = pcs_case_get(b->c, pcs_case_root(b->c), "time");
    PCS_TRY(run_find_step(b, node));
    double ratio = b->end / b->step, whole = round(ratio);
    double steps = fabs(ratio - whole) <= SAME_STEPS * whole ? whole : ceil(ratio);
    if (steps > MOST_STEPS)
        pcs_case_error_at(b->c, node, "end", "%g steps of %g s are more than %g", steps, b->step, MOST_STEPS);
    b->sim->step_size = b->step;
    b->sim->end_time = b->end;
    b->sim->nstep = steps <= MOST_STEPS ? (long)steps : 0;
    return PCS_OK;
}

// Bodies that overlap before anything has moved are an error of the case.
static pcs_status run_check_gaps(pcs_build *b)
{
    pcs_system *system = b->sim->system;
    const double *q = b->sim->state.q;
    double *gap = pcs_scratch(NULL, (size_t)system->nrow, sizeof *gap);
    if (gap == NULL) return pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: %d gaps", system->nrow);
    system->ops->gaps(system, q, gap);
    if (system->ops->update_directions != NULL) system->ops->update_directions(system, q);
    const pcs_node *section = pcs_case_find(b->c, b->has_system ? "system" : "contacts");
    for (int i = 0; i < system->ncontact; i++) {
        const pcs_contact_info *contact = &system->contacts[i];
        if (contact->is_joint) continue;
        for (int j = 0; j < contact->nrow; j++) {
            int row = contact->first_row + j;
            double value = gap[row], none = pcs_gap_tie(system, row, q); // as for gates and certificate
            if (value >= -none && !system->rows[row].is_bilateral) continue;
            if (fabs(value) <= none) continue;
            pcs_case_error_at(b->c, b->has_system ? section : pcs_node_item(section, i), NULL,
                              "the gap of point %d%s%s is %g m at t = 0, must be %s 0", j, b->has_system ? " of " : "",
                              b->has_system ? contact->name : "", value, system->rows[row].is_bilateral ? "=" : ">=");
            break;
        }
    }
    pcs_scratch_free(gap);
    return PCS_OK;
}

pcs_status pcs_build_state(pcs_build *b)
{
    pcs_sim *sim = b->sim;
    const pcs_system *system = sim->system;
    pcs_state *x = &sim->state;
    PCS_TAKE(b->ctx, x->q, system->nq, "the state");
    PCS_TAKE(b->ctx, x->v, system->nv, "the state");
    x->nhistory = b->is_model_only ? 0 : b->scheme->nhistory;
    for (int i = 0; i < x->nhistory; i++) PCS_TAKE(b->ctx, x->history[i], system->nv, "the state");
    const char *culprit = NULL;
    pcs_status status = PCS_OK;
    if (b->has_system) b->definition->start(b->system_params, x->q, x->v);
    else status = pcs_fe_initial_state(system, x->q, x->v, &culprit);
    if (status != PCS_OK) return pcs_build_blame(b, pcs_case_find(b->c, culprit), status);
    bool has_changed;
    if (system->ops->settle != NULL) PCS_TRY(system->ops->settle(sim->system, x->q, &has_changed));
    return run_check_gaps(b);
}

static pcs_status run_make_scheme(pcs_build *b)
{
    pcs_scheme *scheme = NULL;
    PCS_TAKE(b->ctx, scheme, 1, "the scheme");
    *scheme = (pcs_scheme){ .ops = b->scheme, .ctx = b->ctx, .system = b->sim->system, .solver = b->sim->solver };
    scheme->params = b->scheme_params;
    PCS_TRY(pcs_build_params(b, b->scheme->data_size, &scheme->data));
    b->sim->scheme = scheme;
    const char *reason = pcs_scheme_refuses(b->scheme, b->sim->system, b->scheme_params);
    if (reason != NULL)
        return pcs_fail(b->ctx, PCS_UNSUPPORTED, "scheme '%s' cannot advance system '%s': %s", b->scheme->name,
                        b->sim->system->ops->name, reason);
    return scheme->ops->setup(scheme);
}

pcs_status pcs_build_solvers(pcs_build *b)
{
    bool is_auto = strcmp(b->solver, "auto") == 0;
    const char *name = is_auto ? pcs_step_solver_preferred(b->sim->system) : b->solver;
    pcs_status status = pcs_step_solver_create(b->ctx, name, b->linear, b->sim->system, &b->sim->solver);
    if (status != PCS_OK) {
        PCS_TRY(pcs_build_blame(b, pcs_case_find(b->c, "solver"), status));
        return pcs_case_finish(b->c);
    }
    PCS_TRY(pcs_step_solver_allow_handover(b->sim->solver));
    const char *culprit = "scheme";
    status = run_make_scheme(b);
    if (status == PCS_OK && b->has_control) {
        culprit = "time.control";
        status = pcs_control_create(b->sim, &b->control, &b->sim->control);
    } else if (status == PCS_OK && b->retry > 0 && b->scheme->allows_control) {
        status = pcs_retry_create(b->sim, b->retry, &b->sim->retry);
    }
    if (status == PCS_OK) return PCS_OK;
    PCS_TRY(pcs_build_blame(b, pcs_case_find(b->c, culprit), status));
    return pcs_case_finish(b->c);
}
