// The shared object with everything of MPI and PETSc: sums, maxima, agreements and partitions over the ranks, copies of
// numbers that other ranks own, the linear solver `petsc`, and the start.
//
// The program loads it when it runs under mpiexec or when a case asks for PETSc. It brings its own copy of the
// context's functions (core/context.c), hidden, so that it depends on nothing that the program exports.
//
// A reduction to rank 0 and a broadcast give every rank the same bits; MPI does not promise that of an all-reduction.

#define _POSIX_C_SOURCE 200809L // nanosleep, setenv

#include "core/comm.h"

#include "linsolve/linsolve.h"

#include <limits.h>
#include <math.h>
#include <petscksp.h>
#include <petscsf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct pcs_parallel {
    pcs_comm comm;
    MPI_Comm world;            // communicator of reductions
    MPI_Comm side;             // communicator of agreements only: other ranks may be blocked in `world`
    int count;                 // number of words of the user's options
    const char *const *option; // [count]
    char fault[512];           // message of the last error inside PETSc
} pcs_parallel;

// Returns from a function with `ctx` with an error if a call of PETSc fails.
#define PCS_PETSC(ctx, during, call)                                                       \
    do {                                                                                   \
        PetscErrorCode pcs_code_ = (call);                                                 \
        if (pcs_code_ != 0) return parallel_fault((ctx), pcs_code_, PCS_FAILED, (during)); \
    } while (0)

// Converts an error code of PETSc into an error with the message that PETSc gave.
static pcs_status parallel_fault(pcs_context *ctx, PetscErrorCode code, pcs_status status, const char *during);
static PetscErrorCode parallel_distributed_options(const pcs_parallel *self, const char *prefix);

enum { MESSAGE_ROOM = 16384 };
static const double patience = 10.0; // s, time that a rank with an error waits for the others

static void comm_reduce(const pcs_comm *comm, int count, double *x, MPI_Op operation)
{
    const pcs_parallel *self = comm->data;
    if (comm->size == 1) return;
    if (comm->rank == 0) MPI_Reduce(MPI_IN_PLACE, x, count, MPI_DOUBLE, operation, 0, self->world);
    else MPI_Reduce(x, NULL, count, MPI_DOUBLE, operation, 0, self->world);
    MPI_Bcast(x, count, MPI_DOUBLE, 0, self->world);
}

static void parallel_sum(const pcs_comm *comm, int count, double *x)
{
    comm_reduce(comm, count, x, MPI_SUM);
}

static void parallel_max(const pcs_comm *comm, int count, double *x)
{
    for (int i = 0; i < count; i++)
        if (isnan(x[i])) x[i] = INFINITY;
    comm_reduce(comm, count, x, MPI_MAX);
}

static void parallel_gather(const pcs_comm *comm, size_t count, double *x)
{
    const pcs_parallel *self = comm->data;
    const size_t portion = 1 << 24; // MPI counts in int
    if (comm->size == 1) return;
    for (size_t done = 0; done < count; done += portion) {
        int part = (int)(count - done < portion ? count - done : portion);
        if (comm->rank == 0) MPI_Reduce(MPI_IN_PLACE, x + done, part, MPI_DOUBLE, MPI_SUM, 0, self->world);
        else MPI_Reduce(x + done, NULL, part, MPI_DOUBLE, MPI_SUM, 0, self->world);
    }
}

// Waits for the other ranks. A rank with an error that gets no answer in time ends all of them.
static void comm_wait(const pcs_parallel *self, MPI_Request *request, const pcs_context *ctx, pcs_status status)
{
    double begin = MPI_Wtime();
    int is_done = 0;
    if (status == PCS_OK) {
        MPI_Wait(request, MPI_STATUS_IGNORE);
        return;
    }
    while (MPI_Test(request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_done) {
        if (MPI_Wtime() - begin > patience) {
            PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR, "error: rank %d: %s\n", self->comm.rank, pcs_message(ctx));
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
}

static pcs_status parallel_agree(const pcs_comm *comm, pcs_context *ctx, pcs_status status, long long mark)
{
    const pcs_parallel *self = comm->data;
    if (comm->size == 1) return status;
    // Takes the worst status, then the lowest rank that has it.
    long long size = comm->size, worst[3];
    long long mine[3] = { status * size + (status == PCS_OK ? 0 : size - 1 - comm->rank), mark, -mark };
    MPI_Request request;
    MPI_Iallreduce(mine, worst, 3, MPI_LONG_LONG, MPI_MAX, self->side, &request);
    comm_wait(self, &request, ctx, status);
    if (worst[0] < size && worst[1] == -worst[2]) return PCS_OK;
    if (worst[0] < size)
        return pcs_fail(ctx, PCS_FAILED,
                        "the ranks no longer agree on gaps and impulses: their copies have drifted apart");
    int speaker = (int)(size - 1 - worst[0] % size), length = (int)strlen(pcs_message(ctx)) + 1;
    char *text = pcs_scratch(NULL, MESSAGE_ROOM, 1);
    pcs_status answer = (pcs_status)(worst[0] / size);
    MPI_Bcast(&length, 1, MPI_INT, speaker, self->side);
    if (text == NULL || length > MESSAGE_ROOM) return answer;
    if (comm->rank == speaker) memcpy(text, pcs_message(ctx), (size_t)length);
    MPI_Bcast(text, length, MPI_CHAR, speaker, self->side);
    pcs_fail(ctx, answer, "%s", text);
    pcs_scratch_free(text);
    return answer;
}

static pcs_status parallel_exchange(const pcs_comm *comm, pcs_context *ctx, const int *count, const int *start,
                                    const int *send, pcs_numbers *received)
{
    const pcs_parallel *self = comm->data;
    size_t size = (size_t)comm->size;
    int *counts = pcs_scratch(NULL, 2 * size, sizeof *counts), *first = counts + size;
    pcs_status status = counts == NULL ? pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: an exchange of ranks") : PCS_OK;
    *received = (pcs_numbers){ .count = counts };
    PCS_TRY(parallel_agree(comm, ctx, status, 0));
    MPI_Alltoall(count, 1, MPI_INT, counts, 1, MPI_INT, self->world);
    size_t total = 0;
    for (size_t r = 0; r < size; r++) {
        first[r] = (int)total;
        total += (size_t)counts[r];
    }
    received->value = total > INT_MAX ? NULL : pcs_scratch(NULL, total, sizeof *received->value);
    if (received->value == NULL) status = pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: an exchange of ranks");
    PCS_TRY(parallel_agree(comm, ctx, status, 0));
    MPI_Alltoallv(send, count, start, MPI_INT, received->value, counts, first, MPI_INT, self->world);
    return PCS_OK;
}

// Partitions the graph in one process and one thread: with more, PTScotch finds another partition every time.
static PetscErrorCode comm_partition(const pcs_comm *comm, const pcs_graph *graph, int *part)
{
    PetscInt *i, *j, *weight, nvertex = graph->count, nentry = graph->start[graph->count];
    PetscCall(PetscMalloc1((size_t)nvertex + 1, &i)); // PETSc frees all three with its objects
    PetscCall(PetscMalloc1((size_t)nentry + 1, &j));
    PetscCall(PetscMalloc1((size_t)nvertex + 1, &weight));
    for (PetscInt k = 0; k <= nvertex; k++) i[k] = graph->start[k];
    for (PetscInt k = 0; k < nentry; k++) j[k] = graph->neighbour[k];
    for (PetscInt k = 0; k < nvertex; k++) weight[k] = graph->weight[k];
    Mat links;
    MatPartitioning partitioning;
    IS found;
    setenv("SCOTCH_PTHREAD_NUMBER", "1", 1);
    PetscCall(MatCreateMPIAdj(PETSC_COMM_SELF, nvertex, nvertex, i, j, NULL, &links));
    PetscCall(MatPartitioningCreate(PETSC_COMM_SELF, &partitioning));
    PetscCall(MatPartitioningSetAdjacency(partitioning, links));
    PetscCall(MatPartitioningSetVertexWeights(partitioning, weight));
    PetscCall(MatPartitioningSetNParts(partitioning, comm->size));
    PetscCall(MatPartitioningSetType(partitioning, MATPARTITIONINGPTSCOTCH));
    PetscCall(MatPartitioningSetFromOptions(partitioning));
    PetscCall(MatPartitioningApply(partitioning, &found));
    const PetscInt *value;
    PetscCall(ISGetIndices(found, &value));
    for (PetscInt k = 0; k < nvertex; k++) part[k] = (int)value[k];
    PetscCall(ISRestoreIndices(found, &value));
    PetscCall(ISDestroy(&found));
    PetscCall(MatPartitioningDestroy(&partitioning));
    PetscCall(MatDestroy(&links));
    return 0;
}

static pcs_status parallel_partition(const pcs_comm *comm, pcs_context *ctx, const pcs_graph *graph, int *part)
{
    PCS_PETSC(ctx, "partition of the mesh", comm_partition(comm, graph, part));
    return PCS_OK;
}

// Copies of numbers that other ranks own, by PETSc's star forests: owners are their roots, copies their leaves.

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

static pcs_status parallel_plan_copies(const pcs_comm *comm, pcs_context *ctx, int nown, int ncopy, const int *number,
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

static PetscErrorCode copies_collect(PetscSF forest, MPI_Datatype record, const double *x, double *all)
{
    PetscCall(PetscSFReduceBegin(forest, record, x, all, MPI_REPLACE));
    return PetscSFReduceEnd(forest, record, x, all, MPI_REPLACE);
}

static void copies_spoil(PetscSF forest, int width, double *own)
{
    PetscInt nown = 0;
    (void)PetscSFGetGraph(forest, &nown, NULL, NULL, NULL);
    for (PetscInt i = 0; i < nown * width; i++) own[i] = NAN;
}

// Adds copies to the entries of their owners; the next functions copy records to them, and these back. A failure fills
// the result with NAN.
static void parallel_return_copies(const pcs_comm *comm, void *plan, const double *copy, double *own)
{
    if (copies_return(plan, copy, own) != 0) copies_spoil(plan, 1, own);
}

static void parallel_collect(const pcs_comm *comm, void *plan, int width, const double *x, double *all)
{
    MPI_Datatype record;
    MPI_Type_contiguous(width, MPI_DOUBLE, &record);
    MPI_Type_commit(&record);
    if (copies_collect(plan, record, x, all) != 0) copies_spoil(plan, width, all);
    MPI_Type_free(&record);
}

static void parallel_take_copies(const pcs_comm *comm, void *plan, const double *own, double *copy)
{
    PetscInt ncopy = 0;
    if (copies_take(plan, own, copy) == 0) return;
    (void)PetscSFGetGraph(plan, NULL, &ncopy, NULL, NULL);
    for (PetscInt i = 0; i < ncopy; i++) copy[i] = NAN;
}

// Linear solver `petsc`: distributed matrices, Krylov methods and factorizations chosen by PETSc's own options.
//
// The rows of a rank's own equations go to PETSc in the fixed order of the values (coordinate assembly: their indices
// once, later only values). A solve reads the right-hand side of the own equations and gives the solution on
// those and on the copies.
//
// Defaults: on one rank factors (CHOLMOD, UMFPACK); on several conjugate gradients to
// 1e-12 in the energy norm, preconditioned by incomplete factors of each rank's diagonal block, which on chains are
// exact, and for general matrices LU factors (MUMPS). Options may carry the prefix mass_ or iteration_, or stand for
// both matrices.

typedef struct solver_data {
    Mat A;
    KSP ksp;
    Vec b, x;       // over own equations
    PetscSF forest; // copies of neighbours
} solver_data;

static const double default_tolerance = 1e-12;
enum { MOST_ITERATIONS = 5000, USUAL_ITERATIONS = 16 }; // a solve of a lattice takes some 16

static const char *solver_refuses(const pcs_pattern *pattern, pcs_linsolve_kind kind)
{
    return pattern->layout == NULL ? "it takes assembled models" : NULL;
}

static void solver_release(void *object)
{
    solver_data *d = object;
    PetscBool is_done = PETSC_FALSE;
    if (PetscFinalized(&is_done) != 0 || is_done) return;
    (void)PetscSFDestroy(&d->forest);
    (void)VecDestroy(&d->x);
    (void)VecDestroy(&d->b);
    (void)KSPDestroy(&d->ksp);
    (void)MatDestroy(&d->A);
}

static PetscErrorCode solver_make_matrix(const pcs_linsolve *self, const pcs_parallel *parallel)
{
    solver_data *d = self->data;
    const pcs_pattern *pattern = self->A->pattern;
    const pcs_layout *layout = pattern->layout;
    PetscInt *i, *j;
    PetscCall(MatCreate(parallel->world, &d->A));
    PetscCall(MatSetSizes(d->A, layout->nown, layout->nown, layout->nglobal, layout->nglobal));
    PetscCall(MatSetType(d->A, MATAIJ));
    if (self->kind == PCS_SPD) PetscCall(MatSetOption(d->A, MAT_SPD, PETSC_TRUE));
    if (self->kind == PCS_SPD) PetscCall(MatSetOption(d->A, MAT_SPD_ETERNAL, PETSC_TRUE));
    PetscCall(PetscMalloc2((size_t)pattern->nnz, &i, (size_t)pattern->nnz, &j));
    for (int column = 0; column < pattern->n; column++)
        for (int p = pattern->start[column]; p < pattern->start[column + 1]; p++) {
            bool is_own = pattern->row[p] < layout->nown; // PETSc skips negative indices
            i[p] = is_own ? layout->global[pattern->row[p]] : -1;
            j[p] = is_own ? layout->global[column] : -1;
        }
    PetscCall(MatSetPreallocationCOO(d->A, pattern->nnz, i, j));
    PetscCall(PetscFree2(i, j));
    return 0;
}

static PetscErrorCode solver_make_vectors(const pcs_linsolve *self, const pcs_parallel *parallel)
{
    solver_data *d = self->data;
    const pcs_layout *layout = self->A->pattern->layout;
    PetscCall(VecCreateMPI(parallel->world, layout->nown, layout->nglobal, &d->b));
    PetscCall(VecDuplicate(d->b, &d->x));
    return copies_plan(parallel, layout->nown, layout->n - layout->nown, layout->global + layout->nown, &d->forest);
}

// Sets the default of a PETSc option, here one of the blocks, unless the user has given that option.
static PetscErrorCode solver_default(const char *prefix, const char *name, const char *value)
{
    char text[128];
    PetscBool is_given;
    PetscCall(PetscSNPrintf(text, sizeof text, "-%s%s", prefix, name));
    PetscCall(PetscOptionsHasName(NULL, NULL, text, &is_given));
    if (!is_given) PetscCall(PetscOptionsSetValue(NULL, text, value));
    return 0;
}

// Returns true if the preconditioner is a complete factorization, which solves the system by itself.
static bool solver_is_exact(const char *pc)
{
    return strcmp(pc, PCLU) == 0 || strcmp(pc, PCCHOLESKY) == 0;
}

// Sets conjugate gradients with a factor of the block of each rank. The natural norm is near r . A^-1 r, which the
// method minimises: an energy, as forces and moments have no common norm.
static PetscErrorCode solver_prefer_gradients(KSP ksp, PC pc, const char *prefix)
{
    PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPSetNormType(ksp, KSP_NORM_NATURAL));
    PetscCall(PCSetType(pc, PCBJACOBI));
    PetscCall(solver_default(prefix, "sub_ksp_type", "preonly"));
    return solver_default(prefix, "sub_pc_type", "icc");
}

static PetscErrorCode solver_prefer_factors(KSP ksp, PC pc, bool is_spd, bool is_alone)
{
    PetscCall(KSPSetType(ksp, KSPPREONLY));
    PetscCall(PCSetType(pc, is_spd ? PCCHOLESKY : PCLU));
    if (!is_alone) return PCFactorSetMatSolverType(pc, MATSOLVERMUMPS);
    return PCFactorSetMatSolverType(pc, is_spd ? MATSOLVERCHOLMOD : MATSOLVERUMFPACK);
}

// Sets the defaults. Iterates if the user names a preconditioner that is not exact.
static PetscErrorCode solver_prefer(const pcs_linsolve *self, const char *prefix, bool is_alone)
{
    solver_data *d = self->data;
    char name[128], asked[64] = "";
    PetscBool is_given;
    PC pc;
    bool is_spd = self->kind == PCS_SPD;
    PetscCall(KSPGetPC(d->ksp, &pc));
    PetscCall(PetscSNPrintf(name, sizeof name, "-%spc_type", prefix));
    PetscCall(PetscOptionsGetString(NULL, NULL, name, asked, sizeof asked, &is_given));
    bool is_iterated = is_given ? !solver_is_exact(asked) : is_spd && !is_alone;
    if (!is_iterated) return solver_prefer_factors(d->ksp, pc, is_spd, is_alone);
    if (is_spd) return solver_prefer_gradients(d->ksp, pc, prefix);
    return KSPSetType(d->ksp, KSPGMRES);
}

// Reads the limits of iterations, so that nobody reports them as unused: a factor does not ask for them.
static PetscErrorCode solver_read_limits(const char *prefix)
{
    static const char *const limits[] = { "ksp_rtol", "ksp_atol", "ksp_max_it" };
    char name[128];
    PetscBool is_given;
    for (int i = 0; i < 3; i++) {
        PetscCall(PetscSNPrintf(name, sizeof name, "-%s%s", prefix, limits[i]));
        PetscCall(PetscOptionsHasName(NULL, NULL, name, &is_given));
    }
    return 0;
}

static PetscErrorCode solver_make_ksp(const pcs_linsolve *self, const pcs_parallel *parallel)
{
    solver_data *d = self->data;
    char prefix[64];
    PC pc;
    KSPType ksp_type = NULL;
    PCType pc_type = NULL;
    PetscCall(PetscSNPrintf(prefix, sizeof prefix, "%s%s", self->label, self->label[0] == '\0' ? "" : "_"));
    if (prefix[0] != '\0') PetscCall(parallel_distributed_options(parallel, prefix));
    PetscCall(KSPCreate(parallel->world, &d->ksp));
    PetscCall(KSPSetOptionsPrefix(d->ksp, prefix));
    PetscCall(KSPSetOperators(d->ksp, d->A, d->A));
    PetscCall(KSPSetTolerances(d->ksp, default_tolerance, PETSC_DEFAULT, PETSC_DEFAULT, MOST_ITERATIONS));
    PetscCall(solver_prefer(self, prefix, parallel->comm.size == 1));
    PetscCall(KSPSetFromOptions(d->ksp));
    PetscCall(solver_read_limits(prefix));
    PetscCall(KSPGetPC(d->ksp, &pc));
    PetscCall(KSPGetType(d->ksp, &ksp_type));
    PetscCall(PCGetType(pc, &pc_type));
    PetscCheck(strcmp(ksp_type, KSPPREONLY) != 0 || solver_is_exact(pc_type), parallel->world, PETSC_ERR_USER_INPUT,
               "-ksp_type preonly goes with -pc_type lu or cholesky, not with %s", pc_type);
    return 0;
}

// Writes the title of the solver, e.g. "petsc cg/bjacobi to 1e-12".
static pcs_status solver_describe(pcs_linsolve *self)
{
    solver_data *d = self->data;
    char text[128];
    KSPType ksp = NULL;
    PCType type = NULL;
    PC pc;
    double tolerance = 0.0;
    PCS_PETSC(self->ctx, "choice of the solver", KSPGetPC(d->ksp, &pc));
    PCS_PETSC(self->ctx, "choice of the solver", KSPGetType(d->ksp, &ksp));
    PCS_PETSC(self->ctx, "choice of the solver", PCGetType(pc, &type));
    PCS_PETSC(self->ctx, "choice of the solver", KSPGetTolerances(d->ksp, &tolerance, NULL, NULL, NULL));
    if (ksp == NULL || strcmp(ksp, KSPPREONLY) == 0) snprintf(text, sizeof text, "petsc %s", type == NULL ? "" : type);
    else {
        snprintf(text, sizeof text, "petsc %s/%s to %g", ksp, type == NULL ? "none" : type, tolerance);
        self->entries = USUAL_ITERATIONS * (double)self->A->pattern->nnz; // a product and two triangles take as long
    }
    self->title = pcs_take_text(self->ctx, text);
    return self->title == NULL ? PCS_NO_MEMORY : PCS_OK;
}

static pcs_status solver_analyze(pcs_linsolve *self)
{
    const pcs_parallel *parallel = self->A->pattern->layout->comm->data;
    PCS_TRY(pcs_defer(self->ctx, solver_release, self->data));
    PCS_PETSC(self->ctx, "assembly", solver_make_matrix(self, parallel));
    PCS_PETSC(self->ctx, "set-up of vectors", solver_make_vectors(self, parallel));
    PCS_PETSC(self->ctx, "choice of the solver", solver_make_ksp(self, parallel));
    return solver_describe(self);
}

// Returns the first equation whose diagonal entry is not positive, or -1; only for positive definite matrices.
static int solver_bad_diagonal(const pcs_linsolve *self)
{
    const pcs_pattern *pattern = self->A->pattern;
    if (self->kind != PCS_SPD) return -1;
    for (int j = 0; j < pattern->layout->nown; j++)
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++)
            if (pattern->row[p] == j && !(self->A->value[p] > 0.0)) return j;
    return -1;
}

static PetscErrorCode solver_set_up(const pcs_linsolve *self, bool *is_singular)
{
    solver_data *d = self->data;
    PC pc;
    PCFailedReason reason;
    PetscCall(MatSetValuesCOO(d->A, self->A->value, INSERT_VALUES));
    PetscCall(KSPSetOperators(d->ksp, d->A, d->A));
    PetscCall(KSPSetUp(d->ksp));
    PetscCall(KSPSetUpOnBlocks(d->ksp));
    PetscCall(KSPGetPC(d->ksp, &pc));
    PetscCall(PCGetFailedReason(pc, &reason));
    *is_singular = reason != PC_NOERROR;
    return 0;
}

static pcs_status solver_factor(pcs_linsolve *self, bool *is_singular)
{
    solver_data *d = self->data;
    const pcs_comm *comm = self->A->pattern->layout->comm;
    self->bad_equation = solver_bad_diagonal(self);
    double is_bad = self->bad_equation >= 0;
    comm->max(comm, 1, &is_bad);
    *is_singular = is_bad > 0.0;
    if (*is_singular) return PCS_OK;
    PCS_PETSC(self->ctx, "factorization", solver_set_up(self, is_singular));
    is_bad = *is_singular;
    comm->max(comm, 1, &is_bad);
    *is_singular = is_bad > 0.0;
    // Makes the factor anew, as PETSc silently leaves all later matrices to a factor of MUMPS that has failed once.
    if (*is_singular) PCS_PETSC(self->ctx, "factorization", KSPReset(d->ksp));
    return PCS_OK;
}

static PetscErrorCode solver_run(const pcs_linsolve *self, bool with_copies, double *x, KSPConvergedReason *reason)
{
    solver_data *d = self->data;
    int own = self->A->pattern->layout->nown;
    const double *found;
    PetscCall(VecPlaceArray(d->b, x));
    PetscErrorCode code = KSPSolve(d->ksp, d->b, d->x);
    PetscCall(VecResetArray(d->b)); // after a failed solve, too, or the next one would fail because of it
    PetscCall(code);
    PetscCall(KSPGetConvergedReason(d->ksp, reason));
    PetscCall(VecGetArrayRead(d->x, &found));
    for (int i = 0; i < own; i++) x[i] = found[i]; // a rank without equations has no array
    memset(x + own, 0, (size_t)(self->A->pattern->n - own) * sizeof *x);
    PetscCall(VecRestoreArrayRead(d->x, &found));
    return with_copies ? copies_take(d->forest, x, x + own) : 0;
}

// Solves the system. On failure fills x with NAN, which the caller will notice, and records the reason.
static void solver_try(pcs_linsolve *self, bool with_copies, double *x)
{
    solver_data *d = self->data;
    const pcs_parallel *parallel = self->A->pattern->layout->comm->data;
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    PetscErrorCode code = solver_run(self, with_copies, x, &reason);
    if (code == 0 && reason > 0) return;
    PetscInt iterations = 0;
    (void)KSPGetIterationNumber(d->ksp, &iterations);
    if (code != 0) pcs_note(self->ctx, "PETSc: %s", parallel->fault);
    else
        pcs_note(self->ctx, "the linear solver of the %s matrix gave up after %d iterations (%s)",
                 self->label[0] == '\0' ? "step" : self->label, (int)iterations, KSPConvergedReasons[reason]);
    for (int i = 0; i < self->A->pattern->n; i++) x[i] = NAN;
}

static void solver_solve(pcs_linsolve *self, double *x)
{
    solver_try(self, true, x);
}

static void solver_solve_own(pcs_linsolve *self, double *x)
{
    solver_try(self, false, x);
}

static const pcs_linsolve_ops solver_petsc = {
    .name = "petsc",
    .summary = "Krylov methods and factorizations of PETSc",
    .data_size = sizeof(solver_data),
    .refuses = solver_refuses,
    .analyze = solver_analyze,
    .factor = solver_factor,
    .solve = solver_solve,
    .solve_own = solver_solve_own,
};

// Starts MPI and PETSc with the user's options, and finds out which of them nobody has asked for.

enum { PREFIX_ROOM = 256 };

// Options of a solver start like this, with or without the prefix of a matrix.
static const char *const start_families[] = { "-ksp_", "-pc_", "-sub_", "-mat_", "-mg_", NULL };
static const char *const start_prefixes[] = { "mass_", "iteration_", NULL };
// PETSc asks for these only when it ends.
static const char *const start_late[] = { "-options_left", "-log_view", "-malloc_dump", "-memory_view", NULL };

static bool start_is_one_of(const char *const *names, const char *text)
{
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], text) == 0) return true;
    return false;
}

static bool start_is_of_solver(const char *text)
{
    for (int i = 0; start_families[i] != NULL; i++)
        if (strncmp(text, start_families[i], strlen(start_families[i])) == 0) return true;
    return false;
}

// Returns true if a word starts with a sign and a letter and so names an option; -1e-3 is a value.
static bool start_is_name(const char *word)
{
    return word[0] == '-' && ((word[1] >= 'a' && word[1] <= 'z') || (word[1] >= 'A' && word[1] <= 'Z'));
}

static const char *start_value(const pcs_parallel *self, int i)
{
    return i + 1 < self->count && !start_is_name(self->option[i + 1]) ? self->option[i + 1] : NULL;
}

// Copies `-ksp_type x` of the user to `-<prefix>ksp_type x`, unless that is given.
static PetscErrorCode parallel_distributed_options(const pcs_parallel *self, const char *prefix)
{
    char name[PREFIX_ROOM];
    PetscBool is_given;
    for (int i = 0; i < self->count; i++) {
        if (!start_is_of_solver(self->option[i])) continue;
        snprintf(name, sizeof name, "-%s%s", prefix, self->option[i] + 1);
        PetscCall(PetscOptionsHasName(NULL, NULL, name, &is_given));
        if (!is_given) PetscCall(PetscOptionsSetValue(NULL, name, start_value(self, i)));
    }
    return 0;
}

static bool start_is_used(const char *name)
{
    char text[PREFIX_ROOM];
    PetscBool is_used = PETSC_FALSE;
    if (start_is_one_of(start_late, name)) return true;
    // PETSc expects names without the sign here.
    if (PetscOptionsUsed(NULL, name + 1, &is_used) == 0 && is_used) return true;
    for (int k = 0; start_prefixes[k] != NULL; k++) {
        snprintf(text, sizeof text, "%s%s", start_prefixes[k], name + 1);
        if (PetscOptionsUsed(NULL, text, &is_used) == 0 && is_used) return true;
    }
    return false;
}

static void parallel_unused_options(const pcs_comm *comm, size_t size, char *text)
{
    const pcs_parallel *self = comm->data;
    PetscBool unused;
    text[0] = '\0';
    for (int i = 0; i < self->count; i++) {
        const char *word = self->option[i];
        if (!start_is_name(word)) continue;
        if (start_is_used(word)) {
            (void)PetscOptionsHasName(NULL, NULL, word, &unused); // so that -options_left does not list it
            continue;
        }
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", used == 0 ? "" : ", ", word);
    }
}

// Stores the message of the place where the error arose instead of printing a trace.
static PetscErrorCode start_note_error(MPI_Comm comm, int line, const char *function, const char *file,
                                       PetscErrorCode code, PetscErrorType type, const char *message, void *object)
{
    pcs_parallel *self = object;
    (void)comm, (void)line, (void)function, (void)file;
    if (type == PETSC_ERROR_INITIAL) snprintf(self->fault, sizeof self->fault, "%s", message == NULL ? "" : message);
    // Keeps one line: the rest are hints for programmers.
    self->fault[strcspn(self->fault, "\n")] = '\0';
    return code;
}

static void start_end_petsc(void)
{
    PetscBool is_done = PETSC_FALSE;
    if (PetscFinalized(&is_done) == 0 && !is_done) (void)PetscFinalize();
}

static pcs_status start_petsc(pcs_context *ctx, int count, const char *const *options)
{
    PetscBool is_running = PETSC_FALSE;
    if (PetscInitialized(&is_running) != 0) return pcs_fail(ctx, PCS_FAILED, "PETSc does not answer");
    static char name[] = "percuss";
    char **argv;
    int argc = count + 1;
    PCS_TAKE(ctx, argv, count + 2, "options of PETSc");
    argv[0] = name;
    if (count > 0) memcpy(argv + 1, options, (size_t)count * sizeof *argv); // PETSc copies what it keeps
    if (is_running) {
        bool is_done = PetscOptionsClear(NULL) == 0 && PetscOptionsInsert(NULL, &argc, &argv, NULL) == 0;
        return is_done ? PCS_OK : pcs_fail(ctx, PCS_FAILED, "PETSc does not take the options");
    }
    // Leaves signals to the program: the first one ends the run after the present step.
    if (PetscInitialize(&argc, &argv, NULL, NULL) != 0 || PetscPopSignalHandler() != 0)
        return pcs_fail(ctx, PCS_FAILED, "PETSc could not be started");
    if (atexit(start_end_petsc) != 0) return pcs_fail(ctx, PCS_FAILED, "the end of PETSc could not be arranged");
    return PCS_OK;
}

static void start_release(void *object)
{
    pcs_parallel *self = object;
    (void)PetscPopErrorHandler();
    MPI_Comm_free(&self->world);
    MPI_Comm_free(&self->side);
}

// Returns true if an option asks for more than a report, or options come from the environment.
static bool start_are_asked(int count, const char *const *options)
{
    if (getenv("PETSC_OPTIONS") != NULL) return true;
    for (int i = 0; i < count; i++)
        if (start_is_name(options[i]) && !start_is_one_of(start_late, options[i])) return true;
    return false;
}

static pcs_status start_check_words(pcs_context *ctx, int count, const char *const *options)
{
    for (int i = 0; i < count; i++)
        if (!start_is_name(options[i]) && (i == 0 || !start_is_name(options[i - 1])))
            return pcs_fail(ctx, PCS_BAD_INPUT, "'%s' is no option of PETSc: options start with '-'", options[i]);
    return PCS_OK;
}

// Starts MPI and PETSc. The only name that the program looks up. `version` is that of the program, of the same build.
PETSC_EXTERN pcs_status pcs_parallel_start(pcs_context *ctx, const char *version, int count, const char *const *options)
    __attribute__((visibility("default")));
pcs_status pcs_parallel_start(pcs_context *ctx, const char *version, int count, const char *const *options)
{
    if (strcmp(version, PERCUSS_VERSION) != 0)
        return pcs_fail(ctx, PCS_UNSUPPORTED, "libpercuss_petsc.so is of version %s, the program of version %s",
                        PERCUSS_VERSION, version);
    PCS_TRY(start_petsc(ctx, count, options));
    pcs_parallel *self;
    PCS_TAKE(ctx, self, 1, "the communicator");
    self->option = options;
    self->count = count;
    MPI_Comm_dup(PETSC_COMM_WORLD, &self->world);
    MPI_Comm_dup(PETSC_COMM_WORLD, &self->side);
    self->comm = (pcs_comm){ .has_options = start_are_asked(count, options),
                             .sum = parallel_sum,
                             .max = parallel_max,
                             .gather = parallel_gather,
                             .collect = parallel_collect,
                             .plan_copies = parallel_plan_copies,
                             .return_copies = parallel_return_copies,
                             .take_copies = parallel_take_copies,
                             .exchange = parallel_exchange,
                             .agree = parallel_agree,
                             .partition = parallel_partition,
                             .unused_options = parallel_unused_options,
                             .solver = &solver_petsc,
                             .data = self };
    MPI_Comm_rank(self->world, &self->comm.rank);
    MPI_Comm_size(self->world, &self->comm.size);
    if (PetscPushErrorHandler(start_note_error, self) != 0) return pcs_fail(ctx, PCS_FAILED, "PETSc does not answer");
    PCS_TRY(pcs_defer(ctx, start_release, self));
    pcs_around(ctx)->comm = &self->comm;
    return start_check_words(ctx, count, options); // now that one rank can report for all
}

// Converts an error code of PETSc into an error with the message that PETSc gave.
static pcs_status parallel_fault(pcs_context *ctx, PetscErrorCode code, pcs_status status, const char *during)
{
    const pcs_parallel *self = pcs_context_comm(ctx)->data;
    const char *general = NULL;
    if (code == PETSC_ERR_MEM) status = PCS_NO_MEMORY;
    if (code == PETSC_ERR_ARG_UNKNOWN_TYPE || code == PETSC_ERR_USER_INPUT || code == PETSC_ERR_MISSING_FACTOR ||
        code == PETSC_ERR_ARG_OUTOFRANGE)
        status = PCS_BAD_INPUT;
    (void)PetscErrorMessage(code, &general, NULL);
    if (general == NULL) general = "unknown error";
    return pcs_fail(ctx, status, "PETSc, during the %s: %s", during, self->fault[0] != '\0' ? self->fault : general);
}
