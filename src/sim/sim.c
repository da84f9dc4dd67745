// The time loop: step, ledger, certificate, observers.

#include "sim/sim.h"

#include "core/clock.h"
#include "core/comm.h"
#include "output/file.h"
#include "sim/accept.h"
#include "sim/certify.h"
#include "sim/checkpoint.h"
#include "sim/control.h"
#include "sim/retry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Reactions of joints and supports after every accepted step, for the observers.

// Allocates the reactions, if the system has any.
static pcs_status sim_prepare_reactions(pcs_sim *sim)
{
    if (sim->system->nreaction == 0) return PCS_OK;
    PCS_TAKE(sim->ctx, sim->reactions, sim->system->nreaction, "reactions");
    sim->view.reactions = sim->reactions;
    if (sim->scheme->rule.rows_at == PCS_ROWS_WITHIN) PCS_TAKE(sim->ctx, sim->middle, sim->system->nq, "reactions");
    return PCS_OK;
}

// Evaluates the reactions of the last report.
static void sim_react(pcs_sim *sim)
{
    pcs_system *system = sim->system;
    if (sim->reactions == NULL) return;
    const double *v = pcs_scheme_velocity(sim->scheme, &sim->state);
    if (sim->middle != NULL) {
        for (int i = 0; i < system->nv; i++) sim->middle[i] = -0.5 * sim->report.h * v[i];
        pcs_retract(&system->rotations, sim->state.q, sim->middle, sim->middle);
    }
    system->ops->reactions(system, pcs_at(sim->state.t, sim->state.q, v), sim->report.h,
                           sim->middle == NULL ? sim->state.q : sim->middle, sim->report.rows, sim->reactions);
}

pcs_status pcs_sim_start(pcs_sim *sim)
{
    pcs_measure before;
    const double *v = sim->state.v;
    PCS_TRY(pcs_checkpoint_end_velocity(sim, &v));
    sim->system->ops->measure(sim->system, pcs_at(sim->state.t, sim->state.q, v), PCS_ENERGY, &before);
    if (!isfinite(pcs_measure_energy(&before)))
        return pcs_fail(sim->ctx, PCS_BAD_INPUT, "the energy of the initial state is not finite");
    PCS_TRY(sim_prepare_reactions(sim));
    pcs_case *input = sim->has_own_system ? NULL : sim->input;
    PCS_TRY(pcs_certifier_create(sim->ctx, sim->scheme, input, sim->control != NULL, &sim->certifier));
    pcs_certifier_start(sim->certifier, &before);
    sim->view.certificate = pcs_certifier_certificate(sim->certifier);
    sim->ledger = (pcs_ledger){ .initial = pcs_measure_energy(&before),
                                .numerical_is_remainder =
                                    !(pcs_rule_has_closed_loss(&sim->scheme->rule) && sim->system->is_linear) };
    PCS_TRY(pcs_scheme_start(sim->scheme, &sim->state, &sim->report));
    if (sim->report.outcome != PCS_CONVERGED) return pcs_accept_reject(sim, sim->step_size);
    PCS_TRY(pcs_checkpoint_start_state(sim, &before));
    sim->view.step_backend = sim->solver->iteration_backend;
    sim->view.effective_mass = sim->solver->effective_mass;
    sim->view.iterations = sim->report.iterations;
    sim->view.factorizations = sim->solver->nfactor;
    sim->view.memory = pcs_bytes_taken(sim->ctx);
    sim->has_started = true;
    sim_react(sim);
    sim->ledger.now = before;
    pcs_accept_book(sim);
    return pcs_accept_certifies(sim, pcs_measure_energy(&before)) ? PCS_OK : pcs_accept_reject(sim, 0.0);
}

static pcs_status sim_plain_step(pcs_sim *sim, double h)
{
    double before = pcs_measure_energy(&sim->ledger.now);
    PCS_TRY(pcs_accept_try(sim, h));
    if (sim->report.outcome != PCS_CONVERGED) return pcs_accept_reject(sim, h);
    return pcs_accept_certifies(sim, before) ? PCS_OK : pcs_accept_reject(sim, h);
}

// Makes a step of fixed size. Times are multiples of the step, not sums; only the last step may be shorter.
static pcs_status sim_fixed_step(pcs_sim *sim)
{
    long step = sim->state.step + 1;
    double t_end = step < sim->nstep ? sim->start_time + (double)step * sim->step_size : sim->end_time;
    double h = sim->step_size;
    if (step == sim->nstep && fabs(t_end - sim->state.t - h) > 1e-6 * h) h = t_end - sim->state.t;
    PCS_TRY(sim->retry != NULL ? pcs_retry_step(sim, h) : sim_plain_step(sim, h));
    sim->state.t = t_end;
    return PCS_OK;
}

// Adds the time of a step. Reading the clock takes a tenth of the step of a small model, so only one of many short
// steps is timed and stands for all. A long one, or a pause of the machine, counts once.
static void sim_note_time(pcs_sim *sim, double begin)
{
    enum { SAMPLE = 16 };      // a power of two
    const double brief = 4e-6; // s
    double end = pcs_clock(), weight = end - begin < 4.0 * brief ? sim->sample : 1;
    sim->timing.step += weight * (sim->certify_begin - begin);
    sim->timing.certify += weight * (end - sim->certify_begin);
    sim->sample = end - begin < brief ? SAMPLE : 1;
}

pcs_status pcs_sim_step(pcs_sim *sim)
{
    sim->is_timed = sim->sample < 2 || (sim->state.step & (sim->sample - 1)) == 0;
    double begin = sim->is_timed ? pcs_clock() : 0.0;
    PCS_TRY(pcs_sim_search(sim));
    sim->number = sim->state.step + 1;
    PCS_TRY(sim->control != NULL ? pcs_control_step(sim) : sim_fixed_step(sim));
    if (pcs_noted(sim->ctx)[0] != '\0') return pcs_accept_stop(sim, sim->step_size, pcs_noted(sim->ctx));
    sim->view.factorizations = sim->solver->nfactor;
    sim->view.handovers = sim->solver->handovers;
    sim->view.step_backend = sim->solver->iteration_backend;
    pcs_accept_book(sim);
    sim_react(sim);
    if (sim->is_timed) sim_note_time(sim, begin);
    return PCS_OK;
}

static void sim_choose_observers(pcs_sim *sim, bool show_progress)
{
    for (int i = 0; i < sim->nobserver; i++)
        sim->observers[i].is_idle = !show_progress && strcmp(sim->observers[i].ops->name, "progress") == 0;
}

// Calls open or step of the observers. In one process the first fault ends it. Of several processes only one writes and
// may fail, but all take part.
static pcs_status sim_show(pcs_sim *sim, bool is_first, int *nopen)
{
    bool is_alone = !pcs_is_parallel(sim->ctx);
    pcs_status status = PCS_OK;
    for (int i = 0; i < sim->nobserver && (status == PCS_OK || !is_alone); i++) {
        pcs_observer *o = &sim->observers[i];
        if (is_first) *nopen = i + 1;
        if (o->is_idle) continue;
        pcs_status answer = is_first ? o->ops->open(o) : o->ops->step(o);
        o->has_failed = answer != PCS_OK;
        if (status == PCS_OK) status = answer;
    }
    return status;
}

// Returns a hash of gaps, rates and impulses of the contacts in the last step; if processes have contacts of their
// own, of the energies.
static long long sim_mark(const pcs_sim *sim)
{
    unsigned long long mark = PCS_HASH_START;
    if (pcs_rows_are_spread(sim->system))
        return (long long)(pcs_hash(mark, &sim->ledger, PCS_LEDGER_WORDS * sizeof(double)) >> 2);
    for (int j = 0; j < pcs_system_npoint(sim->system); j++) {
        const pcs_row_report *row = &sim->report.rows[j];
        double facts[] = { row->gap, row->rate, row->step_impulse };
        mark = pcs_hash(mark, facts, sizeof facts);
    }
    return (long long)(mark >> 2);
}

// Makes the status agree in all processes.
static pcs_status sim_agree(pcs_sim *sim, pcs_status status)
{
    return pcs_agree_on(sim->ctx, status, status == PCS_OK && pcs_is_parallel(sim->ctx) ? sim_mark(sim) : 0);
}

static void sim_compare_memory(pcs_sim *sim)
{
    double taken = (double)pcs_bytes_taken(sim->ctx), ends[2] = { -taken, taken };
    if (!pcs_is_parallel(sim->ctx) || sim->view.is_resumed) return;
    pcs_process_max(sim->ctx, 2, ends);
    sim->view.memory_of_ranks[0] = (size_t)pcs_process_count(sim->ctx);
    for (int i = 0; i < 2; i++) sim->view.memory_of_ranks[1 + i] = (size_t)fabs(ends[i]);
}

static pcs_status sim_open(pcs_sim *sim, int *nopen)
{
    pcs_status status = sim_show(sim, true, nopen);
    if (status == PCS_OK) status = pcs_checkpoint_open(sim);
    if (!sim->view.is_resumed) sim->view.memory = pcs_bytes_taken(sim->ctx);
    PCS_TRY(sim_agree(sim, status));
    sim_compare_memory(sim);
    return PCS_OK;
}

// Fails if an option of PETSc was not used, once every matrix of the run has been created.
static pcs_status sim_check_options(pcs_sim *sim)
{
    char text[512];
    pcs_unused_options(sim->ctx, sizeof text, text);
    if (text[0] == '\0') return PCS_OK;
    return pcs_fail(sim->ctx, PCS_BAD_INPUT, "nothing in this run takes the options of PETSc %s", text);
}

static pcs_status sim_stop(pcs_sim *sim)
{
    sim->is_stopped = true;
    return pcs_accept_stop(sim, sim->step_size, "stopped on request");
}

static pcs_status sim_loop(pcs_sim *sim)
{
    if (sim->horizon != NULL) sim->keep_sample(sim);
    for (bool is_first = true; !pcs_sim_is_done(sim); is_first = false) {
        pcs_status status = pcs_sim_step(sim);
        double begin = pcs_clock();
        if (status == PCS_OK && sim->horizon != NULL) sim->keep_sample(sim);
        if (status == PCS_OK) status = sim_show(sim, false, NULL);
        double now = pcs_clock();
        sim->timing.output += now - begin;
        if (status == PCS_OK && sim->stop_request != NULL && *sim->stop_request != 0) status = sim_stop(sim);
        if (status == PCS_OK && is_first) status = sim_check_options(sim);
        if (status == PCS_OK && pcs_sim_is_done(sim)) status = pcs_sim_search(sim);
        PCS_TRY(sim_agree(sim, status));
        PCS_TRY(pcs_checkpoint_step(sim, now));
    }
    if (sim->horizon != NULL) sim->find_horizon(sim);
    return PCS_OK;
}

// Tells all processes whose files are broken after a fault, so that they end alike.
static void sim_share_faults(pcs_sim *sim, pcs_status status)
{
    if (status == PCS_OK) return;
    for (int i = 0; i < sim->nobserver; i++) {
        double has_failed = sim->observers[i].has_failed;
        pcs_process_max(sim->ctx, 1, &has_failed);
        sim->observers[i].has_failed = has_failed > 0.0;
    }
}

// Writes the last checkpoint of a run that is complete or was asked to stop. A run that has failed cannot be resumed.
static pcs_status sim_keep(pcs_sim *sim, pcs_status status)
{
    double is_stopped = sim->is_stopped;
    char reason[1024];
    sim_share_faults(sim, status);
    if (status != PCS_OK) pcs_process_max(sim->ctx, 1, &is_stopped);
    for (int i = 0; i < sim->nobserver; i++)
        if (sim->observers[i].has_failed) is_stopped = 0.0;
    if (status != PCS_OK && !(is_stopped > 0.0)) return status;
    if (status == PCS_OK && sim->ends_for_good) return PCS_OK;
    snprintf(reason, sizeof reason, "%s", pcs_message(sim->ctx));
    pcs_status written = pcs_checkpoint_write(sim);
    sim_share_faults(sim, written);
    if (written != PCS_OK) return written;
    return status == PCS_OK ? PCS_OK : pcs_fail(sim->ctx, status, "%s", reason);
}

// Closes everything that was opened in any case. Reports the first failure.
static pcs_status sim_close(pcs_sim *sim, int nopen, pcs_status status)
{
    char reason[1024];
    snprintf(reason, sizeof reason, "%s", status == PCS_OK ? "" : pcs_message(sim->ctx));
    sim->view.ending = status == PCS_OK ? PCS_FINISHED : PCS_STOPPED;
    sim->view.reason = status == PCS_OK ? NULL : reason;
    double begin = pcs_clock();
    for (int i = 0; i < nopen; i++) {
        pcs_observer *o = &sim->observers[i];
        // The process that has broken files closes them. The others have nothing to add.
        if (o->is_idle || (o->has_failed && !pcs_is_root(sim->ctx))) continue;
        pcs_status closing = o->ops->close(o);
        if (closing == PCS_OK) continue;
        if (status == PCS_OK) snprintf(reason, sizeof reason, "%s", pcs_message(sim->ctx));
        if (status == PCS_OK) status = closing;
    }
    sim->timing.output += pcs_clock() - begin;
    sim->view.reason = NULL;
    if (status != PCS_OK) pcs_fail(sim->ctx, status, "%s", reason);
    return pcs_agree(sim->ctx, status);
}

// Creates and locks the folder, so that no other process writes there until this one ends or unlocks it.
static pcs_status sim_take_directory(pcs_sim *sim, const char *directory, int *lock)
{
    if (sim->has_case_file || !pcs_is_root(sim->ctx)) return PCS_OK;
    PCS_TRY(pcs_file_make_folder(sim->ctx, directory));
    return pcs_file_lock_folder(sim->ctx, directory, lock);
}

// Fails if the folder holds an interrupted run, unless asked to overwrite or resume it. Ignores unreadable checkpoints.
static pcs_status sim_spare_other(pcs_sim *sim, const char *directory)
{
    pcs_checkpoint_data data = { .bytes = NULL };
    bool is_there = false;
    char note[512];
    double t = 0.0;
    if (sim->overwrites || sim->resumes) return PCS_OK;
    pcs_status status = pcs_checkpoint_find(sim->ctx, directory, false, &data, &is_there, note);
    if (status == PCS_NO_MEMORY) return status;
    bool is_spared = status == PCS_OK && is_there && data.head->is_done == 0;
    if (is_spared) status = pcs_checkpoint_time(sim->ctx, &data, &t);
    pcs_checkpoint_free(&data);
    if (is_spared && status == PCS_OK)
        return pcs_fail(sim->ctx, PCS_BAD_INPUT,
                        "%s holds a run that was interrupted at t = %.9g s: go on with it by --resume, or start again "
                        "by --overwrite",
                        directory, t);
    return pcs_fail(sim->ctx, PCS_OK, "%s", "");
}

static pcs_status sim_prepare_directory(pcs_sim *sim, const char *directory)
{
    char path[4200];
    PCS_TRY(sim_spare_other(sim, directory));
    if (sim->has_case_file) return PCS_OK;
    snprintf(path, sizeof path, "%s/case.resolved.yaml", directory);
    return pcs_case_write(sim->input, path);
}

static void sim_note(const pcs_sim *sim, const char *text)
{
    char line[600];
    snprintf(line, sizeof line, "note: %s\n", text);
    if (sim->view.show != NULL && text[0] != '\0') sim->view.show(sim->view.show_user, line);
}

// Finds the checkpoint from which this run continues, if it is to resume and there is one.
static pcs_status sim_find_checkpoint(pcs_sim *sim, const char *directory, pcs_checkpoint_data *data, bool *is_there)
{
    char note[512];
    PCS_TRY(pcs_checkpoint_find(sim->ctx, directory, false, data, is_there, note));
    bool is_damaged = note[0] != '\0';
    if (!*is_there)
        snprintf(note, sizeof note, "there is no checkpoint in %.400s: starting from the beginning", directory);
    sim_note(sim, note);
    if (!*is_there) return PCS_OK;
    PCS_TRY(pcs_checkpoint_demand_same(sim, data));
    // Keeps the complete one: the new checkpoint must not replace it.
    if (is_damaged && pcs_is_root(sim->ctx)) pcs_checkpoint_remove(directory, true);
    return PCS_OK;
}

static pcs_status sim_go(pcs_sim *sim, bool show_progress, const pcs_checkpoint_data *from)
{
    pcs_carrier c;
    int nopen = 0;
    sim_choose_observers(sim, show_progress);
    if (!sim->has_started) PCS_TRY(pcs_agree(sim->ctx, pcs_sim_start(sim)));
    if (from != NULL) PCS_TRY(pcs_agree(sim->ctx, pcs_checkpoint_restore(sim, from, &c)));
    pcs_status status = sim_open(sim, &nopen);
    // Returns at once if files do not match the checkpoint, since closing them would complete, and so change, them.
    if (from != NULL && status == PCS_OK) PCS_TRY(pcs_agree(sim->ctx, pcs_checkpoint_restore_observers(sim, &c)));
    sim->has_files = status == PCS_OK;
    if (status == PCS_OK) status = sim_loop(sim);
    return sim_close(sim, nopen, sim_keep(sim, status));
}

static pcs_status sim_run(pcs_sim *sim, const char *directory, bool show_progress)
{
    pcs_checkpoint_data data = { .bytes = NULL };
    bool is_there = false;
    sim->view.directory = directory;
    pcs_status status = sim->resumes ? sim_find_checkpoint(sim, directory, &data, &is_there) : PCS_OK;
    if (status == PCS_OK && !is_there && pcs_is_root(sim->ctx)) status = sim_prepare_directory(sim, directory);
    status = pcs_agree(sim->ctx, status);
    if (status == PCS_OK) status = sim_go(sim, show_progress, is_there ? &data : NULL);
    // Removes checkpoints of another run: the first one of this run replaces them, and without one they go at the end.
    if (status == PCS_OK && sim->view.ncheckpoint == 0 && pcs_is_root(sim->ctx))
        pcs_checkpoint_remove(directory, false);
    pcs_checkpoint_free(&data);
    return status;
}

// Fails unless all processes have the same case, files, program and folder.
static pcs_status sim_compare_ranks(pcs_sim *sim, const char *directory)
{
    pcs_checkpoint_case about = { .hash = 0 };
    if (!pcs_is_parallel(sim->ctx)) return PCS_OK;
    pcs_status status = pcs_checkpoint_hash(sim, false, &about);
    unsigned long long hash = about.hash;
    char here[PCS_PATH_BYTES] = "";
    if (directory[0] != '/' && getcwd(here, sizeof here) != NULL) hash = pcs_hash(hash, here, strlen(here));
    hash = pcs_hash(hash, directory, strlen(directory));
    return pcs_demand_same(sim->ctx, status, hash, "files of the case, program or folder of results");
}

pcs_status pcs_sim_run(pcs_sim *sim, const char *directory, bool show_progress)
{
    int lock = -1;
    PCS_TRY(sim_compare_ranks(sim, directory));
    pcs_status status = pcs_agree(sim->ctx, sim_take_directory(sim, directory, &lock));
    if (status == PCS_OK) status = sim_run(sim, directory, show_progress);
    pcs_file_unlock_folder(lock);
    return status;
}
