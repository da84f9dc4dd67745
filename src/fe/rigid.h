// Motions that nothing resists: what supports, joints and the stiffness leave a model free to do as rigid parts.
//
// Every connected part of the mesh has six motions, u = t + w x (x - c). Of all these together the ones are looked for
// that the degrees of freedom can represent, that move no support and no joint, and that K lets pass without force.

#ifndef PCS_FE_RIGID_H
#define PCS_FE_RIGID_H

#include "system/system.h"

enum { PCS_RIGID_NAME = 320 };

typedef struct pcs_rigid {
    int count;
    double *vector;               // [count x nv] not normalised
    char (*name)[PCS_RIGID_NAME]; // [count] "translation along x", "rotation about z through (0, 0, 0)"
} pcs_rigid;

// Finds the free rigid-body motions about q (NULL for the reference state) with current K and G; none for closed forms.
pcs_status pcs_rigid_find(const pcs_system *self, const double *q, pcs_rigid *out);

// Writes the names to `text`, as in "translation along x; rotation about z".
void pcs_rigid_text(const pcs_rigid *rigid, size_t size, char *text);

#endif
