// Sections `scheme` and `solver`: what advances the model.

#include "build/builder.h"
#include "core/comm.h"
#include "sim/retry.h"

#include <stdio.h>
#include <string.h>

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

pcs_status pcs_build_scheme(pcs_build *b)
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
    *scheme = (pcs_scheme){ .ops = b->scheme, .ctx = b->ctx, .system = b->sim->system, .solver = b->sim->solver };
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

// Path in the case of what a step solver refuses: a contact of a mesh one of whose points cannot move, or the solver.
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

pcs_status pcs_build_solvers(pcs_build *b)
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
