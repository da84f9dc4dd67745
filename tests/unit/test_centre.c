// Where the mass of beams is: centres of bodies and the potential of gravity, at offsets and with sections that vary.
//
// A rigid turn w about the origin gives the centre x the velocity w x x, by the mass matrix alone. The centre of a beam
// whose height goes from a to b over its length lies at (a + 2b)/(3(a + b)) of it.

#include "core/rotation.h"
#include "support/check.h"
#include "support/text_case.h"

#include <stdio.h>

typedef struct beam {
    const char *element; // its type and what it has beside E, nu, rho
    const char *end;     // of its line, which begins at the origin
    double mass, centre[3];
} beam;

#define TAPERED "section: { type: rectangle, width: 0.05, height: { from: 0.06, to: 0.02 } }"
#define SQUARE "section: { type: rectangle, width: 0.05, height: 0.04 }"
#define ROUND "section: { type: given, area: 2.0e-3, Iy: 1.0e-6, Iz: 1.0e-6, torsion: 2.0e-6, ky: 0.9, kz: 0.9 }"
#define ARM "offset: [0.1, 0.05, 0.2]"

// All of 1000 kg/m^3, and of 2e-3 m^2 in the mean.
static const beam level[] = {
    { "type: beam_timo_3d, orientation: [0, 1, 0], " ARM ", " SQUARE, "[1, 0, 0]", 2.0, { 0.6, 0.05, 0.2 } },
    { "type: beam_timo_3d, orientation: [0, 1, 0], mass: lumped, " ARM ", " SQUARE,
      "[1, 0, 0]",
      2.0,
      { 0.6, 0.05, 0.2 } },
    { "type: rotor_beam, speed: 0, orientation: [0, 1, 0], " ARM ", " ROUND, "[1, 0, 0]", 2.0, { 0.6, 0.05, 0.2 } },
    { "type: rotor_beam_driven, orientation: [0, 1, 0], " ARM ", " ROUND, "[1, 0, 0]", 2.0, { 0.6, 0.05, 0.2 } },
};
enum { NLEVEL = sizeof level / sizeof *level };

static const beam tapered[] = {
    { "type: beam_timo_2d, " TAPERED, "[0.8, 0.6, 0]", 2.0, { 1.0 / 3.0, 0.25, 0.0 } },
    { "type: beam_timo_2d, mass: lumped, " TAPERED, "[0.8, 0.6, 0]", 2.0, { 1.0 / 3.0, 0.25, 0.0 } },
    { "type: beam_exact_2d, " TAPERED, "[0.8, 0.6, 0]", 2.0, { 1.0 / 3.0, 0.25, 0.0 } },
    { "type: beam_timo_3d, orientation: [0, 0, 1], " TAPERED, "[0.48, 0.36, 0.8]", 2.0, { 0.2, 0.15, 1.0 / 3.0 } },
    { "type: beam_timo_3d, orientation: [0, 0, 1], " ARM ", " TAPERED,
      "[0.48, 0.36, 0.8]",
      2.0,
      { 0.3, 0.2, 1.0 / 3.0 + 0.2 } },
};
enum { NTAPERED = sizeof tapered / sizeof *tapered };

static text_case beam_open(const beam *b, int ncell)
{
    char text[2048];
    bool is_plane = b->centre[2] == 0.0;
    snprintf(text, sizeof text,
             "mesh: { b: { type: line, from: [0, 0, 0], to: %s, elements: %d } }\n"
             "elements: { b: { mesh: b, E: 2.0e9, nu: 0.3, rho: 1000, %s } }\n"
             "loads: { g: { type: gravity, g: %s, datum: [0.5, 1, -2] } }\n"
             "initial: [ { set: b, spin: %s, about: [0, 0, 0] } ]\n"
             "scheme: { type: newmark }\ntime: { step: 1.0e-5, end: 1.0e-5 }\n"
             "output: { probes: { b: { body: b, of: [x, y, z, vx, vy, vz] } } }\n",
             b->end, ncell, b->element, is_plane ? "[3, -9, 0]" : "[3, -9, 5]", is_plane ? "[0, 0, 2]" : "[1, -3, 2]");
    return text_case_open(text, NULL);
}

static void check_centre(const beam *b, int ncell)
{
    text_case c = beam_open(b, ncell);
    pcs_system *system = c.sim->system;
    bool is_plane = b->centre[2] == 0.0;
    const double g[3] = { 3, -9, is_plane ? 0 : 5 }, datum[3] = { 0.5, 1, -2 };
    const double spin[3] = { is_plane ? 0 : 1, is_plane ? 0 : -3, 2 };
    double speed[3], potential = 0.0;
    pcs_measure now;
    pcs_cross(spin, b->centre, speed);
    system->ops->measure(system, pcs_at(c.sim->state.t, c.sim->state.q, c.sim->state.v), PCS_ENERGY, &now);
    for (int k = 0; k < 3; k++) {
        char place[8], velocity[8];
        snprintf(place, sizeof place, "b.%c", "xyz"[k]);
        snprintf(velocity, sizeof velocity, "b.v%c", "xyz"[k]);
        CHECK_NEAR(text_case_probe(&c, place), b->centre[k], 1e-12);
        CHECK_NEAR(text_case_probe(&c, velocity), speed[k], 1e-11);
        potential -= b->mass * g[k] * (b->centre[k] - datum[k]);
    }
    CHECK_NEAR(system->mass, b->mass, 1e-12);
    CHECK_NEAR(now.potential, potential, 1e-10);
    text_case_close(&c);
}

TEST(offsets_take_the_mass_along)
{
    for (int i = 0; i < NLEVEL; i++)
        for (int ncell = 1; ncell < 4; ncell++) check_centre(&level[i], ncell);
}

TEST(centres_of_tapered_beams_lie_nearer_the_thick_end)
{
    for (int i = 0; i < NTAPERED; i++)
        for (int ncell = 1; ncell < 4; ncell++) check_centre(&tapered[i], ncell);
}

// Arms that differ at the ends of a cell: its axis goes from one to the other.
TEST(arms_may_differ_at_the_ends_of_a_cell)
{
    const beam b = {
        "type: beam_timo_3d, orientation: [0, 1, 0], offset: [0, 0, 0.25], offset_end: [-0.4, 0, 1.05], " //
        TAPERED,
        "[1, 0, 0]",
        2.0,
        { 0.25, 0.0, 0.25 + 1.0 / 3.0 }
    };
    check_centre(&b, 1);
}
