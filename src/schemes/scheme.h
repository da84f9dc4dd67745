// Time integrators: one file or family each, one line in scheme_list.def.

#ifndef PCS_SCHEMES_SCHEME_H
#define PCS_SCHEMES_SCHEME_H

#include "schemes/rule.h"
#include "schemes/state.h"
#include "step/step.h"

typedef struct pcs_step_report {
    pcs_outcome outcome;
    int iterations;
    int bad_equation;    // where the state is not finite, or -1
    double event_time;   // s, where events accumulate
    double h;            // s
    pcs_measure measure; // at the end of the step
    // Energy changes over the step, each from its own definition, J
    double external_work, damping_loss, correction_work;
    double material_loss;     // of internal variables; filled in by who accepts the step
    double impact_loss;       // of normal impulses
    double friction_loss;     // of tangential impulses
    double numerical_loss;    // meaningful only when the scheme has it in closed form
    double smooth_impulse[3]; // N s, the scheme's quadrature of the resultant force
    bool is_joined;           // of several smaller steps: sums are over all, the laws of the rows those of the last
    pcs_row_report *rows;     // [nrow + ncompliant]
} pcs_step_report;

// Condition of a scheme for waves on the step: h = t_e in every cell, up to a mismatch |h/t_e - 1|.
typedef struct pcs_wave_demand {
    const pcs_travel *travel;
    double mismatch;
} pcs_wave_demand;

typedef struct pcs_scheme pcs_scheme;

typedef struct pcs_scheme_ops {
    const char *name;
    const char *summary;
    const pcs_option *options;
    size_t params_size;
    size_t data_size;         // bytes of private data, zeroed before setup; nothing in them outlasts a step
    int nhistory;             // history vectors
    bool history_is_velocity; // that of the end of a step, v being of its middle; otherwise accelerations
    int nresultant;           // sums of forces by directions, double[3] each, that the struct of numbers begins with
    int nrow_history;         // vectors over the rows that it carries likewise
    size_t memory_size;       // of the struct of numbers that it carries besides
    bool is_explicit;         // needs a stable step
    bool is_position_level;   // states 0 <= g _|_ nu >= 0; otherwise it may penetrate by O(h)
    bool has_closed_loss;     // numerical_loss is a formula and the energy ledger must close
    bool separates_impacts;   // an impact is solved apart from forces: its loss is m_eff v^2 (1 - e^2) / 2 to round-off

    bool ignores_restitution; // states no law at velocity level: contacts press, they do not impact

    bool watches_gaps; // between the ends of a step, too: no contact that has a row is jumped over

    bool acts_midway; // rows act along directions within a step: in the mean along those of its middle, not of its end

    bool lets_contacts_sink; // constrains neither gap nor gap velocity of a lasting contact, so that its penetration
                             // grows with time: reported only

    bool takes_internal; // materials with internal variables follow: forces are asked for at the ends of a step, or
                         // within it as if it ended there

    bool takes_dealt_rows; // of contacts it looks at the rows here, and asks for all of them by pcs_rows_any and the
                           // like (system.h); columns of all rows are not needed

    const char *refuses_drives; // why rows that are driven, prescribed motions, are not for it; NULL: it follows them

    // Why steps must be of equal size, the last one apart, so that there is neither step control nor a smaller step in
    // place of one that fails; NULL: they need not.
    const char *needs_equal_steps;

    // Fills the equations that a step satisfies on this system; NULL if state and report do not suffice to check any.
    void (*state_rule)(const pcs_scheme *self, pcs_rule *rule);
    // NULL when the parameters are sound, else what is wrong; *option names the culprit.
    const char *(*check)(const void *params, const char **option);
    bool takes_rotations; // moves positions through the system's retract
    // NULL when the scheme can advance this system, else why not; NULL as function: it takes all.
    const char *(*refuses)(const pcs_system *system, const void *params);
    // Largest stable step of an explicit scheme on q'' + 2 xi w q' + w^2 q = 0; 0: there is none. NULL: that of central
    // differences, (2/w) (sqrt(1 + xi^2) - xi).
    pcs_mode_limit *stable_step;
    // By how much a body that tumbles may turn in a step, rad, so that gyroscopic moments let its motion grow by less
    // than a factor e in 10^6 radians (schemes/stability.c); 0: there is no such limit.
    double largest_turn;
    bool lags_velocity; // forces take the velocity of the start of the step: gyroscopic motions grow at any step
    // The travel times that the step must match, and with it masses of one-point quadrature; NULL: nothing like that.
    pcs_wave_demand (*ask_waves)(const pcs_system *system, const void *params);
    // Impulses of rows act against a matrix of the scheme in place of M (pcs_scheme_weigh). The velocity of the state
    // is that of the middle of the step, and the first history that of its end.
    bool has_inertia;
    // Called once. Take all memory here: step may not allocate.
    pcs_status (*setup)(pcs_scheme *self);
    // Called once per run, with a state fresh from pcs_state_create but for q and v: consistent initial accelerations,
    // an impact at t = 0 (reported like a step of length 0).
    pcs_status (*start)(pcs_scheme *self, pcs_state *x, pcs_step_report *report);
    // Advances x by h. Not converging is an outcome, not a fault: then x is untouched, bit for bit.
    pcs_status (*step)(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report);
    // Fills in by how much the velocity after the last step, of h, may be wrong since forces of its start count for
    // nothing in it, m/s; false: they count. NULL: likewise.
    bool (*find_missed)(const pcs_scheme *self, double h, double *v);
} pcs_scheme_ops;

struct pcs_scheme {
    const pcs_scheme_ops *ops;
    pcs_context *ctx;
    pcs_system *system;
    pcs_step_solver *solver;
    const void *params;
    void *data;
    double step;     // s, of the run where it is known before, else 0
    bool misses_end; // a force that sets in at the end of a step is seen by the next one alone; set by setup
};

extern const pcs_scheme_ops *const pcs_schemes[]; // ends with NULL

// Makes `report` that of two steps, `first`, which ended at q1, and its own from there to q, of so many points. The
// laws of rows are those of the second, and forces have the sense of its end.
void pcs_join_reports(const pcs_system *system, const pcs_step_report *first, int npoint, const double *q1,
                      const double *q, pcs_step_report *report);

// `start` and `step` of the scheme, with the report of what force laws of contacts did besides.
pcs_status pcs_scheme_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report);
pcs_status pcs_scheme_step_pressed(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report);
static inline pcs_status pcs_scheme_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    if (pcs_system_ncompliant(self->system) > 0) return pcs_scheme_step_pressed(self, x, h, report);
    return self->ops->step(self, x, h, report);
}

// a = M^-1 f at the state, to which the system goes, without forces of rows.
void pcs_scheme_accelerate(pcs_scheme *self, const pcs_state *x, double *a);

// The velocity whose momentum and kinetic energy are those of the state.
static inline const double *pcs_scheme_velocity(const pcs_scheme *self, const pcs_state *x)
{
    return self->ops->has_inertia ? x->history[0] : x->v;
}

// Gives the system the matrix that the step solver of a scheme with has_inertia needs, before that is made; does
// nothing for others. Its values here are those of M + (h^2/4) K and serve until the first step.
pcs_status pcs_scheme_weigh(const pcs_scheme_ops *ops, pcs_system *system, double h);

// NULL when the scheme can advance this system, else why not.
const char *pcs_scheme_refuses(const pcs_scheme_ops *ops, const pcs_system *system, const void *params);

// Largest step that bodies which turn by finite angles allow a scheme with these parameters now, s; INFINITY: any.
double pcs_scheme_present_step(const pcs_scheme_ops *ops, const void *params, const pcs_system *system,
                               const pcs_state *x);

// The version of SUNDIALS that is linked, by which events are found.
void pcs_scheme_sundials_version(int size, char *text);

#endif
