#include "support/bars.h"

const bar_variant bar_variants[] = {
    { "alpha_ggl", "rho_inf=0.8", 2, true },         { "alpha_ggl", "rho_inf=1", 2, true },
    { "alpha_ggl", "rho_inf=0", 2, true },           { "moreau_jean", "theta=0.5", 2, true },
    { "moreau_jean", "theta=0.7", 1, false },        { "moreau_jean", "rho_inf=0.8", 1, false },
    { "half_explicit", "gap_tolerance=0", 2, true }, { "newmark", "gamma=0.5", 2, true },
    { "newmark", "gamma=1 beta=0.5625", 1, true },   { "hht", "alpha=0.1", 2, true },
    { "alpha_velocity", "rho_inf=0.8", 2, true },    { "alpha_velocity", "rho_inf=0", 2, true },
};
const int bar_nvariant = sizeof bar_variants / sizeof *bar_variants;

const double bar_step = 0.004;

model *bar_create(bool is_damped)
{
    model *m = model_create();
    model_line(m, "bar", (double[]){ 0, 0, 0 }, (double[]){ 3, 0, 0 }, BAR_CELLS);
    pcs_fe_group *group = model_group(m, "rod", "bar", "E=100 rho=1 area=2");
    if (is_damped) {
        group->damping_mass = 0.5;
        group->damping_stiffness = 0.003;
    }
    return m;
}

void bar_throw(model *m, double displacement, double velocity)
{
    pcs_fe_initial *start = model_initial(m, "bar");
    start->has_displacement = start->has_velocity = true;
    for (int e = 0; e < 2; e++) {
        start->displacement[e][0] = displacement;
        start->velocity[e][0] = velocity;
    }
}

model *bar_bouncing(bool is_damped)
{
    static const double time[] = { 0.0, 0.1, 0.4 }, factor[] = { 0.0, 1.0, -1.0 };
    model *m = bar_create(is_damped);
    bar_throw(m, 0.0, 2.0);
    model_gravity(m, 4, 0, 0);
    model_force(m, "bar.start", 3, 0, 0)->amplitude = (pcs_amplitude){ 3, time, factor };
    model_contact(m, "wall", "node_plane", "nodes=bar.end point=3.05,0,0 normal=-1,0,0 restitution=0.5");
    model_contact(m, "back", "node_plane", "nodes=bar.start point=-0.01,0,0 normal=1,0,0 restitution=0.25");
    model_build(m);
    return m;
}

void bar_watch(const model_run *run, bar_story *s)
{
    for (int j = 0; j < run->m->system->nrow; j++) {
        s->nimpact += run->report.rows[j].is_impact;
        s->nloaded += run->report.rows[j].step_impulse > 0.0;
        s->impulse += run->report.rows[j].step_impulse;
    }
}
