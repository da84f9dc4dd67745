// What a run gives: numbers of its summary.json, by their place in it; private to this folder.
//
// A place is a path of keys with points between them. An item of a list is found by its `name` or by its number from 0;
// contacts, joints and probes also without the name of their list: wall.peak_force, tip.x.max. What is no place is a
// formula of places and of functions of histories (functions.h): wall.total_impulse/(78.5*3) - 1.

#ifndef PCS_STUDY_MEASURE_H
#define PCS_STUDY_MEASURE_H

#include "study/functions.h"

// Is there the summary of a run that has come to its end?
bool pcs_summary_is_finished(pcs_context *ctx, const char *folder);
// The measures of the plan; NAN for null. A place that is not there is PCS_BAD_INPUT. Reads the summary of the source.
pcs_status pcs_measure_read(pcs_measure_source *s, pcs_measured *values);
// Measures of a study that asks for none: of every contact, and energies.
pcs_status pcs_measure_usual(pcs_plan *plan, const char *folder);

#endif
