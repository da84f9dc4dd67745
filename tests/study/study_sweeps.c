// Random models by the hundred, whose figures documents quote.
//
//   study_sweeps tumbling [COUNT]   bodies on mounts, bushings and springs that tumble under half_explicit with
//                                   automatic steps (default 240): those that stop or are refused, and the largest
//                                   swing of the energy over the largest energy
//   study_sweeps solvers [COUNT]    lattices dropped on a plane or a circle, mu 0 to 0.5, 8 steps of alpha_ggl by
//                                   `newton` and by `schur` (default 1500): those whose velocities part by more than
//                                   1e-8 of the largest, and those of them with a gate that contradicts itself
//
// Without a name both. What is drawn at random is the same every time. Status 1 where a body stops or swings by more
// than 4 %, or more than 1 % of the lattices part.

#include "support/model.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4096 };

static double between(unsigned long long *seed, double low, double high)
{
    return low + (high - low) * 0.5 * (1.0 + model_random(seed));
}

// Even in its logarithm.
static double size_between(unsigned long long *seed, double low, double high)
{
    return exp(between(seed, log(low), log(high)));
}

static pcs_sim *sweep_open(const char *text, pcs_context **ctx)
{
    text_case c;
    bool is_built = text_case_try(text, &c) == PCS_OK;
    *ctx = c.ctx;
    if (is_built && pcs_sim_start(c.sim) == PCS_OK) return c.sim;
    printf("refused: %s\n%s", pcs_message(c.ctx), text);
    return NULL;
}

static int write_body(unsigned long long *seed, const char *name, size_t room, char *text)
{
    double mass = between(seed, 0.3, 2.0), flat = between(seed, 0.4, 1.0), J = mass * between(seed, 0.05, 0.2);
    return snprintf(text, room, "  %s: { type: rigid_body_3d, mesh: %s, mass: %g, inertia: [%g, %g, %g] }\n", name,
                    name, mass, J, flat * J, 0.9 * (1.0 + flat) * J * between(seed, 0.5, 1.0));
}

// One body on a mount, or two with a bushing or a spring between them.
static void write_tumbling(unsigned long long *seed, int kind, char text[ROOM])
{
    static const char *const links[] = { "point, nodes: a", "link, a: a, b: b", "link, a: a, b: b" };
    double k[3], at[3], spin[3], turn = size_between(seed, 1.0, 60.0);
    for (int i = 0; i < 3; i++) {
        k[i] = size_between(seed, 10.0, 3e4);
        at[i] = between(seed, -0.9, 0.9);
        spin[i] = turn * model_random(seed);
    }
    int used = snprintf(text, ROOM, "mesh:\n  a: { type: point, at: [0, 0, 0] }\n%s  s: { type: %s }\nelements:\n",
                        kind > 0 ? "  b: { type: point, at: [1.3, 0.2, -0.1] }\n" : "", links[kind]);
    used += write_body(seed, "a", ROOM - (size_t)used, text + used);
    if (kind > 0) used += write_body(seed, "b", ROOM - (size_t)used, text + used);
    if (kind < 2)
        used += snprintf(
            text + used, ROOM - (size_t)used,
            "  s: { mesh: s, type: %s, angles: finite, in: space, %s: [%g, %g, %g], stiffness: [%g, %g, %g] }\n",
            kind == 0 ? "mount" : "bushing", kind == 0 ? "offset" : "offset_b", at[0], at[1], at[2], k[0], k[1], k[2]);
    else
        used += snprintf(text + used, ROOM - (size_t)used,
                         "  s: { mesh: s, type: spring_damper, stiffness: %g, rest: %g, offset_a: [%g, %g, %g] }\n",
                         k[0], between(seed, 0.8, 1.4), at[0], at[1], at[2]);
    snprintf(text + used, ROOM - (size_t)used,
             "initial: [ { set: a, velocity: [0.3, -0.2, 0.8], spin: [%g, %g, %g] } ]\n"
             "scheme: { type: half_explicit }\ntime: { step: auto, end: 2.0 }\n",
             spin[0], spin[1], spin[2]);
}

// Swing of the energy over the largest; NAN where the run stops.
static double sweep_swing(const char *text)
{
    pcs_context *ctx = NULL;
    pcs_sim *sim = sweep_open(text, &ctx);
    double first = 0.0, off = 0.0, most = 0.0;
    bool is_done = sim != NULL;
    if (is_done) first = sim->ledger.now.kinetic + sim->ledger.now.strain;
    while (is_done && !pcs_sim_is_done(sim)) {
        is_done = pcs_sim_step(sim) == PCS_OK;
        const pcs_measure *now = &sim->ledger.now;
        off = fmax(off, fabs(now->kinetic + now->strain - first));
        most = fmax(most, now->kinetic + now->strain);
    }
    if (sim != NULL && !is_done) printf("stopped: %s\n", pcs_message(ctx));
    pcs_context_destroy(&ctx);
    return is_done ? off / most : NAN;
}

static bool sweep_tumbling(int count)
{
    unsigned long long seed = 1;
    int nstopped = 0;
    double worst = 0.0;
    for (int n = 0; n < count; n++) {
        char text[ROOM];
        write_tumbling(&seed, n % 3, text);
        double swing = sweep_swing(text);
        nstopped += isnan(swing);
        worst = fmax(worst, swing);
    }
    printf("tumbling: %d bodies, %d stopped, energy within %.2g of the largest\n", count, nstopped, worst);
    return nstopped == 0 && worst < 0.04;
}

static void write_lattice(unsigned long long *seed, const char *solver, char text[ROOM])
{
    char floor[256];
    bool is_circle = model_random(seed) > 0.0, is_exact = model_random(seed) > 0.0;
    double speed = size_between(seed, 0.1, 5.0), way = between(seed, -1.0, 1.0), mu = between(seed, -0.1, 0.5);
    int nx = (int)between(seed, 1.0, 5.0), ny = (int)between(seed, 1.0, 4.0);
    double h = size_between(seed, 2e-5, 2e-4), gap = speed * h * between(seed, 0.0, 3.0),
           radius = size_between(seed, 0.2, 5.0);
    if (is_circle)
        snprintf(floor, sizeof floor,
                 "node_circle, nodes: net, centre: [%.17g, %.17g, 0], radius: %.17g, side: outside", 0.05 * nx,
                 -radius - gap, radius);
    else
        snprintf(floor, sizeof floor, "node_plane, nodes: net, point: [%g, %.17g, 0], normal: [%g, 1, 0]",
                 way > 0.0 ? 0.0 : 0.1 * nx, -gap, 0.3 * way);
    snprintf(text, ROOM,
             "mesh: { net: { type: lattice, cells: [%d, %d], size: [0.1], elements: 1 } }\n"
             "elements: { struts: { type: %s, mesh: net, E: 2.1e+11, nu: 0.3, rho: 7800,\n"
             "            section: { type: rectangle, width: 0.01, height: 0.01 } } }\n"
             "loads: { weight: { type: gravity, g: [0, -9.81, 0] } }\n"
             "initial: [ { set: net, velocity: [%g, %g, 0] } ]\n"
             "contacts: { floor: { type: %s, restitution: 0.0, friction: %g } }\n"
             "scheme: { type: alpha_ggl, rho_inf: 0.8 }\nsolver: { type: %s, threads: 1 }\n"
             "time: { step: %g, end: 1.0 }\n",
             nx, ny, is_exact ? "beam_exact_2d" : "beam_timo_2d", speed * way, -speed, floor, fmax(mu, 0.0), solver, h);
}

typedef struct landing {
    int n; // equations, 0: stopped
    bool has_contradiction, touches;
    double v[256];
} landing;

enum { LANDING_STEPS = 8 };

static landing sweep_land(const char *text)
{
    landing out = { 0 };
    pcs_context *ctx = NULL;
    pcs_sim *sim = sweep_open(text, &ctx);
    for (int i = 0; sim != NULL && i < LANDING_STEPS; i++) {
        if (pcs_sim_step(sim) != PCS_OK) {
            printf("stopped: %s\n", pcs_message(ctx));
            pcs_context_destroy(&ctx);
            return out;
        }
        for (int j = 0; j < sim->system->nrow; j++) {
            out.has_contradiction = out.has_contradiction || sim->report.rows[j].gate_is_contradictory;
            out.touches = out.touches || sim->report.rows[j].step_impulse != 0.0;
        }
    }
    if (sim != NULL && sim->system->nv <= 256) {
        out.n = sim->system->nv;
        memcpy(out.v, sim->state.v, (size_t)out.n * sizeof *out.v);
    }
    pcs_context_destroy(&ctx);
    return out;
}

static bool sweep_solvers(int count)
{
    unsigned long long seed = 1;
    int nstopped = 0, ntouch = 0, nparted = 0, ncontradictory = 0;
    for (int n = 0; n < count; n++) {
        char text[2][ROOM];
        unsigned long long again = seed;
        write_lattice(&again, "newton", text[0]);
        write_lattice(&seed, "schur", text[1]);
        landing a = sweep_land(text[0]), b = sweep_land(text[1]);
        double off = 0.0, most = 0.0;
        for (int i = 0; i < a.n && i < b.n; i++) {
            off = fmax(off, fabs(a.v[i] - b.v[i]));
            most = fmax(most, fabs(a.v[i]));
        }
        nstopped += a.n == 0 || b.n == 0;
        ntouch += a.touches;
        nparted += off > 1e-8 * most;
        ncontradictory += off > 1e-8 * most && (a.has_contradiction || b.has_contradiction);
    }
    printf("solvers: %d lattices, %d touch, %d stopped, %d part, %d of them with a gate that contradicts itself\n",
           count, ntouch, nstopped, nparted, ncontradictory);
    return nstopped == 0 && 100 * nparted <= count;
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : NULL;
    int count = argc > 2 ? atoi(argv[2]) : 0;
    bool is_fine = true;
    if (only == NULL || strcmp(only, "tumbling") == 0) is_fine = sweep_tumbling(count > 0 ? count : 240) && is_fine;
    if (only == NULL || strcmp(only, "solvers") == 0) is_fine = sweep_solvers(count > 0 ? count : 1500) && is_fine;
    return is_fine ? 0 : 1;
}
