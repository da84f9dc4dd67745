// Which scheme takes which system, for `percuss list`: every scheme, with its defaults, is asked about every
// closed-form system with its defaults and about a small bar that can hit a wall.

#include "build/build.h"
#include "build/catalogue.h"
#include "closed_form/closed_form.h"

#include <stdio.h>
#include <string.h>

enum { APPLIES_SYSTEMS = 52, APPLIES_REASONS = 40, APPLIES_TEXT = 256 };

typedef struct applies {
    const pcs_catalogue *to;
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

// 0: it takes the system, -1: unknown, else the number of the reason why not.
static int applies_check(applies *k, const pcs_scheme_ops *scheme, const void *params, int system)
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

static void applies_write_text(applies *k)
{
    pcs_catalogue_print(k->to, "\nWhich scheme takes which system (+ yes, ~ with reserve, number: why not)\n  %-28s",
                        "");
    for (int j = 0; j < k->nsystem; j++) pcs_catalogue_print(k->to, " %2c", applies_letter(j));
    for (int i = 0; pcs_schemes[i] != NULL; i++) {
        if (!pcs_catalogue_wants(k->to, pcs_schemes[i]->name)) continue;
        const void *params = applies_params(k, pcs_schemes[i]);
        const char *reserve = applies_reserve(pcs_schemes[i]);
        pcs_catalogue_print(k->to, "\n  %-28s", pcs_schemes[i]->name);
        for (int j = 0; j < k->nsystem; j++) {
            int answer = applies_check(k, pcs_schemes[i], params, j);
            if (answer > 0) pcs_catalogue_print(k->to, " %2d", answer);
            else if (answer < 0) k->to->put(k->to->user, "  ?");
            else k->to->put(k->to->user, reserve == NULL ? "  +" : "  ~");
        }
        if (reserve != NULL) pcs_catalogue_print(k->to, "  ~ %s", reserve);
    }
    k->to->put(k->to->user, "\n");
    for (int j = 0; j < k->nsystem; j++) pcs_catalogue_print(k->to, "      %c  %s\n", applies_letter(j), k->names[j]);
    for (int j = 0; j < k->nreason; j++) pcs_catalogue_print(k->to, "     %2d  %s\n", j + 1, k->reasons[j]);
}

static void applies_write_names(applies *k, const int *answers, int wanted)
{
    for (int j = 0, told = 0; j < k->nsystem; j++)
        if (answers[j] == wanted) pcs_catalogue_print(k->to, "%s%s", told++ == 0 ? "" : ", ", k->names[j]);
}

static void applies_write_markdown(applies *k)
{
    k->to->put(k->to->user,
               "\n## Which scheme takes which system\n\n| scheme | takes | refuses | why |\n|---|---|---|---|\n");
    for (int i = 0; pcs_schemes[i] != NULL; i++) {
        if (!pcs_catalogue_wants(k->to, pcs_schemes[i]->name)) continue;
        int answers[APPLIES_SYSTEMS];
        const void *params = applies_params(k, pcs_schemes[i]);
        const char *reserve = applies_reserve(pcs_schemes[i]);
        k->nreason = 0;
        for (int j = 0; j < k->nsystem; j++) answers[j] = applies_check(k, pcs_schemes[i], params, j);
        pcs_catalogue_print(k->to, "| `%s` | ", pcs_schemes[i]->name);
        k->to->put(k->to->user, k->nreason == 0 ? "all" : "the others");
        if (reserve != NULL) pcs_catalogue_print(k->to, " (%s)", reserve);
        k->to->put(k->to->user, " | ");
        for (int r = 0; r < k->nreason; r++) {
            if (r > 0) k->to->put(k->to->user, "; ");
            applies_write_names(k, answers, r + 1);
        }
        k->to->put(k->to->user, " | ");
        for (int r = 0; r < k->nreason; r++) pcs_catalogue_print(k->to, "%s%s", r == 0 ? "" : "; ", k->reasons[r]);
        k->to->put(k->to->user, " |\n");
    }
}

void pcs_catalogue_write_applies(const pcs_catalogue *self)
{
    char model[APPLIES_TEXT];
    bool is_wanted = false;
    for (int i = 0; pcs_schemes[i] != NULL; i++)
        is_wanted = is_wanted || pcs_catalogue_wants(self, pcs_schemes[i]->name);
    applies k = { .to = self };
    if (!is_wanted || pcs_context_create(&k.ctx) != PCS_OK) return;
    for (int i = 0; pcs_closed_forms[i] != NULL; i++) {
        snprintf(model, sizeof model, "system: { type: %s }\n", pcs_closed_forms[i]->name);
        applies_add(&k, pcs_closed_forms[i]->name, model);
    }
    applies_add(&k, "bar", applies_bar);
    if (self->is_markdown) applies_write_markdown(&k);
    else applies_write_text(&k);
    pcs_context_destroy(&k.ctx);
}
