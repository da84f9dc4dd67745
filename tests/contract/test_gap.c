// What every gap type with constant rows promises, looped over the table, where they come first: gaps are distances of
// drawn points. What all types promise of rows and resultants is in test_gap_bodies.c.

#include "fe/fe.h"
#include "support/check.h"
#include "support/model.h"

#include <stdio.h>
#include <string.h>

static const double choices[][3] = { { 1, 0, 0 }, { 0, -1, 0 }, { 2.0 / 7, 3.0 / 7, -6.0 / 7 }, { -0.6, 0.8, 0 } };
enum { NWAY = sizeof choices / sizeof *choices };

static bool is_constant(int type)
{
    return pcs_gap_types[type] != NULL && strncmp(pcs_gap_types[type]->name, "node_", 5) == 0;
}

static const char *const ends[] = { "first.end", "second.start" };

// Two bars one behind the other along a direction, 1.5 m apart; the second is numbered backwards.
static model *two_bars(const double increment[3], const double *normal, const pcs_source_ops *ops)
{
    model *m = model_create();
    double at[4][3];
    const double place[4] = { 0.0, 3.0, 4.5, 6.5 };
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) at[i][k] = 0.25 * (k + 1) + place[i] * increment[k];
    model_line(m, "first", at[0], at[1], 3);
    model_line(m, "second", at[2], at[3], 2);
    model_group(m, "rod", "first", "E=100 rho=1 area=1");
    model_group(m, "rod", "second", "E=100 rho=1 area=1");
    char values[512];
    int used = snprintf(values, sizeof values, "normal=%.17g,%.17g,%.17g point=%.17g,%.17g,%.17g restitution=0.375",
                        normal[0], normal[1], normal[2], at[2][0], at[2][1], at[2][2]);
    for (int i = 0; ops->sets[i].option != NULL; i++)
        used += snprintf(values + used, sizeof values - (size_t)used, " %s=%s", ops->sets[i].option, ends[i]);
    model_contact(m, "touch", ops->name, values);
    return m;
}

// A plane pushes the end of the first bar back; two nodes are pushed apart. Any length of the normal means any length.
static void normal_for(const pcs_source_ops *ops, const double increment[3], double length, double normal[3])
{
    for (int k = 0; k < 3; k++) normal[k] = (ops->sets[1].option == NULL ? -length : length) * increment[k];
}

// The gap at rest, and after a motion, is the distance of the points that are drawn along the drawn normal.
TEST(gaps_are_distances_in_space)
{
    static const double lengths[] = { 2.5, 1e-300, 1e300 };
    unsigned long long seed = 4;
    for (int type = 0; is_constant(type); type++)
        for (int trial = 0; trial < 3 * NWAY; trial++) {
            int w = trial % NWAY;
            double normal[3], q[MODEL_MAX_SIZE] = { 0 }, gap, drawn[1][3], n[1][3], distance = 0.0, length = 0.0;
            normal_for(pcs_gap_types[type], choices[w], lengths[trial / NWAY], normal);
            model *m = two_bars(choices[w], normal, pcs_gap_types[type]);
            model_build(m);
            pcs_system *system = m->system;
            pcs_system_gaps(system, pcs_at(0.0, q, NULL), &gap);
            CHECK_NEAR(gap, 1.5, 1e-14);
            model_randomize(&seed, system->nv, q);
            pcs_system_gaps(system, pcs_at(0.0, q, NULL), &gap);
            pcs_system_points(system, pcs_at(0.0, q, NULL), drawn, n);
            system->ops->draw(system, pcs_at(0.0, q, q), system->picture);
            int other =
                model_nodes(m, pcs_gap_types[type]->sets[1].option == NULL ? "second.start" : "first.end")->items[0];
            const double *u = system->picture->displacement[other];
            bool is_fixed_there = pcs_gap_types[type]->sets[1].option == NULL; // a plane does not move
            for (int k = 0; k < 3; k++) {
                distance += n[0][k] * (drawn[0][k] - m->mesh->x[other][k] - (is_fixed_there ? 0.0 : u[k]));
                length += n[0][k] * n[0][k];
            }
            CHECK_NEAR(length, 1.0, 1e-15);
            CHECK_NEAR(gap, distance, 1e-14);
            model_destroy(&m);
        }
}
