// The page that is written: markup, texts that are escaped, numbers as people read them; private to this folder.

#ifndef PCS_REPORT_HTML_H
#define PCS_REPORT_HTML_H

#include "output/file.h"

enum { PCS_HTML_NUMBER = 64, PCS_PAGE_PATH = 4096 };

typedef struct pcs_page {
    pcs_context *ctx;
    pcs_file *f;
    const char *folder; // of the results
} pcs_page;

// A number with so many digits, as "0.0123" or "1.2×10⁻⁷"; a dash for what is not finite. `buffer` is given back.
const char *pcs_html_number(double x, int digits, char buffer[PCS_HTML_NUMBER]);
// A fixed number of decimals, with a point whatever the locale.
const char *pcs_html_fixed(double x, int decimals, char buffer[PCS_HTML_NUMBER]);
// "10⁻³".
const char *pcs_html_power(int exponent, char buffer[PCS_HTML_NUMBER]);

// Markup as it is, at most 1023 bytes after formatting.
void pcs_page_print(const pcs_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Markup as it is, of any length.
void pcs_page_markup(const pcs_page *page, const char *markup);
// A text of any origin: escaped, and what is no UTF-8 replaced.
void pcs_page_text(const pcs_page *page, const char *text);
// The same for its first bytes.
void pcs_page_part(const pcs_page *page, const char *text, size_t length);
// A name such as wall.peak_force, which may be broken into lines after points and dashes.
void pcs_page_name(const pcs_page *page, const char *name);
// A word of a command, in quotes where the shell needs them.
void pcs_page_word(const pcs_page *page, const char *word);
// A number with its unit: "1.2×10⁻⁷ m".
void pcs_page_quantity(const pcs_page *page, double x, const char *unit);
// A cell of a table with a number.
void pcs_page_cell(const pcs_page *page, double x);

extern const char pcs_page_style[]; // CSS
// Head and style up to the first section, and the end.
void pcs_page_begin(const pcs_page *page, const char *title);
void pcs_page_end(const pcs_page *page);
void pcs_page_section(const pcs_page *page, const char *id, const char *title);
void pcs_page_section_end(const pcs_page *page);

// The path of a file in the folder of the results; false: it is too long.
bool pcs_page_path(const pcs_page *page, const char *name, char path[PCS_PAGE_PATH]);
// Is there such a file?
bool pcs_page_has(const pcs_page *page, const char *name);

#endif
