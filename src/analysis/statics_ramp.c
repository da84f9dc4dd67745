// Points of a path of equilibria: kept, put back, and told, with the work of forces between them.
//
//   dW = 1/2 (F_n + F) . dq       of loads and friction
//   dW = 1/2 (lam_n + lam) dm     of a joint, m = g - (its own motion); 0 of one that is not driven
//
// which is exact where all forces are linear in the displacements: their sum is the change of the strain energy, as the
// model is in equilibrium at both ends. Normal forces of contacts do no work, as they act while the gap is closed.
// The rule yet gives 1/2 (lam_n + lam) dg for a contact that closes or opens within the step, as displacements have a
// kink there. The work of the loads by the rule is wrong by the opposite amount, so this term is added to it.

#include "analysis/statics_ramp.h"

#include <math.h>
#include <string.h>

void pcs_ramp_way(const pcs_ramp *r, double *way)
{
    const pcs_system *system = r->e.system;
    pcs_difference(&system->rotations, r->safe, r->q, way);
}

static void ramp_report(pcs_ramp *r, double load)
{
    pcs_statics *out = r->out;
    pcs_equilibrium *e = &r->e;
    e->factor = load;
    out->q = r->q;
    out->factor = load;
    out->time = e->time;
    out->iterations = e->iterations;
    out->total = e->total;
    out->nfactor = pcs_bordered_factorizations(e->solver);
    out->residual = e->weight > 0.0 ? e->left / e->weight : 0.0;
    out->round_off = e->weight > 0.0 ? e->round_off / e->weight : 0.0;
    out->correction = e->system->is_linear ? INFINITY : e->correction;
    out->gap = e->gap;
    out->force = e->lam;
    out->held = e->held;
    out->backend = pcs_bordered_backend(e->solver);
    if (!e->has_friction) return;
    out->tangent = e->lam + e->system->nrow;
    out->slip = e->gap + e->system->nrow;
    out->sticks = e->held + e->system->nrow;
}

void pcs_ramp_keep(pcs_ramp *r)
{
    const pcs_equilibrium *e = &r->e;
    const pcs_system *system = e->system;
    memcpy(r->safe, r->q, (size_t)system->nq * sizeof *r->q);
    memcpy(r->lam, e->lam, (size_t)e->nall * sizeof *r->lam);
    memcpy(r->gap, e->gap, (size_t)system->nrow * sizeof *r->gap);
    memcpy(r->drive, r->drive_now, (size_t)system->nrow * sizeof *r->drive);
    for (int k = 0; k < PCS_FORCE_KINDS; k++) memcpy(r->force[k], r->now[k], (size_t)system->nv * sizeof *r->now[k]);
    memcpy(r->held, e->held, (size_t)e->nall);
    if (e->has_friction) memcpy(r->along, e->along, (size_t)system->ntangent * sizeof *r->along);
}

void pcs_ramp_undo(pcs_ramp *r)
{
    pcs_equilibrium *e = &r->e;
    const pcs_system *system = e->system;
    memcpy(r->q, r->safe, (size_t)system->nq * sizeof *r->q);
    memcpy(e->lam, r->lam, (size_t)e->nall * sizeof *r->lam);
    memcpy(e->held, r->held, (size_t)e->nall);
    if (e->has_friction) memcpy(e->along, r->along, (size_t)system->ntangent * sizeof *r->along);
    e->is_factored = false;
    pcs_equilibrium_place(e, r->q);
}

// Forces on the model at q.
static void ramp_find_forces(pcs_ramp *r)
{
    const pcs_equilibrium *e = &r->e;
    const pcs_system *system = e->system;
    memcpy(r->now[PCS_FORCE_LOADS], e->loads, (size_t)system->nv * sizeof *e->loads);
    memset(r->now[PCS_FORCE_FRICTION], 0, (size_t)system->nv * sizeof *r->now[PCS_FORCE_FRICTION]);
    for (int j = system->nrow; j < e->nall; j++)
        if (e->lam[j] != 0.0) pcs_rows_add_transposed(e->R, j, e->lam[j], r->now[PCS_FORCE_FRICTION]);
}

// Adds the work of joints, by the displacement against which their forces act, and what kinks of contacts change that
// of the loads by. e->dlam is overwritten.
static void ramp_add_row_work(pcs_ramp *r, pcs_statics_work *work)
{
    const pcs_equilibrium *e = &r->e;
    pcs_system *system = e->system;
    if (system->row_set.ndriven > 0) pcs_system_drives(system, e->time, r->drive_now, e->dlam);
    for (int j = 0; j < system->nrow; j++) {
        double *sum = system->rows[j].is_bilateral ? &work->joints : &work->loads;
        *sum += 0.5 * (r->lam[j] + e->lam[j]) * (e->gap[j] - r->gap[j] - (r->drive_now[j] - r->drive[j]));
    }
}

// Their work on the way from the last equilibrium.
static void ramp_add_work(pcs_ramp *r)
{
    pcs_statics_work *work = &r->out->work;
    double *sums[PCS_FORCE_KINDS] = { &work->loads, &work->friction };
    ramp_find_forces(r);
    ramp_add_row_work(r, work);
    pcs_ramp_way(r, r->e.work);
    for (int k = 0; k < PCS_FORCE_KINDS; k++)
        for (int i = 0; i < r->e.system->nv; i++) *sums[k] += 0.5 * (r->force[k][i] + r->now[k][i]) * r->e.work[i];
}

pcs_status pcs_ramp_accept(pcs_ramp *r, double load)
{
    pcs_system *system = r->e.system;
    ramp_add_work(r);
    if (pcs_system_remembers(system)) {
        r->out->work.materials += pcs_system_material_loss(system, pcs_at(r->e.time, r->q, NULL));
        system->ops->commit(system, pcs_at(r->e.time, r->q, NULL));
    }
    r->out->step++;
    ramp_report(r, load);
    if (r->watch != NULL) PCS_TRY(r->watch(r->user, r->out));
    pcs_ramp_keep(r);
    return PCS_OK;
}

pcs_status pcs_ramp_begin(pcs_ramp *r)
{
    const pcs_equilibrium *e = &r->e;
    pcs_system *system = e->system;
    PCS_TAKE(e->ctx, r->lam, e->nall, "equilibrium");
    PCS_TAKE(e->ctx, r->gap, system->nrow, "equilibrium");
    PCS_TAKE(e->ctx, r->drive, system->nrow, "equilibrium");
    PCS_TAKE(e->ctx, r->drive_now, system->nrow, "equilibrium");
    if (system->row_set.ndriven > 0) pcs_system_drives(system, e->time, r->drive_now, e->dlam);
    for (int k = 0; k < PCS_FORCE_KINDS; k++) {
        PCS_TAKE(e->ctx, r->force[k], system->nv, "equilibrium");
        PCS_TAKE(e->ctx, r->now[k], system->nv, "equilibrium");
    }
    PCS_TAKE(e->ctx, r->held, e->nall, "equilibrium");
    if (e->has_friction) PCS_TAKE(e->ctx, r->along, system->ntangent, "equilibrium");
    if (pcs_system_remembers(system)) system->ops->commit(system, pcs_at(e->time, r->q, NULL));
    pcs_ramp_keep(r);
    ramp_report(r, 0.0);
    return PCS_OK;
}
