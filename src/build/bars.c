// Lines of cells that carry waves, and the step and number of cells that resolve a run as far as can be predicted:
// `percuss check` reports them, and `auto` takes them. With c = sqrt(E/rho), k = sqrt(E I/(rho A)), cells of length l:
//
//   waves of 80 cells, at most as long as the line: period w/c in rods, w^2/(2 pi k) in beams    120 steps
//   contact of a rod with something rigid     L/c, half of it       250 steps, 200 cells, 400 if it is held
//   contact with a force law of stiffness K   T = pi sqrt(m/K)      150 steps, 60 cells for the wave of period 2 T
//     m: a point mass, or what moves in time T: in a rod rho A c T/2, in a beam rho A sqrt(k T), at most its mass; rods
//     touch for 2 L/c at least. A beam has 24 cells at least
//   without bars: period of the stiffest spring 120 steps, 200 if bodies touch; the flight before the first contact, or
//     of the last rebound that counts in the verdict, 100 steps
//   a rotation, with the acceleration of the start through half a turn    240 steps
//   period of a load, twice the duration of a pulse or ramp               120 steps
//   the run                                                               200 steps, 1000 without bars
//
// Numbers of steps and cells are those of the verdict (output/summary.c) with a margin. Waves count only if
// contacts, initial values or loads that jump excite all frequencies. The stable step of an explicit scheme follows the
// cells: the lines on waves and rigid contacts of rods, and on the run, do not limit it.

#include "build/build.h"
#include "build/builder.h"
#include "core/text.h"
#include "elements/section.h"
#include "fe/fe.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A line of cells of one batch.
typedef struct pcs_bar {
    const pcs_batch *batch;
    int first, ncell; // cells of the batch
    char name[128];
    double c, shear; // speeds of axial and of transverse waves, m/s; 0 if there are none
    double bending;  // m^2/s, smallest sqrt(E I/(rho A)) of a cell; 0 of rods
    double length;   // m
    double cell[2];  // shortest and longest cell, m
    double area[2];  // smallest and largest, m^2
    double rho;
    int end[2]; // nodes where it begins and ends
} pcs_bar;

enum { LINES = 8 };

static void bar_areas(const pcs_batch *batch, int cell, double area[2])
{
    const pcs_taper *taper = pcs_taper_of(batch, cell);
    pcs_section section = { .area = 0.0 };
    if (batch->ops->area != NULL) batch->ops->area->constants(batch->params, &section);
    else section = *pcs_taper_section(batch, cell);
    for (int end = 0; end < 2; end++) area[end] = taper == NULL ? section.area : taper->end[end].area;
}

// Returns the length of a cell of a batch, m, and its areas at both ends, m^2.
static double bar_cell(const pcs_batch *batch, int cell)
{
    const int *node = batch->nodes[batch->cells[cell]];
    const double *x = batch->x[node[0]], *y = batch->x[node[1]];
    return pcs_norm3((double[3]){ y[0] - x[0], y[1] - x[1], y[2] - x[2] });
}

// Returns sqrt(E I/(rho A)) of a cell of beams about its weaker axis, m^2/s.
static double bars_bending(const pcs_batch *batch, int cell, double c)
{
    const pcs_section *section = pcs_taper_section(batch, cell);
    double I = batch->ops->ndof > 6 ? fmin(section->Iy, section->Iz) : section->Iz;
    return c * sqrt(I / section->area);
}

// Measures the line of connected cells from `first` on: wave speeds, lengths and areas. Returns false if it is no bar.
// A lattice is all cells of the batch at once, without ends.
static bool bars_measure(const pcs_batch *batch, int first, bool is_lattice, pcs_bar *out)
{
    const pcs_element_ops *ops = batch->ops;
    double E, nu;
    *out = (pcs_bar){ .batch = batch,
                      .first = first,
                      .area = { INFINITY, 0.0 },
                      .cell = { INFINITY, 0.0 },
                      .bending = ops->section_offset != 0 ? INFINITY : 0.0 };
    if (first >= batch->ncell || !(ops->section_offset != 0 || ops->area != NULL)) return false;
    if (!pcs_build_real(ops->options, batch->params, "E", &E)) return false;
    if (!pcs_build_real(ops->options, batch->params, "rho", &out->rho)) return false;
    out->c = sqrt(E / out->rho);
    if (ops->section_offset != 0 && pcs_build_real(ops->options, batch->params, "nu", &nu))
        out->shear = sqrt(pcs_taper_section(batch, 0)->ky * 0.5 * E / (1.0 + nu) / out->rho);
    for (int i = first; i < batch->ncell; i++) {
        const int *node = batch->nodes[batch->cells[i]];
        double area[2];
        if (i > first && node[0] != out->end[1] && !is_lattice) break;
        if (i == first) out->end[0] = node[0];
        out->end[1] = node[1];
        out->ncell++;
        double length = bar_cell(batch, i);
        if (ops->section_offset != 0) out->bending = fmin(out->bending, bars_bending(batch, i, out->c));
        out->length += length;
        out->cell[0] = fmin(out->cell[0], length);
        out->cell[1] = fmax(out->cell[1], length);
        bar_areas(batch, i, area);
        out->area[0] = fmin(out->area[0], fmin(area[0], area[1]));
        out->area[1] = fmax(out->area[1], fmax(area[0], area[1]));
    }
    if (is_lattice) out->end[0] = out->end[1] = -1;
    return true;
}

// Returns the lines of the model, in scratch memory, and their number; NULL and 0 if memory is out. A group of too many
// lines is one, without ends.
static pcs_bar *bars_find(const pcs_sim *sim, int *count)
{
    int ngroup = pcs_fe_model(sim->system)->ngroup;
    pcs_bar *lines = pcs_scratch(NULL, (size_t)ngroup * LINES + 1, sizeof *lines); // the last one ends a search
    *count = 0;
    for (int g = 0; g < ngroup && lines != NULL; g++) {
        const pcs_batch *batch = pcs_fe_batch(sim->system, g);
        int nline = 1;
        for (int i = 1; i < batch->ncell; i++)
            nline += batch->nodes[batch->cells[i]][0] != batch->nodes[batch->cells[i - 1]][1];
        bool is_lattice = nline > LINES || sim->system->layout != NULL;
        for (int first = 0; bars_measure(batch, first, is_lattice, &lines[*count]); first += lines[(*count)++].ncell) {
        }
    }
    return lines;
}

void pcs_build_find_cells(pcs_sim *sim)
{
    const pcs_fe_definition *model = pcs_system_is_mesh(sim->system) ? pcs_fe_model(sim->system) : NULL;
    int ngroup = model == NULL ? 0 : model->ngroup;
    for (int g = 0; g < ngroup; g++) {
        const pcs_batch *batch = pcs_fe_batch(sim->system, g);
        pcs_bar all;
        if (!bars_measure(batch, 0, true, &all)) continue;
        double slowest = all.shear > 0.0 ? fmin(all.c, all.shear) : all.c;
        sim->view.axial_cell = fmax(sim->view.axial_cell, all.cell[1] / slowest);
        for (int i = 0; i < batch->ncell && batch->ops->section_offset != 0; i++) {
            double l = bar_cell(batch, i);
            sim->view.bending_cell = fmax(sim->view.bending_cell, l * l / bars_bending(batch, i, all.c));
        }
    }
    sim->view.axial_cell = pcs_system_max(sim->system, sim->view.axial_cell);
    sim->view.bending_cell = pcs_system_max(sim->system, sim->view.bending_cell);
}

static const double PI = 3.14159265358979323846;
static const double WAVE_CELLS = 80.0, WAVE_STEPS = 120.0;      // cells and steps for the shortest wave that counts
static const double TOUCH_STEPS = 250.0, TOUCH_CELLS = 200.0;   // steps of a rigid contact of a rod, cells of the rod
static const double LAW_STEPS = 150.0, LAW_CELLS = 60.0;        // contact with a force law
static const double BEAM_CELLS = 24.0;                          // least cells of a beam or member
static const double FLIGHT_STEPS = 100.0, LAST_REBOUND = 0.05;  // steps of a flight, least rebound
static const double RUN_STEPS = 200.0, FREE_STEPS = 1000.0;     // steps of the run, with and without bars
static const double TURN_STEPS = 240.0, TOUCHING_STEPS = 200.0; // of a rotation, of a spring's period
static const double JUMP = 1e-3;                                // fraction of a table below which a row is a jump

// Takes a fraction of the time as the step if it is the smallest so far, with the reason.
__attribute__((format(printf, 4, 5))) static void foresee_take(pcs_foresight *f, double time, double steps,
                                                               const char *format, ...)
{
    va_list list;
    if (!(time > 0.0) || !(time / steps < f->step)) return;
    f->step = time / steps;
    int length = snprintf(f->reason, sizeof f->reason, "%.0f steps in %.4g s, ", steps, time);
    va_start(list, format);
    vsnprintf(f->reason + length, sizeof f->reason - (size_t)length, format, list);
    va_end(list);
}

// Takes the step that a load or a motion needs over time. Returns true if it excites all frequencies.
static bool foresee_amplitude(pcs_foresight *f, const pcs_amplitude *a, const char *name)
{
    double shortest = INFINITY; // row of a table, s; much shorter ones are jumps
    int nrow = a->kind == PCS_AMPLITUDE_TABLE ? a->count : 0;
    if (!pcs_amplitude_is_given(a)) return true;
    for (int i = 1; i < nrow; i++) {
        double row = a->time[i] - a->time[i - 1];
        if (row > JUMP * (a->time[a->count - 1] - a->time[0])) shortest = fmin(shortest, row);
    }
    switch (a->kind) {
    case PCS_AMPLITUDE_SINE: foresee_take(f, 1.0 / a->frequency, WAVE_STEPS, "the period of %.60s", name); return false;
    case PCS_AMPLITUDE_RAMP:
    case PCS_AMPLITUDE_PULSE: foresee_take(f, 2.0 * a->duration, WAVE_STEPS, "twice the time of %.60s", name); break;
    case PCS_AMPLITUDE_TABLE: foresee_take(f, shortest, 10.0, "the shortest row of %.60s", name); break;
    default: return true;
    }
    return !a->is_smooth;
}

// Takes the period under a key of a joint. Returns true if it has one.
static bool foresee_key(pcs_foresight *f, const pcs_row_source *joint, const char *key, bool is_rate)
{
    double x = 0.0;
    if (!pcs_build_real(joint->ops->options, joint->params, key, &x) || !(x > 0.0)) return false;
    foresee_take(f, is_rate ? 1.0 / x : 2.0 * x, WAVE_STEPS, "the %s of %.60s", key, joint->name);
    return true;
}

// Takes the step that all loads and prescribed motions need. The state and contacts excite all frequencies, too.
static bool foresee_loads(const pcs_sim *sim, pcs_foresight *f)
{
    const pcs_fe_definition *model = pcs_fe_model(sim->system);
    bool is_sudden = model->ninitial > 0 || sim->from != NULL || pcs_count_points(sim->system) > 0;
    for (int i = 0; i < model->nload; i++)
        is_sudden = foresee_amplitude(f, &model->loads[i].amplitude, model->loads[i].name) || is_sudden;
    for (int i = 0; i < model->njoint; i++) {
        const pcs_row_source *joint = &model->joints[i];
        const pcs_source_signal *s = joint->ops->signals;
        bool is_smooth = foresee_key(f, joint, "frequency", true) || foresee_key(f, joint, "rise", false);
        for (; s != NULL && s->name != NULL; s++) {
            const pcs_amplitude *a = (const pcs_amplitude *)((const char *)joint->params + s->offset);
            is_smooth = is_smooth || !foresee_amplitude(f, a, joint->name);
        }
        is_sudden = is_sudden || (joint->ops->drive != NULL && !is_smooth);
    }
    return is_sudden;
}

// Takes what waves in a line need.
static void foresee_wave(pcs_foresight *f, const pcs_bar *line)
{
    bool is_lattice = line->end[0]<0, bends = line->bending> 0.0 && !is_lattice;
    double wave = is_lattice ? WAVE_CELLS * line->cell[1] : fmin(WAVE_CELLS * line->cell[1], line->length);
    double period = bends ? wave * wave / (2.0 * PI * line->bending) : wave / line->c;
    foresee_take(f, period, WAVE_STEPS, "%s wave of %.4g cells in %.60s", bends ? "a bending" : "a",
                 wave / line->cell[1], line->batch->name);
}

// Returns the shortest time, s, for which a line may press on a stiffness, N/m.
static double foresee_press(const pcs_bar *line, double stiffness)
{
    double mass = line->rho * line->area[0], whole = PI * sqrt(mass * line->length / stiffness);
    if (line->bending > 0.0) return fmin(whole, pow(PI * PI * mass * sqrt(line->bending) / stiffness, 2.0 / 3.0));
    return fmax(2.0 * line->length / line->c, fmin(whole, 0.5 * PI * PI * mass * line->c / stiffness));
}

// Returns the largest stiffness, N/m, of contacts with force laws, as far as the energy at the start and the fall over
// the size of the model go.
static double foresee_stiffness(const pcs_sim *sim)
{
    const pcs_system *system = sim->system;
    const pcs_fe_definition *model = pcs_fe_model(system);
    pcs_measure measure;
    double fall = 0.0, stiffness = 0.0;
    system->ops->measure(system, pcs_at(sim->start_time, sim->state.q, sim->state.v), PCS_ENERGY, &measure);
    int n = system->gravity == NULL ? 0 : pcs_system_nown(system);
    for (int i = 0; i < n; i++) fall += fabs(system->gravity[i]) * system->scale.model[i];
    double energy = measure.kinetic + measure.strain + fall;
    for (int k = 0; k < model->ncontact; k++) {
        const pcs_law *law = &model->contacts[k].law;
        pcs_law_bound bound;
        if (!pcs_law_is_force(law)) continue;
        law->ops->bound(law->params, energy, sqrt(2.0 * energy / system->mass), &bound);
        stiffness = fmax(stiffness, bound.by_gap);
    }
    return stiffness;
}

static pcs_status foresee_mesh(const pcs_sim *sim, bool is_explicit, pcs_foresight *f)
{
    const pcs_fe_definition *model = pcs_fe_model(sim->system);
    double stiffness = foresee_stiffness(sim), mass;
    bool has_waves = foresee_loads(sim, f) && !is_explicit, has_law = stiffness > 0.0;
    bool touches = has_waves && pcs_count_points(sim->system) > 0 && !has_law;
    int count;
    pcs_bar *lines = bars_find(sim, &count);
    if (lines == NULL) return pcs_fail(sim->ctx, PCS_NO_MEMORY, "out of memory: lines of cells");
    for (int i = 0; i < count; i++) {
        const pcs_bar *line = &lines[i];
        double travel = line->length / line->c;
        if (has_waves) foresee_wave(f, line);
        if (has_law) f->press = fmin(f->press, foresee_press(line, stiffness));
        if (line->bending > 0.0 || line->end[0] < 0) continue;
        if (touches) foresee_take(f, travel, TOUCH_STEPS, "L/c of %.60s, half a contact", line->batch->name);
        f->travel = fmin(f->travel, travel / TOUCH_CELLS / (model->nsupport > 0 ? 2.0 : 1.0));
    }
    pcs_scratch_free(lines);
    for (int g = 0; g < model->ngroup && isfinite(f->press); g++)
        if (pcs_build_real(model->groups[g].ops->options, model->groups[g].params, "mass", &mass) && mass > 0.0)
            f->press = fmin(f->press, PI * sqrt(mass / stiffness));
    if (!sim->follows_contacts) foresee_take(f, f->press, LAW_STEPS, "a contact with a force law");
    if (isfinite(f->travel)) f->travel = fmin(f->travel, 2.0 * f->press / LAW_CELLS);
    return PCS_OK;
}

// Takes the step for rotations and, without bars, for accelerations of the start. Points rotate if joints hold them. a:
// [nv] m/s^2 without contacts. Returns true if anything moves.
static bool foresee_motion(const pcs_sim *sim, const double *a, bool has_bars, pcs_foresight *f)
{
    const pcs_system *system = sim->system;
    double span = sim->end_time - sim->start_time, rate = 0.0, motion = 0.0;
    bool is_held = pcs_count_conditions(system) > 0 && !has_bars;
    for (int i = 0; i < pcs_system_nown(system); i++) {
        double v = fabs(sim->state.v[i]), gain = has_bars ? 0.0 : fabs(a[i]);
        double distance = system->scale.is_angle[i] ? 1.0 : system->scale.model[i];
        motion = fmax(motion, fmax(v, fabs(a[i])));
        if (!system->scale.is_angle[i] && !is_held) continue;
        rate = fmax(rate, fmin(v + gain * span, sqrt(v * v + 2.0 * PI * gain * distance)) / distance);
    }
    foresee_take(f, 2.0 * PI / rate, TURN_STEPS, "a rotation");
    return motion > 0.0;
}

// Takes the step for the flight of rigid bodies before their first contact, and for rebounds.
static void foresee_flights(const pcs_sim *sim, const double *a, const double *gap, pcs_foresight *f)
{
    const pcs_system *system = sim->system;
    for (int j = 0; j < system->nrow; j++) {
        double speed = 0.0, gain = 0.0;
        for (int k = system->G->start[j]; k < system->G->start[j + 1]; k++) {
            speed -= system->G->value[k] * sim->state.v[system->G->column[k]];
            gain -= system->G->value[k] * a[system->G->column[k]];
        }
        double root = sqrt(speed * speed + 2.0 * gain * gap[j]), flight = 2.0 * gap[j] / (speed + root);
        if (system->rows[j].is_bilateral || !(gap[j] > 0.0) || !(flight > 0.0)) continue;
        bool rebounds = gain > 0.0 && pcs_restitution(&system->rows[j], root) > 0.0;
        double last = rebounds ? fmin(flight, 2.0 * LAST_REBOUND * root / gain) : flight;
        if (flight <= sim->end_time - sim->start_time)
            foresee_take(f, last, FLIGHT_STEPS, "%s of %.60s",
                         rebounds ? "a late rebound" : "the flight before a contact",
                         system->contacts[system->rows[j].contact].name);
    }
}

// Evaluates forces. Returns true if there are any.
static bool foresee_pushes(const pcs_sim *sim, pcs_instant at, double *force)
{
    double largest = 0.0;
    sim->system->ops->force(sim->system, at, force);
    for (int i = 0; i < pcs_system_nown(sim->system); i++) largest = fmax(largest, fabs(force[i]));
    return largest > 0.0;
}

// Takes the step that follows from the accelerations at the start, without those of joints.
static pcs_status foresee_start(pcs_sim *sim, bool has_bars, bool follows_cells, pcs_foresight *f)
{
    pcs_system *system = sim->system;
    pcs_instant at = pcs_at(sim->start_time, sim->state.q, sim->state.v);
    size_t nv = (size_t)system->nv, nrow = (size_t)system->nrow;
    double *a = pcs_scratch(NULL, nv + nrow, sizeof *a), *gap = a + nv;
    if (a == NULL) return pcs_fail(sim->ctx, PCS_NO_MEMORY, "out of memory: accelerations");
    if (system->mass_varies) system->ops->update(system, at, PCS_MASS, NULL);
    // Takes loads that grow from zero at the middle of the run.
    if (!foresee_pushes(sim, at, a))
        (void)foresee_pushes(sim, pcs_at(0.5 * (sim->start_time + sim->end_time), at.q, at.v), a);
    for (int i = 0; i < system->nv; i++) {
        double mass = pcs_matrix_diagonal(system->M, i);
        a[i] = mass > 0.0 ? a[i] / mass : 0.0;
    }
    if ((foresee_motion(sim, a, has_bars, f) || isfinite(f->step)) && !follows_cells)
        foresee_take(f, sim->end_time - sim->start_time, has_bars ? RUN_STEPS : FREE_STEPS, "the run");
    if (!has_bars && system->layout == NULL) {
        pcs_system_gaps(system, at, gap);
        if (system->row_set.vary) pcs_system_aim(system, at);
        foresee_flights(sim, a, gap, f);
    }
    pcs_scratch_free(a);
    return PCS_OK;
}

pcs_status pcs_foresee(pcs_sim *sim, bool is_explicit)
{
    pcs_foresight *f = &sim->foreseen;
    pcs_system *system = sim->system;
    *f = (pcs_foresight){ .step = INFINITY, .travel = INFINITY, .press = INFINITY };
    pcs_build_find_cells(sim);
    bool has_bars = sim->view.axial_cell > 0.0;
    if (pcs_system_is_mesh(system)) PCS_TRY(foresee_mesh(sim, is_explicit, f));
    if (!has_bars)
        foresee_take(f, PI * system->stable_step, pcs_count_points(system) > 0 ? TOUCHING_STEPS : WAVE_STEPS,
                     "the period of the stiffest spring");
    PCS_TRY(foresee_start(sim, has_bars, has_bars && is_explicit, f));
    if (!has_bars && pcs_system_ncompliant(system) > 0) f->press = 0.5 * PI * system->stable_step;
    f->press = -pcs_system_max(system, -f->press);
    double step = -pcs_system_max(system, -f->step);
    if (step < f->step) snprintf(f->reason, sizeof f->reason, "cells of another process");
    f->step = step;
    return PCS_OK;
}

double pcs_foresee_cells(const pcs_sim *sim, const pcs_set *set, double present)
{
    int count;
    pcs_bar *lines = bars_find(sim, &count);
    const pcs_foresight *f = &sim->foreseen;
    double cells = 0.0;
    for (const pcs_bar *line = lines; line < lines + (set == NULL ? 0 : count); line++) {
        double wave = sqrt(4.0 * PI * line->bending * f->press); // of period 2 T
        for (int k = line->first; k < line->first + line->ncell; k++) {
            double length = present * bar_cell(line->batch, k);
            int cell = line->batch->cells[k]; // those of a part follow one another
            if (cell < set->items[0] || cell > set->items[set->count - 1]) continue;
            if (line->bending > 0.0) cells = fmax(cells, fmax(BEAM_CELLS, ceil(LAW_CELLS * length / wave)));
            else if (isfinite(f->travel)) cells = fmax(cells, fmax(1.0, round(length / (line->c * f->travel))));
        }
    }
    pcs_scratch_free(lines);
    return cells;
}

// The model in words: the answer of `check`, and questions about values that are possible and unlikely.

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

// Asks about steel, by its density, with a modulus as if in GPa or MPa. Slow waves alone are no error: rubber.
pcs_status pcs_build_questions(pcs_build *b)
{
    enum { ROOM = 512 };
    for (int g = 0; g < b->model.ngroup; g++) {
        const pcs_fe_group *group = &b->model.groups[g];
        double E, rho;
        if (group->ops == NULL || !pcs_build_real(group->ops->options, group->params, "E", &E) ||
            !pcs_build_real(group->ops->options, group->params, "rho", &rho))
            continue;
        if (!(rho >= 7000.0 && rho <= 9000.0 && E < 1e6)) continue;
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

// Wave data of bars: speeds, impedances and travel times. For a rod or beam of density rho, modulus E and section A:
//
//   c = sqrt(E/rho),  Z = rho c A                  and of transverse waves in beams  c = sqrt(k G/rho),  Z = rho c A
//
// Parts are the lines that the cells of a group make, one after the other: a group over several parts of the mesh has
// several.

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

// Prints the Courant numbers of the step in the cells, and the stable step of the scheme of the case; that of
// half_explicit if it needs none.
static void bars_print_clock(const bars *b)
{
    double low = INFINITY, high = 0.0, h = b->sim->step_size;
    for (int i = 0; i < b->count; i++)
        for (int cell = 0; cell < b->part[i].ncell; cell++) {
            double courant = b->part[i].c * h / bar_cell(b->part[i].batch, b->part[i].first + cell);
            low = fmin(low, courant);
            high = fmax(high, courant);
        }
    char stable[80] = "";
    const pcs_scheme *scheme = b->sim->scheme;
    pcs_mode_limit *own = scheme->ops->stable_step;
    const pcs_step_limit limit = { .modes = own == NULL ? pcs_stable_trapezoidal : own, .params = scheme->params };
    const char *name = own == NULL ? "half_explicit" : scheme->ops->name;
    double step = b->sim->system->ops->stable_step(b->sim->system, NULL, NULL, &limit);
    if (step <= 0.0) snprintf(stable, sizeof stable, "; no step of %s is stable", name);
    else if (isfinite(step)) snprintf(stable, sizeof stable, "; stable step of %s %.6g s", name, step);
    if (high - low > 1e-6 * high) bars_print(b, "steps of %.6g s, Courant number %.4g to %.4g%s", h, low, high, stable);
    else bars_print(b, "steps of %.6g s, Courant number %.4g%s", h, high, stable);
}

// Ratio of the given step to that of `auto`, or of the numbers of cells, up to which the given one is good enough.
static const double ENOUGH = 1.7;

// Prints the step that `auto` would take, and the cells of parts of the mesh that have too few.
static void bars_print_auto(const bars *b)
{
    const pcs_yaml *mesh = pcs_yaml_at(pcs_case_root(b->sim->input), "mesh");
    int npart = b->count == 0 ? 0 : mesh->count;
    const pcs_foresight *f = &b->sim->foreseen;
    char text[200] = "";
    double h = b->sim->step_size;
    if (b->sim->scheme == NULL || b->sim->view.is_controlled) return;
    for (int i = 0; i < npart; i++) {
        const char *name = mesh->keys[i].name;
        double present = strtod(pcs_yaml_string(mesh->items[i], "elements"), NULL);
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
    if (model != NULL) b.part = bars_find(sim, &b.count);
    for (int i = 0; i < b.count; i++) {
        pcs_bar *part = &b.part[i];
        bars_name(model->mesh, part);
        bars_print_waves(&b, part, part->c, part->shear > 0.0 ? "axial waves " : "");
        if (part->shear > 0.0) bars_print_waves(&b, part, part->shear, "transverse waves ");
    }
    if (b.count > 0 && sim->scheme != NULL) bars_print_clock(&b);
    bars_print_auto(&b);
    pcs_scratch_free(b.part);
}
