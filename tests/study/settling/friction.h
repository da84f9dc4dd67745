// Groups of the study of settling: every scheme that takes friction, over coefficients, restitutions, steps. A run
// whose friction is not against its slip stops by its certificate.

#ifndef TESTS_STUDY_SETTLING_FRICTION_H
#define TESTS_STUDY_SETTLING_FRICTION_H

#include "study/settling/bodies.h"

#define SCHEME(text)                    \
    {                                   \
        text, "scheme={type: " text "}" \
    }
#define RUBBING_MESH_SCHEMES                                                                                          \
    SCHEME("alpha_ggl"), SCHEME("moreau_jean, theta: 0.5"), SCHEME("moreau_jean, theta: 0.6, positions: midpoint"),   \
        SCHEME("newmark, gamma: 0.6"), SCHEME("hht"), SCHEME("alpha_velocity"), SCHEME("jump_newmark, rho_inf: 0.8"), \
        SCHEME("half_explicit"), SCHEME("half_explicit_rk, method: hem3"), SCHEME("half_explicit_rk, method: hem5"),  \
        SCHEME("moreau_jean_explicit"), SCHEME("moreau_midpoint"), SCHEME("schatzman_paoli"),                         \
        SCHEME("ggl_midpoint, metric: mass, coupling: decoupled"), SCHEME("ggl_midpoint, metric: mass")
#define RUBBING_SCHEMES AXIS("scheme", RUBBING_MESH_SCHEMES, SCHEME("splitting"))

#define RUBS(mu)                          \
    {                                     \
        "mu=" #mu, "system.friction=" #mu \
    }
#define SYSTEM_FRICTION AXIS("friction", RUBS(0.05), RUBS(0.3), RUBS(0.8), RUBS(2.0))
#define REBOUNDS(e, e_t)                                                               \
    {                                                                                  \
        "e=" #e " " #e_t, "system.restitution=" #e ";system.tangent_restitution=" #e_t \
    }
#define SYSTEM_REBOUND AXIS("restitution", REBOUNDS(0.0, 0.0), REBOUNDS(0.5, 0.5), REBOUNDS(1.0, 0.0))
#define WIDE_FRICTION(contact) \
    AXIS("friction", FRICTION(contact, 0.05), FRICTION(contact, 0.3), FRICTION(contact, 0.8), FRICTION(contact, 2.0))
#define WIDE_RESTITUTION(contact) \
    AXIS("restitution", RESTITUTION(contact, 0.0), RESTITUTION(contact, 0.5), RESTITUTION(contact, 1.0))
#define WIDE_STEPS AXIS("step", STEP(1.0e-3), STEP(1.0e-2), STEP(5.0e-2))

#define FLAT_STEPS AXIS("step", STEP(1.0e-4), STEP(1.0e-3), STEP(5.0e-3), STEP(1.0e-2))
#define COIN_SCHEMES                                                                                           \
    AXIS("scheme", SCHEME_GGL(.8), SCHEME_VELOCITY(.8), SCHEME_NEWMARK(.5), SCHEME_NEWMARK(.6), SCHEME("hht"), \
         SCHEME_MOREAU(.5), SCHEME_EULER, SCHEME_HALF_EXPLICIT, SCHEME("moreau_jean_explicit"))
#define FLAT_FRICTION \
    AXIS("friction", FRICTION("floor", 0.0), FRICTION("floor", 0.2), FRICTION("floor", 0.5), FRICTION("floor", 1.0))
#define FLAT_RESTITUTION \
    AXIS("restitution", RESTITUTION("floor", 0.0), RESTITUTION("floor", 0.5), RESTITUTION("floor", 0.8))
#define COIN_SHAPE(radius, width)                                                                 \
    {                                                                                             \
        "a=" #radius " " #width, "contacts.floor.radius=" #radius ";contacts.floor.width=" #width \
    }
#define COIN_SHAPES AXIS("shape", COIN_SHAPE(0.05, 0.0), COIN_SHAPE(0.05, 0.004), COIN_SHAPE(0.02, 0.01))

static const campaign_group friction_groups[] = {
    { .name = "friction incline",
      .path = "cases/incline",
      .axes = { ALWAYS("time.end=1"), WIDE_STEPS, RUBBING_SCHEMES, SYSTEM_FRICTION,
                AXIS("start", { "slides", "system.height=0.0" },
                     { "falls", "system.height=0.1;system.restitution=0.6;system.tangent_restitution=0.5" }) } },
    { .name = "friction puck",
      .path = "cases/puck",
      .axes = { ALWAYS("time.end=1;system.vx=-1.0"), WIDE_STEPS, RUBBING_SCHEMES, SYSTEM_FRICTION } },
    { .name = "friction stick-slip",
      .path = "cases/stick_slip",
      .axes = { WIDE_STEPS, RUBBING_SCHEMES, AXIS("friction", RUBS(0.05), RUBS(0.2), RUBS(0.3)) } },
    { .name = "friction ball",
      .path = "cases/spinning_ball",
      .axes = { ALWAYS("system.spin=10.0;system.gravity=9.81"), AXIS("step", STEP(3.0e-4), STEP(3.0e-3), STEP(3.0e-2)),
                RUBBING_SCHEMES, SYSTEM_FRICTION, SYSTEM_REBOUND } },
    { .name = "friction block",
      .path = "cases/rocking_block",
      .axes = { ALWAYS("time.end=1"), AXIS("step", STEP(5.0e-4), STEP(2.0e-3), STEP(1.0e-2)),
                AXIS("scheme", RUBBING_MESH_SCHEMES), SYSTEM_FRICTION, SYSTEM_REBOUND,
                AXIS("points", { "points=2", "system.points=2" }, { "points=3", "system.points=3" },
                     { "points=9", "system.points=9" }) } },
    { .name = "friction crank",
      .path = "cases/slider_crank",
      .axes = { ALWAYS("time.end=0.03"), AXIS("step", STEP(1.0e-5), STEP(1.0e-4), STEP(5.0e-4)),
                AXIS("scheme", RUBBING_MESH_SCHEMES), SYSTEM_FRICTION } },
    { .name = "friction ring",
      .path = SETTLING("ring"),
      .axes = { AXIS("step", STEP(1.0e-4), STEP(1.0e-3), STEP(1.0e-2)), AXIS("scheme", RUBBING_MESH_SCHEMES),
                WIDE_FRICTION("ring"), WIDE_RESTITUTION("ring"), SOLVERS } },
    { .name = "friction coin",
      .path = SETTLING("coin"),
      .axes = { AXIS("step", STEP(1.0e-4), STEP(3.0e-4), STEP(1.0e-3)), SPACE_SCHEMES, WIDE_FRICTION("floor"),
                WIDE_RESTITUTION("floor"), SOLVERS } },
    // until it lies flat
    { .name = "coin flat",
      .path = SETTLING("coin"),
      .axes = { ALWAYS("time.end=1;mesh.coin.at=[0, 0, 0.06]"), FLAT_STEPS, COIN_SCHEMES, FLAT_FRICTION,
                FLAT_RESTITUTION, COIN_SHAPES, SOLVERS } },
};

#endif
