// A crib of beams: layers of `width` parallel beams, crosswise on one another, the lowest on a floor. Every crossing is
// a contact, so there are layers * width^2 of them, and all act at once when the pile rests or hits the floor.
//
// Linear Timoshenko beams in space of 1 m between crossings; layers lie `gap` above one another (contacts are stated
// along the vertical, whatever the height of the sections). Friction is along x and y.

#ifndef TESTS_SUPPORT_PILE_H
#define TESTS_SUPPORT_PILE_H

#include "elements/beam.h"
#include "fe/fe.h"
#include "schemes/scheme.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct pile_shape {
    int width, layers, elements; // beams of a layer, layers, cells between crossings
    double gap;                  // m, between layers and to the floor
    double speed;                // m/s, of the fall at t = 0
    double sideways;             // m/s, along x and half of it along y
    double friction, restitution;
    double young; // N/m^2
    bool doubles; // every contact is stated twice
} pile_shape;

typedef struct pile {
    pcs_context *ctx;
    pcs_mesh *mesh;
    pcs_fe_group group;
    pcs_fe_initial initial;
    pcs_fe_load gravity;
    pcs_row_source *contacts; // [2 layers]
    pcs_beam_params beam;
    pcs_system *system;
} pile;

// Everything here works or the program ends: there is nothing to test about a model without memory.
static inline void pile_demand(pcs_context *ctx, pcs_status status)
{
    if (status == PCS_OK) return;
    fprintf(stderr, "error: %s\n", ctx == NULL ? "no memory" : pcs_message(ctx));
    exit(1);
}

// Parameters by name: numbers, three of them, or texts; the others as the table says, choices the first.
static inline void pile_set(const pcs_option *options, void *params, const char *name, const void *value)
{
    for (; options->name != NULL; options++) {
        if (strcmp(options->name, name) != 0) continue;
        size_t bytes = options->kind == PCS_OPTION_VECTOR ? 3 * sizeof(double)
                       : options->kind == PCS_OPTION_TEXT ? sizeof(char *)
                                                          : sizeof(double);
        memcpy((char *)params + options->offset, value, bytes);
        return;
    }
    fprintf(stderr, "error: no option '%s'\n", name);
    exit(1);
}

static inline const pcs_element_ops *pile_element(const char *name)
{
    for (int i = 0; pcs_elements[i] != NULL; i++)
        if (strcmp(pcs_elements[i]->name, name) == 0) return pcs_elements[i];
    exit(1);
}

// Nodes of one beam: ends, crossings, and what is between them. Gives the number of the first.
static inline int pile_beam(pile *p, const pile_shape *s, int layer, int beam)
{
    int spans = s->width + 1, count = spans * s->elements, node, cell;
    pile_demand(p->ctx, pcs_mesh_add_nodes(p->mesh, count + 1, &node));
    pile_demand(p->ctx, pcs_mesh_add_cells(p->mesh, count, &cell));
    for (int i = 0; i <= count; i++) {
        double *x = p->mesh->x[node + i];
        x[layer % 2] = (double)i / s->elements;
        x[1 - layer % 2] = beam + 1.0;
        x[2] = (layer + 1) * s->gap;
    }
    for (int i = 0; i < count; i++) {
        p->mesh->cell[cell + i][0] = node + i;
        p->mesh->cell[cell + i][1] = node + i + 1;
    }
    return node;
}

// Contact of a layer with what is below: the floor, or crossing by crossing the layer under it.
static inline void pile_contact(pile *p, const pile_shape *s, int layer, const int *first)
{
    char *names[2];
    int w = s->width, *nodes[2];
    for (int k = 0; k < 2; k++) {
        names[k] = pcs_take(p->ctx, 32, 1, "a name");
        nodes[k] = pcs_take(p->ctx, (size_t)(w * w), sizeof(int), "a set");
        snprintf(names[k], 32, "layer %d %s", layer, k == 0 ? "below" : "above");
    }
    for (int i = 0; i < w; i++)
        for (int j = 0; j < w; j++) {
            nodes[1][i * w + j] = first[layer * w + i] + (j + 1) * s->elements;
            if (layer > 0) nodes[0][i * w + j] = first[(layer - 1) * w + j] + (i + 1) * s->elements;
        }
    for (int k = layer > 0 ? 0 : 1; k < 2; k++)
        pile_demand(p->ctx, pcs_mesh_add_node_list(p->mesh, names[k], w * w, nodes[k]));
    const pcs_source_ops *ops = pcs_gap_types[layer == 0 ? 0 : 1]; // node_plane, node_node
    void *params = pcs_take(p->ctx, 1, ops->params_size, "parameters");
    const char *above = names[1], *below = names[0];
    pile_set(ops->options, params, "normal", (double[]){ 0, 0, 1 });
    pile_set(ops->options, params, layer == 0 ? "nodes" : "b", &above);
    if (layer == 0) pile_set(ops->options, params, "point", (double[]){ 0, 0, 0 });
    else pile_set(ops->options, params, "a", &below);
    pcs_newton *newton = pcs_take(p->ctx, 1, sizeof *newton, "parameters");
    newton->restitution = s->restitution;
    p->contacts[layer] = (pcs_row_source){
        .name = above, .ops = ops, .params = params, .law = { &pcs_law_newton, newton }, .friction = s->friction
    };
}

static inline pile *pile_build(const pile_shape *s)
{
    pcs_context *ctx;
    const char *culprit;
    pile_demand(NULL, pcs_context_create(&ctx));
    pile *p = pcs_take(ctx, 1, sizeof *p, "a pile");
    int *first = pcs_take(ctx, (size_t)(s->layers * s->width), sizeof *first, "beams");
    p->ctx = ctx;
    p->contacts = pcs_take(ctx, (size_t)(2 * s->layers), sizeof *p->contacts, "contacts");
    pile_demand(ctx, pcs_mesh_create(ctx, &p->mesh));
    for (int layer = 0; layer < s->layers; layer++)
        for (int beam = 0; beam < s->width; beam++) first[layer * s->width + beam] = pile_beam(p, s, layer, beam);
    for (int layer = 0; layer < s->layers; layer++) pile_contact(p, s, layer, first);
    for (int layer = 0; layer < s->layers; layer++) p->contacts[s->layers + layer] = p->contacts[layer];
    pile_demand(ctx, pcs_mesh_add_node_range(p->mesh, "all", 0, p->mesh->nnode));
    pile_demand(ctx, pcs_mesh_add_cell_range(p->mesh, "all", 0, p->mesh->ncell));
    double d = 0.1, area = 0.25 * 3.14159265358979 * d * d, I = area * d * d / 16.0;
    p->beam = (pcs_beam_params){ .E = s->young, .nu = 0.3, .rho = 1000.0, .orientation = { 0, 0, 1 } };
    for (int k = 0; k < 3; k++) p->beam.offset_end[k] = NAN;
    p->beam.section = (pcs_section){ area, I, I, 2.0 * I, 0.9, 0.9, 0.5 * d, 0.5 * d, true, NULL };
    p->group = (pcs_fe_group){ .name = "beams",
                               .ops = pile_element("beam_timo_3d"),
                               .params = &p->beam,
                               .cells = pcs_mesh_cell_set(p->mesh, "all") };
    p->initial = (pcs_fe_initial){ .nodes = pcs_mesh_node_set(p->mesh, "all"),
                                   .velocity = { .is_given = true,
                                                 .ends = { { s->sideways, 0.5 * s->sideways, -s->speed },
                                                           { s->sideways, 0.5 * s->sideways, -s->speed } } } };
    p->gravity = (pcs_fe_load){ .name = "gravity", .is_gravity = true, .value = { 0, 0, -9.81 } };
    pcs_fe_definition definition = { .mesh = p->mesh,
                                     .ngroup = 1,
                                     .groups = &p->group,
                                     .ninitial = 1,
                                     .initials = &p->initial,
                                     .nload = 1,
                                     .loads = &p->gravity,
                                     .ncontact = s->doubles ? 2 * s->layers : s->layers,
                                     .contacts = p->contacts };
    pile_demand(ctx, pcs_fe_create(ctx, &definition, &p->system, &culprit));
    return p;
}

// A scheme on the pile; its parameters start as zeros.
typedef struct pile_run {
    pcs_step_solver *solver;
    pcs_scheme *scheme;
    pcs_state x;
    pcs_step_report report;
} pile_run;

// The pile lives in its own context.
static inline void pile_destroy(pile *p)
{
    pcs_context *ctx = p->ctx;
    pcs_context_destroy(&ctx);
}

static inline pile_run pile_prepare(pile *p, const char *scheme, const char *option, double value, const char *solver)
{
    pile_run run = { 0 };
    pcs_context *ctx = p->ctx;
    const pcs_scheme_ops *ops = NULL;
    for (int i = 0; pcs_schemes[i] != NULL; i++)
        if (strcmp(pcs_schemes[i]->name, scheme) == 0) ops = pcs_schemes[i];
    if (ops == NULL) exit(1);
    pile_demand(ctx, pcs_step_solver_create(ctx, solver, "auto", p->system, &run.solver));
    run.scheme = pcs_take(ctx, 1, sizeof *run.scheme, "a scheme");
    *run.scheme = (pcs_scheme){ .ops = ops, .rule = ops->rule, .ctx = ctx, .system = p->system, .solver = run.solver };
    void *params = pcs_take(ctx, 1, ops->params_size, "parameters");
    for (int i = 0; ops->options[i].name != NULL; i++)
        if (ops->options[i].kind == PCS_OPTION_REAL && ops->options[i].preset == NULL)
            *(double *)((char *)params + ops->options[i].offset) = NAN;
    pile_set(ops->options, params, option, &value);
    run.scheme->params = params;
    run.scheme->data = pcs_take(ctx, 1, ops->data_size, "a scheme");
    pile_demand(ctx, ops->setup(run.scheme));
    pile_demand(ctx, pcs_state_create(run.scheme, &run.x));
    run.report.rows = pcs_take(ctx, (size_t)p->system->nrow, sizeof *run.report.rows, "a report");
    const char *culprit;
    pile_demand(ctx, pcs_fe_initial_state(p->system, run.x.q, run.x.v, &culprit));
    pile_demand(ctx, ops->start(run.scheme, &run.x, &run.report));
    return run;
}

#endif
