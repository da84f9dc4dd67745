// Mass and inertia tensor of a body, as options, for the elements that carry them.

#ifndef PCS_ELEMENTS_INERTIA_H
#define PCS_ELEMENTS_INERTIA_H

#include "elements/element.h"

// Rows of an option table for a parameter struct with the members mass, inertia[3] and products[3].
#define PCS_INERTIA_OPTIONS(type)                                                                    \
    { .name = "mass",                                                                                \
      .kind = PCS_OPTION_REAL,                                                                       \
      .help = "kg",                                                                                  \
      .offset = offsetof(type, mass),                                                                \
      .is_required = true,                                                                           \
      .range = PCS_POSITIVE },                                                                       \
        { .name = "inertia",                                                                         \
          .kind = PCS_OPTION_VECTOR,                                                                 \
          .help = "[Jx, Jy, Jz] about the axes through the node in the reference state, kg m^2",     \
          .offset = offsetof(type, inertia),                                                         \
          .is_required = true,                                                                       \
          .range = PCS_POSITIVE },                                                                   \
    {                                                                                                \
        .name = "products", .kind = PCS_OPTION_VECTOR,                                               \
        .help = "[Jxy, Jyz, Jzx], the other entries of the tensor (Jxy = -integral x y dm), kg m^2", \
        .offset = offsetof(type, products), .preset = "[0, 0, 0]", .range = PCS_ANY_NUMBER           \
    }

// Row-major tensor.
void pcs_inertia_tensor(const double inertia[3], const double products[3], double J[9]);

// A tensor that is not positive definite is a fault that names the cell.
pcs_status pcs_inertia_check(pcs_context *ctx, const pcs_batch *batch, int cell, const double J[9]);

#endif
