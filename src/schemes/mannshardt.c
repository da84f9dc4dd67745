// Higher order through localisation: an explicit Runge-Kutta method of order p in smooth motion, a Moreau step in a
// small interval round each event. Mannshardt (1978) for discontinuous equations; Acary, lecture slides, for impacts.
//
// Steps, events and their intervals: event.h, with a width of C h (V h/L)^p, V the largest gap rate so far. A rebound
// that would fly for no more than a few such intervals is rest, so that accumulations end.

#include "schemes/event.h"

#include <math.h>

enum { MOST_EVENTS = 100000 };

enum { HERK2, KUTTA3, RK4, FEHLBERG5 };
static const char *const mann_methods[] = { "herk2", "kutta3", "rk4", "fehlberg5", NULL };
static const pcs_tableau *const mann_tableaus[] = { [HERK2] = &pcs_tableau_herk2,
                                                    [KUTTA3] = &pcs_tableau_kutta3,
                                                    [RK4] = &pcs_tableau_rk4,
                                                    [FEHLBERG5] = &pcs_tableau_fehlberg5 };
static const int mann_orders[] = { [HERK2] = 2, [KUTTA3] = 3, [RK4] = 4, [FEHLBERG5] = 5 };

typedef struct mann_params {
    int method;
    double width;
} mann_params;

static const pcs_option mann_options[] = {
    PCS_CHOICE("method", mann_params, method, PCS_DEFAULT("rk4"), mann_methods,
               "Runge-Kutta method of the smooth parts, of order 2, 3, 4, 5"),
    PCS_REAL("width", mann_params, width, PCS_DEFAULT("0.01"), PCS_POSITIVE,
             "C of the interval C h (V h/L)^p around an event: order p, largest gap rate V, size L of the system"),
    { .name = NULL },
};

static double mann_stable_step(const void *params, double w, double xi, double spin)
{
    return pcs_tableau_stable_step(mann_tableaus[((const mann_params *)params)->method], w, xi, spin);
}

static pcs_status mann_setup(pcs_scheme *self)
{
    pcs_events *e = self->data;
    const mann_params *p = self->params;
    self->rule.tableau = e->method = mann_tableaus[p->method];
    e->order = mann_orders[p->method];
    e->width_share = p->width;
    e->most = MOST_EVENTS;
    e->rounds_gaps = true;
    e->stick = 1e-7; // a slower rebound would not rise above the round-off of the gap
    return pcs_event_setup(self, e->method->s);
}

const pcs_scheme_ops pcs_scheme_mannshardt = {
    .name = "mannshardt",
    .summary = "explicit Runge-Kutta of order 2 to 5, with small Moreau steps around located impacts; keeps its order "
               "through impacts",
    .options = mann_options,
    .params_size = sizeof(mann_params),
    .data_size = sizeof(pcs_events),
    .rule = { .move = NAN, .rows_at = PCS_ROWS_WITHIN },
    .memory_size = sizeof(pcs_event_memory),
    .refuses = pcs_event_refuses,
    .stable_step = mann_stable_step,
    .setup = mann_setup,
    .start = pcs_event_start,
    .step = pcs_event_step,
};
