// Evaluates sections that vary along the cells of a group. The cells must form a line, each beginning where the one
// before ends; positions along the line are sums of cell lengths.

#include "elements/section.h"

#include "core/rotation.h"
#include "fe/data.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { TAPER_NAME_BYTES = 160 };

static const double SAME_PLACE = 1e-9; // of the length of the line
static const double PI = 3.14159265358979323846;
static const double RECTANGLE = 1e-9; // largest relative difference of area and 4 cy cz of a rectangle

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

// Holds a line of cells while it is measured.
typedef struct taper_line {
    const pcs_mesh *mesh;
    const pcs_set *cells;
    pcs_taper *tapers;
    int ngiven, ntaken;
    double length, last; // m, so far, and the node where the line ends; -1 at first
    int broken;          // index of the first cell that does not begin where the one before ends, -1 if none
} taper_line;

// Sends length, m, and nodes of the cells of this process to all.
static void taper_give(void *owner, int low, int high, double *block)
{
    taper_line *line = owner;
    for (; line->ngiven < line->cells->count; line->ngiven++) {
        int place = pcs_set_place(line->cells, line->ngiven);
        const int *node = line->mesh->cell[line->cells->items[line->ngiven]];
        if (place >= high) return;
        double span[3], *record = block + 3 * (ptrdiff_t)(place - low);
        for (int k = 0; k < 3; k++) span[k] = line->mesh->x[node[1]][k] - line->mesh->x[node[0]][k];
        record[0] = pcs_norm3(span);
        for (int k = 0; k < 2; k++) record[1 + k] = pcs_mesh_node_number(line->mesh, node[k]);
    }
}

// Adds up the lengths of all cells in their order, which gives the sums of one process.
static void taper_take(void *owner, int low, int high, const double *block)
{
    taper_line *line = owner;
    for (int place = low; place < high; place++, block += 3) {
        if (line->broken < 0 && line->last >= 0.0 && block[1] != line->last) line->broken = place;
        double from = line->length;
        line->length += block[0];
        line->last = block[2];
        if (line->ntaken == line->cells->count || pcs_set_place(line->cells, line->ntaken) != place) continue;
        pcs_taper *taper = &line->tapers[line->cells->items[line->ntaken++]];
        taper->from = from;
        taper->to = line->length;
    }
}

// Measures where each cell begins and ends along its line, m, and the length of the line. Fails if the cells form none.
static pcs_status taper_measure(pcs_context *ctx, fe_data *fe, const pcs_fe_group *group, double *length)
{
    const pcs_set *cells = group->cells;
    bool is_whole = pcs_mesh_is_whole(fe->model.mesh);
    taper_line line = { .mesh = fe->model.mesh, .cells = cells, .tapers = fe->tapers, .last = -1.0, .broken = -1 };
    const pcs_told told = { taper_give, taper_take, &line };
    if (!is_whole && cells->place == NULL) return pcs_fail(ctx, PCS_UNSUPPORTED, "the order of the cells is not known");
    PCS_TRY(pcs_tell(ctx, !is_whole, pcs_set_size(cells), 3, &told));
    *length = line.length;
    if (line.broken < 0) return PCS_OK;
    if (!is_whole) return pcs_fail(ctx, PCS_UNSUPPORTED, "cells are not in a line");
    return pcs_fail(ctx, PCS_BAD_INPUT,
                    "element group '%s': a section that varies needs cells in a line, but cell %d of the set '%s' does "
                    "not begin where cell %d ends",
                    group->name, cells->items[line.broken], cells->name, cells->items[line.broken - 1]);
}

// Allocates the sections of all groups, once; they share the array, as a cell belongs to one group.
static pcs_status taper_allocate(pcs_context *ctx, fe_data *fe, int group)
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
    PCS_TRY(pcs_fe_agree(ctx, fe, taper_allocate(ctx, fe, group)));
    pcs_status status = taper_measure(ctx, fe, g, &length);
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

// Finds the section at the first and the second node of a cell; its area is 0 if the element has none.
static void taper_sections(const fe_data *fe, int cell, pcs_section end[2])
{
    const pcs_batch *batch = &fe->batches[fe->batch_of_cell[cell]];
    const pcs_element_ops *ops = batch->ops;
    pcs_section section = { .area = 0.0 };
    if (ops->section_offset != 0)
        section = *(const pcs_section *)(const void *)((const char *)batch->params + ops->section_offset);
    if (ops->area != NULL) ops->area->constants(batch->params, &section);
    for (int k = 0; k < 2; k++) end[k] = batch->tapers == NULL ? section : batch->tapers[cell].end[k];
}

bool pcs_fe_find_rectangles(const fe_data *fe, int count, const int *cells, double (*size)[2])
{
    bool has_any = false;
    for (int c = 0; c < count; c++) {
        pcs_section end[2];
        if (fe->batch_of_cell[cells[c]] < 0) continue;
        taper_sections(fe, cells[c], end);
        double area = 4.0 * end[0].cy * end[0].cz;
        if (end[0].is_round || !(area > 0.0) || fabs(area - end[0].area) > RECTANGLE * area) continue;
        size[c][0] = end[0].cy + end[1].cy;
        size[c][1] = end[0].cz + end[1].cz;
        has_any = true;
    }
    return has_any;
}

// Takes the radius of a circle of the section's area. A point gets the largest one of its cells.
double pcs_fe_find_radii(const fe_data *fe, const int (*cells)[2], double *radius)
{
    double largest = 0.0;
    for (int c = 0; c < fe->model.mesh->ncell; c++) {
        pcs_section sides[2];
        if (fe->batch_of_cell[c] < 0) continue;
        taper_sections(fe, c, sides);
        for (int end = 0; end < 2; end++) {
            int node = cells[c][end];
            radius[node] = fmax(radius[node], sqrt(sides[end].area / PI));
            largest = fmax(largest, radius[node]);
        }
    }
    return largest;
}
