#include "support/bars.h"

#include <math.h>

const bar_variant bar_variants[] = {
    { .scheme = "alpha_ggl", .values = "rho_inf=0.8", .order = 2, .is_exact_fall = true },
    { .scheme = "alpha_ggl", .values = "rho_inf=1", .order = 2, .is_exact_fall = true },
    { .scheme = "alpha_ggl", .values = "rho_inf=0", .order = 2, .is_exact_fall = true },
    { .scheme = "moreau_jean", .values = "theta=0.5", .order = 2, .is_exact_fall = true },
    { .scheme = "moreau_jean", .values = "theta=0.7", .order = 1 },
    { .scheme = "moreau_jean", .values = "rho_inf=0.8", .order = 1 },
    { .scheme = "half_explicit", .values = "", .order = 2, .is_exact_fall = true },
    { .scheme = "half_explicit",
      .values = "impulsive_step=0.0004",
      .order = 2,
      .is_exact_fall = true,
      .has_no_impact = true }, // within the step
    { .scheme = "wave",
      .values = "rounding=nearest",
      .order = 1,
      .has_no_impact = true }, // its velocity is that of the middle of the step
    { .scheme = "newmark", .values = "gamma=0.5", .order = 2, .is_exact_fall = true },
    { .scheme = "newmark", .values = "gamma=1 beta=0.5625", .order = 1, .is_exact_fall = true },
    { .scheme = "hht", .values = "alpha=0.1", .order = 2, .is_exact_fall = true },
    { .scheme = "alpha_velocity", .values = "rho_inf=0.8", .order = 2, .is_exact_fall = true },
    { .scheme = "alpha_velocity", .values = "rho_inf=0", .order = 2, .is_exact_fall = true },
    { .scheme = "moreau_jean_explicit", .values = "", .order = 1 },
    { .scheme = "moreau_midpoint", .values = "", .order = 2, .is_exact_fall = true, .damped_order = 1 },
    { .scheme = "schatzman_paoli",
      .values = "",
      .order = 1,
      .has_no_impact = true }, // its velocity is that of the middle of the step
    { .scheme = "half_explicit_acceleration", .values = "", .order = 2, .is_exact_fall = true, .drift = 0.01 },
    { .scheme = "alpha_index3",
      .values = "rho_inf=0.8",
      .order = 2,
      .is_exact_fall = true,
      .has_no_impact = true,
      .gains_energy = true },
    { .scheme = "moreau_jean", .values = "theta=0.7 positions=midpoint", .order = 1, .is_exact_fall = true },
    { .scheme = "jump_newmark", .values = "gamma=0.5", .order = 2, .is_exact_fall = true },
    { .scheme = "jump_newmark", .values = "rho_inf=0.8", .order = 2, .is_exact_fall = true },
    { .scheme = "event_driven",
      .values = "",
      .order = INFINITY,
      .is_exact_fall = true,
      .has_no_impact = true }, // forces act on after the impact, within the step
    { .scheme = "mannshardt", .values = "method=kutta3", .order = 3, .is_exact_fall = true, .has_no_impact = true },
    { .scheme = "mannshardt", .values = "method=rk4", .order = INFINITY, .is_exact_fall = true, .has_no_impact = true },
    { .scheme = "half_explicit_rk", .values = "method=hem3", .order = 3, .is_exact_fall = true },
    { .scheme = "half_explicit_rk", .values = "method=hem4", .order = INFINITY, .is_exact_fall = true },
    { .scheme = "splitting", .values = "contact_forces=true", .order = INFINITY, .is_exact_fall = true },
    { .scheme = "tdg_minus", .values = "degree=1", .order = 2, .is_exact_fall = true, .drift = 0.01 },
    { .scheme = "tdg_minus", .values = "degree=3", .order = INFINITY, .is_exact_fall = true, .drift = 0.04 },
    { .scheme = "tdg_plus", .values = "degree=1", .order = 2, .is_exact_fall = true, .drift = 0.04 },
    { .scheme = "tdg_plus", .values = "degree=2", .order = INFINITY, .is_exact_fall = true, .drift = 0.08 },
    { .scheme = "ggl_midpoint",
      .values = "coupling=unified metric=mass",
      .order = 2,
      .is_exact_fall = true,
      .chatters = true },
    { .scheme = "ggl_midpoint",
      .values = "coupling=decoupled metric=mass",
      .order = 2,
      .is_exact_fall = true,
      .damped_order = 1,
      .gains_energy = true,
      .chatters = true },
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
    start->displacement.is_given = start->velocity.is_given = true;
    for (int e = 0; e < 2; e++) {
        start->displacement.ends[e][0] = displacement;
        start->velocity.ends[e][0] = velocity;
    }
}

model *bar_bouncing(bool is_damped)
{
    static const double time[] = { 0.0, 0.1, 0.4 }, factor[] = { 0.0, 1.0, -1.0 };
    model *m = bar_create(is_damped);
    bar_throw(m, 0.0, 2.0);
    model_gravity(m, 4, 0, 0);
    model_force(m, "bar.start", 3, 0, 0)->amplitude = (pcs_amplitude){ .count = 3, .time = time, .factor = factor };
    model_contact(m, "wall", "node_plane", "nodes=bar.end point=3.05,0,0 normal=-1,0,0 restitution=0.5");
    model_contact(m, "back", "node_plane", "nodes=bar.start point=-0.01,0,0 normal=1,0,0 restitution=0.25");
    model_build(m);
    return m;
}

void bar_watch(const model_run *run, bar_history *s)
{
    for (int j = 0; j < run->m->system->nrow; j++) {
        s->nimpact += run->report.rows[j].is_impact;
        s->nloaded += run->report.rows[j].step_impulse > 0.0;
        s->impulse += run->report.rows[j].step_impulse;
    }
}

bool bar_prepare(const bar_variant *variant, model **m, model_run *run)
{
    *run = model_prepare(*m, variant->scheme, variant->values, NULL, NULL);
    const pcs_scheme *scheme = run->scheme;
    if (pcs_scheme_refuses(scheme->ops, scheme->system, scheme->params) == NULL) return true;
    model_destroy(m);
    return false;
}
