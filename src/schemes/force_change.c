#include "schemes/force_change.h"

#include "core/dense.h"
#include "step/projection.h"

struct pcs_force_change {
    pcs_scheme *scheme;
    int njoint;    // bilateral rows
    int *joints;   // [njoint]
    double *A, *x; // [njoint * njoint], [njoint]
};

pcs_status pcs_force_change_create(pcs_context *ctx, pcs_scheme *scheme, pcs_force_change **out)
{
    pcs_force_change *self;
    const pcs_system *system = scheme->system;
    PCS_TAKE(ctx, self, 1, "changes of forces");
    self->scheme = scheme;
    if (scheme->rule.position != PCS_POSITION_FREE) { // histories hold the forces of joints
        PCS_TAKE(ctx, self->joints, system->nrow, "changes of forces");
        for (int j = 0; j < system->nrow; j++)
            if (system->rows[j].is_bilateral) self->joints[self->njoint++] = j;
        PCS_TAKE(ctx, self->A, (size_t)self->njoint * (size_t)self->njoint, "changes of forces");
        PCS_TAKE(ctx, self->x, self->njoint, "changes of forces");
    }
    *out = self;
    return PCS_OK;
}

// Projects da onto the joints, G da = 0. Returns false for redundant ones, which are left to the next step.
static bool change_hold_joints(pcs_force_change *self, double *da)
{
    const pcs_scheme *scheme = self->scheme;
    const pcs_system *system = scheme->system;
    int n = self->njoint;
    for (int j = 0; j < n; j++) {
        const double *column = pcs_projection_column(scheme->solver, self->joints[j]);
        self->x[j] = -pcs_rows_dot(system->G, self->joints[j], da);
        for (int i = 0; i < n; i++)
            self->A[(size_t)i * (size_t)n + (size_t)j] = pcs_rows_dot(system->G, self->joints[i], column);
    }
    if (n == 0 || !pcs_dense_solve(n, self->A, self->x)) return false;
    for (int j = 0; j < n; j++) {
        const double *column = pcs_projection_column(scheme->solver, self->joints[j]);
        for (int i = 0; i < system->nv; i++) da[i] += self->x[j] * column[i];
    }
    return true;
}

// Adds `sum` to the resultants that the scheme keeps.
static void change_add_resultant(const pcs_scheme *scheme, pcs_state *x, const double sum[3])
{
    double *kept = x->memory;
    for (int r = 0; r < scheme->ops->nresultant; r++)
        for (int k = 0; k < 3; k++) kept[3 * r + k] += sum[k];
}

void pcs_force_change_make(pcs_force_change *self, pcs_state *x, double *df, const double resultant[3])
{
    pcs_scheme *scheme = self->scheme;
    const pcs_system *system = scheme->system;
    double sum[3] = { resultant[0], resultant[1], resultant[2] };
    if (x->nhistory == 0 || scheme->rule.kind == PCS_RULE_WAVE) return;
    if (!pcs_projection_move(scheme->solver, x->q)) return;
    pcs_linsolve_solve(scheme->solver->mass, df);
    if (change_hold_joints(self, df))
        for (int j = 0; j < self->njoint; j++) {
            double along[3] = { 0.0 };
            if (pcs_system_is_mesh(system)) pcs_row_resultant(system, system->G, self->joints[j], along);
            for (int k = 0; k < 3; k++) sum[k] += self->x[j] * along[k];
            for (int h = 0; h < x->nrow_history; h++) x->row_history[h][self->joints[j]] += self->x[j];
        }
    for (int h = 0; h < x->nhistory; h++)
        for (int i = 0; i < system->nv; i++) x->history[h][i] += df[i];
    change_add_resultant(scheme, x, sum);
}
