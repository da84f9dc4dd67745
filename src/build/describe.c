// The model in words: the answer of `check`, and questions about values that are possible and unlikely.

#include "build/bars.h"
#include "build/build.h"
#include "build/builder.h"
#include "core/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pcs_describe_sim(const pcs_sim *sim, size_t size, char *text)
{
    const pcs_system *system = sim->system;
    int npoint = 0, njoint = 0, ncondition = 0;
    for (int c = 0; c < system->ncontact; c++) {
        bool is_joint = pcs_is_joint(system, c);
        njoint += is_joint;
        *(is_joint ? &ncondition : &npoint) += system->contacts[c].nall;
    }
    text[0] = '\0';
    pcs_text_add(text, size, "%d dofs, %d contact point%s, ", pcs_system_ndof(system), npoint, npoint == 1 ? "" : "s");
    if (njoint > 0)
        pcs_text_add(text, size, "%d joint%s of %d condition%s, ", njoint, njoint == 1 ? "" : "s", ncondition,
                     ncondition == 1 ? "" : "s");
    if (sim->scheme == NULL) {
        pcs_text_add(text, size, "enough for statics and modes; a run needs 'scheme' and 'time', too");
        return;
    }
    pcs_text_add(text, size, "%s, ", sim->scheme->ops->name);
    if (sim->view.is_controlled) pcs_text_add(text, size, "steps of controlled size");
    else pcs_text_add(text, size, "%ld steps of %g s", sim->nstep, sim->step_size);
}

// Returns true for steel by its density, with a modulus as if in GPa or MPa. Slow waves alone are no error: rubber.
static bool describe_is_odd_steel(double E, double rho)
{
    return rho >= 7000.0 && rho <= 9000.0 && E < 1e6;
}

pcs_status pcs_build_questions(pcs_build *b)
{
    enum { ROOM = 512 };
    for (int g = 0; g < b->model.ngroup; g++) {
        const pcs_fe_group *group = &b->model.groups[g];
        double E, rho;
        if (group->ops == NULL || !pcs_build_real(group->ops->options, group->params, "E", &E) ||
            !pcs_build_real(group->ops->options, group->params, "rho", &rho) || !describe_is_odd_steel(E, rho))
            continue;
        char *text = pcs_take(b->ctx, ROOM, 1, "a question");
        if (text == NULL) return PCS_NO_MEMORY;
        snprintf(text, ROOM,
                 "elements.%.80s: E = %g with rho = %g: waves would travel at %.3g m/s. Is E meant in GPa or MPa? In "
                 "N/m^2 that of steel is 2.1e11",
                 group->name, E, rho, sqrt(E / rho));
        b->sim->view.question = text;
        return PCS_OK;
    }
    return PCS_OK;
}

// Wave data of bars: speeds, impedances, travel times, and reflection where impedances change. For a rod or beam of
// density rho, modulus E and section A:
//
//   c = sqrt(E/rho),  Z = rho c A                  and of transverse waves in beams  c = sqrt(k G/rho),  Z = rho c A
//   a force wave from Z1 into Z2:                  reflected (Z2 - Z1)/(Z2 + Z1),  transmitted 2 Z2/(Z1 + Z2)
//
// Parts are the lines that the cells of a group make, one after the other: a group over several parts of the mesh has
// several. They meet at nodes that they share and in contacts of two nodes, which carry pressure only.

enum { BARS_LINE = 320 };

static const double SAME_IMPEDANCE = 1e-9;

typedef struct bars {
    const pcs_sim *sim;
    pcs_describe_put *put;
    void *user;
    int count;
    pcs_bar *part; // [count]
} bars;

__attribute__((format(printf, 2, 3))) static void bars_print(const bars *b, const char *format, ...)
{
    char line[BARS_LINE];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    b->put(b->user, line);
}

// Labels a line by its group and, if the group has other lines, by the cell set that it is, or else by its cells.
static void bars_name(const pcs_mesh *mesh, pcs_bar *part)
{
    const pcs_batch *batch = part->batch;
    const int *cells = batch->cells + part->first;
    snprintf(part->name, sizeof part->name, "%.60s", batch->name);
    if (part->ncell == batch->ncell) return;
    snprintf(part->name, sizeof part->name, "%.60s, cells %d to %d", batch->name, cells[0], cells[part->ncell - 1]);
    for (int i = 0; i < mesh->ncell_set; i++) {
        const pcs_set *set = &mesh->cell_set[i];
        if (set->count != part->ncell || set->items[0] != cells[0] ||
            set->items[set->count - 1] != cells[part->ncell - 1])
            continue;
        snprintf(part->name, sizeof part->name, "%.60s, %.60s", batch->name, set->name);
        return;
    }
}

static void bars_print_waves(const bars *b, const pcs_bar *part, double c, const char *kind)
{
    double low = part->rho * c * part->area[0], high = part->rho * c * part->area[1];
    char impedance[80];
    if (high > low * (1.0 + SAME_IMPEDANCE)) snprintf(impedance, sizeof impedance, "%.6g to %.6g", low, high);
    else snprintf(impedance, sizeof impedance, "%.6g", low);
    int ncell = part->ncell;
    bool is_even = part->cell[1] <= part->cell[0] * (1.0 + 1e-6);
    char over[80] = "";
    if (part->end[0] >= 0)
        snprintf(over, sizeof over, "travel time %.6g s over %.6g m, ", part->length / c, part->length);
    bars_print(b, "%s: %sc = %.6g m/s, Z = %s kg/s, %s%.6g s through each of %d cell%s%s", part->name, kind, c,
               impedance, over, part->length / c / ncell, ncell, ncell == 1 ? "" : "s", is_even ? "" : " on average");
}

static void bars_print_step(const bars *b, const char *where, double before, double behind)
{
    double sum = before + behind;
    if (fabs(behind - before) <= SAME_IMPEDANCE * sum) return;
    bars_print(
        b, "%s: Z from %.6g to %.6g kg/s, reflects %.4g of a force wave and passes on %.4g; backwards %.4g and %.4g",
        where, before, behind, (behind - before) / sum, 2.0 * behind / sum, (before - behind) / sum,
        2.0 * before / sum);
}

// Prints the impedance steps between the cells of a part with varying section.
static void bars_print_inner_steps(const bars *b, const pcs_bar *part)
{
    double way = 0.0, before = 0.0;
    if (part->batch->tapers == NULL || part->end[0] < 0) return;
    for (int i = part->first; i < part->first + part->ncell; i++) {
        double area[2], Z = part->rho * part->c;
        char where[160];
        pcs_bar_areas(part->batch, i, area);
        snprintf(where, sizeof where, "%s at %.6g m", part->name, way);
        if (i > part->first) bars_print_step(b, where, before, Z * area[0]);
        before = Z * area[1];
        way += pcs_bar_cell(part->batch, i);
    }
}

// Returns the impedance, kg/s, of the first part from `from` on that ends at a node, and its number in *index; NAN and
// count if there is none.
static double bars_at(const bars *b, int node, int from, int *index)
{
    for (int i = from; i < b->count; i++) {
        const pcs_bar *part = &b->part[i];
        double area[2];
        int end = part->end[1] == node ? 1 : 0;
        if (part->end[end] != node) continue;
        pcs_bar_areas(part->batch, end == 0 ? part->first : part->first + part->ncell - 1, area);
        *index = i;
        return part->rho * part->c * area[end];
    }
    *index = b->count;
    return NAN;
}

// Prints the impedance step at every node where two parts meet.
static void bars_print_joints(const bars *b)
{
    for (int i = 0; i < b->count; i++)
        for (int end = 0; end < 2; end++) {
            int first, second, node = b->part[i].end[end];
            double Z1 = bars_at(b, node, i, &first), Z2 = bars_at(b, node, i + 1, &second);
            char where[280];
            if (first != i || second >= b->count) continue;
            snprintf(where, sizeof where, "%s | %s", b->part[i].name, b->part[second].name);
            bars_print_step(b, where, Z1, Z2);
        }
}

// Prints the impedance step at every contact between the ends of two parts.
static void bars_print_contacts(const bars *b, const pcs_fe_definition *model)
{
    for (int i = 0; i < model->ncontact; i++) {
        const pcs_row_source *contact = &model->contacts[i];
        const pcs_set *set[2];
        int part[2];
        char where[360];
        if (strcmp(contact->ops->name, "node_node") != 0) continue;
        for (int k = 0; k < 2; k++) {
            const char *name = pcs_option_text(contact->ops->options, contact->params, k == 0 ? "a" : "b");
            set[k] = name == NULL ? NULL : pcs_mesh_node_set(model->mesh, name);
        }
        if (set[0] == NULL || set[1] == NULL || set[0]->count != 1) continue;
        double Z1 = bars_at(b, set[0]->items[0], 0, &part[0]), Z2 = bars_at(b, set[1]->items[0], 0, &part[1]);
        if (part[0] >= b->count || part[1] >= b->count) continue;
        snprintf(where, sizeof where, "contact %.80s, %s | %s", contact->name, b->part[part[0]].name,
                 b->part[part[1]].name);
        bars_print_step(b, where, Z1, Z2);
    }
}

// Prints the Courant numbers of the step in the cells, and the stable step.
static void bars_print_clock(const bars *b)
{
    const pcs_system *system = b->sim->system;
    double low = INFINITY, high = 0.0, h = b->sim->step_size;
    for (int i = 0; i < b->count; i++)
        for (int cell = 0; cell < b->part[i].ncell; cell++) {
            double courant = b->part[i].c * h / pcs_bar_cell(b->part[i].batch, b->part[i].first + cell);
            low = fmin(low, courant);
            high = fmax(high, courant);
        }
    char stable[80] = "";
    if (system->stable_step > 0.0 && isfinite(system->stable_step))
        snprintf(stable, sizeof stable, "; stable step of explicit schemes %.6g s", system->stable_step);
    if (high - low > 1e-6 * high) bars_print(b, "steps of %.6g s, Courant number %.4g to %.4g%s", h, low, high, stable);
    else bars_print(b, "steps of %.6g s, Courant number %.4g%s", h, high, stable);
}

// Ratio of the given step to that of `auto`, or of the numbers of cells, up to which the given one is good enough.
static const double ENOUGH = 1.7;

// Prints the step that `auto` would take, and the cells of parts of the mesh that have too few.
static void bars_print_auto(const bars *b)
{
    const pcs_yaml *mesh = pcs_yaml_at(pcs_case_root(b->sim->input), "mesh");
    int npart = b->count == 0 ? 0 : pcs_yaml_count(mesh);
    const pcs_foresight *f = &b->sim->foreseen;
    char text[200] = "";
    double h = b->sim->step_size;
    if (b->sim->scheme == NULL || b->sim->view.is_controlled) return;
    for (int i = 0; i < npart; i++) {
        const char *name = pcs_yaml_key(mesh, i);
        double present = strtod(pcs_yaml_string(pcs_yaml_item(mesh, i), "elements"), NULL);
        double cells = pcs_foresee_cells(b->sim, pcs_mesh_cell_set(pcs_fe_model(b->sim->system)->mesh, name), present);
        if (cells <= ENOUGH * present) continue;
        pcs_text_add(text, sizeof text, "%s%.0f in %.40s", text[0] == '\0' ? "" : ", ", cells, name);
    }
    if (text[0] != '\0') bars_print(b, "elements: auto would take %s", text);
    if (h > f->step)
        bars_print(b, "time.step: auto would take %.4g s, %s%s", f->step, f->reason,
                   h <= ENOUGH * f->step ? "; that of the case is enough" : "");
}

void pcs_describe_bars(const pcs_sim *sim, pcs_describe_put *put, void *user)
{
    const pcs_fe_definition *model = pcs_system_is_mesh(sim->system) ? pcs_fe_model(sim->system) : NULL;
    bars b = { .sim = sim, .put = put, .user = user };
    if (sim->system->layout != NULL) return; // processes know their own cells only
    if (model != NULL) b.part = pcs_bars_find(sim, &b.count);
    for (int i = 0; i < b.count; i++) {
        pcs_bar *part = &b.part[i];
        bars_name(model->mesh, part);
        bars_print_waves(&b, part, part->c, part->shear > 0.0 ? "axial waves " : "");
        if (part->shear > 0.0) bars_print_waves(&b, part, part->shear, "transverse waves ");
        bars_print_inner_steps(&b, part);
    }
    bars_print_joints(&b);
    if (model != NULL) bars_print_contacts(&b, model);
    if (b.count > 0 && sim->scheme != NULL) bars_print_clock(&b);
    bars_print_auto(&b);
    pcs_scratch_free(b.part);
}
