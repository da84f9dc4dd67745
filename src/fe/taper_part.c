// Computes where the cells of a line with a varying section begin and end, if ranks have parts of the line.
//
// Each rank keeps a register of an equal range of the line. Ranks send the lengths of their cells to the registers,
// which add them up in order along the line, so that every sum is that of one process, and return where each cell
// begins and ends.

#include "core/rotation.h"
#include "elements/taper.h"
#include "fe/data.h"

#include <string.h>

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
    status = pcs_comm_agree(p->ctx, status);
    if (status == PCS_OK) {
        line_fill(p, &asked, total);
        if (!line_add_up(p, length)) status = pcs_fail(p->ctx, PCS_UNSUPPORTED, "cells are not in a line");
        status = pcs_comm_agree(p->ctx, status);
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

pcs_status pcs_fe_measure_line(pcs_context *ctx, const pcs_mesh *mesh, const pcs_set *cells, pcs_taper *tapers,
                               double *length)
{
    line_post p = { .ctx = ctx, .comm = pcs_context_comm(ctx), .ncell = pcs_set_size(cells) };
    pcs_numbers told = { 0 };
    pcs_status status = pcs_comm_agree(ctx, line_open(&p, cells));
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
