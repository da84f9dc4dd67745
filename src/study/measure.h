// What a run gives: numbers of its summary.json, by their place in it; private to this folder.
//
// A place is a path of keys with points between them. An item of a list is found by its `name` or by its number from 0;
// contacts, joints and probes also without the name of their list: wall.peak_force, tip.x.max. What is no place is a
// formula of places: wall.total_impulse/(78.5*3) - 1.

#ifndef PCS_STUDY_MEASURE_H
#define PCS_STUDY_MEASURE_H

#include "study/plan.h"

// Is there the summary of a run that has come to its end?
bool pcs_summary_is_finished(pcs_context *ctx, const char *folder);
// The numbers at the places of the measures; NAN for null. A place that is not there is PCS_BAD_INPUT.
pcs_status pcs_measure_read(pcs_context *ctx, const char *folder, int count, const pcs_measure_request *requests,
                            double *values);
// Measures of a study that asks for none: of every contact, and energies.
pcs_status pcs_measure_usual(pcs_plan *plan, const char *folder);

#endif
