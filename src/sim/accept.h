// Search before a step, and its judgement; private to this folder.

#ifndef PCS_SIM_ACCEPT_H
#define PCS_SIM_ACCEPT_H

#include "sim/sim.h"

// Adds the last report to the ledger.
void pcs_accept_book(pcs_sim *sim);
// Checks the last report against the state; `before` is the energy where the step began, J. False when a condition is
// violated and the case is strict, and when a work is not finite, which becomes the outcome of the step.
bool pcs_accept_certifies(pcs_sim *sim, double before);
// Says why the last step of length h was rejected: it did not settle, or its certificate is broken. PCS_FAILED.
pcs_status pcs_accept_reject(pcs_sim *sim, double h);
// PCS_FAILED with `what`, and where the run stands.
pcs_status pcs_accept_stop(pcs_sim *sim, double h, const char *what);
// Before a step, and before each of the smaller ones that cover it: finds what may touch in it. PCS_FAILED when bodies
// overlap that no row was about.
pcs_status pcs_sim_search(pcs_sim *sim);

#endif
