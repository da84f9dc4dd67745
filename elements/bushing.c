// Springs and dampers along three axes, translational and torsional, between two nodes or to the ground; no mass.
//
//   force = k e + c e' axis by axis,   e = u_b - u_a + rotation_b x r - rotation_a x s
//   moments alike with kr, cr and rotation_b - rotation_a
//
// with s, r the arms from the nodes to the point of the bushing, which both bodies carry, so that its forces have no
// resultant moment. Without offsets there are no arms: between two nodes it is then meant for ends at one place, or
// apart along the one axis it works on, as forces across a distance would turn the body. Finite angles with arms, and
// in space, have kernels of their own.
//
// It gives its nodes the directions alone in which it has a stiffness or a damper, and the rotations that move its
// point along those, so that it fits bars, plane frames and space frames.

#include "core/rotation.h"
#include "elements/cell.h"
#include "elements/modal.h"

#include <math.h>
#include <string.h>

// Parameters of bushings and mounts, and kernels of those whose nodes turn by finite angles.

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
    memcpy(arm, pcs_element_outline(batch->ops, batch->params, span).arm, 2 * sizeof arm[0]);
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

#define PCS_ROTATING_KERNELS                                                                                   \
    .is_nonlinear = true, .setup = rotating_setup, .matrices = rotating_matrices, .force = pcs_rotating_force, \
    .measure = rotating_measure, .read_fields = rotating_read_fields

// Bushings and mounts whose nodes turn by finite angles, in the plane or in space.
//
// Both bodies carry the point of the bushing in the reference state, a at the arm s and b at the arm r. With Q =
// R_a^T R_b, the point as a sees it, y, and its rotation vector p, Q = exp(p) (in the plane the difference of the
// angles, past any number of turns):
//
//   y = R_a^T (x_b + R_b r - x_a),   e = y - s,   force n = k e + c e',   moment m = kr p + cr p'    axis by axis of a
//
// so that the axes turn with a, and energy and dissipation depend on how b lies against a alone: forces and moments add
// up to nothing. By velocities and material angular velocities, in the order v_a, W_a, v_b, W_b:
//
//   e' = B_e (..),  B_e = [-R_a^T, y^, R_a^T, -Q r^]        p' = B_p (..),  B_p = [0, -T^-T, 0, T^-1],
//   T^-1 = I + p^/2 + c p^p^,   c = (1 - a/2 cot(a/2))/a^2,   a = |p|
//
//   force = -B_e^T n - B_p^T m,   C = B_e^T c B_e + B_p^T cr B_p
//   K = B_e^T (k B_e + c D_e) + B_p^T (kr B_p + cr D_p) + S,   D = d(rate)/dq at constant velocities
//   D_e = [0, (R_a^T (v_b - v_a) + Q h)^, 0, -Q h^] - W_a^ B_e,   h = W_b x r
//   D_p = (H_-(W_b) - H_+(W_a)) B_p,   H_+-(z) = +-z^/2 - c ((p x z)^ + p^z^) + c'/a (p x (p x z)) p^T
//   S: rows v_a, v_b: +-R_a n^ W_a;   row W_a: n^ B_e - H_-(m) B_p;   row W_b: r^ N^ W_b - r^ Q^T n^ W_a + H_+(m) B_p
//
// with N = Q^T n and H_+-(z) the derivatives of T^-T z and T^-1 z by p. A mount is a bushing whose a is the ground.

enum { NMODE = PCS_BUSHING_MODES, NODE = PCS_BUSHING_NODE, NDOF = 2 * NODE };
enum { SPIN_A = 3, PLACE_B = 6, SPIN_B = 9 }; // first columns: spin of a, position of b, spin of b

typedef struct rotating {
    pcs_cell_shape shape;
    bool is_flat;         // the rotation is one angle
    double (*arms)[2][3]; // [ncell] arms s and r, m
} rotating;

// Holds kinematics and forces of a cell in the current state.
typedef struct rotating_state {
    double R[9], Q[9], y[3], p[3]; // R is that of a
    double W[2][3], parting[3];    // material angular velocities; R_a^T (v_b - v_a)
    double B[NMODE][NDOF];         // B_e, then B_p
    double e[NMODE], rate[NMODE], load[NMODE];
    double c, slope; // and c'/a
} rotating_state;

static double rotating_damping(const pcs_batch *batch, int mode)
{
    const pcs_bushing_params *p = batch->params;
    return pcs_bushing_damping(p, mode) + batch->damping_stiffness * pcs_bushing_stiffness(p, mode);
}

// Implements the operations of bushings whose nodes have finite rotations.
static pcs_status rotating_setup(pcs_context *ctx, pcs_batch *batch)
{
    rotating *t;
    PCS_TAKE(ctx, t, 1, "bushings");
    PCS_TAKE(ctx, t->arms, batch->ncell, "bushings");
    t->shape = (pcs_cell_shape){ .ndof = batch->ops->ndof, .node_dofs = NODE, .translations = 3 };
    t->shape.is_grounded = batch->ops->nnode == 1;
    t->is_flat = !pcs_bushing_in_space(batch->params);
    for (int c = 0; c < batch->ncell; c++) pcs_bushing_cell_arms(batch, c, t->arms[c]);
    batch->data = t;
    return PCS_OK;
}

// Adds factor times the 3 x 3 block X to A, from `row` and `column` on.
static void rotating_add(double *A, int row, int column, double factor, const double X[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) A[(row + i) * NDOF + column + j] += factor * X[3 * i + j];
}

// Computes B_e and B_p.
static void rotating_fill(const rotating *t, const double r[3], rotating_state *s)
{
    const double unit[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    double *B = s->B[0], back[9], hat[9], Qr[9], square[9];
    memset(s->B, 0, sizeof s->B);
    pcs_rotation_transpose(s->R, back);
    rotating_add(B, 0, 0, -1.0, back);
    rotating_add(B, 0, PLACE_B, 1.0, back);
    pcs_rotation_hat(s->y, hat);
    rotating_add(B, 0, SPIN_A, 1.0, hat);
    pcs_rotation_hat(r, hat);
    pcs_rotation_multiply(s->Q, hat, Qr);
    rotating_add(B, 0, SPIN_B, -1.0, Qr);
    rotating_add(B, 3, SPIN_A, -1.0, unit);
    rotating_add(B, 3, SPIN_B, 1.0, unit);
    if (t->is_flat) return; // a rotation keeps its own axis, and p lies along it
    pcs_rotation_hat(s->p, hat);
    pcs_rotation_multiply(hat, hat, square);
    rotating_add(B, 3, SPIN_A, 0.5, hat);
    rotating_add(B, 3, SPIN_A, -s->c, square);
    rotating_add(B, 3, SPIN_B, 0.5, hat);
    rotating_add(B, 3, SPIN_B, s->c, square);
}

// Evaluates a cell from displacements and velocities of both nodes.
static void rotating_look(const pcs_batch *batch, int cell, const double u[NDOF], const double w[NDOF],
                          rotating_state *s)
{
    const pcs_bushing_params *params = batch->params;
    const rotating *t = batch->data;
    const double *arm_a = t->arms[cell][0], *arm_b = t->arms[cell][1];
    double back[3], there[9], shift[3], apart[3], seen[3], speed[3];
    for (int k = 0; k < 3; k++) back[k] = -u[3 + k];
    pcs_rotation_exp(u + 3, s->R);
    pcs_rotation_exp(u + 9, there);
    double inverse[9];
    pcs_rotation_transpose(s->R, inverse);
    pcs_rotation_multiply(inverse, there, s->Q);
    if (t->is_flat)
        for (int k = 0; k < 3; k++) s->p[k] = u[9 + k] - u[3 + k];
    else pcs_rotation_compose(back, u + 9, s->p);
    double a2 = pcs_dot3(s->p, s->p), sine = sin(0.5 * sqrt(a2));
    s->c = pcs_rotation_curve(a2, a2 > 0.0 ? 0.5 * sqrt(a2) * cos(0.5 * sqrt(a2)) / sine : 1.0);
    s->slope = pcs_rotation_curve_slope(a2, s->c, sine * sine);
    pcs_rotation_shift(u + 9, false, arm_b, shift);
    for (int k = 0; k < 3; k++) {
        apart[k] = u[6 + k] - u[k] + shift[k];
        speed[k] = w[6 + k] - w[k];
    }
    pcs_rotation_apply(inverse, apart, seen);
    pcs_rotation_apply(inverse, speed, s->parting);
    pcs_rotation_shift(back, false, arm_a, shift);
    for (int k = 0; k < 3; k++) {
        s->e[k] = seen[k] + shift[k];
        s->e[3 + k] = s->p[k];
        s->y[k] = arm_a[k] + s->e[k];
        s->W[0][k] = w[3 + k];
        s->W[1][k] = w[9 + k];
    }
    rotating_fill(t, arm_b, s);
    for (int i = 0; i < NMODE; i++) {
        s->rate[i] = 0.0;
        for (int j = 0; j < NDOF; j++) s->rate[i] += s->B[i][j] * w[j];
        s->load[i] = pcs_bushing_stiffness(params, i) * s->e[i] + rotating_damping(batch, i) * s->rate[i];
    }
}

// Evaluates a cell of the batch; the dofs of a mount are those of b, while a rests.
static void rotating_find(const pcs_batch *batch, int cell, const pcs_cell_state *at, rotating_state *s)
{
    int n = batch->ops->ndof;
    double u[NDOF] = { 0 }, w[NDOF] = { 0 };
    pcs_cell_look_or_rest(batch, cell, n, at, u + NDOF - n, w + NDOF - n);
    rotating_look(batch, cell, u, w, s);
}

// Computes internal and damping force on the dofs of a cell, as forces on the body.
static void rotating_force(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *force)
{
    int n = batch->ops->ndof;
    rotating_state s;
    rotating_find(batch, cell, at, &s);
    for (int j = 0; j < n; j++) {
        force[j] = 0.0;
        for (int i = 0; i < NMODE; i++) force[j] -= s.B[i][NDOF - n + j] * s.load[i];
    }
}

static void pcs_rotating_force(const pcs_batch *batch, const pcs_cell_state *at, double *f)
{
    pcs_cell_add_force(batch, batch->ops->ndof, rotating_force, at, f);
}

// Computes H_+ (sign 1) or H_- (sign -1).
static void rotating_bend(const rotating_state *s, const double z[3], double sign, double H[9])
{
    double hat[9], p_hat[9], rotated[9], once[3], once_hat[9], twice[3];
    pcs_rotation_hat(z, hat);
    pcs_rotation_hat(s->p, p_hat);
    pcs_rotation_multiply(p_hat, hat, rotated);
    pcs_cross(s->p, z, once);
    pcs_rotation_hat(once, once_hat);
    pcs_cross(s->p, once, twice);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int k = 3 * i + j;
            H[k] = sign * 0.5 * hat[k] - s->c * (once_hat[k] + rotated[k]) + s->slope * twice[i] * s->p[j];
        }
}

// Adds X times three rows of B to A, from `row` on.
static void rotating_add_rows(double *A, int row, const double X[9], const double (*B)[NDOF])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < NDOF; j++)
            A[(row + i) * NDOF + j] += X[3 * i] * B[0][j] + X[3 * i + 1] * B[1][j] + X[3 * i + 2] * B[2][j];
}

// Computes D_e and D_p, the derivatives of the rates by the positions at constant velocities.
static void rotating_rates(const rotating *t, const double r[3], const rotating_state *s, double D[NMODE * NDOF])
{
    double h[3], rotated[3], hat[9], Qh[9], H[2][9];
    memset(D, 0, NMODE * NDOF * sizeof *D);
    pcs_cross(s->W[1], r, h);
    pcs_rotation_apply(s->Q, h, rotated);
    for (int k = 0; k < 3; k++) rotated[k] += s->parting[k];
    pcs_rotation_hat(rotated, hat);
    rotating_add(D, 0, SPIN_A, 1.0, hat);
    pcs_rotation_hat(h, hat);
    pcs_rotation_multiply(s->Q, hat, Qh);
    rotating_add(D, 0, SPIN_B, -1.0, Qh);
    const double back[3] = { -s->W[0][0], -s->W[0][1], -s->W[0][2] };
    pcs_rotation_hat(back, hat);
    rotating_add_rows(D, 0, hat, s->B);
    if (t->is_flat) return;
    rotating_bend(s, s->W[1], -1.0, H[0]);
    rotating_bend(s, s->W[0], 1.0, H[1]);
    for (int k = 0; k < 9; k++) H[0][k] -= H[1][k];
    rotating_add_rows(D, 3, H[0], s->B + 3);
}

// Adds S, the change of the directions under the forces, to K.
static void rotating_add_directions(const rotating *t, const double r[3], const rotating_state *s, double *K)
{
    const double *n = s->load, *m = s->load + 3;
    double hat[9], Rn[9], back[9], N[3], r_hat[9], product[9], other[9];
    pcs_rotation_hat(n, hat);
    pcs_rotation_multiply(s->R, hat, Rn);
    rotating_add(K, 0, SPIN_A, 1.0, Rn);
    rotating_add(K, PLACE_B, SPIN_A, -1.0, Rn);
    rotating_add_rows(K, SPIN_A, hat, s->B);
    pcs_rotation_transpose(s->Q, back);
    pcs_rotation_hat(r, r_hat);
    pcs_rotation_multiply(r_hat, back, product);
    pcs_rotation_multiply(product, hat, other);
    rotating_add(K, SPIN_B, SPIN_A, -1.0, other);
    pcs_rotation_apply(back, n, N);
    pcs_rotation_hat(N, hat);
    pcs_rotation_multiply(r_hat, hat, product);
    rotating_add(K, SPIN_B, SPIN_B, 1.0, product);
    if (t->is_flat) return;
    rotating_bend(s, m, -1.0, hat);
    for (int k = 0; k < 9; k++) hat[k] = -hat[k];
    rotating_add_rows(K, SPIN_A, hat, s->B + 3);
    rotating_bend(s, m, 1.0, hat);
    rotating_add_rows(K, SPIN_B, hat, s->B + 3);
}

// Computes K, [NDOF][NDOF], over the dofs of both nodes of a cell.
static void rotating_stiffness(const pcs_batch *batch, int cell, const rotating_state *s, double *K)
{
    const pcs_bushing_params *params = batch->params;
    const rotating *t = batch->data;
    double D[NMODE * NDOF];
    memset(K, 0, NDOF * NDOF * sizeof *K);
    rotating_rates(t, t->arms[cell][1], s, D);
    for (int m = 0; m < NMODE; m++) {
        double k = pcs_bushing_stiffness(params, m), c = rotating_damping(batch, m);
        for (int i = 0; i < NDOF; i++)
            for (int j = 0; j < NDOF; j++)
                K[i * NDOF + j] += k * (s->B[m][i] * s->B[m][j]) + s->B[m][i] * (c * D[m * NDOF + j]);
    }
    rotating_add_directions(t, t->arms[cell][1], s, K);
}

// Copies the last n rows and columns.
static void rotating_take(int n, const double *A, double *out)
{
    for (int i = 0; i < n; i++)
        memcpy(out + (ptrdiff_t)i * n, A + (NDOF - n + i) * NDOF + NDOF - n, (size_t)n * sizeof *out);
}

// Bounds K in all orientations. The stiffest spring, which may come to act along every direction, replaces the others,
// and |a - b|^2 <= 2 |a|^2 + 2 |b|^2 decouples the two bodies.
static void rotating_stiffest(const pcs_batch *batch, const rotating_state *s, double A[NDOF * NDOF])
{
    double most[2] = { 0.0, 0.0 }, factor = batch->ops->nnode;
    memset(A, 0, NDOF * NDOF * sizeof *A);
    for (int m = 0; m < NMODE; m++) most[m / 3] = fmax(most[m / 3], pcs_bushing_stiffness(batch->params, m));
    for (int m = 0; m < NMODE; m++)
        for (int i = 0; i < NDOF; i++)
            for (int j = 0; j < NDOF; j++)
                if (i / NODE == j / NODE) A[i * NDOF + j] += factor * most[m / 3] * (s->B[m][i] * s->B[m][j]);
}

static void rotating_matrices(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *M, double *K,
                              double *C)
{
    int n = batch->ops->ndof;
    double A[NDOF * NDOF];
    rotating_state s;
    rotating_find(batch, cell, at, &s);
    if (M != NULL) memset(M, 0, (size_t)(n * n) * sizeof *M);
    if (at == pcs_stiffest) rotating_stiffest(batch, &s, A);
    else rotating_stiffness(batch, cell, &s, A);
    if (K != NULL) rotating_take(n, A, K);
    if (C == NULL) return;
    memset(A, 0, sizeof A);
    for (int m = 0; m < NMODE; m++)
        for (int i = 0; i < NDOF; i++)
            for (int j = 0; j < NDOF; j++) A[i * NDOF + j] += rotating_damping(batch, m) * (s.B[m][i] * s.B[m][j]);
    rotating_take(n, A, C);
}

static void rotating_measure(const pcs_batch *batch, const pcs_cell_state *at, unsigned what, pcs_cell_sums *sum)
{
    const pcs_cell_state beside = { .q = at->q, .v = at->along };
    if (what & PCS_CELL_RESULTANT)
        pcs_cell_add_resultant(batch, &((const rotating *)batch->data)->shape, rotating_force, at, sum);
    for (int c = 0; c < batch->ncell; c++) {
        rotating_state s, along;
        rotating_find(batch, c, at, &s);
        for (int m = 0; m < NMODE && (what & PCS_CELL_ENERGY); m++)
            sum->strain += 0.5 * pcs_bushing_stiffness(batch->params, m) * s.e[m] * s.e[m];
        if (!(what & PCS_CELL_POWER)) continue;
        rotating_find(batch, c, &beside, &along);
        for (int m = 0; m < NMODE; m++) sum->power += rotating_damping(batch, m) * s.rate[m] * along.rate[m];
    }
}

static void rotating_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                                 double field[PCS_MAX_CELL_FIELDS])
{
    rotating_state s;
    rotating_find(batch, cell, at, &s);
    pcs_bushing_put_fields(batch->params, s.e, s.rate, field);
}

static const char *const bushing_angles[] = { "small", "finite", NULL };
static const char *const bushing_spaces[] = { "auto", "plane", "space", NULL };
static const double same_point = 1e-9; // relative to the arms and the distance of the nodes

#define BUSHING_SPRINGS                                                                                      \
    PCS_VECTOR("stiffness", pcs_bushing_params, stiffness, PCS_DEFAULT("[0, 0, 0]"), PCS_NOT_NEGATIVE,       \
               "[kx, ky, kz], N/m"),                                                                         \
        PCS_VECTOR("damper", pcs_bushing_params, damping, PCS_DEFAULT("[0, 0, 0]"), PCS_NOT_NEGATIVE,        \
                   "[cx, cy, cz], N s/m"),                                                                   \
        PCS_VECTOR("torsional_stiffness", pcs_bushing_params, torsional_stiffness, PCS_DEFAULT("[0, 0, 0]"), \
                   PCS_NOT_NEGATIVE, "[krx, kry, krz], N m/rad"),                                            \
        PCS_VECTOR("torsional_damper", pcs_bushing_params, torsional_damping, PCS_DEFAULT("[0, 0, 0]"),      \
                   PCS_NOT_NEGATIVE, "[crx, cry, crz], N m s/rad")

#define BUSHING_ANGLES                                                                                     \
    PCS_CHOICE("angles", pcs_bushing_params, angles, PCS_DEFAULT("small"), bushing_angles,                 \
               "rotations of nodes: small as of linear beams, finite as of exact beams and rigid bodies"), \
        PCS_CHOICE(                                                                                        \
            "in", pcs_bushing_params, in, PCS_DEFAULT("auto"), bushing_spaces,                             \
            "how nodes with finite angles rotate; auto: in the plane if no spring, damper or offset is out of it")

static const pcs_option bushing_options[] = {
    BUSHING_SPRINGS,
    PCS_VECTOR("offset_a", pcs_bushing_params, offset_a, PCS_OPTIONAL, PCS_ANY_NUMBER,
               "rigid arm from the first node to the bushing, in the reference state, m; or offset_b"),
    PCS_VECTOR("offset_b", pcs_bushing_params, offset_b, PCS_OPTIONAL, PCS_ANY_NUMBER,
               "the same from the second node; with finite angles the axes rotate with the first"),
    BUSHING_ANGLES,
    { 0 },
};

static const pcs_option mount_options[] = {
    BUSHING_SPRINGS,
    PCS_VECTOR("offset", pcs_bushing_params, offset_b, PCS_OPTIONAL, PCS_ANY_NUMBER,
               "rigid arm from the node to the point that is mounted, in the reference state, m"),
    BUSHING_ANGLES,
    { 0 },
};

static const char *const bushing_fields[] = { "force", "moment", "strain_energy", NULL };

static const char *bushing_check(const void *params, const char **option)
{
    const pcs_bushing_params *p = params;
    *option = "in";
    if (p->in != PCS_BUSHING_PLANE || !pcs_bushing_leaves_plane(p)) return NULL;
    return "in the plane nothing acts along z or about x or y, and no offset points out of it";
}

// Returns true if finite rotations are in space, where they do not add up.
static bool bushing_rotates(const pcs_bushing_params *p, bool has_offset)
{
    bool tilts = !pcs_bushing_is_free(p, 3) || !pcs_bushing_is_free(p, 4);
    return p->angles == 1 && (has_offset || tilts || p->in == PCS_BUSHING_SPACE);
}

static bool bushing_has_offset(const pcs_bushing_params *p)
{
    return !isnan(p->offset_a[0]) || !isnan(p->offset_b[0]);
}

// Finds the arms: zero without offsets. If the axes rotate, the point is the second node.
static void bushing_outline(const void *params, const double span[3], pcs_cell_outline *out)
{
    const pcs_bushing_params *p = params;
    bool is_from_a = isnan(p->offset_b[0]) && !isnan(p->offset_a[0]);
    double size = 0.0, (*arm)[3] = out->arm;
    if (!bushing_has_offset(p) && !bushing_rotates(p, false)) return;
    for (int k = 0; k < 3; k++) {
        double b = isnan(p->offset_b[k]) ? 0.0 : p->offset_b[k];
        arm[0][k] = is_from_a ? p->offset_a[k] : span[k] + b;
        arm[1][k] = is_from_a ? p->offset_a[k] - span[k] : b;
        size += fabs(span[k]) + fabs(arm[0][k]) + fabs(arm[1][k]);
    }
    for (int i = 0; i < 2; i++) // removes the round-off of differences of positions where there is no arm
        if (pcs_norm3(arm[i]) <= 1e-12 * size) memset(arm[i], 0, sizeof arm[i]);
    out->is_finite = p->angles == 1;
}

static void mount_outline(const void *params, const double span[3], pcs_cell_outline *out)
{
    const pcs_bushing_params *p = params;
    for (int k = 0; k < 3; k++) out->arm[0][k] = out->arm[1][k] = isnan(p->offset_b[k]) ? 0.0 : p->offset_b[k];
    out->is_finite = p->angles == 1;
}

// Fails unless two given offsets lead to the same point.
static pcs_status bushing_check_offsets(pcs_context *ctx, const pcs_batch *batch, int cell)
{
    const pcs_bushing_params *p = batch->params;
    double span[3], apart[3];
    if (batch->ops->nnode == 1 || isnan(p->offset_a[0]) || isnan(p->offset_b[0])) return PCS_OK;
    pcs_cell_span(batch, cell, span);
    for (int k = 0; k < 3; k++) apart[k] = span[k] + p->offset_b[k] - p->offset_a[k];
    double size = pcs_norm3(span) + pcs_norm3(p->offset_a) + pcs_norm3(p->offset_b);
    if (pcs_norm3(apart) <= same_point * size) return PCS_OK;
    return pcs_fail(
        ctx, PCS_BAD_INPUT,
        "element group '%s': cell %d: 'offset_a' and 'offset_b' lead to points that are %g m apart, a bushing "
        "has one: give one of them",
        batch->name, batch->cells[cell], pcs_norm3(apart));
}

static pcs_status bushing_check_cell(pcs_context *ctx, const pcs_batch *batch, int cell)
{
    bool is_there = false;
    for (int i = 0; i < NMODE; i++) is_there = is_there || !pcs_bushing_is_free(batch->params, i);
    PCS_TRY(pcs_one_node_check(ctx, batch, cell));
    if (is_there) return bushing_check_offsets(ctx, batch, cell);
    return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': all its stiffnesses and dampings are zero", batch->name);
}

// Returns (e_j x arm)_i: the displacement of the point along axis i per unit rotation about axis j.
static double bushing_lever(const double arm[3], int j, int i)
{
    if (i == (j + 1) % 3) return -arm[(j + 2) % 3];
    return i == (j + 2) % 3 ? arm[(j + 1) % 3] : 0.0;
}

// Returns true if a rotation about axis j moves the point along an axis with stiffness or damping.
static bool bushing_moves(const pcs_bushing_params *p, const double arm[3], int j)
{
    for (int i = 0; i < 3; i++)
        if (!pcs_bushing_is_free(p, i) && bushing_lever(arm, j, i) != 0.0) return true;
    return false;
}

static pcs_status bushing_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                    pcs_node_dofs *out)
{
    const pcs_bushing_params *p = batch->params;
    double arm[2][3];
    PCS_TRY(bushing_check_cell(ctx, batch, cell));
    pcs_bushing_cell_arms(batch, cell, arm);
    pcs_cell_space_dofs(out);
    out->is_finite = p->angles == 1;
    for (int i = 0; i < NMODE; i++) {
        bool is_free = pcs_bushing_is_free(p, i);
        if (i >= 3) is_free = is_free && !bushing_moves(p, arm[local_node], i - 3);
        if (is_free) out->direction[i][i % 3] = 0.0;
    }
    return PCS_OK;
}

// Declares the dofs for finite angles with arms, or in space.
static pcs_status bushing_rotating_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                        pcs_node_dofs *out)
{
    const pcs_bushing_params *p = batch->params;
    bool in_space = pcs_bushing_in_space(p), is_mount = batch->ops->nnode == 1, rotates = !is_mount && local_node == 0;
    double arm[2][3];
    PCS_TRY(bushing_check_cell(ctx, batch, cell));
    pcs_bushing_cell_arms(batch, cell, arm);
    rotates = rotates || pcs_norm3(arm[1]) > 0.0;
    for (int i = 3; i < NMODE; i++) rotates = rotates || !pcs_bushing_is_free(p, i);
    pcs_cell_space_dofs(out);
    out->is_finite = rotates;
    for (int k = 0; k < 3; k++) {
        // The axes of a mount are fixed, those of a bushing may come to lie along all directions.
        if (is_mount ? pcs_bushing_is_free(p, k) : k == 2 && !in_space) out->direction[k][k] = 0.0;
        if (!rotates || (k < 2 && !in_space)) out->direction[3 + k][k] = 0.0;
    }
    return PCS_OK;
}

static void bushing_make(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    const pcs_bushing_params *p = batch->params;
    int n = batch->ops->ndof;
    double arm[2][3];
    pcs_bushing_cell_arms(batch, cell, arm);
    for (int i = 0; i < NMODE; i++) {
        double *B = kind->B + (ptrdiff_t)i * n;
        kind->D[i * NMODE + i] = pcs_bushing_stiffness(p, i);
        for (int node = 2 - batch->ops->nnode; node < 2; node++) {
            double *own = B + n - (2 - node) * NMODE, sign = node == 0 ? -1.0 : 1.0;
            own[i] = sign;
            if (i < 3)
                for (int j = 0; j < 3; j++) own[3 + j] = sign * bushing_lever(arm[node], j, i);
        }
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++) kind->own->C[a * n + b] += pcs_bushing_damping(p, i) * (B[a] * B[b]);
    }
}

// Evaluates force and moment, including the dampers.
static void bushing_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                                double field[PCS_MAX_CELL_FIELDS])
{
    double e[PCS_MAX_MODES], rate[PCS_MAX_MODES];
    pcs_modal_deform(batch, cell, at->q, e);
    pcs_modal_deform(batch, cell, at->v, rate);
    pcs_bushing_put_fields(batch->params, e, rate, field);
}

#define BUSHING_COMMON \
    .params_size = sizeof(pcs_bushing_params), .check = bushing_check, .sees_velocity = true, .fields = bushing_fields
#define BUSHING_NAME                                                                                 \
    .name = "bushing", .summary = "springs and dampers along three axes between two nodes; no mass", \
    .options = bushing_options, .outline = bushing_outline, .nnode = 2, .ndof = 2 * NMODE, BUSHING_COMMON
#define MOUNT_NAME                                                                                                  \
    .name = "mount", .summary = "springs and dampers along the global axes between a node and the ground; no mass", \
    .options = mount_options, .outline = mount_outline, .nnode = 1, .ndof = NMODE, BUSHING_COMMON
#define BUSHING_KERNELS \
    .node_dofs = bushing_node_dofs, PCS_MODAL_KERNELS(NMODE, 3, bushing_make), .read_fields = bushing_read_fields

static const pcs_element_ops bushing_that_rotates = {
    BUSHING_NAME,
    .node_dofs = bushing_rotating_dofs,
    PCS_ROTATING_KERNELS,
};

static const pcs_element_ops mount_that_rotates = {
    MOUNT_NAME,
    .node_dofs = bushing_rotating_dofs,
    PCS_ROTATING_KERNELS,
};

static const pcs_element_ops *bushing_variant(const void *params)
{
    const pcs_bushing_params *p = params;
    return bushing_rotates(p, bushing_has_offset(p)) ? &bushing_that_rotates : NULL;
}

static const pcs_element_ops *mount_variant(const void *params)
{
    const pcs_bushing_params *p = params;
    return bushing_rotates(p, !isnan(p->offset_b[0])) ? &mount_that_rotates : NULL;
}

const pcs_element_ops pcs_element_bushing = {
    BUSHING_NAME,
    .variant = bushing_variant,
    BUSHING_KERNELS,
};

const pcs_element_ops pcs_element_mount = {
    MOUNT_NAME,
    .variant = mount_variant,
    BUSHING_KERNELS,
};
