// Registry of the linear solvers and the choice among them.

#include "linsolve/linsolve.h"

#include "core/text.h"

#include <stdio.h>
#include <string.h>

#define PCS_LINSOLVE(name, file) extern const pcs_linsolve_ops pcs_linsolve_##name;
#include "linsolve/linsolve_list.def"
#undef PCS_LINSOLVE

const pcs_linsolve_ops *const pcs_linsolvers[] = {
#define PCS_LINSOLVE(name, file) &pcs_linsolve_##name,
#include "linsolve/linsolve_list.def"
#undef PCS_LINSOLVE
    NULL
};

// Preferred back ends, the fastest first; the first that takes the matrix is used. A full matrix of a few equations
// is not worth a sparse factor, and is taken for a chain only when its pattern offers itself as one.
enum { LINSOLVE_FEW = 16 };
static const char *const linsolve_preferred[] = { "chain", "cholmod", "umfpack", "dense", NULL };
static const char *const linsolve_preferred_few[] = { "chain", "dense", NULL };
static const char *const linsolve_preferred_full[] = { "dense", NULL };

static const pcs_linsolve_ops *linsolve_find(const char *name)
{
    for (int k = 0; pcs_linsolvers[k] != NULL; k++)
        if (strcmp(pcs_linsolvers[k]->name, name) == 0) return pcs_linsolvers[k];
    return NULL;
}

static const pcs_linsolve_ops *linsolve_choose(const pcs_pattern *pattern, pcs_linsolve_kind kind)
{
    if (pattern->layout != NULL) {
        const pcs_linsolve_ops *parts = linsolve_find("substructures");
        bool is_asked = pattern->layout->comm->has_options; // options of the user are for petsc
        return is_asked || parts->refuses(pattern, kind) != NULL ? linsolve_find("petsc") : parts;
    }
    bool is_few = pattern->n > 0 && pattern->n <= LINSOLVE_FEW && pattern->nnz == pattern->n * pattern->n;
    bool is_short_chain = is_few && kind == PCS_SPD && pattern->chain_block > 0;
    const char *const *preferred = is_few ? linsolve_preferred_full : linsolve_preferred;
    if (is_short_chain) preferred = linsolve_preferred_few;
    for (int k = 0; preferred[k] != NULL; k++) {
        const pcs_linsolve_ops *ops = linsolve_find(preferred[k]);
        if (ops != NULL && ops->refuses(pattern, kind) == NULL) return ops;
    }
    return NULL;
}

bool pcs_linsolve_takes(const char *name, const pcs_pattern *pattern, pcs_linsolve_kind kind)
{
    const pcs_linsolve_ops *ops = linsolve_find(name);
    return strcmp(name, "auto") == 0 || (ops != NULL && ops->refuses(pattern, kind) == NULL);
}

static pcs_status linsolve_unknown(pcs_context *ctx, const char *name)
{
    char known[256] = "auto";
    for (int k = 0; pcs_linsolvers[k] != NULL; k++) pcs_text_add(known, sizeof known, ", %s", pcs_linsolvers[k]->name);
    return pcs_fail(ctx, PCS_UNSUPPORTED, "linear solver '%s' is not known; known are %s", name, known);
}

pcs_status pcs_linsolve_create(pcs_context *ctx, const char *name, const pcs_matrix *A, pcs_linsolve_kind kind,
                               pcs_linsolve **out)
{
    return pcs_linsolve_create_labelled(ctx, name, "", A, kind, out);
}

static pcs_status linsolve_analyze(pcs_linsolve *self, const pcs_linsolve_ops *ops)
{
    self->ops = ops;
    self->title = ops->name;
    self->entries = 0.5 * (self->A->pattern->nnz + self->A->pattern->n);
    self->data = pcs_take(self->ctx, 1, ops->data_size, "a linear solver's data");
    if (self->data == NULL) return PCS_NO_MEMORY;
    pcs_status status = ops->analyze(self);
    return status == PCS_OK ? PCS_OK : pcs_wrap(self->ctx, status, "linear solver '%s'", ops->name);
}

pcs_status pcs_linsolve_create_labelled(pcs_context *ctx, const char *name, const char *label, const pcs_matrix *A,
                                        pcs_linsolve_kind kind, pcs_linsolve **out)
{
    *out = NULL;
    bool is_auto = strcmp(name, "auto") == 0;
    const pcs_linsolve_ops *ops = is_auto ? linsolve_choose(A->pattern, kind) : linsolve_find(name);
    if (ops == NULL && is_auto)
        return pcs_fail(ctx, PCS_UNSUPPORTED, "no linear solver takes the matrix of %d equations", A->pattern->n);
    if (ops == NULL) return linsolve_unknown(ctx, name);
    const char *reason = ops->refuses(A->pattern, kind);
    if (A->pattern->layout != NULL && reason == NULL && ops->solve_own == NULL)
        reason = "its equations are distributed over processes: use 'substructures' or 'petsc'";
    if (reason != NULL)
        return pcs_fail(ctx, PCS_UNSUPPORTED, "linear solver '%s' cannot take the matrix of %d equations: %s", name,
                        A->pattern->n, reason);

    pcs_linsolve *self;
    PCS_TAKE(ctx, self, 1, "a linear solver");
    *self = (pcs_linsolve){ .ctx = ctx, .A = A, .kind = kind, .label = label, .bad_equation = -1 };
    PCS_TRY(linsolve_analyze(self, ops));
    *out = self;
    return PCS_OK;
}

pcs_status pcs_linsolve_factor(pcs_linsolve *self, bool *is_singular)
{
    *is_singular = false;
    self->bad_equation = -1;
    self->nfactor++;
    pcs_status status = self->ops->factor(self, is_singular);
    if (status != PCS_OK) return pcs_wrap(self->ctx, status, "linear solver '%s'", self->ops->name);
    return PCS_OK;
}
