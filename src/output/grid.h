// What a frame of the model shows: points, lines and the arrays that are asked for; and how a legacy VTK file has it.

#ifndef PCS_OUTPUT_GRID_H
#define PCS_OUTPUT_GRID_H

#include "output/file.h"
#include "system/system.h"

typedef struct pcs_grid_array {
    const char *name;
    int ncomponent;
    const double *x; // [ncomponent * points or cells] of the picture
    double *kept;    // [likewise] as they were at the last update; NULL: not kept
} pcs_grid_array;

// Only the numbers behind `position` and the arrays change.
typedef struct pcs_grid {
    const pcs_picture *picture;
    int npoint, ncell;
    double (*position)[3]; // [npoint] m
    const int (*cells)[2]; // [ncell] one node given twice is a vertex
    int npoint_array, ncell_array;
    pcs_grid_array *point_arrays, *cell_arrays;
} pcs_grid;

enum { PCS_GRID_VERTEX = 1, PCS_GRID_LINE = 3 }; // VTK's numbers of cell types

static inline bool pcs_grid_is_vertex(const pcs_grid *grid, int cell)
{
    return grid->cells[cell][0] == grid->cells[cell][1];
}

// What is written of an array.
static inline const double *pcs_grid_values(const pcs_grid_array *array)
{
    return array->kept != NULL ? array->kept : array->x;
}

// Does the picture have all arrays that are asked for? PCS_BAD_INPUT: not the one of the number `index`.
pcs_status pcs_grid_check(pcs_context *ctx, const pcs_picture *picture, const pcs_names *fields, int *index);
// Takes all memory. `fields` are the arrays that are asked for, none: all; one that the picture does not have is
// PCS_BAD_INPUT.
pcs_status pcs_grid_create(pcs_context *ctx, const pcs_picture *picture, const pcs_names *fields, pcs_grid *out);
// Takes the memory for values that stay when the picture is drawn again.
pcs_status pcs_grid_keep(pcs_context *ctx, pcs_grid *grid);
// After the picture has been drawn.
void pcs_grid_update(pcs_grid *grid);
// What follows the name of the dataset in a legacy file.
void pcs_grid_put(const pcs_grid *grid, pcs_file *f);

#endif
