// Finite rotations in space: how positions move, R(q) = R(q0) exp(x), and the derivative of that, material spin = T(x)
// dx; and how moments act on a body that an impulse turns within the step.

#include "fe/data.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int rotations_count(const fe_data *fe, int node, int equation[3])
{
    int count = 0;
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (!d->is_rotation || !d->is_finite) continue;
        if (count < 3) equation[count] = d->equation;
        count++;
    }
    return count;
}

// Two components of a rotation vector that are held leave an angle about the third axis, which adds up.
static void rotations_note(fe_data *fe, int node)
{
    int equation[3];
    if (rotations_count(fe, node, equation) != 3) return;
    int nfixed = (equation[0] < 0) + (equation[1] < 0) + (equation[2] < 0);
    if (nfixed == 2) return;
    fe->spin_of_node[node] = fe->nspin;
    memcpy(fe->spins[fe->nspin++], equation, sizeof equation);
    if (equation[0] >= 0) fe->starts_spin[equation[0]] = true;
}

// In the order of the equations: nodes of this rank, then copies for cells, then those for contacts far away.
static int rotations_stage(const fe_data *fe, int node)
{
    if (pcs_fe_owns(fe, node)) return 0;
    const pcs_layout *layout = &fe->share->layout;
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++)
        if (fe->map.dof[i].equation >= layout->n - layout->nfar) return 2;
    return 1;
}

pcs_status pcs_fe_find_rotations(pcs_system *self, fe_data *fe)
{
    int nnode = fe->model.mesh->nnode, equation[3], count = 0;
    for (int node = 0; node < nnode; node++) count += rotations_count(fe, node, equation) == 3;
    if (count == 0) return PCS_OK;
    PCS_TAKE(self->ctx, fe->spins, count, "rotations");
    PCS_TAKE(self->ctx, fe->spin_of_node, nnode, "rotations");
    PCS_TAKE(self->ctx, fe->starts_spin, self->nv, "rotations");
    for (int node = 0; node < nnode; node++) fe->spin_of_node[node] = -1;
    for (int stage = 0; stage < 3; stage++)
        for (int node = 0; node < nnode; node++)
            if (rotations_stage(fe, node) == stage) rotations_note(fe, node);
    return PCS_OK;
}

void pcs_fe_retract(const pcs_system *self, const double *q0, const double *x, double *q)
{
    const fe_data *fe = self->data;
    // The sum is right but for the rotations, whose arguments must be read before q, which may be x, is written.
    int next = 0;
    for (int s = 0; s < fe->nspin; s++) {
        const int *e = fe->spins[s];
        if (e[0] < 0) continue;
        double a[3], b[3], p[3];
        for (int k = 0; k < 3; k++) {
            a[k] = q0[e[k]];
            b[k] = x[e[k]];
        }
        for (; next < e[0]; next++) q[next] = q0[next] + x[next];
        pcs_rotation_compose(a, b, p);
        for (int k = 0; k < 3; k++) q[next++] = p[k];
    }
    for (; next < self->nq; next++) q[next] = q0[next] + x[next];
}

void pcs_fe_way(const pcs_system *self, const double *q0, const double *q1, double *x)
{
    const fe_data *fe = self->data;
    int next = 0;
    for (int s = 0; s < fe->nspin; s++) {
        int e = fe->spins[s][0];
        if (e < 0) continue;
        const double back[3] = { -q0[e], -q0[e + 1], -q0[e + 2] }, end[3] = { q1[e], q1[e + 1], q1[e + 2] };
        for (; next < e; next++) x[next] = q1[next] - q0[next];
        pcs_rotation_compose(back, end, x + e);
        next = e + 3;
    }
    for (; next < self->nq; next++) x[next] = q1[next] - q0[next];
}

// Rows of supports that hold one rotation change their sense at half a turn (joint/held.c), where the rotation vector,
// at most pi long, goes over to the other end.
double pcs_fe_sense(const pcs_system *self, int row, const double *q0, const double *q1)
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    double before[3], after[3];
    if (self->rows[row].contact < fe->model.ncontact + fe->model.njoint - fe->nheld) return 1.0;
    int node = work->states[row].direction.term[0].node;
    pcs_fe_node_turn(fe, node, q0, before);
    pcs_fe_node_turn(fe, node, q1, after);
    return pcs_dot3(before, after) < -1.0 ? -1.0 : 1.0; // short ones may point apart, too
}

void pcs_fe_turn(const pcs_system *self, const double *x, double *y)
{
    const fe_data *fe = self->data;
    for (int s = 0; s < fe->nspin; s++) {
        int e = fe->spins[s][0];
        if (e < 0) continue;
        double T[9], turned[3];
        pcs_rotation_tangent(x + e, T);
        pcs_rotation_apply(T, y + e, turned);
        memcpy(y + e, turned, sizeof turned);
    }
}

void pcs_fe_turn_columns(const pcs_system *self, const double *x, pcs_matrix *A)
{
    const fe_data *fe = self->data;
    const int *start = A->pattern->start;
    for (int s = 0; s < fe->nspin; s++) {
        int e = fe->spins[s][0];
        if (e < 0) continue;
        double T[9];
        pcs_rotation_tangent(x + e, T);
        // The three columns of one node have the same rows.
        double *a = A->value + start[e], *b = A->value + start[e + 1], *c = A->value + start[e + 2];
        for (int i = 0; i < start[e + 1] - start[e]; i++) {
            double p = a[i], q = b[i], r = c[i];
            a[i] = p * T[0] + q * T[3] + r * T[6];
            b[i] = p * T[1] + q * T[4] + r * T[7];
            c[i] = p * T[2] + q * T[5] + r * T[8];
        }
    }
}

// y := (part exp(-x) + 1 - part)^-1 y = y + a x * y + b x * (x * y), in place
static void rotations_carry(const double x[3], double part, double y[3])
{
    double angle = pcs_norm3(x), half = 0.5 * angle, sinc = half > 0.0 ? sin(half) / half : 1.0, once[3], twice[3];
    double square = half * half * sinc * sinc; // sin^2(angle/2)
    // Nothing but a step of half a turn with part = 1/2 makes it vanish.
    double scale = fmax(1.0 - 4.0 * part * (1.0 - part) * square, DBL_EPSILON);
    double a = part * sinc * cos(half) / scale, b = 0.5 * part * (2.0 * part - 1.0) * sinc * sinc / scale;
    pcs_cross(x, y, once);
    pcs_cross(x, once, twice);
    for (int i = 0; i < 3; i++) y[i] += a * once[i] + b * twice[i];
}

// Does coordinate f of a row, and those after it, make a finite rotation?
static bool rotations_begin(const fe_data *fe, const pcs_slopes *s, int i, int f)
{
    return fe->starts_spin != NULL && fe->starts_spin[pcs_slopes_equation(s, i, f)];
}

void pcs_fe_turn_slopes(const pcs_system *self, const double *x)
{
    const pcs_slopes *s = self->slopes;
    for (int i = 0; i < s->count; i++)
        for (int f = 0; f < pcs_slopes_width(s, i); f++) {
            if (!rotations_begin(self->data, s, i, f)) continue;
            double T[9], *a = pcs_slopes_by(s, i, f), *b = pcs_slopes_by(s, i, f + 1), *c = pcs_slopes_by(s, i, f + 2);
            pcs_rotation_tangent(x + pcs_slopes_equation(s, i, f), T);
            for (int e = 0; e < pcs_slopes_size(s, i); e++) {
                double p = a[e], q = b[e], r = c[e];
                a[e] = p * T[0] + q * T[3] + r * T[6];
                b[e] = p * T[1] + q * T[4] + r * T[7];
                c[e] = p * T[2] + q * T[5] + r * T[8];
            }
        }
}

// Change of what rotations_carry makes of y as x changes along an axis, but for third powers of x.
static void rotations_carry_slope(const double x[3], double part, const double y[3], int axis, double out[3])
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

void pcs_fe_carry_slopes(pcs_system *self, const double *x, double part)
{
    const fe_data *fe = self->data;
    const pcs_slopes *s = self->slopes;
    pcs_fe_carry_back(self, x, part, s->by);
    for (int i = 0; i < s->count; i++)
        for (int f = 0; f < pcs_slopes_width(s, i); f++) {
            int entry = s->entry[s->start[i] + f];
            const double *y = self->G->value + self->G->start[s->row[i]] + entry;
            if (!rotations_begin(fe, s, i, f)) continue;
            for (int axis = 0; axis < 3; axis++)
                rotations_carry_slope(x + pcs_slopes_equation(s, i, f), part, y, axis,
                                      pcs_slopes_by(s, i, f + axis) + entry);
        }
}

void pcs_fe_carry_back(const pcs_system *self, const double *x, double part, pcs_rows *rows)
{
    const fe_data *fe = self->data;
    if (fe->starts_spin == NULL) return; // only other ranks have such nodes
    for (int k = 0; k + 2 < rows->start[rows->nrow]; k++) {
        int e = rows->column[k];
        // The three entries of a node follow one another; what fills a row up does not.
        bool is_moment = fe->starts_spin[e] && rows->column[k + 1] == e + 1 && rows->column[k + 2] == e + 2;
        if (is_moment) rotations_carry(x + e, part, rows->value + k);
    }
}

// Rotation of the second node of a cell against the first; zero where they do not turn by finite angles in space.
static double rotations_between(const fe_data *fe, const double *q, const int node[2])
{
    double p[2][3] = { { 0.0 } }, turn[3];
    for (int i = 0; i < 2; i++) {
        int spin = fe->spin_of_node[node[i]];
        if (spin < 0) return 0.0;
        for (int k = 0; k < 3; k++)
            if (fe->spins[spin][k] >= 0) p[i][k] = (i == 0 ? -1.0 : 1.0) * q[fe->spins[spin][k]];
    }
    pcs_rotation_compose(p[0], p[1], turn);
    return pcs_norm3(turn);
}

// The rotation of one end of a cell against the other is known up to half a turn, where bending moments jump.
void pcs_fe_name_bent(const pcs_system *self, const double *q, size_t size, char *text)
{
    static const double near_half = 2.8; // rad
    const fe_data *fe = self->data;
    double most = near_half;
    text[0] = '\0';
    for (int g = 0; g < fe->model.ngroup && fe->nspin > 0; g++) {
        const pcs_batch *batch = &fe->batches[g];
        if (batch->ops->is_one_node || !batch->ops->is_nonlinear) continue;
        for (int c = 0; c < batch->ncell; c++) {
            const int *node = batch->nodes[batch->cells[c]];
            double turn = rotations_between(fe, q, node);
            if (turn <= most) continue;
            most = turn;
            snprintf(text, size,
                     "; the ends of the cell from node %d to node %d of '%s' have turned by %.3g rad against each "
                     "other, where half a turn is the most: more cells are needed",
                     pcs_mesh_node_number(fe->model.mesh, node[0]), pcs_mesh_node_number(fe->model.mesh, node[1]),
                     fe->model.groups[g].name, turn);
        }
    }
}
