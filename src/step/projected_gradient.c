// Accelerated projections for contact problems of many rows, the way out when the sets of Newton's method fail.
//
// z solves the laws exactly where z = Proj(z - s r (value + correction)) with the correction friction |xt| on the
// normal velocity of a row that rubs (de Saxce, Feng 1998); Proj goes onto z >= 0 or the cone |Lt| <= friction La.
// Nesterov's extrapolation with a restart whenever it points uphill (O'Donoghue, Candes 2015); s = 1 / largest
// eigenvalue of r P.

#include "core/rounding.h"
#include "step/krylov_set.h"
#include "step/sums.h"

#include <math.h>
#include <string.h>

enum { POWER_STEPS = 12, PATIENCE = 100 };

static const double still = 1.0001; // largest defect of so many sweeps over the smallest: they lead nowhere

// Returns one mass for all directions of a row, kg, so that its cone stays circular.
static double gradient_mass(const pcs_krylov_set *c, int row)
{
    double mass = c->p.r[c->p.m + row];
    for (int t = 0; t < c->p.rows[row].ntangent; t++) mass = fmin(mass, c->p.r[pcs_contact_tangent(&c->p, row, t)]);
    return mass;
}

// Returns true if the velocity law of a row applies: its gate is closed, or it is bilateral.
static bool gradient_is_on(const pcs_krylov_set *c, int row)
{
    return c->p.gate[row] || c->p.rows[row].is_bilateral;
}

// Computes z = Proj(aim - s r (aim_value + correction)) for La and Lt of one row.
static void gradient_cone(pcs_krylov_set *c, int row, double s)
{
    const pcs_row *r = &c->p.rows[row];
    int la = c->p.m + row;
    double mass = s * gradient_mass(c, row), slip2 = 0.0, y2 = 0.0;
    for (int t = 0; t < r->ntangent; t++) {
        int k = pcs_contact_tangent(&c->p, row, t);
        slip2 += c->aim_value[k] * c->aim_value[k];
        c->p.z[k] = gradient_is_on(c, row) && r->friction > 0.0 ? c->aim[k] - mass * c->aim_value[k] : 0.0;
        y2 += c->p.z[k] * c->p.z[k];
    }
    double normal = c->aim[la] - mass * (c->aim_value[la] + r->friction * sqrt(slip2)), y = sqrt(y2);
    if (!gradient_is_on(c, row)) normal = 0.0;
    double scale = 1.0;
    if (!r->is_bilateral && y > r->friction * normal) {
        double on_edge = fmax(0.0, (normal + r->friction * y) / (1.0 + r->friction * r->friction));
        scale = y > 0.0 ? r->friction * on_edge / y : 0.0;
        normal = on_edge;
    }
    c->p.z[la] = r->is_bilateral ? normal : fmax(normal, 0.0);
    for (int t = 0; t < r->ntangent; t++) c->p.z[pcs_contact_tangent(&c->p, row, t)] *= scale;
}

static void gradient_all(pcs_krylov_set *c, double s)
{
    for (int j = 0; j < c->p.m; j++) {
        if (c->stage & PCS_STAGE_GAP) {
            double nu = c->aim[j] - s * c->p.r[j] * c->aim_value[j];
            c->p.z[j] = c->p.rows[j].is_bilateral ? nu : fmax(nu, 0.0);
            if (c->p.held != NULL) c->p.z[j] = pcs_contact_holds(&c->p, j) ? nu : 0.0;
        }
        if (c->stage & PCS_STAGE_RATE) gradient_cone(c, j, s);
    }
    for (int k = 2 * c->p.m + c->p.nt; k < pcs_krylov_set_last(c); k++)
        if (c->mode[k] == PCS_MODE_HELD) c->p.z[k] = c->aim[k] - s * c->p.r[k] * c->aim_value[k];
}

// Returns the largest eigenvalue of r P on the rows that take part, by the power method.
static double gradient_lipschitz(pcs_krylov_set *c)
{
    double size = 1.0;
    int first = pcs_krylov_set_first(c), last = pcs_krylov_set_last(c);
    if (c->lipschitz[c->stage] > 0.0) return c->lipschitz[c->stage];
    for (int k = first; k < last; k++) c->x[k] = c->p.r[k] * (1.0 + 0.5 * sin(1.7 * k));
    for (int step = 0; step < POWER_STEPS; step++) {
        c->product(c->owner, c->stage, c->stage, c->x, c->image, NULL);
        c->products++;
        size = pcs_all_largest(c->comm, last - first, c->image + first);
        if (size > 0.0)
            for (int k = first; k < last; k++) c->x[k] = c->p.r[k] * c->image[k] / size;
    }
    // The largest entry has been brought to 1 before every product, so `size` tends to the eigenvalue.
    c->lipschitz[c->stage] = 1.2 * pcs_larger(1e-300, size);
    return c->lipschitz[c->stage];
}

// Returns the fixed-point residual, the largest |z - aim| over all processes as a velocity, m/s: zero at a solution.
static double gradient_defect(const pcs_krylov_set *c, double s)
{
    double worst = 0.0;
    for (int k = pcs_krylov_set_first(c); k < pcs_krylov_set_last(c); k++) {
        double defect = fabs(c->p.z[k] - c->aim[k]) / (s * c->p.r[k] * pcs_contact_unit(&c->p, k));
        worst = pcs_larger(worst, defect);
    }
    return pcs_all_max(c->comm, worst);
}

// Returns true if the last move was against the direction of descent.
static bool gradient_is_uphill(const pcs_krylov_set *c)
{
    double sum = 0.0;
    for (int k = pcs_krylov_set_first(c); k < pcs_krylov_set_last(c); k++)
        sum += (c->aim[k] - c->p.z[k]) * (c->p.z[k] - c->z_last[k]) / c->p.r[k];
    return pcs_all_total(c->comm, sum) > 0.0;
}

// Extrapolates from z and value: aim = z + weight (z - z_last), its values alike.
static void gradient_extrapolate(pcs_krylov_set *c, double weight)
{
    for (int k = pcs_krylov_set_first(c); k < pcs_krylov_set_last(c); k++) {
        double step = weight * (c->p.z[k] - c->z_last[k]);
        c->aim[k] = c->p.z[k] + step;
        c->F[k] = weight * (c->p.value[k] - c->F[k]); // F: values at z_last
        c->aim_value[k] = c->p.value[k] + c->F[k];
        c->z_last[k] = c->p.z[k];
        c->F[k] = c->p.value[k];
    }
}

// Repeats the step from the same point with the values found at its end: an extragradient step (Korpelevich 1976), for
// monotone maps that are not symmetric, on which the plain step may cycle.
static void gradient_correct(pcs_krylov_set *c, double s)
{
    for (int k = pcs_krylov_set_first(c); k < pcs_krylov_set_last(c); k++) {
        c->x[k] = c->p.z[k];
        c->aim_value[k] = c->p.value[k];
    }
    gradient_all(c, s);
    for (int k = pcs_krylov_set_first(c); k < pcs_krylov_set_last(c); k++) c->x[k] = c->p.z[k] - c->x[k];
    c->product(c->owner, c->stage, c->stage, c->x, c->image, NULL);
    c->products++;
    for (int k = pcs_krylov_set_first(c); k < pcs_krylov_set_last(c); k++) c->p.value[k] += c->image[k];
}

void pcs_projected_gradient(pcs_krylov_set *c, double target, int limit)
{
    int first = pcs_krylov_set_first(c), last = pcs_krylov_set_last(c);
    double s = 1.0 / gradient_lipschitz(c), momentum = 1.0, best = INFINITY, low = INFINITY, high = 0.0;
    bool is_accelerated = c->is_symmetric && c->stage != PCS_STAGE_BOTH;
    for (int k = first; k < last; k++) {
        c->z_last[k] = c->aim[k] = c->p.z[k];
        c->F[k] = c->aim_value[k] = c->p.value[k];
    }
    for (int sweep = 0; sweep < limit; sweep++, c->projections++) {
        gradient_all(c, s);
        double defect = gradient_defect(c, s);
        if (defect <= target || !isfinite(defect)) break;
        if (defect > 100.0 * best) s *= 0.5; // the step was too long
        best = fmin(best, defect);
        if (sweep % PATIENCE == 0) {
            if (high <= still * low && sweep > 0) break;
            low = high = defect;
        }
        low = fmin(low, defect);
        high = fmax(high, defect);
        // The values at z are those at `aim` and what the way from there adds.
        for (int k = first; k < last; k++) c->x[k] = c->p.z[k] - c->aim[k];
        c->product(c->owner, c->stage, c->stage, c->x, c->image, NULL);
        c->products++;
        for (int k = first; k < last; k++) c->p.value[k] = c->aim_value[k] + c->image[k];
        if (!is_accelerated) gradient_correct(c, s);
        bool restarts = !is_accelerated || gradient_is_uphill(c) || defect > 100.0 * best;
        double next = restarts ? 1.0 : 0.5 * (1.0 + sqrt(1.0 + 4.0 * momentum * momentum));
        gradient_extrapolate(c, restarts ? 0.0 : (momentum - 1.0) / next);
        momentum = next;
    }
}
