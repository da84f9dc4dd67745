// Two results beside each other, column by column.
//
// Same times (to round-off): row by row. Otherwise at the times of the one with fewer rows in the span that both cover,
// the other one interpolated linearly. A difference d of a column is judged relative to the column's size, the largest
// value either has there: |d| > tolerance max(|a|, |b|). What is below 1e-12 of the largest value of all columns of the
// same unit is round-off, and no difference: a momentum of 1e-17 beside one of 100.
//
// Studies: points with the same values of their keys, in any order; `when` and `first` are numbers of common points. A
// text that is another one, or a number that only one has, is a difference. Points that only one has are counted.
//
// Modes: those of one number, likewise; residuals and names are told and not judged.

#ifndef PCS_PLOT_COMPARE_H
#define PCS_PLOT_COMPARE_H

#include "core/context.h"

typedef struct pcs_compare_options {
    const char *path[2]; // folders of results or studies, or CSV files
    double tolerance;    // relative
    // A text for the screen.
    void (*show)(void *user, const char *text);
    void *show_user;
} pcs_compare_options;

// Where a column differs.
typedef struct pcs_difference {
    const char *column;
    bool is_work;           // of the steps and not of the motion: told and not judged
    bool is_beyond;         // the tolerance
    double largest, when;   // difference, and its time; infinite where one has a value and the other one none
    double relative;        // to the column's size
    double first, value[2]; // time of the first difference beyond the tolerance, and what both have there
} pcs_difference;

typedef struct pcs_comparison {
    bool is_same_times;
    int ntime;               // rows that were compared
    double span[2];          // first and last time that both have
    int ncolumn;             // that both have, without the time
    pcs_difference *columns; // [ncolumn]
    int nbeyond;             // columns that differ by more than the tolerance
    int nonly[2];            // columns that only one has
    const char **only[2];    // [nonly] their names
} pcs_comparison;

// PCS_BAD_INPUT: one of them cannot be read, or there is nothing to compare.
pcs_status pcs_compare(pcs_context *ctx, const pcs_compare_options *options, pcs_comparison *out);

#endif
