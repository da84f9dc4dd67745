// Is a closed-form definition complete, and do its functions agree with each other? Checked for plug-ins before they
// run, so that a wrong sign in G is found at once.
//
//   G = dg/dq, (dG/dt) v, -df/dq, -df/dv and d(M a)/dq by central differences;  M symmetric and positive;  what is
//   declared constant is constant
//
// Differences leave about 1e-9 of round-off; 1e-5 of the row's size is a mistake, not round-off.

#include "closed_form/closed_form.h"

#include <math.h>
#include <string.h>

static const double check_tolerance = 1e-5;

typedef struct check {
    pcs_context *ctx;
    const percuss_system_definition *def;
    const double *p;
    int n, nrow, ntangent;
    double length;
} check;

// Returns the name of the first required member that is missing, or NULL.
static const char *check_missing(const percuss_system_definition *d)
{
    bool turns = !d->is_linear && !d->has_constant_directions;
    if (d->name == NULL) return "name";
    if (d->summary == NULL) return "summary";
    if (d->parameters == NULL) return "parameters";
    if (d->coordinates == NULL) return "coordinates";
    if (d->row_count == NULL) return "row_count";
    if (d->rows == NULL) return "rows";
    if (d->start == NULL) return "start";
    if (d->length == NULL) return "length";
    if (d->mass == NULL) return "mass";
    if (d->force == NULL) return "force";
    if (d->gaps == NULL) return "gaps";
    if (d->directions == NULL) return "directions";
    if (d->energy == NULL) return "energy";
    if (turns && d->rate_bias == NULL) return "rate_bias (its directions are not declared constant)";
    if (d->npoint > 0 && d->points == NULL) return "points";
    if (d->ncell > 0 && d->cells == NULL) return "cells";
    if (d->npoint == 0 && d->points != NULL) return "npoint";
    return NULL;
}

static pcs_status check_names(pcs_context *ctx, const percuss_system_definition *d)
{
    for (int i = 0; i < d->ncoordinate; i++) {
        if (d->coordinates[i] == NULL || d->coordinates[i][0] == '\0')
            return pcs_fail(ctx, PCS_BAD_INPUT, "system '%s': coordinate %d has no name", d->name, i);
        for (int k = 0; k < i; k++)
            if (strcmp(d->coordinates[i], d->coordinates[k]) == 0)
                return pcs_fail(ctx, PCS_BAD_INPUT, "system '%s': two coordinates are called '%s'", d->name,
                                d->coordinates[i]);
    }
    for (int i = 0; i < d->ncell; i++)
        for (int k = 0; k < 2; k++)
            if (d->cells[i][k] < 0 || d->cells[i][k] >= d->npoint)
                return pcs_fail(ctx, PCS_BAD_INPUT, "system '%s': cell %d joins point %d, there are %d", d->name, i,
                                d->cells[i][k], d->npoint);
    return PCS_OK;
}

pcs_status pcs_closed_form_verify(pcs_context *ctx, const percuss_system_definition *d)
{
    // Nothing else may be read from a definition of another layout.
    if (d->abi < 1 || d->abi > PERCUSS_SYSTEM_ABI)
        return pcs_fail(ctx, PCS_BAD_INPUT, "the system is made for interface %d, this program has 1 to %d", d->abi,
                        PERCUSS_SYSTEM_ABI);
    const char *missing = check_missing(d);
    if (missing != NULL)
        return pcs_fail(ctx, PCS_BAD_INPUT, "system '%s' does not give %s", d->name == NULL ? "?" : d->name, missing);
    if (d->ncoordinate < 1 || d->ncoordinate > PCS_MAX_COORDINATES)
        return pcs_fail(ctx, PCS_BAD_INPUT, "system '%s' has %d coordinates, allowed are 1 to %d", d->name,
                        d->ncoordinate, PCS_MAX_COORDINATES);
    if (d->npoint < 0 || d->ncell < 0)
        return pcs_fail(ctx, PCS_BAD_INPUT, "system '%s' has %d points and %d cells", d->name, d->npoint, d->ncell);
    return check_names(ctx, d);
}

static pcs_status check_rows(check *c)
{
    percuss_row row[PCS_MAX_CLOSED_ROWS];
    const char *name = c->def->name;
    c->nrow = c->def->row_count(c->p);
    if (c->nrow < 0 || c->nrow > PCS_MAX_CLOSED_ROWS)
        return pcs_fail(c->ctx, PCS_BAD_INPUT, "system '%s' has %d rows, allowed are 0 to %d", name, c->nrow,
                        PCS_MAX_CLOSED_ROWS);
    memset(row, 0, sizeof row);
    c->def->rows(c->p, row);
    for (int j = 0; j < c->nrow; j++) {
        if (row[j].contact == NULL || row[j].contact[0] == '\0')
            return pcs_fail(c->ctx, PCS_BAD_INPUT, "system '%s': row %d has no name of a contact", name, j);
        const double part[] = { row[j].restitution, row[j].tangent_restitution, row[j].friction };
        static const char *const what[] = { "restitution", "tangent_restitution", "friction" };
        for (int k = 0; k < 3; k++)
            if (!(part[k] >= 0.0 && part[k] <= (k < 2 ? 1.0 : HUGE_VAL)) || isinf(part[k]))
                return pcs_fail(c->ctx, PCS_BAD_INPUT, "system '%s': %s of '%s' must be in [0, %s, is %g", name,
                                what[k], row[j].contact, k < 2 ? "1]" : "inf)", part[k]);
        if (row[j].ntangent < 0 || row[j].ntangent > 2)
            return pcs_fail(c->ctx, PCS_BAD_INPUT, "system '%s': '%s' has %d tangents, allowed are 0, 1, 2", name,
                            row[j].contact, row[j].ntangent);
        c->ntangent += row[j].ntangent;
    }
    return PCS_OK;
}

// Returns true if A is positive definite: every pivot of its elimination is positive.
static bool check_is_positive(int n, double *A)
{
    for (int k = 0; k < n; k++) {
        if (!(A[k * n + k] > 0.0)) return false;
        for (int i = k + 1; i < n; i++) {
            double factor = A[i * n + k] / A[k * n + k];
            for (int j = k + 1; j < n; j++) A[i * n + j] -= factor * A[k * n + j];
        }
    }
    return true;
}

static pcs_status check_mass(const check *c, const double *q)
{
    double M[PCS_MAX_COORDINATES * PCS_MAX_COORDINATES] = { 0 };
    int n = c->n;
    c->def->mass(c->p, q, M);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (!(fabs(M[i * n + j] - M[j * n + i]) <= 1e-12 * (fabs(M[i * n + i]) + fabs(M[j * n + j]))))
                return pcs_fail(c->ctx, PCS_BAD_INPUT, "system '%s': M is not symmetric, M('%s', '%s') is %g and %g",
                                c->def->name, c->def->coordinates[i], c->def->coordinates[j], M[i * n + j],
                                M[j * n + i]);
    if (check_is_positive(n, M)) return PCS_OK;
    return pcs_fail(c->ctx, PCS_BAD_INPUT, "system '%s': M is not positive definite", c->def->name);
}

static void check_directions_at(const check *c, const double *q, double *G)
{
    double T[2 * PCS_MAX_CLOSED_ROWS * PCS_MAX_COORDINATES];
    c->def->directions(c->p, q, G, T);
}

static double check_row_size(const double *row, int n)
{
    double size = 0.0;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(row[i]));
    return size;
}

// Returns the derivative of a gap by q_i that is nearer to `wanted`, of two steps: one for angles, one for lengths.
static double check_slope(const check *c, const double *q, int i, int row, double wanted)
{
    double best = INFINITY;
    for (int attempt = 0; attempt < 2; attempt++) {
        double step = 1e-6 * fmax(fabs(q[i]), attempt == 0 ? 1.0 : c->length), x[PCS_MAX_COORDINATES];
        double plus[PCS_MAX_CLOSED_ROWS], minus[PCS_MAX_CLOSED_ROWS];
        memcpy(x, q, (size_t)c->n * sizeof *x);
        x[i] = q[i] + step;
        c->def->gaps(c->p, x, plus);
        x[i] = q[i] - step;
        c->def->gaps(c->p, x, minus);
        double slope = (plus[row] - minus[row]) / (2.0 * step);
        if (!(fabs(slope - wanted) >= fabs(best - wanted))) best = slope;
    }
    return best;
}

static pcs_status check_gaps(const check *c, const double *q)
{
    double G[PCS_MAX_CLOSED_ROWS * PCS_MAX_COORDINATES] = { 0 };
    check_directions_at(c, q, G);
    for (int j = 0; j < c->nrow; j++)
        for (int i = 0; i < c->n; i++) {
            double given = G[j * c->n + i], slope = check_slope(c, q, i, j, given);
            if (fabs(slope - given) <= check_tolerance * check_row_size(&G[j * c->n], c->n)) continue;
            return pcs_fail(c->ctx, PCS_BAD_INPUT,
                            "system '%s': G of row %d, coordinate '%s', is %.9g, but the gap changes by %.9g",
                            c->def->name, j, c->def->coordinates[i], given, slope);
        }
    return PCS_OK;
}

static pcs_status check_bias(const check *c, const double *q, const double *v)
{
    double before[PCS_MAX_CLOSED_ROWS * PCS_MAX_COORDINATES] = { 0 }, x[PCS_MAX_COORDINATES];
    double after[PCS_MAX_CLOSED_ROWS * PCS_MAX_COORDINATES] = { 0 }, bias[PCS_MAX_CLOSED_ROWS] = { 0 };
    double step = 1e-6 / fmax(1.0, check_row_size(v, c->n));
    for (int i = 0; i < c->n; i++) x[i] = q[i] - step * v[i];
    check_directions_at(c, x, before);
    for (int i = 0; i < c->n; i++) x[i] = q[i] + step * v[i];
    check_directions_at(c, x, after);
    if (c->def->rate_bias != NULL) c->def->rate_bias(c->p, q, v, bias);
    for (int j = 0; j < c->nrow; j++) {
        double sum = 0.0, size = 0.0;
        for (int i = 0; i < c->n; i++) {
            sum += (after[j * c->n + i] - before[j * c->n + i]) / (2.0 * step) * v[i];
            size += fabs(after[j * c->n + i]) * v[i] * v[i];
        }
        if (fabs(sum - bias[j]) <= check_tolerance * (size + fabs(bias[j]))) continue;
        return pcs_fail(c->ctx, PCS_BAD_INPUT, "system '%s': rate_bias of row %d is %.9g, but (dG/dt) v is %.9g",
                        c->def->name, j, bias[j], sum);
    }
    return PCS_OK;
}

// Checks that a mass matrix declared constant does not vary with q, and that a force declared linear is affine in q.
static pcs_status check_constants(const check *c, const double *q, const double *q1, const double *v)
{
    double M0[PCS_MAX_COORDINATES * PCS_MAX_COORDINATES], M1[PCS_MAX_COORDINATES * PCS_MAX_COORDINATES];
    double f0[PCS_MAX_COORDINATES], f1[PCS_MAX_COORDINATES], f2[PCS_MAX_COORDINATES];
    double q2[PCS_MAX_COORDINATES];
    for (int i = 0; i < c->n; i++) q2[i] = 2.0 * q1[i] - q[i];
    c->def->mass(c->p, q, M0);
    c->def->mass(c->p, q1, M1);
    if ((c->def->is_linear || c->def->has_constant_mass) &&
        memcmp(M0, M1, (size_t)c->n * (size_t)c->n * sizeof *M0) != 0)
        return pcs_fail(c->ctx, PCS_BAD_INPUT, "system '%s': M is declared constant but varies", c->def->name);
    if (!c->def->is_linear) return PCS_OK;
    c->def->force(c->p, 0.0, q, v, f0);
    c->def->force(c->p, 0.0, q1, v, f1);
    c->def->force(c->p, 0.0, q2, v, f2);
    for (int i = 0; i < c->n; i++)
        if (!(fabs(f0[i] - 2.0 * f1[i] + f2[i]) <= 1e-9 * (fabs(f0[i]) + fabs(f1[i]) + fabs(f2[i]))))
            return pcs_fail(c->ctx, PCS_BAD_INPUT, "system '%s' is declared linear, but its force on '%s' is not",
                            c->def->name, c->def->coordinates[i]);
    return PCS_OK;
}

// Derivatives to check: of the force by q or by v, or of M a by q.
typedef enum check_kind { CHECK_STIFFNESS, CHECK_DAMPING, CHECK_INERTIA } check_kind;

static void check_function(const check *c, check_kind kind, const double *const state[3], double *y)
{
    double M[PCS_MAX_COORDINATES * PCS_MAX_COORDINATES];
    if (kind != CHECK_INERTIA) c->def->force(c->p, 0.0, state[0], state[1], y);
    if (kind != CHECK_INERTIA) return;
    c->def->mass(c->p, state[0], M);
    for (int i = 0; i < c->n; i++) {
        y[i] = 0.0;
        for (int k = 0; k < c->n; k++) y[i] += M[i * c->n + k] * state[2][k];
    }
}

// A column of a derivative by a difference over `step` both ways, and what round-off leaves of it.
typedef struct check_slopes {
    double step, slope[PCS_MAX_COORDINATES], noise[PCS_MAX_COORDINATES];
} check_slopes;

static void check_column(const check *c, check_kind kind, const double *const state[3], int column, check_slopes *out)
{
    int moved = kind == CHECK_DAMPING ? 1 : 0;
    double x[PCS_MAX_COORDINATES], plus[PCS_MAX_COORDINATES], minus[PCS_MAX_COORDINATES];
    const double *const at[] = { moved == 0 ? x : state[0], moved == 1 ? x : state[1], state[2] };
    memcpy(x, state[moved], (size_t)c->n * sizeof *x);
    x[column] = state[moved][column] + out->step;
    check_function(c, kind, at, plus);
    x[column] = state[moved][column] - out->step;
    check_function(c, kind, at, minus);
    for (int i = 0; i < c->n; i++) {
        out->slope[i] = (kind == CHECK_INERTIA ? 0.5 : -0.5) * (plus[i] - minus[i]) / out->step;
        out->noise[i] = 1e-14 * (fabs(plus[i]) + fabs(minus[i])) / out->step;
    }
}

static pcs_status check_derivative(const check *c, check_kind kind, const double *const state[3], const double *given)
{
    static const char *const name[] = { "K", "C", "A" }, *const of[] = { "-df/dq", "-df/dv", "d(M a)/dq" };
    const double *base = state[kind == CHECK_DAMPING ? 1 : 0];
    for (int j = 0; j < c->n; j++) {
        check_slopes unit = { .step = 1e-6 * fmax(1.0, fabs(base[j])) };
        check_slopes own = { .step = 1e-6 * fmax(c->length, fabs(base[j])) };
        check_column(c, kind, state, j, &unit);
        check_column(c, kind, state, j, &own);
        for (int i = 0; i < c->n; i++) {
            double size = check_row_size(&given[i * c->n], c->n), is = given[i * c->n + j];
            const check_slopes *better = fabs(own.slope[i] - is) < fabs(unit.slope[i] - is) ? &own : &unit;
            if (fabs(better->slope[i] - is) <= check_tolerance * size + better->noise[i]) continue;
            return pcs_fail(c->ctx, PCS_BAD_INPUT, "system '%s': %s('%s', '%s') is %.9g, but %s is %.9g", c->def->name,
                            name[kind], c->def->coordinates[i], c->def->coordinates[j], is, of[kind], better->slope[i]);
        }
    }
    return PCS_OK;
}

static pcs_status check_derivatives(const check *c, const double *q, const double *v)
{
    double K[PCS_MAX_COORDINATES * PCS_MAX_COORDINATES], C[PCS_MAX_COORDINATES * PCS_MAX_COORDINATES];
    const double *const state[] = { q, v, v }; // any numbers will do for a
    if (c->def->abi < 2) return PCS_OK;
    if (c->def->tangents != NULL) {
        c->def->tangents(c->p, 0.0, q, v, K, C);
        PCS_TRY(check_derivative(c, CHECK_STIFFNESS, state, K));
        PCS_TRY(check_derivative(c, CHECK_DAMPING, state, C));
    }
    if (c->def->inertia_tangent == NULL) return PCS_OK;
    c->def->inertia_tangent(c->p, q, v, K);
    return check_derivative(c, CHECK_INERTIA, state, K);
}

pcs_status pcs_closed_form_compare(pcs_context *ctx, const percuss_system_definition *d, const double *p,
                                   const double *q, const double *v)
{
    check c = { .ctx = ctx, .def = d, .p = p, .n = d->ncoordinate, .length = d->length(p) };
    double f[PCS_MAX_COORDINATES], w[PCS_MAX_COORDINATES], near[PCS_MAX_COORDINATES];
    if (!(c.length > 0.0) || isinf(c.length))
        return pcs_fail(ctx, PCS_BAD_INPUT, "system '%s': length must be > 0, is %g", d->name, c.length);
    PCS_TRY(check_rows(&c));
    // Every coordinate moves and none is at a special place: a start is often at rest and symmetric.
    for (int i = 0; i < c.n; i++) {
        w[i] = v[i] + 0.3 * (i + 1) * fmax(1.0, check_row_size(v, c.n));
        near[i] = q[i] + 0.01 * (i + 1) * fmax(fabs(q[i]), c.length);
    }
    d->force(p, 0.0, q, w, f);
    for (int i = 0; i < c.n; i++)
        if (!isfinite(q[i]) || !isfinite(v[i]) || !isfinite(f[i]))
            return pcs_fail(ctx, PCS_BAD_INPUT, "system '%s': start or force of '%s' is not finite", d->name,
                            d->coordinates[i]);
    PCS_TRY(check_mass(&c, q));
    PCS_TRY(check_constants(&c, q, near, w));
    PCS_TRY(check_gaps(&c, near));
    PCS_TRY(check_bias(&c, near, w));
    return check_derivatives(&c, near, w);
}
