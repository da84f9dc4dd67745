// The only file that sees SUNDIALS. Memory is taken at set-up: a restart resets the solver and keeps its arrays.
// Dormand-Prince 5(4) is used: in ARKODE 5.4 the table of Verner's 6(5) has order 3, and that of Fehlberg's 7(8)
// estimates no error if the slope does not depend on y.

#include "schemes/ode.h"
#include "schemes/scheme.h"

#include <arkode/arkode_erkstep.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_version.h>

#include <float.h>
#include <math.h>

// Sign of an exact zero: below any value that occurs, and quotients with it do not underflow.
static const double beyond_zero = 1e-154;
static const double growth = 25.0; // of a step over the one before, at most

// Bytes and vectors that SUNDIALS takes, with plenty to spare.
enum { ROOM = 1 << 20, VECTORS = 64 };

struct pcs_ode {
    pcs_ode_problem problem;
    SUNContext context;
    void *solver;
    N_Vector start, end, atol; // borrow the caller's arrays
    int *found;                // [nroot]
    double *zero;              // [n] something to point at before the first call
    bool has_stepped_over;     // since the last restart
};

static int ode_slope(realtype t, N_Vector y, N_Vector dy, void *user)
{
    const pcs_ode_problem *p = user;
    return p->slope(p->user, t, N_VGetArrayPointer(y), N_VGetArrayPointer(dy)) ? 0 : 1;
}

static int ode_roots(realtype t, N_Vector y, realtype *root, void *user)
{
    const pcs_ode_problem *p = user;
    if (!p->roots(p->user, t, N_VGetArrayPointer(y), root)) return 1;
    // In round-off a function is exactly 0 over an interval, which ARKODE takes for two roots and gives up.
    for (int j = 0; j < p->nroot; j++)
        if (root[j] == 0.0) root[j] = p->direction[j] > 0 ? beyond_zero : -beyond_zero;
    return 0;
}

// Suppresses messages of the library: errors are returned by each call.
static void ode_be_silent(int code, const char *module, const char *function, char *message, void *user)
{
    (void)code;
    (void)module;
    (void)function;
    (void)message;
    (void)user;
}

static void ode_free(void *object)
{
    pcs_ode *ode = object;
    if (ode->solver != NULL) ERKStepFree(&ode->solver);
    N_Vector vectors[] = { ode->start, ode->end, ode->atol };
    for (int i = 0; i < 3; i++)
        if (vectors[i] != NULL) N_VDestroy(vectors[i]);
    if (ode->context != NULL) SUNContext_Free(&ode->context);
}

static bool ode_make_vectors(pcs_ode *ode)
{
    N_Vector *vectors[] = { &ode->start, &ode->end, &ode->atol };
    for (int i = 0; i < 3; i++) {
        *vectors[i] = N_VMake_Serial(ode->problem.n, ode->zero, ode->context);
        if (*vectors[i] == NULL) return false;
    }
    return true;
}

static bool ode_make_solver(pcs_ode *ode)
{
    ode->solver = ERKStepCreate(ode_slope, 0.0, ode->start, ode->context);
    return ode->solver != NULL && ERKStepSetErrHandlerFn(ode->solver, ode_be_silent, NULL) == ARK_SUCCESS &&
           ERKStepSetUserData(ode->solver, &ode->problem) == ARK_SUCCESS &&
           ERKStepSetTableNum(ode->solver, ARKODE_DORMAND_PRINCE_7_4_5) == ARK_SUCCESS &&
           ERKStepSetInterpolantDegree(ode->solver, 3) == ARK_SUCCESS &&
           ERKStepSetMaxGrowth(ode->solver, growth) == ARK_SUCCESS &&
           ERKStepSVtolerances(ode->solver, 1e-6, ode->atol) == ARK_SUCCESS &&
           (ode->problem.nroot == 0 || (ERKStepRootInit(ode->solver, ode->problem.nroot, ode_roots) == ARK_SUCCESS &&
                                        ERKStepSetRootDirection(ode->solver, ode->problem.direction) == ARK_SUCCESS &&
                                        ERKStepSetNoInactiveRootWarn(ode->solver) == ARK_SUCCESS));
}

// Returns true if there is as much memory as SUNDIALS allocates, now and at the first step, without checking.
static bool ode_has_room(int n)
{
    void *room = pcs_scratch(NULL, ROOM + VECTORS * (size_t)n * sizeof(double), 1);
    pcs_scratch_free(room);
    return room != NULL;
}

pcs_status pcs_ode_create(pcs_context *ctx, const pcs_ode_problem *problem, pcs_ode **out)
{
    pcs_ode *ode;
    PCS_TAKE(ctx, ode, 1, "the ODE solver");
    ode->problem = *problem;
    PCS_TAKE(ctx, ode->found, problem->nroot, "the ODE solver");
    PCS_TAKE(ctx, ode->zero, problem->n, "the ODE solver");
    PCS_TRY(pcs_defer(ctx, ode_free, ode));
    if (!ode_has_room(problem->n) || SUNContext_Create(NULL, &ode->context) != 0 || !ode_make_vectors(ode) ||
        !ode_make_solver(ode))
        return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: the ODE solver");
    *out = ode;
    return PCS_OK;
}

bool pcs_ode_set_tolerances(pcs_ode *ode, double rtol, double *atol)
{
    N_VSetArrayPointer(atol, ode->atol); // copied by the solver
    return ERKStepSVtolerances(ode->solver, rtol, ode->atol) == ARK_SUCCESS;
}

bool pcs_ode_restart(pcs_ode *ode, double t, double *y, double first_step)
{
    N_VSetArrayPointer(y, ode->start); // copied by the solver
    ode->has_stepped_over = false;
    // Limits the growth after a given first step to that of later steps. The default of the solver (0) allows far more
    // after the first step of all.
    return ERKStepReset(ode->solver, t, ode->start) == ARK_SUCCESS &&
           ERKStepSetMaxFirstGrowth(ode->solver, first_step > 0.0 ? growth : 0.0) == ARK_SUCCESS &&
           ERKStepSetInitStep(ode->solver, first_step) == ARK_SUCCESS;
}

// Steps over a force that jumps within round-off of the present time, which fails every step, however small: makes one
// step of the size of round-off, with an error below that of the time; only once, lest a run goes on by such steps.
static int ode_step_over(pcs_ode *ode, double stop, double *t)
{
    double now = 0.0;
    ode->has_stepped_over = true;
    if (ERKStepGetCurrentTime(ode->solver, &now) != ARK_SUCCESS) return ARK_ERR_FAILURE;
    double tiny = 64.0 * DBL_EPSILON * fmax(fabs(now), fabs(stop));
    if (!(now + tiny < stop) || ERKStepReset(ode->solver, now, ode->end) != ARK_SUCCESS ||
        ERKStepSetFixedStep(ode->solver, tiny) != ARK_SUCCESS)
        return ARK_ERR_FAILURE;
    int flag = ERKStepEvolve(ode->solver, stop, ode->end, t, ARK_ONE_STEP);
    return ERKStepSetFixedStep(ode->solver, 0.0) == ARK_SUCCESS ? flag : ARK_ERR_FAILURE;
}

pcs_ode_end pcs_ode_advance(pcs_ode *ode, double stop, double *t, double *y)
{
    N_VSetArrayPointer(y, ode->end);
    if (ERKStepSetStopTime(ode->solver, stop) != ARK_SUCCESS) return PCS_ODE_FAILED;
    int flag = ERKStepEvolve(ode->solver, stop, ode->end, t, ARK_ONE_STEP);
    if (flag == ARK_ERR_FAILURE && !ode->has_stepped_over) flag = ode_step_over(ode, stop, t);
    if (flag == ARK_ROOT_RETURN)
        return ERKStepGetRootInfo(ode->solver, ode->found) == ARK_SUCCESS ? PCS_ODE_ROOT : PCS_ODE_FAILED;
    return flag == ARK_SUCCESS || flag == ARK_TSTOP_RETURN ? PCS_ODE_STEP : PCS_ODE_FAILED;
}

const int *pcs_ode_found(const pcs_ode *ode)
{
    return ode->found;
}

double pcs_ode_next_step(const pcs_ode *ode)
{
    double step = 0.0;
    return ERKStepGetCurrentStep(ode->solver, &step) == ARK_SUCCESS ? step : 0.0;
}

void pcs_scheme_sundials_version(int size, char *text)
{
    if (SUNDIALSGetVersion(text, size) != 0) text[0] = '\0';
}
