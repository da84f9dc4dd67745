// The table of mesh sources, from mesh_source_list.def.

#include "mesh/mesh.h"

#define PCS_MESH_SOURCE(name) extern const pcs_mesh_source_ops pcs_mesh_##name;
#include "mesh/mesh_source_list.def"
#undef PCS_MESH_SOURCE

const pcs_mesh_source_ops *const pcs_mesh_sources[] = {
#define PCS_MESH_SOURCE(name) &pcs_mesh_##name,
#include "mesh/mesh_source_list.def"
#undef PCS_MESH_SOURCE
    NULL,
};
