// Exact and fast conversion of doubles to text, and escaping of names.
//
// A normal |x| = m 2^e is scaled to 17 digits: D + F = m 2^e 10^q with 10^16 <= D < 10^17 and 0 <= F < 1. With 128 bits
// of 10^q, truncated, D + F is a little too small, by less than 2^-60, so rounding is certain unless F lies near 1/2;
// then, as for every other doubt, the C library decides. A decimal reads back to x when it is nearer to x than half the
// distance to the neighbouring double, in units of D: D / (2 m), on the lower side of a power of two D / (4 m).

#include "core/text.h"
#include "output/text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOWEST_POWER = -294,
    HIGHEST_POWER = 326,
    NPOWER = HIGHEST_POWER - LOWEST_POWER + 1,
    LIMBS = 9 // of 32 bits: a mantissa of 256 bits with a limb to spare
};

__extension__ typedef unsigned __int128 wide;

// 10^q is mantissa 2^exponent, the top bit of the mantissa set, truncated.
typedef struct power {
    uint64_t high, low;
    int exponent;
} power;

// A long mantissa, least limb first: value = limb as one integer times 2^exponent.
typedef struct long_number {
    uint32_t limb[LIMBS];
    int exponent;
} long_number;

// Powers are made when a number first needs them, outwards from 10^0: most numbers need few.
struct pcs_digits {
    power powers[NPOWER];    // of LOWEST_POWER + i, those from `lowest` to `highest`
    int lowest, highest;     // powers that are there
    long_number least, most; // the outermost of them
};

static void text_normalise(long_number *a)
{
    int shift = 0;
    while (((a->limb[LIMBS - 1] << shift) & 0x80000000U) == 0) shift++; // at most 3
    if (shift == 0) return;
    for (int i = LIMBS - 1; i > 0; i--) a->limb[i] = a->limb[i] << shift | a->limb[i - 1] >> (32 - shift);
    a->limb[0] <<= shift;
    a->exponent -= shift;
}

static void text_times_ten(long_number *a)
{
    // The top bit is set: make room for the factor 5 < 2^3 first.
    for (int i = 0; i < LIMBS; i++) a->limb[i] = a->limb[i] >> 3 | (i + 1 < LIMBS ? a->limb[i + 1] << 29 : 0);
    a->exponent += 3 + 1;
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)a->limb[i] * 5;
        a->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    text_normalise(a);
}

static void text_over_ten(long_number *a)
{
    uint64_t rest = 0;
    for (int i = LIMBS - 1; i >= 0; i--) {
        rest = rest << 32 | a->limb[i];
        a->limb[i] = (uint32_t)(rest / 5);
        rest %= 5;
    }
    a->exponent -= 1;
    text_normalise(a);
}

static power text_round_power(const long_number *a)
{
    const uint32_t *l = a->limb + LIMBS - 4;
    return (power){ .high = (uint64_t)l[3] << 32 | l[2],
                    .low = (uint64_t)l[1] << 32 | l[0],
                    .exponent = a->exponent + 32 * (LIMBS - 4) };
}

pcs_status pcs_digits_create(pcs_context *ctx, pcs_digits **out)
{
    pcs_digits *d = pcs_take_room(ctx, sizeof *d, "powers of ten");
    if (d == NULL) return PCS_NO_MEMORY;
    const long_number one = { .limb = { [LIMBS - 1] = 0x80000000U }, .exponent = 1 - 32 * LIMBS };
    d->lowest = d->highest = 0;
    d->least = d->most = one;
    d->powers[-LOWEST_POWER] = text_round_power(&one);
    *out = d;
    return PCS_OK;
}

static const power *text_power(pcs_digits *d, int q)
{
    while (d->highest < q) {
        text_times_ten(&d->most);
        d->powers[++d->highest - LOWEST_POWER] = text_round_power(&d->most);
    }
    while (d->lowest > q) {
        text_over_ten(&d->least);
        d->powers[--d->lowest - LOWEST_POWER] = text_round_power(&d->least);
    }
    return &d->powers[q - LOWEST_POWER];
}

// The C library's answer, with the decimal point of the locale put right.
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
        wide low = (wide)m * p->low, high = (wide)m * p->high + (uint64_t)(low >> 64);
        int shift = -(exponent - 11 + p->exponent) - 128; // between 1 and 63: D has 50 to 60 bits of 192
        uint64_t top = (uint64_t)(high >> 64), next = (uint64_t)high;
        s.digits = top >> shift;
        if (s.digits >= limit) continue;
        uint64_t fraction = top << (64 - shift) | next >> shift;
        s.fraction = (double)(fraction >> 11) * 0x1p-53;
        return s;
    }
}

// Tries `drop` digits fewer than 17: 1 when the rest reads back to x, 0 when it does not, -1 when in doubt.
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

// 18 digits with leading zeros; two halves, so that most divisions are short ones.
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

// A letter, a sign and at least two digits.
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
