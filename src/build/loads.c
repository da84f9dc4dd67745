// Supports, loads and their factors over time: gravity, forces, moments, torques and line loads; amplitudes, a map with
// one of table, csv, sine, ramp, pulse, expression.

#include "build/builder.h"

#include "core/text.h"

#include <math.h>
#include <string.h>

typedef struct amplitude_params {
    pcs_list table;
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

// Rows of two, for lists and schema; they are read as any list.
static const pcs_form table_form = {
    .shown = "[[time, factor], ...]",
    .json = "'type':'array','minItems':1,'items':{'type':['array','object'],'required':['repeat'],"
            "'minItems':2,'maxItems':2,'items':{'type':['number','string','object'],"
            "'pattern':'\\\\$\\\\{','required':['repeat']}}"
};

// One of them is given.
static const pcs_option amplitude_options[] = {
    PCS_LIST("table", amplitude_params, table, .form = &table_form, PCS_ANY_NUMBER,
             "rows with rising times; linear between, constant outside"),
    PCS_KEY_MAP("sine", PCS_OPTIONAL, map_sine, "a harmonic"),
    PCS_KEY_MAP("ramp", PCS_OPTIONAL, map_ramp, "from one factor to another"),
    PCS_KEY_MAP("pulse", PCS_OPTIONAL, map_pulse, "zero before and after"),
    PCS_FORMULA("expression", amplitude_params, expression, PCS_OPTIONAL, "factor as a formula of t"),
    PCS_FILE("csv", amplitude_params, csv, PCS_OPTIONAL,
             "file with lines `t, factor` and rising times; linear between, constant outside"),
    { .name = NULL },
};
enum { AMPLITUDE_CSV = PCS_AMPLITUDE_EXPRESSION + 1 }; // the keys are in the order of pcs_amplitude_kind
static const char *const amplitude_kinds[] = { "table", "sine", "ramp", "pulse", "expression", "csv", NULL };
static const pcs_map amplitude_map = { .name = "amplitude", .options = amplitude_options };

// Takes rows [time, factor] of the case or of a file, whose times rise.
static pcs_status amplitude_read_table(pcs_build *b, pcs_yaml *node, const pcs_list *rows, pcs_amplitude *out)
{
    double *time, *factor, *area;
    int count = rows->nrow;
    if (rows->count != 2 * count || (node->kind == PCS_YAML_LIST && node->items[0]->kind != PCS_YAML_LIST)) {
        (void)pcs_case_want(b->c, node, "a list of rows [time, factor]");
        return PCS_OK;
    }
    PCS_TAKE_EACH(b->ctx, count, "an amplitude", double, &time, &factor, &area);
    for (int i = 0; i < count; i++) {
        time[i] = rows->value[2 * i];
        factor[i] = rows->value[2 * i + 1];
        if (i > 0 && time[i] <= time[i - 1])
            pcs_case_reject(b->c, node->items[i]->items[0], "must be later than the row before (%g), is %g",
                            time[i - 1], time[i]);
    }
    pcs_amplitude_sum(count, time, factor, area);
    *out = (pcs_amplitude){ .count = count, .time = time, .factor = factor, .area = area };
    return PCS_OK;
}

static pcs_status amplitude_read(pcs_build *b, const pcs_form *self, pcs_yaml *map, void *member)
{
    pcs_amplitude *out = member;
    amplitude_params p = { 0 };
    shape_params s = { 0 };
    if (!pcs_case_is(b->c, map, PCS_YAML_MAP)) return PCS_OK;
    int kind = pcs_case_one(b->c, map, amplitude_kinds, true);
    if (kind < 0 || !pcs_case_read(b->c, map, amplitude_options, &p)) return PCS_OK;
    pcs_yaml *node = pcs_case_get(b->c, map, amplitude_kinds[kind]);
    pcs_status status = kind == AMPLITUDE_CSV ? pcs_table_read(b->ctx, p.csv, &p.table) : PCS_OK;
    if (status != PCS_OK) return pcs_build_blame(b, node, status == PCS_IO_ERROR ? PCS_BAD_INPUT : status);
    if (kind == AMPLITUDE_CSV || kind == PCS_AMPLITUDE_TABLE) return amplitude_read_table(b, node, &p.table, out);
    if (kind == PCS_AMPLITUDE_EXPRESSION) {
        double first = pcs_expression_value(p.expression, &(double){ 0.0 });
        if (!isfinite(first)) pcs_case_reject(b->c, node, "must be a finite number at t = 0, is %g", first);
        *out = (pcs_amplitude){ .expression = p.expression, .formula = node->text };
    } else if (pcs_case_is(b->c, node, PCS_YAML_MAP) &&
               pcs_case_read(b->c, node, amplitude_options[kind].form->map->options, &s)) {
        *out = s.amplitude;
        out->is_smooth = s.shape == 1;
    }
    out->kind = (pcs_amplitude_kind)kind;
    return PCS_OK;
}

const pcs_form pcs_amplitude_form = { .map = &amplitude_map, .read = amplitude_read };

// Evaluates formulas of time at the ends of all steps, so that `check` finds values that are not finite.

enum { MOST_TIMES = 20000 }; // in longer runs every second, third, ... step is checked

// Evaluates a formula of time, for positions also its rate, over the run.
static void formulas_sample(pcs_build *b, const pcs_yaml *node, const pcs_expression *e, bool is_position)
{
    const pcs_sim *sim = b->sim;
    const pcs_amplitude factor = { .kind = PCS_AMPLITUDE_EXPRESSION, .expression = e };
    long stride = 1 + sim->nstep / MOST_TIMES;
    double s[3] = { 0.0 };
    for (long k = 0; k < sim->nstep + stride; k += stride) { // times of the run; the last one is its end
        double t = k < sim->nstep ? sim->start_time + (double)k * sim->step_size : sim->end_time;
        if (is_position) pcs_expression_rates(e, t, s);
        else s[0] = pcs_amplitude_value(&factor, t);
        if (isfinite(s[0]) && isfinite(s[1])) continue;
        if (isfinite(s[0]))
            pcs_case_reject(b->c, node, "must have a finite rate over the run, has %g at t = %.9g s", s[1], t);
        else pcs_case_reject(b->c, node, "must be a finite number over the run, is %g at t = %.9g s", s[0], t);
        return;
    }
}

// Samples the `expression` of the amplitude under `key`, if it has one.
static void formulas_sample_amplitude(pcs_build *b, pcs_yaml *owner, const char *key, const pcs_amplitude *a,
                                      bool is_position)
{
    if (a->kind != PCS_AMPLITUDE_EXPRESSION) return;
    pcs_yaml *node = pcs_case_get(b->c, pcs_case_get(b->c, owner, key), "expression");
    formulas_sample(b, node, a->expression, is_position);
}

static void formulas_sample_joint(pcs_build *b, pcs_yaml *node, const pcs_row_source *joint)
{
    const char *params = joint->params;
    for (const pcs_source_signal *s = joint->ops->signals; s != NULL && s->name != NULL; s++) {
        const pcs_amplitude *signal = (const void *)(params + s->offset);
        formulas_sample_amplitude(b, node, s->name, signal, !s->is_rate);
    }
    for (const pcs_option *o = joint->ops->options; o->name != NULL; o++) {
        if (o->kind != PCS_OPTION_FORMULA) continue;
        const pcs_expression *e = *(const pcs_expression *const *)(const void *)(params + o->offset);
        if (e != NULL) formulas_sample(b, pcs_case_get(b->c, node, o->name), e, true);
    }
}

pcs_status pcs_build_sample_formulas(pcs_build *b)
{
    pcs_yaml *root = pcs_case_root(b->c), *loads = pcs_case_get(b->c, root, "loads");
    pcs_yaml *joints = pcs_case_get(b->c, root, "joints");
    for (int i = 0; i < b->model.nload; i++)
        formulas_sample_amplitude(b, loads->items[i], "amplitude", &b->model.loads[i].amplitude, false);
    for (int i = 0; i < b->model.njoint; i++) formulas_sample_joint(b, joints->items[i], &b->model.joints[i]);
    return pcs_case_finish(b->c);
}

// Section `supports`.

static const char *const supports_axes[] = { "x", "y", "z", "rx", "ry", "rz", NULL };

static pcs_status supports_read_fix(pcs_build *b, const pcs_form *self, pcs_yaml *list, void *member)
{
    bool *fixes = member;
    if (!pcs_case_is(b->c, list, PCS_YAML_LIST)) return PCS_OK;
    if (list->count == 0) pcs_case_reject(b->c, list, "is empty, needs some of x, y, z, rx, ry, rz");
    for (int i = 0; i < list->count; i++) {
        pcs_yaml *item = list->items[i];
        if (!pcs_case_is(b->c, item, PCS_YAML_SCALAR)) continue;
        int axis = 0;
        while (supports_axes[axis] != NULL && strcmp(supports_axes[axis], item->text) != 0) axis++;
        if (axis == 6) {
            pcs_case_reject(b->c, item, "must be one of x, y, z, rx, ry, rz, is '%.80s'", item->text);
        } else if (fixes[axis]) {
            pcs_case_reject(b->c, item, "gives '%s' twice", supports_axes[axis]);
        } else {
            fixes[axis] = true;
        }
    }
    return PCS_OK;
}

static const pcs_form fix_form = { .shown = "some of [x, y, z, rx, ry, rz]",
                                   .json = "'type':'array','minItems':1,'uniqueItems':true,"
                                           "'items':{'enum':['x','y','z','rx','ry','rz']}",
                                   .read = supports_read_fix };

static const pcs_option support_options[] = {
    PCS_FORM("set", pcs_fe_support, nodes, PCS_REQUIRED, pcs_set_form, "the set of nodes that is held"),
    PCS_FORM("fix", pcs_fe_support, fixes, PCS_REQUIRED, fix_form, "the directions that are held"),
    PCS_FLAG("reactions", pcs_fe_support, has_reactions, PCS_DEFAULT("false"),
             "history columns of its force and moment on the model, means over each step"),
    { .name = NULL },
};
const pcs_map pcs_support_map = { .name = "support", .is_entry = true, .options = support_options };

static pcs_status supports_read(pcs_build *b, const char *name, pcs_yaml *node, void *item)
{
    pcs_fe_support *support = item;
    support->name = name;
    return node == NULL ? PCS_OK : pcs_build_read(b, node, support_options, support, NULL);
}

const pcs_build_list pcs_support_list =
    PCS_BUILD_LIST("supports", NULL, pcs_fe_support, model.nsupport, model.supports, supports_read);

enum { TYPE_GRAVITY, TYPE_FORCE, TYPE_MOMENT, TYPE_TORQUE, TYPE_LINE };

// A load as the case states it.
typedef struct load_params {
    pcs_fe_load load;
    double axis[3], torque;
} load_params;

static const pcs_option gravity_options[] = {
    PCS_VECTOR("g", load_params, load.value, PCS_REQUIRED, PCS_ANY_NUMBER, "acceleration of gravity, m/s^2"),
    PCS_VECTOR("datum", load_params, load.datum, PCS_DEFAULT("[0.0, 0.0, 0.0]"), PCS_ANY_NUMBER,
               "point where the potential is zero, m"),
    { .name = NULL },
};

#define LOAD_FOLLOWER                                                     \
    PCS_FLAG("follower", load_params, load.follows, PCS_DEFAULT("false"), \
             "the load rotates with its node, which needs finite rotations")
#define LOAD_AMPLITUDE                                                                   \
    PCS_FORM("amplitude", load_params, load.amplitude, PCS_OPTIONAL, pcs_amplitude_form, \
             "factor over time, by one of its keys")
// One of the first two is required.
#define LOAD_NODES                                                                                                 \
    PCS_FORM("node", load_params, load.nodes, PCS_OPTIONAL, pcs_node_form, "a set of one node"),                   \
        PCS_FORM("set", load_params, load.nodes, PCS_OPTIONAL, pcs_set_form, "a set of nodes, instead of `node`"), \
        LOAD_AMPLITUDE

static const pcs_option force_options[] = {
    PCS_VECTOR("value", load_params, load.value, PCS_REQUIRED, PCS_ANY_NUMBER, "force on each of the nodes, N"),
    LOAD_FOLLOWER,
    LOAD_NODES,
    { .name = NULL },
};

static const pcs_option moment_options[] = {
    PCS_VECTOR("value", load_params, load.value, PCS_REQUIRED, PCS_ANY_NUMBER,
               "moment on each of the nodes about x, y, z, N m"),
    LOAD_FOLLOWER,
    LOAD_NODES,
    { .name = NULL },
};

static const pcs_option torque_options[] = {
    PCS_REAL("value", load_params, torque, PCS_REQUIRED, PCS_ANY_NUMBER,
             "torque on each of the nodes about the axis, N m"),
    PCS_VECTOR("axis", load_params, axis, PCS_REQUIRED, PCS_ANY_NUMBER, "axis of the torque; any length"),
    LOAD_FOLLOWER,
    LOAD_NODES,
    { .name = NULL },
};

static const pcs_option line_options[] = {
    PCS_VECTOR("value", load_params, load.value, PCS_REQUIRED, PCS_ANY_NUMBER,
               "force per length of the cells at rest, N/m"),
    PCS_FORM("cells", load_params, load.cells, PCS_REQUIRED, pcs_cells_form, "the set of cells that is loaded"),
    LOAD_AMPLITUDE,
    { .name = NULL },
};

static const pcs_map_part load_types[] = {
    [TYPE_GRAVITY] = { "gravity", "weight of everything that has mass", gravity_options, NULL, 0, NULL },
    [TYPE_FORCE] = { "force", "a force on nodes", force_options, NULL, 0, NULL },
    [TYPE_MOMENT] = { "moment", "a moment on nodes", moment_options, NULL, 0, NULL },
    [TYPE_TORQUE] = { "torque", "a torque about an axis on nodes", torque_options, NULL, 0, NULL },
    [TYPE_LINE] = { "line", "a force along cells", line_options, NULL, 0, NULL },
};

static bool load_parts(pcs_context *ctx, int i, pcs_map_part *out)
{
    if (i > TYPE_LINE) return false;
    *out = load_types[i];
    return true;
}

const pcs_map pcs_load_map = { .name = "load", .kind = PCS_MAP_TYPES, .is_entry = true, .parts = load_parts };

static pcs_status loads_read(pcs_build *b, const char *name, pcs_yaml *node, void *item)
{
    static const char *const nodes[] = { "node", "set", NULL };
    load_params p = { .load.name = name };
    bool is_fine;
    int type = node == NULL ? -1 : pcs_build_type(b, node, load_parts);
    if (type < 0) return PCS_OK;
    p.load.is_gravity = type == TYPE_GRAVITY;
    p.load.kind = type == TYPE_FORCE ? PCS_LOAD_FORCE : PCS_LOAD_MOMENT;
    if (type == TYPE_LINE) p.load.kind = PCS_LOAD_LINE;
    PCS_TRY(pcs_build_read(b, node, load_types[type].options, &p, &is_fine));
    if (type != TYPE_GRAVITY && type != TYPE_LINE) (void)pcs_case_one(b->c, node, nodes, true);
    double length = type == TYPE_TORQUE && is_fine ? pcs_norm3(p.axis) : 1.0;
    if (!(length > 0.0) || !isfinite(length)) pcs_case_error_at(b->c, node, "axis", "the axis has no direction");
    if (type == TYPE_TORQUE)
        for (int k = 0; k < 3; k++) p.load.value[k] = p.torque * p.axis[k] / length;
    *(pcs_fe_load *)item = p.load;
    return PCS_OK;
}

const pcs_build_list pcs_load_list = PCS_BUILD_LIST("loads", NULL, pcs_fe_load, model.nload, model.loads, loads_read);
