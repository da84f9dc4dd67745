// Defines the status that calls return, and stores its message in the context.
//
// A fault (bad case, no memory, no disk, degenerate element) is a status other than PCS_OK with a
// message in the context. An outcome (not converged, singular, not finite) is a field of a report
// that comes with PCS_OK. A bug is an assert.

#ifndef PCS_CORE_STATUS_H
#define PCS_CORE_STATUS_H

#include <stddef.h>

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

// Stores why something did not work that cannot fail by itself, for a later message; "" for nothing.
void pcs_note(pcs_context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *pcs_noted(const pcs_context *ctx);

#define PCS_TRY(call)                                          \
    do {                                                       \
        pcs_status pcs_try_status_ = (call);                   \
        if (pcs_try_status_ != PCS_OK) return pcs_try_status_; \
    } while (0)

#endif
