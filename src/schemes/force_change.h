// Smooth forces that jump between two steps, by df: what a scheme remembers of the accelerations before jumps with
// them, as if the forces had been there at the end of the last step.
//
//   a := a + da,   M da = df + G^T dlam,   G da = 0 on joints where the scheme's accelerations obey them, else dlam = 0

#ifndef PCS_SCHEMES_FORCE_CHANGE_H
#define PCS_SCHEMES_FORCE_CHANGE_H

#include "schemes/scheme.h"

typedef struct pcs_force_change pcs_force_change;

pcs_status pcs_force_change_create(pcs_context *ctx, pcs_scheme *scheme, pcs_force_change **out);
// Applies df [nv], N, which is overwritten, with its resultant along the directions of space.
void pcs_force_change_make(pcs_force_change *self, pcs_state *x, double *df, const double resultant[3]);

#endif
