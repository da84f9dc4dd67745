#define _POSIX_C_SOURCE 200809L // readlink

#include "core/comm.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

typedef pcs_status comm_starter(pcs_context *ctx, const char *version, int count, const char *const *options);

bool pcs_processes_are_launched(void)
{
    static const char *const traces[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", NULL };
    for (int i = 0; traces[i] != NULL; i++)
        if (getenv(traces[i]) != NULL) return true;
    return false;
}

// Opens the shared object beside the program, or in the library folder if the program is in bin/ (the parent of any
// other folder may be writable by others), else along the search path of the loader.
static void *comm_open(const char *name)
{
    static const char *const places[] = { "", "../" PERCUSS_LIBDIR "/" };
    char program[PATH_ROOM], path[2 * PATH_ROOM];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return NULL;
    program[length] = '\0';
    *(strrchr(program, '/') + 1) = '\0';
    length = (ssize_t)strlen(program);
    int nplace = length >= 5 && strcmp(program + length - 5, "/bin/") == 0 ? 2 : 1;
    for (int i = 0; i < nplace; i++) {
        snprintf(path, sizeof path, "%s%s%s", program, places[i], name);
        // MPI loads parts of itself, which must find its symbols.
        if (access(path, R_OK) == 0) return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    }
    return dlopen(name, RTLD_NOW | RTLD_GLOBAL);
}

pcs_status pcs_processes_start(pcs_context *ctx)
{
    const pcs_surroundings *around = pcs_around(ctx);
    if (around->comm != NULL) return PCS_OK;
    if (PERCUSS_HAS_PETSC == 0) return pcs_fail(ctx, PCS_UNSUPPORTED, "this build of Percuss has no MPI and no PETSc");
    void *object = comm_open("libpercuss_petsc.so");
    if (object == NULL) {
        const char *reason = dlerror();
        return pcs_fail(ctx, PCS_UNSUPPORTED, "MPI and PETSc cannot be loaded: %s",
                        reason == NULL ? "the program does not find itself" : reason);
    }
    // Keeps the object loaded, as MPI and PETSc cannot be started twice in a process.
    comm_starter *start = NULL;
    void *symbol = dlsym(object, "pcs_parallel_start");
    memcpy(&start, &symbol, sizeof start);
    if (start == NULL) return pcs_fail(ctx, PCS_UNSUPPORTED, "libpercuss_petsc.so has no symbol pcs_parallel_start");
    return start(ctx, PERCUSS_VERSION, around->noption, around->options);
}

pcs_status pcs_demand_same(pcs_context *ctx, pcs_status status, unsigned long long hash, const char *what)
{
    const pcs_comm *comm = pcs_context_comm(ctx);
    double high = (double)(hash >> 32), low = (double)(hash & 0xffffffffU), ends[] = { high, -high, low, -low };
    PCS_TRY(pcs_agree(ctx, status));
    if (comm == NULL) return PCS_OK;
    comm->max(comm, 4, ends);
    if (ends[0] + ends[1] == 0.0 && ends[2] + ends[3] == 0.0) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT, "the ranks do not have the same %s", what);
}

pcs_status pcs_process_begin(pcs_context *ctx, int mine, int *begin, int *total)
{
    const pcs_comm *comm = pcs_context_comm(ctx);
    double *all = pcs_scratch(NULL, (size_t)comm->size, sizeof *all), sum = 0.0;
    pcs_status status = all == NULL ? pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: %d ranks", comm->size) : PCS_OK;
    PCS_TRY(pcs_agree(ctx, status));
    for (int r = 0; r < comm->size; r++) all[r] = r == comm->rank ? mine : 0.0;
    comm->sum(comm, comm->size, all);
    for (int r = 0; r < comm->size; r++) {
        if (r == comm->rank) *begin = (int)sum;
        sum += all[r];
    }
    *total = (int)sum;
    pcs_scratch_free(all);
    return PCS_OK;
}

enum { PUBLISH_BLOCK = 1 << 15 }; // records of a block

pcs_status pcs_publish(pcs_context *ctx, bool is_shared, int count, int width, const pcs_records *records)
{
    const pcs_comm *comm = is_shared ? pcs_context_comm(ctx) : NULL;
    int most = count < PUBLISH_BLOCK ? count : PUBLISH_BLOCK;
    double *block = pcs_scratch(NULL, (size_t)most * (size_t)width + 1, sizeof *block);
    pcs_status status = block == NULL ? pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: a list of %d", count) : PCS_OK;
    if (comm != NULL) status = pcs_agree(ctx, status);
    if (status != PCS_OK) count = 0;
    for (int low = 0, high; low < count; low = high) {
        high = count - low < most ? count : low + most;
        for (int i = 0; i < (high - low) * width; i++) block[i] = -1.0;
        records->give(records->owner, low, high, block);
        if (comm != NULL) comm->max(comm, (high - low) * width, block);
        records->take(records->owner, low, high, block);
    }
    pcs_scratch_free(block);
    return status;
}

pcs_status pcs_collector_create(pcs_context *ctx, int count, const int *number, int nall, int width, pcs_collector *out)
{
    const pcs_comm *comm = number == NULL ? NULL : pcs_context_comm(ctx);
    *out = (pcs_collector){ .comm = comm, .count = count, .nall = count, .number = number };
    if (number == NULL) return PCS_OK;
    out->nall = pcs_is_root(ctx) ? nall : 0;
    out->all = pcs_take(ctx, (size_t)out->nall * (size_t)width, sizeof *out->all, "results of all processes");
    PCS_TRY(pcs_agree(ctx, out->all == NULL ? PCS_NO_MEMORY : PCS_OK));
    if (comm == NULL) return PCS_OK;
    return comm->plan_copies(comm, ctx, out->nall, pcs_is_root(ctx) ? 0 : count, number, &out->plan);
}

const double *pcs_collect(const pcs_collector *self, int width, const double *own)
{
    size_t n = (size_t)width;
    if (self->number == NULL) return own;
    bool is_writer = self->comm == NULL || self->comm->rank == 0;
    for (int j = 0; j < (is_writer ? self->count : 0); j++)
        memcpy(self->all + (size_t)self->number[j] * n, own + (size_t)j * n, n * sizeof *own);
    if (self->comm != NULL) self->comm->collect(self->comm, self->plan, width, own, self->all);
    return is_writer ? self->all : NULL;
}

// Finds the indices of copies among own entries, rank after rank. Each rank keeps a part of a directory of owners.
pcs_status pcs_copies_create(pcs_context *ctx, int nall, int nown, int ncopy, const int *number, pcs_copies *out)
{
    const pcs_comm *comm = out->comm = pcs_context_comm(ctx);
    int begin, total, count = nown + ncopy;
    void *put, *get;
    if (comm == NULL) return PCS_OK;
    int nregister = pcs_comm_first(comm, comm->rank + 1, nall) - pcs_comm_first(comm, comm->rank, nall);
    int *index = pcs_scratch(NULL, (size_t)ncopy, sizeof *index);
    double *entry = pcs_scratch(NULL, (size_t)nregister + (size_t)count, sizeof *entry), *value = entry + nregister;
    pcs_status status = index == NULL || entry == NULL ? PCS_NO_MEMORY : PCS_OK;
    if (status != PCS_OK) pcs_fail(ctx, status, "out of memory: copies of %d numbers", ncopy);
    status = pcs_agree(ctx, status);
    if (status == PCS_OK) status = pcs_process_begin(ctx, nown, &begin, &total);
    if (status == PCS_OK) status = comm->plan_copies(comm, ctx, nregister, nown, number, &put);
    if (status == PCS_OK) status = comm->plan_copies(comm, ctx, nregister, ncopy, number + nown, &get);
    if (status == PCS_OK) {
        memset(entry, 0, (size_t)nregister * sizeof *entry);
        for (int i = 0; i < count; i++) value[i] = begin + i;
        comm->return_copies(comm, put, value, entry);
        comm->take_copies(comm, get, entry, value);
        for (int i = 0; i < ncopy; i++) index[i] = (int)value[i];
        status = comm->plan_copies(comm, ctx, nown, ncopy, index, &out->plan);
    }
    pcs_scratch_free(index);
    pcs_scratch_free(entry);
    return status;
}
