// Fills pictures for ParaView: points, cells, displacements, velocities, the fields of elements, and what contacts,
// joints and cells show beside them.
//
// Each rank draws its own cells and their points, some of which other ranks draw as well. Observers put the pictures of
// ranks together by the numbers of cells and points in the whole model.
//
// Section forces at the nodes of bars and beams are smooth along a member, where those of cells have steps. Cells with
// sections make chains: at most one of them ends at a point (b) and at most one begins there (a). A force f has values
// at the first (s) and the second node (e) of cells of lengths L, in equilibrium with loads along them. What is left
// between those of two cells that meet is of inertia, and as much acts along the cells; of elements that know forces in
// their middle alone, s = e, all is of that kind, and f is linear from middle to middle:
//   f = (e_b L_a + s_a L_b)/(L_a + L_b);    at an end  f = s_1 + (e_1 - s_2) L_1/(L_1 + L_2),  of one cell alone s_1
// The bending moment is the mean of the moments at the ends of the cells that meet: with its sign in the plane, its
// size in space. The bending stress follows from the moments at the node (elements/section.h).
//
// A node at which members branch or meet head to head has several values: every cell there gets its own point, and its
// chain ends. So do cells that end at arms from their nodes.
//
// The rank that owns a node has all cells there, and those next to them. It takes the fields of cells that other ranks
// draw from these, finds the section forces at the node's points, and gives them to ranks that draw these points, too.

#include "core/rotation.h"
#include "elements/beam.h"
#include "elements/section.h"
#include "fe/data.h"

#include <stdlib.h>
#include <string.h>

enum { FORCES_MAX = 10 };

// Lists forces known at mid-cell and, for some elements, at the ends. shear_force is signed only if there is no
// shear_y.
static const char *const forces_linear[] = { "axial_force", "stress",   "torque",      "shear_y", "shear_z",
                                             "moment_y",    "moment_z", "shear_force", NULL };

static const char *const forces_pairs[][2] = {
    { "axial_force", "axial_start" }, { "stress", "stress_start" },   { "shear_force", "shear_start" },
    { "shear_y", "shear_y_start" },   { "shear_z", "shear_z_start" }, { "moment_y", "moment_y_start" },
    { "moment_z", "moment_z_start" },
};

// Describes a point that is fixed to its node.
typedef struct rider {
    double arm[3];  // m, in the reference state
    bool is_finite; // true for finite rotations
} rider;

// Holds chains of cells with sections, for section forces at points.
typedef struct chains {
    int *before, *after;   // [npoint] cells that end and begin at the point, -1 if none
    double *length;        // [ncell + ncopy] m
    int nlinear;           // forces known at mid-cell
    int field[FORCES_MAX]; // their columns in the picture
    int pair[FORCES_MAX];  // columns of their values at the first nodes of cells, followed by those at the second
                           // nodes; -1 if only known at mid-cell
    int start, end;        // columns of the moments at the ends, -1 if absent
    int moment[2];         // indices, among the forces known at mid-cell, of the moments about y and z; -1 if absent
} chains;

// Holds what this rank draws; constant.
struct fe_drawing {
    int ncell, ncopy;            // cells shown, and cells that other ranks show
    int *cell;                   // [ncell + ncopy] their numbers in the mesh
    int *place;                  // [mesh ncell] index in `cell`, -1 if absent
    int (*ends)[2];              // [ncell + ncopy] their points
    int npoint, nshown;          // points here; those shown come first
    int *node;                   // [npoint] node of each point
    rider *arm;                  // [npoint] NULL if all points are at their nodes
    double (*spin)[3];           // [nshown] angular velocities as in v; NULL if unused
    bool has_members;            // section forces are drawn at points
    bool has_arms;               // some cells end at arms from their nodes
    int *field_of;               // [ngroup * PCS_MAX_CELL_FIELDS] column of the picture, -1 if not drawn
    int *pair_of;                // the same for fields without values at ends: first column of their pair
    int npair;                   // columns after the fields of the picture, in pairs: values at the ends of cells
    chains *chains;              // NULL if absent
    void *copies;                // plan of the exchange of cells; NULL in one process
    double *own, *copy;          // [ncell], [ncopy] work space for it
    int ncarrier, (*carrier)[2]; // [ncarrier] nodes here that carry obstacles, and their places
    void *carriers;              // plan of their collection on the rank that writes, NULL in one process
};
typedef struct fe_drawing drawing;

// Holds all points of the mesh of this rank, in scratch memory, while the picture is made.
typedef struct points {
    int npoint;
    int (*cells)[2]; // [mesh ncell] points of the cells
    int *node;       // [npoint]
    int (*maker)[3]; // [npoint - nnode] 0 at a branch, 1 at an arm; cell and end that it was made for
    rider *arm;      // [npoint]
    int *local;      // [npoint] index among the points of the drawing
    double *radius;  // [npoint] m
} points;

static pcs_status picture_no_memory(const pcs_system *self)
{
    return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: the picture");
}

// Returns the name of a field of the middle of cells at their first nodes, NULL if it is not known there.
static const char *forces_pair_name(const char *field)
{
    for (size_t i = 0; i < sizeof forces_pairs / sizeof forces_pairs[0]; i++)
        if (strcmp(forces_pairs[i][0], field) == 0) return forces_pairs[i][1];
    return NULL;
}

// Returns the column of a name from `first` to `end`, or -1.
static int picture_find(const char *const *names, int first, int end, const char *name)
{
    for (int k = first; k < end && name != NULL; k++)
        if (strcmp(names[k], name) == 0) return k;
    return -1;
}

// Returns true if a cell of the mesh has section forces.
static bool picture_has_section(const fe_data *fe, int cell)
{
    const pcs_element_ops *ops = fe->batch_of_cell[cell] < 0 ? NULL : fe->model.groups[fe->batch_of_cell[cell]].ops;
    const int *node = fe->model.mesh->cell[cell];
    return ops != NULL && (ops->section_offset != 0 || ops->area != NULL) && node[0] != node[1];
}

// Returns true if this rank draws a cell of the mesh.
static bool picture_has_cell(const fe_data *fe, int cell)
{
    if (fe->batch_of_cell[cell] >= 0) return fe->place_of_cell[cell] >= 0;
    return pcs_fe_owns(fe, fe->model.mesh->cell[cell][0]);
}

static void picture_span(const pcs_mesh *mesh, int cell, double span[3])
{
    const double *a = mesh->x[mesh->cell[cell][0]], *b = mesh->x[mesh->cell[cell][1]];
    for (int k = 0; k < 3; k++) span[k] = b[k] - a[k];
}

// Finds the arms, m, from the nodes of a cell to its ends. Returns true if they rotate finitely.
static bool picture_arms(const fe_data *fe, int cell, double arm[2][3])
{
    int group = fe->batch_of_cell[cell];
    double span[3];
    memset(arm, 0, 2 * sizeof arm[0]);
    if (group < 0 || fe->model.groups[group].ops->arms == NULL) return false;
    picture_span(fe->model.mesh, cell, span);
    return fe->model.groups[group].ops->arms(fe->model.groups[group].params, span, arm);
}

static bool picture_has_arms(const fe_data *fe)
{
    for (int c = 0; c < fe->model.mesh->ncell; c++) {
        double arm[2][3];
        (void)picture_arms(fe, c, arm);
        if (pcs_norm3(arm[0]) > 0.0 || pcs_norm3(arm[1]) > 0.0) return true;
    }
    return false;
}

// Points

// Counts the cells with sections that begin [0] and end [1] at every node. Returns true if members branch at some own
// node, and finds whether members have more cells than one: else values at points would only repeat those of cells.
static bool points_count(const pcs_system *self, int (*meeting)[2])
{
    const fe_data *fe = self->data;
    const pcs_mesh *mesh = fe->model.mesh;
    double sums[2] = { 0.0 }; // nodes within members, and branches
    for (int c = 0; c < mesh->ncell; c++)
        for (int k = 0; k < 2 && picture_has_section(fe, c); k++) meeting[mesh->cell[c][k]][k]++;
    for (int i = 0; i < mesh->nnode; i++) {
        if (!pcs_fe_owns(fe, i)) continue;
        sums[0] += meeting[i][0] == 1 && meeting[i][1] == 1;
        sums[1] += meeting[i][0] > 1 || meeting[i][1] > 1;
    }
    pcs_system_sum(self, 2, sums);
    fe->drawing->has_members = sums[0] >= sums[1];
    return sums[1] > 0.0 && fe->drawing->has_members;
}

// Adds a point at a node, for an end of a cell.
static int points_add(const fe_data *fe, points *p, int kind, int cell, int end)
{
    int point = p->npoint++, *maker = p->maker[point - fe->model.mesh->nnode];
    p->node[point] = fe->model.mesh->cell[cell][end];
    memcpy(maker, (int[3]){ kind, cell, end }, sizeof *p->maker);
    return point;
}

// Gives cells at branches points of their own; the first cell there keeps the node.
static void points_split(const fe_data *fe, int (*meeting)[2], points *p)
{
    const pcs_mesh *mesh = fe->model.mesh;
    for (int c = 0; c < mesh->ncell; c++)
        for (int k = 0; k < 2 && picture_has_section(fe, c); k++) {
            int *own = meeting[mesh->cell[c][k]];
            if (own[0] >= 0 && own[0] <= 1 && own[1] <= 1) continue;
            if (own[0] < 0) p->cells[c][k] = points_add(fe, p, 0, c, k);
            own[0] = -1; // taken
        }
}

// Returns the point at an arm from point `from`, which bars and beams that meet there share; `reached` is the one for
// each earlier point, -1 if none.
static int points_at_arm(const fe_data *fe, points *p, int cell, int end, const rider *at, int *reached)
{
    int from = p->cells[cell][end], shared = picture_has_section(fe, cell) ? reached[from] : -1;
    const rider *other = shared < 0 ? NULL : &p->arm[shared];
    if (other != NULL && other->is_finite == at->is_finite && memcmp(other->arm, at->arm, sizeof at->arm) == 0)
        return shared;
    int point = points_add(fe, p, 1, cell, end);
    p->arm[point] = *at;
    if (picture_has_section(fe, cell)) reached[from] = point;
    return point;
}

// Adds points at the ends of cells with arms.
static void points_reach(const fe_data *fe, points *p, int *reached)
{
    for (int i = 0; i < p->npoint; i++) reached[i] = -1;
    for (int c = 0; c < fe->model.mesh->ncell; c++) {
        double arm[2][3];
        bool is_finite = picture_arms(fe, c, arm), is_vertex = p->cells[c][0] == p->cells[c][1];
        for (int k = 0; k < 2; k++) {
            rider at = { .is_finite = is_finite };
            if (pcs_norm3(arm[k]) == 0.0) continue;
            memcpy(at.arm, arm[k], sizeof at.arm);
            if (k == 1 && is_vertex) p->cells[c][1] = p->cells[c][0];
            else p->cells[c][k] = points_at_arm(fe, p, c, k, &at, reached);
        }
    }
}

static void points_free(points *p)
{
    pcs_scratch_free(p->cells);
    pcs_scratch_free(p->node);
    pcs_scratch_free(p->maker);
    pcs_scratch_free(p->arm);
    pcs_scratch_free(p->radius);
}

static pcs_status points_take(const pcs_system *self, size_t most, points *p)
{
    const fe_data *fe = self->data;
    size_t ncell = (size_t)fe->model.mesh->ncell;
    p->cells = pcs_scratch(NULL, ncell, sizeof *p->cells);
    p->node = pcs_scratch(NULL, 2 * most, sizeof *p->node);
    p->maker = pcs_scratch(NULL, most - (size_t)fe->model.mesh->nnode, sizeof *p->maker);
    p->arm = pcs_scratch(NULL, fe->drawing->has_arms ? most : 0, sizeof *p->arm);
    p->radius = pcs_scratch(NULL, most, sizeof *p->radius);
    if (p->cells == NULL || p->node == NULL || p->maker == NULL || p->arm == NULL || p->radius == NULL)
        return picture_no_memory(self);
    p->local = p->node + most;
    memcpy(p->cells, fe->model.mesh->cell, ncell * sizeof *p->cells);
    memset(p->radius, 0, most * sizeof *p->radius);
    if (fe->drawing->has_arms) memset(p->arm, 0, most * sizeof *p->arm);
    return PCS_OK;
}

// Lists the nodes, then points of cells that meet at branches or end at arms from their nodes.
static pcs_status points_list(const pcs_system *self, points *p)
{
    const fe_data *fe = self->data;
    size_t nnode = (size_t)fe->model.mesh->nnode, ncell = (size_t)fe->model.mesh->ncell;
    int(*meeting)[2] = pcs_scratch(NULL, nnode, sizeof *meeting);
    PCS_TRY(pcs_agree(self->ctx, meeting == NULL ? picture_no_memory(self) : PCS_OK));
    memset(meeting, 0, nnode * sizeof *meeting);
    bool is_split = points_count(self, meeting);
    size_t copies = (is_split ? 2U : 0U) + (fe->drawing->has_arms ? 2U : 0U); // of a cell, at the most
    pcs_status status = points_take(self, nnode + copies * ncell, p);
    if (status == PCS_OK) {
        p->npoint = fe->model.mesh->nnode;
        for (int i = 0; i < p->npoint; i++) p->node[i] = i;
        if (is_split) points_split(fe, meeting, p);
        if (fe->drawing->has_arms) points_reach(fe, p, p->local);
    }
    pcs_scratch_free(meeting);
    return pcs_agree(self->ctx, status);
}

// Cells and points of the drawing

// Returns true if section forces of own nodes need a cell of another rank, or if that needs them.
static bool drawing_needs(const fe_data *fe, int cell)
{
    const pcs_mesh_share *share = fe->model.mesh->share;
    const int *node = fe->model.mesh->cell[cell];
    if (share == NULL || !fe->drawing->has_members) return false;
    bool is_near = picture_has_section(fe, cell) && (share->is_kept[node[0]] || share->is_kept[node[1]]);
    return is_near || pcs_fe_owns(fe, node[0]) || pcs_fe_owns(fe, node[1]);
}

// Lists own cells, then those of other ranks, in the order of the mesh.
static pcs_status drawing_take_cells(pcs_context *ctx, fe_data *fe)
{
    drawing *d = fe->drawing;
    int count = 0, ncell = fe->model.mesh->ncell;
    PCS_TAKE(ctx, d->place, ncell, "the picture");
    for (int c = 0; c < ncell; c++) d->place[c] = -1;
    for (int c = 0; c < ncell; c++)
        if (picture_has_cell(fe, c)) d->place[c] = count++;
    d->ncell = count;
    for (int c = 0; c < ncell; c++)
        if (d->place[c] < 0 && drawing_needs(fe, c)) d->place[c] = count++;
    d->ncopy = count - d->ncell;
    PCS_TAKE(ctx, d->cell, count, "the picture");
    PCS_TAKE(ctx, d->ends, count, "the picture");
    for (int c = 0; c < ncell; c++)
        if (d->place[c] >= 0) d->cell[d->place[c]] = c;
    return PCS_OK;
}

// Numbers the points: first those shown, which own cells have, or own nodes without cells; then all others.
static void drawing_number_points(const fe_data *fe, points *p)
{
    enum { UNKNOWN = -1, ELSEWHERE = -2, HERE = -3 };
    drawing *d = fe->drawing;
    for (int i = 0; i < p->npoint; i++) p->local[i] = UNKNOWN;
    for (int c = 0; c < fe->model.mesh->ncell; c++)
        for (int end = 0; end < 2; end++) {
            int *found = &p->local[p->cells[c][end]];
            if (picture_has_cell(fe, c)) *found = HERE;
            else if (*found == UNKNOWN) *found = ELSEWHERE;
        }
    for (int i = 0; i < p->npoint; i++)
        if (p->local[i] == HERE || (p->local[i] == UNKNOWN && pcs_fe_owns(fe, p->node[i]))) p->local[i] = d->nshown++;
    d->npoint = d->nshown;
    for (int i = 0; i < p->npoint; i++)
        if (p->local[i] < 0) p->local[i] = d->npoint++;
}

// Fills the points of cells, the nodes and arms of points, and their positions and radii, m.
static pcs_status drawing_take_points(pcs_system *self, fe_data *fe, const points *p, double (**place)[3],
                                      double **radius)
{
    drawing *d = fe->drawing;
    const pcs_mesh *mesh = fe->model.mesh;
    PCS_TAKE(self->ctx, d->node, p->npoint, "the picture");
    PCS_TAKE(self->ctx, *place, d->nshown, "the picture");
    PCS_TAKE(self->ctx, *radius, d->nshown, "the picture");
    if (d->has_arms) PCS_TAKE(self->ctx, d->arm, p->npoint, "the picture");
    for (int i = 0; i < d->ncell + d->ncopy; i++)
        for (int end = 0; end < 2; end++) d->ends[i][end] = p->local[p->cells[d->cell[i]][end]];
    for (int i = 0; i < p->npoint; i++) {
        int at = p->local[i], node = p->node[i];
        d->node[at] = node;
        if (d->has_arms) d->arm[at] = p->arm[i];
        if (at >= d->nshown) continue;
        (*radius)[at] = p->radius[i];
        for (int k = 0; k < 3; k++) (*place)[at][k] = mesh->x[node][k] + (d->has_arms ? p->arm[i].arm[k] : 0.0);
    }
    return PCS_OK;
}

// Radii and sizes are NULL if no cell has a section, on any rank.
static pcs_status drawing_take_shapes(pcs_system *self, fe_data *fe, points *p, pcs_picture *picture)
{
    const drawing *d = fe->drawing;
    double(*x)[3] = NULL, *radius = NULL, (*size)[2];
    double largest = pcs_fe_find_radii(fe, (const int(*)[2])p->cells, p->radius);
    drawing_number_points(fe, p);
    PCS_TRY(drawing_take_points(self, fe, p, &x, &radius));
    PCS_TAKE(self->ctx, size, picture->is_piece ? 0 : d->ncell, "the picture");
    bool has_rectangles = !picture->is_piece && pcs_fe_find_rectangles(fe, d->ncell, d->cell, size);
    picture->npoint = d->nshown;
    picture->ncell = d->ncell;
    picture->cells = (const int(*)[2])d->ends;
    picture->cell_numbers = d->cell;
    picture->reference = (const double(*)[3])x;
    if (pcs_system_max(self, largest) > 0.0) picture->radius = radius;
    if (pcs_system_max(self, has_rectangles) > 0.0) picture->section_size = (const double(*)[2])size;
    return PCS_OK;
}

// Plans the exchange of the fields of cells: finds the indices of copies among own cells, rank after rank, by a
// register of all cells of which each rank keeps an equal part.
static pcs_status drawing_plan(pcs_system *self, fe_data *fe, int nall)
{
    drawing *d = fe->drawing;
    const pcs_comm *comm = self->layout->comm;
    int begin, all, count = d->ncell + d->ncopy;
    int nregister = pcs_comm_first(comm, comm->rank + 1, nall) - pcs_comm_first(comm, comm->rank, nall);
    void *put, *get;
    int *number = pcs_scratch(NULL, (size_t)count, sizeof *number);
    double *entry = pcs_scratch(NULL, (size_t)nregister + (size_t)count, sizeof *entry), *value = entry + nregister;
    pcs_status status = number == NULL || entry == NULL ? picture_no_memory(self) : PCS_OK;
    status = pcs_agree(self->ctx, status);
    if (status == PCS_OK) status = pcs_comm_begin(self->ctx, comm, d->ncell, &begin, &all);
    int nlisted = status == PCS_OK ? count : 0;
    for (int i = 0; i < nlisted; i++) {
        number[i] = pcs_mesh_cell_number(fe->model.mesh, d->cell[i]);
        value[i] = begin + i;
    }
    if (status == PCS_OK) status = comm->plan_copies(comm, self->ctx, nregister, d->ncell, number, &put);
    if (status == PCS_OK) status = comm->plan_copies(comm, self->ctx, nregister, d->ncopy, number + d->ncell, &get);
    if (status == PCS_OK) {
        memset(entry, 0, (size_t)nregister * sizeof *entry);
        comm->return_copies(comm, put, value, entry);
        comm->take_copies(comm, get, entry, value);
        for (int i = 0; i < d->ncopy; i++) number[i] = (int)value[i];
        status = comm->plan_copies(comm, self->ctx, d->ncell, d->ncopy, number, &d->copies);
    }
    pcs_scratch_free(number);
    pcs_scratch_free(entry);
    return status;
}

// Numbering over all ranks, in the order of one process

// Discs and arms of cells, and points that repeat nodes, each known to ranks that have the cell: kind, and three
// numbers that give its place in the order of all of a kind, then the node's number and an arm.
enum { LISTED_DISC, LISTED_ARM, LISTED_POINT };
enum { KEYS = 4, NODE = KEYS, ARM, RECORD = ARM + 3 * (int)(sizeof(double) / sizeof(int)) };

// Holds records of this rank, in scratch memory.
typedef struct listing {
    int count, room;
    int (*record)[RECORD];    // [count]
    int *node;                // [count] local nodes
    int *number;              // [count] number among all, in order and without repetitions
    int nall, (*all)[RECORD]; // number of all; on the rank that writes all of them, else NULL
} listing;

static void listing_free(listing *l)
{
    pcs_scratch_free(l->record);
    pcs_scratch_free(l->node);
    pcs_scratch_free(l->number);
    pcs_scratch_free(l->all);
}

static pcs_status listing_add(const pcs_system *self, listing *l, const int key[KEYS], int node, const double arm[3])
{
    const pcs_mesh *mesh = ((const fe_data *)self->data)->model.mesh;
    if (l->count == l->room) {
        int room = 2 * l->room + 64;
        void *record = pcs_scratch(l->record, (size_t)room, sizeof *l->record);
        if (record != NULL) l->record = record;
        int *nodes = pcs_scratch(l->node, (size_t)room, sizeof *nodes);
        if (nodes != NULL) l->node = nodes;
        if (record == NULL || nodes == NULL) return picture_no_memory(self);
        l->room = room;
    }
    int *to = l->record[l->count];
    memcpy(to, key, KEYS * sizeof *to);
    memcpy(to + ARM, arm, 3 * sizeof *arm);
    to[NODE] = pcs_mesh_node_number(mesh, node);
    l->node[l->count++] = node;
    return PCS_OK;
}

static int listing_compare(const void *a, const void *b)
{
    const int *x = *(const int *const *)a, *y = *(const int *const *)b;
    for (int k = 0; k < KEYS; k++)
        if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
    return 0;
}

// Sorts `count` records, gives equal ones the same number, and lists each once.
static pcs_status listing_sort(const pcs_system *self, int (*record)[RECORD], int count, int *number, listing *out)
{
    const int **sorted = pcs_scratch(NULL, (size_t)count, sizeof *sorted);
    out->all = pcs_scratch(NULL, (size_t)count, sizeof *out->all);
    bool is_there = sorted != NULL && out->all != NULL;
    if (!is_there) count = 0;
    for (int i = 0; i < count; i++) sorted[i] = record[i];
    if (count > 0) qsort(sorted, (size_t)count, sizeof *sorted, listing_compare);
    for (int i = 0; i < count; i++) {
        if (i == 0 || listing_compare(&sorted[i - 1], &sorted[i]) != 0)
            memcpy(out->all[out->nall++], sorted[i], sizeof *out->all);
        number[(sorted[i] - record[0]) / RECORD] = out->nall - 1;
    }
    pcs_scratch_free(sorted);
    return is_there ? PCS_OK : picture_no_memory(self);
}

// Sends the records of all ranks to the first one, which returns their numbers.
static pcs_status listing_send(const pcs_system *self, listing *l, int *count, pcs_numbers *received)
{
    const pcs_comm *comm = self->layout->comm;
    pcs_numbers answer = { 0 };
    int total = 0, *start = count + comm->size;
    memset(count, 0, 2 * (size_t)comm->size * sizeof *count);
    count[0] = l->count * RECORD;
    PCS_TRY(comm->exchange(comm, self->ctx, count, start, l->count == 0 ? NULL : l->record[0], received));
    for (int r = 0; r < comm->size; r++) {
        start[r] = total;
        count[r] = received->count[r] / RECORD;
        total += count[r];
    }
    int *number = pcs_scratch(NULL, (size_t)total, sizeof *number);
    pcs_status status = number == NULL ? picture_no_memory(self) : PCS_OK;
    if (status == PCS_OK && comm->rank == 0)
        status = listing_sort(self, (int(*)[RECORD])received->value, total, number, l);
    status = pcs_agree(self->ctx, status);
    if (status == PCS_OK) status = comm->exchange(comm, self->ctx, count, start, number, &answer);
    if (status == PCS_OK) l->nall = (int)pcs_system_max(self, l->nall);
    l->number = answer.value;
    pcs_scratch_free(answer.count);
    pcs_scratch_free(number);
    return status;
}

// Numbers the records as one process would, in which they are in order.
static pcs_status listing_number(const pcs_system *self, listing *l)
{
    pcs_numbers received = { 0 };
    if (self->layout == NULL) {
        l->number = pcs_scratch(NULL, (size_t)l->count, sizeof *l->number);
        return l->number == NULL ? picture_no_memory(self) : listing_sort(self, l->record, l->count, l->number, l);
    }
    int *count = pcs_scratch(NULL, 2 * (size_t)self->layout->comm->size, sizeof *count);
    pcs_status status = pcs_agree(self->ctx, count == NULL ? picture_no_memory(self) : PCS_OK);
    if (status == PCS_OK) status = listing_send(self, l, count, &received);
    pcs_scratch_free(count);
    pcs_scratch_free(received.count);
    pcs_scratch_free(received.value);
    return status;
}

// Lists the discs of an element at a node.
static pcs_status listing_add_discs(const pcs_system *self, int group, int cell, listing *l)
{
    const fe_data *fe = self->data;
    const pcs_fe_group *g = &fe->model.groups[group];
    const double none[3] = { 0.0 };
    int place = fe->share == NULL ? fe->place_of_cell[cell] : fe->share->index_of_cell[cell];
    if (place < 0) return pcs_fail(self->ctx, PCS_UNSUPPORTED, "discs are shown in the order of all cells");
    for (int part = 0;; part++) {
        pcs_obstacle unused = { 0 };
        const int key[KEYS] = { LISTED_DISC, group, place, part };
        if (!g->ops->show(g->params, part, &unused)) return PCS_OK;
        PCS_TRY(listing_add(self, l, key, fe->model.mesh->cell[cell][0], none));
    }
}

// Lists rods from the nodes of a cell to its ends, if these differ; arms of bars and beams are part of the cells.
static pcs_status listing_add_arms(const pcs_system *self, int cell, listing *l)
{
    const fe_data *fe = self->data;
    const int *node = fe->model.mesh->cell[cell];
    double arm[2][3];
    if (!picture_has_cell(fe, cell) || picture_has_section(fe, cell)) return PCS_OK;
    (void)picture_arms(fe, cell, arm);
    for (int k = 0; k < (node[0] == node[1] ? 1 : 2); k++) {
        const int key[KEYS] = { LISTED_ARM, 0, pcs_mesh_cell_number(fe->model.mesh, cell), k };
        if (pcs_norm3(arm[k]) > 0.0) PCS_TRY(listing_add(self, l, key, node[k], arm[k]));
    }
    return PCS_OK;
}

// Lists discs by group and the order of its set, then arms by the number of the cell.
static pcs_status listing_add_cells(const pcs_system *self, listing *l)
{
    const fe_data *fe = self->data;
    for (int g = 0; g < fe->model.ngroup; g++)
        for (int c = 0; c < fe->batches[g].ncell && fe->model.groups[g].ops->show != NULL; c++)
            PCS_TRY(listing_add_discs(self, g, fe->batches[g].cells[c], l));
    int narmed = fe->drawing->has_arms ? fe->model.mesh->ncell : 0;
    for (int c = 0; c < narmed; c++) PCS_TRY(listing_add_arms(self, c, l));
    return PCS_OK;
}

// Lists the points shown that repeat nodes.
static pcs_status listing_add_points(const pcs_system *self, const points *p, listing *l)
{
    const fe_data *fe = self->data;
    const double none[3] = { 0.0 };
    int nnode = fe->model.mesh->nnode;
    for (int i = nnode; i < p->npoint; i++) {
        const int *maker = p->maker[i - nnode];
        const int key[KEYS] = { LISTED_POINT, maker[0], pcs_mesh_cell_number(fe->model.mesh, maker[1]), maker[2] };
        if (p->local[i] < fe->drawing->nshown) PCS_TRY(listing_add(self, l, key, p->local[i], none));
    }
    return PCS_OK;
}

// Numbers the points that are shown in the order of one process, unless each rank writes its own.
static pcs_status drawing_number_all(pcs_system *self, const fe_data *fe, const points *p, pcs_picture *picture)
{
    listing l = { 0 };
    int *number;
    picture->nall_point = picture->npoint;
    if (self->layout == NULL || picture->is_piece) return PCS_OK;
    pcs_status status = pcs_agree(self->ctx, listing_add_points(self, p, &l));
    if (status == PCS_OK) status = listing_number(self, &l);
    number = pcs_take(self->ctx, (size_t)picture->npoint, sizeof *number, "the picture");
    status = pcs_agree(self->ctx, status == PCS_OK && number == NULL ? PCS_NO_MEMORY : status);
    if (status == PCS_OK) {
        for (int i = 0; i < picture->npoint; i++)
            number[i] = pcs_mesh_node_number(fe->model.mesh, fe->drawing->node[i]);
        for (int i = 0; i < l.count; i++) number[l.node[i]] = picture->nall_node + l.number[i];
        picture->nall_point = picture->nall_node + l.nall;
        picture->point_numbers = number;
    }
    listing_free(&l);
    return status;
}

// Obstacles

// Adds an obstacle, if there is one and its is_carried is as given, to a list. Only counts it if the list is NULL.
static void obstacles_add(const pcs_obstacle *o, bool is_carried, pcs_obstacle *list, int *count)
{
    if (o->kind == PCS_OBSTACLE_NONE || o->is_carried != is_carried) return;
    if (list != NULL) list[*count] = *o;
    (*count)++;
}

// Adds what contacts and joints show, which all ranks know: obstacles, arms of points that touch, discs.
static void obstacles_list(const pcs_system *self, bool is_carried, pcs_obstacle *list, int *count)
{
    const fe_data *fe = self->data;
    for (int k = 0; k < self->ncontact; k++) {
        const pcs_table_source *own = &self->row_set.table->sources[k];
        const pcs_row_source *source = own->model;
        for (int part = 0; source->ops->show != NULL; part++) {
            pcs_obstacle o = { .contact = k, .is_carried = k >= fe->model.ncontact };
            if (!source->ops->show(source->params, own->instance, &fe->map, part, &o)) break;
            obstacles_add(&o, is_carried, list, count);
        }
    }
}

// Replaces the nodes that may touch a fixed obstacle by the points that are shown here.
static pcs_status obstacles_place(pcs_system *self, const points *p, int nshown, pcs_obstacle *o)
{
    int *list, count = 0;
    PCS_TAKE(self->ctx, list, o->nnode, "the picture");
    for (int i = 0; i < o->nnode; i++)
        if (p->local[o->nodes[i]] < nshown) list[count++] = p->local[o->nodes[i]];
    o->nodes = list;
    o->nnode = count;
    return PCS_OK;
}

// Notes that a node carries an obstacle, at this place among the carriers.
static void obstacles_carry(drawing *d, int node, int place)
{
    d->carrier[d->ncarrier][0] = node;
    d->carrier[d->ncarrier++][1] = place;
}

// Converts a record to an obstacle.
static void obstacles_show(const fe_data *fe, const int *record, pcs_obstacle *o)
{
    const pcs_fe_group *group = &fe->model.groups[record[1]];
    *o = (pcs_obstacle){ .kind = PCS_OBSTACLE_ROD, .contact = -1, .is_carried = true };
    if (record[0] == LISTED_DISC) (void)group->ops->show(group->params, record[KEYS - 1], o);
    else memcpy(o->end, record + ARM, sizeof o->end);
}

// Gives each obstacle that nodes carry two places among the carriers: of its node, and of the node at its end.
static void obstacles_find_carriers(const fe_data *fe, const listing *cells, int nknown, pcs_picture *picture,
                                    pcs_obstacle *o)
{
    for (int i = picture->nstill; i < nknown; i++) {
        int place = 2 * (i - picture->nstill);
        if (o[i].carrier >= 0 && pcs_fe_owns(fe, o[i].carrier)) obstacles_carry(fe->drawing, o[i].carrier, place);
        if (o[i].kind == PCS_OBSTACLE_ROD && pcs_fe_owns(fe, o[i].end_node))
            obstacles_carry(fe->drawing, o[i].end_node, place + 1);
        o[i].carrier = o[i].carrier < 0 ? -1 : place;
        o[i].end_node = place + 1;
    }
    int nlisted = cells->all == NULL ? 0 : cells->nall, first = 2 * (nknown - picture->nstill);
    for (int i = 0; i < nlisted; i++) {
        obstacles_show(fe, cells->all[i], &o[nknown + i]);
        o[nknown + i].carrier = o[nknown + i].end_node = first + 2 * i;
    }
    for (int i = 0; i < cells->count; i++) obstacles_carry(fe->drawing, cells->node[i], first + 2 * cells->number[i]);
}

// Takes what carriers have: their places in the list of all on the rank that writes, else one behind the other.
static pcs_status obstacles_take_carriers(pcs_system *self, const fe_data *fe, const points *p, pcs_picture *picture)
{
    drawing *d = fe->drawing;
    bool is_root = pcs_is_root(self->ctx);
    int count = is_root ? 2 * (picture->nobstacle - picture->nstill) : d->ncarrier;
    double(*x)[3], *radius;
    PCS_TAKE(self->ctx, x, count, "the picture");
    PCS_TAKE(self->ctx, radius, count, "the picture");
    PCS_TAKE(self->ctx, picture->carrier_displacement, count, "the picture");
    PCS_TAKE(self->ctx, picture->carrier_rotation, count, "the picture");
    for (int i = 0; i < d->ncarrier; i++) {
        int node = d->carrier[i][0], at = is_root ? d->carrier[i][1] : i;
        memcpy(x[at], fe->model.mesh->x[node], sizeof *x);
        radius[at] = p->radius[node];
    }
    picture->carrier_reference = x;
    picture->carrier_radius = radius;
    return PCS_OK;
}

// Plans the collection of carriers on the rank that writes, and collects what does not change.
static pcs_status obstacles_collect(pcs_system *self, drawing *d, pcs_picture *picture)
{
    if (self->layout == NULL) return PCS_OK;
    const pcs_comm *comm = self->layout->comm;
    int *place = pcs_scratch(NULL, (size_t)d->ncarrier, sizeof *place);
    pcs_status status = pcs_agree(self->ctx, place == NULL ? picture_no_memory(self) : PCS_OK);
    int nknown = status == PCS_OK ? d->ncarrier : 0;
    for (int i = 0; i < nknown; i++) {
        place[i] = d->carrier[i][1];
        if (comm->rank > 0) d->carrier[i][1] = i;
    }
    if (status == PCS_OK) status = comm->plan(comm, self->ctx, d->ncarrier, place, &d->carriers);
    if (status == PCS_OK) {
        comm->collect(comm, d->carriers, 3, picture->carrier_reference[0], picture->carrier_reference[0]);
        comm->collect(comm, d->carriers, 1, picture->carrier_radius, picture->carrier_radius);
    }
    pcs_scratch_free(place);
    return status;
}

static pcs_status obstacles_take(pcs_system *self, fe_data *fe, const points *p, const listing *cells,
                                 pcs_picture *picture)
{
    pcs_obstacle *list;
    int nknown = 0;
    obstacles_list(self, false, NULL, &nknown);
    picture->nstill = nknown;
    obstacles_list(self, true, NULL, &nknown);
    picture->nobstacle = nknown + cells->nall; // checkpoints count them on all ranks
    PCS_TAKE(self->ctx, list, picture->nobstacle, "the picture");
    PCS_TAKE(self->ctx, fe->drawing->carrier, 2 * nknown + cells->count, "the picture");
    nknown = 0;
    obstacles_list(self, false, list, &nknown);
    obstacles_list(self, true, list, &nknown);
    for (int i = 0; i < picture->nstill; i++) PCS_TRY(obstacles_place(self, p, fe->drawing->nshown, &list[i]));
    obstacles_find_carriers(fe, cells, nknown, picture, list);
    picture->obstacles = list;
    return obstacles_take_carriers(self, fe, p, picture);
}

// Finds obstacles, and nodes that carry some.
static pcs_status picture_find_obstacles(pcs_system *self, fe_data *fe, const points *p, pcs_picture *picture)
{
    listing cells = { 0 };
    pcs_status status = pcs_agree(self->ctx, listing_add_cells(self, &cells));
    if (status == PCS_OK) status = listing_number(self, &cells);
    if (status == PCS_OK) status = pcs_agree(self->ctx, obstacles_take(self, fe, p, &cells, picture));
    listing_free(&cells);
    return status == PCS_OK ? obstacles_collect(self, fe->drawing, picture) : status;
}

// Section forces

static void forces_name(const drawing *d, const pcs_picture *picture, chains *c, const char **names)
{
    const char *const *known = picture->field_names;
    int nfield = picture->nfield;
    bool has_shear_y = picture_find(known, 0, nfield, "shear_y") >= 0;
    for (int i = 0; forces_linear[i] != NULL; i++) {
        const char *name = forces_linear[i];
        int field = picture_find(known, 0, nfield, name);
        if (field < 0 || (has_shear_y && strcmp(name, "shear_force") == 0)) continue;
        c->pair[c->nlinear] = picture_find(known, 0, nfield + d->npair, forces_pair_name(name));
        c->field[c->nlinear] = field;
        names[c->nlinear++] = name;
    }
    c->start = picture_find(known, 0, nfield, "moment_start");
    c->end = picture_find(known, 0, nfield, "moment_end");
    c->moment[0] = picture_find(names, 0, c->nlinear, "moment_y");
    c->moment[1] = picture_find(names, 0, c->nlinear, "moment_z");
}

// Finds the cells that end and begin at every point.
static void forces_link(const fe_data *fe, chains *c)
{
    const drawing *d = fe->drawing;
    for (int i = 0; i < d->npoint; i++) c->before[i] = c->after[i] = -1;
    for (int i = 0; i < d->ncell + d->ncopy; i++) {
        double span[3];
        if (!picture_has_section(fe, d->cell[i])) continue;
        picture_span(fe->model.mesh, d->cell[i], span);
        c->length[i] = pcs_norm3(span);
        if (c->length[i] > 0.0) c->after[d->ends[i][0]] = c->before[d->ends[i][1]] = i;
    }
}

static pcs_status forces_take(pcs_system *self, fe_data *fe, pcs_picture *picture)
{
    drawing *d = fe->drawing;
    chains *c;
    const char **names;
    double **fields;
    bool has_any = false;
    for (int i = 0; i < fe->model.mesh->ncell && !has_any; i++) has_any = picture_has_section(fe, i);
    if (!d->has_members || pcs_system_max(self, has_any) == 0.0) return PCS_OK;
    PCS_TAKE(self->ctx, c, 1, "the picture");
    PCS_TAKE(self->ctx, names, FORCES_MAX, "the picture");
    PCS_TAKE(self->ctx, fields, FORCES_MAX, "the picture");
    PCS_TAKE(self->ctx, c->before, d->npoint, "the picture");
    PCS_TAKE(self->ctx, c->after, d->npoint, "the picture");
    PCS_TAKE(self->ctx, c->length, d->ncell + d->ncopy, "the picture");
    PCS_TAKE(self->ctx, d->own, d->ncell, "the picture");
    PCS_TAKE(self->ctx, d->copy, d->ncopy, "the picture");
    forces_name(d, picture, c, names);
    forces_link(fe, c);
    int count = c->nlinear;
    if (c->start >= 0) {
        names[count++] = "bending_moment";
        names[count++] = "bending_stress";
    }
    for (int k = 0; k < count; k++) PCS_TAKE(self->ctx, fields[k], d->npoint, "the picture");
    picture->npoint_field = count;
    picture->point_names = names;
    picture->point_fields = fields;
    d->chains = c;
    return PCS_OK;
}

// Extrapolates a force to the end of a chain, from the outer [0] and inner node [1] of its last cell and the next cell.
static double forces_at_end(const double f[2], double beside, double length, double length_beside)
{
    return f[0] + (f[1] - beside) * length / (length + length_beside);
}

// Interpolates a force at a point; `start` and `end` are its values at the first and second nodes of cells.
static double forces_at(const drawing *d, const double *start, const double *end, int point)
{
    const chains *c = d->chains;
    const double *L = c->length;
    int b = c->before[point], a = c->after[point];
    if (b >= 0 && a >= 0) return (end[b] * L[a] + start[a] * L[b]) / (L[a] + L[b]);
    if (b < 0 && a < 0) return 0.0;
    if (b >= 0) {
        int beside = c->before[d->ends[b][0]];
        return beside < 0 ? end[b] : forces_at_end((const double[2]){ end[b], start[b] }, end[beside], L[b], L[beside]);
    }
    int beside = c->after[d->ends[a][1]];
    return beside < 0 ? start[a] : forces_at_end((const double[2]){ start[a], end[a] }, start[beside], L[a], L[beside]);
}

// Returns the bending stress, N/m^2, in the section of a cell from the moments at one of its points.
static double forces_stress(const fe_data *fe, const pcs_picture *picture, int cell, int point)
{
    const chains *c = fe->drawing->chains;
    int mesh_cell = fe->drawing->cell[cell], end = fe->drawing->ends[cell][0] == point ? 0 : 1;
    const pcs_batch *batch = &fe->batches[fe->batch_of_cell[mesh_cell]];
    if (batch->ops->section_offset == 0) return 0.0;
    bool is_space = batch->ops->orientation_offset != 0;
    double about_z[2] = { 0 }, about_y[2] = { 0 };
    about_z[end] = picture->point_fields[is_space ? c->moment[1] : c->nlinear][point];
    if (is_space) about_y[end] = picture->point_fields[c->moment[0]][point];
    return pcs_taper_stress(batch, mesh_cell, about_z, is_space ? about_y : NULL);
}

// Computes the mean of the moments of the cells that meet at a point, and of the stresses.
static void forces_bend(const fe_data *fe, const pcs_picture *picture, int point)
{
    const chains *c = fe->drawing->chains;
    int b = c->before[point], a = c->after[point], count = (b >= 0) + (a >= 0);
    double moment = 0.0, stress = 0.0;
    if (b >= 0) moment += picture->fields[c->end][b];
    if (a >= 0) moment += picture->fields[c->start][a];
    picture->point_fields[c->nlinear][point] = count == 0 ? 0.0 : moment / count;
    if (b >= 0) stress += forces_stress(fe, picture, b, point);
    if (a >= 0) stress += forces_stress(fe, picture, a, point);
    picture->point_fields[c->nlinear + 1][point] = count == 0 ? 0.0 : stress / count;
}

// Gives values at points of own nodes to the ranks that draw cells there, at one end of the cells.
static void forces_share(const fe_data *fe, const pcs_comm *comm, int end, double *x)
{
    const drawing *d = fe->drawing;
    for (int i = 0; i < d->ncopy; i++) {
        int point = d->ends[d->ncell + i][end];
        d->copy[i] = pcs_fe_owns(fe, d->node[point]) ? x[point] : 0.0;
    }
    memset(d->own, 0, (size_t)d->ncell * sizeof *d->own);
    comm->return_copies(comm, d->copies, d->copy, d->own);
    for (int i = 0; i < d->ncell; i++)
        if (!pcs_fe_owns(fe, d->node[d->ends[i][end]])) x[d->ends[i][end]] = d->own[i];
}

// Computes section forces at points of own nodes from the fields of the cells, which are drawn.
static void forces_draw(const pcs_system *self, pcs_picture *picture)
{
    const fe_data *fe = self->data;
    const drawing *d = fe->drawing;
    const chains *c = d->chains;
    if (c == NULL) return;
    const pcs_comm *comm = self->layout == NULL ? NULL : self->layout->comm;
    for (int k = 0; k < picture->nfield + d->npair && comm != NULL; k++)
        comm->take_copies(comm, d->copies, picture->fields[k], picture->fields[k] + d->ncell);
    for (int k = 0; k < c->nlinear; k++) {
        const double *start = picture->fields[c->pair[k] < 0 ? c->field[k] : c->pair[k]];
        const double *end = c->pair[k] < 0 ? start : picture->fields[c->pair[k] + 1];
        for (int i = 0; i < d->npoint; i++)
            if (pcs_fe_owns(fe, d->node[i])) picture->point_fields[k][i] = forces_at(d, start, end, i);
    }
    int nbent = c->start >= 0 ? d->npoint : 0;
    for (int i = 0; i < nbent; i++)
        if (pcs_fe_owns(fe, d->node[i])) forces_bend(fe, picture, i);
    if (comm == NULL) return;
    for (int k = 0; k < picture->npoint_field; k++)
        for (int end = 0; end < 2; end++) forces_share(fe, comm, end, picture->point_fields[k]);
}

// Columns

// Returns the index of a field name in the picture's list. Appends it if it is new.
static int picture_field(const char **names, int *count, const char *name)
{
    int field = picture_find(names, 0, *count, name);
    if (field >= 0) return field;
    names[*count] = name;
    return (*count)++;
}

// Returns true if values at the ends of cells add to those at mid-cell: with line loads, or for moments in space.
static bool picture_wants_ends(const fe_data *fe)
{
    bool wants = pcs_fe_has_spread(fe);
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_element_ops *ops = fe->model.groups[g].ops;
        wants = wants || (ops->end_fields != NULL && ops->orientation_offset != 0);
    }
    return wants && fe->drawing->has_members;
}

// Finds columns at both cell ends for fields that a group knows in the middle only: both ends get that value.
static void picture_pair_middles(const fe_data *fe, int g, const char *const *names, int nfield)
{
    const drawing *d = fe->drawing;
    const pcs_element_ops *ops = fe->model.groups[g].ops;
    const char *const *own = pcs_end_fields(ops);
    for (int k = 0; ops->fields[k] != NULL; k++) {
        const char *pair = forces_pair_name(ops->fields[k]);
        bool is_known = pair == NULL;
        for (int i = 0; own[i] != NULL; i++) is_known = is_known || strcmp(own[i], pair) == 0;
        if (!is_known) d->pair_of[g * PCS_MAX_CELL_FIELDS + k] = picture_find(names, nfield, nfield + d->npair, pair);
    }
}

// Assigns columns of the picture to all fields; pairs come last, if section forces are drawn at points.
static pcs_status picture_name_columns(pcs_system *self, fe_data *fe, const char **names, int *nfield)
{
    drawing *d = fe->drawing;
    size_t room = (size_t)fe->model.ngroup * PCS_MAX_CELL_FIELDS;
    int count = 0;
    PCS_TAKE(self->ctx, d->field_of, room + 1, "the picture");
    PCS_TAKE(self->ctx, d->pair_of, room, "the picture");
    for (size_t i = 0; i <= room; i++) d->field_of[i] = -1;
    for (size_t i = 0; i < room; i++) d->pair_of[i] = -1;
    for (int of_ends = 0; of_ends < (picture_wants_ends(fe) ? 2 : 1); of_ends++) {
        for (int g = 0; g < fe->model.ngroup; g++) {
            const pcs_element_ops *ops = fe->model.groups[g].ops;
            const char *const *own = of_ends ? pcs_end_fields(ops) : ops->fields;
            int *field = d->field_of + (size_t)g * PCS_MAX_CELL_FIELDS;
            while (*field >= 0) field++;
            for (int k = 0; own[k] != NULL; k++) field[k] = picture_field(names, &count, own[k]);
        }
        if (!of_ends) *nfield = count;
    }
    d->npair = count - *nfield;
    for (int g = 0; g < fe->model.ngroup; g++) picture_pair_middles(fe, g, names, *nfield);
    return PCS_OK;
}

// Allocates the arrays; rotations and section axes only if some element has them.
static pcs_status picture_take_arrays(pcs_system *self, const fe_data *fe, pcs_picture *picture)
{
    drawing *d = fe->drawing;
    bool has_turns = false, has_sections = false;
    double **fields;
    for (int i = 0; i < fe->map.ndof; i++) has_turns = has_turns || fe->map.dof[i].is_rotation;
    has_turns = pcs_system_max(self, has_turns) > 0.0;
    for (int g = 0; g < fe->model.ngroup; g++)
        has_sections = has_sections || fe->model.groups[g].ops->section_offset != 0;
    PCS_TAKE(self->ctx, picture->displacement, d->nshown, "the picture");
    PCS_TAKE(self->ctx, picture->velocity, d->nshown, "the picture");
    if (has_turns) PCS_TAKE(self->ctx, picture->rotation, d->nshown, "the picture");
    if (has_turns && d->has_arms) PCS_TAKE(self->ctx, d->spin, d->nshown, "the picture");
    if (has_sections) PCS_TAKE(self->ctx, picture->section_y, d->ncell, "the picture");
    PCS_TAKE(self->ctx, fields, picture->nfield + d->npair, "the picture");
    for (int k = 0; k < picture->nfield + d->npair; k++)
        PCS_TAKE(self->ctx, fields[k], d->ncell + d->ncopy, "the picture");
    picture->fields = fields;
    return PCS_OK;
}

// Finds cells and points, and what their pictures need.
static pcs_status picture_fill(pcs_system *self, fe_data *fe, points *p, pcs_picture *picture)
{
    const char **names;
    PCS_TRY(points_list(self, p));
    PCS_TRY(pcs_agree(self->ctx, drawing_take_cells(self->ctx, fe)));
    PCS_TRY(drawing_take_shapes(self, fe, p, picture));
    PCS_TRY(drawing_number_all(self, fe, p, picture));
    PCS_TRY(picture_find_obstacles(self, fe, p, picture));
    PCS_TAKE(self->ctx, names, (size_t)fe->model.ngroup * PCS_MAX_CELL_FIELDS, "the picture");
    picture->field_names = names;
    PCS_TRY(picture_name_columns(self, fe, names, &picture->nfield));
    PCS_TRY(picture_take_arrays(self, fe, picture));
    PCS_TRY(pcs_agree(self->ctx, forces_take(self, fe, picture)));
    return fe->drawing->chains == NULL || self->layout == NULL ? PCS_OK : drawing_plan(self, fe, picture->nall_cell);
}

pcs_status pcs_fe_make_picture(pcs_system *self, fe_data *fe)
{
    const pcs_mesh *mesh = fe->model.mesh;
    pcs_picture *picture;
    points p = { 0 };
    PCS_TAKE(self->ctx, picture, 1, "the picture");
    PCS_TAKE(self->ctx, fe->drawing, 1, "the picture");
    picture->nall_node = mesh->share == NULL ? mesh->nnode : mesh->share->nnode;
    picture->nall_cell = mesh->share == NULL ? mesh->ncell : mesh->share->ncell;
    picture->is_piece = fe->model.shows_pieces && self->layout != NULL;
    fe->drawing->has_arms = pcs_system_max(self, picture_has_arms(fe)) > 0.0;
    pcs_status status = picture_fill(self, fe, &p, picture);
    points_free(&p);
    if (status == PCS_OK) self->picture = picture;
    return status;
}

// Drawing

// Computes the section's y axis: that at rest, rotated by the mean of both nodes; small rotations are not shown.
static void picture_section_axis(const fe_data *fe, const pcs_batch *batch, int group, int cell, const double *q,
                                 double y[3])
{
    const pcs_fe_group *g = &fe->model.groups[group];
    const int *node = batch->nodes[batch->cells[cell]];
    double axes[3][3], sine, R[9], turn[2][3], half[3], way[3], axis[2];
    if (g->ops->orientation_offset != 0) {
        const void *orientation = (const char *)g->params + g->ops->orientation_offset;
        pcs_beam_space_frame(batch, cell, orientation, axes, &sine);
    } else {
        pcs_beam_plane_axis(batch, cell, axis);
        axes[1][0] = -axis[1];
        axes[1][1] = axis[0];
        axes[1][2] = 0.0;
    }
    memcpy(y, axes[1], 3 * sizeof *y);
    if (!pcs_fe_turns_finitely(fe, node[0])) return;
    for (int i = 0; i < 2; i++) pcs_dofmap_vector(&fe->map, true, node[i], q, turn[i]);
    for (int k = 0; k < 3; k++) half[k] = -turn[0][k];
    pcs_rotation_compose(half, turn[1], way);
    for (int k = 0; k < 3; k++) way[k] *= 0.5;
    pcs_rotation_compose(turn[0], way, half);
    pcs_rotation_exp(half, R);
    pcs_rotation_apply(R, axes[1], y);
}

// Adds the motion at an arm r from the node: (R - I) r and R (W x r), or `turn` x r and w x r if rotations are small.
static void picture_ride(const rider *at, const double spin[3], pcs_picture *picture, int point)
{
    double R[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, turned[3], moving[3], moved[3];
    const double *turn = picture->rotation[point], *arm = at->arm;
    pcs_cross(turn, arm, turned);
    if (at->is_finite) {
        pcs_rotation_exp(turn, R);
        pcs_rotation_apply(R, arm, turned);
        for (int k = 0; k < 3; k++) turned[k] -= arm[k];
    }
    pcs_cross(spin, arm, moving);
    pcs_rotation_apply(R, moving, moved);
    for (int k = 0; k < 3; k++) {
        picture->displacement[point][k] += turned[k];
        picture->velocity[point][k] += moved[k];
    }
}

static void picture_draw_points(const fe_data *fe, pcs_instant state, pcs_picture *picture)
{
    const drawing *d = fe->drawing;
    for (int i = 0; i < picture->npoint; i++) {
        int node = d->node[i];
        pcs_dofmap_vector(&fe->map, false, node, state.q, picture->displacement[i]);
        pcs_dofmap_vector(&fe->map, false, node, state.v, picture->velocity[i]);
        if (picture->rotation != NULL) pcs_dofmap_vector(&fe->map, true, node, state.q, picture->rotation[i]);
        if (d->spin == NULL || pcs_norm3(d->arm[i].arm) == 0.0) continue;
        pcs_dofmap_vector(&fe->map, true, node, state.v, d->spin[i]);
        picture_ride(&d->arm[i], d->spin[i], picture, i);
    }
}

static void picture_draw_carriers(const pcs_system *self, pcs_instant state, pcs_picture *picture)
{
    const fe_data *fe = self->data;
    const drawing *d = fe->drawing;
    double(*const motions[2])[3] = { picture->carrier_displacement, picture->carrier_rotation };
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < d->ncarrier; i++)
            pcs_dofmap_vector(&fe->map, k == 1, d->carrier[i][0], state.q, motions[k][d->carrier[i][1]]);
        if (self->layout != NULL)
            self->layout->comm->collect(self->layout->comm, d->carriers, 3, motions[k][0], motions[k][0]);
    }
}

// Stores the fields of a cell in their columns.
static void picture_put_fields(const drawing *d, int group, const double *value, int at, pcs_picture *picture)
{
    const int *field = d->field_of + (size_t)group * PCS_MAX_CELL_FIELDS;
    const int *pair = d->pair_of + (size_t)group * PCS_MAX_CELL_FIELDS;
    for (int k = 0; k < PCS_MAX_CELL_FIELDS && field[k] >= 0; k++) {
        picture->fields[field[k]][at] = value[k];
        if (pair[k] >= 0) picture->fields[pair[k]][at] = picture->fields[pair[k] + 1][at] = value[k];
    }
}

static void picture_draw_cells(const pcs_system *self, pcs_instant state, pcs_picture *picture)
{
    const fe_data *fe = self->data;
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_batch *batch = &fe->batches[g];
        pcs_cell_state at = { .q = state.q, .v = state.v };
        const pcs_element_ops *ops = fe->model.groups[g].ops;
        for (int c = 0; c < batch->ncell; c++) {
            double value[PCS_MAX_CELL_FIELDS], force[PCS_MAX_CELL_DOFS];
            int place = fe->drawing->place[batch->cells[c]];
            at.line_load = pcs_fe_spread_force(self, state, g, c, force);
            ops->read_fields(batch, c, &at, value);
            if (ops->section_offset != 0) picture_section_axis(fe, batch, g, c, state.q, picture->section_y[place]);
            picture_put_fields(fe->drawing, g, value, place, picture);
        }
    }
}

void pcs_fe_draw(pcs_system *self, pcs_instant at, pcs_picture *picture)
{
    picture_draw_cells(self, at, picture);
    picture_draw_points(self->data, at, picture);
    picture_draw_carriers(self, at, picture);
    forces_draw(self, picture);
}
