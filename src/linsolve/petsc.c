// Distributed matrices, solved by the shared object with MPI and PETSc.
//
// Only assembled models have a layout of their equations; everything else is small and solved by every process alike.

#include "linsolve/linsolve.h"

static const char *petsc_refuses(const pcs_pattern *pattern, pcs_linsolve_kind kind)
{
    if (pattern->layout == NULL) return "it takes assembled models, under mpiexec or with `linear: petsc`";
    const pcs_linsolve_ops *ops = pattern->layout->comm->solver;
    return ops->refuses(pattern, kind);
}

// Replaces the operations by those of the solver in the shared object, and analyzes with it.
static pcs_status petsc_analyze(pcs_linsolve *self)
{
    self->ops = self->A->pattern->layout->comm->solver;
    self->data = pcs_take(self->ctx, 1, self->ops->data_size, "a linear solver's data");
    return self->data == NULL ? PCS_NO_MEMORY : self->ops->analyze(self);
}

static pcs_status petsc_factor(pcs_linsolve *self, bool *is_singular)
{
    *is_singular = false;
    return pcs_fail(self->ctx, PCS_FAILED, "the matrix has not been analyzed");
}

static void petsc_solve(pcs_linsolve *self, double *x)
{
    (void)self, (void)x;
}

const pcs_linsolve_ops pcs_linsolve_petsc = {
    .name = "petsc",
    .summary = PERCUSS_HAS_PETSC
                   ? "Krylov methods and factorizations of PETSc, over all processes; its options come after --"
                   : "not in this build: Krylov methods and factorizations of PETSc, over all processes",
    .data_size = 1,
    .refuses = petsc_refuses,
    .analyze = petsc_analyze,
    .factor = petsc_factor,
    .solve = petsc_solve,
    .solve_own = petsc_solve,
};
