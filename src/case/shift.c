// Positions of an entry of a case: those that `repeat: { shift }` moves. Directions, offsets and lengths stay.

#include "case/expand.h"

#include <math.h>
#include <string.h>

static const char *const shift_keys[] = { "from",   "to",   "at",   "start", "centre", "origin", "points", "point",
                                          "anchor", "at_a", "at_b", "about", "box",    "plane",  NULL };

static bool shift_is_position(const pcs_yaml *node)
{
    double value;
    if (node->kind != PCS_YAML_LIST || node->count != 3) return false;
    for (int k = 0; k < 3; k++) {
        const pcs_yaml *item = node->items[k];
        bool is_plain = item->kind == PCS_YAML_SCALAR && !item->is_quoted;
        if (!is_plain || pcs_scalar_number(item->text, &value) != PCS_NUMBER_FINE) return false;
    }
    return true;
}

// One rounding, so that the digits are those of the sum.
static bool shift_position(pcs_case *c, pcs_yaml *node, int times, const double shift[3])
{
    for (int k = 0; k < 3; k++) {
        double value;
        char text[PCS_NUMBER_BYTES];
        pcs_scalar_number(node->items[k]->text, &value);
        if (times == 0 || shift[k] == 0.0) continue;
        pcs_scalar_text(fma(times, shift[k], value), text);
        const char *copy = pcs_tree_text(c, text, strlen(text));
        if (copy != NULL) node->items[k]->text = copy;
    }
    return true;
}

// A position, or positions in a list or by name; of a plane only its point.
static bool shift_value(pcs_case *c, pcs_yaml *node, int times, const double shift[3], bool is_plane)
{
    if (shift_is_position(node)) return shift_position(c, node, times, shift);
    if (node->kind == PCS_YAML_SCALAR || node->count == 0) return false;
    int count = is_plane ? 1 : node->count;
    bool is_moved = true;
    for (int i = 0; i < count; i++)
        is_moved = shift_is_position(node->items[i]) && shift_position(c, node->items[i], times, shift) && is_moved;
    return is_moved;
}

bool pcs_shift_entry(pcs_case *c, pcs_yaml *entry, int times, const double shift[3])
{
    if (entry->kind == PCS_YAML_LIST) return shift_value(c, entry, times, shift, false);
    bool is_moved = false;
    for (int k = 0; shift_keys[k] != NULL; k++) {
        int i = entry->kind == PCS_YAML_MAP ? pcs_tree_index(entry, shift_keys[k]) : -1;
        if (i >= 0 && shift_value(c, entry->items[i], times, shift, strcmp(shift_keys[k], "plane") == 0))
            is_moved = true;
    }
    return is_moved;
}
