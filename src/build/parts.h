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
// Else deals b->mesh, which is whole and whose memory is `side` alone, out; without `side` all of it stays.
pcs_status pcs_spread_deal(pcs_build *b, pcs_context **side);

#endif
