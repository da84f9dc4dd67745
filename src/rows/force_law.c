// Force laws of contacts, with the depth d = -g:
//
//   F = max(0, k d^p (1 + x d') + c d')  where d > 0,   else 0
//
//   linear         F = k d                              kelvin_voigt   F = k d + c d'
//   hertz          F = k d^p                            hunt_crossley  F = k d^p (1 + x d')
//
// The elastic part k d^p has the potential k d^(p+1)/(p+1); the power (F - k d^p) d' is lost, and never negative: where
// F would pull, it is zero and what is left of the potential is lost as the bodies part. The tangential stiffness k_t
// is a constant, or r p k d^(p-1), r times the slope of the elastic force.
//
// Two spheres press on each other with k = 4/3 E* sqrt(R), 1/E* = (1 - nu^2)/E of both, 1/R = 1/R of both (Hertz 1882;
// Johnson: Contact Mechanics, 1985, eq. 4.23). Hunt, Crossley: Coefficient of Restitution Interpreted as Damping in
// Vibroimpact, J. Appl. Mech. 42, 1975. Tangential stiffness of spheres that stick: k_t = 8 a G*, 1/G* = (2 - nu)/G of
// both, a the radius of the contact, against 2 a E* of the normal one (Mindlin: Compliance of Elastic Bodies in
// Contact, J. Appl. Mech. 16, 1949; Johnson, eq. 7.43).

#include "system/law.h"

#include <math.h>

typedef struct law_params {
    double stiffness, exponent;
    double factor; // x, s/m
    double damper; // c, N s/m
    double E, nu, radius, other_E, other_nu, other_radius;
    double tangent_stiffness, tangent_ratio;
} law_params;

static const double usual_nu = 0.3; // used if Poisson's ratio is unknown

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
    PCS_REAL("damping", law_params, damper, PCS_REQUIRED, PCS_NOT_NEGATIVE, "force per speed, N s/m"),
    LAW_TANGENT,
    { .name = NULL },
};

static const pcs_option hertz_options[] = { LAW_SPHERES, LAW_TANGENT, { .name = NULL } };

static const pcs_option hunt_crossley_options[] = {
    LAW_SPHERES,
    PCS_REAL("damping", law_params, factor, PCS_REQUIRED, PCS_NOT_NEGATIVE,
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
    *option = "other_nu";
    return isnan(p->other_E) != isnan(p->other_nu) ? "other_E and other_nu are given both or not at all" : NULL;
}

static double law_stiffness(const law_params *p)
{
    if (!isnan(p->stiffness)) return p->stiffness;
    double give = (1.0 - p->nu * p->nu) / p->E, curvature = 1.0 / p->radius;
    if (!isnan(p->other_E)) give += (1.0 - p->other_nu * p->other_nu) / p->other_E;
    if (!isnan(p->other_radius)) curvature += 1.0 / p->other_radius;
    return 4.0 / 3.0 / give / sqrt(curvature);
}

// Returns 8 a G* over 2 a E*, the ratio of tangential to normal stiffness.
static double law_mindlin(const law_params *p)
{
    if (!(p->E > 0.0)) return 2.0 * (1.0 - usual_nu) / (2.0 - usual_nu); // E is not given, or not an option of the law
    double give = (1.0 - p->nu * p->nu) / p->E, shear = 2.0 * (1.0 + p->nu) * (2.0 - p->nu) / p->E;
    if (!isnan(p->other_E)) {
        give += (1.0 - p->other_nu * p->other_nu) / p->other_E;
        shear += 2.0 * (1.0 + p->other_nu) * (2.0 - p->other_nu) / p->other_E;
    }
    return 4.0 * give / shear;
}

// Returns depth^exponent, with exact and fast branches for the exponents 1 and 3/2.
static double law_power(double depth, double exponent)
{
    if (exponent == 1.0) return depth;
    return exponent == 1.5 ? depth * sqrt(depth) : pow(depth, exponent);
}

// Returns p, for laws that have this key.
static double law_exponent(const law_params *p)
{
    return p->exponent > 0.0 ? p->exponent : 1.0;
}

static double law_ratio(const law_params *p)
{
    return isnan(p->tangent_ratio) ? law_mindlin(p) : p->tangent_ratio;
}

static void law_force(const void *params, const pcs_law_input *at, pcs_law_force *out)
{
    const law_params *p = params;
    double d = -at->gap, speed = -at->rate, exponent = law_exponent(p);
    if (!(d > 0.0)) return;
    double elastic = law_stiffness(p) * law_power(d, exponent), grip = 1.0 + p->factor * speed;
    double damper = at->damper_waits ? 0.0 : p->damper;
    out->energy = elastic * d / (exponent + 1.0);
    out->force = elastic * grip + damper * speed;
    if (out->force > 0.0) {
        out->by_gap = exponent * elastic / d * grip;
        out->by_rate = p->factor * elastic + damper;
    } else {
        out->force = 0.0;
    }
    out->loss = (out->force - elastic) * speed;
    bool is_constant = p->tangent_stiffness > 0.0;
    out->tangent = is_constant ? p->tangent_stiffness : law_ratio(p) * exponent * elastic / d;
    out->tangent_by_gap = is_constant ? 0.0 : (exponent - 1.0) * out->tangent / d;
    out->tangent_mean = is_constant ? out->tangent : out->tangent / exponent;
}

static void law_bound(const void *params, double energy, double speed, pcs_law_bound *out)
{
    const law_params *p = params;
    double e = law_exponent(p), k = law_stiffness(p), d = pow((e + 1.0) * energy / k, 1.0 / (e + 1.0));
    double slope = e * k * pow(d, e - 1.0);
    *out = (pcs_law_bound){ .by_gap = slope * (1.0 + p->factor * speed),
                            .by_rate = p->factor * k * pow(d, e) + p->damper,
                            .tangent = p->tangent_stiffness > 0.0 ? p->tangent_stiffness : law_ratio(p) * slope,
                            .at_touch = p->damper };
}

#define LAW_PARTS .params_size = sizeof(law_params), .force = law_force, .bound = law_bound

const pcs_law_ops pcs_law_linear = {
    .name = "linear",
    .summary = "F = stiffness d, d the depth of penetration",
    .options = linear_options,
    .check = law_check_tangent,
    LAW_PARTS,
};

const pcs_law_ops pcs_law_hertz = {
    .name = "hertz",
    .summary = "F = stiffness d^exponent; of spheres stiffness = 4/3 E* sqrt(R)",
    .options = hertz_options,
    .check = law_check_spheres,
    LAW_PARTS,
};

const pcs_law_ops pcs_law_hunt_crossley = {
    .name = "hunt_crossley",
    .summary = "F = stiffness d^exponent (1 + damping d'), never pulls",
    .options = hunt_crossley_options,
    .check = law_check_spheres,
    LAW_PARTS,
};

const pcs_law_ops pcs_law_kelvin_voigt = {
    .name = "kelvin_voigt",
    .summary = "F = stiffness d + damping d', never pulls",
    .options = kelvin_voigt_options,
    .check = law_check_tangent,
    LAW_PARTS,
};
