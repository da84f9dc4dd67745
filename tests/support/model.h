// Small models built straight from definitions, without a case file, for tests of the numerics.
//
// Everything lives in the context of the model. Parameters are written as text, "E=100 rho=2 area=0.5 mass=lumped",
// "nodes=bar.end normal=-1,0,0", and go through the option table of the part; what is not said takes its default.

#ifndef TESTS_SUPPORT_MODEL_H
#define TESTS_SUPPORT_MODEL_H

#include "fe/fe.h"
#include "schemes/scheme.h"

enum { MODEL_PARTS = 8, MODEL_MAX_SIZE = 128 };

typedef struct model {
    pcs_context *ctx;
    pcs_mesh *mesh;
    pcs_fe_definition definition;
    pcs_fe_group groups[MODEL_PARTS];
    pcs_fe_support supports[MODEL_PARTS];
    pcs_fe_initial initials[MODEL_PARTS];
    pcs_fe_load loads[MODEL_PARTS];
    pcs_row_source contacts[MODEL_PARTS];
    pcs_row_source joints[MODEL_PARTS];
    pcs_system *system;  // after model_build
    const char *culprit; // of a build that failed
} model;

model *model_create(void);
void model_destroy(model **m);
// A test whose *state is a new model.
#define TEST_WITH_MODEL(name) TEST_WITHIN(name, model_set_up, model_tear_down)
int model_set_up(void **state);
int model_tear_down(void **state);

// Parameters from an option table. A required real that is not given gets a positive number of its own.
void *model_params(pcs_context *ctx, const pcs_option *options, size_t size, const char *assignments);

// Mesh. `model_chain` takes the positions of its nodes; cell i joins nodes i and i+1.
void model_line(model *m, const char *name, const double from[3], const double to[3], int elements);
void model_chain(model *m, const char *name, int nnode, const double (*x)[3]);
// A node with a cell of its own.
void model_point(model *m, const char *name, const double x[3]);
// A cell between two nodes that are there, or at one of them.
void model_cell(model *m, const char *name, int a, int b);
const pcs_set *model_nodes(const model *m, const char *name);
const pcs_set *model_cells(const model *m, const char *name);

// Parts; the returned entry may be changed until the model is built.
pcs_fe_group *model_group(model *m, const char *element, const char *cells, const char *assignments);
// Makes the area or section of a group vary along its cells: sizes grow by 1.5 from end to end, in steps at two thirds
// of the way or not.
void model_taper(model *m, pcs_fe_group *group, double length, bool is_stepped);
pcs_fe_support *model_support(model *m, const char *nodes, const char *axes); // "xz"
pcs_fe_initial *model_initial(model *m, const char *nodes);
pcs_fe_load *model_gravity(model *m, double gx, double gy, double gz);
pcs_fe_load *model_force(model *m, const char *nodes, double fx, double fy, double fz);
pcs_row_source *model_contact(model *m, const char *name, const char *type, const char *assignments);

pcs_row_source *model_joint(model *m, const char *name, const char *type, const char *assignments);

pcs_status model_try_build(model *m);
void model_build(model *m); // fails the test when it does not work

// A scheme on a model, with the state that it moves.
typedef struct model_run {
    model *m;
    pcs_step_solver *solver;
    pcs_scheme *scheme;
    pcs_state x;
    pcs_step_report report;
} model_run;

// "condensed" and "auto" where `solver` or `linear` is NULL. Initial values are those of the model.
model_run model_prepare(model *m, const char *scheme, const char *assignments, const char *solver, const char *linear);
void model_start(model_run *run);
// One step; any outcome but convergence fails the test.
void model_step(model_run *run, double h);

// [n * n] row-major copy of a sparse matrix; zeros when it is NULL.
void model_dense(const pcs_matrix *A, int n, double *out);
// Solves A x = b for a dense row-major matrix, x in place of b; destroys A.
void model_solve(int n, double *A, double *b);

// Uniform in (-1, 1), always the same numbers for the same seed.
double model_random(unsigned long long *seed);
void model_randomize(unsigned long long *seed, int n, double *x);

#endif
