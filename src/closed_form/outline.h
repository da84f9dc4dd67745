// Common parts of closed-form systems: outlines of bodies for pictures, in the x-y plane; masses and directions.

#ifndef PCS_CLOSED_FORM_OUTLINE_H
#define PCS_CLOSED_FORM_OUTLINE_H

#include <math.h>

enum { PCS_OUTLINE_CIRCLE = 17 }; // number of points: the rim, then the centre

// Cells of a circle whose points are the first ones: the rim and a spoke that shows the rotation.
// clang-format off
#define PCS_OUTLINE_CIRCLE_CELLS                                                                                     \
    { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 4 }, { 4, 5 }, { 5, 6 }, { 6, 7 }, { 7, 8 }, { 8, 9 }, { 9, 10 }, { 10, 11 }, \
    { 11, 12 }, { 12, 13 }, { 13, 14 }, { 14, 15 }, { 15, 0 }, { 16, 0 }
// clang-format on
enum { PCS_OUTLINE_CIRCLE_LINES = 17 };

static inline void pcs_outline_point(double (*x)[3], double px, double py)
{
    (*x)[0] = px;
    (*x)[1] = py;
    (*x)[2] = 0.0;
}

static inline void pcs_outline_circle(double cx, double cy, double radius, double angle, double (*x)[3])
{
    const double angle_step = 6.283185307179586 / (PCS_OUTLINE_CIRCLE - 1);
    for (int i = 0; i < PCS_OUTLINE_CIRCLE - 1; i++)
        pcs_outline_point(&x[i], cx + radius * cos(angle + i * angle_step), cy + radius * sin(angle + i * angle_step));
    pcs_outline_point(&x[PCS_OUTLINE_CIRCLE - 1], cx, cy);
}

// Computes the corners of a rectangle of half lengths a and b, m, counter-clockwise from the lower left one.
static inline void pcs_outline_rectangle(double cx, double cy, double a, double b, double angle, double (*x)[3])
{
    double c = cos(angle), s = sin(angle);
    const double along[] = { -a, a, a, -a }, across[] = { -b, -b, b, b };
    for (int i = 0; i < 4; i++)
        pcs_outline_point(&x[i], cx + c * along[i] - s * across[i], cy + s * along[i] + c * across[i]);
}

// Outline of a mass without a size: a block on its contact point, and the path from its start.
enum { PCS_OUTLINE_BLOCK = 6, PCS_OUTLINE_BLOCK_LINES = 5 };
#define PCS_OUTLINE_BLOCK_CELLS             \
    { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 0 }, \
    {                                       \
        4, 5                                \
    }

static inline double pcs_outline_block_size(double length)
{
    return 0.03 * length;
}

// Computes the block from the contact point (px, py) on a floor rotated by `angle`; points 4 and 5 are its path.
static inline void pcs_outline_block(double px, double py, double length, double angle, double (*x)[3])
{
    double a = pcs_outline_block_size(length), b = 0.5 * a;
    pcs_outline_rectangle(px - b * sin(angle), py + b * cos(angle), a, b, angle, x);
    pcs_outline_point(&x[4], px, py);
}

// Parts of definitions that several systems have in common. The first parameter of each of them is its mass, kg.

static inline int pcs_one_row(const double *p)
{
    return 1;
}

static inline void pcs_mass_on_line(const double *p, const double *q, double *M)
{
    M[0] = p[0];
}

static inline void pcs_mass_in_plane(const double *p, const double *q, double *M)
{
    M[0] = M[3] = p[0];
    M[1] = M[2] = 0.0;
}

// Clears K and C: a weight is constant.
static inline void pcs_tangents_of_weight(const double *p, double t, const double *q, const double *v, double *K,
                                          double *C)
{
    for (int k = 0; k < 9; k++) K[k] = C[k] = 0.0;
}

static inline void pcs_direction_on_line(const double *p, const double *q, double *G, double *T)
{
    G[0] = 1.0;
}

// Sets the directions of a point on a floor: q = (along, off the floor).
static inline void pcs_directions_on_floor(const double *p, const double *q, double *G, double *T)
{
    G[0] = T[1] = 0.0;
    G[1] = T[0] = 1.0;
}

static inline void pcs_gap_on_floor(const double *p, const double *q, double *g)
{
    g[0] = q[1];
}

// Computes sine and cosine of an angle, exact at 0 and 90 degrees.
static inline void pcs_split_degrees(double degrees, double *s, double *c)
{
    const double degree = 0.017453292519943295;
    *s = sin(degrees * degree);
    *c = sin((90.0 - degrees) * degree);
}

#endif
