// Lines, words and numbers of a mesh file, and what is kept of it: nodes by their tags, elements, groups, memberships.

#include "core/text.h"
#include "mesh/msh.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 64 };

pcs_status pcs_msh_fail(const pcs_msh_text *text, const char *format, ...)
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

bool pcs_msh_next(pcs_msh_text *text)
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

pcs_status pcs_msh_record(pcs_msh_text *text, const char *section)
{
    return pcs_msh_next(text) ? PCS_OK : pcs_msh_fail(text, "the file ends within %s", section);
}

// The next word in a buffer that is long enough for every number; a longer word is cut, which *is_cut tells.
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
        if (!is_shown) word[i] = '?'; // no number has such a sign
    }
    word[length] = '\0';
    return length > 0;
}

pcs_status pcs_msh_whole(pcs_msh_text *text, const char *what, long low, long high, long *out)
{
    char word[WORD_BYTES];
    bool is_cut;
    if (!text_word(text, word, &is_cut)) return pcs_msh_fail(text, "the line ends before %s", what);
    size_t sign = word[0] == '-' || word[0] == '+', length = strlen(word);
    if (is_cut || length == sign || strspn(word + sign, "0123456789") != length - sign)
        return pcs_msh_fail(text, "%s must be a whole number, is '%s'", what, word);
    // Numbers too large for a long come out as its limits, and those are out of every range asked for.
    *out = strtol(word, NULL, 10);
    if (*out < low || *out > high)
        return pcs_msh_fail(text, "%s must be from %ld to %ld, is %s", what, low, high, word);
    return PCS_OK;
}

pcs_status pcs_msh_real(pcs_msh_text *text, const char *what, double *out)
{
    char word[WORD_BYTES];
    bool is_cut;
    if (!text_word(text, word, &is_cut)) return pcs_msh_fail(text, "the line ends before %s", what);
    const char *stop = word;
    bool is_decimal = !is_cut && strspn(word, "0123456789+-.eE") == strlen(word);
    if (is_decimal) *out = pcs_text_number(word, &stop);
    if (!is_decimal || *stop != '\0') return pcs_msh_fail(text, "%s must be a number, is '%s'", what, word);
    if (!isfinite(*out)) return pcs_msh_fail(text, "%s must be finite, is %s", what, word);
    return PCS_OK;
}

pcs_status pcs_msh_position(pcs_msh_text *text, double x[3])
{
    PCS_TRY(pcs_msh_real(text, "x of a node", &x[0]));
    PCS_TRY(pcs_msh_real(text, "y of a node", &x[1]));
    return pcs_msh_real(text, "z of a node", &x[2]);
}

pcs_status pcs_msh_count(pcs_msh_text *text, const char *what, long *out)
{
    PCS_TRY(pcs_msh_whole(text, what, 0, 1L << 40, out));
    // The shortest record is a digit and the end of its line.
    long room = (text->end - text->next + 1) / 2;
    if (*out > room)
        return pcs_msh_fail(text, "%s is %ld, but the rest of the file has room for %ld at the most", what, *out, room);
    return PCS_OK;
}

pcs_status pcs_msh_line_ends(pcs_msh_text *text)
{
    char word[WORD_BYTES];
    bool is_cut;
    if (!text_word(text, word, &is_cut)) return PCS_OK;
    return pcs_msh_fail(text, "the line must end before '%s'", word);
}

bool pcs_msh_is(const pcs_msh_text *text, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(text->stop - text->at) < length || memcmp(text->at, word, length) != 0) return false;
    for (const char *p = text->at + length; p < text->stop; p++)
        if (!text_is_blank(*p)) return false;
    return true;
}

pcs_status pcs_msh_section_ends(pcs_msh_text *text, const char *word, const char *announced)
{
    if (!pcs_msh_next(text)) return pcs_msh_fail(text, "the file ends before %s", word);
    if (pcs_msh_is(text, word)) return PCS_OK;
    char found[WORD_BYTES];
    bool is_cut;
    text_word(text, found, &is_cut);
    return pcs_msh_fail(text, "%s must follow here, after the %s that the section announces; is '%s'", word, announced,
                        found);
}

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

// The node with this tag; an unknown tag is a fault that names the element.
static pcs_status msh_find_node(const pcs_msh_text *text, const pcs_msh *msh, long element, long tag, int *node)
{
    *node = msh->nslot == 0 ? -1 : *data_slot(msh, tag);
    return *node >= 0 ? PCS_OK
                      : pcs_msh_fail(text, "element %ld has node %ld, which $Nodes does not give", element, tag);
}

pcs_status pcs_msh_element_nodes(pcs_msh_text *text, const pcs_msh *msh, long tag, pcs_msh_element *element)
{
    long node;
    for (int i = 0; i <= element->dimension; i++) {
        PCS_TRY(pcs_msh_whole(text, "a node of the element", 1, LONG_MAX - 1, &node));
        PCS_TRY(msh_find_node(text, msh, tag, node, &element->node[i]));
    }
    if (element->dimension == PCS_MSH_POINT) element->node[1] = element->node[0];
    return pcs_msh_line_ends(text);
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
