// Does every step find its way? Models with impacts under many meshes, steps, schemes and coefficients of friction: how
// many runs stop, what a step costs, how often it was cut into smaller ones or handed to another solver.
//
//   study_settling [--quick] [--tell] [--by AXIS] [--with LABEL] [--seconds N] [GROUP]
//
//   GROUP        only groups whose name holds this text
//   --quick      some fifty runs of each group, spread over it
//   --by AXIS    a row for each value of an axis: mesh, step, scheme, friction, ...
//   --with LABEL only runs with a value of this label, as in the lists of stopped runs
//   --tell       a line for each run
//   --seconds N  of the processor for each run (default 300); more counts as stopped
//
// Columns: runs, those that stopped, those that ended with a result they cannot have, steps, steps with an impact,
// steps cut, steps handed on, iterations per step (of all steps, of those without and with an impact, worst), largest
// rise of energy in one step beyond external work over the largest kinetic energy of the run, time of the processor.
// Status 1 when a run stopped or is wrong. Run from the project's folder.

#include "support/campaign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

#define BEAM_SCHEMES                                                                                                   \
    AXIS("scheme", { "ggl.65", "scheme={type: alpha_ggl, rho_inf: 0.65}" },                                            \
         { "ggl.8", "scheme={type: alpha_ggl, rho_inf: 0.8}" },                                                        \
         { "velocity.65", "scheme={type: alpha_velocity, rho_inf: 0.65}" }, { "newmark.5", "scheme={type: newmark}" }, \
         { "newmark.6", "scheme={type: newmark, gamma: 0.6}" },                                                        \
         { "moreau.606", "scheme={type: moreau_jean, rho_inf: 0.65}" },                                                \
         { "moreau1", "scheme={type: moreau_jean, theta: 1.0}" })

#define STEPS                                                                                                          \
    AXIS("step", { "h=1e-3", "time.step=1.0e-3" }, { "h=5e-4", "time.step=5.0e-4" }, { "h=2e-4", "time.step=2.0e-4" }, \
         { "h=1e-4", "time.step=1.0e-4" }, { "h=5e-5", "time.step=5.0e-5" })

#define BEAM_MESHES                                                                    \
    AXIS("mesh", { "N=4", "mesh.beam.elements=4" }, { "N=8", "mesh.beam.elements=8" }, \
         { "N=10", "mesh.beam.elements=10" }, { "N=16", "mesh.beam.elements=16" },     \
         { "N=20", "mesh.beam.elements=20" }, { "N=23", "mesh.beam.elements=23" },     \
         { "N=32", "mesh.beam.elements=32" }, { "N=40", "mesh.beam.elements=40" },     \
         { "N=64", "mesh.beam.elements=64" })

#define BEAM_FRICTION                                                                                          \
    AXIS("friction", { "mu=0", "contacts.hurdle.friction=0.0" }, { "mu=0.2", "contacts.hurdle.friction=0.2" }, \
         { "mu=0.8", "contacts.hurdle.friction=0.8" })

#define HELD "joints={};supports={pivot: {set: beam.start, fix: [x, y]}}"

static const campaign_group groups[] = {
    { "pendulum hinge",
      "cases/beam_pendulum",
      { AXIS("end", { "", "time.end=0.4" }), BEAM_MESHES, STEPS, BEAM_SCHEMES, BEAM_FRICTION },
      NULL },
    { "pendulum support",
      "cases/beam_pendulum",
      { AXIS("end", { "", HELD ";time.end=0.4" }), BEAM_MESHES, STEPS, BEAM_SCHEMES, BEAM_FRICTION },
      NULL },
};

static void study_usage(void)
{
    fprintf(stderr, "usage: study_settling [--quick] [--tell] [--by AXIS] [--with LABEL] [--seconds N] [GROUP]\n");
    exit(2);
}

int main(int argc, char **argv)
{
    campaign_choice choice = { .seconds = 300 };
    for (int i = 1; i < argc; i++) {
        bool has_next = i + 1 < argc;
        if (strcmp(argv[i], "--quick") == 0) choice.most = 50;
        else if (strcmp(argv[i], "--tell") == 0) choice.is_told = true;
        else if (strcmp(argv[i], "--by") == 0 && has_next) choice.by = argv[++i];
        else if (strcmp(argv[i], "--with") == 0 && has_next) choice.label = argv[++i];
        else if (strcmp(argv[i], "--seconds") == 0 && has_next) choice.seconds = atoi(argv[++i]);
        else if (argv[i][0] == '-' || choice.only != NULL) study_usage();
        else choice.only = argv[i];
    }
    return campaign_run(sizeof groups / sizeof *groups, groups, &choice) > 0 ? 1 : 0;
}
