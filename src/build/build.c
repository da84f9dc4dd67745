// Loads a case and builds the simulation. Sections are read one after another without stopping at an error, so
// that one pass reports them all; objects are made only from a case without errors.

#define _XOPEN_SOURCE 700 // dlopen, realpath

#include "build/build.h"

#include "analysis/statics.h"
#include "build/builder.h"
#include "closed_form/closed_form.h"
#include "core/blas.h"
#include "core/clock.h"
#include "core/comm.h"
#include "core/open.h"
#include "percuss.h"
#include "sim/sim.h"
#include "step/projection.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Section `perturbation`: a start beside that of the case, by random velocities of a given kinetic energy E.
//
//   v = v0 + s w,   G w = 0,   s^2 w . M w / 2 = E
//
// G has the rows of joints and of closed contacts, so that joints hold and nothing penetrates; positions stay. w begins
// as w_i = r_i / sqrt(M_ii) with r_i from [-1, 1], the same mean energy for every equation, and is projected onto one
// row after another (Kaczmarz), in the norm of D = diag M: w -= D^-1 G_j^T (G_j w) / (G_j D^-1 G_j^T).

static const pcs_option perturbation_options[] = {
    PCS_REAL("energy", pcs_perturbation, energy, PCS_REQUIRED, PCS_POSITIVE,
             "kinetic energy of the random velocities that are added, J"),
    PCS_COUNT("seed", pcs_perturbation, seed, PCS_DEFAULT("1"), PCS_NOT_NEGATIVE, "which random velocities"),
    { .name = NULL },
};
const pcs_map pcs_perturbation_map = { .name = "perturbation", .options = perturbation_options };

static pcs_status build_perturbation(pcs_build *b)
{
    pcs_yaml *root = pcs_case_root(b->c), *node = pcs_case_get(b->c, root, "perturbation");
    if (node == NULL || !pcs_case_is(b->c, node, PCS_YAML_MAP)) return PCS_OK;
    (void)pcs_case_read(b->c, node, perturbation_options, &b->sim->perturbation);
    if (pcs_case_get(b->c, root, "start")->kind == PCS_YAML_MAP)
        pcs_case_error_at(b->c, node, NULL, "a run that starts from another one has the velocities of that one");
    return PCS_OK;
}

typedef struct perturbation_data {
    pcs_system *system;
    double *w;       // [nv] velocities
    double *inverse; // [nv] 1/M_ii, 0 without mass
    double *gap;     // [nrow]
    double *hold;    // [nrow] 1/(G_j D^-1 G_j^T) for a row that holds, else 0
} perturbation_data;

// Projects w onto every row that holds. Returns the largest (G_j w)^2 / (G_j D^-1 G_j^T) among them.
static double perturbation_sweep(const perturbation_data *p)
{
    const pcs_rows *G = p->system->G;
    double worst = 0.0;
    for (int j = 0; j < p->system->nrow; j++) {
        double impulse = p->hold[j] * pcs_rows_dot(G, j, p->w);
        if (impulse == 0.0) continue;
        worst = fmax(worst, impulse * impulse / p->hold[j]);
        for (int k = G->start[j]; k < G->start[j + 1]; k++)
            p->w[G->column[k]] -= p->inverse[G->column[k]] * G->value[k] * impulse;
    }
    return worst;
}

// Draws w_i sqrt(M_ii) from [-1, 1] by equation and seed, and finds the rows that hold.
static void perturbation_begin(const perturbation_data *p, const double *q, int seed)
{
    const pcs_rows *G = p->system->G;
    for (int i = 0; i < p->system->nv; i++) {
        double mass = pcs_matrix_diagonal(p->system->M, i);
        p->inverse[i] = mass > 0.0 ? 1.0 / mass : 0.0;
        unsigned long long x = ((unsigned long long)seed << 32 | (unsigned)i) + 1;
        p->w[i] = pcs_draw(pcs_mix(pcs_mix(x + PCS_MIX_STEP) + PCS_MIX_STEP)) * sqrt(p->inverse[i]);
    }
    for (int j = 0; j < p->system->nrow; j++) {
        double sum = 0.0;
        for (int k = G->start[j]; k < G->start[j + 1]; k++) sum += G->value[k] * G->value[k] * p->inverse[G->column[k]];
        bool holds = p->system->rows[j].is_bilateral || p->gap[j] <= pcs_gap_tie(p->system, j, q);
        p->hold[j] = holds && sum > 0.0 ? 1.0 / sum : 0.0;
    }
}

// Finds w. The relative error left in G w is below round-off relative to v0 once w is small compared with it.
static pcs_status perturbation_project(pcs_context *ctx, const perturbation_data *p, pcs_instant at, double *energy)
{
    enum { SWEEPS = 100000 };
    const double tolerance = 1e-8;
    pcs_measure measure;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double worst = perturbation_sweep(p);
        p->system->ops->measure(p->system, at, PCS_ENERGY, &measure);
        *energy = measure.kinetic;
        if (worst <= tolerance * tolerance * *energy) return PCS_OK;
    }
    return pcs_fail(ctx, PCS_UNSUPPORTED, "no velocities found that joints and closed contacts allow");
}

// Adds the perturbation to the velocities of the state.
static pcs_status build_perturb(pcs_build *b)
{
    pcs_sim *sim = b->sim;
    pcs_system *system = sim->system;
    const pcs_state *x = &sim->state;
    perturbation_data p = { .system = system };
    double energy = 0.0;
    if (!(sim->perturbation.energy > 0.0)) return PCS_OK;
    if (system->layout != NULL) return pcs_fail(b->ctx, PCS_UNSUPPORTED, "a perturbed start is for one process");
    PCS_TAKE_EACH(b->ctx, system->nv, "the perturbation", double, &p.w, &p.inverse);
    PCS_TAKE_EACH(b->ctx, system->nrow, "the perturbation", double, &p.gap, &p.hold);
    if (!pcs_projection_move(sim->solver, x->q)) return pcs_fail(b->ctx, PCS_FAILED, "the initial mass is singular");
    pcs_system_gaps(system, pcs_at(x->t, x->q, NULL), p.gap);
    perturbation_begin(&p, x->q, sim->perturbation.seed);
    PCS_TRY(perturbation_project(b->ctx, &p, pcs_at(x->t, x->q, p.w), &energy));
    if (!(energy > 0.0)) return pcs_fail(b->ctx, PCS_UNSUPPORTED, "there is no velocity that joints allow");
    double scale = sqrt(sim->perturbation.energy / energy);
    for (int i = 0; i < system->nv; i++) x->v[i] += scale * p.w[i];
    return PCS_OK;
}

// Section `initial`, and the initial state that follows from it.

// Reads one vector for all nodes, of numbers and formulas of position, or {from, to} for the first and the last node.
static pcs_status initial_read_profile(pcs_build *b, const pcs_form *self, pcs_yaml *node, void *member)
{
    const pcs_range any = PCS_ANY_NUMBER;
    pcs_fe_profile *out = member;
    out->is_given = true;
    if (node->kind == PCS_YAML_MAP) {
        pcs_yaml *from = pcs_case_need(b->c, node, "from", PCS_YAML_LIST, "the value at the first node of the set");
        pcs_yaml *to = pcs_case_need(b->c, node, "to", PCS_YAML_LIST, "the value at the last node of the set");
        if (from != NULL) pcs_case_vector(b->c, from, any, out->ends[0]);
        if (to != NULL) pcs_case_vector(b->c, to, any, out->ends[1]);
    } else if (pcs_case_place_vector(b->c, node, out->ends[0], out->formula)) {
        memcpy(out->ends[1], out->ends[0], sizeof out->ends[0]);
    }
    return PCS_OK;
}

static const pcs_form profile_form = { .shown = "[x, y, z] or { from, to }",
                                       .json = "'$ref':'#/definitions/profile'",
                                       .read = initial_read_profile };

#define INITIAL_HELP "numbers or formulas of the position x, y, z of a node, or { from, to }, linear over the set"

static const pcs_option initial_options[] = {
    PCS_FORM("set", pcs_fe_initial, nodes, PCS_REQUIRED, pcs_set_form, "the set of nodes that starts so"),
    PCS_FORM("displacement", pcs_fe_initial, displacement, PCS_OPTIONAL, profile_form, INITIAL_HELP ", m"),
    PCS_FORM("velocity", pcs_fe_initial, velocity, PCS_OPTIONAL, profile_form, INITIAL_HELP ", m/s"),
    PCS_FORM("rotation", pcs_fe_initial, rotation, PCS_OPTIONAL, profile_form, INITIAL_HELP ", rad"),
    PCS_FORM("spin", pcs_fe_initial, spin, PCS_OPTIONAL, profile_form, INITIAL_HELP ", rad/s"),
    PCS_VECTOR("about", pcs_fe_initial, about, PCS_OPTIONAL, PCS_ANY_NUMBER,
               "the set spins as a rigid body about this point, m"),
    { .name = NULL },
};
static const char *const initial_some[] = { "displacement", "velocity", "rotation", "spin", NULL };
const pcs_map pcs_initial_map = { .name = "initial value", .is_entry = true, .options = initial_options };

static pcs_status build_check_observers(pcs_build *b)
{
    bool is_judged = false;
    for (int i = 0; i < b->sim->nobserver; i++) {
        const pcs_observer *observer = &b->sim->observers[i];
        is_judged = is_judged || strcmp(observer->ops->name, "summary") == 0;
        if (observer->ops->check == NULL) continue;
        char place[PCS_OBSERVER_PLACE] = "", path[128];
        pcs_status status = observer->ops->check(observer, place);
        snprintf(path, sizeof path, "output.%s.%s", observer->ops->name, place);
        if (status != PCS_OK) PCS_TRY(pcs_build_blame(b, pcs_case_find(b->c, path), status));
    }
    if (b->sim->view.refuses_unresolved && !is_judged)
        pcs_case_error_at(b->c, pcs_case_find(b->c, "resolution"), NULL,
                          "refuse needs output.summary, which judges the run");
    return pcs_case_finish(b->c);
}

static pcs_status initial_read(pcs_build *b, pcs_yaml *node, pcs_fe_initial *out)
{
    PCS_TRY(pcs_build_read(b, node, initial_options, out, NULL));
    out->has_about = !isnan(out->about[0]);
    const pcs_yaml *about = pcs_case_get(b->c, node, "about");
    if (about != NULL && !out->spin.is_given)
        pcs_case_reject(b->c, about, "is the centre of a spin, and no spin is given");
    (void)pcs_case_one(b->c, node, initial_some, false);
    return PCS_OK;
}

static pcs_status build_initials(pcs_build *b)
{
    pcs_yaml *section = pcs_case_get(b->c, pcs_case_root(b->c), "initial");
    if (section != NULL && !pcs_case_is(b->c, section, PCS_YAML_LIST)) section = NULL;
    int count = section == NULL ? 0 : section->count;
    pcs_fe_initial *initials = NULL;
    PCS_TAKE(b->ctx, initials, count, "initial values");
    for (int i = 0; i < count; i++) {
        pcs_yaml *node = section->items[i];
        if (pcs_case_is(b->c, node, PCS_YAML_MAP)) PCS_TRY(initial_read(b, node, &initials[i]));
    }
    b->model.ninitial = count;
    b->model.initials = initials;
    return PCS_OK;
}

static pcs_status build_state(pcs_build *b)
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
    char *end = strchr(text, ')'); // the direction adds nothing
    if (end != NULL) end[1] = '\0';
}

// Rejects contact i of the system if points of it overlap, and names the deepest.
static void gaps_check(pcs_build *b, int i, const double *gap, const pcs_yaml *node)
{
    const pcs_system *system = b->sim->system;
    const pcs_contact_info *contact = &system->contacts[i];
    const pcs_row_source *of = b->has_system ? NULL : &b->model.contacts[i];
    double radius = 0.0; // stays where the normal of n . (x - p) - r is reversed
    if (of != NULL) (void)pcs_build_real(of->ops->options, of->params, "node_radius", &radius);
    bool has_normal = of != NULL && pcs_build_has_option(of->ops->options, "normal"), is_mended = has_normal;
    int worst = contact->first_row, count = 0;
    for (int row = contact->first_row; row < contact->first_row + contact->nrow; row++) {
        double none = pcs_gap_tie(system, row, b->sim->state.q); // as in gates and certificate
        bool is_off = system->rows[row].is_bilateral ? fabs(gap[row]) > none : gap[row] < -none;
        is_mended = is_mended && -gap[row] - 2.0 * radius >= -none;
        if (is_off && (count == 0 || fabs(gap[row]) > fabs(gap[worst]))) worst = row;
        count += is_off;
    }
    if (count == 0) return;
    char where[256], others[64] = "";
    const char *advice = has_normal ? "; reversing the normal would not remove it" : "";
    if (is_mended) advice = "; reversing the normal would remove the overlap";
    gaps_name_node(system, worst, sizeof where, where);
    if (count > 1) snprintf(others, sizeof others, ", the deepest of %d points", count);
    pcs_case_error_at(b->c, node, NULL, "the gap of point %d%s%s is %g m at t = 0, must be %s 0%s%s%s%s",
                      worst - contact->first_row, b->has_system ? " of " : "", b->has_system ? contact->name : "",
                      gap[worst], system->rows[worst].is_bilateral ? "=" : ">=", where[0] == '\0' ? "" : ": ", where,
                      others, advice);
}

static pcs_status build_check_gaps(pcs_build *b)
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
        gaps_check(b, i, gap, b->has_system ? section : section->items[i]);
    }
    pcs_scratch_free(gap);
    if (!pcs_rows_are_distributed(system)) return PCS_OK;
    // Processes that know all contacts report which are wrong.
    bool is_wrong = pcs_rows_any(system, pcs_case_error_count(b->c) > 0);
    return is_wrong ? pcs_fail(b->ctx, PCS_BAD_INPUT, "a gap is wrong") : PCS_OK;
}

// Section `time`: step size, end, step control.

static const double SAFE_SHARE = 0.9;  // fraction of the stable step, for `step: auto`
static const double MOST_STEPS = 1e12; // largest number of steps
static const double MOST_CELLS = 1e6;  // largest number of cells of a part, for `elements: auto`
static const double SAME_STEPS = 1e-9; // tolerance of end / step for a whole number of steps
static const double SAME_END = 1e-6;   // relative tolerance of the last step for a full step

static bool control_parts(pcs_context *ctx, int i, pcs_map_part *out)
{
    static const pcs_map_part parts[] = {
        { "adaptive", "step doubling", pcs_control_options, NULL, 0, NULL },
        { "contact", "parts of the contact time of force laws while these are closed", pcs_control_contact_options,
          NULL, 0, NULL },
    };
    const int count = sizeof parts / sizeof *parts;
    if (i < count) *out = parts[i];
    return i < count;
}

const pcs_map pcs_control_map = { .name = "control", .kind = PCS_MAP_TYPES, .parts = control_parts };
static const pcs_option time_options[] = {
    PCS_REAL(
        "step", pcs_build, step, PCS_REQUIRED_OR_AUTO, PCS_POSITIVE,
        "step size, s, or auto: what waves, contacts, loads and rotations need, at most 0.9 of the stable step of an "
        "explicit scheme; with wave the travel time through a cell"),
    PCS_KEY_MAP("control", PCS_OPTIONAL, pcs_control_map, "step-size control, by step doubling or contacts"),
    PCS_REAL("end", pcs_build, end, PCS_REQUIRED, PCS_POSITIVE, "end of the run, s"),
    PCS_FLAG("allow_unstable", pcs_build, allows_unstable, PCS_DEFAULT("false"),
             "accept a step above the stable step of an explicit scheme"),
    PCS_FLAG("follow_turning", pcs_build, follows_rotation, PCS_DEFAULT("false"),
             "divide steps of an explicit scheme in which bodies rotate too fast; always with step: auto"),
    PCS_COUNT("retry", pcs_build, retry, PCS_DEFAULT("10"), PCS_WITHIN(0.0, 30.0),
              "how often a failed step is halved before the run ends; 0: never"),
    { .name = NULL },
};
const pcs_map pcs_time_map = { .name = "time", .options = time_options };

static void time_read_control(pcs_build *b, pcs_yaml *node)
{
    if (!pcs_case_is(b->c, node, PCS_YAML_MAP)) return;
    int type = pcs_build_type(b, node, control_parts);
    pcs_map_part part;
    b->has_control = true;
    if (type < 0 || !control_parts(b->ctx, type, &part)) return;
    pcs_case_read(b->c, node, part.options, &b->control);
    b->sim->follows_contacts = b->control.steps > 0.0;
}

static pcs_status build_time(pcs_build *b)
{
    if (b->is_model_only && pcs_case_get(b->c, pcs_case_root(b->c), "time") == NULL) return PCS_OK;
    pcs_yaml *node = pcs_case_need(b->c, pcs_case_root(b->c), "time", PCS_YAML_MAP, "step size and end of the run");
    if (node == NULL) return PCS_OK;
    pcs_case_read(b->c, node, time_options, b);
    b->step_is_auto = isinf(b->step);
    if (b->step_is_auto) b->step = NAN;
    pcs_yaml *control = pcs_case_get(b->c, node, "control");
    if (control != NULL) time_read_control(b, control);
    b->sim->follows_rotation = b->follows_rotation;
    double ratio = b->end / b->step;
    if (ratio < 1.0 - SAME_STEPS)
        pcs_case_error_at(b->c, node, "end", "end must be >= step, is %g with a step of %g", b->end, b->step);
    if (ratio > MOST_STEPS)
        pcs_case_error_at(b->c, node, "step", "%g steps are more than %g: step is %g, end is %g", ratio, MOST_STEPS,
                          b->step, b->end);
    return PCS_OK;
}

// Returns the largest stable step of the scheme, s; INFINITY if a few coordinates, which do not blow up within a run,
// are only inaccurate by a given step.
static double time_stable_step(const pcs_build *b)
{
    const pcs_system *system = b->sim->system;
    const pcs_step_limit limit = { .modes = b->scheme->stable_step, .params = b->scheme_params };
    if (limit.modes == NULL) return INFINITY;
    double step = system->ops->stable_step(system, NULL, NULL, &limit);
    return step > 0.0 || b->step_is_auto || pcs_system_is_mesh(system) ? step : INFINITY;
}

static pcs_status time_resolve(pcs_build *b, pcs_yaml *node, double step, const char *reason)
{
    char text[PCS_NUMBER_BYTES];
    b->step = b->end >= step ? step : b->end;
    pcs_case_note(b->c, "time.step: auto is %.6g s: %s", b->step, reason);
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
        pcs_case_error_at(b->c, section->items[i], "type",
                          "scheme '%s' has no clean waves in '%s', whose forces would ring; take rod, beam_timo_2d or "
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
        pcs_case_error_at(b->c, node, "step", "no cell of this model carries waves; give a number instead of auto");
    if (travel->count == 0) return PCS_OK;
    if (b->step_is_auto) PCS_TRY(time_resolve(b, node, travel->mean, "the time that waves take through a cell"));
    double mismatch = fmax(fabs(b->step / travel->shortest - 1.0), fabs(b->step / travel->longest - 1.0));
    if (mismatch <= demand.mismatch) return PCS_OK;
    pcs_case_error_at(
        b->c, node, "step",
        "step %.6g differs by %.3g %% from the time that waves take through a cell, %.6g to %.6g s; scheme "
        "'%s' allows 1 %%: size cells by 'travel_time', set step: auto (%.6g), or say 'allow_mismatch: true' "
        "in the scheme",
        b->step, 100.0 * mismatch, travel->shortest, travel->longest, b->scheme->name, travel->mean);
    return PCS_OK;
}

// Checks that `follow_rotation` is used with fixed steps of an explicit scheme.
static void time_check_rotation(pcs_build *b, pcs_yaml *node)
{
    if (!b->sim->follows_rotation) return;
    if (!pcs_rule_is_explicit(&b->scheme->rule))
        pcs_case_error_at(b->c, node, "follow_turning", "follow_turning is for explicit schemes, %s is implicit",
                          b->scheme->name);
    if (b->has_control)
        pcs_case_error_at(b->c, node, "follow_turning",
                          "follow_turning does not go with step control, which follows by itself");
}

// Replaces `step: auto` by the predicted step, or by a fraction of the largest step that an explicit scheme can take.
static pcs_status time_choose_step(pcs_build *b, pcs_yaml *node, double most)
{
    bool is_explicit = pcs_rule_is_explicit(&b->scheme->rule);
    const pcs_foresight *f = &b->sim->foreseen;
    if (!is_explicit) most = INFINITY;
    bool has_law = b->scheme->rule.position != PCS_POSITION_FORCE || b->sim->view.axial_cell > 0.0; // bars need none
    if (!has_law && pcs_count_points(b->sim->system) > pcs_system_ncompliant(b->sim->system)) {
        pcs_case_error_at(b->c, node, "step",
                          "'auto' finds no step for impacts of rigid bodies by scheme '%s', which has no law for them: "
                          "where they fall in a step decides what rebounds; take another scheme, or give a number",
                          b->scheme->name);
        return PCS_OK;
    }
    if (!isfinite(fmin(most, f->step))) {
        pcs_case_error_at(b->c, node, "step",
                          "nothing in this model moves, vibrates or touches in a time that 'auto' could divide: give a "
                          "number");
        return PCS_OK;
    }
    b->sim->follows_rotation =
        is_explicit && !b->has_control && pcs_system_is_mesh(b->sim->system) && pcs_fe_tumbles(b->sim->system);
    if (b->sim->follows_rotation) PCS_TRY(pcs_case_resolve(b->c, node, "follow_turning", "true"));
    bool is_stable = SAFE_SHARE * most <= f->step;
    return time_resolve(b, node, is_stable ? SAFE_SHARE * most : f->step,
                        is_stable ? "0.9 of the largest step of the scheme" : f->reason);
}

// Sets the step of an explicit scheme, or checks it against the stable step.
static pcs_status time_find_step(pcs_build *b, pcs_yaml *node)
{
    time_check_rotation(b, node);
    double stable = time_stable_step(b);
    double gyroscopic = pcs_scheme_present_step(b->scheme, b->scheme_params, b->sim->system, &b->sim->state);
    b->control.stable = b->allows_unstable ? INFINITY : stable;
    if (!(b->control.stable > 0.0)) {
        const char *reason = pcs_scheme_refuses(b->scheme, b->sim->system, b->scheme_params);
        if (reason == NULL)
            reason =
                "vibrations with little or no damping grow at any step of use, and so does the whirl of what spins";
        pcs_case_error_at(b->c, pcs_case_find(b->c, "scheme"), NULL, "scheme '%s' cannot advance this model: %s",
                          b->scheme->name, reason);
        return PCS_OK;
    }
    if (b->step_is_auto) return time_choose_step(b, node, fmin(stable > 0.0 ? stable : INFINITY, gyroscopic));
    if (b->step > b->control.stable) {
        pcs_case_error_at(b->c, node, "step",
                          "step %g is above the stable step %.6g of %s; take a smaller one, or 'auto' (%.6g), or say "
                          "'allow_unstable: true'",
                          b->step, stable, b->scheme->name, SAFE_SHARE * stable);
    }
    return PCS_OK;
}

// Returns the largest displacement, m, in a hundred steps under the velocities and the forces at time t.
static double time_distance(const pcs_build *b, double t, double *force)
{
    double time = 100.0 * b->step;
    pcs_system *system = b->sim->system;
    const pcs_state *x = &b->sim->state;
    double distance = 0.0;
    system->ops->force(system, pcs_at(t, x->q, x->v), force);
    for (int i = 0; i < pcs_system_nown(system); i++) {
        double mass = pcs_matrix_diagonal(system->M, i), a = mass > 0.0 ? force[i] / mass : 0.0;
        distance = fmax(distance, time * (fabs(x->v[i]) + time * fabs(a)));
    }
    return pcs_system_max(system, distance);
}

// Sets the length scale of a model without size, such as a point at the origin that touches something: the largest
// displacement in a hundred steps under the loads of the run, so that gaps round off to 1e-9 of the displacement in one
// step. Lengths that are round-off of it count as zero, but none above 1e-13, however large the force.
static pcs_status time_find_place(const pcs_build *b)
{
    enum { TIMES = 64, NODE = 6 }; // degrees of freedom of a node
    pcs_system *system = b->sim->system;
    double *force, distance = 0.0;
    if (!pcs_system_is_mesh(system) || (system->place > 0.0 && pcs_system_ndof(system) > NODE)) return PCS_OK;
    PCS_TAKE(b->ctx, force, system->nv, "the displacement in a step");
    for (int k = 0; k <= TIMES; k++)
        distance = fmax(distance, time_distance(b, b->start + k * (b->end - b->start) / TIMES, force));
    if (fmax(system->length, system->place) <= PCS_ROUND_LENGTH * fmin(distance, 1.0))
        system->length = system->place = 0.0;
    if (!(system->length > 0.0) && !(system->place > 0.0)) system->place = distance;
    return pcs_fe_find_sizes(system);
}

// Builds the objects, once all sections are read without errors.
static pcs_status build_clock(pcs_build *b)
{
    pcs_yaml *node = pcs_case_get(b->c, pcs_case_root(b->c), "time");
    b->sim->start_time = b->start;
    b->sim->end_time = b->end;
    if (b->step_is_auto || b->may_be_at_rest || b->nauto > 0 || b->sim->follows_contacts) {
        bool is_limited = pcs_rule_is_explicit(&b->scheme->rule) && isfinite(time_stable_step(b));
        PCS_TRY(pcs_foresee(b->sim, is_limited || b->scheme->ask_waves != NULL));
    }
    if (b->scheme->ask_waves != NULL) b->sim->foreseen.step = INFINITY; // the cells alone determine the step
    if (b->nauto > 0) return PCS_OK;
    PCS_TRY(b->scheme->ask_waves == NULL ? time_find_step(b, node) : time_find_wave_step(b, node));
    double ratio = (b->end - b->start) / b->step, whole = round(ratio);
    double steps = fabs(ratio - whole) <= SAME_STEPS * whole ? whole : ceil(ratio);
    if (steps > MOST_STEPS)
        pcs_case_error_at(b->c, node, "end", "%g steps of %g s are more than %g", steps, b->step, MOST_STEPS);
    b->sim->step_size = b->step;
    // Refuses a shorter last step for schemes of equal steps, whose forces would be wrong in it.
    double reached = b->start + steps * b->step;
    bool needs_more = b->scheme->needs_equal_steps != NULL && fabs(reached - b->end) > SAME_END * b->step;
    b->sim->end_time = needs_more ? reached : b->end;
    b->sim->nstep = steps <= MOST_STEPS ? (long)steps : 0;
    return time_find_place(b);
}

// The `system` section: a closed-form system by its type, or one of the user's own from a shared object.

typedef struct system_params {
    const char *plugin;
} system_params;

static const pcs_option system_options[] = {
    PCS_FILE("plugin", system_params, plugin, PCS_OPTIONAL,
             "a shared object with a system of your own, instead of `type`"),
    { .name = NULL },
};

static bool closed_form_parts(pcs_context *ctx, int i, pcs_map_part *out)
{
    const percuss_system_definition *d = pcs_closed_forms[i];
    pcs_option *options = NULL;
    if (d == NULL || (ctx != NULL && pcs_closed_form_options(ctx, d, &options) != PCS_OK)) return false;
    *out = (pcs_map_part){ d->name, d->summary, options, NULL, 0, NULL };
    return true;
}

const pcs_map pcs_system_map = {
    .name = "system", .kind = PCS_MAP_TYPES, .options = system_options, .parts = closed_form_parts
};

static void system_unload(void *handle)
{
    dlclose(handle);
}

pcs_status pcs_system_open(pcs_context *ctx, const char *path, const percuss_system_definition **out)
{
    long long size;
    int file = pcs_open_input(path, &size);
    if (file < 0 && errno != ENOENT)
        return pcs_fail(ctx, PCS_BAD_INPUT, "the plug-in cannot be loaded: %s: %s", path, pcs_open_reason(errno));
    if (file >= 0) close(file);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) return pcs_fail(ctx, PCS_BAD_INPUT, "the plug-in cannot be loaded: %s", dlerror());
    PCS_TRY(pcs_defer(ctx, system_unload, handle));
    const percuss_system_definition *definition = dlsym(handle, "percuss_system");
    if (definition == NULL)
        return pcs_fail(ctx, PCS_BAD_INPUT, "the plug-in '%s' has no symbol 'percuss_system'", path);
    PCS_TRY(pcs_closed_form_verify(ctx, definition));
    *out = definition;
    return PCS_OK;
}

// Loads the definition from a shared object.
static pcs_status system_load(pcs_build *b, pcs_yaml *section, const percuss_system_definition **out)
{
    char path[PATH_MAX];
    system_params p;
    if (!pcs_case_read(b->c, section, system_options, &p)) return PCS_OK;
    snprintf(path, sizeof path, "%s%s", strchr(p.plugin, '/') == NULL ? "./" : "", p.plugin); // else it is searched for
    pcs_status status = b->no_plugins
                            ? pcs_fail(b->ctx, PCS_BAD_INPUT, "--no-plugins: loading '%s' runs its code", path)
                            : pcs_system_open(b->ctx, path, out);
    if (status == PCS_OK) return PCS_OK;
    section->is_unjudged = true; // only the definition knows the parameters
    return pcs_build_blame(b, pcs_case_get(b->c, section, "plugin"), status);
}

static pcs_status system_find(pcs_build *b, pcs_yaml *section, const percuss_system_definition **out)
{
    const char *names[64] = { NULL };
    if (pcs_case_get(b->c, section, "plugin") != NULL) {
        if (pcs_case_get(b->c, section, "type") != NULL)
            pcs_case_error_at(b->c, section, "type", "'type' and 'plugin' are both given, only one is allowed");
        return system_load(b, section, out);
    }
    int count = 0;
    for (; pcs_closed_forms[count] != NULL && count < 62; count++) names[count] = pcs_closed_forms[count]->name;
    if (b->own != NULL) names[count] = b->own->name;
    int type = pcs_case_type(b->c, section, names);
    if (type >= 0) *out = type < count ? pcs_closed_forms[type] : b->own;
    return PCS_OK;
}

// Makes the system once its section is valid.
static pcs_status build_system(pcs_build *b)
{
    pcs_yaml *section = pcs_case_get(b->c, pcs_case_root(b->c), "system");
    if (section == NULL) return PCS_OK;
    b->has_system = true;
    static const char *const names[] = { "system", "mesh", NULL };
    if (pcs_case_find(b->c, "mesh") != NULL) (void)pcs_case_one(b->c, pcs_case_root(b->c), names, true);
    if (!pcs_case_is(b->c, section, PCS_YAML_MAP)) return PCS_OK;
    const percuss_system_definition *definition = NULL;
    PCS_TRY(system_find(b, section, &definition));
    if (definition == NULL) return PCS_OK;
    bool is_new = definition == b->own || pcs_case_get(b->c, section, "plugin") != NULL;
    pcs_option *options = NULL;
    double *params = NULL;
    const char *option = NULL;
    PCS_TRY(pcs_closed_form_options(b->ctx, definition, &options));
    int count = 0;
    while (options[count].name != NULL) count++;
    PCS_TAKE(b->ctx, params, count, "parameters");
    if (!pcs_case_read(b->c, section, options, params)) return PCS_OK;
    const char *fault = definition->check == NULL ? NULL : definition->check(params, &option);
    if (fault != NULL) {
        pcs_case_fault(b->c, section, option, fault);
        return PCS_OK;
    }
    b->sim->has_own_system = is_new;
    b->definition = definition;
    b->system_params = params;
    double q[PCS_MAX_COORDINATES] = { 0 }, v[PCS_MAX_COORDINATES] = { 0 };
    pcs_status status = PCS_OK;
    definition->start(params, q, v);
    // Compares the functions of a user's system with one another, since nobody has tested them before.
    if (is_new) status = pcs_closed_form_compare(b->ctx, definition, params, q, v);
    if (status == PCS_OK) status = pcs_closed_form_create(b->ctx, definition, params, &b->sim->system);
    return status == PCS_OK ? PCS_OK : pcs_build_blame(b, section, status);
}

// Sections `scheme` and `solver`: what advances the model.

// Gets `auto`, then the schemes.
static bool scheme_parts(pcs_context *ctx, int i, pcs_map_part *out)
{
    (void)ctx;
    *out = (pcs_map_part){ .name = "auto",
                           .summary = "wave where it is exact, half_explicit where its stable steps are no smaller "
                                      "than accuracy asks for, else alpha_ggl" };
    if (i == 0) return true;
    const pcs_scheme_ops *ops = pcs_schemes[i - 1];
    if (ops != NULL) *out = (pcs_map_part){ ops->name, ops->summary, ops->options, NULL, ops->params_size, ops->check };
    return ops != NULL;
}

const pcs_map pcs_scheme_map = { .name = "scheme", .kind = PCS_MAP_TYPES, .parts = scheme_parts };
const pcs_form pcs_scheme_form = { .shown = "name or map", .parts = scheme_parts, .map = &pcs_scheme_map };

static pcs_status scheme_read(pcs_build *b)
{
    if (b->is_model_only && pcs_case_get(b->c, pcs_case_root(b->c), "scheme") == NULL) return PCS_OK;
    pcs_yaml *node = pcs_case_need(b->c, pcs_case_root(b->c), "scheme", PCS_YAML_MAP, "the time integrator");
    if (node == NULL) return PCS_OK;
    pcs_case_forgive(b->c, node);
    int type = pcs_build_type(b, node, scheme_parts);
    if (type <= 0) return PCS_OK; // an analysis needs no scheme
    b->scheme = pcs_schemes[type - 1];
    return pcs_build_part(b, node, scheme_parts, type, &b->scheme_params);
}

PCS_NAMED_PARTS(step_parts, pcs_step_solvers, NULL, NULL, 0, NULL)
PCS_NAMED_PARTS(linsolve_parts, pcs_linsolvers, NULL, NULL, 0, NULL)

const pcs_map pcs_step_map = { .name = "step solver", .parts = step_parts };
const pcs_map pcs_linsolve_map = { .name = "linear solver", .parts = linsolve_parts };
static const pcs_form step_form = { .shown = "auto or a step solver", .parts = step_parts };
static const pcs_form linear_form = { .shown = "auto or a linear solver", .parts = linsolve_parts };
static const pcs_option solver_options[] = {
    PCS_KEY("type", PCS_OPTIONAL, step_form, "solver of motion and contacts [auto]"),
    PCS_KEY("linear", PCS_OPTIONAL, linear_form, "solver of linear equations [auto]"),
    PCS_COUNT("threads", pcs_build, model.nthread, PCS_DEFAULT("0"), PCS_WITHIN(0.0, 64.0),
              "for large nonlinear models and long bars; results do not depend on it; 0: one per processor"),
    { .name = NULL },
};
const pcs_map pcs_solver_map = { .name = "solver", .options = solver_options };

static pcs_status build_scheme(pcs_build *b)
{
    static const char *const certify[] = { "strict", "warn", NULL };
    static const char *const resolution[] = { "report", "refuse", NULL };
    PCS_TRY(scheme_read(b));
    pcs_yaml *node = pcs_case_get_map(b->c, pcs_case_root(b->c), "solver");
    if (node != NULL) {
        b->solver = pcs_build_name(b, node, "type", step_form.parts);
        b->linear = pcs_build_name(b, node, "linear", linear_form.parts);
        pcs_case_read(b->c, node, solver_options, b);
        if (b->linear != NULL && strcmp(b->linear, "petsc") == 0 && !b->is_model_only)
            PCS_TRY(pcs_build_blame(b, node, pcs_processes_start(b->ctx)));
    }
    b->sim->certify_warns = pcs_case_choice(b->c, pcs_case_root(b->c), "certify", certify, "strict") == 1;
    b->sim->view.refuses_unresolved =
        pcs_case_choice(b->c, pcs_case_root(b->c), "resolution", resolution, "report") == 1;
    return PCS_OK;
}

static pcs_status scheme_make(pcs_build *b)
{
    pcs_scheme *scheme = NULL;
    PCS_TAKE(b->ctx, scheme, 1, "the scheme");
    *scheme = (pcs_scheme){
        .ops = b->scheme, .rule = b->scheme->rule, .ctx = b->ctx, .system = b->sim->system, .solver = b->sim->solver
    };
    scheme->step = b->sim->step_size;
    scheme->params = b->scheme_params;
    PCS_TRY(pcs_build_params(b, b->scheme->data_size, &scheme->data));
    b->sim->scheme = scheme;
    const char *reason = pcs_scheme_refuses(b->scheme, b->sim->system, b->scheme_params);
    if (reason != NULL)
        return pcs_fail(b->ctx, PCS_UNSUPPORTED, "scheme '%s' cannot advance this model: %s", b->scheme->name, reason);
    PCS_TRY(scheme->ops->setup(scheme));
    return pcs_state_create(scheme, &b->sim->state);
}

// Returns the path in the case of what a step solver refuses: a contact with a point that cannot move, or the solver.
static const char *scheme_find_refused(const pcs_build *b, size_t size, char *path)
{
    const pcs_system *system = b->sim->system;
    const pcs_rows *G = system->G;
    int nrow = pcs_system_is_mesh(system) ? system->nrow : 0;
    for (int j = 0; j < nrow; j++) {
        bool moves = system->rows[j].is_bilateral;
        for (int k = G->start[j]; k < G->start[j + 1] && !moves; k++) moves = G->value[k] != 0.0;
        if (moves) continue;
        snprintf(path, size, "contacts.%s", system->contacts[system->rows[j].contact].name);
        return path;
    }
    return "solver";
}

static pcs_status build_solvers(pcs_build *b)
{
    pcs_status status = pcs_scheme_weigh(b->scheme, b->sim->system, b->sim->step_size);
    if (status == PCS_OK)
        status = pcs_step_solver_create(b->ctx, b->solver, b->linear, b->sim->system, &b->sim->solver);
    if (status != PCS_OK) {
        char path[256];
        PCS_TRY(pcs_build_blame(b, pcs_case_find(b->c, scheme_find_refused(b, sizeof path, path)), status));
        return pcs_case_finish(b->c);
    }
    PCS_TRY(pcs_step_solver_allow_handover(b->sim->solver));
    const char *culprit = "scheme";
    status = scheme_make(b);
    if (status == PCS_OK && b->has_control) {
        culprit = "time.control";
        status = pcs_control_create(b->sim, &b->control, &b->sim->control);
    } else if (status == PCS_OK) {
        status = pcs_retry_create(b->sim, b->retry, &b->sim->retry);
    }
    if (status == PCS_OK) return PCS_OK;
    PCS_TRY(pcs_build_blame(b, pcs_case_find(b->c, culprit), status));
    return pcs_case_finish(b->c);
}

// The start of a run: at the initial displacements, in equilibrium under the loads at t = 0, or from another run.

typedef struct start_params {
    const char *from;
    int at;
} start_params;

static const char *const start_generations[] = { "last", "previous", NULL };

static const pcs_option start_options[] = {
    PCS_FILE("from", start_params, from, PCS_REQUIRED, "folder of results, or a checkpoint in it, of another run"),
    PCS_CHOICE("at", start_params, at, PCS_DEFAULT("last"), start_generations, "which checkpoint of the folder"),
    { .name = NULL },
};
const pcs_map pcs_start_map = { .name = "start", .options = start_options };

static void start_forget(void *object)
{
    pcs_checkpoint_free(object);
}

static pcs_status start_find(pcs_build *b, const start_params *p, pcs_checkpoint_data **out)
{
    char note[512];
    bool is_there;
    PCS_TAKE(b->ctx, *out, 1, "the start");
    PCS_TRY(pcs_checkpoint_find(b->ctx, p->from, p->at == 1, *out, &is_there, note));
    PCS_TRY(pcs_defer(b->ctx, start_forget, *out));
    if (note[0] != '\0') return pcs_fail(b->ctx, PCS_BAD_INPUT, "%s: say at: previous", note);
    if (!is_there) return pcs_fail(b->ctx, PCS_BAD_INPUT, "there is no checkpoint in '%s'", p->from);
    return pcs_checkpoint_time(b->ctx, *out, &b->start);
}

// Reads q, v and t from another run. Initial values of this case would have no effect and are rejected.
static pcs_status start_read_from(pcs_build *b, pcs_yaml *node)
{
    start_params params = { .from = NULL };
    pcs_checkpoint_data *data = NULL;
    if (!pcs_case_read(b->c, node, start_options, &params) || params.from == NULL) return PCS_OK;
    if (b->model.ninitial > 0)
        pcs_case_error_at(b->c, pcs_case_find(b->c, "initial"), NULL,
                          "not allowed with 'start': the other run gives all of them");
    pcs_status status = start_find(b, &params, &data);
    if (status != PCS_OK) return pcs_build_blame(b, node, status);
    b->sim->from = data;
    if (!(b->end > b->start))
        pcs_case_error_at(b->c, pcs_case_find(b->c, "time"), "end", "end must be > %.9g, the time of '%s', is %.9g",
                          b->start, params.from, b->end);
    return PCS_OK;
}

static pcs_status build_statics(pcs_build *b)
{
    pcs_yaml *root = pcs_case_root(b->c), *node = pcs_case_get(b->c, root, "statics");
    b->statics = (pcs_statics_options){ .has_friction = true };
    // Hides the section from a run that does not need it.
    if (node == NULL && !b->is_model_only && !b->starts_in_equilibrium) return PCS_OK;
    node = pcs_case_get_map(b->c, root, "statics");
    if (node != NULL) pcs_case_read(b->c, node, pcs_statics_keys, &b->statics);
    return PCS_OK;
}

static pcs_status build_start(pcs_build *b)
{
    static const char *const choices[] = { "initial", "statics", NULL };
    pcs_yaml *root = pcs_case_root(b->c), *given = pcs_case_get(b->c, root, "start");
    if (given != NULL && given->kind == PCS_YAML_MAP) return start_read_from(b, given);
    b->starts_in_equilibrium = pcs_case_choice(b->c, root, "start", choices, "initial") == 1;
    if (!b->starts_in_equilibrium) return PCS_OK;
    for (int i = 0; i < b->model.ninitial; i++) {
        const pcs_fe_initial *values = &b->model.initials[i];
        if (values->displacement.is_given || values->rotation.is_given)
            pcs_case_error_at(b->c, pcs_case_get(b->c, root, "initial")->items[i],
                              values->displacement.is_given ? "displacement" : "rotation",
                              "a start in equilibrium finds the displacements itself: only velocities may be given");
    }
    return PCS_OK;
}

// Fills in what an analysis needs.
static pcs_status build_still(pcs_build *b, pcs_analysis *out)
{
    const pcs_sim *sim = b->sim;
    const char *name = pcs_case_name(b->c);
    double *start;
    PCS_TAKE(b->ctx, start, sim->system->nq, "the start");
    if (b->has_system) memcpy(start, sim->state.q, (size_t)sim->system->nq * sizeof *start);
    *out = (pcs_analysis){ .ctx = b->ctx, .system = sim->system, .start = start, .linear = b->linear };
    if (out->linear == NULL) out->linear = "auto";
    out->statics = b->statics;
    out->input = b->c;
    out->case_name = name;
    out->title = sim->view.title == NULL ? name : sim->view.title;
    out->nprobe = sim->nprobe;
    out->probes = sim->probes;
    return PCS_OK;
}

// Finds the equilibrium from zero displacements, or from the start of a closed-form system. Velocities stay as given:
// spins, which are spatial, and motion about a point refer to the equilibrium.
static pcs_status build_equilibrium(pcs_build *b)
{
    pcs_analysis analysis;
    pcs_statics statics;
    pcs_statics_options options = b->statics;
    options.path = PCS_PATH_LOAD;
    options.time = 0.0;
    options.may_be_unstable = true;
    if (!b->starts_in_equilibrium) return PCS_OK;
    if (b->sim->system->layout != NULL) {
        pcs_case_error_at(b->c, pcs_case_find(b->c, "start"), NULL, "an equilibrium is found in one process only");
        return pcs_case_finish(b->c);
    }
    PCS_TRY(build_still(b, &analysis));
    pcs_status status = pcs_statics_solve(&analysis, &options, b->sim->state.q, NULL, NULL, &statics);
    const char *culprit;
    if (status == PCS_OK && b->model.ninitial > 0)
        status = pcs_fe_initial_state(b->sim->system, b->sim->state.q, b->sim->state.v, &culprit);
    if (status == PCS_OK) return PCS_OK;
    PCS_TRY(pcs_case_finish(b->c)); // errors that have a line and a column
    pcs_wrap(b->ctx, status, "the equilibrium to start from");
    PCS_TRY(pcs_build_blame(b, pcs_case_find(b->c, "start"), status));
    return pcs_case_finish(b->c);
}

static pcs_status build_read_mesh_model(pcs_build *b)
{
    pcs_yaml *root = pcs_case_root(b->c);
    PCS_TRY(pcs_build_mesh(b));
    PCS_TRY(pcs_build_groups(b));
    PCS_TRY(pcs_build_entries(b, root, &pcs_support_list));
    PCS_TRY(build_initials(b));
    PCS_TRY(pcs_build_entries(b, root, &pcs_load_list));
    PCS_TRY(pcs_build_entries(b, root, &pcs_joint_list));
    return pcs_build_entries(b, root, &pcs_contact_list);
}

static pcs_status build_read(pcs_build *b)
{
    const pcs_yaml *root = pcs_case_root(b->c);
    PCS_TRY(pcs_case_expand(b->c));
    // Without scheme and time there is enough for statics and modes, while either key asks for a run.
    bool is_at_rest = pcs_yaml_at(root, "scheme") == NULL && pcs_yaml_at(root, "time") == NULL;
    b->is_model_only = b->is_model_only || (b->may_be_at_rest && is_at_rest);
    PCS_TRY(build_system(b));
    if (!b->has_system) PCS_TRY(build_read_mesh_model(b));
    PCS_TRY(build_scheme(b));
    PCS_TRY(build_time(b));
    PCS_TRY(pcs_build_masses(b));
    PCS_TRY(pcs_build_output(b));
    PCS_TRY(build_start(b));
    PCS_TRY(build_perturbation(b));
    PCS_TRY(build_statics(b));
    return pcs_case_finish(b->c);
}

static pcs_status build_model(pcs_build *b)
{
    const char *culprit = NULL;
    bool is_schur = b->solver != NULL && (strcmp(b->solver, "auto") == 0 || strcmp(b->solver, "schur") == 0);
    bool takes_rows = b->scheme != NULL && (b->scheme->takes & PCS_TAKES_DISTRIBUTED_ROWS) != 0;
    b->model.mesh = b->mesh;
    b->model.step = b->step;
    b->model.stays_still = b->is_model_only;
    b->model.distributes_rows = b->distributes && is_schur && takes_rows ? pcs_rows_pay_distributed : NULL;
    b->model.needs_copies = pcs_build_mark_nodes(b, NULL);
    pcs_status status = b->has_system ? PCS_OK : pcs_fe_create(b->ctx, &b->model, &b->sim->system, &culprit);
    if (status != PCS_OK) {
        PCS_TRY(pcs_build_blame(b, pcs_case_find(b->c, culprit), status));
        return pcs_case_finish(b->c);
    }
    PCS_TRY(build_state(b));
    PCS_TRY(pcs_build_check_joints(b));
    PCS_TRY(pcs_build_questions(b));
    PCS_TRY(pcs_build_probes(b));
    if (!b->is_model_only) PCS_TRY(build_clock(b)); // needs the steps
    PCS_TRY(build_check_gaps(b));
    return pcs_case_finish(b->c);
}

static void build_view(pcs_build *b)
{
    pcs_sim *sim = b->sim;
    sim->view.version = percuss_version();
    sim->view.case_name = pcs_case_name(b->c);
    if (sim->view.title == NULL) sim->view.title = sim->view.case_name;
    if (sim->scheme != NULL) sim->view.scheme_name = sim->scheme->ops->name;
    if (sim->solver != NULL) sim->view.solver_name = sim->solver->ops->name;
    sim->view.mass_backend = sim->solver == NULL || sim->solver->mass == NULL ? "none" : sim->solver->mass->title;
    sim->view.system = sim->system;
    sim->view.mesh = b->mesh;
    sim->view.state = &sim->state;
    sim->view.report = &sim->report;
    sim->view.ledger = &sim->ledger;
    sim->view.timing = &sim->timing;
    sim->view.probes = sim->probes;
    sim->view.nprobe = sim->nprobe;
    sim->view.observers = sim->observers;
    sim->view.nobserver = sim->nobserver;
    sim->view.step_size = sim->step_size;
    sim->view.start_time = sim->start_time;
    sim->view.end_time = sim->end_time;
    sim->view.nstep = sim->nstep;
    sim->view.ending = PCS_RUNNING;
    pcs_build_find_cells(sim);
}

// Makes the status agree in all processes: their parts of the mesh may have different errors.
static pcs_status build_agree(pcs_build *b, pcs_status status)
{
    return b->distributes ? pcs_agree(b->ctx, status) : status;
}

// Replaces every `elements: auto` by the number that resolves the part.
static pcs_status build_choose_elements(pcs_build *b)
{
    pcs_yaml *mesh = pcs_case_get(b->c, pcs_case_root(b->c), "mesh");
    if (b->is_model_only) PCS_TRY(pcs_foresee(b->sim, false));
    for (int i = 0; i < b->nauto; i++) {
        pcs_yaml *part = pcs_case_get(b->c, mesh, b->automatic[i]);
        double cells = pcs_foresee_cells(b->sim, pcs_mesh_cell_set(b->mesh, b->automatic[i]), PCS_TRIAL_CELLS);
        char text[PCS_NUMBER_BYTES];
        if (!(cells > 0.0) || cells > MOST_CELLS) {
            pcs_case_error_at(b->c, part, "elements",
                              "must be a number: 'auto' counts cells for waves in lines of rods or beams, and finds %g",
                              cells);
            continue;
        }
        snprintf(text, sizeof text, "%.0f", cells);
        pcs_case_note(b->c, "mesh.%s.elements: auto is %s", b->automatic[i], text);
        PCS_TRY(pcs_case_resolve(b->c, part, "elements", text));
    }
    return pcs_case_finish(b->c);
}

// Reads and makes all that the case states, into b->sim.
static pcs_status build_once(pcs_build *b)
{
    pcs_sim *sim = NULL;
    PCS_TAKE(b->ctx, sim, 1, "the simulation");
    *sim = (pcs_sim){ .ctx = b->ctx, .input = b->c };
    b->sim = sim;
    PCS_TRY(build_agree(b, build_read(b)));
    return build_agree(b, build_model(b));
}

// Builds a case whose scheme has a name.
static pcs_status build_chosen(pcs_build *b)
{
    const pcs_build unread = *b;
    PCS_TRY(build_agree(b, pcs_blas_reserve(b->ctx)));
    PCS_TRY(build_once(b));
    if (b->nauto == 0) return PCS_OK;
    PCS_TRY(build_choose_elements(b));
    *b = unread;
    return build_once(b);
}

static pcs_status build_rest(pcs_build *b, pcs_sim **out)
{
    PCS_TRY(build_solvers(b));
    PCS_TRY(build_equilibrium(b));
    PCS_TRY(pcs_build_blame(b, pcs_case_find(b->c, "start"), pcs_checkpoint_start(b->sim)));
    PCS_TRY(pcs_build_blame(b, pcs_case_find(b->c, "perturbation"), build_perturb(b)));
    PCS_TRY(pcs_case_finish(b->c));
    PCS_TAKE(b->ctx, b->sim->report.rows, pcs_system_npoint(b->sim->system), "the report");
    build_view(b);
    PCS_TRY(build_check_observers(b));
    *out = b->sim;
    return PCS_OK;
}

// `scheme: auto`: builds the case with one scheme after the other, in memory of its own, and looks at the steps.

// Result of a trial with a scheme.
typedef struct choose_trial {
    bool fits, waves_are_exact; // the scheme can run the case; rods only, without damping
    double accurate, stable;    // steps, s: predicted one, and 0.9 of the largest stable one
    char fault[160];            // why the scheme cannot run the case
} choose_trial;

static pcs_status choose_build(pcs_build *b, const char *scheme, choose_trial *out)
{
    pcs_sim *sim = NULL;
    PCS_TRY(pcs_case_copy(b->ctx, b->c, &b->c));
    PCS_TRY(pcs_case_resolve(b->c, pcs_case_get(b->c, pcs_case_root(b->c), "scheme"), "type", scheme));
    b->may_be_at_rest = true; // predicts the step
    PCS_TRY(build_chosen(b));
    PCS_TRY(build_rest(b, &sim));
    double most = pcs_scheme_present_step(b->scheme, b->scheme_params, sim->system, &sim->state);
    *out = (choose_trial){ .fits = true, .accurate = sim->foreseen.step };
    out->stable = SAFE_SHARE * fmin(time_stable_step(b), most);
    out->waves_are_exact = sim->system->travel[PCS_WAVE_AXIAL].count > 0 && !(sim->view.bending_cell > 0.0) &&
                           !pcs_system_is_damped(sim->system);
    return PCS_OK;
}

// Tries a scheme. That it cannot run the case is a result, not an error.
static pcs_status choose_try(const pcs_build *b, const char *scheme, choose_trial *out)
{
    pcs_build trial = *b;
    *out = (choose_trial){ .accurate = INFINITY };
    PCS_TRY(pcs_context_create(&trial.ctx));
    pcs_status status = choose_build(&trial, scheme, out);
    snprintf(out->fault, sizeof out->fault, "%.*s", (int)strcspn(pcs_message(trial.ctx), ";\n"),
             pcs_message(trial.ctx));
    pcs_context_destroy(&trial.ctx);
    return status == PCS_NO_MEMORY ? pcs_fail(b->ctx, status, "out of memory: the case with scheme %s", scheme)
                                   : PCS_OK;
}

// Replaces `scheme: auto`. A case that no scheme can run is built with alpha_ggl, which says why.
static pcs_status choose_scheme(pcs_build *b)
{
    PCS_TRY(pcs_case_expand(b->c));
    pcs_yaml *root = pcs_case_root(b->c);
    choose_trial wave, implicit, explicit;
    if (b->is_model_only || strcmp(pcs_yaml_string(root, "scheme.type"), "auto") != 0) return PCS_OK;
    pcs_yaml *node = pcs_case_get(b->c, root, "scheme");
    if (pcs_context_comm(b->ctx) != NULL && pcs_context_comm(b->ctx)->size > 1)
        pcs_case_error_at(b->c, node, "type", "'auto' is for one process: name the scheme that `percuss check` prints");
    pcs_case_forgive(b->c, node);
    if (pcs_build_type(b, node, scheme_parts) == 0) pcs_case_judge(b->c, node);
    if (pcs_case_error_count(b->c) > 0) return PCS_OK; // reported with other errors
    PCS_TRY(choose_try(b, "wave", &wave));
    if (wave.fits && wave.waves_are_exact) {
        pcs_case_note(b->c, "scheme: auto is wave: waves take one time through all cells of these rods, and are exact");
        return pcs_case_resolve(b->c, node, "type", "wave");
    }
    PCS_TRY(choose_try(b, "alpha_ggl", &implicit));
    PCS_TRY(choose_try(b, "half_explicit", &explicit));
    char reason[200];
    bool is_explicit = explicit.fits && (!implicit.fits || explicit.stable >= implicit.accurate);
    if (is_explicit)
        snprintf(reason, sizeof reason, "its steps cost least, and are stable %s %.3g s",
                 isfinite(explicit.stable) ? "up to" : "at least up to",
                 isfinite(explicit.stable) ? explicit.stable : implicit.accurate);
    else if (explicit.fits)
        snprintf(reason, sizeof reason, "half_explicit takes %.3g s at most, accuracy asks for %.3g s", explicit.stable,
                 implicit.accurate);
    else snprintf(reason, sizeof reason, "half_explicit cannot run it: %s", explicit.fault);
    const char *name = is_explicit ? "half_explicit" : "alpha_ggl";
    pcs_case_note(b->c, "scheme: auto is %s: %s; not wave: %s", name, reason,
                  wave.fits ? "it is exact for undamped rods only" : wave.fault);
    return pcs_case_resolve(b->c, node, "type", name);
}

static pcs_status build_all(pcs_build *b)
{
    PCS_TRY(choose_scheme(b));
    return build_chosen(b);
}

pcs_status pcs_build_load_case(pcs_context *ctx, const pcs_source *source, pcs_case **out)
{
    const char *name = source->path == NULL ? "case" : source->path;
    if (source->like != NULL) PCS_TRY(pcs_case_copy(ctx, source->like, out));
    else if (source->text == NULL) PCS_TRY(pcs_case_load(ctx, name, out));
    else PCS_TRY(pcs_case_parse(ctx, name, source->text, strlen(source->text), out));
    // Assigns to keys; a name for a scheme is written out before, so that its options can be assigned to.
    for (int i = 0; i <= source->nset; i++) {
        pcs_case_spell_out(*out, "scheme");
        if (i < source->nset) PCS_TRY(pcs_case_set(*out, source->set[i]));
    }
    return PCS_OK;
}

static pcs_status build_load(pcs_context *ctx, const pcs_source *source, pcs_build *out)
{
    *out = (pcs_build){ .ctx = ctx, .step = NAN, .end = NAN, .own = source->own, .no_plugins = source->no_plugins };
    if (source->own != NULL) PCS_TRY(pcs_closed_form_verify(ctx, source->own));
    out->c = source->loaded;
    return out->c != NULL ? PCS_OK : pcs_build_load_case(ctx, source, &out->c);
}

// Lets each of several processes build a part of the mesh. If the case is wrong or needs the complete mesh, builds it
// again with all of it in each, so that all report the same errors, with the user's node and cell numbers.
static pcs_status build_sim(pcs_context *ctx, const pcs_source *source, pcs_sim **out)
{
    pcs_build b;
    double start = pcs_clock();
    unsigned long long hash = 0;
    bool are_several = pcs_process_count(ctx) > 1;
    pcs_status status = build_load(ctx, source, &b);
    if (status == PCS_OK && are_several) status = pcs_case_hash(b.c, &hash);
    // Collective calls depend on the case.
    if (are_several) status = pcs_demand_same(ctx, status, hash, "case: is a file old on one of the machines?");
    PCS_TRY(status);
    b.distributes = are_several;
    status = build_all(&b);
    if (are_several && (status == PCS_BAD_INPUT || status == PCS_UNSUPPORTED)) {
        PCS_TRY(build_load(ctx, source, &b));
        status = build_all(&b);
    }
    PCS_TRY(status);
    PCS_TRY(build_rest(&b, out));
    b.sim->timing.setup = pcs_clock() - start;
    return PCS_OK;
}

pcs_status pcs_build_sim_of(pcs_context *ctx, const pcs_source *source, pcs_sim **out)
{
    *out = NULL;
    return pcs_agree(ctx, build_sim(ctx, source, out));
}

pcs_status pcs_build_to_check(pcs_context *ctx, const pcs_source *source, pcs_sim **out)
{
    pcs_build b;
    *out = NULL;
    if (pcs_process_count(ctx) > 1) return pcs_build_sim_of(ctx, source, out);
    PCS_TRY(build_load(ctx, source, &b));
    b.may_be_at_rest = true;
    PCS_TRY(build_all(&b));
    if (!b.is_model_only) {
        PCS_TRY(pcs_build_sample_formulas(&b));
        return build_rest(&b, out);
    }
    build_view(&b);
    *out = b.sim;
    return PCS_OK;
}

pcs_status pcs_build_analysis_of(pcs_context *ctx, const pcs_source *source, pcs_analysis *out)
{
    pcs_build b;
    PCS_TRY(build_load(ctx, source, &b));
    b.is_model_only = true;
    pcs_status status = build_all(&b);
    return pcs_agree(ctx, status == PCS_OK ? build_still(&b, out) : status);
}
