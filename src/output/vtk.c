// Both kinds of VTK files.
//
// A legacy file has its numbers in big-endian order, array after array, behind lines of text.
//
// An XML file is an unstructured grid: a head that says of each array at which byte it begins, and the arrays
// themselves after it, each as
//   [number of blocks] [bytes of a block] [those of the last one where it is shorter, else 0] [of each, compressed]
// in 64 bits each, and the blocks, compressed by zlib. Numbers stand in the byte order of this machine, which the head
// names. Arrays go to the file block by block; what is known only afterwards is put into places that were left for it.

#include "output/vtk.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum { BLOCK = 1 << 16, HEADER_WORDS = 3, GRID_ARRAYS = 4, OFFSET_DIGITS = 15, TITLE_ROOM = 256 };
enum { VTK_VERTEX = 1, VTK_LINE = 3 }; // VTK's numbers of cell types

static int vtk_cell_type(int npoint)
{
    return npoint == 1 ? VTK_VERTEX : VTK_LINE;
}

// Puts a number of `size` bytes in big-endian order.
static inline void vtk_put_word(pcs_file *f, uint64_t bits, int size)
{
    unsigned char *p = (unsigned char *)pcs_file_reserve(f, (size_t)size);
    if (p == NULL) return;
    for (int b = 0; b < size; b++) p[b] = (unsigned char)(bits >> 8 * (size - 1 - b));
    f->used += (size_t)size;
}

static void vtk_put_real(pcs_file *f, double x, bool is_single)
{
    float number = is_single ? (float)x : 0.0F;
    uint64_t bits;
    uint32_t word;
    memcpy(&word, &number, sizeof word);
    memcpy(&bits, &x, sizeof bits);
    if (is_single) vtk_put_word(f, word, 4);
    else vtk_put_word(f, bits, 8);
}

static void vtk_put_values(const pcs_vtk *v, pcs_file *f, const pcs_vtk_array *a, int count)
{
    int stride = a->stride > 0 ? a->stride : a->ncomponent;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < a->ncomponent; k++) {
            double x = a->x[(size_t)stride * (size_t)i + (size_t)k];
            if (a->is_integer) vtk_put_word(f, (uint32_t)(int)x, 4);
            else vtk_put_real(f, x, v->is_single);
        }
}

// Makes part i; false if there is none.
static bool vtk_take_part(const pcs_vtk *v, int i)
{
    if (v->make_part == NULL) return i == 0;
    if (i < v->npart) v->make_part(v->user, i);
    return i < v->npart;
}

typedef struct vtk_counts {
    int npoint, ncell, nentry;
} vtk_counts;

static vtk_counts vtk_count(const pcs_vtk *v)
{
    vtk_counts sum = { 0 };
    for (int i = 0; vtk_take_part(v, i); i++) {
        sum.npoint += v->npoint;
        sum.ncell += v->ncell;
        sum.nentry += v->nentry;
    }
    return sum;
}

static void vtk_put_arrays(const pcs_vtk *v, pcs_file *f, int count, bool is_of_points)
{
    const pcs_vtk_array *arrays = is_of_points ? v->point_arrays : v->cell_arrays;
    int narray = is_of_points ? v->npoint_array : v->ncell_array;
    const char *real = v->is_single ? "float" : "double";
    if (narray == 0 || count == 0) return;
    pcs_file_print(f, "%s %d\nFIELD FieldData %d\n", is_of_points ? "POINT_DATA" : "CELL_DATA", count, narray);
    for (int k = 0; k < narray; k++) {
        const pcs_vtk_array *a = &arrays[k];
        pcs_file_print(f, "%s %d %d %s\n", a->name, a->ncomponent, count, a->is_integer ? "int" : real);
        for (int i = 0; vtk_take_part(v, i); i++) vtk_put_values(v, f, a, is_of_points ? v->npoint : v->ncell);
        pcs_file_text(f, "\n");
    }
}

static void vtk_put_cells(const pcs_vtk *v, pcs_file *f, const vtk_counts *all)
{
    pcs_file_print(f, "\n%s %d %d\n", v->cell_kind, all->ncell, all->nentry);
    for (int part = 0; vtk_take_part(v, part); part++)
        for (int i = 0; i < v->nentry; i++) vtk_put_word(f, (uint32_t)v->entry[i], 4);
    pcs_file_text(f, "\n");
    if (strcmp(v->cell_kind, "CELLS") != 0) return;
    pcs_file_print(f, "CELL_TYPES %d\n", all->ncell);
    for (int part = 0; vtk_take_part(v, part); part++)
        for (int i = 0; i < v->nentry; i += v->entry[i] + 1) vtk_put_word(f, (uint32_t)vtk_cell_type(v->entry[i]), 4);
    pcs_file_text(f, "\n");
}

static void vtk_put_legacy(const pcs_vtk *v, pcs_file *f, const char *title, const pcs_state *state)
{
    char line[TITLE_ROOM];
    snprintf(line, sizeof line, "%s", title);
    for (char *p = line; *p != '\0'; p++)
        if (*p == '\n' || *p == '\r') *p = ' ';
    pcs_file_print(f, "# vtk DataFile Version 3.0\n%s\nBINARY\nDATASET %s\n", line, v->dataset);
    if (state != NULL) {
        pcs_file_text(f, "FIELD FieldData 2\nTIME 1 1 double\n");
        vtk_put_real(f, state->t, false);
        pcs_file_text(f, "\nSTEP 1 1 double\n");
        vtk_put_real(f, (double)state->step, false);
        pcs_file_text(f, "\n");
    }
    const vtk_counts all = vtk_count(v);
    const pcs_vtk_array points = { .x = v->position, .ncomponent = 3, .stride = v->position_stride };
    pcs_file_print(f, "POINTS %d %s\n", all.npoint, v->is_single ? "float" : "double");
    for (int i = 0; vtk_take_part(v, i); i++) vtk_put_values(v, f, &points, v->npoint);
    vtk_put_cells(v, f, &all);
    vtk_put_arrays(v, f, all.npoint, true);
    vtk_put_arrays(v, f, all.ncell, false);
}

// An array of an XML file.
typedef struct xml_array {
    const char *type, *name;
    int ncomponent;
    const void *x;
    size_t count, size; // numbers, and bytes of each in the file
    bool is_narrowed;   // doubles in memory, floats in the file
    long long mark;     // byte of the file that tells where the array begins
} xml_array;

struct pcs_vtk_packer {
    z_stream stream;
    unsigned char *packed; // [most of a block, compressed]
    float *single;         // [block] as it is written; NULL: doubles are
    uint64_t *sizes;       // [blocks of the longest array] compressed
    int32_t *points;       // [nentry - ncell] of the cells
    int32_t *ends;         // [ncell] where those of each cell end
    unsigned char *types;  // [ncell]
    xml_array *arrays;     // [narray] as they follow one another
    int narray;
};

static void xml_end_stream(void *object)
{
    pcs_vtk_packer *p = object;
    deflateEnd(&p->stream);
}

static size_t xml_blocks(size_t bytes)
{
    return (bytes + BLOCK - 1) / BLOCK;
}

pcs_status pcs_vtk_make_xml(pcs_context *ctx, pcs_vtk *v)
{
    pcs_vtk_packer *p;
    size_t narray = GRID_ARRAYS + (size_t)v->npoint_array + (size_t)v->ncell_array;
    size_t longest = 3 * (size_t)(v->npoint > v->ncell ? v->npoint : v->ncell);
    PCS_TAKE(ctx, p, 1, "frames");
    PCS_TRY(pcs_defer(ctx, xml_end_stream, p)); // which does nothing to a stream that never began
    if (deflateInit(&p->stream, Z_BEST_SPEED) != Z_OK) return pcs_fail(ctx, PCS_NO_MEMORY, "no memory for zlib");
    PCS_TAKE(ctx, p->packed, deflateBound(&p->stream, BLOCK), "compressed frames");
    PCS_TAKE(ctx, p->sizes, xml_blocks(longest * sizeof(double)), "compressed frames");
    PCS_TAKE(ctx, p->arrays, narray, "frames");
    if (v->is_single) PCS_TAKE(ctx, p->single, BLOCK / sizeof(float), "frames");
    PCS_TAKE(ctx, p->points, v->nentry - v->ncell, "cells of frames");
    PCS_TAKE(ctx, p->ends, v->ncell, "cells of frames");
    PCS_TAKE(ctx, p->types, v->ncell, "cells of frames");
    for (int c = 0, i = 0, n = 0; c < v->ncell; c++) {
        int count = v->entry[i++];
        p->types[c] = (unsigned char)vtk_cell_type(count);
        for (int k = 0; k < count; k++) p->points[n++] = v->entry[i++];
        p->ends[c] = n;
    }
    v->packer = p;
    return PCS_OK;
}

static void xml_list_reals(const pcs_vtk *v, const pcs_vtk_array *a, int count)
{
    v->packer->arrays[v->packer->narray++] = (xml_array){ .type = v->is_single ? "Float32" : "Float64",
                                                          .name = a->name,
                                                          .ncomponent = a->ncomponent,
                                                          .x = a->x,
                                                          .count = (size_t)a->ncomponent * (size_t)count,
                                                          .size = v->is_single ? sizeof(float) : sizeof(double),
                                                          .is_narrowed = v->is_single };
}

// Lists the arrays of a file: those of the cells, positions, and what is known of points and cells.
static void xml_list(const pcs_vtk *v)
{
    pcs_vtk_packer *p = v->packer;
    size_t ncell = (size_t)v->ncell, npoint = (size_t)v->nentry - ncell;
    p->arrays[0] = (xml_array){ "Int32", "connectivity", 1, p->points, npoint, sizeof *p->points, false, 0 };
    p->arrays[1] = (xml_array){ "Int32", "offsets", 1, p->ends, ncell, sizeof *p->ends, false, 0 };
    p->arrays[2] = (xml_array){ "UInt8", "types", 1, p->types, ncell, 1, false, 0 };
    p->narray = GRID_ARRAYS - 1;
    xml_list_reals(v, &(pcs_vtk_array){ .name = "Points", .ncomponent = 3, .x = v->position }, v->npoint);
    for (int i = 0; i < v->npoint_array; i++) xml_list_reals(v, &v->point_arrays[i], v->npoint);
    for (int i = 0; i < v->ncell_array; i++) xml_list_reals(v, &v->cell_arrays[i], v->ncell);
}

// Finds block i of an array as it is written; returns its bytes.
static size_t xml_take_block(const pcs_vtk_packer *p, const xml_array *a, size_t i, const void **out)
{
    size_t most = BLOCK / a->size, from = i * most, n = a->count - from < most ? a->count - from : most;
    *out = a->is_narrowed ? (const void *)p->single : (const unsigned char *)a->x + from * a->size;
    if (!a->is_narrowed) return n * a->size;
    for (size_t k = 0; k < n; k++) p->single[k] = (float)((const double *)a->x)[from + k];
    return n * a->size;
}

// zlib never changes its input and never runs out of what deflateBound reserves.
static size_t xml_deflate(pcs_vtk_packer *p, const void *from, size_t bytes)
{
    deflateReset(&p->stream);
    p->stream.next_in = (z_const Bytef *)(uintptr_t)from;
    p->stream.avail_in = (uInt)bytes;
    p->stream.next_out = p->packed;
    p->stream.avail_out = (uInt)deflateBound(&p->stream, BLOCK);
    deflate(&p->stream, Z_FINISH);
    return (size_t)p->stream.total_out;
}

static void xml_put_blocks(pcs_vtk_packer *p, pcs_file *f, const xml_array *a)
{
    size_t bytes = a->count * a->size;
    uint64_t nblock = xml_blocks(bytes), head[HEADER_WORDS] = { nblock, BLOCK, bytes % BLOCK };
    pcs_file_bytes(f, head, sizeof head);
    long long sizes = pcs_file_place(f);
    pcs_file_bytes(f, p->sizes, nblock * sizeof *p->sizes); // for the time being
    for (size_t i = 0; i < nblock; i++) {
        const void *block;
        size_t length = xml_take_block(p, a, i, &block);
        p->sizes[i] = xml_deflate(p, block, length);
        pcs_file_bytes(f, p->packed, p->sizes[i]);
    }
    pcs_file_patch(f, sizes, p->sizes, nblock * sizeof *p->sizes);
}

static void xml_put_appended(pcs_vtk_packer *p, pcs_file *f)
{
    long long start = pcs_file_place(f);
    for (int i = 0; i < p->narray; i++) {
        char offset[OFFSET_DIGITS + 1];
        int length = snprintf(offset, sizeof offset, "%lld", pcs_file_place(f) - start);
        pcs_file_patch(f, p->arrays[i].mark, offset, (size_t)length);
        xml_put_blocks(p, f, &p->arrays[i]);
    }
}

// Names `count` arrays from `first` on, of an index or with places for the bytes at which they begin.
static void xml_put_names(pcs_vtk_packer *p, pcs_file *f, const char *section, int first, int count, bool is_index)
{
    const char *indent = is_index ? "" : "  ", *letter = is_index ? "P" : "";
    pcs_file_print(f, "    %s<%s%s>\n", indent, letter, section);
    for (xml_array *a = p->arrays + first; a < p->arrays + first + count; a++) {
        pcs_file_print(f, "      %s<%sDataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\"", indent, letter,
                       a->type, a->name, a->ncomponent);
        if (!is_index) pcs_file_text(f, " format=\"appended\" offset=\"");
        a->mark = pcs_file_place(f);
        if (!is_index) pcs_file_print(f, "%-*d\"", OFFSET_DIGITS, 0);
        pcs_file_text(f, "/>\n");
    }
    pcs_file_print(f, "    %s</%s%s>\n", indent, letter, section);
}

static void xml_put_time(pcs_file *f, const pcs_state *state)
{
    static const char *const names[2] = { "TIME", "STEP" };
    const double values[2] = { state->t, (double)state->step };
    pcs_file_text(f, "    <FieldData>\n");
    for (int i = 0; i < 2; i++) {
        pcs_file_print(f, "      <DataArray type=\"Float64\" Name=\"%s\" NumberOfTuples=\"1\" format=\"ascii\">",
                       names[i]);
        pcs_file_number(f, values[i]);
        pcs_file_text(f, "</DataArray>\n");
    }
    pcs_file_text(f, "    </FieldData>\n");
}

static void xml_put_head(pcs_file *f, const char *type)
{
    const uint16_t one = 1;
    unsigned char first_byte;
    memcpy(&first_byte, &one, 1);
    pcs_file_print(f,
                   "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"1.0\" byte_order=\"%s\" "
                   "header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n",
                   type, first_byte == 1 ? "LittleEndian" : "BigEndian");
}

// Names the arrays of points and cells, then positions.
static void xml_put_data(const pcs_vtk *v, pcs_file *f, bool is_index)
{
    xml_list(v);
    xml_put_names(v->packer, f, "PointData", GRID_ARRAYS, v->npoint_array, is_index);
    xml_put_names(v->packer, f, "CellData", GRID_ARRAYS + v->npoint_array, v->ncell_array, is_index);
    xml_put_names(v->packer, f, "Points", GRID_ARRAYS - 1, 1, is_index);
}

void pcs_vtk_put_index(const pcs_vtk *v, pcs_file *f)
{
    xml_put_head(f, "PUnstructuredGrid");
    pcs_file_text(f, "  <PUnstructuredGrid GhostLevel=\"0\">\n");
    xml_put_data(v, f, true);
}

static void xml_put(const pcs_vtk *v, pcs_file *f, const pcs_state *state)
{
    xml_put_head(f, "UnstructuredGrid");
    pcs_file_text(f, "  <UnstructuredGrid>\n");
    xml_put_time(f, state);
    pcs_file_print(f, "    <Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n", v->npoint, v->ncell);
    xml_put_data(v, f, false);
    xml_put_names(v->packer, f, "Cells", 0, GRID_ARRAYS - 1, false);
    pcs_file_text(f, "    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n_");
    xml_put_appended(v->packer, f);
    pcs_file_text(f, "\n  </AppendedData>\n</VTKFile>\n");
}

void pcs_vtk_put(const pcs_vtk *v, pcs_file *f, const char *title, const pcs_state *state)
{
    if (f->is_mute) return;
    if (v->packer != NULL) xml_put(v, f, state);
    else vtk_put_legacy(v, f, title, state);
}
