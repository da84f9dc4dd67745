// What every step solver promises, looped over the table: the solution satisfies the equations of step/step.h, checked
// here with dense matrices, and all solvers find the same one, whatever the contacts do.

#include "support/check.h"
#include "support/model.h"

#include "step/projection.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = MODEL_MAX_SIZE, ROWS = 4, NMODEL = 5, CROWD = NMODEL, NFORM = 5 };

// h c / l is about 1 for these bars of 1 m cells: contacts and waves matter within a step.
static const char *const soft = "E=100 rho=1 area=2", *const heavy = "E=400 rho=4 area=1 mass=lumped";

static model *build(int number, bool is_damped)
{
    model *m = model_create();
    model_line(m, "bar", (double[]){ 0, 0, 0 }, (double[]){ 8, 0, 0 }, 8);
    pcs_fe_group *group = model_group(m, "rod", "bar", number == 1 ? heavy : soft);
    if (is_damped) {
        group->damping_mass = 0.8;
        m->definition.damping_stiffness = 0.02;
    }
    model_gravity(m, 3, 0, 0);
    if (number == 1) model_support(m, "bar.start", "x");
    if (number == 4) {
        model_line(m, "second", (double[]){ 8, 0, 0 }, (double[]){ 11, 0, 0 }, 3);
        model_group(m, "rod", "second", heavy);
        model_contact(m, "touch", "node_node", "a=bar.end b=second.start normal=1,0,0 restitution=0.5");
    }
    if (number == CROWD) { // four neighbours in contact, which feel one another
        CHECK_OK(m->ctx, pcs_mesh_add_range(m->mesh, PCS_NODES, 5, 4, "last"));
        model_contact(m, "wall", "node_plane", "nodes=last point=8,0,0 normal=-1,0,0 restitution=0.5");
    } else if (number != 0) {
        model_contact(m, "wall", "node_plane",
                      number == 4 ? "nodes=second.end point=11,0,0 normal=-1,0,0 restitution=0.25"
                                  : "nodes=bar.end point=8,0,0 normal=-1,0,0 restitution=0.5");
    }
    if (number == 3) {
        CHECK_OK(m->ctx, pcs_mesh_add_range(m->mesh, PCS_NODES, 3, 1, "inside"));
        model_contact(m, "back", "node_plane", "nodes=bar.start point=0,0,0 normal=1,0,0 restitution=0");
        model_contact(m, "inner", "node_plane", "nodes=inside point=3,0,0 normal=1,0,0 restitution=0");
    }
    model_build(m);
    return m;
}

static pcs_step_form form_of(int number)
{
    const double h = 0.05, rho = 0.8, af = rho / (rho + 1), am = (2 * rho - 1) / (rho + 1);
    const double ga = 0.5 + af - am, be = 0.25 * (ga + 0.5) * (ga + 0.5), theta = 0.6;
    const pcs_step_form forms[NFORM] = {
        { .h = h,
          .c = (1 - am) / ((1 - af) * ga),
          .kb = h * be / ga,
          .has_dynamics = true,
          .has_position = true,
          .gate_is_live = true },
        { .h = h, .c = 1 / theta, .kb = h * theta, .kw = h * theta, .has_dynamics = true },
        { .h = h, .c = 2, .kb = h / 2, .kw = h / 2, .has_dynamics = true },
        { .h = 1.0 },
        { .h = h, .c = 1.7, .kb = 0.6 * h, .kw = 0.5 * h, .has_dynamics = true },
    };
    return forms[number];
}

// What a contact is made to do in a step: its gap (in units of the way of a step) and its rate before it.
typedef struct situation {
    const char *name;
    double gap, rate;
    bool is_exact; // to the bit, and without gravity's and the waves' doing
} situation;

static const situation situations[] = {
    { "open", 40.0, -1.0, false },          { "impact", 0.3, -1.0, false },     { "deep impact", -0.4, -2.0, false },
    { "resting", 0.0, 0.0, false },         { "separating", -0.1, 3.0, false }, { "grazing", 0.0, 0.0, true },
    { "grazing, leaving", 0.0, 1.0, true },
};
enum { NSITUATION = sizeof situations / sizeof *situations };

typedef struct solution {
    double q[N], v[N], d[N], nu[ROWS], la[ROWS], rate_before[ROWS], target[ROWS];
    unsigned char gate[ROWS];
    pcs_step_result result;
} solution;

// qt0, vt0, targets and gates of a situation; every contact in turn does what it says, the others the opposite.
static solution pose(const model *m, const situation *s, int variant)
{
    solution x = { 0 };
    pcs_system *system = m->system;
    double gap[ROWS];
    for (int i = 0; i < system->nv; i++) {
        x.q[i] = s->is_exact ? 0.0 : 0.02 * sin(1.0 + 2.1 * i + variant);
        x.v[i] = s->is_exact ? 0.0 : 0.5 * cos(0.3 + 1.7 * i - variant);
    }
    for (int j = 0; j < system->nrow; j++) {
        int column = system->G->column[system->G->start[j]];
        double sign = system->G->value[system->G->start[j]];
        double increment = j % 2 == variant % 2 ? s->gap * 0.05 : 0.3 - s->gap * 0.05,
               rate = j % 2 == variant % 2 ? s->rate : -0.5;
        pcs_system_gaps(system, pcs_at(0.0, x.q, NULL), gap);
        x.q[column] += sign * (increment - gap[j]);
        if (s->is_exact) pcs_system_gaps(system, pcs_at(0.0, x.q, NULL), gap);
        x.v[column] += sign * (rate - pcs_system_rate(system, j, x.v));
    }
    pcs_system_gaps(system, pcs_at(0.0, x.q, NULL), gap);
    for (int j = 0; j < system->nrow; j++) {
        x.target[j] = 0.4 * (j + variant) * pcs_system_rate(system, j, x.v) * (s->is_exact ? 0.0 : 1.0);
        x.gate[j] = gap[j] <= 0.02;
    }
    return x;
}

static void solve(pcs_step_solver *solver, const pcs_step_form *form, solution *x)
{
    pcs_outcome outcome;
    for (int i = 0; i < N; i++) x->d[i] = NAN; // scratch
    for (int j = 0; j < ROWS; j++) x->nu[j] = x->la[j] = x->rate_before[j] = NAN;
    if (form->gate_is_live) memset(x->gate, 7, sizeof x->gate);
    pcs_step_problem problem = { .t = 0.3,
                                 .q = x->q,
                                 .v = x->v,
                                 .d = x->d,
                                 .target = x->target,
                                 .gate = x->gate,
                                 .nu = x->nu,
                                 .la = x->la,
                                 .rate_before = x->rate_before };
    CHECK_OK(solver->ctx, pcs_step_solver_prepare(solver, form, &outcome));
    x->result.outcome = outcome;
    if (outcome == PCS_CONVERGED) solver->ops->solve(solver, &problem, &x->result);
    if (!form->has_dynamics) memset(x->d, 0, sizeof x->d);
    if (!form->has_position) memset(x->nu, 0, sizeof x->nu);
}

static const char *where; // what is being checked, for messages

static void demand(double defect, double size, const char *what)
{
    if (!(fabs(defect) <= 1e-12 * size)) fail_msg("%s: %s: off by %.3g, size %.3g", where, what, defect, size);
}

// y = A x - G^T z, [n]
static void momentum_defect(const pcs_system *system, const double *M, const double *x, const double *z, double *y)
{
    int n = system->nv;
    for (int i = 0; i < n; i++) {
        y[i] = 0.0;
        for (int k = 0; k < n; k++) y[i] += M[i * n + k] * x[k];
    }
    for (int j = 0; j < system->nrow; j++) pcs_rows_add_transposed(system->G, j, -z[j], y);
}

static void check_motion(const model *m, const pcs_step_form *form, const solution *given, const solution *x)
{
    const pcs_system *system = m->system;
    int n = system->nv;
    static double M[N * N];
    double f[N], U[N], W[N], y[N], none[ROWS] = { 0 };
    model_dense(system->M, n, M);
    for (int i = 0; i < n; i++) {
        W[i] = x->v[i] - given->v[i] - x->d[i];
        U[i] = x->q[i] - given->q[i] - form->kb * x->d[i] - form->kw * W[i];
    }
    double mass = check_largest(n * n, M), speed = fmax(check_largest(n, x->v), check_largest(n, given->v)),
           increment = fmax(check_largest(n, x->q), speed * form->h);
    momentum_defect(system, M, W, x->la, y);
    demand(check_largest(n, y), mass * speed, "M W = G^T La");
    momentum_defect(system, M, U, x->nu, y);
    demand(check_largest(n, y), mass * increment, "M U = G^T nu");
    if (!form->has_dynamics) return;
    system->ops->force(system, pcs_at(0.3, x->q, x->v), f);
    momentum_defect(system, M, x->d, none, y);
    for (int i = 0; i < n; i++) y[i] = form->c * y[i] - form->h * f[i];
    demand(check_largest(n, y), form->h * pcs_matrix_abs_bound(system->K, x->q) + mass * speed, "c M d = h f");
}

static void check_rows(const model *m, const pcs_step_form *form, const solution *given, const solution *x,
                       const double *mass)
{
    pcs_system *system = m->system;
    int n = system->nv;
    double gap[ROWS], smooth[ROWS], qt[N], vt[N];
    for (int i = 0; i < n; i++) {
        qt[i] = given->q[i] + form->kb * x->d[i];
        vt[i] = given->v[i] + x->d[i];
    }
    pcs_system_gaps(system, pcs_at(0.0, x->q, NULL), gap);
    pcs_system_gaps(system, pcs_at(0.0, qt, NULL), smooth);
    double speed = fmax(check_largest(n, x->v), check_largest(n, given->v)),
           increment = fmax(check_largest(n, x->q), speed * form->h) + system->length;
    for (int j = 0; j < system->nrow; j++) {
        double xi = pcs_system_rate(system, j, x->v) + x->target[j];
        demand(x->rate_before[j] - pcs_system_rate(system, j, vt), speed, "rate before = G vt");
        if (form->gate_is_live)
            demand(x->gate[j] ? fmax(smooth[j], 0) : fmin(smooth[j], 0), increment, "gate where g(qt) <= 0");
        else CHECK(x->gate[j] == given->gate[j]);
        if (form->has_position) {
            demand(fmin(gap[j], 0), increment, "g >= 0");
            demand(fmin(x->nu[j], 0), mass[j] * increment, "nu >= 0");
            demand(fmin(fabs(gap[j]), fabs(x->nu[j]) / mass[j]), increment, "g or nu vanishes");
        }
        if (!x->gate[j]) {
            demand(x->la[j], 0.0, "La = 0 on open rows");
            continue;
        }
        demand(fmin(xi, 0), speed, "xi >= 0");
        demand(fmin(x->la[j], 0), mass[j] * speed, "La >= 0");
        demand(fmin(fabs(xi), fabs(x->la[j]) / mass[j]), speed, "xi or La vanishes");
    }
}

static void compare(const model *m, const pcs_step_form *form, const solution *a, const solution *b, const double *mass)
{
    int n = m->system->nv;
    double speed = fmax(check_largest(n, a->v), 1e-3), increment = fmax(check_largest(n, a->q), 1e-3);
    for (int i = 0; i < n; i++) {
        demand(a->q[i] - b->q[i], increment, "q agrees");
        demand(a->v[i] - b->v[i], speed, "v agrees");
        demand(a->d[i] - b->d[i], speed, "d agrees");
    }
    for (int j = 0; j < m->system->nrow; j++) {
        demand(a->la[j] - b->la[j], mass[j] * speed, "La agrees");
        demand(a->nu[j] - b->nu[j], mass[j] * fmax(increment, speed * form->h), "nu agrees");
        demand(a->rate_before[j] - b->rate_before[j], speed, "rate before agrees");
    }
}

// What the contacts did in all of the problems, so that none of the conditions was checked on open contacts only.
typedef struct tally {
    int nu, la, gated_and_free, open;
} tally;

static void count(const model *m, const solution *x, tally *seen)
{
    for (int j = 0; j < m->system->nrow; j++) {
        seen->nu += x->nu[j] > 0.0;
        seen->la += x->la[j] > 0.0;
        seen->gated_and_free += x->gate[j] && x->la[j] == 0.0;
        seen->open += !x->gate[j];
    }
}

static void for_every_solver(const model *m, const pcs_step_form *form, const solution *given, const char *name,
                             tally *seen)
{
    solution first = { 0 };
    for (int i = 0; pcs_step_solvers[i] != NULL; i++) {
        char text[160];
        pcs_step_solver *solver;
        solution x = *given;
        snprintf(text, sizeof text, "%s, %s", pcs_step_solvers[i]->name, name);
        where = text;
        CHECK_OK(m->ctx, pcs_step_solver_create(m->ctx, pcs_step_solvers[i]->name, "auto", m->system, &solver));
        solve(solver, form, &x);
        if (x.result.outcome != PCS_CONVERGED) fail_msg("%s: %s", text, pcs_outcome_text(x.result.outcome));
        CHECK(x.result.iterations >= 1);
        check_motion(m, form, given, &x);
        check_rows(m, form, given, &x, solver->effective_mass);
        if (i == 0) count(m, &x, seen);
        if (i == 0) first = x;
        else compare(m, form, &first, &x, solver->effective_mass);
    }
}

TEST(solvers_solve_and_agree)
{
    tally seen[NFORM] = { 0 };
    for (int number = 0; number < NMODEL; number++)
        for (int damped = 0; damped < 2; damped++) {
            model *m = build(number, damped);
            for (int f = 0; f < NFORM; f++)
                for (int s = 0; s < NSITUATION; s++)
                    for (int variant = 0; variant < 3; variant++) {
                        pcs_step_form form = form_of(f);
                        solution given = pose(m, &situations[s], variant);
                        char name[128];
                        snprintf(name, sizeof name, "model %d%s, form %d, %s, variant %d", number,
                                 damped ? " damped" : "", f, situations[s].name, variant);
                        for_every_solver(m, &form, &given, name, &seen[f]);
                    }
            model_destroy(&m);
        }
    for (int f = 0; f < NFORM; f++) {
        print_message("form %d: %d nu, %d La, %d gated without La, %d open\n", f, seen[f].nu, seen[f].la,
                      seen[f].gated_and_free, seen[f].open);
        CHECK(seen[f].la > 40 && seen[f].gated_and_free > 20 && seen[f].open > 20);
    }
    CHECK(seen[0].nu > 40);
}

// Impulses known beforehand, some of them zero on rows that the others bring exactly to rest: only round-off tells on
// which side of the law such a row stands, and no solver may go round in circles over it.
TEST(ties_are_settled)
{
    unsigned long long seed = 17;
    model *m = build(CROWD, false);
    pcs_step_form form = form_of(3);
    for (int i = 0; pcs_step_solvers[i] != NULL; i++) {
        pcs_step_solver *solver;
        CHECK_OK(m->ctx, pcs_step_solver_create(m->ctx, pcs_step_solvers[i]->name, "auto", m->system, &solver));
        for (int trial = 0; trial < 200; trial++) {
            solution x = { .gate = { 1, 1, 1, 1 } };
            double la[ROWS] = { 0 };
            for (int j = 0; j < m->system->nrow; j++) {
                if (model_random(&seed) > 0.2) la[j] = 1.0 + model_random(&seed);
            }
            pcs_projection_push(solver, -1.0, la, NULL, x.v);
            solve(solver, &form, &x);
            if (x.result.outcome != PCS_CONVERGED)
                fail_msg("%s, trial %d: %s", solver->ops->name, trial, pcs_outcome_text(x.result.outcome));
            for (int j = 0; j < m->system->nrow; j++)
                CHECK_NEAR(x.la[j], la[j], 1e-12 * solver->effective_mass[j] * 10.0);
            CHECK(check_largest(m->system->nv, x.v) <= 1e-12 * 10.0);
        }
    }
    model_destroy(&m);
}

// Equal forms are prepared once; another step size is another factorization.
TEST(factorizations_are_kept)
{
    for (int i = 0; pcs_step_solvers[i] != NULL; i++) {
        if (pcs_step_solvers[i]->takes_all) continue; // made for matrices that vary
        model *m = build(0, false);
        pcs_step_solver *solver;
        pcs_step_form form = form_of(1);
        CHECK_OK(m->ctx, pcs_step_solver_create(m->ctx, pcs_step_solvers[i]->name, "auto", m->system, &solver));
        solution x = pose(m, &situations[0], 0), y = x, z = x;
        solve(solver, &form, &x);
        int once = solver->nfactor;
        solve(solver, &form, &y);
        CHECK(solver->nfactor == once);
        CHECK(memcmp(x.q, y.q, sizeof x.q) == 0 && memcmp(x.v, y.v, sizeof x.v) == 0);
        form.h *= 0.5;
        form.kb *= 0.5;
        form.kw *= 0.5;
        solve(solver, &form, &z);
        CHECK(solver->nfactor == once + 1);
        where = pcs_step_solvers[i]->name;
        solution given = pose(m, &situations[0], 0);
        check_motion(m, &form, &given, &z);
        model_destroy(&m);
    }
}

// The same node against the same wall twice. The impulses share the load in any way, their sum and the motion are
// fixed.
TEST(same_contact_twice)
{
    for (int f = 0; f < NFORM; f++)
        for (int i = 0; pcs_step_solvers[i] != NULL; i++) {
            pcs_step_form form = form_of(f);
            solution x[2], given = { 0 };
            for (int twice = 0; twice < 2; twice++) {
                model *m = model_create();
                model_line(m, "bar", (double[]){ 0, 0, 0 }, (double[]){ 8, 0, 0 }, 8);
                model_group(m, "rod", "bar", soft);
                for (int k = 0; k < 1 + twice; k++)
                    model_contact(m, "wall", "node_plane", "nodes=bar.end point=8,0,0 normal=-1,0,0 restitution=0.5");
                model_build(m);
                pcs_step_solver *solver;
                CHECK_OK(m->ctx, pcs_step_solver_create(m->ctx, pcs_step_solvers[i]->name, "auto", m->system, &solver));
                if (!twice) given = pose(m, &situations[2], 0);
                x[twice] = given;
                x[twice].target[0] = x[twice].target[1] = -1.0;
                x[twice].gate[0] = x[twice].gate[1] = 1;
                solve(solver, &form, &x[twice]);
                model_destroy(&m);
            }
            assert_int_equal(x[0].result.outcome, PCS_CONVERGED);
            if (x[1].result.outcome != PCS_CONVERGED)
                fail_msg("%s, form %d: %s", pcs_step_solvers[i]->name, f, pcs_outcome_text(x[1].result.outcome));
            CHECK(x[0].la[0] > 0.0);
            CHECK_RELATIVE(x[1].la[0] + x[1].la[1], x[0].la[0], 1e-11);
            if (form.has_position) CHECK_RELATIVE(x[1].nu[0] + x[1].nu[1], x[0].nu[0], 1e-11);
            CHECK_ALL_NEAR(9, x[1].q, x[0].q, 1e-12);
            CHECK_ALL_NEAR(9, x[1].v, x[0].v, 1e-11);
        }
}

// A node without mass is named, whichever back end finds it; one of them takes no chains in one process.
TEST(singular_mass_is_told)
{
    for (int b = 0; pcs_linsolvers[b] != NULL; b++) {
        model *m = build(0, false);
        const pcs_pattern *pattern = m->system->M->pattern;
        const char *name = pcs_linsolvers[b]->name;
        bool is_elsewhere = strcmp(name, "petsc") == 0 || strcmp(name, "substructures") == 0;
        CHECK((pcs_linsolvers[b]->refuses(pattern, PCS_SPD) == NULL) == !is_elsewhere);
        for (int j = 0; j < pattern->n; j++)
            for (int k = pattern->start[j]; k < pattern->start[j + 1]; k++)
                if (j == 3 || pattern->row[k] == 3) m->system->M->value[k] = 0.0;
        pcs_step_solver *solver = NULL;
        CHECK_STATUS(NULL, pcs_step_solver_create(m->ctx, "condensed", name, m->system, &solver),
                     is_elsewhere ? PCS_UNSUPPORTED : PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(m->ctx),
                   is_elsewhere ? "cannot take the matrix of"
                                : "the mass matrix is singular at node 3 at (3, 0, 0), direction [1, 0, 0]");
        CHECK(solver == NULL);
        model_destroy(&m);
    }
}
