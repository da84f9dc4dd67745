// The sections of a case, a file each, in the order in which they are read; private to this folder.

#ifndef PCS_BUILD_SECTIONS_H
#define PCS_BUILD_SECTIONS_H

#include "analysis/analysis.h"
#include "build/builder.h"

// Reading. Faults other than bad input are returned; bad input is collected in the case.
pcs_status pcs_build_system(pcs_build *b); // makes the system at once when its section is right
pcs_status pcs_build_mesh(pcs_build *b);
// `cells` of a part that is a line become its number of elements.
pcs_status pcs_build_travel(pcs_build *b, const char *part, pcs_yaml *node, pcs_yaml *cells);
// `sets` are added to the mesh; room for broken ones must be in b->broken. `merge` makes one of nodes at the same
// place.
pcs_status pcs_build_sets(pcs_build *b);
pcs_status pcs_build_merges(pcs_build *b);
pcs_status pcs_build_groups(pcs_build *b);
pcs_status pcs_build_supports(pcs_build *b);
pcs_status pcs_build_initials(pcs_build *b);
pcs_status pcs_build_loads(pcs_build *b);
// Under `key` of a load or a joint; it may be absent.
pcs_status pcs_build_amplitude(pcs_build *b, pcs_yaml *owner, const char *key, pcs_amplitude *out);
// Finite over the time of the run? An error of the case otherwise.
pcs_status pcs_build_sample_formulas(pcs_build *b);
pcs_status pcs_build_contacts(pcs_build *b);
pcs_status pcs_build_joints(pcs_build *b);
pcs_status pcs_build_scheme(pcs_build *b);
pcs_status pcs_build_masses(pcs_build *b); // mass matrices that the scheme asks for
pcs_status pcs_build_time(pcs_build *b);
pcs_status pcs_build_output(pcs_build *b);
// Will every rank show its piece of a mesh of so many nodes? Asked before observers are read, for then no rank makes
// the whole mesh.
bool pcs_build_shows_pieces(pcs_build *b, int nnode);
pcs_status pcs_build_start(pcs_build *b);
pcs_status pcs_build_statics(pcs_build *b);

// The definition that a shared object holds; it is closed with the context. PCS_BAD_INPUT: there is none.
struct percuss_system_definition;
pcs_status pcs_system_open(pcs_context *ctx, const char *path, const struct percuss_system_definition **out);

// Building, when all of that went well.
pcs_status pcs_build_clock(pcs_build *b);           // step size and number of steps, with the stable step
pcs_status pcs_build_state(pcs_build *b);           // initial values
pcs_status pcs_build_check_gaps(pcs_build *b);      // of the initial state
pcs_status pcs_build_questions(pcs_build *b);       // values that are possible and unlikely
pcs_status pcs_build_probes(pcs_build *b);          // columns
pcs_status pcs_build_check_observers(pcs_build *b); // against the model
pcs_status pcs_build_check_joints(pcs_build *b);    // against the initial state and one another
pcs_status pcs_build_solvers(pcs_build *b);
pcs_status pcs_build_equilibrium(pcs_build *b); // in place of the initial displacements, where the case asks for it

// Columns for all coordinates of a closed-form system and their velocities, appended to the probes.
pcs_status pcs_build_coordinate_probes(pcs_build *b, pcs_probe *probes, int *count);
// What an analysis needs of what was built.
pcs_status pcs_build_still(pcs_build *b, pcs_analysis *out);

#endif
