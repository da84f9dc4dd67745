// Step solver `pgs`: projected Gauss-Seidel on the condensed contact rows. Slow and simple: the oracle of the tests.

#include "step/condense.h"

static pcs_status pgs_setup(pcs_step_solver *self)
{
    return pcs_condense_setup(self, self->data);
}

static pcs_status pgs_prepare(pcs_step_solver *self, pcs_outcome *outcome)
{
    return pcs_condense_prepare(self, self->data, outcome);
}

static void pgs_solve(pcs_step_solver *self, pcs_step_problem *problem, pcs_step_result *result)
{
    pcs_condense_solve(self, self->data, problem, pcs_frictionless_gauss_seidel, result);
}

const pcs_step_solver_ops pcs_step_pgs = {
    .name = "pgs",
    .summary = "projected Gauss-Seidel on the condensed contact rows, which needs no sets: the oracle of the tests",
    .data_size = sizeof(pcs_condense),
    .does_passes = true,
    .gives_impulses = true,
    .setup = pgs_setup,
    .prepare = pgs_prepare,
    .solve = pgs_solve,
};
