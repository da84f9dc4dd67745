// Boxes of b are listed by the cube in which their middle lies, in a table of cubes by hash; a box of a looks into all
// cubes from which one could come within reach.

#include "contact/search.h"

#include <math.h>
#include <stdint.h>

struct pcs_search {
    int na, nb;
    double reach, skin;
    double side;        // of a cube
    double half[3];     // largest half of a box of b when the grid was filled
    pcs_box *last;      // [nb] boxes that it was filled with
    int64_t (*cube)[3]; // [nb] where they are
    int *next, *head;   // [nb], [nslot] lists of boxes with one hash; -1: end
    int nslot;          // power of two
    bool is_filled;
    long nfill;
};

pcs_status pcs_search_create(pcs_context *ctx, int na, int nb, double reach, double skin, pcs_search **out)
{
    pcs_search *self;
    PCS_TAKE(ctx, self, 1, "a search");
    self->na = na;
    self->nb = nb;
    self->reach = reach;
    self->skin = skin;
    self->nslot = 1;
    while (self->nslot < 2 * nb && self->nslot < (1 << 29)) self->nslot *= 2;
    PCS_TAKE(ctx, self->last, nb, "a search");
    PCS_TAKE(ctx, self->cube, nb, "a search");
    PCS_TAKE(ctx, self->next, nb, "a search");
    PCS_TAKE(ctx, self->head, self->nslot, "a search");
    *out = self;
    return PCS_OK;
}

long pcs_search_rebuilds(const pcs_search *self)
{
    return self->nfill;
}

static int search_slot(const pcs_search *self, const int64_t cube[3])
{
    uint64_t mix = (uint64_t)cube[0] * 0x9E3779B97F4A7C15u + (uint64_t)cube[1] * 0xC2B2AE3D27D4EB4Fu +
                   (uint64_t)cube[2] * 0x165667B19E3779F9u;
    mix ^= mix >> 32;
    return (int)(mix & (uint64_t)(self->nslot - 1));
}

static int64_t search_cube(const pcs_search *self, double x)
{
    return (int64_t)floor(fmax(fmin(x / self->side, 9e15), -9e15));
}

static void search_fill(pcs_search *self, const pcs_box *b)
{
    self->half[0] = self->half[1] = self->half[2] = 0.0;
    for (int j = 0; j < self->nb; j++)
        for (int k = 0; k < 3; k++) self->half[k] = fmax(self->half[k], 0.5 * (b[j].high[k] - b[j].low[k]));
    self->side = 2.0 * fmax(self->half[0], fmax(self->half[1], self->half[2])) + self->reach + self->skin;
    for (int i = 0; i < self->nslot; i++) self->head[i] = -1;
    for (int j = self->nb - 1; j >= 0; j--) {
        for (int k = 0; k < 3; k++) self->cube[j][k] = search_cube(self, 0.5 * (b[j].low[k] + b[j].high[k]));
        int slot = search_slot(self, self->cube[j]);
        self->next[j] = self->head[slot];
        self->head[slot] = j;
        self->last[j] = b[j];
    }
    self->is_filled = true;
    self->nfill++;
}

static bool search_is_good(const pcs_search *self, const pcs_box *b)
{
    double most = 0.5 * self->skin;
    if (!self->is_filled) return false;
    for (int j = 0; j < self->nb; j++)
        for (int k = 0; k < 3; k++)
            if (!(fabs(b[j].low[k] - self->last[j].low[k]) <= most &&
                  fabs(b[j].high[k] - self->last[j].high[k]) <= most))
                return false;
    return true;
}

static bool search_is_near(const pcs_search *self, const pcs_box *a, const pcs_box *b)
{
    for (int k = 0; k < 3; k++)
        if (!(a->low[k] - b->high[k] <= self->reach && b->low[k] - a->high[k] <= self->reach)) return false;
    return true;
}

typedef struct search_query {
    int64_t low[3], high[3];
    double count; // cubes
} search_query;

static void search_ask(const pcs_search *self, const pcs_box *a, search_query *q)
{
    q->count = 1.0;
    for (int k = 0; k < 3; k++) {
        double beyond = self->reach + self->half[k] + self->skin; // middles have moved by half the skin at most
        q->low[k] = search_cube(self, a->low[k] - beyond);
        q->high[k] = search_cube(self, a->high[k] + beyond);
        q->count *= (double)(q->high[k] - q->low[k]) + 1.0;
    }
}

// All boxes of b in one cube.
static void search_look(const pcs_search *self, const pcs_box *boxes, int i, const int64_t cube[3],
                        pcs_search_visit *visit, void *owner)
{
    for (int j = self->head[search_slot(self, cube)]; j >= 0; j = self->next[j]) {
        const int64_t *c = self->cube[j];
        if (c[0] != cube[0] || c[1] != cube[1] || c[2] != cube[2]) continue;
        if (search_is_near(self, &boxes[i], &boxes[self->na + j])) visit(owner, i, j);
    }
}

void pcs_search_pairs(pcs_search *self, const pcs_box *boxes, pcs_search_visit *visit, void *owner)
{
    if (!search_is_good(self, boxes + self->na)) search_fill(self, boxes + self->na);
    for (int i = 0; i < self->na; i++) {
        search_query q;
        search_ask(self, &boxes[i], &q);
        if (!(q.count < self->nb)) { // few boxes, or a very large one
            for (int j = 0; j < self->nb; j++)
                if (search_is_near(self, &boxes[i], &boxes[self->na + j])) visit(owner, i, j);
            continue;
        }
        int64_t cube[3];
        for (cube[0] = q.low[0]; cube[0] <= q.high[0]; cube[0]++)
            for (cube[1] = q.low[1]; cube[1] <= q.high[1]; cube[1]++)
                for (cube[2] = q.low[2]; cube[2] <= q.high[2]; cube[2]++)
                    search_look(self, boxes, i, cube, visit, owner);
    }
}
