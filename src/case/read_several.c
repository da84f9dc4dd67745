// Values of a case that are made of several: paths, names and rows of names, named positions.

#define _XOPEN_SOURCE 700 // realpath

#include "case/tree.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool pcs_read_file(pcs_case *c, pcs_node *node, const char **out)
{
    char path[PATH_MAX], whole[PATH_MAX];
    const char *text = pcs_case_text(c, node);
    if (text == NULL) return false;
    bool is_whole = text[0] == '/';
    int length = snprintf(path, sizeof path, "%s%s%s", is_whole ? "" : c->folder, is_whole ? "" : "/", text);
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

// The texts of one row, which must be as many as `width` says.
static bool several_row(pcs_case *c, pcs_node *row, int width, const char **text)
{
    if (row->kind != PCS_NODE_LIST || row->count != width) {
        pcs_case_reject(c, row, "must be a list of %d names like the first row", width);
        return false;
    }
    bool is_fine = true;
    for (int i = 0; i < width; i++) {
        text[i] = pcs_case_text(c, row->items[i]);
        is_fine = is_fine && text[i] != NULL;
    }
    return is_fine;
}

bool pcs_read_names(pcs_case *c, pcs_node *node, pcs_names *out)
{
    bool is_one = node->kind == PCS_NODE_SCALAR && node->text[0] != '\0';
    if (!is_one && (node->kind != PCS_NODE_LIST || node->count == 0)) {
        char quote[PCS_QUOTE_BYTES];
        pcs_case_reject(c, node, "must be a list of names or of rows of names, is %s",
                        pcs_tree_quote(node, sizeof quote, quote));
        return false;
    }
    bool has_rows = !is_one && node->items[0]->kind == PCS_NODE_LIST, is_fine = true;
    int nrow = has_rows ? node->count : 1;
    int width = is_one ? 1 : has_rows ? node->items[0]->count : node->count;
    if (width == 0) {
        pcs_case_reject(c, node->items[0], "must be a list of names, is empty");
        return false;
    }
    const char **text = pcs_tree_take(c, (size_t)nrow * (size_t)width * sizeof *text);
    if (text == NULL) return false;
    if (is_one) text[0] = node->text;
    for (int i = 0; i < nrow && !is_one; i++) {
        pcs_node *row = has_rows ? node->items[i] : node;
        is_fine = several_row(c, row, width, text + (size_t)i * (size_t)width) && is_fine;
    }
    if (is_fine) *out = (pcs_names){ .nrow = nrow, .count = nrow * width, .text = text };
    return is_fine;
}

bool pcs_read_points(pcs_case *c, pcs_node *node, pcs_range range, pcs_points *out)
{
    if (!pcs_case_is(c, node, PCS_NODE_MAP)) return false;
    if (node->count == 0) {
        pcs_case_reject(c, node, "is empty, needs positions [x, y, z] by name");
        return false;
    }
    const char **name = pcs_tree_take(c, (size_t)node->count * sizeof *name);
    double(*x)[3] = pcs_tree_take(c, (size_t)node->count * sizeof *x);
    if (name == NULL || x == NULL) return false;
    bool is_fine = true;
    for (int i = 0; i < node->count; i++) {
        pcs_node *entry = pcs_case_entry(c, node, i, PCS_NODE_LIST);
        name[i] = node->keys[i].name;
        is_fine = entry != NULL && pcs_case_vector(c, entry, range, x[i]) && is_fine;
    }
    if (is_fine) *out = (pcs_points){ .count = node->count, .name = name, .x = (const double(*)[3])x };
    return is_fine;
}
