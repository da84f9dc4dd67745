// The only functions that open files: inputs are regular files, outputs never follow a link that somebody has
// put in their place. Each returns a descriptor, or -1 with errno.

#ifndef PCS_CORE_OPEN_H
#define PCS_CORE_OPEN_H

#include <stdbool.h>

// Opens a regular file to read. ESPIPE for a pipe or device, which may have no end, EISDIR for a folder.
int pcs_open_input(const char *path, long long *size);
// Creates a file to write. Removes whatever had this name before, also a link.
int pcs_open_new(const char *path);
// Opens a file that this program has written, to continue it. ELOOP if it has become a link.
int pcs_open_again(const char *path);
// Opens a folder.
int pcs_open_folder(const char *path);
// Returns strerror, with own texts for the errors above.
const char *pcs_open_reason(int error);

#endif
