// Options of the implicit schemes that do not go together, and systems that they do not take.

#include "support/bars.h"
#include "support/check.h"

#include <string.h>

static const pcs_scheme_ops *find(const char *name)
{
    for (int i = 0; pcs_schemes[i] != NULL; i++)
        if (strcmp(pcs_schemes[i]->name, name) == 0) return pcs_schemes[i];
    fail_msg("no scheme '%s'", name);
    return NULL;
}

static const char *fault(model *m, const char *scheme, const char *values, const char **option)
{
    const pcs_scheme_ops *ops = find(scheme);
    return ops->check(model_params(m->ctx, ops->options, ops->params_size, values), option);
}

TEST(unsound_parameters_are_named)
{
    const char *option;
    model *m = bar_create(false);
    CHECK(fault(m, "newmark", "gamma=0.5", &option) == NULL);
    CHECK(fault(m, "newmark", "gamma=0.6 beta=0.3025", &option) == NULL);
    CHECK_TEXT(fault(m, "newmark", "gamma=0.9 beta=0.44", &option), "gamma/2");
    assert_string_equal(option, "beta");
    CHECK(fault(m, "jump_newmark", "gamma=0.5", &option) == NULL);
    CHECK(fault(m, "jump_newmark", "rho_inf=0.5", &option) == NULL);
    CHECK_TEXT(fault(m, "jump_newmark", "", &option), "give gamma or rho_inf");
    CHECK_TEXT(fault(m, "jump_newmark", "gamma=0.5 rho_inf=1", &option), "give one");
    assert_string_equal(option, "gamma");
    CHECK_TEXT(fault(m, "jump_newmark", "rho_inf=1 beta=0.3", &option), "goes with gamma");
    CHECK_TEXT(fault(m, "jump_newmark", "gamma=0.9 beta=0.3", &option), "gamma/2");
    assert_string_equal(option, "beta");
    model_destroy(&m);
}

TEST(friction_is_refused_where_it_has_no_law)
{
    model *m = bar_create(false);
    const pcs_scheme_ops *index3 = find("alpha_index3"), *ggl = find("alpha_ggl");
    pcs_row row = { .friction = 0.0 };
    pcs_system system = { .nrow = 1, .rows = &row };
    void *plain = model_params(m->ctx, ggl->options, ggl->params_size, "variant=ggl");
    void *modified = model_params(m->ctx, ggl->options, ggl->params_size, "variant=modified_lcp");
    CHECK(index3->refuses(&system, NULL) == NULL && ggl->refuses(&system, modified) == NULL);
    row.friction = 0.1;
    CHECK_TEXT(index3->refuses(&system, NULL), "friction");
    CHECK_TEXT(ggl->refuses(&system, modified), "friction");
    CHECK(ggl->refuses(&system, plain) == NULL);
    model_destroy(&m);
}
