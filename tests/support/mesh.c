#include "support/mesh.h"

#include "case/case.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

static const pcs_mesh_source_ops *mesh_find(const char *type)
{
    for (int i = 0; pcs_mesh_sources[i] != NULL; i++)
        if (strcmp(pcs_mesh_sources[i]->name, type) == 0) return pcs_mesh_sources[i];
    fail_msg("no mesh source '%s'", type);
    return NULL;
}

const pcs_mesh_source_ops *mesh_source(model *m, const char *type, const char *options, void **params)
{
    const pcs_mesh_source_ops *source = mesh_find(type);
    pcs_case *c = NULL;
    CHECK_OK(m->ctx, pcs_case_parse(m->ctx, "part", options, strlen(options), &c));
    *params = pcs_take(m->ctx, 1, source->params_size, "parameters");
    assert_non_null(*params);
    CHECK(pcs_case_read(c, pcs_case_root(c), source->options, *params));
    return source;
}

pcs_status mesh_try(model *m, const char *type, const char *name, const char *options, const char **reported)
{
    const pcs_mesh_source_ops *source = mesh_find(type);
    pcs_case *c = NULL;
    CHECK_OK(m->ctx, pcs_case_parse(m->ctx, "part", options, strlen(options), &c));
    void *params = pcs_take(m->ctx, 1, source->params_size, "parameters");
    assert_non_null(params);
    if (!pcs_case_read(c, pcs_case_root(c), source->options, params)) return pcs_case_finish(c);
    CHECK_OK(m->ctx, pcs_case_finish(c));
    const char *option = NULL, *fault = source->check == NULL ? NULL : source->check(params, &option);
    if (reported != NULL) *reported = fault;
    return fault != NULL ? PCS_BAD_INPUT : source->build(params, name, m->mesh);
}

void mesh_make(model *m, const char *type, const char *name, const char *options)
{
    const char *reported = NULL;
    pcs_status status = mesh_try(m, type, name, options, &reported);
    if (reported != NULL) fail_msg("%s: %s", options, reported);
    CHECK_OK(m->ctx, status);
}

static void mesh_check_sets(int nset, const pcs_set *sets, int nitem)
{
    int *seen = calloc((size_t)nitem + 1, sizeof *seen);
    assert_non_null(seen);
    for (int i = 0; i < nset; i++) {
        for (int k = 0; k < sets[i].count; k++) {
            int item = sets[i].items[k];
            CHECK(item >= 0 && item < nitem);
            CHECK(seen[item] != i + 1);
            seen[item] = i + 1;
        }
    }
    free(seen);
}

void mesh_check_sound(const pcs_mesh *mesh)
{
    for (int c = 0; c < mesh->ncell; c++) {
        const int *n = mesh->cell[c];
        CHECK(n[0] >= 0 && n[0] < mesh->nnode && n[1] >= 0 && n[1] < mesh->nnode);
        CHECK(n[0] == n[1] || memcmp(mesh->x[n[0]], mesh->x[n[1]], sizeof *mesh->x) != 0);
    }
    mesh_check_sets(mesh->nnode_set, mesh->node_set, mesh->nnode);
    mesh_check_sets(mesh->ncell_set, mesh->cell_set, mesh->ncell);
}

int mesh_bandwidth(const pcs_mesh *mesh)
{
    int most = 0;
    for (int c = 0; c < mesh->ncell; c++) {
        int width = abs(mesh->cell[c][0] - mesh->cell[c][1]);
        if (width > most) most = width;
    }
    return most;
}

bool mesh_set_is(const pcs_set *set, int count, const int *items)
{
    return set->count == count && memcmp(set->items, items, (size_t)count * sizeof *items) == 0;
}
