// Balls that slide, roll and bounce on a rough plane. Whatever the contact does, its force acts at -r n from the
// centre, so that with the angular momentum L in space
//
//   K = L + r n x m v = const,   and so L . n = const
//
// A ball has L = J w: no spin about the normal comes from nowhere, and where it ends up rolling is in K alone.

#include "support/check.h"
#include "support/text_case.h"

#include "core/rotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct toss {
    const char *scheme, *solver;
    double radius, mass, inertia[3];
    double normal[3];         // unit vector, against gravity
    double velocity[3], w[3]; // at the start; the centre is `height` above rolling
    double height, restitution, h, end, gravity;
} toss;

static text_case toss_open(const toss *t)
{
    const double *n = t->normal, *v = t->velocity, *w = t->w, *J = t->inertia;
    double up = t->radius + t->height;
    return text_case_print(
        "mesh: { ball: { type: point, at: [%.17g, %.17g, %.17g] } }\n"
        "elements: { ball: { mesh: ball, type: rigid_body_3d, mass: %.17g, inertia: [%.17g, %.17g, %.17g] } }\n"
        "initial: [ { set: ball, velocity: [%.17g, %.17g, %.17g], spin: [%.17g, %.17g, %.17g] } ]\n"
        "loads: { weight: { type: gravity, g: [%.17g, %.17g, %.17g] } }\n"
        "contacts: { floor: { type: node_plane, nodes: ball, point: [0, 0, 0], normal: [%.17g, %.17g, %.17g],\n"
        "  node_radius: %.17g, restitution: %.17g, friction: 0.3 } }\n"
        "scheme: { type: %s }\nsolver: { type: %s }\ntime: { step: %.17g, end: %.17g }\n",
        up * n[0], up * n[1], up * n[2], t->mass, J[0], J[1], J[2], v[0], v[1], v[2], w[0], w[1], w[2],
        -t->gravity * n[0], -t->gravity * n[1], -t->gravity * n[2], n[0], n[1], n[2], t->radius, t->restitution,
        t->scheme, t->solver, t->h, t->end);
}

static void toss_invariant(const toss *t, const text_case *c, double K[3])
{
    const double *q = c->sim->state.q, *v = c->sim->state.v;
    double R[9], material[3], L[3], across[3];
    pcs_rotation_exp(q + 3, R);
    for (int i = 0; i < 3; i++) material[i] = t->inertia[i] * v[3 + i];
    pcs_rotation_apply(R, material, L);
    pcs_cross(t->normal, v, across);
    for (int i = 0; i < 3; i++) K[i] = L[i] + t->radius * t->mass * across[i];
}

// Largest change of K over a run.
static double toss_defect(const toss *t, double *slip)
{
    text_case c = toss_open(t);
    double K0[3], K[3], worst = 0.0, R[9], w[3], across[3];
    CHECK_OK(c.ctx, pcs_sim_start(c.sim));
    toss_invariant(t, &c, K0);
    while (!pcs_sim_is_done(c.sim)) {
        text_case_step(&c);
        toss_invariant(t, &c, K);
        for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(K[i] - K0[i]));
    }
    // Velocity of the lowest point.
    pcs_rotation_exp(c.sim->state.q + 3, R);
    pcs_rotation_apply(R, c.sim->state.v + 3, w);
    pcs_cross(w, t->normal, across);
    *slip = 0.0;
    for (int i = 0; i < 3; i++) *slip = fmax(*slip, fabs(c.sim->state.v[i] - t->radius * across[i]));
    text_case_close(&c);
    return worst;
}

static const char *const schemes[] = {
    "alpha_ggl, rho_inf: 0.8",      "alpha_ggl, rho_inf: 0.0",
    "moreau_jean, theta: 0.5",      "moreau_jean, theta: 0.75",
    "moreau_jean, theta: 1.0",      "moreau_jean, theta: 0.7, positions: midpoint",
    "newmark, gamma: 0.5",          "hht, alpha: 0.1",
    "alpha_velocity, rho_inf: 0.6", "half_explicit",
    "moreau_jean_explicit",
};
enum { NSCHEME = sizeof schemes / sizeof *schemes };

// A ball of radius r in a direction of its own, thrown with a slip and a spin, also about the normal.
static toss ball_in(const double normal[3], double r, int k)
{
    static const double along[3][3] = { { 3.0, 0.0, 0.0 }, { 2.4, -1.8, 0.0 }, { -1.0, 2.0, 0.0 } };
    static const double spin[3][3] = { { 20.0, 0.0, 0.0 }, { -10.0, 15.0, 0.0 }, { 8.0, 12.0, 25.0 } };
    double length = hypot(normal[0], hypot(normal[1], normal[2])), e1[3], e2[3];
    toss t = { .solver = "newton", .radius = r, .mass = 2.0, .end = 0.6, .gravity = 98.1 * r };
    for (int i = 0; i < 3; i++) {
        t.normal[i] = normal[i] / length;
        t.inertia[i] = 0.4 * t.mass * r * r;
    }
    // Two directions in the plane.
    const double *n = t.normal, pick[3] = { fabs(n[0]) < 0.5, fabs(n[0]) >= 0.5, 0.0 };
    pcs_cross(n, pick, e2);
    length = hypot(e2[0], hypot(e2[1], e2[2]));
    for (int i = 0; i < 3; i++) e2[i] /= length;
    pcs_cross(e2, n, e1);
    for (int i = 0; i < 3; i++) {
        t.velocity[i] = 10.0 * r * (along[k][0] * e1[i] + along[k][1] * e2[i]);
        t.w[i] = spin[k][0] * e1[i] + spin[k][1] * e2[i] + spin[k][2] * n[i];
    }
    return t;
}

// Sliding until it rolls, and with bounces before: K stays to what Newton's method leaves, at any step.
TEST(balls_keep_what_the_floor_cannot_change)
{
    static const double normals[][3] = { { 0, 0, 1 }, { 0, 1, 0 }, { 0.3, -0.5, 0.8 } }, radii[] = { 0.1, 40.0, 2e-4 };
    static const double steps[] = { 1e-2, 2e-3, 5e-4 };
    for (int s = 0; s < NSCHEME; s++)
        for (int i = s % 3; i < 27; i += 3) { // every third of all
            int k = (i / 3 + s) % 3;
            toss t = ball_in(normals[i % 3], radii[i / 3 % 3], k);
            double slip, bounces = i % 2;
            t.scheme = schemes[s];
            t.solver = i % 4 < 2 ? "newton" : "schur";
            t.h = steps[i / 9];
            t.height = 0.3 * bounces * t.radius;
            t.restitution = 0.5 * bounces;
            CHECK_NEAR(toss_defect(&t, &slip) / (t.inertia[0] * 30.0), 0.0, 1e-8);
            if (bounces == 0.0) CHECK_NEAR(slip / (30.0 * t.radius), 0.0, 1e-8);
        }
}

// Moments of inertia that differ leave an error of second order where schemes hold impulses half a step before its end.
TEST(bodies_keep_it_to_second_order)
{
    static const double normal[] = { 0.0, 0.0, 1.0 };
    for (int s = 0; s < NSCHEME; s++) {
        if (strncmp(schemes[s], "moreau_jean", 11) == 0 && strstr(schemes[s], "0.5") == NULL) continue;
        toss t = ball_in(normal, 0.1, 2);
        double slip, defect[2];
        t.scheme = schemes[s];
        t.inertia[0] = 0.006;
        t.inertia[2] = 0.011;
        for (int k = 0; k < 2; k++) {
            t.h = 2e-3 / (1 << k);
            defect[k] = toss_defect(&t, &slip);
        }
        CHECK(defect[0] < 2e-3 * t.inertia[0] * 30.0);
        CHECK(defect[0] / defect[1] > 3.7);
    }
}
