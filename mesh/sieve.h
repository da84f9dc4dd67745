// Selects the part of a mesh that a rank takes from the sources, by sorted lists of node numbers.
//
// Sources run through the whole mesh in order, several times, and skip what is not wanted: first to find the neighbours
// of a list of nodes through cells, then to fill the part. No array here has the size of the whole mesh.

#ifndef PCS_MESH_SIEVE_H
#define PCS_MESH_SIEVE_H

#include "mesh/mesh.h"

typedef struct pcs_sieve {
    bool fills;                   // true while the part is filled, false while neighbours are sought
    int nnode, ncell;             // of the whole mesh, counted up by sources
    int nwanted;                  // nodes whose cells are sought; while filling, all nodes of the part
    const int *wanted;            // [nwanted] ascending
    const unsigned char *is_kept; // [nwanted] while filling: cells at these are taken
    int *cell;                    // [cells taken] their numbers
    int nfound, room;             // other ends of the cells at wanted nodes, unsorted and with duplicates
    int *found;                   // [nfound] scratch memory
    int ntouching;                // number of cells at wanted nodes
    bool is_out_of_memory;
} pcs_sieve;

// Returns the number of entries of an ascending list that are below `value`.
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

// Sorts a list, ascending, and removes duplicates. Returns how many are left.
int pcs_sort_unique(int count, int *list);
// Unites the lists of all ranks, in scratch memory: ascending, without duplicates. All ranks must call it.
pcs_status pcs_sieve_unite(pcs_context *ctx, int *count, int **list);

int pcs_sieve_node(const pcs_sieve *self, int node);
int pcs_sieve_cell(pcs_sieve *self, pcs_mesh *mesh, int cell, const int node[2]);
bool pcs_sieve_wants(const pcs_sieve *self, int first, int count);

#endif
