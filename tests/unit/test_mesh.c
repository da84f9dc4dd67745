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

// Node 0: along the two directions of a plane turned by 30 degrees, the second one fixed, and a rotation.
// Node 1: along z only. Node 2: nothing.
TEST(directions_resolve_into_dofs)
{
    const double c = 0.5 * sqrt(3.0), s = 0.5;
    pcs_dof dofs[] = {
        { .direction = { c, s, 0 }, .node = 0, .equation = 0 },
        { .direction = { 0, 0, 1 }, .node = 0, .equation = 1, .is_rotation = true },
        { .direction = { -s, c, 0 }, .node = 0, .equation = -1 },
        { .direction = { 0, 0, 1 }, .node = 1, .equation = 2 },
    };
    const int first[] = { 0, 3, 4, 4 };
    pcs_dofmap map = { .ndof = 4, .nequation = 3, .first = first, .dof = dofs };
    int dof[PCS_MAX_NODE_DOFS];
    double part[PCS_MAX_NODE_DOFS];

    // u . (2, 0, 0) = 2 c u_0 - 2 s u_2; the fixed dof is told as well, the rotation is not a displacement.
    CHECK(pcs_dofmap_resolve(&map, false, 0, (double[]){ 2, 0, 0 }, dof, part) == 2);
    CHECK(dof[0] == 0 && dof[1] == 2);
    CHECK_NEAR(part[0], 2 * c, 4e-16);
    CHECK_NEAR(part[1], -2 * s, 4e-16);
    // Along one of them, round-off in the other is no component.
    CHECK(pcs_dofmap_resolve(&map, false, 0, (double[]){ 3 * c, 3 * s, 0 }, dof, part) == 1);
    CHECK(dof[0] == 0);
    CHECK_NEAR(part[0], 3.0, 1e-15);
    CHECK(pcs_dofmap_resolve(&map, false, 0, (double[]){ 0, 0, 1 }, dof, part) == -1);
    CHECK(pcs_dofmap_resolve(&map, false, 0, (double[]){ 1, 0, 1e-3 }, dof, part) == -1);
    CHECK(pcs_dofmap_resolve(&map, false, 1, (double[]){ 0, 0, -5 }, dof, part) == 1);
    CHECK(dof[0] == 3 && part[0] == -5.0);
    CHECK(pcs_dofmap_resolve(&map, false, 1, (double[]){ 1, 0, 0 }, dof, part) == -1);
    CHECK(pcs_dofmap_resolve(&map, false, 2, (double[]){ 1, 0, 0 }, dof, part) == -1);
    // Nothing to resolve is always possible: an initial velocity of zero on any node.
    CHECK(pcs_dofmap_resolve(&map, false, 2, (double[]){ 0, 0, 0 }, dof, part) == 0);
}
