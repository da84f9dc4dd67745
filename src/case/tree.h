// The nodes of a case, private to this folder.

#ifndef PCS_CASE_TREE_H
#define PCS_CASE_TREE_H

#include "case/case.h"

enum {
    PCS_CASE_DEPTH = 64,       // nesting of lists and maps
    PCS_CASE_KEYS = 10000,     // entries of one map
    PCS_CASE_BYTES = 64 << 20, // of a file
    PCS_QUOTE_BYTES = 100      // room for a value quoted in a message
};

typedef struct pcs_location {
    int line, column;   // from 1; 0: none
    const char *origin; // "--set a.b=1" for what did not come from a file, else NULL
    int file;           // number of the file; 0: that of the case, others are included
    bool is_copy;       // of a repeated entry that stands at the same place: one message is enough
    bool is_faulty;     // a message about it is there already
} pcs_location;

typedef struct pcs_key {
    const char *name;
    pcs_location location;
    bool is_known;
    bool is_reported; // as unknown
} pcs_key;

struct pcs_yaml {
    pcs_yaml_kind kind;
    pcs_location location;
    pcs_yaml *parent; // NULL: the root
    int index;        // in the parent
    const char *text; // of a scalar
    int text_column;  // of the first character of the text; 0: the text does not stand in the file as it is
    bool is_quoted;   // in quotes or a block text: never a number or a flag
    bool is_number;   // was read as a number
    bool is_unjudged; // unknown keys are no error here
    bool is_forgiven; // unknown keys of the file are dropped with a note
    int count, room;
    pcs_yaml **items; // [count]
    pcs_key *keys;    // [count] of a map
    int nknown, known_room;
    const char **known; // [nknown + 1] keys that readers know, present or not; ends with NULL
};

typedef struct pcs_case_message {
    pcs_location location;
    int number; // in the order they came
    const char *text;
} pcs_case_message;

struct pcs_case {
    pcs_context *ctx;
    const char *file, *folder, *name;
    int nfile, file_room;
    const char **files; // [nfile] the case's own and the included ones
    int present_file;   // that is being parsed
    bool is_expanded;
    pcs_yaml *root;
    int nmessage, message_room;
    pcs_case_message *messages; // [nmessage]
    char *notes;                // lines about what was changed without being an error; NULL: none
    bool is_out_of_memory;      // something is missing from tree or messages
    char *pool, *pool_end;      // small pieces come from here
    char *dump[2];              // the whole as text, and what motion depends on; NULL: not asked for yet
    size_t dump_size[2];
};

// Small zeroed pieces that live as long as the context; NULL sets is_out_of_memory.
void *pcs_tree_take(pcs_case *c, size_t bytes);
char *pcs_tree_text(pcs_case *c, const char *text, size_t length);
// A larger array with the old contents: *room grows.
void *pcs_tree_grow(pcs_case *c, const void *old, int count, int *room, size_t size);

pcs_yaml *pcs_tree_node(pcs_case *c, pcs_yaml_kind kind, pcs_location location);
bool pcs_tree_add_item(pcs_case *c, pcs_yaml *list, pcs_yaml *item);
bool pcs_tree_add_key(pcs_case *c, pcs_yaml *map, const pcs_key *key, pcs_yaml *value);
// Takes entry i out of a map.
void pcs_tree_remove_key(pcs_yaml *map, int i);
// A copy with all that is below; when it is a further one its errors are told only where there is none yet. NULL
// without memory.
pcs_yaml *pcs_tree_copy(pcs_case *c, const pcs_yaml *node, bool is_further);
// Lays a map over another: keys of `over` win, maps are merged. A map with another `type` takes the place of the whole
// one, for options of one type have no meaning to another.
bool pcs_tree_overlay(pcs_case *c, pcs_yaml *base, const pcs_yaml *over);
// Index of a key, or -1.
int pcs_tree_index(const pcs_yaml *map, const char *key);
// "contacts.wall", "initial[0].set"; empty for the root.
const char *pcs_tree_path(const pcs_yaml *node, size_t size, char *buffer);

// The tree of one YAML document. Errors are recorded; what cannot be read at all gives PCS_BAD_INPUT.
pcs_status pcs_tree_parse(pcs_case *c, const char *origin, const char *text, size_t size, pcs_yaml **out);

// Compiles the formula in bytes [from, from + length) of a scalar; an error tells its column.
bool pcs_formula_compile(pcs_case *c, pcs_yaml *node, size_t from, size_t length, const char *const *variables,
                         pcs_expression *out);
// The place of a byte of a scalar.
pcs_location pcs_formula_location(const pcs_yaml *node, size_t byte);
// Reports the keys of a map, and below, that no reader has looked up.
void pcs_tree_find_unknown(pcs_case *c, pcs_yaml *node);

// Records an error at a location.
void pcs_tree_error(pcs_case *c, pcs_location location, const char *format, ...) __attribute__((format(printf, 3, 4)));
// "'10.0x'", "empty", "a list": what a node is, for messages.
const char *pcs_tree_quote(const pcs_yaml *node, size_t size, char *buffer);

typedef enum pcs_number_form {
    PCS_NUMBER_FINE,
    PCS_NUMBER_IS_TEXT,    // not of the form of a number
    PCS_NUMBER_NOT_FINITE, // inf, nan, or too large for a double
    PCS_NUMBER_TOO_SMALL   // not zero, but rounds to it
} pcs_number_form;

// The whole text as a number: digits with an optional point and exponent.
pcs_number_form pcs_scalar_number(const char *text, double *value);
// The whole text as a whole number of decimal digits.
bool pcs_scalar_count(const char *text, long *value);
// The shortest digits that read back to the same bits, as a person would write them: 0.5, 12, 1e-05.
const char *pcs_scalar_text(double value, char buffer[PCS_NUMBER_BYTES]);
// Puts the point and the sign of the exponent that YAML 1.1 readers ask for: 1e3 -> 1.0e+3.
void pcs_scalar_normalize(const char *text, size_t size, char *buffer);

#endif
