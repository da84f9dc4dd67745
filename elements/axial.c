#include "elements/axial.h"

#include "core/rotation.h"
#include "elements/cell.h"
#include "elements/truss.h"

#include <math.h>
#include <string.h>

// How a cell lies and moves at present.
typedef struct axial_state {
    double n[3], w[3]; // along the axis; difference of velocities
    double length, stretch, rate, tension;
} axial_state;

enum { MAX_NDOF = 6 };

static const int *axial_equation(const pcs_batch *batch, int cell)
{
    return batch->equation + (size_t)cell * 2 * (size_t)((const pcs_axial *)batch->data)->dim;
}

// From local displacements and velocities.
static axial_state axial_find(const pcs_axial_cell *cell, int dim, const double *u, const double *v)
{
    axial_state s = { 0 };
    double change = 0.0, length2 = 0.0, now[3];
    for (int k = 0; k < 3; k++) {
        double x = k < dim ? u[dim + k] - u[k] : 0.0;
        s.w[k] = k < dim ? v[dim + k] - v[k] : 0.0;
        now[k] = cell->span[k] + x;
        length2 += now[k] * now[k];
        change += x * (2.0 * cell->span[k] + x);
    }
    s.length = sqrt(length2);
    // Ends that coincide have no direction of their own and keep that of the reference state.
    for (int k = 0; k < 3; k++) s.n[k] = s.length > 0.0 ? now[k] / s.length : cell->span[k] / cell->length;
    s.rate = pcs_dot3(s.n, s.w);
    s.stretch = change / (s.length + cell->length) + cell->slack;
    s.tension = cell->stiffness * s.stretch + cell->preload + cell->damping * s.rate;
    return s;
}

static axial_state axial_gather(const pcs_batch *batch, int cell, const double *q, const double *v)
{
    const pcs_axial *axial = batch->data;
    double u[MAX_NDOF], w[MAX_NDOF];
    pcs_cell_gather(axial_equation(batch, cell), 2 * axial->dim, q, u);
    pcs_cell_gather(axial_equation(batch, cell), 2 * axial->dim, v, w);
    return axial_find(&axial->cell[cell], axial->dim, u, w);
}

pcs_status pcs_axial_create(pcs_context *ctx, pcs_batch *batch, int dim, pcs_axial **out)
{
    pcs_axial *axial;
    PCS_TAKE(ctx, axial, 1, "axial cells");
    PCS_TAKE(ctx, axial->cell, batch->ncell, "axial cells");
    axial->dim = dim;
    for (int c = 0; c < batch->ncell; c++) axial->cell[c].length = pcs_truss_span(batch, c, axial->cell[c].span);
    *out = axial;
    batch->data = axial;
    return PCS_OK;
}

pcs_status pcs_axial_setup_rod(pcs_context *ctx, pcs_batch *batch, int dim)
{
    const pcs_truss_params *p = batch->params;
    pcs_axial *axial;
    PCS_TRY(pcs_axial_create(ctx, batch, dim, &axial));
    for (int c = 0; c < batch->ncell; c++) {
        pcs_axial_cell *cell = &axial->cell[c];
        double m = p->rho * p->area * cell->length;
        cell->stiffness = p->E * p->area / cell->length;
        cell->damping = batch->damping_stiffness * cell->stiffness;
        cell->self = p->mass == PCS_TRUSS_LUMPED ? m / 2.0 : m / 3.0;
        cell->other = p->mass == PCS_TRUSS_LUMPED ? 0.0 : m / 6.0;
    }
    return PCS_OK;
}

void pcs_axial_stretch(const pcs_batch *batch, int cell, const double *q, const double *v, double *stretch,
                       double *rate)
{
    axial_state s = axial_gather(batch, cell, q, v);
    *stretch = s.stretch;
    *rate = s.rate;
}

static void axial_mass(const pcs_axial_cell *cell, int dim, double *M)
{
    int n = 2 * dim;
    memset(M, 0, (size_t)(n * n) * sizeof *M);
    for (int i = 0; i < n; i++) {
        M[i * n + i] = cell->self;
        M[i * n + (i + dim) % n] = cell->other;
    }
}

// out += [A -A; -A A]
static void axial_spread(int dim, const double A[3][3], double *out)
{
    int n = 2 * dim;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) out[i * n + j] += (i / dim == j / dim ? 1.0 : -1.0) * A[i % dim][j % dim];
}

static void axial_stiffness(const pcs_axial_cell *cell, const axial_state *s, int dim, double *K)
{
    double A[3][3];
    // Without a length there is no direction across.
    double across = s->length > 0.0 ? 1.0 / s->length : 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double P = (i == j ? 1.0 : 0.0) - s->n[i] * s->n[j];
            double turn = cell->damping * across * (s->w[j] - s->rate * s->n[j]);
            A[i][j] = cell->stiffness * (s->n[i] * s->n[j]) + s->n[i] * turn + s->tension * across * P;
        }
    memset(K, 0, (size_t)(4 * dim * dim) * sizeof *K);
    axial_spread(dim, (const double(*)[3])A, K);
}

void pcs_axial_matrices(const pcs_batch *batch, int cell, double *M, double *K)
{
    const pcs_axial *axial = batch->data;
    const double zero[MAX_NDOF] = { 0 };
    axial_state s = axial_find(&axial->cell[cell], axial->dim, zero, zero);
    axial_mass(&axial->cell[cell], axial->dim, M);
    axial_stiffness(&axial->cell[cell], &s, axial->dim, K);
}

// Internal and damping force on the dofs of a cell, as forces on the body.
static void axial_force(const pcs_batch *batch, int c, const double *q, const double *v, double force[MAX_NDOF])
{
    const pcs_axial *axial = batch->data;
    const pcs_axial_cell *cell = &axial->cell[c];
    int dim = axial->dim;
    double u[MAX_NDOF] = { 0 }, w[MAX_NDOF] = { 0 };
    pcs_cell_gather(axial_equation(batch, c), 2 * dim, q, u);
    pcs_cell_gather(axial_equation(batch, c), 2 * dim, v, w);
    axial_state s = axial_find(cell, dim, u, w);
    for (int k = 0; k < dim; k++) {
        double drag1 = batch->damping_mass * (cell->self * w[k] + cell->other * w[dim + k]);
        double drag2 = batch->damping_mass * (cell->other * w[k] + cell->self * w[dim + k]);
        force[k] = s.tension * s.n[k] - drag1;
        force[dim + k] = -s.tension * s.n[k] - drag2;
    }
}

void pcs_axial_add_force(const pcs_batch *batch, const double *q, const double *v, double *f)
{
    int ndof = 2 * ((const pcs_axial *)batch->data)->dim;
    for (int c = 0; c < batch->ncell; c++) {
        double force[MAX_NDOF];
        axial_force(batch, c, q, v, force);
        pcs_cell_scatter(axial_equation(batch, c), ndof, force, f);
    }
}

void pcs_axial_tangents(const pcs_batch *batch, int first, int count, const double *q, const double *v, double *K,
                        double *C)
{
    const pcs_axial *axial = batch->data;
    int dim = axial->dim, size = 4 * dim * dim;
    for (int c = 0; c < count; c++) {
        const pcs_axial_cell *cell = &axial->cell[first + c];
        axial_state s = axial_gather(batch, first + c, q, v);
        axial_stiffness(cell, &s, dim, K + c * size);
        if (C == NULL) continue;
        double A[3][3];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) A[i][j] = cell->damping * s.n[i] * s.n[j];
        axial_mass(cell, dim, C + c * size);
        for (int i = 0; i < size; i++) C[c * size + i] *= batch->damping_mass;
        axial_spread(dim, (const double(*)[3])A, C + c * size);
    }
}

// Momenta of a cell, and v . M v.
static double axial_momentum(const pcs_batch *batch, int c, const double *v, double w[MAX_NDOF], double p[MAX_NDOF])
{
    const pcs_axial *axial = batch->data;
    const pcs_axial_cell *cell = &axial->cell[c];
    int n = 2 * axial->dim;
    double sum = 0.0;
    pcs_cell_gather(axial_equation(batch, c), n, v, w);
    for (int i = 0; i < n; i++) {
        p[i] = cell->self * w[i] + cell->other * w[(i + axial->dim) % n];
        sum += p[i] * w[i];
    }
    return sum;
}

double pcs_axial_dissipation(const pcs_batch *batch, const double *q, const double *v)
{
    const pcs_axial *axial = batch->data;
    double power = 0.0, w[MAX_NDOF], p[MAX_NDOF];
    for (int c = 0; c < batch->ncell; c++) {
        axial_state s = axial_gather(batch, c, q, v);
        power += axial->cell[c].damping * s.rate * s.rate + batch->damping_mass * axial_momentum(batch, c, v, w, p);
    }
    return power;
}

void pcs_axial_add_energy(const pcs_batch *batch, const double *q, const double *v, pcs_energy *sum)
{
    const pcs_axial *axial = batch->data;
    for (int c = 0; c < batch->ncell; c++) {
        const int *equation = axial_equation(batch, c);
        axial_state s = axial_gather(batch, c, q, v);
        double w[MAX_NDOF], p[MAX_NDOF];
        sum->strain += (0.5 * axial->cell[c].stiffness * s.stretch + axial->cell[c].preload) * s.stretch;
        sum->kinetic += 0.5 * axial_momentum(batch, c, v, w, p);
        for (int i = 0; i < 2 * axial->dim; i++) {
            sum->momentum[i % axial->dim] += p[i];
            if (equation[i] < 0) sum->fixed_momentum[i % axial->dim] += p[i];
        }
    }
}

void pcs_axial_add_resultant(const pcs_batch *batch, const double *q, const double *v, double sum[3])
{
    int dim = ((const pcs_axial *)batch->data)->dim;
    for (int c = 0; c < batch->ncell; c++) {
        const int *equation = axial_equation(batch, c);
        if (batch->damping_mass == 0.0 && pcs_cell_is_free(equation, 2 * dim)) continue;
        double force[MAX_NDOF];
        axial_force(batch, c, q, v, force);
        for (int i = 0; i < 2 * dim; i++)
            if (equation[i] >= 0) sum[i % dim] += force[i];
    }
}

void pcs_axial_read_rod_fields(const pcs_batch *batch, int cell, const double *q, const double *v,
                               double field[PCS_MAX_CELL_FIELDS])
{
    const pcs_axial *axial = batch->data;
    double stretch, rate;
    pcs_axial_stretch(batch, cell, q, v, &stretch, &rate);
    field[0] = axial->cell[cell].stiffness * stretch; // the damping force is not part of the elastic stress
    field[1] = field[0] / ((const pcs_truss_params *)batch->params)->area;
    field[2] = 0.5 * field[0] * stretch;
}
