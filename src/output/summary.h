// What the summary collects over a run, and its two writers.

#ifndef PCS_OUTPUT_SUMMARY_H
#define PCS_OUTPUT_SUMMARY_H

#include "output/file.h"
#include "output/observer.h"

enum { PCS_KEPT_INTERVALS = 64 };

// A maximal run of steps in which a contact passes on an impulse: from the beginning of the first to the end of
// the last.
typedef struct pcs_interval {
    long first_step, last_step;
    double start, end;            // s
    double peak_force, peak_time; // N, s: the largest smooth force
    double smooth_impulse;        // N s, the smooth force over time
    double impulse;               // N s, all of it
    long nimpact;                 // points that closed
} pcs_interval;

typedef struct pcs_contact_record {
    const char *name; // borrowed
    long ninterval;
    bool is_touching;                      // in the last step
    pcs_interval kept[PCS_KEPT_INTERVALS]; // the first ones
    pcs_interval last;                     // also while it goes on
    // Over the whole run, whatever was kept
    double touching_time, smooth_impulse, impulse; // s, N s, N s
    double peak_force, peak_time;                  // N, s
    double min_gap, min_gap_time;                  // m, s
    long nimpact;
} pcs_contact_record;

typedef struct pcs_reaction_record {
    double misfit, misfit_time; // m or rad, s: of a joint
    double force, force_time;   // N, s: the largest
    double moment, moment_time; // N m, s
} pcs_reaction_record;

typedef struct pcs_summary {
    pcs_file *file;
    double t; // of the last step taken in, s
    int ncontact;
    pcs_contact_record *contacts;   // [ncontact]
    double min_gap, min_gap_time;   // of all contacts
    pcs_reaction_record *reactions; // [system->nreaction]
    int max_iterations;
    long max_iterations_step;
    const char *worst_contact; // where min_gap was, NULL without contacts
} pcs_summary;

static inline double pcs_interval_mean(double smooth_impulse, double duration)
{
    return duration > 0.0 ? smooth_impulse / duration : NAN;
}

// How the run ended, and whether a check held, in one word.
const char *pcs_ending_text(pcs_ending ending);
const char *pcs_check_verdict(const pcs_check *check);
// What the energy terms leave over, J.
double pcs_ledger_imbalance(const pcs_ledger *ledger);

void pcs_summary_put_json(const pcs_summary *s, const pcs_view *view);
void pcs_summary_put_text(const pcs_summary *s, const pcs_view *view);

#endif
