// The rows of a model: contacts and joints over its degrees of freedom, in one table (pcs_row_set.table).
//
// Rows with multipliers come first, then those with force laws, whose forces belong to f:
//
//   M v' = f + L^T F(g, L v) + T^T f(F, s) + G^T lambda,   one row of L and one force F per point (system/law.h)
//
// Tangents are numbered likewise. Included by the model that owns the table, and by code that works on it.

#ifndef PCS_ROWS_TABLE_H
#define PCS_ROWS_TABLE_H

#include "rows/source.h"
#include "system/system.h"

enum { PCS_ROW_TERMS = PCS_ROW_NODES * PCS_MAX_NODE_DOFS }; // most equations of a row

// Describes the rows of one contact or joint.
typedef struct pcs_table_source {
    const pcs_row_source *model;
    void *instance;      // ops, with the results of its search
    int first_row, nrow; // on this process; 0 rows of a joint of another process
    bool is_joint;
    bool is_soft;   // has a force law
    bool is_frozen; // evaluated once, at rest: directions are constant and gaps are linear in q
    pcs_source_shape shape;
} pcs_table_source;

struct pcs_row_table {
    // Input of pcs_table_create:
    const pcs_dofmap *map;
    int ncontact, njoint;
    int nheld; // number of supports that are joints, too: the last joints
    const pcs_row_source *contacts, *joints;
    const bool *joint_is_here; // [njoint] if rows are distributed

    pcs_table_source *sources; // [ncontact + njoint] contacts, then joints
    int *order;                // [ncontact + njoint] sources in the order of their rows
    bool has_evaluated;        // some gaps of rows with multipliers are evaluated in every step
    pcs_row_state *states;     // [nrow + ncompliant] last evaluation; frozen ones at rest
    // Rows with force laws at their last evaluation; NULL without them:
    pcs_rows *L, *T;       // [ncompliant x nv], [ncompliant_tangent x nv] PCS_ROW_TERMS entries each, zero at the end
    double *gap;           // [ncompliant] m
    pcs_passage_row *ends; // [ncompliant] gaps at both ends of a step
    struct pcs_forces *forces;         // data of rows with force laws
    struct pcs_derivative *derivative; // data of joints whose directions vary; NULL if absent
};

// ---- Evaluation in terms of equations.
// Returns the first of the three equations of a node's finite rotation in space, -1 if it has none.
int pcs_table_rotation(const pcs_system *self, const pcs_dofmap *map, int node);
// Holds the instant at which positions of nodes are found, with velocities unless v is NULL; must outlive the places.
typedef struct pcs_table_view {
    const pcs_system *self;
    pcs_instant at;
} pcs_table_view;
// Evaluates the states of the rows with multipliers, or of those with force laws, unless they are frozen; then puts
// their gaps and directions, those of frozen ones only the first time.
void pcs_table_look(const pcs_system *self, pcs_instant at, bool is_soft);
// Evaluates L, T and gaps of the rows with force laws.
void pcs_table_look_at_laws(const pcs_system *self, const double *q);

// ---- Creation, and operations of the system. `culprit` names the faulty part of the case.
pcs_status pcs_table_create(pcs_system *self, const char **culprit);
void pcs_table_evaluate(pcs_system *self, pcs_instant at, const pcs_row_values *out);
pcs_status pcs_table_search(pcs_system *self, pcs_instant at, bool *has_changed);
void pcs_table_passages(pcs_system *self, const double *q0, const double *q1, const pcs_passage_row *rows,
                        pcs_passage *worst);

// ---- Rows with force laws: forces; energy, J, with the power lost along at.along, W; tangents.
void pcs_forces_add(const pcs_system *self, pcs_instant at, double *f);
double pcs_forces_energy(const pcs_system *self, pcs_instant at, double *loss);
void pcs_forces_add_resultant(const pcs_system *self, pcs_instant at, double sum[3]);
void pcs_forces_add_tangents(pcs_system *self, const double *q, const double *v);
// Marks open points, whose dampers act from the next step on. Stores friction as the start of the next increment.
void pcs_forces_delay_dampers(pcs_system *self, pcs_instant at);
void pcs_forces_commit(pcs_system *self, pcs_instant at);

// ---- dG/dx of joints: allocates, updates `slopes`, and adds their product with forces to K.
pcs_status pcs_derivative_create(pcs_system *self);
void pcs_derivative_update(pcs_system *self, pcs_instant at, const double *x);
void pcs_derivative_add_stiffness(pcs_system *self, pcs_instant at, const double *lam);

#endif
