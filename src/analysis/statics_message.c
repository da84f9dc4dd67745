#include "analysis/statics_message.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double DRIVEN = 1e-6; // work of the loads on a motion, of what they could do at most

static void message_add(size_t size, char *text, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", more);
}

// " at node 17 at (1, 0, 0), direction [0, 1, 0]", or nothing.
static void message_place(const pcs_equilibrium *e, int equation, size_t size, char *text)
{
    text[0] = '\0';
    if (equation < 0 || equation >= e->system->nv) return;
    snprintf(text, size, " at ");
    e->system->ops->describe(e->system, equation, NULL, NULL, size - 4, text + 4);
}

// The row that is farthest from its target in units of round-off, or -1 when all fit.
static int message_worst_row(const pcs_equilibrium *e)
{
    int worst = -1;
    double most = 16.0;
    for (int j = 0; j < e->system->nrow; j++) {
        double error = e->held[j] ? fabs(e->gap[j] - e->target[j]) : fmax(-e->gap[j], 0.0);
        if (e->system->rows[j].is_bilateral && !e->held[j]) continue;
        if (!(error <= most * e->blur[j])) {
            worst = j;
            most = error / e->blur[j];
        }
    }
    return worst;
}

void pcs_statics_describe(const pcs_equilibrium *e, size_t size, char *text)
{
    const pcs_system *s = e->system;
    int worst = 0, row = message_worst_row(e);
    char place[320];
    for (int i = 1; i < s->nv; i++)
        if (!(fabs(e->scale[i] * e->f[i]) <= fabs(e->scale[worst] * e->f[worst]))) worst = i;
    message_place(e, s->nv > 0 ? worst : -1, sizeof place, place);
    double weight = e->weight > 0.0 ? e->weight : 1.0;
    snprintf(text, size,
             "residual %.3g of the loads and internal forces, of which round-off explains %.3g; most, %.3g,%s",
             e->left / weight, e->round_off / weight, s->nv > 0 ? e->f[worst] : 0.0, place);
    if (row < 0) return;
    const pcs_contact_info *contact = &s->contacts[s->rows[row].contact];
    char more[256];
    snprintf(more, sizeof more, "; %s '%s', point %d, is off by %.3g, where round-off explains %.3g",
             contact->is_joint ? "joint" : "contact", contact->name, row - contact->first_row,
             e->held[row] ? e->gap[row] - e->target[row] : e->gap[row], e->blur[row]);
    message_add(size, text, more);
}

pcs_status pcs_statics_loose(const pcs_equilibrium *e, const char *ending)
{
    char text[1024];
    pcs_rigid_text(&e->rigid, sizeof text, text);
    return pcs_fail(e->ctx, PCS_BAD_INPUT,
                    "the model is free to move: %s; a static analysis needs supports or joints that prevent this%s",
                    text[0] == '\0' ? "its stiffness matrix is singular" : text, ending);
}

// Do the loads do work on one of the rigid motions?
static bool message_is_driven(const pcs_equilibrium *e)
{
    const int n = e->system->nv;
    for (int k = 0; k < e->rigid.count; k++) {
        const double *x = e->rigid.vector + (size_t)k * (size_t)n;
        double work = 0.0, most = 0.0, fastest = pcs_equilibrium_stride(e, x);
        for (int i = 0; i < n; i++) {
            work += e->loads[i] * x[i];
            most += fabs(e->loads[i]) * e->system->scale.model[i] * fastest;
        }
        if (fabs(work) > DRIVEN * most) return true;
    }
    return false;
}

static pcs_status message_singular(const pcs_equilibrium *e)
{
    char where[320];
    bool has_small = e->system->is_linear && pcs_system_is_mesh(e->system) && !e->has_friction;
    message_place(e, e->bad_equation, sizeof where, where);
    return pcs_fail(
        e->ctx, PCS_BAD_INPUT, "the stiffness matrix is singular%s: something there moves freely%s%s", where,
        e->has_friction ? ", and friction does not hold it ('statics: { friction: false }' leaves it out)" : "",
        has_small ? "; where tension shall hold it, it takes elements for large displacements, rod_large_2d "
                    "instead of rod_2d, beam_exact_2d instead of beam_timo_2d"
                  : "");
}

const char *pcs_statics_reason(pcs_statics_outcome outcome)
{
    static const char *const reasons[] = { "", "Newton's iteration did not settle",
                                           "the tangent stiffness matrix is singular", "nothing stops a motion",
                                           "the state runs away" };
    return reasons[outcome];
}

// Writes the advice: a path by arc length if the softest motion has lost nine tenths of its stiffness, else more steps.
static void message_advice(const pcs_equilibrium *e, const pcs_statics_trouble *t, size_t size, char *text)
{
    char place[320];
    text[0] = '\0';
    if (t->softening < 0.1) {
        message_place(e, t->softest, sizeof place, place);
        double left = 100.0 * fmax(t->softening, 0.0);
        snprintf(
            text, size,
            "; the softest motion, largest%s, has %.0f %% of its stiffness left: the model buckles or snaps through "
            "there, where a rising load cannot follow it; say 'statics: { path: arc }', or let the model move with "
            "damping",
            place, left);
        return;
    }
    snprintf(text, size, "; the load may be beyond what the model can carry, or too much at once: try more --steps");
}

pcs_status pcs_statics_complain(const pcs_equilibrium *e, const pcs_statics_trouble *t)
{
    char where[320], advice[768];
    if (t->outcome == PCS_STATICS_LOOSE) return pcs_statics_loose(e, ", and no contact stops it");
    if (t->outcome == PCS_STATICS_SINGULAR && (e->system->is_linear || e->has_friction)) return message_singular(e);
    if (t->is_loose && t->last == 0.0) {
        if (t->outcome == PCS_STATICS_DIVERGED ? e->rigid.count > 0 : message_is_driven(e))
            return pcs_statics_loose(e, ": the loads drive it on, and no contact or tension stops it");
        if (t->outcome == PCS_STATICS_SINGULAR) return message_singular(e);
    }
    message_place(e, e->bad_equation, sizeof where, where);
    message_advice(e, t, sizeof advice, advice);
    return pcs_fail(e->ctx, PCS_FAILED, "no equilibrium at load factor %.6g, the last one is at %.6g: %s%s (%s)%s",
                    t->next, t->last, pcs_statics_reason(t->outcome), where, t->residual, advice);
}
