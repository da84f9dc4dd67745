// The table of schemes, from scheme_list.def.

#include "schemes/scheme.h"

#define PCS_SCHEME(name, file) extern const pcs_scheme_ops pcs_scheme_##name;
#include "schemes/scheme_list.def"
#undef PCS_SCHEME

const pcs_scheme_ops *const pcs_schemes[] = {
#define PCS_SCHEME(name, file) &pcs_scheme_##name,
#include "schemes/scheme_list.def"
#undef PCS_SCHEME
    NULL,
};
