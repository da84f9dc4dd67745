// Does every step find its way? Models with impacts under many meshes, steps, schemes and coefficients of friction: how
// many runs stop, what a step costs, how often it was cut into smaller ones or handed to another solver.
//
//   study_settling [--quick] [--tell] [--by AXIS] [--with LABEL] [--seconds N] [GROUP]
//
//   GROUP        only groups whose name holds this text
//   --quick      some twenty runs of each group, spread over it
//   --by AXIS    a row for each value of an axis: mesh, step, scheme, friction, ...
//   --with LABEL only runs with a value of this label, as in the lists of stopped runs
//   --tell       a line for each run
//   --seconds N  of the processor for each run (default 60, quick 15); more counts as stopped
//
// Columns: runs, those that stopped, those that ended with a result they cannot have, steps, steps with an impact,
// steps cut, steps handed on, iterations per step (of all steps, of those without and with an impact, worst), largest
// rise of energy in one step beyond external work over the largest kinetic energy of the run, time of the processor.
// Status 1 when a run stopped or is wrong. Run from the project's folder.

#include "study/settling/friction.h"
#include "study/settling/pendulums.h"
#include "study/settling/structures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const campaign_list lists[] = {
    { COUNT(pendulum_groups), pendulum_groups },
    { COUNT(body_groups), body_groups },
    { COUNT(structure_groups), structure_groups },
    { COUNT(friction_groups), friction_groups },
};

static void study_usage(void)
{
    fprintf(stderr, "usage: study_settling [--quick] [--tell] [--by AXIS] [--with LABEL] [--seconds N] [GROUP]\n");
    exit(2);
}

int main(int argc, char **argv)
{
    campaign_choice choice = { 0 };
    for (int i = 1; i < argc; i++) {
        bool has_next = i + 1 < argc;
        if (strcmp(argv[i], "--quick") == 0) choice.most = 20;
        else if (strcmp(argv[i], "--tell") == 0) choice.is_told = true;
        else if (strcmp(argv[i], "--by") == 0 && has_next) choice.by = argv[++i];
        else if (strcmp(argv[i], "--with") == 0 && has_next) choice.label = argv[++i];
        else if (strcmp(argv[i], "--seconds") == 0 && has_next) choice.seconds = atoi(argv[++i]);
        else if (argv[i][0] == '-' || choice.only != NULL) study_usage();
        else choice.only = argv[i];
    }
    if (choice.seconds <= 0) choice.seconds = choice.most > 0 ? 15 : 60;
    return campaign_run(COUNT(lists), lists, &choice) > 0 ? 1 : 0;
}
