// The summary for programs: always valid JSON, with null for what is not finite or does not exist.

#include "output/frames.h"
#include "output/summary.h"

#include <math.h>
#include <string.h>

typedef struct json {
    pcs_file *f;
    pcs_digits *digits;
    int depth;
    bool is_first; // in its object or list
} json;

static void json_indent(json *j)
{
    static const char blanks[] = "                ";
    int left = 2 * j->depth, most = (int)sizeof blanks - 1;
    for (; left > 0; left -= most) pcs_file_text(j->f, blanks + (left < most ? most - left : 0));
}

// Comma, new line, indentation and the key; items of a list have none.
static void json_key(json *j, const char *key)
{
    pcs_file_text(j->f, j->is_first ? "\n" : ",\n");
    json_indent(j);
    j->is_first = false;
    if (key == NULL) return;
    pcs_file_json(j->f, key);
    pcs_file_text(j->f, ": ");
}

static void json_begin(json *j, const char *key, const char *bracket)
{
    json_key(j, key);
    pcs_file_text(j->f, bracket);
    j->depth++;
    j->is_first = true;
}

static void json_end(json *j, const char *bracket)
{
    j->depth--;
    if (!j->is_first) pcs_file_text(j->f, "\n");
    if (!j->is_first) json_indent(j);
    pcs_file_text(j->f, bracket);
    j->is_first = false;
}

static void json_real(json *j, const char *key, double x)
{
    char text[PCS_NUMBER_ROOM] = "null";
    if (isfinite(x)) pcs_number_text(j->digits, x, text);
    json_key(j, key);
    pcs_file_text(j->f, text);
}

static void json_whole(json *j, const char *key, long x)
{
    char text[PCS_NUMBER_ROOM];
    pcs_integer_text(x, text);
    json_key(j, key);
    pcs_file_text(j->f, text);
}

static void json_text(json *j, const char *key, const char *text)
{
    json_key(j, key);
    if (text == NULL) pcs_file_text(j->f, "null");
    else pcs_file_json(j->f, text);
}

static void json_head(json *j, const pcs_view *view)
{
    const pcs_picture *picture = view->system->picture;
    json_text(j, "version", view->version);
    json_text(j, "case", view->case_name);
    json_text(j, "title", view->title);
    json_text(j, "ending", pcs_ending_text(view->ending));
    json_text(j, "reason", view->reason);
    json_text(j, "question", view->question);
    json_text(j, "scheme", view->scheme_name);
    json_text(j, "solver", view->solver_name);
    json_text(j, "mass_backend", view->mass_backend);
    json_text(j, "step_backend", view->step_backend);
    json_begin(j, "model", "{");
    json_whole(j, "points", picture == NULL ? 0 : picture->nall_node);
    json_whole(j, "cells", picture == NULL ? 0 : picture->nall_cell);
    json_whole(j, "dofs", pcs_system_ndof(view->system));
    json_whole(j, "contact_points", pcs_count_points(view->system));
    json_whole(j, "joint_rows", pcs_count_conditions(view->system));
    json_end(j, "}");
}

static void json_effort(json *j, const pcs_summary *s, const pcs_view *view)
{
    const pcs_timing *w = view->timing;
    long done = view->state->step;
    json_begin(j, "time", "{");
    json_real(j, "reached", view->state->t);
    json_real(j, "end", view->end_time);
    json_real(j, "step", view->step_size);
    json_end(j, "}");
    json_begin(j, "steps", "{");
    json_whole(j, "done", done);
    if (view->is_controlled) json_text(j, "planned", NULL);
    else json_whole(j, "planned", view->nstep);
    json_whole(j, "attempts", view->attempts);
    json_whole(j, "rejections", view->rejections);
    json_whole(j, "cut", view->cut_steps);
    json_whole(j, "finest_cut", view->finest_cut);
    json_whole(j, "handovers", view->handovers);
    json_whole(j, "inexact", view->inexact);
    json_whole(j, "iterations", view->iterations);
    json_real(j, "iterations_mean", done > 0 ? (double)view->iterations / (double)done : NAN);
    json_whole(j, "iterations_max", s->max_iterations);
    json_whole(j, "iterations_max_step", s->max_iterations_step);
    json_whole(j, "factorizations", view->factorizations);
    json_end(j, "}");
    json_begin(j, "wall_time", "{");
    json_real(j, "setup", w->setup);
    json_real(j, "step", w->step);
    json_real(j, "certify", w->certify);
    json_real(j, "output", w->output);
    json_real(j, "checkpoint", w->checkpoint);
    json_whole(j, "checkpoints", view->ncheckpoint);
    json_real(j, "total", w->setup + w->step + w->certify + w->output + w->checkpoint);
    json_real(j, "steps_per_second", (double)done / w->step);
    json_end(j, "}");
    json_whole(j, "memory_bytes", (long)view->memory);
    if (view->memory_of_ranks[0] == 0) return;
    json_begin(j, "ranks", "{");
    json_whole(j, "count", (long)view->memory_of_ranks[0]);
    json_whole(j, "memory_bytes_least", (long)view->memory_of_ranks[1]);
    json_whole(j, "memory_bytes_most", (long)view->memory_of_ranks[2]);
    json_end(j, "}");
}

static void json_interval(json *j, const pcs_interval *i)
{
    json_begin(j, NULL, "{");
    json_real(j, "start", i->start);
    json_real(j, "end", i->end);
    json_real(j, "duration", i->end - i->start);
    json_whole(j, "first_step", i->first_step);
    json_whole(j, "last_step", i->last_step);
    bool has_force = pcs_interval_has_force(i);
    json_real(j, "mean_force", pcs_interval_mean(i));
    json_real(j, "peak_force", has_force ? i->peak_force : NAN);
    json_real(j, "peak_force_time", has_force ? i->peak_time : NAN);
    json_real(j, "filtered_peak_force", has_force ? i->smooth_peak : NAN);
    json_real(j, "filtered_peak_force_time", has_force ? i->smooth_time : NAN);
    json_real(j, "total_impulse", i->impulse);
    json_whole(j, "impacts", i->nimpact);
    json_end(j, "}");
}

static void json_contact(json *j, const pcs_contact_record *c)
{
    json_begin(j, NULL, "{");
    json_text(j, "name", c->name);
    json_whole(j, "interval_count", c->ninterval);
    json_whole(j, "impacts", c->nimpact);
    json_real(j, "time_in_contact", c->touching_time);
    json_real(j, "first_time", c->ninterval > 0 ? c->kept[0].start : NAN);
    json_real(j, "last_time", c->ninterval > 0 ? c->last.end : NAN);
    json_real(j, "mean_force", pcs_contact_mean(c));
    json_real(j, "peak_force", c->peak_force);
    json_real(j, "peak_force_time", isfinite(c->peak_force) ? c->peak_time : NAN);
    json_real(j, "filtered_peak_force", c->smooth_peak);
    json_real(j, "filtered_peak_force_time", isfinite(c->smooth_peak) ? c->smooth_time : NAN);
    json_real(j, "total_impulse", c->impulse);
    json_real(j, "impact_loss", c->impact_loss);
    json_real(j, "friction_loss", c->friction_loss);
    json_real(j, "work", c->work);
    json_real(j, "sliding_distance", c->rubs ? c->slid : NAN);
    json_real(j, "min_gap", c->min_gap);
    json_real(j, "min_gap_time", c->min_gap_time);
    json_key(j, "is_touching_at_end");
    pcs_file_text(j->f, c->is_touching ? "true" : "false");
    // The first ones and the last; interval_count says how many there were.
    json_begin(j, "intervals", "[");
    for (long i = 0; i < c->ninterval && i < PCS_KEPT_INTERVALS; i++) json_interval(j, &c->kept[i]);
    if (c->ninterval > PCS_KEPT_INTERVALS) json_interval(j, &c->last);
    json_end(j, "]");
    json_end(j, "}");
}

static void json_contacts(json *j, const pcs_summary *s)
{
    json_real(j, "min_gap", s->min_gap);
    json_real(j, "min_gap_time", s->worst_contact == NULL ? NAN : s->min_gap_time);
    json_real(j, "open_time", s->open_time);
    json_real(j, "filter_window", s->window);
    json_begin(j, "contacts", "[");
    for (int k = 0; k < s->ncontact; k++)
        if (!s->contacts[k].is_joint) json_contact(j, &s->contacts[k]);
    json_end(j, "]");
}

// A joint of a system in closed form has no reaction in space.
static void json_plain_joint(json *j, const pcs_contact_record *c)
{
    json_begin(j, NULL, "{");
    json_text(j, "name", c->name);
    json_real(j, "largest_misfit", c->misfit);
    json_real(j, "largest_misfit_time", c->misfit_time);
    json_real(j, "work", c->work);
    json_real(j, "peak_force", c->peak_force);
    json_real(j, "peak_force_time", isfinite(c->peak_force) ? c->peak_time : NAN);
    json_end(j, "}");
}

// Joints, or supports.
static void json_reactions(json *j, const char *key, bool of_joints, const pcs_summary *s, const pcs_view *view)
{
    json_begin(j, key, "[");
    for (int k = 0; k < s->ncontact; k++)
        if (of_joints && s->contacts[k].is_joint) json_plain_joint(j, &s->contacts[k]);
    for (int r = 0; r < view->system->nreaction; r++) {
        const pcs_reaction_record *record = &s->reactions[r];
        if ((view->system->reactions[r].contact >= 0) != of_joints) continue;
        json_begin(j, NULL, "{");
        json_text(j, "name", view->system->reactions[r].name);
        if (of_joints) json_real(j, "largest_misfit", record->misfit);
        if (of_joints) json_real(j, "largest_misfit_time", record->misfit_time);
        if (of_joints) json_real(j, "work", record->work);
        json_real(j, "peak_force", record->force);
        json_real(j, "peak_force_time", record->force_time);
        json_real(j, "peak_moment", record->moment);
        json_real(j, "peak_moment_time", record->moment_time);
        json_end(j, "}");
    }
    json_end(j, "]");
}

static void json_probes(json *j, const pcs_summary *s, const pcs_view *view)
{
    json_begin(j, "probes", "[");
    for (int k = 0; k < view->nprobe; k++) {
        const pcs_probe_record *record = &s->probes[k];
        json_begin(j, NULL, "{");
        json_text(j, "name", view->probes[k].column);
        json_real(j, "start", record->start);
        json_real(j, "end", record->end);
        json_real(j, "min", record->min);
        json_real(j, "min_time", record->min_time);
        json_real(j, "max", record->max);
        json_real(j, "max_time", record->max_time);
        json_end(j, "}");
    }
    json_end(j, "]");
}

static void json_energy(json *j, const pcs_view *view)
{
    const pcs_ledger *l = view->ledger;
    json_begin(j, "energy", "{");
    json_real(j, "initial", l->initial);
    json_real(j, "final", pcs_measure_energy(&l->now));
    json_real(j, "kinetic", l->now.kinetic);
    json_real(j, "strain", l->now.strain);
    json_real(j, "potential", l->now.potential);
    json_real(j, "external_work", l->external_work);
    json_real(j, "damping_loss", l->damping_loss);
    if (view->system->has_materials) json_real(j, "material_loss", l->material_loss);
    json_real(j, "impact_loss", l->impact_loss);
    json_real(j, "friction_loss", l->friction_loss);
    json_real(j, "correction_work", l->correction_work);
    json_real(j, "numerical_loss", l->numerical_loss);
    json_text(j, "numerical_loss_is", l->numerical_is_remainder ? "remainder" : "formula");
    json_real(j, "imbalance", pcs_ledger_imbalance(l));
    json_real(j, "largest_rise", l->largest_rise);
    json_end(j, "}");
}

static void json_certificate(json *j, const pcs_certificate *certificate)
{
    json_begin(j, "certificate", "{");
    json_text(j, "verdict", pcs_certificate_verdict(certificate));
    json_text(j, "broken", certificate->broken == NULL ? NULL : certificate->broken->name);
    json_begin(j, "checks", "[");
    for (int i = 0; i < certificate->ncheck; i++) {
        const pcs_check *check = &certificate->checks[i];
        json_begin(j, NULL, "{");
        json_text(j, "name", check->name);
        json_text(j, "unit", check->unit);
        json_real(j, "worst_value", check->worst_value);
        json_real(j, "tolerance", check->tolerance);
        json_real(j, "worst_ratio", check->worst_ratio);
        json_real(j, "worst_time", check->worst_time);
        json_text(j, "verdict", pcs_check_verdict(check));
        json_end(j, "}");
    }
    json_end(j, "]");
    json_end(j, "}");
}

static void json_vector(json *j, const char *key, const double x[3])
{
    json_begin(j, key, "[");
    for (int k = 0; k < 3; k++) json_real(j, NULL, x[k]);
    json_end(j, "]");
}

// Bounds of fields, from the number `first` of the record on.
static void json_bounds(json *j, const char *key, const pcs_frames_record *record, int first, int count,
                        const char *const *names)
{
    json_begin(j, key, "{");
    for (int k = 0; k < count; k++) {
        json_begin(j, names[k], "{");
        json_real(j, "min", record->field_low[first + k]);
        json_real(j, "max", record->field_high[first + k]);
        json_real(j, "largest_time", record->field_time[first + k]);
        json_end(j, "}");
    }
    json_end(j, "}");
}

// Bounds of the components of vectors, and of their sizes.
static void json_vectors(json *j, const pcs_frames_record *record)
{
    static const char *const components[4] = { "x", "y", "z", "magnitude" };
    json_begin(j, "vectors", "{");
    for (int v = 0; v < PCS_FRAME_VECTORS; v++) {
        if (!(record->vector_low[v][3] <= record->vector_high[v][3])) continue;
        json_begin(j, pcs_frame_vectors[v], "{");
        for (int k = 0; k < 4; k++) {
            json_begin(j, components[k], "{");
            json_real(j, "min", record->vector_low[v][k]);
            json_real(j, "max", record->vector_high[v][k]);
            json_end(j, "}");
        }
        json_end(j, "}");
    }
    json_end(j, "}");
}

// What all frames have shown: the scale of pictures without a look at every frame.
static void json_frames(json *j, const pcs_view *view)
{
    const pcs_frames_record *record = pcs_frames_record_find(view);
    const pcs_picture *picture = view->system->picture;
    if (record == NULL) return;
    json_begin(j, "frames", "{");
    json_whole(j, "drawn", record->count);
    json_vector(j, "low", record->low);
    json_vector(j, "high", record->high);
    json_bounds(j, "fields", record, 0, picture->nfield, picture->field_names);
    json_bounds(j, "point_fields", record, picture->nfield, picture->npoint_field, picture->point_names);
    json_vectors(j, record);
    json_end(j, "}");
}

void pcs_summary_put_json(const pcs_summary *s, const pcs_view *view)
{
    json j = { .f = s->file, .digits = s->digits, .depth = 1, .is_first = true };
    pcs_file_text(j.f, "{");
    json_head(&j, view);
    json_effort(&j, s, view);
    json_contacts(&j, s);
    json_reactions(&j, "joints", true, s, view);
    json_reactions(&j, "supports", false, s, view);
    json_probes(&j, s, view);
    json_energy(&j, view);
    json_certificate(&j, view->certificate);
    json_frames(&j, view);
    pcs_file_text(j.f, "\n}\n");
}
