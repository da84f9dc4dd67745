// What the linear beams share: options of the material, and the turn from local to global axes.

#ifndef PCS_ELEMENTS_BEAM_H
#define PCS_ELEMENTS_BEAM_H

#include "elements/modal.h"

enum { PCS_BEAM_CONSISTENT, PCS_BEAM_LUMPED };

extern const char *const pcs_beam_masses[]; // names of the two

// Rows of an option table for a parameter struct with the members E, nu, rho and mass.
#define PCS_BEAM_OPTIONS(type)                                                                            \
    { .name = "E",                                                                                        \
      .kind = PCS_OPTION_REAL,                                                                            \
      .help = "Young's modulus, N/m^2",                                                                   \
      .offset = offsetof(type, E),                                                                        \
      .is_required = true,                                                                                \
      .range = PCS_POSITIVE },                                                                            \
        { .name = "nu",                                                                                   \
          .kind = PCS_OPTION_REAL,                                                                        \
          .help = "Poisson's ratio; G = E/(2 (1 + nu))",                                                  \
          .offset = offsetof(type, nu),                                                                   \
          .is_required = true,                                                                            \
          .range = { -1.0, 0.5, true, false } },                                                          \
        { .name = "rho",                                                                                  \
          .kind = PCS_OPTION_REAL,                                                                        \
          .help = "density, kg/m^3",                                                                      \
          .offset = offsetof(type, rho),                                                                  \
          .is_required = true,                                                                            \
          .range = PCS_POSITIVE },                                                                        \
    {                                                                                                     \
        .name = "mass", .kind = PCS_OPTION_CHOICE, .help = "mass matrix", .offset = offsetof(type, mass), \
        .preset = "consistent", .choices = pcs_beam_masses                                                \
    }

// B and M of the kind from their local forms; every three dofs turn with R, whose rows are the local axes.
void pcs_beam_turn(int ndof, int nmode, const double R[3][3], const double *local_B, const double *local_M,
                   pcs_modal_kind *kind);

#endif
