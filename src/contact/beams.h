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

typedef struct pcs_beam_found {
    pcs_beam_pair pair;
    double gap;
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

// Finds the pairs within reach.
void pcs_beams_find(pcs_beams *self, const pcs_places *places);
// Marks a pair that was found, or the one that meets it where it is; false when there is none, or it is taken.
bool pcs_beams_take(pcs_beams *self, pcs_beam_pair *pair, double gap);

#endif
