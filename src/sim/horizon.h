// The horizon of a run: until when its probes follow from its start.
//
// Two neighbours, whole runs of the same case, start with random velocities added, of the kinetic energy size^2 T, with
// T the largest one of the run. A probe has its horizon where it differs between the run and a neighbour by more than
// 1 % of its range over the run, at two samples in a row. Most motions have none.
//
// The run keeps its probes at every n-th step; n doubles whenever 4096 are kept. Neighbours are compared there. A
// probe that differs by more than a tenth of that 1 % at the first of them is not judged: in symmetric models some only
// show round-off. Nor is one whose 1 % is round-off of the motion of the model, such as one of a node that is held.

#ifndef PCS_SIM_HORIZON_H
#define PCS_SIM_HORIZON_H

#include "sim/sim.h"

// Builds a neighbour in a context of its own.
typedef pcs_status pcs_horizon_build(void *user, const pcs_perturbation *with, pcs_context **ctx, pcs_sim **out);

// Makes `sim` find its horizon for a perturbation of this relative size at the end of its run. A neighbour that fails
// ends the comparison, not the run.
pcs_status pcs_horizon_create(pcs_sim *sim, double size, pcs_horizon_build *build, void *user);

#endif
