// Implicitly restarted Lanczos and Arnoldi iterations (ARPACK), driven by reverse communication.
//
// The start vector is given and always the same, so that a result can be repeated. ARPACK keeps the state of its
// iteration in variables of its own: only one thread at a time may use it.

#include "eigen/solvers.h"

#include <arpack.h>
#include <math.h>
#include <string.h>
#include <threads.h>

enum { MAX_RESTARTS = 3000, LEAST_BASIS = 20 };

typedef struct arpack_work {
    int ncv, lworkl;
    double *resid, *V, *workd, *workl, *workev; // one scratch buffer, which begins with the first
    int *select;
    int iparam[11], ipntr[14];
} arpack_work;

static once_flag arpack_once = ONCE_FLAG_INIT;
static mtx_t arpack_lock;

static void arpack_make_lock(void)
{
    (void)mtx_init(&arpack_lock, mtx_plain);
}

static void arpack_enter(void)
{
    call_once(&arpack_once, arpack_make_lock);
    (void)mtx_lock(&arpack_lock);
}

static void arpack_leave(void)
{
    (void)mtx_unlock(&arpack_lock);
}

static pcs_status arpack_take(pcs_context *ctx, int n, int nev, int lworkl_of_basis, arpack_work *w)
{
    *w = (arpack_work){ .ncv = 2 * nev + 1 > LEAST_BASIS ? 2 * nev + 1 : LEAST_BASIS };
    if (w->ncv > n) w->ncv = n;
    w->lworkl = w->ncv * (lworkl_of_basis * w->ncv + 8);
    size_t rows = (size_t)n, columns = (size_t)w->ncv;
    w->resid = pcs_scratch(NULL, rows * (columns + 4) + (size_t)w->lworkl + 4 * columns, sizeof *w->resid);
    if (w->resid == NULL)
        return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: %d vectors of %d equations for ARPACK", w->ncv, n);
    w->V = w->resid + rows;
    w->workd = w->V + rows * columns;
    w->workl = w->workd + 3 * rows;
    w->workev = w->workl + w->lworkl;
    w->select = (int *)(w->workev + 3 * columns);
    memset(w->select, 0, columns * sizeof *w->select); // the interface reads it, though it chooses nothing
    // Numbers without a pattern, so that no eigenvector is missed by symmetry.
    unsigned long long seed = 88172645463325252ULL;
    for (int i = 0; i < n; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        w->resid[i] = (double)(seed >> 11) / 9007199254740992.0 - 0.5;
    }
    w->iparam[0] = 1;
    w->iparam[2] = MAX_RESTARTS;
    w->iparam[3] = 1;
    return PCS_OK;
}

static pcs_status arpack_fault(pcs_context *ctx, int info, int nconverged, int wanted)
{
    if (info == 1 || info == 0)
        return pcs_fail(ctx, PCS_FAILED, "the eigenvalues did not converge: %d of %d after %d restarts of ARPACK",
                        nconverged, wanted, MAX_RESTARTS);
    return pcs_fail(ctx, PCS_FAILED, "ARPACK could not find the eigenvalues: status %d", info);
}

// One request of the symmetric driver in its shift-and-invert mode.
static void arpack_serve(const pcs_operator *op, int ido, arpack_work *w)
{
    double *x = w->workd + w->ipntr[0] - 1, *y = w->workd + w->ipntr[1] - 1;
    if (ido == 2) {
        op->mass(op->user, x, y);
    } else if (ido == 1) {
        op->apply(op->user, w->workd + w->ipntr[2] - 1, y); // M x is there already
    } else {
        op->mass(op->user, x, y);
        memcpy(x, y, (size_t)op->n * sizeof *x);
        op->apply(op->user, x, y);
    }
}

// One application of the operator to a vector, to mass 1 again. What a basis has picked up where there is no mass,
// which no product with M sees and so grows from step to step, is gone then.
static void arpack_purify(const pcs_operator *op, double *x, double *image)
{
    double square = 0.0;
    op->mass(op->user, x, image);
    op->apply(op->user, image, x);
    op->mass(op->user, x, image);
    for (int i = 0; i < op->n; i++) square += x[i] * image[i];
    for (int i = 0; i < op->n; i++) x[i] /= sqrt(square);
}

pcs_status pcs_arpack_symmetric(pcs_context *ctx, const pcs_operator *op, int *count, double *theta, double *vector)
{
    arpack_work w;
    int n = op->n, nev = *count, ido = 0, info = 1;
    *count = 0;
    PCS_TRY(arpack_take(ctx, n, nev, 1, &w));
    w.iparam[6] = 3;
    arpack_enter();
    for (;;) {
        dsaupd_c(&ido, "G", n, "LM", nev, 0.0, w.resid, w.ncv, w.V, n, w.iparam, w.ipntr, w.workd, w.workl, w.lworkl,
                 &info);
        if (ido != -1 && ido != 1 && ido != 2) break;
        arpack_serve(op, ido, &w);
    }
    int nconverged = w.iparam[4];
    pcs_status status = info == 0 && nconverged >= nev ? PCS_OK : arpack_fault(ctx, info, nconverged, nev);
    if (status == PCS_OK) {
        // With a shift of 0 it gives 1/theta, rising.
        dseupd_c(1, "A", w.select, theta, vector, n, 0.0, "G", n, "LM", nev, 0.0, w.resid, w.ncv, w.V, n, w.iparam,
                 w.ipntr, w.workd, w.workl, w.lworkl, &info);
        if (info != 0) status = arpack_fault(ctx, info, nconverged, nev);
    }
    if (status == PCS_OK) {
        for (int i = 0; i < nev; i++) {
            theta[i] = 1.0 / theta[i];
            arpack_purify(op, vector + (size_t)i * (size_t)n, w.workd);
        }
        *count = nev;
    }
    arpack_leave();
    pcs_scratch_free(w.resid);
    return status;
}

pcs_status pcs_arpack_general(pcs_context *ctx, const pcs_operator *op, int *count, double *re, double *im,
                              double *vector)
{
    arpack_work w;
    int n = op->n, nev = *count, ido = 0, info = 1;
    *count = 0;
    PCS_TRY(arpack_take(ctx, n, nev, 3, &w));
    w.iparam[6] = 1;
    arpack_enter();
    for (;;) {
        dnaupd_c(&ido, "I", n, "LM", nev, 0.0, w.resid, w.ncv, w.V, n, w.iparam, w.ipntr, w.workd, w.workl, w.lworkl,
                 &info);
        if (ido != -1 && ido != 1) break;
        op->apply(op->user, w.workd + w.ipntr[0] - 1, w.workd + w.ipntr[1] - 1);
    }
    int nconverged = w.iparam[4];
    pcs_status status = info == 0 && nconverged >= nev ? PCS_OK : arpack_fault(ctx, info, nconverged, nev);
    if (status == PCS_OK) {
        dneupd_c(1, "A", w.select, re, im, vector, n, 0.0, 0.0, w.workev, "I", n, "LM", nev, 0.0, w.resid, w.ncv, w.V,
                 n, w.iparam, w.ipntr, w.workd, w.workl, w.lworkl, &info);
        if (info != 0) status = arpack_fault(ctx, info, nconverged, nev);
    }
    if (status == PCS_OK) *count = w.iparam[4] > nev ? nev + 1 : nev;
    arpack_leave();
    pcs_scratch_free(w.resid);
    return status;
}
