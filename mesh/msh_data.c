// What is kept of a mesh file: nodes by their tags, elements, groups and memberships.

#include "mesh/msh.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

pcs_status pcs_msh_grow(const pcs_msh_text *text, void *array, int *room, int count, size_t size)
{
    if (count < *room) return PCS_OK;
    if (*room > INT_MAX / 4) return pcs_msh_fail(text, "the file holds more than the program can number");
    int larger = *room == 0 ? 256 : 2 * *room;
    void *old;
    memcpy(&old, array, sizeof old); // `array` is the address of a pointer of any type
    void *bigger = pcs_scratch(old, (size_t)larger, size);
    if (bigger == NULL) return pcs_fail(text->ctx, PCS_NO_MEMORY, "out of memory: reading %s", text->path);
    memcpy(array, &bigger, sizeof bigger);
    *room = larger;
    return PCS_OK;
}

static size_t data_hash(long tag)
{
    return (size_t)(((uint64_t)tag * 0x9e3779b97f4a7c15u) >> 29);
}

// The slot that holds the tag, or the free one where it belongs.
static int *data_slot(const pcs_msh *msh, long tag)
{
    size_t mask = (size_t)msh->nslot - 1, i = data_hash(tag) & mask;
    while (msh->slot[i] >= 0 && msh->tag[msh->slot[i]] != tag) i = (i + 1) & mask;
    return &msh->slot[i];
}

// Half of the slots stay free.
static pcs_status data_grow_slots(const pcs_msh_text *text, pcs_msh *msh)
{
    if (msh->nslot > 2 * msh->nnode) return PCS_OK;
    int larger = msh->nslot == 0 ? 1024 : 2 * msh->nslot;
    int *slot = pcs_scratch(msh->slot, (size_t)larger, sizeof *slot);
    if (slot == NULL) return pcs_fail(text->ctx, PCS_NO_MEMORY, "out of memory: reading %s", text->path);
    msh->slot = slot;
    msh->nslot = larger;
    for (int i = 0; i < larger; i++) slot[i] = -1;
    for (int i = 0; i < msh->nnode; i++) *data_slot(msh, msh->tag[i]) = i;
    return PCS_OK;
}

pcs_status pcs_msh_add_tag(const pcs_msh_text *text, pcs_msh *msh, long tag)
{
    PCS_TRY(pcs_msh_grow(text, &msh->tag, &msh->tag_room, msh->nnode, sizeof *msh->tag));
    PCS_TRY(pcs_msh_grow(text, &msh->x, &msh->x_room, msh->nnode, sizeof *msh->x));
    PCS_TRY(data_grow_slots(text, msh));
    int *slot = data_slot(msh, tag);
    if (*slot >= 0) return pcs_msh_fail(text, "node %ld is given twice", tag);
    *slot = msh->nnode;
    msh->tag[msh->nnode++] = tag;
    return PCS_OK;
}

pcs_status pcs_msh_find_node(const pcs_msh_text *text, const pcs_msh *msh, long element, long tag, int *node)
{
    *node = msh->nslot == 0 ? -1 : *data_slot(msh, tag);
    return *node >= 0 ? PCS_OK
                      : pcs_msh_fail(text, "element %ld has node %ld, which $Nodes does not give", element, tag);
}

pcs_status pcs_msh_add_element(const pcs_msh_text *text, pcs_msh *msh, const pcs_msh_element *element, long tag)
{
    const int *n = element->node;
    if (element->dimension == PCS_MSH_LINE) {
        const double *a = msh->x[n[0]], *b = msh->x[n[1]];
        if (a[0] == b[0] && a[1] == b[1] && a[2] == b[2])
            return pcs_msh_fail(text, "element %ld has no length: its nodes %ld and %ld are both at [%g, %g, %g]", tag,
                                msh->tag[n[0]], msh->tag[n[1]], a[0], a[1], a[2]);
    }
    PCS_TRY(pcs_msh_grow(text, &msh->element, &msh->element_room, msh->nelement, sizeof *msh->element));
    msh->element[msh->nelement] = *element;
    msh->element[msh->nelement].line = text->line;
    msh->element[msh->nelement++].member = -1;
    return PCS_OK;
}

pcs_status pcs_msh_find_group(const pcs_msh_text *text, pcs_msh *msh, int dimension, long tag, int *group)
{
    // The last one used is the most likely one.
    int guess = msh->nmember > 0 ? msh->member[msh->nmember - 1].group : 0;
    for (int i = 0; i < msh->ngroup; i++) {
        *group = (guess + i) % msh->ngroup;
        if (msh->group[*group].dimension == dimension && msh->group[*group].tag == tag) return PCS_OK;
    }
    PCS_TRY(pcs_msh_grow(text, &msh->group, &msh->group_room, msh->ngroup, sizeof *msh->group));
    *group = msh->ngroup;
    msh->group[msh->ngroup++] = (pcs_msh_group){ .dimension = dimension, .tag = tag };
    return PCS_OK;
}

pcs_status pcs_msh_add_member(const pcs_msh_text *text, pcs_msh *msh, int element, int group)
{
    for (int i = msh->element[element].member; i >= 0; i = msh->member[i].before)
        if (msh->member[i].group == group) return PCS_OK;
    PCS_TRY(pcs_msh_grow(text, &msh->member, &msh->member_room, msh->nmember, sizeof *msh->member));
    int *newest = &msh->element[element].member;
    msh->member[msh->nmember] = (pcs_msh_member){ .element = element, .group = group, .before = *newest };
    *newest = msh->nmember++;
    return PCS_OK;
}

pcs_status pcs_msh_check_type(const pcs_msh_text *text, long type)
{
    static const char *const names[] = {
        [2] = "triangle",
        [3] = "quadrangle",
        [4] = "tetrahedron",
        [5] = "hexahedron",
        [6] = "prism",
        [7] = "pyramid",
        [9] = "6-node triangle",
        [10] = "9-node quadrangle",
        [11] = "10-node tetrahedron",
        [12] = "27-node hexahedron",
        [16] = "8-node quadrangle",
        [17] = "20-node hexahedron",
    };
    if (type == 1 || type == 15) return PCS_OK;
    if (type == 8 || (type >= 26 && type <= 28))
        return pcs_msh_fail(text,
                            "elements of type %ld (line of %ld nodes) cannot be read, only lines of 2 nodes: mesh "
                            "with element order 1",
                            type, type == 8 ? 3 : type - 22);
    const char *name = type > 0 && type < (long)(sizeof names / sizeof *names) ? names[type] : NULL;
    return pcs_msh_fail(text,
                        "elements of type %ld%s%s%s cannot be read, only lines of 2 nodes (type 1) and points "
                        "(type 15)",
                        type, name == NULL ? "" : " (", name == NULL ? "" : name, name == NULL ? "" : ")");
}

void pcs_msh_free(pcs_msh *msh)
{
    for (int i = 0; i < msh->ngroup; i++) pcs_scratch_free(msh->group[i].name);
    pcs_scratch_free(msh->tag);
    pcs_scratch_free(msh->x);
    pcs_scratch_free(msh->element);
    pcs_scratch_free(msh->group);
    pcs_scratch_free(msh->member);
    pcs_scratch_free(msh->entity);
    pcs_scratch_free(msh->physical);
    pcs_scratch_free(msh->slot);
    *msh = (pcs_msh){ 0 };
}
