// Pairs of boxes that come near each other: a grid of cubes, as large as the largest box.
//
// The grid stays good until the sides of some box have moved by half the skin. Time and memory grow with the number of
// boxes, as long as they are about as large.

#ifndef PCS_CONTACT_SEARCH_H
#define PCS_CONTACT_SEARCH_H

#include "core/context.h"

#include <stdbool.h>

typedef struct pcs_box {
    double low[3], high[3];
} pcs_box;

typedef struct pcs_search pcs_search;

// Boxes 0 .. na-1 against boxes na .. na+nb-1; distances along each axis count.
pcs_status pcs_search_create(pcs_context *ctx, int na, int nb, double reach, double skin, pcs_search **out);

// Calls `visit` for pairs (i, j), i < na, 0 <= j < nb, among them all whose boxes are within reach; each pair once, in
// any order.
typedef void pcs_search_visit(void *owner, int i, int j);
void pcs_search_pairs(pcs_search *self, const pcs_box *boxes, pcs_search_visit *visit, void *owner);

// Returns the number of times that the grid has been rebuilt.
long pcs_search_rebuilds(const pcs_search *self);

#endif
