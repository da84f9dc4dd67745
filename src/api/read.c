// The present state: vectors, probes, energies, certificate.
//
//   M a = f + r,   r = (G^T Lambda + T^T Lambda_t) / h,   Lambda: impulses of the rows over the last step of length h
//   internal forces: -f without loads and gravity

#include "api/handle.h"
#include "linsolve/linsolve.h"
#include "step/projection.h"

#include <string.h>

double percuss_time(const percuss *p)
{
    if (p == NULL || p->system == NULL) return 0.0;
    return p->sim == NULL ? p->still.t : p->sim->state.t;
}

double percuss_step_size(const percuss *p)
{
    return p == NULL || p->sim == NULL ? 0.0 : p->sim->step_size;
}

double percuss_end_time(const percuss *p)
{
    return p == NULL || p->sim == NULL ? 0.0 : p->sim->end_time;
}

long percuss_steps(const percuss *p)
{
    return p == NULL || p->sim == NULL ? 0 : p->sim->state.step;
}

void pcs_api_mirror(percuss *p)
{
    if (p->mirror == NULL || !p->mirror->is_read) return;
    memcpy(p->mirror->q, p->sim->state.q, (size_t)p->system->nq * sizeof(double));
    memcpy(p->mirror->v, p->sim->state.v, (size_t)p->system->nv * sizeof(double));
}

static const api_mirror *read_mirror(const percuss *p)
{
    api_mirror *mirror = p->mirror;
    if (mirror->is_read) return mirror;
    mirror->is_read = true;
    memcpy(mirror->q, p->sim->state.q, (size_t)p->system->nq * sizeof(double));
    memcpy(mirror->v, p->sim->state.v, (size_t)p->system->nv * sizeof(double));
    return mirror;
}

const double *percuss_displacement(const percuss *p)
{
    if (p == NULL || p->system == NULL) return NULL;
    return p->sim == NULL ? p->still.q : read_mirror(p)->q;
}

const double *percuss_velocity(const percuss *p)
{
    if (p == NULL || p->system == NULL) return NULL;
    return p->sim == NULL ? p->still.v : read_mirror(p)->v;
}

// Returns an array over the equations, allocated on the first request; NULL if it cannot be evaluated.
static double *read_vector(percuss *p, double **vector)
{
    if (!pcs_api_may_evaluate(p)) return NULL;
    if (*vector == NULL) *vector = pcs_take(p->ctx, (size_t)p->system->nv, sizeof **vector, "a vector");
    return *vector;
}

const double *percuss_force(percuss *p)
{
    double *f = p == NULL ? NULL : read_vector(p, &p->force);
    if (f != NULL) p->system->ops->force(p->system, pcs_api_at(p), f);
    return f;
}

// Returns the internal forces; forces that the caller applies count as loads.
const double *percuss_internal_force(percuss *p)
{
    if (p == NULL || p->system == NULL || !pcs_system_is_mesh(p->system)) return NULL;
    double *f = read_vector(p, &p->internal);
    if (f == NULL) return NULL;
    pcs_instant at = pcs_api_at(p);
    at.load_factor = 0.0;
    p->system->ops->force(p->system, at, f);
    for (int i = 0; i < p->system->nv; i++) f[i] = (p->applied == NULL ? 0.0 : p->applied[i]) - f[i];
    return f;
}

void pcs_api_aim(percuss *p)
{
    if (p->system->row_set.vary) pcs_system_aim(p->system, pcs_api_at(p));
}

const double *percuss_contact_force(percuss *p)
{
    double *f = p == NULL ? NULL : read_vector(p, &p->contact_force);
    if (f == NULL) return NULL;
    const pcs_system *system = p->system;
    // A model at rest has forces, a run impulses of its last step; at the start there was none.
    double h = p->sim == NULL ? 1.0 : p->sim->report.h;
    memset(f, 0, (size_t)system->nv * sizeof *f);
    if (!(h > 0.0)) return f;
    pcs_api_aim(p);
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row_report *row = &p->rows[j];
        if (row->step_impulse != 0.0) pcs_rows_add_transposed(system->G, j, row->step_impulse / h, f);
        for (int t = 0; t < system->rows[j].ntangent; t++)
            if (row->tangent[t] != 0.0)
                pcs_rows_add_transposed(system->T, system->rows[j].first_tangent + t, row->tangent[t] / h, f);
    }
    return f;
}

const double *percuss_acceleration(percuss *p)
{
    if (p == NULL || p->sim == NULL || p->sim->solver == NULL || p->sim->solver->mass == NULL) return NULL;
    if (p->sim->scheme->rule.kind == PCS_RULE_WAVE) return NULL; // what is factored is not M, which may be singular
    double *a = read_vector(p, &p->acceleration);
    const double *r = percuss_contact_force(p);
    if (a == NULL || r == NULL || !pcs_projection_move(p->sim->solver, p->sim->state.q)) return NULL;
    p->system->ops->force(p->system, pcs_api_at(p), a);
    for (int i = 0; i < p->system->nv; i++) a[i] += r[i];
    pcs_linsolve_solve(p->sim->solver->mass, a);
    return a;
}

int percuss_probes(const percuss *p)
{
    return p == NULL ? 0 : p->nprobe;
}

const char *percuss_probe_name(const percuss *p, int i)
{
    return i < 0 || i >= percuss_probes(p) ? NULL : p->probes[i].column;
}

double percuss_probe_at(const percuss *p, int i)
{
    if (i < 0 || i >= percuss_probes(p)) return 0.0;
    if (p->sim != NULL) return pcs_state_probe(&p->sim->state, p->system, &p->probes[i]);
    return p->system->ops->probe(p->system, &p->probes[i], p->still);
}

int percuss_probe_named(const percuss *p, const char *name)
{
    for (int i = 0; i < percuss_probes(p); i++)
        if (name != NULL && strcmp(p->probes[i].column, name) == 0) return i;
    return -1;
}

percuss_energy percuss_energies(const percuss *p)
{
    if (p == NULL || p->system == NULL || p->is_stepping) return (percuss_energy){ 0 };
    if (p->sim == NULL) {
        pcs_measure now;
        p->system->ops->measure(p->system, pcs_api_at(p), PCS_ENERGY, &now);
        return (percuss_energy){ .kinetic = now.kinetic, .strain = now.strain, .potential = now.potential };
    }
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
        .initial = l->initial,
        .material_loss = l->material_loss,
    };
}

static const pcs_certificate *read_certificate(const percuss *p)
{
    return p == NULL || p->sim == NULL ? NULL : p->sim->view.certificate;
}

int percuss_checks(const percuss *p)
{
    const pcs_certificate *c = read_certificate(p);
    return c == NULL ? 0 : c->ncheck;
}

percuss_check percuss_check_at(const percuss *p, int i)
{
    if (i < 0 || i >= percuss_checks(p)) return (percuss_check){ 0 };
    const pcs_check *c = &read_certificate(p)->checks[i];
    return (percuss_check){ .name = c->name,
                            .unit = c->unit,
                            .worst_ratio = c->worst_ratio,
                            .worst_value = c->worst_value,
                            .tolerance = c->tolerance,
                            .worst_time = c->worst_time,
                            .is_reported_only = c->is_reported_only };
}

percuss_effort percuss_efforts(const percuss *p)
{
    if (p == NULL || p->sim == NULL) return (percuss_effort){ 0 };
    const pcs_view *view = &p->sim->view;
    const pcs_timing *timing = &p->sim->timing;
    return (percuss_effort){ .steps = p->sim->state.step,
                             .iterations = view->iterations,
                             .factorizations = view->factorizations,
                             .attempts = view->attempts,
                             .cut_steps = view->cut_steps,
                             .setup = timing->setup,
                             .step = timing->step,
                             .certify = timing->certify,
                             .output = timing->output,
                             .memory = view->memory };
}
