#define _XOPEN_SOURCE 700 // realpath

#include "study/functions.h"
#include "case/json.h"
#include "core/rotation.h"
#include "core/text.h"
#include "plot/source.h"
#include "study/signal.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_OF_A_WINDOW = 10 };

struct pcs_function {
    const char *name, *usage, *help;
    const char *kinds; // of its arguments: c column, k contact, n number, p table
    int needed;        // arguments
    pcs_status (*value)(pcs_measure_source *s, const pcs_function_call *call, double *out);
};

static pcs_status function_history(pcs_measure_source *s, const char *column, double empty, pcs_signal *out)
{
    char *path = s->history == NULL ? pcs_source_join(s->ctx, s->folder, "history.csv") : NULL;
    if (s->history == NULL && path == NULL) return PCS_NO_MEMORY;
    if (s->history == NULL) PCS_TRY(pcs_csv_read(s->ctx, path, false, &s->history));
    return pcs_signal_read(s->ctx, s->history, column, empty, out);
}

static pcs_status function_at(pcs_measure_source *s, const pcs_function_call *call, double *out)
{
    pcs_signal signal;
    PCS_TRY(function_history(s, call->texts[0], NAN, &signal));
    *out = pcs_signal_at(&signal, call->numbers[1]);
    return PCS_OK;
}

// The number behind "point "; false: the text is something else.
static bool function_is_point(const char *text, long *point)
{
    static const char word[] = "point ";
    char *end;
    if (strncmp(text, word, strlen(word)) != 0) return false;
    *point = strtol(text + strlen(word), &end, 10);
    return end != text + strlen(word) && *end == '\0';
}

// The table that a run is compared with; NULL: its run is not there.
static pcs_status function_table(const pcs_measure_source *s, const char *where, char **out)
{
    long point;
    char folder[PCS_FUNCTION_TEXT];
    *out = NULL;
    if (!function_is_point(where, &point)) return pcs_source_table(s->ctx, where, out);
    if (point < 0 || point >= s->plan->npoint)
        return pcs_fail(s->ctx, PCS_BAD_INPUT, "there is no point %ld: the study has points 0 to %d", point,
                        s->plan->npoint - 1);
    if (s->runs == NULL) return PCS_OK;
    const pcs_run *run = &s->runs[point * s->plan->nlevel + s->level];
    if (run->end != PCS_RUN_DONE && run->end != PCS_RUN_KEPT) return PCS_OK;
    snprintf(folder, sizeof folder, "%s/runs/%s", s->directory, run->name);
    return pcs_source_table(s->ctx, folder, out);
}

static pcs_status function_rms(pcs_measure_source *s, const pcs_function_call *call, double *out)
{
    pcs_signal own, other;
    pcs_csv *csv = NULL;
    char *path;
    PCS_TRY(function_history(s, call->texts[0], NAN, &own));
    PCS_TRY(function_table(s, call->texts[1], &path));
    *out = NAN;
    if (path == NULL) return PCS_OK;
    PCS_TRY(pcs_csv_read(s->ctx, path, false, &csv));
    PCS_TRY(pcs_signal_read(s->ctx, csv, call->texts[call->count == 3 ? 2 : 0], NAN, &other));
    *out = pcs_signal_rms(&own, &other);
    return PCS_OK;
}

// Steps from the row before to this one.
static double function_steps(const pcs_csv *csv, int row)
{
    int column = pcs_csv_find(csv, "step");
    const double *steps = column < 0 ? NULL : pcs_csv_column(csv, column);
    return steps == NULL || row == 0 ? 1.0 : steps[row] - steps[row - 1];
}

// The mean over a window is as good as the impulses within it: those of every step, or of many rows.
static pcs_status function_demand_window(const pcs_measure_source *s, const pcs_signal *impulses, double window)
{
    const double *t = pcs_csv_column(s->history, 0);
    for (int k = 1; k < s->history->nrow && k < impulses->count; k++) {
        double steps = function_steps(s->history, k), apart = t[k] - t[k - 1];
        if (steps > 1.0 && impulses->x[k] != 0.0 && window < (1.0 - 1e-9) * ROWS_OF_A_WINDOW * apart)
            return pcs_fail(s->ctx, PCS_BAD_INPUT,
                            "a mean over %g s needs rows of history.csv at most %.3g s apart, they are %.3g s (%.0f "
                            "steps) apart at t = %.6g s: let output.history.every be 1",
                            window, window / ROWS_OF_A_WINDOW, apart, steps, t[k]);
    }
    return PCS_OK;
}

// Between rows that leave steps out nothing is known of a momentum that a contact changes.
static pcs_status function_demand_row(const pcs_measure_source *s, const char *contact, double time)
{
    const double *t = pcs_csv_column(s->history, 0);
    int nrow = s->history->nrow, k = 0;
    double slack = nrow == 0 ? 0.0 : 1e-9 * fabs(t[nrow - 1] - t[0]);
    while (k < nrow && t[k] < time - slack) k++;
    if (k == 0 || k == nrow || t[k] <= time + slack || function_steps(s->history, k) <= 1.0) return PCS_OK;
    return pcs_fail(s->ctx, PCS_BAD_INPUT,
                    "history.csv has no row at t = %.6g s, where '%s' closes or opens; those beside it are %.0f steps "
                    "apart: let output.history.every be 1",
                    time, contact, function_steps(s->history, k));
}

static pcs_status function_filtered_peak(pcs_measure_source *s, const pcs_function_call *call, double *out)
{
    char column[PCS_FUNCTION_TEXT + 16];
    pcs_signal impulses;
    if (!(call->numbers[1] > 0.0))
        return pcs_fail(s->ctx, PCS_BAD_INPUT, "the window of filtered_peak must be > 0, is %g", call->numbers[1]);
    snprintf(column, sizeof column, "%s.step_impulse", call->texts[0]);
    PCS_TRY(function_history(s, column, 0.0, &impulses));
    PCS_TRY(function_demand_window(s, &impulses, call->numbers[1]));
    return pcs_signal_filtered_peak(s->ctx, &impulses, call->numbers[1], out);
}

// The first interval of a contact; NAN: it had none, or has not ended.
typedef struct function_contact {
    double times[2]; // s, of its beginning and end
    double impulse;  // N s
} function_contact;

static pcs_status function_interval(const pcs_measure_source *s, const char *contact, function_contact *out)
{
    *out = (function_contact){ .times = { NAN, NAN }, .impulse = NAN };
    const pcs_yaml *list = pcs_json_at(s->summary, "contacts"), *found = NULL;
    for (int i = 0; list != NULL && i < pcs_yaml_count(list) && found == NULL; i++)
        if (strcmp(pcs_json_string(pcs_yaml_item(list, i), "name"), contact) == 0) found = pcs_yaml_item(list, i);
    if (found == NULL) return pcs_fail(s->ctx, PCS_BAD_INPUT, "there is no contact '%s'", contact);
    double count = pcs_json_number(found, "interval_count");
    bool lasts = count == 1.0 && strcmp(pcs_json_string(found, "is_touching_at_end"), "true") == 0;
    if (!(count > 0.0) || lasts) return PCS_OK;
    const pcs_yaml *first = pcs_yaml_item(pcs_json_at(found, "intervals"), 0);
    out->times[0] = pcs_json_number(first, "start");
    out->times[1] = pcs_json_number(first, "end");
    out->impulse = pcs_json_number(first, "total_impulse");
    return PCS_OK;
}

// What a contact between two bodies leaves to the momentum of the model is round-off.
static pcs_status function_demand_change(const pcs_measure_source *s, const char *contact, double impulse,
                                         const double before[3], const double after[3])
{
    double change[3];
    for (int k = 0; k < 3; k++) change[k] = after[k] - before[k];
    if (!(pcs_norm3(change) <= 1e-9 * impulse + 1e-13 * pcs_norm3(before))) return PCS_OK;
    return pcs_fail(s->ctx, PCS_BAD_INPUT,
                    "'%s' leaves the momentum of the model as it is: between two bodies name a column, "
                    "restitution(%s, a.vx - b.vx), with probes of their centres",
                    contact, contact);
}

static pcs_status function_restitution(pcs_measure_source *s, const pcs_function_call *call, double *out)
{
    static const char *const momenta[] = { "momentum_x", "momentum_y", "momentum_z" };
    double value[2][3] = { { 0.0 } }, before = 0.0, after = 0.0;
    bool is_column = call->count == 2;
    function_contact first;
    *out = NAN;
    PCS_TRY(function_interval(s, call->texts[0], &first));
    for (int k = 0; k < (is_column ? 1 : 3); k++) {
        pcs_signal signal;
        PCS_TRY(function_history(s, is_column ? call->texts[1] : momenta[k], NAN, &signal));
        for (int i = 0; i < 2; i++) {
            PCS_TRY(function_demand_row(s, call->texts[0], first.times[i]));
            value[i][k] = pcs_signal_at(&signal, first.times[i]);
        }
        before += value[0][k] * (is_column ? 1.0 : value[1][k] - value[0][k]);
        after += value[1][k] * (is_column ? 1.0 : value[1][k] - value[0][k]);
    }
    if (!is_column) PCS_TRY(function_demand_change(s, call->texts[0], first.impulse, value[0], value[1]));
    if (before != 0.0) *out = -after / before;
    return PCS_OK;
}

// Name, usage and help, which begins with the usage.
#define FUNCTION_TEXTS(name, usage, help) name, usage, usage ": " help

static const pcs_function functions[] = {
    { FUNCTION_TEXTS("at", "at(column, time)", "value of a column of history.csv, linear between rows"), "cn", 2,
      function_at },
    { FUNCTION_TEXTS("rms", "rms(column, table[, column of the table])",
                     "root of the mean square over the common times of the difference to a CSV file, a folder of "
                     "results or `point N` of the study"),
      "cpc", 2, function_rms },
    { FUNCTION_TEXTS("filtered_peak", "filtered_peak(contact, window)",
                     "largest mean force over any time of the length `window`, s"),
      "kn", 2, function_filtered_peak },
    { FUNCTION_TEXTS("restitution", "restitution(contact[, column])",
                     "of the centre of the model, or of a column, over the first interval of a contact"),
      "kc", 1, function_restitution },
};

enum { NFUNCTION = sizeof functions / sizeof *functions };

pcs_study_key pcs_study_function(int i)
{
    if (i >= NFUNCTION) return (pcs_study_key){ .name = NULL };
    return (pcs_study_key){ .name = functions[i].name, .summary = functions[i].help };
}

static const pcs_function *function_find(const char *name, size_t length)
{
    for (int i = 0; i < NFUNCTION; i++)
        if (strlen(functions[i].name) == length && strncmp(functions[i].name, name, length) == 0) return &functions[i];
    return NULL;
}

// Length of a name at the start of the text that an opening bracket follows, and where that stands.
static size_t function_name(const char *text, const char **bracket)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_' || text[length] == '.') length++;
    *bracket = text + length + strspn(text + length, " ");
    return **bracket == '(' ? length : 0;
}

// An argument without the blanks and quotes round it.
static bool function_copy(const char *text, size_t length, char out[PCS_FUNCTION_TEXT])
{
    while (length > 0 && *text == ' ') text++, length--;
    while (length > 0 && text[length - 1] == ' ') length--;
    bool is_quoted = length > 1 && (*text == '\'' || *text == '"') && text[length - 1] == *text;
    if (is_quoted) text++, length -= 2;
    if (length == 0 || length >= PCS_FUNCTION_TEXT) return false;
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

pcs_status pcs_function_parse(pcs_context *ctx, const char *text, pcs_function_call *out, size_t *length)
{
    const char *p;
    size_t name = function_name(text, &p);
    *length = 0;
    out->count = 0;
    out->function = name == 0 ? NULL : function_find(text, name);
    if (out->function == NULL) return PCS_OK;
    bool is_fine = true;
    for (bool goes_on = true; goes_on && is_fine;) {
        size_t n = pcs_text_part(++p, ",)", "()");
        is_fine = out->count < (int)strlen(out->function->kinds) && function_copy(p, n, out->texts[out->count]);
        out->count++;
        p += n;
        goes_on = *p == ',';
    }
    *length = (size_t)(p - text) + 1;
    if (is_fine && *p == ')' && out->count >= out->function->needed) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT, "wanted is %s, this is '%.80s'", out->function->usage, text);
}

bool pcs_function_takes_number(const pcs_function_call *call, int argument)
{
    return call->function->kinds[argument] == 'n';
}

pcs_status pcs_function_value(pcs_measure_source *s, const pcs_function_call *call, double *out)
{
    return call->function->value(s, call, out);
}

// Steps over a name, or over one other character.
static size_t function_step(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_' || text[length] == '.') length++;
    return length == 0 ? 1 : length;
}

bool pcs_function_is_used(const char *text)
{
    for (const char *bracket; *text != '\0'; text += function_step(text)) {
        size_t length = function_name(text, &bracket);
        if (length > 0 && function_find(text, length) != NULL) return true;
    }
    return false;
}

// The absolute path of a table; `point N` stays.
static pcs_status function_path(pcs_context *ctx, const char *folder, const char *text, char path[PATH_MAX])
{
    long point;
    char joined[2 * PCS_FUNCTION_TEXT];
    bool is_plain = text[0] == '/' || folder == NULL;
    if (function_is_point(text, &point)) {
        snprintf(path, PATH_MAX, "%s", text);
        return PCS_OK;
    }
    snprintf(joined, sizeof joined, "%s%s%s", is_plain ? "" : folder, is_plain ? "" : "/", text);
    if (realpath(joined, path) != NULL) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT, "there is no table or folder '%s'", joined);
}

// A call with its table replaced, in quotes.
static pcs_status function_relocate(pcs_context *ctx, const char *folder, const pcs_function_call *call, size_t room,
                                    char *out)
{
    char path[PATH_MAX];
    size_t used = (size_t)snprintf(out, room, "%s(", call->function->name);
    for (int i = 0; i < call->count && used < room; i++) {
        bool is_table = call->function->kinds[i] == 'p';
        if (is_table) PCS_TRY(function_path(ctx, folder, call->texts[i], path));
        const char *quote = is_table ? "'" : "";
        if (is_table && strchr(path, '\'') != NULL) quote = "\"";
        used += (size_t)snprintf(out + used, room - used, "%s%s%s%s", i == 0 ? "" : ", ", quote,
                                 is_table ? path : call->texts[i], quote);
    }
    if (used < room) used += (size_t)snprintf(out + used, room - used, ")");
    return used < room ? PCS_OK : pcs_fail(ctx, PCS_BAD_INPUT, "'%.60s...' is too long", out);
}

pcs_status pcs_function_locate(pcs_context *ctx, const char *folder, const char *text, const char **out)
{
    enum { ROOM = 4 * PCS_FUNCTION_TEXT };
    pcs_function_call *call;
    char *whole;
    size_t used = 0;
    *out = text;
    if (!pcs_function_is_used(text)) return PCS_OK;
    PCS_TAKE(ctx, call, 1, "a measure");
    PCS_TAKE(ctx, whole, ROOM, "a measure");
    while (*text != '\0') {
        size_t length;
        PCS_TRY(pcs_function_parse(ctx, text, call, &length));
        if (length > 0) PCS_TRY(function_relocate(ctx, folder, call, ROOM - used, whole + used));
        if (length == 0) {
            length = function_step(text);
            snprintf(whole + used, ROOM - used, "%.*s", (int)length, text);
        }
        used += strlen(whole + used);
        if (used + 1 >= ROOM) return pcs_fail(ctx, PCS_BAD_INPUT, "'%.60s...' is too long", whole);
        text += length;
    }
    *out = whole;
    return PCS_OK;
}
