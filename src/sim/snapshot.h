// Everything that a step changes, kept so that it can be undone: the state, and what the scheme carries beside it.

#ifndef PCS_SIM_SNAPSHOT_H
#define PCS_SIM_SNAPSHOT_H

#include "sim/sim.h"

typedef struct pcs_snapshot {
    pcs_state state;                          // with the pointers as they were
    double *q, *v, *history[PCS_MAX_HISTORY]; // [nq], [nv], [nv] each
    unsigned char *was_loaded;                // [nrow]
    void *data; // bytes of the scheme's private data: scalars, and pointers exchanged with the state
} pcs_snapshot;

// For schemes that allow control.
pcs_status pcs_snapshot_create(pcs_sim *sim, pcs_snapshot *s);
void pcs_snapshot_save(const pcs_sim *sim, pcs_snapshot *s);
void pcs_snapshot_restore(pcs_sim *sim, const pcs_snapshot *s);

#endif
