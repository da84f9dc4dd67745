// Adapts closed-form definitions to what schemes and observers see of a system. Matrices are dense; K and C are central
// differences of the force where the definition does not give them (only Newton's iteration uses them; for linear
// systems they are exact to round-off).

#include "closed_form/closed_form.h"

#include "core/dense.h"
#include "core/rotation.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Largest stable step of explicit schemes on a linear closed-form system: 2 / omega, with omega^2 the largest
// eigenvalue of M^-1 K, found by Jacobi rotations on L^-1 K L^-T, M = L L^T.

enum { N = PCS_MAX_COORDINATES };

// Computes A = L^-1 K L^-T with L L^T = M, row by row.
static void stable_reduce(const pcs_system *self, double *A)
{
    double L[N * N];
    int n = self->nv;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = self->M->value[i * n + j];
            for (int k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
            L[i * n + j] = i == j ? sqrt(sum) : sum / L[j * n + j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) A[i * n + j] = self->K->value[j * n + i];
    for (int side = 0; side < 2; side++)
        for (int c = 0; c < n; c++)
            for (int i = 0; i < n; i++) {
                int at = side == 0 ? i * n + c : c * n + i;
                for (int k = 0; k < i; k++) A[at] -= L[i * n + k] * A[side == 0 ? k * n + c : c * n + k];
                A[at] /= L[i * n + i];
            }
}

// Returns the stable step of central differences on a linear system, from its M and K, s, INFINITY without oscillation.
static double closed_form_stable_step(const pcs_system *self)
{
    double A[N * N], w[N], V[N * N];
    stable_reduce(self, A);
    pcs_jacobi(self->nv, A, w, V);
    return w[self->nv - 1] > 0.0 ? 2.0 / sqrt(w[self->nv - 1]) : INFINITY;
}

// Floors and walls of closed-form systems, for pictures.
//
// A definition does not say what its contacts touch. With contact point x, unit normal n and gap g the surface has the
// plane n . y = n . x - g there, which is fixed if it is the same in all states that are tried near the start.

enum { TRIALS = 4 };

static const double NEAR = 1e-3;  // states that are tried are as near: a definition may not hold far away
static const double SAME = 1e-10; // of normals, and of distances over the size of the system

typedef struct planes_state {
    double x[PCS_MAX_CLOSED_ROWS][3], n[PCS_MAX_CLOSED_ROWS][3], height[PCS_MAX_CLOSED_ROWS]; // n . y on the plane
} planes_state;

static void planes_find(const percuss_system_definition *def, const double *p, const double *q, int nrow,
                        planes_state *out)
{
    double gap[PCS_MAX_CLOSED_ROWS];
    def->gaps(p, q, gap);
    def->contact_points(p, q, out->x, out->n);
    for (int j = 0; j < nrow; j++) {
        out->height[j] = pcs_dot3(out->n[j], out->x[j]) - gap[j];
        for (int k = 0; k < 3; k++) out->x[j][k] -= gap[j] * out->n[j][k];
    }
}

static bool planes_agree(const planes_state *a, int i, const planes_state *b, int j, double size)
{
    double off = fabs(a->height[i] - b->height[j]) / size;
    for (int k = 0; k < 3; k++) off = fmax(off, fabs(a->n[i][k] - b->n[j][k]));
    return off <= SAME; // false for NAN
}

// Marks rows whose planes stay fixed as q moves by a part of the length of the system, then, for angles, of one.
static void planes_judge(const pcs_system *self, const percuss_system_definition *def, const double *p, const double *q,
                         bool *is_still)
{
    planes_state first, other;
    planes_find(def, p, q, self->nrow, &first);
    for (int j = 0; j < self->nrow; j++)
        is_still[j] = !self->rows[j].is_bilateral && fabs(pcs_norm3(first.n[j]) - 1.0) <= SAME;
    for (int trial = 0; trial < 2 * TRIALS; trial++) {
        double moved[N], size = NEAR * (trial < TRIALS ? self->length : 1.0);
        for (int i = 0; i < self->nq; i++) moved[i] = q[i] + size * sin(1.0 + 7.0 * trial + 3.0 * i);
        planes_find(def, p, moved, self->nrow, &other);
        for (int j = 0; j < self->nrow; j++)
            is_still[j] = is_still[j] && planes_agree(&first, j, &other, j, self->length + size);
    }
}

// Adds the planes that its contacts touch as obstacles to its picture.
static pcs_status closed_form_planes(pcs_system *self, const percuss_system_definition *def, const double *p,
                                     const double *q)
{
    bool is_still[PCS_MAX_CLOSED_ROWS];
    planes_state at;
    pcs_picture *picture = self->picture;
    pcs_obstacle *obstacles;
    int *nodes;
    if (def->contact_points == NULL || picture->npoint == 0) return PCS_OK;
    planes_judge(self, def, p, q, is_still);
    planes_find(def, p, q, self->nrow, &at);
    PCS_TAKE(self->ctx, obstacles, self->nrow, "the picture");
    PCS_TAKE(self->ctx, nodes, picture->npoint, "the picture");
    for (int i = 0; i < picture->npoint; i++) nodes[i] = i;
    for (int j = 0; j < self->nrow; j++) {
        for (int i = 0; i < j && is_still[j]; i++)
            is_still[j] = !is_still[i] || !planes_agree(&at, i, &at, j, self->length);
        if (!is_still[j]) continue;
        pcs_obstacle *o = &obstacles[picture->nobstacle++];
        *o = (pcs_obstacle){ .kind = PCS_OBSTACLE_PLANE,
                             .contact = self->rows[j].contact,
                             .is_long = true,
                             .nnode = picture->npoint,
                             .nodes = nodes };
        memcpy(o->point, at.x[j], sizeof o->point);
        memcpy(o->axis, at.n[j], sizeof o->axis);
    }
    picture->nstill = picture->nobstacle;
    picture->obstacles = obstacles;
    return PCS_OK;
}

#define PCS_CLOSED_FORM(name, file) extern const percuss_system_definition pcs_closed_##name;
#include "closed_form/closed_form_list.def"
#undef PCS_CLOSED_FORM

const percuss_system_definition *const pcs_closed_forms[] = {
#define PCS_CLOSED_FORM(name, file) &pcs_closed_##name,
#include "closed_form/closed_form_list.def"
#undef PCS_CLOSED_FORM
    NULL,
};

typedef struct closed_data {
    const percuss_system_definition *def;
    const double *p;
    int ntangent;         // rows of T that the definition writes
    bool has_derivatives; // the definition is of an interface that has room for them
} closed_data;

typedef struct closed_work {
    double *T;             // tangential directions, which are not used
    double (*points)[3];   // [npoint] at the present state
    double (*points_h)[3]; // [npoint] a little later
} closed_work;

pcs_status pcs_closed_form_options(pcs_context *ctx, const percuss_system_definition *definition, pcs_option **out)
{
    int count = 0;
    pcs_option *table;
    while (definition->parameters[count].name != NULL) count++;
    PCS_TAKE(ctx, table, (size_t)count + 1, "system options");
    for (int i = 0; i < count; i++) {
        const percuss_parameter *parameter = &definition->parameters[i];
        bool is_positive = parameter->low == PERCUSS_ABOVE_ZERO;
        table[i] = (pcs_option){ .name = parameter->name,
                                 .kind = PCS_OPTION_REAL,
                                 .help = parameter->help,
                                 .offset = (size_t)i * sizeof(double),
                                 .is_required = isnan(parameter->preset),
                                 .range = { is_positive ? 0.0 : parameter->low, parameter->high,
                                            is_positive || isinf(parameter->low), isinf(parameter->high) } };
        if (isnan(parameter->preset)) continue;
        char text[64];
        const char *end;
        // with as many digits as needed to read back
        for (int digits = 15; digits <= 17; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, parameter->preset);
            pcs_text_set_point(text);
            if (pcs_text_number(text, &end) == parameter->preset) break;
        }
        if (strpbrk(text, ".e") == NULL) strcat(text, ".0");
        table[i].preset = pcs_take_text(ctx, text);
        if (table[i].preset == NULL) return PCS_NO_MEMORY;
    }
    *out = table;
    return PCS_OK;
}

static void closed_force(const pcs_system *self, pcs_instant at, double *f)
{
    const closed_data *d = self->data;
    d->def->force(d->p, at.t, at.q, at.v, f);
}

static void closed_difference_forces(pcs_system *self, double t, const double *q, const double *v)
{
    const closed_data *d = self->data;
    int n = self->nv;
    const double zero[N] = { 0 };
    double x[N], plus[N], minus[N];
    double *const matrix[] = { self->K->value, self->C->value };
    // A linear force has the same derivatives everywhere; differences about zero have the least round-off.
    if (self->is_linear) q = v = zero;
    const double *const state[] = { q, v };
    for (int part = 0; part < 2; part++)
        for (int j = 0; j < n; j++) {
            double step = self->is_linear ? 1.0 : 1e-6 * fmax(1.0, fabs(state[part][j]));
            memcpy(x, state[part], (size_t)n * sizeof *x);
            x[j] = state[part][j] + step;
            d->def->force(d->p, t, part == 0 ? x : q, part == 0 ? v : x, plus);
            x[j] = state[part][j] - step;
            d->def->force(d->p, t, part == 0 ? x : q, part == 0 ? v : x, minus);
            for (int i = 0; i < n; i++) matrix[part][j * n + i] = -(plus[i] - minus[i]) / (2.0 * step);
        }
}

// Transposes A in place, from rows to columns.
static void closed_transpose(int n, double *A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            double keep = A[i * n + j];
            A[i * n + j] = A[j * n + i];
            A[j * n + i] = keep;
        }
}

static void closed_update_tangents(pcs_system *self, pcs_instant at)
{
    const closed_data *d = self->data;
    if (!d->has_derivatives || d->def->tangents == NULL) {
        closed_difference_forces(self, at.t, at.q, at.v);
        return;
    }
    d->def->tangents(d->p, at.t, at.q, at.v, self->K->value, self->C->value);
    closed_transpose(self->nv, self->K->value);
    closed_transpose(self->nv, self->C->value);
}

// Adds d(M a)/dq to K by forward differences: exact to 1e-7, which is enough for the matrix of an iteration.
static void closed_difference_mass(pcs_system *self, const double *q, const double *a)
{
    const closed_data *d = self->data;
    int n = self->nv;
    double x[N], M[N * N];
    memcpy(x, q, (size_t)n * sizeof *x);
    for (int j = 0; j < n; j++) {
        double step = 1e-7 * fmax(1.0, fabs(q[j]));
        x[j] = q[j] + step;
        d->def->mass(d->p, x, M);
        x[j] = q[j];
        for (int k = 0; k < n; k++) {
            double factor = a[k] / step;
            for (int i = 0; i < n; i++)
                self->K->value[j * n + i] += factor * (M[k * n + i] - self->M->value[k * n + i]);
        }
    }
}

static void closed_add_inertia_stiffness(pcs_system *self, pcs_instant at, const double *a)
{
    const closed_data *d = self->data;
    int n = self->nv;
    double A[N * N];
    if (!d->has_derivatives || d->def->inertia_tangent == NULL) {
        closed_difference_mass(self, at.q, a);
        return;
    }
    d->def->inertia_tangent(d->p, at.q, a, A);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) self->K->value[j * n + i] += A[i * n + j];
}

static void closed_evaluate_rows(pcs_system *self, pcs_instant at, const pcs_row_values *out)
{
    const closed_data *d = self->data;
    const closed_work *work = self->work;
    size_t n = (size_t)self->nrow;
    if (out->gap != NULL) d->def->gaps(d->p, at.q, out->gap);
    if (out->G != NULL) d->def->directions(d->p, at.q, out->G->value, out->T == NULL ? work->T : out->T->value);
    if (out->bias != NULL && d->def->rate_bias != NULL) d->def->rate_bias(d->p, at.q, at.v, out->bias);
    else if (out->bias != NULL) memset(out->bias, 0, n * sizeof *out->bias);
    if (out->point != NULL && d->def->contact_points != NULL)
        d->def->contact_points(d->p, at.q, out->point, out->normal);
    else if (out->point != NULL) {
        memset(out->point, 0, n * sizeof *out->point);
        memset(out->normal, 0, n * sizeof *out->normal);
    }
    if (out->across != NULL) memset(out->across, 0, (size_t)self->ntangent * sizeof *out->across);
    for (int j = 0; j < (out->drive == NULL ? 0 : self->nrow); j++) out->drive[j] = out->speed[j] = 0.0;
}

static double closed_load_work(const pcs_system *self, double t, const double *q0, const double *q1)
{
    const closed_data *d = self->data;
    return d->def->load_work == NULL ? 0.0 : d->def->load_work(d->p, t, q0, q1);
}

// Returns the power of damping along u, u^T C v, of a linear system, W.
static double closed_damping_power(const pcs_system *self, pcs_instant at)
{
    const double *u = at.along == NULL ? at.v : at.along;
    double power = 0.0;
    for (int j = 0; j < self->nv; j++)
        for (int i = 0; i < self->nv; i++) power += u[i] * self->C->value[j * self->nv + i] * at.v[j];
    return power;
}

static void closed_measure(const pcs_system *self, pcs_instant at, unsigned what, pcs_measure *out)
{
    const closed_data *d = self->data;
    *out = (pcs_measure){ 0 };
    if (what & PCS_ENERGY) d->def->energy(d->p, at.q, at.v, &out->kinetic, &out->potential);
    if ((what & PCS_DAMPING_POWER) && pcs_system_is_damped(self)) out->damping_power = closed_damping_power(self, at);
    if (what & PCS_LOAD_POWER) { // the work is that of the loads times the displacement, whatever its length
        double end[N];
        for (int i = 0; i < self->nv; i++) end[i] = at.q[i] + at.v[i];
        out->load_power = closed_load_work(self, at.t, at.q, end);
    }
}

// Draws the points, with velocities from a difference in the direction of motion.
static void closed_draw(pcs_system *self, pcs_instant at, pcs_picture *picture)
{
    const closed_data *d = self->data;
    const closed_work *work = self->work;
    double later[N], largest = 0.0;
    for (int i = 0; i < self->nq; i++) largest = fmax(largest, fabs(at.v[i]));
    double step = largest > 0.0 ? 1e-7 * self->length / largest : 0.0;
    for (int i = 0; i < self->nq; i++) later[i] = at.q[i] + step * at.v[i];
    if (picture->npoint == 0) return;
    d->def->points(d->p, at.q, work->points);
    d->def->points(d->p, later, work->points_h);
    for (int i = 0; i < picture->npoint; i++)
        for (int k = 0; k < 3; k++) {
            picture->displacement[i][k] = work->points[i][k] - picture->reference[i][k];
            picture->velocity[i][k] = step > 0.0 ? (work->points_h[i][k] - work->points[i][k]) / step : 0.0;
        }
}

static double closed_probe(const pcs_system *self, const pcs_probe *probe, pcs_instant at)
{
    return (probe->quantity == PCS_PROBE_VELOCITY || probe->quantity == PCS_PROBE_SPIN ? at.v : at.q)[probe->axis];
}

static void closed_describe(const pcs_system *self, int equation, const double span[2], const double *q, size_t size,
                            char *text)
{
    (void)span, (void)q;
    if (equation < 0) text[0] = '\0';
    else snprintf(text, size, "coordinate '%s'", self->coordinates[equation]);
}

static bool closed_rotates(const pcs_system *self, int coordinate)
{
    return strncmp(self->coordinates[coordinate], "theta", 5) == 0;
}

// Sets the scale of angles to 1: they have no part in the length of the system.
static pcs_status closed_find_sizes(pcs_system *self)
{
    const pcs_scale *scale = &self->scale;
    PCS_TRY(pcs_scale_create(self));
    for (int i = 0; i < self->nv; i++) {
        if (!closed_rotates(self, i)) continue;
        scale->is_angle[i] = true;
        scale->model[i] = scale->cell[i] = scale->place[i] = 1.0;
    }
    return PCS_OK;
}

static pcs_status closed_find_arms(pcs_system *self)
{
    double *arms;
    if (self->is_linear || !(self->length > 0.0)) return PCS_OK;
    PCS_TAKE(self->ctx, arms, self->nv, "sizes of angles");
    for (int i = 0; i < self->nv; i++) arms[i] = closed_rotates(self, i) ? self->length : 1.0;
    self->arms = arms;
    return PCS_OK;
}

static void closed_update(pcs_system *self, pcs_instant at, pcs_update what, const double *x)
{
    const closed_data *d = self->data;
    // Column-compressed and dense: the values are the columns one after another, and M is symmetric.
    if (what == PCS_MASS) d->def->mass(d->p, at.q, self->M->value);
    if (what == PCS_TANGENTS && self->tangents_vary) closed_update_tangents(self, at);
    if (what == PCS_INERTIA) closed_add_inertia_stiffness(self, at, x);
}

// Returns the stable step of the fastest mode, without its damping, s; INFINITY for a state q.
static double closed_stable_step(const pcs_system *self, const double *q, const double *v, const pcs_step_limit *limit)
{
    if (q != NULL || !isfinite(self->stable_step)) return INFINITY;
    return limit->modes(limit->params, 2.0 / self->stable_step, 0.0, 0.0);
}

static const pcs_system_ops closed_ops = {
    .force = closed_force,
    .update = closed_update,
    .evaluate_rows = closed_evaluate_rows,
    .measure = closed_measure,
    .load_work = closed_load_work,
    .stable_step = closed_stable_step,
    .draw = closed_draw,
    .probe = closed_probe,
    .describe = closed_describe,
};

static pcs_status closed_make_pattern(pcs_context *ctx, int n, pcs_pattern **out)
{
    pcs_pattern *pattern;
    int *start, *row;
    PCS_TAKE(ctx, pattern, 1, "the system's matrices");
    PCS_TAKE(ctx, start, (size_t)n + 1, "the system's matrices");
    PCS_TAKE(ctx, row, (size_t)n * (size_t)n, "the system's matrices");
    for (int j = 0; j <= n; j++) start[j] = j * n;
    for (int k = 0; k < n * n; k++) row[k] = k % n;
    *pattern = (pcs_pattern){ .n = n, .nnz = n * n, .start = start, .row = row };
    *out = pattern;
    return PCS_OK;
}

static pcs_status closed_make_rows(pcs_system *self, int nrow, int n, pcs_rows **out)
{
    PCS_TRY(pcs_rows_create(self->ctx, nrow, n, nrow * n, out));
    for (int i = 0; i <= nrow; i++) (*out)->start[i] = i * n;
    for (int k = 0; k < nrow * n; k++) (*out)->column[k] = k % n;
    return PCS_OK;
}

// Creates the contact rows; rows of the same name are one contact.
static pcs_status closed_make_contacts(pcs_system *self, closed_data *d)
{
    percuss_row *given;
    pcs_row *rows;
    pcs_contact_info *info;
    pcs_newton *newton;
    self->nrow = d->def->row_count(d->p);
    if (self->nrow > PCS_MAX_CLOSED_ROWS)
        return pcs_fail(self->ctx, PCS_UNSUPPORTED, "system '%s' has %d rows, at most %d are allowed", d->def->name,
                        self->nrow, PCS_MAX_CLOSED_ROWS);
    PCS_TAKE(self->ctx, given, self->nrow, "contacts");
    PCS_TAKE(self->ctx, rows, self->nrow, "contacts");
    PCS_TAKE(self->ctx, newton, self->nrow, "contacts");
    PCS_TAKE(self->ctx, info, self->nrow, "contacts");
    d->def->rows(d->p, given);
    // Avoids work with tangential rows if there is no friction.
    bool has_friction = false;
    for (int j = 0; j < self->nrow; j++)
        has_friction = has_friction || (given[j].friction > 0.0 && given[j].ntangent > 0);
    for (int j = 0; j < self->nrow; j++) {
        if (j == 0 || strcmp(given[j].contact, given[j - 1].contact) != 0)
            info[self->ncontact++] = (pcs_contact_info){ .name = given[j].contact, .first_row = j, .first_all = j };
        info[self->ncontact - 1].nall = ++info[self->ncontact - 1].nrow;
        newton[j].restitution = given[j].restitution;
        rows[j] = (pcs_row){ .contact = self->ncontact - 1,
                             .law = given[j].is_bilateral ? (pcs_law){ 0 } : (pcs_law){ &pcs_law_newton, &newton[j] },
                             .tangent_restitution = given[j].tangent_restitution,
                             .friction = given[j].friction,
                             .is_bilateral = given[j].is_bilateral != 0,
                             .first_tangent = self->ntangent,
                             .ntangent = has_friction ? given[j].ntangent : 0 };
        if (info[self->ncontact - 1].nrow == 1) info[self->ncontact - 1].ntangent = rows[j].ntangent;
        self->ntangent += rows[j].ntangent;
        d->ntangent += given[j].ntangent;
    }
    self->rows = self->laws = rows;
    self->contacts = info;
    return PCS_OK;
}

static pcs_status closed_make_picture(pcs_system *self, const double *q)
{
    const closed_data *d = self->data;
    closed_work *work = self->work;
    pcs_picture *picture;
    double(*reference)[3];
    int npoint = d->def->npoint;
    PCS_TAKE(self->ctx, picture, 1, "the picture");
    PCS_TAKE(self->ctx, work->points, npoint, "the picture");
    PCS_TAKE(self->ctx, work->points_h, npoint, "the picture");
    PCS_TAKE(self->ctx, reference, npoint, "the picture");
    PCS_TAKE(self->ctx, picture->displacement, npoint, "the picture");
    PCS_TAKE(self->ctx, picture->velocity, npoint, "the picture");
    if (npoint > 0) d->def->points(d->p, q, reference);
    picture->npoint = npoint;
    picture->ncell = d->def->ncell;
    picture->nall_node = npoint;
    picture->nall_cell = picture->ncell;
    picture->cells = d->def->cells;
    picture->reference = (const double(*)[3])reference;
    self->picture = picture;
    return PCS_OK;
}

static pcs_status closed_make_matrices(pcs_system *self)
{
    const closed_data *d = self->data;
    closed_work *work = self->work;
    pcs_pattern *pattern;
    int n = self->nv;
    PCS_TRY(closed_make_pattern(self->ctx, n, &pattern));
    PCS_TRY(pcs_matrix_create(self->ctx, pattern, &self->M));
    PCS_TRY(pcs_matrix_create(self->ctx, pattern, &self->K));
    PCS_TRY(pcs_matrix_create(self->ctx, pattern, &self->C));
    PCS_TRY(closed_make_rows(self, self->nrow, n, &self->G));
    PCS_TAKE(self->ctx, work->T, (size_t)d->ntangent * (size_t)n, "tangential directions");
    if (self->ntangent > 0) PCS_TRY(closed_make_rows(self, self->ntangent, n, &self->T));
    return PCS_OK;
}

// Sets the total mass and, for a linear system, C = NULL if it is zero, the constant force and the stable step.
static pcs_status closed_find_constants(pcs_system *self)
{
    const closed_data *d = self->data;
    int n = self->nv;
    for (int i = 0; i < n; i++) self->mass += self->M->value[i * n + i];
    if (!self->is_linear) return PCS_OK;
    bool is_damped = false;
    for (int k = 0; k < n * n; k++) is_damped = is_damped || self->C->value[k] != 0.0;
    if (!is_damped) self->C = NULL;
    const double zero[N] = { 0 };
    double *gravity;
    PCS_TAKE(self->ctx, gravity, n, "constant forces");
    d->def->force(d->p, 0.0, zero, zero, gravity);
    // Books applied loads as work. The rest of the force belongs to the potential.
    if (d->def->load_work != NULL)
        for (int i = 0; i < n; i++) {
            double unit[N] = { 0 };
            unit[i] = 1.0;
            gravity[i] -= d->def->load_work(d->p, 0.0, zero, unit);
        }
    self->gravity = gravity;
    self->stable_step = closed_form_stable_step(self);
    return PCS_OK;
}

pcs_status pcs_closed_form_create(pcs_context *ctx, const percuss_system_definition *definition, const double *params,
                                  pcs_system **out)
{
    pcs_system *self;
    closed_data *d;
    closed_work *work;
    double q[N] = { 0 }, v[N] = { 0 };
    if (definition->ncoordinate < 1 || definition->ncoordinate > PCS_MAX_COORDINATES)
        return pcs_fail(ctx, PCS_UNSUPPORTED, "system '%s' has %d coordinates, allowed are 1 to %d", definition->name,
                        definition->ncoordinate, PCS_MAX_COORDINATES);
    PCS_TAKE(ctx, self, 1, "the system");
    PCS_TAKE(ctx, d, 1, "the system");
    PCS_TAKE(ctx, work, 1, "the system");
    d->def = definition;
    d->p = params;
    d->has_derivatives = definition->abi > 1;
    *self = (pcs_system){ .ops = &closed_ops,
                          .name = definition->name,
                          .ctx = ctx,
                          .data = d,
                          .work = work,
                          .nq = definition->ncoordinate,
                          .rotations.nq = definition->ncoordinate,
                          .nv = definition->ncoordinate };
    self->is_linear = definition->is_linear != 0;
    self->coordinates = definition->coordinates;
    self->length = definition->length(params);
    PCS_TRY(closed_find_arms(self));
    self->stable_step = INFINITY;
    PCS_TRY(closed_make_contacts(self, d));
    PCS_TRY(closed_make_matrices(self));
    self->mass_varies = !definition->is_linear && !definition->has_constant_mass;
    self->row_set.vary = !definition->is_linear && !definition->has_constant_directions;
    self->tangents_vary = !definition->is_linear;
    definition->start(params, q, v);
    closed_update(self, pcs_at(0.0, q, v), PCS_MASS, NULL);
    closed_update_tangents(self, pcs_at(0.0, q, v));
    pcs_system_aim(self, pcs_at(0.0, q, v));
    PCS_TRY(closed_find_sizes(self));
    PCS_TRY(closed_find_constants(self));
    PCS_TRY(closed_make_picture(self, q));
    *out = self;
    return closed_form_planes(self, definition, params, q);
}

// Checks that a closed-form definition is complete and that its functions agree, for plug-ins before they
// run, so that a wrong sign in G is found at once.
//
//   G = dg/dq, (dG/dt) v, -df/dq, -df/dv and d(M a)/dq by central differences;  M symmetric and positive;  what is
//   declared constant is constant
//
// Differences leave about 1e-9 of round-off; 1e-5 of the row's size is a mistake, not round-off.

static const double check_tolerance = 1e-5;

typedef struct check {
    pcs_context *ctx;
    const percuss_system_definition *def;
    const double *p;
    int n, nrow, ntangent;
    double length;
} check;

// Returns the name of the first required member that is missing, or NULL.
static const char *check_missing(const percuss_system_definition *d)
{
    bool rotates = !d->is_linear && !d->has_constant_directions;
    if (d->name == NULL) return "name";
    if (d->summary == NULL) return "summary";
    if (d->parameters == NULL) return "parameters";
    if (d->coordinates == NULL) return "coordinates";
    if (d->row_count == NULL) return "row_count";
    if (d->rows == NULL) return "rows";
    if (d->start == NULL) return "start";
    if (d->length == NULL) return "length";
    if (d->mass == NULL) return "mass";
    if (d->force == NULL) return "force";
    if (d->gaps == NULL) return "gaps";
    if (d->directions == NULL) return "directions";
    if (d->energy == NULL) return "energy";
    if (rotates && d->rate_bias == NULL) return "rate_bias (its directions are not declared constant)";
    if (d->npoint > 0 && d->points == NULL) return "points";
    if (d->ncell > 0 && d->cells == NULL) return "cells";
    if (d->npoint == 0 && d->points != NULL) return "npoint";
    return NULL;
}

static pcs_status check_names(pcs_context *ctx, const percuss_system_definition *d)
{
    for (int i = 0; i < d->ncoordinate; i++) {
        if (d->coordinates[i] == NULL || d->coordinates[i][0] == '\0')
            return pcs_fail(ctx, PCS_BAD_INPUT, "system '%s': coordinate %d has no name", d->name, i);
        for (int k = 0; k < i; k++)
            if (strcmp(d->coordinates[i], d->coordinates[k]) == 0)
                return pcs_fail(ctx, PCS_BAD_INPUT, "system '%s': two coordinates are called '%s'", d->name,
                                d->coordinates[i]);
    }
    for (int i = 0; i < d->ncell; i++)
        for (int k = 0; k < 2; k++)
            if (d->cells[i][k] < 0 || d->cells[i][k] >= d->npoint)
                return pcs_fail(ctx, PCS_BAD_INPUT, "system '%s': cell %d joins point %d, there are %d", d->name, i,
                                d->cells[i][k], d->npoint);
    return PCS_OK;
}

pcs_status pcs_closed_form_verify(pcs_context *ctx, const percuss_system_definition *d)
{
    // Nothing else may be read from a definition of another layout.
    if (d->abi < 1 || d->abi > PERCUSS_SYSTEM_ABI)
        return pcs_fail(ctx, PCS_BAD_INPUT, "the system is made for interface %d, this program has 1 to %d", d->abi,
                        PERCUSS_SYSTEM_ABI);
    const char *missing = check_missing(d);
    if (missing != NULL)
        return pcs_fail(ctx, PCS_BAD_INPUT, "system '%s' does not give %s", d->name == NULL ? "?" : d->name, missing);
    if (d->ncoordinate < 1 || d->ncoordinate > PCS_MAX_COORDINATES)
        return pcs_fail(ctx, PCS_BAD_INPUT, "system '%s' has %d coordinates, allowed are 1 to %d", d->name,
                        d->ncoordinate, PCS_MAX_COORDINATES);
    if (d->npoint < 0 || d->ncell < 0)
        return pcs_fail(ctx, PCS_BAD_INPUT, "system '%s' has %d points and %d cells", d->name, d->npoint, d->ncell);
    return check_names(ctx, d);
}

static pcs_status check_rows(check *c)
{
    percuss_row row[PCS_MAX_CLOSED_ROWS];
    const char *name = c->def->name;
    c->nrow = c->def->row_count(c->p);
    if (c->nrow < 0 || c->nrow > PCS_MAX_CLOSED_ROWS)
        return pcs_fail(c->ctx, PCS_BAD_INPUT, "system '%s' has %d rows, allowed are 0 to %d", name, c->nrow,
                        PCS_MAX_CLOSED_ROWS);
    memset(row, 0, sizeof row);
    c->def->rows(c->p, row);
    for (int j = 0; j < c->nrow; j++) {
        if (row[j].contact == NULL || row[j].contact[0] == '\0')
            return pcs_fail(c->ctx, PCS_BAD_INPUT, "system '%s': row %d has no name of a contact", name, j);
        const double part[] = { row[j].restitution, row[j].tangent_restitution, row[j].friction };
        static const char *const what[] = { "restitution", "tangent_restitution", "friction" };
        for (int k = 0; k < 3; k++)
            if (!(part[k] >= 0.0 && part[k] <= (k < 2 ? 1.0 : HUGE_VAL)) || isinf(part[k]))
                return pcs_fail(c->ctx, PCS_BAD_INPUT, "system '%s': %s of '%s' must be in [0, %s, is %g", name,
                                what[k], row[j].contact, k < 2 ? "1]" : "inf)", part[k]);
        if (row[j].ntangent < 0 || row[j].ntangent > 2)
            return pcs_fail(c->ctx, PCS_BAD_INPUT, "system '%s': '%s' has %d tangents, allowed are 0, 1, 2", name,
                            row[j].contact, row[j].ntangent);
        c->ntangent += row[j].ntangent;
    }
    return PCS_OK;
}

// Returns true if A is positive definite: every pivot of its elimination is positive.
static bool check_is_positive(int n, double *A)
{
    for (int k = 0; k < n; k++) {
        if (!(A[k * n + k] > 0.0)) return false;
        for (int i = k + 1; i < n; i++) {
            double factor = A[i * n + k] / A[k * n + k];
            for (int j = k + 1; j < n; j++) A[i * n + j] -= factor * A[k * n + j];
        }
    }
    return true;
}

static pcs_status check_mass(const check *c, const double *q)
{
    double M[N * N] = { 0 };
    int n = c->n;
    c->def->mass(c->p, q, M);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (!(fabs(M[i * n + j] - M[j * n + i]) <= 1e-12 * (fabs(M[i * n + i]) + fabs(M[j * n + j]))))
                return pcs_fail(c->ctx, PCS_BAD_INPUT, "system '%s': M is not symmetric, M('%s', '%s') is %g and %g",
                                c->def->name, c->def->coordinates[i], c->def->coordinates[j], M[i * n + j],
                                M[j * n + i]);
    if (check_is_positive(n, M)) return PCS_OK;
    return pcs_fail(c->ctx, PCS_BAD_INPUT, "system '%s': M is not positive definite", c->def->name);
}

static void check_directions_at(const check *c, const double *q, double *G)
{
    double T[2 * PCS_MAX_CLOSED_ROWS * N];
    c->def->directions(c->p, q, G, T);
}

static double check_row_size(const double *row, int n)
{
    double size = 0.0;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(row[i]));
    return size;
}

static pcs_status check_bias(const check *c, const double *q, const double *v)
{
    double before[PCS_MAX_CLOSED_ROWS * N] = { 0 }, x[N];
    double after[PCS_MAX_CLOSED_ROWS * N] = { 0 }, bias[PCS_MAX_CLOSED_ROWS] = { 0 };
    double step = 1e-6 / fmax(1.0, check_row_size(v, c->n));
    for (int i = 0; i < c->n; i++) x[i] = q[i] - step * v[i];
    check_directions_at(c, x, before);
    for (int i = 0; i < c->n; i++) x[i] = q[i] + step * v[i];
    check_directions_at(c, x, after);
    if (c->def->rate_bias != NULL) c->def->rate_bias(c->p, q, v, bias);
    for (int j = 0; j < c->nrow; j++) {
        double sum = 0.0, size = 0.0;
        for (int i = 0; i < c->n; i++) {
            sum += (after[j * c->n + i] - before[j * c->n + i]) / (2.0 * step) * v[i];
            size += fabs(after[j * c->n + i]) * v[i] * v[i];
        }
        if (fabs(sum - bias[j]) <= check_tolerance * (size + fabs(bias[j]))) continue;
        return pcs_fail(c->ctx, PCS_BAD_INPUT, "system '%s': rate_bias of row %d is %.9g, but (dG/dt) v is %.9g",
                        c->def->name, j, bias[j], sum);
    }
    return PCS_OK;
}

// Checks that a mass matrix declared constant does not vary with q, and that a force declared linear is affine in q.
static pcs_status check_constants(const check *c, const double *q, const double *q1, const double *v)
{
    double M0[N * N], M1[N * N];
    double f0[N], f1[N], f2[N];
    double q2[N];
    for (int i = 0; i < c->n; i++) q2[i] = 2.0 * q1[i] - q[i];
    c->def->mass(c->p, q, M0);
    c->def->mass(c->p, q1, M1);
    if ((c->def->is_linear || c->def->has_constant_mass) &&
        memcmp(M0, M1, (size_t)c->n * (size_t)c->n * sizeof *M0) != 0)
        return pcs_fail(c->ctx, PCS_BAD_INPUT, "system '%s': M is declared constant but varies", c->def->name);
    if (!c->def->is_linear) return PCS_OK;
    c->def->force(c->p, 0.0, q, v, f0);
    c->def->force(c->p, 0.0, q1, v, f1);
    c->def->force(c->p, 0.0, q2, v, f2);
    for (int i = 0; i < c->n; i++)
        if (!(fabs(f0[i] - 2.0 * f1[i] + f2[i]) <= 1e-9 * (fabs(f0[i]) + fabs(f1[i]) + fabs(f2[i]))))
            return pcs_fail(c->ctx, PCS_BAD_INPUT, "system '%s' is declared linear, but its force on '%s' is not",
                            c->def->name, c->def->coordinates[i]);
    return PCS_OK;
}

// Derivatives to check: of the force by q or by v, of M a by q, of the gaps by q.
typedef enum check_kind { CHECK_STIFFNESS, CHECK_DAMPING, CHECK_INERTIA, CHECK_GAPS } check_kind;

static void check_function(const check *c, check_kind kind, const double *const state[3], double *y)
{
    double M[N * N];
    if (kind == CHECK_GAPS) c->def->gaps(c->p, state[0], y);
    if (kind == CHECK_STIFFNESS || kind == CHECK_DAMPING) c->def->force(c->p, 0.0, state[0], state[1], y);
    if (kind != CHECK_INERTIA) return;
    c->def->mass(c->p, state[0], M);
    for (int i = 0; i < c->n; i++) {
        y[i] = 0.0;
        for (int k = 0; k < c->n; k++) y[i] += M[i * c->n + k] * state[2][k];
    }
}

// A column of a derivative by a central difference over `step`, and what round-off leaves of it.
typedef struct check_slopes {
    double step, slope[PCS_MAX_CLOSED_ROWS], noise[PCS_MAX_CLOSED_ROWS];
} check_slopes;

static void check_column(const check *c, check_kind kind, const double *const state[3], int column, check_slopes *out)
{
    int moved = kind == CHECK_DAMPING ? 1 : 0, count = kind == CHECK_GAPS ? c->nrow : c->n;
    double sign = kind == CHECK_STIFFNESS || kind == CHECK_DAMPING ? -0.5 : 0.5;
    double x[N], plus[PCS_MAX_CLOSED_ROWS], minus[PCS_MAX_CLOSED_ROWS];
    const double *const at[] = { moved == 0 ? x : state[0], moved == 1 ? x : state[1], state[2] };
    memcpy(x, state[moved], (size_t)c->n * sizeof *x);
    x[column] = state[moved][column] + out->step;
    check_function(c, kind, at, plus);
    x[column] = state[moved][column] - out->step;
    check_function(c, kind, at, minus);
    for (int i = 0; i < count; i++) {
        out->slope[i] = sign * (plus[i] - minus[i]) / out->step;
        out->noise[i] = kind == CHECK_GAPS ? 0.0 : 1e-14 * (fabs(plus[i]) + fabs(minus[i])) / out->step;
    }
}

// Compares given derivatives with the nearer of two differences: one for angles, one for lengths.
static pcs_status check_derivative(const check *c, check_kind kind, const double *const state[3], const double *given)
{
    static const char *const name[] = { "K", "C", "A" }, *const of[] = { "-df/dq", "-df/dv", "d(M a)/dq" };
    const double *base = state[kind == CHECK_DAMPING ? 1 : 0];
    for (int j = 0; j < c->n; j++) {
        check_slopes unit = { .step = 1e-6 * fmax(1.0, fabs(base[j])) };
        check_slopes own = { .step = 1e-6 * fmax(c->length, fabs(base[j])) };
        check_column(c, kind, state, j, &unit);
        check_column(c, kind, state, j, &own);
        for (int i = 0; i < (kind == CHECK_GAPS ? c->nrow : c->n); i++) {
            double size = check_row_size(&given[i * c->n], c->n), is = given[i * c->n + j];
            const check_slopes *better = fabs(own.slope[i] - is) < fabs(unit.slope[i] - is) ? &own : &unit;
            if (fabs(better->slope[i] - is) <= check_tolerance * size + better->noise[i]) continue;
            if (kind == CHECK_GAPS)
                return pcs_fail(c->ctx, PCS_BAD_INPUT,
                                "system '%s': G of row %d, coordinate '%s', is %.9g, but the gap changes by %.9g",
                                c->def->name, i, c->def->coordinates[j], is, better->slope[i]);
            return pcs_fail(c->ctx, PCS_BAD_INPUT, "system '%s': %s('%s', '%s') is %.9g, but %s is %.9g", c->def->name,
                            name[kind], c->def->coordinates[i], c->def->coordinates[j], is, of[kind], better->slope[i]);
        }
    }
    return PCS_OK;
}

static pcs_status check_derivatives(const check *c, const double *q, const double *v)
{
    double K[N * N], C[N * N], G[PCS_MAX_CLOSED_ROWS * N] = { 0 };
    const double *const state[] = { q, v, v }; // any numbers serve as a
    check_directions_at(c, q, G);
    PCS_TRY(check_derivative(c, CHECK_GAPS, state, G));
    PCS_TRY(check_bias(c, q, v));
    if (c->def->abi < 2) return PCS_OK;
    if (c->def->tangents != NULL) {
        c->def->tangents(c->p, 0.0, q, v, K, C);
        PCS_TRY(check_derivative(c, CHECK_STIFFNESS, state, K));
        PCS_TRY(check_derivative(c, CHECK_DAMPING, state, C));
    }
    if (c->def->inertia_tangent == NULL) return PCS_OK;
    c->def->inertia_tangent(c->p, q, v, K);
    return check_derivative(c, CHECK_INERTIA, state, K);
}

pcs_status pcs_closed_form_compare(pcs_context *ctx, const percuss_system_definition *d, const double *p,
                                   const double *q, const double *v)
{
    check c = { .ctx = ctx, .def = d, .p = p, .n = d->ncoordinate, .length = d->length(p) };
    double f[N], w[N], near[N];
    if (!(c.length > 0.0) || isinf(c.length))
        return pcs_fail(ctx, PCS_BAD_INPUT, "system '%s': length must be > 0, is %g", d->name, c.length);
    PCS_TRY(check_rows(&c));
    // Moves every coordinate, away from special positions: a start is often at rest and symmetric.
    for (int i = 0; i < c.n; i++) {
        w[i] = v[i] + 0.3 * (i + 1) * fmax(1.0, check_row_size(v, c.n));
        near[i] = q[i] + 0.01 * (i + 1) * fmax(fabs(q[i]), c.length);
    }
    d->force(p, 0.0, q, w, f);
    for (int i = 0; i < c.n; i++)
        if (!isfinite(q[i]) || !isfinite(v[i]) || !isfinite(f[i]))
            return pcs_fail(ctx, PCS_BAD_INPUT, "system '%s': start or force of '%s' is not finite", d->name,
                            d->coordinates[i]);
    PCS_TRY(check_mass(&c, q));
    PCS_TRY(check_constants(&c, q, near, w));
    return check_derivatives(&c, near, w);
}
