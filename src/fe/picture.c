// Fills pictures for ParaView: points, cells, displacements, velocities and the fields of elements.

#include "core/rotation.h"
#include "elements/beam.h"
#include "fe/data.h"

#include <string.h>

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
        (void)pcs_fe_cell_arms(fe, c, arm);
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
    status = pcs_comm_agree(self->ctx, status);
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
        if (!pcs_fe_draws_arms(fe, c)) continue;
        (void)pcs_fe_cell_arms(fe, c, arm);
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
static void picture_collect_groups(const pcs_system *self, const fe_data *fe, double *group, int *out)
{
    const pcs_mesh *mesh = fe->model.mesh, *shown = fe->model.shown;
    const pcs_comm *comm = self->layout->comm;
    int count = 0;
    for (int g = 0; g < fe->model.ngroup; g++)
        for (int c = 0; c < fe->batches[g].ncell; c++)
            group[shown == NULL ? count++ : pcs_mesh_cell_number(mesh, fe->batches[g].cells[c])] = g;
    comm->collect(comm, fe->share->cells, 1, group, group);
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
    status = pcs_comm_agree(self->ctx, status);
    if (status == PCS_OK) picture_collect_groups(self, fe, group, groups);
    fe->group_shown = groups;
    pcs_scratch_free(group);
    return status;
}

// Creates all points on this rank, or on rank 0.
static pcs_status picture_take_all(pcs_system *self, fe_data *fe, pcs_picture *picture)
{
    PCS_TRY(pcs_fe_split_points(self, fe, picture, NULL));
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
        status = pcs_fe_find_carried(self, fe, picture->is_piece, &carried);
    if (status == PCS_OK) status = picture_find_obstacles(self, picture, &carried, &obstacles);
    if (status == PCS_OK)
        status = picture->is_piece ? pcs_fe_take_part(self, fe, picture, obstacles, &carried)
                                   : picture_take_all(self, fe, picture);
    pcs_fe_free_carried(&carried);
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
        const char *pair = pcs_fe_pair_name(ops->fields[k]);
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
    PCS_TRY(pcs_fe_take_section_forces(self, fe, picture));
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
        pcs_fe_share_picture(self, picture);
    } else {
        picture_draw_nodes(fe, at, picture);
        if (self->layout != NULL) picture_collect(self, picture);
        if (picture->is_elsewhere) return;
        picture_draw_copies(fe, picture);
    }
    pcs_fe_draw_section_forces(fe, picture);
}
