// What the summary collects over a run, and its two writers.

#ifndef PCS_OUTPUT_SUMMARY_H
#define PCS_OUTPUT_SUMMARY_H

#include "output/contact_record.h"
#include "output/file.h"

typedef struct pcs_reaction_record {
    double misfit, misfit_time; // m or rad, s: of a joint
    double force, force_time;   // N, s: the largest
    double moment, moment_time; // N m, s
    double work;                // J, of a joint on the model
} pcs_reaction_record;

// A column that the user asked for, over the run.
typedef struct pcs_probe_record {
    double start, end;
    double min, min_time, max, max_time; // times in s
    double min_then, max_then;           // the values at these times
} pcs_probe_record;

// A point of contact at the end of the last step.
typedef struct pcs_point_record {
    double slip; // m/s
    double slid; // m, so far while closed
    long is_closed;
} pcs_point_record; // words without gaps, for checkpoints

typedef struct pcs_summary {
    pcs_file *file;
    pcs_digits *digits;
    double t; // of the last step taken in, s
    int ncontact;
    pcs_contact_record *contacts;   // [ncontact]
    pcs_contact_step *now;          // [ncontact] what they did in the last step
    double *joined;                 // what contacts, or joints, of all ranks did in the last step
    pcs_point_record *points;       // [rows of contacts]
    double open_time, window;       // s, see contact_record.h
    double speed;                   // m/s, of the model: the largest so far
    double min_gap, min_gap_time;   // of all contacts
    pcs_reaction_record *reactions; // [system->nreaction]
    pcs_probe_record *probes;       // [view->nprobe]
    int max_iterations;
    long max_iterations_step;
    const char *worst_contact; // where min_gap was, NULL without contacts
} pcs_summary;

// How the run ended, and whether a check held, in one word.
const char *pcs_ending_text(pcs_ending ending);
const char *pcs_check_verdict(const pcs_check *check);
const char *pcs_certificate_verdict(const pcs_certificate *certificate);
// What the energy terms leave over, J.
double pcs_ledger_imbalance(const pcs_ledger *ledger);

void pcs_summary_put_json(const pcs_summary *s, const pcs_view *view);
void pcs_summary_put_text(const pcs_summary *s, const pcs_view *view);

#endif
