// The contact problem of contact_problem.h on random problems with friction, joints, position law and live gate: both
// of its solvers keep the laws by their definitions and find the same answer; problems where sets of Newton's
// method fail are settled, or told.

#include "support/check.h"
#include "support/model.h"

#include "step/dense_contacts.h"
#include "step/krylov_set.h"
#include "step/sums.h"

#include <math.h>
#include <string.h>

enum { MOST = 64, ROWS = 8 };

// A system of rows alone, and P as a dense matrix over all unknowns.
typedef struct problem {
    pcs_context *ctx;
    pcs_system system;
    pcs_row rows[200];
    pcs_krylov_set *c;
    double *P, *P_gate; // [n * n], [m * n]
} problem;

static void dense_product(void *owner, int in, int out, const double *z, double *value, double *gate_gap)
{
    const problem *p = owner;
    const pcs_krylov_set *c = p->c;
    int first = in & PCS_STAGE_GAP ? 0 : c->p.m, last = in & PCS_STAGE_RATE ? c->p.n : c->p.m;
    for (int i = out & PCS_STAGE_GAP ? 0 : c->p.m; i < (out & PCS_STAGE_RATE ? c->p.n : c->p.m); i++) {
        value[i] = 0.0;
        for (int j = first; j < last; j++) value[i] += p->P[i * c->p.n + j] * z[j];
    }
    for (int i = 0; i < c->p.m && gate_gap != NULL; i++) {
        gate_gap[i] = 0.0;
        for (int j = first; j < last; j++) gate_gap[i] += p->P_gate[i * c->p.n + j] * z[j];
    }
}

static void *take(problem *p, size_t count)
{
    void *memory = pcs_take(p->ctx, count, sizeof(double), "a test");
    assert_non_null(memory);
    return memory;
}

// The problem lives in its own context.
static void destroy(problem *p)
{
    pcs_context *ctx = p->ctx;
    pcs_context_destroy(&ctx);
}

// `count` rows with `tangents` directions of friction each; every `joint`-th row is bilateral (0: none).
static problem *create(int count, int tangents, double friction, int joint)
{
    pcs_context *ctx;
    CHECK_OK(NULL, pcs_context_create(&ctx));
    problem *p = pcs_take(ctx, 1, sizeof *p, "a test");
    p->ctx = ctx;
    for (int j = 0; j < count; j++) {
        bool is_joint = joint > 0 && j % joint == joint - 1;
        p->rows[j] = (pcs_row){ .is_bilateral = is_joint,
                                .friction = friction,
                                .first_tangent = p->system.ntangent,
                                .ntangent = is_joint ? 0 : tangents };
        p->system.ntangent += p->rows[j].ntangent;
    }
    p->system.nrow = count;
    p->system.rows = p->rows;
    p->system.length = 1.0;
    CHECK_OK(ctx, pcs_krylov_set_create(ctx, &p->system, 0, &p->c));
    p->P = take(p, (size_t)(p->c->p.n * p->c->p.n));
    p->P_gate = take(p, (size_t)(p->c->p.m * p->c->p.n));
    p->c->product = dense_product;
    p->c->owner = p;
    p->c->p.h = 1.0;
    return p;
}

// Velocity level: P = R R^T for directions R that touch six of `dofs` coordinates, b = R v.
static void fill_impact(problem *p, unsigned long long *seed, int dofs, double approach)
{
    pcs_krylov_set *c = p->c;
    int count = c->p.n - c->p.m;
    double *R = take(p, (size_t)(count * dofs)), *v = take(p, (size_t)dofs);
    for (int j = 0; j < c->p.m; j++)
        for (int k = 0; k < 6; k++) {
            int dof = (int)(0.5 * (1.0 + model_random(seed)) * dofs) % dofs;
            R[j * dofs + dof] += model_random(seed);
            for (int t = 0; t < p->rows[j].ntangent; t++)
                R[(c->p.m + p->rows[j].first_tangent + t) * dofs + dof] += model_random(seed);
        }
    model_randomize(seed, dofs, v);
    for (int i = 0; i < count; i++) {
        double *row = &p->P[(c->p.m + i) * c->p.n + c->p.m];
        c->p.b[c->p.m + i] = i < c->p.m ? -approach : 0.0;
        for (int j = 0; j < count; j++) row[j] = pcs_sum_dot(dofs, &R[i * dofs], &R[j * dofs]);
        c->p.b[c->p.m + i] += pcs_sum_dot(dofs, &R[i * dofs], v);
        c->p.r[c->p.m + i] = 1.0 / row[i];
    }
    for (int j = 0; j < c->p.m; j++) {
        c->p.r[j] = 1.0;
        c->p.gate[j] = p->rows[j].is_bilateral || model_random(seed) < 0.8;
    }
    c->is_symmetric = true;
}

static void near_zero(double value, double size, const char *what)
{
    if (!(fabs(value) <= 1e-12 * size)) fail_msg("%s: off by %.3g, size %.3g", what, value, size);
}

// The law of a gap, its multiplier and the gate of row j, in velocities.
static void check_gap(const problem *p, const pcs_contact_problem *s, int j, const double *value, double size)
{
    double nu = s->z[j], weight = s->r[j], at_gate = s->b_gate[j];
    for (int k = 0; k < s->n; k++) at_gate += p->P_gate[j * s->n + k] * s->z[k];
    if (!s->has_position) CHECK(nu == 0.0);
    else if (p->rows[j].is_bilateral) near_zero(value[j] / s->h, size, "gap of a joint");
    else {
        near_zero(fmin(value[j], 0.0) / s->h, size, "gap >= 0");
        near_zero(fmin(nu, 0.0) / (s->h * weight), size, "nu >= 0");
        near_zero(fmin(fabs(value[j]), fabs(nu) / weight) / s->h, size, "gap or nu vanishes");
    }
    if (!s->gate_is_live || p->rows[j].is_bilateral) return;
    // Closed where its gap is, or where the law of the gap holds the row.
    double held = s->has_position ? nu / weight : 0.0, open = held > 0.0 ? 0.0 : fmax(at_gate, 0.0);
    near_zero((s->gate[j] ? open : fmin(at_gate, 0.0) - held) / s->h, size, "gate");
}

// The laws by their definitions, at values computed anew, which are those that are reported.
static void check_laws(problem *p, const pcs_contact_problem *s)
{
    int m = s->m;
    double *value = take(p, (size_t)s->n);
    dense_product(p, PCS_STAGE_BOTH, PCS_STAGE_BOTH, s->z, value, NULL);
    for (int k = 0; k < s->n; k++) value[k] += s->b[k];
    double size = pcs_sum_largest(s->n - m, s->b + m), small = 1e-12 * size;
    for (int k = s->has_position ? 0 : m; k < s->n; k++)
        near_zero((value[k] - s->value[k]) / pcs_contact_unit(s, k), 10.0 * size, "the value that is reported");
    for (int j = 0; j < m; j++) {
        double la = s->z[m + j], xi = value[m + j], weight = s->r[m + j];
        check_gap(p, s, j, value, size);
        if (p->rows[j].is_bilateral) {
            CHECK_NEAR(xi, 0.0, small);
            continue;
        }
        CHECK(la >= 0.0 && (s->gate[j] || la == 0.0));
        if (s->gate[j]) CHECK(xi >= -small && fmin(fabs(xi), la / weight) <= small);
        double slip = 0.0, impulse = 0.0, power = 0.0, limit = p->rows[j].friction * la;
        for (int t = 0; t < p->rows[j].ntangent; t++) {
            int k = 2 * m + p->rows[j].first_tangent + t;
            slip = hypot(slip, value[k]);
            impulse = hypot(impulse, s->z[k]);
            power += value[k] * s->z[k];
        }
        CHECK(impulse <= limit * (1.0 + 1e-14) + 1e-15 * weight * size);
        // Where it slides the impulse is at its limit and against the slip.
        if (slip > 10.0 * small) CHECK_NEAR(power, -limit * slip, 20.0 * small * fmax(limit, weight * size));
    }
}

static pcs_dense_contacts *few(problem *p)
{
    pcs_dense_contacts *q;
    const pcs_krylov_set *c = p->c;
    size_t n = (size_t)c->p.n, m = (size_t)c->p.m;
    CHECK_OK(p->ctx, pcs_dense_contacts_create(p->ctx, &p->system, false, &q));
    q->p.h = c->p.h;
    q->p.has_position = c->p.has_position;
    q->p.gate_is_live = c->p.gate_is_live;
    memcpy(q->P, p->P, n * n * sizeof(double));
    memcpy(q->P_gate, p->P_gate, m * n * sizeof(double));
    memcpy(q->p.b, c->p.b, n * sizeof(double));
    memcpy(q->p.b_gate, c->p.b_gate, m * sizeof(double));
    memcpy(q->p.r, c->p.r, n * sizeof(double));
    memcpy(q->p.gate, c->p.gate, m);
    return q;
}

// Both solvers on one problem, which has one answer.
static void solve_both(problem *p, const char *what, int trial)
{
    int rounds;
    pcs_dense_contacts *q = few(p);
    if (!pcs_dense_contacts_solve(q, &rounds) || rounds > 20) fail_msg("%s, trial %d: %d solves", what, trial, rounds);
    if (!pcs_krylov_set_solve(p->c)) fail_msg("%s, trial %d does not settle", what, trial);
    check_laws(p, &q->p);
    check_laws(p, &p->c->p);
    for (int k = 0; k < q->p.n; k++) CHECK_NEAR(p->c->p.z[k], q->p.z[k], 1e-10 * (1.0 + fabs(q->p.z[k])));
    for (int j = 0; j < q->p.m; j++) CHECK(p->c->p.gate[j] == q->p.gate[j] || p->rows[j].is_bilateral);
}

TEST(impacts_are_settled)
{
    unsigned long long seed = 3;
    int sticks = 0, slides = 0, opens = 0;
    for (int tangents = 0; tangents < 3; tangents++)
        for (int trial = 0; trial < 60; trial++) {
            problem *p = create(ROWS, tangents, 0.3, trial % 2 == 0 ? 0 : 4);
            fill_impact(p, &seed, 40, 0.3);
            solve_both(p, "impact", trial);
            for (int j = 0; j < ROWS; j++) {
                opens += p->c->p.gate[j] && p->c->p.z[ROWS + j] == 0.0;
                if (p->rows[j].ntangent == 0 || p->c->p.z[ROWS + j] == 0.0) continue;
                bool is_stuck = fabs(p->c->p.value[2 * ROWS + p->rows[j].first_tangent]) < 1e-12;
                sticks += is_stuck;
                slides += !is_stuck;
            }
            destroy(p);
        }
    print_message("%d stick, %d slide, %d are gated and open\n", sticks, slides, opens);
    CHECK(sticks > 50 && slides > 50 && opens > 50);
}

// 150 rows: no set of contacts is solved for twice, and no projection is needed.
TEST(many_impacts_do_not_cycle)
{
    unsigned long long seed = 8;
    for (int tangents = 0; tangents < 3; tangents++)
        for (int trial = 0; trial < 3; trial++) {
            problem *p = create(150, tangents, 0.4, 0);
            fill_impact(p, &seed, 150 * (2 + tangents), 0.3);
            CHECK(pcs_krylov_set_solve(p->c));
            check_laws(p, &p->c->p);
            CHECK(p->c->revisits == 0 && p->c->projections == 0);
            CHECK(p->c->rounds <= 15);
            // The same problem from its solution: hardly anything is left to do.
            int products = p->c->products;
            CHECK(pcs_krylov_set_solve(p->c));
            CHECK(p->c->rounds <= 1 && p->c->products < products / 8);
            check_laws(p, &p->c->p);
            destroy(p);
        }
}

// More rows than coordinates: impulses are not unique, the velocities of rows that hold are.
TEST(redundant_rows_are_settled)
{
    unsigned long long seed = 21;
    for (int trial = 0; trial < 30; trial++) {
        problem *p = create(30, 0, 0.0, 0);
        fill_impact(p, &seed, 12, 1.0 + 0.5 * trial / 30.0);
        // What the coordinates cannot do at once is not asked for: b = R v leaves room to open.
        for (int j = 0; j < 30; j++) p->c->p.b[30 + j] += 1.0 + 0.5 * trial / 30.0;
        if (!pcs_krylov_set_solve(p->c)) fail_msg("trial %d does not settle", trial);
        check_laws(p, &p->c->p);
        destroy(p);
    }
}

typedef struct kind {
    bool has_position, gate_is_live, is_damped;
} kind;

// A small mechanical system with M = 1 and dense K, C: the maps of a step with dynamics.
static void fill_step(problem *p, unsigned long long *seed, kind is)
{
    enum { N = 14 };
    pcs_krylov_set *c = p->c;
    int n = c->p.n, m = c->p.m;
    double L[N * N], K[N * N], C[N * N], S[N * N], R[MOST * N], q[N], v[N], h = 0.1, kb = 0.06, weight = 1.7;
    model_randomize(seed, N * N, L);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            K[i * N + j] = 40.0 * pcs_sum_dot(N, &L[i * N], &L[j * N]);
            C[i * N + j] = is.is_damped ? 0.02 * K[i * N + j] : 0.0;
            S[i * N + j] = (i == j ? weight : 0.0) + h * C[i * N + j] + h * kb * K[i * N + j];
        }
    model_randomize(seed, (m + c->p.nt) * N, R);
    model_randomize(seed, N, q);
    model_randomize(seed, N, v);
    for (int l = 0; l < n; l++) {
        double U[N], W[N], d[N], copy[N * N];
        const double *column = l < m ? &R[l * N] : l < 2 * m ? &R[(l - m) * N] : &R[(l - m) * N];
        for (int i = 0; i < N; i++) {
            U[i] = l < m ? column[i] : l < 2 * m ? 0.0 : 0.5 * h * column[i];
            W[i] = l < m ? 0.0 : column[i];
        }
        for (int i = 0; i < N; i++) d[i] = -h * pcs_sum_dot(N, &K[i * N], U) - h * pcs_sum_dot(N, &C[i * N], W);
        memcpy(copy, S, sizeof S);
        model_solve(N, copy, d);
        for (int k = 0; k < m + c->p.nt; k++) {
            double smooth = pcs_sum_dot(N, &R[k * N], d);
            if (k < m) p->P_gate[k * n + l] = kb * smooth;
            if (k < m) p->P[k * n + l] = kb * smooth + pcs_sum_dot(N, &R[k * N], U);
            p->P[(m + k) * n + l] = smooth + pcs_sum_dot(N, &R[k * N], W);
        }
    }
    for (int k = 0; k < m + c->p.nt; k++) {
        if (k < m) c->p.b[k] = c->p.b_gate[k] = 0.1 * pcs_sum_dot(N, &R[k * N], q);
        c->p.b[m + k] = pcs_sum_dot(N, &R[k * N], v);
        c->p.r[m + k] = 1.0 / pcs_sum_dot(N, &R[k * N], &R[k * N]);
        if (k < m) c->p.r[k] = c->p.r[m + k];
    }
    for (int j = 0; j < m; j++)
        if (p->rows[j].is_bilateral) c->p.b[j] = c->p.b_gate[j] = 0.0;
    c->p.h = h;
    c->p.has_position = is.has_position;
    c->p.gate_is_live = is.gate_is_live;
    for (int j = 0; j < m && !is.gate_is_live; j++) c->p.gate[j] = p->rows[j].is_bilateral || model_random(seed) > -0.3;
    c->is_one_sided = !is.is_damped && c->p.nt == 0;
    c->is_symmetric = !is.is_damped;
}

TEST(steps_are_settled)
{
    static const kind kinds[] = { { true, true, false },  { true, false, false }, { false, false, false },
                                  { false, false, true }, { true, false, true },  { true, true, true } };
    unsigned long long seed = 13;
    int pressed = 0, gated = 0, shut = 0;
    for (int tangents = 0; tangents < 2; tangents++)
        for (int trial = 0; trial < 240; trial++) {
            int count = 1 + trial / 6 % 6;
            problem *p = create(count, tangents, 0.3, trial / 36 % 2 == 0 ? 3 : 0);
            fill_step(p, &seed, kinds[trial % 6]);
            solve_both(p, "step", trial);
            for (int j = 0; j < count; j++) {
                pressed += p->c->p.z[j] > 0.0;
                gated += p->c->p.gate[j];
                shut += !p->c->p.gate[j];
            }
            destroy(p);
        }
    print_message("%d position multipliers, %d gates open, %d shut\n", pressed, gated, shut);
    CHECK(pressed > 100 && gated > 100 && shut > 100);
}

// z + a (z turned by one row) = 1 with a in (1, 2): from the set {1} Newton's sets go round {1,3}, {3,2}, {2,1} for
// ever (Ben Gharbia, Gilbert 2012). All three rows hold in the solution 1/(1 + a).
TEST(cycling_sets_are_left)
{
    const double a = 1.5;
    problem *p = create(3, 0, 0.0, 0);
    pcs_krylov_set *c = p->c;
    for (int i = 0; i < 3; i++) {
        p->P[(3 + i) * 6 + 3 + i] = 1.0;
        p->P[(3 + i) * 6 + 3 + (i + 2) % 3] = a;
        c->p.b[3 + i] = -1.0;
        c->p.r[i] = c->p.r[3 + i] = 1.0;
        c->p.gate[i] = 1;
    }
    c->p.z[3] = 1.0;
    CHECK(pcs_krylov_set_solve(c));
    print_message("%d rounds, %d revisits, %d projections\n", c->rounds, c->revisits, c->projections);
    CHECK(c->revisits > 0 && c->projections > 0); // it did go round
    for (int i = 0; i < 3; i++) CHECK_NEAR(c->p.z[3 + i], 1.0 / (1.0 + a), 1e-14);
    destroy(p);
}

// The same row twice with different targets: the stronger one holds, the other is open. Both at once have no solution.
TEST(contradictions_are_left)
{
    problem *p = create(2, 0, 0.0, 0);
    pcs_krylov_set *c = p->c;
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) p->P[(2 + i) * 4 + 2 + j] = 2.0;
        c->p.b[2 + i] = -1.0 - i;
        c->p.r[i] = c->p.r[2 + i] = 0.5;
        c->p.gate[i] = 1;
    }
    c->is_symmetric = true;
    solve_both(p, "contradiction", 0);
    CHECK_NEAR(c->p.z[2], 0.0, 0.0);
    CHECK_NEAR(c->p.z[3], 1.0, 1e-14);
    destroy(p);
}

// One row whose impulse lifts it off: with the gate closed its position multiplier would be negative, without the
// impulse the position law closes the gate. Its gate is closed, whether the smooth gap says so then or not.
TEST(gates_that_contradict_themselves_close)
{
    const double start[2] = { -0.5, 0.5 }, by_nu[2] = { 0.0, -1.0 }, by_impulse[2] = { 1.0, -1.0 };
    for (int is_consistent = 0; is_consistent < 2; is_consistent++) {
        problem *p = create(1, 0, 0.0, 0);
        pcs_krylov_set *c = p->c;
        memcpy(p->P, (const double[4]){ 1.0, 2.0, 0.0, 1.0 }, 4 * sizeof(double));
        p->P_gate[0] = by_nu[is_consistent];
        p->P_gate[1] = by_impulse[is_consistent];
        c->p.b[0] = c->p.b[1] = -1.0;
        c->p.b_gate[0] = start[is_consistent];
        c->p.r[0] = c->p.r[1] = 1.0;
        c->p.has_position = c->p.gate_is_live = true;
        int rounds;
        pcs_dense_contacts *dense = few(p);
        CHECK(pcs_dense_contacts_solve(dense, &rounds));
        CHECK(pcs_krylov_set_solve(c));
        CHECK(c->p.gate[0] && dense->p.gate[0]);
        CHECK_NEAR(c->p.gate_gap[0], is_consistent ? -0.5 : 0.5, 1e-14);
        for (int k = 0; k < 2; k++) {
            CHECK_NEAR(c->p.z[k], k, 1e-14);
            CHECK_NEAR(dense->p.z[k], k, 1e-14);
        }
        destroy(p);
    }
}

// Two rows, each of which pushes the other one back by what it moves itself, have no solution: projections see soon
// that they lead nowhere.
TEST(hopeless_problems_end)
{
    problem *p = create(2, 0, 0.0, 0);
    pcs_krylov_set *c = p->c;
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) p->P[(2 + i) * 4 + 2 + j] = i == j ? 1.0 : -1.0;
        c->p.b[2 + i] = -1.0;
        c->p.r[i] = c->p.r[2 + i] = 1.0;
        c->p.gate[i] = 1;
    }
    c->is_symmetric = true;
    CHECK(!pcs_krylov_set_solve(c));
    print_message("%d rounds, %d products, %d projections\n", c->rounds, c->products, c->projections);
    CHECK(c->products < 1000);
    destroy(p);
}

// What is not finite ends the solve.
TEST(infinite_problems_fail)
{
    for (int bad = 0; bad < 2; bad++) { // a maximum that forgets a NaN before a number would pass the first
        problem *p = create(2, 0, 0.0, 0);
        for (int i = 0; i < 2; i++) {
            p->P[(2 + i) * 4 + 2 + i] = i == bad ? NAN : 1.0;
            p->c->p.b[2 + i] = -1.0;
            p->c->p.r[i] = p->c->p.r[2 + i] = 1.0;
            p->c->p.gate[i] = 1;
        }
        CHECK(!pcs_krylov_set_solve(p->c));
        destroy(p);
    }
}
