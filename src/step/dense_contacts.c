#include "step/dense_contacts.h"

#include "core/dense.h"
#include "step/step.h"

#include <math.h>
#include <string.h>

enum { REFINEMENTS = 3, PROXIMAL_ROUNDS = 12 };
static const double proximal_weight = 1e-6; // on the diagonal, where joints say the same twice
static const double most_mass = 1e8;        // that joints may bind to a contact, in units of its own

pcs_status pcs_dense_contacts_create(pcs_context *ctx, const pcs_system *system, bool may_hold,
                                     pcs_dense_contacts **out)
{
    pcs_dense_contacts *c;
    size_t m = (size_t)system->nrow, n = 2 * m + (may_hold ? 2 : 1) * (size_t)system->ntangent;
    PCS_TAKE(ctx, c, 1, "the contact problem");
    c->system = system;
    PCS_TRY(pcs_contact_problem_create(ctx, system->rows, system->nrow, system->ntangent, (int)n, &c->p));
    c->p.nheld_t = may_hold ? system->ntangent : 0;
    double **squares[] = { &c->P, &c->H, &c->B, &c->Y, &c->rest };
    for (size_t i = 0; i < sizeof squares / sizeof *squares; i++)
        PCS_TAKE(ctx, *squares[i], n * (n + 1), "the contact problem");
    PCS_TAKE(ctx, c->P_gate, m * n, "the contact problem");
    PCS_TAKE(ctx, c->work, 2 * (n + 1), "the contact problem");
    PCS_TAKE(ctx, c->is_out, n, "the contact problem");
    int **lists[] = { &c->held, &c->place, &c->pivot };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) PCS_TAKE(ctx, *lists[i], n, "the contact problem");
    PCS_TAKE(ctx, c->row, m, "the contact problem");
    *out = c;
    return pcs_active_set_create(ctx, system, &c->set);
}

// Returns true if contact row j may transmit an impulse.
static bool dense_takes_part(const pcs_dense_contacts *c, int j)
{
    if (c->p.rows[j].is_bilateral || c->is_out[c->p.m + j]) return false;
    return c->p.has_position || c->p.gate_is_live || c->p.gate[j];
}

// Adds unknown k to those whose equation is imposed, unless nothing moves along it.
static void dense_hold(pcs_dense_contacts *c, int k)
{
    if (c->P[(size_t)k * (size_t)c->p.n + (size_t)k] != 0.0) c->held[c->nheld++] = k;
}

// Adds the position multipliers of a held row, normal and tangential, to the imposed unknowns.
static void dense_hold_gap(pcs_dense_contacts *c, int row)
{
    if (pcs_contact_holds(&c->p, row)) dense_hold(c, row);
    for (int t = 0; t < (pcs_contact_holds_tangents(&c->p, row) ? c->p.rows[row].ntangent : 0); t++)
        dense_hold(c, c->p.n - c->p.nheld_t + c->p.rows[row].first_tangent + t);
}

// Splits the unknowns into those whose equations are imposed and those left to the active set.
static void dense_number(pcs_dense_contacts *c)
{
    pcs_active_set *s = c->set;
    s->p.m = s->p.nt = c->nheld = 0;
    for (int j = 0; j < c->p.m; j++) {
        dense_hold_gap(c, j);
        if (c->p.rows[j].is_bilateral) {
            if (c->p.has_position) c->held[c->nheld++] = j;
            c->held[c->nheld++] = c->p.m + j;
            continue;
        }
        if (!dense_takes_part(c, j)) continue;
        s->rows[s->p.m] = c->p.rows[j];
        s->rows[s->p.m].first_tangent = s->p.nt;
        s->p.nt += c->p.rows[j].ntangent;
        c->row[s->p.m++] = j;
    }
    s->p.n = 2 * s->p.m + s->p.nt;
    for (int j = 0; j < s->p.m; j++) {
        const pcs_row *row = &c->p.rows[c->row[j]];
        c->place[j] = c->row[j];
        c->place[s->p.m + j] = c->p.m + c->row[j];
        for (int t = 0; t < row->ntangent; t++)
            c->place[2 * s->p.m + s->p.rows[j].first_tangent + t] = 2 * c->p.m + row->first_tangent + t;
    }
}

// Returns entry (i, j) of P_hh in units of velocities and impulses.
static double dense_held_entry(const pcs_dense_contacts *c, int i, int j)
{
    int k = c->held[i], l = c->held[j];
    return c->P[k * c->p.n + l] * pcs_contact_unit(&c->p, l) / pcs_contact_unit(&c->p, k);
}

// Factors P_hh. Redundant joints make it singular: a proximal weight picks one set of multipliers. Joints known to be
// redundant always get it: away from positions where they agree P_hh is only nearly singular, and their contradictions
// must not become forces.
static double dense_factor_held(pcs_dense_contacts *c)
{
    int n = c->nheld;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) c->H[i * n + j] = dense_held_entry(c, i, j);
    for (double weight = c->system->row_set.are_redundant ? PCS_SHARED_WEIGHT : 0.0;; weight = proximal_weight) {
        for (int i = 0; i < n * n; i++) c->B[i] = c->H[i] * (i % (n + 1) == 0 ? 1.0 + weight : 1.0);
        if (pcs_dense_factor(n, c->B, c->pivot) || weight > 0.0) return weight;
    }
}

// Computes x -= factor y for vectors of length `width`.
static void dense_subtract(int width, double factor, const double *y, double *x)
{
    for (int l = 0; l < width; l++) x[l] -= factor * y[l];
}

// Solves X = B^-1 X with the factors, for all columns at once; rows of X have length `width`.
static void dense_back(const pcs_dense_contacts *c, int width, double *X)
{
    int n = c->nheld;
    for (int k = 0; k < n; k++) {
        double *a = X + (size_t)k * (size_t)width, *b = X + (size_t)c->pivot[k] * (size_t)width;
        if (a != b)
            for (int l = 0; l < width; l++) {
                double keep = a[l];
                a[l] = b[l];
                b[l] = keep;
            }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            dense_subtract(width, c->B[i * n + j], X + (size_t)j * (size_t)width, X + (size_t)i * (size_t)width);
    for (int i = n - 1; i >= 0; i--) {
        double *x = X + (size_t)i * (size_t)width;
        for (int j = i + 1; j < n; j++) dense_subtract(width, c->B[i * n + j], X + (size_t)j * (size_t)width, x);
        for (int l = 0; l < width; l++) x[l] /= c->B[i * n + i];
    }
}

// Fills X with the right-hand sides (P_hu, b_h).
static void dense_fill_right(const pcs_dense_contacts *c, int width, double *X)
{
    for (int i = 0; i < c->nheld; i++) {
        int k = c->held[i];
        const double *P = c->P + (size_t)k * (size_t)c->p.n;
        double *x = X + (size_t)i * (size_t)width, unit = pcs_contact_unit(&c->p, k);
        for (int l = 0; l < width - 1; l++) x[l] = P[c->place[l]] / unit;
        x[width - 1] = c->p.b[k] / unit;
    }
}

// Refines Y += B^-1 (right-hand sides - P_hh Y) to remove the error of the proximal weight and of round-off.
static void dense_refine(pcs_dense_contacts *c, int width)
{
    int n = c->nheld;
    dense_fill_right(c, width, c->rest);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            dense_subtract(width, c->H[i * n + j], c->Y + (size_t)j * (size_t)width,
                           c->rest + (size_t)i * (size_t)width);
    dense_back(c, width, c->rest);
    for (size_t l = 0; l < (size_t)n * (size_t)width; l++) c->Y[l] += c->rest[l];
}

// Solves Y = P_hh^-1 (P_hu, b_h).
static void dense_eliminate(pcs_dense_contacts *c)
{
    int width = c->set->p.n + 1;
    double weight = dense_factor_held(c);
    dense_fill_right(c, width, c->Y);
    dense_back(c, width, c->Y);
    bool is_found = weight > 0.0 && !c->system->row_set.are_redundant;
    for (int round = 0; round < (is_found ? PROXIMAL_ROUNDS : REFINEMENTS); round++) dense_refine(c, width);
}

// Substitutes the held unknowns into row P: `entry` becomes its coefficients of the other unknowns and, last, its
// constant; `size` gets the sums of the absolute values of their terms.
static void dense_reduce_row(const pcs_dense_contacts *c, const double *P, double *entry, double *size)
{
    int width = c->set->p.n + 1;
    for (int l = 0; l < width; l++) size[l] = fabs(entry[l]);
    for (int i = 0; i < c->nheld; i++) {
        const double *y = c->Y + (size_t)i * (size_t)width;
        double factor = P[c->held[i]] * pcs_contact_unit(&c->p, c->held[i]);
        if (factor != 0.0)
            for (int l = 0; l < width; l++) {
                double part = factor * y[l];
                entry[l] -= part;
                size[l] += fabs(part);
            }
    }
}

// Fills the reduced problem of the active set: P_uu - P_uh P_hh^-1 P_hu and its constant terms.
static void dense_reduce(pcs_dense_contacts *c)
{
    pcs_active_set *s = c->set;
    double *entry = c->work, *size = c->work + s->p.n + 1;
    size_t bytes = (size_t)s->p.n * sizeof *entry;
    for (int k = 0; k < s->p.n; k++) {
        const double *P = c->P + (size_t)c->place[k] * (size_t)c->p.n;
        for (int l = 0; l < s->p.n; l++) entry[l] = P[c->place[l]];
        entry[s->p.n] = c->p.b[c->place[k]];
        dense_reduce_row(c, P, entry, size);
        memcpy(s->P + (size_t)k * (size_t)s->p.n, entry, bytes);
        memcpy(s->P_size + (size_t)k * (size_t)s->p.n, size, bytes);
        s->p.b[k] = entry[s->p.n];
        s->b_size[k] = size[s->p.n];
        // Joints bind more mass to the contact.
        double more = P[c->place[k]] / s->P[k * s->p.n + k];
        s->p.r[k] = c->p.r[c->place[k]] * (more >= 1.0 && more < most_mass ? more : 1.0);
    }
    if (c->p.gate_is_live)
        for (int j = 0; j < s->p.m; j++) {
            const double *P = c->P_gate + (size_t)c->row[j] * (size_t)c->p.n;
            for (int l = 0; l < s->p.n; l++) entry[l] = P[c->place[l]];
            entry[s->p.n] = c->p.b_gate[c->row[j]];
            dense_reduce_row(c, P, entry, size);
            memcpy(s->P_gate + (size_t)j * (size_t)s->p.n, entry, bytes);
            s->p.b_gate[j] = entry[s->p.n];
        }
    for (int j = 0; j < s->p.m; j++) s->p.gate[j] = c->p.gate[c->row[j]];
    s->p.h = c->p.h;
    s->p.has_position = c->p.has_position;
    s->p.gate_is_live = c->p.gate_is_live;
    s->p.gate_tolerance = c->p.gate_tolerance;
}

static void dense_evaluate(pcs_dense_contacts *c)
{
    int first = c->p.has_position || c->p.held != NULL ? 0 : c->p.m; // otherwise nu stays out
    for (int i = first; i < c->p.n; i++) {
        c->p.value[i] = c->p.b[i];
        for (int j = first; j < c->p.n; j++) c->p.value[i] += c->P[i * c->p.n + j] * c->p.z[j];
    }
    if (c->p.gate_is_live)
        for (int i = 0; i < c->p.m; i++) {
            c->p.gate_gap[i] = c->p.b_gate[i];
            for (int j = 0; j < c->p.n; j++) c->p.gate_gap[i] += c->P_gate[i * c->p.n + j] * c->p.z[j];
        }
}

// Computes all multipliers and values from those of the reduced problem.
static void dense_expand(pcs_dense_contacts *c)
{
    const pcs_active_set *s = c->set;
    memset(c->p.z, 0, (size_t)c->p.n * sizeof *c->p.z);
    for (int k = 0; k < s->p.n; k++) c->p.z[c->place[k]] = s->p.z[k];
    for (int i = 0; i < c->nheld; i++) {
        const double *y = c->Y + (size_t)i * (size_t)(s->p.n + 1);
        double x = y[s->p.n];
        for (int l = 0; l < s->p.n; l++) x += y[l] * s->p.z[l];
        c->p.z[c->held[i]] = -x * pcs_contact_unit(&c->p, c->held[i]);
    }
    dense_evaluate(c);
    if (c->p.gate_is_live)
        for (int j = 0; j < c->p.m; j++) c->p.gate[j] = pcs_contact_is_gated(&c->p, j);
    for (int j = 0; j < s->p.m; j++) c->p.gate[c->row[j]] = s->p.gate[j];
}

bool pcs_dense_contacts_solve(pcs_dense_contacts *c, int *iterations)
{
    pcs_active_set *s = c->set;
    dense_number(c);
    s->is_warm = c->is_warm;
    s->p.is_hasty = c->p.is_hasty;
    if (c->is_warm)
        for (int k = 0; k < s->p.n; k++) s->p.z[k] = c->p.z[c->place[k]];
    dense_eliminate(c);
    dense_reduce(c);
    bool is_settled = pcs_active_set_solve(s);
    *iterations = s->iterations;
    dense_expand(c);
    return is_settled;
}

bool pcs_dense_contacts_update(pcs_dense_contacts *c, bool *is_settled)
{
    pcs_active_set *s = c->set;
    dense_number(c);
    for (int k = 0; k < s->p.n; k++) {
        s->p.z[k] = c->p.z[c->place[k]];
        s->p.value[k] = c->p.value[c->place[k]];
    }
    for (int j = 0; j < s->p.m; j++) s->p.gate_gap[j] = c->p.gate_gap[c->row[j]];
    dense_eliminate(c);
    dense_reduce(c);
    if (!pcs_active_set_update(s, is_settled)) return false;
    dense_expand(c);
    return true;
}
