// Piles of beams, all contacts at once: the solver of many contacts against the dense ones step by step, and how its
// effort grows with the pile. Momentum and friction by their definitions are in test_beam_pile.c.

#define _POSIX_C_SOURCE 200809L // open_memstream

#include "support/check.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct pile_shape {
    int width, layers; // beams of a layer, layers
    double friction;
    double sideways; // m/s, along x and half of it along y
    double young;    // N/m^2
    double gap;      // m, between layers and to the floor
    double speed;    // m/s, of the fall at t = 0
} pile_shape;

static pile_shape shape(int width, int layers, double friction, double sideways)
{
    return (pile_shape){ .width = width, .layers = layers, .friction = friction, .sideways = sideways, .young = 1e9 };
}

// Layers of parallel beams, crosswise on one another, and sets of their crossings in the order of the beams below.
static void write_beams(FILE *out, const pile_shape *s)
{
    int w = s->width;
    fprintf(out, "mesh:\n");
    for (int k = 0; k < s->layers; k++)
        for (int i = 1; i <= w; i++) {
            int a[2][2] = { { 0, i }, { i, 0 } }, b[2][2] = { { w + 1, i }, { i, w + 1 } }, r = k % 2;
            fprintf(out, "  l%db%d: { type: line, from: [%d, %d, %.17g], to: [%d, %d, %.17g], elements: %d }\n", k, i,
                    a[r][0], a[r][1], (k + 1) * s->gap, b[r][0], b[r][1], (k + 1) * s->gap, w + 1);
        }
    fprintf(out, "sets:\n  all: { cells: [");
    for (int n = 0; n < w * s->layers; n++) fprintf(out, "%sl%db%d", n > 0 ? ", " : "", n / w, n % w + 1);
    fprintf(out, "] }\n");
    for (int k = 0; k < s->layers; k++)
        for (int i = 1; i <= w; i++) {
            fprintf(out, "  on%d_%d: { nodes: l%db%d, without: [l%db%d.start, l%db%d.end] }\n", k, i, k, i, k, i, k, i);
            if (k == 0) continue;
            fprintf(out, "  under%d_%d: { plane: [[%d, %d, 0], [%d, %d, 0]], nodes: [", k, i, i, i, k % 2, 1 - k % 2);
            for (int j = 1; j <= w; j++) fprintf(out, "%sl%db%d", j > 1 ? ", " : "", k - 1, j);
            fprintf(out, "] }\n");
        }
}

static void write_contacts(FILE *out, const pile_shape *s)
{
    fprintf(out, "contacts:\n");
    for (int k = 0; k < s->layers; k++)
        for (int i = 1; i <= s->width; i++) {
            fprintf(out, "  c%d_%d: { normal: [0, 0, 1], restitution: 0, friction: %g, ", k, i, s->friction);
            if (k == 0) fprintf(out, "type: node_plane, nodes: on0_%d, point: [0, 0, 0] }\n", i);
            else fprintf(out, "type: node_node, a: under%d_%d, b: on%d_%d }\n", k, i, k, i);
        }
}

// Every crossing is a contact, so there are layers * width^2 of them, and all act at once when the pile rests or lands.
static text_case pile_open(const pile_shape *s, const char *scheme, const char *solver)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    CHECK(out != NULL);
    write_beams(out, s);
    write_contacts(out, s);
    fprintf(out,
            "elements: { beams: { type: beam_timo_3d, mesh: all, E: %g, nu: 0.3, rho: 1000, orientation: [0, 0, 1],\n"
            "  section: { type: circle, diameter: 0.1 } } }\n"
            "loads: { weight: { type: gravity, g: [0, 0, -9.81] } }\n"
            "initial: [ { set: all, velocity: [%g, %g, %g] } ]\nscheme: { type: %s }\nsolver: { type: %s }\n"
            "time: { step: 1.0e-3, end: 1.0, retry: 0 }\n",
            s->young, s->sideways, 0.5 * s->sideways, -s->speed, scheme, solver);
    CHECK(fclose(out) == 0);
    text_case c;
    pcs_status status = text_case_try(text, &c);
    CHECK_OK(c.ctx, status);
    free(text);
    return c;
}

static const char *const schemes[] = { "alpha_ggl, rho_inf: 0.8", "moreau_jean, theta: 0.6" };

// Step by step the same motion and the same impulses, resting and sliding.
static void compare(const pile_shape *s, const char *scheme, const char *solver, int steps)
{
    text_case one = pile_open(s, scheme, solver), two = pile_open(s, scheme, "schur");
    int n = one.sim->system->nv, nrow = one.sim->system->nrow, closed = 0;
    CHECK(nrow == s->layers * s->width * s->width);
    for (int k = 0; k < steps; k++) {
        text_case_step(&one);
        text_case_step(&two);
        double speed = fmax(1e-3, s->sideways);
        for (int i = 0; i < n; i++) {
            CHECK_NEAR(two.sim->state.v[i], one.sim->state.v[i], 1e-10 * speed);
            CHECK_NEAR(two.sim->state.q[i], one.sim->state.q[i], 1e-12 * speed);
        }
        for (int j = 0; j < nrow; j++) {
            const pcs_row_report *x = &one.sim->report.rows[j], *y = &two.sim->report.rows[j];
            CHECK_NEAR(y->multiplier, x->multiplier, 1e-9 * speed);
            CHECK_NEAR(y->tangent[0], x->tangent[0], 1e-9 * speed);
            CHECK_NEAR(y->tangent[1], x->tangent[1], 1e-9 * speed);
            CHECK(x->is_gated == y->is_gated);
            closed += y->multiplier > 0.0;
        }
    }
    CHECK(closed > 4 * nrow); // contacts were at work most of the time
    text_case_close(&one);
    text_case_close(&two);
}

TEST(motions_agree)
{
    for (int m = 0; m < 2; m++) {
        compare(&(pile_shape){ .width = 3, .layers = 4, .young = 1e9 }, schemes[m], "condensed", 12);
        for (int slides = 0; slides < 2; slides++) {
            pile_shape s = shape(2, 3, 0.3, slides);
            compare(&s, schemes[m], "newton", 12);
        }
    }
}

// Products with the condensed matrix in a step, on average. Sets of contacts that come back (solved loosely, they
// may once) are not gone round in: projections are never needed.
static double effort(const pile_shape *s, const char *scheme)
{
    enum { STEPS = 6 };
    text_case c = pile_open(s, scheme, "schur");
    double products = 0.0;
    for (int k = 0; k < STEPS; k++) {
        text_case_step(&c);
        products += c.sim->solver->products;
        CHECK(c.sim->solver->revisits <= 2 && c.sim->solver->projections == 0);
    }
    text_case_close(&c);
    return products / STEPS;
}

// Eight times the layers: information has to go eight times as far. A solve takes hardly more products for it, and a
// pile that does not slide hardly more solves; more are needed where friction couples gaps, gates and velocities.
TEST(effort_does_not_grow_with_height)
{
    for (int m = 0; m < 2; m++)
        for (int kind = 0; kind < 3; kind++) {
            double products[3];
            for (int k = 0; k < 3; k++) {
                pile_shape s = shape(3, k == 0 ? 4 : k == 1 ? 12 : 32, kind == 0 ? 0.0 : 0.4, kind == 2 ? 1.0 : 0.0);
                products[k] = effort(&s, schemes[m]);
            }
            if (kind < 2) CHECK(products[2] < 1.25 * products[0]);
            else CHECK(products[2] < (m == 0 ? 4.5 : 2.5) * products[0]);
        }
}
