// The catalogue of what a case can be made of, as text for `percuss list` and the documentation.

#ifndef PCS_BUILD_CATALOGUE_H
#define PCS_BUILD_CATALOGUE_H

#include "core/context.h"
#include "core/option.h"

#include <stdbool.h>

typedef struct pcs_catalogue {
    void (*put)(void *user, const char *text); // gets the text piece by piece
    void *user;
    const char *name; // of the parts that are wanted, or of a section of the case with all its parts; NULL: all
    bool is_markdown;
    int width; // columns of the screen, at which lines are broken; 0: they are not
} pcs_catalogue;

// A key of a case, or a part that it can choose. Entries of one heading follow one another.
typedef struct pcs_catalogue_entry {
    const char *heading;
    const char *section; // of the case: "contacts"; NULL: the name begins with it
    const char *name, *summary;
    const pcs_option *options, *more; // each ends with a NULL name; NULL: none
} pcs_catalogue_entry;

typedef void pcs_catalogue_visit(void *user, const pcs_catalogue_entry *entry);
// All of them, in the order of `percuss list`.
pcs_status pcs_catalogue_walk(pcs_catalogue_visit *visit, void *user);

// Every registered part with its options, ranges and defaults. Gives the number of parts.
int pcs_catalogue_write(const pcs_catalogue *self);

// The system of a plug-in, with its parameters. PCS_BAD_INPUT: there is none in the file.
pcs_status pcs_catalogue_write_plugin(pcs_context *ctx, const pcs_catalogue *self, const char *path);
// The JSON schema of a case file.
pcs_status pcs_catalogue_write_schema(pcs_context *ctx, const pcs_catalogue *self);
// Gives the names of all parts and sections to `take`.
void pcs_catalogue_names(void (*take)(void *user, const char *name, const char *summary), void *user);
// ", did you mean 'x'?" for a name that nothing has, or "".
const char *pcs_catalogue_hint(const char *name, size_t size, char *buffer);

// Which scheme takes which system, and why not; nothing where the name is not that of a scheme.
void pcs_catalogue_write_applies(const pcs_catalogue *self);

#endif
