// Preloaded into the program: makes a chosen call to the system or to the allocator fail.
//
//   FAULT_KIND   write, open, close, rename, mkdir, unlink, sync, stream (stdio) or alloc
//   FAULT_NTH    the call that fails, from 1; 0: none
//   FAULT_LASTS  set: all calls after it fail as well
//   FAULT_COUNT  file that gets the number of calls when the program ends
//
// Calls count from the first call of open on, which is the first thing that the program does: what loaders and
// libraries do before it is theirs. Descriptors of the standard streams are left alone.

#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_long calls;
static long nth;
static bool lasts, is_on;
static char kind[16];

__attribute__((constructor)) static void interpose_read(void)
{
    const char *text = getenv("FAULT_KIND"), *number = getenv("FAULT_NTH");
    if (text != NULL) strncpy(kind, text, sizeof kind - 1);
    nth = number == NULL ? 0 : strtol(number, NULL, 10);
    lasts = getenv("FAULT_LASTS") != NULL;
}

__attribute__((destructor)) static void interpose_tell(void)
{
    const char *path = getenv("FAULT_COUNT");
    char text[32];
    is_on = false;
    if (path == NULL) return;
    int (*really)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    int file = really(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&calls));
    if (file >= 0 && write(file, text, (size_t)length) == length) close(file);
}

static bool interpose_fails(const char *of)
{
    if (!is_on || strcmp(kind, of) != 0) return false;
    long call = atomic_fetch_add(&calls, 1) + 1;
    return nth > 0 && (call == nth || (lasts && call > nth));
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void *data, size_t size)
{
    if (file > 2 && interpose_fails("write")) return errno = ENOSPC, -1;
    return NEXT(write)(file, data, size);
}

static int interpose_open(const char *path, int flags, mode_t mode, const char *name)
{
    int (*really)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);
    bool counts = is_on;
    is_on = true;
    if (counts && interpose_fails("open")) return errno = EMFILE, -1;
    return really(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return interpose_open(path, flags, mode, "open");
}

int open64(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return interpose_open(path, flags, mode, "open64");
}

int close(int file)
{
    bool fails = file > 2 && interpose_fails("close");
    int answer = NEXT(close)(file);
    return fails ? (errno = EIO, -1) : answer;
}

int rename(const char *from, const char *to)
{
    return interpose_fails("rename") ? (errno = EACCES, -1) : NEXT(rename)(from, to);
}

int mkdir(const char *path, mode_t mode)
{
    return interpose_fails("mkdir") ? (errno = ENOSPC, -1) : NEXT(mkdir)(path, mode);
}

int unlink(const char *path)
{
    return interpose_fails("unlink") ? (errno = EACCES, -1) : NEXT(unlink)(path);
}

int fsync(int file)
{
    return interpose_fails("sync") ? (errno = EIO, -1) : NEXT(fsync)(file);
}

int syncfs(int file)
{
    return interpose_fails("sync") ? (errno = EIO, -1) : NEXT(syncfs)(file);
}

FILE *fopen(const char *path, const char *mode)
{
    return interpose_fails("stream") ? (errno = EMFILE, NULL) : NEXT(fopen)(path, mode);
}

size_t fwrite(const void *data, size_t size, size_t count, FILE *file)
{
    if (file == stdout || file == stderr || !interpose_fails("stream")) return NEXT(fwrite)(data, size, count, file);
    file->_flags |= 0x20; // what ferror looks at
    errno = ENOSPC;
    return 0;
}

int fclose(FILE *file)
{
    bool fails = file != stdout && file != stderr && interpose_fails("stream");
    int answer = NEXT(fclose)(file);
    return fails ? (errno = ENOSPC, EOF) : answer;
}

void *malloc(size_t size)
{
    return interpose_fails("alloc") ? (errno = ENOMEM, NULL) : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return interpose_fails("alloc") ? (errno = ENOMEM, NULL) : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return interpose_fails("alloc") ? (errno = ENOMEM, NULL) : __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size)
{
    return interpose_fails("alloc") ? (errno = ENOMEM, NULL) : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *block = memalign(alignment, size);
    if (block == NULL) return ENOMEM;
    *out = block;
    return 0;
}
