// The condensed contact problem: what the active set finds against the conditions themselves, on random problems, with
// rows that say the same twice, and on ties that only round-off decides.

#include "support/check.h"
#include "support/model.h"

#include "step/contact_problem.h"
#include "step/frictionless.h"

#include <math.h>
#include <string.h>

enum { MAX = 6 };

// One problem with the memory it borrows. Without damping P12 = Q2 = 0.
typedef struct problem {
    pcs_frictionless *s;
    double nu[MAX], la[MAX], r[MAX];
    unsigned char gate[MAX];
} problem;

typedef struct kind {
    bool has_position, gate_is_live, is_damped;
} kind;

static void attach(problem *p)
{
    p->s->nu = p->nu;
    p->s->la = p->la;
    p->s->gate = p->gate;
    p->s->r = p->r;
    pcs_frictionless_prepare(p->s);
}

// L diag(w) L^T into out, [m * m].
static void congruent(int m, const double *L, const double *w, double scale, double *out)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            out[i * m + j] = 0.0;
            for (int k = 0; k < m; k++) out[i * m + j] += scale * L[i * m + k] * w[k] * L[j * m + k];
        }
}

// The blocks as condensation makes them: G X = L L^T; stiffness and damping take a part of it away.
static void fill_blocks(unsigned long long *seed, problem *p, kind c, double h)
{
    pcs_frictionless *s = p->s;
    int m = s->m, n = m * m;
    double L[MAX * MAX], one[MAX], stiff[MAX], damped[MAX], kb = 0.6 * h;
    for (int i = 0; i < n; i++) L[i] = 0.3 * model_random(seed) + (i % (m + 1) == 0 ? 1.0 : 0.0);
    // kb G YK + G YW = G X - c G S*^-1 G^T: together they take less than all of it.
    for (int i = 0; i < m; i++) {
        double taken = 0.45 * (1.0 + model_random(seed)), split = c.is_damped ? 0.5 * (1.0 + model_random(seed)) : 0.0;
        one[i] = 1.0;
        stiff[i] = (1.0 - split) * taken;
        damped[i] = split * taken;
    }
    double GX[MAX * MAX], GYK[MAX * MAX], GYW[MAX * MAX];
    congruent(m, L, one, 1.0, GX);
    congruent(m, L, stiff, c.has_position ? 1.0 / kb : 0.0, GYK);
    congruent(m, L, damped, 1.0, GYW);
    for (int k = 0; k < n; k++) {
        s->Q1[k] = -kb * GYK[k];
        s->Q2[k] = -kb * GYW[k];
        s->P11[k] = GX[k] + s->Q1[k];
        s->P12[k] = s->Q2[k];
        s->P21[k] = -GYK[k];
        s->P22[k] = GX[k] - GYW[k];
    }
    for (int j = 0; j < m; j++) p->r[j] = 1.0 / GX[j * m + j];
    s->h = h;
    s->has_position = c.has_position;
    s->gate_is_live = c.gate_is_live;
}

static void fill_problem(unsigned long long *seed, problem *p, kind c, double h)
{
    fill_blocks(seed, p, c, h);
    for (int j = 0; j < p->s->m; j++) {
        p->s->gap0[j] = h * model_random(seed);
        p->s->xi0[j] = model_random(seed);
        p->gate[j] = model_random(seed) > -0.3;
    }
}

static double tested(double value, double size, const char *what, int trial)
{
    if (!(fabs(value) <= 1e-12 * size)) fail_msg("trial %d: %s is off by %.3g", trial, what, value);
    return value;
}

// The conditions of small.h on what a method left behind, computed here from the blocks.
static void check_conditions(const problem *p, int trial)
{
    const pcs_frictionless *s = p->s;
    int m = s->m;
    double size = 0.0;
    for (int j = 0; j < m; j++) size = fmax(size, fmax(fabs(s->xi0[j]), fabs(s->gap0[j]) / s->h));
    for (int i = 0; i < m; i++) {
        double gap = s->gap0[i], at_gate = s->gap0[i], xi = s->xi0[i];
        for (int j = 0; j < m; j++) {
            int k = i * m + j;
            gap += s->P11[k] * p->nu[j] + s->P12[k] * p->la[j];
            at_gate += s->Q1[k] * p->nu[j] + s->Q2[k] * p->la[j];
            xi += s->P21[k] * p->nu[j] + s->P22[k] * p->la[j];
        }
        tested((gap - s->gap[i]) / s->h, size, "the gap it tells", trial);
        tested(xi - s->xi[i], size, "the velocity it tells", trial);
        if (s->has_position) {
            tested(fmin(gap, 0.0) / s->h, size, "gap >= 0", trial);
            tested(fmin(p->nu[i], 0.0) / (s->h * p->r[i]), size, "nu >= 0", trial);
            tested(fmin(fabs(gap), fabs(p->nu[i]) / p->r[i]) / s->h, size, "gap or nu", trial);
        } else {
            CHECK(p->nu[i] == 0.0);
        }
        // Closed where its gap is, or where the law of the gap holds the row.
        double held = s->has_position ? p->nu[i] / s->r[i] : 0.0, open = held > 0.0 ? 0.0 : fmax(at_gate, 0.0);
        if (s->gate_is_live) tested((p->gate[i] ? open : fmin(at_gate, 0.0) - held) / s->h, size, "the gate", trial);
        if (p->gate[i]) {
            tested(fmin(xi, 0.0), size, "xi >= 0", trial);
            tested(fmin(p->la[i], 0.0) / p->r[i], size, "La >= 0", trial);
            tested(fmin(fabs(xi), fabs(p->la[i]) / p->r[i]), size, "xi or La", trial);
        } else if (p->la[i] != 0.0) {
            fail_msg("trial %d: an impulse on an open row", trial);
        }
    }
}

static int settle(problem *p, int trial)
{
    int iterations = 0;
    attach(p);
    for (int j = 0; j < p->s->m; j++) p->nu[j] = p->la[j] = NAN; // a method starts from nothing
    if (!pcs_frictionless_active_set(p->s, &iterations)) fail_msg("trial %d (m = %d): does not settle", trial, p->s->m);
    check_conditions(p, trial);
    return iterations;
}

TEST(active_set_settles)
{
    const kind kinds[] = { { true, true, false },
                           { true, false, false },
                           { false, false, false },
                           { false, false, true },
                           { true, false, true } };
    unsigned long long seed = 2024;
    int worst = 0, nactive = 0;
    for (int trial = 0; trial < 1000; trial++) {
        problem p = { 0 };
        model *m = model_create();
        CHECK_OK(m->ctx, pcs_frictionless_create(m->ctx, 1 + trial % MAX, &p.s));
        fill_problem(&seed, &p, kinds[trial / MAX % 5], 1e-3);
        int iterations = settle(&p, trial);
        worst = iterations > worst ? iterations : worst;
        for (int j = 0; j < p.s->m; j++) nactive += (p.nu[j] > 0.0) + (p.la[j] > 0.0);
        model_destroy(&m);
    }
    CHECK(nactive > 1000); // the problems do have contacts
    if (worst > 20) fail_msg("%d solves", worst);
}

// With damping the gate itself depends on the impulses; whatever is found must satisfy the conditions.
TEST(live_gates_with_damping_settle)
{
    unsigned long long seed = 7;
    for (int trial = 0; trial < 500; trial++) {
        problem p = { 0 };
        model *m = model_create();
        CHECK_OK(m->ctx, pcs_frictionless_create(m->ctx, 1 + trial % MAX, &p.s));
        fill_problem(&seed, &p, (kind){ true, true, true }, 1e-3);
        (void)settle(&p, trial);
        model_destroy(&m);
    }
}

// The same contact beside one that is far open and does not know of it.
static void add_open_row(const problem *one, problem *both)
{
    const pcs_frictionless *s = one->s;
    pcs_frictionless *t = both->s;
    double *from[] = { s->P11, s->P12, s->P21, s->P22, s->Q1, s->Q2 };
    double *to[] = { t->P11, t->P12, t->P21, t->P22, t->Q1, t->Q2 };
    for (int k = 0; k < 6; k++) to[k][0] = to[k][3] = from[k][0];
    t->gap0[0] = s->gap0[0];
    t->xi0[0] = s->xi0[0];
    t->gap0[1] = t->xi0[1] = 1e3;
    t->h = s->h;
    t->has_position = s->has_position;
    t->gate_is_live = s->gate_is_live;
    t->gate_tolerance = s->gate_tolerance;
    both->gate[0] = one->gate[0];
    both->r[0] = both->r[1] = one->r[0];
    attach(both);
}

// What one contact settles in closed form is what the sets of several find, in as many rounds.
TEST(one_row_as_one_of_two)
{
    unsigned long long seed = 99;
    int rounds[4] = { 0 };
    for (int trial = 0; trial < 8000; trial++) {
        problem one = { 0 }, both = { 0 };
        model *m = model_create();
        int count, count_of_both;
        CHECK_OK(m->ctx, pcs_frictionless_create(m->ctx, 1, &one.s));
        CHECK_OK(m->ctx, pcs_frictionless_create(m->ctx, 2, &both.s));
        fill_problem(&seed, &one, (kind){ trial & 1, trial & 2, trial & 4 }, 1e-3);
        attach(&one);
        if (trial % 5 == 0) *one.s->gap0 = trial % 10 == 0 ? 0.0 : -0.0;
        if (trial % 7 == 0) *one.s->xi0 = trial % 14 == 0 ? 0.0 : -0.0;
        one.s->gate_tolerance = trial % 3 == 0 ? 1e-4 : 0.0;
        if (trial % 11 == 0) *one.s->Q2 = 1e-2; // negative damping: the impulse opens the gate
        add_open_row(&one, &both);
        bool is_settled = pcs_frictionless_active_set(one.s, &count);
        CHECK(is_settled == pcs_frictionless_active_set(both.s, &count_of_both));
        CHECK(count == count_of_both && one.gate[0] == both.gate[0]);
        CHECK((one.nu[0] > 0.0) == (both.nu[0] > 0.0) && (one.la[0] > 0.0) == (both.la[0] > 0.0));
        CHECK_NEAR(one.nu[0], both.nu[0], 1e-14 * fabs(both.nu[0]));
        CHECK_NEAR(one.la[0], both.la[0], 1e-13 * fabs(both.la[0]));
        CHECK_NEAR(one.s->gap[0], both.s->gap[0], 1e-17);
        CHECK_NEAR(one.s->gate_gap[0], both.s->gate_gap[0], 1e-16);
        CHECK_NEAR(one.s->xi[0], both.s->xi[0], 1e-13);
        rounds[count < 3 ? count : 3]++;
        model_destroy(&m);
    }
    CHECK(rounds[1] > 100 && rounds[2] > 100 && rounds[3] > 100);
}

// The last row repeats the first one: same gap, same velocity.
static void repeat_row(problem *p)
{
    pcs_frictionless *s = p->s;
    int m = s->m, last = m - 1;
    double *const blocks[] = { s->P11, s->P12, s->P21, s->P22, s->Q1, s->Q2 };
    for (int b = 0; b < 6; b++) {
        for (int j = 0; j < m; j++) blocks[b][last * m + j] = blocks[b][0 * m + j];
        for (int i = 0; i < m; i++) blocks[b][i * m + last] = blocks[b][i * m + 0];
    }
    s->gap0[last] = s->gap0[0];
    s->xi0[last] = s->xi0[0];
    p->gate[last] = p->gate[0];
    p->r[last] = p->r[0];
}

TEST(repeated_rows_share_the_multiplier)
{
    const kind kinds[] = { { true, true, false }, { false, false, true } };
    unsigned long long seed = 99;
    for (int trial = 0; trial < 300; trial++) {
        problem p = { 0 };
        model *m = model_create();
        CHECK_OK(m->ctx, pcs_frictionless_create(m->ctx, 2 + trial % (MAX - 1), &p.s));
        fill_problem(&seed, &p, kinds[trial % 2], 1e-3);
        repeat_row(&p);
        int last = p.s->m - 1;
        if (trial % 3 == 0) p.s->gap0[0] = p.s->gap0[last] = -1e-3; // surely closed and approaching
        if (trial % 3 == 0) p.s->xi0[0] = p.s->xi0[last] = -1.0;
        (void)settle(&p, trial);
        // Only the sum is determined; it is that of the problem without the repetition.
        problem plain = { 0 };
        CHECK_OK(m->ctx, pcs_frictionless_create(m->ctx, last, &plain.s));
        double *const from[] = { p.s->P11, p.s->P12, p.s->P21, p.s->P22, p.s->Q1, p.s->Q2 };
        double *const to[] = { plain.s->P11, plain.s->P12, plain.s->P21, plain.s->P22, plain.s->Q1, plain.s->Q2 };
        for (int b = 0; b < 6; b++)
            for (int i = 0; i < last; i++)
                memcpy(to[b] + i * last, from[b] + i * (last + 1), (size_t)last * sizeof(double));
        memcpy(plain.s->gap0, p.s->gap0, (size_t)last * sizeof(double));
        memcpy(plain.s->xi0, p.s->xi0, (size_t)last * sizeof(double));
        memcpy(plain.gate, p.gate, sizeof p.gate);
        memcpy(plain.r, p.r, sizeof p.r);
        plain.s->h = p.s->h;
        plain.s->has_position = p.s->has_position;
        plain.s->gate_is_live = p.s->gate_is_live;
        (void)settle(&plain, trial);
        CHECK_NEAR(p.nu[0] + p.nu[last], plain.nu[0], 1e-11 * p.s->h);
        CHECK_NEAR(p.la[0] + p.la[last], plain.la[0], 1e-11);
        model_destroy(&m);
    }
}

// The same direction twice, with two walls one behind the other or two restitutions: the nearer one acts alone.
TEST(contradicting_rows_are_settled)
{
    unsigned long long seed = 5;
    for (int trial = 0; trial < 200; trial++) {
        problem p = { 0 };
        model *m = model_create();
        CHECK_OK(m->ctx, pcs_frictionless_create(m->ctx, 2 + trial % (MAX - 1), &p.s));
        fill_problem(&seed, &p, (kind){ trial % 2 == 0, trial % 2 == 0, false }, 1e-3);
        repeat_row(&p);
        int last = p.s->m - 1;
        p.s->gap0[0] = -1e-3;
        p.s->gap0[last] = -1.5e-3;
        p.s->xi0[0] = -1.0;
        p.s->xi0[last] = -1.25;
        p.gate[0] = p.gate[last] = 1;
        (void)settle(&p, trial);
        if (p.s->has_position) CHECK(p.nu[0] == 0.0 && p.nu[last] > 0.0);
        else CHECK(p.la[0] == 0.0 && p.la[last] > 0.0);
        model_destroy(&m);
    }
}

// Known multipliers, and rows where gap and multiplier, or velocity and impulse, vanish together: in floating point the
// signs there are those of round-off, and no order of sets may go round in circles over it.
TEST(ties_do_not_cycle)
{
    unsigned long long seed = 31;
    for (int trial = 0; trial < 3000; trial++) {
        problem p = { 0 };
        model *m = model_create();
        kind c = { trial % 2 == 0, false, trial % 3 == 0 };
        CHECK_OK(m->ctx, pcs_frictionless_create(m->ctx, 1 + trial % MAX, &p.s));
        pcs_frictionless *s = p.s;
        int n = s->m;
        fill_blocks(&seed, &p, c, 1e-3);
        double nu[MAX] = { 0 }, la[MAX] = { 0 };
        for (int j = 0; j < n; j++) {
            bool is_loaded = model_random(&seed) > 0.0;
            nu[j] = c.has_position && is_loaded ? 1e-3 * (1.0 + model_random(&seed)) : 0.0;
            la[j] = is_loaded ? 1.0 + model_random(&seed) : 0.0;
            p.gate[j] = 1;
        }
        for (int i = 0; i < n; i++) {
            s->gap0[i] = s->xi0[i] = 0.0;
            for (int j = 0; j < n; j++) {
                s->gap0[i] -= s->P11[i * n + j] * nu[j] + s->P12[i * n + j] * la[j];
                s->xi0[i] -= s->P21[i * n + j] * nu[j] + s->P22[i * n + j] * la[j];
            }
            if (!c.has_position) s->gap0[i] = 0.0;
        }
        (void)settle(&p, trial);
        for (int j = 0; j < n; j++) {
            CHECK_NEAR(p.nu[j], nu[j], 1e-15);
            CHECK_NEAR(p.la[j], la[j], 1e-12);
        }
        model_destroy(&m);
    }
}

// gap = 0 and xi = 0 everywhere, to the bit: a body that rests without load.
TEST(exact_ties_need_nothing)
{
    unsigned long long seed = 8;
    for (int size = 1; size <= MAX; size++) {
        problem p = { 0 };
        model *m = model_create();
        CHECK_OK(m->ctx, pcs_frictionless_create(m->ctx, size, &p.s));
        fill_blocks(&seed, &p, (kind){ true, true, true }, 1e-3);
        (void)settle(&p, size);
        for (int j = 0; j < size; j++) CHECK(p.nu[j] == 0.0 && p.la[j] == 0.0 && p.gate[j] == 1);
        model_destroy(&m);
    }
}
