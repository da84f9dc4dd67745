// Which rank has which part of the mesh; private to this folder.

#ifndef PCS_BUILD_DEAL_H
#define PCS_BUILD_DEAL_H

#include "build/builder.h"
#include "core/comm.h"

// Returns the rank of node i of n where ranks get equal pieces of nodes in order.
static inline int pcs_deal_piece(int i, int n, int size)
{
    return (int)((long long)i * size / n);
}

// Fills part[i], the rank of every node, on the first rank or with `tells_all` on all. Collective; only the first rank
// needs the mesh, others pass NULL.
pcs_status pcs_deal_nodes(pcs_context *ctx, const pcs_mesh *mesh, bool tells_all, int *part);
// Sends numbers from the first rank to another, into scratch memory there. Collective.
pcs_status pcs_deal_send(pcs_context *ctx, int to, int count, const int *numbers, pcs_numbers *out);

// Node numbers, ascending, each once, in scratch memory.
typedef struct pcs_deal_list {
    int count, *node;
} pcs_deal_list;

// Finds the nodes of this rank's mesh that every rank must have: those of contacts and joints, and those written in the
// order of a set. `rank`: only those that this rank owns; -1 for all.
pcs_status pcs_deal_special(pcs_build *b, int rank, pcs_deal_list *out);
// Returns true if anything but contacts names nodes that every rank must have.
bool pcs_deal_names_nodes(const pcs_build *b);
// Returns true if rows of contacts act on several nodes each. pcs_deal_join then moves all nodes of a row to one rank
// where possible: rank[i] of the nodes of a list, which has all of them; has[r] nodes are those of rank r.
bool pcs_deal_joins(const pcs_build *b);
pcs_status pcs_deal_join(const pcs_build *b, const pcs_deal_list *list, const int *has, int *rank);

#endif
