// Which rank has which part of the mesh; private to this folder.

#ifndef PCS_BUILD_DEAL_H
#define PCS_BUILD_DEAL_H

#include "build/builder.h"
#include "core/comm.h"

// A line of nodes in order is cut into equal pieces, and so is what ranks build by themselves: node i of n.
static inline int pcs_deal_piece(int i, int n, int size)
{
    return (int)((long long)i * size / n);
}

// part[i], the rank of every node of a mesh that the first rank has, there, or on all ranks. All ranks take part; other
// ranks than the first need no mesh (NULL).
pcs_status pcs_deal_nodes(pcs_context *ctx, const pcs_mesh *mesh, bool tells_all, int *part);
// Numbers from the first rank to another, in scratch memory there. All ranks take part.
pcs_status pcs_deal_send(pcs_context *ctx, int to, int count, const int *numbers, pcs_numbers *out);

// Node numbers, ascending, each once, in scratch memory.
typedef struct pcs_deal_list {
    int count, *node;
} pcs_deal_list;

// Nodes of the mesh here that every rank must have: those of contacts, joints, and what is written in the order of a
// set. `rank`: only those of this one; -1: all.
pcs_status pcs_deal_special(pcs_build *b, int rank, pcs_deal_list *out);
// Do others than contacts name nodes that every rank must have?
bool pcs_deal_names_nodes(const pcs_build *b);
// Are there contacts whose rows act on several nodes each? If so, nodes that such rows join come to one rank
// where that can be: rank[i] of those of a list, which has all of them; has[r] nodes are those of rank r.
bool pcs_deal_joins(const pcs_build *b);
pcs_status pcs_deal_join(const pcs_build *b, const pcs_deal_list *list, const int *has, int *rank);

#endif
