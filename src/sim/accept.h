// Search before a step, and its judgement; private to this folder.

#ifndef PCS_SIM_ACCEPT_H
#define PCS_SIM_ACCEPT_H

#include "sim/sim.h"

// Saves state and certificate before steps that may be undone, and restores them.
void pcs_accept_save(pcs_sim *sim, pcs_state *kept);
void pcs_accept_restore(pcs_sim *sim, const pcs_state *kept);
// Makes one step of the scheme and counts it as an attempt; its outcome is in the report.
pcs_status pcs_accept_try(pcs_sim *sim, double h);
// Adds the last report to the ledger.
void pcs_accept_book(pcs_sim *sim);
// Checks the last report against the state. `before` is the energy where the step began, J. Returns false if a
// condition is violated and the case is strict, or if a work is not finite, which becomes the outcome of the step.
bool pcs_accept_certifies(pcs_sim *sim, double before);
// Fails with PCS_FAILED and says why the last step of length h was rejected: no convergence, or a broken certificate.
pcs_status pcs_accept_reject(pcs_sim *sim, double h);
// Fails with PCS_FAILED and a message of `what`, step, time and step size.
pcs_status pcs_accept_stop(pcs_sim *sim, double h, const char *what);
// Searches contacts that may touch in the next step, or in each of the smaller ones that cover it. Fails with
// PCS_FAILED if bodies overlap that had no row.
pcs_status pcs_sim_search(pcs_sim *sim);

#endif
