// The contact problem (contact_problem.h) of many rows, known by products only: nothing of size rows x rows is formed.
// z also has the smooth multipliers mu of bilateral rows, with  smooth = b_s + P_s z = 0.
//
// Semi-smooth Newton on the sets (Alart, Curnier 1991; Bruls, Acary, Cardona 2014, eq. 38): a row leaves or enters a
// set only where its law is broken by more than round-off, so ties move nothing. Every linear system is solved by a
// Krylov method, loosely while the sets still change. When sets come back, contradict each other, or the number of
// broken laws does not shrink, accelerated projections onto the cones (Nesterov's method on the bipotential form of
// de Saxce, Feng 1998) bring z nearer to the solution, and Newton's method starts again from there.

#ifndef PCS_STEP_KRYLOV_SET_H
#define PCS_STEP_KRYLOV_SET_H

#include "step/contact_problem.h"
#include "step/step.h"
#include "system/system.h"

typedef struct pcs_preconditioner pcs_preconditioner;

// Creates the preconditioners of gaps and of velocities for the rows G and T, which may be NULL.
pcs_status pcs_preconditioners_create(pcs_step_solver *solver, const pcs_rows *G, const pcs_rows *T,
                                      pcs_preconditioner *pair[2]);
// Fills both for new values of the rows, of M and of S* (NULL without dynamics).
void pcs_preconditioners_fill(pcs_preconditioner *const pair[2], const pcs_matrix *S);

enum { PCS_STAGE_GAP = 1, PCS_STAGE_RATE = 2, PCS_STAGE_BOTH = 3 }; // nu and gaps, all others, both
enum { PCS_SEEN_SETS = 64 };

// Computes the parts `out` of P z, for a z whose parts outside of `in` count as zero; gate_gap may be NULL.
typedef void pcs_krylov_set_product(void *owner, int in, int out, const double *z, double *value, double *gate_gap);

typedef struct pcs_krylov_set {
    pcs_contact_problem p; // n = 2 m + nt + nb + nheld_t; z in: initial guess
    const pcs_system *system;
    int nb;            // number of bilateral rows with a smooth multiplier
    double length;     // size of the model, m, which sets the round-off of gaps
    double reach;      // largest gap so far, m
    bool is_one_sided; // velocity multipliers do not move gaps: the position law can be solved first
    bool is_symmetric; // the diagonal blocks of P are symmetric
    double shared;     // factor by which diagonals of bilateral rows are raised in every linear system
    pcs_krylov_set_product *product;
    void *owner;
    pcs_preconditioner *preconditioner[2]; // for gaps and for velocities; NULL if only the masses r
    // counts:
    int rounds, products, revisits, projections; // counts of the last solve
    // work:
    int restart;                               // of GMRES
    double **basis;                            // [restart + 1][n]
    double *H, *cosine, *sine, *g, *dots;      // Hessenberg matrix by columns, rotations, right-hand side
    double *direction, *rest, *preconditioned; // [n]
    unsigned char *mode;                       // [n]
    unsigned char *gate_history;               // [m] changes of a live gate in this solve
    unsigned char *is_in;                      // [n] 1 for held rows in the preconditioners
    bool has_rotations;                        // the preconditioners include directions of slip
    double *F, *x;                             // [n]
    double *image;                             // [n + m] result of the last product, with gate gaps
    double *z_last, *aim, *aim_value;          // [n]
    double *gate_image;                        // [m] gate gaps in `image`
    long closures;                  // changes of gaps, normal impulses and gates in the last round, in all processes
    double *slip, *rotation;        // [2 m], [m] directions of slip, and factors by which they rotate with y
    double size, least_size;        // largest velocity, m/s, now and at the start
    double solved_tol[2], slack[2]; // m/s, residuals of gaps / h and of velocities that count as zero
    double ratio;                   // worst residual over `tight`
    double lipschitz[4];            // Lipschitz constants of P in units of 1 / r, by parts; 0 if unknown
    int stage;
    unsigned long long seen[PCS_SEEN_SETS];
    int nseen;
} pcs_krylov_set;

// Creates the solver.
pcs_status pcs_krylov_set_create(pcs_context *ctx, const pcs_system *system, int nsmooth, pcs_krylov_set **out);
// Sets the number of smooth multipliers in use, at most that of the creation, and the held rows, NULL if none.
void pcs_krylov_set_take(pcs_krylov_set *c, int nsmooth, const unsigned char *held);
// Discards estimates that depend on the products; call it when these have changed permanently.
void pcs_krylov_set_reset(pcs_krylov_set *c);
// Solves the problem. Returns false if it does not converge.
bool pcs_krylov_set_solve(pcs_krylov_set *c);

#endif
