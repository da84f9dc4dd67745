// Complete binary tree: branch i has the branches 2 i + 1 and 2 i + 2, each with half of its boxes; those of the last
// level list a few.

#include "rows/box_tree.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_LISTED = 4, MOST_LEVELS = 32 };

typedef struct box_tree_place {
    double along; // centre of the box along the axis by which its branch is split, m
    int box;
} box_tree_place;

struct pcs_box_tree {
    int n, nlevel;
    box_tree_place *order; // [n] boxes, those of each branch contiguous
    pcs_box *branch;       // [2^nlevel - 1] bounding boxes
    bool is_planted;
};

// Holds the range [first, end) of the order that a branch contains.
typedef struct box_tree_part {
    int branch, level, first, end;
} box_tree_part;

pcs_status pcs_box_tree_create(pcs_context *ctx, int n, pcs_box_tree **out)
{
    pcs_box_tree *self;
    PCS_TAKE(ctx, self, 1, "a search");
    self->n = n;
    self->nlevel = 1;
    while (self->nlevel < MOST_LEVELS - 2 && (n >> (self->nlevel - 1)) > MOST_LISTED) self->nlevel++;
    PCS_TAKE(ctx, self->order, n, "a search");
    PCS_TAKE(ctx, self->branch, ((size_t)1 << self->nlevel) - 1, "a search");
    for (int j = 0; j < n; j++) self->order[j].box = j;
    *out = self;
    return PCS_OK;
}

static bool box_tree_is_last(const pcs_box_tree *self, const box_tree_part *part)
{
    return part->level == self->nlevel - 1;
}

static void box_tree_divide(const box_tree_part *part, box_tree_part half[2])
{
    int middle = part->first + (part->end - part->first) / 2;
    half[0] = (box_tree_part){ 2 * part->branch + 1, part->level + 1, part->first, middle };
    half[1] = (box_tree_part){ 2 * part->branch + 2, part->level + 1, middle, part->end };
}

static void box_tree_extend(pcs_box *box, const pcs_box *by)
{
    for (int k = 0; k < 3; k++) {
        box->low[k] = fmin(box->low[k], by->low[k]);
        box->high[k] = fmax(box->high[k], by->high[k]);
    }
}

static const pcs_box box_tree_nothing = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };

static double box_tree_middle(const pcs_box *box, int axis)
{
    return 0.5 * box->low[axis] + 0.5 * box->high[axis];
}

static int box_tree_compare(const void *a, const void *b)
{
    const box_tree_place *x = a, *y = b;
    if (x->along != y->along) return x->along < y->along ? -1 : 1;
    return x->box - y->box;
}

// Splits a branch in two at the median, along the axis on which the centres of its boxes spread most.
static void box_tree_plant(pcs_box_tree *self, const pcs_box *boxes, box_tree_part part)
{
    if (box_tree_is_last(self, &part)) return;
    pcs_box spread = box_tree_nothing;
    for (int i = part.first; i < part.end; i++) {
        pcs_box middle;
        for (int k = 0; k < 3; k++) middle.low[k] = middle.high[k] = box_tree_middle(&boxes[self->order[i].box], k);
        box_tree_extend(&spread, &middle);
    }
    int axis = 0;
    for (int k = 1; k < 3; k++)
        if (spread.high[k] - spread.low[k] > spread.high[axis] - spread.low[axis]) axis = k;
    for (int i = part.first; i < part.end; i++)
        self->order[i].along = box_tree_middle(&boxes[self->order[i].box], axis);
    qsort(self->order + part.first, (size_t)(part.end - part.first), sizeof *self->order, box_tree_compare);
    box_tree_part half[2];
    box_tree_divide(&part, half);
    for (int i = 0; i < 2; i++) box_tree_plant(self, boxes, half[i]);
}

static void box_tree_fit(pcs_box_tree *self, const pcs_box *boxes, box_tree_part part)
{
    pcs_box *box = &self->branch[part.branch];
    box_tree_part half[2];
    *box = box_tree_nothing;
    if (box_tree_is_last(self, &part)) {
        for (int i = part.first; i < part.end; i++) box_tree_extend(box, &boxes[self->order[i].box]);
        return;
    }
    box_tree_divide(&part, half);
    for (int i = 0; i < 2; i++) {
        box_tree_fit(self, boxes, half[i]);
        box_tree_extend(box, &self->branch[half[i].branch]);
    }
}

void pcs_box_tree_fit(pcs_box_tree *self, const pcs_box *boxes)
{
    const box_tree_part all = { 0, 0, 0, self->n };
    if (!self->is_planted) box_tree_plant(self, boxes, all);
    self->is_planted = true;
    box_tree_fit(self, boxes, all);
}

// Returns the squared distance of two boxes, m^2; NAN coordinates count as distance 0, so that no box is overlooked.
static double box_tree_distance2(const pcs_box *a, const pcs_box *b)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double off = fmax(0.0, fmax(a->low[k] - b->high[k], b->low[k] - a->high[k]));
        sum += off * off;
    }
    return sum;
}

void pcs_box_tree_look(const pcs_box_tree *self, const pcs_box *from, double reach, pcs_box_tree_visit *visit,
                       void *owner)
{
    const double round_off = 1e-12; // relative, of distances computed by other formulas
    struct {
        box_tree_part part;
        double distance2;
    } open[MOST_LEVELS];
    int count = 1;
    open[0].part = (box_tree_part){ 0, 0, 0, self->n };
    open[0].distance2 = 0.0;
    while (count > 0) {
        box_tree_part part = open[--count].part, half[2];
        if (open[count].distance2 > (1.0 + round_off) * reach * reach) continue;
        if (box_tree_is_last(self, &part)) {
            for (int i = part.first; i < part.end; i++) reach = visit(owner, self->order[i].box);
            continue;
        }
        box_tree_divide(&part, half);
        double off[2];
        for (int i = 0; i < 2; i++) off[i] = box_tree_distance2(from, &self->branch[half[i].branch]);
        // Visits the nearer branch first, which shortens the reach.
        int last = off[0] > off[1] ? 0 : 1;
        for (int i = 0; i < 2; i++) {
            int which = i == 0 ? last : 1 - last;
            open[count].part = half[which];
            open[count++].distance2 = off[which];
        }
    }
}
