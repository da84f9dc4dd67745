// Choosing nodes by where they are: at positions, in a box, on a plane.

#include "mesh/select.h"

#include "core/comm.h"
#include "core/rotation.h"

#include <math.h>
#include <string.h>

void pcs_mesh_box(const pcs_mesh *mesh, double low[3], double high[3])
{
    if (!pcs_mesh_is_whole(mesh)) {
        memcpy(low, mesh->share->low, 3 * sizeof *low);
        memcpy(high, mesh->share->high, 3 * sizeof *high);
        return;
    }
    for (int k = 0; k < 3; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
        for (int i = 0; i < mesh->nnode; i++) {
            low[k] = fmin(low[k], mesh->x[i][k]);
            high[k] = fmax(high[k], mesh->x[i][k]);
        }
    }
}

double pcs_mesh_tolerance(const pcs_mesh *mesh)
{
    double sum = 0.0, low[3], high[3];
    pcs_mesh_box(mesh, low, high);
    if (pcs_mesh_is_whole(mesh) && mesh->nnode == 0) return 0.0;
    for (int k = 0; k < 3; k++) sum += (high[k] - low[k]) * (high[k] - low[k]);
    return 1e-6 * sqrt(sum);
}

static bool select_is(const pcs_list *list, int nrow, int count)
{
    return list->count == count && list->nrow == nrow;
}

const char *pcs_selection_check(const pcs_selection *s, const char **key)
{
    *key = "at";
    if (s->at.count > 0 && s->at.count != 3 * s->at.nrow) return "a position must have 3 numbers [x, y, z]";
    *key = "box";
    if (s->box.count > 0 && !select_is(&s->box, 2, 6))
        return "a box must be two opposite corners [[x, y, z], [x, y, z]]";
    *key = "plane";
    if (s->plane.count > 0 && !select_is(&s->plane, 2, 6))
        return "a plane must be a point and a normal [[x, y, z], [nx, ny, nz]]";
    const double *n = s->plane.count > 0 ? s->plane.value + 3 : NULL;
    return n != NULL && n[0] == 0.0 && n[1] == 0.0 && n[2] == 0.0 ? "the normal has no direction" : NULL;
}

// Returns the distance of x from the box, m; 0 within it.
static double select_off_box(const double *corner, const double x[3])
{
    double off[3];
    for (int k = 0; k < 3; k++) {
        double low = fmin(corner[k], corner[3 + k]), high = fmax(corner[k], corner[3 + k]);
        off[k] = fmax(0.0, fmax(low - x[k], x[k] - high));
    }
    return hypot(hypot(off[0], off[1]), off[2]);
}

static double select_off_plane(const double *plane, const double x[3])
{
    const double *n = plane + 3;
    double length = hypot(hypot(n[0], n[1]), n[2]), sum = 0.0;
    for (int k = 0; k < 3; k++) sum += n[k] / length * (x[k] - plane[k]);
    return fabs(sum);
}

// Returns the larger of the distances of x from box and plane, m; one that is not given counts as 0.
static double select_off(const pcs_selection *s, const double x[3])
{
    double off = s->box.count > 0 ? select_off_box(s->box.value, x) : 0.0;
    return fmax(off, s->plane.count > 0 ? select_off_plane(s->plane.value, x) : 0.0);
}

bool pcs_selection_holds(const pcs_selection *s, const double x[3])
{
    return select_off(s, x) <= s->tolerance;
}

static double select_nearest_position(const pcs_selection *s, const double x[3])
{
    double least = INFINITY;
    for (int i = 0; i < s->at.nrow; i++) least = fmin(least, pcs_distance3(x, s->at.value + 3 * (size_t)i));
    return least;
}

// Fails unless each position has a node.
static pcs_status select_check_positions(const pcs_mesh *mesh, const pcs_selection *s, int count, const int *nodes)
{
    for (int i = 0; i < s->at.nrow; i++) {
        const double *at = s->at.value + 3 * (size_t)i;
        double least = INFINITY;
        int nearest = -1;
        for (int k = 0; k < count; k++) {
            if (least <= s->tolerance) break;
            double distance = pcs_distance3(mesh->x[nodes[k]], at);
            if (!(distance < least)) continue;
            least = distance;
            nearest = nodes[k];
        }
        if (least <= s->tolerance) continue;
        const double *x = nearest < 0 ? at : mesh->x[nearest];
        return pcs_fail(
            mesh->ctx, PCS_BAD_INPUT,
            "no node lies at [%g, %g, %g]: the nearest, node %d at [%.10g, %.10g, %.10g], is %g m away, the "
            "tolerance is %g m",
            at[0], at[1], at[2], nearest, x[0], x[1], x[2], least, s->tolerance);
    }
    return PCS_OK;
}

// Selects nodes over all ranks; if there are none on any, searches the whole mesh for the message.
static pcs_status select_part(const pcs_mesh *mesh, const pcs_selection *s, int *count, int *nodes)
{
    const pcs_comm *comm = pcs_context_comm(mesh->ctx);
    int kept = 0, nposition = s->at.nrow;
    double *is_met = pcs_scratch(NULL, (size_t)nposition + 1, sizeof *is_met);
    pcs_status status = is_met == NULL ? pcs_fail(mesh->ctx, PCS_NO_MEMORY, "out of memory: a set") : PCS_OK;
    PCS_TRY(pcs_comm_agree(mesh->ctx, status));
    for (int k = 0; k <= nposition; k++) is_met[k] = 0.0;
    for (int i = 0; i < *count; i++) {
        const double *x = mesh->x[nodes[i]];
        for (int k = 0; k < nposition; k++)
            if (pcs_distance3(x, s->at.value + 3 * (size_t)k) <= s->tolerance) is_met[k] = 1.0;
        if (nposition > 0 && !(select_nearest_position(s, x) <= s->tolerance)) continue;
        if (pcs_selection_holds(s, x)) nodes[kept++] = nodes[i];
    }
    *count = kept;
    if (kept > 0) is_met[nposition] = 1.0;
    comm->max(comm, nposition + 1, is_met);
    for (int k = 0; k <= nposition; k++)
        if (is_met[k] == 0.0) status = pcs_fail(mesh->ctx, PCS_BAD_INPUT, "no node lies there");
    pcs_scratch_free(is_met);
    return status;
}

pcs_status pcs_mesh_select(const pcs_mesh *mesh, const pcs_selection *s, int *count, int *nodes)
{
    if (!pcs_mesh_is_whole(mesh)) return select_part(mesh, s, count, nodes);
    int kept = 0, nearest = -1;
    double least = INFINITY;
    PCS_TRY(select_check_positions(mesh, s, *count, nodes));
    for (int i = 0; i < *count; i++) {
        const double *x = mesh->x[nodes[i]];
        if (s->at.count > 0 && !(select_nearest_position(s, x) <= s->tolerance)) continue;
        double off = select_off(s, x);
        if (off < least) {
            least = off;
            nearest = nodes[i];
        }
        if (off <= s->tolerance) nodes[kept++] = nodes[i];
    }
    *count = kept;
    if (kept > 0) return PCS_OK;
    if (nearest < 0) return pcs_fail(mesh->ctx, PCS_BAD_INPUT, "no node is left to choose from");
    const double *x = mesh->x[nearest];
    return pcs_fail(mesh->ctx, PCS_BAD_INPUT,
                    "no node lies there: the nearest, node %d at [%.10g, %.10g, %.10g], is %g m away, the tolerance is "
                    "%g m",
                    nearest, x[0], x[1], x[2], least, s->tolerance);
}
