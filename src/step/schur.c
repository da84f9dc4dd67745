// Step solver `schur`: for many contacts, with friction and joints. The condensed contact problem of `newton` and
// `condensed`, but neither it nor the columns M^-1 G^T are ever formed: a product with its matrix is a solve with the
// factored M and S* (see schur_map.h), and krylov_set.h solves the problem by products, starting from the multipliers
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
#include "step/columns.h"
#include "step/outer.h"
#include "step/schur_map.h"
#include "step/sums.h"

#include <math.h>
#include <string.h>

typedef struct schur {
    int n, m, nt; // equations; rows and tangents here
    pcs_krylov_set *contacts;
    pcs_schur_map *map;
    pcs_coupling *coupling;
    double *q0, *v0, *qt, *D, *W, *y0, *q_last, *v_last; // [n]
    double *sum, *sum_t;                                 // [n] sums that q and qt come from; q and qt themselves
    double *x, *turned;                                  // [n] where positions do not add up
    double *z;                                           // multipliers: contacts->p.z
    unsigned char *gate;                                 // [nrow] contacts->p.gate
    unsigned char *held;                                 // [m] which rows are
    double *gap;                                         // [nrow] work
    double *z_step;                                      // [contacts->n] multipliers that the step starts from
    pcs_step_form factored;                              // that S* of a linear system was made for
    bool is_stale;                                       // the products have changed since the last solve
    bool rows_are_here;                                  // mass and directions stand at the present q
    bool is_at_start; // linearised at the start of the step, which is no point of the iteration
    bool is_guessed;  // the iteration began with the motion of the step before
} schur;

static pcs_status schur_make_contacts(pcs_step_solver *self)
{
    schur *s = self->data;
    const pcs_system *system = self->system;
    PCS_TRY(pcs_krylov_set_create(self->ctx, system, system->row_comm, s->map->nb, &s->contacts));
    PCS_TAKE(self->ctx, s->z_step, 2 * (s->m + s->nt) + s->map->nb, "the Schur solver");
    PCS_TAKE(self->ctx, s->gap, system->nrow, "the Schur solver");
    PCS_TAKE(self->ctx, s->held, s->m, "the Schur solver");
    s->z = s->contacts->p.z;
    s->gate = s->contacts->p.gate;
    PCS_TRY(pcs_coupling_create(self->ctx, system, s->map->G, s->map->T, system->row_comm != NULL, &s->coupling));
    PCS_TRY(pcs_preconditioner_create(self, false, s->coupling, &s->contacts->preconditioner[0]));
    return pcs_preconditioner_create(self, true, s->coupling, &s->contacts->preconditioner[1]);
}

// Numbers of multipliers in one process, where rows are dealt out.
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
    // Smooth multipliers are those of joints, whose rows come last.
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
    double **vectors[] = { &s->q0, &s->v0, &s->qt, &s->D, &s->W, &s->y0, &s->q_last, &s->v_last };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        PCS_TAKE(self->ctx, *vectors[i], s->n, "the Schur solver");
    if (system->rotations.are_somewhere) {
        double **more[] = { &s->sum, &s->sum_t, &s->x, &s->turned };
        for (size_t i = 0; i < sizeof more / sizeof *more; i++) PCS_TAKE(self->ctx, *more[i], s->n, "the Schur solver");
        self->way = s->x;
    }
    PCS_TRY(pcs_schur_map_create(self, &s->map));
    PCS_TRY(schur_make_contacts(self));
    s->contacts->product = pcs_schur_map_product;
    s->map->problem = &s->contacts->p;
    s->contacts->owner = s->map;
    int n = 2 * system->nrow + system->ntangent + s->map->nb;
    self->memory[0] = (pcs_memory){ .bytes = s->z, .size = (size_t)n * sizeof *s->z };
    self->memory[1] = (pcs_memory){ .bytes = &s->contacts->reach, .size = sizeof s->contacts->reach };
    return system->row_comm == NULL ? PCS_OK : schur_number(self, &self->memory[0]);
}

// S* for the present form; it stays while a contact problem without dynamics is solved between two steps.
static pcs_status schur_factor_once(pcs_step_solver *self, pcs_outcome *outcome)
{
    schur *s = self->data;
    if (memcmp(&s->factored, &self->form, sizeof s->factored) == 0) return PCS_OK;
    s->factored = (pcs_step_form){ 0 };
    PCS_TRY(pcs_step_factor_iteration(self, &s->map->S, &s->map->iteration, outcome));
    if (*outcome == PCS_CONVERGED) s->factored = self->form;
    return PCS_OK;
}

// S* that never changes is factored here, others in every iteration.
static pcs_status schur_prepare(pcs_step_solver *self, pcs_outcome *outcome)
{
    schur *s = self->data;
    pcs_schur_map *map = s->map;
    const pcs_step_form *form = &self->form;
    pcs_schur_map_choose(map);
    s->is_stale = true;
    pcs_krylov_set *c = s->contacts;
    c->p.h = form->h;
    c->p.has_position = form->has_position;
    c->p.gate_is_live = form->gate_is_live;
    c->shared = self->system->row_set.are_redundant ? PCS_SHARED_WEIGHT : 0.0;
    pcs_krylov_set_take(c, form->has_smooth_multipliers ? map->nb : 0, NULL);
    bool is_damped = map->kind == PCS_MAP_GENERAL;
    c->is_one_way =
        form->kw == 0.0 && pcs_system_ntangent(self->system) == 0 && !is_damped && !form->has_smooth_multipliers;
    bool is_plain = map->kind == PCS_MAP_STILL || (form->kw <= form->kb && !form->has_smooth_multipliers && !is_damped);
    c->is_symmetric = self->system->is_linear && is_plain;
    c->gate_is_free = is_damped || map->kind == PCS_MAP_STILL;
    if (!form->has_dynamics) return PCS_OK;
    if (pcs_step_is_constant(self->system)) return schur_factor_once(self, outcome);
    if (map->S != NULL) return PCS_OK;
    // In space impulses of joints turn with their rows, which the map leaves out: derivatives alone would cut steps.
    if (form->has_smooth_multipliers || !self->system->rotations.are_somewhere)
        PCS_TRY(pcs_curvature_create(self, &map->curvature));
    return pcs_step_create_iteration(self, map->curvature == NULL ? NULL : map->curvature->K->pattern, &map->S,
                                     &map->iteration);
}

// The smooth multipliers of joints.
static void schur_tell_smooth(const pcs_step_solver *self, const pcs_step_problem *p)
{
    const schur *s = self->data;
    if (!self->form.has_smooth_multipliers) return;
    for (int j = 0; j < self->system->nrow; j++) p->lam[j] = 0.0;
    for (int i = 0; i < s->map->nb; i++) // of the rows here
        p->lam[s->map->bilateral[i]] = s->z[2 * s->m + s->nt + i] / self->form.h;
}

// K at the present state, the stiffness of joints under load included.
static void schur_update_tangents(pcs_step_solver *self, const pcs_step_problem *p)
{
    schur *s = self->data;
    pcs_system *system = self->system;
    pcs_curvature *curvature = s->map->curvature;
    bool has_smooth = self->form.has_smooth_multipliers;
    bool has_joints = has_smooth && system->slopes != NULL && curvature == NULL;
    if (system->tangents_vary) system->ops->update(system, pcs_at(p->t, p->q, p->v), PCS_TANGENTS, NULL);
    schur_tell_smooth(self, p);
    if (has_joints) system->ops->update(system, pcs_at(self->t, p->q, NULL), PCS_JOINTS, p->lam);
    if (system->mass_varies) {
        for (int i = 0; i < s->n; i++) s->y0[i] = self->form.c / self->form.h * p->d[i];
        system->ops->update(system, pcs_at(self->t, p->q, NULL), PCS_INERTIA, s->y0);
    }
    if (curvature != NULL) pcs_curvature_fill(curvature, &self->form, p, p->base == NULL ? NULL : s->x, s->z);
    if (p->base != NULL && (has_joints || system->tangents_vary))
        pcs_rotate_columns(&system->rotations, s->x, system->K);
}

// S* at the present state.
static bool schur_factor(pcs_step_solver *self, const pcs_step_problem *p)
{
    schur *s = self->data;
    const pcs_system *system = self->system;
    const pcs_step_form *form = &self->form;
    bool is_singular = false;
    s->is_stale = true; // the rows have moved
    if (pcs_step_is_constant(system)) return true;
    schur_update_tangents(self, p);
    if (s->map->curvature != NULL)
        pcs_curvature_combine(s->map->curvature, form->c, form->h, form->h * form->kb, s->map->S);
    else
        pcs_matrix_combine(s->map->S, (const double[3]){ form->c, form->h, form->h * form->kb }, system->M, system->C,
                           system->K);
    if (pcs_linsolve_factor(s->map->iteration, &is_singular) != PCS_OK || is_singular) return false;
    self->nfactor++;
    return true;
}

// The change of d without multipliers, up to the present d.
static void schur_free_increment(pcs_step_solver *self, pcs_step_problem *p, bool is_first)
{
    schur *s = self->data;
    pcs_system *system = self->system;
    double h = self->form.h;
    system->ops->force(system, pcs_at(p->t, p->q, p->v), s->y0);
    for (int i = 0; i < s->n; i++) s->y0[i] *= h;
    if (!is_first) {
        pcs_matrix_add_multiply(system->M, -self->form.c, p->d, s->y0);
        pcs_schur_map_add_stiffness(s->map, h, s->D, s->y0);
        if (system->C != NULL) pcs_matrix_add_multiply(system->C, h, s->W, s->y0);
    }
    pcs_linsolve_solve(s->map->iteration, s->y0);
}

// Refills coupling and preconditioners for new products. Gaps depend on S*, velocities as far as W moves positions.
static void schur_refresh(pcs_step_solver *self)
{
    schur *s = self->data;
    const pcs_step_form *form = &self->form;
    const pcs_matrix *S = form->has_dynamics ? s->map->S : NULL;
    double way = form->kb > 0.0 ? 1.0 / form->kb : 0.0, rub = form->has_position ? 0.5 * form->h : 0.0;
    double gaps[2] = { 1.0, 1.0 }, rates[2] = { fmin(1.0, form->kw * way), fmin(1.0, (form->kw + rub) * way) };
    pcs_krylov_set_reset(s->contacts);
    pcs_coupling_fill(s->coupling, self->mass->A, S, form);
    if (s->contacts->preconditioner[0] != NULL && form->has_position)
        pcs_preconditioner_fill(s->contacts->preconditioner[0], S, gaps);
    if (s->contacts->preconditioner[1] != NULL) pcs_preconditioner_fill(s->contacts->preconditioner[1], S, rates);
}

// Masses of the projection equations, and what the form says of gates.
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
    if (s->is_stale) schur_refresh(self);
    s->is_stale = false;
}

// Returns the target velocity in the law of row j, or of tangent t, m/s.
static double schur_target(const schur *s, const pcs_step_problem *p, int j)
{
    double target = p->target[j];
    return p->target_velocity == NULL ? target : target * pcs_rows_dot(s->map->G, j, p->target_velocity);
}
static double schur_target_t(const schur *s, const pcs_step_problem *p, int t)
{
    double target = p->target_t[t];
    return p->target_velocity == NULL ? target : target * pcs_rows_dot(s->map->T, t, p->target_velocity);
}

static void schur_gaps(pcs_step_solver *self, const double *q, bool are_here, double *gap)
{
    if (are_here) pcs_system_gaps_here(self->system, pcs_at(self->t, q, NULL), gap);
    else pcs_system_gaps(self->system, pcs_at(self->t, q, NULL), gap);
}

// Values of the rows at d + y0 without multipliers, from the present q.
static void schur_fill_base(pcs_step_solver *self, pcs_step_problem *p)
{
    schur *s = self->data;
    pcs_krylov_set *c = s->contacts;
    pcs_system *system = self->system;
    double kb = self->form.kb;
    int m = s->m;
    for (int i = 0; i < s->n; i++) s->v_last[i] = s->v0[i] + p->d[i] + s->y0[i];
    pcs_rows_multiply(s->map->G, s->v_last, c->p.b + m);
    for (int j = 0; j < m; j++) c->p.b[m + j] += schur_target(s, p, j);
    if (s->nt > 0) {
        pcs_rows_multiply(s->map->T, s->v_last, c->p.b + 2 * m);
        for (int t = 0; t < s->nt; t++) c->p.b[2 * m + t] += schur_target_t(s, p, t);
    }
    pcs_rows_multiply(s->map->G, s->v_last, s->map->row);
    for (int i = 0; i < c->nb; i++)
        c->p.b[2 * m + s->nt + i] = s->map->row[s->map->bilateral[i]] + p->target[s->map->bilateral[i]];
    memset(c->p.b, 0, (size_t)m * sizeof *c->p.b);
    const double *sum = p->base == NULL ? p->q : s->sum, *sum_t = p->base == NULL ? s->qt : s->sum_t, *way = s->y0;
    for (int i = 0; i < s->n; i++) s->q_last[i] = sum_t[i] + kb * s->y0[i] - sum[i];
    if (self->form.has_dynamics) pcs_schur_map_add_turns(s->map, s->q_last, c->p.b);
    for (int i = 0; i < (self->form.kw != 0.0 ? c->nb : 0); i++)
        c->p.b[m + s->map->bilateral[i]] -= c->p.b[2 * m + s->nt + i];
    if (c->p.held != NULL) {
        for (int i = 0; i < s->n; i++) s->q_last[i] = p->drift[i] + self->form.kh * (p->d[i] + s->y0[i]);
        pcs_schur_map_hold_base(s->map, s->q_last, c->p.b);
    }
    if (!pcs_form_sees_gaps(&self->form) && !self->form.law_is_gap) return;
    if (p->base != NULL) {
        memcpy(s->turned, s->y0, (size_t)s->n * sizeof *way);
        pcs_rotate_vector(&system->rotations, s->x, s->turned);
        pcs_rotate_vector(&system->rotations, s->x, s->q_last);
        way = s->turned;
    }
    if (self->form.gate_is_live && !s->is_at_start) schur_gaps(self, s->qt, false, c->p.b_gate);
    schur_gaps(self, p->q, s->rows_are_here, c->p.b);
    pcs_rows_multiply(s->map->G, way, s->map->row);
    for (int j = 0; j < m; j++) c->p.b_gate[j] += kb * s->map->row[j];
    pcs_rows_multiply(s->map->G, s->q_last, s->map->row);
    for (int j = 0; j < m; j++) c->p.b[j] += s->map->row[j];
    if (s->is_at_start) memcpy(c->p.b_gate, c->p.b, (size_t)m * sizeof *c->p.b);
    // d and W move the gap and kb times the velocity alike.
    if (self->form.law_is_gap)
        for (int j = 0; j < m; j++) c->p.b[m + j] = c->p.b[j] / kb;
}

// q and qt for the sums of increments, where they do not add up.
static void schur_retract(pcs_step_solver *self, pcs_step_problem *p)
{
    schur *s = self->data;
    if (p->base == NULL) return;
    for (int i = 0; i < s->n; i++) s->x[i] = s->sum_t[i] - p->base[i];
    pcs_retract(&self->system->rotations, p->base, s->x, s->qt);
    for (int i = 0; i < s->n; i++) s->x[i] = s->sum[i] - p->base[i];
    pcs_retract(&self->system->rotations, p->base, s->x, p->q);
    s->map->at = s->x;
}

// Settles the contact problem about the present state; gives the largest change of the motion, NAN when it fails.
static double schur_solve_contacts(pcs_step_solver *self, pcs_step_problem *p, int *iterations)
{
    schur *s = self->data;
    const pcs_schur_map *map = s->map;
    double kb = self->form.kb, change = 0.0;
    double *sum = p->base == NULL ? p->q : s->sum, *sum_t = p->base == NULL ? s->qt : s->sum_t;
    schur_fill_contacts(self, p);
    schur_fill_base(self, p);
    if (!isfinite(pcs_all_largest(self->system->row_comm, s->contacts->p.n, s->contacts->p.b))) return NAN;
    bool is_settled = pcs_krylov_set_solve(s->contacts);
    *iterations += s->contacts->rounds;
    self->products += s->contacts->products;
    self->revisits += s->contacts->revisits;
    self->projections += s->contacts->projections;
    if (!is_settled) return NAN;
    pcs_schur_map_motion(s->map, s->contacts->p.z);
    bool is_finite = true, sees_positions = self->form.has_dynamics || pcs_form_sees_gaps(&self->form);
    for (int i = 0; i < s->n; i++) {
        double dd = s->y0[i] + map->d[i], q = sum_t[i] + kb * s->y0[i] + map->dq[i];
        is_finite = is_finite && isfinite(dd);
        change = pcs_larger(change, pcs_system_size(self->system, i, dd));
        if (sees_positions) change = pcs_larger(change, pcs_system_size(self->system, i, q - sum[i]) / self->form.h);
        sum_t[i] += kb * dd;
        sum[i] = q;
        s->D[i] = q - sum_t[i];
        p->d[i] += dd;
        s->W[i] = map->W[i];
        p->v[i] = s->v0[i] + p->d[i] + s->W[i];
    }
    s->is_at_start = s->rows_are_here = false;
    schur_retract(self, p);
    change = pcs_system_max(self->system, is_finite ? change : INFINITY);
    return isfinite(change) ? change : NAN;
}

// No increment, no multipliers in the motion.
static void schur_clear(pcs_step_solver *self, pcs_step_problem *p)
{
    schur *s = self->data;
    size_t bytes = (size_t)s->n * sizeof(double);
    s->map->at = NULL;
    s->is_at_start = s->rows_are_here = false;
    memcpy(p->q, s->q0, bytes);
    memcpy(p->v, s->v0, bytes);
    memcpy(s->qt, s->q0, bytes);
    memset(p->d, 0, bytes);
    memset(s->D, 0, bytes);
    memset(s->W, 0, bytes);
    memset(s->y0, 0, bytes);
    if (p->base == NULL) return;
    memcpy(s->sum, s->q0, bytes);
    memcpy(s->sum_t, s->q0, bytes);
    schur_retract(self, p);
}

static bool schur_move(pcs_step_solver *self, const pcs_step_problem *p)
{
    schur *s = self->data;
    if (!s->rows_are_here) s->rows_are_here = pcs_projection_move_along(self, p->q, p->base == NULL ? NULL : s->x);
    return s->rows_are_here;
}

static bool schur_goes_on(const pcs_step_solver *self, const pcs_step_problem *p)
{
    const schur *s = self->data;
    bool pushes = false;
    for (int i = 0; i < s->map->nb; i++) pushes = pushes || s->z_step[s->m + s->map->bilateral[i]] != 0.0;
    return pcs_outer_goes_on(self, p, pushes);
}

// q and v of d, D and W.
static void schur_place(pcs_step_solver *self, pcs_step_problem *p)
{
    schur *s = self->data;
    double *sum = p->base == NULL ? p->q : s->sum, *sum_t = p->base == NULL ? s->qt : s->sum_t;
    for (int i = 0; i < s->n; i++) {
        sum_t[i] = s->q0[i] + self->form.kb * p->d[i];
        sum[i] = sum_t[i] + s->D[i];
        p->v[i] = s->v0[i] + p->d[i] + s->W[i];
    }
    s->rows_are_here = false;
    schur_retract(self, p);
}

// The motion of the step before goes on; so do the impulses of joints that are no part of its acceleration.
static void schur_guess(pcs_step_solver *self, pcs_step_problem *p)
{
    schur *s = self->data;
    double *impulse = s->contacts->p.b;
    for (int i = 0; i < s->n; i++) p->d[i] = self->form.h / self->form.c * p->acceleration[i];
    schur_place(self, p);
    if (!pcs_system_has_joints(self->system) || self->form.has_smooth_multipliers || !schur_move(self, p)) return;
    memset(impulse, 0, (size_t)s->contacts->p.n * sizeof *impulse);
    for (int i = 0; i < s->map->nb; i++) {
        int k = s->m + s->map->bilateral[i];
        impulse[k] = s->z_step[k];
    }
    pcs_schur_map_jumps(s->map, impulse);
    memcpy(s->D, s->map->D, (size_t)s->n * sizeof *s->D);
    memcpy(s->W, s->map->W, (size_t)s->n * sizeof *s->W);
    schur_place(self, p);
}

// Begins an iteration. D and W hold the offset of the start of the step, which is no point q(d), v(d) of the iteration.
static void schur_begin(pcs_step_solver *self, pcs_step_problem *p, bool is_at_start)
{
    schur *s = self->data;
    double *sum = p->base == NULL ? p->q : s->sum;
    schur_clear(self, p);
    s->is_at_start = is_at_start;
    s->is_guessed = !is_at_start && schur_goes_on(self, p);
    if (s->is_guessed) schur_guess(self, p);
    if (!is_at_start) return;
    memcpy(s->contacts->p.z, s->z_step, (size_t)s->contacts->p.n * sizeof(double));
    for (int i = 0; i < s->n; i++) {
        s->D[i] = p->q_start[i] - s->q0[i];
        s->W[i] = p->v_start[i] - s->v0[i];
        sum[i] = p->q[i] = p->q_start[i];
        p->v[i] = p->v_start[i];
        if (p->base != NULL) s->x[i] = 0.0;
    }
}

// The multipliers act along the rows of the present place. The linearisation has foreseen how these turn: what that
// does to q stays, and d makes up for it.
static void schur_keep_place(pcs_step_solver *self, pcs_step_problem *p)
{
    schur *s = self->data;
    double *sum_t = p->base == NULL ? s->qt : s->sum_t;
    pcs_schur_map_jumps(s->map, s->contacts->p.z);
    for (int i = 0; i < s->n; i++) {
        double excess = self->form.kb > 0.0 ? (s->map->D[i] - s->D[i]) / self->form.kb : 0.0;
        p->d[i] -= excess;
        sum_t[i] -= self->form.kb * excess;
        s->D[i] = s->map->D[i];
        s->W[i] = s->map->W[i];
        p->v[i] = s->v0[i] + p->d[i] + s->W[i];
    }
    schur_retract(self, p);
}

// False if a contact acts on any rank: its part of the matrix rotates with its row, and may appear and vanish.
static bool schur_may_keep(const pcs_step_solver *self)
{
    const double *z = ((const schur *)self->data)->z; // of all rows: ranks must agree
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
    if (pass.count > 0 && s->map->curvature != NULL) schur_keep_place(self, p);
    schur_free_increment(self, p, pass.count == 0 && !s->is_at_start && !s->is_guessed);
    double change = schur_solve_contacts(self, p, iterations);
    if (isnan(change) && !isfinite(pcs_system_largest(self->system, s->y0))) *outcome = PCS_NOT_FINITE;
    return change;
}

static bool schur_is_provisional(pcs_step_solver *self, const pcs_step_problem *p)
{
    (void)self;
    (void)p;
    return false;
}

static pcs_outcome schur_dynamics(pcs_step_solver *self, pcs_step_problem *p, int *iterations)
{
    schur *s = self->data;
    const pcs_outer outer = { .begin = schur_begin,
                              .iterate = schur_iterate,
                              .may_keep = schur_may_keep,
                              .is_provisional = schur_is_provisional,
                              .move = schur_move,
                              .v0 = s->v0,
                              .change = s->y0,
                              .has_turns = pcs_curvature_is_whole(s->map->curvature),
                              .z = s->z,
                              .is_hasty = &s->contacts->p.is_hasty,
                              .work = s->gap };
    return pcs_outer_solve(self, p, &outer, iterations);
}

// Zeroes the multipliers of joints: redundant ones may share their load otherwise than in the step before.
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
        s->is_stale = true; // mass and directions stand where the scheme has put them
    self->products = self->revisits = self->projections = 0;
    memcpy(s->q0, p->q, (size_t)s->n * sizeof(double));
    memcpy(s->v0, p->v, (size_t)s->n * sizeof(double));
    for (int j = 0; j < (p->held == NULL ? 0 : s->m); j++) s->held[j] = p->held[j];
    pcs_krylov_set_take(s->contacts, c->nb, p->held == NULL ? NULL : s->held);
    if (c->shared > 0.0) schur_forget_joints(self);
    memcpy(s->z_step, c->p.z, (size_t)c->p.n * sizeof(double));
    schur_clear(self, p);
    s->contacts->p.is_hasty = false;
    if (self->form.has_dynamics) {
        result->outcome = schur_dynamics(self, p, &result->iterations);
    } else if (isnan(schur_solve_contacts(self, p, &result->iterations))) {
        result->outcome = PCS_NOT_CONVERGED;
    }
    if (result->iterations == 0) result->iterations = 1;
    if (result->outcome != PCS_CONVERGED) {
        memset(s->z, 0, (size_t)(2 * self->system->nrow + self->system->ntangent + c->nb) * sizeof(double));
        return;
    }
    for (int i = 0; i < s->n; i++) s->v_last[i] = p->v[i] - s->W[i];
    pcs_rows_multiply(self->system->G, s->v_last, p->rate_before);
    int m = self->system->nrow;
    for (int j = 0; j < m; j++) {
        p->nu[j] = s->z[j];
        p->la[j] = s->z[m + j];
        p->gate[j] = s->gate[j] || self->system->rows[j].is_bilateral;
    }
    for (int t = 0; t < self->system->ntangent; t++) p->la_t[t] = s->z[2 * m + t];
    schur_tell_smooth(self, p);
    if (p->nu_t != NULL && c->p.held == NULL) memset(p->nu_t, 0, (size_t)self->system->ntangent * sizeof *p->nu_t);
    if (p->nu_t != NULL && c->p.held != NULL)
        memcpy(p->nu_t, c->p.z + c->p.n - c->p.nheld_t, (size_t)s->nt * sizeof *p->nu_t);
    if (p->smooth_gap != NULL) pcs_system_gaps(self->system, pcs_at(self->t, s->qt, NULL), p->smooth_gap);
}

const pcs_step_solver_ops pcs_step_schur = {
    .name = "schur",
    .summary = "semi-smooth Newton and Krylov on contact rows that are never condensed, for many contacts",
    .data_size = sizeof(schur),
    .takes_all = true,
    .needs_no_columns = true,
    .setup = schur_setup,
    .prepare = schur_prepare,
    .solve = schur_solve,
};
