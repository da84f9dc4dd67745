// Groups of the study of settling: structures of many beams, and the rotor.

#ifndef TESTS_STUDY_SETTLING_STRUCTURES_H
#define TESTS_STUDY_SETTLING_STRUCTURES_H

#include "study/settling/bodies.h"

#define LATTICE_FRICTION AXIS("friction", FRICTION("floor", 0.0), FRICTION("floor", 0.3), FRICTION("floor", 0.8))
// Linear beams are for small rotations: their runs end before the bodies have turned.
#define PLANE_STRUTS                                                   \
    AXIS("element", { "exact", "elements.struts.type=beam_exact_2d" }, \
         { "timo", "elements.struts.type=beam_timo_2d;time.end=0.02" })
#define SPACE_STRUTS \
    AXIS("element", { "timo", "elements.struts.type=beam_timo_3d" }, { "exact", "elements.struts.type=beam_exact_3d" })
#define PORTAL_ELEMENTS                                                                                   \
    AXIS("element", { "exact", "elements.arch.type=beam_exact_2d;elements.straight.type=beam_exact_2d" }, \
         { "timo", "elements.arch.type=beam_timo_2d;elements.straight.type=beam_timo_2d;time.end=0.05" })

// Steps of the rotor: explicit schemes need 5e-6 s.
#define ROTOR_SCHEMES                                                                           \
    AXIS("scheme", { "half_explicit", "scheme={type: half_explicit};time.step=5.0e-6" },        \
         { "midpoint", "scheme={type: moreau_midpoint};time.step=5.0e-6" },                     \
         { "ggl.8 5e-6", "scheme={type: alpha_ggl, rho_inf: 0.8};time.step=5.0e-6" },           \
         { "ggl.8 2e-5", "scheme={type: alpha_ggl, rho_inf: 0.8};time.step=2.0e-5" },           \
         { "ggl.8 1e-4", "scheme={type: alpha_ggl, rho_inf: 0.8};time.step=1.0e-4" },           \
         { "velocity.8 2e-5", "scheme={type: alpha_velocity, rho_inf: 0.8};time.step=2.0e-5" }, \
         { "velocity.8 1e-4", "scheme={type: alpha_velocity, rho_inf: 0.8};time.step=1.0e-4" }, \
         { "newmark.6 2e-5", "scheme={type: newmark, gamma: 0.6};time.step=2.0e-5" },           \
         { "newmark.6 1e-4", "scheme={type: newmark, gamma: 0.6};time.step=1.0e-4" },           \
         { "moreau1 2e-5", "scheme={type: moreau_jean, theta: 1.0};time.step=2.0e-5" },         \
         { "moreau.5 2e-5", "scheme={type: moreau_jean, theta: 0.5};time.step=2.0e-5" },        \
         { "moreau1 1e-4", "scheme={type: moreau_jean, theta: 1.0};time.step=1.0e-4" })

// `newton` is for few contacts.
#define LARGE_SOLVERS AXIS("solver", { "auto", "solver.type=auto" }, { "schur", "solver.type=schur" })
#define CRIB(width, layers, solvers)                                                                                  \
    {                                                                                                                 \
        .name = "crib of " #width "x" #layers, .path = MADE("crib_" #width "_" #layers),                              \
        .command = PYTHON "make_pile.py " #width " " #layers " 0.0001 >'" MADE("crib_" #width "_" #layers) "'",       \
        .axes = {                                                                                                     \
            ALWAYS("time.end=0.3"),                                                                                   \
            AXIS("step", STEP(2.0e-3), STEP(1.0e-3), STEP(2.0e-4)),                                                   \
            AXIS("scheme", SCHEME_GGL(.8), SCHEME_VELOCITY(.8), SCHEME_NEWMARK(.6), SCHEME_MOREAU(.5), SCHEME_EULER), \
            solvers                                                                                                   \
        }                                                                                                             \
    }

static const campaign_group structure_groups[] = {
    { .name = "lattice",
      .path = SETTLING("lattice"),
      .axes = { PLANE_STRUTS, AXIS("mesh", ELEMENTS("net", 1), ELEMENTS("net", 4)),
                AXIS("step", STEP(2.0e-4), STEP(1.0e-4), STEP(2.0e-5)), ELASTIC_SCHEMES, LATTICE_FRICTION, SOLVERS } },
    { .name = "lattice space",
      .path = SETTLING("lattice_space"),
      .axes = { SPACE_STRUTS, AXIS("step", STEP(2.0e-4), STEP(1.0e-4), STEP(2.0e-5)), ELASTIC_SCHEMES, LATTICE_FRICTION,
                SOLVERS } },
    { .name = "portal",
      .path = SETTLING("portal"),
      .axes = { PORTAL_ELEMENTS, AXIS("step", STEP(2.0e-3), STEP(1.0e-3), STEP(5.0e-4), STEP(1.0e-4)), ELASTIC_SCHEMES,
                LATTICE_FRICTION, SOLVERS } },
    { .name = "crossed beams",
      .path = "cases/beams_crossed",
      .axes = { AXIS("mesh", { "N=9", "mesh.low.elements=9;mesh.high.elements=8" },
                     { "N=20", "mesh.low.elements=20;mesh.high.elements=21" }),
                AXIS("step", STEP(1.0e-3), STEP(5.0e-4), STEP(1.0e-4)), ELASTIC_SCHEMES,
                AXIS("friction", FRICTION("touch", 0.0), FRICTION("touch", 0.2), FRICTION("touch", 0.8)),
                AXIS("restitution", RESTITUTION("touch", 0.0), RESTITUTION("touch", 0.5),
                     RESTITUTION("touch", 1.0)) } },
    { .name = "rotor",
      .path = "cases/rotor",
      .axes = { ALWAYS("time.end=0.03"), ROTOR_SCHEMES,
                AXIS("friction", FRICTION("rub", 0.01), FRICTION("rub", 0.2), FRICTION("rub", 0.8)),
                AXIS("restitution", RESTITUTION("rub", 0.0), RESTITUTION("rub", 0.5)) } },
    CRIB(4, 3, SOLVERS),
    CRIB(7, 4, LARGE_SOLVERS),
};

#endif
