// Common parts of beams, and the linear Timoshenko beams in the plane and in space.

#include "elements/beam.h"

#include "core/rotation.h"

#include <math.h>
#include <string.h>

const char *const pcs_beam_masses[] = { "consistent", "lumped", NULL };
const char *const pcs_beam_wave_masses[] = { "consistent", "lumped", "one_point", "auto", "translational", NULL };

const pcs_option pcs_beam_plane_options[] = {
    PCS_BEAM_OPTIONS,
    { .name = NULL },
};

const char *const pcs_beam_plane_fields[] = { "axial_force", "shear_force",    "moment_start",  "moment_end",
                                              "stress",      "bending_stress", "strain_energy", NULL };

pcs_status pcs_beam_plane_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out)
{
    double axis[2], length = pcs_beam_plane_axis(batch, cell, axis);
    const int *node = batch->nodes[batch->cells[cell]];
    *out = (pcs_node_dofs){ .count = 3, .is_rotation = { false, false, true } };
    out->direction[0][0] = out->direction[1][1] = out->direction[2][2] = 1.0;
    if (!(length > 0.0) || !isfinite(length))
        return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': cell %d has length %g, must be > 0 in the x-y plane",
                        batch->name, batch->cells[cell], length);
    if (fabs(batch->x[node[1]][2] - batch->x[node[0]][2]) <= 1e-9 * length) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': cell %d leaves the x-y plane: z goes from %g to %g",
                    batch->name, batch->cells[cell], batch->x[node[0]][2], batch->x[node[1]][2]);
}

pcs_status pcs_beam_space_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, const double orientation[3],
                               pcs_node_dofs *out)
{
    double R[3][3], sine, length = pcs_beam_space_frame(batch, cell, orientation, R, &sine);
    pcs_cell_space_dofs(out);
    if (!(length > 0.0) || !isfinite(length))
        return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': cell %d has length %g, must be > 0", batch->name,
                        batch->cells[cell], length);
    if (sine > 1e-6) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': the orientation [%g, %g, %g] is parallel to cell %d",
                    batch->name, orientation[0], orientation[1], orientation[2], batch->cells[cell]);
}

// Returns the bending constants of a cell in its local x-y plane (plane 0, about z) or in x-z (1, about y).
static pcs_timoshenko beam_bending(const pcs_batch *batch, int cell, double length, int plane)
{
    const pcs_beam_params *p = batch->params;
    const pcs_section *s = pcs_taper_section(batch, cell);
    const pcs_taper *taper = pcs_taper_of(batch, cell);
    double G = 0.5 * p->E / (1.0 + p->nu), I = plane == 0 ? s->Iz : s->Iy;
    double shear = G * s->area * (plane == 0 ? s->ky : s->kz);
    return (pcs_timoshenko){ .EI = p->E * I,
                             .phi = 12.0 * p->E * I / (shear * length * length),
                             .length = length,
                             .line_mass = p->rho * s->area,
                             .line_inertia = p->mass == PCS_BEAM_TRANSLATIONAL ? 0.0 : p->rho * I,
                             .has_one_point = p->mass == PCS_BEAM_ONE_POINT,
                             .taper = taper == NULL || taper->is_uniform ? NULL : taper,
                             .line = p->section.line,
                             .plane = plane };
}

// Returns the travel time, s, through a cell of an axial wave, or of a transverse one along its local y axis.
static double beam_travel_time(const pcs_batch *batch, int cell, double length, bool is_transverse)
{
    const pcs_beam_params *p = batch->params;
    double G = 0.5 * p->E / (1.0 + p->nu), shear = pcs_taper_section(batch, cell)->ky * G;
    return length * sqrt(p->rho / (is_transverse ? shear : p->E));
}

pcs_shares pcs_beam_find_shares(const pcs_batch *batch, int cell, pcs_beam_quantity of)
{
    const pcs_taper *taper = pcs_taper_of(batch, cell);
    int mass = ((const pcs_beam_params *)batch->params)->mass;
    if (mass == PCS_BEAM_ONE_POINT) return (pcs_shares){ 0.25, 0.25, 0.25 };
    bool is_lumped = mass == PCS_BEAM_LUMPED;
    if (taper == NULL || taper->is_uniform) return pcs_share(NULL, is_lumped);
    double x[3], Iy = taper->mean.Iy, Iz = taper->mean.Iz;
    for (int i = 0; i < 3; i++) {
        const double values[] = { taper->area[i], taper->Iy[i], taper->Iz[i],
                                  (Iy * taper->Iy[i] + Iz * taper->Iz[i]) / (Iy + Iz) };
        x[i] = values[of];
    }
    return pcs_share(x, is_lumped);
}

// Adds the matrix of local dofs, transformed to global axes, to A.
static void beam_rotate_matrix(int ndof, const double R[3][3], const double *local, double *A)
{
    for (int i = 0; i < ndof; i++)
        for (int j = 0; j < ndof; j++)
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    A[i * ndof + j] += R[k][i % 3] * local[(3 * (i / 3) + k) * ndof + 3 * (j / 3) + l] * R[l][j % 3];
}

// Transforms B and M of the kind from local to global axes; every three dofs rotate with R, whose rows are local axes.
static void beam_rotate(int ndof, int nmode, const double R[3][3], const double *local_B, const double *local_M,
                        pcs_modal_kind *kind)
{
    for (int a = 0; a < nmode; a++)
        for (int j = 0; j < ndof; j++)
            for (int k = 0; k < 3; k++) kind->B[a * ndof + j] += local_B[a * ndof + 3 * (j / 3) + k] * R[k][j % 3];
    beam_rotate_matrix(ndof, R, local_M, kind->M);
}

// Computes D from the flexibility; `scale` is that of D for the means.
static void timoshenko_tapered_stiffness(const pcs_timoshenko *beam, double D[4])
{
    const pcs_section *mean = &beam->taper->mean;
    const double *bend = beam->taper->bend[beam->plane];
    double I = beam->plane == 0 ? mean->Iz : mean->Iy;
    double carrying = mean->area * (beam->plane == 0 ? mean->ky : mean->kz);
    double shear = beam->phi / 12.0 * carrying * beam->taper->shear[beam->plane];
    double first = I * bend[0] + shear, cross = shear - I * bend[1], last = I * bend[2] + shear;
    double scale = beam->EI / (beam->length * (first * last - cross * cross));
    D[0] = scale * last;
    D[1] = D[2] = -scale * cross;
    D[3] = scale * first;
}

// Computes D, row-major 2 x 2.
static void timoshenko_stiffness(const pcs_timoshenko *beam, double D[4])
{
    if (beam->has_one_point) {
        double bending = beam->EI / beam->length, shear = 3.0 * bending / beam->phi;
        D[0] = D[3] = shear + bending;
        D[1] = D[2] = shear - bending;
        return;
    }
    if (beam->taper != NULL) {
        timoshenko_tapered_stiffness(beam, D);
        return;
    }
    double scale = beam->EI / ((1.0 + beam->phi) * beam->length);
    D[0] = D[3] = scale * (4.0 + beam->phi);
    D[1] = D[2] = scale * (2.0 - beam->phi);
}

// Adds scale times the pattern that both parts of the mass share: [a b c d; b e -d f; c -d a -b; d f -b e].
static void timoshenko_add(double scale, const double part[6], double M[16])
{
    double a = part[0], b = part[1], c = part[2], d = part[3], e = part[4], f = part[5];
    const double entries[16] = { a, b, c, d, b, e, -d, f, c, -d, a, -b, d, f, -b, e };
    for (int i = 0; i < 16; i++) M[i] += scale * entries[i];
}

static void timoshenko_one_point(const pcs_timoshenko *beam, double M[16])
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            double line = i % 2 == 0 ? beam->line_mass : beam->line_inertia;
            M[4 * i + j] = i % 2 == j % 2 ? 0.25 * line * beam->length : 0.0;
        }
}

// Holds integrals along a cell, piece by piece.
typedef struct timoshenko_sum {
    const pcs_timoshenko *beam;
    double D[4];
    double rotation[2], deflection[2]; // at the start of the piece, for unit deformations, relative to the chord
    double *M;
} timoshenko_sum;

enum { POINTS = PCS_TAPER_POINTS };

// Computes rotation and deflection relative to the chord at the points of a piece, for the deformation e_c = 1.
static void timoshenko_run(timoshenko_sum *sum, const pcs_taper_piece *piece, int c, double rotation[POINTS],
                           double deflection[POINTS])
{
    const pcs_timoshenko *beam = sum->beam;
    const pcs_section *mean = &beam->taper->mean;
    bool is_about_z = beam->plane == 0;
    double I = is_about_z ? mean->Iz : mean->Iy, carrying = mean->area * (is_about_z ? mean->ky : mean->kz);
    double L = beam->length, bending = L * I / beam->EI, shear = L * beam->phi / (12.0 * beam->EI) * carrying;
    double bend[POINTS], slope[POINTS], S1 = sum->D[c], S2 = sum->D[2 + c];
    for (int i = 0; i < POINTS; i++) {
        const pcs_section *s = &piece->section[i];
        bend[i] = bending * (S2 * piece->xi[i] - S1 * (1.0 - piece->xi[i])) / (is_about_z ? s->Iz : s->Iy);
    }
    double rotated = pcs_taper_run(piece, bend, rotation);
    for (int i = 0; i < POINTS; i++) {
        const pcs_section *s = &piece->section[i];
        rotation[i] += sum->rotation[c];
        slope[i] = L * (rotation[i] - shear * (S1 + S2) / (s->area * (is_about_z ? s->ky : s->kz)));
    }
    double deflected = pcs_taper_run(piece, slope, deflection);
    for (int i = 0; i < POINTS; i++) deflection[i] += sum->deflection[c];
    sum->rotation[c] += rotated;
    sum->deflection[c] += deflected;
}

static void timoshenko_add_piece(void *user, const pcs_taper_piece *piece)
{
    timoshenko_sum *sum = user;
    const pcs_timoshenko *beam = sum->beam;
    const pcs_section *mean = &beam->taper->mean;
    double L = beam->length, rotation[2][POINTS], deflection[2][POINTS];
    // Holds the deformations for unit (w1, t1, w2, t2).
    const double B[2][4] = { { 1.0 / L, 1.0, -1.0 / L, 0.0 }, { 1.0 / L, 0.0, -1.0 / L, 1.0 } };
    for (int c = 0; c < 2; c++) timoshenko_run(sum, piece, c, rotation[c], deflection[c]);
    for (int k = 0; k < POINTS; k++) {
        const pcs_section *s = &piece->section[k];
        double N[4] = { 1.0 - piece->xi[k], 0.0, piece->xi[k], 0.0 }, Nt[4] = { -1.0 / L, 0.0, 1.0 / L, 0.0 };
        double mass = piece->weight[k] * L * beam->line_mass * s->area / mean->area;
        double share = beam->plane == 0 ? s->Iz / mean->Iz : s->Iy / mean->Iy;
        double inertia = piece->weight[k] * L * beam->line_inertia * share;
        for (int j = 0; j < 8; j++) {
            N[j % 4] += deflection[j / 4][k] * B[j / 4][j % 4];
            Nt[j % 4] += rotation[j / 4][k] * B[j / 4][j % 4];
        }
        for (int j = 0; j < 16; j++) sum->M[j] += mass * N[j / 4] * N[j % 4] + inertia * Nt[j / 4] * Nt[j % 4];
    }
}

// Computes M, row-major 4 x 4.
static void timoshenko_mass(const pcs_timoshenko *beam, double M[16])
{
    if (beam->has_one_point) {
        timoshenko_one_point(beam, M);
        return;
    }
    for (int i = 0; i < 16; i++) M[i] = 0.0;
    if (beam->taper != NULL) {
        timoshenko_sum sum = { .beam = beam, .rotation = { 1.0, 0.0 }, .M = M };
        timoshenko_tapered_stiffness(beam, sum.D);
        pcs_taper_walk(beam->line, beam->taper, timoshenko_add_piece, &sum);
        return;
    }
    double p = beam->phi, p2 = p * p, L = beam->length, L2 = L * L, shear = (1.0 + p) * (1.0 + p);
    const double translation[6] = {
        13.0 / 35.0 + 7.0 * p / 10.0 + p2 / 3.0,    (11.0 / 210.0 + 11.0 * p / 120.0 + p2 / 24.0) * L,
        9.0 / 70.0 + 3.0 * p / 10.0 + p2 / 6.0,     -(13.0 / 420.0 + 3.0 * p / 40.0 + p2 / 24.0) * L,
        (1.0 / 105.0 + p / 60.0 + p2 / 120.0) * L2, -(1.0 / 140.0 + p / 60.0 + p2 / 120.0) * L2
    };
    const double rotation[6] = { 6.0 / 5.0,
                                 (1.0 / 10.0 - p / 2.0) * L,
                                 -6.0 / 5.0,
                                 (1.0 / 10.0 - p / 2.0) * L,
                                 (2.0 / 15.0 + p / 6.0 + p2 / 3.0) * L2,
                                 (-1.0 / 30.0 - p / 6.0 + p2 / 6.0) * L2 };
    timoshenko_add(beam->line_mass * L / shear, translation, M);
    timoshenko_add(beam->line_inertia / (L * shear), rotation, M);
}

// The linear Timoshenko beam in space: two nodes with x, y, z and three rotations, small displacements; and shafts,
// which are such beams with gyroscopic moments.
//
// Local axes: x along the beam, y in the plane of x and `orientation`, z = x cross y. Rod for the axial force and
// for torsion, the plane beam of elements/beam.h on (v, tz) and on (w, -ty).
// Deformations e = (u2 - u1, tx2 - tx1, tz1 - a, tz2 - a, -ty1 - b, -ty2 - b), a = (v2 - v1)/L, b = (w2 - w1)/L.
// Section forces at the ends are those of equilibrium, B^T D e - f with the forces f of loads along the cell.
// Offsets o are rigid arms from the nodes to the ends of the axis: the end moves by u + t x o.
//
// Gyroscopic moments of a shaft that spins at a speed s, in axes that do not spin (theory as for rotary inertia, with
// the polar moment Iy + Iz):  C = s rho Ip (integral of Nty^T Ntz - Ntz^T Nty), skew.
//
// The speed of a shaft is given, or that of its nodes when it is driven, run up and slowed down by torques: the speed
// of a cell is the mean of its nodes, and its gyroscopic moments take no power at any speed. The rotation about the
// axis is then a degree of freedom of any size; tilts and deflections stay small. Rayleigh's damping by mass does not
// brake the spin. Left out is what is of second order: the rate of the speed times the tilts.

typedef pcs_beam_params space_params;

enum { SPACE_NDOF = 12, SPACE_NMODE = 6 };

#define BEAM_OFFSETS                                                                        \
    PCS_VECTOR("offset", pcs_beam_params, offset, PCS_DEFAULT("[0, 0, 0]"), PCS_ANY_NUMBER, \
               "from a node to the axis of the beam, m; a rigid arm"),                      \
        PCS_VECTOR("offset_end", pcs_beam_params, offset_end, PCS_OPTIONAL, PCS_ANY_NUMBER, \
                   "offset at the second node of a cell where it differs from the first, m")

#define BEAM_OPTIONS PCS_BEAM_SPACE_OPTIONS, BEAM_OFFSETS

static const pcs_option space_wave_options[] = {
    PCS_BEAM_MATERIAL, PCS_BEAM_WAVE_MASS, PCS_BEAM_ORIENTATION, BEAM_OFFSETS, { .name = NULL },
};

static const pcs_option space_options[] = {
    BEAM_OPTIONS,
    { .name = NULL },
};

static const pcs_option space_shaft_options[] = {
    BEAM_OPTIONS,
    PCS_REAL("speed", pcs_beam_params, speed, PCS_REQUIRED, PCS_ANY_NUMBER,
             "of spin about the axis from the first to the second node, constant, rad/s"),
    { .name = NULL },
};

static const char *const space_fields[] = { "axial_force", "shear_force", "torque",         "moment_start",
                                            "moment_end",  "stress",      "bending_stress", "strain_energy",
                                            "shear_y",     "shear_z",     "moment_y",       "moment_z",
                                            NULL };

static const char *const space_end_fields[] = {
    "axial_start", "axial_end",      "stress_start", "stress_end",     "shear_y_start", "shear_y_end", "shear_z_start",
    "shear_z_end", "moment_y_start", "moment_y_end", "moment_z_start", "moment_z_end",  NULL
};

static void space_offset(const space_params *p, int end, double offset[3])
{
    for (int k = 0; k < 3; k++) offset[k] = end == 1 && !isnan(p->offset_end[k]) ? p->offset_end[k] : p->offset[k];
}

static void space_outline(const void *params, const double span[3], pcs_cell_outline *out)
{
    for (int end = 0; end < 2; end++) space_offset(params, end, out->arm[end]);
}

// Computes the local axes between the ends of the arms. Returns the length, m.
static double space_frame(const pcs_batch *batch, int cell, double R[3][3], double *sine)
{
    const space_params *p = batch->params;
    double span[3], first[3], second[3];
    pcs_cell_span(batch, cell, span);
    space_offset(p, 0, first);
    space_offset(p, 1, second);
    for (int k = 0; k < 3; k++) span[k] += second[k] - first[k];
    return pcs_beam_frame(span, p->orientation, R, sine);
}

static pcs_status space_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                  pcs_node_dofs *out)
{
    double R[3][3], sine;
    PCS_TRY(pcs_beam_space_dofs(ctx, batch, cell, ((const space_params *)batch->params)->orientation, out));
    double length = space_frame(batch, cell, R, &sine);
    if (length > 0.0 && isfinite(length) && sine > 1e-6) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT,
                    "element group '%s': with its offsets the axis of cell %d has the length %g and lies along the "
                    "orientation up to an angle with the sine %g; both must be > 0",
                    batch->name, batch->cells[cell], length, sine);
}

static pcs_status space_shaft_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                   pcs_node_dofs *out)
{
    const pcs_section *section = pcs_taper_section(batch, cell);
    PCS_TRY(space_node_dofs(ctx, batch, cell, local_node, out));
    if (fabs(section->Iy - section->Iz) <= 1e-6 * section->Iz && fabs(section->ky - section->kz) <= 1e-6) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT,
                    "element group '%s': what spins must be round: Iy = %g and Iz = %g, ky = %g and kz = %g must agree",
                    batch->name, section->Iy, section->Iz, section->ky, section->kz);
}

// Lists the local indices of (w1, t1, w2, t2) in the two planes.
static const int space_place[2][4] = { { 1, 5, 7, 11 }, { 2, 4, 8, 10 } };
static const double space_sign[2][4] = { { 1.0, 1.0, 1.0, 1.0 }, { 1.0, -1.0, 1.0, -1.0 } };

// Adds [first cross; cross last] times a whole between two dofs.
static void space_add_pair(double whole, pcs_shares shares, int a, int b, double m[SPACE_NDOF * SPACE_NDOF])
{
    m[a * SPACE_NDOF + a] += whole * shares.first;
    m[b * SPACE_NDOF + b] += whole * shares.last;
    m[a * SPACE_NDOF + b] += whole * shares.cross;
    m[b * SPACE_NDOF + a] += whole * shares.cross;
}

static void space_local_mass(const pcs_batch *batch, int cell, double L, double m[SPACE_NDOF * SPACE_NDOF])
{
    const space_params *p = batch->params;
    const pcs_section *s = pcs_taper_section(batch, cell);
    pcs_shares area = pcs_beam_find_shares(batch, cell, PCS_BEAM_AREA);
    double weight = p->rho * s->area * L, M[16];
    memset(m, 0, SPACE_NDOF * SPACE_NDOF * sizeof *m);
    space_add_pair(weight, area, 0, 6, m);
    space_add_pair(p->rho * (s->Iy + s->Iz) * L, pcs_beam_find_shares(batch, cell, PCS_BEAM_POLAR), 3, 9, m);
    if (p->mass == PCS_BEAM_LUMPED) {
        for (int k = 1; k < 3; k++) space_add_pair(weight, area, k, 6 + k, m);
        space_add_pair(p->rho * s->Iy * L, pcs_beam_find_shares(batch, cell, PCS_BEAM_IY), 4, 10, m);
        space_add_pair(p->rho * s->Iz * L, pcs_beam_find_shares(batch, cell, PCS_BEAM_IZ), 5, 11, m);
        return;
    }
    for (int plane = 0; plane < 2; plane++) {
        pcs_timoshenko bending = beam_bending(batch, cell, L, plane);
        timoshenko_mass(&bending, M);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                m[space_place[plane][i] * SPACE_NDOF + space_place[plane][j]] =
                    space_sign[plane][i] * space_sign[plane][j] * M[i * 4 + j];
    }
}

static void space_local_modes(const pcs_batch *batch, int cell, double L, double B[SPACE_NMODE][SPACE_NDOF], double *D)
{
    const space_params *p = batch->params;
    const pcs_section *s = pcs_taper_section(batch, cell);
    const pcs_taper *taper = p->mass == PCS_BEAM_ONE_POINT ? NULL : pcs_taper_of(batch, cell);
    double G = 0.5 * p->E / (1.0 + p->nu), D2[4];
    B[0][0] = B[1][3] = -1.0;
    B[0][6] = B[1][9] = 1.0;
    D[0] = p->E * (taper == NULL ? s->area : taper->axial) / L;
    D[SPACE_NMODE + 1] = G * (taper == NULL ? s->torsion : taper->twist) / L;
    for (int plane = 0; plane < 2; plane++) {
        pcs_timoshenko bending = beam_bending(batch, cell, L, plane);
        timoshenko_stiffness(&bending, D2);
        for (int end = 0; end < 2; end++) {
            int mode = 2 + 2 * plane + end;
            B[mode][space_place[plane][0]] = 1.0 / L;
            B[mode][space_place[plane][2]] = -1.0 / L;
            B[mode][space_place[plane][1 + 2 * end]] = space_sign[plane][1];
            for (int other = 0; other < 2; other++) D[mode * SPACE_NMODE + 2 + 2 * plane + other] = D2[2 * end + other];
        }
    }
}

// Computes moments per unit spin speed: the rotary inertia couples the two planes.
static void space_local_gyro(const pcs_batch *batch, int cell, double L, double c[SPACE_NDOF * SPACE_NDOF])
{
    const space_params *p = batch->params;
    const pcs_section *section = pcs_taper_section(batch, cell);
    pcs_timoshenko bending = beam_bending(batch, cell, L, 0);
    double polar = p->rho * (section->Iy + section->Iz), S[16] = { 0 };
    bending.line_mass = 0.0;
    bending.line_inertia = 1.0;
    if (p->mass == PCS_BEAM_LUMPED) {
        pcs_shares rotation = pcs_beam_find_shares(batch, cell, PCS_BEAM_IZ);
        S[5] = rotation.first * L;
        S[15] = rotation.last * L;
    } else {
        timoshenko_mass(&bending, S);
    }
    memset(c, 0, SPACE_NDOF * SPACE_NDOF * sizeof *c);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            double value = -polar * space_sign[1][i] * S[i * 4 + j] * space_sign[0][j];
            c[space_place[1][i] * SPACE_NDOF + space_place[0][j]] = value;
            c[space_place[0][j] * SPACE_NDOF + space_place[1][i]] = -value;
        }
}

// Replaces A by A T, where T maps the motion of a node to that of the end of its arm.
static void space_shift_columns(int nrow, const double offset[2][3], double *A)
{
    for (int row = 0; row < nrow; row++)
        for (int end = 0; end < 2; end++)
            for (int k = 0; k < 3; k++) {
                const double unit[3] = { k == 0, k == 1, k == 2 };
                double moved[3];
                pcs_cross(unit, offset[end], moved);
                A[row * SPACE_NDOF + 6 * end + 3 + k] += pcs_dot3(A + row * SPACE_NDOF + 6 * end, moved);
            }
}

static void space_transpose(double *A)
{
    for (int i = 0; i < SPACE_NDOF; i++)
        for (int j = 0; j < i; j++) {
            double keep = A[i * SPACE_NDOF + j];
            A[i * SPACE_NDOF + j] = A[j * SPACE_NDOF + i];
            A[j * SPACE_NDOF + i] = keep;
        }
}

// Replaces A by T^T A T.
static void space_shift_matrix(const double offset[2][3], double *A)
{
    space_shift_columns(SPACE_NDOF, offset, A);
    space_transpose(A);
    space_shift_columns(SPACE_NDOF, offset, A);
    space_transpose(A);
}

// Computes C, drag and spin of a shaft. `local` is its mass in local axes. A driven shaft scales C by its own speed.
static void space_make_spin(const pcs_batch *batch, int cell, const double R[3][3], const double offset[2][3],
                            double local[SPACE_NDOF * SPACE_NDOF], pcs_modal_own *own)
{
    const space_params *p = batch->params;
    double speed = batch->ops->is_nonlinear ? 1.0 : p->speed, axes[3][3], sine;
    for (int i = 0; i < SPACE_NDOF; i++)
        for (int j = 0; j < SPACE_NDOF; j++)
            if (i % 6 == 3 || j % 6 == 3) local[i * SPACE_NDOF + j] = 0.0; // torsion
    beam_rotate_matrix(SPACE_NDOF, R, local, own->drag);
    space_local_gyro(batch, cell, space_frame(batch, cell, axes, &sine), local);
    for (int i = 0; i < SPACE_NDOF * SPACE_NDOF; i++) local[i] *= speed;
    beam_rotate_matrix(SPACE_NDOF, R, local, own->C);
    for (int i = 0; i < 6; i++) own->spin[6 * (i / 3) + 3 + i % 3] = 0.5 * R[0][i % 3];
    space_shift_matrix(offset, own->drag);
    space_shift_matrix(offset, own->C);
}

static void space_make(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    double R[3][3], sine, L = space_frame(batch, cell, R, &sine), local[SPACE_NDOF * SPACE_NDOF],
                          B[SPACE_NMODE][SPACE_NDOF] = { { 0 } };
    double offset[2][3];
    space_local_modes(batch, cell, L, B, kind->D);
    space_local_mass(batch, cell, L, local);
    beam_rotate(SPACE_NDOF, SPACE_NMODE, (const double(*)[3])R, &B[0][0], local, kind);
    for (int end = 0; end < 2; end++) space_offset(batch->params, end, offset[end]);
    space_shift_columns(SPACE_NMODE, (const double(*)[3])offset, kind->B);
    space_shift_matrix((const double(*)[3])offset, kind->M);
    if (kind->own != NULL)
        space_make_spin(batch, cell, (const double(*)[3])R, (const double(*)[3])offset, local, kind->own);
}

// Resolves the nodal forces of loads along the cell in local axes at the ends of its axis; arms add moments.
static void space_local_load(const pcs_batch *batch, const double *line_load, const double R[3][3],
                             double f[SPACE_NDOF])
{
    memset(f, 0, SPACE_NDOF * sizeof *f);
    if (line_load == NULL) return;
    for (int end = 0; end < 2; end++) {
        const double *force = line_load + 6 * end, *moment = force + 3;
        double offset[3], lever[3];
        space_offset(batch->params, end, offset);
        pcs_cross(offset, force, lever);
        for (int k = 0; k < 3; k++) lever[k] = moment[k] - lever[k];
        for (int k = 0; k < 3; k++) {
            f[6 * end + k] = pcs_dot3(R[k], force);
            f[6 * end + 3 + k] = pcs_dot3(R[k], lever);
        }
    }
}

// Holds the bending of one plane: shear force and moment, with the signs of (w, t).
typedef struct space_bent {
    double S[2];      // moments on the cell at its ends, N m
    double shear;     // mean over the cell, N
    double at_end[2]; // shear force at its ends, N
    double middle;    // internal moment at mid-cell under a load that is linear along the cell, N m
} space_bent;

static space_bent space_bend(int plane, double L, const double s[2], const double f[SPACE_NDOF])
{
    const int *place = space_place[plane];
    const double *sign = space_sign[plane];
    double shear = -(s[0] + s[1]) / L, load = f[place[0]] + f[place[2]];
    space_bent out = { .at_end = { shear + f[place[0]], shear - f[place[2]] } };
    for (int end = 0; end < 2; end++) out.S[end] = s[end] - sign[1 + 2 * end] * f[place[1 + 2 * end]];
    out.shear = -(out.S[0] + out.S[1]) / L;
    out.middle = 0.5 * (out.S[1] - out.S[0]) - 0.125 * load * L;
    return out;
}

// Fills the end fields, which follow those of the cell; moments as they act on the side of the first node.
static void space_read_ends(const pcs_batch *batch, int cell, const double axial[2], const space_bent *y,
                            const space_bent *z, double *field)
{
    for (int end = 0; end < 2; end++) {
        double sign = end == 0 ? -1.0 : 1.0;
        field[end] = axial[end];
        field[2 + end] = axial[end] / pcs_taper_end(batch, cell, end)->area;
        field[4 + end] = y->at_end[end];
        field[6 + end] = z->at_end[end];
        field[8 + end] = -sign * z->S[end];
        field[10 + end] = sign * y->S[end];
    }
}

// Evaluates the section forces of both planes.
static void space_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                              double field[PCS_MAX_CELL_FIELDS])
{
    const pcs_modal *modal = batch->data;
    const double *D = modal->kinds[modal->kind[cell]].D;
    double e[PCS_MAX_MODES], s[SPACE_NMODE], f[SPACE_NDOF], R[3][3], sine, energy = 0.0;
    double L = space_frame(batch, cell, R, &sine);
    pcs_modal_deform(batch, cell, at->q, e);
    for (int a = 0; a < SPACE_NMODE; a++) {
        s[a] = 0.0;
        for (int b = 0; b < SPACE_NMODE; b++) s[a] += D[a * SPACE_NMODE + b] * e[b];
        energy += 0.5 * s[a] * e[a];
    }
    space_local_load(batch, at->line_load, (const double(*)[3])R, f);
    space_bent y = space_bend(0, L, s + 2, f), z = space_bend(1, L, s + 4, f);
    field[0] = s[0];
    field[1] = hypot(y.shear, z.shear);
    field[2] = s[1];
    field[3] = hypot(y.S[0], z.S[0]);
    field[4] = hypot(y.S[1], z.S[1]);
    field[5] = s[0] / pcs_taper_section(batch, cell)->area;
    field[6] = pcs_taper_stress(batch, batch->cells[cell], y.S, z.S);
    field[7] = energy;
    field[8] = y.shear;
    field[9] = z.shear;
    field[10] = -z.middle; // sign for the side of the first node
    field[11] = y.middle;
    space_read_ends(batch, cell, (const double[2]){ s[0] + f[0], s[0] - f[6] }, &y, &z, field + 12);
}

// Returns the travel time, s. Transverse waves are those along local y: along z they differ if ky and kz differ.
static double space_travel_time(const pcs_batch *batch, int cell, bool is_transverse)
{
    double R[3][3], sine;
    return beam_travel_time(batch, cell, space_frame(batch, cell, R, &sine), is_transverse);
}

#define BEAM_COMMON                                                                                                 \
    PCS_BEAM_SPACE_SECTION, .nnode = 2, .ndof = SPACE_NDOF, .fields = space_fields, .end_fields = space_end_fields, \
                            PCS_MODAL_KERNELS(SPACE_NMODE, 3, space_make), .read_fields = space_read_fields,        \
                            .outline = space_outline

const pcs_element_ops pcs_element_beam_timo_3d = {
    .name = "beam_timo_3d",
    .summary = "linear Timoshenko beam in space; three displacements and three rotations at each node",
    .options = space_wave_options,
    PCS_BEAM_MASS_CHOICE,
    .travel_time = space_travel_time,
    .node_dofs = space_node_dofs,
    BEAM_COMMON,
};

const pcs_element_ops pcs_element_rotor_beam = {
    .name = "rotor_beam",
    .summary = "linear Timoshenko beam in space, spinning at a given speed, with gyroscopic moments; round sections",
    .options = space_shaft_options,
    .sees_velocity = true,
    .node_dofs = space_shaft_dofs,
    BEAM_COMMON,
};

const pcs_element_ops pcs_element_rotor_beam_driven = {
    .name = "rotor_beam_driven",
    .summary = "linear Timoshenko beam in space that spins as its nodes do, with gyroscopic moments; round sections",
    .options = space_options,
    .is_nonlinear = true,
    .sees_velocity = true,
    .node_dofs = space_shaft_dofs,
    BEAM_COMMON,
};

// Linear Timoshenko beam in the x-y plane: two nodes with x, y and the rotation about z; small displacements.
//
// Locking-free: one element is exact for end loads, also where its section varies. Axial part as the rod, but by its
// flexibility; bending as elements/beam.h.
// Section forces at the ends are those of equilibrium, B^T D e - f with the forces f of loads along the cell.
// Deformations e = (u2 - u1, t1 - psi, t2 - psi), psi = (w2 - w1)/L, with u along and w across the beam.

enum { PLANE_NDOF = 6, PLANE_NMODE = 3 };

// Takes the part in the plane of the beam in space.
static void plane_make(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    static const int dof[PLANE_NDOF] = { 0, 1, 5, 6, 7, 11 }, mode[PLANE_NMODE] = { 0, 2, 3 };
    double axis[2], L = pcs_beam_plane_axis(batch, cell, axis), B[SPACE_NMODE][SPACE_NDOF] = { { 0 } };
    double m[SPACE_NDOF * SPACE_NDOF], D[SPACE_NMODE * SPACE_NMODE] = { 0 };
    double own_m[PLANE_NDOF * PLANE_NDOF], own_B[PLANE_NMODE * PLANE_NDOF];
    // Rows of R give local from global components at one node.
    const double R[3][3] = { { axis[0], axis[1], 0.0 }, { -axis[1], axis[0], 0.0 }, { 0.0, 0.0, 1.0 } };
    space_local_modes(batch, cell, L, B, D);
    space_local_mass(batch, cell, L, m);
    for (int j = 0; j < PLANE_NDOF; j++) {
        for (int i = 0; i < PLANE_NDOF; i++) own_m[i * PLANE_NDOF + j] = m[dof[i] * SPACE_NDOF + dof[j]];
        for (int i = 0; i < PLANE_NMODE; i++) own_B[i * PLANE_NDOF + j] = B[mode[i]][dof[j]];
    }
    for (int i = 0; i < PLANE_NMODE; i++)
        for (int j = 0; j < PLANE_NMODE; j++) kind->D[i * PLANE_NMODE + j] = D[mode[i] * SPACE_NMODE + mode[j]];
    beam_rotate(PLANE_NDOF, PLANE_NMODE, R, own_B, own_m, kind);
}

static const char *const plane_end_fields[] = { "axial_start",  "axial_end",  "shear_start", "shear_end",
                                                "stress_start", "stress_end", NULL };

// Resolves the nodal forces of loads along the cell in local dofs (u1, w1, t1, u2, w2, t2).
static void plane_local_load(const double *line_load, const double axis[2], double f[PLANE_NDOF])
{
    for (int i = 0; i < PLANE_NDOF; i++) f[i] = line_load == NULL ? 0.0 : line_load[i];
    for (int end = 0; end < 2; end++) {
        double *local = f + 3 * end, x = local[0], y = local[1];
        local[0] = axis[0] * x + axis[1] * y;
        local[1] = axis[0] * y - axis[1] * x;
    }
}

// Evaluates section forces: moments that bend towards +w are positive at both ends; the shear force is the cell's mean.
static void plane_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                              double field[PCS_MAX_CELL_FIELDS])
{
    const pcs_modal *modal = batch->data;
    const double *D = modal->kinds[modal->kind[cell]].D;
    double e[PCS_MAX_MODES], f[PLANE_NDOF], axis[2], L = pcs_beam_plane_axis(batch, cell, axis);
    pcs_modal_deform(batch, cell, at->q, e);
    plane_local_load(at->line_load, axis, f);
    double N = D[0] * e[0], M1 = D[4] * e[1] + D[5] * e[2], M2 = D[7] * e[1] + D[8] * e[2];
    double end[2] = { M1 - f[2], M2 - f[5] };
    field[0] = N;
    field[1] = -(end[0] + end[1]) / L;
    field[2] = -end[0];
    field[3] = end[1];
    field[4] = N / pcs_taper_section(batch, cell)->area;
    field[5] = pcs_taper_stress(batch, batch->cells[cell], end, NULL);
    field[6] = 0.5 * (N * e[0] + M1 * e[1] + M2 * e[2]);
    field[7] = N + f[0];
    field[8] = N - f[3];
    field[9] = -(M1 + M2) / L + f[1];
    field[10] = -(M1 + M2) / L - f[4];
    for (int k = 0; k < 2; k++) field[11 + k] = field[7 + k] / pcs_taper_end(batch, cell, k)->area;
}

static double plane_travel_time(const pcs_batch *batch, int cell, bool is_transverse)
{
    double axis[2];
    return beam_travel_time(batch, cell, pcs_beam_plane_axis(batch, cell, axis), is_transverse);
}

static const pcs_option plane_options[] = {
    PCS_BEAM_MATERIAL,
    PCS_BEAM_WAVE_MASS,
    { .name = NULL },
};

const pcs_element_ops pcs_element_beam_timo_2d = {
    .name = "beam_timo_2d",
    .summary = "linear Timoshenko beam in the x-y plane; x, y and the rotation about z at each node",
    .options = plane_options,
    PCS_BEAM_SECTION,
    PCS_BEAM_MASS_CHOICE,
    .travel_time = plane_travel_time,
    .nnode = 2,
    .ndof = PLANE_NDOF,
    .fields = pcs_beam_plane_fields,
    .end_fields = plane_end_fields,
    .node_dofs = pcs_beam_plane_dofs,
    PCS_MODAL_KERNELS(PLANE_NMODE, 2, plane_make),
    .read_fields = plane_read_fields,
};
