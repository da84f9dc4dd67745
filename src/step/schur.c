// Step solver `schur`: for many contacts, with friction and joints. The condensed contact problem of `newton` and
// `condensed`, but neither it nor the columns M^-1 G^T are ever formed: a product with its matrix is a solve with the
// factored M and S* (below), and krylov_set.h solves the problem by products, starting from the multipliers
// of the last step.
//
// For a linear system one linearisation is the step. Otherwise every iteration linearises about the present (q, v):
//
//   S* dd = h f(q, v) - c M d + h K D' + h C W' + (S* d of the multipliers),   D' = U' + kw W' at the present iterate
//
// Derivatives of M are in K, d(M a)/dq with a = c d/h; those of contact rows G are left out of the linearisation (an
// iteration or two, never the solution); those of joints, of forces and velocities, are in it (curvature.h).
// It starts where `newton` does, with the motion of the step before, and keeps S* as that does.

#include "core/rounding.h"
#include "step/curvature.h"
#include "step/krylov_set.h"
#include "step/outer.h"
#include "step/projection.h"
#include "step/step.h"
#include "step/sums.h"

#include <math.h>
#include <string.h>

// Maps contact multipliers to the motion of a step by products: M^-1 and S*^-1 applied to G^T z, no columns kept.
//
//   M U = G^T nu + (h/2) T^T Lt (position level only; with held rows G^T nu + T^T nu_t),   M W = G^T La + T^T Lt
//   D = U + kw W
//   S* d = Gb^T mu - h K D - h C W,   dq = kb d + D,   dv = d + W,   S* = c M + h C + h kb K
//
// Shorter where the form allows (fq = M U, fv = M W):
//   dq = S*^-1 (c (fq + kw fv) + kb Gb^T mu)   without C, or where it sees nothing: h C (U + (kw - kb) W) = 0

typedef enum pcs_map_kind { PCS_MAP_STILL, PCS_MAP_SHORT, PCS_MAP_GENERAL } pcs_map_kind;

typedef struct pcs_schur_map {
    pcs_step_solver *solver;
    pcs_curvature *curvature; // curvature of rows, part of K; NULL if left out
    pcs_matrix *S;
    pcs_linsolve *iteration; // solver of S
    pcs_map_kind kind;
    const pcs_rows *G, *T;              // directions of the own rows; T is NULL without friction
    const pcs_rows *Gx, *Tx;            // directions along which impulses act
    int nb;                             // number of bilateral rows with smooth multipliers
    int *bilateral;                     // [nb]
    double *fq, *fv;                    // [nv] M U, M W
    double *fs;                         // [nv] Gb^T mu
    double *D, *W;                      // [nv]
    double *d;                          // [nv]
    double *dq, *dv;                    // [nv]
    double *row;                        // [own tangents and rows] products with rows
    const double *at;                   // [nv] increment that rotates positions if they do not add up; else NULL
    const pcs_contact_problem *problem; // contact problem that the map belongs to
    bool is_for_rows;                   // rows are distributed: solutions are needed on this process's equations only
    bool has_fq, has_fv, has_fs;
} pcs_schur_map;

static pcs_status schur_map_create(pcs_step_solver *solver, pcs_schur_map **out)
{
    pcs_schur_map *map;
    const pcs_system *system = solver->system;
    PCS_TAKE(solver->ctx, map, 1, "the contact operator");
    map->solver = solver;
    PCS_TAKE_EACH(solver->ctx, system->nv, "the contact operator", double, &map->fq, &map->fv, &map->fs, &map->D,
                  &map->W, &map->d, &map->dq, &map->dv);
    PCS_TAKE(solver->ctx, map->bilateral, system->nrow, "the contact operator");
    PCS_TAKE(solver->ctx, map->row, system->nrow + system->ntangent, "the contact operator");
    for (int j = 0; j < system->nrow; j++)
        if (system->rows[j].is_bilateral) map->bilateral[map->nb++] = j;
    map->G = system->G;
    map->T = system->T;
    map->Gx = solver->projection->Gx;
    map->Tx = solver->projection->Tx;
    *out = map;
    return PCS_OK;
}

static bool map_is_damped(const pcs_system *system)
{
    return system->C != NULL && (pcs_system_is_damped(system) || !system->is_linear);
}

// Chooses the kind for the solver's form and the presence of smooth multipliers.
static void schur_map_choose(pcs_schur_map *map)
{
    const pcs_step_form *form = &map->solver->form;
    bool sees_damping = form->has_position || form->kw != form->kb || form->kh != 0.0;
    bool is_short = !(sees_damping && map_is_damped(map->solver->system)) && form->kb != 0.0;
    map->kind = is_short ? PCS_MAP_SHORT : PCS_MAP_GENERAL;
    if (!form->has_dynamics) map->kind = PCS_MAP_STILL;
}

// Returns the number of equations that are read: K and C also read copies of other processes' equations.
static int map_size(const pcs_schur_map *map)
{
    const pcs_system *system = map->solver->system;
    return map->is_for_rows && map->kind != PCS_MAP_GENERAL ? pcs_system_nown(system) : system->nv;
}

// Computes x = a y + b z.
static void map_combine(int n, double a, const double *y, double b, const double *z, double *x)
{
    for (int i = 0; i < n; i++) x[i] = a * y[i] + b * z[i];
}

// Computes the forces fq, fv and fs of the multipliers.
static void map_forces(pcs_schur_map *map, int in, const double *z)
{
    const pcs_system *system = map->solver->system;
    const pcs_step_form *form = &map->solver->form;
    const pcs_rows *G = map->Gx, *T = map->Tx;
    int m = map->solver->system->nrow;
    size_t bytes = (size_t)map_size(map) * sizeof(double);
    bool has_friction = pcs_system_ntangent(system) > 0 && in & PCS_STAGE_RATE; // friction in some process
    bool has_nu = (form->has_position || map->problem->held != NULL) && in & PCS_STAGE_GAP;
    map->has_fq = has_nu || (form->has_position && has_friction);
    map->has_fv = in & PCS_STAGE_RATE;
    map->has_fs = form->has_smooth_multipliers && in & PCS_STAGE_RATE;
    memset(map->fq, 0, bytes);
    memset(map->fv, 0, bytes);
    memset(map->fs, 0, bytes);
    if (has_nu) pcs_rows_add_all(G, 1.0, z, map->fq);
    if (has_nu && map->problem->nheld_t > 0)
        pcs_rows_add_all(T, 1.0, z + map->problem->n - map->problem->nheld_t, map->fq);
    if (form->has_position && has_friction) pcs_rows_add_all(T, 0.5 * form->h, z + 2 * m, map->fq);
    if (map->has_fv) pcs_rows_add_all(G, 1.0, z + m, map->fv);
    if (has_friction) pcs_rows_add_all(T, 1.0, z + 2 * m, map->fv);
    if (map->has_fs)
        for (int i = 0; i < map->nb; i++)
            pcs_rows_add_transposed(map->G, map->bilateral[i], z[2 * m + map->solver->system->ntangent + i], map->fs);
}

static void map_solve(const pcs_schur_map *map, pcs_linsolve *solver, double *x)
{
    if (map->is_for_rows) pcs_linsolve_solve_own(solver, x);
    else pcs_linsolve_solve(solver, x);
}

// Solves x = M^-1 (a fq + b fv).
static void map_mass_solve(pcs_schur_map *map, double a, double b, double *x)
{
    map_combine(map_size(map), a, map->fq, b, map->fv, x);
    if ((a != 0.0 && map->has_fq) || (b != 0.0 && map->has_fv)) map_solve(map, map->solver->mass, x);
}

// Computes D and W, each only if asked for.
static void map_project(pcs_schur_map *map, bool wants_D, bool wants_W)
{
    double kw = map->solver->form.kw;
    int n = map_size(map);
    if (wants_W) map_mass_solve(map, 0.0, 1.0, map->W);
    if (!wants_D) return;
    bool is_multiple = wants_W && !map->has_fq; // D = kw W
    if (is_multiple) map_combine(n, kw, map->W, 0.0, map->W, map->D);
    else map_mass_solve(map, 1.0, kw, map->D);
}

// Computes dq and dv by the short map. If d is not wanted, velocities take one solve with the mass instead of two, or
// none where they are dq / kb.
static void map_short(pcs_schur_map *map, bool wants_v, bool wants_d)
{
    const pcs_step_form *form = &map->solver->form;
    int n = map_size(map);
    double c = form->c, kb = form->kb, kw = form->kw;
    for (int i = 0; i < n; i++) map->dq[i] = c * (map->fq[i] + kw * map->fv[i]) + kb * map->fs[i];
    bool has_q = map->has_fq || map->has_fs || (map->has_fv && kw != 0.0);
    if (has_q) map_solve(map, map->iteration, map->dq);
    if (wants_d) {
        map_project(map, true, wants_v);
        map_combine(n, 1.0 / kb, map->dq, -1.0 / kb, map->D, map->d);
        if (wants_v) map_combine(n, 1.0, map->d, 1.0, map->W, map->dv);
    } else if (wants_v) {
        bool is_multiple = !map->has_fq && kw == kb;
        if (!is_multiple) map_mass_solve(map, -1.0, kb - kw, map->dv);
        map_combine(n, 1.0 / kb, map->dq, is_multiple ? 0.0 : 1.0 / kb, is_multiple ? map->dq : map->dv, map->dv);
    }
}

static void map_general(pcs_schur_map *map)
{
    const pcs_system *system = map->solver->system;
    const pcs_step_form *form = &map->solver->form;
    int n = system->nv;
    bool is_for_rows = map->is_for_rows;
    map->is_for_rows = false; // K and C also read copies
    map_project(map, true, true);
    map->is_for_rows = is_for_rows;
    memcpy(map->d, map->fs, (size_t)n * sizeof(double));
    pcs_step_add_tangent(map->solver, map->curvature, -form->h, map->D, map->W, map->d);
    map_solve(map, map->iteration, map->d);
    map_combine(n, form->kb, map->d, 1.0, map->D, map->dq);
    map_combine(n, 1.0, map->d, 1.0, map->W, map->dv);
}

// Computes dq, dv and d, each only if asked for, and D and W with d.
static void map_move(pcs_schur_map *map, bool wants_q, bool wants_v, bool wants_d)
{
    int n = map_size(map);
    size_t bytes = (size_t)n * sizeof(double);
    switch (map->kind) {
    case PCS_MAP_STILL:
        map_project(map, wants_q, wants_v);
        if (wants_q) memcpy(map->dq, map->D, bytes);
        if (wants_v) memcpy(map->dv, map->W, bytes);
        if (wants_d) memset(map->d, 0, bytes);
        break;
    case PCS_MAP_SHORT: map_short(map, wants_v, wants_d); break;
    case PCS_MAP_GENERAL: map_general(map); break;
    }
}

// Adds to `value` the change of the velocities of joints as their rows rotate with a change dx of the increment.
static void schur_map_add_rotations(const pcs_schur_map *map, const double *dx, double *value)
{
    const pcs_step_form *form = &map->solver->form;
    int m = map->solver->system->nrow, nt = map->solver->system->ntangent;
    if (map->curvature == NULL || form->law_is_gap) return;
    for (int i = 0; i < map->nb; i++) {
        double rotation = pcs_rows_dot(map->curvature->H, map->bilateral[i], dx);
        value[m + map->bilateral[i]] += rotation;
        if (form->has_smooth_multipliers) value[2 * m + nt + i] += rotation;
    }
}

// Converts in place a change dx of the increment to the material rotations that rows multiply: dx := T(x) dx.
static void map_rotate(const pcs_schur_map *map, double *dx)
{
    if (map->at != NULL) pcs_rotate_vector(&map->solver->system->rotations, map->at, dx);
}

// Computes G (U + kh d), and T (U + kh d) of the tangents, m.
static void map_hold(pcs_schur_map *map, double *value)
{
    const pcs_step_form *form = &map->solver->form;
    const pcs_contact_problem *p = map->problem;
    int n = map_size(map), m = map->solver->system->nrow;
    double *value_t = value + p->n - p->nheld_t;
    map_combine(n, 1.0, map->D, -form->kw, map->W, map->fq); // displacement U
    pcs_rows_multiply(map->G, map->fq, value);
    pcs_rows_multiply(map->G, map->d, map->row);
    for (int j = 0; j < m; j++) value[j] += form->kh * map->row[j];
    if (p->nheld_t == 0) return;
    pcs_rows_multiply(map->T, map->fq, value_t);
    pcs_rows_multiply(map->T, map->d, map->row);
    for (int t = 0; t < p->nheld_t; t++) value_t[t] += form->kh * map->row[t];
}

// Computes products as pcs_krylov_set_product, with a map as the owner.
static void schur_map_product(void *owner, int in, int out, const double *z, double *value, double *gate_gap)
{
    pcs_schur_map *map = owner;
    const pcs_step_form *form = &map->solver->form;
    int m = map->solver->system->nrow, nt = map->solver->system->ntangent;
    bool wants_q = out & PCS_STAGE_GAP, wants_v = out & PCS_STAGE_RATE;
    bool has_smooth = form->has_smooth_multipliers && wants_v, holds = map->problem->held != NULL;
    bool wants_d = gate_gap != NULL || has_smooth || holds;
    map->is_for_rows = pcs_rows_are_distributed(map->solver->system) && map->G->halo == NULL;
    map_forces(map, in, z);
    map_move(map, wants_q || map->curvature != NULL, wants_v, wants_d);
    map->is_for_rows = false;
    bool has_rotations = wants_v && map->curvature != NULL && map->kind != PCS_MAP_STILL;
    if (wants_v) pcs_rows_multiply(map->G, map->dv, value + m);
    if (has_smooth) memset(value + 2 * m + nt, 0, (size_t)map->nb * sizeof *value);
    if (has_rotations) schur_map_add_rotations(map, map->dq, value);
    if (holds) map_hold(map, value);
    if (wants_q && !holds) map_rotate(map, map->dq);
    if (wants_q && !holds) pcs_rows_multiply(map->G, map->dq, value);
    if (wants_v && nt > 0) pcs_rows_multiply(map->T, map->dv, value + 2 * m);
    if (gate_gap != NULL)
        for (int j = 0; j < m; j++) gate_gap[j] = 0.0;
    if (!wants_d || map->kind == PCS_MAP_STILL) return;
    // Computes the velocity of joints as G W, because joints hold without their impulses, G d. Where W moves positions
    // G dv has the round-off of S*^-1 K W, below which no iteration would get where K is stiff.
    bool is_parted = has_smooth && form->kw != 0.0;
    if (is_parted) pcs_rows_multiply(map->G, map->W, map->row);
    for (int i = 0; i < (is_parted ? map->nb : 0); i++) value[m + map->bilateral[i]] = map->row[map->bilateral[i]];
    pcs_rows_multiply(map->G, map->d, map->row);
    if (has_smooth)
        for (int i = 0; i < map->nb; i++) value[2 * m + nt + i] += map->row[map->bilateral[i]];
    if (gate_gap == NULL) return;
    if (map->at != NULL) {
        map_rotate(map, map->d);
        pcs_rows_multiply(map->G, map->d, map->row);
    }
    for (int j = 0; j < m; j++) gate_gap[j] = form->kb * map->row[j];
}

// Returns the parts of z that move anything.
static int map_stage(const pcs_schur_map *map)
{
    return map->solver->form.has_position || map->problem->held != NULL ? PCS_STAGE_BOTH : PCS_STAGE_RATE;
}

// Computes all of d, dq, dv and W for z.
static void schur_map_motion(pcs_schur_map *map, const double *z)
{
    map_forces(map, map_stage(map), z);
    map_move(map, true, true, true);
}

typedef struct schur {
    int n, m, nt; // equations; rows and tangents here
    pcs_krylov_set *contacts;
    pcs_schur_map *map;
    pcs_motion at;
    unsigned char *held;    // [m] held rows
    double *z_step;         // [contacts->n] multipliers that the step starts from
    pcs_step_form factored; // form for which S* of a linear system was factored
    bool is_stale;          // the products have changed since the last solve
} schur;

static pcs_status schur_make_contacts(pcs_step_solver *self)
{
    schur *s = self->data;
    const pcs_system *system = self->system;
    PCS_TRY(pcs_krylov_set_create(self->ctx, system, s->map->nb, &s->contacts));
    PCS_TAKE(self->ctx, s->z_step, 2 * (s->m + s->nt) + s->map->nb, "the Schur solver");
    PCS_TAKE(self->ctx, s->held, s->m, "the Schur solver");
    return pcs_preconditioners_create(self, s->map->G, s->map->T, s->contacts->preconditioner);
}

// Gives the multipliers their numbers in a single process, if rows are distributed over processes.
static pcs_status schur_number(pcs_step_solver *self, pcs_memory *z)
{
    const pcs_system *system = self->system;
    const schur *s = self->data;
    int m = system->nrow, nt = system->ntangent, nb = s->map->nb, *serial;
    double nb_all = nb;
    PCS_TAKE(self->ctx, serial, 2 * m + nt + nb, "the Schur solver");
    for (int j = 0; j < m; j++) {
        serial[j] = system->row_number[j];
        serial[m + j] = system->nrow_all + system->row_number[j];
    }
    for (int t = 0; t < nt; t++) serial[2 * m + t] = 2 * system->nrow_all + system->tangent_number[t];
    // Smooth multipliers belong to joints, whose rows come last.
    pcs_rows_sum(system, 1, &nb_all);
    int first = system->nrow_all - (int)nb_all, all = 2 * system->nrow_all + system->ntangent_all;
    for (int i = 0; i < nb; i++) serial[2 * m + nt + i] = all + system->row_number[s->map->bilateral[i]] - first;
    z->serial = serial;
    z->nown = 2 * m + nt + nb;
    z->nall = all + (int)nb_all;
    return PCS_OK;
}

static pcs_status schur_setup(pcs_step_solver *self)
{
    schur *s = self->data;
    const pcs_system *system = self->system;
    s->n = system->nv;
    s->m = system->nrow;
    s->nt = system->ntangent;
    PCS_TRY(pcs_motion_create(self, &s->at));
    PCS_TRY(schur_map_create(self, &s->map));
    PCS_TRY(schur_make_contacts(self));
    s->contacts->product = schur_map_product;
    s->map->problem = &s->contacts->p;
    s->contacts->owner = s->map;
    int n = 2 * system->nrow + system->ntangent + s->map->nb;
    self->memory[0] = (pcs_memory){ .bytes = s->contacts->p.z, .size = (size_t)n * sizeof *s->contacts->p.z };
    self->memory[1] = (pcs_memory){ .bytes = &s->contacts->reach, .size = sizeof s->contacts->reach };
    return pcs_rows_are_distributed(system) ? schur_number(self, &self->memory[0]) : PCS_OK;
}

// Factors S* for the present form; it is kept while a contact problem without dynamics is solved between two steps.
static pcs_status schur_factor_once(pcs_step_solver *self, pcs_outcome *outcome)
{
    schur *s = self->data;
    if (memcmp(&s->factored, &self->form, sizeof s->factored) == 0) return PCS_OK;
    s->factored = (pcs_step_form){ 0 };
    PCS_TRY(pcs_step_factor_iteration(self, &s->map->S, &s->map->iteration, outcome));
    if (*outcome == PCS_CONVERGED) s->factored = self->form;
    return PCS_OK;
}

// Prepares the map and the contact problem for a form; factors S* here if it is constant, else in every iteration.
static pcs_status schur_prepare(pcs_step_solver *self, pcs_outcome *outcome)
{
    schur *s = self->data;
    pcs_schur_map *map = s->map;
    const pcs_step_form *form = &self->form;
    schur_map_choose(map);
    s->is_stale = true;
    pcs_krylov_set *c = s->contacts;
    c->p.h = form->h;
    c->p.has_position = form->has_position;
    c->p.gate_is_live = form->gate_is_live;
    c->shared = self->system->row_set.are_redundant ? PCS_SHARED_WEIGHT : 0.0;
    pcs_krylov_set_take(c, form->has_smooth_multipliers ? map->nb : 0, NULL);
    bool is_damped = map->kind == PCS_MAP_GENERAL;
    c->is_one_sided =
        form->kw == 0.0 && pcs_system_ntangent(self->system) == 0 && !is_damped && !form->has_smooth_multipliers;
    bool is_plain = map->kind == PCS_MAP_STILL || (form->kw <= form->kb && !form->has_smooth_multipliers && !is_damped);
    c->is_symmetric = self->system->is_linear && is_plain;
    if (!form->has_dynamics) return PCS_OK;
    if (pcs_step_is_constant(self->system)) return schur_factor_once(self, outcome);
    if (map->S != NULL) return PCS_OK;
    // In space impulses of joints rotate with rows, which the map ignores: with derivatives alone steps would fail.
    if (form->has_smooth_multipliers || !self->system->rotations.are_somewhere)
        PCS_TRY(pcs_curvature_create(self, &map->curvature));
    return pcs_step_create_iteration(self, map->curvature == NULL ? NULL : map->curvature->K->pattern, &map->S,
                                     &map->iteration);
}

// Writes the smooth multipliers of joints to p->lam, N.
static void schur_report_smooth(const pcs_step_solver *self, const pcs_step_problem *p)
{
    const schur *s = self->data;
    if (!self->form.has_smooth_multipliers) return;
    for (int j = 0; j < self->system->nrow; j++) p->lam[j] = 0.0;
    for (int i = 0; i < s->map->nb; i++) // for the rows of this process
        p->lam[s->map->bilateral[i]] = s->contacts->p.z[2 * s->m + s->nt + i] / self->form.h;
}

// Assembles and factors S* at the present state. Returns false if it is singular.
static bool schur_factor(pcs_step_solver *self, const pcs_step_problem *p)
{
    schur *s = self->data;
    bool is_singular = false;
    s->is_stale = true; // the rows have moved
    if (pcs_step_is_constant(self->system)) return true;
    schur_report_smooth(self, p);
    pcs_step_assemble(self, s->map->curvature, p, p->base == NULL ? NULL : s->at.x, s->contacts->p.z, s->map->S);
    if (pcs_linsolve_factor(s->map->iteration, &is_singular) != PCS_OK || is_singular) return false;
    self->nfactor++;
    return true;
}

// Solves for y0, the change of d without multipliers.
static void schur_free_increment(pcs_step_solver *self, pcs_step_problem *p, bool is_first)
{
    schur *s = self->data;
    pcs_system *system = self->system;
    double h = self->form.h;
    system->ops->force(system, pcs_at(p->t, p->q, p->v), s->at.y0);
    for (int i = 0; i < s->n; i++) s->at.y0[i] *= h;
    if (!is_first) {
        pcs_matrix_add_multiply(system->M, -self->form.c, p->d, s->at.y0);
        pcs_step_add_tangent(self, s->map->curvature, h, s->at.U, s->at.W, s->at.y0);
    }
    pcs_linsolve_solve(s->map->iteration, s->at.y0);
}

// Fills the masses of the projection equations, the gates, and the initial multipliers.
static void schur_fill_contacts(pcs_step_solver *self, const pcs_step_problem *p)
{
    schur *s = self->data;
    pcs_krylov_set *c = s->contacts;
    for (int j = 0; j < s->m; j++) c->p.r[j] = c->p.r[s->m + j] = self->effective_mass[j];
    for (int t = 0; t < s->nt; t++) c->p.r[2 * s->m + t] = self->tangent_mass[t];
    for (int i = 0; i < c->nb; i++) c->p.r[2 * s->m + s->nt + i] = self->effective_mass[s->map->bilateral[i]];
    c->p.gate_tolerance = p->gate_tolerance;
    if (!c->p.gate_is_live)
        for (int j = 0; j < s->m; j++) c->p.gate[j] = p->gate[j];
    // Zeroes the initial multipliers of rows with open gates; after a failure all of them are zero.
    if (!c->p.gate_is_live)
        for (int j = 0; j < s->m; j++) {
            if (c->p.gate[j] || c->p.rows[j].is_bilateral) continue;
            c->p.z[s->m + j] = 0.0;
            for (int t = 0; t < c->p.rows[j].ntangent; t++) c->p.z[2 * s->m + c->p.rows[j].first_tangent + t] = 0.0;
        }
    if (!s->is_stale) return;
    pcs_krylov_set_reset(c);
    pcs_preconditioners_fill(c->preconditioner, self->form.has_dynamics ? s->map->S : NULL);
    s->is_stale = false;
}

// Evaluates the rows at d + y0 without multipliers, from the present q.
static void schur_fill_base(pcs_step_solver *self, const pcs_step_problem *p)
{
    schur *s = self->data;
    pcs_krylov_set *c = s->contacts;
    bool sees_gaps = pcs_form_sees_gaps(&self->form) || self->form.law_is_gap;
    pcs_motion_fill_base(self, p, &s->at, s->map->curvature, sees_gaps, &c->p);
    if (c->p.held != NULL) pcs_motion_fill_held(self, p, &s->at, &c->p);
    for (int i = 0; i < c->nb; i++) {
        int row = s->map->bilateral[i], k = 2 * s->m + s->nt + i;
        c->p.b[k] = c->p.b[s->m + row];
        if (self->form.kw != 0.0) c->p.b[s->m + row] = 0.0;
    }
}

// Solves the contact problem about the present state. Returns the largest change of the motion, NAN if it fails.
static double schur_solve_contacts(pcs_step_solver *self, pcs_step_problem *p, int *iterations)
{
    schur *s = self->data;
    const pcs_schur_map *map = s->map;
    double kb = self->form.kb, change = 0.0;
    double *sum = s->at.sum, *sum_t = s->at.sum_t;
    schur_fill_contacts(self, p);
    schur_fill_base(self, p);
    if (!isfinite(pcs_rows_max(self->system, pcs_sum_largest(s->contacts->p.n, s->contacts->p.b)))) return NAN;
    bool is_converged = pcs_krylov_set_solve(s->contacts);
    *iterations += s->contacts->rounds;
    self->products += s->contacts->products;
    self->revisits += s->contacts->revisits;
    self->projections += s->contacts->projections;
    if (!is_converged) return NAN;
    schur_map_motion(s->map, s->contacts->p.z);
    bool is_finite = true, sees_positions = self->form.has_dynamics || pcs_form_sees_gaps(&self->form);
    for (int i = 0; i < s->n; i++) {
        double dd = s->at.y0[i] + map->d[i], q = sum_t[i] + kb * s->at.y0[i] + map->dq[i];
        is_finite = is_finite && isfinite(dd);
        change = pcs_larger(change, pcs_system_size(self->system, i, dd));
        if (sees_positions) change = pcs_larger(change, pcs_system_size(self->system, i, q - sum[i]) / self->form.h);
        sum_t[i] += kb * dd;
        sum[i] = q;
        s->at.U[i] = q - sum_t[i];
        p->d[i] += dd;
        s->at.W[i] = map->W[i];
        p->v[i] = s->at.v0[i] + p->d[i] + s->at.W[i];
    }
    s->at.is_at_start = s->at.rows_are_here = false;
    s->at.has_jump = true;
    pcs_motion_retract(self, p, &s->at);
    change = pcs_system_max(self->system, is_finite ? change : INFINITY);
    return isfinite(change) ? change : NAN;
}

// Computes D and W alone for z.
static void schur_find_jumps(pcs_step_solver *self, const double *z)
{
    schur *s = self->data;
    map_forces(s->map, map_stage(s->map), z);
    map_project(s->map, true, true);
    memcpy(s->at.U, s->map->D, (size_t)s->n * sizeof *s->at.U);
    memcpy(s->at.W, s->map->W, (size_t)s->n * sizeof *s->at.W);
    s->at.has_jump = true;
}

static bool schur_move(pcs_step_solver *self, const pcs_step_problem *p)
{
    return pcs_motion_move(self, p, &((schur *)self->data)->at);
}

// Starts from the impulses of joints in the step before if these are no part of its acceleration.
static void schur_guess(pcs_step_solver *self, pcs_step_problem *p)
{
    schur *s = self->data;
    double *impulse = s->contacts->p.b;
    if (!pcs_system_has_joints(self->system) || self->form.has_smooth_multipliers || !schur_move(self, p)) return;
    memset(impulse, 0, (size_t)s->contacts->p.n * sizeof *impulse);
    for (int i = 0; i < s->map->nb; i++) {
        int k = s->m + s->map->bilateral[i];
        impulse[k] = s->z_step[k];
    }
    schur_find_jumps(self, impulse);
    pcs_motion_go(self, p, &s->at);
}

static void schur_begin(pcs_step_solver *self, pcs_step_problem *p, bool is_at_start)
{
    schur *s = self->data;
    (void)p;
    if (is_at_start) memcpy(s->contacts->p.z, s->z_step, (size_t)s->contacts->p.n * sizeof(double));
}

// Returns false if a contact acts in any process: its part of the matrix rotates with its row, or appears and vanishes.
static bool schur_may_keep(const pcs_step_solver *self)
{
    const double *z = ((const schur *)self->data)->contacts->p.z; // over all rows, as processes must agree
    int m = self->system->nrow;
    bool acts = false;
    for (int j = 0; j < m && !acts; j++) acts = (z[j] != 0.0 || z[m + j] != 0.0) && !self->system->rows[j].is_bilateral;
    return !pcs_rows_any(self->system, acts);
}

static double schur_iterate(pcs_step_solver *self, pcs_step_problem *p, pcs_pass pass, int *iterations,
                            pcs_outcome *outcome)
{
    schur *s = self->data;
    if (!self->system->is_linear && (!schur_move(self, p) || !(pass.keeps_factor || schur_factor(self, p)))) {
        *outcome = PCS_SINGULAR;
        return NAN;
    }
    if (pass.keeps_factor) s->is_stale = true; // the rows have moved
    if (pass.count > 0 && s->map->curvature != NULL && self->form.kb > 0.0) {
        schur_find_jumps(self, s->contacts->p.z);
        pcs_motion_stay(self, p, &s->at);
    }
    schur_free_increment(self, p, pass.count == 0 && !s->at.is_at_start && !s->at.is_guessed);
    double change = schur_solve_contacts(self, p, iterations);
    if (isnan(change) && !isfinite(pcs_system_largest(self->system, s->at.y0))) *outcome = PCS_NOT_FINITE;
    return change;
}

static pcs_outcome schur_dynamics(pcs_step_solver *self, pcs_step_problem *p, int *iterations)
{
    schur *s = self->data;
    bool pushes = false;
    for (int i = 0; i < s->map->nb; i++) pushes = pushes || s->z_step[s->m + s->map->bilateral[i]] != 0.0;
    const pcs_outer outer = { .begin = schur_begin,
                              .guess = schur_guess,
                              .knows_joints = pushes,
                              .iterate = schur_iterate,
                              .may_keep = schur_may_keep,
                              .move = schur_move,
                              .at = &s->at,
                              .has_rotations = pcs_curvature_is_whole(s->map->curvature),
                              .contacts = &s->contacts->p };
    return pcs_outer_solve(self, p, &outer, iterations);
}

// Zeroes the multipliers of joints, as redundant ones may share their load otherwise than in the step before.
static void schur_forget_joints(pcs_step_solver *self)
{
    schur *s = self->data;
    double *z = s->contacts->p.z;
    for (int i = 0; i < s->map->nb; i++) z[s->map->bilateral[i]] = z[s->m + s->map->bilateral[i]] = 0.0;
    for (int k = 2 * s->m + s->nt; k < s->contacts->p.n; k++) z[k] = 0.0;
}

static void schur_solve(pcs_step_solver *self, pcs_step_problem *p, pcs_step_result *result)
{
    schur *s = self->data;
    const pcs_krylov_set *c = s->contacts;
    *result = (pcs_step_result){ 0 };
    if (!self->form.has_dynamics && !self->system->is_linear)
        s->is_stale = true; // the scheme has set mass and directions
    self->products = self->revisits = self->projections = 0;
    pcs_motion_take(self, p, &s->at);
    s->at.kw = 0.0; // the map has only the sum U + kw W
    s->map->at = p->base == NULL ? NULL : s->at.x;
    for (int j = 0; j < (p->held == NULL ? 0 : s->m); j++) s->held[j] = p->held[j];
    pcs_krylov_set_take(s->contacts, c->nb, p->held == NULL ? NULL : s->held);
    if (c->shared > 0.0) schur_forget_joints(self);
    memcpy(s->z_step, c->p.z, (size_t)c->p.n * sizeof(double));
    s->contacts->p.is_hasty = false;
    if (self->form.has_dynamics) {
        result->outcome = schur_dynamics(self, p, &result->iterations);
    } else {
        pcs_motion_rest(self, p, &s->at);
        if (isnan(schur_solve_contacts(self, p, &result->iterations))) result->outcome = PCS_NOT_CONVERGED;
    }
    if (result->iterations == 0) result->iterations = 1;
    if (result->outcome != PCS_CONVERGED) {
        memset(s->contacts->p.z, 0, (size_t)(2 * self->system->nrow + self->system->ntangent + c->nb) * sizeof(double));
        return;
    }
    pcs_motion_report(self, p, &s->at, &c->p);
    schur_report_smooth(self, p);
}

const pcs_step_solver_ops pcs_step_schur = {
    .name = "schur",
    .summary = "semi-smooth Newton with Krylov products, contact rows are not condensed, for many contacts",
    .data_size = sizeof(schur),
    .takes_all = true,
    .needs_no_columns = true,
    .setup = schur_setup,
    .prepare = schur_prepare,
    .solve = schur_solve,
};
