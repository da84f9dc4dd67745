// Values of a case by the option tables: complete, finite and within their ranges, or an error that names them. Absent
// options get their default, which is written into the tree.

#define _XOPEN_SOURCE 700 // realpath

#include "case/tree.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Formulas in texts of a case. An error is reported at its own column, with similar names and all allowed ones.
enum { NAMES = 128, LIST_BYTES = 512 };

pcs_location pcs_formula_location(const pcs_yaml *node, size_t byte)
{
    pcs_location location = node->location;
    if (node->text_column == 0) return location;
    location.column = node->text_column;
    for (size_t i = 0; i < byte && node->text[i] != '\0'; i++)
        location.column += ((unsigned char)node->text[i] & 0xc0) != 0x80;
    return location;
}

// Writes ", did you mean 'x'? known are: ..." for an unknown name in a formula.
static void formula_hint(const char *name, const char *const *variables, size_t size, char *out)
{
    const char *all[NAMES + 1], *const *functions = pcs_expression_names();
    char hint[PCS_SPELLING_BYTES], list[LIST_BYTES];
    int count = 0;
    for (int i = 0; variables[i] != NULL && count < NAMES; i++) all[count++] = variables[i];
    for (int i = 0; functions[i] != NULL && count < NAMES; i++) all[count++] = functions[i];
    all[count] = NULL;
    pcs_spelling_hint(name, all, sizeof hint, hint);
    snprintf(out, size, "%s known are: %s", hint[0] == '\0' ? "," : hint, pcs_join_names(all, ", ", sizeof list, list));
}

bool pcs_formula_compile(pcs_case *c, pcs_yaml *node, size_t from, size_t length, const char *const *variables,
                         pcs_expression *out)
{
    pcs_expression_fault fault;
    const char *text = node->text + from;
    if (pcs_expression_compile(text, length, variables, out, &fault)) return true;
    char hint[LIST_BYTES + PCS_SPELLING_BYTES + 16] = "", name[48], path[PCS_PATH_BYTES];
    if (fault.is_name) {
        snprintf(name, sizeof name, "%.*s", fault.length < 40 ? (int)fault.length : 40, text + fault.at);
        formula_hint(name, variables, sizeof hint, hint);
    }
    pcs_tree_path(node, sizeof path, path);
    pcs_tree_error(c, pcs_formula_location(node, from + fault.at), "%s: in '%.*s': %s%s", path,
                   length < 80 ? (int)length : 80, text, fault.what, hint);
    node->location.is_faulty = true;
    return false;
}

enum { RANGE_BYTES = 64 };

// Returns true if an option has a range; one without allows every number.
static bool value_is_given(pcs_range range)
{
    return range.low != 0.0 || range.high != 0.0;
}

static bool value_is_within(pcs_range range, double value)
{
    bool is_above = range.low_is_open ? value > range.low : value >= range.low;
    bool is_below = range.high_is_open ? value < range.high : value <= range.high;
    return is_above && is_below;
}

static void value_reject_number(pcs_case *c, const pcs_yaml *node, const pcs_option *option, const char *kind)
{
    static const char *const words[] = { "auto", NULL };
    char quote[PCS_QUOTE_BYTES], miss[PCS_SPELLING_BYTES], limits[RANGE_BYTES] = "";
    if (value_is_given(option->range)) pcs_range_text(option->range, sizeof limits, limits);
    const char *text = node->kind == PCS_YAML_SCALAR ? node->text : "", *hint = "";
    if (strchr(text, ',') != NULL) hint = " (decimals take a point)";
    else if (isdigit((unsigned char)text[0]) && isalpha((unsigned char)text[strspn(text, "0123456789.+-eE ")]))
        hint = " (numbers are written without unit)";
    else if (text[0] != '*' && strpbrk(text, "*/(") != NULL) hint = " (a formula is written ${...})";
    else if (option->may_be_auto) hint = pcs_spelling_hint(text, words, sizeof miss, miss);
    pcs_case_reject(c, node, "must be %s%s%s%s, is %s%s", kind, limits[0] == '\0' ? "" : " ", limits,
                    option->may_be_auto ? " or auto" : "", pcs_tree_quote(node, sizeof quote, quote), hint);
}

// Returns a number within the range, INFINITY for `auto`; NAN, with an error, if it is neither.
static double value_number(pcs_case *c, pcs_yaml *node, const pcs_option *option)
{
    double value = NAN;
    pcs_range range = option->range;
    if (option->may_be_auto && node->kind == PCS_YAML_SCALAR && strcmp(node->text, "auto") == 0) return INFINITY;
    pcs_number_form form = PCS_NUMBER_IS_TEXT;
    if (node->kind == PCS_YAML_SCALAR && !node->is_quoted) form = pcs_scalar_number(node->text, &value);
    if (form == PCS_NUMBER_IS_TEXT) {
        value_reject_number(c, node, option, "a number");
    } else if (form == PCS_NUMBER_NOT_FINITE) {
        value_reject_number(c, node, option, "a finite number");
    } else if (form == PCS_NUMBER_TOO_SMALL) {
        value_reject_number(c, node, option, "0 or a number above 4.9e-324 in size");
    } else if (value_is_given(range) && !value_is_within(range, value)) {
        char limits[RANGE_BYTES];
        pcs_case_reject(c, node, "must be %s, is %s", pcs_range_text(range, sizeof limits, limits), node->text);
        return NAN;
    } else {
        node->is_number = true;
    }
    return value;
}

double pcs_case_number(pcs_case *c, pcs_yaml *node, pcs_range range)
{
    return value_number(c, node, &(pcs_option){ .range = range });
}

static bool value_count(pcs_case *c, pcs_yaml *node, const pcs_option *option, int *out)
{
    pcs_range range = option->range;
    long value = 0;
    double number = NAN;
    bool is_plain = node->kind == PCS_YAML_SCALAR && !node->is_quoted;
    bool is_whole = is_plain && pcs_scalar_count(node->text, &value);
    if (is_whole && value >= INT_MIN && value <= INT_MAX) {
        if (!value_is_given(range)) range = (pcs_range)PCS_NOT_NEGATIVE;
        char limits[RANGE_BYTES];
        if (!value_is_within(range, (double)value)) {
            pcs_case_reject(c, node, "must be %s, is %ld", pcs_range_text(range, sizeof limits, limits), value);
            return false;
        }
        node->is_number = true;
        *out = (int)value;
        return true;
    }
    bool is_number = is_plain && pcs_scalar_number(node->text, &number) == PCS_NUMBER_FINE;
    if (is_whole || (is_number && fabs(number) > INT_MAX)) {
        char limits[RANGE_BYTES];
        if (!value_is_given(range) || range.high > INT_MAX) range.high = INT_MAX;
        pcs_case_reject(c, node, "must be %s, is %s", pcs_range_text(range, sizeof limits, limits), node->text);
    } else if (is_number && number == floor(number)) {
        pcs_case_reject(c, node, "must be a whole number of digits only, is '%s', write %.0f", node->text, number);
    } else {
        value_reject_number(c, node, option, "a whole number");
    }
    return false;
}

static bool value_flag(pcs_case *c, const pcs_yaml *node, bool *out)
{
    bool is_plain = node->kind == PCS_YAML_SCALAR && !node->is_quoted;
    bool is_true = is_plain && strcmp(node->text, "true") == 0;
    if (!is_true && !(is_plain && strcmp(node->text, "false") == 0)) return pcs_case_want(c, node, "true or false");
    *out = is_true;
    return true;
}

static bool value_choice(pcs_case *c, const pcs_yaml *node, const char *const *names, int *out)
{
    char quote[PCS_QUOTE_BYTES], hint[PCS_SPELLING_BYTES] = "", list[1024];
    if (node->kind == PCS_YAML_SCALAR) {
        for (int i = 0; names[i] != NULL; i++) {
            if (strcmp(names[i], node->text) != 0) continue;
            *out = i;
            return true;
        }
        pcs_spelling_hint(node->text, names, sizeof hint, hint);
    }
    bool is_only = names[0] != NULL && names[1] == NULL;
    pcs_case_reject(c, node, "must be %s%s, is %s%s", is_only ? "" : "one of ",
                    pcs_join_names(names, ", ", sizeof list, list), pcs_tree_quote(node, sizeof quote, quote), hint);
    return false;
}

static bool value_is_triple(pcs_case *c, const pcs_yaml *node)
{
    if (node->kind == PCS_YAML_LIST && node->count == 3) return true;
    char quote[PCS_QUOTE_BYTES];
    if (node->kind == PCS_YAML_LIST) {
        snprintf(quote, sizeof quote, "a list of %d", node->count);
    } else {
        pcs_tree_quote(node, sizeof quote, quote);
    }
    pcs_case_reject(c, node, "must be a list of 3 numbers [x, y, z], is %s", quote);
    return false;
}

bool pcs_case_vector(pcs_case *c, pcs_yaml *node, pcs_range range, double value[3])
{
    value[0] = value[1] = value[2] = NAN;
    if (!value_is_triple(c, node)) return false;
    for (int i = 0; i < 3; i++) value[i] = pcs_case_number(c, node->items[i], range);
    return isfinite(value[0]) && isfinite(value[1]) && isfinite(value[2]);
}

const char *pcs_case_text(pcs_case *c, pcs_yaml *node)
{
    if (node->kind == PCS_YAML_SCALAR && node->text[0] != '\0') return node->text;
    if (node->kind == PCS_YAML_SCALAR) pcs_case_reject(c, node, "must be a text, is empty");
    else pcs_case_want(c, node, "a text");
    node->is_unjudged = true; // the meaning of its keys is unknown here
    return NULL;
}

static bool value_formula(pcs_case *c, pcs_yaml *node, const char *const *variables, const pcs_expression **out)
{
    const char *text = pcs_case_text(c, node);
    pcs_expression *e = text == NULL ? NULL : pcs_tree_take(c, sizeof *e);
    if (e == NULL || !pcs_formula_compile(c, node, 0, strlen(text), variables, e)) return false;
    *out = e;
    return true;
}

bool pcs_case_place_vector(pcs_case *c, pcs_yaml *node, double value[3], const pcs_expression *formula[3])
{
    static const char *const variables[] = { "x", "y", "z", NULL };
    const pcs_range any = PCS_ANY_NUMBER;
    bool is_fine = true;
    if (!value_is_triple(c, node)) return false;
    for (int i = 0; i < 3; i++) {
        pcs_yaml *item = node->items[i];
        double number;
        bool is_text = item->kind == PCS_YAML_SCALAR && item->text[0] != '\0' &&
                       pcs_scalar_number(item->text, &number) == PCS_NUMBER_IS_TEXT;
        value[i] = 0.0;
        formula[i] = NULL;
        if (is_text) is_fine = value_formula(c, item, variables, &formula[i]) && is_fine;
        else is_fine = isfinite(value[i] = pcs_case_number(c, item, any)) && is_fine;
    }
    return is_fine;
}

// Reads one item of a list into `out`. Returns false, with an error added, if it is wrong.
typedef bool value_item(pcs_case *c, pcs_yaml *node, pcs_range range, void *out);

static bool value_entry(pcs_case *c, pcs_yaml *node, pcs_range range, void *out)
{
    double value = pcs_case_number(c, node, range);
    memcpy(out, &value, sizeof value);
    return isfinite(value);
}

static bool value_name(pcs_case *c, pcs_yaml *node, pcs_range range, void *out)
{
    const char *text = pcs_case_text(c, node);
    memcpy(out, &text, sizeof text);
    return text != NULL;
}

// A list of items or of rows of equally many.
typedef struct value_table {
    const char *what; // "numbers"
    value_item *item;
    size_t size; // size of an item, bytes
    pcs_range range;
    int nrow, width;
    void *items; // [nrow * width]
} value_table;

static bool value_row(pcs_case *c, pcs_yaml *row, const value_table *table, char *to)
{
    if (row->kind != PCS_YAML_LIST || row->count != table->width) {
        pcs_case_reject(c, row, "must be a list of %d %s like the first row", table->width, table->what);
        return false;
    }
    bool is_fine = true;
    for (int i = 0; i < table->width; i++, to += table->size)
        is_fine = table->item(c, row->items[i], table->range, to) && is_fine;
    return is_fine;
}

static bool value_rows(pcs_case *c, pcs_yaml *node, value_table *table)
{
    if (node->kind != PCS_YAML_LIST || node->count == 0) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "a list of %s or of rows of %s", table->what, table->what);
        return pcs_case_want(c, node, wanted);
    }
    bool has_rows = node->items[0]->kind == PCS_YAML_LIST, is_fine = true;
    table->nrow = has_rows ? node->count : 1;
    table->width = has_rows ? node->items[0]->count : node->count;
    if (table->width == 0) {
        pcs_case_reject(c, node->items[0], "must be a list of %s, is empty", table->what);
        return false;
    }
    size_t row_size = (size_t)table->width * table->size;
    table->items = pcs_tree_take(c, (size_t)table->nrow * row_size);
    if (table->items == NULL) return false;
    for (int i = 0; i < table->nrow; i++) {
        char *to = (char *)table->items + (size_t)i * row_size;
        is_fine = value_row(c, has_rows ? node->items[i] : node, table, to) && is_fine;
    }
    return is_fine;
}

static bool value_list(pcs_case *c, pcs_yaml *node, pcs_range range, pcs_list *out)
{
    value_table table = { .what = "numbers", .item = value_entry, .size = sizeof(double), .range = range };
    if (!value_rows(c, node, &table)) return false;
    *out = (pcs_list){ .nrow = table.nrow, .count = table.nrow * table.width, .value = table.items };
    return true;
}

// Reads names from a list, rows of a list, or a single scalar.
static bool value_names(pcs_case *c, pcs_yaml *node, pcs_names *out)
{
    value_table table = { .what = "names", .item = value_name, .size = sizeof(const char *), .nrow = 1, .width = 1 };
    if (node->kind == PCS_YAML_SCALAR && node->text[0] != '\0') {
        table.items = pcs_tree_take(c, table.size);
        if (table.items == NULL) return false;
        memcpy(table.items, &node->text, table.size);
    } else if (!value_rows(c, node, &table)) {
        return false;
    }
    *out = (pcs_names){ .nrow = table.nrow, .count = table.nrow * table.width, .text = table.items };
    return true;
}

static bool value_file(pcs_case *c, pcs_yaml *node, const char **out)
{
    char path[PATH_MAX], whole[PATH_MAX];
    const char *text = pcs_case_text(c, node);
    if (text == NULL) return false;
    bool is_whole = text[0] == '/';
    int length =
        snprintf(path, sizeof path, "%s%s%s", is_whole ? "" : pcs_case_folder_of(c, node), is_whole ? "" : "/", text);
    if (length < 0 || (size_t)length >= sizeof path) {
        pcs_case_reject(c, node, "is too long a path, '%.60s...'", text);
        return false;
    }
    // The resolved case lies in another folder and must find the file, too.
    if (realpath(path, whole) != NULL) node->text = pcs_tree_text(c, whole, strlen(whole));
    const char *name = strncmp(path, "./", 2) == 0 ? path + 2 : path;
    *out = pcs_tree_text(c, name, strlen(name));
    return *out != NULL && node->text != NULL;
}

static bool value_points(pcs_case *c, pcs_yaml *node, pcs_range range, pcs_points *out)
{
    if (!pcs_case_is(c, node, PCS_YAML_MAP)) return false;
    if (node->count == 0) {
        pcs_case_reject(c, node, "is empty, needs positions [x, y, z] by name");
        return false;
    }
    const char **name = pcs_tree_take(c, (size_t)node->count * sizeof *name);
    double(*x)[3] = pcs_tree_take(c, (size_t)node->count * sizeof *x);
    if (name == NULL || x == NULL) return false;
    bool is_fine = true;
    for (int i = 0; i < node->count; i++) {
        pcs_yaml *entry = pcs_case_entry(c, node, i, PCS_YAML_LIST);
        name[i] = node->keys[i].name;
        is_fine = entry != NULL && pcs_case_vector(c, entry, range, x[i]) && is_fine;
    }
    if (is_fine) *out = (pcs_points){ .count = node->count, .name = name, .x = (const double(*)[3])x };
    return is_fine;
}

static bool value_real(pcs_case *c, pcs_yaml *node, const pcs_option *option, double *out)
{
    double value = value_number(c, node, option);
    if (isnan(value)) return false;
    *out = value;
    return true;
}

static bool value_vector(pcs_case *c, pcs_yaml *node, pcs_range range, double *out)
{
    double value[3];
    if (!pcs_case_vector(c, node, range, value)) return false;
    memcpy(out, value, sizeof value);
    return true;
}

static bool value_text(pcs_case *c, pcs_yaml *node, const char **out)
{
    const char *value = pcs_case_text(c, node);
    if (value != NULL) *out = value;
    return value != NULL;
}

// A number that may vary along a line: 2.0e-4, { from: 1.0e-4, to: 3.0e-4 } from one end to the other, or rows
// [place, value] with rising places from 0: { table: ... } is linear between them, in { steps: ... } a value holds to
// the next place.

static const char *const profile_ways[] = { "from", "table", "steps" };

enum { WAY_ENDS, WAY_TABLE, WAY_STEPS, NWAY };

// Allocates positions and values of the rows. False if memory is out.
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
    if (row->kind != PCS_YAML_LIST || row->count != 2) return pcs_case_want(c, row, "a row [position, value]");
    *place = pcs_case_number(c, row->items[0], way);
    *level = pcs_case_number(c, row->items[1], range);
    return !isnan(*place) && !isnan(*level);
}

static bool profile_read_rows(pcs_case *c, pcs_yaml *rows, pcs_range range, pcs_profile *out)
{
    double *place, *level;
    bool is_fine = true;
    if (rows->kind != PCS_YAML_LIST || rows->count < 2)
        return pcs_case_want(c, rows, "at least two rows [position, value]");
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

// Returns the index of the key that gives the profile; -1, with an error, if there is none or more than one.
static int profile_way(pcs_case *c, pcs_yaml *node)
{
    int way = -1, count = 0;
    for (int i = 0; i < NWAY; i++) {
        if (pcs_case_get(c, node, profile_ways[i]) == NULL) continue;
        way = i;
        count++;
    }
    if (count == 0 && pcs_case_get(c, node, "to") != NULL) return WAY_ENDS; // and says what is missing
    if (count == 1) return way;
    pcs_case_error_at(c, node, NULL, "needs 'from' and 'to', or 'table', or 'steps' (rows [position, value]), has %s",
                      count == 0 ? "none of them" : "more than one of them");
    return -1;
}

static bool profile_read(pcs_case *c, pcs_yaml *node, pcs_range range, pcs_profile *out)
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

// Reads one value into its member. False, with an error and the member unchanged, if the value is wrong.
static bool read_value(pcs_case *c, pcs_yaml *node, const pcs_option *option, void *member)
{
    static const char *const time[] = { "t", NULL };
    switch (option->kind) {
    case PCS_OPTION_REAL: return value_real(c, node, option, member);
    case PCS_OPTION_COUNT: return value_count(c, node, option, member);
    case PCS_OPTION_FLAG: return value_flag(c, node, member);
    case PCS_OPTION_CHOICE: return value_choice(c, node, option->choices, member);
    case PCS_OPTION_VECTOR: return value_vector(c, node, option->range, member);
    case PCS_OPTION_TEXT: return value_text(c, node, member);
    case PCS_OPTION_LIST: return value_list(c, node, option->range, member);
    case PCS_OPTION_FILE: return value_file(c, node, member);
    case PCS_OPTION_NAMES: return value_names(c, node, member);
    case PCS_OPTION_POINTS: return value_points(c, node, option->range, member);
    case PCS_OPTION_FORMULA: return value_formula(c, node, time, member);
    case PCS_OPTION_NODE: *(pcs_yaml **)member = node; return true;
    case PCS_OPTION_FORM: return true;
    case PCS_OPTION_PROFILE: return profile_read(c, node, option->range, member);
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
    case PCS_OPTION_FORMULA: *(const pcs_expression **)member = NULL; break;
    case PCS_OPTION_PROFILE: *(pcs_profile *)member = (pcs_profile){ .value = NAN }; break;
    case PCS_OPTION_NODE: *(pcs_yaml **)member = NULL; break;
    case PCS_OPTION_FORM: break;
    }
}

// Parses the default of an option into a node of its own, NULL if memory is out.
static pcs_yaml *read_preset(pcs_case *c, const pcs_yaml *map, const char *text)
{
    pcs_yaml *node = NULL;
    pcs_location location = map->location;
    if (pcs_tree_parse(c, "default", text, strlen(text), &node) != PCS_OK || node == NULL) return NULL;
    node->location = location;
    for (int i = 0; i < node->count; i++) node->items[i]->location = location;
    return node;
}

static bool read_option(pcs_case *c, pcs_yaml *map, const pcs_option *option, void *member)
{
    pcs_yaml *node = pcs_case_get(c, map, option->name);
    read_absent(option, member);
    if (option->preset != NULL) {
        pcs_yaml *preset = read_preset(c, map, option->preset);
        if (preset == NULL || !read_value(c, preset, option, member)) return false;
        pcs_key key = { .name = option->name, .location = map->location, .is_known = true };
        if (node == NULL) return pcs_tree_add_key(c, map, &key, preset);
    } else if (node == NULL && option->is_required) {
        pcs_case_error_at(c, map, NULL, "missing key '%s' (%s)", option->name, option->help);
        return false;
    }
    return node == NULL || read_value(c, node, option, member);
}

bool pcs_case_read(pcs_case *c, pcs_yaml *map, const pcs_option *table, void *params)
{
    bool is_fine = true;
    for (; table != NULL && table->name != NULL; table++) {
        if (!read_option(c, map, table, (char *)params + table->offset)) is_fine = false;
    }
    return is_fine && !c->is_out_of_memory;
}

int pcs_case_choice(pcs_case *c, pcs_yaml *map, const char *key, const char *const *names, const char *preset)
{
    char help[1024] = "one of ";
    bool is_missing = preset == NULL && pcs_tree_index(map, key) < 0;
    if (is_missing) pcs_join_names(names, ", ", sizeof help - strlen(help), help + strlen(help));
    pcs_option option = { .name = key, .kind = PCS_OPTION_CHOICE, .help = help, .preset = preset, .choices = names };
    option.is_required = preset == NULL;
    int value = 0;
    return read_option(c, map, &option, &value) ? value : -1;
}

int pcs_case_type(pcs_case *c, pcs_yaml *map, const char *const *names)
{
    int type = pcs_case_choice(c, map, "type", names, NULL);
    if (type < 0) map->is_unjudged = true;
    return type;
}
