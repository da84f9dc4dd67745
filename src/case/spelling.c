// The nearest of some names to a misspelt one, by the optimal string alignment distance: insertions,
// deletions, substitutions and swaps of neighbours cost 1; upper and lower case are the same letter.

#include "case/case.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 48 }; // of the names that are offered

static int spelling_min(int a, int b)
{
    return a < b ? a : b;
}

static int spelling_distance(const char *a, int na, const char *b, int nb)
{
    int row[3][LONGEST + 1]; // row i, i-1 and i-2 of the table, i modulo 3
    for (int j = 0; j <= nb; j++) row[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= nb; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            int best = spelling_min(spelling_min(last[j], now[j - 1]) + 1, last[j - 1] + (x != y));
            bool is_swap =
                i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) && y == tolower((unsigned char)a[i - 2]);
            now[j] = is_swap ? spelling_min(best, before[j - 2] + 1) : best;
        }
    }
    return row[na % 3][nb];
}

const char *pcs_join_names(const char *const *names, const char *separator, size_t size, char *buffer)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (int i = 0; names[i] != NULL; i++) {
        if (used >= size) break;
        int length = snprintf(buffer + used, size - used, "%s%s", i == 0 ? "" : separator, names[i]);
        used += length < 0 ? 0 : (size_t)length;
    }
    return buffer;
}

const char *pcs_spelling_hint(const char *name, const char *const *names, size_t size, char *buffer)
{
    size_t length = strlen(name);
    // Short names are near to everything: allow them less.
    int best = length <= 3 ? 2 : 3;
    if (length <= 2) best = 1;
    const char *found = NULL;
    buffer[0] = '\0';
    if (length >= INT_MAX) return buffer;
    for (int i = 0; names[i] != NULL; i++) {
        size_t other = strlen(names[i]);
        if (other > LONGEST) continue;
        int distance = spelling_distance(name, (int)length, names[i], (int)other);
        if (distance < best) {
            best = distance;
            found = names[i];
        }
    }
    if (found != NULL) snprintf(buffer, size, ", did you mean '%s'?", found);
    return buffer;
}
