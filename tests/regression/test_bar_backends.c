// Every linear back end and every step solver on every bar case and with every scheme: the same motion to 1e-10
// of each field's largest value. The reference is the condensed solver on dense factors.

#include "support/check.h"
#include "support/run_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Coarse meshes with approach, contact and release all in, and one that is long enough for every way a chain is swept.
typedef struct backends_case {
    const char *path;
    const char *set[6]; // ends with NULL
} backends_case;

static const backends_case CASES[] = {
    { "cases/bar_impact", { "mesh.bar.elements=40", "time.step=4.3e-3", NULL } },
    { "cases/bar_impact",
      { "mesh.bar.elements=400", "mesh.bar.from=[0.3, 0, 0]", "mesh.bar.to=[10.3, 0, 0]", "time.step=4.5e-4",
        "time.end=0.06", NULL } },
    { "cases/bar_steel", { "mesh.bar.elements=40", "time.step=2.0e-6", NULL } },
    { "cases/bar_bouncing", { "mesh.bar.elements=40", "time.step=4.1e-3", "time.end=2.5", NULL } },
    { "cases/bar_clamped", { "mesh.bar.elements=40", "time.step=1.3e-2", "time.end=3.0", NULL } },
    { "cases/bars_two", { "mesh.left.elements=40", "mesh.right.elements=40", "time.step=0.13", NULL } },
    { "cases/bar_fast", { "mesh.bar.elements=40", "time.step=5.3e-7", NULL } },
};
// The contact of bars_two rests at a gap of exactly 0: without a tolerance its sign would be round-off.
static const char *const SCHEMES[] = { "scheme={type: alpha_ggl, rho_inf: 0.8}",
                                       "scheme={type: moreau_jean, rho_inf: 0.8}", "scheme={type: half_explicit}" };
enum { NCASE = sizeof CASES / sizeof CASES[0], NSCHEME = sizeof SCHEMES / sizeof SCHEMES[0], MAX_SETS = 12 };

typedef struct backends_field {
    double largest, difference;
} backends_field;

enum { FIELD_Q, FIELD_V, FIELD_IMPULSE, FIELD_ENERGY, NFIELD, MAX_RUNS = 32, TEXT = 64 };

// One way to solve: its run and what it differs by.
typedef struct backends_run {
    char solver[TEXT];
    case_run run;
    backends_field fields[NFIELD];
} backends_run;

static void backends_note(backends_field *field, double reference, double other)
{
    field->largest = fmax(field->largest, fabs(reference));
    field->difference = fmax(field->difference, fabs(reference - other));
}

// Opens the case with a scheme and a solver on top of its own assignments.
static case_run backends_open(const backends_case *c, const char *scheme, const char *solver)
{
    const char *set[MAX_SETS];
    int count = 0;
    for (; c->set[count] != NULL; count++) set[count] = c->set[count];
    set[count++] = scheme;
    set[count++] = solver;
    set[count] = NULL;
    return case_open(c->path, set);
}

// The Newton solver hands its back end a general matrix, which those for positive definite ones refuse; PETSc is for
// ranks.
static bool backends_fit(const pcs_step_solver_ops *solver, const pcs_linsolve_ops *linear, const pcs_pattern *pattern)
{
    return linear->refuses(pattern, strcmp(solver->name, "newton") == 0 ? PCS_GENERAL : PCS_SPD) == NULL;
}

static int backends_open_all(const backends_case *c, const char *scheme, const pcs_pattern *pattern, backends_run *runs)
{
    int count = 0;
    for (int k = 0; pcs_step_solvers[k] != NULL; k++)
        for (int b = 0; pcs_linsolvers[b] != NULL; b++) {
            if (!backends_fit(pcs_step_solvers[k], pcs_linsolvers[b], pattern)) continue;
            backends_run *r = &runs[count++];
            CHECK(count <= MAX_RUNS);
            *r = (backends_run){ .run = { 0 } };
            snprintf(r->solver, TEXT, "solver={type: %s, linear: %s}", pcs_step_solvers[k]->name,
                     pcs_linsolvers[b]->name);
            r->run = backends_open(c, scheme, r->solver);
        }
    return count;
}

static void backends_step(const case_run *reference, backends_run *r)
{
    const pcs_state *x = &reference->sim->state, *y = &r->run.sim->state;
    for (int i = 0; i < reference->sim->system->nv; i++) {
        backends_note(&r->fields[FIELD_Q], x->q[i], y->q[i]);
        backends_note(&r->fields[FIELD_V], x->v[i], y->v[i]);
    }
    backends_note(&r->fields[FIELD_IMPULSE], case_last(reference)->step_impulse, case_last(&r->run)->step_impulse);
    backends_note(&r->fields[FIELD_ENERGY], case_last(reference)->energy, case_last(&r->run)->energy);
}

static void backends_compare(const backends_case *c, const char *scheme)
{
    backends_run runs[MAX_RUNS];
    case_run reference = backends_open(c, scheme, "solver={type: condensed, linear: dense}");
    int count = backends_open_all(c, scheme, reference.sim->system->M->pattern, runs);
    CHECK(count >= 11); // condensed and schur with four, newton with three
    while (reference.count <= reference.sim->nstep) {
        case_step(&reference);
        for (int i = 0; i < count; i++) {
            case_step(&runs[i].run);
            backends_step(&reference, &runs[i]);
        }
    }
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < NFIELD; k++) {
            const backends_field *field = &runs[i].fields[k];
            if (!(field->difference <= 1e-10 * field->largest))
                print_message("%s %s %s\n", c->path, scheme, runs[i].solver);
            CHECK(field->largest > 0.0); // the contact was felt
            CHECK_NEAR(field->difference / field->largest, 0.0, 1e-10);
        }
        case_close(&runs[i].run);
    }
    case_close(&reference);
}

TEST(backends_agree_on_every_case)
{
    for (int c = 0; c < NCASE; c++)
        for (int s = 0; s < NSCHEME; s++) backends_compare(&CASES[c], SCHEMES[s]);
}
