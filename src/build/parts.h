// The parts of a mesh as the case states them; private to this folder.

#ifndef PCS_BUILD_PARTS_H
#define PCS_BUILD_PARTS_H

#include "build/sections.h"

typedef struct pcs_build_part {
    const char *name;
    const pcs_yaml *node;
    const pcs_mesh_source_ops *source; // NULL: the case is wrong
    void *params;
} pcs_build_part;

typedef struct pcs_build_parts {
    int count;
    pcs_build_part *part; // [count]
} pcs_build_parts;

// Over several ranks. Can they build the mesh each for itself?
bool pcs_spread_takes(pcs_build *b, const pcs_build_parts *parts);
// Then this is b->mesh with all sets of the case.
pcs_status pcs_spread_build(pcs_build *b, pcs_build_parts *parts);
// Else the first rank has the whole as b->mesh, and `side` is all the memory of that: all get their parts as b->mesh.
pcs_status pcs_spread_cut(pcs_build *b, pcs_context **side);
// Deals b->mesh out, which all ranks have and keep.
pcs_status pcs_spread_keep(pcs_build *b);

#endif
