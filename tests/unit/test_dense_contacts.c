// The dense contact problem without friction: what it finds against the laws themselves, on random problems, with rows
// that say the same twice or contradict each other, and on ties that only round-off decides.

#include "support/check.h"
#include "support/model.h"

#include "step/dense_contacts.h"

#include <math.h>
#include <string.h>

enum { MAX = 6 };

typedef struct kind {
    bool has_position, gate_is_live, is_damped;
} kind;

typedef struct problem {
    pcs_dense_contacts *c;
    int m;
    pcs_row rows[MAX];
    pcs_system system;
} problem;

static void make(problem *p, model *owner, int m)
{
    *p = (problem){ .m = m };
    p->system = (pcs_system){ .nrow = m, .rows = p->rows };
    CHECK_OK(owner->ctx, pcs_dense_contacts_create(owner->ctx, &p->system, true, &p->c));
}

// Computes L diag(w) L^T, [m * m].
static void congruent(int m, const double *L, const double *w, double scale, double *out)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            out[i * m + j] = 0.0;
            for (int k = 0; k < m; k++) out[i * m + j] += scale * L[i * m + k] * w[k] * L[j * m + k];
        }
}

// Fills the matrices as condensation makes them: G X = L L^T; stiffness and damping take a part of it away.
static void fill_blocks(unsigned long long *seed, problem *p, kind c, double h)
{
    pcs_dense_contacts *s = p->c;
    int m = p->m, n = 2 * m;
    double L[MAX * MAX], one[MAX], stiff[MAX], damped[MAX], kb = 0.6 * h;
    for (int i = 0; i < m * m; i++) L[i] = 0.3 * model_random(seed) + (i % (m + 1) == 0 ? 1.0 : 0.0);
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
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            int k = i * m + j;
            s->P_gate[i * n + j] = -kb * GYK[k];
            s->P_gate[i * n + m + j] = s->P[i * n + m + j] = -kb * GYW[k];
            s->P[i * n + j] = GX[k] - kb * GYK[k];
            s->P[(m + i) * n + j] = -GYK[k];
            s->P[(m + i) * n + m + j] = GX[k] - GYW[k];
        }
    for (int j = 0; j < m; j++) s->p.r[j] = s->p.r[m + j] = 1.0 / GX[j * m + j];
    s->p.h = h;
    s->p.has_position = c.has_position;
    s->p.gate_is_live = c.gate_is_live;
}

// Sets the gap and the velocity of row j without multipliers.
static void set_row(problem *p, int j, double gap, double xi, bool gate)
{
    pcs_contact_problem *s = &p->c->p;
    s->b[j] = s->b_gate[j] = gap;
    s->b[p->m + j] = xi;
    s->gate[j] = gate;
}

static void fill_problem(unsigned long long *seed, problem *p, kind c, double h)
{
    fill_blocks(seed, p, c, h);
    for (int j = 0; j < p->m; j++) {
        double gap = h * model_random(seed), xi = model_random(seed);
        set_row(p, j, gap, xi, model_random(seed) > -0.3);
    }
}

static void tested(double value, double size, const char *what, int trial)
{
    if (!(fabs(value) <= 1e-12 * size)) fail_msg("trial %d: %s is off by %.3g", trial, what, value);
}

// Checks the laws of contact_problem.h on what was found, evaluated here from the matrices.
static void check_laws(const problem *p, int trial)
{
    const pcs_contact_problem *s = &p->c->p;
    const double *nu = s->z, *la = s->z + p->m;
    int m = p->m, n = 2 * m;
    double size = 0.0;
    for (int j = 0; j < m; j++) size = fmax(size, fmax(fabs(s->b[m + j]), fabs(s->b[j]) / s->h));
    for (int i = 0; i < m; i++) {
        double gap = s->b[i], at_gate = s->b_gate[i], xi = s->b[m + i];
        for (int k = 0; k < n; k++) {
            gap += p->c->P[i * n + k] * s->z[k];
            at_gate += p->c->P_gate[i * n + k] * s->z[k];
            xi += p->c->P[(m + i) * n + k] * s->z[k];
        }
        tested(xi - s->value[m + i], size, "the velocity it reports", trial);
        if (s->has_position) {
            tested((gap - s->value[i]) / s->h, size, "the gap it reports", trial);
            tested(fmin(gap, 0.0) / s->h, size, "gap >= 0", trial);
            tested(fmin(nu[i], 0.0) / (s->h * s->r[i]), size, "nu >= 0", trial);
            tested(fmin(fabs(gap), fabs(nu[i]) / s->r[i]) / s->h, size, "gap or nu", trial);
        } else {
            CHECK(nu[i] == 0.0);
        }
        // Closed where its gap is, or where the law of the gap holds the row.
        double held = s->has_position ? nu[i] / s->r[i] : 0.0, open = held > 0.0 ? 0.0 : fmax(at_gate, 0.0);
        if (s->gate_is_live) tested((s->gate[i] ? open : fmin(at_gate, 0.0) - held) / s->h, size, "the gate", trial);
        if (s->gate[i]) {
            tested(fmin(xi, 0.0), size, "xi >= 0", trial);
            tested(fmin(la[i], 0.0) / s->r[i], size, "La >= 0", trial);
            tested(fmin(fabs(xi), fabs(la[i]) / s->r[i]), size, "xi or La", trial);
        } else if (la[i] != 0.0) {
            fail_msg("trial %d: an impulse on an open row", trial);
        }
    }
}

static int converge(problem *p, int trial)
{
    int iterations = 0;
    if (!pcs_dense_contacts_solve(p->c, &iterations)) fail_msg("trial %d (m = %d): not solved", trial, p->m);
    check_laws(p, trial);
    return iterations;
}

TEST(laws_hold)
{
    const kind kinds[] = {
        { true, true, false },  { true, false, false }, { false, false, false },
        { false, false, true }, { true, false, true },  { true, true, true }
    }; // the gate itself depends on the impulses
    unsigned long long seed = 2024;
    int worst = 0, nactive = 0;
    for (int trial = 0; trial < 1500; trial++) {
        problem p;
        model *m = model_create();
        make(&p, m, 1 + trial % MAX);
        fill_problem(&seed, &p, kinds[trial / MAX % 6], 1e-3);
        int iterations = converge(&p, trial);
        worst = iterations > worst ? iterations : worst;
        for (int k = 0; k < 2 * p.m; k++) nactive += p.c->p.z[k] > 0.0;
        model_destroy(&m);
    }
    CHECK(nactive > 1500); // the problems do have contacts
    if (worst > 20) fail_msg("%d solves", worst);
}

// Makes the last row repeat the first one, or only its directions, with another gap and velocity.
static void repeat_row(problem *p, double gap, double xi)
{
    pcs_dense_contacts *s = p->c;
    int m = p->m, n = 2 * m, last = m - 1;
    for (int half = 0; half < 2; half++) {
        memcpy(s->P + (half * m + last) * n, s->P + half * m * n, (size_t)n * sizeof *s->P);
        for (int i = 0; i < n; i++) s->P[i * n + half * m + last] = s->P[i * n + half * m];
    }
    memcpy(s->P_gate + last * n, s->P_gate, (size_t)n * sizeof *s->P_gate);
    for (int i = 0; i < m; i++)
        for (int half = 0; half < 2; half++) s->P_gate[i * n + half * m + last] = s->P_gate[i * n + half * m];
    s->p.r[last] = s->p.r[m + last] = s->p.r[0];
    set_row(p, last, gap, xi, s->p.gate[0]);
}

TEST(repeated_rows_share_the_multiplier)
{
    const kind kinds[] = { { true, true, false }, { false, false, true } };
    unsigned long long seed = 99;
    for (int trial = 0; trial < 300; trial++) {
        problem p, plain;
        model *owner = model_create();
        int m = 2 + trial % (MAX - 1), last = m - 1;
        make(&p, owner, m);
        make(&plain, owner, last);
        fill_problem(&seed, &p, kinds[trial % 2], 1e-3);
        if (trial % 3 == 0) set_row(&p, 0, -1e-3, -1.0, p.c->p.gate[0]); // surely closed and approaching
        pcs_contact_problem *s = &p.c->p, *t = &plain.c->p;
        repeat_row(&p, s->b[0], s->b[m]);
        (void)converge(&p, trial);
        // Only the sum is determined; it is that of the problem without the repetition.
        for (int i = 0; i < 2 * last; i++) {
            int from = i / last * m + i % last;
            for (int j = 0; j < 2 * last; j++) {
                int k = j / last * m + j % last;
                plain.c->P[i * 2 * last + j] = p.c->P[from * 2 * m + k];
                if (i < last) plain.c->P_gate[i * 2 * last + j] = p.c->P_gate[from * 2 * m + k];
            }
            t->r[i] = s->r[from];
        }
        for (int j = 0; j < last; j++) set_row(&plain, j, s->b[j], s->b[m + j], s->gate[j]);
        t->h = s->h;
        t->has_position = s->has_position;
        t->gate_is_live = s->gate_is_live;
        (void)converge(&plain, trial);
        CHECK_NEAR(s->z[0] + s->z[last], t->z[0], 1e-11 * s->h);
        CHECK_NEAR(s->z[m] + s->z[m + last], t->z[last], 1e-11);
        model_destroy(&owner);
    }
}

// The same direction twice, with two walls one behind the other or two restitutions: the nearer one acts alone.
TEST(contradicting_rows_are_settled)
{
    unsigned long long seed = 5;
    for (int trial = 0; trial < 200; trial++) {
        problem p;
        model *owner = model_create();
        int m = 2 + trial % (MAX - 1);
        make(&p, owner, m);
        fill_problem(&seed, &p, (kind){ trial % 2 == 0, trial % 2 == 0, false }, 1e-3);
        set_row(&p, 0, -1e-3, -1.0, true);
        repeat_row(&p, -1.5e-3, -1.25);
        (void)converge(&p, trial);
        const double *z = p.c->p.z + (p.c->p.has_position ? 0 : m);
        CHECK(z[0] == 0.0 && z[m - 1] > 0.0);
        model_destroy(&owner);
    }
}

// Known multipliers, and rows where gap and multiplier, or velocity and impulse, vanish together: in floating point the
// signs there are those of round-off, and no order of sets may go round in circles over it.
TEST(ties_do_not_cycle)
{
    unsigned long long seed = 31;
    for (int trial = 0; trial < 3000; trial++) {
        problem p;
        model *owner = model_create();
        kind c = { trial % 2 == 0, false, trial % 3 == 0 };
        int m = 1 + trial % MAX, n = 2 * m;
        make(&p, owner, m);
        fill_blocks(&seed, &p, c, 1e-3);
        double z[2 * MAX] = { 0 };
        for (int j = 0; j < m; j++) {
            bool is_loaded = model_random(&seed) > 0.0;
            z[j] = c.has_position && is_loaded ? 1e-3 * (1.0 + model_random(&seed)) : 0.0;
            z[m + j] = is_loaded ? 1.0 + model_random(&seed) : 0.0;
        }
        for (int i = 0; i < m; i++) {
            double gap = 0.0, xi = 0.0;
            for (int k = 0; k < n; k++) {
                gap -= p.c->P[i * n + k] * z[k];
                xi -= p.c->P[(m + i) * n + k] * z[k];
            }
            set_row(&p, i, c.has_position ? gap : 0.0, xi, true);
        }
        (void)converge(&p, trial);
        for (int k = 0; k < n; k++) CHECK_NEAR(p.c->p.z[k], z[k], k < m ? 1e-15 : 1e-12);
        model_destroy(&owner);
    }
}

// gap = 0 and xi = 0 everywhere, to the bit: a body that rests without load.
TEST(exact_ties_need_nothing)
{
    unsigned long long seed = 8;
    for (int m = 1; m <= MAX; m++) {
        problem p;
        model *owner = model_create();
        make(&p, owner, m);
        fill_blocks(&seed, &p, (kind){ true, true, true }, 1e-3);
        (void)converge(&p, m);
        for (int j = 0; j < m; j++) CHECK(p.c->p.z[j] == 0.0 && p.c->p.z[m + j] == 0.0 && p.c->p.gate[j] == 1);
        model_destroy(&owner);
    }
}
