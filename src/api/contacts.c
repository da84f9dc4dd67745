// Contacts, joints and reactions.

#include "api/handle.h"

#include <string.h>

int percuss_contacts(const percuss *p)
{
    return p == NULL || p->system == NULL ? 0 : pcs_system_npoint(p->system);
}

percuss_contact percuss_contact_at(const percuss *p, int i)
{
    if (i < 0 || i >= percuss_contacts(p)) return (percuss_contact){ .name = "" };
    const pcs_row *law = &p->system->rows[i];
    const pcs_row_report *row = &p->rows[i];
    return (percuss_contact){
        .name = p->system->contacts[law->contact].name,
        .gap = row->gap,
        .gap_rate = row->rate,
        .force = row->force,
        .impulse = row->impulse,
        .step_impulse = row->step_impulse,
        .tangent = { row->tangent[0], row->tangent[1] },
        .slip = { row->slip[0], row->slip[1] },
        .friction = law->friction,
        .restitution = law->restitution,
        .group = law->contact,
        .is_joint = law->is_bilateral,
        .is_closed = row->is_closed,
        .is_impact = row->is_impact,
    };
}

int percuss_groups(const percuss *p)
{
    return p == NULL || p->system == NULL ? 0 : p->system->ncontact;
}

percuss_group percuss_group_at(const percuss *p, int i)
{
    if (i < 0 || i >= percuss_groups(p)) return (percuss_group){ 0 };
    const pcs_contact_info *info = &p->system->contacts[i];
    return (percuss_group){
        .name = info->name, .first = info->first_row, .count = info->nrow, .is_joint = pcs_is_joint(p->system, i)
    };
}

percuss_group percuss_group_named(const percuss *p, const char *name)
{
    for (int i = 0; i < percuss_groups(p); i++)
        if (name != NULL && strcmp(p->system->contacts[i].name, name) == 0) return percuss_group_at(p, i);
    return (percuss_group){ 0 };
}

const double *percuss_rows(const percuss *p, percuss_row_quantity quantity, size_t *stride)
{
    static const size_t offsets[] = {
        offsetof(pcs_row_report, gap),        offsetof(pcs_row_report, rate),         offsetof(pcs_row_report, force),
        offsetof(pcs_row_report, impulse),    offsetof(pcs_row_report, step_impulse), offsetof(pcs_row_report, tangent),
        offsetof(pcs_row_report, tangent[1]), offsetof(pcs_row_report, slip),         offsetof(pcs_row_report, slip[1]),
    };
    *stride = sizeof(pcs_row_report);
    if (percuss_contacts(p) == 0 || quantity < PERCUSS_GAP || quantity > PERCUSS_SLIP_2) return NULL;
    return (const double *)(const void *)((const char *)p->rows + offsets[quantity]);
}

static pcs_status contacts_take_points(percuss *p)
{
    if (p->position != NULL && p->normal != NULL) return PCS_OK;
    PCS_TAKE(p->ctx, p->position, pcs_system_npoint(p->system), "contact points");
    PCS_TAKE(p->ctx, p->normal, pcs_system_npoint(p->system), "contact points");
    return PCS_OK;
}

int percuss_contact_points(percuss *p, const double **position, const double **normal)
{
    if (position != NULL) *position = NULL;
    if (normal != NULL) *normal = NULL;
    if (!pcs_api_may_evaluate(p)) return 2;
    if (pcs_system_npoint(p->system) == 0) return 0;
    if (contacts_take_points(p) != PCS_OK) return 1;
    pcs_system_points(p->system, pcs_api_at(p), p->position, p->normal);
    if (position != NULL) *position = p->position[0];
    if (normal != NULL) *normal = p->normal[0];
    return 0;
}

int percuss_reactions(const percuss *p)
{
    return p == NULL || p->sim == NULL || p->sim->reactions == NULL ? 0 : p->system->nreaction;
}

percuss_reaction percuss_reaction_at(const percuss *p, int i)
{
    if (i < 0 || i >= percuss_reactions(p)) return (percuss_reaction){ 0 };
    const pcs_reaction_info *info = &p->system->reactions[i];
    percuss_reaction out = { .name = info->name, .is_support = info->contact < 0 };
    memcpy(out.force, p->sim->reactions[i].force, sizeof out.force);
    memcpy(out.moment, p->sim->reactions[i].moment, sizeof out.moment);
    out.has_teeth = info->has_teeth;
    out.tangential = p->sim->reactions[i].teeth[0];
    out.separating = p->sim->reactions[i].teeth[1];
    return out;
}
