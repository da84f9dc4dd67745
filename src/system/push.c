#include "system/push.h"

struct pcs_push {
    const pcs_system_ops *own; // of the system
    pcs_system_ops ops;        // the same with the forces
    const double (*direction)[3];
    double *p, *way; // [nv]
};

static void push_force(const pcs_system *self, double t, const double *q, const double *v, double *f)
{
    const pcs_push *push = self->push;
    push->own->force(self, t, q, v, f);
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

static double push_load_power(const pcs_system *self, double t, const double *q, const double *v)
{
    const pcs_push *push = self->push;
    double power = push->own->load_power(self, t, q, v);
    for (int i = 0; i < self->nv; i++) power += push->p[i] * v[i];
    return power;
}

static void push_resultant(const pcs_system *self, double t, const double *q, const double *v, double sum[3])
{
    const pcs_push *push = self->push;
    push->own->resultant(self, t, q, v, sum);
    for (int i = 0; i < self->nv; i++)
        for (int k = 0; k < 3; k++) sum[k] += push->p[i] * push->direction[i][k];
}

pcs_status pcs_push_create(pcs_system *self, const double (*direction)[3], double **out)
{
    pcs_push *push = self->push;
    if (push == NULL) {
        PCS_TAKE(self->ctx, push, 1, "applied forces");
        PCS_TAKE(self->ctx, push->p, self->nv, "applied forces");
        PCS_TAKE(self->ctx, push->way, self->nv, "applied forces");
        push->direction = direction;
        push->own = self->ops;
        push->ops = *self->ops;
        push->ops.force = push_force;
        push->ops.load_work = push_load_work;
        push->ops.load_power = push_load_power;
        if (direction != NULL) push->ops.resultant = push_resultant;
        self->push = push;
        self->ops = &push->ops;
        self->slices = NULL;
    }
    *out = push->p;
    return PCS_OK;
}
