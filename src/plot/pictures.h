// Which pictures one wants of results. Private to this folder.

#ifndef PCS_PLOT_PICTURES_H
#define PCS_PLOT_PICTURES_H

#include "plot/album.h"

// Of runs: energies, contacts, probes, phases, steps.
pcs_status pcs_pictures_of_runs(pcs_album *album);

#endif
