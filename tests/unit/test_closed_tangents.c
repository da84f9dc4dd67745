// Tangents of closed-form systems at random states: -df/dq, -df/dv and d(M a)/dq by differences of order four, whether
// the definition gives them or not.

#include "check.h"
#include "closed_form/closed_form.h"
#include "model.h"

#include <math.h>
#include <string.h>

enum { N = PCS_MAX_COORDINATES, PARAMETERS = 64, STATES = 20 };

typedef struct trial {
    const percuss_system_definition *def;
    double p[PARAMETERS];
    int n;
    double t, q[N], v[N];
} trial;

// Around the start.
static void trial_make(trial *x, const percuss_system_definition *def, unsigned long long *seed)
{
    *x = (trial){ .def = def, .n = def->ncoordinate, .t = model_random(seed) };
    for (int i = 0; def->parameters[i].name != NULL; i++) x->p[i] = def->parameters[i].preset;
    def->start(x->p, x->q, x->v);
    for (int i = 0; i < x->n; i++) {
        x->q[i] += model_random(seed);
        x->v[i] += 2.0 * model_random(seed);
    }
}

static const double step = 1e-3;
static const double shifts[4] = { 1e-3, -1e-3, 2e-3, -2e-3 };

static void moved(const double *x, int n, int i, double by, double *out)
{
    memcpy(out, x, sizeof(double) * (size_t)n);
    out[i] += by;
}

// Is entry (i, j) of A the slope of `y` at the four shifts, each times `sign`?
static void check_column(const trial *x, const double *A, int j, double y[4][N], double sign)
{
    for (int i = 0; i < x->n; i++) {
        double size = fabs(y[0][i]) + 1.0;
        double slope = sign * (8.0 * (y[0][i] - y[1][i]) - (y[2][i] - y[3][i])) / (12.0 * step);
        for (int k = 0; k < x->n; k++) size = fmax(size, fabs(A[k * x->n + i]));
        CHECK_NEAR(A[j * x->n + i], slope, 1e-9 * size);
    }
}

static void multiply(const trial *x, const double *A, const double *y, double *out)
{
    for (int i = 0; i < x->n; i++) {
        out[i] = 0.0;
        for (int j = 0; j < x->n; j++) out[i] += A[i * x->n + j] * y[j];
    }
}

static void check_tangents(const trial *x, pcs_system *system)
{
    const double none[N * N] = { 0 };
    double K[N * N], a[N], y[4][N], at[N], A[N * N];
    for (int i = 0; i < x->n; i++) a[i] = x->v[x->n - 1 - i] - 0.5;
    system->ops->update(system, pcs_at(x->t, x->q, x->v), PCS_TANGENTS, NULL);
    system->ops->update(system, pcs_at(x->t, x->q, NULL), PCS_MASS, NULL);
    memcpy(K, system->K->value, sizeof(double) * (size_t)(x->n * x->n));
    for (int j = 0; j < x->n; j++) {
        for (int k = 0; k < 4; k++) {
            moved(x->q, x->n, j, shifts[k], at);
            x->def->force(x->p, x->t, at, x->v, y[k]);
        }
        check_column(x, K, j, y, -1.0);
        for (int k = 0; k < 4; k++) {
            moved(x->v, x->n, j, shifts[k], at);
            x->def->force(x->p, x->t, x->q, at, y[k]);
        }
        check_column(x, system->C == NULL ? none : system->C->value, j, y, -1.0);
    }
    system->ops->update(system, pcs_at(x->t, x->q, NULL), PCS_INERTIA, a);
    for (int k = 0; k < x->n * x->n; k++) K[k] = system->K->value[k] - K[k];
    for (int j = 0; j < x->n; j++) {
        for (int k = 0; k < 4; k++) {
            moved(x->q, x->n, j, shifts[k], at);
            x->def->mass(x->p, at, A);
            multiply(x, A, a, y[k]);
        }
        check_column(x, K, j, y, 1.0);
    }
}

// As it is, and without derivatives, as interface 1 has it: by differences that are good to 1e-7 at best.
static void check_system(const trial *x)
{
    percuss_system_definition older = *x->def;
    pcs_context *ctx = NULL;
    pcs_system *system = NULL, *plain = NULL;
    older.abi = 1;
    older.tangents = NULL;
    older.inertia_tangent = NULL;
    CHECK_OK(NULL, pcs_context_create(&ctx));
    CHECK_OK(ctx, pcs_closed_form_create(ctx, x->def, x->p, &system));
    CHECK_OK(ctx, pcs_closed_form_create(ctx, &older, x->p, &plain));
    if (x->def->is_linear || x->def->tangents != NULL) check_tangents(x, system);
    for (int k = 0; k < 2; k++) {
        pcs_system *one = k == 0 ? system : plain;
        one->ops->update(one, pcs_at(x->t, x->q, NULL), PCS_MASS, NULL);
        one->ops->update(one, pcs_at(x->t, x->q, x->v), PCS_TANGENTS, NULL);
        one->ops->update(one, pcs_at(x->t, x->q, NULL), PCS_INERTIA, x->v);
    }
    double size = 1.0;
    for (int e = 0; e < x->n * x->n; e++) size = fmax(size, fabs(system->K->value[e]));
    for (int e = 0; e < x->n * x->n; e++) {
        CHECK_NEAR(plain->K->value[e], system->K->value[e], 1e-5 * size);
        CHECK((plain->C == NULL) == (system->C == NULL));
        if (system->C != NULL) CHECK_NEAR(plain->C->value[e], system->C->value[e], 1e-5 * size);
    }
    pcs_context_destroy(&ctx);
}

TEST(tangents_are_derivatives)
{
    unsigned long long seed = 11;
    for (int k = 0; pcs_closed_forms[k] != NULL; k++)
        for (int i = 0; i < STATES; i++) {
            trial x;
            trial_make(&x, pcs_closed_forms[k], &seed);
            check_system(&x);
        }
}
