// Half-explicit Runge-Kutta schemes with contact on velocity level in every stage.
// Schindler, Rezaei, Kursawe, Acary: Half-explicit timestepping schemes on velocity level based on
// time-discontinuous Galerkin methods, CMAME 290 (2015), appendix B, after Brasey.
//
// Stages and their rows: pcs_explicit_step. If a contact has closed, all forces of contacts are dropped and an impact
// is solved on all closed contacts:
//   v- = v + h sum_j b_j a_j,   v' = v- + M^-1 G^T La,   0 <= G v' + e G v- _|_ La >= 0
//
// Tangential rows join everywhere, with friction. HEM3 and HEM4 keep their orders 3 and 4 with joints (index 2),
// the classical Runge-Kutta method falls to about 2.

#include "schemes/explicit.h"

#include <math.h>

typedef struct herk_params {
    int method;
    pcs_list a, b, c;
    double gap_tolerance;
} herk_params;

enum { TABLEAU = 6 };
static const char *const herk_methods[] = { "hem3", "hem4", "hem5", "herk2", "kutta3", "rk4", "tableau", NULL };
static const pcs_tableau *const herk_tableaus[] = { &pcs_tableau_hem3,  &pcs_tableau_hem4,   &pcs_tableau_hem5,
                                                    &pcs_tableau_herk2, &pcs_tableau_kutta3, &pcs_tableau_rk4 };

static const pcs_option herk_options[] = {
    PCS_CHOICE("method", herk_params, method, PCS_DEFAULT("hem4"), herk_methods,
               "hem3, hem4 and hem5 keep their order with joints; tableau: your own, by a, b, c"),
    PCS_LIST("a", herk_params, a, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "s rows of s numbers, zero on and above the diagonal, positive just below"),
    PCS_LIST("b", herk_params, b, PCS_OPTIONAL, PCS_ANY_NUMBER, "s weights with sum 1, the last positive"),
    PCS_LIST("c", herk_params, c, PCS_OPTIONAL, PCS_ANY_NUMBER, "s times, sums of the rows of a"),
    PCS_GAP_TOLERANCE(herk_params),
    { 0 },
};

typedef struct herk {
    pcs_explicit base;
    pcs_tableau table;
} herk;

static void herk_find_tableau(const herk_params *p, pcs_tableau *out)
{
    const char *option;
    if (p->method == TABLEAU) (void)pcs_tableau_read(&p->a, &p->b, &p->c, out, &option);
    else *out = *herk_tableaus[p->method];
}

static const char *herk_check(const void *params, const char **option)
{
    const herk_params *p = params;
    pcs_tableau table;
    const pcs_list *lists[] = { &p->a, &p->b, &p->c };
    static const char *const names[] = { "a", "b", "c" };
    bool is_tableau = p->method == TABLEAU;
    for (int i = 0; i < 3; i++) {
        *option = names[i];
        if (is_tableau && lists[i]->count == 0) return "method tableau needs the lists a, b and c";
        if (!is_tableau && lists[i]->count > 0) return "a, b and c are for method tableau";
    }
    return is_tableau ? pcs_tableau_read(&p->a, &p->b, &p->c, &table, option) : NULL;
}

static double herk_stable_step(const void *params, double w, double xi)
{
    pcs_tableau table;
    herk_find_tableau(params, &table);
    return pcs_tableau_stable_step(&table, w, xi);
}

static pcs_status herk_setup(pcs_scheme *self)
{
    herk *s = self->data;
    const herk_params *params = self->params;
    PCS_TRY(pcs_explicit_setup(self));
    s->base.gap_tolerance = params->gap_tolerance;
    herk_find_tableau(params, &s->table);
    self->rule.tableau = &s->table;
    self->stage_accelerations = s->base.free;
    return pcs_explicit_take_stages(self, s->table.s);
}

const pcs_scheme_ops pcs_scheme_half_explicit_rk = {
    .name = "half_explicit_rk",
    .summary =
        "half-explicit Runge-Kutta (HEM3 to HEM5 or your own), contact at velocity level; order 3 to 5 with joints",
    .options = herk_options,
    .params_size = sizeof(herk_params),
    .data_size = sizeof(herk),
    .rule = { .kind = PCS_RULE_RUNGE_KUTTA, .move = NAN, .rate = PCS_RATE_BEFORE, .impact = PCS_IMPACT_WHEN_CLOSING },
    .takes = PCS_TAKES_MATERIALS | PCS_TAKES_DEALT_ROWS,
    .check = herk_check,
    .stable_step = herk_stable_step,
    .setup = herk_setup,
    .start = pcs_explicit_start,
    .step = pcs_explicit_step,
};
