// The table of step solvers, from step_list.def.

#include "step/step.h"

#define PCS_STEP_SOLVER(name) extern const pcs_step_solver_ops pcs_step_##name;
#include "step/step_list.def"
#undef PCS_STEP_SOLVER

const pcs_step_solver_ops *const pcs_step_solvers[] = {
#define PCS_STEP_SOLVER(name) &pcs_step_##name,
#include "step/step_list.def"
#undef PCS_STEP_SOLVER
    NULL,
};
