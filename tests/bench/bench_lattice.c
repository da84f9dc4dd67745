// Which Cholesky factors suit lattices: orderings and forms of the factor for the iteration matrix of frame_lattice,
// plane and in space, seconds of processor time and memory.
//
//   bench_lattice [DOFS [CASE]]     default: 100000 equations, cases/frame_lattice
//
// Lattices 33 boxes deep and as wide as it takes (plane), and cubes (space). `fill` is entries of L per equation. The
// simplicial L D L' is made only up to a thousand operations per entry of L: beyond that it takes minutes.
// Nothing here can fail for being slow.

#define _POSIX_C_SOURCE 200809L

#include "build/build.h"

#include <cholmod.h>
#include <math.h>
#include <string.h>
#include <time.h>

enum { SOLVES = 5 };

static const char *const space_struts =
    "elements.struts={type: beam_timo_3d, mesh: net, E: 2.1e+11, nu: 0.3, rho: 7800.0, orientation: [0.36, 0.48, 0.8], "
    "section: {type: rectangle, width: 0.01, height: 0.01, shear_factor: 0.8333333333333333}}";

static double lattice_processor(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void lattice_fail(pcs_context *ctx, const char *what)
{
    fprintf(stderr, "error: %s: %s\n", what, ctx != NULL ? pcs_message(ctx) : "no memory");
    exit(1);
}

// Seconds of one solve after the first.
static double lattice_solve(cholmod_factor *L, cholmod_common *c)
{
    cholmod_dense *b = cholmod_ones(L->n, 1, CHOLMOD_REAL, c), *X = NULL, *Y = NULL, *E = NULL;
    double begin = 0.0;
    for (int i = 0; i <= SOLVES; i++) {
        if (i == 1) begin = lattice_processor();
        cholmod_solve2(CHOLMOD_A, L, b, NULL, &X, NULL, &Y, &E, c);
    }
    double seconds = (lattice_processor() - begin) / SOLVES;
    cholmod_free_dense(&b, c);
    cholmod_free_dense(&X, c);
    cholmod_free_dense(&Y, c);
    cholmod_free_dense(&E, c);
    return seconds;
}

static void lattice_factor(const pcs_matrix *A, const char *name, int ordering, bool is_super)
{
    cholmod_common c;
    const pcs_pattern *pattern = A->pattern;
    cholmod_sparse view = { .nrow = (size_t)pattern->n,
                            .ncol = (size_t)pattern->n,
                            .nzmax = (size_t)pattern->nnz,
                            .p = (void *)pattern->start,
                            .i = (void *)pattern->row,
                            .x = A->value,
                            .stype = 1,
                            .itype = CHOLMOD_INT,
                            .xtype = CHOLMOD_REAL,
                            .dtype = CHOLMOD_DOUBLE,
                            .sorted = 1,
                            .packed = 1 };
    cholmod_start(&c);
    c.print = 0;
    c.nmethods = 1;
    c.method[0].ordering = ordering;
    c.supernodal = is_super ? CHOLMOD_SUPERNODAL : CHOLMOD_SIMPLICIAL;
    c.final_ll = 0;
    double begin = lattice_processor();
    cholmod_factor *L = cholmod_analyze(&view, &c);
    double analysis = lattice_processor() - begin;
    if (L != NULL && (is_super || c.fl < 1e3 * c.lnz)) {
        begin = lattice_processor();
        cholmod_factorize(&view, L, &c);
        double factor = lattice_processor() - begin, solve = lattice_solve(L, &c);
        double bytes = is_super ? 8.0 * (double)L->xsize : 12.0 * (double)L->nzmax;
        printf("  %-7s %-10s %6.0f %9.0f %9.2f %9.2f %9.3f %9.0f\n", name, is_super ? "supernodal" : "simplicial",
               c.lnz / (double)pattern->n, c.fl / c.lnz, analysis, factor, solve, bytes / (double)pattern->n);
    }
    cholmod_free_factor(&L, &c);
    cholmod_finish(&c);
}

static void lattice_bench(const char *path, const char *title, int nset, const char *const *set)
{
    static const struct {
        const char *name;
        int ordering;
    } orders[] = { { "AMD", CHOLMOD_AMD }, { "METIS", CHOLMOD_METIS }, { "NESDIS", CHOLMOD_NESDIS } };
    pcs_context *ctx = NULL;
    pcs_analysis analysis;
    pcs_matrix *S;
    if (pcs_context_create(&ctx) != PCS_OK || pcs_build_analysis_from(ctx, path, nset, set, &analysis) != PCS_OK)
        lattice_fail(ctx, path);
    pcs_system *system = analysis.system;
    double h = 1.1e-5;
    if (pcs_matrix_create(ctx, system->M->pattern, &S) != PCS_OK) lattice_fail(ctx, "matrix");
    pcs_matrix_combine(S, (const double[3]){ 1.0, 0.0, 0.3 * h * h }, system->M, NULL, system->K);
    printf("%s, %d equations, %d contacts, %.1f entries per equation\n", title, system->nv, system->nrow,
           (double)S->pattern->nnz / system->nv);
    printf("  %-7s %-10s %6s %9s %9s %9s %9s %9s\n", "order", "factor", "fill", "ops/entry", "analysis", "factor",
           "solve [s]", "B/eq");
    for (int k = 0; k < 3; k++)
        for (int is_super = 0; is_super < 2; is_super++)
            lattice_factor(S, orders[k].name, orders[k].ordering, is_super);
    fflush(stdout);
    pcs_context_destroy(&ctx);
}

int main(int argc, char **argv)
{
    double dofs = argc > 1 ? atof(argv[1]) : 1e5;
    const char *path = argc > 2 ? argv[2] : "cases/frame_lattice";
    char cells[64];
    const char *const set[] = { cells, space_struts };
    snprintf(cells, sizeof cells, "mesh.net.cells=[33, %d]", (int)(dofs / 102.0) - 1);
    lattice_bench(path, "Plane, 33 deep", 1, set);
    int side = (int)sqrt(dofs / 3.0) - 1;
    snprintf(cells, sizeof cells, "mesh.net.cells=[%d, %d]", side, side);
    lattice_bench(path, "Plane, square", 1, set);
    side = (int)sqrt(dofs / 6.0 / 17.0) - 1;
    snprintf(cells, sizeof cells, "mesh.net.cells=[16, %d, %d]", side, side);
    lattice_bench(path, "Space, 16 deep", 2, set);
    return 0;
}
