// The shared object with everything of MPI and PETSc; private to this folder.
//
// The program loads it when it runs under mpiexec or when a case asks for PETSc. It brings its own copy of the
// context's functions (core/context.c), hidden, so that it depends on nothing that the program exports.

#ifndef PCS_PARALLEL_PARALLEL_H
#define PCS_PARALLEL_PARALLEL_H

#include "core/comm.h"

#include <petscksp.h>

// Starts MPI and PETSc; the program looks up this name alone. `version` is that of the program, of the same build.
PETSC_EXTERN pcs_status pcs_parallel_start(pcs_context *ctx, const char *version, int count, const char *const *options)
    __attribute__((visibility("default")));

typedef struct pcs_parallel {
    pcs_comm comm;
    MPI_Comm world;      // communicator of reductions
    MPI_Comm side;       // communicator of agreements only: other ranks may be blocked in `world`
    int count;           // number of words of the user's options
    const char **option; // [count]
    char fault[512];     // message of the last error inside PETSc
} pcs_parallel;

// Converts an error code of PETSc into an error with the message that PETSc gave.
pcs_status pcs_parallel_fault(pcs_context *ctx, PetscErrorCode code, pcs_status status, const char *during);

// Copies `-ksp_type x` of the user to `-<prefix>ksp_type x`, unless that is given.
PetscErrorCode pcs_parallel_spread_options(const pcs_parallel *self, const char *prefix);

// Functions of the communicator.
void pcs_parallel_sum(const pcs_comm *comm, int count, double *x);
void pcs_parallel_max(const pcs_comm *comm, int count, double *x);
void pcs_parallel_gather(const pcs_comm *comm, size_t count, double *x);
pcs_status pcs_parallel_plan(const pcs_comm *comm, pcs_context *ctx, int count, const int *index, void **plan);
void pcs_parallel_collect(const pcs_comm *comm, const void *plan, int width, const double *x, double *all);
pcs_status pcs_parallel_plan_spread(const pcs_comm *comm, pcs_context *ctx, int count, pcs_spread *plan);
void pcs_parallel_spread(const pcs_comm *comm, const pcs_spread *plan, const double *own, double *all);
pcs_status pcs_parallel_plan_copies(const pcs_comm *comm, pcs_context *ctx, int nown, int ncopy, const int *number,
                                    void **plan);
void pcs_parallel_return_copies(const pcs_comm *comm, void *plan, const double *copy, double *own);
void pcs_parallel_take_copies(const pcs_comm *comm, void *plan, const double *own, double *copy);
pcs_status pcs_parallel_exchange(const pcs_comm *comm, pcs_context *ctx, const int *count, const int *start,
                                 const int *send, pcs_numbers *received);
pcs_status pcs_parallel_agree(const pcs_comm *comm, pcs_context *ctx, pcs_status status, long long mark);
pcs_status pcs_parallel_partition(const pcs_comm *comm, pcs_context *ctx, int nvertex, const int *start,
                                  const int *neighbour, int *part);
void pcs_parallel_unused_options(const pcs_comm *comm, size_t size, char *text);

extern const struct pcs_linsolve_ops pcs_parallel_krylov;

// Returns from a function with `ctx` with an error if a call of PETSc fails.
#define PCS_PETSC(ctx, during, call)                                                           \
    do {                                                                                       \
        PetscErrorCode pcs_code_ = (call);                                                     \
        if (pcs_code_ != 0) return pcs_parallel_fault((ctx), pcs_code_, PCS_FAILED, (during)); \
    } while (0)

#endif
