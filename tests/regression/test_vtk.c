// Frames as VTK's own reader sees them: vtk_readback.py compares them by their bits with what this program
// computes on its own. A damaged frame must not pass.

#include "../unit/test_output_fake.h"

#include "output/series.h"

#include <sys/wait.h>

enum { STEPS = 10, EVERY = 4, MANY = 30000 };

extern const pcs_observer_ops pcs_observer_frames, pcs_observer_contact_frames;

static const pcs_frames_params every = { .every = EVERY };

static int read_back(const fake_run *r, const char *stem)
{
    char command[1200];
    snprintf(command, sizeof command, "/usr/bin/python3 tests/regression/vtk_readback.py '%s' %s '%s/expected.txt'",
             r->directory, stem, r->directory);
    int status = system(command);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) skip(); // VTK is not there
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static FILE *expect(const fake_run *r)
{
    FILE *f = fopen(fake_path(r, "expected.txt"), "w");
    CHECK(f != NULL);
    return f;
}

static void expect_frame(FILE *f, const char *stem, int number, long step)
{
    fprintf(f, "frame %s_%06d.vtk %.17g %ld\n", stem, number, (double)step * fake_h, step);
}

static void expect_vectors(FILE *f, const char *head, int count, double (*x)[3])
{
    fprintf(f, "%s\n", head);
    for (int i = 0; i < count; i++) fprintf(f, "%.17g %.17g %.17g\n", x[i][0], x[i][1], x[i][2]);
}

static void expect_model(FILE *f, int number, long step)
{
    double x[FAKE_POINTS][3], u[FAKE_POINTS][3], v[FAKE_POINTS][3];
    for (int i = 0; i < FAKE_POINTS; i++) {
        for (int k = 0; k < 3; k++) {
            u[i][k] = fake_wave(0, 3 * i + k, step);
            v[i][k] = fake_wave(3, 3 * i + k, step);
            x[i][k] = fake_reference[i][k] + u[i][k];
        }
    }
    expect_frame(f, "fake", number, step);
    expect_vectors(f, "points 4", FAKE_POINTS, x);
    fprintf(f, "cells 3 2\n0 1\n1 2\n3 2\n");
    expect_vectors(f, "point displacement 3 4 double", FAKE_POINTS, u);
    expect_vectors(f, "point velocity 3 4 double", FAKE_POINTS, v);
    const char *const names[FAKE_FIELDS] = { "axial_force", "stress", "odd_name_20" };
    for (int k = 0; k < FAKE_FIELDS; k++) {
        fprintf(f, "cell %s 1 3 double\n", names[k]);
        for (int c = 0; c < FAKE_CELLS; c++) fprintf(f, "%.17g\n", (k + 1) * 1e5 * (u[c + 1][0] - u[c][0]));
    }
}

static void run_model(fake_run *r)
{
    fake_create(r, "vtk_model", &pcs_observer_frames, &every);
    fake_run_all(r, STEPS);
    FILE *f = expect(r);
    const long steps[] = { 0, 4, 8, 10 };
    for (int n = 0; n < 4; n++) expect_model(f, n, steps[n]);
    CHECK(fclose(f) == 0);
}

TEST(the_model_reads_back_bit_by_bit)
{
    fake_run r;
    run_model(&r);
    CHECK(read_back(&r, "fake") == 0);
}

static void expect_column(FILE *f, const char *name, const double *x)
{
    fprintf(f, "point %s 1 3 double\n%.17g\n%.17g\n%.17g\n", name, x[0], x[1], x[2]);
}

// Impulses are sums over the steps since the frame before.
static void expect_contacts(FILE *f, int number, long before, long step)
{
    fake_run r = { .state = { .q = r.q, .v = r.v }, .report = { .rows = r.rows } };
    double impulse[FAKE_ROWS] = { 0 }, total[FAKE_ROWS] = { 0 };
    for (long s = before + 1; s <= step; s++) {
        fake_move(&r, s);
        for (int j = 0; j < FAKE_ROWS; j++) {
            impulse[j] += r.rows[j].impulse;
            total[j] += r.rows[j].step_impulse;
        }
    }
    double position[FAKE_ROWS][3], normal[FAKE_ROWS][3], arrow[FAKE_ROWS][3];
    double gap[FAKE_ROWS], rate[FAKE_ROWS], force[FAKE_ROWS];
    fake_evaluate_rows(NULL, pcs_at(0.0, r.q, NULL), &(pcs_row_values){ .point = position, .normal = normal });
    for (int j = 0; j < FAKE_ROWS; j++) {
        gap[j] = r.rows[j].gap;
        rate[j] = r.rows[j].rate;
        force[j] = r.rows[j].force;
        for (int k = 0; k < 3; k++) arrow[j][k] = force[j] * normal[j][k];
    }
    expect_frame(f, "contacts", number, step);
    expect_vectors(f, "points 3", FAKE_ROWS, position);
    fprintf(f, "cells 3 1\n0\n1\n2\n");
    expect_column(f, "gap", gap);
    expect_column(f, "gap_velocity", rate);
    expect_column(f, "force", force);
    expect_column(f, "impulse", impulse);
    expect_column(f, "step_impulse", total);
    expect_vectors(f, "point normal 3 3 double", FAKE_ROWS, normal);
    expect_vectors(f, "point force_vector 3 3 double", FAKE_ROWS, arrow);
    fprintf(f, "point state 1 3 int\n%d\n%d\n%d\n", r.rows[0].is_closed, r.rows[1].is_closed, r.rows[2].is_closed);
    fprintf(f, "point contact 1 3 int\n0\n0\n1\n");
}

TEST(contacts_read_back_bit_by_bit)
{
    fake_run r;
    fake_create(&r, "vtk_contacts", &pcs_observer_contact_frames, &every);
    fake_run_all(&r, STEPS);
    FILE *f = expect(&r);
    const long steps[] = { -1, 0, 4, 8, 10 };
    for (int n = 0; n < 4; n++) expect_contacts(f, n, steps[n], steps[n + 1]);
    CHECK(fclose(f) == 0);
    CHECK(read_back(&r, "contacts") == 0);
}

// A model that fills the buffer of the file several times over.
static void draw_many(pcs_system *self, pcs_instant at, pcs_picture *picture)
{
    (void)self;
    (void)at;
    for (long i = 0; i < MANY; i++) {
        for (int k = 0; k < 3; k++) {
            picture->displacement[i][k] = fake_wave(1, 3 * i + k, 5);
            picture->velocity[i][k] = fake_wave(2, 3 * i + k, 5);
        }
        if (i < MANY - 1) picture->fields[0][i] = fake_wave(3, i, 5);
    }
}

TEST(a_large_model_reads_back_bit_by_bit)
{
    static double reference[MANY][3], displacement[MANY][3], velocity[MANY][3], stress[MANY - 1], x[MANY][3];
    static int cells[MANY - 1][2];
    static double *fields[1] = { stress };
    static const char *const names[1] = { "stress" };
    const pcs_system_ops ops = { .draw = draw_many };
    for (int i = 0; i < MANY; i++) {
        reference[i][0] = 0.001 * i;
        if (i < MANY - 1) cells[i][0] = i + 1, cells[i][1] = i;
    }
    pcs_picture picture = { .npoint = MANY,
                            .nall_node = MANY,
                            .ncell = MANY - 1,
                            .nfield = 1,
                            .reference = (const double(*)[3])reference,
                            .cells = (const int(*)[2])cells,
                            .displacement = displacement,
                            .velocity = velocity,
                            .field_names = names,
                            .fields = fields };
    fake_run r;
    fake_create(&r, "vtk_large", &pcs_observer_frames, &every);
    r.system.ops = &ops;
    r.system.picture = &picture;
    fake_run_all(&r, 0);

    FILE *f = expect(&r);
    expect_frame(f, "fake", 0, 0);
    for (int i = 0; i < MANY; i++) {
        for (int k = 0; k < 3; k++) x[i][k] = reference[i][k] + fake_wave(1, 3 * i + k, 5);
    }
    expect_vectors(f, "points 30000", MANY, x);
    fprintf(f, "cells %d 2\n", MANY - 1);
    for (int i = 0; i < MANY - 1; i++) fprintf(f, "%d %d\n", i + 1, i);
    expect_vectors(f, "point displacement 3 30000 double", MANY, displacement);
    expect_vectors(f, "point velocity 3 30000 double", MANY, velocity);
    fprintf(f, "cell stress 1 %d double\n", MANY - 1);
    for (int i = 0; i < MANY - 1; i++) fprintf(f, "%.17g\n", fake_wave(3, i, 5));
    CHECK(fclose(f) == 0);
    CHECK(read_back(&r, "fake") == 0);
}

static void flip_byte(const fake_run *r, const char *name, long from_end)
{
    FILE *f = fopen(fake_path(r, name), "r+b");
    CHECK(f != NULL && fseek(f, -from_end, SEEK_END) == 0);
    int c = fgetc(f);
    CHECK(c != EOF && fseek(f, -from_end, SEEK_END) == 0 && fputc(c ^ 1, f) != EOF && fclose(f) == 0);
}

// The comparison itself: one bit in the last array, a file cut short, a wrong time.
TEST(a_damaged_frame_does_not_pass)
{
    fake_run r;
    run_model(&r);
    flip_byte(&r, "fake_000002.vtk", 2);
    CHECK(read_back(&r, "fake") == 1);
    run_model(&r);
    CHECK(truncate(fake_path(&r, "fake_000003.vtk"), 500) == 0);
    CHECK(read_back(&r, "fake") != 0);
    run_model(&r);
    flip_byte(&r, "fake.vtk.series", 10); // the last digit of the last time
    CHECK(read_back(&r, "fake") == 1);
}
