// What a run with joints writes: columns of misfit and reactions, and the largest of them in the summary.

#include "support/check.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char folder[] = TESTS_OUTPUT_FOLDER "/joint_output";

static char *read_all(const char *name)
{
    static char text[1 << 18];
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t size = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[size] = '\0';
    return text;
}

// Place of a column in the header line; fails the test when it is not there.
static int column_of(const char *text, const char *name)
{
    int column = 0;
    size_t length = strlen(name);
    for (const char *p = text; *p != '\n'; p += strcspn(p, ",\n") + (p[strcspn(p, ",\n")] == ','), column++)
        if (strncmp(p, name, length) == 0 && (p[length] == ',' || p[length] == '\n')) return column;
    fail_msg("no column '%s'", name);
    return -1;
}

static double field(const char *line, int column)
{
    for (int i = 0; i < column; i++) line += strcspn(line, ",") + 1;
    return *line == ',' || *line == '\n' ? NAN : strtod(line, NULL);
}

static const char *line_of(const char *text, int number)
{
    for (int i = 0; i < number; i++) text = strchr(text, '\n') + 1;
    return text;
}

static const char model[] =
    "mesh: { one: { type: point, at: [0.5, 0, 0] }, bar: { type: line, from: [1, 0, 0], to: [2, 0, 0], elements: 4 } "
    "}\n"
    "elements: { one: { type: rigid_body_2d, mesh: one, mass: 2, inertia: 0.1 },\n"
    "            bar: { type: beam_timo_2d, mesh: bar, E: 1.0e+9, nu: 0.3, rho: 1000,\n"
    "                   section: { type: rectangle, width: 0.02, height: 0.03 } } }\n"
    "supports: { wall: { set: bar.end, fix: [x, y, rz], reactions: true }, quiet: { set: bar.start, fix: [x] } }\n"
    "joints: { pivot: { type: hinge, node: one, at: [0, 0, 0] } }\n"
    "contacts: { floor: { type: node_plane, nodes: one, point: [0, -0.3, 0], normal: [0, 1, 0], restitution: 0.5 } }\n"
    "loads: { weight: { type: gravity, g: [0, -9.81, 0] } }\n"
    "time: { step: 1.0e-2, end: 0.1 }\noutput: { frames: false }\n";

TEST(reactions_are_written)
{
    text_case c = text_case_open(model, "scheme: { type: alpha_ggl }\n", NULL);
    CHECK_OK(c.ctx, pcs_sim_run(c.sim, folder, false));
    const char *text = read_all("history.csv");
    const char *const names[] = { "pivot.gap", "pivot.fx", "pivot.fy", "wall.fx", "wall.fy", "wall.mz" };
    const char *last = line_of(text, 11);
    const pcs_reaction *pivot = &c.sim->reactions[0], *wall = &c.sim->reactions[1];
    const double expected[] = {
        0.0, pivot->force[0], pivot->force[1], wall->force[0], wall->force[1], wall->moment[2]
    };
    for (int k = 0; k < 6; k++) CHECK_NEAR(field(last, column_of(text, names[k])), expected[k], 1e-12);
    CHECK(fabs(pivot->force[1]) > 1.0 && fabs(wall->moment[2]) > 0.1);
    // A joint carries a force at the start, a support has no step yet.
    const char *first = line_of(text, 1);
    CHECK_NEAR(field(first, column_of(text, "pivot.fy")), 2.0 * 9.81 * 0.1 / 0.6, 1e-12);
    CHECK(isnan(field(first, column_of(text, "wall.fy"))));
    // Contacts are what they were: joints are none of them.
    CHECK_NEAR(field(first, column_of(text, "min_gap")), 0.3, 1e-15);
    CHECK(field(first, column_of(text, "active")) == 0.0);
    column_of(text, "floor.gap_rate");
    CHECK(strstr(text, "pivot.gap_rate") == NULL && strstr(text, "pivot.mz") == NULL && strstr(text, "quiet") == NULL);
    text_case_close(&c);
}

TEST(summary_tells_the_largest)
{
    text_case c = text_case_open(model, "scheme: { type: moreau_jean, theta: 0.5 }\n", NULL);
    double force = 0.0, gap_error = 0.0;
    CHECK_OK(c.ctx, pcs_sim_run(c.sim, folder, false));
    char *text = read_all("history.csv");
    for (int i = 2; i <= 11; i++) {
        const char *line = line_of(text, i);
        force = fmax(force, hypot(field(line, column_of(text, "pivot.fx")), field(line, column_of(text, "pivot.fy"))));
        gap_error = fmax(gap_error, field(line, column_of(text, "pivot.gap")));
    }
    CHECK(gap_error > 1e-6);
    text = read_all("summary.json");
    CHECK_TEXT(text, "\"joint_rows\": 2");
    CHECK_TEXT(text, "\"contact_points\": 1");
    const char *joints = strstr(text, "\"joints\": ["), *supports = strstr(text, "\"supports\": [");
    assert_non_null(joints);
    assert_non_null(supports);
    CHECK_NEAR(strtod(strstr(joints, "\"largest_error\": ") + 17, NULL), gap_error, 1e-15);
    CHECK_NEAR(strtod(strstr(joints, "\"peak_force\": ") + 14, NULL), force, 1e-12);
    CHECK(strtod(strstr(supports, "\"peak_moment\": ") + 15, NULL) > 0.1);
    text = read_all("summary.txt");
    CHECK_TEXT(text, "1 contact point, 2 conditions of joints");
    CHECK_TEXT(text, "Reactions");
    CHECK_TEXT(text, "\n  pivot ");
    CHECK_TEXT(text, "\n  wall ");
    text_case_close(&c);
}

// Two motors drive a bar, one of them shakes it against a wall: without loads their work is all the external work, and
// what the wall does is what the impacts took.
TEST(work_of_joints_is_that_of_what_drives_them)
{
    static const char *const schemes[] = { "scheme: { type: moreau_jean, theta: 0.5 }\n",
                                           "scheme: { type: moreau_jean, theta: 0.8 }\n",
                                           "scheme: { type: alpha_ggl, rho_inf: 0.8 }\n", "scheme: { type: newmark }\n",
                                           "scheme: { type: hht }\n" };
    for (size_t s = 0; s < sizeof schemes / sizeof *schemes; s++) {
        text_case c = text_case_open(
            "mesh: { bar: { type: line, from: [1, 0, 0], to: [2, 0, 0], elements: 10 },\n"
            "        rod: { type: line, from: [3, 0, 0], to: [4, 0, 0], elements: 5 } }\n"
            "elements: { bar: { type: rod, mesh: bar, E: 900, rho: 1, area: 1 },\n"
            "            rod: { type: rod, mesh: rod, E: 900, rho: 1, area: 1 } }\n"
            "joints: { motor: { type: prescribed, node: bar.end, along: x, amplitude: 0.05, frequency: 3, rise: 0.2 "
            "},\n"
            "          other: { type: prescribed, node: rod.end, along: x, amplitude: 0.02, frequency: 5, rise: 0.1 } "
            "}\n"
            "contacts: { wall: { type: node_plane, nodes: bar.start, point: [0.97, 0, 0], normal: [1, 0, 0],\n"
            "                    restitution: 0 } }\n"
            "time: { step: 1.0e-3, end: 0.5 }\n",
            schemes[s], NULL);
        CHECK_OK(c.ctx, pcs_sim_run(c.sim, folder, false));
        const char *text = read_all("summary.json"), *p = strstr(text, "\"joints\": [");
        double work[2];
        for (int k = 0; k < 2; k++) {
            p = strstr(p, "\"work\": ") + 8;
            work[k] = strtod(p, NULL);
        }
        const pcs_ledger *l = &c.sim->ledger;
        CHECK(work[0] > 0.1 && work[1] > 1e-4);
        CHECK_NEAR(work[0] + work[1], l->external_work, 1e-11 * l->external_work);
        CHECK_NEAR(strtod(strstr(text, "\"work\": ") + 8, NULL), -l->impact_loss, 1e-11 * l->external_work);
        text_case_close(&c);
    }
}

// Reactions that are means over a step turn with it: the force of a rod on a pendulum is what changes its momentum, of
// schemes that act within a step as far as its direction may be that of the middle.
TEST(mean_reactions_have_the_direction_of_the_middle)
{
    const char *const schemes[] = { "event_driven", "mannshardt", "splitting, contact_forces: true", "moreau_midpoint",
                                    "ggl_midpoint, metric: mass" };
    const double h = 0.02, mass = 2.0, gravity = 9.81;
    for (int s = 0; s < 5; s++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "mesh: { bob: { type: point, at: [0, -1, 0] } }\n"
                 "elements: { bob: { type: point_mass, mesh: bob, mass: 2, in: plane } }\n"
                 "joints: { rod: { type: distance, node: bob, anchor: [0, 0, 0] } }\n"
                 "loads: { weight: { type: gravity, g: [0, -9.81, 0] } }\n"
                 "initial: [{ set: bob, velocity: [3, 0, 0] }]\n"
                 "scheme: { type: %s }\ntime: { step: 0.02, end: 0.4 }\n",
                 schemes[s]);
        text_case c = text_case_open(text, NULL);
        double before[2] = { 3.0, 0.0 };
        for (int n = 0; n < 20; n++) {
            text_case_step(&c);
            const double *v = c.sim->state.v, *force = c.sim->reactions[0].force;
            double size = hypot(force[0], force[1]);
            CHECK_NEAR(force[0], mass * (v[0] - before[0]) / h, 2e-3 * size);
            CHECK_NEAR(force[1], mass * (v[1] - before[1]) / h + mass * gravity, 2e-3 * size);
            memcpy(before, v, sizeof before);
        }
        text_case_close(&c);
    }
}
