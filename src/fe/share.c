// The share of a rank in a finite-element model.
//
// Nodes are dealt out among the ranks (build/spread.c); a rank keeps the cells that touch one of its nodes, so that the
// rows of its own equations are complete. Copies are kept of the other nodes of these cells, and, on every rank, of all
// nodes of contacts and joints: gaps, directions and their velocities are then the same everywhere, bit for bit,
// without a word between the ranks.
//
// Equations have three numbers: here (own ones first), among all ranks (those of rank 0 first), and in one process
// (`serial`), by the numbers of their nodes. No rank knows all nodes: each keeps a register of an equal range of node
// numbers, to which the others tell how many equations their nodes have, and from which they learn where these begin.

#include "fe/data.h"

#include <string.h>

// Copies must keep the bits of what they copy. A compiler may round the last few entries of a loop otherwise than the
// others, so there are none: vectors are filled up to a multiple of this with equations that stay zero.
enum { ALIGNED = 32 };

static pcs_status share_out_of_memory(pcs_context *ctx, const fe_data *fe)
{
    return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: the shares of %d nodes", fe->model.mesh->nnode);
}

static bool share_has(const fe_data *fe, int node)
{
    return fe->model.mesh->share == NULL || fe->model.mesh->share->is_kept[node];
}

static int share_equations(const fe_data *fe, int node)
{
    int count = 0;
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++) count += fe->map.dof[i].equation >= 0;
    return count;
}

// Where something of this rank begins among that of all, which come one after the other; *total is the sum.
static pcs_status share_begin(pcs_context *ctx, const pcs_comm *comm, int mine, int *begin, int *total)
{
    double *all = pcs_scratch(NULL, (size_t)comm->size, sizeof *all), sum = 0.0;
    pcs_status status = all == NULL ? pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: %d ranks", comm->size) : PCS_OK;
    PCS_TRY(pcs_comm_agree(ctx, status));
    for (int r = 0; r < comm->size; r++) all[r] = r == comm->rank ? mine : 0.0;
    comm->sum(comm, comm->size, all);
    for (int r = 0; r < comm->size; r++) {
        if (r == comm->rank) *begin = (int)sum;
        sum += all[r];
    }
    *total = (int)sum;
    pcs_scratch_free(all);
    return PCS_OK;
}

enum { ASKED = 3, TOLD = 2 }; // node, equations, first of them; where they begin here and there

// Nodes that this rank keeps, in the order of their numbers, and the ranks that have them in their registers.
typedef struct share_post {
    pcs_context *ctx;
    const pcs_comm *comm;
    int nnode;         // of all ranks
    int count;         // nodes that are kept
    int *node;         // [count] here
    int *send;         // [count][ASKED]
    int *size, *start; // [comm size]
    int *first;        // [map nnode] number among all ranks of the first equation of an own node, -1: not own
} share_post;

// The register is cut as lines of nodes are.
static int share_first_registered(const share_post *p, int rank)
{
    return (int)(((long long)rank * p->nnode + p->comm->size - 1) / p->comm->size);
}

static int share_register(const share_post *p, int number)
{
    return (int)((long long)number * p->comm->size / p->nnode);
}

// What is told about own nodes, and asked about copies, whose first equation is -1.
static void share_write(const fe_data *fe, share_post *p)
{
    for (int r = 0; r < p->comm->size; r++) p->size[r] = p->start[r] = 0;
    for (int i = 0; i < p->count; i++) {
        int *entry = p->send + (size_t)i * ASKED, number = pcs_mesh_node_number(fe->model.mesh, p->node[i]);
        entry[0] = number;
        entry[1] = share_equations(fe, p->node[i]);
        entry[2] = p->first[p->node[i]];
        p->size[share_register(p, number)] += ASKED;
    }
    for (int r = 1; r < p->comm->size; r++) p->start[r] = p->start[r - 1] + p->size[r - 1];
}

// Fills the register in and numbers its equations as one process would: [own range][2], count, then first, and global.
static pcs_status share_fill_register(const share_post *p, const pcs_numbers *asked, int total, int *table)
{
    int low = share_first_registered(p, p->comm->rank), high = share_first_registered(p, p->comm->rank + 1), here = 0;
    int begin, all;
    for (int i = 0; i < high - low; i++) table[2 * i] = 0;
    for (int i = 0; i < total; i += ASKED) {
        const int *entry = asked->value + i;
        if (entry[2] < 0) continue;
        table[2 * (entry[0] - low)] = entry[1];
        table[2 * (entry[0] - low) + 1] = entry[2];
        here += entry[1];
    }
    PCS_TRY(share_begin(p->ctx, p->comm, here, &begin, &all));
    for (int i = 0; i < high - low; i++) {
        int count = table[2 * i];
        table[2 * i] = begin;
        begin += count;
    }
    return PCS_OK;
}

// Answers in the order of the questions.
static void share_answer(const share_post *p, const pcs_numbers *asked, int total, const int *table, int *answers)
{
    int low = share_first_registered(p, p->comm->rank);
    for (int i = 0; i < total / ASKED; i++) {
        int place = asked->value[i * ASKED] - low;
        for (int k = 0; k < TOLD; k++) answers[i * TOLD + k] = table[2 * place + k];
    }
}

static pcs_status share_ask(share_post *p, pcs_numbers *told)
{
    pcs_numbers asked = { 0 };
    int size = p->comm->size, total = 0, *start = NULL;
    int nrange = share_first_registered(p, p->comm->rank + 1) - share_first_registered(p, p->comm->rank);
    pcs_status status = p->comm->exchange(p->comm, p->ctx, p->size, p->start, p->send, &asked);
    if (status == PCS_OK)
        for (int r = 0; r < size; r++) total += asked.count[r];
    int *table = pcs_scratch(NULL, 2 * (size_t)nrange + (size_t)total + (size_t)size + 1, sizeof *table);
    int *answers = table + 2 * nrange;
    if (status == PCS_OK && table == NULL) status = pcs_fail(p->ctx, PCS_NO_MEMORY, "out of memory: %d nodes", nrange);
    status = pcs_comm_agree(p->ctx, status);
    if (status == PCS_OK) status = share_fill_register(p, &asked, total, table);
    if (status == PCS_OK) {
        share_answer(p, &asked, total, table, answers);
        start = answers + total;
        for (int r = 0, at = 0; r < size; r++) {
            asked.count[r] = asked.count[r] / ASKED * TOLD;
            start[r] = at;
            at += asked.count[r];
        }
        status = p->comm->exchange(p->comm, p->ctx, asked.count, start, answers, told);
    }
    pcs_scratch_free(table);
    pcs_scratch_free(asked.count);
    pcs_scratch_free(asked.value);
    return status;
}

// The equations of one node, own or copied, get their numbers.
static void share_number_node(fe_data *fe, int node, int *next, const int told[TOLD], int *global, int *serial)
{
    int count = 0;
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++) {
        pcs_dof *d = &fe->map.dof[i];
        if (d->equation < 0) continue;
        d->equation = (*next)++;
        serial[d->equation] = told[0] + count;
        global[d->equation] = told[1] + count++;
    }
}

// Own equations first; those of nodes that are not kept have none here.
static pcs_status share_number_all(fe_data *fe, const share_post *p, const int *told, pcs_layout *layout)
{
    int *global, *serial, own = 0, copy = layout->nown;
    PCS_TAKE(p->ctx, global, layout->n, "the numbers of equations");
    PCS_TAKE(p->ctx, serial, layout->n, "the numbers of equations");
    for (int i = 0; i < p->count; i++) {
        int *next = p->first[p->node[i]] >= 0 ? &own : &copy;
        share_number_node(fe, p->node[i], next, told + (size_t)i * TOLD, global, serial);
    }
    for (int node = 0; node < fe->model.mesh->nnode; node++)
        for (int i = fe->map.first[node]; i < fe->map.first[node + 1] && !share_has(fe, node); i++)
            if (fe->map.dof[i].equation >= 0) fe->map.dof[i].equation = PCS_EQUATION_ELSEWHERE;
    layout->global = global;
    layout->serial = serial;
    return PCS_OK;
}

// Counts equations, and where own nodes begin among those of all ranks.
static pcs_status share_count(fe_data *fe, share_post *p, pcs_layout *layout)
{
    int begin = 0;
    for (int node = 0; node < fe->model.mesh->nnode; node++) {
        int count = share_equations(fe, node);
        p->first[node] = -1;
        if (!share_has(fe, node)) continue;
        p->node[p->count++] = node;
        layout->n += count;
        if (!pcs_fe_owns(fe, node)) continue;
        p->first[node] = layout->nown;
        layout->nown += count;
    }
    PCS_TRY(share_begin(p->ctx, p->comm, layout->nown, &begin, &layout->nglobal));
    for (int node = 0; node < fe->model.mesh->nnode; node++)
        if (p->first[node] >= 0) p->first[node] += begin;
    return PCS_OK;
}

static pcs_status share_number(pcs_context *ctx, fe_data *fe, const pcs_comm *comm)
{
    const pcs_mesh *mesh = fe->model.mesh;
    pcs_layout *layout = &fe->share->layout;
    size_t n = (size_t)mesh->nnode, size = (size_t)comm->size;
    share_post p = { .ctx = ctx, .comm = comm, .nnode = mesh->share == NULL ? mesh->nnode : mesh->share->nnode };
    pcs_numbers told = { 0 };
    p.node = pcs_scratch(NULL, (2 + ASKED) * n + 2 * size, sizeof *p.node);
    pcs_status status = pcs_comm_agree(ctx, p.node == NULL ? share_out_of_memory(ctx, fe) : PCS_OK);
    *layout = (pcs_layout){ .comm = comm };
    p.first = p.node + n;
    p.send = p.first + n;
    p.size = p.send + ASKED * n;
    p.start = p.size + size;
    if (status == PCS_OK) status = share_count(fe, &p, layout);
    if (status == PCS_OK) share_write(fe, &p);
    if (status == PCS_OK) status = share_ask(&p, &told);
    if (status == PCS_OK) status = share_number_all(fe, &p, told.value, layout);
    pcs_scratch_free(told.count);
    pcs_scratch_free(told.value);
    pcs_scratch_free(p.node);
    fe->map.nequation = (layout->n + ALIGNED - 1) / ALIGNED * ALIGNED;
    return status;
}

// Cells whose first node is of this rank, then those that only touch it from outside.
static pcs_status share_split_batch(pcs_context *ctx, fe_data *fe, int group)
{
    pcs_batch *own = &fe->batches[group], *border = &fe->batches[fe->model.ngroup + group];
    int *own_cells, *border_cells, count = own->ncell, nown = 0, nborder = 0;
    for (int i = 0; i < count; i++) {
        const int *node = own->nodes[own->cells[i]];
        bool is_own = pcs_fe_owns(fe, node[0]);
        nown += is_own;
        nborder += !is_own && pcs_fe_owns(fe, node[1]);
    }
    PCS_TAKE(ctx, own_cells, nown, "the cells of a rank");
    PCS_TAKE(ctx, border_cells, nborder, "the cells of a rank");
    nown = nborder = 0;
    for (int i = 0; i < count; i++) {
        int cell = own->cells[i];
        const int *node = own->nodes[cell];
        fe->place_of_cell[cell] = -1;
        fe->share->index_of_cell[cell] = pcs_set_place(fe->model.groups[group].cells, i);
        if (pcs_fe_owns(fe, node[0])) {
            fe->place_of_cell[cell] = nown;
            own_cells[nown++] = cell;
        } else if (pcs_fe_owns(fe, node[1])) {
            border_cells[nborder++] = cell;
        }
    }
    *border = *own;
    own->cells = own_cells;
    own->ncell = nown;
    border->cells = border_cells;
    border->ncell = nborder;
    return PCS_OK;
}

pcs_status pcs_fe_share(pcs_context *ctx, fe_data *fe)
{
    const pcs_comm *comm = pcs_context_comm(ctx);
    fe->nbatch = fe->model.ngroup;
    if (comm == NULL) return PCS_OK;
    fe->nbatch = 2 * fe->model.ngroup;
    PCS_TAKE(ctx, fe->share, 1, "the share of a rank");
    PCS_TAKE(ctx, fe->share->index_of_cell, fe->model.mesh->ncell, "the share of a rank");
    PCS_TRY(share_number(ctx, fe, comm));
    for (int g = 0; g < fe->model.ngroup; g++) PCS_TRY(share_split_batch(ctx, fe, g));
    return PCS_OK;
}
