// A lattice of struts: joints on a grid of n_x x n_y x n_z boxes, struts along the edges of the boxes and, if wanted,
// along the diagonals of their faces. Directions without boxes are left out, so that a lattice may be plane.
//
// Makes the sets `name` (all nodes, all cells), `name.joints`, `name.corners` (nodes at the corners of the whole),
// `name.xmin`, `name.xmax`, ... (all nodes on a face of the whole, joints and those between them) and the cell sets
// `name.x`, `name.y`, `name.z` (struts along the axes) and `name.diagonals`.
//
// Numbering goes layer by layer along the longest direction; a joint is followed by the nodes within the struts that
// start at it. So the band of the matrix is as wide as one layer. Crossing diagonals pass without touching. All layers
// but the last are alike, so that every number follows from that of its layer and a table of one.

#include "mesh/mesh.h"

#include <limits.h>
#include <math.h>

enum { AXES = 3, FACES = 3, STRUTS = AXES + 2 * FACES };
enum { LATTICE_NONE, LATTICE_ONE, LATTICE_CROSS };

typedef struct lattice_params {
    pcs_list cells, size;
    double origin[3];
    int elements, diagonals;
} lattice_params;

static const char *const lattice_diagonals[] = { "none", "one", "cross", NULL };

static const pcs_option lattice_options[] = {
    PCS_LIST("cells", lattice_params, cells, PCS_REQUIRED, PCS_WITHIN(0.0, 1 << 24),
             "boxes along x, y and z: [nx, ny] or [nx, ny, nz]; 0: flat in that direction"),
    PCS_LIST("size", lattice_params, size, PCS_REQUIRED, PCS_POSITIVE,
             "edges of a box: [sx, sy] or [sx, sy, sz], or one for all, m"),
    PCS_VECTOR("origin", lattice_params, origin, PCS_DEFAULT("[0.0, 0.0, 0.0]"), PCS_ANY_NUMBER,
               "corner with the lowest x, y and z, m"),
    PCS_COUNT("elements", lattice_params, elements, PCS_DEFAULT("1"), PCS_WITHIN(1, 1 << 20),
              "number of cells per strut"),
    PCS_CHOICE("diagonals", lattice_params, diagonals, PCS_DEFAULT("none"), lattice_diagonals,
               "struts across the faces of the boxes: one of the two diagonals, or both, which do not touch"),
    { 0 },
};

static const char *lattice_check(const void *params, const char **option)
{
    const lattice_params *p = params;
    *option = "cells";
    if (p->cells.nrow != 1 || p->cells.count > AXES) return "the boxes must be [nx], [nx, ny] or [nx, ny, nz]";
    double sum = 0.0;
    for (int k = 0; k < p->cells.count; k++) {
        if (p->cells.value[k] != floor(p->cells.value[k])) return "the numbers of boxes must be whole numbers";
        sum += p->cells.value[k];
    }
    if (sum == 0.0) return "the lattice has no boxes";
    *option = "size";
    if (p->size.nrow != 1 || (p->size.count != 1 && p->size.count != p->cells.count))
        return "the edges of a box must be as many as 'cells' has numbers, or one for all";
    for (int k = 0; k < p->cells.count; k++) {
        double size = p->size.value[p->size.count == 1 ? 0 : k], far = p->origin[k] + p->cells.value[k] * size;
        if (!isfinite(far * far)) return "the lattice is too large to be measured";
    }
    return NULL;
}

// Describes a strut from one corner of a box to another; it exists if the box has the edges it needs.
typedef struct lattice_strut {
    int from[AXES], to[AXES];
    int kind; // an axis, or AXES for a diagonal
} lattice_strut;

typedef struct lattice {
    int n[AXES];      // number of boxes
    int order[AXES];  // axes, the fastest first
    int stride[AXES]; // increment of a joint's number along each axis
    double size[AXES], origin[AXES];
    int elements, nstrut; // number of cells of a strut, and of struts of a box
    lattice_strut strut[STRUTS];
    int slow, nlayer; // axis across the layers, and number of layers
    int njoint;       // per layer
    int *number;      // [2][njoint] node of each joint within its layer: in all layers but the last, then in the last
    int layer_nodes[2], layer_cells[2]; // nodes and cells of all layers but the last, and of the last
    int count[AXES + 1];                // number of cells of each kind
    pcs_mesh *mesh;
    const char *name;
    int nnode, ncell, node, cell; // numbers of nodes and cells, and the first of them in the mesh
    int *kind;                    // [ncell]
    int *list;                    // [nnode or ncell] items of the current set
} lattice;

static void lattice_add_strut(lattice *w, int kind, int from, int to_a, int to_b)
{
    lattice_strut *s = &w->strut[w->nstrut++];
    *s = (lattice_strut){ .kind = kind };
    if (from >= 0) s->from[from] = 1;
    if (to_a >= 0) s->to[to_a] = 1;
    if (to_b >= 0) s->to[to_b] = 1;
}

static void lattice_prepare(const lattice_params *p, lattice *w)
{
    for (int k = 0; k < AXES; k++) {
        bool is_given = k < p->cells.count;
        int size = p->size.count == 1 ? 0 : k;
        w->n[k] = is_given ? (int)p->cells.value[k] : 0;
        w->size[k] = is_given ? p->size.value[size] : 0.0;
        w->origin[k] = p->origin[k];
        w->order[k] = k;
    }
    for (int i = 0; i < AXES; i++)
        for (int k = i; k > 0 && w->n[w->order[k]] < w->n[w->order[k - 1]]; k--) {
            int keep = w->order[k];
            w->order[k] = w->order[k - 1];
            w->order[k - 1] = keep;
        }
    w->elements = p->elements;
    for (int k = 0; k < AXES; k++)
        if (w->n[k] > 0) lattice_add_strut(w, k, -1, k, -1);
    if (p->diagonals == LATTICE_NONE) return;
    for (int a = 0; a < AXES; a++)
        for (int b = a + 1; b < AXES; b++) {
            if (w->n[a] == 0 || w->n[b] == 0) continue;
            lattice_add_strut(w, AXES, -1, a, b);
            if (p->diagonals == LATTICE_CROSS) lattice_add_strut(w, AXES, a, b, -1);
        }
}

// Returns true if the strut exists at this joint, i.e. the box extends to its corners.
static bool lattice_has(const lattice *w, const lattice_strut *s, const int at[AXES])
{
    for (int k = 0; k < AXES; k++)
        if ((s->from[k] || s->to[k]) && at[k] >= w->n[k]) return false;
    return true;
}

// Advances to the next joint of a layer in the order of numbering. Returns false after the last.
static bool lattice_next(const lattice *w, int at[AXES])
{
    for (int i = 0; i < AXES - 1; i++) {
        int k = w->order[i];
        if (at[k]++ < w->n[k]) return true;
        at[k] = 0;
    }
    return false;
}

// Returns the node of the joint at a corner.
static int lattice_joint(const lattice *w, const int at[AXES], const int corner[AXES])
{
    int joint = 0, layer = at[w->slow] + corner[w->slow];
    for (int k = 0; k < AXES; k++)
        if (k != w->slow) joint += w->stride[k] * (at[k] + corner[k]);
    return w->node + layer * w->layer_nodes[0] + w->number[(layer + 1 == w->nlayer ? w->njoint : 0) + joint];
}

// Assigns numbers to the joints of a layer. Counts its nodes and cells.
static void lattice_number(lattice *w, int is_last)
{
    int at[AXES] = { 0 }, joint = 0, times = is_last ? 1 : w->nlayer - 1;
    at[w->slow] = is_last ? w->nlayer - 1 : 0;
    do {
        w->number[is_last * w->njoint + joint++] = w->layer_nodes[is_last]++;
        for (int i = 0; i < w->nstrut; i++) {
            if (!lattice_has(w, &w->strut[i], at)) continue;
            w->layer_nodes[is_last] += w->elements - 1;
            w->layer_cells[is_last] += w->elements;
            w->count[w->strut[i].kind] += times * w->elements;
        }
    } while (lattice_next(w, at));
    w->nnode += times * w->layer_nodes[is_last];
    w->ncell += times * w->layer_cells[is_last];
}

static void lattice_position(const lattice *w, const int at[AXES], const int corner[AXES], double x[3])
{
    for (int k = 0; k < AXES; k++) x[k] = w->origin[k] + (at[k] + corner[k]) * w->size[k];
}

// Adds the nodes within a strut, from `inner` on, and its cells. Returns the next free node.
static int lattice_place_strut(const lattice *w, const lattice_strut *s, const int at[AXES], int inner, int cell)
{
    double a[3], b[3];
    int n = w->elements, before = lattice_joint(w, at, s->from), last = lattice_joint(w, at, s->to);
    lattice_position(w, at, s->from, a);
    lattice_position(w, at, s->to, b);
    for (int i = 1; i <= n; i++) {
        int node = i == n ? last : inner++;
        double part = (double)i / n;
        // Uses the same digits for equal coordinates, so that faces stay flat.
        if (i < n)
            for (int k = 0; k < 3; k++) w->mesh->x[node][k] = a[k] == b[k] ? a[k] : (1.0 - part) * a[k] + part * b[k];
        w->mesh->cell[cell + i - 1][0] = before;
        w->mesh->cell[cell + i - 1][1] = node;
        w->kind[cell + i - 1 - w->cell] = s->kind;
        before = node;
    }
    return inner;
}

static void lattice_place(const lattice *w)
{
    static const int here[AXES] = { 0 };
    for (int layer = 0; layer < w->nlayer; layer++) {
        int at[AXES] = { 0 }, cell = w->cell + layer * w->layer_cells[0];
        at[w->slow] = layer;
        do {
            int inner = lattice_joint(w, at, here);
            lattice_position(w, at, here, w->mesh->x[inner++]);
            for (int i = 0; i < w->nstrut; i++) {
                if (!lattice_has(w, &w->strut[i], at)) continue;
                inner = lattice_place_strut(w, &w->strut[i], at, inner, cell);
                cell += w->elements;
            }
        } while (lattice_next(w, at));
    }
}

static pcs_status lattice_add_faces(const lattice *w)
{
    for (int k = 0; k < AXES; k++) {
        if (w->n[k] == 0) continue;
        for (int side = 0; side < 2; side++) {
            double place = w->origin[k] + (side == 0 ? 0 : w->n[k]) * w->size[k];
            int count = 0;
            for (int i = w->node; i < w->node + w->nnode; i++)
                if (w->mesh->x[i][k] == place) w->list[count++] = i;
            PCS_TRY(pcs_mesh_add_list(w->mesh, PCS_NODES, count, w->list, "%s.%c%s", w->name, "xyz"[k],
                                      side == 0 ? "min" : "max"));
        }
    }
    return PCS_OK;
}

static pcs_status lattice_add_joints(const lattice *w)
{
    static const int here[AXES] = { 0 };
    int njoint = 0, ncorner = 0, corner[8];
    for (int layer = 0; layer < w->nlayer; layer++) {
        int at[AXES] = { 0 };
        at[w->slow] = layer;
        do {
            int node = lattice_joint(w, at, here);
            bool is_corner = true;
            for (int k = 0; k < AXES; k++) is_corner = is_corner && (at[k] == 0 || at[k] == w->n[k]);
            w->list[njoint++] = node;
            if (is_corner) corner[ncorner++] = node;
        } while (lattice_next(w, at));
    }
    PCS_TRY(pcs_mesh_add_list(w->mesh, PCS_NODES, njoint, w->list, "%s.joints", w->name));
    return pcs_mesh_add_list(w->mesh, PCS_NODES, ncorner, corner, "%s.corners", w->name);
}

static pcs_status lattice_add_cells(const lattice *w)
{
    static const char *const names[] = { "x", "y", "z", "diagonals" };
    PCS_TRY(pcs_mesh_add_range(w->mesh, PCS_CELLS, w->cell, w->ncell, "%s", w->name));
    for (int k = 0; k <= AXES; k++) {
        int count = 0;
        if (w->count[k] == 0) continue;
        for (int i = 0; i < w->ncell; i++)
            if (w->kind[i] == k) w->list[count++] = w->cell + i;
        PCS_TRY(pcs_mesh_add_list(w->mesh, PCS_CELLS, count, w->list, "%s.%s", w->name, names[k]));
    }
    return PCS_OK;
}

static pcs_status lattice_make(lattice *w)
{
    pcs_mesh *mesh = w->mesh;
    PCS_TRY(pcs_mesh_add_nodes(mesh, w->nnode, &w->node));
    PCS_TRY(pcs_mesh_add_cells(mesh, w->ncell, &w->cell));
    int most = w->nnode > w->ncell ? w->nnode : w->ncell;
    w->list = pcs_scratch(NULL, (size_t)most + (size_t)w->ncell, sizeof *w->list);
    if (w->list == NULL) return pcs_fail(mesh->ctx, PCS_NO_MEMORY, "out of memory: a lattice of %d cells", w->ncell);
    w->kind = w->list + most;
    lattice_place(w);
    pcs_status status = pcs_mesh_add_range(mesh, PCS_NODES, w->node, w->nnode, "%s", w->name);
    if (status == PCS_OK) status = lattice_add_joints(w);
    if (status == PCS_OK) status = lattice_add_faces(w);
    if (status == PCS_OK) status = lattice_add_cells(w);
    pcs_scratch_free(w->list);
    return status;
}

static pcs_status lattice_build(const void *params, const char *name, pcs_mesh *mesh)
{
    lattice w = { .mesh = mesh, .name = name };
    lattice_prepare(params, &w);
    double joints = 1.0;
    for (int i = 0; i < AXES; i++) {
        w.stride[w.order[i]] = joints < INT_MAX ? (int)joints : 0;
        joints *= w.n[w.order[i]] + 1;
    }
    double most = joints * (1.0 + (double)w.nstrut * w.elements);
    if (most > INT_MAX / 2)
        return pcs_fail(mesh->ctx, PCS_BAD_INPUT, "the lattice has about %.3g nodes, more than the program can number",
                        most);
    w.slow = w.order[AXES - 1];
    w.nlayer = w.n[w.slow] + 1;
    w.njoint = w.stride[w.slow];
    w.number = pcs_scratch(NULL, 2 * (size_t)w.njoint, sizeof *w.number);
    if (w.number == NULL) return pcs_fail(mesh->ctx, PCS_NO_MEMORY, "out of memory: a lattice of %g joints", joints);
    for (int is_last = 0; is_last < 2; is_last++) lattice_number(&w, is_last);
    pcs_status status = lattice_make(&w);
    pcs_scratch_free(w.number);
    return status;
}

const pcs_mesh_source_ops pcs_mesh_lattice = {
    .name = "lattice",
    .summary = "struts on the edges of a grid of boxes; sets NAME, NAME.joints, NAME.corners, NAME.xmin, .xmax, .ymin, "
               "... (all nodes on a face), and of cells NAME.x, .y, .z, .diagonals",
    .options = lattice_options,
    .params_size = sizeof(lattice_params),
    .check = lattice_check,
    .build = lattice_build,
};
