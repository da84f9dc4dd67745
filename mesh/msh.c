// A mesh file from the disk or from memory: its format, then section by section.

#include "mesh/msh.h"
#include "core/text.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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

// What stands between the quotes that end the line.
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
        return pcs_msh4_entities(text, msh);
    }
    if (pcs_msh_is(text, "$Nodes")) {
        PCS_TRY(msh_once(text, &seen->has_nodes));
        return is_new ? pcs_msh4_nodes(text, msh) : pcs_msh2_nodes(text, msh);
    }
    if (pcs_msh_is(text, "$Elements")) {
        PCS_TRY(msh_once(text, &seen->has_elements));
        return is_new ? pcs_msh4_elements(text, msh) : pcs_msh2_elements(text, msh);
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
    if (is_new) PCS_TRY(pcs_msh4_members(&text, msh));
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
