// Collects what pictures show of cells beside their lines, if no rank knows all cells: discs at nodes, and arms from
// nodes to the ends of cells.
//
// Every rank sends what its cells have to the first one, which puts all of it into the order of one process, sends the
// others the numbers of theirs, and shows it: discs by group and the order of its set, then arms by the number of the
// cell.

#include "core/rotation.h"
#include "fe/data.h"

#include <stdlib.h>
#include <string.h>

enum { CARRIED_DISC, CARRIED_ARM };
enum { KEYS = 4, NODE = KEYS, ARM, RECORD = ARM + 3 * (int)(sizeof(double) / sizeof(int)) };

// Holds records in scratch memory: kind, position in the order of all (three numbers), node and arm; and the local
// nodes of those of this rank.
typedef struct carried_list {
    int count, room;
    int *record; // [count][RECORD]
    int *node;   // [count]
} carried_list;

static pcs_status carried_add(pcs_context *ctx, carried_list *list, const int key[KEYS], int node, int number,
                              const double arm[3])
{
    if (list->count == list->room) {
        int room = 2 * list->room + 64;
        int *record = pcs_scratch(list->record, (size_t)room * RECORD, sizeof *record);
        if (record != NULL) list->record = record;
        int *nodes = pcs_scratch(list->node, (size_t)room, sizeof *nodes);
        if (nodes != NULL) list->node = nodes;
        if (record == NULL || nodes == NULL) return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: the picture");
        list->room = room;
    }
    int *to = list->record + (size_t)list->count * RECORD;
    memcpy(to, key, KEYS * sizeof *to);
    to[NODE] = number;
    memcpy(to + ARM, arm, 3 * sizeof *arm);
    list->node[list->count++] = node;
    return PCS_OK;
}

// Adds the discs and arms of one cell of this rank to the list.
static pcs_status carried_list_cell(pcs_context *ctx, const fe_data *fe, int group, int cell, bool has_arms,
                                    carried_list *list)
{
    const pcs_mesh *mesh = fe->model.mesh;
    const pcs_element_ops *ops = fe->model.groups[group].ops;
    const int *node = mesh->cell[cell];
    const double none[3] = { 0.0 };
    double arm[2][3];
    int place = fe->share->index_of_cell[cell], number = pcs_mesh_cell_number(mesh, cell);
    if (ops->show != NULL && place < 0)
        return pcs_fail(ctx, PCS_UNSUPPORTED, "discs are shown in the order of all cells");
    for (int part = 0; ops->show != NULL; part++) {
        pcs_obstacle unused = { 0 };
        const int key[KEYS] = { CARRIED_DISC, group, place, part };
        if (!ops->show(fe->model.groups[group].params, part, &unused)) break;
        PCS_TRY(carried_add(ctx, list, key, node[0], pcs_mesh_node_number(mesh, node[0]), none));
    }
    if (!has_arms || ops->arms == NULL || !pcs_fe_draws_arms(fe, cell)) return PCS_OK;
    (void)pcs_fe_cell_arms(fe, cell, arm);
    for (int k = 0; k < (node[0] == node[1] ? 1 : 2); k++) {
        const int key[KEYS] = { CARRIED_ARM, 0, number, k };
        if (pcs_norm3(arm[k]) > 0.0)
            PCS_TRY(carried_add(ctx, list, key, node[k], pcs_mesh_node_number(mesh, node[k]), arm[k]));
    }
    return PCS_OK;
}

static pcs_status carried_list_own(pcs_context *ctx, const fe_data *fe, bool has_arms, carried_list *list)
{
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_element_ops *ops = fe->model.groups[g].ops;
        if (ops->show == NULL && ops->arms == NULL) continue;
        for (int c = 0; c < fe->batches[g].ncell; c++)
            PCS_TRY(carried_list_cell(ctx, fe, g, fe->batches[g].cells[c], has_arms, list));
    }
    return PCS_OK;
}

static int carried_compare(const void *a, const void *b)
{
    const int *x = *(const int *const *)a, *y = *(const int *const *)b;
    for (int k = 0; k < KEYS; k++)
        if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
    return 0;
}

// Converts a record to an obstacle, with the node number of the whole mesh.
static void carried_show(const fe_data *fe, const int *record, pcs_obstacle *o)
{
    *o = (pcs_obstacle){ .contact = -1, .is_carried = true };
    if (record[0] == CARRIED_DISC) {
        const pcs_fe_group *group = &fe->model.groups[record[1]];
        (void)group->ops->show(group->params, record[KEYS - 1], o);
    } else {
        o->kind = PCS_OBSTACLE_ROD;
        memcpy(o->end, record + ARM, sizeof o->end);
    }
    o->carrier = o->end_node = record[NODE];
}

// Sorts all records on rank 0, fills their list, and numbers them in the order received.
static pcs_status carried_sort(pcs_context *ctx, const fe_data *fe, const pcs_numbers *told, int count, int *number,
                               fe_carried *out)
{
    const int **sorted = pcs_scratch(NULL, (size_t)count, sizeof *sorted);
    out->list = pcs_scratch(NULL, (size_t)count, sizeof *out->list);
    if (sorted == NULL || out->list == NULL) {
        pcs_scratch_free(sorted);
        return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: the picture");
    }
    for (int i = 0; i < count; i++) sorted[i] = told->value + (size_t)i * RECORD;
    if (count > 0) qsort(sorted, (size_t)count, sizeof *sorted, carried_compare);
    for (int i = 0; i < count; i++) {
        number[(sorted[i] - told->value) / RECORD] = i;
        carried_show(fe, sorted[i], &out->list[i]);
    }
    pcs_scratch_free(sorted);
    return PCS_OK;
}

// Sends the records to rank 0, which returns their numbers.
static pcs_status carried_tell(pcs_context *ctx, const fe_data *fe, const carried_list *list, pcs_numbers *answer,
                               fe_carried *out)
{
    const pcs_comm *comm = fe->share->layout.comm;
    pcs_numbers told = { 0 };
    int size = comm->size, total = 0;
    int *count = pcs_scratch(NULL, 2 * (size_t)size, sizeof *count), *start = count + size, *number = NULL;
    pcs_status status = count == NULL ? pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: the picture") : PCS_OK;
    PCS_TRY(pcs_comm_agree(ctx, status));
    memset(count, 0, 2 * (size_t)size * sizeof *count);
    count[0] = list->count * RECORD;
    status = comm->exchange(comm, ctx, count, start, list->record, &told);
    if (status == PCS_OK) {
        for (int r = 0; r < size; r++) {
            count[r] = told.count[r] / RECORD;
            start[r] = total;
            total += count[r];
        }
        number = pcs_scratch(NULL, (size_t)total, sizeof *number);
        if (number == NULL) status = pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: the picture");
        else if (comm->rank == 0) status = carried_sort(ctx, fe, &told, total, number, out);
        status = pcs_comm_agree(ctx, status);
    }
    if (status == PCS_OK) status = comm->exchange(comm, ctx, count, start, number, answer);
    pcs_scratch_free(count);
    pcs_scratch_free(number);
    pcs_scratch_free(told.count);
    pcs_scratch_free(told.value);
    out->count = total;
    return status;
}

void pcs_fe_free_carried(fe_carried *carried)
{
    pcs_scratch_free(carried->own);
    pcs_scratch_free(carried->list);
    *carried = (fe_carried){ .own = NULL };
}

pcs_status pcs_fe_find_carried(pcs_system *self, const fe_data *fe, bool has_arms, fe_carried *out)
{
    carried_list list = { 0 };
    pcs_numbers number = { 0 };
    pcs_status status = pcs_comm_agree(self->ctx, carried_list_own(self->ctx, fe, has_arms, &list));
    if (status == PCS_OK) status = carried_tell(self->ctx, fe, &list, &number, out);
    if (status == PCS_OK) {
        out->count = (int)pcs_system_max(self, out->count);
        out->nown = list.count;
        out->own = pcs_scratch(NULL, (size_t)list.count, sizeof *out->own);
        if (out->own == NULL) status = pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: the picture");
        status = pcs_comm_agree(self->ctx, status);
        int nknown = status == PCS_OK ? list.count : 0;
        for (int i = 0; i < nknown; i++) {
            out->own[i][0] = list.node[i];
            out->own[i][1] = number.value[i];
        }
    }
    pcs_scratch_free(list.record);
    pcs_scratch_free(list.node);
    pcs_scratch_free(number.count);
    pcs_scratch_free(number.value);
    return status;
}
