// Extrapolates the accelerations of the steps before to the next one: the polynomial through the last ones, by backward
// differences,
//
//   a_(n+1) ~ a_n + D1 + ... + Dk      D1 = a_n - a_(n-1),  D2 = D1_n - D1_(n-1),  ...
//
// The error of order k is D(k+1) of the step to come. So the differences of a step say how good each order would have
// been for it, and the best one serves the next step: a motion that is resolved in time goes on smoothly, one with fast
// modes of the mesh, whose signs alternate, stays with the last acceleration, and is left alone for a while. Forces of
// joints go along. Where a contact acts, and where the step has another length, the past begins anew.

#ifndef PCS_STEP_PAST_H
#define PCS_STEP_PAST_H

#include "step/step.h"

enum { PCS_PAST_ORDERS = 3 };

typedef struct pcs_past_head {
    double h;     // length of the steps, s
    double count; // number of known differences; below zero: steps until the past is used again
    double order; // order of the next guess
} pcs_past_head;

typedef struct pcs_past {
    int n, nforce;
    pcs_past_head head;
    double *rise[PCS_PAST_ORDERS]; // [n] D1, D2, ... of accelerations, m/s^2
    double *force_rise;            // [PCS_PAST_ORDERS * nforce] D1, D2, ... of forces, N
} pcs_past;

// Creates the extrapolation; declares its numbers as pieces of the solver's memory from `first` on.
pcs_status pcs_past_create(pcs_step_solver *solver, int nforce, int first, pcs_past **out);
// Extrapolates acceleration and forces of the step before to the next one; `d` gets `scale` times the acceleration.
void pcs_past_guess(const pcs_past *self, double h, double scale, const double *acceleration, double *d);
void pcs_past_guess_forces(const pcs_past *self, double h, const double *last, double *force);
// Updates the differences after a smooth step of length h: d times `scale` is its acceleration, after `last`.
void pcs_past_learn(pcs_past *self, const pcs_system *system, double h, const double *last, const double *d,
                    double scale);
void pcs_past_learn_forces(pcs_past *self, const double *last, const double *force);
void pcs_past_forget(pcs_past *self);

#endif
