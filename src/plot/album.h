// Pictures of quantities over a common axis, for one run or several. Private to this folder.
//
// One run: quantities of the same kind share a panel. Several runs: every quantity has a panel of its own, in which the
// runs are told apart by colour.

#ifndef PCS_PLOT_ALBUM_H
#define PCS_PLOT_ALBUM_H

#include "plot/gnuplot.h"
#include "plot/runs.h"

enum { PCS_ITEM_TERMS = 8 };

// A quantity: a column, or a sum of columns.
typedef struct pcs_item {
    const char *label;
    const char *quantity, *unit; // of the axis; quantity NULL: the label
    int nterm;
    const char *terms[PCS_ITEM_TERMS]; // [nterm] columns
    bool is_negative;                  // minus the sum
    bool is_change;                    // since the first row
    bool is_black, is_dashed;
    int group; // items with the same number share a panel
    pcs_curve_style style;
} pcs_item;

typedef struct pcs_album {
    pcs_context *ctx;
    int nrun;
    const pcs_plot_run *runs; // [nrun]
    const char *axis;         // column of the horizontal axis
    const pcs_csv *exact;     // NULL: none
    int npicture, room;
    pcs_chart *pictures; // [npicture]
    char note[1024];     // what was left out, a line each
} pcs_album;

// A column as an item, in the group of the first of `nitem` items with the same kind, or in a new one.
pcs_item pcs_album_column(const char *column, int nitem, const pcs_item *items);
// A picture of the items over the column `axis`; none where no run has any.
pcs_status pcs_album_add(pcs_album *album, const char *name, const char *axis, int nitem, const pcs_item *items);
// The number of runs that have the column, and its largest absolute value among them.
int pcs_album_holders(const pcs_album *album, const char *column, double *size);
// "name [unit]".
const char *pcs_album_label(pcs_context *ctx, const char *name, const char *unit);
// Adds a line to the note.
void pcs_album_tell(pcs_album *album, const char *format, ...) __attribute__((format(printf, 2, 3)));
// A picture to be filled; NULL without memory.
pcs_chart *pcs_album_new(pcs_album *album, const char *name);

// Of runs: energies, momentum, contacts, probes, phases, steps.
pcs_status pcs_pictures_of_runs(pcs_album *album);
// The item becomes the sum of kinetic, strain and potential energy.
void pcs_pictures_add_energies(pcs_item *item);
// Of the only run, which is the table of a study: the measures that are named, or a picture of each, over the first key
// that varies, with a line for each combination of the others.
bool pcs_pictures_is_study(const pcs_csv *csv);
pcs_status pcs_pictures_of_study(pcs_album *album, const char *name, int nmeasure, const char *const *measures);

typedef struct pcs_waves pcs_waves;
// x-t diagrams, a field of a body over place and time with the contact force beside it: one for every field of every
// *.waves.csv in the folders of the runs.
pcs_status pcs_waves_add(pcs_album *album);
// Writes <folder>/<name>.gp.
pcs_status pcs_waves_write(pcs_context *ctx, const pcs_canvas *canvas, const char *name, const pcs_waves *waves);

#endif
