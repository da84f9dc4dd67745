// Newton's impact law: G v+ = -e G v-, with one coefficient e for all speeds. Key `restitution` of a contact.

#include "system/law.h"

static const pcs_option newton_options[] = {
    PCS_REAL("restitution", pcs_newton, restitution, PCS_REQUIRED, PCS_ZERO_TO_ONE, "Newton's coefficient e"),
    { 0 },
};

static double newton_restitution(const void *params, double speed)
{
    return ((const pcs_newton *)params)->restitution;
}

const pcs_law_ops pcs_law_newton = {
    .name = "newton",
    .summary = "impact with the coefficient of restitution e; short: `restitution: e` instead of `law`",
    .options = newton_options,
    .params_size = sizeof(pcs_newton),
    .restitution = newton_restitution,
};
