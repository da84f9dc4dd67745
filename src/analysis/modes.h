// Natural frequencies and mode shapes of small vibrations about the reference state or a given one.
//
//   symmetric:  K phi = w^2 M phi, damping left out of it; its share xi = phi^T C phi / (2 w) is reported;
//               below 0 the mode is unstable
//   whirl:      (s^2 M + s C + K) phi = 0 where C or K is not symmetric (spinning shafts), s = -decay + i w
//
// Joints hold: G phi = 0. Contacts are open, except those given as closed.

#ifndef PCS_ANALYSIS_MODES_H
#define PCS_ANALYSIS_MODES_H

#include "analysis/analysis.h"
#include "analysis/eigen.h"
#include "analysis/statics.h"

typedef struct pcs_modes_options {
    int count;
    bool is_whirl;             // solve the quadratic problem also if all matrices are symmetric
    pcs_eigen_method method;   // not an option of the command line
    double time;               // s, time of the loads that contribute to K
    const double *q;           // [nq] state; NULL for the reference state
    const unsigned char *held; // [nrow] contacts that stay closed, NULL if none
    const double *force;       // [nrow] multipliers of the state, NULL if none
    double load_factor;        // factor of its loads; the reference state has neither loads nor their stiffness
} pcs_modes_options;

typedef enum pcs_mode_kind {
    PCS_MODE_RIGID,      // moves without force and has a name
    PCS_MODE_MECHANISM,  // moves without force, with bends at joints or hinges of rods
    PCS_MODE_DIVERGENCE, // unstable: grows without vibration
    PCS_MODE_FLUTTER,    // unstable: vibrates and grows, by follower loads or negative damping
    PCS_MODE_VIBRATION,
    PCS_MODE_FORWARD, // whirls with the spin: gyroscopic forces raise w
    PCS_MODE_BACKWARD,
    PCS_MODE_DECAY // decays without vibration (overdamped)
} pcs_mode_kind;

typedef struct pcs_mode {
    double w;       // rad/s; for a mode that does not vibrate its rate of growth or decay, 1/s
    double damping; // ratio xi; negative if the vibration grows
    double residual;
    pcs_mode_kind kind;
    const char *name;      // name of a rigid mode, location of a mechanism, or rate of growth or decay; else ""
    const double *re, *im; // [nv] shape; im is NULL if real; rigid ones are as they are named, not orthogonal
} pcs_mode;

typedef struct pcs_modes {
    int count;
    pcs_mode *modes;
    bool is_whirl;
    pcs_instant at; // state
} pcs_modes;

// Moves q [nq] to the equilibrium under loads, without friction, as contacts with friction can slide in vibrations, and
// sets the members of `out` that describe the state.
pcs_status pcs_modes_about(const pcs_analysis *on, pcs_statics_options options, double *q, pcs_statics *statics,
                           pcs_modes_options *out);

// Leaves M, K, C and G of the system at that state.
pcs_status pcs_modes_find(const pcs_analysis *on, const pcs_modes_options *options, pcs_modes *out);

// Returns the frequency, Hz; 0 for a mode that does not vibrate.
double pcs_mode_hertz(const pcs_mode *mode);

const char *pcs_mode_kind_text(pcs_mode_kind kind);

// Writes modes.csv and the shapes as "<case>_modes" frames; the largest displacement is a tenth of the model.
pcs_status pcs_modes_write(const pcs_analysis *on, const pcs_modes *modes, const char *directory);

#endif
