// Projection of contact impulses onto velocities: see projection.h. The iteration matrix of a step,
// S* = c M + h C + h kb K.

#include "step/projection.h"

#include "core/loop.h"

#include <math.h>
#include <string.h>

static const double negligible = 1e-30;
enum { SHORT = 16 }; // shortest column that is worth a window

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

PCS_WIDE static void columns_add(int low, int high, double scale, const double *value, double *x)
{
    PCS_INDEPENDENT
    for (int i = low; i < high; i++) x[i] += scale * value[i];
}

void pcs_columns_add(const pcs_columns *columns, int column, double scale, double *x)
{
    columns_add(columns->low[column], columns->high[column], scale, columns->value[column], x);
}

void pcs_columns_add_within(const pcs_columns *columns, int column, double scale, int low, int high, double *x)
{
    int first = columns->low[column] > low ? columns->low[column] : low;
    columns_add(first, columns->high[column] < high ? columns->high[column] : high, scale, columns->value[column], x);
}

bool pcs_rows_pay_distributed(double nrow, double ndof)
{
    return nrow >= PCS_MANY_ROWS && nrow * ndof > PCS_LIGHT_ROWS && 2.0 * nrow * (2.0 * nrow + ndof) > PCS_MOST_NUMBERS;
}

// Limits rows times equations for exact effective masses where solves are repeated, or span processes, so that all wait
// for each of them. The limit for one-time solves in one process is in projection.h.
static const double LIGHT_OFTEN = 1e5;

// Solves for 1 / (R_j M^-1 R_j^T), kg, and leaves M^-1 R_j^T in the work vector. Row -1: a row of another process.
static double projection_exact_mass(const pcs_step_solver *solver, bool is_normal, int j)
{
    const pcs_projection *p = solver->projection;
    memset(p->work, 0, (size_t)solver->system->nv * sizeof *p->work);
    if (j >= 0) pcs_rows_add_transposed(is_normal ? p->Gx : p->Tx, j, 1.0, p->work);
    pcs_linsolve_solve(solver->mass, p->work);
    if (j < 0) return 0.0;
    return 1.0 / pcs_rows_dot(is_normal ? solver->system->G : solver->system->T, j, p->work);
}

// Estimates the masses as half of 1 / (R_j diag(M)^-1 R_j^T), which the effective mass never exceeds if R_j has one
// entry, and hardly if it has more: active sets may be chosen with masses that are too small, not too large. A
// process knows the diagonal of its own equations only.
static void projection_estimate(const pcs_step_solver *solver, const pcs_rows *rows, double *mass)
{
    const pcs_system *system = solver->system;
    const pcs_halo *halo = rows->halo;
    int nown = pcs_system_nown(system);
    if (halo != NULL) pcs_halo_diagonal(halo, solver->mass->A, halo->copy);
    for (int j = 0; j < rows->nrow; j++) {
        mass[j] = 0.0;
        for (int k = rows->start[j]; k < rows->start[j + 1]; k++) {
            int i = rows->column[k];
            if (i < nown) mass[j] += rows->value[k] * rows->value[k] / pcs_matrix_diagonal(solver->mass->A, i);
            else if (halo != NULL) mass[j] += rows->value[k] * rows->value[k] / halo->copy[i - nown];
        }
    }
    if (!pcs_rows_are_distributed(system)) pcs_system_sum(system, rows->nrow, mass);
    for (int j = 0; j < rows->nrow; j++) mass[j] = 0.5 / mass[j];
}

// Computes effective masses, kg, if there are no columns: exactly, or estimates if the solves would cost too much.
static void projection_weigh(pcs_step_solver *solver)
{
    const pcs_system *system = solver->system;
    double effort = ((double)pcs_system_nrow(system) + pcs_system_ntangent(system)) * pcs_system_ndof(system);
    bool is_shared = system->layout != NULL && system->layout->comm->size > 1;
    if (effort > (system->is_linear && !is_shared ? PCS_LIGHT_ROWS : LIGHT_OFTEN)) {
        projection_estimate(solver, system->G, solver->effective_mass);
        if (pcs_system_ntangent(system) > 0) projection_estimate(solver, system->T, solver->tangent_mass);
        return;
    }
    for (int j = 0; j < system->nrow; j++) solver->effective_mass[j] = projection_exact_mass(solver, true, j);
    for (int t = 0; t < system->ntangent; t++) solver->tangent_mass[t] = projection_exact_mass(solver, false, t);
}

// Computes GX and the effective masses for the present G and X.
static void projection_close(pcs_step_solver *solver, pcs_projection *p)
{
    const pcs_system *system = solver->system;
    int m = system->nrow;
    if (!p->has_columns) {
        projection_weigh(solver);
        return;
    }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            p->GX[(size_t)i * (size_t)m + (size_t)j] = pcs_rows_dot(system->G, i, p->X->value[j]);
    for (int j = 0; j < m; j++) solver->effective_mass[j] = 1.0 / p->GX[(size_t)j * (size_t)m + (size_t)j];
}

// Computes column j of M^-1 R^T for rows R.
static void projection_column(pcs_step_solver *solver, const pcs_rows *rows, pcs_columns *columns, int j)
{
    double *x = columns->value[j];
    for (int i = 0; i < columns->n; i++) x[i] = 0.0;
    pcs_rows_add_transposed(rows, j, 1.0, x);
    pcs_linsolve_solve(solver->mass, x);
    pcs_columns_trim(columns, j);
}

static void projection_copy(const pcs_rows *from, pcs_rows *to)
{
    if (from == NULL || from == to) return;
    memcpy(to->column, from->column, (size_t)from->start[from->nrow] * sizeof *to->column);
    memcpy(to->value, from->value, (size_t)from->start[from->nrow] * sizeof *to->value);
}

static void projection_fill(pcs_step_solver *solver, pcs_projection *p)
{
    const pcs_system *system = solver->system;
    p->is_behind = false;
    projection_copy(system->G, p->Gx);
    projection_copy(system->T, p->Tx);
    if (p->increment != NULL) {
        double lag = pcs_projection_lag(&solver->form);
        pcs_rotate_rows(&system->rotations, p->increment, lag, p->Gx);
        if (system->ntangent > 0) pcs_rotate_rows(&system->rotations, p->increment, lag, p->Tx);
    }
    if (p->has_columns) {
        for (int j = 0; j < system->nrow; j++) projection_column(solver, p->Gx, p->X, j);
        for (int j = 0; j < system->ntangent; j++) projection_column(solver, p->Tx, p->XT, j);
    }
    projection_close(solver, p);
}

static pcs_status projection_take_columns(pcs_step_solver *solver, pcs_projection *p)
{
    int n = solver->system->nv, m = solver->system->nrow;
    PCS_TRY(pcs_columns_create(solver->ctx, n, m, &p->X));
    PCS_TRY(pcs_columns_create(solver->ctx, n, solver->system->ntangent, &p->XT));
    PCS_TAKE(solver->ctx, p->GX, (size_t)m * (size_t)m, "the contact projection");
    p->has_columns = true;
    return PCS_OK;
}

static pcs_status projection_demand_masses(const pcs_step_solver *solver)
{
    const pcs_system *system = solver->system;
    for (int j = 0; j < system->nrow; j++) {
        double mass = solver->effective_mass[j];
        const char *name = system->contacts[system->rows[j].contact].name;
        int point = pcs_row_number(system, j);
        if (mass == INFINITY)
            return pcs_fail(solver->ctx, PCS_BAD_INPUT,
                            "contact '%s': what point %d could move along its normal is held, so its gap cannot change",
                            name, point);
        if (!(mass > 0.0))
            return pcs_fail(solver->ctx, PCS_BAD_INPUT,
                            "contact '%s': the effective mass of point %d is %g, must be > 0", name, point, mass);
    }
    return PCS_OK;
}

pcs_status pcs_projection_create(pcs_step_solver *solver, pcs_projection **out)
{
    pcs_projection *p;
    int n = solver->system->nv;
    PCS_TAKE(solver->ctx, p, 1, "the contact projection");
    PCS_TAKE_EACH(solver->ctx, n, "the contact projection", double, &p->at, &p->work);
    p->Gx = solver->system->G; // constant rows are shared
    p->Tx = solver->system->T;
    if (solver->system->row_set.vary) {
        PCS_TRY(pcs_rows_copy(solver->ctx, solver->system->G, &p->Gx));
        PCS_TRY(pcs_rows_copy(solver->ctx, solver->system->T, &p->Tx));
    }
    *out = p;
    if (!solver->ops->needs_no_columns) PCS_TRY(projection_take_columns(solver, p));
    projection_fill(solver, p);
    if (pcs_noted(solver->ctx)[0] != '\0') return pcs_fail(solver->ctx, PCS_FAILED, "%s", pcs_noted(solver->ctx));
    pcs_status status = projection_demand_masses(solver);
    return pcs_rows_agree(solver->system, status);
}

pcs_status pcs_projection_need_columns(pcs_step_solver *solver)
{
    if (solver->projection->has_columns) return PCS_OK;
    PCS_TRY(projection_take_columns(solver, solver->projection));
    projection_fill(solver, solver->projection);
    return PCS_OK;
}

// Adds scale (X z + XT z_t) to x, from columns.
static void projection_add_columns(const pcs_step_solver *solver, double scale, const double *z, const double *z_t,
                                   double *x)
{
    const pcs_projection *p = solver->projection;
    for (int j = 0; j < solver->system->nrow; j++)
        if (z[j] != 0.0) pcs_columns_add(p->X, j, scale * z[j], x);
    if (z_t != NULL)
        for (int t = 0; t < solver->system->ntangent; t++)
            if (z_t[t] != 0.0) pcs_columns_add(p->XT, t, scale * z_t[t], x);
}

// Computes M^-1 (G^T z + T^T z_t) into the work vector. Returns false if all multipliers are zero.
static bool projection_apply(const pcs_step_solver *solver, const double *z, const double *z_t)
{
    const pcs_system *system = solver->system;
    double *x = solver->projection->work;
    bool acts = false;
    for (int j = 0; j < system->nrow; j++) acts = acts || z[j] != 0.0;
    if (z_t != NULL)
        for (int t = 0; t < system->ntangent; t++) acts = acts || z_t[t] != 0.0;
    if (!pcs_rows_any(system, acts)) return false;
    memset(x, 0, (size_t)system->nv * sizeof *x);
    if (solver->projection->has_columns) {
        projection_add_columns(solver, 1.0, z, z_t, x);
        return true;
    }
    pcs_rows_add_all(solver->projection->Gx, 1.0, z, x);
    if (z_t != NULL && pcs_system_ntangent(system) > 0) pcs_rows_add_all(solver->projection->Tx, 1.0, z_t, x);
    pcs_linsolve_solve(solver->mass, x);
    return true;
}

void pcs_projection_push(const pcs_step_solver *solver, double scale, const double *z, const double *z_t, double *x)
{
    if (solver->projection->has_columns) {
        projection_add_columns(solver, scale, z, z_t, x);
    } else if (projection_apply(solver, z, z_t)) {
        for (int i = 0; i < solver->system->nv; i++) x[i] += scale * solver->projection->work[i];
    }
}

void pcs_projection_rates(const pcs_step_solver *solver, const double *z, const double *z_t, double *rate)
{
    memset(rate, 0, (size_t)solver->system->nrow * sizeof *rate);
    if (projection_apply(solver, z, z_t)) pcs_rows_multiply(solver->system->G, solver->projection->work, rate);
}

const double *pcs_projection_column(const pcs_step_solver *solver, int row)
{
    if (solver->projection->has_columns) return solver->projection->X->value[row];
    (void)projection_exact_mass(solver, true, row);
    return solver->projection->work;
}

// Returns true if the projection is evaluated at q in all processes.
bool pcs_projection_is_at(const pcs_step_solver *solver, const double *q)
{
    const pcs_projection *p = solver->projection;
    if (!p->is_at) return false;
    bool has_moved = memcmp(p->at, q, (size_t)solver->system->nv * sizeof *q) != 0;
    return pcs_system_max(solver->system, has_moved) == 0.0;
}

bool pcs_projection_lead(pcs_step_solver *solver, const double *q)
{
    pcs_system *system = solver->system;
    bool is_singular = false;
    pcs_projection *p = solver->projection;
    // Copies values only: a beam that bends far has a constant mass and, on a plane, constant directions.
    bool is_fixed = !system->mass_varies && !system->row_set.vary;
    if (is_fixed || system->is_linear || pcs_projection_is_at(solver, q)) return true;
    p->is_at = false;
    if (system->mass_varies) {
        system->ops->update(system, pcs_at(solver->t, q, NULL), PCS_MASS, NULL);
        if (pcs_linsolve_factor(solver->mass, &is_singular) != PCS_OK || is_singular) return false;
        solver->nfactor++;
    }
    if (system->row_set.vary) pcs_system_aim(system, pcs_at(solver->t, q, NULL));
    memcpy(p->at, q, (size_t)system->nv * sizeof *q);
    p->is_at = p->is_behind = true;
    return true;
}

void pcs_projection_follow(pcs_step_solver *solver, const double *x)
{
    pcs_projection *p = solver->projection;
    if (!p->is_behind) return;
    p->increment = solver->system->row_set.vary ? x : NULL;
    projection_fill(solver, p);
    p->increment = NULL;
}

bool pcs_projection_move(pcs_step_solver *solver, const double *q)
{
    if (!pcs_projection_lead(solver, q)) return false;
    pcs_projection_follow(solver, NULL);
    return true;
}

bool pcs_projection_move_along(pcs_step_solver *solver, const double *q, const double *x)
{
    if (x != NULL && solver->system->row_set.vary) pcs_projection_leave(solver); // x may differ even at the same q
    if (!pcs_projection_lead(solver, q)) return false;
    pcs_projection_follow(solver, x);
    return true;
}

void pcs_projection_leave(pcs_step_solver *solver)
{
    solver->projection->is_at = false;
}

// Moves the directions to q. Returns false if they are constant.
static bool projection_aim(pcs_step_solver *solver, const double *q)
{
    if (!solver->system->row_set.vary) return false;
    solver->projection->is_at = false;
    pcs_system_aim(solver->system, pcs_at(solver->t, q, NULL));
    return true;
}

void pcs_projection_aim(pcs_step_solver *solver, const double *q)
{
    if (projection_aim(solver, q)) projection_fill(solver, solver->projection);
}

void pcs_projection_rotate(pcs_step_solver *solver, const double *q)
{
    if (projection_aim(solver, q)) projection_close(solver, solver->projection);
}

double pcs_displacement_work(const pcs_step_solver *solver, const double *z, const double *q)
{
    const pcs_system *system = solver->system;
    pcs_projection *p = solver->projection;
    int n = pcs_system_nown(system);
    double work = 0.0;
    if (!projection_apply(solver, z, NULL)) return 0.0;
    memset(p->at, 0, (size_t)system->nv * sizeof(double)); // linear systems never move: free to use
    pcs_matrix_add_multiply(system->K, 1.0, p->work, p->at);
    for (int i = 0; i < n; i++) work += p->at[i] * (q[i] - 0.5 * p->work[i]);
    if (system->gravity != NULL)
        for (int i = 0; i < n; i++) work -= p->work[i] * system->gravity[i];
    pcs_system_sum(system, 1, &work);
    return work;
}

bool pcs_projection_weigh(pcs_step_solver *solver)
{
    bool is_singular = false;
    solver->is_prepared = false; // contact matrices depend on the weights
    if (pcs_linsolve_factor(solver->mass, &is_singular) != PCS_OK || is_singular) return false;
    solver->nfactor++;
    projection_fill(solver, solver->projection);
    return true;
}

bool pcs_projection_renew(pcs_step_solver *solver, const double *q)
{
    solver->projection->is_at = false;
    return pcs_projection_move(solver, q);
}

bool pcs_step_is_constant(const pcs_system *system)
{
    return !system->tangents_vary && !system->mass_varies && system->slopes == NULL;
}

pcs_status pcs_step_create_iteration(pcs_step_solver *solver, const pcs_pattern *curved, pcs_matrix **S,
                                     pcs_linsolve **iteration)
{
    const pcs_system *system = solver->system;
    // Refuses a symmetric factor: gyroscopic moments, nonlinear elements and joints that rotate under load spoil it.
    bool is_positive = curved == NULL && pcs_step_is_constant(system) && !pcs_system_is_gyroscopic(system);
    pcs_linsolve_kind kind = is_positive ? PCS_SPD : PCS_GENERAL;
    PCS_TRY(pcs_matrix_create(solver->ctx, curved == NULL ? system->M->pattern : curved, S));
    // Uses the back end for the mass alone if it refuses this matrix.
    const char *linear = pcs_linsolve_takes(solver->linear, (*S)->pattern, kind) ? solver->linear : "auto";
    PCS_TRY(pcs_linsolve_create_labelled(solver->ctx, linear, "iteration", *S, kind, iteration));
    solver->iteration_backend = (*iteration)->title;
    return PCS_OK;
}

pcs_status pcs_step_factor_iteration(pcs_step_solver *solver, pcs_matrix **S, pcs_linsolve **iteration,
                                     pcs_outcome *outcome)
{
    const pcs_system *system = solver->system;
    const pcs_step_form *form = &solver->form;
    bool is_singular = false;
    if (*S == NULL) PCS_TRY(pcs_step_create_iteration(solver, NULL, S, iteration));
    pcs_matrix_combine(*S, (const double[3]){ form->c, form->h, form->h * form->kb }, system->M, system->C, system->K);
    PCS_TRY(pcs_linsolve_factor(*iteration, &is_singular));
    solver->nfactor++;
    if (is_singular) *outcome = PCS_SINGULAR;
    solver->bad_equation = is_singular ? (*iteration)->bad_equation : -1;
    return PCS_OK;
}
