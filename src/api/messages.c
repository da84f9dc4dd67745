// Messages, line by line with their places: "file:line:column: text".

#include "api/handle.h"

#include <stdlib.h>
#include <string.h>

const char *percuss_message(const percuss *p)
{
    return p == NULL ? "out of memory" : pcs_message(p->ctx);
}

const char *percuss_notes(const percuss *p)
{
    return p == NULL || p->sim == NULL ? "" : pcs_case_notes(p->sim->input);
}

// The number at `from` when ':' follows it; 0: there is none.
static int messages_number(const char *from, const char **end)
{
    char *after;
    if (*from < '0' || *from > '9') return 0;
    long value = strtol(from, &after, 10);
    *end = after + 1;
    return *after == ':' && value > 0 && value < 1000000000 ? (int)value : 0;
}

// Splits one line; a file may have colons in its name.
static void messages_split(const char *line, size_t length, percuss_place *out)
{
    *out = (percuss_place){ .text = line, .text_length = length };
    for (const char *c = memchr(line, ':', length); c != NULL;) {
        const char *rest = NULL, *end = NULL;
        size_t left = length - (size_t)(c + 1 - line), name = (size_t)(c - line);
        int row = messages_number(c + 1, &rest), column = row == 0 ? 0 : messages_number(rest, &end);
        if (column > 0 && end[0] == ' ' && name < sizeof out->file) {
            memcpy(out->file, line, name);
            *out = (percuss_place){ .line = row, .column = column, .text = end + 1 };
            memcpy(out->file, line, name);
            out->text_length = length - (size_t)(end + 1 - line);
            return;
        }
        c = memchr(c + 1, ':', left);
    }
}

int percuss_message_at(const percuss *p, int i, percuss_place *out)
{
    const char *line = percuss_message(p);
    *out = (percuss_place){ .text = "" };
    for (; i > 0 && *line != '\0'; i--) {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    if (i != 0 || *line == '\0') return 0;
    messages_split(line, strcspn(line, "\n"), out);
    return 1;
}
