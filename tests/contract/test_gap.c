// What every gap type with constant rows promises, looped over the table, where they come first: gaps are distances of
// drawn points, and a contact that cannot act is refused with its reason. What all types promise of rows and
// resultants is in test_gap_bodies.c.

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

// A plane pushes the end of the first bar back; two nodes are pushed apart.
static void normal_for(const pcs_source_ops *ops, const double increment[3], double normal[3])
{
    double sign = ops->sets[1].option == NULL ? -2.5 : 2.5;
    for (int k = 0; k < 3; k++) normal[k] = sign * increment[k];
}

// The gap at rest, and after a motion, is the distance of the points that are drawn along the drawn normal.
TEST(gaps_are_distances_in_space)
{
    unsigned long long seed = 4;
    for (int type = 0; is_constant(type); type++)
        for (int w = 0; w < NWAY; w++) {
            double normal[3], q[MODEL_MAX_SIZE] = { 0 }, gap, drawn[1][3], n[1][3], distance = 0.0, length = 0.0;
            normal_for(pcs_gap_types[type], choices[w], normal);
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

TEST(contact_of_held_nodes_is_refused)
{
    for (int type = 0; is_constant(type); type++) {
        double normal[3];
        normal_for(pcs_gap_types[type], choices[0], normal);
        model *m = two_bars(choices[0], normal, pcs_gap_types[type]);
        model_support(m, "first.end", "x");
        model_support(m, "second.start", "x");
        CHECK_STATUS(NULL, model_try_build(m), PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(m->ctx), "is held by a support along the normal");
        assert_string_equal(m->culprit, "contacts.touch");
        model_destroy(&m);
    }
}

TEST(contact_across_the_motion_is_refused)
{
    const double across[3] = { 0, 0, 1 }, askew[3] = { 1, 0, 0.01 };
    for (int type = 0; is_constant(type); type++)
        for (int trial = 0; trial < 2; trial++) {
            model *m = two_bars(choices[0], trial == 0 ? across : askew, pcs_gap_types[type]);
            CHECK_STATUS(NULL, model_try_build(m), PCS_BAD_INPUT);
            CHECK_TEXT(pcs_message(m->ctx), "cannot move along the normal");
            CHECK_TEXT(pcs_message(m->ctx), trial == 0 ? "[0, 0, 1]" : "[0.99995, 0, 0.0099995]");
            assert_string_equal(m->culprit, "contacts.touch");
            model_destroy(&m);
        }
}

TEST(normal_without_direction_is_told)
{
    for (int type = 0; is_constant(type); type++) {
        const pcs_source_ops *ops = pcs_gap_types[type];
        model *m = model_create();
        const char *option = NULL;
        CHECK_TEXT(ops->check(model_params(m->ctx, ops->options, ops->params_size, "normal=0,0,0"), &option),
                   "no direction");
        assert_string_equal(option, "normal");
        CHECK(ops->check(model_params(m->ctx, ops->options, ops->params_size, "normal=0,3,0"), &option) == NULL);
        model_destroy(&m);
    }
}
