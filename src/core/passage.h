// Finds contacts that closed and opened again within a step, so that no contact law was applied to them.

#ifndef PCS_CORE_PASSAGE_H
#define PCS_CORE_PASSAGE_H

#include <stdbool.h>

// Holds the gaps of a row at both ends of a step, and whether it was loaded.
typedef struct pcs_passage_row {
    double gap[2];  // m, at its start and at its end
    bool is_loaded; // the row had an impulse
} pcs_passage_row;

typedef struct pcs_passage {
    double depth;   // m, overlap within the step beyond that at its ends; 0 if none
    double allowed; // m, overlap that is tolerated
    int row;
} pcs_passage;

// Keeps the passage with the larger ratio of depth to allowed depth.
static inline void pcs_passage_note(pcs_passage *worst, double depth, double allowed, int row)
{
    if (depth * worst->allowed > worst->depth * allowed || worst->allowed == 0.0)
        *worst = (pcs_passage){ .depth = depth, .allowed = allowed, .row = row };
}

#endif
