// What a case can be made of, as text for `percuss list` and the documentation.

#ifndef PCS_BUILD_CATALOGUE_H
#define PCS_BUILD_CATALOGUE_H

#include <stdbool.h>

typedef struct pcs_catalogue {
    void (*put)(void *user, const char *text); // gets the text piece by piece
    void *user;
    const char *name; // of the parts that are wanted; NULL: all
    bool is_markdown;
} pcs_catalogue;

// Every registered part with its options, ranges and defaults. Gives the number of parts.
int pcs_catalogue_write(const pcs_catalogue *self);

// Which scheme takes which system, and why not; nothing where the name is not that of a scheme.
void pcs_catalogue_write_applies(const pcs_catalogue *self);

void pcs_catalogue_print(const pcs_catalogue *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Is a part of this name wanted?
bool pcs_catalogue_wants(const pcs_catalogue *self, const char *name);

#endif
