// Which scheme takes which system, for `percuss list`: every scheme, with its defaults, is asked about every
// closed-form system with its defaults and about a small bar that can hit a wall.

#include "build/build.h"
#include "build/sections.h"
#include "closed_form/closed_form.h"

#include <stdio.h>
#include <string.h>

enum { APPLIES_SYSTEMS = 52, APPLIES_REASONS = 40, APPLIES_TEXT = 256 };

typedef struct applies {
    FILE *out;
    pcs_context *ctx;
    int nsystem, nreason;
    const char *names[APPLIES_SYSTEMS];
    const pcs_system *systems[APPLIES_SYSTEMS]; // NULL: could not be built
    const char *reasons[APPLIES_REASONS];
} applies;

static const char applies_bar[] = "mesh: { bar: { type: line, from: [1, 0, 0], to: [2, 0, 0], elements: 4 } }\n"
                                  "elements: { bar: { type: rod, mesh: bar, E: 1.0, rho: 1.0, area: 1.0 } }\n"
                                  "contacts: { wall: { type: node_plane, nodes: bar.start, point: [0, 0, 0], normal: "
                                  "[1, 0, 0], restitution: 0.0 } }\n";
static const char applies_rest[] = "scheme: { type: moreau_jean, theta: 0.5 }\n" // takes everything
                                   "time: { step: 1.0e-6, end: 1.0 }\n";

static void applies_add(applies *k, const char *name, const char *model)
{
    char text[4 * APPLIES_TEXT];
    pcs_case *c = NULL;
    pcs_sim *sim = NULL;
    if (k->nsystem == APPLIES_SYSTEMS) return;
    int length = snprintf(text, sizeof text, "%s%s", model, applies_rest);
    pcs_status status = pcs_case_parse(k->ctx, name, text, (size_t)length, &c);
    if (status == PCS_OK) status = pcs_build_sim(k->ctx, c, &sim);
    k->names[k->nsystem] = name;
    k->systems[k->nsystem++] = status == PCS_OK ? sim->system : NULL;
}

// Default parameters of a scheme; what must be given is absent. NULL when memory is out.
static void *applies_params(applies *k, const pcs_scheme_ops *scheme)
{
    pcs_case *c = NULL;
    void *params = pcs_take(k->ctx, scheme->params_size == 0 ? 1 : scheme->params_size, 1, "parameters");
    if (params == NULL || pcs_case_parse(k->ctx, scheme->name, "{}\n", 3, &c) != PCS_OK) return NULL;
    pcs_case_read(c, pcs_case_root(c), scheme->options, params);
    return params;
}

// Number of a reason from 1, a new one when it has not been told yet.
static int applies_number(applies *k, const char *reason)
{
    int i = 0;
    while (i < k->nreason && strcmp(k->reasons[i], reason) != 0) i++;
    if (i == APPLIES_REASONS) return i;
    if (i == k->nreason) k->reasons[k->nreason++] = reason;
    return i + 1;
}

// 0: it takes the system, -1: nobody knows, else the number of the reason why not.
static int applies_ask(applies *k, const pcs_scheme_ops *scheme, const void *params, int system)
{
    if (k->systems[system] == NULL || params == NULL) return -1;
    const char *reason = pcs_scheme_refuses(scheme, k->systems[system], params);
    return reason == NULL ? 0 : applies_number(k, reason);
}

// What to know of a scheme that takes systems whose laws it does not all obey.
static const char *applies_reserve(const pcs_scheme_ops *scheme)
{
    if (scheme->ignores_restitution) return "contacts press, without a law of impact: energy may grow";
    if (scheme->lets_contacts_sink) return "lasting contacts sink: penetration is reported, not judged";
    return NULL;
}

static char applies_letter(int system)
{
    return (char)(system < 26 ? 'a' + system : 'A' + system - 26);
}

static void applies_write_text(applies *k, const char *name)
{
    fprintf(k->out, "\nWhich scheme takes which system (+ yes, ~ with reserve, number: why not)\n  %-28s", "");
    for (int j = 0; j < k->nsystem; j++) fprintf(k->out, " %2c", applies_letter(j));
    for (int i = 0; pcs_schemes[i] != NULL; i++) {
        if (name != NULL && strcmp(name, pcs_schemes[i]->name) != 0) continue;
        const void *params = applies_params(k, pcs_schemes[i]);
        const char *reserve = applies_reserve(pcs_schemes[i]);
        fprintf(k->out, "\n  %-28s", pcs_schemes[i]->name);
        for (int j = 0; j < k->nsystem; j++) {
            int answer = applies_ask(k, pcs_schemes[i], params, j);
            if (answer > 0) fprintf(k->out, " %2d", answer);
            else fprintf(k->out, " %2c", answer < 0 ? '?' : reserve == NULL ? '+' : '~');
        }
        if (reserve != NULL) fprintf(k->out, "  ~ %s", reserve);
    }
    fputs("\n", k->out);
    for (int j = 0; j < k->nsystem; j++) fprintf(k->out, "      %c  %s\n", applies_letter(j), k->names[j]);
    for (int j = 0; j < k->nreason; j++) fprintf(k->out, "     %2d  %s\n", j + 1, k->reasons[j]);
}

static void applies_write_names(applies *k, const int *answers, int wanted)
{
    for (int j = 0, told = 0; j < k->nsystem; j++)
        if (answers[j] == wanted) fprintf(k->out, "%s%s", told++ == 0 ? "" : ", ", k->names[j]);
}

static void applies_write_markdown(applies *k, const char *name)
{
    fputs("\n## Which scheme takes which system\n\n| scheme | takes | refuses | why |\n|---|---|---|---|\n", k->out);
    for (int i = 0; pcs_schemes[i] != NULL; i++) {
        if (name != NULL && strcmp(name, pcs_schemes[i]->name) != 0) continue;
        int answers[APPLIES_SYSTEMS];
        const void *params = applies_params(k, pcs_schemes[i]);
        const char *reserve = applies_reserve(pcs_schemes[i]);
        k->nreason = 0;
        for (int j = 0; j < k->nsystem; j++) answers[j] = applies_ask(k, pcs_schemes[i], params, j);
        fprintf(k->out, "| `%s` | ", pcs_schemes[i]->name);
        fputs(k->nreason == 0 ? "all" : "the others", k->out);
        if (reserve != NULL) fprintf(k->out, " (%s)", reserve);
        fputs(" | ", k->out);
        for (int r = 0; r < k->nreason; r++) {
            if (r > 0) fputs("; ", k->out);
            applies_write_names(k, answers, r + 1);
        }
        fputs(" | ", k->out);
        for (int r = 0; r < k->nreason; r++) fprintf(k->out, "%s%s", r == 0 ? "" : "; ", k->reasons[r]);
        fputs(" |\n", k->out);
    }
}

void pcs_catalogue_applies(FILE *out, const char *name, bool is_markdown)
{
    char model[APPLIES_TEXT];
    bool is_asked = name == NULL;
    for (int i = 0; pcs_schemes[i] != NULL && !is_asked; i++) is_asked = strcmp(name, pcs_schemes[i]->name) == 0;
    applies k = { .out = out };
    if (!is_asked || pcs_context_create(&k.ctx) != PCS_OK) return;
    for (int i = 0; pcs_closed_forms[i] != NULL; i++) {
        snprintf(model, sizeof model, "system: { type: %s }\n", pcs_closed_forms[i]->name);
        applies_add(&k, pcs_closed_forms[i]->name, model);
    }
    applies_add(&k, "bar", applies_bar);
    if (is_markdown) applies_write_markdown(&k, name);
    else applies_write_text(&k, name);
    pcs_context_destroy(&k.ctx);
}
