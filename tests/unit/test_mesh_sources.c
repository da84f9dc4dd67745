// Known answers of the mesh sources: arcs, frames, lattices, points and links, and what they refuse.

#include "support/check.h"
#include "support/mesh.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct refusal {
    const char *options, *reported;
} refusal;

// Each of the options gives a fault with this text, and no set is made.
static void check_refusals(model *m, const char *type, int count, const refusal *bad)
{
    for (int i = 0; i < count; i++) {
        const char *reported = NULL;
        pcs_status status = mesh_try(m, type, "part", bad[i].options, &reported);
        CHECK_STATUS(NULL, status, PCS_BAD_INPUT);
        CHECK_TEXT(reported != NULL ? reported : pcs_message(m->ctx), bad[i].reported);
        CHECK(pcs_mesh_node_set(m->mesh, "part") == NULL);
    }
}

#define CHECK_REFUSALS(m, type, bad) check_refusals(m, type, (int)(sizeof bad / sizeof *(bad)), bad)

TEST_WITH_MODEL(arc_of_a_quarter_turn)
{
    model *m = *state;
    mesh_make(m, "arc", "bow", "{ centre: [1, 2, 3], start: [3, 2, 3], angle: 90, elements: 3 }");
    CHECK(m->mesh->nnode == 4 && m->mesh->ncell == 3);
    const double expected[4][3] = { { 3, 2, 3 }, { 1 + sqrt(3.0), 3, 3 }, { 2, 2 + sqrt(3.0), 3 }, { 1, 4, 3 } };
    for (int i = 0; i < 4; i++) CHECK_ALL_NEAR(3, m->mesh->x[i], expected[i], 1e-15);
    CHECK(m->mesh->x[3][0] == 1.0 && m->mesh->x[3][1] == 4.0); // quarter turns are exact
    CHECK(mesh_set_is(model_nodes(m, "bow.start"), 1, (int[]){ 0 }));
    CHECK(mesh_set_is(model_nodes(m, "bow.rest"), 3, (int[]){ 1, 2, 3 }));
    CHECK(mesh_set_is(model_nodes(m, "bow.end"), 1, (int[]){ 3 }));
    CHECK(mesh_set_is(model_cells(m, "bow.start"), 1, (int[]){ 0 }));
    CHECK(mesh_set_is(model_cells(m, "bow.end"), 1, (int[]){ 2 }));
    CHECK(model_nodes(m, "bow")->count == 4 && model_cells(m, "bow")->count == 3);
    mesh_check_sound(m->mesh);
}

// Backwards about a tilted axis of any length: the radius is kept, and so is the plane.
TEST_WITH_MODEL(arc_about_a_tilted_axis)
{
    model *m = *state;
    mesh_make(m, "arc", "bow", "{ centre: [0, 0, 1], start: [2, -2, 1], normal: [3, 3, 3], angle: -120, elements: 8 }");
    // A third of a turn about the diagonal of the axes exchanges them: (x, y, z) -> (y, z, x) backwards.
    const double last[3] = { -2, 0, 3 };
    CHECK_ALL_NEAR(3, m->mesh->x[8], last, 2e-15);
    for (int i = 0; i <= 8; i++) {
        const double *x = m->mesh->x[i];
        CHECK_NEAR(hypot(hypot(x[0], x[1]), x[2] - 1.0), sqrt(8.0), 4e-15);
        CHECK_NEAR(x[0] + x[1] + x[2] - 1.0, 0.0, 4e-15);
    }
}

TEST_WITH_MODEL(full_circle_closes)
{
    model *m = *state;
    mesh_make(m, "arc", "ring", "{ centre: [0, 0, 0], start: [1, 0, 0], angle: 360, elements: 12 }");
    CHECK(m->mesh->nnode == 12 && m->mesh->ncell == 12);
    CHECK(m->mesh->cell[11][0] == 11 && m->mesh->cell[11][1] == 0);
    CHECK(mesh_set_is(model_nodes(m, "ring.end"), 1, (int[]){ 0 }));
    CHECK(model_nodes(m, "ring.rest")->count == 11);
    for (int c = 0; c < 12; c++) {
        const double *x = m->mesh->x[m->mesh->cell[c][0]], *y = m->mesh->x[m->mesh->cell[c][1]];
        CHECK_NEAR(hypot(x[0] - y[0], x[1] - y[1]), 2.0 * sin(acos(-1.0) / 12), 1e-15);
    }
    mesh_check_sound(m->mesh);
}

TEST_WITH_MODEL(wrong_arcs_are_told)
{
    const refusal bad[] = {
        { "{ centre: [0, 0, 0], start: [1, 0, 0], angle: 0, elements: 2 }", "no length" },
        { "{ centre: [0, 0, 0], start: [1, 0, 0], angle: 361, elements: 2 }", "must be in [-360, 360], is 361" },
        { "{ centre: [1, 0, 0], start: [1, 0, 0], angle: 90, elements: 2 }", "no radius" },
        { "{ centre: [-1e300, 0, 0], start: [1e300, 0, 0], angle: 90, elements: 2 }", "no radius" },
        { "{ centre: [0, 0, 0], start: [1, 0, 1], angle: 90, elements: 2 }", "does not lie in the plane" },
        { "{ centre: [0, 0, 0], start: [1, 0, 0], normal: [0, 0, 0], angle: 90, elements: 2 }", "no direction" },
        { "{ centre: [0, 0, 0], start: [1, 0, 0], angle: -360, elements: 2 }", "at least 3 cells" },
        { "{ centre: [0, 0, 0], start: [1, 0, 0], angle: 90, elements: 0 }", "elements must be in [1," },
    };
    CHECK_REFUSALS(*state, "arc", bad);
}

static const char portal[] = "{ points: { a: [0, 0, 0], b: [0, 2, 0], c: [4, 2, 0], d: [4, 0, 0] }, "
                             "members: [[a, b], [c, b], [c, d]], elements: 4 }";

// Members that end to end make a chain are numbered along it, whichever way each of them runs.
TEST_WITH_MODEL(frame_members_share_nodes)
{
    model *m = *state;
    mesh_make(m, "frame", "f", portal);
    CHECK(m->mesh->nnode == 13 && m->mesh->ncell == 12);
    CHECK(mesh_bandwidth(m->mesh) == 1);
    CHECK(mesh_set_is(model_nodes(m, "f.a"), 1, (int[]){ 0 }) && mesh_set_is(model_nodes(m, "f.b"), 1, (int[]){ 4 }));
    CHECK(mesh_set_is(model_nodes(m, "f.c"), 1, (int[]){ 8 }) && mesh_set_is(model_nodes(m, "f.d"), 1, (int[]){ 12 }));
    CHECK(mesh_set_is(model_nodes(m, "f.m1"), 5, (int[]){ 0, 1, 2, 3, 4 }));
    CHECK(mesh_set_is(model_nodes(m, "f.m2"), 5, (int[]){ 8, 7, 6, 5, 4 }));
    CHECK(mesh_set_is(model_cells(m, "f.m2"), 4, (int[]){ 4, 5, 6, 7 }));
    CHECK(model_nodes(m, "f")->count == 13 && model_cells(m, "f")->count == 12);
    const double quarter[3] = { 3, 2, 0 }, corner[3] = { 4, 2, 0 };
    CHECK_ALL_NEAR(3, m->mesh->x[7], quarter, 0.0);
    CHECK_ALL_NEAR(3, m->mesh->x[8], corner, 0.0);
    CHECK(m->mesh->cell[4][0] == 8 && m->mesh->cell[4][1] == 7);
    mesh_check_sound(m->mesh);
}

// Two frames, the second with a closed triangle on a stalk: numbers go on, neighbours stay near.
TEST_WITH_MODEL(frames_with_loops_and_branches)
{
    model *m = *state;
    mesh_make(m, "frame", "f", portal);
    mesh_make(m, "frame", "g",
              "{ points: { foot: [0, 0, 0], p: [0, 0, 1], q: [1, 0, 2], r: [-1, 0, 2] }, "
              "members: [[p, q], [q, r], [r, p], [p, foot]], elements: 10 }");
    CHECK(m->mesh->nnode == 13 + 4 + 4 * 9 && m->mesh->ncell == 12 + 40);
    CHECK(mesh_set_is(model_nodes(m, "g.foot"), 1, (int[]){ 13 })); // its only end comes first
    CHECK(mesh_bandwidth(m->mesh) == 2);
    CHECK(model_nodes(m, "g.m3")->items[10] == model_nodes(m, "g.p")->items[0]);
    CHECK(model_nodes(m, "g.m4")->items[0] == model_nodes(m, "g.p")->items[0]);
    mesh_check_sound(m->mesh);
}

TEST_WITH_MODEL(wrong_frames_are_told)
{
    const refusal bad[] = {
        { "{ points: { a: [0, 0, 0], b: [1, 0, 0] }, members: [[a, c]], elements: 1 }",
          "member 1 names the point 'c'" },
        { "{ points: { a: [0, 0, 0], b: [0, 0, 0] }, members: [[a, b]], elements: 1 }",
          "member 1 has length 0, must be > 0 and finite: 'a' is at [0, 0, 0], 'b' at [0, 0, 0]" },
        { "{ points: { a: [0, 0, 0], b: [1e200, 0, 0] }, members: [[a, b]], elements: 1 }", "length inf" },
        { "{ points: { a: [0, 0, 0], b: [1, 0, 0] }, members: [[a, b], [b, a]], elements: 1 }",
          "two members join 'a' and 'b'" },
        { "{ points: { a: [0, 0, 0], b: [1, 0, 0], c: [2, 0, 0] }, members: [[a, b]], elements: 1 }",
          "no member ends at the point 'c'" },
        { "{ points: { a: [0, 0, 0], m1: [1, 0, 0] }, members: [[a, m1]], elements: 1 }", "names of members" },
        { "{ points: { a: [0, 0, 0], b: [1, 0, 0] }, members: [[a, b, a]], elements: 1 }", "a pair of points" },
        { "{ points: { a: [0, 0, 0], b: [1, 0, 0] }, members: [a, b, a], elements: 1 }", "a pair of points" },
        { "{ points: { a: [0, 0, 0], b: [1, 0, 0] }, members: [[a, b], [b]], elements: 1 }",
          "members[1] must be a list of 2 names" },
        { "{ points: { a: [0, 0, 0], b: [1, 0] }, members: [[a, b]], elements: 1 }", "points.b must be a list of 3" },
        { "{ points: { a: [0, 0, 0], b.c: [1, 0, 0] }, members: [[a, b.c]], elements: 1 }", "a name must start" },
        { "{ points: [[0, 0, 0]], members: [[a, b]], elements: 1 }", "points must be a map" },
        { "{ points: {}, members: [[a, b]], elements: 1 }", "points is empty" },
        { "{ points: { a: [0, 0, 0], b: [1, 0, 0] }, members: [], elements: 1 }", "members must be a list of names" },
        { "{ points: { a: [0, 0, 0], b: [1, 0, 0] }, members: [[a, [b]]], elements: 1 }", "must be a text" },
    };
    CHECK_REFUSALS(*state, "frame", bad);
}

// A plane lattice of 3 x 2 boxes: numbered column by column, because x is longer.
TEST_WITH_MODEL(plane_lattice)
{
    model *m = *state;
    mesh_make(m, "lattice", "net", "{ cells: [3, 2], size: [0.5, 0.25], origin: [1, 2, 3] }");
    CHECK(m->mesh->nnode == 12 && m->mesh->ncell == 3 * 3 + 4 * 2);
    for (int i = 0; i < 12; i++) {
        const double x[3] = { 1 + 0.5 * (i / 3), 2 + 0.25 * (i % 3), 3 };
        CHECK_ALL_NEAR(3, m->mesh->x[i], x, 0.0);
    }
    CHECK(mesh_bandwidth(m->mesh) == 3);
    CHECK(model_cells(m, "net.x")->count == 9 && model_cells(m, "net.y")->count == 8);
    CHECK(pcs_mesh_cell_set(m->mesh, "net.z") == NULL && pcs_mesh_cell_set(m->mesh, "net.diagonals") == NULL);
    CHECK(mesh_set_is(model_nodes(m, "net.xmin"), 3, (int[]){ 0, 1, 2 }));
    CHECK(mesh_set_is(model_nodes(m, "net.xmax"), 3, (int[]){ 9, 10, 11 }));
    CHECK(mesh_set_is(model_nodes(m, "net.ymin"), 4, (int[]){ 0, 3, 6, 9 }));
    CHECK(mesh_set_is(model_nodes(m, "net.ymax"), 4, (int[]){ 2, 5, 8, 11 }));
    CHECK(pcs_mesh_node_set(m->mesh, "net.zmin") == NULL);
    CHECK(mesh_set_is(model_nodes(m, "net.corners"), 4, (int[]){ 0, 2, 9, 11 }));
    CHECK(model_nodes(m, "net.joints")->count == 12 && model_nodes(m, "net")->count == 12);
    mesh_check_sound(m->mesh);
}

// Each cell of a lattice is as long as its kind says, and every joint has the neighbours it should have.
static void check_spatial(model *m, const char *name, const double size[3], int elements, int per_strut[4])
{
    const char *kinds[] = { "x", "y", "z", "diagonals" };
    char text[64];
    for (int k = 0; k < 4; k++) {
        snprintf(text, sizeof text, "%s.%s", name, kinds[k]);
        const pcs_set *cells = model_cells(m, text);
        CHECK(cells->count == per_strut[k] * elements);
        for (int i = 0; i < cells->count; i++) {
            const int *n = m->mesh->cell[cells->items[i]];
            int along = 0;
            for (int d = 0; d < 3; d++) {
                double step = fabs(m->mesh->x[n[1]][d] - m->mesh->x[n[0]][d]);
                if (step == 0.0) continue;
                CHECK_NEAR(step, size[d] / elements, 1e-14);
                along += 1 << d;
            }
            CHECK(k < 3 ? along == 1 << k : along == 3 || along == 5 || along == 6);
        }
    }
}

static int degree(const model *m, int node)
{
    int count = 0;
    for (int c = 0; c < m->mesh->ncell; c++)
        for (int k = 0; k < 2; k++) count += m->mesh->cell[c][k] == node;
    return count;
}

TEST_WITH_MODEL(spatial_lattice_with_crosses)
{
    model *m = *state;
    const double size[3] = { 0.3, 0.7, 0.1 };
    model_line(m, "other", (double[]){ -9, 0, 0 }, (double[]){ -8, 0, 0 }, 5);
    mesh_make(m, "lattice", "net",
              "{ cells: [2, 3, 4], size: [0.3, 0.7, 0.1], elements: 3, diagonals: cross, origin: [0.1, 0.2, 0.3] }");
    int struts[4] = { 2 * 4 * 5, 3 * 3 * 5, 3 * 4 * 4, 2 * (2 * 3 * 5 + 2 * 4 * 4 + 3 * 3 * 4) };
    int nstrut = struts[0] + struts[1] + struts[2] + struts[3];
    CHECK(m->mesh->ncell == 5 + 3 * nstrut);
    CHECK(m->mesh->nnode == 6 + 3 * 4 * 5 + 2 * nstrut);
    check_spatial(m, "net", size, 3, struts);
    CHECK(model_nodes(m, "net.joints")->count == 60 && model_nodes(m, "net.corners")->count == 8);
    // A face holds its joints and what lies between them: edges and both diagonals of each of its boxes.
    CHECK(model_nodes(m, "net.xmin")->count == 4 * 5 + 2 * (3 * 5 + 4 * 4 + 2 * 3 * 4));
    CHECK(model_nodes(m, "net.zmax")->count == 3 * 4 + 2 * (2 * 4 + 3 * 3 + 2 * 2 * 3));
    // At a corner end three edges and one diagonal of each of its three faces; within, six and twelve diagonals.
    for (int i = 0; i < 8; i++) CHECK(degree(m, model_nodes(m, "net.corners")->items[i]) == 6);
    for (int i = 0; i < 60; i++) {
        int node = model_nodes(m, "net.joints")->items[i], inner = 0;
        const double *x = m->mesh->x[node];
        for (int k = 0; k < 3; k++)
            inner += x[k] > 0.1 * (k + 1) + 0.5 * size[k] && x[k] < 0.1 * (k + 1) + (k + 1.5) * size[k];
        CHECK(degree(m, node) == 18 || inner < 3);
    }
    for (int i = 0; i < model_nodes(m, "net.xmax")->count; i++)
        CHECK(m->mesh->x[model_nodes(m, "net.xmax")->items[i]][0] == 0.1 + 2 * 0.3);
    mesh_check_sound(m->mesh);
}

TEST_WITH_MODEL(lattice_with_one_diagonal)
{
    model *m = *state;
    mesh_make(m, "lattice", "net", "{ cells: [1, 0, 1], size: [2], diagonals: one }");
    CHECK(m->mesh->nnode == 4 && m->mesh->ncell == 5);
    const int *n = m->mesh->cell[model_cells(m, "net.diagonals")->items[0]];
    const double from[3] = { 0, 0, 0 }, to[3] = { 2, 0, 2 };
    CHECK(model_cells(m, "net.diagonals")->count == 1);
    CHECK_ALL_NEAR(3, m->mesh->x[n[0]], from, 0.0);
    CHECK_ALL_NEAR(3, m->mesh->x[n[1]], to, 0.0);
    CHECK(pcs_mesh_node_set(m->mesh, "net.ymin") == NULL && pcs_mesh_cell_set(m->mesh, "net.y") == NULL);
    mesh_check_sound(m->mesh);
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

TEST_WITH_MODEL(wrong_lattices_are_told)
{
    const refusal bad[] = {
        { "{ cells: [1.5, 2], size: [1, 1] }", "must be whole" },
        { "{ cells: [0, 0, 0], size: [1] }", "no boxes" },
        { "{ cells: [1, 1, 1, 1], size: [1] }", "must be [nx], [nx, ny] or [nx, ny, nz]" },
        { "{ cells: [[1, 1], [1, 1]], size: [1] }", "must be [nx], [nx, ny] or [nx, ny, nz]" },
        { "{ cells: [-1, 2], size: [1, 1] }", "cells[0] must be in [0, 16777216], is -1" },
        { "{ cells: [1, 2], size: [1, 1, 1] }", "as many as 'cells'" },
        { "{ cells: [1, 2], size: [1, 0] }", "size[1] must be > 0, is 0" },
        { "{ cells: [1, 2], size: [1e300, 1] }", "too large" },
        { "{ cells: [10000, 10000, 10000], size: [1] }", "more than the program can number" },
        { "{ cells: [16777216, 16777216, 16777216], size: [1], elements: 1048576, diagonals: cross }",
          "more than the program can number" },
        { "{ cells: [2, 2], size: [1], diagonals: both }", "must be one of none, one, cross" },
    };
    CHECK_REFUSALS(*state, "lattice", bad);
}

TEST_WITH_MODEL(points_are_one_node_cells)
{
    model *m = *state;
    model_line(m, "bar", (double[]){ 0, 0, 0 }, (double[]){ 1, 0, 0 }, 2);
    mesh_make(m, "point", "one", "{ at: [1, 2, 3] }");
    mesh_make(m, "point", "two", "{ at: [[4, 5, 6], [7, 8, 9]] }");
    mesh_make(m, "point", "tip", "{ nodes: bar.end }");
    CHECK(m->mesh->nnode == 6 && m->mesh->ncell == 6);
    CHECK(mesh_set_is(model_nodes(m, "one"), 1, (int[]){ 3 }) && mesh_set_is(model_cells(m, "one"), 1, (int[]){ 2 }));
    CHECK(mesh_set_is(model_nodes(m, "two"), 2, (int[]){ 4, 5 }));
    CHECK(mesh_set_is(model_cells(m, "two"), 2, (int[]){ 3, 4 }));
    CHECK(mesh_set_is(model_nodes(m, "tip"), 1, (int[]){ 2 }) && mesh_set_is(model_cells(m, "tip"), 1, (int[]){ 5 }));
    for (int c = 2; c < 6; c++) CHECK(m->mesh->cell[c][0] == m->mesh->cell[c][1]);
    CHECK(m->mesh->cell[2][0] == 3 && m->mesh->cell[4][0] == 5 && m->mesh->cell[5][0] == 2);
    const double last[3] = { 7, 8, 9 };
    CHECK_ALL_NEAR(3, m->mesh->x[5], last, 0.0);
    mesh_check_sound(m->mesh);
    const refusal bad[] = {
        { "{ at: [1, 2] }", "3 numbers" },
        { "{ at: [[1, 2], [3, 4]] }", "3 numbers" },
        { "{}", "missing key 'at' or 'nodes'" },
        { "{ at: [1, 2, 3], nodes: bar }", "both given" },
        { "{ nodes: rab }", "no part of the mesh above makes a set of nodes 'rab'" },
    };
    CHECK_REFUSALS(m, "point", bad);
}

TEST_WITH_MODEL(links_join_nodes)
{
    model *m = *state;
    model_line(m, "a", (double[]){ 0, 0, 0 }, (double[]){ 1, 0, 0 }, 2);
    model_line(m, "b", (double[]){ 0, 1, 0 }, (double[]){ 1, 1, 0 }, 2);
    mesh_make(m, "point", "c", "{ at: [0, 0, 0] }");
    mesh_make(m, "link", "springs", "{ a: a, b: b }");
    mesh_make(m, "link", "star", "{ a: a, b: c }");
    mesh_make(m, "link", "zero", "{ a: a.start, b: c }"); // coincident nodes: turning springs need that
    const pcs_set *springs = model_cells(m, "springs"), *star = model_cells(m, "star");
    CHECK(springs->count == 3 && star->count == 3 && model_cells(m, "zero")->count == 1);
    for (int i = 0; i < 3; i++) {
        CHECK(m->mesh->cell[springs->items[i]][0] == i && m->mesh->cell[springs->items[i]][1] == 3 + i);
        CHECK(m->mesh->cell[star->items[i]][0] == i && m->mesh->cell[star->items[i]][1] == 6);
    }
    CHECK(mesh_set_is(model_nodes(m, "springs"), 6, (int[]){ 0, 1, 2, 3, 4, 5 }));
    CHECK(mesh_set_is(model_nodes(m, "star"), 4, (int[]){ 0, 1, 2, 6 }));
    // Sets that overlap, shifted against each other: their nodes are listed once.
    CHECK_OK(m->ctx, pcs_mesh_add_node_list(m->mesh, "head", 2, (int[]){ 0, 1 }));
    CHECK_OK(m->ctx, pcs_mesh_add_node_list(m->mesh, "tail", 2, (int[]){ 1, 2 }));
    mesh_make(m, "link", "shifted", "{ a: head, b: tail }");
    CHECK(mesh_set_is(model_nodes(m, "shifted"), 3, (int[]){ 0, 1, 2 }));
    const refusal bad[] = {
        { "{ a: a, b: d }", "no part of the mesh above makes a set of nodes 'd'" },
        { "{ a: a, b: springs }", "'a' has 3 nodes and 'springs' has 6, must be as many or one" },
        { "{ a: a, b: a.end }", "have node 2 in common" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_STATUS(NULL, mesh_try(m, "link", "part", bad[i].options, NULL), PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(m->ctx), bad[i].reported);
    }
}
