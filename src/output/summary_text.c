// The summary for people: the same as the JSON, one screen long.

#include "output/summary.h"

#include <math.h>
#include <string.h>

enum { SHOWN_CONTACTS = 6, SHOWN_REACTIONS = 12, SHOWN_INTERVALS = 4, LONGEST_CHECK = 56 };

static void summary_text_head(pcs_file *f, const pcs_summary *s, const pcs_view *view)
{
    const pcs_picture *picture = view->system->picture;
    long done = view->state->step;
    if (view->title != NULL) pcs_file_print(f, "%s\n", view->title);
    pcs_file_print(f, "%s %s at t = %.10g s after ", view->case_name, pcs_ending_text(view->ending), view->state->t);
    if (view->is_controlled) pcs_file_print(f, "%ld steps of controlled size\n", done);
    else pcs_file_print(f, "%ld of %ld steps of %.6g s\n", done, view->nstep, view->step_size);
    if (view->reason != NULL) {
        pcs_file_text(f, "reason: ");
        pcs_file_text(f, view->reason);
        pcs_file_text(f, "\n");
    }
    int ncontact = pcs_count_points(view->system), njoint = pcs_count_conditions(view->system);
    if (view->question != NULL) pcs_file_print(f, "question: %s\n", view->question);
    pcs_file_print(f, "\nModel        %d points, %d cells, %d dofs, %d contact point%s",
                   picture == NULL ? 0 : picture->nall_node, picture == NULL ? 0 : picture->nall_cell,
                   pcs_system_ndof(view->system), ncontact, ncontact == 1 ? "" : "s");
    if (njoint > 0) pcs_file_print(f, ", %d condition%s of joints", njoint, njoint == 1 ? "" : "s");
    pcs_file_text(f, "\n");
    pcs_file_print(f, "Method       %s, solver %s, linear algebra %s (mass), %s (step)\n", view->scheme_name,
                   view->solver_name, view->mass_backend != NULL ? view->mass_backend : "none",
                   view->step_backend != NULL ? view->step_backend : "none");
    pcs_file_print(f, "Effort       %.3g iterations a step, at most %d; %ld factorization%s\n",
                   done > 0 ? (double)view->iterations / (double)done : 0.0, s->max_iterations, view->factorizations,
                   view->factorizations == 1 ? "" : "s");
    if (view->cut_steps > 0) {
        pcs_file_print(
            f, "Cut steps    %ld covered by smaller ones, from t = %.6g to %.6g s; the finest h/%ld at %.6g s\n",
            view->cut_steps, view->first_cut, view->last_cut, 1L << view->finest_cut, view->finest_cut_time);
    }
    if (!view->is_controlled && 2 * view->cut_steps > done)
        pcs_file_print(
            f, "             Most steps: they are too long for this motion. Steps of %.3g s usually take less work\n",
            ldexp(view->step_size, -view->finest_cut));
    if (view->handovers > 0)
        pcs_file_print(f, "Hand-overs   %ld steps that %s could not settle went to another solver\n", view->handovers,
                       view->solver_name);
    if (view->is_controlled) {
        pcs_file_print(f, "Step control %ld scheme steps tried, %ld steps rejected, %.3g s a step in the mean",
                       view->attempts, view->rejections, done > 0 ? view->state->t / (double)done : 0.0);
        if (view->inexact > 0) pcs_file_print(f, "; %ld above the tolerance at the smallest step", view->inexact);
        pcs_file_text(f, "\n");
    }
}

static void summary_text_interval(pcs_file *f, const pcs_interval *i)
{
    // An impulse that begins and ends within a step has no force.
    bool has_force = pcs_interval_has_force(i);
    const double forces[] = { pcs_interval_mean(i), has_force ? i->peak_force : NAN, has_force ? i->smooth_peak : NAN };
    pcs_file_print(f, "  %12.7g %12.7g %12.7g", i->start, i->end, i->end - i->start);
    for (int k = 0; k < 3; k++) {
        if (isfinite(forces[k])) pcs_file_print(f, " %11.6g", forces[k]);
        else pcs_file_print(f, " %11s", "-");
    }
    pcs_file_print(f, " %11.6g %8ld\n", i->impulse, i->nimpact);
}

static void summary_text_contact(pcs_file *f, const pcs_contact_record *c)
{
    if (c->is_joint) {
        pcs_file_print(f, "\nJoint %s: largest misfit %.3g at t = %.6g s, largest force %.6g N at t = %.6g s\n",
                       c->name, c->misfit, c->misfit_time, isfinite(c->peak_force) ? c->peak_force : 0.0, c->peak_time);
        return;
    }
    pcs_file_print(f, "\nContact %s: ", c->name);
    if (c->ninterval == 0) {
        pcs_file_print(f, "never closed, smallest gap %.6g m at t = %.6g s\n", c->min_gap, c->min_gap_time);
        return;
    }
    if (c->ninterval == 1) pcs_file_text(f, "closed once");
    else pcs_file_print(f, "closed %ld times, %.7g s in all", c->ninterval, c->touching_time);
    pcs_file_print(f, "; smallest gap %.3g m at t = %.6g s\n", c->min_gap, c->min_gap_time);
    if (c->rubs) pcs_file_print(f, "  slid %.6g m, friction took %.6g J\n", c->slid, c->friction_loss);
    pcs_file_text(
        f, "     start [s]      end [s]    lasts [s]    mean [N]    peak [N] filtered[N] impulse[Ns]  impacts\n");
    long first = c->ninterval <= SHOWN_INTERVALS ? c->ninterval : SHOWN_INTERVALS - 1;
    for (long i = 0; i < first; i++) summary_text_interval(f, &c->kept[i]);
    if (first == c->ninterval) return;
    long hidden = c->ninterval - first - 1;
    pcs_file_print(f, "  ... %ld more, in all %.6g N s and %ld impact%s; the last:\n", hidden, c->impulse, c->nimpact,
                   c->nimpact == 1 ? "" : "s");
    summary_text_interval(f, &c->last);
}

static void summary_text_reactions(pcs_file *f, const pcs_summary *s, const pcs_system *system)
{
    if (system->nreaction == 0) return;
    pcs_file_print(f, "\n%-20s %12s %10s %12s %10s %12s %10s\n", "Reactions", "force [N]", "at t [s]", "moment [N m]",
                   "at t [s]", "misfit", "at t [s]");
    for (int r = 0; r < system->nreaction && r < SHOWN_REACTIONS; r++) {
        const pcs_reaction_record *x = &s->reactions[r];
        pcs_file_print(f, "  %-18s %12.6g %10.5g %12.6g %10.5g", system->reactions[r].name, x->force, x->force_time,
                       x->moment, x->moment_time);
        if (system->reactions[r].contact >= 0) pcs_file_print(f, " %12.3g %10.5g", x->misfit, x->misfit_time);
        pcs_file_text(f, "\n");
    }
    if (system->nreaction > SHOWN_REACTIONS)
        pcs_file_print(f, "  ... and %d more in summary.json\n", system->nreaction - SHOWN_REACTIONS);
}

static void summary_text_energy(pcs_file *f, const pcs_ledger *l)
{
    const struct {
        const char *name;
        double change;
    } lines[] = {
        { "external work", l->external_work }, { "damping", -l->damping_loss },
        { "materials", -l->material_loss },    { "impacts", -l->impact_loss },
        { "friction", -l->friction_loss },     { "numerical loss", l->correction_work - l->numerical_loss },
    };
    double end = pcs_measure_energy(&l->now);
    pcs_file_print(f, "\nEnergy [J]\n  %-20s %16.9g\n", "at the start", l->initial);
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
        bool is_numerical = k + 1 == sizeof lines / sizeof lines[0];
        if (lines[k].change == 0.0 && !is_numerical) continue;
        pcs_file_print(f, "  %-20s %+16.9g", lines[k].name, lines[k].change + 0.0);
        if (is_numerical) pcs_file_text(f, l->numerical_is_remainder ? "   the remainder" : "   by formula");
        pcs_file_text(f, "\n");
    }
    pcs_file_print(f, "  %-20s %16.9g   kinetic %.6g, strain %.6g, potential %.6g\n", "at the end", end, l->now.kinetic,
                   l->now.strain, l->now.potential);
    if (!l->numerical_is_remainder) {
        pcs_file_print(f, "  %-20s %+16.3g\n", "not accounted for", pcs_ledger_imbalance(l));
    }
    pcs_file_print(f, "  %-20s %16.3g   in one step, beyond the external work\n", "largest rise", l->largest_rise);
}

// "held" goes without saying.
static const char *summary_text_verdict(const pcs_check *check)
{
    const char *verdict = pcs_check_verdict(check);
    return strcmp(verdict, "held") == 0 ? "" : verdict;
}

static void summary_text_certificate(pcs_file *f, const pcs_certificate *certificate)
{
    int width = 0;
    for (int i = 0; i < certificate->ncheck; i++) {
        int length = (int)strlen(certificate->checks[i].name);
        if (length > width) width = length < LONGEST_CHECK ? length : LONGEST_CHECK;
    }
    if (certificate->broken != NULL)
        pcs_file_print(f, "\nCertificate: BROKEN, first '%s'\n", certificate->broken->name);
    else pcs_file_text(f, "\nCertificate: every check held");
    for (int i = 0; i < certificate->ncheck && certificate->broken == NULL; i++)
        if (strcmp(pcs_check_verdict(&certificate->checks[i]), "marked") == 0)
            pcs_file_print(f, "; MARKED: %s", certificate->checks[i].name);
    if (certificate->broken == NULL) pcs_file_text(f, "\n");
    pcs_file_print(f, "  %-*s %9s %9s %-6s %8s %10s\n", width, "", "worst", "allowed", "", "ratio", "at t [s]");
    for (int i = 0; i < certificate->ncheck; i++) {
        const pcs_check *check = &certificate->checks[i];
        pcs_file_print(f, "  %-*.*s %9.3g %9.3g %-6s %8.2g %10.5g", width, LONGEST_CHECK, check->name,
                       check->worst_value, check->tolerance, check->unit != NULL ? check->unit : "", check->worst_ratio,
                       check->worst_time);
        pcs_file_print(f, "%s%s\n", *summary_text_verdict(check) != '\0' ? "  " : "", summary_text_verdict(check));
    }
}

static void summary_text_cost(pcs_file *f, const pcs_view *view)
{
    const pcs_timing *w = view->timing;
    double total = w->setup + w->step + w->certify + w->output + w->checkpoint;
    pcs_file_print(f, "\nWall time    %.3g s: set-up %.3g, steps %.3g, certificate %.3g, output %.3g", total, w->setup,
                   w->step, w->certify, w->output);
    if (w->step > 0.0) pcs_file_print(f, " (%.3g steps/s)", (double)view->state->step / w->step);
    if (view->ncheckpoint > 0)
        pcs_file_print(f, "\nCheckpoints  %ld, %.2g %% of the time", view->ncheckpoint,
                       total > 0.0 ? 100.0 * w->checkpoint / total : 0.0);
    pcs_file_print(f, "\nMemory       %.3g MB\n", 1e-6 * (double)view->memory);
}

void pcs_summary_put_text(const pcs_summary *s, const pcs_view *view)
{
    summary_text_head(s->file, s, view);
    for (int k = 0; k < s->ncontact && k < SHOWN_CONTACTS; k++) summary_text_contact(s->file, &s->contacts[k]);
    if (s->ncontact > SHOWN_CONTACTS) {
        pcs_file_print(s->file, "\n... and %d more contacts in summary.json; smallest gap %.6g m, at %s\n",
                       s->ncontact - SHOWN_CONTACTS, s->min_gap, s->worst_contact);
    }
    if (pcs_count_points(view->system) > 0)
        pcs_file_print(s->file,
                       "\nA contact ends when it stays open for more than %.4g s; filtered: largest mean over %.4g s\n",
                       s->open_time, s->window);
    summary_text_reactions(s->file, s, view->system);
    summary_text_energy(s->file, view->ledger);
    summary_text_certificate(s->file, view->certificate);
    summary_text_cost(s->file, view);
}
