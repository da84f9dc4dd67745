// Lines of cells that carry waves, and the step and number of cells that resolve a run; private to this folder.

#ifndef PCS_BUILD_BARS_H
#define PCS_BUILD_BARS_H

#include "elements/section.h"
#include "fe/fe.h"
#include "sim/sim.h"

// A line of cells of one batch.
typedef struct pcs_bar {
    const pcs_batch *batch;
    int first, ncell; // cells of the batch
    char name[128];
    double c, shear; // speeds of axial and of transverse waves, m/s; 0 if there are none
    double bending;  // m^2/s, smallest sqrt(E I/(rho A)) of a cell; 0 of rods
    double length;   // m
    double cell[2];  // shortest and longest cell, m
    double area[2];  // smallest and largest, m^2
    double rho;
    int end[2]; // nodes where it begins and ends
} pcs_bar;

// Returns the length of a cell of a batch, m, and its areas at both ends, m^2.
double pcs_bar_cell(const pcs_batch *batch, int cell);
void pcs_bar_areas(const pcs_batch *batch, int cell, double area[2]);
// Returns the lines of the model, in scratch memory, and their number; NULL and 0 if memory is out. A group of too many
// lines is one, without ends.
pcs_bar *pcs_bars_find(const pcs_sim *sim, int *count);
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
