// Reads a mesh file from the disk: its format, then section by section.

#include "mesh/msh.h"
#include "core/text.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Nodes and elements of version 2.2:
//
//   $Nodes     count, then   tag x y z
//   $Elements  count, then   tag type ntag group entity ... node [node]
//
// An element that belongs to several groups is written once for each of them.

// The sections that differ between the versions; the current line is the section's first.
static pcs_status msh2_nodes(pcs_msh_text *text, pcs_msh *msh)
{
    long count, tag;
    PCS_TRY(pcs_msh_record(text, "$Nodes"));
    PCS_TRY(pcs_msh_count(text, "the number of nodes", &count));
    PCS_TRY(pcs_msh_line_ends(text));
    for (long i = 0; i < count; i++) {
        PCS_TRY(pcs_msh_record(text, "$Nodes"));
        PCS_TRY(pcs_msh_whole(text, "the tag of a node", 1, LONG_MAX - 1, &tag));
        PCS_TRY(pcs_msh_add_tag(text, msh, tag));
        PCS_TRY(pcs_msh_position(text, msh->x[msh->nnode - 1]));
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
    long tag, type, ntag, physical = 0, entity = 0, skipped;
    PCS_TRY(pcs_msh_whole(text, "the tag of an element", 1, LONG_MAX - 1, &tag));
    PCS_TRY(pcs_msh_whole(text, "the type of an element", 1, INT_MAX, &type));
    PCS_TRY(pcs_msh_check_type(text, type));
    PCS_TRY(pcs_msh_whole(text, "the number of tags", 0, INT_MAX, &ntag));
    if (ntag > 0) PCS_TRY(pcs_msh_whole(text, "the physical group", -INT_MAX, INT_MAX, &physical));
    if (ntag > 1) PCS_TRY(pcs_msh_whole(text, "the entity", -INT_MAX, INT_MAX, &entity));
    for (long i = 2; i < ntag; i++) PCS_TRY(pcs_msh_whole(text, "a tag", LONG_MIN + 1, LONG_MAX - 1, &skipped));
    pcs_msh_element element = { .dimension = type == 1 ? PCS_MSH_LINE : PCS_MSH_POINT, .entity = entity };
    int group = -1;
    PCS_TRY(pcs_msh_element_nodes(text, msh, tag, &element));
    if (physical == 0 && type != 1) return PCS_OK; // a point that belongs to nothing only says where a curve ends
    if (physical != 0) PCS_TRY(pcs_msh_find_group(text, msh, element.dimension, labs(physical), &group));
    int *place = msh2_place(table, msh, &element);
    if (*place >= 0) return msh2_repeat(text, msh, *place, group);
    *place = msh->nelement;
    PCS_TRY(pcs_msh_add_element(text, msh, &element, tag));
    return group < 0 ? PCS_OK : pcs_msh_add_member(text, msh, msh->nelement - 1, group);
}

static pcs_status msh2_elements(pcs_msh_text *text, pcs_msh *msh)
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

static pcs_status msh4_entities(pcs_msh_text *text, pcs_msh *msh)
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
        PCS_TRY(pcs_msh_record(text, "$Nodes"));
        PCS_TRY(pcs_msh_position(text, msh->x[first + i]));
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
    long tag;
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
        PCS_TRY(pcs_msh_element_nodes(text, msh, tag, &element));
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

static pcs_status msh4_nodes(pcs_msh_text *text, pcs_msh *msh)
{
    return msh4_blocks(text, msh, (const char *const[]){ "$Nodes", "$EndNodes", "nodes" }, msh4_node_block);
}

static pcs_status msh4_elements(pcs_msh_text *text, pcs_msh *msh)
{
    return msh4_blocks(text, msh, (const char *const[]){ "$Elements", "$EndElements", "elements" }, msh4_element_block);
}

static int msh4_compare(const void *a, const void *b)
{
    const pcs_msh_entity *p = a, *q = b;
    if (p->dimension != q->dimension) return p->dimension < q->dimension ? -1 : 1;
    return p->tag < q->tag ? -1 : p->tag > q->tag;
}

// Which elements belong to which groups, by their entities (4.1).
static pcs_status msh4_members(const pcs_msh_text *text, pcs_msh *msh)
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

enum { NAME_BYTES = 128 };

typedef struct msh_seen {
    bool has_names, has_entities, has_nodes, has_elements;
} msh_seen;

// 2.2 and 4.1 in text form; *is_new tells 4.1.
static pcs_status msh_format(pcs_msh_text *text, bool *is_new)
{
    double version;
    long is_binary, size;
    if (!pcs_msh_next(text)) return pcs_msh_fail(text, "the file is empty");
    if (!pcs_msh_is(text, "$MeshFormat"))
        return pcs_msh_fail(text, "this is no mesh file of Gmsh: it must begin with $MeshFormat");
    PCS_TRY(pcs_msh_record(text, "$MeshFormat"));
    PCS_TRY(pcs_msh_real(text, "the version", &version));
    *is_new = version == 4.1;
    if (!*is_new && version != 2.2)
        return pcs_msh_fail(
            text, "format %g cannot be read, only 2.2 and 4.1: write the mesh with 'gmsh -format msh41'", version);
    PCS_TRY(pcs_msh_whole(text, "the file type", 0, 1, &is_binary));
    if (is_binary == 1)
        return pcs_msh_fail(text, "format %g binary cannot be read, only text: write the mesh without 'gmsh -bin'",
                            version);
    PCS_TRY(pcs_msh_whole(text, "the data size", 1, 64, &size));
    PCS_TRY(pcs_msh_line_ends(text));
    return pcs_msh_section_ends(text, "$EndMeshFormat", "format");
}

// Finds the name between the quotes that end the line; fails if it is empty, too long or has control characters.
static pcs_status msh_quoted(pcs_msh_text *text, const char **from, size_t *length)
{
    const char *a = text->at, *b = text->stop;
    while (a < b && *a != '"') a++;
    while (b > a && b[-1] != '"') b--;
    if (b - a < 2) return pcs_msh_fail(text, "a group needs its name in quotes");
    *from = a + 1;
    *length = (size_t)(b - a) - 2;
    if (*length == 0) return pcs_msh_fail(text, "the name of a group is empty");
    if (*length >= NAME_BYTES) return pcs_msh_fail(text, "the name of a group is longer than %d bytes", NAME_BYTES - 1);
    for (size_t i = 0; i < *length; i++)
        if ((unsigned char)(*from)[i] < ' ') return pcs_msh_fail(text, "the name of a group has a control character");
    return PCS_OK;
}

static pcs_status msh_name(pcs_msh_text *text, pcs_msh *msh)
{
    long dimension, tag;
    const char *from = NULL;
    size_t length = 0;
    int group;
    PCS_TRY(pcs_msh_whole(text, "the dimension of a group", 0, 3, &dimension));
    PCS_TRY(pcs_msh_whole(text, "the tag of a group", 1, INT_MAX, &tag));
    PCS_TRY(msh_quoted(text, &from, &length));
    if (dimension > PCS_MSH_LINE) return PCS_OK; // no element can belong to it
    PCS_TRY(pcs_msh_find_group(text, msh, (int)dimension, tag, &group));
    if (msh->group[group].name != NULL) return pcs_msh_fail(text, "group %ld has a name already", tag);
    char *name = pcs_scratch(NULL, length + 1, 1);
    if (name == NULL) return pcs_fail(text->ctx, PCS_NO_MEMORY, "out of memory: reading %s", text->path);
    memcpy(name, from, length);
    name[length] = '\0';
    msh->group[group].name = name;
    for (int i = 0; i < msh->ngroup; i++)
        if (i != group && msh->group[i].dimension == dimension && msh->group[i].name != NULL &&
            strcmp(msh->group[i].name, name) == 0)
            return pcs_msh_fail(text, "groups %ld and %ld have the same name '%s'", msh->group[i].tag, tag, name);
    return PCS_OK;
}

static pcs_status msh_names(pcs_msh_text *text, pcs_msh *msh)
{
    long count;
    PCS_TRY(pcs_msh_record(text, "$PhysicalNames"));
    PCS_TRY(pcs_msh_count(text, "the number of names", &count));
    PCS_TRY(pcs_msh_line_ends(text));
    for (long i = 0; i < count; i++) {
        PCS_TRY(pcs_msh_record(text, "$PhysicalNames"));
        PCS_TRY(msh_name(text, msh));
    }
    return pcs_msh_section_ends(text, "$EndPhysicalNames", "names");
}

// Data of other programs, comments, periodicity: up to its own end.
static pcs_status msh_skip(pcs_msh_text *text)
{
    char end[64], name[48];
    size_t length = 1;
    while (text->at + length < text->stop && (unsigned char)text->at[length] > ' ') length++;
    if (text->at[0] != '$' || length < 2 || length >= sizeof name)
        return pcs_msh_fail(text, "a section such as $Nodes must begin here");
    memcpy(name, text->at + 1, length - 1);
    name[length - 1] = '\0';
    if (strncmp(name, "End", 3) == 0) return pcs_msh_fail(text, "$%s ends what has not begun", name);
    if (strcmp(name, "PartitionedEntities") == 0)
        return pcs_msh_fail(text, "a partitioned mesh cannot be read: write it in one part");
    snprintf(end, sizeof end, "$End%s", name);
    int begin = text->line;
    while (pcs_msh_next(text))
        if (pcs_msh_is(text, end)) return PCS_OK;
    return pcs_msh_fail(text, "the file ends within $%s, which begins in line %d", name, begin);
}

static pcs_status msh_once(const pcs_msh_text *text, bool *is_seen)
{
    if (*is_seen) return pcs_msh_fail(text, "the section stands in the file twice");
    *is_seen = true;
    return PCS_OK;
}

static pcs_status msh_section(pcs_msh_text *text, pcs_msh *msh, bool is_new, msh_seen *seen)
{
    if (pcs_msh_is(text, "$PhysicalNames")) {
        PCS_TRY(msh_once(text, &seen->has_names));
        return msh_names(text, msh);
    }
    if (is_new && pcs_msh_is(text, "$Entities")) {
        PCS_TRY(msh_once(text, &seen->has_entities));
        return msh4_entities(text, msh);
    }
    if (pcs_msh_is(text, "$Nodes")) {
        PCS_TRY(msh_once(text, &seen->has_nodes));
        return is_new ? msh4_nodes(text, msh) : msh2_nodes(text, msh);
    }
    if (pcs_msh_is(text, "$Elements")) {
        PCS_TRY(msh_once(text, &seen->has_elements));
        return is_new ? msh4_elements(text, msh) : msh2_elements(text, msh);
    }
    return msh_skip(text);
}

static pcs_status msh_parse(pcs_context *ctx, const char *path, const char *bytes, size_t size, pcs_msh *msh)
{
    pcs_msh_text text = { .ctx = ctx, .path = path, .next = bytes, .end = bytes + size, .at = bytes, .stop = bytes };
    msh_seen seen = { 0 };
    bool is_new = false;
    PCS_TRY(msh_format(&text, &is_new));
    while (pcs_msh_next(&text)) PCS_TRY(msh_section(&text, msh, is_new, &seen));
    if (!seen.has_nodes) return pcs_msh_fail(&text, "the file ends without $Nodes");
    if (!seen.has_elements) return pcs_msh_fail(&text, "the file ends without $Elements");
    if (is_new) PCS_TRY(msh4_members(&text, msh));
    if (msh->nelement == 0) return pcs_msh_fail(&text, "the file has no line, and no point that belongs to a group");
    return PCS_OK;
}

pcs_status pcs_msh_read(pcs_context *ctx, const char *path, pcs_msh *msh)
{
    char *bytes;
    size_t size;
    pcs_status status = pcs_text_file(ctx, path, "the mesh file", PCS_TEXT_MOST, &bytes, &size);
    if (status != PCS_OK) return status == PCS_IO_ERROR ? PCS_BAD_INPUT : status; // the case names it
    status = msh_parse(ctx, path, bytes, size, msh);
    pcs_scratch_free(bytes);
    return status;
}
