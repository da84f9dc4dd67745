// The nodes of a case, private to this folder.

#ifndef PCS_CASE_TREE_H
#define PCS_CASE_TREE_H

#include "case/case.h"

enum {
    PCS_CASE_DEPTH = 64,       // nesting of lists and maps
    PCS_CASE_KEYS = 10000,     // entries of one map
    PCS_CASE_BYTES = 64 << 20, // most bytes of a file
    PCS_QUOTE_BYTES = 100      // size of a value quoted in a message
};

typedef struct pcs_case_message {
    pcs_location location;
    int number; // index in the order of recording
    const char *text;
} pcs_case_message;

struct pcs_case {
    pcs_context *ctx;
    const char *file, *name;
    int nfile, file_room;
    const char **files; // [nfile] paths of the case and of included files
    int present_file;   // number of the file being parsed
    bool is_expanded;
    pcs_yaml *root;
    int nmessage, message_room;
    pcs_case_message *messages; // [nmessage]
    char *notes;                // lines about changes that are not errors, NULL if none
    bool is_out_of_memory;      // tree or messages are incomplete
    char *pool, *pool_end;      // block from which small pieces are allocated
    char *dump[2];              // complete text, and the part that motion depends on; NULL if not made yet
};

// Allocates small zeroed pieces that live as long as the context; NULL, with is_out_of_memory set, on failure.
void *pcs_tree_take(pcs_case *c, size_t bytes);
char *pcs_tree_text(pcs_case *c, const char *text, size_t length);
// Makes room for one more item behind `count`: replaces the array and updates *room. Returns false if out of memory.
bool pcs_tree_reserve(pcs_case *c, void *array, int count, int *room, size_t size);

pcs_yaml *pcs_tree_node(pcs_case *c, pcs_yaml_kind kind, pcs_location location);
bool pcs_tree_add_item(pcs_case *c, pcs_yaml *list, pcs_yaml *item);
bool pcs_tree_add_key(pcs_case *c, pcs_yaml *map, const pcs_key *key, pcs_yaml *value);
// Removes entry i from a map.
void pcs_tree_remove_key(pcs_yaml *map, int i);
// Copies a node and everything below; errors of a further copy are reported only once. Returns NULL if memory is out.
pcs_yaml *pcs_tree_copy(pcs_case *c, const pcs_yaml *node, bool is_further);
// Overlays a map on another: keys of `over` win, maps are merged. A map with another `type` replaces the whole one,
// since options of one type have no meaning for another.
bool pcs_tree_overlay(pcs_case *c, pcs_yaml *base, const pcs_yaml *over);
// Returns the index of a key, -1 if absent.
int pcs_tree_index(const pcs_yaml *map, const char *key);
// Writes the path of a node, "contacts.wall", "initial[0].set", "" for the root. Returns `buffer`.
const char *pcs_tree_path(const pcs_yaml *node, size_t size, char *buffer);

// Parses one YAML document into a tree. Errors are recorded; returns PCS_BAD_INPUT if it cannot be read at all.
pcs_status pcs_tree_parse(pcs_case *c, const char *origin, const char *text, size_t size, pcs_yaml **out);

// Records an error at a location.
void pcs_tree_error(pcs_case *c, pcs_location location, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Describes a node for messages: "'10.0x'", "empty", "a list". Returns `buffer`.
const char *pcs_tree_quote(const pcs_yaml *node, size_t size, char *buffer);

typedef enum pcs_number_form {
    PCS_NUMBER_FINE,
    PCS_NUMBER_IS_TEXT,    // not of the form of a number
    PCS_NUMBER_NOT_FINITE, // inf, nan, or too large for a double
    PCS_NUMBER_TOO_SMALL   // not zero, but rounds to it
} pcs_number_form;

// Parses the complete text as a number: digits with an optional point and exponent.
pcs_number_form pcs_scalar_number(const char *text, double *value);
// Parses the complete text as an integer of decimal digits. False if it is none.
bool pcs_scalar_count(const char *text, long *value);
// Adds the point and the sign of the exponent that YAML 1.1 readers require: 1e3 -> 1.0e+3.
void pcs_scalar_normalize(const char *text, size_t size, char *buffer);

#endif
