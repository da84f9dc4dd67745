// Contacts with force laws, within the finite-element system; private to this folder.
//
//   f += L^T F(g, L v),   one row of L and one force F per point (contact/force_law.h)
//
// Their points are no rows of the system: they are numbered from its nrow on.

#ifndef PCS_FE_LAWS_H
#define PCS_FE_LAWS_H

#include "fe/data.h"

typedef struct fe_law_contact {
    int contact;     // index into contacts
    int first, nrow; // its points among those of all laws
    bool varies;     // its directions are evaluated at every position
} fe_law_contact;

// What is built from the case.
struct fe_laws {
    int ncontact, nrow;
    fe_law_contact *contacts; // [ncontact]
    int *owner;               // [nrow] place of its contact among these
};

// Points as they were evaluated last, and scratch.
struct fe_law_work {
    pcs_rows *L;               // [nrow x nv] FE_ROW_TERMS entries each, zeros at the end
    pcs_row_state *states;     // [nrow] those of constant directions stand for all times
    double *gap;               // [nrow]
    pcs_passage_row *ends;     // [nrow]
    pcs_row_state *trial;      // [nrow] at a position nearby
    pcs_rows *ahead, *behind;  // directions there
    pcs_force_state *force;    // [nrow]
    unsigned char *is_waiting; // [nrow]
    int *taken;                // [nrow]
    int *mark;                 // [nv]
    double *x, *q;             // [nv]
};

// Gaps and directions at q.
void pcs_fe_look_at_laws(const pcs_system *self, const double *q);
// The law's force on a point, from the gap that was found last.
pcs_force_state pcs_fe_law_force_of(const pcs_system *self, int point, const double *v);
// Entries of a direction.
int pcs_fe_count_entries(const fe_data *fe, const pcs_row_direction *direction);

#endif
