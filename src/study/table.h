// What a study gives, as study.csv, study.json and on the screen; private to this folder.

#ifndef PCS_STUDY_TABLE_H
#define PCS_STUDY_TABLE_H

#include "output/text.h"
#include "study/convergence.h"
#include "study/work.h"

typedef struct pcs_table {
    const pcs_plan *plan;
    pcs_digits *digits;
    const pcs_run *runs;                // [npoint * nlevel]
    const pcs_measured *values;         // [npoint * nlevel * nmeasure] NAN where a run has none
    const pcs_convergence *convergence; // [npoint * nmeasure * nrefined]; NULL: nothing is refined
    const char *not_refined;            // "mesh" or "step", whose error no limit or bound knows; NULL: none
} pcs_table;

// Refinements that a measure has figures of: one, or three where mesh and step go one by one: both, mesh, step.
static inline int pcs_table_nrefined(const pcs_plan *plan)
{
    return plan->is_separate ? 3 : 1;
}

pcs_status pcs_table_write(const pcs_table *t, const pcs_study_options *options);
void pcs_table_show(const pcs_table *t, const pcs_study_options *options);

#endif
