// One piece of work at a time on a thread of its own, beside what the caller goes on with: files are written while the
// next steps are computed.

#ifndef PCS_CORE_ASIDE_H
#define PCS_CORE_ASIDE_H

#include "core/context.h"

typedef struct pcs_aside pcs_aside;
// Touches nothing that the caller uses before it waits, no context of the caller's either.
typedef pcs_status pcs_aside_work(void *data);

// The thread ends with the context, after its work. *out is NULL where none can be had.
pcs_status pcs_aside_create(pcs_context *ctx, pcs_aside **out);
// The work before must have been waited for.
void pcs_aside_start(pcs_aside *aside, pcs_aside_work *work, void *data);
// Waits for the work that was started last and gives its status, once; PCS_OK where none was started.
pcs_status pcs_aside_wait(pcs_aside *aside);
// Has it failed already? Does not wait.
bool pcs_aside_has_failed(pcs_aside *aside);

#endif
