// The arrays of a frame, chosen once.
//
// Points are reference + displacement, so that the body moves by itself. Point data: displacement, velocity, rotation,
// radius (for ParaView's Tube filter), section forces. Cell data: the y axis of the section
// and the system's fields (axial_force, stress, strain_energy, ...). A cell of one node is a vertex.

#include "output/grid.h"

#include "output/series.h"

#include <stdio.h>
#include <string.h>

enum { NAME_ROOM = 64, KNOWN_ROOM = 512, POINT_VECTORS = 3, CELL_BATCH = 256 };

// Is an array asked for?
static bool grid_wants(const pcs_names *fields, const char *name)
{
    bool is_named = fields->count == 0;
    for (int i = 0; i < fields->count && !is_named; i++) is_named = strcmp(fields->text[i], name) == 0;
    return is_named;
}

static bool grid_has(const pcs_grid_array *arrays, int count, const char *name)
{
    bool is_found = false;
    for (int i = 0; i < count && !is_found; i++) is_found = strcmp(arrays[i].name, name) == 0;
    return is_found;
}

static void grid_add(pcs_grid_array *arrays, int *count, const pcs_grid_array *array)
{
    if (array->x != NULL) arrays[(*count)++] = *array;
}

// All arrays that the picture has.
static pcs_status grid_list(pcs_context *ctx, const pcs_picture *picture, pcs_grid *grid)
{
    const double(*vectors[POINT_VECTORS])[3] = { (const double(*)[3])picture->displacement,
                                                 (const double(*)[3])picture->velocity,
                                                 (const double(*)[3])picture->rotation };
    static const char *const names[POINT_VECTORS] = { "displacement", "velocity", "rotation" };
    for (int i = 0; i < POINT_VECTORS; i++)
        grid_add(grid->point_arrays, &grid->npoint_array,
                 &(pcs_grid_array){ names[i], 3, vectors[i] == NULL ? NULL : vectors[i][0], NULL });
    grid_add(grid->point_arrays, &grid->npoint_array, &(pcs_grid_array){ "radius", 1, picture->radius, NULL });
    for (int k = 0; k < picture->npoint_field; k++)
        grid_add(grid->point_arrays, &grid->npoint_array,
                 &(pcs_grid_array){ picture->point_names[k], 1, picture->point_fields[k], NULL });
    if (picture->section_y != NULL)
        grid_add(grid->cell_arrays, &grid->ncell_array,
                 &(pcs_grid_array){ "section_y", 3, picture->section_y[0], NULL });
    for (int k = 0; k < picture->nfield; k++) {
        char name[NAME_ROOM];
        pcs_safe_name(picture->field_names[k], sizeof name, name);
        const char *kept = pcs_take_text(ctx, name);
        if (kept == NULL) return PCS_NO_MEMORY;
        grid_add(grid->cell_arrays, &grid->ncell_array, &(pcs_grid_array){ kept, 1, picture->fields[k], NULL });
    }
    return PCS_OK;
}

// Names of all arrays that can be asked for, each once.
static void grid_print_names(const pcs_grid *grid, size_t room, char *text)
{
    size_t used = 0;
    for (int k = 0; k < grid->npoint_array + grid->ncell_array && used < room; k++) {
        int cell_array = k - grid->npoint_array;
        const char *name = cell_array < 0 ? grid->point_arrays[k].name : grid->cell_arrays[cell_array].name;
        bool is_known = cell_array >= 0 && grid_has(grid->point_arrays, grid->npoint_array, name);
        if (is_known || strcmp(name, "radius") == 0) continue;
        used += (size_t)snprintf(text + used, room - used, "%s%s", k == 0 ? "" : ", ", name);
    }
}

static pcs_status grid_demand(pcs_context *ctx, const pcs_grid *grid, const pcs_names *fields, int *index)
{
    for (int i = 0; i < fields->count; i++) {
        *index = i;
        const char *wanted = fields->text[i];
        char known[KNOWN_ROOM] = "";
        if (strcmp(wanted, "none") == 0 || grid_has(grid->point_arrays, grid->npoint_array, wanted) ||
            grid_has(grid->cell_arrays, grid->ncell_array, wanted))
            continue;
        grid_print_names(grid, sizeof known, known);
        return pcs_fail(ctx, PCS_BAD_INPUT, "the model has no '%s'; it has %s", wanted, known);
    }
    return PCS_OK;
}

// Leaves only what is asked for; radii always stay.
static void grid_choose(pcs_grid_array *arrays, int *count, const pcs_names *fields)
{
    int kept = 0;
    for (int i = 0; i < *count; i++)
        if (strcmp(arrays[i].name, "radius") == 0 || grid_wants(fields, arrays[i].name)) arrays[kept++] = arrays[i];
    *count = kept;
}

// The arrays of a picture, and the first that is asked for and is not among them.
static pcs_status grid_prepare(pcs_context *ctx, const pcs_picture *picture, const pcs_names *fields, pcs_grid *out,
                               int *index)
{
    *out = (pcs_grid){ .picture = picture, .npoint = picture->npoint, .ncell = picture->ncell };
    out->cells = picture->cells;
    PCS_TAKE(ctx, out->point_arrays, POINT_VECTORS + 1 + picture->npoint_field, "frames");
    PCS_TAKE(ctx, out->cell_arrays, 1 + picture->nfield, "frames");
    PCS_TRY(grid_list(ctx, picture, out));
    return grid_demand(ctx, out, fields, index);
}

pcs_status pcs_grid_check(pcs_context *ctx, const pcs_picture *picture, const pcs_names *fields, int *index)
{
    pcs_grid grid;
    return grid_prepare(ctx, picture, fields, &grid, index);
}

pcs_status pcs_grid_create(pcs_context *ctx, const pcs_picture *picture, const pcs_names *fields, pcs_grid *out)
{
    int index;
    PCS_TRY(grid_prepare(ctx, picture, fields, out, &index));
    PCS_TAKE(ctx, out->position, out->npoint, "frames");
    grid_choose(out->point_arrays, &out->npoint_array, fields);
    grid_choose(out->cell_arrays, &out->ncell_array, fields);
    return PCS_OK;
}

static pcs_status grid_keep_arrays(pcs_context *ctx, pcs_grid_array *arrays, int narray, int count)
{
    for (int i = 0; i < narray; i++)
        PCS_TAKE(ctx, arrays[i].kept, (size_t)arrays[i].ncomponent * (size_t)count, "frames written beside the steps");
    return PCS_OK;
}

pcs_status pcs_grid_keep(pcs_context *ctx, pcs_grid *grid)
{
    PCS_TRY(grid_keep_arrays(ctx, grid->point_arrays, grid->npoint_array, grid->npoint));
    return grid_keep_arrays(ctx, grid->cell_arrays, grid->ncell_array, grid->ncell);
}

static void grid_update_arrays(pcs_grid_array *arrays, int narray, int count)
{
    for (int i = 0; i < narray; i++) {
        size_t bytes = (size_t)arrays[i].ncomponent * (size_t)count * sizeof(double);
        if (arrays[i].kept != NULL) memcpy(arrays[i].kept, arrays[i].x, bytes);
    }
}

void pcs_grid_update(pcs_grid *grid)
{
    const pcs_picture *picture = grid->picture;
    for (int i = 0; i < grid->npoint; i++)
        for (int k = 0; k < 3; k++) grid->position[i][k] = picture->reference[i][k] + picture->displacement[i][k];
    grid_update_arrays(grid->point_arrays, grid->npoint_array, grid->npoint);
    grid_update_arrays(grid->cell_arrays, grid->ncell_array, grid->ncell);
}

static void grid_put_cells(const pcs_grid *grid, pcs_file *f)
{
    long long size = 3LL * grid->ncell;
    for (int c = 0; c < grid->ncell; c++) size -= pcs_grid_is_vertex(grid, c);
    pcs_file_print(f, "\nCELLS %d %lld\n", grid->ncell, size);
    for (int c = 0; c < grid->ncell;) {
        int batch[3 * CELL_BATCH], used = 0;
        for (int last = c + CELL_BATCH; c < last && c < grid->ncell; c++) {
            bool is_vertex = pcs_grid_is_vertex(grid, c);
            batch[used++] = is_vertex ? 1 : 2;
            batch[used++] = grid->cells[c][0];
            if (!is_vertex) batch[used++] = grid->cells[c][1];
        }
        pcs_file_ints(f, batch, (size_t)used);
    }
    pcs_file_print(f, "\nCELL_TYPES %d\n", grid->ncell);
    for (int c = 0; c < grid->ncell;) {
        int batch[CELL_BATCH], used = 0;
        for (; used < CELL_BATCH && c < grid->ncell; c++)
            batch[used++] = pcs_grid_is_vertex(grid, c) ? PCS_GRID_VERTEX : PCS_GRID_LINE;
        pcs_file_ints(f, batch, (size_t)used);
    }
    pcs_file_text(f, "\n");
}

static void grid_put_arrays(pcs_file *f, const char *place, int count, const pcs_grid_array *arrays, int narray)
{
    if (narray == 0 || count == 0) return;
    pcs_file_print(f, "%s %d\nFIELD FieldData %d\n", place, count, narray);
    for (int i = 0; i < narray; i++)
        pcs_vtk_reals(f, arrays[i].name, pcs_grid_values(&arrays[i]), arrays[i].ncomponent, count);
}

void pcs_grid_put(const pcs_grid *grid, pcs_file *f)
{
    pcs_file_print(f, "POINTS %d %s\n", grid->npoint, f->is_single ? "float" : "double");
    pcs_file_reals(f, &grid->position[0][0], 3 * (size_t)grid->npoint);
    grid_put_cells(grid, f);
    grid_put_arrays(f, "POINT_DATA", grid->npoint, grid->point_arrays, grid->npoint_array);
    grid_put_arrays(f, "CELL_DATA", grid->ncell, grid->cell_arrays, grid->ncell_array);
}
