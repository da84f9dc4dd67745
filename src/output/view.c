// view.json, by which view.py shows the frames beside it in ParaView:
//
//   { "kind": "run", "frames": "bar_impact", "sections": [[0, 10, 0.02, 0.01]] }
//
// A section is the first cell of a row of cells, their number, and height and width of their rectangular sections, m.
// view.py itself is a file of the Python package; it is copied from where Percuss was built or installed.

#define _POSIX_C_SOURCE 200809L // access

#include "core/open.h"
#include "core/text.h"
#include "output/file.h"
#include "output/frames.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAME_ROOM = 32, BUFFER = 8192, PATH_ROOM = 4096, SCRIPT_BYTES = 1 << 20 };

// Puts sections of `count` cells of which `size` has height and width.
static void view_put_sections(pcs_file *f, int count, const double *size)
{
    bool is_first = true;
    for (int c = 0, end; c < count; c = end) {
        const double *x = size + 2 * c;
        for (end = c + 1; end < count && x[0] == size[2 * end] && x[1] == size[2 * end + 1];) end++;
        if (x[0] == 0.0) continue;
        pcs_file_print(f, "%s[%d, %d, ", is_first ? "" : ", ", c, end - c);
        pcs_file_number(f, x[0]);
        pcs_file_text(f, ", ");
        pcs_file_number(f, x[1]);
        pcs_file_text(f, "]");
        is_first = false;
    }
}

static pcs_status view_open(pcs_observer *self)
{
    const pcs_view *view = self->view;
    const pcs_picture *picture = view->system->picture;
    char path[PATH_ROOM], *text;
    size_t size;
    pcs_file *f;
    if (picture == NULL || picture->nall_node == 0) return PCS_OK;
    PCS_TRY(pcs_file_create(self->ctx, view->directory, NAME_ROOM, BUFFER, &f));
    PCS_TRY(pcs_file_open(f, "view.json"));
    pcs_file_print(f, "{ \"kind\": \"%s\", \"frames\": ", view->kind == NULL ? "run" : view->kind);
    pcs_file_json(f, pcs_frames_stem(view->case_name));
    pcs_file_text(f, ", \"sections\": [");
    if (picture->section_size != NULL) view_put_sections(f, picture->ncell, picture->section_size[0]);
    pcs_file_text(f, "] }\n");
    PCS_TRY(pcs_file_commit(f));
    // The script is beside the program in its build folder, or below the folder where it was installed; programs that
    // link the library have none.
    bool is_found = pcs_open_near_program("python/percuss/view.py", 0, sizeof path, path) && access(path, R_OK) == 0;
    is_found = is_found ||
               (pcs_open_near_program("../share/percuss/view.py", 0, sizeof path, path) && access(path, R_OK) == 0);
    if (!is_found) return PCS_OK;
    PCS_TRY(pcs_text_file(self->ctx, path, "the script for ParaView", SCRIPT_BYTES, &text, &size));
    pcs_status status = pcs_file_write(self->ctx, view->directory, "view.py", text);
    pcs_scratch_free(text);
    return status;
}

static pcs_status view_step(pcs_observer *self)
{
    return PCS_OK;
}

const pcs_observer_ops pcs_observer_view = {
    .name = "view",
    .summary =
        "view.json and view.py, which show the results in ParaView: bodies coloured by stress, contact forces as "
        "arrows",
    .is_default = true,
    .open = view_open,
    .step = view_step,
    .close = view_step,
};
