// Formulas of time, at the ends of the steps of a run: what `check` finds before a run would.

#include "build/sections.h"

#include <math.h>

enum { MOST_TIMES = 20000 }; // of one formula: of longer runs every second, third, ... step

// What a formula is asked for: the factor of a load, or position and velocity of a driven joint.
typedef struct formula_use {
    const pcs_amplitude *amplitude;   // or
    const pcs_expression *expression; // of a position
    bool is_load, is_rate;
} formula_use;

// Its values at t, and how many count.
static int formulas_value(const formula_use *use, double t, double s[3])
{
    if (use->is_load || use->is_rate) {
        s[0] = pcs_amplitude_value(use->amplitude, t);
        return 1;
    }
    if (use->expression != NULL) pcs_expression_rates(use->expression, t, s);
    else pcs_amplitude_motion(use->amplitude, false, t, s);
    return 2;
}

static void formulas_sample(pcs_build *b, const pcs_yaml *node, const formula_use *use)
{
    const pcs_sim *sim = b->sim;
    long stride = 1 + sim->nstep / MOST_TIMES;
    double s[3];
    for (long k = 0; k < sim->nstep + stride; k += stride) { // times as the run has them, the last is its end
        double t = k < sim->nstep ? sim->start_time + (double)k * sim->step_size : sim->end_time;
        int count = formulas_value(use, t, s), bad = 0;
        while (bad < count && isfinite(s[bad])) bad++;
        if (bad == count) continue;
        if (bad == 0) pcs_case_reject(b->c, node, "must be a finite number over the run, is %g at t = %.9g s", s[0], t);
        else pcs_case_reject(b->c, node, "must have a finite rate over the run, has %g at t = %.9g s", s[1], t);
        return;
    }
}

// `expression` of the map under `key`, where an amplitude has one.
static void formulas_sample_amplitude(pcs_build *b, pcs_yaml *owner, const char *key, const formula_use *use)
{
    if (use->amplitude->kind != PCS_AMPLITUDE_EXPRESSION) return;
    formulas_sample(b, pcs_case_get(b->c, pcs_case_get(b->c, owner, key), "expression"), use);
}

static void formulas_sample_joint(pcs_build *b, pcs_yaml *node, const pcs_fe_joint *joint)
{
    const char *params = joint->params;
    for (const pcs_joint_signal *s = joint->ops->signals; s != NULL && s->name != NULL; s++) {
        const formula_use use = { .amplitude = (const void *)(params + s->offset), .is_rate = s->is_rate };
        formulas_sample_amplitude(b, node, s->name, &use);
    }
    for (const pcs_option *o = joint->ops->options; o->name != NULL; o++) {
        if (o->kind != PCS_OPTION_FORMULA) continue;
        const formula_use use = { .expression = *(const pcs_expression *const *)(const void *)(params + o->offset) };
        if (use.expression != NULL) formulas_sample(b, pcs_case_get(b->c, node, o->name), &use);
    }
}

pcs_status pcs_build_sample_formulas(pcs_build *b)
{
    int count;
    pcs_yaml *section = pcs_build_section(b, "loads", false, "loads by name", &count);
    for (int i = 0; i < count; i++) {
        const formula_use use = { .amplitude = &b->model.loads[i].amplitude, .is_load = true };
        formulas_sample_amplitude(b, pcs_case_entry(b->c, section, i, PCS_YAML_MAP), "amplitude", &use);
    }
    section = pcs_build_section(b, "joints", false, "joints by name", &count);
    for (int i = 0; i < count; i++)
        formulas_sample_joint(b, pcs_case_entry(b->c, section, i, PCS_YAML_MAP), &b->model.joints[i]);
    return pcs_case_finish(b->c);
}
