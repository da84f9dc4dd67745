// Known answers of the gap types: gaps, rows, normals, resultants, and what is refused.

#include "rows/gap.h"
#include "support/check.h"
#include "support/model.h"

#include <math.h>
#include <string.h>

static const char *const steel = "E=100 rho=1 area=1";

// A bar on x from 0 to 10 m.
static model *bar_model(void)
{
    model *m = model_create();
    model_line(m, "bar", (double[]){ 0, 0, 0 }, (double[]){ 10, 0, 0 }, 5);
    model_group(m, "rod", "bar", steel);
    return m;
}

// Two bars on x, the right one numbered from right to left: left.end at 4, right.end at 7 m.
static model *pair_model(void)
{
    model *m = model_create();
    model_line(m, "left", (double[]){ 0, 0, 0 }, (double[]){ 4, 0, 0 }, 2);
    model_line(m, "right", (double[]){ 9, 0, 0 }, (double[]){ 7, 0, 0 }, 2);
    model_group(m, "rod", "left", steel);
    model_group(m, "rod", "right", steel);
    return m;
}

static void check_row(const model *m, int row, int count, const int *column, const double *value)
{
    const pcs_rows *G = m->system->G;
    CHECK(G->start[row + 1] - G->start[row] == count);
    for (int i = 0; i < count; i++) {
        CHECK(G->column[G->start[row] + i] == column[i]);
        CHECK_NEAR(G->value[G->start[row] + i], value[i], 1e-15);
    }
}

// Every node of a set is a point of its own, under one name; a node that is held drops out of no one else's row.
TEST(wall_for_a_whole_set)
{
    model *m = bar_model();
    CHECK_OK(m->ctx, pcs_mesh_add_node_range(m->mesh, "last", 3, 3));
    model_contact(m, "other", "node_plane", "nodes=bar.start point=-1,0,0 normal=1,0,0 restitution=1");
    model_contact(m, "wall", "node_plane", "nodes=last point=11,0,0 normal=-1,0,0 restitution=0.5");
    model_build(m);
    double q[6] = { 0 }, gap[4];
    CHECK(m->system->nrow == 4 && m->system->ncontact == 2);
    CHECK(m->system->contacts[1].first_row == 1 && m->system->contacts[1].nrow == 3);
    assert_string_equal(m->system->contacts[1].name, "wall");
    pcs_system_gaps(m->system, pcs_at(0.0, q, NULL), gap);
    CHECK_ALL_NEAR(4, gap, ((double[]){ 1, 5, 3, 1 }), 1e-14);
    for (int i = 0; i < 3; i++) {
        check_row(m, 1 + i, 1, (int[]){ 3 + i }, (double[]){ -1 });
        CHECK(m->system->rows[1 + i].contact == 1 && pcs_restitution(&m->system->rows[1 + i], 0.0) == 0.5);
    }
    CHECK(pcs_restitution(&m->system->rows[0], 0.0) == 1.0);
    model_destroy(&m);
}

// Any length of the normal means any length.
TEST(normals_of_any_length)
{
    const char *const normals[] = { "-1e-300,0,0", "-1e300,0,0", "-1e-170,0,0", "-1e200,0,0" };
    for (size_t i = 0; i < sizeof normals / sizeof *normals; i++) {
        model *m = bar_model();
        char text[128] = "nodes=bar.end point=12,0,0 restitution=0 normal=";
        strcat(text, normals[i]);
        pcs_row_source *wall = model_contact(m, "wall", "node_plane", text);
        const char *option = NULL;
        CHECK(wall->ops->check(wall->params, &option) == NULL);
        model_build(m);
        double q[6] = { 0 }, gap;
        pcs_system_gaps(m->system, pcs_at(0.0, q, NULL), &gap);
        CHECK_NEAR(gap, 2.0, 1e-15);
        model_destroy(&m);
    }
}

// A node in the plane whose rotation comes first among its degrees of freedom.
TEST(planes_are_those_of_translations)
{
    const int first[2] = { 0, 3 };
    pcs_dof dof[3] = { { .direction = { 0, 0, 1 }, .is_rotation = true },
                       { .direction = { 1, 0, 0 } },
                       { .direction = { 0, 1, 0 } } };
    const pcs_dofmap map = { .ndof = 3, .first = first, .dof = dof };
    const double wanted[3] = { 0, 0, 1 };
    double plane[3];
    int ntangent = 0;
    pcs_context *ctx = NULL;
    CHECK(pcs_context_create(&ctx) == PCS_OK);
    CHECK_OK(ctx, pcs_gap_look_round(ctx, &map, 0, true, &ntangent, plane));
    assert_int_equal(ntangent, 1);
    CHECK_ALL_NEAR(3, plane, wanted, 0.0);
    pcs_context_destroy(&ctx);
}

typedef struct refusal {
    bool is_pair;
    const char *held; // node set that is held along x, or NULL
    const char *type, *values, *reported;
} refusal;

static const refusal refusals[] = {
    { false, NULL, "node_plane", "nodes=bar.end point=0,0,0 normal=0,1,0 restitution=0",
      "node 5 cannot move along the normal [0, 1, 0]: its elements give it no such direction" },
    { false, NULL, "node_plane", "nodes=bar.end point=0,0,0 normal=1,0.1,0 restitution=0",
      "cannot move along the normal" },
    { false, "bar.end", "node_plane", "nodes=bar.end point=0,0,0 normal=1,0,0 restitution=0",
      "node 5 is held by a support along the normal, so its gap cannot change" },
    { true, NULL, "node_node", "a=left.end b=right normal=1,0,0 restitution=0",
      "set 'left.end' has 1 nodes and set 'right' has 3; they must pair up" },
    { true, NULL, "node_node", "a=right b=left.end normal=1,0,0 restitution=0", "must pair up" },
    { true, NULL, "node_node", "a=left.end b=left.end normal=1,0,0 restitution=0",
      "node 2 would touch itself: sets 'left.end' and 'left.end' overlap" },
    { true, NULL, "node_node", "a=left.end b=right.end normal=0,0,1 restitution=0",
      "node 5 cannot move along the normal" },
    { false, NULL, "node_plane", "nodes=bar.end point=0,0,0 normal=1,0,0 restitution=0 friction=0.1",
      "node 5 cannot move across the normal, so there can be no friction" },
    { false, NULL, "node_circle", "nodes=bar.end centre=0,0,0 radius=20 side=inside restitution=0",
      "node 5 cannot move across the axis [0, 0, 1] in two directions: a circle is round" },
    { true, NULL, "beam_beam", "a=left b=right radius=0.1 restitution=0", "node 0 cannot move in a plane or in space" },
    { true, NULL, "beam_beam", "a=left b=left radius=0.1 exclude=5 restitution=0",
      "no cell of 'left' can touch one of 'left': all of them are neighbours, up to 5 cells apart" },
    { true, NULL, "node_segment", "nodes=left.end segments=right radius=0.1 restitution=0",
      "cannot move in a plane or in space" },
};

TEST(wrong_contacts_are_told)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal *r = &refusals[i];
        model *m = r->is_pair ? pair_model() : bar_model();
        if (r->held != NULL) model_support(m, r->held, "x");
        model_contact(m, "wall", r->type, r->values);
        CHECK_STATUS(NULL, model_try_build(m), PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(m->ctx), r->reported);
        assert_string_equal(m->culprit, "contacts.wall");
        model_destroy(&m);
    }
}

// The normal of a is checked, too: a stands on y, b on x.
TEST(both_partners_must_move)
{
    model *m = model_create();
    model_line(m, "left", (double[]){ 0, -4, 0 }, (double[]){ 0, 0, 0 }, 2);
    model_line(m, "right", (double[]){ 9, 0, 0 }, (double[]){ 7, 0, 0 }, 2);
    model_group(m, "rod", "left", steel);
    model_group(m, "rod", "right", steel);
    model_contact(m, "touch", "node_node", "a=left.end b=right.end normal=1,0,0 restitution=0");
    CHECK_STATUS(NULL, model_try_build(m), PCS_BAD_INPUT);
    CHECK_TEXT(pcs_message(m->ctx), "node 2 cannot move along the normal [1, 0, 0]");
    model_destroy(&m);
}
