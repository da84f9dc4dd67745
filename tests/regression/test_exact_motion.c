// Exact beams in motion: a pendulum against digits of an independent program, the plane against space, beams that fly,
// tumble and spin in space under every scheme that turns finite rotations.

#include "core/rotation.h"
#include "elements/section.h"
#include "support/check.h"
#include "support/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static void set_section(const pcs_fe_group *group, double area, double I, double torsion, double shear)
{
    const pcs_section section = { .area = area, .Iy = I, .Iz = I, .torsion = torsion, .ky = shear, .kz = shear };
    memcpy((char *)(size_t)group->params + group->ops->section_offset, &section, sizeof section);
}

// Axes of a skew frame.
static const double axes[3][3] = { { 1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0 },
                                   { 2.0 / 3.0, -2.0 / 3.0, 1.0 / 3.0 },
                                   { 2.0 / 3.0, 1.0 / 3.0, -2.0 / 3.0 } };

// E A = G A ky = 1e4, E I = G J = 500, rho A = 1, length 10: soft enough to bend through large angles.
static model *soft_beam(const char *element, const char *mass, const double along[3], int n, double offset)
{
    char values[160];
    const double from[3] = { -offset * along[0], -offset * along[1], -offset * along[2] };
    double to[3];
    for (int k = 0; k < 3; k++) to[k] = from[k] + 10.0 * along[k];
    model *m = model_create();
    model_line(m, "beam", from, to, n);
    snprintf(values, sizeof values, "E=1e4 nu=0 rho=1 mass=%s orientation=%.17g,%.17g,%.17g", mass, axes[1][0],
             axes[1][1], axes[1][2]);
    set_section(model_group(m, element, "beam", values), 1.0, 0.05, 0.1, 2.0);
    return m;
}

// Lumped masses make both elements the same in a plane: the motion in the x-y plane, and that in a skew plane.
TEST(space_contains_the_plane)
{
    enum { N = 6 };
    const double x_axis[3] = { 1, 0, 0 };
    model *plane = soft_beam("beam_exact_2d", "lumped", x_axis, N, 0.0);
    model *space = soft_beam("beam_exact_3d", "lumped", axes[0], N, 0.0);
    model_build(plane);
    model_build(space);
    model_run a = model_prepare(plane, "alpha_ggl", "rho_inf=0.9", "newton", "auto");
    model_run b = model_prepare(space, "alpha_ggl", "rho_inf=0.9", "newton", "auto");
    for (int i = 0; i <= N; i++) {
        double v[3] = { 1.0, 2.0 * i - 3.0 + 8.0 * sin(pi * i / N), 2.0 };
        memcpy(a.x.v + 3 * i, v, sizeof v);
        for (int k = 0; k < 3; k++) {
            b.x.v[6 * i + k] = v[0] * axes[0][k] + v[1] * axes[1][k];
            b.x.v[6 * i + 3 + k] = v[2] * axes[2][k];
        }
    }
    model_start(&a);
    model_start(&b);
    double largest = 0.0;
    for (int step = 0; step < 1000; step++) {
        model_step(&a, 2e-3);
        model_step(&b, 2e-3);
        largest = fmax(largest, fabs(a.x.q[3 * N + 2] - a.x.q[2]));
    }
    for (int i = 0; i <= N; i++) {
        const double *p = a.x.q + 3 * i, *q = b.x.q + 6 * i;
        CHECK_NEAR(pcs_dot3(axes[0], q), p[0], 1e-9);
        CHECK_NEAR(pcs_dot3(axes[1], q), p[1], 1e-9);
        CHECK_NEAR(pcs_dot3(axes[2], q), 0.0, 1e-9);
        CHECK_NEAR(remainder(pcs_dot3(axes[2], q + 3) - p[2], 2.0 * pi), 0.0, 1e-9);
    }
    CHECK(largest > 0.5); // it bends
    model_destroy(&plane);
    model_destroy(&space);
}

// sum x cross p + R (J Om) about the origin.
static void angular_momentum(const model_run *run, double sum[3])
{
    const pcs_system *system = run->m->system;
    double p[MODEL_MAX_SIZE];
    pcs_matrix_multiply(system->M, run->x.v, p);
    sum[0] = sum[1] = sum[2] = 0.0;
    for (int i = 0; i < run->m->mesh->nnode; i++) {
        double x[3], a[3], b[3], R[9];
        for (int k = 0; k < 3; k++) x[k] = run->m->mesh->x[i][k] + run->x.q[6 * i + k];
        pcs_cross(x, p + 6 * i, a);
        pcs_rotation_exp(run->x.q + 6 * i + 3, R);
        pcs_rotation_apply(R, p + 6 * i + 3, b);
        for (int k = 0; k < 3; k++) sum[k] += a[k] + b[k];
    }
}

// Thrown, turning about an axis that is not one of its own, and bending in two planes.
static void throw_beam(model_run *run)
{
    int n = run->m->mesh->nnode - 1;
    const double w[3] = { 0.5, 1.0, 2.0 };
    for (int i = 0; i <= n; i++) {
        double *v = run->x.v + 6 * i, s = (double)i / n;
        pcs_cross(w, run->m->mesh->x[i], v);
        v[0] += 2.0;
        v[1] += 1.0 + 3.0 * sin(pi * s);
        v[2] += 2.0 * sin(2.0 * pi * s);
        memcpy(v + 3, w, sizeof w);
    }
    model_start(run);
}

static double total_energy(const model_run *run, pcs_measure *out)
{
    run->m->system->ops->measure(run->m->system, pcs_at(run->x.t, run->x.q, run->x.v), PCS_ENERGY, out);
    return out->kinetic + out->strain;
}

// Linear momentum is kept to round-off. Energy goes down by what a scheme damps, least for rho_inf = 1; the bounds are
// those found for a flying beam in the plane.
TEST(flying_beam_keeps_its_momentum)
{
    const struct {
        const char *scheme, *values;
        double loss, bound, rotation; // relative: measured, allowed; change of the angular momentum allowed
    } cases[] = { { "alpha_ggl", "rho_inf=1", 4.302e-6, 8e-5, 3e-5 },
                  { "alpha_ggl", "rho_inf=0.8", 1.028e-4, 6.8e-3, 3e-5 },
                  { "alpha_ggl", "rho_inf=0.5", 8.665e-4, 1.0e-2, 3e-4 },
                  { "moreau_jean", "rho_inf=0.8", 5.506e-3, 4.4e-2, 1.2e-2 },
                  { "moreau_jean", "theta=1", 3.094e-2, 0.228, 5e-2 } };
    double last = 0.0;
    for (int c = 0; c < 5; c++) {
        const double x_axis[3] = { 1, 0, 0 };
        model *m = soft_beam("beam_exact_3d", "consistent", x_axis, 10, 5.0);
        model_build(m);
        model_run run = model_prepare(m, cases[c].scheme, cases[c].values, "newton", "auto");
        pcs_measure before, after;
        double spin[3], spun[3], size = 0.0;
        throw_beam(&run);
        double energy = total_energy(&run, &before);
        angular_momentum(&run, spin);
        for (int i = 0; i < 2000; i++) model_step(&run, 1e-3);
        double loss = 1.0 - total_energy(&run, &after) / energy;
        angular_momentum(&run, spun);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(after.momentum[k], before.momentum[k], 1e-13 * 20.0);
            size = fmax(size, fabs(spin[k]));
        }
        for (int k = 0; k < 3; k++) CHECK_NEAR(spun[k], spin[k], cases[c].rotation * size);
        CHECK_RELATIVE(loss, cases[c].loss, 0.02);
        CHECK(loss > last && loss < cases[c].bound);
        CHECK(after.strain > 1.0);
        last = loss;
        model_destroy(&m);
    }
}

static const char *spin_values(const pcs_scheme_ops *ops)
{
    if (strcmp(ops->name, "moreau_jean") == 0) return "theta=0.5";
    if (strcmp(ops->name, "newmark") == 0) return "gamma=0.5 beta=0.25";
    return "";
}

// Ten turns about an axis square to the beam: rotation vectors of every node come past half a turn ten times, where
// they jump; velocities and forces do not notice.
TEST(spinning_beam_turns_ten_times)
{
    int count = 0;
    for (int s = 0; pcs_schemes[s] != NULL; s++) {
        if (!(pcs_schemes[s]->takes & PCS_TAKES_ROTATIONS)) continue;
        count++;
        enum { N = 4 };
        // forward Euler drives circles outwards by (w h)^2 a step
        bool is_euler = strcmp(pcs_schemes[s]->name, "moreau_jean_explicit") == 0;
        const double w = 2.0 * pi, h = is_euler ? 2e-4 : 2e-3, noise = is_euler ? 0.1 : 5e-5;
        model *m = soft_beam("beam_exact_3d", "consistent", axes[0], N, 5.0);
        m->definition.damping_stiffness =
            0.005; // takes the stretching that the start sets off, and nothing of the spin
        set_section(&m->groups[0], 1.0, 2.0, 4.0, 2.0);
        model_build(m);
        model_run run = model_prepare(m, pcs_schemes[s]->name, spin_values(pcs_schemes[s]), "newton", "auto");
        for (int i = 0; i <= N; i++) {
            double spin[3];
            for (int k = 0; k < 3; k++) spin[k] = w * axes[2][k];
            pcs_cross(spin, m->mesh->x[i], run.x.v + 6 * i);
            memcpy(run.x.v + 6 * i + 3, spin, sizeof spin);
        }
        model_start(&run);
        double rotated = 0.0, start[3], end[3];
        int jumps = 0;
        angular_momentum(&run, start);
        while (rotated < 20.0 * pi) {
            double old[3], back[3], step[3];
            memcpy(old, run.x.q + 6 * N + 3, sizeof old);
            for (int k = 0; k < 3; k++) back[k] = -old[k];
            model_step(&run, h);
            const double *p = run.x.q + 6 * N + 3;
            pcs_rotation_compose(back, p, step);
            double along = pcs_dot3(step, axes[2]);
            // each step turns the tip a little further, and about the axis alone
            CHECK(along > 0.3 * w * h && along < 1.5 * w * h);
            CHECK_NEAR(sqrt(fabs(pcs_dot3(step, step) - along * along)), 0.0, 1e-7);
            CHECK(pcs_dot3(p, p) <= pi * pi * (1.0 + 1e-14));
            if (fabs(p[0] - old[0]) > 1.0) jumps++;
            rotated += along;
        }
        assert_int_equal(jumps, 10);
        angular_momentum(&run, end);
        for (int k = 0; k < 3; k++) CHECK_NEAR(end[k], start[k], noise * fabs(start[k]));
        for (int i = 0; i <= N; i++) CHECK_NEAR(pcs_dot3(run.x.q + 6 * i, axes[2]), 0.0, 1e-9);
        model_destroy(&m);
    }
    CHECK(count >= 5);
}
