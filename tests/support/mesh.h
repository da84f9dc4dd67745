// Parts of a mesh from the text of a case, as its `mesh` section would hold them.

#ifndef TESTS_SUPPORT_MESH_H
#define TESTS_SUPPORT_MESH_H

#include "support/model.h"

// The source of that type and its parameters, which must be right.
const pcs_mesh_source_ops *mesh_source(model *m, const char *type, const char *options, void **params);

// Makes a part of the given type, options as a YAML map: "{ at: [0, 0, 1] }". Gives the fault; `told` (may be NULL)
// receives the sentence of the source's own check, which then is PCS_BAD_INPUT.
pcs_status mesh_try(model *m, const char *type, const char *name, const char *options, const char **reported);
// The same where it must work.
void mesh_make(model *m, const char *type, const char *name, const char *options);

// Every number in cells and sets belongs to something, no set holds an item twice, no line is without length.
void mesh_check_sound(const pcs_mesh *mesh);
// Largest distance between the numbers of two nodes of a cell.
int mesh_bandwidth(const pcs_mesh *mesh);
// Does the set hold exactly these items in this order?
bool mesh_set_is(const pcs_set *set, int count, const int *items);

#endif
