// Section `contacts`.

#include "build/builder.h"

#include <math.h>
#include <string.h>

typedef struct contact_keys {
    pcs_yaml *law;
    double restitution, friction, tangent_restitution;
    int points;
} contact_keys;

static const char *const contact_points[] = { "sum", "all", NULL };
PCS_PARTS(law_parts, pcs_laws, pcs_laws[i]->options, NULL, NULL)

const pcs_map pcs_law_map = { .name = "law", .kind = PCS_MAP_TYPES, .parts = law_parts };
static const pcs_option contact_options[] = {
    PCS_REAL("restitution", contact_keys, restitution, PCS_OPTIONAL, PCS_ZERO_TO_ONE,
             "Newton's coefficient e; it, or `law`, is required"),
    PCS_MAP("law", contact_keys, law, PCS_OPTIONAL, pcs_law_map, "a force law or another impact law"),
    PCS_REAL("friction", contact_keys, friction, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE, "Coulomb's coefficient mu"),
    PCS_REAL("tangent_restitution", contact_keys, tangent_restitution, PCS_DEFAULT("0.0"), PCS_ZERO_TO_ONE,
             "restitution of the tangential velocity"),
    PCS_CHOICE("points", contact_keys, points, PCS_DEFAULT("sum"), contact_points,
               "all: history columns for every point"),
    { .name = NULL },
};
static const char *const contact_one[] = { "restitution", "law", NULL };

PCS_PARTS(gap_parts, pcs_gap_types, pcs_gap_types[i]->options, NULL, NULL)

const pcs_map pcs_contact_map = { .name = "contact",
                                  .kind = PCS_MAP_TYPES,
                                  .is_entry = true,
                                  .options = contact_options,
                                  .parts = gap_parts,
                                  .one = contact_one };

// Checks that a contact has one law: a restitution or `law`, and a tangential restitution with impact laws only.
static void contacts_check_law(pcs_build *b, pcs_yaml *node, const contact_keys *keys, const pcs_law *law)
{
    if (keys->law == NULL && isnan(keys->restitution))
        pcs_case_error_at(b->c, node, NULL,
                          "missing key 'restitution' (Newton's coefficient e), or 'law', a force law or another impact "
                          "law");
    if (keys->law != NULL && !isnan(keys->restitution))
        pcs_case_error_at(b->c, node, "restitution",
                          "a contact with 'law' has no restitution of its own: leave one of both out");
    if (pcs_law_is_force(law) && keys->tangent_restitution != 0.0)
        pcs_case_error_at(b->c, node, "tangent_restitution",
                          "is %g: it goes with impact laws only, not with a force law", keys->tangent_restitution);
}

static pcs_status contacts_read_law(pcs_build *b, pcs_yaml *node, double friction, pcs_law *out)
{
    int type = pcs_build_type(b, node, law_parts);
    if (type < 0) return PCS_OK;
    const pcs_law_ops *ops = pcs_laws[type];
    void *params = NULL;
    PCS_TRY(pcs_build_params(b, ops->params_size, &params));
    if (!pcs_case_read(b->c, node, ops->options, params)) return PCS_OK;
    if (!pcs_build_check(b, node, ops->check, params)) return PCS_OK;
    for (const pcs_option *o = ops->options; o->name != NULL; o++)
        if (friction == 0.0 && strncmp(o->name, "tangent_", 8) == 0 && pcs_case_get(b->c, node, o->name) != NULL)
            pcs_case_error_at(b->c, node, o->name,
                              "is about friction: give the contact 'friction' > 0, or leave it out");
    *out = (pcs_law){ ops, params };
    return PCS_OK;
}

static pcs_status contacts_contact(pcs_build *b, pcs_yaml *node, pcs_row_source *contact)
{
    contact_keys keys = { 0 };
    int type = pcs_build_type(b, node, gap_parts);
    bool is_read = pcs_case_read(b->c, node, contact_options, &keys);
    contact->writes_points = keys.points == 1;
    contact->friction = keys.friction;
    contact->tangent_restitution = keys.tangent_restitution;
    if (type < 0) return PCS_OK;
    PCS_TRY(pcs_build_source(b, node, pcs_gap_types[type], contact));
    if (keys.law != NULL && pcs_case_is(b->c, keys.law, PCS_YAML_MAP))
        PCS_TRY(contacts_read_law(b, keys.law, keys.friction, &contact->law));
    if (is_read) contacts_check_law(b, node, &keys, &contact->law);
    if (keys.law != NULL) return PCS_OK;
    pcs_newton *newton;
    PCS_TAKE(b->ctx, newton, 1, "a contact");
    newton->restitution = keys.restitution;
    contact->law = (pcs_law){ &pcs_law_newton, newton };
    return PCS_OK;
}

pcs_status pcs_build_contacts(pcs_build *b)
{
    int count;
    pcs_yaml *section = pcs_build_section(b, "contacts", false, "contacts by name", &count);
    pcs_row_source *contacts = NULL;
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
