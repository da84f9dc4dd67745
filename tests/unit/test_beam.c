// Linear Timoshenko beams against closed forms: tip deflections for any slenderness, frequencies, rigid motions,
// total mass, and the same answers in any orientation.

#include "elements/section.h"
#include "fe/fe.h"
#include "support/check.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void dsygv_(const int *type, const char *job, const char *triangle, const int *n, double *A, const int *lda, double *B,
            const int *ldb, double *w, double *work, const int *lwork, int *info, size_t job_length,
            size_t triangle_length);
void dposv_(const char *triangle, const int *n, const int *nrhs, double *A, const int *lda, double *b, const int *ldb,
            int *info, size_t triangle_length);

static const double E = 2.1e11, nu = 0.3, rho = 7800.0, shear_factor = 5.0 / 6.0;

// Layouts of the parameter structs as the elements declare them in their option tables.
typedef struct beam {
    pcs_context *ctx;
    pcs_mesh *mesh;
    pcs_system *system;
    int nsupport;
    pcs_fe_support supports[3];
} beam;

static void *option_place(const pcs_element_ops *ops, void *params, const char *name)
{
    for (int i = 0; ops->options[i].name != NULL; i++)
        if (strcmp(ops->options[i].name, name) == 0) return (char *)params + ops->options[i].offset;
    fail_msg("no option %s", name);
    return NULL;
}

static const pcs_element_ops *find_element(const char *name)
{
    for (int i = 0; pcs_elements[i] != NULL; i++)
        if (strcmp(pcs_elements[i]->name, name) == 0) return pcs_elements[i];
    fail_msg("no element %s", name);
    return NULL;
}

// A section of a type of the table from its sizes, in the order of the options.
static pcs_section section_of(int type, const double *sizes)
{
    _Alignas(max_align_t) char params[PCS_SECTION_BYTES] = { 0 };
    pcs_section section;
    for (const pcs_option *o = pcs_section_types[type]->options; o->name != NULL; o++)
        memcpy(params + o->offset, sizes++, sizeof *sizes); // the value of a profile comes first
    pcs_section_types[type]->constants(params, &section);
    return section;
}

static pcs_section square(double d)
{
    return section_of(0, (const double[]){ d, d, shear_factor });
}

static void add_support(beam *b, const char *set, const char *fixes)
{
    pcs_fe_support *support = &b->supports[b->nsupport++];
    *support = (pcs_fe_support){ .name = set, .nodes = pcs_mesh_node_set(b->mesh, set) };
    for (int axis = 0; axis < 6; axis++) support->fixes[axis] = fixes[axis] == '1';
}

// A line of n cells of unit length over all from the origin along `to`.
static void open_line(beam *b, const double to[3], int n)
{
    int node, cell;
    *b = (beam){ 0 };
    CHECK(pcs_context_create(&b->ctx) == PCS_OK);
    CHECK_OK(b->ctx, pcs_mesh_create(b->ctx, &b->mesh));
    CHECK_OK(b->ctx, pcs_mesh_add_nodes(b->mesh, n + 1, &node));
    CHECK_OK(b->ctx, pcs_mesh_add_cells(b->mesh, n, &cell));
    for (int i = 0; i <= n; i++)
        for (int k = 0; k < 3; k++) b->mesh->x[i][k] = to[k] * i / n;
    for (int i = 0; i < n; i++) {
        b->mesh->cell[i][0] = i;
        b->mesh->cell[i][1] = i + 1;
    }
    CHECK_OK(b->ctx, pcs_mesh_add_node_range(b->mesh, "start", 0, 1));
    CHECK_OK(b->ctx, pcs_mesh_add_node_range(b->mesh, "end", n, 1));
    CHECK_OK(b->ctx, pcs_mesh_add_cell_range(b->mesh, "all", 0, n));
}

static void build(beam *b, const char *element, pcs_section section, const double *orientation)
{
    const pcs_element_ops *ops = find_element(element);
    void *params = pcs_take(b->ctx, 1, ops->params_size, "parameters");
    *(double *)option_place(ops, params, "E") = E;
    *(double *)option_place(ops, params, "nu") = nu;
    *(double *)option_place(ops, params, "rho") = rho;
    if (orientation != NULL) memcpy(option_place(ops, params, "orientation"), orientation, 3 * sizeof(double));
    memcpy((char *)params + ops->section_offset, &section, sizeof section);
    pcs_fe_group *group = pcs_take(b->ctx, 1, sizeof *group, "group");
    *group = (pcs_fe_group){ .name = "beam", .ops = ops, .params = params, .cells = pcs_mesh_cell_set(b->mesh, "all") };
    pcs_fe_definition definition = {
        .mesh = b->mesh, .ngroup = 1, .groups = group, .nsupport = b->nsupport, .supports = b->supports
    };
    const char *culprit;
    CHECK_OK(b->ctx, pcs_fe_create(b->ctx, &definition, &b->system, &culprit));
}

static double *dense(const pcs_matrix *A)
{
    int n = A->pattern->n;
    double *out = calloc((size_t)n * (size_t)n, sizeof *out);
    for (int j = 0; j < n; j++)
        for (int p = A->pattern->start[j]; p < A->pattern->start[j + 1]; p++)
            out[j * n + A->pattern->row[p]] = A->value[p];
    return out;
}

// Lowest frequencies, rad/s; the k-th of them.
static double frequency(const pcs_system *system, int k)
{
    int n = system->nv, type = 1, room = 64 * n, info;
    double *K = dense(system->K), *M = dense(system->M), *w = malloc((size_t)n * sizeof *w);
    double *work = malloc((size_t)room * sizeof *work);
    dsygv_(&type, "N", "U", &n, K, &n, M, &n, w, work, &room, &info, 1, 1);
    CHECK(info == 0);
    double value = sqrt(fmax(w[k], 0.0));
    free(K);
    free(M);
    free(w);
    free(work);
    return value;
}

// Displacement of the last node along `direction` under a unit force along it.
static double compliance(const beam *b, const double direction[3])
{
    const pcs_system *system = b->system;
    int n = system->nv, one = 1, info;
    double *K = dense(system->K), *x = calloc((size_t)n, sizeof *x), *force = calloc((size_t)n, sizeof *x);
    int dofs = strcmp(system->name, "fe") == 0 && n % 6 == 0 && b->mesh->nnode * 6 - 6 == n ? 6 : 3;
    for (int k = 0; k < (dofs == 6 ? 3 : 2); k++) x[n - dofs + k] = force[n - dofs + k] = direction[k];
    dposv_("U", &n, &one, K, &n, x, &n, &info, 1);
    CHECK(info == 0);
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += x[i] * force[i];
    free(K);
    free(x);
    free(force);
    return sum;
}

// L^3/(3 E I) + L/(G A k): one element is exact, however stocky or slender.
TEST(one_element_is_exact_for_a_tip_load)
{
    const double along_x[3] = { 1, 0, 0 }, y[3] = { 0, 1, 0 }, x[3] = { 1, 0, 0 };
    const double sides[] = { 0.5, 0.1, 1e-2, 1e-3, 1e-4 };
    const int counts[] = { 1, 2, 7 };
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 3; j++) {
            pcs_section section = square(sides[i]);
            double G = 0.5 * E / (1.0 + nu);
            double bending = 1.0 / (3.0 * E * section.Iz) + 1.0 / (G * section.area * shear_factor);
            beam b;
            open_line(&b, along_x, counts[j]);
            add_support(&b, "start", "110001");
            build(&b, "beam_timo_2d", section, NULL);
            // Round-off grows with the slenderness and the number of elements: cond(K) is (L/d)^2 N^4.
            double slack = 1e-12 * (1.0 + 1e-4 / (sides[i] * sides[i])) * pow(counts[j], 3);
            CHECK_RELATIVE(compliance(&b, y), bending, slack);
            CHECK_RELATIVE(compliance(&b, x), 1.0 / (E * section.area), slack);
            pcs_context_destroy(&b.ctx);
        }
}

// Exact Timoshenko frequencies of a steel beam of unit length, and the element's errors with 16 cells.
TEST(frequencies_are_those_of_timoshenko)
{
    const double along_x[3] = { 1, 0, 0 };
    static const struct {
        double side;
        const char *start, *end;
        int mode;
        double exact, error, printed; // the last: half a digit of the exact value as it is known
    } cases[] = {
        { 0.01, "110000", "010000", 0, 147.807988, 1.4e-6, 4e-9 },
        { 0.01, "110001", "000000", 0, 52.6608455, 1.8e-7, 1e-9 },
        { 0.2, "110000", "010000", 0, 2778.25, 1.4e-4, 1.8e-6 },
        { 0.2, "110001", "000000", 0, 1021.48, 2.0e-5, 4.9e-6 },
    };
    for (int i = 0; i < 4; i++) {
        beam b;
        open_line(&b, along_x, 16);
        add_support(&b, "start", cases[i].start);
        if (strcmp(cases[i].end, "000000") != 0) add_support(&b, "end", cases[i].end);
        build(&b, "beam_timo_2d", square(cases[i].side), NULL);
        double relative = frequency(b.system, cases[i].mode) / cases[i].exact - 1.0;
        CHECK_NEAR(relative, cases[i].error, 0.06 * cases[i].error + cases[i].printed);
        pcs_context_destroy(&b.ctx);
    }
}

// Six (three) motions cost no energy, and the mass is that of the bar, wherever it points.
TEST(rigid_motions_are_free)
{
    const double plane[3] = { 0.6, 0.8, 0.0 }, space[3] = { 2.0 / 7.0, 3.0 / 7.0, 6.0 / 7.0 }, up[3] = { 0, 0, 1 };
    for (int dimension = 2; dimension <= 3; dimension++) {
        beam b;
        open_line(&b, dimension == 2 ? plane : space, 3);
        build(&b, dimension == 2 ? "beam_timo_2d" : "beam_timo_3d", square(0.05), dimension == 2 ? NULL : up);
        int nrigid = dimension == 2 ? 3 : 6, dofs = dimension == 2 ? 3 : 6, n = b.system->nv;
        double *q = calloc((size_t)n, sizeof *q), *f = calloc((size_t)n, sizeof *f);
        double stiffness = E * 0.0025 * 3.0;
        for (int axis = 0; axis < 3; axis++) {
            const double unit[3] = { axis == 0, axis == 1, axis == 2 };
            for (int i = 0; i < b.mesh->nnode; i++) {
                const double *x = b.mesh->x[i];
                // rotation about `unit`: u = unit cross x
                double u[3] = { unit[1] * x[2] - unit[2] * x[1], unit[2] * x[0] - unit[0] * x[2],
                                unit[0] * x[1] - unit[1] * x[0] };
                for (int k = 0; k < dofs; k++)
                    q[i * dofs + k] = dimension == 3 ? (k < 3 ? u[k] : unit[k - 3]) : k < 2 ? u[k] : unit[2];
            }
            if (dimension == 2 && axis < 2) continue;
            b.system->ops->force(b.system, pcs_at(0.0, q, q), f);
            for (int i = 0; i < n; i++) CHECK_NEAR(f[i], 0.0, 1e-14 * stiffness);
        }
        CHECK_NEAR(frequency(b.system, nrigid - 1), 0.0, 1e-3 * frequency(b.system, nrigid));
        // Unit velocity along x carries the momentum of the whole mass.
        for (int i = 0; i < n; i++) q[i] = i % dofs == 0 ? 1.0 : 0.0;
        pcs_measure measure;
        b.system->ops->measure(b.system, pcs_at(0.0, q, q), PCS_ENERGY, &measure);
        CHECK_RELATIVE(measure.momentum[0], rho * 0.0025, 1e-14);
        CHECK_NEAR(measure.momentum[1], 0.0, 1e-14 * rho * 0.0025);
        CHECK_RELATIVE(measure.kinetic, 0.5 * rho * 0.0025, 1e-14);
        free(q);
        free(f);
        pcs_context_destroy(&b.ctx);
    }
}

// A flat section bends as it should about both axes, and does not twist under a central load.
TEST(space_beams_bend_in_both_planes)
{
    const double to[3] = { 2.0 / 7.0, 3.0 / 7.0, 6.0 / 7.0 }, orientation[3] = { 3.0 / 7.0, -6.0 / 7.0, 2.0 / 7.0 };
    // local y is the orientation itself, which is square to the beam; z completes them
    const double z[3] = { 6.0 / 7.0, 2.0 / 7.0, -3.0 / 7.0 };
    double sizes[3] = { 0.02, 0.05, shear_factor }, G = 0.5 * E / (1.0 + nu);
    pcs_section section = section_of(0, sizes);
    beam b;
    open_line(&b, to, 1);
    add_support(&b, "start", "111111");
    build(&b, "beam_timo_3d", section, orientation);
    double shear = 1.0 / (G * section.area * shear_factor);
    CHECK_RELATIVE(section.Iz, 0.02 * 0.05 * 0.05 * 0.05 / 12.0, 1e-15);
    CHECK_RELATIVE(compliance(&b, orientation), 1.0 / (3.0 * E * section.Iz) + shear, 1e-12);
    CHECK_RELATIVE(compliance(&b, z), 1.0 / (3.0 * E * section.Iy) + shear, 1e-12);
    CHECK_RELATIVE(compliance(&b, to), 1.0 / (E * section.area), 1e-9);
    pcs_context_destroy(&b.ctx);
}

// A = pi (D^2 - d^2)/4 and the like, by hand.
TEST(sections_have_their_textbook_constants)
{
    const double pi = acos(-1.0);
    pcs_section s;
    double circle[2] = { 0.1, 0.9 }, tube[3] = { 0.1, 0.01, 0.5 }, i[4] = { 0.1, 0.2, 0.01, 0.006 };
    s = section_of(1, circle);
    CHECK_RELATIVE(s.area, pi * 0.0025, 1e-14);
    CHECK_RELATIVE(s.Iz, pi * 1e-4 / 64.0, 1e-14);
    CHECK_RELATIVE(s.torsion, pi * 1e-4 / 32.0, 1e-14);
    s = section_of(2, tube);
    CHECK_RELATIVE(s.area, pi * (0.01 - 0.0064) / 4.0, 1e-14);
    CHECK_RELATIVE(s.Iy, pi * (1e-4 - 0.4096e-4) / 64.0, 1e-14);
    s = section_of(3, i);
    CHECK_RELATIVE(s.area, 2.0 * 0.1 * 0.01 + 0.18 * 0.006, 1e-14);
    CHECK_RELATIVE(s.Iz, 0.1 * 0.008 / 12.0 - 0.094 * 0.005832 / 12.0, 1e-14);
    // Timoshenko and Goodier, table of torsion constants: 0.1406 for a square, 0.312 for ten to one
    s = square(0.2);
    CHECK_RELATIVE(s.torsion, 0.1406 * 0.0016, 4e-4);
    double flat[3] = { 0.01, 0.1, shear_factor };
    s = section_of(0, flat);
    CHECK_RELATIVE(s.torsion, 0.312 * 0.1 * 1e-6, 2e-3);
}
