// Archives the state that lasts from step to step: one function declares each piece, and counts, writes or reads it.
//
//   void part_carry(part *self, pcs_archive *c)
//   {
//       pcs_archive_part(c, "part");
//       pcs_archive_words(c, "sums", self->sums, 3);
//       pcs_archive_int(c, "count", &self->count);
//   }
//
// A piece is its name, its size and its bytes: numbers of eight bytes, single bytes, flags of 0 or 1; never a struct
// with gaps. Reading is strict: the same pieces of the same sizes in the same order. The first fault stays, and after
// it nothing is read any more.
//
// Over several ranks all of them call alike. What is the same on all ranks is written once; vectors over the equations
// are put together in the order that they have in one process, so that any number of ranks can read them.

#ifndef PCS_CORE_ARCHIVE_H
#define PCS_CORE_ARCHIVE_H

#include "core/comm.h"
#include "core/memory.h"

#include <stdbool.h>

typedef enum pcs_archive_mode { PCS_ARCHIVE_COUNT, PCS_ARCHIVE_WRITE, PCS_ARCHIVE_READ } pcs_archive_mode;

typedef struct pcs_archive {
    pcs_context *ctx;
    pcs_archive_mode mode; // count, write or read bytes
    const char *source;    // file that is read, for messages
    const char *part;      // name of the part of the next pieces
    unsigned char *bytes;  // [size]; unused if `put` takes the bytes
    size_t size, used;
    void (*put)(void *sink, const void *bytes, size_t size);
    void *sink;
    pcs_status status; // first fault
    // Numbering over several ranks
    const pcs_comm *comm;      // NULL if this process has all equations
    int nequation, nown, nall; // number of equations here, owned by this rank, of all ranks
    const int *serial;         // [nequation] their indices in one process, ascending for those of this rank
    // Indices in one process of contact rows, then of compliant points, if each rank has its own. NULL if all are here.
    const int *row_number;
    int nrow_all, npoint_all; // number of rows, and of rows and points, of all ranks
    double *work;             // [work_size] for a portion of the numbers of all ranks, NULL if nothing is exchanged
    size_t work_size;         // size, or the size needed after counting
} pcs_archive;

static inline bool pcs_archive_reads(const pcs_archive *c)
{
    return c->mode == PCS_ARCHIVE_READ && c->status == PCS_OK;
}

// Sets the part to which the following pieces belong; `name` is borrowed.
void pcs_archive_part(pcs_archive *c, const char *name);
void pcs_archive_bytes(pcs_archive *c, const char *name, void *bytes, size_t size);
void pcs_archive_words(pcs_archive *c, const char *name, void *words, size_t count); // doubles and longs
// Serializes a vector over the equations, [count] here.
void pcs_archive_vector(pcs_archive *c, const char *name, double *x, int count);
// Serializes `size` bytes of every contact row: words if `size` is a multiple of eight, else up to eight flags.
typedef struct pcs_archive_table {
    void *first;
    size_t count, stride, size;
    bool has_laws; // rows of compliant points follow
} pcs_archive_table;
void pcs_archive_rows(pcs_archive *c, const char *name, const pcs_archive_table *rows);
// Serializes memory that a part has declared.
void pcs_archive_memory(pcs_archive *c, const char *name, const pcs_memory *memory);
void pcs_archive_flags(pcs_archive *c, const char *name, bool *flags, size_t count);
void pcs_archive_int(pcs_archive *c, const char *name, int *x);
// Serializes an integer that must be in [low, high] when it is read.
void pcs_archive_index(pcs_archive *c, const char *name, int *x, int low, int high);
// Sets PCS_BAD_INPUT, with a message, because the data do not fit.
void pcs_archive_refuse(pcs_archive *c, const char *name, const char *what);

// Returns true if the next piece has this name. For reading only.
bool pcs_archive_is_next(const pcs_archive *c, const char *name);
// Seeks a piece by its full name, "state.q", and returns its size. False if there is none.
bool pcs_archive_seek(pcs_archive *c, const char *full, size_t *size);

// Hashes words of eight bytes by FNV-1a, starting from `hash`: any change of one word shows, at the cost of copying.
#define PCS_HASH_START 14695981039346656037ULL
unsigned long long pcs_hash(unsigned long long hash, const void *bytes, size_t size);

// Mixes the bits of a number, so that neighbouring ones have nothing in common: the last part of splitmix64.
static inline unsigned long long pcs_mix(unsigned long long x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}
#define PCS_MIX_STEP 0x9e3779b97f4a7c15ULL // 2^64 over the golden ratio

// Returns the number in [-1, 1] that mixed bits stand for.
static inline double pcs_draw(unsigned long long mixed)
{
    return (double)(mixed >> 11) * 0x1p-52 - 1.0;
}

// The same hash for bytes in portions of any size.
typedef struct pcs_digest {
    unsigned long long sum; // hash of complete words
    unsigned char rest[8];  // [nrest] bytes of the next word
    size_t nrest;
} pcs_digest;
#define PCS_DIGEST_START ((pcs_digest){ .sum = PCS_HASH_START })
void pcs_digest_add(pcs_digest *d, const void *bytes, size_t size);
unsigned long long pcs_digest_value(const pcs_digest *d);

#endif
