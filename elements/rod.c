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

#include "elements/axial.h"
#include "elements/rod_sums.h"

#include "core/loop.h"

#include <float.h>
#include <math.h>

static const double circle_constant = 3.14159265358979323846;

// Cells c, c+1, ... whose equations are (e, e+1), (e+1, e+2), ...; all with the same k and m.
typedef struct rod_run {
    int cell, count, equation;
    double k, m, area;
    double self, other; // M = m [self other; other self_end]
    double self_end;    // as self in a run, and in a cell of one area
    double sign;        // +1: from first to second node along the axis, -1: against it
    double axis[3];
} rod_run;

typedef struct rod_data {
    int nrun, nloose;
    rod_run *runs;  // [nrun]
    rod_run *loose; // [nloose] one cell each; its equations are looked up in the batch
} rod_data;

// Round-off in a difference of two node positions of this cell.
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

// Can a cell be part of a run?
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

// Can cell join the run that started so?
static bool rod_joins(const pcs_batch *batch, const rod_kin *start, int cell)
{
    if (!rod_is_plain(batch, cell)) return false;
    rod_kin kin = rod_find_kin(batch, cell);
    bool is_next = kin.equation == start->equation + (cell - start->cell);
    bool is_alike = is_next && kin.area == start->area && kin.way == start->way;
    return is_alike && fabs(kin.length - start->length) <= start->noise + kin.noise;
}

// One past the last cell of the run that starts at `start`.
static int rod_run_end(const pcs_batch *batch, int start)
{
    rod_kin kin = rod_find_kin(batch, start);
    int end = start + 1;
    while (end < batch->ncell && rod_joins(batch, &kin, end)) end++;
    return end;
}

// Length of a run's cells from its end nodes: the mean, free of the round-off of single differences.
static double rod_mean_length(const pcs_batch *batch, int start, int end)
{
    const double *a = batch->x[batch->nodes[batch->cells[start]][0]];
    const double *b = batch->x[batch->nodes[batch->cells[end - 1]][1]];
    double length2 = 0.0;
    for (int k = 0; k < 3; k++) length2 += (b[k] - a[k]) * (b[k] - a[k]);
    return sqrt(length2) / (end - start);
}

// mu of a mass matrix that knows the mean area only.
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

// nu^2 J/(A L^2), with the means of J and A over the cell.
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

// Shares of the mass of a run.
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

// First pass counts (runs and loose are NULL), second pass fills.
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
    return PCS_OK;
}

// The last of the sorted runs that starts at or before a cell, or NULL.
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

// The run or loose cell that holds a cell.
static const rod_run *rod_find(const rod_data *data, int cell)
{
    const rod_run *run = rod_search(data->runs, data->nrun, cell);
    return run != NULL && cell < run->cell + run->count ? run : rod_search(data->loose, data->nloose, cell);
}

static void rod_matrices(const pcs_batch *batch, int cell, double *M, double *K)
{
    const rod_data *data = batch->data;
    const rod_run *run = rod_find(data, cell);
    M[0] = run->m * run->self;
    M[3] = run->m * run->self_end;
    M[1] = M[2] = run->m * run->other;
    K[0] = K[3] = run->k;
    K[1] = K[2] = -run->k;
}

// The two nodal values of a loose cell; a fixed one is zero.
static void rod_gather(const pcs_batch *batch, const rod_run *cell, const double *x, double value[2])
{
    pcs_cell_gather(batch->equation + 2 * (size_t)cell->cell, 2, x, value);
}

// Entries of the range asked for among `count` that begin with equation e: first <= i < end.
typedef struct rod_range {
    int first, end;
} rod_range;

static rod_range rod_clip(const pcs_batch *batch, int e, int count)
{
    rod_range r = { 0, count };
    if (batch->high == 0) return r;
    if (batch->low - e > r.first) r.first = batch->low - e < count ? batch->low - e : count;
    if (batch->high - e < r.end) r.end = batch->high - e > r.first ? batch->high - e : r.first;
    return r;
}

static bool rod_is_asked_for(const pcs_batch *batch, int equation)
{
    return equation >= 0 && (batch->high == 0 || (equation >= batch->low && equation < batch->high));
}

// f_i += k (q_i+1 - q_i) - k (q_i - q_i-1): every row from its two neighbours, so that nothing waits.
PCS_WIDE static void rod_run_spring(int n, rod_range r, double k, const double *restrict q, double *restrict f)
{
    int end = r.end < n ? r.end : n;
    if (r.first == 0 && r.end > 0) f[0] += k * (q[1] - q[0]);
    for (int i = r.first > 1 ? r.first : 1; i < end; i++) f[i] += k * ((q[i + 1] - q[i]) - (q[i] - q[i - 1]));
    if (r.first <= n && r.end > n) f[n] -= k * (q[n] - q[n - 1]);
}

// The same beside what `from` holds, where f holds nothing yet but its first entry.
PCS_WIDE static void rod_run_put(int n, double k, const double *from, const double *restrict q, double *restrict f)
{
    f[0] += k * (q[1] - q[0]);
    for (int i = 1; i < n; i++) f[i] = from[i] + k * ((q[i + 1] - q[i]) - (q[i] - q[i - 1]));
    f[n] = from[n] - k * (q[n] - q[n - 1]);
}

// f_i -= m alpha (other v_i-1 + 2 self v_i + other v_i+1), half of it at the ends.
static void rod_run_drag(const rod_run *run, rod_range r, double alpha, const double *restrict v, double *restrict f)
{
    int n = run->count, end = r.end < n ? r.end : n;
    double self = alpha * run->m * run->self, other = alpha * run->m * run->other;
    if (r.first == 0 && r.end > 0) f[0] -= self * v[0] + other * v[1];
    for (int i = r.first > 1 ? r.first : 1; i < end; i++) f[i] -= other * (v[i - 1] + v[i + 1]) + 2.0 * self * v[i];
    if (r.first <= n && r.end > n) f[n] -= self * v[n] + other * v[n - 1];
}

static void rod_loose_force(const pcs_batch *batch, const rod_run *cell, const double *q, const double *v,
                            double out[2])
{
    double x[2], w[2];
    rod_gather(batch, cell, q, x);
    rod_gather(batch, cell, v, w);
    double tension = cell->k * ((x[1] - x[0]) + batch->damping_stiffness * (w[1] - w[0]));
    double drag = batch->damping_mass * cell->m;
    out[0] = tension - drag * (cell->self * w[0] + cell->other * w[1]);
    out[1] = -tension - drag * (cell->other * w[0] + cell->self_end * w[1]);
}

// Rayleigh's damping of a run.
static void rod_add_damping(const pcs_batch *batch, const rod_run *run, rod_range r, const double *v, double *f)
{
    double alpha = batch->damping_mass, beta = batch->damping_stiffness;
    if (beta != 0.0) rod_run_spring(run->count, r, run->k * beta, v + run->equation, f + run->equation);
    if (alpha != 0.0) rod_run_drag(run, r, alpha, v + run->equation, f + run->equation);
}

static void rod_add_loose_forces(const pcs_batch *batch, const double *q, const double *v, double *f)
{
    const rod_data *data = batch->data;
    for (int i = 0; i < data->nloose; i++) {
        const int *equation = batch->equation + 2 * (size_t)data->loose[i].cell;
        double out[2];
        rod_loose_force(batch, &data->loose[i], q, v, out);
        for (int k = 0; k < 2; k++)
            if (rod_is_asked_for(batch, equation[k])) f[equation[k]] += out[k];
    }
}

static void rod_add_force(const pcs_batch *batch, const double *q, const double *v, double *f)
{
    const rod_data *data = batch->data;
    for (int i = 0; i < data->nrun; i++) {
        const rod_run *run = &data->runs[i];
        int e = run->equation, n = run->count;
        rod_range r = rod_clip(batch, e, n + 1);
        rod_run_spring(n, r, run->k, q + e, f + e);
        rod_add_damping(batch, run, r, v, f);
    }
    if (data->nloose > 0) rod_add_loose_forces(batch, q, v, f);
}

// Do runs follow one another over all equations?
static bool rod_reaches_all(const pcs_batch *batch, int n)
{
    const rod_data *data = batch->data;
    int end = 0;
    for (int i = 0; i < data->nrun; i++) {
        if (data->runs[i].equation != end) return false;
        end += data->runs[i].count;
    }
    return data->nrun > 0 && end == n - 1;
}

// The last entry of a run is the first of the next.
static void rod_put_force(const pcs_batch *batch, const double *from, const double *q, const double *v, double *f)
{
    const rod_data *data = batch->data;
    f[0] = from[0];
    for (int i = 0; i < data->nrun; i++) {
        const rod_run *run = &data->runs[i];
        int e = run->equation, n = run->count;
        rod_run_put(n, run->k, from + e, q + e, f + e);
        rod_add_damping(batch, run, (rod_range){ 0, n + 1 }, v, f);
    }
    if (data->nloose > 0) rod_add_loose_forces(batch, q, v, f);
}

// Every range looks at all loose cells.
static bool rod_takes_ranges(const pcs_batch *batch)
{
    const rod_data *data = batch->data;
    return data->nloose <= 64 && data->nrun <= 64;
}

static void rod_add_sums(const rod_run *run, const pcs_rod_sums *s, pcs_energy *sum)
{
    sum->strain += 0.5 * run->k * s->strain;
    sum->kinetic += 0.5 * run->m * (run->self * s->square + 2.0 * run->other * s->cross);
}

static void rod_add_momentum(const rod_run *run, const pcs_rod_sums *s, pcs_energy *sum)
{
    double momentum = run->m * (run->self + run->other) * s->plain;
    for (int k = 0; k < 3; k++) sum->momentum[k] += momentum * run->axis[k];
}

// The same of a loose cell, whose momenta p are given back.
static void rod_add_loose(const rod_run *cell, double stretch, const double w[2], double p[2], pcs_energy *sum)
{
    p[0] = cell->m * (cell->self * w[0] + cell->other * w[1]);
    p[1] = cell->m * (cell->other * w[0] + cell->self_end * w[1]);
    sum->strain += 0.5 * cell->k * stretch * stretch;
    sum->kinetic += 0.5 * (w[0] * p[0] + w[1] * p[1]);
}

// Returns the first equation of a loose cell, negative if both nodes are fixed: it does not move then.
static int rod_first_equation(const int equation[2])
{
    return equation[0] >= 0 ? equation[0] : equation[1];
}

static void rod_add_loose_energies(const pcs_batch *batch, const double *q, const double *v, pcs_energy *sum)
{
    const rod_data *data = batch->data;
    for (int i = 0; i < data->nloose; i++) {
        const rod_run *cell = &data->loose[i];
        const int *equation = batch->equation + 2 * (size_t)cell->cell;
        double x[2], w[2], p[2];
        if (!rod_is_asked_for(batch, rod_first_equation(equation))) continue;
        rod_gather(batch, cell, q, x);
        rod_gather(batch, cell, v, w);
        rod_add_loose(cell, x[1] - x[0], w, p, sum);
        for (int k = 0; k < 3; k++) {
            sum->momentum[k] += (p[0] + p[1]) * cell->axis[k];
            for (int j = 0; j < 2; j++)
                if (equation[j] < 0) sum->fixed_momentum[k] += p[j] * cell->axis[k];
        }
    }
}

static void rod_add_energy(const pcs_batch *batch, const double *q, const double *v, pcs_energy *sum)
{
    const rod_data *data = batch->data;
    for (int i = 0; i < data->nrun; i++) {
        const rod_run *run = &data->runs[i];
        bool is_paired = run->self == run->other;
        rod_range r = rod_clip(batch, run->equation, run->count);
        int n = r.end - r.first;
        const double *x = q + run->equation + r.first, *w = v + run->equation + r.first;
        if (n == 0) continue;
        pcs_rod_sums sums;
        if (is_paired) pcs_rod_run_pairs(n, x, w, &sums);
        else pcs_rod_run_sums(n, x, w, &sums);
        rod_add_sums(run, &sums, sum);
        rod_add_momentum(run, &sums, sum);
    }
    if (data->nloose > 0) rod_add_loose_energies(batch, q, v, sum);
}

static void rod_add_loose_changes(const pcs_batch *batch, const double *const q[2], const double *const v[2],
                                  pcs_energy *sum)
{
    const rod_data *data = batch->data;
    for (int i = 0; i < data->nloose; i++) {
        const rod_run *cell = &data->loose[i];
        if (!rod_is_asked_for(batch, rod_first_equation(batch->equation + 2 * (size_t)cell->cell))) continue;
        double x0[2], x1[2], w0[2], w1[2], p[2];
        rod_gather(batch, cell, q[0], x0);
        rod_gather(batch, cell, q[1], x1);
        rod_gather(batch, cell, v[0], w0);
        rod_gather(batch, cell, v[1], w1);
        const double change[2] = { w1[0] - w0[0], w1[1] - w0[1] };
        rod_add_loose(cell, (x1[1] - x1[0]) - (x0[1] - x0[0]), change, p, sum);
    }
}

static void rod_add_change(const pcs_batch *batch, const double *q0, const double *q1, const double *v0,
                           const double *v1, pcs_energy *sum)
{
    const rod_data *data = batch->data;
    for (int i = 0; i < data->nrun; i++) {
        const rod_run *run = &data->runs[i];
        rod_range r = rod_clip(batch, run->equation, run->count);
        int e = run->equation + r.first, n = r.end - r.first;
        const double *const q[2] = { q0 + e, q1 + e }, *const v[2] = { v0 + e, v1 + e };
        pcs_rod_sums sums;
        if (n == 0) continue;
        pcs_rod_run_change(n, q, v, &sums);
        rod_add_sums(run, &sums, sum);
    }
    const double *const q[2] = { q0, q1 }, *const v[2] = { v0, v1 };
    if (data->nloose > 0) rod_add_loose_changes(batch, q, v, sum);
}

static void rod_add_both(const pcs_batch *batch, const double *const q[2], const double *const v[2], pcs_energy *state,
                         pcs_energy *change)
{
    const rod_data *data = batch->data;
    for (int i = 0; i < data->nrun; i++) {
        const rod_run *run = &data->runs[i];
        rod_range r = rod_clip(batch, run->equation, run->count);
        int e = run->equation + r.first, n = r.end - r.first;
        const double *const x[2] = { q[0] + e, q[1] + e }, *const w[2] = { v[0] + e, v[1] + e };
        pcs_rod_sums sums[2];
        if (n == 0) continue;
        pcs_rod_run_both(n, x, w, sums);
        if (run->self == run->other) pcs_rod_run_pairs(n, x[1], w[1], &sums[0]);
        rod_add_sums(run, &sums[0], state);
        rod_add_momentum(run, &sums[0], state);
        rod_add_sums(run, &sums[1], change);
    }
    if (data->nloose == 0) return;
    rod_add_loose_energies(batch, q[1], v[1], state);
    rod_add_loose_changes(batch, q, v, change);
}

// Within a run the springs cancel; drag and the cells at supports remain.
static void rod_add_resultant(const pcs_batch *batch, const double *q, const double *v, double sum[3])
{
    const rod_data *data = batch->data;
    if (batch->damping_mass != 0.0)
        for (int i = 0; i < data->nrun; i++) {
            const rod_run *run = &data->runs[i];
            pcs_rod_sums s;
            pcs_rod_run_sums(run->count, v + run->equation, v + run->equation, &s);
            double drag = batch->damping_mass * run->m * (run->self + run->other) * s.plain;
            for (int k = 0; k < 3; k++) sum[k] -= drag * run->axis[k];
        }
    for (int i = 0; i < data->nloose; i++) {
        const int *equation = batch->equation + 2 * (size_t)data->loose[i].cell;
        double out[2];
        rod_loose_force(batch, &data->loose[i], q, v, out);
        for (int j = 0; j < 2; j++)
            if (equation[j] >= 0)
                for (int k = 0; k < 3; k++) sum[k] += out[j] * data->loose[i].axis[k];
    }
}

static void rod_read_fields(const pcs_batch *batch, int cell, const double *q, const double *v,
                            double field[PCS_MAX_CELL_FIELDS])
{
    (void)v; // the damping force is not part of the elastic stress
    const rod_run *run = rod_find(batch->data, cell);
    double x[2];
    pcs_cell_gather(batch->equation + 2 * (size_t)cell, 2, q, x);
    double stretch = x[1] - x[0], tension = run->sign * run->k * stretch;
    field[0] = tension;
    field[1] = tension / run->area;
    field[2] = 0.5 * run->k * stretch * stretch;
    pcs_rod_read_ends(batch, cell, tension, &run->sign, field + 3);
}

static double rod_travel_time(const pcs_batch *batch, int cell, bool is_transverse)
{
    (void)is_transverse; // its only waves are axial
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
    .params_size = sizeof(pcs_rod_params), .area = &pcs_rod_area, .ndof = 2, .fields = pcs_rod_fields,                \
    .end_fields = pcs_rod_end_fields, .node_dofs = pcs_axial_line_dofs, .setup = rod_setup, .matrices = rod_matrices, \
    .add_force = rod_add_force, .put_force = rod_put_force, .reaches_all = rod_reaches_all,                           \
    .takes_ranges = rod_takes_ranges, .add_energy = rod_add_energy, .add_change = rod_add_change,                     \
    .add_both = rod_add_both, .add_resultant = rod_add_resultant, .read_fields = rod_read_fields

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
