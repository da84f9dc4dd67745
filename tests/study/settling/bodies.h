// Groups of the study of settling: rigid bodies, mechanisms, ropes.

#ifndef TESTS_STUDY_SETTLING_BODIES_H
#define TESTS_STUDY_SETTLING_BODIES_H

#include "study/settling/axes.h"
#include "study/settling/judges.h"

#define SETTLING(name) "tests/study/settling/" name ".yaml"
#define PYTHON "/usr/bin/python3 tests/study/"
#define MADE(name) TESTS_OUTPUT_FOLDER "/" name ".yaml"

#define BODY_STEPS AXIS("step", STEP(2.0e-3), STEP(1.0e-3), STEP(5.0e-4), STEP(2.0e-4))
#define FLOOR_FRICTION \
    AXIS("friction", FRICTION("floor", 0.0), FRICTION("floor", 0.2), FRICTION("floor", 0.4), FRICTION("floor", 0.8))
#define FLOOR_RESTITUTION \
    AXIS("restitution", RESTITUTION("floor", 0.0), RESTITUTION("floor", 0.5), RESTITUTION("floor", 1.0))

#define BOX_MM                                                                                                  \
    "mesh.corners.at=[[-200, -150, -100], [200, -150, -100], [-200, 150, -100], [200, 150, -100], "             \
    "[-200, -150, 100], [200, -150, 100], [-200, 150, 100], [200, 150, 100]];elements.box.mass=4.0e-3;"         \
    "elements.box.inertia=[43.3333333333333, 66.6666666666667, 83.3333333333333];elements.corners.mass=1.0e-6;" \
    "loads.weight.g=[-2768.7, -1845.8, -9229.0];contacts.floor.point=[-90, -60, -300];"                         \
    "initial=[{set: all, velocity: [900, -200, -300], spin: [0.5, 1.0, 0.3], about: [0, 0, 0]}]"

#define WOODPECKER_STEPS AXIS("step", STEP(2.0e-4), STEP(1.0e-4), STEP(5.0e-5), STEP(2.0e-5))
#define WOODPECKER_FRICTION                                                                    \
    AXIS("friction", { "mu=0.2", "system.friction=0.2" }, { "mu=0.3", "system.friction=0.3" }, \
         { "mu=0.4", "system.friction=0.4" })
#define BIRD_FRICTION(mu)                                                        \
    {                                                                            \
        "mu=" #mu, "contacts.beak.friction=" #mu ";contacts.edges.friction=" #mu \
    }

#define FOUR_BAR_STEPS AXIS("step", STEP(4.0e-3), STEP(2.0e-3), STEP(1.0e-3), STEP(5.0e-4), STEP(2.5e-4), STEP(1.0e-4))
#define FOUR_BAR_STARTS                                                                                 \
    AXIS("weight", { "g=0", "loads.weight.g=[0, 0, 0]" }, { "g=9.81", "loads.weight.g=[0, -9.81, 0]" }, \
         { "g=20", "loads.weight.g=[3, -20, 0]" })

#define DRUM_FRICTION \
    AXIS("friction", FRICTION("drum", 0.0), FRICTION("drum", 0.1), FRICTION("drum", 0.2), FRICTION("drum", 0.8))
#define ROPE(n, left, right)                                                                          \
    {                                                                                                 \
        "N=" #n, "mesh.left.elements=" #left ";mesh.over.elements=" #n ";mesh.right.elements=" #right \
    }
#define ROPE_SCHEMES \
    AXIS("scheme", SCHEME_GGL(.8), SCHEME_VELOCITY(.8), SCHEME_NEWMARK(.6), SCHEME_MOREAU_DAMPED, SCHEME_EULER)
#define CHAIN(n)                                                                                                   \
    {                                                                                                              \
        .name = "chain of " #n, .path = MADE("chain_" #n),                                                         \
        .command = PYTHON "make_chain.py " #n " >'" MADE("chain_" #n) "'",                                         \
        .axes = { AXIS("step", STEP(1.0e-3), STEP(5.0e-4), STEP(2.0e-4)), RIGID_SCHEMES, DRUM_FRICTION, SOLVERS }, \
        .judge = judge_capstan                                                                                     \
    }

// Angles of the crank at the start, in turns.
#define TURNS                                                                                            \
    AXIS("turns", { "turns=0", "system.theta1=0.0" }, { "turns=45", "system.theta1=282.7433388230814" }, \
         { "turns=1000", "system.theta1=6283.185307179586" }, { "turns=1e5", "system.theta1=628318.5307179586" })
#define CRANK_SCHEMES                                                                                   \
    AXIS("scheme", SCHEME_GGL(.8), SCHEME_MOREAU(.5), SCHEME_JUMP, SCHEME_UNIFIED, SCHEME_VELOCITY(.8), \
         SCHEME_NEWMARK(.5), SCHEME_HALF_EXPLICIT)
#define CRANK_STEPS AXIS("step", STEP(5.0e-4), STEP(1.0e-4), STEP(2.0e-5))

static const campaign_group body_groups[] = {
    { .name = "ladder",
      .path = SETTLING("ladder"),
      .axes = { BODY_STEPS, RIGID_SCHEMES, SOLVERS },
      .judge = judge_ladder },
    { .name = "box",
      .path = SETTLING("box"),
      .axes = { BODY_STEPS, SPACE_SCHEMES, FLOOR_FRICTION, FLOOR_RESTITUTION, SOLVERS } },
    { .name = "box mm",
      .path = SETTLING("box"),
      .axes = { ALWAYS(BOX_MM), BODY_STEPS, SPACE_SCHEMES, FLOOR_FRICTION, SOLVERS } },
    { .name = "ball",
      .path = SETTLING("ball"),
      .axes = { BODY_STEPS, SPACE_SCHEMES,
                AXIS("friction", FRICTION("floor", 0.1), FRICTION("floor", 0.2), FRICTION("floor", 0.8)) },
      .judge = judge_ball },
    { .name = "rocking block",
      .path = "cases/rocking_block",
      .axes = { AXIS("step", STEP(1.0e-2), STEP(2.0e-3), STEP(5.0e-4)), RIGID_SCHEMES,
                AXIS("friction", { "mu=0", "system.friction=0.0" }, { "mu=0.2", "system.friction=0.2" },
                     { "mu=0.8", "system.friction=0.8" }),
                AXIS("points", { "points=2", "system.points=2" }, { "points=9", "system.points=9" }) } },
    { .name = "woodpecker",
      .path = SETTLING("woodpecker"),
      .axes = { ALWAYS("system.plugin=" TESTS_OUTPUT_FOLDER "/woodpecker.so"), WOODPECKER_STEPS, RIGID_SCHEMES,
                WOODPECKER_FRICTION, SOLVERS },
      .judge = judge_woodpecker },
    { .name = "woodpecker bodies",
      .path = SETTLING("woodpecker_bodies"),
      .axes = { WOODPECKER_STEPS, RIGID_SCHEMES,
                AXIS("friction", BIRD_FRICTION(0.2), BIRD_FRICTION(0.3), BIRD_FRICTION(0.4)), SOLVERS } },
    { .name = "four-bar",
      .path = SETTLING("four_bar"),
      .axes = { FOUR_BAR_STEPS, RIGID_SCHEMES, FOUR_BAR_STARTS, SOLVERS } },
    { .name = "rope",
      .path = SETTLING("capstan"),
      .axes = { AXIS("mesh", ROPE(8, 8, 13), ROPE(16, 15, 25), ROPE(30, 28, 48)),
                AXIS("step", STEP(1.0e-3), STEP(5.0e-4), STEP(2.0e-4)), ROPE_SCHEMES, DRUM_FRICTION, SOLVERS },
      .judge = judge_capstan },
    CHAIN(6),
    CHAIN(12),
    CHAIN(24),
    { .name = "slider-crank",
      .path = "cases/slider_crank",
      .axes = { TURNS, CRANK_STEPS, CRANK_SCHEMES,
                AXIS("friction", { "mu=0", "system.friction=0.0" }, { "mu=0.01", "system.friction=0.01" },
                     { "mu=0.1", "system.friction=0.1" }) } },
    { .name = "slider-crank joint",
      .path = "cases/slider_crank_bilateral",
      .axes = { TURNS, CRANK_STEPS, CRANK_SCHEMES } },
    // 1000 turns
    { .name = "slider-crank far",
      .path = "cases/slider_crank_bilateral",
      .axes = { ALWAYS("time.end=42"), AXIS("step", STEP(1.0e-4), STEP(5.0e-5)), CRANK_SCHEMES } },
};

#endif
