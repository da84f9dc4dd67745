#include "support/text_case.h"

#include "support/check.h"

#include "build/build.h"
#include "fe/fe.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_ROOM = 16384 };

pcs_status text_case_build(const char *text, text_case *c)
{
    pcs_case *input = NULL;
    pcs_status status = pcs_case_parse(c->ctx, "f", text, strlen(text), &input);
    return status != PCS_OK ? status : pcs_build_sim_of(c->ctx, &(pcs_source){ .loaded = input }, &c->sim);
}

pcs_status text_case_try(const char *text, text_case *out)
{
    *out = (text_case){ 0 };
    assert_int_equal(pcs_context_create(&out->ctx), PCS_OK);
    return text_case_build(text, out);
}

static text_case open_text(const char *text)
{
    text_case out;
    pcs_status status = text_case_try(text, &out);
    if (status != PCS_OK) fail_msg("%s", pcs_message(out.ctx));
    return out;
}

text_case text_case_open(const char *part, ...)
{
    char text[TEXT_ROOM] = "";
    va_list rest;
    va_start(rest, part);
    for (; part != NULL; part = va_arg(rest, const char *)) {
        CHECK(strlen(text) + strlen(part) < sizeof text);
        strcat(text, part);
    }
    va_end(rest);
    return open_text(text);
}

text_case text_case_print(const char *format, ...)
{
    char text[TEXT_ROOM];
    va_list rest;
    va_start(rest, format);
    CHECK((size_t)vsnprintf(text, sizeof text, format, rest) < sizeof text);
    va_end(rest);
    return open_text(text);
}

void text_case_close(text_case *c)
{
    pcs_context_destroy(&c->ctx);
}

void text_case_step(text_case *c)
{
    if (!c->sim->has_started) CHECK_OK(c->ctx, pcs_sim_start(c->sim));
    CHECK_OK(c->ctx, pcs_sim_step(c->sim));
}

void text_case_run(text_case *c)
{
    while (!pcs_sim_is_done(c->sim)) text_case_step(c);
}

void text_case_vector(const pcs_system *system, int node, const double *x, double out[3])
{
    const pcs_dofmap *map = pcs_fe_dofmap(system);
    out[0] = out[1] = out[2] = 0.0;
    for (int i = map->first[node]; i < map->first[node + 1]; i++) {
        const pcs_dof *d = &map->dof[i];
        for (int k = 0; k < 3 && !d->is_rotation && d->equation >= 0; k++) out[k] += x[d->equation] * d->direction[k];
    }
}

void text_case_node(const text_case *c, const char *set, double x[3], double v[3], double reference[3])
{
    const pcs_system *system = c->sim->system;
    const pcs_mesh *mesh = pcs_fe_dofmap(system)->mesh;
    const pcs_set *nodes = pcs_mesh_node_set(mesh, set);
    assert_non_null(nodes);
    int node = nodes->items[0];
    memcpy(reference, mesh->x[node], 3 * sizeof *reference);
    text_case_vector(system, node, c->sim->state.q, x);
    text_case_vector(system, node, c->sim->state.v, v);
    for (int k = 0; k < 3; k++) x[k] += reference[k];
}

double text_case_probe(const text_case *c, const char *column)
{
    const pcs_sim *sim = c->sim;
    for (int i = 0; i < sim->nprobe; i++)
        if (strcmp(sim->probes[i].column, column) == 0)
            return sim->system->ops->probe(sim->system, &sim->probes[i],
                                           pcs_at(sim->state.t, sim->state.q, sim->state.v));
    fail_msg("no probe '%s'", column);
    return NAN;
}

int text_case_reaction(const text_case *c, const char *name)
{
    const pcs_system *system = c->sim->system;
    for (int r = 0; r < system->nreaction; r++)
        if (strcmp(system->reactions[r].name, name) == 0) return r;
    fail_msg("no reaction '%s'", name);
    return -1;
}

void text_case_gap_error(const text_case *c, double *gap, double *rate)
{
    enum { MOST = 256 };
    pcs_system *system = c->sim->system;
    double gaps[MOST], choices[MOST], speeds[MOST] = { 0 };
    CHECK(system->nrow <= MOST);
    if (system->row_set.vary) pcs_system_aim(system, pcs_at(c->sim->state.t, c->sim->state.q, NULL));
    pcs_system_gaps(system, pcs_at(c->sim->state.t, c->sim->state.q, NULL), gaps);
    if (system->row_set.ndriven > 0) pcs_system_drives(system, c->sim->state.t, choices, speeds);
    *gap = *rate = 0.0;
    for (int j = 0; j < system->nrow; j++) {
        if (!system->contacts[system->rows[j].contact].is_joint) continue;
        *gap = fmax(*gap, fabs(gaps[j]));
        *rate = fmax(*rate, fabs(pcs_system_rate(system, j, c->sim->state.v) + speeds[j]));
    }
}
