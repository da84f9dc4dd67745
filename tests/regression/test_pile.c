// Piles of beams, all contacts at once: the solver of many contacts against the dense ones step by step, momentum and
// friction by their definitions, and how its effort grows with the pile.

#include "support/check.h"
#include "support/model.h"
#include "support/pile.h"

#include "step/projection.h"

static pile_shape shape(int width, int layers, double friction, double sideways)
{
    return (pile_shape){
        .width = width, .layers = layers, .elements = 1, .friction = friction, .sideways = sideways, .young = 1e9
    };
}

static void step(pile *p, pile_run *run, double h)
{
    CHECK_OK(p->ctx, run->scheme->ops->step(run->scheme, &run->x, h, &run->report));
    if (run->report.outcome != PCS_CONVERGED) fail_msg("%s", pcs_outcome_text(run->report.outcome));
}

typedef struct method {
    const char *scheme, *option;
    double value;
} method;

static const method methods[] = { { "alpha_ggl", "rho_inf", 0.8 }, { "moreau_jean", "theta", 0.6 } };

// Step by step the same motion and the same impulses, resting and sliding.
static void compare(const pile_shape *s, const method *m, const char *solver, int steps)
{
    pile *a = pile_build(s), *b = pile_build(s);
    pile_run one = pile_prepare(a, m->scheme, m->option, m->value, solver);
    pile_run two = pile_prepare(b, m->scheme, m->option, m->value, "schur");
    int n = a->system->nv, closed = 0;
    for (int k = 0; k < steps; k++) {
        step(a, &one, 1e-3);
        step(b, &two, 1e-3);
        double speed = fmax(1e-3, s->sideways);
        for (int i = 0; i < n; i++) {
            CHECK_NEAR(two.x.v[i], one.x.v[i], 1e-10 * speed);
            CHECK_NEAR(two.x.q[i], one.x.q[i], 1e-12 * speed);
        }
        for (int j = 0; j < a->system->nrow; j++) {
            const pcs_row_report *x = &one.report.rows[j], *y = &two.report.rows[j];
            CHECK_NEAR(y->multiplier, x->multiplier, 1e-9 * speed);
            CHECK_NEAR(y->tangent[0], x->tangent[0], 1e-9 * speed);
            CHECK_NEAR(y->tangent[1], x->tangent[1], 1e-9 * speed);
            CHECK(x->is_gated == y->is_gated);
            closed += y->multiplier > 0.0;
        }
    }
    CHECK(closed > 4 * a->system->nrow); // contacts were at work most of the time
    pile_destroy(a);
    pile_destroy(b);
}

TEST(motions_agree)
{
    for (int m = 0; m < 2; m++) {
        compare(&(pile_shape){ .width = 3, .layers = 4, .elements = 1, .young = 1e9 }, &methods[m], "condensed", 12);
        for (int slides = 0; slides < 2; slides++) {
            pile_shape s = shape(2, 3, 0.3, slides);
            compare(&s, &methods[m], "newton", 12);
        }
    }
}

// After every step: no penetration; impulses in the cone, at its edge and against the slip where a contact slides; and
// what the floor gives is what the momentum of the whole changes by, beyond gravity.
TEST(laws_hold)
{
    const double h = 1e-3, mu = 0.4;
    pile_shape s = shape(3, 40, mu, 0.5);
    s.speed = 0.3;
    pile *p = pile_build(&s);
    pile_run run = pile_prepare(p, "alpha_ggl", "rho_inf", 0.8, "schur");
    const pcs_system *system = p->system;
    double momentum[3], weight[3], none = 0.0;
    pcs_measure measure;
    int sliding = 0, sticking = 0, shut = 0;
    double *nu = pcs_take(p->ctx, (size_t)system->nrow, sizeof *nu, "a test"),
           *moved = pcs_take(p->ctx, (size_t)system->nrow, sizeof *moved, "a test"),
           *rub = pcs_take(p->ctx, (size_t)system->ntangent, sizeof *rub, "a test");
    for (int k = 0; k < 20; k++) {
        system->ops->measure(system, pcs_at(run.x.t, run.x.q, run.x.v), PCS_ENERGY, &measure);
        memcpy(momentum, measure.free_momentum, sizeof momentum);
        step(p, &run, h);
        system->ops->measure(system, pcs_at(run.x.t, run.x.q, run.x.v), PCS_ENERGY, &measure);
        pcs_system_resultant(system, pcs_at(0.0, run.x.q, run.x.v), weight);
        // The gate of a row is closed where the motion without corrections would have closed it, or where its law acts.
        for (int j = 0; j < system->nrow; j++) {
            nu[j] = run.report.rows[j].nu;
            for (int t = 0; t < 2; t++)
                rub[system->rows[j].first_tangent + t] = 0.5 * h * run.report.rows[j].tangent[t];
        }
        pcs_projection_rates(run.solver, nu, rub, moved);
        double floor[3] = { 0 };
        for (int j = 0; j < system->nrow; j++) {
            const pcs_row_report *row = &run.report.rows[j];
            double slip[2], impulse = hypot(row->tangent[0], row->tangent[1]), limit = mu * row->multiplier;
            for (int t = 0; t < 2; t++) slip[t] = pcs_rows_dot(system->T, system->rows[j].first_tangent + t, run.x.v);
            double speed = hypot(slip[0], slip[1]);
            CHECK(row->gap >= -1e-14);
            double smooth = row->gap - moved[j];
            if (row->is_gated) CHECK(row->nu > 0.0 || smooth <= 1e-14);
            else CHECK(smooth >= -1e-14 && row->nu <= 1e-14 * run.solver->effective_mass[j]);
            shut += !row->is_gated;
            CHECK(impulse <= limit * (1.0 + 1e-13) + none);
            if (row->multiplier > 1e-6 && speed > 1e-9) {
                CHECK_NEAR(row->tangent[0] * slip[0] + row->tangent[1] * slip[1], -limit * speed, 1e-11 * limit);
                sliding++;
            } else if (row->multiplier > 1e-6) {
                sticking++;
            }
            if (j >= s.width * s.width) continue;
            floor[0] += row->tangent[0]; // the tangents of a horizontal floor are x and y
            floor[1] += row->tangent[1];
            floor[2] += row->multiplier;
        }
        for (int i = 0; i < 3; i++)
            CHECK_NEAR(measure.free_momentum[i] - momentum[i], floor[i] + h * weight[i], 1e-10 * system->mass);
    }
    print_message("%d contacts slid, %d stuck, %d were not gated\n", sliding, sticking, shut);
    CHECK(sliding > 100 && sticking > 100 && shut > 100);
    pile_destroy(p);
}

// Under its weight alone a pile has no reason to slide: friction changes nothing, however many rounds gaps, gates and
// velocities take to agree.
TEST(friction_at_rest_does_nothing)
{
    pile_shape s = shape(12, 12, 0.0, 0.0), rough = shape(12, 12, 0.4, 0.0);
    pile *a = pile_build(&s), *b = pile_build(&rough);
    pile_run one = pile_prepare(a, "alpha_ggl", "rho_inf", 0.8, "schur");
    pile_run two = pile_prepare(b, "alpha_ggl", "rho_inf", 0.8, "schur");
    for (int k = 0; k < 8; k++) {
        step(a, &one, 1e-3);
        step(b, &two, 1e-3);
        for (int i = 0; i < a->system->nv; i++) CHECK_NEAR(two.x.v[i], one.x.v[i], 1e-11);
    }
    pile_destroy(a);
    pile_destroy(b);
}

// Products with the condensed matrix in a step, on average. Sets of contacts that come back (solved loosely, they
// may once) are not gone round in: projections are never needed.
static double effort(const pile_shape *s, const method *m)
{
    enum { STEPS = 6 };
    pile *p = pile_build(s);
    pile_run run = pile_prepare(p, m->scheme, m->option, m->value, "schur");
    double products = 0.0;
    for (int k = 0; k < STEPS; k++) {
        step(p, &run, 1e-3);
        products += run.solver->products;
        CHECK(run.solver->revisits <= 2 && run.solver->projections == 0);
    }
    pile_destroy(p);
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
                products[k] = effort(&s, &methods[m]);
            }
            print_message("%s%s%s: %.1f, %.1f, %.1f products a step with 36, 108, 288 contacts\n", methods[m].scheme,
                          kind > 0 ? ", friction" : "", kind == 2 ? ", sliding" : "", products[0], products[1],
                          products[2]);
            if (kind < 2) CHECK(products[2] < 1.25 * products[0]);
            else CHECK(products[2] < (m == 0 ? 4.5 : 2.5) * products[0]);
        }
}

// Bending that is stiff against the mass in a step; a third level of the preconditioner costs more.
TEST(stiff_bending_costs_few_products)
{
    double worst = 0.0;
    for (int m = 0; m < 2; m++) {
        double products[3];
        for (int k = 0; k < 3; k++) {
            pile_shape s = shape(8, 3, 0.4, 0.0);
            s.young = 1e9 * pow(100.0, k);
            products[k] = effort(&s, &methods[m]);
        }
        print_message("%s: %.1f, %.1f, %.1f products a step, 100 times as stiff each\n", methods[m].scheme, products[0],
                      products[1], products[2]);
        worst = fmax(worst, products[2] / products[0]);
    }
    CHECK(worst < 3.0);
}

// A pile that drops and slides.
static pile_shape sliding_shape(int width, int layers, double young)
{
    pile_shape s = shape(width, layers, 0.5, 0.4);
    s.gap = 1e-4;
    s.speed = 0.1;
    s.young = young;
    return s;
}

// Tall piles of stiff beams, where all that columns of contacts join feel each other: the motion of the dense solver.
TEST(tall_piles_that_slide)
{
    for (int m = 0; m < 2; m++) {
        pile_shape s = sliding_shape(2, 25, 4e11);
        compare(&s, &methods[m], "newton", 26);
    }
}

// Two rods side by side that touch at all of their nodes, along their axes: contacts feel each other as far as a wave
// runs in a step, 1 to 300 cells. As many contacts as equations of a rod, so the preconditioner is exact.
TEST(stiff_bodies_cost_no_products)
{
    enum { CELLS = 60 };
    for (int k = 0; k < 4; k++) {
        model *m = model_create();
        char text[96];
        model_line(m, "a", (double[]){ 0, 0, 0 }, (double[]){ CELLS, 0, 0 }, CELLS);
        model_line(m, "b", (double[]){ 0, 1, 0 }, (double[]){ CELLS, 1, 0 }, CELLS);
        snprintf(text, sizeof text, "E=%g rho=1000 area=0.01", 1e9 * (double[]){ 1, 1e2, 1e3, 1e5 }[k]);
        model_group(m, "rod", "a", text);
        model_group(m, "rod", "b", text);
        for (int i = 0; i < 2; i++)
            model_initial(m, i == 0 ? "a" : "b")->velocity =
                (pcs_fe_profile){ .is_given = true, .ends = { { 1.0 - 2.0 * i }, { 1.0 - 1.99999 * i } } };
        model_contact(m, "pairs", "node_node", "a=a b=b normal=1,0,0 restitution=0");
        model_build(m);
        model_run run = model_prepare(m, "moreau_jean", "theta=0.6", "schur", NULL);
        model_start(&run);
        model_step(&run, 1e-3);
        CHECK(run.solver->products <= 4);
        for (int j = 0; j < m->system->nrow; j++) CHECK(run.report.rows[j].multiplier > 0.0);
        model_destroy(&m);
    }
}

// A contact stated twice: loads are shared, the motion is the same.
TEST(redundant_contacts_do_not_matter)
{
    pile_shape s = shape(2, 3, 0.0, 0.0);
    pile *a = pile_build(&s);
    s.doubles = true;
    pile *b = pile_build(&s);
    CHECK(b->system->nrow == 2 * a->system->nrow);
    for (int m = 0; m < 2; m++) {
        pile_run one = pile_prepare(a, methods[m].scheme, methods[m].option, methods[m].value, "schur");
        pile_run two = pile_prepare(b, methods[m].scheme, methods[m].option, methods[m].value, "schur");
        for (int k = 0; k < 10; k++) {
            step(a, &one, 1e-3);
            step(b, &two, 1e-3);
            for (int i = 0; i < a->system->nv; i++) CHECK_NEAR(two.x.v[i], one.x.v[i], 1e-13);
        }
    }
    pile_destroy(a);
    pile_destroy(b);
}
