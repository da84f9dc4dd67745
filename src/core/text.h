// Text input and output: whole files, UTF-8, and numbers with a decimal point in any locale.

#ifndef PCS_CORE_TEXT_H
#define PCS_CORE_TEXT_H

#include "core/context.h"
#include "core/option.h"

// Largest size, bytes, of a file without another limit on its length: mesh, checkpoint, result. A longer one is taken
// for a device that never ends.
#define PCS_TEXT_MOST ((size_t)1 << 36)

// Reads a regular file of at most `most` bytes into a scratch buffer and appends a 0. `what` names it: "the case".
pcs_status pcs_text_file(pcs_context *ctx, const char *path, const char *what, size_t most, char **bytes, size_t *size);
// Parses a number as strtod does in the C locale. *end is its end, or the start of the text. NAN if out of memory.
double pcs_text_number(const char *text, const char **end);
// Writes the first of %.15g, %.16g and %.17g that reads back to the same double, with a decimal point in any locale.
// Returns the length without the ending 0.
enum { PCS_NUMBER_ROOM = 32 }; // bytes that a number needs, its ending 0 included
size_t pcs_number_text(double x, char text[PCS_NUMBER_ROOM]);
// Appends to the text in a buffer of `size` bytes. What does not fit is cut off.
void pcs_text_add(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Gives words to `put` that begin at `column`, in lines up to `width`, with `indent` blanks before further lines; a
// width of 0 breaks none. What is in brackets stays in one line.
void pcs_text_fill(void (*put)(void *user, const char *text), void *user, int width, int column, int indent,
                   const char *text);
// Replaces the decimal sign of the locale, as printed by printf, by a point.
void pcs_text_set_point(char *text);

// Tables of two columns from text files: a time and a value in each line.

// Reads rows [time, value] with rising times, at least one. Numbers are separated by a comma, a semicolon or blanks;
// empty lines, lines that begin with '#' and a first line of names are skipped. Uses memory of the context.
pcs_status pcs_table_read(pcs_context *ctx, const char *path, pcs_list *out);

#endif
