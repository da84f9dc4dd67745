#define _POSIX_C_SOURCE 200809L // O_CLOEXEC, O_NOFOLLOW

#include "core/open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Returns the descriptor and the size, bytes, of a regular file; closes any other and returns -1.
static int open_regular(int descriptor, long long *size)
{
    struct stat about;
    if (descriptor < 0) return -1;
    int error = fstat(descriptor, &about) != 0 ? errno : 0;
    if (error == 0 && S_ISDIR(about.st_mode)) error = EISDIR;
    if (error == 0 && !S_ISREG(about.st_mode)) error = ESPIPE;
    if (error == 0) {
        *size = (long long)about.st_size;
        return descriptor;
    }
    close(descriptor);
    errno = error;
    return -1;
}

// Opens without blocking, as opening a pipe without a writer would wait for ever.
int pcs_open_input(const char *path, long long *size)
{
    return open_regular(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), size);
}

int pcs_open_new(const char *path)
{
    if (unlink(path) != 0 && errno != ENOENT) return -1;
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

int pcs_open_again(const char *path)
{
    long long size;
    return open_regular(open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC), &size);
}

int pcs_open_folder(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool pcs_open_near_program(const char *place, int up, size_t size, char *path)
{
    char folder[2048];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[length < 0 ? 0 : length] = '\0';
    for (int i = 0; i <= up; i++) {
        char *slash = strrchr(folder, '/');
        if (slash == NULL) return false;
        *slash = '\0';
    }
    int used = snprintf(path, size, "%s/%s", folder, place);
    return used > 0 && (size_t)used < size;
}

const char *pcs_open_reason(int error)
{
    if (error == ESPIPE || error == ENXIO) return "it is a pipe or device, not a file";
    if (error == ELOOP) return "it is a link, not a file";
    return strerror(error);
}
