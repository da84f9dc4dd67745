// Loads of a case: gravity, forces, moments, torques and line loads, with amplitudes in time.

#include "build/builder.h"

#include <math.h>
#include <string.h>

// Section `supports`.

static const char *const supports_axes[] = { "x", "y", "z", "rx", "ry", "rz", NULL };

static pcs_status supports_read_fix(pcs_build *b, pcs_yaml *list, void *member)
{
    bool *fixes = member;
    if (!pcs_case_is(b->c, list, PCS_YAML_LIST)) return PCS_OK;
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

pcs_status pcs_build_supports(pcs_build *b)
{
    void *supports;
    pcs_yaml *section = pcs_build_section(b, "supports", NULL, &b->model.nsupport);
    PCS_TRY(pcs_build_entries(b, section, sizeof(pcs_fe_support), supports_read, &supports));
    b->model.supports = supports;
    return PCS_OK;
}

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
// One of the first two is given.
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

// Sets the load vector to torque times unit axis, N m.
static void loads_take_axis(pcs_build *b, pcs_yaml *node, load_params *p)
{
    double length = pcs_norm3(p->axis);
    if (!(length > 0.0) || !isfinite(length)) pcs_case_error_at(b->c, node, "axis", "the axis has no direction");
    for (int k = 0; k < 3; k++) p->load.value[k] = p->torque * p->axis[k] / length;
}

static pcs_status loads_read(pcs_build *b, const char *name, pcs_yaml *node, void *item)
{
    load_params p = { .load.name = name };
    bool is_fine;
    int type = node == NULL ? -1 : pcs_build_type(b, node, load_parts);
    if (type < 0) return PCS_OK;
    const pcs_map_part *part = &load_types[type];
    p.load.is_gravity = type == TYPE_GRAVITY;
    p.load.kind = type == TYPE_FORCE ? PCS_LOAD_FORCE : PCS_LOAD_MOMENT;
    if (type == TYPE_LINE) p.load.kind = PCS_LOAD_LINE;
    PCS_TRY(pcs_build_read(b, node, part->options, &p, &is_fine));
    if (part->one != NULL) (void)pcs_case_one(b->c, node, part->one, true);
    if (type == TYPE_TORQUE && is_fine) loads_take_axis(b, node, &p);
    *(pcs_fe_load *)item = p.load;
    return PCS_OK;
}

pcs_status pcs_build_loads(pcs_build *b)
{
    void *loads;
    pcs_yaml *section = pcs_build_section(b, "loads", NULL, &b->model.nload);
    PCS_TRY(pcs_build_entries(b, section, sizeof(pcs_fe_load), loads_read, &loads));
    b->model.loads = loads;
    return PCS_OK;
}
