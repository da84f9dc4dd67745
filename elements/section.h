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
    double torsion;                      // Saint-Venant's torsion constant, m^4
    double ky, kz;                       // shear factors along y and z
    double cy, cz;                       // distance of the outermost fibre along y and z, m
    bool is_round;                       // equal in all directions, without corners
    const struct pcs_section_line *line; // profiles along the line; NULL if constant
} pcs_section;

typedef struct pcs_section_type {
    const char *name;
    const char *summary;
    const pcs_option *options;
    size_t params_size;
    // Returns NULL if the parameters are valid, else the fault; *option names the key.
    const char *(*check)(const void *params, const char **option);
    // Computes the section from the `value` of each profile among the parameters.
    void (*constants)(const void *params, pcs_section *out);
} pcs_section_type;

// Holds a type with parameters, some of which vary.
typedef struct pcs_section_line {
    const pcs_section_type *type;
    const void *params;
} pcs_section_line;

extern const pcs_section_type *const pcs_section_types[]; // ends with NULL

enum { PCS_SECTION_BYTES = 512 }; // enough for the parameters of any type

bool pcs_section_varies(const pcs_section_type *type, const void *params);
// Evaluates the parameters at s, m, on a line of this length; at a step those behind it, or before it if `is_before`.
void pcs_section_params_at(const pcs_section_line *line, double length, double s, bool is_before, void *out);
// Evaluates the section there.
void pcs_section_at(const pcs_section_line *line, double length, double s, bool is_before, pcs_section *out);
// Returns the next position beyond s, m, where some size has a corner or step; INFINITY if there is none.
double pcs_section_next(const pcs_section_line *line, double length, double s);

#endif
