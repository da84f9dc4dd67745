// Reactions of joints and supports; private to this folder.

#ifndef PCS_SIM_REACTIONS_H
#define PCS_SIM_REACTIONS_H

#include "sim/sim.h"

// Takes the memory, when the system has reactions.
pcs_status pcs_sim_prepare_reactions(pcs_sim *sim);
// Those of the last report.
void pcs_sim_react(pcs_sim *sim);

#endif
