// Parts of a page that reports of runs and of studies share, and those two; private to this folder.

#ifndef PCS_REPORT_PARTS_H
#define PCS_REPORT_PARTS_H

#include "plot/csv.h"
#include "report/html.h"

// A case as a listing with coloured keys, from a file of the results.
pcs_status pcs_report_listing(const pcs_page *page, const char *name);
// Pictures and movies that lie in the folder, as parts of the page; nothing where there are none.
pcs_status pcs_report_pictures(const pcs_page *page);
// Charts of history.csv: energies and the ledger; contacts; everything else.
pcs_status pcs_report_energies(const pcs_page *page, const pcs_csv *history);
pcs_status pcs_report_contacts(const pcs_page *page, const pcs_csv *history);
pcs_status pcs_report_probes(const pcs_page *page, const pcs_csv *history);
// How to cite the program and the results of this name; `version` of what wrote them, "": it is not known.
void pcs_report_citation(const pcs_page *page, const char *title, const char *version);

pcs_status pcs_report_run(const pcs_page *page);
pcs_status pcs_report_study(const pcs_page *page);

#endif
