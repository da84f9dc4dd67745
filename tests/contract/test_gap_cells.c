// What gap types promise on cells that bend and turn: rows are the derivatives of gaps also where closest points slide,
// stand at ends or pass from cell to cell; tangents are orthonormal; the bias is the second derivative along a motion.

#include "elements/section.h"
#include "fe/fe.h"
#include "support/check.h"
#include "support/model.h"
#include "support/slopes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct scene {
    const char *element, *values;
    double b[3][3]; // the second chain; the first lies along x from -1 to 1
    bool is_plane;
} scene;

#define MATERIAL "E=100 nu=0 rho=1 area=1 orientation=0,0,1"

static const scene scenes[] = {
    { "beam_exact_3d", MATERIAL, { { 0.3, -1.1, 0.4 }, { 0.35, 0.2, 0.5 }, { 0.3, 1.2, 0.45 } }, false }, // cross
    { "beam_timo_3d", MATERIAL, { { -0.4, -0.7, 0.4 }, { -0.5, 0.2, 0.3 }, { -0.3, 1.2, 0.6 } }, false }, // cross
    { "rod_large_3d", MATERIAL, { { 0.4, 0.3, 0.4 }, { 0.5, 1.2, 0.6 }, { 0.6, 2.2, 0.3 } }, false },     // end
    { "beam_exact_3d", MATERIAL, { { 1.2, 0.3, 0.1 }, { 1.9, 0.4, 0.2 }, { 2.6, 0.2, 0.3 } }, false },    // ends
    { "beam_exact_2d", MATERIAL, { { 0.4, 0.3, 0 }, { 0.5, 1.2, 0 }, { 0.6, 2.2, 0 } }, true },           // end
    { "rod_large_2d", MATERIAL, { { -0.4, 0.3, 0 }, { -0.5, 1.2, 0 }, { -0.6, 2.2, 0 } }, true },         // end
};
enum { NSCENE = sizeof scenes / sizeof *scenes };

static model *describe_cells(const pcs_source_ops *ops, const scene *s, const char *more)
{
    const double a[3][3] = { { -1.0, 0.0, 0.0 }, { 0.05, 0.0, 0.0 }, { 1.0, 0.0, 0.0 } };
    model *m = model_create();
    model_chain(m, "first", 3, a);
    model_chain(m, "second", 3, s->b);
    const char *const names[] = { "first", "second" };
    for (int i = 0; i < 2; i++) {
        pcs_fe_group *group = model_group(m, s->element, names[i], s->values);
        const pcs_section section = { .area = 1.0, .Iy = 0.1, .Iz = 0.1, .torsion = 0.2, .ky = 1.0, .kz = 1.0 };
        if (group->ops->section_offset != 0)
            memcpy((char *)(size_t)group->params + group->ops->section_offset, &section, sizeof section);
    }
    char values[512];
    int used = snprintf(values, sizeof values,
                        "radius=0.1 other_radius=0.07 node_radius=0.05 most=1 restitution=0.5 %s", more);
    // Nodes are those of the second chain, cells of both those of the first, then of the second.
    for (int i = 0; ops->sets[i].option != NULL; i++)
        used += snprintf(values + used, sizeof values - (size_t)used, " %s=%s", ops->sets[i].option,
                         (i == 0) == ops->sets[0].is_cells ? "first" : "second");
    model_contact(m, "touch", ops->name, values);
    return m;
}

static model *cells(const pcs_source_ops *ops, const scene *s, const char *more)
{
    model *m = describe_cells(ops, s, more);
    model_build(m);
    return m;
}

static void converge(const model *m, const double *q)
{
    bool has_changed;
    if (m->system->row_set.may_change)
        CHECK_OK(m->ctx, m->system->ops->search(m->system, pcs_at(0.0, q, NULL), &has_changed));
}

static bool has_option(const pcs_source_ops *ops, const char *name)
{
    bool is_found = false;
    for (int i = 0; ops->options[i].name != NULL; i++) is_found = is_found || strcmp(ops->options[i].name, name) == 0;
    return is_found;
}

static void check_with(const pcs_source_ops *ops, const scene *s, const char *more,
                       void (*check)(model *, const scene *))
{
    model *m = cells(ops, s, more);
    check(m, s);
    model_destroy(&m);
}

// The nodes of the second chain, and points near them, are left of the first.
static void for_every_type(void (*check)(model *m, const scene *s))
{
    int ncheck = 0;
    for (int type = 0; pcs_gap_types[type] != NULL; type++)
        for (int k = 0; k < NSCENE && pcs_gap_types[type]->sets[1].is_cells; k++) {
            const pcs_source_ops *ops = pcs_gap_types[type];
            const scene *s = &scenes[k];
            bool has_sides = s->is_plane && has_option(ops, "side");
            bool has_offsets = strncmp(s->element, "beam", 4) == 0 && has_option(ops, "offsets");
            check_with(ops, s, "friction=0.3", check);
            if (has_sides) check_with(ops, s, "friction=0.3 side=left", check);
            if (has_offsets) check_with(ops, s, "friction=0.3 offsets=0.08,0.05,0,-0.03,0.06,0", check);
            if (has_offsets && has_sides) check_with(ops, s, "side=left friction=0.3 offsets=0.08,0.05,0", check);
            ncheck += 1 + has_sides + has_offsets + (has_offsets && has_sides);
        }
    CHECK(ncheck == 2 * NSCENE + 2 + 4 + 1);
}

static void somewhere(const model *m, unsigned long long *seed, double *q)
{
    model_randomize(seed, m->system->nv, q);
    for (int i = 0; i < m->system->nv; i++) q[i] *= 0.05;
    converge(m, q);
    pcs_system_aim(m->system, pcs_at(0.0, q, NULL));
}

static void check_derivatives(model *m, const scene *s)
{
    (void)s;
    unsigned long long seed = 7;
    double q[MODEL_MAX_SIZE], v[MODEL_MAX_SIZE];
    for (int place = 0; place < 4; place++) {
        somewhere(m, &seed, q);
        for (int trial = 0; trial < 4; trial++) {
            model_randomize(&seed, m->system->nv, v);
            slopes_check_gaps(m->system, pcs_at(0.0, q, v), 1e-3, 1e-8, 1e-5);
        }
    }
}

TEST(rows_are_derivatives_of_gaps)
{
    for_every_type(check_derivatives);
}

// What a row does to all nodes as forces: those on each chain add up to the normal, or to its opposite, and so for the
// tangents.
static void check_directions(model *m, const scene *s)
{
    unsigned long long seed = 8;
    double q[MODEL_MAX_SIZE], point[MODEL_MAX_SIZE][3], normal[MODEL_MAX_SIZE][3], across[MODEL_MAX_SIZE][3];
    pcs_system *system = m->system;
    const pcs_dofmap *map = pcs_fe_dofmap(system);
    somewhere(m, &seed, q);
    pcs_system_points(system, pcs_at(0.0, q, NULL), point, normal);
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row *row = &system->rows[j];
        double push[3][2][3] = { { { 0 } } };
        CHECK(row->ntangent == (s->is_plane ? 1 : 2));
        for (int i = 0; i < map->ndof; i++) {
            double unit[MODEL_MAX_SIZE] = { 0 };
            if (map->dof[i].is_rotation) continue;
            unit[map->dof[i].equation] = 1.0;
            int chain = map->dof[i].node >= 3;
            for (int w = 0; w <= row->ntangent; w++) {
                double part = w == 0 ? pcs_system_rate(system, j, unit)
                                     : pcs_rows_dot(system->T, row->first_tangent + w - 1, unit);
                for (int k = 0; k < 3; k++) push[w][chain][k] += part * map->dof[i].direction[k];
            }
        }
        for (int w = 0; w <= row->ntangent; w++) {
            for (int k = 0; k < 3; k++) CHECK_NEAR(push[w][0][k], -push[w][1][k], 1e-14);
            for (int u = 0; u <= w; u++) CHECK_NEAR(pcs_dot3(push[w][1], push[u][1]), u == w ? 1.0 : 0.0, 1e-14);
        }
        CHECK_ALL_NEAR(3, push[0][1], normal[j], 1e-14);
        system->ops->evaluate_rows(system, pcs_at(0.0, q, NULL), &(pcs_row_values){ .across = across });
        for (int t = 0; t < row->ntangent; t++)
            CHECK_ALL_NEAR(3, push[1 + t][1], across[row->first_tangent + t], 1e-14);
    }
}

TEST(pushes_are_equal_and_orthonormal)
{
    for_every_type(check_directions);
}

// Turning the model about an axis moves no gap and rubs nothing when it is about the place of contact.
static void check_moments(model *m, const scene *s)
{
    const double q[MODEL_MAX_SIZE] = { 0 };
    double v[MODEL_MAX_SIZE] = { 0 }, point[MODEL_MAX_SIZE][3], normal[MODEL_MAX_SIZE][3];
    pcs_system *system = m->system;
    const pcs_dofmap *map = pcs_fe_dofmap(system);
    const double w[3] = { s->is_plane ? 0.0 : 0.3, s->is_plane ? 0.0 : -0.5, 0.7 };
    bool rotates = false;
    for (int i = 0; i < map->ndof; i++) rotates = rotates || map->dof[i].is_rotation;
    converge(m, q);
    pcs_system_aim(m->system, pcs_at(0.0, q, NULL));
    pcs_system_points(system, pcs_at(0.0, q, NULL), point, normal);
    for (int i = 0; i < map->ndof; i++) {
        double arm[3], swing[3];
        for (int k = 0; k < 3; k++) arm[k] = m->mesh->x[map->dof[i].node][k] - 0.2;
        pcs_cross(w, arm, swing);
        v[map->dof[i].equation] = pcs_dot3(map->dof[i].is_rotation ? w : swing, map->dof[i].direction);
    }
    for (int j = 0; j < system->nrow; j++) {
        double gap[MODEL_MAX_SIZE];
        pcs_system_gaps(system, pcs_at(0.0, q, NULL), gap);
        CHECK_NEAR(pcs_system_rate(system, j, v), 0.0, 1e-14);
        // Surfaces that are apart slide along each other at w x gap n; without rotations, axes at w x distance n.
        for (int t = 0; t < system->rows[j].ntangent && rotates; t++) {
            double rate = pcs_rows_dot(system->T, system->rows[j].first_tangent + t, v);
            CHECK(fabs(rate) <= fabs(gap[j]) * 0.92);
        }
    }
}

TEST(rigid_motions_rub_nothing)
{
    for_every_type(check_moments);
}

TEST(chains_that_only_rotate_are_refused)
{
    for (int type = 0; pcs_gap_types[type] != NULL; type++) {
        const char *name = pcs_gap_types[type]->name;
        if (strcmp(name, "beam_beam") != 0 && strcmp(name, "node_segment") != 0) continue;
        model *m = describe_cells(pcs_gap_types[type], &scenes[4], "");
        model_support(m, "first", "xy");
        model_support(m, "second", "xy");
        CHECK_STATUS(NULL, model_try_build(m), PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(m->ctx), "is held by supports, so its gap cannot change");
        model_destroy(&m);
    }
}

// A point on its way round a cylinder, inside and outside.
TEST(bias_of_circles)
{
    const double at[3] = { 0.3, -0.4, 0.2 }, v[3] = { 0.7, 0.9, -0.4 }, rest[3] = { 0 };
    for (int side = 0; side < 2; side++) {
        model *m = model_create();
        model_point(m, "ball", at);
        model_group(m, "point_mass", "ball", "mass=2");
        model_contact(m, "touch", "node_circle",
                      side == 0
                          ? "nodes=ball centre=0,0,0 axis=1,2,2 radius=2 node_radius=0.1 side=inside restitution=0"
                          : "nodes=ball centre=0,0,0 axis=1,2,2 radius=0.1 node_radius=0.1 side=outside "
                            "restitution=0");
        model_build(m);
        slopes_check_gaps(m->system, pcs_at(0.0, rest, v), 1e-3, 1e-9, 1e-8);
        model_destroy(&m);
    }
}
