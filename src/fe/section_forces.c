// Section forces at the nodes of bars and beams, for pictures: smooth along a member, where those of cells have steps.
//
// Cells with sections make chains: at most one of them ends at a point (b) and at most one begins there (a). A force f
// has values at the first (s) and the second node (e) of cells of lengths L, in equilibrium with loads along them. What
// is left between those of two cells that meet is of inertia, and as much acts along the cells; of elements
// that know forces in their middle alone, s = e, all is of that kind, and f is linear from middle to middle:
//   f = (e_b L_a + s_a L_b)/(L_a + L_b);    at an end  f = s_1 + (e_1 - s_2) L_1/(L_1 + L_2),  of one cell alone s_1
// The bending moment is the mean of the moments at the ends of the cells that meet: with its sign in the plane, its
// size in space. The bending stress follows from the moments at the node (elements/taper.h).
//
// A node at which members branch or meet head to head has several values: every cell there gets its own point, and its
// chain ends.

#include "core/rotation.h"
#include "elements/taper.h"
#include "fe/data.h"

#include <string.h>

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

const char *pcs_fe_pair_name(const char *field)
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

bool pcs_fe_has_section(const fe_data *fe, int cell)
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
        for (int k = 0; k < 2 && pcs_fe_has_section(fe, c); k++) meeting[mesh->cell[c][k]][k]++;
}

// Gives cells at branches points of their own; the first cell there keeps the node.
static void section_forces_split(const fe_data *fe, int (*meeting)[2], int (*cells)[2], int *node_of_point, int *count)
{
    const pcs_mesh *mesh = fe->model.shown;
    for (int c = 0; c < mesh->ncell; c++)
        for (int k = 0; k < 2 && pcs_fe_has_section(fe, c); k++) {
            int node = mesh->cell[c][k], *own = meeting[node];
            if (own[0] >= 0 && own[0] <= 1 && own[1] <= 1) continue;
            if (own[0] < 0) {
                node_of_point[*count] = node;
                cells[c][k] = (*count)++;
            }
            own[0] = -1; // taken
        }
}

bool pcs_fe_cell_arms(const fe_data *fe, int cell, double arm[2][3])
{
    const pcs_mesh *mesh = fe->model.shown;
    const int *node = mesh->cell[cell], group = fe->group_shown[cell];
    double span[3];
    memset(arm, 0, 2 * sizeof arm[0]);
    if (group < 0 || fe->model.groups[group].ops->arms == NULL) return false;
    for (int k = 0; k < 3; k++) span[k] = mesh->x[node[1]][k] - mesh->x[node[0]][k];
    return fe->model.groups[group].ops->arms(fe->model.groups[group].params, span, arm);
}

bool pcs_fe_draws_arms(const fe_data *fe, int cell)
{
    return !pcs_fe_has_section(fe, cell);
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
        bool is_finite = pcs_fe_cell_arms(fe, c, arm), is_vertex = to->cells[c][0] == to->cells[c][1];
        int *shared = pcs_fe_has_section(fe, c) ? reached : NULL;
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

pcs_status pcs_fe_split_points(pcs_system *self, fe_data *fe, pcs_picture *picture, fe_points *all)
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
        has_cells = pcs_fe_has_section(fe, c);
    return pcs_mesh_is_whole(fe->model.mesh) ? has_cells : pcs_system_max(self, has_cells) > 0.0;
}

// Returns the length of a cell of the picture, m; 0 if it has no section forces.
static double section_forces_length(const fe_data *fe, int cell)
{
    const pcs_mesh *mesh = fe->model.shown;
    int mesh_cell = pcs_fe_shown_cell(fe, cell);
    if (mesh_cell < 0) return fe->part->far_length[cell - fe->part->nshown];
    if (!pcs_fe_has_section(fe, mesh_cell)) return 0.0;
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
        chains->pair[chains->nlinear] = section_forces_find(picture, nfield + fe->npair, pcs_fe_pair_name(name));
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

pcs_status pcs_fe_take_section_forces(pcs_system *self, fe_data *fe, pcs_picture *picture)
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

void pcs_fe_draw_section_forces(const fe_data *fe, pcs_picture *picture)
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
