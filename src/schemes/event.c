#include "schemes/event.h"

#include "core/dense.h"
#include "step/projection.h"

#include <math.h>
#include <string.h>

enum { IMPACT_ROUNDS = 50, MODE_ROUNDS = 200, SHRINKING_INTERVALS = 3, SOLVING_ROUNDS = 3, TURNS = 20 };
static const double proximal = 1e-9;        // of a diagonal: keeps repeated rows solvable, undone by the next round
static const double smallest = 1e-6;        // of the frictionless diagonal: below it forces are not unique
static const double apart = 1e-5;           // of the size of the model, for differences of directions
static const double turned = 1e-13;         // rad, a direction that turns by less has settled
static const double undecided = 1e-11;      // of what accelerations are summed from: smaller ones are none
static const double mode_undecided = 1e-10; // the same of modes of friction

const char *pcs_event_refuses(const pcs_system *system, const void *params)
{
    (void)params;
    if (system->rotations.are_somewhere) return "its positions do not add up";
    if (system->nrow > PCS_MAX_ROWS) return "it has more than 64 contact points";
    return NULL;
}

pcs_status pcs_event_setup(pcs_scheme *self)
{
    pcs_events *e = self->data;
    const pcs_system *system = self->system;
    size_t nv = (size_t)system->nv, nt = (size_t)system->ntangent, n = (size_t)system->nrow + nt;
    pcs_step_form form = { .h = 1.0 }; // contact problems see M alone
    pcs_outcome outcome;
    e->rubs = nt > 0;
    e->impulse = 2 * system->nv;
    e->work = e->impulse + system->nrow;
    e->damping = e->work + 1;
    e->resultant = e->damping + 1;
    e->friction = e->resultant + 3;
    e->loss = e->friction + system->ntangent;
    e->size = e->loss + (e->rubs ? system->nrow : 0);
    const struct {
        double **to;
        size_t count;
    } arrays[] = { { &e->y, (size_t)e->size }, { &e->q, nv },          { &e->d, nv },        { &e->a, nv },
                   { &e->there, nv },          { &e->free, nv },       { &e->smooth_t, nt }, { &e->impulses_t, nt },
                   { &e->force_t, nt },        { &e->slide, nt },      { &e->target_t, nt }, { &e->la_t, nt },
                   { &e->bias, nt },           { &e->A, n * n },       { &e->b, n },         { &e->z, n },
                   { &e->z_last, n },          { &e->columns, n * nv } };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        PCS_TAKE(self->ctx, *arrays[i].to, arrays[i].count, "the events");
    PCS_TRY(pcs_next_create(self, &e->next));
    PCS_TRY(pcs_projection_need_columns(self->solver));
    return pcs_step_solver_prepare(self->solver, &form, &outcome);
}

// Begins a step at x.
static void event_begin(pcs_scheme *self, pcs_events *e, const pcs_state *x)
{
    const pcs_event_memory *memory = x->memory;
    size_t nv = (size_t)self->system->nv, bytes = (size_t)self->system->ntangent * sizeof(double);
    e->now = *memory;
    e->reach = memory->energy;
    memset(e->y, 0, (size_t)e->size * sizeof *e->y);
    memcpy(e->y, x->q, nv * sizeof *e->y);
    memcpy(e->y + nv, x->v, nv * sizeof *e->y);
    memset(e->smooth, 0, sizeof e->smooth);
    memset(e->impulses, 0, sizeof e->impulses);
    memset(e->smooth_t, 0, bytes);
    memset(e->impulses_t, 0, bytes);
    memset(e->is_impact, 0, sizeof e->is_impact);
    memset(e->released, 0, sizeof e->released);
    memset(e->closed, 0, sizeof e->closed);
    memset(e->pushed, 0, sizeof e->pushed);
    memset(e->normal_loss, 0, sizeof e->normal_loss);
    memset(e->rub_loss, 0, sizeof e->rub_loss);
    e->impact_loss = 0.0;
    e->iterations = e->count = 0;
    e->bad_equation = -1;
    e->is_accumulating = false;
    if (!e->rounds_gaps) return;
    double largest = 0.0;
    pcs_projection_turn(self->solver, x->q);
    for (int j = 0; j < self->system->nrow; j++) largest = fmax(largest, pcs_gap_rounding(self->system, j, x->q));
    e->gap_tolerance = 4096.0 * largest;
}

// Returns sqrt(2 E / m_eff) of a row, m/s: the scale of its velocities.
static double event_speed(const pcs_scheme *self, const pcs_events *e, int row)
{
    return sqrt(2.0 * e->now.energy / self->solver->effective_mass[row]);
}

// Adds the momentum of impulses z and z_t along the present directions to `pushed`, N s, unless these are constant.
static void event_push(const pcs_scheme *self, double scale, const double *z, const double *z_t, double pushed[3])
{
    if (pcs_rows_turn(self->system)) pcs_add_row_momentum(self->system, scale, z, z_t, pushed);
}

bool pcs_event_rubs(const pcs_system *system, const pcs_events *e, int row)
{
    return e->now.held[row] && system->rows[row].ntangent > 0 && system->rows[row].friction > 0.0;
}

static void event_slip(const pcs_system *system, int row, const double *v, double u[2])
{
    u[0] = u[1] = 0.0;
    for (int t = 0; t < system->rows[row].ntangent; t++)
        u[t] = pcs_rows_dot(system->T, system->rows[row].first_tangent + t, v);
}

// Returns the slip below which a row is at rest, m/s.
static double event_slow(const pcs_scheme *self, const pcs_events *e, int row)
{
    return 1e-10 * event_speed(self, e, row);
}

// Returns the slip, m/s, up to which a row that slides from rest follows its acceleration: its direction lags by less.
static double event_creep(const pcs_scheme *self, const pcs_events *e, int row)
{
    double speed = sqrt(2.0 * fmax(e->now.energy, e->reach) / self->solver->effective_mass[row]);
    return self->system->rows[row].ntangent == 2 ? 1e-7 * speed : 2.0 * event_slow(self, e, row);
}

// Solves x += M^-1 G^T la with 0 <= G x + target _|_ la >= 0 on the gated rows.
static pcs_outcome event_solve(pcs_scheme *self, pcs_events *e, const double *q, double *x)
{
    pcs_step_problem problem = { .q = e->q,
                                 .v = x,
                                 .d = e->d,
                                 .target = e->target,
                                 .gate = e->gate,
                                 .nu = e->nu,
                                 .la = e->la,
                                 .target_t = e->target_t,
                                 .la_t = e->la_t,
                                 .lam = e->lam,
                                 .rate_before = e->rate_before };
    pcs_step_result result;
    memcpy(e->q, q, (size_t)self->system->nv * sizeof *q);
    memset(e->la, 0, sizeof e->la);
    memset(e->nu, 0, sizeof e->nu);
    self->solver->ops->solve(self->solver, &problem, &result);
    e->iterations += result.iterations;
    return result.outcome;
}

pcs_outcome pcs_event_check(pcs_events *e, int n, const double *x)
{
    for (int i = 0; i < n; i++) {
        if (isfinite(x[i])) continue;
        e->bad_equation = i;
        return PCS_NOT_FINITE;
    }
    return PCS_CONVERGED;
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
    double u[2], least = event_slow(self, e, row);
    bool creeps = rub_creeps(self->system, e, row);
    memcpy(d, creeps ? e->aim[row] : kept, 2 * sizeof *d);
    if (creeps || self->system->rows[row].ntangent < 2) return;
    event_slip(self->system, row, v, u);
    double along = u[0] * kept[0] + u[1] * kept[1], more = sqrt(along * along + least * least) - along;
    for (int t = 0; t < 2; t++) d[t] = u[t] + more * kept[t];
    double size = hypot(d[0], d[1]);
    for (int t = 0; t < 2; t++) d[t] = size > 0.0 ? d[t] / size : kept[t];
}

// Computes (dT/dt) v, m/s^2, by central differences of the directions, which are evaluated at q afterwards.
static void rub_find_bias(pcs_scheme *self, pcs_events *e, const double *q, const double *v)
{
    pcs_system *system = self->system;
    double fastest = pcs_system_largest(system, v), h = apart * system->length / fastest;
    memset(e->bias, 0, (size_t)system->ntangent * sizeof *e->bias);
    if (!system->row_set.vary || !(fastest > 0.0)) return;
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int i = 0; i < system->nv; i++) e->there[i] = q[i] + sign * h * v[i];
        pcs_system_aim(system, pcs_at(self->solver->t, e->there, NULL));
        for (int t = 0; t < system->ntangent; t++) e->bias[t] += sign * pcs_rows_dot(system->T, t, v) / (2.0 * h);
    }
    pcs_system_aim(system, pcs_at(self->solver->t, q, NULL));
}

// Fills `column` with the acceleration by a unit of unknown k: a normal force, with its sliding friction at v, or a
// tangent.
static void event_put_column(const pcs_scheme *self, const pcs_events *e, int k, const double *v, double *column)
{
    const pcs_system *system = self->system;
    int j = e->index[k], m = system->nrow;
    memset(column, 0, (size_t)system->nv * sizeof *column);
    if (j >= m) {
        pcs_projection_add_tangent(self->solver, j - m, 1.0, column);
        return;
    }
    pcs_projection_add(self->solver, j, 1.0, column);
    if (v == NULL || !pcs_event_rubs(system, e, j) || !e->now.slides[j]) return;
    double d[2];
    rub_direction(self, e, j, v, d);
    for (int t = 0; t < system->rows[j].ntangent; t++)
        pcs_projection_add_tangent(self->solver, system->rows[j].first_tangent + t, -system->rows[j].friction * d[t],
                                   column);
}

static double event_dot(const pcs_system *system, int index, const double *x)
{
    return index < system->nrow ? pcs_rows_dot(system->G, index, x) : pcs_rows_dot(system->T, index - system->nrow, x);
}

enum { JOINTS, HELD, MODES };

// Lists the unknowns of joints, of all held rows, or of these with the modes of friction at v, and their columns.
static void event_make_equations(const pcs_scheme *self, pcs_events *e, int kind, const double *v)
{
    const pcs_system *system = self->system;
    size_t nv = (size_t)system->nv;
    e->n = 0;
    for (int j = 0; j < system->nrow; j++)
        if (kind == JOINTS ? system->rows[j].is_bilateral : e->now.held[j]) e->index[e->n++] = j;
    for (int j = 0; j < system->nrow; j++) {
        if (kind != MODES || !pcs_event_rubs(system, e, j) || e->now.slides[j]) continue;
        for (int t = 0; t < system->rows[j].ntangent; t++)
            e->index[e->n++] = system->nrow + system->rows[j].first_tangent + t;
    }
    for (int k = 0; k < e->n; k++) event_put_column(self, e, k, kind == MODES ? v : NULL, e->columns + (size_t)k * nv);
    memset(e->z, 0, (size_t)e->n * sizeof *e->z);
}

// Adds columns z to x so that G x + bias = 0 and T x + bias_t = 0 in the unknowns, up to the proximal term. Returns
// false if singular.
static bool event_solve_round(const pcs_system *system, pcs_events *e, const double *bias, const double *bias_t,
                              double *x)
{
    size_t n = (size_t)e->n, nv = (size_t)system->nv;
    for (size_t i = 0; i < n; i++) {
        int index = e->index[i];
        double more = index < system->nrow ? bias[index] : bias_t[index - system->nrow];
        e->b[i] = -event_dot(system, index, x) - more;
        for (size_t k = 0; k < n; k++) e->A[i * n + k] = event_dot(system, index, e->columns + k * nv);
    }
    for (size_t i = 0; i < n; i++) e->A[i * n + i] *= 1.0 + proximal;
    if (!pcs_dense_solve(e->n, e->A, e->b)) return false;
    for (size_t k = 0; k < n; k++) {
        e->z[k] += e->b[k];
        for (size_t i = 0; i < nv; i++) x[i] += e->b[k] * e->columns[k * nv + i];
    }
    return true;
}

// Computes forces, accelerations and margins of the modes from z and a.
static void rub_read(const pcs_scheme *self, pcs_events *e, const double *v, const double *a)
{
    const pcs_system *system = self->system;
    memset(e->force, 0, sizeof e->force);
    memset(e->force_t, 0, (size_t)system->ntangent * sizeof *e->force_t);
    for (int k = 0; k < e->n; k++)
        if (e->index[k] < system->nrow) e->force[e->index[k]] = e->z[k];
        else e->force_t[e->index[k] - system->nrow] = e->z[k];
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row *row = &system->rows[j];
        double d[2], u[2], size = 0.0;
        e->acceleration[j] = pcs_system_rate(system, j, a) + e->target[j];
        e->margin[j] = 1.0;
        for (int t = row->first_tangent; t < row->first_tangent + row->ntangent; t++)
            e->slide[t] = pcs_rows_dot(system->T, t, a) + e->bias[t];
        if (!pcs_event_rubs(system, e, j)) continue;
        rub_direction(self, e, j, v, d);
        event_slip(system, j, v, u);
        for (int t = 0; t < row->ntangent; t++) {
            double *force = &e->force_t[row->first_tangent + t];
            if (e->now.slides[j]) *force = -row->friction * e->force[j] * d[t];
            size = hypot(size, *force);
        }
        e->margin[j] = (row->friction * e->force[j] - size) / self->solver->effective_mass[j];
        if (e->now.slides[j])
            e->margin[j] = u[0] * e->now.slip[j][0] + u[1] * e->now.slip[j][1] + event_slow(self, e, j);
    }
}

// Returns slip acceleration per unit of friction, both across the direction of a row, 1/kg, with all modes kept.
static double rub_mobility(const pcs_scheme *self, pcs_events *e, int row)
{
    const pcs_system *system = self->system;
    const double *d = e->aim[row], none[PCS_MAX_ROWS] = { 0.0 };
    double *x = e->there;
    int t = system->rows[row].first_tangent;
    memset(x, 0, (size_t)system->nv * sizeof *x);
    memset(e->la_t, 0, (size_t)system->ntangent * sizeof *e->la_t);
    pcs_projection_add_tangent(self->solver, t, -d[1], x);
    pcs_projection_add_tangent(self->solver, t + 1, d[0], x);
    memcpy(e->z_last, e->z, (size_t)e->n * sizeof *e->z);
    (void)event_solve_round(system, e, none, e->la_t, x);
    memcpy(e->z, e->z_last, (size_t)e->n * sizeof *e->z);
    return d[0] * pcs_rows_dot(system->T, t + 1, x) - d[1] * pcs_rows_dot(system->T, t, x);
}

// Rotates the worst creeping row by Newton's method for w x d = 0, w the acceleration of its slip: with la_t = -mu
// la d, w x d changes with the angle by -(mu la W + w . d), W the mobility across d. Returns false if none rotates.
static bool rub_turn(const pcs_scheme *self, pcs_events *e)
{
    const pcs_system *system = self->system;
    double most = turned, stay = 0.0;
    int row = -1;
    for (int j = 0; j < system->nrow; j++) {
        if (!rub_creeps(system, e, j)) continue;
        const double *d = e->aim[j], *w = &e->slide[system->rows[j].first_tangent];
        double held = system->rows[j].friction * e->force[j] * rub_mobility(self, e, j);
        double slope = held + w[0] * d[0] + w[1] * d[1], turn = fabs(w[1] * d[0] - w[0] * d[1]) / slope;
        if (!(slope > 0.0) || !(turn > most)) continue;
        most = turn;
        stay = held;
        row = j;
    }
    if (row < 0) return false;
    double *d = e->aim[row], *w = &e->slide[system->rows[row].first_tangent];
    double to[2] = { w[0] + stay * d[0], w[1] + stay * d[1] }, size = hypot(to[0], to[1]);
    for (int t = 0; t < 2; t++) d[t] = to[t] / size;
    return true;
}

// Computes pcs_event_accelerate with the present modes; a is M^-1 f before.
static pcs_outcome event_accelerate_modes(pcs_scheme *self, pcs_events *e, const double *q, const double *v, double *a)
{
    const pcs_system *system = self->system;
    size_t bytes = (size_t)system->nv * sizeof *a;
    rub_find_bias(self, e, q, v);
    for (int j = 0; j < system->nrow; j++)
        for (int t = system->rows[j].first_tangent; t < system->rows[j].first_tangent + system->rows[j].ntangent; t++)
            e->drive[j] = fmax(e->drive[j], fabs(pcs_rows_dot(system->T, t, a)) + fabs(e->bias[t]));
    memcpy(e->aim, e->now.slip, sizeof e->aim);
    memcpy(e->free, a, bytes);
    for (int turn = 0; turn < TURNS; turn++) {
        if (turn > 0) memcpy(a, e->free, bytes);
        event_make_equations(self, e, MODES, v);
        int rounds = e->n > 0 ? SOLVING_ROUNDS : 0;
        for (int round = 0; round < rounds; round++)
            if (!event_solve_round(system, e, e->target, e->bias, a)) return PCS_PARADOX;
        rub_read(self, e, v, a);
        if (!rub_turn(self, e)) break;
    }
    return PCS_CONVERGED;
}

pcs_outcome pcs_event_accelerate(pcs_scheme *self, pcs_events *e, double t, const double *q, const double *v, double *a)
{
    pcs_system *system = self->system;
    pcs_outcome outcome = PCS_CONVERGED;
    bool has_held = false;
    if (!pcs_projection_move(self->solver, q)) return PCS_SINGULAR;
    pcs_free_acceleration(self, t, q, v, a);
    memset(e->target, 0, sizeof e->target);
    if (pcs_system_has_bias(system)) pcs_system_rate_bias(system, pcs_at(self->solver->t, q, v), e->target);
    for (int j = 0; j < system->nrow; j++) {
        e->gate[j] = e->now.held[j];
        has_held = has_held || e->gate[j];
        e->drive[j] = fabs(pcs_system_rate(system, j, a)) + fabs(e->target[j]);
    }
    memset(e->la, 0, sizeof e->la);
    if (e->rubs) {
        outcome = event_accelerate_modes(self, e, q, v, a);
        return outcome == PCS_CONVERGED ? pcs_event_check(e, system->nv, a) : outcome;
    }
    if (has_held) outcome = event_solve(self, e, q, a);
    if (outcome == PCS_CONVERGED) outcome = pcs_event_check(e, system->nv, a);
    if (outcome != PCS_CONVERGED) return outcome;
    for (int j = 0; j < system->nrow; j++) {
        e->force[j] = e->la[j];
        e->acceleration[j] = pcs_system_rate(system, j, a) + e->target[j];
    }
    return PCS_CONVERGED;
}

// Returns -la_t . u of the last acceleration, W.
static double rub_power(const pcs_scheme *self, const pcs_events *e, int row, const double *v)
{
    double u[2], power = 0.0;
    event_slip(self->system, row, v, u);
    for (int t = 0; t < self->system->rows[row].ntangent; t++)
        power -= e->force_t[self->system->rows[row].first_tangent + t] * u[t];
    return power;
}

pcs_outcome pcs_event_slope(pcs_scheme *self, pcs_events *e, double t, const double *y, double *dy)
{
    const pcs_system *system = self->system;
    int n = system->nv;
    const double *q = y, *v = y + n;
    pcs_outcome outcome = pcs_event_accelerate(self, e, t, q, v, dy + n);
    if (outcome != PCS_CONVERGED) return outcome;
    for (int i = 0; i < n; i++) dy[i] = v[i];
    memcpy(dy + e->impulse, e->force, (size_t)system->nrow * sizeof *dy);
    dy[e->work] = pcs_system_load_power(system, pcs_at(t, q, v));
    dy[e->damping] = pcs_system_damping_power(system, pcs_at(t, q, v), NULL);
    pcs_system_resultant(system, pcs_at(t, q, v), dy + e->resultant);
    event_push(self, 1.0, e->force, e->force_t, dy + e->resultant);
    memcpy(dy + e->friction, e->force_t, (size_t)system->ntangent * sizeof *dy);
    for (int k = e->loss; k < e->size; k++) dy[k] = rub_power(self, e, k - e->loss, v);
    return PCS_CONVERGED;
}

double pcs_event_press(const pcs_scheme *self, const pcs_events *e, int row)
{
    // With modes it is the force alone that changes sign: the acceleration is zero.
    if (e->rubs) return e->force[row] / self->solver->effective_mass[row];
    return e->force[row] / self->solver->effective_mass[row] - e->acceleration[row];
}

// Returns the largest velocity of a rebound, m/s, that counts as rest.
static double event_rest(const pcs_scheme *self, const pcs_events *e, const double *q, int row)
{
    // A rebound is rest if its flight is too short in time, or does not rise above the round-off of the gap.
    double pull = fmax(0.0, -e->acceleration[row]), lowest = pcs_gap_tie(self->system, row, q);
    // An impact that is only known to within `shortest` may add twice the velocity that is gained in it, so that
    // flights would settle at 4 e/(1 - e) of it.
    double shortest = 8.0 * e->shortest / fmax(1e-3, 1.0 - pcs_restitution(&self->system->rows[row], 0.0));
    double flight = fmax(0.5 * shortest * pull, sqrt(2.0 * pull * lowest));
    return fmax(e->stick * event_speed(self, e, row), flight);
}

static bool event_is_closed(const pcs_events *e, int row)
{
    return e->now.held[row] || e->closed[row] || e->gap[row] <= e->gap_tolerance;
}

// Records an impact of a row and whether the intervals between its impacts shrink.
static void event_remember(pcs_events *e, int row, double t)
{
    pcs_event_memory *now = &e->now;
    double interval = t - now->last_time[row], last = now->last_interval[row];
    bool has_two = isfinite(interval) && last > 0.0;
    now->shrinking[row] = has_two && interval < 0.9999 * last ? now->shrinking[row] + 1 : 0;
    if (now->shrinking[row] > 0) {
        double ratio = interval / last;
        e->accumulation = t + interval * ratio / (1.0 - ratio);
    }
    now->last_interval[row] = isfinite(interval) ? interval : 0.0;
    now->last_time[row] = t;
}

// Sets the gates of closed rows and their targets in the impact law, m/s; false if no contact approaches.
static bool event_aim(pcs_scheme *self, pcs_events *e, double t, const double *q, const double *v, bool is_first)
{
    const pcs_system *system = self->system;
    bool approaches = false;
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row *row = &system->rows[j];
        double rate = pcs_system_rate(system, j, v), rebound = -pcs_restitution(row, rate) * rate;
        e->gate[j] = row->is_bilateral || event_is_closed(e, j);
        int ntangent = e->rubs ? row->ntangent : 0;
        for (int i = row->first_tangent; i < row->first_tangent + ntangent; i++)
            e->target_t[i] = row->tangent_restitution * pcs_rows_dot(system->T, i, v);
        e->target[j] = row->is_bilateral || e->now.held[j] ? 0.0 : -rebound;
        bool is_hit = !row->is_bilateral && e->gate[j] && rate < -1e-14 * event_speed(self, e, j);
        if (!is_hit) continue;
        approaches = true;
        if (e->now.held[j]) continue;
        bool is_rest = rebound <= event_rest(self, e, q, j);
        if (is_first) event_remember(e, j, t);
        if (is_first && is_rest && rebound > 0.0 && e->now.shrinking[j] >= SHRINKING_INTERVALS)
            e->is_accumulating = true;
        if (is_rest) e->target[j] = 0.0;
        e->is_impact[j] = true;
    }
    return approaches;
}

// Adds the energy, J, that tangential impulses la_t dissipated as v0 changed to v1: -la_t . T (v0 + v1)/2.
static void rub_add_loss(const pcs_system *system, pcs_events *e, const double *v0, const double *v1)
{
    for (int j = 0; j < system->nrow; j++)
        for (int t = system->rows[j].first_tangent; t < system->rows[j].first_tangent + system->rows[j].ntangent; t++)
            e->rub_loss[j] -= 0.5 * e->la_t[t] * (pcs_rows_dot(system->T, t, v0) + pcs_rows_dot(system->T, t, v1));
}

// Solves one impact on all closed contacts; v jumps, impulses and losses are added to those of the step.
static pcs_outcome event_strike(pcs_scheme *self, pcs_events *e, const double *q, double *v)
{
    const pcs_system *system = self->system;
    double before[PCS_MAX_ROWS];
    for (int j = 0; j < system->nrow; j++) before[j] = pcs_system_rate(system, j, v);
    memcpy(e->a, v, (size_t)system->nv * sizeof *v);
    pcs_outcome outcome = event_solve(self, e, q, v);
    if (outcome != PCS_CONVERGED) return outcome;
    rub_add_loss(system, e, e->a, v);
    for (int t = 0; t < system->ntangent; t++) e->impulses_t[t] += e->la_t[t];
    for (int j = 0; j < system->nrow; j++) {
        e->impulses[j] += e->la[j];
        double loss = -0.5 * e->la[j] * (before[j] + pcs_system_rate(system, j, v));
        e->normal_loss[j] += loss;
        e->impact_loss += loss;
    }
    event_push(self, 1.0, e->la, e->la_t, e->pushed);
    return PCS_CONVERGED;
}

// Returns G_j x with joints held, for x = M^-1 (G_j - mu d T_j)^T or, without friction, M^-1 G_j^T.
static double rub_diagonal(const pcs_scheme *self, pcs_events *e, int row, bool rubs)
{
    const pcs_system *system = self->system;
    double *x = e->there, none[PCS_MAX_ROWS] = { 0.0 };
    memset(x, 0, (size_t)system->nv * sizeof *x);
    pcs_projection_add(self->solver, row, 1.0, x);
    double friction = rubs ? system->rows[row].friction : 0.0;
    for (int t = 0; t < system->rows[row].ntangent; t++)
        pcs_projection_add_tangent(self->solver, system->rows[row].first_tangent + t, -friction * e->now.slip[row][t],
                                   x);
    event_make_equations(self, e, JOINTS, NULL);
    if (e->n > 0 && !event_solve_round(system, e, none, NULL, x)) return 0.0;
    return pcs_system_rate(system, row, x);
}

// Returns true if forces of sliding rows have one solution: G_j M^-1 (G_j - mu d T_j)^T > 0, joints held.
static bool event_is_unique(const pcs_scheme *self, pcs_events *e)
{
    for (int j = 0; j < self->system->nrow; j++)
        if (pcs_event_rubs(self->system, e, j) && e->now.slides[j] &&
            !(rub_diagonal(self, e, j, true) > smallest * rub_diagonal(self, e, j, false)))
            return false;
    return true;
}

// Changes of a contact mode. event_violation returns how inconsistent the mode is, m/s^2, and which change mends it.
enum { KEEP, RELEASE, HOLD, SLIDE, STICK };

static double event_violation(const pcs_scheme *self, const pcs_events *e, int row, const unsigned char *may_hold,
                              int *change)
{
    const pcs_system *system = self->system;
    const pcs_row *r = &system->rows[row];
    double mass = self->solver->effective_mass[row];
    *change = KEEP;
    if (r->is_bilateral) return 0.0;
    if (!e->now.held[row]) {
        *change = HOLD;
        return may_hold[row] ? -e->acceleration[row] : 0.0;
    }
    *change = RELEASE;
    if (e->force[row] < 0.0 || !pcs_event_rubs(system, e, row)) return -e->force[row] / mass;
    *change = SLIDE;
    if (!e->now.slides[row]) return -e->margin[row];
    if (e->now.is_moving[row]) return 0.0;
    double along = 0.0;
    for (int t = 0; t < r->ntangent; t++) along += e->slide[r->first_tangent + t] * e->aim[row][t];
    *change = STICK;
    return -along;
}

static void event_change(const pcs_system *system, pcs_events *e, int row, int change)
{
    const pcs_row *r = &system->rows[row];
    const double *from = change == SLIDE ? e->force_t : e->slide;
    double sign = change == SLIDE ? -1.0 : 1.0, size = 0.0;
    if (change == RELEASE || change == HOLD) e->now.held[row] = change == HOLD;
    if (change == STICK) e->now.slides[row] = 0;
    if (change == RELEASE || change == STICK || e->now.is_moving[row]) return;
    // A row that is held again goes on as it was about to slide.
    for (int t = 0; t < r->ntangent; t++) size = hypot(size, from[r->first_tangent + t]);
    e->now.slides[row] = size > 0.0;
    if (size == 0.0) return;
    for (int t = 0; t < r->ntangent; t++) e->now.slip[row][t] = sign * from[r->first_tangent + t] / size;
}

// Sets the modes of friction: rows that move slide along their velocity, others stick at first.
static void event_start_modes(const pcs_scheme *self, pcs_events *e, const double *v)
{
    const pcs_system *system = self->system;
    for (int j = 0; j < system->nrow; j++) {
        double u[2];
        event_slip(system, j, v, u);
        double size = hypot(u[0], u[1]);
        bool moves = pcs_event_rubs(system, e, j) && size > 2.0 * event_slow(self, e, j);
        bool creeps = e->now.slides[j] && !e->now.is_moving[j] && size <= event_creep(self, e, j);
        e->now.slides[j] = moves;
        e->now.is_moving[j] = moves && !creeps;
        for (int t = 0; t < 2; t++) e->now.slip[j][t] = moves ? u[t] / size : 0.0;
    }
}

// Finds modes of friction that are consistent at (t, q, v); rows are held, or released if they would pull. Returns
// PCS_PARADOX if there are none, or if forces are not unique.
static pcs_outcome event_find_modes(pcs_scheme *self, pcs_events *e, double t, const double *q, const double *v)
{
    const pcs_system *system = self->system;
    unsigned char may_hold[PCS_MAX_ROWS];
    memcpy(may_hold, e->now.held, sizeof may_hold);
    event_start_modes(self, e, v);
    for (int round = 0; round < MODE_ROUNDS; round++) {
        int worst = -1, change = KEEP, what;
        double most = 0.0, largest = 0.0;
        pcs_outcome outcome = pcs_event_accelerate(self, e, t, q, v, e->a);
        if (outcome != PCS_CONVERGED) return outcome;
        for (int j = 0; j < system->nrow; j++) largest = fmax(largest, e->drive[j]);
        for (int j = 0; j < system->nrow; j++) {
            double off = event_violation(self, e, j, may_hold, &what);
            // Later rounds take the first one, so that none is looked at for ever.
            if (!(off > mode_undecided * largest) || !(off > most) || (round > MODE_ROUNDS / 4 && worst >= 0)) continue;
            worst = j;
            most = off;
            change = what;
        }
        if (worst < 0) {
            for (int j = 0; j < system->nrow; j++)
                if (!e->now.is_moving[j]) memcpy(e->now.slip[j], e->aim[j], sizeof e->now.slip[j]);
            return event_is_unique(self, e) ? PCS_CONVERGED : PCS_PARADOX;
        }
        event_change(system, e, worst, change);
    }
    return PCS_PARADOX;
}

void pcs_event_project_velocity(pcs_scheme *self, pcs_events *e, double *v)
{
    const pcs_system *system = self->system;
    double none[PCS_MAX_ROWS] = { 0.0 };
    memset(e->bias, 0, (size_t)system->ntangent * sizeof *e->bias);
    memcpy(e->there, v, (size_t)system->nv * sizeof *v);
    event_make_equations(self, e, MODES, v);
    int rounds = e->n > 0 ? SOLVING_ROUNDS : 0;
    for (int round = 0; round < rounds; round++)
        if (!event_solve_round(system, e, none, e->bias, v)) return;
    memset(e->la, 0, sizeof e->la);
    memset(e->la_t, 0, (size_t)system->ntangent * sizeof *e->la_t);
    for (int k = 0; k < e->n; k++) {
        int j = e->index[k];
        double d[2];
        if (j >= system->nrow) {
            e->la_t[j - system->nrow] += e->z[k];
            continue;
        }
        e->la[j] = e->z[k];
        if (!pcs_event_rubs(system, e, j) || !e->now.slides[j]) continue;
        rub_direction(self, e, j, v, d);
        for (int t = 0; t < system->rows[j].ntangent; t++)
            e->la_t[system->rows[j].first_tangent + t] -= system->rows[j].friction * e->z[k] * d[t];
    }
    for (int j = 0; j < system->nrow; j++) e->smooth[j] += e->la[j];
    for (int t = 0; t < system->ntangent; t++) e->smooth_t[t] += e->la_t[t];
    rub_add_loss(system, e, e->there, v);
    event_push(self, 1.0, e->la, e->la_t, e->pushed);
}

// Holds closed rows at rest that press, or whose force and acceleration both vanish.
static pcs_outcome event_hold(pcs_scheme *self, pcs_events *e, double t, const double *q, double *v)
{
    const pcs_system *system = self->system;
    double largest = 0.0;
    for (int j = 0; j < system->nrow; j++) {
        bool is_closed = event_is_closed(e, j);
        bool is_slow = fabs(pcs_system_rate(system, j, v)) <= event_rest(self, e, q, j);
        // A contact that opens from rest has a gap of round-off for a while.
        e->now.floor[j] = is_closed ? fmin(0.0, e->gap[j]) : 0.0;
        if (is_closed && is_slow) e->now.floor[j] -= e->gap_tolerance;
        e->now.held[j] = system->rows[j].is_bilateral || (is_closed && is_slow && !e->released[j]);
    }
    pcs_outcome outcome = e->rubs ? event_find_modes(self, e, t, q, v) : pcs_event_accelerate(self, e, t, q, v, e->a);
    if (outcome != PCS_CONVERGED) return outcome;
    for (int j = 0; j < system->nrow; j++) largest = fmax(largest, e->drive[j]);
    for (int j = 0; j < system->nrow; j++)
        if (!e->rubs && !system->rows[j].is_bilateral && e->force[j] == 0.0 && e->acceleration[j] > undecided * largest)
            e->now.held[j] = 0;
    pcs_event_project_velocity(self, e, v);
    memset(e->released, 0, sizeof e->released);
    memset(e->closed, 0, sizeof e->closed);
    return PCS_CONVERGED;
}

pcs_outcome pcs_event_resolve(pcs_scheme *self, pcs_events *e, double t, const double *q, double *v)
{
    pcs_system *system = self->system;
    pcs_measure measure;
    system->ops->measure(system, pcs_at(self->solver->t, q, v), PCS_ENERGY, &measure);
    e->now.energy = fmax(e->now.energy, measure.kinetic);
    pcs_system_gaps(system, pcs_at(self->solver->t, q, NULL), e->gap);
    // Accelerations of open contacts give the flight time of a rebound, by which event_aim tells it from rest.
    pcs_outcome outcome = pcs_event_accelerate(self, e, t, q, v, e->a);
    for (int round = 0; outcome == PCS_CONVERGED && event_aim(self, e, t, q, v, round == 0); round++) {
        if (e->is_accumulating && e->stops) return PCS_ACCUMULATES;
        if (round == IMPACT_ROUNDS) return PCS_NOT_CONVERGED;
        outcome = event_strike(self, e, q, v);
    }
    e->is_accumulating = false;
    e->count++;
    return outcome == PCS_CONVERGED ? event_hold(self, e, t, q, v) : outcome;
}

pcs_outcome pcs_event_renew(pcs_scheme *self, pcs_events *e, double t, const double *q, double *v)
{
    const pcs_system *system = self->system;
    bool is_stale = false;
    if (!e->rubs) return PCS_CONVERGED;
    if (!pcs_projection_move(self->solver, q)) return PCS_SINGULAR;
    for (int j = 0; j < system->nrow; j++) {
        double u[2];
        event_slip(system, j, v, u);
        bool moves = hypot(u[0], u[1]) > 2.0 * event_slow(self, e, j);
        is_stale = is_stale || (moves && pcs_event_rubs(system, e, j) && !e->now.slides[j]);
    }
    if (is_stale) return pcs_event_resolve(self, e, t, q, v);
    return event_is_unique(self, e) ? PCS_CONVERGED : PCS_PARADOX;
}

void pcs_event_clear_floors(pcs_scheme *self, pcs_events *e, const double *q)
{
    pcs_system_gaps(self->system, pcs_at(self->solver->t, q, NULL), e->gap);
    for (int j = 0; j < self->system->nrow; j++)
        if (e->gap[j] > e->gap_tolerance) e->now.floor[j] = 0.0;
}

pcs_outcome pcs_event_follow(pcs_scheme *self, pcs_events *e, const double *v)
{
    for (int j = 0; j < self->system->nrow; j++) {
        double u[2];
        if (!pcs_event_rubs(self->system, e, j) || !e->now.slides[j]) continue;
        event_slip(self->system, j, v, u);
        double size = hypot(u[0], u[1]), along = u[0] * e->now.slip[j][0] + u[1] * e->now.slip[j][1];
        if (!(along > event_creep(self, e, j))) continue;
        e->now.is_moving[j] = 1;
        for (int t = 0; t < self->system->rows[j].ntangent; t++) e->now.slip[j][t] = u[t] / size;
    }
    return event_is_unique(self, e) ? PCS_CONVERGED : PCS_PARADOX;
}

// Removes the drift of gaps of held rows from q.
static void event_project_position(pcs_scheme *self, pcs_events *e, double *q)
{
    size_t bytes = (size_t)self->system->nv * sizeof *q;
    event_make_equations(self, e, HELD, NULL);
    int rounds = e->n > 0 ? SOLVING_ROUNDS : 0;
    for (int round = 0; round < rounds; round++) {
        memset(e->there, 0, bytes);
        pcs_system_gaps(self->system, pcs_at(self->solver->t, q, NULL), e->gap);
        if (!event_solve_round(self->system, e, e->gap, NULL, e->there)) return;
        for (int i = 0; i < self->system->nv; i++) q[i] += e->there[i];
    }
}

// Reports the friction of a row over the step, and its slip and mode at the end.
static void event_report_rub(const pcs_scheme *self, const pcs_events *e, int row, const double *v, pcs_row_report *to)
{
    const pcs_row *r = &self->system->rows[row];
    for (int t = 0; t < r->ntangent; t++) {
        int k = r->first_tangent + t;
        to->tangent[t] = e->smooth_t[k] + e->impulses_t[k];
        to->slip[t] = pcs_rows_dot(self->system->T, k, v);
    }
    to->slides = e->now.held[row] && e->now.slides[row];
    to->friction_loss = e->rub_loss[row];
}

// Reports rows and impact loss of the step that leads to (q, v), at which the projection is evaluated.
static void event_report(const pcs_scheme *self, pcs_events *e, const double *q, const double *v,
                         pcs_step_report *report)
{
    pcs_system *system = self->system;
    pcs_system_gaps(system, pcs_at(self->solver->t, q, NULL), e->gap);
    for (int j = 0; j < system->nrow; j++) {
        double rate = pcs_system_rate(system, j, v);
        report->rows[j] = (pcs_row_report){
            .gap = e->gap[j],
            .rate = rate,
            .rate_before = rate,
            .step_impulse = e->smooth[j] + e->impulses[j],
            .force = report->h > 0.0 ? e->smooth[j] / report->h : 0.0,
            .impulse = e->impulses[j],
            .normal_loss = e->normal_loss[j],
            .is_gated = e->now.held[j] != 0,
            .is_closed = e->now.held[j] || e->smooth[j] + e->impulses[j] > 0.0,
            .is_impact = e->is_impact[j],
        };
        event_report_rub(self, e, j, v, &report->rows[j]);
        report->friction_loss += report->rows[j].friction_loss;
    }
    // Told along the directions of the end.
    event_push(self, -1.0, e->smooth, e->smooth_t, e->pushed);
    event_push(self, -1.0, e->impulses, e->impulses_t, e->pushed);
    for (int k = 0; k < 3; k++) report->smooth_impulse[k] += e->pushed[k];
    report->impact_loss = e->impact_loss;
    report->iterations = e->iterations;
    report->is_joined = true;
}

pcs_status pcs_event_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    pcs_events *e = self->data;
    pcs_event_memory *memory = x->memory;
    *memory = (pcs_event_memory){ .energy = 0.0 };
    for (int j = 0; j < PCS_MAX_ROWS; j++) memory->last_time[j] = -INFINITY;
    event_begin(self, e, x);
    if (!pcs_projection_move(self->solver, x->q))
        return pcs_fail(self->ctx, PCS_FAILED, "the initial mass is singular");
    pcs_start_report(self, x, &e->next, report);
    report->outcome = pcs_event_resolve(self, e, x->t, x->q, x->v);
    if (report->outcome == PCS_ACCUMULATES) report->event_time = e->accumulation;
    if (report->outcome != PCS_CONVERGED) return PCS_OK;
    pcs_memory_copy(self->solver->nmemory, self->solver->memory, x->carried);
    self->system->ops->measure(self->system, pcs_at(x->t, x->q, x->v), PCS_ENERGY, &report->measure);
    event_report(self, e, x->q, x->v, report);
    *memory = e->now;
    return PCS_OK;
}

// Moves y onto the held rows as the next state, and reports the step.
static pcs_outcome event_finish(pcs_scheme *self, pcs_events *e, pcs_step_report *report)
{
    const pcs_system *system = self->system;
    size_t nv = (size_t)system->nv;
    double *q = e->next.q, *v = e->next.v;
    memcpy(q, e->y, nv * sizeof *q);
    memcpy(v, e->y + nv, nv * sizeof *v);
    if (!pcs_projection_move(self->solver, q)) return PCS_SINGULAR;
    event_project_position(self, e, q);
    if (!pcs_projection_move(self->solver, q)) return PCS_SINGULAR;
    pcs_event_project_velocity(self, e, v);
    for (int j = 0; j < system->nrow; j++) e->smooth[j] += e->y[e->impulse + j];
    for (int t = 0; t < system->ntangent; t++) e->smooth_t[t] += e->y[e->friction + t];
    for (int k = e->loss; k < e->size; k++) e->rub_loss[k - e->loss] += e->y[k];
    report->external_work = e->y[e->work];
    report->damping_loss = e->y[e->damping];
    memcpy(report->smooth_impulse, e->y + e->resultant, sizeof report->smooth_impulse);
    event_report(self, e, q, v, report);
    return PCS_CONVERGED;
}

pcs_status pcs_event_step(pcs_scheme *self, pcs_state *x, double h, pcs_event_run *run, pcs_step_report *report)
{
    pcs_events *e = self->data;
    pcs_begin_step(self, x, h, report);
    event_begin(self, e, x);
    report->outcome = run(self, x, h);
    if (report->outcome == PCS_ACCUMULATES) report->event_time = e->accumulation;
    if (report->outcome == PCS_CONVERGED) report->outcome = event_finish(self, e, report);
    if (report->outcome != PCS_CONVERGED || !pcs_next_measure(self, x, &e->next, report)) {
        if (report->bad_equation < 0) report->bad_equation = e->bad_equation;
        return PCS_OK;
    }
    e->now.energy = fmax(e->now.energy, report->measure.kinetic);
    *(pcs_event_memory *)x->memory = e->now;
    pcs_next_accept(self, &e->next, x, report);
    return PCS_OK;
}
