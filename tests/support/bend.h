// A chain of exact beams as a bare batch, without mesh, system or solver: kernels, finite differences, equilibria.
//
// Node i joins cells i-1 and i. Everything is dense and small; a fault fails the test.

#ifndef TESTS_SUPPORT_BEND_H
#define TESTS_SUPPORT_BEND_H

#include "elements/element.h"
#include "elements/section.h"

#include <stdbool.h>

enum { BEND_MAX_NODES = 65, BEND_MAX_SIZE = 6 * BEND_MAX_NODES };

typedef struct bend {
    pcs_context *ctx;
    const pcs_element_ops *ops;
    int nnode, n, dofs; // equations, dofs per node: 3 in the plane, 6 in space
    double x[BEND_MAX_NODES][3];
    int cells[BEND_MAX_NODES], nodes[BEND_MAX_NODES][2], equation[12 * BEND_MAX_NODES];
    int map[BEND_MAX_NODES][6]; // equations of a node, -1 where it is held
    pcs_batch batch;
} bend;

// A material, as the options of the beams name it; orientation and curvature in space only.
typedef struct bend_material {
    double E, nu, rho;
    bool is_lumped;
    double orientation[3], curvature[3];
    pcs_section section;
} bend_material;

void bend_open(bend *b, const char *element, int nnode, const double (*x)[3], const bend_material *material);
void bend_close(bend *b);

// Holds dofs of a node, "111001" by x, y, z and rotations about them ("111" in the plane: x, y, angle), and renumbers.
void bend_hold(bend *b, int node, const char *fixed);

// q := q moved by x, with finite rotations in space multiplied from the right.
void bend_move(const bend *b, const double *x, double *q);

// f = internal and damping force, as forces on the body; K and C by the tangents, row-major n x n.
void bend_force(const bend *b, const double *q, const double *v, double *f);
void bend_tangents(const bend *b, const double *q, const double *v, double *K, double *C);
// Energies, or with v the power of damping alone.
pcs_cell_sums bend_sums(const bend *b, const double *q, const double *v);

// A stocky beam in space, all of whose numbers differ.
bend_material bend_stocky(void);

// The elastic force against differences of the energy; K (is_velocity false) or C against those of the force, within
// `tolerance` of the largest entry. Differences are of order four.
void bend_check_force(const bend *b, const double *q);
void bend_check_tangent(const bend *b, const double *q, const double *v, bool is_velocity, const double *A,
                        double tolerance);

// Equilibrium under `load` (a force on every equation; NULL none) by Newton's method from q. Gives the iterations, at
// most `limit`; residual[0 .. iterations] holds the largest entry of each residual.
int bend_equilibrium(const bend *b, const double *load, int limit, double tolerance, double *q, double *residual);

#endif
