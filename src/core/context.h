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

// Accepts NULL and pointers to NULL; sets *ctx to NULL.
void pcs_context_destroy(pcs_context **ctx);

// `count` zeroed objects of `size` bytes, 64-byte aligned, living as long as the context.
// NULL when memory ran out; the message then names `what`. A count of 0 gives a valid pointer.
// Their memory is padded with zeros to a multiple of 64 bytes, for loops over pcs_whole_vectors entries.
void *pcs_take(pcs_context *ctx, size_t count, size_t size, const char *what);
// The same, not zeroed: for buffers, of which most runs use a part.
void *pcs_take_room(pcs_context *ctx, size_t bytes, const char *what);

// A copy of `text` living as long as the context, or NULL.
char *pcs_take_text(pcs_context *ctx, const char *text);

// Calls action(object) when the context is destroyed. On failure the action is run at once.
pcs_status pcs_defer(pcs_context *ctx, void (*action)(void *object), void *object);

// Takes over what another context owns, which has no deferred actions, and destroys that; sets *from to NULL.
void pcs_context_adopt(pcs_context *ctx, pcs_context **from);

// Bytes taken so far.
size_t pcs_bytes_taken(const pcs_context *ctx);

// Takes memory or returns PCS_NO_MEMORY from the calling function.
#define PCS_TAKE(ctx, pointer, count, what)                                      \
    do {                                                                         \
        (pointer) = pcs_take((ctx), (size_t)(count), sizeof *(pointer), (what)); \
        if ((pointer) == NULL) return PCS_NO_MEMORY;                             \
    } while (0)

// A scratch buffer that grows and is given back by hand, for set-up code only.
void *pcs_scratch(void *old, size_t count, size_t size);
void pcs_scratch_free(void *buffer);

#endif
