// Coulomb friction on a path of equilibria, load step by load step.
//
//   x_t = T(q) (q - q_n)                              sliding since the last load step
//   |lam_t| <= mu lam,   lam_t = -mu lam x_t/|x_t| where x_t is not zero
//
// A contact that sticks holds its rows of T as it holds that of G. One that slides pushes with mu lam along u, against
// x_t; that is no unknown of its own: its column is H = G + mu u T while its row is G, and the matrix is not symmetric
//
//   [ K    H^T ] [  dq  ]                                       K + (mu lam/|x_t|) T^T (1 - u u^T) T with two tangents
//   [ G     0  ] [ -dlam ] = ...
//
// In a plane Newton's step turns back what has slid where its direction is far off. Then the step is made again with a
// drag, lam_t = -(mu lam/|x_t|) x with |x_t| as it is, which for one contact is a step of majorisation and never does.
//
// A contact that sticks begins to slide where its force leaves the disc, one that slides sticks where it has slid along
// its force: semi-smooth Newton on the sets, as in the steps of time integration (step/contact_problem.h), with
// displacements in the place of velocities and forces in that of impulses. Both are judged beyond what round-off makes
// of them, so that a tie stays what it is.

#include "analysis/statics_friction.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_BACK = 40 };

// Values of has_way, the term in K of a contact that slides in a plane: none yet, derivative of its direction, or drag.
enum { NO_WAY, NEWTON, DRAG };

static const double FACTOR = 8.0;   // of rounding errors
static const double HEAVY = 1e6;    // stiffness across a direction that is new, over that of the model
static const double SHRINK = 0.9;   // of what has slid: a correction that takes back more is none
static const double ABSURD = 100.0; // times all forces at the start of a load step

static bool friction_rubs(const pcs_equilibrium *e, int j)
{
    return e->has_friction && e->system->rows[j].ntangent > 0;
}

static int friction_first(const pcs_equilibrium *e, int j)
{
    return e->system->nrow + e->system->rows[j].first_tangent;
}

static bool friction_slides(const pcs_equilibrium *e, int j)
{
    return friction_rubs(e, j) && e->held[j] && !e->held[friction_first(e, j)];
}

pcs_status pcs_friction_create(pcs_equilibrium *e)
{
    pcs_system *s = e->system;
    e->nall = s->nrow;
    e->R = e->H = s->G;
    if (!e->has_friction) return PCS_OK;
    const pcs_rows *G = s->G, *T = s->T;
    int nnz = G->start[s->nrow] + 2 * T->start[s->ntangent], place = 0;
    e->nall += s->ntangent;
    PCS_TAKE(s->ctx, e->along, s->ntangent, "friction");
    PCS_TAKE(s->ctx, e->has_way, s->nrow, "friction");
    PCS_TAKE(s->ctx, e->nback, s->nrow, "friction");
    PCS_TRY(pcs_rows_create(s->ctx, e->nall, s->nv, nnz, &e->R));
    PCS_TRY(pcs_rows_create(s->ctx, e->nall, s->nv, nnz, &e->H));
    for (int j = 0; j < s->nrow; j++) {
        int first = s->rows[j].first_tangent, last = first + s->rows[j].ntangent;
        e->slides_in_planes = e->slides_in_planes || s->rows[j].ntangent == 2;
        e->R->start[j] = place;
        place += G->start[j + 1] - G->start[j];
        if (last > first) place += T->start[last] - T->start[first];
    }
    for (int t = 0; t < s->ntangent; t++) {
        e->R->start[s->nrow + t] = place;
        place += T->start[t + 1] - T->start[t];
    }
    e->R->start[e->nall] = place;
    memcpy(e->H->start, e->R->start, ((size_t)e->nall + 1) * sizeof *e->R->start);
    return PCS_OK;
}

// Terms of a row of `from`, times `in_R` and `in_H`, from `place` on.
static int friction_put(pcs_equilibrium *e, const pcs_rows *from, int row, const double times[2], int place)
{
    for (int p = from->start[row]; p < from->start[row + 1]; p++, place++) {
        e->R->column[place] = e->H->column[place] = from->column[p];
        e->R->value[place] = times[0] * from->value[p];
        e->H->value[place] = times[1] * from->value[p];
    }
    return place;
}

static void friction_fill(pcs_equilibrium *e)
{
    const pcs_system *s = e->system;
    for (int j = 0; j < s->nrow; j++) {
        const pcs_row *row = &s->rows[j];
        int place = friction_put(e, s->G, j, (const double[2]){ 1.0, 1.0 }, e->R->start[j]);
        bool slides = friction_slides(e, j);
        for (int t = 0; t < row->ntangent; t++) {
            double along = slides ? row->friction * e->along[row->first_tangent + t] : 0.0;
            place = friction_put(e, s->T, row->first_tangent + t, (const double[2]){ 0.0, along }, place);
        }
    }
    for (int t = 0; t < s->ntangent; t++)
        friction_put(e, s->T, t, (const double[2]){ 1.0, 1.0 }, e->R->start[s->nrow + t]);
}

void pcs_friction_place(pcs_equilibrium *e, const double *q)
{
    const pcs_system *s = e->system;
    if (!e->has_friction) return;
    pcs_difference(&s->rotations, e->origin, q, e->work);
    for (int t = 0; t < s->ntangent; t++) e->gap[s->nrow + t] = pcs_rows_dot(s->T, t, e->work);
    friction_fill(e);
}

// Length of what stands for the tangents of row j.
static double friction_size(const pcs_equilibrium *e, int j, const double *x)
{
    const double *at = x + friction_first(e, j);
    return e->system->rows[j].ntangent == 2 ? hypot(at[0], at[1]) : fabs(at[0]);
}

// Is a contact that sticks beyond its disc, or has one that slides gone along its force? By how much beyond round-off.
static bool friction_is_wrong(const pcs_equilibrium *e, int j)
{
    const pcs_row *row = &e->system->rows[j];
    if (!friction_rubs(e, j) || !e->held[j]) return false;
    int first = friction_first(e, j);
    if (e->held[first]) {
        double noise = friction_size(e, j, e->lam_noise) + row->friction * e->lam_noise[j];
        double most = row->friction * fmax(e->lam[j], 0.0);
        return friction_size(e, j, e->lam) > most + FACTOR * (noise + DBL_EPSILON * most);
    }
    if (e->nback[j] > MOST_BACK) return true;
    double way = 0.0, noise = friction_size(e, j, e->gap_noise) + friction_size(e, j, e->blur);
    for (int t = 0; t < row->ntangent; t++) way += e->gap[first + t] * e->along[row->first_tangent + t];
    return way > FACTOR * noise;
}

// From sticking to sliding along the force that held it, and back.
static void friction_change(pcs_equilibrium *e, int j)
{
    const pcs_row *row = &e->system->rows[j];
    int first = friction_first(e, j);
    bool sticks = e->held[first];
    e->has_way[j] = NO_WAY;
    e->nback[j] = 0;
    double size = friction_size(e, j, e->lam);
    for (int t = 0; t < row->ntangent; t++) {
        e->held[first + t] = !sticks;
        if (sticks) e->along[row->first_tangent + t] = size > 0.0 ? e->lam[first + t] / size : 0.0;
    }
}

bool pcs_friction_turn(pcs_equilibrium *e)
{
    double most = 0.0;
    for (int j = 0; e->has_friction && j < e->system->nrow; j++) {
        const pcs_row *row = &e->system->rows[j];
        if (row->ntangent != 2 || !friction_slides(e, j)) continue;
        const double *way = e->gap + friction_first(e, j);
        double *u = e->along + row->first_tangent;
        double size = hypot(way[0], way[1]), noise = friction_size(e, j, e->blur) + friction_size(e, j, e->gap_noise);
        if (!(size > FACTOR * noise)) continue;
        // Beyond what round-off makes of the direction.
        most = fmax(most, hypot(u[0] + way[0] / size, u[1] + way[1] / size) / (FACTOR * (noise / size + DBL_EPSILON)));
        for (int t = 0; t < 2; t++) u[t] = -way[t] / size;
        if (e->has_way[j] == NO_WAY) e->has_way[j] = NEWTON;
    }
    if (most > 0.0) pcs_friction_settle(e);
    return most > 1.0;
}

// Would a correction turn back what row j has slid?
static bool friction_turns_back(const pcs_equilibrium *e, int j)
{
    const double *x = e->gap + friction_first(e, j);
    double along = 0.0;
    for (int t = 0; t < 2; t++) along += x[t] * pcs_rows_dot(e->system->T, e->system->rows[j].first_tangent + t, e->dq);
    return along < -SHRINK * (x[0] * x[0] + x[1] * x[1]);
}

pcs_friction_way pcs_friction_judge(pcs_equilibrium *e)
{
    pcs_friction_way way = PCS_FRICTION_STRAIGHT;
    for (int j = 0; e->slides_in_planes && j < e->system->nrow; j++) {
        if (e->system->rows[j].ntangent != 2 || !friction_slides(e, j) || e->has_way[j] == NO_WAY) continue;
        bool is_drag = e->has_way[j] == DRAG;
        if (way == PCS_FRICTION_STRAIGHT) way = PCS_FRICTION_CURVED;
        if (is_drag) way = way == PCS_FRICTION_BACK ? way : PCS_FRICTION_DRAGS;
        e->has_way[j] = NEWTON;
        if (is_drag) continue;
        bool turns_back = friction_turns_back(e, j);
        e->nback[j] = turns_back ? e->nback[j] + 1 : 0;
        if (!turns_back) continue;
        e->has_way[j] = DRAG;
        way = PCS_FRICTION_BACK;
    }
    return way;
}

// By how much the force of a contact that sticks is beyond its disc, as a norm; 0: it is not.
static double friction_excess(const pcs_equilibrium *e, int j)
{
    if (!friction_rubs(e, j) || !e->held[j] || !e->held[friction_first(e, j)]) return 0.0;
    double most = e->system->rows[j].friction * fmax(e->lam[j], 0.0);
    return fmax(friction_size(e, j, e->lam) - most, 0.0) * pcs_equilibrium_row_size(e, friction_first(e, j));
}

bool pcs_friction_yield(pcs_equilibrium *e)
{
    double worst = 0.0;
    if (!e->has_friction) return false;
    for (int j = 0; j < e->system->nrow; j++) worst = fmax(worst, friction_excess(e, j));
    if (!(worst > ABSURD * e->first_weight)) return false;
    for (int j = 0; j < e->system->nrow; j++)
        if (friction_excess(e, j) >= 0.5 * worst) friction_change(e, j);
    memcpy(e->lam, e->origin_lam, (size_t)e->nall * sizeof *e->lam);
    pcs_friction_settle(e);
    return true;
}

bool pcs_friction_choose(pcs_equilibrium *e, bool is_single)
{
    bool has_changed = false;
    if (!e->has_friction) return false;
    for (int j = e->system->nrow - 1; j >= 0; j--) {
        if (!friction_is_wrong(e, j) || (is_single && has_changed)) continue;
        friction_change(e, j);
        has_changed = true;
    }
    pcs_friction_settle(e);
    return has_changed;
}

void pcs_friction_flip(pcs_equilibrium *e, int j)
{
    if (!friction_rubs(e, j)) return;
    int first = friction_first(e, j);
    for (int t = 0; t < e->system->rows[j].ntangent; t++) {
        e->held[first + t] = e->held[j];
        if (!e->held[j]) e->lam[first + t] = 0.0;
    }
}

void pcs_friction_settle(pcs_equilibrium *e)
{
    if (!e->has_friction) return;
    for (int j = 0; j < e->system->nrow; j++) {
        const pcs_row *row = &e->system->rows[j];
        if (!friction_slides(e, j)) continue;
        for (int t = 0; t < row->ntangent; t++)
            e->lam[friction_first(e, j) + t] = row->friction * e->lam[j] * e->along[row->first_tangent + t];
    }
    friction_fill(e);
}

// A += c x y^T over the terms of two tangents.
static void friction_add(pcs_equilibrium *e, int a, int b, double c)
{
    const pcs_rows *T = e->system->T;
    for (int p = T->start[a]; p < T->start[a + 1]; p++)
        for (int k = T->start[b]; k < T->start[b + 1]; k++) {
            double value = c * T->value[p] * T->value[k];
            if (value != 0.0) e->A.value[pcs_pattern_place(e->A.pattern, T->column[p], T->column[k])] += value;
        }
}

// Stiffness across the direction of sliding; 0: none.
static double friction_across(const pcs_equilibrium *e, int j)
{
    const pcs_rows *T = e->system->T;
    const pcs_row *row = &e->system->rows[j];
    double size = friction_size(e, j, e->gap), most = 0.0;
    bool has_slid = e->has_way[j] != NO_WAY && size > FACTOR * friction_size(e, j, e->blur);
    if (has_slid) return row->friction * fmax(e->lam[j], 0.0) / size;
    // A way that begins goes along the force at first.
    if (e->has_way[j] != NO_WAY) return 0.0;
    for (int p = T->start[row->first_tangent]; p < T->start[row->first_tangent + 2]; p++)
        if (T->value[p] != 0.0) most = fmax(most, e->stiffness[T->column[p]]);
    return HEAVY * most;
}

void pcs_friction_stiffen(pcs_equilibrium *e)
{
    for (int j = 0; e->slides_in_planes && j < e->system->nrow; j++) {
        const pcs_row *row = &e->system->rows[j];
        if (row->ntangent != 2 || !friction_slides(e, j)) continue;
        double stiff = friction_across(e, j), less = e->has_way[j] == DRAG ? 0.0 : 1.0;
        const double *u = e->along + row->first_tangent;
        if (!(stiff > 0.0)) continue;
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++)
                friction_add(e, row->first_tangent + a, row->first_tangent + b,
                             stiff * ((a == b ? 1.0 : 0.0) - less * u[a] * u[b]));
    }
}
