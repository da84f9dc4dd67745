// Time integrators: one file or family each, one line in scheme_list.def.

#ifndef PCS_SCHEMES_SCHEME_H
#define PCS_SCHEMES_SCHEME_H

#include "schemes/rule.h"
#include "schemes/state.h"
#include "step/step.h"

typedef struct pcs_step_report {
    pcs_outcome outcome;
    int iterations;
    int bad_equation;    // equation at which the state is not finite, or -1
    double h;            // length of the step, s
    pcs_measure measure; // energies and momentum at the end of the step
    // Energy changes over the step, J, each from its own definition
    double external_work, damping_loss, correction_work;
    double material_loss;     // loss of internal variables; filled in when the step is accepted
    double impact_loss;       // loss by normal impulses
    double friction_loss;     // loss by tangential impulses
    double numerical_loss;    // meaningful only if the scheme has it in closed form
    double smooth_impulse[3]; // the scheme's quadrature of the resultant force, N s
    bool is_joined;           // joined from several smaller steps: sums over all; laws of rows of the last one
    pcs_row_report *rows;     // [nrow + ncompliant]
} pcs_step_report;

// Sums the terms of a report to the change of energy in its step, J; the numerical loss is left out.
static inline double pcs_report_change(const pcs_step_report *r)
{
    return r->external_work - r->damping_loss - r->material_loss - (r->impact_loss + r->friction_loss) +
           r->correction_work;
}

// Requirement of a scheme for waves: h = t_e in every cell, up to a relative mismatch |h/t_e - 1|.
typedef struct pcs_wave_demand {
    const pcs_travel *travel;
    double mismatch;
} pcs_wave_demand;

typedef struct pcs_scheme pcs_scheme;

// Models that a scheme can advance besides those that all schemes can.
enum {
    PCS_TAKES_ROTATIONS = 1, // moves positions by pcs_retract
    PCS_TAKES_MATERIALS = 2, // materials with internal variables: forces are evaluated at ends of a step, or within it
                             // as if it ended there
    PCS_TAKES_DISTRIBUTED_ROWS =
        4 // reads only the local contact rows, and all of them through pcs_rows_any and the like
          // (system.h); columns of all rows are not needed
};

typedef struct pcs_scheme_ops {
    const char *name;
    const char *summary;
    const pcs_option *options;
    size_t params_size;
    size_t data_size;   // bytes of private data for one step, which begin with pcs_next, zeroed before setup
    int nhistory;       // number of history vectors: accelerations, or velocities (PCS_RULE_WAVE)
    int nresultant;     // number of resultants, double[3] each, with which the struct of numbers begins
    int nrow_history;   // number of history vectors over the rows
    size_t memory_size; // size of the struct of other numbers that are kept
    pcs_rule rule;      // equations of a step; what depends on parameters is added by setup
    unsigned takes;     // PCS_TAKES_...

    // Reason why all steps but the last must have equal length, which excludes step control and smaller steps in place
    // of a failed one; NULL if they need not.
    const char *needs_equal_steps;

    // Returns NULL if the parameters are valid, else the error; *option names the parameter.
    const char *(*check)(const void *params, const char **option);
    // Returns NULL if the scheme can advance this system, else the reason; the function is NULL if it can advance all.
    const char *(*refuses)(const pcs_system *system, const void *params);
    pcs_mode_limit *stable_step; // NULL if the scheme needs no stable step
    // Largest rotation of a tumbling body in a step, rad, with which gyroscopic moments make its motion grow by less
    // than a factor e in 10^6 radians (fe/stable.c); 0 if there is no such limit.
    double largest_rotation;
    // Returns the travel times that the step must match, with masses of one-point quadrature; NULL if there are none.
    pcs_wave_demand (*ask_waves)(const pcs_system *system, const void *params);
    // Completes self->rule and allocates all memory; called once. `step` may not allocate.
    pcs_status (*setup)(pcs_scheme *self);
    // Starts a run, with a state fresh from pcs_state_create but for q and v: consistent initial accelerations, an
    // impact at t = 0 (reported like a step of length 0).
    pcs_status (*start)(pcs_scheme *self, pcs_state *x, pcs_step_report *report);
    // Advances x by h. If it does not converge, the outcome says so, no error is raised and x is unchanged bit for bit.
    pcs_status (*step)(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report);
} pcs_scheme_ops;

struct pcs_scheme {
    const pcs_scheme_ops *ops;
    pcs_context *ctx;
    pcs_system *system;
    pcs_step_solver *solver;
    const void *params;
    void *data;
    pcs_rule rule; // copy of ops->rule, completed by setup
    double step;   // step length of the run, s, if known in advance, else 0
    // [stages of rule.tableau][nv] accelerations of the last step without forces of rows, m/s^2; NULL if not kept
    double *const *stage_accelerations;
};

extern const pcs_scheme_ops *const pcs_schemes[]; // ends with NULL

// Joins the reports of two steps in `report`: `first`, which ended at q1, and its own from there to q, of npoint
// points. The laws of rows are those of the second, and forces have the sense of its end.
void pcs_join_reports(const pcs_system *system, const pcs_step_report *first, int npoint, const double *q1,
                      const double *q, pcs_step_report *report);

// Copies a report of npoint points to one that has rows of its own.
static inline void pcs_copy_report(const pcs_step_report *report, int npoint, pcs_step_report *to)
{
    pcs_row_report *rows = to->rows;
    *to = *report;
    to->rows = rows;
    for (int j = 0; j < npoint; j++) rows[j] = report->rows[j];
}

// Calls `start` and `step` of the scheme, and adds the report of the force laws of contacts.
pcs_status pcs_scheme_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report);
pcs_status pcs_scheme_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report);

// Computes a = M^-1 f at the state, to which the system moves, without forces of rows.
void pcs_scheme_accelerate(pcs_scheme *self, const pcs_state *x, double *a);

// Applies a jump df [nv] of the smooth forces between two steps, N, which is overwritten, with its resultant along the
// directions of space, to what the scheme remembers, as if the forces had been there at the end of the last step:
//   a := a + da,   M da = df + G^T dlam,   G da = 0 on joints where the scheme's accelerations obey them, else dlam = 0
void pcs_scheme_change_forces(pcs_scheme *self, pcs_state *x, double *df, const double resultant[3]);

// Returns the velocity whose momentum and kinetic energy are those of the state.
static inline const double *pcs_scheme_velocity(const pcs_scheme *self, const pcs_state *x)
{
    return self->ops->rule.kind == PCS_RULE_WAVE ? x->history[0] : x->v;
}

// Creates the matrix that the step solver of PCS_RULE_WAVE needs, before that solver; does nothing for others. Its
// initial values, M + (h^2/4) K, serve until the first step.
pcs_status pcs_scheme_weigh(const pcs_scheme_ops *ops, pcs_system *system, double h);

// Returns NULL if the scheme can advance this system, else the reason.
const char *pcs_scheme_refuses(const pcs_scheme_ops *ops, const pcs_system *system, const void *params);

// Returns the largest step that rotating bodies allow a scheme with these parameters now, s; INFINITY if any.
double pcs_scheme_present_step(const pcs_scheme_ops *ops, const void *params, const pcs_system *system,
                               const pcs_state *x);

#endif
