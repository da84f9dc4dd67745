#include "elements/taper.h"

#include <math.h>

enum { POINTS = PCS_TAPER_POINTS, MOST_HALVINGS = 40 };

// Lists points and weights of Gauss-Legendre integration on (0, 1).
static const double taper_points[POINTS] = { 0.019855071751231912, 0.10166676129318664, 0.2372337950418355,
                                             0.40828267875217511,  0.59171732124782483, 0.7627662049581645,
                                             0.89833323870681336,  0.98014492824876809 };
static const double taper_weights[POINTS] = { 0.050614268145188344, 0.11119051722668717, 0.15685332293894352,
                                              0.18134189168918088,  0.18134189168918088, 0.15685332293894352,
                                              0.11119051722668717,  0.050614268145188344 };

bool pcs_taper_line(const pcs_element_ops *ops, const void *params, pcs_section_line *line)
{
    *line = (pcs_section_line){ .type = ops->area };
    if (ops->area != NULL) {
        line->params = pcs_section_varies(ops->area, params) ? params : NULL;
        return true;
    }
    if (ops->section_offset == 0) return false;
    const pcs_section *section = (const pcs_section *)(const void *)((const char *)params + ops->section_offset);
    if (section->line != NULL) *line = *section->line;
    return true;
}

typedef struct taper_walk {
    const pcs_section_line *line;
    const pcs_taper *taper;
    pcs_taper_visit *visit;
    void *user;
} taper_walk;

static bool taper_is_steep(double a, double b)
{
    return a > 2.0 * b || b > 2.0 * a;
}

static bool taper_is_steep_between(const pcs_section *a, const pcs_section *b)
{
    return taper_is_steep(a->area, b->area) || taper_is_steep(a->Iy, b->Iy) || taper_is_steep(a->Iz, b->Iz) ||
           taper_is_steep(a->torsion, b->torsion);
}

static void taper_walk_piece(const taper_walk *walk, double a, double b)
{
    const pcs_taper *t = walk->taper;
    double whole = t->to - t->from;
    pcs_taper_piece piece = { .size = (b - a) / whole };
    for (int i = 0; i < POINTS; i++) {
        double s = a + taper_points[i] * (b - a);
        pcs_section_at(walk->line, t->length, s, false, &piece.section[i]);
        piece.xi[i] = (s - t->from) / whole;
        piece.weight[i] = taper_weights[i] * piece.size;
    }
    walk->visit(walk->user, &piece);
}

// Computes Legendre's polynomials P_0 .. P_POINTS at x by recurrence.
static void taper_legendre(double x, double P[POINTS + 1])
{
    P[0] = 1.0;
    P[1] = x;
    for (int n = 1; n < POINTS; n++) P[n + 1] = ((2 * n + 1) * x * P[n] - n * P[n - 1]) / (n + 1);
}

// Expands f in Legendre's polynomials, whose integrals are differences of their neighbours:
//   c_n = (2n + 1) sum w_j P_n(x_j) f_j,   integral of P_n from -1 to x = (P_n+1(x) - P_n-1(x))/(2n + 1)
double pcs_taper_run(const pcs_taper_piece *piece, const double f[PCS_TAPER_POINTS], double out[PCS_TAPER_POINTS])
{
    double P[POINTS][POINTS + 1], c[POINTS] = { 0 };
    for (int i = 0; i < POINTS; i++) taper_legendre(2.0 * taper_points[i] - 1.0, P[i]);
    for (int n = 0; n < POINTS; n++)
        for (int j = 0; j < POINTS; j++) c[n] += taper_weights[j] * P[j][n] * f[j];
    for (int i = 0; i < POINTS; i++) {
        double sum = c[0] * (P[i][1] + 1.0);
        for (int n = 1; n < POINTS; n++) sum += c[n] * (P[i][n + 1] - P[i][n - 1]);
        out[i] = 0.5 * piece->size * sum;
    }
    return piece->size * c[0];
}

// Visits pieces of [a, b] in order, halved until they are not steep.
static void taper_walk_smooth(const taper_walk *walk, double a, double b)
{
    double end = b;
    for (int halvings = 0; a < b;) {
        pcs_section first, last;
        pcs_section_at(walk->line, walk->taper->length, a, false, &first);
        pcs_section_at(walk->line, walk->taper->length, end, true, &last);
        if (halvings < MOST_HALVINGS && taper_is_steep_between(&first, &last)) {
            end = 0.5 * (a + end);
            halvings++;
            continue;
        }
        taper_walk_piece(walk, a, end);
        a = end;
        end = b;
        halvings = 0;
    }
}

void pcs_taper_walk(const pcs_section_line *line, const pcs_taper *taper, pcs_taper_visit *visit, void *user)
{
    const taper_walk walk = { line, taper, visit, user };
    double a = taper->from, slack = 1e-9 * (taper->to - taper->from);
    while (a < taper->to) {
        double b = pcs_section_next(line, taper->length, a);
        if (b > taper->to - slack) b = taper->to;
        if (b > a + slack) taper_walk_smooth(&walk, a, b);
        a = b;
    }
}

static void taper_add(double weight, double xi, double value, double sums[3])
{
    sums[0] += weight * value * (1.0 - xi) * (1.0 - xi);
    sums[1] += weight * value * xi * (1.0 - xi);
    sums[2] += weight * value * xi * xi;
}

static void taper_sum_point(pcs_taper *t, double xi, double weight, const pcs_section *s)
{
    t->mean.area += weight * s->area;
    t->mean.Iy += weight * s->Iy;
    t->mean.Iz += weight * s->Iz;
    t->mean.torsion += weight * s->torsion;
    t->mean.ky += weight * s->area * s->ky;
    t->mean.kz += weight * s->area * s->kz;
    t->mean.cy = fmax(t->mean.cy, s->cy);
    t->mean.cz = fmax(t->mean.cz, s->cz);
    taper_add(weight, xi, s->area, t->area);
    taper_add(weight, xi, s->Iy, t->Iy);
    taper_add(weight, xi, s->Iz, t->Iz);
    t->axial += weight / s->area;
    if (!(s->Iz > 0.0)) return; // a rod has nothing but an area
    t->twist += weight / s->torsion;
    taper_add(weight, xi, 1.0 / s->Iz, t->bend[0]);
    taper_add(weight, xi, 1.0 / s->Iy, t->bend[1]);
    t->shear[0] += weight / (s->area * s->ky);
    t->shear[1] += weight / (s->area * s->kz);
}

static void taper_sum(void *user, const pcs_taper_piece *piece)
{
    for (int i = 0; i < POINTS; i++) taper_sum_point(user, piece->xi[i], piece->weight[i], &piece->section[i]);
}

static void taper_scale(double whole, double sums[3])
{
    for (int i = 0; i < 3; i++) sums[i] = whole > 0.0 ? sums[i] / whole : 0.0;
}

static bool taper_is_same(const pcs_section *a, const pcs_section *b)
{
    return a->area == b->area && a->Iy == b->Iy && a->Iz == b->Iz && a->torsion == b->torsion && a->ky == b->ky &&
           a->kz == b->kz;
}

static void taper_compare(void *user, const pcs_taper_piece *piece)
{
    pcs_taper *t = user;
    for (int i = 0; i < POINTS; i++) t->is_uniform = t->is_uniform && taper_is_same(&piece->section[i], &t->end[0]);
}

void pcs_taper_make(const pcs_section_line *line, pcs_taper *taper)
{
    *taper = (pcs_taper){ .from = taper->from, .to = taper->to, .length = taper->length, .is_uniform = true };
    pcs_section_at(line, taper->length, taper->from, false, &taper->end[0]);
    pcs_section_at(line, taper->length, taper->to, true, &taper->end[1]);
    pcs_taper_walk(line, taper, taper_sum, taper);
    pcs_taper_walk(line, taper, taper_compare, taper);
    pcs_section *mean = &taper->mean;
    mean->ky /= mean->area;
    mean->kz /= mean->area;
    if (taper->is_uniform) *mean = taper->end[0];
    taper_scale(mean->area, taper->area);
    taper_scale(mean->Iy, taper->Iy);
    taper_scale(mean->Iz, taper->Iz);
    taper->axial = 1.0 / taper->axial;
    taper->twist = taper->twist > 0.0 ? 1.0 / taper->twist : 0.0;
}

static const pcs_section *taper_given(const pcs_batch *batch)
{
    return (const pcs_section *)(const void *)((const char *)batch->params + batch->ops->section_offset);
}

const pcs_section *pcs_taper_section(const pcs_batch *batch, int cell)
{
    const pcs_taper *taper = pcs_taper_of(batch, cell);
    return taper == NULL ? taper_given(batch) : &taper->mean;
}

const pcs_section *pcs_taper_end(const pcs_batch *batch, int cell, int end)
{
    const pcs_taper *taper = pcs_taper_of(batch, cell);
    return taper == NULL ? taper_given(batch) : &taper->end[end];
}

double pcs_taper_stress(const pcs_batch *batch, int mesh_cell, const double about_z[2], const double about_y[2])
{
    double largest = 0.0;
    for (int end = 0; end < 2; end++) {
        const pcs_section *s = batch->tapers == NULL ? taper_given(batch) : &batch->tapers[mesh_cell].end[end];
        double by_z = fabs(about_z[end]) * s->cy / s->Iz, by_y = 0.0;
        if (about_y != NULL) by_y = fabs(about_y[end]) * s->cz / s->Iy;
        largest = fmax(largest, s->is_round ? hypot(by_z, by_y) : by_z + by_y);
    }
    return largest;
}
