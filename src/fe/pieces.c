// Tangents of many cells by several threads.
//
// Cells go in pieces, and pieces that meet in an equation get different colours. Colours follow one another, the pieces
// of one colour may be done side by side: no two of them add to the same entry, so the sums are the same whoever is
// first, and the same with one thread.

#include "fe/data.h"

#include <stdint.h>

enum { PIECE = 512, FEWEST_CELLS = 4096, MOST_COLOURS = 64 };

// Lowest colour that no equation of the piece has met, which all of them meet now; -1: none is left.
static int pieces_colour(const pcs_batch *batch, int ndof, int piece, uint64_t *met)
{
    size_t first = (size_t)piece * PIECE * (size_t)ndof, end = (size_t)batch->ncell * (size_t)ndof;
    if (end > first + (size_t)PIECE * (size_t)ndof) end = first + (size_t)PIECE * (size_t)ndof;
    uint64_t taken = 0;
    int colour = 0;
    for (size_t i = first; i < end; i++)
        if (batch->equation[i] >= 0) taken |= met[batch->equation[i]];
    while (colour < MOST_COLOURS && (taken >> colour & 1) != 0) colour++;
    if (colour == MOST_COLOURS) return -1;
    for (size_t i = first; i < end; i++)
        if (batch->equation[i] >= 0) met[batch->equation[i]] |= (uint64_t)1 << colour;
    return colour;
}

static pcs_status pieces_sort(pcs_system *self, fe_data *fe, int b, int npiece, const int *colour, int ncolour)
{
    fe_plan *plan = &fe->plans[b];
    PCS_TAKE(self->ctx, plan->piece, npiece, "the assembly");
    PCS_TAKE(self->ctx, plan->first, (size_t)ncolour + 1, "the assembly");
    plan->ncolour = ncolour;
    int place = 0;
    for (int c = 0; c < ncolour; c++) {
        for (int p = 0; p < npiece; p++)
            if (colour[p] == c) plan->piece[place++] = p;
        plan->first[c + 1] = place;
    }
    return PCS_OK;
}

static pcs_status pieces_plan_batch(pcs_system *self, fe_data *fe, int b, uint64_t *met, int *colour)
{
    const pcs_batch *batch = &fe->batches[b];
    int npiece = (batch->ncell + PIECE - 1) / PIECE, ncolour = 0;
    for (int i = 0; i < self->nv; i++) met[i] = 0;
    for (int p = 0; p < npiece; p++) {
        colour[p] = pieces_colour(batch, pcs_fe_ops(fe, b)->ndof, p, met);
        if (colour[p] < 0) return PCS_OK; // too much of a tangle: one after the other
        if (colour[p] >= ncolour) ncolour = colour[p] + 1;
    }
    return pieces_sort(self, fe, b, npiece, colour, ncolour);
}

pcs_status pcs_fe_plan_pieces(pcs_system *self, fe_data *fe)
{
    bool is_large = false;
    PCS_TAKE(self->ctx, fe->plans, fe->nbatch, "the assembly");
    uint64_t *met = pcs_scratch(NULL, (size_t)self->nv, sizeof *met);
    int *colour = pcs_scratch(NULL, (size_t)fe->model.mesh->ncell / PIECE + 1, sizeof *colour);
    pcs_status status = met == NULL || colour == NULL
                            ? pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: %d equations", self->nv)
                            : PCS_OK;
    for (int b = 0; b < fe->nbatch && status == PCS_OK; b++) {
        if (!pcs_fe_ops(fe, b)->is_nonlinear || fe->batches[b].ncell < FEWEST_CELLS) continue;
        is_large = true;
        status = pieces_plan_batch(self, fe, b, met, colour);
    }
    pcs_scratch_free(met);
    pcs_scratch_free(colour);
    if (status != PCS_OK || !is_large || self->layout != NULL) return status; // ranks have the processors
    int wanted = fe->model.nthread > 0 ? fe->model.nthread : pcs_pool_share(self->ctx);
    return pcs_pool_create(self->ctx, wanted, &((fe_work *)self->work)->pool);
}

typedef struct piece_job {
    pcs_system *self;
    int b;
    const int *pieces;
    const double *q, *v;
} piece_job;

static void pieces_do(void *data, int index)
{
    const piece_job *job = data;
    int first = job->pieces[index] * PIECE, ncell = ((const fe_data *)job->self->data)->batches[job->b].ncell;
    int count = ncell - first < PIECE ? ncell - first : PIECE;
    pcs_fe_add_tangents(job->self, job->b, first, count, job->q, job->v);
}

bool pcs_fe_add_pieces(pcs_system *self, int b, const double *q, const double *v)
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    const fe_plan *plan = fe->plans == NULL ? NULL : &fe->plans[b];
    if (plan == NULL || plan->ncolour == 0) return false;
    for (int c = 0; c < plan->ncolour; c++) {
        piece_job job = { self, b, plan->piece + plan->first[c], q, v };
        pcs_pool_run(work->pool, plan->first[c + 1] - plan->first[c], pieces_do, &job);
    }
    return true;
}
