#include "report/html.h"
#include "core/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Series take the colours of Okabe and Ito, which people with any kind of colour blindness can tell apart, and dashes.
static const char style[] =
    ":root{color-scheme:light dark;--paper:#fff;--ink:#1c1e21;--soft:#555c66;--line:#d4d8de;--card:#f5f6f8;"
    "--good:#00694c;--bad:#a33b00;--key:#005a8d;--value:#8a4300;--s0:#0072b2;--s1:#d55e00;--s2:#009e73;--s3:#b0527f;"
    "--s4:#b37a00;--s5:#2b8cc4;--s6:#1c1e21;--s7:#6b6b6b}\n"
    "@media (prefers-color-scheme:dark){:root{--paper:#15181c;--ink:#e6e8eb;--soft:#a3abb6;--line:#3a414b;"
    "--card:#1e2329;--good:#4fd1a5;--bad:#ff9a5c;--key:#7cc4f5;--value:#f0b070;--s0:#56b4e9;--s1:#ff8a3d;--s2:#2fcf9d;"
    "--s3:#e69ac0;--s4:#f0c040;--s5:#9ad4f5;--s6:#e6e8eb;--s7:#a0a0a0}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:64rem;padding:1rem;background:var(--paper);color:var(--ink);"
    "font:1rem/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;overflow-wrap:break-word}\n"
    "h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0}h2{font-size:1.2rem;margin:2rem 0 .5rem;"
    "border-bottom:1px solid var(--line);padding-bottom:.2rem}h3{font-size:1rem;margin:1.2rem 0 .3rem}\n"
    "p{margin:.5rem 0}.soft,figcaption{color:var(--soft)}.verdict{border-left:.35rem solid var(--good);"
    "background:var(--card);padding:.6rem .9rem}.verdict.broken{border-color:var(--bad)}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums;"
    "margin:.5rem 0}th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:left;"
    "vertical-align:top}th{font-weight:600}td.n,th.n{text-align:right;white-space:nowrap}\n"
    "pre{background:var(--card);padding:.7rem .9rem;overflow:auto;font:.82rem/1.45 ui-monospace,"
    "'DejaVu Sans "
    "Mono',Menlo,Consolas,monospace}.yaml{max-height:32rem}.command{white-space:pre-wrap}caption{text-align:left}.k{"
    "color:var(--key)}.v{color:var(--value)}"
    ".c{color:var(--soft);font-style:italic}\n"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:1rem;align-items:"
    "start}\n"
    "figure{margin:0;min-width:0}figcaption{font-size:.9rem;margin:.2rem 0}figure img,figure video{max-width:100%;"
    "height:auto;background:#fff}svg{max-width:100%}figure>svg{display:block;width:100%;height:auto}\n"
    "svg text{fill:var(--ink);font:13px system-ui,'DejaVu Sans',sans-serif}.axis{stroke:var(--soft);fill:none}"
    ".grid{stroke:var(--line);fill:none}.y{fill:none;stroke-width:1.6;stroke-linejoin:round}.mark{stroke:none}\n"
    ".s0{stroke:var(--s0)}.s1{stroke:var(--s1);stroke-dasharray:7 3}.s2{stroke:var(--s2);stroke-dasharray:2 3}"
    ".s3{stroke:var(--s3);stroke-dasharray:9 3 2 3}.s4{stroke:var(--s4);stroke-dasharray:4 2}"
    ".s5{stroke:var(--s5);stroke-dasharray:12 4}.s6{stroke:var(--s6);stroke-dasharray:1 2}"
    ".s7{stroke:var(--s7);stroke-dasharray:6 2 1 2 1 2}\n"
    ".m0{fill:var(--s0)}.m1{fill:var(--s1)}.m2{fill:var(--s2)}.m3{fill:var(--s3)}.m4{fill:var(--s4)}.m5{fill:var(--s5)}"
    ".m6{fill:var(--s6)}.m7{fill:var(--s7)}.error{fill:none;stroke-width:1.2;stroke-dasharray:none}\n"
    ".legend{display:flex;flex-wrap:wrap;gap:.1rem 1rem;list-style:none;margin:.2rem 0;padding:0;font-size:.85rem}"
    ".legend svg{vertical-align:middle;margin-right:.35rem}\n"
    "@page{size:A4;margin:15mm}\n"
    "@media print{:root{color-scheme:light;--paper:#fff;--ink:#000;--soft:#444;--line:#bbb;--card:#f5f6f8;"
    "--good:#00694c;--bad:#a33b00;--key:#005a8d;--value:#8a4300;--s0:#0072b2;--s1:#d55e00;--s2:#009e73;--s3:#b0527f;"
    "--s4:#b37a00;--s5:#2b8cc4;--s6:#000;--s7:#6b6b6b}body{max-width:none;padding:0;font-size:10pt}"
    "pre,.yaml{max-height:none;white-space:pre-wrap}figure,tr{break-inside:avoid}h2,h3{break-after:avoid}"
    ".charts{grid-template-columns:1fr "
    "1fr}figcaption{font-size:9pt}.legend{font-size:8pt}.scroll{overflow:visible}table{font-size:8pt}th,td{padding:."
    "15rem .3rem}}\n";

const char *pcs_html_power(int exponent, char buffer[PCS_HTML_NUMBER])
{
    static const char *const digits[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
    char plain[16];
    snprintf(plain, sizeof plain, "%d", abs(exponent));
    size_t used = (size_t)snprintf(buffer, PCS_HTML_NUMBER, "10%s", exponent < 0 ? "⁻" : "");
    for (const char *p = plain; *p != '\0'; p++)
        used += (size_t)snprintf(buffer + used, PCS_HTML_NUMBER - used, "%s", digits[*p - '0']);
    return buffer;
}

// Takes off the zeros at the end of decimals.
static void html_trim(char *number)
{
    size_t length = strlen(number);
    if (strchr(number, '.') == NULL) return;
    while (number[length - 1] == '0') number[--length] = '\0';
    if (number[length - 1] == '.') number[--length] = '\0';
}

const char *pcs_html_number(double x, int digits, char buffer[PCS_HTML_NUMBER])
{
    if (!isfinite(x)) return strcpy(buffer, "–");
    snprintf(buffer, PCS_HTML_NUMBER, "%.*e", digits - 1, x + 0.0);
    pcs_text_set_point(buffer);
    char *e = strchr(buffer, 'e'), power[PCS_HTML_NUMBER];
    int exponent = atoi(e + 1), decimals = digits - 1 - exponent;
    if (x == 0.0 || (exponent >= -4 && exponent < 6)) {
        pcs_html_fixed(x, decimals > 0 ? decimals : 0, buffer);
        html_trim(buffer);
        return buffer;
    }
    *e = '\0';
    html_trim(buffer);
    e = buffer + strlen(buffer);
    pcs_html_power(exponent, power);
    snprintf(e, PCS_HTML_NUMBER - (size_t)(e - buffer), "×%s", power);
    return buffer;
}

const char *pcs_html_fixed(double x, int decimals, char buffer[PCS_HTML_NUMBER])
{
    snprintf(buffer, PCS_HTML_NUMBER, "%.*f", decimals, x + 0.0);
    pcs_text_set_point(buffer);
    return buffer;
}

void pcs_page_markup(const pcs_page *page, const char *markup)
{
    pcs_file_text(page->f, markup);
}

void pcs_page_print(const pcs_page *page, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pcs_file_text(page->f, text);
}

// Length of the UTF-8 sequence at p, 0: there is none.
static size_t html_sequence(const unsigned char *p, size_t left)
{
    static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t length = 1;
    if (p[0] < 0x80) return 1;
    if (p[0] < 0xC0) return 0;
    while (length < 4 && (p[0] & (0x80U >> length)) != 0) length++;
    if (length > left || (length == 4 && (p[0] & 0x08U) != 0)) return 0;
    unsigned code = p[0] & (0x7FU >> length);
    for (size_t i = 1; i < length; i++) {
        if (p[i] >> 6 != 0x2) return 0;
        code = code << 6 | (p[i] & 0x3FU);
    }
    return code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF) ? 0 : length;
}

static const char *html_escape(char c)
{
    switch (c) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

void pcs_page_part(const pcs_page *page, const char *text, size_t length)
{
    const unsigned char *p = (const unsigned char *)text;
    while (length > 0 && *p != '\0') {
        const char *escaped = html_escape((char)*p);
        size_t n = html_sequence(p, length);
        bool is_control = (*p < 0x20 && *p != '\n' && *p != '\t') || *p == 0x7F;
        char piece[8];
        snprintf(piece, sizeof piece, "%.*s", (int)n, (const char *)p);
        if (n == 0 || is_control) escaped = "\xEF\xBF\xBD";
        pcs_file_text(page->f, escaped != NULL ? escaped : piece);
        n = n == 0 ? 1 : n;
        p += n;
        length -= n;
    }
}

void pcs_page_text(const pcs_page *page, const char *text)
{
    pcs_page_part(page, text, strlen(text));
}

void pcs_page_word(const pcs_page *page, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+";
    bool is_plain = word[0] != '\0' && word[strspn(word, plain)] == '\0';
    if (!is_plain) pcs_page_markup(page, "&#39;");
    for (const char *p = word; *p != '\0';) {
        size_t length = strcspn(p, "'");
        pcs_page_part(page, p, length);
        p += length;
        if (*p != '\'') continue;
        pcs_page_text(page, "'\\''");
        p++;
    }
    if (!is_plain) pcs_page_markup(page, "&#39;");
}

void pcs_page_quantity(const pcs_page *page, double x, const char *unit)
{
    char number[PCS_HTML_NUMBER];
    pcs_page_print(page, "%s%s%s", pcs_html_number(x, 6, number), unit[0] == '\0' ? "" : "\xC2\xA0", unit);
}

void pcs_page_cell(const pcs_page *page, double x)
{
    char number[PCS_HTML_NUMBER];
    pcs_page_print(page, "<td class=\"n\">%s</td>", pcs_html_number(x, 6, number));
}

void pcs_page_begin(const pcs_page *page, const char *title)
{
    pcs_page_markup(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    pcs_page_text(page, title);
    pcs_page_markup(page, "</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n");
    pcs_page_markup(page, style);
    pcs_page_markup(page, "</style>\n</head>\n<body>\n<header>\n<h1>");
    pcs_page_text(page, title);
    pcs_page_markup(page, "</h1>\n</header>\n<main>\n");
}

void pcs_page_end(const pcs_page *page)
{
    pcs_page_markup(page, "</main>\n</body>\n</html>\n");
}

void pcs_page_section(const pcs_page *page, const char *id, const char *title)
{
    pcs_page_print(page, "<section id=\"%s\">\n<h2>%s</h2>\n", id, title);
}

void pcs_page_section_end(const pcs_page *page)
{
    pcs_page_markup(page, "</section>\n");
}

bool pcs_page_path(const pcs_page *page, const char *name, char path[PCS_PAGE_PATH])
{
    int length = snprintf(path, PCS_PAGE_PATH, "%s/%s", page->folder, name);
    return length > 0 && length < PCS_PAGE_PATH;
}

bool pcs_page_has(const pcs_page *page, const char *name)
{
    char path[PCS_PAGE_PATH];
    FILE *file = pcs_page_path(page, name, path) ? fopen(path, "r") : NULL;
    if (file == NULL) return false;
    fclose(file);
    return true;
}
