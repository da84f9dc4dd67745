#include "step/columns.h"

#include "core/loop.h"

#include <math.h>
#include <string.h>

static const double negligible = 1e-30;
enum { SHORT = 16 }; // a column not worth a window

pcs_status pcs_columns_create(pcs_context *ctx, int n, int count, pcs_columns **out)
{
    pcs_columns *columns;
    PCS_TAKE(ctx, columns, 1, "contact columns");
    PCS_TAKE(ctx, columns->low, count, "contact columns");
    PCS_TAKE(ctx, columns->high, count, "contact columns");
    PCS_TAKE(ctx, columns->value, count, "contact columns");
    for (int i = 0; i < count; i++) PCS_TAKE(ctx, columns->value[i], n, "contact columns");
    columns->n = n;
    columns->count = count;
    *out = columns;
    return PCS_OK;
}

void pcs_columns_trim(pcs_columns *columns, int column)
{
    double *x = columns->value[column], largest = 0.0;
    if (columns->n <= SHORT) {
        columns->low[column] = 0;
        columns->high[column] = columns->n;
        return;
    }
    for (int i = 0; i < columns->n; i++) largest = fmax(largest, fabs(x[i]));
    int low = columns->n, high = 0;
    for (int i = 0; i < columns->n; i++) {
        if (fabs(x[i]) <= negligible * largest) {
            x[i] = 0.0;
            continue;
        }
        if (low > i) low = i;
        high = i + 1;
    }
    columns->low[column] = low < high ? low : 0;
    columns->high[column] = high;
}

void pcs_columns_add(const pcs_columns *columns, int column, double scale, double *x)
{
    const double *value = columns->value[column];
    PCS_INDEPENDENT
    for (int i = columns->low[column]; i < columns->high[column]; i++) x[i] += scale * value[i];
}

double pcs_columns_dot(const pcs_columns *columns, int column, const double *x)
{
    double sum = 0.0;
    for (int i = columns->low[column]; i < columns->high[column]; i++) sum += columns->value[column][i] * x[i];
    return sum;
}

// GX and the effective masses for the present G and X.
static void projection_close(pcs_step_solver *solver, pcs_projection *p)
{
    const pcs_system *system = solver->system;
    int m = system->nrow;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            p->GX[(size_t)i * (size_t)m + (size_t)j] = pcs_rows_dot(system->G, i, p->X->value[j]);
    for (int j = 0; j < m; j++) solver->effective_mass[j] = 1.0 / p->GX[(size_t)j * (size_t)m + (size_t)j];
}

// Column j of M^-1 R^T for rows R.
static void projection_column(pcs_step_solver *solver, const pcs_rows *rows, pcs_columns *columns, int j)
{
    double *x = columns->value[j];
    for (int i = 0; i < columns->n; i++) x[i] = 0.0;
    pcs_rows_add_transposed(rows, j, 1.0, x);
    pcs_linsolve_solve(solver->mass, x);
    pcs_columns_trim(columns, j);
}

static void projection_fill(pcs_step_solver *solver, pcs_projection *p)
{
    const pcs_system *system = solver->system;
    for (int j = 0; j < system->nrow; j++) {
        projection_column(solver, system->G, p->X, j);
        if (!system->is_linear) continue;
        pcs_matrix_multiply(system->K, p->X->value[j], p->KX->value[j]);
        pcs_columns_trim(p->KX, j);
    }
    for (int j = 0; j < system->ntangent; j++) projection_column(solver, system->T, p->XT, j);
    projection_close(solver, p);
}

pcs_status pcs_projection_create(pcs_step_solver *solver, pcs_projection **out)
{
    pcs_projection *p;
    int n = solver->system->nv, m = solver->system->nrow;
    PCS_TAKE(solver->ctx, p, 1, "the contact projection");
    PCS_TRY(pcs_columns_create(solver->ctx, n, m, &p->X));
    PCS_TRY(pcs_columns_create(solver->ctx, n, m, &p->KX));
    PCS_TRY(pcs_columns_create(solver->ctx, n, solver->system->ntangent, &p->XT));
    PCS_TAKE(solver->ctx, p->GX, (size_t)m * (size_t)m, "the contact projection");
    PCS_TAKE(solver->ctx, p->at, n, "the contact projection");
    projection_fill(solver, p);
    for (int j = 0; j < m; j++)
        if (!(solver->effective_mass[j] > 0.0) || !isfinite(solver->effective_mass[j]))
            return pcs_fail(
                solver->ctx, PCS_BAD_INPUT, "contact '%s': the effective mass of point %d is %g, must be > 0",
                solver->system->contacts[solver->system->rows[j].contact].name, j, solver->effective_mass[j]);
    *out = p;
    return PCS_OK;
}

bool pcs_projection_move(pcs_step_solver *solver, const double *q)
{
    pcs_system *system = solver->system;
    bool is_singular = false;
    pcs_projection *p = solver->projection;
    if (system->is_linear || (p->is_at && memcmp(p->at, q, (size_t)system->nv * sizeof *q) == 0)) return true;
    p->is_at = false;
    if (system->ops->update_mass != NULL) {
        system->ops->update_mass(system, q);
        if (pcs_linsolve_factor(solver->mass, &is_singular) != PCS_OK || is_singular) return false;
        solver->nfactor++;
    }
    if (system->ops->update_directions != NULL) system->ops->update_directions(system, q);
    projection_fill(solver, p);
    memcpy(p->at, q, (size_t)system->nv * sizeof *q);
    p->is_at = true;
    return true;
}

void pcs_projection_aim(pcs_step_solver *solver, const double *q)
{
    if (solver->system->ops->update_directions == NULL) return;
    solver->projection->is_at = false;
    solver->system->ops->update_directions(solver->system, q);
    projection_fill(solver, solver->projection);
}

void pcs_projection_turn(pcs_step_solver *solver, const double *q)
{
    if (solver->system->ops->update_directions == NULL) return;
    solver->projection->is_at = false;
    solver->system->ops->update_directions(solver->system, q);
    projection_close(solver, solver->projection);
}

double pcs_step_largest(int n, const double *v)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(v[i]));
    return largest;
}

double pcs_displacement_work(const pcs_step_solver *solver, const double *z, const double *q)
{
    const pcs_system *system = solver->system;
    const pcs_projection *p = solver->projection;
    double work = 0.0;
    for (int j = 0; j < system->nrow; j++) {
        if (z[j] == 0.0) continue;
        work += z[j] * pcs_columns_dot(p->KX, j, q);
        if (system->gravity != NULL) work -= z[j] * pcs_columns_dot(p->X, j, system->gravity);
        for (int i = 0; i < system->nrow; i++)
            if (z[i] != 0.0) work -= 0.5 * z[j] * z[i] * pcs_columns_dot(p->KX, j, p->X->value[i]);
    }
    return work;
}
