// Damping of what is driven, and beams with offsets against closed forms.

#include "fe/fe.h"
#include "support/check.h"
#include "support/model.h"

static void hold(model *m, const char *nodes, const char *fixes)
{
    pcs_fe_support *support = model_support(m, nodes, "");
    for (int axis = 0; axis < 6; axis++) support->fixes[axis] = fixes[axis] == '1';
}

// Damping by mass is about deflections: the spin of what is driven goes on.
TEST(damping_leaves_the_spin_alone)
{
    const double from[3] = { 0 }, to[3] = { 0.3, 0, 0 };
    model *m = model_create();
    model_line(m, "shaft", from, to, 1);
    model_cell(m, "wheel", 1, 1);
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
