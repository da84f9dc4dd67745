// Rectangle, circle, tube, I and given constants.
//
//   rectangle b x h:  A = b h, Iz = b h^3/12, Iy = h b^3/12, and with a the longer and s the shorter side
//                     J = a s^3/3 (1 - 192/pi^5 s/a sum_{n odd} tanh(n pi a/(2 s))/n^5)   (Saint-Venant's series)
//   circle d:         A = pi d^2/4, I = pi d^4/64, J = 2 I
//   tube D, t:        differences of two circles
//   I:                two flanges b x tf and a web (h - 2 tf) x tw; J = sum b t^3/3

#include "elements/section.h"

#include "core/rotation.h"
#include "elements/cell.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double circle_constant = 3.14159265358979323846;

typedef struct rectangle {
    pcs_profile width, height;
    double shear_factor;
} rectangle;

static const pcs_option rectangle_options[] = {
    PCS_PROFILE("width", rectangle, width, PCS_REQUIRED, PCS_POSITIVE,
                "along the local z axis, out of the plane of a plane beam, m"),
    PCS_PROFILE("height", rectangle, height, PCS_REQUIRED, PCS_POSITIVE, "along the local y axis, m"),
    PCS_REAL("shear_factor", rectangle, shear_factor, PCS_DEFAULT("0.8333333333333333"), PCS_POSITIVE,
             "shear correction factor: effective shear area over area"),
    { .name = NULL },
};

static double rectangle_torsion(double a, double s)
{
    double sum = 0.0, pi5 = pow(circle_constant, 5);
    for (int n = 31; n >= 1; n -= 2) sum += tanh(0.5 * n * circle_constant * a / s) / pow(n, 5);
    return a * s * s * s / 3.0 * (1.0 - 192.0 / pi5 * s / a * sum);
}

static void rectangle_constants(const void *params, pcs_section *out)
{
    const rectangle *p = params;
    double b = p->width.value, h = p->height.value;
    *out = (pcs_section){ .area = b * h,
                          .Iy = h * b * b * b / 12.0,
                          .Iz = b * h * h * h / 12.0,
                          .torsion = rectangle_torsion(fmax(b, h), fmin(b, h)),
                          .ky = p->shear_factor,
                          .kz = p->shear_factor,
                          .cy = 0.5 * h,
                          .cz = 0.5 * b };
}

static const pcs_section_type section_rectangle = {
    .name = "rectangle",
    .summary = "width by height",
    .options = rectangle_options,
    .params_size = sizeof(rectangle),
    .constants = rectangle_constants,
};

typedef struct round_section {
    pcs_profile diameter, thickness;
    double shear_factor;
} round_section;

// Computes the constants of a circle, whose thickness is not given and zero, or of a tube.
static void round_constants(const void *params, pcs_section *out)
{
    const round_section *p = params;
    double outer = p->diameter.value, inner = p->thickness.value > 0.0 ? outer - 2.0 * p->thickness.value : 0.0;
    double o2 = outer * outer, i2 = inner * inner;
    double area = 0.25 * circle_constant * (o2 - i2), I = circle_constant / 64.0 * (o2 * o2 - i2 * i2);
    *out = (pcs_section){ .area = area,
                          .Iy = I,
                          .Iz = I,
                          .torsion = 2.0 * I,
                          .ky = p->shear_factor,
                          .kz = p->shear_factor,
                          .cy = 0.5 * outer,
                          .cz = 0.5 * outer,
                          .is_round = true };
}

static const pcs_option circle_options[] = {
    PCS_PROFILE("diameter", round_section, diameter, PCS_REQUIRED, PCS_POSITIVE, "m"),
    PCS_REAL("shear_factor", round_section, shear_factor, PCS_DEFAULT("0.9"), PCS_POSITIVE,
             "shear correction factor: effective shear area over area"),
    { .name = NULL },
};

static const pcs_section_type section_circle = {
    .name = "circle",
    .summary = "solid and round",
    .options = circle_options,
    .params_size = sizeof(round_section),
    .constants = round_constants,
};

static const pcs_option tube_options[] = {
    PCS_PROFILE("diameter", round_section, diameter, PCS_REQUIRED, PCS_POSITIVE, "outer, m"),
    PCS_PROFILE("thickness", round_section, thickness, PCS_REQUIRED, PCS_POSITIVE, "of the wall, m"),
    PCS_REAL("shear_factor", round_section, shear_factor, PCS_DEFAULT("0.5"), PCS_POSITIVE,
             "shear correction factor: effective shear area over area"),
    { .name = NULL },
};

static const char *tube_check(const void *params, const char **option)
{
    const round_section *p = params;
    *option = "thickness";
    return 2.0 * p->thickness.value <= p->diameter.value ? NULL : "the wall is thicker than half the diameter";
}

static const pcs_section_type section_tube = {
    .name = "tube",
    .summary = "round and hollow",
    .options = tube_options,
    .params_size = sizeof(round_section),
    .check = tube_check,
    .constants = round_constants,
};

typedef struct i_section {
    pcs_profile width, height, flange, web;
} i_section;

static const pcs_option i_options[] = {
    PCS_PROFILE("width", i_section, width, PCS_REQUIRED, PCS_POSITIVE, "of the flanges, m"),
    PCS_PROFILE("height", i_section, height, PCS_REQUIRED, PCS_POSITIVE, "over all, along the local y axis, m"),
    PCS_PROFILE("flange", i_section, flange, PCS_REQUIRED, PCS_POSITIVE, "thickness of a flange, m"),
    PCS_PROFILE("web", i_section, web, PCS_REQUIRED, PCS_POSITIVE, "thickness of the web, m"),
    { .name = NULL },
};

static const char *i_check(const void *params, const char **option)
{
    const i_section *p = params;
    *option = "flange";
    if (2.0 * p->flange.value >= p->height.value) return "the flanges leave no room for a web";
    *option = "web";
    return p->web.value <= p->width.value ? NULL : "the web is thicker than the flanges are wide";
}

// Computes the constants of an I section. The web carries shear along y, the flanges along z.
static void i_constants(const void *params, pcs_section *out)
{
    const i_section *p = params;
    double b = p->width.value, h = p->height.value, tf = p->flange.value, tw = p->web.value, hw = h - 2.0 * tf;
    double area = 2.0 * b * tf + hw * tw;
    *out = (pcs_section){ .area = area,
                          .Iy = (2.0 * tf * b * b * b + hw * tw * tw * tw) / 12.0,
                          .Iz = (b * h * h * h - (b - tw) * hw * hw * hw) / 12.0,
                          .torsion = (2.0 * b * tf * tf * tf + hw * tw * tw * tw) / 3.0,
                          .ky = hw * tw / area,
                          .kz = 5.0 / 6.0 * 2.0 * b * tf / area,
                          .cy = 0.5 * h,
                          .cz = 0.5 * b };
}

static const pcs_section_type section_i = {
    .name = "I",
    .summary = "two flanges and a web",
    .options = i_options,
    .params_size = sizeof(i_section),
    .check = i_check,
    .constants = i_constants,
};

typedef struct given_section {
    pcs_profile area, Iy, Iz, torsion, cy, cz;
    double ky, kz;
} given_section;

static const pcs_option given_options[] = {
    PCS_PROFILE("area", given_section, area, PCS_REQUIRED, PCS_POSITIVE, "m^2"),
    PCS_PROFILE("Iz", given_section, Iz, PCS_REQUIRED, PCS_POSITIVE, "bending about z, m^4"),
    PCS_PROFILE("Iy", given_section, Iy, PCS_OPTIONAL, PCS_POSITIVE, "bending about y, m^4; by default as Iz"),
    PCS_PROFILE("torsion", given_section, torsion, PCS_OPTIONAL, PCS_POSITIVE,
                "Saint-Venant's constant, m^4; by default Iy + Iz"),
    PCS_REAL("ky", given_section, ky, PCS_DEFAULT("1.0"), PCS_POSITIVE, "shear factor along y"),
    PCS_REAL("kz", given_section, kz, PCS_DEFAULT("1.0"), PCS_POSITIVE, "shear factor along z"),
    PCS_PROFILE("cy", given_section, cy, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE,
                "outermost fibre along y, for stresses, m"),
    PCS_PROFILE("cz", given_section, cz, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE, "outermost fibre along z, m"),
    { .name = NULL },
};

static void given_constants(const void *params, pcs_section *out)
{
    const given_section *p = params;
    *out = (pcs_section){ .area = p->area.value,
                          .Iy = p->Iy.value,
                          .Iz = p->Iz.value,
                          .torsion = p->torsion.value,
                          .ky = p->ky,
                          .kz = p->kz,
                          .cy = p->cy.value,
                          .cz = p->cz.value };
    if (isnan(out->Iy)) out->Iy = out->Iz;
    if (isnan(out->torsion)) out->torsion = out->Iy + out->Iz;
}

static const pcs_section_type section_given = {
    .name = "given",
    .summary = "constants as numbers",
    .options = given_options,
    .params_size = sizeof(given_section),
    .constants = given_constants,
};

const pcs_section_type *const pcs_section_types[] = {
    &section_rectangle, &section_circle, &section_tube, &section_i, &section_given, NULL,
};

static const pcs_profile *section_profile(const pcs_option *option, const void *params)
{
    return (const pcs_profile *)(const void *)((const char *)params + option->offset);
}

bool pcs_section_varies(const pcs_section_type *type, const void *params)
{
    for (const pcs_option *o = type->options; o->name != NULL; o++)
        if (o->kind == PCS_OPTION_PROFILE && section_profile(o, params)->count > 0) return true;
    return false;
}

// Evaluates a profile by the row that applies at s or begins the piece around it. Positions match up to round-off of
// the line.
static double section_level(const pcs_profile *p, double length, double s, bool is_before)
{
    if (p->count == 0) return p->value;
    double scale = p->is_relative ? length : 1.0, slack = (is_before ? -1e-12 : 1e-12) * length;
    int row = 0;
    while (row + 1 < p->count && scale * p->place[row + 1] <= s + slack) row++;
    if (p->is_stepped || row + 1 == p->count) return p->level[row];
    double a = scale * p->place[row], b = scale * p->place[row + 1];
    double share = fmin(1.0, fmax(0.0, (s - a) / (b - a)));
    return (1.0 - share) * p->level[row] + share * p->level[row + 1];
}

void pcs_section_params_at(const pcs_section_line *line, double length, double s, bool is_before, void *out)
{
    assert(line->type->params_size <= PCS_SECTION_BYTES);
    memcpy(out, line->params, line->type->params_size);
    for (const pcs_option *o = line->type->options; o->name != NULL; o++) {
        if (o->kind != PCS_OPTION_PROFILE) continue;
        double value = section_level(section_profile(o, line->params), length, s, is_before);
        memcpy((char *)out + o->offset + offsetof(pcs_profile, value), &value, sizeof value);
    }
}

// Evaluates the section there.
static void section_at(const pcs_section_line *line, double length, double s, bool is_before, pcs_section *out)
{
    _Alignas(max_align_t) char params[PCS_SECTION_BYTES];
    pcs_section_params_at(line, length, s, is_before, params);
    line->type->constants(params, out);
}

double pcs_section_next(const pcs_section_line *line, double length, double s)
{
    double next = INFINITY;
    for (const pcs_option *o = line->type->options; o->name != NULL; o++) {
        if (o->kind != PCS_OPTION_PROFILE) continue;
        const pcs_profile *p = section_profile(o, line->params);
        for (int i = 0; i < p->count; i++) {
            double place = (p->is_relative ? length : 1.0) * p->place[i];
            if (place > s + 1e-12 * length) next = fmin(next, place);
        }
    }
    return next;
}

enum { POINTS = PCS_TAPER_POINTS, MOST_HALVINGS = 40 };

// Lists points and weights of Gauss-Legendre integration on (0, 1).
static const double taper_points[POINTS] = { 0.019855071751231912, 0.10166676129318664, 0.2372337950418355,
                                             0.40828267875217511,  0.59171732124782483, 0.7627662049581645,
                                             0.89833323870681336,  0.98014492824876809 };
static const double taper_weights[POINTS] = { 0.050614268145188344, 0.11119051722668717, 0.15685332293894352,
                                              0.18134189168918088,  0.18134189168918088, 0.15685332293894352,
                                              0.11119051722668717,  0.050614268145188344 };

bool pcs_taper_line(const pcs_element_ops *ops, const void *params, pcs_section_line *line)
{
    *line = (pcs_section_line){ .type = ops->area };
    if (ops->area != NULL) {
        line->params = pcs_section_varies(ops->area, params) ? params : NULL;
        return true;
    }
    if (ops->section_offset == 0) return false;
    const pcs_section *section = (const pcs_section *)(const void *)((const char *)params + ops->section_offset);
    if (section->line != NULL) *line = *section->line;
    return true;
}

typedef struct taper_walk {
    const pcs_section_line *line;
    const pcs_taper *taper;
    pcs_taper_visit *visit;
    void *user;
} taper_walk;

static bool taper_is_steep(double a, double b)
{
    return a > 2.0 * b || b > 2.0 * a;
}

static bool taper_is_steep_between(const pcs_section *a, const pcs_section *b)
{
    return taper_is_steep(a->area, b->area) || taper_is_steep(a->Iy, b->Iy) || taper_is_steep(a->Iz, b->Iz) ||
           taper_is_steep(a->torsion, b->torsion);
}

static void taper_walk_piece(const taper_walk *walk, double a, double b)
{
    const pcs_taper *t = walk->taper;
    double whole = t->to - t->from;
    pcs_taper_piece piece = { .size = (b - a) / whole };
    for (int i = 0; i < POINTS; i++) {
        double s = a + taper_points[i] * (b - a);
        section_at(walk->line, t->length, s, false, &piece.section[i]);
        piece.xi[i] = (s - t->from) / whole;
        piece.weight[i] = taper_weights[i] * piece.size;
    }
    walk->visit(walk->user, &piece);
}

// Computes Legendre's polynomials P_0 .. P_POINTS at x by recurrence.
static void taper_legendre(double x, double P[POINTS + 1])
{
    P[0] = 1.0;
    P[1] = x;
    for (int n = 1; n < POINTS; n++) P[n + 1] = ((2 * n + 1) * x * P[n] - n * P[n - 1]) / (n + 1);
}

// Expands f in Legendre's polynomials, whose integrals are differences of their neighbours:
//   c_n = (2n + 1) sum w_j P_n(x_j) f_j,   integral of P_n from -1 to x = (P_n+1(x) - P_n-1(x))/(2n + 1)
double pcs_taper_run(const pcs_taper_piece *piece, const double f[PCS_TAPER_POINTS], double out[PCS_TAPER_POINTS])
{
    double P[POINTS][POINTS + 1], c[POINTS] = { 0 };
    for (int i = 0; i < POINTS; i++) taper_legendre(2.0 * taper_points[i] - 1.0, P[i]);
    for (int n = 0; n < POINTS; n++)
        for (int j = 0; j < POINTS; j++) c[n] += taper_weights[j] * P[j][n] * f[j];
    for (int i = 0; i < POINTS; i++) {
        double sum = c[0] * (P[i][1] + 1.0);
        for (int n = 1; n < POINTS; n++) sum += c[n] * (P[i][n + 1] - P[i][n - 1]);
        out[i] = 0.5 * piece->size * sum;
    }
    return piece->size * c[0];
}

// Visits pieces of [a, b] in order, halved until they are not steep.
static void taper_walk_smooth(const taper_walk *walk, double a, double b)
{
    double end = b;
    for (int halvings = 0; a < b;) {
        pcs_section first, last;
        section_at(walk->line, walk->taper->length, a, false, &first);
        section_at(walk->line, walk->taper->length, end, true, &last);
        if (halvings < MOST_HALVINGS && taper_is_steep_between(&first, &last)) {
            end = 0.5 * (a + end);
            halvings++;
            continue;
        }
        taper_walk_piece(walk, a, end);
        a = end;
        end = b;
        halvings = 0;
    }
}

void pcs_taper_walk(const pcs_section_line *line, const pcs_taper *taper, pcs_taper_visit *visit, void *user)
{
    const taper_walk walk = { line, taper, visit, user };
    double a = taper->from, slack = 1e-9 * (taper->to - taper->from);
    while (a < taper->to) {
        double b = pcs_section_next(line, taper->length, a);
        if (b > taper->to - slack) b = taper->to;
        if (b > a + slack) taper_walk_smooth(&walk, a, b);
        a = b;
    }
}

static void taper_add(double weight, double xi, double value, double sums[3])
{
    sums[0] += weight * value * (1.0 - xi) * (1.0 - xi);
    sums[1] += weight * value * xi * (1.0 - xi);
    sums[2] += weight * value * xi * xi;
}

static void taper_sum_point(pcs_taper *t, double xi, double weight, const pcs_section *s)
{
    t->mean.area += weight * s->area;
    t->mean.Iy += weight * s->Iy;
    t->mean.Iz += weight * s->Iz;
    t->mean.torsion += weight * s->torsion;
    t->mean.ky += weight * s->area * s->ky;
    t->mean.kz += weight * s->area * s->kz;
    t->mean.cy = fmax(t->mean.cy, s->cy);
    t->mean.cz = fmax(t->mean.cz, s->cz);
    taper_add(weight, xi, s->area, t->area);
    taper_add(weight, xi, s->Iy, t->Iy);
    taper_add(weight, xi, s->Iz, t->Iz);
    t->axial += weight / s->area;
    if (!(s->Iz > 0.0)) return; // a rod has only an area
    t->twist += weight / s->torsion;
    taper_add(weight, xi, 1.0 / s->Iz, t->bend[0]);
    taper_add(weight, xi, 1.0 / s->Iy, t->bend[1]);
    t->shear[0] += weight / (s->area * s->ky);
    t->shear[1] += weight / (s->area * s->kz);
}

static void taper_sum(void *user, const pcs_taper_piece *piece)
{
    for (int i = 0; i < POINTS; i++) taper_sum_point(user, piece->xi[i], piece->weight[i], &piece->section[i]);
}

static void taper_scale(double whole, double sums[3])
{
    for (int i = 0; i < 3; i++) sums[i] = whole > 0.0 ? sums[i] / whole : 0.0;
}

static bool taper_is_same(const pcs_section *a, const pcs_section *b)
{
    return a->area == b->area && a->Iy == b->Iy && a->Iz == b->Iz && a->torsion == b->torsion && a->ky == b->ky &&
           a->kz == b->kz;
}

static void taper_compare(void *user, const pcs_taper_piece *piece)
{
    pcs_taper *t = user;
    for (int i = 0; i < POINTS; i++) t->is_uniform = t->is_uniform && taper_is_same(&piece->section[i], &t->end[0]);
}

void pcs_taper_make(const pcs_section_line *line, pcs_taper *taper)
{
    *taper = (pcs_taper){ .from = taper->from, .to = taper->to, .length = taper->length, .is_uniform = true };
    section_at(line, taper->length, taper->from, false, &taper->end[0]);
    section_at(line, taper->length, taper->to, true, &taper->end[1]);
    pcs_taper_walk(line, taper, taper_sum, taper);
    pcs_taper_walk(line, taper, taper_compare, taper);
    pcs_section *mean = &taper->mean;
    mean->ky /= mean->area;
    mean->kz /= mean->area;
    if (taper->is_uniform) *mean = taper->end[0];
    taper_scale(mean->area, taper->area);
    taper_scale(mean->Iy, taper->Iy);
    taper_scale(mean->Iz, taper->Iz);
    taper->axial = 1.0 / taper->axial;
    taper->twist = taper->twist > 0.0 ? 1.0 / taper->twist : 0.0;
}

static const pcs_section *taper_given(const pcs_batch *batch)
{
    return (const pcs_section *)(const void *)((const char *)batch->params + batch->ops->section_offset);
}

const pcs_section *pcs_taper_section(const pcs_batch *batch, int cell)
{
    const pcs_taper *taper = pcs_taper_of(batch, cell);
    return taper == NULL ? taper_given(batch) : &taper->mean;
}

const pcs_section *pcs_taper_end(const pcs_batch *batch, int cell, int end)
{
    const pcs_taper *taper = pcs_taper_of(batch, cell);
    return taper == NULL ? taper_given(batch) : &taper->end[end];
}

double pcs_taper_stress(const pcs_batch *batch, int mesh_cell, const double about_z[2], const double about_y[2])
{
    double largest = 0.0;
    for (int end = 0; end < 2; end++) {
        const pcs_section *s = batch->tapers == NULL ? taper_given(batch) : &batch->tapers[mesh_cell].end[end];
        double by_z = fabs(about_z[end]) * s->cy / s->Iz, by_y = 0.0;
        if (about_y != NULL) by_y = fabs(about_y[end]) * s->cz / s->Iy;
        largest = fmax(largest, s->is_round ? hypot(by_z, by_y) : by_z + by_y);
    }
    return largest;
}

// Axes of cells.

double pcs_beam_plane_axis(const pcs_batch *batch, int cell, double axis[2])
{
    double span[3];
    pcs_cell_span(batch, cell, span);
    double length = hypot(span[0], span[1]);
    axis[0] = span[0] / length;
    axis[1] = span[1] / length;
    return length;
}

double pcs_beam_frame(const double span[3], const double orientation[3], double R[3][3], double *sine)
{
    for (int k = 0; k < 3; k++) R[0][k] = span[k];
    double length = pcs_norm3(R[0]);
    for (int k = 0; k < 3; k++) R[0][k] /= length;
    pcs_cross(R[0], orientation, R[2]);
    double across = pcs_norm3(R[2]);
    *sine = across / pcs_norm3(orientation);
    for (int k = 0; k < 3; k++) R[2][k] /= across;
    pcs_cross(R[2], R[0], R[1]);
    return length;
}

double pcs_beam_space_frame(const pcs_batch *batch, int cell, const double orientation[3], double R[3][3], double *sine)
{
    double span[3];
    pcs_cell_span(batch, cell, span);
    return pcs_beam_frame(span, orientation, R, sine);
}
