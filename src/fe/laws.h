// Contacts with force laws, within the finite-element system; private to this folder.
//
//   f += L^T F(g, L v) + T^T f(F, s),   one row of L and one force F per point (contact/force_law.h)
//
// With friction a point has one or two rows of T, and s = T(q) (q - q_n) is its displacement since the last commit n;
// of a point that was open there, g_n > 0, the part g/(g - g_n) of it. The force of the last commit stands in space,
// and is turned into the tangents of today.
//
// Their points are no rows of the system: they are numbered from its nrow on, their tangents from its ntangent on.

#ifndef PCS_FE_LAWS_H
#define PCS_FE_LAWS_H

#include "fe/data.h"

typedef struct fe_law_contact {
    int contact;     // index into contacts
    int first, nrow; // its points among those of all laws
    int ntangent;    // of every point
    bool varies;     // its directions are evaluated at every position
    bool turns;      // and not the same everywhere
} fe_law_contact;

// Holds the friction of a point at the last commit.
typedef struct fe_grip {
    double force[3];  // N, of friction, in space
    double stiffness; // N/m
    double gap;       // m
} fe_grip;

// The way of a point since the last commit.
typedef struct fe_slide {
    double way[2];  // T (q - q_n), m
    double part;    // that counts
    double by_gap;  // -d(part)/dg, 1/m
    pcs_grip start; // of the last commit, along the tangents of today
} fe_slide;

// Holds the contacts with force laws as built from the case; constant afterwards.
struct fe_laws {
    int ncontact, nrow, ntangent;
    bool has_jumps;           // dampers that set in at once as bodies touch
    bool rubs;                // some point, on some rank, has friction
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
    double *is_late;           // [nrow] 1: the damper of a point acts from the next step on (pcs_fe_delay_dampers)
    int *taken;                // [nrow]
    int *mark;                 // [nv]
    double *x, *q;             // [nv]
    // Allocated only with friction:
    pcs_rows *T, *ahead_T, *behind_T; // [ntangent x nv]
    double *memory;                   // of commits: [nrow] fe_grip, [nq] positions, and 1 once there was one
    fe_grip *grips;                   // [nrow] in it
    double *origin, *is_committed;    // in it
    double *way, *moved;              // [nv] from there to where the points were looked at, and to a position nearby
    fe_slide *ahead_slide, *behind_slide; // [nrow] there
    pcs_rub *rub;                         // [nrow]
};

// A point among the rows that reports tell of.
static inline const pcs_row *pcs_fe_law_row(const pcs_system *self, int point)
{
    return &self->rows[self->nrow + point];
}
// The first of its rows of T.
static inline int pcs_fe_law_tangent(const pcs_system *self, int point)
{
    return pcs_fe_law_row(self, point)->first_tangent - self->ntangent;
}

// Gaps and directions at q.
void pcs_fe_look_at_laws(const pcs_system *self, const double *q);
// The law's force on a point, from the gap that was found last.
pcs_force_state pcs_fe_law_force_of(const pcs_system *self, int point, const double *v);
// Friction (fe/law_friction.c): memory; where the points were looked at, at q; one of them there, with its force.
// Makes what is kept of dampers that wait part of the system, as soon as all points have numbers.
pcs_status pcs_fe_number_dampers(pcs_system *self, const fe_laws *laws);
pcs_status pcs_fe_make_law_friction(pcs_system *self, const fe_laws *laws);
void pcs_fe_look_at_slides(const pcs_system *self, const double *q, double *way);
fe_slide pcs_fe_law_slide(const pcs_system *self, int point, const pcs_row_state *state, const pcs_rows *T,
                          const double *way);
pcs_rub pcs_fe_law_rub(const pcs_system *self, int point, const pcs_force_state *force);
// Entries of a direction.
int pcs_fe_count_entries(const fe_data *fe, const pcs_row_direction *direction);

#endif
