// A number that may vary along a line: 2.0e-4, { from: 1.0e-4, to: 3.0e-4 } from one end to the other, or rows
// [place, value] with rising places from 0: { table: ... } is linear between them, in { steps: ... } a value holds to
// the next place.

#include "case/tree.h"

#include <math.h>

static const char *const profile_ways[] = { "from", "table", "steps" };

enum { WAY_ENDS, WAY_TABLE, WAY_STEPS, NWAY };

// Room for the rows; false without memory.
static bool profile_take(pcs_case *c, int count, double **place, double **level)
{
    *place = pcs_tree_take(c, (size_t)count * sizeof **place);
    *level = pcs_tree_take(c, (size_t)count * sizeof **level);
    return *place != NULL && *level != NULL;
}

static bool profile_read_ends(pcs_case *c, pcs_yaml *node, pcs_range range, pcs_profile *out)
{
    pcs_yaml *from = pcs_case_need(c, node, "from", PCS_YAML_SCALAR, "the value where the line begins");
    pcs_yaml *to = pcs_case_need(c, node, "to", PCS_YAML_SCALAR, "the value where the line ends");
    double *place, *level;
    if (from == NULL || to == NULL || !profile_take(c, 2, &place, &level)) return false;
    level[0] = pcs_case_number(c, from, range);
    level[1] = pcs_case_number(c, to, range);
    place[1] = 1.0;
    *out = (pcs_profile){ .value = level[0], .count = 2, .place = place, .level = level, .is_relative = true };
    return !isnan(level[0]) && !isnan(level[1]);
}

static bool profile_read_row(pcs_case *c, pcs_yaml *row, pcs_range range, double *place, double *level)
{
    const pcs_range way = PCS_NOT_NEGATIVE;
    if (row->kind != PCS_YAML_LIST || row->count != 2) return pcs_case_want(c, row, "a row [place, value]");
    *place = pcs_case_number(c, row->items[0], way);
    *level = pcs_case_number(c, row->items[1], range);
    return !isnan(*place) && !isnan(*level);
}

static bool profile_read_rows(pcs_case *c, pcs_yaml *rows, pcs_range range, pcs_profile *out)
{
    double *place, *level;
    bool is_fine = true;
    if (rows->kind != PCS_YAML_LIST || rows->count < 2)
        return pcs_case_want(c, rows, "at least two rows [place, value]");
    if (!profile_take(c, rows->count, &place, &level)) return false;
    for (int i = 0; i < rows->count; i++) {
        pcs_yaml *row = rows->items[i];
        bool is_read = profile_read_row(c, row, range, &place[i], &level[i]);
        is_fine = is_fine && is_read;
        if (is_read && i == 0 && place[0] != 0.0)
            pcs_case_reject(c, row->items[0], "must be 0, where the line begins, is %g", place[0]);
        if (is_read && i > 0 && place[i] <= place[i - 1])
            pcs_case_reject(c, row->items[0], "must be beyond the row before (%g), is %g", place[i - 1], place[i]);
        is_fine = is_fine && (i == 0 ? place[0] == 0.0 : place[i] > place[i - 1]);
    }
    *out = (pcs_profile){ .value = level[0], .count = rows->count, .place = place, .level = level };
    return is_fine;
}

// The way that is given; -1 and an error when it is none or more than one.
static int profile_way(pcs_case *c, pcs_yaml *node)
{
    int way = -1, count = 0;
    for (int i = 0; i < NWAY; i++) {
        if (pcs_case_get(c, node, profile_ways[i]) == NULL) continue;
        way = i;
        count++;
    }
    if (count == 0 && pcs_case_get(c, node, "to") != NULL) return WAY_ENDS; // which says what is missing
    if (count == 1) return way;
    pcs_case_error_at(c, node, NULL, "needs 'from' and 'to', or 'table', or 'steps' (rows [place, value]), has %s",
                      count == 0 ? "none of them" : "more than one of them");
    return -1;
}

bool pcs_read_profile(pcs_case *c, pcs_yaml *node, pcs_range range, pcs_profile *out)
{
    pcs_profile read = { .value = NAN };
    bool is_fine = false;
    if (node->kind != PCS_YAML_MAP) {
        read.value = pcs_case_number(c, node, range);
        is_fine = !isnan(read.value);
    } else {
        int way = profile_way(c, node);
        if (way == WAY_ENDS) is_fine = profile_read_ends(c, node, range, &read);
        else if (way >= 0) is_fine = profile_read_rows(c, pcs_case_get(c, node, profile_ways[way]), range, &read);
        read.is_stepped = way == WAY_STEPS;
    }
    if (is_fine) *out = read;
    return is_fine;
}
