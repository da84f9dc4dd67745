// Runs a case step by step and compares it with an exact solution.
//
//   e_u = max_t |u - u*| / max_t |u*|,   e_v^2 = int |v - v*|^2 dt / int |v*|^2 dt,   |.| in L2(0, L)
//
// by two Gauss points per cell; the displacement is counted from the mesh, the force of a step is its impulse over h.

#include "run_case.h"
#include "build/build.h"

#include "check.h"
#include "core/context.h"

#include <math.h>

// What the sums of one run need.
typedef struct case_sums {
    double u2, u2_exact, u1, u1_exact, v2, v2_exact, v1, v1_exact;
} case_sums;

static void case_keep(case_run *run)
{
    const pcs_sim *sim = run->sim;
    const pcs_row_report *row = pcs_system_npoint(sim->system) > 0 ? &sim->report.rows[0] : &(pcs_row_report){ 0 };
    const pcs_measure *now = &sim->ledger.now;
    CHECK(run->count <= sim->nstep);
    run->records[run->count++] = (case_record){
        .t = sim->state.t,
        .energy = now->kinetic + now->strain + now->potential,
        .gap = row->gap,
        .force = row->force,
        .step_impulse = row->step_impulse,
        .iterations = sim->report.iterations,
    };
}

case_run case_open(const char *path, const char *const *set)
{
    case_run run = { 0 };
    int nset = 0;
    while (set != NULL && set[nset] != NULL) nset++;
    CHECK_OK(NULL, pcs_context_create(&run.ctx));
    CHECK_OK(run.ctx, pcs_build_sim_from(run.ctx, path, nset, set, &run.sim));
    run.records = pcs_scratch(NULL, (size_t)run.sim->nstep + 1, sizeof *run.records);
    CHECK(run.records != NULL);
    CHECK_OK(run.ctx, pcs_sim_start(run.sim));
    case_keep(&run);
    return run;
}

void case_step(case_run *run)
{
    CHECK_OK(run->ctx, pcs_sim_step(run->sim));
    case_keep(run);
}

case_run case_run_all(const char *path, const char *const *set)
{
    case_run run = case_open(path, set);
    while (run.count <= run.sim->nstep) case_step(&run);
    return run;
}

void case_close(case_run *run)
{
    pcs_scratch_free(run->records);
    pcs_context_destroy(&run->ctx);
    *run = (case_run){ 0 };
}

double case_probe(const case_run *run, int which)
{
    const pcs_sim *sim = run->sim;
    return sim->system->ops->probe(sim->system, &sim->probes[which], pcs_at(sim->state.t, sim->state.q, sim->state.v));
}

const case_record *case_last(const case_run *run)
{
    return &run->records[run->count - 1];
}

// Adds one Gauss point of weight w.
static void case_add_point(case_sums *sums, const exact_bar *bar, double w, const double at[2], const double uv[2])
{
    double u = exact_displacement(bar, at[0], at[1]), v = exact_velocity(bar, at[0], at[1]);
    sums->u2 += w * (uv[0] - u) * (uv[0] - u);
    sums->u2_exact += w * u * u;
    sums->u1 += w * fabs(uv[0] - u);
    sums->u1_exact += w * fabs(u);
    sums->v2 += w * (uv[1] - v) * (uv[1] - v);
    sums->v2_exact += w * v * v;
    sums->v1 += w * fabs(uv[1] - v);
    sums->v1_exact += w * fabs(v);
}

static case_sums case_compare(const pcs_sim *sim, const exact_bar *bar, case_place place)
{
    pcs_system *system = sim->system;
    pcs_picture *picture = system->picture;
    case_sums sums = { 0 };
    system->ops->draw(system, pcs_at(sim->state.t, sim->state.q, sim->state.v), picture);
    for (int cell = 0; cell < picture->ncell; cell++) {
        int a = picture->cells[cell][0], b = picture->cells[cell][1], axis = place.axis;
        double xa = picture->reference[a][axis] - place.base, xb = picture->reference[b][axis] - place.base;
        double side = xa + xb > 0.0 ? 1.0 : -1.0;
        for (int point = 0; point < 2; point++) {
            double part = 0.5 + (point ? 0.5 : -0.5) / sqrt(3.0);
            double at[2] = { side * (xa + part * (xb - xa)), sim->state.t };
            double uv[2] = {
                side * ((1.0 - part) * picture->displacement[a][axis] + part * picture->displacement[b][axis]),
                side * ((1.0 - part) * picture->velocity[a][axis] + part * picture->velocity[b][axis]),
            };
            case_add_point(&sums, bar, 0.5 * fabs(xb - xa), at, uv);
        }
    }
    return sums;
}

// L1 and L2 distances of the step forces, in parts of a step so that jumps are seen where they are.
static void case_compare_force(const case_run *run, const exact_bar *bar, case_errors *errors)
{
    enum { PARTS = 8 };
    double d1 = 0.0, d2 = 0.0, e1 = 0.0, e2 = 0.0;
    for (long i = 1; i < run->count; i++) {
        double begin = run->records[i - 1].t, h = run->records[i].t - begin;
        double force = run->records[i].step_impulse / h;
        for (int part = 0; part < PARTS; part++) {
            double exact = exact_force(bar, begin + h * (part + 0.5) / PARTS), d = force - exact;
            d1 += h / PARTS * fabs(d);
            d2 += h / PARTS * d * d;
            e1 += h / PARTS * exact;
            e2 += h / PARTS * exact * exact;
        }
    }
    errors->force = sqrt(d2 / e2);
    errors->force_mean = d1 / e1;
}

case_errors case_measure(const char *path, const char *const *set, const exact_bar *bar, case_place place, long samples)
{
    case_run run = case_open(path, set);
    case_sums total = { 0 };
    long every = run.sim->nstep / samples > 0 ? run.sim->nstep / samples : 1;
    double largest = 0.0, largest_exact = 0.0;
    while (run.count <= run.sim->nstep) {
        case_step(&run);
        if ((run.count - 1) % every != 0) continue;
        case_sums now = case_compare(run.sim, bar, place);
        largest = fmax(largest, now.u2);
        largest_exact = fmax(largest_exact, now.u2_exact);
        total.u1 += now.u1;
        total.u1_exact += now.u1_exact;
        total.v1 += now.v1;
        total.v1_exact += now.v1_exact;
        total.v2 += now.v2;
        total.v2_exact += now.v2_exact;
    }
    case_errors errors = { .displacement = sqrt(largest / largest_exact),
                           .displacement_mean = total.u1 / total.u1_exact,
                           .velocity = sqrt(total.v2 / total.v2_exact),
                           .velocity_mean = total.v1 / total.v1_exact };
    case_compare_force(&run, bar, &errors);
    case_close(&run);
    return errors;
}
