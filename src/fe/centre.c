// Centre of mass of a body, which is a set of cells, as a linear form of positions or velocities.
//
// With d_a the directions of the translations of a cell and e_k an axis its momentum is
//   p_k = sum_b w_kb v_b,   w_kb = sum_a (e_k . d_a) M_ab
// over all b: rotations take part where a mass matrix couples them. Its mass is that of a unit velocity in all n
// directions that its nodes have, m = 1/n sum_ab (d_a . d_b) M_ab, and the share of a node that of its rows. X is
// where the mass ends: at the node, or at an arm from it. Along the directions it goes in as velocities do, for those
// across a beam may be shared out otherwise than those along it; X' is what they leave out of X, as of a bar off its
// axis. So
//   v_k = p_k(v)/m,   u_k = p_k(q)/m,   x_k = u_k + 1/m sum_b (w_kb (d_b . X) + share_b X'_k)

#include "core/rotation.h"
#include "fe/data.h"

typedef struct body {
    const fe_data *fe;
    int axis;
    double mass, moment; // sums over cells: m, and m x_k at rest
    int count;           // number of terms
    int *equation;       // [count]
    double *weight;      // [count] weights of p_k
} body;

// Holds the translations of a cell; zero for its rotations.
typedef struct translations {
    int most;                        // largest number of directions of a node
    double d[PCS_MAX_CELL_DOFS][3];  // unit vectors
    double along[PCS_MAX_CELL_DOFS]; // d . X, m
    double off[PCS_MAX_CELL_DOFS];   // part of X along the axis that the node's directions do not contain, m
} translations;

static pcs_status centre_translations(pcs_context *ctx, const pcs_batch *batch, int cell, int axis, translations *out)
{
    int place = 0;
    out->most = 1;
    for (int end = 0; end < batch->ops->nnode; end++) {
        int count = 0, first = place;
        pcs_node_dofs given = { 0 };
        double x[3];
        PCS_TRY(batch->ops->node_dofs(ctx, batch, cell, end, &given));
        pcs_fe_mass_end(batch, cell, end, x);
        double off = x[axis];
        for (int j = 0; j < given.count; j++, place++) {
            double *d = out->d[place];
            for (int k = 0; k < 3; k++) d[k] = given.is_rotation[j] ? 0.0 : given.direction[j][k];
            out->along[place] = pcs_dot3(d, x);
            off -= d[axis] * out->along[place];
            count += pcs_dot3(d, d) > 0.0;
        }
        for (int j = first; j < place; j++) out->off[j] = off;
        if (count > out->most) out->most = count;
    }
    return PCS_OK;
}

static pcs_status centre_add_cell(pcs_context *ctx, body *b, int cell)
{
    const pcs_batch *batch = &b->fe->batches[b->fe->batch_of_cell[cell]];
    int place = b->fe->place_of_cell[cell], n = batch->ops->ndof;
    double M[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS];
    translations t;
    PCS_TRY(centre_translations(ctx, batch, place, b->axis, &t));
    batch->ops->matrices(batch, place, NULL, M, NULL, NULL);
    for (int i = 0; i < n; i++) {
        double share = 0.0, weight = 0.0;
        int equation = batch->equation[(size_t)place * (size_t)n + (size_t)i];
        for (int a = 0; a < n; a++) {
            share += M[a * n + i] * pcs_dot3(t.d[a], t.d[i]) / t.most;
            weight += M[a * n + i] * t.d[a][b->axis];
        }
        b->mass += share;
        b->moment += weight * t.along[i] + share * t.off[i];
        if (equation < 0 || weight == 0.0) continue;
        b->equation[b->count] = equation;
        b->weight[b->count++] = weight;
    }
    return PCS_OK;
}

static pcs_status centre_sum(const pcs_system *self, const pcs_set *cells, body *b)
{
    size_t room = (size_t)cells->count * PCS_MAX_CELL_DOFS;
    PCS_TAKE(self->ctx, b->equation, room, "the centre of a body");
    PCS_TAKE(self->ctx, b->weight, room, "the centre of a body");
    for (int i = 0; i < cells->count; i++) {
        int cell = cells->items[i];
        if (b->fe->batch_of_cell[cell] < 0)
            return pcs_fail(self->ctx, PCS_BAD_INPUT, "cell %d of set '%s' has no element and so no mass", cell,
                            cells->name);
        if (b->fe->place_of_cell[cell] >= 0) PCS_TRY(centre_add_cell(self->ctx, b, cell));
    }
    double sums[2] = { b->mass, b->moment };
    pcs_system_sum(self, 2, sums);
    b->mass = sums[0];
    b->moment = sums[1];
    if (b->mass > 0.0) return PCS_OK;
    return pcs_fail(self->ctx, PCS_BAD_INPUT, "set '%s' has no mass and so no centre", cells->name);
}

pcs_status pcs_fe_body_probe(const pcs_system *self, const pcs_set *cells, const char *component, pcs_probe *out)
{
    int quantity, axis;
    if (!pcs_fe_component(component, &quantity, &axis) || quantity > PCS_PROBE_VELOCITY)
        return pcs_fail(self->ctx, PCS_BAD_INPUT,
                        "the centre of a body has no component '%s'; it has x, y, z, ux, uy, uz, vx, vy, vz",
                        component);
    body b = { .fe = self->data, .axis = axis };
    PCS_TRY(centre_sum(self, cells, &b));
    for (int i = 0; i < b.count; i++) b.weight[i] /= b.mass;
    *out =
        (pcs_probe){ .quantity = quantity, .axis = axis, .count = b.count, .items = b.equation, .weights = b.weight };
    if (quantity == PCS_PROBE_POSITION) out->offset = b.moment / b.mass;
    return PCS_OK;
}
