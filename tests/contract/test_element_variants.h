// Every variant of every element, and the model that a test of elements makes of it.

#ifndef TESTS_ELEMENT_VARIANTS_H
#define TESTS_ELEMENT_VARIANTS_H

#include "core/rotation.h"
#include "fe/fe.h"
#include "support/check.h"
#include "support/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NCELL = 11, NWAY = 3 };

static const double choices[NWAY][2][3] = {
    { { 0, 0, 0 }, { 3, 0, 0 } },  // along the numbering
    { { 3, 0, 0 }, { 0, 0, 0 } },  // against it, by cells that are shuffled
    { { 1, 1, 1 }, { 3, -1, 2 } }, // across space
};

typedef struct variant {
    const pcs_element_ops *ops;
    char values[512]; // of its parameters
    int increment;
    bool is_held; // some nodes in the middle and at one end
    bool is_damped;
    int taper; // 0: none, 1: linear, 2: in a step
} variant;

// How many directions the nodes move in.
static inline int dimension_of(const variant *c)
{
    if (strstr(c->values, "in=line") != NULL) return 1;
    return strstr(c->ops->name, "2d") != NULL || strstr(c->values, "in=plane") != NULL ? 2 : 3;
}

// The way of the variant, within the directions it has.
static inline void ends_of(const variant *c, double ends[2][3])
{
    memcpy(ends, choices[c->increment], 6 * sizeof(double));
    for (int k = dimension_of(c); k < 3; k++) ends[0][k] = ends[1][k] = 0.0;
}

// Cells of one node, where the element wants such.
static inline void shorten_cells(const pcs_element_ops *ops, model *m)
{
    for (int i = 0; i < NCELL && ops->nnode == 1; i++) m->mesh->cell[i][1] = m->mesh->cell[i][0];
}

// Cells of unequal lengths in another order than their nodes, some of them from the higher node to the lower.
static inline void shuffle_cells(model *m)
{
    for (int i = 1; i < NCELL; i++)
        for (int k = 0; k < 3; k++) m->mesh->x[i][k] += 0.02 * (i % 3 - 1) * (m->mesh->x[NCELL][k] - m->mesh->x[0][k]);
    for (int i = 0; i < NCELL; i++) {
        int first = 7 * i % NCELL;
        m->mesh->cell[i][i % 3 == 0] = first;
        m->mesh->cell[i][i % 3 != 0] = first + 1;
    }
}

static inline model *build(const variant *c)
{
    model *m = model_create();
    double ends[2][3];
    ends_of(c, ends);
    model_line(m, "bar", ends[0], ends[1], NCELL);
    if (c->increment == 1 && c->taper == 0 && c->ops->nnode == 2 && c->ops->ninternal == 0) shuffle_cells(m);
    shorten_cells(c->ops, m);
    pcs_fe_group *group = model_group(m, c->ops->name, "bar", c->values);
    const double span[3] = { ends[1][0] - ends[0][0], ends[1][1] - ends[0][1], ends[1][2] - ends[0][2] };
    if (c->taper != 0) model_taper(m, group, pcs_norm3(span), c->taper == 2);
    if (c->is_damped) {
        group->damping_mass = 0.4;
        m->definition.damping_stiffness = 0.02;
    }
    if (c->is_held && c->increment < 2) {
        CHECK_OK(m->ctx, pcs_mesh_add_range(m->mesh, PCS_NODES, 5, 1, "held"));
        model_support(m, "held", "x");
        model_support(m, "bar.start", "x");
    }
    model_build(m);
    return m;
}

static inline bool has_option(const pcs_element_ops *ops, const char *name)
{
    for (const pcs_option *o = ops->options; o->name != NULL; o++)
        if (strcmp(o->name, name) == 0) return true;
    return false;
}

// Every situation of a choice: lying in every way, free and held, damped and not, with sections that vary; and with
// kernels that other parameters ask for, as points at arms from the nodes.
static inline void for_every_situation(const variant *choice, void (*check)(const variant *c, model *m))
{
    bool has_section = choice->ops->section_offset != 0 || choice->ops->area != NULL;
    bool may_have_arms = has_option(choice->ops, "offset_a") && dimension_of(choice) > 1;
    int count = (has_section ? 6 : 4) * NWAY;
    for (int situation = 0; situation < (may_have_arms ? 2 : 1) * count; situation++) {
        variant c = *choice;
        const char *arms = dimension_of(choice) == 2 ? " offset_a=0.04,0.1,0" : " offset_a=0.04,0.1,-0.05";
        const char *more = has_option(choice->ops, "rest") ? " offset_b=-0.06,0.07,0" : ""; // bushings have one point
        if (situation >= count) strcat(strcat(c.values, arms), more);
        c.increment = situation % NWAY;
        c.is_held = situation % count / NWAY & 1;
        c.is_damped = situation % count / NWAY & 2;
        c.taper = situation % count < 4 * NWAY ? 0 : situation % count / NWAY - 3;
        if (c.taper > 0) c.is_damped = true;
        model *m = build(&c);
        c.ops = pcs_fe_batch(m->system, 0)->ops;
        check(&c, m);
        model_destroy(&m);
    }
}

// Parameters of all elements and one choice; in the plane without what leaves it.
static inline void give_values(variant *c, const char *choice)
{
    bool is_flat = strstr(choice, "in=plane") != NULL;
    snprintf(c->values, sizeof c->values,
             "nu=0.3 orientation=0.1,0.9,0.4 offset=%s speed=7 inertia=0.4,0.7,0.7 axis=1,0,0 stiffness=%s damper=%s "
             "yield_stress=1.3 tangent_modulus=0.4 kinematic=0.3 relaxed_modulus=0.5 torsional_stiffness=%s "
             "torsional_damper=%s %s",
             is_flat ? "0.1,0.2,0" : "0.1,0.2,0.3", is_flat ? "3,4,0" : "3,4,5", is_flat ? "0.3,0.4,0" : "0.3,0.4,0.2",
             is_flat ? "0,0,2" : "3,1,2", is_flat ? "0,0,0.1" : "0.2,0.3,0.1", choice);
}

// Calls check for every choice of every element.
static inline void for_every_variant(void (*check)(const variant *c, model *m))
{
    static const char *const pairs[] = { "in=plane angles=finite", "in=space angles=finite" };
    for (int e = 0; pcs_elements[e] != NULL; e++) {
        variant c = { .ops = pcs_elements[e] };
        for (int i = -1; i < 0 || c.ops->options[i].name != NULL; i++) {
            const pcs_option *option = i < 0 ? NULL : &c.ops->options[i];
            if (option != NULL && option->kind != PCS_OPTION_CHOICE) continue;
            for (int k = 0; option == NULL ? k < 1 : option->choices[k] != NULL; k++) {
                char choice[64];
                snprintf(choice, sizeof choice, "%s=%s", option == NULL ? "none" : option->name,
                         option == NULL ? "none" : option->choices[k]);
                give_values(&c, choice);
                for_every_situation(&c, check);
            }
        }
        for (int i = 0; i < 2 && has_option(c.ops, "angles"); i++) {
            give_values(&c, pairs[i]);
            for_every_situation(&c, check);
        }
    }
}

static inline const pcs_batch *batch_of(const model *m)
{
    return pcs_fe_batch(m->system, 0);
}

static inline double quadratic(const pcs_matrix *A, const double *x)
{
    double y[MODEL_MAX_SIZE] = { 0 }, sum = 0.0;
    if (A == NULL) return 0.0;
    pcs_matrix_multiply(A, x, y);
    for (int i = 0; i < A->pattern->n; i++) sum += x[i] * y[i];
    return sum;
}

// u = t + w x X, and w along a rotation, for each of the six motions of a body.
static inline void rigid_motion(const model *m, int motion, double *q)
{
    const pcs_dofmap *map = pcs_fe_dofmap(m->system);
    for (int i = 0; i < map->ndof; i++) {
        const pcs_dof *d = &map->dof[i];
        const double *x = m->mesh->x[d->node];
        double t[3] = { 0 }, w[3] = { 0 };
        (motion < 3 ? t : w)[motion % 3] = 1.0;
        double u[3] = { t[0] + w[1] * x[2] - w[2] * x[1], t[1] + w[2] * x[0] - w[0] * x[2],
                        t[2] + w[0] * x[1] - w[1] * x[0] };
        const double *along = d->is_rotation ? w : u;
        if (d->equation < 0) continue;
        q[d->equation] = along[0] * d->direction[0] + along[1] * d->direction[1] + along[2] * d->direction[2];
    }
}

#endif
