// Scheme `wave` with several bodies, masses and springs at ends, joints, damping: Saint-Venant's mass on a rod, the
// pulses of a Hopkinson bar, a mass with restitution, cells cut by travel time.

#include "support/check.h"
#include "support/text_case.h"

#include "build/build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 4096 };

// --- Saint-Venant ----------------------------------------------------------------------------------------------------
//
// A mass m_b meets the free end of a bar of mass m, clamped at the other. With the outgoing and incoming velocity waves
// o and i at the end, T = 2 L/c and Z = m/(L/c):
//
//   velocity of the end o + i,   force Z (o - i),   i(t) = -o(t - T)
//   touching:  o = v - i,  m_b v' = -Z (v - 2 i);     apart:  o = i,  v' = 0
//
// Marched in short steps, i taken linear and v' integrated exactly in each. L = c = Z = v0 = 1: T = 2, m = 1.
enum { PARTS = 40000, TRIPS = 6, SAMPLES = PARTS * TRIPS + 1 };

typedef struct venant {
    double out[SAMPLES];     // o
    double impulse[SAMPLES]; // of the contact so far
    int ncontact;
    double begin[8], end[8];
} venant;

static double venant_in(const venant *s, int i)
{
    return i >= PARTS ? -s->out[i - PARTS] : 0.0;
}

static void venant_solve(double mass, venant *s)
{
    double d = 2.0 / PARTS, v = 1.0, apart = 0.0, force = 1.0;
    bool touches = true;
    *s = (venant){ .ncontact = 1 };
    s->out[0] = 1.0;
    for (int i = 1; i < SAMPLES; i++) {
        double in0 = venant_in(s, i - 1), in = venant_in(s, i);
        if (i == PARTS) in0 = in = 0.0; // the front comes after this step
        if (i == PARTS + 1) in0 = -s->out[0];
        s->impulse[i] = s->impulse[i - 1];
        if (touches) {
            double k = d / mass, e = exp(-k), mean = in0 + in, before = v;
            v = e * v + (1.0 - e) * mean; // i at its mean over the step
            force = v - 2.0 * in;
            s->impulse[i] += mass * (before - v);
            s->out[i] = v - in;
            if (force >= 0.0) continue;
            touches = false;
            apart = 0.0;
            s->end[s->ncontact - 1] = i * d;
            s->out[i] = in;
        } else {
            s->out[i] = in;
            apart += d * (in0 + in - v); // of the end from the mass
            if (apart >= 0.0 || s->ncontact == 8) continue;
            touches = true;
            s->begin[s->ncontact++] = i * d;
            s->out[i] = v - in;
        }
    }
    if (touches) s->end[s->ncontact - 1] = TRIPS * 2.0;
}

static text_case venant_open(double mass, int cells)
{
    char text[TEXT];
    snprintf(text, sizeof text,
             "mesh:\n"
             "  bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: %d }\n"
             "  ball: { type: point, at: [0, 0, 0] }\n"
             "elements:\n"
             "  bar: { type: rod, mesh: bar, E: 1.0, rho: 1.0, area: 1.0 }\n"
             "  ball: { type: point_mass, mesh: ball, mass: %.17g }\n"
             "supports: { clamp: { set: bar.end, fix: [x] }, guide: { set: ball, fix: [y, z] } }\n"
             "initial: [ { set: ball, velocity: [1, 0, 0] } ]\n"
             "contacts: { hit: { type: node_node, a: ball, b: bar.start, normal: [1, 0, 0], restitution: 0.0 } }\n"
             "scheme: { type: wave }\n"
             "time: { step: auto, end: 12.0 }\n",
             cells, mass);
    return text_case_open(text, NULL);
}

// Relative L1 error of the force over all contacts, and the largest error of their ends.
static void venant_measure(const venant *exact, double mass, int cells, double *force, double *time)
{
    text_case run = venant_open(mass, cells);
    double off = 0.0, size = 0.0, h = run.sim->step_size;
    int n = 0, per = PARTS / (2 * cells), opened = 0;
    bool was = false;
    *time = 0.0;
    for (int step = 1; !pcs_sim_is_done(run.sim); step++) {
        text_case_step(&run);
        double impulse = run.sim->report.rows[0].step_impulse;
        double wanted = exact->impulse[step * per] - exact->impulse[(step - 1) * per];
        off += fabs(impulse - wanted);
        size += wanted;
        bool is = impulse > 0.0;
        if (is && !was && n < exact->ncontact) *time = fmax(*time, fabs((step - 1) * h - exact->begin[n]));
        n += is && !was;
        if (!is && was && opened < exact->ncontact) *time = fmax(*time, fabs((step - 1) * h - exact->end[opened]));
        opened += !is && was;
        was = is;
    }
    *force = off / size;
    CHECK(n == exact->ncontact);
    text_case_close(&run);
}

TEST(saint_venants_mass_on_a_rod)
{
    static venant exact;
    const double masses[] = { 0.25, 1.0, 4.0 };
    // Durations of the first contact in L/c, as Timoshenko and Goldier tell them.
    venant_solve(1.0, &exact);
    CHECK_NEAR(exact.end[0], 3.068, 1e-3);
    venant_solve(2.0, &exact);
    CHECK_NEAR(exact.end[0], 4.708, 1e-3);
    venant_solve(4.0, &exact);
    CHECK_NEAR(exact.end[0], 5.900, 1e-3);
    for (size_t i = 0; i < sizeof masses / sizeof *masses; i++) {
        double force[3], time[3];
        venant_solve(masses[i], &exact);
        for (int k = 0; k < 3; k++) venant_measure(&exact, masses[i], 50 << k, &force[k], &time[k]);
        print_message(
            "mass ratio %g: %d contacts, the first lasts %.4f L/c; force %.2e %.2e %.2e, times %.4f %.4f %.4f\n",
            masses[i], exact.ncontact, exact.end[0], force[0], force[1], force[2], time[0], time[1], time[2]);
        for (int k = 0; k < 3; k++) {
            CHECK(force[k] < 0.6 / (50 << k)); // first order: ends of contacts fall between steps
            CHECK(time[k] <= 2.0 / (50 << k));
        }
    }
}

// --- Hopkinson -------------------------------------------------------------------------------------------------------

// What is transmitted of a unit front after round trips in the specimen; Z and z: impedances of bar and specimen.
static double hopkinson_sum(double Z, double z, double trips)
{
    double r = (Z - z) / (Z + z), in = 2.0 * z / (Z + z), out = 2.0 * Z / (Z + z), sum = 0.0;
    for (int k = 0; k <= trips; k++) sum += in * out * pow(r, 2.0 * k);
    return trips < 0.0 ? 0.0 : sum;
}

// Reflected of a unit front, likewise: (z - Z)/(Z + z) at once, what comes out again after each round trip.
static double hopkinson_back(double Z, double z, double trips)
{
    double r = (Z - z) / (Z + z), in = 2.0 * z / (Z + z), out = 2.0 * Z / (Z + z), sum = -r;
    for (int k = 1; k <= trips; k++) sum += in * r * out * pow(r, 2.0 * (k - 1));
    return trips < 0.0 ? 0.0 : sum;
}

TEST_WITH_CONTEXT(hopkinson_pulses_are_exact)
{
    // Steps of 1 us: pulse of 2 x 60, gauges in the middle of cell 200 of 400 and cell 100 of 300, specimen of 4 cells.
    enum { PULSE = 120, GAUGE = 200, FRONT = 400, SPECIMEN = 4, BEHIND = 100 };
    pcs_context *ctx = *state;
    pcs_sim *sim = NULL;
    CHECK_OK(ctx, pcs_build_sim_from(ctx, "cases/hopkinson", 0, NULL, &sim));
    CHECK_OK(ctx, pcs_sim_start(sim));
    CHECK(sim->nstep == 700);
    const double area = 3.141592653589793e-4, Z = 8000.0 * 5000.0 * area, z = 1280.0 * 2500.0 * area / 4.0;
    const double size = 0.5 * Z * 10.0;
    double off[2] = { 0.0 };
    for (int step = 1; !pcs_sim_is_done(sim); step++) {
        CHECK_OK(ctx, pcs_sim_step(sim));
        // The end of step s is at the end of cell s: a front has passed a cell when it has left it.
        double incident = (step > GAUGE) - (step > GAUGE + PULSE);
        double first = floor((step - (2.0 * FRONT - GAUGE)) / (2.0 * SPECIMEN)), last;
        last = floor((step - PULSE - (2.0 * FRONT - GAUGE)) / (2.0 * SPECIMEN));
        incident += hopkinson_back(Z, z, first) - hopkinson_back(Z, z, last);
        first = floor((step - (FRONT + SPECIMEN + BEHIND + 1.0)) / (2.0 * SPECIMEN));
        last = floor((step - PULSE - (FRONT + SPECIMEN + BEHIND + 1.0)) / (2.0 * SPECIMEN));
        double transmitted = hopkinson_sum(Z, z, first) - hopkinson_sum(Z, z, last);
        const double exact[2] = { -size * incident, -size * transmitted };
        for (int k = 0; k < 2; k++) {
            const pcs_probe *probe = &sim->probes[2 * k];
            double force =
                sim->system->ops->probe(sim->system, probe, pcs_at(sim->state.t, sim->state.q, sim->state.v));
            off[k] = fmax(off[k], fabs(force - exact[k]) / size);
        }
    }
    print_message("Hopkinson bar: incident and reflected pulse off by %.1e, transmitted by %.1e\n", off[0], off[1]);
    CHECK(off[0] < 1e-10 && off[1] < 1e-10);
}

// --- Masses, springs, joints, damping --------------------------------------------------------------------------------

// A mass of 2 kg in front of a light bar meets a wall: its own impact keeps the restitution of the case.
TEST(masses_rebound_by_their_restitution)
{
    for (int k = 0; k <= 4; k++) {
        char text[TEXT];
        double e = 0.25 * k;
        snprintf(text, sizeof text,
                 "mesh:\n"
                 "  bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 100 }\n"
                 "  ball: { type: point, at: [0, 0, 0] }\n"
                 "merge: { tip: { sets: [bar.start, ball] } }\n"
                 "elements:\n"
                 "  bar: { type: rod, mesh: bar, E: 1.0e-3, rho: 1.0e-3, area: 1.0 }\n"
                 "  ball: { type: point_mass, mesh: ball, mass: 2.0 }\n"
                 "supports: { guide: { set: ball, fix: [y, z] } }\n"
                 "initial: [ { set: bar, velocity: [-3, 0, 0] } ]\n"
                 "contacts: { wall: { type: node_plane, nodes: bar.start, point: [-0.3, 0, 0], normal: [1, 0, 0], "
                 "restitution: %g } }\n"
                 "scheme: { type: wave }\n"
                 "time: { step: auto, end: 0.14 }\n",
                 e);
        text_case run = text_case_open(text, NULL);
        text_case_run(&run);
        int tip = run.sim->system->G->column[0];
        print_message("e = %g: rebounds at %.6f of 3 m/s, loss %.6f J\n", e, run.sim->state.v[tip] / 3.0,
                      run.sim->ledger.impact_loss);
        CHECK_NEAR(run.sim->state.v[tip] / 3.0, e, 2e-3); // the light bar pushes a little
        CHECK_NEAR(run.sim->ledger.impact_loss, (1.0 - e * e) * 9.0, 1e-2);
        text_case_close(&run);
    }
}

// A restitution at the bare end of a bar cannot act, and is not ignored.
TEST(bare_ends_refuse_restitution)
{
    text_case run;
    pcs_status status = text_case_try("mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 10 } }\n"
                                      "elements: { bar: { type: rod, mesh: bar, E: 1.0, rho: 1.0, area: 1.0 } }\n"
                                      "contacts: { wall: { type: node_plane, nodes: bar.start, point: [-1, 0, 0], "
                                      "normal: [1, 0, 0], restitution: 0.5 } }\n"
                                      "scheme: { type: wave }\n"
                                      "time: { step: auto, end: 1.0 }\n",
                                      &run);
    CHECK(status == PCS_BAD_INPUT);
    CHECK(strstr(pcs_message(run.ctx), "contact 'wall' has a restitution of 0.5") != NULL);
    text_case_close(&run);
}

// --- Beams -----------------------------------------------------------------------------------------------------------

enum { BEAM_FINEST = 1600 };

// The end of a beam that moves across at 10 m/s meets a stop: rho A = 1, L/r = 20, c_s = 16.984 m/s. Impulses of the
// steps into `impulse`; gives their number.
static int beam_run(int cells, const char *scheme, const char *step, double *impulse, double *h)
{
    char mesh[128];
    snprintf(mesh, sizeof mesh, "mesh: { beam: { type: line, from: [0, 0, 0], to: [10, 0, 0], elements: %d } }\n",
             cells);
    text_case run = text_case_open(
        mesh,
        "elements: { beam: { type: beam_timo_2d, mesh: beam, E: 900.0, nu: 0.3, rho: 1.0, section: { type: rectangle, "
        "width: 0.5773502691896258, height: 1.7320508075688772 } } }\n"
        "initial: [ { set: beam, velocity: [0, -10, 0] } ]\n"
        "contacts: { stop: { type: node_plane, nodes: beam.start, point: [0, 0, 0], normal: [0, 1, 0], restitution: "
        "0.0 "
        "} }\nscheme: { type: ",
        scheme, " }\ntime: { end: 0.8, step: ", step, " }\n", NULL);
    int count = 0;
    *h = run.sim->step_size;
    for (; !pcs_sim_is_done(run.sim); count++) {
        text_case_step(&run);
        impulse[count] = run.sim->report.rows[0].step_impulse;
    }
    text_case_close(&run);
    return count;
}

TEST(fronts_of_beams_are_clean)
{
    static double exact[4 * BEAM_FINEST], coarse[4 * BEAM_FINEST];
    const double front = sqrt(900.0 * 5.0 / 6.0 / 2.6) * 10.0; // rho A c_s v0
    double h, error[3], peak = 0.0;
    int count = beam_run(BEAM_FINEST, "wave", "auto", exact, &h);
    for (int k = 0; k < 3; k++) {
        int cells = 100 << k, share = BEAM_FINEST / cells, n = beam_run(cells, "wave", "auto", coarse, &h);
        double off = 0.0, size = 0.0;
        for (int i = 0; i < n && (i + 1) * share <= count; i++) {
            double sum = 0.0;
            for (int j = 0; j < share; j++) sum += exact[i * share + j];
            off += fabs(coarse[i] - sum);
            size += sum;
        }
        error[k] = off / size;
        peak = coarse[0] / h;
        for (int i = 1; i < n; i++) CHECK(coarse[i] <= coarse[0]);
    }
    double rough = 0.0;
    count = beam_run(400, "alpha_ggl, rho_inf: 1.0", "7.07e-4", coarse, &h);
    for (int i = 0; i < count; i++) rough = fmax(rough, coarse[i] / h);
    print_message("beam: force %.4f %.4f %.4f, peak %.2f of %.2f N, alpha_ggl %.2f N\n", error[0], error[1], error[2],
                  peak, front, rough);
    CHECK_NEAR(peak, front, 0.05);
    CHECK(error[2] < 0.006 && log2(error[1] / error[2]) > 1.5 && rough > 1.1 * front);
}
