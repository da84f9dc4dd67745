#include "support/every_scheme.h"

#include "build/build.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const every_scheme[] = {
    "type: alpha_ggl",
    "type: alpha_velocity",
    "type: newmark",
    "type: hht",
    "type: alpha_index3",
    "type: moreau_jean, theta: 0.6",
    "type: moreau_jean, theta: 0.6, positions: midpoint",
    "type: moreau_jean_explicit",
    "type: moreau_midpoint",
    "type: schatzman_paoli",
    "type: half_explicit",
    "type: half_explicit, impulsive_step: 1.0e-5",
    "type: wave, allow_mismatch: true",
    "type: half_explicit_acceleration",
    "type: half_explicit_rk",
    "type: half_explicit_rk, method: hem3",
    "type: half_explicit_rk, method: hem5",
    "type: jump_newmark, rho_inf: 0.8",
    "type: splitting, contact_forces: true",
    "type: splitting",
    "type: tdg_minus",
    "type: tdg_plus, degree: 2",
    "type: ggl_midpoint, metric: mass",
    "type: ggl_midpoint, coupling: decoupled, metric: mass",
    "type: event_driven",
    "type: mannshardt",
    NULL,
};

static bool is_listed(const char *name)
{
    for (int k = 0; every_scheme[k] != NULL; k++) {
        const char *text = every_scheme[k] + strlen("type: ");
        size_t length = strlen(name);
        if (strncmp(text, name, length) == 0 && (text[length] == '\0' || text[length] == ',')) return true;
    }
    return false;
}

void check_every_scheme_is_listed(void)
{
    for (int i = 0; pcs_schemes[i] != NULL; i++)
        if (!is_listed(pcs_schemes[i]->name)) fail_msg("scheme '%s' is not in the list", pcs_schemes[i]->name);
}

pcs_sim *scheme_job_open(const scheme_job *job, pcs_context **ctx)
{
    pcs_sim *sim = NULL;
    *ctx = NULL;
    CHECK_OK(NULL, pcs_context_create(ctx));
    pcs_status status = pcs_build_sim_from(*ctx, job->path, job->nset, job->set, &sim);
    if (status == PCS_OK && pcs_sim_start(sim) == PCS_OK) return sim;
    pcs_context_destroy(ctx);
    return NULL;
}

bool scheme_job_approach(pcs_sim *sim, double effort)
{
    bool is_slow = strcmp(sim->scheme->ops->name, "event_driven") == 0, has_impact = false; // with many frequencies
    if (is_slow && sim->system->nv > 20) return false;
    long last = 4 + (long)fmin((is_slow ? 1e3 : effort) / (sim->system->nv + 10.0), 200.0);
    while (sim->state.step < last && !pcs_sim_is_done(sim)) {
        if (pcs_sim_step(sim) != PCS_OK) return false;
        for (int r = 0; r < sim->system->nrow; r++) {
            if (!sim->report.rows[r].is_impact || has_impact) continue;
            has_impact = true;
            last = sim->state.step + 3;
        }
    }
    return !pcs_sim_is_done(sim);
}

void scheme_jobs_try(const char *const *choices, const char *const *paths, int share, int least,
                     bool (*check)(const scheme_job *))
{
    bool are_schemes = choices == NULL;
    if (are_schemes) choices = every_scheme;
    for (int k = 0; choices[k] != NULL; k++) {
        char increment[160];
        int count = 0, ncase = 0;
        snprintf(increment, sizeof increment, are_schemes ? "scheme={%s}" : "%s", choices[k]);
        for (; paths[ncase] != NULL; ncase++) {
            if (ncase % share != k % share) continue;
            scheme_job job = { .path = paths[ncase],
                               .set = { increment, "certify=warn", "time.step=auto" },
                               .nset = 2 };
            bool is_done = check(&job);
            job.nset = 3; // an explicit scheme, for which the step of the case is too long
            count += is_done || (are_schemes && check(&job));
        }
        print_message("%s: %d of %d cases\n", increment, count, ncase);
        CHECK(count >= least);
    }
}
