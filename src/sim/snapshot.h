// A run as it stands between two steps, to go back to: state, ledger, certificate, last report, counts.

#ifndef PCS_SIM_SNAPSHOT_H
#define PCS_SIM_SNAPSHOT_H

#include "sim/sim.h"

typedef struct pcs_snapshot pcs_snapshot;

// Memory comes from `ctx`, which need not be that of the simulation.
pcs_status pcs_snapshot_create(pcs_context *ctx, const pcs_sim *sim, pcs_snapshot **out);
// Puts the simulation that the snapshot is of back to where it was.
void pcs_snapshot_restore(const pcs_snapshot *self, pcs_sim *sim);

// Smooth forces, or the accelerations that the state carries, have changed between two steps: the next step is held
// against those that are there now.
void pcs_sim_renew_forces(pcs_sim *sim);

#endif
