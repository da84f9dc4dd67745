// Waves from initial functions of place and from prescribed pulses at the end of a rod, against d'Alembert's solution.
//
//   u = (u0(x - c t) + u0(x + c t))/2 + 1/(2 c) int v0,      u = s(t - x/c),  stress -rho c s'(t - x/c)

#define _POSIX_C_SOURCE 200809L // mkstemp

#include "support/check.h"
#include "support/ode.h"
#include "support/text_case.h"

#include "core/amplitude.h"
#include "fe/fe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 4096 };

static const double pi = 3.14159265358979323846;

// A rod of 10 m with c = 30 m/s and Z = 60 N s/m.
static text_case open_rod(const char *scheme, int cells, double step, double end, const char *more)
{
    char clock[64];
    snprintf(clock, sizeof clock, step > 0.0 ? "%.17g" : "auto", step);
    return text_case_print("mesh: { bar: { type: line, from: [0, 0, 0], to: [10, 0, 0], elements: %d } }\n"
                           "elements: { bar: { type: rod, mesh: bar, E: 900.0, rho: 1.0, area: 2.0 } }\n"
                           "scheme: { type: %s }\ntime: { step: %s, end: %.17g }\n%s",
                           cells, scheme, clock, end, more);
}

static double hump(double x)
{
    return 0.01 * exp(-(x - 5.0) * (x - 5.0) / 0.09);
}

// The integral of the hump.
static double hump_sum(double x)
{
    return 0.01 * 0.15 * sqrt(pi) * erf((x - 5.0) / 0.3);
}

static double displacement_of(double x, double t)
{
    return 0.5 * (hump(x - 30.0 * t) + hump(x + 30.0 * t));
}

static double velocity_of(double x, double t)
{
    return 100.0 * (hump_sum(x + 30.0 * t) - hump_sum(x - 30.0 * t)) / 60.0;
}

typedef double wave_of(double x, double t);

// Largest error of nodes at the end of a run, in parts of 1 cm.
static double node_error(const text_case *run, wave_of *exact)
{
    const pcs_mesh *mesh = pcs_fe_dofmap(run->sim->system)->mesh;
    double worst = 0.0;
    for (int i = 0; i < mesh->nnode; i++) {
        double u[3];
        text_case_vector(run->sim->system, i, run->sim->state.q, u);
        worst = fmax(worst, fabs(u[0] - exact(mesh->x[i][0], run->sim->state.t)) / 0.01);
    }
    return worst;
}

static double hump_error(const char *scheme, int cells, double courant, bool is_velocity)
{
    text_case run =
        open_rod(scheme, cells, courant * 10.0 / cells / 30.0, 0.1,
                 is_velocity ? "initial: [ { set: bar, velocity: [ '1*exp(-(x-5)^2/0.09)', 0, 0 ] } ]\n"
                             : "initial: [ { set: bar, displacement: [ 0.01*exp(-(x-5)^2/0.09), 0, y ] } ]\n");
    text_case_run(&run);
    double error = node_error(&run, is_velocity ? velocity_of : displacement_of);
    text_case_close(&run);
    return error;
}

TEST(initial_functions_travel_as_dalembert_says)
{
    double exact = hump_error("wave", 90, 1.0, false), error[2];
    CHECK(exact < 1e-12);
    const char *const schemes[] = { "wave", "newmark", "alpha_ggl", "moreau_jean, theta: 0.5", "half_explicit" };
    for (int i = 0; i < 5; i++)
        for (int is_velocity = i == 0; is_velocity < 2; is_velocity++) {
            double courant = i == 0 ? 1.0 : 0.5;
            for (int k = 0; k < 2; k++) error[k] = hump_error(schemes[i], 120 << k, courant, is_velocity);
            CHECK(log2(error[0] / error[1]) > 1.8);
            CHECK(error[1] < 0.03);
        }
}

// A bar with this entry in its last line is refused.
static void check_refusal(const char *before, const char *entry, const char *after, const char *reported)
{
    char text[TEXT];
    text_case c;
    snprintf(text, sizeof text,
             "mesh: { bar: { type: line, from: [0, 0, 0], to: [10, 0, 0], elements: 5 } }\n"
             "elements: { bar: { type: rod, mesh: bar, E: 900.0, rho: 1.0, area: 2.0 } }\n"
             "scheme: { type: newmark }\n"
             "time: { step: 0.01, end: 0.1 }\n"
             "%s%s%s\n",
             before, entry, after);
    CHECK_STATUS(NULL, text_case_try(text, &c), PCS_BAD_INPUT);
    CHECK_TEXT(pcs_message(c.ctx), reported);
    CHECK(strstr(pcs_message(c.ctx), "no motion is given") == NULL);
    text_case_close(&c);
}

TEST(wrong_functions_are_told)
{
    const struct {
        const char *entry, *reported;
    } bad[] = {
        { "velocity: [w, 0, 0]", "f:5:35: initial[0].velocity[0]: in 'w': unknown name 'w', known are: x, y, z, sqrt" },
        { "velocity: [x +, 0, 0]", "initial[0].velocity[0]: in 'x +'" },
        { "velocity: [log(x), 0, 0]", "the formula of x gives -inf at node 0, [0, 0, 0]" },
        { "velocity: [0, x, 0]", "cannot have the initial velocity [0, 2, 0]" },
        { "velocity: [t, 0, 0]", "unknown name 't'" },
        { "velocity: [[x], 0, 0]", "initial[0].velocity[0] must be a number, is a list" },
        { "velocity: [x, 0]", "must be a list of 3 numbers [x, y, z], is a list of 2" },
        { "velocity: { from: [x, 0, 0], to: [1, 0, 0] }", "velocity.from[0] must be a number, is 'x'" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_refusal("initial: [ { set: bar, ", bad[i].entry, " } ]", bad[i].reported);
}

// The displacement of every motion, by closed forms of its own.
typedef double motion_of(double t);

static double clamp(double x, double high)
{
    return fmin(fmax(x, 0.0), high);
}

static double by_rectangle(double t)
{
    return 2.0 * clamp(t - 0.02, 0.1);
}

static double by_half_sine(double t)
{
    return 2.0 * 0.1 / pi * (1.0 - cos(pi * clamp(t - 0.02, 0.1) / 0.1));
}

static double by_table(double t)
{
    double x = clamp(t, 0.05), y = clamp(t - 0.05, 0.1), z = fmax(t - 0.15, 0.0);
    return 0.5 * 40.0 * x * x + 2.0 * y - 0.5 * 30.0 * y * y - 1.0 * z;
}

static double by_sine(double t)
{
    return 2.0 * t - 2.0 / (20.0 * pi) * sin(20.0 * pi * t);
}

static double by_ramp(double t)
{
    double x = clamp(t - 0.02, 0.1);
    return 0.5 * 30.0 * x * x + 3.0 * fmax(t - 0.12, 0.0);
}

static double by_smooth_ramp(double t)
{
    double x = clamp(t - 0.02, 0.1) / 0.1;
    return 3.0 * 0.1 * (2.5 - 3.0 * x + x * x) * x * x * x * x + 3.0 * fmax(t - 0.12, 0.0);
}

static double by_place_table(double t)
{
    return 0.04 * clamp(t, 0.1) / 0.1 - 0.02 * clamp(t - 0.1, 0.05) / 0.05;
}

static double by_place_ramp(double t)
{
    double x = clamp(t - 0.02, 0.1) / 0.1;
    return 0.05 * x * x * x * (10.0 - 15.0 * x + 6.0 * x * x);
}

static double by_place_pulse(double t)
{
    return 0.03 * sin(pi * clamp(t - 0.02, 0.1) / 0.1);
}

static double by_formula(double t)
{
    return 0.05 * t * t * exp(-10.0 * t);
}

static const struct {
    const char *motion;
    motion_of *exact;
    bool is_smooth; // its velocity has no jump and its acceleration is bounded
} motions[] = {
    { "velocity: { pulse: { shape: rectangle, start: 0.02, duration: 0.1, size: 2.0 } }", by_rectangle, false },
    { "velocity: { pulse: { shape: half_sine, start: 0.02, duration: 0.1, size: 2.0 } }", by_half_sine, true },
    { "velocity: { table: [[0.0, 0.0], [0.05, 2.0], [0.15, -1.0]] }", by_table, true },
    { "velocity: { sine: { frequency: 10.0, size: 2.0, phase: -1.5707963267948966, mean: 2.0 } }", by_sine, true },
    { "velocity: { ramp: { start: 0.02, rise: 0.1, to: 3.0 } }", by_ramp, true },
    { "velocity: { ramp: { start: 0.02, rise: 0.1, to: 3.0, shape: smooth } }", by_smooth_ramp, true },
    { "displacement: { table: [[0.0, 0.0], [0.1, 0.04], [0.15, 0.02]] }", by_place_table, false },
    { "displacement: { ramp: { start: 0.02, rise: 0.1, to: 0.05, shape: smooth } }", by_place_ramp, true },
    { "displacement: { pulse: { shape: half_sine, start: 0.02, duration: 0.1, size: 0.03 } }", by_place_pulse, false },
    { "displacement: { expression: 0.05*t^2*exp(-10*t) }", by_formula, true },
    { "velocity: { expression: 0.05*(2*t - 10*t^2)*exp(-10*t) }", by_formula, true },
    { "velocity: { expression: 2*(step(t - 0.02) - step(t - 0.12)) }", by_rectangle, false },
};

enum { NMOTION = sizeof motions / sizeof *motions };

static const char *joint_of(int motion)
{
    static char text[512];
    snprintf(text, sizeof text, "joints: { push: { type: prescribed, node: bar.start, along: x, %s } }\n",
             motions[motion].motion);
    return text;
}

static motion_of *of_end;

static double from_end(double x, double t)
{
    return t > x / 30.0 ? of_end(t - x / 30.0) : 0.0;
}

// In every cell that the front has passed by, stress is -rho c times the mean velocity of the end at that time.
static double stress_error(const text_case *run, int cells)
{
    const pcs_system *system = run->sim->system;
    pcs_picture *picture = system->picture;
    double worst = 0.0, h = 10.0 / cells / 30.0;
    int field = 0;
    system->ops->draw(run->sim->system, pcs_at(run->sim->state.t, run->sim->state.q, run->sim->state.v), picture);
    while (strcmp(picture->field_names[field], "stress") != 0) field++;
    for (int i = 0; i < cells; i++) {
        double later = run->sim->state.t - i * h;
        double exact = later > 0.5 * h ? -30.0 * (of_end(later) - of_end(later - h)) / h : 0.0;
        worst = fmax(worst, fabs(picture->fields[field][i] - exact) / 60.0);
    }
    return worst;
}

// The work of what moves the end is the energy of the rod.
static void check_work(const text_case *run, double work, double tolerance)
{
    double energy = pcs_measure_energy(&run->sim->report.measure);
    CHECK_NEAR(work / energy, 1.0, tolerance);
}

static double run_with_work(text_case *run)
{
    double work = 0.0;
    while (!pcs_sim_is_done(run->sim)) {
        text_case_step(run);
        work += run->sim->report.external_work;
    }
    return work;
}

TEST(scheme_wave_sends_pulses_without_error)
{
    for (int i = 0; i < NMOTION; i++) {
        of_end = motions[i].exact;
        CHECK(fabs(of_end(0.0)) < 1e-16);
        text_case run = open_rod("wave", 90, 0.0, 0.3, joint_of(i));
        double work = run_with_work(&run), error = node_error(&run, from_end), stress = stress_error(&run, 90);
        CHECK(error < 1e-11);
        CHECK(stress < 1e-11);
        check_work(&run, work, 1e-11);
        text_case_close(&run);
    }
}

static const char *const schemes[] = { "newmark",
                                       "alpha_ggl",
                                       "moreau_jean, theta: 0.5",
                                       "hht",
                                       "alpha_velocity",
                                       "half_explicit",
                                       "half_explicit_rk",
                                       "half_explicit_rk, method: hem5",
                                       "moreau_midpoint",
                                       "schatzman_paoli",
                                       "alpha_index3",
                                       "moreau_jean, theta: 0.7" };
enum { NSCHEME = sizeof schemes / sizeof *schemes };

TEST(other_schemes_converge_to_the_pulse)
{
    for (int i = 0; i < NMOTION; i++)
        for (int s = i % 3; s < NSCHEME - 1; s += 3) { // the last one dissipates
            double error[2];
            of_end = motions[i].exact;
            for (int k = 0; k < 2; k++) {
                int cells = 60 << (2 * k);
                text_case run = open_rod(schemes[s], cells, 0.5 * 10.0 / cells / 30.0, 0.3, joint_of(i));
                double work = run_with_work(&run);
                error[k] = node_error(&run, from_end);
                check_work(&run, work, 0.1);
                text_case_close(&run);
            }
            double order = 0.5 * log2(error[0] / error[1]);
            CHECK(order > (motions[i].is_smooth ? 0.9 : 0.4));
        }
}

// x'' = -w^2 (x - s(t)) - a x' with s = 0.3 sin(2 t)^2.
static void shake(const void *nothing, double t, const double *y, double *rate)
{
    (void)nothing;
    rate[0] = y[1];
    rate[1] = -8.0 * (y[0] - 0.3 * sin(2.0 * t) * sin(2.0 * t)) - 0.5 * y[1];
}

// A mass on a spring whose other end is moved: schemes keep their orders, by the displacement and by its velocity.
TEST(schemes_keep_their_order_on_smooth_motions)
{
    const struct {
        const char *scheme;
        double order;
    } all[] = { { "half_explicit", 2.0 },
                { "half_explicit_rk, method: hem3", 3.0 },
                { "half_explicit_rk, method: hem4", 4.0 },
                { "half_explicit_rk, method: hem5", 5.0 },
                { "half_explicit_rk, method: herk2", 2.0 },
                { "moreau_midpoint", 1.0 }, // damping at the velocity of the start
                { "moreau_jean_explicit", 1.0 },
                { "schatzman_paoli", 1.0 },
                { "alpha_index3", 2.0 },
                { "newmark", 2.0 },
                { "alpha_ggl", 2.0 },
                { "moreau_jean, theta: 0.5", 2.0 } };
    const char *const motions_of[] = { "displacement: { expression: 0.3*sin(2*t)^2 }",
                                       "velocity: { sine: { frequency: 0.6366197723675814, size: 0.6 } }",
                                       "velocity: { expression: 0.6*sin(4*t) }" };
    double exact[2] = { 0 };
    ode_solve(shake, NULL, 2, 0.0, 1.0, 4000, exact);
    for (size_t s = 0; s < sizeof all / sizeof *all; s++)
        for (int m = 0; m < 3; m++) {
            double error[2];
            for (int k = 0; k < 2; k++) {
                double q[3];
                text_case run = text_case_print(
                    "mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 1 } }\n"
                    "elements: { bar: { type: rod, mesh: bar, E: 4.0, rho: 1.0, area: 2.0, mass: lumped } }\n"
                    "damping: { mass: 0.5 }\nscheme: { type: %s }\n"
                    "time: { step: %.17g, end: 1.0 }\n"
                    "joints: { push: { type: prescribed, node: bar.start, along: x, %s } }\n",
                    all[s].scheme, 1.0 / (32 << k), motions_of[m]);
                text_case_run(&run);
                text_case_vector(run.sim->system, 1, run.sim->state.q, q);
                error[k] = fabs(q[0] - exact[0]);
                text_case_close(&run);
            }
            double order = log2(error[0] / error[1]);
            CHECK(order > all[s].order - 0.2);
        }
}

// After a jump of the velocity the end of the rod comes back to where it belongs, whatever part of a step the jump
// falls on, and with the velocity that is given; schemes whose stages or laws know positions never leave it.
TEST(ends_are_where_they_belong)
{
    for (int s = 0; s < NSCHEME; s++)
        for (int part = 0; part < 4; part++) {
            char more[512];
            double h = 1.0 / 512.0, worst = 0.0, q[3], v[3], at = 8.0 * h + part * h / 3.0;
            snprintf(more, sizeof more,
                     "joints: { push: { type: prescribed, node: bar.start, along: x, velocity: { pulse: { shape: "
                     "rectangle, start: %.17g, duration: 1, size: 2.0 } } } }\n",
                     at);
            text_case run = open_rod(schemes[s], 80, h, 64.0 * h, more);
            bool is_exact = strstr(schemes[s], "explicit") != NULL || strstr(schemes[s], "paoli") != NULL ||
                            strstr(schemes[s], "ggl") != NULL || strstr(schemes[s], "index3") != NULL;
            while (!pcs_sim_is_done(run.sim)) {
                text_case_step(&run);
                text_case_vector(run.sim->system, 0, run.sim->state.q, q);
                worst = fmax(worst, fabs(q[0] - 2.0 * fmax(run.sim->state.t - at, 0.0)));
            }
            text_case_vector(run.sim->system, 0, run.sim->state.v, v);
            double left = fabs(q[0] - 2.0 * (64.0 * h - at));
            CHECK(worst < (is_exact ? 1e-14 : 2.0 * h));
            // Where accelerations move positions by themselves, ringing of the mesh does so, too.
            bool rings = strstr(schemes[s], "hht") != NULL || strstr(schemes[s], "alpha_velocity") != NULL;
            CHECK(left < (rings ? 1e-4 * h : 1e-13));
            if (strstr(schemes[s], "index3") == NULL) CHECK(fabs(v[0] - 2.0) < (rings ? 1e-5 : 1e-10));
            text_case_close(&run);
        }
}

// Rows of a file are those of the table to the last bit, for motions and for forces.
TEST(files_are_tables)
{
    char path[] = TESTS_OUTPUT_FOLDER "/pulse_XXXXXX";
    int handle = mkstemp(path);
    FILE *file = handle < 0 ? NULL : fdopen(handle, "w");
    assert_non_null(file);
    fprintf(file, "t, value\n0.0, 0.0\n0.0123456789, 0.3\n0.05, -0.7\n0.1, 0.123456789012345\n");
    fclose(file);
    const char *const table = "table: [[0.0, 0.0], [0.0123456789, 0.3], [0.05, -0.7], [0.1, 0.123456789012345]]";
    const char *const forms[] = {
        "joints: { push: { type: prescribed, node: bar.start, along: x, velocity: { %s%s } } }\n",
        "joints: { push: { type: prescribed, node: bar.start, along: x, displacement: { %s%s } } }\n",
        "joints: { push: { type: prescribed, node: bar.start, along: x, %s%s } }\n",
        "loads: { push: { type: force, node: bar.start, value: [3, 0, 0], amplitude: { %s%s } } }\n",
    };
    for (int i = 0; i < 4; i++)
        for (int s = 0; s < 3; s++) {
            static const char *const few[] = { "wave", "newmark", "moreau_jean, theta: 0.5" };
            unsigned long long hash[2];
            for (int k = 0; k < 2; k++) {
                char more[1024];
                snprintf(more, sizeof more, forms[i], k == 0 ? table : "csv: ", k == 0 ? "" : path);
                text_case run = open_rod(few[s], 25, s == 0 ? 0.0 : 0.01, 0.2, more);
                text_case_run(&run);
                hash[k] = pcs_state_hash(&run.sim->state);
                CHECK(pcs_measure_energy(&run.sim->report.measure) > 1e-6);
                text_case_close(&run);
            }
            CHECK(hash[0] == hash[1]);
        }
    unlink(path);
}

TEST(wrong_motions_are_told)
{
    const struct {
        const char *motion, *reported;
    } bad[] = {
        { "velocity: { expression: t + }", "joints.push.velocity.expression: in 't +'" },
        { "velocity: { expression: sqrt(0.05 - t) - sqrt(0.05) }",
          "joints.push.velocity has no finite integral from t = 0.05 s on" },
        { "velocity: { expression: 1/t }", "joints.push.velocity.expression must be a finite number at t = 0, is inf" },
        { "displacement: { pulse: { shape: rectangle, duration: 1 } }", "a displacement cannot jump" },
        { "velocity: { table: [[0, 0], [1, 1]] }, speed: 1", "only one motion is allowed" },
        { "velocity: { table: [[0, 0], [1, 1]] }, displacement: { table: [[0, 0]] }", "only one motion is allowed" },
        { "velocity: { table: [[0, 0], [1, 1]] }, rise: 1", "'rise' cannot be given" },
        { "velocity: { tabel: [[0, 0], [1, 1]] }", "unknown key 'tabel'" },
        { "velocity: { csv: none.csv }", "joints.push.velocity.csv: cannot open the table 'none.csv'" },
        { "velocity: { pulse: { shape: rectangle, duration: -1 } }", "velocity.pulse.duration must be > 0, is -1" },
        { "velocity: 3", "must be a map" },
        { "velocity: { table: [[0, 1]] }", "the initial velocities do not fit joint 'push'" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_refusal("joints: { push: { type: prescribed, node: bar.start, along: x, ", bad[i].motion, " } }",
                      bad[i].reported);
}
