// Cells with round sections against one another: the closest points of two straight segments.
//
//   g = |d| - r_a - r_b,   d = x_b(t) - x_a(s),   n = d/|d|,   g' = n . (v_b(t) - v_a(s))
//
// The ends of a segment share a force as (1 - s) : s. Friction acts on the surfaces, at the arms r_a n and -r_b n from
// the axes: it rotates the sections, too. A cell of one node is a ball.
//
// A row is a local minimum of the distance of two chains of cells: from its pair of cells it moves to the next cell if
// the closest point is beyond an end, so that bodies slide along each other without a jump. Cells that are nearly
// parallel touch along a line, on which the closest point jumps from end to end: they have a row at each end of the
// line, and one where they cross in between, all of which keep their position on a during a step. Pairs are assigned to
// rows before a step, not within it: the nearest `most` of them, each in the same row as long as it is near. Free rows
// have a gap larger than the model. A pair without a row that overlaps ends the run.

#include "core/rotation.h"
#include "rows/beams.h"
#include "rows/gap.h"
#include "rows/segment.h"

#include <math.h>
#include <string.h>

// Pairs of cells that may touch. Chains of cells are followed over nodes that just two cells share.
//
// A pair is a local minimum of the distance unless its closest points are at an end beyond which the next cell
// continues. If two pairs meet in such an end, the first one counts. Minima that only come from cells of one chain
// being neighbours do not count: the closest points of such pairs lead to pairs that are left out.

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
static int beams_extend(const pcs_beams *self, int cell, int from)
{
    const int *n = self->neighbour[cell];
    return n[0] == from ? n[1] : n[0];
}

// Assigns chain numbers and positions to the cells of every chain, from one end to the other or once round the loop.
static void beams_number_chains(pcs_beams *self)
{
    int nchain = 0;
    for (int c = 0; c < self->mesh->ncell; c++) self->chain[c] = -1;
    for (int c = 0; c < self->mesh->ncell; c++) {
        if (!beams_has(self, c) || self->chain[c] >= 0) continue;
        int first = c, before = self->neighbour[c][1], count = 0;
        for (int next = self->neighbour[c][0]; next >= 0 && next != c;) {
            int after = beams_extend(self, next, first);
            before = first;
            first = next;
            next = after;
        }
        bool is_loop = self->neighbour[first][0] >= 0 && self->neighbour[first][1] >= 0;
        // A chain is followed from its end; a loop in the direction opposite to the search above.
        for (int at = first, from = is_loop ? beams_extend(self, first, before) : -1; at >= 0 && self->chain[at] < 0;) {
            self->chain[at] = nchain;
            self->place[at] = count++;
            int next = beams_extend(self, at, from);
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
    PCS_TAKE_EACH(ctx, mesh->ncell, "a contact of cells", int, &self->chain, &self->place, &self->loop);
    PCS_TAKE_EACH(ctx, mesh->ncell, "a contact of cells", unsigned char, &self->in_a, &self->in_b);
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

// Finds the adjoining pairs, at most two, if the closest points lie at ends of cells. Returns their number.
static int beams_next(const pcs_beams *self, pcs_beam_pair pair, const pcs_closest *closest, pcs_beam_pair next[2])
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
    int count = beams_next(self, pair, closest, next);
    for (int i = 0; i < count; i++) {
        pcs_closest other;
        bool meets = false;
        if (!pcs_beams_may_touch(self, next[i].a, next[i].b)) return false;
        beams_closest(self, next[i], &other);
        int nback = beams_next(self, next[i], &other, back);
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

// Inserts a contact place, sorted by gap and for equal gaps by cells. Drops the farthest of more than `most` + 1.
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
    int count = beams_next(self, pair, &end, next);
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
    bool is_twice = self->in_b[pair.a] && self->in_a[pair.b]; // the pair (b, a) is visited, too
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

static void beams_pairs(const pcs_beams *self, pcs_beams_visit *visit, void *owner)
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
    beams_pairs(self, beams_consider, self);
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

// Marks the place found nearest to `row`, whose point on the axis of a is x and whose gap is `gap`, m, and copies it to
// *row. Returns false if none matches, or it is taken.
static bool beams_take(pcs_beams *self, pcs_beam_row *row, const double x[3], double gap)
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

typedef struct beams_params {
    const char *a, *b;
    double radius, other_radius, reach;
    int most, exclude;
} beams_params;

static const pcs_option beams_options[] = {
    PCS_TEXT("a", beams_params, a, PCS_REQUIRED, "cell set of the first body"),
    PCS_TEXT("b", beams_params, b, PCS_REQUIRED,
             "cell set of the second body; the same set: contact of a body with itself"),
    PCS_REAL("radius", beams_params, radius, PCS_REQUIRED, PCS_POSITIVE, "of the sections of a, m"),
    PCS_REAL("other_radius", beams_params, other_radius, PCS_OPTIONAL, PCS_POSITIVE,
             "of the sections of b, m; by default that of a"),
    PCS_COUNT("most", beams_params, most, PCS_OPTIONAL, PCS_WITHIN(1.0, 10000.0),
              "largest number of contact points at a time, one per node of beams along each other; by default 8 more "
              "than twice the cells of a and b, up to 100"),
    PCS_COUNT("exclude", beams_params, exclude, PCS_DEFAULT("1"), PCS_WITHIN(1.0, 1e9),
              "cells of one chain up to this many cells apart do not touch"),
    PCS_REAL("reach", beams_params, reach, PCS_OPTIONAL, PCS_POSITIVE,
             "pairs with gaps up to this are searched, m, more than a step can close; by default 4 radii and a cell"),
    { 0 },
};

static const pcs_source_set beams_sets[] = {
    { .option = "a", .is_cells = true, .is_common = true },
    { .option = "b", .is_cells = true, .is_common = true },
    { 0 },
};

// Marks a free row. Rows keep cell numbers of the whole mesh, so that any number of processes can resume a run.
static const pcs_beam_row no_row = { .pair = { -1, -1 }, .s = PCS_BEAM_MOVES };

static bool beams_is_flat(const pcs_beam_row *row)
{
    return row->s != PCS_BEAM_MOVES;
}

typedef struct beams_contact {
    pcs_beams beams;
    double radius[2], far;
    int ntangent;
    double plane[3];   // unit normal of the plane of motion if ntangent is 1
    pcs_beam_row *row; // [most] cells numbered as in the whole mesh
    // Data of the step that `passage` checks:
    double (*before)[3], (*after)[3]; // [mesh nnode] positions of the nodes at the ends of the step, m
    pcs_beam_pair *left, *reached;    // [most] pairs of the rows at the start and at the end of the step
    const pcs_passage_row *known;     // [most] gaps and contact status of the rows
    double sunk;                      // largest overlap of a row, m
    pcs_passage *worst;
} beams_contact;

// Returns the i-th row with the cell numbers of this process.
static pcs_beam_row beams_row_of(const beams_contact *self, int i)
{
    pcs_beam_row row = self->row[i];
    if (row.pair.a < 0) return row;
    row.pair.a = pcs_mesh_first_cell(self->beams.mesh, row.pair.a);
    row.pair.b = pcs_mesh_first_cell(self->beams.mesh, row.pair.b);
    return row;
}

static void beams_keep_row(beams_contact *self, int i, pcs_beam_row row)
{
    self->row[i] = row;
    self->row[i].pair.a = pcs_mesh_cell_number(self->beams.mesh, row.pair.a);
    self->row[i].pair.b = pcs_mesh_cell_number(self->beams.mesh, row.pair.b);
}

// Checks that the nodes of both bodies move in space, or all in one plane, and that supports leave some of them free.
static pcs_status beams_look_at_nodes(pcs_context *ctx, beams_contact *self, const pcs_dofmap *map)
{
    bool is_held = true;
    int held = 0;
    for (int i = 0; i < self->beams.nnode; i++) {
        int node = self->beams.nodes[i], first = map->first[node];
        PCS_TRY(pcs_gap_look_round(ctx, map, node, i == 0, &self->ntangent, self->plane));
        held = node;
        for (int k = first; k < map->first[node + 1]; k++)
            is_held = is_held && (map->dof[k].is_rotation || map->dof[k].equation == -1);
    }
    return is_held ? pcs_gap_demand_free(ctx, map, held) : PCS_OK;
}

// Returns the number of rows: chains that lie on each other touch at as many nodes as they have cells, and where they
// cross as they bend.
static int beams_count(const beams_params *p, const pcs_mesh *mesh)
{
    int ncell = pcs_set_size(pcs_mesh_cell_set(mesh, p->a)) + pcs_set_size(pcs_mesh_cell_set(mesh, p->b));
    if (p->most > 0) return p->most;
    return ncell < 46 ? 2 * ncell + 8 : 100;
}

static pcs_status beams_create(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                               pcs_source_shape *shape)
{
    const beams_params *p = params;
    beams_contact *self;
    PCS_TAKE(ctx, self, 1, "a contact");
    self->radius[0] = p->radius;
    self->radius[1] = isnan(p->other_radius) ? p->radius : p->other_radius;
    pcs_beams_definition definition = { .a = pcs_mesh_cell_set(map->mesh, p->a),
                                        .b = pcs_mesh_cell_set(map->mesh, p->b),
                                        .reach = p->reach,
                                        .thickness = self->radius[0] + self->radius[1],
                                        .exclude = p->exclude,
                                        .most = beams_count(p, map->mesh) };
    PCS_TRY(pcs_beams_create(ctx, map->mesh, &definition, &self->beams));
    PCS_TRY(beams_look_at_nodes(ctx, self, map));
    PCS_TAKE(ctx, self->row, definition.most, "a contact");
    PCS_TAKE(ctx, self->left, definition.most, "a contact");
    PCS_TAKE(ctx, self->reached, definition.most, "a contact");
    for (int i = 0; i < definition.most; i++) self->row[i] = no_row;
    PCS_TAKE(ctx, self->before, map->mesh->nnode, "a contact");
    PCS_TAKE(ctx, self->after, map->mesh->nnode, "a contact");
    self->far = fmax(self->beams.size, self->beams.reach);
    *shape =
        (pcs_source_shape){ .nrow = definition.most,
                            .ntangent = self->ntangent,
                            .memory = { .bytes = self->row, .size = (size_t)definition.most * sizeof *self->row } };
    *instance = self;
    return PCS_OK;
}

static void beams_segment(const pcs_places *places, const int node[2], pcs_place place[2], pcs_segment *axis,
                          pcs_segment *velocity)
{
    places->find(places, node[0], &place[0]);
    if (node[1] == node[0]) place[1] = place[0];
    else places->find(places, node[1], &place[1]);
    pcs_segment_between(place[0].x, place[1].x, axis);
    pcs_segment_between(place[0].v, place[1].v, velocity);
}

// Holds positions and velocities of two cells, and their closest points.
typedef struct beams_view {
    pcs_place place[2][2];
    pcs_segment axis[2], velocity[2];
    pcs_closest closest;
} beams_view;

static void beams_look(const beams_contact *self, const pcs_places *places, const pcs_beam_row *row, beams_view *out)
{
    const int(*cell)[2] = (const int(*)[2])self->beams.mesh->cell;
    beams_segment(places, cell[row->pair.a], out->place[0], &out->axis[0], &out->velocity[0]);
    beams_segment(places, cell[row->pair.b], out->place[1], &out->axis[1], &out->velocity[1]);
    if (beams_is_flat(row)) pcs_segment_closest_from(&out->axis[0], row->s, &out->axis[1], &out->closest);
    else pcs_segment_closest(&out->axis[0], &out->axis[1], &out->closest);
}

// Moves a row from its pair of cells to adjoining pairs until the distance of the axes has a local minimum.
static void beams_walk(const beams_contact *self, const pcs_places *places, pcs_beam_row *row, beams_view *view)
{
    beams_look(self, places, row, view);
    for (bool moves = !beams_is_flat(row); moves;) {
        pcs_beam_pair next[2];
        moves = false;
        int count = beams_next(&self->beams, row->pair, &view->closest, next);
        for (int i = 0; i < count && !moves; i++) {
            beams_view other;
            const pcs_beam_row trial = { .pair = next[i], .s = PCS_BEAM_MOVES };
            if (!pcs_beams_may_touch(&self->beams, next[i].a, next[i].b)) continue;
            beams_look(self, places, &trial, &other);
            moves = other.closest.distance < view->closest.distance;
            if (!moves) continue;
            *row = trial;
            *view = other;
        }
    }
}

// Adds a force along +direction on b and along -direction on a, at the arms from their axes.
static void beams_push_both(const beams_contact *self, pcs_beam_pair pair, const pcs_closest *c, double arm[2][3],
                            const double direction[3], pcs_row_direction *out)
{
    const double back[3] = { -direction[0], -direction[1], -direction[2] };
    pcs_gap_push_cell(out, self->beams.mesh->cell[pair.b], c->t, arm[1], direction);
    pcs_gap_push_cell(out, self->beams.mesh->cell[pair.a], c->s, arm[0], back);
}

// Finds the unit normal from a to b. If the axes cross, any direction perpendicular to both serves.
static void beams_normal(const beams_contact *self, const beams_view *view, double n[3])
{
    double across[3], one_direction[2][3];
    if (view->closest.distance > 0.0 && pcs_normalize3(view->closest.d, n)) return;
    pcs_cross(view->axis[0].e, view->axis[1].e, across);
    if (self->ntangent == 2 && pcs_normalize3(across, n)) return;
    const double any[3] = { 1.0, 0.0, 0.0 };
    pcs_gap_tangents_along(self->ntangent, self->plane, (const double *const[]){ view->axis[0].e, view->axis[1].e },
                           any, one_direction);
    memcpy(n, one_direction[0], 3 * sizeof *n);
}

static void beams_evaluate_row(const beams_contact *self, const pcs_places *places, pcs_beam_row about, bool is_near,
                               pcs_row_state *row)
{
    beams_view view;
    double arm[2][3] = { { 0 } }, x[3], tangent[2][3];
    if (is_near) beams_walk(self, places, &about, &view);
    else beams_look(self, places, &about, &view);
    const pcs_closest *c = &view.closest;
    pcs_beam_pair pair = about.pair;
    row->gap = is_near ? c->distance - self->radius[0] - self->radius[1] : self->far;
    beams_normal(self, &view, row->normal);
    beams_push_both(self, pair, c, arm, row->normal, &row->direction);
    pcs_segment_at(&view.axis[0], c->s, x);
    for (int k = 0; k < 3; k++) {
        arm[0][k] = self->radius[0] * row->normal[k];
        arm[1][k] = -self->radius[1] * row->normal[k];
        row->point[k] = x[k] + arm[0][k];
    }
    pcs_gap_tangents_along(self->ntangent, self->plane, (const double *const[]){ view.axis[0].e, view.axis[1].e },
                           row->normal, tangent);
    for (int t = 0; t < self->ntangent; t++) beams_push_both(self, pair, c, arm, tangent[t], &row->tangent[t]);
    memcpy(row->across, tangent, (size_t)self->ntangent * sizeof *tangent);
    if (places->has_velocities && is_near)
        row->bias =
            pcs_segment_bias(&view.axis[0], &view.axis[1], c, row->normal, &view.velocity[0], &view.velocity[1]);
}

static void beams_evaluate(void *instance, const pcs_places *places, pcs_row_state *rows)
{
    const beams_contact *self = instance;
    const pcs_beam_row spare = { .pair = self->beams.spare, .s = PCS_BEAM_MOVES };
    const pcs_row_state *empty = NULL; // free rows are all alike
    for (int i = 0; i < self->beams.most; i++) {
        pcs_beam_row row = beams_row_of(self, i);
        bool is_near = row.pair.a >= 0;
        if (!is_near && empty != NULL) rows[i] = *empty;
        else beams_evaluate_row(self, places, is_near ? row : spare, is_near, &rows[i]);
        if (!is_near) empty = &rows[i];
    }
}

// Moves each row to the place found for it or frees it. Returns the smallest gap among them, m, at most 0.
static double beams_go_on(beams_contact *self, const pcs_places *places, bool *has_changed)
{
    double least = 0.0;
    for (int i = 0; i < self->beams.most; i++) {
        beams_view view;
        double x[3];
        pcs_beam_row before = self->row[i], row = beams_row_of(self, i);
        if (before.pair.a < 0) continue;
        beams_walk(self, places, &row, &view);
        pcs_segment_at(&view.axis[0], view.closest.s, x);
        double gap = view.closest.distance - self->radius[0] - self->radius[1];
        if (beams_take(&self->beams, &row, x, gap)) beams_keep_row(self, i, row);
        else self->row[i] = no_row;
        const pcs_beam_row *now = &self->row[i];
        bool is_same = now->pair.a == before.pair.a && now->pair.b == before.pair.b && now->s == before.s;
        *has_changed = *has_changed || !is_same;
        least = fmin(least, gap);
    }
    return least;
}

static bool beams_adjoin_both(const pcs_beams *beams, pcs_beam_pair p, pcs_beam_pair q)
{
    return beams_adjoins(beams, p.a, q.a) && beams_adjoins(beams, p.b, q.b);
}

// Returns true if a pair adjoins one with a row: where beams bend at a node, a place of contact may split in two.
static bool beams_has_split(const beams_contact *self, pcs_beam_pair pair)
{
    const pcs_beams *beams = &self->beams;
    for (int i = 0; i < beams->most; i++)
        if (self->row[i].pair.a >= 0 && beams_adjoin_both(beams, pair, beams_row_of(self, i).pair)) return true;
    return false;
}

// Assigns free rows to pairs that have come near. Fails if a pair overlaps that had no row, unless it has split off
// from one that had, or rows overlap by half as much, as the scheme permits.
static pcs_status beams_search(pcs_context *ctx, void *instance, const pcs_places *places, bool *has_changed)
{
    beams_contact *self = instance;
    pcs_beams *beams = &self->beams;
    pcs_beams_find(beams, places);
    double least = beams_go_on(self, places, has_changed), slack = 1e-13 * beams->size;
    for (int i = 0, k = 0; k < beams->nfound; k++) {
        const pcs_beam_found *f = &beams->found[k];
        if (f->is_taken) continue;
        int cell[2] = { pcs_mesh_cell_number(beams->mesh, f->row.pair.a),
                        pcs_mesh_cell_number(beams->mesh, f->row.pair.b) };
        while (i < beams->most && self->row[i].pair.a >= 0) i++;
        bool is_full = beams->nfound > beams->most; // then other rows may have taken the places
        bool is_missed = beams->is_started && f->gap < 2.0 * least - slack && !beams_has_split(self, f->row.pair);
        if ((i == beams->most && f->gap < -slack) || (is_missed && is_full))
            return pcs_fail(
                ctx, PCS_FAILED,
                "cells %d and %d overlap by %g m, and all %d points of the contact are in use: raise 'most'", cell[0],
                cell[1], -f->gap, beams->most);
        if (i == beams->most) break;
        if (is_missed)
            return pcs_fail(ctx, PCS_FAILED,
                            "cells %d and %d overlap by %g m before they came within the reach of %g m: take a smaller "
                            "step or raise 'reach'",
                            cell[0], cell[1], -f->gap, beams->reach);
        beams_keep_row(self, i, f->row);
        *has_changed = true;
    }
    beams->is_started = true;
    return PCS_OK;
}

// Returns the contact status of a pair in the step by the rows of adjoining pairs; *row is one of these rows.
static pcs_swept_seen beams_seen(const beams_contact *self, pcs_beam_pair pair, int *row)
{
    pcs_swept_seen seen = PCS_SWEPT_UNWATCHED;
    *row = 0;
    for (int i = 0; i < self->beams.most; i++) {
        if (self->left[i].a < 0 || (!beams_adjoin_both(&self->beams, pair, self->left[i]) &&
                                    !beams_adjoin_both(&self->beams, pair, self->reached[i])))
            continue;
        *row = i;
        seen = PCS_SWEPT_OPEN;
        if (self->known[i].is_loaded) return PCS_SWEPT_LOADED;
    }
    return seen;
}

static void beams_sweep(void *owner, int i, int j)
{
    const beams_contact *self = owner;
    const pcs_beams *beams = &self->beams;
    pcs_beam_pair pair = { beams->a->items[i], beams->b->items[j] };
    const int *m = beams->mesh->cell[pair.a], *n = beams->mesh->cell[pair.b];
    double(*const ends[2])[3] = { self->before, self->after };
    pcs_swept swept = { .thickness = beams->thickness - self->sunk };
    int row;
    if (!pcs_beams_may_touch(beams, pair.a, pair.b)) return;
    for (int k = 0; k < 2; k++) {
        pcs_segment_between(ends[k][m[0]], ends[k][m[1]], &swept.a[k]);
        pcs_segment_between(ends[k][n[0]], ends[k][n[1]], &swept.b[k]);
    }
    pcs_swept_seen seen = beams_seen(self, pair, &row);
    if (swept.thickness > 0.0) pcs_swept_look(&swept, seen, row, self->worst);
}

// Stores nodal positions at both ends of the step. Returns the largest displacement relative to the first node, m.
static double beams_find_directions(beams_contact *self, const pcs_places *from, const pcs_places *to)
{
    const pcs_beams *beams = &self->beams;
    double longest = 0.0;
    for (int i = 0; i < beams->nnode; i++) {
        pcs_place place;
        int node = beams->nodes[i], first = beams->nodes[0];
        double direction[3];
        from->find(from, node, &place);
        memcpy(self->before[node], place.x, sizeof place.x);
        to->find(to, node, &place);
        memcpy(self->after[node], place.x, sizeof place.x);
        for (int k = 0; k < 3; k++)
            direction[k] =
                self->after[node][k] - self->before[node][k] - (self->after[first][k] - self->before[first][k]);
        longest = fmax(longest, pcs_norm3(direction));
    }
    return longest;
}

// Checks the pairs near each other at the start of the step for a passage; checks all pairs if the nodes moved farther
// than the reach of that search.
static void beams_passage(void *instance, const pcs_places *from, const pcs_places *to, const pcs_passage_row *rows,
                          pcs_passage *worst)
{
    beams_contact *self = instance;
    pcs_beams *beams = &self->beams;
    double direction = 2.0 * beams_find_directions(self, from, to),
           nearest = beams->nfound > 0 ? beams->found[0].gap : beams->reach;
    if (nearest >= direction) return;
    self->known = rows;
    self->worst = worst;
    self->sunk = 0.0;
    for (int i = 0; i < beams->most; i++) {
        self->left[i] = beams_row_of(self, i).pair;
        pcs_beam_row row = { .pair = self->left[i], .s = PCS_BEAM_MOVES };
        beams_view view;
        if (row.pair.a < 0) continue;
        beams_walk(self, to, &row, &view);
        self->reached[i] = row.pair;
        self->sunk = fmax(self->sunk, -fmin(rows[i].gap[0], rows[i].gap[1]));
    }
    if (direction <= beams->reach) {
        beams_pairs(beams, beams_sweep, self);
        return;
    }
    for (int i = 0; i < beams->a->count; i++)
        for (int j = 0; j < beams->b->count; j++) beams_sweep(self, i, j);
}

const pcs_source_ops pcs_gap_beam_beam = {
    .name = "beam_beam",
    .summary = "cells with round sections against one another, gap = distance of axes - radii",
    .options = beams_options,
    .params_size = sizeof(beams_params),
    .sets = beams_sets,
    .create = beams_create,
    .evaluate = beams_evaluate,
    .search = beams_search,
    .passage = beams_passage,
};
