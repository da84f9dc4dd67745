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

#include "core/rotation.h"
#include "elements/beam.h"

#include <math.h>
#include <string.h>

typedef pcs_beam_params beam_params;

enum { NDOF = 12, NMODE = 6 };

#define BEAM_OFFSETS                                                                        \
    PCS_VECTOR("offset", pcs_beam_params, offset, PCS_DEFAULT("[0, 0, 0]"), PCS_ANY_NUMBER, \
               "from a node to the axis of the beam, m; a rigid arm"),                      \
        PCS_VECTOR("offset_end", pcs_beam_params, offset_end, PCS_OPTIONAL, PCS_ANY_NUMBER, \
                   "offset at the second node of a cell where it differs from the first, m")

#define BEAM_OPTIONS PCS_BEAM_SPACE_OPTIONS, BEAM_OFFSETS

static const pcs_option beam_wave_options[] = {
    PCS_BEAM_MATERIAL, PCS_BEAM_WAVE_MASS, PCS_BEAM_ORIENTATION, BEAM_OFFSETS, { .name = NULL },
};

static const pcs_option beam_options[] = {
    BEAM_OPTIONS,
    { .name = NULL },
};

static const pcs_option beam_shaft_options[] = {
    BEAM_OPTIONS,
    PCS_REAL("speed", pcs_beam_params, speed, PCS_REQUIRED, PCS_ANY_NUMBER,
             "of spin about the axis from the first to the second node, constant, rad/s"),
    { .name = NULL },
};

static const char *const beam_fields[] = { "axial_force", "shear_force", "torque",         "moment_start",
                                           "moment_end",  "stress",      "bending_stress", "strain_energy",
                                           "shear_y",     "shear_z",     "moment_y",       "moment_z",
                                           NULL };

static const char *const beam_end_fields[] = {
    "axial_start", "axial_end",      "stress_start", "stress_end",     "shear_y_start", "shear_y_end", "shear_z_start",
    "shear_z_end", "moment_y_start", "moment_y_end", "moment_z_start", "moment_z_end",  NULL
};

static void beam_offset(const beam_params *p, int end, double offset[3])
{
    for (int k = 0; k < 3; k++) offset[k] = end == 1 && !isnan(p->offset_end[k]) ? p->offset_end[k] : p->offset[k];
}

static void beam_outline(const void *params, const double span[3], pcs_cell_outline *out)
{
    for (int end = 0; end < 2; end++) beam_offset(params, end, out->arm[end]);
}

// Computes the local axes between the ends of the arms. Returns the length, m.
static double beam_frame(const pcs_batch *batch, int cell, double R[3][3], double *sine)
{
    const beam_params *p = batch->params;
    double span[3], first[3], second[3];
    pcs_cell_span(batch, cell, span);
    beam_offset(p, 0, first);
    beam_offset(p, 1, second);
    for (int k = 0; k < 3; k++) span[k] += second[k] - first[k];
    return pcs_beam_frame(span, p->orientation, R, sine);
}

static pcs_status beam_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out)
{
    double R[3][3], sine;
    PCS_TRY(pcs_beam_space_dofs(ctx, batch, cell, ((const beam_params *)batch->params)->orientation, out));
    double length = beam_frame(batch, cell, R, &sine);
    if (length > 0.0 && isfinite(length) && sine > 1e-6) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT,
                    "element group '%s': with its offsets the axis of cell %d has the length %g and lies along the "
                    "orientation up to an angle with the sine %g; both must be > 0",
                    batch->name, batch->cells[cell], length, sine);
}

static pcs_status beam_shaft_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                  pcs_node_dofs *out)
{
    const pcs_section *section = pcs_taper_section(batch, cell);
    PCS_TRY(beam_node_dofs(ctx, batch, cell, local_node, out));
    if (fabs(section->Iy - section->Iz) <= 1e-6 * section->Iz && fabs(section->ky - section->kz) <= 1e-6) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT,
                    "element group '%s': what spins must be round: Iy = %g and Iz = %g, ky = %g and kz = %g must agree",
                    batch->name, section->Iy, section->Iz, section->ky, section->kz);
}

// Lists the local indices of (w1, t1, w2, t2) in the two planes.
static const int beam_place[2][4] = { { 1, 5, 7, 11 }, { 2, 4, 8, 10 } };
static const double beam_sign[2][4] = { { 1.0, 1.0, 1.0, 1.0 }, { 1.0, -1.0, 1.0, -1.0 } };

// Adds [first cross; cross last] times a whole between two dofs.
static void beam_add_pair(double whole, pcs_beam_shares shares, int a, int b, double m[NDOF * NDOF])
{
    m[a * NDOF + a] += whole * shares.first;
    m[b * NDOF + b] += whole * shares.last;
    m[a * NDOF + b] += whole * shares.cross;
    m[b * NDOF + a] += whole * shares.cross;
}

static void beam_local_mass(const pcs_batch *batch, int cell, double L, double m[NDOF * NDOF])
{
    const beam_params *p = batch->params;
    const pcs_section *s = pcs_taper_section(batch, cell);
    pcs_beam_shares area = pcs_beam_find_shares(batch, cell, PCS_BEAM_AREA);
    double weight = p->rho * s->area * L, M[16];
    memset(m, 0, NDOF * NDOF * sizeof *m);
    beam_add_pair(weight, area, 0, 6, m);
    beam_add_pair(p->rho * (s->Iy + s->Iz) * L, pcs_beam_find_shares(batch, cell, PCS_BEAM_POLAR), 3, 9, m);
    if (p->mass == PCS_BEAM_LUMPED) {
        for (int k = 1; k < 3; k++) beam_add_pair(weight, area, k, 6 + k, m);
        beam_add_pair(p->rho * s->Iy * L, pcs_beam_find_shares(batch, cell, PCS_BEAM_IY), 4, 10, m);
        beam_add_pair(p->rho * s->Iz * L, pcs_beam_find_shares(batch, cell, PCS_BEAM_IZ), 5, 11, m);
        return;
    }
    for (int plane = 0; plane < 2; plane++) {
        pcs_timoshenko bending = pcs_beam_bending(batch, cell, L, plane);
        pcs_timoshenko_mass(&bending, M);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                m[beam_place[plane][i] * NDOF + beam_place[plane][j]] =
                    beam_sign[plane][i] * beam_sign[plane][j] * M[i * 4 + j];
    }
}

static void beam_local_modes(const pcs_batch *batch, int cell, double L, double B[NMODE][NDOF], double *D)
{
    const beam_params *p = batch->params;
    const pcs_section *s = pcs_taper_section(batch, cell);
    const pcs_taper *taper = p->mass == PCS_BEAM_ONE_POINT ? NULL : pcs_taper_of(batch, cell);
    double G = 0.5 * p->E / (1.0 + p->nu), D2[4];
    B[0][0] = B[1][3] = -1.0;
    B[0][6] = B[1][9] = 1.0;
    D[0] = p->E * (taper == NULL ? s->area : taper->axial) / L;
    D[NMODE + 1] = G * (taper == NULL ? s->torsion : taper->twist) / L;
    for (int plane = 0; plane < 2; plane++) {
        pcs_timoshenko bending = pcs_beam_bending(batch, cell, L, plane);
        pcs_timoshenko_stiffness(&bending, D2);
        for (int end = 0; end < 2; end++) {
            int mode = 2 + 2 * plane + end;
            B[mode][beam_place[plane][0]] = 1.0 / L;
            B[mode][beam_place[plane][2]] = -1.0 / L;
            B[mode][beam_place[plane][1 + 2 * end]] = beam_sign[plane][1];
            for (int other = 0; other < 2; other++) D[mode * NMODE + 2 + 2 * plane + other] = D2[2 * end + other];
        }
    }
}

// Computes moments per unit spin speed: the rotary inertia couples the two planes.
static void beam_local_gyro(const pcs_batch *batch, int cell, double L, double c[NDOF * NDOF])
{
    const beam_params *p = batch->params;
    const pcs_section *section = pcs_taper_section(batch, cell);
    pcs_timoshenko bending = pcs_beam_bending(batch, cell, L, 0);
    double polar = p->rho * (section->Iy + section->Iz), S[16] = { 0 };
    bending.line_mass = 0.0;
    bending.line_inertia = 1.0;
    if (p->mass == PCS_BEAM_LUMPED) {
        pcs_beam_shares turn = pcs_beam_find_shares(batch, cell, PCS_BEAM_IZ);
        S[5] = turn.first * L;
        S[15] = turn.last * L;
    } else {
        pcs_timoshenko_mass(&bending, S);
    }
    memset(c, 0, NDOF * NDOF * sizeof *c);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            double value = -polar * beam_sign[1][i] * S[i * 4 + j] * beam_sign[0][j];
            c[beam_place[1][i] * NDOF + beam_place[0][j]] = value;
            c[beam_place[0][j] * NDOF + beam_place[1][i]] = -value;
        }
}

// Replaces A by A T, where T maps the motion of a node to that of the end of its arm.
static void beam_shift_columns(int nrow, const double offset[2][3], double *A)
{
    for (int row = 0; row < nrow; row++)
        for (int end = 0; end < 2; end++)
            for (int k = 0; k < 3; k++) {
                const double unit[3] = { k == 0, k == 1, k == 2 };
                double moved[3];
                pcs_cross(unit, offset[end], moved);
                A[row * NDOF + 6 * end + 3 + k] += pcs_dot3(A + row * NDOF + 6 * end, moved);
            }
}

static void beam_transpose(double *A)
{
    for (int i = 0; i < NDOF; i++)
        for (int j = 0; j < i; j++) {
            double keep = A[i * NDOF + j];
            A[i * NDOF + j] = A[j * NDOF + i];
            A[j * NDOF + i] = keep;
        }
}

// Replaces A by T^T A T.
static void beam_shift_matrix(const double offset[2][3], double *A)
{
    beam_shift_columns(NDOF, offset, A);
    beam_transpose(A);
    beam_shift_columns(NDOF, offset, A);
    beam_transpose(A);
}

// Computes C, drag and spin of a shaft. `local` is its mass in local axes. A driven shaft scales C by its own speed.
static void beam_make_spin(const pcs_batch *batch, int cell, const double R[3][3], const double offset[2][3],
                           double local[NDOF * NDOF], pcs_modal_own *own)
{
    const beam_params *p = batch->params;
    double speed = batch->ops->is_nonlinear ? 1.0 : p->speed, axes[3][3], sine;
    for (int i = 0; i < NDOF; i++)
        for (int j = 0; j < NDOF; j++)
            if (i % 6 == 3 || j % 6 == 3) local[i * NDOF + j] = 0.0; // torsion
    pcs_beam_turn_matrix(NDOF, R, local, own->drag);
    beam_local_gyro(batch, cell, beam_frame(batch, cell, axes, &sine), local);
    for (int i = 0; i < NDOF * NDOF; i++) local[i] *= speed;
    pcs_beam_turn_matrix(NDOF, R, local, own->C);
    for (int i = 0; i < 6; i++) own->spin[6 * (i / 3) + 3 + i % 3] = 0.5 * R[0][i % 3];
    beam_shift_matrix(offset, own->drag);
    beam_shift_matrix(offset, own->C);
}

static void beam_make(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    double R[3][3], sine, L = beam_frame(batch, cell, R, &sine), local[NDOF * NDOF], B[NMODE][NDOF] = { { 0 } };
    double offset[2][3];
    beam_local_modes(batch, cell, L, B, kind->D);
    beam_local_mass(batch, cell, L, local);
    pcs_beam_turn(NDOF, NMODE, (const double(*)[3])R, &B[0][0], local, kind);
    for (int end = 0; end < 2; end++) beam_offset(batch->params, end, offset[end]);
    beam_shift_columns(NMODE, (const double(*)[3])offset, kind->B);
    beam_shift_matrix((const double(*)[3])offset, kind->M);
    if (kind->own != NULL)
        beam_make_spin(batch, cell, (const double(*)[3])R, (const double(*)[3])offset, local, kind->own);
}

static pcs_status beam_setup(pcs_context *ctx, pcs_batch *batch)
{
    return pcs_modal_setup(ctx, batch, NMODE, 3, beam_make);
}

// Resolves the nodal forces of loads along the cell in local axes at the ends of its axis; arms add moments.
static void beam_local_load(const pcs_batch *batch, const double *line_load, const double R[3][3], double f[NDOF])
{
    memset(f, 0, NDOF * sizeof *f);
    if (line_load == NULL) return;
    for (int end = 0; end < 2; end++) {
        const double *force = line_load + 6 * end, *moment = force + 3;
        double offset[3], lever[3];
        beam_offset(batch->params, end, offset);
        pcs_cross(offset, force, lever);
        for (int k = 0; k < 3; k++) lever[k] = moment[k] - lever[k];
        for (int k = 0; k < 3; k++) {
            f[6 * end + k] = pcs_dot3(R[k], force);
            f[6 * end + 3 + k] = pcs_dot3(R[k], lever);
        }
    }
}

// Holds the bending of one plane: shear force and moment, with the signs of (w, t).
typedef struct beam_bent {
    double S[2];      // moments on the cell at its ends, N m
    double shear;     // mean over the cell, N
    double at_end[2]; // shear force at its ends, N
    double middle;    // internal moment at mid-cell under a load that is linear along the cell, N m
} beam_bent;

static beam_bent beam_bend(int plane, double L, const double s[2], const double f[NDOF])
{
    const int *place = beam_place[plane];
    const double *sign = beam_sign[plane];
    double shear = -(s[0] + s[1]) / L, load = f[place[0]] + f[place[2]];
    beam_bent out = { .at_end = { shear + f[place[0]], shear - f[place[2]] } };
    for (int end = 0; end < 2; end++) out.S[end] = s[end] - sign[1 + 2 * end] * f[place[1 + 2 * end]];
    out.shear = -(out.S[0] + out.S[1]) / L;
    out.middle = 0.5 * (out.S[1] - out.S[0]) - 0.125 * load * L;
    return out;
}

// Fills the end fields, which follow those of the cell; moments as they act on the side of the first node.
static void beam_read_ends(const pcs_batch *batch, int cell, const double axial[2], const beam_bent *y,
                           const beam_bent *z, double *field)
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
static void beam_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                             double field[PCS_MAX_CELL_FIELDS])
{
    const pcs_modal *modal = batch->data;
    const double *D = modal->kinds[modal->kind[cell]].D;
    double e[PCS_MAX_MODES], s[NMODE], f[NDOF], R[3][3], sine, energy = 0.0;
    double L = beam_frame(batch, cell, R, &sine);
    pcs_modal_deform(batch, cell, at->q, e);
    for (int a = 0; a < NMODE; a++) {
        s[a] = 0.0;
        for (int b = 0; b < NMODE; b++) s[a] += D[a * NMODE + b] * e[b];
        energy += 0.5 * s[a] * e[a];
    }
    beam_local_load(batch, at->line_load, (const double(*)[3])R, f);
    beam_bent y = beam_bend(0, L, s + 2, f), z = beam_bend(1, L, s + 4, f);
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
    beam_read_ends(batch, cell, (const double[2]){ s[0] + f[0], s[0] - f[6] }, &y, &z, field + 12);
}

// Returns the travel time, s. Transverse waves are those along local y: along z they differ if ky and kz differ.
static double beam_travel_time(const pcs_batch *batch, int cell, bool is_transverse)
{
    double R[3][3], sine;
    return pcs_beam_travel_time(batch, cell, beam_frame(batch, cell, R, &sine), is_transverse);
}

#define BEAM_COMMON                                                                                         \
    PCS_BEAM_SPACE_SECTION, .nnode = 2, .ndof = NDOF, .fields = beam_fields, .end_fields = beam_end_fields, \
                            .setup = beam_setup, PCS_MODAL_KERNELS, .read_fields = beam_read_fields,        \
                            .outline = beam_outline

const pcs_element_ops pcs_element_beam_timo_3d = {
    .name = "beam_timo_3d",
    .summary = "linear Timoshenko beam in space; three displacements and three rotations at each node",
    .options = beam_wave_options,
    PCS_BEAM_MASS_CHOICE,
    .travel_time = beam_travel_time,
    .node_dofs = beam_node_dofs,
    BEAM_COMMON,
};

const pcs_element_ops pcs_element_rotor_beam = {
    .name = "rotor_beam",
    .summary = "linear Timoshenko beam in space, spinning at a given speed, with gyroscopic moments; round sections",
    .options = beam_shaft_options,
    .sees_velocity = true,
    .node_dofs = beam_shaft_dofs,
    BEAM_COMMON,
};

const pcs_element_ops pcs_element_rotor_beam_driven = {
    .name = "rotor_beam_driven",
    .summary = "linear Timoshenko beam in space that spins as its nodes do, with gyroscopic moments; round sections",
    .options = beam_options,
    .is_nonlinear = true,
    .sees_velocity = true,
    .node_dofs = beam_shaft_dofs,
    BEAM_COMMON,
};
