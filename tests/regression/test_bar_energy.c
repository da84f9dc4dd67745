// The energy ledger of the bar cases: what the numerical part does when the step is halved, in free vibration and
// through contact; the impact loss against m_eff v^2 (1 - e^2) / 2; Moreau-Jean's closed sum with loads, damping and
// gravity; the work of dampers in beams that turn or ring.

#include "support/check.h"
#include "support/run_case.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>

enum { TEXT = 64 };

static const char GGL[] = "scheme={type: alpha_ggl, rho_inf: 0.8}",
                  TRAPEZOID[] = "scheme={type: moreau_jean, theta: 0.5}",
                  MOREAU[] = "scheme={type: moreau_jean, rho_inf: 0.8}", EXPLICIT[] = "scheme={type: half_explicit}";

// Largest |numerical loss| so far in the run, J.
static double energy_largest_numerical(const case_run *run)
{
    double largest = 0.0;
    for (long i = 0; i < run->count; i++) largest = fmax(largest, fabs(run->records[i].ledger.numerical_loss));
    return largest;
}

// A clamped bar of 8 elements that swings far from its obstacle.
static double energy_free(const char *scheme, double h)
{
    char step[TEXT];
    snprintf(step, sizeof step, "time.step=%.17g", h);
    const char *set[] = { scheme,         step, "mesh.bar.elements=8", "contacts.obstacle.point=[-9.0, 0, 0]",
                          "time.end=3.0", NULL };
    case_run run = case_run_all("cases/bar_clamped", set);
    double loss = energy_largest_numerical(&run);
    CHECK(case_find_contact(&run).count == 0);
    CHECK(case_last(&run)->ledger.impact_loss == 0.0);
    case_close(&run);
    return loss;
}

// In free vibration: 2 for the generalized-alpha scheme and central differences, 1 for Moreau-Jean with theta > 1/2,
// and nothing is lost with theta = 1/2.
TEST(energy_orders_in_free_vibration)
{
    const struct {
        const char *scheme;
        double order;
    } schemes[] = { { GGL, 2.0 }, { MOREAU, 1.0 }, { EXPLICIT, 2.0 } };
    for (int i = 0; i < 3; i++) {
        double coarse = energy_free(schemes[i].scheme, 2.5e-4), fine = energy_free(schemes[i].scheme, 1.25e-4);
        CHECK(fine > 1e-12);
        CHECK_NEAR(log2(coarse / fine), schemes[i].order, 0.1);
    }
    CHECK_NEAR(energy_free(TRAPEZOID, 4e-3), 0.0, 1e-13);
}

// A bar of 8 elements thrown at the wall with h such that the impact lies a quarter of a step before the end of its
// step.
static case_run energy_throw(const char *scheme, int steps_to_impact, const char *restitution, const char *end)
{
    char step[TEXT];
    snprintf(step, sizeof step, "time.step=%.17g", 5.005 / 10.0 / (steps_to_impact - 0.25));
    const char *set[] = { scheme, step, "mesh.bar.elements=8", restitution, end, NULL };
    return case_run_all("cases/bar_impact", set);
}

static double energy_effective_mass(void)
{
    return 10.0 / 8.0 / (2.0 * sqrt(3.0)); // rho A l / (2 sqrt 3)
}

typedef struct energy_rest {
    double kept;      // J, deviation of the energy kept from 500 J - m_eff v^2 / 2
    double numerical; // J, deviation of the numerical loss from what theta counts there at the impact
} energy_rest;

static energy_rest energy_through_contact(const char *scheme, double theta, int steps_to_impact)
{
    case_run run = energy_throw(scheme, steps_to_impact, "contacts.wall.restitution=0.0", "time.end=1.5");
    double loss = 50.0 * energy_effective_mass();
    energy_rest rest = { fabs(case_last(&run)->energy - (500.0 - loss)),
                         fabs(case_last(&run)->ledger.numerical_loss - (2.0 * theta - 1.0) * loss) };
    CHECK(case_impacts(&run) == 1);
    CHECK_NEAR(case_last(&run)->ledger.impact_loss, 2.0 * (1.0 - theta) * loss, 0.01);
    case_close(&run);
    return rest;
}

// Through a plastic impact and the release the bar keeps 500 J - m_eff v^2 / 2 up to what the scheme itself loses.
TEST(energy_orders_through_contact)
{
    const struct {
        const char *scheme;
        double theta, order;
    } schemes[] = { { GGL, 0.5, 2.0 }, { MOREAU, 1.0 / 1.8, 1.0 }, { TRAPEZOID, 0.5, 2.0 }, { EXPLICIT, 0.5, 2.0 } };
    for (int i = 0; i < 4; i++) {
        energy_rest coarse = energy_through_contact(schemes[i].scheme, schemes[i].theta, 2000);
        energy_rest fine = energy_through_contact(schemes[i].scheme, schemes[i].theta, 4000);
        CHECK(fine.kept > 1e-9);
        CHECK_NEAR(log2(coarse.kept / fine.kept), schemes[i].order, 0.1);
        if (i == 2) CHECK_NEAR(fine.numerical, 0.0, 1e-9);
        else CHECK_NEAR(log2(coarse.numerical / fine.numerical), schemes[i].order, 0.1);
    }
}

// First impact of a bar at rest in itself: m_eff v^2 (1 - e^2) / 2 is the work of the impulse (1 + e) m_eff v on the
// mean of the velocities before and after it. Half-explicit has it exactly, the implicit schemes up to (omega h)^2;
// Moreau-Jean weighs the velocity after the impact with theta and counts the rest as its numerical loss.
TEST(energy_impact_loss_is_closed_form)
{
    const char *const restitution[] = { "contacts.wall.restitution=0.0", "contacts.wall.restitution=0.5",
                                        "contacts.wall.restitution=1.0" };
    const struct {
        const char *scheme;
        double theta, slack;
    } schemes[] = {
        { GGL, 0.5, 1e-4 }, { MOREAU, 1.0 / 1.8, 1e-4 }, { TRAPEZOID, 0.5, 1e-4 }, { EXPLICIT, 0.5, 1e-8 }
    };
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            case_run run = energy_throw(schemes[i].scheme, 5000, restitution[k], "time.end=0.502");
            long hit = case_find_contact(&run).first;
            double e = 0.5 * k, theta = schemes[i].theta, twice = energy_effective_mass() * 100.0;
            const pcs_ledger *ledger = &run.records[hit].ledger;
            CHECK(run.records[hit].is_impact);
            CHECK_NEAR(ledger->impact_loss / twice, (1.0 + e) * (1.0 - theta - theta * e), schemes[i].slack);
            CHECK_NEAR((run.records[hit - 1].energy - run.records[hit].energy) / twice, 0.5 * (1.0 - e * e),
                       schemes[i].slack);
            CHECK(run.records[hit - 1].ledger.impact_loss == 0.0);
            case_close(&run);
        }
}

static const char BEAM[] = ", mesh: beam, E: 2.1e+11, nu: 0.3, rho: 7800.0, section: { type: rectangle, width: 0.01, "
                           "height: 0.01 }, damping: { stiffness: 1e-5 } }\n";

static pcs_ledger energy_after(const char *model, const char *element, const char *scheme, const char *step,
                               const char *end)
{
    text_case c = text_case_open(model, "elements:\n  beam: { type: ", element, BEAM, "scheme: { type: ", scheme,
                                 " }\ntime: { step: ", step, ", end: ", end, " }\n", NULL);
    text_case_run(&c);
    pcs_ledger ledger = c.sim->ledger;
    text_case_close(&c);
    return ledger;
}

// A beam that strikes a wall with its end only stretches: there rules without dissipation of their own have no loss but
// those of damper and impact, however long the step is, and nobody books more than there is.
TEST(dampers_of_ringing_beams_take_what_is_lost)
{
    static const char model[] = "mesh:\n  beam: { type: line, from: [0.01, 0, 0], to: [1.01, 0, 0], elements: 20 }\n"
                                "initial:\n  - { set: beam, velocity: [-5, 0, 0] }\n"
                                "contacts:\n  wall: { type: node_plane, nodes: beam.start, point: [0, 0, 0],"
                                " normal: [1, 0, 0], restitution: 0.5 }\n";
    static const struct {
        const char *scheme;
        bool is_exact;
    } rules[] = { { "moreau_jean, theta: 0.5", true },
                  { "moreau_jean, theta: 0.5, forces: midpoint", true },
                  { "newmark, gamma: 0.5", true },
                  { "moreau_jean, theta: 0.8, positions: midpoint", false },
                  { "hht", false },
                  { "alpha_ggl, rho_inf: 0.8", false },
                  { "alpha_index3, rho_inf: 0.8", false },
                  { "ggl_midpoint, metric: mass", false } };
    static const char *const steps[] = { "1.0e-4", "1.0e-5" };
    for (size_t k = 0; k < 2 * sizeof rules / sizeof *rules; k++) {
        pcs_ledger l = energy_after(model, "beam_exact_2d", rules[k / 2].scheme, steps[k % 2], "0.01");
        print_message("%s, %s s: damping %.6g, numerical %.3g of %.6g J\n", rules[k / 2].scheme, steps[k % 2],
                      l.damping_loss, l.numerical_loss, l.initial);
        CHECK(l.damping_loss > 0.1 * l.initial && l.damping_loss < l.initial);
        if (rules[k / 2].is_exact) CHECK_NEAR(l.numerical_loss, 0.0, 1e-11 * l.initial);
    }
}

// A free beam that spins stretches by the centrifugal force, to a strain energy of rho^2 A w^4 L^5/(240 E). Dampers
// take as much again from the vibration about that: half of the work of a force that sets in at once.
TEST(dampers_do_not_see_a_turn)
{
    static const char model[] = "mesh:\n  beam: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 8 }\n"
                                "initial:\n  - { set: beam, spin: [0, 0, 50], about: [0.5, 0, 0] }\n";
    static const char *const schemes[] = { "moreau_jean, theta: 0.5",   "moreau_jean, theta: 0.5, forces: midpoint",
                                           "newmark, gamma: 0.5",       "hht",
                                           "alpha_ggl, rho_inf: 0.8",   "alpha_index3, rho_inf: 0.8",
                                           "ggl_midpoint, metric: mass" };
    const double stretched = 7800.0 * 7800.0 * 1e-4 * 6.25e6 / (240.0 * 2.1e11);
    for (size_t k = 0; k <= sizeof schemes / sizeof *schemes; k++) {
        const char *element = k == 0 ? "beam_exact_3d, orientation: [0, 1, 0]" : "beam_exact_2d";
        const char *scheme = schemes[k == 0 ? 0 : k - 1];
        pcs_ledger l = energy_after(model, element, scheme, "1.0e-5", "0.02");
        print_message("%s: damping %.6g, numerical %.3g, strain %.6g J\n", scheme, l.damping_loss, l.numerical_loss,
                      l.now.strain);
        CHECK_NEAR(l.damping_loss, stretched, 0.02 * stretched);
        CHECK_NEAR(l.damping_loss, l.now.strain, 0.01 * stretched);
        CHECK_NEAR(l.numerical_loss, 0.0, 0.02 * stretched);
    }
}
