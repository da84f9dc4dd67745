// Natural frequencies and mode shapes of small vibrations about the reference state or a given one.
//
//   symmetric:  K phi = w^2 M phi, damping left out of it; its share xi = phi^T C phi / (2 w) is told;
//               below 0 the mode is unstable
//   whirl:      (s^2 M + s C + K) phi = 0 where C or K is not symmetric (spinning shafts), s = -decay + i w
//
// Joints hold: G phi = 0. Contacts are open, but for those that the caller says are closed.

#ifndef PCS_ANALYSIS_MODES_H
#define PCS_ANALYSIS_MODES_H

#include "analysis/analysis.h"
#include "eigen/eigen.h"

typedef struct pcs_modes_options {
    int count;
    bool is_whirl;             // take the quadratic problem also when everything is symmetric
    pcs_eigen_method method;   // not an option of the command line
    double time;               // s, of loads that shape K
    const double *q;           // [nq] the state; NULL: the reference state
    const unsigned char *held; // [nrow] contacts that stay closed; NULL: none
    const double *force;       // [nrow] multipliers of the state; NULL: none
    double load_factor;        // of its loads; the reference state carries none, nor the stiffness of those that turn
} pcs_modes_options;

typedef enum pcs_mode_kind {
    PCS_MODE_RIGID,      // moves without force and has a name
    PCS_MODE_MECHANISM,  // moves without force as well, and bends at joints or hinges of rods
    PCS_MODE_DIVERGENCE, // unstable: grows without vibration
    PCS_MODE_FLUTTER,    // unstable: vibrates and grows, by follower loads or negative damping
    PCS_MODE_VIBRATION,
    PCS_MODE_FORWARD, // whirls with the spin: gyroscopic forces raise w
    PCS_MODE_BACKWARD,
    PCS_MODE_DECAY // an overdamped motion without vibration
} pcs_mode_kind;

typedef struct pcs_mode {
    double w;       // rad/s; of a mode that does not vibrate the rate at which it grows or decays, 1/s
    double damping; // ratio xi; negative if the vibration grows
    double residual;
    pcs_mode_kind kind;
    const char *name;      // of a rigid mode, where a mechanism moves, or how fast a mode grows or decays; else ""
    const double *re, *im; // [nv] shape; im is NULL of a real one; rigid ones are as they are named, not orthogonal
} pcs_mode;

typedef struct pcs_modes {
    int count;
    pcs_mode *modes;
    bool is_whirl;
    double shift;
    const char *backend, *eigen_name;
    int nfactor, nsolve;
    pcs_instant at; // the state
} pcs_modes;

// Leaves M, K, C and G of the system at that state.
pcs_status pcs_modes_find(const pcs_analysis *on, const pcs_modes_options *options, pcs_modes *out);

// Hz; 0 of a mode that does not vibrate.
double pcs_mode_hertz(const pcs_mode *mode);

const char *pcs_mode_kind_text(pcs_mode_kind kind);

// modes.csv and the shapes as "<case>_modes" frames into the directory; largest displacement a tenth of the model.
pcs_status pcs_modes_write(const pcs_analysis *on, const pcs_modes *modes, const char *directory);

#endif
