#include "support/bend.h"

#include "core/rotation.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void dgesv_(const int *n, const int *nrhs, double *A, const int *lda, int *pivot, double *b, const int *ldb, int *info);

static const pcs_option *bend_option(const pcs_element_ops *ops, const char *name)
{
    for (int i = 0; ops->options[i].name != NULL; i++)
        if (strcmp(ops->options[i].name, name) == 0) return &ops->options[i];
    fail_msg("element %s has no option %s", ops->name, name);
    return NULL;
}

static void *bend_params(pcs_context *ctx, const pcs_element_ops *ops, const bend_material *material)
{
    char *params = pcs_take(ctx, 1, ops->params_size, "parameters");
    assert_non_null(params);
    *(double *)(params + bend_option(ops, "E")->offset) = material->E;
    *(double *)(params + bend_option(ops, "nu")->offset) = material->nu;
    *(double *)(params + bend_option(ops, "rho")->offset) = material->rho;
    *(int *)(params + bend_option(ops, "mass")->offset) = material->is_lumped;
    if (ops->ndof == 12) {
        memcpy(params + bend_option(ops, "orientation")->offset, material->orientation, sizeof material->orientation);
        memcpy(params + bend_option(ops, "curvature")->offset, material->curvature, sizeof material->curvature);
    }
    memcpy(params + ops->section_offset, &material->section, sizeof material->section);
    return params;
}

// Equations node by node; those of the cells follow.
static void bend_number(bend *b)
{
    b->n = 0;
    for (int i = 0; i < b->nnode; i++)
        for (int k = 0; k < b->dofs; k++)
            if (b->map[i][k] >= 0) b->map[i][k] = b->n++;
    for (int i = 0; i < b->nnode - 1; i++)
        for (int k = 0; k < 2 * b->dofs; k++) b->equation[2 * b->dofs * i + k] = b->map[i + k / b->dofs][k % b->dofs];
}

void bend_open(bend *b, const char *element, int nnode, const double (*x)[3], const bend_material *material)
{
    *b = (bend){ .nnode = nnode };
    assert_int_equal(pcs_context_create(&b->ctx), PCS_OK);
    for (int i = 0; pcs_elements[i] != NULL; i++)
        if (strcmp(pcs_elements[i]->name, element) == 0) b->ops = pcs_elements[i];
    assert_non_null(b->ops);
    assert_true(nnode <= BEND_MAX_NODES);
    b->dofs = b->ops->ndof / 2;
    memcpy(b->x, x, (size_t)nnode * sizeof *x);
    for (int i = 0; i < nnode - 1; i++) {
        b->cells[i] = b->nodes[i][0] = i;
        b->nodes[i][1] = i + 1;
    }
    bend_number(b);
    b->batch = (pcs_batch){ .ops = b->ops,
                            .name = "beam",
                            .params = bend_params(b->ctx, b->ops, material),
                            .ncell = nnode - 1,
                            .cells = b->cells,
                            .x = (const double(*)[3])b->x,
                            .nodes = (const int(*)[2])b->nodes,
                            .equation = b->equation };
    for (int i = 0; i < nnode - 1; i++) {
        pcs_node_dofs dofs;
        CHECK_OK(b->ctx, b->ops->node_dofs(b->ctx, &b->batch, i, 0, &dofs));
        CHECK(dofs.is_finite && dofs.count == b->dofs);
    }
    CHECK_OK(b->ctx, b->ops->setup(b->ctx, &b->batch));
}

void bend_close(bend *b)
{
    pcs_context_destroy(&b->ctx);
}

void bend_hold(bend *b, int node, const char *fixed)
{
    for (int k = 0; k < b->dofs; k++)
        if (fixed[k] == '1') b->map[node][k] = -1;
    bend_number(b);
}

void bend_move(const bend *b, const double *x, double *q)
{
    for (int i = 0; i < b->nnode; i++) {
        const int *map = b->map[i];
        int sums = b->dofs == 6 ? 3 : b->dofs;
        for (int k = 0; k < sums; k++)
            if (map[k] >= 0) q[map[k]] += x[map[k]];
        if (sums == b->dofs) continue;
        double p[3], turn[3], next[3];
        for (int k = 0; k < 3; k++) {
            p[k] = map[3 + k] < 0 ? 0.0 : q[map[3 + k]];
            turn[k] = map[3 + k] < 0 ? 0.0 : x[map[3 + k]];
        }
        pcs_rotation_compose(p, turn, next);
        for (int k = 0; k < 3; k++)
            if (map[3 + k] >= 0) q[map[3 + k]] = next[k];
    }
}

static pcs_cell_state bend_state(const double *q, const double *v)
{
    static const double rest[BEND_MAX_SIZE];
    return (pcs_cell_state){ .q = q, .v = v == NULL ? rest : v, .along = v };
}

void bend_force(const bend *b, const double *q, const double *v, double *f)
{
    const pcs_cell_state at = bend_state(q, v);
    memset(f, 0, (size_t)b->n * sizeof *f);
    b->ops->force(&b->batch, &at, f);
}

static void bend_assemble(const bend *b, int cell, const double *A, double *sum)
{
    int ndof = b->ops->ndof;
    const int *equation = b->equation + ndof * cell;
    for (int i = 0; i < ndof; i++)
        for (int j = 0; j < ndof; j++)
            if (equation[i] >= 0 && equation[j] >= 0) sum[equation[i] * b->n + equation[j]] += A[i * ndof + j];
}

void bend_tangents(const bend *b, const double *q, const double *v, double *K, double *C)
{
    const pcs_cell_state at = bend_state(q, v);
    double k[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS], c[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS];
    memset(K, 0, (size_t)b->n * (size_t)b->n * sizeof *K);
    if (C != NULL) memset(C, 0, (size_t)b->n * (size_t)b->n * sizeof *C);
    for (int i = 0; i < b->batch.ncell; i++) {
        b->ops->matrices(&b->batch, i, &at, NULL, k, C == NULL ? NULL : c);
        bend_assemble(b, i, k, K);
        if (C != NULL) bend_assemble(b, i, c, C);
    }
}

pcs_cell_sums bend_sums(const bend *b, const double *q, const double *v)
{
    const pcs_cell_state at = bend_state(q, v);
    pcs_cell_sums sum = { 0 };
    b->ops->measure(&b->batch, &at, v == NULL ? PCS_CELL_ENERGY : PCS_CELL_POWER, &sum);
    return sum;
}

bend_material bend_stocky(void)
{
    return (bend_material){
        .E = 210.0,
        .nu = 0.25,
        .rho = 7.0,
        .orientation = { 0.1, -0.3, 1.0 },
        .section = { .area = 0.3, .Iy = 0.02, .Iz = 0.05, .torsion = 0.03, .ky = 0.8, .kz = 0.7, .cy = 0.4, .cz = 0.25 }
    };
}

// Weights of the derivative from values at -2, -1, 0, 1, 2 steps: exact to fourth order.
static const double difference[5] = { 1.0 / 12.0, -8.0 / 12.0, 0.0, 8.0 / 12.0, -1.0 / 12.0 }, step = 1e-3;

static void bend_move_one(const bend *b, const double *q, int equation, double way, double *out)
{
    double x[BEND_MAX_SIZE] = { 0 };
    memcpy(out, q, (size_t)b->n * sizeof *out);
    x[equation] = way;
    bend_move(b, x, out);
}

void bend_check_force(const bend *b, const double *q)
{
    double f[BEND_MAX_SIZE], moved[BEND_MAX_SIZE];
    bend_force(b, q, NULL, f);
    for (int i = 0; i < b->n; i++) {
        double slope = 0.0;
        for (int k = -2; k <= 2; k++) {
            bend_move_one(b, q, i, k * step, moved);
            slope += difference[k + 2] * bend_sums(b, moved, NULL).strain / step;
        }
        CHECK_NEAR(-f[i], slope, 1e-10 * bend_sums(b, q, NULL).strain);
    }
}

void bend_check_tangent(const bend *b, const double *q, const double *v, bool is_velocity, const double *A,
                        double tolerance)
{
    double size = 0.0;
    for (int i = 0; i < b->n * b->n; i++) size = fmax(size, fabs(A[i]));
    for (int j = 0; j < b->n; j++) {
        double slope[BEND_MAX_SIZE] = { 0 };
        for (int k = -2; k <= 2; k++) {
            double x[BEND_MAX_SIZE], w[BEND_MAX_SIZE], f[BEND_MAX_SIZE];
            bend_move_one(b, q, j, is_velocity ? 0.0 : k * step, x);
            memcpy(w, v, sizeof w);
            if (is_velocity) w[j] += k * step;
            bend_force(b, x, w, f);
            for (int i = 0; i < b->n; i++) slope[i] -= difference[k + 2] * f[i] / step;
        }
        for (int i = 0; i < b->n; i++) CHECK_NEAR(A[i * b->n + j], slope[i], tolerance * size);
    }
}

int bend_equilibrium(const bend *b, const double *load, int limit, double tolerance, double *q, double *residual)
{
    int n = b->n, one = 1, info, iteration = 0, pivot[BEND_MAX_SIZE];
    double *K = malloc((size_t)n * (size_t)n * sizeof *K), *A = malloc((size_t)n * (size_t)n * sizeof *A);
    double r[BEND_MAX_SIZE];
    assert_true(K != NULL && A != NULL);
    for (;; iteration++) {
        bend_force(b, q, NULL, r);
        residual[iteration] = 0.0;
        for (int i = 0; i < n; i++) {
            r[i] += load == NULL ? 0.0 : load[i];
            residual[iteration] = fmax(residual[iteration], fabs(r[i]));
        }
        if (residual[iteration] <= tolerance || iteration == limit) break;
        bend_tangents(b, q, NULL, K, NULL);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) A[j * n + i] = K[i * n + j]; // LAPACK goes by columns
        dgesv_(&n, &one, A, &n, pivot, r, &n, &info);
        assert_int_equal(info, 0);
        bend_move(b, r, q);
    }
    free(K);
    free(A);
    return iteration;
}
