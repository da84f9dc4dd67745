// A circular arc of equal cells: with r = start - centre, unit normal n and the angle a_i = angle i / elements,
//
//   x_i = centre + cos(a_i) r + sin(a_i) n x r
//
// An arc of 360 degrees closes: its last cell ends at its first node. Sets as of a line; at a closed arc `name.end` is
// the node of `name.start`.

#include "mesh/mesh.h"

#include <math.h>

typedef struct arc_params {
    double centre[3], start[3], normal[3], angle;
    int elements;
} arc_params;

static const pcs_option arc_options[] = {
    PCS_VECTOR("centre", arc_params, centre, PCS_REQUIRED, PCS_ANY_NUMBER, "centre of the circle, m"),
    PCS_VECTOR("start", arc_params, start, PCS_REQUIRED, PCS_ANY_NUMBER, "position of the first node, m"),
    PCS_REAL("angle", arc_params, angle, PCS_REQUIRED, PCS_WITHIN(-360.0, 360.0),
             "from the first to the last node, right-handed about the normal, degrees; 360: a closed circle"),
    PCS_VECTOR("normal", arc_params, normal, PCS_DEFAULT("[0.0, 0.0, 1.0]"), PCS_ANY_NUMBER,
               "axis of the circle; any length"),
    PCS_COUNT("elements", arc_params, elements, PCS_REQUIRED_OR_AUTO, PCS_WITHIN(1, 1 << 28), "number of cells"),
    { 0 },
};

static bool arc_is_closed(const arc_params *p)
{
    return fabs(p->angle) == 360.0;
}

// Computes r and n x r, m. Returns false if a length is zero or not finite. *slope is the cosine between r and n.
static bool arc_axes(const arc_params *p, double r[3], double s[3], double *slope)
{
    double n[3], nn = 0.0, rr = 0.0, rn = 0.0;
    double largest = fmax(fabs(p->normal[0]), fmax(fabs(p->normal[1]), fabs(p->normal[2])));
    for (int k = 0; k < 3; k++) {
        r[k] = p->start[k] - p->centre[k];
        n[k] = p->normal[k] / largest;
        rr += r[k] * r[k];
        nn += n[k] * n[k];
        rn += r[k] * n[k];
    }
    double length = sqrt(nn);
    *slope = rn / (sqrt(rr) * length);
    for (int k = 0; k < 3; k++) s[k] = (n[(k + 1) % 3] * r[(k + 2) % 3] - n[(k + 2) % 3] * r[(k + 1) % 3]) / length;
    return rr > 0.0 && isfinite(rr) && isfinite(*slope);
}

static const char *arc_check(const void *params, const char **option)
{
    const arc_params *p = params;
    double r[3], s[3], slope;
    *option = "angle";
    if (p->angle == 0.0) return "the arc has no length: its angle is 0";
    *option = "normal";
    if (p->normal[0] == 0.0 && p->normal[1] == 0.0 && p->normal[2] == 0.0) return "the normal has no direction";
    *option = "start";
    if (!arc_axes(p, r, s, &slope)) return "the arc has no radius: 'start' and 'centre' must differ and be measurable";
    if (fabs(slope) > 1e-9)
        return "'start' does not lie in the plane of the circle: start - centre must be "
               "perpendicular to the normal";
    *option = "elements";
    return arc_is_closed(p) && p->elements < 3 ? "a closed circle needs at least 3 cells" : NULL;
}

// Computes cosine and sine of an angle in degrees, exact at quarter turns.
static void arc_turn(double degrees, double *cosine, double *sine)
{
    const double radian = 0.017453292519943295769;
    double quarter = round(degrees / 90.0), rest = (degrees - 90.0 * quarter) * radian, c = cos(rest), s = sin(rest);
    int quarters = ((int)quarter % 4 + 4) % 4;
    const double cosines[] = { c, -s, -c, s }, sines[] = { s, c, -s, -c };
    *cosine = cosines[quarters];
    *sine = sines[quarters];
}

static pcs_status arc_build(const void *params, const char *name, pcs_mesh *mesh)
{
    const arc_params *p = params;
    double r[3], s[3], slope, cosine, sine;
    int n = p->elements, nnode = arc_is_closed(p) ? n : n + 1, node;
    arc_axes(p, r, s, &slope);
    PCS_TRY(pcs_mesh_add_chain(mesh, name, n, nnode, &node));
    for (int i = 0; i < nnode; i++) {
        arc_turn(p->angle * i / n, &cosine, &sine);
        for (int k = 0; k < 3; k++) mesh->x[node + i][k] = p->centre[k] + cosine * r[k] + sine * s[k];
    }
    return PCS_OK;
}

const pcs_mesh_source_ops pcs_mesh_arc = {
    .name = "arc",
    .summary = "circular arc of equal cells; sets NAME, NAME.start, NAME.rest (all nodes but the first), NAME.end",
    .options = arc_options,
    .params_size = sizeof(arc_params),
    .check = arc_check,
    .build = arc_build,
};
