
#include "system/rotations.h"

#include "core/loop.h"
#include "core/rotation.h"
#include "system/system.h"

#include <float.h>
#include <math.h>
#include <string.h>

void pcs_retract(const pcs_rotations *r, const double *q0, const double *x, double *q)
{
    // Reads the arguments of the rotations before writing q, which may be x. The sum is right for all other entries.
    int next = 0;
    for (int s = 0; s < r->count; s++) {
        int e = r->equation[s];
        const double a[3] = { q0[e], q0[e + 1], q0[e + 2] }, b[3] = { x[e], x[e + 1], x[e + 2] };
        for (; next < e; next++) q[next] = q0[next] + x[next];
        pcs_rotation_compose(a, b, q + e);
        next = e + 3;
    }
    for (; next < r->nq; next++) q[next] = q0[next] + x[next];
}

void pcs_difference(const pcs_rotations *r, const double *q0, const double *q1, double *x)
{
    int next = 0;
    for (int s = 0; s < r->count; s++) {
        int e = r->equation[s];
        const double back[3] = { -q0[e], -q0[e + 1], -q0[e + 2] }, end[3] = { q1[e], q1[e + 1], q1[e + 2] };
        for (; next < e; next++) x[next] = q1[next] - q0[next];
        pcs_rotation_compose(back, end, x + e);
        next = e + 3;
    }
    for (; next < r->nq; next++) x[next] = q1[next] - q0[next];
}

void pcs_rotate_vector(const pcs_rotations *r, const double *x, double *y)
{
    for (int s = 0; s < r->count; s++) {
        int e = r->equation[s];
        double T[9], rotated[3];
        pcs_rotation_tangent(x + e, T);
        pcs_rotation_apply(T, y + e, rotated);
        memcpy(y + e, rotated, sizeof rotated);
    }
}

// Multiplies the matrix with columns a, b, c by the tangent operator at x, in place.
PCS_WIDE static void rotations_multiply(const double x[3], int count, double *a, double *b, double *c)
{
    double T[9];
    pcs_rotation_tangent(x, T);
    PCS_INDEPENDENT
    for (int i = 0; i < count; i++) {
        double p = a[i], q = b[i], r = c[i];
        a[i] = p * T[0] + q * T[3] + r * T[6];
        b[i] = p * T[1] + q * T[4] + r * T[7];
        c[i] = p * T[2] + q * T[5] + r * T[8];
    }
}

void pcs_rotate_columns(const pcs_rotations *r, const double *x, pcs_matrix *A)
{
    const int *start = A->pattern->start;
    for (int s = 0; s < r->count; s++) { // the three columns of a node have the same rows
        int e = r->equation[s];
        rotations_multiply(x + e, start[e + 1] - start[e], A->value + start[e], A->value + start[e + 1],
                           A->value + start[e + 2]);
    }
}

// Replaces y by (part exp(-x) + 1 - part)^-1 y = y + a x * y + b x * (x * y).
static void rotations_transport(const double x[3], double part, double y[3])
{
    double angle = pcs_norm3(x), half = 0.5 * angle, sinc = half > 0.0 ? sin(half) / half : 1.0, once[3], twice[3];
    double square = half * half * sinc * sinc; // sin^2(angle/2)
    // It vanishes only after half a turn with part = 1/2.
    double scale = fmax(1.0 - 4.0 * part * (1.0 - part) * square, DBL_EPSILON);
    double a = part * sinc * cos(half) / scale, b = 0.5 * part * (2.0 * part - 1.0) * sinc * sinc / scale;
    pcs_cross(x, y, once);
    pcs_cross(x, once, twice);
    for (int i = 0; i < 3; i++) y[i] += a * once[i] + b * twice[i];
}

void pcs_rotate_rows(const pcs_rotations *r, const double *x, double part, pcs_rows *rows)
{
    if (r->begins == NULL) return;
    for (int k = 0; k + 2 < rows->start[rows->nrow]; k++) {
        int e = rows->column[k];
        // Only complete rotations of a node have three consecutive entries. The padding of rows has not.
        bool is_moment = r->begins[e] && rows->column[k + 1] == e + 1 && rows->column[k + 2] == e + 2;
        if (is_moment) rotations_transport(x + e, part, rows->value + k);
    }
}

void pcs_rotate_slopes(const pcs_rotations *r, const double *x, const pcs_slopes *s)
{
    if (r->begins == NULL) return;
    for (int i = 0; i < s->count; i++)
        for (int f = 0; f < pcs_slopes_width(s, i); f++) {
            int e = pcs_slopes_equation(s, i, f);
            if (r->begins[e])
                rotations_multiply(x + e, pcs_slopes_size(s, i), pcs_slopes_by(s, i, f), pcs_slopes_by(s, i, f + 1),
                                   pcs_slopes_by(s, i, f + 2));
        }
}

// Adds the derivative of the result of rotations_transport with respect to x along an axis, up to third powers of x.
static void rotations_transport_slope(const double x[3], double part, const double y[3], int axis, double out[3])
{
    double e[3] = { 0.0 }, once[3], twice[3], across[3], more[3], less[3];
    e[axis] = 1.0;
    pcs_cross(x, y, once);
    pcs_cross(e, y, across);
    pcs_cross(e, once, twice);
    pcs_cross(x, across, more);
    pcs_cross(x, once, less);
    double a = part * (1.0 + (part * (1.0 - part) - 1.0 / 6.0) * pcs_dot3(x, x)), b = 0.5 * part * (2.0 * part - 1.0);
    double rise = 2.0 * part * (part * (1.0 - part) - 1.0 / 6.0) * x[axis];
    for (int k = 0; k < 3; k++) out[k] += a * across[k] + rise * once[k] + b * (twice[k] + more[k]);
}

void pcs_rotate_slopes_of_rows(const pcs_rotations *r, const double *x, double part, const pcs_rows *G,
                               const pcs_slopes *s)
{
    if (r->begins == NULL) return;
    pcs_rotate_rows(r, x, part, s->by);
    for (int i = 0; i < s->count; i++)
        for (int f = 0; f < pcs_slopes_width(s, i); f++) {
            int entry = s->entry[s->start[i] + f], e = pcs_slopes_equation(s, i, f);
            const double *y = G->value + G->start[s->row[i]] + entry;
            for (int axis = 0; axis < (r->begins[e] ? 3 : 0); axis++)
                rotations_transport_slope(x + e, part, y, axis, pcs_slopes_by(s, i, f + axis) + entry);
        }
}

// Takes the natural sizes of the coordinates of a system.

pcs_status pcs_scale_create(pcs_system *system)
{
    pcs_scale *out = &system->scale;
    PCS_TAKE_EACH(system->ctx, system->nv, "sizes of coordinates", double, &out->model, &out->cell, &out->place);
    PCS_TAKE(system->ctx, out->axis, system->nv, "sizes of coordinates");
    PCS_TAKE(system->ctx, out->is_angle, system->nv, "sizes of coordinates");
    double size = system->length > 0.0 ? system->length : 1.0;
    for (int i = 0; i < system->nv; i++) out->model[i] = out->cell[i] = out->place[i] = size;
    for (int i = 0; i < system->nv; i++) out->axis[i] = 6;
    out->holds[6] = true;
    return PCS_OK;
}
