// Loads of a case: gravity, forces, moments, torques and line loads, with amplitudes in time.

#include "build/sections.h"

#include <math.h>

enum { TYPE_GRAVITY, TYPE_FORCE, TYPE_MOMENT, TYPE_TORQUE, TYPE_LINE };

// A load as the case states it.
typedef struct load_params {
    pcs_fe_load load;
    double axis[3], torque;
} load_params;

const pcs_option pcs_gravity_options[] = {
    PCS_VECTOR("g", load_params, load.value, PCS_REQUIRED, PCS_ANY_NUMBER, "acceleration of gravity, m/s^2"),
    PCS_VECTOR("datum", load_params, load.datum, PCS_DEFAULT("[0.0, 0.0, 0.0]"), PCS_ANY_NUMBER,
               "point where the potential is zero, m"),
    { .name = NULL },
};

#define LOAD_FOLLOWER                                                     \
    PCS_FLAG("follower", load_params, load.follows, PCS_DEFAULT("false"), \
             "it turns with its node, which must turn by finite angles")

const pcs_option pcs_force_options[] = {
    PCS_VECTOR("value", load_params, load.value, PCS_REQUIRED, PCS_ANY_NUMBER, "force on each of the nodes, N"),
    LOAD_FOLLOWER,
    { .name = NULL },
};

const pcs_option pcs_moment_options[] = {
    PCS_VECTOR("value", load_params, load.value, PCS_REQUIRED, PCS_ANY_NUMBER,
               "moment on each of the nodes about x, y, z, N m"),
    LOAD_FOLLOWER,
    { .name = NULL },
};

const pcs_option pcs_torque_options[] = {
    PCS_REAL("value", load_params, torque, PCS_REQUIRED, PCS_ANY_NUMBER,
             "torque on each of the nodes about the axis, N m"),
    PCS_VECTOR("axis", load_params, axis, PCS_REQUIRED, PCS_ANY_NUMBER, "axis of the torque; any length"),
    LOAD_FOLLOWER,
    { .name = NULL },
};

const pcs_option pcs_line_options[] = {
    PCS_VECTOR("value", load_params, load.value, PCS_REQUIRED, PCS_ANY_NUMBER,
               "force per length of the cells at rest, N/m"),
    { .name = NULL },
};

// Torque times axis.
static void loads_take_axis(pcs_build *b, pcs_yaml *node, load_params *p)
{
    double length = pcs_norm3(p->axis);
    if (!(length > 0.0) || !isfinite(length)) pcs_case_error_at(b->c, node, "axis", "the axis has no direction");
    for (int k = 0; k < 3; k++) p->load.value[k] = p->torque * p->axis[k] / length;
}

static pcs_status loads_read(pcs_build *b, pcs_yaml *node, int type, pcs_fe_load *load)
{
    static const pcs_option *const options[] = { pcs_gravity_options, pcs_force_options, pcs_moment_options,
                                                 pcs_torque_options, pcs_line_options };
    load_params p = { .load = *load };
    bool is_read = pcs_case_read(b->c, node, options[type], &p);
    p.load.is_gravity = type == TYPE_GRAVITY;
    p.load.kind = type == TYPE_FORCE ? PCS_LOAD_FORCE : PCS_LOAD_MOMENT;
    if (type == TYPE_LINE) {
        p.load.kind = PCS_LOAD_LINE;
        pcs_yaml *cells = pcs_case_need(b->c, node, "cells", PCS_YAML_SCALAR, "the set of cells that is loaded");
        if (cells != NULL) p.load.cells = pcs_build_set(b, cells, true, false);
    } else if (type != TYPE_GRAVITY) {
        p.load.nodes = pcs_build_set_of(b, node, "node", "set");
    }
    if (type == TYPE_TORQUE && is_read) loads_take_axis(b, node, &p);
    *load = p.load;
    return type == TYPE_GRAVITY ? PCS_OK : pcs_build_amplitude(b, node, "amplitude", &load->amplitude);
}

pcs_status pcs_build_loads(pcs_build *b)
{
    static const char *const types[] = { "gravity", "force", "moment", "torque", "line", NULL };
    int count;
    pcs_yaml *section = pcs_build_section(b, "loads", false, "loads by name", &count);
    pcs_fe_load *loads = NULL;
    PCS_TAKE(b->ctx, loads, count, "loads");
    for (int i = 0; i < count; i++) {
        pcs_yaml *node = pcs_case_entry(b->c, section, i, PCS_YAML_MAP);
        loads[i].name = pcs_yaml_key(section, i);
        int type = node == NULL ? -1 : pcs_case_type(b->c, node, types);
        if (type >= 0) PCS_TRY(loads_read(b, node, type, &loads[i]));
    }
    b->model.nload = count;
    b->model.loads = loads;
    return PCS_OK;
}
