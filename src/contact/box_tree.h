// A tree of boxes that answers what is near a place: the nearest of n in about log n looks, near or far.
//
// Neighbours share a branch by where the boxes are when the tree is first fitted. Fitting it again follows them at a
// cost that grows with n; what has moved far from its neighbours makes it slower, never wrong.

#ifndef PCS_CONTACT_BOX_TREE_H
#define PCS_CONTACT_BOX_TREE_H

#include "contact/search.h"

typedef struct pcs_box_tree pcs_box_tree;

// For n > 0 boxes.
pcs_status pcs_box_tree_create(pcs_context *ctx, int n, pcs_box_tree **out);

// To where the boxes [n] are now.
void pcs_box_tree_fit(pcs_box_tree *self, const pcs_box *boxes);

// Calls `visit` for boxes about as near to `from` as the reach or nearer, in any order, and perhaps for more. Gives the
// reach from then on, so that a search for the nearest gives the distance found.
typedef double pcs_box_tree_visit(void *owner, int j);
void pcs_box_tree_look(const pcs_box_tree *self, const pcs_box *from, double reach, pcs_box_tree_visit *visit,
                       void *owner);

#endif
