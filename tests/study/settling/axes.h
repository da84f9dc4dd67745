// Axes of the study of settling that several groups share.

#ifndef TESTS_STUDY_SETTLING_AXES_H
#define TESTS_STUDY_SETTLING_AXES_H

#include "support/campaign.h"

#define AXIS(name, ...)                \
    &(const campaign_axis)             \
    {                                  \
        name, (const campaign_value[]) \
        {                              \
            __VA_ARGS__,               \
            {                          \
                0                      \
            }                          \
        }                              \
    }
// A single value without a label: what all runs of a group have in common.
#define ALWAYS(assignments) AXIS("always", { "", assignments })

#define STEP(h)                  \
    {                            \
        "h=" #h, "time.step=" #h \
    }

#define SCHEME_GGL(rho)                                            \
    {                                                              \
        "ggl" #rho, "scheme={type: alpha_ggl, rho_inf: 0" #rho "}" \
    }
#define SCHEME_VELOCITY(rho)                                                 \
    {                                                                        \
        "velocity" #rho, "scheme={type: alpha_velocity, rho_inf: 0" #rho "}" \
    }
#define SCHEME_NEWMARK(gamma)                                          \
    {                                                                  \
        "newmark" #gamma, "scheme={type: newmark, gamma: 0" #gamma "}" \
    }
#define SCHEME_MOREAU(theta)                                              \
    {                                                                     \
        "moreau" #theta, "scheme={type: moreau_jean, theta: 0" #theta "}" \
    }
#define SCHEME_MOREAU_DAMPED                                      \
    {                                                             \
        "moreau.606", "scheme={type: moreau_jean, rho_inf: 0.65}" \
    } // theta = 1/1.65
#define SCHEME_EULER                                        \
    {                                                       \
        "moreau1", "scheme={type: moreau_jean, theta: 1.0}" \
    }
#define SCHEME_HALF_EXPLICIT                            \
    {                                                   \
        "half_explicit", "scheme={type: half_explicit}" \
    }
#define SCHEME_JUMP                                           \
    {                                                         \
        "jump.8", "scheme={type: jump_newmark, rho_inf: 0.8}" \
    }
#define SCHEME_UNIFIED                                              \
    {                                                               \
        "unified", "scheme={type: ggl_midpoint, coupling: unified}" \
    }

// Elastic bodies: implicit schemes that damp high frequencies, and one that does not.
#define ELASTIC_SCHEMES                                                                                           \
    AXIS("scheme", SCHEME_GGL(.65), SCHEME_GGL(.8), SCHEME_VELOCITY(.65), SCHEME_NEWMARK(.5), SCHEME_NEWMARK(.6), \
         SCHEME_MOREAU_DAMPED, SCHEME_EULER)
// Rigid bodies.
#define RIGID_SCHEMES                                                                                        \
    AXIS("scheme", SCHEME_GGL(.8), SCHEME_VELOCITY(.8), SCHEME_NEWMARK(.5), SCHEME_MOREAU(.5), SCHEME_EULER, \
         SCHEME_HALF_EXPLICIT, SCHEME_JUMP)

// Rigid bodies in space: schemes that move finite rotations.
#define SPACE_SCHEMES                                                                                        \
    AXIS("scheme", SCHEME_GGL(.8), SCHEME_VELOCITY(.8), SCHEME_NEWMARK(.5), SCHEME_MOREAU(.5), SCHEME_EULER, \
         SCHEME_HALF_EXPLICIT)

#define SOLVERS \
    AXIS("solver", { "auto", "solver.type=auto" }, { "newton", "solver.type=newton" }, { "schur", "solver.type=schur" })

#define FRICTION(contact, mu)                           \
    {                                                   \
        "mu=" #mu, "contacts." contact ".friction=" #mu \
    }
#define RESTITUTION(contact, e)                         \
    {                                                   \
        "e=" #e, "contacts." contact ".restitution=" #e \
    }
#define ELEMENTS(mesh, n)                     \
    {                                         \
        "N=" #n, "mesh." mesh ".elements=" #n \
    }

#endif
