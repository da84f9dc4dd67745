// Every scheme of the registry, and cases that are tried with each of them.

#ifndef PCS_TESTS_EVERY_SCHEME_H
#define PCS_TESTS_EVERY_SCHEME_H

#include "sim/sim.h"

#include <stdbool.h>

// What `scheme` says in a case, "type: ...": all schemes of the registry, some of them twice; ends with NULL.
extern const char *const every_scheme[];
// Fails where a scheme of the registry is not among them.
void check_every_scheme_is_listed(void);

typedef struct scheme_job {
    const char *path;
    const char *set[4];
    int nset;
} scheme_job;

// The simulation, started; NULL where the case does not take this.
pcs_sim *scheme_job_open(const scheme_job *job, pcs_context **ctx);
// Goes three steps beyond the first impact, or as far as is worth its while: up to `effort` over the number of
// equations. False where the run ends before that.
bool scheme_job_approach(pcs_sim *sim, double effort);

// Tries all schemes, or these settings in their place (ending with NULL), each over one of `share` cases, so that all
// cases come up with some of them; each must be ready, as `check` tells, for at least so many.
void scheme_jobs_try(const char *const *choices, const char *const *paths, int share, int least,
                     bool (*check)(const scheme_job *));

#endif
