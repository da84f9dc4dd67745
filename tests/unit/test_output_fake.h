// A made-up model and run that drive the observers: four points, three cells, three contact points in two contacts.
// Every number is a formula of its index and the step, so that a test can say what must stand in a file.

#ifndef TEST_OUTPUT_FAKE_H
#define TEST_OUTPUT_FAKE_H

// mkdir, access and resource limits, wherever this comes first.
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif

#include "support/check.h"

#include "output/observer.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FAKE_POINTS = 4,
    FAKE_CELLS = 3,
    FAKE_FIELDS = 3,
    FAKE_ROWS = 3,
    FAKE_DOFS = 12,
    FAKE_PROBES = 2,
    FAKE_CHECKS = 3
};

typedef struct fake_run {
    pcs_context *ctx;
    pcs_system system;
    pcs_picture picture;
    pcs_state state;
    pcs_row_report rows[FAKE_ROWS];
    pcs_step_report report;
    pcs_ledger ledger;
    pcs_check checks[FAKE_CHECKS];
    pcs_certificate certificate;
    pcs_timing timing;
    pcs_view view;
    pcs_observer observer;
    char directory[512];
    double q[FAKE_DOFS], v[FAKE_DOFS];
    double displacement[FAKE_POINTS][3], velocity[FAKE_POINTS][3], field[FAKE_FIELDS][FAKE_CELLS];
    double *fields[FAKE_FIELDS];
    pcs_mesh mesh;
    double x[FAKE_POINTS][3];
    int cell[FAKE_CELLS][2];
} fake_run;

static const double fake_h = 1e-3;

// One body, so that contraction of the sum does not depend on the place of the call.
__attribute__((noinline, unused)) static double fake_wave(int what, long index, long step)
{
    return sin(0.37 * what + 0.61 * (double)index + 0.173 * (double)step) * pow(10.0, what % 5 - 2);
}

static inline void fake_draw(pcs_system *self, pcs_instant at, pcs_picture *picture)
{
    (void)self;
    for (int i = 0; i < FAKE_POINTS; i++) {
        for (int k = 0; k < 3; k++) {
            picture->displacement[i][k] = at.q[3 * i + k];
            picture->velocity[i][k] = at.v[3 * i + k];
        }
    }
    for (int k = 0; k < FAKE_FIELDS; k++) {
        for (int c = 0; c < FAKE_CELLS; c++) picture->fields[k][c] = (k + 1) * 1e5 * (at.q[3 * c + 3] - at.q[3 * c]);
    }
}

static inline void fake_evaluate_rows(pcs_system *self, pcs_instant at, const pcs_row_values *out)
{
    (void)self;
    for (int j = 0; j < (out->point == NULL ? 0 : FAKE_ROWS); j++) {
        for (int k = 0; k < 3; k++) out->point[j][k] = j + at.q[3 * j + k];
        out->normal[j][0] = 0.6;
        out->normal[j][1] = j == 1 ? -0.8 : 0.8;
        out->normal[j][2] = 0.0;
    }
}

static inline double fake_probe(const pcs_system *self, const pcs_probe *probe, pcs_instant at)
{
    (void)self;
    return probe->quantity == 0 ? at.q[probe->items[0]] : at.v[probe->items[0]];
}

static const pcs_system_ops fake_ops = { .draw = fake_draw, .evaluate_rows = fake_evaluate_rows, .probe = fake_probe };
static const pcs_contact_info fake_contacts[2] = {
    { .name = "wall", .first_row = 0, .nrow = 2, .nall = 2, .writes_points = true },
    { .name = "floor, \"left\"", .first_row = 2, .nrow = 1, .first_all = 2, .nall = 1 },
};
// Gives the points of all contacts directions of friction.
static inline void fake_friction(fake_run *r, const pcs_row rows[FAKE_ROWS], pcs_contact_info contacts[2])
{
    for (int k = 0; k < 2; k++) {
        contacts[k] = fake_contacts[k];
        contacts[k].ntangent = rows[0].ntangent;
    }
    r->system.contacts = contacts;
    r->system.rows = rows;
    r->system.ntangent = FAKE_ROWS * rows[0].ntangent;
}

static const pcs_row fake_rows[FAKE_ROWS] = { { .contact = 0 }, { .contact = 0 }, { .contact = 1 } };
static const double fake_reference[FAKE_POINTS][3] = {
    { 0, 0, 0 }, { 0.1, 0, 0 }, { 0.2, 0.1, 0 }, { 0.3, 0.1, -0.7 }
};
static const int fake_cells[FAKE_CELLS][2] = { { 0, 1 }, { 1, 2 }, { 3, 2 } };
static const char *const fake_field_names[FAKE_FIELDS] = { "axial_force", "stress", "odd name%20" };
static const int fake_chain[FAKE_CELLS] = { 0, 1, 2 };
static pcs_set fake_sets[1] = { { .name = "chain", .count = FAKE_CELLS, .items = fake_chain } };
static const int fake_items[FAKE_PROBES] = { 9, 4 };
static const pcs_probe fake_probes[FAKE_PROBES] = {
    { .column = "tip.x", .quantity = 0, .count = 1, .items = &fake_items[0] },
    { .column = "a,b.vx", .quantity = 1, .count = 1, .items = &fake_items[1] },
};

// The state, report and ledger after `step` steps.
static inline void fake_move(fake_run *r, long step)
{
    r->state.step = step;
    r->state.t = (double)step * fake_h;
    for (int i = 0; i < FAKE_DOFS; i++) {
        r->q[i] = fake_wave(0, i, step);
        r->v[i] = fake_wave(3, i, step);
    }
    r->report.h = step == 0 ? 0.0 : fake_h;
    r->report.iterations = (int)(step % 7);
    for (int j = 0; j < FAKE_ROWS; j++) {
        double impulse = step == 0 ? 0.0 : fabs(fake_wave(2, j, step));
        r->rows[j] = (pcs_row_report){ .gap = fake_wave(1, j, step),
                                       .rate = fake_wave(3, j, step),
                                       .force = impulse / fake_h,
                                       .impulse = step % 2 == 0 ? 0.5 * impulse : 0.0,
                                       .step_impulse = impulse,
                                       .is_closed = (step + j) % 2 == 0,
                                       .is_impact = step % 2 == 0 };
    }
    r->ledger.now = (pcs_measure){ .kinetic = 500.0 + fake_wave(6, 0, step),
                                   .strain = fake_wave(6, 1, step) + 10.0,
                                   .potential = -0.25,
                                   .momentum = { fake_wave(7, 0, step), -0.0, 1e-300 } };
    r->ledger.external_work = fake_wave(8, 0, step);
    r->ledger.damping_loss = fake_wave(8, 1, step);
    r->ledger.impact_loss = fake_wave(8, 2, step);
    r->ledger.correction_work = fake_wave(8, 3, step);
    r->ledger.numerical_loss = fake_wave(8, 4, step);
    r->ledger.friction_loss = fake_wave(8, 5, step);
    r->view.iterations += r->report.iterations;
}

static inline void fake_make_directory(fake_run *r, const char *name)
{
    snprintf(r->directory, sizeof r->directory, "%s/%s", TESTS_OUTPUT_FOLDER, name);
    CHECK(mkdir(r->directory, 0777) == 0 || errno == EEXIST);
}

static inline void fake_make_mesh(fake_run *r)
{
    memcpy(r->x, fake_reference, sizeof r->x);
    memcpy(r->cell, fake_cells, sizeof r->cell);
    r->mesh = (pcs_mesh){ .nnode = FAKE_POINTS, .ncell = FAKE_CELLS, .ncell_set = 1, .ctx = r->ctx };
    r->mesh.x = r->x;
    r->mesh.cell = r->cell;
    r->mesh.cell_set = fake_sets;
}

// `name` is the folder of results below the tests' own; observer and view are ready to open.
static inline void fake_create(fake_run *r, const char *name, const pcs_observer_ops *ops, const void *params)
{
    *r = (fake_run){ 0 };
    CHECK(pcs_context_create(&r->ctx) == PCS_OK);
    fake_make_directory(r, name);
    for (int k = 0; k < FAKE_FIELDS; k++) r->fields[k] = r->field[k];
    r->picture = (pcs_picture){ .npoint = FAKE_POINTS,
                                .nall_node = FAKE_POINTS,
                                .nall_cell = FAKE_CELLS,
                                .ncell = FAKE_CELLS,
                                .nfield = FAKE_FIELDS,
                                .reference = fake_reference,
                                .cells = fake_cells,
                                .displacement = r->displacement,
                                .velocity = r->velocity,
                                .field_names = fake_field_names,
                                .fields = r->fields };
    r->system = (pcs_system){ .ops = &fake_ops,
                              .ctx = r->ctx,
                              .nq = FAKE_DOFS,
                              .nv = FAKE_DOFS,
                              .nrow = FAKE_ROWS,
                              .ncontact = 2,
                              .rows = fake_rows,
                              .contacts = fake_contacts,
                              .picture = &r->picture };
    r->state = (pcs_state){ .q = r->q, .v = r->v };
    fake_make_mesh(r);
    r->report.rows = r->rows;
    r->ledger = (pcs_ledger){ .initial = 512.5, .numerical_is_remainder = true, .largest_rise = 1e-9 };
    r->checks[0] = (pcs_check){ "gap >= 0", "m", 0.25, -2.5e-13, 1e-12, 0.004, false, 0.0 };
    r->checks[1] = (pcs_check){ "momentum", "N s", 1e-3, 1e-15, 1e-12, 0.002, false, 0.0 };
    r->checks[2] = (pcs_check){ "penetration", "m", 40.0, 4e-3, 1e-4, 0.006, true, 0.0 };
    r->certificate = (pcs_certificate){ .ncheck = FAKE_CHECKS, .checks = r->checks };
    r->timing = (pcs_timing){ 0.125, 0.5, 0.0625, 0.03125, 0.0 };
    r->view = (pcs_view){ .case_name = "fake",
                          .title = "A made-up run",
                          .directory = r->directory,
                          .scheme_name = "alpha_ggl",
                          .solver_name = "condensed",
                          .mass_backend = "chain",
                          .step_backend = "chain",
                          .system = &r->system,
                          .mesh = &r->mesh,
                          .state = &r->state,
                          .report = &r->report,
                          .ledger = &r->ledger,
                          .certificate = &r->certificate,
                          .timing = &r->timing,
                          .probes = fake_probes,
                          .nprobe = FAKE_PROBES,
                          .step_size = fake_h,
                          .end_time = 10 * fake_h,
                          .nstep = 10,
                          .factorizations = 2,
                          .memory = 123456 };
    void *data = pcs_take(r->ctx, ops->data_size, 1, "an observer");
    r->observer = (pcs_observer){ .ops = ops, .ctx = r->ctx, .view = &r->view, .params = params, .data = data };
    fake_move(r, 0);
}

static inline void fake_open(fake_run *r)
{
    CHECK_OK(r->ctx, r->observer.ops->open(&r->observer));
}

static inline void fake_step(fake_run *r, long step)
{
    fake_move(r, step);
    CHECK_OK(r->ctx, r->observer.ops->step(&r->observer));
}

static inline void fake_close(fake_run *r)
{
    r->view.ending = PCS_FINISHED;
    CHECK_OK(r->ctx, r->observer.ops->close(&r->observer));
    pcs_context_destroy(&r->ctx);
}

// Opens, takes steps 1 .. nstep, closes.
static inline void fake_run_all(fake_run *r, long nstep)
{
    fake_open(r);
    for (long step = 1; step <= nstep; step++) fake_step(r, step);
    fake_close(r);
}

static inline const char *fake_path(const fake_run *r, const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", r->directory, name);
    return path;
}

static inline bool fake_exists(const fake_run *r, const char *name)
{
    return access(fake_path(r, name), F_OK) == 0;
}

// The whole file as text, to be freed; its absence fails the test.
static inline char *fake_read(const fake_run *r, const char *name)
{
    FILE *f = fopen(fake_path(r, name), "rb");
    if (f == NULL) fail_msg("cannot open %s", fake_path(r, name));
    CHECK(fseek(f, 0, SEEK_END) == 0);
    long size = ftell(f);
    rewind(f);
    char *text = malloc((size_t)size + 1);
    CHECK(text != NULL && fread(text, 1, (size_t)size, f) == (size_t)size);
    text[size] = '\0';
    fclose(f);
    return text;
}

// Fails unless the file has this text.
static inline void fake_has(const fake_run *r, const char *name, const char *wanted)
{
    char *text = fake_read(r, name);
    CHECK_TEXT(text, wanted);
    free(text);
}

static inline void fake_put(const fake_run *r, const char *name, const char *text)
{
    FILE *f = fopen(fake_path(r, name), "wb");
    CHECK(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
}

// What Python's own reader says of a JSON file; it must hold no NaN or Infinity, which that reader would let pass.
static inline bool fake_is_json(const fake_run *r, const char *name)
{
    char command[1400];
    snprintf(command, sizeof command,
             "/usr/bin/python3 -c 'import json, sys; json.load(open(sys.argv[1]), parse_constant=int)' '%s'",
             fake_path(r, name));
    return system(command) == 0;
}

// A full disk: no file may grow beyond `bytes` (0: any size).
static inline void fake_set_limit(long bytes)
{
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = bytes > 0 ? (rlim_t)bytes : limit.rlim_max;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

#endif
