// Section `initial`, and the initial state that follows from it.

#include "build/builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct initial_keys {
    pcs_yaml *set, *displacement, *velocity, *rotation, *spin;
    double about[3];
} initial_keys;

static const pcs_form profile_form = { .shown = "[x, y, z] or { from, to }", .json = "'$ref':'#/definitions/profile'" };

#define INITIAL_HELP "numbers or formulas of the place x, y, z of a node, or linear over the set"

static const pcs_option initial_options[] = {
    PCS_SET("set", initial_keys, set, PCS_REQUIRED, "the set of nodes that starts so"),
    PCS_NODE("displacement", initial_keys, displacement, PCS_OPTIONAL, profile_form, INITIAL_HELP ", m"),
    PCS_NODE("velocity", initial_keys, velocity, PCS_OPTIONAL, profile_form, INITIAL_HELP ", m/s"),
    PCS_NODE("rotation", initial_keys, rotation, PCS_OPTIONAL, profile_form, INITIAL_HELP ", rad"),
    PCS_NODE("spin", initial_keys, spin, PCS_OPTIONAL, profile_form, INITIAL_HELP ", rad/s"),
    PCS_VECTOR("about", initial_keys, about, PCS_OPTIONAL, PCS_ANY_NUMBER,
               "the spin is that of a rigid body about this point, m"),
    { .name = NULL },
};
static const char *const initial_some[] = { "displacement", "velocity", "rotation", "spin", NULL };
const pcs_map pcs_initial_map = {
    .name = "initial value", .is_entry = true, .options = initial_options, .some = initial_some
};

// Reads one vector for all nodes, of numbers and formulas of position, or {from, to} for the first and the last node.
static void initial_read_profile(pcs_build *b, pcs_yaml *node, pcs_fe_profile *out)
{
    const pcs_range any = PCS_ANY_NUMBER;
    out->is_given = node != NULL;
    if (node == NULL) return;
    if (pcs_yaml_get_kind(node) == PCS_YAML_MAP) {
        pcs_yaml *from = pcs_case_need(b->c, node, "from", PCS_YAML_LIST, "the value at the first node of the set");
        pcs_yaml *to = pcs_case_need(b->c, node, "to", PCS_YAML_LIST, "the value at the last node of the set");
        if (from != NULL) pcs_case_vector(b->c, from, any, out->ends[0]);
        if (to != NULL) pcs_case_vector(b->c, to, any, out->ends[1]);
    } else if (pcs_case_place_vector(b->c, node, out->ends[0], out->formula)) {
        memcpy(out->ends[1], out->ends[0], sizeof out->ends[0]);
    }
}

static void initial_read(pcs_build *b, pcs_yaml *node, pcs_fe_initial *out)
{
    initial_keys keys = { 0 };
    (void)pcs_case_read(b->c, node, initial_options, &keys);
    if (keys.set != NULL) out->nodes = pcs_build_set(b, keys.set, false, false);
    initial_read_profile(b, keys.displacement, &out->displacement);
    initial_read_profile(b, keys.velocity, &out->velocity);
    initial_read_profile(b, keys.rotation, &out->rotation);
    initial_read_profile(b, keys.spin, &out->spin);
    out->has_about = !isnan(keys.about[0]);
    memcpy(out->about, keys.about, sizeof out->about);
    const pcs_yaml *about = pcs_case_get(b->c, node, "about");
    if (about != NULL && keys.spin == NULL)
        pcs_case_reject(b->c, about, "is the centre of a spin, and no spin is given");
    if (keys.displacement == NULL && keys.velocity == NULL && keys.rotation == NULL && keys.spin == NULL)
        pcs_case_error_at(b->c, node, NULL, "missing key 'displacement', 'velocity', 'rotation' or 'spin'");
}

pcs_status pcs_build_initials(pcs_build *b)
{
    pcs_yaml *section = pcs_case_get(b->c, pcs_case_root(b->c), "initial");
    if (section != NULL && !pcs_case_is(b->c, section, PCS_YAML_LIST)) section = NULL;
    int count = section == NULL ? 0 : pcs_yaml_count(section);
    pcs_fe_initial *initials = NULL;
    PCS_TAKE(b->ctx, initials, count, "initial values");
    for (int i = 0; i < count; i++) {
        pcs_yaml *node = pcs_yaml_item(section, i);
        if (pcs_case_is(b->c, node, PCS_YAML_MAP)) initial_read(b, node, &initials[i]);
    }
    b->model.ninitial = count;
    b->model.initials = initials;
    return PCS_OK;
}

pcs_status pcs_build_state(pcs_build *b)
{
    pcs_sim *sim = b->sim;
    const pcs_system *system = sim->system;
    pcs_state *x = &sim->state;
    PCS_TAKE(b->ctx, x->q, system->nq, "the state");
    PCS_TAKE(b->ctx, x->v, system->nv, "the state");
    const char *culprit = NULL;
    pcs_status status = PCS_OK;
    if (b->has_system) b->definition->start(b->system_params, x->q, x->v);
    else status = pcs_fe_initial_state(system, x->q, x->v, &culprit);
    if (status != PCS_OK) return pcs_build_blame(b, pcs_case_find(b->c, culprit), status);
    bool has_changed;
    if (system->row_set.may_change) PCS_TRY(system->ops->search(sim->system, pcs_at(x->t, x->q, NULL), &has_changed));
    return PCS_OK;
}

// Gaps of the initial state: bodies that overlap before anything has moved are an error of the case.

// A contact that overlaps.
typedef struct gaps_fault {
    const pcs_contact_info *contact;
    int worst, count; // point of the largest overlap, and number of points that overlap
    double gap;       // gap of that point, m
    bool is_mended;   // no point would overlap with the normal reversed
} gaps_fault;

// Returns true if the gap n . (x - p) - r is not negative with the normal reversed; the radius stays.
static bool gaps_is_mended(const pcs_build *b, int contact, double gap, double none)
{
    const pcs_row_source *of = &b->model.contacts[contact];
    double radius = 0.0;
    (void)pcs_build_real(of->ops->options, of->params, "node_radius", &radius);
    return -gap - 2.0 * radius >= -none;
}

static gaps_fault gaps_find(const pcs_build *b, int i, const double *gap)
{
    const pcs_system *system = b->sim->system;
    const double *q = b->sim->state.q;
    gaps_fault fault = { .contact = &system->contacts[i] };
    bool has_normal = !b->has_system && pcs_build_has_option(b->model.contacts[i].ops->options, "normal");
    fault.is_mended = has_normal;
    for (int j = 0; j < fault.contact->nrow; j++) {
        int row = fault.contact->first_row + j;
        double none = pcs_gap_tie(system, row, q); // as for gates and certificate
        bool is_off = system->rows[row].is_bilateral ? fabs(gap[row]) > none : gap[row] < -none;
        fault.is_mended = fault.is_mended && gaps_is_mended(b, i, gap[row], none);
        if (!is_off) continue;
        if (fault.count == 0 || fabs(gap[row]) > fabs(fault.gap)) {
            fault.worst = j;
            fault.gap = gap[row];
        }
        fault.count++;
    }
    return fault;
}

// Writes the node on which a row acts most, as "node 5 at (1, 0, 0)".
static void gaps_name_node(const pcs_system *system, int row, size_t size, char *text)
{
    const pcs_rows *G = system->G;
    int first = G->start[row], largest = first;
    text[0] = '\0';
    if (!pcs_system_is_mesh(system) || G->start[row + 1] == first) return;
    for (int k = first; k < G->start[row + 1]; k++)
        if (fabs(G->value[k]) > fabs(G->value[largest])) largest = k;
    system->ops->describe(system, G->column[largest], NULL, NULL, size, text);
    char *end = strchr(text, ')'); // the direction says nothing new
    if (end != NULL) end[1] = '\0';
}

static void gaps_reject(pcs_build *b, const pcs_yaml *node, const gaps_fault *fault)
{
    const pcs_system *system = b->sim->system;
    int row = fault->contact->first_row + fault->worst;
    bool is_bilateral = system->rows[row].is_bilateral;
    char where[256], others[64] = "";
    gaps_name_node(system, row, sizeof where, where);
    if (fault->count > 1) snprintf(others, sizeof others, ", the deepest of %d points", fault->count);
    const char *advice = "";
    if (fault->is_mended) advice = "; reversing the normal would remove the overlap";
    else if (!b->has_system &&
             pcs_build_has_option(b->model.contacts[fault->contact - system->contacts].ops->options, "normal"))
        advice = "; reversing the normal would not remove it";
    pcs_case_error_at(b->c, node, NULL, "the gap of point %d%s%s is %g m at t = 0, must be %s 0%s%s%s%s", fault->worst,
                      b->has_system ? " of " : "", b->has_system ? fault->contact->name : "", fault->gap,
                      is_bilateral ? "=" : ">=", where[0] == '\0' ? "" : ": ", where, others, advice);
}

pcs_status pcs_build_check_gaps(pcs_build *b)
{
    pcs_system *system = b->sim->system;
    const double *q = b->sim->state.q;
    double *gap = pcs_scratch(NULL, (size_t)system->nrow, sizeof *gap);
    if (gap == NULL) return pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: %d gaps", system->nrow);
    pcs_instant at = pcs_at(b->sim->state.t, q, NULL);
    pcs_system_gaps(system, at, gap);
    if (system->row_set.vary) pcs_system_aim(system, at);
    const pcs_yaml *section = pcs_case_find(b->c, b->has_system ? "system" : "contacts");
    for (int i = 0; i < system->ncontact; i++) {
        bool gives_way = system->ncompliant > 0 && system->contacts[i].first_row >= system->nrow;
        if (system->contacts[i].is_joint || gives_way) continue;
        gaps_fault fault = gaps_find(b, i, gap);
        if (fault.count > 0) gaps_reject(b, b->has_system ? section : pcs_yaml_item(section, i), &fault);
    }
    pcs_scratch_free(gap);
    if (!pcs_rows_are_spread(system)) return PCS_OK;
    // Processes that know all contacts report which are wrong.
    bool is_wrong = pcs_rows_any(system, pcs_case_error_count(b->c) > 0);
    return is_wrong ? pcs_fail(b->ctx, PCS_BAD_INPUT, "a gap is wrong") : PCS_OK;
}
