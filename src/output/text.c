// Exact and fast conversion of doubles to text, and escaping of names.
//
// A normal |x| = m 2^e is scaled to 17 digits: D + F = m 2^e 10^q with 10^16 <= D < 10^17 and 0 <= F < 1. With 128 bits
// of 10^q, of which up to 326 steps of ten have cut off at most 2 units each, D + F is a little too small, by less than
// 2^-60, so rounding is certain unless F lies near 1/2; then, as for every other doubt, the C library decides. A
// decimal reads back to x when it is nearer to x than half the distance to the neighbouring double, in units of D:
// D / (2 m), on the lower side of a power of two D / (4 m).

#include "core/text.h"
#include "output/text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOWEST_POWER = -294, HIGHEST_POWER = 326, NPOWER = HIGHEST_POWER - LOWEST_POWER + 1 };

__extension__ typedef unsigned __int128 wide;

// 10^q is mantissa 2^exponent, the top bit of the mantissa set, truncated.
typedef struct power {
    wide mantissa;
    int exponent;
} power;

// Powers are computed when a number first needs them, outwards from 10^0: most numbers need few.
struct pcs_digits {
    power powers[NPOWER]; // 10^(LOWEST_POWER + i)
    int lowest, highest;  // range of those computed
};

static power text_times_ten(const power *a)
{
    wide m = a->mantissa / 2 + a->mantissa / 8;
    if (m >> 127 != 0) return (power){ m, a->exponent + 4 };
    return (power){ a->mantissa + a->mantissa / 4, a->exponent + 3 };
}

static power text_over_ten(const power *a)
{
    wide fifth = a->mantissa / 5, rest = a->mantissa % 5;
    int shift = fifth >> 125 != 0 ? 2 : 3;
    return (power){ (fifth << shift) + (rest << shift) / 5, a->exponent - 1 - shift };
}

pcs_status pcs_digits_create(pcs_context *ctx, pcs_digits **out)
{
    pcs_digits *d = pcs_take_room(ctx, sizeof *d, "powers of ten");
    if (d == NULL) return PCS_NO_MEMORY;
    d->powers[-LOWEST_POWER] = (power){ (wide)1 << 127, -127 };
    d->lowest = d->highest = -LOWEST_POWER;
    *out = d;
    return PCS_OK;
}

static const power *text_power(pcs_digits *d, int q)
{
    int i = q - LOWEST_POWER;
    for (; d->highest < i; d->highest++) d->powers[d->highest + 1] = text_times_ten(&d->powers[d->highest]);
    for (; d->lowest > i; d->lowest--) d->powers[d->lowest - 1] = text_over_ten(&d->powers[d->lowest]);
    return &d->powers[i];
}

// Writes the number by the C library, with the decimal sign of the locale replaced by a point.
static size_t text_slow(double x, char *text)
{
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, PCS_NUMBER_ROOM, "%.*g", precision, x);
        if (precision == 17 || strtod(text, NULL) == x) break;
    }
    pcs_text_set_point(text);
    return strlen(text);
}

typedef struct scaled {
    uint64_t digits;   // D
    double fraction;   // F
    uint64_t mantissa; // m
    int decimal;       // exponent of the first digit
} scaled;

static scaled text_scale(pcs_digits *table, uint64_t bits)
{
    const uint64_t limit = UINT64_C(100000000000000000); // 10^17
    scaled s = { .mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52 };
    int exponent = (int)(bits >> 52 & 0x7FF) - 1075;               // x = m 2^exponent
    s.decimal = (int)floor((exponent + 52) * 0.30102999566398120); // right, or one too small
    uint64_t m = s.mantissa << 11;
    for (;; s.decimal++) {
        const power *p = text_power(table, 16 - s.decimal);
        wide low = (wide)m * (uint64_t)p->mantissa;
        wide high = (wide)m * (uint64_t)(p->mantissa >> 64) + (uint64_t)(low >> 64);
        int shift = -(exponent - 11 + p->exponent) - 128; // between 1 and 63: D has 50 to 60 bits of 192
        uint64_t top = (uint64_t)(high >> 64), next = (uint64_t)high;
        s.digits = top >> shift;
        if (s.digits >= limit) continue;
        uint64_t fraction = top << (64 - shift) | next >> shift;
        s.fraction = (double)(fraction >> 11) * 0x1p-53;
        return s;
    }
}

// Tries `drop` digits fewer than 17. Returns 1 if the rest reads back to x, 0 if it does not, -1 if in doubt.
static int text_shorten(const scaled *s, unsigned drop, uint64_t *digits)
{
    const double doubt = 1e-9;
    static const uint64_t units[] = { 1, 10, 100 };
    uint64_t unit = units[drop];
    double above = (double)(s->digits % unit) + s->fraction, half = 0.5 * (double)unit;
    if (fabs(above - half) < doubt) return -1;
    bool is_up = above > half;
    double error = is_up ? (double)unit - above : above;
    double allowed = 0.5 * (double)s->digits / (double)s->mantissa;
    if (!is_up && s->mantissa == UINT64_C(1) << 52) allowed *= 0.5;
    if (drop > 0 && fabs(error - allowed) < doubt) return -1;
    *digits = s->digits / unit + is_up;
    return drop == 0 || error < allowed;
}

// Writes 18 digits with leading zeros; in two halves, so that most divisions are short ones.
static void text_digits(uint64_t value, char out[18])
{
    const uint64_t half = 1000000000;
    uint32_t parts[2] = { (uint32_t)(value / half), (uint32_t)(value % half) };
    for (int part = 0; part < 2; part++) {
        for (int i = 8; i >= 0; i--) {
            out[9 * part + i] = (char)('0' + parts[part] % 10);
            parts[part] /= 10;
        }
    }
}

// Writes an exponent: 'e', a sign and at least two digits. Returns its length.
static size_t text_exponent(int decimal, char *out)
{
    int size = decimal < 0 ? -decimal : decimal, hundreds = size / 100;
    char *p = out;
    *p++ = 'e';
    *p++ = decimal < 0 ? '-' : '+';
    if (hundreds > 0) *p++ = (char)('0' + hundreds);
    *p++ = (char)('0' + size / 10 % 10);
    *p++ = (char)('0' + size % 10);
    *p = '\0';
    return (size_t)(p - out);
}

// Lays out `count` digits with the first at 10^decimal as %.*g does.
static size_t text_layout(const char *digits, int count, int precision, int decimal, char *out)
{
    char *p = out;
    if (decimal < -4 || decimal >= precision) {
        *p++ = digits[0];
        if (count > 1) {
            *p++ = '.';
            memcpy(p, digits + 1, (size_t)count - 1);
            p += count - 1;
        }
        return (size_t)(p - out) + text_exponent(decimal, p);
    }
    if (decimal < 0) {
        memcpy(p, "0.0000", 6);
        p += 1 - decimal;
        memcpy(p, digits, (size_t)count);
        p += count;
    } else {
        int whole = decimal + 1, common = count < whole ? count : whole;
        memcpy(p, digits, (size_t)common);
        memset(p + common, '0', (size_t)(whole - common));
        p += whole;
        if (count > whole) {
            *p++ = '.';
            memcpy(p, digits + whole, (size_t)(count - whole));
            p += count - whole;
        }
    }
    *p = '\0';
    return (size_t)(p - out);
}

size_t pcs_number_text(pcs_digits *table, double x, char text[PCS_NUMBER_ROOM])
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    size_t sign = bits >> 63;
    if (sign) text[0] = '-';
    if (x == 0.0) {
        memcpy(text + sign, "0", 2);
        return sign + 1;
    }
    if (x > 0.0 && x < 1e9 && x == (double)(long)x) return pcs_integer_text((long)x, text);
    if (table == NULL || !isnormal(x)) return text_slow(x, text);
    scaled s = text_scale(table, bits);
    for (unsigned drop = 2;; drop--) {
        uint64_t value;
        int verdict = text_shorten(&s, drop, &value);
        if (verdict < 0) return text_slow(x, text);
        if (verdict == 0) continue;
        char digits[18];
        int precision = 17 - (int)drop, count = precision;
        text_digits(value, digits);
        bool has_grown = digits[drop] != '0'; // rounding up gave a power of ten
        const char *first = digits + drop + !has_grown;
        while (count > 1 && first[count - 1] == '0') count--;
        return sign + text_layout(first, count, precision, s.decimal + has_grown, text + sign);
    }
}

size_t pcs_integer_text(long x, char text[PCS_NUMBER_ROOM])
{
    if (x < 0 || x >= 1000000000) return (size_t)snprintf(text, PCS_NUMBER_ROOM, "%ld", x);
    char digits[18];
    text_digits((uint64_t)x, digits);
    size_t first = 9;
    while (first < 17 && digits[first] == '0') first++;
    memcpy(text, digits + first, 18 - first);
    text[18 - first] = '\0';
    return 18 - first;
}

size_t pcs_json_piece(const char **text, char piece[PCS_JSON_PIECE])
{
    const char *p = *text;
    unsigned char c = (unsigned char)*p;
    size_t length = pcs_text_utf8(p, 4);
    *text += length == 0 ? 1 : length;
    if (length == 0) return (size_t)snprintf(piece, PCS_JSON_PIECE, "\\ufffd");
    if (c == '"' || c == '\\') return (size_t)snprintf(piece, PCS_JSON_PIECE, "\\%c", c);
    if (c < 0x20 || c == 0x7F) return (size_t)snprintf(piece, PCS_JSON_PIECE, "\\u%04x", c);
    memcpy(piece, p, length);
    return length;
}

size_t pcs_json_text(const char *text, size_t room, char *out)
{
    char piece[PCS_JSON_PIECE];
    size_t used = 0;
    while (*text != '\0') {
        size_t length = pcs_json_piece(&text, piece);
        if (used + length >= room) break;
        memcpy(out + used, piece, length);
        used += length;
    }
    if (room > 0) out[used] = '\0';
    return used;
}

size_t pcs_safe_name(const char *text, size_t room, char *out)
{
    size_t n = 0;
    for (; text[n] != '\0' && n + 1 < room; n++) {
        char c = text[n];
        bool is_safe = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        out[n] = is_safe ? c : '_';
    }
    out[n] = '\0';
    return n;
}
