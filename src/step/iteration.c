// The iteration matrix of a step, S* = c M + h C + h kb K.

#include "step/columns.h"

bool pcs_step_is_constant(const pcs_system *system)
{
    return !system->tangents_vary && !system->mass_varies && system->slopes == NULL;
}

pcs_status pcs_step_create_iteration(pcs_step_solver *solver, const pcs_pattern *curved, pcs_matrix **S,
                                     pcs_linsolve **iteration)
{
    const pcs_system *system = solver->system;
    // Gyroscopic moments, nonlinear elements and joints that turn under load make it unsymmetric, or not positive.
    bool is_positive = curved == NULL && pcs_step_is_constant(system) && !pcs_system_is_gyroscopic(system);
    pcs_linsolve_kind kind = is_positive ? PCS_SPD : PCS_GENERAL;
    PCS_TRY(pcs_matrix_create(solver->ctx, curved == NULL ? system->M->pattern : curved, S));
    // A back end that does not take it serves the mass alone.
    const char *linear = pcs_linsolve_takes(solver->linear, (*S)->pattern, kind) ? solver->linear : "auto";
    PCS_TRY(pcs_linsolve_create_labelled(solver->ctx, linear, "iteration", *S, kind, iteration));
    solver->iteration_backend = (*iteration)->title;
    return PCS_OK;
}

pcs_status pcs_step_factor_iteration(pcs_step_solver *solver, pcs_matrix **S, pcs_linsolve **iteration,
                                     pcs_outcome *outcome)
{
    const pcs_system *system = solver->system;
    const pcs_step_form *form = &solver->form;
    bool is_singular = false;
    if (*S == NULL) PCS_TRY(pcs_step_create_iteration(solver, NULL, S, iteration));
    pcs_matrix_combine(*S, (const double[3]){ form->c, form->h, form->h * form->kb }, system->M, system->C, system->K);
    PCS_TRY(pcs_linsolve_factor(*iteration, &is_singular));
    solver->nfactor++;
    if (is_singular) *outcome = PCS_SINGULAR;
    solver->bad_equation = is_singular ? (*iteration)->bad_equation : -1;
    return PCS_OK;
}
