// Bounds of positions and fields over all frames so far, for the extent of obstacles, colour ranges and camera.

#ifndef PCS_OUTPUT_FRAMES_H
#define PCS_OUTPUT_FRAMES_H

#include "output/file.h"
#include "output/observer.h"
#include "output/series.h"

// Bounds of a number, from -below to above, so that those of several processes are the larger ones.
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

// Returns the record of this run's frames, NULL if it has none.
const pcs_frames_record *pcs_frames_record_find(const pcs_view *view);

// Returns true if a model of so many nodes has frames in pieces, one per process, by `pieces` (NULL if not given).
bool pcs_frames_are_pieces(const char *pieces, int nnode);

// Returns the stem of the files of a case's frames: its name, unless that belongs to other files.
const char *pcs_frames_stem(const char *case_name);

// Fixed walls, floors and stops, obstacles.vtk, and bearings, discs and joints that nodes carry,
// obstacles.vtk.series.
enum { PCS_OBSTACLE_SIDES = 32, PCS_OBSTACLE_RINGS = 8, PCS_OBSTACLE_POINTS = PCS_OBSTACLE_RINGS * PCS_OBSTACLE_SIDES };
typedef struct pcs_obstacles {
    pcs_series series; // frames of carried obstacles
    int ncarried;
    double (*last)[6]; // [ncarried] m, two points of each in the last frame
    // The file being written, of fixed obstacles with their record or of carried ones.
    pcs_vtk vtk;
    pcs_vtk_array array;
    const pcs_system *system;
    const pcs_frames_record *record; // NULL for carried obstacles
    int first_point;                 // index of its first point in the file
    double position[PCS_OBSTACLE_POINTS][3], contact[PCS_OBSTACLE_POINTS];
    int entry[6 * PCS_OBSTACLE_POINTS]; // polygons of four corners, and two round caps
} pcs_obstacles;

#endif
