// Forces and directions against the energies and gaps that they follow from, at a few accepted states of a run.
//
// Equations of motion are checked with the forces of the system, and so cannot see a force that is wrong itself. Along
// a direction d that is drawn at random, but the same in every run, with positions q(s) = q moved by s d:
//
//   forces      E(q(1)) - E(q(0)) = -int (f(t, q(s), 0) - loads) . d ds,   E = S + V;  by Simpson's rule on two halves
//   work        the same along the way of the step, as time goes on, with the energies of its ends and what materials
//               and friction of force laws have lost; and h D against what damping booked
//   damping     v . (f(t, q, v) - f(t, q, 0)) = -D,                        D the power of damping
//   gyroscopic  (f(t, q, v) + f(t, q, -v))/2 - f(t, q, 0) = p . [v, d] along d,   p = M v
//   directions  (g(q(1)) - g(q(-1)))/2 = G d, and (dG/dt) v = d(G v)/dt with q moved by v, of every row
//
// [v, d] is by how much moving by v first and d then differs from the other way round: v x d of finite rotations, which
// the composition of rotations tells, and 0 of coordinates that add up. The even part in v is free of damping.
//
// States: the steps 1, 16, 256, ...; of nonlinear models also where the strain energy has grown by a factor of 8 since,
// as when a contact with a force law closes, and every 64th step for the work: where equations of motion hold, each of
// them, and forces do the work that is booked, a loss that nobody booked is the scheme's own. |d| is a tenth of the way
// of the step, between 1e-9 and 1e-6 of the model, so that the path stays in the regime of the run. Simpson's rule on
// the whole path tells how exact that on its halves is, and a second difference of a gap how straight it is: where a
// law has a kink, little is asked. Materials with internal variables and friction of force laws have such energies on
// the way of the step alone, and nonlinear systems in closed form cannot tell the power of their damping.

#include "sim/certify_data.h"

#include <math.h>
#include <string.h>

static const double of_force = 1e-6, of_power = 1e-6, of_gyro = 1e-5, of_direction = 1e-3, of_way = 1e-2,
                    of_bend = 1e-2; // of their terms

// Returns the round-off, W, of internal forces that cancel in f, in a power along velocities of this size.
static double forces_noise(const pcs_certifier *self, double size)
{
    double strain = fabs(self->report->measure.strain);
    return PCS_ROUND_FORCE * size * sqrt(2.0 * strain * self->stiffness);
}

// Returns a pseudo-random number in [-1, 1] for an equation and a step, the same over any number of ranks.
static double forces_draw_one(const pcs_system *system, int i, long step)
{
    const pcs_layout *layout = system->layout;
    unsigned long long x = (unsigned long long)(layout != NULL && i < layout->n ? layout->serial[i] : i) + 1;
    x = (x + 1024ULL * (unsigned long long)step) * 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1.0;
}

// Draws the direction d, of this size in m.
static void forces_draw(const pcs_certifier *self, double size, double *d)
{
    const pcs_system *system = self->scheme->system;
    for (int i = 0; i < system->nv; i++) {
        double arm = system->arms == NULL ? 1.0 : system->arms[i];
        d[i] = size / arm * forces_draw_one(system, i, self->now.count);
    }
}

// Returns the size of the model, m; 1 for a single point without size.
static double forces_length(const pcs_certifier *self)
{
    double length = self->scheme->system->length;
    return length > 0.0 ? length : 1.0;
}

static double forces_size(const pcs_certifier *self)
{
    double length = forces_length(self);
    double way = 0.1 * self->report->h * pcs_system_largest(self->scheme->system, self->x->v);
    return pcs_min(pcs_max(way, 1e-9 * length), 1e-6 * length);
}

// Moves q by `part` of d and returns the power of forces along d, without loads. Raises sizes[0] to sum |f_i d_i| and
// sizes[1] to the effect of round-off of positions.
static double forces_power(pcs_certifier *self, const double *d, double part, double sizes[2])
{
    const pcs_system *system = self->scheme->system;
    double *q = self->way, *f = self->b, sum[3] = { 0.0 };
    double t = self->x->t + pcs_min(part, 0.0) * self->report->h; // that runs on the way of the step alone
    for (int i = 0; i < system->nv; i++) self->e[i] = part * d[i];
    pcs_retract(&system->rotations, self->x->q, self->e, q);
    system->ops->force(system, pcs_at(t, q, self->origin), f);
    for (int i = 0; i < pcs_system_nown(system); i++) {
        double arm = system->arms == NULL ? 1.0 : system->arms[i];
        sum[0] += f[i] * d[i];
        sum[1] += fabs(f[i] * d[i]);
        sum[2] += PCS_ROUND_SUM * fabs(f[i]) * (fabs(q[i]) + forces_length(self) / arm);
    }
    pcs_system_sum(system, 3, sum);
    sizes[0] = pcs_max(sizes[0], sum[1]);
    sizes[1] = pcs_max(sizes[1], sum[2]);
    return sum[0] - pcs_system_load_power(system, pcs_at(t, q, d));
}

// Returns the energy that materials, and friction of force laws, have dissipated in the step, J.
static double forces_loss(const pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    double sum = 0.0;
    for (int j = system->nrow; j < pcs_system_npoint(system); j++) sum += self->report->rows[j].friction_loss;
    pcs_rows_sum(system, 1, &sum);
    return self->report->material_loss + sum;
}

// Compares work with energies along the path from `first` parts of d, in self->tolerance, to one more.
static void forces_check_path(pcs_certifier *self, double first, const pcs_measure *begin, const pcs_measure *end)
{
    enum { POINTS = 5 };
    double *d = self->tolerance, power[POINTS], sizes[2] = { 0.0 };
    for (int k = 0; k < POINTS; k++) power[k] = forces_power(self, d, first + 0.25 * k, sizes);
    double halves = (power[0] + 4.0 * power[1] + 2.0 * power[2] + 4.0 * power[3] + power[4]) / 12.0;
    double whole = (power[0] + 4.0 * power[2] + power[4]) / 6.0, ends = 0.5 * (power[0] + power[4]);
    double change = (end->strain - begin->strain) + (end->potential - begin->potential);
    double size = fabs(end->strain) + fabs(begin->strain) + fabs(end->potential) + fabs(begin->potential);
    double length = pcs_system_largest(self->scheme->system, d);
    double allowed = of_force * sizes[0] + sizes[1] + PCS_ROUND_SUM * size + forces_noise(self, length);
    allowed += 8.0 * fabs(halves - whole);
    if (first != 0.0) {
        const pcs_system *system = self->scheme->system;
        change += forces_loss(self);
        allowed += (system->soft_friction == NULL ? of_way : 1.0) * fabs(halves - ends);
        // Forces K q of a body that moves as a whole cancel, and leave their round-off.
        allowed += 4.0 * DBL_EPSILON * self->stiffness * pcs_system_largest(system, self->x->q) * length;
    }
    pcs_certify_note(self, first == 0.0 ? CERTIFY_GRADIENT : CERTIFY_WORK, fabs(change + halves), allowed, -1, -1);
}

static void forces_check_gradient(pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    pcs_measure begin, end;
    forces_draw(self, forces_size(self), self->tolerance);
    pcs_retract(&system->rotations, self->x->q, self->tolerance, self->way);
    system->ops->measure(system, pcs_at(self->x->t, self->x->q, self->origin), PCS_ENERGY, &begin);
    system->ops->measure(system, pcs_at(self->x->t, self->way, self->origin), PCS_ENERGY, &end);
    forces_check_path(self, 0.0, &begin, &end);
}

static void forces_check_damping(pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    const double *v = self->x->v;
    double sum[3] = { 0.0 };
    system->ops->force(system, pcs_at(self->x->t, self->x->q, v), self->b);
    system->ops->force(system, pcs_at(self->x->t, self->x->q, self->origin), self->e);
    for (int i = 0; i < pcs_system_nown(system); i++) {
        double part = v[i] * (self->b[i] - self->e[i]);
        sum[0] += part;
        sum[1] += fabs(part);
        sum[2] += fabs(v[i]) * (fabs(self->b[i]) + fabs(self->e[i]));
    }
    pcs_system_sum(system, 3, sum);
    double lost =
        pcs_system_is_damped(system) ? pcs_system_damping_power(system, pcs_at(self->x->t, self->x->q, v), v) : 0.0;
    double fastest = pcs_system_largest(system, v),
           turning = fastest / forces_length(self) * self->report->measure.kinetic;
    double allowed =
        of_power * (sum[1] + fabs(lost)) + PCS_ROUND_SUM * (sum[2] + turning) + forces_noise(self, fastest);
    pcs_certify_note(self, CERTIFY_DAMPING_POWER, fabs(sum[0] + lost), allowed, -1, -1);
}

// Adds to `out` the difference between moving by a, then b, and by b, then a.
static void forces_commute(pcs_certifier *self, double scale, const double *a, const double *b, double *out)
{
    const pcs_system *system = self->scheme->system;
    double *ab = self->way, *ba = self->b, *x = self->e;
    for (int k = 0; k < 2; k++) {
        double *q = k == 0 ? ab : ba;
        for (int i = 0; i < system->nv; i++) x[i] = scale * (k == 0 ? a : b)[i];
        pcs_retract(&system->rotations, self->x->q, x, q);
        for (int i = 0; i < system->nv; i++) x[i] = scale * (k == 0 ? b : a)[i];
        pcs_retract(&system->rotations, q, x, q);
    }
    pcs_difference(&system->rotations, ba, ab, x);
    for (int i = 0; i < system->nv; i++) out[i] += x[i];
}

// Evaluates p . [v, d] by differences over angles of 1e-4, with both signs, so that the error is of second order.
static double forces_gyroscopic(pcs_certifier *self, const double *d, double *size)
{
    const pcs_system *system = self->scheme->system;
    const double *v = self->x->v;
    double *bracket = self->r, sum[2] = { 0.0 };
    double fastest = pcs_system_largest(system, v) + pcs_system_largest(system, d);
    double scale = 1e-4 * forces_length(self) / fastest;
    memset(bracket, 0, (size_t)system->nv * sizeof *bracket);
    forces_commute(self, scale, v, d, bracket);
    forces_commute(self, -scale, v, d, bracket);
    pcs_matrix_multiply(system->M, v, self->e);
    for (int i = 0; i < pcs_system_nown(system); i++) {
        double part = self->e[i] * bracket[i] / (2.0 * scale * scale);
        sum[0] += part;
        sum[1] += fabs(self->e[i] * v[i]);
    }
    pcs_system_sum(system, 2, sum);
    *size = sum[1] * pcs_system_largest(system, v) / forces_length(self);
    return sum[0];
}

static void forces_check_gyroscopic(pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    const double *q = self->x->q, *v = self->x->v;
    double *d = self->tolerance, *f = self->b, sum[2] = { 0.0 }, size, speed = pcs_system_largest(system, v);
    if (!(speed > 0.0)) return;
    forces_draw(self, speed, d);
    for (int k = 0; k < 3; k++) {
        const double sign = k == 0 ? 1.0 : -1.0;
        for (int i = 0; i < system->nv; i++) self->e[i] = k == 2 ? 0.0 : sign * v[i];
        system->ops->force(system, pcs_at(self->x->t, q, self->e), f);
        for (int i = 0; i < pcs_system_nown(system); i++) {
            sum[0] += (k == 2 ? -1.0 : 0.5) * f[i] * d[i];
            sum[1] += fabs(f[i] * d[i]);
        }
    }
    pcs_system_sum(system, 2, sum);
    double expected = forces_gyroscopic(self, d, &size);
    double allowed = of_gyro * fabs(expected) + PCS_ROUND_SUM * sum[1] + of_gyro * size + forces_noise(self, speed);
    pcs_certify_note(self, CERTIFY_GYROSCOPIC, fabs(sum[0] - expected), allowed, -1, -1);
}

// Checks the directions of the rows at the end of the step against differences of the gaps.
void pcs_certify_directions(pcs_certifier *self)
{
    pcs_system *system = self->scheme->system;
    double *d = self->tolerance, *ahead = self->moved, *behind = self->jump;
    if (!self->is_examined || pcs_system_nrow(system) == 0) return;
    forces_draw(self, 1e-7 * forces_length(self), d);
    pcs_retract(&system->rotations, self->x->q, d, self->b);
    pcs_system_gaps(system, pcs_at(self->x->t, self->b, NULL), ahead);
    for (int i = 0; i < system->nv; i++) self->e[i] = -d[i];
    pcs_retract(&system->rotations, self->x->q, self->e, self->b);
    pcs_system_gaps(system, pcs_at(self->x->t, self->b, NULL), behind);
    pcs_certify_aim(self, self->x->t, self->x->q);
    pcs_system_gaps(system, pcs_at(self->x->t, self->x->q, NULL), self->gap);
    for (int j = 0; j < system->nrow; j++) {
        double gap = self->gap[j];
        self->is_spare[j] = gap > 0.0 && ahead[j] == gap && behind[j] == gap;
        if (self->is_spare[j]) continue;
        double size = 0.0, bend = fabs(ahead[j] - 2.0 * gap + behind[j]);
        for (int k = self->G->start[j]; k < self->G->start[j + 1]; k++)
            size += fabs(self->G->value[k] * d[self->G->column[k]]);
        double off = fabs(0.5 * (ahead[j] - behind[j]) - pcs_rows_dot(self->G, j, d));
        double allowed = of_direction * size + bend + 4.0 * pcs_gap_tie(system, j, self->x->q);
        pcs_certify_note(self, CERTIFY_DIRECTION, off, allowed, j, -1);
    }
}

// Evaluates the gap rates along v at the end of the step, with q moved by v over a time.
static void forces_find_rates(pcs_certifier *self, double time, double *rate)
{
    const pcs_system *system = self->scheme->system;
    for (int i = 0; i < system->nv; i++) self->e[i] = time * self->x->v[i];
    pcs_retract(&system->rotations, self->x->q, self->e, self->b);
    pcs_certify_aim(self, self->x->t, self->b);
    for (int j = 0; j < system->nrow; j++) rate[j] = pcs_rows_dot(self->G, j, self->x->v);
}

// Checks (dG/dt) v against the change of the rates, over a displacement of 1e-5 of the model.
void pcs_certify_bends(pcs_certifier *self)
{
    pcs_system *system = self->scheme->system;
    double fastest = pcs_system_largest(system, self->x->v), time = 1e-5 * forces_length(self) / fastest;
    double *ahead = self->moved, *behind = self->jump, *here = self->start_rate;
    // Velocities at rest are round-off, down to numbers whose reciprocal overflows.
    bool is_at_rest = !(fastest > PCS_ROUND_VELOCITY * self->speed);
    if (!self->is_examined || !pcs_certify_is_on(self, CERTIFY_BEND) || is_at_rest) return;
    forces_find_rates(self, time, ahead);
    forces_find_rates(self, -time, behind);
    forces_find_rates(self, 0.0, here);
    pcs_system_rate_bias(system, pcs_at(self->x->t, self->x->q, self->x->v), self->bias);
    for (int j = 0; j < system->nrow; j++) {
        if (self->is_spare[j] || system->rows[j].is_driven) continue;
        double change = (ahead[j] - behind[j]) / (2.0 * time), kink = ahead[j] - 2.0 * here[j] + behind[j];
        double allowed = of_bend * (fabs(change) + fabs(self->bias[j])) + fabs(kink) / time;
        double noise = 1e-9 * fastest * fastest / forces_length(self);
        allowed += system->rows[j].is_angle ? noise / forces_length(self) : noise;
        pcs_certify_note(self, CERTIFY_BEND, fabs(change - self->bias[j]), allowed, j, -1);
    }
}

bool pcs_certify_examines(const pcs_certifier *self)
{
    const certify_memory *now = &self->now;
    long count = now->count;
    if (count == 0 || !(self->report->h > 0.0)) return false;
    while (count % 16 == 0) count /= 16;
    bool has_grown = self->report->measure.strain > 8.0 * pcs_max(now->examined, 1e-6 * now->largest_energy);
    return count == 1 || (!self->scheme->system->is_linear && has_grown);
}

// Compares booked damping with powers at both ends of the step and in between, along v and along the displacement.
// Rules with weights up to 3/2 evaluate it beyond an end: four times the difference of these is allowed.
static void forces_check_booked(pcs_certifier *self, const double *way)
{
    enum { POINTS = 4 };
    const pcs_system *system = self->scheme->system;
    const certify_past *from = self->from;
    double *q = self->way, *v = self->e, *along = self->b, h = self->report->h, power[POINTS];
    for (int i = 0; i < system->nv; i++) v[i] = 0.5 * way[i];
    pcs_retract(&system->rotations, from->q, v, q);
    for (int i = 0; i < system->nv; i++) {
        v[i] = 0.5 * (from->v[i] + self->x->v[i]);
        along[i] = way[i] / h;
    }
    power[0] = pcs_system_damping_power(system, pcs_at(self->x->t, from->q, from->v), from->v);
    power[1] = pcs_system_damping_power(system, pcs_at(self->x->t, self->x->q, self->x->v), self->x->v);
    power[2] = pcs_system_damping_power(system, pcs_at(self->x->t, q, v), v);
    power[3] = pcs_system_damping_power(system, pcs_at(self->x->t, q, v), along);
    double least = power[0], largest = power[0], floor = 1e-9 * self->now.largest_energy;
    for (int k = 1; k < POINTS; k++) {
        least = pcs_min(least, power[k]);
        largest = pcs_max(largest, power[k]);
    }
    double off = fabs(self->report->damping_loss - h * power[2]);
    pcs_certify_note(self, CERTIFY_WORK, off, 4.0 * h * (largest - least) + of_power * h * largest + floor, -1, -1);
}

// Compares the energies at the ends of the step with the work of forces along its path.
static void forces_check_work(pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    double *d = self->tolerance;
    pcs_difference(&system->rotations, self->from->q, self->x->q, d);
    // A damped force law presses, and rubs, harder where bodies approach: forces at rest do not show it.
    if (system->soft_friction == NULL || self->report->damping_loss == 0.0)
        forces_check_path(self, -1.0, &self->now.measure, &self->report->measure);
    if (pcs_system_is_damped(system)) forces_check_booked(self, d);
}

void pcs_certify_forces(pcs_certifier *self)
{
    enum { EVERY = 64 }; // steps
    pcs_system *system = self->scheme->system;
    bool is_asked = self->is_examined || self->now.count % EVERY == 0;
    if (self->is_examined) {
        self->now.examined = pcs_max(self->now.examined, self->report->measure.strain);
        if (pcs_certify_is_on(self, CERTIFY_GRADIENT)) forces_check_gradient(self);
        if (pcs_certify_is_on(self, CERTIFY_DAMPING_POWER)) forces_check_damping(self);
        if (pcs_certify_is_on(self, CERTIFY_GYROSCOPIC)) forces_check_gyroscopic(self);
    }
    if (self->from != NULL && is_asked) forces_check_work(self);
    // Resets what the system caches of its rows to the end of the step.
    if (system->row_set.vary) pcs_system_gaps(system, pcs_at(self->x->t, self->x->q, NULL), self->gap);
}
