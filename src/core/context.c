#include "core/context.h"

#include "core/alloc.h"

#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { ALIGNMENT = 64, CHUNK_BYTES = 1 << 16, MESSAGE_BYTES = 16384, NOTE_BYTES = 256 };

typedef struct chunk {
    struct chunk *next;
    char *free_from; // first unused byte
    char *end;
} chunk;

typedef struct deferred {
    struct deferred *next;
    void (*action)(void *object);
    void *object;
} deferred;

struct pcs_context {
    chunk *chunks;
    deferred *actions; // newest first
    size_t bytes_taken;
    pcs_surroundings *around, own; // the first points to the second
    char note[NOTE_BYTES];
    char message[MESSAGE_BYTES];
};

pcs_status pcs_context_create(pcs_context **out)
{
    pcs_context *ctx = pcs_alloc(sizeof *ctx);
    *out = ctx;
    if (ctx == NULL) return PCS_NO_MEMORY;
    memset(ctx, 0, offsetof(pcs_context, note)); // an empty text needs only its first character to be zero
    ctx->around = &ctx->own;
    ctx->note[0] = ctx->message[0] = '\0';
    return PCS_OK;
}

void pcs_context_destroy(pcs_context **ctx)
{
    if (ctx == NULL || *ctx == NULL) return;
    for (deferred *d = (*ctx)->actions; d != NULL; d = d->next) d->action(d->object);
    for (chunk *c = (*ctx)->chunks; c != NULL;) {
        chunk *next = c->next;
        pcs_free(c);
        c = next;
    }
    pcs_free(*ctx);
    *ctx = NULL;
}

static char *context_align(char *p)
{
    uintptr_t address = (uintptr_t)p;
    return p + ((ALIGNMENT - address % ALIGNMENT) % ALIGNMENT);
}

// Adds a chunk; one for a large request goes behind the current one, whose rest stays in use.
static chunk *context_add_chunk(pcs_context *ctx, size_t bytes)
{
    size_t room = bytes > CHUNK_BYTES / 4 ? bytes : CHUNK_BYTES;
    chunk *c = pcs_alloc(sizeof *c + room + ALIGNMENT);
    if (c == NULL) return NULL;
    c->free_from = (char *)(c + 1);
    c->end = c->free_from + room + ALIGNMENT;
    bool is_own = room == bytes && ctx->chunks != NULL;
    chunk **place = is_own ? &ctx->chunks->next : &ctx->chunks;
    c->next = *place;
    *place = c;
    return c;
}

static size_t context_round_up(size_t bytes)
{
    return bytes > SIZE_MAX / 2 ? bytes : (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void *pcs_take_room(pcs_context *ctx, size_t bytes, const char *what)
{
    chunk *c = ctx->chunks;
    char *p = c == NULL ? NULL : context_align(c->free_from);
    size_t room = context_round_up(bytes);
    if (p == NULL || p > c->end || (size_t)(c->end - p) < room) {
        c = bytes > SIZE_MAX / 2 ? NULL : context_add_chunk(ctx, room);
        if (c == NULL) {
            pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: %zu bytes for %s", bytes, what);
            return NULL;
        }
        p = context_align(c->free_from);
    }
    c->free_from = p + room;
    ctx->bytes_taken += bytes;
    return p;
}

void *pcs_take(pcs_context *ctx, size_t count, size_t size, const char *what)
{
    if (size != 0 && count > (SIZE_MAX / 2) / size) {
        pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: %zu x %zu bytes for %s", count, size, what);
        return NULL;
    }
    void *p = pcs_take_room(ctx, count * size, what);
    return p == NULL ? NULL : memset(p, 0, context_round_up(count * size));
}

char *pcs_take_text(pcs_context *ctx, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = pcs_take(ctx, bytes, 1, "text");
    return copy == NULL ? NULL : memcpy(copy, text, bytes);
}

const char *pcs_culprit(pcs_context *ctx, const char *section, const char *name)
{
    char text[512];
    snprintf(text, sizeof text, "%s.%s", section, name);
    return pcs_take_text(ctx, text);
}

pcs_status pcs_defer(pcs_context *ctx, void (*action)(void *object), void *object)
{
    deferred *d = pcs_take(ctx, 1, sizeof *d, "a clean-up action");
    if (d == NULL) {
        action(object);
        return PCS_NO_MEMORY;
    }
    *d = (deferred){ .next = ctx->actions, .action = action, .object = object };
    ctx->actions = d;
    return PCS_OK;
}

size_t pcs_bytes_taken(const pcs_context *ctx)
{
    return ctx->bytes_taken;
}

pcs_surroundings *pcs_around(const pcs_context *ctx)
{
    return ctx->around;
}

void *pcs_scratch(void *old, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX / 2) / size) return NULL;
    return pcs_realloc(old, count * size + (count == 0));
}

void pcs_scratch_free(void *buffer)
{
    pcs_free(buffer);
}

const char *pcs_message(const pcs_context *ctx)
{
    return ctx == NULL ? "out of memory" : ctx->message;
}

void pcs_note(pcs_context *ctx, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(ctx->note, NOTE_BYTES, format, arguments);
    va_end(arguments);
}

const char *pcs_noted(const pcs_context *ctx)
{
    return ctx->note;
}

pcs_status pcs_fail(pcs_context *ctx, pcs_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(ctx->message, MESSAGE_BYTES, format, arguments);
    va_end(arguments);
    return status;
}

pcs_status pcs_wrap(pcs_context *ctx, pcs_status status, const char *format, ...)
{
    char head[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(head, sizeof head - 2, format, arguments);
    va_end(arguments);
    size_t used = length < 0 ? 0 : (size_t)length;
    if (used > sizeof head - 3) used = sizeof head - 3;
    memcpy(head + used, ": ", 2);
    used += 2;

    size_t old = strlen(ctx->message);
    if (old > MESSAGE_BYTES - 1 - used) old = MESSAGE_BYTES - 1 - used;
    memmove(ctx->message + used, ctx->message, old);
    memcpy(ctx->message, head, used);
    ctx->message[used + old] = '\0';
    return status;
}
