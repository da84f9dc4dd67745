// Two-node rod along its straight axis: axial force, mass of several kinds, Rayleigh damping.
//
//   K = k [1 -1; -1 1],  k = E A / L          C = alpha M + beta K
//   M = m [1/2-mu mu; mu 1/2-mu],  m = rho A L
//
//   mass         mu
//   consistent   1/6
//   lumped       0
//   one_point    1/4, singular: for scheme `wave`, whose waves are exact with it at steps of L/c
//   tuned        min(1/4 - 1e-3, 1/12 + nu^2/6),  nu = c h/L the Courant number of the step h of the case
//
// An area that varies along a cell: A is its mean there, which is exact for linear displacements and keeps L/c the
// travel time of the cell; a consistent M is the integral of rho A N^T N and a lumped one has the sums of its rows.
//
// Lateral inertia (Love): points at a distance r from the axis move by nu r u' across it, which adds
//   m nu^2 J/(A L^2) [1 -1; -1 1]      to M, J the polar moment, A^2/(2 pi) of a solid round bar
//
// With the Newmark family, waves obey  sin^2(w h/2) (1 - 4 mu s^2 + 4 beta nu^2 s^2) = nu^2 s^2,  s = sin(kL/2): with
// beta = 1/4 the tuned mu cancels the leading error of the wave speed.
//
// Forces and energies use displacement differences, never K times displacements: a bar that has flown far
// keeps its strain to the last digit. Cells whose equations follow one another are swept as runs, without
// any indirection; cells at a support, or numbered otherwise, are loose.

#include "elements/rod.h"
#include "core/dense.h"
#include "core/loop.h"
#include "core/rotation.h"
#include "elements/modal.h"
#include "elements/section.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct rod_params {
    double E, rho;
    pcs_profile area;
    double nu, polar; // lateral inertia: Poisson's ratio, 0 if absent, and polar moment
    int mass;
} rod_params;

enum { ROD_CONSISTENT, ROD_LUMPED, ROD_ONE_POINT, ROD_TUNED, ROD_AUTO }; // trusses: two

// Lists rows of an option table.
#define ROD_MATERIAL                                                                     \
    PCS_REAL("E", rod_params, E, PCS_REQUIRED, PCS_POSITIVE, "Young's modulus, N/m^2"),  \
        PCS_REAL("rho", rod_params, rho, PCS_REQUIRED, PCS_POSITIVE, "density, kg/m^3"), \
        PCS_PROFILE("area", rod_params, area, PCS_REQUIRED, PCS_POSITIVE, "cross section, m^2")

static const char *const truss_masses[] = { "consistent", "lumped", NULL };
#define TRUSS_MASS PCS_CHOICE("mass", rod_params, mass, PCS_DEFAULT("consistent"), truss_masses, "mass matrix")

// Materials with a history: N = A s(e), e = (u2 - u1)/L small, a stress s that depends on the path of e.
//
// rod_plastic, bilinear with hardening: H = E Et/(E - Et), by which the stress rises with plastic strain p, a share c
// of it kinematic, and r = int |dp|:
//
//   s = E (e - p),   |s - c H p| <= Y + (1 - c) H r,   dp only where both are equal, along s - c H p
//
// With f = |E (e - p_n) - c H p_n| - Y - (1 - c) H r_n > 0 the path from commit n adds f/(E + H) to r, and ds/de = Et.
// On a path without reversal that is exact, and so is the plastic work int s dp, whose stress rises linearly. What a
// kinematic hardening stores is part of that work, and may come back.
//
// rod_viscoelastic, a standard linear solid: a spring Eo beside a spring E1 = E - Eo in a row with a dashpot E1 T:
//
//   s = Eo e + E1 y,   y' = e' - y/T
//
// y is the strain of the second spring. A strain that goes on linearly for the time h gives, with x = h/T,
//   y = exp(-x) y_n + g (e - e_n),   g = (1 - exp(-x))/x,   ds/de = Eo + E1 g,   loss int E1 y^2/T dt

typedef struct material_params {
    rod_params rod; // first member, as its options use offsets from the start
    double yield_stress, tangent_modulus, kinematic;
    double relaxed_modulus, relaxation_time;
} material_params;

static const pcs_option plastic_options[] = {
    ROD_MATERIAL,
    TRUSS_MASS,
    PCS_REAL("yield_stress", material_params, yield_stress, PCS_REQUIRED, PCS_POSITIVE,
             "stress at which plastic strain sets in, N/m^2"),
    PCS_REAL("tangent_modulus", material_params, tangent_modulus, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE,
             "slope of the stress-strain curve beyond it, less than E, N/m^2; 0: no hardening"),
    PCS_REAL("kinematic", material_params, kinematic, PCS_DEFAULT("0.0"), PCS_ZERO_TO_ONE,
             "share of the hardening that is kinematic; the rest is isotropic"),
    { 0 },
};

static const pcs_option viscous_options[] = {
    ROD_MATERIAL,
    TRUSS_MASS,
    PCS_REAL("relaxed_modulus", material_params, relaxed_modulus, PCS_REQUIRED, PCS_NOT_NEGATIVE,
             "modulus after a long time, at most E, that at once, N/m^2"),
    PCS_REAL("relaxation_time", material_params, relaxation_time, PCS_REQUIRED, PCS_POSITIVE,
             "time by which the stress relaxes at constant strain, s"),
    { 0 },
};

enum { NINTERNAL = 3, WORK = 2 }; // number of internal variables; the last one is the energy lost so far, J/m^3
enum { PLASTIC_STRAIN = 0, PLASTIC_PATH = 1 };
enum { VISCOUS_STRAIN = 0, VISCOUS_SPRING = 1 };

// Holds the state at the end of an increment.
typedef struct material_point {
    double stress, tangent; // N/m^2
    double energy, loss;    // J/m^3, stored, and lost over the increment
    double next[NINTERNAL];
} material_point;

typedef void material_law(const material_params *p, double strain, double elapsed, const double *from,
                          material_point *out);

static void material_plastic(const material_params *p, double strain, double elapsed, const double *from,
                             material_point *out)
{
    double E = p->rod.E, H = E * p->tangent_modulus / (E - p->tangent_modulus);
    double plastic = from[PLASTIC_STRAIN], path = from[PLASTIC_PATH];
    double back = p->kinematic * H * plastic, yield = p->yield_stress + (1.0 - p->kinematic) * H * path;
    double trial = E * (strain - plastic) - back, sign = trial < 0.0 ? -1.0 : 1.0;
    double flow = fabs(trial) > yield ? (fabs(trial) - yield) / (E + H) : 0.0;
    double stress = E * (strain - plastic - sign * flow);
    *out = (material_point){ .stress = stress,
                             .tangent = flow > 0.0 ? p->tangent_modulus : E,
                             .energy = 0.5 * stress * stress / E,
                             .loss = 0.5 * (stress + (back + sign * yield)) * sign * flow,
                             .next = { plastic + sign * flow, path + flow } };
}

// Returns (1 - exp(-x))/x.
static double material_mean_decay(double x)
{
    return x > 0.0 ? -expm1(-x) / x : 1.0;
}

// Returns int y^2 dt / T over an increment of length x in units of T, in which the strain rises by `rise`; by Gauss
// points on short increments, as the closed form cancels.
static double material_square(double y, double rise, double x)
{
    static const double node[3] = { 0.0, 0.53846931010568309104, 0.90617984593866399280 };
    static const double weight[3] = { 0.56888888888888888889, 0.47862867049936646804, 0.23692688505618908751 };
    double sum = 0.0;
    if (x > 0.5) {
        double b = rise / x, d = y - b;
        return b * b * x - 2.0 * b * d * expm1(-x) - 0.5 * d * d * expm1(-2.0 * x);
    }
    for (int i = -2; i <= 2; i++) {
        double part = 0.5 * (1.0 + (i < 0 ? -node[-i] : node[i])), z = part * x;
        double value = exp(-z) * y + rise * part * material_mean_decay(z);
        sum += 0.5 * weight[i < 0 ? -i : i] * value * value;
    }
    return x * sum;
}

static void material_viscous(const material_params *p, double strain, double elapsed, const double *from,
                             material_point *out)
{
    double relaxed = p->relaxed_modulus, other = p->rod.E - relaxed, x = elapsed / p->relaxation_time;
    double rise = strain - from[VISCOUS_STRAIN], decay = material_mean_decay(x);
    double spring = exp(-x) * from[VISCOUS_SPRING] + decay * rise;
    *out = (material_point){ .stress = relaxed * strain + other * spring,
                             .tangent = relaxed + other * decay,
                             .energy = 0.5 * (relaxed * strain * strain + other * spring * spring),
                             .loss = other * material_square(from[VISCOUS_SPRING], rise, x),
                             .next = { strain, spring } };
}

// Two nodes and an axial force along the line that joins them at present: rods and spring-dampers.
//
//   N = k (l - l0) + F0 + c l' (or by a law),   l = |d + u2 - u1|,   l' = n . (v2 - v1)
//
// The elongation comes from displacements, (l^2 - L^2)/(l + L), without cancellation. Ends may be points at arms r from
// the nodes, which rotate with them: p = x + R r. With J = dp_2/dx - dp_1/dx, whose columns of material spins are
// +-R (e_j x r), w = J v, P = I - n n^T, and of each node D = R^T n, W the material angular velocity and B = D r^T -
// (r . D) I:
//
//   force = -N J^T n,   C = c J^T n n^T J
//   K = J^T (n (k n + c P w/l)^T + (N / l) P) J + sum over the nodes of +-(N B in their rotations + c J^T n (W^T B))
//
// Small rotations leave arms in their reference direction, and the sum vanishes. Without arms J = [-I, I].

typedef struct axial_cell {
    double span[3], length;       // m, in the reference state
    double area;                  // m^2, of rods
    double stiffness;             // k, N/m
    double damping;               // c, N s/m, including Rayleigh damping
    double slack;                 // L - l0, m
    double preload;               // F0, N
    double self, self_end, other; // kg, M = [self other; other self_end] in every direction
} axial_cell;

typedef struct axial_data {
    pcs_cell_shape shape;
    axial_cell *cell;          // [ncell]
    const pcs_axial_law *law;  // in place of k and in addition to c; NULL if the cells are linear
    const double (*arm)[3];    // [2] m, in the reference state; NULL if the nodes are the ends
    bool has_small_angles;     // rotations of arms are small
    material_law *material_at; // of a material with a history; NULL if it has none
} axial_data;

// Holds elongation and force of a cell in the current state.
typedef struct axial_view {
    double stretch, rate;      // elongation l - l0, m, and its rate, m/s
    double tension;            // N, including the damper
    double stiffness, damping; // dN/dl, N/m, and dN/dl', N s/m
    double energy, drag;       // J; force of the damper, N
    material_point material;   // of rods whose material has a history
} axial_view;

static const pcs_option truss_options[] = {
    ROD_MATERIAL,
    TRUSS_MASS,
    { 0 },
};

static const pcs_option rod_area_options[] = {
    PCS_PROFILE("area", rod_params, area, PCS_REQUIRED, PCS_POSITIVE, "cross section, m^2"),
    { 0 },
};

static void rod_area_constants(const void *params, pcs_section *out)
{
    *out = (pcs_section){ .area = ((const rod_params *)params)->area.value };
}

static const pcs_section_type rod_area_type = {
    .name = "area",
    .summary = "of a rod",
    .options = rod_area_options,
    .params_size = sizeof(rod_params),
    .constants = rod_area_constants,
};

// Returns the mean area of a cell, m^2.
static double rod_area(const pcs_batch *batch, int cell)
{
    const pcs_taper *taper = pcs_taper_of(batch, cell);
    return taper == NULL ? ((const rod_params *)batch->params)->area.value : taper->mean.area;
}

// Finds the shares of the nodes in the mass of a cell, consistent or lumped.
static pcs_shares rod_find_shares(const pcs_batch *batch, int cell)
{
    const pcs_taper *taper = pcs_taper_of(batch, cell);
    bool is_lumped = ((const rod_params *)batch->params)->mass == ROD_LUMPED;
    return pcs_share(taper == NULL || taper->is_uniform ? NULL : taper->area, is_lumped);
}

static const char *const rod_fields[] = { "axial_force", "stress", "strain_energy", NULL };
static const char *const rod_end_fields[] = { "axial_start", "axial_end", "stress_start", "stress_end", NULL };

static void rod_read_ends(const pcs_batch *batch, int cell, const double *line_load, double tension, const double *axis,
                          double field[4])
{
    const pcs_taper *taper = pcs_taper_of(batch, cell);
    double area = ((const rod_params *)batch->params)->area.value, load[2] = { 0 };
    int dim = batch->ops->ndof / 2;
    if (line_load != NULL)
        for (int i = 0; i < 2 * dim; i++) load[i / dim] += line_load[i] * axis[i % dim];
    field[0] = tension + load[0];
    field[1] = tension - load[1];
    for (int end = 0; end < 2; end++) field[2 + end] = field[end] / (taper == NULL ? area : taper->end[end].area);
}

static pcs_status axial_check_length(pcs_context *ctx, const pcs_batch *batch, int cell, double length)
{
    if (length > 0.0 && isfinite(length)) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': cell %d has length %g, must be > 0", batch->name,
                    batch->cells[cell], length);
}

// Returns the sign of the first nonzero component of a vector.
static double axial_sign(const double d[3])
{
    double size = fabs(d[0]);
    for (int k = 1; k < 3; k++) size = fabs(d[k]) > size ? fabs(d[k]) : size;
    for (int k = 0; k < 3; k++)
        if (fabs(d[k]) > 1e-9 * size) return d[k] > 0.0 ? 1.0 : -1.0;
    return 1.0;
}

static double axial_axis(const pcs_batch *batch, int cell, double axis[3], double *sign)
{
    double length = pcs_cell_span(batch, cell, axis);
    *sign = axial_sign(axis);
    (void)pcs_normalize3(axis, axis); // exactly an axis of space if the rod lies along it
    for (int k = 0; k < 3; k++) axis[k] *= *sign;
    return length;
}

static pcs_status axial_line_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                  pcs_node_dofs *out)
{
    double sign, length = axial_axis(batch, cell, out->direction[0], &sign);
    out->count = 1;
    out->is_rotation[0] = false;
    return axial_check_length(ctx, batch, cell, length);
}

// Fails if the cell has no length, or if its ends lie outside the line or plane in which they move; names the cell.
static pcs_status axial_check_ends(pcs_context *ctx, const pcs_batch *batch, int cell, int dim, const double span[3])
{
    double length = pcs_norm3(span);
    PCS_TRY(axial_check_length(ctx, batch, cell, length));
    for (int k = dim; k < 3; k++)
        if (fabs(span[k]) > 1e-9 * length)
            return pcs_fail(ctx, PCS_BAD_INPUT,
                            "element group '%s': cell %d leaves the %s: its ends differ by %g in %c", batch->name,
                            batch->cells[cell], dim == 1 ? "line along x" : "x-y plane", span[k], "xyz"[k]);
    return PCS_OK;
}

// Declares x, y and z of a node, the last ones absent if dim is less than 3. Fails if the cell has no length or leaves
// the line or plane.
static pcs_status axial_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int dim, pcs_node_dofs *out)
{
    double span[3];
    pcs_cell_span(batch, cell, span);
    *out = (pcs_node_dofs){ .count = 3 };
    for (int k = 0; k < dim; k++) out->direction[k][k] = 1.0;
    return axial_check_ends(ctx, batch, cell, dim, span);
}

// Returns the segment of the table that contains s; the first or the last one beyond its ends.
static int law_segment(const pcs_list *table, double s)
{
    int low = 0, high = table->nrow - 2;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (table->value[2 * middle] <= s) low = middle;
        else high = middle - 1;
    }
    return low;
}

static double law_slope(const pcs_list *table, int segment)
{
    const double *row = table->value + 2 * segment;
    return (row[3] - row[1]) / (row[2] - row[0]);
}

// Evaluates force, slope, and the integral from s = 0. Starts within the segment of s = 0, elsewhere from the nearest
// knot, so that the energy of a small elongation is not a difference of large numbers.
static pcs_axial_response law_of_table(const pcs_axial_law *law, double s)
{
    int segment = law_segment(&law->table, s), knot = segment + (segment < law->rest);
    const double *row = law->table.value + 2 * segment;
    double slope = law_slope(&law->table, segment), from = segment == law->rest ? 0.0 : law->table.value[2 * knot];
    double area = segment == law->rest ? 0.0 : law->area[knot], mean = row[1] + slope * (0.5 * (from + s) - row[0]);
    return (pcs_axial_response){ .force = row[1] + slope * (s - row[0]),
                                 .stiffness = slope,
                                 .energy = area + mean * (s - from) };
}

pcs_status pcs_axial_law_prepare(pcs_context *ctx, pcs_axial_law *law)
{
    const double *row = law->table.value;
    if (law->table.count == 0) return PCS_OK;
    PCS_TAKE(ctx, law->area, law->table.nrow, "a table of springs");
    int rest = law->rest = law_segment(&law->table, 0.0);
    double slope = law_slope(&law->table, rest);
    for (int i = rest; i < rest + 2; i++) law->area[i] = (row[2 * i + 1] - 0.5 * slope * row[2 * i]) * row[2 * i];
    for (int i = rest + 2; i < law->table.nrow; i++)
        law->area[i] = law->area[i - 1] + 0.5 * (row[2 * i + 1] + row[2 * i - 1]) * (row[2 * i] - row[2 * i - 2]);
    for (int i = rest - 1; i >= 0; i--)
        law->area[i] = law->area[i + 1] - 0.5 * (row[2 * i + 1] + row[2 * i + 3]) * (row[2 * i + 2] - row[2 * i]);
    return PCS_OK;
}

static pcs_axial_response law_of_polynomial(const pcs_list *k, double e)
{
    pcs_axial_response out = { 0 };
    for (int i = k->count; i >= 1; i--) {
        out.force = (out.force + k->value[i - 1]) * e;
        out.stiffness = out.stiffness * e + i * k->value[i - 1];
        out.energy = (out.energy + k->value[i - 1] / (i + 1)) * e;
    }
    out.energy *= e;
    return out;
}

static pcs_axial_response law_of_spring(const pcs_axial_law *law, double s)
{
    if (law->table.count > 0) return law_of_table(law, s);
    if (law->clearance > 0.0 && fabs(s) <= law->clearance) return (pcs_axial_response){ 0 };
    double e = s - copysign(law->clearance, s);
    if (law->polynomial.count > 0) return law_of_polynomial(&law->polynomial, e);
    return (pcs_axial_response){ law->stiffness * e, law->stiffness, 0.5 * law->stiffness * e * e, 0.0, 0.0 };
}

pcs_axial_response pcs_axial_law_at(const pcs_axial_law *law, double stretch, double rate)
{
    pcs_axial_response out = law_of_spring(law, stretch);
    if (fabs(stretch) > law->stop) {
        double over = stretch - copysign(law->stop, stretch);
        out.force += law->stop_stiffness * over;
        out.stiffness += law->stop_stiffness;
        out.energy += 0.5 * law->stop_stiffness * over * over;
    }
    if (law->exponent == 1.0) {
        out.drag = law->damper * rate;
        out.damping = law->damper;
        return out;
    }
    double square = rate * rate + law->speed * law->speed;
    if (law->damper == 0.0 || square == 0.0) return out;
    double factor = law->damper * pow(square, 0.5 * (law->exponent - 1.0));
    out.drag = factor * rate;
    out.damping = factor * (1.0 + (law->exponent - 1.0) * rate * rate / square);
    return out;
}

// Returns the largest stiffness of table and stop, N/m. For a polynomial, the stiffness at rest.
static double axial_law_stiffest(const pcs_axial_law *law)
{
    double most = law->polynomial.count > 0 ? fabs(law->polynomial.value[0]) : law->stiffness;
    for (int i = 0; i + 1 < law->table.nrow; i++)
        if (law->table.count > 0) most = fmax(most, fabs(law_slope(&law->table, i)));
    return isinf(law->stop) ? most : most + law->stop_stiffness;
}

enum { MAX_NDOF = PCS_MAX_CELL_DOFS };

// Holds a cell in the current state.
typedef struct axial_state {
    double n[3], w[3], length; // unit vector along the line; relative velocity of its ends, m/s; m
    axial_view at;
    double v[MAX_NDOF];
    double J[3][MAX_NDOF], Jn[MAX_NDOF]; // Jn = J^T n; J of ends at nodes is filled in where K is asked for
    double R[2][9];                      // of ends at arms, as is W, the last three of v of a node
} axial_state;

// Evaluates the forces for an elongation and its rate.
static void axial_respond(const axial_data *axial, const axial_cell *cell, axial_view *at)
{
    if (axial->law == NULL) {
        at->stiffness = cell->stiffness;
        at->damping = cell->damping;
        at->drag = cell->damping * at->rate;
        at->energy = (0.5 * cell->stiffness * at->stretch + cell->preload) * at->stretch;
        at->tension = cell->stiffness * at->stretch + cell->preload + cell->damping * at->rate;
        return;
    }
    pcs_axial_response own = pcs_axial_law_at(axial->law, at->stretch, at->rate);
    at->stiffness = own.stiffness;
    at->damping = own.damping + cell->damping;
    at->drag = own.drag + cell->damping * at->rate;
    at->energy = own.energy + cell->preload * at->stretch;
    at->tension = own.force + cell->preload + at->drag;
}

// Evaluates line and force from x, the change of the vector between the ends, m, and its rate w.
static void axial_find(const axial_data *axial, int number, const double x[3], axial_state *s)
{
    const axial_cell *cell = &axial->cell[number];
    double change = 0.0, length2 = 0.0, now[3];
    for (int k = 0; k < 3; k++) {
        now[k] = cell->span[k] + x[k];
        length2 += now[k] * now[k];
        change += x[k] * (2.0 * cell->span[k] + x[k]);
    }
    s->length = sqrt(length2);
    // Keeps the direction of the reference state if the ends coincide.
    for (int k = 0; k < 3; k++) s->n[k] = s->length > 0.0 ? now[k] / s->length : cell->span[k] / cell->length;
    s->at.rate = pcs_dot3(s->n, s->w);
    s->at.stretch = change / (s->length + cell->length) + cell->slack;
    axial_respond(axial, cell, &s->at);
}

// Computes the columns of J of one node, and its rotation matrix.
static void arms_columns(const axial_data *axial, int node, const double p[3], axial_state *s)
{
    const double none[3] = { 0 }, *r = axial->arm[node], sign = node == 0 ? -1.0 : 1.0;
    int first = axial->shape.node_dofs * node;
    pcs_rotation_exp(axial->has_small_angles ? none : p, s->R[node]);
    for (int j = 0; j < 3; j++) {
        const double unit[3] = { j == 0, j == 1, j == 2 };
        double material[3], rotated[3];
        pcs_cross(unit, r, material);
        pcs_rotation_apply(s->R[node], material, rotated);
        for (int i = 0; i < 3; i++) {
            s->J[i][first + j] = sign * unit[i];
            s->J[i][first + 3 + j] = sign * rotated[i];
        }
    }
}

// Evaluates a cell with ends at arms from local displacements.
static void arms_find(const axial_data *axial, int number, const double *u, axial_state *s)
{
    int n = axial->shape.ndof, one = axial->shape.node_dofs;
    double x[3], rotated[2][3];
    for (int node = 0; node < 2; node++) {
        pcs_rotation_shift(u + one * node + 3, axial->has_small_angles, axial->arm[node], rotated[node]);
        arms_columns(axial, node, u + one * node + 3, s);
    }
    for (int k = 0; k < 3; k++) {
        x[k] = u[one + k] + rotated[1][k] - (u[k] + rotated[0][k]);
        s->w[k] = 0.0;
        for (int j = 0; j < n; j++) s->w[k] += s->J[k][j] * s->v[j];
    }
    axial_find(axial, number, x, s);
    for (int j = 0; j < n; j++) s->Jn[j] = s->n[0] * s->J[0][j] + s->n[1] * s->J[1][j] + s->n[2] * s->J[2][j];
}

// Evaluates a cell of a material with a history, whose strains are small; at rest it is elastic.
static inline void material_find(const pcs_batch *batch, int cell, const pcs_cell_state *at, axial_state *s)
{
    const axial_data *axial = batch->data;
    const axial_cell *own = &axial->cell[cell];
    axial_view *now = &s->at;
    double u[2], sign = copysign(1.0, own->span[0]);
    pcs_cell_look_or_rest(batch, cell, 2, at, u, s->v);
    s->Jn[0] = -sign;
    s->Jn[1] = sign;
    now->rate = sign * (s->v[1] - s->v[0]);
    now->damping = own->damping;
    now->drag = own->damping * now->rate;
    now->stiffness = own->stiffness;
    now->tension = now->energy = 0.0;
    if (at == NULL || at->q == NULL) return;
    const double *from = batch->internal + (size_t)cell * NINTERNAL;
    axial->material_at(batch->params, sign * (u[1] - u[0]) / own->length, at->elapsed, from, &now->material);
    now->stiffness = own->area * now->material.tangent / own->length;
    now->tension = own->area * now->material.stress + now->drag;
    now->energy = own->area * own->length * now->material.energy;
}

// Evaluates a cell of a spring or of a material without a history.
PCS_APART static void axial_find_elastic(const pcs_batch *batch, int cell, const pcs_cell_state *at, axial_state *s)
{
    const axial_data *axial = batch->data;
    int dim = axial->shape.translations;
    double u[MAX_NDOF], x[3] = { 0 };
    pcs_cell_look_or_rest(batch, cell, axial->shape.ndof, at, u, s->v);
    if (axial->arm != NULL) {
        arms_find(axial, cell, u, s);
        return;
    }
    s->w[1] = s->w[2] = 0.0;
    for (int k = 0; k < dim; k++) {
        x[k] = u[dim + k] - u[k];
        s->w[k] = s->v[dim + k] - s->v[k];
    }
    axial_find(axial, cell, x, s);
    for (int k = 0; k < dim; k++) {
        s->Jn[k] = -s->n[k];
        s->Jn[dim + k] = s->n[k];
    }
}

static void axial_look(const pcs_batch *batch, int cell, const pcs_cell_state *at, axial_state *s)
{
    const axial_data *axial = batch->data;
    if (axial->material_at != NULL) material_find(batch, cell, at, s);
    else axial_find_elastic(batch, cell, at, s);
}

// Allocates the cells and fills in the geometry. `arm` has the arms of both ends, or is NULL.
static pcs_status axial_create(pcs_context *ctx, pcs_batch *batch, const double (*arm)[3], axial_data **out)
{
    axial_data *axial;
    int one = batch->ops->ndof / 2;
    double beyond[3] = { 0.0 };
    PCS_TAKE(ctx, axial, 1, "axial cells");
    PCS_TAKE(ctx, axial->cell, batch->ncell, "axial cells");
    axial->shape = (pcs_cell_shape){ .ndof = 2 * one, .node_dofs = one, .translations = one < 3 ? one : 3 };
    axial->arm = arm;
    if (arm != NULL)
        for (int k = 0; k < 3; k++) beyond[k] = arm[1][k] - arm[0][k];
    for (int c = 0; c < batch->ncell; c++) {
        axial_cell *cell = &axial->cell[c];
        pcs_cell_span(batch, c, cell->span);
        for (int k = 0; k < 3; k++) cell->span[k] += beyond[k];
        cell->length = pcs_norm3(cell->span);
    }
    *out = axial;
    batch->data = axial;
    return PCS_OK;
}

static axial_view axial_view_of(const pcs_batch *batch, int cell, const pcs_cell_state *at)
{
    axial_state s;
    axial_look(batch, cell, at, &s);
    return s.at;
}

// Computes the momenta p = M v of a cell. Returns v . M v.
static double axial_momentum(const axial_data *axial, int c, const double *v, double p[MAX_NDOF])
{
    const axial_cell *cell = &axial->cell[c];
    int n = axial->shape.ndof, one = axial->shape.node_dofs;
    for (int i = 0; i < n; i++) p[i] = 0.0;
    for (int k = 0; k < axial->shape.translations; k++) {
        p[k] = cell->self * v[k] + cell->other * v[one + k];
        p[one + k] = cell->self_end * v[one + k] + cell->other * v[k];
    }
    return pcs_dense_dot(n, p, v);
}

static void axial_mass(const axial_data *axial, int cell, double *M)
{
    int n = axial->shape.ndof;
    for (int j = 0; j < n; j++) {
        double unit[MAX_NDOF] = { 0 };
        unit[j] = 1.0;
        (void)axial_momentum(axial, cell, unit, M + (ptrdiff_t)j * n); // row j of a symmetric matrix
    }
}

// Adds to K the part from the rotation of one node.
static void arms_add_spin(const axial_data *axial, const axial_state *s, int node, double *K)
{
    int n = axial->shape.ndof, first = axial->shape.node_dofs * node + 3;
    const double *r = axial->arm[node], *W = s->v + first, sign = node == 0 ? -1.0 : 1.0;
    double D[3], pull = sign * s->at.tension, drag = sign * s->at.damping;
    pcs_rotation_apply_transposed(s->R[node], s->n, D);
    double along = pcs_dot3(r, D);
    for (int j = 0; j < 3; j++) {
        double rate = 0.0;
        for (int i = 0; i < 3; i++) {
            double B = D[i] * r[j] - (i == j ? along : 0.0);
            K[(first + i) * n + first + j] += pull * B;
            rate += W[i] * B;
        }
        for (int i = 0; i < n; i++) K[i * n + first + j] += drag * s->Jn[i] * rate;
    }
}

// Fills J of ends at nodes.
static void axial_columns(int dim, axial_state *s)
{
    memset(s->J, 0, sizeof s->J);
    for (int k = 0; k < dim; k++) {
        s->J[k][k] = -1.0;
        s->J[k][dim + k] = 1.0;
    }
}

static void axial_stiffness(const axial_data *axial, axial_state *s, double *K)
{
    const axial_view *at = &s->at;
    int n = axial->shape.ndof;
    if (axial->material_at != NULL) {
        for (int i = 0; i < 4; i++) K[i] = at->stiffness * s->Jn[i / 2] * s->Jn[i % 2];
        return;
    }
    double across = s->length > 0.0 ? 1.0 / s->length : 0.0; // without length no direction is perpendicular
    if (axial->arm == NULL) axial_columns(axial->shape.translations, s);
    for (int j = 0; j < n; j++) {
        double w = 0.0;
        for (int k = 0; k < 3; k++) w += s->w[k] * s->J[k][j];
        double rotation = at->damping * across * (w - at->rate * s->Jn[j]);
        for (int i = 0; i < n; i++) {
            double JJ = s->J[0][i] * s->J[0][j] + s->J[1][i] * s->J[1][j] + s->J[2][i] * s->J[2][j];
            double along = s->Jn[i] * s->Jn[j];
            K[i * n + j] = at->stiffness * along + s->Jn[i] * rotation + at->tension * across * (JJ - along);
        }
    }
    if (axial->arm == NULL || axial->has_small_angles) return;
    for (int node = 0; node < 2; node++) arms_add_spin(axial, s, node, K);
}

// Bounds K in all states. The line may become perpendicular to the arms, which are then levers of full length.
static void axial_stiffest(const axial_data *axial, axial_state *s, double *K)
{
    int n = axial->shape.ndof, one = axial->shape.node_dofs;
    double most = axial->law == NULL ? s->at.stiffness : axial_law_stiffest(axial->law), longest[MAX_NDOF];
    if (axial->arm != NULL) {
        s->at.tension = fmax(s->at.tension, 0.0); // a compressive force may vanish later
        s->at.stiffness = 0.0;
    } else {
        s->at.stiffness = most;
    }
    axial_stiffness(axial, s, K);
    if (axial->arm == NULL) return;
    memcpy(longest, s->Jn, sizeof longest);
    for (int i = 0; i < n; i++) {
        const double *r = axial->arm[i / one];
        if (i % one >= 3) longest[i] = hypot(r[(i + 1) % 3], r[(i + 2) % 3]);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) K[i * n + j] += most * longest[i] * longest[j];
}

static void axial_matrices(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *M, double *K, double *C)
{
    const axial_data *axial = batch->data;
    int n = axial->shape.ndof;
    axial_state s;
    axial_look(batch, cell, at, &s);
    if (M != NULL) axial_mass(axial, cell, M);
    if (K != NULL && at == pcs_stiffest) axial_stiffest(axial, &s, K);
    else if (K != NULL) axial_stiffness(axial, &s, K);
    if (C == NULL) return;
    axial_mass(axial, cell, C);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            C[i * n + j] = batch->damping_mass * C[i * n + j] + s.at.damping * s.Jn[i] * s.Jn[j];
}

PCS_APART static void axial_add_drag(const pcs_batch *batch, int cell, const axial_state *s, double force[MAX_NDOF])
{
    const axial_data *axial = batch->data;
    double p[MAX_NDOF];
    (void)axial_momentum(axial, cell, s->v, p);
    for (int i = 0; i < axial->shape.ndof; i++) force[i] -= batch->damping_mass * p[i];
}

// Computes internal and damping force on the dofs of a cell, as forces on the body.
static inline void axial_force(const pcs_batch *batch, int cell, const pcs_cell_state *at, double force[MAX_NDOF])
{
    const axial_data *axial = batch->data;
    axial_state s;
    axial_look(batch, cell, at, &s);
    for (int i = 0; i < axial->shape.ndof; i++) force[i] = -s.at.tension * s.Jn[i];
    if (batch->damping_mass != 0.0) axial_add_drag(batch, cell, &s, force);
}

static void axial_add_force(const pcs_batch *batch, const pcs_cell_state *at, double *f)
{
    pcs_cell_add_force(batch, batch->ops->ndof, axial_force, at, f);
}

static void axial_measure(const pcs_batch *batch, const pcs_cell_state *at, unsigned what, pcs_cell_sums *sum)
{
    const axial_data *axial = batch->data;
    const pcs_cell_state beside = { .q = at->q, .v = at->along };
    if (what & PCS_CELL_RESULTANT) pcs_cell_add_resultant(batch, &axial->shape, axial_force, at, sum);
    for (int c = 0; c < batch->ncell; c++) {
        double p[MAX_NDOF];
        axial_state s, along;
        axial_look(batch, c, at, &s);
        double square = what & (PCS_CELL_ENERGY | PCS_CELL_POWER) ? axial_momentum(axial, c, s.v, p) : 0.0;
        if (what & PCS_CELL_ENERGY) {
            sum->strain += s.at.energy;
            sum->kinetic += 0.5 * square;
            pcs_cell_add_momentum(batch, &axial->shape, c, p, sum);
        }
        if ((what & PCS_CELL_LOSS) && axial->material_at != NULL)
            sum->loss += axial->cell[c].area * axial->cell[c].length * s.at.material.loss;
        if (!(what & PCS_CELL_POWER)) continue;
        axial_look(batch, c, &beside, &along);
        sum->power += s.at.drag * along.at.rate;
        sum->power += batch->damping_mass * pcs_dense_dot(axial->shape.ndof, along.v, p);
    }
}

#define AXIAL_KERNELS .matrices = axial_matrices, .force = axial_add_force, .measure = axial_measure

// Rods that carry axial force only, with displacements along the global axes, in the x-y plane and in space.
//
//   linear:  N = (E A / L) e,   e = n . (u2 - u1)
//   large:   N = (E A / L) (l - L) along the present axis
//   M = m/6 [2 1; 1 2] or m/2 [1 0; 0 1] in every direction,   m = rho A L
// If the area varies, A is its mean over the cell and M the integral of rho A N^T N, lumped by the sums of its rows.
//
// The strain of large rods is the engineering one, (l - L)/L: the law of the linear rod in a frame that turns with the
// axis. It stays stiff in compression, where the Green strain softens, and does not soften in tension, where the
// logarithmic one does.

static pcs_status truss_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                  pcs_node_dofs *out)
{
    int dim = batch->ops->ndof / 2;
    PCS_TRY(axial_node_dofs(ctx, batch, cell, dim, out));
    out->count = dim;
    return PCS_OK;
}

static void truss_make(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    const rod_params *p = batch->params;
    double span[3], length = pcs_cell_span(batch, cell, span);
    int n = batch->ops->ndof, dim = n / 2;
    pcs_shares shares = rod_find_shares(batch, cell);
    double area = rod_area(batch, cell), m = p->rho * area * length;
    kind->D[0] = p->E * area / length;
    for (int k = 0; k < dim; k++) {
        kind->B[k] = -span[k] / length;
        kind->B[dim + k] = span[k] / length;
        kind->M[k * n + k] = m * shares.first;
        kind->M[(dim + k) * n + dim + k] = m * shares.last;
        kind->M[k * n + dim + k] = kind->M[(dim + k) * n + k] = m * shares.cross;
    }
}

static pcs_status truss_setup_large(pcs_context *ctx, pcs_batch *batch)
{
    const rod_params *p = batch->params;
    axial_data *axial;
    PCS_TRY(axial_create(ctx, batch, NULL, &axial));
    for (int c = 0; c < batch->ncell; c++) {
        axial_cell *cell = &axial->cell[c];
        pcs_shares shares = rod_find_shares(batch, c);
        cell->area = rod_area(batch, c);
        double m = p->rho * cell->area * cell->length;
        cell->stiffness = p->E * cell->area / cell->length;
        cell->damping = batch->damping_stiffness * cell->stiffness;
        cell->self = m * shares.first;
        cell->self_end = m * shares.last;
        cell->other = m * shares.cross;
    }
    return PCS_OK;
}

static void truss_fill_fields(const pcs_batch *batch, int cell, double stiffness, double stretch, double *field)
{
    field[0] = stiffness * stretch; // the damping force is not part of the elastic stress
    field[1] = field[0] / rod_area(batch, cell);
    field[2] = 0.5 * field[0] * stretch;
}

static void truss_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                              double field[PCS_MAX_CELL_FIELDS])
{
    const pcs_modal *modal = batch->data;
    double e[PCS_MAX_MODES];
    pcs_modal_deform(batch, cell, at->q, e);
    truss_fill_fields(batch, cell, modal->kinds[modal->kind[cell]].D[0], e[0], field);
    double axis[3], length = pcs_cell_span(batch, cell, axis);
    for (int k = 0; k < 3; k++) axis[k] /= length;
    rod_read_ends(batch, cell, at->line_load, field[0], axis, field + 3);
}

static void truss_read_large_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                                    double field[PCS_MAX_CELL_FIELDS])
{
    axial_view axial = axial_view_of(batch, cell, at);
    truss_fill_fields(batch, cell, axial.stiffness, axial.stretch, field);
}

#define TRUSS_COMMON                                                                                 \
    .options = truss_options, .params_size = sizeof(rod_params), .area = &rod_area_type, .nnode = 2, \
    .fields = rod_fields, .node_dofs = truss_node_dofs
#define TRUSS_LINEAR                                                              \
    TRUSS_COMMON, .end_fields = rod_end_fields, .read_fields = truss_read_fields, \
                  PCS_MODAL_KERNELS(.nmode = 1, .make = truss_make)
#define TRUSS_LARGE                                                                                         \
    TRUSS_COMMON, .is_nonlinear = true, .setup = truss_setup_large, .read_fields = truss_read_large_fields, \
                  AXIAL_KERNELS

const pcs_element_ops pcs_element_rod_2d = {
    .name = "rod_2d",
    .summary = "linear rod in the x-y plane, for trusses; 2 displacements at each node, axial force only",
    .ndof = 4,
    TRUSS_LINEAR,
};

const pcs_element_ops pcs_element_rod_3d = {
    .name = "rod_3d",
    .summary = "linear rod in space, for trusses; 3 displacements at each node, axial force only",
    .ndof = 6,
    TRUSS_LINEAR,
};

const pcs_element_ops pcs_element_rod_large_2d = {
    .name = "rod_large_2d",
    .summary = "rod in the x-y plane for large displacements; 2 displacements at each node, axial force only",
    .ndof = 4,
    TRUSS_LARGE,
};

const pcs_element_ops pcs_element_rod_large_3d = {
    .name = "rod_large_3d",
    .summary = "rod in space for large displacements; 3 displacements at each node, axial force only",
    .ndof = 6,
    TRUSS_LARGE,
};

static pcs_status material_check(pcs_context *ctx, const pcs_batch *batch)
{
    const material_params *p = batch->params;
    bool is_plastic = batch->ops->options == plastic_options;
    if (is_plastic && !(p->tangent_modulus < p->rod.E))
        return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': tangent_modulus must be < E = %g, is %g", batch->name,
                        p->rod.E, p->tangent_modulus);
    if (!is_plastic && !(p->relaxed_modulus <= p->rod.E))
        return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': relaxed_modulus must be <= E = %g, is %g", batch->name,
                        p->rod.E, p->relaxed_modulus);
    return PCS_OK;
}

// Sets the cells up along their axes, on which each node has one dof.
static pcs_status material_setup(pcs_context *ctx, pcs_batch *batch)
{
    double(*axis)[3], sign;
    PCS_TRY(material_check(ctx, batch));
    PCS_TRY(truss_setup_large(ctx, batch));
    axial_data *axial = batch->data;
    PCS_TAKE(ctx, axis, batch->ncell, "rods");
    axial->shape.axis = (const double(*)[3])axis;
    axial->material_at = batch->ops->options == plastic_options ? material_plastic : material_viscous;
    for (int c = 0; c < batch->ncell; c++) {
        double *span = axial->cell[c].span, length = axial_axis(batch, c, axis[c], &sign);
        span[0] = sign * length;
        span[1] = span[2] = 0.0;
    }
    return PCS_OK;
}

static void material_commit(const pcs_batch *batch, const pcs_cell_state *at)
{
    for (int i = 0; i < batch->ncell; i++) {
        axial_view axial = axial_view_of(batch, i, at);
        double *from = batch->internal + (size_t)i * NINTERNAL;
        for (int k = 0; k < WORK; k++) from[k] = axial.material.next[k];
        from[WORK] += axial.material.loss;
    }
}

// Evaluates the fields; the damping force is not part of the stress.
static void material_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                                 double field[PCS_MAX_CELL_FIELDS])
{
    const axial_cell *own = &((const axial_data *)batch->data)->cell[cell];
    const material_point x = axial_view_of(batch, cell, at).material;
    bool is_plastic = batch->ops->options == plastic_options;
    double volume = own->area * own->length, sign = copysign(1.0, own->span[0]);
    field[0] = own->area * x.stress;
    field[1] = x.stress;
    field[2] = volume * x.energy;
    field[3] = is_plastic ? x.next[PLASTIC_STRAIN] : x.next[VISCOUS_STRAIN] - x.next[VISCOUS_SPRING];
    field[4] = volume * (batch->internal[(size_t)cell * NINTERNAL + WORK] + x.loss);
    rod_read_ends(batch, cell, at->line_load, field[0], &sign, field + 5);
}

static double material_travel_time(const pcs_batch *batch, int cell, bool is_transverse)
{
    const rod_params *p = batch->params;
    return ((const axial_data *)batch->data)->cell[cell].length * sqrt(p->rho / p->E);
}

static const char *const plastic_fields[] = { "axial_force",    "stress",       "strain_energy",
                                              "plastic_strain", "plastic_work", NULL };
static const char *const viscous_fields[] = { "axial_force",    "stress",       "strain_energy",
                                              "viscous_strain", "viscous_loss", NULL };

#define MATERIAL_COMMON                                                                                          \
    .params_size = sizeof(material_params), .area = &rod_area_type, .nnode = 2, .ndof = 2, .is_nonlinear = true, \
    .end_fields = rod_end_fields, .ninternal = NINTERNAL, .travel_time = material_travel_time,                   \
    .node_dofs = axial_line_dofs, .setup = material_setup, .read_fields = material_read_fields,                  \
    .commit = material_commit, AXIAL_KERNELS

const pcs_element_ops pcs_element_rod_plastic = {
    .name = "rod_plastic",
    .summary = "rod of bilinear elastic-plastic material with isotropic and kinematic hardening; small strains",
    .options = plastic_options,
    .fields = plastic_fields,
    MATERIAL_COMMON,
};

const pcs_element_ops pcs_element_rod_viscoelastic = {
    .name = "rod_viscoelastic",
    .summary = "rod of a standard linear solid, whose stress relaxes; small strains",
    .options = viscous_options,
    .fields = viscous_fields,
    .ages = true,
    MATERIAL_COMMON,
};

// Spring and damper along the line between two nodes, however far they move; no mass of its own.
//
//   N = stiffness (l - rest) + force + damper l', or by a table, polynomial, clearance, stop and exponent: rod.h

typedef struct spring_params {
    pcs_axial_law law;
    double rest, force;
    double arm[2][3];
    int in, angles;
} spring_params;

static const char *const spring_spaces[] = { "line", "plane", "space", NULL };
static const char *const spring_angles[] = { "finite", "small", NULL };

static const pcs_option spring_options[] = {
    PCS_REAL("stiffness", spring_params, law.stiffness, PCS_DEFAULT("0"), PCS_NOT_NEGATIVE, "N/m"),
    PCS_LIST("polynomial", spring_params, law.polynomial, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "instead of stiffness: k1, k2, .. of the force k1 e + k2 e^2 + .., e the stretch in m"),
    PCS_LIST("table", spring_params, law.table, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "instead of stiffness: rows [stretch, force], m and N; linear between and beyond them"),
    PCS_REAL("clearance", spring_params, law.clearance, PCS_DEFAULT("0"), PCS_NOT_NEGATIVE,
             "play on either side of rest in which the spring has no force, m"),
    PCS_REAL("stop", spring_params, law.stop, PCS_OPTIONAL, PCS_NOT_NEGATIVE,
             "stretch, in either direction, at which a stop sets in, m"),
    PCS_REAL("stop_stiffness", spring_params, law.stop_stiffness, PCS_OPTIONAL, PCS_POSITIVE, "of the stop, N/m"),
    PCS_REAL("damper", spring_params, law.damper, PCS_DEFAULT("0"), PCS_NOT_NEGATIVE,
             "force at a speed of 1 m/s, N (s/m)^damper_exponent"),
    PCS_REAL("damper_exponent", spring_params, law.exponent, PCS_DEFAULT("1"), PCS_ABOVE(0.0, 10.0),
             "exponent p of the speed in the damper force"),
    PCS_REAL("damper_speed", spring_params, law.speed, PCS_DEFAULT("0"), PCS_NOT_NEGATIVE,
             "s in the force damper v (v^2 + s^2)^((p - 1)/2), p = damper_exponent, m/s: linear far below; needed for "
             "p < 1"),
    PCS_REAL("rest", spring_params, rest, PCS_OPTIONAL, PCS_NOT_NEGATIVE,
             "length without spring force, m; by default the distance of its ends in the mesh"),
    PCS_REAL("force", spring_params, force, PCS_DEFAULT("0"), PCS_ANY_NUMBER,
             "additional constant force, N; positive pulls the ends together"),
    PCS_CHOICE("in", spring_params, in, PCS_DEFAULT("space"), spring_spaces,
               "how its nodes move: along x, in x and y, or in x, y and z"),
    PCS_VECTOR("offset_a", spring_params, arm[0], PCS_DEFAULT("[0, 0, 0]"), PCS_ANY_NUMBER,
               "rigid arm from the first node to the end of the spring, in the reference state, m"),
    PCS_VECTOR("offset_b", spring_params, arm[1], PCS_DEFAULT("[0, 0, 0]"), PCS_ANY_NUMBER,
               "the same at the second node"),
    PCS_CHOICE("angles", spring_params, angles, PCS_DEFAULT("finite"), spring_angles,
               "rotations of nodes with arms: finite as of rigid bodies and exact beams, small as of linear beams"),
    { 0 },
};

static const char *const spring_fields[] = { "axial_force", "elongation", "strain_energy", NULL };

// Returns an error message, with the faulty option in *option, or NULL if the law is valid.
static const char *axial_law_check(const pcs_axial_law *law, const char **option)
{
    const double *row = law->table.value;
    *option = "table";
    if (law->table.count > 0 && law->polynomial.count > 0) return "table and polynomial are two springs: give one";
    if (law->table.count > 0 && (law->table.nrow < 2 || law->table.count != 2 * law->table.nrow))
        return "must be two or more rows [stretch, force]";
    for (int i = 1; i < law->table.nrow; i++)
        if (law->table.count > 0 && !(row[2 * i] > row[2 * i - 2])) return "the stretch must rise from row to row";
    if (law->stiffness != 0.0 && law->table.count + law->polynomial.count > 0)
        return "a table or polynomial has its stiffness: leave 'stiffness' out";
    *option = "polynomial";
    if (law->polynomial.count > 0 && law->polynomial.nrow > 1) return "must be one row of coefficients";
    *option = "clearance";
    if (law->clearance > 0.0 && law->table.count > 0) return "put the play into the table";
    *option = "stop";
    if (isnan(law->stop) != isnan(law->stop_stiffness)) return "stop and stop_stiffness are given both or not at all";
    *option = "damper_speed";
    if (law->exponent < 1.0 && law->speed == 0.0)
        return "a damper with an exponent below 1 needs the speed at which it is rounded off";
    return NULL;
}

static pcs_status spring_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                   pcs_node_dofs *out)
{
    return axial_node_dofs(ctx, batch, cell, ((const spring_params *)batch->params)->in + 1, out);
}

static bool spring_has_arms(const spring_params *p)
{
    return pcs_norm3(p->arm[0]) > 0.0 || pcs_norm3(p->arm[1]) > 0.0;
}

static const char *spring_check(const void *params, const char **option)
{
    const spring_params *p = params;
    const char *fault = axial_law_check(&p->law, option);
    if (fault != NULL || p->in != 0 || !spring_has_arms(p)) return fault;
    *option = pcs_norm3(p->arm[0]) > 0.0 ? "offset_a" : "offset_b";
    return "nodes that move along a line do not rotate: an arm needs 'in: plane' or 'in: space'";
}

// Creates the law, unless spring and damper are linear.
static pcs_status spring_prepare_law(pcs_context *ctx, const spring_params *p, axial_data *axial)
{
    pcs_axial_law *law;
    bool is_linear = p->law.table.count + p->law.polynomial.count == 0 && p->law.clearance == 0.0;
    if (is_linear && isnan(p->law.stop) && p->law.exponent == 1.0) return PCS_OK;
    PCS_TAKE(ctx, law, 1, "axial cells");
    *law = p->law;
    if (isnan(law->stop)) law->stop = INFINITY;
    axial->law = law;
    return pcs_axial_law_prepare(ctx, law);
}

static void spring_fill(const pcs_batch *batch, const axial_data *axial)
{
    const spring_params *p = batch->params;
    double stiffness = p->law.stiffness; // Rayleigh damping takes the stiffness at rest
    if (axial->law != NULL) stiffness = pcs_axial_law_at(axial->law, 0.0, 0.0).stiffness;
    for (int c = 0; c < batch->ncell; c++) {
        axial_cell *cell = &axial->cell[c];
        cell->stiffness = stiffness;
        cell->damping = (axial->law == NULL ? p->law.damper : 0.0) + batch->damping_stiffness * stiffness;
        cell->slack = isnan(p->rest) ? 0.0 : cell->length - p->rest;
        cell->preload = p->force;
    }
}

static pcs_status spring_setup(pcs_context *ctx, pcs_batch *batch)
{
    axial_data *axial;
    const spring_params *p = batch->params;
    PCS_TRY(axial_create(ctx, batch, spring_has_arms(p) ? p->arm : NULL, &axial));
    axial->has_small_angles = p->angles == 1;
    PCS_TRY(spring_prepare_law(ctx, p, axial));
    spring_fill(batch, axial);
    return PCS_OK;
}

static void spring_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                               double field[PCS_MAX_CELL_FIELDS])
{
    axial_view axial = axial_view_of(batch, cell, at);
    field[0] = axial.tension;
    field[1] = axial.stretch;
    field[2] = axial.energy;
}

// Declares the dofs of a node; only a node with an arm rotates, in the plane about z.
static pcs_status arms_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out)
{
    const spring_params *p = batch->params;
    int dim = p->in + 1;
    double span[3];
    bool rotates = pcs_norm3(p->arm[local_node]) > 0.0;
    pcs_cell_span(batch, cell, span);
    for (int k = 0; k < 3; k++) span[k] += p->arm[1][k] - p->arm[0][k];
    PCS_TRY(axial_check_ends(ctx, batch, cell, dim, span));
    pcs_cell_space_dofs(out);
    out->is_finite = rotates && p->angles == 0;
    for (int k = 0; k < 3; k++) {
        if (k >= dim) out->direction[k][k] = 0.0;
        if (!rotates || (dim == 2 && k < 2)) out->direction[3 + k][k] = 0.0;
    }
    return PCS_OK;
}

static void arms_outline(const void *params, const double span[3], pcs_cell_outline *out)
{
    const spring_params *p = params;
    memcpy(out->arm, p->arm, sizeof out->arm);
    out->is_finite = p->angles == 0;
}

#define SPRING_COMMON                                                                                             \
    .name = "spring_damper",                                                                                      \
    .summary = "spring and damper along the present line between two nodes, or points fixed "                     \
               "to them; no mass",                                                                                \
    .options = spring_options, .params_size = sizeof(spring_params), .check = spring_check, .is_nonlinear = true, \
    .sees_velocity = true, .nnode = 2, .fields = spring_fields, .setup = spring_setup,                            \
    .read_fields = spring_read_fields, AXIAL_KERNELS

static const pcs_element_ops arms_ops = {
    SPRING_COMMON,
    .ndof = 12,
    .node_dofs = arms_node_dofs,
    .outline = arms_outline,
};

static const pcs_element_ops *spring_variant(const void *params)
{
    return spring_has_arms(params) ? &arms_ops : NULL;
}

const pcs_element_ops pcs_element_spring_damper = {
    SPRING_COMMON,
    .variant = spring_variant,
    .ndof = 6,
    .node_dofs = spring_node_dofs,
};

// Sums over the cells of a run, of x or of its difference from an earlier state. With the sums of neighbours a mass of
// m/4 [1 1; 1 1] has no other terms: a sawtooth in v, which may be large, cancels before rounding.
typedef struct rod_sums {
    double apart; // sum (x_i+1 - x_i)^2
    double pair;  // sum (x_i+1 + x_i)^2
    double plain; // sum x_i+1 + x_i
} rod_sums;

// Eight partial sums are independent chains of additions, with less round-off than one.
enum { WIDTH = 4, PARTS = 2, LANES = WIDTH * PARTS };
typedef double rod_lanes __attribute__((vector_size(WIDTH * sizeof(double))));

#define ROD_INLINE static inline __attribute__((always_inline))

// Loads x, or x - x0.
ROD_INLINE void rod_load(const double *x0, const double *x, bool is_change, rod_lanes *out)
{
    rod_lanes before;
    memcpy(out, x, sizeof *out);
    if (!is_change) return;
    memcpy(&before, x0, sizeof before);
    *out -= before;
}

ROD_INLINE double rod_add_lanes(const rod_lanes part[PARTS])
{
    rod_lanes s = part[0] + part[1];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

// Sums over n cells `apart` and, if asked for, the others: of x - x0 or of x.
ROD_INLINE rod_sums rod_sum(int n, const double *x0, const double *x, bool is_change, bool has_pairs)
{
    rod_lanes apart[PARTS] = { 0 }, pair[PARTS] = { 0 }, plain[PARTS] = { 0 };
    rod_sums s = { 0 };
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0, at = i; k < PARTS; k++, at += WIDTH) {
            rod_lanes a, b;
            rod_load(x0 + at, x + at, is_change, &a);
            rod_load(x0 + at + 1, x + at + 1, is_change, &b);
            apart[k] += (b - a) * (b - a);
            if (!has_pairs) continue;
            pair[k] += (b + a) * (b + a);
            plain[k] += b + a;
        }
    for (; i < n; i++) {
        double a = is_change ? x[i] - x0[i] : x[i], b = is_change ? x[i + 1] - x0[i + 1] : x[i + 1];
        s.apart += (b - a) * (b - a);
        s.pair += (b + a) * (b + a);
        s.plain += b + a;
    }
    s.apart += rod_add_lanes(apart);
    s.pair += rod_add_lanes(pair);
    s.plain += rod_add_lanes(plain);
    return s;
}

// Computes the sums of positions and velocities.
PCS_WIDE static void rod_run_sums(int n, const double *q, const double *v, rod_sums *of_q, rod_sums *of_v)
{
    *of_q = rod_sum(n, q, q, false, false);
    *of_v = rod_sum(n, v, v, false, true);
}

// Computes the sums of the difference of two states.
PCS_WIDE static void rod_run_change(int n, const double *const q[2], const double *const v[2], rod_sums *of_q,
                                    rod_sums *of_v)
{
    *of_q = rod_sum(n, q[0], q[1], true, false);
    *of_v = rod_sum(n, v[0], v[1], true, true);
}

static const double circle_constant = 3.14159265358979323846;

// Describes cells c, c+1, ... whose equations are (e, e+1), (e+1, e+2), ...; all with the same k and m.
typedef struct rod_run {
    int cell, count, equation;
    double k, m, area;
    double self, other; // M = m [self other; other self_end]
    double self_end;    // equal to self in a run, or for constant area
    double sign;        // +1 if the run goes from first to second node along the axis, -1 if against it
    double axis[3];
} rod_run;

typedef struct rod_data {
    int nrun, nsingle;
    rod_run *runs;    // [nrun]
    rod_run *singles; // [nsingle] one cell each, with the equations of the batch
} rod_data;

// Returns the round-off of a difference of two node positions of this cell, m.
static double rod_length_noise(const pcs_batch *batch, int cell)
{
    const int *node = batch->nodes[batch->cells[cell]];
    double largest = 0.0;
    for (int k = 0; k < 6; k++) {
        double x = fabs(batch->x[node[k / 3]][k % 3]);
        largest = x > largest ? x : largest;
    }
    return 4.0 * DBL_EPSILON * largest;
}

// Returns true if a cell can be part of a run: no fixed node and a constant area.
static bool rod_is_plain(const pcs_batch *batch, int cell)
{
    const pcs_taper *taper = pcs_taper_of(batch, cell);
    const int *equation = batch->equation + 2 * (size_t)cell;
    return equation[0] >= 0 && equation[1] == equation[0] + 1 && (taper == NULL || taper->is_uniform);
}

// Holds what cells of a run must have in common: area, length and sense of the axis, and consecutive equations.
typedef struct rod_cell_data {
    int cell, equation;
    double area, length, direction, noise;
} rod_cell_data;

static rod_cell_data rod_find_cell_data(const pcs_batch *batch, int cell)
{
    rod_cell_data cell_data = { .cell = cell, .equation = batch->equation[2 * (size_t)cell] };
    double span[3];
    cell_data.area = rod_area(batch, cell);
    cell_data.length = pcs_cell_span(batch, cell, span);
    cell_data.direction = axial_sign(span);
    cell_data.noise = rod_length_noise(batch, cell);
    return cell_data;
}

// Returns true if the cell can continue the run that begins with `start`.
static bool rod_joins(const pcs_batch *batch, const rod_cell_data *start, int cell)
{
    if (!rod_is_plain(batch, cell)) return false;
    rod_cell_data cell_data = rod_find_cell_data(batch, cell);
    bool is_next = cell_data.equation == start->equation + (cell - start->cell);
    bool is_alike = is_next && cell_data.area == start->area && cell_data.direction == start->direction;
    return is_alike && fabs(cell_data.length - start->length) <= start->noise + cell_data.noise;
}

// Returns the index after the last cell of the run that begins at `start`.
static int rod_run_end(const pcs_batch *batch, int start)
{
    rod_cell_data cell_data = rod_find_cell_data(batch, start);
    int end = start + 1;
    while (end < batch->ncell && rod_joins(batch, &cell_data, end)) end++;
    return end;
}

// Returns the mean length of a run's cells from its end nodes, m, free of the round-off of single differences.
static double rod_mean_length(const pcs_batch *batch, int start, int end)
{
    const double *a = batch->x[batch->nodes[batch->cells[start]][0]];
    const double *b = batch->x[batch->nodes[batch->cells[end - 1]][1]];
    double length2 = 0.0;
    for (int k = 0; k < 3; k++) length2 += (b[k] - a[k]) * (b[k] - a[k]);
    return sqrt(length2) / (end - start);
}

// Returns mu of a mass matrix that depends on the mean area only.
static double rod_coupling(const pcs_batch *batch, double courant)
{
    if (((const rod_params *)batch->params)->mass == ROD_ONE_POINT) return 0.25;
    return fmin(0.25 - 1e-3, 1.0 / 12.0 + courant * courant / 6.0);
}

static void rod_sum_square(void *user, const pcs_taper_piece *piece)
{
    for (int i = 0; i < PCS_TAPER_POINTS; i++)
        *(double *)user += piece->weight[i] * piece->section[i].area * piece->section[i].area;
}

// Returns nu^2 J/(A L^2), with the means of J and A over the cell.
static double rod_lateral(const pcs_batch *batch, int cell, const rod_run *run)
{
    const rod_params *p = batch->params;
    const pcs_taper *taper = pcs_taper_of(batch, cell);
    if (p->nu == 0.0) return 0.0;
    double square = taper == NULL ? run->area * run->area : 0.0, length2 = p->E / p->rho * run->m / run->k;
    const pcs_section_line line = { .type = &rod_area_type, .params = p };
    if (taper != NULL) pcs_taper_walk(&line, taper, rod_sum_square, &square);
    double J = isnan(p->polar) ? square / (2.0 * circle_constant) : p->polar;
    return p->nu * p->nu * J / (run->area * length2);
}

// Computes the coefficients self, self_end and other of the mass of a run.
static void rod_share_mass(const pcs_batch *batch, int cell, rod_run *run)
{
    int mass = ((const rod_params *)batch->params)->mass;
    pcs_shares shares = rod_find_shares(batch, cell);
    if (mass == ROD_ONE_POINT || mass == ROD_TUNED) {
        shares.cross = rod_coupling(batch, sqrt(run->k / run->m) * batch->step);
        shares.first = shares.last = 0.5 - shares.cross;
    }
    double lateral = rod_lateral(batch, cell, run);
    run->self = shares.first + lateral;
    run->self_end = shares.last + lateral;
    run->other = shares.cross - lateral;
}

static rod_run rod_make_run(const pcs_batch *batch, int start, int end)
{
    const rod_params *p = batch->params;
    rod_run run = { .cell = start, .count = end - start, .equation = batch->equation[2 * (size_t)start] };
    double length = axial_axis(batch, start, run.axis, &run.sign);
    if (run.count > 1) length = rod_mean_length(batch, start, end);
    run.area = rod_area(batch, start);
    run.k = p->E * run.area / length;
    run.m = p->rho * run.area * length;
    rod_share_mass(batch, start, &run);
    return run;
}

// Splits the cells into runs and loose cells. Only counts them while the arrays are NULL.
static void rod_split(const pcs_batch *batch, rod_data *data)
{
    data->nrun = data->nsingle = 0;
    for (int start = 0, end; start < batch->ncell; start = end) {
        bool is_run = rod_is_plain(batch, start);
        end = is_run ? rod_run_end(batch, start) : start + 1;
        rod_run *list = is_run ? data->runs : data->singles;
        int *count = is_run ? &data->nrun : &data->nsingle;
        if (list != NULL) list[*count] = rod_make_run(batch, start, end);
        ++*count;
    }
}

static pcs_status rod_setup(pcs_context *ctx, pcs_batch *batch)
{
    rod_data *data;
    bool is_tuned = ((const rod_params *)batch->params)->mass == ROD_TUNED;
    if (is_tuned && !(batch->step > 0.0))
        return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': a tuned mass needs a time step in numbers",
                        batch->name);
    PCS_TAKE(ctx, data, 1, "rods");
    rod_split(batch, data);
    PCS_TAKE(ctx, data->runs, data->nrun, "rods");
    PCS_TAKE(ctx, data->singles, data->nsingle, "rods");
    rod_split(batch, data);
    batch->data = data;
    batch->takes_ranges = data->nsingle <= 64 && data->nrun <= 64; // each range visits all of them, so they must be few
    return PCS_OK;
}

// Returns the last of the sorted runs that starts at or before a cell, or NULL.
static const rod_run *rod_search(const rod_run *runs, int count, int cell)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (runs[middle].cell <= cell) low = middle + 1;
        else high = middle;
    }
    return low == 0 ? NULL : &runs[low - 1];
}

// Returns the run or loose cell that contains a cell.
static const rod_run *rod_find(const rod_data *data, int cell)
{
    const rod_run *run = rod_search(data->runs, data->nrun, cell);
    return run != NULL && cell < run->cell + run->count ? run : rod_search(data->singles, data->nsingle, cell);
}

static void rod_matrices(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *M, double *K, double *C)
{
    const rod_data *data = batch->data;
    const rod_run *run = rod_find(data, cell);
    if (M != NULL) {
        M[0] = run->m * run->self;
        M[3] = run->m * run->self_end;
        M[1] = M[2] = run->m * run->other;
    }
    if (K == NULL) return;
    K[0] = K[3] = run->k;
    K[1] = K[2] = -run->k;
}

// The entries first <= i < end, of `count` from equation e on, in the batch's range.
typedef struct rod_range {
    int first, end;
} rod_range;

static rod_range rod_clip(const pcs_cell_state *at, int e, int count)
{
    rod_range r = { 0, count };
    if (at->high == 0) return r;
    if (at->low - e > r.first) r.first = at->low - e < count ? at->low - e : count;
    if (at->high - e < r.end) r.end = at->high - e > r.first ? at->high - e : r.first;
    return r;
}

static bool rod_is_asked_for(const pcs_cell_state *at, int equation)
{
    return equation >= 0 && (at->high == 0 || (equation >= at->low && equation < at->high));
}

// Adds k (q_i+1 - q_i) - k (q_i - q_i-1) to f_i, row by row from both neighbours, so that rows are independent.
PCS_WIDE static void rod_run_spring(int n, rod_range r, double k, const double *restrict q, double *restrict f)
{
    int end = r.end < n ? r.end : n;
    if (r.first == 0 && r.end > 0) f[0] += k * (q[1] - q[0]);
    for (int i = r.first > 1 ? r.first : 1; i < end; i++) f[i] += k * ((q[i + 1] - q[i]) - (q[i] - q[i - 1]));
    if (r.first <= n && r.end > n) f[n] -= k * (q[n] - q[n - 1]);
}

// Subtracts m alpha (other v_i-1 + 2 self v_i + other v_i+1) from f_i, half of it at the ends.
static void rod_run_drag(const rod_run *run, rod_range r, double alpha, const double *restrict v, double *restrict f)
{
    int n = run->count, end = r.end < n ? r.end : n;
    double self = alpha * run->m * run->self, other = alpha * run->m * run->other;
    if (r.first == 0 && r.end > 0) f[0] -= self * v[0] + other * v[1];
    for (int i = r.first > 1 ? r.first : 1; i < end; i++) f[i] -= other * (v[i - 1] + v[i + 1]) + 2.0 * self * v[i];
    if (r.first <= n && r.end > n) f[n] -= self * v[n] + other * v[n - 1];
}

static void rod_single_force(const pcs_batch *batch, const rod_run *cell, const pcs_cell_state *at, double out[2])
{
    double x[2], w[2];
    pcs_cell_look(batch, cell->cell, 2, at, x, w);
    double tension = cell->k * ((x[1] - x[0]) + batch->damping_stiffness * (w[1] - w[0]));
    double drag = batch->damping_mass * cell->m;
    out[0] = tension - drag * (cell->self * w[0] + cell->other * w[1]);
    out[1] = -tension - drag * (cell->other * w[0] + cell->self_end * w[1]);
}

static void rod_add_single_forces(const pcs_batch *batch, const pcs_cell_state *at, double *f)
{
    const rod_data *data = batch->data;
    for (int i = 0; i < data->nsingle; i++) {
        const int *equation = batch->equation + 2 * (size_t)data->singles[i].cell;
        double out[2];
        rod_single_force(batch, &data->singles[i], at, out);
        for (int k = 0; k < 2; k++)
            if (rod_is_asked_for(at, equation[k])) f[equation[k]] += out[k];
    }
}

static void rod_force(const pcs_batch *batch, const pcs_cell_state *at, double *f)
{
    const rod_data *data = batch->data;
    double alpha = batch->damping_mass, beta = batch->damping_stiffness;
    for (int i = 0; i < data->nrun; i++) {
        const rod_run *run = &data->runs[i];
        int e = run->equation, n = run->count;
        rod_range r = rod_clip(at, e, n + 1);
        rod_run_spring(n, r, run->k, at->q + e, f + e);
        if (beta != 0.0) rod_run_spring(n, r, run->k * beta, at->v + e, f + e);
        if (alpha != 0.0) rod_run_drag(run, r, alpha, at->v + e, f + e);
    }
    if (data->nsingle > 0) rod_add_single_forces(batch, at, f);
}

// Returns the kinetic energy of a run: v . M v is that of sums and differences of neighbours.
static double rod_kinetic(const rod_run *run, const rod_sums *v)
{
    return 0.25 * run->m * ((run->self + run->other) * v->pair + (run->self - run->other) * v->apart);
}

static void rod_measure_run(const rod_run *run, const pcs_cell_state *at, unsigned what, pcs_cell_sums *sum)
{
    rod_range r = rod_clip(at, run->equation, run->count);
    int e = run->equation + r.first, n = r.end - r.first;
    rod_sums q, v;
    if (n == 0) return;
    if (what & PCS_CELL_ENERGY) {
        rod_run_sums(n, at->q + e, at->v + e, &q, &v);
        sum->strain += 0.5 * run->k * q.apart;
        sum->kinetic += rod_kinetic(run, &v);
        for (int k = 0; k < 3; k++) sum->momentum[k] += run->m * (run->self + run->other) * v.plain * run->axis[k];
    }
    if (!(what & PCS_CELL_CHANGE)) return;
    rod_run_change(n, (const double *[2]){ at->q0 + e, at->q + e }, (const double *[2]){ at->v0 + e, at->v + e }, &q,
                   &v);
    sum->change_in_strain += 0.5 * run->k * q.apart;
    sum->change_in_kinetic += rod_kinetic(run, &v);
}

// Computes the momenta of a loose cell, kg m/s. Returns twice its kinetic energy, J.
static double rod_single_momentum(const rod_run *cell, const double w[2], double p[2])
{
    p[0] = cell->m * (cell->self * w[0] + cell->other * w[1]);
    p[1] = cell->m * (cell->other * w[0] + cell->self_end * w[1]);
    return w[0] * p[0] + w[1] * p[1];
}

static void rod_measure_singles(const pcs_batch *batch, const rod_run *cell, const pcs_cell_state *at, unsigned what,
                                pcs_cell_sums *sum)
{
    const int *equation = batch->equation + 2 * (size_t)cell->cell;
    double x[2], w[2], p[2], x0[2], w0[2];
    // A cell begins at its first equation; it does not move if both nodes are fixed.
    if (!rod_is_asked_for(at, equation[0] >= 0 ? equation[0] : equation[1])) return;
    pcs_cell_look(batch, cell->cell, 2, at, x, w);
    if (what & PCS_CELL_ENERGY) {
        sum->strain += 0.5 * cell->k * (x[1] - x[0]) * (x[1] - x[0]);
        sum->kinetic += 0.5 * rod_single_momentum(cell, w, p);
        for (int k = 0; k < 3; k++) {
            sum->momentum[k] += (p[0] + p[1]) * cell->axis[k];
            for (int j = 0; j < 2; j++)
                if (equation[j] < 0) sum->fixed_momentum[k] += p[j] * cell->axis[k];
        }
    }
    if (!(what & PCS_CELL_CHANGE)) return;
    pcs_cell_gather(equation, 2, at->q0, x0);
    pcs_cell_gather(equation, 2, at->v0, w0);
    double stretch = (x[1] - x[0]) - (x0[1] - x0[0]);
    const double change[2] = { w[0] - w0[0], w[1] - w0[1] };
    sum->change_in_strain += 0.5 * cell->k * stretch * stretch;
    sum->change_in_kinetic += 0.5 * rod_single_momentum(cell, change, p);
}

// Adds the resultant, N. Springs cancel within a run: only drag and the cells at supports contribute.
PCS_APART static void rod_add_resultant(const pcs_batch *batch, const pcs_cell_state *at, pcs_cell_sums *sum)
{
    const rod_data *data = batch->data;
    int nbraked = batch->damping_mass == 0.0 ? 0 : data->nrun;
    for (int i = 0; i < nbraked; i++) {
        const rod_run *run = &data->runs[i];
        double drag = batch->damping_mass * run->m * (run->self + run->other);
        drag *= rod_sum(run->count, at->v, at->v + run->equation, false, true).plain;
        for (int k = 0; k < 3; k++) sum->resultant[k] -= drag * run->axis[k];
    }
    for (int i = 0; i < data->nsingle; i++) {
        const int *equation = batch->equation + 2 * (size_t)data->singles[i].cell;
        double out[2];
        rod_single_force(batch, &data->singles[i], at, out);
        for (int j = 0; j < 2; j++)
            if (equation[j] >= 0)
                for (int k = 0; k < 3; k++) sum->resultant[k] += out[j] * data->singles[i].axis[k];
    }
}

static void rod_measure(const pcs_batch *batch, const pcs_cell_state *at, unsigned what, pcs_cell_sums *sum)
{
    const rod_data *data = batch->data;
    if (what & PCS_CELL_RESULTANT) rod_add_resultant(batch, at, sum);
    if (!(what & (PCS_CELL_ENERGY | PCS_CELL_CHANGE))) return;
    for (int i = 0; i < data->nrun; i++) rod_measure_run(&data->runs[i], at, what, sum);
    for (int i = 0; i < data->nsingle; i++) rod_measure_singles(batch, &data->singles[i], at, what, sum);
}

// Evaluates the fields; the damping force is not part of the elastic stress.
static void rod_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                            double field[PCS_MAX_CELL_FIELDS])
{
    const rod_run *run = rod_find(batch->data, cell);
    double x[2];
    pcs_cell_gather(batch->equation + 2 * (size_t)cell, 2, at->q, x);
    double stretch = x[1] - x[0], tension = run->sign * run->k * stretch;
    field[0] = tension;
    field[1] = tension / run->area;
    field[2] = 0.5 * run->k * stretch * stretch;
    rod_read_ends(batch, cell, at->line_load, tension, &run->sign, field + 3);
}

static double rod_travel_time(const pcs_batch *batch, int cell, bool is_transverse)
{
    const rod_run *run = rod_find(batch->data, cell);
    return sqrt(run->m / run->k);
}

static const char *const rod_masses[] = { "consistent", "lumped", "one_point", "tuned", "auto", NULL };

static const pcs_option rod_options[] = {
    ROD_MATERIAL,
    PCS_CHOICE("mass", rod_params, mass, PCS_DEFAULT("auto"), rod_masses,
               "mass matrix; tuned: by the time step, for clean waves with implicit schemes; auto: consistent, and "
               "one_point with scheme wave, which needs it"),
    { 0 },
};

static const char *const rod_love_masses[] = { "consistent", "lumped", NULL };

static const pcs_option rod_love_options[] = {
    ROD_MATERIAL,
    PCS_REAL("nu", rod_params, nu, PCS_REQUIRED, PCS_ABOVE(-1.0, 0.5), "Poisson's ratio"),
    PCS_REAL("polar_moment", rod_params, polar, PCS_OPTIONAL, PCS_POSITIVE,
             "of the section, m^4; by default that of a solid round bar, A^2/(2 pi)"),
    PCS_CHOICE("mass", rod_params, mass, PCS_DEFAULT("consistent"), rod_love_masses, "mass matrix of axial motion"),
    { 0 },
};

#define ROD_KERNELS                                                                                           \
    .params_size = sizeof(rod_params), .area = &rod_area_type, .nnode = 2, .ndof = 2, .fields = rod_fields,   \
    .end_fields = rod_end_fields, .node_dofs = axial_line_dofs, .setup = rod_setup, .matrices = rod_matrices, \
    .force = rod_force, .measure = rod_measure, .read_fields = rod_read_fields

const pcs_element_ops pcs_element_rod = {
    .name = "rod",
    .summary = "two-node rod, one dof per node along its axis; fields axial_force, stress, strain_energy",
    .options = rod_options,
    .mass = { .offset = offsetof(rod_params, mass),
              .consistent = ROD_CONSISTENT,
              .one_point = ROD_ONE_POINT,
              .automatic = ROD_AUTO,
              .tuned = ROD_TUNED },
    .travel_time = rod_travel_time,
    ROD_KERNELS,
};

const pcs_element_ops pcs_element_rod_love = {
    .name = "rod_love",
    .summary = "two-node rod with lateral inertia, for thick bars whose waves disperse; otherwise as rod",
    .options = rod_love_options,
    ROD_KERNELS,
};
