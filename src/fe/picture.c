// Fills pictures for ParaView: points, cells, displacements, velocities, the fields of elements, and what contacts,
// joints and cells show beside them.
//
// Each process draws its own cells and their points, some of which others draw as well. Observers put the pictures of
// processes together by the numbers of cells and points in the whole model.
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
// The process that owns a node has all cells there, and those next to them. It takes the fields of cells that others
// draw from these, finds the section forces at the node's points, and gives them to those that draw these points, too.

#include "core/rotation.h"
#include "elements/section.h"
#include "fe/data.h"

#include <math.h>
#include <string.h>

enum { FORCES_MAX = 10 };

// Lists forces at mid-cell and, for some elements, at the ends. shear_force is signed only if there is no shear_y.
static const char *const forces_linear[] = { "axial_force", "stress",   "torque",      "shear_y", "shear_z",
                                             "moment_y",    "moment_z", "shear_force", NULL };

static const char *const forces_pairs[][2] = {
    { "axial_force", "axial_start" }, { "stress", "stress_start" },   { "shear_force", "shear_start" },
    { "shear_y", "shear_y_start" },   { "shear_z", "shear_z_start" }, { "moment_y", "moment_y_start" },
    { "moment_z", "moment_z_start" },
};

// Numbers of a carrier: position, radius and the arm of a rod, m; displacement and rotation while it is drawn.
enum { HOST_WORDS = 7 };

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

// Holds what this process draws; constant.
struct fe_drawing {
    int ncell, ncopy;    // cells shown, and cells that other processes show
    int *cell;           // [ncell + ncopy] their numbers in the mesh
    int *place;          // [mesh ncell] index in `cell`, -1 if absent
    int (*ends)[2];      // [ncell + ncopy] their points
    int npoint, nshown;  // points here; those shown come first
    int *node;           // [npoint] node of each point
    rider *arm;          // [npoint] NULL if all points are at their nodes
    double (*spin)[3];   // [nshown] angular velocities as in v; NULL if unused
    bool has_members;    // section forces are drawn at points
    bool has_arms;       // some cells end at arms from their nodes
    int *field_of;       // [ngroup * PCS_MAX_CELL_FIELDS] column of the picture, -1 if not drawn
    int *pair_of;        // the same for fields without values at ends: first column of their pair
    int npair;           // columns after the fields of the picture, in pairs: values at the ends of cells
    chains *chains;      // NULL if absent
    pcs_copies copies;   // of cells
    double *own, *copy;  // [ncell], [ncopy] work space for it
    int nhost;           // nodes here that carry obstacles
    int *host, *host_at; // [nhost] these, and their places in the list of all
    double (*host_numbers)[HOST_WORDS]; // [nhost] numbers of a host that are collected
    pcs_collector hosts;
    pcs_obstacle *obstacles; // of the picture
};
typedef struct fe_drawing drawing;

// Holds all points of the mesh of this process, in scratch memory, while the picture is made.
typedef struct points {
    int npoint;
    int (*cells)[2]; // [mesh ncell] points of the cells
    int *node;       // [npoint]
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
    const pcs_element_ops *ops = fe->batch_of_cell[cell] < 0 ? NULL : fe->batches[fe->batch_of_cell[cell]].ops;
    const int *node = fe->model.mesh->cell[cell];
    return ops != NULL && (ops->section_offset != 0 || ops->area != NULL) && node[0] != node[1];
}

// Returns true if this process draws a cell of the mesh.
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
    if (group < 0) return false;
    picture_span(fe->model.mesh, cell, span);
    const pcs_cell_outline outline = pcs_element_outline(fe->batches[group].ops, fe->batches[group].params, span);
    memcpy(arm, outline.arm, sizeof outline.arm);
    return outline.is_finite;
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
static int points_add(const fe_data *fe, points *p, int cell, int end)
{
    p->node[p->npoint] = fe->model.mesh->cell[cell][end];
    return p->npoint++;
}

// Gives cells at branches points of their own; the first cell there keeps the node.
static void points_split(const fe_data *fe, int (*meeting)[2], points *p)
{
    const pcs_mesh *mesh = fe->model.mesh;
    for (int c = 0; c < mesh->ncell; c++)
        for (int k = 0; k < 2 && picture_has_section(fe, c); k++) {
            int *own = meeting[mesh->cell[c][k]];
            if (own[0] >= 0 && own[0] <= 1 && own[1] <= 1) continue;
            if (own[0] < 0) p->cells[c][k] = points_add(fe, p, c, k);
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
    int point = points_add(fe, p, cell, end);
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
    pcs_scratch_free(p->arm);
    pcs_scratch_free(p->radius);
}

static pcs_status points_take(const pcs_system *self, size_t most, points *p)
{
    const fe_data *fe = self->data;
    size_t ncell = (size_t)fe->model.mesh->ncell;
    p->cells = pcs_scratch(NULL, ncell, sizeof *p->cells);
    p->node = pcs_scratch(NULL, 2 * most, sizeof *p->node);
    p->arm = pcs_scratch(NULL, fe->drawing->has_arms ? most : 0, sizeof *p->arm);
    p->radius = pcs_scratch(NULL, most, sizeof *p->radius);
    if (p->cells == NULL || p->node == NULL || p->arm == NULL || p->radius == NULL) return picture_no_memory(self);
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

// Returns true if section forces of own nodes need a cell of another process, or the reverse.
static bool drawing_needs(const fe_data *fe, int cell)
{
    const pcs_mesh_share *share = fe->model.mesh->share;
    const int *node = fe->model.mesh->cell[cell];
    if (share == NULL || !fe->drawing->has_members) return false;
    bool is_near = picture_has_section(fe, cell) && (share->is_kept[node[0]] || share->is_kept[node[1]]);
    return is_near || pcs_fe_owns(fe, node[0]) || pcs_fe_owns(fe, node[1]);
}

// Lists own cells, then those of other processes, in the order of the mesh.
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

static const double PI = 3.14159265358979323846;
static const double RECTANGLE = 1e-9; // largest relative difference of area and 4 cy cz of a rectangle

// Finds the section at the first and the second node of a cell; its area is 0 if the element has none.
static void taper_sections(const fe_data *fe, int cell, pcs_section end[2])
{
    const pcs_batch *batch = &fe->batches[fe->batch_of_cell[cell]];
    const pcs_element_ops *ops = batch->ops;
    pcs_section section = { .area = 0.0 };
    if (ops->section_offset != 0)
        section = *(const pcs_section *)(const void *)((const char *)batch->params + ops->section_offset);
    if (ops->area != NULL) ops->area->constants(batch->params, &section);
    for (int k = 0; k < 2; k++) end[k] = batch->tapers == NULL ? section : batch->tapers[cell].end[k];
}

static bool taper_rectangles(const fe_data *fe, int count, const int *cells, double (*size)[2])
{
    bool has_any = false;
    for (int c = 0; c < count; c++) {
        pcs_section end[2];
        if (fe->batch_of_cell[cells[c]] < 0) continue;
        taper_sections(fe, cells[c], end);
        double area = 4.0 * end[0].cy * end[0].cz;
        if (end[0].is_round || !(area > 0.0) || fabs(area - end[0].area) > RECTANGLE * area) continue;
        size[c][0] = end[0].cy + end[1].cy;
        size[c][1] = end[0].cz + end[1].cz;
        has_any = true;
    }
    return has_any;
}

// Takes the radius of a circle of the section's area. A point gets the largest one of its cells.
static double taper_radii(const fe_data *fe, const int (*cells)[2], double *radius)
{
    double largest = 0.0;
    for (int c = 0; c < fe->model.mesh->ncell; c++) {
        pcs_section sides[2];
        if (fe->batch_of_cell[c] < 0) continue;
        taper_sections(fe, c, sides);
        for (int end = 0; end < 2; end++) {
            int node = cells[c][end];
            radius[node] = fmax(radius[node], sqrt(sides[end].area / PI));
            largest = fmax(largest, radius[node]);
        }
    }
    return largest;
}

// Radii and sizes are NULL if no cell has a section, on any process.
static pcs_status drawing_take_shapes(pcs_system *self, fe_data *fe, points *p, pcs_picture *picture)
{
    const drawing *d = fe->drawing;
    double(*x)[3] = NULL, *radius = NULL, (*size)[2] = NULL;
    double largest = taper_radii(fe, (const int(*)[2])p->cells, p->radius);
    drawing_number_points(fe, p);
    pcs_status status = drawing_take_points(self, fe, p, &x, &radius);
    if (status == PCS_OK && !picture->is_piece) {
        size = pcs_take(self->ctx, (size_t)d->ncell, sizeof *size, "the picture");
        status = size == NULL ? PCS_NO_MEMORY : PCS_OK;
    }
    PCS_TRY(pcs_agree(self->ctx, status));
    bool has_rectangles = !picture->is_piece && taper_rectangles(fe, d->ncell, d->cell, size);
    picture->npoint = d->nshown;
    picture->ncell = d->ncell;
    picture->cells = (const int(*)[2])d->ends;
    picture->cell_numbers = d->cell;
    picture->reference = (const double(*)[3])x;
    if (pcs_system_max(self, largest) > 0.0) picture->radius = radius;
    if (pcs_system_max(self, has_rectangles) > 0.0) picture->section_size = (const double(*)[2])size;
    return PCS_OK;
}

// Plans the exchange of the fields of cells.
static pcs_status drawing_plan(const pcs_system *self, fe_data *fe, int nall)
{
    drawing *d = fe->drawing;
    int count = d->ncell + d->ncopy, *number = pcs_scratch(NULL, (size_t)count, sizeof *number);
    pcs_status status = pcs_agree(self->ctx, number == NULL ? picture_no_memory(self) : PCS_OK);
    for (int i = 0; i < (status == PCS_OK ? count : 0); i++)
        number[i] = pcs_mesh_cell_number(fe->model.mesh, d->cell[i]);
    if (status == PCS_OK) status = pcs_copies_create(self->ctx, nall, d->ncell, d->ncopy, number, &d->copies);
    pcs_scratch_free(number);
    return status;
}

// Numbering over all processes, in the order of one process

// Holds marked ends of cells, in scratch memory. Each end marked by some process gets a number, in the order of the
// mesh.
typedef struct marks {
    const pcs_mesh *mesh;
    int (*end)[2]; // [mesh ncell] 1 if marked, else 0; then its number
    int count;     // next number
} marks;

static void marks_give(void *owner, int low, int high, double *block)
{
    const marks *m = owner;
    int end = pcs_mesh_first_cell(m->mesh, high);
    for (int c = pcs_mesh_first_cell(m->mesh, low); c < end; c++)
        for (int k = 0; k < 2; k++) block[2 * (pcs_mesh_cell_number(m->mesh, c) - low) + k] = m->end[c][k];
}

static void marks_take(void *owner, int low, int high, const double *block)
{
    marks *m = owner;
    for (int i = low, c = pcs_mesh_first_cell(m->mesh, low); i < high; i++) {
        bool is_here = c < m->mesh->ncell && pcs_mesh_cell_number(m->mesh, c) == i;
        for (int k = 0; k < 2; k++) {
            if (is_here) m->end[c][k] = m->count;
            m->count += block[2 * (i - low) + k] > 0.0;
        }
        c += is_here;
    }
}

// Obstacles

// Adds what contacts and joints show, which all processes know: obstacles, arms of points that touch, discs. Takes
// those whose is_hosted is as given, and only counts them if the list is NULL.
static void obstacles_list(const pcs_system *self, bool is_hosted, pcs_obstacle *list, int *count)
{
    const fe_data *fe = self->data;
    for (int k = 0; k < self->ncontact; k++) {
        const pcs_table_source *own = &self->row_set.table->sources[k];
        const pcs_row_source *source = own->model;
        for (int part = 0; source->ops->show != NULL; part++) {
            pcs_obstacle o = { .contact = k, .is_hosted = k >= fe->model.ncontact };
            if (!source->ops->show(source->params, own->instance, &fe->map, part, &o)) break;
            if (o.kind == PCS_OBSTACLE_NONE || o.is_hosted != is_hosted) continue;
            if (list != NULL) list[*count] = o;
            ++*count;
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

// Notes that a node carries an obstacle, at this place among the hosts; `arm` of a rod, or NULL.
static void obstacles_collect(const fe_data *fe, const points *p, const int node_and_place[2], const double *arm)
{
    drawing *d = fe->drawing;
    double *own = d->host_numbers[d->nhost];
    int node = d->host[d->nhost] = node_and_place[0];
    d->host_at[d->nhost++] = node_and_place[1];
    memcpy(own, fe->model.mesh->x[node], 3 * sizeof *own);
    own[3] = p->radius[node];
    if (arm != NULL) memcpy(own + 4, arm, 3 * sizeof *own);
}

// Gives each obstacle of a contact or joint that nodes carry two indices among the hosts: of its node, and of the
// node at its end.
static void obstacles_collect_known(const fe_data *fe, const points *p, int nstill, int nknown, pcs_obstacle *o)
{
    for (int i = nstill; i < nknown; i++) {
        int place = 2 * (i - nstill);
        if (o[i].host >= 0 && pcs_fe_owns(fe, o[i].host)) obstacles_collect(fe, p, (int[2]){ o[i].host, place }, NULL);
        if (o[i].kind == PCS_OBSTACLE_ROD && pcs_fe_owns(fe, o[i].end_node))
            obstacles_collect(fe, p, (int[2]){ o[i].end_node, place + 1 }, NULL);
        o[i].host = o[i].host < 0 ? -1 : place;
        o[i].end_node = place + 1;
    }
}

// Returns the disc that the cells of a group show.
static pcs_obstacle disc_of(const pcs_fe_group *group)
{
    pcs_obstacle disc = pcs_element_outline(group->ops, group->params, (double[3]){ 0.0 }).disc;
    disc.contact = -1;
    disc.is_hosted = true;
    return disc;
}

static bool disc_is_there(const pcs_fe_group *group)
{
    return disc_of(group).kind != PCS_OBSTACLE_NONE;
}

// Lists the discs of cells, by group and the order of its set; adds to *place for each of all processes.
static pcs_status obstacles_collect_discs(pcs_system *self, const points *p, pcs_obstacle *o, int *place)
{
    const fe_data *fe = self->data;
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_fe_group *group = &fe->model.groups[g];
        int count = pcs_set_size(group->cells);
        if (!disc_is_there(group)) continue;
        for (int i = 0; i < (pcs_is_root(self->ctx) ? count : 0); i++, o++) {
            *o = disc_of(group);
            o->host = o->end_node = *place + 2 * i;
        }
        for (int c = 0; c < fe->batches[g].ncell; c++) {
            int cell = fe->batches[g].cells[c];
            int at = fe->share == NULL ? fe->place_of_cell[cell] : fe->share->index_of_cell[cell];
            if (at < 0) return pcs_fail(self->ctx, PCS_UNSUPPORTED, "discs are shown in the order of all cells");
            obstacles_collect(fe, p, (int[2]){ fe->model.mesh->cell[cell][0], *place + 2 * at }, NULL);
        }
        *place += 2 * count;
    }
    return PCS_OK;
}

// Finds the arms from the nodes of a cell to its ends that are drawn as rods, unless they are part of a bar or beam.
static void rods_of(const fe_data *fe, int cell, double arm[2][3], int is_rod[2])
{
    const int *node = fe->model.mesh->cell[cell];
    is_rod[0] = is_rod[1] = 0;
    if (!picture_has_cell(fe, cell) || picture_has_section(fe, cell)) return;
    (void)picture_arms(fe, cell, arm);
    for (int k = 0; k < (node[0] == node[1] ? 1 : 2); k++) is_rod[k] = pcs_norm3(arm[k]) > 0.0;
}

// Numbers the rods, and counts those here and the discs of all processes.
static pcs_status obstacles_count_cells(const pcs_system *self, int nall_cell, marks *rods, int *ndisc)
{
    const fe_data *fe = self->data;
    double arm[2][3];
    *ndisc = 0;
    for (int g = 0; g < fe->model.ngroup; g++)
        if (disc_is_there(&fe->model.groups[g])) *ndisc += pcs_set_size(fe->model.groups[g].cells);
    if (!fe->drawing->has_arms) return PCS_OK;
    rods->mesh = fe->model.mesh;
    rods->end = pcs_scratch(NULL, (size_t)rods->mesh->ncell, sizeof *rods->end);
    PCS_TRY(pcs_agree(self->ctx, rods->end == NULL ? picture_no_memory(self) : PCS_OK));
    for (int c = 0; c < rods->mesh->ncell; c++) rods_of(fe, c, arm, rods->end[c]);
    const pcs_records records = { marks_give, marks_take, rods };
    return pcs_publish(self->ctx, self->layout != NULL, nall_cell, 2, &records);
}

static void obstacles_collect_rods(const pcs_system *self, const points *p, const marks *rods, pcs_obstacle *o,
                                   int first)
{
    const fe_data *fe = self->data;
    for (int i = 0; i < (pcs_is_root(self->ctx) ? rods->count : 0); i++) {
        o[i] = (pcs_obstacle){ .kind = PCS_OBSTACLE_ROD, .contact = -1, .is_hosted = true };
        o[i].host = o[i].end_node = first + 2 * i;
    }
    for (int c = 0; c < (rods->end == NULL ? 0 : rods->mesh->ncell); c++) {
        double arm[2][3];
        int is_rod[2];
        rods_of(fe, c, arm, is_rod);
        for (int k = 0; k < 2; k++)
            if (is_rod[k])
                obstacles_collect(fe, p, (int[2]){ rods->mesh->cell[c][k], first + 2 * rods->end[c][k] }, arm[k]);
    }
}

// Lists all obstacles: those of contacts and joints, then discs and rods of cells.
static pcs_status obstacles_take(pcs_system *self, const points *p, int ndisc, const marks *rods, pcs_picture *picture)
{
    const fe_data *fe = self->data;
    drawing *d = fe->drawing;
    pcs_obstacle *list;
    int nknown = 0;
    obstacles_list(self, false, NULL, &nknown);
    picture->nstill = nknown;
    obstacles_list(self, true, NULL, &nknown);
    picture->nobstacle = nknown + ndisc + rods->count;
    bool is_root = pcs_is_root(self->ctx); // the process that writes gathers the hosts of all
    size_t nall = is_root ? 2 * (size_t)(picture->nobstacle - picture->nstill) : 0;
    bool has_cells = ndisc > 0 || rods->end != NULL;
    size_t most = 2 * ((size_t)nknown + (has_cells ? (size_t)fe->model.mesh->ncell : 0));
    PCS_TAKE(self->ctx, list, is_root ? picture->nobstacle : nknown, "the picture");
    PCS_TAKE(self->ctx, d->host, most, "the picture");
    PCS_TAKE(self->ctx, d->host_at, most, "the picture");
    PCS_TAKE(self->ctx, d->host_numbers, most, "the picture");
    PCS_TAKE(self->ctx, picture->host_reference, nall, "the picture");
    PCS_TAKE(self->ctx, picture->host_radius, nall, "the picture");
    nknown = 0;
    obstacles_list(self, false, list, &nknown);
    obstacles_list(self, true, list, &nknown);
    for (int i = 0; i < picture->nstill; i++) PCS_TRY(obstacles_place(self, p, d->nshown, &list[i]));
    int place = 2 * (nknown - picture->nstill);
    obstacles_collect_known(fe, p, picture->nstill, nknown, list);
    PCS_TRY(obstacles_collect_discs(self, p, list + nknown, &place));
    obstacles_collect_rods(self, p, rods, list + (is_root ? nknown + ndisc : 0), place);
    picture->obstacles = d->obstacles = list;
    return PCS_OK;
}

// Finds obstacles, and nodes that carry some.
static pcs_status picture_find_obstacles(pcs_system *self, fe_data *fe, const points *p, pcs_picture *picture)
{
    drawing *d = fe->drawing;
    marks rods = { 0 };
    int ndisc;
    pcs_status status = obstacles_count_cells(self, picture->nall_cell, &rods, &ndisc);
    if (status == PCS_OK) status = pcs_agree(self->ctx, obstacles_take(self, p, ndisc, &rods, picture));
    pcs_scratch_free(rods.end);
    int nall = 2 * (picture->nobstacle - picture->nstill);
    if (status == PCS_OK) status = pcs_collector_create(self->ctx, d->nhost, d->host_at, nall, HOST_WORDS, &d->hosts);
    if (status != PCS_OK) return status;
    const double *all = pcs_collect(&d->hosts, HOST_WORDS, d->host_numbers[0]);
    for (int i = 0; i < d->hosts.nall; i++) {
        memcpy(picture->host_reference[i], all + HOST_WORDS * i, 3 * sizeof *all);
        picture->host_radius[i] = all[HOST_WORDS * i + 3];
    }
    for (int i = picture->nobstacle - rods.count; i < (all == NULL ? 0 : picture->nobstacle); i++)
        memcpy(d->obstacles[i].end, all + HOST_WORDS * d->obstacles[i].host + 4, sizeof d->obstacles[i].end);
    return PCS_OK;
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

// Gives values at points of own nodes to the processes that draw cells there, at one end of the cells.
static void forces_share(const fe_data *fe, int end, double *x)
{
    const drawing *d = fe->drawing;
    for (int i = 0; i < d->ncopy; i++) {
        int point = d->ends[d->ncell + i][end];
        d->copy[i] = pcs_fe_owns(fe, d->node[point]) ? x[point] : 0.0;
    }
    memset(d->own, 0, (size_t)d->ncell * sizeof *d->own);
    pcs_copies_return(&d->copies, d->copy, d->own);
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
    for (int k = 0; k < picture->nfield + d->npair; k++)
        pcs_copies_take(&d->copies, picture->fields[k], picture->fields[k] + d->ncell);
    for (int k = 0; k < c->nlinear; k++) {
        const double *start = picture->fields[c->pair[k] < 0 ? c->field[k] : c->pair[k]];
        const double *end = c->pair[k] < 0 ? start : picture->fields[c->pair[k] + 1];
        for (int i = 0; i < d->npoint; i++)
            if (pcs_fe_owns(fe, d->node[i])) picture->point_fields[k][i] = forces_at(d, start, end, i);
    }
    int nbent = c->start >= 0 ? d->npoint : 0;
    for (int i = 0; i < nbent; i++)
        if (pcs_fe_owns(fe, d->node[i])) forces_bend(fe, picture, i);
    if (self->layout == NULL) return;
    for (int k = 0; k < picture->npoint_field; k++)
        for (int end = 0; end < 2; end++) forces_share(fe, end, picture->point_fields[k]);
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
    bool wants = pcs_fe_has_cell_loads(fe);
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_element_ops *ops = fe->batches[g].ops;
        wants = wants || (ops->end_fields != NULL && ops->orientation_offset != 0);
    }
    return wants && fe->drawing->has_members;
}

// Finds columns at both cell ends for fields that a group knows in the middle only: both ends get that value.
static void picture_pair_middles(const fe_data *fe, int g, const char *const *names, int nfield)
{
    const drawing *d = fe->drawing;
    const pcs_element_ops *ops = fe->batches[g].ops;
    const char *const *own = pcs_end_fields(ops);
    for (int k = 0; ops->fields[k] != NULL; k++) {
        const char *pair = forces_pair_name(ops->fields[k]);
        bool is_known = pair == NULL;
        for (int i = 0; own[i] != NULL; i++) is_known = is_known || strcmp(own[i], pair) == 0;
        if (!is_known) d->pair_of[g * PCS_MAX_CELL_FIELDS + k] = picture_find(names, nfield, nfield + d->npair, pair);
    }
}

// Assigns columns of the picture to all fields; pairs come last, if section forces are drawn at points.
static pcs_status picture_name_columns(const pcs_system *self, fe_data *fe, pcs_picture *picture)
{
    const char **names;
    drawing *d = fe->drawing;
    size_t room = (size_t)fe->model.ngroup * PCS_MAX_CELL_FIELDS;
    int count = 0;
    PCS_TAKE(self->ctx, names, room, "the picture");
    PCS_TAKE(self->ctx, d->field_of, room + 1, "the picture");
    PCS_TAKE(self->ctx, d->pair_of, room, "the picture");
    for (size_t i = 0; i <= room; i++) d->field_of[i] = -1;
    for (size_t i = 0; i < room; i++) d->pair_of[i] = -1;
    for (int of_ends = 0; of_ends < (picture_wants_ends(fe) ? 2 : 1); of_ends++) {
        for (int g = 0; g < fe->model.ngroup; g++) {
            const pcs_element_ops *ops = fe->batches[g].ops;
            const char *const *own = of_ends ? pcs_end_fields(ops) : ops->fields;
            int *field = d->field_of + (size_t)g * PCS_MAX_CELL_FIELDS;
            while (*field >= 0) field++;
            for (int k = 0; own[k] != NULL; k++) field[k] = picture_field(names, &count, own[k]);
        }
        if (!of_ends) picture->nfield = count;
    }
    d->npair = count - picture->nfield;
    for (int g = 0; g < fe->model.ngroup; g++) picture_pair_middles(fe, g, names, picture->nfield);
    picture->field_names = names;
    return PCS_OK;
}

// Allocates the arrays; rotations and section axes only if some element has them.
static pcs_status picture_take_arrays(const pcs_system *self, const fe_data *fe, bool has_rotations,
                                      pcs_picture *picture)
{
    drawing *d = fe->drawing;
    bool has_sections = false;
    double **fields;
    for (int g = 0; g < fe->model.ngroup; g++) has_sections = has_sections || fe->batches[g].ops->section_offset != 0;
    PCS_TAKE(self->ctx, picture->displacement, d->nshown, "the picture");
    PCS_TAKE(self->ctx, picture->velocity, d->nshown, "the picture");
    if (has_rotations) PCS_TAKE(self->ctx, picture->rotation, d->nshown, "the picture");
    if (has_rotations && d->has_arms) PCS_TAKE(self->ctx, d->spin, d->nshown, "the picture");
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
    bool has_rotations = false;
    PCS_TRY(points_list(self, p));
    PCS_TRY(pcs_agree(self->ctx, drawing_take_cells(self->ctx, fe)));
    PCS_TRY(drawing_take_shapes(self, fe, p, picture));
    PCS_TRY(picture_find_obstacles(self, fe, p, picture));
    for (int i = 0; i < fe->map.ndof; i++) has_rotations = has_rotations || fe->map.dof[i].is_rotation;
    has_rotations = pcs_system_max(self, has_rotations) > 0.0;
    pcs_status status = picture_name_columns(self, fe, picture);
    if (status == PCS_OK) status = picture_take_arrays(self, fe, has_rotations, picture);
    PCS_TRY(pcs_agree(self->ctx, status));
    PCS_TRY(pcs_agree(self->ctx, forces_take(self, fe, picture)));
    return fe->drawing->chains == NULL || self->layout == NULL ? PCS_OK : drawing_plan(self, fe, picture->nall_cell);
}

pcs_status pcs_fe_make_picture(pcs_system *self, fe_data *fe)
{
    const pcs_mesh *mesh = fe->model.mesh;
    points p = { 0 };
    pcs_picture *picture = pcs_take(self->ctx, 1, sizeof *picture, "the picture");
    fe->drawing = pcs_take(self->ctx, 1, sizeof *fe->drawing, "the picture");
    PCS_TRY(pcs_agree(self->ctx, picture == NULL || fe->drawing == NULL ? PCS_NO_MEMORY : PCS_OK));
    picture->nall_node = mesh->share == NULL ? mesh->nnode : mesh->share->nnode;
    picture->nall_cell = mesh->share == NULL ? mesh->ncell : mesh->share->ncell;
    picture->is_piece = self->layout != NULL;
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
    double axes[3][3], sine, R[9], rotation[2][3], half[3], half_rotation[3], axis[2];
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
    if (!pcs_fe_rotates_finitely(fe, node[0])) return;
    for (int i = 0; i < 2; i++) pcs_dofmap_vector(&fe->map, true, node[i], q, rotation[i]);
    for (int k = 0; k < 3; k++) half[k] = -rotation[0][k];
    pcs_rotation_compose(half, rotation[1], half_rotation);
    for (int k = 0; k < 3; k++) half_rotation[k] *= 0.5;
    pcs_rotation_compose(rotation[0], half_rotation, half);
    pcs_rotation_exp(half, R);
    pcs_rotation_apply(R, axes[1], y);
}

// Adds the motion at an arm r from the node: (R - I) r and R (W x r); `rotation` x r and w x r if these are small.
static void picture_ride(const rider *at, const double spin[3], pcs_picture *picture, int point)
{
    double R[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, rotated[3], moving[3], moved[3];
    const double *rotation = picture->rotation[point], *arm = at->arm;
    pcs_cross(rotation, arm, rotated);
    if (at->is_finite) {
        pcs_rotation_exp(rotation, R);
        pcs_rotation_apply(R, arm, rotated);
        for (int k = 0; k < 3; k++) rotated[k] -= arm[k];
    }
    pcs_cross(spin, arm, moving);
    pcs_rotation_apply(R, moving, moved);
    for (int k = 0; k < 3; k++) {
        picture->displacement[point][k] += rotated[k];
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

static void picture_draw_hosts(const pcs_system *self, pcs_instant state, pcs_picture *picture)
{
    const fe_data *fe = self->data;
    const drawing *d = fe->drawing;
    for (int i = 0; i < d->nhost; i++)
        for (int k = 0; k < 2; k++)
            pcs_dofmap_vector(&fe->map, k == 1, d->host[i], state.q, d->host_numbers[0] + 6 * i + 3 * k);
    picture->host_motion = pcs_collect(&d->hosts, 6, d->host_numbers[0]);
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
        const pcs_element_ops *ops = fe->batches[g].ops;
        for (int c = 0; c < batch->ncell; c++) {
            double value[PCS_MAX_CELL_FIELDS], force[PCS_MAX_CELL_DOFS];
            int place = fe->drawing->place[batch->cells[c]];
            at.line_load = pcs_fe_cell_load_force(self, state, g, c, force);
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
    picture_draw_hosts(self, at, picture);
    forces_draw(self, picture);
}
