// Paths of equilibria by load steps and by arc length, their messages and their files.

#include "analysis/statics.h"

#include "analysis/stiffness.h"
#include "core/archive.h"
#include "core/dense.h"
#include "core/rounding.h"
#include "core/text.h"
#include "fe/rigid.h"
#include "linsolve/bordered.h"
#include "output/file.h"
#include "output/frames.h"
#include "output/tally.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// One equilibrium, and a path of them; private to this folder.

typedef enum pcs_statics_outcome {
    PCS_STATICS_DONE,
    PCS_STATICS_SLOW,     // too many iterations
    PCS_STATICS_SINGULAR, // singular tangent, at `bad_equation`
    PCS_STATICS_DIVERGED, // not finite or too far away
    PCS_STATICS_JUMPED    // to an equilibrium that no stable path connects with the last one
} pcs_statics_outcome;

enum { PCS_STATICS_SETS = 256 };

// A saved state to return to.
typedef struct pcs_kept {
    double *q, *lam;     // [nq], [nall]
    unsigned char *held; // [nall]
    double *along;       // [ntangent] directions of friction, NULL if there is none
} pcs_kept;

// Norms of forces are roots of energies, |r| = sqrt(sum (scale_i r_i)^2).
typedef struct pcs_equilibrium {
    pcs_context *ctx;
    pcs_system *system;
    double time;
    double load;         // load factor s
    pcs_stiffness stiff; // K with the terms of multipliers, and M
    pcs_matrix D;        // M, with scaled stiffness in place of zero masses
    pcs_matrix A;        // K + mu D
    pcs_bordered *solver;
    bool is_soft;                    // the model has motions that only loads and contacts resist
    double mu;                       // 1/s^2, 0 unless K is singular or a step of relaxation is made
    bool is_anchored;                // mu D ties the model to its last step of relaxation
    double *zero;                    // [nv] velocity, zero
    double *f, *idle;                // [nv] residual, and force without loads
    double *loads;                   // [nv]
    double *size;                    // [nv] sum of the absolute terms of f
    double *dq;                      // [nv]
    double *work;                    // [nv]
    double *scale, *stiffness;       // [nv] 1 / sqrt(K_ii) of the reference state, and K_ii
    bool has_friction;               // rows are followed by those of T
    bool slides_in_planes;           // some contact has two tangents: its friction is nonlinear
    bool is_frozen;                  // contact status is fixed
    bool holds_touching;             // contacts that touch at the start are held
    int nall;                        // rows, and tangents with friction
    pcs_rows *R, *H;                 // [nall x nv] rows of the gaps, and directions of the forces
    pcs_kept last;                   // last equilibrium, from which sliding is measured
    pcs_kept safe;                   // last step of relaxation
    double first_weight;             // `weight` at the start of the load step
    double *along;                   // [ntangent] unit direction of the friction force of a sliding contact
    unsigned char *has_direction;    // [nrow] kind of the term in K for the direction of sliding
    int *nback;                      // [nrow] number of consecutive corrections that would reverse its sliding
    double *lam, *dlam;              // [nall]
    double *gap, *gap0;              // [nall] at q, for tangents sliding, m; and at the start on joints
    double *target;                  // [nall] gap required of a held row
    double *blur;                    // [nall] round-off of the gap
    double *gap_noise, *lam_noise;   // [nall] effect of round-off on gaps and forces
    bool has_factors;                // the solver has factors of a matrix of this load step, for the rows in `held`
    unsigned char *held;             // [nall] rows of the current active set
    int nset, nreturn;               // number of active sets in this load step, and of those that had occurred before
    uint64_t sets[PCS_STATICS_SETS]; // hashes of the last active sets
    double left, weight;             // |f|, and the largest of the norms of loads, internal forces and row forces
    double round_off;                // DBL_EPSILON |size|, the part of |f| that is round-off
    double correction;               // last correction, relative; infinite if there is nothing to compare it with
    int iterations, total;
    int bad_equation;
    pcs_rigid rigid; // motions that only contacts and prestress resist
} pcs_equilibrium;

typedef struct arc arc; // a path by arc length
// Names the condition that ends an arc: plane at a given arc, load factor, zero gap or zero force of a row.
typedef enum arc_kind { ARC_PLANE, ARC_LOAD, ARC_GAP, ARC_FORCE } arc_kind;

typedef struct arc_goal {
    arc_kind kind;
    double value; // arc, or load factor
    int row;      // row with zero gap or force
} arc_goal;

// A path of equilibria in progress.
typedef struct pcs_ramp {
    pcs_equilibrium e;
    pcs_statics *out;
    const pcs_statics_options *options;
    pcs_statics_watch *watch; // NULL if nobody watches
    void *user;
    double *q;                 // [nq]
    double *gap;               // [nrow] at the last equilibrium
    double *drive, *drive_now; // [nrow] part of the gap due to driven joints, there and at q
    double *loads, *friction;  // [nv] forces on the model there
    double stiffness;          // smallest stiffness over mass at the start, 1/s^2, NaN if unknown
    bool in_time;              // loads are complete and time advances
} pcs_ramp;

// Evaluates equilibrium equations at a state: residual and its rounding errors, closed contacts, tangent and its
// factorization.
//
// Rounding errors:
//
//   |f_i| <= DBL_EPSILON S_i,   S_i = |load_i| + |internal_i| + sum_j |K_ij| (|q_j| + c_j) + sum_j |G_ji lam_j|
//   |g_j| <= DBL_EPSILON sum_i |G_ji| (|q_i| + x_i) + DBL_EPSILON |g_j0|
//
// each up to a small factor, that of the operations in a sum. q is stored with a relative error of DBL_EPSILON, and K
// makes a force of it. In a nonlinear element strains are differences of lengths, so that a displacement below
// DBL_EPSILON times the length c of the cell is lost as well. A gap is a difference of positions x.
//
// The status of a contact is wrong if it is open with a negative gap, or closed with a tensile force. Only the worst
// ones change, the deepest and those that pull most: a beam that lifts off pulls and pushes its further supports in
// turn, with decreasing force, and only the first of them is wrong. If sets of contacts return, only the last wrong
// contact changes from then on (Murty 1974), which terminates for every positive definite problem.
//
// A contact that barely touches, as under the part of a beam that lies flat, has a gap and a force of round-off only.
// Its status stays as long as both are below the effect of the rounding errors of all forces and gaps, estimated as
// A^-1 r with errors r of random signs.

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

// Kinds of the term in K of a contact that slides in a plane: none yet, derivative of its direction, or drag.
enum { NO_DIRECTION, NEWTON, DRAG };

static const double FACTOR = 8.0;   // safety factor of rounding errors
static const double HEAVY = 1e6;    // stiffness across a new direction, relative to that of the model
static const double SHRINK = 0.9;   // relative to the sliding: a larger correction reverses it
static const double ABSURD = 100.0; // relative to all forces at the start of a load step: larger ones are absurd

static bool friction_is_present(const pcs_equilibrium *e, int j)
{
    return e->has_friction && e->system->rows[j].ntangent > 0;
}

static int friction_first(const pcs_equilibrium *e, int j)
{
    return e->system->nrow + e->system->rows[j].first_tangent;
}

static bool friction_slides(const pcs_equilibrium *e, int j)
{
    return friction_is_present(e, j) && e->held[j] && !e->held[friction_first(e, j)];
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
    PCS_TAKE(s->ctx, e->has_direction, s->nrow, "friction");
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
    if (!friction_is_present(e, j) || !e->held[j]) return false;
    int first = friction_first(e, j);
    if (e->held[first]) {
        double noise = friction_size(e, j, e->lam_noise) + row->friction * e->lam_noise[j];
        double most = row->friction * fmax(e->lam[j], 0.0);
        return friction_size(e, j, e->lam) > most + FACTOR * (noise + DBL_EPSILON * most);
    }
    if (e->nback[j] > MOST_BACK) return true;
    double increment = 0.0, noise = friction_size(e, j, e->gap_noise) + friction_size(e, j, e->blur);
    for (int t = 0; t < row->ntangent; t++) increment += e->gap[first + t] * e->along[row->first_tangent + t];
    return increment > FACTOR * noise;
}

// Changes a contact from sticking to sliding along the force that held it, or back.
static void friction_change(pcs_equilibrium *e, int j)
{
    const pcs_row *row = &e->system->rows[j];
    int first = friction_first(e, j);
    bool sticks = e->held[first];
    e->has_direction[j] = NO_DIRECTION;
    e->nback[j] = 0;
    double size = friction_size(e, j, e->lam);
    for (int t = 0; t < row->ntangent; t++) {
        e->held[first + t] = !sticks;
        if (sticks) e->along[row->first_tangent + t] = size > 0.0 ? e->lam[first + t] / size : 0.0;
    }
}

// Sets the friction of sliding contacts from their normal forces, and updates R and H.
static void friction_converge(pcs_equilibrium *e)
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
static bool friction_reverse(pcs_equilibrium *e)
{
    double most = 0.0;
    for (int j = 0; e->has_friction && j < e->system->nrow; j++) {
        const pcs_row *row = &e->system->rows[j];
        if (row->ntangent != 2 || !friction_slides(e, j)) continue;
        const double *increment = e->gap + friction_first(e, j);
        double *u = e->along + row->first_tangent;
        double size = hypot(increment[0], increment[1]),
               noise = friction_size(e, j, e->blur) + friction_size(e, j, e->gap_noise);
        if (!(size > FACTOR * noise)) continue;
        // Compares with the round-off of the direction.
        most = fmax(most, hypot(u[0] + increment[0] / size, u[1] + increment[1] / size) /
                              (FACTOR * (noise / size + DBL_EPSILON)));
        for (int t = 0; t < 2; t++) u[t] = -increment[t] / size;
        if (e->has_direction[j] == NO_DIRECTION) e->has_direction[j] = NEWTON;
    }
    if (most > 0.0) friction_converge(e);
    return most > 1.0;
}

// Returns true if the correction dq would reverse the sliding of row j.
static bool friction_reverses(const pcs_equilibrium *e, int j)
{
    const double *x = e->gap + friction_first(e, j);
    double along = 0.0;
    for (int t = 0; t < 2; t++) along += x[t] * pcs_rows_dot(e->system->T, e->system->rows[j].first_tangent + t, e->dq);
    return along < -SHRINK * (x[0] * x[0] + x[1] * x[1]);
}

// Classifies a correction: no contact slides in a plane, directions rotate, one has a drag, one reverses (not applied).
typedef enum friction_direction {
    FRICTION_STRAIGHT,
    FRICTION_CURVED,
    FRICTION_DRAGS,
    FRICTION_BACK
} friction_direction;

static friction_direction friction_judge(pcs_equilibrium *e)
{
    friction_direction increment = FRICTION_STRAIGHT;
    for (int j = 0; e->slides_in_planes && j < e->system->nrow; j++) {
        if (e->system->rows[j].ntangent != 2 || !friction_slides(e, j) || e->has_direction[j] == NO_DIRECTION) continue;
        bool is_drag = e->has_direction[j] == DRAG;
        if (increment == FRICTION_STRAIGHT) increment = FRICTION_CURVED;
        if (is_drag) increment = increment == FRICTION_BACK ? increment : FRICTION_DRAGS;
        e->has_direction[j] = NEWTON;
        if (is_drag) continue;
        bool reverses = friction_reverses(e, j);
        e->nback[j] = reverses ? e->nback[j] + 1 : 0;
        if (!reverses) continue;
        e->has_direction[j] = DRAG;
        increment = FRICTION_BACK;
    }
    return increment;
}

// Returns the norm of the force that a unit multiplier exerts.
static double equilibrium_row_size(const pcs_equilibrium *e, int row)
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
    if (!friction_is_present(e, j) || !e->held[j] || !e->held[friction_first(e, j)]) return 0.0;
    double most = e->system->rows[j].friction * fmax(e->lam[j], 0.0);
    return fmax(friction_size(e, j, e->lam) - most, 0.0) * equilibrium_row_size(e, friction_first(e, j));
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
    friction_converge(e);
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
    friction_converge(e);
    return has_changed;
}

// Updates the tangents of a contact that has closed, which sticks at first, or opened.
static void friction_flip(pcs_equilibrium *e, int j)
{
    if (!friction_is_present(e, j)) return;
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
    bool has_slid = e->has_direction[j] != NO_DIRECTION && size > FACTOR * friction_size(e, j, e->blur);
    if (has_slid) return row->friction * fmax(e->lam[j], 0.0) / size;
    // Starts a new direction along the force.
    if (e->has_direction[j] != NO_DIRECTION) return 0.0;
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
        double stiff = friction_across(e, j), less = e->has_direction[j] == DRAG ? 0.0 : 1.0;
        const double *u = e->along + row->first_tangent;
        if (!(stiff > 0.0)) continue;
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++)
                friction_add(e, row->first_tangent + a, row->first_tangent + b,
                             stiff * ((a == b ? 1.0 : 0.0) - less * u[a] * u[b]));
    }
}

enum { PROBES = 2, MOST_RETURNS = 2 };

static const double TERMS = 16.0; // number of operations in a sum, as rounding errors add up
static const double WORST = 0.5;  // relative to the worst: these contacts change
static const double WHOLE_TURN = 6.283185307179586476925;

static void equilibrium_update_tangent(pcs_equilibrium *e, const double *q)
{
    pcs_system *s = e->system;
    if (s->tangents_vary) s->ops->update(s, pcs_at_rest(e->time, q, e->zero, e->load), PCS_TANGENTS, NULL);
    pcs_stiffness_update_K(&e->stiff, pcs_at(e->time, q, NULL), e->lam);
    pcs_matrix_combine(&e->A, (const double[3]){ e->mu, 0.0, 1.0 }, &e->D, NULL, &e->stiff.K);
    friction_stiffen(e);
}

// Factors the tangent at q.
static pcs_status equilibrium_factor(pcs_equilibrium *e, const double *q, bool *is_singular)
{
    *is_singular = false;
    e->has_factors = false;
    equilibrium_update_tangent(e, q);
    PCS_TRY(pcs_bordered_factor(e->solver, e->held, is_singular));
    e->has_factors = !*is_singular;
    if (*is_singular) e->bad_equation = pcs_bordered_bad_equation(e->solver);
    return PCS_OK;
}

// Returns the largest K_ii / M_ii, 1/s^2.
static double equilibrium_top(const pcs_equilibrium *e)
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
    double top = equilibrium_top(e), one = top > 0.0 ? top : 1.0;
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

static void kept_copy(const pcs_equilibrium *e, const pcs_kept *from, const pcs_kept *to)
{
    memcpy(to->q, from->q, (size_t)e->system->nq * sizeof *to->q);
    memcpy(to->lam, from->lam, (size_t)e->nall * sizeof *to->lam);
    memcpy(to->held, from->held, (size_t)e->nall);
    if (e->has_friction) memcpy(to->along, from->along, (size_t)e->system->ntangent * sizeof *to->along);
}

static void equilibrium_keep(const pcs_equilibrium *e, double *q, const pcs_kept *to)
{
    kept_copy(e, &(pcs_kept){ q, e->lam, e->held, e->along }, to);
}

static void equilibrium_go_back(const pcs_equilibrium *e, const pcs_kept *from, double *q)
{
    kept_copy(e, from, &(pcs_kept){ q, e->lam, e->held, e->along });
}

static pcs_status equilibrium_take(pcs_equilibrium *e)
{
    pcs_system *s = e->system;
    pcs_context *ctx = e->ctx;
    PCS_TAKE_EACH(ctx, s->nv, "equilibrium", double, &e->zero, &e->f, &e->idle, &e->loads, &e->size, &e->dq, &e->work,
                  &e->scale, &e->stiffness);
    PCS_TAKE_EACH(ctx, e->nall, "equilibrium", double, &e->lam, &e->dlam, &e->gap, &e->gap0, &e->target, &e->blur,
                  &e->gap_noise, &e->lam_noise);
    PCS_TAKE(ctx, e->held, e->nall, "equilibrium");
    PCS_TRY(equilibrium_take_kept(e, &e->last));
    PCS_TRY(equilibrium_take_kept(e, &e->safe));
    PCS_TRY(pcs_stiffness_create(s, e->has_friction, &e->stiff));
    e->A.pattern = e->D.pattern = e->stiff.K.pattern;
    PCS_TAKE(ctx, e->A.value, e->A.pattern->nnz, "equilibrium");
    PCS_TAKE(ctx, e->D.value, e->A.pattern->nnz, "equilibrium");
    return PCS_OK;
}

static double equilibrium_norm(const pcs_equilibrium *e, const double *x)
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
    e->round_off = DBL_EPSILON * equilibrium_norm(e, e->size);
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

// Returns true if the residual and the errors of rows are no more than round-off of forces and gaps.
static bool equilibrium_is_round_off(const pcs_equilibrium *e)
{
    return e->left <= TERMS * e->round_off;
}

static bool equilibrium_rows_fit(const pcs_equilibrium *e)
{
    for (int j = 0; j < e->nall; j++)
        if (e->held[j] && !(fabs(e->gap[j] - e->target[j]) <= TERMS * e->blur[j])) return false;
    return true;
}

// Returns 1 or -1, in a pseudo-random pattern.
static double rows_sign(int i, int probe)
{
    return sin(12.9898 * i + 78.233 * probe + 1.0) < 0.0 ? -1.0 : 1.0;
}

// Estimates round-off of row gaps and forces: solves with the last factors for rounding errors of random signs.
static void equilibrium_find_noise(pcs_equilibrium *e)
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

static bool equilibrium_row_is_wrong(const pcs_equilibrium *e, int j)
{
    if (e->system->rows[j].is_bilateral) return false;
    if (e->held[j]) return e->lam[j] < -FACTOR * e->lam_noise[j];
    return e->gap[j] < -FACTOR * (e->blur[j] + e->gap_noise[j]);
}

static void rows_flip(pcs_equilibrium *e, int j)
{
    e->held[j] = !e->held[j];
    if (!e->held[j]) e->lam[j] = 0.0;
    friction_flip(e, j);
}

// Changes the status of the worst contacts, or with is_single of the last wrong one. Returns true if any has changed.
static bool rows_choose(pcs_equilibrium *e, bool is_single)
{
    double pull = 0.0, depth = 0.0;
    int last = -1;
    for (int j = 0; j < e->system->nrow; j++) {
        if (!equilibrium_row_is_wrong(e, j)) continue;
        last = j;
        if (e->held[j]) pull = fmin(pull, e->lam[j]);
        else depth = fmin(depth, e->gap[j]);
    }
    if (is_single && last >= 0) rows_flip(e, last);
    if (is_single) return last >= 0;
    for (int j = 0; j <= last; j++)
        if (equilibrium_row_is_wrong(e, j) && (e->held[j] ? e->lam[j] <= WORST * pull : e->gap[j] <= WORST * depth))
            rows_flip(e, j);
    return last >= 0;
}

// Changes wrong contacts; once none is open or closed by mistake, sticking and sliding. Returns true if it changes any.
static bool equilibrium_choose_rows(pcs_equilibrium *e)
{
    bool is_single = e->nreturn > MOST_RETURNS;
    equilibrium_find_noise(e);
    bool has_changed = rows_choose(e, is_single);
    if (has_changed) friction_converge(e);
    else has_changed = friction_choose(e, is_single);
    if (!has_changed) return friction_reverse(e);
    // Counts active sets that return, by their hashes.
    uint64_t name = pcs_hash(PCS_HASH_START, e->held, (size_t)e->nall * sizeof *e->held);
    for (int k = 0; k < e->nset && k < PCS_STATICS_SETS; k++) e->nreturn += e->sets[k] == name;
    e->sets[e->nset++ % PCS_STATICS_SETS] = name;
    return true;
}

// Turns f into the residual f + G^T lam, less mu D (q - q_n) if anchored; sets its norm, its scale and its round-off.
static void equilibrium_residual(pcs_equilibrium *e, const double *q)
{
    pcs_system *s = e->system;
    s->ops->force(s, pcs_at_rest(e->time, q, e->zero, 0.0), e->idle);
    s->ops->force(s, pcs_at_rest(e->time, q, e->zero, e->load), e->f);
    for (int i = 0; i < s->nv; i++) e->loads[i] = e->f[i] - e->idle[i];
    e->weight = fmax(equilibrium_norm(e, e->loads), equilibrium_norm(e, e->idle));
    equilibrium_find_sizes(e, q);
    memset(e->work, 0, (size_t)s->nv * sizeof *e->work);
    for (int j = 0; j < e->nall; j++)
        if (e->lam[j] != 0.0) pcs_rows_add_transposed(e->R, j, e->lam[j], e->work);
    e->weight = fmax(e->weight, equilibrium_norm(e, e->work));
    for (int i = 0; i < s->nv; i++) e->f[i] += e->work[i];
    if (e->is_anchored) {
        pcs_difference(&s->rotations, e->safe.q, q, e->work);
        pcs_matrix_add_multiply(&e->D, -e->mu, e->work, e->f);
    }
    e->left = equilibrium_norm(e, e->f);
}

// Evaluates directions of rows and gaps at q.
static void equilibrium_place(pcs_equilibrium *e, const double *q)
{
    pcs_system *s = e->system;
    if (s->row_set.vary) pcs_system_aim(s, pcs_at(e->time, q, NULL));
    pcs_system_gaps(s, pcs_at(e->time, q, NULL), e->gap);
    for (int j = 0; j < s->nrow; j++)
        if (s->rows[j].is_revolute_gap) e->gap[j] = e->target[j] + remainder(e->gap[j] - e->target[j], WHOLE_TURN);
    friction_place(e, q);
}

// Evaluates gaps, active set and residual at q. Returns true if the active set has changed.
static bool equilibrium_evaluate(pcs_equilibrium *e, const double *q)
{
    for (int j = 0; j < e->system->nrow; j++) e->target[j] = (1.0 - e->load) * e->gap0[j];
    equilibrium_place(e, q);
    equilibrium_find_blur(e, q);
    equilibrium_residual(e, q);
    if (e->is_frozen || !equilibrium_choose_rows(e)) return false;
    equilibrium_residual(e, q);
    return true;
}

// Solves for dq and dlam with the current factors; equilibrium_correct applies them.
static void equilibrium_solve(pcs_equilibrium *e)
{
    memcpy(e->dq, e->f, (size_t)e->system->nv * sizeof *e->f);
    for (int j = 0; j < e->nall; j++) {
        double error = e->held[j] ? e->target[j] - e->gap[j] : 0.0;
        // Redundant rows would turn rounding errors into forces that contradict each other.
        e->dlam[j] = fabs(error) <= e->blur[j] ? 0.0 : error;
    }
    pcs_bordered_solve(e->solver, e->dq, e->dlam);
    for (int j = 0; j < e->nall; j++) e->dlam[j] = -e->dlam[j];
}

// Begins the load step to load factor s; resets counters and flags of the last one.
static void equilibrium_begin(pcs_equilibrium *e, double load)
{
    e->load = load;
    e->mu = 0.0;
    e->correction = INFINITY;
    e->has_factors = false;
    e->nset = e->nreturn = 0;
}

// Creates the workspace at q; the caller has set has_friction and holds_touching of `e`.
static pcs_status equilibrium_create(const pcs_analysis *on, double time, double *q, pcs_equilibrium *e)
{
    pcs_system *s = on->system;
    e->ctx = on->ctx;
    e->system = s;
    e->time = time;
    e->bad_equation = -1;
    if (s->mass_varies) s->ops->update(s, pcs_at(e->time, q, NULL), PCS_MASS, NULL);
    if (s->row_set.vary) pcs_system_aim(s, pcs_at(e->time, q, NULL));
    PCS_TRY(friction_create(e));
    PCS_TRY(equilibrium_take(e));
    equilibrium_keep(e, q, &e->last);
    pcs_stiffness_update_M(&e->stiff);
    equilibrium_update_tangent(e, q);
    equilibrium_make_scales(e);
    if (s->row_set.ndriven > 0) pcs_system_drives(s, time, e->target,
                                                  e->blur); // by full rotations, too
    equilibrium_place(e, q);
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
// no longer falls and is no more than round-off explains: forces of slender beams round off in their axial part, far
// above the loads that bend them, and yet move nothing. Where a motion is without stiffness, K + mu D takes the place
// of K, with the smallest mu that is not lost in round-off.

static const double TOLERANCE = 1e-10; // last correction: the next one is round-off
static const double FALLS = 0.5;       // ratio of consecutive residuals that still is progress
static const double ASTRAY = 1e6;      // displacement, relative to the size of the model, that means divergence
static const double SINGULAR = 1e14;   // ratio of |K dq| terms to the force that made dq: K is singular

static const double ERRORS = 50.0; // number of rounding errors that may look like a stiffness
static const double LEAST = 1e-12; // mu relative to the largest K_ii / M_ii: round-off of K is 1e-4 of it

enum { MOST_ITERATIONS = 30, ROW_ITERATIONS = 8, PLANE_ITERATIONS = 100, MOST_PARTS = 12 };

// Returns the smallest mu, 1/s^2, that makes a singular K regular as K + mu D in double precision; 0 if K is zero.
static double equilibrium_least_mu(const pcs_equilibrium *e)
{
    return fmax(LEAST * equilibrium_top(e), pcs_stiffness_blur(&e->stiff, &e->D, e->lam));
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
    double within = equilibrium_norm(e, e->work);
    return !(within <= SINGULAR * fmax(e->left, e->round_off));
}

static bool equilibrium_has_diverged(const pcs_equilibrium *e, const double *q)
{
    // A linear system that is held responds to loads of any size in proportion.
    double far = e->system->is_linear && !e->is_soft ? INFINITY : ASTRAY;
    for (int i = 0; i < e->system->nv; i++)
        if (!(fabs(q[i]) <= far * e->system->scale.model[i])) return true;
    return !isfinite(e->left);
}

// Sets `correction` to sqrt(energy of the correction / 2 strain energy), with an energy of at least `more`, J.
static void equilibrium_judge(pcs_equilibrium *e, const double *q, double more)
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

static void equilibrium_correct(pcs_equilibrium *e, double *q)
{
    pcs_retract(&e->system->rotations, q, e->dq, q);
    for (int j = 0; j < e->nall; j++) e->lam[j] += e->dlam[j];
    friction_converge(e);
}

// Factors the tangent if it has changed, and solves for dq; *is_singular also if round-off hides it.
static pcs_status newton_try(pcs_equilibrium *e, const double *q, bool has_changed, bool *is_singular)
{
    *is_singular = false;
    if (!e->has_factors || has_changed || !e->system->is_linear || e->slides_in_planes) {
        PCS_TRY(equilibrium_factor(e, q, is_singular));
        if (e->system->is_linear && e->mu == 0.0 && newton_is_free(e)) *is_singular = true;
        e->has_factors = !*is_singular;
    }
    if (*is_singular) return PCS_OK;
    // Skips the test for a hidden singularity while joints are off their targets: they move a model without force.
    bool is_driven = !equilibrium_rows_fit(e);
    equilibrium_solve(e);
    *is_singular = !is_driven && newton_is_hidden(e);
    return PCS_OK;
}

// Solves for dq with the tangent at q; *is_good is false if it is singular or dq is not finite.
static pcs_status equilibrium_direct(pcs_equilibrium *e, const double *q, bool *is_good)
{
    bool is_singular = false;
    PCS_TRY(equilibrium_factor(e, q, &is_singular));
    *is_good = !is_singular;
    if (is_singular) return PCS_OK;
    equilibrium_solve(e);
    *is_good = isfinite(pcs_stride(e->system, e->dq));
    return PCS_OK;
}

// Applies the correction, halved until the residual falls, as sliding directions that rotate make it nonlinear.
static void newton_search(pcs_equilibrium *e, double *q)
{
    double before = e->left;
    equilibrium_keep(e, q, &e->safe);
    for (int k = 0; k < MOST_PARTS; k++) {
        equilibrium_correct(e, q);
        equilibrium_place(e, q);
        friction_reverse(e);
        equilibrium_residual(e, q);
        if (e->left < before || equilibrium_is_round_off(e)) return;
        memcpy(q, e->safe.q, (size_t)e->system->nq * sizeof *q);
        memcpy(e->lam, e->safe.lam, (size_t)e->nall * sizeof *e->lam);
        for (int i = 0; i < e->system->nv; i++) e->dq[i] *= 0.5;
        for (int j = 0; j < e->nall; j++) e->dlam[j] *= 0.5;
    }
    equilibrium_correct(e, q);
}

// Makes one correction; the outcome is other than PCS_STATICS_DONE if there is none.
static pcs_status newton_correct(pcs_equilibrium *e, double *q, bool rows_changed, pcs_statics_outcome *outcome)
{
    bool is_singular = false;
    PCS_TRY(newton_try(e, q, rows_changed, &is_singular));
    if (is_singular && e->is_soft && e->mu == 0.0) {
        e->mu = equilibrium_least_mu(e);
        PCS_TRY(newton_try(e, q, true, &is_singular));
    }
    *outcome = is_singular ? PCS_STATICS_SINGULAR : PCS_STATICS_DONE;
    if (is_singular) return PCS_OK;
    equilibrium_judge(e, q, 0.0);
    friction_direction increment = friction_judge(e);
    if (increment == FRICTION_BACK) e->correction = INFINITY;
    else if (increment == FRICTION_CURVED) newton_search(e, q);
    else equilibrium_correct(e, q);
    return PCS_OK;
}

// Returns true if the residual is small, or no longer falls because it is round-off.
static bool equilibrium_is_close(const pcs_equilibrium *e, double before)
{
    bool falls = e->left < FALLS * before, is_round_off = equilibrium_is_round_off(e);
    if (!equilibrium_rows_fit(e)) return false;
    if (e->left <= DBL_EPSILON * e->weight || (is_round_off && !falls)) return true;
    if (e->system->is_linear) return e->left <= e->round_off;
    // Ends at round-off if motions without stiffness exist: further corrections would only move the model along them.
    if (e->is_soft && e->left <= fmin(e->round_off, TOLERANCE * e->weight)) return true;
    return e->mu == 0.0 && e->correction <= TOLERANCE;
}

// Evaluates the state. Returns true if the active set has changed; q may return to the start of the load step.
static bool newton_evaluate(pcs_equilibrium *e, double *q)
{
    if (e->iterations == 0) e->first_weight = INFINITY;
    bool goes_back = e->iterations > 0 && friction_yield(e);
    if (goes_back) memcpy(q, e->last.q, (size_t)e->system->nq * sizeof *q);
    bool rows_changed = equilibrium_evaluate(e, q);
    if (e->iterations == 0) e->first_weight = e->weight;
    return rows_changed || goes_back;
}

static bool arc_is_there(arc *a, const arc_goal *goal);
static pcs_status arc_step(arc *a, const arc_goal *goal, pcs_statics_outcome *outcome);

// Moves q and lam to an equilibrium: at the load factor as it is, or with it to the goal on a path (NULL if none).
static pcs_status equilibrium_iterate(pcs_equilibrium *e, double *q, int most, arc *path, const arc_goal *goal,
                                      pcs_statics_outcome *outcome)
{
    double before = INFINITY;
    for (e->iterations = 0;; e->iterations++, e->total++) {
        bool rows_changed = newton_evaluate(e, q);
        *outcome = PCS_STATICS_DIVERGED;
        if (equilibrium_has_diverged(e, q)) return PCS_OK;
        bool is_there = !rows_changed && (path == NULL || arc_is_there(path, goal));
        *outcome = PCS_STATICS_DONE;
        if (is_there && equilibrium_is_close(e, before)) return PCS_OK;
        *outcome = PCS_STATICS_SLOW;
        if (e->iterations == most) return PCS_OK;
        before = rows_changed ? INFINITY : e->left;
        PCS_TRY(path == NULL ? newton_correct(e, q, rows_changed, outcome) : arc_step(path, goal, outcome));
        if (*outcome != PCS_STATICS_DONE) return PCS_OK;
    }
}

// Moves q and lam to the equilibrium at load factor s.
static pcs_status equilibrium_find(pcs_equilibrium *e, double load, double *q, pcs_statics_outcome *outcome)
{
    // Every contact may open and close a few times on the way, with two corrections each.
    int most = MOST_ITERATIONS + ROW_ITERATIONS * e->nall + (e->slides_in_planes ? PLANE_ITERATIONS : 0);
    equilibrium_begin(e, load);
    return equilibrium_iterate(e, q, most, NULL, NULL, outcome);
}

// The path of steepest descent to an equilibrium, for models that only their loads or contacts hold: hanging chains,
// cables, pendulums, what comes to lie on contacts.
//
//   D q' = f(q) + G^T lam,  by backward Euler:   f(q) + G^T lam = mu D (q - q_n),  g = g_s
//
// Every step is solved by Newton's method to a tenth of its residual, with K + mu D regular where K is singular or
// indefinite. mu follows from the stride, the largest change of a coordinate in units of its size: the residual alone
// would move the model by one stride. So mu falls with the residual, and the steps become those of Newton's method,
// which ends the search. A step that does not converge or goes too far is taken back and made with a quarter of the
// stride. A model that is free under its load runs away in a few steps.

static const double FIRST = 0.1;             // stride at first, also when leaving an unstable equilibrium
static const double LARGEST = 1e6;           // largest stride
static const double SMALLEST_STRIDE = 1e-10; // smallest stride: below it there is no path down
static const double LEAP = 4.0;              // number of strides: a longer step has lost its path
static const double TURN = 0.5;              // rad, largest change of an angle
static const double CLOSE = 1e-6;            // residual from which Newton's method is tried
static const double CONVERGED = 0.1;         // relative to the residual before the step: it is solved
static const double UPHILL = 1e-3;           // relative to the residual: root of an energy that counts as zero
static const double MANY = 100.0;            // number of rounding errors likewise
static const double LESS_MU = 0.3;           // factor of mu
static const double NOTHING = 1e-9;          // relative size of a motion that is left after rows: it counts as zero

enum { MOST_STEPS = 1000, MOST_CORRECTIONS = 16, MOST_AIMS = 4, MOST_KICKS = 8, ROUNDS = 3, LAST_ROUNDS = 20 };

// Returns the largest change of a coordinate in x, relative to that of one step.
static double relax_strides(const pcs_equilibrium *e, const double *x, double stride)
{
    double most = 0.0;
    for (int i = 0; i < e->system->nv; i++) {
        double part = e->system->scale.is_angle[i] ? fmin(stride, TURN) : stride;
        most = pcs_larger(most, fabs(x[i]) / (part * e->system->scale.model[i]));
    }
    return most;
}

// Solves for dq with K + mu D, mu so large that no coordinate changes by much more than a stride: what rows couple may
// move more than D predicts. *is_good is false if the matrix is singular or dq is not finite.
static pcs_status relax_aim(pcs_equilibrium *e, const double *q, double stride, bool is_feasible, bool *is_good)
{
    for (int i = 0; i < e->system->nv; i++) e->work[i] = e->f[i] / pcs_matrix_diagonal(&e->D, i);
    e->mu = fmax(relax_strides(e, e->work, stride), equilibrium_least_mu(e));
    for (int k = 0; k < MOST_AIMS; k++) {
        PCS_TRY(equilibrium_direct(e, q, is_good));
        double strides = *is_good ? relax_strides(e, e->dq, stride) : 1.0;
        if (strides <= 2.0 || !is_feasible) return PCS_OK;
        if (k + 1 < MOST_AIMS) e->mu *= strides;
    }
    return PCS_OK;
}

// Makes one step from the evaluated state in `safe` and corrects it until it satisfies backward Euler.
static pcs_status relax_step(pcs_equilibrium *e, double *q, double stride, bool *is_converged)
{
    bool is_good = false, is_feasible = equilibrium_rows_fit(e);
    double before = e->left, last = INFINITY;
    *is_converged = false;
    PCS_TRY(relax_aim(e, q, stride, is_feasible, &is_good));
    double least = fmax(UPHILL * e->left, MANY * e->round_off);
    if (is_good && is_feasible) { // work of A along dq, J: below 0 the step would lead to a state that is not stable
        pcs_matrix_multiply(&e->A, e->dq, e->work);
        is_good = !(pcs_dense_dot(e->system->nv, e->dq, e->work) < -least * least);
    }
    double part = is_good ? fmin(1.0 / relax_strides(e, e->dq, stride), 1.0) : 0.0;
    for (int i = 0; i < e->system->nv; i++) e->dq[i] *= part;
    e->is_anchored = true;
    for (int k = 0; k <= MOST_CORRECTIONS && is_good; k++, e->total++) {
        equilibrium_correct(e, q);
        bool rows_changed = equilibrium_evaluate(e, q);
        if (equilibrium_has_diverged(e, q)) break;
        bool is_round_off = e->left >= 0.5 * last && equilibrium_is_round_off(e);
        *is_converged = !rows_changed && equilibrium_rows_fit(e) && (e->left <= CONVERGED * before || is_round_off);
        if (*is_converged) break;
        last = e->left;
        PCS_TRY(equilibrium_direct(e, q, &is_good));
    }
    e->is_anchored = false;
    pcs_difference(&e->system->rotations, e->safe.q, q, e->work);
    if (is_feasible && !(relax_strides(e, e->work, stride) < LEAP)) *is_converged = false;
    return PCS_OK;
}

// Returns the stiffness over mass of the motion dq, 1/s^2, 0 if it is round-off; scales dq to a largest entry of one
// size of its coordinate.
static double softest_quotient(pcs_equilibrium *e)
{
    const pcs_matrix *K = &e->stiff.K;
    double top = 0.0, sizes = 0.0, largest = pcs_stride(e->system, e->dq);
    for (int j = 0; j < e->system->nv; j++) e->dq[j] /= largest;
    for (int j = 0; j < e->system->nv; j++)
        for (int p = K->pattern->start[j]; p < K->pattern->start[j + 1]; p++) {
            double term = K->value[p] * e->dq[K->pattern->row[p]] * e->dq[j];
            top += term;
            sizes += fabs(term);
        }
    pcs_matrix_multiply(&e->D, e->dq, e->work);
    double mass = pcs_dense_dot(e->system->nv, e->dq, e->work);
    double blur = fmax(DBL_EPSILON * equilibrium_top(e), pcs_stiffness_blur(&e->stiff, &e->D, e->lam));
    return fabs(top / mass) > fmax(blur, ERRORS * DBL_EPSILON * sizes / mass) ? top / mass : 0.0;
}

// Returns the equation with the largest entry of dq.
static int equilibrium_largest(const pcs_equilibrium *e)
{
    int largest = 0;
    for (int i = 1; i < e->system->nv; i++)
        if (fabs(e->dq[i]) > fabs(e->dq[largest])) largest = i;
    return largest;
}

// Finds the softest motion at q that the rows in `held` allow: fills dq with it and *stiffness with its stiffness over
// mass, 1/s^2: INFINITY if rows allow none, below 0 if the state is unstable. Inverse iteration with K + mu D; mu falls
// from above all that a load can destabilise, so that a negative one is met before mu passes it.
static pcs_status equilibrium_softest(pcs_equilibrium *e, const double *q, double *stiffness)
{
    bool is_singular = false;
    *stiffness = 0.0;
    equilibrium_update_tangent(e, q);
    double top = equilibrium_top(e), least = equilibrium_least_mu(e);
    if (!(least > 0.0)) least = 1.0; // no K to compare with
    for (int i = 0; i < e->system->nv; i++) e->dq[i] = (1.0 + 0.5 * sin(1.0 + 2.3 * i)) * e->system->scale.model[i];
    for (e->mu = e->load > 0.0 ? fmax(top, least) : least;; e->mu = fmax(LESS_MU * e->mu, least)) {
        PCS_TRY(equilibrium_factor(e, q, &is_singular));
        int rounds = e->mu > least ? ROUNDS : LAST_ROUNDS;
        if (is_singular) rounds = 0;
        for (int k = 0; k < rounds; k++) {
            double before = pcs_stride(e->system, e->dq);
            pcs_matrix_multiply(&e->D, e->dq, e->work);
            memcpy(e->dq, e->work, (size_t)e->system->nv * sizeof *e->dq);
            pcs_bordered_solve(e->solver, e->dq, NULL);
            *stiffness = INFINITY; // the motion left is round-off
            if (!(pcs_stride(e->system, e->dq) * (top + e->mu) > NOTHING * before)) return PCS_OK;
            *stiffness = softest_quotient(e);
        }
        if (*stiffness < 0.0 || e->mu <= least) return PCS_OK;
    }
}

// Leaves an unstable equilibrium by a displacement along its softest motion, to and fro and farther each time: the
// relaxation may come back.
static pcs_status relax_leave(pcs_equilibrium *e, double *q, int *nkick, bool *is_left)
{
    double stiffness;
    PCS_TRY(equilibrium_softest(e, q, &stiffness));
    *is_left = stiffness < 0.0;
    if (*is_left) ++*nkick;
    for (int i = 0; i < e->system->nv; i++) e->dq[i] *= (*nkick % 2 == 0 ? -FIRST : FIRST) * *nkick;
    if (*is_left) pcs_retract(&e->system->rotations, q, e->dq, q);
    return PCS_OK;
}

// Moves q and lam to an equilibrium at the load factor `load`.
static pcs_status equilibrium_relax(pcs_equilibrium *e, double load, double *q, pcs_statics_outcome *outcome)
{
    double stride = FIRST, close = CLOSE;
    int nkick = 0;
    bool is_converged = false, is_left = false;
    equilibrium_begin(e, load);
    for (int k = 0; k < MOST_STEPS && stride > SMALLEST_STRIDE; k++) {
        equilibrium_evaluate(e, q);
        *outcome = PCS_STATICS_DIVERGED;
        if (equilibrium_has_diverged(e, q)) return PCS_OK;
        equilibrium_keep(e, q, &e->safe);
        if (equilibrium_rows_fit(e) && e->left <= close * e->weight) {
            close *= 0.01;
            is_left = false;
            PCS_TRY(equilibrium_find(e, load, q, outcome));
            if (*outcome == PCS_STATICS_DONE) PCS_TRY(relax_leave(e, q, &nkick, &is_left));
            if (*outcome == PCS_STATICS_DONE && !is_left) return PCS_OK;
            if (nkick > MOST_KICKS) break; // it is unstable
            if (is_left) {
                stride = FIRST;
                close = CLOSE;
                equilibrium_keep(e, q, &e->safe);
            }
            equilibrium_go_back(e, &e->safe, q);
            equilibrium_begin(e, load);
            equilibrium_evaluate(e, q);
        }
        PCS_TRY(relax_step(e, q, stride, &is_converged));
        if (is_converged) {
            if (relax_strides(e, e->work, stride) > 0.25) stride = fmin(2.0 * stride, LARGEST);
        } else {
            equilibrium_go_back(e, &e->safe, q);
            equilibrium_begin(e, load);
            stride *= 0.25;
        }
    }
    *outcome = PCS_STATICS_SLOW;
    return PCS_OK;
}

static pcs_status ramp_follow(pcs_ramp *r);

// Describes in words why there is no equilibrium.

// Writes " at node 17 at (1, 0, 0), direction [0, 1, 0]", or nothing.
static void message_place(const pcs_equilibrium *e, int equation, size_t size, char *text)
{
    text[0] = '\0';
    if (equation < 0 || equation >= e->system->nv) return;
    snprintf(text, size, " at ");
    e->system->ops->describe(e->system, equation, NULL, NULL, size - 4, text + 4);
}

// Returns the row that is farthest from its target in units of round-off, -1 if all are within 16 of them.
static int message_worst_row(const pcs_equilibrium *e)
{
    int worst = -1;
    double most = 16.0;
    for (int j = 0; j < e->system->nrow; j++) {
        double error = e->held[j] ? fabs(e->gap[j] - e->target[j]) : fmax(-e->gap[j], 0.0);
        if (e->system->rows[j].is_bilateral && !e->held[j]) continue;
        if (!(error <= most * e->blur[j])) {
            worst = j;
            most = error / e->blur[j];
        }
    }
    return worst;
}

// Writes the residual of the state evaluated last over its forces, the worst equation and row, and their round-off.
static void statics_describe(const pcs_equilibrium *e, size_t size, char *text)
{
    const pcs_system *s = e->system;
    int worst = 0, row = message_worst_row(e);
    char place[320];
    for (int i = 1; i < s->nv; i++)
        if (!(fabs(e->scale[i] * e->f[i]) <= fabs(e->scale[worst] * e->f[worst]))) worst = i;
    message_place(e, s->nv > 0 ? worst : -1, sizeof place, place);
    double weight = e->weight > 0.0 ? e->weight : 1.0;
    snprintf(text, size,
             "residual %.3g of the loads and internal forces, of which round-off explains %.3g; most, %.3g,%s",
             e->left / weight, e->round_off / weight, s->nv > 0 ? e->f[worst] : 0.0, place);
    if (row < 0) return;
    const pcs_contact_info *contact = &s->contacts[s->rows[row].contact];
    pcs_text_add(text, size, "; %s '%s', point %d, is off by %.3g, where round-off explains %.3g",
                 contact->is_joint ? "joint" : "contact", contact->name, row - contact->first_row,
                 e->held[row] ? e->gap[row] - e->target[row] : e->gap[row], e->blur[row]);
}

// Fails because the model can move; the message names its motions and closes with `ending`.
static pcs_status statics_loose(const pcs_equilibrium *e, const char *ending)
{
    char text[1024];
    pcs_rigid_text(&e->rigid, sizeof text, text);
    return pcs_fail(e->ctx, PCS_BAD_INPUT,
                    "the model is free to move: %s; a static analysis needs supports or joints that prevent this%s",
                    text[0] == '\0' ? "its stiffness matrix is singular" : text, ending);
}

static pcs_status message_singular(const pcs_equilibrium *e, const char *where)
{
    bool has_small = e->system->is_linear && pcs_system_is_mesh(e->system) && !e->has_friction;
    return pcs_fail(
        e->ctx, PCS_BAD_INPUT, "the stiffness matrix is singular%s: something there moves freely%s%s", where,
        e->has_friction ? ", and friction does not hold it ('statics: { friction: false }' leaves it out)" : "",
        has_small ? "; if tension is to hold it, use elements for large displacements: rod_large_2d instead of rod_2d, "
                    "beam_exact_2d instead of beam_timo_2d"
                  : "");
}

static const char *statics_reason(pcs_statics_outcome outcome)
{
    static const char *const reasons[] = { "", "Newton's iteration did not converge",
                                           "the tangent stiffness matrix is singular", "the displacements diverge",
                                           "the model jumps" };
    return reasons[outcome];
}

// Writes the advice: a path by arc length if the softest motion of the last equilibrium has lost nine tenths of its
// stiffness, else more steps.
static pcs_status message_advise(pcs_ramp *r, double last, size_t size, char *text)
{
    pcs_equilibrium *e = &r->e;
    char place[320];
    double stiffness = 0.0;
    bool is_known = !e->is_soft && r->stiffness > 0.0 && isfinite(r->stiffness) && last > 0.0;
    if (is_known) PCS_TRY(equilibrium_softest(e, r->q, &stiffness));
    if (!is_known || !(fabs(stiffness) < 0.1 * r->stiffness)) {
        snprintf(text, size,
                 "; the load may be beyond what the model can carry, or too much at once: try more --steps");
        return PCS_OK;
    }
    message_place(e, equilibrium_largest(e), sizeof place, place);
    snprintf(text, size,
             "; the softest motion, largest%s, has %.0f %% of its stiffness left: the model buckles or snaps through "
             "there, where a rising load cannot follow it; say 'statics: { path: arc }', or let the model move with "
             "damping",
             place, 100.0 * fmax(stiffness / r->stiffness, 0.0));
    return PCS_OK;
}

// Returns to the last equilibrium.
static void ramp_undo(pcs_ramp *r)
{
    equilibrium_go_back(&r->e, &r->e.last, r->q);
    equilibrium_place(&r->e, r->q);
}

// Returns to the last equilibrium, at `last`, sets the message about `next`, and returns the status.
static pcs_status statics_fail(pcs_ramp *r, pcs_statics_outcome outcome, double next, double last)
{
    pcs_equilibrium *e = &r->e;
    char residual[512], where[320], advice[768];
    r->out->total = e->total;
    r->out->nfactor = pcs_bordered_factorizations(e->solver);
    equilibrium_evaluate(e, r->q);
    statics_describe(e, sizeof residual, residual);
    bool is_singular = outcome == PCS_STATICS_SINGULAR, begins = e->is_soft && last == 0.0;
    message_place(e, is_singular || begins ? e->bad_equation : -1, sizeof where, where);
    bool touches = false;
    for (int j = 0; j < e->system->nrow; j++) touches = touches || (e->held[j] && !e->system->rows[j].is_bilateral);
    if (r->in_time) e->time = last;
    ramp_undo(r);
    if (r->in_time)
        return pcs_fail(e->ctx, PCS_FAILED, "no equilibrium at t = %.9g s, the last one is at %.9g s: %s (%s)", next,
                        last, statics_reason(outcome), residual);
    equilibrium_begin(e, last > 0.0 ? last : next);
    equilibrium_evaluate(e, r->q);
    if (begins && e->rigid.count > 0 && !(e->has_friction && touches))
        return statics_loose(e, e->system->is_linear ? ", and no contact stops it"
                                                     : ": the loads drive it on, and no contact or tension stops it");
    if (begins || (is_singular && (e->system->is_linear || e->has_friction))) return message_singular(e, where);
    PCS_TRY(message_advise(r, last, sizeof advice, advice));
    return pcs_fail(e->ctx, PCS_FAILED, "no equilibrium at load factor %.6g, the last one is at %.6g: %s%s (%s)%s",
                    next, last, statics_reason(outcome), where, residual, advice);
}

// Stores, restores and reports points of a path of equilibria, with the work of forces between them:
//
//   dW = 1/2 (F_n + F) . dq       of loads and friction
//   dW = 1/2 (lam_n + lam) dm     of a joint, m = g - (its own motion); 0 of one that is not driven
//
// which is exact where all forces are linear in the displacements: their sum is the change of the strain energy, as the
// model is in equilibrium at both ends. Normal forces of contacts do no work, as they act while the gap is closed.
// The rule yet gives 1/2 (lam_n + lam) dg for a contact that closes or opens within the step, as displacements have a
// kink there. The work of the loads by the rule is wrong by the opposite amount, so this term is added to it.

// Computes the displacement [nv] from the last equilibrium to q.
static void ramp_path(const pcs_ramp *r, double *increment)
{
    pcs_difference(&r->e.system->rotations, r->e.last.q, r->q, increment);
}

static void ramp_report(pcs_ramp *r, double load)
{
    pcs_statics *out = r->out;
    pcs_equilibrium *e = &r->e;
    out->q = r->q;
    out->factor = load;
    out->time = e->time;
    out->iterations = e->iterations;
    out->total = e->total;
    out->nfactor = pcs_bordered_factorizations(e->solver);
    out->residual = e->weight > 0.0 ? e->left / e->weight : 0.0;
    out->round_off = e->weight > 0.0 ? e->round_off / e->weight : 0.0;
    out->correction = e->system->is_linear ? INFINITY : e->correction;
    out->gap = e->gap;
    out->force = e->lam;
    out->held = e->held;
    out->backend = pcs_bordered_backend(e->solver);
    if (!e->has_friction) return;
    out->tangent = e->lam + e->system->nrow;
    out->slip = e->gap + e->system->nrow;
    out->sticks = e->held + e->system->nrow;
}

// Saves q as the last equilibrium.
static void ramp_keep(pcs_ramp *r)
{
    const pcs_equilibrium *e = &r->e;
    const pcs_system *system = e->system;
    size_t bytes = (size_t)system->nv * sizeof *r->loads;
    equilibrium_keep(e, r->q, &r->e.last);
    memcpy(r->gap, e->gap, (size_t)system->nrow * sizeof *r->gap);
    memcpy(r->drive, r->drive_now, (size_t)system->nrow * sizeof *r->drive);
    memcpy(r->loads, e->loads, bytes);
    memset(r->friction, 0, bytes);
    for (int j = system->nrow; j < e->nall; j++)
        if (e->lam[j] != 0.0) pcs_rows_add_transposed(e->R, j, e->lam[j], r->friction);
}

// Adds the work of joints, by the displacement against which their forces act, and what kinks of contacts change that
// of the loads by. e->dlam is overwritten. Returns twice the largest error of the rule on a stable path.
static double ramp_add_row_work(pcs_ramp *r, pcs_statics_work *work)
{
    const pcs_equilibrium *e = &r->e;
    pcs_system *system = e->system;
    double most = 0.0;
    if (system->row_set.ndriven > 0) pcs_system_drives(system, e->time, r->drive_now, e->dlam);
    for (int j = 0; j < system->nrow; j++) {
        double *sum = system->rows[j].is_bilateral ? &work->joints : &work->loads;
        double increment = e->gap[j] - r->gap[j] - (r->drive_now[j] - r->drive[j]);
        *sum += 0.5 * (e->last.lam[j] + e->lam[j]) * increment;
        most += (fabs(e->last.lam[j]) + fabs(e->lam[j])) * fabs(increment); // may rise and fall with it
    }
    return most;
}

// Adds the work of joints, loads and friction since the last equilibrium, J. Returns as above.
static double ramp_add_work(pcs_ramp *r, pcs_statics_work *work)
{
    const pcs_equilibrium *e = &r->e;
    double *increment = e->work, most = ramp_add_row_work(r, work);
    ramp_path(r, increment);
    for (int i = 0; i < e->system->nv; i++) {
        work->loads += 0.5 * (r->loads[i] + e->loads[i]) * increment[i];
        work->friction += 0.5 * r->friction[i] * increment[i];
        most += fabs((e->loads[i] - r->loads[i]) * increment[i]);
    }
    for (int j = e->system->nrow; j < e->nall; j++)
        work->friction += 0.5 * e->lam[j] * pcs_rows_dot(e->R, j, increment);
    return most;
}

// Returns true if an elastic model without friction has jumped, as in a snap-through. On a stable path loads and the
// displacements along them grow together, so that the work by the trapezoidal rule differs from the change of the
// strain energy by half the work of the increments of the loads at most. Half of that is allowed: where a path bends
// more, smaller steps follow it.
static bool ramp_jumps(pcs_ramp *r)
{
    const pcs_equilibrium *e = &r->e;
    pcs_system *s = e->system;
    pcs_statics_work work = { 0 };
    pcs_measure before, now;
    bool is_elastic = pcs_system_is_mesh(s) && !e->has_friction && !pcs_system_remembers(s);
    if (s->is_linear || e->is_soft || !is_elastic) return false;
    s->ops->measure(s, pcs_at(e->time, e->last.q, e->zero), PCS_ENERGY, &before);
    s->ops->measure(s, pcs_at(e->time, r->q, e->zero), PCS_ENERGY, &now);
    double most = ramp_add_work(r, &work), done = work.loads + work.joints;
    double round_off = e->round_off * sqrt(fabs(done) + before.strain + now.strain);
    return fabs(done - (now.strain - before.strain)) > 0.25 * most + TERMS * round_off;
}

// Accepts q as an equilibrium of the path: adds its work, reports and saves it.
static pcs_status ramp_accept(pcs_ramp *r, double load)
{
    pcs_system *system = r->e.system;
    ramp_add_work(r, &r->out->work);
    if (pcs_system_remembers(system)) {
        r->out->work.materials += pcs_system_material_loss(system, pcs_at(r->e.time, r->q, NULL));
        system->ops->commit(system, pcs_at(r->e.time, r->q, NULL));
    }
    r->out->step++;
    ramp_report(r, load);
    if (r->watch != NULL) PCS_TRY(r->watch(r->user, r->out));
    ramp_keep(r);
    return PCS_OK;
}

// Allocates memory and begins at q without loads.
static pcs_status ramp_begin(pcs_ramp *r)
{
    const pcs_equilibrium *e = &r->e;
    pcs_system *system = e->system;
    PCS_TAKE_EACH(e->ctx, system->nrow, "equilibrium", double, &r->gap, &r->drive, &r->drive_now);
    PCS_TAKE_EACH(e->ctx, system->nv, "equilibrium", double, &r->loads, &r->friction);
    if (system->row_set.ndriven > 0) pcs_system_drives(system, e->time, r->drive_now, e->dlam);
    if (pcs_system_remembers(system)) system->ops->commit(system, pcs_at(e->time, r->q, NULL));
    ramp_keep(r);
    ramp_report(r, 0.0);
    return PCS_OK;
}

static const char *const statics_paths[] = { "load", "arc", "history", NULL };

const pcs_option pcs_statics_keys[] = {
    PCS_CHOICE("path", pcs_statics_options, path, PCS_DEFAULT("load"), statics_paths,
               "load: the load factor rises from 0 to 1; arc: the path is followed by arc length, through limit points "
               "and snap-back; history: the loads of t = 0 rise from zero, then time goes on to `time`"),
    PCS_COUNT("steps", pcs_statics_options, steps, PCS_OPTIONAL, PCS_WITHIN(1.0, 1e9),
              "least number of load steps, paths load and history [1 for linear models without friction, else 10]"),
    PCS_REAL("time", pcs_statics_options, time, PCS_DEFAULT("0"), PCS_ANY_NUMBER,
             "time at which loads and driven joints are evaluated, s; path history: its end"),
    PCS_FLAG("friction", pcs_statics_options, has_friction, PCS_DEFAULT("true"),
             "friction opposes sliding between load steps; false: contacts without friction"),
    PCS_REAL("arc_length", pcs_statics_options, arc_length, PCS_DEFAULT("0.02"), PCS_ABOVE(0.0, 10.0),
             "longest step along a path by arc length: RMS of displacements over the size of the model, and rotations "
             "in rad"),
    PCS_REAL("end", pcs_statics_options, end, PCS_DEFAULT("1"), PCS_POSITIVE,
             "load factor at which a path by arc length ends"),
    PCS_REAL("least", pcs_statics_options, least, PCS_OPTIONAL, PCS_NEGATIVE,
             "negative load factor at which it ends, too [-end]"),
    PCS_COUNT("arcs", pcs_statics_options, arcs, PCS_DEFAULT("1000"), PCS_WITHIN(1.0, 1e9),
              "largest number of points of a path by arc length"),
    { .name = NULL },
};

enum { USUAL_STEPS = 10, EASY = 6 };

static const double SMALLEST = 1.0 / 65536.0; // smallest load step

// Limits the rotation of a driven joint per load step, rad: beyond half a turn the opposite rotation is the shorter
// one, and a mechanism is assembled in the wrong configuration.
static const double QUARTER_TURN = 1.570796326794896619;

static bool statics_has_contacts(const pcs_system *system)
{
    for (int j = 0; j < system->nrow; j++)
        if (!system->rows[j].is_bilateral) return true;
    return false;
}

// Fails if the model can move freely, unless contacts or, with large displacements, loads may hold it.
static pcs_status statics_check(pcs_ramp *r)
{
    pcs_equilibrium *e = &r->e;
    PCS_TRY(pcs_rigid_find(e->system, NULL, &e->rigid));
    r->stiffness = NAN;
    // Skips models with friction: whether it holds them follows from the forces of a load step.
    if (e->has_friction) return PCS_OK;
    if (!e->system->is_linear) PCS_TRY(equilibrium_softest(e, r->q, &r->stiffness));
    e->is_soft = e->rigid.count > 0 || r->stiffness <= 0.0;
    if (!e->is_soft || statics_has_contacts(e->system)) return PCS_OK;
    // With large displacements loads, driven joints or prestress may hold it.
    equilibrium_begin(e, 1.0);
    equilibrium_evaluate(e, r->q);
    bool has_loads = e->weight > 0.0 || !equilibrium_rows_fit(e);
    return has_loads && !e->system->is_linear ? PCS_OK : statics_loose(e, "");
}

// Finds the equilibrium at the next load factor or time, by Newton's method along the path or, where there is none to
// follow, by relaxation.
static pcs_status statics_advance(pcs_ramp *r, double at, double next, pcs_statics_outcome *outcome)
{
    pcs_equilibrium *e = &r->e;
    int total = e->total;
    double load = r->in_time ? 1.0 : next;
    if (r->in_time) e->time = next;
    if (!e->is_soft || r->in_time || at > 0.0) {
        PCS_TRY(equilibrium_find(e, load, r->q, outcome));
        if (*outcome == PCS_STATICS_DONE) return PCS_OK;
        // Contacts may prevent the motion.
        bool may_fall = *outcome == PCS_STATICS_SINGULAR && e->system->is_linear && statics_has_contacts(e->system);
        e->is_soft = e->is_soft || may_fall;
        if (!e->is_soft) return PCS_OK;
    }
    ramp_undo(r);
    r->out->nrelaxed++;
    PCS_TRY(equilibrium_relax(e, load, r->q, outcome));
    e->iterations = e->total - total;
    return PCS_OK;
}

// Returns the fraction of a load step that rotates driven angles by a quarter turn at most; `start` and `end` (NULL for
// 0) are the driven motions at its ends.
static double statics_part(const pcs_system *system, const double *start, const double *end)
{
    double most = 0.0;
    for (int j = 0; j < system->nrow; j++)
        if (system->rows[j].is_driven && system->rows[j].is_angle)
            most = fmax(most, fabs((end != NULL ? end[j] : 0.0) - start[j]));
    return most > QUARTER_TURN && !system->is_linear ? QUARTER_TURN / most : 1.0;
}

static double statics_drive_part(pcs_equilibrium *e, double start, double end)
{
    pcs_system *s = e->system;
    if (s->row_set.ndriven == 0) return 1.0;
    pcs_system_drives(s, start, e->gap, e->dlam);
    pcs_system_drives(s, end, e->target, e->dlam);
    return statics_part(s, e->gap, e->target);
}

// Goes from one equilibrium to the one at load factor or time `end`; steps that fail are halved, easy ones grow.
static pcs_status statics_march(pcs_ramp *r, double start, double end, double longest)
{
    pcs_equilibrium *e = &r->e;
    pcs_statics_outcome outcome;
    double size = longest, at = start;
    while (at < end) {
        if (r->in_time) size *= statics_drive_part(e, at, fmin(at + size, end));
        double next = at + size > end - 1e-9 * (end - start) ? end : at + size;
        PCS_TRY(statics_advance(r, at, next, &outcome));
        if (outcome == PCS_STATICS_DONE && ramp_jumps(r)) outcome = PCS_STATICS_JUMPED;
        if (outcome != PCS_STATICS_DONE) {
            bool is_final = !r->in_time && !e->has_friction && (e->is_soft || e->system->is_linear);
            if (is_final || size <= SMALLEST * (end - start)) return statics_fail(r, outcome, next, at);
            ramp_undo(r);
            r->out->nhalved++;
            size *= 0.5;
            continue;
        }
        if (e->iterations <= EASY) size = fmin(longest, 1.5 * size);
        at = next;
        PCS_TRY(ramp_accept(r, r->in_time ? 1.0 : at));
    }
    return PCS_OK;
}

// Fails if the last equilibrium is not stable. Friction may hold what the stiffness does not; where this is not
// symmetric, as of loads that follow, stability is a matter of the motion.
static pcs_status statics_check_stability(pcs_ramp *r)
{
    pcs_equilibrium *e = &r->e;
    double stiffness;
    char place[320];
    if (e->system->is_linear || e->has_friction || r->options->may_be_unstable) return PCS_OK;
    PCS_TRY(equilibrium_softest(e, r->q, &stiffness));
    if (!(stiffness < 0.0) || !pcs_stiffness_is_symmetric(&e->stiff.K)) return PCS_OK;
    message_place(e, equilibrium_largest(e), sizeof place, place);
    return pcs_fail(e->ctx, PCS_FAILED,
                    "the equilibrium at load factor %.9g is not stable: a disturbance grows by a factor of e in %.3g "
                    "s, most%s: the model buckles or snaps through at a smaller load; say 'statics: { path: arc }', "
                    "which marks that load, add a small load that decides to which side it goes, or let it move with "
                    "damping",
                    r->out->factor, 1.0 / sqrt(-stiffness), place);
}

// Raises the loads from zero; for a history those of t = 0, without reports, and then follows the time.
static pcs_status statics_raise(pcs_ramp *r, int steps)
{
    pcs_statics_watch *watch = r->watch;
    double first = fmin(1.0 / steps, statics_part(r->e.system, r->e.gap0, NULL)), time = r->options->time;
    bool is_history = r->options->path == PCS_PATH_HISTORY;
    if (is_history) r->watch = NULL;
    PCS_TRY(statics_march(r, 0.0, 1.0, first));
    if (!is_history) return PCS_OK;
    r->watch = watch;
    r->out->step = 0;
    r->in_time = true;
    if (watch != NULL) PCS_TRY(watch(r->user, r->out));
    for (int k = 0; k < steps; k++) PCS_TRY(statics_march(r, time * k / steps, time * (k + 1) / steps, time / steps));
    return PCS_OK;
}

// Fails, with an error at `key` of the part, if the case has this part (NULL if absent): statics cannot follow `what`.
static pcs_status statics_refuse_part(const pcs_analysis *on, const char *part, const char *key, const char *what)
{
    if (part == NULL) return PCS_OK;
    pcs_case_error_at(on->input, pcs_case_find(on->input, part), key, "a static analysis does not follow %s", what);
    return pcs_case_finish(on->input);
}

// Returns true if the options ask for friction and the system has rows with friction.
static bool statics_has_friction(const pcs_system *system, const pcs_statics_options *options)
{
    bool has_friction = false;
    for (int j = 0; j < system->nrow; j++)
        has_friction = has_friction || (system->rows[j].friction > 0.0 && system->rows[j].ntangent > 0);
    return has_friction && options->has_friction && system->T != NULL;
}

static pcs_status statics_refuse(const pcs_ramp *r, const pcs_analysis *on, bool is_arc, bool has_friction)
{
    pcs_system *system = on->system;
    if (system->layout != NULL) return pcs_fail(on->ctx, PCS_UNSUPPORTED, "a static analysis runs on one process");
    PCS_TRY(statics_refuse_part(on, system->ageing, "type",
                                "materials that age: their equilibrium depends on the time that has gone by; load "
                                "them slowly in time"));
    PCS_TRY(statics_refuse_part(on, system->soft_friction, "friction",
                                "friction of contacts with force laws; leave it or the 'law' out, or load them slowly "
                                "in time"));
    if (is_arc && has_friction) {
        pcs_case_error_at(on->input, pcs_case_find(on->input, "statics"), "path",
                          "a path by arc length takes no friction: say 'friction: false', or 'path: load'");
        return pcs_case_finish(on->input);
    }
    if (r->options->path == PCS_PATH_HISTORY && !(r->options->time > 0.0)) {
        pcs_case_error_at(on->input, pcs_case_find(on->input, "statics"), "time", "a history needs a time > 0, is %g",
                          r->options->time);
        return pcs_case_finish(on->input);
    }
    if (is_arc && !pcs_system_is_mesh(system))
        return pcs_fail(on->ctx, PCS_UNSUPPORTED,
                        "loads of system '%s' follow no load factor, as a path by arc length "
                        "takes it",
                        system->name);
    return PCS_OK;
}

static pcs_status statics_start(pcs_ramp *r, const pcs_analysis *on)
{
    const pcs_system *system = on->system;
    pcs_equilibrium *e = &r->e;
    bool is_arc = r->options->path == PCS_PATH_ARC;
    e->has_friction = statics_has_friction(system, r->options);
    PCS_TRY(statics_refuse(r, on, is_arc, e->has_friction));
    e->holds_touching = is_arc || e->has_friction;
    pcs_analysis model = *on;
    // The linear solver that knows the sign of a determinant.
    if (is_arc && strcmp(on->linear, "auto") == 0 && system->nv > 0) model.linear = "umfpack";
    PCS_TRY(equilibrium_create(&model, r->options->path == PCS_PATH_HISTORY ? 0.0 : r->options->time, r->q, e));
    PCS_TRY(ramp_begin(r));
    if (!is_arc) PCS_TRY(statics_check(r));
    return PCS_OK;
}

pcs_status pcs_statics_solve(const pcs_analysis *on, const pcs_statics_options *options, double *q,
                             pcs_statics_watch *watch, void *user, pcs_statics *out)
{
    pcs_ramp r = { .q = q, .out = out, .options = options, .watch = watch, .user = user };
    *out = (pcs_statics){ .q = q, .is_arc = options->path == PCS_PATH_ARC };
    pcs_status status = statics_start(&r, on);
    int steps = on->system->is_linear && !r.e.has_friction ? 1 : USUAL_STEPS;
    if (options->steps > 0) steps = options->steps;
    if (!pcs_system_is_mesh(on->system) && options->path == PCS_PATH_LOAD) steps = 1;
    if (status == PCS_OK && watch != NULL && options->path != PCS_PATH_HISTORY) status = watch(user, out);
    if (status == PCS_OK) status = r.out->is_arc ? ramp_follow(&r) : statics_raise(&r, steps);
    if (status == PCS_OK && !r.out->is_arc) status = statics_check_stability(&r);
    return status;
}

// A static analysis on disk: the observers of a run write statics.csv with a row per load step, and frames of the model
// and of the contacts whose time is the load factor; and a summary.

enum { NAME_ROOM = 512, OBSERVERS = 4, MOST_POINTS = 20, COLUMNS = 15 };

typedef struct record {
    const pcs_analysis *on;
    pcs_view view;
    pcs_state x;
    pcs_instant at; // state that is reported
    pcs_step_report report;
    pcs_reaction *reactions; // [nreaction]
    pcs_column columns[COLUMNS];
    pcs_frames_params params; // begins with `every`, as the options of all these observers
    pcs_observer observers[OBSERVERS];
    int nopen;
    bool has_friction, is_arc, is_history;
    pcs_file *summary;
} record;

// Fills the first columns of the table. A closed-form system has no separate forces, and its start is no equilibrium
// without loads.
static void statics_fill_columns(record *r, const pcs_statics *now)
{
    pcs_system *system = r->on->system;
    const pcs_statics_work *w = &now->work;
    pcs_measure measure;
    bool has_work = pcs_system_is_mesh(system);
    system->ops->measure(system, r->at, PCS_ENERGY, &measure);
    const struct {
        pcs_column column;
        bool exists;
    } all[COLUMNS] = { { { "step", now->step }, true },
                       { { "factor", now->factor }, true },
                       { { "iterations", now->iterations }, true },
                       { { "residual", now->residual }, true },
                       { { "correction", isfinite(now->correction) ? now->correction : NAN }, true },
                       { { "strain", measure.strain }, true },
                       { { "potential", measure.potential }, true },
                       { { "load_work", has_work ? w->loads : NAN }, true },
                       { { "joint_work", has_work ? w->joints : NAN }, true },
                       { { "friction_work", has_work ? w->friction : NAN }, true },
                       { { "t", now->time }, r->is_history },
                       { { "material_loss", w->materials }, pcs_system_remembers(system) },
                       { { "arc", now->arc }, r->is_arc },
                       { { "slope", now->slope }, r->is_arc },
                       { { "determinant", now->determinant }, r->is_arc } };
    r->view.ncolumn = 0;
    for (int i = 0; i < COLUMNS; i++)
        if (all[i].exists) r->columns[r->view.ncolumn++] = all[i].column;
}

static void statics_add_friction(record *r, const pcs_statics *now, int j)
{
    const pcs_row *row = &r->on->system->rows[j];
    for (int t = 0; t < row->ntangent; t++) {
        int k = row->first_tangent + t;
        r->report.rows[j].tangent[t] = now->tangent[k];
        r->report.rows[j].slip[t] = now->held[j] && !now->sticks[k] ? now->slip[k] : 0.0;
    }
}

static void statics_pose(record *r, const pcs_statics *now)
{
    pcs_step_report *report = &r->report;
    pcs_system *system = r->on->system;
    memcpy(r->x.q, now->q, (size_t)system->nq * sizeof *r->x.q);
    r->x.t = r->is_history ? now->time : now->factor;
    r->x.step = now->step;
    r->at = pcs_at_rest(now->time, r->x.q, r->x.v, now->factor);
    for (int j = 0; j < system->nrow; j++) {
        report->rows[j] = (pcs_row_report){ .gap = now->gap[j], .force = now->force[j], .is_closed = now->held[j] };
        if (now->tangent != NULL) statics_add_friction(r, now, j);
    }
    pcs_system_press(system, r->at, report->rows);
    // Takes impulses and reactions over one second without motion.
    for (int j = 0; j < pcs_system_npoint(system); j++) report->rows[j].step_impulse = report->rows[j].force;
    for (int pass = 0; pass < (system->nreaction == 0 ? 0 : 2); pass++)
        system->ops->reactions(system, r->at, pass, r->x.q, report->rows, r->reactions);
}

static pcs_status statics_watch(void *user, const pcs_statics *now)
{
    record *r = user;
    statics_pose(r, now);
    statics_fill_columns(r, now);
    for (int i = 0; i < OBSERVERS; i++) {
        pcs_observer *o = &r->observers[i];
        bool is_first = now->step == 0;
        if (is_first) r->nopen = i + 1;
        PCS_TRY(is_first ? o->ops->open(o) : o->ops->step(o));
    }
    return PCS_OK;
}

static pcs_status statics_take(record *r)
{
    pcs_context *ctx = r->on->ctx;
    const pcs_system *system = r->on->system;
    PCS_TAKE(ctx, r->x.q, system->nq, "load steps");
    PCS_TAKE(ctx, r->x.v, system->nv, "load steps");
    PCS_TAKE(ctx, r->report.rows, pcs_system_npoint(system), "load steps");
    PCS_TAKE(ctx, r->reactions, system->nreaction, "load steps");
    return PCS_OK;
}

static pcs_status statics_prepare(record *r, const char *directory)
{
    static const char *const names[OBSERVERS] = { "history", "frames", "contact_frames", "view" };
    const pcs_analysis *on = r->on;
    char *text, stem[NAME_ROOM];
    PCS_TRY(pcs_case_dump(on->input, false, &text));
    PCS_TRY(pcs_file_write(on->ctx, directory, "case.resolved.yaml", text));
    PCS_TRY(statics_take(r));
    snprintf(stem, sizeof stem, "%s_statics", on->case_name);
    r->params.every = 1;
    r->view = (pcs_view){
        .title = on->title, .directory = directory, .system = on->system, .kind = "statics", .still = &r->at
    };
    r->view.case_name = pcs_take_text(on->ctx, stem);
    if (r->view.case_name == NULL) return PCS_NO_MEMORY;
    r->view.state = &r->x;
    r->view.report = &r->report;
    r->view.reactions = r->reactions;
    r->view.probes = on->probes;
    r->view.nprobe = on->nprobe;
    r->view.columns = r->columns;
    r->view.is_smooth = !r->has_friction;
    r->view.observers = r->observers;
    r->view.nobserver = OBSERVERS;
    for (int i = 0; i < OBSERVERS; i++)
        PCS_TRY(pcs_observer_create(on->ctx, names[i], &r->view, &r->params, &r->observers[i]));
    PCS_TRY(pcs_file_create(on->ctx, directory, sizeof "summary.txt", 1 << 12, &r->summary));
    pcs_file_remove(r->summary, "statics.csv"); // an analysis that is refused leaves no results of an earlier one
    pcs_file_remove(r->summary, "summary.txt");
    return PCS_OK;
}

static void statics_put_point(const record *r, const pcs_contact_info *contact, int i)
{
    static const char *const states[] = { "open", "sticks", "slides" };
    int j = contact->first_row + i;
    const pcs_row_report *row = &r->report.rows[j];
    int ntangent = r->on->system->rows[j].ntangent;
    bool has_friction = r->has_friction && ntangent > 0;
    const char *state = row->is_closed ? "closed" : "open";
    if (has_friction) state = states[pcs_row_state(&r->view, j, 0.0)];
    pcs_file_print(r->summary, "  %s, point %d: %s, gap %.6g m, force %.9g N", contact->name, i, state, row->gap,
                   row->force);
    if (has_friction) // with its sign along one direction
        pcs_file_print(r->summary, ", friction %.9g N",
                       ntangent == 2 ? hypot(row->tangent[0], row->tangent[1]) : row->tangent[0]);
    pcs_file_text(r->summary, "\n");
}

static void statics_put_marks(const record *r, const char *title, const pcs_statics_marks *marks)
{
    if (marks->count == 0) return;
    pcs_file_print(r->summary, "  %-19s", title);
    for (int i = 0; i < marks->count && i < PCS_STATICS_MARKS; i++)
        pcs_file_print(r->summary, "%s %.9g", i > 0 ? "," : "", marks->factor[i]);
    if (marks->count > PCS_STATICS_MARKS) pcs_file_print(r->summary, ", %d more", marks->count - PCS_STATICS_MARKS);
    pcs_file_text(r->summary, "\n");
}

// Writes the work of loads, joints and friction and the loss in materials, J, to the summary.
static void statics_put_balance(const record *r, const pcs_statics *now)
{
    const pcs_statics_work *w = &now->work;
    if (!pcs_system_is_mesh(r->on->system)) return;
    pcs_file_print(r->summary, "  work                loads %.9g, joints %.9g, friction %.9g J\n", w->loads, w->joints,
                   w->friction);
    if (pcs_system_remembers(r->on->system)) pcs_file_print(r->summary, "  lost in materials   %.9g J\n", w->materials);
}

static void statics_put_contacts(const record *r)
{
    const pcs_system *system = r->on->system;
    bool is_smooth = false;
    if (pcs_count_points(system) > 0) pcs_file_text(r->summary, "\nContacts\n");
    for (int c = 0; c < system->ncontact; c++) {
        const pcs_contact_info *contact = &system->contacts[c];
        if (!contact->is_joint)
            for (int i = 0; i < contact->nrow; i++) {
                int j = contact->first_row + i;
                is_smooth = is_smooth || (system->rows[j].friction > 0.0 && !r->has_friction);
                if (i < MOST_POINTS) statics_put_point(r, contact, i);
            }
        if (contact->nrow > MOST_POINTS && !contact->is_joint)
            pcs_file_print(r->summary, "  %s: %d points more\n", contact->name, contact->nrow - MOST_POINTS);
    }
    if (is_smooth) pcs_file_text(r->summary, "  (without friction, as the case says)\n");
}

static void statics_put_reactions(const record *r)
{
    const pcs_system *system = r->on->system;
    if (system->nreaction > 0) pcs_file_text(r->summary, "\nReactions, N and N m\n");
    for (int i = 0; i < system->nreaction; i++) {
        pcs_file_print(r->summary, "  %s:", system->reactions[i].name);
        for (int k = 0; k < PCS_REACTION_COMPONENTS; k++)
            if (pcs_reaction_has(&system->reactions[i], k))
                pcs_file_print(r->summary, " %s %.9g", pcs_reaction_names[k],
                               pcs_reaction_component(&r->reactions[i], k));
        pcs_file_text(r->summary, "\n");
    }
}

// Writes the probes under the loads of the last equilibrium.
static void statics_put_probes(record *r, const pcs_statics *now)
{
    pcs_system *system = r->on->system;
    if (r->on->nprobe > 0) pcs_file_text(r->summary, "\nProbes\n");
    for (int k = 0; k < r->on->nprobe; k++)
        pcs_file_print(
            r->summary, "  %-19s %.12g\n", r->on->probes[k].column,
            system->ops->probe(system, &r->on->probes[k], pcs_at_rest(now->time, r->x.q, r->x.v, now->factor)));
}

static pcs_status statics_summarise(record *r, const pcs_statics *now, const char *reason)
{
    const pcs_analysis *on = r->on;
    pcs_measure measure;
    PCS_TRY(pcs_file_open(r->summary, "summary.txt"));
    on->system->ops->measure(on->system, r->at, PCS_ENERGY, &measure);
    pcs_file_print(r->summary, "%s\n\n", on->title);
    pcs_file_print(r->summary, "Static analysis %s\n", reason == NULL ? "finished" : "stopped");
    if (reason != NULL) pcs_file_print(r->summary, "  %s\n", reason);
    pcs_file_print(r->summary, "  load factor         %.9g\n", now->factor);
    if (r->is_history) pcs_file_print(r->summary, "  time                %.9g s\n", now->time);
    pcs_file_print(r->summary, "  load steps          %d, %d halved\n", now->step, now->nhalved);
    if (now->is_arc)
        pcs_file_print(r->summary, "  path                arc %.6g, ends at load factor %.9g\n", now->arc, now->factor);
    statics_put_marks(r, "limit points", &now->limits);
    statics_put_marks(r, "other paths near", &now->branches);
    pcs_file_print(r->summary, "  Newton iterations   %d, %d factorizations by %s\n", now->total, now->nfactor,
                   now->backend);
    if (now->nrelaxed > 0)
        pcs_file_print(r->summary, "  found by relaxation %d times: only loads or contacts hold the model\n",
                       now->nrelaxed);
    pcs_file_print(r->summary, "  residual            %.3g of the loads and internal forces, round-off explains %.3g\n",
                   now->residual, now->round_off);
    if (isfinite(now->correction))
        pcs_file_print(r->summary, "  last correction     %.3g of the deformation\n", now->correction);
    pcs_file_print(r->summary, "  strain energy       %.9g J\n", measure.strain);
    statics_put_balance(r, now);
    statics_put_probes(r, now);
    statics_put_contacts(r);
    statics_put_reactions(r);
    return pcs_file_commit(r->summary);
}

static pcs_status statics_run(const pcs_analysis *on, const pcs_statics_options *options, const char *directory,
                              pcs_statics *out)
{
    record *r;
    double *q;
    PCS_TAKE(on->ctx, r, 1, "load steps");
    PCS_TAKE(on->ctx, q, on->system->nq, "load steps");
    r->on = on;
    r->has_friction = statics_has_friction(on->system, options);
    r->is_arc = options->path == PCS_PATH_ARC;
    r->is_history = options->path == PCS_PATH_HISTORY;
    memcpy(q, on->start, (size_t)on->system->nq * sizeof *q);
    PCS_TRY(statics_prepare(r, directory));
    char reason[1024];
    pcs_status status = pcs_statics_solve(on, options, q, statics_watch, r, out), closing = PCS_OK;
    snprintf(reason, sizeof reason, "%s", status == PCS_OK ? "" : pcs_message(on->ctx));
    for (int i = 0; i < r->nopen && closing == PCS_OK; i++) closing = r->observers[i].ops->close(&r->observers[i]);
    if (closing == PCS_OK && r->nopen > 0) closing = statics_summarise(r, out, status == PCS_OK ? NULL : reason);
    return status != PCS_OK ? pcs_fail(on->ctx, status, "%s", reason) : closing;
}

pcs_status pcs_statics_run(const pcs_analysis *on, const pcs_statics_options *options, const char *directory,
                           pcs_statics *out)
{
    int lock = -1;
    PCS_TRY(pcs_file_make_folder(on->ctx, directory));
    PCS_TRY(pcs_file_lock_folder(on->ctx, directory, &lock));
    pcs_status status = statics_run(on, options, directory, out);
    pcs_file_unlock_folder(lock);
    return status;
}

// Equilibrium paths by arc length: the load factor s is an unknown as well.
//
//   f(q; s) + G^T lam = 0,  g = g_s,   <t, q - q_n> + w t_s (s - s_n) = l        (t, t_s): unit tangent at (q_n, s_n)
//   K b = df/ds,  G b = dg_s/ds        t = +-b/size,  t_s = ds/dl = +-1/size,  size^2 = <b, b> + w
//
// with <x, y> the mean over all coordinates of x_i y_i / size_i^2, a displacement by the size of the model, an angle by
// 1 rad: the same in all units and on all meshes. w is one hundredth of <b, b> at the start: load alone makes an arc
// where nothing can move. The plane normal to the tangent is that of Riks and of Keller; s passes its largest and
// smallest values (limit points) and displacements turn back (snap-back) as nothing but l is prescribed. A correction
// is dq = a + ds b, by the factors of K alone; the tangent keeps the direction of the last increment.
//
// Contacts stay as they are within an arc. Where one would pull or overlap at its end, the path is followed to where
// its force or gap is zero, which takes the place of the condition on l; there it changes, and the path goes on to the
// side on which its gap opens or its force grows. So a corner of any angle is passed, as by a pivot of Lemke's method.
//
// Limit points are located by the zero of ds/dl. Where the sign of det K changes and that of ds/dl does not, another
// path crosses this one. (Riks 1979; Keller 1977; Crisfield 1981.)

enum { MOST_ON_ARC = 25, USUAL_CORRECTIONS = 7, MOST_FLIPS = 4, LOCATE = 40, MOST_EVENTS = 8 };

static const double SHORTEST = 1.0 / 1048576.0; // relative to the longest arc
static const double FINE = 1.0 / 128.0;         // relative to the longest arc: bends are then real
static const double STRAIGHT = 0.95;            // least cosine between a chord and the tangents at its ends
static const double FLAT = 1e-7;                // ds/dl at a limit point, relative to the largest
static const double LOAD_SHARE = 0.01;          // share of the load in a squared arc at the start
static const double ON_PLANE = 1e-9;            // relative to the arc

// Holds the unit tangent of the path at a point.
typedef struct arc_tangent {
    double *t;   // [nv]
    double rate; // ds/dl
    int sign;    // sign of det K
} arc_tangent;

struct arc {
    pcs_ramp *r;
    pcs_equilibrium *e;
    double *weight;         // [nv] weights of the product
    double load_weight;     // w
    double *p, *b;          // [nv] df/ds, and dq/ds
    double *b_lam;          // [nrow] dlam/ds
    double *increment;      // [nv] displacement since the last point
    arc_tangent last, next; // at the last point, and at the new one
    double s;               // load factor of the last point
    double length, longest;
    double steepest; // largest |ds/dl| so far
    bool was_limit;  // the last point is a limit point
    int changed;     // row that changed status at the last point, or -1
    int nchange;     // number of consecutive points at which one did
};

static double arc_product(const arc *a, const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < a->e->system->nv; i++) sum += a->weight[i] * x[i] * y[i];
    return sum;
}

// Evaluates df/ds and solves for dq/ds and dlam/ds, at the current state with the current factors.
static void arc_respond(arc *a)
{
    pcs_equilibrium *e = a->e;
    pcs_system *s = e->system;
    s->ops->force(s, pcs_at_rest(e->time, a->r->q, e->zero, 1.0), a->p);
    for (int i = 0; i < s->nv; i++) a->b[i] = a->p[i] -= e->idle[i];
    for (int j = 0; j < s->nrow; j++) a->b_lam[j] = e->held[j] ? -e->gap0[j] : 0.0;
    pcs_bordered_solve(e->solver, a->b, a->b_lam);
    for (int j = 0; j < s->nrow; j++) a->b_lam[j] = -a->b_lam[j];
}

// Returns the goal's value less the present one: of arc, load factor, gap (m) or force (N).
static double arc_miss(arc *a, arc_goal goal)
{
    const pcs_equilibrium *e = a->e;
    if (goal.kind == ARC_LOAD) return goal.value - e->load;
    if (goal.kind == ARC_GAP) return -e->gap[goal.row];
    if (goal.kind == ARC_FORCE) return -e->lam[goal.row];
    ramp_path(a->r, a->increment);
    return goal.value - arc_product(a, a->last.t, a->increment) - a->load_weight * a->last.rate * (e->load - a->s);
}

// Returns the change of that quantity, to first order, by a correction dq, dlam, ds.
static double arc_reach(const arc *a, arc_goal goal, const double *dq, const double *dlam, double ds)
{
    if (goal.kind == ARC_LOAD) return ds;
    if (goal.kind == ARC_GAP) return pcs_rows_dot(a->e->system->G, goal.row, dq);
    if (goal.kind == ARC_FORCE) return dlam[goal.row];
    return arc_product(a, a->last.t, dq) + a->load_weight * a->last.rate * ds;
}

static bool arc_is_there(arc *a, const arc_goal *goal)
{
    const pcs_equilibrium *e = a->e;
    double miss = arc_miss(a, *goal);
    if (goal->kind == ARC_PLANE) return fabs(miss) <= ON_PLANE * goal->value + DBL_EPSILON;
    if (goal->kind == ARC_LOAD) return miss == 0.0;
    if (goal->kind == ARC_GAP) return fabs(miss) <= 16.0 * e->blur[goal->row];
    return fabs(miss) <= 1e-10 * e->weight / equilibrium_row_size(e, goal->row);
}

// Makes one correction of q, lam and s; the outcome is other than PCS_STATICS_DONE if there is none.
static pcs_status arc_step(arc *a, const arc_goal *goal, pcs_statics_outcome *outcome)
{
    pcs_equilibrium *e = a->e;
    double miss = arc_miss(a, *goal);
    bool is_singular;
    *outcome = PCS_STATICS_SINGULAR;
    PCS_TRY(equilibrium_factor(e, a->r->q, &is_singular));
    if (is_singular) return PCS_OK;
    equilibrium_solve(e);
    arc_respond(a);
    double per_load = arc_reach(a, *goal, a->b, a->b_lam, 1.0);
    double ds = (miss - arc_reach(a, *goal, e->dq, e->dlam, 0.0)) / per_load;
    for (int i = 0; i < e->system->nv; i++) e->dq[i] += ds * a->b[i];
    for (int j = 0; j < e->system->nrow; j++) e->dlam[j] += ds * a->b_lam[j];
    e->load = goal->kind == ARC_LOAD ? goal->value : e->load + ds;
    equilibrium_judge(e, a->r->q, ds * pcs_dense_dot(e->system->nv, a->p, e->dq));
    equilibrium_correct(e, a->r->q);
    if (isfinite(e->load)) *outcome = PCS_STATICS_DONE;
    return PCS_OK;
}

// Steps from the last point along its tangent by `length` and corrects to the goal.
static pcs_status arc_go(arc *a, double length, arc_goal goal, pcs_statics_outcome *outcome)
{
    pcs_equilibrium *e = a->e;
    ramp_undo(a->r);
    equilibrium_begin(e, a->s + length * a->last.rate);
    for (int i = 0; i < e->system->nv; i++) e->dq[i] = length * a->last.t[i];
    pcs_retract(&e->system->rotations, a->r->q, e->dq, a->r->q);
    return equilibrium_iterate(e, a->r->q, MOST_ON_ARC, a, &goal, outcome);
}

// Returns the sign of the direction in which the path continues: as before, or to the side that a changed row allows.
static double arc_side(arc *a)
{
    double side;
    if (a->changed < 0) {
        ramp_path(a->r, a->increment);
        side = arc_product(a, a->b, a->increment) + a->load_weight * (a->e->load - a->s);
    } else if (a->e->held[a->changed]) {
        side = a->b_lam[a->changed];
    } else {
        side = pcs_rows_dot(a->e->system->G, a->changed, a->b);
    }
    return side < 0.0 ? -1.0 : 1.0;
}

// Finds the unit tangent of the path at the point found.
static pcs_status arc_find_tangent(arc *a, bool is_first, arc_tangent *out, pcs_statics_outcome *outcome)
{
    pcs_equilibrium *e = a->e;
    bool is_singular = false;
    PCS_TRY(equilibrium_factor(e, a->r->q, &is_singular));
    *outcome = is_singular ? PCS_STATICS_SINGULAR : PCS_STATICS_DONE;
    if (is_singular) return PCS_OK;
    arc_respond(a);
    double moves = arc_product(a, a->b, a->b), side = is_first ? 1.0 : arc_side(a);
    if (is_first) a->load_weight = LOAD_SHARE * moves;
    double size = sqrt(moves + a->load_weight);
    if (!(size > 0.0) || !isfinite(size))
        return pcs_fail(e->ctx, PCS_BAD_INPUT,
                        "a path by arc length has nothing to follow: no load or driven joint that follows the load "
                        "factor moves this model");
    for (int i = 0; i < e->system->nv; i++) out->t[i] = side / size * a->b[i];
    out->rate = side / size;
    out->sign = pcs_bordered_sign(e->solver);
    return PCS_OK;
}

// Finds the first contact along the arc whose status is wrong at its end, or -1; *part of the arc leads to its change.
static int arc_first_wrong(const arc *a, double *part)
{
    const pcs_equilibrium *e = a->e;
    int first = -1;
    *part = 1.0;
    for (int j = 0; j < e->system->nrow; j++) {
        if (!equilibrium_row_is_wrong(e, j)) continue;
        double from = fmax(e->held[j] ? e->last.lam[j] : a->r->gap[j], 0.0), to = e->held[j] ? e->lam[j] : e->gap[j];
        double share = from / (from - to);
        if (first < 0 || share < *part) {
            first = j;
            *part = share;
        }
    }
    return first;
}

// Follows the path to the point where the first contact changes status, expected at `part` of the arc, and changes it.
static pcs_status arc_go_to_change(arc *a, double length, int row, double part, pcs_statics_outcome *outcome)
{
    pcs_equilibrium *e = a->e;
    for (int k = 0; k < MOST_FLIPS && row >= 0; k++) {
        arc_goal goal = { e->held[row] ? ARC_FORCE : ARC_GAP, 0.0, row };
        PCS_TRY(arc_go(a, part * length, goal, outcome));
        if (*outcome != PCS_STATICS_DONE) return PCS_OK;
        a->changed = row;
        equilibrium_find_noise(e);
        row = arc_first_wrong(a, &part);
    }
    *outcome = row < 0 ? PCS_STATICS_DONE : PCS_STATICS_SLOW;
    if (row >= 0) return PCS_OK;
    row = a->changed;
    e->held[row] = !e->held[row];
    e->lam[row] = 0.0;
    e->has_factors = false;
    return PCS_OK;
}

// Locates the limit point within the arc by the zero of ds/dl (regula falsi, Illinois) and leaves the state there.
static pcs_status arc_locate_limit(arc *a, double length, pcs_statics_outcome *outcome)
{
    double low = 0.0, high = length, at_low = a->last.rate, at_high = a->next.rate;
    for (int k = 0; k < LOCATE; k++) {
        double at = (low * at_high - high * at_low) / (at_high - at_low);
        if (!(at > low && at < high)) at = 0.5 * (low + high);
        PCS_TRY(arc_go(a, at, (arc_goal){ ARC_PLANE, at, -1 }, outcome));
        if (*outcome == PCS_STATICS_DONE) PCS_TRY(arc_find_tangent(a, false, &a->next, outcome));
        if (*outcome != PCS_STATICS_DONE) return PCS_OK;
        double rate = a->next.rate;
        if (fabs(rate) <= FLAT * a->steepest || high - low <= 4.0 * DBL_EPSILON * length) return PCS_OK;
        if ((rate > 0.0) == (at_low > 0.0)) {
            low = at;
            at_low = rate;
            at_high *= 0.5;
        } else {
            high = at;
            at_high = rate;
            at_low *= 0.5;
        }
    }
    return PCS_OK;
}

static void arc_mark(pcs_statics_marks *marks, double factor)
{
    if (marks->count < PCS_STATICS_MARKS) marks->factor[marks->count] = factor;
    marks->count++;
}

// Makes the new point the last one, adds its arc length and reports it.
static pcs_status arc_accept(arc *a)
{
    pcs_statics *out = a->r->out;
    arc_tangent swap = a->last;
    double more = a->e->load - a->s;
    ramp_path(a->r, a->increment);
    out->arc += sqrt(arc_product(a, a->increment, a->increment) + a->load_weight * more * more);
    a->last = a->next;
    a->next = swap;
    a->s = a->e->load;
    a->steepest = fmax(a->steepest, fabs(a->last.rate));
    out->slope = a->last.rate;
    out->determinant = a->last.sign;
    return ramp_accept(a->r, a->s);
}

// Returns the cosine between the chord and a tangent, with as much load as displacement at the start.
static double arc_cosine(const arc *a, double chord, const arc_tangent *to)
{
    double w = a->load_weight / LOAD_SHARE, more = a->e->load - a->s;
    double size = sqrt(arc_product(a, to->t, to->t) + w * to->rate * to->rate);
    return (arc_product(a, to->t, a->increment) + w * to->rate * more) / (size * chord);
}

// Returns true if the chord is nearly parallel to the tangents at both ends, so that the arc has skipped no bend.
static bool arc_is_near(const arc *a)
{
    double more = a->e->load - a->s;
    if (a->changed >= 0 || a->length <= FINE * a->longest) return true;
    ramp_path(a->r, a->increment);
    double chord = sqrt(arc_product(a, a->increment, a->increment) + a->load_weight / LOAD_SHARE * more * more);
    return arc_cosine(a, chord, &a->last) >= STRAIGHT && arc_cosine(a, chord, &a->next) >= STRAIGHT;
}

// Tries an arc to its end, or to the first contact that changes within it; PCS_STATICS_SLOW if it bends too much.
static pcs_status arc_try(arc *a, pcs_statics_outcome *outcome)
{
    double length = a->length, part;
    int before = a->changed;
    a->changed = -1;
    PCS_TRY(arc_go(a, length, (arc_goal){ ARC_PLANE, length, -1 }, outcome));
    if (*outcome != PCS_STATICS_DONE) return PCS_OK;
    equilibrium_find_noise(a->e);
    int row = arc_first_wrong(a, &part);
    if (row >= 0) PCS_TRY(arc_go_to_change(a, length, row, part, outcome));
    if (*outcome == PCS_STATICS_DONE) PCS_TRY(arc_find_tangent(a, false, &a->next, outcome));
    if (*outcome != PCS_STATICS_DONE) return PCS_OK;
    if (!arc_is_near(a)) *outcome = PCS_STATICS_SLOW;
    a->nchange = a->changed >= 0 && (before >= 0 || a->nchange > 0) ? a->nchange + 1 : 0;
    return PCS_OK;
}

// Returns sign(det K) sign(ds/dl), which is constant along one path: both change together at limit points.
static int arc_orientation(const arc_tangent *at)
{
    return at->rate < 0.0 ? -at->sign : at->sign;
}

static bool arc_is_beyond(const arc *a, double *end)
{
    const pcs_statics_options *o = a->r->options;
    double s = a->e->load, least = isnan(o->least) ? -o->end : o->least;
    *end = s >= o->end ? o->end : least;
    return s >= o->end || s <= least;
}

// Ends the path at the load factor `end`.
static pcs_status arc_finish(arc *a, double end, pcs_statics_outcome *outcome)
{
    double part = (end - a->s) / (a->e->load - a->s);
    a->changed = -1;
    PCS_TRY(arc_go(a, part * a->length, (arc_goal){ ARC_LOAD, end, -1 }, outcome));
    if (*outcome == PCS_STATICS_DONE) PCS_TRY(arc_find_tangent(a, false, &a->next, outcome));
    return PCS_OK;
}

static pcs_status arc_complain(arc *a, pcs_statics_outcome outcome)
{
    if (outcome == PCS_STATICS_SINGULAR && a->r->out->step == 0)
        return pcs_fail(a->e->ctx, PCS_BAD_INPUT,
                        "a path by arc length must begin with a regular stiffness matrix, which is singular without "
                        "loads: use 'path: load'");
    char residual[512];
    statics_describe(a->e, sizeof residual, residual);
    double load = a->s;
    ramp_undo(a->r);
    return pcs_fail(a->e->ctx, PCS_FAILED,
                    "the path cannot be followed beyond load factor %.9g, arc %.6g: %s on an arc of %.3g (%s)", load,
                    a->r->out->arc,
                    outcome == PCS_STATICS_DONE ? "contacts keep opening and closing" : statics_reason(outcome),
                    a->length, residual);
}

// Finds the next point of the path; *is_over if it is the last one.
static pcs_status arc_advance(arc *a, bool *is_over, pcs_statics_outcome *outcome)
{
    bool is_limit = false;
    double end;
    PCS_TRY(arc_try(a, outcome));
    int iterations = a->e->iterations;
    if (*outcome != PCS_STATICS_DONE) return PCS_OK;
    is_limit = a->last.rate * a->next.rate < 0.0 && !a->was_limit && a->changed < 0;
    if (is_limit) PCS_TRY(arc_locate_limit(a, a->length, outcome)); // the new point moves there
    if (*outcome != PCS_STATICS_DONE) return PCS_OK;
    *is_over = arc_is_beyond(a, &end);
    if (*is_over && a->e->load != end) PCS_TRY(arc_finish(a, end, outcome));
    if (*outcome != PCS_STATICS_DONE) return PCS_OK;
    bool reverses = a->last.rate * a->next.rate < 0.0 && a->changed >= 0;
    if ((is_limit && !*is_over) || reverses) arc_mark(&a->r->out->limits, a->e->load);
    if (a->changed < 0 && arc_orientation(&a->last) * arc_orientation(&a->next) < 0)
        arc_mark(&a->r->out->branches, 0.5 * (a->s + a->e->load));
    a->was_limit = is_limit;
    PCS_TRY(arc_accept(a));
    double growth = sqrt((double)USUAL_CORRECTIONS / (iterations > 0 ? iterations : 1));
    a->length = fmin(a->length * fmin(fmax(growth, 0.5), 1.5), a->longest);
    return PCS_OK;
}

static pcs_status arc_run(arc *a)
{
    pcs_statics_outcome outcome;
    bool is_over = false;
    while (!is_over && a->r->out->step < a->r->options->arcs) {
        int changed = a->changed, nchange = a->nchange;
        PCS_TRY(arc_advance(a, &is_over, &outcome));
        if (outcome == PCS_STATICS_DONE) {
            if (a->nchange > MOST_EVENTS * (a->e->system->nrow + 1)) return arc_complain(a, outcome);
            continue;
        }
        if (a->length <= SHORTEST * a->longest) return arc_complain(a, outcome);
        a->changed = changed;
        a->nchange = nchange;
        is_over = false;
        a->length *= 0.47; // not a half, so that a singular point is not met twice
        a->r->out->nhalved++;
    }
    return PCS_OK;
}

static pcs_status arc_take(arc *a)
{
    const pcs_system *s = a->e->system;
    double **vectors[] = { &a->weight, &a->p, &a->b, &a->increment, &a->last.t, &a->next.t };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        PCS_TAKE(a->e->ctx, *vectors[i], s->nv, "a path of equilibria");
    PCS_TAKE(a->e->ctx, a->b_lam, s->nrow, "a path of equilibria");
    for (int i = 0; i < s->nv; i++)
        a->weight[i] = 1.0 / (s->nv * a->e->system->scale.model[i] * a->e->system->scale.model[i]);
    return PCS_OK;
}

// Follows the path by arc length from the start, which is an equilibrium without loads.
static pcs_status ramp_follow(pcs_ramp *r)
{
    arc a = { .r = r, .e = &r->e, .changed = -1, .length = r->options->arc_length, .longest = r->options->arc_length };
    pcs_statics_outcome outcome;
    PCS_TRY(arc_take(&a));
    PCS_TRY(equilibrium_find(&r->e, 0.0, r->q, &outcome));
    if (outcome != PCS_STATICS_DONE) return arc_complain(&a, outcome);
    r->e.is_frozen = true;
    equilibrium_evaluate(&r->e, r->q);
    PCS_TRY(arc_find_tangent(&a, true, &a.last, &outcome));
    if (outcome != PCS_STATICS_DONE) return arc_complain(&a, outcome);
    a.steepest = fabs(a.last.rate);
    ramp_keep(r);
    return arc_run(&a);
}
