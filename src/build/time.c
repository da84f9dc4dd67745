// Section `time`: step size, end, step control.

#include "build/builder.h"

#include <math.h>
#include <string.h>

static const double SAFE_SHARE = 0.9;  // of the stable step, for `step: auto`
static const double MOST_STEPS = 1e12; // no run is longer
static const double SAME_STEPS = 1e-9; // end / step this near to a whole number is one
static const double SAME_END = 1e-6;   // of a step: a last one that differs by less is whole

typedef struct time_params {
    pcs_yaml *step, *control;
    double end;
    bool allow_unstable, follow_turning;
    int retry;
} time_params;

static bool control_parts(pcs_context *ctx, int i, pcs_map_part *out)
{
    (void)ctx;
    *out = (pcs_map_part){ "adaptive", "step doubling", pcs_control_options, NULL, NULL };
    return i == 0;
}

const pcs_map pcs_control_map = { .name = "control", .kind = PCS_MAP_TYPES, .parts = control_parts };
static const pcs_form step_form = {
    .shown = "number > 0 or auto",
    .json = "'type':['number','string'],'exclusiveMinimum':0,'pattern':'^auto$|\\\\$\\\\{'"
};
static const pcs_option time_options[] = {
    PCS_NODE(
        "step", time_params, step, PCS_REQUIRED, step_form,
        "step size, or auto: 0.9 of the stable step of an explicit scheme, the travel time through a cell of wave, s"),
    PCS_MAP("control", time_params, control, PCS_OPTIONAL, pcs_control_map, "step-size control by step doubling"),
    PCS_REAL("end", time_params, end, PCS_REQUIRED, PCS_POSITIVE, "end of the run, s"),
    PCS_FLAG("allow_unstable", time_params, allow_unstable, PCS_DEFAULT("false"),
             "take a step above the stable step of an explicit scheme all the same"),
    PCS_FLAG("follow_turning", time_params, follow_turning, PCS_DEFAULT("false"),
             "cover a step of an explicit scheme by smaller ones where bodies turn too fast for it; auto does"),
    PCS_COUNT("retry", time_params, retry, PCS_DEFAULT("10"), PCS_WITHIN(0.0, 30.0),
              "how often a step that fails is halved before the run ends; 0: never"),
    { .name = NULL },
};
const pcs_map pcs_time_map = { .name = "time", .options = time_options };

static void time_read_step(pcs_build *b, pcs_yaml *node)
{
    const pcs_range positive = PCS_POSITIVE;
    const char *text = pcs_yaml_text(node);
    b->step_is_auto = strcmp(text, "auto") == 0;
    if (b->step_is_auto) {
        if (b->scheme != NULL && !pcs_rule_is_explicit(&b->scheme->rule) && b->scheme->ask_waves == NULL) {
            pcs_case_reject(b->c, node, "must be a number > 0: 'auto' is for explicit schemes and wave, %s is implicit",
                            b->scheme->name);
        }
        return;
    }
    static const char *const words[] = { "auto", NULL };
    char miss[PCS_SPELLING_BYTES];
    pcs_spelling_hint(text, words, sizeof miss, miss);
    if (miss[0] != '\0') {
        pcs_case_reject(b->c, node, "must be a number > 0 or auto, is '%s'%s", text, miss);
    } else {
        b->step = pcs_case_number(b->c, node, positive);
    }
}

static void time_read_control(pcs_build *b, pcs_yaml *node)
{
    if (!pcs_case_is(b->c, node, PCS_YAML_MAP)) return;
    b->has_control = true;
    pcs_build_type(b, node, control_parts);
    pcs_case_read(b->c, node, pcs_control_options, &b->control);
}

pcs_status pcs_build_time(pcs_build *b)
{
    if (b->is_model_only && pcs_case_get(b->c, pcs_case_root(b->c), "time") == NULL) return PCS_OK;
    pcs_yaml *node = pcs_case_need(b->c, pcs_case_root(b->c), "time", PCS_YAML_MAP, "the clock: step and end");
    if (node == NULL) return PCS_OK;
    time_params params = { .end = NAN };
    pcs_case_read(b->c, node, time_options, &params);
    if (params.step != NULL && pcs_case_is(b->c, params.step, PCS_YAML_SCALAR)) time_read_step(b, params.step);
    if (params.control != NULL) time_read_control(b, params.control);
    b->end = params.end;
    b->allows_unstable = params.allow_unstable;
    b->sim->follows_turning = params.follow_turning;
    b->retry = params.retry;
    double ratio = b->end / b->step;
    if (ratio < 1.0 - SAME_STEPS)
        pcs_case_error_at(b->c, node, "end", "end must be >= step, is %g with a step of %g", b->end, b->step);
    if (ratio > MOST_STEPS)
        pcs_case_error_at(b->c, node, "step", "%g steps are more than %g: step is %g, end is %g", ratio, MOST_STEPS,
                          b->step, b->end);
    return PCS_OK;
}

// Returns the largest stable step of the scheme, s.
static double time_stable_step(const pcs_build *b)
{
    const pcs_system *system = b->sim->system;
    pcs_mode_limit *limit = b->scheme->stable_step;
    if (limit == NULL || !isfinite(system->stable_step)) return system->stable_step;
    return system->ops->stable_step(system, NULL, NULL,
                                    &(pcs_step_limit){ .modes = limit, .params = b->scheme_params });
}

static pcs_status time_resolve(pcs_build *b, pcs_yaml *node, double step)
{
    char text[PCS_NUMBER_BYTES];
    b->step = b->end >= step ? step : b->end;
    return pcs_case_resolve(b->c, node, "step", pcs_case_number_text(b->step, text));
}

// Returns false, with errors, if rods or beams lack the mass that the scheme needs: their forces would oscillate.
static bool time_check_carriers(pcs_build *b)
{
    const pcs_yaml *section = pcs_case_get(b->c, pcs_case_root(b->c), "elements");
    bool are_all = true;
    for (int i = 0; i < b->model.ngroup; i++) {
        const pcs_element_ops *ops = b->model.groups[i].ops;
        bool is_bar = ops->area != NULL || ops->section_offset != 0;
        if (!is_bar || ops->travel_time != NULL) continue;
        are_all = false;
        pcs_case_error_at(b->c, pcs_yaml_item(section, i), "type",
                          "scheme '%s' has no clean waves in '%s', whose forces would ring: take rod, beam_timo_2d or "
                          "beam_timo_3d, or another scheme, or say 'allow_mismatch: true' in the scheme",
                          b->scheme->name, ops->name);
    }
    return are_all;
}

// Sets the step of a wave scheme, or checks it against the travel times of the cells.
static pcs_status time_find_wave_step(pcs_build *b, pcs_yaml *node)
{
    pcs_wave_demand demand = b->scheme->ask_waves(b->sim->system, b->scheme_params);
    const pcs_travel *travel = demand.travel;
    b->control.stable = INFINITY;
    if (isfinite(demand.mismatch) && !time_check_carriers(b)) return PCS_OK;
    if (travel->count == 0 && b->step_is_auto)
        pcs_case_error_at(b->c, node, "step",
                          "no cell of this model carries waves, so 'auto' has no meaning: give a "
                          "number");
    if (travel->count == 0) return PCS_OK;
    if (b->step_is_auto) PCS_TRY(time_resolve(b, node, travel->mean));
    double mismatch = fmax(fabs(b->step / travel->shortest - 1.0), fabs(b->step / travel->longest - 1.0));
    if (mismatch <= demand.mismatch) return PCS_OK;
    pcs_case_error_at(
        b->c, node, "step",
        "step %.6g differs by %.3g %% from the time that waves take through a cell, %.6g to %.6g s; scheme "
        "'%s' allows 1 %%: cut cells by 'travel_time', take 'auto' (%.6g), or say 'allow_mismatch: true' "
        "in the scheme",
        b->step, 100.0 * mismatch, travel->shortest, travel->longest, b->scheme->name, travel->mean);
    return PCS_OK;
}

// Checks that `follow_turning` is used with fixed steps of an explicit scheme.
static void time_check_turning(pcs_build *b, pcs_yaml *node)
{
    if (!b->sim->follows_turning) return;
    if (!pcs_rule_is_explicit(&b->scheme->rule))
        pcs_case_error_at(b->c, node, "follow_turning", "follow_turning is for explicit schemes, %s is implicit",
                          b->scheme->name);
    if (b->has_control)
        pcs_case_error_at(b->c, node, "follow_turning",
                          "follow_turning does not go with step control, which follows by itself");
}

// Sets the step of an explicit scheme, or checks it against the stable step.
static pcs_status time_find_step(pcs_build *b, pcs_yaml *node)
{
    time_check_turning(b, node);
    double stable = time_stable_step(b);
    double turning = pcs_scheme_present_step(b->scheme, b->scheme_params, b->sim->system, &b->sim->state);
    b->control.stable = pcs_rule_is_explicit(&b->scheme->rule) && !b->allows_unstable ? stable : INFINITY;
    if (!(stable > 0.0) && pcs_rule_is_explicit(&b->scheme->rule) && !b->allows_unstable) {
        const char *reason = pcs_scheme_refuses(b->scheme, b->sim->system, b->scheme_params);
        if (reason == NULL) reason = "undamped vibrations grow at any step";
        pcs_case_error_at(b->c, pcs_case_find(b->c, "scheme"), NULL, "scheme '%s' cannot advance system '%s': %s",
                          b->scheme->name, b->sim->system->name, reason);
        return PCS_OK;
    }
    if (b->step_is_auto && !isfinite(fmin(stable, turning))) {
        pcs_case_error_at(b->c, node, "step",
                          "nothing limits the step of this model, so 'auto' has no meaning: give a number");
        return PCS_OK;
    }
    if (b->step_is_auto) {
        b->sim->follows_turning =
            !b->has_control && pcs_system_is_mesh(b->sim->system) && pcs_fe_tumbles(b->sim->system);
        if (b->sim->follows_turning) PCS_TRY(pcs_case_resolve(b->c, node, "follow_turning", "true"));
        return time_resolve(b, node, SAFE_SHARE * fmin(stable, turning));
    }
    if (pcs_rule_is_explicit(&b->scheme->rule) && b->step > stable && !b->allows_unstable) {
        pcs_case_error_at(b->c, node, "step",
                          "step %g is above the stable step %.6g of %s; take a smaller one, or 'auto' (%.6g), or say "
                          "'allow_unstable: true'",
                          b->step, stable, b->scheme->name, SAFE_SHARE * stable);
    }
    return PCS_OK;
}

// Returns the largest displacement, m, in a hundred steps under the velocities and the forces at time t.
static double time_way(const pcs_build *b, double t, double *force)
{
    double time = 100.0 * b->step;
    pcs_system *system = b->sim->system;
    const pcs_state *x = &b->sim->state;
    double way = 0.0;
    system->ops->force(system, pcs_at(t, x->q, x->v), force);
    for (int i = 0; i < pcs_system_nown(system); i++) {
        double mass = pcs_matrix_diagonal(system->M, i), a = mass > 0.0 ? force[i] / mass : 0.0;
        way = fmax(way, time * (fabs(x->v[i]) + time * fabs(a)));
    }
    return pcs_system_max(system, way);
}

// Sets the length scale of a model without size, such as a point at the origin that touches something: the largest
// displacement in a hundred steps under the loads of the run, so that gaps round off to 1e-9 of the displacement in one
// step. A length that is round-off of that displacement counts as zero.
static pcs_status time_find_place(const pcs_build *b)
{
    enum { TIMES = 64 };
    pcs_system *system = b->sim->system;
    double *force, way = 0.0;
    if (!pcs_system_is_mesh(system) || system->place > 0.0) return PCS_OK;
    PCS_TAKE(b->ctx, force, system->nv, "the way of a step");
    for (int k = 0; k <= TIMES; k++) way = fmax(way, time_way(b, b->start + k * (b->end - b->start) / TIMES, force));
    if (system->length <= PCS_ROUND_LENGTH * way) system->length = 0.0;
    if (!(system->length > 0.0)) system->place = way;
    return pcs_fe_find_sizes(system);
}

pcs_status pcs_build_clock(pcs_build *b)
{
    pcs_yaml *node = pcs_case_get(b->c, pcs_case_root(b->c), "time");
    PCS_TRY(b->scheme->ask_waves == NULL ? time_find_step(b, node) : time_find_wave_step(b, node));
    double ratio = (b->end - b->start) / b->step, whole = round(ratio);
    double steps = fabs(ratio - whole) <= SAME_STEPS * whole ? whole : ceil(ratio);
    if (steps > MOST_STEPS)
        pcs_case_error_at(b->c, node, "end", "%g steps of %g s are more than %g", steps, b->step, MOST_STEPS);
    b->sim->step_size = b->step;
    b->sim->start_time = b->start;
    // Schemes of equal steps have no shorter last one: its forces would be far off.
    double reached = b->start + steps * b->step;
    bool needs_more = b->scheme->needs_equal_steps != NULL && fabs(reached - b->end) > SAME_END * b->step;
    b->sim->end_time = needs_more ? reached : b->end;
    b->sim->nstep = steps <= MOST_STEPS ? (long)steps : 0;
    return time_find_place(b);
}
