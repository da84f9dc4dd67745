// The owner of everything that is built for one simulation: memory, clean-up actions, last message.
//
// Objects take their memory at set-up and never return it one by one: destroying the context
// runs the deferred actions in reverse order (closing third-party handles) and frees all chunks.

#ifndef PCS_CORE_CONTEXT_H
#define PCS_CORE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

// Defines the status that calls return, and stores its message in the context.
//
// A fault (bad case, no memory, no disk, degenerate element) is a status other than PCS_OK with a
// message in the context. An outcome (not converged, singular, not finite) is a field of a report
// that comes with PCS_OK. A bug is an assert.

typedef enum pcs_status {
    PCS_OK = 0,
    PCS_BAD_INPUT,   // the case or the command line is wrong
    PCS_UNSUPPORTED, // a combination of valid parts that does not go together
    PCS_NO_MEMORY,
    PCS_IO_ERROR, // a file could not be read or written
    PCS_FAILED    // the simulation could not go on
} pcs_status;

typedef struct pcs_context pcs_context;

// Stores the message and returns `status`, so that a failing function ends with `return pcs_fail(...)`.
pcs_status pcs_fail(pcs_context *ctx, pcs_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Prepends "<context>: " to the stored message while a fault is passed up. Returns `status`.
pcs_status pcs_wrap(pcs_context *ctx, pcs_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Returns the stored message, "" if nothing has failed.
const char *pcs_message(const pcs_context *ctx);

// Stores the reason why something did not work that has no status of its own, for a later message; "" for none.
void pcs_note(pcs_context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *pcs_noted(const pcs_context *ctx);

#define PCS_TRY(call)                                          \
    do {                                                       \
        pcs_status pcs_try_status_ = (call);                   \
        if (pcs_try_status_ != PCS_OK) return pcs_try_status_; \
    } while (0)

// Fills *out, or sets it to NULL if out of memory.
pcs_status pcs_context_create(pcs_context **out);

// Destroys the context and sets *ctx to NULL; accepts NULL and pointers to NULL.
void pcs_context_destroy(pcs_context **ctx);

// Allocates `count` zeroed objects of `size` bytes, 64-byte aligned, that live as long as the context.
// Returns NULL if memory is out, with a message that names `what`; a valid pointer for a count of 0.
// Pads the memory with zeros to a multiple of 64 bytes, for loops over pcs_whole_vectors entries.
void *pcs_take(pcs_context *ctx, size_t count, size_t size, const char *what);
// Allocates bytes that are not zeroed, for buffers that most runs use in part.
void *pcs_take_room(pcs_context *ctx, size_t bytes, const char *what);

// Copies `text` to memory that lives as long as the context, NULL if memory is out.
char *pcs_take_text(pcs_context *ctx, const char *text);
// Returns "<section>.<name>", the path of a part of the case, owned by the context; NULL if memory is exhausted.
const char *pcs_culprit(pcs_context *ctx, const char *section, const char *name);

// Calls action(object) when the context is destroyed; at once if this cannot be registered.
pcs_status pcs_defer(pcs_context *ctx, void (*action)(void *object), void *object);

// Other processes, threads and simulations beside this one; each is set by its owner.
typedef struct pcs_surroundings {
    const struct pcs_comm *comm; // NULL if this process is alone
    struct pcs_pool *pool;       // NULL for one thread
    int beside;                  // number of other simulations on the same processors
    int noption;
    const char *const *options; // [noption] words for PETSc, which must outlive the context
} pcs_surroundings;
pcs_surroundings *pcs_around(const pcs_context *ctx);

// Returns the number of bytes allocated so far.
size_t pcs_bytes_taken(const pcs_context *ctx);

// Takes memory or returns PCS_NO_MEMORY from the calling function.
#define PCS_TAKE(ctx, pointer, count, what)                                      \
    do {                                                                         \
        (pointer) = pcs_take((ctx), (size_t)(count), sizeof *(pointer), (what)); \
        if ((pointer) == NULL) return PCS_NO_MEMORY;                             \
    } while (0)
// Allocates arrays of one length and one type, whose addresses are given.
#define PCS_TAKE_EACH(ctx, count, what, type, ...)                                                                \
    do {                                                                                                          \
        type **const each[] = { __VA_ARGS__ };                                                                    \
        for (size_t take = 0; take < sizeof each / sizeof *each; take++) PCS_TAKE(ctx, *each[take], count, what); \
    } while (0)

// Allocates or grows a scratch buffer that the caller frees, for set-up code only.
void *pcs_scratch(void *old, size_t count, size_t size);
void pcs_scratch_free(void *buffer);

#endif
