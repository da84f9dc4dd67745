// The generalized-alpha family: kinematics and energy shared by Newmark, HHT and generalized-alpha schemes; private to
// this folder.
//
//   qt = q_n + h v_n + h^2 (1/2 - be) a_n + h^2 be a        vt = v_n + h (1 - ga) a_n + h ga a
//   (1 - am) a + am a_n = (1 - af) vd + af vd_n             M vd = f(q, v, t)
//
// The prediction sets vd = 0; then d = vt - vt0 gives vd = (c/h) d with c = (1 - am)/((1 - af) ga), and
// qt = qt0 + kb d with kb = h be/ga.

#ifndef PCS_SCHEMES_ALPHA_FAMILY_H
#define PCS_SCHEMES_ALPHA_FAMILY_H

#include "schemes/common.h"

enum { PCS_ALPHA_A, PCS_ALPHA_VD, PCS_ALPHA_NHISTORY }; // histories: a and vd
// Histories of rows: smooth forces of joints, N, and these forces filtered by the recursion that makes a from vd.
enum { PCS_ALPHA_FORCE, PCS_ALPHA_FILTERED, PCS_ALPHA_NROW_HISTORY };

// Holds resultant forces from step to step; the first member of a scheme's memory.
typedef struct pcs_alpha_memory {
    double resultant[3]; // of M vd, N, at the start of the step
    double filtered[3];  // of M a, N
} pcs_alpha_memory;

// One pass over the vectors of a step.
typedef struct pcs_alpha_pass {
    const pcs_scheme *scheme;
    pcs_next *next;
    const double *q, *v, *a, *vd;
    double *q_new, *v_new, *a_new, *d;
    double h, from_vd, from_a, v_old, v_fresh, q_old, q_fresh; // weights of the prediction
    double vd_of_d, a_of_vd;                                   // and of the correction
} pcs_alpha_pass;

typedef struct pcs_alpha {
    pcs_next next;
    pcs_alpha_pass pass; // of the step under way; weights of steps as long as the last one
    double am, af, ga, be;
    double *mix, *image; // [nv] work of the energy balance
    const double *lam;   // [nrow] forces of joints within vd; NULL: none
    bool goes_on;        // accelerations of the step before are where the iteration of this one begins
    bool holds;          // contacts that last move with their mean velocity, where Newmark's formulas do not: 2 be > ga
    unsigned char *held; // [nrow] those that do in the step under way
    double *drift;       // [nv] (h^2/2) (2 be - ga) (a* - a_n), what they would move by besides, m
} pcs_alpha;

// The parameters for a spectral radius at high frequency: am = (2 rho - 1)/(rho + 1), af = rho/(rho + 1),
// ga = 1/2 + af - am, be = (ga + 1/2)^2/4 (Chung, Hulbert 1993).
void pcs_alpha_of_radius(pcs_alpha *s, double rho);
// Those of Newmark's scheme; beta may be NAN: (gamma + 1/2)^2/4.
void pcs_alpha_of_newmark(pcs_alpha *s, double gamma, double beta);
// The spectral radius at high frequency of any parameters: the amplitudes of q, which the forces hold at q = -af/(1 -
// af) q_n, and of a, which follows from q by Newmark's formulas.
double pcs_alpha_radius(const pcs_alpha *s);

// Takes the memory of a scheme whose parameters are set.
pcs_status pcs_alpha_setup(pcs_scheme *self, pcs_alpha *s);

// c, kb, kh and h of the step form, and whether joints have smooth forces; what contacts add is the scheme's.
pcs_step_form pcs_alpha_form(const pcs_alpha *s, double h);

// Makes a_0 = vd_0, which keeps the order 2; the caller has filled vd.
void pcs_alpha_start(pcs_scheme *self, pcs_alpha *s, pcs_state *x);
// Contacts that are closed and at rest by the report of the start, or have had an impact, count as lasting ones.
void pcs_alpha_start_contacts(const pcs_scheme *self, const pcs_step_report *report, pcs_state *x);
// Chooses the contacts that are held in a step of h from x on: those loaded in one of the last steps.
void pcs_alpha_hold(const pcs_scheme *self, pcs_alpha *s, const pcs_state *x, double h);
// Mean forces of joints over the step by their filter, for the reports of their rows, and the work of driven ones; the
// histories of rows become those of the end. Gives by how much the balance below, with lam_ga . Gb dq for the work,
// exceeds what was booked.
double pcs_alpha_book_joints(const pcs_scheme *self, const pcs_alpha *s, pcs_state *x, pcs_step_report *report);

// qt0, vt0 and a* = (af vd_n - am a_n)/(1 - am)
void pcs_alpha_predict(pcs_alpha *s, const pcs_state *x, int n, double h);
// vd = (c/h) d in place of d, and a = a* + (1 - af)/(1 - am) vd
void pcs_alpha_correct(pcs_alpha *s, int n, double vd_of_d);

// Both as passes of the problem, the second with the sums that the measure is made from.
void pcs_alpha_set_passes(const pcs_scheme *self, pcs_alpha *s, const pcs_state *x, double h,
                          pcs_step_problem *problem);

// The impulse of the smooth forces as the scheme adds it up: the filter acts on the resultants, too.
void pcs_alpha_balance(pcs_scheme *self, const pcs_alpha *s, const pcs_state *x, double h, pcs_alpha_memory *now,
                       double impulse[3]);
// Keeps the resultants of the end of the step, and exchanges the histories.
void pcs_alpha_accept(pcs_alpha *s, pcs_state *x, const pcs_alpha_memory *now);

// Work that damping takes over the step to the velocity v. The filter delays forces by af - am: those of the ends weigh
// alike unless Newmark's ga says otherwise.
double pcs_alpha_damping_work(const pcs_scheme *self, const pcs_alpha *s, const pcs_state *x, const double *v,
                              double h);

// Energy of a step of a linear system whose impulses move positions by (h/2) W, exact; v is the velocity at its end:
//   dE = dq . F_ga - dq . C v_ga + La . G (v_n + v)/2 + lam_ga . Gb dq - loss
//   loss = (ga - 1/2) |dq|^2_K + (h^2/2) (2 be - ga) da . M a_ga + U . M a_ga + dq . M (vd_ga - a_ga)
// With F_ga = (1 - ga) F_n + ga F and so on. Fills external_work = dq . F_ga, damping_loss = h v_ga . C v_ga and
// numerical_loss, which gets the rest of the damping.
void pcs_alpha_book(pcs_scheme *self, pcs_alpha *s, const pcs_state *x, const double *v, pcs_step_report *report);

#endif
