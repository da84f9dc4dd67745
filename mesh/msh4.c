// Entities, nodes and elements of version 4.1. Nodes and elements come in blocks, one for each entity of the geometry:
//
//   $Entities  npoint ncurve nsurface nvolume, then for each
//                tag (x y z | box of 6) ngroup group ... (nbound bound ...)
//   $Nodes     nblock nnode low high, then blocks of
//                dimension entity has_parameters count, tags, positions
//   $Elements  nblock nelement low high, then blocks of
//                dimension entity type count, then   tag node ...
//
// Which groups an element belongs to, its entity says.

#include "mesh/msh.h"

#include <limits.h>
#include <stdlib.h>

static const char *const msh4_kinds[] = { "points", "curves", "surfaces", "volumes" };

static pcs_status msh4_entity(pcs_msh_text *text, pcs_msh *msh, int dimension)
{
    long tag, count, physical, bound;
    double unused;
    PCS_TRY(pcs_msh_whole(text, "the tag of an entity", -INT_MAX, INT_MAX, &tag));
    for (int i = 0; i < (dimension == 0 ? 3 : 6); i++) PCS_TRY(pcs_msh_real(text, "a coordinate", &unused));
    PCS_TRY(pcs_msh_whole(text, "the number of physical groups", 0, INT_MAX, &count));
    int first = msh->nphysical;
    for (long i = 0; i < count; i++) {
        PCS_TRY(pcs_msh_whole(text, "a physical group", -INT_MAX, INT_MAX, &physical));
        PCS_TRY(pcs_msh_grow(text, &msh->physical, &msh->physical_room, msh->nphysical, sizeof *msh->physical));
        msh->physical[msh->nphysical++] = labs(physical);
    }
    if (dimension > 0) {
        PCS_TRY(pcs_msh_whole(text, "the number of bounding entities", 0, INT_MAX, &count));
        for (long i = 0; i < count; i++) PCS_TRY(pcs_msh_whole(text, "a bounding entity", -INT_MAX, INT_MAX, &bound));
    }
    PCS_TRY(pcs_msh_line_ends(text));
    PCS_TRY(pcs_msh_grow(text, &msh->entity, &msh->entity_room, msh->nentity, sizeof *msh->entity));
    msh->entity[msh->nentity++] =
        (pcs_msh_entity){ .dimension = dimension, .tag = tag, .first = first, .count = msh->nphysical - first };
    return PCS_OK;
}

pcs_status pcs_msh4_entities(pcs_msh_text *text, pcs_msh *msh)
{
    long count[4];
    PCS_TRY(pcs_msh_record(text, "$Entities"));
    for (int i = 0; i < 4; i++) PCS_TRY(pcs_msh_count(text, "the number of entities", &count[i]));
    PCS_TRY(pcs_msh_line_ends(text));
    for (int i = 0; i < 4; i++) {
        for (long k = 0; k < count[i]; k++) {
            PCS_TRY(pcs_msh_record(text, "$Entities"));
            pcs_status status = msh4_entity(text, msh, i);
            if (status != PCS_OK)
                return pcs_wrap(text->ctx, status, "entity %ld of %ld %s", k + 1, count[i], msh4_kinds[i]);
        }
    }
    return pcs_msh_section_ends(text, "$EndEntities", "entities");
}

typedef struct msh4_head {
    long nblock, count; // blocks, and nodes or elements in all of them
} msh4_head;

static pcs_status msh4_read_head(pcs_msh_text *text, const char *section, msh4_head *head)
{
    long unused;
    PCS_TRY(pcs_msh_record(text, section));
    PCS_TRY(pcs_msh_count(text, "the number of blocks", &head->nblock));
    PCS_TRY(pcs_msh_count(text, "the number of nodes or elements", &head->count));
    PCS_TRY(pcs_msh_whole(text, "the lowest tag", 0, LONG_MAX - 1, &unused));
    PCS_TRY(pcs_msh_whole(text, "the highest tag", 0, LONG_MAX - 1, &unused));
    return pcs_msh_line_ends(text);
}

typedef struct msh4_block {
    long dimension, entity, kind, count; // kind: has_parameters of nodes, type of elements
} msh4_block;

static pcs_status msh4_read_block(pcs_msh_text *text, const char *section, const char *kind, long highest,
                                  msh4_block *block)
{
    PCS_TRY(pcs_msh_record(text, section));
    PCS_TRY(pcs_msh_whole(text, "the dimension of a block", 0, 3, &block->dimension));
    PCS_TRY(pcs_msh_whole(text, "the entity of a block", -INT_MAX, INT_MAX, &block->entity));
    PCS_TRY(pcs_msh_whole(text, kind, 0, highest, &block->kind));
    PCS_TRY(pcs_msh_count(text, "the length of a block", &block->count));
    return pcs_msh_line_ends(text);
}

static pcs_status msh4_node_block(pcs_msh_text *text, pcs_msh *msh, long *count)
{
    msh4_block block;
    long tag;
    double unused;
    PCS_TRY(msh4_read_block(text, "$Nodes", "'parametric' of a block", 1, &block));
    int first = msh->nnode;
    for (long i = 0; i < block.count; i++) {
        PCS_TRY(pcs_msh_record(text, "$Nodes"));
        PCS_TRY(pcs_msh_whole(text, "the tag of a node", 1, LONG_MAX - 1, &tag));
        PCS_TRY(pcs_msh_line_ends(text));
        PCS_TRY(pcs_msh_add_tag(text, msh, tag));
    }
    for (long i = 0; i < block.count; i++) {
        double *x = msh->x[first + i];
        PCS_TRY(pcs_msh_record(text, "$Nodes"));
        PCS_TRY(pcs_msh_real(text, "x of a node", &x[0]));
        PCS_TRY(pcs_msh_real(text, "y of a node", &x[1]));
        PCS_TRY(pcs_msh_real(text, "z of a node", &x[2]));
        long nparameter = block.kind == 1 ? block.dimension : 0;
        for (long k = 0; k < nparameter; k++) PCS_TRY(pcs_msh_real(text, "a parameter of a node", &unused));
        PCS_TRY(pcs_msh_line_ends(text));
    }
    *count += block.count;
    return PCS_OK;
}

static pcs_status msh4_element_block(pcs_msh_text *text, pcs_msh *msh, long *count)
{
    msh4_block block;
    long tag, node;
    PCS_TRY(msh4_read_block(text, "$Elements", "the type of the elements", INT_MAX, &block));
    PCS_TRY(pcs_msh_check_type(text, block.kind));
    int nnode = block.kind == 1 ? 2 : 1;
    if (block.dimension != nnode - 1)
        return pcs_msh_fail(text, "elements of type %ld must have dimension %d, have %ld", block.kind, nnode - 1,
                            block.dimension);
    for (long i = 0; i < block.count; i++) {
        pcs_msh_element element = { .dimension = nnode - 1, .entity = block.entity };
        PCS_TRY(pcs_msh_record(text, "$Elements"));
        PCS_TRY(pcs_msh_whole(text, "the tag of an element", 1, LONG_MAX - 1, &tag));
        for (int k = 0; k < nnode; k++) {
            PCS_TRY(pcs_msh_whole(text, "a node of the element", 1, LONG_MAX - 1, &node));
            PCS_TRY(pcs_msh_find_node(text, msh, tag, node, &element.node[k]));
        }
        if (nnode == 1) element.node[1] = element.node[0];
        PCS_TRY(pcs_msh_line_ends(text));
        PCS_TRY(pcs_msh_add_element(text, msh, &element, tag));
    }
    *count += block.count;
    return PCS_OK;
}

typedef pcs_status msh4_read(pcs_msh_text *text, pcs_msh *msh, long *count);

// All blocks of nodes or elements, and whether they hold as many as announced.
static pcs_status msh4_blocks(pcs_msh_text *text, pcs_msh *msh, const char *const names[3], msh4_read *read)
{
    msh4_head head;
    long sum = 0;
    PCS_TRY(msh4_read_head(text, names[0], &head));
    for (long i = 0; i < head.nblock; i++) PCS_TRY(read(text, msh, &sum));
    PCS_TRY(pcs_msh_section_ends(text, names[1], "blocks"));
    if (sum == head.count) return PCS_OK;
    return pcs_msh_fail(text, "the blocks hold %ld %s, but %ld are announced", sum, names[2], head.count);
}

pcs_status pcs_msh4_nodes(pcs_msh_text *text, pcs_msh *msh)
{
    return msh4_blocks(text, msh, (const char *const[]){ "$Nodes", "$EndNodes", "nodes" }, msh4_node_block);
}

pcs_status pcs_msh4_elements(pcs_msh_text *text, pcs_msh *msh)
{
    return msh4_blocks(text, msh, (const char *const[]){ "$Elements", "$EndElements", "elements" }, msh4_element_block);
}

static int msh4_compare(const void *a, const void *b)
{
    const pcs_msh_entity *p = a, *q = b;
    if (p->dimension != q->dimension) return p->dimension < q->dimension ? -1 : 1;
    return p->tag < q->tag ? -1 : p->tag > q->tag;
}

pcs_status pcs_msh4_members(const pcs_msh_text *text, pcs_msh *msh)
{
    if (msh->nentity > 0) qsort(msh->entity, (size_t)msh->nentity, sizeof *msh->entity, msh4_compare);
    int kept = 0;
    for (int i = 0; i < msh->nelement; i++) {
        pcs_msh_element element = msh->element[i];
        pcs_msh_entity key = { .dimension = element.dimension, .tag = element.entity };
        const pcs_msh_entity *entity =
            msh->nentity == 0 ? NULL : bsearch(&key, msh->entity, (size_t)msh->nentity, sizeof key, msh4_compare);
        int ngroup = entity == NULL ? 0 : entity->count;
        // A point that belongs to no group only says where a curve ends.
        if (element.dimension == PCS_MSH_POINT && ngroup == 0) continue;
        msh->element[kept] = element;
        for (int k = 0; k < ngroup; k++) {
            int group;
            PCS_TRY(pcs_msh_find_group(text, msh, element.dimension, msh->physical[entity->first + k], &group));
            PCS_TRY(pcs_msh_add_member(text, msh, kept, group));
        }
        kept++;
    }
    msh->nelement = kept;
    return PCS_OK;
}
