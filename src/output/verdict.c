// What a run came to, in words and numbers that the text and the JSON summary share.

#include "output/summary.h"

const char *pcs_check_verdict(const pcs_check *check)
{
    if (check->is_reported_only) return "reported";
    return check->worst_ratio <= 1.0 ? "held" : "broken";
}

double pcs_ledger_imbalance(const pcs_ledger *l)
{
    double now = pcs_measure_energy(&l->now);
    double lost = l->damping_loss + l->impact_loss + l->friction_loss + l->numerical_loss + l->material_loss;
    double booked = l->external_work + l->correction_work - lost;
    return now - l->initial - booked;
}

const char *pcs_ending_text(pcs_ending ending)
{
    static const char *const texts[] = { "running", "finished", "stopped" };
    return texts[ending];
}
