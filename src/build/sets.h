// Sets chosen by the user and nodes that parts of the mesh share, private to this folder.

#ifndef PCS_BUILD_SETS_H
#define PCS_BUILD_SETS_H

#include "build/build.h"

extern const pcs_option pcs_set_options[], pcs_merge_options[];

// Reads `sets` and adds them to the mesh; room for broken ones must be in b->broken.
pcs_status pcs_build_sets(pcs_build *b);
// Reads `merge` and makes one of nodes at the same place.
pcs_status pcs_build_merges(pcs_build *b);

#endif
