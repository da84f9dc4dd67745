// cases/bar_impact in metre-kilogram-second and in millimetre-tonne-second: the same scaled answer, so that no
// absolute constant enters a decision. Force is newton in both; energy is 1000 times larger in N mm.

#include "support/check.h"
#include "support/run_case.h"

#include <math.h>
#include <stdlib.h>

enum { SETS = 9 };
static const double MILLI = 1e-3; // metres per millimetre

typedef struct units_scheme {
    const char *scheme, *step, *restitution;
} units_scheme;

static const units_scheme SCHEMES[] = {
    { "scheme={type: alpha_ggl, rho_inf: 0.8}", "time.step=2.0e-3", "contacts.wall.restitution=0.0" },
    { "scheme={type: alpha_ggl, rho_inf: 0.8}", "time.step=2.0e-3", "contacts.wall.restitution=0.5" },
    { "scheme={type: moreau_jean, rho_inf: 0.8}", "time.step=2.0e-3", "contacts.wall.restitution=0.0" },
    { "scheme={type: half_explicit}", "time.step=9.0e-4", "contacts.wall.restitution=0.0" },
};
enum { NSCHEME = sizeof SCHEMES / sizeof SCHEMES[0] };

static void units_compare(case_run *metre, case_run *milli, double largest[2], double difference[2])
{
    const pcs_state *a = &metre->sim->state, *b = &milli->sim->state;
    for (int i = 0; i < metre->sim->system->nv; i++) {
        largest[0] = fmax(largest[0], fabs(a->q[i]));
        largest[1] = fmax(largest[1], fabs(a->v[i]));
        difference[0] = fmax(difference[0], fabs(b->q[i] * MILLI - a->q[i]));
        difference[1] = fmax(difference[1], fabs(b->v[i] * MILLI - a->v[i]));
    }
}

static void units_check_records(const case_run *metre, const case_run *milli)
{
    double force = 0.0, difference = 0.0;
    for (long i = 0; i < metre->count; i++) {
        const case_record *a = &metre->records[i], *b = &milli->records[i];
        force = fmax(force, a->step_impulse);
        difference = fmax(difference, fabs(b->step_impulse - a->step_impulse));
        CHECK_NEAR(b->gap * MILLI, a->gap, 1e-9 * 5.005);
        CHECK_NEAR(b->energy * MILLI, a->energy, 1e-9 * 500.0);
        CHECK_NEAR(b->ledger.impact_loss * MILLI, a->ledger.impact_loss, 1e-9 * 500.0);
        CHECK(a->is_impact == b->is_impact);
    }
    CHECK(force > 0.0);
    CHECK_NEAR(difference / force, 0.0, 1e-9);
}

TEST(units_do_not_matter)
{
    for (int i = 0; i < NSCHEME; i++) {
        const units_scheme *s = &SCHEMES[i];
        const char *metre_set[] = { s->scheme, s->step, s->restitution, NULL };
        const char *milli_set[SETS] = { s->scheme,
                                        s->step,
                                        s->restitution,
                                        "mesh.bar.from=[5005.0, 0, 0]",
                                        "mesh.bar.to=[15005.0, 0, 0]",
                                        "elements.bar={type: rod, mesh: bar, E: 9.0e-4, rho: 1.0e-12, area: 1.0e+6,"
                                        " mass: consistent}",
                                        "initial.0.velocity=[-10000.0, 0, 0]",
                                        NULL };
        case_run metre = case_open("cases/bar_impact", metre_set), milli = case_open("cases/bar_impact", milli_set);
        double largest[2] = { 0.0, 0.0 }, difference[2] = { 0.0, 0.0 };
        CHECK(metre.sim->nstep == milli.sim->nstep);
        while (metre.count <= metre.sim->nstep) {
            case_step(&metre);
            case_step(&milli);
            units_compare(&metre, &milli, largest, difference);
        }
        CHECK_NEAR(difference[0] / largest[0], 0.0, 1e-9);
        CHECK_NEAR(difference[1] / largest[1], 0.0, 1e-9);
        units_check_records(&metre, &milli);
        case_close(&metre);
        case_close(&milli);
    }
}
