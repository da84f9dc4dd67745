// An equilibrium as it is looked for: its equations at a state, their residual with its rounding errors, the contacts
// that hold, tangent and factorization.
//
// Rounding errors:
//
//   |f_i| <= DBL_EPSILON S_i,   S_i = |load_i| + |internal_i| + sum_j |K_ij| (|q_j| + c_j) + sum_j |G_ji lam_j|
//   |g_j| <= DBL_EPSILON sum_i |G_ji| (|q_i| + x_i) + DBL_EPSILON |g_j0|
//
// each up to a small factor, that of the operations in a sum. q is stored with a relative error of DBL_EPSILON, and K
// makes a force of it. In a nonlinear element strains are differences of lengths, so that a displacement below
// DBL_EPSILON times the length c of the cell is lost as well; a gap is a difference of places x.
//
// A contact is wrong when it is open and its gap is negative, or holds and pulls. Of those that are wrong the worst
// change, the deepest that are open and the ones that pull most: a beam on many supports pushes and pulls them in turn,
// less and less from where it leaves them, and only the first one is wrong. Where sets of contacts come back, only the
// last wrong contact changes from then on (Murty 1974), which ends for every positive definite problem.
//
// A contact between touching and not touching, as those under the part of a beam that lies flat, has neither gap nor
// force but for round-off. It stays what it is as long as its gap and its force are within what the rounding errors of
// all forces and gaps make of them, which the factors tell: A^-1 r for errors r of random signs.

#include "analysis/statics_equilibrium.h"

#include "core/carry.h"
#include "core/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

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

// Creates the rows R and H of the contacts with friction; without friction R is G.
static pcs_status friction_create(pcs_equilibrium *e)
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

// Writes the terms of a row of `from`, times `times`, into R and H from `place` on. Returns the place behind them.
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

// Updates R and H for the current directions, and the sliding since the last equilibrium among the gaps.
static void friction_place(pcs_equilibrium *e, const double *q)
{
    const pcs_system *s = e->system;
    if (!e->has_friction) return;
    pcs_difference(&s->rotations, e->last.q, q, e->work);
    for (int t = 0; t < s->ntangent; t++) e->gap[s->nrow + t] = pcs_rows_dot(s->T, t, e->work);
    friction_fill(e);
}

// Returns the length of the tangential part of x at row j.
static double friction_size(const pcs_equilibrium *e, int j, const double *x)
{
    const double *at = x + friction_first(e, j);
    return e->system->rows[j].ntangent == 2 ? hypot(at[0], at[1]) : fabs(at[0]);
}

// Returns true if a sticking contact is beyond its disc, or a sliding one slides along its force, beyond round-off.
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

// Changes a contact from sticking to sliding along the force that held it, or back.
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

// Sets the friction of sliding contacts from their normal forces, and updates R and H.
static void friction_settle(pcs_equilibrium *e)
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

// Sets the friction of contacts that slide in a plane against their sliding. Returns true if a direction has changed.
static bool friction_turn(pcs_equilibrium *e)
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
    if (most > 0.0) friction_settle(e);
    return most > 1.0;
}

// Returns true if the correction dq would reverse the sliding of row j.
static bool friction_turns_back(const pcs_equilibrium *e, int j)
{
    const double *x = e->gap + friction_first(e, j);
    double along = 0.0;
    for (int t = 0; t < 2; t++) along += x[t] * pcs_rows_dot(e->system->T, e->system->rows[j].first_tangent + t, e->dq);
    return along < -SHRINK * (x[0] * x[0] + x[1] * x[1]);
}

// Classifies a correction: no contact slides in a plane, directions rotate, one has a drag, one reverses (not applied).
typedef enum friction_way { FRICTION_STRAIGHT, FRICTION_CURVED, FRICTION_DRAGS, FRICTION_BACK } friction_way;

static friction_way friction_judge(pcs_equilibrium *e)
{
    friction_way way = FRICTION_STRAIGHT;
    for (int j = 0; e->slides_in_planes && j < e->system->nrow; j++) {
        if (e->system->rows[j].ntangent != 2 || !friction_slides(e, j) || e->has_way[j] == NO_WAY) continue;
        bool is_drag = e->has_way[j] == DRAG;
        if (way == FRICTION_STRAIGHT) way = FRICTION_CURVED;
        if (is_drag) way = way == FRICTION_BACK ? way : FRICTION_DRAGS;
        e->has_way[j] = NEWTON;
        if (is_drag) continue;
        bool turns_back = friction_turns_back(e, j);
        e->nback[j] = turns_back ? e->nback[j] + 1 : 0;
        if (!turns_back) continue;
        e->has_way[j] = DRAG;
        way = FRICTION_BACK;
    }
    return way;
}

double pcs_equilibrium_row_size(const pcs_equilibrium *e, int row)
{
    const pcs_rows *R = e->R;
    double sum = 0.0;
    for (int p = R->start[row]; p < R->start[row + 1]; p++) {
        double entry = e->scale[R->column[p]] * R->value[p];
        sum += entry * entry;
    }
    return sqrt(sum);
}

// Returns the norm by which the force of a sticking contact exceeds its friction disc, 0 if it does not.
static double friction_excess(const pcs_equilibrium *e, int j)
{
    if (!friction_rubs(e, j) || !e->held[j] || !e->held[friction_first(e, j)]) return 0.0;
    double most = e->system->rows[j].friction * fmax(e->lam[j], 0.0);
    return fmax(friction_size(e, j, e->lam) - most, 0.0) * pcs_equilibrium_row_size(e, friction_first(e, j));
}

// Lets the worst sticking contacts slide and resets lam to the last equilibrium, if their forces are absurdly large, as
// if a joint moves them. Returns true if there are any; the load step must then begin again.
static bool friction_yield(pcs_equilibrium *e)
{
    double worst = 0.0;
    if (!e->has_friction) return false;
    for (int j = 0; j < e->system->nrow; j++) worst = fmax(worst, friction_excess(e, j));
    if (!(worst > ABSURD * e->first_weight)) return false;
    for (int j = 0; j < e->system->nrow; j++)
        if (friction_excess(e, j) >= 0.5 * worst) friction_change(e, j);
    memcpy(e->lam, e->last.lam, (size_t)e->nall * sizeof *e->lam);
    friction_settle(e);
    return true;
}

// Chooses sticking and sliding contacts from forces and sliding. Returns true if any has changed.
static bool friction_choose(pcs_equilibrium *e, bool is_single)
{
    bool has_changed = false;
    if (!e->has_friction) return false;
    for (int j = e->system->nrow - 1; j >= 0; j--) {
        if (!friction_is_wrong(e, j) || (is_single && has_changed)) continue;
        friction_change(e, j);
        has_changed = true;
    }
    friction_settle(e);
    return has_changed;
}

// Updates the tangents of a contact that has closed, which sticks at first, or opened.
static void friction_flip(pcs_equilibrium *e, int j)
{
    if (!friction_rubs(e, j)) return;
    int first = friction_first(e, j);
    for (int t = 0; t < e->system->rows[j].ntangent; t++) {
        e->held[first + t] = e->held[j];
        if (!e->held[j]) e->lam[first + t] = 0.0;
    }
}

// Adds c t_a t_b^T to A, with the rows t_a and t_b of T.
static void friction_add(pcs_equilibrium *e, int a, int b, double c)
{
    const pcs_rows *T = e->system->T;
    for (int p = T->start[a]; p < T->start[a + 1]; p++)
        for (int k = T->start[b]; k < T->start[b + 1]; k++) {
            double value = c * T->value[p] * T->value[k];
            if (value != 0.0) e->A.value[pcs_pattern_place(e->A.pattern, T->column[p], T->column[k])] += value;
        }
}

// Returns the stiffness, N/m, across the direction of sliding; 0 if there is none.
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

// Adds the stiffness from the rotation of sliding directions, or that of their drag, to A.
static void friction_stiffen(pcs_equilibrium *e)
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

enum { PROBES = 2, MOST_RETURNS = 2 };

static const double TERMS = 16.0; // and operations of a sum, as rounding errors add up
static const double WORST = 0.5;  // of the worst: those contacts change
static const double WHOLE_TURN = 6.283185307179586476925;

void pcs_equilibrium_update_tangent(pcs_equilibrium *e, const double *q)
{
    pcs_system *s = e->system;
    if (s->tangents_vary) s->ops->update(s, pcs_at_rest(e->time, q, e->zero, e->factor), PCS_TANGENTS, NULL);
    pcs_stiffness_update_K(&e->stiff, pcs_at(e->time, q, NULL), e->lam);
    pcs_matrix_combine(&e->A, (const double[3]){ e->mu + e->shift, 0.0, 1.0 }, &e->D, NULL, &e->stiff.K);
    friction_stiffen(e);
}

pcs_status pcs_equilibrium_factor(pcs_equilibrium *e, bool *is_singular)
{
    *is_singular = false;
    e->has_factors = false;
    PCS_TRY(pcs_bordered_factor(e->solver, e->held, is_singular));
    e->has_factors = !*is_singular;
    return PCS_OK;
}

double pcs_equilibrium_top(const pcs_equilibrium *e)
{
    double top = 0.0;
    for (int i = 0; i < e->system->nv; i++) {
        double m = pcs_matrix_diagonal(&e->stiff.M, i);
        if (m > 0.0) top = fmax(top, fabs(pcs_matrix_diagonal(&e->stiff.K, i)) / m);
    }
    return top;
}

// Sets D and the scales of forces. A zero K_ii is replaced by the stiffness of its mass at the highest frequency.
static void equilibrium_make_scales(pcs_equilibrium *e)
{
    double top = pcs_equilibrium_top(e), one = top > 0.0 ? top : 1.0;
    memcpy(e->D.value, e->stiff.M.value, (size_t)e->D.pattern->nnz * sizeof *e->D.value);
    for (int i = 0; i < e->system->nv; i++) {
        double k = fabs(pcs_matrix_diagonal(&e->stiff.K, i)), m = pcs_matrix_diagonal(&e->stiff.M, i);
        if (!(m > 0.0)) {
            m = k > 0.0 ? k / one : 1.0;
            int p = e->D.pattern->start[i];
            while (e->D.pattern->row[p] != i) p++;
            e->D.value[p] = m;
        }
        e->stiffness[i] = k > 0.0 ? k : m * one;
        e->scale[i] = 1.0 / sqrt(e->stiffness[i]);
    }
}

static pcs_status equilibrium_take_kept(const pcs_equilibrium *e, pcs_kept *out)
{
    PCS_TAKE(e->ctx, out->q, e->system->nq, "equilibrium");
    PCS_TAKE(e->ctx, out->lam, e->nall, "equilibrium");
    PCS_TAKE(e->ctx, out->held, e->nall, "equilibrium");
    if (e->has_friction) PCS_TAKE(e->ctx, out->along, e->system->ntangent, "equilibrium");
    return PCS_OK;
}

void pcs_equilibrium_keep(const pcs_equilibrium *e, const double *q, pcs_kept *to)
{
    memcpy(to->q, q, (size_t)e->system->nq * sizeof *q);
    memcpy(to->lam, e->lam, (size_t)e->nall * sizeof *e->lam);
    memcpy(to->held, e->held, (size_t)e->nall);
    if (e->has_friction) memcpy(to->along, e->along, (size_t)e->system->ntangent * sizeof *e->along);
}

void pcs_equilibrium_go_back(pcs_equilibrium *e, const pcs_kept *from, double *q)
{
    memcpy(q, from->q, (size_t)e->system->nq * sizeof *q);
    memcpy(e->lam, from->lam, (size_t)e->nall * sizeof *e->lam);
    memcpy(e->held, from->held, (size_t)e->nall);
    if (e->has_friction) memcpy(e->along, from->along, (size_t)e->system->ntangent * sizeof *e->along);
}

static pcs_status equilibrium_take(pcs_equilibrium *e)
{
    pcs_system *s = e->system;
    pcs_context *ctx = e->ctx;
    double **vectors[] = { &e->zero, &e->f,    &e->idle, &e->loads, &e->size,
                           &e->dq,   &e->away, &e->work, &e->scale, &e->stiffness };
    double **rows[] = { &e->lam, &e->dlam, &e->gap, &e->gap0, &e->target, &e->blur, &e->gap_noise, &e->lam_noise };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) PCS_TAKE(ctx, *vectors[i], s->nv, "equilibrium");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) PCS_TAKE(ctx, *rows[i], e->nall, "equilibrium");
    PCS_TAKE(ctx, e->held, e->nall, "equilibrium");
    PCS_TAKE(ctx, e->kept, e->nall, "equilibrium");
    PCS_TRY(equilibrium_take_kept(e, &e->last));
    PCS_TRY(equilibrium_take_kept(e, &e->safe));
    PCS_TRY(pcs_stiffness_create(s, e->has_friction, &e->stiff));
    e->A.pattern = e->D.pattern = e->stiff.K.pattern;
    PCS_TAKE(ctx, e->A.value, e->A.pattern->nnz, "equilibrium");
    PCS_TAKE(ctx, e->D.value, e->A.pattern->nnz, "equilibrium");
    return PCS_OK;
}

double pcs_equilibrium_norm(const pcs_equilibrium *e, const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < e->system->nv; i++) sum += e->scale[i] * x[i] * e->scale[i] * x[i];
    return sqrt(sum);
}

static void equilibrium_find_sizes(pcs_equilibrium *e, const double *q)
{
    const pcs_system *s = e->system;
    const pcs_matrix *K = &e->stiff.K;
    for (int i = 0; i < s->nv; i++) e->size[i] = fabs(e->loads[i]) + fabs(e->idle[i]);
    for (int j = 0; j < s->nv; j++) {
        double lost = fabs(q[j]) + (s->is_linear ? 0.0 : e->system->scale.cell[j]);
        for (int p = K->pattern->start[j]; p < K->pattern->start[j + 1]; p++)
            e->size[K->pattern->row[p]] += fabs(K->value[p]) * lost;
    }
    for (int j = 0; j < e->nall; j++)
        if (e->lam[j] != 0.0)
            for (int p = e->R->start[j]; p < e->R->start[j + 1]; p++)
                e->size[e->R->column[p]] += fabs(e->R->value[p] * e->lam[j]);
    e->round_off = DBL_EPSILON * pcs_equilibrium_norm(e, e->size);
}

static void equilibrium_find_blur(pcs_equilibrium *e, const double *q)
{
    for (int j = 0; j < e->nall; j++) {
        double sum = fabs(e->gap0[j]);
        for (int p = e->R->start[j]; p < e->R->start[j + 1]; p++) {
            int i = e->R->column[p];
            sum += fabs(e->R->value[p]) * (fabs(q[i]) + e->system->scale.place[i]);
        }
        e->blur[j] = DBL_EPSILON * sum;
    }
}

bool pcs_equilibrium_is_round_off(const pcs_equilibrium *e)
{
    return e->left <= TERMS * e->round_off;
}

bool pcs_equilibrium_rows_fit(const pcs_equilibrium *e)
{
    for (int j = 0; j < e->nall; j++)
        if (e->held[j] && !(fabs(e->gap[j] - e->target[j]) <= TERMS * e->blur[j])) return false;
    return true;
}

void pcs_equilibrium_forget_rows(pcs_equilibrium *e)
{
    e->has_factors = e->is_refined = false;
    e->nset = e->nreturn = 0;
}

// Returns 1 or -1, in a pseudo-random pattern.
static double rows_sign(int i, int probe)
{
    return sin(12.9898 * i + 78.233 * probe + 1.0) < 0.0 ? -1.0 : 1.0;
}

// Estimates round-off of row gaps and forces: solves with the last factors for rounding errors of random signs.
void pcs_equilibrium_find_noise(pcs_equilibrium *e)
{
    const pcs_system *s = e->system;
    memset(e->gap_noise, 0, (size_t)e->nall * sizeof *e->gap_noise);
    memset(e->lam_noise, 0, (size_t)e->nall * sizeof *e->lam_noise);
    if (e->has_factors)
        for (int probe = 0; probe < PROBES; probe++) {
            for (int i = 0; i < s->nv; i++) e->work[i] = DBL_EPSILON * e->size[i] * rows_sign(i, probe);
            for (int j = 0; j < e->nall; j++) e->dlam[j] = e->held[j] ? e->blur[j] * rows_sign(j, probe) : 0.0;
            pcs_bordered_solve(e->solver, e->work, e->dlam);
            for (int j = 0; j < e->nall; j++) {
                e->gap_noise[j] = fmax(e->gap_noise[j], fabs(pcs_rows_dot(e->R, j, e->work)));
                e->lam_noise[j] = fmax(e->lam_noise[j], fabs(e->dlam[j]));
            }
        }
}

bool pcs_equilibrium_row_is_wrong(const pcs_equilibrium *e, int j)
{
    if (e->system->rows[j].is_bilateral || e->kept[j]) return false;
    if (e->held[j]) return e->lam[j] < -FACTOR * e->lam_noise[j];
    return e->gap[j] < -FACTOR * (e->blur[j] + e->gap_noise[j]);
}

static void rows_flip(pcs_equilibrium *e, int j)
{
    e->held[j] = !e->held[j];
    if (!e->held[j]) e->lam[j] = 0.0;
    friction_flip(e, j);
}

// Stores a hash of the active set; counts sets that return.
static void rows_remember(pcs_equilibrium *e)
{
    uint64_t name = pcs_hash(PCS_HASH_START, e->held, (size_t)e->nall * sizeof *e->held);
    for (int k = 0; k < e->nset && k < PCS_STATICS_SETS; k++) e->nreturn += e->sets[k] == name;
    e->sets[e->nset++ % PCS_STATICS_SETS] = name;
}

// Flips wrong contacts with a force of at most `pull` (< 0), N, or a gap of at most `depth` (< 0), m.
static void rows_change(pcs_equilibrium *e, double pull, double depth)
{
    for (int j = 0; j < e->system->nrow; j++)
        if (pcs_equilibrium_row_is_wrong(e, j) && (e->held[j] ? e->lam[j] <= pull : e->gap[j] <= depth))
            rows_flip(e, j);
}

static bool equilibrium_choose_rows(pcs_equilibrium *e)
{
    double pull = 0.0, depth = 0.0;
    int last = -1;
    bool has_new = false; // joints hold from the first
    pcs_equilibrium_find_noise(e);
    for (int j = 0; j < e->system->nrow; j++) {
        if ((e->system->rows[j].is_bilateral || e->kept[j]) && !e->held[j]) {
            e->held[j] = 1;
            has_new = true;
        }
        if (!pcs_equilibrium_row_is_wrong(e, j)) continue;
        last = j;
        if (e->held[j]) pull = fmin(pull, e->lam[j]);
        else depth = fmin(depth, e->gap[j]);
    }
    // Judges sticking and sliding only once no contact is open or closed by mistake.
    if (last < 0) {
        bool has_changed = friction_choose(e, e->nreturn > MOST_RETURNS);
        if (has_changed) rows_remember(e);
        return has_changed || friction_turn(e) || has_new;
    }
    rows_remember(e);
    if (e->nreturn > MOST_RETURNS) rows_flip(e, last);
    else rows_change(e, WORST * pull, WORST * depth);
    friction_settle(e);
    return true;
}

// Turns f into the residual f + G^T lam - mu D away; sets its norm, its scale and its round-off.
static void equilibrium_residual(pcs_equilibrium *e, const double *q)
{
    pcs_system *s = e->system;
    e->factor = e->load;
    s->ops->force(s, pcs_at_rest(e->time, q, e->zero, 0.0), e->idle);
    s->ops->force(s, pcs_at_rest(e->time, q, e->zero, e->factor), e->f);
    for (int i = 0; i < s->nv; i++) e->loads[i] = e->f[i] - e->idle[i];
    e->weight = fmax(pcs_equilibrium_norm(e, e->loads), pcs_equilibrium_norm(e, e->idle));
    equilibrium_find_sizes(e, q);
    memset(e->work, 0, (size_t)s->nv * sizeof *e->work);
    for (int j = 0; j < e->nall; j++)
        if (e->lam[j] != 0.0) pcs_rows_add_transposed(e->R, j, e->lam[j], e->work);
    e->weight = fmax(e->weight, pcs_equilibrium_norm(e, e->work));
    for (int i = 0; i < s->nv; i++) e->f[i] += e->work[i];
    if (e->mu > 0.0) pcs_matrix_add_multiply(&e->D, -e->mu, e->away, e->f);
    e->left = pcs_equilibrium_norm(e, e->f);
}

void pcs_equilibrium_place(pcs_equilibrium *e, const double *q)
{
    pcs_system *s = e->system;
    if (s->row_set.vary) pcs_system_aim(s, pcs_at(e->time, q, NULL));
    pcs_system_gaps(s, pcs_at(e->time, q, NULL), e->gap);
    for (int j = 0; j < s->nrow; j++)
        if (s->rows[j].is_turn) e->gap[j] = e->target[j] + remainder(e->gap[j] - e->target[j], WHOLE_TURN);
    friction_place(e, q);
}

// Evaluates the residual alone, with the current active set.
static void equilibrium_look(pcs_equilibrium *e, const double *q)
{
    pcs_equilibrium_place(e, q);
    friction_turn(e);
    equilibrium_residual(e, q);
}

bool pcs_equilibrium_evaluate(pcs_equilibrium *e, const double *q)
{
    const pcs_system *s = e->system;
    for (int j = 0; j < s->nrow; j++) e->target[j] = (1.0 - e->load) * e->gap0[j];
    pcs_equilibrium_place(e, q);
    equilibrium_find_blur(e, q);
    equilibrium_residual(e, q);
    // Judges contacts of a linear model only after a second correction, which removes the round-off that the first one
    // leaves in their forces.
    e->is_judged = !s->is_linear || e->slides_in_planes || !e->has_factors || e->is_refined;
    e->is_refined = true;
    if (e->is_frozen) {
        e->is_judged = true;
        return false;
    }
    if (!e->is_judged || !equilibrium_choose_rows(e)) return false;
    e->is_refined = false;
    equilibrium_residual(e, q);
    return true;
}

void pcs_equilibrium_solve(pcs_equilibrium *e)
{
    memcpy(e->dq, e->f, (size_t)e->system->nv * sizeof *e->f);
    for (int j = 0; j < e->nall; j++) {
        double error = e->held[j] ? e->target[j] - e->gap[j] : 0.0;
        // Redundant rows would make forces of rounding errors that contradict each other.
        e->dlam[j] = fabs(error) <= e->blur[j] ? 0.0 : error;
    }
    pcs_bordered_solve(e->solver, e->dq, e->dlam);
    for (int j = 0; j < e->nall; j++) e->dlam[j] = -e->dlam[j];
}

void pcs_equilibrium_begin(pcs_equilibrium *e, double load)
{
    e->load = load;
    e->mu = e->shift = 0.0;
    e->is_factored = false;
    e->bad_equation = -1;
    e->correction = INFINITY;
    pcs_equilibrium_forget_rows(e);
}

pcs_status pcs_equilibrium_create(const pcs_analysis *on, double time, const double *q, pcs_equilibrium *e)
{
    pcs_system *s = on->system;
    e->ctx = on->ctx;
    e->system = s;
    e->time = time;
    e->correction = INFINITY;
    e->factor = 0.0; // no loads yet, nor the stiffness of those that turn
    if (s->mass_varies) s->ops->update(s, pcs_at(e->time, q, NULL), PCS_MASS, NULL);
    if (s->row_set.vary) pcs_system_aim(s, pcs_at(e->time, q, NULL));
    PCS_TRY(friction_create(e));
    PCS_TRY(equilibrium_take(e));
    pcs_equilibrium_keep(e, q, &e->last);
    pcs_stiffness_update_M(&e->stiff);
    pcs_equilibrium_update_tangent(e, q);
    equilibrium_make_scales(e);
    if (s->row_set.ndriven > 0)
        pcs_system_drives(s, time, e->target, e->blur); // turns go the whole way that they are told
    pcs_equilibrium_place(e, q);
    equilibrium_find_blur(e, q);
    for (int j = 0; j < s->nrow; j++) {
        e->held[j] = s->rows[j].is_bilateral;
        e->gap0[j] = e->held[j] ? e->gap[j] : 0.0;
        if (!e->held[j] && e->holds_touching && e->gap[j] <= TERMS * e->blur[j]) {
            e->held[j] = 1;
            friction_flip(e, j);
        }
    }
    pcs_linsolve_kind kind = s->is_linear && !pcs_system_is_gyroscopic(s) ? PCS_SPD : PCS_GENERAL;
    PCS_TRY(pcs_bordered_create(on->ctx, on->linear, &e->A, kind, s->nrow > 0 ? e->R : NULL, &e->solver));
    if (s->nrow > 0) pcs_bordered_set_columns(e->solver, e->H);
    pcs_bordered_set_sizes(e->solver, e->stiffness);
    return PCS_OK;
}

// Newton's method for one load step.
//
//   [ K    G_h^T ] [  dq  ]   [ f + G^T lam ]
//   [ G_h    0   ] [ -dlam ] = [ -(g - g_s)  ]      h: joints, and contacts that hold
//
// It ends when a correction is small by the root of its energy, r . dq, against the strain energy; or when the residual
// no longer falls and is no more than round-off explains: forces of slender beams round off in
// their axial part, far above the loads that bend them, and yet move nothing. Where only contacts can stop a rigid
// motion of a linear model, K + mu D gives the direction of that motion, and the step goes as far as the first contact,
// which is then held.

static const double TOLERANCE =
    1e-10;                           // of the correction, relative: the next one of a quadratic iteration is round-off
static const double FALLS = 0.5;     // ratio of residuals, one after the other, that still is progress
static const double FAR = 1e6;       // displacement in units of the model's size that is no answer
static const double SINGULAR = 1e14; // forces within |K dq| beside the force that made dq

static const double INERTIA = 1e-4; // of the highest frequency squared

static const double LEAST = 1e-12; // mu beside the largest K_ii / M_ii: round-off of K is 1e-4 of that

enum { MOST_ITERATIONS = 30, MOST_TRIED = 30, ROW_ITERATIONS = 8, PLANE_ITERATIONS = 100, MOST_PARTS = 12 };

double pcs_equilibrium_least_mu(const pcs_equilibrium *e)
{
    return fmax(LEAST * pcs_equilibrium_top(e), pcs_stiffness_blur(&e->stiff, &e->D, e->lam));
}

// Returns true if the held rows of a linear model leave a rigid motion free.
static bool newton_is_free(const pcs_equilibrium *e)
{
    enum { MOST = 96 };
    int m = e->rigid.count, n = e->system->nv;
    double Q[MOST * MOST] = { 0 }, w[MOST], V[MOST * MOST], rate[MOST];
    if (m == 0 || m > MOST) return false;
    for (int j = 0; j < e->nall; j++) {
        if (!e->held[j]) continue;
        for (int k = 0; k < m; k++) {
            const double *x = e->rigid.vector + (size_t)k * (size_t)n;
            rate[k] = pcs_row_rate(e->system, e->R, j, x, pcs_stride(e->system, x));
        }
        for (int a = 0; a < m; a++)
            for (int b = 0; b < m; b++) Q[a * m + b] += rate[a] * rate[b];
    }
    pcs_jacobi(m, Q, w, V);
    return !(w[0] > PCS_NO_RATE * PCS_NO_RATE);
}

// Returns true if the matrix is singular except for round-off: dq then makes internal forces that nearly cancel.
static bool newton_is_hidden(pcs_equilibrium *e)
{
    const pcs_matrix *K = &e->A;
    memset(e->work, 0, (size_t)e->system->nv * sizeof *e->work);
    for (int j = 0; j < e->system->nv; j++)
        for (int p = K->pattern->start[j]; p < K->pattern->start[j + 1]; p++)
            e->work[K->pattern->row[p]] += fabs(K->value[p] * e->dq[j]);
    double within = pcs_equilibrium_norm(e, e->work);
    return !(within <= SINGULAR * fmax(e->left, e->round_off));
}

static bool newton_can_drift(const pcs_equilibrium *e)
{
    for (int j = 0; j < e->system->nrow; j++)
        if (!e->system->rows[j].is_bilateral && !e->held[j]) return e->system->is_linear;
    return false;
}

// Moves a model with singular K, which contacts may hold, as far as the first of them.
static pcs_status newton_drift(pcs_equilibrium *e, double *q, pcs_statics_outcome *outcome)
{
    const pcs_system *s = e->system;
    bool is_singular = false;
    double part = INFINITY;
    int first = -1;
    e->is_factored = false;
    double mu = pcs_equilibrium_least_mu(e);
    pcs_matrix_combine(&e->A, (const double[3]){ mu > 0.0 ? mu : 1.0, 0.0, 1.0 }, &e->D, NULL, &e->stiff.K);
    PCS_TRY(pcs_equilibrium_factor(e, &is_singular));
    *outcome = PCS_STATICS_LOOSE;
    if (is_singular) return PCS_OK;
    pcs_equilibrium_solve(e);
    for (int j = 0; j < s->nrow; j++) {
        double rate = pcs_rows_dot(s->G, j, e->dq);
        if (s->rows[j].is_bilateral || e->held[j] || !(rate < 0.0)) continue;
        double reach = fmax(e->gap[j], 0.0) / -rate;
        if (reach < part) first = j;
        part = fmin(part, reach);
    }
    if (first < 0) return PCS_OK;
    e->kept[first] = 1;
    for (int i = 0; i < s->nv; i++) e->dq[i] *= part;
    pcs_retract(&e->system->rotations, q, e->dq, q);
    *outcome = PCS_STATICS_DONE;
    return PCS_OK;
}

bool pcs_equilibrium_has_diverged(const pcs_equilibrium *e, const double *q)
{
    // A linear system answers loads of any size in proportion.
    double far = e->system->is_linear ? INFINITY : FAR;
    for (int i = 0; i < e->system->nv; i++)
        if (!(fabs(q[i]) <= far * e->system->scale.model[i])) return true;
    return !isfinite(e->left);
}

void pcs_equilibrium_judge(pcs_equilibrium *e, const double *q, double more)
{
    const pcs_system *s = e->system;
    pcs_measure measure;
    double energy = 0.0;
    s->ops->measure(s, pcs_at(e->time, q, e->zero), PCS_ENERGY, &measure);
    for (int i = 0; i < s->nv; i++) energy += e->f[i] * e->dq[i];
    energy = fmax(fabs(energy), fabs(more));
    for (int j = 0; j < e->nall; j++)
        if (e->held[j]) energy = fmax(fabs(energy), fabs(e->dlam[j] * (e->gap[j] - e->target[j])));
    e->correction = measure.strain > 0.0 ? sqrt(fabs(energy) / (2.0 * measure.strain)) : INFINITY;
}

void pcs_equilibrium_correct(pcs_equilibrium *e, double *q)
{
    pcs_retract(&e->system->rotations, q, e->dq, q);
    for (int i = 0; i < e->system->nv; i++) e->away[i] += e->dq[i];
    for (int j = 0; j < e->nall; j++) {
        e->lam[j] += e->dlam[j];
        // Contacts that a free motion ran into are let go once they press.
        if (e->held[j]) e->kept[j] = 0;
    }
    friction_settle(e);
}

// Factors the tangent if it has changed, and solves; *is_singular also if round-off hides it.
static pcs_status newton_try(pcs_equilibrium *e, const double *q, bool rows_changed, bool *is_singular)
{
    *is_singular = false;
    if (!e->is_factored || rows_changed || !e->system->is_linear || e->slides_in_planes) {
        pcs_equilibrium_update_tangent(e, q);
        PCS_TRY(pcs_equilibrium_factor(e, is_singular));
        if (*is_singular) e->bad_equation = pcs_bordered_bad_equation(e->solver);
        bool may_move = e->system->is_linear && e->shift == 0.0;
        *is_singular = *is_singular || (may_move && newton_is_free(e));
        e->is_factored = !*is_singular;
    }
    if (*is_singular) return PCS_OK;
    // Skips the test for a hidden singularity while joints are off their targets: they move a model without force.
    bool is_driven = !pcs_equilibrium_rows_fit(e);
    pcs_equilibrium_solve(e);
    *is_singular = !is_driven && newton_is_hidden(e);
    return PCS_OK;
}

// Applies the correction, halved until the residual falls, as sliding directions that rotate make it nonlinear.
static void newton_search(pcs_equilibrium *e, double *q)
{
    double before = e->left;
    pcs_equilibrium_keep(e, q, &e->safe);
    for (int k = 0; k < MOST_PARTS; k++) {
        pcs_equilibrium_correct(e, q);
        equilibrium_look(e, q);
        if (e->left < before || pcs_equilibrium_is_round_off(e)) return;
        memcpy(q, e->safe.q, (size_t)e->system->nq * sizeof *q);
        memcpy(e->lam, e->safe.lam, (size_t)e->nall * sizeof *e->lam);
        for (int i = 0; i < e->system->nv; i++) e->dq[i] *= 0.5;
        for (int j = 0; j < e->nall; j++) e->dlam[j] *= 0.5;
    }
    pcs_equilibrium_correct(e, q);
}

// Makes one correction; the outcome is other than PCS_STATICS_DONE if there is none.
static pcs_status newton_correct(pcs_equilibrium *e, double *q, bool rows_changed, pcs_statics_outcome *outcome)
{
    bool is_singular = false;
    PCS_TRY(newton_try(e, q, rows_changed, &is_singular));
    if (is_singular && newton_can_drift(e)) return newton_drift(e, q, outcome);
    if (is_singular && e->is_soft && e->shift == 0.0) {
        e->shift = pcs_equilibrium_least_mu(e);
        PCS_TRY(newton_try(e, q, true, &is_singular));
    }
    // Contacts that all slide one way for the moment: a step against inertia sorts them.
    bool is_tried = is_singular && e->slides_in_planes && e->ntried < MOST_TRIED;
    if (is_tried) {
        e->ntried++;
        e->shift = INERTIA * pcs_equilibrium_top(e);
        PCS_TRY(newton_try(e, q, true, &is_singular));
        e->shift = 0.0;
        e->is_factored = false;
    }
    *outcome = is_singular ? PCS_STATICS_SINGULAR : PCS_STATICS_DONE;
    if (is_singular) return PCS_OK;
    pcs_equilibrium_judge(e, q, 0.0);
    friction_way way = friction_judge(e);
    if (way == FRICTION_BACK) e->correction = INFINITY;
    else if (way == FRICTION_CURVED) newton_search(e, q);
    else pcs_equilibrium_correct(e, q);
    return PCS_OK;
}

// Returns true if the residual is small, or no longer falls because it is round-off.
bool pcs_equilibrium_is_close(const pcs_equilibrium *e, double before)
{
    bool falls = e->left < FALLS * before, is_round_off = pcs_equilibrium_is_round_off(e);
    if (!e->is_judged || !pcs_equilibrium_rows_fit(e)) return false;
    if (e->left <= DBL_EPSILON * e->weight || (is_round_off && !falls)) return true;
    if (e->system->is_linear) return e->left <= e->round_off;
    // Ends at round-off if motions without stiffness exist: further corrections would only move the model along them.
    if (e->is_soft && e->left <= fmin(e->round_off, TOLERANCE * e->weight)) return true;
    return e->shift == 0.0 && e->correction <= TOLERANCE;
}

// Removes negative contact forces, which are round-off of contacts between touching and not touching.
static void newton_clear_round_off(pcs_equilibrium *e)
{
    for (int j = 0; j < e->system->nrow; j++)
        if (!e->system->rows[j].is_bilateral) e->lam[j] = fmax(e->lam[j], 0.0);
    friction_settle(e);
}

// Evaluates the state. Returns true if the active set has changed; q may return to the start of the load step.
static bool newton_evaluate(pcs_equilibrium *e, double *q)
{
    if (e->iterations == 0) e->first_weight = INFINITY;
    bool goes_back = e->iterations > 0 && friction_yield(e);
    if (goes_back) memcpy(q, e->last.q, (size_t)e->system->nq * sizeof *q);
    bool rows_changed = pcs_equilibrium_evaluate(e, q);
    if (e->iterations == 0) e->first_weight = e->weight;
    return rows_changed || goes_back;
}

pcs_status pcs_equilibrium_find(pcs_equilibrium *e, double load, double *q, pcs_statics_outcome *outcome)
{
    double before = INFINITY;
    // Every contact may open and close a few times on the way, with two corrections each.
    int most = MOST_ITERATIONS + ROW_ITERATIONS * e->nall + (e->slides_in_planes ? PLANE_ITERATIONS : 0);
    pcs_equilibrium_begin(e, load);
    e->ntried = 0;
    for (e->iterations = 0;; e->iterations++, e->total++) {
        bool rows_changed = newton_evaluate(e, q);
        *outcome = PCS_STATICS_DIVERGED;
        if (pcs_equilibrium_has_diverged(e, q)) return PCS_OK;
        *outcome = PCS_STATICS_DONE;
        if (!rows_changed && pcs_equilibrium_is_close(e, before)) {
            newton_clear_round_off(e);
            return PCS_OK;
        }
        *outcome = PCS_STATICS_SLOW;
        if (e->iterations == most) return PCS_OK;
        before = rows_changed ? INFINITY : e->left;
        PCS_TRY(newton_correct(e, q, rows_changed, outcome));
        if (*outcome != PCS_STATICS_DONE) return PCS_OK;
    }
}
