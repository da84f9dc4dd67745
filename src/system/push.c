#include "system/push.h"

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

pcs_status pcs_push_create(pcs_system *self, double **out)
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
