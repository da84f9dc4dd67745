// Walls, floors, stops and bearings that stand still as a legacy VTK file of polygons, obstacles.vtk, and bearings,
// discs and joints that nodes carry at the places of a frame.
//
// An obstacle that stands still has no end in the model. It is drawn where the nodes come near that may touch it, or,
// as long as none does, as far as they come, and a margin further; with a thickness behind its surface, so that it is
// seen from the side, too. What is carried stands at x + R r, along R a, with R the rotation of its node. Cell data:
// the number of its contact or joint, -1 for a disc.

#include "core/rotation.h"
#include "output/frames.h"
#include "output/series.h"

#include <math.h>
#include <string.h>

enum { SIDES = PCS_OBSTACLE_SIDES, MAX_RINGS = PCS_OBSTACLE_RINGS, BALL_RINGS = MAX_RINGS };

static const double PI = 3.14159265358979323846;
static const double MARGIN = 0.06, THICKNESS = 0.02; // of the size of the whole motion
static const double MARK = 0.008;                    // radius of a joint, of the size of the model
static const double MARK_BODY = 1.4;                 // and of the radius of the body there
static const double MARK_LENGTH = 4.0;               // along its axis, of its radius
static const double STILL = 1e-5;                    // a motion that is not seen, of the size of the model
static const double WALL = 0.3;                      // of a bearing that is carried, of its radius

// A positioned shape: a slab, or rings around an axis.
typedef struct obstacles_shape {
    bool is_slab;
    int contact;
    double point[3], frame[3][3]; // its axis and two unit vectors normal to it
    double low[3], high[3];       // bounds of a slab along these, m
    int nring;
    double along[MAX_RINGS], radius[MAX_RINGS]; // m
    bool is_loop;                               // the last ring is joined to the first; otherwise both ends have caps
} obstacles_shape;

static void obstacles_add_ring(obstacles_shape *s, double along, double radius)
{
    s->along[s->nring] = along;
    s->radius[s->nring++] = radius;
}

// Adds the rings of a cylinder, or of a tube around a bore.
static void obstacles_make_rings(obstacles_shape *s, pcs_obstacle_kind kind, double low, double high,
                                 const double radius[2])
{
    obstacles_add_ring(s, low, radius[0]);
    obstacles_add_ring(s, high, radius[0]);
    s->is_loop = kind == PCS_OBSTACLE_BORE;
    if (!s->is_loop) return;
    obstacles_add_ring(s, high, radius[1]);
    obstacles_add_ring(s, low, radius[1]);
}

// Returns the diagonal of all positions over the run, m.
static double obstacles_size(const pcs_system *system, const pcs_frames_record *record)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double extent = record->position[k].above + record->position[k].below;
        sum += extent * extent;
    }
    return sum > 0.0 ? sqrt(sum) : system->length;
}

// Makes the shape of a fixed obstacle as long as nodes come near it; a slab extends beyond them by the largest radius.
static void obstacles_make_still(const pcs_obstacle *o, const pcs_bounds reach[6], double size, double radius,
                                 obstacles_shape *s)
{
    double margin = MARGIN * size + (o->kind == PCS_OBSTACLE_PLANE ? radius : 0.0);
    const pcs_bounds *near = !o->is_long && -reach[3].below <= reach[3].above ? reach + 3 : reach;
    *s = (obstacles_shape){ .is_slab = o->kind == PCS_OBSTACLE_PLANE, .contact = o->contact };
    memcpy(s->point, o->point, sizeof s->point);
    pcs_reach_frame(o->axis, s->frame);
    for (int a = 0; a < 3; a++) {
        s->low[a] = -near[a].below - margin;
        s->high[a] = near[a].above + margin;
    }
    if (!s->is_slab)
        obstacles_make_rings(s, o->kind, s->low[0], s->high[0], (double[2]){ o->radius, o->radius + THICKNESS * size });
    s->low[0] = -THICKNESS * size;
    s->high[0] = 0.0;
}

// Moves a point (`arm` from its node, m) and a direction from the reference state with the motion of their node.
static void obstacles_carry(const pcs_picture *picture, int node, const double arm[3], const double axis[3],
                            double point[3], double direction[3])
{
    static const double no_turn[3];
    double R[9];
    pcs_rotation_exp(picture->rotation == NULL ? no_turn : picture->rotation[node], R);
    pcs_rotation_apply(R, arm, point);
    pcs_rotation_apply(R, axis, direction);
    for (int k = 0; k < 3; k++) point[k] += picture->reference[node][k] + picture->displacement[node][k];
}

static double obstacles_mark(const pcs_system *system, const pcs_obstacle *o)
{
    if (o->radius > 0.0) return o->radius;
    int node = o->kind == PCS_OBSTACLE_ROD ? o->end_node : o->carrier;
    double body = system->picture->radius == NULL ? 0.0 : system->picture->radius[node];
    return fmax(MARK * system->length, MARK_BODY * body);
}

static void obstacles_make_rod(const pcs_system *system, const pcs_obstacle *o, obstacles_shape *s, double axis[3])
{
    double end[3], ignored[3];
    if (o->carrier >= 0) obstacles_carry(system->picture, o->carrier, o->point, o->axis, s->point, ignored);
    else memcpy(s->point, o->point, sizeof s->point);
    obstacles_carry(system->picture, o->end_node, o->end, o->axis, end, ignored);
    for (int k = 0; k < 3; k++) axis[k] = end[k] - s->point[k];
    double length = pcs_norm3(axis), radius = 0.5 * obstacles_mark(system, o);
    if (!pcs_normalize3(axis, axis)) axis[2] = 1.0;
    obstacles_make_rings(s, o->kind, 0.0, length, (double[2]){ radius });
}

static void obstacles_make_ball(obstacles_shape *s, double radius)
{
    for (int i = 0; i < BALL_RINGS; i++) {
        double angle = PI * (i + 0.5) / BALL_RINGS;
        obstacles_add_ring(s, -radius * cos(angle), radius * sin(angle));
    }
}

// Makes the shape of an obstacle fixed to a node, at the present positions of the picture.
static void obstacles_make_carried(const pcs_system *system, const pcs_obstacle *o, obstacles_shape *s)
{
    double radius = obstacles_mark(system, o), axis[3];
    double half = 0.5 * (o->length > 0.0 ? o->length : MARK_LENGTH * radius);
    *s = (obstacles_shape){ .contact = o->contact };
    if (o->kind == PCS_OBSTACLE_ROD) {
        obstacles_make_rod(system, o, s, axis);
    } else {
        obstacles_carry(system->picture, o->carrier, o->point, o->axis, s->point, axis);
        if (o->kind == PCS_OBSTACLE_BALL) obstacles_make_ball(s, radius);
        else obstacles_make_rings(s, o->kind, -half, half, (double[2]){ radius, (1.0 + WALL) * radius });
    }
    if (o->kind == PCS_OBSTACLE_BALL) memcpy(axis, (double[3]){ 0.0, 0.0, 1.0 }, sizeof axis);
    pcs_reach_frame(axis, s->frame);
}

static void obstacles_add_point(pcs_obstacles *o, const obstacles_shape *s, const double x[3])
{
    double *at = o->position[o->vtk.npoint++];
    for (int k = 0; k < 3; k++)
        at[k] = s->point[k] + x[0] * s->frame[0][k] + x[1] * s->frame[1][k] + x[2] * s->frame[2][k];
}

static void obstacles_add_points(pcs_obstacles *o, const obstacles_shape *s)
{
    for (int i = 0; s->is_slab && i < 8; i++)
        obstacles_add_point(o, s,
                            (double[3]){ i < 4 ? s->high[0] : s->low[0], (i & 1) != 0 ? s->high[1] : s->low[1],
                                         (i & 2) != 0 ? s->high[2] : s->low[2] });
    for (int ring = 0; ring < s->nring; ring++)
        for (int i = 0; i < SIDES; i++) {
            double angle = 2.0 * PI * i / SIDES, radius = s->radius[ring];
            obstacles_add_point(o, s, (double[3]){ s->along[ring], radius * cos(angle), radius * sin(angle) });
        }
}

static void obstacles_add_polygon(pcs_obstacles *o, int contact, int first, int count, const int *corner)
{
    o->entry[o->vtk.nentry++] = count;
    for (int i = 0; i < count; i++) o->entry[o->vtk.nentry++] = first + corner[i];
    o->contact[o->vtk.ncell++] = contact;
}

static void obstacles_add_slab(pcs_obstacles *o, int contact, int first)
{
    static const int corners[6][4] = { { 0, 1, 3, 2 }, { 4, 6, 7, 5 }, { 0, 4, 5, 1 },
                                       { 2, 3, 7, 6 }, { 0, 2, 6, 4 }, { 1, 5, 7, 3 } };
    for (int i = 0; i < 6; i++) obstacles_add_polygon(o, contact, first, 4, corners[i]);
}

// Adds quadrilaterals between two rings of points.
static void obstacles_add_band(pcs_obstacles *o, int contact, int ring, int other)
{
    for (int i = 0; i < SIDES; i++) {
        int next = (i + 1) % SIDES;
        obstacles_add_polygon(o, contact, 0, 4, (int[4]){ ring + i, ring + next, other + next, other + i });
    }
}

static void obstacles_add_cap(pcs_obstacles *o, int contact, int ring)
{
    int corners[SIDES];
    for (int i = 0; i < SIDES; i++) corners[i] = i;
    obstacles_add_polygon(o, contact, ring, SIDES, corners);
}

static void obstacles_add(pcs_obstacles *o, const obstacles_shape *s)
{
    int first = o->first_point, last = first + (s->nring - 1) * SIDES;
    obstacles_add_points(o, s);
    if (s->is_slab) {
        obstacles_add_slab(o, s->contact, first);
        return;
    }
    for (int ring = first; ring < last; ring += SIDES) obstacles_add_band(o, s->contact, ring, ring + SIDES);
    if (s->is_loop) {
        obstacles_add_band(o, s->contact, last, first);
    } else {
        obstacles_add_cap(o, s->contact, first);
        obstacles_add_cap(o, s->contact, last);
    }
}

// Makes the shape of fixed obstacle i, sized by the record, or without one of carried obstacle i.
static void obstacles_make(const pcs_system *system, const pcs_frames_record *record, int i, obstacles_shape *s)
{
    const pcs_obstacle *o = &system->picture->obstacles[i];
    if (record == NULL) obstacles_make_carried(system, o, s);
    else obstacles_make_still(o, record->reach + 6 * i, obstacles_size(system, record), record->radius->above, s);
}

// Makes obstacle i of the file.
static void obstacles_make_part(void *user, int i)
{
    pcs_obstacles *o = user;
    obstacles_shape s;
    o->first_point = i == 0 ? 0 : o->first_point + o->vtk.npoint;
    o->vtk.npoint = o->vtk.ncell = o->vtk.nentry = 0;
    obstacles_make(o->system, o->record, o->record == NULL ? o->system->picture->nstill + i : i, &s);
    obstacles_add(o, &s);
}

pcs_status pcs_obstacles_write_still(pcs_obstacles *o, pcs_file *f, const pcs_view *view,
                                     const pcs_frames_record *record)
{
    o->record = record;
    o->vtk.npart = view->system->picture->nstill;
    if (o->vtk.npart == 0) return PCS_OK;
    PCS_TRY(pcs_file_open(f, "obstacles.vtk"));
    pcs_vtk_put(&o->vtk, f, "what stands still; contact: as in contacts.vtk.series", NULL);
    return pcs_file_commit(f);
}

pcs_status pcs_obstacles_create(pcs_context *ctx, const pcs_view *view, pcs_obstacles *out)
{
    const pcs_picture *picture = view->system->picture;
    *out = (pcs_obstacles){ .system = view->system };
    if (picture != NULL) out->ncarried = picture->nobstacle - picture->nstill;
    PCS_TAKE(ctx, out->last, out->ncarried, "bearings, discs and joints");
    out->array = (pcs_vtk_array){ .name = "contact", .ncomponent = 1, .x = out->contact, .is_integer = true };
    out->vtk = (pcs_vtk){ .dataset = "POLYDATA", .cell_kind = "POLYGONS", .entry = out->entry, .ncell_array = 1 };
    out->vtk.position = out->position[0];
    out->vtk.cell_arrays = &out->array;
    out->vtk.make_part = obstacles_make_part;
    out->vtk.user = out;
    return pcs_series_create(ctx, view, "obstacles", &out->series);
}

pcs_status pcs_obstacles_carry(pcs_obstacles *o, pcs_carrier *c)
{
    pcs_carry_words(c, "places", o->last, (size_t)o->ncarried * sizeof *o->last / 8);
    return pcs_series_carry(&o->series, c);
}

// Fills x with two points that locate a carried obstacle: its own, and one along its axis.
static void obstacles_find(const pcs_system *system, int carried, double x[6])
{
    obstacles_shape s;
    obstacles_make(system, NULL, system->picture->nstill + carried, &s);
    for (int k = 0; k < 3; k++) {
        x[k] = s.point[k];
        x[3 + k] = s.point[k] + s.along[1] * s.frame[0][k];
    }
}

// Returns true if a carried obstacle has moved since the last frame.
static bool obstacles_have_moved(const pcs_system *system, const pcs_obstacles *o)
{
    bool have_moved = o->series.count == 0;
    for (int i = 0; i < o->ncarried && !have_moved; i++) {
        double x[6];
        obstacles_find(system, i, x);
        for (int k = 0; k < 6; k++) have_moved = have_moved || fabs(x[k] - o->last[i][k]) > STILL * system->length;
    }
    return have_moved;
}

pcs_status pcs_obstacles_write_carried(pcs_obstacles *o, const pcs_view *view)
{
    if (o->ncarried == 0 || !obstacles_have_moved(view->system, o)) return PCS_OK;
    for (int i = 0; i < o->ncarried; i++) obstacles_find(view->system, i, o->last[i]);
    o->record = NULL;
    o->vtk.npart = o->ncarried;
    return pcs_series_write(&o->series, &o->vtk,
                            "bearings, discs and joints; contact: joints after contacts, -1 a disc", view->state);
}
