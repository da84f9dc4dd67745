// Changes a simulation between two steps: applied forces, load factors and coefficients of friction.

#include "api/handle.h"

#include <math.h>
#include <string.h>

// Forces that a user of the system adds to its own, constant from one call of the scheme to the next: of a controller,
// of another model.
//
//   f := f + p,   work := work + p . (way from q0 to q1),   resultant := resultant + sum_i p_i d_i
//
// A system without such forces has no overhead: its operations are replaced when the forces are asked for.

struct pcs_push {
    const pcs_system_ops *own; // operations of the system
    pcs_system_ops ops;        // the same with the forces added
    double *p, *way;           // [nv] forces, and increment of q
};

static void push_force(const pcs_system *self, pcs_instant at, double *f)
{
    const pcs_push *push = self->push;
    push->own->force(self, at, f);
    for (int i = 0; i < self->nv; i++) f[i] += push->p[i];
}

static double push_load_work(const pcs_system *self, double t, const double *q0, const double *q1)
{
    const pcs_push *push = self->push;
    double work = push->own->load_work(self, t, q0, q1);
    pcs_difference(&self->rotations, q0, q1, push->way);
    for (int i = 0; i < self->nv; i++) work += push->p[i] * push->way[i];
    return work;
}

static void push_measure(const pcs_system *self, pcs_instant at, unsigned what, pcs_measure *out)
{
    const pcs_push *push = self->push;
    push->own->measure(self, at, what, out);
    if (what & PCS_LOAD_POWER)
        for (int i = 0; i < self->nv; i++) out->load_power += push->p[i] * at.v[i];
    if ((what & PCS_RESULTANT) && self->direction != NULL)
        for (int i = 0; i < self->nv; i++)
            for (int k = 0; k < 3; k++) out->resultant[k] += push->p[i] * self->direction[i][k];
}

// Allocates forces p [nv], zeroed, and adds them to those of the system. Further calls return the same forces.
static pcs_status push_create(pcs_system *self, double **out)
{
    pcs_push *push = self->push;
    if (push == NULL) {
        PCS_TAKE(self->ctx, push, 1, "applied forces");
        PCS_TAKE(self->ctx, push->p, self->nv, "applied forces");
        PCS_TAKE(self->ctx, push->way, self->nv, "applied forces");
        push->own = self->ops;
        push->ops = *self->ops;
        push->ops.force = push_force;
        push->ops.load_work = push_load_work;
        push->ops.measure = push_measure;
        self->push = push;
        self->ops = &push->ops;
        self->slices = NULL;
    }
    *out = push->p;
    return PCS_OK;
}

static pcs_status drive_prepare(percuss *p)
{
    if (p->jump == NULL) PCS_TAKE(p->ctx, p->jump, p->system->nv, "applied forces");
    return PCS_OK;
}

double *percuss_applied_force(percuss *p)
{
    if (p == NULL || p->sim == NULL || p->is_stepping) return NULL;
    if (p->applied != NULL) return p->applied;
    double *applied;
    if (drive_prepare(p) != PCS_OK) return NULL;
    if (push_create(p->system, &applied) != PCS_OK) return NULL;
    p->acting = pcs_take(p->ctx, (size_t)p->system->nv, sizeof *p->acting, "applied forces");
    return p->applied = p->acting == NULL ? NULL : applied;
}

// Applies a jump df [nv] of the smooth forces, which is overwritten, to the memory of scheme and certificate.
static void drive_jump(percuss *p, double *df)
{
    double sum[3] = { 0.0 };
    if (p->system->direction != NULL)
        for (int i = 0; i < p->system->nv; i++)
            for (int k = 0; k < 3; k++) sum[k] += df[i] * p->system->direction[i][k];
    pcs_scheme_change_forces(p->sim->scheme, &p->sim->state, df, sum);
    pcs_certifier_renew(p->sim->certifier, &p->sim->state);
}

void pcs_api_note_applied(percuss *p)
{
    if (p->applied == NULL) return;
    bool has_changed = false;
    for (int i = 0; i < p->system->nv; i++) {
        p->jump[i] = p->applied[i] - p->acting[i];
        p->acting[i] = p->applied[i];
        has_changed = has_changed || p->jump[i] != 0.0;
    }
    if (has_changed) drive_jump(p, p->jump);
}

void pcs_api_clear_applied(percuss *p)
{
    if (p->applied != NULL) memset(p->applied, 0, (size_t)p->system->nv * sizeof *p->applied);
}

// Allocates the forces of a state that is read, and zeroes them if it has none.
static void drive_make_room(percuss *p, bool is_driven, pcs_carrier *c)
{
    if (!pcs_carry_reads(c)) return;
    pcs_api_clear_applied(p);
    if (p->acting != NULL) memset(p->acting, 0, (size_t)p->system->nv * sizeof *p->acting);
    if (is_driven && percuss_applied_force(p) == NULL) c->status = PCS_NO_MEMORY;
}

// Serializes the drive. A checkpoint of a run has none; load factors and friction then stay unchanged.
void pcs_api_carry_drive(percuss *p, pcs_carrier *c)
{
    size_t nload = (size_t)percuss_loads(p);
    bool is_driven = p->acting != NULL;
    pcs_carry_part(c, "drive");
    if (pcs_carry_reads(c) && !pcs_carry_is_next(c, "is_driven")) {
        drive_make_room(p, false, c);
        return;
    }
    pcs_carry_flags(c, "is_driven", &is_driven, 1);
    drive_make_room(p, is_driven, c);
    if (c->status == PCS_OK && is_driven) pcs_carry_vector(c, "acting", p->acting, p->system->nv);
    if (nload > 0) pcs_carry_words(c, "load_factors", pcs_fe_load_factors(p->system), nload);
    int npoint = pcs_system_npoint(p->system);
    for (int j = 0; j < npoint; j++) pcs_carry_words(c, "friction", &p->system->laws[j].friction, 1);
}

int percuss_apply(percuss *p, int node, const double force[3])
{
    int dof[PCS_MAX_NODE_DOFS];
    double coefficient[PCS_MAX_NODE_DOFS], *applied = percuss_applied_force(p);
    if (p == NULL || p->sim == NULL || p->is_stepping) return 2;
    if (applied == NULL) return 1;
    if (p->map == NULL) return pcs_api_refuse(p, "a system in closed form has no nodes: use its applied forces");
    if (node < 0 || node >= p->map->mesh->nnode)
        return pcs_api_refuse(p, "there is no node %d, nodes are 0 to %d", node, p->map->mesh->nnode - 1);
    if (!isfinite(force[0]) || !isfinite(force[1]) || !isfinite(force[2]))
        return pcs_api_refuse(p, "the force [%g, %g, %g] on node %d is not finite", force[0], force[1], force[2], node);
    int count = pcs_dofmap_resolve(p->map, false, node, force, dof, coefficient);
    for (int i = 0; i < count; i++)
        if (p->map->dof[dof[i]].equation < 0 && coefficient[i] != 0.0) count = -1;
    if (count < 0)
        return pcs_api_refuse(p, "node %d cannot move along the force [%g, %g, %g]", node, force[0], force[1],
                              force[2]);
    for (int i = 0; i < count; i++)
        if (coefficient[i] != 0.0) applied[p->map->dof[dof[i]].equation] += coefficient[i];
    return 0;
}

static int drive_loads(const percuss *p, const pcs_fe_load **loads)
{
    return p == NULL || p->map == NULL ? 0 : pcs_fe_loads(p->system, loads);
}

int percuss_loads(const percuss *p)
{
    const pcs_fe_load *loads;
    return drive_loads(p, &loads);
}

const char *percuss_load_name(const percuss *p, int i)
{
    const pcs_fe_load *loads = NULL;
    int count = drive_loads(p, &loads);
    return i < 0 || i >= count ? NULL : loads[i].name;
}

// Sets a load factor and applies the jump, the difference of the forces before and after.
static int drive_set_factor(percuss *p, int load, double factor)
{
    const pcs_state *x = &p->sim->state;
    double *before = pcs_scratch(NULL, (size_t)p->system->nv, sizeof *before);
    if (before == NULL || drive_prepare(p) != PCS_OK) {
        pcs_scratch_free(before);
        return 1;
    }
    p->system->ops->force(p->system, pcs_at(x->t, x->q, x->v), before);
    pcs_fe_load_factors(p->system)[load] = factor;
    p->system->ops->force(p->system, pcs_at(x->t, x->q, x->v), p->jump);
    for (int i = 0; i < p->system->nv; i++) p->jump[i] -= before[i];
    pcs_scratch_free(before);
    drive_jump(p, p->jump);
    return 0;
}

int percuss_set_load_factor(percuss *p, const char *name, double factor)
{
    const pcs_fe_load *loads = NULL;
    int count = drive_loads(p, &loads);
    if (p == NULL || p->sim == NULL || p->is_stepping) return 2;
    if (name == NULL || !isfinite(factor))
        return pcs_api_refuse(p, "the factor of a load must be finite, is %g", factor);
    for (int i = 0; i < count; i++) {
        if (strcmp(loads[i].name, name) != 0) continue;
        if (loads[i].is_gravity) return pcs_api_refuse(p, "load '%s' is gravity and cannot be changed", name);
        return drive_set_factor(p, i, factor);
    }
    return pcs_api_refuse(p, "there is no load '%s'", name);
}

int percuss_set_friction(percuss *p, const char *name, double friction)
{
    if (p == NULL || p->sim == NULL || p->is_stepping) return 2;
    percuss_group group = percuss_group_named(p, name);
    if (group.name == NULL || group.is_joint)
        return pcs_api_refuse(p, "there is no contact '%s'", name == NULL ? "" : name);
    if (!(friction >= 0.0) || isinf(friction))
        return pcs_api_refuse(p, "friction of contact '%s' must be >= 0, is %g", name, friction);
    for (int j = group.first; j < group.first + group.count; j++)
        if (p->system->rows[j].ntangent == 0)
            return pcs_api_refuse(p, "contact '%s' has no friction in the case, which makes no room for it", name);
    for (int j = group.first; j < group.first + group.count; j++) p->system->laws[j].friction = friction;
    return 0;
}
