#include "output/collect.h"

#include <string.h>

pcs_status pcs_collect_create(pcs_context *ctx, int count, const int *number, pcs_collect *out)
{
    *out = (pcs_collect){ .comm = pcs_context_comm(ctx), .count = count, .number = number };
    return out->comm == NULL ? PCS_OK : out->comm->plan(out->comm, ctx, count, number, &out->plan);
}

void pcs_collect_put(const pcs_collect *self, int width, const double *own, double *all)
{
    size_t bytes = (size_t)width * sizeof *own;
    if (self->comm == NULL) return;
    if (self->comm->rank == 0)
        for (int j = 0; j < self->count; j++)
            memcpy(all + (size_t)self->number[j] * (size_t)width, own + (size_t)j * (size_t)width, bytes);
    self->comm->collect(self->comm, self->plan, width, own, all);
}
