// Points, cells and arrays over them as files for ParaView: legacy VTK files, or VTK's XML files compressed by zlib.

#ifndef PCS_OUTPUT_VTK_H
#define PCS_OUTPUT_VTK_H

#include "output/file.h"
#include "schemes/scheme.h"

typedef struct pcs_vtk_array {
    const char *name;
    int ncomponent;
    const double *x; // the first entry; of XML files the others follow without gaps
    int stride;      // numbers from one entry to the next; 0: ncomponent
    bool is_integer; // not in XML files
} pcs_vtk_array;

typedef struct pcs_vtk_packer pcs_vtk_packer;

// Only the numbers behind the arrays change from file to file; of legacy files also what there is to write. These may
// be of many parts that are made one at a time, as often as their numbers are written.
typedef struct pcs_vtk {
    const char *dataset, *cell_kind; // in legacy files, such as "POLYDATA", "VERTICES"; XML has unstructured grids
    int npoint, ncell, nentry;
    const double *position;                    // [npoint][3] m
    const int *entry;                          // [nentry] of each cell how many points it has, and these
    pcs_vtk_array *point_arrays, *cell_arrays; // [npoint_array], [ncell_array]
    int npoint_array, ncell_array;
    int position_stride;    // numbers from one point to the next; 0: 3
    bool is_single;         // reals are written as float: what these cannot hold is infinite
    pcs_vtk_packer *packer; // NULL: legacy files
    int npart;
    void (*make_part)(void *user, int part); // 0 .. npart - 1 in turn: fills the members above; NULL: they are complete
    void *user;
} pcs_vtk;

// Takes all memory for XML files, which have the cells as they are now.
pcs_status pcs_vtk_make_xml(pcs_context *ctx, pcs_vtk *v);
// Puts the data into a file that is open, with time and step of the state unless it is NULL. XML files have no title.
void pcs_vtk_put(const pcs_vtk *v, pcs_file *f, const char *title, const pcs_state *state);
// Puts the head of an index of XML files that are the pieces of one, up to their names.
void pcs_vtk_put_index(const pcs_vtk *v, pcs_file *f);

#endif
