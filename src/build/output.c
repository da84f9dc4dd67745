// Section `output`: observers and probes.

#include "build/builder.h"
#include "closed_form/closed_form.h"
#include "core/text.h"
#include "output/frames.h"
#include "sim/sim.h"

#include <stdio.h>
#include <string.h>

// Returns true if an observer is switched off by `false`; rejects anything else but a map of options.
static bool output_is_off(pcs_build *b, pcs_yaml *node)
{
    if (node->kind == PCS_YAML_MAP) return false;
    if (node->kind == PCS_YAML_SCALAR && strcmp(node->text, "false") == 0) return true;
    (void)pcs_case_want(b->c, node, "a map of options, {} for the defaults, or false for none");
    return true;
}

// Checks the cell sets that the options of an observer name.
static void output_check_sets(pcs_build *b, pcs_yaml *map, const char *const *options)
{
    for (int i = 0; options[i] != NULL; i++) {
        pcs_yaml *set = pcs_case_get(b->c, map, options[i]);
        int count = set == NULL || set->kind != PCS_YAML_LIST ? 0 : set->count;
        for (int k = 0; k < count; k++) (void)pcs_build_set(b, set->items[k], true, false);
        if (set != NULL && set->kind == PCS_YAML_SCALAR) (void)pcs_build_set(b, set, true, false);
    }
}

// Gives the observers and, last, checkpoints, which are a map of options or false as well.
static bool observer_parts(pcs_context *ctx, int i, pcs_map_part *out)
{
    int count = 0;
    while (pcs_observers[count] != NULL) count++;
    *out = (pcs_map_part){ "checkpoint", "what a run can be resumed from", pcs_checkpoint_options, NULL, 0, NULL };
    if (i >= count) return i == count;
    const pcs_observer_ops *ops = pcs_observers[i];
    *out = (pcs_map_part){ ops->name, ops->summary, ops->options, NULL, ops->params_size, ops->check_params };
    return true;
}

static pcs_status output_observer(pcs_build *b, pcs_yaml *output, int i)
{
    const pcs_observer_ops *ops = pcs_observers[i];
    pcs_yaml *node = pcs_case_get(b->c, output, ops->name);
    // Progress is requested by the program that runs the simulation, not by the case.
    bool is_wanted = node != NULL || ops->is_default || strcmp(ops->name, "progress") == 0;
    if (!is_wanted || (node != NULL && output_is_off(b, node))) return PCS_OK;
    node = pcs_case_get_map(b->c, output, ops->name);
    if (node == NULL) return PCS_OK;
    void *params = NULL, *data = NULL;
    PCS_TRY(pcs_build_part(b, node, observer_parts, i, &params));
    PCS_TRY(pcs_build_params(b, ops->data_size, &data));
    if (ops->cell_options != NULL && !b->has_system) output_check_sets(b, node, ops->cell_options);
    b->sim->observers[b->sim->nobserver++] =
        (pcs_observer){ .ops = ops, .ctx = b->ctx, .view = &b->sim->view, .params = params, .data = data };
    return PCS_OK;
}

typedef struct output_probe {
    const pcs_set *items;
    int item;
} output_probe;

static const pcs_form components_form = {
    .shown = "[components]", .json = "'type':'array','minItems':1,'uniqueItems':true,'items':{'type':'string'}"
};
// One of the first four is required. A system in closed form has only the last one.
static const pcs_option probe_options[] = {
    PCS_FORM("node", output_probe, items, PCS_OPTIONAL, pcs_node_form, "a set of one node"),
    PCS_FORM("set", output_probe, items, PCS_OPTIONAL, pcs_set_form, "a set of nodes"),
    PCS_FORM("element", output_probe, items, PCS_OPTIONAL, pcs_cells_form, "a set of cells"),
    PCS_FORM("body", output_probe, items, PCS_OPTIONAL, pcs_cells_form,
             "a set of cells, of whose centre of mass `of` is recorded"),
    PCS_COUNT("item", output_probe, item, PCS_OPTIONAL, PCS_NOT_NEGATIVE,
              "one item of the set, from 0; by default the mean over the set, or the centre of the body"),
    PCS_KEY("of", PCS_REQUIRED, components_form,
            "x, .., ux, .., vx, .., rx, .., wx, .., a field of the element such as stress, or a coordinate of the "
            "system"),
    { .name = NULL },
};
enum { PROBE_OF = 5 }; // index in the table
static const char *const probe_one[] = { "node", "set", "element", "body", NULL };
static const pcs_map map_probe = { .name = "probe", .is_entry = true, .options = probe_options };
static const pcs_map map_probes = { .name = "probes", .kind = PCS_MAP_NAMES, .entry = &map_probe };

static const pcs_option output_options[] = {
    PCS_KEY_MAP("probes", PCS_OPTIONAL, map_probes,
                "columns of the history, by name: `of` of one of `node`, `set`, `element` and `body`"),
    { .name = NULL },
};
const pcs_map pcs_output_map = {
    .name = "output", .kind = PCS_MAP_PARTS, .options = output_options, .parts = observer_parts
};

static const pcs_set *output_pick_item(pcs_build *b, pcs_yaml *map, const pcs_set *set, int item)
{
    if (set == NULL || item < 0) return set;
    if (item >= set->count || set->nmore > 0) {
        pcs_case_error_at(b->c, map, "item", "item must be in [0, %d], the set '%s' has %d, is %d", set->count - 1,
                          set->name, set->count, item);
        return NULL;
    }
    pcs_set *one = pcs_take(b->ctx, 1, sizeof *one, "a probe");
    if (one != NULL) *one = (pcs_set){ .name = set->name, .count = 1, .items = set->items + item };
    return one;
}

static bool output_check_components(pcs_build *b, pcs_yaml *of)
{
    if (!pcs_case_is(b->c, of, PCS_YAML_LIST)) return false;
    if (of->count == 0) pcs_case_reject(b->c, of, "is empty, needs components such as x, ux, vx or stress");
    for (int i = 0; i < of->count; i++) {
        pcs_yaml *item = of->items[i];
        if (pcs_case_text(b->c, item) == NULL) continue;
        for (int k = 0; k < i; k++) {
            if (strcmp(item->text, of->items[k]->text) == 0) {
                pcs_case_reject(b->c, item, "gives '%.80s' twice", item->text);
                break;
            }
        }
    }
    return true;
}

static pcs_status output_read_probe(pcs_build *b, const char *name, pcs_yaml *map, void *item)
{
    pcs_build_probe *probe = item;
    output_probe p = { .item = -1 };
    probe->name = name;
    if (map == NULL) return PCS_OK;
    PCS_TRY(pcs_build_read(b, map, b->has_system ? &probe_options[PROBE_OF] : probe_options, &p, NULL));
    int which = b->has_system ? -1 : pcs_case_one(b->c, map, probe_one, true);
    probe->is_cell = which == 2;
    probe->is_body = which == 3;
    if (which >= 0) probe->items = output_pick_item(b, map, p.items, p.item);
    pcs_yaml *of = pcs_case_get(b->c, map, "of");
    if (of != NULL && output_check_components(b, of)) probe->of = of;
    return PCS_OK;
}

static const pcs_build_list probe_list =
    PCS_BUILD_LIST("probes", NULL, pcs_build_probe, nprobe, probes, output_read_probe);

pcs_status pcs_build_output(pcs_build *b)
{
    pcs_yaml *root = pcs_case_root(b->c);
    pcs_yaml *title = pcs_case_get(b->c, root, "title");
    if (title != NULL) b->sim->view.title = pcs_case_text(b->c, title);
    int count = 0;
    while (pcs_observers[count] != NULL) count++;
    PCS_TAKE(b->ctx, b->sim->observers, count, "observers");
    pcs_yaml *output = pcs_case_get_map(b->c, root, "output");
    if (output == NULL) return PCS_OK;
    for (int i = 0; i < count; i++) PCS_TRY(output_observer(b, output, i));
    pcs_yaml *checkpoint = pcs_case_get(b->c, output, "checkpoint"); // written unless they are switched off
    b->sim->has_checkpoints = checkpoint == NULL || !output_is_off(b, checkpoint);
    if (b->sim->has_checkpoints) checkpoint = pcs_case_get_map(b->c, output, "checkpoint");
    if (b->sim->has_checkpoints && checkpoint != NULL)
        pcs_case_read(b->c, checkpoint, pcs_checkpoint_options, &b->sim->checkpoints);
    return pcs_build_entries(b, output, &probe_list);
}

// Finds the probe of position or velocity of a coordinate: "theta1", "v_theta1".
static pcs_status closed_form_probe(const pcs_system *self, const char *component, pcs_probe *out)
{
    for (int i = 0; i < self->nq; i++) {
        bool is_velocity = strncmp(component, "v_", 2) == 0 && strcmp(component + 2, self->coordinates[i]) == 0;
        if (!is_velocity && strcmp(component, self->coordinates[i]) != 0) continue;
        int quantity = self->scale.is_angle[i] ? PCS_PROBE_ROTATION : PCS_PROBE_DISPLACEMENT; // rates follow them
        *out = (pcs_probe){ .quantity = quantity + is_velocity, .axis = i, .count = 1 };
        return PCS_OK;
    }
    char known[256] = "";
    for (int i = 0; i < self->nq; i++)
        pcs_text_add(known, sizeof known, "%s%s, v_%s", i == 0 ? "" : ", ", self->coordinates[i], self->coordinates[i]);
    return pcs_fail(self->ctx, PCS_BAD_INPUT, "the system has no coordinate '%s'; it has %s", component, known);
}

static pcs_status output_bind(pcs_build *b, const pcs_build_probe *probe, pcs_yaml *component, pcs_probe *out)
{
    const char *text = component->text;
    pcs_status status;
    if (b->has_system) status = closed_form_probe(b->sim->system, text, out);
    else if (probe->is_body) status = pcs_fe_body_probe(b->sim->system, probe->items, text, out);
    else if (probe->is_cell) status = pcs_fe_cell_probe(b->sim->system, probe->items, text, out);
    else status = pcs_fe_node_probe(b->sim->system, probe->items, text, out);
    if (status != PCS_OK) return pcs_build_blame(b, component, status);
    size_t room = strlen(probe->name) + strlen(text) + 2;
    char *column = pcs_take(b->ctx, room, 1, "a probe");
    if (column == NULL) return PCS_NO_MEMORY;
    snprintf(column, room, "%s.%s", probe->name, text);
    out->column = column;
    return PCS_OK;
}

// Adds every coordinate and its velocity as a column, before the probes of the case.
static pcs_status output_add_coordinates(pcs_build *b, pcs_probe *probes, int *count)
{
    const pcs_system *system = b->sim->system;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < system->nq; i++) {
            char name[128];
            snprintf(name, sizeof name, "%s%s", pass == 0 ? "" : "v_", system->coordinates[i]);
            pcs_probe *probe = &probes[(*count)++];
            PCS_TRY(closed_form_probe(system, name, probe));
            probe->column = pcs_take_text(b->ctx, name);
            if (probe->column == NULL) return PCS_NO_MEMORY;
        }
    return PCS_OK;
}

pcs_status pcs_build_probes(pcs_build *b)
{
    int count = 0;
    for (int i = 0; i < b->nprobe; i++) count += b->probes[i].of->count;
    if (b->has_system) count += 2 * b->sim->system->nq;
    PCS_TAKE(b->ctx, b->sim->probes, count, "probes");
    if (b->has_system) PCS_TRY(output_add_coordinates(b, b->sim->probes, &b->sim->nprobe));
    for (int i = 0; i < b->nprobe; i++) {
        const pcs_build_probe *probe = &b->probes[i];
        for (int k = 0; k < probe->of->count; k++) {
            PCS_TRY(output_bind(b, probe, probe->of->items[k], &b->sim->probes[b->sim->nprobe++]));
        }
    }
    return PCS_OK;
}
