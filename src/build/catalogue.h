// The catalogue of what a case can be made of, as text for `percuss list` and the documentation.

#ifndef PCS_BUILD_CATALOGUE_H
#define PCS_BUILD_CATALOGUE_H

#include "core/context.h"
#include "core/option.h"

#include <stdbool.h>

typedef struct pcs_catalogue {
    void (*put)(void *user, const char *text); // receives the text piece by piece
    void *user;
    const char *name; // name of the parts wanted, or of a section of the case with all its parts; NULL for all
    bool is_markdown;
    int width; // columns of the screen, at which lines are broken; 0 for no breaks
    // Filled while it is written: the last heading, NULL if none, and the number of entries.
    const char *heading;
    int count;
} pcs_catalogue;

// A key of a case, or a part that it can choose. Entries of one heading follow one another.
typedef struct pcs_catalogue_entry {
    const char *heading;
    const char *section; // section of the case, "contacts"; NULL if the name begins with it
    const char *name, *summary;
    const pcs_option *options, *more; // each ends with a NULL name, NULL if absent
} pcs_catalogue_entry;

typedef void pcs_catalogue_visit(void *user, const pcs_catalogue_entry *entry);
// Visits all keys and parts, in the order of `percuss list`.
pcs_status pcs_catalogue_walk(pcs_catalogue_visit *visit, void *user);

// Writes every registered part with its options, ranges and defaults. Returns the number of parts.
int pcs_catalogue_write(pcs_catalogue *self);

// Writes the system of a plug-in with its parameters. Fails with PCS_BAD_INPUT if the file holds none.
pcs_status pcs_catalogue_write_plugin(pcs_context *ctx, pcs_catalogue *self, const char *path);
// Writes the JSON schema of a case file.
pcs_status pcs_catalogue_write_schema(pcs_context *ctx, const pcs_catalogue *self);
// Lists the names of all parts and sections, which end with NULL, and their summaries.
enum { PCS_CATALOGUE_MOST = 256 };
typedef struct pcs_catalogue_names {
    int count;
    const char *name[PCS_CATALOGUE_MOST + 1], *summary[PCS_CATALOGUE_MOST + 1];
} pcs_catalogue_names;
void pcs_catalogue_list(pcs_catalogue_names *out);

// Texts about a kind of options: its name for programs, what a list shows, the beginning of its schema, with ' in place
// of " and NULL where the option has all of it.
typedef struct pcs_kind_texts {
    const char *name, *shown, *json;
} pcs_kind_texts;
extern const pcs_kind_texts pcs_option_kinds[];

#endif
