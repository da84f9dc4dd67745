// Results of all processes of a run, put together in the order of one process. In one process nothing is done.

#ifndef PCS_OUTPUT_COLLECT_H
#define PCS_OUTPUT_COLLECT_H

#include "core/comm.h"
#include "system/system.h"

// Entries of a list of which each process has some, for the one that writes.
typedef struct pcs_collect {
    const pcs_comm *comm; // NULL: all entries are here
    int count;            // of this process
    const int *number;    // [count] their places in the list
    void *plan;
} pcs_collect;

// All processes take part. `number` is borrowed.
pcs_status pcs_collect_create(pcs_context *ctx, int count, const int *number, pcs_collect *out);
// Puts own[count][width] of every process to all[][width] on the one that writes; all processes take part.
void pcs_collect_put(const pcs_collect *self, int width, const double *own, double *all);

// Return the number of processes of the run, and the rank of this one.
static inline int pcs_process_count(const pcs_context *ctx)
{
    return pcs_context_comm(ctx) == NULL ? 1 : pcs_context_comm(ctx)->size;
}
static inline int pcs_process_number(const pcs_context *ctx)
{
    return pcs_context_comm(ctx) == NULL ? 0 : pcs_context_comm(ctx)->rank;
}

// Replaces each number by the largest of all processes.
static inline void pcs_process_max(const pcs_context *ctx, int count, double *x)
{
    const pcs_comm *comm = pcs_context_comm(ctx);
    if (comm != NULL) comm->max(comm, count, x);
}

// Returns the worst status of all processes.
static inline pcs_status pcs_agree(pcs_context *ctx, pcs_status status)
{
    return pcs_comm_agree(ctx, status);
}

// True if rows are distributed: each process has only its own.
static inline bool pcs_rows_are_spread(const pcs_system *system)
{
    return system->row_comm != NULL;
}

// Replaces each number found of the rows here by the largest of all processes.
static inline void pcs_rows_max_each(const pcs_system *system, int count, double *x)
{
    if (system->row_comm != NULL) system->row_comm->max(system->row_comm, count, x);
}

#endif
