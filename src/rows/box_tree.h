// A tree of boxes for finding what is near a position: the nearest of n boxes in about log n comparisons.
//
// Neighbours share a branch by where the boxes are when the tree is first fitted. Fitting it again follows them at a
// cost that grows with n; what has moved far from its neighbours makes it slower, never wrong.

#ifndef PCS_ROWS_BOX_TREE_H
#define PCS_ROWS_BOX_TREE_H

#include "core/context.h"

#include <stdbool.h>

typedef struct pcs_box {
    double low[3], high[3];
} pcs_box;

typedef struct pcs_box_tree pcs_box_tree;

// Creates a tree of n > 0 boxes.
pcs_status pcs_box_tree_create(pcs_context *ctx, int n, pcs_box_tree **out);

// Updates the bounding boxes of the branches for the current boxes [n].
void pcs_box_tree_fit(pcs_box_tree *self, const pcs_box *boxes);

// Calls `visit` for all boxes within `reach` of `from` (and perhaps for others), in any order. `visit` returns the
// reach from then on: a search for the nearest returns the distance found so far.
typedef double pcs_box_tree_visit(void *owner, int j);
void pcs_box_tree_look(const pcs_box_tree *self, const pcs_box *from, double reach, pcs_box_tree_visit *visit,
                       void *owner);

#endif
