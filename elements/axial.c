#include "elements/axial.h"

#include "core/dense.h"
#include "core/rotation.h"

#include <math.h>
#include <string.h>

static const char *const rod_masses[] = { "consistent", "lumped", NULL };

const pcs_option pcs_rod_options[] = {
    PCS_ROD_MATERIAL,
    PCS_CHOICE("mass", pcs_rod_params, mass, PCS_DEFAULT("consistent"), rod_masses, "mass matrix"),
    { 0 },
};

static const pcs_option rod_area_options[] = {
    PCS_PROFILE("area", pcs_rod_params, area, PCS_REQUIRED, PCS_POSITIVE, "cross section, m^2"),
    { 0 },
};

static void rod_area_constants(const void *params, pcs_section *out)
{
    *out = (pcs_section){ .area = ((const pcs_rod_params *)params)->area.value };
}

const pcs_section_type pcs_rod_area = {
    .name = "area",
    .summary = "of a rod",
    .options = rod_area_options,
    .params_size = sizeof(pcs_rod_params),
    .constants = rod_area_constants,
};

pcs_rod_cell pcs_rod_find_cell(const pcs_batch *batch, int cell, bool is_lumped)
{
    const pcs_taper *taper = pcs_taper_of(batch, cell);
    pcs_rod_cell out = { .area = ((const pcs_rod_params *)batch->params)->area.value, .is_uniform = true };
    if (taper != NULL) out.area = taper->mean.area;
    if (taper == NULL || taper->is_uniform) {
        out.self = out.self_end = is_lumped ? 0.5 : 1.0 / 3.0;
        out.other = is_lumped ? 0.0 : 1.0 / 6.0;
        return out;
    }
    // Displacements are linear along the cell. A lumped mass has the sums of the rows.
    double between = taper->area[1];
    out.is_uniform = false;
    out.self = taper->area[0] + (is_lumped ? between : 0.0);
    out.self_end = taper->area[2] + (is_lumped ? between : 0.0);
    out.other = is_lumped ? 0.0 : between;
    return out;
}

const char *const pcs_rod_fields[] = { "axial_force", "stress", "strain_energy", NULL };
const char *const pcs_rod_end_fields[] = { "axial_start", "axial_end", "stress_start", "stress_end", NULL };

void pcs_rod_read_ends(const pcs_batch *batch, int cell, const double *line_load, double tension, const double *axis,
                       double field[4])
{
    const pcs_taper *taper = pcs_taper_of(batch, cell);
    double area = ((const pcs_rod_params *)batch->params)->area.value, load[2] = { 0 };
    int dim = batch->ops->ndof / 2;
    if (line_load != NULL)
        for (int i = 0; i < 2 * dim; i++) load[i / dim] += line_load[i] * axis[i % dim];
    field[0] = tension + load[0];
    field[1] = tension - load[1];
    for (int end = 0; end < 2; end++) field[2 + end] = field[end] / (taper == NULL ? area : taper->end[end].area);
}

double pcs_axial_span(const pcs_batch *batch, int cell, double span[3])
{
    pcs_cell_span(batch, cell, span);
    return pcs_norm3(span);
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

double pcs_axial_axis(const pcs_batch *batch, int cell, double axis[3], double *sign)
{
    double length = pcs_axial_span(batch, cell, axis);
    *sign = axial_sign(axis);
    (void)pcs_normalize3(axis, axis); // exactly an axis of space if the rod lies along it
    for (int k = 0; k < 3; k++) axis[k] *= *sign;
    return length;
}

double pcs_axial_way(const pcs_batch *batch, int cell, double *sign)
{
    double span[3], length = pcs_axial_span(batch, cell, span);
    *sign = axial_sign(span);
    return length;
}

pcs_status pcs_axial_line_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out)
{
    double sign, length = pcs_axial_axis(batch, cell, out->direction[0], &sign);
    out->count = 1;
    out->is_rotation[0] = false;
    return axial_check_length(ctx, batch, cell, length);
}

pcs_status pcs_axial_check_ends(pcs_context *ctx, const pcs_batch *batch, int cell, int dim, const double span[3])
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

pcs_status pcs_axial_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int dim, pcs_node_dofs *out)
{
    double span[3];
    (void)pcs_axial_span(batch, cell, span);
    *out = (pcs_node_dofs){ .count = 3 };
    for (int k = 0; k < dim; k++) out->direction[k][k] = 1.0;
    return pcs_axial_check_ends(ctx, batch, cell, dim, span);
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

double pcs_axial_law_stiffest(const pcs_axial_law *law)
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
    pcs_axial_view at;
    double v[MAX_NDOF];
    double J[3][MAX_NDOF], Jn[MAX_NDOF]; // Jn = J^T n; J of ends at nodes is filled in where K is asked for
    double R[2][9];                      // of ends at arms, as is W, the last three of v of a node
} axial_state;

static const int *axial_equation(const pcs_batch *batch, int cell)
{
    return batch->equation + (size_t)cell * (size_t)((const pcs_axial *)batch->data)->shape.ndof;
}

// Evaluates the forces for an elongation and its rate.
static void axial_respond(const pcs_axial *axial, const pcs_axial_cell *cell, pcs_axial_view *at)
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
static void axial_find(const pcs_axial *axial, int number, const double x[3], axial_state *s)
{
    const pcs_axial_cell *cell = &axial->cell[number];
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

// Computes exp(p) r - r without cancellation at small p; p x r if is_small.
static void arms_turn(const double p[3], bool is_small, const double r[3], double out[3])
{
    double half = 0.5 * pcs_norm3(p), sinc = half > 0.0 ? sin(half) / half : 1.0, once[3], twice[3];
    pcs_cross(p, r, once);
    pcs_cross(p, once, twice);
    for (int k = 0; k < 3; k++) out[k] = is_small ? once[k] : sinc * (cos(half) * once[k] + 0.5 * sinc * twice[k]);
}

// Computes the columns of J of one node, and its rotation matrix.
static void arms_columns(const pcs_axial *axial, int node, const double p[3], axial_state *s)
{
    const double none[3] = { 0 }, *r = axial->arm[node], sign = node == 0 ? -1.0 : 1.0;
    int first = axial->shape.node_dofs * node;
    pcs_rotation_exp(axial->has_small_angles ? none : p, s->R[node]);
    for (int j = 0; j < 3; j++) {
        const double unit[3] = { j == 0, j == 1, j == 2 };
        double material[3], turned[3];
        pcs_cross(unit, r, material);
        pcs_rotation_apply(s->R[node], material, turned);
        for (int i = 0; i < 3; i++) {
            s->J[i][first + j] = sign * unit[i];
            s->J[i][first + 3 + j] = sign * turned[i];
        }
    }
}

// Evaluates a cell with ends at arms from local displacements.
static void arms_find(const pcs_axial *axial, int number, const double *u, axial_state *s)
{
    int n = axial->shape.ndof, one = axial->shape.node_dofs;
    double x[3], turned[2][3];
    for (int node = 0; node < 2; node++) {
        arms_turn(u + one * node + 3, axial->has_small_angles, axial->arm[node], turned[node]);
        arms_columns(axial, node, u + one * node + 3, s);
    }
    for (int k = 0; k < 3; k++) {
        x[k] = u[one + k] + turned[1][k] - (u[k] + turned[0][k]);
        s->w[k] = 0.0;
        for (int j = 0; j < n; j++) s->w[k] += s->J[k][j] * s->v[j];
    }
    axial_find(axial, number, x, s);
    for (int j = 0; j < n; j++) s->Jn[j] = s->n[0] * s->J[0][j] + s->n[1] * s->J[1][j] + s->n[2] * s->J[2][j];
}

static void axial_look(const pcs_batch *batch, int cell, const pcs_cell_state *at, axial_state *s)
{
    const pcs_axial *axial = batch->data;
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

pcs_status pcs_axial_create(pcs_context *ctx, pcs_batch *batch, const double (*arm)[3], pcs_axial **out)
{
    pcs_axial *axial;
    int one = batch->ops->ndof / 2;
    double beyond[3] = { 0.0 };
    PCS_TAKE(ctx, axial, 1, "axial cells");
    PCS_TAKE(ctx, axial->cell, batch->ncell, "axial cells");
    axial->shape = (pcs_cell_shape){ .ndof = 2 * one, .node_dofs = one, .translations = one < 3 ? one : 3 };
    axial->arm = arm;
    if (arm != NULL)
        for (int k = 0; k < 3; k++) beyond[k] = arm[1][k] - arm[0][k];
    for (int c = 0; c < batch->ncell; c++) {
        pcs_axial_cell *cell = &axial->cell[c];
        pcs_cell_span(batch, c, cell->span);
        for (int k = 0; k < 3; k++) cell->span[k] += beyond[k];
        cell->length = pcs_norm3(cell->span);
    }
    *out = axial;
    batch->data = axial;
    return PCS_OK;
}

pcs_axial_view pcs_axial_look(const pcs_batch *batch, int cell, const pcs_cell_state *at)
{
    axial_state s;
    axial_look(batch, cell, at, &s);
    return s.at;
}

// Computes the momenta p = M v of a cell. Returns v . M v.
static double axial_momentum(const pcs_axial *axial, int c, const double *v, double p[MAX_NDOF])
{
    const pcs_axial_cell *cell = &axial->cell[c];
    int n = axial->shape.ndof, one = axial->shape.node_dofs;
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double self = i < one ? cell->self : cell->self_end;
        p[i] = i % one < axial->shape.translations ? self * v[i] + cell->other * v[(i + one) % n] : 0.0;
        sum += p[i] * v[i];
    }
    return sum;
}

static void axial_mass(const pcs_axial *axial, int cell, double *M)
{
    int n = axial->shape.ndof;
    for (int j = 0; j < n; j++) {
        double unit[MAX_NDOF] = { 0 };
        unit[j] = 1.0;
        (void)axial_momentum(axial, cell, unit, M + (ptrdiff_t)j * n); // row j of a symmetric matrix
    }
}

// Adds to K the part from the rotation of one node.
static void arms_add_spin(const pcs_axial *axial, const axial_state *s, int node, double *K)
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

static void axial_stiffness(const pcs_axial *axial, axial_state *s, double *K)
{
    const pcs_axial_view *at = &s->at;
    int n = axial->shape.ndof;
    double across = s->length > 0.0 ? 1.0 / s->length : 0.0; // without length no direction is perpendicular
    if (axial->arm == NULL) axial_columns(axial->shape.translations, s);
    for (int j = 0; j < n; j++) {
        double w = 0.0;
        for (int k = 0; k < 3; k++) w += s->w[k] * s->J[k][j];
        double turn = at->damping * across * (w - at->rate * s->Jn[j]);
        for (int i = 0; i < n; i++) {
            double JJ = s->J[0][i] * s->J[0][j] + s->J[1][i] * s->J[1][j] + s->J[2][i] * s->J[2][j];
            double along = s->Jn[i] * s->Jn[j];
            K[i * n + j] = at->stiffness * along + s->Jn[i] * turn + at->tension * across * (JJ - along);
        }
    }
    if (axial->arm == NULL || axial->has_small_angles) return;
    for (int node = 0; node < 2; node++) arms_add_spin(axial, s, node, K);
}

// Bounds K in all states. The line may become perpendicular to the arms, which are then levers of full length.
static void axial_stiffest(const pcs_axial *axial, axial_state *s, double *K)
{
    int n = axial->shape.ndof, one = axial->shape.node_dofs;
    double most = axial->law == NULL ? s->at.stiffness : pcs_axial_law_stiffest(axial->law), longest[MAX_NDOF];
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

void pcs_axial_matrices(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *M, double *K, double *C)
{
    const pcs_axial *axial = batch->data;
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

// Computes internal and damping force on the dofs of a cell, as forces on the body.
static void axial_force(const pcs_batch *batch, int cell, const pcs_cell_state *at, double force[MAX_NDOF])
{
    const pcs_axial *axial = batch->data;
    double p[MAX_NDOF] = { 0 };
    axial_state s;
    axial_look(batch, cell, at, &s);
    if (batch->damping_mass != 0.0) (void)axial_momentum(axial, cell, s.v, p);
    for (int i = 0; i < axial->shape.ndof; i++) force[i] = -s.at.tension * s.Jn[i] - batch->damping_mass * p[i];
}

void pcs_axial_force(const pcs_batch *batch, const pcs_cell_state *at, double *f)
{
    pcs_cell_add_force(batch, batch->ops->ndof, axial_force, at, f);
}

void pcs_axial_measure(const pcs_batch *batch, const pcs_cell_state *at, unsigned what, pcs_cell_sums *sum)
{
    const pcs_axial *axial = batch->data;
    const pcs_cell_state beside = { .q = at->q, .v = at->along };
    if (what & PCS_CELL_RESULTANT) pcs_cell_add_resultant(batch, &axial->shape, axial_force, at, sum);
    for (int c = 0; c < batch->ncell; c++) {
        double p[MAX_NDOF];
        axial_state s, along;
        axial_look(batch, c, at, &s);
        double square = axial_momentum(axial, c, s.v, p);
        if (what & PCS_CELL_ENERGY) {
            sum->strain += s.at.energy;
            sum->kinetic += 0.5 * square;
            pcs_cell_add_momentum(&axial->shape, axial_equation(batch, c), p, sum);
        }
        if (!(what & PCS_CELL_POWER)) continue;
        axial_look(batch, c, &beside, &along);
        sum->power += s.at.drag * along.at.rate;
        sum->power += batch->damping_mass * pcs_dense_dot(axial->shape.ndof, along.v, p);
    }
}
