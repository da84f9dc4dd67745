#include "step/dense_contacts.h"

#include "core/dense.h"

#include <math.h>
#include <string.h>

enum { REFINEMENTS = 3, PROXIMAL_ROUNDS = 12 };
static const double proximal_weight = 1e-6; // on the diagonal, where joints say the same twice
static const double most_mass = 1e8;        // that joints may bind to a contact, in units of its own

pcs_status pcs_dense_contacts_create(pcs_context *ctx, const pcs_system *system, pcs_dense_contacts **out)
{
    pcs_dense_contacts *c;
    size_t m = (size_t)system->nrow, n = 2 * m + (size_t)system->ntangent;
    PCS_TAKE(ctx, c, 1, "the contact problem");
    c->m = system->nrow;
    c->nt = system->ntangent;
    c->n = (int)n;
    c->rows = system->rows;
    double **squares[] = { &c->P, &c->H, &c->B, &c->Y, &c->rest };
    for (size_t i = 0; i < sizeof squares / sizeof *squares; i++)
        PCS_TAKE(ctx, *squares[i], n * (n + 1), "the contact problem");
    PCS_TAKE(ctx, c->P_gate, m * n, "the contact problem");
    PCS_TAKE(ctx, c->work, 2 * (n + 1), "the contact problem");
    double **vectors[] = { &c->b, &c->z, &c->value, &c->r };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) PCS_TAKE(ctx, *vectors[i], n, "the contact problem");
    PCS_TAKE(ctx, c->b_gate, m, "the contact problem");
    PCS_TAKE(ctx, c->gate_gap, m, "the contact problem");
    PCS_TAKE(ctx, c->gate, m, "the contact problem");
    PCS_TAKE(ctx, c->is_out, n, "the contact problem");
    int **lists[] = { &c->held, &c->place, &c->pivot };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) PCS_TAKE(ctx, *lists[i], n, "the contact problem");
    PCS_TAKE(ctx, c->row, m, "the contact problem");
    *out = c;
    return pcs_active_set_create(ctx, system, &c->set);
}

// Can row j transmit anything?
static bool dense_takes_part(const pcs_dense_contacts *c, int j)
{
    if (c->rows[j].is_bilateral || c->is_out[c->m + j]) return false;
    return c->has_position || c->gate_is_live || c->gate[j];
}

// Which unknowns are held, and which are left for the active sets.
static void dense_number(pcs_dense_contacts *c)
{
    pcs_active_set *s = c->set;
    s->m = s->nt = c->nheld = 0;
    for (int j = 0; j < c->m; j++) {
        if (c->rows[j].is_bilateral) {
            if (c->has_position) c->held[c->nheld++] = j;
            c->held[c->nheld++] = c->m + j;
            continue;
        }
        if (!dense_takes_part(c, j)) continue;
        s->rows[s->m] = c->rows[j];
        s->rows[s->m].first_tangent = s->nt;
        s->nt += c->rows[j].ntangent;
        c->row[s->m++] = j;
    }
    s->n = 2 * s->m + s->nt;
    for (int j = 0; j < s->m; j++) {
        const pcs_row *row = &c->rows[c->row[j]];
        c->place[j] = c->row[j];
        c->place[s->m + j] = c->m + c->row[j];
        for (int t = 0; t < row->ntangent; t++)
            c->place[2 * s->m + s->rows[j].first_tangent + t] = 2 * c->m + row->first_tangent + t;
    }
}

// Gaps and nu are taken by h, which brings them to the size of velocities and impulses.
static double dense_unit(const pcs_dense_contacts *c, int k)
{
    return k < c->m ? c->h : 1.0;
}

// Entry of P_hh in those units.
static double dense_held_entry(const pcs_dense_contacts *c, int i, int j)
{
    int k = c->held[i], l = c->held[j];
    return c->P[k * c->n + l] * dense_unit(c, l) / dense_unit(c, k);
}

// Factors P_hh. Joints that say the same twice make it singular: a proximal weight picks one set of multipliers.
static double dense_factor_held(pcs_dense_contacts *c)
{
    int n = c->nheld;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) c->H[i * n + j] = dense_held_entry(c, i, j);
    for (double weight = 0.0;; weight = proximal_weight) {
        for (int i = 0; i < n * n; i++) c->B[i] = c->H[i] * (i % (n + 1) == 0 ? 1.0 + weight : 1.0);
        if (pcs_dense_factor(n, c->B, c->pivot) || weight > 0.0) return weight;
    }
}

// x -= factor y, of `width` numbers.
static void dense_subtract(int width, double factor, const double *y, double *x)
{
    for (int l = 0; l < width; l++) x[l] -= factor * y[l];
}

// X = B^-1 X with the factors, for all columns at once: rows of X are `width` long.
static void dense_back(const pcs_dense_contacts *c, int width, double *X)
{
    int n = c->nheld;
    for (int k = 0; k < n; k++) {
        double *a = X + (size_t)k * (size_t)width, *b = X + (size_t)c->pivot[k] * (size_t)width;
        for (int l = 0; l < width && a != b; l++) {
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

// Right-hand sides (P_hu, b_h) into X.
static void dense_fill_right(const pcs_dense_contacts *c, int width, double *X)
{
    for (int i = 0; i < c->nheld; i++) {
        int k = c->held[i];
        const double *P = c->P + (size_t)k * (size_t)c->n;
        double *x = X + (size_t)i * (size_t)width, unit = dense_unit(c, k);
        for (int l = 0; l < width - 1; l++) x[l] = P[c->place[l]] / unit;
        x[width - 1] = c->b[k] / unit;
    }
}

// Y += B^-1 (right-hand sides - P_hh Y): what the proximal weight or round-off has spoilt.
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

// Y = P_hh^-1 (P_hu, b_h)
static void dense_eliminate(pcs_dense_contacts *c)
{
    int width = c->set->n + 1;
    double weight = dense_factor_held(c);
    dense_fill_right(c, width, c->Y);
    dense_back(c, width, c->Y);
    for (int round = 0; round < (weight > 0.0 ? PROXIMAL_ROUNDS : REFINEMENTS); round++) dense_refine(c, width);
}

// What row P over all unknowns says of those that are left and of the constant, which stands last in `entry`: less what
// the held ones do to it; `size` gets the sums of sizes.
static void dense_reduce_row(const pcs_dense_contacts *c, const double *P, double *entry, double *size)
{
    int width = c->set->n + 1;
    for (int l = 0; l < width; l++) size[l] = fabs(entry[l]);
    for (int i = 0; i < c->nheld; i++) {
        const double *y = c->Y + (size_t)i * (size_t)width;
        double factor = P[c->held[i]] * dense_unit(c, c->held[i]);
        for (int l = 0; l < width && factor != 0.0; l++) {
            double part = factor * y[l];
            entry[l] -= part;
            size[l] += fabs(part);
        }
    }
}

// The problem that is left.
static void dense_reduce(pcs_dense_contacts *c)
{
    pcs_active_set *s = c->set;
    double *entry = c->work, *size = c->work + s->n + 1;
    size_t bytes = (size_t)s->n * sizeof *entry;
    for (int k = 0; k < s->n; k++) {
        const double *P = c->P + (size_t)c->place[k] * (size_t)c->n;
        for (int l = 0; l < s->n; l++) entry[l] = P[c->place[l]];
        entry[s->n] = c->b[c->place[k]];
        dense_reduce_row(c, P, entry, size);
        memcpy(s->P + (size_t)k * (size_t)s->n, entry, bytes);
        memcpy(s->P_size + (size_t)k * (size_t)s->n, size, bytes);
        s->b[k] = entry[s->n];
        s->b_size[k] = size[s->n];
        // Joints bind more mass to the contact.
        double more = P[c->place[k]] / s->P[k * s->n + k];
        s->r[k] = c->r[c->place[k]] * (more >= 1.0 && more < most_mass ? more : 1.0);
    }
    for (int j = 0; j < s->m && c->gate_is_live; j++) {
        const double *P = c->P_gate + (size_t)c->row[j] * (size_t)c->n;
        for (int l = 0; l < s->n; l++) entry[l] = P[c->place[l]];
        entry[s->n] = c->b_gate[c->row[j]];
        dense_reduce_row(c, P, entry, size);
        memcpy(s->P_gate + (size_t)j * (size_t)s->n, entry, bytes);
        s->b_gate[j] = entry[s->n];
    }
    for (int j = 0; j < s->m; j++) s->gate[j] = c->gate[c->row[j]];
    s->h = c->h;
    s->has_position = c->has_position;
    s->gate_is_live = c->gate_is_live;
    s->gate_tolerance = c->gate_tolerance;
}

static void dense_evaluate(pcs_dense_contacts *c)
{
    int first = c->has_position ? 0 : c->m; // otherwise nu stays out
    for (int i = first; i < c->n; i++) {
        c->value[i] = c->b[i];
        for (int j = first; j < c->n; j++) c->value[i] += c->P[i * c->n + j] * c->z[j];
    }
    for (int i = 0; i < c->m && c->gate_is_live; i++) {
        c->gate_gap[i] = c->b_gate[i];
        for (int j = 0; j < c->n; j++) c->gate_gap[i] += c->P_gate[i * c->n + j] * c->z[j];
    }
}

// All multipliers and values from those of what was left.
static void dense_expand(pcs_dense_contacts *c)
{
    const pcs_active_set *s = c->set;
    memset(c->z, 0, (size_t)c->n * sizeof *c->z);
    for (int k = 0; k < s->n; k++) c->z[c->place[k]] = s->z[k];
    for (int i = 0; i < c->nheld; i++) {
        const double *y = c->Y + (size_t)i * (size_t)(s->n + 1);
        double x = y[s->n];
        for (int l = 0; l < s->n; l++) x += y[l] * s->z[l];
        c->z[c->held[i]] = -x * dense_unit(c, c->held[i]);
    }
    dense_evaluate(c);
    for (int j = 0; j < c->m && c->gate_is_live; j++) c->gate[j] = c->gate_gap[j] <= c->gate_tolerance;
    for (int j = 0; j < s->m; j++) c->gate[c->row[j]] = s->gate[j];
}

bool pcs_dense_contacts_solve(pcs_dense_contacts *c, int *iterations)
{
    pcs_active_set *s = c->set;
    dense_number(c);
    s->is_warm = c->is_warm;
    s->is_hasty = c->is_hasty;
    for (int k = 0; k < s->n && c->is_warm; k++) s->z[k] = c->z[c->place[k]];
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
    for (int k = 0; k < s->n; k++) {
        s->z[k] = c->z[c->place[k]];
        s->value[k] = c->value[c->place[k]];
    }
    for (int j = 0; j < s->m; j++) s->gate_gap[j] = c->gate_gap[c->row[j]];
    dense_eliminate(c);
    dense_reduce(c);
    if (!pcs_active_set_update(s, is_settled)) return false;
    dense_expand(c);
    return true;
}
