// Values of a case by the option tables: each is complete, finite and within its range, or an error that
// names it. Absent options get their default, which is written into the tree.

#include "case/tree.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { RANGE_BYTES = 64 };

// A range left out of a table allows everything.
static bool read_is_given(pcs_range range)
{
    return range.low != 0.0 || range.high != 0.0;
}

static void read_reject_number(pcs_case *c, const pcs_node *node, pcs_range range, const char *kind)
{
    char quote[PCS_QUOTE_BYTES], limits[RANGE_BYTES] = "";
    if (read_is_given(range)) pcs_range_text(range, sizeof limits, limits);
    bool has_comma = node->kind == PCS_NODE_SCALAR && strchr(node->text, ',') != NULL;
    pcs_case_reject(c, node, "must be %s%s%s, is %s%s", kind, limits[0] == '\0' ? "" : " ", limits,
                    pcs_tree_quote(node, sizeof quote, quote), has_comma ? " (decimals take a point)" : "");
}

double pcs_case_number(pcs_case *c, pcs_node *node, pcs_range range)
{
    double value = NAN;
    pcs_number_form form = PCS_NUMBER_IS_TEXT;
    if (node->kind == PCS_NODE_SCALAR && !node->is_quoted) form = pcs_scalar_number(node->text, &value);
    if (form == PCS_NUMBER_IS_TEXT) {
        read_reject_number(c, node, range, "a number");
    } else if (form == PCS_NUMBER_NOT_FINITE) {
        read_reject_number(c, node, range, "a finite number");
    } else if (form == PCS_NUMBER_TOO_SMALL) {
        read_reject_number(c, node, range, "0 or a number above 4.9e-324 in size");
    } else if (read_is_given(range) && !pcs_range_holds(range, value)) {
        char limits[RANGE_BYTES];
        pcs_case_reject(c, node, "must be %s, is %s", pcs_range_text(range, sizeof limits, limits), node->text);
        return NAN;
    } else {
        node->is_number = true;
    }
    return value;
}

static bool read_count(pcs_case *c, pcs_node *node, pcs_range range, int *out)
{
    long value = 0;
    double number = NAN;
    bool is_plain = node->kind == PCS_NODE_SCALAR && !node->is_quoted;
    bool is_whole = is_plain && pcs_scalar_count(node->text, &value);
    if (is_whole && value >= INT_MIN && value <= INT_MAX) {
        if (!read_is_given(range)) range = (pcs_range)PCS_NOT_NEGATIVE;
        char limits[RANGE_BYTES];
        if (!pcs_range_holds(range, (double)value)) {
            pcs_case_reject(c, node, "must be %s, is %ld", pcs_range_text(range, sizeof limits, limits), value);
            return false;
        }
        node->is_number = true;
        *out = (int)value;
        return true;
    }
    bool is_number = is_plain && pcs_scalar_number(node->text, &number) == PCS_NUMBER_FINE;
    if (is_whole || (is_number && fabs(number) > INT_MAX)) {
        pcs_case_reject(c, node, "must be at most %d in size, is %s", INT_MAX, node->text);
    } else if (is_number && number == floor(number)) {
        pcs_case_reject(c, node, "must be a whole number of digits only, is '%s', write %.0f", node->text, number);
    } else {
        read_reject_number(c, node, range, "a whole number");
    }
    return false;
}

static bool read_flag(pcs_case *c, const pcs_node *node, bool *out)
{
    bool is_plain = node->kind == PCS_NODE_SCALAR && !node->is_quoted;
    *out = is_plain && strcmp(node->text, "true") == 0;
    if (*out || (is_plain && strcmp(node->text, "false") == 0)) return true;
    char quote[PCS_QUOTE_BYTES];
    pcs_case_reject(c, node, "must be true or false, is %s", pcs_tree_quote(node, sizeof quote, quote));
    return false;
}

static int read_choice(pcs_case *c, const pcs_node *node, const char *const *names)
{
    char quote[PCS_QUOTE_BYTES], near[PCS_NEAR_MISS_BYTES] = "", list[1024] = "";
    if (node->kind == PCS_NODE_SCALAR) {
        for (int i = 0; names[i] != NULL; i++) {
            if (strcmp(names[i], node->text) == 0) return i;
        }
        pcs_near_miss(node->text, names, sizeof near, near);
    }
    size_t used = 0;
    for (int i = 0; names[i] != NULL && used < sizeof list; i++) {
        int length = snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", names[i]);
        used += length < 0 ? 0 : (size_t)length;
    }
    pcs_tree_quote(node, sizeof quote, quote);
    if (names[0] != NULL && names[1] == NULL) {
        pcs_case_reject(c, node, "must be %s, is %s%s", list, quote, near);
    } else {
        pcs_case_reject(c, node, "must be one of %s, is %s%s", list, quote, near);
    }
    return -1;
}

bool pcs_case_vector(pcs_case *c, pcs_node *node, pcs_range range, double value[3])
{
    value[0] = value[1] = value[2] = NAN;
    if (node->kind != PCS_NODE_LIST || node->count != 3) {
        char quote[PCS_QUOTE_BYTES];
        if (node->kind == PCS_NODE_LIST) {
            snprintf(quote, sizeof quote, "a list of %d", node->count);
        } else {
            pcs_tree_quote(node, sizeof quote, quote);
        }
        pcs_case_reject(c, node, "must be a list of 3 numbers [x, y, z], is %s", quote);
        return false;
    }
    for (int i = 0; i < 3; i++) value[i] = pcs_case_number(c, node->items[i], range);
    return isfinite(value[0]) && isfinite(value[1]) && isfinite(value[2]);
}

const char *pcs_case_text(pcs_case *c, pcs_node *node)
{
    if (node->kind == PCS_NODE_SCALAR && node->text[0] != '\0') return node->text;
    char quote[PCS_QUOTE_BYTES];
    bool is_blank = node->kind == PCS_NODE_SCALAR;
    pcs_case_reject(c, node, "must be a text, is %s", is_blank ? "empty" : pcs_tree_quote(node, sizeof quote, quote));
    return NULL;
}

// The numbers of one row, which must be as many as `width` says.
static bool read_row(pcs_case *c, pcs_node *row, pcs_range range, int width, double *value)
{
    if (row->kind != PCS_NODE_LIST || row->count != width) {
        pcs_case_reject(c, row, "must be a list of %d numbers like the first row", width);
        return false;
    }
    bool is_fine = true;
    for (int i = 0; i < width; i++) {
        value[i] = pcs_case_number(c, row->items[i], range);
        is_fine = is_fine && isfinite(value[i]);
    }
    return is_fine;
}

static bool read_list(pcs_case *c, pcs_node *node, pcs_range range, pcs_list *out)
{
    if (node->kind != PCS_NODE_LIST || node->count == 0) {
        char quote[PCS_QUOTE_BYTES];
        pcs_case_reject(c, node, "must be a list of numbers or of rows of numbers, is %s",
                        pcs_tree_quote(node, sizeof quote, quote));
        return false;
    }
    bool has_rows = node->items[0]->kind == PCS_NODE_LIST, is_fine = true;
    if (has_rows && node->items[0]->count == 0) {
        pcs_case_reject(c, node->items[0], "must be a list of numbers, is empty");
        return false;
    }
    int nrow = has_rows ? node->count : 1, width = has_rows ? node->items[0]->count : node->count;
    double *value = pcs_tree_take(c, (size_t)nrow * (size_t)width * sizeof *value);
    if (value == NULL) return false;
    for (int i = 0; i < nrow; i++) {
        pcs_node *row = has_rows ? node->items[i] : node;
        is_fine = read_row(c, row, range, width, value + (size_t)i * (size_t)width) && is_fine;
    }
    if (is_fine) *out = (pcs_list){ .nrow = nrow, .count = nrow * width, .value = value };
    return is_fine;
}

// One value into its member; the member is untouched when the value is wrong.
static bool read_value(pcs_case *c, pcs_node *node, const pcs_option *option, void *member)
{
    switch (option->kind) {
    case PCS_OPTION_REAL: {
        double value = pcs_case_number(c, node, option->range);
        if (isnan(value)) return false;
        *(double *)member = value;
        return true;
    }
    case PCS_OPTION_COUNT: return read_count(c, node, option->range, member);
    case PCS_OPTION_FLAG: {
        bool value = false;
        if (!read_flag(c, node, &value)) return false;
        *(bool *)member = value;
        return true;
    }
    case PCS_OPTION_CHOICE: {
        int value = read_choice(c, node, option->choices);
        if (value < 0) return false;
        *(int *)member = value;
        return true;
    }
    case PCS_OPTION_VECTOR: {
        double value[3];
        if (!pcs_case_vector(c, node, option->range, value)) return false;
        memcpy(member, value, sizeof value);
        return true;
    }
    case PCS_OPTION_TEXT: {
        const char *value = pcs_case_text(c, node);
        if (value == NULL) return false;
        *(const char **)member = value;
        return true;
    }
    case PCS_OPTION_LIST: return read_list(c, node, option->range, member);
    case PCS_OPTION_FILE: return pcs_read_file(c, node, member);
    case PCS_OPTION_NAMES: return pcs_read_names(c, node, member);
    case PCS_OPTION_POINTS: return pcs_read_points(c, node, option->range, member);
    }
    return false;
}

static void read_absent(const pcs_option *option, void *member)
{
    switch (option->kind) {
    case PCS_OPTION_REAL: *(double *)member = NAN; break;
    case PCS_OPTION_COUNT: *(int *)member = -1; break;
    case PCS_OPTION_FLAG: *(bool *)member = false; break;
    case PCS_OPTION_CHOICE: *(int *)member = 0; break;
    case PCS_OPTION_VECTOR: ((double *)member)[0] = ((double *)member)[1] = ((double *)member)[2] = NAN; break;
    case PCS_OPTION_TEXT: *(const char **)member = NULL; break;
    case PCS_OPTION_LIST: *(pcs_list *)member = (pcs_list){ 0 }; break;
    case PCS_OPTION_FILE: *(const char **)member = NULL; break;
    case PCS_OPTION_NAMES: *(pcs_names *)member = (pcs_names){ 0 }; break;
    case PCS_OPTION_POINTS: *(pcs_points *)member = (pcs_points){ 0 }; break;
    }
}

// The default of a table as a node of its own.
static pcs_node *read_preset(pcs_case *c, const pcs_node *map, const char *text)
{
    pcs_node *node = NULL;
    pcs_place place = map->place;
    if (pcs_tree_parse(c, "default", text, strlen(text), &node) != PCS_OK || node == NULL) return NULL;
    node->place = place;
    for (int i = 0; i < node->count; i++) node->items[i]->place = place;
    return node;
}

static bool read_option(pcs_case *c, pcs_node *map, const pcs_option *option, void *member)
{
    pcs_node *node = pcs_case_get(c, map, option->name);
    read_absent(option, member);
    if (option->preset != NULL) {
        pcs_node *preset = read_preset(c, map, option->preset);
        if (preset == NULL || !read_value(c, preset, option, member)) return false;
        pcs_key key = { .name = option->name, .place = map->place, .is_asked = true };
        if (node == NULL) return pcs_tree_add_key(c, map, &key, preset);
    } else if (node == NULL && option->is_required) {
        pcs_case_error_at(c, map, NULL, "missing key '%s' (%s)", option->name, option->help);
        return false;
    }
    return node == NULL || read_value(c, node, option, member);
}

bool pcs_case_read(pcs_case *c, pcs_node *map, const pcs_option *table, void *params)
{
    bool is_fine = true;
    for (; table != NULL && table->name != NULL; table++) {
        if (!read_option(c, map, table, (char *)params + table->offset)) is_fine = false;
    }
    return is_fine && !c->is_out_of_memory;
}

int pcs_case_choice(pcs_case *c, pcs_node *map, const char *key, const char *const *names, const char *preset)
{
    char help[1024];
    size_t used = (size_t)snprintf(help, sizeof help, "one of");
    for (int i = 0; names[i] != NULL && used < sizeof help; i++) {
        int length = snprintf(help + used, sizeof help - used, "%s %s", i == 0 ? "" : ",", names[i]);
        used += length < 0 ? 0 : (size_t)length;
    }
    pcs_option option = { .name = key, .kind = PCS_OPTION_CHOICE, .help = help, .preset = preset, .choices = names };
    option.is_required = preset == NULL;
    int value = 0;
    return read_option(c, map, &option, &value) ? value : -1;
}

int pcs_case_type(pcs_case *c, pcs_node *map, const char *const *names)
{
    int type = pcs_case_choice(c, map, "type", names, NULL);
    if (type < 0) map->is_unjudged = true;
    return type;
}
