// A given motion s(t) with its first two derivatives; private to this folder.
//
//   table          linear between the entries (the velocity jumps there), or by cubics with a continuous velocity;
//                  constant outside
//   harmonic       s = A (sin(2 pi f t + phase) - sin(phase))
//   distance       s = S r(t / T)
//   speed          s' = V r(t / T)
//   expression     any formula of t, with its exact derivatives
//   displacement   s as an amplitude says, or
//   velocity       s' (core/amplitude.h)
//
// r(x) = 10 x^3 - 15 x^4 + 6 x^5 rises from 0 to 1 with two derivatives that vanish at both ends; with a rise time T
// the harmonic motion is multiplied by it, too.

#ifndef PCS_ROWS_MOTION_H
#define PCS_ROWS_MOTION_H

#include "core/amplitude.h"
#include "core/context.h"
#include "core/option.h"

typedef struct pcs_motion_params {
    pcs_list table;
    int interpolation;
    double amplitude, frequency, phase, distance, speed, rise;
    const pcs_expression *expression; // NULL if absent
    const char *csv;                  // file of the table; NULL if absent
    pcs_amplitude displacement, velocity;
} pcs_motion_params;

enum { PCS_MOTION_LINEAR, PCS_MOTION_SMOOTH };

// Returns NULL if the parameters give exactly one motion, else the error; *option names the key.
const char *pcs_motion_check(const pcs_motion_params *params, const char **option);
// Evaluates s, s' and s'' at time t, s; lengths in m or rad.
void pcs_motion_at(const pcs_motion_params *params, double t, double s[3]);

#endif
