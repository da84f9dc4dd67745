// A straight line of equal cells: node i of n+1 lies at from + i/n (to - from).
//
// Makes the sets `name` (all nodes, all cells), `name.start` and `name.end` (the end nodes and end cells), and
// `name.rest` (all nodes but the first: what moves when the start is held).

#include "mesh/mesh.h"

#include <math.h>

typedef struct line_params {
    double from[3], to[3];
    int elements;
} line_params;

static const pcs_option line_options[] = {
    PCS_VECTOR("from", line_params, from, PCS_REQUIRED, PCS_ANY_NUMBER, "position of the first node, m"),
    PCS_VECTOR("to", line_params, to, PCS_REQUIRED, PCS_ANY_NUMBER, "position of the last node, m"),
    PCS_COUNT("elements", line_params, elements, PCS_REQUIRED_OR_AUTO, PCS_WITHIN(1, 1 << 28), "number of cells"),
    { 0 },
};

static const char *line_check(const void *params, const char **option)
{
    const line_params *p = params;
    double length2 = 0.0;
    for (int k = 0; k < 3; k++) length2 += (p->to[k] - p->from[k]) * (p->to[k] - p->from[k]);
    *option = "to";
    if (!(length2 > 0.0)) return "the line has no length: 'from' and 'to' are the same point";
    return isfinite(length2) ? NULL : "the line is too long to be measured";
}

static pcs_status line_build(const void *params, const char *name, pcs_mesh *mesh)
{
    const line_params *p = params;
    int n = p->elements, node;
    PCS_TRY(pcs_mesh_add_chain(mesh, name, n, n + 1, &node));
    for (int i = 0; i <= n; i++) {
        double s = (double)i / n;
        for (int k = 0; k < 3; k++) mesh->x[node + i][k] = (1.0 - s) * p->from[k] + s * p->to[k];
    }
    return PCS_OK;
}

const pcs_mesh_source_ops pcs_mesh_line = {
    .name = "line",
    .summary = "straight line of equal cells; sets NAME, NAME.start, NAME.rest (all nodes but the first), NAME.end",
    .options = line_options,
    .params_size = sizeof(line_params),
    .check = line_check,
    .build = line_build,
};
