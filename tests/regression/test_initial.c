// Initial rotations and spins: rigid motion without strain, free tops against closed forms, probes of rotations.

#include "core/rotation.h"
#include "support/check.h"
#include "support/text_case.h"

#include "fe/fe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

#define RUN "scheme: { type: alpha_ggl, rho_inf: 0.9 }\ntime: { step: 1.0e-3, end: 0.01 }\n"

// Every node moves with v0 + w x (x - p), and after a short while nothing is strained in first order.
static void check_rigid(const text_case *c, const double v0[3], const double w[3], const double p[3])
{
    const pcs_system *s = c->sim->system;
    const pcs_mesh *mesh = pcs_fe_dofmap(s)->mesh;
    const double *q = c->sim->state.q, *v = c->sim->state.v;
    for (int node = 0; node < mesh->nnode; node++) {
        double u[3], arm[3], speed[3], expected[3];
        text_case_vector(s, node, q, u);
        text_case_vector(s, node, v, speed);
        for (int k = 0; k < 3; k++) arm[k] = mesh->x[node][k] + u[k] - p[k];
        pcs_cross(w, arm, expected);
        for (int k = 0; k < 3; k++) CHECK_NEAR(speed[k], v0[k] + expected[k], 1e-13);
    }
    double increment[MOST], later[MOST], strain[2];
    pcs_measure measure;
    CHECK(s->nv <= MOST);
    for (int i = 0; i < 2; i++) {
        double by = i == 0 ? 2e-3 : 1e-3;
        for (int k = 0; k < s->nv; k++) increment[k] = by * v[k];
        if (s->rotations.are_somewhere) pcs_retract(&s->rotations, q, increment, later);
        else
            for (int k = 0; k < s->nv; k++) later[k] = q[k] + increment[k];
        s->ops->measure(s, pcs_at(0.0, later, v), PCS_ENERGY, &measure);
        strain[i] = measure.strain;
    }
    // Strain of second order has an energy of fourth order, strain of first order one of second.
    CHECK(strain[0] < 1e-24 || log2(strain[0] / strain[1]) > 3.9);
    CHECK(measure.kinetic > 0.01);
}

TEST(spin_about_a_point_is_rigid)
{
    const char section[] = "section: { type: rectangle, width: 0.3, height: 0.2 }";
    const struct {
        const char *element, *options;
        bool is_space, has_section;
    } kinds[] = { { "rod_2d", "area: 0.1", false, false },
                  { "rod_large_2d", "area: 0.1", false, false },
                  { "rod_3d", "area: 0.1", true, false },
                  { "rod_large_3d", "area: 0.1", true, false },
                  { "beam_timo_2d", "nu: 0.3, ", false, true },
                  { "beam_exact_2d", "nu: 0.3, ", false, true },
                  { "beam_timo_3d", "nu: 0.3, orientation: [0, 0, 1], ", true, true },
                  { "beam_exact_3d", "nu: 0.3, orientation: [0, 0, 1], ", true, true } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bool is_space = kinds[i].is_space;
        const double v0[3] = { 0.5, -1.0, is_space ? 2.0 : 0.0 }, p[3] = { 1, 0.5, is_space ? -1.0 : 0.0 };
        const double w[3] = { is_space ? 1.0 : 0.0, is_space ? -2.0 : 0.0, 3.0 };
        text_case c = text_case_print(
            "mesh: { beam: { type: line, from: [0, 0, 0], to: [1, 2, 0], elements: 3 } }\n"
            "elements: { beam: { type: %s, mesh: beam, E: 100, rho: 3, %s%s } }\n"
            "initial: [{ set: beam, velocity: [%g, %g, %g], spin: [%g, %g, %g], about: [%g, %g, %g] }]\n" RUN,
            kinds[i].element, kinds[i].options, kinds[i].has_section ? section : "", v0[0], v0[1], v0[2], w[0], w[1],
            w[2], p[0], p[1], p[2]);
        check_rigid(&c, v0, w, p);
        text_case_close(&c);
    }
}

// A whole beam turned by a rotation that nodes and positions share, then spun: w is given in space, kept in the beam.
TEST(turned_beam_spins_in_space)
{
    const double psi[3] = { 0.7, -1.1, 1.9 }, w[3] = { 1, -2, 3 }, p[3] = { 0.2, 0.1, 0.4 }, end[3] = { 1, 2, 0 };
    double R[9], moved[3], material[3];
    pcs_rotation_exp(psi, R);
    pcs_rotation_apply(R, end, moved);
    text_case c = text_case_print(
        "mesh: { beam: { type: line, from: [0, 0, 0], to: [1, 2, 0], elements: 3 } }\n"
        "elements: { beam: { type: beam_exact_3d, mesh: beam, E: 100, nu: 0.3, rho: 3, orientation: [0, 0, 1],\n"
        "                    section: { type: rectangle, width: 0.3, height: 0.2 } } }\n"
        "initial:\n  - { set: beam, spin: [1, -2, 3], about: [0.2, 0.1, 0.4] }\n"
        "  - { set: beam, rotation: [0.7, -1.1, 1.9],\n"
        "      displacement: { from: [0, 0, 0], to: [%.17g, %.17g, %.17g] } }\n" RUN,
        moved[0] - end[0], moved[1] - end[1], moved[2] - end[2]);
    check_rigid(&c, (const double[3]){ 0 }, w, p);
    pcs_rotation_apply_transposed(R, w, material);
    CHECK_ALL_NEAR(3, c.sim->state.v + 9, material, 1e-14);
    CHECK_ALL_NEAR(3, c.sim->state.q + 9, psi, 1e-14);
    text_case_close(&c);
}

static const char body[] = "mesh: { body: { type: point, at: [1, 2, 3] } }\n"
                           "elements: { body: { type: rigid_body_3d, mesh: body, mass: 2, inertia: [%g, %g, %g] } }\n"
                           "initial: [{ set: body, rotation: [0.4, -1.3, 0.8], spin: [1, 4, -2] }]\n"
                           "loads: { %s }\nscheme: { type: %s }\ntime: { step: %g, end: 1.0 }\n";

static text_case run_body(const double J[3], const char *load, const char *scheme, double step, double start[3])
{
    double R[9], material[3];
    text_case c = text_case_print(body, J[0], J[1], J[2], load, scheme, step);
    pcs_rotation_exp(c.sim->state.q + 3, R);
    for (int k = 0; k < 3; k++) material[k] = J[k] * c.sim->state.v[3 + k];
    pcs_rotation_apply(R, material, start);
    text_case_run(&c);
    return c;
}

static const char *const schemes[] = { "alpha_ggl, rho_inf: 1.0", "alpha_velocity, rho_inf: 0.9", "newmark",
                                       "moreau_jean, theta: 0.5" };

// J = (A, A, C): R(t) = exp(t H/A) R(0) exp(t (1 - C/A) w3 e3), H the angular momentum in space.
TEST(symmetric_top_precesses)
{
    const double A = 2.0, C = 0.7, J[3] = { A, A, C }, psi[3] = { 0.4, -1.3, 0.8 }, w[3] = { 1, 4, -2 };
    double R[9], material[3], H[3], exact[3], part[3];
    pcs_rotation_exp(psi, R);
    pcs_rotation_apply_transposed(R, w, material);
    for (int k = 0; k < 3; k++) part[k] = J[k] * material[k];
    pcs_rotation_apply(R, part, H);
    for (int k = 0; k < 3; k++) part[k] = H[k] / A;
    pcs_rotation_compose(part, psi, exact);
    pcs_rotation_compose(exact, (const double[3]){ 0, 0, (1.0 - C / A) * material[2] }, exact);
    for (int i = 0; i < 6; i++) {
        const char *scheme = i < 4 ? schemes[i] : i == 4 ? "half_explicit" : "moreau_jean_explicit";
        double error[2], start[3];
        for (int n = 0; n < 2; n++) {
            text_case c = run_body(J, "", scheme, n == 0 ? 4e-3 : 2e-3, start);
            double back[3], away[3];
            CHECK_ALL_NEAR(3, start, H, 1e-13);
            for (int k = 0; k < 3; k++) back[k] = -exact[k];
            pcs_rotation_compose(back, c.sim->state.q + 3, away);
            error[n] = sqrt(pcs_dot3(away, away));
            text_case_close(&c);
        }
        CHECK(error[1] < (i < 5 ? 2e-5 : 1e-2));
        CHECK_NEAR(log2(error[0] / error[1]), i < 5 ? 2.0 : 1.0, 0.02);
    }
}

// Angles in the plane go on past pi; vectors in space are the shortest; spins are told in space.
TEST(probes_tell_rotations)
{
    text_case c = text_case_open(
        "mesh: { flat: { type: point, at: [1, 2, 0] }, body: { type: point, at: [[0, 0, 0], [4, 0, 0]] } }\n"
        "elements: { flat: { type: rigid_body_2d, mesh: flat, mass: 2, inertia: 3 },\n"
        "            body: { type: rigid_body_3d, mesh: body, mass: 2, inertia: [2, 2, 2] } }\n"
        "initial:\n  - { set: flat, rotation: [0, 0, 3], spin: [0, 0, 20] }\n"
        "  - { set: body, rotation: { from: [0, 0, 4], to: [0, 0.5, 0] }, spin: { from: [1, 2, 3], to: [3, 0, 1] } }\n"
        "output: { probes: { flat: { node: flat, of: [rx, rz, wz] }, one: { set: body, item: 0, of: [rz, wx, wy] },\n"
        "                    mean: { set: body, of: [ry, wx, wz] } } }\n" RUN,
        NULL);
    const double tau = 6.28318530717958647692;
    CHECK_NEAR(text_case_probe(&c, "flat.rz"), 3.0, 0.0);
    CHECK_NEAR(text_case_probe(&c, "flat.wz"), 20.0, 0.0);
    CHECK_NEAR(text_case_probe(&c, "one.rz"), 4.0 - tau, 1e-14);
    CHECK_NEAR(text_case_probe(&c, "one.wx"), 1.0, 1e-14);
    CHECK_NEAR(text_case_probe(&c, "one.wy"), 2.0, 1e-14);
    CHECK_NEAR(text_case_probe(&c, "mean.ry"), 0.25, 1e-14);
    CHECK_NEAR(text_case_probe(&c, "mean.wx"), 2.0, 1e-14);
    CHECK_NEAR(text_case_probe(&c, "mean.wz"), 2.0, 1e-14);
    text_case_run(&c);
    CHECK_NEAR(text_case_probe(&c, "flat.rz"), 3.2, 1e-12); // past pi
    CHECK_NEAR(text_case_probe(&c, "flat.rx"), 0.0, 0.0);
    CHECK_NEAR(text_case_probe(&c, "one.wx"), 1.0, 1e-12); // all inertias are equal: the spin stays
    CHECK_NEAR(text_case_probe(&c, "mean.wz"), 2.0, 1e-12);
    text_case_close(&c);
}

// A start in equilibrium turns the nodes before they spin.
TEST(spin_is_given_in_space_after_loads_have_bent_the_beam)
{
    text_case c = text_case_open(
        "mesh: { beam: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 4 } }\n"
        "elements: { beam: { type: beam_exact_3d, mesh: beam, E: 1.0e+6, nu: 0.3, rho: 1000, orientation: [0, 1, 0],\n"
        "                    section: { type: rectangle, width: 0.1, height: 0.1 } } }\n"
        "supports: { clamp: { set: beam.start, fix: [x, y, z, rx, ry, rz] } }\n"
        "loads: { push: { type: force, node: beam.end, value: [0, 12, 5] } }\nstart: statics\n"
        "initial: [{ set: beam.end, spin: [1, 2, 3], about: [1, 0, 0] }]\n"
        "output: { probes: { tip: { node: beam.end, of: [uy, uz, vx, wx, wy, wz] } } }\n" RUN,
        NULL);
    CHECK(text_case_probe(&c, "tip.uy") > 0.2);
    CHECK_NEAR(text_case_probe(&c, "tip.wx"), 1.0, 1e-13);
    CHECK_NEAR(text_case_probe(&c, "tip.wy"), 2.0, 1e-13);
    CHECK_NEAR(text_case_probe(&c, "tip.wz"), 3.0, 1e-13);
    CHECK_NEAR(text_case_probe(&c, "tip.vx"), 2.0 * text_case_probe(&c, "tip.uz") - 3.0 * text_case_probe(&c, "tip.uy"),
               1e-13);
    text_case_close(&c);
}
