// A step that is accepted: of the given size, in smaller parts where it fails, or of a size under control; and its
// judgement: the certificate, and why it was rejected.
//
// Step-size control for fixed-step schemes works by step doubling or by contacts with force laws.
//
// By doubling, a step of H is taken once as a whole and once as two halves; the halves are kept. With x the positions,
//   order 0:  e = 2 (x_halves - x_whole),            H' = H 0.9 / err
//   order p:  e = (x_halves - x_whole) / (2^p - 1),  H' = H 0.9 / err^(1/(p+1))
// err = max|e| / (tolerance L), L the size of the system. `variable` takes order 2 in smooth steps and order 0 in
// steps with an impact. In steps of explicit schemes without one H times the difference of velocities counts like that
// of positions, which do not see a force that sets in towards the end of the step; implicit ones see it in positions,
// and their velocities have fast modes that need not be followed. The penetration that a step ADDS is bounded, too: a
// bound on the penetration itself would stall once a resting contact lies deeper. (Acary, lecture slides; eq. 128 in
// incremental form.)
//
// By contacts, the given step is taken where no contact with a force law is closed or about to be, T being the shortest
// time that bodies press on such a contact (build/bars.h), g the gap of an open point and g' its rate:
//
//   closed                    h <= T/steps
//   open, g' < 0              h <= max(T/steps, 0.9 g / -g')
//   after a step of h         h' <= 1.02 h, 0.02 of the time since contacts opened
//
// So a touch or release is a kink in a step of T/steps at most, which changes the speed by 1.3/steps^2, and what
// vibrates after it is followed for as long as it vibrates fast. One that was not foreseen undoes the step.
//
// A step that does not converge, or whose certificate does not hold, is cut: the same time is covered by two steps of
// half the length, each certified on its own and cut again if necessary, down to h / 2^depth. The result is
// reported as one step. So is a step that is too long for bodies that turn fast at its start, without being tried.
//
// A step is cut, as far as that goes, also where it takes more than a quarter of the energy that the run may still
// gain: rules without dissipation gain at steps that do not resolve a nonlinear motion, and once all is spent no
// smaller step can help any more.
//
// After two failures in a row the next step begins with the fewest halvings that did in the last one. One halving less
// is tried after 2 steps; when that fails, after 4, 8, ... 64.

#ifndef PCS_SIM_CONTROL_H
#define PCS_SIM_CONTROL_H

#include "sim/sim.h"

enum { PCS_ORDER_0, PCS_ORDER_1, PCS_ORDER_2, PCS_ORDER_VARIABLE };

typedef struct pcs_control_params {
    double steps;             // in the time T; 0 for step doubling
    double tolerance;         // error of positions per step, in units of the system's size
    int order;                // order of the estimate
    double penetration;       // most penetration added by a step, in units of the system's size; `tolerance` if NAN
    double smallest, largest; // step, s; if NAN 1e-7 (or 1e-3 of the tolerance) and a tenth of the run
    double stable;            // s, limit of an explicit scheme; INFINITY if none. Not an option
} pcs_control_params;

extern const pcs_option pcs_control_options[], pcs_control_contact_options[];

pcs_status pcs_control_create(pcs_sim *sim, const pcs_control_params *params, struct pcs_control **out);

// Creates fixed steps. A step that fails is cut by up to so many halvings, unless the scheme needs equal steps.
pcs_status pcs_retry_create(pcs_sim *sim, int depth, struct pcs_retry **out);

// Checks the last report against the state, and the one before the step, NULL if unknown, with its energy, J. Returns
// false if a condition is violated and the case is strict, or if a work is not finite, which becomes the outcome of the
// step.
bool pcs_accept_certifies(pcs_sim *sim, const pcs_state *before, double energy);
// Fails with PCS_FAILED and says why the last step of length h was rejected: no convergence, or a broken certificate.
pcs_status pcs_accept_reject(pcs_sim *sim, double h);
// Fails with PCS_FAILED and a message of `what`, step, time and step size.
pcs_status pcs_accept_stop(pcs_sim *sim, double h, const char *what);
// Searches contacts that may touch in the next step, or in each of the smaller ones that cover it. Fails with
// PCS_FAILED if bodies overlap that had no row.
pcs_status pcs_sim_search(pcs_sim *sim);
// Advances by one accepted step, as a whole or in parts. Fails with PCS_FAILED, with the state as before, if even the
// smallest steps fail.
pcs_status pcs_accept_step(pcs_sim *sim);

#endif
