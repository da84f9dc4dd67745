// A YAML file line by line: keys, comments and values get a class each.

#include "core/text.h"
#include "report/parts.h"

#include <string.h>

enum { MOST_BYTES = 1 << 24 };

static void listing_span(const pcs_page *page, const char *class, const char *text, size_t length)
{
    if (length == 0) return;
    pcs_page_print(page, "<span class=\"%s\">", class);
    pcs_page_part(page, text, length);
    pcs_page_markup(page, "</span>");
}

// Length of the key at the start of a text, its colon not included; 0: there is none.
static size_t listing_key(const char *text, size_t length)
{
    size_t end = 0;
    char quote = length > 0 && (text[0] == '"' || text[0] == '\'') ? text[0] : '\0';
    if (quote != '\0') {
        for (end = 1; end < length && text[end] != quote;) end++;
        end++;
    } else {
        while (end < length && strchr(":#{}[],", text[end]) == NULL) end++;
    }
    bool is_key = end < length && text[end] == ':' && (end + 1 == length || text[end + 1] == ' ');
    return is_key ? end : 0;
}

// Where a comment begins: a '#' outside quotes after a blank.
static size_t listing_comment(const char *text, size_t length)
{
    char quote = '\0';
    for (size_t i = 0; i < length; i++) {
        if (quote == '\0' && text[i] == '#' && (i == 0 || text[i - 1] == ' ')) return i;
        if (quote == text[i]) quote = '\0';
        else if (quote == '\0' && (text[i] == '"' || text[i] == '\'')) quote = text[i];
    }
    return length;
}

static void listing_line(const pcs_page *page, const char *line, size_t length)
{
    size_t begin = 0;
    while (begin < length && (line[begin] == ' ' || (line[begin] == '-' && line[begin + 1] == ' '))) begin++;
    pcs_page_part(page, line, begin);
    size_t comment = begin + listing_comment(line + begin, length - begin);
    size_t key = listing_key(line + begin, comment - begin);
    listing_span(page, "k", line + begin, key);
    if (key > 0) pcs_page_markup(page, ":");
    begin += key + (key > 0);
    listing_span(page, "v", line + begin, comment - begin);
    listing_span(page, "c", line + comment, length - comment);
    pcs_page_markup(page, "\n");
}

pcs_status pcs_report_listing(const pcs_page *page, const char *name)
{
    char path[PCS_PAGE_PATH], *text = NULL;
    size_t size = 0;
    if (!pcs_page_has(page, name) || !pcs_page_path(page, name, path)) return PCS_OK;
    PCS_TRY(pcs_text_file(page->ctx, path, "the case", MOST_BYTES, &text, &size));
    pcs_page_markup(page, "<pre class=\"yaml\" tabindex=\"0\" aria-label=\"The case\"><code>");
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end == NULL ? size - at : (size_t)(end - (text + at));
        listing_line(page, text + at, length);
        at += length + 1;
    }
    pcs_page_markup(page, "</code></pre>\n");
    pcs_scratch_free(text);
    return PCS_OK;
}
