// The public interface over a simulation.

#include "percuss.h"

#include "build/build.h"

struct percuss {
    pcs_context *ctx; // owns everything, this handle too
    pcs_sim *sim;     // NULL when the case is wrong
    bool is_stopped;  // the simulation cannot go on
};

static int percuss_answer(pcs_status status)
{
    if (status == PCS_OK) return 0;
    return status == PCS_NO_MEMORY || status == PCS_FAILED ? 1 : 2;
}

// While it runs every fault but a wrong input means that it cannot go on.
static int percuss_run_answer(percuss *p, pcs_status status)
{
    if (status == PCS_OK) return 0;
    p->is_stopped = true;
    return status == PCS_BAD_INPUT || status == PCS_UNSUPPORTED ? 2 : 1;
}

const char *percuss_version(void)
{
    return PERCUSS_VERSION;
}

int percuss_load_with(const char *path, int nset, const char *const *set, percuss **out)
{
    *out = NULL;
    pcs_context *ctx = NULL;
    if (pcs_context_create(&ctx) != PCS_OK) return 1;
    percuss *p = pcs_take(ctx, 1, sizeof *p, "the simulation");
    if (p == NULL) {
        pcs_context_destroy(&ctx);
        return 1;
    }
    p->ctx = ctx;
    *out = p;
    pcs_status status = pcs_build_sim_from(ctx, path, nset, set, &p->sim);
    if (status != PCS_OK) return percuss_answer(status);
    return percuss_run_answer(p, pcs_sim_start(p->sim));
}

int percuss_load(const char *path, percuss **out)
{
    return percuss_load_with(path, 0, NULL, out);
}

void percuss_destroy(percuss **p)
{
    if (p == NULL || *p == NULL) return;
    pcs_context *ctx = (*p)->ctx;
    *p = NULL;
    pcs_context_destroy(&ctx);
}

const char *percuss_message(const percuss *p)
{
    return p == NULL ? "out of memory" : pcs_message(p->ctx);
}

int percuss_is_done(const percuss *p)
{
    return p == NULL || p->sim == NULL || p->is_stopped || pcs_sim_is_done(p->sim);
}

int percuss_step(percuss *p)
{
    if (p == NULL || p->sim == NULL) return 2;
    if (p->is_stopped) return 1;
    return percuss_is_done(p) ? 0 : percuss_run_answer(p, pcs_sim_step(p->sim));
}

int percuss_run(percuss *p, const char *directory)
{
    if (p == NULL || p->sim == NULL) return 2;
    if (p->is_stopped) return 1;
    return percuss_run_answer(p, pcs_sim_run(p->sim, directory, false));
}

double percuss_time(const percuss *p)
{
    return p == NULL || p->sim == NULL ? 0.0 : p->sim->state.t;
}

double percuss_step_size(const percuss *p)
{
    return p == NULL || p->sim == NULL ? 0.0 : p->sim->step_size;
}

int percuss_dofs(const percuss *p)
{
    return p == NULL || p->sim == NULL ? 0 : p->sim->system->nq;
}

const double *percuss_displacement(const percuss *p)
{
    return p == NULL || p->sim == NULL ? NULL : p->sim->state.q;
}

const double *percuss_velocity(const percuss *p)
{
    return p == NULL || p->sim == NULL ? NULL : p->sim->state.v;
}

int percuss_contacts(const percuss *p)
{
    return p == NULL || p->sim == NULL ? 0 : p->sim->system->nrow;
}

percuss_contact percuss_contact_at(const percuss *p, int i)
{
    if (i < 0 || i >= percuss_contacts(p)) return (percuss_contact){ .name = "" };
    const pcs_system *system = p->sim->system;
    const pcs_row_report *row = &p->sim->report.rows[i];
    return (percuss_contact){
        .name = system->contacts[system->rows[i].contact].name,
        .gap = row->gap,
        .gap_rate = row->rate,
        .force = row->force,
        .impulse = row->impulse,
        .step_impulse = row->step_impulse,
        .is_closed = row->is_closed,
    };
}

percuss_energy percuss_energies(const percuss *p)
{
    if (p == NULL || p->sim == NULL) return (percuss_energy){ 0 };
    const pcs_ledger *l = &p->sim->ledger;
    return (percuss_energy){
        .kinetic = l->now.kinetic,
        .strain = l->now.strain,
        .potential = l->now.potential,
        .external_work = l->external_work,
        .damping_loss = l->damping_loss,
        .impact_loss = l->impact_loss,
        .correction_work = l->correction_work,
        .numerical_loss = l->numerical_loss,
        .friction_loss = l->friction_loss,
    };
}
