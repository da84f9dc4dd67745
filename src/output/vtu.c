// VTK's XML file of an unstructured grid: a head that says of each array at which byte it begins, and the arrays
// themselves after it, each as
//   [number of blocks] [bytes of a block] [those of the last one where it is shorter, else 0] [of each, compressed]
// in 64 bits each, and the blocks, compressed by zlib. Numbers stand in the byte order of this machine, which the head
// names. What does not change from frame to frame is compressed once.

#include "output/vtu.h"

#include <stdint.h>
#include <string.h>
#include <zlib.h>

enum { BLOCK = 1 << 16, HEADER_WORDS = 3, GRID_ARRAYS = 4, STILL_ARRAYS = 3 };

struct pcs_vtu {
    const pcs_grid *grid;
    bool is_single;
    z_stream stream;
    float *single;       // [single_room] an array as it is written
    unsigned char *data; // [room] all arrays, compressed
    size_t used, still;  // bytes: in all, and of what never changes
    size_t *offset;      // [number of arrays] where each begins
    int narray;          // that are in `data`
};

static void vtu_end_stream(void *object)
{
    pcs_vtu *v = object;
    deflateEnd(&v->stream);
}

static size_t vtu_blocks(size_t bytes)
{
    return (bytes + BLOCK - 1) / BLOCK;
}

// The most that an array can take.
static size_t vtu_bound(pcs_vtu *v, size_t bytes)
{
    return (HEADER_WORDS + vtu_blocks(bytes)) * sizeof(uint64_t) + vtu_blocks(bytes) * deflateBound(&v->stream, BLOCK);
}

// zlib never changes its input and never runs out of what vtu_bound reserves.
static size_t vtu_deflate(pcs_vtu *v, const unsigned char *from, size_t bytes, unsigned char *to)
{
    deflateReset(&v->stream);
    v->stream.next_in = (z_const Bytef *)(uintptr_t)from;
    v->stream.avail_in = (uInt)bytes;
    v->stream.next_out = to;
    v->stream.avail_out = (uInt)deflateBound(&v->stream, BLOCK);
    deflate(&v->stream, Z_FINISH);
    return (size_t)v->stream.total_out;
}

static void vtu_add(pcs_vtu *v, const void *x, size_t bytes)
{
    uint64_t count = vtu_blocks(bytes), head[HEADER_WORDS] = { count, BLOCK, bytes % BLOCK };
    unsigned char *start = v->data + v->used, *sizes = start + sizeof head;
    unsigned char *to = sizes + count * sizeof(uint64_t);
    memcpy(start, head, sizeof head);
    for (size_t i = 0; i < count; i++) {
        size_t from = i * BLOCK, left = bytes - from;
        uint64_t size = vtu_deflate(v, (const unsigned char *)x + from, left < BLOCK ? left : BLOCK, to);
        memcpy(sizes + i * sizeof size, &size, sizeof size);
        to += size;
    }
    v->offset[v->narray++] = v->used;
    v->used = (size_t)(to - v->data);
}

static void vtu_add_reals(pcs_vtu *v, const double *x, size_t count)
{
    if (!v->is_single) {
        vtu_add(v, x, count * sizeof *x);
        return;
    }
    for (size_t i = 0; i < count; i++) v->single[i] = (float)x[i];
    vtu_add(v, v->single, count * sizeof *v->single);
}

// Nodes of the cells, where those of each end, and types.
static pcs_status vtu_add_cells(pcs_context *ctx, pcs_vtu *v)
{
    const pcs_grid *grid = v->grid;
    int32_t *nodes, *ends;
    unsigned char *types;
    PCS_TAKE(ctx, nodes, 2 * (size_t)grid->ncell, "cells of frames");
    PCS_TAKE(ctx, ends, grid->ncell, "cells of frames");
    PCS_TAKE(ctx, types, grid->ncell, "cells of frames");
    int count = 0;
    for (int c = 0; c < grid->ncell; c++) {
        bool is_vertex = pcs_grid_is_vertex(grid, c);
        nodes[count++] = grid->cells[c][0];
        if (!is_vertex) nodes[count++] = grid->cells[c][1];
        ends[c] = count;
        types[c] = is_vertex ? PCS_GRID_VERTEX : PCS_GRID_LINE;
    }
    vtu_add(v, nodes, (size_t)count * sizeof *nodes);
    vtu_add(v, ends, (size_t)grid->ncell * sizeof *ends);
    vtu_add(v, types, (size_t)grid->ncell);
    v->still = v->used;
    return PCS_OK;
}

static size_t vtu_array_bound(pcs_vtu *v, const pcs_grid_array *arrays, int narray, int count)
{
    size_t sum = 0;
    for (int i = 0; i < narray; i++) sum += vtu_bound(v, (size_t)arrays[i].ncomponent * (size_t)count * sizeof(double));
    return sum;
}

pcs_status pcs_vtu_create(pcs_context *ctx, const pcs_grid *grid, bool is_single, pcs_vtu **out)
{
    pcs_vtu *v;
    PCS_TAKE(ctx, v, 1, "frames");
    *v = (pcs_vtu){ .grid = grid, .is_single = is_single };
    PCS_TRY(pcs_defer(ctx, vtu_end_stream, v)); // which does nothing to a stream that never began
    if (deflateInit(&v->stream, Z_BEST_SPEED) != Z_OK) return pcs_fail(ctx, PCS_NO_MEMORY, "no memory for zlib");
    size_t npoint = (size_t)grid->npoint, ncell = (size_t)grid->ncell;
    size_t room = vtu_bound(v, 2 * ncell * sizeof(int32_t)) + vtu_bound(v, ncell * sizeof(int32_t)) +
                  vtu_bound(v, ncell) + vtu_bound(v, 3 * npoint * sizeof(double));
    room += vtu_array_bound(v, grid->point_arrays, grid->npoint_array, grid->npoint);
    room += vtu_array_bound(v, grid->cell_arrays, grid->ncell_array, grid->ncell);
    PCS_TAKE(ctx, v->data, room, "compressed frames");
    PCS_TAKE(ctx, v->offset, GRID_ARRAYS + (size_t)grid->npoint_array + (size_t)grid->ncell_array, "frames");
    if (is_single) PCS_TAKE(ctx, v->single, 3 * (npoint > ncell ? npoint : ncell), "frames");
    PCS_TRY(vtu_add_cells(ctx, v));
    *out = v;
    return PCS_OK;
}

static void vtu_compress(pcs_vtu *v)
{
    const pcs_grid *grid = v->grid;
    v->used = v->still;
    v->narray = STILL_ARRAYS;
    vtu_add_reals(v, &grid->position[0][0], 3 * (size_t)grid->npoint);
    for (int i = 0; i < grid->npoint_array; i++)
        vtu_add_reals(v, pcs_grid_values(&grid->point_arrays[i]),
                      (size_t)grid->point_arrays[i].ncomponent * (size_t)grid->npoint);
    for (int i = 0; i < grid->ncell_array; i++)
        vtu_add_reals(v, pcs_grid_values(&grid->cell_arrays[i]),
                      (size_t)grid->cell_arrays[i].ncomponent * (size_t)grid->ncell);
}

static void vtu_put_array(const pcs_vtu *v, pcs_file *f, const char *name, int ncomponent, int number)
{
    static const char *const types[STILL_ARRAYS] = { "Int32", "Int32", "UInt8" };
    const char *real = v->is_single ? "Float32" : "Float64";
    pcs_file_print(f,
                   "        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" "
                   "offset=\"%zu\"/>\n",
                   number < STILL_ARRAYS ? types[number] : real, name, ncomponent, v->offset[number]);
}

static void vtu_put_time(pcs_file *f, const pcs_view *view)
{
    static const char *const names[2] = { "TIME", "STEP" };
    const double values[2] = { view->state->t, (double)view->state->step };
    pcs_file_text(f, "    <FieldData>\n");
    for (int i = 0; i < 2; i++) {
        pcs_file_print(f, "      <DataArray type=\"Float64\" Name=\"%s\" NumberOfTuples=\"1\" format=\"ascii\">",
                       names[i]);
        pcs_file_number(f, values[i]);
        pcs_file_text(f, "</DataArray>\n");
    }
    pcs_file_text(f, "    </FieldData>\n");
}

static void vtu_put_data(const pcs_vtu *v, pcs_file *f, bool is_of_points)
{
    const pcs_grid *grid = v->grid;
    const char *place = is_of_points ? "PointData" : "CellData";
    const pcs_grid_array *arrays = is_of_points ? grid->point_arrays : grid->cell_arrays;
    int count = is_of_points ? grid->npoint_array : grid->ncell_array;
    int first = GRID_ARRAYS + (is_of_points ? 0 : grid->npoint_array);
    pcs_file_print(f, "      <%s>\n", place);
    for (int i = 0; i < count; i++) vtu_put_array(v, f, arrays[i].name, arrays[i].ncomponent, first + i);
    pcs_file_print(f, "      </%s>\n", place);
}

static void vtu_put_head(pcs_file *f, const char *type)
{
    const uint16_t one = 1;
    unsigned char first_byte;
    memcpy(&first_byte, &one, 1);
    pcs_file_print(f,
                   "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"1.0\" byte_order=\"%s\" "
                   "header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n",
                   type, first_byte == 1 ? "LittleEndian" : "BigEndian");
}

static void vtu_put_index_arrays(const pcs_vtu *v, pcs_file *f, const char *place, const pcs_grid_array *arrays,
                                 int count)
{
    pcs_file_print(f, "    <%s>\n", place);
    for (int i = 0; i < count; i++)
        pcs_file_print(f, "      <PDataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\"/>\n",
                       v->is_single ? "Float32" : "Float64", arrays[i].name, arrays[i].ncomponent);
    pcs_file_print(f, "    </%s>\n", place);
}

void pcs_vtu_put_index(const pcs_vtu *v, pcs_file *f)
{
    const pcs_grid *grid = v->grid;
    const pcs_grid_array points = { .name = "Points", .ncomponent = 3 };
    vtu_put_head(f, "PUnstructuredGrid");
    pcs_file_text(f, "  <PUnstructuredGrid GhostLevel=\"0\">\n");
    vtu_put_index_arrays(v, f, "PPointData", grid->point_arrays, grid->npoint_array);
    vtu_put_index_arrays(v, f, "PCellData", grid->cell_arrays, grid->ncell_array);
    vtu_put_index_arrays(v, f, "PPoints", &points, 1);
}

void pcs_vtu_put(pcs_vtu *v, pcs_file *f, const pcs_view *view)
{
    if (f->is_mute) return;
    vtu_compress(v);
    vtu_put_head(f, "UnstructuredGrid");
    pcs_file_text(f, "  <UnstructuredGrid>\n");
    vtu_put_time(f, view);
    pcs_file_print(f, "    <Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n", v->grid->npoint, v->grid->ncell);
    vtu_put_data(v, f, true);
    vtu_put_data(v, f, false);
    pcs_file_text(f, "      <Points>\n");
    vtu_put_array(v, f, "Points", 3, STILL_ARRAYS);
    pcs_file_text(f, "      </Points>\n      <Cells>\n");
    vtu_put_array(v, f, "connectivity", 1, 0);
    vtu_put_array(v, f, "offsets", 1, 1);
    vtu_put_array(v, f, "types", 1, 2);
    pcs_file_text(f, "      </Cells>\n    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n_");
    pcs_file_bytes(f, v->data, v->used);
    pcs_file_text(f, "\n  </AppendedData>\n</VTKFile>\n");
}
