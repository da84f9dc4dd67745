// Floors and walls of closed-form systems, for pictures.
//
// A definition does not say what its contacts touch. With contact point x, unit normal n and gap g the surface has the
// plane n . y = n . x - g there. Where that plane is the same in all states that are tried near the start it stands
// still.

#include "closed_form/closed_form.h"
#include "core/rotation.h"

#include <math.h>
#include <string.h>

enum { TRIALS = 4 };

static const double NEAR = 1e-3;  // states that are tried are as near: a definition may not hold far away
static const double SAME = 1e-10; // of normals, and of distances over the size of the system

typedef struct planes_state {
    double x[PCS_MAX_CLOSED_ROWS][3], n[PCS_MAX_CLOSED_ROWS][3], height[PCS_MAX_CLOSED_ROWS]; // n . y
} planes_state;

static void planes_find(const percuss_system_definition *def, const double *p, const double *q, int nrow,
                        planes_state *out)
{
    double gap[PCS_MAX_CLOSED_ROWS];
    def->gaps(p, q, gap);
    def->contact_points(p, q, out->x, out->n);
    for (int j = 0; j < nrow; j++) {
        out->height[j] = pcs_dot3(out->n[j], out->x[j]) - gap[j];
        for (int k = 0; k < 3; k++) out->x[j][k] -= gap[j] * out->n[j][k];
    }
}

static bool planes_agree(const planes_state *a, int i, const planes_state *b, int j, double size)
{
    double off = fabs(a->height[i] - b->height[j]) / size;
    for (int k = 0; k < 3; k++) off = fmax(off, fabs(a->n[i][k] - b->n[j][k]));
    return off <= SAME; // NAN does not
}

// Coordinates may be lengths or angles: they are moved by a part of the size of the system, and of one.
static void planes_judge(const pcs_system *self, const percuss_system_definition *def, const double *p, const double *q,
                         bool *is_still)
{
    planes_state first, other;
    planes_find(def, p, q, self->nrow, &first);
    for (int j = 0; j < self->nrow; j++)
        is_still[j] = !self->rows[j].is_bilateral && fabs(pcs_norm3(first.n[j]) - 1.0) <= SAME;
    for (int trial = 0; trial < 2 * TRIALS; trial++) {
        double moved[PCS_MAX_COORDINATES], size = NEAR * (trial < TRIALS ? self->length : 1.0);
        for (int i = 0; i < self->nq; i++) moved[i] = q[i] + size * sin(1.0 + 7.0 * trial + 3.0 * i);
        planes_find(def, p, moved, self->nrow, &other);
        for (int j = 0; j < self->nrow; j++)
            is_still[j] = is_still[j] && planes_agree(&first, j, &other, j, self->length + size);
    }
}

pcs_status pcs_closed_form_planes(pcs_system *self, const percuss_system_definition *def, const double *p,
                                  const double *q)
{
    bool is_still[PCS_MAX_CLOSED_ROWS];
    planes_state at;
    pcs_picture *picture = self->picture;
    pcs_obstacle *obstacles;
    int *nodes;
    if (def->contact_points == NULL || picture->npoint == 0) return PCS_OK;
    planes_judge(self, def, p, q, is_still);
    planes_find(def, p, q, self->nrow, &at);
    PCS_TAKE(self->ctx, obstacles, self->nrow, "the picture");
    PCS_TAKE(self->ctx, nodes, picture->npoint, "the picture");
    for (int i = 0; i < picture->npoint; i++) nodes[i] = i;
    for (int j = 0; j < self->nrow; j++) {
        for (int i = 0; i < j && is_still[j]; i++)
            is_still[j] = !is_still[i] || !planes_agree(&at, i, &at, j, self->length);
        if (!is_still[j]) continue;
        pcs_obstacle *o = &obstacles[picture->nobstacle++];
        *o = (pcs_obstacle){ .kind = PCS_OBSTACLE_PLANE,
                             .contact = self->rows[j].contact,
                             .is_long = true,
                             .nnode = picture->npoint,
                             .nodes = nodes };
        memcpy(o->point, at.x[j], sizeof o->point);
        memcpy(o->axis, at.n[j], sizeof o->axis);
    }
    picture->nstill = picture->nobstacle;
    picture->obstacles = obstacles;
    return PCS_OK;
}
