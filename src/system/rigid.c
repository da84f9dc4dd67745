#include "system/rigid.h"

#include <stdio.h>

pcs_status pcs_rigid_find(const pcs_system *self, const double *q, pcs_rigid *out)
{
    *out = (pcs_rigid){ 0 };
    return self->ops->find_rigid(self, q, out);
}

void pcs_rigid_text(const pcs_rigid *rigid, size_t size, char *text)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < rigid->count && used + 1 < size; i++) {
        int length = snprintf(text + used, size - used, "%s%s", i == 0 ? "" : "; ", rigid->name[i]);
        used += length < 0 ? 0 : (size_t)length;
    }
}
