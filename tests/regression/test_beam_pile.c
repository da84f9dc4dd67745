// A pile of crossed beams with friction drops on a floor, slides and comes to rest: forces carry the weights, momentum
// goes by Coulomb's law, rows of contacts hold.

#include "build/build.h"
#include "support/check.h"

#include <math.h>
#include <string.h>

enum { LAYERS = 3, WIDTH = 4 };

typedef struct pile {
    pcs_context *ctx;
    pcs_sim *sim;
    double impulse[LAYERS]; // N s, upwards on each layer from what is below, since the start
    double force[LAYERS];   // N, in the last step
    double smallest_gap;
    int most_rounds;
} pile;

static pile pile_open(int nset, const char *const *set)
{
    pile p = { .smallest_gap = INFINITY };
    CHECK(pcs_context_create(&p.ctx) == PCS_OK);
    CHECK_OK(p.ctx, pcs_build_sim_from(p.ctx, "cases/beam_pile", nset, set, &p.sim));
    CHECK_OK(p.ctx, pcs_sim_start(p.sim));
    return p;
}

// Every step is certified. Contacts are named after the beam above: l0b3 is the fourth beam on the floor.
static void pile_step(pile *p)
{
    const pcs_system *system = p->sim->system;
    CHECK_OK(p->ctx, pcs_sim_step(p->sim));
    memset(p->force, 0, sizeof p->force);
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row_report *row = &p->sim->report.rows[j];
        int layer = system->contacts[system->rows[j].contact].name[1] - '0';
        CHECK(layer >= 0 && layer < LAYERS);
        p->impulse[layer] += row->step_impulse;
        p->force[layer] += row->step_impulse / p->sim->step_size;
        p->smallest_gap = fmin(p->smallest_gap, row->gap);
        // No contact pulls, none rubs more than it is pressed.
        CHECK(row->step_impulse >= 0.0);
        CHECK(hypot(row->tangent[0], row->tangent[1]) <= 0.5 * row->step_impulse * (1.0 + 1e-9) + 1e-12);
    }
    if (p->sim->report.iterations > p->most_rounds) p->most_rounds = p->sim->report.iterations;
}

TEST(the_pile_comes_to_rest)
{
    pile p = pile_open(0, NULL);
    pcs_measure start = p.sim->ledger.now, end;
    double weight = 9.81 * p.sim->system->mass;
    CHECK(p.sim->system->nrow == LAYERS * WIDTH * WIDTH);
    CHECK(strcmp(p.sim->solver->ops->name, "schur") == 0);
    CHECK_RELATIVE(p.sim->system->mass, 12.0 * 5.0 * 600.0 * 0.25 * 3.14159265358979324 * 0.01, 1e-12);
    while (!pcs_sim_is_done(p.sim)) pile_step(&p);
    end = p.sim->ledger.now;
    CHECK(end.kinetic < 1e-20 * start.kinetic);
    CHECK(end.potential < start.potential);
    for (int k = 0; k < LAYERS; k++) CHECK_RELATIVE(p.force[k], weight * (LAYERS - k) / LAYERS, 1e-10);
    // All momentum that weight and floor gave has gone again.
    CHECK_RELATIVE(p.impulse[0], weight * p.sim->state.t - start.momentum[2], 1e-10);
    CHECK(p.smallest_gap > -2.5e-4);
    CHECK(p.most_rounds <= 12);
    pcs_context_destroy(&p.ctx);
}

// Until 20 ms no beam on the floor has stopped: the floor takes mu times its own impulse out of the momentum along it.
TEST(the_floor_rubs_by_its_pressure)
{
    const char *const set[] = { "time.end=0.02" };
    pile p = pile_open(1, set);
    pcs_measure start = p.sim->ledger.now, end;
    while (!pcs_sim_is_done(p.sim)) pile_step(&p);
    end = p.sim->ledger.now;
    double lost = hypot(start.momentum[0], start.momentum[1]) - hypot(end.momentum[0], end.momentum[1]);
    CHECK(p.impulse[0] > 0.0 && lost > 0.1 * hypot(start.momentum[0], start.momentum[1]));
    CHECK_RELATIVE(lost, 0.5 * p.impulse[0], 0.01);
    CHECK_RELATIVE(end.momentum[1], 0.5 * end.momentum[0], 0.01);
    pcs_context_destroy(&p.ctx);
}
