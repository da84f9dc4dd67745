// What a column holds, by the last part of its name: its unit, and what to write at an axis.

#ifndef PCS_PLOT_QUANTITY_H
#define PCS_PLOT_QUANTITY_H

// "N", "m", "J", ...; "" for a pure number and for what is not known.
const char *pcs_quantity_unit(const char *column);
// "force", "gap", "energy", ...; NULL where the column's own name says most.
const char *pcs_quantity_name(const char *column);

#endif
