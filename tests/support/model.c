#include "support/model.h"

#include "elements/section.h"

#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

model *model_create(void)
{
    pcs_context *ctx = NULL;
    assert_int_equal(pcs_context_create(&ctx), PCS_OK);
    model *m = pcs_take(ctx, 1, sizeof *m, "a model");
    assert_non_null(m);
    m->ctx = ctx;
    m->definition = (pcs_fe_definition){ .groups = m->groups,
                                         .supports = m->supports,
                                         .initials = m->initials,
                                         .loads = m->loads,
                                         .contacts = m->contacts,
                                         .joints = m->joints,
                                         .step = 0.01 };
    CHECK_OK(ctx, pcs_mesh_create(ctx, &m->mesh));
    m->definition.mesh = m->mesh;
    return m;
}

void model_destroy(model **m)
{
    pcs_context *ctx = (*m)->ctx;
    *m = NULL;
    pcs_context_destroy(&ctx);
}

int model_set_up(void **state)
{
    *state = model_create();
    return 0;
}

int model_tear_down(void **state)
{
    model_destroy((model **)state);
    return 0;
}

// The value of `name` in "a=1 b=2", copied; NULL when it is not there.
static char *params_find(pcs_context *ctx, const char *assignments, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = assignments; at != NULL && *at != '\0';) {
        at += strspn(at, " ");
        size_t size = strcspn(at, " ");
        if (size > length && strncmp(at, name, length) == 0 && at[length] == '=') {
            char *value = pcs_take_text(ctx, at + length + 1);
            assert_non_null(value);
            value[size - length - 1] = '\0';
            return value;
        }
        at += size;
    }
    return NULL;
}

static int params_choice(const pcs_option *option, const char *text)
{
    for (int i = 0; option->choices[i] != NULL; i++)
        if (strcmp(option->choices[i], text) == 0) return i;
    fail_msg("option %s has no choice '%s'", option->name, text);
    return -1;
}

static void params_vector(const char *text, double out[3])
{
    for (int k = 0; k < 3; k++) {
        char *end;
        text += strspn(text, "[, ");
        out[k] = strtod(text, &end);
        text = end;
    }
}

// Numbers one after the other, as rows of three.
static void params_list(pcs_context *ctx, const char *text, pcs_list *out)
{
    int count = 1;
    for (const char *at = text; *at != '\0'; at++) count += *at == ',';
    double *value = pcs_take(ctx, (size_t)count, sizeof *value, "parameters");
    assert_non_null(value);
    for (int i = 0; i + 3 <= count; i += 3) {
        params_vector(text, value + i);
        for (int k = 0; k < 3 && text != NULL; k++) text = strchr(text, ',') == NULL ? NULL : strchr(text, ',') + 1;
    }
    *out = (pcs_list){ .nrow = count / 3, .count = count, .value = value };
}

static void params_store(const pcs_option *option, const char *text, int number, void *at)
{
    switch (option->kind) {
    case PCS_OPTION_REAL:
        *(double *)at = text != NULL ? strtod(text, NULL) : option->is_required ? 1.5 + number : NAN;
        break;
    case PCS_OPTION_COUNT: *(int *)at = text == NULL ? -1 : atoi(text); break;
    case PCS_OPTION_FLAG: *(bool *)at = text != NULL && strcmp(text, "true") == 0; break;
    case PCS_OPTION_CHOICE: *(int *)at = text == NULL ? 0 : params_choice(option, text); break;
    case PCS_OPTION_VECTOR: params_vector(text == NULL ? "nan,nan,nan" : text, at); break;
    case PCS_OPTION_FILE:
    case PCS_OPTION_TEXT: *(const char **)at = text; break;
    case PCS_OPTION_LIST: *(pcs_list *)at = (pcs_list){ 0 }; break;       // those that are given follow
    case PCS_OPTION_NAMES: *(pcs_names *)at = (pcs_names){ 0 }; break;    // not needed so far
    case PCS_OPTION_POINTS: *(pcs_points *)at = (pcs_points){ 0 }; break; // not needed so far
    case PCS_OPTION_PROFILE:
        *(pcs_profile *)at = (pcs_profile){ .value = text != NULL ? strtod(text, NULL) : 1.5 + number };
        break;
    default: *(const void **)at = NULL; break; // likewise
    }
}

void *model_params(pcs_context *ctx, const pcs_option *options, size_t size, const char *assignments)
{
    char *params = pcs_take(ctx, 1, size, "parameters");
    assert_non_null(params);
    for (int i = 0; options != NULL && options[i].name != NULL; i++) {
        const char *text = params_find(ctx, assignments, options[i].name);
        params_store(&options[i], text == NULL ? options[i].preset : text, i, params + options[i].offset);
        if (options[i].kind == PCS_OPTION_LIST && text != NULL)
            params_list(ctx, text, (pcs_list *)(void *)(params + options[i].offset));
    }
    return params;
}

void model_line(model *m, const char *name, const double from[3], const double to[3], int elements)
{
    const pcs_mesh_source_ops *line = pcs_mesh_sources[0];
    char text[256];
    snprintf(text, sizeof text, "from=%.17g,%.17g,%.17g to=%.17g,%.17g,%.17g elements=%d", from[0], from[1], from[2],
             to[0], to[1], to[2], elements);
    assert_string_equal(line->name, "line");
    CHECK_OK(m->ctx, line->build(model_params(m->ctx, line->options, line->params_size, text), name, m->mesh));
}

void model_chain(model *m, const char *name, int nnode, const double (*x)[3])
{
    int node, cell;
    CHECK_OK(m->ctx, pcs_mesh_add_nodes(m->mesh, nnode, &node));
    CHECK_OK(m->ctx, pcs_mesh_add_cells(m->mesh, nnode - 1, &cell));
    memcpy(m->mesh->x + node, x, (size_t)nnode * sizeof *x);
    for (int i = 0; i < nnode - 1; i++) {
        m->mesh->cell[cell + i][0] = node + i;
        m->mesh->cell[cell + i][1] = node + i + 1;
    }
    CHECK_OK(m->ctx, pcs_mesh_add_range(m->mesh, PCS_NODES, node, nnode, "%s", name));
    CHECK_OK(m->ctx, pcs_mesh_add_range(m->mesh, PCS_CELLS, cell, nnode - 1, "%s", name));
}

void model_cell(model *m, const char *name, int a, int b)
{
    int cell;
    CHECK_OK(m->ctx, pcs_mesh_add_cells(m->mesh, 1, &cell));
    m->mesh->cell[cell][0] = a;
    m->mesh->cell[cell][1] = b;
    CHECK_OK(m->ctx, pcs_mesh_add_range(m->mesh, PCS_CELLS, cell, 1, "%s", name));
}

void model_point(model *m, const char *name, const double x[3])
{
    int node;
    CHECK_OK(m->ctx, pcs_mesh_add_nodes(m->mesh, 1, &node));
    memcpy(m->mesh->x[node], x, sizeof m->mesh->x[node]);
    CHECK_OK(m->ctx, pcs_mesh_add_range(m->mesh, PCS_NODES, node, 1, "%s", name));
    model_cell(m, name, node, node);
}

const pcs_set *model_nodes(const model *m, const char *name)
{
    const pcs_set *set = pcs_mesh_node_set(m->mesh, name);
    if (set == NULL) fail_msg("no node set '%s'", name);
    return set;
}

const pcs_set *model_cells(const model *m, const char *name)
{
    const pcs_set *set = pcs_mesh_cell_set(m->mesh, name);
    if (set == NULL) fail_msg("no cell set '%s'", name);
    return set;
}

pcs_fe_group *model_group(model *m, const char *element, const char *cells, const char *assignments)
{
    pcs_fe_group *group = &m->groups[m->definition.ngroup++];
    for (int i = 0; pcs_elements[i] != NULL; i++)
        if (strcmp(pcs_elements[i]->name, element) == 0) group->ops = pcs_elements[i];
    assert_non_null(group->ops);
    group->name = cells;
    group->cells = model_cells(m, cells);
    void *params = model_params(m->ctx, group->ops->options, group->ops->params_size, assignments);
    if (group->ops->section_offset != 0) {
        pcs_section section = { .area = 0.3, .Iy = 0.02, .Iz = 0.05, .torsion = 0.03, .ky = 0.8, .kz = 0.7 };
        if (strncmp(element, "rotor", 5) == 0) { // what spins is round
            section.Iy = section.Iz;
            section.ky = section.kz;
        }
        memcpy((char *)params + group->ops->section_offset, &section, sizeof section);
    }
    group->params = params;
    return group;
}

void model_taper(model *m, pcs_fe_group *group, double length, bool is_stepped)
{
    const pcs_section_type *tube = pcs_section_types[2]; // round, for what spins
    const pcs_section_type *type = group->ops->area != NULL ? group->ops->area : tube;
    char *params = group->params;
    if (type == tube) params = model_params(m->ctx, tube->options, tube->params_size, "diameter=0.9 thickness=0.1");
    pcs_profile *profile = (pcs_profile *)(void *)(params + type->options[0].offset);
    double *place = pcs_take(m->ctx, 2, sizeof *place, "a profile"),
           *level = pcs_take(m->ctx, 2, sizeof *level, "levels");
    assert_non_null(place);
    assert_non_null(level);
    place[1] = is_stepped ? length * 2.0 / 3.0 : length;
    level[0] = profile->value;
    level[1] = 1.5 * profile->value;
    *profile = (pcs_profile){ .value = level[0], .count = 2, .place = place, .level = level, .is_stepped = is_stepped };
    if (type != tube) return;
    pcs_section_line *line = pcs_take(m->ctx, 1, sizeof *line, "a section");
    assert_non_null(line);
    *line = (pcs_section_line){ .type = tube, .params = params };
    pcs_section *section = (pcs_section *)(void *)((char *)group->params + group->ops->section_offset);
    tube->constants(params, section);
    section->line = line;
}

pcs_fe_support *model_support(model *m, const char *nodes, const char *axes)
{
    pcs_fe_support *support = &m->supports[m->definition.nsupport++];
    support->name = "hold";
    support->nodes = model_nodes(m, nodes);
    for (int k = 0; k < 3; k++) support->fixes[k] = strchr(axes, "xyz"[k]) != NULL;
    return support;
}

pcs_fe_initial *model_initial(model *m, const char *nodes)
{
    pcs_fe_initial *initial = &m->initials[m->definition.ninitial++];
    initial->nodes = model_nodes(m, nodes);
    return initial;
}

pcs_fe_load *model_gravity(model *m, double gx, double gy, double gz)
{
    pcs_fe_load *load = &m->loads[m->definition.nload++];
    *load = (pcs_fe_load){ .name = "weight", .is_gravity = true, .value = { gx, gy, gz } };
    return load;
}

pcs_fe_load *model_force(model *m, const char *nodes, double fx, double fy, double fz)
{
    pcs_fe_load *load = &m->loads[m->definition.nload++];
    *load = (pcs_fe_load){ .name = "push", .nodes = model_nodes(m, nodes), .value = { fx, fy, fz } };
    return load;
}

pcs_row_source *model_contact(model *m, const char *name, const char *type, const char *assignments)
{
    pcs_row_source *contact = &m->contacts[m->definition.ncontact++];
    const char *mu = params_find(m->ctx, assignments, "friction");
    const char *e = params_find(m->ctx, assignments, "tangent_restitution");
    *contact =
        (pcs_row_source){ .friction = mu == NULL ? 0.0 : atof(mu), .tangent_restitution = e == NULL ? 0.0 : atof(e) };
    for (int i = 0; pcs_gap_types[i] != NULL; i++)
        if (strcmp(pcs_gap_types[i]->name, type) == 0) contact->ops = pcs_gap_types[i];
    assert_non_null(contact->ops);
    contact->law.ops = &pcs_law_newton;
    contact->law.params = model_params(m->ctx, pcs_law_newton.options, sizeof(pcs_newton), assignments);
    contact->name = name;
    contact->params = model_params(m->ctx, contact->ops->options, contact->ops->params_size, assignments);
    return contact;
}

pcs_row_source *model_joint(model *m, const char *name, const char *type, const char *assignments)
{
    pcs_row_source *joint = &m->joints[m->definition.njoint++];
    for (int i = 0; pcs_joints[i] != NULL; i++)
        if (strcmp(pcs_joints[i]->name, type) == 0) joint->ops = pcs_joints[i];
    assert_non_null(joint->ops);
    joint->name = name;
    joint->params = model_params(m->ctx, joint->ops->options, joint->ops->params_size, assignments);
    return joint;
}

pcs_status model_try_build(model *m)
{
    return pcs_fe_create(m->ctx, &m->definition, &m->system, &m->culprit);
}

void model_build(model *m)
{
    CHECK_OK(m->ctx, model_try_build(m));
    CHECK(m->system->nv <= MODEL_MAX_SIZE);
}

static const pcs_scheme_ops *run_find_scheme(const char *name)
{
    for (int i = 0; pcs_schemes[i] != NULL; i++)
        if (strcmp(pcs_schemes[i]->name, name) == 0) return pcs_schemes[i];
    fail_msg("no scheme '%s'", name);
    return NULL;
}

model_run model_prepare(model *m, const char *scheme, const char *assignments, const char *solver, const char *linear)
{
    model_run run = { .m = m };
    const pcs_scheme_ops *ops = run_find_scheme(scheme);
    CHECK_OK(m->ctx, pcs_scheme_weigh(ops, m->system, 0.01));
    CHECK_OK(m->ctx, pcs_step_solver_create(m->ctx, solver == NULL ? "condensed" : solver,
                                            linear == NULL ? "auto" : linear, m->system, &run.solver));
    run.scheme = pcs_take(m->ctx, 1, sizeof *run.scheme, "a scheme");
    assert_non_null(run.scheme);
    *run.scheme =
        (pcs_scheme){ .ops = ops, .rule = ops->rule, .ctx = m->ctx, .system = m->system, .solver = run.solver };
    run.scheme->params = model_params(m->ctx, ops->options, ops->params_size, assignments);
    run.scheme->data = pcs_take(m->ctx, 1, ops->data_size, "a scheme");
    assert_non_null(run.scheme->data);
    CHECK_OK(m->ctx, ops->setup(run.scheme));
    CHECK_OK(m->ctx, pcs_state_create(run.scheme, &run.x));
    run.report.rows = pcs_take(m->ctx, (size_t)m->system->nrow, sizeof *run.report.rows, "a report");
    assert_non_null(run.report.rows);
    const char *culprit;
    CHECK_OK(m->ctx, pcs_fe_initial_state(m->system, run.x.q, run.x.v, &culprit));
    return run;
}

void model_start(model_run *run)
{
    CHECK_OK(run->m->ctx, run->scheme->ops->start(run->scheme, &run->x, &run->report));
    assert_int_equal(run->report.outcome, PCS_CONVERGED);
}

void model_step(model_run *run, double h)
{
    CHECK_OK(run->m->ctx, run->scheme->ops->step(run->scheme, &run->x, h, &run->report));
    if (run->report.outcome != PCS_CONVERGED)
        fail_msg("%s: step %ld: %s", run->scheme->ops->name, run->x.step, pcs_outcome_text(run->report.outcome));
}

void model_dense(const pcs_matrix *A, int n, double *out)
{
    memset(out, 0, (size_t)(n * n) * sizeof *out);
    for (int j = 0; A != NULL && j < n; j++)
        for (int k = A->pattern->start[j]; k < A->pattern->start[j + 1]; k++)
            out[A->pattern->row[k] * n + j] += A->value[k];
}

void model_solve(int n, double *A, double *b)
{
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(A[i * n + k]) > fabs(A[pivot * n + k])) pivot = i;
        for (int j = 0; j <= n; j++) {
            double *a = j < n ? &A[k * n + j] : &b[k], *c = j < n ? &A[pivot * n + j] : &b[pivot], keep = *a;
            *a = *c;
            *c = keep;
        }
        for (int i = k + 1; i < n; i++) {
            double factor = A[i * n + k] / A[k * n + k];
            for (int j = k; j < n; j++) A[i * n + j] -= factor * A[k * n + j];
            b[i] -= factor * b[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) b[i] -= A[i * n + j] * b[j];
        b[i] /= A[i * n + i];
    }
}

double model_random(unsigned long long *seed)
{
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

void model_randomize(unsigned long long *seed, int n, double *x)
{
    for (int i = 0; i < n; i++) x[i] = model_random(seed);
}
