// Section `mesh`: the parts of the mesh, then the sets and merges that stand on them.

#include "build/parts.h"
#include "core/comm.h"

#include <string.h>
#include <unistd.h>

// Bytes a model takes per cell at the least, with one equation per node.
static const double BYTES_PER_CELL = 300.0;

typedef struct line_keys {
    pcs_yaml *cells;
} line_keys;

static const pcs_form cells_form = { .map = &pcs_cells_map, .gives = "elements" };
static const pcs_option line_options[] = {
    PCS_NODE("cells", line_keys, cells, PCS_OPTIONAL, cells_form,
             "in place of `elements`: cells cut by the travel time of waves in its group of rods"),
    { .name = NULL },
};

PCS_PARTS(pcs_mesh_parts, pcs_mesh_sources, pcs_mesh_sources[i]->options,
          strcmp(pcs_mesh_sources[i]->name, "line") == 0 ? line_options : NULL, NULL)

const pcs_map pcs_mesh_map = { .name = "mesh part", .kind = PCS_MAP_TYPES, .is_entry = true, .parts = pcs_mesh_parts };

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

static pcs_status mesh_read_part(pcs_build *b, pcs_yaml *node, pcs_build_part *part)
{
    int type = pcs_build_type(b, node, pcs_mesh_parts);
    if (type < 0) return PCS_OK;
    const pcs_mesh_source_ops *source = pcs_mesh_sources[type];
    line_keys keys = { 0 };
    if (strcmp(source->name, "line") == 0) (void)pcs_case_read(b->c, node, line_options, &keys);
    if (keys.cells != NULL) PCS_TRY(pcs_build_travel(b, part->name, node, keys.cells));
    PCS_TRY(pcs_build_params(b, source->params_size, &part->params));
    if (!pcs_case_read(b->c, node, source->options, part->params)) return PCS_OK;
    if (!pcs_build_check(b, node, source->check, part->params)) return PCS_OK;
    part->source = source;
    return PCS_OK;
}

static pcs_status mesh_build_part(pcs_build *b, const pcs_build_part *part)
{
    int first = b->mesh->ncell;
    if (part->source == NULL) return mesh_break(b, part->name);
    pcs_status status = part->source->build(part->params, part->name, b->mesh);
    if (status == PCS_OK && (part->source->has_zero_lengths || mesh_has_lengths(b, part->node, first))) return PCS_OK;
    PCS_TRY(mesh_break(b, part->name));
    return pcs_build_blame(b, part->node, status);
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

static pcs_status mesh_read_whole(pcs_build *b)
{
    PCS_TRY(pcs_build_sets(b));
    return pcs_build_merges(b);
}

static pcs_status mesh_build_whole(pcs_build *b, const pcs_build_parts *parts)
{
    for (int i = 0; i < parts->count; i++) PCS_TRY(mesh_build_part(b, &parts->part[i]));
    return mesh_read_whole(b);
}

// Whole on the first rank, while the others take no more than note of what the case says, and then cut; what nobody
// needs of it is given back with the context of it.
static pcs_status mesh_build_cut(pcs_build *b, const pcs_build_parts *parts)
{
    pcs_context *side = NULL;
    pcs_status status = pcs_context_create(&side);
    b->only_reads = !pcs_is_root(b->ctx);
    if (status != PCS_OK) pcs_fail(b->ctx, status, "out of memory: the mesh");
    else b->mesh->memory = side;
    if (status == PCS_OK) status = b->only_reads ? mesh_read_whole(b) : mesh_build_whole(b, parts);
    if (status == PCS_OK && pcs_case_error_count(b->c) > 0)
        status = pcs_fail(b->ctx, PCS_BAD_INPUT, "the mesh is wrong");
    status = pcs_comm_agree(b->ctx, status);
    if (status == PCS_OK) status = pcs_spread_cut(b, &side);
    pcs_context_destroy(&side);
    return status;
}

// Whole on every rank: faults are told, or it is dealt out.
static pcs_status mesh_build_kept(pcs_build *b, const pcs_build_parts *parts)
{
    PCS_TRY(mesh_build_whole(b, parts));
    return pcs_case_error_count(b->c) == 0 ? pcs_spread_keep(b) : PCS_OK;
}

// Every rank its part. Faults are not told here: whose cells they are is known where all are.
static pcs_status mesh_build_parts(pcs_build *b, pcs_build_parts *parts)
{
    bool has_zero_lengths = false;
    for (int i = 0; i < parts->count; i++)
        has_zero_lengths = has_zero_lengths || parts->part[i].source->has_zero_lengths;
    PCS_TRY(pcs_spread_build(b, parts));
    if (!has_zero_lengths) (void)mesh_has_lengths(b, parts->part[0].node, 0);
    return PCS_OK;
}

pcs_status pcs_build_mesh(pcs_build *b)
{
    const pcs_comm *comm = pcs_context_comm(b->ctx);
    pcs_build_parts parts = { 0 };
    pcs_yaml *section = pcs_build_section(b, "mesh", true, "parts of the mesh by name", &parts.count);
    PCS_TRY(pcs_mesh_create(b->ctx, &b->mesh));
    const pcs_yaml *sets = pcs_case_get(b->c, pcs_case_root(b->c), "sets");
    PCS_TAKE(b->ctx, b->broken, parts.count + (sets == NULL ? 0 : pcs_yaml_count(sets)) + 1, "the mesh");
    PCS_TAKE(b->ctx, parts.part, parts.count, "the mesh");
    if (section == NULL) b->has_lost_cells = true;
    for (int i = 0; i < parts.count; i++) {
        pcs_yaml *node = pcs_case_entry(b->c, section, i, PCS_YAML_MAP);
        parts.part[i] = (pcs_build_part){ .name = pcs_yaml_key(section, i), .node = node };
        if (node != NULL) PCS_TRY(mesh_read_part(b, node, &parts.part[i]));
    }
    if (comm == NULL || comm->size == 1) PCS_TRY(mesh_build_whole(b, &parts));
    else if (!b->spreads) PCS_TRY(mesh_build_kept(b, &parts));
    else PCS_TRY(pcs_spread_takes(b, &parts) ? mesh_build_parts(b, &parts) : mesh_build_cut(b, &parts));
    if (section != NULL) mesh_check_memory(b, section);
    return PCS_OK;
}
