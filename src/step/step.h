// One nonsmooth step, stated by a scheme and solved by a step solver.
//
// Unknowns: d = vt - vt0 (smooth velocity increment), position correction U with multiplier nu, velocity
// jump W with multiplier La.
//
//   dynamics   c M d - h f(q, v, t) = 0                                    [has_dynamics, else d = 0]
//   position   M U = G^T nu,   0 <= g(q)  _|_  nu >= 0                      [has_position, else U = 0]
//   held rows  M U = G^T nu + T^T nu_t,   G (U + kh d + drift) = 0 on them and on joints    [kh > 0, in its place]
//   velocity   M W = G^T La,   0 <= G v + target  _|_  La >= 0  on gated rows, La = 0 on the others
//
//   qt = qt0 + kb d,   q = qt + U + kw W,   v = vt0 + d + W
//
// With finite rotations the sums are those of the increment x from q_n: q = retract(q_n, x0 + kb d + U + kw W), and
// moments in G^T act as pcs_projection_move_along says (projection.h).
//
// The gate of a row is g(qt) <= 0 at the current iterate (gate_is_live) or given by the scheme.
// Parameters: generalized-alpha GGL c = (1-am)/((1-af) ga), kb = h be/ga, kw = 0; Moreau-Jean
// c = 1/theta, kb = kw = h theta; a contact problem of an explicit scheme has no dynamics.

#ifndef PCS_STEP_STEP_H
#define PCS_STEP_STEP_H

#include "core/memory.h"
#include "core/pool.h"
#include "linsolve/linsolve.h"
#include "system/system.h"

typedef enum pcs_outcome {
    PCS_CONVERGED = 0,
    PCS_NOT_CONVERGED, // the iteration did not converge
    PCS_SINGULAR,      // a matrix of the step could not be factored
    PCS_NOT_FINITE,    // the state has a NaN or an infinity
    PCS_NOT_ACCURATE,  // the tolerance of the smooth motion could not be met
    PCS_ACCUMULATES    // more events in a step than are allowed
} pcs_outcome;

const char *pcs_outcome_text(pcs_outcome outcome);

// Largest dense workspace, in numbers, for which `newton` may replace `schur`.
#define PCS_MOST_NUMBERS 8e6

// Relative increase of the diagonals of products of redundant joints.
#define PCS_SHARED_WEIGHT 1e-6

// Constants of a run of equal steps on which the factorizations depend. All members have eight bytes, without padding,
// so that forms are compared byte by byte and no member can be forgotten.
typedef struct pcs_step_form {
    double h, c, kb, kw;
    double kh;                                     // weight of d in the displacement of held rows; 0 if none are held
    long has_dynamics, has_position, gate_is_live; // 0 or 1
    long has_smooth_multipliers;                   // bilateral rows also act on d through lam, with G vt = 0
    long law_is_gap; // La obeys 0 <= g(q)/kb _|_ La >= 0, with kw = kb; for linear systems the target says so
} pcs_step_form;
_Static_assert(sizeof(pcs_step_form) == 10 * 8, "members of eight bytes each");

typedef struct pcs_step_problem {
    double t;                        // time at the end of the step, s
    double *q, *v;                   // in: qt0, vt0; out: q, v
    const double *base;              // [nq] NULL if positions add up; else q holds the sums base + x0
    const double *q_start, *v_start; // [nq], [nv] state at the start of the step; NULL without dynamics
    const double *q_before;          // [nq] start of the step, even if the iteration may not begin there
    const double *acceleration;      // [nv] c d / h of the step before, m/s^2, initial guess; NULL: d = 0
    const unsigned char *was_loaded; // [nrow] rows that transmitted an impulse in the step before; with q_start
    double *d;                       // [nv] out: the increment, m/s; scratch before
    const double *target;            // [nrow] e_j G_j(q_n) v_n, m/s
    unsigned char *gate;             // [nrow] in if the gate is not live, out always
    double gate_tolerance;           // m, smooth gaps up to this count as closed: round-off decides no tie
    const unsigned char *held;       // [nrow] contacts that are held, with all their tangents; NULL if none, then U = 0
    const double *drift;             // [nv] displacement of the prediction that held rows compensate, m; with `held`
    double *nu_t;                    // [ntangent] out with `held`: position multipliers of tangents; may be NULL
    double *nu, *la;                 // [nrow] out
    double *smooth_gap;              // [nrow] out if the gate is live: g(qt), m; may be NULL
    double *rate_before;             // [nrow] out: G vt, m/s, the velocity without the impulse
    const double *target_t;          // [ntangent] e_T T(q_n) v_n, m/s; NULL without friction
    double *la_t;                    // [ntangent] out: tangential impulses, N s; NULL without friction
    bool leaves_motion;              // without dynamics: q and v may stay as they are, as the caller moves them
    double *lam;                     // [nrow] out: smooth multipliers of bilateral rows; NULL if the form has none
    // Passes of the scheme over slices of equations, with the data of `passes`; NULL if none. The first puts qt0 and
    // vt0 into q and v, from the start of the step alone, and may be repeated. The last completes all vectors. With
    // `predict` all vectors are memory of a context, so that passes may round up to whole SIMD vectors.
    pcs_pool_range_work *predict, *finish;
    void *passes;
    // Passes turn d into vd = vd_of_d d and add a_of_vd vd to a. vd_of_d = 0 leaves both unchanged.
    double *a; // [nv] may be NULL
    double vd_of_d, a_of_vd;
} pcs_step_problem;

typedef struct pcs_step_result {
    pcs_outcome outcome;
    int iterations; // number of linear solves, or sweeps
} pcs_step_result;

typedef struct pcs_step_solver pcs_step_solver;

enum { PCS_MAX_ROWS = 64 }; // largest number of rows for schemes with arrays of fixed size
enum { PCS_SOLVER_MEMORY = 8, PCS_DAMPER_MEMORY = PCS_SOLVER_MEMORY - 1 }; // the last one: damping of the system

typedef struct pcs_step_solver_ops {
    const char *name;
    const char *summary;
    size_t data_size;
    bool takes_all;        // also nonlinear systems, friction and bilateral rows
    bool needs_no_columns; // works by products: M^-1 G^T is not kept
    bool does_passes;      // calls the passes of a problem itself, slice by slice if possible
    // Allocates all memory.
    pcs_status (*setup)(pcs_step_solver *self);
    // Factors what `form` needs; called again only when the form has changed.
    pcs_status (*prepare)(pcs_step_solver *self, pcs_outcome *outcome);
    // On an outcome other than PCS_CONVERGED the contents of the problem's arrays are undefined.
    void (*solve)(pcs_step_solver *self, pcs_step_problem *problem, pcs_step_result *result);
} pcs_step_solver_ops;

struct pcs_step_solver {
    const pcs_step_solver_ops *ops;
    pcs_context *ctx;
    pcs_system *system;
    const char *linear; // name of the requested linear back end
    pcs_step_form form;
    bool is_prepared;
    double t;                          // time at which rows are evaluated, s; set by schemes
    pcs_linsolve *mass;                // M, factored at set-up
    double *effective_mass;            // [nrow] 1 / (G_j M^-1 G_j^T), kg; half of an upper bound if that costs too much
    double *tangent_mass;              // [ntangent] the same for the rows of T; only without columns
    struct pcs_projection *projection; // M^-1 G^T
    const char *iteration_backend;     // name of the back end of the iteration matrix; NULL if there is none
    int bad_equation;                  // equation at which a matrix broke down or the motion did not converge, or -1
    const char *advice;                // advice for the last outcome that was not PCS_CONVERGED; NULL if none
    void *data;
    pcs_memory memory[PCS_SOLVER_MEMORY]; // initial guesses of the next solve; some are empty
    int nmemory;                          // number of pieces up to the last one that is not empty
    int nfactor;                          // number of numeric factorizations, including the mass
    const double *increment; // [nv] increment of the last step along which rows were rotated; NULL if positions add up
    // Another solver for steps that this one cannot solve, created at the first such step; NULL if none was needed yet.
    pcs_step_solver *next;
    bool hands_over;           // the next solver may be used
    double *q_given, *v_given; // [nv] the problem as given
    long handovers;            // number of problems that the next one has solved
    // Last problem that did not converge: the change left and the one allowed, m/s, the row that changed most, -1 if
    // none; the equation is in bad_equation.
    double change, allowed;
    int bad_row;
    // Counts of the last solve by a solver without columns: products with the condensed matrix, sets of contacts that
    // repeated, projections in place of Newton's method.
    int products, revisits, projections;
};

extern const pcs_step_solver_ops *const pcs_step_solvers[]; // ends with NULL

// Creates the step solver of that name; "auto": the one that is expected to take least time for the system.
pcs_status pcs_step_solver_create(pcs_context *ctx, const char *name, const char *linear, pcs_system *system,
                                  pcs_step_solver **out);
// Prepares the solver for steps of this form. Cheap if nothing has changed.
pcs_status pcs_step_solver_prepare(pcs_step_solver *self, const pcs_step_form *form, pcs_outcome *outcome);
// Lets the solver hand a step that it cannot solve to another one: newton to schur, and the reverse if the problem is
// not too large for newton.
pcs_status pcs_step_solver_allow_handover(pcs_step_solver *self);
// Clears the stored initial guesses.
void pcs_step_solver_forget(pcs_step_solver *self);
// Solves a contact problem without dynamics (form { .h = 1 }) between steps of the prepared form, which stays prepared.
void pcs_step_solver_impact(pcs_step_solver *self, pcs_step_problem *problem, pcs_step_result *result);
// Replaces d by vd and updates a on low <= i < high, for step solvers that do passes themselves.
void pcs_step_follow(const pcs_step_problem *problem, int low, int high);
// Solves a step with dynamics, by the next solver if necessary.
void pcs_step_solve(pcs_step_solver *self, pcs_step_problem *problem, pcs_step_result *result);

#endif
