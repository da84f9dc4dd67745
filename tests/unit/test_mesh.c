// Known answers of meshes: lines and their sets, arrays that grow, and which way a node can move.

#include "mesh/mesh.h"
#include "support/check.h"
#include "support/model.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double origin[3] = { 0, 0, 0 };

TEST_WITH_MODEL(line_has_equal_cells_and_sets)
{
    model *m = *state;
    const double from[3] = { 1, 2, 3 }, to[3] = { 3, 5, 9 };
    model_line(m, "bar", from, to, 4);
    CHECK(m->mesh->nnode == 5 && m->mesh->ncell == 4);
    for (int i = 0; i < 5; i++) {
        CHECK_NEAR(m->mesh->x[i][0], 1.0 + 0.5 * i, 4e-16);
        CHECK_NEAR(m->mesh->x[i][1], 2.0 + 0.75 * i, 8e-16);
        CHECK_NEAR(m->mesh->x[i][2], 3.0 + 1.5 * i, 8e-16);
    }
    for (int i = 0; i < 4; i++) CHECK(m->mesh->cell[i][0] == i && m->mesh->cell[i][1] == i + 1);
    const pcs_set *all = model_nodes(m, "bar"), *cells = model_cells(m, "bar");
    CHECK(all->count == 5 && all->items[0] == 0 && all->items[4] == 4);
    CHECK(cells->count == 4 && cells->items[0] == 0 && cells->items[3] == 3);
    CHECK(model_nodes(m, "bar.start")->count == 1 && model_nodes(m, "bar.start")->items[0] == 0);
    CHECK(model_nodes(m, "bar.end")->count == 1 && model_nodes(m, "bar.end")->items[0] == 4);
    CHECK(model_cells(m, "bar.start")->count == 1 && model_cells(m, "bar.start")->items[0] == 0);
    CHECK(model_cells(m, "bar.end")->count == 1 && model_cells(m, "bar.end")->items[0] == 3);
    CHECK(pcs_mesh_node_set(m->mesh, "ba") == NULL && pcs_mesh_cell_set(m->mesh, "bar.middle") == NULL);
}

// Node i is i/n of the way, not a sum of i cells: far down a long line nothing has added up.
TEST_WITH_MODEL(line_ends_are_exact)
{
    model *m = *state;
    const double from[3] = { 0.1, -0.3, 0.7 }, to[3] = { -10.1, 0.9, 1e3 };
    model_line(m, "bar", from, to, 1000);
    for (int k = 0; k < 3; k++) {
        CHECK(m->mesh->x[0][k] == from[k]);
        CHECK(m->mesh->x[1000][k] == to[k]);
        for (int i = 0; i <= 1000; i++)
            CHECK_NEAR(m->mesh->x[i][k], from[k] + (to[k] - from[k]) * i / 1000.0, 4 * DBL_EPSILON * 1e3);
    }
}

// Arrays move when they grow; what was there stays, and the second line starts where the first ended.
TEST_WITH_MODEL(lines_add_up)
{
    model *m = *state;
    enum { LINES = 40 };
    for (int i = 0; i < LINES; i++) {
        const double from[3] = { 0, i, 0 }, to[3] = { 2, i, 0 };
        char name[16];
        snprintf(name, sizeof name, "bar%d", i);
        model_line(m, name, from, to, 2);
    }
    CHECK(m->mesh->nnode == 3 * LINES && m->mesh->ncell == 2 * LINES);
    CHECK(m->mesh->nnode_set == 4 * LINES && m->mesh->ncell_set == 3 * LINES);
    for (int i = 0; i < LINES; i++) {
        char name[16];
        snprintf(name, sizeof name, "bar%d", i);
        const pcs_set *nodes = model_nodes(m, name), *cells = model_cells(m, name);
        assert_string_equal(nodes->name, name);
        CHECK(nodes->items[0] == 3 * i && nodes->items[2] == 3 * i + 2);
        CHECK(cells->items[0] == 2 * i && m->mesh->cell[2 * i][0] == 3 * i && m->mesh->cell[2 * i + 1][1] == 3 * i + 2);
        CHECK(m->mesh->x[3 * i + 1][0] == 1.0 && m->mesh->x[3 * i + 1][1] == (double)i);
    }
}

TEST_WITH_MODEL(line_without_length_is_told)
{
    const struct {
        const char *values, *reported;
    } bad[] = {
        { "from=1,2,3 to=1,2,3 elements=1", "no length" },
        { "from=-1e300,0,0 to=1e300,0,0 elements=1", "too long" },
    };
    const pcs_mesh_source_ops *line = pcs_mesh_sources[0];
    pcs_context *ctx = ((model *)*state)->ctx;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *option = NULL,
                   *reported = line->check(model_params(ctx, line->options, line->params_size, bad[i].values), &option);
        CHECK_TEXT(reported, bad[i].reported);
        assert_string_equal(option, "to");
    }
    const char *option;
    CHECK(line->check(model_params(ctx, line->options, line->params_size, "from=0,0,0 to=0,0,-2 elements=1"),
                      &option) == NULL);
}

TEST_WITH_MODEL(more_than_can_be_numbered_is_told)
{
    model *m = *state;
    int first = -7;
    model_line(m, "bar", origin, (double[]){ 1, 0, 0 }, 1);
    CHECK_STATUS(NULL, pcs_mesh_add_nodes(m->mesh, INT_MAX, &first), PCS_BAD_INPUT);
    CHECK_TEXT(pcs_message(m->ctx), "2147483649 items are more");
    CHECK(m->mesh->nnode == 2 && first == -7);
    CHECK_STATUS(NULL, pcs_mesh_add_cells(m->mesh, INT_MAX, &first), PCS_BAD_INPUT);
    CHECK(m->mesh->ncell == 1);
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
    CHECK(pcs_dofmap_resolve(&map, false, 2, origin, dof, part) == 0);
}
