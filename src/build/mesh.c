// Section `mesh`: the parts of the mesh, then the sets and merges that stand on them.

#include "build/sections.h"

#include <string.h>
#include <unistd.h>

// Bytes a model takes per cell at the least, with one equation per node.
static const double BYTES_PER_CELL = 300.0;

static pcs_status mesh_break(pcs_build *b, const char *name)
{
    b->broken[b->nbroken++] = name;
    return PCS_OK;
}

// Numbers so large that positions next to each other round to the same leave cells without length.
static bool mesh_has_lengths(pcs_build *b, const pcs_yaml *node, int first)
{
    const pcs_mesh *mesh = b->mesh;
    for (int c = first; c < mesh->ncell; c++) {
        const int *n = mesh->cell[c];
        const double *x = mesh->x[n[0]], *y = mesh->x[n[1]];
        if (n[0] == n[1] || x[0] != y[0] || x[1] != y[1] || x[2] != y[2]) continue;
        pcs_case_error_at(b->c, node, NULL,
                          "cell %d has no length: its nodes %d and %d are both at [%.17g, %.17g, %.17g]", c, n[0], n[1],
                          x[0], x[1], x[2]);
        return false;
    }
    return true;
}

static pcs_status mesh_part(pcs_build *b, const char *name, pcs_yaml *node)
{
    const char *names[PCS_BUILD_NAMES];
    PCS_BUILD_NAMES_OF(pcs_mesh_sources, names);
    int type = pcs_case_type(b->c, node, names);
    if (type < 0) return mesh_break(b, name);
    const pcs_mesh_source_ops *source = pcs_mesh_sources[type];
    void *params = NULL;
    if (strcmp(source->name, "line") == 0) PCS_TRY(pcs_build_travel(b, name, node));
    PCS_TRY(pcs_build_params(b, source->params_size, &params));
    if (!pcs_case_read(b->c, node, source->options, params)) return mesh_break(b, name);
    if (!pcs_build_check(b, node, source->check, params)) return mesh_break(b, name);
    int first = b->mesh->ncell;
    pcs_status status = source->build(params, name, b->mesh);
    if (status == PCS_OK && (source->has_zero_lengths || mesh_has_lengths(b, node, first))) return PCS_OK;
    PCS_TRY(mesh_break(b, name));
    return pcs_build_blame(b, node, status);
}

// Systems promise more memory than they have and end a program that believes them: better to say so first.
static void mesh_check_memory(pcs_build *b, const pcs_yaml *section)
{
    double need = BYTES_PER_CELL * b->mesh->ncell;
    double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (have > 0.0 && need > have) {
        pcs_case_reject(b->c, section, "has %d cells, which need at least %.3g GB; this machine has %.3g GB",
                        b->mesh->ncell, 1e-9 * need, 1e-9 * have);
    }
}

pcs_status pcs_build_mesh(pcs_build *b)
{
    int count;
    pcs_yaml *section = pcs_build_section(b, "mesh", true, "parts of the mesh by name", &count);
    PCS_TRY(pcs_mesh_create(b->ctx, &b->mesh));
    const pcs_yaml *sets = pcs_case_get(b->c, pcs_case_root(b->c), "sets");
    PCS_TAKE(b->ctx, b->broken, count + (sets == NULL ? 0 : pcs_yaml_count(sets)) + 1, "the mesh");
    if (section == NULL) b->has_lost_cells = true;
    for (int i = 0; i < count; i++) {
        pcs_yaml *node = pcs_case_entry(b->c, section, i, PCS_YAML_MAP);
        const char *name = pcs_yaml_key(section, i);
        PCS_TRY(node == NULL ? mesh_break(b, name) : mesh_part(b, name, node));
    }
    PCS_TRY(pcs_build_sets(b));
    PCS_TRY(pcs_build_merges(b));
    if (section != NULL) mesh_check_memory(b, section);
    return PCS_OK;
}
