// How to cite the program and the results.

#include "percuss.h"
#include "report/parts.h"

#include <string.h>

void pcs_report_citation(const pcs_page *page, const char *title, const char *version)
{
    bool is_known = version[0] != '\0', is_present = strcmp(version, percuss_version()) == 0;
    pcs_page_section(page, "cite", "How to cite");
    pcs_page_markup(page, "<p>Percuss, version ");
    pcs_page_text(page, is_known ? version : percuss_version());
    pcs_page_markup(page, ": elastic bodies that hit, stick and rebound. Results of ‘");
    pcs_page_text(page, title);
    pcs_page_markup(page, "’.");
    if (!is_present) pcs_page_print(page, " This page was written by version %s.", percuss_version());
    if (!is_known) pcs_page_markup(page, " The results do not say which version wrote them.");
    pcs_page_markup(page,
                    "</p>\n<pre><code>@software{percuss,\n  title   = {Percuss: elastic bodies that hit, stick and "
                    "rebound},\n  version = {");
    pcs_page_text(page, is_known ? version : percuss_version());
    pcs_page_markup(page, "},\n  note    = {");
    pcs_page_text(page, title);
    pcs_page_markup(page, "}\n}</code></pre>\n");
    pcs_page_section_end(page);
}
