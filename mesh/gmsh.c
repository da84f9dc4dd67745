// A mesh from a file of Gmsh: lines become cells, points of physical groups become one-node cells.
//
// Makes the sets `name` (all nodes; all line cells, or the points of a file without lines) and `name.<group>` for every
// physical group, by its name or, without one, its number: its cells and their nodes. When a group of points and one of
// lines would be called the same, that of the points is `name.<group>.points`. Nodes that no cell needs are left out,
// the others are numbered along the lines.
//
// Reads text of version 4.1 as far as bars need it: nodes, two-node lines, points and physical groups. Every record is
// on a line of its own, as Gmsh writes it; messages name the file and the line. Announced counts are not trusted:
// arrays grow with the records that are read.

#include "core/context.h"
#include "core/text.h"
#include "mesh/mesh.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PCS_MSH_POINT = 0, PCS_MSH_LINE = 1 }; // dimension of elements and groups

// Holds the text of a file and the current line.
typedef struct pcs_msh_text {
    pcs_context *ctx;
    const char *path;
    const char *next, *end; // text after the current line
    const char *at, *stop;  // unread part of the current line
    int line;               // of `at`, from 1
} pcs_msh_text;

typedef struct pcs_msh_element {
    int node[2]; // equal for a point
    int dimension;
    long entity; // of the geometry
} pcs_msh_element;

typedef struct pcs_msh_group {
    int dimension;
    long tag;
    char *name; // NULL if not given
} pcs_msh_group;

typedef struct pcs_msh_member {
    int element, group;
} pcs_msh_member;

// Holds an entity of the geometry and the groups it belongs to.
typedef struct pcs_msh_entity {
    int dimension;
    long tag;
    int first, count; // range in `physical`
} pcs_msh_entity;

// Holds the contents of a file; all arrays are scratch memory.
typedef struct pcs_msh {
    int nnode, nelement, ngroup, nmember, nentity, nphysical;
    int tag_room, x_room, element_room, group_room, member_room, entity_room, physical_room;
    long *tag;                // [nnode] tags of the nodes in the file
    double (*x)[3];           // [nnode] m
    pcs_msh_element *element; // lines, and points that belong to a group
    pcs_msh_group *group;
    pcs_msh_member *member; // pairs of element and group
    pcs_msh_entity *entity;
    long *physical;   // tags of groups
    int *slot, nslot; // hash table of nodes by tag, -1 if free; nslot is a power of 2
} pcs_msh;

// Reads a mesh file from disk: its format, then section by section. Stores nodes by tag, elements, groups and
// memberships.

// Lines, words and numbers of a mesh file.

enum { WORD_BYTES = 64 };

// Stores "file:line: message" and returns PCS_BAD_INPUT.
__attribute__((format(printf, 2, 3))) static pcs_status msh_fail(const pcs_msh_text *text, const char *format, ...)
{
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return pcs_fail(text->ctx, PCS_BAD_INPUT, "%s:%d: %s", text->path, text->line, message);
}

static bool text_is_blank(char x)
{
    return x == ' ' || x == '\t' || x == '\r';
}

static void text_skip(pcs_msh_text *text)
{
    while (text->at < text->stop && text_is_blank(*text->at)) text->at++;
}

// Advances to the next line that is not blank. Returns false at the end of the file.
static bool msh_next(pcs_msh_text *text)
{
    while (text->next < text->end) {
        const char *stop = memchr(text->next, '\n', (size_t)(text->end - text->next));
        text->at = text->next;
        text->stop = stop == NULL ? text->end : stop;
        text->next = stop == NULL ? text->end : stop + 1;
        text->line++;
        text_skip(text);
        if (text->at < text->stop) return true;
    }
    return false;
}

// Advances within a section. Fails at the end of the file.
static pcs_status msh_record(pcs_msh_text *text, const char *section)
{
    return msh_next(text) ? PCS_OK : msh_fail(text, "the file ends within %s", section);
}

// Copies the next word to a buffer that holds every number. Truncates a longer word and sets *is_cut.
static bool text_word(pcs_msh_text *text, char word[WORD_BYTES], bool *is_cut)
{
    text_skip(text);
    const char *start = text->at;
    while (text->at < text->stop && !text_is_blank(*text->at)) text->at++;
    size_t length = (size_t)(text->at - start);
    *is_cut = length >= WORD_BYTES;
    if (*is_cut) length = WORD_BYTES - 1;
    for (size_t i = 0; i < length; i++) {
        bool is_shown = (unsigned char)start[i] >= ' ' && start[i] != 0x7f;
        word[i] = start[i];
        if (!is_shown) word[i] = '?'; // control characters are replaced in messages
    }
    word[length] = '\0';
    return length > 0;
}

// Reads the next word of the line as an integer from low to high, or as a finite number.
static pcs_status msh_whole(pcs_msh_text *text, const char *what, long low, long high, long *out)
{
    char word[WORD_BYTES];
    bool is_cut;
    if (!text_word(text, word, &is_cut)) return msh_fail(text, "the line ends before %s", what);
    size_t sign = word[0] == '-' || word[0] == '+', length = strlen(word);
    if (is_cut || length == sign || strspn(word + sign, "0123456789") != length - sign)
        return msh_fail(text, "%s must be a whole number, is '%s'", what, word);
    // strtol limits numbers that are too large, and the limits are outside every range.
    *out = strtol(word, NULL, 10);
    if (*out < low || *out > high) return msh_fail(text, "%s must be from %ld to %ld, is %s", what, low, high, word);
    return PCS_OK;
}

static pcs_status msh_real(pcs_msh_text *text, const char *what, double *out)
{
    char word[WORD_BYTES];
    bool is_cut;
    if (!text_word(text, word, &is_cut)) return msh_fail(text, "the line ends before %s", what);
    const char *stop = word;
    bool is_decimal = !is_cut && strspn(word, "0123456789+-.eE") == strlen(word);
    if (is_decimal) *out = pcs_text_number(word, &stop);
    if (!is_decimal || *stop != '\0') return msh_fail(text, "%s must be a number, is '%s'", what, word);
    if (!isfinite(*out)) return msh_fail(text, "%s must be finite, is %s", what, word);
    return PCS_OK;
}

// Reads the number of records that follow. Fails if the rest of the file cannot hold them.
static pcs_status msh_count(pcs_msh_text *text, const char *what, long *out)
{
    PCS_TRY(msh_whole(text, what, 0, 1L << 40, out));
    // Each record has at least a digit and the end of its line.
    long room = (text->end - text->next + 1) / 2;
    if (*out > room)
        return msh_fail(text, "%s is %ld, but the rest of the file has room for %ld at the most", what, *out, room);
    return PCS_OK;
}

// Fails unless the rest of the line is empty.
static pcs_status msh_line_ends(pcs_msh_text *text)
{
    char word[WORD_BYTES];
    bool is_cut;
    if (!text_word(text, word, &is_cut)) return PCS_OK;
    return msh_fail(text, "the line must end before '%s'", word);
}

// Returns true if the whole current line is this word.
static bool msh_is(const pcs_msh_text *text, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(text->stop - text->at) < length || memcmp(text->at, word, length) != 0) return false;
    for (const char *p = text->at + length; p < text->stop; p++)
        if (!text_is_blank(*p)) return false;
    return true;
}

// Fails unless the next line is `word`, after the number of records that `announced` names.
static pcs_status msh_section_ends(pcs_msh_text *text, const char *word, const char *announced)
{
    if (!msh_next(text)) return msh_fail(text, "the file ends before %s", word);
    if (msh_is(text, word)) return PCS_OK;
    char found[WORD_BYTES];
    bool is_cut;
    text_word(text, found, &is_cut);
    return msh_fail(text, "%s must follow here, after the %s that the section announces; is '%s'", word, announced,
                    found);
}

// Enlarges an array, if needed, to hold one more item.
static pcs_status msh_grow(const pcs_msh_text *text, void *array, int *room, int count, size_t size)
{
    if (count < *room) return PCS_OK;
    if (*room > INT_MAX / 4) return msh_fail(text, "the file holds more than the program can number");
    int larger = *room == 0 ? 256 : 2 * *room;
    void *old;
    memcpy(&old, array, sizeof old); // `array` is the address of a pointer of any type
    void *bigger = pcs_scratch(old, (size_t)larger, size);
    if (bigger == NULL) return pcs_fail(text->ctx, PCS_NO_MEMORY, "out of memory: reading %s", text->path);
    memcpy(array, &bigger, sizeof bigger);
    *room = larger;
    return PCS_OK;
}

// Returns the slot that holds the tag, or the free one where it belongs.
static int *msh_slot(const pcs_msh *msh, long tag)
{
    size_t mask = (size_t)msh->nslot - 1, i = (size_t)(((uint64_t)tag * 0x9e3779b97f4a7c15u) >> 29) & mask;
    while (msh->slot[i] >= 0 && msh->tag[msh->slot[i]] != tag) i = (i + 1) & mask;
    return &msh->slot[i];
}

// Enlarges the hash table so that half of the slots stay free.
static pcs_status msh_grow_slots(const pcs_msh_text *text, pcs_msh *msh)
{
    if (msh->nslot > 2 * msh->nnode) return PCS_OK;
    int larger = msh->nslot == 0 ? 1024 : 2 * msh->nslot;
    int *slot = pcs_scratch(msh->slot, (size_t)larger, sizeof *slot);
    if (slot == NULL) return pcs_fail(text->ctx, PCS_NO_MEMORY, "out of memory: reading %s", text->path);
    msh->slot = slot;
    msh->nslot = larger;
    for (int i = 0; i < larger; i++) slot[i] = -1;
    for (int i = 0; i < msh->nnode; i++) *msh_slot(msh, msh->tag[i]) = i;
    return PCS_OK;
}

// Adds a node. Fails if its tag was given before.
static pcs_status msh_add_tag(const pcs_msh_text *text, pcs_msh *msh, long tag)
{
    PCS_TRY(msh_grow(text, &msh->tag, &msh->tag_room, msh->nnode, sizeof *msh->tag));
    PCS_TRY(msh_grow(text, &msh->x, &msh->x_room, msh->nnode, sizeof *msh->x));
    PCS_TRY(msh_grow_slots(text, msh));
    int *slot = msh_slot(msh, tag);
    if (*slot >= 0) return msh_fail(text, "node %ld is given twice", tag);
    *slot = msh->nnode;
    msh->tag[msh->nnode++] = tag;
    return PCS_OK;
}

// Reads the nodes of an element of known dimension, which end the line. Fails if one is unknown, and names the element.
static pcs_status msh_element_nodes(pcs_msh_text *text, const pcs_msh *msh, long tag, pcs_msh_element *element)
{
    long node;
    for (int i = 0; i <= element->dimension; i++) {
        PCS_TRY(msh_whole(text, "a node of the element", 1, LONG_MAX - 1, &node));
        element->node[i] = msh->nslot == 0 ? -1 : *msh_slot(msh, node);
        if (element->node[i] < 0)
            return msh_fail(text, "element %ld has node %ld, which $Nodes does not give", tag, node);
    }
    if (element->dimension == PCS_MSH_POINT) element->node[1] = element->node[0];
    return msh_line_ends(text);
}

// Adds the element of the current line, of type 1 or 15. Fails if it has no length.
static pcs_status msh_add_element(const pcs_msh_text *text, pcs_msh *msh, const pcs_msh_element *element, long tag)
{
    const int *n = element->node;
    if (element->dimension == PCS_MSH_LINE) {
        const double *a = msh->x[n[0]], *b = msh->x[n[1]];
        if (a[0] == b[0] && a[1] == b[1] && a[2] == b[2])
            return msh_fail(text, "element %ld has no length: its nodes %ld and %ld are both at [%g, %g, %g]", tag,
                            msh->tag[n[0]], msh->tag[n[1]], a[0], a[1], a[2]);
    }
    PCS_TRY(msh_grow(text, &msh->element, &msh->element_room, msh->nelement, sizeof *msh->element));
    msh->element[msh->nelement++] = *element;
    return PCS_OK;
}

// Finds the group of that dimension and tag, or adds it.
static pcs_status msh_find_group(const pcs_msh_text *text, pcs_msh *msh, int dimension, long tag, int *group)
{
    // The last group used is the most likely one.
    int guess = msh->nmember > 0 ? msh->member[msh->nmember - 1].group : 0;
    for (int i = 0; i < msh->ngroup; i++) {
        *group = (guess + i) % msh->ngroup;
        if (msh->group[*group].dimension == dimension && msh->group[*group].tag == tag) return PCS_OK;
    }
    PCS_TRY(msh_grow(text, &msh->group, &msh->group_room, msh->ngroup, sizeof *msh->group));
    *group = msh->ngroup;
    msh->group[msh->ngroup++] = (pcs_msh_group){ .dimension = dimension, .tag = tag };
    return PCS_OK;
}

// Fails if an element is of another type than line and point.
static pcs_status msh_check_type(const pcs_msh_text *text, long type)
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
        return msh_fail(text,
                        "elements of type %ld (line of %ld nodes) cannot be read, only lines of 2 nodes: mesh "
                        "with element order 1",
                        type, type == 8 ? 3 : type - 22);
    const char *name = type > 0 && type < (long)(sizeof names / sizeof *names) ? names[type] : NULL;
    return msh_fail(text,
                    "elements of type %ld%s%s%s cannot be read, only lines of 2 nodes (type 1) and points "
                    "(type 15)",
                    type, name == NULL ? "" : " (", name == NULL ? "" : name, name == NULL ? "" : ")");
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

static const char *const msh_kinds[] = { "points", "curves", "surfaces", "volumes" };

static pcs_status msh_entity(pcs_msh_text *text, pcs_msh *msh, int dimension)
{
    long tag, count, physical, bound;
    double unused;
    PCS_TRY(msh_whole(text, "the tag of an entity", -INT_MAX, INT_MAX, &tag));
    for (int i = 0; i < (dimension == 0 ? 3 : 6); i++) PCS_TRY(msh_real(text, "a coordinate", &unused));
    PCS_TRY(msh_whole(text, "the number of physical groups", 0, INT_MAX, &count));
    int first = msh->nphysical;
    for (long i = 0; i < count; i++) {
        PCS_TRY(msh_whole(text, "a physical group", -INT_MAX, INT_MAX, &physical));
        PCS_TRY(msh_grow(text, &msh->physical, &msh->physical_room, msh->nphysical, sizeof *msh->physical));
        int k = first; // of the same group, if it has been named before
        while (k < msh->nphysical && msh->physical[k] != labs(physical)) k++;
        msh->physical[k] = labs(physical);
        if (k == msh->nphysical) msh->nphysical++;
    }
    if (dimension > 0) {
        PCS_TRY(msh_whole(text, "the number of bounding entities", 0, INT_MAX, &count));
        for (long i = 0; i < count; i++) PCS_TRY(msh_whole(text, "a bounding entity", -INT_MAX, INT_MAX, &bound));
    }
    PCS_TRY(msh_line_ends(text));
    PCS_TRY(msh_grow(text, &msh->entity, &msh->entity_room, msh->nentity, sizeof *msh->entity));
    msh->entity[msh->nentity++] =
        (pcs_msh_entity){ .dimension = dimension, .tag = tag, .first = first, .count = msh->nphysical - first };
    return PCS_OK;
}

static pcs_status msh_entities(pcs_msh_text *text, pcs_msh *msh)
{
    long count[4];
    PCS_TRY(msh_record(text, "$Entities"));
    for (int i = 0; i < 4; i++) PCS_TRY(msh_count(text, "the number of entities", &count[i]));
    PCS_TRY(msh_line_ends(text));
    for (int i = 0; i < 4; i++) {
        for (long k = 0; k < count[i]; k++) {
            PCS_TRY(msh_record(text, "$Entities"));
            pcs_status status = msh_entity(text, msh, i);
            if (status != PCS_OK)
                return pcs_wrap(text->ctx, status, "entity %ld of %ld %s", k + 1, count[i], msh_kinds[i]);
        }
    }
    return msh_section_ends(text, "$EndEntities", "entities");
}

typedef struct msh_head {
    long nblock, count; // blocks, and nodes or elements in all of them
} msh_head;

static pcs_status msh_read_head(pcs_msh_text *text, const char *section, msh_head *head)
{
    long unused;
    PCS_TRY(msh_record(text, section));
    PCS_TRY(msh_count(text, "the number of blocks", &head->nblock));
    PCS_TRY(msh_count(text, "the number of nodes or elements", &head->count));
    PCS_TRY(msh_whole(text, "the lowest tag", 0, LONG_MAX - 1, &unused));
    PCS_TRY(msh_whole(text, "the highest tag", 0, LONG_MAX - 1, &unused));
    return msh_line_ends(text);
}

typedef struct msh_block {
    long dimension, entity, kind, count; // kind: has_parameters of nodes, type of elements
} msh_block;

static pcs_status msh_read_block(pcs_msh_text *text, const char *section, const char *kind, long highest,
                                 msh_block *block)
{
    PCS_TRY(msh_record(text, section));
    PCS_TRY(msh_whole(text, "the dimension of a block", 0, 3, &block->dimension));
    PCS_TRY(msh_whole(text, "the entity of a block", -INT_MAX, INT_MAX, &block->entity));
    PCS_TRY(msh_whole(text, kind, 0, highest, &block->kind));
    PCS_TRY(msh_count(text, "the length of a block", &block->count));
    return msh_line_ends(text);
}

static pcs_status msh_node_block(pcs_msh_text *text, pcs_msh *msh, long *count)
{
    msh_block block;
    long tag;
    double unused;
    PCS_TRY(msh_read_block(text, "$Nodes", "'parametric' of a block", 1, &block));
    int first = msh->nnode;
    for (long i = 0; i < block.count; i++) {
        PCS_TRY(msh_record(text, "$Nodes"));
        PCS_TRY(msh_whole(text, "the tag of a node", 1, LONG_MAX - 1, &tag));
        PCS_TRY(msh_line_ends(text));
        PCS_TRY(msh_add_tag(text, msh, tag));
    }
    for (long i = 0; i < block.count; i++) {
        PCS_TRY(msh_record(text, "$Nodes"));
        for (int k = 0; k < 3; k++)
            PCS_TRY(msh_real(text, (const char *const[]){ "x of a node", "y of a node", "z of a node" }[k],
                             &msh->x[first + i][k]));
        long nparameter = block.kind == 1 ? block.dimension : 0;
        for (long k = 0; k < nparameter; k++) PCS_TRY(msh_real(text, "a parameter of a node", &unused));
        PCS_TRY(msh_line_ends(text));
    }
    *count += block.count;
    return PCS_OK;
}

static pcs_status msh_element_block(pcs_msh_text *text, pcs_msh *msh, long *count)
{
    msh_block block;
    long tag;
    PCS_TRY(msh_read_block(text, "$Elements", "the type of the elements", INT_MAX, &block));
    PCS_TRY(msh_check_type(text, block.kind));
    int nnode = block.kind == 1 ? 2 : 1;
    if (block.dimension != nnode - 1)
        return msh_fail(text, "elements of type %ld must have dimension %d, have %ld", block.kind, nnode - 1,
                        block.dimension);
    for (long i = 0; i < block.count; i++) {
        pcs_msh_element element = { .dimension = nnode - 1, .entity = block.entity };
        PCS_TRY(msh_record(text, "$Elements"));
        PCS_TRY(msh_whole(text, "the tag of an element", 1, LONG_MAX - 1, &tag));
        PCS_TRY(msh_element_nodes(text, msh, tag, &element));
        PCS_TRY(msh_add_element(text, msh, &element, tag));
    }
    *count += block.count;
    return PCS_OK;
}

typedef pcs_status msh_read(pcs_msh_text *text, pcs_msh *msh, long *count);

// Reads all blocks of nodes or elements. Fails unless they hold as many as announced.
static pcs_status msh_blocks(pcs_msh_text *text, pcs_msh *msh, const char *const names[3], msh_read *read)
{
    msh_head head;
    long sum = 0;
    PCS_TRY(msh_read_head(text, names[0], &head));
    for (long i = 0; i < head.nblock; i++) PCS_TRY(read(text, msh, &sum));
    PCS_TRY(msh_section_ends(text, names[1], "blocks"));
    if (sum == head.count) return PCS_OK;
    return msh_fail(text, "the blocks hold %ld %s, but %ld are announced", sum, names[2], head.count);
}

static int msh_compare(const void *a, const void *b)
{
    const pcs_msh_entity *p = a, *q = b;
    if (p->dimension != q->dimension) return p->dimension < q->dimension ? -1 : 1;
    return p->tag < q->tag ? -1 : p->tag > q->tag;
}

// Finds the groups that elements belong to, by their entities.
static pcs_status msh_members(const pcs_msh_text *text, pcs_msh *msh)
{
    if (msh->nentity > 0) qsort(msh->entity, (size_t)msh->nentity, sizeof *msh->entity, msh_compare);
    int kept = 0;
    for (int i = 0; i < msh->nelement; i++) {
        pcs_msh_element element = msh->element[i];
        pcs_msh_entity key = { .dimension = element.dimension, .tag = element.entity };
        const pcs_msh_entity *entity =
            msh->nentity == 0 ? NULL : bsearch(&key, msh->entity, (size_t)msh->nentity, sizeof key, msh_compare);
        int ngroup = entity == NULL ? 0 : entity->count;
        // Skips a point of no group, which only marks the end of a curve.
        if (element.dimension == PCS_MSH_POINT && ngroup == 0) continue;
        msh->element[kept] = element;
        for (int k = 0; k < ngroup; k++) {
            int group;
            PCS_TRY(msh_find_group(text, msh, element.dimension, msh->physical[entity->first + k], &group));
            PCS_TRY(msh_grow(text, &msh->member, &msh->member_room, msh->nmember, sizeof *msh->member));
            msh->member[msh->nmember++] = (pcs_msh_member){ .element = kept, .group = group };
        }
        kept++;
    }
    msh->nelement = kept;
    return PCS_OK;
}

enum { NAME_BYTES = 128 };
enum { SECTION_NAMES, SECTION_ENTITIES, SECTION_NODES, SECTION_ELEMENTS, SECTIONS };

// Accepts version 4.1 in text form.
static pcs_status msh_format(pcs_msh_text *text)
{
    double version;
    long is_binary, size;
    if (!msh_next(text)) return msh_fail(text, "the file is empty");
    if (!msh_is(text, "$MeshFormat"))
        return msh_fail(text, "this is no mesh file of Gmsh: it must begin with $MeshFormat");
    PCS_TRY(msh_record(text, "$MeshFormat"));
    PCS_TRY(msh_real(text, "the version", &version));
    if (version != 4.1)
        return msh_fail(text, "format %g cannot be read, only 4.1: write the mesh with 'gmsh -format msh41'", version);
    PCS_TRY(msh_whole(text, "the file type", 0, 1, &is_binary));
    if (is_binary == 1)
        return msh_fail(text, "format 4.1 binary cannot be read, only text: write the mesh without 'gmsh -bin'");
    PCS_TRY(msh_whole(text, "the data size", 1, 64, &size));
    PCS_TRY(msh_line_ends(text));
    return msh_section_ends(text, "$EndMeshFormat", "format");
}

// Finds the name between the quotes that end the line. Fails if it is empty, too long or has control characters.
static pcs_status msh_quoted(pcs_msh_text *text, const char **from, size_t *length)
{
    const char *a = text->at, *b = text->stop;
    while (a < b && *a != '"') a++;
    while (b > a && b[-1] != '"') b--;
    if (b - a < 2) return msh_fail(text, "a group needs its name in quotes");
    *from = a + 1;
    *length = (size_t)(b - a) - 2;
    if (*length == 0) return msh_fail(text, "the name of a group is empty");
    if (*length >= NAME_BYTES) return msh_fail(text, "the name of a group is longer than %d bytes", NAME_BYTES - 1);
    for (size_t i = 0; i < *length; i++)
        if ((unsigned char)(*from)[i] < ' ') return msh_fail(text, "the name of a group has a control character");
    return PCS_OK;
}

static pcs_status msh_name(pcs_msh_text *text, pcs_msh *msh)
{
    long dimension, tag;
    const char *from = NULL;
    size_t length = 0;
    int group;
    PCS_TRY(msh_whole(text, "the dimension of a group", 0, 3, &dimension));
    PCS_TRY(msh_whole(text, "the tag of a group", 1, INT_MAX, &tag));
    PCS_TRY(msh_quoted(text, &from, &length));
    if (dimension > PCS_MSH_LINE) return PCS_OK; // no element can belong to it
    PCS_TRY(msh_find_group(text, msh, (int)dimension, tag, &group));
    if (msh->group[group].name != NULL) return msh_fail(text, "group %ld has a name already", tag);
    char *name = pcs_scratch(NULL, length + 1, 1);
    if (name == NULL) return pcs_fail(text->ctx, PCS_NO_MEMORY, "out of memory: reading %s", text->path);
    memcpy(name, from, length);
    name[length] = '\0';
    msh->group[group].name = name;
    for (int i = 0; i < msh->ngroup; i++)
        if (i != group && msh->group[i].dimension == dimension && msh->group[i].name != NULL &&
            strcmp(msh->group[i].name, name) == 0)
            return msh_fail(text, "groups %ld and %ld have the same name '%s'", msh->group[i].tag, tag, name);
    return PCS_OK;
}

static pcs_status msh_names(pcs_msh_text *text, pcs_msh *msh)
{
    long count;
    PCS_TRY(msh_record(text, "$PhysicalNames"));
    PCS_TRY(msh_count(text, "the number of names", &count));
    PCS_TRY(msh_line_ends(text));
    for (long i = 0; i < count; i++) {
        PCS_TRY(msh_record(text, "$PhysicalNames"));
        PCS_TRY(msh_name(text, msh));
    }
    return msh_section_ends(text, "$EndPhysicalNames", "names");
}

// Skips a section: data of other programs, comments, periodicity.
static pcs_status msh_skip(pcs_msh_text *text)
{
    char end[64], name[48];
    size_t length = 1;
    while (text->at + length < text->stop && (unsigned char)text->at[length] > ' ') length++;
    if (text->at[0] != '$' || length < 2 || length >= sizeof name)
        return msh_fail(text, "a section such as $Nodes must begin here");
    memcpy(name, text->at + 1, length - 1);
    name[length - 1] = '\0';
    if (strncmp(name, "End", 3) == 0) return msh_fail(text, "$%s ends what has not begun", name);
    if (strcmp(name, "PartitionedEntities") == 0)
        return msh_fail(text, "a partitioned mesh cannot be read: write it in one part");
    snprintf(end, sizeof end, "$End%s", name);
    int begin = text->line;
    while (msh_next(text))
        if (msh_is(text, end)) return PCS_OK;
    return msh_fail(text, "the file ends within $%s, which begins in line %d", name, begin);
}

// Reads the section that begins here, once each, or skips one that bars do not need.
static pcs_status msh_section(pcs_msh_text *text, pcs_msh *msh, bool is_seen[SECTIONS])
{
    static const char *const names[SECTIONS] = { "$PhysicalNames", "$Entities", "$Nodes", "$Elements" };
    int i = 0;
    while (i < SECTIONS && !msh_is(text, names[i])) i++;
    if (i == SECTIONS) return msh_skip(text);
    if (is_seen[i]) return msh_fail(text, "the file has the section twice");
    is_seen[i] = true;
    if (i == SECTION_NAMES) return msh_names(text, msh);
    if (i == SECTION_ENTITIES) return msh_entities(text, msh);
    if (i == SECTION_NODES)
        return msh_blocks(text, msh, (const char *const[]){ names[i], "$EndNodes", "nodes" }, msh_node_block);
    return msh_blocks(text, msh, (const char *const[]){ names[i], "$EndElements", "elements" }, msh_element_block);
}

static pcs_status msh_parse(pcs_context *ctx, const char *path, const char *bytes, size_t size, pcs_msh *msh)
{
    pcs_msh_text text = { .ctx = ctx, .path = path, .next = bytes, .end = bytes + size, .at = bytes, .stop = bytes };
    bool is_seen[SECTIONS] = { false };
    PCS_TRY(msh_format(&text));
    while (msh_next(&text)) PCS_TRY(msh_section(&text, msh, is_seen));
    if (!is_seen[SECTION_NODES]) return msh_fail(&text, "the file ends without $Nodes");
    if (!is_seen[SECTION_ELEMENTS]) return msh_fail(&text, "the file ends without $Elements");
    PCS_TRY(msh_members(&text, msh));
    if (msh->nelement == 0) return msh_fail(&text, "the file has no line, and no point that belongs to a group");
    return PCS_OK;
}

// Reads a whole file. The caller frees `msh`, also after a failure.
static pcs_status msh_read_file(pcs_context *ctx, const char *path, pcs_msh *msh)
{
    char *bytes;
    size_t size;
    pcs_status status = pcs_text_file(ctx, path, "the mesh file", PCS_TEXT_MOST, &bytes, &size);
    if (status != PCS_OK) return status == PCS_IO_ERROR ? PCS_BAD_INPUT : status; // the case names the file: bad input
    status = msh_parse(ctx, path, bytes, size, msh);
    pcs_scratch_free(bytes);
    return status;
}

static void msh_free(pcs_msh *msh)
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

typedef struct gmsh_params {
    const char *file;
    double scale;
} gmsh_params;

static const pcs_option gmsh_options[] = {
    PCS_FILE("file", gmsh_params, file, PCS_REQUIRED,
             "mesh file of Gmsh, version 4.1, text; relative to the folder of the case"),
    PCS_REAL("scale", gmsh_params, scale, PCS_DEFAULT("1.0"), PCS_POSITIVE, "metres per unit of length of the file"),
    { 0 },
};

// Holds a file while it is added to a mesh; the arrays are one scratch buffer, which begins with `place`.
typedef struct gmsh_work {
    const pcs_msh *msh;
    pcs_mesh *mesh;
    int *place; // [msh nnode] number in the mesh, -1 if left out
    int *cell;  // [msh nelement] number in the mesh
    int *list;  // [nnode, or 2 nmember] items of a set
    int nnode, nline, first_node, first_cell;
} gmsh_work;

static pcs_status gmsh_allocate(pcs_context *ctx, gmsh_work *w)
{
    size_t nnode = (size_t)w->msh->nnode, nelement = (size_t)w->msh->nelement, nmember = (size_t)w->msh->nmember;
    w->place = pcs_scratch(NULL, 2 * nnode + nelement + 2 * nmember, sizeof *w->place);
    if (w->place == NULL) return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: a mesh of %zu nodes", nnode);
    w->cell = w->place + nnode;
    w->list = w->cell + nelement;
    return PCS_OK;
}

// Assigns numbers to the nodes in use along the lines, or in the order of the file where lines leave a choice.
static pcs_status gmsh_number(pcs_context *ctx, gmsh_work *w)
{
    const pcs_msh *msh = w->msh;
    int(*cell)[2] = pcs_scratch(NULL, (size_t)msh->nelement, sizeof *cell), count = 0;
    if (cell == NULL) return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: %d elements", msh->nelement);
    for (int i = 0; i < msh->nnode; i++) w->place[i] = -1;
    for (int i = 0; i < msh->nelement; i++)
        for (int k = 0; k < 2; k++) w->place[msh->element[i].node[k]] = 0;
    for (int i = 0; i < msh->nnode; i++)
        if (w->place[i] == 0) w->place[i] = count++;
    for (int i = 0; i < msh->nelement; i++)
        for (int k = 0; k < 2; k++) cell[i][k] = w->place[msh->element[i].node[k]];
    pcs_status status = pcs_mesh_order(ctx, count, msh->nelement, (const int(*)[2])cell, w->list);
    pcs_scratch_free(cell);
    if (status != PCS_OK) return status;
    for (int i = 0; i < msh->nnode; i++)
        if (w->place[i] >= 0) w->place[i] = w->list[w->place[i]];
    w->nnode = count;
    return PCS_OK;
}

static pcs_status gmsh_add_items(const gmsh_params *p, gmsh_work *w)
{
    const pcs_msh *msh = w->msh;
    PCS_TRY(pcs_mesh_add_nodes(w->mesh, w->nnode, &w->first_node));
    PCS_TRY(pcs_mesh_add_cells(w->mesh, msh->nelement, &w->first_cell));
    for (int i = 0; i < msh->nnode; i++) {
        if (w->place[i] < 0) continue;
        w->place[i] += w->first_node;
        for (int k = 0; k < 3; k++) {
            double x = w->mesh->x[w->place[i]][k] = p->scale * msh->x[i][k];
            if (!isfinite(x))
                return pcs_fail(w->mesh->ctx, PCS_BAD_INPUT,
                                "node %ld of '%s' is too far away to be measured: %g x %g m", msh->tag[i], p->file,
                                p->scale, msh->x[i][k]);
        }
    }
    int count = 0;
    for (int dimension = PCS_MSH_LINE; dimension >= PCS_MSH_POINT; dimension--) {
        for (int i = 0; i < msh->nelement; i++) {
            if (msh->element[i].dimension != dimension) continue;
            w->cell[i] = w->first_cell + count++;
            for (int k = 0; k < 2; k++) w->mesh->cell[w->cell[i]][k] = w->place[msh->element[i].node[k]];
        }
        if (dimension == PCS_MSH_LINE) w->nline = count;
    }
    return PCS_OK;
}

// Adds the cells of a group and their nodes as sets, both in ascending order.
static pcs_status gmsh_add_group(gmsh_work *w, const char *name, const pcs_msh_member *member, int count)
{
    for (int i = 0; i < count; i++) w->list[i] = w->cell[member[i].element];
    PCS_TRY(pcs_mesh_add_list(w->mesh, PCS_CELLS, pcs_sort_unique(count, w->list), w->list, "%s", name));
    for (int i = 0; i < count; i++)
        memcpy(w->list + 2 * (size_t)i, w->mesh->cell[w->cell[member[i].element]], 2 * sizeof *w->list);
    return pcs_mesh_add_list(w->mesh, PCS_NODES, pcs_sort_unique(2 * count, w->list), w->list, "%s", name);
}

// Writes "bridge.deck" or "bridge.7", with ".points" if a group of lines has the same name.
static void gmsh_name_group(const pcs_msh *msh, int group, const char *mesh_name, size_t size, char *name)
{
    const pcs_msh_group *g = &msh->group[group];
    char own[160], other[160];
    snprintf(own, sizeof own, "%ld", g->tag);
    if (g->name != NULL) snprintf(own, sizeof own, "%s", g->name);
    bool is_taken = false;
    for (int i = 0; i < msh->ngroup; i++) {
        if (g->dimension != PCS_MSH_POINT) break;
        snprintf(other, sizeof other, "%ld", msh->group[i].tag);
        const char *text = msh->group[i].name == NULL ? other : msh->group[i].name;
        is_taken = is_taken || (msh->group[i].dimension == PCS_MSH_LINE && strcmp(text, own) == 0);
    }
    snprintf(name, size, "%s.%s%s", mesh_name, own, is_taken ? ".points" : "");
}

static int gmsh_compare_members(const void *a, const void *b)
{
    const pcs_msh_member *p = a, *q = b;
    return p->group < q->group ? -1 : p->group > q->group;
}

static pcs_status gmsh_add_sets(gmsh_work *w, const char *name)
{
    const pcs_msh *msh = w->msh;
    char text[512];
    PCS_TRY(pcs_mesh_add_range(w->mesh, PCS_NODES, w->first_node, w->nnode, "%s", name));
    PCS_TRY(pcs_mesh_add_range(w->mesh, PCS_CELLS, w->first_cell, w->nline > 0 ? w->nline : msh->nelement, "%s", name));
    if (msh->nmember > 0) qsort(msh->member, (size_t)msh->nmember, sizeof *msh->member, gmsh_compare_members);
    for (int i = 0, end; i < msh->nmember; i = end) {
        int group = msh->member[i].group;
        for (end = i; end < msh->nmember && msh->member[end].group == group;) end++;
        gmsh_name_group(msh, group, name, sizeof text, text);
        PCS_TRY(gmsh_add_group(w, text, msh->member + i, end - i));
    }
    return PCS_OK;
}

static pcs_status gmsh_convert(const gmsh_params *p, const char *name, pcs_mesh *mesh, const pcs_msh *msh)
{
    gmsh_work w = { .msh = msh, .mesh = mesh };
    pcs_status status = gmsh_allocate(mesh->ctx, &w);
    if (status == PCS_OK) status = gmsh_number(mesh->ctx, &w);
    if (status == PCS_OK) status = gmsh_add_items(p, &w);
    if (status == PCS_OK) status = gmsh_add_sets(&w, name);
    pcs_scratch_free(w.place);
    return status;
}

static pcs_status gmsh_build(const void *params, const char *name, pcs_mesh *mesh)
{
    const gmsh_params *p = params;
    pcs_msh msh = { 0 };
    pcs_status status = msh_read_file(mesh->ctx, p->file, &msh);
    if (status == PCS_OK) status = gmsh_convert(p, name, mesh, &msh);
    msh_free(&msh);
    return status;
}

const pcs_mesh_source_ops pcs_mesh_gmsh = {
    .name = "gmsh",
    .summary = "lines and points of a mesh file of Gmsh; sets NAME and, for each physical group, NAME.GROUP",
    .options = gmsh_options,
    .params_size = sizeof(gmsh_params),
    .build = gmsh_build,
};
