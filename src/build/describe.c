// What was built, in words: the answer of `check`, and questions about values that are possible and unlikely.

#include "build/build.h"
#include "build/sections.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

// Appends to a text and gives its new length; what does not fit is left off.
__attribute__((format(printf, 4, 5))) static size_t describe_add(size_t used, size_t size, char *text,
                                                                 const char *format, ...)
{
    va_list list;
    if (used + 1 >= size) return used;
    va_start(list, format);
    int length = vsnprintf(text + used, size - used, format, list);
    va_end(list);
    if (length < 0) return used;
    return used + (size_t)length < size ? used + (size_t)length : size - 1;
}

void pcs_describe_sim(const pcs_sim *sim, size_t size, char *text)
{
    const pcs_system *system = sim->system;
    int npoint = 0, njoint = 0, ncondition = 0;
    for (int c = 0; c < system->ncontact; c++) {
        bool is_joint = pcs_is_joint(system, c);
        njoint += is_joint;
        *(is_joint ? &ncondition : &npoint) += pcs_contact_npoint(system, c);
    }
    size_t used = describe_add(0, size, text, "%d dofs, %d contact point%s, ", pcs_system_ndof(system), npoint,
                               npoint == 1 ? "" : "s");
    if (njoint > 0)
        used = describe_add(used, size, text, "%d joint%s of %d condition%s, ", njoint, njoint == 1 ? "" : "s",
                            ncondition, ncondition == 1 ? "" : "s");
    if (sim->scheme == NULL) {
        describe_add(used, size, text, "enough for statics and modes; a run needs 'scheme' and 'time', too");
        return;
    }
    used = describe_add(used, size, text, "%s, ", sim->scheme->ops->name);
    if (sim->view.is_controlled) describe_add(used, size, text, "steps of controlled size");
    else describe_add(used, size, text, "%ld steps of %g s", sim->nstep, sim->step_size);
}

// Steel, with a modulus in GPa or MPa. Waves of a few metres a second are no error: rubber has them, and other units.
static bool describe_is_odd_steel(double E, double rho)
{
    return rho >= 7000.0 && rho <= 9000.0 && E < 1e6;
}

pcs_status pcs_build_questions(pcs_build *b)
{
    enum { ROOM = 512 };
    for (int g = 0; g < b->model.ngroup; g++) {
        const pcs_fe_group *group = &b->model.groups[g];
        double E, rho;
        if (group->ops == NULL || !pcs_build_real(group->ops->options, group->params, "E", &E) ||
            !pcs_build_real(group->ops->options, group->params, "rho", &rho) || !describe_is_odd_steel(E, rho))
            continue;
        char *text = pcs_take(b->ctx, ROOM, 1, "a question");
        if (text == NULL) return PCS_NO_MEMORY;
        snprintf(text, ROOM,
                 "elements.%.80s: E = %g with rho = %g: waves would travel at %.3g m/s. Is E meant in GPa or MPa? In "
                 "N/m^2 that of steel is 2.1e11",
                 group->name, E, rho, sqrt(E / rho));
        b->sim->view.question = text;
        return PCS_OK;
    }
    return PCS_OK;
}
