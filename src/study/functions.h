// Functions in the formulas of measures that look at the histories of runs; private to this folder.
//
//   at(column, time)                value of a column of history.csv at a time
//   rms(column, table)              root of the mean square of the difference to the column of that name in a CSV file,
//   rms(column, table, other)       or to another one of it; a table is also a folder of results, or `point N`: the run
//                                   of point N of the study, counted from 0, at the same level of refinement
//   filtered_peak(contact, window)  largest mean force over any time of that length
//   restitution(contact)            of the centre of the model over the first interval of the contact: with momenta
//                                   p_0 before and p_1 after it, n = p_1 - p_0:  e = -(p_1 n)/(p_0 n)
//   restitution(contact, column)    minus the value of the column after that interval over the one before
// For a column there may stand a formula of columns: at(tip.x - root.x, 0.3).

#ifndef PCS_STUDY_FUNCTIONS_H
#define PCS_STUDY_FUNCTIONS_H

#include "plot/csv.h"
#include "study/work.h"

enum { PCS_FUNCTION_ARGUMENTS = 3, PCS_FUNCTION_TEXT = 4096 };

// Where the numbers of a run come from.
typedef struct pcs_measure_source {
    pcs_context *ctx;
    const char *folder;      // of the run
    const pcs_yaml *summary; // its summary.json
    pcs_csv *history;        // NULL until a function asks for it
    const pcs_plan *plan;
    const char *directory; // of the study
    const pcs_run *runs;   // of the study; NULL: others are not known yet
    int level;             // of refinement
} pcs_measure_source;

typedef struct pcs_function pcs_function;

// A call as it stands in a measure.
typedef struct pcs_function_call {
    const pcs_function *function;
    int count;
    char texts[PCS_FUNCTION_ARGUMENTS][PCS_FUNCTION_TEXT]; // [count]
    double numbers[PCS_FUNCTION_ARGUMENTS];                // [count] of those that are numbers, filled by the caller
} pcs_function_call;

// Reads a call at the start of the text; *length is 0 where there is none. What is wrong with it is PCS_BAD_INPUT.
pcs_status pcs_function_parse(pcs_context *ctx, const char *text, pcs_function_call *out, size_t *length);
bool pcs_function_takes_number(const pcs_function_call *call, int argument);
pcs_status pcs_function_value(pcs_measure_source *s, const pcs_function_call *call, double *out);

// Is there a call in the text?
bool pcs_function_is_used(const char *text);
// The text with the paths of tables, which stand from that folder on, made absolute.
pcs_status pcs_function_locate(pcs_context *ctx, const char *folder, const char *text, const char **out);

#endif
