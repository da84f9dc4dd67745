// Gaps of the initial state: bodies that overlap before anything has moved are an error of the case.

#include "build/sections.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Of one contact that does not fit.
typedef struct gaps_fault {
    const pcs_contact_info *contact;
    int worst, count; // the point that is off most, and how many are
    double gap;       // m, of that point
    bool is_mended;   // with the normal turned round no point would overlap
} gaps_fault;

// What a gap becomes when the normal is turned round, n . (x - p) - r: the radius stays.
static bool gaps_is_mended(const pcs_build *b, int contact, double gap, double none)
{
    const pcs_fe_contact *of = &b->model.contacts[contact];
    double radius = 0.0;
    (void)pcs_build_real(of->ops->options, of->params, "node_radius", &radius);
    return -gap - 2.0 * radius >= -none;
}

static gaps_fault gaps_find(const pcs_build *b, int i, const double *gap)
{
    const pcs_system *system = b->sim->system;
    const double *q = b->sim->state.q;
    gaps_fault fault = { .contact = &system->contacts[i] };
    bool has_normal = !b->has_system && pcs_build_has_option(b->model.contacts[i].ops->options, "normal");
    fault.is_mended = has_normal;
    for (int j = 0; j < fault.contact->nrow; j++) {
        int row = fault.contact->first_row + j;
        double none = pcs_gap_tie(system, row, q); // as for gates and certificate
        bool is_off = system->rows[row].is_bilateral ? fabs(gap[row]) > none : gap[row] < -none;
        fault.is_mended = fault.is_mended && gaps_is_mended(b, i, gap[row], none);
        if (!is_off) continue;
        if (fault.count == 0 || fabs(gap[row]) > fabs(fault.gap)) {
            fault.worst = j;
            fault.gap = gap[row];
        }
        fault.count++;
    }
    return fault;
}

// "node 5 at (1, 0, 0)": where the direction of the row is largest.
static void gaps_name_node(const pcs_system *system, int row, size_t size, char *text)
{
    const pcs_rows *G = system->G;
    int first = G->start[row], largest = first;
    text[0] = '\0';
    if (!system->is_mesh || G->start[row + 1] == first) return;
    for (int k = first; k < G->start[row + 1]; k++)
        if (fabs(G->value[k]) > fabs(G->value[largest])) largest = k;
    system->ops->describe(system, G->column[largest], NULL, NULL, size, text);
    char *end = strchr(text, ')'); // the direction says nothing new
    if (end != NULL) end[1] = '\0';
}

static void gaps_reject(pcs_build *b, const pcs_yaml *node, const gaps_fault *fault)
{
    const pcs_system *system = b->sim->system;
    int row = fault->contact->first_row + fault->worst;
    bool is_bilateral = system->rows[row].is_bilateral;
    char where[256], others[64] = "";
    gaps_name_node(system, row, sizeof where, where);
    if (fault->count > 1) snprintf(others, sizeof others, ", the deepest of %d points", fault->count);
    const char *advice = "";
    if (fault->is_mended) advice = "; reversing the normal would remove the overlap";
    else if (!b->has_system &&
             pcs_build_has_option(b->model.contacts[fault->contact - system->contacts].ops->options, "normal"))
        advice = "; reversing the normal would not remove it";
    pcs_case_error_at(b->c, node, NULL, "the gap of point %d%s%s is %g m at t = 0, must be %s 0%s%s%s%s", fault->worst,
                      b->has_system ? " of " : "", b->has_system ? fault->contact->name : "", fault->gap,
                      is_bilateral ? "=" : ">=", where[0] == '\0' ? "" : ": ", where, others, advice);
}

pcs_status pcs_build_check_gaps(pcs_build *b)
{
    pcs_system *system = b->sim->system;
    const double *q = b->sim->state.q;
    double *gap = pcs_scratch(NULL, (size_t)system->nrow, sizeof *gap);
    if (gap == NULL) return pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: %d gaps", system->nrow);
    system->ops->gaps(system, q, gap);
    if (system->directions_vary) system->ops->update_directions(system, q);
    const pcs_yaml *section = pcs_case_find(b->c, b->has_system ? "system" : "contacts");
    for (int i = 0; i < system->ncontact; i++) {
        bool gives_way = system->ncompliant > 0 && system->contacts[i].first_row >= system->nrow;
        if (system->contacts[i].is_joint || gives_way) continue;
        gaps_fault fault = gaps_find(b, i, gap);
        if (fault.count > 0) gaps_reject(b, b->has_system ? section : pcs_yaml_item(section, i), &fault);
    }
    pcs_scratch_free(gap);
    if (system->row_comm == NULL) return PCS_OK;
    // What is wrong with contacts of one rank is told by those who know all of them.
    bool is_wrong = pcs_rows_any(system, pcs_case_error_count(b->c) > 0);
    return is_wrong ? pcs_fail(b->ctx, PCS_BAD_INPUT, "a gap is wrong") : PCS_OK;
}
