// Handles: a case becomes a simulation, with the status and the message of a failure.

#include "api/handle.h"

#include <stdarg.h>
#include <stdio.h>

int pcs_api_answer(pcs_status status)
{
    if (status == PCS_OK) return 0;
    return status == PCS_NO_MEMORY || status == PCS_FAILED ? 1 : 2;
}

int pcs_api_run_answer(percuss *p, pcs_status status)
{
    if (status == PCS_OK) return 0;
    p->is_stopped = true;
    return status == PCS_BAD_INPUT || status == PCS_UNSUPPORTED ? 2 : 1;
}

int pcs_api_refuse(percuss *p, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return pcs_api_answer(pcs_fail(p->ctx, PCS_BAD_INPUT, "%s", text));
}

bool pcs_api_may_evaluate(const percuss *p)
{
    return p != NULL && p->system != NULL && !p->is_stepping;
}

const char *percuss_version(void)
{
    return PERCUSS_VERSION;
}

percuss *pcs_api_create(void)
{
    pcs_context *ctx = NULL;
    if (pcs_context_create(&ctx) != PCS_OK) return NULL;
    percuss *p = pcs_take(ctx, 1, sizeof *p, "the simulation");
    if (p == NULL) pcs_context_destroy(&ctx);
    else p->ctx = ctx;
    return p;
}

pcs_source pcs_api_source(const percuss_source *source)
{
    return (pcs_source){
        .path = source->path, .text = source->text, .nset = source->nset, .set = source->set, .own = source->system
    };
}

void pcs_api_take_model(percuss *p, pcs_system *system, int nprobe, const pcs_probe *probes)
{
    p->system = system;
    p->map = pcs_system_is_mesh(system) ? pcs_fe_dofmap(system) : NULL;
    p->nprobe = nprobe;
    p->probes = probes;
}

pcs_status pcs_api_take_sim(percuss *p)
{
    pcs_api_take_model(p, p->sim->system, p->sim->nprobe, p->sim->probes);
    p->rows = p->sim->report.rows;
    PCS_TAKE(p->ctx, p->mirror, 1, "the state");
    PCS_TAKE(p->ctx, p->mirror->q, p->system->nq, "the state");
    PCS_TAKE(p->ctx, p->mirror->v, p->system->nv, "the state");
    return PCS_OK;
}

int percuss_open(const percuss_source *source, percuss **out)
{
    percuss *p = *out = pcs_api_create();
    if (p == NULL) return 1;
    if (source == NULL || (source->path == NULL && source->text == NULL))
        return pcs_api_refuse(p, "neither a path nor a text of a case is given");
    pcs_source from = pcs_api_source(source);
    pcs_status status = pcs_build_sim_of(p->ctx, &from, &p->sim);
    if (status == PCS_OK) status = pcs_api_take_sim(p);
    if (status != PCS_OK) return pcs_api_answer(status);
    return pcs_api_run_answer(p, pcs_sim_start(p->sim));
}

int percuss_load_with(const char *path, int nset, const char *const *set, percuss **out)
{
    return percuss_open(&(percuss_source){ .path = path, .nset = nset, .set = set }, out);
}

int percuss_load(const char *path, percuss **out)
{
    return percuss_load_with(path, 0, NULL, out);
}

void percuss_destroy(percuss **p)
{
    if (p == NULL || *p == NULL || (*p)->is_running) return;
    pcs_context *ctx = (*p)->ctx;
    *p = NULL;
    pcs_context_destroy(&ctx);
}
