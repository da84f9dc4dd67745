// Meshes of many nodes, and which way a node can move. What parts and sets are is in python/test_meshes.

#include "case/case.h"
#include "mesh/merge.h"
#include "support/check.h"
#include "support/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const pcs_mesh_source_ops *mesh_find(const char *type)
{
    for (int i = 0; pcs_mesh_sources[i] != NULL; i++)
        if (strcmp(pcs_mesh_sources[i]->name, type) == 0) return pcs_mesh_sources[i];
    fail_msg("no mesh source '%s'", type);
    return NULL;
}

// Makes a part from options as a YAML map.
static void mesh_make(model *m, const char *type, const char *name, const char *options)
{
    const pcs_mesh_source_ops *source = mesh_find(type);
    pcs_case *c = NULL;
    CHECK_OK(m->ctx, pcs_case_parse(m->ctx, "part", options, strlen(options), &c));
    void *params = pcs_take(m->ctx, 1, source->params_size, "parameters");
    assert_non_null(params);
    CHECK(pcs_case_read(c, pcs_case_root(c), source->options, params));
    CHECK_OK(m->ctx, source->build(params, name, m->mesh));
}

// Largest distance between the numbers of two nodes of a cell.
static int mesh_bandwidth(const pcs_mesh *mesh)
{
    int most = 0;
    for (int c = 0; c < mesh->ncell; c++) {
        int width = abs(mesh->cell[c][0] - mesh->cell[c][1]);
        if (width > most) most = width;
    }
    return most;
}

// A million degrees of freedom in space: six at each node. Memory and numbering must be linear in the size.
TEST_WITH_MODEL(lattice_of_a_million_dofs)
{
    model *m = *state;
    mesh_make(m, "lattice", "net", "{ cells: [200, 9, 9], size: [0.1], elements: 3 }");
    int joints = 201 * 100, struts = 200 * 100 + 201 * 9 * 10 * 2;
    CHECK(m->mesh->nnode == joints + 2 * struts && m->mesh->ncell == 3 * struts);
    CHECK(6 * m->mesh->nnode > 750000);
    int layer = 100 + 2 * (100 + 2 * 90);
    CHECK(mesh_bandwidth(m->mesh) <= layer);
    CHECK(model_nodes(m, "net.xmax")->count == 100 + 2 * 180);
    CHECK(pcs_bytes_taken(m->ctx) < 100u * (size_t)m->mesh->nnode + 1000000);
}

// Fifty thousand nodes on planes and lines of a grid, each there twice: the work must grow like their number.
TEST_WITH_MODEL(joining_is_quick)
{
    model *m = *state;
    mesh_make(m, "lattice", "a", "{ cells: [27, 29, 31], size: [1] }");
    mesh_make(m, "lattice", "b", "{ cells: [27, 29, 31], size: [1], origin: [1.0e-7, 0, 0] }");
    int half = 28 * 30 * 32, *nodes = test_malloc(2 * (size_t)half * sizeof *nodes);
    for (int i = 0; i < 2 * half; i++) nodes[i] = i;
    pcs_merge merge;
    CHECK_OK(m->ctx, pcs_merge_begin(m->mesh, &merge));
    CHECK_OK(m->ctx, pcs_merge_add(&merge, 2 * half, nodes, 1e-6));
    CHECK(merge.ncompare >= half && merge.ncompare < 30 * half);
    for (int i = 0; i < half; i++) CHECK(pcs_merge_find(&merge, half + i) == i);
    pcs_merge_end(&merge);
    test_free(nodes);
}
