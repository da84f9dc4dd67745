// YAML ends a plain text within { } and [ ] at the signs , { } [ ] and everywhere at ": " and " #". So that
// [${L/2}, ${max(a, b)}] can be written without quotes, those signs are hidden within ${...}: sign x becomes the
// character U+E000 + x of the private area, and the texts that come out of the parser take it back. Counts of
// characters stay, and with them lines and columns.

#include "case/tree.h"

#include <string.h>

enum { LEAD = 0xEE, SECOND_LOW = 0x80, SECOND_HIGH = 0x81, MASKED_BYTES = 3 }; // U+E000 .. U+E07F in UTF-8

static bool mask_is_masked(const char *p, const char *end)
{
    const unsigned char *x = (const unsigned char *)p;
    return end - p >= MASKED_BYTES && x[0] == LEAD && (x[1] == SECOND_LOW || x[1] == SECOND_HIGH);
}

// Length of the ${...} at p, 0 when there is none: it ends in its line and holds no quotes.
static size_t mask_formula(const char *p, const char *end)
{
    if (end - p < 2 || p[0] != '$' || p[1] != '{') return 0;
    for (const char *q = p + 2; q < end && strchr("\n\r\"'", *q) == NULL; q++)
        if (*q == '}') return (size_t)(q + 1 - p);
    return 0;
}

static size_t mask_put(char x, char *out)
{
    unsigned char code = (unsigned char)x;
    if (strchr("{}[],:#", x) == NULL || x == '\0') {
        *out = x;
        return 1;
    }
    out[0] = (char)LEAD;
    out[1] = (char)(0x80 | (code >> 6));
    out[2] = (char)(0x80 | (code & 0x3f));
    return MASKED_BYTES;
}

bool pcs_mask(const char *text, size_t *size, char **masked)
{
    const char *end = text + *size;
    size_t hidden = 0, used = 0;
    *masked = NULL;
    for (const char *p = text; p < end; p++) {
        if (mask_is_masked(p, end)) return true; // the author uses these characters: they stay what they are
        hidden += mask_formula(p, end);
    }
    if (hidden == 0) return true;
    char *out = pcs_scratch(NULL, *size + MASKED_BYTES * hidden, 1);
    if (out == NULL) return false;
    for (const char *p = text; p < end;) {
        size_t length = mask_formula(p, end);
        if (length == 0) out[used++] = *p++;
        for (; length > 0; length--) used += mask_put(*p++, out + used);
    }
    *masked = out;
    *size = used;
    return true;
}

void pcs_unmask(char *text)
{
    const char *p = text, *end = text + strlen(text);
    char *out = text;
    while (p < end) {
        if (!mask_is_masked(p, end)) {
            *out++ = *p++;
            continue;
        }
        *out++ = (char)((((unsigned char)p[1] & 0x01) << 6) | ((unsigned char)p[2] & 0x3f));
        p += MASKED_BYTES;
    }
    *out = '\0';
}
