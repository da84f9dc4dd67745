// Copies of numbers that other ranks own, by PETSc's star forests: owners are their roots, copies their leaves.

#include "parallel/parallel.h"

#include <math.h>
#include <petscsf.h>

static void copies_release(void *object)
{
    PetscSF forest = object;
    PetscBool is_done = PETSC_FALSE;
    if (PetscFinalized(&is_done) == 0 && !is_done) (void)PetscSFDestroy(&forest);
}

static PetscErrorCode copies_plan(const pcs_parallel *self, int nown, int ncopy, const int *number, PetscSF *out)
{
    PetscLayout layout;
    PetscInt *owned;
    PetscCall(PetscLayoutCreate(self->world, &layout));
    PetscCall(PetscLayoutSetLocalSize(layout, nown));
    PetscCall(PetscLayoutSetUp(layout));
    PetscCall(PetscMalloc1((size_t)ncopy + 1, &owned));
    for (int i = 0; i < ncopy; i++) owned[i] = number[i];
    PetscCall(PetscSFCreate(self->world, out));
    PetscCall(PetscSFSetGraphLayout(*out, layout, ncopy, NULL, PETSC_OWN_POINTER, owned));
    PetscCall(PetscSFSetUp(*out));
    PetscCall(PetscFree(owned));
    return PetscLayoutDestroy(&layout);
}

pcs_status pcs_parallel_plan_copies(const pcs_comm *comm, pcs_context *ctx, int nown, int ncopy, const int *number,
                                    void **plan)
{
    PetscSF forest = NULL;
    PCS_PETSC(ctx, "set-up of copies", copies_plan(comm->data, nown, ncopy, number, &forest));
    *plan = forest;
    return pcs_defer(ctx, copies_release, forest);
}

static PetscErrorCode copies_return(PetscSF forest, const double *copy, double *own)
{
    PetscCall(PetscSFReduceBegin(forest, MPIU_REAL, copy, own, MPI_SUM));
    return PetscSFReduceEnd(forest, MPIU_REAL, copy, own, MPI_SUM);
}

static PetscErrorCode copies_take(PetscSF forest, const double *own, double *copy)
{
    PetscCall(PetscSFBcastBegin(forest, MPIU_REAL, own, copy, MPI_REPLACE));
    return PetscSFBcastEnd(forest, MPIU_REAL, own, copy, MPI_REPLACE);
}

// Adds copies to the entries of their owners; the next function copies these back. A failure fills the result with NAN.
void pcs_parallel_return_copies(const pcs_comm *comm, void *plan, const double *copy, double *own)
{
    (void)comm;
    PetscInt nown = 0;
    if (copies_return(plan, copy, own) == 0) return;
    (void)PetscSFGetGraph(plan, &nown, NULL, NULL, NULL);
    for (PetscInt i = 0; i < nown; i++) own[i] = NAN;
}

void pcs_parallel_take_copies(const pcs_comm *comm, void *plan, const double *own, double *copy)
{
    (void)comm;
    PetscInt ncopy = 0;
    if (copies_take(plan, own, copy) == 0) return;
    (void)PetscSFGetGraph(plan, NULL, &ncopy, NULL, NULL);
    for (PetscInt i = 0; i < ncopy; i++) copy[i] = NAN;
}
