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

#define _POSIX_C_SOURCE 200809L

#include "output/series.h"

#include "output/frames.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

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
    const pcs_collector *of;
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
    int real = v->is_single ? FLOAT : DOUBLE, field = k - GRID_ARRAYS, cell_field = field - v->npoint_array;
    switch (k) {
    case CONNECTIVITY: return (vtk_data){ "connectivity", 1, v->nentry - v->ncell, INT, NULL, NULL };
    case OFFSETS: return (vtk_data){ "offsets", 1, v->ncell, INT, NULL, NULL };
    case TYPES: return (vtk_data){ "types", 1, v->ncell, BYTE, NULL, NULL };
    case POSITIONS: return (vtk_data){ "Points", 3, v->npoint, real, v->position, &v->of_points };
    default: break;
    }
    const pcs_vtk_array *a = cell_field < 0 ? &v->point_arrays[field] : &v->cell_arrays[cell_field];
    int type = a->is_integer ? INT : real;
    if (cell_field < 0) return (vtk_data){ a->name, a->ncomponent, v->npoint, type, a->x, &v->of_points };
    return (vtk_data){ a->name, a->ncomponent, v->ncell, type, a->x, &v->of_cells };
}

static void xml_put_block(pcs_vtk_packer *p, pcs_file *f);

// Puts a number, with its most significant byte first in legacy files, in the order of this machine in XML files.
static inline void vtk_put_number(pcs_vtk_packer *p, pcs_file *f, int type, double x)
{
    int size = vtk_types[type].size, integer = type == INT || type == BYTE ? (int)x : 0;
    float single = type == FLOAT ? (float)x : 0.0F;
    unsigned char byte = (unsigned char)integer, bytes[8];
    const void *const from[] = { &x, &single, &integer, &byte };
    memcpy(bytes, from[type], (size_t)size);
    unsigned char *to = p == NULL ? (unsigned char *)pcs_file_reserve(f, (size_t)size) : p->block + p->used;
    if (to == NULL) return;
    for (int b = 0; b < size; b++) to[p == NULL && IS_LITTLE ? size - 1 - b : b] = bytes[b];
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

// Puts the numbers of an array; all processes that have some take part.
static void vtk_put_array(const pcs_vtk *v, pcs_file *f, int k)
{
    if (k < POSITIONS) {
        vtk_put_cells(v, f, k);
        return;
    }
    const vtk_data d = vtk_find(v, k);
    const double *x = pcs_collect(d.of, d.ncomponent, d.x);
    size_t count = f->is_mute ? 0 : (size_t)d.count * (size_t)d.ncomponent;
    for (size_t i = 0; i < count; i++) vtk_put_number(v->packer, f, d.type, x[i]);
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
    int narray = is_of_points ? v->npoint_array : v->ncell_array;
    if (narray == 0 || (count == 0 && !f->is_mute)) return; // a process without data of its own takes part
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

pcs_status pcs_vtk_make_xml(pcs_context *ctx, pcs_vtk *v)
{
    pcs_vtk_packer *p;
    size_t longest = 3 * (size_t)(v->npoint > v->ncell ? v->npoint : v->ncell);
    PCS_TAKE(ctx, p, 1, "frames");
    PCS_TRY(pcs_defer(ctx, xml_end_stream, p)); // does nothing if the stream never began
    if (deflateInit(&p->stream, Z_BEST_SPEED) != Z_OK) return pcs_fail(ctx, PCS_NO_MEMORY, "no memory for zlib");
    PCS_TAKE(ctx, p->packed, deflateBound(&p->stream, BLOCK), "compressed frames");
    PCS_TAKE(ctx, p->block, BLOCK, "compressed frames");
    PCS_TAKE(ctx, p->sizes, xml_blocks(longest * sizeof(double)), "compressed frames");
    PCS_TAKE(ctx, p->mark, GRID_ARRAYS + v->npoint_array + v->ncell_array, "frames");
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

static void xml_put_appended(const pcs_vtk *v, pcs_file *f)
{
    long long start = pcs_file_place(f);
    for (int k = 0; k < GRID_ARRAYS + v->npoint_array + v->ncell_array; k++) {
        char offset[OFFSET_DIGITS + 1];
        int length = snprintf(offset, sizeof offset, "%lld", pcs_file_place(f) - start);
        pcs_file_patch(f, v->packer->mark[k], offset, (size_t)length);
        xml_put_array(v, f, k);
    }
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
    xml_put_names(v, f, "CellData", (int[2]){ GRID_ARRAYS + v->npoint_array, v->ncell_array }, is_index);
    xml_put_names(v, f, "Points", (int[2]){ POSITIONS, 1 }, is_index);
}

static void xml_put(const pcs_vtk *v, pcs_file *f, const pcs_state *state)
{
    xml_put_head(f, "UnstructuredGrid");
    pcs_file_text(f, "  <UnstructuredGrid>\n");
    xml_put_time(f, state);
    pcs_file_print(f, "    <Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n", v->npoint, v->ncell);
    xml_put_data(v, f, false);
    xml_put_names(v, f, "Cells", (int[2]){ CONNECTIVITY, POSITIONS }, false);
    pcs_file_text(f, "    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n_");
    xml_put_appended(v, f);
    pcs_file_text(f, "\n  </AppendedData>\n</VTKFile>\n");
}

void pcs_vtk_put(const pcs_vtk *v, pcs_file *f, const char *title, const pcs_state *state)
{
    if (v->packer != NULL) xml_put(v, f, state);
    else legacy_put(v, f, title, state);
}

enum { FRAME_BUFFER = 1 << 16, LIST_BUFFER = 1 << 12, PATH_ROOM = 4096, USUAL_FRAMES = 100 };

// Returns the fraction of the run that the windows cover, as if they did not overlap.
static double series_share(const pcs_frames_params *params, const pcs_view *view)
{
    double sum = 0.0;
    for (int i = 0; i < params->window.count; i += 2) {
        double from = fmax(params->window.value[i], 0.0), to = fmin(params->window.value[i + 1], view->end_time);
        sum += fmax(to - from, 0.0);
    }
    return params->window.count == 0 || !(view->end_time > 0.0) ? 1.0 : fmin(sum / view->end_time, 1.0);
}

long pcs_frames_every(const pcs_frames_params *params, const pcs_view *view)
{
    if (params->every >= 0) return params->every;
    long count = (long)((double)view->nstep * series_share(params, view)) / USUAL_FRAMES;
    return count > 1 ? count : 1;
}

// Returns true if the state is inside a window, with a slack for round-off: times are sums of steps.
static bool series_is_inside(const pcs_list *window, const pcs_view *view)
{
    double t = view->state->t, slack = 1e-6 * view->step_size;
    bool is_inside = window->count == 0;
    for (int i = 0; i < window->count; i += 2)
        is_inside = is_inside || (t >= window->value[i] - slack && t <= window->value[i + 1] + slack);
    return is_inside;
}

void pcs_series_plan(pcs_series *s, const pcs_frames_params *params, const pcs_view *view)
{
    s->params = params;
    s->every = pcs_frames_every(params, view);
}

bool pcs_series_is_due(pcs_series *s, const pcs_view *view, bool is_end)
{
    long step = view->state->step;
    if (s->every == 0 || s->last == step || (step % s->every != 0 && !is_end)) return false;
    if (!series_is_inside(&s->params->window, view)) return false;
    s->last = step;
    return true;
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

// Reads "_" and a number as it is printed, of `digits` digits at least, and moves *text past them.
static bool series_read_number(const char **text, int digits, long *out)
{
    enum { MOST_DIGITS = 18 };
    const char *p = *text + 1;
    int count = 0;
    if (**text != '_') return false;
    for (*out = 0; isdigit((unsigned char)p[count]) && count < MOST_DIGITS; count++) *out = 10 * *out + p[count] - '0';
    *text = p + count;
    return count == digits || (count > digits && p[0] != '0');
}

// Returns true for the name of a frame, a piece or an index from number `first` on, complete or not.
static bool series_is_frame(const pcs_series *s, const char *name, long first)
{
    static const char *const endings[] = { ".vtu", ".vtk", ".pvtu" }; // of pieces the first one
    size_t length = strlen(s->stem);
    long number, piece;
    const char *p = name + length;
    if (strncmp(name, s->stem, length) != 0 || !series_read_number(&p, 6, &number) || number < first) return false;
    int nending = *p != '_' ? 3 : series_read_number(&p, 1, &piece);
    for (int i = 0; i < nending; i++) {
        size_t ending = strlen(endings[i]);
        if (strncmp(p, endings[i], ending) == 0) return p[ending] == '\0' || strcmp(p + ending, ".part") == 0;
    }
    return false;
}

pcs_status pcs_series_sweep(pcs_series *s, long first)
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

pcs_status pcs_series_create(pcs_context *ctx, const pcs_view *view, const char *stem, pcs_series *out)
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
    return pcs_series_sweep(out, 0);
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

static pcs_status series_begin_list(pcs_series *s)
{
    series_name_list(s);
    PCS_TRY(pcs_file_open(s->list, s->name));
    pcs_file_text(s->list, s->is_xml ? "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\">\n  <Collection>\n"
                                     : "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [\n");
    return PCS_OK;
}

pcs_status pcs_series_settle(pcs_series *s, double t)
{
    pcs_file *list = s->list;
    if (s->npiece > 0 && !list->is_mute) PCS_TRY(series_put_index(s));
    if (s->count == 0) PCS_TRY(series_begin_list(s));
    else pcs_file_text(list, s->is_xml ? "\n" : ",\n");
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

pcs_status pcs_series_write(pcs_series *s, const pcs_vtk *data, const char *title, const pcs_state *state)
{
    series_name(s, s->count, s->npiece > 0 ? s->piece : -1);
    pcs_status status = pcs_file_open(s->file, s->name);
    pcs_vtk_put(data, s->file, title, state);
    PCS_TRY(status == PCS_OK ? pcs_file_commit(s->file) : status);
    s->digest = s->npiece > 0 || s->file->is_mute ? 0 : pcs_digest_value(&s->file->digest);
    return s->npiece > 0 ? PCS_OK : pcs_series_settle(s, state->t);
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

pcs_status pcs_series_carry(pcs_series *s, pcs_carrier *c)
{
    long npiece = s->npiece;
    pcs_carry_words(c, "pieces", &npiece, 1);
    if (pcs_carry_reads(c) && (npiece > 0) != (s->npiece > 0))
        pcs_carry_refuse(c, "pieces",
                         npiece > 0 ? "says that frames were written in pieces, and this run writes complete ones"
                                    : "says that complete frames were written, and this run writes pieces");
    pcs_carry_words(c, "last_frame", &s->last, 1);
    pcs_carry_words(c, "frames", &s->count, 1);
    pcs_carry_words(c, "frame_digest", &s->frame_digest, 1);
    if (pcs_carry_reads(c) && !s->list->is_mute) PCS_TRY(series_check_frames(s));
    series_name_list(s);
    // Keeps only the frames of the checkpoint, first in the list, which names no others.
    PCS_TRY(pcs_file_carry(s->list, s->name, c));
    if (!pcs_carry_reads(c)) return PCS_OK;
    if (s->count > 0) PCS_TRY(pcs_file_publish(s->list, series_closing(s)));
    return pcs_series_sweep(s, s->count);
}

const char *const pcs_frame_vectors[PCS_FRAME_VECTORS] = { "displacement", "velocity", "rotation" };

enum { LARGE_MODEL = 50000 }; // number of nodes from which processes write pieces

const char *pcs_frames_stem(const char *case_name)
{
    bool is_taken = strcmp(case_name, "contacts") == 0 || strcmp(case_name, "obstacles") == 0;
    return is_taken ? "model" : case_name;
}

bool pcs_frames_are_pieces(const char *pieces, int nnode)
{
    bool is_large = nnode >= LARGE_MODEL;
    if (pieces == NULL) return is_large;
    return strcmp(pieces, "always") == 0 || (is_large && strcmp(pieces, "never") != 0);
}

const pcs_frames_record *pcs_frames_record_find(const pcs_view *view)
{
    for (int i = 0; i < view->nobserver; i++) {
        const pcs_observer *o = &view->observers[i];
        const pcs_frames_record *record = o->data; // first member of the data of frames
        if (strcmp(o->ops->name, "frames") == 0) return record->count > 0 ? record : NULL;
    }
    return NULL;
}
