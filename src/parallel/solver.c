// Linear solver `petsc`: distributed matrices, Krylov methods and factorizations chosen by PETSc's own options.
//
// The rows of a rank's own equations go to PETSc in the fixed order of the values (coordinate assembly: the places are
// told once, later only values). A solve reads the right-hand side of the own equations and gives the solution on
// those and on the copies.
//
// Defaults, measured in docs/scaling.md: on one rank factors (CHOLMOD, UMFPACK); on several conjugate gradients to
// 1e-12 in the energy norm, preconditioned by incomplete factors of each rank's diagonal block, which on chains are
// exact, and for general matrices LU factors (MUMPS). Options may carry the prefix mass_ or iteration_, or stand for
// both matrices.

#include "linsolve/linsolve.h"
#include "parallel/parallel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct solver_data {
    Mat A;
    KSP ksp;
    Vec b, x;    // over own equations; x with the copies of neighbours behind them
    Vec x_local; // x as one array
} solver_data;

static const double default_tolerance = 1e-12;
enum { MOST_ITERATIONS = 5000 };

static const char *solver_refuses(const pcs_pattern *pattern, pcs_linsolve_kind kind)
{
    (void)kind;
    return pattern->layout == NULL ? "it takes assembled models" : NULL;
}

static void solver_release(void *object)
{
    solver_data *d = object;
    PetscBool is_done = PETSC_FALSE;
    if (PetscFinalized(&is_done) != 0 || is_done) return;
    if (d->x_local != NULL) (void)VecGhostRestoreLocalForm(d->x, &d->x_local);
    (void)VecDestroy(&d->x);
    (void)VecDestroy(&d->b);
    (void)KSPDestroy(&d->ksp);
    (void)MatDestroy(&d->A);
}

static PetscErrorCode solver_make_matrix(const pcs_linsolve *self, const pcs_parallel *parallel)
{
    solver_data *d = self->data;
    const pcs_pattern *pattern = self->A->pattern;
    const pcs_layout *layout = pattern->layout;
    PetscInt *i, *j;
    PetscCall(MatCreate(parallel->world, &d->A));
    PetscCall(MatSetSizes(d->A, layout->nown, layout->nown, layout->nglobal, layout->nglobal));
    PetscCall(MatSetType(d->A, MATAIJ));
    if (self->kind == PCS_SPD) PetscCall(MatSetOption(d->A, MAT_SPD, PETSC_TRUE));
    if (self->kind == PCS_SPD) PetscCall(MatSetOption(d->A, MAT_SPD_ETERNAL, PETSC_TRUE));
    PetscCall(PetscMalloc2((size_t)pattern->nnz, &i, (size_t)pattern->nnz, &j));
    for (int column = 0; column < pattern->n; column++)
        for (int p = pattern->start[column]; p < pattern->start[column + 1]; p++) {
            bool is_own = pattern->row[p] < layout->nown; // negative: PETSc skips the value
            i[p] = is_own ? layout->global[pattern->row[p]] : -1;
            j[p] = is_own ? layout->global[column] : -1;
        }
    PetscCall(MatSetPreallocationCOO(d->A, pattern->nnz, i, j));
    PetscCall(PetscFree2(i, j));
    return 0;
}

static PetscErrorCode solver_make_vectors(const pcs_linsolve *self, const pcs_parallel *parallel)
{
    solver_data *d = self->data;
    const pcs_layout *layout = self->A->pattern->layout;
    PetscInt *ghost, nghost = layout->n - layout->nfar - layout->nown;
    PetscCall(VecCreateMPI(parallel->world, layout->nown, layout->nglobal, &d->b));
    PetscCall(PetscMalloc1((size_t)nghost + 1, &ghost));
    for (PetscInt k = 0; k < nghost; k++) ghost[k] = layout->global[layout->nown + k];
    PetscCall(VecCreateGhost(parallel->world, layout->nown, layout->nglobal, nghost, ghost, &d->x));
    PetscCall(PetscFree(ghost));
    PetscCall(VecGhostGetLocalForm(d->x, &d->x_local));
    return 0;
}

// Sets the default of a PETSc option, here one of the blocks, unless the user has given that option.
static PetscErrorCode solver_default(const char *prefix, const char *name, const char *value)
{
    char text[128];
    PetscBool is_given;
    PetscCall(PetscSNPrintf(text, sizeof text, "-%s%s", prefix, name));
    PetscCall(PetscOptionsHasName(NULL, NULL, text, &is_given));
    if (!is_given) PetscCall(PetscOptionsSetValue(NULL, text, value));
    return 0;
}

// Returns true if the preconditioner is a complete factorization, which solves the system by itself.
static bool solver_is_exact(const char *pc)
{
    return strcmp(pc, PCLU) == 0 || strcmp(pc, PCCHOLESKY) == 0;
}

// Sets conjugate gradients with a factor of the block of each rank; forces and moments have no common norm, energies
// have: the natural norm is near r . A^-1 r, which the method minimises.
static PetscErrorCode solver_prefer_gradients(KSP ksp, PC pc, const char *prefix)
{
    PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPSetNormType(ksp, KSP_NORM_NATURAL));
    PetscCall(PCSetType(pc, PCBJACOBI));
    PetscCall(solver_default(prefix, "sub_ksp_type", "preonly"));
    return solver_default(prefix, "sub_pc_type", "icc");
}

static PetscErrorCode solver_prefer_factors(KSP ksp, PC pc, bool is_spd, bool is_alone)
{
    PetscCall(KSPSetType(ksp, KSPPREONLY));
    PetscCall(PCSetType(pc, is_spd ? PCCHOLESKY : PCLU));
    if (!is_alone) return PCFactorSetMatSolverType(pc, MATSOLVERMUMPS);
    return PCFactorSetMatSolverType(pc, is_spd ? MATSOLVERCHOLMOD : MATSOLVERUMFPACK);
}

// Sets the defaults: iterates if the user names a preconditioner that is not exact.
static PetscErrorCode solver_prefer(const pcs_linsolve *self, const char *prefix, bool is_alone)
{
    solver_data *d = self->data;
    char name[128], asked[64] = "";
    PetscBool is_given;
    PC pc;
    bool is_spd = self->kind == PCS_SPD;
    PetscCall(KSPGetPC(d->ksp, &pc));
    PetscCall(PetscSNPrintf(name, sizeof name, "-%spc_type", prefix));
    PetscCall(PetscOptionsGetString(NULL, NULL, name, asked, sizeof asked, &is_given));
    bool is_iterated = is_given ? !solver_is_exact(asked) : is_spd && !is_alone;
    if (!is_iterated) return solver_prefer_factors(d->ksp, pc, is_spd, is_alone);
    if (is_spd) return solver_prefer_gradients(d->ksp, pc, prefix);
    return KSPSetType(d->ksp, KSPGMRES);
}

static PetscErrorCode solver_make_ksp(const pcs_linsolve *self, const pcs_parallel *parallel)
{
    solver_data *d = self->data;
    char prefix[64];
    PC pc;
    KSPType ksp_type = NULL;
    PCType pc_type = NULL;
    PetscCall(PetscSNPrintf(prefix, sizeof prefix, "%s%s", self->label, self->label[0] == '\0' ? "" : "_"));
    if (prefix[0] != '\0') PetscCall(pcs_parallel_spread_options(parallel, prefix));
    PetscCall(KSPCreate(parallel->world, &d->ksp));
    PetscCall(KSPSetOptionsPrefix(d->ksp, prefix));
    PetscCall(KSPSetOperators(d->ksp, d->A, d->A));
    PetscCall(KSPSetTolerances(d->ksp, default_tolerance, PETSC_DEFAULT, PETSC_DEFAULT, MOST_ITERATIONS));
    PetscCall(solver_prefer(self, prefix, parallel->comm.size == 1));
    PetscCall(KSPSetFromOptions(d->ksp));
    PetscCall(KSPGetPC(d->ksp, &pc));
    PetscCall(KSPGetType(d->ksp, &ksp_type));
    PetscCall(PCGetType(pc, &pc_type));
    PetscCheck(strcmp(ksp_type, KSPPREONLY) != 0 || solver_is_exact(pc_type), parallel->world, PETSC_ERR_USER_INPUT,
               "-ksp_type preonly goes with -pc_type lu or cholesky, not with %s", pc_type);
    return 0;
}

// Writes the title of the solver, e.g. "petsc cg/bjacobi to 1e-12".
static pcs_status solver_describe(pcs_linsolve *self)
{
    solver_data *d = self->data;
    char text[128];
    KSPType ksp = NULL;
    PCType type = NULL;
    PC pc;
    double tolerance = 0.0;
    PCS_PETSC(self->ctx, "choice of the solver", KSPGetPC(d->ksp, &pc));
    PCS_PETSC(self->ctx, "choice of the solver", KSPGetType(d->ksp, &ksp));
    PCS_PETSC(self->ctx, "choice of the solver", PCGetType(pc, &type));
    PCS_PETSC(self->ctx, "choice of the solver", KSPGetTolerances(d->ksp, &tolerance, NULL, NULL, NULL));
    if (ksp == NULL || strcmp(ksp, KSPPREONLY) == 0) snprintf(text, sizeof text, "petsc %s", type == NULL ? "" : type);
    else snprintf(text, sizeof text, "petsc %s/%s to %g", ksp, type == NULL ? "none" : type, tolerance);
    self->title = pcs_take_text(self->ctx, text);
    return self->title == NULL ? PCS_NO_MEMORY : PCS_OK;
}

static pcs_status solver_analyze(pcs_linsolve *self)
{
    const pcs_parallel *parallel = self->A->pattern->layout->comm->data;
    PCS_TRY(pcs_defer(self->ctx, solver_release, self->data));
    PCS_PETSC(self->ctx, "assembly", solver_make_matrix(self, parallel));
    PCS_PETSC(self->ctx, "set-up of vectors", solver_make_vectors(self, parallel));
    PCS_PETSC(self->ctx, "choice of the solver", solver_make_ksp(self, parallel));
    return solver_describe(self);
}

// Returns the first equation whose diagonal entry is not positive, or -1; only for positive definite matrices.
static int solver_bad_diagonal(const pcs_linsolve *self)
{
    const pcs_pattern *pattern = self->A->pattern;
    if (self->kind != PCS_SPD) return -1;
    for (int j = 0; j < pattern->layout->nown; j++)
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++)
            if (pattern->row[p] == j && !(self->A->value[p] > 0.0)) return j;
    return -1;
}

static PetscErrorCode solver_set_up(const pcs_linsolve *self, bool *is_singular)
{
    solver_data *d = self->data;
    PC pc;
    PCFailedReason reason;
    PetscCall(MatSetValuesCOO(d->A, self->A->value, INSERT_VALUES));
    PetscCall(KSPSetOperators(d->ksp, d->A, d->A));
    PetscCall(KSPSetUp(d->ksp));
    PetscCall(KSPSetUpOnBlocks(d->ksp));
    PetscCall(KSPGetPC(d->ksp, &pc));
    PetscCall(PCGetFailedReason(pc, &reason));
    *is_singular = reason != PC_NOERROR;
    return 0;
}

static pcs_status solver_factor(pcs_linsolve *self, bool *is_singular)
{
    solver_data *d = self->data;
    const pcs_comm *comm = self->A->pattern->layout->comm;
    self->bad_equation = solver_bad_diagonal(self);
    double is_bad = self->bad_equation >= 0;
    comm->max(comm, 1, &is_bad);
    *is_singular = is_bad > 0.0;
    if (*is_singular) return PCS_OK;
    PCS_PETSC(self->ctx, "factorization", solver_set_up(self, is_singular));
    is_bad = *is_singular;
    comm->max(comm, 1, &is_bad);
    *is_singular = is_bad > 0.0;
    // PETSc leaves all later matrices to a factor of MUMPS that has failed once, and does not say so: it is made anew.
    if (*is_singular) PCS_PETSC(self->ctx, "factorization", KSPReset(d->ksp));
    return PCS_OK;
}

// Updates the copies that no neighbour sends: one exchange of all ranks, however many they are.
static void solver_take_common(const pcs_layout *layout, double *x)
{
    const pcs_common *common = &layout->common;
    const pcs_comm *comm = layout->comm;
    if (common->plan.first == NULL || common->plan.first[comm->size] == 0) return;
    for (int k = 0; k < common->plan.count[comm->rank]; k++) common->own[k] = x[common->give[k]];
    pcs_parallel_spread(comm, &common->plan, common->own, common->all);
    for (int k = 0; k < common->plan.first[comm->size]; k++)
        if (common->take[k] >= 0) x[common->take[k]] = common->all[k];
}

// Updates the copies of other ranks' equations, which follow the own ones in x, from their owners.
static PetscErrorCode solver_take_copies(const pcs_linsolve *self, double *x)
{
    solver_data *d = self->data;
    const pcs_layout *layout = self->A->pattern->layout;
    int own = layout->nown, near = layout->n - layout->nfar;
    const double *found;
    PetscCall(VecGhostUpdateBegin(d->x, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecGhostUpdateEnd(d->x, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecGetArrayRead(d->x_local, &found));
    for (int i = own; i < near; i++) x[i] = found[i];
    PetscCall(VecRestoreArrayRead(d->x_local, &found));
    solver_take_common(layout, x);
    return 0;
}

static PetscErrorCode solver_run(const pcs_linsolve *self, bool with_copies, double *x, KSPConvergedReason *reason)
{
    solver_data *d = self->data;
    int own = self->A->pattern->layout->nown;
    const double *found;
    PetscCall(VecPlaceArray(d->b, x));
    PetscErrorCode code = KSPSolve(d->ksp, d->b, d->x);
    PetscCall(VecResetArray(d->b)); // also of a solve that failed: the next one would fail for that alone
    PetscCall(code);
    PetscCall(KSPGetConvergedReason(d->ksp, reason));
    PetscCall(VecGetArrayRead(d->x, &found));
    for (int i = 0; i < own; i++) x[i] = found[i]; // a rank without equations has no array
    memset(x + own, 0, (size_t)(self->A->pattern->n - own) * sizeof *x);
    PetscCall(VecRestoreArrayRead(d->x, &found));
    return with_copies ? solver_take_copies(self, x) : 0;
}

// Solves the system; on failure fills x with NAN, which the caller will notice, and notes the reason.
static void solver_try(pcs_linsolve *self, bool with_copies, double *x)
{
    solver_data *d = self->data;
    const pcs_parallel *parallel = self->A->pattern->layout->comm->data;
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    PetscErrorCode code = solver_run(self, with_copies, x, &reason);
    if (code == 0 && reason > 0) return;
    PetscInt iterations = 0;
    (void)KSPGetIterationNumber(d->ksp, &iterations);
    if (code != 0) pcs_note(self->ctx, "PETSc: %s", parallel->fault);
    else
        pcs_note(self->ctx, "the linear solver of the %s matrix gave up after %d iterations (%s)",
                 self->label[0] == '\0' ? "step" : self->label, (int)iterations, KSPConvergedReasons[reason]);
    for (int i = 0; i < self->A->pattern->n; i++) x[i] = NAN;
}

static void solver_solve(pcs_linsolve *self, double *x)
{
    solver_try(self, true, x);
}

static void solver_solve_own(pcs_linsolve *self, double *x)
{
    solver_try(self, false, x);
}

const pcs_linsolve_ops pcs_parallel_krylov = {
    .name = "petsc",
    .summary = "Krylov methods and factorizations of PETSc",
    .data_size = sizeof(solver_data),
    .refuses = solver_refuses,
    .analyze = solver_analyze,
    .factor = solver_factor,
    .solve = solver_solve,
    .solve_own = solver_solve_own,
};
