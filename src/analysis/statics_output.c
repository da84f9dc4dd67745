// A static analysis on disk: statics.csv with a row per load step, frames of the model and of the contacts whose time
// is the load factor, and a summary.

#include "analysis/statics.h"
#include "output/file.h"
#include "output/series.h"
#include "output/tally.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FRICTION_COLUMNS = 3 };

static const char *const friction_columns[FRICTION_COLUMNS] = { "friction", "slip", "state" };

enum { NAME_ROOM = 512, FRAME_OBSERVERS = 3, MOST_POINTS = 20 };

typedef struct record {
    const pcs_analysis *on;
    pcs_view view;
    pcs_state x;
    pcs_instant at; // where it stands
    pcs_step_report report;
    pcs_row_report *acting;  // [nrow + ncompliant] forces, and their impulses over a second
    pcs_reaction *reactions; // [nreaction]
    int *state;              // [nrow] of contacts with friction
    pcs_frames_params params;
    pcs_observer frames[FRAME_OBSERVERS]; // of the model, of the contacts, and view.json
    int nopen;
    bool has_friction, is_arc, is_history;
    pcs_file *table, *summary;
} record;

static bool statics_rubs(const record *r, const pcs_contact_info *contact)
{
    return r->has_friction && contact->nrow > 0 && r->on->system->rows[contact->first_row].ntangent > 0;
}

static void statics_put_number(pcs_file *f, double x)
{
    pcs_file_text(f, ",");
    pcs_file_number(f, x);
}

static void statics_put_header(const record *r)
{
    const pcs_system *system = r->on->system;
    pcs_file_text(r->table, "step,factor,iterations,residual,correction,strain,potential,load_work,joint_work,"
                            "friction_work");
    if (r->is_history) pcs_file_text(r->table, ",t");
    if (pcs_system_remembers(system)) pcs_file_text(r->table, ",material_loss");
    if (r->is_arc) pcs_file_text(r->table, ",arc,slope,determinant");
    for (int c = 0; c < system->ncontact; c++) {
        const pcs_contact_info *contact = &system->contacts[c];
        if (contact->is_joint) continue;
        int npoint = contact->writes_points ? contact->nrow : 0;
        for (int i = -1; i < npoint; i++) {
            pcs_file_column(r->table, contact->name, i, "gap");
            pcs_file_column(r->table, contact->name, i, "force");
            for (int k = 0; statics_rubs(r, contact) && k < FRICTION_COLUMNS; k++)
                pcs_file_column(r->table, contact->name, i, friction_columns[k]);
        }
    }
    for (int i = 0; i < system->nreaction; i++)
        for (int k = 0; k < PCS_REACTION_COMPONENTS; k++)
            if (pcs_reaction_has(&system->reactions[i], k))
                pcs_file_column(r->table, system->reactions[i].name, -1, pcs_reaction_names[k]);
    for (int k = 0; k < r->on->nprobe; k++) pcs_file_column(r->table, r->on->probes[k].column, -1, NULL);
    pcs_file_text(r->table, "\n");
}

// With its sign where there is one direction, else its size.
static double statics_along(int ntangent, const double *x)
{
    return ntangent == 2 ? hypot(x[0], x[1]) : x[0];
}

// Rows first .. first + count - 1 as one: the smallest gap, sums of forces and friction, the largest slip, and whether
// one slides.
static void statics_put_rows(const record *r, const pcs_contact_info *contact, int first, int count)
{
    const pcs_row_report *rows = r->report.rows + first;
    double gap = count > 0 ? rows[0].gap : 0.0, force = 0.0, friction = 0.0, slip = 0.0;
    int state = PCS_ROW_OPEN;
    for (int i = 0; i < count; i++) {
        int ntangent = r->on->system->rows[first + i].ntangent;
        if (rows[i].gap < gap) gap = rows[i].gap;
        force += rows[i].force;
        if (!r->has_friction || ntangent == 0) continue;
        double way = statics_along(ntangent, rows[i].slip);
        friction += statics_along(ntangent, rows[i].tangent);
        if (fabs(way) > fabs(slip)) slip = way;
        if (r->state[first + i] > state) state = r->state[first + i];
    }
    statics_put_number(r->table, gap);
    statics_put_number(r->table, force);
    if (!statics_rubs(r, contact)) return;
    statics_put_number(r->table, friction);
    statics_put_number(r->table, slip);
    pcs_file_print(r->table, ",%d", state);
}

static void statics_put_contact(const record *r, const pcs_contact_info *contact)
{
    statics_put_rows(r, contact, contact->first_row, contact->nrow);
    if (contact->writes_points)
        for (int i = 0; i < contact->nrow; i++) statics_put_rows(r, contact, contact->first_row + i, 1);
}

// Forces of a system in closed form are not told apart, and where it starts is no equilibrium without its loads.
static bool statics_has_work(const record *r)
{
    return pcs_system_is_mesh(r->on->system);
}

static void statics_put_work(const record *r, const pcs_statics *now)
{
    const pcs_statics_work *w = &now->work;
    const double parts[] = { w->loads, w->joints, w->friction };
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        if (statics_has_work(r)) statics_put_number(r->table, parts[k]);
        else pcs_file_text(r->table, ",");
    }
    if (r->is_history) statics_put_number(r->table, now->time);
    if (pcs_system_remembers(r->on->system)) statics_put_number(r->table, w->materials);
    if (!r->is_arc) return;
    statics_put_number(r->table, now->arc);
    statics_put_number(r->table, now->slope);
    pcs_file_print(r->table, ",%d", now->determinant);
}

static void statics_put_row(const record *r, const pcs_statics *now)
{
    const pcs_analysis *on = r->on;
    pcs_measure measure;
    on->system->ops->measure(on->system, r->at, PCS_ENERGY, &measure);
    pcs_file_print(r->table, "%d", now->step);
    statics_put_number(r->table, now->factor);
    pcs_file_print(r->table, ",%d", now->iterations);
    statics_put_number(r->table, now->residual);
    if (isfinite(now->correction)) statics_put_number(r->table, now->correction);
    else pcs_file_text(r->table, ",");
    statics_put_number(r->table, measure.strain);
    statics_put_number(r->table, measure.potential);
    statics_put_work(r, now);
    for (int c = 0; c < on->system->ncontact; c++)
        if (!on->system->contacts[c].is_joint) statics_put_contact(r, &on->system->contacts[c]);
    for (int i = 0; i < on->system->nreaction; i++)
        for (int k = 0; k < PCS_REACTION_COMPONENTS; k++)
            if (pcs_reaction_has(&on->system->reactions[i], k))
                statics_put_number(r->table, pcs_reaction_component(&r->reactions[i], k));
    for (int k = 0; k < on->nprobe; k++)
        statics_put_number(r->table, on->system->ops->probe(on->system, &on->probes[k], r->at));
    pcs_file_text(r->table, "\n");
}

// Reactions are told in the mean over a step: here one of a second in which nothing moves.
static void statics_react(record *r)
{
    pcs_system *system = r->on->system;
    if (system->nreaction == 0) return;
    for (int j = 0; j < pcs_system_npoint(system); j++) r->acting[j] = r->report.rows[j];
    for (int pass = 0; pass < 2; pass++) system->ops->reactions(system, r->at, pass, r->x.q, r->acting, r->reactions);
}

static void statics_rub(record *r, const pcs_statics *now, int j)
{
    const pcs_row *row = &r->on->system->rows[j];
    r->state[j] = now->held[j] ? PCS_ROW_CLOSED : PCS_ROW_OPEN;
    for (int t = 0; t < row->ntangent; t++) {
        int k = row->first_tangent + t;
        r->report.rows[j].tangent[t] = now->tangent[k];
        r->report.rows[j].slip[t] = now->held[j] ? now->slip[k] : 0.0;
        if (now->held[j] && !now->sticks[k]) r->state[j] = PCS_ROW_SLIDES;
    }
}

static void statics_pose(record *r, const pcs_statics *now)
{
    pcs_step_report *report = &r->report;
    memcpy(r->x.q, now->q, (size_t)r->on->system->nq * sizeof *r->x.q);
    r->x.t = r->is_history ? now->time : now->factor;
    r->x.step = now->step;
    r->at = pcs_at_rest(now->time, r->x.q, r->x.v, now->factor);
    for (int j = 0; j < r->on->system->nrow; j++) {
        report->rows[j] = (pcs_row_report){ .gap = now->gap[j], .force = now->force[j], .is_closed = now->held[j] };
        if (now->tangent != NULL) statics_rub(r, now, j);
    }
    pcs_system_press(r->on->system, r->at, report->rows);
    // Impulses over a second.
    for (int j = 0; j < pcs_system_npoint(r->on->system); j++) report->rows[j].step_impulse = report->rows[j].force;
    statics_react(r);
}

static pcs_status statics_watch(void *user, const pcs_statics *now)
{
    record *r = user;
    statics_pose(r, now);
    statics_put_row(r, now);
    PCS_TRY(pcs_file_flush(r->table));
    for (int i = 0; i < FRAME_OBSERVERS; i++) {
        pcs_observer *o = &r->frames[i];
        bool is_first = now->step == 0;
        if (is_first) r->nopen = i + 1;
        PCS_TRY(is_first ? o->ops->open(o) : o->ops->step(o));
    }
    return PCS_OK;
}

static pcs_status statics_take(record *r)
{
    pcs_context *ctx = r->on->ctx;
    const pcs_system *system = r->on->system;
    PCS_TAKE(ctx, r->x.q, system->nq, "load steps");
    PCS_TAKE(ctx, r->x.v, system->nv, "load steps");
    PCS_TAKE(ctx, r->report.rows, pcs_system_npoint(system), "load steps");
    PCS_TAKE(ctx, r->state, system->nrow, "load steps");
    PCS_TAKE(ctx, r->reactions, system->nreaction, "load steps");
    PCS_TAKE(ctx, r->acting, pcs_system_npoint(system), "load steps");
    return PCS_OK;
}

static pcs_status statics_prepare(record *r, const char *directory)
{
    static const char *const names[FRAME_OBSERVERS] = { "frames", "contact_frames", "view" };
    const pcs_analysis *on = r->on;
    char path[4200], stem[NAME_ROOM];
    snprintf(path, sizeof path, "%s/case.resolved.yaml", directory);
    PCS_TRY(pcs_case_write(on->input, path));
    PCS_TRY(statics_take(r));
    snprintf(stem, sizeof stem, "%s_statics", on->case_name);
    r->params.every = 1;
    r->view = (pcs_view){
        .title = on->title, .directory = directory, .system = on->system, .kind = "statics", .still = &r->at
    };
    r->view.case_name = pcs_take_text(on->ctx, stem);
    if (r->view.case_name == NULL) return PCS_NO_MEMORY;
    r->view.state = &r->x;
    r->view.report = &r->report;
    r->view.observers = r->frames;
    r->view.nobserver = FRAME_OBSERVERS;
    for (int i = 0; i < FRAME_OBSERVERS; i++)
        PCS_TRY(pcs_observer_create(on->ctx, names[i], &r->view, &r->params, &r->frames[i]));
    PCS_TRY(pcs_file_create(on->ctx, directory, sizeof "statics.csv", 1 << 16, &r->table));
    PCS_TRY(pcs_file_create(on->ctx, directory, sizeof "summary.txt", 1 << 12, &r->summary));
    PCS_TRY(pcs_file_open(r->table, "statics.csv"));
    statics_put_header(r);
    return PCS_OK;
}

static void statics_put_point(const record *r, const pcs_contact_info *contact, int i)
{
    static const char *const states[] = { "open", "sticks", "slides" };
    int j = contact->first_row + i;
    const pcs_row_report *row = &r->report.rows[j];
    bool rubs = statics_rubs(r, contact);
    const char *state = row->is_closed ? "closed" : "open";
    if (rubs) state = states[r->state[j]];
    pcs_file_print(r->summary, "  %s, point %d: %s, gap %.6g m, force %.9g N", contact->name, i, state, row->gap,
                   row->force);
    if (rubs)
        pcs_file_print(r->summary, ", friction %.9g N", statics_along(r->on->system->rows[j].ntangent, row->tangent));
    pcs_file_text(r->summary, "\n");
}

static void statics_put_marks(const record *r, const char *title, const pcs_statics_marks *marks)
{
    if (marks->count == 0) return;
    pcs_file_print(r->summary, "  %-19s", title);
    for (int i = 0; i < marks->count && i < PCS_STATICS_MARKS; i++)
        pcs_file_print(r->summary, "%s %.9g", i > 0 ? "," : "", marks->factor[i]);
    if (marks->count > PCS_STATICS_MARKS) pcs_file_print(r->summary, ", %d more", marks->count - PCS_STATICS_MARKS);
    pcs_file_text(r->summary, "\n");
}

static void statics_put_path(const record *r, const pcs_statics *now)
{
    if (!now->is_arc) return;
    pcs_file_print(r->summary, "  path                arc %.6g, ends at load factor %.9g\n", now->arc, now->factor);
    statics_put_marks(r, "limit points", &now->limits);
    statics_put_marks(r, "other paths near", &now->branches);
}

// Writes the work of loads, joints and friction and the loss in materials, J, to the summary.
static void statics_put_balance(const record *r, const pcs_statics *now)
{
    const pcs_statics_work *w = &now->work;
    if (!statics_has_work(r)) return;
    pcs_file_print(r->summary, "  work                loads %.9g, joints %.9g, friction %.9g J\n", w->loads, w->joints,
                   w->friction);
    if (pcs_system_remembers(r->on->system)) pcs_file_print(r->summary, "  lost in materials   %.9g J\n", w->materials);
}

static void statics_put_contacts(const record *r)
{
    const pcs_system *system = r->on->system;
    bool is_smooth = false;
    if (pcs_contact_rows(system) > 0) pcs_file_text(r->summary, "\nContacts\n");
    for (int c = 0; c < system->ncontact; c++) {
        const pcs_contact_info *contact = &system->contacts[c];
        if (!contact->is_joint)
            for (int i = 0; i < contact->nrow; i++) {
                int j = contact->first_row + i;
                is_smooth = is_smooth || (system->rows[j].friction > 0.0 && !r->has_friction);
                if (i < MOST_POINTS) statics_put_point(r, contact, i);
            }
        if (contact->nrow > MOST_POINTS && !contact->is_joint)
            pcs_file_print(r->summary, "  %s: %d points more\n", contact->name, contact->nrow - MOST_POINTS);
    }
    if (is_smooth) pcs_file_text(r->summary, "  (friction is left out, as the case asks for)\n");
}

static void statics_put_reactions(const record *r)
{
    const pcs_system *system = r->on->system;
    if (system->nreaction > 0) pcs_file_text(r->summary, "\nReactions, N and N m\n");
    for (int i = 0; i < system->nreaction; i++) {
        pcs_file_print(r->summary, "  %s:", system->reactions[i].name);
        for (int k = 0; k < PCS_REACTION_COMPONENTS; k++)
            if (pcs_reaction_has(&system->reactions[i], k))
                pcs_file_print(r->summary, " %s %.9g", pcs_reaction_names[k],
                               pcs_reaction_component(&r->reactions[i], k));
        pcs_file_text(r->summary, "\n");
    }
}

// Under the loads of the last equilibrium, which the path has left.
static void statics_put_probes(record *r, const pcs_statics *now)
{
    pcs_system *system = r->on->system;
    if (r->on->nprobe > 0) pcs_file_text(r->summary, "\nProbes\n");
    for (int k = 0; k < r->on->nprobe; k++)
        pcs_file_print(
            r->summary, "  %-19s %.12g\n", r->on->probes[k].column,
            system->ops->probe(system, &r->on->probes[k], pcs_at_rest(now->time, r->x.q, r->x.v, now->factor)));
}

static pcs_status statics_summarise(record *r, const pcs_statics *now, const char *reason)
{
    const pcs_analysis *on = r->on;
    pcs_measure measure;
    PCS_TRY(pcs_file_open(r->summary, "summary.txt"));
    on->system->ops->measure(on->system, r->at, PCS_ENERGY, &measure);
    pcs_file_print(r->summary, "%s\n\n", on->title);
    pcs_file_print(r->summary, "Static analysis %s\n", reason == NULL ? "finished" : "stopped");
    if (reason != NULL) pcs_file_print(r->summary, "  %s\n", reason);
    pcs_file_print(r->summary, "  load factor         %.9g\n", now->factor);
    if (r->is_history) pcs_file_print(r->summary, "  time                %.9g s\n", now->time);
    pcs_file_print(r->summary, "  load steps          %d, %d halved\n", now->step, now->nhalved);
    statics_put_path(r, now);
    pcs_file_print(r->summary, "  Newton iterations   %d, %d factorizations by %s\n", now->total, now->nfactor,
                   now->backend);
    if (now->nrelaxed > 0)
        pcs_file_print(r->summary, "  let down to rest    %d times: what holds the model is its load, or contacts\n",
                       now->nrelaxed);
    if (now->jump > 0.0)
        pcs_file_print(r->summary,
                       "  jump                from load factor %.6g on: the model snapped through or buckled\n",
                       now->jump);
    pcs_file_print(r->summary, "  residual            %.3g of the loads and internal forces, round-off explains %.3g\n",
                   now->residual, now->round_off);
    if (isfinite(now->correction))
        pcs_file_print(r->summary, "  last correction     %.3g of the deformation\n", now->correction);
    pcs_file_print(r->summary, "  strain energy       %.9g J\n", measure.strain);
    statics_put_balance(r, now);
    statics_put_probes(r, now);
    statics_put_contacts(r);
    statics_put_reactions(r);
    return pcs_file_commit(r->summary);
}

static pcs_status statics_run(const pcs_analysis *on, const pcs_statics_options *options, const char *directory,
                              pcs_statics *out)
{
    record *r;
    double *q;
    PCS_TAKE(on->ctx, r, 1, "load steps");
    PCS_TAKE(on->ctx, q, on->system->nq, "load steps");
    r->on = on;
    r->has_friction = pcs_statics_rubs(on->system, options);
    r->is_arc = options->path == PCS_PATH_ARC;
    r->is_history = options->path == PCS_PATH_HISTORY;
    memcpy(q, on->start, (size_t)on->system->nq * sizeof *q);
    PCS_TRY(statics_prepare(r, directory));
    char reason[1024];
    pcs_status status = pcs_statics_solve(on, options, q, statics_watch, r, out), closing = PCS_OK;
    snprintf(reason, sizeof reason, "%s", status == PCS_OK ? "" : pcs_message(on->ctx));
    for (int i = 0; i < r->nopen && closing == PCS_OK; i++) closing = r->frames[i].ops->close(&r->frames[i]);
    if (closing == PCS_OK) closing = pcs_file_commit(r->table);
    if (closing == PCS_OK && r->nopen > 0) closing = statics_summarise(r, out, status == PCS_OK ? NULL : reason);
    return status != PCS_OK ? pcs_fail(on->ctx, status, "%s", reason) : closing;
}

pcs_status pcs_statics_run(const pcs_analysis *on, const pcs_statics_options *options, const char *directory,
                           pcs_statics *out)
{
    int lock = -1;
    PCS_TRY(pcs_file_make_folder(on->ctx, directory));
    PCS_TRY(pcs_file_lock_folder(on->ctx, directory, &lock));
    pcs_status status = statics_run(on, options, directory, out);
    pcs_file_unlock_folder(lock);
    return status;
}
