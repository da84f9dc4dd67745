// Numbers as text: the strict grammar of a case file, ranges, and writing that reads back to the same bits.
//
//   number  [+-] (digits [. digits*] | . digits) [(e|E) [+-] digits],  no leading zeros before a digit
//   count   [+-] digits

#include "case/tree.h"
#include "core/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool scalar_is_digit(char x)
{
    return x >= '0' && x <= '9';
}

static const char *scalar_digits(const char *p)
{
    while (scalar_is_digit(*p)) p++;
    return p;
}

// The parts of a number; an absent part is empty. False when the text is no number.
typedef struct scalar_parts {
    const char *whole, *fraction, *exponent; // digits (the exponent with its sign)
    int nwhole, nfraction, nexponent;
    bool is_negative, has_point;
} scalar_parts;

static bool scalar_split(const char *text, scalar_parts *out)
{
    *out = (scalar_parts){ .is_negative = text[0] == '-' };
    const char *p = text + (text[0] == '-' || text[0] == '+');
    out->whole = p;
    p = scalar_digits(p);
    out->nwhole = (int)(p - out->whole);
    if (out->nwhole > 1 && out->whole[0] == '0') return false; // 010 is 8 to some readers
    out->has_point = *p == '.';
    if (out->has_point) p++;
    out->fraction = p;
    if (out->has_point) p = scalar_digits(p);
    out->nfraction = (int)(p - out->fraction);
    if (out->nwhole + out->nfraction == 0) return false;
    out->exponent = "";
    if (*p == 'e' || *p == 'E') {
        out->exponent = ++p;
        p += *p == '-' || *p == '+';
        const char *end = scalar_digits(p);
        if (end == p) return false;
        p = end;
        out->nexponent = (int)(p - out->exponent);
    }
    return *p == '\0';
}

static bool scalar_has_nonzero(const char *digits, int n)
{
    for (int i = 0; i < n; i++) {
        if (digits[i] != '0') return true;
    }
    return false;
}

static bool scalar_is_special(const char *text)
{
    static const char *const names[] = { "nan", "inf", "infinity", ".nan", ".inf", NULL };
    const char *p = text + (text[0] == '-' || text[0] == '+');
    for (int i = 0; names[i] != NULL; i++) {
        size_t k = 0;
        while (p[k] != '\0' && tolower((unsigned char)p[k]) == names[i][k]) k++;
        if (p[k] == '\0' && names[i][k] == '\0') return true;
    }
    return false;
}

pcs_number_form pcs_scalar_number(const char *text, double *value)
{
    scalar_parts parts;
    *value = NAN;
    if (scalar_is_special(text)) return PCS_NUMBER_NOT_FINITE;
    if (!scalar_split(text, &parts)) return PCS_NUMBER_IS_TEXT;
    double number = pcs_text_number(text, &(const char *){ NULL });
    if (!isfinite(number)) return PCS_NUMBER_NOT_FINITE;
    bool is_nonzero =
        scalar_has_nonzero(parts.whole, parts.nwhole) || scalar_has_nonzero(parts.fraction, parts.nfraction);
    if (number == 0.0 && is_nonzero) return PCS_NUMBER_TOO_SMALL;
    *value = number;
    return PCS_NUMBER_FINE;
}

bool pcs_scalar_count(const char *text, long *value)
{
    scalar_parts parts;
    if (!scalar_split(text, &parts) || parts.has_point || parts.nexponent > 0) return false;
    errno = 0;
    *value = strtol(text, NULL, 10);
    return errno == 0;
}

void pcs_scalar_normalize(const char *text, size_t size, char *buffer)
{
    scalar_parts p;
    if (!scalar_split(text, &p) || p.nexponent == 0) {
        size_t length = strlen(text) < size ? strlen(text) : size - 1;
        memcpy(buffer, text, length);
        buffer[length] = '\0';
        return;
    }
    bool is_signed = p.exponent[0] == '-' || p.exponent[0] == '+';
    snprintf(buffer, size, "%s%.*s.%.*se%s%.*s", p.is_negative ? "-" : "", p.nwhole > 0 ? p.nwhole : 1,
             p.nwhole > 0 ? p.whole : "0", p.nfraction > 0 ? p.nfraction : 1, p.nfraction > 0 ? p.fraction : "0",
             is_signed ? "" : "+", p.nexponent, p.exponent);
}

const char *pcs_case_number_text(double value, char buffer[PCS_NUMBER_BYTES])
{
    char text[PCS_NUMBER_BYTES];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*e", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    pcs_text_set_point(text);
    return memcpy(buffer, text, sizeof text);
}

const char *pcs_scalar_text(double value, char buffer[PCS_NUMBER_BYTES])
{
    const double exact = 9007199254740992.0; // whole numbers up to 2^53 are written with all digits
    const char *end;
    if (value == floor(value) && fabs(value) < exact) {
        snprintf(buffer, PCS_NUMBER_BYTES, "%.0f", value);
        return buffer;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buffer, PCS_NUMBER_BYTES, "%.*g", digits, value);
        pcs_text_set_point(buffer);
        if (pcs_text_number(buffer, &end) == value) break;
    }
    return buffer;
}

const char *pcs_range_text(pcs_range range, size_t size, char *buffer)
{
    bool has_low = isfinite(range.low), has_high = isfinite(range.high);
    buffer[0] = '\0';
    if (has_low && has_high) {
        snprintf(buffer, size, "in %c%.10g, %.10g%c", range.low_is_open ? '(' : '[', range.low, range.high,
                 range.high_is_open ? ')' : ']');
    } else if (has_low) {
        snprintf(buffer, size, "%s %.10g", range.low_is_open ? ">" : ">=", range.low);
    } else if (has_high) {
        snprintf(buffer, size, "%s %.10g", range.high_is_open ? "<" : "<=", range.high);
    }
    return buffer;
}
