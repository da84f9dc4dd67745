// A series of legacy VTK files in time, "<stem>_000000.vtk" and so on, with its list "<stem>.vtk.series"; or of XML
// files, "<stem>_000000.vtu", with "<stem>.pvd". An XML frame may be of pieces, "<stem>_000000_0.vtu" and so on, one
// from each process, with an index "<stem>_000000.pvtu" that stands in the list.

#ifndef PCS_OUTPUT_SERIES_H
#define PCS_OUTPUT_SERIES_H

#include "output/file.h"
#include "output/observer.h"
#include "schemes/scheme.h"

// Points, cells and arrays over them as files for ParaView: legacy VTK files, or VTK's XML files compressed by zlib.

typedef struct pcs_vtk_array {
    const char *name;
    int ncomponent;
    const double *x; // entries of this process
    bool is_integer;
} pcs_vtk_array;

typedef struct pcs_vtk_packer pcs_vtk_packer;

// Only the values of the arrays change from file to file; in legacy files also their sizes. Legacy files may consist of
// many parts, which are made one at a time, as often as their numbers are written.
typedef struct pcs_vtk {
    const char *dataset, *cell_kind; // in legacy files, such as "POLYDATA", "VERTICES"; XML has unstructured grids
    int npoint, ncell, nentry;       // of the file, 0 on processes that write none
    const double *position;          // [npoint][3] m
    const int *entry;                // [nentry] for each cell the number of its points, and these
    pcs_vtk_array *point_arrays, *cell_arrays; // [npoint_array], [ncell_array]
    int npoint_array, ncell_array;
    pcs_collector of_points, of_cells; // of positions and arrays; zero for files of one process
    bool is_single;                    // reals are written as float; values beyond its range become infinite
    pcs_vtk_packer *packer;            // NULL for legacy files
    int npart;
    void (*make_part)(void *user, int part); // fills the members above for a part, NULL if they are complete
    void *user;
} pcs_vtk;

// Allocates all memory for XML files, with the cells as they are now.
pcs_status pcs_vtk_make_xml(pcs_context *ctx, pcs_vtk *v);
// Puts the data into an open file, with time and step of the state unless it is NULL. XML files have no title.
// Processes whose data are collected take part, whether their file is open or not.
void pcs_vtk_put(const pcs_vtk *v, pcs_file *f, const char *title, const pcs_state *state);

enum { PCS_PRECISION_DOUBLE, PCS_PRECISION_FLOAT };
enum { PCS_FORMAT_VTK, PCS_FORMAT_VTU };
enum { PCS_PIECES_AUTO, PCS_PIECES_ALWAYS, PCS_PIECES_NEVER };

// Options of the observers that write frames.
typedef struct pcs_frames_params {
    int every;        // steps between frames, 0 for none, -1 if not given
    pcs_list window;  // [from, to], s, row by row; empty for the complete run
    int precision;    // of frames
    int format;       // of frames
    int pieces;       // of frames
    pcs_names fields; // of frames; empty for all
} pcs_frames_params;

typedef struct pcs_series {
    const pcs_frames_params *params;
    long every;       // steps between frames; 0 for none
    long last;        // step of the last frame, -1 if none
    pcs_file *file;   // file of one frame
    pcs_file *list;   // list of frames and indices of pieces, written by one process
    const char *stem; // borrowed
    char *name;       // [name_room] file name without its directory
    size_t name_room;
    bool is_xml;
    int npiece;                      // number of pieces of a frame; 0 if it is one file
    int piece;                       // piece that this process writes
    const pcs_vtk *data;             // data that the index of pieces describes
    long count;                      // number of frames written
    bool has_failed;                 // nothing more is written
    unsigned long long digest;       // digest of the last frame
    unsigned long long frame_digest; // digest of the digests of all frames that are one file
} pcs_series;

// Allocates the memory and removes frames that an earlier run left under these names, unless this run is resumed.
pcs_status pcs_series_create(pcs_context *ctx, const pcs_view *view, const char *stem, pcs_series *out);
// Plans the steps that get a frame; before that, none does.
void pcs_series_plan(pcs_series *s, const pcs_frames_params *params, const pcs_view *view);
// Writes or reads which frames there are, within the part of an observer; later ones are removed when it is read.
pcs_status pcs_series_carry(pcs_series *s, pcs_carrier *c);
// Decides whether the present step gets a frame; the first and the last step get one wherever a window includes them.
bool pcs_series_is_due(pcs_series *s, const pcs_view *view, bool is_end);
// Writes the next frame, or a piece of it, and adds one that is whole to the list.
pcs_status pcs_series_write(pcs_series *s, const pcs_vtk *data, const char *title, const pcs_state *state);

// Writes index and entry of the list once the pieces of all processes are complete. Then the next frame may begin.
pcs_status pcs_series_settle(pcs_series *s, double t);
// Removes files of frames from this number on, of any format and number of processes.
pcs_status pcs_series_sweep(pcs_series *s, long first);

// Returns the steps between two frames: the given number, else about 100 frames over the run or its windows.
long pcs_frames_every(const pcs_frames_params *params, const pcs_view *view);

#endif
