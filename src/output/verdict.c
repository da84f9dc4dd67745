// What a run came to, in words and numbers that the text and the JSON summary share.

#include "output/summary.h"

#include <string.h>

const char *pcs_check_verdict(const pcs_check *check)
{
    if (!check->is_reported_only && !(check->worst_ratio <= 1.0)) return "broken";
    if (check->mark > 0.0 && check->worst_ratio > check->mark) return "marked";
    return check->is_reported_only ? "reported" : "held";
}

const char *pcs_certificate_verdict(const pcs_certificate *certificate)
{
    bool is_marked = false;
    for (int i = 0; i < certificate->ncheck; i++)
        is_marked = is_marked || strcmp(pcs_check_verdict(&certificate->checks[i]), "marked") == 0;
    if (certificate->broken != NULL) return "broken";
    return is_marked ? "marked" : "held";
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
