// Which contacts hold, by an active set method.
//
// A contact is wrong when it is open and its gap is negative, or holds and pulls. Of those that are wrong the worst
// change, the deepest that are open and the ones that pull most: a beam on many supports pushes and pulls them in turn,
// less and less from where it leaves them, and only the first one is wrong. Where sets of contacts come back, only the
// last wrong contact changes from then on (Murty 1974), which ends for every positive definite problem.
//
// A contact between touching and not touching, as those under the part of a beam that lies flat, has neither gap nor
// force but for round-off. It stays what it is as long as its gap and its force are within what the rounding errors of
// all forces and gaps make of them, which the factors tell: A^-1 r for errors r of random signs.

#include "analysis/statics_friction.h"

#include "core/carry.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { PROBES = 2, MOST_RETURNS = 2 };

static const double FACTOR = 8.0; // of rounding errors
static const double WORST = 0.5;  // of the worst: those contacts change

void pcs_equilibrium_forget_rows(pcs_equilibrium *e)
{
    e->has_factors = e->is_refined = false;
    e->nset = e->nreturn = 0;
}

// One of two signs, without a pattern.
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
    pcs_friction_flip(e, j);
}

// Remembers the present set by a number; counts those that come back.
static void rows_remember(pcs_equilibrium *e)
{
    uint64_t name = pcs_hash(PCS_HASH_START, e->held, (size_t)e->nall * sizeof *e->held);
    for (int k = 0; k < e->nset && k < PCS_STATICS_SETS; k++) e->nreturn += e->sets[k] == name;
    e->sets[e->nset++ % PCS_STATICS_SETS] = name;
}

// Changes the contacts that pull at least `pull` or are at least as deep as `depth`.
static void rows_change(pcs_equilibrium *e, double pull, double depth)
{
    for (int j = 0; j < e->system->nrow; j++)
        if (pcs_equilibrium_row_is_wrong(e, j) && (e->held[j] ? e->lam[j] <= pull : e->gap[j] <= depth))
            rows_flip(e, j);
}

bool pcs_equilibrium_choose_rows(pcs_equilibrium *e)
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
        bool has_changed = pcs_friction_choose(e, e->nreturn > MOST_RETURNS);
        if (has_changed) rows_remember(e);
        return has_changed || pcs_friction_turn(e) || has_new;
    }
    rows_remember(e);
    if (e->nreturn > MOST_RETURNS) rows_flip(e, last);
    else rows_change(e, WORST * pull, WORST * depth);
    pcs_friction_settle(e);
    return true;
}
