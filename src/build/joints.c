// Joints of a case: reads them and checks that they fit the model, the initial state and one another.

#include "build/builder.h"
#include "core/rounding.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double gap_error_allowed = 1e-9;  // relative to the model's size, and in rad for angles
static const double velocity_allowed = 1e-9;   // relative to the largest velocities of the same kind
static const double independent_share = 1e-10; // squared part of a row that is independent of the rows before it

typedef struct motion_keys {
    pcs_amplitude displacement, velocity;
} motion_keys;

// Signals that a joint may follow; its type says where they go.
static const pcs_option motion_options[] = {
    PCS_FORM("displacement", motion_keys, displacement, PCS_OPTIONAL, pcs_amplitude_form, "over time, m or rad"),
    PCS_FORM("velocity", motion_keys, velocity, PCS_OPTIONAL, pcs_amplitude_form, "over time, m/s or rad/s"),
    { .name = NULL },
};

PCS_PARTS(joint_parts, pcs_joints, pcs_joints[i]->signals == NULL ? NULL : motion_options)

const pcs_map pcs_joint_map = { .name = "joint", .kind = PCS_MAP_TYPES, .is_entry = true, .parts = joint_parts };

// Tabulates the integral of a given velocity over the run, so that each evaluation starts from the nearest entry
// instead of 0: narrow pulses are found, and the integral does not depend on the state. Fails where it is not finite.
static pcs_status joints_integrate(pcs_build *b, pcs_yaml *node, pcs_amplitude *signal)
{
    enum { PLACES = 4097 };
    const pcs_yaml *end = pcs_case_find(b->c, "time.end");
    const char *stop;
    double *area = NULL, span = 0.0;
    if (signal->kind != PCS_AMPLITUDE_EXPRESSION) return PCS_OK;
    if (end != NULL && end->kind == PCS_YAML_SCALAR) span = pcs_text_number(end->text, &stop);
    if (!(span > 0.0 && isfinite(span))) return PCS_OK;
    PCS_TAKE(b->ctx, area, PLACES, "an amplitude");
    pcs_amplitude_integrate(signal, span / (PLACES - 1), PLACES, area);
    int last = PLACES - 1;
    while (last > 0 && !isfinite(area[last])) last--;
    if (last < PLACES - 1)
        pcs_case_reject(b->c, node, "has no finite integral from t = %g s on, within the %g s of the run",
                        last * signal->panel, span);
    return PCS_OK;
}

// Reads the options, signals and sets of a contact or joint.
static pcs_status build_source(pcs_build *b, pcs_yaml *node, const pcs_source_ops *ops, pcs_row_source *source)
{
    void *params = NULL;
    PCS_TRY(pcs_build_params(b, ops->params_size, &params));
    source->ops = ops;
    source->params = params;
    int nerror = pcs_case_error_count(b->c);
    bool is_read = pcs_case_read(b->c, node, ops->options, params);
    for (const pcs_source_signal *s = ops->signals; s != NULL && s->name != NULL; s++) {
        pcs_amplitude *signal = (pcs_amplitude *)((char *)params + s->offset);
        pcs_yaml *given = pcs_case_get(b->c, node, s->name);
        if (given != NULL) PCS_TRY(pcs_amplitude_form.read(b, &pcs_amplitude_form, given, signal));
        if (s->is_rate) PCS_TRY(joints_integrate(b, given, signal));
    }
    is_read = is_read && pcs_case_error_count(b->c) == nerror;
    for (const pcs_source_set *s = ops->sets; s->option != NULL; s++) {
        pcs_yaml *set = pcs_case_get(b->c, node, s->option);
        if (set != NULL && set->kind == PCS_YAML_SCALAR && set->text[0] != '\0')
            pcs_build_set(b, set, s->is_cells, s->is_single);
    }
    if (is_read) pcs_build_check(b, node, ops->check, params);
    return PCS_OK;
}

static pcs_status joints_read(pcs_build *b, const char *name, pcs_yaml *node, void *item)
{
    pcs_row_source *joint = item;
    joint->name = name;
    int type = node == NULL ? -1 : pcs_build_type(b, node, joint_parts);
    return type < 0 ? PCS_OK : build_source(b, node, pcs_joints[type], joint);
}

const pcs_build_list pcs_joint_list =
    PCS_BUILD_LIST("joints", NULL, pcs_row_source, model.njoint, model.joints, joints_read);

// Data shared by the checks.
typedef struct joint_check {
    pcs_build *b;
    int n;                       // bilateral rows of joints
    const int *row;              // [n]
    double *L, *c;               // [n * n], [n]
    double *size;                // [n] norms of the rows; 0 if dependent on rows before it
    double *gap, *drive, *speed; // [nrow]
    double *mass, *spread;       // [nv] diagonal of the mass; zeros
} joint_check;

static const pcs_contact_info *joints_of(const joint_check *k, int i)
{
    const pcs_system *system = k->b->sim->system;
    return &system->contacts[system->rows[k->row[i]].contact];
}

// Returns true for a support that fixes one rotation; these follow the joints of the case.
static bool joints_is_support(const joint_check *k, const pcs_contact_info *info)
{
    return info - k->b->sim->system->contacts >= k->b->model.ncontact + k->b->model.njoint;
}

static void joints_reject(const joint_check *k, const pcs_contact_info *info, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s.%s", joints_is_support(k, info) ? "supports" : "joints", info->name);
    pcs_case_error_at(k->b->c, pcs_case_find(k->b->c, path), NULL, "%s", text);
}

// Returns sum |G_i x_i| over the entries of a row: its size for coordinates, or velocities, of size x.
static double joints_size(const joint_check *k, int row, const double *x)
{
    const pcs_rows *G = k->b->sim->system->G;
    int first = G->start[row];
    return pcs_rounding_of_sum(G->start[row + 1] - first, G->value + first, G->column + first, x) / DBL_EPSILON;
}

// Checks position and velocity of a row at t = 0. Returns false, with an error, if they do not satisfy the joint.
static bool joints_check_row(const joint_check *k, int row, const pcs_contact_info *info, const double *fastest)
{
    const pcs_system *system = k->b->sim->system;
    const char *kind = joints_is_support(k, info) ? "support" : "joint", *name = info->name;
    double gap_error = fabs(k->gap[row]), drive = fabs(k->speed[row]), fast = joints_size(k, row, fastest);
    double rate = fabs(pcs_system_rate(system, row, k->b->sim->state.v) + k->speed[row]);
    char text[256];
    if (gap_error > gap_error_allowed * joints_size(k, row, k->b->sim->system->scale.model)) {
        snprintf(text, sizeof text, "the initial state does not fit %s '%s': it is off by %.6g m (or rad)", kind, name,
                 gap_error);
    } else if (rate > velocity_allowed * fmax(drive, fast)) {
        snprintf(text, sizeof text,
                 "the initial velocities do not fit %s '%s': off by %.6g m/s (or rad/s); give velocities that "
                 "do under 'initial'%s",
                 kind, name, rate, drive > 0.0 ? ", or let the motion set in smoothly ('rise')" : "");
    } else {
        return true;
    }
    joints_reject(k, info, text);
    return false;
}

// Checks the initial state against all rows; rejects each joint once. Velocities are compared with the largest one of
// their kind (displacements, angles), at least model size, or 1 rad, over the duration of the run.
static void joints_check_state(const joint_check *k)
{
    const pcs_contact_info *rejected = NULL;
    const pcs_scale *scale = &k->b->sim->system->scale;
    double fastest[2] = { 0.0 };
    int nv = k->b->sim->system->nv;
    for (int i = 0; i < nv; i++) {
        double *of_kind = &fastest[scale->is_angle[i]];
        *of_kind = fmax(*of_kind, fmax(fabs(k->b->sim->state.v[i]), scale->model[i] / k->b->end));
    }
    for (int i = 0; i < nv; i++) k->spread[i] = fastest[scale->is_angle[i]];
    for (int i = 0; i < k->n; i++) {
        const pcs_contact_info *info = joints_of(k, i);
        if (info != rejected && !joints_check_row(k, k->row[i], info, k->spread)) rejected = info;
    }
    memset(k->spread, 0, (size_t)nv * sizeof *k->spread);
}

// Writes "'a', 'b'", the other joints whose rows, times c, add up to row i.
static void joints_name_others(const joint_check *k, int i, size_t size, char *text)
{
    const pcs_contact_info *last = NULL;
    text[0] = '\0';
    for (int j = 0; j < i; j++) {
        const pcs_contact_info *info = joints_of(k, j);
        if (fabs(k->c[j]) < 1e-6 || info == last || info == joints_of(k, i)) continue;
        pcs_text_add(text, size, "%s'%s'", text[0] == '\0' ? "" : ", ", info->name);
        last = info;
    }
}

// Returns row_i . D^-1 row_j, where D is the diagonal of the mass, which makes translations and rotations comparable.
static double joints_product(const joint_check *k, int i, int j)
{
    const pcs_rows *G = k->b->sim->system->G;
    double sum = 0.0;
    for (int l = G->start[k->row[i]]; l < G->start[k->row[i] + 1]; l++) k->spread[G->column[l]] += G->value[l];
    for (int l = G->start[k->row[j]]; l < G->start[k->row[j] + 1]; l++)
        sum += G->value[l] * k->spread[G->column[l]] / k->mass[G->column[l]];
    for (int l = G->start[k->row[i]]; l < G->start[k->row[i] + 1]; l++) k->spread[G->column[l]] = 0.0;
    return sum;
}

// Returns true if row i does not depend on the rows before it. Adds a row to the Cholesky factor of the rows' products,
// scaled to a unit diagonal; the remainder on the diagonal is the squared part of the row that the others do not span.
static bool joints_is_independent(const joint_check *k, int i)
{
    double *L = k->L + (size_t)i * (size_t)k->n, left = 1.0, size = sqrt(joints_product(k, i, i));
    for (int j = 0; j < i; j++) {
        const double *Lj = k->L + (size_t)j * (size_t)k->n;
        L[j] = 0.0;
        if (k->size[j] == 0.0) continue;
        double sum = joints_product(k, i, j) / (size * k->size[j]);
        for (int l = 0; l < j; l++) sum -= L[l] * Lj[l];
        L[j] = sum / Lj[j];
        left -= L[j] * L[j];
    }
    L[i] = sqrt(fmax(left, 0.0));
    k->size[i] = left > independent_share ? size : 0.0;
    if (left > independent_share) return true;
    for (int j = i - 1; j >= 0; j--) {
        double sum = L[j];
        k->c[j] = 0.0;
        if (k->size[j] == 0.0) continue;
        for (int l = j + 1; l < i; l++) sum -= k->L[(size_t)l * (size_t)k->n + (size_t)j] * k->c[l];
        k->c[j] = sum / k->L[(size_t)j * (size_t)k->n + (size_t)j];
    }
    return false;
}

static bool joints_is_driven(const joint_check *k, int i)
{
    const pcs_build *b = k->b;
    int joint = b->sim->system->rows[k->row[i]].contact - b->model.ncontact;
    return joint < b->model.njoint && b->model.joints[joint].ops->drive != NULL;
}

// Records joints that repeat conditions of others: forces then follow by least squares. Rejects repeated motions.
static void joints_check_rank(const joint_check *k)
{
    const pcs_contact_info *reported = NULL;
    for (int i = 0; i < k->n; i++) {
        char others[256], text[512];
        const pcs_contact_info *info = joints_of(k, i);
        if (joints_is_independent(k, i)) continue;
        k->b->sim->system->row_set.are_redundant = true;
        if (info == reported) continue;
        reported = info;
        joints_name_others(k, i, sizeof others, others);
        bool is_several = strchr(others, ',') != NULL;
        if (others[0] == '\0') snprintf(others, sizeof others, "'%s'", info->name);
        snprintf(text, sizeof text, "%s '%s' repeats what %s %s hold%s",
                 joints_is_support(k, info) ? "support" : "joint", info->name, is_several ? "the joints" : "joint",
                 others, is_several ? "" : "s");
        bool is_driven = joints_is_driven(k, i); // two motions of one coordinate are contradictory
        for (int j = 0; j < i; j++) is_driven = is_driven || (fabs(k->c[j]) >= 1e-6 && joints_is_driven(k, j));
        if (!is_driven) {
            pcs_case_note(k->b->c, "%s; their forces are shared by least squares", text);
            continue;
        }
        pcs_text_add(text, sizeof text,
                     "; two prescribed motions of one coordinate contradict each other: leave one out");
        joints_reject(k, info, text);
    }
}

static pcs_status joints_check_all(joint_check *k)
{
    pcs_sim *sim = k->b->sim;
    pcs_system *system = sim->system;
    const pcs_matrix *M = system->M;
    size_t n = (size_t)k->n;
    PCS_TAKE(k->b->ctx, k->L, n * n, "the joints");
    PCS_TAKE_EACH(k->b->ctx, n, "the joints", double, &k->c, &k->size);
    PCS_TAKE_EACH(k->b->ctx, system->nrow, "the joints", double, &k->gap, &k->drive, &k->speed);
    PCS_TAKE_EACH(k->b->ctx, system->nv, "the joints", double, &k->mass, &k->spread);
    for (int i = 0; i < system->nv; i++) {
        double mass = pcs_matrix_diagonal(M, i);
        k->mass[i] = mass > 0.0 ? mass : 1.0; // any value will do without mass
    }
    if (system->row_set.vary) pcs_system_aim(system, pcs_at(sim->state.t, sim->state.q, NULL));
    pcs_system_gaps(system, pcs_at(sim->state.t, sim->state.q, NULL), k->gap);
    if (system->row_set.ndriven > 0) pcs_system_drives(system, sim->state.t, k->drive, k->speed);
    joints_check_state(k);
    joints_check_rank(k);
    return PCS_OK;
}

pcs_status pcs_build_check_joints(pcs_build *b)
{
    const pcs_system *system = b->sim->system;
    joint_check k = { .b = b };
    int *row;
    if (b->has_system) return PCS_OK;
    PCS_TAKE(b->ctx, row, system->nrow, "the joints");
    for (int j = 0; j < system->nrow; j++)
        if (system->contacts[system->rows[j].contact].is_joint) row[k.n++] = j;
    k.row = row;
    if (!pcs_system_has_joints(system)) return PCS_OK;
    PCS_TRY(joints_check_all(&k));
    if (!pcs_rows_are_distributed(system)) return PCS_OK;
    // Processes that know all joints report which are wrong, and which repeat others.
    bool is_special = pcs_case_error_count(b->c) > 0 || system->row_set.are_redundant;
    return pcs_rows_any(system, is_special)
               ? pcs_fail(b->ctx, PCS_BAD_INPUT, "joints are checked again by every process")
               : PCS_OK;
}

// Section `contacts`.

typedef struct contact_keys {
    double restitution, friction, tangent_restitution;
    int points;
} contact_keys;

static const char *const contact_points[] = { "sum", "all", NULL };
PCS_PARTS(law_parts, pcs_laws, NULL)

const pcs_map pcs_law_map = { .name = "law", .kind = PCS_MAP_TYPES, .parts = law_parts };
static const pcs_option contact_options[] = {
    PCS_REAL("restitution", contact_keys, restitution, PCS_OPTIONAL, PCS_ZERO_TO_ONE,
             "Newton's coefficient e; it, or `law`, is required"),
    PCS_KEY_MAP("law", PCS_OPTIONAL, pcs_law_map, "a force law or another impact law"),
    PCS_REAL("friction", contact_keys, friction, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE, "Coulomb's coefficient mu"),
    PCS_REAL("tangent_restitution", contact_keys, tangent_restitution, PCS_DEFAULT("0.0"), PCS_ZERO_TO_ONE,
             "restitution of the tangential velocity"),
    PCS_CHOICE("points", contact_keys, points, PCS_DEFAULT("sum"), contact_points,
               "all: history columns for every point"),
    { .name = NULL },
};
static const char *const contact_one[] = { "restitution", "law", NULL };

PCS_PARTS(gap_parts, pcs_gap_types, NULL)

const pcs_map pcs_contact_map = {
    .name = "contact", .kind = PCS_MAP_TYPES, .is_entry = true, .options = contact_options, .parts = gap_parts
};

static pcs_status contacts_read_law(pcs_build *b, pcs_yaml *node, double friction, pcs_law *out)
{
    int type = pcs_build_type(b, node, law_parts);
    void *params;
    PCS_TRY(pcs_build_part(b, node, law_parts, type, &params));
    if (params == NULL) return PCS_OK;
    const pcs_law_ops *ops = pcs_laws[type];
    for (const pcs_option *o = ops->options; o->name != NULL; o++)
        if (friction == 0.0 && strncmp(o->name, "tangent_", 8) == 0 && pcs_case_get(b->c, node, o->name) != NULL)
            pcs_case_error_at(b->c, node, o->name,
                              "is about friction: give the contact 'friction' > 0, or leave it out");
    *out = (pcs_law){ ops, params };
    return PCS_OK;
}

static pcs_status contacts_read(pcs_build *b, const char *name, pcs_yaml *node, void *item)
{
    pcs_row_source *contact = item;
    contact_keys keys = { 0 };
    contact->name = name;
    if (node == NULL) return PCS_OK;
    int type = pcs_build_type(b, node, gap_parts);
    bool is_read = pcs_case_read(b->c, node, contact_options, &keys);
    contact->writes_points = keys.points == 1;
    contact->friction = keys.friction;
    contact->tangent_restitution = keys.tangent_restitution;
    if (type < 0) return PCS_OK;
    PCS_TRY(build_source(b, node, pcs_gap_types[type], contact));
    pcs_yaml *law = pcs_case_get(b->c, node, "law");
    if (law != NULL && pcs_case_is(b->c, law, PCS_YAML_MAP))
        PCS_TRY(contacts_read_law(b, law, keys.friction, &contact->law));
    if (is_read) (void)pcs_case_one(b->c, node, contact_one, true);
    if (is_read && pcs_law_is_force(&contact->law) && keys.tangent_restitution != 0.0)
        pcs_case_error_at(b->c, node, "tangent_restitution",
                          "is %g: it goes with impact laws only, not with a force law", keys.tangent_restitution);
    if (law != NULL) return PCS_OK;
    pcs_newton *newton;
    PCS_TAKE(b->ctx, newton, 1, "a contact");
    newton->restitution = keys.restitution;
    contact->law = (pcs_law){ &pcs_law_newton, newton };
    return PCS_OK;
}

const pcs_build_list pcs_contact_list =
    PCS_BUILD_LIST("contacts", NULL, pcs_row_source, model.ncontact, model.contacts, contacts_read);
