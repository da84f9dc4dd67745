// Campaigns: a case under every combination of values along some axes (mesh, step, scheme, friction, ...), each run in
// a process of its own, so that one that crashes or hangs is counted and does not end the others.
//
// A value is a label and assignments, as of --set, separated by ';'. A run is stopped when its simulation cannot be
// built or cannot go on, breaks its certificate, crashes, or exceeds its share of the processor; it is wrong when it
// comes to its end with a result that it cannot have: in one step energy rises, beyond external work, by more than all
// the kinetic energy that there was before, or the judge of its group has found a fault.

#ifndef TESTS_SUPPORT_CAMPAIGN_H
#define TESTS_SUPPORT_CAMPAIGN_H

#include "sim/sim.h"

#include <stdbool.h>

enum { CAMPAIGN_AXES = 8, CAMPAIGN_TEXT = 640, CAMPAIGN_NOTES = 8 };

typedef struct campaign_value {
    const char *label, *assignments;
} campaign_value;

typedef struct campaign_axis {
    const char *name;
    const campaign_value *values; // ends with a label that is NULL
} campaign_axis;

// What a judge remembers of a run, all zero at its start; `fault` is its verdict, empty: nothing is wrong.
typedef struct campaign_notes {
    double number[CAMPAIGN_NOTES];
    char fault[CAMPAIGN_TEXT];
} campaign_notes;

typedef struct campaign_group {
    const char *name, *path;
    const char *command;                      // makes the case; NULL: it is there
    const campaign_axis *axes[CAMPAIGN_AXES]; // the last one is NULL
    // After the start and every step, with is_done after the last one of a run that came to its end; may be NULL.
    void (*judge)(const pcs_sim *sim, bool is_done, campaign_notes *notes);
} campaign_group;

typedef struct campaign_choice {
    const char *only;  // runs of groups whose name holds this; NULL: all
    const char *label; // runs with a value of this label; NULL: all
    const char *by;    // a row for each value of this axis; NULL: one for each group
    int most;          // runs of a group, spread evenly over it; 0: all
    int seconds;       // of the processor that a run may take
    bool is_told;      // every run gets a line of its own
} campaign_choice;

typedef struct campaign_list {
    int count;
    const campaign_group *groups; // [count]
} campaign_list;

// Runs the groups and prints the table, then every run that stopped or is wrong with its message; gives their number.
long campaign_run(int nlist, const campaign_list *lists, const campaign_choice *choice);

#endif
