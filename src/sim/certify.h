// The certificate: after every step the discrete conditions that the scheme states are checked on the state
// itself, to tolerances that scale with the model.

#ifndef PCS_SIM_CERTIFY_H
#define PCS_SIM_CERTIFY_H

#include "case/case.h"
#include "core/archive.h"
#include "output/observer.h"

typedef struct pcs_certifier pcs_certifier;

// Compares the coefficients of contacts with the numbers of the case, read a second time, unless that is NULL. With
// `is_controlled` step-size control chooses the steps: that of the case is only the first one.
pcs_status pcs_certifier_create(pcs_context *ctx, const pcs_scheme *scheme, pcs_case *input, bool is_controlled,
                                pcs_certifier **out);

// Records the state at t = 0 as the start of the first step.
void pcs_certifier_start(pcs_certifier *self, const pcs_measure *before);

// Saves the memory of the certifier before trial steps. The next function restores it when they are undone.
void pcs_certifier_mark(pcs_certifier *self);
void pcs_certifier_rewind(pcs_certifier *self);

// Serializes the certifier between two steps.
void pcs_certifier_serialize(pcs_certifier *self, pcs_archive *c);

// Returns true if the state from which the next step starts is needed to check it.
bool pcs_certifier_wants_start(const pcs_certifier *self);
// Checks the report of a step against the states `before` it, NULL if it was not wanted, and at its end; false when a
// condition is violated.
bool pcs_certify(pcs_certifier *self, const pcs_state *before, const pcs_state *x, const pcs_step_report *report);
// Returns true if the last step gained too much of the energy that the run may still gain.
bool pcs_certifier_is_greedy(const pcs_certifier *self);

const pcs_certificate *pcs_certifier_certificate(const pcs_certifier *self);

// Returns the factor (<= 0.5) for the step that broke the certificate after `share` of the run. For energies it is at
// most tolerance/defect, as the defect falls like the step or faster; times share for growth, which adds up over steps.
double pcs_certifier_shorter(const pcs_certifier *self, double share);
// Writes "gap >= 0 violated: 1e-3 m, allowed 1e-12 m" for the broken check.
void pcs_certifier_describe(const pcs_certifier *self, size_t size, char *text);

#endif
