// A series of legacy VTK files in time, "<stem>_000000.vtk" and so on, with its list "<stem>.vtk.series"; or of XML
// files, "<stem>_000000.vtu", with "<stem>.pvd". An XML frame may be of pieces, "<stem>_000000_0.vtu" and so on, one
// from each process, with an index "<stem>_000000.pvtu" that stands in the list.

#ifndef PCS_OUTPUT_SERIES_H
#define PCS_OUTPUT_SERIES_H

#include "output/file.h"
#include "output/observer.h"
#include "output/schedule.h"
#include "output/vtk.h"

typedef struct pcs_series {
    pcs_file *file;   // of one frame
    const char *stem; // borrowed
    char *name;       // [name_room] of a file without its directory
    char *entry;      // [entry_room] of the list
    size_t name_room, entry_room;
    bool is_xml;
    int npiece;          // of a frame; 0: it is one file
    int piece;           // that this process writes
    bool leads;          // this process writes index and list of pieces
    const pcs_vtk *data; // of pieces: what their index tells
    bool goes_on;        // with the frames of a run that is resumed
    long count;          // frames written
    int list;            // descriptor of the list once it exists, -1: not yet
    long long tail;      // where the list's closing brackets stand
    bool has_failed;     // nothing more is written
    bool is_holding;     // the frame that is written now is not for the list yet
    int room;            // frames that can be held
    int nheld, first_held;
    double *held_time;               // [room] s, round and round
    long *held_pieces;               // [room] of which each is made; 0: one file
    unsigned long long *held_digest; // [room] of frames that are one file
    unsigned long long digest;       // of the last frame
    unsigned long long frame_digest; // of the digests of all frames of the list, of those that are one file
    pcs_digest list_digest;          // of the list up to `tail`
} pcs_series;

// Takes the memory and removes the frames that an earlier run left under these names, unless this one is resumed.
pcs_status pcs_series_create(pcs_context *ctx, const pcs_view *view, const char *stem, pcs_series *out);
// Writes or reads which frames there are, within the part of an observer; later ones are removed when it is read.
pcs_status pcs_series_carry(pcs_series *s, pcs_carrier *c);
// Room for `count` frames that may be held.
pcs_status pcs_series_reserve(pcs_context *ctx, pcs_series *s, int count);
// Forgets the frames that are held and removes them, unless the run may be resumed and will ask for them.
void pcs_series_drop(pcs_series *s, const pcs_view *view);
// Writes the next frame, of this use, and adds it to the list unless it is held.
// A frame that is held takes the place of the first of those that are when there is no room; one that is kept comes
// after all of these, which enter the list.
pcs_status pcs_series_write(pcs_series *s, pcs_frame_use use, const pcs_vtk *data, const char *title,
                            const pcs_state *state);

// Makes it a series of pieces, of which this process writes one; before it is read from a checkpoint or begins.
void pcs_series_split(pcs_series *s, int npiece, int piece, const pcs_vtk *data);
// Once the pieces of all processes are complete: index and list. Then the next frame may begin.
pcs_status pcs_series_settle(pcs_series *s, double t);
// Removes pieces and indices from this number of a frame on, of any number of processes; from 0 on those held, too.
pcs_status pcs_series_sweep(pcs_series *s, long first);

#endif
