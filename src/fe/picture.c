// Fills pictures for ParaView: points, cells, displacements, velocities and the fields of elements.

#include "core/rotation.h"
#include "elements/beam.h"
#include "elements/section.h"
#include "fe/data.h"

#include <stdlib.h>
#include <string.h>

// Section forces at the nodes of bars and beams, for pictures: smooth along a member, where those of cells have steps.
//
// Cells with sections make chains: at most one of them ends at a point (b) and at most one begins there (a). A force f
// has values at the first (s) and the second node (e) of cells of lengths L, in equilibrium with loads along them. What
// is left between those of two cells that meet is of inertia, and as much acts along the cells; of elements
// that know forces in their middle alone, s = e, all is of that kind, and f is linear from middle to middle:
//   f = (e_b L_a + s_a L_b)/(L_a + L_b);    at an end  f = s_1 + (e_1 - s_2) L_1/(L_1 + L_2),  of one cell alone s_1
// The bending moment is the mean of the moments at the ends of the cells that meet: with its sign in the plane, its
// size in space. The bending stress follows from the moments at the node (elements/section.h).
//
// A node at which members branch or meet head to head has several values: every cell there gets its own point, and its
// chain ends.

enum { FORCES_MAX = 10 };

// Lists forces known at mid-cell and, for some elements, at the ends. shear_force is signed only if there is no
// shear_y.
static const char *const section_forces_linear[] = { "axial_force", "stress",   "torque",      "shear_y", "shear_z",
                                                     "moment_y",    "moment_z", "shear_force", NULL };

static const char *const section_forces_pairs[][2] = {
    { "axial_force", "axial_start" }, { "stress", "stress_start" },   { "shear_force", "shear_start" },
    { "shear_y", "shear_y_start" },   { "shear_z", "shear_z_start" }, { "moment_y", "moment_y_start" },
    { "moment_z", "moment_z_start" },
};

// Returns the name of a field of the middle of cells at their first nodes, NULL if it is not known there.
static const char *fe_pair_name(const char *field)
{
    for (size_t i = 0; i < sizeof section_forces_pairs / sizeof section_forces_pairs[0]; i++)
        if (strcmp(section_forces_pairs[i][0], field) == 0) return section_forces_pairs[i][1];
    return NULL;
}

// Returns the column of a name among `count`, or -1.
static int section_forces_find(const pcs_picture *picture, int count, const char *name)
{
    for (int k = 0; k < count && name != NULL; k++)
        if (strcmp(picture->field_names[k], name) == 0) return k;
    return -1;
}

// Returns true if a cell of the mesh has section forces.
static bool fe_has_section(const fe_data *fe, int cell)
{
    const pcs_element_ops *ops = fe->group_shown[cell] < 0 ? NULL : fe->model.groups[fe->group_shown[cell]].ops;
    const int *node = fe->model.shown->cell[cell];
    return ops != NULL && (ops->section_offset != 0 || ops->area != NULL) && node[0] != node[1];
}

// Counts the cells with sections that begin [0] and end [1] at every node.
static void section_forces_count(const fe_data *fe, int (*meeting)[2])
{
    const pcs_mesh *mesh = fe->model.shown;
    for (int c = 0; c < mesh->ncell; c++)
        for (int k = 0; k < 2 && fe_has_section(fe, c); k++) meeting[mesh->cell[c][k]][k]++;
}

// Gives cells at branches points of their own; the first cell there keeps the node.
static void section_forces_split(const fe_data *fe, int (*meeting)[2], int (*cells)[2], int *node_of_point, int *count)
{
    const pcs_mesh *mesh = fe->model.shown;
    for (int c = 0; c < mesh->ncell; c++)
        for (int k = 0; k < 2 && fe_has_section(fe, c); k++) {
            int node = mesh->cell[c][k], *own = meeting[node];
            if (own[0] >= 0 && own[0] <= 1 && own[1] <= 1) continue;
            if (own[0] < 0) {
                node_of_point[*count] = node;
                cells[c][k] = (*count)++;
            }
            own[0] = -1; // taken
        }
}

// Finds the arms, m, from the nodes of a shown cell of the mesh to its ends. Returns true if they rotate finitely.
static bool fe_cell_arms(const fe_data *fe, int cell, double arm[2][3])
{
    const pcs_mesh *mesh = fe->model.shown;
    const int *node = mesh->cell[cell], group = fe->group_shown[cell];
    double span[3];
    memset(arm, 0, 2 * sizeof arm[0]);
    if (group < 0 || fe->model.groups[group].ops->arms == NULL) return false;
    for (int k = 0; k < 3; k++) span[k] = mesh->x[node[1]][k] - mesh->x[node[0]][k];
    return fe->model.groups[group].ops->arms(fe->model.groups[group].params, span, arm);
}

// Returns true if rods are drawn from its nodes to its ends; arms of bars and beams are part of the cells.
static bool fe_draws_arms(const fe_data *fe, int cell)
{
    return !fe_has_section(fe, cell);
}

static bool section_forces_is_same(const fe_rider *a, const fe_rider *b)
{
    return a->is_finite == b->is_finite && memcmp(a->arm, b->arm, sizeof a->arm) == 0;
}

// Returns the point at an arm from point `from`; bars and beams that meet there share it.
static int section_forces_point(fe_points *to, int node, int from, const fe_rider *rider, int *reached)
{
    if (reached != NULL && reached[from] >= 0 && section_forces_is_same(&to->arm[reached[from]], rider))
        return reached[from];
    to->node[to->npoint] = node;
    to->arm[to->npoint] = *rider;
    if (reached != NULL) reached[from] = to->npoint;
    return to->npoint++;
}

// Adds points at the ends of cells with arms. `reached`: the point at an arm from each earlier point, initially -1.
static void section_forces_reach(const fe_data *fe, fe_points *to, int *reached)
{
    const pcs_mesh *mesh = fe->model.shown;
    for (int c = 0; c < mesh->ncell; c++) {
        double arm[2][3];
        bool is_finite = fe_cell_arms(fe, c, arm), is_vertex = to->cells[c][0] == to->cells[c][1];
        int *shared = fe_has_section(fe, c) ? reached : NULL;
        for (int k = 0; k < 2; k++) {
            fe_rider rider = { .is_finite = is_finite };
            if (pcs_norm3(arm[k]) == 0.0) continue;
            memcpy(rider.arm, arm[k], sizeof rider.arm);
            if (k == 1 && is_vertex) to->cells[c][1] = to->cells[c][0];
            else to->cells[c][k] = section_forces_point(to, mesh->cell[c][k], to->cells[c][k], &rider, shared);
        }
    }
}

// Lists the nodes, then their copies; `meeting` is NULL if members do not branch.
static pcs_status section_forces_fill(pcs_context *ctx, const fe_data *fe, int (*meeting)[2], fe_points *to)
{
    const pcs_mesh *mesh = fe->model.shown;
    to->npoint = mesh->nnode;
    for (int i = 0; i < mesh->nnode; i++) to->node[i] = i;
    memcpy(to->cells, mesh->cell, (size_t)mesh->ncell * sizeof *to->cells);
    if (meeting != NULL) section_forces_split(fe, meeting, to->cells, to->node, &to->npoint);
    if (!fe->has_arms) return PCS_OK;
    int *reached = pcs_scratch(NULL, (size_t)to->npoint, sizeof *reached);
    if (reached == NULL) return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: the picture of %d nodes", mesh->nnode);
    for (int i = 0; i < to->npoint; i++) reached[i] = -1;
    section_forces_reach(fe, to, reached);
    pcs_scratch_free(reached);
    return PCS_OK;
}

// Returns true if members branch at some node; of a part of the mesh only own nodes count, all cells of which are here.
// Clears has_members if most members are one cell each: values at points would only repeat those of cells.
static bool section_forces_judge(const pcs_system *self, fe_data *fe, int (*meeting)[2])
{
    const pcs_mesh *mesh = fe->model.shown;
    bool is_part = !pcs_mesh_is_whole(mesh);
    double nwithin = 0.0, nbranch = 0.0;
    section_forces_count(fe, meeting);
    for (int i = 0; i < mesh->nnode; i++) {
        if (is_part && !pcs_fe_owns(fe, i)) continue;
        nwithin += meeting[i][0] == 1 && meeting[i][1] == 1;
        nbranch += meeting[i][0] > 1 || meeting[i][1] > 1;
    }
    double sums[2] = { nwithin, nbranch };
    if (is_part) pcs_system_sum(self, 2, sums);
    fe->has_members = sums[0] >= sums[1];
    return sums[1] > 0.0;
}

static pcs_status section_forces_make_points(pcs_system *self, fe_data *fe, int (*meeting)[2], pcs_picture *picture)
{
    const pcs_mesh *mesh = fe->model.shown;
    size_t most = (size_t)mesh->nnode + (fe->has_arms ? 4 : 2) * (size_t)mesh->ncell;
    fe_points to = { 0 };
    PCS_TAKE(self->ctx, to.cells, mesh->ncell, "the picture");
    PCS_TAKE(self->ctx, to.node, most, "the picture");
    if (fe->has_arms) PCS_TAKE(self->ctx, to.arm, most, "the picture");
    PCS_TRY(section_forces_fill(self->ctx, fe, meeting, &to));
    picture->nsplit = to.npoint - mesh->nnode;
    picture->npoint = to.npoint;
    picture->cells = (const int(*)[2])to.cells;
    fe->node_of_point = to.node;
    fe->arm_of_point = to.arm;
    return PCS_OK;
}

// Makes has_members agree on all ranks: only the rank that shows the model has set it.
static pcs_status section_forces_hear(const pcs_system *self, fe_data *fe)
{
    fe->has_members = pcs_system_max(self, fe->has_members) > 0.0;
    return PCS_OK;
}

// Lists the points of all ranks in scratch memory.
static pcs_status section_forces_list_points(pcs_system *self, fe_data *fe, int (*meeting)[2], fe_points *all)
{
    const pcs_mesh *mesh = fe->model.shown;
    size_t ncell = (size_t)mesh->ncell, most = (size_t)mesh->nnode + (fe->has_arms ? 4 : 2) * ncell;
    all->cells = pcs_scratch(NULL, ncell, sizeof *all->cells);
    all->node = pcs_scratch(NULL, most, sizeof *all->node);
    all->arm = fe->has_arms ? pcs_scratch(NULL, most, sizeof *all->arm) : NULL;
    if (all->cells == NULL || all->node == NULL || (fe->has_arms && all->arm == NULL))
        return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: the picture of %d nodes", mesh->nnode);
    if (fe->has_arms) memset(all->arm, 0, most * sizeof *all->arm);
    return section_forces_fill(self->ctx, fe, meeting, all);
}

// Gives cells that meet at a branch, and those that end at arms from their nodes, points of their own; for a picture by
// parts these are in `all`, which the caller has zeroed.
static pcs_status fe_split_points(pcs_system *self, fe_data *fe, pcs_picture *picture, fe_points *all)
{
    if (fe->model.shown == NULL) return section_forces_hear(self, fe);
    size_t nnode = (size_t)fe->model.shown->nnode;
    int(*meeting)[2] = pcs_scratch(NULL, nnode, sizeof *meeting);
    if (meeting == NULL) return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: the picture of %zu nodes", nnode);
    memset(meeting, 0, nnode * sizeof *meeting);
    bool is_split = section_forces_judge(self, fe, meeting) && fe->has_members;
    pcs_status status = PCS_OK;
    if ((is_split || fe->has_arms) && picture->is_piece)
        status = section_forces_list_points(self, fe, is_split ? meeting : NULL, all);
    else if ((is_split || fe->has_arms) && !picture->is_elsewhere)
        status = section_forces_make_points(self, fe, is_split ? meeting : NULL, picture);
    pcs_scratch_free(meeting);
    PCS_TRY(status);
    return pcs_mesh_is_whole(fe->model.mesh) || picture->is_piece ? PCS_OK : section_forces_hear(self, fe);
}

static bool section_forces_has_any(const pcs_system *self)
{
    const fe_data *fe = self->data;
    bool has_cells = false;
    for (int c = 0; fe->model.shown != NULL && c < fe->model.shown->ncell && !has_cells; c++)
        has_cells = fe_has_section(fe, c);
    return pcs_mesh_is_whole(fe->model.mesh) ? has_cells : pcs_system_max(self, has_cells) > 0.0;
}

// Returns the length of a cell of the picture, m; 0 if it has no section forces.
static double section_forces_length(const fe_data *fe, int cell)
{
    const pcs_mesh *mesh = fe->model.shown;
    int mesh_cell = pcs_fe_shown_cell(fe, cell);
    if (mesh_cell < 0) return fe->part->far_length[cell - fe->part->nshown];
    if (!fe_has_section(fe, mesh_cell)) return 0.0;
    const int *node = mesh->cell[mesh_cell];
    double span[3];
    for (int k = 0; k < 3; k++) span[k] = mesh->x[node[1]][k] - mesh->x[node[0]][k];
    return pcs_norm3(span);
}

// Finds the cells that end and begin at every point.
static void section_forces_link(const fe_data *fe, int npoint, int ncell, fe_chains *chains)
{
    for (int i = 0; i < npoint; i++) chains->before[i] = chains->after[i] = -1;
    for (int c = 0; c < ncell; c++) {
        const int *point = chains->cells[c];
        chains->length[c] = section_forces_length(fe, c);
        if (chains->length[c] > 0.0) chains->after[point[0]] = chains->before[point[1]] = c;
    }
}

static void section_forces_name(const fe_data *fe, const pcs_picture *picture, fe_chains *chains, const char **names)
{
    int nfield = picture->nfield;
    bool has_shear_y = section_forces_find(picture, nfield, "shear_y") >= 0;
    chains->nlinear = 0;
    for (int i = 0; section_forces_linear[i] != NULL; i++) {
        const char *name = section_forces_linear[i];
        int field = section_forces_find(picture, nfield, name);
        if (field < 0 || (has_shear_y && strcmp(name, "shear_force") == 0)) continue;
        chains->pair[chains->nlinear] = section_forces_find(picture, nfield + fe->npair, fe_pair_name(name));
        chains->field[chains->nlinear] = field;
        names[chains->nlinear++] = name;
    }
    chains->start = section_forces_find(picture, nfield, "moment_start");
    chains->end = section_forces_find(picture, nfield, "moment_end");
    for (int axis = 0; axis < 2; axis++) {
        chains->moment[axis] = -1;
        for (int k = 0; k < chains->nlinear; k++)
            if (strcmp(names[k], axis == 0 ? "moment_y" : "moment_z") == 0) chains->moment[axis] = k;
    }
}

// Allocates the values, and links the cells at every point.
static pcs_status section_forces_take_values(pcs_system *self, fe_data *fe, const pcs_picture *picture,
                                             fe_chains *chains, double **fields)
{
    int npoint = picture->npoint + (fe->part == NULL ? 0 : fe->part->nbeyond);
    int ncell = picture->ncell + (fe->part == NULL ? 0 : fe->part->nasked);
    PCS_TAKE(self->ctx, chains->before, npoint, "the picture");
    PCS_TAKE(self->ctx, chains->after, npoint, "the picture");
    PCS_TAKE(self->ctx, chains->length, ncell, "the picture");
    for (int k = 0; k < picture->npoint_field; k++) PCS_TAKE(self->ctx, fields[k], picture->npoint, "the picture");
    chains->cells = picture->cells;
    section_forces_link(fe, npoint, ncell, chains);
    fe->chains = chains;
    return PCS_OK;
}

static pcs_status fe_take_section_forces(pcs_system *self, fe_data *fe, pcs_picture *picture)
{
    fe_chains *chains;
    const char **names;
    double **fields;
    PCS_TAKE(self->ctx, chains, 1, "the picture");
    PCS_TAKE(self->ctx, chains->field, FORCES_MAX, "the picture");
    PCS_TAKE(self->ctx, chains->pair, FORCES_MAX, "the picture");
    PCS_TAKE(self->ctx, names, FORCES_MAX, "the picture");
    PCS_TAKE(self->ctx, fields, FORCES_MAX, "the picture");
    if (!fe->has_members || !section_forces_has_any(self)) return PCS_OK;
    section_forces_name(fe, picture, chains, names);
    int count = chains->nlinear;
    if (chains->start >= 0) {
        names[count++] = "bending_moment";
        names[count++] = "bending_stress";
    }
    picture->npoint_field = count;
    picture->point_names = names;
    picture->point_fields = fields;
    return picture->is_elsewhere ? PCS_OK : section_forces_take_values(self, fe, picture, chains, fields);
}

// Extrapolates a force to the end of a chain, from the outer [0] and inner node [1] of its last cell and the next cell.
static double section_forces_at_end(const double f[2], double beside, double length, double length_beside)
{
    return f[0] + (f[1] - beside) * length / (length + length_beside);
}

// Interpolates a force at a node; `start` and `end` are its values at the first and second nodes of cells.
static double section_forces_at(const fe_chains *chains, const double *start, const double *end, int node)
{
    const int(*cells)[2] = chains->cells;
    const double *L = chains->length;
    int b = chains->before[node], a = chains->after[node];
    if (b >= 0 && a >= 0) return (end[b] * L[a] + start[a] * L[b]) / (L[a] + L[b]);
    if (b < 0 && a < 0) return 0.0;
    if (b >= 0) {
        int beside = chains->before[cells[b][0]];
        return beside < 0 ? end[b]
                          : section_forces_at_end((const double[2]){ end[b], start[b] }, end[beside], L[b], L[beside]);
    }
    int beside = chains->after[cells[a][1]];
    return beside < 0 ? start[a]
                      : section_forces_at_end((const double[2]){ start[a], end[a] }, start[beside], L[a], L[beside]);
}

static double section_forces_moment(const pcs_picture *picture, const fe_chains *chains, int node)
{
    int b = chains->before[node], a = chains->after[node], count = (b >= 0) + (a >= 0);
    double sum = 0.0;
    if (b >= 0) sum += picture->fields[chains->end][b];
    if (a >= 0) sum += picture->fields[chains->start][a];
    return count == 0 ? 0.0 : sum / count;
}

// Returns the bending stress, N/m^2, in the section of a cell from the moments at one of its nodes.
static double section_forces_stress(const fe_data *fe, const pcs_picture *picture, int cell, int node)
{
    const fe_chains *chains = fe->chains;
    int mesh_cell = pcs_fe_shown_cell(fe, cell);
    const pcs_batch *batch = &fe->drawn[fe->group_shown[mesh_cell]];
    if (batch->ops->section_offset == 0) return 0.0;
    int end = chains->cells[cell][0] == node ? 0 : 1;
    bool is_space = batch->ops->orientation_offset != 0;
    double about_z[2] = { 0 }, about_y[2] = { 0 };
    about_z[end] = picture->point_fields[is_space ? chains->moment[1] : chains->nlinear][node];
    if (is_space) about_y[end] = picture->point_fields[chains->moment[0]][node];
    return pcs_taper_stress(batch, mesh_cell, about_z, is_space ? about_y : NULL);
}

// Computes section forces at points from the fields of the cells, which must be drawn already.
static void fe_draw_section_forces(const fe_data *fe, pcs_picture *picture)
{
    const fe_chains *chains = fe->chains;
    if (chains == NULL) return;
    for (int k = 0; k < chains->nlinear; k++) {
        int pair = chains->pair[k];
        const double *start = picture->fields[pair < 0 ? chains->field[k] : pair];
        const double *end = pair < 0 ? start : picture->fields[pair + 1];
        for (int i = 0; i < picture->npoint; i++)
            picture->point_fields[k][i] = section_forces_at(chains, start, end, i);
    }
    if (chains->start < 0) return;
    double *moment = picture->point_fields[chains->nlinear], *stress = picture->point_fields[chains->nlinear + 1];
    for (int i = 0; i < picture->npoint; i++) {
        int b = chains->before[i], a = chains->after[i], count = (b >= 0) + (a >= 0);
        moment[i] = section_forces_moment(picture, chains, i);
        double sum = b >= 0 ? section_forces_stress(fe, picture, b, i) : 0.0;
        if (a >= 0) sum += section_forces_stress(fe, picture, a, i);
        stress[i] = count == 0 ? 0.0 : sum / count;
    }
}

// Collects what pictures show of cells beside their lines, if no rank knows all cells: discs at nodes, and arms from
// nodes to the ends of cells.
//
// Every rank sends what its cells have to the first one, which puts all of it into the order of one process, sends the
// others the numbers of theirs, and shows it: discs by group and the order of its set, then arms by the number of the
// cell.

enum { CARRIED_DISC, CARRIED_ARM };
enum { KEYS = 4, NODE = KEYS, ARM, RECORD = ARM + 3 * (int)(sizeof(double) / sizeof(int)) };

// Holds records in scratch memory: kind, position in the order of all (three numbers), node and arm; and the local
// nodes of those of this rank.
typedef struct carried_list {
    int count, room;
    int *record; // [count][RECORD]
    int *node;   // [count]
} carried_list;

static pcs_status carried_add(pcs_context *ctx, carried_list *list, const int key[KEYS], int node, int number,
                              const double arm[3])
{
    if (list->count == list->room) {
        int room = 2 * list->room + 64;
        int *record = pcs_scratch(list->record, (size_t)room * RECORD, sizeof *record);
        if (record != NULL) list->record = record;
        int *nodes = pcs_scratch(list->node, (size_t)room, sizeof *nodes);
        if (nodes != NULL) list->node = nodes;
        if (record == NULL || nodes == NULL) return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: the picture");
        list->room = room;
    }
    int *to = list->record + (size_t)list->count * RECORD;
    memcpy(to, key, KEYS * sizeof *to);
    to[NODE] = number;
    memcpy(to + ARM, arm, 3 * sizeof *arm);
    list->node[list->count++] = node;
    return PCS_OK;
}

// Adds the discs and arms of one cell of this rank to the list.
static pcs_status carried_list_cell(pcs_context *ctx, const fe_data *fe, int group, int cell, bool has_arms,
                                    carried_list *list)
{
    const pcs_mesh *mesh = fe->model.mesh;
    const pcs_element_ops *ops = fe->model.groups[group].ops;
    const int *node = mesh->cell[cell];
    const double none[3] = { 0.0 };
    double arm[2][3];
    int place = fe->share->index_of_cell[cell], number = pcs_mesh_cell_number(mesh, cell);
    if (ops->show != NULL && place < 0)
        return pcs_fail(ctx, PCS_UNSUPPORTED, "discs are shown in the order of all cells");
    for (int part = 0; ops->show != NULL; part++) {
        pcs_obstacle unused = { 0 };
        const int key[KEYS] = { CARRIED_DISC, group, place, part };
        if (!ops->show(fe->model.groups[group].params, part, &unused)) break;
        PCS_TRY(carried_add(ctx, list, key, node[0], pcs_mesh_node_number(mesh, node[0]), none));
    }
    if (!has_arms || ops->arms == NULL || !fe_draws_arms(fe, cell)) return PCS_OK;
    (void)fe_cell_arms(fe, cell, arm);
    for (int k = 0; k < (node[0] == node[1] ? 1 : 2); k++) {
        const int key[KEYS] = { CARRIED_ARM, 0, number, k };
        if (pcs_norm3(arm[k]) > 0.0)
            PCS_TRY(carried_add(ctx, list, key, node[k], pcs_mesh_node_number(mesh, node[k]), arm[k]));
    }
    return PCS_OK;
}

static pcs_status carried_list_own(pcs_context *ctx, const fe_data *fe, bool has_arms, carried_list *list)
{
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_element_ops *ops = fe->model.groups[g].ops;
        if (ops->show == NULL && ops->arms == NULL) continue;
        for (int c = 0; c < fe->batches[g].ncell; c++)
            PCS_TRY(carried_list_cell(ctx, fe, g, fe->batches[g].cells[c], has_arms, list));
    }
    return PCS_OK;
}

static int carried_compare(const void *a, const void *b)
{
    const int *x = *(const int *const *)a, *y = *(const int *const *)b;
    for (int k = 0; k < KEYS; k++)
        if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
    return 0;
}

// Converts a record to an obstacle, with the node number of the whole mesh.
static void carried_show(const fe_data *fe, const int *record, pcs_obstacle *o)
{
    *o = (pcs_obstacle){ .contact = -1, .is_carried = true };
    if (record[0] == CARRIED_DISC) {
        const pcs_fe_group *group = &fe->model.groups[record[1]];
        (void)group->ops->show(group->params, record[KEYS - 1], o);
    } else {
        o->kind = PCS_OBSTACLE_ROD;
        memcpy(o->end, record + ARM, sizeof o->end);
    }
    o->carrier = o->end_node = record[NODE];
}

// Sorts all records on rank 0, fills their list, and numbers them in the order received.
static pcs_status carried_sort(pcs_context *ctx, const fe_data *fe, const pcs_numbers *told, int count, int *number,
                               fe_carried *out)
{
    const int **sorted = pcs_scratch(NULL, (size_t)count, sizeof *sorted);
    out->list = pcs_scratch(NULL, (size_t)count, sizeof *out->list);
    if (sorted == NULL || out->list == NULL) {
        pcs_scratch_free(sorted);
        return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: the picture");
    }
    for (int i = 0; i < count; i++) sorted[i] = told->value + (size_t)i * RECORD;
    if (count > 0) qsort(sorted, (size_t)count, sizeof *sorted, carried_compare);
    for (int i = 0; i < count; i++) {
        number[(sorted[i] - told->value) / RECORD] = i;
        carried_show(fe, sorted[i], &out->list[i]);
    }
    pcs_scratch_free(sorted);
    return PCS_OK;
}

// Sends the records to rank 0, which returns their numbers.
static pcs_status carried_tell(pcs_context *ctx, const fe_data *fe, const carried_list *list, pcs_numbers *answer,
                               fe_carried *out)
{
    const pcs_comm *comm = fe->share->layout.comm;
    pcs_numbers told = { 0 };
    int size = comm->size, total = 0;
    int *count = pcs_scratch(NULL, 2 * (size_t)size, sizeof *count), *start = count + size, *number = NULL;
    pcs_status status = count == NULL ? pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: the picture") : PCS_OK;
    PCS_TRY(pcs_agree(ctx, status));
    memset(count, 0, 2 * (size_t)size * sizeof *count);
    count[0] = list->count * RECORD;
    status = comm->exchange(comm, ctx, count, start, list->record, &told);
    if (status == PCS_OK) {
        for (int r = 0; r < size; r++) {
            count[r] = told.count[r] / RECORD;
            start[r] = total;
            total += count[r];
        }
        number = pcs_scratch(NULL, (size_t)total, sizeof *number);
        if (number == NULL) status = pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: the picture");
        else if (comm->rank == 0) status = carried_sort(ctx, fe, &told, total, number, out);
        status = pcs_agree(ctx, status);
    }
    if (status == PCS_OK) status = comm->exchange(comm, ctx, count, start, number, answer);
    pcs_scratch_free(count);
    pcs_scratch_free(number);
    pcs_scratch_free(told.count);
    pcs_scratch_free(told.value);
    out->count = total;
    return status;
}

static void fe_free_carried(fe_carried *carried)
{
    pcs_scratch_free(carried->own);
    pcs_scratch_free(carried->list);
    *carried = (fe_carried){ .own = NULL };
}

// Collects the discs and arms of cells on rank 0, which draws them. All ranks take part.
static pcs_status fe_find_carried(pcs_system *self, const fe_data *fe, bool has_arms, fe_carried *out)
{
    carried_list list = { 0 };
    pcs_numbers number = { 0 };
    pcs_status status = pcs_agree(self->ctx, carried_list_own(self->ctx, fe, has_arms, &list));
    if (status == PCS_OK) status = carried_tell(self->ctx, fe, &list, &number, out);
    if (status == PCS_OK) {
        out->count = (int)pcs_system_max(self, out->count);
        out->nown = list.count;
        out->own = pcs_scratch(NULL, (size_t)list.count, sizeof *out->own);
        if (out->own == NULL) status = pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: the picture");
        status = pcs_agree(self->ctx, status);
        int nknown = status == PCS_OK ? list.count : 0;
        for (int i = 0; i < nknown; i++) {
            out->own[i][0] = list.node[i];
            out->own[i][1] = number.value[i];
        }
    }
    pcs_scratch_free(list.record);
    pcs_scratch_free(list.node);
    pcs_scratch_free(number.count);
    pcs_scratch_free(number.value);
    return status;
}

// The part of a picture that a rank shows: its own cells and their points, which other ranks show as well at borders.
//
// Positions of all these points are here. Section forces at a point follow from cells that other ranks may own: ranks
// exchange once which cells they ask for, in one list, and for every picture the fields of all of them, by a sum to
// which each rank adds its own. A rank that shows the end of a chain may not have the cell next to the last one, e.g.
// that of a spring: then the rank of the node between both names it. Nodes with discs, bearings and joints are sent to
// rank 0, which draws these, after its own points.

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
        if (fe_has_section(fe, c)) w->after[part_point(w, fe, c, 0)] = w->before[part_point(w, fe, c, 1)] = c;
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
    PCS_TRY(pcs_agree(self->ctx, status));
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
    status = pcs_agree(self->ctx, status);
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
    status = pcs_agree(self->ctx, status);
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
    PCS_TRY(fe_split_points(self, fe, picture, &w->all));
    PCS_TRY(part_take_scratch(self, fe, w));
    part_choose_cells(fe, w);
    part_choose_points(fe, w);
    return part_ask_all(self, fe, w);
}

// Creates the part of the picture that this rank shows; `obstacles` are those of the picture, by nodes of the mesh, on
// rank 0 followed by those that cells carry.
static pcs_status fe_take_part(pcs_system *self, fe_data *fe, pcs_picture *picture, pcs_obstacle *obstacles,
                               const fe_carried *carried)
{
    part_work w = { 0 };
    pcs_status status = pcs_agree(self->ctx, part_choose(self, fe, &w, picture));
    if (status == PCS_OK) status = part_find_far(self, fe, &w);
    if (status == PCS_OK) status = pcs_agree(self->ctx, part_number(self, fe, &w, picture));
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

// Exchanges cells that section forces need from other ranks, and the nodes with obstacles, after all are drawn.
static void fe_share_picture(const pcs_system *self, pcs_picture *picture)
{
    const fe_data *fe = self->data;
    const pcs_comm *comm = self->layout->comm;
    double(*const vectors[])[3] = { picture->displacement, picture->rotation };
    part_share_cells(self, picture);
    for (int i = 0; i < 2; i++)
        if (vectors[i] != NULL)
            comm->collect(comm, fe->part->carriers, 3, vectors[i][picture->npoint], vectors[i][picture->npoint]);
}

// Returns the index of a field name in the picture's list. Appends it if it is new.
static int picture_field(const char **names, int *count, const char *name)
{
    for (int i = 0; i < *count; i++)
        if (strcmp(names[i], name) == 0) return i;
    names[*count] = name;
    return (*count)++;
}

// Computes radii of points and sizes of rectangular sections, m.
static pcs_status picture_make_radius(pcs_system *self, pcs_picture *picture)
{
    double *radius;
    double(*size)[2];
    PCS_TAKE(self->ctx, radius, picture->npoint, "the picture");
    PCS_TAKE(self->ctx, size, picture->ncell, "the picture");
    if (pcs_fe_find_radii(self->data, picture->cells, radius) > 0.0) picture->radius = radius;
    if (pcs_fe_find_rectangles(self->data, size)) picture->section_size = (const double(*)[2])size;
    return PCS_OK;
}

static bool picture_has_arms(const fe_data *fe)
{
    int ncell = fe->model.shown == NULL ? 0 : fe->model.shown->ncell;
    for (int c = 0; c < ncell; c++) {
        double arm[2][3];
        (void)fe_cell_arms(fe, c, arm);
        if (pcs_norm3(arm[0]) > 0.0 || pcs_norm3(arm[1]) > 0.0) return true;
    }
    return false;
}

// Allocates the arrays; rotations and section axes only if some element has them. Ranks that show nothing need buffers.
static pcs_status picture_take_arrays(pcs_system *self, pcs_picture *picture, double **fields)
{
    const fe_data *fe = self->data;
    bool has_turns = false, has_sections = false;
    int npoint = picture->is_elsewhere ? fe->share->npoint : picture->npoint;
    int ncell = picture->is_elsewhere ? fe->share->ncell : picture->ncell;
    if (fe->part != NULL) npoint += fe->part->nroom;
    for (int i = 0; i < fe->map.ndof; i++) has_turns = has_turns || fe->map.dof[i].is_rotation;
    has_turns = pcs_system_max(self, has_turns) > 0.0;
    for (int g = 0; g < fe->model.ngroup; g++)
        has_sections = has_sections || fe->model.groups[g].ops->section_offset != 0;
    PCS_TAKE(self->ctx, picture->displacement, npoint, "the picture");
    PCS_TAKE(self->ctx, picture->velocity, npoint, "the picture");
    if (has_turns) PCS_TAKE(self->ctx, picture->rotation, npoint, "the picture");
    if (has_turns && fe->has_arms) PCS_TAKE(self->ctx, picture->spin, npoint, "the picture");
    if (has_sections) PCS_TAKE(self->ctx, picture->section_y, ncell, "the picture");
    if (fe->part != NULL) ncell += fe->part->nasked;
    for (int k = 0; k < picture->nfield + fe->npair; k++) PCS_TAKE(self->ctx, fields[k], ncell, "the picture");
    return PCS_OK;
}

// Lists nodes and cells of this rank in the order in which they are drawn, by their numbers in the whole mesh; only
// counts them if NULL.
static void picture_list_own(const fe_data *fe, int *nodes, int *cells)
{
    const pcs_mesh *mesh = fe->model.mesh;
    fe_share *share = fe->share;
    share->npoint = share->ncell = 0;
    for (int node = 0; node < mesh->nnode; node++) {
        if (!pcs_fe_owns(fe, node)) continue;
        if (nodes != NULL) nodes[share->npoint] = pcs_mesh_node_number(mesh, node);
        share->npoint++;
    }
    for (int g = 0; g < fe->model.ngroup; g++)
        for (int c = 0; c < fe->batches[g].ncell; c++) {
            if (cells != NULL) cells[share->ncell] = pcs_mesh_cell_number(mesh, fe->batches[g].cells[c]);
            share->ncell++;
        }
}

// Plans the collection of this rank's points and cells on the rank that shows the picture.
static pcs_status picture_plan(pcs_system *self, fe_data *fe)
{
    const pcs_comm *comm = self->layout->comm;
    fe_share *share = fe->share;
    picture_list_own(fe, NULL, NULL);
    int *nodes = pcs_scratch(NULL, (size_t)share->npoint + 1, sizeof *nodes);
    int *cells = pcs_scratch(NULL, (size_t)share->ncell + 1, sizeof *cells);
    pcs_status status = PCS_OK;
    if (nodes == NULL || cells == NULL) status = pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: the picture");
    else picture_list_own(fe, nodes, cells);
    status = pcs_agree(self->ctx, status);
    if (status == PCS_OK) status = comm->plan(comm, self->ctx, share->npoint, nodes, &share->points);
    if (status == PCS_OK) status = comm->plan(comm, self->ctx, share->ncell, cells, &share->cells);
    pcs_scratch_free(nodes);
    pcs_scratch_free(cells);
    return status;
}

// Adds an obstacle, if there is one and its is_carried is as given, to a list. Only counts it if the list is NULL.
static void picture_add_obstacle(const pcs_obstacle *o, bool is_carried, pcs_obstacle *list, int *count)
{
    if (o->kind == PCS_OBSTACLE_NONE || o->is_carried != is_carried) return;
    if (list != NULL) list[*count] = *o;
    (*count)++;
}

// Adds the parts of contacts and joints: obstacles, arms of points that touch, discs.
static void picture_list_sources(const pcs_system *self, bool is_carried, pcs_obstacle *list, int *count)
{
    const fe_data *fe = self->data;
    for (int k = 0; k < self->ncontact; k++) {
        const pcs_table_source *own = &self->row_set.table->sources[k];
        const pcs_row_source *source = own->model;
        for (int part = 0; source->ops->show != NULL; part++) {
            pcs_obstacle o = { .contact = k, .is_carried = k >= fe->model.ncontact };
            if (!source->ops->show(source->params, own->instance, &fe->map, part, &o)) break;
            picture_add_obstacle(&o, is_carried, list, count);
        }
    }
}

static void picture_list_discs(const fe_data *fe, pcs_obstacle *list, int *count)
{
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_fe_group *group = &fe->model.groups[g];
        for (int i = 0; i < group->cells->count; i++)
            for (int part = 0; group->ops->show != NULL; part++) {
                pcs_obstacle o = { .contact = -1, .is_carried = true };
                if (!group->ops->show(group->params, part, &o)) break;
                o.carrier = o.end_node = fe->model.mesh->cell[group->cells->items[i]][0];
                picture_add_obstacle(&o, true, list, count);
            }
    }
}

// Lists the obstacles that all ranks know, first those at rest, then those that nodes carry, and returns their number.
// Counts only if `list` is NULL.
static int picture_list_obstacles(const pcs_system *self, pcs_picture *picture, pcs_obstacle *list)
{
    int count = 0;
    picture_list_sources(self, false, list, &count);
    picture->nstill = count;
    picture_list_sources(self, true, list, &count);
    return count;
}

// Converts node numbers of an obstacle to those of the whole mesh; for a part of the picture this happens later.
static pcs_status picture_number_obstacle(pcs_system *self, pcs_obstacle *o)
{
    const pcs_mesh *mesh = ((const fe_data *)self->data)->model.mesh;
    int *nodes;
    if (pcs_mesh_is_whole(mesh)) return PCS_OK;
    PCS_TAKE(self->ctx, nodes, o->nnode, "the picture");
    for (int i = 0; i < o->nnode; i++) nodes[i] = pcs_mesh_node_number(mesh, o->nodes[i]);
    o->nodes = nodes;
    if (o->is_carried && o->carrier >= 0) o->carrier = pcs_mesh_node_number(mesh, o->carrier);
    if (o->kind == PCS_OBSTACLE_ROD) o->end_node = pcs_mesh_node_number(mesh, o->end_node);
    return PCS_OK;
}

// Lists the arms from nodes of cells to their ends, if these differ, and returns their number; `list` may be NULL.
static int picture_list_arms(const fe_data *fe, pcs_obstacle *list)
{
    const pcs_mesh *shown = fe->model.shown;
    int count = 0;
    if (!fe->has_arms || shown == NULL) return 0;
    for (int c = 0; c < shown->ncell; c++) {
        const int *node = shown->cell[c];
        double arm[2][3];
        if (!fe_draws_arms(fe, c)) continue;
        (void)fe_cell_arms(fe, c, arm);
        for (int k = 0; k < (node[0] == node[1] ? 1 : 2); k++) {
            pcs_obstacle o = { .kind = PCS_OBSTACLE_ROD, .contact = -1, .is_carried = true };
            o.carrier = o.end_node = node[k];
            memcpy(o.end, arm[k], sizeof o.end);
            if (pcs_norm3(arm[k]) > 0.0) picture_add_obstacle(&o, true, list, &count);
        }
    }
    return count;
}

// Lists discs and arms of cells: those collected from ranks, and those found on the rank that shows the whole.
static int picture_list_cells(const fe_data *fe, const fe_carried *carried, bool has_parts, bool is_piece,
                              pcs_obstacle *list)
{
    int count = 0;
    if (!has_parts) picture_list_discs(fe, list, &count);
    int ntold = carried->list == NULL ? 0 : carried->count;
    for (int i = 0; i < ntold; i++) picture_add_obstacle(&carried->list[i], true, list, &count);
    if (!is_piece) count += picture_list_arms(fe, list == NULL ? NULL : list + count);
    return count;
}

static pcs_status picture_find_obstacles(pcs_system *self, pcs_picture *picture, const fe_carried *carried,
                                         pcs_obstacle **out)
{
    pcs_obstacle *obstacles;
    const fe_data *fe = self->data;
    bool has_parts = picture->is_piece || !pcs_mesh_is_whole(fe->model.mesh);
    int count = picture_list_obstacles(self, picture, NULL);
    int ncarried = picture_list_cells(fe, carried, has_parts, picture->is_piece, NULL);
    PCS_TAKE(self->ctx, obstacles, count + ncarried, "the picture");
    (void)picture_list_obstacles(self, picture, obstacles);
    int nnumbered = picture->is_piece ? 0 : count;
    for (int i = 0; i < nnumbered; i++) PCS_TRY(picture_number_obstacle(self, &obstacles[i]));
    (void)picture_list_cells(fe, carried, has_parts, picture->is_piece, obstacles + count);
    picture->nobstacle = count + (int)pcs_system_max(self, ncarried); // checkpoints count them on all ranks
    picture->obstacles = *out = obstacles;
    return PCS_OK;
}

static pcs_status picture_place_copies(pcs_system *self, pcs_picture *picture)
{
    const fe_data *fe = self->data;
    double(*x)[3];
    PCS_TAKE(self->ctx, x, picture->npoint, "the picture");
    for (int i = 0; i < picture->npoint; i++) {
        memcpy(x[i], fe->model.shown->x[fe->node_of_point[i]], sizeof x[i]);
        if (fe->arm_of_point == NULL) continue;
        for (int k = 0; k < 3; k++) x[i][k] += fe->arm_of_point[i].arm[k];
    }
    picture->reference = (const double(*)[3])x;
    return PCS_OK;
}

// Collects the group number of every cell on the rank that shows them.
static void picture_collect_groups(const fe_data *fe, double *group, int *out)
{
    const pcs_mesh *mesh = fe->model.mesh, *shown = fe->model.shown;
    int count = 0;
    for (int g = 0; g < fe->model.ngroup; g++)
        for (int c = 0; c < fe->batches[g].ncell; c++)
            group[shown == NULL ? count++ : pcs_mesh_cell_number(mesh, fe->batches[g].cells[c])] = g;
    pcs_fe_collect_cells(fe, 1, group);
    if (shown != NULL)
        for (int c = 0; c < shown->ncell; c++) out[c] = (int)group[c];
}

static pcs_status picture_find_groups(pcs_system *self, fe_data *fe)
{
    const pcs_mesh *shown = fe->model.shown;
    fe->group_shown = fe->batch_of_cell;
    if (pcs_mesh_is_whole(fe->model.mesh) || fe->model.shows_pieces) return PCS_OK;
    size_t ncell = (size_t)(shown == NULL ? fe->share->ncell : shown->ncell);
    double *group = pcs_scratch(NULL, ncell, sizeof *group);
    int *groups = pcs_take(self->ctx, shown == NULL ? 0 : ncell, sizeof *groups, "the picture");
    pcs_status status = groups == NULL ? PCS_NO_MEMORY : PCS_OK;
    if (group == NULL) status = pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: the picture");
    status = pcs_agree(self->ctx, status);
    if (status == PCS_OK) picture_collect_groups(fe, group, groups);
    fe->group_shown = groups;
    pcs_scratch_free(group);
    return status;
}

// Creates all points on this rank, or on rank 0.
static pcs_status picture_take_all(pcs_system *self, fe_data *fe, pcs_picture *picture)
{
    PCS_TRY(fe_split_points(self, fe, picture, NULL));
    if (picture->nsplit > 0) PCS_TRY(picture_place_copies(self, picture));
    return picture->is_elsewhere ? PCS_OK : picture_make_radius(self, picture);
}

// Finds the obstacles and points of the picture: the part of this rank if it is drawn in pieces, else all.
static pcs_status picture_fill(pcs_system *self, fe_data *fe, pcs_picture *picture)
{
    pcs_obstacle *obstacles;
    fe_carried carried = { 0 };
    pcs_status status = PCS_OK;
    fe->has_arms = pcs_system_max(self, picture_has_arms(fe)) > 0.0;
    if (picture->is_piece || !pcs_mesh_is_whole(fe->model.mesh))
        status = fe_find_carried(self, fe, picture->is_piece, &carried);
    if (status == PCS_OK) status = picture_find_obstacles(self, picture, &carried, &obstacles);
    if (status == PCS_OK)
        status = picture->is_piece ? fe_take_part(self, fe, picture, obstacles, &carried)
                                   : picture_take_all(self, fe, picture);
    fe_free_carried(&carried);
    return status;
}

// Returns true if values at the ends of cells add to those at mid-cell: with line loads, or for moments in space.
static bool picture_wants_ends(const fe_data *fe)
{
    bool wants = pcs_fe_has_spread(fe);
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_element_ops *ops = fe->model.groups[g].ops;
        wants = wants || (ops->end_fields != NULL && ops->orientation_offset != 0);
    }
    return wants;
}

static void picture_add_ends(const fe_data *fe, int g, const char **names, int *count)
{
    const char *const *own = pcs_end_fields(fe->model.groups[g].ops);
    int *field = fe->field_of + (size_t)g * PCS_MAX_CELL_FIELDS;
    while (*field >= 0) field++;
    for (int k = 0; own[k] != NULL; k++) field[k] = picture_field(names, count, own[k]);
}

// Returns the column of a name from `first` on, or -1.
static int picture_find_pair(const char *const *names, int first, int count, const char *name)
{
    for (int i = first; i < first + count; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

// Finds columns at both cell ends for fields that a group knows in the middle only: both ends get that value.
static void picture_pair_middles(const fe_data *fe, int g, const char *const *names, int nfield)
{
    const pcs_element_ops *ops = fe->model.groups[g].ops;
    const char *const *own = pcs_end_fields(ops);
    for (int k = 0; ops->fields[k] != NULL; k++) {
        const char *pair = fe_pair_name(ops->fields[k]);
        bool is_known = pair == NULL;
        for (int i = 0; own[i] != NULL; i++) is_known = is_known || strcmp(own[i], pair) == 0;
        if (!is_known) fe->pair_of[g * PCS_MAX_CELL_FIELDS + k] = picture_find_pair(names, nfield, fe->npair, pair);
    }
}

// Assigns columns of the picture to all fields; pairs come last.
static pcs_status picture_name_columns(pcs_system *self, fe_data *fe, const char **names, int *nfield)
{
    size_t room = (size_t)fe->model.ngroup * PCS_MAX_CELL_FIELDS;
    PCS_TAKE(self->ctx, fe->field_of, room + 1, "the picture");
    PCS_TAKE(self->ctx, fe->pair_of, room, "the picture");
    for (size_t i = 0; i <= room; i++) fe->field_of[i] = -1;
    for (size_t i = 0; i < room; i++) fe->pair_of[i] = -1;
    int count = 0;
    for (int g = 0; g < fe->model.ngroup; g++) {
        const char *const *own = fe->model.groups[g].ops->fields;
        for (int k = 0; own[k] != NULL; k++)
            fe->field_of[g * PCS_MAX_CELL_FIELDS + k] = picture_field(names, &count, own[k]);
    }
    *nfield = count;
    if (picture_wants_ends(fe))
        for (int g = 0; g < fe->model.ngroup; g++) picture_add_ends(fe, g, names, &count);
    fe->npair = count - *nfield;
    for (int g = 0; g < fe->model.ngroup; g++) picture_pair_middles(fe, g, names, *nfield);
    return PCS_OK;
}

// Drops the columns of values at cell ends, which nothing needs if no section forces are drawn at points.
static void picture_drop_pairs(fe_data *fe, int nfield)
{
    for (int i = 0; i < fe->model.ngroup * PCS_MAX_CELL_FIELDS; i++) {
        if (fe->field_of[i] >= nfield) fe->field_of[i] = -1;
        fe->pair_of[i] = -1;
    }
    fe->npair = 0;
}

pcs_status pcs_fe_make_picture(pcs_system *self, fe_data *fe)
{
    const pcs_mesh *mesh = fe->model.mesh, *shown = fe->model.shown;
    pcs_picture *picture;
    const char **names;
    double **fields;
    int count;
    PCS_TAKE(self->ctx, picture, 1, "the picture");
    PCS_TAKE(self->ctx, names, (size_t)fe->model.ngroup * PCS_MAX_CELL_FIELDS, "the picture");
    PCS_TRY(picture_name_columns(self, fe, names, &count));
    PCS_TAKE(self->ctx, fields, count + fe->npair, "the picture");
    *picture = (pcs_picture){ .nfield = count, .field_names = names, .fields = fields };
    picture->npoint = picture->nall_node = mesh->share == NULL ? mesh->nnode : mesh->share->nnode;
    picture->ncell = picture->nall_cell = mesh->share == NULL ? mesh->ncell : mesh->share->ncell;
    picture->is_piece = fe->model.shows_pieces && fe->share != NULL;
    picture->is_elsewhere = !picture->is_piece && !pcs_is_root(self->ctx);
    if (shown != NULL) {
        picture->reference = (const double(*)[3])shown->x;
        picture->cells = (const int(*)[2])shown->cell;
    }
    if (fe->share != NULL && !picture->is_piece) PCS_TRY(picture_plan(self, fe));
    PCS_TRY(picture_find_groups(self, fe));
    PCS_TRY(pcs_fe_show_tapers(self, fe));
    PCS_TRY(picture_fill(self, fe, picture));
    if (!fe->has_members) picture_drop_pairs(fe, count);
    PCS_TRY(picture_take_arrays(self, picture, fields));
    PCS_TRY(fe_take_section_forces(self, fe, picture));
    self->picture = picture;
    return PCS_OK;
}

// Collects the whole picture on rank 0.
static void picture_collect(const pcs_system *self, pcs_picture *picture)
{
    const pcs_comm *comm = self->layout->comm;
    const fe_share *share = ((const fe_data *)self->data)->share;
    double(*const vectors[])[3] = { picture->displacement, picture->velocity, picture->rotation, picture->spin };
    for (int i = 0; i < 4; i++)
        if (vectors[i] != NULL) comm->collect(comm, share->points, 3, vectors[i][0], vectors[i][0]);
    if (picture->section_y != NULL) comm->collect(comm, share->cells, 3, picture->section_y[0], picture->section_y[0]);
    for (int k = 0; k < picture->nfield + ((const fe_data *)self->data)->npair; k++)
        comm->collect(comm, share->cells, 1, picture->fields[k], picture->fields[k]);
}

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
static void picture_ride(const fe_rider *rider, int node, pcs_picture *picture, int point)
{
    double R[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, turned[3], moving[3], moved[3];
    const double *turn = picture->rotation[node], *arm = rider->arm;
    pcs_cross(turn, arm, turned);
    if (rider->is_finite) {
        pcs_rotation_exp(turn, R);
        pcs_rotation_apply(R, arm, turned);
        for (int k = 0; k < 3; k++) turned[k] -= arm[k];
    }
    pcs_cross(picture->spin[node], arm, moving);
    pcs_rotation_apply(R, moving, moved);
    for (int k = 0; k < 3; k++) {
        picture->displacement[point][k] += turned[k];
        picture->velocity[point][k] += moved[k];
    }
}

// Copies the motion of nodes to the points that repeat them, and adds that of the arms in between.
static void picture_draw_copies(const fe_data *fe, pcs_picture *picture)
{
    for (int i = picture->npoint - picture->nsplit; i < picture->npoint; i++) {
        int node = fe->node_of_point[i];
        memcpy(picture->displacement[i], picture->displacement[node], sizeof picture->displacement[i]);
        memcpy(picture->velocity[i], picture->velocity[node], sizeof picture->velocity[i]);
        if (picture->rotation != NULL)
            memcpy(picture->rotation[i], picture->rotation[node], sizeof picture->rotation[i]);
        if (picture->spin != NULL) picture_ride(&fe->arm_of_point[i], node, picture, i);
    }
}

static void picture_draw_node(const fe_data *fe, pcs_instant state, int node, pcs_picture *picture, int at)
{
    pcs_dofmap_vector(&fe->map, false, node, state.q, picture->displacement[at]);
    pcs_dofmap_vector(&fe->map, false, node, state.v, picture->velocity[at]);
    if (picture->rotation != NULL) pcs_dofmap_vector(&fe->map, true, node, state.q, picture->rotation[at]);
    if (picture->spin != NULL) pcs_dofmap_vector(&fe->map, true, node, state.v, picture->spin[at]);
}

// Draws own nodes at their numbers in the mesh, or consecutively if another rank shows them.
static void picture_draw_nodes(const fe_data *fe, pcs_instant state, pcs_picture *picture)
{
    int count = 0;
    for (int node = 0; node < fe->model.mesh->nnode; node++) {
        if (!pcs_fe_owns(fe, node)) continue;
        int at = picture->is_elsewhere ? count++ : pcs_mesh_node_number(fe->model.mesh, node);
        picture_draw_node(fe, state, node, picture, at);
    }
}

// Draws the points of a part, and the nodes with obstacles.
static void picture_draw_part(const fe_data *fe, pcs_instant state, pcs_picture *picture)
{
    for (int i = 0; i < picture->npoint; i++) {
        picture_draw_node(fe, state, fe->node_of_point[i], picture, i);
        if (picture->spin != NULL) picture_ride(&fe->arm_of_point[i], i, picture, i);
    }
    for (int i = 0; i < fe->part->ncarrier; i++)
        picture_draw_node(fe, state, fe->part->carrier[i][0], picture, fe->part->carrier[i][1]);
}

// Stores the fields of a cell in their columns.
static void picture_put_fields(const fe_data *fe, int group, const double *value, int at, pcs_picture *picture)
{
    const int *field = fe->field_of + (size_t)group * PCS_MAX_CELL_FIELDS;
    const int *pair = fe->pair_of + (size_t)group * PCS_MAX_CELL_FIELDS;
    for (int k = 0; k < PCS_MAX_CELL_FIELDS && field[k] >= 0; k++) {
        picture->fields[field[k]][at] = value[k];
        if (pair[k] >= 0) picture->fields[pair[k]][at] = picture->fields[pair[k] + 1][at] = value[k];
    }
}

static void picture_draw_cells(const pcs_system *self, pcs_instant state, pcs_picture *picture)
{
    const fe_data *fe = self->data;
    int count = 0;
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_batch *batch = &fe->batches[g];
        pcs_cell_state at = { .q = state.q, .v = state.v };
        const pcs_element_ops *ops = fe->model.groups[g].ops;
        for (int c = 0; c < batch->ncell; c++) {
            double value[PCS_MAX_CELL_FIELDS], force[PCS_MAX_CELL_DOFS];
            bool is_next = picture->is_elsewhere || picture->is_piece;
            int place = is_next ? count++ : pcs_mesh_cell_number(fe->model.mesh, batch->cells[c]);
            at.line_load = pcs_fe_spread_force(self, state, g, c, force);
            ops->read_fields(batch, c, &at, value);
            if (ops->section_offset != 0) picture_section_axis(fe, batch, g, c, state.q, picture->section_y[place]);
            picture_put_fields(fe, g, value, place, picture);
        }
    }
}

void pcs_fe_draw(pcs_system *self, pcs_instant at, pcs_picture *picture)
{
    const fe_data *fe = self->data;
    picture_draw_cells(self, at, picture);
    if (fe->part != NULL) {
        picture_draw_part(fe, at, picture);
        fe_share_picture(self, picture);
    } else {
        picture_draw_nodes(fe, at, picture);
        if (self->layout != NULL) picture_collect(self, picture);
        if (picture->is_elsewhere) return;
        picture_draw_copies(fe, picture);
    }
    fe_draw_section_forces(fe, picture);
}
