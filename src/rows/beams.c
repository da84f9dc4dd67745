// Pairs of cells that may touch. Chains of cells are followed over nodes that just two cells share.
//
// A pair is a local minimum of the distance when its closest points do not lie at an end beyond which the next cell
// goes on; where two pairs meet in such an end it is the first of them. Minima that only come from cells of one chain
// being neighbours are none: the closest points of such pairs lead to pairs that are left out.

#include "rows/beams.h"

#include "core/rotation.h"
#include "mesh/select.h"

#include <math.h>
#include <string.h>

// Distance from an end of a cell, in cell lengths, below which a point is that end: only round-off decides its side.
static const double SEAM = 1e-9;

// The same for an end of the line on which nearly parallel cells touch; its foot is off by the square of their angle.
static const double LINE_SEAM = 1e-2;

// Holds the number of cells of both sets that meet at a node, and two of them.
typedef struct beams_star {
    int count, cell[2];
} beams_star;

static void beams_mark(const pcs_set *set, unsigned char *in)
{
    for (int i = 0; i < set->count; i++) in[set->items[i]] = 1;
}

static bool beams_has(const pcs_beams *self, int cell)
{
    return self->in_a[cell] || self->in_b[cell];
}

static void beams_find_neighbours(pcs_beams *self, beams_star *star)
{
    const pcs_mesh *mesh = self->mesh;
    for (int c = 0; c < mesh->ncell; c++)
        for (int end = 0; end < 2; end++) {
            beams_star *s = &star[mesh->cell[c][end]];
            if (!beams_has(self, c)) continue;
            if (end == 1 && mesh->cell[c][0] == mesh->cell[c][1]) continue;
            if (s->count < 2) s->cell[s->count] = c;
            s->count++;
        }
    for (int c = 0; c < mesh->ncell; c++)
        for (int end = 0; end < 2; end++) {
            const beams_star *s = &star[mesh->cell[c][end]];
            bool goes_on = beams_has(self, c) && s->count == 2 && mesh->cell[c][0] != mesh->cell[c][1];
            int other = s->cell[0] == c ? s->cell[1] : s->cell[0];
            self->neighbour[c][end] = goes_on ? other : -1;
        }
    for (int i = 0; i < mesh->nnode; i++)
        if (star[i].count > 0) self->nodes[self->nnode++] = i;
}

// Returns the neighbour of `cell` at the end opposite to its neighbour `from`.
static int beams_go_on(const pcs_beams *self, int cell, int from)
{
    const int *n = self->neighbour[cell];
    return n[0] == from ? n[1] : n[0];
}

// Assigns chain numbers and positions to the cells of every chain, from one end to the other or once round.
static void beams_number_chains(pcs_beams *self)
{
    int nchain = 0;
    for (int c = 0; c < self->mesh->ncell; c++) self->chain[c] = -1;
    for (int c = 0; c < self->mesh->ncell; c++) {
        if (!beams_has(self, c) || self->chain[c] >= 0) continue;
        int first = c, before = self->neighbour[c][1], count = 0;
        for (int next = self->neighbour[c][0]; next >= 0 && next != c;) {
            int after = beams_go_on(self, next, first);
            before = first;
            first = next;
            next = after;
        }
        bool is_loop = self->neighbour[first][0] >= 0 && self->neighbour[first][1] >= 0;
        // A chain is followed from its end; a loop in the direction opposite to the search above.
        for (int at = first, from = is_loop ? beams_go_on(self, first, before) : -1; at >= 0 && self->chain[at] < 0;) {
            self->chain[at] = nchain;
            self->place[at] = count++;
            int next = beams_go_on(self, at, from);
            from = at;
            at = next;
        }
        if (is_loop)
            for (int k = 0; k < self->mesh->ncell; k++)
                if (self->chain[k] == nchain) self->loop[k] = count;
        nchain++;
    }
}

bool pcs_beams_may_touch(const pcs_beams *self, int a, int b)
{
    const int *m = self->mesh->cell[a], *n = self->mesh->cell[b];
    if (a == b || m[0] == n[0] || m[0] == n[1] || m[1] == n[0] || m[1] == n[1]) return false;
    if (self->chain[a] != self->chain[b]) return true;
    int apart = self->place[a] > self->place[b] ? self->place[a] - self->place[b] : self->place[b] - self->place[a];
    int other = self->loop[a] > 0 ? self->loop[a] - apart : apart;
    return (other < apart ? other : apart) > self->exclude;
}

// Sets the size of the mesh. Returns the length of the longest cell of both sets, m.
static double beams_measure(pcs_beams *self)
{
    double low[3], high[3], longest = 0.0;
    const pcs_mesh *mesh = self->mesh;
    pcs_mesh_box(mesh, low, high);
    for (int c = 0; c < mesh->ncell; c++) {
        const double *x = mesh->x[mesh->cell[c][0]], *y = mesh->x[mesh->cell[c][1]];
        if (beams_has(self, c)) longest = fmax(longest, pcs_distance3(x, y));
    }
    self->size = pcs_distance3(high, low);
    return longest;
}

static pcs_status beams_find_spare(pcs_context *ctx, pcs_beams *self)
{
    for (int i = 0; i < self->a->count; i++)
        for (int j = 0; j < self->b->count; j++)
            if (pcs_beams_may_touch(self, self->a->items[i], self->b->items[j])) {
                self->spare = (pcs_beam_pair){ self->a->items[i], self->b->items[j] };
                return PCS_OK;
            }
    return pcs_fail(ctx, PCS_BAD_INPUT,
                    "no cell of '%s' can touch one of '%s': all of them are neighbours, up to %d cells apart",
                    self->a->name, self->b->name, self->exclude);
}

pcs_status pcs_beams_create(pcs_context *ctx, const pcs_mesh *mesh, const pcs_beams_definition *definition,
                            pcs_beams *self)
{
    *self = (pcs_beams){ .mesh = mesh,
                         .a = definition->a,
                         .b = definition->b,
                         .thickness = definition->thickness,
                         .exclude = definition->exclude,
                         .most = definition->most };
    beams_star *star;
    PCS_TAKE(ctx, star, mesh->nnode, "a contact of cells");
    PCS_TAKE(ctx, self->nodes, mesh->nnode, "a contact of cells");
    PCS_TAKE(ctx, self->x, mesh->nnode, "a contact of cells");
    PCS_TAKE(ctx, self->neighbour, mesh->ncell, "a contact of cells");
    PCS_TAKE(ctx, self->chain, mesh->ncell, "a contact of cells");
    PCS_TAKE(ctx, self->place, mesh->ncell, "a contact of cells");
    PCS_TAKE(ctx, self->loop, mesh->ncell, "a contact of cells");
    PCS_TAKE(ctx, self->in_a, mesh->ncell, "a contact of cells");
    PCS_TAKE(ctx, self->in_b, mesh->ncell, "a contact of cells");
    PCS_TAKE(ctx, self->found, definition->most + 1, "a contact of cells");
    PCS_TAKE(ctx, self->boxes, self->a->count + self->b->count, "a contact of cells");
    beams_mark(self->a, self->in_a);
    beams_mark(self->b, self->in_b);
    beams_find_neighbours(self, star);
    beams_number_chains(self);
    double longest = beams_measure(self);
    self->reach = isnan(definition->reach) ? 2.0 * self->thickness + longest : definition->reach;
    PCS_TRY(beams_find_spare(ctx, self));
    return pcs_box_tree_create(ctx, self->b->count, &self->tree);
}

int pcs_beams_next(const pcs_beams *self, pcs_beam_pair pair, const pcs_closest *closest, pcs_beam_pair next[2])
{
    int count = 0;
    bool is_end_a = closest->s <= SEAM || closest->s >= 1.0 - SEAM;
    bool is_end_b = closest->t <= SEAM || closest->t >= 1.0 - SEAM;
    int a = is_end_a ? self->neighbour[pair.a][closest->s > 0.5] : -1;
    int b = is_end_b ? self->neighbour[pair.b][closest->t > 0.5] : -1;
    if (a >= 0 && self->in_a[a]) next[count++] = (pcs_beam_pair){ a, pair.b };
    if (b >= 0 && self->in_b[b]) next[count++] = (pcs_beam_pair){ pair.a, b };
    return count;
}

static void beams_axes(const pcs_beams *self, pcs_beam_pair pair, pcs_segment *a, pcs_segment *b)
{
    const int *m = self->mesh->cell[pair.a], *n = self->mesh->cell[pair.b];
    pcs_segment_between(self->x[m[0]], self->x[m[1]], a);
    pcs_segment_between(self->x[n[0]], self->x[n[1]], b);
}

static void beams_closest(const pcs_beams *self, pcs_beam_pair pair, pcs_closest *out)
{
    pcs_segment a, b;
    beams_axes(self, pair, &a, &b);
    pcs_segment_closest(&a, &b, out);
}

static bool beams_is_before(pcs_beam_pair p, pcs_beam_pair q)
{
    return p.a < q.a || (p.a == q.a && p.b < q.b);
}

// Returns true if the closest points of a pair are a local minimum, and the pair is the first of those that share it.
static bool beams_is_minimum(const pcs_beams *self, pcs_beam_pair pair, const pcs_closest *closest)
{
    pcs_beam_pair next[2], back[2];
    int count = pcs_beams_next(self, pair, closest, next);
    for (int i = 0; i < count; i++) {
        pcs_closest other;
        bool meets = false;
        if (!pcs_beams_may_touch(self, next[i].a, next[i].b)) return false;
        beams_closest(self, next[i], &other);
        int nback = pcs_beams_next(self, next[i], &other, back);
        for (int k = 0; k < nback; k++) meets = meets || (back[k].a == pair.a && back[k].b == pair.b);
        if (!meets || beams_is_before(next[i], pair)) return false;
    }
    return true;
}

static bool beams_comes_first(const pcs_beam_found *p, const pcs_beam_found *q)
{
    if (p->gap != q->gap) return p->gap < q->gap;
    bool is_same = p->row.pair.a == q->row.pair.a && p->row.pair.b == q->row.pair.b;
    return is_same ? p->row.s < q->row.s : beams_is_before(p->row.pair, q->row.pair);
}

// Inserts a place, sorted by gap and for equal gaps by cells. Drops the farthest of more than `most` + 1.
static void beams_keep(pcs_beams *self, const pcs_segment *a, pcs_beam_row row, const pcs_closest *closest)
{
    pcs_beam_found found = { .row = row, .gap = closest->distance - self->thickness };
    int at = self->nfound;
    pcs_segment_at(a, closest->s, found.x);
    if (found.gap > self->reach) return;
    while (at > 0 && beams_comes_first(&found, &self->found[at - 1])) at--;
    if (at > self->most) return;
    if (self->nfound <= self->most) self->nfound++;
    for (int i = self->nfound - 1; i > at; i--) self->found[i] = self->found[i - 1];
    self->found[at] = found;
}

static double beams_snap(double s, double seam)
{
    if (s < seam) return 0.0;
    return s > 1.0 - seam ? 1.0 : s;
}

// Returns true if a point also ends the line along which another pair (`earlier`: an earlier pair) touches.
static bool beams_is_on_line(const pcs_beams *self, pcs_beam_pair pair, const pcs_closest *closest, double seam,
                             bool earlier)
{
    pcs_beam_pair next[3];
    pcs_closest end = *closest;
    end.s = beams_snap(closest->s, seam);
    end.t = beams_snap(closest->t, seam);
    int count = pcs_beams_next(self, pair, &end, next);
    if (count == 2) next[count++] = (pcs_beam_pair){ next[0].a, next[1].b };
    for (int i = 0; i < count; i++) {
        pcs_segment a, b;
        double ends[2];
        if ((earlier && !beams_is_before(next[i], pair)) || !pcs_beams_may_touch(self, next[i].a, next[i].b)) continue;
        beams_axes(self, next[i], &a, &b);
        if (pcs_segment_is_flat(&a, &b, ends)) return true;
    }
    return false;
}

// Adds the contact places of two nearly parallel cells: both ends of their line, and the crossing between, if any.
static void beams_keep_line(pcs_beams *self, pcs_beam_pair pair, const pcs_segment axis[2], const double ends[2])
{
    pcs_closest c;
    for (int end = 0; end < 2; end++) {
        pcs_segment_closest_from(&axis[0], ends[end], &axis[1], &c);
        if (!beams_is_on_line(self, pair, &c, LINE_SEAM, true))
            beams_keep(self, &axis[0], (pcs_beam_row){ .pair = pair, .s = ends[end] }, &c);
    }
    pcs_segment_closest(&axis[0], &axis[1], &c);
    bool is_between = c.s > ends[0] + LINE_SEAM && c.s < ends[1] - LINE_SEAM;
    if (c.s_slides && c.t_slides && is_between)
        beams_keep(self, &axis[0], (pcs_beam_row){ .pair = pair, .s = c.s }, &c);
}

static void beams_consider(void *owner, int i, int j)
{
    pcs_beams *self = owner;
    pcs_beam_pair pair = { self->a->items[i], self->b->items[j] };
    pcs_segment axis[2];
    pcs_closest closest;
    double ends[2];
    bool is_twice = self->in_b[pair.a] && self->in_a[pair.b]; // (b, a) is visited as well
    if ((is_twice && pair.a >= pair.b) || !pcs_beams_may_touch(self, pair.a, pair.b)) return;
    beams_axes(self, pair, &axis[0], &axis[1]);
    if (pcs_segment_is_flat(&axis[0], &axis[1], ends)) {
        beams_keep_line(self, pair, axis, ends);
        return;
    }
    pcs_segment_closest(&axis[0], &axis[1], &closest);
    if (closest.distance - self->thickness > self->reach) return;
    // Cells in one line, of which none lies beside the other, meet where others may lie along each other.
    double seam = pcs_segment_is_along(&axis[0], &axis[1]) ? LINE_SEAM : SEAM;
    if (!beams_is_on_line(self, pair, &closest, seam, false) && beams_is_minimum(self, pair, &closest))
        beams_keep(self, &axis[0], (pcs_beam_row){ .pair = pair, .s = PCS_BEAM_MOVES }, &closest);
}

static void beams_fill_boxes(pcs_beams *self)
{
    for (int i = 0; i < self->a->count + self->b->count; i++) {
        int cell = i < self->a->count ? self->a->items[i] : self->b->items[i - self->a->count];
        const double *x = self->x[self->mesh->cell[cell][0]], *y = self->x[self->mesh->cell[cell][1]];
        for (int k = 0; k < 3; k++) {
            self->boxes[i].low[k] = fmin(x[k], y[k]);
            self->boxes[i].high[k] = fmax(x[k], y[k]);
        }
    }
}

// Holds a cell of a whose neighbours in b are visited.
typedef struct beams_query {
    const pcs_beams *self;
    int i;
    pcs_beams_visit *visit;
    void *owner;
} beams_query;

// Visits a cell of b if its box is within reach along each axis. Returns the reach, m.
static double beams_meet(void *owner, int j)
{
    const beams_query *query = owner;
    const pcs_beams *self = query->self;
    const pcs_box *a = &self->boxes[query->i], *b = &self->boxes[self->a->count + j];
    double reach = self->reach + self->thickness;
    bool is_near = true;
    for (int k = 0; k < 3; k++) is_near = is_near && a->low[k] - b->high[k] <= reach && b->low[k] - a->high[k] <= reach;
    if (is_near) query->visit(query->owner, query->i, j);
    return reach;
}

void pcs_beams_pairs(const pcs_beams *self, pcs_beams_visit *visit, void *owner)
{
    for (int i = 0; i < self->a->count; i++) {
        beams_query query = { self, i, visit, owner };
        pcs_box_tree_look(self->tree, &self->boxes[i], self->reach + self->thickness, beams_meet, &query);
    }
}

void pcs_beams_find(pcs_beams *self, const pcs_places *places)
{
    for (int i = 0; i < self->nnode; i++) {
        pcs_place place;
        places->find(places, self->nodes[i], &place);
        memcpy(self->x[self->nodes[i]], place.x, sizeof place.x);
    }
    self->nfound = 0;
    beams_fill_boxes(self);
    pcs_box_tree_fit(self->tree, self->boxes + self->a->count);
    pcs_beams_pairs(self, beams_consider, self);
}

// Returns true if two cells are the same or joined end to end.
static bool beams_adjoins(const pcs_beams *self, int c, int d)
{
    return c == d || self->neighbour[c][0] == d || self->neighbour[c][1] == d;
}

// Returns the distance, m, of a found place from a row: 0 if both slide on one pair, INFINITY if they do not match.
static double beams_apart(const pcs_beams *self, const pcs_beam_found *f, const pcs_beam_row *row, const double x[3],
                          double gap)
{
    const pcs_beam_pair p = f->row.pair, q = row->pair;
    bool slides = f->row.s == PCS_BEAM_MOVES && row->s == PCS_BEAM_MOVES;
    if (slides && p.a == q.a && p.b == q.b) return 0.0;
    if (!beams_adjoins(self, p.a, q.a) || !beams_adjoins(self, p.b, q.b)) return INFINITY;
    if (slides && !(fabs(f->gap - gap) <= 1e-9 * self->size)) return INFINITY;
    return pcs_distance3(f->x, x);
}

bool pcs_beams_take(pcs_beams *self, pcs_beam_row *row, const double x[3], double gap)
{
    pcs_beam_found *match = NULL;
    const int *cell = self->mesh->cell[row->pair.a];
    double least = fmax(pcs_distance3(self->x[cell[0]], self->x[cell[1]]), self->thickness);
    for (int i = 0; i < self->nfound && i < self->most; i++) {
        pcs_beam_found *f = &self->found[i];
        double apart = f->is_taken ? INFINITY : beams_apart(self, f, row, x, gap);
        if (!(apart < least)) continue;
        least = apart;
        match = f;
    }
    if (match == NULL) return false;
    match->is_taken = true;
    *row = match->row;
    return true;
}
