// cases/bar_steel against Schindler, Rezaei, Kursawe, Acary 2015, Table 5, and digits of a separate implementation:
// the half-explicit scheme with 50 and 1000 elements, with and without stiffness damping, at h = 1e-7 s.

#include "support/check.h"
#include "support/run_case.h"

#include <math.h>

typedef struct steel_variant {
    const char *elements, *damping;
    int n;
    double duration; // s, last step with a force minus impact step
} steel_variant;

static const steel_variant VARIANTS[] = {
    { "mesh.bar.elements=50", "elements.bar.damping.stiffness=0.0", 50, 3.818e-4 },
    { "mesh.bar.elements=50", "elements.bar.damping.stiffness=4.762e-9", 50, 3.818e-4 },
    { "mesh.bar.elements=1000", "elements.bar.damping.stiffness=0.0", 1000, 3.848e-4 },
    { "mesh.bar.elements=1000", "elements.bar.damping.stiffness=4.762e-9", 1000, 3.851e-4 },
};
enum { NVARIANT = sizeof VARIANTS / sizeof VARIANTS[0] };
static const double SPEED = 0.1, STEP = 1e-7; // m/s, s

static case_run steel_run(const steel_variant *variant, const char *more)
{
    const char *set[] = { variant->elements, variant->damping, more, NULL };
    return case_run_all("cases/bar_steel", set);
}

static double steel_mass(void)
{
    return 7800.0 * 3.141592653589793e-4;
}

// One impact; from there a force in every step up to the release.
static void steel_check_contact(const case_run *run, const steel_variant *variant)
{
    long impact = -1, last = -1;
    for (long i = 1; i < run->count; i++) {
        if (run->records[i].impulse > 0.0) impact = i;
        if (run->records[i].force > 0.0) last = i;
    }
    CHECK(case_impacts(run) == 1);
    CHECK(impact > 0);
    for (long i = impact + 1; i <= last; i++) CHECK(run->records[i].force > 0.0);
    CHECK_NEAR((double)(last - impact) * STEP, variant->duration, 2.0 * STEP);
    CHECK(run->records[run->count - 1].gap > 0.0);
}

static void steel_check_force(const case_run *run)
{
    double sum = 0.0, impact = run->records[case_find_contact(run).first].t;
    long count = 0;
    for (long i = 0; i < run->count; i++) {
        double t = run->records[i].t;
        if (t < impact + 2e-5 || t > impact + 1.8e-4) continue;
        sum += run->records[i].force;
        count++;
    }
    CHECK(count > 1500);
    CHECK_RELATIVE(sum / (double)count, 1271.472, 1e-3);
}

TEST(steel_meets_the_published_figures)
{
    for (int i = 0; i < NVARIANT; i++) {
        case_run run = steel_run(&VARIANTS[i], NULL);
        CHECK(run.count == 5001);
        steel_check_contact(&run, &VARIANTS[i]);
        steel_check_force(&run);
        // The node in contact stays where the impact step left it, half a step's way inside.
        CHECK(case_smallest_gap(&run) >= -SPEED * STEP);
        CHECK_NEAR(case_smallest_gap(&run), -0.5 * SPEED * STEP, 1e-12);
        case_close(&run);
    }
}

// The impulse is that of the plastic impact of one node, and so is the loss: m_eff = rho A l / (2 sqrt 3).
TEST(steel_impact_is_that_of_one_node)
{
    const char *const masses[] = { "elements.bar.mass=consistent", "elements.bar.mass=lumped" };
    for (int i = 0; i < NVARIANT; i += 2)
        for (int m = 0; m < 2; m++) {
            case_run run = steel_run(&VARIANTS[i], masses[m]);
            const case_record *hit = &run.records[case_find_contact(&run).first];
            double share = 1.0 / (m ? 2.0 : 2.0 * sqrt(3.0)) / VARIANTS[i].n, before = run.records[0].energy;
            CHECK_RELATIVE(before, 0.5 * steel_mass() * SPEED * SPEED, 1e-12);
            CHECK_RELATIVE(hit->impulse, SPEED * share * steel_mass(), 1e-9);
            CHECK_RELATIVE(hit->ledger.impact_loss, share * before, 1e-9);
            CHECK_RELATIVE((before - hit->energy) / before, share, 1e-7);
            case_close(&run);
        }
}

TEST(steel_energy_is_lost_by_impact_and_damping)
{
    case_run run = steel_run(&VARIANTS[0], "time.end=6.0e-4");
    CHECK_NEAR(case_last(&run)->energy / run.records[0].energy, 0.99423, 5e-6);
    CHECK(case_last(&run)->ledger.damping_loss == 0.0);
    case_close(&run);
    run = steel_run(&VARIANTS[1], "time.end=6.0e-4");
    CHECK_NEAR(case_last(&run)->energy / run.records[0].energy, 0.98897, 5e-6);
    CHECK(case_last(&run)->ledger.damping_loss > 0.0);
    case_close(&run);
}

// Position of the tip less its length, and velocity of the tip, at 2e-4 s with 50 elements.
TEST(steel_gives_the_digits)
{
    const double digits[2][2] = { { -1.847855104072927e-5, 0.0826597004758584 },
                                  { -1.84751548580348e-5, 0.0819499810701254 } };
    for (int i = 0; i < 2; i++) {
        const char *set[] = { VARIANTS[i].elements, VARIANTS[i].damping, "time.end=2.0e-4", NULL };
        case_run run = case_run_all("cases/bar_steel", set);
        const pcs_state *x = &run.sim->state;
        int tip = run.sim->system->nv - 1;
        CHECK_NEAR(x->t, 2e-4, 1e-15);
        CHECK_RELATIVE(5e-9 + x->q[tip], digits[i][0], 1e-9);
        CHECK_RELATIVE(x->v[tip], digits[i][1], 1e-9);
        case_close(&run);
    }
}
