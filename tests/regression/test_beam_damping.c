// The work of dampers in beams that turn or ring. What bars lose is in the READMEs of cases/bar_impact and bar_clamped.

#include "support/check.h"
#include "support/text_case.h"

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
                  { "newmark, gamma: 0.5", true },
                  { "moreau_jean, theta: 0.8, positions: midpoint", false },
                  { "hht", false },
                  { "alpha_ggl, rho_inf: 0.8", false },
                  { "alpha_index3, rho_inf: 0.8", false },
                  { "ggl_midpoint, metric: mass", false } };
    static const char *const steps[] = { "1.0e-4", "1.0e-5" };
    for (size_t k = 0; k < 2 * sizeof rules / sizeof *rules; k++) {
        pcs_ledger l = energy_after(model, "beam_exact_2d", rules[k / 2].scheme, steps[k % 2], "0.01");
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
    static const char *const schemes[] = {
        "moreau_jean, theta: 0.5", "newmark, gamma: 0.5",        "hht",
        "alpha_ggl, rho_inf: 0.8", "alpha_index3, rho_inf: 0.8", "ggl_midpoint, metric: mass"
    };
    const double stretched = 7800.0 * 7800.0 * 1e-4 * 6.25e6 / (240.0 * 2.1e11);
    for (size_t k = 0; k <= sizeof schemes / sizeof *schemes; k++) {
        const char *element = k == 0 ? "beam_exact_3d, orientation: [0, 1, 0]" : "beam_exact_2d";
        const char *scheme = schemes[k == 0 ? 0 : k - 1];
        pcs_ledger l = energy_after(model, element, scheme, "1.0e-5", "0.02");
        CHECK_NEAR(l.damping_loss, stretched, 0.02 * stretched);
        CHECK_NEAR(l.damping_loss, l.now.strain, 0.01 * stretched);
        CHECK_NEAR(l.numerical_loss, 0.0, 0.02 * stretched);
    }
}
