// Section `contacts`.

#include "build/builder.h"

#include <math.h>
#include <string.h>

typedef struct contact_keys {
    pcs_yaml *law;
    int points;
} contact_keys;

static const char *const contact_points[] = { "sum", "all", NULL };
PCS_PARTS(force_law_parts, pcs_force_law_types, pcs_force_law_types[i]->options, NULL, NULL)

const pcs_map pcs_law_map = { .name = "force law", .kind = PCS_MAP_TYPES, .parts = force_law_parts };
static const pcs_option contact_options[] = {
    PCS_MAP("law", contact_keys, law, PCS_OPTIONAL, pcs_law_map, "a force law, in place of the rigid one"),
    PCS_CHOICE("points", contact_keys, points, PCS_DEFAULT("sum"), contact_points,
               "all: history columns for every point"),
    { .name = NULL },
};
static const char *const contact_one[] = { "restitution", "law", NULL };

PCS_PARTS(gap_parts, pcs_gap_types, pcs_gap_types[i]->options, NULL, contact_one)

const pcs_map pcs_contact_map = {
    .name = "contact", .kind = PCS_MAP_TYPES, .is_entry = true, .options = contact_options, .parts = gap_parts
};

// The rigid law has restitutions; a force law has none.
static void contacts_check_law(pcs_build *b, pcs_yaml *node, const pcs_gap_ops *ops, const void *params, bool has_force)
{
    const pcs_contact_law *law = (const void *)((const char *)params + ops->law_offset);
    if (!has_force && isnan(law->restitution))
        pcs_case_error_at(b->c, node, NULL,
                          "missing key 'restitution' (Newton's coefficient e of the rigid law), or 'law', "
                          "a force law");
    if (!has_force) return;
    if (!isnan(law->restitution))
        pcs_case_error_at(b->c, node, "restitution",
                          "a contact with a force law has no restitution of its own: leave one of both out");
    if (law->tangent_restitution != 0.0)
        pcs_case_error_at(b->c, node, "tangent_restitution", "is %g: it goes with the rigid law only, not with 'law'",
                          law->tangent_restitution);
}

static pcs_status contacts_force_law(pcs_build *b, pcs_yaml *node, bool rubs, const pcs_force_law **out)
{
    int type = pcs_build_type(b, node, force_law_parts);
    if (type < 0) return PCS_OK;
    const pcs_force_law_type *of = pcs_force_law_types[type];
    void *params = NULL;
    pcs_force_law *law;
    PCS_TRY(pcs_build_params(b, of->params_size, &params));
    PCS_TAKE(b->ctx, law, 1, "a force law");
    if (!pcs_case_read(b->c, node, of->options, params)) return PCS_OK;
    if (!pcs_build_check(b, node, of->check, params)) return PCS_OK;
    const char *friction = of->names_friction(params);
    if (!rubs && friction != NULL)
        pcs_case_error_at(b->c, node, friction, "is about friction: give the contact 'friction' > 0, or leave it out");
    *law = of->make(params);
    *out = law;
    return PCS_OK;
}

static pcs_status contacts_contact(pcs_build *b, pcs_yaml *node, pcs_fe_contact *contact)
{
    contact_keys keys = { 0 };
    int type = pcs_build_type(b, node, gap_parts);
    (void)pcs_case_read(b->c, node, contact_options, &keys);
    contact->writes_points = keys.points == 1;
    if (type < 0) return PCS_OK;
    const pcs_gap_ops *ops = contact->ops = pcs_gap_types[type];
    void *params = NULL;
    PCS_TRY(pcs_build_params(b, ops->params_size, &params));
    contact->params = params;
    bool is_read = pcs_case_read(b->c, node, ops->options, params);
    for (int i = 0; ops->set_options[i] != NULL; i++) {
        pcs_yaml *set = pcs_case_get(b->c, node, ops->set_options[i]);
        if (set != NULL && pcs_yaml_get_kind(set) == PCS_YAML_SCALAR && pcs_yaml_text(set)[0] != '\0') {
            pcs_build_set(b, set, pcs_gap_has_cells(ops, ops->set_options[i]), false);
        }
    }
    if (is_read) pcs_build_check(b, node, ops->check, params);
    if (is_read) contacts_check_law(b, node, ops, params, keys.law != NULL);
    bool rubs = ((const pcs_contact_law *)(const void *)((const char *)params + ops->law_offset))->friction > 0.0;
    bool has_law = keys.law != NULL && pcs_case_is(b->c, keys.law, PCS_YAML_MAP);
    return has_law ? contacts_force_law(b, keys.law, rubs, &contact->law) : PCS_OK;
}

pcs_status pcs_build_contacts(pcs_build *b)
{
    int count;
    pcs_yaml *section = pcs_build_section(b, "contacts", false, "contacts by name", &count);
    pcs_fe_contact *contacts = NULL;
    PCS_TAKE(b->ctx, contacts, count, "contacts");
    for (int i = 0; i < count; i++) {
        pcs_yaml *node = pcs_case_entry(b->c, section, i, PCS_YAML_MAP);
        contacts[i].name = pcs_yaml_key(section, i);
        if (node != NULL) PCS_TRY(contacts_contact(b, node, &contacts[i]));
    }
    b->model.ncontact = count;
    b->model.contacts = contacts;
    return PCS_OK;
}
