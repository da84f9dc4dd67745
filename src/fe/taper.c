// Evaluates sections that vary along the cells of a group. The cells must form a line, each beginning where the one
// before ends; positions along the line are sums of cell lengths.

#include "elements/section.h"

#include "core/rotation.h"
#include "fe/data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Computes where the cells of a line with a varying section begin and end, if ranks have parts of the line.
//
// Each rank keeps a register of an equal range of the line. Ranks send the lengths of their cells to the registers,
// which add them up in order along the line, so that every sum is that of one process, and return where each cell
// begins and ends.

enum { DOUBLE = sizeof(double) / sizeof(int), ASKED = 3 + DOUBLE, TOLD = 2 * DOUBLE };

typedef struct line_cell {
    int node[2]; // numbers in the whole mesh; -1 if not yet known
    double length, from;
} line_cell;

typedef struct line_post {
    pcs_context *ctx;
    const pcs_comm *comm;
    int ncell, low, high; // cells of the line, and range of the register on this rank
    int *send;            // [cells here][ASKED] position, nodes, length
    int *size, *start;    // [comm size]
    line_cell *cell;      // [high - low]
} line_post;

static int line_first(const line_post *p, int rank)
{
    return (int)(((long long)rank * p->ncell + p->comm->size - 1) / p->comm->size);
}

static void line_write(line_post *p, const pcs_mesh *mesh, const pcs_set *cells)
{
    for (int r = 0; r < p->comm->size; r++) p->size[r] = p->start[r] = 0;
    for (int i = 0; i < cells->count; i++) {
        int *entry = p->send + (size_t)i * ASKED;
        const int *node = mesh->cell[cells->items[i]];
        double span[3];
        for (int k = 0; k < 3; k++) span[k] = mesh->x[node[1]][k] - mesh->x[node[0]][k];
        double length = pcs_norm3(span);
        entry[0] = pcs_set_place(cells, i);
        for (int k = 0; k < 2; k++) entry[1 + k] = pcs_mesh_node_number(mesh, node[k]);
        memcpy(entry + 3, &length, sizeof length);
        p->size[(long long)entry[0] * p->comm->size / p->ncell] += ASKED;
    }
    for (int r = 1; r < p->comm->size; r++) p->start[r] = p->start[r - 1] + p->size[r - 1];
}

// Fills the register in; ranks that have the same cell say the same.
static void line_fill(line_post *p, const pcs_numbers *asked, int total)
{
    for (int i = 0; i < p->high - p->low; i++) p->cell[i].node[0] = -1;
    for (int i = 0; i < total; i += ASKED) {
        line_cell *cell = &p->cell[asked->value[i] - p->low];
        memcpy(cell->node, asked->value + i + 1, sizeof cell->node);
        memcpy(&cell->length, asked->value + i + 3, sizeof cell->length);
    }
}

// Adds up the lengths rank by rank. Returns false if a cell does not begin where the previous one ends.
static bool line_add_up(line_post *p, double *length)
{
    double last[2] = { 0.0, -1.0 }; // over the ranks so far: the length, m, and the node at its end
    bool is_line = true;
    for (int r = 0; r < p->comm->size; r++) {
        double next[2] = { 0.0, -1.0 };
        for (int i = 0; r == p->comm->rank && i < p->high - p->low; i++) {
            line_cell *cell = &p->cell[i];
            is_line = is_line && cell->node[0] >= 0 && (last[1] < 0.0 || cell->node[0] == (int)last[1]);
            cell->from = last[0];
            last[0] += cell->length;
            last[1] = cell->node[1];
        }
        if (r == p->comm->rank) memcpy(next, last, sizeof next);
        p->comm->max(p->comm, 2, next);
        memcpy(last, next, sizeof last);
    }
    *length = last[0];
    return is_line;
}

static void line_answer(const line_post *p, const pcs_numbers *asked, int total, int *answers)
{
    for (int i = 0; i < total / ASKED; i++) {
        const line_cell *cell = &p->cell[asked->value[i * ASKED] - p->low];
        const double ends[2] = { cell->from, cell->from + cell->length };
        memcpy(answers + (size_t)i * TOLD, ends, sizeof ends);
    }
}

// Sends the cells to the registers and receives their answers, in the order of the requests.
static pcs_status line_ask(line_post *p, double *length, pcs_numbers *told)
{
    pcs_numbers asked = { 0 };
    int size = p->comm->size, total = 0;
    pcs_status status = p->comm->exchange(p->comm, p->ctx, p->size, p->start, p->send, &asked);
    if (status == PCS_OK)
        for (int r = 0; r < size; r++) total += asked.count[r];
    int *answers = pcs_scratch(NULL, (size_t)total / ASKED * TOLD + (size_t)size, sizeof *answers);
    if (status == PCS_OK && answers == NULL) status = pcs_fail(p->ctx, PCS_NO_MEMORY, "out of memory: a line of cells");
    status = pcs_agree(p->ctx, status);
    if (status == PCS_OK) {
        line_fill(p, &asked, total);
        if (!line_add_up(p, length)) status = pcs_fail(p->ctx, PCS_UNSUPPORTED, "cells are not in a line");
        status = pcs_agree(p->ctx, status);
    }
    if (status == PCS_OK) {
        line_answer(p, &asked, total, answers);
        status = pcs_comm_answer(p->ctx, asked.count, ASKED, TOLD, answers, told);
    }
    pcs_scratch_free(answers);
    pcs_scratch_free(asked.count);
    pcs_scratch_free(asked.value);
    return status;
}

static pcs_status line_open(line_post *p, const pcs_set *cells)
{
    size_t count = (size_t)cells->count, size = (size_t)p->comm->size;
    p->low = line_first(p, p->comm->rank);
    p->high = line_first(p, p->comm->rank + 1);
    p->send = pcs_scratch(NULL, ASKED * count + 2 * size, sizeof *p->send);
    p->cell = pcs_scratch(NULL, (size_t)(p->high - p->low) + 1, sizeof *p->cell);
    if (p->send == NULL || p->cell == NULL)
        return pcs_fail(p->ctx, PCS_NO_MEMORY, "out of memory: a line of %d cells", p->ncell);
    p->size = p->send + ASKED * count;
    p->start = p->size + size;
    bool has_places = true;
    for (int i = 0; i < cells->count; i++) has_places = has_places && pcs_set_place(cells, i) >= 0;
    return has_places ? PCS_OK : pcs_fail(p->ctx, PCS_UNSUPPORTED, "the order of the cells is not known");
}

// Fills start and end of each cell, m along its line, and the length of the line, m, if ranks have parts of the mesh.
static pcs_status fe_measure_line(pcs_context *ctx, const pcs_mesh *mesh, const pcs_set *cells, pcs_taper *tapers,
                                  double *length)
{
    line_post p = { .ctx = ctx, .comm = pcs_context_comm(ctx), .ncell = pcs_set_size(cells) };
    pcs_numbers told = { 0 };
    pcs_status status = pcs_agree(ctx, line_open(&p, cells));
    if (status == PCS_OK) {
        line_write(&p, mesh, cells);
        status = line_ask(&p, length, &told);
    }
    int ntold = status == PCS_OK ? cells->count : 0;
    for (int i = 0; i < ntold; i++) {
        double ends[2];
        memcpy(ends, told.value + (size_t)i * TOLD, sizeof ends);
        tapers[cells->items[i]].from = ends[0];
        tapers[cells->items[i]].to = ends[1];
    }
    pcs_scratch_free(told.count);
    pcs_scratch_free(told.value);
    pcs_scratch_free(p.send);
    pcs_scratch_free(p.cell);
    return status;
}

enum { TAPER_NAME_BYTES = 160 };

static const double SAME_PLACE = 1e-9; // of the line
static const double PI = 3.14159265358979323846;
static const double RECTANGLE = 1e-9; // of its area: round-off between it and 4 cy cz

// Returns "elements.bar.area" or "elements.bar.section.height" for *culprit.
static const char *taper_culprit(pcs_context *ctx, const pcs_fe_group *group, const char *option)
{
    char name[TAPER_NAME_BYTES];
    snprintf(name, sizeof name, "%.80s.%s%s", group->name, group->ops->section_offset != 0 ? "section." : "", option);
    return pcs_culprit(ctx, "elements", name);
}

// Fails unless a table ends at the end of the line, or the last step begins before it.
static pcs_status taper_check_profile(pcs_context *ctx, const pcs_option *option, const pcs_profile *p, double length)
{
    double last = p->count == 0 || p->is_relative ? length : p->place[p->count - 1];
    if (p->is_stepped && p->count > 0 && last >= length * (1.0 - SAME_PLACE))
        return pcs_fail(ctx, PCS_BAD_INPUT,
                        "the last step of '%s' at %g lies beyond the end of the line, which is %g long", option->name,
                        last, length);
    if (!p->is_stepped && fabs(last - length) > SAME_PLACE * length)
        return pcs_fail(ctx, PCS_BAD_INPUT, "the table of '%s' must go to the end of the line at %.9g, goes to %.9g",
                        option->name, length, last);
    return PCS_OK;
}

// Checks the sizes of the section at both ends of every piece; they are linear, so inequalities then hold in between.
static pcs_status taper_check_sizes(pcs_context *ctx, const pcs_section_line *line, double length, const char **option)
{
    _Alignas(max_align_t) char params[PCS_SECTION_BYTES];
    if (line->type->check == NULL) return PCS_OK;
    for (double a = 0.0, b; a < length; a = b) {
        b = fmin(length, pcs_section_next(line, length, a));
        for (int end = 0; end < 2; end++) {
            double s = end == 0 ? a : b;
            pcs_section_params_at(line, length, s, end == 1, params);
            const char *fault = line->type->check(params, option);
            if (fault != NULL) return pcs_fail(ctx, PCS_BAD_INPUT, "at %g along the line %s", s, fault);
        }
    }
    return PCS_OK;
}

static pcs_status taper_check(pcs_context *ctx, const pcs_fe_group *group, const pcs_section_line *line, double length,
                              const char **culprit)
{
    const char *option = "";
    pcs_status status = PCS_OK;
    for (const pcs_option *o = line->type->options; o->name != NULL && status == PCS_OK; o++) {
        if (o->kind != PCS_OPTION_PROFILE) continue;
        option = o->name;
        status = taper_check_profile(ctx, o, (const void *)((const char *)line->params + o->offset), length);
    }
    if (status == PCS_OK) status = taper_check_sizes(ctx, line, length, &option);
    if (status != PCS_OK) *culprit = taper_culprit(ctx, group, option);
    return status;
}

// Measures where each cell begins and ends along its line, m, and the length of the line. Fails if it is none.
static pcs_status taper_measure(pcs_context *ctx, fe_data *fe, const pcs_fe_group *group, double *length)
{
    const pcs_mesh *mesh = fe->model.mesh;
    *length = 0.0;
    for (int i = 0; i < group->cells->count; i++) {
        int cell = group->cells->items[i], before = i == 0 ? -1 : group->cells->items[i - 1];
        const double *a = mesh->x[mesh->cell[cell][0]], *b = mesh->x[mesh->cell[cell][1]];
        if (before >= 0 && mesh->cell[cell][0] != mesh->cell[before][1])
            return pcs_fail(ctx, PCS_BAD_INPUT,
                            "element group '%s': a section that varies needs cells in a line, but cell %d of the set "
                            "'%s' does not begin where cell %d ends",
                            group->name, cell, group->cells->name, before);
        const double span[3] = { b[0] - a[0], b[1] - a[1], b[2] - a[2] };
        fe->tapers[cell].from = *length;
        *length += pcs_norm3(span);
        fe->tapers[cell].to = *length;
    }
    return PCS_OK;
}

// Allocates the sections of all groups, once; they share the array, as a cell belongs to one group.
static pcs_status taper_take(pcs_context *ctx, fe_data *fe, int group)
{
    if (fe->tapers == NULL) PCS_TAKE(ctx, fe->tapers, fe->model.mesh->ncell, "sections that vary");
    fe->batches[group].tapers = fe->tapers;
    return PCS_OK;
}

pcs_status pcs_fe_taper(pcs_context *ctx, fe_data *fe, int group, const char **culprit)
{
    const pcs_fe_group *g = &fe->model.groups[group];
    pcs_section_line line;
    double length = 0.0;
    if (!pcs_taper_line(g->ops, g->params, &line) || line.params == NULL) return PCS_OK;
    PCS_TRY(pcs_fe_agree(ctx, fe, taper_take(ctx, fe, group)));
    bool is_whole = pcs_mesh_is_whole(fe->model.mesh);
    pcs_status status = is_whole ? taper_measure(ctx, fe, g, &length)
                                 : fe_measure_line(ctx, fe->model.mesh, g->cells, fe->tapers, &length);
    if (status != PCS_OK) {
        *culprit = pcs_culprit(ctx, "elements", g->name);
        return status;
    }
    PCS_TRY(taper_check(ctx, g, &line, length, culprit));
    for (int i = 0; i < g->cells->count; i++) {
        pcs_taper *taper = &fe->tapers[g->cells->items[i]];
        taper->length = length;
        pcs_taper_make(&line, taper);
    }
    return PCS_OK;
}

enum { WAYS = 3 }; // where a cell begins and ends, and how long its line is

// Computes the sections of all cells on the rank that shows them, from their ranges on the lines of other ranks.
static pcs_status taper_fill_shown(pcs_system *self, const fe_data *fe, const double *way, pcs_batch *batches)
{
    pcs_taper *tapers;
    int ncell = fe->model.shown->ncell;
    PCS_TAKE(self->ctx, tapers, ncell, "sections that vary");
    for (int c = 0; c < ncell; c++) {
        int group = fe->group_shown[c];
        pcs_section_line line;
        if (group < 0 || fe->batches[group].tapers == NULL) continue;
        const pcs_fe_group *g = &fe->model.groups[group];
        (void)pcs_taper_line(g->ops, g->params, &line);
        tapers[c].from = way[WAYS * (size_t)c];
        tapers[c].to = way[WAYS * (size_t)c + 1];
        tapers[c].length = way[WAYS * (size_t)c + 2];
        pcs_taper_make(&line, &tapers[c]);
        batches[group].tapers = tapers;
    }
    return PCS_OK;
}

// Lists the ranges of cells by their numbers on the rank that shows them, else consecutively.
static void taper_list_ways(const fe_data *fe, double *way)
{
    int count = 0;
    for (int g = 0; g < fe->model.ngroup; g++)
        for (int c = 0; c < fe->batches[g].ncell; c++) {
            int cell = fe->batches[g].cells[c];
            int at = fe->model.shown == NULL ? count++ : pcs_mesh_cell_number(fe->model.mesh, cell);
            if (fe->batches[g].tapers == NULL) continue;
            const pcs_taper *taper = &fe->batches[g].tapers[cell];
            memcpy(way + WAYS * (size_t)at, (double[WAYS]){ taper->from, taper->to, taper->length },
                   WAYS * sizeof *way);
        }
}

pcs_status pcs_fe_show_tapers(pcs_system *self, fe_data *fe)
{
    bool has_any = false;
    for (int g = 0; g < fe->model.ngroup; g++) has_any = has_any || fe->batches[g].tapers != NULL;
    fe->drawn = fe->batches;
    if (!has_any || pcs_mesh_is_whole(fe->model.mesh) || fe->model.shows_pieces) return PCS_OK;
    const pcs_comm *comm = self->layout->comm;
    size_t ngroup = (size_t)fe->model.ngroup;
    size_t ncell = (size_t)(fe->model.shown == NULL ? fe->share->ncell : fe->model.shown->ncell);
    double *way = pcs_scratch(NULL, WAYS * ncell, sizeof *way);
    pcs_batch *batches = pcs_take(self->ctx, ngroup, sizeof *batches, "the picture");
    pcs_status status = batches == NULL ? PCS_NO_MEMORY : PCS_OK;
    if (way == NULL) status = pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: the picture");
    status = pcs_agree(self->ctx, status);
    if (status == PCS_OK) {
        memcpy(batches, fe->batches, ngroup * sizeof *batches);
        taper_list_ways(fe, way);
        comm->collect(comm, fe->share->cells, WAYS, way, way);
        if (fe->model.shown != NULL) status = taper_fill_shown(self, fe, way, batches);
        status = pcs_agree(self->ctx, status);
    }
    fe->drawn = batches;
    pcs_scratch_free(way);
    return status;
}

// Finds the section at the first and the second node of a cell of the mesh that is shown; its area is 0 if the element
// has none.
static void taper_sections(const fe_data *fe, int cell, pcs_section end[2])
{
    const pcs_batch *batch = &fe->drawn[fe->group_shown[cell]];
    const pcs_element_ops *ops = batch->ops;
    pcs_section section = { .area = 0.0 };
    if (ops->section_offset != 0)
        section = *(const pcs_section *)(const void *)((const char *)batch->params + ops->section_offset);
    if (ops->area != NULL) ops->area->constants(batch->params, &section);
    for (int k = 0; k < 2; k++) end[k] = batch->tapers == NULL ? section : batch->tapers[cell].end[k];
}

bool pcs_fe_find_rectangles(const fe_data *fe, double (*size)[2])
{
    bool has_any = false;
    for (int c = 0; c < fe->model.shown->ncell; c++) {
        pcs_section end[2];
        if (fe->group_shown[c] < 0) continue;
        taper_sections(fe, c, end);
        double area = 4.0 * end[0].cy * end[0].cz;
        if (end[0].is_round || !(area > 0.0) || fabs(area - end[0].area) > RECTANGLE * area) continue;
        size[c][0] = end[0].cy + end[1].cy;
        size[c][1] = end[0].cz + end[1].cz;
        has_any = true;
    }
    return has_any;
}

// Takes the radius of a circle of the section's area; a point gets the largest one of its cells.
double pcs_fe_find_radii(const fe_data *fe, const int (*cells)[2], double *radius)
{
    double largest = 0.0;
    for (int c = 0; c < fe->model.shown->ncell; c++) {
        pcs_section sides[2];
        if (fe->group_shown[c] < 0) continue;
        taper_sections(fe, c, sides);
        for (int end = 0; end < 2; end++) {
            int node = cells[c][end];
            radius[node] = fmax(radius[node], sqrt(sides[end].area / PI));
            largest = fmax(largest, radius[node]);
        }
    }
    return largest;
}
