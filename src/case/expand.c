// Strict reading of scalars by tables of options; and the tree as it was written becomes plain YAML: parameters,
// formulas in texts, repeated entries.
//
// Formulas ${...} in texts, and the parameters that they use, in any order. A text that is one formula becomes a
// number, with the shortest digits that read back to the same bits; within a longer text the digits take the place of
// the formula. $${ stands for ${ itself.

#define _XOPEN_SOURCE 700 // realpath

#include "case/tree.h"

#include "core/text.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Values of a case by the option tables: complete, finite and within their ranges, or an error that names them. Absent
// options get their default, which is written into the tree.

// Formulas in texts of a case. An error is reported at its own column, with similar names and all allowed ones.
enum { NAMES = 128, LIST_BYTES = 512 };

// Returns line and column of a byte of a scalar.
static pcs_location formula_location(const pcs_yaml *node, size_t byte)
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

// Compiles the formula in bytes [from, from + length) of a scalar; an error reports its column.
static bool formula_compile(pcs_case *c, pcs_yaml *node, size_t from, size_t length, const char *const *variables,
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
    pcs_tree_error(c, formula_location(node, from + fault.at), "%s: in '%.*s': %s%s", path,
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
    if (e == NULL || !formula_compile(c, node, 0, strlen(text), variables, e)) return false;
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
    size_t size;        // size of an item, bytes
    pcs_range range[2]; // of the first item of a row, and of the others
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
        is_fine = table->item(c, row->items[i], table->range[i > 0], to) && is_fine;
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
    value_table table = { .what = "numbers", .item = value_entry, .size = sizeof(double), .range = { range, range } };
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

// A number that may vary along a line: 2.0e-4, { from: 1.0e-4, to: 3.0e-4 } from one end to the other, or rows
// [place, value] with rising places from 0: { table: ... } is linear between them, in { steps: ... } a value holds to
// the next place.

static const char *const profile_kinds[] = { "from", "table", "steps", NULL };
enum { PROFILE_ENDS, PROFILE_TABLE, PROFILE_STEPS };

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

static bool profile_read_rows(pcs_case *c, pcs_yaml *rows, pcs_range range, pcs_profile *out)
{
    value_table table = { .what = "numbers", .item = value_entry, .size = sizeof(double) };
    double *place, *level;
    table.range[0] = (pcs_range)PCS_NOT_NEGATIVE;
    table.range[1] = range;
    if (!value_rows(c, rows, &table)) return false;
    if (table.nrow < 2 || table.width != 2) return pcs_case_want(c, rows, "at least two rows [position, value]");
    if (!profile_take(c, table.nrow, &place, &level)) return false;
    const double *x = table.items;
    for (int i = 0; i < table.nrow; i++) {
        const pcs_yaml *at = rows->items[i]->items[0];
        place[i] = x[2 * i];
        level[i] = x[2 * i + 1];
        if (i == 0 && place[0] != 0.0) pcs_case_reject(c, at, "must be 0, where the line begins, is %g", place[0]);
        else if (i > 0 && place[i] <= place[i - 1])
            pcs_case_reject(c, at, "must be beyond the row before (%g), is %g", place[i - 1], place[i]);
        else continue;
        return false;
    }
    *out = (pcs_profile){ .value = level[0], .count = table.nrow, .place = place, .level = level };
    return true;
}

static bool profile_read(pcs_case *c, pcs_yaml *node, pcs_range range, pcs_profile *out)
{
    pcs_profile read = { .value = NAN };
    bool is_fine = false;
    if (node->kind != PCS_YAML_MAP) {
        read.value = pcs_case_number(c, node, range);
        is_fine = !isnan(read.value);
    } else {
        bool has_end = pcs_case_get(c, node, "to") != NULL;
        bool has_rows = pcs_case_get(c, node, "table") != NULL || pcs_case_get(c, node, "steps") != NULL;
        int kind = has_end && !has_rows ? PROFILE_ENDS : pcs_case_one(c, node, profile_kinds, true);
        if (kind == PROFILE_ENDS) is_fine = profile_read_ends(c, node, range, &read);
        else if (kind >= 0) is_fine = profile_read_rows(c, pcs_case_get(c, node, profile_kinds[kind]), range, &read);
        read.is_stepped = kind == PROFILE_STEPS;
    }
    if (is_fine) *out = read;
    return is_fine;
}

// Reads one value into its member. False, with an error, if the value is wrong.
static bool read_value(pcs_case *c, pcs_yaml *node, const pcs_option *option, void *member)
{
    static const char *const time[] = { "t", NULL };
    switch (option->kind) {
    case PCS_OPTION_REAL: return !isnan(*(double *)member = value_number(c, node, option));
    case PCS_OPTION_COUNT: return value_count(c, node, option, member);
    case PCS_OPTION_FLAG: return value_flag(c, node, member);
    case PCS_OPTION_CHOICE: return value_choice(c, node, option->choices, member);
    case PCS_OPTION_VECTOR: return pcs_case_vector(c, node, option->range, member);
    case PCS_OPTION_TEXT: return (*(const char **)member = pcs_case_text(c, node)) != NULL;
    case PCS_OPTION_LIST: return value_list(c, node, option->range, member);
    case PCS_OPTION_FILE: return value_file(c, node, member);
    case PCS_OPTION_NAMES: return value_names(c, node, member);
    case PCS_OPTION_POINTS: return value_points(c, node, option->range, member);
    case PCS_OPTION_FORMULA: return value_formula(c, node, time, member);
    case PCS_OPTION_FORM: return true;
    case PCS_OPTION_PROFILE: return profile_read(c, node, option->range, member);
    }
    return false;
}

// Sets a member to what it holds without a value: reals are NAN, a count is -1, everything else 0.
static void read_absent(const pcs_option *option, void *member)
{
    static const size_t sizes[] = {
        [PCS_OPTION_REAL] = sizeof(double),
        [PCS_OPTION_COUNT] = sizeof(int),
        [PCS_OPTION_FLAG] = sizeof(bool),
        [PCS_OPTION_CHOICE] = sizeof(int),
        [PCS_OPTION_VECTOR] = 3 * sizeof(double),
        [PCS_OPTION_TEXT] = sizeof(const char *),
        [PCS_OPTION_LIST] = sizeof(pcs_list),
        [PCS_OPTION_FILE] = sizeof(const char *),
        [PCS_OPTION_NAMES] = sizeof(pcs_names),
        [PCS_OPTION_POINTS] = sizeof(pcs_points),
        [PCS_OPTION_FORMULA] = sizeof(const void *),
        [PCS_OPTION_PROFILE] = sizeof(pcs_profile),
        [PCS_OPTION_FORM] = 0,
    };
    static const double unknown[3] = { NAN, NAN, NAN };
    memset(member, 0, sizes[option->kind]);
    if (option->kind == PCS_OPTION_COUNT) *(int *)member = -1;
    if (option->kind == PCS_OPTION_VECTOR) memcpy(member, unknown, sizeof unknown);
    if (option->kind == PCS_OPTION_REAL || option->kind == PCS_OPTION_PROFILE) *(double *)member = NAN;
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

enum {
    PARAMETER_NESTING = 32, // longest chain of parameters that depend on one another
    MOST_COPIED = 1 << 22,  // most nodes of all copies
};

typedef enum parameter_state {
    PARAMETER_UNSEEN,
    PARAMETER_OPEN, // is being evaluated
    PARAMETER_KNOWN,
    PARAMETER_WRONG
} parameter_state;

typedef struct expansion {
    pcs_case *c;
    int nparameter;
    const char **names;      // [nparameter + 2] names of parameters, then "i" within a repeated entry; ends with NULL
    pcs_yaml **nodes;        // [nparameter]
    double *values;          // [nparameter + 1]
    parameter_state *states; // [nparameter]
    bool *is_used;           // [nparameter]
    int nopen, open[PARAMETER_NESTING]; // parameters being evaluated, each for the one before
    long ncopied;
} expansion;

// Replaces all ${...} of a scalar by their values. False, with an error, if one is wrong.
static bool expand_scalar(expansion *x, pcs_yaml *node);
// Expands a node and everything below. False if memory is out.
static bool expand_node(expansion *x, pcs_yaml *node);

enum { TEXT_BYTES = 4096 };

// The text that is being written, as far as it fits; `used` counts all of it.
typedef struct expand_text {
    size_t used;
    char bytes[TEXT_BYTES];
} expand_text;

static const char copy_name[] = "i";

static bool expand_has_formula(const char *text)
{
    return strstr(text, "${") != NULL;
}

static void expand_put(expand_text *out, const char *bytes, size_t length)
{
    if (out->used + length <= sizeof out->bytes) memcpy(out->bytes + out->used, bytes, length);
    out->used += length;
}

static int parameters_copy(expansion *x, int number)
{
    int before = x->names[x->nparameter] == NULL ? 0 : (int)x->values[x->nparameter];
    x->names[x->nparameter] = number == 0 ? NULL : copy_name;
    x->values[x->nparameter] = number;
    return before;
}

static void parameters_circle(expansion *x, int k)
{
    const char *names[PARAMETER_NESTING + 2];
    char text[512];
    int first = 0, count = 0;
    while (x->open[first] != k) first++;
    for (int i = first; i < x->nopen; i++) names[count++] = x->names[x->open[i]];
    names[count++] = x->names[k];
    names[count] = NULL;
    pcs_tree_error(x->c, x->nodes[k]->location, "parameters.%s depends on itself: %s", x->names[k],
                   pcs_join_names(names, " -> ", sizeof text, text));
}

static bool parameters_evaluate(expansion *x, int k)
{
    pcs_yaml *node = x->nodes[k];
    int copy = parameters_copy(x, 0);
    bool is_fine = node->kind == PCS_YAML_SCALAR && expand_scalar(x, node);
    parameters_copy(x, copy);
    if (node->kind == PCS_YAML_SCALAR && !is_fine) return false;
    bool is_number = is_fine && !node->is_quoted && pcs_scalar_number(node->text, &x->values[k]) == PCS_NUMBER_FINE;
    if (is_number) return true;
    char quote[PCS_QUOTE_BYTES];
    pcs_tree_error(x->c, node->location, "parameters.%s must be a number or a formula ${...}, is %s", x->names[k],
                   pcs_tree_quote(node, sizeof quote, quote));
    return false;
}

static bool parameters_need(expansion *x, const pcs_yaml *user, int k)
{
    if (k == x->nparameter) return true; // `i`, the number of the copy
    x->is_used[k] = true;
    if (x->states[k] == PARAMETER_OPEN) {
        parameters_circle(x, k);
        return false;
    }
    if (x->states[k] != PARAMETER_UNSEEN) return x->states[k] == PARAMETER_KNOWN;
    if (x->nopen == PARAMETER_NESTING) {
        pcs_tree_error(x->c, user->location, "parameters depend on one another more than %d deep", PARAMETER_NESTING);
        return false;
    }
    x->open[x->nopen++] = k;
    x->states[k] = PARAMETER_OPEN;
    bool is_fine = parameters_evaluate(x, k);
    x->states[k] = is_fine ? PARAMETER_KNOWN : PARAMETER_WRONG;
    x->nopen--;
    return is_fine;
}

// Evaluates the formula in bytes [from, from + length) of the text. False, with an error, if it is wrong.
static bool expand_evaluate(expansion *x, pcs_yaml *node, size_t from, size_t length, double *value)
{
    pcs_expression e;
    if (!formula_compile(x->c, node, from, length, x->names, &e)) return false;
    bool is_known = true;
    for (int i = 0; i < e.count; i++)
        if (e.ops[i].code == PCS_OP_VARIABLE) is_known = parameters_need(x, node, e.ops[i].variable) && is_known;
    if (!is_known) return false; // the error has been reported
    *value = pcs_expression_value(&e, x->values);
    if (isfinite(*value)) return true;
    char path[PCS_PATH_BYTES];
    pcs_tree_error(x->c, formula_location(node, from), "%s: '%.*s' must be a finite number, is %g",
                   pcs_tree_path(node, sizeof path, path), length < 80 ? (int)length : 80, node->text + from, *value);
    return false;
}

// Appends the value of the ${...} at *p to the text and moves *p behind it. False, with an error, if it is wrong.
static bool expand_formula(expansion *x, pcs_yaml *node, const char **p, expand_text *out)
{
    const char *start = *p + 2, *end = strchr(start, '}');
    double value;
    char number[PCS_NUMBER_BYTES], path[PCS_PATH_BYTES];
    if (end == NULL) {
        pcs_tree_error(x->c, formula_location(node, (size_t)(*p - node->text)),
                       "%s: no '}' closes '${'; a text with these signs is written $${",
                       pcs_tree_path(node, sizeof path, path));
        return false;
    }
    if (!expand_evaluate(x, node, (size_t)(start - node->text), (size_t)(end - start), &value)) return false;
    pcs_number_text(value, number);
    *p = end + 1;
    const pcs_yaml *map = node->parent;
    bool is_of_time = map != NULL && map->kind == PCS_YAML_MAP && node->index < map->count &&
                      strcmp(map->keys[node->index].name, "expression") == 0;
    bool needs_brackets = value < 0.0 && is_of_time; // -1^2 is not (-1)^2
    if (needs_brackets) expand_put(out, "(", 1);
    expand_put(out, number, strlen(number));
    if (needs_brackets) expand_put(out, ")", 1);
    return true;
}

static bool expand_text_of(expansion *x, pcs_yaml *node, expand_text *out)
{
    const char *p = node->text;
    while (*p != '\0') {
        if (strncmp(p, "$${", 3) == 0) {
            expand_put(out, "${", 2);
            p += 3;
        } else if (strncmp(p, "${", 2) == 0) {
            if (!expand_formula(x, node, &p, out)) return false;
        } else {
            expand_put(out, p++, 1);
        }
    }
    if (out->used < TEXT_BYTES) return true;
    pcs_case_reject(x->c, node, "is longer than %d characters with its formulas", TEXT_BYTES);
    return false;
}

static bool expand_scalar(expansion *x, pcs_yaml *node)
{
    if (!expand_has_formula(node->text)) return true;
    expand_text out = { 0 };
    if (node->location.is_faulty || !expand_text_of(x, node, &out)) {
        node->location.is_faulty = true;
        return false;
    }
    const char *end = strchr(node->text, '}');
    bool is_number = strncmp(node->text, "${", 2) == 0 && end != NULL && end[1] == '\0';
    node->text = pcs_tree_text(x->c, out.bytes, out.used);
    node->text_column = 0;
    if (is_number) node->is_quoted = false;
    if (node->text != NULL) return true;
    node->text = "";
    return false;
}

// The section `parameters`: numbers by name, which may be formulas of one another in any order.

static void parameters_check_name(pcs_case *c, const pcs_key *key)
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    pcs_yaml name = { .text = key->name };
    char quote[PCS_QUOTE_BYTES];
    pcs_tree_quote(&name, sizeof quote, quote);
    bool is_taken = strcmp(key->name, copy_name) == 0;
    for (const char *const *other = pcs_expression_names(); *other != NULL; other++)
        is_taken = is_taken || strcmp(*other, key->name) == 0;
    bool has_start = key->name[0] != '\0' && strchr(letters + 10, key->name[0]) != NULL;
    if (!has_start || key->name[strspn(key->name, letters)] != '\0') {
        pcs_tree_error(c, key->location,
                       "the name of a parameter must start with a letter and have letters, digits and '_' only, is %s",
                       quote);
    } else if (is_taken) {
        pcs_tree_error(c, key->location, "%s is a reserved name in formulas; choose another one", quote);
    }
}

static bool parameters_open(expansion *x, pcs_yaml *root)
{
    pcs_case *c = x->c;
    int at = pcs_tree_index(root, "parameters");
    pcs_yaml *map = at < 0 ? NULL : root->items[at];
    if (map != NULL && !pcs_case_is(c, map, PCS_YAML_MAP)) map = NULL;
    if (at >= 0) {
        pcs_yaml *apart = pcs_tree_node(c, PCS_YAML_MAP, root->location); // keeps the paths of messages
        if (apart == NULL || !pcs_tree_add_key(c, apart, &root->keys[at], root->items[at])) return false;
        pcs_tree_remove_key(root, at);
    }
    x->nparameter = map == NULL ? 0 : map->count;
    size_t room = (size_t)x->nparameter + 2;
    x->names = pcs_tree_take(c, room * sizeof *x->names);
    x->nodes = pcs_tree_take(c, room * sizeof(pcs_yaml *));
    x->values = pcs_tree_take(c, room * sizeof *x->values);
    x->states = pcs_tree_take(c, room * sizeof *x->states);
    x->is_used = pcs_tree_take(c, room * sizeof *x->is_used);
    if (c->is_out_of_memory) return false;
    for (int k = 0; k < x->nparameter; k++) {
        x->names[k] = map->keys[k].name;
        x->nodes[k] = map->items[k];
        parameters_check_name(c, &map->keys[k]);
    }
    return true;
}

static void parameters_close(expansion *x)
{
    char hint[PCS_SPELLING_BYTES];
    for (int k = 0; k < x->nparameter; k++) {
        bool is_used = x->is_used[k];
        parameters_need(x, x->nodes[k], k);
        if (is_used || x->nodes[k]->location.origin == NULL) continue;
        // Rejects a wrong name on the command line, which would otherwise be ignored.
        const char *name = x->names[k];
        x->names[k] = ""; // not offered for itself
        pcs_spelling_hint(name, x->names, sizeof hint, hint);
        x->names[k] = name;
        pcs_tree_error(x->c, x->nodes[k]->location, "no formula uses the parameter '%.60s'%s", name, hint);
    }
}

// Positions of an entry of a case: those that `repeat: { shift }` moves. Directions, offsets and lengths stay.

static const char *const shift_keys[] = { "from",   "to",   "at",   "start", "centre", "origin", "points", "point",
                                          "anchor", "at_a", "at_b", "about", "box",    "plane",  NULL };

// Adds times * shift to a position with one rounding, so that the digits are those of the sum. Returns false if the
// node is no position.
static bool shift_position(pcs_case *c, pcs_yaml *node, int times, const double shift[3])
{
    double value[3];
    if (node->kind != PCS_YAML_LIST || node->count != 3) return false;
    for (int k = 0; k < 3; k++) {
        const pcs_yaml *item = node->items[k];
        bool is_plain = item->kind == PCS_YAML_SCALAR && !item->is_quoted;
        if (!is_plain || pcs_scalar_number(item->text, &value[k]) != PCS_NUMBER_FINE) return false;
    }
    for (int k = 0; k < 3; k++) {
        char text[PCS_NUMBER_ROOM];
        if (times == 0 || shift[k] == 0.0) continue;
        const char *copy = pcs_tree_text(c, text, pcs_number_text(fma(times, shift[k], value[k]), text));
        if (copy != NULL) node->items[k]->text = copy;
    }
    return true;
}

// Shifts a position, or positions in a list or by name; of a plane only its point. Returns false if there is none.
static bool shift_value(pcs_case *c, pcs_yaml *node, int times, const double shift[3], bool is_plane)
{
    if (shift_position(c, node, times, shift)) return true;
    if (node->kind == PCS_YAML_SCALAR || node->count == 0) return false;
    int count = is_plane ? 1 : node->count;
    bool is_moved = true;
    for (int i = 0; i < count; i++) is_moved = shift_position(c, node->items[i], times, shift) && is_moved;
    return is_moved;
}

static bool shift_entry(pcs_case *c, pcs_yaml *entry, int times, const double shift[3])
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

// Entries that stand for several: { repeat: { count, shift }, ... } becomes `count` copies of the rest, or of `each`
// if the entry is not a map. In a list they follow one another; in a map copy i of `name` is `name1`, `name2`, ...,
// unless the name has a formula. ${i} is the number of the copy. The copies of a part of the mesh get a set of its
// name.

typedef struct repeat_params {
    int count;
    double shift[3];
} repeat_params;

const pcs_option pcs_repeat_options[] = {
    PCS_COUNT("count", repeat_params, count, PCS_REQUIRED, PCS_WITHIN(0, 1 << 20), "number of copies"),
    PCS_VECTOR("shift", repeat_params, shift, PCS_OPTIONAL, PCS_ANY_NUMBER,
               "every copy lies this much further than the one before, m: moves the positions that the entry states"),
    { .name = NULL },
};

static bool repeat_is_in(const pcs_yaml *node)
{
    return node->kind == PCS_YAML_MAP && pcs_tree_index(node, "repeat") >= 0;
}

// Reads `repeat` and removes it from the entry. *what is the copied part. Returns false, with an error, if it is wrong.
static bool repeat_read(expansion *x, pcs_yaml *entry, repeat_params *p, pcs_yaml **what)
{
    pcs_case *c = x->c;
    int at = pcs_tree_index(entry, "repeat");
    pcs_yaml *options = entry->items[at];
    if (!pcs_case_is(c, options, PCS_YAML_MAP) || !expand_node(x, options)) return false;
    bool is_fine = pcs_case_read(c, options, pcs_repeat_options, p);
    pcs_case_judge(c, options);
    pcs_tree_remove_key(entry, at);
    int each = pcs_tree_index(entry, "each");
    *what = each < 0 ? entry : entry->items[each];
    if (each >= 0 && entry->count > 1) {
        pcs_case_error_at(c, entry, "each", "'each' holds all that is copied: move the other keys into it");
        return false;
    }
    if (!repeat_is_in(*what)) return is_fine;
    pcs_case_error_at(c, *what, "repeat",
                      "a repeated entry cannot be repeated itself: ${mod(i, n)} and "
                      "${floor(i/n)} number the rows of a table in one repetition");
    return false;
}

static long repeat_size(const pcs_yaml *node)
{
    long size = 1;
    for (int i = 0; i < node->count; i++) size += repeat_size(node->items[i]);
    return size;
}

// Makes copy i of an entry, expanded and shifted; NULL if memory is out.
static pcs_yaml *repeat_copy(expansion *x, const pcs_yaml *what, const repeat_params *p, int i)
{
    pcs_yaml *copy = pcs_tree_copy(x->c, what, i > 1);
    if (copy == NULL) return NULL;
    copy->parent = what->parent; // for the paths of messages
    copy->index = what->index;
    if (!expand_node(x, copy)) return NULL;
    if (isnan(p->shift[0]) || shift_entry(x->c, copy, i - 1, p->shift) || i > 1) return copy;
    pcs_case_error_at(x->c, copy, NULL, "'shift' finds no position to move; for other values use ${i} in a formula");
    return copy;
}

// Makes the name of a copy, or expands that of an entry that is not repeated (number 0).
static bool repeat_name(expansion *x, pcs_yaml *map, pcs_key *key, int number)
{
    if (expand_has_formula(key->name)) {
        pcs_yaml name = {
            .kind = PCS_YAML_SCALAR, .location = key->location, .parent = map->parent, .index = map->index
        };
        name.text = key->name;
        name.text_column = key->location.column;
        bool is_fine = expand_scalar(x, &name);
        key->name = name.text;
        return is_fine;
    }
    if (number == 0) return true;
    char text[PCS_PATH_BYTES];
    snprintf(text, sizeof text, "%.200s%d", key->name, number);
    key->name = pcs_tree_text(x->c, text, strlen(text));
    return key->name != NULL;
}

// Adds an entry under a name that must be free. What was assigned to a copy is laid over it.
static bool repeat_add(expansion *x, pcs_yaml *map, const pcs_key *key, pcs_yaml *entry)
{
    pcs_case *c = x->c;
    int there = pcs_tree_index(map, key->name);
    if (there < 0 && map->count < PCS_CASE_KEYS) return pcs_tree_add_key(c, map, key, entry);
    if (there < 0) {
        pcs_tree_error(c, key->location, "more than %d keys in one map", PCS_CASE_KEYS);
        return true;
    }
    pcs_yaml *old = map->items[there];
    if (key->location.origin != NULL && old->kind == PCS_YAML_MAP && entry->kind == PCS_YAML_MAP)
        return pcs_tree_overlay(c, old, entry);
    const pcs_location *first = &map->keys[there].location;
    pcs_tree_error(c, key->location, "duplicate key '%.80s', first given at %d:%d", key->name, first->line,
                   first->column);
    return true;
}

// Adds all copies of an entry to `to`, a list or a map, and counts them. False if memory is out.
static bool repeat_entry(expansion *x, pcs_yaml *to, const pcs_key *key, pcs_yaml *entry, int *count)
{
    repeat_params p = { 0 };
    pcs_yaml *what = NULL;
    *count = 0;
    if (!repeat_read(x, entry, &p, &what)) return !x->c->is_out_of_memory;
    x->ncopied += p.count * repeat_size(what);
    if (x->ncopied > MOST_COPIED) {
        pcs_case_error_at(x->c, entry, NULL, "all repetitions together make more than %d values", MOST_COPIED);
        return true;
    }
    if (to->kind == PCS_YAML_MAP && p.count > PCS_CASE_KEYS - to->count) {
        pcs_tree_error(x->c, key->location, "more than %d keys in one map", PCS_CASE_KEYS);
        return true;
    }
    bool is_fine = true;
    int outer = parameters_copy(x, 0);
    for (int i = 1; i <= p.count && is_fine; i++) {
        parameters_copy(x, i);
        pcs_yaml *copy = repeat_copy(x, what, &p, i);
        if (copy == NULL) {
            is_fine = false;
        } else if (to->kind == PCS_YAML_LIST) {
            is_fine = pcs_tree_add_item(x->c, to, copy);
        } else {
            pcs_key named = *key;
            named.location.is_copy |= i > 1;
            if (repeat_name(x, to, &named, i)) is_fine = repeat_add(x, to, &named, copy);
        }
    }
    parameters_copy(x, outer);
    *count = p.count;
    return is_fine && !x->c->is_out_of_memory;
}

// Moves the last entry of a map to the front, since sets are made in their order.
static void repeat_put_first(pcs_yaml *map)
{
    pcs_key key = map->keys[map->count - 1];
    pcs_yaml *item = map->items[map->count - 1];
    for (int i = map->count - 1; i > 0; i--) {
        map->keys[i] = map->keys[i - 1];
        map->items[i] = map->items[i - 1];
        map->items[i]->index = i;
    }
    map->keys[0] = key;
    map->items[0] = item;
    item->index = 0;
}

// Adds the entry `name` to the section `sets`: the cells of all copies of a part of the mesh.
static bool repeat_add_set(expansion *x, pcs_yaml *mesh, const pcs_key *key, int first)
{
    pcs_case *c = x->c;
    static const pcs_key sets_key = { .name = "sets" }, cells_key = { .name = "cells" };
    int at = pcs_tree_index(c->root, "sets");
    pcs_yaml *sets = at < 0 ? pcs_tree_node(c, PCS_YAML_MAP, mesh->location) : c->root->items[at];
    pcs_yaml *set = pcs_tree_node(c, PCS_YAML_MAP, key->location),
             *cells = pcs_tree_node(c, PCS_YAML_LIST, key->location);
    if (sets == NULL || set == NULL || cells == NULL) return false;
    if (at < 0 && !pcs_tree_add_key(c, c->root, &sets_key, sets)) return false;
    if (sets->kind != PCS_YAML_MAP || pcs_tree_index(sets, key->name) >= 0) return true; // given by the author
    for (int i = first; i < mesh->count; i++) {
        pcs_yaml *name = pcs_tree_node(c, PCS_YAML_SCALAR, key->location);
        if (name == NULL || !pcs_tree_add_item(c, cells, name)) return false;
        name->text = mesh->keys[i].name;
    }
    if (!pcs_tree_add_key(c, set, &cells_key, cells) || !pcs_tree_add_key(c, sets, key, set)) return false;
    repeat_put_first(sets);
    return true;
}

// Adds one entry of a list or map, or its copies, to `to`. False if memory is out.
static bool repeat_item(expansion *x, pcs_yaml *to, const pcs_key *from, pcs_yaml *item, bool is_mesh)
{
    pcs_key key = from == NULL ? (pcs_key){ 0 } : *from;
    int first = to->count, count;
    if (repeat_is_in(item)) {
        if (!repeat_entry(x, to, &key, item, &count)) return false;
        bool has_set = is_mesh && count > 0 && !expand_has_formula(key.name);
        return !has_set || repeat_add_set(x, to, &key, first);
    }
    if (!expand_node(x, item)) return false;
    if (from == NULL) return pcs_tree_add_item(x->c, to, item);
    return !repeat_name(x, to, &key, 0) || repeat_add(x, to, &key, item);
}

// Rebuilds a list or map with the copies of its entries. The old one stays unchanged until the end, for messages.
static bool repeat_rebuild(expansion *x, pcs_yaml *node)
{
    pcs_yaml fresh = { .kind = node->kind, .parent = node->parent, .index = node->index, .location = node->location };
    const pcs_yaml *root = x->c->root;
    bool is_map = node->kind == PCS_YAML_MAP, is_fine = true;
    bool is_mesh = is_map && node->parent == root && strcmp(root->keys[node->index].name, "mesh") == 0;
    for (int i = 0; i < node->count; i++)
        is_fine = is_fine && repeat_item(x, &fresh, is_map ? &node->keys[i] : NULL, node->items[i], is_mesh);
    node->count = fresh.count;
    node->room = fresh.room;
    node->items = fresh.items;
    node->keys = fresh.keys;
    for (int i = 0; i < node->count; i++) node->items[i]->parent = node;
    return is_fine && !x->c->is_out_of_memory;
}

static bool expand_node(expansion *x, pcs_yaml *node)
{
    if (node->kind == PCS_YAML_SCALAR) {
        expand_scalar(x, node);
        return !x->c->is_out_of_memory;
    }
    bool is_plain = true;
    for (int i = 0; i < node->count; i++) {
        if (repeat_is_in(node->items[i])) is_plain = false;
        if (node->kind == PCS_YAML_MAP && expand_has_formula(node->keys[i].name)) is_plain = false;
    }
    if (!is_plain) return repeat_rebuild(x, node);
    for (int i = 0; i < node->count; i++)
        if (!expand_node(x, node->items[i])) return false;
    return true;
}

// The tree as it was written becomes plain YAML.

pcs_status pcs_case_expand(pcs_case *c)
{
    expansion x = { .c = c };
    if (c->is_expanded) return PCS_OK;
    c->is_expanded = true;
    pcs_case_get(c, c->root, "parameters");
    const pcs_yaml *include = pcs_case_get(c, c->root, "include"); // only assigned ones are left
    if (include != NULL) pcs_tree_error(c, include->location, "'include' works in files, not in an assignment");
    if (parameters_open(&x, c->root)) {
        expand_node(&x, c->root);
        parameters_close(&x);
    }
    return c->is_out_of_memory ? pcs_fail(c->ctx, PCS_NO_MEMORY, "out of memory: reading %s", c->file) : PCS_OK;
}
