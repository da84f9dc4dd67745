// Step solver `condensed`: active-set semi-smooth Newton on the condensed contact rows, over kept factorizations.

#include "step/condense.h"

static pcs_status condensed_setup(pcs_step_solver *self)
{
    return pcs_condense_setup(self, self->data);
}

static pcs_status condensed_prepare(pcs_step_solver *self, pcs_outcome *outcome)
{
    return pcs_condense_prepare(self, self->data, outcome);
}

static void condensed_solve(pcs_step_solver *self, pcs_step_problem *problem, pcs_step_result *result)
{
    pcs_condense_solve(self, self->data, problem, result);
}

const pcs_step_solver_ops pcs_step_condensed = {
    .name = "condensed",
    .summary = "active-set semi-smooth Newton on the condensed contact rows, factorizations kept (the default)",
    .data_size = sizeof(pcs_condense),
    .does_passes = true,
    .gives_impulses = true,
    .setup = condensed_setup,
    .prepare = condensed_prepare,
    .solve = condensed_solve,
};
