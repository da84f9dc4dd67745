// Section `perturbation`: a start beside that of the case, by random velocities of a given kinetic energy E.
//
//   v = v0 + s w,   G w = 0,   s^2 w . M w / 2 = E
//
// G has the rows of joints and of closed contacts, so that joints hold and nothing penetrates; positions stay. w begins
// as w_i = r_i / sqrt(M_ii) with r_i from [-1, 1], the same mean energy for every equation, and is projected onto one
// row after another (Kaczmarz), in the norm of D = diag M: w -= D^-1 G_j^T (G_j w) / (G_j D^-1 G_j^T).

#include "build/builder.h"
#include "sim/sim.h"
#include "step/projection.h"

#include <math.h>

static const pcs_option perturbation_options[] = {
    PCS_REAL("energy", pcs_perturbation, energy, PCS_REQUIRED, PCS_POSITIVE,
             "kinetic energy of the random velocities that are added, J"),
    PCS_COUNT("seed", pcs_perturbation, seed, PCS_DEFAULT("1"), PCS_NOT_NEGATIVE, "which random velocities"),
    { .name = NULL },
};
const pcs_map pcs_perturbation_map = { .name = "perturbation", .options = perturbation_options };

pcs_status pcs_build_perturbation(pcs_build *b)
{
    pcs_yaml *root = pcs_case_root(b->c), *node = pcs_case_get(b->c, root, "perturbation");
    if (node == NULL || !pcs_case_is(b->c, node, PCS_YAML_MAP)) return PCS_OK;
    (void)pcs_case_read(b->c, node, perturbation_options, &b->sim->perturbation);
    if (pcs_yaml_get_kind(pcs_case_get(b->c, root, "start")) == PCS_YAML_MAP)
        pcs_case_error(b->c, node, "a run that starts from another one has the velocities of that one");
    return PCS_OK;
}

// Draws w_i sqrt(M_ii) from [-1, 1] by equation and seed.
static double perturbation_draw(int i, int seed)
{
    unsigned long long x = ((unsigned long long)seed << 32 | (unsigned)i) + 1;
    return pcs_draw(pcs_mix(pcs_mix(x + PCS_MIX_STEP) + PCS_MIX_STEP));
}

typedef struct perturbation_data {
    pcs_system *system;
    double *w;       // [nv] velocities
    double *inverse; // [nv] 1/M_ii, 0 without mass
    double *gap;     // [nrow]
    double *hold;    // [nrow] 1/(G_j D^-1 G_j^T) for a row that holds, else 0
} perturbation_data;

// Projects w onto every row that holds. Returns the largest (G_j w)^2 / (G_j D^-1 G_j^T) found on the way.
static double perturbation_sweep(const perturbation_data *p)
{
    const pcs_rows *G = p->system->G;
    double worst = 0.0;
    for (int j = 0; j < p->system->nrow; j++) {
        double impulse = p->hold[j] * pcs_rows_dot(G, j, p->w);
        if (impulse == 0.0) continue;
        worst = fmax(worst, impulse * impulse / p->hold[j]);
        for (int k = G->start[j]; k < G->start[j + 1]; k++)
            p->w[G->column[k]] -= p->inverse[G->column[k]] * G->value[k] * impulse;
    }
    return worst;
}

static void perturbation_begin(const perturbation_data *p, const double *q, int seed)
{
    const pcs_rows *G = p->system->G;
    for (int i = 0; i < p->system->nv; i++) {
        double mass = pcs_matrix_diagonal(p->system->M, i);
        p->inverse[i] = mass > 0.0 ? 1.0 / mass : 0.0;
        p->w[i] = perturbation_draw(i, seed) * sqrt(p->inverse[i]);
    }
    for (int j = 0; j < p->system->nrow; j++) {
        double sum = 0.0;
        for (int k = G->start[j]; k < G->start[j + 1]; k++) sum += G->value[k] * G->value[k] * p->inverse[G->column[k]];
        bool holds = p->system->rows[j].is_bilateral || p->gap[j] <= pcs_gap_tie(p->system, j, q);
        p->hold[j] = holds && sum > 0.0 ? 1.0 / sum : 0.0;
    }
}

// Finds w. The relative error left in G w is below round-off relative to v0 once w is small compared with it.
static pcs_status perturbation_project(pcs_context *ctx, const perturbation_data *p, pcs_instant at, double *energy)
{
    enum { SWEEPS = 100000 };
    const double tolerance = 1e-8;
    pcs_measure measure;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double worst = perturbation_sweep(p);
        p->system->ops->measure(p->system, at, PCS_ENERGY, &measure);
        *energy = measure.kinetic;
        if (worst <= tolerance * tolerance * *energy) return PCS_OK;
    }
    return pcs_fail(ctx, PCS_UNSUPPORTED, "no velocities found that joints and closed contacts allow");
}

pcs_status pcs_build_perturb(pcs_build *b)
{
    pcs_sim *sim = b->sim;
    pcs_system *system = sim->system;
    const pcs_state *x = &sim->state;
    perturbation_data p = { .system = system };
    double energy = 0.0;
    if (!(sim->perturbation.energy > 0.0)) return PCS_OK;
    if (system->layout != NULL) return pcs_fail(b->ctx, PCS_UNSUPPORTED, "a perturbed start is for one process");
    PCS_TAKE_EACH(b->ctx, system->nv, "the perturbation", double, &p.w, &p.inverse);
    PCS_TAKE_EACH(b->ctx, system->nrow, "the perturbation", double, &p.gap, &p.hold);
    if (!pcs_projection_move(sim->solver, x->q)) return pcs_fail(b->ctx, PCS_FAILED, "the initial mass is singular");
    pcs_system_gaps(system, pcs_at(x->t, x->q, NULL), p.gap);
    perturbation_begin(&p, x->q, sim->perturbation.seed);
    PCS_TRY(perturbation_project(b->ctx, &p, pcs_at(x->t, x->q, p.w), &energy));
    if (!(energy > 0.0)) return pcs_fail(b->ctx, PCS_UNSUPPORTED, "there is no velocity that joints allow");
    double scale = sqrt(sim->perturbation.energy / energy);
    for (int i = 0; i < system->nv; i++) x->v[i] += scale * p.w[i];
    return PCS_OK;
}
