// Which pictures are drawn of results where no column is named. Private to this folder.

#ifndef PCS_PLOT_PICTURES_H
#define PCS_PLOT_PICTURES_H

#include "plot/album.h"

// Of runs: energies, momentum, contacts, probes, phases, steps.
pcs_status pcs_pictures_of_runs(pcs_album *album);
// The item becomes the sum of kinetic, strain and potential energy.
void pcs_pictures_add_energies(pcs_item *item);
// Of the only run, which is the table of a study: the measures that are named, or a picture of each, over the first key
// that varies, with a line for each combination of the others.
bool pcs_pictures_is_study(const pcs_csv *csv);
pcs_status pcs_pictures_of_study(pcs_album *album, const char *name, int nmeasure, const char *const *measures);

#endif
