// Checks the model against the case, once, before the first step: coefficients of contacts against the text of the
// case, and travel times of waves through cells against mass and stiffness.

#include "core/text.h"
#include "sim/certify_data.h"

#include <math.h>
#include <stdio.h>

// Returns the difference between a coefficient and the number under this key of a contact, or of a closed-form system;
// 0 if the case has none.
static double case_difference(pcs_case *input, const char *contact, const char *key, double value)
{
    char path[PCS_PATH_BYTES];
    snprintf(path, sizeof path, "contacts.%s.%s", contact, key);
    const pcs_yaml *own = pcs_case_find(input, path);
    snprintf(path, sizeof path, "system.%s", key);
    if (pcs_yaml_get_kind(own) != PCS_YAML_SCALAR) own = pcs_case_find(input, path);
    if (pcs_yaml_get_kind(own) != PCS_YAML_SCALAR) return 0.0;
    const char *end;
    return fabs(value - pcs_text_number(pcs_yaml_text(own), &end));
}

void pcs_certifier_compare(pcs_certifier *self, pcs_case *input)
{
    const pcs_system *system = self->scheme->system;
    double worst = 0.0;
    int culprit = -1;
    for (int j = 0; j < pcs_system_npoint(system); j++) {
        const pcs_row *row = &system->rows[j];
        if (row->is_bilateral) continue;
        const char *name = system->contacts[row->contact].name;
        double off = case_difference(input, name, "friction", row->friction);
        off = pcs_max(off, case_difference(input, name, "tangent_restitution", row->tangent_restitution));
        if (j < system->nrow)
            off = pcs_max(off, case_difference(input, name, "restitution", pcs_restitution(row, 0.0)));
        if (row->law.ops == &pcs_law_newton)
            off = pcs_max(off, case_difference(input, name, "law.restitution", pcs_restitution(row, 0.0)));
        if (!(off > worst)) continue;
        worst = off;
        culprit = j;
    }
    pcs_certify_note(self, CERTIFY_COEFFICIENTS, pcs_system_max(system, worst), PCS_ROUND_SUM, culprit, -1);
}

// Checks the travel times 2 sqrt((m/4)/k) of waves, with mass m/4 and stiffness -k off the diagonal for a cell between
// two nodes. With wave-exact masses every cell is checked; with springs beside cells, only the best of all.
void pcs_certify_travel(pcs_certifier *self)
{
    const pcs_system *system = self->scheme->system;
    const pcs_pattern *pattern = system->M->pattern;
    const pcs_travel *axial = &system->travel[PCS_WAVE_AXIAL], *across = &system->travel[PCS_WAVE_TRANSVERSE];
    bool has_beams = axial->shortest != across->shortest || axial->longest != across->longest;
    double best = INFINITY;
    if (!pcs_certify_is_on(self, CERTIFY_TRAVEL) || has_beams) return;
    for (int j = 0; j < pattern->n; j++)
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++) {
            double mass = system->M->value[p], stiffness = -system->K->value[p];
            if (pattern->row[p] == j || !(mass > 0.0) || !(stiffness > 0.0)) continue;
            double time = 2.0 * sqrt(mass / stiffness);
            best = pcs_min(best, pcs_max(axial->shortest - time, time - axial->longest) / axial->mean);
        }
    if (isfinite(best)) pcs_certify_note(self, CERTIFY_TRAVEL, best, 1e-9, -1, -1);
}
