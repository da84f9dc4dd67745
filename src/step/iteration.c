// The iteration matrix of a step of a linear system.

#include "step/columns.h"

pcs_status pcs_step_factor_iteration(pcs_step_solver *solver, pcs_matrix **S, pcs_linsolve **iteration,
                                     pcs_outcome *outcome)
{
    const pcs_system *system = solver->system;
    const pcs_step_form *form = &solver->form;
    pcs_linsolve_kind kind = system->has_skew_damping ? PCS_GENERAL : PCS_SPD;
    bool is_singular = false;
    if (*S == NULL) PCS_TRY(pcs_matrix_create(solver->ctx, system->M->pattern, S));
    pcs_matrix_combine(*S, (const double[3]){ form->c, form->h, form->h * form->kb }, system->M, system->C, system->K);
    if (*iteration == NULL)
        PCS_TRY(pcs_linsolve_create_labelled(solver->ctx, solver->linear, "iteration", *S, kind, iteration));
    PCS_TRY(pcs_linsolve_factor(*iteration, &is_singular));
    solver->nfactor++;
    solver->iteration_backend = (*iteration)->title;
    if (is_singular) *outcome = PCS_SINGULAR;
    solver->bad_equation = is_singular ? (*iteration)->bad_equation : -1;
    return PCS_OK;
}
