// The free rigid motions of a model: see fe/rigid.h.

#include "fe/rigid.h"
#include "core/dense.h"
#include "core/rotation.h"
#include "core/text.h"
#include "fe/data.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Limits the number of parts. A motion has six numbers per part: t and L w, so that all are lengths.
enum { SIX = 6, MOST_PARTS = 16, MOST = SIX * MOST_PARTS };

static const double FREE = 1e-14;       // squared violation by a motion of size 1 that counts as zero
static const double NEGLIGIBLE = 1e-7;  // largest part of a motion outside of the free ones that counts as zero
static const double ROUND_OFF = 1000.0; // in units of DBL_EPSILON: force of a free motion over its terms
static const double KNOWN = 10.0;       // in units of DBL_EPSILON: error of a motion over what its equation can move

typedef struct finder {
    const pcs_system *system;
    const fe_data *fe;
    const double *q;  // [nq] the state; NULL for the reference state
    double (*x)[3];   // [nnode] positions in that state, m
    pcs_context *ctx; // context of short life
    int npart, n;     // n = 6 npart
    int *part;        // [nnode] -1 if no element holds the node
    int *group;       // [npart] one of its element groups
    double center[3], length;
    double *column;           // [n x nv] the motions as vectors of the equations
    double basis[MOST][MOST]; // [nfree][n] orthonormal basis of the free motions
    int nfree;
    int nchosen;
    double chosen[MOST][MOST]; // named motions, orthonormalised
} finder;

static int rigid_root(int *parent, int i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

// Finds the parts of the mesh that cells connect.
static pcs_status rigid_find_parts(finder *f)
{
    const pcs_mesh *mesh = f->fe->model.mesh;
    int *parent, *number;
    PCS_TAKE_EACH(f->ctx, mesh->nnode, "parts of the mesh", int, &parent, &number, &f->part, &f->group);
    for (int i = 0; i < mesh->nnode; i++) parent[i] = i;
    for (int c = 0; c < mesh->ncell; c++)
        parent[rigid_root(parent, mesh->cell[c][0])] = rigid_root(parent, mesh->cell[c][1]);
    for (int i = 0; i < mesh->nnode; i++) number[i] = f->part[i] = -1;
    for (int i = 0; i < mesh->nnode; i++) {
        if (f->fe->map.first[i] == f->fe->map.first[i + 1]) continue;
        int *of_root = &number[rigid_root(parent, i)];
        if (*of_root < 0) *of_root = f->npart++;
        f->part[i] = *of_root;
    }
    for (int c = 0; c < mesh->ncell; c++)
        if (f->part[mesh->cell[c][0]] >= 0) f->group[f->part[mesh->cell[c][0]]] = f->fe->batch_of_cell[c];
    f->n = SIX * f->npart;
    return PCS_OK;
}

// Computes the centre of the bounding box of a part, m, or of all if part < 0.
static void rigid_find_middle(const finder *f, int part, double middle[3])
{
    const pcs_mesh *mesh = f->fe->model.mesh;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < mesh->nnode; i++) {
            if (f->part[i] < 0 || (part >= 0 && f->part[i] != part)) continue;
            low = fmin(low, f->x[i][k]);
            high = fmax(high, f->x[i][k]);
        }
        middle[k] = low + high == 0.0 ? 0.0 : 0.5 * (low + high); // avoids -0
    }
}

static pcs_status rigid_place_nodes(finder *f)
{
    const pcs_mesh *mesh = f->fe->model.mesh;
    PCS_TAKE(f->ctx, f->x, mesh->nnode, "places of nodes");
    for (int i = 0; i < mesh->nnode; i++) {
        double u[3] = { 0.0 };
        if (f->q != NULL) pcs_dofmap_vector(&f->fe->map, false, i, f->q, u);
        for (int k = 0; k < 3; k++) f->x[i][k] = mesh->x[i][k] + u[k];
    }
    return PCS_OK;
}

// Computes displacement and rotation of a node in motion k of its part.
static void rigid_move(const finder *f, int node, int k, double u[3], double w[3])
{
    double arm[3];
    for (int i = 0; i < 3; i++) {
        u[i] = k < 3 && i == k ? 1.0 : 0.0;
        w[i] = k >= 3 && i == k - 3 ? 1.0 / f->length : 0.0;
        arm[i] = f->x[node][i] - f->center[i];
    }
    if (k >= 3) pcs_cross(w, arm, u);
}

// Converts w to the material axes of a node with finite rotations: R^T w.
static void rigid_rotate_back(const finder *f, int node, double w[3])
{
    double rotation[3], R[9], back[3];
    if (f->q == NULL || !pcs_fe_rotates_finitely(f->fe, node)) return;
    pcs_dofmap_vector(&f->fe->map, true, node, f->q, rotation);
    for (int k = 0; k < 3; k++) rotation[k] = -rotation[k];
    pcs_rotation_exp(rotation, R);
    pcs_rotation_apply(R, w, back);
    memcpy(w, back, sizeof back);
}

// Adds to Q the squares of motions that a node cannot make: displacements that its dofs cannot represent, and motion of
// fixed dofs. Stores the free ones in the columns.
static void rigid_judge_node(finder *f, int node, double *Q)
{
    double bad[SIX][3 + PCS_MAX_NODE_DOFS] = { { 0 } };
    int nv = f->system->nv, base = SIX * f->part[node];
    for (int k = 0; k < SIX; k++) {
        double u[3], w[3];
        rigid_move(f, node, k, u, w);
        rigid_rotate_back(f, node, w);
        for (int i = 0; i < 3; i++) bad[k][i] = u[i];
        for (int i = f->fe->map.first[node], j = 3; i < f->fe->map.first[node + 1]; i++, j++) {
            const pcs_dof *d = &f->fe->map.dof[i];
            double along = pcs_dense_dot(3, d->direction, d->is_rotation ? w : u);
            if (!d->is_rotation)
                for (int m = 0; m < 3; m++) bad[k][m] -= along * d->direction[m];
            if (d->equation < 0) bad[k][j] = along * (d->is_rotation ? f->length : 1.0);
            else f->column[(size_t)(base + k) * (size_t)nv + (size_t)d->equation] = along;
        }
    }
    for (int a = 0; a < SIX; a++)
        for (int b = 0; b < SIX; b++)
            Q[(base + a) * f->n + base + b] += pcs_dense_dot(3 + PCS_MAX_NODE_DOFS, bad[a], bad[b]);
}

static void rigid_judge_rows(const finder *f, double *Q)
{
    const pcs_system *s = f->system;
    for (int j = 0; j < s->nrow; j++) {
        double rate[MOST], norm = 0.0;
        if (!s->rows[j].is_bilateral) continue;
        for (int p = s->G->start[j]; p < s->G->start[j + 1]; p++) norm = fmax(norm, fabs(s->G->value[p]));
        for (int k = 0; k < f->n; k++)
            rate[k] = pcs_rows_dot(s->G, j, f->column + (size_t)k * (size_t)s->nv) / (norm > 0.0 ? norm : 1.0);
        for (int a = 0; a < f->n; a++)
            for (int b = 0; b < f->n; b++) Q[a * f->n + b] += rate[a] * rate[b];
    }
}

// Replaces the basis by its combinations whose eigenvalues of Q do not exceed the tolerance.
static pcs_status rigid_reduce(finder *f, double *Q, double tolerance)
{
    int m = f->nfree, kept = 0;
    double *w, *V, *old;
    PCS_TAKE(f->ctx, w, m, "free motions");
    PCS_TAKE(f->ctx, V, (size_t)m * (size_t)m, "free motions");
    PCS_TAKE(f->ctx, old, (size_t)m * MOST, "free motions");
    memcpy(old, f->basis, (size_t)m * MOST * sizeof *old);
    pcs_jacobi(m, Q, w, V);
    for (; kept < m && w[kept] <= tolerance; kept++)
        for (int i = 0; i < f->n; i++) {
            f->basis[kept][i] = 0.0;
            for (int k = 0; k < m; k++) f->basis[kept][i] += V[k * m + kept] * old[k * MOST + i];
        }
    f->nfree = kept;
    return PCS_OK;
}

static pcs_status rigid_judge_geometry(finder *f)
{
    const pcs_mesh *mesh = f->fe->model.mesh;
    double *Q;
    PCS_TAKE(f->ctx, Q, (size_t)f->n * (size_t)f->n, "free motions");
    PCS_TAKE(f->ctx, f->column, (size_t)f->n * (size_t)f->system->nv, "free motions");
    for (int i = 0; i < mesh->nnode; i++)
        if (f->part[i] >= 0) rigid_judge_node(f, i, Q);
    rigid_judge_rows(f, Q);
    f->nfree = f->n;
    for (int k = 0; k < f->n; k++) f->basis[k][k] = 1.0;
    return rigid_reduce(f, Q, FREE);
}

static void rigid_vector(const finder *f, const double *motion, double *x)
{
    int nv = f->system->nv;
    memset(x, 0, (size_t)nv * sizeof *x);
    for (int k = 0; k < f->n; k++)
        if (motion[k] != 0.0)
            for (int i = 0; i < nv; i++) x[i] += motion[k] * f->column[(size_t)k * (size_t)nv + (size_t)i];
}

// Returns the largest displacement of an equation in any of the unit rigid motions.
static double rigid_reach(const finder *f, int equation)
{
    double reach = 0.0;
    for (int k = 0; k < f->n; k++)
        reach = fmax(reach, fabs(f->column[(size_t)k * (size_t)f->system->nv + (size_t)equation]));
    return reach;
}

// Computes (K x)_i over the sum of the magnitudes of its terms, for all free motions. Returns the largest. Entry by
// entry, a soft spring can be distinguished from round-off; terms with vanishing x count with the round-off of x.
static double rigid_forces(const finder *f, double *force, double *size, double *x)
{
    const pcs_matrix *K = f->system->K;
    int nv = f->system->nv;
    double worst = 0.0;
    memset(size, 0, (size_t)nv * sizeof *size);
    for (int k = 0; k < f->nfree; k++) {
        rigid_vector(f, f->basis[k], x);
        pcs_matrix_multiply(K, x, force + (size_t)k * (size_t)nv);
        for (int j = 0; j < nv; j++) {
            double move = fabs(x[j]) + KNOWN / ROUND_OFF * rigid_reach(f, j);
            for (int p = K->pattern->start[j]; p < K->pattern->start[j + 1]; p++)
                size[K->pattern->row[p]] += fabs(K->value[p]) * move;
        }
    }
    for (int k = 0; k < f->nfree; k++)
        for (int i = 0; i < nv; i++) {
            double *entry = &force[(size_t)k * (size_t)nv + (size_t)i];
            *entry = size[i] > 0.0 ? *entry / size[i] : 0.0;
            worst = fmax(worst, fabs(*entry));
        }
    return worst;
}

// Computes the products of the free motions' vectors, times `sign`. Returns the sum of their squares.
static double rigid_products(const finder *f, const double *x, double sign, double *Q)
{
    size_t nv = (size_t)f->system->nv;
    int m = f->nfree;
    double trace = 0.0;
    for (int a = 0; a < m; a++) {
        for (int b = 0; b < m; b++)
            Q[a * m + b] = sign * pcs_dense_dot((int)nv, x + (size_t)a * nv, x + (size_t)b * nv);
        trace += sign * Q[a * m + a];
    }
    return trace;
}

// Keeps the motions that move some dof (not the rotation of a line about itself) and that K resists with no force:
// removes stiff directions, the stiffest first.
static pcs_status rigid_judge_stiffness(finder *f)
{
    size_t m = (size_t)f->nfree, nv = (size_t)f->system->nv;
    double *force, *size, *x, *Q;
    PCS_TAKE(f->ctx, force, m * nv, "free motions");
    PCS_TAKE(f->ctx, size, nv, "free motions");
    PCS_TAKE(f->ctx, x, nv, "free motions");
    PCS_TAKE(f->ctx, Q, m * m, "free motions");
    for (size_t k = 0; k < m; k++) rigid_vector(f, f->basis[k], force + k * nv);
    double moved = rigid_products(f, force, -1.0, Q);
    if (m > 0) PCS_TRY(rigid_reduce(f, Q, -fmax(1e-12 * moved, 1e-24)));
    while (f->nfree > 0 && rigid_forces(f, force, size, x) > ROUND_OFF * DBL_EPSILON)
        PCS_TRY(rigid_reduce(f, Q, 1e-3 * rigid_products(f, force, 1.0, Q) / f->nfree));
    return PCS_OK;
}

// Subtracts from x its components along orthonormal motions. Returns the norm of the rest.
static double rigid_take_out(const finder *f, int count, double basis[][MOST], double *x)
{
    for (int k = 0; k < count; k++) {
        double along = pcs_dense_dot(f->n, basis[k], x);
        for (int i = 0; i < f->n; i++) x[i] -= along * basis[k][i];
    }
    return sqrt(pcs_dense_dot(f->n, x, x));
}

// Chooses a motion if it is among the free ones and not yet spanned by those chosen. Returns true if so.
static bool rigid_choose(finder *f, const double *motion)
{
    double rest[MOST], left = 0.0, norm = sqrt(pcs_dense_dot(f->n, motion, motion));
    size_t bytes = (size_t)f->n * sizeof *rest;
    memcpy(rest, motion, bytes);
    if (!(norm > 0.0) || rigid_take_out(f, f->nfree, f->basis, rest) > NEGLIGIBLE * norm) return false;
    memcpy(rest, motion, bytes);
    for (int pass = 0; pass < 2; pass++) left = rigid_take_out(f, f->nchosen, f->chosen, rest);
    if (left <= 1e-3 * norm) return false;
    for (int i = 0; i < f->n; i++) f->chosen[f->nchosen][i] = rest[i] / left;
    f->nchosen++;
    return true;
}

static void rigid_keep(finder *f, const double *motion, pcs_rigid *out, const char *name, int part)
{
    double *x = out->vector + (size_t)out->count * (size_t)f->system->nv;
    rigid_vector(f, motion, x);
    if (part < 0 || f->npart == 1) snprintf(out->name[out->count], PCS_RIGID_NAME, "%s", name);
    else
        snprintf(out->name[out->count], PCS_RIGID_NAME, "%s of part '%s'", name,
                 f->group[part] < 0 ? "?" : f->fe->model.groups[f->group[part]].name);
    out->count++;
}

// Fills `motion` with a rotation about `axis` through `point`, of one part or of all.
static void rigid_rotate(const finder *f, int part, int axis, const double point[3], double *motion)
{
    double w[3] = { 0 }, arm[3], t[3];
    memset(motion, 0, (size_t)f->n * sizeof *motion);
    w[axis] = 1.0;
    for (int i = 0; i < 3; i++) arm[i] = f->center[i] - point[i];
    pcs_cross(w, arm, t);
    for (int p = 0; p < f->npart; p++)
        if (part < 0 || p == part)
            for (int i = 0; i < 3; i++) {
                motion[SIX * p + i] = t[i];
                motion[SIX * p + 3 + i] = w[i] * f->length;
            }
}

// Adds the names of free translations along and rotations about the axes, of all parts or of one.
static void rigid_name_axes(finder *f, int part, const double point[3], bool with_point, pcs_rigid *out)
{
    char name[PCS_RIGID_NAME / 2];
    double motion[MOST] = { 0 };
    for (int k = 0; k < SIX; k++) {
        if (k < 3) {
            memset(motion, 0, sizeof motion);
            for (int p = 0; p < f->npart; p++)
                if (part < 0 || p == part) motion[SIX * p + k] = 1.0;
            snprintf(name, sizeof name, "translation along %c", "xyz"[k]);
        } else {
            rigid_rotate(f, part, k - 3, point, motion);
            if (with_point)
                snprintf(name, sizeof name, "rotation about %c through (%.4g, %.4g, %.4g)", "xyz"[k - 3], point[0],
                         point[1], point[2]);
            else snprintf(name, sizeof name, "rotation about %c", "xyz"[k - 3]);
        }
        if (f->nchosen < f->nfree && rigid_choose(f, motion)) rigid_keep(f, motion, out, name, part);
    }
}

// Computes an orthonormal basis of the free motions without a name. Returns their number.
static int rigid_rest(finder *f, double rest[][MOST])
{
    int count = 0;
    for (int k = 0; k < f->nfree; k++) {
        double *x = rest[count], norm = 0.0;
        memcpy(x, f->basis[k], (size_t)f->n * sizeof *x);
        for (int pass = 0; pass < 2; pass++) {
            rigid_take_out(f, f->nchosen, f->chosen, x);
            norm = rigid_take_out(f, count, rest, x);
        }
        if (norm < 1e-3) continue;
        for (int i = 0; i < f->n; i++) x[i] /= norm;
        count++;
    }
    return count;
}

// Sets coordinates of a point that are round-off of the model's size to 0, m.
static void rigid_level(const finder *f, double point[3])
{
    for (int i = 0; i < 3; i++)
        if (fabs(point[i]) < 1e-9 * f->length) point[i] = 0.0;
}

// Finds the point of a part that moves least in all given motions: minimises sum |t + w x (p - c)|^2. Returns false if
// none of them rotates it.
static bool rigid_still_point(const finder *f, int count, double rest[][MOST], int part, double point[3])
{
    double A[9] = { 0 }, b[3] = { 0 }, w[3], V[9];
    for (int k = 0; k < count; k++) {
        const double *t = rest[k] + SIX * part;
        double r[3] = { t[3] / f->length, t[4] / f->length, t[5] / f->length }, rt[3];
        pcs_cross(r, t, rt); // -W^T t, with W p = w x p
        for (int i = 0; i < 3; i++) {
            b[i] += rt[i];
            for (int j = 0; j < 3; j++) A[3 * i + j] += (i == j ? pcs_dense_dot(3, r, r) : 0.0) - r[i] * r[j];
        }
    }
    pcs_jacobi(3, A, w, V);
    for (int i = 0; i < 3; i++) point[i] = f->center[i];
    for (int k = 0; k < 3; k++) {
        if (!(w[k] > 1e-9 * w[2])) continue;
        double along = (V[k] * b[0] + V[3 + k] * b[1] + V[6 + k] * b[2]) / w[k];
        for (int i = 0; i < 3; i++) point[i] += along * V[3 * i + k];
    }
    rigid_level(f, point);
    return w[2] * f->length * f->length > NEGLIGIBLE * NEGLIGIBLE;
}

static double rigid_tidy(double x)
{
    return fabs(x) < 1e-7 ? 0.0 : x;
}

// Describes any motion of the parts by that of its fastest part.
static void rigid_describe(const finder *f, double *motion, size_t size, char *name, int *fastest)
{
    int moving = 0;
    *fastest = 0;
    for (int p = 0; p < f->npart; p++) {
        double square = pcs_dense_dot(SIX, motion + SIX * p, motion + SIX * p);
        moving += square > NEGLIGIBLE;
        if (square > pcs_dense_dot(SIX, motion + SIX * *fastest, motion + SIX * *fastest)) *fastest = p;
    }
    const double *t = motion + SIX * *fastest, *w = t + 3;
    double rotation = sqrt(pcs_dense_dot(3, w, w)), slide = sqrt(pcs_dense_dot(3, t, t)), point[3], one[1][MOST];
    const char *joint = moving > 1 ? "joined motion, " : "";
    if (rotation < NEGLIGIBLE * slide) {
        snprintf(name, size, "%stranslation along [%.4g, %.4g, %.4g]", joint, rigid_tidy(t[0] / slide),
                 rigid_tidy(t[1] / slide), rigid_tidy(t[2] / slide));
        return;
    }
    memcpy(one[0], motion, (size_t)f->n * sizeof **one);
    (void)rigid_still_point(f, 1, one, *fastest, point);
    bool is_screw = fabs(pcs_dense_dot(3, t, w)) > NEGLIGIBLE * rotation * slide && slide > NEGLIGIBLE;
    snprintf(name, size, "%s%s about [%.4g, %.4g, %.4g] through (%.4g, %.4g, %.4g)", joint,
             is_screw ? "screw motion" : "rotation", rigid_tidy(w[0] / rotation), rigid_tidy(w[1] / rotation),
             rigid_tidy(w[2] / rotation), point[0], point[1], point[2]);
}

static void rigid_name_all(finder *f, pcs_rigid *out)
{
    double rest[MOST][MOST], point[3];
    rigid_name_axes(f, -1, f->center, false, out);
    if (f->npart > 1)
        for (int p = 0; p < f->npart; p++) {
            rigid_find_middle(f, p, point);
            rigid_level(f, point);
            rigid_name_axes(f, p, point, true, out);
        }
    while (f->nchosen < f->nfree) {
        int count = rigid_rest(f, rest), before = f->nchosen, fastest = 0;
        if (count == 0) return;
        char name[PCS_RIGID_NAME / 2];
        rigid_describe(f, rest[0], sizeof name, name, &fastest);
        if (rigid_still_point(f, count, rest, fastest, point)) {
            rigid_name_axes(f, -1, point, true, out);
            if (f->npart > 1) rigid_name_axes(f, fastest, point, true, out);
        }
        if (f->nchosen > before) continue;
        if (!rigid_choose(f, rest[0])) return;
        rigid_keep(f, rest[0], out, name, fastest);
    }
}

static pcs_status rigid_search(finder *f, pcs_rigid *out)
{
    PCS_TRY(rigid_find_parts(f));
    if (f->npart == 0 || f->npart > MOST_PARTS || f->system->nv == 0) return PCS_OK;
    PCS_TRY(rigid_place_nodes(f));
    rigid_find_middle(f, -1, f->center);
    f->length = f->system->length > 0.0 ? f->system->length : 1.0;
    PCS_TRY(rigid_judge_geometry(f));
    PCS_TRY(rigid_judge_stiffness(f));
    PCS_TAKE(f->system->ctx, out->vector, (size_t)f->nfree * (size_t)f->system->nv, "free motions");
    PCS_TAKE(f->system->ctx, out->name, f->nfree, "free motions");
    rigid_name_all(f, out);
    return PCS_OK;
}

pcs_status pcs_rigid_find(const pcs_system *self, const double *q, pcs_rigid *out)
{
    pcs_context *ctx = NULL;
    *out = (pcs_rigid){ 0 };
    if (!pcs_system_is_mesh(self)) return PCS_OK;
    if (pcs_context_create(&ctx) != PCS_OK) return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: free motions");
    finder *f = pcs_take(ctx, 1, sizeof *f, "free motions");
    pcs_status status = PCS_NO_MEMORY;
    if (f != NULL) {
        f->system = self;
        f->fe = self->data;
        f->q = q;
        f->ctx = ctx;
        status = rigid_search(f, out);
    }
    if (status != PCS_OK) pcs_fail(self->ctx, status, "%s", pcs_message(ctx));
    pcs_context_destroy(&ctx);
    return status;
}

void pcs_rigid_text(const pcs_rigid *rigid, size_t size, char *text)
{
    text[0] = '\0';
    for (int i = 0; i < rigid->count; i++) pcs_text_add(text, size, "%s%s", i == 0 ? "" : "; ", rigid->name[i]);
}
