// Definitions of closed-form systems with one fault each: the check that plug-ins go through must name it, and must
// pass every system of our own.

#include "check.h"
#include "closed_form/closed_form.h"

#include <math.h>
#include <string.h>

// One fault in an otherwise good definition.
static void wrong_gaps(const double *p, const double *q, double *g)
{
    pcs_closed_forms[0]->gaps(p, q, g);
    g[0] += 0.01 * q[0];
}

static void crooked_mass(const double *p, const double *q, double *A)
{
    A[0] = A[3] = 1.0;
    A[1] = 0.1;
    A[2] = 0.0;
}

static void negative_mass(const double *p, const double *q, double *A)
{
    A[0] = -1.0;
}

static void growing_mass(const double *p, const double *q, double *A)
{
    A[0] = 1.0 + q[0] * q[0];
}

static void curved_force(const double *p, double t, const double *q, const double *v, double *f)
{
    f[0] = q[0] * q[0];
}

static void no_force(const double *p, double t, const double *q, const double *v, double *f)
{
    f[0] = NAN;
}

static void no_bias(const double *p, const double *q, const double *v, double *bias)
{
    bias[0] = 0.0;
}

static void bad_rows(const double *p, percuss_row *row)
{
    row[0] = (percuss_row){ .contact = "floor", .restitution = 1.5 };
}

static void three_tangents(const double *p, percuss_row *row)
{
    row[0] = (percuss_row){ .contact = "floor", .ntangent = 3 };
}

static void nameless_rows(const double *p, percuss_row *row)
{
    row[0] = (percuss_row){ 0 };
}

static int many_rows(const double *p)
{
    return 65;
}

static double no_length(const double *p)
{
    return 0.0;
}

static const percuss_system_definition *find(const char *name)
{
    int k = 0;
    while (pcs_closed_forms[k] != NULL && strcmp(pcs_closed_forms[k]->name, name) != 0) k++;
    CHECK(pcs_closed_forms[k] != NULL);
    return pcs_closed_forms[k];
}

// Derivatives of the crank with one fault each.
static void wrong_stiffness(const double *p, double t, const double *q, const double *v, double *K, double *C)
{
    find("slider_crank_bilateral")->tangents(p, t, q, v, K, C);
    K[1] *= 1.001;
}

static void wrong_damping(const double *p, double t, const double *q, const double *v, double *K, double *C)
{
    find("slider_crank_bilateral")->tangents(p, t, q, v, K, C);
    C[2] = -C[2];
}

static void rotated_inertia(const double *p, const double *q, const double *a, double *A)
{
    double other[4];
    find("slider_crank_bilateral")->inertia_tangent(p, q, a, other);
    for (int k = 0; k < 4; k++) A[k] = other[(k % 2) * 2 + k / 2];
}

static void expect(const percuss_system_definition *d, const char *message)
{
    pcs_context *ctx = NULL;
    CHECK_OK(NULL, pcs_context_create(&ctx));
    pcs_status status = pcs_closed_form_verify(ctx, d);
    if (status == PCS_OK) {
        double p[64], q[PCS_MAX_COORDINATES], v[PCS_MAX_COORDINATES];
        for (int i = 0; d->parameters[i].name != NULL; i++) p[i] = d->parameters[i].preset;
        d->start(p, q, v);
        status = pcs_closed_form_compare(ctx, d, p, q, v);
    }
    if (message == NULL) CHECK_STATUS(ctx, status, PCS_OK);
    else {
        CHECK_STATUS(ctx, status, PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(ctx), message);
    }
    pcs_context_destroy(&ctx);
}

TEST(sound_definitions_pass)
{
    for (int k = 0; pcs_closed_forms[k] != NULL; k++) expect(pcs_closed_forms[k], NULL);
    CHECK(strcmp(pcs_closed_forms[0]->name, "ball") == 0);
}

#define FAULT(member, value, message)            \
    do {                                         \
        percuss_system_definition faulty = good; \
        faulty.member = (value);                 \
        expect(&faulty, (message));              \
    } while (0)

TEST(incomplete_definitions_are_named)
{
    static const char *const twins[] = { "x", "x" }, *const nameless[] = { "" };
    static const int nowhere[][2] = { { 0, 99 } };
    percuss_system_definition good = *find("ball");
    expect(&good, NULL);
    FAULT(abi, 99, "made for interface 99, this program has 1 to 2");
    FAULT(name, NULL, "does not give name");
    FAULT(summary, NULL, "does not give summary");
    FAULT(parameters, NULL, "does not give parameters");
    FAULT(coordinates, NULL, "does not give coordinates");
    FAULT(coordinates, nameless, "coordinate 0 has no name");
    FAULT(row_count, NULL, "system 'ball' does not give row_count");
    FAULT(rows, NULL, "does not give rows");
    FAULT(start, NULL, "does not give start");
    FAULT(length, NULL, "does not give length");
    FAULT(mass, NULL, "does not give mass");
    FAULT(force, NULL, "does not give force");
    FAULT(gaps, NULL, "does not give gaps");
    FAULT(directions, NULL, "does not give directions");
    FAULT(energy, NULL, "does not give energy");
    FAULT(points, NULL, "does not give points");
    FAULT(cells, NULL, "does not give cells");
    FAULT(cells, nowhere, "cell 0 joins point 99, there are 17");
    FAULT(npoint, -1, "has -1 points");
    FAULT(ncoordinate, 0, "has 0 coordinates, allowed are 1 to 16");
    FAULT(ncoordinate, 17, "has 17 coordinates, allowed are 1 to 16");
    FAULT(contact_points, NULL, NULL); // pictures may do without
    FAULT(load_work, NULL, NULL);
    good = *find("pendulum");
    FAULT(rate_bias, NULL, "does not give rate_bias");
    good = *find("incline");
    FAULT(coordinates, twins, "two coordinates are called 'x'");
}

TEST(contradicting_definitions_are_named)
{
    percuss_system_definition good = *find("ball");
    FAULT(gaps, wrong_gaps, "G of row 0, coordinate 'height', is 1, but the gap changes by 1.01");
    FAULT(mass, negative_mass, "M is not positive definite");
    FAULT(mass, growing_mass, "M is declared constant but varies");
    FAULT(force, curved_force, "declared linear, but its force on 'height' is not");
    FAULT(force, no_force, "start or force of 'height' is not finite");
    FAULT(rows, bad_rows, "restitution of 'floor' must be in [0, 1], is 1.5");
    FAULT(rows, three_tangents, "'floor' has 3 tangents, allowed are 0, 1, 2");
    FAULT(rows, nameless_rows, "row 0 has no name of a contact");
    FAULT(row_count, many_rows, "has 65 rows, allowed are 0 to 64");
    FAULT(length, no_length, "length must be > 0, is 0");
    good = *find("incline");
    FAULT(mass, crooked_mass, "M is not symmetric, M('n', 's') is 0 and 0.1");
    good = *find("slider_crank_bilateral");
    FAULT(rate_bias, no_bias, "rate_bias of row 0 is 0, but (dG/dt) v is");
    FAULT(tangents, wrong_stiffness, "K('theta1', 'theta2') is -");
    FAULT(tangents, wrong_damping, "C('theta2', 'theta1') is");
    FAULT(inertia_tangent, rotated_inertia, "A('theta2', 'theta1') is");
    FAULT(tangents, NULL, NULL);
    FAULT(inertia_tangent, NULL, NULL);
    // Interface 1 ends before them: they are not read.
    good.tangents = wrong_stiffness;
    FAULT(abi, 1, NULL);
}
