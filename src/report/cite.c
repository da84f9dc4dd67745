// How to cite the program and the results.

#include "percuss.h"
#include "report/parts.h"

void pcs_report_citation(const pcs_page *page, const char *title)
{
    pcs_page_section(page, "cite", "How to cite");
    pcs_page_print(page, "<p>Percuss, version %s: elastic bodies that hit, stick and rebound. Results of ‘",
                   percuss_version());
    pcs_page_text(page, title);
    pcs_page_print(page,
                   "’.</p>\n<pre><code>@software{percuss,\n  title   = {Percuss: elastic bodies that hit, stick and "
                   "rebound},\n  version = {%s},\n  note    = {",
                   percuss_version());
    pcs_page_text(page, title);
    pcs_page_markup(page, "}\n}</code></pre>\n");
    pcs_page_section_end(page);
}
