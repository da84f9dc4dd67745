// Communication between the processes of one run.
//
// A run of one process has no communicator (NULL) and makes none of these calls. Under `mpiexec` every rank
// reads the case and builds its share of nodes, cells and equations, and all ranks decide alike, because what they
// decide on is the same on all of them, bit for bit.

#ifndef PCS_CORE_COMM_H
#define PCS_CORE_COMM_H

#include "core/context.h"

typedef struct pcs_comm pcs_comm;

typedef struct pcs_numbers {
    int *count; // [size] number of values from each rank
    int *value; // values, rank after rank
} pcs_numbers;

// Vertices with weights and their neighbours: those of i are neighbour[start[i]] .. neighbour[start[i + 1] - 1].
typedef struct pcs_graph {
    int count, *weight;     // [count]
    int *start, *neighbour; // [count + 1], [start[count]]
} pcs_graph;

struct pcs_comm {
    int rank, size;
    // Sum and maximum over all ranks, in place, with the same bits on every rank. A NaN makes the maximum infinite.
    void (*sum)(const pcs_comm *self, int count, double *x);
    void (*max)(const pcs_comm *self, int count, double *x);
    // Adds the arrays of all ranks on rank 0, which writes. Arrays of other ranks stay unchanged.
    void (*gather)(const pcs_comm *self, size_t count, double *x);
    // Exchange ghost copies of numbers that other ranks own; this one owns nown. number[i] of copy i counts those of
    // rank 0 first, then those of rank 1, ... `return_copies` adds copies to the numbers of their owners, always in the
    // same order; `take_copies` fills copies from their owners; `collect` replaces records of `width` numbers of the
    // owners by their copies. Collective.
    pcs_status (*plan_copies)(const pcs_comm *self, pcs_context *ctx, int nown, int ncopy, const int *number,
                              void **plan);
    void (*return_copies)(const pcs_comm *self, void *plan, const double *copy, double *own);
    void (*take_copies)(const pcs_comm *self, void *plan, const double *own, double *copy);
    void (*collect)(const pcs_comm *self, void *plan, int width, const double *copy, double *own);
    // Sends count[r] numbers from send[start[r]] on to every rank r, [size]. Receives numbers, rank after rank, and
    // their counts, in scratch memory of the caller. All ranks fail alike.
    pcs_status (*exchange)(const pcs_comm *self, pcs_context *ctx, const int *count, const int *start, const int *send,
                           pcs_numbers *received);
    // Returns the worst status of all ranks, with the message of the first rank that has it. If other ranks wait
    // elsewhere, a rank with an error ends all of them after a few seconds. `mark` >= 0 is a result that must be the
    // same on all ranks, otherwise it is an error.
    pcs_status (*agree)(const pcs_comm *self, pcs_context *ctx, pcs_status status, long long mark);
    // Partitions a graph: part[i] in 0 .. size-1 for vertex i. Reproducible; one rank calls it alone.
    pcs_status (*partition)(const pcs_comm *self, pcs_context *ctx, const pcs_graph *graph, int *part);
    // Writes the options after `--` that no solver has used so far; empty if there are none.
    void (*unused_options)(const pcs_comm *self, size_t size, char *text);
    bool has_options;   // the user gives options of PETSc
    const void *solver; // table of its linear solver
    void *data;
};

// Returns the communicator of this run, NULL if there is none.
static inline const pcs_comm *pcs_context_comm(const pcs_context *ctx)
{
    return pcs_around(ctx)->comm;
}

// Collects entries of a list, of which each process has some, on the process that writes.
typedef struct pcs_collector {
    const pcs_comm *comm; // NULL in one process
    int count, nall;      // number of entries here, and of all entries on the process that writes (0 elsewhere)
    const int *number;    // [count] indices in the list; several processes may have one; NULL if all are here, in order
    void *plan;
    double *all; // [nall][width]
} pcs_collector;

// Plans it for entries of up to `width` numbers. Collective. `number` is borrowed, NULL if each process has all.
pcs_status pcs_collector_create(pcs_context *ctx, int count, const int *number, int nall, int width,
                                pcs_collector *out);
// Returns own[count][width] of all processes in the order of one process, valid until the next call. NULL on processes
// that do not write. Collective.
const double *pcs_collect(const pcs_collector *self, int width, const double *own);

// Copies of numbers of other processes, for data that do not follow the equations.
typedef struct pcs_copies {
    const pcs_comm *comm; // NULL in one process
    void *plan;
} pcs_copies;

// Plans it; number[nown + ncopy] are the indices of own entries and of copies in a list of `nall`. Collective.
pcs_status pcs_copies_create(pcs_context *ctx, int nall, int nown, int ncopy, const int *number, pcs_copies *out);
// Fills copies from their owners, or adds copies to the numbers of their owners. Collective.
static inline void pcs_copies_take(const pcs_copies *self, const double *own, double *copy)
{
    if (self->comm != NULL) self->comm->take_copies(self->comm, self->plan, own, copy);
}
static inline void pcs_copies_return(const pcs_copies *self, const double *copy, double *own)
{
    if (self->comm != NULL) self->comm->return_copies(self->comm, self->plan, copy, own);
}

// Returns the first of `count` items that belongs to a rank if all ranks have equal parts in order.
static inline int pcs_comm_first(const pcs_comm *comm, int rank, int count)
{
    return (int)((long long)count * rank / comm->size);
}

// Returns the worst status of all ranks. Collective.
static inline pcs_status pcs_agree(pcs_context *ctx, pcs_status status)
{
    const pcs_comm *comm = pcs_context_comm(ctx);
    return comm == NULL ? status : comm->agree(comm, ctx, status, 0);
}

// Returns the same; `mark` is a result that must be the same in all processes, a fault if it is not. Collective.
static inline pcs_status pcs_agree_on(pcs_context *ctx, pcs_status status, long long mark)
{
    const pcs_comm *comm = pcs_context_comm(ctx);
    return comm == NULL ? status : comm->agree(comm, ctx, status, mark);
}

// Writes the options of PETSc that no solver has used so far; empty if there are none.
static inline void pcs_unused_options(const pcs_context *ctx, size_t size, char *text)
{
    const pcs_comm *comm = pcs_context_comm(ctx);
    text[0] = '\0';
    if (comm != NULL) comm->unused_options(comm, size, text);
}

// Returns true if the run communicates, even with one process.
static inline bool pcs_is_parallel(const pcs_context *ctx)
{
    return pcs_context_comm(ctx) != NULL;
}

// Returns the number of processes of the run. pcs_process_number returns the rank of this one.
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

// Returns PCS_BAD_INPUT on all ranks unless all have the same hash, explained by `what`. A fault of a rank comes first.
pcs_status pcs_demand_same(pcs_context *ctx, pcs_status status, unsigned long long hash, const char *what);

// Finds *begin, the index of this rank's first entry in a list ordered by rank, and *total, the length of the list.
pcs_status pcs_process_begin(pcs_context *ctx, int mine, int *begin, int *total);

// Sends a list of `count` records of `width` numbers, of which each process has some, to all processes. Block by block
// `give` puts its own records, >= 0, into block[i - low], and `take` sees all of them, -1 where no process has the
// record. Unless the list is shared every process has all of it. Collective.
typedef struct pcs_records {
    void (*give)(void *owner, int low, int high, double *block);
    void (*take)(void *owner, int low, int high, const double *block);
    void *owner;
} pcs_records;
pcs_status pcs_publish(pcs_context *ctx, bool is_shared, int count, int width, const pcs_records *records);

// Returns true for the process that writes results and messages.
static inline bool pcs_is_root(const pcs_context *ctx)
{
    const pcs_comm *comm = pcs_context_comm(ctx);
    return comm == NULL || comm->rank == 0;
}

// Returns true if this process was started by mpiexec, srun or the like.
bool pcs_processes_are_launched(void);

// Loads the shared object with MPI and PETSc and starts both with the user's options, once. Fails with PCS_UNSUPPORTED
// if Percuss was built without it.
pcs_status pcs_processes_start(pcs_context *ctx);

#endif
