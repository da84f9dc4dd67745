// Frames of the model for ParaView: unstructured grid of lines at the current positions. Beside them what stands still,
// at first as large as the model, in the end as large as its motion, and as a series of its own what nodes carry.
//
// Points are reference + displacement, so that the body moves by itself. Point data: displacement, velocity, rotation,
// radius (for ParaView's Tube filter), section forces. Cell data: the y axis of the section and the system's fields
// (axial_force, stress, strain_energy, ...).
//
// With several processes either the first one writes the frame, or each writes its piece. A frame in pieces is
// completed by all together: they agree that all pieces are there, then the first one writes index and list. If a piece
// fails, all learn of it and the frame is removed.

#define _POSIX_C_SOURCE 200809L // access

#include "output/frames.h"

#include "core/rotation.h"
#include "core/text.h"
#include "output/series.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Bounds of the motion and of the fields, gathered while frames are drawn.

// Chooses the first normal as near as possible to z, else y, else x: the direction across a plane model.
static void reach_frame(const double axis[3], double frame[3][3])
{
    int least = 2;
    for (int k = 1; k >= 0; k--)
        if (fabs(axis[k]) < fabs(axis[least])) least = k;
    double across[3];
    for (int k = 0; k < 3; k++) across[k] = (k == least) - axis[least] * axis[k];
    memcpy(frame[0], axis, sizeof frame[0]);
    pcs_normalize3(across, frame[1]);
    pcs_cross(frame[0], frame[1], frame[2]);
}

// Widens a range to a number; not by fmax, which is a call.
static inline void record_widen(pcs_bounds *range, double x)
{
    if (-x > range->below) range->below = -x;
    if (x > range->above) range->above = x;
}

static const double NEARNESS = 0.1; // relative to the size of the model

static pcs_status record_create(pcs_context *ctx, const pcs_system *system, pcs_frames_record *out)
{
    const pcs_picture *picture = system->picture;
    int nfield = picture->nfield + picture->npoint_field;
    *out = (pcs_frames_record){ .nrange = 3 + 4 * PCS_FRAME_VECTORS + 1 + 6 * picture->nstill + nfield };
    out->ctx = ctx;
    out->nearness = NEARNESS * system->length;
    PCS_TAKE(ctx, out->position, out->nrange, "bounds of the fields");
    PCS_TAKE(ctx, out->field_time, nfield, "bounds of the fields");
    PCS_TAKE(ctx, out->size_before, nfield, "bounds of the fields");
    out->vectors = out->position + 3;
    out->radius = out->vectors + 4 * PCS_FRAME_VECTORS;
    out->reach = out->radius + 1;
    out->fields = out->reach + 6 * picture->nstill;
    for (int i = 0; i < out->nrange; i++) out->position[i] = (pcs_bounds){ -INFINITY, -INFINITY };
    for (int i = 0; i < nfield; i++) out->field_time[i] = NAN;
    record_widen(out->radius, 0.0);
    int nradius = picture->radius == NULL ? 0 : picture->npoint;
    for (int i = 0; i < nradius; i++) record_widen(out->radius, picture->radius[i]);
    return PCS_OK;
}

static void record_add_points(pcs_frames_record *record, const pcs_picture *picture)
{
    for (int i = 0; i < picture->npoint; i++) {
        double r = picture->radius == NULL ? 0.0 : picture->radius[i];
        for (int k = 0; k < 3; k++) {
            double x = picture->reference[i][k] + picture->displacement[i][k];
            record_widen(&record->position[k], x - r);
            record_widen(&record->position[k], x + r);
        }
    }
}

// Adds the extent of carried discs and bearings, which may be larger than their bodies.
static void record_add_carried(pcs_frames_record *record, const pcs_picture *picture)
{
    if (!pcs_is_root(record->ctx)) return;
    for (int i = picture->nstill; i < picture->nobstacle; i++) {
        const pcs_obstacle *o = &picture->obstacles[i];
        if (!(o->radius > 0.0)) continue;
        for (int k = 0; k < 3; k++) {
            double x = picture->carrier_reference[o->carrier][k] + picture->carrier_motion[6 * o->carrier + k];
            double across = sqrt(fmax(1.0 - o->axis[k] * o->axis[k], 0.0)); // in its initial position
            record_widen(&record->position[k], x - o->radius * across);
            record_widen(&record->position[k], x + o->radius * across);
        }
    }
}

static void record_add_field(pcs_bounds *field, const double *x, int count)
{
    pcs_bounds range = *field;
    for (int c = 0; c < count; c++) record_widen(&range, x[c]);
    *field = range;
}

static void record_add_vectors(pcs_frames_record *record, const pcs_picture *picture)
{
    double(*const vectors[PCS_FRAME_VECTORS])[3] = { picture->displacement, picture->velocity, picture->rotation };
    for (int v = 0; v < PCS_FRAME_VECTORS; v++)
        for (int i = 0; vectors[v] != NULL && i < picture->npoint; i++) {
            const double *x = vectors[v][i], all[4] = { x[0], x[1], x[2], pcs_norm3(x) };
            for (int k = 0; k < 4; k++) record_widen(&record->vectors[4 * v + k], all[k]);
        }
}

// Returns the distance of a node from the surface, m, from its coordinates along the obstacle's axes.
static double record_distance(const pcs_obstacle *o, const double x[3])
{
    if (o->kind == PCS_OBSTACLE_PLANE) return x[0] - o->node_radius;
    return fabs(hypot(x[1], x[2]) - o->radius) - o->node_radius;
}

static void record_add_reach(pcs_bounds reach[6], const pcs_obstacle *o, const pcs_picture *picture, double nearness)
{
    double frame[3][3];
    reach_frame(o->axis, frame);
    for (int i = 0; i < o->nnode; i++) {
        int node = o->nodes[i];
        double d[3], x[3];
        for (int k = 0; k < 3; k++) d[k] = picture->reference[node][k] + picture->displacement[node][k] - o->point[k];
        for (int a = 0; a < 3; a++) x[a] = pcs_dot3(frame[a], d);
        int count = record_distance(o, x) <= nearness ? 6 : 3;
        for (int a = 0; a < count; a++) {
            record_widen(&reach[a], x[a % 3] - o->node_radius);
            record_widen(&reach[a], x[a % 3] + o->node_radius);
        }
    }
}

static void record_add(pcs_frames_record *record, const pcs_picture *picture, double t)
{
    int nfield = picture->nfield + picture->npoint_field;
    record->count++;
    record_add_points(record, picture);
    record_add_carried(record, picture);
    record_add_vectors(record, picture);
    for (int k = 0; k < nfield; k++) record->size_before[k] = fmax(record->fields[k].below, record->fields[k].above);
    for (int k = 0; k < picture->nfield; k++) record_add_field(&record->fields[k], picture->fields[k], picture->ncell);
    for (int k = 0; k < picture->npoint_field; k++)
        record_add_field(&record->fields[picture->nfield + k], picture->point_fields[k], picture->npoint);
    for (int i = 0; i < picture->nstill; i++)
        record_add_reach(record->reach + 6 * i, &picture->obstacles[i], picture, record->nearness);
    pcs_process_max(record->ctx, 2 * record->nrange, &record->position->below);
    for (int k = 0; k < nfield; k++)
        if (fmax(record->fields[k].below, record->fields[k].above) > record->size_before[k]) record->field_time[k] = t;
}

static void record_carry(pcs_frames_record *record, const pcs_picture *picture, pcs_carrier *c)
{
    pcs_carry_words(c, "count", &record->count, 1);
    pcs_carry_words(c, "ranges", record->position, 2 * (size_t)record->nrange);
    pcs_carry_words(c, "field_time", record->field_time, (size_t)picture->nfield + (size_t)picture->npoint_field);
}

// Walls, floors, stops and bearings that stand still as a legacy VTK file of polygons, obstacles.vtk, and bearings,
// discs and joints that nodes carry at the places of a frame.
//
// An obstacle that stands still has no end in the model. It is drawn where the nodes come near that may touch it, or,
// as long as none does, as far as they come, and a margin further; with a thickness behind its surface, so that it is
// seen from the side, too. What is carried is at x + R r, along R a, with R the rotation of its node. Cell data:
// the number of its contact or joint, -1 for a disc.

enum { SIDES = PCS_OBSTACLE_SIDES, MAX_RINGS = PCS_OBSTACLE_RINGS, BALL_RINGS = MAX_RINGS };

static const double PI = 3.14159265358979323846;
static const double MARGIN = 0.06, THICKNESS = 0.02; // relative to the size of the whole motion
static const double MARK = 0.008;                    // radius of a joint, relative to the size of the model
static const double MARK_BODY = 1.4;                 // relative to the radius of the body there
static const double MARK_LENGTH = 4.0;               // length along its axis, relative to its radius
static const double STILL = 1e-5;                    // invisible motion, relative to the size of the model
static const double WALL = 0.3;                      // of a bearing on a node, relative to its radius

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

// Returns NULL if the options are valid.
static const char *pcs_frames_check(const void *params, const char **option)
{
    const pcs_frames_params *p = params;
    *option = "window";
    if (p->window.count != 2 * p->window.nrow) return "must be [from, to] or a list of such pairs";
    for (int i = 0; i < p->window.count; i += 2)
        if (!(p->window.value[i] <= p->window.value[i + 1])) return "a window ends before it begins";
    return NULL;
}

// Makes it a series of pieces, of which this process writes one; before it is read from a checkpoint or begins.
static void series_split(pcs_series *s, int npiece, int piece, const pcs_vtk *data)
{
    s->is_xml = true;
    s->npiece = npiece;
    s->piece = piece;
    s->data = data;
    if (piece > 0) s->file->is_mute = false;
}

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
    reach_frame(o->axis, s->frame);
    for (int a = 0; a < 3; a++) {
        s->low[a] = -near[a].below - margin;
        s->high[a] = near[a].above + margin;
    }
    if (!s->is_slab)
        obstacles_make_rings(s, o->kind, s->low[0], s->high[0], (double[2]){ o->radius, o->radius + THICKNESS * size });
    s->low[0] = -THICKNESS * size;
    s->high[0] = 0.0;
}

// Moves a point (`arm` from its node, m) and a direction from the reference state with the motion of their carrier.
static void obstacles_carry(const pcs_picture *picture, int carrier, const double arm[3], const double axis[3],
                            double point[3], double direction[3])
{
    double R[9];
    const double *motion = picture->carrier_motion + 6 * carrier;
    pcs_rotation_exp(motion + 3, R);
    pcs_rotation_apply(R, arm, point);
    pcs_rotation_apply(R, axis, direction);
    for (int k = 0; k < 3; k++) point[k] += picture->carrier_reference[carrier][k] + motion[k];
}

static double obstacles_mark(const pcs_system *system, const pcs_obstacle *o)
{
    if (o->radius > 0.0) return o->radius;
    double body = system->picture->carrier_radius[o->kind == PCS_OBSTACLE_ROD ? o->end_node : o->carrier];
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
    reach_frame(axis, s->frame);
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

// Writes the fixed obstacles, if there are any, as large as the record requires.
static pcs_status obstacles_write_still(pcs_obstacles *o, pcs_file *f, const pcs_view *view,
                                        const pcs_frames_record *record)
{
    o->record = record;
    o->vtk.npart = view->system->picture->nstill;
    if (o->vtk.npart == 0) return PCS_OK;
    PCS_TRY(pcs_file_open(f, "obstacles.vtk"));
    pcs_vtk_put(&o->vtk, f, "fixed obstacles; contact: as in contacts.vtk.series", NULL);
    return pcs_file_commit(f);
}

static pcs_status obstacles_create(pcs_context *ctx, const pcs_view *view, pcs_obstacles *out)
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

// Serializes the state of the series, within the part of an observer.
static pcs_status pcs_obstacles_carry(pcs_obstacles *o, pcs_carrier *c)
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

// Writes the carried obstacles at the positions of the picture, if one has moved since the last frame.
static pcs_status obstacles_write_carried(pcs_obstacles *o, const pcs_view *view)
{
    if (o->ncarried == 0 || !obstacles_have_moved(view->system, o)) return PCS_OK;
    for (int i = 0; i < o->ncarried; i++) obstacles_find(view->system, i, o->last[i]);
    o->record = NULL;
    o->vtk.npart = o->ncarried;
    return pcs_series_write(&o->series, &o->vtk,
                            "bearings, discs and joints; contact: joints after contacts, -1 a disc", view->state);
}

enum { PATH_ROOM = 4096, NAME_ROOM = 64, KNOWN_ROOM = 512 };

typedef struct frames_data {
    pcs_frames_record record; // must be first, as others find it by this observer's name
    pcs_series series;
    pcs_obstacles obstacles;
    pcs_vtk vtk;
    double (*position)[3]; // [picture npoint] m
} frames_data;

static const char *const frames_precisions[] = { "double", "float", NULL };
static const char *const frames_formats[] = { "vtk", "vtu", NULL };
static const char *const frames_pieces[] = { "auto", "always", "never", NULL };

static const pcs_option frames_options[] = {
    PCS_COUNT("every", pcs_frames_params, every, PCS_OPTIONAL, PCS_NOT_NEGATIVE,
              "steps from frame to frame, 0: no frames; by default about 100 frames over the run or its windows"),
    PCS_LIST("window", pcs_frames_params, window, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "[from, to], s, or a list of such pairs: frames only then, of the model and of the contacts"),
    PCS_NAMES("fields", pcs_frames_params, fields, PCS_OPTIONAL,
              "names of arrays to write besides positions and radii, or none; by default all"),
    PCS_CHOICE("precision", pcs_frames_params, precision, PCS_DEFAULT("double"), frames_precisions,
               "of positions and arrays; float halves the files and keeps seven digits"),
    PCS_CHOICE("format", pcs_frames_params, format, PCS_DEFAULT("vtk"), frames_formats,
               "of the model: vtk, legacy files, or vtu, XML files compressed by zlib and <case>.pvd"),
    PCS_CHOICE("pieces", pcs_frames_params, pieces, PCS_DEFAULT("auto"), frames_pieces,
               "every process writes its part of the model as a vtu file, listed in <case>.pvd; auto: with several "
               "processes and 50000 nodes or more"),
    { .name = NULL },
};

// Returns true if an array is asked for, by name or because no names are given.
static bool frames_wants(const pcs_names *fields, const char *name)
{
    bool is_named = fields->count == 0;
    for (int i = 0; i < fields->count && !is_named; i++) is_named = strcmp(fields->text[i], name) == 0;
    return is_named;
}

static bool frames_has(const pcs_vtk_array *arrays, int count, const char *name)
{
    bool is_found = false;
    for (int i = 0; i < count && !is_found; i++) is_found = strcmp(arrays[i].name, name) == 0;
    return is_found;
}

static void frames_add(pcs_vtk_array *arrays, int *count, const char *name, int ncomponent, const double *x)
{
    if (x != NULL) arrays[(*count)++] = (pcs_vtk_array){ name, ncomponent, x, false };
}

// Lists all arrays that the picture has.
static pcs_status frames_list(pcs_context *ctx, const pcs_picture *picture, pcs_vtk *v)
{
    double(*const vectors[PCS_FRAME_VECTORS])[3] = { picture->displacement, picture->velocity, picture->rotation };
    for (int i = 0; i < PCS_FRAME_VECTORS; i++)
        frames_add(v->point_arrays, &v->npoint_array, pcs_frame_vectors[i], 3,
                   vectors[i] == NULL ? NULL : vectors[i][0]);
    frames_add(v->point_arrays, &v->npoint_array, "radius", 1, picture->radius);
    for (int k = 0; k < picture->npoint_field; k++)
        frames_add(v->point_arrays, &v->npoint_array, picture->point_names[k], 1, picture->point_fields[k]);
    if (picture->section_y != NULL) frames_add(v->cell_arrays, &v->ncell_array, "section_y", 3, picture->section_y[0]);
    for (int k = 0; k < picture->nfield; k++) {
        char name[NAME_ROOM];
        pcs_safe_name(picture->field_names[k], sizeof name, name);
        const char *kept = pcs_take_text(ctx, name);
        if (kept == NULL) return PCS_NO_MEMORY;
        frames_add(v->cell_arrays, &v->ncell_array, kept, 1, picture->fields[k]);
    }
    return PCS_OK;
}

// Writes the names of all arrays that can be asked for, each once.
static void frames_print_names(const pcs_vtk *v, size_t room, char *text)
{
    text[0] = '\0';
    for (int k = 0; k < v->npoint_array + v->ncell_array; k++) {
        int cell_array = k - v->npoint_array;
        const char *name = cell_array < 0 ? v->point_arrays[k].name : v->cell_arrays[cell_array].name;
        bool is_known = cell_array >= 0 && frames_has(v->point_arrays, v->npoint_array, name);
        if (!is_known && strcmp(name, "radius") != 0) pcs_text_add(text, room, "%s%s", k == 0 ? "" : ", ", name);
    }
}

static pcs_status frames_demand(pcs_context *ctx, const pcs_vtk *v, const pcs_names *fields, int *index)
{
    for (int i = 0; i < fields->count; i++) {
        *index = i;
        const char *wanted = fields->text[i];
        char known[KNOWN_ROOM] = "";
        if (strcmp(wanted, "none") == 0 || frames_has(v->point_arrays, v->npoint_array, wanted) ||
            frames_has(v->cell_arrays, v->ncell_array, wanted))
            continue;
        frames_print_names(v, sizeof known, known);
        return pcs_fail(ctx, PCS_BAD_INPUT, "the model has no '%s'; it has %s", wanted, known);
    }
    return PCS_OK;
}

// Removes arrays that are not asked for; radii always stay.
static void frames_choose(pcs_vtk_array *arrays, int *count, const pcs_names *fields)
{
    int kept = 0;
    for (int i = 0; i < *count; i++)
        if (strcmp(arrays[i].name, "radius") == 0 || frames_wants(fields, arrays[i].name)) arrays[kept++] = arrays[i];
    *count = kept;
}

// Lists the arrays of a picture; PCS_BAD_INPUT if it does not have the one of number *index of those asked for.
static pcs_status frames_find_arrays(pcs_context *ctx, const pcs_picture *picture, const pcs_names *fields,
                                     pcs_vtk *out, int *index)
{
    *out = (pcs_vtk){ .dataset = "UNSTRUCTURED_GRID", .cell_kind = "CELLS" };
    PCS_TAKE(ctx, out->point_arrays, PCS_FRAME_VECTORS + 1 + picture->npoint_field, "frames");
    PCS_TAKE(ctx, out->cell_arrays, 1 + picture->nfield, "frames");
    PCS_TRY(frames_list(ctx, picture, out));
    return frames_demand(ctx, out, fields, index);
}

// Lists the points of every cell; one point given twice is a vertex.
static pcs_status frames_make_cells(pcs_context *ctx, const double *ends, pcs_vtk *v)
{
    int *entry;
    PCS_TAKE(ctx, entry, 3 * (size_t)v->ncell, "frames");
    v->entry = entry;
    for (int c = 0; c < v->ncell; c++) {
        int count = ends[2 * c] == ends[2 * c + 1] ? 1 : 2;
        entry[v->nentry++] = count;
        for (int k = 0; k < count; k++) entry[v->nentry++] = (int)ends[2 * c + k];
    }
    return PCS_OK;
}

// Allocates all memory.
static pcs_status frames_make_data(const pcs_observer *self, const pcs_picture *picture, frames_data *d)
{
    const pcs_names *fields = &((const pcs_frames_params *)self->params)->fields;
    pcs_vtk *v = &d->vtk;
    int index;
    PCS_TRY(frames_find_arrays(self->ctx, picture, fields, v, &index));
    frames_choose(v->point_arrays, &v->npoint_array, fields);
    frames_choose(v->cell_arrays, &v->ncell_array, fields);
    v->npoint = picture->npoint;
    v->ncell = picture->ncell;
    PCS_TAKE(self->ctx, d->position, picture->npoint, "frames");
    v->position = d->position[0];
    double(*ends)[2] = pcs_scratch(NULL, (size_t)picture->ncell, sizeof *ends);
    pcs_status status = ends == NULL ? pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: frames") : PCS_OK;
    status = pcs_agree(self->ctx, status);
    bool is_gathered = status == PCS_OK && picture->point_numbers != NULL;
    int nlisted = status == PCS_OK ? picture->ncell : 0;
    for (int c = 0; c < nlisted; c++)
        for (int k = 0; k < 2; k++) {
            int point = picture->cells[c][k];
            ends[c][k] = is_gathered ? picture->point_numbers[point] : point;
        }
    if (is_gathered)
        status = pcs_collector_create(self->ctx, picture->npoint, picture->point_numbers, picture->nall_point, 3,
                                      &v->of_points);
    if (is_gathered && status == PCS_OK) status = pcs_collect_cells(self->ctx, self->view, 3, &v->of_cells);
    if (is_gathered) {
        v->npoint = v->of_points.nall;
        v->ncell = v->of_cells.nall;
    }
    if (status == PCS_OK) status = frames_make_cells(self->ctx, pcs_collect(&v->of_cells, 2, ends[0]), v);
    pcs_scratch_free(ends);
    return status;
}

// Copies the picture as it is drawn.
static void frames_take(const pcs_observer *self)
{
    frames_data *d = self->data;
    const pcs_picture *picture = self->view->system->picture;
    record_add(&d->record, picture, self->view->state->t);
    for (int i = 0; i < picture->npoint; i++)
        for (int k = 0; k < 3; k++) d->position[i][k] = picture->reference[i][k] + picture->displacement[i][k];
}

static pcs_status frames_put(const pcs_observer *self)
{
    frames_data *d = self->data;
    const pcs_view *view = self->view;
    const char *title = view->title != NULL ? view->title : view->case_name;
    return pcs_series_write(&d->series, &d->vtk, title, view->state);
}

// Writes a frame, which all processes complete together: if a piece fails, the frame is removed.
static pcs_status frames_write(const pcs_observer *self, bool is_end)
{
    frames_data *d = self->data;
    pcs_system *system = self->view->system;
    bool writes = !d->series.list->is_mute;
    if (d->series.has_failed || !pcs_series_is_due(&d->series, self->view, is_end)) return PCS_OK;
    system->ops->draw(system, pcs_view_at(self->view), system->picture);
    frames_take(self);
    pcs_status status = frames_put(self);
    if (status == PCS_OK && writes) status = obstacles_write_carried(&d->obstacles, self->view);
    status = pcs_agree(self->ctx, status);
    if (d->series.npiece > 0) {
        if (status == PCS_OK) status = pcs_agree(self->ctx, pcs_series_settle(&d->series, self->view->state->t));
        if (status != PCS_OK && writes) (void)pcs_series_sweep(&d->series, d->series.count);
    }
    d->series.has_failed = status != PCS_OK;
    return status;
}

static pcs_status frames_put_obstacles(const pcs_observer *self)
{
    frames_data *d = self->data;
    if (d->record.count == 0 || d->series.list->is_mute) return PCS_OK;
    pcs_status status = obstacles_write_still(&d->obstacles, d->series.file, self->view, &d->record);
    d->series.has_failed = status != PCS_OK;
    return status;
}

// Returns true if a resumed run has frames in pieces, which several processes may have begun.
static bool frames_go_on_in_pieces(const pcs_observer *self)
{
    char path[PATH_ROOM];
    const pcs_view *view = self->view;
    snprintf(path, sizeof path, "%s/%s_000000.pvtu", view->directory, pcs_frames_stem(view->case_name));
    return view->is_resumed && access(path, F_OK) == 0;
}

// Chooses the files of a frame, their format and contents.
static pcs_status frames_make_grid(const pcs_observer *self, frames_data *d)
{
    const pcs_frames_params *params = self->params;
    const pcs_picture *picture = self->view->system->picture;
    int nprocess = picture->is_piece ? pcs_process_count(self->ctx) : 1;
    bool has_pieces = picture->is_piece || params->pieces == PCS_PIECES_ALWAYS ||
                      (params->pieces == PCS_PIECES_AUTO && frames_go_on_in_pieces(self));
    d->series.is_xml = params->format == PCS_FORMAT_VTU || has_pieces;
    PCS_TRY(frames_make_data(self, picture, d));
    d->vtk.is_single = params->precision == PCS_PRECISION_FLOAT;
    if (d->series.is_xml) PCS_TRY(pcs_vtk_make_xml(self->ctx, &d->vtk));
    if (has_pieces) series_split(&d->series, nprocess, nprocess > 1 ? pcs_process_number(self->ctx) : 0, &d->vtk);
    return PCS_OK;
}

static pcs_status frames_prepare(const pcs_observer *self, frames_data *d)
{
    const pcs_view *view = self->view;
    PCS_TRY(pcs_series_create(self->ctx, view, pcs_frames_stem(view->case_name), &d->series));
    PCS_TRY(obstacles_create(self->ctx, view, &d->obstacles));
    if (!view->is_resumed) pcs_file_remove(d->series.file, "obstacles.vtk");
    if (view->system->picture == NULL || view->system->picture->nall_node == 0) return PCS_OK;
    PCS_TRY(frames_make_grid(self, d));
    PCS_TRY(record_create(self->ctx, view->system, &d->record));
    pcs_series_plan(&d->series, self->params, view);
    return PCS_OK;
}

static pcs_status frames_open(pcs_observer *self)
{
    frames_data *d = self->data;
    const pcs_view *view = self->view;
    const pcs_picture *picture = view->system->picture;
    pcs_status status = frames_prepare(self, d);
    status = pcs_agree(self->ctx, status); // all processes are ready, and old files are gone, before any process writes
    if (status != PCS_OK || view->is_resumed || picture == NULL || picture->nall_node == 0) return status;
    PCS_TRY(frames_write(self, true));
    return frames_put_obstacles(self);
}

static pcs_status frames_step(pcs_observer *self)
{
    return frames_write(self, false);
}

static pcs_status frames_close(pcs_observer *self)
{
    frames_data *d = self->data;
    if (d->series.every == 0 || d->series.has_failed) return PCS_OK;
    PCS_TRY(frames_write(self, true));
    return frames_put_obstacles(self);
}

static pcs_status frames_carry(pcs_observer *self, pcs_carrier *c)
{
    frames_data *d = self->data;
    if (d->series.every == 0) return PCS_OK;
    record_carry(&d->record, self->view->system->picture, c);
    PCS_TRY(pcs_series_carry(&d->series, c));
    return pcs_obstacles_carry(&d->obstacles, c);
}

static pcs_status frames_check(const pcs_observer *self, char place[PCS_OBSERVER_PLACE])
{
    const pcs_frames_params *params = self->params;
    const pcs_picture *picture = self->view->system->picture;
    int index = 0;
    pcs_vtk ignored;
    if (picture == NULL || picture->nall_node == 0) return PCS_OK;
    pcs_status status = frames_find_arrays(self->ctx, picture, &params->fields, &ignored, &index);
    snprintf(place, PCS_OBSERVER_PLACE, "fields.%d", index);
    return status;
}

const pcs_observer_ops pcs_observer_frames = {
    .name = "frames",
    .summary = "the model in time as VTK files for ParaView",
    .options = frames_options,
    .params_size = sizeof(pcs_frames_params),
    .data_size = sizeof(frames_data),
    .is_default = true,
    .check_params = pcs_frames_check,
    .check = frames_check,
    .open = frames_open,
    .step = frames_step,
    .close = frames_close,
    .carry = frames_carry,
};
