// Straight members between named points; members that meet at a point share its node.
//
// Makes the sets `name` (all nodes, all cells), `name.<point>` (the node of each point) and `name.m1`, `name.m2`, ...
// (nodes and cells of each member, from its first point to its second).

#include "mesh/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct frame_params {
    pcs_points points;
    pcs_names members;
    int elements;
} frame_params;

static const pcs_option frame_options[] = {
    PCS_POINTS("points", frame_params, points, PCS_REQUIRED, PCS_ANY_NUMBER, "positions by name, m"),
    PCS_NAMES("members", frame_params, members, PCS_REQUIRED, "pairs of points: [[a, b], [b, c]]"),
    PCS_COUNT("elements", frame_params, elements, PCS_REQUIRED_OR_AUTO, PCS_WITHIN(1, 1 << 24),
              "number of cells per member"),
    { 0 },
};

static const char *frame_check(const void *params, const char **option)
{
    const frame_params *p = params;
    *option = "members";
    if (p->members.count != 2 * p->members.nrow) return "a member must be a pair of points: [[a, b], [b, c]]";
    *option = "points";
    for (int i = 0; i < p->points.count; i++) {
        const char *name = p->points.name[i];
        if (name[0] == 'm' && name[1] != '\0' && strspn(name + 1, "0123456789") == strlen(name + 1))
            return "m1, m2, ... are the names of members, no point can be called so";
    }
    return NULL;
}

// A frame while it is added to the mesh. `end` and `place` are scratch memory.
typedef struct frame_work {
    const frame_params *p;
    pcs_context *ctx;
    int nmember, nnode, ncell;
    int (*end)[2];  // [nmember] point numbers
    int (*cell)[2]; // [ncell] points first, then the nodes within the members
    int *place;     // [nnode] number in the mesh
} frame_work;

static int frame_find(const frame_params *p, const char *name)
{
    for (int i = 0; i < p->points.count; i++)
        if (strcmp(p->points.name[i], name) == 0) return i;
    return -1;
}

static int frame_compare(const void *a, const void *b)
{
    const int *p = a, *q = b;
    if (p[0] != q[0]) return p[0] < q[0] ? -1 : 1;
    return p[1] < q[1] ? -1 : p[1] > q[1];
}

// Fails if two members join the same points: they would coincide.
static pcs_status frame_find_double(frame_work *w, int (*sorted)[2])
{
    for (int m = 0; m < w->nmember; m++) {
        sorted[m][0] = w->end[m][0] < w->end[m][1] ? w->end[m][0] : w->end[m][1];
        sorted[m][1] = w->end[m][0] + w->end[m][1] - sorted[m][0];
    }
    qsort(sorted, (size_t)w->nmember, sizeof *sorted, frame_compare);
    for (int m = 1; m < w->nmember; m++)
        if (frame_compare(sorted[m - 1], sorted[m]) == 0)
            return pcs_fail(w->ctx, PCS_BAD_INPUT, "two members join '%s' and '%s'", w->p->points.name[sorted[m][0]],
                            w->p->points.name[sorted[m][1]]);
    return PCS_OK;
}

static pcs_status frame_find_loose(const frame_work *w, bool *is_used)
{
    for (int i = 0; i < w->p->points.count; i++) is_used[i] = false;
    for (int m = 0; m < w->nmember; m++) is_used[w->end[m][0]] = is_used[w->end[m][1]] = true;
    for (int i = 0; i < w->p->points.count; i++)
        if (!is_used[i])
            return pcs_fail(w->ctx, PCS_BAD_INPUT, "no member ends at the point '%s'", w->p->points.name[i]);
    return PCS_OK;
}

static pcs_status frame_read_members(frame_work *w)
{
    const pcs_points *points = &w->p->points;
    for (int m = 0; m < w->nmember; m++) {
        double length2 = 0.0;
        for (int k = 0; k < 2; k++) {
            const char *name = w->p->members.text[2 * m + k];
            w->end[m][k] = frame_find(w->p, name);
            if (w->end[m][k] < 0)
                return pcs_fail(w->ctx, PCS_BAD_INPUT, "member %d names the point '%s', which 'points' does not give",
                                m + 1, name);
        }
        const double *a = points->x[w->end[m][0]], *b = points->x[w->end[m][1]];
        for (int k = 0; k < 3; k++) length2 += (b[k] - a[k]) * (b[k] - a[k]);
        if (!(length2 > 0.0 && isfinite(length2)))
            return pcs_fail(
                w->ctx, PCS_BAD_INPUT,
                "member %d has length %g, must be > 0 and finite: '%s' is at [%g, %g, %g], '%s' at [%g, %g, "
                "%g]",
                m + 1, sqrt(length2), points->name[w->end[m][0]], a[0], a[1], a[2], points->name[w->end[m][1]], b[0],
                b[1], b[2]);
    }
    return PCS_OK;
}

// Returns node i of a member, 0 .. elements, by its number before renumbering.
static int frame_node(const frame_work *w, int member, int i)
{
    int n = w->p->elements;
    if (i == 0 || i == n) return w->end[member][i == n];
    return w->p->points.count + member * (n - 1) + i - 1;
}

static void frame_place(const frame_work *w, pcs_mesh *mesh, int node, int cell)
{
    int n = w->p->elements;
    for (int i = 0; i < w->nnode; i++) w->place[i] += node;
    for (int m = 0; m < w->nmember; m++) {
        const double *a = w->p->points.x[w->end[m][0]], *b = w->p->points.x[w->end[m][1]];
        for (int i = 0; i <= n; i++) {
            double s = (double)i / n, *x = mesh->x[w->place[frame_node(w, m, i)]];
            for (int k = 0; k < 3; k++) x[k] = (1.0 - s) * a[k] + s * b[k];
        }
    }
    for (int i = 0; i < w->ncell; i++)
        for (int k = 0; k < 2; k++) mesh->cell[cell + i][k] = w->place[w->cell[i][k]];
}

static pcs_status frame_add_sets(frame_work *w, const char *name, pcs_mesh *mesh, int node, int cell, int *list)
{
    int n = w->p->elements;
    PCS_TRY(pcs_mesh_add_range(mesh, PCS_NODES, node, w->nnode, "%s", name));
    PCS_TRY(pcs_mesh_add_range(mesh, PCS_CELLS, cell, w->ncell, "%s", name));
    for (int i = 0; i < w->p->points.count; i++)
        PCS_TRY(pcs_mesh_add_range(mesh, PCS_NODES, w->place[i], 1, "%s.%s", name, w->p->points.name[i]));
    for (int m = 0; m < w->nmember; m++) {
        for (int i = 0; i <= n; i++) list[i] = w->place[frame_node(w, m, i)];
        PCS_TRY(pcs_mesh_add_list(mesh, PCS_NODES, n + 1, list, "%s.m%d", name, m + 1));
        PCS_TRY(pcs_mesh_add_range(mesh, PCS_CELLS, cell + m * n, n, "%s.m%d", name, m + 1));
    }
    return PCS_OK;
}

static pcs_status frame_make(frame_work *w, const char *name, pcs_mesh *mesh, int *scratch)
{
    int node, cell, n = w->p->elements;
    PCS_TRY(frame_read_members(w));
    PCS_TRY(frame_find_double(w, (int(*)[2])scratch));
    PCS_TRY(frame_find_loose(w, (bool *)scratch));
    for (int m = 0; m < w->nmember; m++) {
        for (int i = 0; i < n; i++) {
            w->cell[m * n + i][0] = frame_node(w, m, i);
            w->cell[m * n + i][1] = frame_node(w, m, i + 1);
        }
    }
    PCS_TRY(pcs_mesh_order(w->ctx, w->nnode, w->ncell, (const int(*)[2])w->cell, w->place));
    PCS_TRY(pcs_mesh_add_nodes(mesh, w->nnode, &node));
    PCS_TRY(pcs_mesh_add_cells(mesh, w->ncell, &cell));
    frame_place(w, mesh, node, cell);
    return frame_add_sets(w, name, mesh, node, cell, scratch);
}

static pcs_status frame_build(const void *params, const char *name, pcs_mesh *mesh)
{
    const frame_params *p = params;
    long ncell = (long)p->members.nrow * p->elements, nnode = p->points.count + ncell - p->members.nrow;
    if (ncell > 1L << 28)
        return pcs_fail(mesh->ctx, PCS_BAD_INPUT, "the frame has %ld cells, must be at most %ld", ncell, 1L << 28);
    frame_work w = { .p = p, .ctx = mesh->ctx, .nmember = p->members.nrow, .ncell = (int)ncell, .nnode = (int)nnode };
    // Buffers: ends of members, cells, numbers of nodes, and one list that has room for any of these.
    size_t room = 2 * (size_t)w.nmember + 2 * (size_t)w.ncell + (size_t)w.nnode, largest = room;
    int *memory = pcs_scratch(NULL, room + largest, sizeof *memory);
    if (memory == NULL) return pcs_fail(mesh->ctx, PCS_NO_MEMORY, "out of memory: a frame of %ld cells", ncell);
    w.end = (int(*)[2])memory;
    w.cell = w.end + w.nmember;
    w.place = (int *)(w.cell + w.ncell);
    pcs_status status = frame_make(&w, name, mesh, memory + room);
    pcs_scratch_free(memory);
    return status;
}

const pcs_mesh_source_ops pcs_mesh_frame = {
    .name = "frame",
    .summary = "straight members between named points; sets NAME, NAME.POINT for each point, NAME.m1, NAME.m2, ... for "
               "each member",
    .options = frame_options,
    .params_size = sizeof(frame_params),
    .check = frame_check,
    .build = frame_build,
};
