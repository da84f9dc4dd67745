// Cross sections of beams: areas and moments from shapes, or given as numbers.
//
// Local axes: x along the beam, y the height, z the width of the section. Sizes may vary along the line of cells that
// a group of elements makes.

#ifndef PCS_ELEMENTS_SECTION_H
#define PCS_ELEMENTS_SECTION_H

#include "core/option.h"
#include "elements/element.h"

#include <stdbool.h>

typedef struct pcs_section {
    double area;                         // m^2
    double Iy, Iz;                       // m^4, bending about y (deflection along z) and about z (deflection along y)
    double torsion;                      // Saint-Venant's torsion constant, m^4
    double ky, kz;                       // shear factors along y and z
    double cy, cz;                       // distance of the outermost fibre along y and z, m
    bool is_round;                       // equal stiffness in all directions, without corners
    const struct pcs_section_line *line; // profiles along the line; NULL if constant
} pcs_section;

typedef struct pcs_section_type {
    const char *name;
    const char *summary;
    const pcs_option *options;
    size_t params_size;
    // Returns NULL if the parameters are valid, else the error; *option names the key.
    const char *(*check)(const void *params, const char **option);
    // Computes the section from the `value` of each profile among the parameters.
    void (*constants)(const void *params, pcs_section *out);
} pcs_section_type;

// A section type with its parameters, some of which may vary.
typedef struct pcs_section_line {
    const pcs_section_type *type;
    const void *params;
} pcs_section_line;

extern const pcs_section_type *const pcs_section_types[]; // ends with NULL

enum { PCS_SECTION_BYTES = 512 }; // enough for the parameters of any type

bool pcs_section_varies(const pcs_section_type *type, const void *params);
// Evaluates the parameters at s, m, on a line of this length. At a step: values after it, or before it if `is_before`.
void pcs_section_params_at(const pcs_section_line *line, double length, double s, bool is_before, void *out);
// Returns the next position beyond s, m, where some size has a corner or step. INFINITY if there is none.
double pcs_section_next(const pcs_section_line *line, double length, double s);

// A section that varies along a line of cells, integrated over each of them.
//
// xi goes from 0 at the first node of a cell to 1 at the second. Integrals are exact where sizes are polynomials of xi
// (Gauss points between corners and steps of the profiles, eight to a piece), and to round-off where they are divided
// by: a piece over which some constant of the section grows more than twofold is halved.

typedef struct pcs_taper {
    double from, to, length; // m, positions of the cell's ends on the line, and length of the line
    bool is_uniform;         // constant section along the cell
    pcs_section mean;        // mean areas and moments; ky and kz such that area ky and area kz are means, too
    pcs_section end[2];      // at the nodes
    double area[3];          // integrals of A (1-xi)^2, A xi (1-xi), A xi^2 over that of A
    double Iy[3], Iz[3];     // the same with Iy and Iz
    double axial, twist;     // inverse of the integrals of 1/A and 1/torsion
    double bend[2][3];       // integrals of (1-xi)^2/I, xi (1-xi)/I, xi^2/I, with Iz, then with Iy
    double shear[2];         // integrals of 1/(A ky), 1/(A kz)
} pcs_taper;

// Finds the section of a group of elements. Returns false if it has none. line->params is NULL if it is constant.
bool pcs_taper_line(const pcs_element_ops *ops, const void *params, pcs_section_line *line);

// Computes all members but the first three, which are given.
void pcs_taper_make(const pcs_section_line *line, pcs_taper *taper);

// Holds the integration points of a piece of a cell; the weights of all pieces sum to 1.
enum { PCS_TAPER_POINTS = 8 };
typedef struct pcs_taper_piece {
    double size; // of the piece, relative to the cell
    double xi[PCS_TAPER_POINTS], weight[PCS_TAPER_POINTS];
    pcs_section section[PCS_TAPER_POINTS];
} pcs_taper_piece;

// Calls `visit` for the pieces of a cell, from its first node on.
typedef void pcs_taper_visit(void *user, const pcs_taper_piece *piece);
void pcs_taper_walk(const pcs_section_line *line, const pcs_taper *taper, pcs_taper_visit *visit, void *user);

// Computes out_i, the integral of f over xi from the start of the piece to its point i, f given at the points. Returns
// the integral over the piece.
double pcs_taper_run(const pcs_taper_piece *piece, const double f[PCS_TAPER_POINTS], double out[PCS_TAPER_POINTS]);

// Returns the taper of a cell of the batch. NULL if the section is constant.
static inline const pcs_taper *pcs_taper_of(const pcs_batch *batch, int cell)
{
    return batch->tapers == NULL ? NULL : &batch->tapers[batch->cells[cell]];
}

// Returns the mean section of a cell of beams.
const pcs_section *pcs_taper_section(const pcs_batch *batch, int cell);
// Returns the section at an end of it, 0 or 1.
const pcs_section *pcs_taper_end(const pcs_batch *batch, int cell, int end);
// Returns the largest stress, N/m^2, of bending moments at the ends of a mesh cell: |about_z| cy/Iz and |about_y| cz/Iy
// add up at a corner, and as sides of a right angle in a round section; in the plane about_y is NULL.
double pcs_taper_stress(const pcs_batch *batch, int mesh_cell, const double about_z[2], const double about_y[2]);

// Holds the nodes' coefficients of a mass that is spread along a cell, over its sum: [first cross; cross last] for
// linear velocities.
typedef struct pcs_shares {
    double first, cross, last;
} pcs_shares;

// Takes the integrals of the mass in a taper, NULL if it is uniform; lumped by the sums of the rows.
static inline pcs_shares pcs_share(const double taper[3], bool is_lumped)
{
    static const double even[3] = { 1.0 / 3.0, 1.0 / 6.0, 1.0 / 3.0 };
    const double *x = taper == NULL ? even : taper;
    return is_lumped ? (pcs_shares){ x[0] + x[1], 0.0, x[1] + x[2] } : (pcs_shares){ x[0], x[1], x[2] };
}

// Computes the unit direction of a cell in the x-y plane. Returns its length, m.
double pcs_beam_plane_axis(const pcs_batch *batch, int cell, double axis[2]);

// Computes the local axes of a span, the rows of R: x along the span, y in the plane of x and `orientation`, z = x
// cross y. Returns its length, m. *sine is that of the angle between both. The second takes the span of a cell.
double pcs_beam_frame(const double span[3], const double orientation[3], double R[3][3], double *sine);
double pcs_beam_space_frame(const pcs_batch *batch, int cell, const double orientation[3], double R[3][3],
                            double *sine);

#endif
