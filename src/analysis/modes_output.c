// Modes on disk: modes.csv, and one frame per mode, whose time is the number of the mode.

#include "analysis/modes.h"

#include "output/file.h"
#include "output/series.h"

#include <math.h>
#include <stdio.h>

static const double AMPLITUDE = 0.1; // largest displacement of a frame, of the model's size

static pcs_status modes_write_table(const pcs_analysis *on, const pcs_modes *modes, const char *directory)
{
    pcs_file *f;
    PCS_TRY(pcs_file_create(on->ctx, directory, sizeof "modes.csv", 1 << 16, &f));
    PCS_TRY(pcs_file_open(f, "modes.csv"));
    pcs_file_text(f, "mode,w,f,damping,residual,kind,name\n");
    for (int k = 0; k < modes->count; k++) {
        const pcs_mode *m = &modes->modes[k];
        const double columns[] = { m->w, pcs_mode_hertz(m), m->damping, m->residual };
        pcs_file_print(f, "%d,", k + 1);
        for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
            pcs_file_number(f, columns[i]);
            pcs_file_text(f, ",");
        }
        pcs_file_text(f, pcs_mode_kind_text(m->kind));
        pcs_file_column(f, m->name, -1, NULL);
        pcs_file_text(f, "\n");
    }
    return pcs_file_commit(f);
}

// Factor of a shape so that its largest displacement is seen; a shape that only turns gets that many radians.
static double modes_factor(const pcs_analysis *on, const pcs_modes *modes, const pcs_mode *m)
{
    pcs_system *system = on->system;
    pcs_picture *picture = system->picture;
    double square = 0.0, entry = 0.0, size = system->length > 0.0 ? system->length : 1.0;
    for (int i = 0; i < system->nv; i++) entry = fmax(entry, fabs(m->re[i]));
    pcs_instant at = modes->at;
    at.v = m->re;
    system->ops->draw(system, at, picture);
    for (int i = 0; i < picture->npoint; i++) {
        const double *u = picture->velocity[i];
        square = fmax(square, u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    }
    if (sqrt(square) > 1e-9 * entry * size) return AMPLITUDE * size / sqrt(square);
    return entry > 0.0 ? AMPLITUDE / entry : 0.0;
}

// The state of a frame: the mode's real part as displacement, its imaginary part as velocity.
static void modes_pose(const pcs_analysis *on, const pcs_modes *modes, int k, pcs_state *x)
{
    const pcs_system *system = on->system;
    const pcs_mode *m = &modes->modes[k];
    double factor = modes_factor(on, modes, m);
    for (int i = 0; i < system->nv; i++) x->v[i] = factor * m->re[i];
    pcs_retract(&system->rotations, modes->at.q, x->v, x->q);
    for (int i = 0; i < system->nv; i++) x->v[i] = m->im == NULL ? 0.0 : factor * m->im[i];
    x->t = k + 1;
    x->step = k;
}

static pcs_status modes_write_frames(const pcs_analysis *on, const pcs_modes *modes, const char *directory)
{
    pcs_view view = {
        .title = on->title, .system = on->system, .directory = directory, .nstep = modes->count, .kind = "modes"
    };
    pcs_state x = { 0 };
    pcs_frames_params params = { .every = 1 };
    pcs_observer frames, shown;
    char stem[1024];
    if (on->system->picture == NULL || on->system->picture->npoint == 0 || modes->count == 0) return PCS_OK;
    PCS_TAKE(on->ctx, x.q, on->system->nq, "mode shapes");
    PCS_TAKE(on->ctx, x.v, on->system->nv, "mode shapes");
    PCS_TRY(pcs_observer_create(on->ctx, "frames", &view, &params, &frames));
    PCS_TRY(pcs_observer_create(on->ctx, "view", &view, NULL, &shown));
    snprintf(stem, sizeof stem, "%s_modes", on->case_name);
    view.case_name = pcs_take_text(on->ctx, stem);
    if (view.case_name == NULL) return PCS_NO_MEMORY;
    view.state = &x;
    view.observers = &frames;
    view.nobserver = 1;
    PCS_TRY(shown.ops->open(&shown));
    pcs_status status = PCS_OK;
    view.still = &modes->at;
    for (int k = 0; k < modes->count && status == PCS_OK; k++) {
        modes_pose(on, modes, k, &x);
        status = k == 0 ? frames.ops->open(&frames) : frames.ops->step(&frames);
    }
    pcs_status closing = frames.ops->close(&frames);
    return status == PCS_OK ? closing : status;
}

static pcs_status modes_write_all(const pcs_analysis *on, const pcs_modes *modes, const char *directory)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/case.resolved.yaml", directory);
    PCS_TRY(pcs_case_write(on->input, path));
    PCS_TRY(modes_write_table(on, modes, directory));
    return modes_write_frames(on, modes, directory);
}

pcs_status pcs_modes_write(const pcs_analysis *on, const pcs_modes *modes, const char *directory)
{
    int lock = -1;
    PCS_TRY(pcs_file_make_folder(on->ctx, directory));
    PCS_TRY(pcs_file_lock_folder(on->ctx, directory, &lock));
    pcs_status status = modes_write_all(on, modes, directory);
    pcs_file_unlock_folder(lock);
    return status;
}
