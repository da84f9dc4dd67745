// A series of legacy VTK files in time, "<stem>_000000.vtk" and so on, with its list "<stem>.vtk.series".

#ifndef PCS_OUTPUT_SERIES_H
#define PCS_OUTPUT_SERIES_H

#include "output/file.h"
#include "output/observer.h"

// Options of the observers that write frames.
typedef struct pcs_frames_params {
    int every; // steps, 0: no frames, -1: not said
} pcs_frames_params;

typedef struct pcs_series {
    pcs_file *file;   // of one frame
    const char *stem; // borrowed
    char *name;       // [name_room] of a file without its directory
    char *entry;      // [entry_room] of the list
    size_t name_room, entry_room;
    long count;      // frames written
    int list;        // descriptor of the list once it exists, -1: not yet
    long long tail;  // where the list's closing brackets stand
    bool has_failed; // nothing more is written
} pcs_series;

// Takes the memory and removes the frames that an earlier run left under these names.
pcs_status pcs_series_create(pcs_context *ctx, const char *directory, const char *stem, pcs_series *out);
// Opens the next frame and writes its first lines up to the dataset's name; then the caller puts the data.
pcs_status pcs_series_begin(pcs_series *s, const char *title, const char *dataset, double t, long step);
// Completes the frame and adds it to the list.
pcs_status pcs_series_end(pcs_series *s, double t);

// The steps between two frames: as said, else about 100 frames over the run.
long pcs_frames_every(const pcs_frames_params *params, const pcs_view *view);

// "name count per-entry type" of one array of point or cell data, followed by its values.
void pcs_vtk_reals(pcs_file *f, const char *name, const double *x, int count);
void pcs_vtk_vectors(pcs_file *f, const char *name, const double (*x)[3], int count);
void pcs_vtk_ints(pcs_file *f, const char *name, const int *x, int count);

#endif
