#include "still.h"

#include "build/build.h"
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void still_assign(pcs_context *ctx, pcs_case *c, const char *assignments)
{
    char text[512];
    while (assignments != NULL && *assignments != '\0') {
        size_t length = strcspn(assignments, ";");
        CHECK(length < sizeof text);
        memcpy(text, assignments, length);
        text[length] = '\0';
        CHECK_OK(ctx, pcs_case_set(c, text));
        assignments += length + (assignments[length] == ';');
        while (*assignments == ' ') assignments++;
    }
}

still still_open(const char *text, const char *assignments)
{
    still s = { 0 };
    pcs_case *c = NULL;
    CHECK_OK(NULL, pcs_context_create(&s.ctx));
    CHECK_OK(s.ctx, pcs_case_parse(s.ctx, "still", text, strlen(text), &c));
    still_assign(s.ctx, c, assignments);
    CHECK_OK(s.ctx, pcs_build_analysis_of(s.ctx, &(pcs_source){ .loaded = c }, &s.on));
    return s;
}

still still_print(const char *text, const char *format, ...)
{
    char printed[2048];
    va_list rest;
    va_start(rest, format);
    CHECK((size_t)vsnprintf(printed, sizeof printed, format, rest) < sizeof printed);
    va_end(rest);
    return text == NULL ? still_open(printed, NULL) : still_open(text, printed);
}

void still_close(still *s)
{
    pcs_context_destroy(&s->ctx);
}

pcs_modes still_modes(still *s, int count, pcs_eigen_method method)
{
    pcs_modes modes;
    pcs_modes_options options = { .count = count, .method = method };
    CHECK_OK(s->ctx, pcs_modes_find(&s->on, &options, &modes));
    return modes;
}

pcs_statics still_statics(still *s, int steps, double *q)
{
    pcs_statics statics;
    pcs_statics_options options = { .steps = steps, .may_be_unstable = true };
    CHECK_OK(s->ctx, pcs_statics_solve(&s->on, &options, q, NULL, NULL, &statics));
    CHECK(statics.factor == 1.0);
    return statics;
}

double still_probe(const still *s, const char *column, const double *q)
{
    double zero[4096] = { 0 };
    CHECK(s->on.system->nv <= 4096);
    for (int i = 0; i < s->on.nprobe; i++)
        if (strcmp(s->on.probes[i].column, column) == 0)
            return s->on.system->ops->probe(s->on.system, &s->on.probes[i], pcs_at(0.0, q, zero));
    bool there_is_such_a_probe = false;
    CHECK(there_is_such_a_probe);
    return 0.0;
}
