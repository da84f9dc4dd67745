// Loads of a case: gravity, forces, moments, torques and line loads, with amplitudes in time.

#include "build/builder.h"

#include <math.h>
#include <string.h>

// Section `supports`.

static const char *const supports_axes[] = { "x", "y", "z", "rx", "ry", "rz", NULL };

static void supports_read_fix(pcs_build *b, pcs_yaml *list, bool fixes[6])
{
    if (!pcs_case_is(b->c, list, PCS_YAML_LIST)) return;
    if (pcs_yaml_count(list) == 0) pcs_case_reject(b->c, list, "is empty, needs some of x, y, z, rx, ry, rz");
    for (int i = 0; i < pcs_yaml_count(list); i++) {
        pcs_yaml *item = pcs_yaml_item(list, i);
        if (!pcs_case_is(b->c, item, PCS_YAML_SCALAR)) continue;
        int axis = 0;
        while (supports_axes[axis] != NULL && strcmp(supports_axes[axis], pcs_yaml_text(item)) != 0) axis++;
        if (axis == 6) {
            pcs_case_reject(b->c, item, "must be one of x, y, z, rx, ry, rz, is '%.80s'", pcs_yaml_text(item));
        } else if (fixes[axis]) {
            pcs_case_reject(b->c, item, "gives '%s' twice", supports_axes[axis]);
        } else {
            fixes[axis] = true;
        }
    }
}

typedef struct support_keys {
    pcs_yaml *set, *fix;
    bool has_reactions;
} support_keys;

static const pcs_form fix_form = { .shown = "some of [x, y, z, rx, ry, rz]",
                                   .json = "'type':'array','minItems':1,'uniqueItems':true,"
                                           "'items':{'enum':['x','y','z','rx','ry','rz']}" };

static const pcs_option support_options[] = {
    PCS_SET("set", support_keys, set, PCS_REQUIRED, "the set of nodes that is held"),
    PCS_NODE("fix", support_keys, fix, PCS_REQUIRED, fix_form, "the directions that are held"),
    PCS_FLAG("reactions", support_keys, has_reactions, PCS_DEFAULT("false"),
             "history columns of its force and moment on the model, means over each step"),
    { .name = NULL },
};
const pcs_map pcs_support_map = { .name = "support", .is_entry = true, .options = support_options };

pcs_status pcs_build_supports(pcs_build *b)
{
    int count;
    pcs_yaml *section = pcs_build_section(b, "supports", false, "supports by name", &count);
    pcs_fe_support *supports = NULL;
    PCS_TAKE(b->ctx, supports, count, "supports");
    for (int i = 0; i < count; i++) {
        pcs_yaml *node = pcs_case_entry(b->c, section, i, PCS_YAML_MAP);
        if (node == NULL) continue;
        supports[i].name = pcs_yaml_key(section, i);
        support_keys keys = { 0 };
        (void)pcs_case_read(b->c, node, support_options, &keys);
        if (keys.set != NULL) supports[i].nodes = pcs_build_set(b, keys.set, false, false);
        if (keys.fix != NULL) supports_read_fix(b, keys.fix, supports[i].fixes);
        supports[i].has_reactions = keys.has_reactions;
    }
    b->model.nsupport = count;
    b->model.supports = supports;
    return PCS_OK;
}

enum { TYPE_GRAVITY, TYPE_FORCE, TYPE_MOMENT, TYPE_TORQUE, TYPE_LINE };

// A load as the case states it.
typedef struct load_params {
    pcs_fe_load load;
    double axis[3], torque;
    pcs_yaml *node, *set, *cells, *amplitude;
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
#define LOAD_AMPLITUDE                                                            \
    PCS_MAP("amplitude", load_params, amplitude, PCS_OPTIONAL, pcs_amplitude_map, \
            "factor over time, by one of its keys")
// One of the first two is given.
#define LOAD_NODES                                                         \
    PCS_SET("node", load_params, node, PCS_OPTIONAL, "a set of one node"), \
        PCS_SET("set", load_params, set, PCS_OPTIONAL, "a set of nodes, instead of `node`"), LOAD_AMPLITUDE

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
    PCS_SET("cells", load_params, cells, PCS_REQUIRED, "the set of cells that is loaded"),
    LOAD_AMPLITUDE,
    { .name = NULL },
};

static const char *const load_one[] = { "node", "set", NULL };
static const pcs_map_part load_types[] = {
    [TYPE_GRAVITY] = { "gravity", "weight of everything that has mass", gravity_options, NULL, NULL },
    [TYPE_FORCE] = { "force", "a force on nodes", force_options, NULL, load_one },
    [TYPE_MOMENT] = { "moment", "a moment on nodes", moment_options, NULL, load_one },
    [TYPE_TORQUE] = { "torque", "a torque about an axis on nodes", torque_options, NULL, load_one },
    [TYPE_LINE] = { "line", "a force along cells", line_options, NULL, NULL },
};

static bool load_parts(pcs_context *ctx, int i, pcs_map_part *out)
{
    if (i > TYPE_LINE) return false;
    *out = load_types[i];
    return true;
}

const pcs_map pcs_load_map = { .name = "load", .kind = PCS_MAP_TYPES, .is_entry = true, .parts = load_parts };

// Returns the nodes under `node` or `set`, exactly one of which must be given; NULL, with an error, otherwise.
static const pcs_set *loads_nodes(pcs_build *b, const pcs_yaml *map, const load_params *p)
{
    if (p->node != NULL && p->set != NULL) {
        pcs_case_error_at(b->c, map, "set", "'node' and 'set' are both given, only one is allowed");
    } else if (p->node == NULL && p->set == NULL) {
        pcs_case_error_at(b->c, map, NULL, "missing key 'node' or 'set'");
    } else {
        return pcs_build_set(b, p->node != NULL ? p->node : p->set, false, p->node != NULL);
    }
    return NULL;
}

// Sets the load vector to torque times unit axis, N m.
static void loads_take_axis(pcs_build *b, pcs_yaml *node, load_params *p)
{
    double length = pcs_norm3(p->axis);
    if (!(length > 0.0) || !isfinite(length)) pcs_case_error_at(b->c, node, "axis", "the axis has no direction");
    for (int k = 0; k < 3; k++) p->load.value[k] = p->torque * p->axis[k] / length;
}

static pcs_status loads_read(pcs_build *b, pcs_yaml *node, int type, pcs_fe_load *load)
{
    load_params p = { .load = *load };
    bool is_read = pcs_case_read(b->c, node, load_types[type].options, &p);
    p.load.is_gravity = type == TYPE_GRAVITY;
    p.load.kind = type == TYPE_FORCE ? PCS_LOAD_FORCE : PCS_LOAD_MOMENT;
    if (type == TYPE_LINE) {
        p.load.kind = PCS_LOAD_LINE;
        if (p.cells != NULL) p.load.cells = pcs_build_set(b, p.cells, true, false);
    } else if (type != TYPE_GRAVITY) {
        p.load.nodes = loads_nodes(b, node, &p);
    }
    if (type == TYPE_TORQUE && is_read) loads_take_axis(b, node, &p);
    *load = p.load;
    return p.amplitude == NULL ? PCS_OK : pcs_build_amplitude(b, node, "amplitude", &load->amplitude);
}

pcs_status pcs_build_loads(pcs_build *b)
{
    int count;
    pcs_yaml *section = pcs_build_section(b, "loads", false, "loads by name", &count);
    pcs_fe_load *loads = NULL;
    PCS_TAKE(b->ctx, loads, count, "loads");
    for (int i = 0; i < count; i++) {
        pcs_yaml *node = pcs_case_entry(b->c, section, i, PCS_YAML_MAP);
        loads[i].name = pcs_yaml_key(section, i);
        int type = node == NULL ? -1 : pcs_build_type(b, node, load_parts);
        if (type >= 0) PCS_TRY(loads_read(b, node, type, &loads[i]));
    }
    b->model.nload = count;
    b->model.loads = loads;
    return PCS_OK;
}
