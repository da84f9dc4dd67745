// Grids of points and lines as VTK's XML files, compressed by zlib.

#ifndef PCS_OUTPUT_VTU_H
#define PCS_OUTPUT_VTU_H

#include "output/grid.h"
#include "output/observer.h"

typedef struct pcs_vtu pcs_vtu;

// Takes all memory. With `is_single` reals are written as float.
pcs_status pcs_vtu_create(pcs_context *ctx, const pcs_grid *grid, bool is_single, pcs_vtu **out);
// Puts the grid at the present time into a file that is open.
void pcs_vtu_put(pcs_vtu *vtu, pcs_file *f, const pcs_view *view);
// The head of an index of such grids, which are the pieces of one, up to their names.
void pcs_vtu_put_index(const pcs_vtu *vtu, pcs_file *f);

#endif
