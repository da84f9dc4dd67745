// Groups of the study of settling: beams that swing against stops.
//
// cases/beam_pendulum falls from the horizontal and meets its stop with 1 m/s to 5 m/s; what follows is a burst of
// impacts within 20 ms. The wall of the case stands upright; a stop that is square to the beam passes through the
// pivot.

#ifndef TESTS_STUDY_SETTLING_PENDULUMS_H
#define TESTS_STUDY_SETTLING_PENDULUMS_H

#include "study/settling/axes.h"

#define PENDULUM "cases/beam_pendulum"
// The pivot held by its equations instead of a hinge.
#define HELD "joints={};supports={pivot: {set: beam.start, fix: [x, y]}};"

#define PENDULUM_FRICTION AXIS("friction", FRICTION("hurdle", 0.0), FRICTION("hurdle", 0.2), FRICTION("hurdle", 0.8))
#define PENDULUM_MESHES                                                                                \
    AXIS("mesh", ELEMENTS("beam", 4), ELEMENTS("beam", 8), ELEMENTS("beam", 10), ELEMENTS("beam", 16), \
         ELEMENTS("beam", 20), ELEMENTS("beam", 23), ELEMENTS("beam", 32), ELEMENTS("beam", 40), ELEMENTS("beam", 64))
#define PENDULUM_STEPS AXIS("step", STEP(1.0e-3), STEP(5.0e-4), STEP(2.0e-4), STEP(1.0e-4), STEP(5.0e-5))
#define FEWER_MESHES                                                                                    \
    AXIS("mesh", ELEMENTS("beam", 4), ELEMENTS("beam", 10), ELEMENTS("beam", 16), ELEMENTS("beam", 32), \
         ELEMENTS("beam", 64))
#define FEWER_STEPS AXIS("step", STEP(1.0e-3), STEP(5.0e-4), STEP(2.0e-4), STEP(1.0e-4))

// A wall at x = cos(angle), or a stop that is square to the beam at that angle, below the horizontal.
#define WALL(angle, x, end)                                                  \
    {                                                                        \
        "wall" #angle, "contacts.hurdle.point=[" #x ", 0, 0];time.end=" #end \
    }
#define SQUARE(angle, sine, cosine, end)                                                                        \
    {                                                                                                           \
        "square" #angle,                                                                                        \
            "contacts.hurdle.point=[0, 0, 0];contacts.hurdle.normal=[" #sine ", " #cosine ", 0];time.end=" #end \
    }
#define STOPS                                                                                                  \
    AXIS("stop", WALL(30, 0.8660254037844387, 0.36), WALL(60, 0.5, 0.45), WALL(80, 0.17364817766693041, 0.51), \
         SQUARE(30, 0.5, 0.8660254037844387, 0.36), SQUARE(45, 0.7071067811865476, 0.7071067811865476, 0.4),   \
         SQUARE(60, 0.8660254037844387, 0.5, 0.45), SQUARE(80, 0.984807753012208, 0.17364817766693041, 0.51))

// Tip and middle on one plane, all nodes on it, or the tip in the corner of wall and floor.
#define SEVERAL_STOPS                                                                                          \
    AXIS("stop",                                                                                               \
         { "pads", HELD "sets={pads: {nodes: beam, at: [[0.5, 0, 0], [1, 0, 0]]}};contacts.hurdle.nodes=pads;" \
                        "contacts.hurdle.point=[0, 0, 0];contacts.hurdle.normal=[1, 1, 0];time.end=0.4" },     \
         { "table", HELD "contacts.hurdle.nodes=beam.rest;contacts.hurdle.point=[0, 0, 0];"                    \
                         "contacts.hurdle.normal=[1, 1, 0];time.end=0.4" },                                    \
         { "corner", HELD "contacts.floor={type: node_plane, nodes: beam.end, point: [0, -0.7, 0], "           \
                          "normal: [0, 1, 0], restitution: 0.5, friction: 0.2};time.end=0.4" })

// Out of the plane: weight with a part across, a stop that leans.
#define SPATIAL                                                                                            \
    "elements.beam.type=beam_exact_3d;elements.beam.orientation=[0, 1, 0];loads.weight.g=[0, -9.81, 1.5];" \
    "contacts.hurdle.normal=[1, 0, 0.4];time.end=0.4;"
#define SPATIAL_PIVOTS                                                                                              \
    AXIS("pivot", { "hinge", SPATIAL "joints.pivot.axis=[0, 0, 1]" }, { "ball", SPATIAL "joints.pivot.type=ball" }, \
         { "support", SPATIAL "joints={};supports={pivot: {set: beam.start, fix: [x, y, z]}}" })

// Millimetres, tonnes, seconds.
#define PENDULUM_MM                                                                                                 \
    "mesh.beam.to=[1000, 0, 0];elements.beam.E=2.1e+5;elements.beam.rho=7.8e-9;elements.beam.section.width=10;"     \
    "elements.beam.section.height=10;loads.weight.g=[0, -9810, 0];contacts.hurdle.point=[707.1067811865476, 0, 0];" \
    "time.end=0.4"

#define BOTH(n)                                                       \
    {                                                                 \
        "N=" #n, "mesh.upper.elements=" #n ";mesh.lower.elements=" #n \
    }
#define DOUBLE_MESHES AXIS("mesh", BOTH(4), BOTH(8), BOTH(16), BOTH(32))
#define DOUBLE_STEPS AXIS("step", STEP(1.0e-3), STEP(4.0e-4), STEP(2.0e-4), STEP(1.0e-4))
#define DOUBLE_FRICTION AXIS("friction", FRICTION("stop", 0.0), FRICTION("stop", 0.3))
#define DOUBLE_MM                                                                                                  \
    "mesh.upper.to=[500, 0, 0];mesh.lower.from=[500, 0, 0];mesh.lower.to=[1000, 0, 0];elements.upper.E=2.1e+5;"    \
    "elements.lower.E=2.1e+5;elements.upper.rho=7.8e-9;elements.lower.rho=7.8e-9;elements.upper.section.width=10;" \
    "elements.lower.section.width=10;elements.upper.section.height=5;elements.lower.section.height=5;"             \
    "loads.weight.g=[0, -9810, 0];time.end=0.6"

// Steps that do not resolve a beam that turns fast, free or against a wall, with and without dissipation.
#define SPUN_SCHEMES                                                                                            \
    AXIS("scheme", { "ggl1", "scheme={type: alpha_ggl, rho_inf: 1.0}" }, SCHEME_GGL(.8),                        \
         { "velocity1", "scheme={type: alpha_velocity, rho_inf: 1.0}" }, SCHEME_MOREAU(.5), SCHEME_MOREAU(.55), \
         SCHEME_NEWMARK(.5), SCHEME_JUMP,                                                                       \
         { "unified", "scheme={type: ggl_midpoint, coupling: unified, metric: mass}" })
#define SPUN_SPACE_SCHEMES                                                                                      \
    AXIS("scheme", { "ggl1", "scheme={type: alpha_ggl, rho_inf: 1.0}" }, SCHEME_GGL(.8),                        \
         { "velocity1", "scheme={type: alpha_velocity, rho_inf: 1.0}" }, SCHEME_MOREAU(.5), SCHEME_MOREAU(.55), \
         SCHEME_NEWMARK(.5))
#define SPUN_STOPS \
    AXIS("stop", { "free", "" }, { "wall", "contacts.wall.point=[0, -0.9, 0];contacts.wall.normal=[0, 1, 0]" })
#define SPUN_STEPS \
    AXIS("step", { "h=1e-2", "time.step=1.0e-2" }, { "h=3e-3", "time.step=3.0e-3" }, { "h=1e-3", "time.step=1.0e-3" })

static const campaign_group pendulum_groups[] = {
    { .name = "pendulum hinge",
      .path = PENDULUM,
      .axes = { ALWAYS("time.end=0.4"), PENDULUM_MESHES, PENDULUM_STEPS, ELASTIC_SCHEMES, PENDULUM_FRICTION } },
    { .name = "pendulum support",
      .path = PENDULUM,
      .axes = { ALWAYS(HELD "time.end=0.4"), PENDULUM_MESHES, PENDULUM_STEPS, ELASTIC_SCHEMES, PENDULUM_FRICTION } },
    { .name = "pendulum angles",
      .path = PENDULUM,
      .axes = { STOPS, FEWER_MESHES, FEWER_STEPS, ELASTIC_SCHEMES, PENDULUM_FRICTION } },
    { .name = "pendulum two stops",
      .path = PENDULUM,
      .axes = { SEVERAL_STOPS, FEWER_MESHES, FEWER_STEPS, ELASTIC_SCHEMES, PENDULUM_FRICTION } },
    { .name = "pendulum rebound",
      .path = PENDULUM,
      .axes = { ALWAYS("time.end=0.4"), FEWER_MESHES, FEWER_STEPS, ELASTIC_SCHEMES, PENDULUM_FRICTION,
                AXIS("restitution", RESTITUTION("hurdle", 0.0), RESTITUTION("hurdle", 0.5),
                     RESTITUTION("hurdle", 1.0)) } },
    { .name = "pendulum space",
      .path = PENDULUM,
      .axes = { SPATIAL_PIVOTS, FEWER_MESHES, FEWER_STEPS, ELASTIC_SCHEMES, PENDULUM_FRICTION } },
    { .name = "pendulum mm",
      .path = PENDULUM,
      .axes = { ALWAYS(PENDULUM_MM), FEWER_MESHES, FEWER_STEPS, ELASTIC_SCHEMES, PENDULUM_FRICTION } },
    { .name = "double pendulum",
      .path = "cases/double_pendulum_stop",
      .axes = { ALWAYS("time.end=0.6"), DOUBLE_MESHES, DOUBLE_STEPS, ELASTIC_SCHEMES, DOUBLE_FRICTION,
                AXIS("restitution", RESTITUTION("stop", 0.0), RESTITUTION("stop", 0.5), RESTITUTION("stop", 1.0)) } },
    { .name = "double pendulum mm",
      .path = "cases/double_pendulum_stop",
      .axes = { ALWAYS(DOUBLE_MM), DOUBLE_MESHES, DOUBLE_STEPS, ELASTIC_SCHEMES, DOUBLE_FRICTION } },
    { .name = "spun beam",
      .path = "tests/study/settling/spun_beam.yaml",
      .axes = { AXIS("mesh", ELEMENTS("beam", 4), ELEMENTS("beam", 20)), SPUN_STEPS, SPUN_STOPS, SPUN_SCHEMES } },
    { .name = "spun beam space",
      .path = "tests/study/settling/spun_beam.yaml",
      .axes = { ALWAYS(
                    "elements.beam.type=beam_exact_3d;elements.beam.orientation=[0, 1, 0];joints.pivot.axis=[0, 0, 1];"
                    "loads.weight.g=[0, -9.81, 1.5];time.end=0.2"),
                AXIS("mesh", ELEMENTS("beam", 4), ELEMENTS("beam", 8)), SPUN_STEPS, SPUN_STOPS, SPUN_SPACE_SCHEMES } },
};

#endif
