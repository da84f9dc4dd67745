// Step-size control for fixed-step schemes, by step doubling or by contacts with force laws.
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

// Advances by one accepted step, or pair of half steps, and leaves a report over all of it. Fails with PCS_FAILED, with
// the state as before, if even the smallest step fails.
pcs_status pcs_control_step(pcs_sim *sim);

#endif
