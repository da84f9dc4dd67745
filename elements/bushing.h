// Parameters of bushings and mounts, and kernels of those whose nodes turn by finite angles; private to this folder.

#ifndef PCS_ELEMENTS_BUSHING_H
#define PCS_ELEMENTS_BUSHING_H

#include "core/rotation.h"
#include "elements/cell.h"

enum { PCS_BUSHING_MODES = 6, PCS_BUSHING_NODE = 6 };
enum { PCS_BUSHING_AUTO, PCS_BUSHING_PLANE, PCS_BUSHING_SPACE };

typedef struct pcs_bushing_params {
    double stiffness[3], damping[3], torsional_stiffness[3], torsional_damping[3];
    double offset_a[3], offset_b[3]; // m; NAN if not given; a mount has the second only
    int angles, in;
} pcs_bushing_params;

// Returns the stiffness of mode i: N/m along x, y, z (i = 0, 1, 2), then N m/rad about them.
static inline double pcs_bushing_stiffness(const pcs_bushing_params *p, int i)
{
    return (i < 3 ? p->stiffness : p->torsional_stiffness)[i % 3];
}

static inline double pcs_bushing_damping(const pcs_bushing_params *p, int i)
{
    return (i < 3 ? p->damping : p->torsional_damping)[i % 3];
}

static inline bool pcs_bushing_is_free(const pcs_bushing_params *p, int i)
{
    return pcs_bushing_stiffness(p, i) == 0.0 && pcs_bushing_damping(p, i) == 0.0;
}

// Returns true if there is an offset along z, or a stiffness or damping along z or about x or y.
static inline bool pcs_bushing_leaves_plane(const pcs_bushing_params *p)
{
    bool has_height =
        (!isnan(p->offset_a[2]) && p->offset_a[2] != 0.0) || (!isnan(p->offset_b[2]) && p->offset_b[2] != 0.0);
    return has_height || !pcs_bushing_is_free(p, 2) || !pcs_bushing_is_free(p, 3) || !pcs_bushing_is_free(p, 4);
}

// Returns true if finite rotations are in space, false if in the plane.
static inline bool pcs_bushing_in_space(const pcs_bushing_params *p)
{
    return p->in == PCS_BUSHING_SPACE || (p->in == PCS_BUSHING_AUTO && pcs_bushing_leaves_plane(p));
}

// Computes the arms from both nodes of a cell to its point, m.
static inline void pcs_bushing_cell_arms(const pcs_batch *batch, int cell, double arm[2][3])
{
    double span[3];
    pcs_cell_span(batch, cell, span);
    (void)batch->ops->arms(batch->params, span, arm);
}

// Computes force, N, moment, N m, and energy, J, from deformations and their rates.
static inline void pcs_bushing_put_fields(const pcs_bushing_params *p, const double *e, const double *rate,
                                          double field[PCS_MAX_CELL_FIELDS])
{
    double s[PCS_BUSHING_MODES];
    field[2] = 0.0;
    for (int i = 0; i < PCS_BUSHING_MODES; i++) {
        s[i] = pcs_bushing_stiffness(p, i) * e[i] + pcs_bushing_damping(p, i) * rate[i];
        field[2] += 0.5 * pcs_bushing_stiffness(p, i) * e[i] * e[i];
    }
    field[0] = pcs_norm3(s);
    field[1] = sqrt(pcs_dot3(s + 3, s + 3));
}

// Implements the operations of bushings whose nodes have finite rotations.
pcs_status pcs_turning_setup(pcs_context *ctx, pcs_batch *batch);
void pcs_turning_matrices(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *M, double *K, double *C);
void pcs_turning_force(const pcs_batch *batch, const pcs_cell_state *at, double *f);
void pcs_turning_measure(const pcs_batch *batch, const pcs_cell_state *at, unsigned what, pcs_cell_sums *sum);
void pcs_turning_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                             double field[PCS_MAX_CELL_FIELDS]);

#define PCS_TURNING_KERNELS                                                                                         \
    .is_nonlinear = true, .setup = pcs_turning_setup, .matrices = pcs_turning_matrices, .force = pcs_turning_force, \
    .measure = pcs_turning_measure, .read_fields = pcs_turning_read_fields

#endif
