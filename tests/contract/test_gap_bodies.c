// What every gap type promises on bodies that move and turn in any way: rows are the derivatives of gaps, the drawn
// normal is the way the force pushes, tangents lie across it, and a unit impulse gives the momentum it says.

#include "fe/fe.h"
#include "support/check.h"
#include "support/model.h"
#include "support/slopes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NBODY = 4 };

static const char *const names[NBODY] = { "first", "second", "third", "fourth" };
static const double places[NBODY][3] = {
    { 0.0, 0.3, 0.4 }, { 0.1, -0.2, 0.1 }, { 0.7, 0.1, -0.3 }, { -0.4, 0.5, 0.2 }
};

// The elements of the bodies: turning by any angle, by small ones, not at all.
static const char *const elements[] = { "rigid_body_3d", "disc", "point_mass" };
enum { NELEMENT = sizeof elements / sizeof *elements };

static bool takes_offsets(const pcs_source_ops *ops)
{
    for (const pcs_option *o = ops->options; o->name != NULL; o++)
        if (strncmp(o->name, "offsets", 7) == 0) return true;
    return false;
}

// Every set option names one body; all other options that a type may have get a value here.
static model *bodies(const pcs_source_ops *ops, const char *element, const char *friction, bool has_offsets)
{
    model *m = model_create();
    for (int i = 0; i < NBODY; i++) {
        model_point(m, names[i], places[i]);
        model_group(m, element, names[i], "mass=2 inertia=0.3,0.4,0.4");
    }
    char values[512];
    int used = snprintf(values, sizeof values,
                        "normal=1,2,-2 point=0.1,0.2,0.3 axis=3,0,1 centre=0.1,0,0.2 radius=1.5 node_radius=0.25 "
                        "offset=0.2,0,0.1 most=1 restitution=0.5 friction=%s",
                        friction);
    if (has_offsets)
        used += snprintf(values + used, sizeof values - (size_t)used,
                         " offsets=%s offsets_a=%s offsets_b=-0.1,0.05,0.1,0.2,0.2,-0.1", "0.1,-0.2,0.15,0.3,0.1,-0.2",
                         "0.1,-0.2,0.15,0.3,0.1,-0.2");
    for (int i = 0; ops->sets[i].option != NULL; i++)
        used += snprintf(values + used, sizeof values - (size_t)used, " %s=%s", ops->sets[i].option, names[i]);
    model_contact(m, "touch", ops->name, values);
    model_build(m);
    const double rest[MODEL_MAX_SIZE] = { 0 };
    bool has_changed;
    if (m->system->row_set.may_change)
        CHECK_OK(m->ctx, m->system->ops->search(m->system, pcs_at(0.0, rest, NULL), &has_changed));
    return m;
}

static void for_every_type(void (*check)(model *m))
{
    for (int type = 0; pcs_gap_types[type] != NULL; type++)
        for (int e = 0; e < NELEMENT; e++)
            for (int increment = 0; increment < 4; increment++) {
                bool has_friction = increment % 2 == 1, has_offsets = increment >= 2;
                if (has_offsets && (!takes_offsets(pcs_gap_types[type]) || strcmp(elements[e], "point_mass") == 0))
                    continue;
                model *m = bodies(pcs_gap_types[type], elements[e], has_friction ? "0.3" : "0", has_offsets);
                CHECK(m->system->nrow >= 1 && (m->system->ntangent > 0) == has_friction);
                if (has_offsets) CHECK(m->system->nrow == 2);
                check(m);
                model_destroy(&m);
            }
}

// A place not far from rest; the rotations too.
static void somewhere(const model *m, unsigned long long *seed, double *q)
{
    model_randomize(seed, m->system->nv, q);
    for (int i = 0; i < m->system->nv; i++) q[i] *= 0.1;
    if (m->system->row_set.vary) pcs_system_aim(m->system, pcs_at(0.0, q, NULL));
}

static void check_derivatives(model *m)
{
    unsigned long long seed = 7;
    double q[MODEL_MAX_SIZE], v[MODEL_MAX_SIZE];
    somewhere(m, &seed, q);
    for (int trial = 0; trial < 5; trial++) {
        model_randomize(&seed, m->system->nv, v);
        slopes_check_gaps(m->system, pcs_at(0.0, q, v), 1e-3, 1e-10, 1e-8);
    }
}

TEST(rows_are_derivatives_of_gaps)
{
    for_every_type(check_derivatives);
}

// Velocities of a body's node alone, as a translation.
static void translate(const model *m, int node, const double along[3], double *v)
{
    const pcs_dofmap *map = pcs_fe_dofmap(m->system);
    memset(v, 0, MODEL_MAX_SIZE * sizeof *v);
    for (int i = map->first[node]; i < map->first[node + 1]; i++)
        for (int k = 0; k < 3 && !map->dof[i].is_rotation; k++)
            v[map->dof[i].equation] += along[k] * map->dof[i].direction[k];
}

// The first body, moved along the drawn normal at unit speed, opens the gap at that speed; across it, the tangents see
// the whole of its velocity and the gap none.
static void check_directions(model *m)
{
    unsigned long long seed = 8;
    double q[MODEL_MAX_SIZE], v[MODEL_MAX_SIZE], point[MODEL_MAX_SIZE][3], normal[MODEL_MAX_SIZE][3];
    somewhere(m, &seed, q);
    pcs_system_points(m->system, pcs_at(0.0, q, NULL), point, normal);
    for (int j = 0; j < m->system->nrow; j++) {
        double across[3], length = 0.0, seen = 0.0, wanted = 0.0;
        for (int k = 0; k < 3; k++) length += normal[j][k] * normal[j][k];
        CHECK_NEAR(length, 1.0, 1e-14);
        translate(m, 0, normal[j], v);
        double sign = pcs_system_rate(m->system, j, v);
        CHECK_NEAR(fabs(sign), 1.0, 1e-14);
        const double any[3] = { 0.4, -0.7, 0.2 };
        pcs_cross(normal[j], any, across);
        for (int k = 0; k < 3; k++) wanted += across[k] * across[k];
        translate(m, 0, across, v);
        CHECK_NEAR(pcs_system_rate(m->system, j, v), 0.0, 1e-14);
        const pcs_row *row = &m->system->rows[j];
        for (int t = 0; t < row->ntangent; t++) {
            double part = pcs_rows_dot(m->system->T, row->first_tangent + t, v);
            seen += part * part;
        }
        if (row->ntangent == 2) CHECK_NEAR(seen, wanted, 1e-14);
    }
}

TEST(directions_are_those_drawn)
{
    for_every_type(check_directions);
}

static void check_resultant(model *m)
{
    unsigned long long seed = 9;
    double q[MODEL_MAX_SIZE];
    const pcs_dofmap *map = pcs_fe_dofmap(m->system);
    somewhere(m, &seed, q);
    for (int j = 0; j < m->system->nrow; j++) {
        double wanted[3] = { 0 }, resultant[3];
        for (int i = 0; i < map->ndof; i++) {
            double unit[MODEL_MAX_SIZE] = { 0 };
            unit[map->dof[i].equation] = 1.0;
            for (int k = 0; k < 3 && !map->dof[i].is_rotation; k++)
                wanted[k] += pcs_system_rate(m->system, j, unit) * map->dof[i].direction[k];
        }
        pcs_row_resultant(m->system, m->system->G, j, resultant);
        CHECK_ALL_NEAR(3, resultant, wanted, 1e-14);
    }
}

TEST(resultant_is_the_sum_of_the_row)
{
    for_every_type(check_resultant);
}
