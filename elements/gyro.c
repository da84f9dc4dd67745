#include "elements/gyro.h"

#include "core/rotation.h"
#include "elements/one_node.h"

#include <math.h>

enum { NDOF = 6 };

// Unit axis; false when there is none.
static bool gyro_axis(const pcs_gyro_params *p, double axis[3])
{
    double size = sqrt(pcs_dot3(p->axis, p->axis));
    for (int k = 0; k < 3; k++) axis[k] = p->axis[k] / size;
    return size > 0.0;
}

// J = Jd I + (Jp - Jd) a a^T, up to the digits in which a case is written?
static bool gyro_is_round(const double J[9], const double a[3])
{
    double column[3], size = J[0] + J[4] + J[8], off = 0.0;
    pcs_rotation_apply(J, a, column);
    double polar = pcs_dot3(a, column), across = 0.5 * (size - polar);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double wanted = (i == j ? across : 0.0) + (polar - across) * a[i] * a[j];
            off = fmax(off, fabs(J[3 * i + j] - wanted));
        }
    return off <= 1e-6 * size;
}

pcs_status pcs_gyro_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, bool is_driven, pcs_node_dofs *out)
{
    const pcs_gyro_params *p = batch->params;
    double J[9], axis[3];
    pcs_one_node_space(out);
    pcs_inertia_tensor(p->inertia, p->products, J);
    PCS_TRY(pcs_one_node_check(ctx, batch, cell));
    PCS_TRY(pcs_inertia_check(ctx, batch, cell, J));
    if (!gyro_axis(p, axis))
        return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': the axis must not be zero", batch->name);
    if ((!is_driven && p->speed == 0.0) || gyro_is_round(J, axis)) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT,
                    "element group '%s': what spins must be round: the inertia about all axes across [%g, %g, %g] must "
                    "be the same",
                    batch->name, axis[0], axis[1], axis[2]);
}

static void gyro_make(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    (void)cell;
    const pcs_gyro_params *p = batch->params;
    double J[9], a[3], column[3];
    pcs_inertia_tensor(p->inertia, p->products, J);
    gyro_axis(p, a);
    pcs_rotation_apply(J, a, column);
    double polar = pcs_dot3(a, column);
    for (int j = 0; j < 3; j++) {
        const double unit[3] = { j == 0, j == 1, j == 2 };
        double moment[3];
        pcs_cross(unit, a, moment);
        kind->M[j * NDOF + j] = kind->own->drag[j * NDOF + j] = p->mass;
        kind->own->spin[3 + j] = a[j];
        for (int i = 0; i < 3; i++) {
            kind->M[(3 + i) * NDOF + 3 + j] = J[3 * i + j];
            kind->own->C[(3 + i) * NDOF + 3 + j] = p->speed * polar * moment[i];
            kind->own->drag[(3 + i) * NDOF + 3 + j] = J[3 * i + j] - polar * a[i] * a[j];
        }
    }
}

static void gyro_make_driven(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    pcs_batch unit = *batch;
    pcs_gyro_params p = *(const pcs_gyro_params *)batch->params;
    p.speed = 1.0;
    unit.params = &p;
    gyro_make(&unit, cell, kind);
}

pcs_status pcs_gyro_setup(pcs_context *ctx, pcs_batch *batch, bool is_driven)
{
    pcs_modal *modal;
    PCS_TRY(pcs_modal_create_own(ctx, batch, NDOF, 0, is_driven ? gyro_make_driven : gyro_make, &modal));
    for (int k = 0; k < 3; k++) modal->direction[k][k] = 1.0;
    modal->is_driven = is_driven;
    batch->data = modal;
    return PCS_OK;
}
