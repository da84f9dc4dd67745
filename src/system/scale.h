// Natural sizes of the coordinates of a system (struct pcs_scale).

#ifndef PCS_SYSTEM_SCALE_H
#define PCS_SYSTEM_SCALE_H

#include "system/system.h"

// Takes memory, and fills in what holds of coordinates that are no displacements of a mesh and no angles: `length`.
pcs_status pcs_scale_create(pcs_system *system);

#endif
