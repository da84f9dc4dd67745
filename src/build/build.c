// Loads a case and builds the simulation. Sections are read one after another without stopping at an error, so
// that one pass reports them all; objects are made only from a case without errors.

#include "build/build.h"
#include "build/builder.h"
#include "build/deal.h"
#include "closed_form/closed_form.h"
#include "core/blas.h"
#include "core/clock.h"
#include "core/comm.h"
#include "percuss.h"
#include "sim/checkpoint.h"
#include "step/projection.h"

#include <string.h>

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

// Statics and modes need neither of both; who gives one of them wants a run.
static bool build_stands_still(pcs_build *b)
{
    const pcs_yaml *root = pcs_case_root(b->c);
    return pcs_yaml_at(root, "scheme") == NULL && pcs_yaml_at(root, "time") == NULL;
}

static pcs_status build_read(pcs_build *b)
{
    PCS_TRY(pcs_case_expand(b->c));
    b->is_model_only = b->is_model_only || (b->may_stand_still && build_stands_still(b));
    PCS_TRY(pcs_build_system(b));
    if (!b->has_system) PCS_TRY(build_read_mesh_model(b));
    PCS_TRY(pcs_build_scheme(b));
    PCS_TRY(pcs_build_time(b));
    PCS_TRY(pcs_build_masses(b));
    PCS_TRY(pcs_build_output(b));
    PCS_TRY(pcs_build_start(b));
    PCS_TRY(pcs_build_statics(b));
    return pcs_case_finish(b->c);
}

// Can contacts be dealt out among ranks, each of which has a part of the mesh?
static bool build_may_deal(const pcs_build *b)
{
    bool is_schur = b->solver != NULL && (strcmp(b->solver, "auto") == 0 || strcmp(b->solver, "schur") == 0);
    return b->spreads && is_schur && b->scheme != NULL && b->scheme->takes_dealt_rows;
}

static pcs_status build_model(pcs_build *b)
{
    const char *culprit = NULL;
    b->model.mesh = b->mesh;
    b->model.step = b->step;
    b->model.stays_still = b->is_model_only;
    b->model.deals_rows = build_may_deal(b) ? pcs_rows_are_dealt : NULL;
    b->model.needs_copies = pcs_deal_names_nodes(b);
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

// Ranks that have parts of the mesh may find different faults in it.
static pcs_status build_agree(pcs_build *b, pcs_status status)
{
    return b->spreads ? pcs_comm_agree(b->ctx, status) : status;
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
    PCS_TRY(pcs_build_solvers(b));
    PCS_TRY(pcs_build_equilibrium(b));
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
    return pcs_build_still(b, out);
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

// On several ranks, which must have loaded the same: what they then do together depends on it.
static pcs_status build_load_alike(pcs_context *ctx, const pcs_source *source, pcs_build *out)
{
    unsigned long long hash = 0;
    pcs_status status = build_load(ctx, source, out);
    if (status == PCS_OK) status = pcs_case_hash(out->c, &hash);
    return pcs_comm_demand_same(ctx, status, hash, "case: is a file old on one of the machines?");
}

// Every rank with its part of the mesh. A case that is wrong, or that needs the whole, is built again with all of it on
// every rank: faults are then told by the numbers of nodes and cells that the user knows, and by all ranks alike.
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
    if (comm != NULL && comm->size > 1) return pcs_comm_agree(ctx, build_over_ranks(ctx, source, out));
    PCS_TRY(build_load(ctx, source, &b));
    return pcs_comm_agree(ctx, build_sim(&b, out));
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
    return pcs_comm_agree(ctx, build_analysis(&b, out));
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
