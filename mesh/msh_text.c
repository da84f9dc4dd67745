// Lines, words and numbers of a mesh file.

#include "core/text.h"
#include "mesh/msh.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 64 };

pcs_status pcs_msh_fail(const pcs_msh_text *text, const char *format, ...)
{
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return pcs_fail(text->ctx, PCS_BAD_INPUT, "%s:%d: %s", text->path, text->line, message);
}

static bool text_is_blank(char x)
{
    return x == ' ' || x == '\t' || x == '\r';
}

static void text_skip(pcs_msh_text *text)
{
    while (text->at < text->stop && text_is_blank(*text->at)) text->at++;
}

bool pcs_msh_next(pcs_msh_text *text)
{
    while (text->next < text->end) {
        const char *stop = memchr(text->next, '\n', (size_t)(text->end - text->next));
        text->at = text->next;
        text->stop = stop == NULL ? text->end : stop;
        text->next = stop == NULL ? text->end : stop + 1;
        text->line++;
        text_skip(text);
        if (text->at < text->stop) return true;
    }
    return false;
}

pcs_status pcs_msh_record(pcs_msh_text *text, const char *section)
{
    return pcs_msh_next(text) ? PCS_OK : pcs_msh_fail(text, "the file ends within %s", section);
}

// The next word in a buffer that is long enough for every number; a longer word is cut, which *is_cut tells.
static bool text_word(pcs_msh_text *text, char word[WORD_BYTES], bool *is_cut)
{
    text_skip(text);
    const char *start = text->at;
    while (text->at < text->stop && !text_is_blank(*text->at)) text->at++;
    size_t length = (size_t)(text->at - start);
    *is_cut = length >= WORD_BYTES;
    if (*is_cut) length = WORD_BYTES - 1;
    for (size_t i = 0; i < length; i++) {
        bool is_shown = (unsigned char)start[i] >= ' ' && start[i] != 0x7f;
        word[i] = start[i];
        if (!is_shown) word[i] = '?'; // no number has such a sign
    }
    word[length] = '\0';
    return length > 0;
}

pcs_status pcs_msh_whole(pcs_msh_text *text, const char *what, long low, long high, long *out)
{
    char word[WORD_BYTES];
    bool is_cut;
    if (!text_word(text, word, &is_cut)) return pcs_msh_fail(text, "the line ends before %s", what);
    size_t sign = word[0] == '-' || word[0] == '+', length = strlen(word);
    if (is_cut || length == sign || strspn(word + sign, "0123456789") != length - sign)
        return pcs_msh_fail(text, "%s must be a whole number, is '%s'", what, word);
    // Numbers too large for a long come out as its limits, and those are out of every range asked for.
    *out = strtol(word, NULL, 10);
    if (*out < low || *out > high)
        return pcs_msh_fail(text, "%s must be from %ld to %ld, is %s", what, low, high, word);
    return PCS_OK;
}

pcs_status pcs_msh_real(pcs_msh_text *text, const char *what, double *out)
{
    char word[WORD_BYTES];
    bool is_cut;
    if (!text_word(text, word, &is_cut)) return pcs_msh_fail(text, "the line ends before %s", what);
    const char *stop = word;
    bool is_decimal = !is_cut && strspn(word, "0123456789+-.eE") == strlen(word);
    if (is_decimal) *out = pcs_text_number(word, &stop);
    if (!is_decimal || *stop != '\0') return pcs_msh_fail(text, "%s must be a number, is '%s'", what, word);
    if (!isfinite(*out)) return pcs_msh_fail(text, "%s must be finite, is %s", what, word);
    return PCS_OK;
}

pcs_status pcs_msh_count(pcs_msh_text *text, const char *what, long *out)
{
    PCS_TRY(pcs_msh_whole(text, what, 0, 1L << 40, out));
    // The shortest record is a digit and the end of its line.
    long room = (text->end - text->next + 1) / 2;
    if (*out > room)
        return pcs_msh_fail(text, "%s is %ld, but the rest of the file has room for %ld at the most", what, *out, room);
    return PCS_OK;
}

pcs_status pcs_msh_line_ends(pcs_msh_text *text)
{
    char word[WORD_BYTES];
    bool is_cut;
    if (!text_word(text, word, &is_cut)) return PCS_OK;
    return pcs_msh_fail(text, "the line must end before '%s'", word);
}

bool pcs_msh_is(const pcs_msh_text *text, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(text->stop - text->at) < length || memcmp(text->at, word, length) != 0) return false;
    for (const char *p = text->at + length; p < text->stop; p++)
        if (!text_is_blank(*p)) return false;
    return true;
}

pcs_status pcs_msh_section_ends(pcs_msh_text *text, const char *word, const char *announced)
{
    if (!pcs_msh_next(text)) return pcs_msh_fail(text, "the file ends before %s", word);
    if (pcs_msh_is(text, word)) return PCS_OK;
    char found[WORD_BYTES];
    bool is_cut;
    text_word(text, found, &is_cut);
    return pcs_msh_fail(text, "%s must follow here, after the %s that the section announces; is '%s'", word, announced,
                        found);
}
