// Bounds of positions and fields over all frames so far, for the extent of obstacles, colour ranges and camera.

#ifndef PCS_OUTPUT_FRAMES_H
#define PCS_OUTPUT_FRAMES_H

#include "output/file.h"
#include "output/observer.h"
#include "output/series.h"

// Bounds the positions of nodes that may touch an obstacle, relative to its point and along its axes.
typedef struct pcs_reach {
    double frame[3][3];               // the obstacle's axis, and two unit vectors across it
    double low[3], high[3];           // m
    double near_low[3], near_high[3]; // likewise, of those that came near
} pcs_reach;

enum { PCS_FRAME_VECTORS = 3 };
extern const char *const pcs_frame_vectors[PCS_FRAME_VECTORS]; // displacement, velocity, rotation

typedef struct pcs_frames_record {
    long count;             // frames drawn
    double low[3], high[3]; // m, of all points with their radii, over all frames
    double *field_low;      // [nfield + npoint_field] of the picture, those of points last, over all frames
    double *field_high;     // likewise
    double *field_time;     // likewise, s, when a field was largest by size
    double *size_before;    // likewise, of the frames before the one that is added
    double vector_low[PCS_FRAME_VECTORS][4];  // likewise, of vectors at points along x, y, z, and their sizes
    double vector_high[PCS_FRAME_VECTORS][4]; // below vector_low: the picture has no such vector
    double nearness;                          // m, a node within it is near an obstacle
    pcs_reach *reach;                         // [nstill] of the picture's obstacles
    double radius;                            // m, the largest of all points; constant
    const pcs_context *ctx;                   // of a picture in pieces: bounds are those of all processes; else NULL
    double *work;                             // likewise, for what they tell one another
} pcs_frames_record;

pcs_status pcs_frames_record_create(pcs_context *ctx, const pcs_system *system, pcs_frames_record *out);
// Takes in the picture as it is drawn at time t; of one in pieces every process does.
void pcs_frames_record_add(pcs_frames_record *record, const pcs_picture *picture, double t);
// Writes or reads it, within the part of an observer.
void pcs_frames_record_carry(pcs_frames_record *record, const pcs_picture *picture, pcs_carrier *c);
// The record of this run's frames; NULL when it has none.
const pcs_frames_record *pcs_frames_record_find(const pcs_view *view);

// Two unit vectors across a unit vector, all three as the rows of a frame.
void pcs_reach_frame(const double axis[3], double frame[3][3]);

// Has a model of so many nodes frames in pieces, one from each process? By the value of `pieces`; NULL: not given.
bool pcs_frames_are_pieces(const char *pieces, int nnode);

// Stem of the files of a case's frames: its name, unless that belongs to other files.
const char *pcs_frames_stem(const char *case_name);

// Walls, floors and stops that stand still, obstacles.vtk, and bearings, discs and joints that nodes carry,
// obstacles.vtk.series.
enum { PCS_OBSTACLE_SIDES = 32, PCS_OBSTACLE_RINGS = 8, PCS_OBSTACLE_POINTS = PCS_OBSTACLE_RINGS * PCS_OBSTACLE_SIDES };
typedef struct pcs_obstacles {
    pcs_series series; // of what is carried
    int ncarried;
    double (*last)[6]; // [ncarried] m, where each was in the last frame
    bool is_unknown;   // what the last frame shows
    // The one that is being written, of the record's that stand still or of those that are carried.
    pcs_vtk vtk;
    pcs_vtk_array array;
    const pcs_system *system;
    const pcs_frames_record *record; // NULL: those that are carried
    int first_point;                 // number of its first point in the file
    double position[PCS_OBSTACLE_POINTS][3], contact[PCS_OBSTACLE_POINTS];
    int entry[6 * PCS_OBSTACLE_POINTS]; // polygons of four corners, and two round caps
} pcs_obstacles;

pcs_status pcs_obstacles_create(pcs_context *ctx, const pcs_view *view, pcs_obstacles *out);
// Writes or reads what it carries on, within the part of an observer.
pcs_status pcs_obstacles_carry(pcs_obstacles *o, pcs_carrier *c);
// Writes what stands still, if there is any, as large as the record asks for.
pcs_status pcs_obstacles_write_still(pcs_obstacles *o, pcs_file *f, const pcs_view *view,
                                     const pcs_frames_record *record);
// Writes what is carried at the places of the picture as it is drawn, if one has moved since the last frame.
pcs_status pcs_obstacles_write_carried(pcs_obstacles *o, pcs_frame_use use, const pcs_view *view);

#endif
