// Merges nodes at the same position.
//
// Candidates are hashed by the box of edge 2 tolerance they lie in, so that a node needs to be compared only with those
// of the 27 boxes around it: the work grows like the number of nodes. Joined nodes form trees that point to their
// lowest number.

#include "mesh/merge.h"

#include "core/comm.h"
#include "core/rotation.h"
#include "mesh/mesh.h"
#include "mesh/part.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

// Choosing nodes by position: at points, in a box, on a plane.

double pcs_mesh_tolerance(const pcs_mesh *mesh)
{
    double sum = 0.0, low[3], high[3];
    pcs_mesh_box(mesh, low, high);
    if (mesh->nnode == 0) return 0.0;
    for (int k = 0; k < 3; k++) sum += (high[k] - low[k]) * (high[k] - low[k]);
    return 1e-6 * sqrt(sum);
}

static bool select_is(const pcs_list *list, int nrow, int count)
{
    return list->count == count && list->nrow == nrow;
}

const char *pcs_selection_check(const pcs_selection *s, const char **key)
{
    *key = "at";
    if (s->at.count > 0 && s->at.count != 3 * s->at.nrow) return "a position must have 3 numbers [x, y, z]";
    *key = "box";
    if (s->box.count > 0 && !select_is(&s->box, 2, 6))
        return "a box must be two opposite corners [[x, y, z], [x, y, z]]";
    *key = "plane";
    if (s->plane.count > 0 && !select_is(&s->plane, 2, 6))
        return "a plane must be a point and a normal [[x, y, z], [nx, ny, nz]]";
    const double *n = s->plane.count > 0 ? s->plane.value + 3 : NULL;
    return n != NULL && n[0] == 0.0 && n[1] == 0.0 && n[2] == 0.0 ? "the normal has no direction" : NULL;
}

// Returns the distance of x from the box, m; 0 within it.
static double select_off_box(const double *corner, const double x[3])
{
    double off[3];
    for (int k = 0; k < 3; k++) {
        double low = fmin(corner[k], corner[3 + k]), high = fmax(corner[k], corner[3 + k]);
        off[k] = fmax(0.0, fmax(low - x[k], x[k] - high));
    }
    return hypot(hypot(off[0], off[1]), off[2]);
}

static double select_off_plane(const double *plane, const double x[3])
{
    const double *n = plane + 3;
    double length = hypot(hypot(n[0], n[1]), n[2]), sum = 0.0;
    for (int k = 0; k < 3; k++) sum += n[k] / length * (x[k] - plane[k]);
    return fabs(sum);
}

// Returns the larger of the distances of x from box and plane, m. One that is not given counts as 0.
static double select_off(const pcs_selection *s, const double x[3])
{
    double off = s->box.count > 0 ? select_off_box(s->box.value, x) : 0.0;
    return fmax(off, s->plane.count > 0 ? select_off_plane(s->plane.value, x) : 0.0);
}

bool pcs_selection_holds(const pcs_selection *s, const double x[3])
{
    return select_off(s, x) <= s->tolerance;
}

static double select_nearest_position(const pcs_selection *s, const double x[3])
{
    double least = INFINITY;
    for (int i = 0; i < s->at.nrow; i++) least = fmin(least, pcs_distance3(x, s->at.value + 3 * (size_t)i));
    return least;
}

// Fails unless each position has a node.
static pcs_status select_check_positions(const pcs_mesh *mesh, const pcs_selection *s, int count, const int *nodes)
{
    for (int i = 0; i < s->at.nrow; i++) {
        const double *at = s->at.value + 3 * (size_t)i;
        double least = INFINITY;
        int nearest = -1;
        for (int k = 0; k < count; k++) {
            if (least <= s->tolerance) break;
            double distance = pcs_distance3(mesh->x[nodes[k]], at);
            if (!(distance < least)) continue;
            least = distance;
            nearest = nodes[k];
        }
        if (least <= s->tolerance) continue;
        const double *x = nearest < 0 ? at : mesh->x[nearest];
        return pcs_fail(
            mesh->ctx, PCS_BAD_INPUT,
            "no node lies at [%g, %g, %g]: the nearest, node %d at [%.10g, %.10g, %.10g], is %g m away, the "
            "tolerance is %g m",
            at[0], at[1], at[2], nearest, x[0], x[1], x[2], least, s->tolerance);
    }
    return PCS_OK;
}

pcs_status pcs_mesh_select(const pcs_mesh *mesh, const pcs_selection *s, int *count, int *nodes)
{
    int kept = 0, nearest = -1;
    double least = INFINITY;
    PCS_TRY(select_check_positions(mesh, s, *count, nodes));
    for (int i = 0; i < *count; i++) {
        const double *x = mesh->x[nodes[i]];
        if (s->at.count > 0 && !(select_nearest_position(s, x) <= s->tolerance)) continue;
        double off = select_off(s, x);
        if (off < least) {
            least = off;
            nearest = nodes[i];
        }
        if (off <= s->tolerance) nodes[kept++] = nodes[i];
    }
    *count = kept;
    if (kept > 0) return PCS_OK;
    if (nearest < 0) return pcs_fail(mesh->ctx, PCS_BAD_INPUT, "no node is left to choose from");
    const double *x = mesh->x[nearest];
    return pcs_fail(mesh->ctx, PCS_BAD_INPUT,
                    "no node lies there: the nearest, node %d at [%.10g, %.10g, %.10g], is %g m away, the tolerance is "
                    "%g m",
                    nearest, x[0], x[1], x[2], least, s->tolerance);
}

pcs_status pcs_merge_begin(const pcs_mesh *mesh, pcs_merge *merge)
{
    *merge = (pcs_merge){ .mesh = mesh, .into = pcs_scratch(NULL, (size_t)mesh->nnode, sizeof(int)) };
    if (merge->into == NULL) return pcs_fail(mesh->ctx, PCS_NO_MEMORY, "out of memory: %d nodes", mesh->nnode);
    for (int i = 0; i < mesh->nnode; i++) merge->into[i] = i;
    return PCS_OK;
}

void pcs_merge_end(pcs_merge *merge)
{
    pcs_scratch_free(merge->into);
    merge->into = NULL;
}

int pcs_merge_find(pcs_merge *merge, int node)
{
    int *into = merge->into, root = node;
    while (into[root] != root) root = into[root];
    while (into[node] != root) { // shortens the path for the next search
        int next = into[node];
        into[node] = root;
        node = next;
    }
    return root;
}

static void merge_join(pcs_merge *merge, int a, int b)
{
    int p = pcs_merge_find(merge, a), q = pcs_merge_find(merge, b);
    if (p == q) return;
    if (p > q) merge->into[p] = q;
    else merge->into[q] = p;
    merge->is_any = true;
}

// Returns a hash of a box. Whole doubles have zero low bits: high bits are shifted down before and after each product.
static size_t merge_hash(const double box[3])
{
    uint64_t key = 0;
    for (int k = 0; k < 3; k++) {
        double part = box[k] == 0.0 ? 0.0 : box[k]; // -0 and 0 are the same box
        uint64_t bits;
        memcpy(&bits, &part, sizeof bits);
        key ^= bits;
        key = (key ^ (key >> 32)) * 0x9e3779b97f4a7c15u;
        key = (key ^ (key >> 29)) * 0xbf58476d1ce4e5b9u;
    }
    return (size_t)(key ^ (key >> 32));
}

pcs_status pcs_merge_add(pcs_merge *merge, int count, const int *nodes, double tolerance)
{
    size_t nslot = 64;
    while (nslot < 2 * (size_t)count) nslot *= 2;
    int *head = pcs_scratch(NULL, nslot + (size_t)count, sizeof *head), *next = head + nslot;
    if (head == NULL) return pcs_fail(merge->mesh->ctx, PCS_NO_MEMORY, "out of memory: joining %d nodes", count);
    for (size_t i = 0; i < nslot; i++) head[i] = -1;
    double edge = tolerance > 0.0 ? 2.0 * tolerance : 1.0, (*x)[3] = merge->mesh->x;
    for (int i = 0; i < count; i++) {
        double box[3], near[3];
        for (int k = 0; k < 3; k++) box[k] = floor(x[nodes[i]][k] / edge);
        for (int side = 0; side < 27; side++) {
            near[0] = box[0] + side % 3 - 1;
            near[1] = box[1] + side / 3 % 3 - 1;
            near[2] = box[2] + side / 9 - 1;
            for (int k = head[merge_hash(near) & (nslot - 1)]; k >= 0; k = next[k], merge->ncompare++)
                if (pcs_distance3(x[nodes[i]], x[nodes[k]]) <= tolerance) merge_join(merge, nodes[i], nodes[k]);
        }
        size_t slot = merge_hash(box) & (nslot - 1);
        next[i] = head[slot];
        head[slot] = i;
    }
    pcs_scratch_free(head);
    return PCS_OK;
}

static pcs_status merge_check_cells(pcs_merge *merge)
{
    const pcs_mesh *mesh = merge->mesh;
    for (int c = 0; c < mesh->ncell; c++) {
        int a = mesh->cell[c][0], b = mesh->cell[c][1];
        if (a == b || pcs_merge_find(merge, a) != pcs_merge_find(merge, b)) continue;
        const double *x = mesh->x[a], *y = mesh->x[b];
        return pcs_fail(mesh->ctx, PCS_BAD_INPUT,
                        "cell %d would lose its length: its nodes %d at [%.10g, %.10g, %.10g] and %d at [%.10g, %.10g, "
                        "%.10g] become one",
                        c, a, x[0], x[1], x[2], b, y[0], y[1], y[2]);
    }
    return PCS_OK;
}

// Replaces the items of a set by their new numbers, each once. Drops items with number -1.
static pcs_status merge_change_set(pcs_context *ctx, pcs_set *set, const int *number, int *is_listed)
{
    int *items, count = 0;
    PCS_TAKE(ctx, items, set->count, "a set");
    for (int i = 0; i < set->count; i++) {
        int item = number[set->items[i]];
        if (item < 0 || is_listed[item]) continue;
        is_listed[item] = 1;
        items[count++] = item;
    }
    for (int i = 0; i < count; i++) is_listed[items[i]] = 0;
    set->count = count;
    set->items = items;
    return PCS_OK;
}

// Assigns numbers to the nodes that stay, in their old order. Returns how many.
static int merge_number(pcs_merge *merge, int *number)
{
    int count = 0;
    for (int i = 0; i < merge->mesh->nnode; i++) {
        int root = pcs_merge_find(merge, i);
        number[i] = root == i ? count++ : number[root];
    }
    return count;
}

static pcs_status merge_copy(pcs_merge *merge, pcs_mesh *mesh, int *number, int *place)
{
    int count = merge_number(merge, number), *is_listed = place;
    double(*x)[3];
    for (int c = 0; c < mesh->ncell; c++)
        for (int k = 0; k < 2; k++) mesh->cell[c][k] = number[mesh->cell[c][k]];
    PCS_TRY(pcs_mesh_order(mesh->ctx, count, mesh->ncell, (const int(*)[2])mesh->cell, place));
    PCS_TAKE(mesh->memory, x, count, "the mesh");
    for (int i = 0; i < mesh->nnode; i++) {
        if (merge->into[i] == i) memcpy(x[place[number[i]]], mesh->x[i], sizeof *x);
        number[i] = place[number[i]];
    }
    for (int c = 0; c < mesh->ncell; c++)
        for (int k = 0; k < 2; k++) mesh->cell[c][k] = place[mesh->cell[c][k]];
    mesh->x = x;
    mesh->nnode = mesh->node_room = count;
    // The memory of `place` is free for `is_listed` by now.
    for (int i = 0; i < count; i++) is_listed[i] = 0;
    for (int i = 0; i < mesh->nnode_set; i++)
        PCS_TRY(merge_change_set(mesh->memory, &mesh->node_set[i], number, is_listed));
    return PCS_OK;
}

pcs_status pcs_merge_apply(pcs_merge *merge, pcs_mesh *mesh)
{
    if (!merge->is_any) return PCS_OK;
    PCS_TRY(merge_check_cells(merge));
    size_t n = (size_t)mesh->nnode;
    int *memory = pcs_scratch(NULL, 2 * n, sizeof *memory);
    if (memory == NULL) return pcs_fail(mesh->ctx, PCS_NO_MEMORY, "out of memory: %zu nodes", n);
    pcs_status status = merge_copy(merge, mesh, memory, memory + n);
    pcs_scratch_free(memory);
    return status;
}

// Computes new numbers of cells, -1 if dropped, and compacts the cells that stay. Returns how many.
static int drop_number(pcs_mesh *mesh, const bool *is_dropped, int *number)
{
    int count = 0;
    for (int c = 0; c < mesh->ncell; c++) {
        number[c] = is_dropped[c] ? -1 : count;
        if (is_dropped[c]) continue;
        memmove(mesh->cell[count++], mesh->cell[c], sizeof *mesh->cell);
    }
    return count;
}

pcs_status pcs_mesh_drop_cells(pcs_mesh *mesh, const bool *is_dropped)
{
    size_t n = (size_t)mesh->ncell;
    bool is_part = !pcs_mesh_is_whole(mesh);
    int *number = pcs_scratch(NULL, 2 * n + (size_t)mesh->ncell_set, sizeof *number), *size = number + 2 * n;
    pcs_status status = PCS_OK;
    if (number == NULL) status = pcs_fail(mesh->ctx, PCS_NO_MEMORY, "out of memory: %d cells", mesh->ncell);
    if (is_part) status = pcs_agree(mesh->ctx, status);
    if (status == PCS_OK && is_part) status = pcs_part_drop(mesh, is_dropped);
    if (status == PCS_OK) {
        mesh->ncell = drop_number(mesh, is_dropped, number);
        memset(number + n, 0, n * sizeof *number);
        for (int i = 0; i < mesh->ncell_set; i++) size[i] = pcs_set_size(&mesh->cell_set[i]);
    }
    for (int i = 0; i < mesh->ncell_set; i++)
        if (status == PCS_OK) status = merge_change_set(mesh->memory, &mesh->cell_set[i], number, number + n);
    if (is_part) status = pcs_agree(mesh->ctx, status);
    if (status == PCS_OK && is_part) status = pcs_part_count_sets(mesh, size);
    pcs_scratch_free(number);
    return status;
}
