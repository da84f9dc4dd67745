// Which pairs of cells may touch: the local minima of the distance of two sets of cells, nearest first.

#ifndef PCS_ROWS_BEAMS_H
#define PCS_ROWS_BEAMS_H

#include "rows/box_tree.h"
#include "rows/segment.h"
#include "rows/source.h"

typedef struct pcs_beam_pair {
    int a, b; // cell numbers
} pcs_beam_pair;

// Holds a place of contact. Between nearly parallel cells it stays at `s` on a during a step.
typedef struct pcs_beam_row {
    pcs_beam_pair pair; // a is -1 if the row is free
    double s;           // coordinate on a, 0 to 1; PCS_BEAM_MOVES if it follows the closest points
} pcs_beam_row;
#define PCS_BEAM_MOVES (-1.0)

typedef struct pcs_beam_found {
    pcs_beam_row row;
    double gap, x[3]; // m; x: point on the axis of a
    bool is_taken;
} pcs_beam_found;

typedef struct pcs_beams_definition {
    const pcs_set *a, *b;
    double reach;     // m; NAN for the default
    double thickness; // sum of both radii, m
    int exclude, most;
} pcs_beams_definition;

typedef struct pcs_beams {
    const pcs_mesh *mesh;
    const pcs_set *a, *b;
    double reach, thickness, size; // m; size: diagonal of the mesh
    int exclude, most;
    pcs_beam_pair spare;        // any pair that may touch, used by free rows
    int nnode, *nodes;          // [nnode] nodes of the cells of both sets
    int (*neighbour)[2];        // [ncell] adjoining cells of the same body at either end; -1 if none or several
    int *chain, *place;         // [ncell] number of the chain of cells, and position in it
    int *loop;                  // [ncell] length of the chain in cells if it is closed, else 0
    unsigned char *in_a, *in_b; // [ncell] 1 if the cell belongs to the set
    double (*x)[3];             // [mesh nnode] current positions of the nodes, m
    pcs_box *boxes;             // [cells of a, then of b] current bounding boxes
    pcs_box_tree *tree;         // of the cells of b
    int nfound;
    pcs_beam_found *found; // [most + 1] nearest first; the last one gets no row
    bool is_started;
} pcs_beams;

pcs_status pcs_beams_create(pcs_context *ctx, const pcs_mesh *mesh, const pcs_beams_definition *definition,
                            pcs_beams *self);

// Returns false for cells that share a node, or are at most `exclude` cells apart along their chain.
bool pcs_beams_may_touch(const pcs_beams *self, int a, int b);

// Calls `visit` for the i-th cell of a and the j-th of b that pcs_beams_find has found near each other, in any order.
typedef void pcs_beams_visit(void *owner, int i, int j);
// Finds the contact places within reach.
void pcs_beams_find(pcs_beams *self, const pcs_places *places);

#endif
