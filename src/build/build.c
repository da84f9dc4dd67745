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
#include "sim/checkpoint.h"
#include "sim/retry.h"
#include "step/projection.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The `system` section: a closed-form system by its type, or one of the user's own from a shared object.

typedef struct system_keys {
    pcs_yaml *plugin;
} system_keys;

static const pcs_form plugin_form = { .shown = "path", .json = "'type':'string','minLength':1" };
static const pcs_option system_options[] = {
    PCS_NODE("plugin", system_keys, plugin, PCS_OPTIONAL, plugin_form,
             "a shared object with a system of your own, instead of `type`"),
    { .name = NULL },
};

static bool closed_form_parts(pcs_context *ctx, int i, pcs_map_part *out)
{
    const percuss_system_definition *d = pcs_closed_forms[i];
    pcs_option *options = NULL;
    if (d == NULL || (ctx != NULL && pcs_closed_form_options(ctx, d, &options) != PCS_OK)) return false;
    *out = (pcs_map_part){ d->name, d->summary, options, NULL, NULL };
    return true;
}

const pcs_map pcs_system_map = { .name = "system",
                                 .kind = PCS_MAP_TYPES,
                                 .options = system_options,
                                 .parts = closed_form_parts,
                                 .stands_for = "plugin" };

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

// Loads the definition from a shared object; a relative path is taken from the folder of the file that names it.
static pcs_status system_load(pcs_build *b, pcs_yaml *section, const percuss_system_definition **out)
{
    char path[4096], whole[PATH_MAX];
    pcs_yaml *node = pcs_case_get(b->c, section, "plugin");
    const char *text = pcs_case_text(b->c, node);
    if (text == NULL) return PCS_OK;
    snprintf(path, sizeof path, "%s%s%s", text[0] == '/' ? "" : pcs_case_folder_of(b->c, node),
             text[0] == '/' ? "" : "/", text);
    pcs_status status = b->no_plugins
                            ? pcs_fail(b->ctx, PCS_BAD_INPUT, "--no-plugins: loading '%s' runs its code", path)
                            : pcs_system_open(b->ctx, path, out);
    if (status != PCS_OK) {
        pcs_case_leave(section); // it alone knows the parameters
        return pcs_build_blame(b, node, status);
    }
    // The resolved case lies in another folder and must find the object, too.
    return realpath(path, whole) == NULL ? PCS_OK : pcs_case_resolve(b->c, section, "plugin", whole);
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

// Compares the functions of a user's system with one another at its initial state, since nobody has tested them before.
static pcs_status system_compare(pcs_build *b, const percuss_system_definition *definition, const double *params)
{
    double q[PCS_MAX_COORDINATES] = { 0 }, v[PCS_MAX_COORDINATES] = { 0 };
    definition->start(params, q, v);
    return pcs_closed_form_compare(b->ctx, definition, params, q, v);
}

// Makes the system at once when its section is right.
static pcs_status build_system(pcs_build *b)
{
    pcs_yaml *section = pcs_case_get(b->c, pcs_case_root(b->c), "system");
    if (section == NULL) return PCS_OK;
    b->has_system = true;
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
    pcs_status status = is_new ? system_compare(b, definition, params) : PCS_OK;
    if (status == PCS_OK) status = pcs_closed_form_create(b->ctx, definition, params, &b->sim->system);
    return status == PCS_OK ? PCS_OK : pcs_build_blame(b, section, status);
}

// Sections `scheme` and `solver`: what advances the model.

PCS_PARTS(scheme_parts, pcs_schemes, pcs_schemes[i]->options, NULL, NULL)

const pcs_map pcs_scheme_map = { .name = "scheme", .kind = PCS_MAP_TYPES, .parts = scheme_parts };

static pcs_status scheme_read(pcs_build *b)
{
    if (b->is_model_only && pcs_case_get(b->c, pcs_case_root(b->c), "scheme") == NULL) return PCS_OK;
    pcs_yaml *node = pcs_case_need(b->c, pcs_case_root(b->c), "scheme", PCS_YAML_MAP, "the time integrator");
    if (node == NULL) return PCS_OK;
    pcs_case_forgive(b->c, node);
    int type = pcs_build_type(b, node, scheme_parts);
    if (type < 0) return PCS_OK;
    b->scheme = pcs_schemes[type];
    PCS_TRY(pcs_build_params(b, b->scheme->params_size, &b->scheme_params));
    if (pcs_case_read(b->c, node, b->scheme->options, b->scheme_params))
        pcs_build_check(b, node, b->scheme->check, b->scheme_params);
    return PCS_OK;
}

typedef struct scheme_solver {
    pcs_yaml *type, *linear;
    int nthread;
} scheme_solver;

PCS_PARTS(step_parts, pcs_step_solvers, NULL, NULL, NULL)
PCS_PARTS(linsolve_parts, pcs_linsolvers, NULL, NULL, NULL)

const pcs_map pcs_step_map = { .name = "step solver", .parts = step_parts };
const pcs_map pcs_linsolve_map = { .name = "linear solver", .parts = linsolve_parts };
static const pcs_form step_form = { .shown = "auto or a step solver", .parts = step_parts };
static const pcs_form linear_form = { .shown = "auto or a linear solver", .parts = linsolve_parts };
static const pcs_option solver_options[] = {
    PCS_NODE("type", scheme_solver, type, PCS_OPTIONAL, step_form, "[auto]"),
    PCS_NODE("linear", scheme_solver, linear, PCS_OPTIONAL, linear_form, "of the linear equations [auto]"),
    PCS_COUNT("threads", scheme_solver, nthread, PCS_DEFAULT("0"), PCS_WITHIN(0.0, 64.0),
              "for large nonlinear models and long bars, the same bits with any number; 0: one per processor"),
    { .name = NULL },
};
const pcs_map pcs_solver_map = { .name = "solver", .options = solver_options };

static pcs_status build_scheme(pcs_build *b)
{
    static const char *const certify[] = { "strict", "warn", NULL };
    PCS_TRY(scheme_read(b));
    pcs_yaml *node = pcs_case_get_map(b->c, pcs_case_root(b->c), "solver");
    if (node != NULL) {
        b->solver = pcs_build_name(b, node, "type", step_form.parts);
        b->linear = pcs_build_name(b, node, "linear", linear_form.parts);
        scheme_solver params = { 0 };
        pcs_case_read(b->c, node, solver_options, &params);
        b->model.nthread = params.nthread;
        if (b->linear != NULL && strcmp(b->linear, "petsc") == 0 && !b->is_model_only)
            PCS_TRY(pcs_build_blame(b, node, pcs_comm_start(b->ctx)));
    }
    b->sim->certify_warns = pcs_case_choice(b->c, pcs_case_root(b->c), "certify", certify, "strict") == 1;
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
        return pcs_fail(b->ctx, PCS_UNSUPPORTED, "scheme '%s' cannot advance system '%s': %s", b->scheme->name,
                        b->sim->system->name, reason);
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
    bool is_auto = strcmp(b->solver, "auto") == 0;
    const char *name = is_auto ? pcs_step_solver_preferred(b->sim->system) : b->solver;
    pcs_status status = pcs_scheme_weigh(b->scheme, b->sim->system, b->sim->step_size);
    if (status == PCS_OK) status = pcs_step_solver_create(b->ctx, name, b->linear, b->sim->system, &b->sim->solver);
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
    } else if (status == PCS_OK && (b->retry > 0 || b->sim->follows_turning) && b->scheme->needs_equal_steps == NULL) {
        status = pcs_retry_create(b->sim, b->retry, &b->sim->retry);
    }
    if (status == PCS_OK) return PCS_OK;
    PCS_TRY(pcs_build_blame(b, pcs_case_find(b->c, culprit), status));
    return pcs_case_finish(b->c);
}

// The start of a run: at the initial displacements, in equilibrium under the loads at t = 0, or where another run was.

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
        pcs_case_error_at(b->c, pcs_case_find(b->c, "initial"), NULL, "a run that starts from another one has none");
    pcs_status status = start_find(b, &params, &data);
    if (status != PCS_OK) return pcs_build_blame(b, node, status);
    b->sim->from = data;
    if (!(b->end > b->start))
        pcs_case_error_at(b->c, pcs_case_find(b->c, "time"), "end", "end must be > %.9g, where '%s' stands, is %.9g",
                          b->start, params.from, b->end);
    return PCS_OK;
}

static pcs_status build_statics(pcs_build *b)
{
    pcs_yaml *root = pcs_case_root(b->c), *node = pcs_case_get(b->c, root, "statics");
    b->statics = (pcs_statics_options){ .has_friction = true };
    // A run that does not ask for it does not get the section.
    if (node == NULL && !b->is_model_only && !b->starts_in_equilibrium) return PCS_OK;
    node = pcs_case_get_map(b->c, root, "statics");
    if (node != NULL) pcs_case_read(b->c, node, pcs_statics_keys, &b->statics);
    return PCS_OK;
}

static pcs_status build_start(pcs_build *b)
{
    static const char *const choices[] = { "initial", "statics", NULL };
    pcs_yaml *root = pcs_case_root(b->c), *given = pcs_case_get(b->c, root, "start");
    if (given != NULL && pcs_yaml_get_kind(given) == PCS_YAML_MAP) return start_read_from(b, given);
    b->starts_in_equilibrium = pcs_case_choice(b->c, root, "start", choices, "initial") == 1;
    if (!b->starts_in_equilibrium) return PCS_OK;
    for (int i = 0; i < b->model.ninitial; i++) {
        const pcs_fe_initial *values = &b->model.initials[i];
        if (values->displacement.is_given || values->rotation.is_given)
            pcs_case_error_at(b->c, pcs_yaml_item(pcs_case_get(b->c, root, "initial"), i),
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
    PCS_TRY(pcs_case_finish(b->c)); // what is told with its place
    pcs_wrap(b->ctx, status, "the equilibrium to start from");
    PCS_TRY(pcs_build_blame(b, pcs_case_find(b->c, "start"), status));
    return pcs_case_finish(b->c);
}

static pcs_status build_read_mesh_model(pcs_build *b)
{
    PCS_TRY(pcs_build_mesh(b));
    PCS_TRY(pcs_build_groups(b));
    PCS_TRY(pcs_build_supports(b));
    PCS_TRY(pcs_build_initials(b));
    PCS_TRY(pcs_build_loads(b));
    PCS_TRY(pcs_build_joints(b));
    return pcs_build_contacts(b);
}

// Returns true if the case has neither scheme nor time: enough for statics and modes, while either key asks for a run.
static bool build_stands_still(pcs_build *b)
{
    const pcs_yaml *root = pcs_case_root(b->c);
    return pcs_yaml_at(root, "scheme") == NULL && pcs_yaml_at(root, "time") == NULL;
}

static pcs_status build_read(pcs_build *b)
{
    PCS_TRY(pcs_case_expand(b->c));
    b->is_model_only = b->is_model_only || (b->may_stand_still && build_stands_still(b));
    PCS_TRY(build_system(b));
    if (!b->has_system) PCS_TRY(build_read_mesh_model(b));
    PCS_TRY(build_scheme(b));
    PCS_TRY(pcs_build_time(b));
    PCS_TRY(pcs_build_masses(b));
    PCS_TRY(pcs_build_output(b));
    PCS_TRY(build_start(b));
    PCS_TRY(build_statics(b));
    return pcs_case_finish(b->c);
}

// Returns true if contacts may be distributed over ranks that each have a part of the mesh.
static bool build_may_deal(const pcs_build *b)
{
    bool is_schur = b->solver != NULL && (strcmp(b->solver, "auto") == 0 || strcmp(b->solver, "schur") == 0);
    return b->spreads && is_schur && b->scheme != NULL && (b->scheme->takes & PCS_TAKES_DEALT_ROWS) != 0;
}

static pcs_status build_model(pcs_build *b)
{
    const char *culprit = NULL;
    b->model.mesh = b->mesh;
    b->model.step = b->step;
    b->model.stays_still = b->is_model_only;
    b->model.deals_rows = build_may_deal(b) ? pcs_rows_are_dealt : NULL;
    b->model.needs_copies = pcs_build_names_nodes(b);
    pcs_status status = b->has_system ? PCS_OK : pcs_fe_create(b->ctx, &b->model, &b->sim->system, &culprit);
    if (status != PCS_OK) {
        PCS_TRY(pcs_build_blame(b, pcs_case_find(b->c, culprit), status));
        return pcs_case_finish(b->c);
    }
    PCS_TRY(pcs_build_state(b));
    PCS_TRY(pcs_build_check_joints(b));
    PCS_TRY(pcs_build_questions(b));
    PCS_TRY(pcs_build_probes(b));
    if (!b->is_model_only) PCS_TRY(pcs_build_clock(b)); // by whose steps gaps of a single point are rounded off
    PCS_TRY(pcs_build_check_gaps(b));
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
}

// Makes the status agree on all ranks: their parts of the mesh may have different errors.
static pcs_status build_agree(pcs_build *b, pcs_status status)
{
    return b->spreads ? pcs_agree(b->ctx, status) : status;
}

// Reads and makes all that the case states, into b->sim.
static pcs_status build_all(pcs_build *b)
{
    pcs_sim *sim = NULL;
    PCS_TRY(build_agree(b, pcs_blas_reserve(b->ctx)));
    PCS_TAKE(b->ctx, sim, 1, "the simulation");
    *sim = (pcs_sim){ .ctx = b->ctx, .input = b->c };
    b->sim = sim;
    PCS_TRY(build_agree(b, build_read(b)));
    return build_agree(b, build_model(b));
}

static pcs_status build_start_from(pcs_build *b)
{
    PCS_TRY(pcs_build_blame(b, pcs_case_find(b->c, "start"), pcs_checkpoint_start(b->sim)));
    return pcs_case_finish(b->c);
}

static pcs_status build_rest(pcs_build *b, pcs_sim **out)
{
    PCS_TRY(build_solvers(b));
    PCS_TRY(build_equilibrium(b));
    PCS_TRY(build_start_from(b));
    PCS_TAKE(b->ctx, b->sim->report.rows, pcs_system_npoint(b->sim->system), "the report");
    build_view(b);
    PCS_TRY(pcs_build_check_observers(b));
    *out = b->sim;
    return PCS_OK;
}

static pcs_status build_sim(pcs_build *b, pcs_sim **out)
{
    double start = pcs_clock();
    *out = NULL;
    PCS_TRY(build_all(b));
    PCS_TRY(build_rest(b, out));
    b->sim->timing.setup = pcs_clock() - start;
    return PCS_OK;
}

static pcs_status build_analysis(pcs_build *b, pcs_analysis *out)
{
    b->is_model_only = true;
    PCS_TRY(build_all(b));
    return build_still(b, out);
}

pcs_status pcs_build_sim(pcs_context *ctx, pcs_case *c, pcs_sim **out)
{
    pcs_build b = { .ctx = ctx, .c = c, .step = NAN, .end = NAN };
    return build_sim(&b, out);
}

pcs_status pcs_build_analysis(pcs_context *ctx, pcs_case *c, pcs_analysis *out)
{
    pcs_build b = { .ctx = ctx, .c = c, .step = NAN, .end = NAN };
    return build_analysis(&b, out);
}

static pcs_status build_assign(const pcs_source *source, pcs_case *c)
{
    for (int i = 0; i < source->nset; i++) PCS_TRY(pcs_case_set(c, source->set[i]));
    return PCS_OK;
}

pcs_status pcs_build_load_case(pcs_context *ctx, const pcs_source *source, pcs_case **out)
{
    const char *name = source->path == NULL ? "case" : source->path;
    if (source->text == NULL) PCS_TRY(pcs_case_load(ctx, name, out));
    else PCS_TRY(pcs_case_parse(ctx, name, source->text, strlen(source->text), out));
    return build_assign(source, *out);
}

pcs_status pcs_build_copy_case(pcs_context *ctx, const pcs_source *source, const pcs_case *from, pcs_case **out)
{
    PCS_TRY(pcs_case_copy(ctx, from, out));
    return build_assign(source, *out);
}

static pcs_status build_load(pcs_context *ctx, const pcs_source *source, pcs_build *out)
{
    *out = (pcs_build){ .ctx = ctx, .step = NAN, .end = NAN, .own = source->own, .no_plugins = source->no_plugins };
    if (source->own != NULL) PCS_TRY(pcs_closed_form_verify(ctx, source->own));
    return pcs_build_load_case(ctx, source, &out->c);
}

// Loads the case and fails unless all ranks have loaded the same one, since their collective calls depend on it.
static pcs_status build_load_alike(pcs_context *ctx, const pcs_source *source, pcs_build *out)
{
    unsigned long long hash = 0;
    pcs_status status = build_load(ctx, source, out);
    if (status == PCS_OK) status = pcs_case_hash(out->c, &hash);
    return pcs_comm_demand_same(ctx, status, hash, "case: is a file old on one of the machines?");
}

// Builds the case with a part of the mesh on every rank. If the case is wrong or needs the complete mesh, builds it
// again with all of it on every rank, so that all ranks report the same errors, with the user's node and cell numbers.
static pcs_status build_over_ranks(pcs_context *ctx, const pcs_source *source, pcs_sim **out)
{
    pcs_build b;
    double start = pcs_clock();
    PCS_TRY(build_load_alike(ctx, source, &b));
    b.spreads = true;
    pcs_status status = build_all(&b);
    if (status == PCS_BAD_INPUT || status == PCS_UNSUPPORTED) {
        PCS_TRY(build_load(ctx, source, &b));
        return build_sim(&b, out);
    }
    PCS_TRY(status);
    PCS_TRY(build_rest(&b, out));
    b.sim->timing.setup = pcs_clock() - start;
    return PCS_OK;
}

pcs_status pcs_build_sim_of(pcs_context *ctx, const pcs_source *source, pcs_sim **out)
{
    const pcs_comm *comm = pcs_context_comm(ctx);
    pcs_build b;
    *out = NULL;
    if (comm != NULL && comm->size > 1) return pcs_agree(ctx, build_over_ranks(ctx, source, out));
    PCS_TRY(build_load(ctx, source, &b));
    return pcs_agree(ctx, build_sim(&b, out));
}

pcs_status pcs_build_to_check(pcs_context *ctx, const pcs_source *source, pcs_sim **out)
{
    const pcs_comm *comm = pcs_context_comm(ctx);
    pcs_build b;
    *out = NULL;
    if (comm != NULL && comm->size > 1) return pcs_build_sim_of(ctx, source, out);
    PCS_TRY(build_load(ctx, source, &b));
    b.may_stand_still = true;
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
    return pcs_agree(ctx, build_analysis(&b, out));
}

pcs_status pcs_build_sim_from(pcs_context *ctx, const char *path, int nset, const char *const *set, pcs_sim **out)
{
    return pcs_build_sim_of(ctx, &(pcs_source){ .path = path, .nset = nset, .set = set }, out);
}

pcs_status pcs_build_analysis_from(pcs_context *ctx, const char *path, int nset, const char *const *set,
                                   pcs_analysis *out)
{
    return pcs_build_analysis_of(ctx, &(pcs_source){ .path = path, .nset = nset, .set = set }, out);
}
