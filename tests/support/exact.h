// Exact motion of an elastic bar that meets a rigid obstacle: travelling waves, known contact times.
//
// s in [0, L] is the distance from the end that makes contact, u the displacement away from the
// obstacle, so that the gap is gap + u(0, t). Gravity pulls towards the obstacle. The bar starts with
// u = slope (L - s) and v = velocity. All results are for the contact intervals given with the problem.

#ifndef EXACT_H
#define EXACT_H

#include <stdbool.h>

enum { EXACT_MAX_CONTACTS = 2 };

typedef struct exact_bar {
    double length, area;     // m, m^2
    double modulus, density; // N/m^2, kg/m^3
    double gravity;          // m/s^2
    double gap;              // m, at zero displacement
    double slope;            // initial displacement (length - s) slope
    double velocity;         // m/s, initial
    bool is_clamped;         // at s = length
    double period;           // s; INFINITY: the motion does not repeat
    int ncontact;
    double begin[EXACT_MAX_CONTACTS], end[EXACT_MAX_CONTACTS]; // s, contact intervals within one period
    double speed;                                              // m/s, of waves
    double offset[EXACT_MAX_CONTACTS + 1];                     // m, F - H in the free intervals, see exact.c
} exact_bar;

// The problems of the cases of the same name; of bars_two the bar on the positive side.
exact_bar exact_bar_bouncing(void);
exact_bar exact_bar_clamped(void);
exact_bar exact_bars_two(void);
exact_bar exact_bar_fast(void);

double exact_displacement(const exact_bar *bar, double s, double t); // m
double exact_velocity(const exact_bar *bar, double s, double t);     // m/s
double exact_force(const exact_bar *bar, double t);                  // N, >= 0

#endif
