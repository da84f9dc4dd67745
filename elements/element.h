// Finite elements: kernels that work on all cells of one element group at a time.

#ifndef PCS_ELEMENTS_ELEMENT_H
#define PCS_ELEMENTS_ELEMENT_H

#include "core/context.h"
#include "core/obstacle.h"
#include "core/option.h"

#include <stdbool.h>

enum { PCS_MAX_CELL_DOFS = 12, PCS_MAX_CELL_FIELDS = 24 };

// Holds all cells of one group, constant after setup. The kernels read geometry and equation numbers from here.
typedef struct pcs_batch {
    const struct pcs_element_ops *ops;
    const char *name;         // of the element group
    const void *params;       // the element's own parameter struct
    double damping_mass;      // Rayleigh alpha of the group, global part included, 1/s
    double damping_stiffness; // Rayleigh beta, s
    double step;              // of the run, s, for masses tuned to it; NAN or 0 if unknown
    int ncell;
    const int *cells;               // [ncell] numbers in the mesh
    const double (*x)[3];           // [nnode] reference positions, m
    const int (*nodes)[2];          // [mesh ncell] node numbers, indexed by mesh cell; one-node cells have it twice
    const int *equation;            // [ncell * ndof] -1 if fixed
    const struct pcs_taper *tapers; // [mesh ncell] variable sections along the line of the group; NULL if constant
    double *internal;               // [ncell * ninternal] internal variables at the last commit
    // Computed by setup:
    void *data;         // per-cell constants of the element
    bool takes_ranges;  // force and measure respect `low` and `high` of a state
    bool is_gyroscopic; // C couples only the three rotations of a node, its last dofs
    bool tumbles;       // bodies whose last three dofs are a finite rotation in space, with gyroscopic moments
} pcs_batch;

// The state in which kernels are evaluated. Members that a kernel does not need may be zero.
typedef struct pcs_cell_state {
    const double *q, *v;     // [equations]
    const double *q0, *v0;   // an earlier state, for changes
    const double *along;     // velocity along which damping forces do work
    double elapsed;          // time since the last commit, s
    int low, high;           // equations low <= e < high to evaluate, if the batch takes ranges; high is 0 for all
    const double *line_load; // [ndof] nodal loads along the cell to evaluate, N and N m; NULL if absent
} pcs_cell_state;

// Holds the directions of the dofs that an element gives to one node of one of its cells.
typedef struct pcs_node_dofs {
    int count;
    double direction[6][3]; // unit vectors; zero for a dof that this cell does not use, as if it were fixed
    bool is_rotation[6];
    // The rotations are finite. One rotates by an angle about its direction. Three are a rotation vector in q (axes x,
    // y, z in this order), whose velocity is the material angular velocity. Otherwise they are small and add up.
    bool is_finite;
} pcs_node_dofs;

// Selects the sums to measure.
enum {
    PCS_CELL_ENERGY = 1,    // kinetic and strain energy, momenta; in a range: of cells that begin in it
    PCS_CELL_CHANGE = 2,    // energies of the difference from (q0, v0), of linear elements
    PCS_CELL_RESULTANT = 4, // of the forces on the body
    PCS_CELL_POWER = 8,     // of damping forces, for elements that are nonlinear or depend on velocities
    PCS_CELL_LOSS = 16,     // of materials with internal variables
};

// Holds sums over a batch.
typedef struct pcs_cell_sums {
    double momentum[3];                         // kg m/s, all mass
    double kinetic;                             // J
    double fixed_momentum[3];                   // part of the momentum in equations that supports removed, kg m/s
    double strain;                              // J
    double change_in_kinetic, change_in_strain; // T(v - v0), V(q - q0), J
    double resultant[3];                        // N, over the free equations
    double power;                               // W, dissipated by all damping forces, including Rayleigh's
    double loss;                                // J, since the last commit
} pcs_cell_sums;

static inline void pcs_cell_add_sums(pcs_cell_sums *sum, const pcs_cell_sums *part)
{
    const double *from = (const double *)part;
    for (size_t i = 0; i < sizeof *sum / sizeof *from; i++) ((double *)sum)[i] += from[i];
}

// Locates the choice of the mass matrix in the parameters, and lists values that schemes can ask for.
typedef struct pcs_mass_choice {
    size_t offset; // offset of an int in the parameters
    int consistent, one_point;
    int automatic; // one of the two, chosen by the scheme; 0 if absent
    int tuned;     // value that needs the time step; 0 if absent
} pcs_mass_choice;

// Parts of a cell that are not at its nodes, in the reference state.
typedef struct pcs_cell_outline {
    double arm[2][3];  // m, from the nodes to the ends of the cell and of its mass, which rotate with the nodes
    bool is_finite;    // by finite angles
    pcs_obstacle disc; // to draw at the node of a one-node cell; of kind PCS_OBSTACLE_NONE if absent
} pcs_cell_outline;

typedef struct pcs_element_ops {
    const char *name;
    const char *summary;
    const pcs_option *options;
    size_t params_size;
    size_t section_offset;               // offset of a pcs_section in the parameters; 0 if there is none
    const struct pcs_section_type *area; // area in place of a section, from the element's own parameters
    size_t orientation_offset;           // offset of the vector that orients sections in space; 0: y in the x-y plane
    pcs_mass_choice mass;
    // Returns other kernels for these parameters, of an element with the same options, or NULL. May be NULL.
    const struct pcs_element_ops *(*variant)(const void *params);
    // Returns NULL if the parameters are valid, else the error; *option names the key. The function may be NULL.
    const char *(*check)(const void *params, const char **option);
    int nnode, ndof;           // nodes (1 or 2) and dofs of a cell, node by node
    bool is_nonlinear;         // tangents depend on the state
    bool sees_velocity;        // forces depend on v even without Rayleigh damping
    const char *const *fields; // results per cell, ends with NULL
    // Lists fields at the first and the second node in turn, which pictures show at points, or NULL.
    const char *const *end_fields;
    const struct pcs_modal_form *modal; // of linear cells (elements/modal.h); NULL for others
    int ninternal;                      // internal variables per cell, initially zero, kept from step to step
    bool ages;                          // the internal variables also change with time alone

    // Declares the dofs of a node. Fails if the cell is invalid (zero length); the message names the cell.
    pcs_status (*node_dofs)(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out);
    // Computes per-cell constants, after the equations are numbered.
    pcs_status (*setup)(pcs_context *ctx, pcs_batch *batch);
    // Computes the dense, row-major matrices of one cell, unless they are NULL: mass (constant), stiffness -df/dq and
    // damping -df/dv. Columns of finite rotations in space are derivatives by material spins. `at` NULL is the
    // reference state. For pcs_stiffest K is a bound in all states, given by massless elements whose stiffness grows. C
    // is computed for elements that are nonlinear or have forces that depend on velocities.
    void (*matrices)(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *M, double *K, double *C);
    // Returns the travel time, s, of an axial or (in beams) transverse wave through a cell, NULL if it carries none.
    double (*travel_time)(const pcs_batch *batch, int cell, bool is_transverse);
    // Subtracts internal force (q) + damping force (q, v) of all cells from f.
    void (*force)(const pcs_batch *batch, const pcs_cell_state *at, double *f);
    // Adds the sums that `what` selects.
    void (*measure)(const pcs_batch *batch, const pcs_cell_state *at, unsigned what, pcs_cell_sums *sum);
    // Evaluates the declared fields of one cell (numbered within the batch), then those at its ends, which are in
    // equilibrium with the line load of the state.
    void (*read_fields)(const pcs_batch *batch, int cell, const pcs_cell_state *at, double field[PCS_MAX_CELL_FIELDS]);
    // Stores the internal variables of a state in the batch. Kernels of elements with internal variables integrate from
    // the last commit to the state in one increment.
    void (*commit)(const pcs_batch *batch, const pcs_cell_state *at);
    // Fills `*out`, zeroed by the caller, for a cell with the vector `span` between its nodes. NULL if all of its cells
    // end at their nodes and have no disc.
    void (*outline)(const void *params, const double span[3], pcs_cell_outline *out);
} pcs_element_ops;

static inline pcs_cell_outline pcs_element_outline(const pcs_element_ops *ops, const void *params, const double span[3])
{
    pcs_cell_outline out = { .is_finite = false };
    if (ops->outline != NULL) ops->outline(params, span, &out);
    return out;
}

extern const pcs_cell_state *const pcs_stiffest;

static inline const char *const *pcs_end_fields(const pcs_element_ops *ops)
{
    static const char *const none[] = { NULL };
    return ops->end_fields == NULL ? none : ops->end_fields;
}

extern const pcs_element_ops *const pcs_elements[]; // ends with NULL

#endif
