// Cross sections of beams: areas and moments from shapes, or given as numbers.
//
// Local axes: x along the beam, y the height, z the width of the section.

#ifndef PCS_ELEMENTS_SECTION_H
#define PCS_ELEMENTS_SECTION_H

#include "core/option.h"

typedef struct pcs_section {
    double area;    // m^2
    double Iy, Iz;  // m^4, bending about y (deflection along z) and about z (deflection along y)
    double torsion; // m^4, of Saint-Venant
    double ky, kz;  // shear factors along y and z
    double cy, cz;  // m, outermost fibre along y and z
} pcs_section;

typedef struct pcs_section_type {
    const char *name;
    const char *summary;
    const pcs_option *options;
    size_t params_size;
    // NULL when the parameters are sound, else what is wrong; *option names the culprit.
    const char *(*check)(const void *params, const char **option);
    void (*constants)(const void *params, pcs_section *out);
} pcs_section_type;

extern const pcs_section_type *const pcs_section_types[]; // ends with NULL

#endif
