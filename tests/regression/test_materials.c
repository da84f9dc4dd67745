// Rods of materials with internal variables: hysteresis, relaxation, plastic waves, damped vibrations, and what refuses
// them.

#include "support/check.h"
#include "support/ode.h"
#include "support/text_case.h"

#include "fe/fe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 4096 };
static const double pi = 3.14159265358979323846;

// One cell, driven by its ends, beside an elastic beam.
// E = 200, Y = 1, Et = 20 in units of `stress`, lengths in units of `size`, and the density to match.
static text_case open_cell(const char *scheme, double kinematic, double stress, double size, bool is_rotated,
                           const char *table)
{
    return text_case_print(
        "mesh: { bar: { type: line, from: [%.17g, 0, 0], to: [%.17g, 0, 0], elements: 1 }, beside: { type: line, from: "
        "[0, 1, 0], to: [1, 1, 0], elements: 1 } }\n"
        "elements: { beside: { type: beam_timo_2d, mesh: beside, E: 1, nu: 0.3, rho: 1, section: { type: rectangle, "
        "width: 1, height: 1 } }, bar: { type: rod_plastic, mesh: "
        "bar, E: %.17g, rho: %.17g, area: 0.5, yield_stress: %.17g, "
        "tangent_modulus: %.17g, kinematic: %.17g } }\n"
        "joints: { hold: { type: prescribed, node: bar.start, along: x, speed: 0.0 }, pull: { type: prescribed, node: "
        "bar.end, along: x, displacement: { table: %s } } }\n"
        "scheme: { type: %s }\n"
        "time: { step: 0.01, end: 6.0 }\n"
        "output: { probes: { bar: { element: bar, of: [stress, plastic_strain, plastic_work] }, left: { node: "
        "bar.start, of: [ux] }, right: { node: bar.end, of: [ux] } } }\n",
        is_rotated ? 2.0 * size : 0.0, is_rotated ? 0.0 : 2.0 * size, 200.0 * stress, stress / (size * size), stress,
        20.0 * stress, kinematic, table, scheme);
}

// The curve of a bilinear material at strain e, followed by hand: elastic range [low, high] of the stress.
typedef struct curve {
    double E, Et, kinematic;
    double strain, stress, low, high, work;
} curve;

static void curve_follow(curve *c, double strain)
{
    double rise = strain - c->strain, H = c->E * c->Et / (c->E - c->Et);
    double trial = c->stress + c->E * rise, limit = rise > 0.0 ? c->high : c->low;
    bool yields = rise > 0.0 ? trial > limit : trial < limit;
    c->strain = strain;
    if (!yields) {
        c->stress = trial;
        return;
    }
    double plastic = (trial - limit) / (c->E + H);
    c->stress = trial - c->E * plastic;
    c->work += 0.5 * (limit + c->stress) * plastic;
    // Isotropic hardening widens the range on both sides, kinematic hardening shifts it.
    double shift = c->kinematic * H * plastic, widen = (1.0 - c->kinematic) * H * fabs(plastic);
    c->low += shift - widen;
    c->high += shift + widen;
}

static double strain_at(double t)
{
    const double time[] = { 0.0, 1.0, 2.0, 3.0, 4.5, 6.0 }, strain[] = { 0.0, 0.02, -0.015, 0.03, 0.029, -0.04 };
    int i = 1;
    while (i < 5 && t > time[i]) i++;
    return strain[i - 1] + (strain[i] - strain[i - 1]) * (t - time[i - 1]) / (time[i] - time[i - 1]);
}

static const char *strain_table(double length)
{
    static char table[512];
    const double time[] = { 0.0, 1.0, 2.0, 3.0, 4.5, 6.0 };
    int used = snprintf(table, sizeof table, "[");
    for (int i = 0; i < 6; i++)
        used += snprintf(table + used, sizeof table - (size_t)used, "%s[%g, %.17g]", i == 0 ? "" : ", ", time[i],
                         length * strain_at(time[i]));
    snprintf(table + used, sizeof table - (size_t)used, "]");
    return table;
}

TEST(a_cycle_follows_the_bilinear_curve)
{
    const char *const schemes[] = { "newmark", "alpha_ggl", "moreau_jean, theta: 0.5", "hht", "alpha_velocity" };
    const double kinematics[] = { 0.0, 0.4, 1.0 }, stresses[] = { 1.0, 1e6 }, sizes[] = { 1.0, 1e-3 };
    for (int s = 0; s < 5; s++)
        for (int k = 0; k < 3; k++)
            for (int unit = (s + k) % 2; unit < 4; unit += 2) {
                double stress = stresses[unit % 2], size = sizes[unit / 2], length = 2.0 * size;
                bool is_rotated = k == 1;
                text_case run = open_cell(schemes[s], kinematics[k], stress, size, is_rotated, strain_table(length));
                curve exact = { .E = 200.0, .Et = 20.0, .kinematic = kinematics[k], .low = -1.0, .high = 1.0 };
                double worst = 0.0, worst_work = 0.0;
                while (!pcs_sim_is_done(run.sim)) {
                    text_case_step(&run);
                    // Schemes follow velocities: where these jump, positions are off by half of what a step moves.
                    double increment = text_case_probe(&run, "right.ux") - text_case_probe(&run, "left.ux");
                    CHECK_NEAR(increment / length, strain_at(run.sim->state.t), 2e-3);
                    curve_follow(&exact, (is_rotated ? -increment : increment) / length);
                    worst = fmax(worst, fabs(text_case_probe(&run, "bar.stress") / stress - exact.stress));
                    double work = text_case_probe(&run, "bar.plastic_work") / (0.5 * length * stress);
                    worst_work = fmax(worst_work, fabs(work - exact.work));
                    CHECK_NEAR(text_case_probe(&run, "bar.plastic_strain"), exact.strain - exact.stress / exact.E,
                               1e-9);
                }
                CHECK(worst < 1e-9 && worst_work < 1e-10);
                CHECK_RELATIVE(run.sim->ledger.material_loss, exact.work * 0.5 * length * stress, 1e-9);
                CHECK(exact.work > 0.1);
                text_case_close(&run);
            }
}

// ---- Waves

typedef struct plastic_bar {
    double E, rho, yield, tangent, speed; // of the end
    double length, end;                   // m, s
} plastic_bar;

static text_case open_bar(const plastic_bar *b, const char *scheme, int cells, double courant)
{
    double c0 = sqrt(b->E / b->rho);
    return text_case_print(
        "mesh: { bar: { type: line, from: [0, 0, 0], to: [%.17g, 0, 0], elements: %d } }\n"
        "elements: { bar: { type: rod_plastic, mesh: bar, E: %.17g, rho: %.17g, area: 1.0e-4, yield_stress: %.17g, "
        "tangent_modulus: %.17g, mass: lumped } }\n"
        "initial: [ { set: bar, velocity: [%.17g, 0, 0] } ]\n"
        "contacts: { wall: { type: node_plane, nodes: bar.start, point: [0, 0, 0], normal: [1, 0, 0], restitution: "
        "0.0 } }\n"
        "scheme: { type: %s }\n"
        "time: { step: %.17g, end: %.17g }\n",
        b->length, cells, b->E, b->rho, b->yield, b->tangent, -b->speed, scheme, courant * b->length / cells / c0,
        b->end);
}

// Mean stress over cells in a part of the bar, and the place where the stress passes a value.
static double mean_stress(const text_case *run, double from, double to)
{
    const pcs_system *system = run->sim->system;
    const pcs_mesh *mesh = pcs_fe_dofmap(system)->mesh;
    pcs_picture *picture = system->picture;
    double sum = 0.0;
    int count = 0, field = 0;
    while (strcmp(picture->field_names[field], "stress") != 0) field++;
    for (int i = 0; i < mesh->ncell; i++) {
        double x = 0.5 * (mesh->x[mesh->cell[i][0]][0] + mesh->x[mesh->cell[i][1]][0]);
        if (x < from || x > to) continue;
        sum += picture->fields[field][i];
        count++;
    }
    return sum / count;
}

static double front(const text_case *run, double stress)
{
    const pcs_system *system = run->sim->system;
    const pcs_mesh *mesh = pcs_fe_dofmap(system)->mesh;
    pcs_picture *picture = system->picture;
    int field = 0, last = 0;
    while (strcmp(picture->field_names[field], "stress") != 0) field++;
    for (int i = 0; i < mesh->ncell; i++)
        if (picture->fields[field][i] < stress) last = i;
    return mesh->x[mesh->cell[last][1]][0];
}

// A bar flies against a wall: seen from the wall, its end gets the velocity v at once. An elastic front with the yield
// stress runs ahead at c0, a plastic one follows at c1 = sqrt(Et/rho), stress Y + rho c1 (v - Y/(rho c0)) behind it.
TEST(plastic_waves_have_two_speeds)
{
    const plastic_bar bars[] = { { 2e11, 7800.0, 2.5e8, 2e10, 12.0, 1.0, 1.5e-4 },
                                 { 900.0, 1.0, 60.0, 225.0, 4.0, 10.0, 0.25 },
                                 { 2e5, 7.8e-9, 250.0, 5e4, 12e3, 1e3, 1.5e-4 } }; // the first in t, mm, s, and harder
    const char *const schemes[] = { "moreau_jean, theta: 0.55", "hht, alpha: 0.1", "alpha_ggl, rho_inf: 0.6",
                                    "newmark, gamma: 0.6",      "half_explicit",   "moreau_midpoint" };
    const char *const further[] = { "half_explicit_rk", "jump_newmark, rho_inf: 0.6", "half_explicit_acceleration",
                                    "schatzman_paoli" };
    for (int b = 0; b < 3; b++)
        for (int s = 0; s < 10; s++) {
            int mesh = 1 + (b + s) % 2, step = 1 + (b + s / 2) % 2;
            if (b > 0 && mesh > 1) continue; // other units need no fine mesh
            const plastic_bar *bar = &bars[b];
            double c0 = sqrt(bar->E / bar->rho), c1 = sqrt(bar->tangent / bar->rho), t = bar->end;
            double first = bar->yield / (bar->rho * c0);
            double plateau = bar->yield + bar->rho * c1 * (bar->speed - first);
            const char *scheme = s < 6 ? schemes[s] : further[s - 6];
            int cells = 150 * mesh;
            text_case run = open_bar(bar, scheme, cells, (s == 4 ? 0.25 : 0.4) * step);
            text_case_run(&run);
            pcs_system *system = run.sim->system;
            system->ops->draw(system, pcs_at(run.sim->state.t, run.sim->state.q, run.sim->state.v), system->picture);
            double behind = -mean_stress(&run, 0.2 * c1 * t, 0.8 * c1 * t);
            double ahead = -mean_stress(&run, c1 * t + 0.15 * (c0 - c1) * t, c0 * t - 0.15 * (c0 - c1) * t);
            double slow = front(&run, -0.5 * (plateau + bar->yield)), fast = front(&run, -0.5 * bar->yield);
            CHECK_NEAR(behind / plateau, 1.0, 0.01);
            CHECK_NEAR(ahead / bar->yield, 1.0, 0.02);
            CHECK_NEAR(slow / (c1 * t), 1.0, 0.02 + 3.0 * bar->length / cells / (c1 * t));
            CHECK_NEAR(fast / (c0 * t), 1.0, 0.02 + 3.0 * bar->length / cells / (c0 * t));
            // What hits the wall loses the work of plastic strains: A c1 t of it, between both stresses.
            double strain = (plateau - bar->yield) * (1.0 / bar->tangent - 1.0 / bar->E);
            double work = 1e-4 * c1 * t * 0.5 * (plateau + bar->yield) * strain;
            CHECK_RELATIVE(run.sim->ledger.material_loss, work, 0.05);
            CHECK(fabs(run.sim->ledger.numerical_loss) < 0.02 * run.sim->ledger.initial);
            text_case_close(&run);
        }
}

// ---- A standard linear solid: E at once, Eo after a long time, E1 = E - Eo, relaxation time T

static text_case open_solid(const char *drive, const char *scheme, double step, double end, double rho)
{
    return text_case_print(
        "mesh: { bar: { type: line, from: [0, 0, 0], to: [2, 0, 0], elements: 1 } }\n"
        "elements: { bar: { type: rod_viscoelastic, mesh: bar, E: 50.0, rho: %g, area: 0.5, relaxed_modulus: 20.0, "
        "relaxation_time: 0.7 } }\n"
        "%s"
        "scheme: { type: %s }\n"
        "time: { step: %.17g, end: %.17g }\n"
        "output: { probes: { bar: { element: bar, of: [stress, viscous_strain, viscous_loss] }, tip: { node: bar.end, "
        "of: [ux] } } }\n",
        rho, drive, scheme, step, end);
}

enum { MOST_STEPS = 512 };

// y of the strain e(t), linear between the steps, as the hereditary integral int exp(-(t - s)/T) de(s).
static double heredity(int count, const double *time, const double *strain, double T)
{
    double sum = 0.0, t = time[count];
    for (int i = 1; i <= count; i++) {
        double h = time[i] - time[i - 1], slope = (strain[i] - strain[i - 1]) / h;
        sum += slope * T * (exp(-(t - time[i]) / T) - exp(-(t - time[i - 1]) / T));
    }
    return sum;
}

// The stress of a strain that rises and stays is exact at every step, whatever its size, and so is the loss.
TEST(stress_relaxes_exactly)
{
    const char *const schemes[] = { "newmark", "alpha_ggl", "moreau_jean, theta: 0.5", "hht", "alpha_velocity" };
    const double T = 0.7, E1 = 30.0, Eo = 20.0;
    for (int s = 0; s < 5; s++)
        for (int fine = 0; fine < 4; fine++) {
            double step = (double[]){ 0.1, 0.05, 0.02, 0.01 }[fine], time[MOST_STEPS] = { 0 },
                   strain[MOST_STEPS] = { 0 };
            double work = 0.0, before = 0.0, worst = 0.0;
            int n = 0;
            text_case run =
                open_solid("supports: { hold: { set: bar.start, fix: [x] } }\n"
                           "joints: { pull: { type: prescribed, node: bar.end, along: x, displacement: { ramp: { "
                           "rise: 0.5, to: 0.02, shape: smooth } } } }\n",
                           schemes[s], step, 4.0, 1e-3);
            while (!pcs_sim_is_done(run.sim)) {
                text_case_step(&run);
                time[++n] = run.sim->state.t;
                strain[n] = 0.5 * text_case_probe(&run, "tip.ux");
                double y = heredity(n, time, strain, T);
                worst = fmax(worst, fabs(text_case_probe(&run, "bar.stress") - (Eo * strain[n] + E1 * y)));
                CHECK_NEAR(text_case_probe(&run, "bar.viscous_strain"), strain[n] - y, 1e-14);
                double stored = 0.5 * (Eo * strain[n] * strain[n] + E1 * y * y);
                CHECK_NEAR(run.sim->report.measure.strain, stored, 1e-14);
                // The integral of y de over the step, by int y dt = T (de - dy)
                double rise = strain[n] - strain[n - 1], h = time[n] - time[n - 1];
                work += E1 * rise / h * T * (rise - (y - before));
                before = y;
            }
            double loss = work - 0.5 * E1 * before * before;
            CHECK(worst < 1e-12);
            CHECK_NEAR(run.sim->ledger.material_loss, loss, 1e-13);
            CHECK_NEAR(text_case_probe(&run, "bar.viscous_loss"), loss, 1e-13);
            CHECK(loss > 1e-4 && fabs(strain[n] - 0.01) < 5e-3);
            text_case_close(&run);
        }
}

// x = { u, v, y }: m u'' = F(t) - A (Eo u/L + E1 y),   y' = u'/L - y/T
static void swing(const void *nothing, double t, const double *x, double *rate)
{
    (void)nothing;
    rate[0] = x[1];
    rate[1] = (t < 0.5 ? sin(pi * t / 0.5) : 0.0) - 0.5 * (20.0 * x[0] / 2.0 + 30.0 * x[2]);
    rate[2] = x[1] / 2.0 - x[2] / 0.7;
}

// A rod swings with its own mass, rho A L/3 = 1 at its end, after a push: its three differential equations, solved by a
// method of fourth order.
TEST(vibrations_decay_as_they_should)
{
    const char *const schemes[] = {
        "newmark",         "moreau_jean, theta: 0.5", "alpha_ggl, rho_inf: 1.0",    "half_explicit",
        "moreau_midpoint", "half_explicit_rk",        "half_explicit_acceleration", "jump_newmark, gamma: 0.5",
        "schatzman_paoli"
    };
    for (int s = 0; s < 9; s++) {
        double error[2] = { 0 }, most = 0.0;
        for (int fine = 0; fine < 2; fine++) {
            double step = 0.01 / (1 << fine);
            double x[3] = { 0 };
            text_case run =
                open_solid("loads: { hit: { type: force, node: bar.end, value: [1.0, 0, 0], amplitude: { pulse: "
                           "{ shape: half_sine, duration: 0.5 } } } }\n"
                           "supports: { hold: { set: bar.start, fix: [x] } }\n",
                           schemes[s], step, 12.0, 3.0);
            while (!pcs_sim_is_done(run.sim)) {
                double t = run.sim->state.t;
                ode_solve(swing, NULL, 3, t, t + step, 10, x);
                text_case_step(&run);
                most = fmax(most, fabs(x[0]));
                error[fine] = fmax(error[fine], fabs(text_case_probe(&run, "tip.ux") - x[0]));
            }
            CHECK(fabs(x[0]) < 0.02 * most); // it has come to rest
            text_case_close(&run);
        }
        CHECK(error[1] < 1e-3 * most && log2(error[0] / error[1]) > 1.8);
    }
}

// ---- What refuses them

static const char impact[] =
    "mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 40 },\n"
    "        soft: { type: line, from: [1, 0, 0], to: [1.5, 0, 0], elements: 20 } }\n"
    "elements: { bar: { type: rod_plastic, mesh: bar, E: 2.0e11, rho: 7800.0, area: 1.0e-4, yield_stress: 2.5e8, "
    "tangent_modulus: 2.0e10, kinematic: 0.5, damping: { stiffness: 1.0e-9 } }, soft: { type: rod_viscoelastic, mesh: "
    "soft, E: 5.0e10, rho: 2700.0, area: 2.0e-4, relaxed_modulus: 2.0e10, relaxation_time: 1.0e-4 } }\n"
    "merge: { all: { sets: [bar, soft] } }\nsets: { whole: { nodes: [bar, soft] } }\n"
    "initial: [ { set: whole, velocity: [-15, 0, 0] } ]\n"
    "contacts: { wall: { type: node_plane, nodes: bar.start, point: [-1.0e-5, 0, 0], normal: [1, 0, 0], restitution: 0 "
    "} }\n";

TEST(what_cannot_follow_says_so)
{
    const struct {
        const char *from, *to, *reported;
    } bad[] = {
        { "newmark", "wave, allow_mismatch: true",
          "scheme: scheme 'wave' cannot advance this model: it does not take" },
        { "newmark", "event_driven", "it does not take materials with internal variables" },
        { "tangent_modulus: 2.0e10", "tangent_modulus: 2.0e11",
          "f:3:18: elements.bar: element group 'bar': tangent_modulus must be < E = 2e+11, is 2e+11" },
        { "relaxed_modulus: 2.0e10", "relaxed_modulus: 6.0e10", "relaxed_modulus must be <= E = 5e+10, is 6e+10" },
        { "kinematic: 0.5", "kinematic: 1.5", "elements.bar.kinematic must be in [0, 1], is 1.5" },
        { "yield_stress: 2.5e8", "yield_stress: 0", "elements.bar.yield_stress must be > 0, is 0" },
        { "relaxation_time: 1.0e-4", "relaxation_time: -1", "elements.soft.relaxation_time must be > 0, is -1" },
        { "\ntime:", "\nstart: statics\ntime:",
          "f:3:198: elements.soft: a static analysis does not follow materials that age" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[TEXT], changed[TEXT];
        text_case c;
        snprintf(text, sizeof text, "%sscheme: { type: newmark }\ntime: { step: 1.0e-6, end: 1.0e-4 }\n", impact);
        const char *at = strstr(text, bad[i].from);
        CHECK(at != NULL);
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, bad[i].to, at + strlen(bad[i].from));
        pcs_status status = text_case_try(changed, &c);
        CHECK(status == PCS_BAD_INPUT || status == PCS_UNSUPPORTED);
        CHECK_TEXT(pcs_message(c.ctx), bad[i].reported);
        text_case_close(&c);
    }
}
