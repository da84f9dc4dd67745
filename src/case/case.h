// A case file as a tree of nodes with line and column, and a strict reader over it.
//
// Every key must be asked for by someone; what nobody asked for is an error. Errors are collected, so
// that one pass reports them all as `file:line:column: what, value, what is allowed`.

#ifndef PCS_CASE_CASE_H
#define PCS_CASE_CASE_H

#include "core/context.h"
#include "core/option.h"

typedef struct pcs_case pcs_case;
typedef struct pcs_node pcs_node;

typedef enum pcs_node_kind { PCS_NODE_SCALAR, PCS_NODE_LIST, PCS_NODE_MAP } pcs_node_kind;

// `path` is a file or a folder that holds case.yaml. Syntax errors and duplicate keys are PCS_BAD_INPUT.
pcs_status pcs_case_load(pcs_context *ctx, const char *path, pcs_case **out);
// The same from memory; `name` stands for the file in messages.
pcs_status pcs_case_parse(pcs_context *ctx, const char *name, const char *text, size_t size, pcs_case **out);
// "path.to.key=value": the value is parsed as YAML and replaces or adds the key; list items by number from 0.
pcs_status pcs_case_set(pcs_case *c, const char *assignment);

const char *pcs_case_file(const pcs_case *c);
const char *pcs_case_folder(const pcs_case *c); // of the file
const char *pcs_case_name(const pcs_case *c);   // of the folder for .../name/case.yaml, else the file's stem
pcs_node *pcs_case_root(pcs_case *c);

pcs_node_kind pcs_node_get_kind(const pcs_node *node);
const char *pcs_node_text(const pcs_node *node); // of a scalar
int pcs_node_count(const pcs_node *node);        // of a list or map
pcs_node *pcs_node_item(const pcs_node *node, int i);
const char *pcs_node_key(const pcs_node *map, int i); // of a map

// The child `key` of a map, marked as asked for; NULL when absent. `allowed` lists collect themselves
// from what is asked, for the message about unknown keys.
pcs_node *pcs_case_get(pcs_case *c, pcs_node *map, const char *key);
// The same, and an error when it is absent or of another kind.
pcs_node *pcs_case_need(pcs_case *c, pcs_node *map, const char *key, pcs_node_kind kind);
// Is the node of that kind? Otherwise an error that names what it is.
bool pcs_case_is(pcs_case *c, const pcs_node *node, pcs_node_kind kind, const char *what);

// Reads the options of the table from a map into `params`, writes the defaults into the tree, and
// records errors. False when any value was wrong (its member then holds the default).
bool pcs_case_read(pcs_case *c, pcs_node *map, const pcs_option *table, void *params);
// The `type` of a map as one of NULL-terminated names; -1 and an error otherwise.
int pcs_case_type(pcs_case *c, pcs_node *map, const char *const *names, const char *what);
// A finite number within the range, or an error and NAN.
double pcs_case_number(pcs_case *c, const pcs_node *node, pcs_range range, const char *what);

// Adds an error at a node (NULL: at the file's start).
void pcs_case_error(pcs_case *c, const pcs_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// The same at option `key` of a map, or at the map when the key is absent.
void pcs_case_error_at(pcs_case *c, const pcs_node *map, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// ", did you mean 'x'?" or "" for the nearest of NULL-terminated names; `buffer` is given back.
const char *pcs_near_miss(const char *name, const char *const *names, size_t size, char *buffer);

// Replace the text of a scalar child (a value that was resolved, e.g. `step: auto`); adds it when absent.
pcs_status pcs_case_resolve(pcs_case *c, pcs_node *map, const char *key, const char *text);

int pcs_case_error_count(const pcs_case *c);
// Reports every key nobody asked for, then gives PCS_BAD_INPUT with all messages if there are any errors.
pcs_status pcs_case_finish(pcs_case *c);
// Writes the tree with all defaults; it loads again to the same values.
pcs_status pcs_case_write(pcs_case *c, const char *path);

#endif
