// Bounds of the motion and of the fields, gathered while frames are drawn.

#include "core/rotation.h"
#include "output/frames.h"

#include <math.h>
#include <string.h>

// Two unit vectors across the axis, the first as near as can be to z, else y, else x: that across a plane model.
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

// Widens a range to a number; not by fmin and fmax, which are calls.
static inline void record_widen(double *low, double *high, double x)
{
    *low = x < *low ? x : *low;
    *high = x > *high ? x : *high;
}

enum { LARGE_MODEL = 50000 };       // nodes: from there on processes write pieces
static const double NEARNESS = 0.1; // of the size of the model

const char *const pcs_frame_vectors[PCS_FRAME_VECTORS] = { "displacement", "velocity", "rotation" };

// Returns how many numbers processes exchange.
static int record_size(const pcs_picture *picture)
{
    return 1 + 2 * (3 + 4 * PCS_FRAME_VECTORS + picture->nfield + picture->npoint_field + 6 * picture->nstill);
}

static pcs_status record_take_work(pcs_context *ctx, const pcs_picture *picture, pcs_frames_record *out)
{
    if (!picture->is_piece) return PCS_OK;
    out->ctx = ctx;
    PCS_TAKE(ctx, out->work, record_size(picture), "bounds of the fields");
    return PCS_OK;
}

pcs_status pcs_frames_record_create(pcs_context *ctx, const pcs_system *system, pcs_frames_record *out)
{
    const pcs_picture *picture = system->picture;
    *out = (pcs_frames_record){ .low = { INFINITY, INFINITY, INFINITY }, .high = { -INFINITY, -INFINITY, -INFINITY } };
    out->nearness = NEARNESS * system->length;
    int nfield = picture->nfield + picture->npoint_field;
    PCS_TAKE(ctx, out->field_low, nfield, "bounds of the fields");
    PCS_TAKE(ctx, out->field_high, nfield, "bounds of the fields");
    PCS_TAKE(ctx, out->field_time, nfield, "bounds of the fields");
    PCS_TAKE(ctx, out->size_before, nfield, "bounds of the fields");
    PCS_TAKE(ctx, out->reach, picture->nstill, "bounds of the obstacles");
    for (int i = 0; i < nfield; i++) {
        out->field_low[i] = INFINITY;
        out->field_high[i] = -INFINITY;
        out->field_time[i] = NAN;
    }
    for (int i = 0; i < PCS_FRAME_VECTORS; i++)
        for (int k = 0; k < 4; k++) {
            out->vector_low[i][k] = INFINITY;
            out->vector_high[i][k] = -INFINITY;
        }
    for (int i = 0; i < picture->nstill; i++) {
        pcs_reach_frame(picture->obstacles[i].axis, out->reach[i].frame);
        for (int k = 0; k < 3; k++) {
            out->reach[i].low[k] = out->reach[i].near_low[k] = INFINITY;
            out->reach[i].high[k] = out->reach[i].near_high[k] = -INFINITY;
        }
    }
    int nradius = picture->radius == NULL ? 0 : picture->npoint;
    for (int i = 0; i < nradius; i++) out->radius = fmax(out->radius, picture->radius[i]);
    return record_take_work(ctx, picture, out);
}

// Bounds after one another, lower ones with the other sign: what is larger counts; or back again.
static void record_pack(double *low, double *high, int count, double **at, bool is_back)
{
    double *x = *at;
    for (int k = 0; k < count; k++) {
        if (is_back) low[k] = -x[k];
        else x[k] = -low[k];
        if (is_back) high[k] = x[count + k];
        else x[count + k] = high[k];
    }
    *at += 2 * count;
}

static void record_pack_all(pcs_frames_record *record, const pcs_picture *picture, bool is_back)
{
    double *at = record->work;
    record_pack(record->low, record->high, 3, &at, is_back);
    record_pack(record->vector_low[0], record->vector_high[0], 4 * PCS_FRAME_VECTORS, &at, is_back);
    record_pack(record->field_low, record->field_high, picture->nfield + picture->npoint_field, &at, is_back);
    for (int i = 0; i < picture->nstill; i++) {
        pcs_reach *reach = &record->reach[i];
        record_pack(reach->low, reach->high, 3, &at, is_back);
        record_pack(reach->near_low, reach->near_high, 3, &at, is_back);
    }
    if (is_back) record->radius = *at;
    else *at = record->radius;
}

// Makes the bounds found here those of all processes.
static void record_join(pcs_frames_record *record, const pcs_picture *picture)
{
    if (record->ctx == NULL) return;
    record_pack_all(record, picture, false);
    pcs_process_max(record->ctx, record_size(picture), record->work);
    record_pack_all(record, picture, true);
}

static void record_add_points(pcs_frames_record *record, const pcs_picture *picture)
{
    for (int i = 0; i < picture->npoint; i++) {
        double r = picture->radius == NULL ? 0.0 : picture->radius[i];
        for (int k = 0; k < 3; k++) {
            double x = picture->reference[i][k] + picture->displacement[i][k];
            record->low[k] = x - r < record->low[k] ? x - r : record->low[k];
            record->high[k] = x + r > record->high[k] ? x + r : record->high[k];
        }
    }
}

// Discs and bearings may be larger than the bodies that carry them.
static void record_add_carried(pcs_frames_record *record, const pcs_picture *picture)
{
    if (record->ctx != NULL && !pcs_is_root(record->ctx)) return;
    for (int i = picture->nstill; i < picture->nobstacle; i++) {
        const pcs_obstacle *o = &picture->obstacles[i];
        if (!(o->radius > 0.0)) continue;
        for (int k = 0; k < 3; k++) {
            double x = picture->reference[o->carrier][k] + picture->displacement[o->carrier][k];
            double across = sqrt(fmax(1.0 - o->axis[k] * o->axis[k], 0.0)); // as it stood at first
            record->low[k] = fmin(record->low[k], x - o->radius * across);
            record->high[k] = fmax(record->high[k], x + o->radius * across);
        }
    }
}

static void record_add_field(pcs_frames_record *record, int field, const double *x, int count)
{
    double low = record->field_low[field], high = record->field_high[field];
    for (int c = 0; c < count; c++) record_widen(&low, &high, x[c]);
    record->field_low[field] = low;
    record->field_high[field] = high;
}

static double record_field_size(const pcs_frames_record *record, int field)
{
    return fmax(-record->field_low[field], record->field_high[field]);
}

static void record_add_vectors(pcs_frames_record *record, const pcs_picture *picture)
{
    double(*const vectors[PCS_FRAME_VECTORS])[3] = { picture->displacement, picture->velocity, picture->rotation };
    for (int v = 0; v < PCS_FRAME_VECTORS; v++)
        for (int i = 0; vectors[v] != NULL && i < picture->npoint; i++) {
            const double *x = vectors[v][i], all[4] = { x[0], x[1], x[2], pcs_norm3(x) };
            for (int k = 0; k < 4; k++) record_widen(&record->vector_low[v][k], &record->vector_high[v][k], all[k]);
        }
}

// Distance of a node from the surface, by its coordinates along the obstacle's axes.
static double record_distance(const pcs_obstacle *o, const double x[3])
{
    if (o->kind == PCS_OBSTACLE_PLANE) return x[0] - o->node_radius;
    return fabs(hypot(x[1], x[2]) - o->radius) - o->node_radius;
}

static void record_add_reach(pcs_reach *reach, const pcs_obstacle *o, const pcs_picture *picture, double nearness)
{
    for (int i = 0; i < o->nnode; i++) {
        int node = o->nodes[i];
        double d[3], x[3];
        for (int k = 0; k < 3; k++) d[k] = picture->reference[node][k] + picture->displacement[node][k] - o->point[k];
        for (int a = 0; a < 3; a++) x[a] = pcs_dot3(reach->frame[a], d);
        bool is_near = record_distance(o, x) <= nearness;
        for (int a = 0; a < 3; a++) {
            reach->low[a] = fmin(reach->low[a], x[a] - o->node_radius);
            reach->high[a] = fmax(reach->high[a], x[a] + o->node_radius);
            if (is_near) reach->near_low[a] = fmin(reach->near_low[a], x[a] - o->node_radius);
            if (is_near) reach->near_high[a] = fmax(reach->near_high[a], x[a] + o->node_radius);
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
    for (int k = 0; k < nfield; k++) record->size_before[k] = record_field_size(record, k);
    for (int k = 0; k < picture->nfield; k++) record_add_field(record, k, picture->fields[k], picture->ncell);
    for (int k = 0; k < picture->npoint_field; k++)
        record_add_field(record, picture->nfield + k, picture->point_fields[k], picture->npoint);
    for (int i = 0; i < picture->nstill; i++)
        record_add_reach(&record->reach[i], &picture->obstacles[i], picture, record->nearness);
    record_join(record, picture);
    for (int k = 0; k < nfield; k++)
        if (record_field_size(record, k) > record->size_before[k]) record->field_time[k] = t;
}

void pcs_frames_record_carry(pcs_frames_record *record, const pcs_picture *picture, pcs_carrier *c)
{
    size_t nfield = (size_t)picture->nfield + (size_t)picture->npoint_field;
    pcs_carry_words(c, "count", &record->count, 1);
    pcs_carry_words(c, "low", record->low, 3);
    pcs_carry_words(c, "high", record->high, 3);
    pcs_carry_words(c, "field_low", record->field_low, nfield);
    pcs_carry_words(c, "field_high", record->field_high, nfield);
    pcs_carry_words(c, "field_time", record->field_time, nfield);
    pcs_carry_words(c, "vector_low", record->vector_low, sizeof record->vector_low / 8);
    pcs_carry_words(c, "vector_high", record->vector_high, sizeof record->vector_high / 8);
    pcs_carry_words(c, "reach", record->reach, (size_t)picture->nstill * sizeof *record->reach / 8);
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
