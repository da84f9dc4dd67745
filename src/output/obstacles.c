// Walls, floors, stops and bearings that stand still as a legacy VTK file of polygons, obstacles.vtk.
//
// An obstacle has no end in the model. It is drawn where the nodes come near that may touch it, or, as long as none
// does, as far as they come, and a margin further; with a thickness behind its surface, so that it is seen from the
// side, too. Cell data: the number of its contact.

#include "output/frames.h"
#include "output/series.h"

#include <math.h>

enum { SIDES = 48 };

static const double PI = 3.14159265358979323846;
static const double MARGIN = 0.06, THICKNESS = 0.02; // of the size of the whole motion

typedef struct obstacles_counts {
    int npoint, npolygon, nentry; // entries: the corners of each polygon and their number
} obstacles_counts;

static obstacles_counts obstacles_count(pcs_obstacle_kind kind)
{
    if (kind == PCS_OBSTACLE_PLANE) return (obstacles_counts){ 8, 6, 6 * 5 };
    if (kind == PCS_OBSTACLE_CYLINDER) return (obstacles_counts){ 2 * SIDES, SIDES + 2, SIDES * 5 + 2 * (SIDES + 1) };
    return (obstacles_counts){ 4 * SIDES, 4 * SIDES, 4 * SIDES * 5 };
}

// Diagonal of all that moves.
static double obstacles_size(const pcs_system *system, const pcs_frames_record *record)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) sum += (record->high[k] - record->low[k]) * (record->high[k] - record->low[k]);
    return sum > 0.0 ? sqrt(sum) : system->length;
}

static void obstacles_put_point(pcs_file *f, const pcs_obstacle *o, const pcs_reach *reach, const double x[3])
{
    double at[3];
    for (int k = 0; k < 3; k++)
        at[k] = o->point[k] + x[0] * reach->frame[0][k] + x[1] * reach->frame[1][k] + x[2] * reach->frame[2][k];
    pcs_file_doubles(f, at, 3);
}

static void obstacles_put_ring(pcs_file *f, const pcs_obstacle *o, const pcs_reach *reach, double along, double radius)
{
    for (int i = 0; i < SIDES; i++) {
        double angle = 2.0 * PI * i / SIDES;
        obstacles_put_point(f, o, reach, (double[3]){ along, radius * cos(angle), radius * sin(angle) });
    }
}

// A slab behind the plane, or rings at both ends: of the surface, then round a bore.
static void obstacles_put_points(pcs_file *f, const pcs_obstacle *o, const pcs_reach *reach, double size)
{
    double low[3], high[3];
    bool is_near = reach->near_low[0] <= reach->near_high[0];
    for (int a = 0; a < 3; a++) {
        low[a] = (is_near ? reach->near_low[a] : reach->low[a]) - MARGIN * size;
        high[a] = (is_near ? reach->near_high[a] : reach->high[a]) + MARGIN * size;
    }
    if (o->kind == PCS_OBSTACLE_PLANE) {
        for (int i = 0; i < 8; i++)
            obstacles_put_point(f, o, reach,
                                (double[3]){ i < 4 ? 0.0 : -THICKNESS * size, (i & 1) != 0 ? high[1] : low[1],
                                             (i & 2) != 0 ? high[2] : low[2] });
        return;
    }
    int nring = o->kind == PCS_OBSTACLE_BORE ? 4 : 2;
    for (int i = 0; i < nring; i++)
        obstacles_put_ring(f, o, reach, i % 2 == 0 ? low[0] : high[0], o->radius + (i < 2 ? 0.0 : THICKNESS * size));
}

static void obstacles_put_slab(pcs_file *f, int first)
{
    static const int corners[6][4] = { { 0, 1, 3, 2 }, { 4, 6, 7, 5 }, { 0, 4, 5, 1 },
                                       { 2, 3, 7, 6 }, { 0, 2, 6, 4 }, { 1, 5, 7, 3 } };
    for (int i = 0; i < 6; i++) {
        const int *c = corners[i];
        pcs_file_ints(f, (int[5]){ 4, first + c[0], first + c[1], first + c[2], first + c[3] }, 5);
    }
}

// Quadrilaterals between two rings of points.
static void obstacles_put_band(pcs_file *f, int ring, int other)
{
    for (int i = 0; i < SIDES; i++) {
        int next = (i + 1) % SIDES;
        pcs_file_ints(f, (int[5]){ 4, ring + i, ring + next, other + next, other + i }, 5);
    }
}

static void obstacles_put_cap(pcs_file *f, int ring)
{
    pcs_file_ints(f, &(int){ SIDES }, 1);
    for (int i = 0; i < SIDES; i++) pcs_file_ints(f, &(int){ ring + i }, 1);
}

static void obstacles_put_polygons(pcs_file *f, pcs_obstacle_kind kind, int first)
{
    int ring[4] = { first, first + SIDES, first + 2 * SIDES, first + 3 * SIDES };
    if (kind == PCS_OBSTACLE_PLANE) {
        obstacles_put_slab(f, first);
    } else if (kind == PCS_OBSTACLE_CYLINDER) {
        obstacles_put_band(f, ring[0], ring[1]);
        obstacles_put_cap(f, ring[0]);
        obstacles_put_cap(f, ring[1]);
    } else {
        obstacles_put_band(f, ring[0], ring[1]);
        obstacles_put_band(f, ring[2], ring[3]);
        obstacles_put_band(f, ring[0], ring[2]);
        obstacles_put_band(f, ring[1], ring[3]);
    }
}

static void obstacles_put(pcs_file *f, const pcs_system *system, const pcs_frames_record *record)
{
    const pcs_picture *picture = system->picture;
    obstacles_counts sum = { 0 };
    for (int i = 0; i < picture->nobstacle; i++) {
        obstacles_counts own = obstacles_count(picture->obstacles[i].kind);
        sum.npoint += own.npoint;
        sum.npolygon += own.npolygon;
        sum.nentry += own.nentry;
    }
    pcs_file_print(f, "POINTS %d double\n", sum.npoint);
    for (int i = 0; i < picture->nobstacle; i++)
        obstacles_put_points(f, &picture->obstacles[i], &record->reach[i], obstacles_size(system, record));
    pcs_file_print(f, "\nPOLYGONS %d %d\n", sum.npolygon, sum.nentry);
    for (int i = 0, first = 0; i < picture->nobstacle; i++) {
        obstacles_put_polygons(f, picture->obstacles[i].kind, first);
        first += obstacles_count(picture->obstacles[i].kind).npoint;
    }
    pcs_file_print(f, "\nCELL_DATA %d\nFIELD FieldData 1\ncontact 1 %d int\n", sum.npolygon, sum.npolygon);
    for (int i = 0; i < picture->nobstacle; i++) {
        int count = obstacles_count(picture->obstacles[i].kind).npolygon;
        for (int k = 0; k < count; k++) pcs_file_ints(f, &picture->obstacles[i].contact, 1);
    }
    pcs_file_text(f, "\n");
}

pcs_status pcs_obstacles_write(pcs_file *f, const pcs_view *view, const pcs_frames_record *record)
{
    if (view->system->picture->nobstacle == 0) return PCS_OK;
    PCS_TRY(pcs_file_open(f, "obstacles.vtk"));
    pcs_vtk_head(f, "what stands still; contact: as in contacts.vtk.series", "POLYDATA");
    obstacles_put(f, view->system, record);
    return pcs_file_commit(f);
}
