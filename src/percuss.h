// Percuss for C programs: load a case, step it, read state and contacts, destroy it.
//
//   percuss *p = NULL;
//   if (percuss_load("cases/bar_impact", &p) != 0) { puts(percuss_message(p)); percuss_destroy(&p); return 1; }
//   while (!percuss_is_done(p) && percuss_step(p) == 0) use(percuss_time(p), percuss_displacement(p));
//   percuss_destroy(&p);
//
// The library never prints, exits or aborts. Calls answer 0, or 1 when the simulation cannot go on, or 2 for
// bad input; percuss_message tells why. Pointers stay valid until the next step, contents are read only.

#ifndef PERCUSS_H
#define PERCUSS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct percuss percuss;

typedef struct percuss_contact {
    const char *name;    // of the contact in the case
    double gap;          // m
    double gap_rate;     // m/s
    double force;        // N, smooth part over the last step
    double impulse;      // N s, impact part of the last step
    double step_impulse; // N s, all of the last step
    int is_closed;
} percuss_contact;

typedef struct percuss_energy {
    double kinetic, strain, potential;                                                // J
    double external_work, damping_loss, impact_loss, correction_work, numerical_loss; // J since the start
    double friction_loss;                                                             // J since the start
} percuss_energy;

const char *percuss_version(void);

// Fills *out also on failure (for the message), except when there is no memory at all.
int percuss_load(const char *path, percuss **out);
// The same with nset assignments "path.to.key=value".
int percuss_load_with(const char *path, int nset, const char *const *set, percuss **out);
void percuss_destroy(percuss **p);
const char *percuss_message(const percuss *p);

int percuss_step(percuss *p);
// All steps that are left, writing results into `directory`.
int percuss_run(percuss *p, const char *directory);
int percuss_is_done(const percuss *p);

double percuss_time(const percuss *p);
double percuss_step_size(const percuss *p);
int percuss_dofs(const percuss *p);
const double *percuss_displacement(const percuss *p); // [dofs] m
const double *percuss_velocity(const percuss *p);     // [dofs] m/s
int percuss_contacts(const percuss *p);
percuss_contact percuss_contact_at(const percuss *p, int i); // one per contact point
percuss_energy percuss_energies(const percuss *p);

#ifdef __cplusplus
}
#endif

#endif
