// VTK's XML file of an unstructured grid: a head that says of each array at which byte it begins, and the arrays
// themselves after it, each as
//   [number of blocks] [bytes of a block] [those of the last one where it is shorter, else 0] [of each, compressed]
// in 64 bits each, and the blocks, compressed by zlib. Numbers stand in the byte order of this machine, which the head
// names. What does not change from frame to frame is compressed once; the rest goes to the file block by block, and
// what is known only afterwards is put into places that were left for it.

#include "output/vtu.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum { BLOCK = 1 << 16, HEADER_WORDS = 3, GRID_ARRAYS = 4, STILL_ARRAYS = 3, OFFSET_DIGITS = 15 };

struct pcs_vtu {
    const pcs_grid *grid;
    bool is_single;
    z_stream stream;
    unsigned char *packed; // [most of a block, compressed]
    float *single;         // [block] as it is written; NULL: doubles are
    uint64_t *sizes;       // [blocks of the longest array] compressed
    unsigned char *still;  // [nstill] the arrays that never change
    size_t nstill;
    size_t still_at[STILL_ARRAYS];
    long long *mark; // [number of arrays] byte of the file that tells where each begins
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

// zlib never changes its input and never runs out of what deflateBound reserves.
static size_t vtu_deflate(pcs_vtu *v, const void *from, size_t bytes, unsigned char *to)
{
    deflateReset(&v->stream);
    v->stream.next_in = (z_const Bytef *)(uintptr_t)from;
    v->stream.avail_in = (uInt)bytes;
    v->stream.next_out = to;
    v->stream.avail_out = (uInt)deflateBound(&v->stream, BLOCK);
    deflate(&v->stream, Z_FINISH);
    return (size_t)v->stream.total_out;
}

// An array in memory; gives its size.
static size_t vtu_pack(pcs_vtu *v, const void *x, size_t bytes, unsigned char *start)
{
    uint64_t count = vtu_blocks(bytes), head[HEADER_WORDS] = { count, BLOCK, bytes % BLOCK };
    unsigned char *sizes = start + sizeof head, *to = sizes + count * sizeof(uint64_t);
    memcpy(start, head, sizeof head);
    for (size_t i = 0; i < count; i++) {
        size_t from = i * BLOCK, left = bytes - from;
        uint64_t size = vtu_deflate(v, (const unsigned char *)x + from, left < BLOCK ? left : BLOCK, to);
        memcpy(sizes + i * sizeof size, &size, sizeof size);
        to += size;
    }
    return (size_t)(to - start);
}

// Nodes of the cells, where those of each end, and types, one after the other in `out`; gives their size.
static size_t vtu_pack_cells(pcs_vtu *v, int32_t *work, unsigned char *out)
{
    const pcs_grid *grid = v->grid;
    unsigned char *types = (unsigned char *)work;
    size_t ncell = (size_t)grid->ncell, used, count = 0;
    for (int c = 0; c < grid->ncell; c++) {
        work[count++] = grid->cells[c][0];
        if (!pcs_grid_is_vertex(grid, c)) work[count++] = grid->cells[c][1];
    }
    used = v->still_at[1] = vtu_pack(v, work, count * sizeof *work, out);
    count = 0;
    for (int c = 0; c < grid->ncell; c++) work[c] = (int32_t)(count += pcs_grid_is_vertex(grid, c) ? 1 : 2);
    used = v->still_at[2] = used + vtu_pack(v, work, ncell * sizeof *work, out + used);
    for (int c = 0; c < grid->ncell; c++) types[c] = pcs_grid_is_vertex(grid, c) ? PCS_GRID_VERTEX : PCS_GRID_LINE;
    return used + vtu_pack(v, types, ncell, out + used);
}

static pcs_status vtu_make_still(pcs_context *ctx, pcs_vtu *v)
{
    size_t ncell = (size_t)v->grid->ncell;
    size_t most =
        vtu_bound(v, 2 * ncell * sizeof(int32_t)) + vtu_bound(v, ncell * sizeof(int32_t)) + vtu_bound(v, ncell);
    int32_t *work = pcs_scratch(NULL, 2 * ncell, sizeof *work);
    unsigned char *out = pcs_scratch(NULL, most, 1);
    bool is_there = work != NULL && out != NULL;
    if (is_there) {
        v->nstill = vtu_pack_cells(v, work, out);
        v->still = pcs_take(ctx, v->nstill, 1, "cells of frames");
        if (v->still != NULL) memcpy(v->still, out, v->nstill);
    }
    pcs_scratch_free(work);
    pcs_scratch_free(out);
    if (!is_there) return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: cells of frames");
    return v->still == NULL ? PCS_NO_MEMORY : PCS_OK;
}

pcs_status pcs_vtu_create(pcs_context *ctx, const pcs_grid *grid, bool is_single, pcs_vtu **out)
{
    pcs_vtu *v;
    PCS_TAKE(ctx, v, 1, "frames");
    *v = (pcs_vtu){ .grid = grid, .is_single = is_single };
    PCS_TRY(pcs_defer(ctx, vtu_end_stream, v)); // which does nothing to a stream that never began
    if (deflateInit(&v->stream, Z_BEST_SPEED) != Z_OK) return pcs_fail(ctx, PCS_NO_MEMORY, "no memory for zlib");
    size_t longest = 3 * (size_t)(grid->npoint > grid->ncell ? grid->npoint : grid->ncell);
    PCS_TAKE(ctx, v->packed, deflateBound(&v->stream, BLOCK), "compressed frames");
    PCS_TAKE(ctx, v->sizes, vtu_blocks(longest * sizeof(double)), "compressed frames");
    PCS_TAKE(ctx, v->mark, GRID_ARRAYS + (size_t)grid->npoint_array + (size_t)grid->ncell_array, "frames");
    if (is_single) PCS_TAKE(ctx, v->single, BLOCK / sizeof(float), "frames");
    PCS_TRY(vtu_make_still(ctx, v));
    *out = v;
    return PCS_OK;
}

// Where array `number` begins, after the mark of all that is appended.
static void vtu_tell_offset(const pcs_vtu *v, pcs_file *f, int number, long long offset)
{
    char text[OFFSET_DIGITS + 1];
    int length = snprintf(text, sizeof text, "%lld", offset);
    pcs_file_patch(f, v->mark[number], text, (size_t)length);
}

// Block i of an array of reals, as it is written; gives its bytes.
static size_t vtu_take_block(const pcs_vtu *v, const double *x, size_t count, size_t i, const void **out)
{
    size_t most = BLOCK / (v->is_single ? sizeof(float) : sizeof(double)), from = i * most;
    size_t n = count - from < most ? count - from : most;
    *out = v->is_single ? (const void *)v->single : x + from;
    if (!v->is_single) return n * sizeof *x;
    for (size_t k = 0; k < n; k++) v->single[k] = (float)x[from + k];
    return n * sizeof(float);
}

static void vtu_put_reals(pcs_vtu *v, pcs_file *f, const double *x, size_t count)
{
    size_t bytes = count * (v->is_single ? sizeof(float) : sizeof(double));
    uint64_t nblock = vtu_blocks(bytes), head[HEADER_WORDS] = { nblock, BLOCK, bytes % BLOCK };
    pcs_file_bytes(f, head, sizeof head);
    long long sizes = pcs_file_place(f);
    pcs_file_bytes(f, v->sizes, nblock * sizeof *v->sizes); // for the time being
    for (size_t i = 0; i < nblock; i++) {
        const void *block;
        size_t length = vtu_take_block(v, x, count, i, &block);
        v->sizes[i] = vtu_deflate(v, block, length, v->packed);
        pcs_file_bytes(f, v->packed, v->sizes[i]);
    }
    pcs_file_patch(f, sizes, v->sizes, nblock * sizeof *v->sizes);
}

static void vtu_put_appended(pcs_vtu *v, pcs_file *f)
{
    const pcs_grid *grid = v->grid;
    long long start = pcs_file_place(f);
    int number = 0;
    for (; number < STILL_ARRAYS; number++) vtu_tell_offset(v, f, number, (long long)v->still_at[number]);
    pcs_file_bytes(f, v->still, v->nstill);
    vtu_tell_offset(v, f, number++, pcs_file_place(f) - start);
    vtu_put_reals(v, f, &grid->position[0][0], 3 * (size_t)grid->npoint);
    for (int i = 0; i < grid->npoint_array + grid->ncell_array; i++) {
        int k = i - grid->npoint_array;
        const pcs_grid_array *array = k < 0 ? &grid->point_arrays[i] : &grid->cell_arrays[k];
        size_t count = (size_t)(k < 0 ? grid->npoint : grid->ncell);
        vtu_tell_offset(v, f, number++, pcs_file_place(f) - start);
        vtu_put_reals(v, f, pcs_grid_values(array), (size_t)array->ncomponent * count);
    }
}

static void vtu_put_array(const pcs_vtu *v, pcs_file *f, const char *name, int ncomponent, int number)
{
    static const char *const types[STILL_ARRAYS] = { "Int32", "Int32", "UInt8" };
    const char *real = v->is_single ? "Float32" : "Float64";
    pcs_file_print(f,
                   "        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" "
                   "offset=\"",
                   number < STILL_ARRAYS ? types[number] : real, name, ncomponent);
    v->mark[number] = pcs_file_place(f);
    pcs_file_print(f, "%-*d\"/>\n", OFFSET_DIGITS, 0);
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
    vtu_put_appended(v, f);
    pcs_file_text(f, "\n  </AppendedData>\n</VTKFile>\n");
}
