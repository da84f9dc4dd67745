// Round journals in a bearing that a node carries: contact with backlash between a shaft and its housing.
//
//   p = middle of the journal, c = node of the housing, a = axis of the bearing, which turns with the housing
//   d = p - c less its part along a,  u = d/|d|,   g = R - r - |d|,   n = -u on the journal, +u on the housing
//
// The middle of a journal may lie at an offset from its node: a rigid arm. Friction acts where the surfaces touch, at
// p + r u: it turns both. Where rotations are small the axis keeps its direction; else a' = w x a and, with
// s = a . (p - c),
//   g'' = -u . (p'' - c'') + 2 s' u . a' + s u . a'' - |d| (u . a')^2 - (t . d')^2/|d|,   t = a x u the way round

#include "rows/gap.h"

#include <math.h>
#include <string.h>

typedef struct journal_params {
    const char *nodes, *housing;
    double axis[3], offset[3];
    double radius, node_radius;
} journal_params;

static const pcs_option journal_options[] = {
    PCS_TEXT("nodes", journal_params, nodes, PCS_REQUIRED, "node set of the shaft"),
    PCS_TEXT("housing", journal_params, housing, PCS_REQUIRED, "node set of one node, the centre of the bearing"),
    PCS_VECTOR("axis", journal_params, axis, PCS_REQUIRED, PCS_ANY_NUMBER, "of the bearing; any length"),
    PCS_REAL("radius", journal_params, radius, PCS_REQUIRED, PCS_POSITIVE, "of the bearing, m"),
    PCS_REAL("node_radius", journal_params, node_radius, PCS_REQUIRED, PCS_POSITIVE, "of the journal, m"),
    PCS_VECTOR("offset", journal_params, offset, PCS_DEFAULT("[0, 0, 0]"), PCS_ANY_NUMBER,
               "from the node of the shaft to the middle of its journal, m; a rigid arm"),
    { 0 },
};

static const pcs_source_set journal_sets[] = { { .option = "nodes" },
                                               { .option = "housing", .is_common = true },
                                               { 0 } };

static const char *journal_check(const void *params, const char **option)
{
    const journal_params *p = params;
    double unit[3];
    *option = "axis";
    if (!pcs_normalize3(p->axis, unit)) return "the axis has no direction";
    *option = "node_radius";
    return p->node_radius >= p->radius ? "the journal does not fit into the bearing" : NULL;
}

typedef struct journal_contact {
    const pcs_set *nodes;
    int housing, ntangent;
    double axis[3], across[3], offset[3]; // across: unit vector perpendicular to the axis
    double radius, node_radius;
} journal_contact;

// Checks that all nodes move across the axis in two directions, and that either all journals or none move along it.
static pcs_status journal_look_at_nodes(pcs_context *ctx, journal_contact *self, const pcs_dofmap *map)
{
    for (int i = -1; i < self->nodes->count; i++) {
        int node = i < 0 ? self->housing : self->nodes->items[i];
        double across[2][3], tangent[2][3];
        if (pcs_gap_tangents(map, node, self->axis, across) < 2)
            return pcs_fail(ctx, PCS_BAD_INPUT,
                            "node %d cannot move across the axis [%g, %g, %g] in two directions: a bearing is round",
                            node, self->axis[0], self->axis[1], self->axis[2]);
        if (i < 0) {
            for (int k = 0; k < 3; k++) self->across[k] = across[0][k];
            continue;
        }
        int ntangent = pcs_gap_tangents(map, node, across[0], tangent);
        PCS_TRY(pcs_gap_demand_tangents(ctx, node, ntangent, i == 0 ? ntangent : self->ntangent));
        self->ntangent = ntangent;
    }
    return PCS_OK;
}

static int journal_count(const void *params, const pcs_mesh *mesh)
{
    return 1;
}

static pcs_status journal_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                                 pcs_source_shape *shape)
{
    const journal_params *p = params;
    const pcs_set *housing = pcs_mesh_node_set(map->mesh, p->housing);
    journal_contact *self;
    PCS_TAKE(ctx, self, 1, "a contact");
    if (housing->count != 1)
        return pcs_fail(ctx, PCS_BAD_INPUT, "the housing '%s' has %d nodes, must be one", p->housing, housing->count);
    self->nodes = pcs_set_touching(pcs_mesh_node_set(map->mesh, p->nodes), p->nodes);
    self->housing = housing->items[0];
    pcs_normalize3(p->axis, self->axis);
    for (int k = 0; k < 3; k++) self->offset[k] = p->offset[k];
    self->radius = p->radius;
    self->node_radius = p->node_radius;
    for (int i = 0; i < self->nodes->count; i++)
        if (self->nodes->items[i] == self->housing)
            return pcs_fail(ctx, PCS_BAD_INPUT, "node %d is both journal and housing", self->housing);
    PCS_TRY(journal_look_at_nodes(ctx, self, map));
    *shape = (pcs_source_shape){ .nrow = self->nodes->count, .ntangent = self->ntangent };
    *instance = self;
    return PCS_OK;
}

// Holds the current position of a journal in its bearing, m.
typedef struct journal_state {
    double axis[3], u[3], distance, along; // along: coordinate of the middle on the axis, from the housing
    double middle[3], arm[3];              // middle of the journal, and arm to it from its node
    double touch[3], touch_house[3];       // arms from both nodes to the point of contact
} journal_state;

static void journal_find(const journal_contact *self, const pcs_place *shaft, const pcs_place *house, journal_state *s)
{
    double d[3];
    if (house->is_small)
        for (int k = 0; k < 3; k++) s->axis[k] = self->axis[k];
    else pcs_rotation_apply(house->R, self->axis, s->axis);
    pcs_place_point(shaft, self->offset, s->middle, s->arm);
    for (int k = 0; k < 3; k++) d[k] = s->middle[k] - house->x[k];
    double along = s->along = pcs_dot3(s->axis, d);
    for (int k = 0; k < 3; k++) s->u[k] = d[k] - along * s->axis[k];
    s->distance = pcs_norm3(s->u);
    for (int k = 0; k < 3; k++) {
        s->u[k] = s->distance > 0.0 ? s->u[k] / s->distance : self->across[k];
        s->touch[k] = s->arm[k] + self->node_radius * s->u[k];
        s->touch_house[k] = self->radius * s->u[k] + (house->is_small ? 0.0 : along * s->axis[k]);
    }
}

// Returns the second derivative of the gap at constant velocities and angular velocities, m/s^2.
static double journal_bias(const journal_state *s, const pcs_place *shaft, const pcs_place *house)
{
    double swing[3], pull[3] = { 0 }, v[3], round[3], rate[3] = { 0 }, bend[3] = { 0 }; // rate, bend: a' and a''
    pcs_cross(shaft->w, s->arm, swing);
    if (!shaft->is_small) pcs_cross(shaft->w, swing, pull);
    if (!house->is_small) {
        pcs_cross(house->w, s->axis, rate);
        pcs_cross(house->w, rate, bend);
    }
    for (int k = 0; k < 3; k++) v[k] = shaft->v[k] + swing[k] - house->v[k];
    pcs_cross(s->axis, s->u, round);
    double tilt = pcs_dot3(s->u, rate), slide = pcs_dot3(s->axis, v) + s->distance * tilt; // a' is across a
    double speed = pcs_dot3(v, round) - s->along * pcs_dot3(rate, round);
    double bias = -pcs_dot3(s->u, pull) + 2.0 * slide * tilt + s->along * pcs_dot3(s->u, bend);
    bias -= s->distance * tilt * tilt;
    return s->distance > 0.0 ? bias - speed * speed / s->distance : bias;
}

static void journal_evaluate_row(const journal_contact *self, const pcs_place *shaft, const pcs_place *house, int node,
                                 pcs_row_state *row)
{
    journal_state s;
    double tangent[2][3], opposite[3];
    journal_find(self, shaft, house, &s);
    row->gap = self->radius - self->node_radius - s.distance;
    for (int k = 0; k < 3; k++) {
        row->normal[k] = -s.u[k];
        row->point[k] = s.middle[k] + self->node_radius * s.u[k];
        tangent[1][k] = s.axis[k];
    }
    pcs_row_push(&row->direction, node, s.arm, row->normal);
    pcs_row_push(&row->direction, self->housing, s.touch_house, s.u);
    // The first tangent is along the circumference, the second along the axis.
    pcs_cross(s.axis, s.u, tangent[0]);
    for (int t = 0; t < self->ntangent; t++) {
        for (int k = 0; k < 3; k++) {
            opposite[k] = -tangent[t][k];
            row->across[t][k] = tangent[t][k];
        }
        pcs_row_push(&row->tangent[t], node, s.touch, tangent[t]);
        pcs_row_push(&row->tangent[t], self->housing, s.touch_house, opposite);
    }
    row->bias = journal_bias(&s, shaft, house);
}

static void journal_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const journal_contact *self = instance;
    pcs_place house, shaft;
    places->find(places, self->housing, &house);
    for (int i = 0; i < self->nodes->count; i++) {
        places->find(places, self->nodes->items[i], &shaft);
        journal_evaluate_row(self, &shaft, &house, self->nodes->items[i], &rows[i]);
    }
}

// Fills `*out` with the bearing, fixed in space if supports fix its node completely.
static bool journal_show(const void *params, const void *instance, const pcs_dofmap *map, int part, pcs_obstacle *out)
{
    if (part > 0) return false;
    const journal_params *p = params;
    const pcs_set *nodes = pcs_mesh_node_set(map->mesh, p->nodes);
    int housing = pcs_mesh_node_set(map->mesh, p->housing)->items[0];
    for (int i = map->first[housing]; i < map->first[housing + 1]; i++)
        out->is_hosted = out->is_hosted || map->dof[i].equation != -1;
    out->kind = PCS_OBSTACLE_BORE;
    pcs_normalize3(p->axis, out->axis);
    out->host = housing;
    out->length = 2.0 * p->radius;
    if (!out->is_hosted) memcpy(out->point, map->mesh->x[housing], sizeof out->point);
    out->radius = p->radius;
    out->node_radius = p->node_radius;
    out->nnode = nodes->count;
    out->nodes = nodes->items;
    return true;
}

const pcs_source_ops pcs_gap_journal = {
    .name = "journal",
    .summary = "round journals of a shaft in a bearing on another node, with clearance",
    .options = journal_options,
    .params_size = sizeof(journal_params),
    .sets = journal_sets,
    .check = journal_check,
    .create = journal_create,
    .evaluate = journal_evaluate,
    .count = journal_count,
    .show = journal_show,
};
