// Factors over time, and motions: a map with one of table, csv, sine, ramp, pulse, expression.

#include "build/builder.h"
#include "core/text.h"

#include <math.h>

typedef struct amplitude_params {
    pcs_yaml *table, *shape;
    const pcs_expression *expression;
    const char *csv;
} amplitude_params;

typedef struct shape_params {
    pcs_amplitude amplitude;
    int shape;
} shape_params;

static const char *const amplitude_ramps[] = { "linear", "smooth", NULL };
static const char *const amplitude_pulses[] = { "rectangle", "half_sine", NULL };

static const pcs_option sine_options[] = {
    PCS_REAL("frequency", shape_params, amplitude.frequency, PCS_REQUIRED, PCS_NOT_NEGATIVE, "f, Hz"),
    PCS_REAL("size", shape_params, amplitude.size, PCS_DEFAULT("1.0"), PCS_ANY_NUMBER,
             "factor = mean + size sin(2 pi f t + phase)"),
    PCS_REAL("phase", shape_params, amplitude.phase, PCS_DEFAULT("0.0"), PCS_ANY_NUMBER, "rad"),
    PCS_REAL("mean", shape_params, amplitude.mean, PCS_DEFAULT("0.0"), PCS_ANY_NUMBER, "about which it swings"),
    { .name = NULL },
};
static const pcs_map map_sine = { .name = "sine", .options = sine_options };

static const pcs_option ramp_options[] = {
    PCS_REAL("rise", shape_params, amplitude.duration, PCS_REQUIRED, PCS_POSITIVE, "time that it takes, s"),
    PCS_REAL("start", shape_params, amplitude.start, PCS_DEFAULT("0.0"), PCS_ANY_NUMBER, "when it begins, s"),
    PCS_REAL("from", shape_params, amplitude.from, PCS_DEFAULT("0.0"), PCS_ANY_NUMBER, "factor before"),
    PCS_REAL("to", shape_params, amplitude.to, PCS_DEFAULT("1.0"), PCS_ANY_NUMBER, "factor after"),
    PCS_CHOICE("shape", shape_params, shape, PCS_DEFAULT("linear"), amplitude_ramps,
               "smooth: two derivatives vanish at both ends"),
    { .name = NULL },
};
static const pcs_map map_ramp = { .name = "ramp", .options = ramp_options };

static const pcs_option pulse_options[] = {
    PCS_REAL("duration", shape_params, amplitude.duration, PCS_REQUIRED, PCS_POSITIVE, "s"),
    PCS_REAL("start", shape_params, amplitude.start, PCS_DEFAULT("0.0"), PCS_ANY_NUMBER, "when it begins, s"),
    PCS_REAL("size", shape_params, amplitude.size, PCS_DEFAULT("1.0"), PCS_ANY_NUMBER, "largest factor"),
    PCS_CHOICE("shape", shape_params, shape, PCS_REQUIRED, amplitude_pulses,
               "rectangle: its end belongs to the time after"),
    { .name = NULL },
};
static const pcs_map map_pulse = { .name = "pulse", .options = pulse_options };

static const pcs_form table_form = {
    .shown = "[[time, factor], ...]",
    .json = "'type':'array','minItems':1,'items':{'type':['array','object'],'required':['repeat'],"
            "'minItems':2,'maxItems':2,'items':{'type':['number','string','object'],"
            "'pattern':'\\\\$\\\\{','required':['repeat']}}"
};

// One of them is given.
static const pcs_option amplitude_options[] = {
    PCS_NODE("table", amplitude_params, table, PCS_OPTIONAL, table_form,
             "rows with rising times; linear between, constant outside"),
    PCS_MAP("sine", amplitude_params, shape, PCS_OPTIONAL, map_sine, "a harmonic"),
    PCS_MAP("ramp", amplitude_params, shape, PCS_OPTIONAL, map_ramp, "from one factor to another"),
    PCS_MAP("pulse", amplitude_params, shape, PCS_OPTIONAL, map_pulse, "zero before and after"),
    PCS_FORMULA("expression", amplitude_params, expression, PCS_OPTIONAL, "factor as a formula of t"),
    PCS_FILE("csv", amplitude_params, csv, PCS_OPTIONAL,
             "file with lines `t, factor` and rising times; linear between, constant outside"),
    { .name = NULL },
};
enum { WAY_TABLE, WAY_SINE, WAY_RAMP, WAY_PULSE, WAY_EXPRESSION, WAY_CSV };
static const char *const amplitude_ways[] = { "table", "sine", "ramp", "pulse", "expression", "csv", NULL };
static const pcs_map amplitude_map = { .name = "amplitude", .options = amplitude_options, .one = amplitude_ways };

static pcs_status amplitude_take_table(pcs_build *b, int count, const double *time, const double *factor,
                                       pcs_amplitude *out)
{
    double *area = NULL;
    PCS_TAKE(b->ctx, area, count, "an amplitude");
    pcs_amplitude_sum(count, time, factor, area);
    *out = (pcs_amplitude){ .count = count, .time = time, .factor = factor, .area = area };
    return PCS_OK;
}

// Reads a table of rows [t, f] and checks that the times rise.
static pcs_status amplitude_read_table(pcs_build *b, pcs_yaml *table, pcs_amplitude *out)
{
    const pcs_range any = PCS_ANY_NUMBER;
    int count = pcs_yaml_count(table);
    double *time = NULL, *factor = NULL;
    PCS_TAKE(b->ctx, time, count, "an amplitude");
    PCS_TAKE(b->ctx, factor, count, "an amplitude");
    if (count == 0) pcs_case_reject(b->c, table, "is empty, needs rows [time, factor]");
    for (int i = 0; i < count; i++) {
        pcs_yaml *row = pcs_yaml_item(table, i);
        time[i] = NAN;
        if (!pcs_case_is(b->c, row, PCS_YAML_LIST)) continue;
        if (pcs_yaml_count(row) != 2) {
            pcs_case_reject(b->c, row, "must be a row [time, factor], has %d entries", pcs_yaml_count(row));
            continue;
        }
        time[i] = pcs_case_number(b->c, pcs_yaml_item(row, 0), any);
        factor[i] = pcs_case_number(b->c, pcs_yaml_item(row, 1), any);
        if (i > 0 && time[i] <= time[i - 1]) {
            pcs_case_reject(b->c, pcs_yaml_item(row, 0), "must be later than the row before (%g), is %g", time[i - 1],
                            time[i]);
        }
    }
    return amplitude_take_table(b, count, time, factor, out);
}

static pcs_status amplitude_read_csv(pcs_build *b, pcs_yaml *node, const char *path, pcs_amplitude *out)
{
    pcs_list table;
    pcs_status status = pcs_table_read(b->ctx, path, &table);
    if (status == PCS_IO_ERROR) status = PCS_BAD_INPUT; // a wrong path is a fault of the case
    if (status != PCS_OK) return pcs_build_blame(b, node, status);
    double *time = NULL, *factor = NULL;
    PCS_TAKE(b->ctx, time, table.nrow, "an amplitude");
    PCS_TAKE(b->ctx, factor, table.nrow, "an amplitude");
    for (int i = 0; i < table.nrow; i++) {
        time[i] = table.value[2 * i];
        factor[i] = table.value[2 * i + 1];
    }
    return amplitude_take_table(b, table.nrow, time, factor, out);
}

// Reads a sine, ramp or pulse.
static void amplitude_read_shape(pcs_build *b, pcs_yaml *node, int way, pcs_amplitude *out)
{
    static const pcs_option *const options[] = {
        [WAY_SINE] = sine_options, [WAY_RAMP] = ramp_options, [WAY_PULSE] = pulse_options
    };
    static const pcs_amplitude_kind kinds[] = {
        [WAY_SINE] = PCS_AMPLITUDE_SINE, [WAY_RAMP] = PCS_AMPLITUDE_RAMP, [WAY_PULSE] = PCS_AMPLITUDE_PULSE
    };
    shape_params p = { 0 };
    if (!pcs_case_is(b->c, node, PCS_YAML_MAP) || !pcs_case_read(b->c, node, options[way], &p)) return;
    p.amplitude.kind = kinds[way];
    p.amplitude.is_smooth = p.shape == 1;
    *out = p.amplitude;
}

static void amplitude_take_expression(pcs_build *b, pcs_yaml *node, const pcs_expression *e, pcs_amplitude *out)
{
    double first = pcs_expression_value(e, &(double){ 0.0 });
    if (!isfinite(first)) pcs_case_reject(b->c, node, "must be a finite number at t = 0, is %g", first);
    *out = (pcs_amplitude){ .kind = PCS_AMPLITUDE_EXPRESSION, .expression = e, .formula = pcs_yaml_text(node) };
}

static pcs_status amplitude_read(pcs_build *b, pcs_yaml *map, void *member)
{
    if (!pcs_case_is(b->c, map, PCS_YAML_MAP)) return PCS_OK;
    int way = pcs_case_one(b->c, map, amplitude_ways, true);
    amplitude_params p = { 0 };
    if (way < 0 || !pcs_case_read(b->c, map, amplitude_options, &p)) return PCS_OK;
    pcs_yaml *node = pcs_case_get(b->c, map, amplitude_ways[way]);
    if (way == WAY_CSV) return amplitude_read_csv(b, node, p.csv, member);
    if (way == WAY_EXPRESSION) amplitude_take_expression(b, node, p.expression, member);
    else if (way != WAY_TABLE) amplitude_read_shape(b, node, way, member);
    else if (pcs_case_is(b->c, node, PCS_YAML_LIST)) return amplitude_read_table(b, node, member);
    return PCS_OK;
}

const pcs_form pcs_amplitude_form = { .map = &amplitude_map, .read = amplitude_read };

// Evaluates formulas of time at the ends of all steps, so that `check` finds values that are not finite.

enum { MOST_TIMES = 20000 }; // of one formula: of longer runs every second, third, ... step

// Use of a formula: the factor of a load, or position and velocity of a driven joint.
typedef struct formula_use {
    const pcs_amplitude *amplitude;   // NULL if `expression` is given
    const pcs_expression *expression; // position over time, NULL if `amplitude` is given
    bool is_load, is_rate;
} formula_use;

// Fills s with the value, for a position also with its rates, at time t. Returns how many must be finite.
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

// Samples the `expression` of the amplitude under `key`, if it has one.
static void formulas_sample_amplitude(pcs_build *b, pcs_yaml *owner, const char *key, const formula_use *use)
{
    if (use->amplitude->kind != PCS_AMPLITUDE_EXPRESSION) return;
    formulas_sample(b, pcs_case_get(b->c, pcs_case_get(b->c, owner, key), "expression"), use);
}

static void formulas_sample_joint(pcs_build *b, pcs_yaml *node, const pcs_row_source *joint)
{
    const char *params = joint->params;
    for (const pcs_source_signal *s = joint->ops->signals; s != NULL && s->name != NULL; s++) {
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
    pcs_yaml *section = pcs_build_section(b, "loads", NULL, &count);
    for (int i = 0; i < count; i++) {
        const formula_use use = { .amplitude = &b->model.loads[i].amplitude, .is_load = true };
        formulas_sample_amplitude(b, pcs_case_entry(b->c, section, i, PCS_YAML_MAP), "amplitude", &use);
    }
    section = pcs_build_section(b, "joints", NULL, &count);
    for (int i = 0; i < count; i++)
        formulas_sample_joint(b, pcs_case_entry(b->c, section, i, PCS_YAML_MAP), &b->model.joints[i]);
    return pcs_case_finish(b->c);
}
