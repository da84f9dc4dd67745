// Two spheres press on each other with k = 4/3 E* sqrt(R), 1/E* = (1 - nu^2)/E of both, 1/R = 1/R of both (Hertz 1882;
// Johnson: Contact Mechanics, 1985, eq. 4.23). Hunt, Crossley: Coefficient of Restitution Interpreted as Damping in
// Vibroimpact, J. Appl. Mech. 42, 1975. Tangential stiffness of spheres that stick: k_t = 8 a G*, 1/G* = (2 - nu)/G of
// both, a the radius of the contact, against 2 a E* of the normal one (Mindlin: Compliance of Elastic Bodies in
// Contact, J. Appl. Mech. 16, 1949; Johnson, eq. 7.43).

#include "contact/force_law.h"

#include <math.h>

typedef struct law_params {
    double stiffness, exponent, damping;
    double E, nu, radius, other_E, other_nu, other_radius;
    double tangent_stiffness, tangent_ratio;
} law_params;

static const double usual_nu = 0.3; // where Poisson's ratio is not known

#define LAW_STIFFNESS \
    PCS_REAL("stiffness", law_params, stiffness, PCS_REQUIRED, PCS_POSITIVE, "force per depth of penetration, N/m")
#define LAW_TANGENT                                                                                                   \
    PCS_REAL("tangent_stiffness", law_params, tangent_stiffness, PCS_OPTIONAL, PCS_POSITIVE,                          \
             "of friction that sticks, N/m; by default tangent_ratio times the normal stiffness at the depth"),       \
        PCS_REAL("tangent_ratio", law_params, tangent_ratio, PCS_OPTIONAL, PCS_WITHIN(1e-6, 1e6),                     \
                 "of tangential to normal stiffness; by default Mindlin's, 2 (1 - nu)/(2 - nu), with nu = 0.3 where " \
                 "none is given")
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

static const pcs_option linear_options[] = { LAW_STIFFNESS, LAW_TANGENT, { .name = NULL } };

static const pcs_option kelvin_voigt_options[] = {
    LAW_STIFFNESS,
    PCS_REAL("damping", law_params, damping, PCS_REQUIRED, PCS_NOT_NEGATIVE, "force per speed, N s/m"),
    LAW_TANGENT,
    { .name = NULL },
};

static const pcs_option hertz_options[] = { LAW_SPHERES, LAW_TANGENT, { .name = NULL } };

static const pcs_option hunt_crossley_options[] = {
    LAW_SPHERES,
    PCS_REAL("damping", law_params, damping, PCS_REQUIRED, PCS_NOT_NEGATIVE,
             "share of the elastic force per speed of approach, s/m"),
    LAW_TANGENT,
    { .name = NULL },
};

static const char *law_check_tangent(const void *params, const char **option)
{
    const law_params *p = params;
    *option = "tangent_ratio";
    return isnan(p->tangent_stiffness) || isnan(p->tangent_ratio) ? NULL : "give tangent_stiffness or tangent_ratio";
}

static const char *law_names_friction(const void *params)
{
    const law_params *p = params;
    if (!isnan(p->tangent_stiffness)) return "tangent_stiffness";
    return isnan(p->tangent_ratio) ? NULL : "tangent_ratio";
}

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
    const char *fault = law_check_tangent(params, option);
    if (fault != NULL) return fault;
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

// 8 a G* over 2 a E*.
static double law_mindlin(const law_params *p)
{
    if (!(p->E > 0.0)) return 2.0 * (1.0 - usual_nu) / (2.0 - usual_nu); // not given, or no key of the law
    double give = (1.0 - p->nu * p->nu) / p->E, shear = 2.0 * (1.0 + p->nu) * (2.0 - p->nu) / p->E;
    if (!isnan(p->other_E)) {
        give += (1.0 - p->other_nu * p->other_nu) / p->other_E;
        shear += 2.0 * (1.0 + p->other_nu) * (2.0 - p->other_nu) / p->other_E;
    }
    return 4.0 * give / shear;
}

static pcs_force_law law_begin(const law_params *p)
{
    pcs_force_law law = { .exponent = 1.0, .ratio = isnan(p->tangent_ratio) ? law_mindlin(p) : p->tangent_ratio };
    if (!isnan(p->tangent_stiffness)) law.tangent = p->tangent_stiffness;
    return law;
}

static pcs_force_law law_make_linear(const void *params)
{
    const law_params *p = params;
    pcs_force_law law = law_begin(p);
    law.stiffness = p->stiffness;
    return law;
}

static pcs_force_law law_make_kelvin_voigt(const void *params)
{
    const law_params *p = params;
    pcs_force_law law = law_make_linear(params);
    law.damper = p->damping;
    return law;
}

static pcs_force_law law_make_hertz(const void *params)
{
    const law_params *p = params;
    pcs_force_law law = law_begin(p);
    law.stiffness = law_stiffness(p);
    law.exponent = p->exponent;
    return law;
}

static pcs_force_law law_make_hunt_crossley(const void *params)
{
    const law_params *p = params;
    pcs_force_law law = law_make_hertz(params);
    law.factor = p->damping;
    return law;
}

static const pcs_force_law_type law_linear = {
    .name = "linear",
    .summary = "F = stiffness d, d the depth of penetration",
    .options = linear_options,
    .params_size = sizeof(law_params),
    .check = law_check_tangent,
    .make = law_make_linear,
    .names_friction = law_names_friction,
};

static const pcs_force_law_type law_hertz = {
    .name = "hertz",
    .summary = "F = stiffness d^exponent; of spheres stiffness = 4/3 E* sqrt(R)",
    .options = hertz_options,
    .params_size = sizeof(law_params),
    .check = law_check_spheres,
    .make = law_make_hertz,
    .names_friction = law_names_friction,
};

static const pcs_force_law_type law_hunt_crossley = {
    .name = "hunt_crossley",
    .summary = "F = stiffness d^exponent (1 + damping d'), never pulls",
    .options = hunt_crossley_options,
    .params_size = sizeof(law_params),
    .check = law_check_spheres,
    .make = law_make_hunt_crossley,
    .names_friction = law_names_friction,
};

static const pcs_force_law_type law_kelvin_voigt = {
    .name = "kelvin_voigt",
    .summary = "F = stiffness d + damping d', never pulls",
    .options = kelvin_voigt_options,
    .params_size = sizeof(law_params),
    .check = law_check_tangent,
    .make = law_make_kelvin_voigt,
    .names_friction = law_names_friction,
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
    s.tangent = law->tangent > 0.0 ? law->tangent : law->ratio * law->exponent * elastic / d;
    s.tangent_by_gap = law->tangent > 0.0 ? 0.0 : (law->exponent - 1.0) * s.tangent / d;
    s.tangent_mean = law->tangent > 0.0 ? s.tangent : s.tangent / law->exponent;
    return s;
}

// Sliding: f = mu F f*/|f*|.
static void rub_slide(double friction, double normal, const double trial[2], double size, pcs_rub *x)
{
    double along[2] = { trial[0] / size, trial[1] / size }, share = friction * normal / size;
    for (int i = 0; i < 2; i++) {
        x->force[i] = friction * normal * along[i];
        x->by_normal[i] = friction * along[i];
        for (int j = 0; j < 2; j++) x->by_trial[i][j] = share * ((i == j) - along[i] * along[j]);
    }
}

pcs_rub pcs_rub_at(const pcs_grip *from, double friction, const pcs_force_state *at, const double s[2])
{
    double k = at->tangent, k0 = from->stiffness, trial[2], slope[2];
    double before = k0 > 0.0 ? 0.5 * (from->force[0] * from->force[0] + from->force[1] * from->force[1]) / k0 : 0.0;
    pcs_rub x = { .loss = before };
    if (!(at->force > 0.0)) return x;
    bool falls = k < k0;
    double by_k = k0 > 0.0 ? 0.5 : at->tangent_mean / k; // dk_m/dk_t
    if (falls) by_k = 1.0;
    x.stiffness = k0 > 0.0 && !falls ? 0.5 * (k0 + k) : by_k * k;
    for (int i = 0; i < 2; i++) {
        trial[i] = (falls ? k / k0 : 1.0) * from->force[i] - x.stiffness * s[i];
        slope[i] = (falls ? from->force[i] / k0 : 0.0) - by_k * s[i];
        x.force[i] = trial[i];
        x.by_trial[i][i] = 1.0;
    }
    double size = hypot(trial[0], trial[1]);
    bool slides = size > friction * at->force;
    if (slides) rub_slide(friction, at->force, trial, size, &x);
    for (int i = 0; i < 2; i++) x.by_stiffness[i] = x.by_trial[i][0] * slope[0] + x.by_trial[i][1] * slope[1];
    x.energy = 0.5 * (x.force[0] * x.force[0] + x.force[1] * x.force[1]) / k;
    double work = 0.5 * ((from->force[0] + x.force[0]) * s[0] + (from->force[1] + x.force[1]) * s[1]);
    x.loss = slides || k != k0 ? fmax(0.0, before - x.energy - work) : 0.0;
    return x;
}

void pcs_force_law_bounds(const pcs_force_law *law, double energy, double speed, double *by_gap, double *by_rate)
{
    double p = law->exponent, d = pow((p + 1.0) * energy / law->stiffness, 1.0 / (p + 1.0));
    *by_gap = p * law->stiffness * pow(d, p - 1.0) * (1.0 + law->factor * speed);
    *by_rate = law->factor * law->stiffness * pow(d, p) + law->damper;
}

double pcs_force_law_tangent_bound(const pcs_force_law *law, double energy)
{
    double by_gap, by_rate;
    pcs_force_law_bounds(law, energy, 0.0, &by_gap, &by_rate);
    return law->tangent > 0.0 ? law->tangent : law->ratio * by_gap;
}
