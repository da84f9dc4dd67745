// Motions that nothing resists, by name: free, pinned, hinged, jointed, spring-held and mechanism models.

#include "support/check.h"
#include "support/still.h"

#include "fe/rigid.h"

#include <math.h>
#include <string.h>

#define BEAM_2D \
    "type: beam_timo_2d, E: 2.1e11, nu: 0.3, rho: 7800.0, section: { type: rectangle, width: 0.01, height: 0.02 }"
#define BEAM_3D                                                                                \
    "type: beam_timo_3d, E: 2.1e11, nu: 0.3, rho: 7800.0, section: { type: rectangle, width: " \
    "0.01, height: 0.02 }, orientation: [0, 0, 1]"

static const char plane[] = "mesh: { beam: { type: line, from: [1, 1, 0], to: [3, 1, 0], elements: 5 } }\n"
                            "elements: { beam: { mesh: beam, " BEAM_2D " } }\n";
static const char space[] = "mesh: { beam: { type: line, from: [0, 0, 0], to: [1, 2, 0], elements: 5 } }\n"
                            "elements: { beam: { mesh: beam, " BEAM_3D " } }\n";
static const char two[] = "mesh:\n"
                          "  a: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 3 }\n"
                          "  b: { type: line, from: [1, 0, 0], to: [2, 0, 0], elements: 3 }\n"
                          "elements: { left: { mesh: a, " BEAM_2D " }, right: { mesh: b, " BEAM_2D " } }\n";

// The names, joined, and every motion is free of force and holds its joints.
static void check_free(const char *text, const char *assignments, int count, const char *names)
{
    still s = still_open(text, assignments);
    pcs_rigid rigid;
    char all[2048];
    double force[512];
    const pcs_system *system = s.on.system;
    CHECK_OK(s.ctx, pcs_rigid_find(system, NULL, &rigid));
    pcs_rigid_text(&rigid, sizeof all, all);
    CHECK_TEXT(all, names);
    CHECK(strlen(all) == strlen(names));
    CHECK(rigid.count == count && system->nv <= 512);
    for (int k = 0; k < rigid.count; k++) {
        const double *x = rigid.vector + k * system->nv;
        double size = 0.0;
        for (int i = 0; i < system->nv; i++) size = fmax(size, fabs(x[i]));
        CHECK(size > 0.01);
        pcs_matrix_multiply(system->K, x, force);
        for (int i = 0; i < system->nv; i++) CHECK_NEAR(force[i], 0.0, 1e-13 * pcs_matrix_abs_bound(system->K, x));
        for (int j = 0; j < system->nrow; j++)
            if (system->rows[j].is_bilateral) CHECK_NEAR(pcs_rows_dot(system->G, j, x), 0.0, 1e-13);
    }
    still_close(&s);
}

TEST(supports_leave_what_they_leave)
{
    check_free(plane, "supports.a={set: beam.start, fix: [x, y, rz]}", 0, "");
    check_free(plane, "supports.a={set: beam.start, fix: [x, y]}", 1, "rotation about z through (1, 1, 0)");
    check_free(plane, "supports.a={set: beam.start, fix: [y]}", 2,
               "translation along x; rotation about z through (1, 1, 0)");
    check_free(plane, "supports.a={set: beam.start, fix: [rz]}", 2, "translation along x; translation along y");
    // A line that is straight but for the last digit.
    check_free(plane, "mesh.beam.to=[3, 1.0000000000000002, 0]; supports.a={set: beam.start, fix: [x, y]}", 1,
               "rotation about z through (1, 1, 0)");
    // Rollers at both ends: what is left is the way along.
    check_free(plane, "supports.a={set: beam.start, fix: [y]}; supports.b={set: beam.end, fix: [y]}", 1,
               "translation along x");
    check_free(
        space, "supports.a={set: beam.end, fix: [x, y, z]}", 3,
        "rotation about x through (1, 2, 0); rotation about y through (1, 2, 0); rotation about z through (1, 2, "
        "0)");
    // Pinned at both ends it spins about its own skew axis.
    check_free(space, "supports.a={set: beam.start, fix: [x, y, z]}; supports.b={set: beam.end, fix: [x, y, z]}", 1,
               "rotation about [0.4472, 0.8944, 0] through (0.5, 1, 0)");
}

// A corner of rods: the foot cannot follow a way across itself, so there is no rigid motion, though nothing is stiff.
TEST(a_motion_must_be_possible_everywhere)
{
    check_free(
        "mesh: { a: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 2 }, b: { type: line, from: [1, 0, 0], to: "
        "[1, 1, 0], elements: 2 } }\n"
        "merge: { corner: { sets: [a.end, b.start] } }\n"
        "elements: { a: { mesh: a, type: rod, E: 1.0, rho: 1.0, area: 1.0 }, b: { mesh: b, type: rod, E: 1.0, rho: "
        "1.0, area: 1.0 } }\n",
        NULL, 0, "");
}

TEST(parts_are_told_apart)
{
    check_free(
        two, "supports.a={set: a.start, fix: [x, y, rz]}", 3,
        "translation along x of part 'right'; translation along y of part 'right'; rotation about z through (1.5, 0, "
        "0) of part 'right'");
    check_free(two, "supports.a={set: a.start, fix: [x, y, rz]}; joints.h={type: hinge, a: a.end, b: b.start}", 1,
               "rotation about z through (1, 0, 0) of part 'right'");
    check_free(two, "joints.g={type: hinge, node: a.start}; joints.h={type: fixed, a: a.end, b: b.start}", 1,
               "rotation about z through (0, 0, 0)");
}

TEST(springs_hold_however_soft)
{
    // A spring of 1e-3 N/m beside a beam of 1e8 N/m holds the end along y.
    check_free(
        plane,
        "mesh.soft={type: point, at: [1, 1, 0]}; merge.one={sets: [soft, beam.start]}; "
        "elements.soft={type: mount, mesh: soft, stiffness: [0.0, 1.0e-3, 0.0]}; supports.a={set: beam.end, fix: "
        "[x, y]}",
        0, "");
}
