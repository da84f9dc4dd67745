// Sums, maxima, agreements and partitions over the ranks.
//
// A reduction to rank 0 and a broadcast give every rank the same bits; MPI does not promise that of an all-reduction.

#define _POSIX_C_SOURCE 200809L // nanosleep, setenv

#include "parallel/parallel.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MESSAGE_ROOM = 16384 };
static const double patience = 10.0; // s, how long a rank with a fault waits to be heard

static void comm_reduce(const pcs_comm *comm, int count, double *x, MPI_Op operation)
{
    const pcs_parallel *self = comm->data;
    if (comm->size == 1) return;
    if (comm->rank == 0) MPI_Reduce(MPI_IN_PLACE, x, count, MPI_DOUBLE, operation, 0, self->world);
    else MPI_Reduce(x, NULL, count, MPI_DOUBLE, operation, 0, self->world);
    MPI_Bcast(x, count, MPI_DOUBLE, 0, self->world);
}

void pcs_parallel_sum(const pcs_comm *comm, int count, double *x)
{
    comm_reduce(comm, count, x, MPI_SUM);
}

void pcs_parallel_max(const pcs_comm *comm, int count, double *x)
{
    for (int i = 0; i < count; i++)
        if (isnan(x[i])) x[i] = INFINITY;
    comm_reduce(comm, count, x, MPI_MAX);
}

void pcs_parallel_gather(const pcs_comm *comm, size_t count, double *x)
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

enum { COLLECTED = 3 << 10 }; // numbers of a portion

// Who gives which entries to rank 0; other ranks know their own number of them.
typedef struct comm_plan {
    int *count;     // [size], or of this rank alone
    int **index;    // [size][count]
    double *buffer; // [COLLECTED]
} comm_plan;

static pcs_status comm_take_plan(pcs_context *ctx, const pcs_comm *comm, comm_plan *p)
{
    PCS_TAKE(ctx, p->index, comm->size, "the parts of ranks");
    for (int r = 1; r < comm->size; r++) PCS_TAKE(ctx, p->index[r], p->count[r], "the parts of ranks");
    PCS_TAKE(ctx, p->buffer, COLLECTED, "the parts of ranks");
    return PCS_OK;
}

pcs_status pcs_parallel_plan(const pcs_comm *comm, pcs_context *ctx, int count, const int *index, void **plan)
{
    const pcs_parallel *self = comm->data;
    comm_plan *p;
    PCS_TAKE(ctx, p, 1, "the parts of ranks");
    PCS_TAKE(ctx, p->count, comm->size, "the parts of ranks");
    *plan = p;
    MPI_Gather(&count, 1, MPI_INT, p->count, 1, MPI_INT, 0, self->world);
    pcs_status status = comm->rank == 0 ? comm_take_plan(ctx, comm, p) : PCS_OK;
    PCS_TRY(pcs_parallel_agree(comm, ctx, status, 0));
    if (comm->rank > 0) {
        MPI_Send(index, count, MPI_INT, 0, 0, self->world);
        p->count[0] = count;
        return PCS_OK;
    }
    for (int r = 1; r < comm->size; r++)
        MPI_Recv(p->index[r], p->count[r], MPI_INT, r, 0, self->world, MPI_STATUS_IGNORE);
    return PCS_OK;
}

static void comm_receive(const pcs_parallel *self, const comm_plan *p, int rank, int width, double *all)
{
    int portion = COLLECTED / width;
    for (int done = 0; done < p->count[rank]; done += portion) {
        int left = p->count[rank] - done, part = left < portion ? left : portion;
        const int *index = p->index[rank] + done;
        MPI_Recv(p->buffer, part * width, MPI_DOUBLE, rank, 0, self->world, MPI_STATUS_IGNORE);
        for (int i = 0; i < part; i++)
            for (int k = 0; k < width; k++)
                all[(size_t)index[i] * (size_t)width + (size_t)k] = p->buffer[i * width + k];
    }
}

void pcs_parallel_collect(const pcs_comm *comm, const void *plan, int width, const double *x, double *all)
{
    const pcs_parallel *self = comm->data;
    const comm_plan *p = plan;
    if (comm->rank == 0) {
        for (int r = 1; r < comm->size; r++) comm_receive(self, p, r, width, all);
        return;
    }
    int portion = COLLECTED / width;
    for (int done = 0; done < p->count[0]; done += portion) {
        int left = p->count[0] - done, part = left < portion ? left : portion;
        MPI_Send(x + (size_t)done * (size_t)width, part * width, MPI_DOUBLE, 0, 0, self->world);
    }
}

pcs_status pcs_parallel_plan_spread(const pcs_comm *comm, pcs_context *ctx, int count, pcs_spread *plan)
{
    const pcs_parallel *self = comm->data;
    pcs_status status = PCS_OK;
    plan->count = pcs_take(ctx, (size_t)comm->size, sizeof *plan->count, "what ranks share");
    plan->first = pcs_take(ctx, (size_t)comm->size + 1, sizeof *plan->first, "what ranks share");
    if (plan->count == NULL || plan->first == NULL) status = PCS_NO_MEMORY;
    PCS_TRY(pcs_parallel_agree(comm, ctx, status, 0));
    MPI_Allgather(&count, 1, MPI_INT, plan->count, 1, MPI_INT, self->world);
    plan->first[0] = 0;
    for (int r = 0; r < comm->size; r++) plan->first[r + 1] = plan->first[r] + plan->count[r];
    return PCS_OK;
}

void pcs_parallel_spread(const pcs_comm *comm, const pcs_spread *plan, const double *own, double *all)
{
    const pcs_parallel *self = comm->data;
    MPI_Allgatherv(own, plan->count[comm->rank], MPI_DOUBLE, all, plan->count, plan->first, MPI_DOUBLE, self->world);
}

// Waits for the other ranks; a rank with an error that is not heard in time ends all of them.
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

pcs_status pcs_parallel_agree(const pcs_comm *comm, pcs_context *ctx, pcs_status status, long long mark)
{
    const pcs_parallel *self = comm->data;
    if (comm->size == 1) return status;
    // The worst status first, then the lowest rank that has it.
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

pcs_status pcs_parallel_exchange(const pcs_comm *comm, pcs_context *ctx, const int *count, const int *start,
                                 const int *send, pcs_numbers *received)
{
    const pcs_parallel *self = comm->data;
    size_t size = (size_t)comm->size;
    int *counts = pcs_scratch(NULL, 2 * size, sizeof *counts), *first = counts + size;
    pcs_status status = counts == NULL ? pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: an exchange of ranks") : PCS_OK;
    *received = (pcs_numbers){ .count = counts };
    PCS_TRY(pcs_parallel_agree(comm, ctx, status, 0));
    MPI_Alltoall(count, 1, MPI_INT, counts, 1, MPI_INT, self->world);
    size_t total = 0;
    for (size_t r = 0; r < size; r++) {
        first[r] = (int)total;
        total += (size_t)counts[r];
    }
    received->value = total > INT_MAX ? NULL : pcs_scratch(NULL, total, sizeof *received->value);
    if (received->value == NULL) status = pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: an exchange of ranks");
    PCS_TRY(pcs_parallel_agree(comm, ctx, status, 0));
    MPI_Alltoallv(send, count, start, MPI_INT, received->value, counts, first, MPI_INT, self->world);
    return PCS_OK;
}

// Partitions the graph in one process and one thread: with more, PTScotch finds another partition every time.
static PetscErrorCode comm_partition(const pcs_comm *comm, int nvertex, const int *start, const int *neighbour,
                                     int *part)
{
    PetscInt *i, *j;
    PetscCall(PetscMalloc1((size_t)nvertex + 1, &i)); // PETSc frees both with the matrix
    PetscCall(PetscMalloc1((size_t)start[nvertex] + 1, &j));
    for (int k = 0; k <= nvertex; k++) i[k] = start[k];
    for (PetscInt k = 0; k < start[nvertex]; k++) j[k] = neighbour[k];
    Mat graph;
    MatPartitioning partitioning;
    IS found;
    setenv("SCOTCH_PTHREAD_NUMBER", "1", 1);
    PetscCall(MatCreateMPIAdj(PETSC_COMM_SELF, nvertex, nvertex, i, j, NULL, &graph));
    PetscCall(MatPartitioningCreate(PETSC_COMM_SELF, &partitioning));
    PetscCall(MatPartitioningSetAdjacency(partitioning, graph));
    PetscCall(MatPartitioningSetNParts(partitioning, comm->size));
    PetscCall(MatPartitioningSetType(partitioning, MATPARTITIONINGPTSCOTCH));
    PetscCall(MatPartitioningSetFromOptions(partitioning));
    PetscCall(MatPartitioningApply(partitioning, &found));
    const PetscInt *value;
    PetscCall(ISGetIndices(found, &value));
    for (int k = 0; k < nvertex; k++) part[k] = (int)value[k];
    PetscCall(ISRestoreIndices(found, &value));
    PetscCall(ISDestroy(&found));
    PetscCall(MatPartitioningDestroy(&partitioning));
    PetscCall(MatDestroy(&graph));
    return 0;
}

pcs_status pcs_parallel_partition(const pcs_comm *comm, pcs_context *ctx, int nvertex, const int *start,
                                  const int *neighbour, int *part)
{
    PCS_PETSC(ctx, "partition of the mesh", comm_partition(comm, nvertex, start, neighbour, part));
    return PCS_OK;
}
