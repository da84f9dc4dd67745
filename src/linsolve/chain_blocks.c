// Partition of a matrix into blocks that couple to their neighbours only, and access to these blocks.
//
// A beam has as many equations per node as its nodes have freedoms, less where a support takes some: the blocks are
// found from the pattern and need not be equal. With the first block given, the shortest possible blocks follow: each
// ends with the last equation that the blocks before it couple to. So all lengths of the first block are tried, anew
// for each part that is not coupled to the one before. Neighbours that fit into one block are merged at last.

#include "linsolve/chain.h"

#include <string.h>

static int blocks_last_row(const pcs_pattern *pattern, int j)
{
    return pattern->row[pattern->start[j + 1] - 1];
}

// Cuts the part that begins with equation `begin` after `length` equations, then as short as possible. Answers the
// longest block; *end gets the end of the part, and `first` (unless NULL) the starts of its blocks.
static int blocks_cut(const pcs_pattern *pattern, int begin, int length, int *first, int *nblock, int *end)
{
    int from = begin, to = begin + length < pattern->n ? begin + length : pattern->n, reach = to, longest = 0;
    *nblock = 0;
    while (from < to && longest <= PCS_CHAIN_MAX) {
        if (first != NULL) first[*nblock] = from;
        (*nblock)++;
        longest = to - from > longest ? to - from : longest;
        for (int j = from; j < to; j++) {
            int next = blocks_last_row(pattern, j) + 1;
            reach = next > reach ? next : reach;
        }
        from = to;
        to = reach;
    }
    *end = from;
    return longest;
}

// Blocks as short as possible, part by part. Answers the longest one, or 0 when it is too long.
static int blocks_shortest(const pcs_pattern *pattern, int *first, int *nblock)
{
    int longest = 1, count, end;
    *nblock = 0;
    for (int begin = 0; begin < pattern->n; begin = end) {
        int best = PCS_CHAIN_MAX + 1, best_length = 0;
        for (int length = 1; length < best; length++) { // the longest block is no shorter than the first
            int result = blocks_cut(pattern, begin, length, NULL, &count, &end);
            if (result < best) best = result, best_length = length;
        }
        if (best > PCS_CHAIN_MAX) return 0;
        longest = best > longest ? best : longest;
        blocks_cut(pattern, begin, best_length, first == NULL ? NULL : first + *nblock, &count, &end);
        *nblock += count;
    }
    return longest;
}

static void blocks_merge(int n, int b, int *first, int *nblock)
{
    int kept = 0;
    for (int k = 1; k < *nblock; k++) {
        int end = k + 1 < *nblock ? first[k + 1] : n;
        if (end - first[kept] > b) first[++kept] = first[k];
    }
    if (*nblock > 0) *nblock = kept + 1;
    first[*nblock] = n;
}

int pcs_chain_partition(const pcs_pattern *pattern, int *first, int *nblock)
{
    int b = blocks_shortest(pattern, first, nblock), even = pattern->chain_block;
    if (even > 0 && (b == 0 || even <= b)) {
        b = even;
        *nblock = pattern->n / b + (pattern->n % b != 0);
        if (first == NULL) return b;
        for (int k = 0; k < *nblock; k++) first[k] = k * b;
    }
    if (b > 0 && first != NULL) blocks_merge(pattern->n, b, first, nblock);
    return b;
}

static pcs_chain_block blocks_fill(const pcs_chain *c, int I, int J, double *copy)
{
    memset(copy, 0, (size_t)(c->b * c->b) * sizeof *copy);
    if (I == J)
        for (int k = 0; k < c->b; k++) copy[k * (c->b + 1)] = 1.0;
    return (pcs_chain_block){ copy, c->b };
}

pcs_chain_block pcs_chain_get(const pcs_chain *c, const pcs_matrix *A, int I, int J, double *copy)
{
    const int b = c->b, last = c->nblock - 1;
    if (I < 0 || J < 0 || I > last || J > last) return blocks_fill(c, I, J, copy);
    const int *restrict start = A->pattern->start, *restrict row = A->pattern->row;
    const int from = c->first[I], to = c->first[I + 1], begin = c->first[J], end = c->first[J + 1];
    if (c->is_full[J] && to - from == b) return pcs_chain_get_full(c, A, I, J);
    memset(copy, 0, (size_t)(b * b) * sizeof *copy);
    for (int j = begin; j < end; j++)
        for (int p = start[j]; p < start[j + 1]; p++)
            if (row[p] >= from && row[p] < to) copy[(j - begin) * b + row[p] - from] = A->value[p];
    if (I == J)
        for (int k = end - begin; k < b; k++) copy[k * (b + 1)] = 1.0;
    return (pcs_chain_block){ copy, b };
}

void pcs_chain_spread(const pcs_chain *c, const double *restrict x, double *restrict spread)
{
    for (int I = 0; I < c->nblock; I++, spread += c->b) {
        int count = c->first[I + 1] - c->first[I];
        const double *from = x + c->first[I];
        for (int i = 0; i < c->b; i++) spread[i] = i < count ? from[i] : 0.0;
    }
}

void pcs_chain_gather(const pcs_chain *c, const double *restrict spread, double *restrict x)
{
    for (int I = 0; I < c->nblock; I++, spread += c->b)
        for (int i = c->first[I]; i < c->first[I + 1]; i++) x[i] = spread[i - c->first[I]];
}
