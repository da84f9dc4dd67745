// Forces, directions and coefficients that are wrong in themselves, so that every equation of a step holds: systems
// whose functions are replaced by wrong ones end with the check that is about them, the same runs left alone hold all.

#include "fe/fe.h"
#include "sim/certify.h"

#include "support/check.h"
#include "support/text_case.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 256 };

static const pcs_system_ops *honest; // those of the system under test
static double rest[MOST];

static void force_too_stiff(const pcs_system *self, pcs_instant at, double *f)
{
    double bent[MOST], straight[MOST];
    honest->force(self, at, f);
    honest->force(self, pcs_at(at.t, at.q, rest), bent);
    honest->force(self, pcs_at(at.t, rest, rest), straight);
    for (int i = 0; i < self->nv; i++) f[i] += 0.1 * (bent[i] - straight[i]);
}

// Between the states at which forces are held against energies.
static void force_too_stiff_later(const pcs_system *self, pcs_instant at, double *f)
{
    if (at.t < 0.05) honest->force(self, at, f);
    else force_too_stiff(self, at, f);
}

static void force_heavier_later(const pcs_system *self, pcs_instant at, double *f)
{
    honest->force(self, at, f);
    for (int i = 0; i < self->nv && at.t >= 0.05; i++) f[i] *= 1.1;
}

static void force_damped_twice(const pcs_system *self, pcs_instant at, double *f)
{
    double still[MOST];
    honest->force(self, at, f);
    honest->force(self, pcs_at(at.t, at.q, rest), still);
    for (int i = 0; i < self->nv; i++) f[i] += f[i] - still[i];
}

static void force_without_gyroscopes(const pcs_system *self, pcs_instant at, double *f)
{
    (void)at;
    honest->force(self, pcs_at(at.t, at.q, rest), f);
}

static void rows_without_arms(pcs_system *self, pcs_instant at, const pcs_row_values *out)
{
    honest->evaluate_rows(self, at, out);
    for (int k = 0; k < (out->G == NULL ? 0 : out->G->start[self->nrow]); k++)
        if (self->arms[out->G->column[k]] != 1.0) out->G->value[k] = 0.0;
}

static void rows_of_other_bias(pcs_system *self, pcs_instant at, const pcs_row_values *out)
{
    honest->evaluate_rows(self, at, out);
    for (int j = 0; j < (out->bias == NULL ? 0 : self->nrow); j++) out->bias[j] = -out->bias[j];
}

#define BEAM                                                                                                       \
    "mesh: { beam: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 6 } }\n"                                \
    "elements: { beam: { type: beam_exact_2d, mesh: beam, E: 1.0e+7, nu: 0.3, rho: 1000.0, damping: { stiffness: " \
    "1.0e-3 }, section: { type: rectangle, width: 0.02, height: 0.02 } } }\n"                                      \
    "supports: { pin: { set: beam.start, fix: [x, y] } }\n"                                                        \
    "loads: { weight: { type: gravity, g: [0, -9.81, 0] } }\ntime: { step: 1.0e-3, end: 0.07 }\n"
#define BALL                                                                                                       \
    "mesh: { ball: { type: point, at: [0, 0, 0.0505] } }\n"                                                        \
    "elements: { ball: { type: point_mass, mesh: ball, mass: 1.0 } }\n"                                            \
    "initial: [ { set: ball, velocity: [0, 0, -1.0] } ]\n"                                                         \
    "contacts: { floor: { type: node_plane, nodes: ball, point: [0, 0, 0], normal: [0, 0, 1], node_radius: 0.05, " \
    "law: { type: hertz, stiffness: 1.0e+6 } } }\ntime: { step: 1.0e-4, end: 0.01 }\n"
#define BODY                                                                                            \
    "mesh: { body: { type: point, at: [0, 0, 0] } }\n"                                                  \
    "elements: { body: { type: rigid_body_3d, mesh: body, mass: 1.0, inertia: [0.01, 0.02, 0.03] } }\n" \
    "initial: [ { set: body, spin: [0.1, 5.0, 0.1] } ]\ntime: { step: 1.0e-3, end: 0.04 }\n"
#define COIN                                                                                                        \
    "mesh: { coin: { type: point, at: [0, 0, 0.06] } }\n"                                                           \
    "elements: { coin: { type: rigid_body_3d, mesh: coin, mass: 0.2, inertia: [1.25e-4, 1.25e-4, 2.5e-4] } }\n"     \
    "loads: { weight: { type: gravity, g: [0, 0, -9.81] } }\n"                                                      \
    "initial: [ { set: coin, rotation: [0.9, 0.1, 0], velocity: [-0.5, 0.2, 0], spin: [1.0, 8.0, 5.0] } ]\n"        \
    "contacts: { floor: { type: disc_plane, nodes: coin, axis: [0, 0, 1], radius: 0.05, point: [0, 0, 0], normal: " \
    "[0, 0, 1], restitution: 0.5, friction: 0.4 } }\ntime: { step: 1.0e-3, end: 0.03 }\n"
#define RING                                                                                                          \
    "mesh: { ball: { type: point, at: [0, -0.9, 0] } }\n"                                                             \
    "elements: { ball: { type: point_mass, mesh: ball, mass: 2.0 } }\nsupports: { plane: { set: ball, fix: [z] } }\n" \
    "initial: [ { set: ball, velocity: [5.5, 0, 0] } ]\nloads: { weight: { type: gravity, g: [0, -9.81, 0] } }\n"     \
    "contacts: { ring: { type: node_circle, nodes: ball, centre: [0, 0, 0], radius: 1.0, node_radius: 0.1, side: "    \
    "inside, restitution: 0.0 } }\ntime: { step: 1.0e-3, end: 0.04 }\n"

#define BAR                                                                                   \
    "mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 6 } }\n"            \
    "initial: [ { set: bar.end, velocity: [1, 0, 0] } ]\ntime: { step: 1.0e-4, end: 0.06 }\n" \
    "elements: { bar: { mesh: bar, E: 1.0e+7, rho: 1000.0, area: 1.0e-4, type: rod"
#define ELASTIC BAR " } }\n"
#define PLASTIC BAR "_plastic, yield_stress: 4.0e+4, tangent_modulus: 1.0e+6 } }\n"
#define VISCOUS BAR "_viscoelastic, relaxed_modulus: 5.0e+6, relaxation_time: 1.0e-2 } }\n"
#define PENDULUM "system: { type: pendulum }\ntime: { step: 1.0e-4, end: 0.06 }\n"

// The sum of the forces that there are, wrong or not: the balance of momentum is not what shall see them.
static void resultant_of_force(const pcs_system *self, pcs_instant at, double sum[3])
{
    const pcs_dofmap *map = pcs_fe_dofmap(self);
    double f[MOST];
    self->ops->force(self, at, f);
    sum[0] = sum[1] = sum[2] = 0.0;
    for (int i = 0; i < map->ndof; i++)
        for (int k = 0; k < 3 && map->dof[i].equation >= 0 && !map->dof[i].is_rotation; k++)
            sum[k] += map->dof[i].direction[k] * f[map->dof[i].equation];
}

static void measure_of_force(const pcs_system *self, pcs_instant at, unsigned what, pcs_measure *out)
{
    honest->measure(self, at, what, out);
    if ((what & PCS_RESULTANT) && pcs_system_is_mesh(self)) resultant_of_force(self, at, out->resultant);
}

// Runs a case with the functions of `ops` that are given in place of the system's own.
static void run_with(const char *text, const char *scheme, const pcs_system_ops *ops, const char *check)
{
    text_case c = text_case_open(text, "scheme: { type: ", scheme, " }\n", NULL);
    pcs_system *system = c.sim->system;
    CHECK(system->nv <= MOST);
    pcs_system_ops wrong = *(honest = system->ops);
    if (ops->force != NULL) wrong.force = ops->force;
    if (ops->evaluate_rows != NULL) wrong.evaluate_rows = ops->evaluate_rows;
    if (ops->force != NULL) wrong.measure = measure_of_force;
    system->ops = &wrong;
    system->slices = NULL;
    pcs_status status = pcs_sim_start(c.sim);
    while (status == PCS_OK && !pcs_sim_is_done(c.sim)) status = pcs_sim_step(c.sim);
    if (check == NULL) CHECK_OK(c.ctx, status);
    if (check != NULL && status != PCS_FAILED) fail_msg("%s, %s: not seen in %s", scheme, check, text);
    if (check != NULL) CHECK_TEXT(pcs_message(c.ctx), check);
    text_case_close(&c);
}

TEST(wrong_functions_are_seen)
{
    static const pcs_system_ops none = { 0 }, stiff = { .force = force_too_stiff },
                                later = { .force = force_too_stiff_later }, damped = { .force = force_damped_twice },
                                heavier = { .force = force_heavier_later },
                                light = { .force = force_without_gyroscopes },
                                armless = { .evaluate_rows = rows_without_arms },
                                bent = { .evaluate_rows = rows_of_other_bias };
    static const struct {
        const char *text, *schemes[4], *check;
        const pcs_system_ops *ops;
    } known[] = {
        { BEAM, { "alpha_ggl", "newmark", "moreau_jean, theta: 0.5" }, "forces follow from the energy", &stiff },
        { BEAM, { "alpha_ggl", "newmark", "moreau_jean, theta: 0.5" }, "work of forces = change of energies", &later },
        { ELASTIC, { "half_explicit", "schatzman_paoli" }, "work of forces = change of energies", &later },
        { PLASTIC, { "half_explicit", "newmark", "alpha_ggl" }, "work of forces = change of energies", &stiff },
        { VISCOUS, { "half_explicit", "newmark", "alpha_ggl" }, "work of forces = change of energies", &stiff },
        { PENDULUM, { "half_explicit", "alpha_ggl" }, "work of forces = change of energies", &heavier },
        { BALL, { "newmark", "half_explicit", "moreau_midpoint" }, "forces follow from the energy", &stiff },
        { BEAM, { "alpha_ggl", "newmark", "moreau_jean, theta: 0.5" }, "power of damping = booked", &damped },
        { BODY, { "alpha_ggl", "half_explicit", "moreau_jean, theta: 0.5" }, "gyroscopic moments follow", &light },
        { COIN, { "alpha_ggl", "half_explicit", "moreau_jean, theta: 0.5" }, "gap rates follow the gaps", &armless },
        { RING, { "event_driven", "mannshardt" }, "gap accelerations follow the gap rates", &bent },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (int k = 0; k < 4 && known[i].schemes[k] != NULL; k++) {
            run_with(known[i].text, known[i].schemes[k], known[i].ops, known[i].check);
            if (k == (int)i % 2) // one of them left alone
                run_with(known[i].text, known[i].schemes[k], &none, NULL);
        }
}

// Coefficients of rows that are not those of the case end the run before its first step.
TEST(coefficients_are_those_of_the_case)
{
    for (int k = 0; k < 4; k++) {
        text_case c = text_case_open(COIN, "scheme: { type: alpha_ggl }\n", NULL);
        pcs_row *row = &c.sim->system->laws[0];
        const pcs_newton squared = { pow(pcs_restitution(row, 0.0), 2) };
        if (k == 0) row->law.params = &squared;
        if (k == 1) row->friction *= 1.1;
        if (k == 2) row->tangent_restitution = 1e-3;
        pcs_status status = pcs_sim_start(c.sim);
        if (k == 3) CHECK_OK(c.ctx, status);
        else CHECK_TEXT(pcs_message(c.ctx), "restitution and friction are the numbers of the case at 'floor'");
        text_case_close(&c);
    }
}

// Masses with which waves are not exact, in cells of two sizes.
TEST(waves_take_their_time)
{
    for (int k = 0; k < 2; k++) {
        text_case c = text_case_open(
            "mesh:\n  a: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 10 }\n"
            "  b: { type: line, from: [1.5, 0, 0], to: [2.5, 0, 0], elements: 20 }\n"
            "elements:\n  a: { type: rod, mesh: a, E: 4.0, rho: 1.0, area: 1.0 }\n"
            "  b: { type: rod, mesh: b, E: 1.0, rho: 1.0, area: 1.0 }\n"
            "initial: [ { set: a, velocity: [1, 0, 0] } ]\n"
            "contacts: { hit: { type: node_node, a: a.end, b: b.start, normal: [1, 0, 0], restitution: 0.0 } }\n"
            "scheme: { type: wave }\ntime: { step: auto, end: 0.5 }\n",
            NULL);
        pcs_matrix *M = c.sim->system->M;
        for (int j = 0; j < M->pattern->n; j++)
            for (int p = M->pattern->start[j]; p < M->pattern->start[j + 1]; p++)
                if (k == 1) M->value[p] *= M->pattern->row[p] == j ? 1.02 : 0.98;
        pcs_status status = pcs_sim_start(c.sim);
        if (k == 0) CHECK_OK(c.ctx, status);
        else CHECK_TEXT(pcs_message(c.ctx), "travel times of waves by mass and stiffness");
        text_case_close(&c);
    }
}

// Works, losses and their round-off may exceed the energy by far where dampers stop a step within itself; the ledger
// closes even so: a force on a fixed bar, a node that starts alone, a bar that falls as a whole.
TEST(ledgers_of_overdamped_bars_close)
{
#define DAMPED(cells, E, alpha, beta)                                                                       \
    "mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: " cells " } }\n"                  \
    "elements: { bar: { type: rod, mesh: bar, E: " E ", rho: 7800.0, area: 1.0e-4, damping: { mass: " alpha \
    ", stiffness: " beta " } } }\n"
    static const char *const texts[] = {
        DAMPED("30", "5.075008e+04", "5.485346e+07",
               "101.2306") "supports: { a: { set: bar.start, fix: [x] } }\n"
                           "loads: { f: { type: force, set: bar.end, value: [10.0, 0, 0] } }\n"
                           "scheme: { type: hht }\ntime: { step: 6.180121e-3, end: 6.180121e-3 }\n",
        DAMPED("1", "1.613388e+08", "0.0",
               "62.50158") "loads: { g: { type: gravity, g: [9.81, 0, 0] } }\n"
                           "scheme: { type: jump_newmark, rho_inf: 0.5 }\ntime: { step: 6.611932e-2, end: 33.0 }\n",
        DAMPED("1", "2.7e+09", "0.0", "63.0") "initial: [ { set: bar.end, velocity: [1, 0, 0] } ]\n"
                                              "scheme: { type: newmark }\ntime: { step: 1.3e-3, end: 0.6 }\n"
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        text_case c = text_case_open(texts[i], NULL);
        text_case_run(&c);
        text_case_close(&c);
    }
}
