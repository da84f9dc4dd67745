// The step of the unified Gear-Gupta-Leimkuhler midpoint scheme; private to this folder. Equations: ggl_midpoint.c.

#ifndef PCS_SCHEMES_GGL_UNIFIED_H
#define PCS_SCHEMES_GGL_UNIFIED_H

#include "schemes/midpoint.h"
#include "step/dense_contacts.h"

typedef enum pcs_ggl_gap { PCS_GGL_EXACT, PCS_GGL_PAPER, PCS_GGL_MID } pcs_ggl_gap;

typedef struct pcs_ggl_memory {
    double factored_h; // s, of the last step: what a resumed run factors again for it is no work of the run
} pcs_ggl_memory;

typedef struct pcs_ggl {
    pcs_midpoint base;
    pcs_dense_contacts *contacts;
    bool is_mass_metric;  // of the position correction
    double **E;           // [nrow][nv] directions that correct positions: G^T, or M^-1 G^T
    double *psi;          // [nrow] their multipliers, m
    double *start_rate;   // [nrow] G(q_n) v_n, m/s
    double *start_gap;    // [nrow] g(q_n), m
    double *start_rate_t; // [ntangent] T(q_n) v_n, m/s
    double *uncorrected;  // [nv] q without its correction
    // of the unified scheme
    pcs_ggl_gap gap;
    pcs_matrix *S;           // M + (h/2) C + (h^2/4) K
    pcs_linsolve *iteration; // of S
    double factored_h;       // s, that S and Y of a linear system were made for
    double **Y;              // [2 nrow + ntangent][nv] what units of Psi, La and Lt do to v
    double *mid_q, *mid_v;   // [nv] middle of the step
    double *r, *dv;          // [nv] position residual, velocity change
    double turned[3];        // N s, what the impulses gave beyond themselves along the directions they are told along
} pcs_ggl;

pcs_status pcs_ggl_take_unified(pcs_scheme *self, pcs_ggl *s);
// After pcs_midpoint_predict: base.base.next is filled, the projection stands where the velocity law holds.
pcs_outcome pcs_ggl_unified(pcs_scheme *self, pcs_ggl *s, const pcs_state *x, double h, pcs_step_report *report);
// E for the present directions.
void pcs_ggl_copy_directions(const pcs_scheme *self, pcs_ggl *s);

#endif
