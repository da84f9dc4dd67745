// Frames of the model and of its contact points: their options, and bounds of positions and fields over all frames so
// far, for the extent of obstacles, colour ranges and camera.

#ifndef PCS_OUTPUT_FRAMES_H
#define PCS_OUTPUT_FRAMES_H

#include "output/observer.h"

// Options of the observers that write frames.
typedef struct pcs_frames_params {
    int every;        // steps between frames, 0 for none, -1 if not given
    pcs_list window;  // [from, to], s, row by row; empty for the complete run
    int precision;    // of frames
    int format;       // of frames
    int pieces;       // of frames
    pcs_names fields; // of frames; empty for all
} pcs_frames_params;

// Range [-below, above] of a number. Both are maxima, so one reduction joins those of several processes.
typedef struct pcs_bounds {
    double below, above;
} pcs_bounds;

enum { PCS_FRAME_VECTORS = 3 };
extern const char *const pcs_frame_vectors[PCS_FRAME_VECTORS]; // displacement, velocity, rotation

typedef struct pcs_frames_record {
    long count;           // frames drawn
    int nrange;           // number of bounds over all frames, in the order of the members that follow
    pcs_bounds *position; // [3] m, positions of all points with their radii
    pcs_bounds *vectors;  // [PCS_FRAME_VECTORS][4] vectors at points along x, y, z, and their lengths; empty if absent
    pcs_bounds *radius;   // [1] m, radii of all points; only the largest is used
    pcs_bounds *reach;   // [nstill][2][3] m, of nodes that may touch an obstacle, from its point along its axes, and of
                         // those that came near
    pcs_bounds *fields;  // [nfield + npoint_field] fields of the picture, those of points last
    double *field_time;  // [the same] s, time at which a field was largest in size
    double *size_before; // [the same] largest size in frames before the current one
    double nearness;     // m, distance within which a node is near an obstacle
    const pcs_context *ctx;
} pcs_frames_record;

// Returns the stem of the files of a case's frames: its name, unless that belongs to other files.
const char *pcs_frames_stem(const char *case_name);

#endif
