#include "report/html.h"
#include "core/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    for (size_t n; length > 0 && *text != '\0'; text += n, length -= n) {
        size_t sequence = pcs_text_utf8(text, length);
        unsigned char c = (unsigned char)*text;
        bool is_control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
        const char *escaped = sequence == 0 || is_control ? "\xEF\xBF\xBD" : html_escape(*text);
        n = sequence == 0 ? 1 : sequence;
        if (escaped != NULL) pcs_file_text(page->f, escaped);
        else pcs_file_bytes(page->f, text, n);
    }
}

void pcs_page_text(const pcs_page *page, const char *text)
{
    pcs_page_part(page, text, strlen(text));
}

void pcs_page_name(const pcs_page *page, const char *name)
{
    for (const char *p = name; *p != '\0';) {
        size_t length = strcspn(p, "._");
        length += p[length] != '\0';
        pcs_page_part(page, p, length);
        p += length;
        if (*p != '\0') pcs_page_markup(page, "<wbr>");
    }
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
    pcs_page_markup(page, pcs_page_style);
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
