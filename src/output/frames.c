// Frames of the model for ParaView: unstructured grid of lines at the current positions. Beside them what stands still,
// at first as large as the model, in the end as large as its motion, and as a series of its own what nodes carry.
//
// Points are reference + displacement, so that the body moves by itself. Point data: displacement, velocity, rotation,
// radius (for ParaView's Tube filter), section forces. Cell data: the y axis of the section and the system's fields
// (axial_force, stress, strain_energy, ...).
//
// Each of several processes writes its piece of the model. A frame in pieces is completed by all together: they agree
// that all pieces are there, then the first one writes index and list. If a piece fails, all learn of it and the frame
// is removed.

#define _POSIX_C_SOURCE 200809L // access

#include "output/frames.h"

#include "core/rotation.h"
#include "core/text.h"
#include "output/file.h"
#include "output/tally.h"
#include "schemes/scheme.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

// Points, cells and arrays over them as files for ParaView: legacy VTK files, or VTK's XML files compressed by zlib.

typedef struct pcs_vtk_array {
    const char *name;
    int ncomponent;
    const double *x;
    bool is_integer;
    int stride; // numbers from one entry to the next; 0 for ncomponent
} pcs_vtk_array;

typedef struct pcs_vtk_packer pcs_vtk_packer;

// Only the values of the arrays change from file to file; in legacy files also their sizes. Legacy files may consist of
// many parts, which are made one at a time, as often as their numbers are written.
typedef struct pcs_vtk {
    const char *dataset, *cell_kind; // in legacy files, such as "POLYDATA", "VERTICES"; XML has unstructured grids
    int npoint, ncell, nentry;       // of the file
    const double *position;          // [npoint][3] m
    int stride;                      // numbers from one position to the next; 0 for 3
    const int *entry;                // [nentry] for each cell the number of its points, and these
    pcs_vtk_array *arrays;           // [narray] over points and, from npoint_array on, over cells
    int narray, npoint_array;
    bool is_single;         // reals are written as float; values beyond its range become infinite
    pcs_vtk_packer *packer; // NULL for legacy files
    int npart;
    void (*make_part)(void *user, int part); // fills the members above for a part, NULL if they are complete
    void *user;
} pcs_vtk;

enum { PCS_PRECISION_DOUBLE, PCS_PRECISION_FLOAT };
enum { PCS_FORMAT_VTK, PCS_FORMAT_VTU };
enum { PCS_PIECES_AUTO, PCS_PIECES_ALWAYS };

// A series of legacy VTK files in time, "<stem>_000000.vtk" and so on, with its list "<stem>.vtk.series"; or of XML
// files, "<stem>_000000.vtu", with "<stem>.pvd". An XML frame may be of pieces, "<stem>_000000_0.vtu" and so on, one
// from each process, with an index "<stem>_000000.pvtu" that stands in the list.
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

// Which steps get a frame, the files of frames, legacy VTK or XML, and their list.
//
// The list is JSON that ParaView reads for the true times, or, of XML files, a collection:
//   { "file-series-version": "1.0", "files": [ { "name": "bar_000000.vtk", "time": 0 }, ... ] }
//   <Collection> <DataSet timestep="0" file="bar_000000.vtu"/> ... </Collection>
// A new entry replaces the closing brackets and brings them again: the list costs the same for every frame, is complete
// after each one, and needs no memory.
//
// A frame in pieces has one file per process. When all are complete, the first process writes the index that names them
// and the entry of the list.

// Both kinds of VTK files.
//
// A legacy file has its numbers in big-endian order, array after array, behind lines of text.
//
// An XML file is an unstructured grid: a head that says of each array at which byte it begins, and the arrays
// themselves after it, each as
//   [number of blocks] [bytes of a block] [those of the last one where it is shorter, else 0] [of each, compressed]
// in 64 bits each, and the blocks, compressed by zlib. Numbers stand in the byte order of this machine, which the head
// names. Arrays go to the file block by block; what is known only afterwards is put into places that were left for it.

enum { BLOCK = 1 << 16, OFFSET_DIGITS = 15, TITLE_ROOM = 256 };
enum { VTK_VERTEX = 1, VTK_LINE = 3 }; // VTK's numbers of cell types
enum { IS_LITTLE = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };
enum { DOUBLE, FLOAT, INT, BYTE }; // of numbers
static const struct {
    const char *legacy, *xml;
    int size; // bytes
} vtk_types[] = { { "double", "Float64", 8 }, { "float", "Float32", 4 }, { "int", "Int32", 4 }, { "", "UInt8", 1 } };

// Arrays in the order of XML files: those of the cells, positions, and data of points and cells. The cells of
// legacy files are one array, with the number of points before those of each cell.
enum { CONNECTIVITY, OFFSETS, TYPES, POSITIONS, GRID_ARRAYS, LEGACY_CELLS = -1, LEGACY_TYPES = -2 };

typedef struct vtk_data {
    const char *name;
    int ncomponent, count, type;
    const double *x; // NULL for arrays of cells
    int stride;
} vtk_data;

struct pcs_vtk_packer {
    z_stream stream;
    unsigned char *packed; // [most of a block, compressed]
    unsigned char *block;  // [BLOCK]
    size_t used;           // bytes of the block
    uint64_t *sizes;       // [blocks of the longest array] compressed sizes, bytes
    size_t nblock;
    long long *mark; // [narray] offset in the file of the attribute that holds where the array begins
};

static vtk_data vtk_find(const pcs_vtk *v, int k)
{
    int real = v->is_single ? FLOAT : DOUBLE, field = k - GRID_ARRAYS;
    switch (k) {
    case CONNECTIVITY: return (vtk_data){ "connectivity", 1, v->nentry - v->ncell, INT, NULL, 0 };
    case OFFSETS: return (vtk_data){ "offsets", 1, v->ncell, INT, NULL, 0 };
    case TYPES: return (vtk_data){ "types", 1, v->ncell, BYTE, NULL, 0 };
    case POSITIONS: return (vtk_data){ "Points", 3, v->npoint, real, v->position, v->stride > 0 ? v->stride : 3 };
    default: break;
    }
    const pcs_vtk_array *a = &v->arrays[field];
    int count = field < v->npoint_array ? v->npoint : v->ncell, type = a->is_integer ? INT : real;
    return (vtk_data){ a->name, a->ncomponent, count, type, a->x, a->stride > 0 ? a->stride : a->ncomponent };
}

static void xml_put_block(pcs_vtk_packer *p, pcs_file *f);

// Puts a number, with its most significant byte first in legacy files, in the order of this machine in XML files.
static inline void vtk_put_number(pcs_vtk_packer *p, pcs_file *f, int type, double x)
{
    int size = vtk_types[type].size;
    union {
        double real;
        float single;
        int integer;
        unsigned char bytes[8];
    } from = { .real = x };
    if (type == FLOAT) from.single = (float)x;
    if (type == INT) from.integer = (int)x;
    if (type == BYTE) from.bytes[0] = (unsigned char)(int)x;
    unsigned char *to = p == NULL ? (unsigned char *)pcs_file_reserve(f, (size_t)size) : p->block + p->used;
    if (to == NULL) return;
    for (int b = 0; b < size; b++) to[p == NULL && IS_LITTLE ? size - 1 - b : b] = from.bytes[b];
    if (p == NULL) f->used += (size_t)size;
    else if ((p->used += (size_t)size) == BLOCK) xml_put_block(p, f);
}

static void vtk_put_cells(const pcs_vtk *v, pcs_file *f, int k)
{
    int last = 0, type = k == TYPES ? BYTE : INT;
    for (int i = 0; i < v->nentry; i += v->entry[i] + 1) {
        int count = v->entry[i], first = k == LEGACY_CELLS ? 0 : 1;
        last += count;
        if (k == OFFSETS) vtk_put_number(v->packer, f, type, last);
        else if (k == TYPES || k == LEGACY_TYPES)
            vtk_put_number(v->packer, f, type, count == 1 ? VTK_VERTEX : VTK_LINE);
        else
            for (int n = first; n <= count; n++) vtk_put_number(v->packer, f, type, v->entry[i + n]);
    }
}

// Puts the numbers of an array.
static void vtk_put_array(const pcs_vtk *v, pcs_file *f, int k)
{
    if (k < POSITIONS) {
        vtk_put_cells(v, f, k);
        return;
    }
    const vtk_data d = vtk_find(v, k);
    const double *x = d.x;
    for (int i = 0; i < d.count; i++, x += d.stride)
        for (int c = 0; c < d.ncomponent; c++) vtk_put_number(v->packer, f, d.type, x[c]);
}

// Makes part i; false if there is none.
static bool vtk_take_part(const pcs_vtk *v, int i)
{
    if (v->make_part == NULL) return i == 0;
    if (i < v->npart) v->make_part(v->user, i);
    return i < v->npart;
}

static void legacy_put_array(const pcs_vtk *v, pcs_file *f, int k)
{
    for (int i = 0; vtk_take_part(v, i); i++) vtk_put_array(v, f, k);
    pcs_file_text(f, "\n");
}

static void legacy_put_fields(const pcs_vtk *v, pcs_file *f, bool is_of_points, int count)
{
    int first = GRID_ARRAYS + (is_of_points ? 0 : v->npoint_array);
    int narray = is_of_points ? v->npoint_array : v->narray - v->npoint_array;
    if (narray == 0 || count == 0) return;
    pcs_file_print(f, "%s %d\nFIELD FieldData %d\n", is_of_points ? "POINT_DATA" : "CELL_DATA", count, narray);
    for (int k = first; k < first + narray; k++) {
        const vtk_data d = vtk_find(v, k);
        pcs_file_print(f, "%s %d %d %s\n", d.name, d.ncomponent, count, vtk_types[d.type].legacy);
        legacy_put_array(v, f, k);
    }
}

static void legacy_put(const pcs_vtk *v, pcs_file *f, const char *title, const pcs_state *state)
{
    char line[TITLE_ROOM];
    int npoint = 0, ncell = 0, nentry = 0;
    for (int i = 0; vtk_take_part(v, i); i++) npoint += v->npoint, ncell += v->ncell, nentry += v->nentry;
    snprintf(line, sizeof line, "%s", title);
    for (char *p = line; *p != '\0'; p++)
        if (*p == '\n' || *p == '\r') *p = ' ';
    pcs_file_print(f, "# vtk DataFile Version 3.0\n%s\nBINARY\nDATASET %s\n", line, v->dataset);
    if (state != NULL) {
        pcs_file_text(f, "FIELD FieldData 2\nTIME 1 1 double\n");
        vtk_put_number(NULL, f, DOUBLE, state->t);
        pcs_file_text(f, "\nSTEP 1 1 double\n");
        vtk_put_number(NULL, f, DOUBLE, (double)state->step);
        pcs_file_text(f, "\n");
    }
    pcs_file_print(f, "POINTS %d %s\n", npoint, v->is_single ? "float" : "double");
    legacy_put_array(v, f, POSITIONS);
    pcs_file_print(f, "%s %d %d\n", v->cell_kind, ncell, nentry);
    legacy_put_array(v, f, LEGACY_CELLS);
    if (strcmp(v->cell_kind, "CELLS") == 0) {
        pcs_file_print(f, "CELL_TYPES %d\n", ncell);
        legacy_put_array(v, f, LEGACY_TYPES);
    }
    legacy_put_fields(v, f, true, npoint);
    legacy_put_fields(v, f, false, ncell);
}

static void xml_end_stream(void *object)
{
    pcs_vtk_packer *p = object;
    deflateEnd(&p->stream);
}

static size_t xml_blocks(size_t bytes)
{
    return (bytes + BLOCK - 1) / BLOCK;
}

// Allocates all memory for XML files, with the cells as they are now.
static pcs_status vtk_make_xml(pcs_context *ctx, pcs_vtk *v)
{
    pcs_vtk_packer *p;
    size_t longest = 3 * (size_t)(v->npoint > v->ncell ? v->npoint : v->ncell);
    PCS_TAKE(ctx, p, 1, "frames");
    PCS_TRY(pcs_defer(ctx, xml_end_stream, p)); // does nothing if the stream never began
    if (deflateInit(&p->stream, Z_BEST_SPEED) != Z_OK) return pcs_fail(ctx, PCS_NO_MEMORY, "no memory for zlib");
    PCS_TAKE(ctx, p->packed, deflateBound(&p->stream, BLOCK), "compressed frames");
    PCS_TAKE(ctx, p->block, BLOCK, "compressed frames");
    PCS_TAKE(ctx, p->sizes, xml_blocks(longest * sizeof(double)), "compressed frames");
    PCS_TAKE(ctx, p->mark, GRID_ARRAYS + v->narray, "frames");
    v->packer = p;
    return PCS_OK;
}

// Compresses and puts the block. zlib does not need more than deflateBound.
static void xml_put_block(pcs_vtk_packer *p, pcs_file *f)
{
    deflateReset(&p->stream);
    p->stream.next_in = p->block;
    p->stream.avail_in = (uInt)p->used;
    p->stream.next_out = p->packed;
    p->stream.avail_out = (uInt)deflateBound(&p->stream, BLOCK);
    deflate(&p->stream, Z_FINISH);
    p->sizes[p->nblock++] = p->stream.total_out;
    pcs_file_bytes(f, p->packed, (size_t)p->stream.total_out);
    p->used = 0;
}

static void xml_put_array(const pcs_vtk *v, pcs_file *f, int k)
{
    const vtk_data d = vtk_find(v, k);
    pcs_vtk_packer *p = v->packer;
    size_t bytes = (size_t)d.count * (size_t)d.ncomponent * (size_t)vtk_types[d.type].size;
    uint64_t nblock = xml_blocks(bytes), head[] = { nblock, BLOCK, bytes % BLOCK };
    pcs_file_bytes(f, head, sizeof head);
    long long sizes = pcs_file_place(f);
    pcs_file_bytes(f, p->sizes, nblock * sizeof *p->sizes); // a placeholder
    p->nblock = 0;
    vtk_put_array(v, f, k);
    if (p->used > 0) xml_put_block(p, f);
    pcs_file_patch(f, sizes, p->sizes, nblock * sizeof *p->sizes);
}

// Writes the elements of arrays, for an index, or with space for the offsets of their data.
static void xml_put_names(const pcs_vtk *v, pcs_file *f, const char *section, const int range[2], bool is_index)
{
    const char *indent = is_index ? "" : "  ", *letter = is_index ? "P" : "";
    pcs_file_print(f, "    %s<%s%s>\n", indent, letter, section);
    for (int k = range[0]; k < range[0] + range[1]; k++) {
        const vtk_data d = vtk_find(v, k);
        pcs_file_print(f, "      %s<%sDataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\"", indent, letter,
                       vtk_types[d.type].xml, d.name, d.ncomponent);
        if (!is_index) pcs_file_text(f, " format=\"appended\" offset=\"");
        v->packer->mark[k] = pcs_file_place(f);
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
    pcs_file_print(f,
                   "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"1.0\" byte_order=\"%s\" "
                   "header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n",
                   type, IS_LITTLE ? "LittleEndian" : "BigEndian");
}

// Writes the elements of the arrays of points and cells, then of the positions.
static void xml_put_data(const pcs_vtk *v, pcs_file *f, bool is_index)
{
    xml_put_names(v, f, "PointData", (int[2]){ GRID_ARRAYS, v->npoint_array }, is_index);
    xml_put_names(v, f, "CellData", (int[2]){ GRID_ARRAYS + v->npoint_array, v->narray - v->npoint_array }, is_index);
    xml_put_names(v, f, "Points", (int[2]){ POSITIONS, 1 }, is_index);
}

// Puts the data into an open file, with time and step of the state unless it is NULL. XML files have no title.
static void vtk_put(const pcs_vtk *v, pcs_file *f, const char *title, const pcs_state *state)
{
    if (v->packer == NULL) {
        legacy_put(v, f, title, state);
        return;
    }
    xml_put_head(f, "UnstructuredGrid");
    pcs_file_text(f, "  <UnstructuredGrid>\n");
    xml_put_time(f, state);
    pcs_file_print(f, "    <Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n", v->npoint, v->ncell);
    xml_put_data(v, f, false);
    xml_put_names(v, f, "Cells", (int[2]){ CONNECTIVITY, POSITIONS }, false);
    pcs_file_text(f, "    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n_");
    long long start = pcs_file_place(f);
    for (int k = 0; k < GRID_ARRAYS + v->narray; k++) {
        char offset[OFFSET_DIGITS + 1];
        int length = snprintf(offset, sizeof offset, "%lld", pcs_file_place(f) - start);
        pcs_file_patch(f, v->packer->mark[k], offset, (size_t)length);
        xml_put_array(v, f, k);
    }
    pcs_file_text(f, "\n  </AppendedData>\n</VTKFile>\n");
}

enum { FRAME_BUFFER = 1 << 16, LIST_BUFFER = 1 << 12, PATH_ROOM = 4096, NAME_ROOM = 512, USUAL_FRAMES = 100 };

// Plans the steps that get a frame; before that, none does. The steps between two frames are the given number, else
// about 100 frames fall on the run or its windows, as if these did not overlap.
static void series_plan(pcs_series *s, const pcs_frames_params *params, const pcs_view *view)
{
    const pcs_list *window = &params->window;
    double sum = 0.0, end = view->end_time;
    for (int i = 0; i < window->count; i += 2)
        sum += fmax(fmin(window->value[i + 1], end) - fmax(window->value[i], 0.0), 0.0);
    double share = window->count == 0 || !(end > 0.0) ? 1.0 : fmin(sum / end, 1.0);
    long count = (long)((double)view->nstep * share) / USUAL_FRAMES;
    s->params = params;
    s->every = count > 1 ? count : 1;
    if (params->every >= 0) s->every = params->every;
}

// Decides whether the present step gets a frame; the first and the last step get one wherever a window includes them,
// with a slack for round-off: times are sums of steps.
static bool series_is_due(pcs_series *s, const pcs_view *view, bool is_end)
{
    long step = view->state->step;
    if (s->every == 0 || s->last == step || (step % s->every != 0 && !is_end)) return false;
    const pcs_list *window = &s->params->window;
    double t = view->state->t, slack = 1e-6 * view->step_size;
    bool is_inside = window->count == 0;
    for (int i = 0; i < window->count; i += 2)
        is_inside = is_inside || (t >= window->value[i] - slack && t <= window->value[i + 1] + slack);
    if (is_inside) s->last = step;
    return is_inside;
}

static const char *series_closing(const pcs_series *s)
{
    return s->is_xml ? "\n  </Collection>\n</VTKFile>\n" : "\n  ]\n}\n";
}

// Makes the name of the file of a frame, or for piece >= 0 of its piece.
static void series_name(pcs_series *s, long number, int piece)
{
    const char *xml = s->npiece > 0 && piece < 0 ? "pvtu" : "vtu";
    char of_piece[16] = "";
    if (piece >= 0) snprintf(of_piece, sizeof of_piece, "_%d", piece);
    snprintf(s->name, s->name_room, "%s_%06ld%s.%s", s->stem, number, of_piece, s->is_xml ? xml : "vtk");
}

static void series_name_list(pcs_series *s)
{
    snprintf(s->name, s->name_room, "%s.%s", s->stem, s->is_xml ? "pvd" : "vtk.series");
}

// Returns true for the name of a frame, a piece or an index from number `first` on, complete or not.
static bool series_is_frame(const pcs_series *s, const char *name, long first)
{
    static const char *const endings[] = { "vtu", "vtu.part", "vtk", "vtk.part", "pvtu", "pvtu.part" };
    size_t length = strlen(s->stem);
    long number = -1, piece = -1;
    char of_piece[32] = "", written[NAME_ROOM];
    if (strncmp(name, s->stem, length) != 0 || sscanf(name + length, "_%ld_%ld", &number, &piece) < 1) return false;
    if (piece >= 0) snprintf(of_piece, sizeof of_piece, "_%ld", piece);
    for (int i = 0; i < (piece >= 0 ? 2 : 6); i++) {
        snprintf(written, sizeof written, "%s_%06ld%s.%s", s->stem, number, of_piece, endings[i]);
        if (strcmp(name, written) == 0) return number >= first;
    }
    return false;
}

// Removes files of frames from this number on, of any format and number of processes.
static pcs_status series_sweep(pcs_series *s, long first)
{
    if (s->list->is_mute) return PCS_OK;
    DIR *folder = opendir(s->file->directory);
    if (folder == NULL && errno == ENOMEM)
        return pcs_fail(s->file->ctx, PCS_NO_MEMORY, "out of memory: looking through %s", s->file->directory);
    if (folder == NULL) return PCS_OK; // files that cannot be removed stay
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        if (series_is_frame(s, entry->d_name, first)) unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    return PCS_OK;
}

// Allocates the memory and removes frames that an earlier run left under these names, unless this run is resumed.
static pcs_status series_create(pcs_context *ctx, const pcs_view *view, const char *stem, pcs_series *out)
{
    *out = (pcs_series){ .stem = stem, .last = -1, .frame_digest = PCS_HASH_START };
    out->name_room = strlen(stem) + 40;
    PCS_TAKE(ctx, out->name, out->name_room, "the name of a frame");
    PCS_TRY(pcs_file_create(ctx, view->directory, out->name_room, FRAME_BUFFER, &out->file));
    PCS_TRY(pcs_file_create(ctx, view->directory, out->name_room, LIST_BUFFER, &out->list));
    if (view->is_resumed) return PCS_OK;
    for (int is_xml = 1; is_xml >= 0; is_xml--) {
        out->is_xml = is_xml;
        series_name_list(out);
        pcs_file_remove(out->list, out->name);
    }
    return series_sweep(out, 0);
}

// Puts `text` as an attribute of XML.
static void series_put_xml(pcs_file *f, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '<' || *text == '&') pcs_file_print(f, "&#%d;", *text);
        else pcs_file_bytes(f, text, 1);
    }
}

// Writes the index of the next number's pieces.
static pcs_status series_put_index(pcs_series *s)
{
    series_name(s, s->count, -1);
    PCS_TRY(pcs_file_open(s->file, s->name));
    xml_put_head(s->file, "PUnstructuredGrid");
    pcs_file_text(s->file, "  <PUnstructuredGrid GhostLevel=\"0\">\n");
    xml_put_data(s->data, s->file, true);
    for (int piece = 0; piece < s->npiece; piece++) {
        series_name(s, s->count, piece);
        pcs_file_text(s->file, "    <Piece Source=\"");
        series_put_xml(s->file, s->name);
        pcs_file_text(s->file, "\"/>\n");
    }
    pcs_file_text(s->file, "  </PUnstructuredGrid>\n</VTKFile>\n");
    return pcs_file_commit(s->file);
}

// Writes index and entry of the list once the pieces of all processes are complete. Then the next frame may begin.
static pcs_status series_complete(pcs_series *s, double t)
{
    pcs_file *list = s->list;
    if (s->npiece > 0 && !list->is_mute) PCS_TRY(series_put_index(s));
    if (s->count == 0) {
        series_name_list(s);
        PCS_TRY(pcs_file_open(list, s->name));
        pcs_file_text(list, s->is_xml ? "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\">\n  <Collection>\n"
                                      : "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [\n");
    } else {
        pcs_file_text(list, s->is_xml ? "\n" : ",\n");
    }
    series_name(s, s->count, -1);
    if (s->is_xml) {
        pcs_file_text(list, "    <DataSet timestep=\"");
        pcs_file_number(list, t);
        pcs_file_text(list, "\" file=\"");
        series_put_xml(list, s->name);
        pcs_file_text(list, "\"/>");
    } else {
        pcs_file_text(list, "    { \"name\": ");
        pcs_file_json(list, s->name);
        pcs_file_text(list, ", \"time\": ");
        pcs_file_number(list, t);
        pcs_file_text(list, " }");
    }
    PCS_TRY(pcs_file_publish(list, series_closing(s)));
    s->frame_digest = pcs_hash(s->frame_digest, &s->digest, sizeof s->digest);
    s->count++;
    return PCS_OK;
}

// Writes the next frame, or a piece of it, and adds one that is whole to the list.
static pcs_status series_write(pcs_series *s, const pcs_vtk *data, const char *title, const pcs_state *state)
{
    series_name(s, s->count, s->npiece > 0 ? s->piece : -1);
    pcs_status status = pcs_file_open(s->file, s->name);
    if (!s->file->is_mute) vtk_put(data, s->file, title, state);
    PCS_TRY(status == PCS_OK ? pcs_file_commit(s->file) : status);
    s->digest = s->npiece > 0 || s->file->is_mute ? 0 : pcs_digest_value(&s->file->digest);
    return s->npiece > 0 ? PCS_OK : series_complete(s, state->t);
}

// Checks the frames written before the checkpoint: their digests, or for pieces, of any process count, that they exist.
static pcs_status series_check_frames(pcs_series *s)
{
    unsigned long long sum = PCS_HASH_START;
    for (long i = 0; i < s->count; i++) {
        char path[PATH_ROOM];
        pcs_digest digest = PCS_DIGEST_START;
        series_name(s, i, -1);
        snprintf(path, sizeof path, "%s/%s", s->file->directory, s->name);
        if (s->npiece > 0 ? access(path, F_OK) != 0 : !pcs_file_read_digest(s->file, path, -1, &digest))
            return pcs_fail(s->file->ctx, PCS_IO_ERROR, "cannot go on: the frame %s is gone", path);
        unsigned long long value = pcs_digest_value(&digest);
        sum = pcs_hash(sum, &value, sizeof value);
    }
    if (s->npiece > 0 || sum == s->frame_digest) return PCS_OK;
    return pcs_fail(s->file->ctx, PCS_IO_ERROR, "cannot go on: a frame up to %s/%s was changed since the checkpoint",
                    s->file->directory, s->name);
}

// Writes or reads which frames there are, within the part of an observer; later ones are removed when it is read.
static pcs_status series_serialize(pcs_series *s, pcs_archive *c)
{
    long npiece = s->npiece;
    pcs_archive_words(c, "pieces", &npiece, 1);
    if (pcs_archive_reads(c) && (npiece > 0) != (s->npiece > 0))
        pcs_archive_refuse(c, "pieces",
                           npiece > 0 ? "says that frames were written in pieces, and this run writes complete ones"
                                      : "says that complete frames were written, and this run writes pieces");
    pcs_archive_words(c, "last_frame", &s->last, 1);
    pcs_archive_words(c, "frames", &s->count, 1);
    pcs_archive_words(c, "frame_digest", &s->frame_digest, 1);
    if (pcs_archive_reads(c) && !s->list->is_mute) PCS_TRY(series_check_frames(s));
    series_name_list(s);
    // Keeps only the frames of the checkpoint, first in the list, which names no others.
    PCS_TRY(pcs_file_serialize(s->list, s->name, c));
    if (!pcs_archive_reads(c)) return PCS_OK;
    if (s->count > 0) PCS_TRY(pcs_file_publish(s->list, series_closing(s)));
    return series_sweep(s, s->count);
}

// Bounds of the motion and of the fields, gathered while frames are drawn.

// Chooses the first normal as near as possible to z, else y, else x: the direction across a plane model.
static void reach_frame(const double axis[3], double frame[3][3])
{
    int least = 2;
    for (int k = 1; k >= 0; k--)
        if (fabs(axis[k]) < fabs(axis[least])) least = k;
    double across[3];
    for (int k = 0; k < 3; k++) across[k] = (k == least) - axis[least] * axis[k];
    memcpy(frame[0], axis, sizeof frame[0]);
    pcs_normalize3(across, frame[1]);
    pcs_cross(frame[0], frame[1], frame[2]);
}

// Widens a range to a number; not by fmax, which is a call.
static inline void record_widen(pcs_bounds *range, double x)
{
    if (-x > range->below) range->below = -x;
    if (x > range->above) range->above = x;
}

static const double NEARNESS = 0.1; // relative to the size of the model

static pcs_status record_create(pcs_context *ctx, const pcs_system *system, pcs_frames_record *out)
{
    const pcs_picture *picture = system->picture;
    int nfield = picture->nfield + picture->npoint_field;
    *out = (pcs_frames_record){ .nrange = 3 + 4 * PCS_FRAME_VECTORS + 1 + 6 * picture->nstill + nfield };
    out->ctx = ctx;
    out->nearness = NEARNESS * system->length;
    PCS_TAKE(ctx, out->position, out->nrange, "bounds of the fields");
    PCS_TAKE(ctx, out->field_time, nfield, "bounds of the fields");
    PCS_TAKE(ctx, out->size_before, nfield, "bounds of the fields");
    out->vectors = out->position + 3;
    out->radius = out->vectors + 4 * PCS_FRAME_VECTORS;
    out->reach = out->radius + 1;
    out->fields = out->reach + 6 * picture->nstill;
    for (int i = 0; i < out->nrange; i++) out->position[i] = (pcs_bounds){ -INFINITY, -INFINITY };
    for (int i = 0; i < nfield; i++) out->field_time[i] = NAN;
    record_widen(out->radius, 0.0);
    int nradius = picture->radius == NULL ? 0 : picture->npoint;
    for (int i = 0; i < nradius; i++) record_widen(out->radius, picture->radius[i]);
    return PCS_OK;
}

static void record_add_points(pcs_frames_record *record, const pcs_picture *picture)
{
    for (int i = 0; i < picture->npoint; i++) {
        double r = picture->radius == NULL ? 0.0 : picture->radius[i];
        for (int k = 0; k < 3; k++) {
            double x = picture->reference[i][k] + picture->displacement[i][k];
            record_widen(&record->position[k], x - r);
            record_widen(&record->position[k], x + r);
        }
    }
}

// Adds the extent of moving discs and bearings, which may be larger than their bodies.
static void record_add_moving(pcs_frames_record *record, const pcs_picture *picture)
{
    if (!pcs_is_root(record->ctx)) return;
    for (int i = picture->nstill; i < picture->nobstacle; i++) {
        const pcs_obstacle *o = &picture->obstacles[i];
        if (!(o->radius > 0.0)) continue;
        for (int k = 0; k < 3; k++) {
            double x = picture->host_reference[o->host][k] + picture->host_motion[6 * o->host + k];
            double across = sqrt(fmax(1.0 - o->axis[k] * o->axis[k], 0.0)); // in its initial position
            record_widen(&record->position[k], x - o->radius * across);
            record_widen(&record->position[k], x + o->radius * across);
        }
    }
}

static void record_add_field(pcs_bounds *field, const double *x, int count)
{
    pcs_bounds range = *field;
    for (int c = 0; c < count; c++) record_widen(&range, x[c]);
    *field = range;
}

static void record_add_vectors(pcs_frames_record *record, const pcs_picture *picture)
{
    double(*const vectors[PCS_FRAME_VECTORS])[3] = { picture->displacement, picture->velocity, picture->rotation };
    for (int v = 0; v < PCS_FRAME_VECTORS; v++)
        for (int i = 0; vectors[v] != NULL && i < picture->npoint; i++) {
            const double *x = vectors[v][i], all[4] = { x[0], x[1], x[2], pcs_norm3(x) };
            for (int k = 0; k < 4; k++) record_widen(&record->vectors[4 * v + k], all[k]);
        }
}

static void record_add_reach(pcs_bounds reach[6], const pcs_obstacle *o, const pcs_picture *picture, double nearness)
{
    double frame[3][3];
    reach_frame(o->axis, frame);
    for (int i = 0; i < o->nnode; i++) {
        int node = o->nodes[i];
        double d[3], x[3];
        for (int k = 0; k < 3; k++) d[k] = picture->reference[node][k] + picture->displacement[node][k] - o->point[k];
        for (int a = 0; a < 3; a++) x[a] = pcs_dot3(frame[a], d);
        double distance = o->kind == PCS_OBSTACLE_PLANE ? x[0] : fabs(hypot(x[1], x[2]) - o->radius); // of the surface
        int count = distance - o->node_radius <= nearness ? 6 : 3;
        for (int a = 0; a < count; a++) {
            record_widen(&reach[a], x[a % 3] - o->node_radius);
            record_widen(&reach[a], x[a % 3] + o->node_radius);
        }
    }
}

static void record_add(pcs_frames_record *record, const pcs_picture *picture, double t)
{
    int nfield = picture->nfield + picture->npoint_field;
    record->count++;
    record_add_points(record, picture);
    record_add_moving(record, picture);
    record_add_vectors(record, picture);
    for (int k = 0; k < nfield; k++) record->size_before[k] = fmax(record->fields[k].below, record->fields[k].above);
    for (int k = 0; k < picture->nfield; k++) record_add_field(&record->fields[k], picture->fields[k], picture->ncell);
    for (int k = 0; k < picture->npoint_field; k++)
        record_add_field(&record->fields[picture->nfield + k], picture->point_fields[k], picture->npoint);
    for (int i = 0; i < picture->nstill; i++)
        record_add_reach(record->reach + 6 * i, &picture->obstacles[i], picture, record->nearness);
    pcs_process_max(record->ctx, 2 * record->nrange, &record->position->below);
    for (int k = 0; k < nfield; k++)
        if (fmax(record->fields[k].below, record->fields[k].above) > record->size_before[k]) record->field_time[k] = t;
}

// Fixed walls, floors and stops, obstacles.vtk, and bearings, discs and joints that nodes carry,
// obstacles.vtk.series.
enum { PCS_OBSTACLE_SIDES = 32, PCS_OBSTACLE_RINGS = 8, PCS_OBSTACLE_POINTS = PCS_OBSTACLE_RINGS * PCS_OBSTACLE_SIDES };
typedef struct pcs_obstacles {
    pcs_series series; // frames of moving obstacles
    int nmoving;
    double (*last)[6]; // [nmoving] m, two points of each in the last frame
    // The file being written, of fixed obstacles with their record or of moving ones.
    pcs_vtk vtk;
    pcs_vtk_array array;
    const pcs_system *system;
    const pcs_frames_record *record; // NULL for moving obstacles
    int first_point;                 // index of its first point in the file
    double position[PCS_OBSTACLE_POINTS][3], contact[PCS_OBSTACLE_POINTS];
    int entry[6 * PCS_OBSTACLE_POINTS]; // polygons of four corners, and two round caps
} pcs_obstacles;

// Walls, floors, stops and bearings that stand still as a legacy VTK file of polygons, obstacles.vtk, and bearings,
// discs and joints that nodes carry at the places of a frame.
//
// An obstacle that stands still has no end in the model. It is drawn where the nodes come near that may touch it, or,
// as long as none does, as far as they come, and a margin further; with a thickness behind its surface, so that it is
// seen from the side, too. What moves is at x + R r, along R a, with R the rotation of its node. Cell data:
// the number of its contact or joint, -1 for a disc.

enum { SIDES = PCS_OBSTACLE_SIDES, MAX_RINGS = PCS_OBSTACLE_RINGS, BALL_RINGS = MAX_RINGS };

static const double PI = 3.14159265358979323846;
static const double MARGIN = 0.06, THICKNESS = 0.02; // relative to the size of the whole motion
static const double MARK = 0.008;                    // radius of a joint, relative to the size of the model
static const double MARK_BODY = 1.4;                 // relative to the radius of the body there
static const double MARK_LENGTH = 4.0;               // length along its axis, relative to its radius
static const double STILL = 1e-5;                    // invisible motion, relative to the size of the model
static const double WALL = 0.3;                      // of a bearing on a node, relative to its radius

// Holds a positioned shape: rings around an axis, round ones of SIDES points or rectangles.
typedef struct obstacles_shape {
    int contact, nside;
    double point[3], frame[3][3]; // its axis and two unit vectors normal to it
    double low[3], high[3];       // bounds along these, m; of rectangles the second and third
    int nring;
    double along[MAX_RINGS], radius[MAX_RINGS]; // m
    bool is_loop;                               // the last ring is joined to the first; otherwise both ends have caps
} obstacles_shape;

// Returns NULL if the options are valid.
static const char *pcs_frames_check(const void *params, const char **option)
{
    const pcs_frames_params *p = params;
    *option = "window";
    if (p->window.count != 2 * p->window.nrow) return "must be [from, to] or a list of such pairs";
    for (int i = 0; i < p->window.count; i += 2)
        if (!(p->window.value[i] <= p->window.value[i + 1])) return "a window ends before it begins";
    return NULL;
}

static void obstacles_add_ring(obstacles_shape *s, double along, double radius)
{
    s->along[s->nring] = along;
    s->radius[s->nring++] = radius;
}

// Adds the rings of a cylinder, or of a tube around a bore.
static void obstacles_make_rings(obstacles_shape *s, pcs_obstacle_kind kind, double low, double high,
                                 const double radius[2])
{
    obstacles_add_ring(s, low, radius[0]);
    obstacles_add_ring(s, high, radius[0]);
    s->is_loop = kind == PCS_OBSTACLE_BORE;
    if (!s->is_loop) return;
    obstacles_add_ring(s, high, radius[1]);
    obstacles_add_ring(s, low, radius[1]);
}

// Fills the shape of a fixed obstacle over all nodes that come near; a slab extends beyond by the largest radius.
static void obstacles_make_still(const pcs_obstacle *o, const pcs_bounds reach[6], const pcs_frames_record *record,
                                 double length, obstacles_shape *s)
{
    const pcs_bounds *x = record->position;
    double extent[3] = { x[0].above + x[0].below, x[1].above + x[1].below, x[2].above + x[2].below };
    double size = pcs_norm3(extent) > 0.0 ? pcs_norm3(extent) : length; // of all positions over the run, m
    double margin = MARGIN * size + (o->kind == PCS_OBSTACLE_PLANE ? record->radius->above : 0.0);
    const pcs_bounds *near = !o->is_long && -reach[3].below <= reach[3].above ? reach + 3 : reach;
    bool is_plane = o->kind == PCS_OBSTACLE_PLANE;
    *s = (obstacles_shape){ .contact = o->contact, .nside = is_plane ? 4 : SIDES };
    memcpy(s->point, o->point, sizeof s->point);
    reach_frame(o->axis, s->frame);
    for (int a = 0; a < 3; a++) {
        s->low[a] = -near[a].below - margin;
        s->high[a] = near[a].above + margin;
    }
    obstacles_make_rings(s, o->kind, is_plane ? -THICKNESS * size : s->low[0], is_plane ? 0.0 : s->high[0],
                         (double[2]){ o->radius, o->radius + THICKNESS * size });
}

// Moves a point (`arm` from its node, m) and a direction from the reference state with the motion of their carrier.
static void obstacles_collect(const pcs_picture *picture, int host, const double arm[3], const double axis[3],
                              double point[3], double direction[3])
{
    double R[9];
    const double *motion = picture->host_motion + 6 * host;
    pcs_rotation_exp(motion + 3, R);
    pcs_rotation_apply(R, arm, point);
    pcs_rotation_apply(R, axis, direction);
    for (int k = 0; k < 3; k++) point[k] += picture->host_reference[host][k] + motion[k];
}

static double obstacles_mark(const pcs_system *system, const pcs_obstacle *o)
{
    if (o->radius > 0.0) return o->radius;
    double body = system->picture->host_radius[o->kind == PCS_OBSTACLE_ROD ? o->end_node : o->host];
    return fmax(MARK * system->length, MARK_BODY * body);
}

static void obstacles_make_rod(const pcs_system *system, const pcs_obstacle *o, obstacles_shape *s, double axis[3])
{
    double end[3], ignored[3];
    if (o->host >= 0) obstacles_collect(system->picture, o->host, o->point, o->axis, s->point, ignored);
    else memcpy(s->point, o->point, sizeof s->point);
    obstacles_collect(system->picture, o->end_node, o->end, o->axis, end, ignored);
    for (int k = 0; k < 3; k++) axis[k] = end[k] - s->point[k];
    double length = pcs_norm3(axis), radius = 0.5 * obstacles_mark(system, o);
    if (!pcs_normalize3(axis, axis)) axis[2] = 1.0;
    obstacles_make_rings(s, o->kind, 0.0, length, (double[2]){ radius });
}

// Makes the shape of an obstacle fixed to a node, at the present positions of the picture.
static void obstacles_make_moving(const pcs_system *system, const pcs_obstacle *o, obstacles_shape *s)
{
    double radius = obstacles_mark(system, o), axis[3];
    double half = 0.5 * (o->length > 0.0 ? o->length : MARK_LENGTH * radius);
    *s = (obstacles_shape){ .contact = o->contact, .nside = SIDES };
    if (o->kind == PCS_OBSTACLE_ROD) {
        obstacles_make_rod(system, o, s, axis);
    } else {
        obstacles_collect(system->picture, o->host, o->point, o->axis, s->point, axis);
        int nring = o->kind == PCS_OBSTACLE_BALL ? BALL_RINGS : 0;
        for (int i = 0; i < nring; i++) {
            double angle = PI * (i + 0.5) / BALL_RINGS;
            obstacles_add_ring(s, -radius * cos(angle), radius * sin(angle));
        }
        if (o->kind != PCS_OBSTACLE_BALL)
            obstacles_make_rings(s, o->kind, -half, half, (double[2]){ radius, (1.0 + WALL) * radius });
    }
    if (o->kind == PCS_OBSTACLE_BALL) memcpy(axis, (double[3]){ 0.0, 0.0, 1.0 }, sizeof axis);
    reach_frame(axis, s->frame);
}

static void obstacles_add_points(pcs_obstacles *o, const obstacles_shape *s)
{
    for (int i = 0; i < s->nring * s->nside; i++) {
        int ring = i / s->nside, side = i % s->nside;
        double angle = 2.0 * PI * side / SIDES, radius = s->radius[ring], *at = o->position[o->vtk.npoint++];
        double x = s->along[ring], y = radius * cos(angle), z = radius * sin(angle);
        if (s->nside == 4) y = side == 0 || side == 3 ? s->high[1] : s->low[1];
        if (s->nside == 4) z = side < 2 ? s->high[2] : s->low[2];
        for (int k = 0; k < 3; k++) at[k] = s->point[k] + x * s->frame[0][k] + y * s->frame[1][k] + z * s->frame[2][k];
    }
}

static void obstacles_add_polygon(pcs_obstacles *o, int contact, int count, const int *corner)
{
    o->entry[o->vtk.nentry++] = count;
    for (int i = 0; i < count; i++) o->entry[o->vtk.nentry++] = corner[i];
    o->contact[o->vtk.ncell++] = contact;
}

// Adds quadrilaterals between two rings of points.
static void obstacles_add_band(pcs_obstacles *o, const obstacles_shape *s, int ring, int other)
{
    for (int i = 0; i < s->nside; i++) {
        int next = (i + 1) % s->nside;
        obstacles_add_polygon(o, s->contact, 4, (int[4]){ ring + i, ring + next, other + next, other + i });
    }
}

static void obstacles_add_cap(pcs_obstacles *o, const obstacles_shape *s, int ring)
{
    int corners[SIDES];
    for (int i = 0; i < s->nside; i++) corners[i] = ring + i;
    obstacles_add_polygon(o, s->contact, s->nside, corners);
}

static void obstacles_add(pcs_obstacles *o, const obstacles_shape *s)
{
    int first = o->first_point, last = first + (s->nring - 1) * s->nside;
    obstacles_add_points(o, s);
    for (int ring = first; ring < last; ring += s->nside) obstacles_add_band(o, s, ring, ring + s->nside);
    if (s->is_loop) {
        obstacles_add_band(o, s, last, first);
    } else {
        obstacles_add_cap(o, s, first);
        obstacles_add_cap(o, s, last);
    }
}

// Makes obstacle i of the file.
static void obstacles_make_part(void *user, int i)
{
    pcs_obstacles *o = user;
    obstacles_shape s;
    o->first_point = i == 0 ? 0 : o->first_point + o->vtk.npoint;
    o->vtk.npoint = o->vtk.ncell = o->vtk.nentry = 0;
    const pcs_frames_record *record = o->record;
    const pcs_obstacle *all = o->system->picture->obstacles;
    if (record == NULL) obstacles_make_moving(o->system, &all[o->system->picture->nstill + i], &s);
    else obstacles_make_still(&all[i], record->reach + 6 * i, record, o->system->length, &s);
    obstacles_add(o, &s);
}

static pcs_status obstacles_create(pcs_context *ctx, const pcs_view *view, pcs_obstacles *out)
{
    const pcs_picture *picture = view->system->picture;
    *out = (pcs_obstacles){ .system = view->system };
    if (picture != NULL) out->nmoving = picture->nobstacle - picture->nstill;
    PCS_TAKE(ctx, out->last, out->nmoving, "bearings, discs and joints");
    out->array = (pcs_vtk_array){ .name = "contact", .ncomponent = 1, .x = out->contact, .is_integer = true };
    out->vtk = (pcs_vtk){ .dataset = "POLYDATA", .cell_kind = "POLYGONS", .entry = out->entry, .narray = 1 };
    out->vtk.position = out->position[0];
    out->vtk.arrays = &out->array;
    out->vtk.make_part = obstacles_make_part;
    out->vtk.user = out;
    return series_create(ctx, view, "obstacles", &out->series);
}

// Fills x with two points that locate a moving obstacle: its own, and one along its axis.
static void obstacles_find(const pcs_system *system, int moving, double x[6])
{
    obstacles_shape s;
    obstacles_make_moving(system, &system->picture->obstacles[system->picture->nstill + moving], &s);
    for (int k = 0; k < 3; k++) {
        x[k] = s.point[k];
        x[3 + k] = s.point[k] + s.along[1] * s.frame[0][k];
    }
}

// Writes the moving obstacles at the positions of the picture, if one has moved since the last frame.
static pcs_status obstacles_write_moving(pcs_obstacles *o, const pcs_view *view)
{
    bool have_moved = o->series.count == 0;
    for (int i = 0; i < o->nmoving && !have_moved; i++) {
        double x[6];
        obstacles_find(view->system, i, x);
        for (int k = 0; k < 6; k++)
            have_moved = have_moved || fabs(x[k] - o->last[i][k]) > STILL * view->system->length;
    }
    if (o->nmoving == 0 || !have_moved) return PCS_OK;
    for (int i = 0; i < o->nmoving; i++) obstacles_find(view->system, i, o->last[i]);
    o->record = NULL;
    o->vtk.npart = o->nmoving;
    return series_write(&o->series, &o->vtk, "bearings, discs and joints; contact: joints after contacts, -1 a disc",
                        view->state);
}

enum { KNOWN_ROOM = 512 };

typedef struct frames_data {
    pcs_frames_record record; // must be first, as others find it by this observer's name
    pcs_series series;
    pcs_obstacles obstacles;
    pcs_vtk vtk;
    double (*position)[3]; // [picture npoint] m
} frames_data;

static const char *const frames_precisions[] = { "double", "float", NULL };
static const char *const frames_formats[] = { "vtk", "vtu", NULL };
static const char *const frames_pieces[] = { "auto", "always", NULL };

static const pcs_option frames_options[] = {
    PCS_COUNT("every", pcs_frames_params, every, PCS_OPTIONAL, PCS_NOT_NEGATIVE,
              "steps from frame to frame, 0: no frames; by default about 100 frames over the run or its windows"),
    PCS_LIST("window", pcs_frames_params, window, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "[from, to], s, or a list of such pairs: frames only then, of the model and of the contacts"),
    PCS_NAMES("fields", pcs_frames_params, fields, PCS_OPTIONAL,
              "names of arrays to write besides positions and radii, or none; by default all"),
    PCS_CHOICE("precision", pcs_frames_params, precision, PCS_DEFAULT("double"), frames_precisions,
               "of positions and arrays; float halves the files and keeps seven digits"),
    PCS_CHOICE("format", pcs_frames_params, format, PCS_DEFAULT("vtk"), frames_formats,
               "of the model: vtk, legacy files, or vtu, XML files compressed by zlib and <case>.pvd"),
    PCS_CHOICE("pieces", pcs_frames_params, pieces, PCS_DEFAULT("auto"), frames_pieces,
               "every process writes its part of the model as a vtu file, listed in <case>.pvd; always: also a process "
               "alone, whose run several may then continue"),
    { .name = NULL },
};

// Returns true if one of the first `count` arrays has this name.
static bool frames_has(const pcs_vtk *v, int count, const char *name)
{
    bool is_found = false;
    for (int i = 0; i < count && !is_found; i++) is_found = strcmp(v->arrays[i].name, name) == 0;
    return is_found;
}

static void frames_add(pcs_vtk *v, const char *name, int ncomponent, const double *x)
{
    if (x != NULL) v->arrays[v->narray++] = (pcs_vtk_array){ name, ncomponent, x, false, 0 };
}

// Lists all arrays that the picture has.
static void frames_list(const pcs_picture *picture, pcs_vtk *v)
{
    double(*const vectors[PCS_FRAME_VECTORS])[3] = { picture->displacement, picture->velocity, picture->rotation };
    for (int i = 0; i < PCS_FRAME_VECTORS; i++)
        frames_add(v, pcs_frame_vectors[i], 3, vectors[i] == NULL ? NULL : vectors[i][0]);
    frames_add(v, "radius", 1, picture->radius);
    for (int k = 0; k < picture->npoint_field; k++) frames_add(v, picture->point_names[k], 1, picture->point_fields[k]);
    v->npoint_array = v->narray;
    if (picture->section_y != NULL) frames_add(v, "section_y", 3, picture->section_y[0]);
    for (int k = 0; k < picture->nfield; k++) frames_add(v, picture->field_names[k], 1, picture->fields[k]);
}

// Checks that there are all arrays asked for; PCS_BAD_INPUT if there is none of number *index.
static pcs_status frames_demand(pcs_context *ctx, const pcs_vtk *v, const pcs_names *fields, int *index)
{
    for (int i = 0; i < fields->count; i++) {
        char known[KNOWN_ROOM] = "";
        *index = i;
        if (strcmp(fields->text[i], "none") == 0 || frames_has(v, v->narray, fields->text[i])) continue;
        for (int k = 0; k < v->narray; k++) // each name once
            if (!frames_has(v, k, v->arrays[k].name) && strcmp(v->arrays[k].name, "radius") != 0)
                pcs_text_add(known, sizeof known, "%s%s", k == 0 ? "" : ", ", v->arrays[k].name);
        return pcs_fail(ctx, PCS_BAD_INPUT, "the model has no '%s'; it has %s", fields->text[i], known);
    }
    return PCS_OK;
}

// Removes arrays that are not asked for, if any are; radii always stay.
static void frames_choose(pcs_vtk *v, const pcs_names *fields)
{
    int kept = 0, kept_points = 0;
    for (int i = 0; i < v->narray; i++) {
        bool stays = fields->count == 0 || strcmp(v->arrays[i].name, "radius") == 0;
        for (int k = 0; k < fields->count; k++) stays = stays || strcmp(fields->text[k], v->arrays[i].name) == 0;
        kept_points += stays && i < v->npoint_array;
        if (stays) v->arrays[kept++] = v->arrays[i];
    }
    v->narray = kept;
    v->npoint_array = kept_points;
}

// Lists the arrays of a picture; PCS_BAD_INPUT if it does not have the one of number *index of those asked for.
static pcs_status frames_find_arrays(pcs_context *ctx, const pcs_picture *picture, const pcs_names *fields,
                                     pcs_vtk *out, int *index)
{
    *out = (pcs_vtk){ .dataset = "UNSTRUCTURED_GRID", .cell_kind = "CELLS" };
    PCS_TAKE(ctx, out->arrays, PCS_FRAME_VECTORS + 2 + picture->npoint_field + picture->nfield, "frames");
    frames_list(picture, out);
    return frames_demand(ctx, out, fields, index);
}

// Lists the points of every cell; one point given twice is a vertex.
static pcs_status frames_make_cells(pcs_context *ctx, const pcs_picture *picture, pcs_vtk *v)
{
    int *entry;
    PCS_TAKE(ctx, entry, 3 * (size_t)v->ncell, "frames");
    v->entry = entry;
    for (int c = 0; c < v->ncell; c++) {
        const int *ends = picture->cells[c];
        int count = ends[0] == ends[1] ? 1 : 2;
        entry[v->nentry++] = count;
        for (int k = 0; k < count; k++) entry[v->nentry++] = ends[k];
    }
    return PCS_OK;
}

// Allocates all memory.
static pcs_status frames_make_data(const pcs_observer *self, const pcs_picture *picture, frames_data *d)
{
    const pcs_names *fields = &((const pcs_frames_params *)self->params)->fields;
    pcs_vtk *v = &d->vtk;
    int index;
    PCS_TRY(frames_find_arrays(self->ctx, picture, fields, v, &index));
    frames_choose(v, fields);
    v->npoint = picture->npoint;
    v->ncell = picture->ncell;
    PCS_TAKE(self->ctx, d->position, picture->npoint, "frames");
    v->position = d->position[0];
    return frames_make_cells(self->ctx, picture, v);
}

// Writes a frame, which all processes complete together: if a piece fails, the frame is removed.
static pcs_status frames_write(const pcs_observer *self, bool is_end)
{
    frames_data *d = self->data;
    const pcs_view *view = self->view;
    pcs_picture *picture = view->system->picture;
    bool writes = !d->series.list->is_mute;
    if (d->series.has_failed || !series_is_due(&d->series, view, is_end)) return PCS_OK;
    view->system->ops->draw(view->system, pcs_view_at(view), picture);
    record_add(&d->record, picture, view->state->t);
    for (int i = 0; i < picture->npoint; i++)
        for (int k = 0; k < 3; k++) d->position[i][k] = picture->reference[i][k] + picture->displacement[i][k];
    const char *title = view->title != NULL ? view->title : view->case_name;
    pcs_status status = series_write(&d->series, &d->vtk, title, view->state);
    if (status == PCS_OK && writes) status = obstacles_write_moving(&d->obstacles, view);
    status = pcs_agree(self->ctx, status);
    if (d->series.npiece > 0) {
        if (status == PCS_OK) status = pcs_agree(self->ctx, series_complete(&d->series, view->state->t));
        if (status != PCS_OK && writes) (void)series_sweep(&d->series, d->series.count);
    }
    d->series.has_failed = status != PCS_OK;
    return status;
}

// Writes the fixed obstacles, if there are any, as large as the record requires.
static pcs_status frames_put_obstacles(const pcs_observer *self)
{
    frames_data *d = self->data;
    pcs_obstacles *o = &d->obstacles;
    pcs_file *f = d->series.file;
    o->record = &d->record;
    o->vtk.npart = self->view->system->picture->nstill;
    if (d->record.count == 0 || d->series.list->is_mute || o->vtk.npart == 0) return PCS_OK;
    pcs_status status = pcs_file_open(f, "obstacles.vtk");
    if (status == PCS_OK) vtk_put(&o->vtk, f, "fixed obstacles; contact: as in contacts.vtk.series", NULL);
    if (status == PCS_OK) status = pcs_file_commit(f);
    d->series.has_failed = status != PCS_OK;
    return status;
}

// Chooses the files of a frame, their format and contents.
static pcs_status frames_make_grid(const pcs_observer *self, frames_data *d)
{
    const pcs_frames_params *params = self->params;
    const pcs_picture *picture = self->view->system->picture;
    int nprocess = picture->is_piece ? pcs_process_count(self->ctx) : 1;
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s_000000.pvtu", self->view->directory, d->series.stem);
    bool goes_on = self->view->is_resumed && access(path, F_OK) == 0; // several processes may have begun such pieces
    bool has_pieces = picture->is_piece || params->pieces == PCS_PIECES_ALWAYS || goes_on;
    d->series.is_xml = params->format == PCS_FORMAT_VTU || has_pieces;
    PCS_TRY(frames_make_data(self, picture, d));
    d->vtk.is_single = params->precision == PCS_PRECISION_FLOAT;
    if (d->series.is_xml) PCS_TRY(vtk_make_xml(self->ctx, &d->vtk));
    if (!has_pieces) return PCS_OK;
    d->series.npiece = nprocess;
    d->series.piece = nprocess > 1 ? pcs_process_number(self->ctx) : 0;
    d->series.data = &d->vtk;
    if (d->series.piece > 0) d->series.file->is_mute = false;
    return PCS_OK;
}

static pcs_status frames_prepare(const pcs_observer *self, frames_data *d)
{
    const pcs_view *view = self->view;
    PCS_TRY(series_create(self->ctx, view, pcs_frames_stem(view->case_name), &d->series));
    PCS_TRY(obstacles_create(self->ctx, view, &d->obstacles));
    if (!view->is_resumed) pcs_file_remove(d->series.file, "obstacles.vtk");
    if (view->system->picture == NULL || view->system->picture->nall_node == 0) return PCS_OK;
    PCS_TRY(frames_make_grid(self, d));
    PCS_TRY(record_create(self->ctx, view->system, &d->record));
    series_plan(&d->series, self->params, view);
    return PCS_OK;
}

static pcs_status frames_open(pcs_observer *self)
{
    frames_data *d = self->data;
    const pcs_view *view = self->view;
    const pcs_picture *picture = view->system->picture;
    pcs_status status = frames_prepare(self, d);
    status = pcs_agree(self->ctx, status); // all processes are ready, and old files are gone, before any process writes
    if (status != PCS_OK || view->is_resumed || picture == NULL || picture->nall_node == 0) return status;
    PCS_TRY(frames_write(self, true));
    return frames_put_obstacles(self);
}

static pcs_status frames_step(pcs_observer *self)
{
    return frames_write(self, false);
}

static pcs_status frames_close(pcs_observer *self)
{
    frames_data *d = self->data;
    if (d->series.every == 0 || d->series.has_failed) return PCS_OK;
    PCS_TRY(frames_write(self, true));
    return frames_put_obstacles(self);
}

static pcs_status frames_serialize(pcs_observer *self, pcs_archive *c)
{
    frames_data *d = self->data;
    if (d->series.every == 0) return PCS_OK;
    const pcs_picture *picture = self->view->system->picture;
    pcs_archive_words(c, "count", &d->record.count, 1);
    pcs_archive_words(c, "ranges", d->record.position, 2 * (size_t)d->record.nrange);
    pcs_archive_words(c, "field_time", d->record.field_time, (size_t)picture->nfield + (size_t)picture->npoint_field);
    PCS_TRY(series_serialize(&d->series, c));
    pcs_archive_words(c, "places", d->obstacles.last, (size_t)d->obstacles.nmoving * sizeof *d->obstacles.last / 8);
    return series_serialize(&d->obstacles.series, c);
}

static pcs_status frames_check(const pcs_observer *self, char place[PCS_OBSERVER_PLACE])
{
    const pcs_frames_params *params = self->params;
    const pcs_picture *picture = self->view->system->picture;
    int index = 0;
    pcs_vtk ignored;
    if (picture == NULL || picture->nall_node == 0) return PCS_OK;
    pcs_status status = frames_find_arrays(self->ctx, picture, &params->fields, &ignored, &index);
    snprintf(place, PCS_OBSERVER_PLACE, "fields.%d", index);
    return status;
}

const pcs_observer_ops pcs_observer_frames = {
    .name = "frames",
    .summary = "the model in time as VTK files for ParaView",
    .options = frames_options,
    .params_size = sizeof(pcs_frames_params),
    .data_size = sizeof(frames_data),
    .is_default = true,
    .check_params = pcs_frames_check,
    .check = frames_check,
    .open = frames_open,
    .step = frames_step,
    .close = frames_close,
    .serialize = frames_serialize,
};

// Frames of the contact points for ParaView: one vertex per point with gap, force, impulses, normal and state.
// The arrow of the force has its friction, too.
//
// impulse and step_impulse are sums since the frame before, written or not, so that no impact
// is lost between two frames; gap, gap_velocity, force and state are those of the frame's own step: 0 open, 1 closed
// (it sticks, where there is friction), 2 slides.
//
// By default frames are due with those of the model, and only these are written: the first one, those in which a point
// is closed or has passed on an impulse, and the next one after these. A viewer shows the last frame that is no later;
// the others would repeat open contacts.

// Values of a point, which are collected.
typedef struct contact_point {
    double place[3], normal[3], arrow[3];                           // m, -, N
    double gap, rate, impulse, step_impulse, force, state, contact; // m, m/s, N s, N
} contact_point;
enum { POINT_WORDS = sizeof(contact_point) / sizeof(double) };

typedef struct contact_frames_data {
    pcs_series series;
    pcs_tally tally;
    char title[TITLE_ROOM];
    int npoint, nall;                    // number of points here and of all processes, without those of joints
    double (*position)[3], (*normal)[3]; // [nrow + ncompliant]
    double (*across)[3];                 // [ntangent + ncompliant_tangent] directions of friction, NULL if unknown
    contact_point *points;               // [npoint]
    bool has_all;                        // writes frames of open contacts, too
    bool shows_load;                     // a contact was loaded in the last frame written
    pcs_collector collector;
    pcs_vtk vtk;
} contact_frames_data;

static const pcs_option contact_frames_options[] = {
    PCS_COUNT("every", pcs_frames_params, every, PCS_OPTIONAL, PCS_NOT_NEGATIVE,
              "steps from frame to frame, 0: no frames; by default as for frames, and only while something touches"),
    { .name = NULL },
};

static bool contact_frames_shows(const pcs_system *system, int row)
{
    return !system->contacts[system->rows[row].contact].is_joint;
}

// Stores the values of a row as those of a point.
static void contact_frames_look_at(const contact_frames_data *d, const pcs_system *system, int j, contact_point *out)
{
    const pcs_tally_row *from = &d->tally.rows[j];
    const pcs_row *row = &system->rows[j];
    int ntangent = d->across == NULL ? 0 : row->ntangent;
    double x[] = { from->gap, from->rate, from->impulse, from->step_impulse, from->force };
    for (int i = 0; i < 5; i++)
        if (!isfinite(x[i])) x[i] = 0.0; // a force that is not defined yet
    *out = (contact_point){ .gap = x[0], .rate = x[1], .impulse = x[2], .step_impulse = x[3], .force = x[4] };
    out->state = (double)from->state;
    out->contact = row->contact;
    for (int k = 0; k < 3; k++) {
        out->place[k] = d->position[j][k];
        out->normal[k] = d->normal[j][k];
        out->arrow[k] = out->force * d->normal[j][k];
        for (int t = 0; t < ntangent; t++) out->arrow[k] += from->tangent[t] * d->across[row->first_tangent + t][k];
    }
}

// Returns true if a frame is written, as always, or as a contact was closed or loaded since the last one or before it.
static bool contact_frames_is_needed(contact_frames_data *d, const pcs_system *system)
{
    bool was_loaded = d->shows_load, is_loaded = false;
    for (int j = 0; j < d->tally.nrow && !is_loaded; j++) {
        const pcs_tally_row *row = &d->tally.rows[j];
        bool is_active = row->state != PCS_ROW_OPEN || row->impulse != 0.0 || row->step_impulse != 0.0;
        is_loaded = is_active && contact_frames_shows(system, j);
    }
    d->shows_load = pcs_rows_any(system, is_loaded);
    return d->has_all || d->shows_load || was_loaded || d->series.count == 0;
}

static pcs_status contact_frames_write(const pcs_view *view, contact_frames_data *d, bool is_end)
{
    pcs_series *s = &d->series;
    pcs_system *system = view->system;
    if (s->has_failed || !series_is_due(s, view, is_end)) return PCS_OK;
    d->tally.is_fresh = true;
    if (!contact_frames_is_needed(d, system)) return PCS_OK;
    const pcs_row_values asked = { .point = d->position, .normal = d->normal, .across = d->across };
    system->ops->evaluate_rows(system, pcs_view_at(view), &asked);
    for (int j = 0, point = 0; j < d->tally.nrow; j++) // without joints
        if (contact_frames_shows(system, j)) contact_frames_look_at(d, system, j, &d->points[point++]);
    pcs_collect(&d->collector, POINT_WORDS, d->points[0].place); // into memory that the arrays show
    pcs_status status = series_write(s, &d->vtk, d->title, view->state);
    s->has_failed = status != PCS_OK;
    return status;
}

// Returns the options of these frames; if `every` is not given, those of the model's frames, and none without these.
static const pcs_frames_params *contact_frames_params(const pcs_observer *self)
{
    static const pcs_frames_params none = { .every = 0 };
    const pcs_frames_params *params = self->params;
    if (params->every >= 0) return params;
    for (int i = 0; i < self->view->nobserver; i++) {
        const pcs_observer *other = &self->view->observers[i];
        if (strcmp(other->ops->name, "frames") == 0) return other->params;
    }
    return &none;
}

// Lists the points, a vertex each, and the arrays over them, in the order of one process and without joints.
static pcs_status contact_frames_make_grid(pcs_context *ctx, const pcs_system *system, contact_frames_data *d)
{
    pcs_vtk *v = &d->vtk;
    int *entry, *number = NULL;
    if (pcs_rows_are_distributed(system)) PCS_TAKE(ctx, number, d->npoint, "contact results");
    for (int j = 0, point = 0; j < d->tally.nrow && number != NULL; j++)
        if (contact_frames_shows(system, j)) // points with force laws come after joints
            number[point++] = system->row_number[j] - (j < system->nrow ? 0 : pcs_count_conditions(system));
    PCS_TRY(pcs_collector_create(ctx, d->npoint, number, d->nall, POINT_WORDS, &d->collector));
    const contact_point *x = number == NULL ? d->points : (const contact_point *)(const void *)d->collector.all;
    const pcs_vtk_array arrays[] = {
        { "gap", 1, &x->gap, false, POINT_WORDS },
        { "gap_velocity", 1, &x->rate, false, POINT_WORDS },
        { "impulse", 1, &x->impulse, false, POINT_WORDS },
        { "step_impulse", 1, &x->step_impulse, false, POINT_WORDS },
        { "force", 1, &x->force, false, POINT_WORDS },
        { "normal", 3, x->normal, false, POINT_WORDS },
        { "force_vector", 3, x->arrow, false, POINT_WORDS },
        { "state", 1, &x->state, true, POINT_WORDS },
        { "contact", 1, &x->contact, true, POINT_WORDS },
    };
    *v = (pcs_vtk){ .dataset = "POLYDATA", .cell_kind = "VERTICES", .position = x->place, .stride = POINT_WORDS };
    v->npoint = v->ncell = d->collector.nall;
    v->nentry = 2 * v->ncell;
    PCS_TAKE(ctx, entry, v->nentry, "contact results");
    for (int i = 0; i < v->ncell; i++) {
        entry[2 * i] = 1;
        entry[2 * i + 1] = i;
    }
    v->entry = entry;
    v->narray = v->npoint_array = sizeof arrays / sizeof *arrays;
    PCS_TAKE(ctx, v->arrays, v->narray, "contact results");
    memcpy(v->arrays, arrays, sizeof arrays);
    return PCS_OK;
}

static pcs_status contact_frames_open(pcs_observer *self)
{
    contact_frames_data *d = self->data;
    const pcs_view *view = self->view;
    const pcs_system *system = view->system;
    PCS_TRY(pcs_tally_create(self->ctx, view, &d->tally));
    PCS_TRY(series_create(self->ctx, view, "contacts", &d->series));
    snprintf(d->title, TITLE_ROOM, "contacts of %s:", view->case_name); // and the number of each: 0 wall, 1 floor
    for (int c = 0; c < system->ncontact; c++)
        if (!system->contacts[c].is_joint)
            pcs_text_add(d->title, TITLE_ROOM, "%s %d %s", c == 0 ? "" : ",", c, system->contacts[c].name);
    int n = d->tally.nrow, ntangent = system->ntangent + system->ncompliant_tangent;
    for (int j = 0; j < n; j++) d->npoint += contact_frames_shows(system, j);
    PCS_TAKE(self->ctx, d->position, n, "contact points");
    PCS_TAKE(self->ctx, d->normal, n, "contact normals");
    if (ntangent > 0 && pcs_system_is_mesh(system)) PCS_TAKE(self->ctx, d->across, ntangent, "directions of friction");
    PCS_TAKE(self->ctx, d->points, d->npoint, "contact results");
    d->nall = pcs_rows_are_distributed(system) ? pcs_count_points(system) : d->npoint;
    PCS_TRY(contact_frames_make_grid(self->ctx, system, d));
    if (d->nall == 0) return PCS_OK;
    const pcs_frames_params *params = contact_frames_params(self);
    d->has_all = params == self->params;
    series_plan(&d->series, params, view);
    if (d->series.every == 0 || view->is_resumed) return PCS_OK;
    pcs_tally_add(&d->tally, view);
    return contact_frames_write(view, d, true);
}

static pcs_status contact_frames_step(pcs_observer *self)
{
    contact_frames_data *d = self->data;
    if (d->series.every == 0 || d->series.has_failed) return PCS_OK;
    pcs_tally_add(&d->tally, self->view);
    return contact_frames_write(self->view, d, false);
}

static pcs_status contact_frames_close(pcs_observer *self)
{
    contact_frames_data *d = self->data;
    // The positions must belong to the step whose results were recorded.
    bool has_positions = d->tally.step == self->view->state->step;
    return has_positions ? contact_frames_write(self->view, d, true) : PCS_OK;
}

static pcs_status contact_frames_serialize(pcs_observer *self, pcs_archive *c)
{
    contact_frames_data *d = self->data;
    if (d->series.every == 0) return PCS_OK;
    pcs_tally_serialize(&d->tally, c);
    pcs_archive_flags(c, "shows_load", &d->shows_load, 1);
    return series_serialize(&d->series, c);
}

const pcs_observer_ops pcs_observer_contact_frames = {
    .name = "contact_frames",
    .summary = "the contact points in time as legacy VTK files for ParaView, while something touches",
    .options = contact_frames_options,
    .params_size = sizeof(pcs_frames_params),
    .data_size = sizeof(contact_frames_data),
    .is_default = true,
    .open = contact_frames_open,
    .step = contact_frames_step,
    .close = contact_frames_close,
    .serialize = contact_frames_serialize,
};
