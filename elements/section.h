// Cross sections of beams: areas and moments from shapes, or given as numbers.
//
// Local axes: x along the beam, y the height, z the width of the section. Sizes may vary along the line of cells that
// a group of elements makes.

#ifndef PCS_ELEMENTS_SECTION_H
#define PCS_ELEMENTS_SECTION_H

#include "core/option.h"

#include <stdbool.h>

typedef struct pcs_section {
    double area;                         // m^2
    double Iy, Iz;                       // m^4, bending about y (deflection along z) and about z (deflection along y)
    double torsion;                      // m^4, of Saint-Venant
    double ky, kz;                       // shear factors along y and z
    double cy, cz;                       // m, outermost fibre along y and z
    bool is_round;                       // that far in all directions: it has no corners
    const struct pcs_section_line *line; // how it varies; NULL: it is the same everywhere
} pcs_section;

typedef struct pcs_section_type {
    const char *name;
    const char *summary;
    const pcs_option *options;
    size_t params_size;
    // NULL when the parameters are sound, else what is wrong; *option names the culprit.
    const char *(*check)(const void *params, const char **option);
    // From the `value` of each profile among the parameters.
    void (*constants)(const void *params, pcs_section *out);
} pcs_section_type;

// A type with parameters some of which vary.
typedef struct pcs_section_line {
    const pcs_section_type *type;
    const void *params;
} pcs_section_line;

extern const pcs_section_type *const pcs_section_types[]; // ends with NULL

enum { PCS_SECTION_BYTES = 512 }; // room for the parameters of any type

bool pcs_section_varies(const pcs_section_type *type, const void *params);
// The parameters at a way s along a line of this length; at a step those behind it, or before it with `is_before`.
void pcs_section_params_at(const pcs_section_line *line, double length, double s, bool is_before, void *out);
// And the section there.
void pcs_section_at(const pcs_section_line *line, double length, double s, bool is_before, pcs_section *out);
// The next place beyond s where some size has a corner or step; INFINITY: none.
double pcs_section_next(const pcs_section_line *line, double length, double s);

#endif
