// The finite-element system against closed forms: weight and potential, loads over time, initial values, momentum with
// supports, the stable step, probes.

#include "fe/fe.h"
#include "support/check.h"
#include "support/model.h"

#include <math.h>
#include <string.h>

// rho A = 1.5 kg/m, E A = 300 N, c = sqrt(E / rho) = 14.142...
static const char *const steel = "E=600 rho=3 area=0.5", *const lumped = "E=600 rho=3 area=0.5 mass=lumped";

// 5 cells of 2 m on x, from 1 to 11 m.
static model *bar_model(const char *values)
{
    model *m = model_create();
    model_line(m, "bar", (double[]){ 1, 0, 0 }, (double[]){ 11, 0, 0 }, 5);
    model_group(m, "rod", "bar", values);
    return m;
}

static double potential(const model *m, const double *q)
{
    pcs_measure now;
    const double v[MODEL_MAX_SIZE] = { 0 };
    m->system->ops->measure(m->system, pcs_at(0.0, q, v), PCS_ENERGY, &now);
    return now.potential;
}

// The held ends weigh, too: they keep their potential but pull at no equation.
TEST(weight_with_supports)
{
    model *m = bar_model(steel);
    model_gravity(m, -10, 0, 0);
    model_support(m, "bar.start", "x");
    model_support(m, "bar.end", "x");
    model_build(m);
    CHECK(m->system->nv == 4);
    double f[4], q[4] = { 0 }, v[4] = { 0 }, resultant[3];
    m->system->ops->force(m->system, pcs_at(0.0, q, v), f);
    CHECK_ALL_NEAR(4, f, ((double[]){ -30, -30, -30, -30 }), 1e-13);
    CHECK_NEAR(potential(m, q), 15 * 10 * 6.0, 1e-12);
    q[2] = 0.2;
    CHECK_NEAR(potential(m, q), 15 * 10 * 6.0 + 30 * 0.2, 1e-12);
    pcs_system_resultant(m->system, pcs_at(0.0, (double[4]){ 0 }, v), resultant);
    CHECK_ALL_NEAR(3, resultant, ((double[]){ -120, 0, 0 }), 1e-12);
    model_destroy(&m);
}

TEST(loads_follow_their_table)
{
    static const double time[] = { 1.0, 3.0, 4.0 }, factor[] = { 0.0, 2.0, -1.0 };
    const double when[] = { -5, 1, 2, 3, 3.5, 4, 100 }, wanted[] = { 0, 0, 1, 2, 0.5, -1, -1 };
    model *m = bar_model(steel);
    CHECK_OK(m->ctx, pcs_mesh_add_range(m->mesh, PCS_NODES, 4, 2, "last"));
    model_force(m, "last", 8, 0, 0)->amplitude = (pcs_amplitude){ .count = 3, .time = time, .factor = factor };
    model_force(m, "bar.start", -5, 0, 0);
    model_build(m);
    const double q[6] = { 0 }, v[6] = { 0 }, q1[6] = { 0.5, 0, 0, 0, 0.25, -2 };
    for (size_t i = 0; i < sizeof when / sizeof *when; i++) {
        double f[6], resultant[3];
        m->system->ops->force(m->system, pcs_at(when[i], q, v), f);
        CHECK_ALL_NEAR(6, f, ((double[]){ -5, 0, 0, 0, 8 * wanted[i], 8 * wanted[i] }), 1e-14);
        pcs_system_resultant(m->system, pcs_at(when[i], q, v), resultant);
        CHECK_NEAR(resultant[0], -5 + 16 * wanted[i], 1e-14);
        CHECK_NEAR(m->system->ops->load_work(m->system, when[i], q, q1), -2.5 + 8 * wanted[i] * (0.25 - 2), 1e-14);
    }
    CHECK(potential(m, q1) == 0.0 && m->system->gravity == NULL);
    model_destroy(&m);
}

static void check_factors(pcs_amplitude amplitude, int count, const double (*wanted)[2])
{
    const pcs_fe_load load = { .amplitude = amplitude };
    // Some operations, each rounded, on numbers of the size of 1 and of the factor.
    for (int i = 0; i < count; i++) {
        double tolerance = 8.0 * DBL_EPSILON * (1.0 + fabs(wanted[i][1]));
        CHECK_NEAR(pcs_amplitude_value(&load.amplitude, wanted[i][0]), wanted[i][1], tolerance);
    }
}

TEST(closed_amplitudes_are_exact)
{
    static const char *const variables[] = { "t", NULL };
    const double s = sin(0.4 + 2.0 * acos(-1.0) * 3.0 * 0.7);
    pcs_expression e;
    pcs_expression_fault fault;
    CHECK(pcs_expression_compile("exp(-t)*step(t-1)", 17, variables, &e, &fault));
    pcs_amplitude sine = { .kind = PCS_AMPLITUDE_SINE, .size = 2, .mean = 0.5, .frequency = 3, .phase = 0.4 };
    pcs_amplitude ramp = { .kind = PCS_AMPLITUDE_RAMP, .start = 1, .duration = 2, .from = -1, .to = 3 };
    pcs_amplitude pulse = { .kind = PCS_AMPLITUDE_PULSE, .start = 1, .duration = 2, .size = 4 };
    pcs_amplitude formula = { .kind = PCS_AMPLITUDE_EXPRESSION, .expression = &e };
    check_factors(sine, 2, (const double[][2]){ { 0.0, 0.5 + 2.0 * sin(0.4) }, { 0.7, 0.5 + 2.0 * s } });
    check_factors(ramp, 5, (const double[][2]){ { -9, -1 }, { 1, -1 }, { 1.5, 0 }, { 3, 3 }, { 99, 3 } });
    check_factors(pulse, 6, (const double[][2]){ { 0, 0 }, { 0.999, 0 }, { 1, 4 }, { 2.999, 4 }, { 3, 0 }, { 9, 0 } });
    check_factors(formula, 2, (const double[][2]){ { 0.5, 0.0 }, { 1.5, exp(-1.5) } });
    ramp.is_smooth = pulse.is_smooth = true;
    // r(1/4) = 10/64 - 15/256 + 6/1024
    check_factors(ramp, 5,
                  (const double[][2]){ { 1, -1 }, { 1.5, -1 + 4 * 0.103515625 }, { 2, 1 }, { 3, 3 }, { 4, 3 } });
    check_factors(pulse, 5, (const double[][2]){ { 0.9, 0 }, { 1, 0 }, { 1.5, 2 * sqrt(2) }, { 2, 4 }, { 3.1, 0 } });
}

// Displacement of one set and velocity of another may share nodes; a set of one node has its first value. A bar
// numbered from right to left takes its values in the order of its nodes.
TEST(initial_values_of_several_sets)
{
    model *m = model_create();
    model_line(m, "bar", (double[]){ 0, 4, 0 }, (double[]){ 0, 0, 0 }, 2);
    model_group(m, "rod", "bar", steel);
    pcs_fe_initial *moved = model_initial(m, "bar"), *thrown = model_initial(m, "bar.end");
    moved->displacement.is_given = true;
    moved->displacement.ends[0][1] = 1.0;
    moved->displacement.ends[1][1] = 3.0;
    thrown->velocity.is_given = true;
    thrown->velocity.ends[0][1] = 7.0;
    thrown->velocity.ends[1][1] = 9.0;
    model_build(m);
    double q[3] = { 0 }, v[3] = { 0 };
    const char *culprit;
    CHECK_OK(m->ctx, pcs_fe_initial_state(m->system, q, v, &culprit));
    CHECK_ALL_NEAR(3, q, ((double[]){ 1, 2, 3 }), 1e-15);
    CHECK_ALL_NEAR(3, v, ((double[]){ 0, 0, 7 }), 1e-15);
    CHECK(culprit == NULL);
    model_destroy(&m);
}

// l / (sqrt 3 c) for the consistent mass, l / c for the lumped one, (2/w)(sqrt(1 + xi^2) - xi) with damping.
TEST(stable_step_of_bars)
{
    const double c = sqrt(600.0 / 3.0), free[2] = { 2.0 / (sqrt(3.0) * c), 2.0 / c };
    for (int i = 0; i < 2; i++) {
        model *m = bar_model(i == 0 ? steel : lumped);
        model_support(m, "bar.end", "x");
        model_build(m);
        CHECK_RELATIVE(m->system->stable_step, free[i], 1e-13);
        model_destroy(&m);

        const double alpha = 0.5, beta = 0.03, w = 2.0 / free[i], xi = 0.5 * (alpha / w + beta * w);
        m = bar_model(i == 0 ? steel : lumped);
        m->groups[0].damping_mass = alpha;
        m->definition.damping_stiffness = beta;
        model_build(m);
        CHECK_RELATIVE(m->system->stable_step, 2.0 / w * (sqrt(1.0 + xi * xi) - xi), 1e-13);
        model_destroy(&m);

        // Very stiff damping: 2 / (beta w^2), which the formula as printed would lose to cancellation.
        m = bar_model(i == 0 ? steel : lumped);
        m->groups[0].damping_stiffness = 1e9;
        model_build(m);
        CHECK_RELATIVE(m->system->stable_step, 2.0 / (1e9 * w * w), 1e-12);
        model_destroy(&m);
    }
}

static double read_probe(const model *m, const char *nodes, const char *component, const double *q, const double *v)
{
    pcs_probe probe;
    CHECK_OK(m->ctx, pcs_fe_node_probe(m->system, model_nodes(m, nodes), component, &probe));
    return m->system->ops->probe(m->system, &probe, pcs_at(0.0, q, v));
}

TEST(probes_of_nodes_and_cells)
{
    model *m = bar_model(steel);
    model_support(m, "bar.start", "x");
    CHECK_OK(m->ctx, pcs_mesh_add_range(m->mesh, PCS_NODES, 0, 3, "three")); // at 1, 3, 5 m, the first one held
    CHECK_OK(m->ctx, pcs_mesh_add_range(m->mesh, PCS_CELLS, 1, 2, "pair"));
    model_build(m);
    const double q[5] = { 0.1, 0.4, 0.2, 0, 0.5 }, v[5] = { 3, 6, 0, 0, -2 };
    CHECK_NEAR(read_probe(m, "bar.end", "x", q, v), 11.5, 1e-14);
    CHECK_NEAR(read_probe(m, "bar.end", "ux", q, v), 0.5, 1e-15);
    CHECK_NEAR(read_probe(m, "bar.end", "vx", q, v), -2.0, 1e-15);
    CHECK_NEAR(read_probe(m, "bar.start", "x", q, v), 1.0, 1e-15);
    CHECK_NEAR(read_probe(m, "bar.start", "vx", q, v), 0.0, 0.0);
    CHECK_NEAR(read_probe(m, "bar.end", "uy", q, v), 0.0, 0.0);
    CHECK_NEAR(read_probe(m, "three", "x", q, v), 3.0 + 0.5 / 3, 1e-14);
    CHECK_NEAR(read_probe(m, "three", "ux", q, v), 0.5 / 3, 1e-15);
    CHECK_NEAR(read_probe(m, "three", "vx", q, v), 3.0, 1e-15);
    pcs_probe probe;
    // E / l = 300: stretches 0.3 and -0.2
    CHECK_OK(m->ctx, pcs_fe_cell_probe(m->system, model_cells(m, "pair"), "stress", &probe));
    CHECK_NEAR(m->system->ops->probe(m->system, &probe, pcs_at(0.0, q, v)), 300 * 0.5 * (0.3 - 0.2), 1e-13);
    CHECK_OK(m->ctx, pcs_fe_cell_probe(m->system, model_cells(m, "bar.start"), "axial_force", &probe));
    CHECK_NEAR(m->system->ops->probe(m->system, &probe, pcs_at(0.0, q, v)), 150 * 0.1, 1e-13);
    model_destroy(&m);
}

static double read_centre(const model *m, const char *cells, const char *component, const double *q, const double *v)
{
    pcs_probe probe;
    CHECK_OK(m->ctx, pcs_fe_body_probe(m->system, model_cells(m, cells), component, &probe));
    return m->system->ops->probe(m->system, &probe, pcs_at(0.0, q, v));
}

// Whatever the element, its centre has the momentum of the model over its mass.
TEST(centre_has_the_momentum_of_every_element)
{
    unsigned long long seed = 5;
    for (int e = 0; pcs_elements[e] != NULL; e++) {
        model *m = model_create();
        if (pcs_elements[e]->nnode == 1) model_point(m, "bar", (double[]){ 1, 2, 3 });
        else model_chain(m, "bar", 4, (const double[][3]){ { 1, 0, 0 }, { 2, 0, 0 }, { 3, 1, 0 }, { 6, 1, 0 } });
        model_group(m, pcs_elements[e]->name, "bar", "");
        bool is_built = model_try_build(m) == PCS_OK && m->system->mass > 0.0;
        double v[MODEL_MAX_SIZE] = { 0 }, q[MODEL_MAX_SIZE] = { 0 };
        if (is_built) model_randomize(&seed, m->system->nv, v);
        pcs_measure now = { 0 };
        if (is_built) m->system->ops->measure(m->system, pcs_at(0.0, q, v), PCS_ENERGY, &now);
        for (int k = 0; k < (is_built ? 3 : 0); k++) {
            char component[3] = { 'v', "xyz"[k], '\0' };
            double wanted = now.momentum[k] / m->system->mass;
            CHECK_NEAR(read_centre(m, "bar", component, q, v), wanted, 1e-13 * (1.0 + fabs(wanted)));
        }
        model_destroy(&m);
    }
}
