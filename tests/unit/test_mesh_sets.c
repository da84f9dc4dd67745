// Choosing nodes by their place, joining nodes, taking cells out, numbering along the cells.

#include "mesh/merge.h"
#include "mesh/mesh.h"
#include "support/check.h"
#include "support/mesh.h"

#include <stdio.h>
#include <string.h>

enum { SIDE = 5, NODES = SIDE * SIDE };

// A plane net of 4 x 4 boxes with edges of 1; node i lies at (i % 5, i / 5).
static void make_net(model *m)
{
    mesh_make(m, "lattice", "net", "{ cells: [4, 4], size: [1] }");
}

static int choose(const model *m, const pcs_selection *s, int *nodes)
{
    int count = NODES;
    for (int i = 0; i < NODES; i++) nodes[i] = i;
    CHECK_OK(m->ctx, pcs_mesh_select(m->mesh, s, &count, nodes));
    return count;
}

static pcs_list rows(int nrow, int count, const double *value)
{
    return (pcs_list){ .nrow = nrow, .count = count, .value = value };
}

TEST_WITH_MODEL(nodes_are_chosen_by_place)
{
    model *m = *state;
    int nodes[NODES];
    make_net(m);
    CHECK_NEAR(pcs_mesh_tolerance(m->mesh), 1e-6 * 5.656854249492381, 1e-20);
    pcs_selection at = { .at = rows(1, 3, (double[]){ 2, 3, 1e-7 }), .tolerance = 1e-6 };
    CHECK(choose(m, &at, nodes) == 1 && nodes[0] == 17);
    // Several positions: in the order of the nodes, not of the positions.
    at.at = rows(2, 6, (double[]){ 4, 4, 0, 0, 1, 0 });
    CHECK(choose(m, &at, nodes) == 2 && nodes[0] == 5 && nodes[1] == 24);
    // Corners may be given in any order, the border belongs to the box.
    pcs_selection box = { .box = rows(2, 6, (double[]){ 3, 1, 1, 1, 0, -1 }), .tolerance = 1e-6 };
    CHECK(choose(m, &box, nodes) == 6 && nodes[0] == 1 && nodes[1] == 2 && nodes[5] == 8);
    pcs_selection plane = { .plane = rows(2, 6, (double[]){ 0, 4, 0, 2, 2, 0 }), .tolerance = 1e-6 };
    CHECK(choose(m, &plane, nodes) == 5 && nodes[0] == 4 && nodes[1] == 8 && nodes[4] == 20);
    // Both together: the diagonal within the box.
    plane.box = box.box;
    CHECK(choose(m, &plane, nodes) == 1 && nodes[0] == 8);
}

TEST_WITH_MODEL(nothing_there_is_told_with_the_nearest)
{
    model *m = *state;
    int nodes[NODES] = { 0, 1, 2 }, count = 3;
    make_net(m);
    pcs_selection at = { .at = rows(2, 6, (double[]){ 0, 0, 0, 2, 0, 0.5 }), .tolerance = 1e-3 };
    CHECK_STATUS(NULL, pcs_mesh_select(m->mesh, &at, &count, nodes), PCS_BAD_INPUT);
    CHECK_TEXT(pcs_message(m->ctx), "no node lies at [2, 0, 0.5]: the nearest, node 2 at [2, 0, 0], is 0.5 m away, the "
                                    "tolerance is 0.001 m");
    pcs_selection box = { .box = rows(2, 6, (double[]){ 5, 0, 0, 7, 9, 0 }), .tolerance = 1e-3 };
    CHECK_STATUS(NULL, pcs_mesh_select(m->mesh, &box, &count, nodes), PCS_BAD_INPUT);
    CHECK_TEXT(pcs_message(m->ctx), "node 2 at [2, 0, 0], is 3 m away");
    count = 0;
    CHECK_STATUS(NULL, pcs_mesh_select(m->mesh, &box, &count, nodes), PCS_BAD_INPUT);
    CHECK_TEXT(pcs_message(m->ctx), "no node is left to choose from");
    CHECK_STATUS(NULL, pcs_mesh_select(m->mesh, &at, &count, nodes), PCS_BAD_INPUT);
}

TEST(wrong_selections_are_told)
{
    const char *key;
    const double x[] = { 0, 0, 0, 0, 0, 0 };
    const struct {
        pcs_selection s;
        const char *key;
    } bad[] = {
        { { .at = rows(1, 2, x) }, "at" },       { { .box = rows(1, 6, x) }, "box" },
        { { .box = rows(2, 4, x) }, "box" },     { { .plane = rows(1, 3, x) }, "plane" },
        { { .plane = rows(2, 6, x) }, "plane" }, // the normal is zero
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(pcs_selection_check(&bad[i].s, &key) != NULL);
        assert_string_equal(key, bad[i].key);
    }
    CHECK(pcs_selection_check(&(pcs_selection){ .at = rows(2, 6, x), .box = rows(2, 6, x) }, &key) == NULL);
}

static void merge_sets(model *m, double tolerance, const char *a, const char *b)
{
    pcs_merge merge;
    int nodes[512], count = 0;
    for (int k = 0; k < 2; k++) {
        const pcs_set *set = model_nodes(m, k == 0 ? a : b);
        for (int i = 0; i < set->count; i++) nodes[count++] = set->items[i];
    }
    CHECK_OK(m->ctx, pcs_merge_begin(m->mesh, &merge));
    CHECK_OK(m->ctx, pcs_merge_add(&merge, count, nodes, tolerance));
    CHECK_OK(m->ctx, pcs_merge_apply(&merge, m->mesh));
    pcs_merge_end(&merge);
}

// Two lines that run towards each other become one chain, numbered from end to end.
TEST_WITH_MODEL(joined_lines_are_a_chain)
{
    model *m = *state;
    model_line(m, "a", (double[]){ 0, 0, 0 }, (double[]){ 1, 0, 0 }, 4);
    model_line(m, "b", (double[]){ 3, 0, 0 }, (double[]){ 1, 0, 1e-8 }, 4);
    merge_sets(m, 1e-7, "b.end", "a.end"); // named in any order
    CHECK(m->mesh->nnode == 9 && m->mesh->ncell == 8);
    CHECK(mesh_bandwidth(m->mesh) == 1);
    CHECK(mesh_set_is(model_nodes(m, "a.end"), 1, (int[]){ 4 }) &&
          mesh_set_is(model_nodes(m, "b.end"), 1, (int[]){ 4 }));
    CHECK(mesh_set_is(model_nodes(m, "b"), 5, (int[]){ 8, 7, 6, 5, 4 })); // the order of the set stays
    CHECK(m->mesh->x[4][2] == 0.0);                                       // the first of them stays where it was
    CHECK(m->mesh->x[8][0] == 3.0 && m->mesh->cell[4][0] == 8);
    mesh_check_sound(m->mesh);
}

// Coincident nodes that nobody joins stay apart: contacts live there.
TEST_WITH_MODEL(only_named_nodes_are_joined)
{
    model *m = *state;
    model_line(m, "a", (double[]){ 0, 0, 0 }, (double[]){ 1, 0, 0 }, 1);
    model_line(m, "b", (double[]){ 1, 0, 0 }, (double[]){ 2, 0, 0 }, 1);
    model_line(m, "c", (double[]){ 1, 0, 0 }, (double[]){ 1, 1, 0 }, 1);
    merge_sets(m, 1e-9, "a.end", "c.start");
    CHECK(m->mesh->nnode == 5);
    CHECK(model_nodes(m, "b.start")->items[0] != model_nodes(m, "a.end")->items[0]);
    CHECK(model_nodes(m, "c.start")->items[0] == model_nodes(m, "a.end")->items[0]);
    mesh_check_sound(m->mesh);
    // Nothing in reach: nothing changes.
    merge_sets(m, 0.5, "a.start", "b.end");
    CHECK(m->mesh->nnode == 5);
}

// A set that held two of the joined nodes holds the one that is left once.
TEST_WITH_MODEL(nets_share_a_side)
{
    model *m = *state;
    mesh_make(m, "lattice", "a", "{ cells: [10, 9], size: [0.1], origin: [-1, 0.3, 0] }");
    mesh_make(m, "lattice", "b", "{ cells: [10, 9], size: [0.1], origin: [0, 0.3, 0] }");
    int all[440], n = 0;
    for (int i = 0; i < m->mesh->nnode; i++) all[n++] = i;
    CHECK_OK(m->ctx, pcs_mesh_add_node_list(m->mesh, "all", n, all));
    merge_sets(m, 1e-9, "a", "b");
    CHECK(m->mesh->nnode == 2 * 110 - 10 && m->mesh->ncell == 2 * (10 * 10 + 11 * 9));
    CHECK(model_nodes(m, "all")->count == 210 && model_nodes(m, "a")->count == 110);
    for (int i = 0; i < 10; i++) CHECK(model_nodes(m, "a.xmax")->items[i] == model_nodes(m, "b.xmin")->items[i]);
    CHECK(mesh_bandwidth(m->mesh) <= 11);
    mesh_check_sound(m->mesh);
}

// Nodes within reach on either side of a border of the hash boxes, at positive and negative places.
TEST_WITH_MODEL(joining_finds_all_neighbours)
{
    model *m = *state;
    const double tolerance = 0.01;
    int nodes[2], first;
    for (int i = 0; i < 200; i++) {
        double place = -1.0 + 0.0101 * i;
        for (int axis = 0; axis < 3; axis++) {
            for (int far = 0; far < 2; far++) {
                pcs_merge merge;
                CHECK_OK(m->ctx, pcs_mesh_add_nodes(m->mesh, 2, &first));
                for (int k = 0; k < 2; k++) {
                    nodes[k] = first + k;
                    m->mesh->x[first + k][axis] = place + (i % 2 == 0 ? k : 1 - k) * (far ? 1.001 : 0.999) * tolerance;
                }
                CHECK_OK(m->ctx, pcs_merge_begin(m->mesh, &merge));
                CHECK_OK(m->ctx, pcs_merge_add(&merge, 2, nodes, tolerance));
                CHECK(pcs_merge_find(&merge, first + 1) == first + far);
                CHECK(merge.is_any == !far);
                pcs_merge_end(&merge);
                m->mesh->nnode -= 2;
                memset(m->mesh->x + first, 0, 2 * sizeof *m->mesh->x);
            }
        }
    }
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

TEST_WITH_MODEL(a_cell_that_would_vanish_is_told)
{
    model *m = *state;
    pcs_merge merge;
    model_line(m, "a", (double[]){ 0, 0, 0 }, (double[]){ 1, 0, 0 }, 10);
    mesh_make(m, "point", "p", "{ nodes: a.end }"); // a point has no length to lose
    CHECK_OK(m->ctx, pcs_merge_begin(m->mesh, &merge));
    CHECK_OK(m->ctx, pcs_merge_add(&merge, 3, (int[]){ 4, 6, 5 }, 0.11));
    CHECK_STATUS(NULL, pcs_merge_apply(&merge, m->mesh), PCS_BAD_INPUT);
    CHECK_TEXT(pcs_message(m->ctx), "cell 4 would lose its length: its nodes 4 at [0.4, 0, 0] and 5 at [0.5, 0, 0]");
    pcs_merge_end(&merge);
    CHECK(m->mesh->nnode == 11);
}

TEST_WITH_MODEL(cells_can_be_taken_out)
{
    model *m = *state;
    model_line(m, "a", (double[]){ 0, 0, 0 }, (double[]){ 1, 0, 0 }, 4);
    bool is_dropped[] = { false, true, false, true };
    CHECK_OK(m->ctx, pcs_mesh_drop_cells(m->mesh, is_dropped));
    CHECK(m->mesh->ncell == 2 && m->mesh->cell[0][0] == 0 && m->mesh->cell[1][0] == 2 && m->mesh->cell[1][1] == 3);
    CHECK(mesh_set_is(model_cells(m, "a"), 2, (int[]){ 0, 1 }));
    CHECK(mesh_set_is(model_cells(m, "a.start"), 1, (int[]){ 0 }) && model_cells(m, "a.end")->count == 0);
    mesh_check_sound(m->mesh);
}

TEST_WITH_MODEL(numbering_follows_the_cells)
{
    model *m = *state;
    int place[8];
    // A chain 3-0-4-1 given in pieces, a lone node 2, a ring 5-6-7.
    const int cell[][2] = { { 4, 1 }, { 0, 4 }, { 3, 0 }, { 5, 6 }, { 6, 7 }, { 7, 5 }, { 2, 2 } };
    CHECK_OK(m->ctx, pcs_mesh_order(m->ctx, 8, 7, cell, place));
    const int chain[] = { 2, 0, 4, 3, 1 }; // from node 1, the first of its ends
    for (int i = 0; i < 5; i++)
        if (i != 2) CHECK(place[i] == chain[i]);
    CHECK(place[2] == 4);
    int seen = 0;
    for (int i = 0; i < 8; i++) seen |= 1 << place[i];
    CHECK(seen == 255);
    for (int i = 5; i < 8; i++) CHECK(place[i] >= 5);
}

// A ladder of 40 rungs whose node 0 is in the middle: numbered from one of its ends all the same.
TEST_WITH_MODEL(numbering_starts_at_an_end)
{
    model *m = *state;
    enum { RUNGS = 40, MIDDLE = 20 };
    int cell[3 * RUNGS][2], place[2 * RUNGS], ncell = 0, width = 0;
    for (int i = 0; i < RUNGS; i++) {
        int rung = (i + MIDDLE) % RUNGS, next = (i + 1 + MIDDLE) % RUNGS;
        for (int side = 0; side < 2 && i + 1 < RUNGS; side++) {
            cell[ncell][0] = 2 * rung + side;
            cell[ncell++][1] = 2 * next + side;
        }
        cell[ncell][0] = 2 * rung;
        cell[ncell++][1] = 2 * rung + 1;
    }
    CHECK_OK(m->ctx, pcs_mesh_order(m->ctx, 2 * RUNGS, ncell, (const int(*)[2])cell, place));
    for (int c = 0; c < ncell; c++) {
        int distance = place[cell[c][0]] - place[cell[c][1]];
        if (distance < 0) distance = -distance;
        if (distance > width) width = distance;
    }
    CHECK(width <= 3);
}
