// The rod: forces, energies and momenta of whole models against a plain sum over cells that knows
// nothing of runs, signs or equation numbers, only of positions in space.

#include "fe/fe.h"
#include "support/check.h"
#include "support/model.h"

#include <math.h>
#include <string.h>

static const double E = 210.0, rho = 3.0, area = 0.5, alpha = 0.7, beta = 0.03;

static const char *const masses[] = { "E=210 rho=3 area=0.5 mass=consistent", "E=210 rho=3 area=0.5 mass=lumped" };

// How a model lies in space; each makes the cell set "bar".
static void lay_cells(model *m, int count)
{
    model_line(m, "bar", (double[]){ 0.3, 0, 0 }, (double[]){ 0.3 + 0.7 * count, 0, 0 }, count);
}

// Lines along and against an axis, and across space.
static const struct line {
    double from[3], to[3];
    int count;
} lines[] = { { { 0.3, 0, 0 }, { 1, 0, 0 }, 1 },
              { { 0.3, 0, 0 }, { 5.9, 0, 0 }, 8 },
              { { 0.3, 0, 0 }, { 12.2, 0, 0 }, 17 },
              { { 5, -1, 2 }, { -2, 4, 1 }, 9 },
              { { 10, 0, 0 }, { 0, 0, 0 }, 11 } };
enum { NLINE = sizeof lines / sizeof *lines };

static void lay_line(model *m, int i)
{
    model_line(m, "bar", lines[i].from, lines[i].to, lines[i].count);
}

// The first coordinate is round-off; the axis is -y, whichever sign the round-off has.
static void lay_almost_straight(model *m)
{
    const double x[4][3] = { { 0, 3, 0 }, { 1e-17, 2, 0 }, { -1e-17, 1, 0 }, { 1e-17, 0, 0 } };
    model_chain(m, "bar", 4, x);
}

static void lay_held_inside(model *m)
{
    lay_cells(m, 13);
    CHECK_OK(m->ctx, pcs_mesh_add_node_range(m->mesh, "held", 4, 2));
    model_support(m, "held", "x");
    model_support(m, "bar.end", "x");
}

static void lay_reversed_held(model *m)
{
    lay_line(m, NLINE - 1);
    model_support(m, "bar.start", "x");
    CHECK_OK(m->ctx, pcs_mesh_add_node_range(m->mesh, "held", 7, 1));
    model_support(m, "held", "x");
}

static void lay_two_lines(model *m)
{
    model_line(m, "low", (double[]){ 0, 0, 0 }, (double[]){ 2, 0, 0 }, 4);
    model_line(m, "high", (double[]){ 6, 0, 0 }, (double[]){ 3, 0, 0 }, 5);
    model_support(m, "high.start", "x");
    CHECK_OK(m->ctx, pcs_mesh_add_cell_range(m->mesh, "bar", 0, 9));
}

static void lay_two_directions(model *m)
{
    model_line(m, "low", (double[]){ 0, 0, 0 }, (double[]){ 2, 0, 0 }, 3);
    model_line(m, "high", (double[]){ 0, 5, 1 }, (double[]){ 0, 2, 1 }, 3);
    model_support(m, "high.start", "y");
    CHECK_OK(m->ctx, pcs_mesh_add_cell_range(m->mesh, "bar", 0, 6));
}

static void lay_graded(model *m)
{
    double x[12][3] = { { 0 } };
    for (int i = 0; i < 12; i++) x[i][2] = 0.1 * i + (i < 4 ? 0.0 : 0.02 * (i - 3) * (i - 3));
    model_chain(m, "bar", 12, (const double(*)[3])x);
}

// Cells in another order than their nodes, some of them from the higher node to the lower.
static void lay_shuffled(model *m)
{
    lay_cells(m, 7);
    int(*cell)[2] = m->mesh->cell;
    const int order[7] = { 3, 6, 0, 1, 2, 5, 4 };
    for (int i = 0; i < 7; i++) {
        cell[i][i % 3 == 0] = order[i];
        cell[i][i % 3 != 0] = order[i] + 1;
    }
}

// Seven cells in the middle of a line; the others belong to no group and the nodes there do not move.
static void lay_part(model *m)
{
    model_line(m, "line", (double[]){ 0, 0, 0 }, (double[]){ 12, 0, 0 }, 12);
    CHECK_OK(m->ctx, pcs_mesh_add_cell_range(m->mesh, "bar", 3, 7));
}

static void (*const layouts[])(model *m) = {
    lay_almost_straight, lay_held_inside, lay_reversed_held, lay_two_lines,
    lay_two_directions,  lay_graded,      lay_shuffled,      lay_part,
};
enum { NLAYOUT = NLINE + sizeof layouts / sizeof *layouts };

static model *build_layout(int layout, int lumped)
{
    model *m = model_create();
    if (layout < NLINE) lay_line(m, layout);
    else layouts[layout - NLINE](m);
    pcs_fe_group *group = model_group(m, "rod", "bar", masses[lumped]);
    group->damping_mass = alpha;
    group->damping_stiffness = beta;
    model_build(m);
    return m;
}

// One cell in space.
typedef struct cell_geometry {
    double length, increment; // way: +1 when the dofs point from the first to the second node
    const double *direction;
    int equation[2];
} cell_geometry;

static cell_geometry geometry_of(const model *m, int cell)
{
    const pcs_dofmap *map = pcs_fe_dofmap(m->system);
    cell_geometry g = { 0 };
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = m->mesh->x[m->mesh->cell[cell][1]][k] - m->mesh->x[m->mesh->cell[cell][0]][k];
    g.length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    for (int i = 0; i < 2; i++) {
        int node = m->mesh->cell[cell][i];
        const pcs_dof *dof = &map->dof[map->first[node]];
        CHECK(map->first[node + 1] == map->first[node] + 1); // one dof each
        g.direction = dof->direction;
        g.equation[i] = dof->equation;
    }
    g.increment = (d[0] * g.direction[0] + d[1] * g.direction[1] + d[2] * g.direction[2]) / g.length;
    CHECK_NEAR(fabs(g.increment), 1.0, 1e-14);
    return g;
}

static double value_at(const cell_geometry *g, int i, const double *x)
{
    return g->equation[i] < 0 ? 0.0 : x[g->equation[i]];
}

typedef struct sums {
    double f[MODEL_MAX_SIZE];
    double kinetic, strain, momentum[3], free_momentum[3], resultant[3];
} sums;

static void add_cell(const cell_geometry *g, int lumped, const double *q, const double *v, sums *s)
{
    double k = E * area / g->length, m = rho * area * g->length;
    double self = lumped ? m / 2 : m / 3, other = lumped ? 0.0 : m / 6;
    double a = value_at(g, 0, v), b = value_at(g, 1, v);
    double stretch = g->increment * (value_at(g, 1, q) - value_at(g, 0, q)), rate = g->increment * (b - a);
    double tension = k * (stretch + beta * rate), p[2] = { self * a + other * b, other * a + self * b };
    s->kinetic += 0.5 * (a * p[0] + b * p[1]);
    s->strain += 0.5 * k * stretch * stretch;
    for (int i = 0; i < 2; i++) {
        double force = (i == 0 ? 1.0 : -1.0) * g->increment * tension - alpha * p[i];
        if (g->equation[i] >= 0) s->f[g->equation[i]] += force;
        for (int c = 0; c < 3; c++) {
            s->momentum[c] += p[i] * g->direction[c];
            if (g->equation[i] >= 0) s->free_momentum[c] += p[i] * g->direction[c];
            if (g->equation[i] >= 0) s->resultant[c] += force * g->direction[c];
        }
    }
}

TEST(models_match_the_sum_over_cells)
{
    unsigned long long seed = 1;
    for (int layout = 0; layout < NLAYOUT; layout++)
        for (int lumped = 0; lumped < 2; lumped++) {
            model *m = build_layout(layout, lumped);
            const pcs_system *system = m->system;
            double q[MODEL_MAX_SIZE], v[MODEL_MAX_SIZE], f[MODEL_MAX_SIZE], resultant[3], damping[MODEL_MAX_SIZE];
            model_randomize(&seed, system->nv, q);
            model_randomize(&seed, system->nv, v);
            sums s = { 0 };
            const pcs_set *cells = model_cells(m, "bar");
            for (int i = 0; i < cells->count; i++) {
                cell_geometry g = geometry_of(m, cells->items[i]);
                add_cell(&g, lumped, q, v, &s);
            }
            system->ops->force(system, pcs_at(0.0, q, v), f);
            CHECK_ALL_NEAR(system->nv, f, s.f, 1e-14 * 4 * E * area / 0.08);
            pcs_measure now;
            system->ops->measure(system, pcs_at(0.0, q, v), PCS_ENERGY, &now);
            CHECK_RELATIVE(now.kinetic, s.kinetic, 1e-14);
            CHECK_RELATIVE(now.strain, s.strain, 1e-14);
            CHECK(now.potential == 0.0);
            CHECK_ALL_NEAR(3, now.momentum, s.momentum, 1e-14 * system->mass);
            CHECK_ALL_NEAR(3, now.free_momentum, s.free_momentum, 1e-14 * system->mass);
            pcs_system_resultant(system, pcs_at(0.0, q, v), resultant);
            CHECK_ALL_NEAR(3, resultant, s.resultant, 1e-14 * 4 * E * area / 0.08);
            memset(damping, 0, sizeof damping);
            pcs_matrix_multiply(system->C, v, damping);
            double power = 0.0;
            for (int i = 0; i < system->nv; i++) power += v[i] * damping[i];
            CHECK_RELATIVE(pcs_system_damping_power(system, pcs_at(0.0, q, v), v), power, 1e-13);
            model_destroy(&m);
        }
}

// Pulling a cell longer is tension, however the cell runs and whichever way its dofs point.
TEST(stress_is_positive_in_tension)
{
    for (int layout = 0; layout < NLAYOUT; layout++) {
        model *m = build_layout(layout, 0);
        const pcs_dofmap *map = pcs_fe_dofmap(m->system);
        double q[MODEL_MAX_SIZE] = { 0 }, v[MODEL_MAX_SIZE] = { 0 };
        // Every node moves away from the origin of space in proportion to its position: strain 1e-3 everywhere.
        for (int i = 0; i < map->ndof; i++) {
            const pcs_dof *d = &map->dof[i];
            for (int k = 0; k < 3 && d->equation >= 0; k++)
                q[d->equation] += 1e-3 * m->mesh->x[d->node][k] * d->direction[k];
        }
        const pcs_set *cells = model_cells(m, "bar");
        for (int i = 0; i < cells->count; i++) {
            cell_geometry g = geometry_of(m, cells->items[i]);
            if (g.equation[0] < 0 || g.equation[1] < 0) continue; // held at one end: another strain
            double field[PCS_MAX_CELL_FIELDS];
            m->groups[0].ops->read_fields(pcs_fe_batch(m->system, 0), i, &(pcs_cell_state){ .q = q, .v = v }, field);
            CHECK_NEAR(field[0], 1e-3 * E * area, 1e-13);
            CHECK_NEAR(field[1], 1e-3 * E, 1e-13);
            CHECK_NEAR(field[2], 0.5e-6 * E * area * g.length, 1e-14);
        }
        model_destroy(&m);
    }
}

// A bar that has flown 1e12 cell lengths away keeps its strain: forces see differences only.
TEST(flight_costs_no_digits)
{
    model *m = model_create();
    lay_cells(m, 9);
    model_group(m, "rod", "bar", masses[0]);
    model_build(m);
    double q[10], far[10], v[10] = { 0 }, f[10], f_far[10];
    for (int i = 0; i < 10; i++) {
        q[i] = ldexp((double)(i * i % 7), -10);
        far[i] = q[i] + ldexp(1.0, 40); // exact: multiples of 2^-10 below 2^43, but not when multiplied by k
    }
    pcs_measure now, then;
    m->system->ops->force(m->system, pcs_at(0.0, q, v), f);
    m->system->ops->force(m->system, pcs_at(0.0, far, v), f_far);
    CHECK(memcmp(f, f_far, sizeof f) == 0);
    m->system->ops->measure(m->system, pcs_at(0.0, q, v), PCS_ENERGY, &now);
    m->system->ops->measure(m->system, pcs_at(0.0, far, v), PCS_ENERGY, &then);
    CHECK(now.strain > 0.0 && now.strain == then.strain);
    model_destroy(&m);
}

// Cells of one length make one run, so that the hot loop has no indirection, whatever round-off their ends carry.
TEST(equal_cells_share_their_numbers)
{
    model *m = model_create();
    double M[4], K[4], first_M[4], first_K[4];
    model_line(m, "bar", (double[]){ 1000.1, 0, 0 }, (double[]){ 1003.4, 0, 0 }, 33);
    model_group(m, "rod", "bar", masses[0]);
    model_build(m);
    const pcs_batch *batch = pcs_fe_batch(m->system, 0);
    const pcs_element_ops *ops = batch->ops;
    ops->matrices(batch, 0, NULL, first_M, first_K, NULL);
    CHECK_RELATIVE(first_K[0], E * area / 0.1, 1e-12); // the mean length: free of the round-off at x = 1000
    for (int c = 1; c < 33; c++) {
        ops->matrices(batch, c, NULL, M, K, NULL);
        CHECK(memcmp(M, first_M, sizeof M) == 0 && memcmp(K, first_K, sizeof K) == 0);
    }
    model_destroy(&m);
}
