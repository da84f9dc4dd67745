// Reading changes nothing, a restored state leads the same way, and what is read is what the definitions say: on all
// shipped cases.

#define _POSIX_C_SOURCE 200809L // scandir

#include "check.h"
#include "percuss.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CASES = 64, STEPS = 40 };

static char cases[MOST_CASES][128];
static int ncase;

static int is_case(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void list_cases(void)
{
    struct dirent **found;
    int count = scandir("cases", &found, is_case, alphasort);
    CHECK(count > 0 && count <= MOST_CASES);
    for (int i = 0; i < count; i++) {
        snprintf(cases[ncase++], sizeof cases[0], "cases/%.100s", found[i]->d_name);
        free(found[i]);
    }
    free(found);
}

// y = A x, or A^T x.
static void multiply(const percuss_matrix *A, const double *x, double *y, int is_transposed)
{
    int n = is_transposed ? A->ncol : A->nrow;
    for (int i = 0; i < n; i++) y[i] = 0.0;
    for (int j = 0; j < A->ncol; j++)
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            CHECK(A->row[k] >= 0 && A->row[k] < A->nrow && (k == A->start[j] || A->row[k] > A->row[k - 1]));
            if (is_transposed) y[j] += A->value[k] * x[A->row[k]];
            else y[A->row[k]] += A->value[k] * x[j];
        }
}

static bool says(const char *folder, const char *words)
{
    char path[160], line[256];
    bool is_found = false;
    snprintf(path, sizeof path, "%s/case.yaml", folder);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) is_found = is_found || strstr(line, words) != NULL;
    fclose(file);
    return is_found;
}

// M a = f + r, and G has a row for every point but those of contacts with force laws.
static void check_vectors(percuss *p, bool has_laws)
{
    int n = percuss_dofs(p), m = percuss_contacts(p);
    percuss_matrix M, G;
    const double *a = percuss_acceleration(p), *f = percuss_force(p), *r = percuss_contact_force(p);
    CHECK(f != NULL && r != NULL);
    CHECK(percuss_matrix_of(p, PERCUSS_MASS, &M) == 0 && percuss_matrix_of(p, PERCUSS_DIRECTIONS, &G) == 0);
    CHECK(M.nrow == n && M.ncol == n && (has_laws ? G.nrow < m : G.nrow == m) && G.ncol == n);
    double *y = malloc(((size_t)n + (size_t)m + 1) * sizeof *y), *rate = y + n, size = 0.0;
    if (a != NULL) multiply(&M, a, y, 0);
    for (int i = 0; i < n; i++) size = fmax(size, fabs(f[i]) + fabs(r[i]));
    for (int i = 0; i < n && a != NULL; i++)
        if (!(fabs(y[i] - f[i] - r[i]) <= 1e-9 * size)) fail_msg("equation %d: %g, %g + %g", i, y[i], f[i], r[i]);
    multiply(&G, percuss_velocity(p), rate, 0);
    free(y);
}

static void read_all(percuss *p, bool has_laws)
{
    percuss_matrix A;
    const double *position, *normal;
    size_t stride;
    double sum = 0.0;
    for (int kind = PERCUSS_MASS; kind <= PERCUSS_DIRECTIONS; kind++) {
        CHECK(percuss_matrix_of(p, (percuss_matrix_kind)kind, &A) == 0);
        for (int k = 0; k < A.nnz; k++) sum += A.value[k];
    }
    check_vectors(p, has_laws);
    (void)percuss_internal_force(p);
    (void)percuss_draw(p);
    CHECK(percuss_contact_points(p, &position, &normal) == 0);
    for (int q = PERCUSS_GAP; q <= PERCUSS_SLIP_2; q++) {
        const double *rows = percuss_rows(p, (percuss_row_quantity)q, &stride);
        CHECK((rows == NULL) == (percuss_contacts(p) == 0));
    }
    for (int i = 0; i < percuss_probes(p); i++) sum += percuss_probe_at(p, i);
    for (int i = 0; i < percuss_contacts(p); i++) {
        percuss_contact c = percuss_contact_at(p, i);
        const double *gap = percuss_rows(p, PERCUSS_GAP, &stride);
        CHECK(memcmp(&c.gap, (const char *)gap + (size_t)i * stride, sizeof c.gap) == 0);
    }
    for (int i = 0; i < percuss_checks(p); i++)
        CHECK(percuss_check_at(p, i).worst_ratio <= 1.0 || percuss_check_at(p, i).is_reported_only);
    for (int i = 0; i < percuss_reactions(p); i++) CHECK(percuss_reaction_at(p, i).name != NULL);
    CHECK(isfinite(sum));
    percuss_state *kept = percuss_keep(p);
    percuss_forget(&kept);
}

static bool is_same(const percuss *a, const percuss *b)
{
    size_t bytes = (size_t)percuss_dofs(a) * sizeof(double);
    percuss_energy x = percuss_energies(a), y = percuss_energies(b);
    return percuss_time(a) == percuss_time(b) && memcmp(&x, &y, sizeof x) == 0 &&
           memcmp(percuss_displacement(a), percuss_displacement(b), bytes) == 0 &&
           memcmp(percuss_velocity(a), percuss_velocity(b), bytes) == 0;
}

TEST(reading_disturbs_nothing)
{
    for (int i = 0; i < ncase; i++) {
        percuss *read = NULL, *alone = NULL;
        CHECK(percuss_load(cases[i], &read) == 0 && percuss_load(cases[i], &alone) == 0);
        (void)percuss_applied_force(read); // zero forces are none
        // The scheme `wave` has a singular mass, so that there are no accelerations.
        bool has_laws = says(cases[i], "law:"), is_of_waves = says(cases[i], "type: wave");
        if ((percuss_acceleration(read) == NULL) != is_of_waves) fail_msg("%s: accelerations", cases[i]);
        int count = percuss_dofs(read) > 2000 ? 3 : STEPS;
        for (int s = 0; s < count && !percuss_is_done(alone); s++) {
            read_all(read, has_laws);
            if (percuss_step(read) != 0 || percuss_step(alone) != 0)
                fail_msg("%s: %s", cases[i], percuss_message(read));
            if (!is_same(read, alone)) fail_msg("%s: step %d differs when the state is read", cases[i], s + 1);
        }
        percuss_destroy(&read);
        percuss_destroy(&alone);
    }
}

// Steps with a force that changes from step to step, where there is a mesh, and half the loads.
static void drive(percuss *p, int count)
{
    double *applied = percuss_applied_force(p);
    CHECK(applied != NULL);
    for (int i = 0; i < count; i++) {
        applied[percuss_dofs(p) - 1] = 1e-3 * (double)(percuss_steps(p) % 7);
        if (percuss_step(p) != 0) fail_msg("%s", percuss_message(p));
    }
}

// All that is told of contacts, joints and the certificate.
static void check_same_report(const percuss *a, const percuss *b, const char *name)
{
    for (int j = 0; j < percuss_contacts(a); j++) {
        percuss_contact x = percuss_contact_at(a, j), y = percuss_contact_at(b, j);
        if (x.gap != y.gap || x.force != y.force || x.impulse != y.impulse || x.step_impulse != y.step_impulse ||
            x.slip[0] != y.slip[0] || x.friction != y.friction || x.is_closed != y.is_closed)
            fail_msg("%s: row %d is told otherwise", name, j);
    }
    for (int i = 0; i < percuss_reactions(a); i++) {
        percuss_reaction x = percuss_reaction_at(a, i), y = percuss_reaction_at(b, i);
        if (memcmp(x.force, y.force, sizeof x.force) != 0 || memcmp(x.moment, y.moment, sizeof x.moment) != 0)
            fail_msg("%s: reaction '%s' is told otherwise", name, x.name);
    }
    for (int k = 0; k < percuss_checks(a); k++)
        if (percuss_check_at(a, k).worst_ratio != percuss_check_at(b, k).worst_ratio)
            fail_msg("%s: certificate '%s' is told otherwise", name, percuss_check_at(a, k).name);
    if (percuss_efforts(a).iterations != percuss_efforts(b).iterations) fail_msg("%s: effort", name);
}

TEST(saved_states_lead_the_same_way)
{
    static const char path[] = TESTS_OUTPUT_FOLDER "/saved.state";
    for (int i = 0; i < ncase; i++) {
        percuss *p = NULL, *other = NULL;
        CHECK(percuss_load(cases[i], &p) == 0 && percuss_load(cases[i], &other) == 0);
        int count = percuss_dofs(p) > 2000 ? 2 : STEPS;
        const char *load = percuss_load_name(p, 0);
        if (load != NULL) (void)percuss_set_load_factor(p, load, 0.5); // gravity refuses
        percuss_group group = percuss_group_at(p, 0);
        if (group.name != NULL) (void)percuss_set_friction(p, group.name, 0.125); // a contact without refuses
        drive(p, count);
        if (percuss_save(p, path) != 0) fail_msg("%s: %s", cases[i], percuss_message(p));
        if (percuss_load_state(other, path) != 0) fail_msg("%s: %s", cases[i], percuss_message(other));
        if (!is_same(p, other)) fail_msg("%s: the state that was loaded is another one", cases[i]);
        check_same_report(p, other, cases[i]);
        for (int s = 0; s < count; s++) {
            drive(p, 1);
            drive(other, 1);
            if (!is_same(p, other)) fail_msg("%s: step %d after loading is another one", cases[i], s + 1);
        }
        check_same_report(p, other, cases[i]);
        percuss_destroy(&p);
        percuss_destroy(&other);
    }
    remove(path);
}

// What is damaged is in cli/test_checkpoint.py.
TEST(states_that_do_not_fit_are_refused)
{
    static const char path[] = TESTS_OUTPUT_FOLDER "/fitting.state";
    static const char *const set[] = { "mesh.bar.elements=199" };
    percuss *p = NULL, *finer = NULL, *before = NULL;
    CHECK(percuss_load("cases/bar_impact", &p) == 0 && percuss_load("cases/bar_impact", &before) == 0);
    CHECK(percuss_run_to(p, 0.6) == 0 && percuss_save(p, path) == 0);
    CHECK(percuss_run_to(p, 0.7) == 0 && percuss_run_to(before, 0.7) == 0);
    CHECK(percuss_load_with("cases/bar_impact", 1, set, &finer) == 0 && percuss_load_state(finer, path) == 2);
    CHECK_TEXT(percuss_message(finer), "another case");
    CHECK_TEXT(percuss_message(finer), "was 'elements: 200', is 'elements: 199'");
    CHECK(percuss_time(finer) == 0.0 && percuss_step(finer) == 0);
    CHECK(percuss_load_state(p, "README.md") == 2);
    CHECK_TEXT(percuss_message(p), "no checkpoint of Percuss");
    CHECK(percuss_load_state(p, TESTS_OUTPUT_FOLDER "/nowhere.state") == 2 && percuss_load_state(p, NULL) == 2);
    CHECK(percuss_save(p, TESTS_OUTPUT_FOLDER "/no/such/folder.state") == 2 && percuss_save(p, NULL) == 2);
    CHECK_TEXT(percuss_message(p), "no path");
    CHECK(percuss_load_state(NULL, path) == 2 && percuss_save(NULL, path) == 2);
    CHECK(percuss_step(p) == 0 && percuss_step(before) == 0 && is_same(p, before)); // nothing has changed
    remove(path);
    percuss_destroy(&p);
    percuss_destroy(&finer);
    percuss_destroy(&before);
}

static int stop_after(void *user, const percuss *p)
{
    int *count = user;
    CHECK(percuss_steps(p) == ++*count);
    return *count == 25;
}

// The checkpoint that a run leaves in its folder is a state, too; results written after it are those of its end.
TEST(checkpoints_of_runs_can_be_loaded)
{
    static const char folder[] = TESTS_OUTPUT_FOLDER "/checkpointed";
    percuss *p = NULL, *other = NULL;
    int count = 0;
    CHECK(percuss_load("cases/bar_impact", &p) == 0 && percuss_load("cases/bar_impact", &other) == 0);
    CHECK(percuss_run_with(p, &(percuss_run_options){ .directory = folder, .watch = stop_after, .user = &count }) == 1);
    if (percuss_load_state(other, folder) != 0) fail_msg("%s", percuss_message(other));
    CHECK(percuss_steps(other) == 25 && is_same(p, other));
    CHECK(percuss_run_to(p, 10.0) == 0 && percuss_run_to(other, 10.0) == 0 && is_same(p, other));
    percuss_destroy(&p);
    percuss_destroy(&other);
}

TEST(a_mesh_is_told)
{
    percuss *p = NULL;
    CHECK(percuss_load("cases/bar_impact", &p) == 0);
    CHECK(percuss_nodes(p) == 201 && percuss_cells(p) == 200 && percuss_length(p) > 0.0);
    CHECK(percuss_coordinates(p)[0] == 5.005 && fabs(percuss_coordinates(p)[600] - 15.005) < 1e-12);
    CHECK(percuss_cell_nodes(p)[0] == 0 && percuss_cell_nodes(p)[1] == 1);
    percuss_set end = percuss_set_named(p, "bar.end", 0);
    CHECK(end.count == 1 && end.items[0] == 200 && percuss_set_named(p, "tip", 0).name == NULL);
    CHECK(percuss_set_named(p, "bar", 1).count == 200 && percuss_set_at(p, 99).name == NULL);
    percuss_dof dof[6];
    CHECK(percuss_node_dofs(p, 200, dof) == 1 && dof[0].equation == 200 && dof[0].direction[0] == 1.0);
    CHECK(percuss_node_dofs(p, 201, dof) == 0 && percuss_node_dofs(p, -1, dof) == 0);
    char text[128];
    percuss_name_equation(p, 200, sizeof text, text);
    CHECK_TEXT(text, "node 200");
    percuss_name_equation(p, 201, sizeof text, text);
    CHECK(text[0] == '\0' && percuss_coordinate_name(p, 0) == NULL);
    int tip = percuss_probe_named(p, "tip.x");
    CHECK(tip >= 0 && percuss_probe_at(p, tip) == 15.005 && percuss_probe_named(p, "tip.y") == -1);
    const double *u = percuss_displacement(p);
    for (int s = 1; s <= 3; s++) {
        CHECK(percuss_step(p) == 0 && percuss_displacement(p) == u);
        CHECK_NEAR(u[200], -10.0 * percuss_time(p), 1e-12);
        CHECK_NEAR(percuss_probe_at(p, tip), 15.005 + u[200], 1e-12);
    }
    CHECK(percuss_run_to(p, 0.1) == 0 && percuss_time(p) == 0.1 && percuss_steps(p) == 50);
    CHECK_NEAR(u[200], -1.0, 1e-12);
    percuss_destroy(&p);
}

// Scheme `wave` has velocities of nodes in the middle of a step, and the momentum of bodies at its end.
TEST(the_velocity_of_a_centre_is_that_of_the_end_of_the_step)
{
    static const char text[] = "mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 10 } }\n"
                               "elements: { bar: { type: rod, mesh: bar, E: 1, rho: 1, area: 1 } }\n"
                               "initial: [{ set: bar, velocity: [-2, 0, 0] }]\n"
                               "contacts: { wall: { type: node_plane, nodes: bar.start, point: [0, 0, 0], normal: [1, "
                               "0, 0], restitution: 0 } }\n"
                               "scheme: { type: wave }\ntime: { step: auto, end: 2.5 }\noutput: { probes: { all: { "
                               "body: bar, of: [vx] } } }\n";
    percuss *p = NULL;
    CHECK(percuss_open(&(percuss_source){ .text = text }, &p) == 0);
    for (int step = 0; step <= 25; step++) {
        CHECK_NEAR(percuss_probe_at(p, 0), -2.0 + 0.2 * fmin(step, 20), 1e-12);
        CHECK(percuss_is_done(p) || percuss_step(p) == 0);
    }
    percuss_destroy(&p);
}

// L (1 / L) is not 1 for every L.
TEST(a_rod_moves_along_its_axis_whatever_its_length)
{
    for (int length = 1; length <= 100; length++) {
        char text[512];
        snprintf(text, sizeof text,
                 "mesh: { bar: { type: line, from: [%d, 2, 3], to: [0, 2, 3], elements: 1 } }\n"
                 "elements: { bar: { type: rod, mesh: bar, E: 1, rho: 1, area: 1 } }\n"
                 "scheme: { type: newmark }\ntime: { step: 1, end: 1 }\n",
                 length);
        percuss *p = NULL;
        percuss_dof dof[6];
        CHECK(percuss_open(&(percuss_source){ .path = "bar", .text = text }, &p) == 0);
        CHECK(percuss_node_dofs(p, 1, dof) == 1 && dof[0].direction[0] == 1.0);
        CHECK(percuss_equation(p, 1, 0) == dof[0].equation && percuss_equation(p, 1, 1) == -2);
        percuss_destroy(&p);
    }
}

TEST(faults_are_told)
{
    static const char *const wrong[1] = { "scheme.rho_inf=7" }, *const small[] = { "mesh.bar.elements=20",
                                                                                   "time.end=0.6" };
    percuss *p = NULL;
    CHECK(percuss_load("no/such/case", &p) == 2);
    CHECK_TEXT(percuss_message(p), "no/such/case");
    CHECK(percuss_is_done(p) && percuss_step(p) == 2 && percuss_run(p, "x") == 2);
    CHECK(percuss_dofs(p) == 0 && percuss_contacts(p) == 0 && percuss_displacement(p) == NULL);
    percuss_destroy(&p);
    CHECK(percuss_load_with("cases/bar_impact", 1, wrong, &p) == 2);
    CHECK_TEXT(percuss_message(p), "--set scheme.rho_inf=7: scheme.rho_inf must be in");
    percuss_destroy(&p);
    CHECK(percuss_load_with("cases/bar_impact", 2, small, &p) == 0);
    CHECK(percuss_run(p, "cases/bar_impact/case.yaml/x") == 1);
    CHECK_TEXT(percuss_message(p), "cases/bar_impact/case.yaml");
    CHECK(percuss_is_done(p) && percuss_step(p) == 1);
    CHECK(strcmp(percuss_contact_at(p, 1).name, "") == 0 && strcmp(percuss_contact_at(p, -1).name, "") == 0);
    percuss_destroy(&p);
}

TEST(nothing_is_a_valid_argument)
{
    percuss *p = NULL;
    percuss_destroy(&p);
    percuss_destroy(NULL);
    CHECK(percuss_is_done(NULL) && percuss_step(NULL) == 2 && percuss_time(NULL) == 0.0);
    CHECK_TEXT(percuss_message(NULL), "out of memory");
    CHECK_TEXT(percuss_version(), ".");
}

int main(void)
{
    list_cases();
    return check_run_tests();
}
