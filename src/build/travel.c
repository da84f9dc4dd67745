// Cells cut by the time that a wave takes through one:
//
//   mesh:     { bar: { type: line, from: ..., to: ..., cells: { travel_time: 1.0e-6 } } }
//   elements: { bar: { type: rod, mesh: bar, E: ..., rho: ... } }
//
// A line of length L gets n cells, the nearest integer to L/(c t) with c = sqrt(E/rho) of its group; what is left, L/(c
// t n) - 1, is reported. Parts of several materials, each a line, have cells of one travel time so: what scheme `wave`
// needs. The cross section does not matter.

#include "build/sections.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct travel_params {
    double travel_time;
    bool allow_mismatch;
} travel_params;

static const pcs_option cells_options[] = {
    PCS_REAL("travel_time", travel_params, travel_time, PCS_REQUIRED, PCS_POSITIVE,
             "of a wave through a cell, s; the number of cells is the nearest integer"),
    PCS_FLAG("allow_mismatch", travel_params, allow_mismatch, PCS_DEFAULT("false"),
             "take cells whose travel time differs from this by more than 1 %"),
    { .name = NULL },
};
const pcs_map pcs_cells_map = { .name = "cells", .options = cells_options };

static const double MOST_MISMATCH = 0.01;
static const double MOST_CELLS = 1 << 28;

// Is the part that, or one of those, which a group names as its mesh?
static bool travel_names(pcs_yaml *mesh, const char *part)
{
    if (mesh == NULL) return false;
    if (pcs_yaml_get_kind(mesh) == PCS_YAML_SCALAR) return strcmp(pcs_yaml_text(mesh), part) == 0;
    for (int i = 0; pcs_yaml_get_kind(mesh) == PCS_YAML_LIST && i < pcs_yaml_count(mesh); i++)
        if (travel_names(pcs_yaml_item(mesh, i), part)) return true;
    return false;
}

// Speed of waves in the group of rods that names this part as its mesh; NAN and an error when there is none.
static double travel_speed(pcs_build *b, const pcs_yaml *node, const char *part)
{
    const pcs_range positive = PCS_POSITIVE;
    pcs_yaml *section = pcs_case_get(b->c, pcs_case_root(b->c), "elements");
    int count = section == NULL || pcs_yaml_get_kind(section) != PCS_YAML_MAP ? 0 : pcs_yaml_count(section);
    for (int i = 0; i < count; i++) {
        pcs_yaml *group = pcs_yaml_item(section, i);
        if (pcs_yaml_get_kind(group) != PCS_YAML_MAP) continue;
        pcs_yaml *mesh = pcs_case_get(b->c, group, "mesh"), *type = pcs_case_get(b->c, group, "type");
        if (!travel_names(mesh, part)) continue;
        bool is_rod = type != NULL && pcs_yaml_get_kind(type) == PCS_YAML_SCALAR;
        if (!is_rod || strncmp(pcs_yaml_text(type), "rod", 3) != 0 || strncmp(pcs_yaml_text(type), "rotor", 5) == 0)
            break;
        pcs_yaml *E = pcs_case_get(b->c, group, "E"), *rho = pcs_case_get(b->c, group, "rho");
        if (E == NULL || rho == NULL) return NAN; // told where the group is read
        return sqrt(pcs_case_number(b->c, E, positive) / pcs_case_number(b->c, rho, positive));
    }
    pcs_case_error_at(b->c, node, "cells",
                      "no group of rods under 'elements' has 'mesh: %s', so that the speed of its waves is not known; "
                      "give 'elements', the number of cells",
                      part);
    return NAN;
}

static double travel_length(pcs_build *b, pcs_yaml *node)
{
    const pcs_range any = PCS_ANY_NUMBER;
    double from[3], to[3], length2 = 0.0;
    pcs_yaml *first = pcs_case_get(b->c, node, "from"), *last = pcs_case_get(b->c, node, "to");
    if (first == NULL || last == NULL) return NAN; // told where the part is read
    if (!pcs_case_vector(b->c, first, any, from) || !pcs_case_vector(b->c, last, any, to)) return NAN;
    for (int k = 0; k < 3; k++) length2 += (to[k] - from[k]) * (to[k] - from[k]);
    return sqrt(length2);
}

// The number of cells for this length in travel times; a case that was resolved has it already.
static pcs_status travel_resolve(pcs_build *b, pcs_yaml *node, const char *part, const travel_params *p, double cells)
{
    char text[PCS_NUMBER_BYTES];
    double whole = fmax(1.0, round(cells)), mismatch = cells / whole - 1.0;
    const pcs_yaml *given = pcs_case_get(b->c, node, "elements");
    snprintf(text, sizeof text, "%.0f", whole);
    if (!(whole <= MOST_CELLS)) pcs_case_error_at(b->c, node, "cells", "%g cells are more than %g", whole, MOST_CELLS);
    else if (given != NULL && (pcs_yaml_get_kind(given) != PCS_YAML_SCALAR || strcmp(pcs_yaml_text(given), text) != 0))
        pcs_case_error_at(b->c, node, "elements", "'cells' say %s: give one of them", text);
    if (!(fabs(mismatch) <= MOST_MISMATCH) && !p->allow_mismatch)
        pcs_case_error_at(
            b->c, node, "cells",
            "%s cells differ by %+.3g %% from a travel time of %g s, allowed is 1 %%: change the length or "
            "the time, or say 'allow_mismatch: true'",
            text, 100.0 * mismatch, p->travel_time);
    if (given != NULL || !(whole <= MOST_CELLS)) return PCS_OK;
    if (fabs(mismatch) > 1e-12)
        pcs_case_note(b->c, "mesh.%s: %s cells, whose travel time differs by %+.3g %% from %g s", part, text,
                      100.0 * mismatch, p->travel_time);
    return pcs_case_resolve(b->c, node, "elements", text);
}

pcs_status pcs_build_travel(pcs_build *b, const char *part, pcs_yaml *node, pcs_yaml *cells)
{
    travel_params params = { .travel_time = NAN };
    if (!pcs_case_is(b->c, cells, PCS_YAML_MAP)) return PCS_OK;
    if (!pcs_case_read(b->c, cells, cells_options, &params)) return PCS_OK;
    double count = travel_length(b, node) / (travel_speed(b, node, part) * params.travel_time);
    return isnan(count) ? PCS_OK : travel_resolve(b, node, part, &params, count);
}
