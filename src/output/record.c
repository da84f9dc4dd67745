// Bounds of the motion and of the fields, gathered while frames are drawn.

#include "core/rotation.h"
#include "output/frames.h"

#include <math.h>
#include <string.h>

// Chooses the first normal as near as possible to z, else y, else x: the direction across a plane model.
void pcs_reach_frame(const double axis[3], double frame[3][3])
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

enum { LARGE_MODEL = 50000 };       // nodes: from there on processes write pieces
static const double NEARNESS = 0.1; // of the size of the model

const char *const pcs_frame_vectors[PCS_FRAME_VECTORS] = { "displacement", "velocity", "rotation" };

pcs_status pcs_frames_record_create(pcs_context *ctx, const pcs_system *system, pcs_frames_record *out)
{
    const pcs_picture *picture = system->picture;
    int nfield = picture->nfield + picture->npoint_field;
    *out = (pcs_frames_record){ .nrange = 3 + 4 * PCS_FRAME_VECTORS + 1 + 6 * picture->nstill + nfield };
    out->ctx = picture->is_piece ? ctx : NULL;
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
    if (record->ctx != NULL && !pcs_is_root(record->ctx)) return;
    for (int i = picture->nstill; i < picture->nobstacle; i++) {
        const pcs_obstacle *o = &picture->obstacles[i];
        if (!(o->radius > 0.0)) continue;
        for (int k = 0; k < 3; k++) {
            double x = picture->reference[o->carrier][k] + picture->displacement[o->carrier][k];
            double across = sqrt(fmax(1.0 - o->axis[k] * o->axis[k], 0.0)); // as it stood at first
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
    pcs_reach_frame(o->axis, frame);
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

void pcs_frames_record_add(pcs_frames_record *record, const pcs_picture *picture, double t)
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
    if (record->ctx != NULL) pcs_process_max(record->ctx, 2 * record->nrange, &record->position->below);
    for (int k = 0; k < nfield; k++)
        if (fmax(record->fields[k].below, record->fields[k].above) > record->size_before[k]) record->field_time[k] = t;
}

void pcs_frames_record_carry(pcs_frames_record *record, const pcs_picture *picture, pcs_carrier *c)
{
    pcs_carry_words(c, "count", &record->count, 1);
    pcs_carry_words(c, "ranges", record->position, 2 * (size_t)record->nrange);
    pcs_carry_words(c, "field_time", record->field_time, (size_t)picture->nfield + (size_t)picture->npoint_field);
}

const char *pcs_frames_stem(const char *case_name)
{
    bool is_taken = strcmp(case_name, "contacts") == 0 || strcmp(case_name, "obstacles") == 0;
    return is_taken ? "model" : case_name;
}

bool pcs_frames_are_pieces(const char *pieces, int nnode)
{
    bool is_large = nnode >= LARGE_MODEL;
    if (pieces == NULL) return is_large;
    return strcmp(pieces, "always") == 0 || (is_large && strcmp(pieces, "never") != 0);
}

const pcs_frames_record *pcs_frames_record_find(const pcs_view *view)
{
    for (int i = 0; i < view->nobserver; i++) {
        const pcs_observer *o = &view->observers[i];
        const pcs_frames_record *record = o->data; // the first member of what frames keep
        if (strcmp(o->ops->name, "frames") == 0) return record->count > 0 ? record : NULL;
    }
    return NULL;
}
