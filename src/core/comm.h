// Communication between the processes of one run.
//
// A run of one process has no communicator (NULL) and makes none of these calls. Under `mpiexec` every rank
// reads the case and builds its share of nodes, cells and equations, and all ranks decide alike, because what they
// decide on is the same on all of them, bit for bit.

#ifndef PCS_CORE_COMM_H
#define PCS_CORE_COMM_H

#include "core/context.h"

typedef struct pcs_comm pcs_comm;

// Holds the partition of a distributed list: the number of entries of each rank, and the index of its first one.
typedef struct pcs_spread {
    int *count, *first; // [size], [size + 1]
} pcs_spread;

typedef struct pcs_numbers {
    int *count; // [size] from each rank
    int *value; // one after the other
} pcs_numbers;

struct pcs_comm {
    int rank, size;
    // In place over all ranks, with the same bits on every rank. A NaN anywhere makes the maximum infinite.
    void (*sum)(const pcs_comm *self, int count, double *x);
    void (*max)(const pcs_comm *self, int count, double *x);
    // In place on rank 0, for what is written there; the others' arrays are left as they are.
    void (*gather)(const pcs_comm *self, size_t count, double *x);
    // Entries that only some rank has, to rank 0: which of them, `index`, this rank will give is told once. Then x,
    // [count][width] here, goes to all[index[i]]; what rank 0 has itself stands there already, and it needs no x.
    pcs_status (*plan)(const pcs_comm *self, pcs_context *ctx, int count, const int *index, void **plan);
    void (*collect)(const pcs_comm *self, const void *plan, int width, const double *x, double *all);
    // Numbers that every rank has a few of, to all ranks: how many this one has is told once. Then `all` gets those of
    // rank 0, of rank 1, ...
    pcs_status (*plan_spread)(const pcs_comm *self, pcs_context *ctx, int count, pcs_spread *plan);
    void (*spread)(const pcs_comm *self, const pcs_spread *plan, const double *own, double *all);
    // Copies of numbers that other ranks own, of which this one owns nown: number[i] of copy i counts those of rank 0
    // first, then those of rank 1, ... `return_copies` adds copies to the numbers of their owners, in the same order
    // every time; `take_copies` fills them. All ranks take part.
    pcs_status (*plan_copies)(const pcs_comm *self, pcs_context *ctx, int nown, int ncopy, const int *number,
                              void **plan);
    void (*return_copies)(const pcs_comm *self, void *plan, const double *copy, double *own);
    void (*take_copies)(const pcs_comm *self, void *plan, const double *own, double *copy);
    // count[r] numbers from send[start[r]] on to every rank r, [size]; what the others send here, rank after rank, and
    // how much each, into scratch memory of the caller. All ranks fail alike.
    pcs_status (*exchange)(const pcs_comm *self, pcs_context *ctx, const int *count, const int *start, const int *send,
                           pcs_numbers *received);
    // The worst status of all ranks, with the message of the first rank that has it. A rank with a fault that the
    // others never come to hear, because they wait for it elsewhere, ends all of them after a few seconds.
    // `mark` >= 0 stands for what all ranks should have found alike; where they have not, that is a fault.
    pcs_status (*agree)(const pcs_comm *self, pcs_context *ctx, pcs_status status, long long mark);
    // part[i] in 0 .. size-1 for the vertices of a graph, the same every time; one rank calls it alone. Vertex i has
    // the neighbours neighbour[start[i]] .. neighbour[start[i+1] - 1].
    pcs_status (*partition)(const pcs_comm *self, pcs_context *ctx, int nvertex, const int *start, const int *neighbour,
                            int *part);
    // The options after `--` that nothing has asked for so far, as text; empty when there are none.
    void (*unused_options)(const pcs_comm *self, size_t size, char *text);
    const void *solver; // the table of the linear solver that comes with it
    void *data;
};

// The communicator of this run, or NULL.
const pcs_comm *pcs_context_comm(const pcs_context *ctx);
void pcs_context_set_comm(pcs_context *ctx, const pcs_comm *comm);

// The first of `count` things, in order, that a rank has of them, where each has an equal share.
static inline int pcs_comm_first(const pcs_comm *comm, int rank, int count)
{
    return (int)((long long)count * rank / comm->size);
}

// status of this rank -> status of all.
static inline pcs_status pcs_comm_agree(pcs_context *ctx, pcs_status status)
{
    const pcs_comm *comm = pcs_context_comm(ctx);
    return comm == NULL ? status : comm->agree(comm, ctx, status, 0);
}

// PCS_BAD_INPUT on all ranks unless all have the same hash; `what` names what it stands for. A fault of any rank comes
// first.
pcs_status pcs_comm_demand_same(pcs_context *ctx, pcs_status status, unsigned long long hash, const char *what);

// Finds *begin, the index of this rank's first entry in a list ordered by rank, and *total, the length of the list.
pcs_status pcs_comm_begin(pcs_context *ctx, const pcs_comm *comm, int mine, int *begin, int *total);

// Sends answers to what `exchange` brought, of which each rank has sent count[]: `told` numbers for every `asked` ones,
// in the same order. The counts become those of the answers, which have room for as many numbers more as there are
// ranks.
pcs_status pcs_comm_answer(pcs_context *ctx, int *count, int asked, int told, int *answers, pcs_numbers *out);

// Is this the process that writes results and messages?
static inline bool pcs_is_root(const pcs_context *ctx)
{
    const pcs_comm *comm = pcs_context_comm(ctx);
    return comm == NULL || comm->rank == 0;
}

// Was this process started by mpiexec, srun or the like?
bool pcs_comm_is_launched(void);

// The user's options of PETSc, [count] words that must outlive the context.
void pcs_context_set_options(pcs_context *ctx, int count, const char *const *options);
int pcs_context_options(const pcs_context *ctx, const char *const **options);

// Loads the shared object with MPI and PETSc and starts both with the user's options; nothing when that was done.
// PCS_UNSUPPORTED when Percuss was built without it.
pcs_status pcs_comm_start(pcs_context *ctx);

#endif
