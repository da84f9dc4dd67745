// Scheme `wave` on bars whose sections vary and on beams in space.

#include "support/check.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 8000, TEXT = 4096 };

static double total(const pcs_sim *sim)
{
    return sim->ledger.now.kinetic + sim->ledger.now.strain + sim->ledger.now.potential;
}

// Impulses of all steps; the energy stays.
static int finish(text_case *run, double tolerance, double *impulse)
{
    CHECK_OK(run->ctx, pcs_sim_start(run->sim));
    double energy = total(run->sim);
    int count = 0;
    for (; !pcs_sim_is_done(run->sim); count++) {
        CHECK(count < MOST);
        text_case_step(run);
        impulse[count] = run->sim->report.rows[0].step_impulse;
    }
    CHECK_RELATIVE(total(run->sim), energy, tolerance);
    text_case_close(run);
    return count;
}

// A bar of length 10, c = 30, that hits a wall at 10 m/s; impulses of the steps, and their number.
static int impulses(const char *mesh, const char *elements, double *impulse)
{
    text_case run = text_case_open(mesh, elements,
                                   "contacts: { wall: { type: node_plane, nodes: a.start, point: [0, 0, 0], normal: "
                                   "[1, 0, 0], restitution: 0.0 } }\n"
                                   "scheme: { type: wave }\ntime: { step: auto, end: 2.0 }\n",
                                   NULL);
    return finish(&run, 1e-12, impulse);
}

static int tapered(const char *area, int cells, double *impulse)
{
    char mesh[160], elements[200];
    snprintf(mesh, sizeof mesh, "mesh: { a: { type: line, from: [0, 0, 0], to: [10, 0, 0], elements: %d } }\n", cells);
    snprintf(elements, sizeof elements,
             "elements: { a: { type: rod, mesh: a, E: 900.0, rho: 1.0, area: %s } }\n"
             "initial: [ { set: a, velocity: [-10, 0, 0] } ]\n",
             area);
    return impulses(mesh, elements, impulse);
}

// Sums over `pair` steps of a coarser mesh against those of a finer one, with `share` times as many, relative L1.
static double distance_of(int count, const double *coarse, int share, const double *fine, int pair)
{
    double off = 0.0, size = 0.0;
    for (int i = 0; i + pair <= count; i += pair) {
        double sum = 0.0, own = 0.0;
        for (int j = 0; j < share * pair; j++) sum += fine[i * share + j];
        for (int j = 0; j < pair; j++) own += coarse[i + j];
        off += fabs(own - sum);
        size += fabs(sum);
    }
    return off / size;
}

static double distance(int count, const double *coarse, int share, const double *fine)
{
    return distance_of(count, coarse, share, fine, 1);
}

// A step between cells is exact at any number of them, and the same as two parts that share a node.
TEST(steps_of_area_are_exact)
{
    static double coarse[MOST], fine[MOST], parts[MOST];
    int count = tapered("{ steps: [[0, 1.0], [4, 2.5]] }", 50, coarse);
    CHECK(tapered("{ steps: [[0, 1.0], [4, 2.5]] }", 400, fine) == 8 * count);
    CHECK(distance(count, coarse, 8, fine) < 1e-12);
    int again = impulses("mesh:\n  a: { type: line, from: [0, 0, 0], to: [4, 0, 0], elements: 20 }\n"
                         "  b: { type: line, from: [4, 0, 0], to: [10, 0, 0], elements: 30 }\n"
                         "merge: { ab: { sets: [a.end, b.start] } }\n",
                         "elements:\n  a: { type: rod, mesh: a, E: 900.0, rho: 1.0, area: 1.0 }\n"
                         "  b: { type: rod, mesh: b, E: 900.0, rho: 1.0, area: 2.5 }\n"
                         "initial: [ { set: a, velocity: [-10, 0, 0] }, { set: b.rest, velocity: [-10, 0, 0] } ]\n",
                         parts);
    CHECK(again == count && distance(count, coarse, 1, parts) < 1e-12);
    // The first wave finds Z = 30, the one behind it (Z2 - Z1)/(Z2 + Z1) of its own.
    double h = 10.0 / 50.0 / 30.0;
    CHECK_RELATIVE(coarse[2] / h, 300.0, 1e-12);
    CHECK_RELATIVE(coarse[45] / h, 300.0 * (1.0 + 2.0 * 1.5 / 3.5), 1e-12);
}

// A taper is a staircase of impedances, whose waves come back every second step: forces over two steps are of second
// order. Energy is kept whatever the mesh.
TEST(tapers_are_of_second_order)
{
    static double finest[MOST], coarse[MOST];
    double error[3];
    tapered("{ from: 1.0, to: 3.0 }", 1280, finest);
    for (int k = 0; k < 3; k++) {
        int count = tapered("{ from: 1.0, to: 3.0 }", 40 << k, coarse);
        error[k] = distance_of(count - 1, coarse, 32 >> k, finest, 2);
    }
    print_message("taper: force %.2e %.2e %.2e\n", error[0], error[1], error[2]);
    CHECK(error[2] < 2e-5);
    CHECK(0.5 * log2(error[0] / error[2]) > 1.8 && error[1] < error[0]);
}

// The end of a beam meets a stop across, or along; impulses of the steps.
static int beam(const char *element, const char *frame, const char *waves, double *impulse)
{
    text_case run = text_case_open(
        "mesh: { beam: { type: line, from: [0, 0, 0], to: ", frame, ", elements: 60 } }\n",
        "elements: { beam: { mesh: beam, E: 900.0, nu: 0.3, rho: 1.0, section: { type: rectangle, width: "
        "0.5773502691896258, height: { from: 1.7320508075688772, to: 1.2 } }, type: ",
        element,
        " } }\ncontacts: { stop: { type: node_plane, nodes: beam.start, restitution: 0.0, point: [0, 0, 0], normal: ",
        waves, "time: { end: 0.8, step: auto }\n", NULL);
    return finish(&run, 1e-11, impulse);
}

// A beam in space does what the plane one does, in either plane and however it lies.
TEST(beams_in_space_carry_the_same_waves)
{
    static double plane[MOST], space[MOST];
    static const char across[] = "[0, 1, 0] } }\ninitial: [ { set: beam, velocity: [0, -10, 0] } ]\n"
                                 "scheme: { type: wave }\n";
    static const char up[] = "[0, 0, 1] } }\ninitial: [ { set: beam, velocity: [0, 0, -10] } ]\n"
                             "scheme: { type: wave }\n";
    static const char along[] = "[1, 0, 0] } }\ninitial: [ { set: beam, velocity: [-10, 0, 0] } ]\n"
                                "scheme: { type: wave, waves: axial }\n";
    static const char tilted[] = "[0, -0.8, 0.6] } }\ninitial: [ { set: beam, velocity: [0, 8, -6] } ]\n"
                                 "scheme: { type: wave }\n";
    int count = beam("beam_timo_2d", "[10, 0, 0]", across, plane);
    CHECK(beam("beam_timo_3d, orientation: [0, 1, 0]", "[10, 0, 0]", across, space) == count);
    CHECK(distance(count, space, 1, plane) < 1e-11);
    CHECK(beam("beam_timo_3d, orientation: [0, 0, 1]", "[10, 0, 0]", up, space) == count);
    CHECK(distance(count, space, 1, plane) < 1e-11);
    CHECK(beam("beam_timo_3d, orientation: [0, -4, 3]", "[10, 0, 0]", tilted, space) == count);
    CHECK(distance(count, space, 1, plane) < 1e-11);
    count = beam("beam_timo_2d", "[10, 0, 0]", along, plane);
    CHECK(beam("beam_timo_3d, orientation: [0, 1, 0]", "[10, 0, 0]", along, space) == count);
    CHECK(distance(count, space, 1, plane) < 1e-11);
}
