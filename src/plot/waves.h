// x-t diagrams: a field of a body over place and time, with the contact force beside it on the same axis of time.
// Private to this folder.

#ifndef PCS_PLOT_WAVES_H
#define PCS_PLOT_WAVES_H

#include "plot/album.h"

typedef struct pcs_waves pcs_waves;

// A diagram of every field of every *.waves.csv in the folders of the runs; none where there are no such files.
pcs_status pcs_waves_add(pcs_album *album);
// Writes <folder>/<name>.gp.
pcs_status pcs_waves_write(pcs_context *ctx, const pcs_canvas *canvas, const char *name, const pcs_waves *waves);

#endif
