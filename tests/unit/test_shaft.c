// Shafts, discs, rigid bodies and beams with offsets against closed forms.

#include "core/rotation.h"
#include "elements/section.h"
#include "fe/fe.h"
#include "support/check.h"
#include "support/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_cell(model *m, const char *name, int node)
{
    int cell;
    CHECK_OK(m->ctx, pcs_mesh_add_cells(m->mesh, 1, &cell));
    m->mesh->cell[cell][0] = m->mesh->cell[cell][1] = node;
    CHECK_OK(m->ctx, pcs_mesh_add_cell_range(m->mesh, name, cell, 1));
}

// A node at the origin with the cells of one name each.
static model *point_model(int ncell, const char *const *names)
{
    model *m = model_create();
    int node;
    CHECK_OK(m->ctx, pcs_mesh_add_nodes(m->mesh, 1, &node));
    CHECK_OK(m->ctx, pcs_mesh_add_node_range(m->mesh, "node", node, 1));
    for (int i = 0; i < ncell; i++) add_cell(m, names[i], node);
    return m;
}

static void set_section(model *m, int group, pcs_section section)
{
    memcpy((char *)(uintptr_t)m->groups[group].params + m->groups[group].ops->section_offset, &section, sizeof section);
}

static void hold(model *m, const char *nodes, const char *fixes)
{
    pcs_fe_support *support = model_support(m, nodes, "");
    for (int axis = 0; axis < 6; axis++) support->fixes[axis] = fixes[axis] == '1';
}

// Round steel of 25 mm diameter, simply supported over 0.59 m (Schindler et al. 2015, Table 6).
static const double pi = 3.14159265358979323846, l = 0.59, r = 12.5e-3, E = 2.1e11, G = 0.81e11, rho = 7850.0;

static pcs_section round_section(void)
{
    double I = 0.25 * pi * r * r * r * r;
    return (pcs_section){
        .area = pi * r * r, .Iy = I, .Iz = I, .torsion = 2.0 * I, .ky = 0.886, .kz = 0.886, .cy = r, .cz = r
    };
}

static model *shaft(const char *element, double speed, const double along[3], const char *start, const char *end)
{
    model *m = model_create();
    const double from[3] = { 0.2, -0.1, 0.3 };
    double to[3];
    char values[256];
    for (int k = 0; k < 3; k++) to[k] = from[k] + l * along[k];
    model_line(m, "shaft", from, to, 16);
    snprintf(values, sizeof values, "E=%.17g nu=%.17g rho=%.17g orientation=0.3,0.5,0.7 speed=%.17g", E,
             E / (2.0 * G) - 1.0, rho, speed);
    model_group(m, element, "shaft", values);
    set_section(m, 0, round_section());
    hold(m, "shaft.start", start);
    hold(m, "shaft.end", end);
    model_build(m);
    return m;
}

// The driven shaft at a steady spin has the moments of the given speed, and they take no power.
TEST(driven_shaft_spins_as_its_nodes_do)
{
    const double along[3] = { 1, 0, 0 };
    model *given = shaft("rotor_beam", 700.0, along, "111000", "011000");
    model *driven = shaft("rotor_beam_driven", 0.0, along, "111000", "011000");
    int n = given->system->nv;
    const pcs_dofmap *map = pcs_fe_dofmap(driven->system);
    double q[MODEL_MAX_SIZE] = { 0 }, v[MODEL_MAX_SIZE] = { 0 }, f[2][MODEL_MAX_SIZE];
    unsigned long long seed = 3;
    CHECK(driven->system->nv == n && !driven->system->is_linear);
    model_randomize(&seed, n, v);
    for (int i = 0; i < map->ndof; i++)
        if (map->dof[i].is_rotation && map->dof[i].direction[0] == 1.0 && map->dof[i].equation >= 0)
            v[map->dof[i].equation] = 700.0;
    given->system->ops->force(given->system, pcs_at(0.0, q, v), f[0]);
    driven->system->ops->force(driven->system, pcs_at(0.0, q, v), f[1]);
    double size = 0.0, power = 0.0, work = 0.0;
    for (int i = 0; i < n; i++) {
        size = fmax(size, fabs(f[0][i]));
        power += f[1][i] * v[i];
        work += fabs(f[1][i] * v[i]);
    }
    CHECK(size > 1e-3);
    CHECK_ALL_NEAR(n, f[1], f[0], 1e-13 * size);
    CHECK_NEAR(power, 0.0, 1e-13 * work);
    model_destroy(&given);
    model_destroy(&driven);
}

// A shaft that tilts as a whole feels -s Jp (w x a) in all, Jp = rho Ip L: the moments of its forces add up to it.
TEST(tilting_shaft_feels_the_moment_of_a_top)
{
    const double from[3] = { 0 }, to[3] = { 0.3, 0, 0 }, tilt[3] = { 0, 0.4, 0.9 };
    static const char *const masses[] = { "consistent", "lumped" };
    for (int which = 0; which < 2; which++) {
        model *m = model_create();
        char values[256];
        model_line(m, "shaft", from, to, 3);
        snprintf(values, sizeof values, "E=1 nu=0.3 rho=%.17g orientation=0,1,0 speed=700 mass=%s", rho, masses[which]);
        model_group(m, "rotor_beam", "shaft", values);
        set_section(m, 0, round_section());
        model_build(m);
        double q[24] = { 0 }, v[24] = { 0 }, f[24], moment[3] = { 0 }, arm_force[3];
        for (int i = 0; i < 4; i++) {
            pcs_cross(tilt, m->mesh->x[i], v + 6 * i);
            memcpy(v + 6 * i + 3, tilt, sizeof tilt);
        }
        m->system->ops->force(m->system, pcs_at(0.0, q, v), f);
        for (int i = 0; i < 4; i++) {
            pcs_cross(m->mesh->x[i], f + 6 * i, arm_force);
            for (int k = 0; k < 3; k++) moment[k] += arm_force[k] + f[6 * i + 3 + k];
        }
        double polar = rho * 2.0 * round_section().Iz * 0.3;
        const double wanted[3] = { 0.0, -700.0 * polar * tilt[2], 700.0 * polar * tilt[1] };
        CHECK_ALL_NEAR(3, moment, wanted, 1e-13 * 700.0 * polar);
        model_destroy(&m);
    }
}

// Damping by mass is about deflections: the spin of what is driven goes on.
TEST(damping_leaves_the_spin_alone)
{
    const double from[3] = { 0 }, to[3] = { 0.3, 0, 0 };
    model *m = model_create();
    model_line(m, "shaft", from, to, 1);
    add_cell(m, "wheel", 1);
    model_group(m, "rotor_beam_driven", "shaft", "E=1 nu=0.3 rho=7850 orientation=0,1,0")->damping_mass = 60.0;
    model_group(m, "disc_driven", "wheel", "mass=2 inertia=0.5,0.3,0.3")->damping_mass = 60.0;
    model_build(m);
    double q[12] = { 0 }, spin[12] = { 0 }, across[12] = { 0 }, f[12];
    spin[3] = spin[9] = 40.0;
    m->system->ops->force(m->system, pcs_at(0.0, q, spin), f);
    CHECK_NEAR(f[3], 0.0, 1e-12);
    CHECK_NEAR(f[9], 0.0, 1e-12);
    CHECK_NEAR(pcs_system_damping_power(m->system, pcs_at(0.0, q, spin), spin), 0.0, 1e-12);
    across[1] = across[7] = 3.0;
    CHECK_RELATIVE(pcs_system_damping_power(m->system, pcs_at(0.0, q, across), across),
                   60.0 * 9.0 * (2.0 + 7850.0 * 0.3 * 0.3), 1e-13);
    model_destroy(&m);
}

// A disc on torsional springs whirls at J w^2 -+ Jp s w - k = 0.
static model *disc_on_springs(const char *disc, double speed)
{
    static const char *const names[] = { "disc", "ground" };
    model *m = point_model(2, names);
    char values[128];
    snprintf(values, sizeof values, "mass=1 inertia=0.7,0.5,0.5 speed=%g", speed);
    model_group(m, disc, "disc", values);
    model_group(m, "mount", "ground", "torsional_stiffness=0,200,200 stiffness=1,1,1");
    return m;
}

// The driven disc: at the spin of its node it behaves as the disc of that speed.
TEST(driven_disc_takes_its_own_speed)
{
    double f[2][6] = { { 0 } };
    for (int driven = 0; driven < 2; driven++) {
        model *m = disc_on_springs(driven ? "disc_driven" : "disc", 30.0);
        model_build(m);
        double q[6] = { 0 }, v[6] = { 0, 0, 0, 30.0, 0.3, -0.8 };
        m->system->ops->force(m->system, pcs_at(0.0, q, v), f[driven]);
        model_destroy(&m);
    }
    CHECK_ALL_NEAR(6, f[1], f[0], 1e-14);
    CHECK_NEAR(f[0][4], -0.7 * 30.0 * -0.8, 1e-14);
    CHECK_NEAR(f[0][5], 0.7 * 30.0 * 0.3, 1e-14);
}

// J with products: the gyroscopic moment is -w x J w with the full tensor.
TEST(products_of_inertia_count)
{
    static const char *const names[] = { "body" };
    model *m = point_model(1, names);
    model_group(m, "rigid_body_3d", "body", "mass=3 inertia=2,3,4 products=0.1,0.2,0.3");
    model_build(m);
    const double q[6] = { 0 }, v[6] = { 1, 2, 3, 0.5, -0.7, 0.9 };
    const double J[9] = { 2, 0.1, 0.3, 0.1, 3, 0.2, 0.3, 0.2, 4 };
    double f[6], p[3], wanted[3];
    m->system->ops->force(m->system, pcs_at(0.0, q, v), f);
    pcs_rotation_apply(J, v + 3, p);
    pcs_cross(p, v + 3, wanted);
    CHECK_ALL_NEAR(3, f + 3, wanted, 1e-15);
    CHECK(f[0] == 0.0 && f[1] == 0.0 && f[2] == 0.0);
    pcs_measure measure;
    m->system->ops->measure(m->system, pcs_at(0.0, q, v), PCS_ENERGY, &measure);
    CHECK_NEAR(measure.kinetic, 0.5 * (3.0 * 14.0 + pcs_dot3(p, v + 3)), 1e-14);
    CHECK_NEAR(measure.momentum[2], 9.0, 1e-15);
    model_destroy(&m);
}

// An axis at a distance e from its nodes: a pull P at the node stretches and bends, u = P L (1/(E A) + e^2/(E I));
// turning about the line of nodes costs rho (Iy + Iz) L + m e^2.
TEST(offset_beam_bends_under_a_pull)
{
    const double from[3] = { 0 }, to[3] = { 2, 0, 0 }, e = 0.3, load = 7.0;
    model *m = model_create();
    model_line(m, "beam", from, to, 3);
    model_group(m, "beam_timo_3d", "beam", "E=1000 nu=0.3 rho=5 orientation=0,1,0 offset=0,0.3,0");
    hold(m, "beam.start", "111111");
    model_force(m, "beam.end", load, 0, 0);
    model_build(m);
    double K[18 * 18], x[18], zero[18] = { 0 };
    m->system->ops->force(m->system, pcs_at(0.0, zero, zero), x);
    model_dense(m->system->K, 18, K);
    model_solve(18, K, x);
    double EA = 300.0, EI = 50.0; // of the section that the support library gives
    CHECK_RELATIVE(x[12], load * 2.0 * (1.0 / EA + e * e / EI), 1e-12);
    CHECK_RELATIVE(x[17], load * e * 2.0 / EI, 1e-12); // the moment P e about z over the length
    model_destroy(&m);

    m = model_create();
    model_line(m, "beam", from, to, 3);
    model_group(m, "beam_timo_3d", "beam", "E=1000 nu=0.3 rho=5 orientation=0,1,0 offset=0,0.3,0 offset_end=0,0.3,0");
    model_build(m);
    double rotation[24] = { 0 };
    for (int i = 0; i < 4; i++) rotation[6 * i + 3] = 1.0;
    pcs_measure measure;
    m->system->ops->measure(m->system, pcs_at(0.0, rotation, rotation), PCS_ENERGY, &measure);
    CHECK_RELATIVE(2.0 * measure.kinetic, 5.0 * 0.07 * 2.0 + 5.0 * 0.3 * 2.0 * e * e, 1e-13);
    CHECK_NEAR(measure.strain, 0.0, 1e-25);
    // the whole mass moves across, at a distance from the axis of turning
    CHECK_RELATIVE(measure.momentum[2], 3.0 * e, 1e-13);
    model_destroy(&m);
}

// Different offsets at the ends turn the axis: a beam along [3, 4, 0]/5 between nodes along x.
TEST(offsets_turn_the_axis)
{
    const double from[3] = { 0 }, to[3] = { 3, 0, 0 };
    model *m = model_create();
    model_line(m, "beam", from, to, 1);
    model_group(m, "beam_timo_3d", "beam", "E=1000 nu=0.3 rho=5 orientation=0,0,1 offset=0,1,0 offset_end=0,5,0");
    model_build(m);
    CHECK_RELATIVE(m->system->mass, 5.0 * 0.3 * 5.0, 1e-13);
    double q[12] = { 0 }, v[12] = { 0 }, f[12];
    q[6] = 0.6e-3, q[7] = 0.8e-3; // stretched by 1 mm along the axis
    m->system->ops->force(m->system, pcs_at(0.0, q, v), f);
    double N = 1000.0 * 0.3 / 5.0 * 1e-3;
    CHECK_NEAR(f[6], -0.6 * N, 1e-14);
    CHECK_NEAR(f[7], -0.8 * N, 1e-14);
    CHECK_NEAR(f[11], 5.0 * 0.6 * N, 1e-14); // arm (0, 5, 0) x force
    CHECK_NEAR(f[5], -1.0 * 0.6 * N, 1e-14);
    model_destroy(&m);
}
