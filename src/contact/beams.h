// Which pairs of cells may touch: the local minima of the distance of two sets of cells, nearest first.

#ifndef PCS_CONTACT_BEAMS_H
#define PCS_CONTACT_BEAMS_H

#include "contact/row.h"
#include "contact/search.h"
#include "contact/segment.h"
#include "core/context.h"

typedef struct pcs_beam_pair {
    int a, b; // cells
} pcs_beam_pair;

// A place of contact. That of nearly parallel cells is on a at `s`, where it stays during a step.
typedef struct pcs_beam_row {
    pcs_beam_pair pair; // a is -1: none
    double s;           // PCS_BEAM_MOVES: it is that of the closest points
} pcs_beam_row;
#define PCS_BEAM_MOVES (-1.0)

typedef struct pcs_beam_found {
    pcs_beam_row row;
    double gap, x[3]; // x: the place on the axis of a
    bool is_taken;
} pcs_beam_found;

typedef struct pcs_beams_definition {
    const pcs_set *a, *b;
    double reach;     // m; NAN: chosen here
    double thickness; // m, both radii
    int exclude, most;
} pcs_beams_definition;

typedef struct pcs_beams {
    const pcs_mesh *mesh;
    const pcs_set *a, *b;
    double reach, thickness, size; // size: of the mesh
    int exclude, most;
    pcs_beam_pair spare;        // some pair that may touch
    int nnode, *nodes;          // [nnode] of the cells of both sets
    int (*neighbour)[2];        // [ncell] cells at either end, of the same body; -1: none, or several
    int *chain, *place;         // [ncell] which chain of cells, and where in it
    int *loop;                  // [ncell] cells of its chain where that is closed, else 0
    unsigned char *in_a, *in_b; // [ncell]
    double (*x)[3];             // [mesh nnode] present positions of the nodes
    pcs_box *boxes;             // [cells of a, then of b]
    pcs_search *search;
    int nfound;
    pcs_beam_found *found; // [most + 1] nearest first; the last one has no row any more
    bool is_started;
} pcs_beams;

pcs_status pcs_beams_create(pcs_context *ctx, const pcs_mesh *mesh, const pcs_beams_definition *definition,
                            pcs_beams *self);

// False for cells that share a node, or are near each other along their chain.
bool pcs_beams_may_touch(const pcs_beams *self, int a, int b);

// The pairs, at most two, to which the closest points of a pair would go on: they lie at ends that a cell adjoins.
int pcs_beams_next(const pcs_beams *self, pcs_beam_pair pair, const pcs_closest *closest, pcs_beam_pair next[2]);

// Finds the places within reach.
void pcs_beams_find(pcs_beams *self, const pcs_places *places);
// Marks the place that was found where `row` is now, at this x on the axis of a and with this gap, and *row is that;
// false when there is none, or it is taken.
bool pcs_beams_take(pcs_beams *self, pcs_beam_row *row, const double x[3], double gap);

#endif
