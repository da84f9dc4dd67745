// Takes the natural sizes of the coordinates of a system.

#include "system/system.h"

pcs_status pcs_scale_create(pcs_system *system)
{
    pcs_scale *out = &system->scale;
    PCS_TAKE(system->ctx, out->model, system->nv, "sizes of coordinates");
    PCS_TAKE(system->ctx, out->cell, system->nv, "sizes of coordinates");
    PCS_TAKE(system->ctx, out->place, system->nv, "sizes of coordinates");
    PCS_TAKE(system->ctx, out->axis, system->nv, "sizes of coordinates");
    PCS_TAKE(system->ctx, out->is_angle, system->nv, "sizes of coordinates");
    double size = system->length > 0.0 ? system->length : 1.0;
    for (int i = 0; i < system->nv; i++) out->model[i] = out->cell[i] = out->place[i] = size;
    for (int i = 0; i < system->nv; i++) out->axis[i] = 6;
    out->holds[6] = true;
    return PCS_OK;
}
