// Files that a case names, whose paths are absolute once it is resolved: meshes, tables, plug-ins.

#define _POSIX_C_SOURCE 200809L // S_ISREG

#include "case/tree.h"
#include "core/carry.h"
#include "core/text.h"

#include <stdint.h>
#include <sys/stat.h>

static bool files_is_one(const char *path)
{
    struct stat s;
    return path[0] == '/' && stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

static pcs_status files_hash_one(pcs_context *ctx, const char *path, unsigned long long *hash)
{
    char *bytes = NULL;
    size_t size = 0;
    PCS_TRY(pcs_text_file(ctx, path, "a file of the case", PCS_TEXT_MOST, &bytes, &size));
    *hash = pcs_hash(*hash, bytes, size);
    pcs_scratch_free(bytes);
    return PCS_OK;
}

static pcs_status files_hash(pcs_context *ctx, const pcs_yaml *node, unsigned long long *hash)
{
    if (pcs_yaml_get_kind(node) != PCS_YAML_SCALAR) {
        for (int i = 0; i < pcs_yaml_count(node); i++) PCS_TRY(files_hash(ctx, pcs_yaml_item(node, i), hash));
        return PCS_OK;
    }
    return files_is_one(pcs_yaml_text(node)) ? files_hash_one(ctx, pcs_yaml_text(node), hash) : PCS_OK;
}

pcs_status pcs_case_hash_files(pcs_case *c, unsigned long long *hash)
{
    return files_hash(c->ctx, c->root, hash);
}
