// The only functions that open files: inputs are regular files, outputs never follow a link that somebody has
// put in their place. Each returns a descriptor, or -1 with errno.

#ifndef PCS_CORE_OPEN_H
#define PCS_CORE_OPEN_H

#include <stdbool.h>
#include <stddef.h>

// Opens a regular file to read. ESPIPE for a pipe or device, which may have no end, EISDIR for a folder.
int pcs_open_input(const char *path, long long *size);
// Creates a file to write. Removes whatever had this name before, also a link.
int pcs_open_new(const char *path);
// Opens a file that this program has written, to continue it. ELOOP if it has become a link.
int pcs_open_again(const char *path);
// Opens a folder.
int pcs_open_folder(const char *path);
// Writes the path of a place relative to the folder of the running program, or to that `up` levels above it. Returns
// false if it is not known or too long.
bool pcs_open_near_program(const char *place, int up, size_t size, char *path);
// Returns strerror, with own texts for the errors above.
const char *pcs_open_reason(int error);

#endif
