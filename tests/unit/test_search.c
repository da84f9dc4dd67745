// Closest points of segments against a dense sampling, the search of pairs of boxes against all pairs, and which pairs
// of cells get rows.

#include "core/rotation.h"
#include "rows/beams.h"
#include "rows/box_tree.h"
#include "rows/segment.h"
#include "support/check.h"
#include "support/model.h"

#include <math.h>
#include <string.h>

static void random_segment(unsigned long long *seed, pcs_segment *s)
{
    double from[3], to[3];
    model_randomize(seed, 3, from);
    model_randomize(seed, 3, to);
    pcs_segment_between(from, to, s);
}

static double sampled_distance(const pcs_segment *a, const pcs_segment *b)
{
    enum { N = 200 };
    double least = INFINITY;
    for (int i = 0; i <= N; i++)
        for (int j = 0; j <= N; j++) {
            double x[3], y[3];
            pcs_segment_at(a, (double)i / N, x);
            pcs_segment_at(b, (double)j / N, y);
            least = fmin(least, hypot(hypot(x[0] - y[0], x[1] - y[1]), x[2] - y[2]));
        }
    return least;
}

TEST(closest_points_are_closest)
{
    unsigned long long seed = 5;
    for (int trial = 0; trial < 100; trial++) {
        pcs_segment a, b;
        pcs_closest c, back;
        random_segment(&seed, &a);
        random_segment(&seed, &b);
        if (trial % 10 == 9) memset(a.e, 0, sizeof a.e); // a point
        if (trial % 20 == 19) memset(b.e, 0, sizeof b.e);
        pcs_segment_closest(&a, &b, &c);
        pcs_segment_closest(&b, &a, &back);
        double sampled = sampled_distance(&a, &b);
        CHECK(c.distance <= sampled + 1e-14 && c.distance > sampled - 0.02);
        CHECK_NEAR(back.distance, c.distance, 1e-13);
        CHECK(c.s >= 0.0 && c.s <= 1.0 && c.t >= 0.0 && c.t <= 1.0);
        if (c.s_slides) CHECK_NEAR(pcs_dot3(c.d, a.e), 0.0, 1e-13);
        if (c.t_slides) CHECK_NEAR(pcs_dot3(c.d, b.e), 0.0, 1e-13);
    }
}

// Side by side over [1, 2], one of them backwards; then one behind the other.
TEST(parallel_segments_touch_in_the_middle)
{
    pcs_segment a, b;
    pcs_closest c;
    pcs_segment_between((double[]){ 0, 0, 0 }, (double[]){ 2, 0, 0 }, &a);
    pcs_segment_between((double[]){ 5, 0.5, 0 }, (double[]){ 1, 0.5, 0 }, &b);
    pcs_segment_closest(&a, &b, &c);
    CHECK_NEAR(c.s, 0.75, 1e-15);
    CHECK_NEAR(c.t, 0.875, 1e-15);
    CHECK_ALL_NEAR(3, c.d, ((double[]){ 0, 0.5, 0 }), 1e-15);
    pcs_segment_between((double[]){ 3, 0, 0 }, (double[]){ 4, 0, 0 }, &b);
    pcs_segment_closest(&a, &b, &c);
    CHECK(c.s == 1.0 && c.t == 0.0);
    CHECK_NEAR(c.distance, 1.0, 1e-15);
}

static void place_at_rest(const pcs_places *self, int node, pcs_place *out)
{
    memcpy(out->x, self->mesh->x[node], sizeof out->x);
}

static pcs_beams find(model *m, const char *a, const char *b, int most, int exclude)
{
    pcs_beams beams;
    const pcs_beams_definition definition = {
        .a = model_cells(m, a), .b = model_cells(m, b), .reach = NAN, .thickness = 0.1, .exclude = exclude, .most = most
    };
    const pcs_places places = { .mesh = m->mesh, .find = place_at_rest };
    CHECK_OK(m->ctx, pcs_beams_create(m->ctx, m->mesh, &definition, &beams));
    pcs_beams_find(&beams, &places);
    return beams;
}

typedef struct hunt {
    const pcs_box *boxes;
    const double *x;
    int nearest, nlook;
    double least, reach; // reach >= 0: all boxes that near are counted instead
    int ncounted;
} hunt;

static double box_distance(const pcs_box *box, const double x[3])
{
    double off[3];
    for (int k = 0; k < 3; k++) off[k] = fmax(0.0, fmax(box->low[k] - x[k], x[k] - box->high[k]));
    return hypot(hypot(off[0], off[1]), off[2]);
}

static double hunt_look(void *owner, int j)
{
    hunt *h = owner;
    double distance = box_distance(&h->boxes[j], h->x);
    h->nlook++;
    h->ncounted += distance <= h->reach;
    if (distance < h->least || (distance == h->least && j < h->nearest)) {
        h->least = distance;
        h->nearest = j;
    }
    return h->reach >= 0.0 ? h->reach : h->least;
}

static hunt tree_hunt(const pcs_box_tree *tree, const pcs_box *boxes, const double x[3], double reach)
{
    hunt h = { .boxes = boxes, .x = x, .least = INFINITY, .reach = reach };
    pcs_box from;
    memcpy(from.low, x, sizeof from.low);
    memcpy(from.high, x, sizeof from.high);
    pcs_box_tree_look(tree, &from, reach >= 0.0 ? reach : INFINITY, hunt_look, &h);
    return h;
}

// Boxes of any number and size wander; the tree finds the nearest and all within reach, as a look at all of them does.
TEST(tree_finds_what_a_look_at_all_finds)
{
    enum { MOST = 300 };
    static pcs_box boxes[MOST];
    unsigned long long seed = 3;
    for (int n = 1; n <= MOST; n = n < 20 ? n + 1 : 2 * n) {
        pcs_context *ctx = NULL;
        pcs_box_tree *tree = NULL;
        double size = pow(10.0, 60.0 * model_random(&seed));
        CHECK_OK(ctx, pcs_context_create(&ctx));
        CHECK_OK(ctx, pcs_box_tree_create(ctx, n, &tree));
        for (int i = 0; i < 3 * n; i++) {
            boxes[i / 3].low[i % 3] = size * floor(5.0 * model_random(&seed)); // some are as far
            boxes[i / 3].high[i % 3] = boxes[i / 3].low[i % 3] + size * fabs(model_random(&seed));
        }
        for (int round = 0; round < 50; round++) {
            double x[3], reach = 3.0 * size * fabs(model_random(&seed));
            for (int k = 0; k < 3; k++) x[k] = 8.0 * size * model_random(&seed);
            pcs_box_tree_fit(tree, boxes);
            hunt near = tree_hunt(tree, boxes, x, -1.0), within = tree_hunt(tree, boxes, x, reach);
            hunt all = { .boxes = boxes, .x = x, .least = INFINITY, .reach = reach };
            for (int j = 0; j < n; j++) hunt_look(&all, j);
            CHECK(near.nearest == all.nearest && within.ncounted == all.ncounted);
            for (int i = 0; i < n; i++) boxes[i].high[round % 3] += 0.1 * size * fabs(model_random(&seed));
        }
        pcs_context_destroy(&ctx);
    }
}

// What a search costs grows as the logarithm of the number of boxes, from near and from far.
TEST_WITH_CONTEXT(tree_looks_at_few)
{
    enum { N = 100000 };
    pcs_context *ctx = *state;
    pcs_box_tree *tree = NULL;
    int nlook[2] = { 0 };
    CHECK_OK(ctx, pcs_box_tree_create(ctx, N, &tree));
    pcs_box *boxes = pcs_take(ctx, N, sizeof *boxes, "boxes");
    CHECK(boxes != NULL);
    for (int i = 0; i < N; i++) {
        double t = 100.0 * i / N;
        const pcs_box box = { { t, sin(t), 0.0 }, { t + 100.0 / N, sin(t + 100.0 / N), 0.0 } };
        for (int k = 0; k < 3; k++) {
            boxes[i].low[k] = fmin(box.low[k], box.high[k]);
            boxes[i].high[k] = fmax(box.low[k], box.high[k]);
        }
    }
    pcs_box_tree_fit(tree, boxes);
    for (int i = 0; i < 1000; i++) {
        const double x[2][3] = { { 0.1 * i, sin(0.1 * i) + 0.01, 0.0 }, { 0.1 * i, 50.0, 20.0 } };
        for (int far = 0; far < 2; far++) nlook[far] += tree_hunt(tree, boxes, x[far], -1.0).nlook;
    }
    print_message("looks at boxes out of %d: %.1f from near, %.1f from far\n", N, nlook[0] / 1000.0, nlook[1] / 1000.0);
    CHECK(nlook[0] < 100 * 1000 && nlook[1] < 400 * 1000);
}

// The cells of a chain from the middle on, seen from its other end.
static void turn_around(model *m, const char *name)
{
    const pcs_set *cells = model_cells(m, name);
    for (int i = cells->count / 2; i < cells->count; i++) {
        int *node = m->mesh->cell[cells->items[i]], first = node[0];
        node[0] = node[1];
        node[1] = first;
    }
}

// Where a node lies over a node, round-off decides on which side of it the closest points of each pair are. Chains
// along each other touch once in each node that lies beside the other one, at 0, 0.2, 0.3 and 0.4 to either side, also
// where nodes do not quite lie over nodes.
TEST(chains_that_cross_in_nodes_have_one_pair)
{
    for (int rotation = 0; rotation < 200; rotation++) {
        double low[5][3] = { { 0 } }, high[5][3] = { { 0 } },
               angle = rotation < 100 ? 0.07 * rotation + 1.0 : rotation * 1e-3 - 0.1,
               shift = rotation % 2 == 0 ? 2e-5 : 0.0;
        for (int i = 0; i < 5; i++) {
            low[i][0] = 0.3 * (i - 2) * cos(0.1 * rotation);
            low[i][1] = 0.3 * (i - 2) * sin(0.1 * rotation);
            high[i][0] = (0.2 * (i - 2) + shift) * cos(0.1 * rotation + angle);
            high[i][1] = (0.2 * (i - 2) + shift) * sin(0.1 * rotation + angle);
            high[i][2] = 0.15;
        }
        model *m = model_create();
        model_chain(m, "low", 5, (const double(*)[3])low);
        model_chain(m, "high", 5, (const double(*)[3])high);
        turn_around(m, "low");
        turn_around(m, "high");
        pcs_beams beams = find(m, "low", "high", 20, 1);
        CHECK(beams.nfound == (sin(angle) * sin(angle) < 1e-3 ? 7 : 1));
        for (int i = 0; i < beams.nfound; i++) {
            // Beside a node of the upper chain: the foot, which may lie in the cell before, or the node itself.
            const double *x = beams.found[i].x, r = hypot(x[0], x[1]), gap = beams.found[i].gap;
            CHECK(gap > hypot(0.15, r * sin(angle)) - 0.1 - 1e-14);
            CHECK(gap < hypot(0.15, r * fabs(tan(angle)) + shift) - 0.1 + 1e-14);
            for (int k = 0; k < i; k++) CHECK(pcs_distance3(x, beams.found[k].x) > 0.09);
        }
        model_destroy(&m);
    }
}

// A chain bent back over itself: its two legs touch in all of their cells, its bend does not touch itself.
TEST(chain_touches_itself_but_not_its_neighbours)
{
    const double x[7][3] = { { 0, 0, 0 },   { 1, 0, 0 },   { 2, 0, 0 },     { 2.2, 0.1, 0 },
                             { 2, 0.2, 0 }, { 1, 0.2, 0 }, { 0.2, 0.15, 0 } };
    model *m = model_create();
    model_chain(m, "hook", 7, x);
    pcs_beams beams = find(m, "hook", "hook", 8, 1);
    CHECK(beams.nfound >= 1);
    // The free end against the first cell is nearest.
    CHECK(beams.found[0].row.pair.a == 0 && beams.found[0].row.pair.b == 5);
    CHECK_NEAR(beams.found[0].gap, 0.05, 1e-14);
    for (int i = 0; i < beams.nfound; i++)
        CHECK(pcs_beams_may_touch(&beams, beams.found[i].row.pair.a, beams.found[i].row.pair.b));
    CHECK(!pcs_beams_may_touch(&beams, 2, 3) && pcs_beams_may_touch(&beams, 1, 3));
    beams = find(m, "hook", "hook", 8, 3);
    CHECK(!pcs_beams_may_touch(&beams, 1, 4) && pcs_beams_may_touch(&beams, 1, 5));
    model_destroy(&m);
}

// Round a closed chain the way is short both ways.
TEST(loops_close)
{
    model *m = model_create();
    double x[9][3] = { { 0 } };
    for (int i = 0; i < 9; i++) {
        x[i][0] = cos(0.25 * 3.14159265358979323846 * i);
        x[i][1] = sin(0.25 * 3.14159265358979323846 * i);
    }
    model_chain(m, "ring", 9, (const double(*)[3])x);
    m->mesh->cell[7][1] = 0; // the last node is the first
    pcs_beams beams = find(m, "ring", "ring", 4, 3);
    CHECK(!pcs_beams_may_touch(&beams, 0, 7) && !pcs_beams_may_touch(&beams, 1, 6) &&
          !pcs_beams_may_touch(&beams, 0, 3));
    CHECK(pcs_beams_may_touch(&beams, 0, 4) && pcs_beams_may_touch(&beams, 6, 2));
    model_destroy(&m);
}
