// Builds a finite-element system: batches of cells, equations, matrices, contact rows, picture.

#include "fe/fe.h"

#include "fe/data.h"
#include "mesh/merge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Finds the nodes with finite rotations in space, and the relative rotation of the ends of cells.

static int rotations_count(const fe_data *fe, int node, int equation[3])
{
    int count = 0;
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (!d->is_rotation || !d->is_finite) continue;
        if (count < 3) equation[count] = d->equation;
        count++;
    }
    return count;
}

// Lists a rotation in space, unless supports fix two of its components: the third is then an angle, which adds up.
static void rotations_note(fe_data *fe, int node)
{
    int equation[3];
    if (rotations_count(fe, node, equation) != 3) return;
    int nfixed = (equation[0] < 0) + (equation[1] < 0) + (equation[2] < 0);
    if (nfixed == 2) return;
    fe->spin_of_node[node] = fe->nspin;
    memcpy(fe->spins[fe->nspin++], equation, sizeof equation);
}

// Returns the order of a node: 0 if own, 1 for copies for cells, 2 for copies for distant contacts.
static int rotations_stage(const fe_data *fe, int node)
{
    if (pcs_fe_owns(fe, node)) return 0;
    const pcs_layout *layout = &fe->share->layout;
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++)
        if (fe->map.dof[i].equation >= layout->n - layout->nfar) return 2;
    return 1;
}

// Lists the equations of the rotations that are not fixed.
static pcs_status rotations_list(pcs_system *self, const fe_data *fe)
{
    int *equation;
    bool *begins;
    PCS_TAKE(self->ctx, equation, fe->nspin, "rotations");
    PCS_TAKE(self->ctx, begins, self->nv, "rotations");
    for (int s = 0; s < fe->nspin; s++) {
        if (fe->spins[s][0] < 0) continue;
        equation[self->rotations.count++] = fe->spins[s][0];
        begins[fe->spins[s][0]] = true;
    }
    self->rotations.equation = equation;
    self->rotations.begins = begins;
    return PCS_OK;
}

// Lists the nodes with finite rotations in space.
static pcs_status fe_find_rotations(pcs_system *self, fe_data *fe)
{
    int nnode = fe->model.mesh->nnode, equation[3], count = 0;
    for (int node = 0; node < nnode; node++) count += rotations_count(fe, node, equation) == 3;
    if (count == 0) return PCS_OK;
    PCS_TAKE(self->ctx, fe->spins, count, "rotations");
    PCS_TAKE(self->ctx, fe->spin_of_node, nnode, "rotations");
    for (int node = 0; node < nnode; node++) fe->spin_of_node[node] = -1;
    for (int stage = 0; stage < 3; stage++)
        for (int node = 0; node < nnode; node++)
            if (rotations_stage(fe, node) == stage) rotations_note(fe, node);
    return rotations_list(self, fe);
}

// Returns the angle, rad, between the nodes of a cell; 0 unless both have finite rotations in space.
static double rotations_between(const fe_data *fe, const double *q, const int node[2])
{
    double p[2][3] = { { 0.0 } }, turn[3];
    for (int i = 0; i < 2; i++) {
        int spin = fe->spin_of_node[node[i]];
        if (spin < 0) return 0.0;
        for (int k = 0; k < 3; k++)
            if (fe->spins[spin][k] >= 0) p[i][k] = (i == 0 ? -1.0 : 1.0) * q[fe->spins[spin][k]];
    }
    pcs_rotation_compose(p[0], p[1], turn);
    return pcs_norm3(turn);
}

// Reports the cell with the largest relative rotation above 2.8 rad: at half a turn bending moments jump.
void pcs_fe_name_bent(const pcs_system *self, const double *q, size_t size, char *text)
{
    static const double near_half = 2.8; // rad
    const fe_data *fe = self->data;
    double most = near_half;
    text[0] = '\0';
    for (int g = 0; g < fe->model.ngroup && fe->nspin > 0; g++) {
        const pcs_batch *batch = &fe->batches[g];
        if (batch->ops->nnode == 1 || !batch->ops->is_nonlinear) continue;
        for (int c = 0; c < batch->ncell; c++) {
            const int *node = batch->nodes[batch->cells[c]];
            double turn = rotations_between(fe, q, node);
            if (turn <= most) continue;
            most = turn;
            snprintf(text, size,
                     "; the ends of the cell from node %d to node %d of '%s' have turned by %.3g rad against each "
                     "other, where half a turn is the most: more cells are needed",
                     pcs_mesh_node_number(fe->model.mesh, node[0]), pcs_mesh_node_number(fe->model.mesh, node[1]),
                     fe->model.groups[g].name, turn);
        }
    }
}

// Finds the sizes of the coordinates of a mesh.

static double scale_distance(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

// Finds the longest cell at every node, m.
static void scale_find_cells(const pcs_mesh *mesh, double *longest)
{
    for (int i = 0; i < mesh->nnode; i++) longest[i] = 0.0;
    for (int c = 0; c < mesh->ncell; c++)
        for (int end = 0; end < 2; end++) {
            double *here = &longest[mesh->cell[c][end]];
            *here = fmax(*here, scale_distance(mesh->x[mesh->cell[c][0]], mesh->x[mesh->cell[c][1]]));
        }
}

// Returns the size of the model, m; for a single point its distance from the origin, as joints may fix it from there.
static double scale_model(const pcs_system *system, const pcs_mesh *mesh)
{
    const double origin[3] = { 0 };
    double size = system->length;
    if (!(system->length > 0.0))
        for (int i = 0; i < mesh->nnode; i++) size = fmax(size, scale_distance(mesh->x[i], origin));
    return size > 0.0 ? size : 1.0;
}

// Returns 0, 1, 2 for a displacement mostly along x, y, z; 3, 4, 5 for a rotation.
static int scale_axis(const pcs_dof *d)
{
    int along = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(d->direction[k]) > fabs(d->direction[along])) along = k;
    return d->is_rotation ? along + 3 : along;
}

pcs_status pcs_fe_find_sizes(pcs_system *system)
{
    pcs_scale *out = &system->scale;
    const fe_data *fe = system->data;
    const pcs_mesh *mesh = fe->model.mesh;
    const double origin[3] = { 0 };
    double *longest, size = scale_model(system, mesh);
    PCS_TRY(pcs_scale_create(system));
    PCS_TAKE(system->ctx, longest, mesh->nnode, "sizes of coordinates");
    out->holds[6] = false;
    scale_find_cells(mesh, longest);
    for (int i = 0; i < fe->map.ndof; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (d->equation == -1) out->holds[scale_axis(d)] = true;
        if (d->equation < 0) continue;
        out->axis[d->equation] = (unsigned char)scale_axis(d);
        out->is_angle[d->equation] = d->is_rotation;
        out->model[d->equation] = d->is_rotation ? 1.0 : size;
        out->cell[d->equation] = d->is_rotation ? 1.0 : longest[d->node];
        out->place[d->equation] = d->is_rotation ? 1.0 : fmax(scale_distance(mesh->x[d->node], origin), size);
    }
    return PCS_OK;
}

// Puts every cell of the group's set into its batch.
static pcs_status fe_make_batch(pcs_context *ctx, fe_data *fe, int group, const char **culprit)
{
    const pcs_fe_group *g = &fe->model.groups[group];
    const pcs_mesh *mesh = fe->model.mesh;
    fe->batches[group] = (pcs_batch){
        .ops = g->ops,
        .name = g->name,
        .params = g->params,
        .damping_mass = g->damping_mass + fe->model.damping_mass,
        .damping_stiffness = g->damping_stiffness + fe->model.damping_stiffness,
        .step = fe->model.step,
        .ncell = g->cells->count,
        .cells = g->cells->items,
        .x = (const double(*)[3])mesh->x,
        .nodes = (const int(*)[2])mesh->cell,
    };
    for (int i = 0; i < g->cells->count; i++) {
        int cell = g->cells->items[i], other = fe->batch_of_cell[cell];
        if (other >= 0) {
            *culprit = pcs_culprit(ctx, "elements", g->name);
            return pcs_fail(ctx, PCS_BAD_INPUT, "cell %d of set '%s' belongs to element group '%s' already", cell,
                            g->cells->name, fe->model.groups[other].name);
        }
        fe->batch_of_cell[cell] = group;
        fe->place_of_cell[cell] = i;
    }
    return PCS_OK;
}

// Selects the kernels of elements that have others for these parameters.
static pcs_status fe_choose_kernels(pcs_context *ctx, fe_data *fe)
{
    pcs_fe_group *groups;
    PCS_TAKE(ctx, groups, fe->model.ngroup, "element groups");
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_element_ops *own = fe->model.groups[g].ops;
        const pcs_element_ops *other = own->variant == NULL ? NULL : own->variant(fe->model.groups[g].params);
        groups[g] = fe->model.groups[g];
        if (other != NULL) groups[g].ops = other;
    }
    fe->model.groups = groups;
    return PCS_OK;
}

static pcs_status fe_make_batches(pcs_context *ctx, fe_data *fe, const char **culprit)
{
    int ncell = fe->model.mesh->ncell;
    PCS_TAKE(ctx, fe->batches, 2 * (size_t)fe->model.ngroup, "element groups");
    PCS_TAKE(ctx, fe->batch_of_cell, ncell, "element groups");
    PCS_TAKE(ctx, fe->place_of_cell, ncell, "element groups");
    for (int i = 0; i < ncell; i++) fe->batch_of_cell[i] = -1;
    for (int g = 0; g < fe->model.ngroup; g++) PCS_TRY(fe_make_batch(ctx, fe, g, culprit));
    return PCS_OK;
}

static pcs_status fe_set_batches_up(pcs_context *ctx, fe_data *fe, const char **culprit)
{
    for (int b = 0; b < fe->nbatch; b++) {
        pcs_status status = pcs_fe_ops(fe, b)->setup(ctx, &fe->batches[b]);
        if (status == PCS_BAD_INPUT) *culprit = pcs_culprit(ctx, "elements", fe->batches[b].name);
        if (status != PCS_OK) return status;
    }
    return PCS_OK;
}

// Returns the radius of gyration, m, of a body that is a single point.
static double fe_gyration(const pcs_system *self)
{
    const fe_data *fe = self->data;
    double mass = 0.0, inertia = 0.0;
    for (int i = 0; i < fe->map.ndof; i++) {
        int equation = fe->map.dof[i].equation;
        if (equation < 0) continue;
        double entry = pcs_matrix_diagonal(self->M, equation);
        if (fe->map.dof[i].is_rotation) inertia = fmax(inertia, entry);
        else mass = fmax(mass, entry);
    }
    return mass > 0.0 ? sqrt(inertia / mass) : 0.0;
}

// Returns the largest gap of contacts, m, or, if all gaps are round-off of positions, the distance from the origin.
static double fe_way_to_contacts(const pcs_system *self)
{
    const fe_data *fe = self->data;
    const pcs_row_state *states = self->row_set.table->states;
    double way = 0.0;
    if (fe->model.ncontact == 0) return 0.0;
    for (int j = 0; j < pcs_system_npoint(self); j++) way = fmax(way, fabs(states[j].gap));
    way = pcs_rows_max(self, way);
    return way > PCS_ROUND_LENGTH * self->place ? way : self->place;
}

// Sets `length` to the diagonal of the box around nodes and joint points in the reference state, or to the size of
// contacts or the largest gap; and `place`, the distance of the box from the origin, m.
static void fe_find_length(pcs_system *self)
{
    const fe_data *fe = self->data;
    const pcs_row_state *states = self->row_set.table->states;
    double sum = 0.0, far = 0.0, low[3], high[3];
    pcs_mesh_box(fe->model.mesh, low, high);
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < self->nrow; j++) {
            if (!self->contacts[self->rows[j].contact].is_joint) continue;
            low[k] = fmin(low[k], states[j].point[k]);
            high[k] = fmax(high[k], states[j].point[k]);
        }
        double to = pcs_rows_max(self, high[k]), from = -pcs_rows_max(self, -low[k]);
        sum += (to - from) * (to - from);
        far += fmax(from * from, to * to);
    }
    double length = sum > 0.0 ? sqrt(sum) : fe_gyration(self);
    for (int k = 0; k < fe->model.ncontact; k++) length = fmax(length, self->row_set.table->sources[k].shape.size);
    self->place = sqrt(far);
    self->length = length > 0.0 ? length : fe_way_to_contacts(self);
}

// Sets the lengths, m, by which changes of angles are scaled in nonlinear systems; linear ones compare no changes.
static pcs_status fe_find_arms(pcs_system *self)
{
    const pcs_dofmap *map = &((const fe_data *)self->data)->map;
    double *arms;
    if (self->is_linear || !(self->length > 0.0)) return PCS_OK;
    PCS_TAKE(self->ctx, arms, self->nv, "sizes of angles");
    for (int i = 0; i < self->nv; i++) arms[i] = 1.0;
    for (int i = 0; i < map->ndof; i++)
        if (map->dof[i].is_rotation && map->dof[i].equation >= 0) arms[map->dof[i].equation] = self->length;
    self->arms = arms;
    return PCS_OK;
}

// Computes the total mass, kg, from the kinetic energy of unit velocities along all free translational dofs, divided by
// the number of directions of a node.
static pcs_status fe_total_mass(pcs_system *self)
{
    const fe_data *fe = self->data;
    double *one = pcs_scratch(NULL, (size_t)self->nv, sizeof *one);
    if (one == NULL) return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: %d equations", self->nv);
    int most = 1;
    for (int i = 0, count = 0, node = -1; i < fe->map.ndof; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        count = d->node == node ? count + !d->is_rotation : !d->is_rotation;
        node = d->node;
        if (count > most) most = count;
        if (d->equation >= 0) one[d->equation] = d->is_rotation ? 0.0 : 1.0;
    }
    most = (int)pcs_system_max(self, most);
    pcs_measure measure;
    self->ops->measure(self, pcs_at(0.0, one, one), PCS_ENERGY, &measure);
    self->mass = 2.0 * measure.kinetic / most;
    pcs_scratch_free(one);
    return PCS_OK;
}

static pcs_status fe_find_directions(pcs_system *self, const pcs_dofmap *map)
{
    double(*direction)[3];
    PCS_TAKE(self->ctx, direction, self->nv, "directions of equations");
    for (int i = 0; i < map->ndof; i++) {
        const pcs_dof *d = &map->dof[i];
        if (d->equation >= 0 && !d->is_rotation) memcpy(direction[d->equation], d->direction, sizeof d->direction);
    }
    self->direction = (const double(*)[3])direction;
    return PCS_OK;
}

// Sets whether the system is linear and which parts vary; prepares slices and, if rows vary, slopes of joints.
static pcs_status fe_find_abilities(pcs_system *self, fe_data *fe)
{
    self->is_linear = !fe->is_nonlinear && !self->row_set.vary;
    self->tangents_vary = fe->is_nonlinear;
    pcs_fe_find_slices(self, fe);
    return self->row_set.vary && fe->model.njoint > 0 ? pcs_derivative_create(self) : PCS_OK;
}

// Makes flags agree on all ranks: loads and rotations may be at nodes that only other ranks have.
static void fe_find_abilities_of_all(pcs_system *self, fe_data *fe)
{
    fe->has_pushes = pcs_system_max(self, fe->has_pushes) > 0.0;
    self->rotations.are_somewhere = pcs_system_max(self, self->rotations.count > 0) > 0.0;
    fe->is_balanced = !fe->has_pushes && !fe->has_laws;
    for (int g = 0; g < fe->model.ngroup; g++) fe->is_balanced = fe->is_balanced && fe->batches[g].is_balanced;
}

// Sets `base` (gravity, or zeros) if one batch reaches all equations of a short bar without loads: it then fills f.
static pcs_status fe_find_base(pcs_system *self, fe_data *fe)
{
    const pcs_batch *only = fe->batches;
    double *zero;
    if (fe->nbatch != 1 || fe->has_ranges || fe->has_pushes || fe->has_laws) return PCS_OK;
    if (only->nput != self->nv) return PCS_OK;
    fe->base = self->gravity;
    if (fe->base != NULL) return PCS_OK;
    PCS_TAKE(self->ctx, zero, self->nv, "forces");
    fe->base = zero;
    return PCS_OK;
}

static pcs_status fe_make_rows(pcs_system *self, const fe_data *fe, const char **culprit)
{
    PCS_TAKE(self->ctx, self->row_set.table, 1, "contacts");
    *self->row_set.table = (pcs_row_table){ .map = &fe->map,
                                            .ncontact = fe->model.ncontact,
                                            .njoint = fe->model.njoint,
                                            .nheld = fe->nheld,
                                            .contacts = fe->model.contacts,
                                            .joints = fe->model.joints,
                                            .joint_owner = fe->share == NULL ? NULL : fe->share->joint_owner };
    return pcs_table_create(self, culprit);
}

// Adds loads, rows, internal variables and reactions.
static pcs_status fe_add_rest(pcs_system *self, fe_data *fe, const char **culprit)
{
    if (fe->is_nonlinear) PCS_TRY(pcs_fe_plan_pieces(self, fe));
    PCS_TRY(pcs_fe_plan_ranges(self, fe));
    PCS_TRY(pcs_fe_apply_loads(self, fe, culprit));
    PCS_TRY(fe_make_rows(self, fe, culprit));
    PCS_TRY(pcs_fe_make_internal(self, fe));
    PCS_TRY(pcs_fe_make_reactions(self, fe, culprit));
    return fe_find_abilities(self, fe);
}

pcs_status pcs_fe_create(pcs_context *ctx, const pcs_fe_definition *definition, pcs_system **out, const char **culprit)
{
    pcs_system *self;
    fe_data *fe;
    fe_work *work;
    *culprit = NULL;
    PCS_TAKE(ctx, self, 1, "the system");
    PCS_TAKE(ctx, fe, 1, "the system");
    PCS_TAKE(ctx, work, 1, "the system");
    fe->model = *definition;
    bool shows_itself = pcs_mesh_is_whole(fe->model.mesh) || fe->model.shows_pieces;
    if (fe->model.shown == NULL && shows_itself) fe->model.shown = fe->model.mesh;
    *self =
        (pcs_system){ .ops = &pcs_system_fe, .name = "fe", .ctx = ctx, .data = fe, .work = work, .is_linear = true };
    PCS_TRY(fe_choose_kernels(ctx, fe));
    PCS_TRY(pcs_fe_agree(ctx, fe, fe_make_batches(ctx, fe, culprit)));
    for (int g = 0; g < fe->model.ngroup; g++) PCS_TRY(pcs_fe_taper(ctx, fe, g, culprit));
    PCS_TRY(pcs_fe_number_dofs(ctx, fe, culprit));
    self->nq = self->nv = self->rotations.nq = fe->map.nequation;
    if (fe->share != NULL) self->layout = &fe->share->layout;
    PCS_TRY(fe_find_directions(self, &fe->map));
    PCS_TRY(pcs_fe_agree(ctx, fe, fe_set_batches_up(ctx, fe, culprit)));
    PCS_TRY(fe_find_rotations(self, fe));
    pcs_fe_find_laws(fe);
    PCS_TRY(pcs_fe_assemble(self, fe, culprit));
    PCS_TRY(pcs_fe_agree(ctx, fe, fe_add_rest(self, fe, culprit)));
    fe_find_abilities_of_all(self, fe);
    PCS_TRY(fe_find_base(self, fe));
    PCS_TRY(pcs_fe_make_picture(self, fe));
    fe_find_length(self);
    PCS_TRY(pcs_fe_find_sizes(self));
    PCS_TRY(fe_find_arms(self));
    PCS_TRY(fe_total_mass(self));
    PCS_TRY(pcs_fe_find_stable_step(self, fe));
    *out = self;
    return PCS_OK;
}

const pcs_dofmap *pcs_fe_dofmap(const pcs_system *self)
{
    const fe_data *fe = self->data;
    return &fe->map;
}

const pcs_batch *pcs_fe_batch(const pcs_system *self, int group)
{
    const fe_data *fe = self->data;
    return &fe->batches[group];
}

const pcs_fe_definition *pcs_fe_model(const pcs_system *self)
{
    return &((const fe_data *)self->data)->model;
}
