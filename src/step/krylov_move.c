// How the values of a contact problem of many rows follow z, and when nothing but round-off is left of them. The Krylov
// method has made the products that its solution is summed from, and everything is linear: while sets still change the
// same sums serve the values, and the product with the solution is saved. Where a solution is to be taken, values come
// from products with z itself.

#include "core/rounding.h"
#include "step/krylov_set.h"
#include "step/sums.h"

#include <math.h>

static bool move_wants_gate(const pcs_krylov_set *c)
{
    return c->p.gate_is_live && c->stage == PCS_STAGE_BOTH;
}

static void move_add(pcs_krylov_set *c, const double *image, const double *gate_image)
{
    for (int k = pcs_krylov_set_first(c); k < pcs_krylov_set_last(c); k++) c->p.value[k] += image[k];
    if (move_wants_gate(c))
        for (int j = 0; j < c->p.m; j++) c->p.gate_gap[j] += gate_image[j];
}

void pcs_krylov_set_move(pcs_krylov_set *c, const double *dz)
{
    c->product(c->owner, c->stage, c->stage, dz, c->image, move_wants_gate(c) ? c->gate_image : NULL);
    c->products++;
    move_add(c, c->image, c->gate_image);
}

bool pcs_krylov_set_move_along(pcs_krylov_set *c)
{
    const double *sum = c->krylov->side_sum;
    if (!c->krylov->has_side || (move_wants_gate(c) && !c->gate_is_free)) return false;
    move_add(c, sum, sum + (c->gate_image - c->image));
    c->is_summed = true;
    return true;
}

void pcs_krylov_set_evaluate(pcs_krylov_set *c)
{
    int in = c->stage == PCS_STAGE_RATE && c->p.has_position ? PCS_STAGE_BOTH : c->stage;
    int first = in & PCS_STAGE_GAP ? 0 : c->p.m, last = pcs_krylov_set_last(c);
    bool wants_gate = c->p.gate_is_live && c->stage & PCS_STAGE_RATE;
    long count = 0;
    for (int k = first; k < last; k++) count += c->p.z[k] != 0.0;
    bool is_moved = pcs_all_count(c->comm, count) > 0;
    if (is_moved) c->product(c->owner, in, c->stage, c->p.z, c->image, wants_gate ? c->gate_image : NULL);
    c->products += is_moved;
    c->is_summed = false;
    for (int k = pcs_krylov_set_first(c); k < last; k++) c->p.value[k] = c->p.b[k] + (is_moved ? c->image[k] : 0.0);
    if (wants_gate)
        for (int j = 0; j < c->p.m; j++) c->p.gate_gap[j] = c->p.b_gate[j] + (is_moved ? c->gate_image[j] : 0.0);
}

// A light node on a heavy body, or rows that say the same twice, let no method go further.
bool pcs_krylov_set_is_rounded_off(const pcs_krylov_set *c)
{
    double rate = PCS_ROUND_VELOCITY * c->size, gap = PCS_ROUND_LENGTH * (c->length + c->reach) / c->p.h + rate,
           worst = 0.0;
    for (int k = pcs_krylov_set_first(c); k < pcs_krylov_set_last(c); k++)
        worst = fmax(worst, fabs(c->F[k]) / (k < c->p.m ? gap : rate));
    return pcs_all_max(c->comm, worst) <= 1.0;
}
