// The table of gap types, from gap_list.def.

#include "contact/contact.h"

#define PCS_GAP_TYPE(name) extern const pcs_gap_ops pcs_gap_##name;
#include "contact/gap_list.def"
#undef PCS_GAP_TYPE

const pcs_gap_ops *const pcs_gap_types[] = {
#define PCS_GAP_TYPE(name) &pcs_gap_##name,
#include "contact/gap_list.def"
#undef PCS_GAP_TYPE
    NULL,
};
