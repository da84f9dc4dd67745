// The part of a picture that a rank shows: its own cells and their points, which other ranks show as well at borders.
//
// Positions of all these points are here. Section forces at a point follow from cells that other ranks may own: ranks
// exchange once which cells they ask for, in one list, and for every picture the fields of all of them, by a sum to
// which each rank adds its own. A rank that shows the end of a chain may not have the cell next to the last one, e.g.
// that of a spring: then the rank of the node between both names it. Nodes with discs, bearings and joints are sent to
// rank 0, which draws these, after its own points.

#include "fe/data.h"

#include <string.h>

// Describes the cell next to the last one of a chain, if only other ranks have it.
typedef struct part_far {
    int cell, end; // last cell, and its end at which the other is
    int number;    // number of the other in the whole mesh, -1 if none
    double length; // m
} part_far;

// Holds workspace for making the part, in scratch memory.
typedef struct part_work {
    fe_points all;
    int *local;          // [all npoint] index among the points shown, then those beyond; -1 if absent
    int *place;          // [mesh ncell] index among the cells shown, then those asked for; -1 if absent
    int *point;          // [npoint] index among all of the points shown here
    int *before, *after; // [all npoint] cells that end and begin at the point, -1 if none; NULL if not needed
    double *radius;      // [all npoint] m
    double largest;      // largest radius, m
    double *counts;      // [ranks]
    int *asked;          // [nasked] cells of other ranks
    int npoint, ncell, nasked, room;
    part_far *far; // [nfar] cells that this rank does not have
    int nfar, far_room;
} part_work;

static int part_point(const part_work *w, const fe_data *fe, int cell, int end)
{
    return w->all.cells == NULL ? fe->model.mesh->cell[cell][end] : w->all.cells[cell][end];
}

static int part_node(const part_work *w, int point)
{
    return w->all.node == NULL ? point : w->all.node[point];
}

static void part_free(part_work *w)
{
    pcs_scratch_free(w->all.cells);
    pcs_scratch_free(w->all.node);
    pcs_scratch_free(w->all.arm);
    pcs_scratch_free(w->local);
    pcs_scratch_free(w->place);
    pcs_scratch_free(w->point);
    pcs_scratch_free(w->before);
    pcs_scratch_free(w->after);
    pcs_scratch_free(w->radius);
    pcs_scratch_free(w->counts);
    pcs_scratch_free(w->asked);
    pcs_scratch_free(w->far);
}

static pcs_status part_take_scratch(pcs_system *self, const fe_data *fe, part_work *w)
{
    size_t npoint = (size_t)w->all.npoint, ncell = (size_t)fe->model.mesh->ncell;
    w->local = pcs_scratch(NULL, npoint, sizeof *w->local);
    w->place = pcs_scratch(NULL, ncell, sizeof *w->place);
    w->point = pcs_scratch(NULL, npoint, sizeof *w->point);
    w->radius = pcs_scratch(NULL, npoint, sizeof *w->radius);
    w->counts = pcs_scratch(NULL, (size_t)fe->share->layout.comm->size, sizeof *w->counts);
    bool is_there = w->local != NULL && w->place != NULL && w->point != NULL && w->radius != NULL && w->counts != NULL;
    if (is_there && fe->has_members) {
        w->before = pcs_scratch(NULL, npoint, sizeof *w->before);
        w->after = pcs_scratch(NULL, npoint, sizeof *w->after);
        is_there = w->before != NULL && w->after != NULL;
    }
    return is_there ? PCS_OK : pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: the picture of %zu points", npoint);
}

// Assigns numbers to own cells in the order in which they are drawn, then cells without an element.
static void part_choose_cells(const fe_data *fe, part_work *w)
{
    const pcs_mesh *mesh = fe->model.mesh;
    w->ncell = 0;
    for (int c = 0; c < mesh->ncell; c++) w->place[c] = -1;
    for (int g = 0; g < fe->model.ngroup; g++)
        for (int c = 0; c < fe->batches[g].ncell; c++) w->place[fe->batches[g].cells[c]] = w->ncell++;
    for (int c = 0; c < mesh->ncell; c++)
        if (fe->batch_of_cell[c] < 0 && pcs_fe_owns(fe, mesh->cell[c][0])) w->place[c] = w->ncell++;
}

// Assigns numbers to the points of these cells, and own nodes without cells, in the order of all points.
static void part_choose_points(const fe_data *fe, part_work *w)
{
    enum { UNKNOWN = -1, ELSEWHERE = -2, HERE = -3 };
    w->npoint = 0;
    for (int i = 0; i < w->all.npoint; i++) w->local[i] = UNKNOWN;
    for (int c = 0; c < fe->model.mesh->ncell; c++)
        for (int end = 0; end < 2; end++) {
            int *found = &w->local[part_point(w, fe, c, end)];
            if (w->place[c] >= 0) *found = HERE;
            else if (*found == UNKNOWN) *found = ELSEWHERE;
        }
    for (int i = 0; i < w->all.npoint; i++) {
        bool is_shown = w->local[i] == HERE || (w->local[i] == UNKNOWN && pcs_fe_owns(fe, part_node(w, i)));
        w->local[i] = is_shown ? w->npoint : -1;
        if (is_shown) w->point[w->npoint++] = i;
    }
}

static void part_link(const fe_data *fe, part_work *w)
{
    for (int i = 0; i < w->all.npoint; i++) w->before[i] = w->after[i] = -1;
    for (int c = 0; c < fe->model.mesh->ncell; c++)
        if (pcs_fe_has_section(fe, c)) w->after[part_point(w, fe, c, 0)] = w->before[part_point(w, fe, c, 1)] = c;
}

static pcs_status part_ask(pcs_system *self, part_work *w, int cell)
{
    if (cell < 0 || w->place[cell] >= 0) return PCS_OK;
    if (w->nasked == w->room) {
        int room = 2 * w->room + 64;
        int *larger = pcs_scratch(w->asked, (size_t)room, sizeof *larger);
        if (larger == NULL) return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: the picture of %d cells", room);
        w->asked = larger;
        w->room = room;
    }
    w->place[cell] = w->ncell + w->nasked;
    w->asked[w->nasked++] = cell;
    return PCS_OK;
}

static pcs_status part_ask_far(pcs_system *self, part_work *w, int cell, int end)
{
    if (w->nfar == w->far_room) {
        int room = 2 * w->far_room + 64;
        part_far *larger = pcs_scratch(w->far, (size_t)room, sizeof *larger);
        if (larger == NULL) return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: the picture of %d cells", room);
        w->far = larger;
        w->far_room = room;
    }
    w->far[w->nfar++] = (part_far){ .cell = cell, .end = end, .number = -1 };
    return PCS_OK;
}

// Asks for the cell next to the last one of a chain, at this end; from its owner if not all cells at the node are here.
static pcs_status part_ask_beside(pcs_system *self, const fe_data *fe, part_work *w, int cell, int end)
{
    const pcs_mesh_share *share = fe->model.mesh->share;
    int point = part_point(w, fe, cell, end);
    if (share != NULL && !share->is_kept[part_node(w, point)]) return part_ask_far(self, w, cell, end);
    return part_ask(self, w, end == 0 ? w->before[point] : w->after[point]);
}

// Asks for the cells on both sides of every point shown, and for the cell next to the last one of a chain.
static pcs_status part_ask_all(pcs_system *self, const fe_data *fe, part_work *w)
{
    if (!fe->has_members) return PCS_OK;
    part_link(fe, w);
    for (int i = 0; i < w->npoint; i++) {
        int before = w->before[w->point[i]], after = w->after[w->point[i]];
        PCS_TRY(part_ask(self, w, before));
        PCS_TRY(part_ask(self, w, after));
        if (before >= 0 && after < 0) PCS_TRY(part_ask_beside(self, fe, w, before, 0));
        if (after >= 0 && before < 0) PCS_TRY(part_ask_beside(self, fe, w, after, 1));
    }
    return PCS_OK;
}

// Finds the number of the first item of this rank among those of all ranks, and their total, from its own `mine`.
static void part_count(const fe_data *fe, part_work *w, int mine, int *first, int *all)
{
    const pcs_comm *comm = fe->share->layout.comm;
    for (int r = 0; r < comm->size; r++) w->counts[r] = r == comm->rank ? mine : 0.0;
    comm->sum(comm, comm->size, w->counts);
    *first = *all = 0;
    for (int r = 0; r < comm->size; r++) {
        if (r < comm->rank) *first += (int)w->counts[r];
        *all += (int)w->counts[r];
    }
}

// Returns the local number of a cell of the whole mesh; -1 if this rank does not have it.
static int part_find_cell(const pcs_mesh *mesh, int number)
{
    int cell = pcs_mesh_first_cell(mesh, number);
    return cell < mesh->ncell && pcs_mesh_cell_number(mesh, cell) == number ? cell : -1;
}

enum { FAR_WIDTH = 2 }; // requests: cell and end; answers: cell number + 1, or 0 if none, and its length, m

// Answers a request if this rank owns the node between both cells, and therefore has all cells there.
static void part_answer_far(const fe_data *fe, const part_work *w, double *entry)
{
    const pcs_mesh *mesh = fe->model.mesh;
    int cell = part_find_cell(mesh, (int)entry[0]), end = (int)entry[1];
    entry[0] = entry[1] = 0.0;
    if (cell < 0 || !pcs_fe_owns(fe, mesh->cell[cell][end])) return;
    int point = part_point(w, fe, cell, end), beside = end == 0 ? w->before[point] : w->after[point];
    if (beside < 0) return;
    double span[3];
    for (int k = 0; k < 3; k++) span[k] = mesh->x[mesh->cell[beside][1]][k] - mesh->x[mesh->cell[beside][0]][k];
    entry[0] = pcs_mesh_cell_number(mesh, beside) + 1.0;
    entry[1] = pcs_norm3(span);
}

// Finds cells next to the last ones of chains from their owners, by a sum of requests and one of answers.
static pcs_status part_find_far(pcs_system *self, const fe_data *fe, part_work *w)
{
    const pcs_comm *comm = fe->share->layout.comm;
    int first, all, kept = 0;
    if (!fe->has_members) return PCS_OK;
    part_count(fe, w, w->nfar, &first, &all);
    if (all == 0) return PCS_OK;
    double(*list)[FAR_WIDTH] = pcs_scratch(NULL, (size_t)all, sizeof *list);
    pcs_status status = PCS_OK;
    if (list == NULL) status = pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: the picture");
    PCS_TRY(pcs_comm_agree(self->ctx, status));
    memset(list, 0, (size_t)all * sizeof *list);
    for (int i = 0; i < w->nfar; i++) {
        list[first + i][0] = pcs_mesh_cell_number(fe->model.mesh, w->far[i].cell);
        list[first + i][1] = w->far[i].end;
    }
    comm->sum(comm, FAR_WIDTH * all, list[0]);
    for (int i = 0; i < all; i++) part_answer_far(fe, w, list[i]);
    comm->sum(comm, FAR_WIDTH * all, list[0]);
    for (int i = 0; i < w->nfar; i++) {
        part_far found = w->far[i];
        found.number = (int)list[first + i][0] - 1;
        found.length = list[first + i][1];
        if (found.number >= 0) w->far[kept++] = found;
    }
    w->nfar = kept;
    pcs_scratch_free(list);
    return PCS_OK;
}

// Appends far cells to those asked for: one end at the last cell of the chain, the other at a point without data.
static void part_number_far(const fe_data *fe, part_work *w, int (*cells)[2], int *number, double *length)
{
    fe_part *part = fe->part;
    for (int i = 0; i < w->nfar; i++) {
        const part_far *far = &w->far[i];
        int at = w->ncell + w->nasked + i;
        number[at] = -1;
        length[i] = far->length;
        cells[at][1 - far->end] = w->local[part_point(w, fe, far->cell, far->end)];
        cells[at][far->end] = w->npoint + part->nbeyond++;
    }
}

// Assigns numbers to cells shown and asked for by points of this rank; further points of the latter follow those shown.
static pcs_status part_number(pcs_system *self, fe_data *fe, part_work *w, pcs_picture *picture)
{
    fe_part *part = fe->part;
    int ncell = w->ncell + w->nasked + w->nfar, (*cells)[2], *number, *node;
    PCS_TAKE(self->ctx, cells, ncell, "the picture");
    PCS_TAKE(self->ctx, part->far_length, w->nfar, "the picture");
    PCS_TAKE(self->ctx, number, ncell, "the picture");
    PCS_TAKE(self->ctx, node, w->npoint, "the picture");
    for (int i = 0; i < w->npoint; i++) node[i] = part_node(w, w->point[i]);
    int nrider = w->all.arm == NULL ? 0 : w->npoint;
    if (nrider > 0) PCS_TAKE(self->ctx, fe->arm_of_point, nrider, "the picture");
    for (int i = 0; i < nrider; i++) fe->arm_of_point[i] = w->all.arm[w->point[i]];
    for (int c = 0; c < fe->model.mesh->ncell; c++) {
        if (w->place[c] < 0) continue;
        number[w->place[c]] = c;
        for (int end = 0; end < 2; end++) {
            int *local = &w->local[part_point(w, fe, c, end)];
            if (*local < 0) *local = w->npoint + part->nbeyond++;
            cells[w->place[c]][end] = *local;
        }
    }
    part_number_far(fe, w, cells, number, part->far_length);
    part->cell = number;
    part->nshown = w->ncell + w->nasked;
    part->nasked = w->nasked + w->nfar;
    fe->node_of_point = node;
    picture->npoint = w->npoint;
    picture->ncell = w->ncell;
    picture->cells = (const int(*)[2])cells;
    picture->cell_numbers = number;
    return PCS_OK;
}

// Replaces the nodes that may touch a fixed obstacle by the points that are shown here.
static pcs_status part_place_still(pcs_system *self, const part_work *w, pcs_obstacle *o)
{
    int *points, count = 0;
    for (int i = 0; i < o->nnode; i++) count += w->local[o->nodes[i]] >= 0 && w->local[o->nodes[i]] < w->npoint;
    PCS_TAKE(self->ctx, points, count, "the picture");
    count = 0;
    for (int i = 0; i < o->nnode; i++) {
        int point = w->local[o->nodes[i]];
        if (point >= 0 && point < w->npoint) points[count++] = point;
    }
    o->nodes = points;
    o->nnode = count;
    return PCS_OK;
}

// Lists the nodes with obstacles known to all ranks, [count], which get entries after the points of rank 0. Only counts
// them if NULL.
static int part_list_carriers(const pcs_picture *picture, int nknown, pcs_obstacle *obstacles, int *nodes)
{
    int count = 0;
    for (int i = picture->nstill; i < nknown; i++) {
        pcs_obstacle *o = &obstacles[i];
        int *const carriers[2] = { o->carrier >= 0 ? &o->carrier : NULL,
                                   o->kind == PCS_OBSTACLE_ROD ? &o->end_node : NULL };
        for (int k = 0; k < 2; k++) {
            if (carriers[k] == NULL) continue;
            if (nodes != NULL) nodes[count] = *carriers[k];
            if (nodes != NULL) *carriers[k] = picture->npoint + count;
            count++;
        }
    }
    return count;
}

// Finds the nodes with obstacles of this rank, by index among all in `own`, followed by those of its cells.
static pcs_status part_take_carriers(pcs_system *self, const fe_carried *carried, int npoint, const int *nodes,
                                     int count, int *own)
{
    const fe_data *fe = self->data;
    fe_part *part = fe->part;
    bool is_first = pcs_is_root(self->ctx);
    int nknown = 0;
    for (int i = 0; i < count; i++)
        if (pcs_fe_owns(fe, nodes[i])) own[nknown++] = i;
    part->ncarrier = nknown + carried->nown;
    part->nroom = is_first ? count + carried->count : part->ncarrier;
    PCS_TAKE(self->ctx, part->carrier, part->ncarrier, "the picture");
    for (int i = nknown; i < part->ncarrier; i++) own[i] = count + carried->own[i - nknown][1];
    for (int i = 0; i < part->ncarrier; i++) {
        part->carrier[i][0] = i < nknown ? nodes[own[i]] : carried->own[i - nknown][0];
        part->carrier[i][1] = npoint + (is_first ? own[i] : i);
    }
    return PCS_OK;
}

// Computes positions and radii, m, of the points and of the nodes with obstacles.
static pcs_status part_take_points(pcs_system *self, fe_data *fe, part_work *w, pcs_picture *picture)
{
    const pcs_mesh *mesh = fe->model.mesh;
    fe_part *part = fe->part;
    double(*x)[3], *radius;
    PCS_TAKE(self->ctx, x, w->npoint + part->nroom, "the picture");
    PCS_TAKE(self->ctx, radius, w->npoint + part->nroom, "the picture");
    memset(w->radius, 0, (size_t)w->all.npoint * sizeof *w->radius);
    const int(*cells)[2] = w->all.cells == NULL ? (const int(*)[2])mesh->cell : (const int(*)[2])w->all.cells;
    w->largest = pcs_fe_find_radii(fe, cells, w->radius);
    for (int i = 0; i < w->npoint; i++) {
        int point = w->point[i];
        memcpy(x[i], mesh->x[part_node(w, point)], sizeof x[i]);
        if (w->all.arm != NULL)
            for (int k = 0; k < 3; k++) x[i][k] += w->all.arm[point].arm[k];
        radius[i] = w->radius[point];
    }
    for (int i = 0; i < part->ncarrier; i++) {
        memcpy(x[part->carrier[i][1]], mesh->x[part->carrier[i][0]], sizeof *x);
        radius[part->carrier[i][1]] = w->radius[part->carrier[i][0]];
    }
    part->x = x;
    part->radius = radius;
    picture->reference = (const double(*)[3])x;
    picture->radius = radius;
    return PCS_OK;
}

// Collects positions and radii of the nodes with obstacles on rank 0.
static pcs_status part_tell_carriers(pcs_system *self, fe_data *fe, const pcs_picture *picture, const int *own)
{
    const pcs_comm *comm = fe->share->layout.comm;
    fe_part *part = fe->part;
    PCS_TRY(comm->plan(comm, self->ctx, part->ncarrier, own, &part->carriers));
    double(*x)[3] = part->x + picture->npoint, *radius = part->radius + picture->npoint;
    comm->collect(comm, part->carriers, 3, x[0], x[0]);
    comm->collect(comm, part->carriers, 1, radius, radius);
    return PCS_OK;
}

static pcs_status part_place_obstacles(pcs_system *self, fe_data *fe, part_work *w, pcs_picture *picture,
                                       pcs_obstacle *obstacles, const fe_carried *carried)
{
    int nknown = picture->nobstacle - carried->count, count = part_list_carriers(picture, nknown, obstacles, NULL);
    int *nodes = pcs_scratch(NULL, (size_t)count, sizeof *nodes);
    int *own = pcs_scratch(NULL, (size_t)count + (size_t)carried->nown, sizeof *own);
    pcs_status status = PCS_OK;
    if (nodes == NULL || own == NULL) status = pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: the picture");
    for (int i = 0; i < picture->nstill && status == PCS_OK; i++) status = part_place_still(self, w, &obstacles[i]);
    if (status == PCS_OK) {
        part_list_carriers(picture, nknown, obstacles, nodes);
        status = part_take_carriers(self, carried, picture->npoint, nodes, count, own);
    }
    int nlisted = carried->list == NULL ? 0 : carried->count;
    for (int i = 0; i < nlisted; i++)
        obstacles[nknown + i].carrier = obstacles[nknown + i].end_node = picture->npoint + count + i;
    if (status == PCS_OK) status = part_take_points(self, fe, w, picture);
    status = pcs_comm_agree(self->ctx, status);
    if (status == PCS_OK) status = part_tell_carriers(self, fe, picture, own);
    pcs_scratch_free(nodes);
    pcs_scratch_free(own);
    return status;
}

// Returns the index among the cells shown of a cell given by its number in the whole mesh; -1 if shown elsewhere.
static int part_place(const fe_data *fe, const part_work *w, double number)
{
    int cell = part_find_cell(fe->model.mesh, (int)number);
    if (cell < 0) return -1;
    return w->place[cell] < w->ncell ? w->place[cell] : -1;
}

static void part_list_given(const fe_data *fe, const part_work *w, const double *number)
{
    fe_part *part = fe->part;
    for (int i = 0, count = 0; i < part->nall; i++) {
        int place = part_place(fe, w, number[i]);
        if (place < 0) continue;
        part->given[count][0] = i;
        part->given[count++][1] = place;
    }
}

// Finds which cells asked for by any rank are shown here, by a sum of the requests over all ranks.
static pcs_status part_find_given(pcs_system *self, const fe_data *fe, const part_work *w, int nfield)
{
    const pcs_comm *comm = fe->share->layout.comm;
    fe_part *part = fe->part;
    double *number = pcs_scratch(NULL, (size_t)part->nall, sizeof *number);
    pcs_status status = PCS_OK;
    if (number == NULL) status = pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: the picture");
    status = pcs_comm_agree(self->ctx, status);
    if (status == PCS_OK) {
        memset(number, 0, (size_t)part->nall * sizeof *number);
        for (int i = 0; i < w->nasked; i++) number[part->first + i] = pcs_mesh_cell_number(fe->model.mesh, w->asked[i]);
        for (int i = 0; i < w->nfar; i++) number[part->first + w->nasked + i] = w->far[i].number;
        comm->sum(comm, part->nall, number);
        for (int i = 0; i < part->nall; i++) part->ngiven += part_place(fe, w, number[i]) >= 0;
        part->given = pcs_take(self->ctx, (size_t)part->ngiven, sizeof *part->given, "the picture");
        part->values = pcs_take(self->ctx, (size_t)part->nall * (size_t)nfield, sizeof *part->values, "the picture");
        if (part->given == NULL || part->values == NULL) status = PCS_NO_MEMORY;
    }
    if (status == PCS_OK) part_list_given(fe, w, number);
    pcs_scratch_free(number);
    return status;
}

static pcs_status part_choose(pcs_system *self, fe_data *fe, part_work *w, pcs_picture *picture)
{
    PCS_TAKE(self->ctx, fe->part, 1, "the picture");
    w->all.npoint = fe->model.mesh->nnode;
    PCS_TRY(pcs_fe_split_points(self, fe, picture, &w->all));
    PCS_TRY(part_take_scratch(self, fe, w));
    part_choose_cells(fe, w);
    part_choose_points(fe, w);
    return part_ask_all(self, fe, w);
}

pcs_status pcs_fe_take_part(pcs_system *self, fe_data *fe, pcs_picture *picture, pcs_obstacle *obstacles,
                            const fe_carried *carried)
{
    part_work w = { 0 };
    pcs_status status = pcs_comm_agree(self->ctx, part_choose(self, fe, &w, picture));
    if (status == PCS_OK) status = part_find_far(self, fe, &w);
    if (status == PCS_OK) status = pcs_comm_agree(self->ctx, part_number(self, fe, &w, picture));
    if (status == PCS_OK) status = part_place_obstacles(self, fe, &w, picture, obstacles, carried);
    // All pieces have the same arrays.
    if (status == PCS_OK && pcs_system_max(self, w.largest) == 0.0) picture->radius = NULL;
    if (status == PCS_OK) part_count(fe, &w, fe->part->nasked, &fe->part->first, &fe->part->nall);
    if (status == PCS_OK) status = part_find_given(self, fe, &w, picture->nfield + fe->npair);
    part_free(&w);
    return status;
}

// Exchanges the fields of the cells that ranks ask for.
static void part_share_cells(const pcs_system *self, pcs_picture *picture)
{
    const fe_data *fe = self->data;
    const pcs_comm *comm = self->layout->comm;
    const fe_part *part = fe->part;
    size_t width = (size_t)(picture->nfield + fe->npair);
    if (part->nall == 0) return;
    memset(part->values, 0, (size_t)part->nall * width * sizeof *part->values);
    for (int i = 0; i < part->ngiven; i++)
        for (size_t k = 0; k < width; k++)
            part->values[(size_t)part->given[i][0] * width + k] = picture->fields[k][part->given[i][1]];
    comm->sum(comm, part->nall * (int)width, part->values);
    for (int i = 0; i < part->nasked; i++)
        for (size_t k = 0; k < width; k++)
            picture->fields[k][picture->ncell + i] = part->values[(size_t)(part->first + i) * width + k];
}

void pcs_fe_share_picture(const pcs_system *self, pcs_picture *picture)
{
    const fe_data *fe = self->data;
    const pcs_comm *comm = self->layout->comm;
    double(*const vectors[])[3] = { picture->displacement, picture->rotation };
    part_share_cells(self, picture);
    for (int i = 0; i < 2; i++)
        if (vectors[i] != NULL)
            comm->collect(comm, fe->part->carriers, 3, vectors[i][picture->npoint], vectors[i][picture->npoint]);
}
