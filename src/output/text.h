// Numbers and names as they stand in result files.

#ifndef PCS_OUTPUT_TEXT_H
#define PCS_OUTPUT_TEXT_H

#include "core/context.h"

enum { PCS_NUMBER_ROOM = 32 }; // bytes that a number needs, its ending 0 included

// Powers of ten for fast conversion; NULL serves as well and is slow.
typedef struct pcs_digits pcs_digits;
pcs_status pcs_digits_create(pcs_context *ctx, pcs_digits **out);

// Writes the first of %.15g, %.16g and %.17g that reads back to the same double, with a decimal point in any locale.
// Returns the length without the ending 0.
size_t pcs_number_text(pcs_digits *digits, double x, char text[PCS_NUMBER_ROOM]);
size_t pcs_integer_text(long x, char text[PCS_NUMBER_ROOM]);

// Writes the next character of `*text`, or its escape in a JSON string, to `piece` without a terminating 0, and moves
// `*text` past it. Returns the number of bytes written.
enum { PCS_JSON_PIECE = 8 };
size_t pcs_json_piece(const char **text, char piece[PCS_JSON_PIECE]);
// Escapes `text` for a JSON string, without the quotes, and replaces bytes that are not UTF-8. Needs at most 6 bytes
// per byte and 1; the rest is cut off. Returns the length.
size_t pcs_json_text(const char *text, size_t room, char *out);

// Replaces everything but letters, digits and '_' by '_', as in names of arrays in VTK files.
size_t pcs_safe_name(const char *text, size_t room, char *out);

#endif
