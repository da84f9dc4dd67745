// A step that does not converge, or whose certificate does not hold, is cut: the same time is covered by two steps of
// half the length, each certified on its own and cut again if necessary, down to h / 2^depth. The result is
// reported as one step. So is a step that is too long for bodies that turn fast at its start, without being tried.
//
// A step is cut, as far as that goes, also where it takes more than a quarter of the energy that the run may still
// gain: rules without dissipation gain at steps that do not resolve a nonlinear motion, and once all is spent no
// smaller step can help any more.
//
// After two failures in a row the next step begins with the fewest halvings that did in the last one. One halving less
// is tried after 2 steps; when that fails, after 4, 8, ... 64.

#ifndef PCS_SIM_RETRY_H
#define PCS_SIM_RETRY_H

#include "sim/sim.h"

pcs_status pcs_retry_create(pcs_sim *sim, int depth, struct pcs_retry **out);

// Advances by h. Fails with PCS_FAILED, with the state as before, if even the smallest steps fail.
pcs_status pcs_retry_step(pcs_sim *sim, double h);

#endif
