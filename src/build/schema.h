// The maps of a case file and the keys that each of them may have, for its JSON schema; private to this folder.

#ifndef PCS_BUILD_SCHEMA_H
#define PCS_BUILD_SCHEMA_H

#include "core/context.h"
#include "core/option.h"

struct pcs_schema_map;

// A part of a registry: what `type: name` brings.
typedef struct pcs_schema_part {
    const char *name, *summary;
    const pcs_option *options;
    const struct pcs_schema_key *keys; // besides the options; NULL: none
    const char *const *one;            // exactly one of these keys is there; NULL: no such rule
} pcs_schema_part;

// Part i of a registry; false: there is none.
typedef bool pcs_schema_parts(pcs_context *ctx, int i, pcs_schema_part *out);

// A key that its reader looks up without an option table. One of `value`, `parts` and `map` says what it may be; with
// both `value` and `map` it is either.
typedef struct pcs_schema_key {
    const char *name; // NULL ends a table
    const char *help;
    bool is_required;
    const char *value;                // members of a JSON schema
    pcs_schema_parts *parts;          // auto, or the name of one of these
    const struct pcs_schema_map *map; // a map of its own
    const char *gives;                // option, required otherwise, that follows from this key; NULL: none
} pcs_schema_key;

typedef enum pcs_schema_form {
    PCS_SCHEMA_KEYS,  // keys and options
    PCS_SCHEMA_TYPES, // the same, and those of the part that `type` names
    PCS_SCHEMA_PARTS, // the same, and a key for each part, with a map of its options or false
    PCS_SCHEMA_NAMES, // names that the author chooses, with a map each
    PCS_SCHEMA_LIST   // no map but a list of them
} pcs_schema_form;

typedef struct pcs_schema_map {
    const char *name; // within the schema
    pcs_schema_form form;
    bool is_entry; // of a list or of names: it may be repeated
    const pcs_schema_key *keys;
    const pcs_option *options;
    pcs_schema_parts *parts;
    const struct pcs_schema_map *entry;
    const char *const *one;  // exactly one of these keys is there; NULL: no such rule
    const char *const *some; // at least one; NULL: no such rule
    const char *stands_for;  // key in whose presence `type` is absent and others are not judged; NULL: none
} pcs_schema_map;

extern const pcs_schema_map *const pcs_schema_maps[]; // the whole case first; ends with NULL

#endif
