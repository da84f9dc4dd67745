// Two spheres press on each other with k = 4/3 E* sqrt(R), 1/E* = (1 - nu^2)/E of both, 1/R = 1/R of both (Hertz 1882;
// Johnson: Contact Mechanics, 1985, eq. 4.23). Hunt, Crossley: Coefficient of Restitution Interpreted as Damping in
// Vibroimpact, J. Appl. Mech. 42, 1975.

#include "contact/force_law.h"

#include <math.h>

typedef struct law_params {
    double stiffness, exponent, damping;
    double E, nu, radius, other_E, other_nu, other_radius;
} law_params;

#define LAW_STIFFNESS \
    PCS_REAL("stiffness", law_params, stiffness, PCS_REQUIRED, PCS_POSITIVE, "force per depth of penetration, N/m")
#define LAW_SPHERES                                                                                             \
    PCS_REAL("stiffness", law_params, stiffness, PCS_OPTIONAL, PCS_POSITIVE,                                    \
             "force at a depth of 1 m, N/m^exponent; or E, nu and radius"),                                     \
        PCS_REAL("exponent", law_params, exponent, PCS_DEFAULT("1.5"), PCS_WITHIN(1.0, 10.0), "of the depth"),  \
        PCS_REAL("E", law_params, E, PCS_OPTIONAL, PCS_POSITIVE, "Young's modulus of a sphere, N/m^2"),         \
        PCS_REAL("nu", law_params, nu, PCS_OPTIONAL, PCS_WITHIN(-1.0, 0.5), "its Poisson's ratio"),             \
        PCS_REAL("radius", law_params, radius, PCS_OPTIONAL, PCS_POSITIVE, "its radius, m"),                    \
        PCS_REAL("other_E", law_params, other_E, PCS_OPTIONAL, PCS_POSITIVE,                                    \
                 "Young's modulus of what it touches, N/m^2; rigid where it is not given"),                     \
        PCS_REAL("other_nu", law_params, other_nu, PCS_OPTIONAL, PCS_WITHIN(-1.0, 0.5), "its Poisson's ratio"), \
        PCS_REAL("other_radius", law_params, other_radius, PCS_OPTIONAL, PCS_POSITIVE,                          \
                 "radius of what it touches, m; flat where it is not given")

static const pcs_option linear_options[] = { LAW_STIFFNESS, { .name = NULL } };

static const pcs_option kelvin_voigt_options[] = {
    LAW_STIFFNESS,
    PCS_REAL("damping", law_params, damping, PCS_REQUIRED, PCS_NOT_NEGATIVE, "force per speed, N s/m"),
    { .name = NULL },
};

static const pcs_option hertz_options[] = { LAW_SPHERES, { .name = NULL } };

static const pcs_option hunt_crossley_options[] = {
    LAW_SPHERES,
    PCS_REAL("damping", law_params, damping, PCS_REQUIRED, PCS_NOT_NEGATIVE,
             "share of the elastic force per speed of approach, s/m"),
    { .name = NULL },
};

static const char *law_check_other(const law_params *p, const char **option)
{
    *option = "other_nu";
    if (isnan(p->other_E) != isnan(p->other_nu)) return "other_E and other_nu are given both or not at all";
    return NULL;
}

static const char *law_check_spheres(const void *params, const char **option)
{
    const law_params *p = params;
    bool has_sphere = !isnan(p->E) || !isnan(p->nu) || !isnan(p->radius);
    bool has_other = !isnan(p->other_E) || !isnan(p->other_nu) || !isnan(p->other_radius);
    *option = "stiffness";
    if (isnan(p->stiffness) && !has_sphere) return "give stiffness, or E, nu and radius";
    if (!isnan(p->stiffness) && (has_sphere || has_other))
        return "E, nu and radius give the stiffness: give one or the other";
    if (!has_sphere) return NULL;
    *option = "E";
    if (isnan(p->E) || isnan(p->nu) || isnan(p->radius)) return "a sphere needs E, nu and radius";
    *option = "exponent";
    if (p->exponent != 1.5) return "spheres have the exponent 1.5";
    return law_check_other(p, option);
}

static double law_stiffness(const law_params *p)
{
    if (!isnan(p->stiffness)) return p->stiffness;
    double give = (1.0 - p->nu * p->nu) / p->E, curvature = 1.0 / p->radius;
    if (!isnan(p->other_E)) give += (1.0 - p->other_nu * p->other_nu) / p->other_E;
    if (!isnan(p->other_radius)) curvature += 1.0 / p->other_radius;
    return 4.0 / 3.0 / give / sqrt(curvature);
}

static pcs_force_law law_make_linear(const void *params)
{
    const law_params *p = params;
    return (pcs_force_law){ .stiffness = p->stiffness, .exponent = 1.0 };
}

static pcs_force_law law_make_kelvin_voigt(const void *params)
{
    const law_params *p = params;
    return (pcs_force_law){ .stiffness = p->stiffness, .exponent = 1.0, .damper = p->damping };
}

static pcs_force_law law_make_hertz(const void *params)
{
    const law_params *p = params;
    return (pcs_force_law){ .stiffness = law_stiffness(p), .exponent = p->exponent };
}

static pcs_force_law law_make_hunt_crossley(const void *params)
{
    const law_params *p = params;
    return (pcs_force_law){ .stiffness = law_stiffness(p), .exponent = p->exponent, .factor = p->damping };
}

static const pcs_force_law_type law_linear = {
    .name = "linear",
    .summary = "F = stiffness d, d the depth of penetration",
    .options = linear_options,
    .params_size = sizeof(law_params),
    .make = law_make_linear,
};

static const pcs_force_law_type law_hertz = {
    .name = "hertz",
    .summary = "F = stiffness d^exponent; of spheres stiffness = 4/3 E* sqrt(R)",
    .options = hertz_options,
    .params_size = sizeof(law_params),
    .check = law_check_spheres,
    .make = law_make_hertz,
};

static const pcs_force_law_type law_hunt_crossley = {
    .name = "hunt_crossley",
    .summary = "F = stiffness d^exponent (1 + damping d'), never pulls",
    .options = hunt_crossley_options,
    .params_size = sizeof(law_params),
    .check = law_check_spheres,
    .make = law_make_hunt_crossley,
};

static const pcs_force_law_type law_kelvin_voigt = {
    .name = "kelvin_voigt",
    .summary = "F = stiffness d + damping d', never pulls",
    .options = kelvin_voigt_options,
    .params_size = sizeof(law_params),
    .make = law_make_kelvin_voigt,
};

const pcs_force_law_type *const pcs_force_law_types[] = { &law_linear, &law_hertz, &law_hunt_crossley,
                                                          &law_kelvin_voigt, NULL };

// d^p, exact and quick for the exponents that matter.
static double law_power(double depth, double exponent)
{
    if (exponent == 1.0) return depth;
    return exponent == 1.5 ? depth * sqrt(depth) : pow(depth, exponent);
}

pcs_force_state pcs_force_law_at(const pcs_force_law *law, double gap, double rate)
{
    pcs_force_state s = { 0 };
    double d = -gap, speed = -rate;
    if (!(d > 0.0)) return s;
    double elastic = law->stiffness * law_power(d, law->exponent), grip = 1.0 + law->factor * speed;
    s.energy = elastic * d / (law->exponent + 1.0);
    s.force = elastic * grip + law->damper * speed;
    if (s.force > 0.0) {
        s.by_gap = law->exponent * elastic / d * grip;
        s.by_rate = law->factor * elastic + law->damper;
    } else {
        s.force = 0.0;
    }
    s.loss = (s.force - elastic) * speed;
    return s;
}

void pcs_force_law_bounds(const pcs_force_law *law, double energy, double speed, double *by_gap, double *by_rate)
{
    double p = law->exponent, d = pow((p + 1.0) * energy / law->stiffness, 1.0 / (p + 1.0));
    *by_gap = p * law->stiffness * pow(d, p - 1.0) * (1.0 + law->factor * speed);
    *by_rate = law->factor * law->stiffness * pow(d, p) + law->damper;
}
