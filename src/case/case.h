// A case file as a tree of nodes with line and column, and a strict reader over it.
//
// A key that no reader looks up is an error. Errors are collected, so that one pass reports them all as
// `file:line:column: what, value, what is allowed`. An item that came through an assignment reports that
// assignment in place of the position.

#ifndef PCS_CASE_CASE_H
#define PCS_CASE_CASE_H

#include "core/context.h"
#include "core/expression.h"
#include "core/option.h"

typedef struct pcs_case pcs_case;
typedef struct pcs_yaml pcs_yaml;

typedef enum pcs_yaml_kind { PCS_YAML_SCALAR, PCS_YAML_LIST, PCS_YAML_MAP } pcs_yaml_kind;

// Other rooms read kind, text, count, items and names of keys, and accept unknown keys of a map (is_unjudged); the rest
// belongs to the readers of this one.
typedef struct pcs_location {
    int line, column;   // from 1; 0 if none
    const char *origin; // "--set a.b=1" if it did not come from a file, else NULL
    int file;           // number of the file; 0 for the case itself, others are included
    bool is_copy;       // further copy of a repeated entry at the same location: one message is enough
    bool is_faulty;     // a message about it exists already
} pcs_location;

typedef struct pcs_key {
    const char *name;
    pcs_location location;
    bool is_known;
    bool is_reported; // reported as unknown
} pcs_key;

struct pcs_yaml {
    pcs_yaml_kind kind;
    pcs_location location;
    pcs_yaml *parent; // NULL for the root
    int index;        // index in the parent
    const char *text; // text of a scalar
    int text_column;  // column of the first character of the text; 0 if the file has another text
    bool is_quoted;   // in quotes or a block text: never a number or a flag
    bool is_number;   // was read as a number
    bool is_unjudged; // unknown keys are no error here
    bool is_forgiven; // unknown keys of the file are dropped with a note
    int count, room;
    pcs_yaml **items; // [count]
    pcs_key *keys;    // [count] keys of a map
    int nknown, known_room;
    const char **known; // [nknown + 1] keys that readers know, present or not; ends with NULL
};

enum { PCS_SPELLING_BYTES = 128, PCS_NUMBER_BYTES = 40, PCS_PATH_BYTES = 256 };

// Loads a case from a file or from a folder that holds case.yaml. Fails with PCS_BAD_INPUT if it is not a YAML map;
// duplicate keys, anchors, aliases, tags and further documents are collected with the other errors.
pcs_status pcs_case_load(pcs_context *ctx, const char *path, pcs_case **out);
// Parses a case from memory; `name` replaces the file in messages, and paths are relative to its folder.
pcs_status pcs_case_parse(pcs_context *ctx, const char *name, const char *text, size_t size, pcs_case **out);
// Copies a case that has not been changed since it was loaded; the texts stay with `from`, which must outlive the copy.
pcs_status pcs_case_copy(pcs_context *ctx, const pcs_case *from, pcs_case **out);
// Applies "path.to.key=value": the value is parsed as YAML and replaces or adds the key; list items by number from 0.
// Fails only if memory is out; a wrong assignment is collected like any other error.
pcs_status pcs_case_set(pcs_case *c, const char *assignment);

// Writes a word under a key of the case out as the map { type: word }.
void pcs_case_spell_out(pcs_case *c, const char *key);

// Evaluates parameters and formulas and writes repeated entries out: what is left is plain YAML. Comes after all
// assignments and before any reading; errors are collected. Only a lack of memory fails.
pcs_status pcs_case_expand(pcs_case *c);

const char *pcs_case_file(const pcs_case *c);
const char *pcs_case_folder_of(pcs_case *c, const pcs_yaml *node); // of the file that a node came from
const char *pcs_case_name(const pcs_case *c); // of the folder for .../name/case.yaml, else the file's stem
pcs_yaml *pcs_case_root(pcs_case *c);

// Returns the node at "mesh.bar" below a map, NULL if it is absent or null; or its text, "" if absent.
const pcs_yaml *pcs_yaml_at(const pcs_yaml *map, const char *place);
const char *pcs_yaml_string(const pcs_yaml *map, const char *place);

// Returns the child `key` of a map and marks it as known, NULL if absent. Keys that are looked up are those that the
// message about an unknown key lists as allowed.
pcs_yaml *pcs_case_get(pcs_case *c, pcs_yaml *map, const char *key);
// Returns the child `key` of a map; NULL, with an error, if it is absent or of another kind.
pcs_yaml *pcs_case_need(pcs_case *c, pcs_yaml *map, const char *key, pcs_yaml_kind kind, const char *help);
// Returns the index of the key that is given of NULL-terminated names; -1, with an error, if there is none, or if they
// are exclusive and there are several.
int pcs_case_one(pcs_case *c, pcs_yaml *map, const char *const *names, bool are_exclusive);
// Returns the map under `key`, which is added empty if absent; NULL, with an error, if it is of another kind.
pcs_yaml *pcs_case_get_map(pcs_case *c, pcs_yaml *map, const char *key);
// Returns entry i of a map whose keys are names of the user; NULL, with an error, if the name has other characters than
// letters, digits, '_' and '-', or if the entry is not of that kind.
pcs_yaml *pcs_case_entry(pcs_case *c, pcs_yaml *map, int i, pcs_yaml_kind kind);
// Returns true if the node is of that kind. Otherwise adds an error that says what it is.
bool pcs_case_is(pcs_case *c, pcs_yaml *node, pcs_yaml_kind kind);
// Returns the node with this path from the root ("contacts.wall", "initial.0", "initial.<set>"), or an ancestor.
const pcs_yaml *pcs_case_find(pcs_case *c, const char *path);

// Reads the options of the table from a map into `params`, writes the defaults into the tree, and
// records errors. False when any value was wrong (its member then holds the default).
bool pcs_case_read(pcs_case *c, pcs_yaml *map, const pcs_option *table, void *params);
// Returns the index of the value of `key` in NULL-terminated names; -1, with an error, if it is none of them. If the
// key is absent, `preset` is taken, or it is an error if that is NULL.
int pcs_case_choice(pcs_case *c, pcs_yaml *map, const char *key, const char *const *names, const char *preset);
// Returns the index of the required `type` of a map; if it is wrong, the other keys of the map are not checked.
int pcs_case_type(pcs_case *c, pcs_yaml *map, const char *const *names);
// Drops, with a note, keys of the file that do not belong to a `type` given by an assignment; if assignments give
// options too, drops all keys of the file. Call it before the map is read.
void pcs_case_forgive(pcs_case *c, pcs_yaml *map);
// Reports the keys of a map, and below, that no reader has looked up, and drops those that are forgiven.
void pcs_case_judge(pcs_case *c, pcs_yaml *map);
// Returns a finite number within the range; NAN, with an error, if it is none.
double pcs_case_number(pcs_case *c, pcs_yaml *node, pcs_range range);
// Reads three numbers into `value`. False, with an error, if they are wrong.
bool pcs_case_vector(pcs_case *c, pcs_yaml *node, pcs_range range, double value[3]);
// Reads three numbers or formulas of x, y, z; formula[k] is NULL for a number.
bool pcs_case_place_vector(pcs_case *c, pcs_yaml *node, double value[3], const pcs_expression *formula[3]);
// Returns a text that is not empty; NULL, with an error, if it is none.
const char *pcs_case_text(pcs_case *c, pcs_yaml *node);

// Adds an error that begins with the node's path and goes on with the text: "must be ..., is ...".
void pcs_case_reject(pcs_case *c, const pcs_yaml *node, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Adds an error that the node must be `wanted`, with its kind and value. Returns false.
bool pcs_case_want(pcs_case *c, const pcs_yaml *node, const char *wanted);
// Adds an error at option `key` of a map, or at the map if the key is absent; the map's path and ": " come first.
void pcs_case_error_at(pcs_case *c, const pcs_yaml *map, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// Adds an error at option `key`, with its value behind the text.
void pcs_case_fault(pcs_case *c, const pcs_yaml *map, const char *key, const char *fault);
// Joins NULL-terminated names into one text, as many as fit. Returns `buffer`.
const char *pcs_join_names(const char *const *names, const char *separator, size_t size, char *buffer);
// Writes ", did you mean 'x'?" with the nearest of NULL-terminated names, or "". Returns `buffer`.
const char *pcs_spelling_hint(const char *name, const char *const *names, size_t size, char *buffer);

// Replaces the text of a scalar child (a value that was resolved, e.g. `step: auto`); adds it when absent.
pcs_status pcs_case_resolve(pcs_case *c, pcs_yaml *map, const char *key, const char *text);
// Writes the shortest text that reads back to the same bits, in a form that every YAML reader takes for a number.
const char *pcs_case_number_text(double value, char buffer[PCS_NUMBER_BYTES]);
// Writes "> 0", "in [0, 1)", or "" if every number is allowed. Returns `buffer`.
const char *pcs_range_text(pcs_range range, size_t size, char *buffer);

// Adds a line to the notes.
void pcs_case_note(pcs_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Returns notes on what was changed without being an error, a line each; "" for nothing.
const char *pcs_case_notes(const pcs_case *c);
// Gives the paths of keys that an assignment may name to `take`: existing ones, and those that a reader looked for.
typedef void pcs_path_taker(void *user, const char *path);
void pcs_case_paths(pcs_case *c, pcs_path_taker *take, void *user);
// Options of `repeat`.
extern const pcs_option pcs_repeat_options[];

// Returns the version of the libyaml that is linked.
const char *pcs_yaml_version(void);

int pcs_case_error_count(const pcs_case *c);
// Reports every key that was never looked up; returns PCS_BAD_INPUT with all messages, in the order of the file, if
// there are any errors.
pcs_status pcs_case_finish(pcs_case *c);
// Computes a hash of all keys and values as they are now.
pcs_status pcs_case_hash(const pcs_case *c, unsigned long long *hash);
// Returns the tree with all defaults as text that loads again to the same values, made once, in the memory of the
// context. `of_motion`: without keys that do not affect the motion from a given state (title, output, initial, start,
// certify, time.end).
pcs_status pcs_case_dump(pcs_case *c, bool of_motion, char **text);
// Updates a hash (core/archive.h) with the contents of all files that the resolved case names.
pcs_status pcs_case_hash_files(pcs_case *c, unsigned long long *hash);

#endif
