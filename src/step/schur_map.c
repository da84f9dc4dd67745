#include "step/schur_map.h"

#include "step/columns.h"
#include "step/sums.h"

#include <math.h>
#include <string.h>

// A copy of R without the entries that are zero.
static pcs_status map_pack(pcs_context *ctx, const pcs_rows *R, pcs_rows **out)
{
    int nnz = 0;
    for (int p = 0; p < R->start[R->nrow]; p++) nnz += R->value[p] != 0.0;
    PCS_TRY(pcs_rows_create(ctx, R->nrow, R->ncol, nnz, out));
    (*out)->halo = R->halo;
    nnz = 0;
    for (int j = 0; j < R->nrow; j++) {
        for (int p = R->start[j]; p < R->start[j + 1]; p++) {
            if (R->value[p] == 0.0) continue;
            (*out)->column[nnz] = R->column[p];
            (*out)->value[nnz++] = R->value[p];
        }
        (*out)->start[j + 1] = nnz;
    }
    return PCS_OK;
}

// Rows that never change lose the entries that are zero.
static pcs_status map_take_rows(pcs_schur_map *map)
{
    const pcs_system *system = map->solver->system;
    pcs_rows *G, *T;
    map->G = system->G;
    map->T = system->T;
    map->Gx = map->solver->projection->Gx;
    map->Tx = map->solver->projection->Tx;
    if (!system->is_linear) return PCS_OK;
    PCS_TRY(map_pack(map->solver->ctx, system->G, &G));
    map->G = G;
    if (map->Gx != NULL) map->Gx = G;
    if (system->T == NULL) return PCS_OK;
    PCS_TRY(map_pack(map->solver->ctx, system->T, &T));
    map->T = T;
    if (map->Tx != NULL) map->Tx = T;
    return PCS_OK;
}

pcs_status pcs_schur_map_create(pcs_step_solver *solver, pcs_schur_map **out)
{
    pcs_schur_map *map;
    const pcs_system *system = solver->system;
    PCS_TAKE(solver->ctx, map, 1, "the contact operator");
    map->solver = solver;
    double **vectors[] = { &map->fq, &map->fv, &map->fs, &map->D, &map->W, &map->d, &map->dq, &map->dv };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        PCS_TAKE(solver->ctx, *vectors[i], system->nv, "the contact operator");
    PCS_TAKE(solver->ctx, map->bilateral, system->nrow, "the contact operator");
    PCS_TAKE(solver->ctx, map->row, system->nrow + system->ntangent, "the contact operator");
    for (int j = 0; j < system->nrow; j++)
        if (system->rows[j].is_bilateral) map->bilateral[map->nb++] = j;
    *out = map;
    return map_take_rows(map);
}

static bool map_is_damped(const pcs_system *system)
{
    return system->C != NULL && (pcs_system_is_damped(system) || !system->is_linear);
}

void pcs_schur_map_choose(pcs_schur_map *map)
{
    const pcs_step_form *form = &map->solver->form;
    bool is_short = !form->has_position && !form->gate_is_live && form->kw == form->kb && form->kh == 0.0;
    is_short = is_short && !form->has_smooth_multipliers;
    map->kind = PCS_MAP_GENERAL;
    if (!map_is_damped(map->solver->system) && form->kb != 0.0) map->kind = PCS_MAP_UNDAMPED;
    if (is_short) map->kind = PCS_MAP_SHORT;
    if (!form->has_dynamics) map->kind = PCS_MAP_STILL;
}

// Equations that somebody looks at; K and C look at copies, too.
static int map_size(const pcs_schur_map *map)
{
    const pcs_system *system = map->solver->system;
    return map->is_for_rows && map->kind != PCS_MAP_GENERAL ? pcs_system_nown(system) : system->nv;
}

// x = sum of two multiples, in place of what it was.
static void map_combine(int n, double a, const double *y, double b, const double *z, double *x)
{
    for (int i = 0; i < n; i++) x[i] = a * y[i] + b * z[i];
}

// Forces of the multipliers: fq, fv, fs.
static void map_forces(pcs_schur_map *map, int in, const double *z)
{
    const pcs_system *system = map->solver->system;
    const pcs_step_form *form = &map->solver->form;
    const pcs_rows *G = map->Gx, *T = map->Tx;
    int m = map->solver->system->nrow;
    size_t bytes = (size_t)map_size(map) * sizeof(double);
    bool rubs = pcs_system_ntangent(system) > 0 && in & PCS_STAGE_RATE; // on some rank
    bool has_nu = (form->has_position || map->problem->held != NULL) && in & PCS_STAGE_GAP;
    map->has_fq = has_nu || (form->has_position && rubs);
    map->has_fv = in & PCS_STAGE_RATE;
    map->has_fs = form->has_smooth_multipliers && in & PCS_STAGE_RATE;
    memset(map->fq, 0, bytes);
    memset(map->fv, 0, bytes);
    memset(map->fs, 0, bytes);
    if (has_nu) pcs_rows_add_all(G, 1.0, z, map->fq);
    if (has_nu && map->problem->nheld_t > 0)
        pcs_rows_add_all(T, 1.0, z + map->problem->n - map->problem->nheld_t, map->fq);
    if (form->has_position && rubs) pcs_rows_add_all(T, 0.5 * form->h, z + 2 * m, map->fq);
    if (map->has_fv) pcs_rows_add_all(G, 1.0, z + m, map->fv);
    if (rubs) pcs_rows_add_all(T, 1.0, z + 2 * m, map->fv);
    if (map->has_fs)
        for (int i = 0; i < map->nb; i++)
            pcs_rows_add_transposed(map->G, map->bilateral[i], z[2 * m + map->solver->system->ntangent + i], map->fs);
}

static void map_solve(const pcs_schur_map *map, pcs_linsolve *solver, double *x)
{
    if (map->is_for_rows) pcs_linsolve_solve_own(solver, x);
    else pcs_linsolve_solve(solver, x);
}

// x = M^-1 (a fq + b fv)
static void map_mass_solve(pcs_schur_map *map, double a, double b, double *x)
{
    map_combine(map_size(map), a, map->fq, b, map->fv, x);
    if ((a != 0.0 && map->has_fq) || (b != 0.0 && map->has_fv)) map_solve(map, map->solver->mass, x);
}

// D and W, each only where asked for.
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

static void map_still(pcs_schur_map *map, bool wants_q, bool wants_v)
{
    int n = map_size(map);
    map_project(map, wants_q, wants_v);
    if (wants_q) memcpy(map->dq, map->D, (size_t)n * sizeof(double));
    if (wants_v) memcpy(map->dv, map->W, (size_t)n * sizeof(double));
}

// dv, and dq = kb dv.
static void map_short(pcs_schur_map *map, bool wants_q)
{
    const pcs_step_form *form = &map->solver->form;
    int n = map_size(map);
    map_combine(n, form->c, map->fv, 0.0, map->fv, map->dv);
    map_solve(map, map->iteration, map->dv);
    if (wants_q) map_combine(n, form->kb, map->dv, 0.0, map->dv, map->dq);
}

// d is made where `wants_d`; otherwise velocities take one solve with the mass instead of two.
static void map_undamped(pcs_schur_map *map, bool wants_v, bool wants_d)
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
        map_mass_solve(map, -1.0, kb - kw, map->dv);
        map_combine(n, 1.0 / kb, map->dq, 1.0 / kb, map->dv, map->dv);
    }
}

void pcs_schur_map_add_stiffness(const pcs_schur_map *map, double scale, const double *x, double *y)
{
    pcs_matrix_add_multiply(map->solver->system->K, scale, x, y);
    if (map->curvature != NULL) pcs_matrix_add_multiply(map->curvature->K, scale, x, y);
}

static void map_general(pcs_schur_map *map)
{
    const pcs_system *system = map->solver->system;
    const pcs_step_form *form = &map->solver->form;
    int n = system->nv;
    bool is_for_rows = map->is_for_rows;
    map->is_for_rows = false; // K and C look at copies
    map_project(map, true, true);
    map->is_for_rows = is_for_rows;
    memcpy(map->d, map->fs, (size_t)n * sizeof(double));
    pcs_schur_map_add_stiffness(map, -form->h, map->D, map->d);
    if (system->C != NULL) pcs_matrix_add_multiply(system->C, -form->h, map->W, map->d);
    map_solve(map, map->iteration, map->d);
    map_combine(n, form->kb, map->d, 1.0, map->D, map->dq);
    map_combine(n, 1.0, map->d, 1.0, map->W, map->dv);
}

void pcs_schur_map_add_turns(const pcs_schur_map *map, const double *dx, double *value)
{
    const pcs_step_form *form = &map->solver->form;
    int m = map->solver->system->nrow, nt = map->solver->system->ntangent;
    if (map->curvature == NULL || form->law_is_gap) return;
    for (int i = 0; i < map->nb; i++) {
        double turn = pcs_rows_dot(map->curvature->H, map->bilateral[i], dx);
        value[m + map->bilateral[i]] += turn;
        if (form->has_smooth_multipliers) value[2 * m + nt + i] += turn;
    }
}

// Converts, in place, a change dx of the increment to the material rotations that rows multiply: dx := T(x) dx.
static void map_turn(const pcs_schur_map *map, double *dx)
{
    if (map->at != NULL) pcs_rotate_vector(&map->solver->system->rotations, map->at, dx);
}

// G (U + kh d) of all rows, G U of joints, and the same of the tangents.
static void map_hold(pcs_schur_map *map, double *value)
{
    const pcs_step_form *form = &map->solver->form;
    const pcs_contact_problem *p = map->problem;
    int n = map_size(map), m = map->solver->system->nrow;
    double *value_t = value + p->n - p->nheld_t;
    map_combine(n, 1.0, map->D, -form->kw, map->W, map->fq); // U
    pcs_rows_multiply(map->G, map->fq, value);
    pcs_rows_multiply(map->G, map->d, map->row);
    for (int j = 0; j < m; j++)
        if (!map->solver->system->rows[j].is_bilateral) value[j] += form->kh * map->row[j];
    if (p->nheld_t == 0) return;
    pcs_rows_multiply(map->T, map->fq, value_t);
    pcs_rows_multiply(map->T, map->d, map->row);
    for (int t = 0; t < p->nheld_t; t++) value_t[t] += form->kh * map->row[t];
}

void pcs_schur_map_product(void *owner, int in, int out, const double *z, double *value, double *gate_gap)
{
    pcs_schur_map *map = owner;
    const pcs_step_form *form = &map->solver->form;
    int m = map->solver->system->nrow, nt = map->solver->system->ntangent;
    bool wants_q = out & PCS_STAGE_GAP, wants_v = out & PCS_STAGE_RATE;
    bool has_smooth = form->has_smooth_multipliers && wants_v, holds = map->problem->held != NULL;
    bool wants_d = gate_gap != NULL || has_smooth || holds;
    map->is_for_rows = map->solver->system->row_comm != NULL && map->G->halo == NULL;
    map_forces(map, in, z);
    switch (map->kind) {
    case PCS_MAP_STILL: map_still(map, wants_q, wants_v); break;
    case PCS_MAP_SHORT: map_short(map, wants_q || map->curvature != NULL); break;
    case PCS_MAP_UNDAMPED: map_undamped(map, wants_v, wants_d); break;
    case PCS_MAP_GENERAL: map_general(map); break;
    }
    map->is_for_rows = false;
    bool has_turns = wants_v && map->curvature != NULL && map->kind != PCS_MAP_STILL;
    if (wants_v) pcs_rows_multiply(map->G, map->dv, value + m);
    if (has_smooth) memset(value + 2 * m + nt, 0, (size_t)map->nb * sizeof *value);
    if (has_turns) pcs_schur_map_add_turns(map, map->dq, value);
    if (holds) map_hold(map, value);
    if (wants_q && !holds) map_turn(map, map->dq);
    if (wants_q && !holds) pcs_rows_multiply(map->G, map->dq, value);
    if (wants_v && nt > 0) pcs_rows_multiply(map->T, map->dv, value + 2 * m);
    if (gate_gap != NULL)
        for (int j = 0; j < m; j++) gate_gap[j] = 0.0;
    if (!wants_d || map->kind == PCS_MAP_STILL) return;
    // Joints hold without their impulses, G d, and so G W says the rest. Where W moves positions G dv has the round-off
    // of S*^-1 K W, which no iteration would get below where K is stiff.
    bool is_parted = has_smooth && form->kw != 0.0;
    if (is_parted) pcs_rows_multiply(map->G, map->W, map->row);
    for (int i = 0; i < (is_parted ? map->nb : 0); i++) value[m + map->bilateral[i]] = map->row[map->bilateral[i]];
    pcs_rows_multiply(map->G, map->d, map->row);
    if (has_smooth)
        for (int i = 0; i < map->nb; i++) value[2 * m + nt + i] += map->row[map->bilateral[i]];
    if (gate_gap == NULL) return;
    if (map->at != NULL) {
        map_turn(map, map->d);
        pcs_rows_multiply(map->G, map->d, map->row);
    }
    for (int j = 0; j < m; j++) gate_gap[j] = form->kb * map->row[j];
}

void pcs_schur_map_hold_base(pcs_schur_map *map, const double *way, double *b)
{
    const pcs_contact_problem *p = map->problem;
    pcs_rows_multiply(map->G, way, b);
    for (int i = 0; i < map->nb; i++) b[map->bilateral[i]] = 0.0;
    if (p->nheld_t > 0) pcs_rows_multiply(map->T, way, b + p->n - p->nheld_t);
}

// Parts of z that move anything.
static int map_stage(const pcs_schur_map *map)
{
    return map->solver->form.has_position || map->problem->held != NULL ? PCS_STAGE_BOTH : PCS_STAGE_RATE;
}

void pcs_schur_map_jumps(pcs_schur_map *map, const double *z)
{
    map_forces(map, map_stage(map), z);
    map_project(map, true, true);
}

void pcs_schur_map_motion(pcs_schur_map *map, const double *z)
{
    int n = map->solver->system->nv;
    map_forces(map, map_stage(map), z);
    switch (map->kind) {
    case PCS_MAP_STILL:
        map_still(map, true, true);
        memset(map->d, 0, (size_t)n * sizeof(double));
        break;
    case PCS_MAP_SHORT:
        map_short(map, true);
        map_project(map, false, true);
        map_combine(n, 1.0, map->dv, -1.0, map->W, map->d);
        break;
    case PCS_MAP_UNDAMPED: map_undamped(map, true, true); break;
    case PCS_MAP_GENERAL: map_general(map); break;
    }
}
