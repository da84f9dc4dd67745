// Preloaded into the program: makes a chosen call to the system or to the allocator fail.
//
//   FAULT_KIND   write, open, close, rename, mkdir, unlink, sync, stream (stdio) or alloc
//   FAULT_NTH    the call that fails, from 1; 0: none
//   FAULT_LASTS  set: all calls after it fail as well
//   FAULT_COUNT  file that gets the number of calls when the program ends
//   FAULT_FORK   file: tries many calls in one run. Before every FAULT_STRIDE-th call, from FAULT_NTH on, the program
//                forks twice, and the call fails in the child, alone and with all after it, while the parent waits and
//                then goes on as if nothing had happened. The file gets a line for each child that did not end well,
//                and in the end the number of them all. Children write nothing to the disk. FAULT_SECONDS limits it.
//                The program sees one processor, so that it starts no threads.
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
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_long calls;
static long nth;
static bool lasts, is_on;
static char kind[16];
static bool is_child; // of a run that forks: the disk is left alone
static int report = -1;
static long stride, tries, failures;
static double limit;
enum { BOUND = 60, MOST_FILES = 256 }; // s that a child may take; descriptors that are looked at

static double interpose_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double interpose_number(const char *name, double otherwise)
{
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtod(text, NULL);
}

static int interpose_really_open(const char *path)
{
    int (*really)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    return really(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

__attribute__((constructor)) static void interpose_read(void)
{
    const char *text = getenv("FAULT_KIND"), *path = getenv("FAULT_FORK");
    if (text != NULL) strncpy(kind, text, sizeof kind - 1);
    nth = (long)interpose_number("FAULT_NTH", 0.0);
    lasts = getenv("FAULT_LASTS") != NULL;
    if (path == NULL) return;
    report = interpose_really_open(path);
    stride = (long)interpose_number("FAULT_STRIDE", 1.0);
    limit = interpose_clock() + interpose_number("FAULT_SECONDS", 1e9);
}

__attribute__((destructor)) static void interpose_report(void)
{
    const char *path = getenv("FAULT_COUNT");
    is_on = false;
    if (is_child) return;
    if (report >= 0) dprintf(report, "%ld tries %ld failures\n", tries, failures);
    int file = path == NULL ? -1 : interpose_really_open(path);
    if (file < 0) return;
    dprintf(file, "%ld\n", atomic_load(&calls));
    close(file);
}

// A file that is written becomes nothing; one that is read is opened again, lest the parent's place in it moves.
static void interpose_let_go(int file, int nothing)
{
    char path[64];
    int flags = fcntl(file, F_GETFL);
    if (flags < 0 || file == nothing) return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    off_t place = lseek(file, 0, SEEK_CUR);
    int again = (flags & O_ACCMODE) != O_RDONLY ? nothing : open(path, O_RDONLY | O_CLOEXEC);
    if (again < 0) return;
    if (again != nothing) lseek(again, place, SEEK_SET);
    dup2(again, file);
    if (again != nothing) close(again);
}

// The child's streams go to `told`, and its files let go of the parent's.
static void interpose_become_child(int reported, long call, bool goes_on)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int file = 3; file < MOST_FILES; file++)
        if (file != reported) interpose_let_go(file, nothing);
    dup2(reported, STDOUT_FILENO);
    dup2(reported, STDERR_FILENO);
    alarm(BOUND);
    is_child = true;
    report = -1;
    nth = call;
    lasts = goes_on;
}

// Ended with 0, or with 1 or 2 and a message.
static void interpose_judge(int reported, int status, long call, bool goes_on)
{
    char text[2048] = "";
    ssize_t size = pread(reported, text, sizeof text - 1, 0);
    text[size > 0 ? size : 0] = '\0';
    int exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    tries++;
    bool has_crashed = strstr(text, "the program crashed") != NULL;
    bool is_reported = (exit_status == 1 || exit_status == 2) && strstr(text, "error:") != NULL;
    if (!has_crashed && (exit_status == 0 || is_reported)) return;
    failures++;
    for (char *p = text; *p != '\0'; p++)
        if (*p == '\n') *p = ' ';
    dprintf(report, "allocation %ld%s: %s %d %s\n", call, goes_on ? " with all after it" : "",
            WIFSIGNALED(status) ? "signal" : "exit", WIFSIGNALED(status) ? WTERMSIG(status) : exit_status, text);
}

// In the child the call is the one that fails; the parent comes back when the child has ended.
static void interpose_try(long call, bool goes_on)
{
    int status = 0, reported = memfd_create("told", 0);
    pid_t child = fork();
    if (child == 0) interpose_become_child(reported, call, goes_on);
    if (child > 0 && waitpid(child, &status, 0) == child) interpose_judge(reported, status, call, goes_on);
    if (child != 0) close(reported);
}

static bool interpose_fails(const char *of)
{
    if (!is_on || strcmp(kind, of) != 0) return false;
    long call = atomic_fetch_add(&calls, 1) + 1;
    if (report >= 0) {
        int before = errno;
        is_on = false;
        bool is_chosen = call >= nth && (call - nth) % stride == 0 && interpose_clock() < limit;
        for (int increment = 0; increment < 2 && is_chosen && !is_child; increment++)
            interpose_try(call, increment == 1);
        is_on = true;
        errno = before;
        if (!is_child) return false;
    }
    return nth > 0 && (call == nth || (lasts && call > nth));
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// A child has the thread alone that has forked: what others were doing it would wait for without end.
long sysconf(int name)
{
    return stride > 0 && name == _SC_NPROCESSORS_ONLN ? 1 : NEXT(sysconf)(name);
}

ssize_t write(int file, const void *data, size_t size)
{
    if (file > 2 && interpose_fails("write")) return errno = ENOSPC, -1;
    if (is_child && file > 2) return (ssize_t)size;
    return NEXT(write)(file, data, size);
}

static int interpose_open(const char *path, int flags, mode_t mode, const char *name)
{
    int (*really)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);
    bool counts = is_on;
    is_on = true;
    if (counts && interpose_fails("open")) return errno = EMFILE, -1;
    if (is_child && (flags & O_ACCMODE) != O_RDONLY) return really("/dev/null", O_RDWR | O_CLOEXEC);
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
    if (is_child) return 0;
    return interpose_fails("rename") ? (errno = EACCES, -1) : NEXT(rename)(from, to);
}

int mkdir(const char *path, mode_t mode)
{
    if (is_child) return 0;
    return interpose_fails("mkdir") ? (errno = ENOSPC, -1) : NEXT(mkdir)(path, mode);
}

int unlink(const char *path)
{
    if (is_child) return access(path, F_OK);
    return interpose_fails("unlink") ? (errno = EACCES, -1) : NEXT(unlink)(path);
}

int remove(const char *path)
{
    return is_child ? access(path, F_OK) : NEXT(remove)(path);
}

int ftruncate(int file, off_t size)
{
    return is_child ? 0 : NEXT(ftruncate)(file, size);
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
    if (is_child && mode[0] != 'r') path = "/dev/null";
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
    return interpose_fails("alloc") ? (errno = ENOMEM, NULL) : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *block = interpose_fails("alloc") ? NULL : __libc_memalign(alignment, size);
    if (block == NULL) return ENOMEM;
    *out = block;
    return 0;
}
