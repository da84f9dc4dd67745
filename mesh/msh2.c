// Nodes and elements of version 2.2:
//
//   $Nodes     count, then   tag x y z
//   $Elements  count, then   tag type ntag group entity ... node [node]
//
// An element that belongs to several groups is written once for each of them.

#include "mesh/msh.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

pcs_status pcs_msh2_nodes(pcs_msh_text *text, pcs_msh *msh)
{
    long count, tag;
    PCS_TRY(pcs_msh_record(text, "$Nodes"));
    PCS_TRY(pcs_msh_count(text, "the number of nodes", &count));
    PCS_TRY(pcs_msh_line_ends(text));
    for (long i = 0; i < count; i++) {
        double *x;
        PCS_TRY(pcs_msh_record(text, "$Nodes"));
        PCS_TRY(pcs_msh_whole(text, "the tag of a node", 1, LONG_MAX - 1, &tag));
        PCS_TRY(pcs_msh_add_tag(text, msh, tag));
        x = msh->x[msh->nnode - 1];
        PCS_TRY(pcs_msh_real(text, "x of a node", &x[0]));
        PCS_TRY(pcs_msh_real(text, "y of a node", &x[1]));
        PCS_TRY(pcs_msh_real(text, "z of a node", &x[2]));
        PCS_TRY(pcs_msh_line_ends(text));
    }
    return pcs_msh_section_ends(text, "$EndNodes", "nodes");
}

// Elements by hash of nodes and entity, to find those that are written again for another group.
typedef struct msh2_table {
    int *slot, nslot; // -1: free
} msh2_table;

static size_t msh2_hash(const pcs_msh_element *e)
{
    uint64_t key = (uint64_t)e->node[0] * 0x9e3779b97f4a7c15u;
    key = (key ^ (uint64_t)e->node[1]) * 0xbf58476d1ce4e5b9u;
    key = (key ^ (uint64_t)e->entity) * 0x94d049bb133111ebu;
    return (size_t)(key >> 29);
}

static bool msh2_is_same(const pcs_msh_element *a, const pcs_msh_element *b)
{
    return a->node[0] == b->node[0] && a->node[1] == b->node[1] && a->entity == b->entity &&
           a->dimension == b->dimension;
}

static int *msh2_place(const msh2_table *table, const pcs_msh *msh, const pcs_msh_element *element)
{
    size_t mask = (size_t)table->nslot - 1, i = msh2_hash(element) & mask;
    while (table->slot[i] >= 0 && !msh2_is_same(&msh->element[table->slot[i]], element)) i = (i + 1) & mask;
    return &table->slot[i];
}

static pcs_status msh2_open_table(const pcs_msh_text *text, long count, msh2_table *table)
{
    table->nslot = 64;
    while (table->nslot < 2 * count && table->nslot < 1 << 30) table->nslot *= 2;
    table->slot = pcs_scratch(NULL, (size_t)table->nslot, sizeof *table->slot);
    if (table->slot == NULL) return pcs_fail(text->ctx, PCS_NO_MEMORY, "out of memory: %ld elements", count);
    for (int i = 0; i < table->nslot; i++) table->slot[i] = -1;
    return PCS_OK;
}

// The same group twice is a mistake of whoever wrote the file: the bar would count double.
static pcs_status msh2_repeat(const pcs_msh_text *text, pcs_msh *msh, int element, int group)
{
    bool is_new = group >= 0;
    for (int i = msh->element[element].member; i >= 0; i = msh->member[i].before)
        if (msh->member[i].group == group) is_new = false;
    if (is_new) return pcs_msh_add_member(text, msh, element, group);
    return pcs_msh_fail(text, "the element is the same as that of line %d", msh->element[element].line);
}

static pcs_status msh2_element(pcs_msh_text *text, pcs_msh *msh, const msh2_table *table)
{
    long tag, type, ntag, physical = 0, entity = 0, skipped, node;
    PCS_TRY(pcs_msh_whole(text, "the tag of an element", 1, LONG_MAX - 1, &tag));
    PCS_TRY(pcs_msh_whole(text, "the type of an element", 1, INT_MAX, &type));
    PCS_TRY(pcs_msh_check_type(text, type));
    PCS_TRY(pcs_msh_whole(text, "the number of tags", 0, INT_MAX, &ntag));
    if (ntag > 0) PCS_TRY(pcs_msh_whole(text, "the physical group", -INT_MAX, INT_MAX, &physical));
    if (ntag > 1) PCS_TRY(pcs_msh_whole(text, "the entity", -INT_MAX, INT_MAX, &entity));
    for (long i = 2; i < ntag; i++) PCS_TRY(pcs_msh_whole(text, "a tag", LONG_MIN + 1, LONG_MAX - 1, &skipped));
    pcs_msh_element element = { .dimension = type == 1 ? PCS_MSH_LINE : PCS_MSH_POINT, .entity = entity };
    int nnode = type == 1 ? 2 : 1, group = -1;
    for (int i = 0; i < nnode; i++) {
        PCS_TRY(pcs_msh_whole(text, "a node of the element", 1, LONG_MAX - 1, &node));
        PCS_TRY(pcs_msh_find_node(text, msh, tag, node, &element.node[i]));
    }
    if (nnode == 1) element.node[1] = element.node[0];
    PCS_TRY(pcs_msh_line_ends(text));
    if (physical == 0 && type != 1) return PCS_OK; // a point that belongs to nothing only says where a curve ends
    if (physical != 0) PCS_TRY(pcs_msh_find_group(text, msh, element.dimension, labs(physical), &group));
    int *place = msh2_place(table, msh, &element);
    if (*place >= 0) return msh2_repeat(text, msh, *place, group);
    *place = msh->nelement;
    PCS_TRY(pcs_msh_add_element(text, msh, &element, tag));
    return group < 0 ? PCS_OK : pcs_msh_add_member(text, msh, msh->nelement - 1, group);
}

pcs_status pcs_msh2_elements(pcs_msh_text *text, pcs_msh *msh)
{
    long count;
    PCS_TRY(pcs_msh_record(text, "$Elements"));
    PCS_TRY(pcs_msh_count(text, "the number of elements", &count));
    PCS_TRY(pcs_msh_line_ends(text));
    msh2_table table = { 0 };
    PCS_TRY(msh2_open_table(text, count, &table));
    pcs_status status = PCS_OK;
    for (long i = 0; i < count; i++) {
        status = pcs_msh_record(text, "$Elements");
        if (status == PCS_OK) status = msh2_element(text, msh, &table);
        if (status != PCS_OK) break;
    }
    pcs_scratch_free(table.slot);
    return status != PCS_OK ? status : pcs_msh_section_ends(text, "$EndElements", "elements");
}
