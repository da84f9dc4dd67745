// Which bodies the rows are about; private to this folder.

#ifndef PCS_SIM_SEARCH_H
#define PCS_SIM_SEARCH_H

#include "sim/sim.h"

// Before a step, and before each of the smaller ones that cover it: finds what may touch in it. PCS_FAILED when bodies
// overlap that no row was about.
pcs_status pcs_sim_search(pcs_sim *sim);

#endif
