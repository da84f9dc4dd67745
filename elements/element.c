// The table of elements.

#include "elements/element.h"

#define PCS_ELEMENT(name, file) extern const pcs_element_ops pcs_element_##name;
#include "elements/element_list.def"
#undef PCS_ELEMENT

const pcs_cell_state *const pcs_stiffest = &(const pcs_cell_state){ 0 };

const pcs_element_ops *const pcs_elements[] = {
#define PCS_ELEMENT(name, file) &pcs_element_##name,
#include "elements/element_list.def"
#undef PCS_ELEMENT
    NULL,
};
