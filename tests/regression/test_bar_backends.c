// Every linear back end and every step solver on every bar case and with every scheme: the same motion to 1e-10
// of each field's largest value. The reference is the condensed solver on dense factors.

#include "support/check.h"
#include "support/run_case.h"

#include <math.h>
#include <stdio.h>

// Meshes are coarse and runs short of nothing: approach, contact and release are all in.
typedef struct backends_case {
    const char *path;
    const char *set[6]; // ends with NULL
} backends_case;

static const backends_case CASES[] = {
    { "cases/bar_impact", { "mesh.bar.elements=40", "time.step=4.3e-3", NULL } },
    { "cases/bar_steel", { "mesh.bar.elements=40", "time.step=2.0e-6", NULL } },
    { "cases/bar_bouncing", { "mesh.bar.elements=40", "time.step=4.1e-3", "time.end=2.5", NULL } },
    { "cases/bar_clamped", { "mesh.bar.elements=40", "time.step=1.3e-2", "time.end=3.0", NULL } },
    { "cases/bars_two", { "mesh.left.elements=40", "mesh.right.elements=40", "time.step=0.13", NULL } },
    { "cases/bar_fast", { "mesh.bar.elements=40", "time.step=5.3e-7", NULL } },
};
static const char *const SCHEMES[] = { "scheme={type: alpha_ggl, rho_inf: 0.8}",
                                       "scheme={type: moreau_jean, rho_inf: 0.8}", "scheme={type: half_explicit}" };
enum { NCASE = sizeof CASES / sizeof CASES[0], NSCHEME = sizeof SCHEMES / sizeof SCHEMES[0], MAX_SETS = 12 };

typedef struct backends_field {
    double largest, difference;
} backends_field;

static void backends_note(backends_field *field, double reference, double other)
{
    field->largest = fmax(field->largest, fabs(reference));
    field->difference = fmax(field->difference, fabs(reference - other));
}

// The assignments of a case, then scheme and solver; ends with NULL.
static void backends_sets(const backends_case *c, const char *scheme, const char *solver, const char *set[MAX_SETS])
{
    int count = 0;
    while (c->set[count] != NULL) {
        set[count] = c->set[count];
        count++;
    }
    set[count++] = scheme;
    set[count++] = solver;
    set[count] = NULL;
}

// Steps both runs to the end of the reference and compares all they show.
static void backends_compare(const backends_case *c, const char *scheme, const char *solver)
{
    const char *set[MAX_SETS], *reference_set[MAX_SETS];
    backends_field q = { 0 }, v = { 0 }, impulse = { 0 }, energy = { 0 };
    backends_sets(c, scheme, "solver={type: condensed, linear: dense}", reference_set);
    backends_sets(c, scheme, solver, set);
    case_run reference = case_open(c->path, reference_set), other = case_open(c->path, set);
    while (reference.count <= reference.sim->nstep) {
        case_step(&reference);
        case_step(&other);
        for (int i = 0; i < reference.sim->system->nv; i++) {
            backends_note(&q, reference.sim->state.q[i], other.sim->state.q[i]);
            backends_note(&v, reference.sim->state.v[i], other.sim->state.v[i]);
        }
        backends_note(&impulse, case_last(&reference)->step_impulse, case_last(&other)->step_impulse);
        backends_note(&energy, case_last(&reference)->energy, case_last(&other)->energy);
    }
    const backends_field *fields[] = { &q, &v, &impulse, &energy };
    for (int i = 0; i < 4; i++) {
        if (!(fields[i]->difference <= 1e-10 * fields[i]->largest)) print_message("%s %s %s\n", c->path, scheme, solver);
        CHECK(fields[i]->largest > 0.0); // the contact was felt
        CHECK_NEAR(fields[i]->difference / fields[i]->largest, 0.0, 1e-10);
    }
    case_close(&reference);
    case_close(&other);
}

static void backends_agree_on_every_case(void **state)
{
    (void)state;
    char solver[96];
    int compared = 0;
    for (int c = 0; c < NCASE; c++)
        for (int s = 0; s < NSCHEME; s++)
            for (int k = 0; pcs_step_solvers[k] != NULL; k++)
                for (int b = 0; pcs_linsolvers[b] != NULL; b++) {
                    snprintf(solver, sizeof solver, "solver={type: %s, linear: %s}", pcs_step_solvers[k]->name,
                             pcs_linsolvers[b]->name);
                    backends_compare(&CASES[c], SCHEMES[s], solver);
                    compared++;
                }
    CHECK(compared >= NCASE * NSCHEME * 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(backends_agree_on_every_case) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
