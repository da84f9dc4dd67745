// Which steps get a frame: every so many, in windows of time, and near changes of the contacts.

#ifndef PCS_OUTPUT_SCHEDULE_H
#define PCS_OUTPUT_SCHEDULE_H

#include "output/observer.h"

enum { PCS_PRECISION_DOUBLE, PCS_PRECISION_FLOAT };
enum { PCS_FORMAT_VTK, PCS_FORMAT_VTU };
enum { PCS_PIECES_AUTO, PCS_PIECES_ALWAYS, PCS_PIECES_NEVER };

// Options of the observers that write frames.
typedef struct pcs_frames_params {
    int every;           // steps, 0: no frames, -1: not said
    int around_contacts; // frames before and after a change of the contacts, below 1: all frames
    pcs_list window;     // [from, to], s, row by row; empty: the whole run
    int precision;       // of frames
    int format;          // of frames
    int pieces;          // of frames
    pcs_names fields;    // of frames; empty: all
} pcs_frames_params;

typedef enum pcs_frame_use {
    PCS_FRAME_NONE,
    PCS_FRAME_HELD, // it counts if the contacts change soon
    PCS_FRAME_KEPT  // and so do those that were held
} pcs_frame_use;

typedef struct pcs_schedule {
    const pcs_frames_params *params;
    long every;       // 0: no frames
    long last;        // step of the last frame that is kept, -1: none
    long left;        // frames that a change still asks for
    bool has_change;  // since the last frame that was due
    int nrow;         // contact points that are watched
    bool *was_closed; // [nrow]
} pcs_schedule;

// NULL when the options are sound.
const char *pcs_schedule_check(const void *params, const char **option);
pcs_status pcs_schedule_create(pcs_context *ctx, const pcs_frames_params *params, const pcs_view *view,
                               pcs_schedule *out);
// Writes or reads what it carries on, within the part of an observer.
void pcs_schedule_carry(pcs_schedule *s, pcs_carrier *c);
// Decides whether the present step gets a frame, and notes changes of the contacts.
pcs_frame_use pcs_schedule_step(pcs_schedule *s, const pcs_view *view);
// Decides likewise for the first and the last step, without reading the step's report.
pcs_frame_use pcs_schedule_end(pcs_schedule *s, const pcs_view *view);

// The steps between two frames: as said, else about 100 frames over the run or its windows.
long pcs_frames_every(const pcs_frames_params *params, const pcs_view *view);

#endif
