// A dense contact problem handed to the method of many contacts (crowd.h): only the rows that take part, numbered anew.

#include "step/cone.h"
#include "step/crowd.h"

#include <string.h>

typedef struct pcs_cone_products {
    const pcs_cone *cone;
    pcs_crowd *crowd;
    pcs_row *rows; // [m] those that take part, their tangents numbered anew
    int *place;    // [n] of its unknowns in the dense problem
} pcs_cone_products;

// Parts `out` of P z; see crowd.h.
static void products_apply(void *owner, int in, int out, const double *z, double *value, double *gate_gap)
{
    const pcs_cone_products *s = owner;
    const pcs_cone *c = s->cone;
    int m = s->crowd->m, n = s->crowd->n;
    int first = in & PCS_CROWD_GAP ? 0 : m, last = in & PCS_CROWD_RATE ? n : m;
    for (int k = out & PCS_CROWD_GAP ? 0 : m; k < (out & PCS_CROWD_RATE ? n : m); k++) {
        value[k] = 0.0;
        for (int l = first; l < last; l++) value[k] += c->P[s->place[k] * c->n + s->place[l]] * z[l];
    }
    for (int j = 0; j < m && gate_gap != NULL; j++) {
        gate_gap[j] = 0.0;
        for (int l = first; l < last; l++) gate_gap[j] += c->P_gate[s->place[j] * c->n + s->place[l]] * z[l];
    }
}

pcs_status pcs_cone_products_create(pcs_context *ctx, const pcs_system *system, struct pcs_cone_products **out)
{
    pcs_cone_products *s;
    PCS_TAKE(ctx, s, 1, "the contact problem");
    PCS_TAKE(ctx, s->rows, system->nrow, "the contact problem");
    PCS_TAKE(ctx, s->place, 2 * system->nrow + system->ntangent, "the contact problem");
    PCS_TRY(pcs_crowd_create(ctx, system, 0, &s->crowd));
    s->crowd->rows = s->rows;
    s->crowd->product = products_apply;
    s->crowd->owner = s;
    *out = s;
    return PCS_OK;
}

// Which rows take part, and where their unknowns are: gaps, velocities, tangents.
static void products_number(pcs_cone_products *s, const pcs_cone *c)
{
    pcs_crowd *crowd = s->crowd;
    int m = 0, nt = 0;
    for (int j = 0; j < c->m; j++) {
        if (c->is_out[c->m + j]) continue;
        s->rows[m] = c->rows[j];
        s->rows[m].first_tangent = nt;
        nt += c->rows[j].ntangent;
        s->place[m++] = j;
    }
    for (int j = 0; j < m; j++) {
        const pcs_row *row = &c->rows[s->place[j]];
        s->place[m + j] = c->m + s->place[j];
        for (int t = 0; t < row->ntangent; t++)
            s->place[2 * m + s->rows[j].first_tangent + t] = 2 * c->m + row->first_tangent + t;
    }
    crowd->m = m;
    crowd->nt = nt;
    pcs_crowd_set_smooth(crowd, 0);
}

bool pcs_cone_products_solve(pcs_cone *c, int *iterations)
{
    pcs_cone_products *s = c->products;
    pcs_crowd *crowd = s->crowd;
    s->cone = c;
    products_number(s, c);
    crowd->h = c->h;
    crowd->has_position = c->has_position;
    crowd->gate_is_live = c->gate_is_live;
    crowd->gate_tolerance = c->gate_tolerance;
    for (int k = 0; k < crowd->n; k++) {
        crowd->b[k] = c->b[s->place[k]];
        crowd->r[k] = c->r[s->place[k]];
        crowd->z[k] = 0.0;
    }
    for (int j = 0; j < crowd->m; j++) {
        crowd->b_gate[j] = c->b_gate[s->place[j]];
        crowd->gate[j] = c->gate[s->place[j]];
    }
    pcs_crowd_reset(crowd);
    bool is_settled = pcs_crowd_solve(crowd);
    *iterations += crowd->rounds;
    if (!is_settled) return false;
    memset(c->z, 0, (size_t)c->n * sizeof *c->z);
    for (int k = 0; k < crowd->n; k++) c->z[s->place[k]] = crowd->z[k];
    for (int j = 0; j < crowd->m; j++) c->gate[s->place[j]] = crowd->gate[j];
    return true;
}
