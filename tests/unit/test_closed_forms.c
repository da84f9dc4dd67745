// Every registered closed-form system: do its functions agree with each other, at random states and parameters?
//
//   kinetic energy v.M v/2;  mass, directions, bias and derivatives as the check of plug-ins compares them
//   power:    f.v + v.(dM/dt) v/2 + dU/dt = power of the loads
//   pictures: the drawn contact point moves along its normal by G, in the tangent plane by T
//
// Known answers follow.

#include "build/build.h"
#include "check.h"
#include "closed_form/closed_form.h"
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = PCS_MAX_COORDINATES, M = PCS_MAX_CLOSED_ROWS, PARAMETERS = 64, STATES = 20 };

typedef struct trial {
    const percuss_system_definition *def;
    double p[PARAMETERS];
    int n, nrow;
    percuss_row rows[M];
    double t, q[N], v[N];
} trial;

// Presets, each moved by up to 30 %, or by as much of one where they are zero, as far as their ranges allow that.
static void trial_parameters(trial *x, unsigned long long *seed, bool moves)
{
    const percuss_system_definition *d = x->def;
    for (int i = 0; d->parameters[i].name != NULL; i++) {
        const percuss_parameter *parameter = &d->parameters[i];
        CHECK(i < PARAMETERS && !isnan(parameter->preset));
        CHECK(parameter->preset >= parameter->low && parameter->preset <= parameter->high);
        double keep = parameter->preset, share = 0.3 * model_random(seed),
               moved = keep == 0.0 ? share : keep * (1.0 + share);
        const char *culprit = NULL;
        x->p[i] = keep;
        if (!moves || moved < parameter->low || moved > parameter->high) continue;
        x->p[i] = moved;
        if (d->check != NULL && strcmp(parameter->name, "points") == 0 && d->check(x->p, &culprit) != NULL)
            x->p[i] = keep;
    }
    x->n = d->ncoordinate;
    x->nrow = d->row_count(x->p);
    CHECK(x->nrow >= 1 && x->nrow <= M);
    d->rows(x->p, x->rows);
}

static void trial_state(trial *x, unsigned long long *seed)
{
    x->def->start(x->p, x->q, x->v);
    x->t = model_random(seed);
    for (int i = 0; i < x->n; i++) {
        x->q[i] += model_random(seed);
        x->v[i] += 2.0 * model_random(seed);
    }
}

static void moved(const trial *x, double step, const double *direction, double *q)
{
    for (int i = 0; i < x->n; i++) q[i] = x->q[i] + step * direction[i];
}

// Derivative of order h^4 from differences at h and 2 h.
#define SLOPE(plus, minus, plus2, minus2, h) ((8.0 * ((plus) - (minus)) - ((plus2) - (minus2))) / (12.0 * (h)))
static const double step = 1e-3;
static const double shifts[4] = { 1e-3, -1e-3, 2e-3, -2e-3 };

static void check_kinetic_energy(const trial *x)
{
    double A[N * N], kinetic, potential, twice = 0.0;
    x->def->mass(x->p, x->q, A);
    for (int i = 0; i < x->n; i++)
        for (int j = 0; j < x->n; j++) twice += x->v[i] * A[i * x->n + j] * x->v[j];
    x->def->energy(x->p, x->q, x->v, &kinetic, &potential);
    CHECK_RELATIVE(kinetic, 0.5 * twice, 1e-13);
    CHECK(isfinite(potential));
}

static void check_power(const trial *x)
{
    double q[N], f[N], T[4], U[4], h = 0.0, power = 0.0, size = 0.0;
    for (int i = 0; i < x->n; i++) h = fmax(h, fabs(x->v[i]));
    h = step / h;
    // With v held, the kinetic energy changes by v.(dM/dt) v/2.
    for (int k = 0; k < 4; k++) {
        moved(x, shifts[k] / step * h, x->v, q);
        x->def->energy(x->p, q, x->v, &T[k], &U[k]);
        size = fmax(size, fabs(T[k]) + fabs(U[k]));
    }
    x->def->force(x->p, x->t, x->q, x->v, f);
    for (int i = 0; i < x->n; i++) {
        power += f[i] * x->v[i];
        size += fabs(f[i] * x->v[i]);
    }
    double kinetic = SLOPE(T[0], T[1], T[2], T[3], h), potential = SLOPE(U[0], U[1], U[2], U[3], h), load = 0.0;
    moved(x, 1.0, x->v, q);
    if (x->def->load_work != NULL) load = x->def->load_work(x->p, x->t, x->q, q);
    CHECK_NEAR(power + kinetic + potential, load, 1e-9 * size + 1e-13 * size / h);
}

// Velocity of every contact point by coordinate i, a difference.
static void contact_motion(const trial *x, int i, double (*w)[3])
{
    double at[4][M][3], normal[M][3], q[N], unit[N] = { 0 };
    unit[i] = 1.0;
    for (int k = 0; k < 4; k++) {
        moved(x, shifts[k], unit, q);
        x->def->contact_points(x->p, q, at[k], normal);
    }
    for (int j = 0; j < x->nrow; j++)
        for (int k = 0; k < 3; k++) w[j][k] = SLOPE(at[0][j][k], at[1][j][k], at[2][j][k], at[3][j][k], step);
    // The point of a ball that touches is not always the same: it also moves with the spin.
    if (strcmp(x->def->name, "spinning_ball") == 0 && i == 2) w[0][0] = x->q[1] - at[0][0][1];
}

// G is the motion along the normal; T measures the motion in the tangent plane, in any directions.
static void check_contact_points(const trial *x)
{
    double G[M * N], T[2 * M * N], w[N][M][3], at[M][3], normal[M][3];
    x->def->directions(x->p, x->q, G, T);
    x->def->contact_points(x->p, x->q, at, normal);
    for (int i = 0; i < x->n; i++) contact_motion(x, i, w[i]);
    for (int j = 0, first = 0; j < x->nrow; first += x->rows[j++].ntangent) {
        double along[N], length = 0.0;
        for (int k = 0; k < 3; k++) length += normal[j][k] * normal[j][k];
        CHECK_NEAR(length, 1.0, 1e-14);
        for (int i = 0; i < x->n; i++) {
            along[i] = 0.0;
            for (int k = 0; k < 3; k++) along[i] += normal[j][k] * w[i][j][k];
            if (!x->rows[j].is_bilateral) CHECK_NEAR(along[i], G[j * x->n + i], 1e-11);
        }
        for (int a = 0; a < x->n && x->rows[j].ntangent > 0; a++)
            for (int b = 0; b < x->n; b++) {
                double given = 0.0, drawn = -along[a] * along[b];
                for (int k = 0; k < 3; k++) drawn += w[a][j][k] * w[b][j][k];
                for (int t = 0; t < x->rows[j].ntangent; t++)
                    given += T[(first + t) * x->n + a] * T[(first + t) * x->n + b];
                CHECK_NEAR(given, drawn, 1e-11);
            }
    }
}

static void check_picture(const trial *x)
{
    double points[64][3];
    const percuss_system_definition *d = x->def;
    CHECK(d->npoint >= 1 && d->npoint <= 64 && d->ncell >= 1);
    d->points(x->p, x->q, points);
    for (int i = 0; i < d->npoint; i++)
        for (int k = 0; k < 3; k++) CHECK(isfinite(points[i][k]));
    for (int i = 0; i < d->ncell; i++)
        for (int k = 0; k < 2; k++) CHECK(d->cells[i][k] >= 0 && d->cells[i][k] < d->npoint);
}

TEST(functions_agree)
{
    unsigned long long seed = 7;
    pcs_context *ctx = NULL;
    CHECK_OK(NULL, pcs_context_create(&ctx));
    for (int k = 0; pcs_closed_forms[k] != NULL; k++)
        for (int i = 0; i < STATES; i++) {
            trial x = { .def = pcs_closed_forms[k] };
            trial_parameters(&x, &seed, i > 0);
            trial_state(&x, &seed);
            check_kinetic_energy(&x);
            check_power(&x);
            check_contact_points(&x);
            check_picture(&x);
            CHECK_OK(ctx, pcs_closed_form_compare(ctx, x.def, x.p, x.q, x.v));
        }
    pcs_context_destroy(&ctx);
}

// The distance of every contact point from the plane that is drawn for its contact, wherever the system is: its gap.
static void check_planes(const trial *x, const pcs_picture *picture, const pcs_system *system)
{
    double gap[M], at[M][3], normal[M][3];
    x->def->gaps(x->p, x->q, gap);
    x->def->contact_points(x->p, x->q, at, normal);
    for (int i = 0; i < picture->nstill; i++) {
        const pcs_obstacle *o = &picture->obstacles[i];
        double nearest = INFINITY;
        for (int j = 0; j < x->nrow; j++) {
            double distance = 0.0;
            if (system->rows[j].contact != o->contact) continue;
            for (int k = 0; k < 3; k++) distance += o->axis[k] * (at[j][k] - o->point[k]);
            nearest = fmin(nearest, fabs(distance - gap[j]));
        }
        CHECK_NEAR(nearest, 0.0, 1e-12 * (1.0 + fabs(gap[0]) + system->length));
    }
}

TEST(planes_are_drawn_where_contacts_are)
{
    // A rail that guides on both sides is no plane to lie on.
    static const struct {
        const char *name;
        int count;
    } wanted[] = { { "ball_in_box", 4 }, { "slider_crank", 2 }, { "slider_crank_bilateral", 0 } };
    unsigned long long seed = 3;
    for (int i = 0; pcs_closed_forms[i] != NULL; i++) {
        pcs_context *ctx = NULL;
        pcs_system *system = NULL;
        trial x = { .def = pcs_closed_forms[i] };
        int count = 1;
        for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
            if (strcmp(wanted[k].name, x.def->name) == 0) count = wanted[k].count;
        trial_parameters(&x, &seed, true);
        CHECK_OK(ctx, pcs_context_create(&ctx));
        CHECK_OK(ctx, pcs_closed_form_create(ctx, x.def, x.p, &system));
        CHECK(system->picture->nstill == count && system->picture->nobstacle == count);
        for (int k = 0; k < STATES; k++) {
            trial_state(&x, &seed);
            check_planes(&x, system->picture, system);
        }
        pcs_context_destroy(&ctx);
    }
}

typedef struct built {
    pcs_context *ctx;
    pcs_sim *sim;
} built;

static built build(const char *path, const char *set)
{
    built b = { 0 };
    CHECK_OK(NULL, pcs_context_create(&b.ctx));
    CHECK_OK(b.ctx, pcs_build_sim_from(b.ctx, path, set == NULL ? 0 : 1, &set, &b.sim));
    return b;
}

// Numbers worked out from the tables of the papers.
TEST(slider_crank_has_the_published_masses)
{
    built b = build("cases/slider_crank", NULL);
    pcs_system *s = b.sim->system;
    const double *A = s->M->value;
    CHECK_NEAR(A[0], 7.4e-5 + 0.153 * 0.153 * (0.0095 + 0.038 + 0.076), 1e-18);
    CHECK_NEAR(A[4], 5.9e-4 + 0.306 * 0.306 * (0.0095 + 0.076), 1e-18);
    CHECK_NEAR(A[1], 0.153 * 0.306 * 0.095, 1e-18);
    CHECK_NEAR(A[8], 2.7e-6, 0.0);
    double gap[4], f[3];
    pcs_system_gaps(s, pcs_at(b.sim->state.t, b.sim->state.q, NULL), gap);
    for (int j = 0; j < 4; j++) CHECK_NEAR(gap[j], 1e-3, 1e-17);
    CHECK(s->nrow == 4 && s->ntangent == 4 && !s->is_linear);
    s->ops->force(s, pcs_at(0.0, b.sim->state.q, b.sim->state.v), f);
    CHECK_NEAR(f[0], -9.81 * 0.153 * 0.133, 1e-16);
    CHECK_NEAR(f[1], -9.81 * 0.306 * 0.095, 1e-16);
    pcs_measure now;
    s->ops->measure(s, pcs_at(b.sim->state.t, b.sim->state.q, b.sim->state.v), PCS_ENERGY, &now);
    CHECK_NEAR(now.kinetic + now.potential, 7.49555, 5e-6);
    pcs_context_destroy(&b.ctx);
    b = build("cases/slider_crank", "system.friction=0.0");
    CHECK(b.sim->system->ntangent == 0); // without friction tangential rows would only make work
    pcs_context_destroy(&b.ctx);
}

TEST(linear_systems_know_their_constants)
{
    built b = build("cases/oscillator", NULL);
    const pcs_system *s = b.sim->system;
    CHECK(s->is_linear && !pcs_system_is_damped(s));
    CHECK_RELATIVE(s->stable_step, 2.0 / sqrt(2.0e4), 1e-14); // omega^2 = k (1/m1 + 1/m2)
    const double K[] = { 1e4, -1e4, -1e4, 1e4 }, constant[] = { -10.0 - 1e4, -10.0 + 1e4 };
    CHECK_ALL_NEAR(4, s->K->value, K, 0.0);
    CHECK_ALL_NEAR(2, s->gravity, constant, 1e-12);
    pcs_context_destroy(&b.ctx);
    b = build("cases/oscillator", "system.upper_mass=4.0");
    CHECK_RELATIVE(b.sim->system->stable_step, 2.0 / sqrt(1.25e4), 1e-14);
    pcs_context_destroy(&b.ctx);
    // Differences about a far place would round off: K is that about zero.
    b = build("cases/impacting_oscillator", "system.position=1.234567e+5");
    CHECK_NEAR(b.sim->system->K->value[0], 39.47841760435743, 0.0);
    pcs_context_destroy(&b.ctx);
    // Gravity straight down has no part to the side.
    b = build("cases/ball_in_box", "system.gravity_degrees=90.0");
    const double down[] = { 0.0, -9.81 };
    CHECK_ALL_NEAR(2, b.sim->system->gravity, down, 0.0);
    pcs_context_destroy(&b.ctx);
    // A load that grows with time is booked as work, not as gravity.
    b = build("cases/stick_slip", NULL);
    const double weight[] = { 0.0, -10.0 };
    CHECK_ALL_NEAR(2, b.sim->system->gravity, weight, 0.0);
    CHECK(isinf(b.sim->system->stable_step));
    pcs_context_destroy(&b.ctx);
}
