// Two-node rod along its straight axis: axial force, mass of several kinds, Rayleigh damping.
//
//   K = k [1 -1; -1 1],  k = E A / L          C = alpha M + beta K
//   M = m [1/2-mu mu; mu 1/2-mu],  m = rho A L
//
//   mass         mu
//   consistent   1/6
//   lumped       0
//   one_point    1/4, singular: for scheme `wave`, whose waves are exact with it at steps of L/c
//   tuned        min(1/4 - 1e-3, 1/12 + nu^2/6),  nu = c h/L the Courant number of the step h of the case
//
// An area that varies along a cell: A is its mean there, which is exact for linear displacements and keeps L/c the
// travel time of the cell; a consistent M is the integral of rho A N^T N and a lumped one has the sums of its rows.
//
// Lateral inertia (Love): points at a distance r from the axis move by nu r u' across it, which adds
//   m nu^2 J/(A L^2) [1 -1; -1 1]      to M, J the polar moment, A^2/(2 pi) of a solid round bar
//
// With the Newmark family, waves obey  sin^2(w h/2) (1 - 4 mu s^2 + 4 beta nu^2 s^2) = nu^2 s^2,  s = sin(kL/2): with
// beta = 1/4 the tuned mu cancels the leading error of the wave speed.
//
// Forces and energies use displacement differences, never K times displacements: a bar that has flown far
// keeps its strain to the last digit. Cells whose equations follow one another are swept as runs, without
// any indirection; cells at a support, or numbered otherwise, are loose.

#include "core/loop.h"
#include "elements/axial.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct rod_sums {
    double strain; // sum (q_i+1 - q_i)^2
    double square; // sum v_i^2 + v_i+1^2
    double cross;  // sum v_i v_i+1
    double plain;  // sum v_i + v_i+1
} rod_sums;

// Vectors of four doubles are used with AVX only: elsewhere gcc would split them through memory.
#if defined(__x86_64__)
enum { LANES = 8, WIDTH = 4, PARTS = LANES / WIDTH };
#else
enum { LANES = 8, WIDTH = 2, PARTS = LANES / WIDTH };
#endif

// Sums over a state, or over its difference from an earlier one, in eight partial sums each: independent chains of
// additions, with less round-off than one. Positions and velocities are summed separately, as the partial sums of both
// exceed the registers. Uses no arrays, as reading in pairs what was written singly stalls the processor.
typedef double rod_sums_vector __attribute__((vector_size(WIDTH * sizeof(double))));
typedef struct rod_sums_lanes {
    rod_sums_vector part[PARTS];
} rod_sums_lanes;

#define ROD_SUMS_INLINE static inline __attribute__((always_inline))

// Adds the partial sums in the same order for any vector width: (0 + 4) + (1 + 5), (2 + 6) + (3 + 7).
ROD_SUMS_INLINE double rod_sums_add_lanes(double sum, const rod_sums_lanes *lanes)
{
    const rod_sums_vector *part = lanes->part;
    if (WIDTH == 4) {
        rod_sums_vector s = part[0] + part[1];
        return sum + ((s[0] + s[1]) + (s[2 % WIDTH] + s[3 % WIDTH]));
    }
    rod_sums_vector s = part[0] + part[2 % PARTS], t = part[1] + part[3 % PARTS];
    return sum + ((s[0] + s[1]) + (t[0] + t[1]));
}

ROD_SUMS_INLINE void rod_sums_load(const double *x, rod_sums_lanes *out)
{
    for (int k = 0; k < PARTS; k++) memcpy(&out->part[k], x + WIDTH * k, sizeof out->part[k]);
}

// Adds a b to the partial sums.
ROD_SUMS_INLINE void rod_sums_multiply(rod_sums_lanes *sum, const rod_sums_lanes *a, const rod_sums_lanes *b)
{
    for (int k = 0; k < PARTS; k++) sum->part[k] += a->part[k] * b->part[k];
}

ROD_SUMS_INLINE void rod_sums_add(rod_sums_lanes *sum, const rod_sums_lanes *a)
{
    for (int k = 0; k < PARTS; k++) sum->part[k] += a->part[k];
}

// Subtracts b from a.
ROD_SUMS_INLINE void rod_sums_subtract(rod_sums_lanes *a, const rod_sums_lanes *b)
{
    for (int k = 0; k < PARTS; k++) a->part[k] -= b->part[k];
}

// Computes x_k+1 - x_k.
ROD_SUMS_INLINE void rod_sums_stretch_of(const double *x, rod_sums_lanes *out)
{
    rod_sums_lanes before;
    rod_sums_load(x + 1, out);
    rod_sums_load(x, &before);
    rod_sums_subtract(out, &before);
}

// Computes sum (x_k+1 - x_k)^2 of a state, and of its difference from x0; NULL if not needed.
ROD_SUMS_INLINE void rod_sums_stretch(int n, const double *x0, const double *x, rod_sums *state, rod_sums *change)
{
    rod_sums_lanes part = { 0 }, part_of_change = { 0 }, stretch, stretch0;
    double sum = 0.0, sum_of_change = 0.0;
    int i = 0;
    for (; i + LANES <= n; i += LANES) {
        rod_sums_stretch_of(x + i, &stretch);
        if (state != NULL) rod_sums_multiply(&part, &stretch, &stretch);
        if (change == NULL) continue;
        rod_sums_stretch_of(x0 + i, &stretch0);
        rod_sums_subtract(&stretch, &stretch0);
        rod_sums_multiply(&part_of_change, &stretch, &stretch);
    }
    for (; i < n; i++) {
        double single = x[i + 1] - x[i];
        sum += single * single;
        if (change == NULL) continue;
        single -= x0[i + 1] - x0[i];
        sum_of_change += single * single;
    }
    if (state != NULL) state->strain = rod_sums_add_lanes(sum, &part);
    if (change != NULL) change->strain = rod_sums_add_lanes(sum_of_change, &part_of_change);
}

// Holds partial sums of squares and of products of neighbours.
typedef struct rod_sums_products {
    rod_sums_lanes square, cross;
    double square_of_rest, cross_of_rest; // entries that do not fill the lanes
} rod_sums_products;

ROD_SUMS_INLINE void rod_sums_add_lanes_of(rod_sums_products *p, const rod_sums_lanes *a, const rod_sums_lanes *b)
{
    rod_sums_multiply(&p->square, a, a);
    rod_sums_multiply(&p->cross, a, b);
}

ROD_SUMS_INLINE void rod_sums_add_one_of(rod_sums_products *p, double a, double b)
{
    p->square_of_rest += a * a;
    p->cross_of_rest += a * b;
}

// Completes the sums over both ends of all cells, from sums over x_0 .. x_n-1.
ROD_SUMS_INLINE void rod_sums_close(const rod_sums_products *p, double first, double last, rod_sums *out)
{
    out->square = 2.0 * rod_sums_add_lanes(p->square_of_rest, &p->square) + (last * last - first * first);
    out->cross = rod_sums_add_lanes(p->cross_of_rest, &p->cross);
}

// Computes the sums of x in `state`, and those of x - x0 in `change`; either may be NULL.
ROD_SUMS_INLINE void rod_sums_product(int n, const double *x0, const double *x, rod_sums *state, rod_sums *change)
{
    rod_sums_products of_state = { 0 }, of_change = { 0 };
    rod_sums_lanes plain = { 0 }, a, b, before;
    double plain_of_rest = 0.0;
    int i = 0;
    for (; i + LANES <= n; i += LANES) {
        rod_sums_load(x + i, &a);
        rod_sums_load(x + i + 1, &b);
        if (state != NULL) {
            rod_sums_add_lanes_of(&of_state, &a, &b);
            rod_sums_add(&plain, &a);
        }
        if (change == NULL) continue;
        rod_sums_load(x0 + i, &before);
        rod_sums_subtract(&a, &before);
        rod_sums_load(x0 + i + 1, &before);
        rod_sums_subtract(&b, &before);
        rod_sums_add_lanes_of(&of_change, &a, &b);
    }
    for (; i < n; i++) {
        if (state != NULL) rod_sums_add_one_of(&of_state, x[i], x[i + 1]);
        plain_of_rest += x[i];
        if (change != NULL) rod_sums_add_one_of(&of_change, x[i] - x0[i], x[i + 1] - x0[i + 1]);
    }
    if (state != NULL) {
        rod_sums_close(&of_state, x[0], x[n], state);
        state->plain = 2.0 * rod_sums_add_lanes(plain_of_rest, &plain) + (x[n] - x[0]);
    }
    if (change != NULL) rod_sums_close(&of_change, x[0] - x0[0], x[n] - x0[n], change);
}

// Computes all sums of one state.
PCS_WIDE static void rod_run_sums(int n, const double *q, const double *v, rod_sums *out)
{
    rod_sums_product(n, NULL, v, out, NULL);
    rod_sums_stretch(n, NULL, q, out, NULL);
}

// Computes the sums of the difference of two states, q[1] - q[0] and v[1] - v[0], except `plain`.
PCS_WIDE static void rod_run_change(int n, const double *const q[2], const double *const v[2], rod_sums *out)
{
    rod_sums_product(n, v[0], v[1], NULL, out);
    rod_sums_stretch(n, q[0], q[1], NULL, out);
}

// Computes the sums of the second state in out[0], and those of the difference in out[1].
PCS_WIDE static void rod_run_both(int n, const double *const q[2], const double *const v[2], rod_sums out[2])
{
    rod_sums_product(n, v[0], v[1], &out[0], &out[1]);
    rod_sums_stretch(n, q[0], q[1], &out[0], &out[1]);
}

// Computes `square` from the squares of v_i + v_i+1, the only terms of M = (m/4) [1 1; 1 1], and no `cross`. So a
// sawtooth in v, which may be large, cancels before rounding.
PCS_WIDE static void rod_run_pairs(int n, const double *restrict q, const double *restrict v, rod_sums *out)
{
    double strain[LANES] = { 0 }, square[LANES] = { 0 }, plain[LANES] = { 0 };
    int whole = n / LANES * LANES;
    rod_sums s = { 0 };
    for (int i = 0; i < whole; i += LANES)
        for (int j = 0; j < LANES; j++) {
            double stretch = q[i + j + 1] - q[i + j], pair = v[i + j + 1] + v[i + j];
            strain[j] += stretch * stretch;
            square[j] += pair * pair;
            plain[j] += pair;
        }
    for (int k = whole; k < n; k++) {
        double stretch = q[k + 1] - q[k], pair = v[k + 1] + v[k];
        s.strain += stretch * stretch;
        s.square += pair * pair;
        s.plain += pair;
    }
    for (int j = 0; j < LANES; j++) {
        s.strain += strain[j];
        s.square += square[j];
        s.plain += plain[j];
    }
    *out = s;
}

static const double circle_constant = 3.14159265358979323846;

// Describes cells c, c+1, ... whose equations are (e, e+1), (e+1, e+2), ...; all with the same k and m.
typedef struct rod_run {
    int cell, count, equation;
    double k, m, area;
    double self, other; // M = m [self other; other self_end]
    double self_end;    // equal to self in a run, or for constant area
    double sign;        // +1 if the run goes from first to second node along the axis, -1 if against it
    double axis[3];
} rod_run;

typedef struct rod_data {
    int nrun, nloose;
    rod_run *runs;  // [nrun]
    rod_run *loose; // [nloose] one cell each, with the equations of the batch
} rod_data;

// Returns the round-off of a difference of two node positions of this cell, m.
static double rod_length_noise(const pcs_batch *batch, int cell)
{
    const int *node = batch->nodes[batch->cells[cell]];
    double largest = 0.0;
    for (int k = 0; k < 6; k++) {
        double x = fabs(batch->x[node[k / 3]][k % 3]);
        largest = x > largest ? x : largest;
    }
    return 4.0 * DBL_EPSILON * largest;
}

static bool rod_is_free(const int *equation)
{
    return equation[0] >= 0 && equation[1] == equation[0] + 1;
}

// Returns true if a cell can be part of a run: no fixed node and a constant area.
static bool rod_is_plain(const pcs_batch *batch, int cell)
{
    const pcs_taper *taper = pcs_taper_of(batch, cell);
    return rod_is_free(batch->equation + 2 * (size_t)cell) && (taper == NULL || taper->is_uniform);
}

static double rod_area(const pcs_batch *batch, int cell)
{
    return pcs_rod_find_cell(batch, cell, false).area;
}

// Holds what cells of a run must have in common: area, length and sense of the axis, and consecutive equations.
typedef struct rod_kin {
    int cell, equation;
    double area, length, way, noise;
} rod_kin;

static rod_kin rod_find_kin(const pcs_batch *batch, int cell)
{
    rod_kin kin = { .cell = cell, .equation = batch->equation[2 * (size_t)cell] };
    kin.area = rod_area(batch, cell);
    kin.length = pcs_axial_way(batch, cell, &kin.way);
    kin.noise = rod_length_noise(batch, cell);
    return kin;
}

// Returns true if the cell can continue the run that begins with `start`.
static bool rod_joins(const pcs_batch *batch, const rod_kin *start, int cell)
{
    if (!rod_is_plain(batch, cell)) return false;
    rod_kin kin = rod_find_kin(batch, cell);
    bool is_next = kin.equation == start->equation + (cell - start->cell);
    bool is_alike = is_next && kin.area == start->area && kin.way == start->way;
    return is_alike && fabs(kin.length - start->length) <= start->noise + kin.noise;
}

// Returns the index after the last cell of the run that begins at `start`.
static int rod_run_end(const pcs_batch *batch, int start)
{
    rod_kin kin = rod_find_kin(batch, start);
    int end = start + 1;
    while (end < batch->ncell && rod_joins(batch, &kin, end)) end++;
    return end;
}

// Returns the mean length of a run's cells from its end nodes, m, free of the round-off of single differences.
static double rod_mean_length(const pcs_batch *batch, int start, int end)
{
    const double *a = batch->x[batch->nodes[batch->cells[start]][0]];
    const double *b = batch->x[batch->nodes[batch->cells[end - 1]][1]];
    double length2 = 0.0;
    for (int k = 0; k < 3; k++) length2 += (b[k] - a[k]) * (b[k] - a[k]);
    return sqrt(length2) / (end - start);
}

// Returns mu of a mass matrix that depends on the mean area only.
static double rod_coupling(const pcs_batch *batch, double courant)
{
    if (((const pcs_rod_params *)batch->params)->mass == PCS_ROD_ONE_POINT) return 0.25;
    return fmin(0.25 - 1e-3, 1.0 / 12.0 + courant * courant / 6.0);
}

static void rod_sum_square(void *user, const pcs_taper_piece *piece)
{
    for (int i = 0; i < PCS_TAPER_POINTS; i++)
        *(double *)user += piece->weight[i] * piece->section[i].area * piece->section[i].area;
}

// Returns nu^2 J/(A L^2), with the means of J and A over the cell.
static double rod_lateral(const pcs_batch *batch, int cell, const rod_run *run)
{
    const pcs_rod_params *p = batch->params;
    const pcs_taper *taper = pcs_taper_of(batch, cell);
    if (p->nu == 0.0) return 0.0;
    double square = taper == NULL ? run->area * run->area : 0.0, length2 = p->E / p->rho * run->m / run->k;
    const pcs_section_line line = { .type = &pcs_rod_area, .params = p };
    if (taper != NULL) pcs_taper_walk(&line, taper, rod_sum_square, &square);
    double J = isnan(p->polar) ? square / (2.0 * circle_constant) : p->polar;
    return p->nu * p->nu * J / (run->area * length2);
}

// Computes the coefficients self, self_end and other of the mass of a run.
static void rod_share_mass(const pcs_batch *batch, int cell, rod_run *run)
{
    int mass = ((const pcs_rod_params *)batch->params)->mass;
    pcs_rod_cell shares = pcs_rod_find_cell(batch, cell, mass == PCS_ROD_LUMPED);
    if (mass == PCS_ROD_ONE_POINT || mass == PCS_ROD_TUNED) {
        shares.other = rod_coupling(batch, sqrt(run->k / run->m) * batch->step);
        shares.self = shares.self_end = 0.5 - shares.other;
    }
    double lateral = rod_lateral(batch, cell, run);
    run->self = shares.self + lateral;
    run->self_end = shares.self_end + lateral;
    run->other = shares.other - lateral;
}

static rod_run rod_make_run(const pcs_batch *batch, int start, int end)
{
    const pcs_rod_params *p = batch->params;
    rod_run run = { .cell = start, .count = end - start, .equation = batch->equation[2 * (size_t)start] };
    double length = pcs_axial_axis(batch, start, run.axis, &run.sign);
    if (run.count > 1) length = rod_mean_length(batch, start, end);
    run.area = rod_area(batch, start);
    run.k = p->E * run.area / length;
    run.m = p->rho * run.area * length;
    rod_share_mass(batch, start, &run);
    return run;
}

// Splits the cells into runs and loose cells. Only counts them while the arrays are NULL.
static void rod_split(const pcs_batch *batch, rod_data *data)
{
    data->nrun = data->nloose = 0;
    for (int start = 0, end; start < batch->ncell; start = end) {
        bool is_run = rod_is_plain(batch, start);
        end = is_run ? rod_run_end(batch, start) : start + 1;
        rod_run *list = is_run ? data->runs : data->loose;
        int *count = is_run ? &data->nrun : &data->nloose;
        if (list != NULL) list[*count] = rod_make_run(batch, start, end);
        ++*count;
    }
}

static pcs_status rod_setup(pcs_context *ctx, pcs_batch *batch)
{
    rod_data *data;
    bool is_tuned = ((const pcs_rod_params *)batch->params)->mass == PCS_ROD_TUNED;
    if (is_tuned && !(batch->step > 0.0))
        return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': a tuned mass needs a time step in numbers",
                        batch->name);
    PCS_TAKE(ctx, data, 1, "rods");
    rod_split(batch, data);
    PCS_TAKE(ctx, data->runs, data->nrun, "rods");
    PCS_TAKE(ctx, data->loose, data->nloose, "rods");
    rod_split(batch, data);
    batch->data = data;
    batch->is_balanced = batch->damping_mass == 0.0 && data->nloose == 0;
    batch->takes_ranges = data->nloose <= 64 && data->nrun <= 64; // each range visits all of them, so they must be few
    return PCS_OK;
}

// Returns the last of the sorted runs that starts at or before a cell, or NULL.
static const rod_run *rod_search(const rod_run *runs, int count, int cell)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (runs[middle].cell <= cell) low = middle + 1;
        else high = middle;
    }
    return low == 0 ? NULL : &runs[low - 1];
}

// Returns the run or loose cell that contains a cell.
static const rod_run *rod_find(const rod_data *data, int cell)
{
    const rod_run *run = rod_search(data->runs, data->nrun, cell);
    return run != NULL && cell < run->cell + run->count ? run : rod_search(data->loose, data->nloose, cell);
}

static void rod_matrices(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *M, double *K, double *C)
{
    const rod_data *data = batch->data;
    const rod_run *run = rod_find(data, cell);
    if (M != NULL) {
        M[0] = run->m * run->self;
        M[3] = run->m * run->self_end;
        M[1] = M[2] = run->m * run->other;
    }
    if (K == NULL) return;
    K[0] = K[3] = run->k;
    K[1] = K[2] = -run->k;
}

// The entries first <= i < end, of `count` from equation e on, in the batch's range.
typedef struct rod_range {
    int first, end;
} rod_range;

static rod_range rod_clip(const pcs_cell_state *at, int e, int count)
{
    rod_range r = { 0, count };
    if (at->high == 0) return r;
    if (at->low - e > r.first) r.first = at->low - e < count ? at->low - e : count;
    if (at->high - e < r.end) r.end = at->high - e > r.first ? at->high - e : r.first;
    return r;
}

static bool rod_is_asked_for(const pcs_cell_state *at, int equation)
{
    return equation >= 0 && (at->high == 0 || (equation >= at->low && equation < at->high));
}

// Adds k (q_i+1 - q_i) - k (q_i - q_i-1) to f_i, row by row from both neighbours, so that rows are independent.
PCS_WIDE static void rod_run_spring(int n, rod_range r, double k, const double *restrict q, double *restrict f)
{
    int end = r.end < n ? r.end : n;
    if (r.first == 0 && r.end > 0) f[0] += k * (q[1] - q[0]);
    for (int i = r.first > 1 ? r.first : 1; i < end; i++) f[i] += k * ((q[i + 1] - q[i]) - (q[i] - q[i - 1]));
    if (r.first <= n && r.end > n) f[n] -= k * (q[n] - q[n - 1]);
}

// Subtracts m alpha (other v_i-1 + 2 self v_i + other v_i+1) from f_i, half of it at the ends.
static void rod_run_drag(const rod_run *run, rod_range r, double alpha, const double *restrict v, double *restrict f)
{
    int n = run->count, end = r.end < n ? r.end : n;
    double self = alpha * run->m * run->self, other = alpha * run->m * run->other;
    if (r.first == 0 && r.end > 0) f[0] -= self * v[0] + other * v[1];
    for (int i = r.first > 1 ? r.first : 1; i < end; i++) f[i] -= other * (v[i - 1] + v[i + 1]) + 2.0 * self * v[i];
    if (r.first <= n && r.end > n) f[n] -= self * v[n] + other * v[n - 1];
}

static void rod_loose_force(const pcs_batch *batch, const rod_run *cell, const pcs_cell_state *at, double out[2])
{
    double x[2], w[2];
    pcs_cell_look(batch, cell->cell, 2, at, x, w);
    double tension = cell->k * ((x[1] - x[0]) + batch->damping_stiffness * (w[1] - w[0]));
    double drag = batch->damping_mass * cell->m;
    out[0] = tension - drag * (cell->self * w[0] + cell->other * w[1]);
    out[1] = -tension - drag * (cell->other * w[0] + cell->self_end * w[1]);
}

// Adds Rayleigh damping of a run to f.
static void rod_add_damping(const pcs_batch *batch, const rod_run *run, rod_range r, const double *v, double *f)
{
    double alpha = batch->damping_mass, beta = batch->damping_stiffness;
    if (beta != 0.0) rod_run_spring(run->count, r, run->k * beta, v + run->equation, f + run->equation);
    if (alpha != 0.0) rod_run_drag(run, r, alpha, v + run->equation, f + run->equation);
}

static void rod_add_loose_forces(const pcs_batch *batch, const pcs_cell_state *at, double *f)
{
    const rod_data *data = batch->data;
    for (int i = 0; i < data->nloose; i++) {
        const int *equation = batch->equation + 2 * (size_t)data->loose[i].cell;
        double out[2];
        rod_loose_force(batch, &data->loose[i], at, out);
        for (int k = 0; k < 2; k++)
            if (rod_is_asked_for(at, equation[k])) f[equation[k]] += out[k];
    }
}

static void rod_force(const pcs_batch *batch, const pcs_cell_state *at, double *f)
{
    const rod_data *data = batch->data;
    for (int i = 0; i < data->nrun; i++) {
        const rod_run *run = &data->runs[i];
        int e = run->equation, n = run->count;
        rod_range r = rod_clip(at, e, n + 1);
        rod_run_spring(n, r, run->k, at->q + e, f + e);
        rod_add_damping(batch, run, r, at->v, f);
    }
    if (data->nloose > 0) rod_add_loose_forces(batch, at, f);
}

// Adds the energies of a run, and its momentum.
static void rod_add_sums(const rod_run *run, const rod_sums *s, pcs_cell_sums *sum)
{
    double momentum = run->m * (run->self + run->other) * s->plain;
    sum->strain += 0.5 * run->k * s->strain;
    sum->kinetic += 0.5 * run->m * (run->self * s->square + 2.0 * run->other * s->cross);
    for (int k = 0; k < 3; k++) sum->momentum[k] += momentum * run->axis[k];
}

static void rod_add_change(const rod_run *run, const rod_sums *s, pcs_cell_sums *sum)
{
    sum->change_in_strain += 0.5 * run->k * s->strain;
    sum->change_in_kinetic += 0.5 * run->m * (run->self * s->square + 2.0 * run->other * s->cross);
}

static void rod_measure_run(const rod_run *run, const pcs_cell_state *at, unsigned what, pcs_cell_sums *sum)
{
    rod_range r = rod_clip(at, run->equation, run->count);
    int e = run->equation + r.first, n = r.end - r.first;
    bool is_paired = run->self == run->other, has_state = (what & PCS_CELL_ENERGY) != 0;
    rod_sums sums[2]; // of the state and of the change
    if (n == 0) return;
    if (!(what & PCS_CELL_CHANGE)) {
        if (is_paired) rod_run_pairs(n, at->q + e, at->v + e, &sums[0]);
        else rod_run_sums(n, at->q + e, at->v + e, &sums[0]);
    } else {
        const double *const q[2] = { at->q0 + e, at->q + e }, *const v[2] = { at->v0 + e, at->v + e };
        if (has_state) rod_run_both(n, q, v, sums);
        else rod_run_change(n, q, v, &sums[1]);
        if (has_state && is_paired) rod_run_pairs(n, q[1], v[1], &sums[0]);
        rod_add_change(run, &sums[1], sum);
    }
    if (has_state) rod_add_sums(run, &sums[0], sum);
}

// Computes the momenta of a loose cell, kg m/s. Returns twice its kinetic energy, J.
static double rod_loose_momentum(const rod_run *cell, const double w[2], double p[2])
{
    p[0] = cell->m * (cell->self * w[0] + cell->other * w[1]);
    p[1] = cell->m * (cell->other * w[0] + cell->self_end * w[1]);
    return w[0] * p[0] + w[1] * p[1];
}

static void rod_measure_loose(const pcs_batch *batch, const rod_run *cell, const pcs_cell_state *at, unsigned what,
                              pcs_cell_sums *sum)
{
    const int *equation = batch->equation + 2 * (size_t)cell->cell;
    double x[2], w[2], p[2], x0[2], w0[2];
    // A cell begins at its first equation; it does not move if both nodes are fixed.
    if (!rod_is_asked_for(at, equation[0] >= 0 ? equation[0] : equation[1])) return;
    pcs_cell_look(batch, cell->cell, 2, at, x, w);
    if (what & PCS_CELL_ENERGY) {
        sum->strain += 0.5 * cell->k * (x[1] - x[0]) * (x[1] - x[0]);
        sum->kinetic += 0.5 * rod_loose_momentum(cell, w, p);
        for (int k = 0; k < 3; k++) {
            sum->momentum[k] += (p[0] + p[1]) * cell->axis[k];
            for (int j = 0; j < 2; j++)
                if (equation[j] < 0) sum->fixed_momentum[k] += p[j] * cell->axis[k];
        }
    }
    if (!(what & PCS_CELL_CHANGE)) return;
    pcs_cell_gather(equation, 2, at->q0, x0);
    pcs_cell_gather(equation, 2, at->v0, w0);
    double stretch = (x[1] - x[0]) - (x0[1] - x0[0]);
    const double change[2] = { w[0] - w0[0], w[1] - w0[1] };
    sum->change_in_strain += 0.5 * cell->k * stretch * stretch;
    sum->change_in_kinetic += 0.5 * rod_loose_momentum(cell, change, p);
}

// Adds the resultant, N. Springs cancel within a run: only drag and the cells at supports contribute.
PCS_APART static void rod_add_resultant(const pcs_batch *batch, const pcs_cell_state *at, pcs_cell_sums *sum)
{
    const rod_data *data = batch->data;
    int nbraked = batch->damping_mass == 0.0 ? 0 : data->nrun;
    for (int i = 0; i < nbraked; i++) {
        const rod_run *run = &data->runs[i];
        rod_sums s;
        rod_run_sums(run->count, at->v + run->equation, at->v + run->equation, &s);
        double drag = batch->damping_mass * run->m * (run->self + run->other) * s.plain;
        for (int k = 0; k < 3; k++) sum->resultant[k] -= drag * run->axis[k];
    }
    for (int i = 0; i < data->nloose; i++) {
        const int *equation = batch->equation + 2 * (size_t)data->loose[i].cell;
        double out[2];
        rod_loose_force(batch, &data->loose[i], at, out);
        for (int j = 0; j < 2; j++)
            if (equation[j] >= 0)
                for (int k = 0; k < 3; k++) sum->resultant[k] += out[j] * data->loose[i].axis[k];
    }
}

static void rod_measure(const pcs_batch *batch, const pcs_cell_state *at, unsigned what, pcs_cell_sums *sum)
{
    const rod_data *data = batch->data;
    if (what & PCS_CELL_RESULTANT) rod_add_resultant(batch, at, sum);
    if (!(what & (PCS_CELL_ENERGY | PCS_CELL_CHANGE))) return;
    for (int i = 0; i < data->nrun; i++) rod_measure_run(&data->runs[i], at, what, sum);
    for (int i = 0; i < data->nloose; i++) rod_measure_loose(batch, &data->loose[i], at, what, sum);
}

// Evaluates the fields; the damping force is not part of the elastic stress.
static void rod_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                            double field[PCS_MAX_CELL_FIELDS])
{
    const rod_run *run = rod_find(batch->data, cell);
    double x[2];
    pcs_cell_gather(batch->equation + 2 * (size_t)cell, 2, at->q, x);
    double stretch = x[1] - x[0], tension = run->sign * run->k * stretch;
    field[0] = tension;
    field[1] = tension / run->area;
    field[2] = 0.5 * run->k * stretch * stretch;
    pcs_rod_read_ends(batch, cell, at->line_load, tension, &run->sign, field + 3);
}

static double rod_travel_time(const pcs_batch *batch, int cell, bool is_transverse)
{
    const rod_run *run = rod_find(batch->data, cell);
    return sqrt(run->m / run->k);
}

static const char *const rod_masses[] = { "consistent", "lumped", "one_point", "tuned", "auto", NULL };

static const pcs_option rod_options[] = {
    PCS_ROD_MATERIAL,
    PCS_CHOICE("mass", pcs_rod_params, mass, PCS_DEFAULT("auto"), rod_masses,
               "mass matrix; tuned: by the time step, for clean waves with implicit schemes; auto: consistent, and "
               "one_point with scheme wave, which needs it"),
    { 0 },
};

static const char *const rod_love_masses[] = { "consistent", "lumped", NULL };

static const pcs_option rod_love_options[] = {
    PCS_ROD_MATERIAL,
    PCS_REAL("nu", pcs_rod_params, nu, PCS_REQUIRED, PCS_ABOVE(-1.0, 0.5), "Poisson's ratio"),
    PCS_REAL("polar_moment", pcs_rod_params, polar, PCS_OPTIONAL, PCS_POSITIVE,
             "of the section, m^4; by default that of a solid round bar, A^2/(2 pi)"),
    PCS_CHOICE("mass", pcs_rod_params, mass, PCS_DEFAULT("consistent"), rod_love_masses, "mass matrix of axial motion"),
    { 0 },
};

#define ROD_KERNELS                                                                                                   \
    .params_size = sizeof(pcs_rod_params), .area = &pcs_rod_area, .nnode = 2, .ndof = 2, .fields = pcs_rod_fields,    \
    .end_fields = pcs_rod_end_fields, .node_dofs = pcs_axial_line_dofs, .setup = rod_setup, .matrices = rod_matrices, \
    .force = rod_force, .measure = rod_measure, .read_fields = rod_read_fields

const pcs_element_ops pcs_element_rod = {
    .name = "rod",
    .summary = "two-node rod, one dof per node along its axis; fields axial_force, stress, strain_energy",
    .options = rod_options,
    .mass = { .offset = offsetof(pcs_rod_params, mass),
              .consistent = PCS_ROD_CONSISTENT,
              .one_point = PCS_ROD_ONE_POINT,
              .automatic = PCS_ROD_AUTO,
              .tuned = PCS_ROD_TUNED },
    .travel_time = rod_travel_time,
    ROD_KERNELS,
};

const pcs_element_ops pcs_element_rod_love = {
    .name = "rod_love",
    .summary = "two-node rod with lateral inertia, for thick bars whose waves disperse; otherwise as rod",
    .options = rod_love_options,
    ROD_KERNELS,
};
