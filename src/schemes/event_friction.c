#include "schemes/event_friction.h"

#include "core/dense.h"
#include "step/projection.h"

#include <math.h>
#include <string.h>

enum { SOLVING_ROUNDS = 3, TURNS = 20 };
static const double proximal = 1e-9; // of a diagonal: keeps repeated rows solvable, undone by the next round
static const double smallest = 1e-6; // of the frictionless diagonal: below it forces are not unique
static const double apart = 1e-5;    // of the size of the model, for differences of directions
static const double turned = 1e-13;  // rad, a direction that turns by less has settled

pcs_status pcs_event_make_rub(pcs_scheme *self, pcs_events *e)
{
    const pcs_system *system = self->system;
    size_t n = (size_t)(system->nrow + system->ntangent), nt = (size_t)system->ntangent;
    if (system->ntangent == 0) return PCS_OK;
    PCS_TAKE(self->ctx, e->rub, 1, "the events");
    double **vectors[] = { &e->rub->smooth, &e->rub->impulse, &e->rub->force, &e->rub->slide,
                           &e->rub->target, &e->rub->la,      &e->rub->bias };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) PCS_TAKE(self->ctx, *vectors[i], nt, "the events");
    PCS_TAKE(self->ctx, e->rub->there, system->nv, "the events");
    PCS_TAKE(self->ctx, e->rub->free, system->nv, "the events");
    PCS_TAKE(self->ctx, e->rub->z_last, n, "the events");
    PCS_TAKE(self->ctx, e->rub->A, n * n, "the events");
    PCS_TAKE(self->ctx, e->rub->b, n, "the events");
    PCS_TAKE(self->ctx, e->rub->x, n, "the events");
    PCS_TAKE(self->ctx, e->rub->z, n, "the events");
    PCS_TAKE(self->ctx, e->rub->columns, n * (size_t)system->nv, "the events");
    return PCS_OK;
}

void pcs_event_begin_rub(const pcs_system *system, pcs_events *e)
{
    size_t bytes = (size_t)system->ntangent * sizeof(double);
    if (e->rub == NULL) return;
    memset(e->rub->smooth, 0, bytes);
    memset(e->rub->impulse, 0, bytes);
    memset(e->rub->loss, 0, sizeof e->rub->loss);
}

// Returns true if a row with two tangents slides from rest, so slowly that its direction is that of its acceleration.
static bool rub_creeps(const pcs_system *system, const pcs_events *e, int row)
{
    bool slides = pcs_event_rubs(system, e, row) && e->now.slides[row];
    return slides && !e->now.is_moving[row] && system->rows[row].ntangent == 2;
}

// Computes the direction in which a row slides: that of its slip velocity, which never reverses the direction before.
static void rub_direction(const pcs_scheme *self, const pcs_events *e, int row, const double *v, double d[2])
{
    const double *kept = e->now.slip[row];
    double u[2], least = pcs_event_slow(self, e, row);
    bool creeps = rub_creeps(self->system, e, row);
    memcpy(d, creeps ? e->rub->aim[row] : kept, 2 * sizeof *d);
    if (creeps || self->system->rows[row].ntangent < 2) return;
    pcs_event_slip(self->system, row, v, u);
    double along = u[0] * kept[0] + u[1] * kept[1], more = sqrt(along * along + least * least) - along;
    for (int t = 0; t < 2; t++) d[t] = u[t] + more * kept[t];
    double size = hypot(d[0], d[1]);
    for (int t = 0; t < 2; t++) d[t] = size > 0.0 ? d[t] / size : kept[t];
}

// Computes (dT/dt) v, m/s^2, by central differences of the directions, which are evaluated at q afterwards.
static void rub_find_bias(pcs_scheme *self, pcs_events *e, const double *q, const double *v)
{
    pcs_system *system = self->system;
    pcs_event_rub *r = e->rub;
    double fastest = pcs_system_largest(system, v), h = apart * system->length / fastest;
    memset(r->bias, 0, (size_t)system->ntangent * sizeof *r->bias);
    if (!system->row_set.vary || !(fastest > 0.0)) return;
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int i = 0; i < system->nv; i++) r->there[i] = q[i] + sign * h * v[i];
        pcs_system_aim(system, pcs_at(self->solver->t, r->there, NULL));
        for (int t = 0; t < system->ntangent; t++) r->bias[t] += sign * pcs_rows_dot(system->T, t, v) / (2.0 * h);
    }
    pcs_system_aim(system, pcs_at(self->solver->t, q, NULL));
}

// Fills `column` with the acceleration by a unit of unknown k: a normal force with its sliding friction, or a tangent.
static void rub_put_column(const pcs_scheme *self, const pcs_events *e, int k, const double *v, double *column)
{
    const pcs_system *system = self->system;
    int j = e->rub->index[k], m = system->nrow;
    memset(column, 0, (size_t)system->nv * sizeof *column);
    if (j >= m) {
        pcs_projection_add_tangent(self->solver, j - m, 1.0, column);
        return;
    }
    pcs_projection_add(self->solver, j, 1.0, column);
    if (!pcs_event_rubs(system, e, j) || !e->now.slides[j]) return;
    double d[2];
    rub_direction(self, e, j, v, d);
    for (int t = 0; t < system->rows[j].ntangent; t++)
        pcs_projection_add_tangent(self->solver, system->rows[j].first_tangent + t, -system->rows[j].friction * d[t],
                                   column);
}

static double rub_dot(const pcs_system *system, int index, const double *x)
{
    return index < system->nrow ? pcs_rows_dot(system->G, index, x) : pcs_rows_dot(system->T, index - system->nrow, x);
}

// Lists the unknowns of the modes and assembles the matrix of their equations.
static void rub_make_equations(pcs_scheme *self, pcs_events *e, const double *v)
{
    const pcs_system *system = self->system;
    pcs_event_rub *r = e->rub;
    r->n = 0;
    for (int j = 0; j < system->nrow; j++)
        if (e->now.held[j]) r->index[r->n++] = j;
    for (int j = 0; j < system->nrow; j++) {
        if (!pcs_event_rubs(system, e, j) || e->now.slides[j]) continue;
        for (int t = 0; t < system->rows[j].ntangent; t++)
            r->index[r->n++] = system->nrow + system->rows[j].first_tangent + t;
    }
    size_t n = (size_t)r->n, nv = (size_t)system->nv;
    for (size_t k = 0; k < n; k++) rub_put_column(self, e, (int)k, v, r->columns + k * nv);
    memset(r->z, 0, n * sizeof *r->z);
}

// Adds columns z to x, where z solves the equations of `b` minus the part already solved. Returns false if singular.
static bool rub_solve_round(const pcs_system *system, pcs_event_rub *r, const double *bias, const double *bias_t,
                            double *x)
{
    size_t n = (size_t)r->n, nv = (size_t)system->nv;
    for (size_t i = 0; i < n; i++) {
        int index = r->index[i];
        double more = index < system->nrow ? bias[index] : bias_t[index - system->nrow];
        r->b[i] = -rub_dot(system, index, x) - more;
        for (size_t k = 0; k < n; k++) r->A[i * n + k] = rub_dot(system, index, r->columns + k * nv);
    }
    for (size_t i = 0; i < n; i++) r->A[i * n + i] *= 1.0 + proximal;
    if (!pcs_dense_solve(r->n, r->A, r->b)) return false;
    for (size_t k = 0; k < n; k++) {
        r->z[k] += r->b[k];
        for (size_t i = 0; i < nv; i++) x[i] += r->b[k] * r->columns[k * nv + i];
    }
    return true;
}

// Computes forces, accelerations and margins of the modes from z and a.
static void rub_read(const pcs_scheme *self, pcs_events *e, const double *v, const double *a)
{
    const pcs_system *system = self->system;
    pcs_event_rub *r = e->rub;
    memset(e->force, 0, sizeof e->force);
    memset(r->force, 0, (size_t)system->ntangent * sizeof *r->force);
    for (int k = 0; k < r->n; k++)
        if (r->index[k] < system->nrow) e->force[r->index[k]] = r->z[k];
        else r->force[r->index[k] - system->nrow] = r->z[k];
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row *row = &system->rows[j];
        double d[2], u[2], size = 0.0;
        e->acceleration[j] = pcs_system_rate(system, j, a) + e->target[j];
        r->margin[j] = 1.0;
        for (int t = row->first_tangent; t < row->first_tangent + row->ntangent; t++)
            r->slide[t] = pcs_rows_dot(system->T, t, a) + r->bias[t];
        if (!pcs_event_rubs(system, e, j)) continue;
        rub_direction(self, e, j, v, d);
        pcs_event_slip(system, j, v, u);
        for (int t = 0; t < row->ntangent; t++) {
            double *force = &r->force[row->first_tangent + t];
            if (e->now.slides[j]) *force = -row->friction * e->force[j] * d[t];
            size = hypot(size, *force);
        }
        r->margin[j] = (row->friction * e->force[j] - size) / self->solver->effective_mass[j];
        if (e->now.slides[j])
            r->margin[j] = u[0] * e->now.slip[j][0] + u[1] * e->now.slip[j][1] + pcs_event_slow(self, e, j);
    }
}

// Returns slip acceleration per unit of friction, both across the direction of a row, 1/kg, with all modes kept.
static double rub_mobility(const pcs_scheme *self, pcs_events *e, int row)
{
    const pcs_system *system = self->system;
    pcs_event_rub *r = e->rub;
    const double *d = r->aim[row], none[PCS_MAX_ROWS] = { 0.0 };
    double *x = r->there;
    int t = system->rows[row].first_tangent;
    memset(x, 0, (size_t)system->nv * sizeof *x);
    memset(r->la, 0, (size_t)system->ntangent * sizeof *r->la);
    pcs_projection_add_tangent(self->solver, t, -d[1], x);
    pcs_projection_add_tangent(self->solver, t + 1, d[0], x);
    memcpy(r->z_last, r->z, (size_t)r->n * sizeof *r->z);
    (void)rub_solve_round(system, r, none, r->la, x);
    memcpy(r->z, r->z_last, (size_t)r->n * sizeof *r->z);
    return d[0] * pcs_rows_dot(system->T, t + 1, x) - d[1] * pcs_rows_dot(system->T, t, x);
}

// Rotates the worst creeping row by Newton's method for w x d = 0, w the acceleration of its slip: with la_t = -mu
// la d, w x d changes with the angle by -(mu la W + w . d), W the mobility across d. Returns false if none rotates.
static bool rub_turn(const pcs_scheme *self, pcs_events *e)
{
    const pcs_system *system = self->system;
    pcs_event_rub *r = e->rub;
    double most = turned, stay = 0.0;
    int row = -1;
    for (int j = 0; j < system->nrow; j++) {
        if (!rub_creeps(system, e, j)) continue;
        const double *d = r->aim[j], *w = &r->slide[system->rows[j].first_tangent];
        double held = system->rows[j].friction * e->force[j] * rub_mobility(self, e, j);
        double slope = held + w[0] * d[0] + w[1] * d[1], turn = fabs(w[1] * d[0] - w[0] * d[1]) / slope;
        if (!(slope > 0.0) || !(turn > most)) continue;
        most = turn;
        stay = held;
        row = j;
    }
    if (row < 0) return false;
    double *d = r->aim[row], *w = &r->slide[system->rows[row].first_tangent];
    double to[2] = { w[0] + stay * d[0], w[1] + stay * d[1] }, size = hypot(to[0], to[1]);
    for (int t = 0; t < 2; t++) d[t] = to[t] / size;
    return true;
}

pcs_outcome pcs_event_accelerate_modes(pcs_scheme *self, pcs_events *e, const double *q, const double *v, double *a)
{
    const pcs_system *system = self->system;
    size_t bytes = (size_t)system->nv * sizeof *a;
    rub_find_bias(self, e, q, v);
    for (int j = 0; j < system->nrow; j++)
        for (int t = system->rows[j].first_tangent; t < system->rows[j].first_tangent + system->rows[j].ntangent; t++)
            e->drive[j] = fmax(e->drive[j], fabs(pcs_rows_dot(system->T, t, a)) + fabs(e->rub->bias[t]));
    memcpy(e->rub->aim, e->now.slip, sizeof e->rub->aim);
    memcpy(e->rub->free, a, bytes);
    for (int turn = 0; turn < TURNS; turn++) {
        if (turn > 0) memcpy(a, e->rub->free, bytes);
        rub_make_equations(self, e, v);
        int rounds = e->rub->n > 0 ? SOLVING_ROUNDS : 0;
        for (int round = 0; round < rounds; round++)
            if (!rub_solve_round(system, e->rub, e->target, e->rub->bias, a)) return PCS_PARADOX;
        rub_read(self, e, v, a);
        if (!rub_turn(self, e)) break;
    }
    return PCS_CONVERGED;
}

void pcs_event_follow_slip(const pcs_scheme *self, pcs_events *e, const double *v)
{
    for (int j = 0; j < self->system->nrow; j++) {
        double u[2];
        if (e->rub == NULL || !pcs_event_rubs(self->system, e, j) || !e->now.slides[j]) continue;
        pcs_event_slip(self->system, j, v, u);
        double size = hypot(u[0], u[1]), along = u[0] * e->now.slip[j][0] + u[1] * e->now.slip[j][1];
        if (!(along > pcs_event_creep(self, e, j))) continue;
        e->now.is_moving[j] = 1;
        for (int t = 0; t < self->system->rows[j].ntangent; t++) e->now.slip[j][t] = u[t] / size;
    }
}

// Returns G_j x with joints held, for x = M^-1 (G_j - mu d T_j)^T or, without friction, M^-1 G_j^T.
static double rub_diagonal(const pcs_scheme *self, pcs_events *e, int row, bool rubs)
{
    const pcs_system *system = self->system;
    pcs_event_rub *r = e->rub;
    double *x = r->there;
    size_t n = 0;
    memset(x, 0, (size_t)system->nv * sizeof *x);
    pcs_projection_add(self->solver, row, 1.0, x);
    double friction = rubs ? system->rows[row].friction : 0.0;
    for (int t = 0; t < system->rows[row].ntangent; t++)
        pcs_projection_add_tangent(self->solver, system->rows[row].first_tangent + t, -friction * e->now.slip[row][t],
                                   x);
    for (int j = 0; j < system->nrow; j++) n += system->rows[j].is_bilateral;
    size_t i = 0;
    for (int j = 0; j < system->nrow; j++) {
        if (!system->rows[j].is_bilateral) continue;
        size_t k = 0;
        r->b[i] = -pcs_system_rate(system, j, x);
        for (int l = 0; l < system->nrow; l++)
            if (system->rows[l].is_bilateral)
                r->A[i * n + k++] = pcs_projection_entry(self->solver, j, l) * (j == l ? 1.0 + proximal : 1.0);
        i++;
    }
    if (n > 0 && !pcs_dense_solve((int)n, r->A, r->b)) return 0.0;
    i = 0;
    for (int j = 0; j < system->nrow; j++)
        if (system->rows[j].is_bilateral) pcs_projection_add(self->solver, j, r->b[i++], x);
    return pcs_system_rate(system, row, x);
}

bool pcs_event_is_unique(const pcs_scheme *self, pcs_events *e)
{
    for (int j = 0; j < self->system->nrow; j++)
        if (pcs_event_rubs(self->system, e, j) && e->now.slides[j] &&
            !(rub_diagonal(self, e, j, true) > smallest * rub_diagonal(self, e, j, false)))
            return false;
    return true;
}

// Adds the energy, J, that tangential impulses la_t dissipated as v0 changed to v1: -la_t . T (v0 + v1)/2.
static void rub_add_loss(const pcs_system *system, pcs_event_rub *r, const double *v0, const double *v1)
{
    for (int j = 0; j < system->nrow; j++)
        for (int t = system->rows[j].first_tangent; t < system->rows[j].first_tangent + system->rows[j].ntangent; t++)
            r->loss[j] -= 0.5 * r->la[t] * (pcs_rows_dot(system->T, t, v0) + pcs_rows_dot(system->T, t, v1));
}

void pcs_event_project_modes(pcs_scheme *self, pcs_events *e, double *v)
{
    const pcs_system *system = self->system;
    pcs_event_rub *r = e->rub;
    double none[PCS_MAX_ROWS] = { 0.0 };
    memset(r->bias, 0, (size_t)system->ntangent * sizeof *r->bias);
    memcpy(r->there, v, (size_t)system->nv * sizeof *v);
    rub_make_equations(self, e, v);
    int rounds = r->n > 0 ? SOLVING_ROUNDS : 0;
    for (int round = 0; round < rounds; round++)
        if (!rub_solve_round(system, r, none, r->bias, v)) return;
    memset(e->la, 0, sizeof e->la);
    memset(r->la, 0, (size_t)system->ntangent * sizeof *r->la);
    for (int k = 0; k < r->n; k++) {
        int j = r->index[k];
        double d[2];
        if (j >= system->nrow) {
            r->la[j - system->nrow] += r->z[k];
            continue;
        }
        e->la[j] = r->z[k];
        if (!pcs_event_rubs(system, e, j) || !e->now.slides[j]) continue;
        rub_direction(self, e, j, v, d);
        for (int t = 0; t < system->rows[j].ntangent; t++)
            r->la[system->rows[j].first_tangent + t] -= system->rows[j].friction * r->z[k] * d[t];
    }
    for (int j = 0; j < system->nrow; j++) e->smooth[j] += e->la[j];
    for (int t = 0; t < system->ntangent; t++) r->smooth[t] += r->la[t];
    rub_add_loss(system, r, r->there, v);
    pcs_event_push(self, 1.0, e->la, r->la, e->pushed);
}

void pcs_event_book_rub(const pcs_scheme *self, pcs_events *e, const double *v0, const double *v1)
{
    for (int t = 0; t < self->system->ntangent; t++) e->rub->impulse[t] += e->rub->la[t];
    rub_add_loss(self->system, e->rub, v0, v1);
}

double pcs_event_rub_power(const pcs_scheme *self, const pcs_events *e, int row, const double *v)
{
    double u[2], power = 0.0;
    pcs_event_slip(self->system, row, v, u);
    for (int t = 0; t < self->system->rows[row].ntangent; t++)
        power -= e->rub->force[self->system->rows[row].first_tangent + t] * u[t];
    return power;
}
