// What every mesh source owes: sound cells and sets named after the part, the same mesh every time, clean faults when
// memory runs out. A new source needs a sample here.

#include "mesh/merge.h"
#include "support/alloc_fault.h"
#include "support/check.h"
#include "support/mesh.h"

#include <string.h>

#define FILES "tests/regression/gmsh/"

static const struct {
    const char *type, *options;
} samples[] = {
    { "line", "{ from: [0, 0, 0], to: [1, 2, 3], elements: 5 }" },
    { "arc", "{ centre: [0, 0, 0], start: [1, 0, 0], angle: 200, elements: 7 }" },
    { "arc", "{ centre: [0, 0, 0], start: [1, 0, 0], angle: -360, elements: 3 }" },
    { "frame",
      "{ points: { a: [0, 0, 0], b: [1, 0, 0], c: [0, 1, 0] }, members: [[a, b], [b, c], [c, a]], elements: 4 }" },
    { "lattice", "{ cells: [3, 2, 2], size: [0.5, 1, 2], elements: 2, diagonals: cross }" },
    { "lattice", "{ cells: [3], size: [0.5] }" },
    { "gmsh", "{ file: " FILES "portal_41.msh }" },
    { "gmsh", "{ file: " FILES "portal_41.msh }" },
    { "point", "{ at: [[1, 2, 3], [4, 5, 6]] }" },
    { "point", "{ nodes: before }" },
    { "link", "{ a: before.start, b: before.rest }" },
};

enum { SAMPLES = sizeof samples / sizeof *samples };

// A model with a part in front, so that numbers do not start at 0.
static model *begin(void)
{
    model *m = model_create();
    model_line(m, "before", (double[]){ 9, 0, 0 }, (double[]){ 9, 9, 0 }, 3);
    return m;
}

TEST(every_source_has_a_sample_and_texts)
{
    for (int i = 0; pcs_mesh_sources[i] != NULL; i++) {
        const pcs_mesh_source_ops *source = pcs_mesh_sources[i];
        int count = 0;
        for (int k = 0; k < SAMPLES; k++) count += strcmp(samples[k].type, source->name) == 0;
        if (count == 0) fail_msg("mesh source '%s' has no sample in this test", source->name);
        CHECK(source->summary != NULL && source->build != NULL && source->options != NULL);
        for (const pcs_option *o = source->options; o->name != NULL; o++) CHECK(o->help != NULL);
    }
}

// Every new node and cell is in a set of the part, and the part's own sets hold the nodes.
static void check_part(const model *m, int nnode, int ncell)
{
    const pcs_mesh *mesh = m->mesh;
    int held = 0;
    CHECK(mesh->ncell > ncell);
    for (int i = 4; i < mesh->nnode_set; i++) // after those of the part before
        CHECK(strncmp(mesh->node_set[i].name, "part", 4) == 0 && strchr(".", mesh->node_set[i].name[4]) != NULL);
    for (int i = 3; i < mesh->ncell_set; i++) {
        CHECK(strncmp(mesh->cell_set[i].name, "part", 4) == 0 && mesh->cell_set[i].count > 0);
        for (int k = 0; k < mesh->cell_set[i].count; k++) CHECK(mesh->cell_set[i].items[k] >= ncell);
    }
    for (int k = 0; k < model_nodes(m, "part")->count; k++) held += model_nodes(m, "part")->items[k] >= nnode;
    CHECK(held == mesh->nnode - nnode);
    CHECK(model_nodes(m, "part")->count > 0 && model_cells(m, "part")->count > 0);
}

TEST(parts_are_sound)
{
    for (int i = 0; i < SAMPLES; i++) {
        model *m = begin(), *again = begin();
        int nnode = m->mesh->nnode, ncell = m->mesh->ncell;
        mesh_make(m, samples[i].type, "part", samples[i].options);
        mesh_check_sound(m->mesh);
        check_part(m, nnode, ncell);
        mesh_make(again, samples[i].type, "part", samples[i].options);
        CHECK(again->mesh->nnode == m->mesh->nnode && again->mesh->ncell == m->mesh->ncell);
        CHECK(memcmp(m->mesh->x, again->mesh->x, (size_t)m->mesh->nnode * sizeof *m->mesh->x) == 0);
        CHECK(memcmp(m->mesh->cell, again->mesh->cell, (size_t)m->mesh->ncell * sizeof *m->mesh->cell) == 0);
        model_destroy(&m);
        model_destroy(&again);
    }
}

// The n-th allocation fails, for every n. (Sorting may do without the memory it asks for.)
TEST(running_out_of_memory_is_a_clean_fault)
{
    if (!alloc_fault_is_active()) skip();
    int nfault = 0;
    for (int i = 0; i < SAMPLES; i++) {
        long before = alloc_fault_live(), nth = 1;
        bool has_failed = true;
        for (; nth < 300 && has_failed; nth++) {
            model *m = begin();
            void *params;
            const pcs_mesh_source_ops *source = mesh_source(m, samples[i].type, samples[i].options, &params);
            alloc_fault_arm(nth, true);
            pcs_status status = source->build(params, "part", m->mesh);
            has_failed = alloc_fault_requests() >= nth;
            alloc_fault_arm(0, false);
            CHECK(status == PCS_OK || (has_failed && status == PCS_NO_MEMORY));
            if (status != PCS_OK) CHECK_TEXT(pcs_message(m->ctx), "out of memory");
            nfault += status != PCS_OK;
            model_destroy(&m);
        }
        CHECK(!has_failed);
        CHECK(alloc_fault_live() == before);
    }
    CHECK(nfault > 20);
}

static pcs_status join(model *m)
{
    pcs_merge merge;
    bool is_dropped[64] = { true };
    pcs_status status = pcs_merge_begin(m->mesh, &merge);
    if (status == PCS_OK) status = pcs_merge_add(&merge, m->mesh->nnode, model_nodes(m, "all")->items, 1e-6);
    if (status == PCS_OK) status = pcs_merge_apply(&merge, m->mesh);
    pcs_merge_end(&merge);
    return status != PCS_OK ? status : pcs_mesh_drop_cells(m->mesh, is_dropped);
}

TEST(joining_without_memory_is_a_clean_fault)
{
    if (!alloc_fault_is_active()) skip();
    long before = alloc_fault_live(), nth = 1;
    pcs_status status = PCS_NO_MEMORY;
    for (; nth < 100 && status == PCS_NO_MEMORY; nth++) {
        model *m = begin();
        int all[64], count = 0;
        model_line(m, "other", (double[]){ 9, 9, 0 }, (double[]){ 12, 9, 0 }, 3);
        while (count < m->mesh->nnode) {
            all[count] = count;
            count++;
        }
        CHECK_OK(m->ctx, pcs_mesh_add_node_list(m->mesh, "all", count, all));
        alloc_fault_arm(nth, true);
        status = join(m);
        alloc_fault_arm(0, false);
        CHECK(status == PCS_OK || status == PCS_NO_MEMORY);
        if (status == PCS_OK) CHECK(m->mesh->nnode == 7 && m->mesh->ncell == 5);
        model_destroy(&m);
    }
    CHECK(status == PCS_OK && nth > 4);
    CHECK(alloc_fault_live() == before);
}
