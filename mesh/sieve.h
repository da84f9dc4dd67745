// The part of a mesh that a rank takes of what sources put, by sorted lists of node numbers.
//
// Sources run over the whole in their order, several times, and pass over what is not wanted: first to find the
// neighbours of a list of nodes through cells, then to fill the part in. Nothing here is as long as the whole.

#ifndef PCS_MESH_SIEVE_H
#define PCS_MESH_SIEVE_H

#include "mesh/mesh.h"

typedef struct pcs_sieve {
    bool fills;                   // the part is filled in; else neighbours are found
    int nnode, ncell;             // of the whole, as sources count on
    int nwanted;                  // nodes whose cells are wanted, or, where the part is filled in, all that come in
    const int *wanted;            // [nwanted] ascending
    const unsigned char *is_kept; // [nwanted] where it is filled in: cells at these come in
    int *cell;                    // [cells that come in] their numbers, then
    int nfound, room;             // other ends of the cells at wanted nodes, in any order and number
    int *found;                   // [nfound] scratch memory
    int ntouching;                // cells at wanted nodes
    bool is_out_of_memory;
} pcs_sieve;

// The number of entries of an ascending list that are below `value`.
static inline int pcs_lower_bound(int count, const int *list, int value)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (list[middle] < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Ascending, each once; gives how many are left.
int pcs_sort_unique(int count, int *list);
// Lists of all ranks, in scratch memory, become one, ascending, each number once. All ranks take part.
pcs_status pcs_sieve_unite(pcs_context *ctx, int *count, int **list);

int pcs_sieve_node(const pcs_sieve *self, int node);
int pcs_sieve_cell(pcs_sieve *self, pcs_mesh *mesh, int cell, const int node[2]);
bool pcs_sieve_wants(const pcs_sieve *self, int first, int count);

#endif
