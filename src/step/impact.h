// The contact problem of an explicit scheme: which impulses on the gated rows give admissible velocities?
//
//   v += X La + XT Lt
//   0 <= G v + target _|_ La >= 0 (bilateral: = 0)
//   Lt in the friction disc against T v + target_t
//
// Only rows that are gated or bilateral enter, on the projection as the scheme has set it.

#ifndef PCS_STEP_IMPACT_H
#define PCS_STEP_IMPACT_H

#include "step/step.h"

typedef struct pcs_impact pcs_impact;

pcs_status pcs_impact_create(pcs_step_solver *solver, pcs_impact **out);
void pcs_impact_solve(pcs_impact *self, pcs_step_problem *problem, pcs_step_result *result);

#endif
