// A mechanical system in closed form, for programs of your own: compile one file to a shared object and name it in
// the case as `system: { plugin: ./my_system.so, ... }`. The systems that come with Percuss use the same definition.
//
//   M(q) v' = f(t, q, v) + G(q)^T lambda_N + T(q)^T lambda_T,   g(q) >= 0 (or = 0),   q' = v
//
// The object exports `const percuss_system_definition percuss_system`. All functions get the parameters p in the
// order of the table, write only to their last arguments, and keep no state. Functions that may be NULL say so. What
// can be compared (G with the gaps, rate_bias with G, the symmetry of M, derivatives with what they are of) is compared
// when a plug-in is loaded. Objects made for interface 1, which ends before the derivatives, are taken as well.

#ifndef PERCUSS_SYSTEM_H
#define PERCUSS_SYSTEM_H

#ifdef __cplusplus
extern "C" {
#endif

#define PERCUSS_SYSTEM_ABI 2

// Lower end of a parameter's range: greater than zero.
#define PERCUSS_ABOVE_ZERO 2.2250738585072014e-308

typedef struct percuss_parameter {
    const char *name; // NULL ends the table
    const char *help; // with the unit
    double preset;    // NAN if the case must give it
    double low, high; // allowed, ends included; -INFINITY, INFINITY: no limit
} percuss_parameter;

typedef struct percuss_row {
    const char *contact;                               // rows of one contact follow one another and carry the same name
    double restitution, tangent_restitution, friction; // in [0, 1], [0, 1], >= 0
    int is_bilateral;                                  // g = 0 always, the multiplier has any sign
    int ntangent; // 0, 1 (plane) or 2 (space); its rows of T follow those of the rows before
} percuss_row;

typedef struct percuss_system_definition {
    int abi; // PERCUSS_SYSTEM_ABI
    const char *name;
    const char *summary;
    const percuss_parameter *parameters;
    int ncoordinate;                // 1 to 16
    const char *const *coordinates; // [ncoordinate] names, also of the history columns; theta...: an angle, rad
    int is_linear;                  // M, G, T constant, f affine in q and v, potential quadratic in q
    int has_constant_mass, has_constant_directions;

    // Returns NULL if the parameters are valid, else the error; *parameter names the parameter. May be NULL.
    const char *(*check)(const double *p, const char **parameter);
    int (*row_count)(const double *p);               // 0 to 64
    void (*rows)(const double *p, percuss_row *row); // [row_count]
    void (*start)(const double *p, double *q, double *v);
    double (*length)(const double *p); // m, size of the system: the scale of gaps

    void (*mass)(const double *p, const double *q, double *M); // row-major, symmetric
    void (*force)(const double *p, double t, const double *q, const double *v, double *f);
    void (*gaps)(const double *p, const double *q, double *g);
    void (*directions)(const double *p, const double *q, double *G, double *T); // row-major; T only with friction
    // (dG/dt) v; NULL if G is constant.
    void (*rate_bias)(const double *p, const double *q, const double *v, double *bias);
    void (*energy)(const double *p, const double *q, const double *v, double *kinetic, double *potential);
    // Work of applied (not conservative) forces, taken at time t, from q0 to q1; NULL if there are none. In a linear
    // system they depend on t only.
    double (*load_work)(const double *p, double t, const double *q0, const double *q1);

    // Points to draw, and lines between them (`cells`). Both functions may be NULL.
    int npoint, ncell;
    const int (*cells)[2];
    void (*points)(const double *p, const double *q, double (*x)[3]);
    void (*contact_points)(const double *p, const double *q, double (*position)[3], double (*normal)[3]);

    // Derivatives for implicit schemes, row-major: K = -df/dq and C = -df/dv; A = d(M a)/dq with a constant. NULL:
    // finite differences, which are slower and as accurate.
    void (*tangents)(const double *p, double t, const double *q, const double *v, double *K, double *C);
    void (*inertia_tangent)(const double *p, const double *q, const double *a, double *A);
} percuss_system_definition;

#ifdef __cplusplus
}
#endif

#endif
