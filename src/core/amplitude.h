// A factor a(t) over time, and motions that are made of one.
//
//   table       linear between the entries, constant outside
//   sine        mean + size sin(2 pi f t + phase)
//   ramp        from + (to - from) r((t - start) / duration),  r(x) = x or 10 x^3 - 15 x^4 + 6 x^5, constant outside
//   pulse       size for start <= t < start + duration, or size sin(pi (t - start) / duration) there, 0 outside
//   expression  any formula of t
//
// A motion s is a itself, or the integral of a from t = 0 on, with its first two derivatives. Where those jump they are
// the ones before: what rests when a rectangle of the velocity begins still rests then. Formulas alone are integrated
// numerically, to round-off, and have at a jump the value that the formula has there.

#ifndef PCS_CORE_AMPLITUDE_H
#define PCS_CORE_AMPLITUDE_H

#include "core/expression.h"

typedef enum pcs_amplitude_kind {
    PCS_AMPLITUDE_TABLE,
    PCS_AMPLITUDE_SINE,
    PCS_AMPLITUDE_RAMP,
    PCS_AMPLITUDE_PULSE,
    PCS_AMPLITUDE_EXPRESSION
} pcs_amplitude_kind;

typedef struct pcs_amplitude {
    int count;                   // rows of a table; 0 for a constant 1
    const double *time, *factor; // [count]
    const double *area;          // [count] integral of the table from its first entry on; used by motions only
    pcs_amplitude_kind kind;
    double size, mean, frequency, phase; // Hz, rad; `size` also for a pulse
    double start, duration, from, to;    // s
    bool is_smooth;                      // ramp by the polynomial, pulse by half a sine
    const pcs_expression *expression;    // formula of t
    const char *formula;                 // its text
    double panel;                        // s, for an expression: `area` holds its integral up to k panel, k < count
} pcs_amplitude;

// Returns true if the case gives an amplitude; without one the factor is the constant 1.
bool pcs_amplitude_is_given(const pcs_amplitude *a);
double pcs_amplitude_value(const pcs_amplitude *a, double t);
// Integrates a table from its first entry on, into area [count].
void pcs_amplitude_sum(int count, const double *time, const double *factor, double *area);

// Integrates an expression from 0 to k panel, into area[count], from which later integrals continue.
void pcs_amplitude_integrate(pcs_amplitude *a, double panel, int count, double *area);

// Returns why s = a, or s' = a, cannot be a motion; NULL if it can.
const char *pcs_amplitude_refuses(const pcs_amplitude *a, bool is_velocity);
// Evaluates s, s' and s''.
void pcs_amplitude_motion(const pcs_amplitude *a, bool is_velocity, double t, double s[3]);

#endif
