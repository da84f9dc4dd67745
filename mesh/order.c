// Numbering by Cuthill and McKee: breadth first from an end, neighbours with few neighbours first.
//
// The matrix of a chain becomes tridiagonal (in blocks), that of a frame gets a band as wide as the front of the
// search. Ends are nodes with one neighbour; a part without any starts at the node a first search reaches last.

#include "mesh/order.h"

typedef struct order_graph {
    int nnode;
    int *start;     // [nnode + 1]
    int *neighbour; // [start[nnode]]
    int *queue;     // [nnode] nodes in their new order
    int *is_done;   // [nnode]
} order_graph;

static int order_degree(const order_graph *g, int node)
{
    return g->start[node + 1] - g->start[node];
}

static void order_fill(order_graph *g, int ncell, const int (*cell)[2])
{
    for (int i = 0; i <= g->nnode; i++) g->start[i] = 0;
    for (int i = 0; i < ncell; i++) {
        if (cell[i][0] == cell[i][1]) continue;
        g->start[cell[i][0]]++;
        g->start[cell[i][1]]++;
    }
    for (int i = 0; i < g->nnode; i++) g->start[i + 1] += g->start[i];
    for (int i = ncell - 1; i >= 0; i--) { // backwards, so that neighbours stand in the order of the cells
        if (cell[i][0] == cell[i][1]) continue;
        g->neighbour[--g->start[cell[i][0]]] = cell[i][1];
        g->neighbour[--g->start[cell[i][1]]] = cell[i][0];
    }
}

// Appends the part that holds `root` to the queue, which has `count` nodes already. Returns the new count.
static int order_search(const order_graph *g, int root, int count)
{
    int head = count;
    g->queue[count++] = root;
    g->is_done[root] = 1;
    for (; head < count; head++) {
        int node = g->queue[head], first = count;
        for (int k = g->start[node]; k < g->start[node + 1]; k++) {
            int next = g->neighbour[k], place = count;
            if (g->is_done[next]) continue;
            g->is_done[next] = 1;
            for (; place > first && order_degree(g, g->queue[place - 1]) > order_degree(g, next); place--)
                g->queue[place] = g->queue[place - 1];
            g->queue[place] = next;
            count++;
        }
    }
    return count;
}

static void order_all(const order_graph *g, int *place)
{
    int count = 0;
    for (int i = 0; i < g->nnode; i++) g->is_done[i] = 0;
    for (int i = 0; i < g->nnode; i++)
        if (!g->is_done[i] && order_degree(g, i) == 1) count = order_search(g, i, count);
    for (int i = 0; i < g->nnode; i++) {
        if (g->is_done[i]) continue;
        int end = order_search(g, i, count), last = g->queue[end - 1];
        for (int k = count; k < end; k++) g->is_done[g->queue[k]] = 0;
        count = order_search(g, last, count);
    }
    for (int i = 0; i < g->nnode; i++) place[g->queue[i]] = i;
}

pcs_status pcs_mesh_order(pcs_context *ctx, int nnode, int ncell, const int (*cell)[2], int *place)
{
    size_t n = (size_t)nnode;
    int *memory = pcs_scratch(NULL, 3 * n + 1 + 2 * (size_t)ncell, sizeof *memory);
    if (memory == NULL) return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: numbering %d nodes", nnode);
    order_graph g = { .nnode = nnode, .start = memory };
    g.queue = g.start + n + 1;
    g.is_done = g.queue + n;
    g.neighbour = g.is_done + n;
    order_fill(&g, ncell, cell);
    order_all(&g, place);
    pcs_scratch_free(memory);
    return PCS_OK;
}
