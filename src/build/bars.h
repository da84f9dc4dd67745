// Lines of cells that carry waves, and the step and number of cells that resolve a run; private to this folder.

#ifndef PCS_BUILD_BARS_H
#define PCS_BUILD_BARS_H

#include "sim/sim.h"

// Finds the slowest cells, for the verdict on resolution.
void pcs_build_find_cells(pcs_sim *sim);

// Fills sim->foreseen from the model and its state at the start. `is_explicit`: the scheme has a stable step of its
// own, below the travel time through a cell.
pcs_status pcs_foresee(pcs_sim *sim, bool is_explicit);
// Number of cells of a part with `elements: auto` until it is known.
enum { PCS_TRIAL_CELLS = 400 };
#define PCS_TRIAL_TEXT "400"
// Returns the number of cells that resolves a part of the mesh, or each of its members, which has `present` ones; 0 if
// nothing says so.
double pcs_foresee_cells(const pcs_sim *sim, const pcs_set *part, double present);

#endif
