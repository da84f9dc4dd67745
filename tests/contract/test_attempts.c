// A step that is tried again after an attempt that failed is the step that it would have been: mass and directions,
// which an attempt leaves wherever it gave up, are those of the state again.

#include "support/bars.h"
#include "support/check.h"
#include "support/text_case.h"

#include "step/projection.h"

#include <stdio.h>
#include <string.h>

// "theta=0.5 positions=midpoint" as entries of a case.
static void write_options(const char *values, char *out)
{
    for (; *values != '\0'; values++) {
        if (*values == '=') out = strcpy(out, ": ") + 2;
        else if (*values == ' ') out = strcpy(out, ", ") + 2;
        else *out++ = *values;
    }
    *out = '\0';
}

static pcs_status crank_open(const bar_variant *v, double friction, text_case *out)
{
    char text[600], options[200];
    write_options(v->values, options);
    snprintf(text, sizeof text,
             "system: { type: slider_crank, friction: %g }\nscheme: { type: %s, %s }\n"
             "time: { step: 1.0e-4, end: 0.01 }\ncertify: warn\n",
             friction, v->scheme, options);
    return text_case_try(text, out);
}

// What a solver that gives up leaves behind.
static void give_up_elsewhere(pcs_sim *sim)
{
    double q[3];
    for (int i = 0; i < 3; i++) q[i] = sim->state.q[i] + 0.3 + i;
    CHECK(pcs_projection_move(sim->solver, q));
}

static bool compare(const bar_variant *v, double friction)
{
    text_case a, b;
    bool is_taken = crank_open(v, friction, &a) == PCS_OK && crank_open(v, friction, &b) == PCS_OK;
    while (is_taken && !pcs_sim_is_done(a.sim)) {
        text_case_step(&a);
        if (b.sim->has_started) give_up_elsewhere(b.sim);
        text_case_step(&b);
        assert_memory_equal(a.sim->state.q, b.sim->state.q, 3 * sizeof(double));
        assert_memory_equal(a.sim->state.v, b.sim->state.v, 3 * sizeof(double));
    }
    text_case_close(&a);
    if (is_taken) text_case_close(&b);
    return is_taken;
}

TEST(attempts_leave_no_trace)
{
    int ntaken = 0;
    for (int i = 0; i < bar_nvariant; i++) {
        for (int has_friction = 0; has_friction < 2; has_friction++)
            ntaken += compare(&bar_variants[i], has_friction * 0.01);
    }
    CHECK(ntaken > 40);
}
