// The owner of everything that is built for one simulation: memory, clean-up actions, last message.
//
// Objects take their memory at set-up and never give it back one by one: destroying the context
// runs the deferred actions in reverse order (closing third-party handles) and frees all chunks.

#ifndef PCS_CORE_CONTEXT_H
#define PCS_CORE_CONTEXT_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

// Fills *out or leaves it NULL (then memory ran out).
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

// Takes over the memory of another context, which must have no deferred actions, and destroys that; sets *from to NULL.
void pcs_context_adopt(pcs_context *ctx, pcs_context **from);

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
