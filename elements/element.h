// Finite elements: kernels that work on all cells of one element group at a time.

#ifndef PCS_ELEMENTS_ELEMENT_H
#define PCS_ELEMENTS_ELEMENT_H

#include "core/context.h"
#include "core/obstacle.h"
#include "core/option.h"

#include <stdbool.h>

enum { PCS_MAX_CELL_DOFS = 12, PCS_MAX_CELL_FIELDS = 24 };

// All cells of one group. The kernels read geometry and equation numbers from here.
typedef struct pcs_batch {
    const struct pcs_element_ops *ops;
    const char *name;         // of the element group
    const void *params;       // the element's own parameter struct
    double damping_mass;      // Rayleigh alpha of the group, global part included, 1/s
    double damping_stiffness; // Rayleigh beta, s
    double step;              // s, of the run, for masses that are tuned to it; NAN or 0: not known
    int ncell;
    const int *cells;               // [ncell] numbers in the mesh
    const double (*x)[3];           // [nnode] reference positions
    const int (*nodes)[2];          // [mesh ncell] node numbers, indexed by mesh cell; both equal in a one-node cell
    const int *equation;            // [ncell * ndof] -1 where fixed
    const struct pcs_taper *tapers; // [mesh ncell] sections that vary along the line of the group; NULL: they do not
    void *data;                     // the element's per-cell constants, made by setup
    double *internal;               // [ncell * ninternal] internal variables at the last commit
    double elapsed;                 // s, since that commit, of what is asked for
    bool is_balanced;               // its forces on the equations that move add up to nothing, always; made by setup
    const double *spread;           // [ndof] N, N m at the nodes of the cell asked for, of loads along it; NULL: none
    int low, high;                  // equations asked for, low <= e < high, of elements that take ranges; high 0: all
} pcs_batch;

// The directions of the dofs an element gives to one node of one of its cells.
typedef struct pcs_node_dofs {
    int count;
    double direction[6][3]; // unit vectors; zero: a dof that this cell leaves out, as if it were fixed
    bool is_rotation[6];
    // The rotations are finite: one turns by an angle about its direction; three are a rotation vector in q (axes x, y,
    // z in this order), whose velocity is the material angular velocity. Else they are small and add up.
    bool is_finite;
} pcs_node_dofs;

// Sums over a batch.
typedef struct pcs_energy {
    double momentum[3];       // kg m/s, all mass
    double kinetic;           // J
    double fixed_momentum[3]; // of the momentum, in the equations that supports removed
    double strain;            // J
} pcs_energy;

// Locates the choice of the mass matrix in the parameters, and lists those of its values that schemes ask for.
typedef struct pcs_mass_choice {
    size_t offset; // of an int in the parameters
    int consistent, one_point;
    int automatic; // one of the two, by the scheme; 0: there is no such choice
    int tuned;     // needs the time step; 0: there is no such choice
} pcs_mass_choice;

typedef struct pcs_element_ops {
    const char *name;
    const char *summary;
    const pcs_option *options;
    size_t params_size;
    bool has_section;                    // the case gives a `section`, kept as pcs_section
    size_t section_offset;               // in the parameters
    const struct pcs_section_type *area; // instead of a section: an area, by the element's own parameters
    bool has_orientation;      // its sections are turned in space by a vector; else their y axis lies in the x-y plane
    size_t orientation_offset; // of that vector in the parameters
    pcs_mass_choice mass;
    // Other kernels for these parameters, of an element with the same options, or NULL. NULL: never.
    const struct pcs_element_ops *(*variant)(const void *params);
    // NULL when the parameters are sound, else what is wrong; *option names the culprit. NULL: they always are.
    const char *(*check)(const void *params, const char **option);
    int ndof;                  // per cell, node by node
    bool is_one_node;          // its cells have one node, not two
    bool is_nonlinear;         // its tangents vary
    bool sees_velocity;        // has forces that depend on v even without Rayleigh damping
    bool tumbles;              // is a body whose last three dofs turn it by any rotation, with gyroscopic moments
    bool is_gyroscopic;        // and without that damping C couples the three rotations of a node, its last dofs, alone
    const char *const *fields; // per cell results, ends with NULL
    // Further ones, at the first and the second node in turn, which pictures show at points; or NULL.
    const char *const *end_fields;
    int ninternal; // internal variables of a cell, zero at first: numbers that a step leaves to the next
    bool ages;     // which change with time alone

    // A cell that cannot be (zero length) is a fault that names it.
    pcs_status (*node_dofs)(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out);
    // Per-cell constants, after the equations are numbered.
    pcs_status (*setup)(pcs_context *ctx, pcs_batch *batch);
    // Dense ndof x ndof mass (constant) and stiffness (in the reference state) of one cell; set-up only.
    void (*matrices)(const pcs_batch *batch, int cell, double *M, double *K);
    // The stiffness where it is largest, for the stable step; K stays where that is the one at rest. NULL: always.
    void (*stiffest)(const pcs_batch *batch, int cell, double *K);
    // Returns the travel time, s, of an axial or (in beams) transverse wave through a cell, NULL if it carries none.
    double (*travel_time)(const pcs_batch *batch, int cell, bool is_transverse);
    // f -= internal force (q) + damping force (q, v), all cells.
    void (*add_force)(const pcs_batch *batch, const double *q, const double *v, double *f);
    // The same into f, which holds nothing yet: f = from - internal force - damping force. Of batches whose cells reach
    // all of n equations; NULL: none does.
    void (*put_force)(const pcs_batch *batch, const double *from, const double *q, const double *v, double *f);
    bool (*reaches_all)(const pcs_batch *batch, int n);
    // Do add_force, add_energy and add_change of this batch heed its low and high? Energies are then those of cells
    // whose first equation is asked for. NULL: no.
    bool (*takes_ranges)(const pcs_batch *batch);
    // Stiffness -df/dq and, when C is not NULL, damping -df/dv of one cell, each ndof x ndof, row-major; the columns of
    // finite rotations in space are derivatives by material spins. Asked of elements that are nonlinear or see
    // velocities; C of a linear one is constant, and q and v may be NULL.
    void (*tangents)(const pcs_batch *batch, int cell, const double *q, const double *v, double *K, double *C);
    // Power that all damping forces of (q, v), Rayleigh's included, take along the velocity u, W. Asked of the same
    // elements.
    double (*dissipation)(const pcs_batch *batch, const double *q, const double *v, const double *u);
    // Sums T(v), V(q) and the momentum into *sum.
    void (*add_energy)(const pcs_batch *batch, const double *q, const double *v, pcs_energy *sum);
    // Sums T(v1 - v0) and V(q1 - q0) of a linear element.
    void (*add_change)(const pcs_batch *batch, const double *q0, const double *q1, const double *v0, const double *v1,
                       pcs_energy *sum);
    // Both sums, the state being the second one; of elements that take ranges.
    void (*add_both)(const pcs_batch *batch, const double *const q[2], const double *const v[2], pcs_energy *state,
                     pcs_energy *change);
    // sum += resultant over the free equations of what add_force subtracts, with sign (a force on the body).
    void (*add_resultant)(const pcs_batch *batch, const double *q, const double *v, double sum[3]);
    // The declared fields of one cell (numbered within the batch), then those at its ends: of elements that have such,
    // equilibrium with the batch's `spread`.
    void (*read_fields)(const pcs_batch *batch, int cell, const double *q, const double *v,
                        double field[PCS_MAX_CELL_FIELDS]);
    // Returns the energy lost from the last commit to (q, elapsed), J; and stores the internal variables there in the
    // batch. Kernels of elements with internal variables integrate from the commit to there in one increment.
    double (*internal_loss)(const pcs_batch *batch, const double *q);
    void (*commit)(const pcs_batch *batch, const double *q);
    // Fills `*out` (zeroed by the caller) with part 0, 1, ... to draw at the node of a one-node cell; returns false if
    // there is no such part. NULL if nothing but the cells is drawn.
    bool (*show)(const void *params, int part, pcs_obstacle *out);
    // Arms from the nodes of a cell to its ends, in the reference state, which turn with the nodes; `span` is the
    // vector from the first node to the second. Do they turn by finite angles? NULL: the nodes are its ends.
    bool (*arms)(const void *params, const double span[3], double arm[2][3]);
    // Arms from the nodes of a cell to the ends of its mass, in the reference state. NULL: the nodes are its ends.
    void (*mass_arms)(const void *params, double arm[2][3]);
} pcs_element_ops;

static inline const char *const *pcs_end_fields(const pcs_element_ops *ops)
{
    static const char *const none[] = { NULL };
    return ops->end_fields == NULL ? none : ops->end_fields;
}

extern const pcs_element_ops *const pcs_elements[]; // ends with NULL

#endif
