#include "support/alloc_fault.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// One process, one count: the test programs are single-threaded.
static long requests, live, failing_request;
static bool failure_lasts;

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);
void *memalign(size_t alignment, size_t bytes);
int posix_memalign(void **out, size_t alignment, size_t bytes);

static bool fault_hits(void)
{
    requests++;
    if (failing_request == 0 || requests < failing_request) return false;
    if (requests > failing_request && !failure_lasts) return false;
    errno = ENOMEM;
    return true;
}

static void *fault_count(void *memory)
{
    if (memory != NULL) live++;
    return memory;
}

void *malloc(size_t bytes)
{
    return fault_hits() ? NULL : fault_count(__libc_malloc(bytes));
}

void *calloc(size_t count, size_t size)
{
    return fault_hits() ? NULL : fault_count(__libc_calloc(count, size));
}

// A resized block stays one block; glibc frees on a size of 0.
void *realloc(void *old, size_t bytes)
{
    if (old == NULL) return malloc(bytes);
    if (bytes == 0) {
        free(old);
        return NULL;
    }
    return fault_hits() ? NULL : __libc_realloc(old, bytes);
}

void *memalign(size_t alignment, size_t bytes)
{
    return fault_hits() ? NULL : fault_count(__libc_memalign(alignment, bytes));
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    void *memory = memalign(alignment, bytes);
    if (memory == NULL) return ENOMEM;
    *out = memory;
    return 0;
}

void free(void *memory)
{
    if (memory == NULL) return;
    live--;
    __libc_free(memory);
}

void alloc_fault_arm(long nth, bool lasting)
{
    requests = 0;
    failing_request = nth;
    failure_lasts = lasting;
}

long alloc_fault_requests(void)
{
    return requests;
}

long alloc_fault_live(void)
{
    return live;
}

bool alloc_fault_is_active(void)
{
    return true;
}

#else

void alloc_fault_arm(long nth, bool lasting)
{
    (void)nth;
    (void)lasting;
}

long alloc_fault_requests(void)
{
    return 0;
}

long alloc_fault_live(void)
{
    return 0;
}

bool alloc_fault_is_active(void)
{
    return false;
}

#endif
