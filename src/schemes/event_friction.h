// Friction of schemes that stop at events; private to this folder. Every held row with friction sticks or slides:
//
//   sticks   T a + (dT/dt) v = 0,   |la_t| <= mu la
//   slides   la_t = -mu la d,   d along the slip velocity u = T v
//
// With the modes given, all forces follow from linear equations; modes change at events only: mu la - |la_t| of a row
// that sticks falls through 0, or u . d of one that slides, d its direction at the last event or step. Where rows that
// rest must slide, they do so against the force they would have stuck with; in space then along their acceleration, so
// long as they creep: u/|u| turns at the rate mu la W/|u| towards that, W the mobility, too fast to be followed.

#ifndef PCS_SCHEMES_EVENT_FRICTION_H
#define PCS_SCHEMES_EVENT_FRICTION_H

#include "schemes/event.h"

enum { EVENT_UNKNOWNS = 3 * PCS_MAX_ROWS };

struct pcs_event_rub {
    double *smooth, *impulse;    // [ntangent] impulses of the step so far, N s
    double *force, *slide;       // [ntangent] forces of the last acceleration, N; T a + (dT/dt) v, m/s^2
    double *target, *la, *bias;  // [ntangent]
    double *there, *free;        // [nv]
    double loss[PCS_MAX_ROWS];   // loss in impacts, J
    double margin[PCS_MAX_ROWS]; // margin of the mode, m/s^2 or m/s; it ends when this falls below 0
    double aim[PCS_MAX_ROWS][2]; // directions of creeping rows, in the last acceleration
    // The linear equations: unknown k is la of row index[k], or la_t of tangent index[k] - nrow
    int n, index[EVENT_UNKNOWNS];
    double *A, *b, *x, *z, *z_last; // [n n], [n]
    double *columns;                // [n nv] change of a by each unit unknown
};

// Returns true if the row is held and has friction.
static inline bool pcs_event_rubs(const pcs_system *system, const pcs_events *e, int row)
{
    return e->now.held[row] && system->rows[row].ntangent > 0 && system->rows[row].friction > 0.0;
}

static inline void pcs_event_slip(const pcs_system *system, int row, const double *v, double u[2])
{
    u[0] = u[1] = 0.0;
    for (int t = 0; t < system->rows[row].ntangent; t++)
        u[t] = pcs_rows_dot(system->T, system->rows[row].first_tangent + t, v);
}

// Returns the slip below which a row is at rest, m/s.
static inline double pcs_event_slow(const pcs_scheme *self, const pcs_events *e, int row)
{
    return 1e-10 * pcs_event_speed(self, e, row);
}

// Returns the slip, m/s, up to which a row that slides from rest follows its acceleration: its direction lags by less.
static inline double pcs_event_creep(const pcs_scheme *self, const pcs_events *e, int row)
{
    double speed = sqrt(2.0 * fmax(e->now.energy, e->reach) / self->solver->effective_mass[row]);
    return self->system->rows[row].ntangent == 2 ? 1e-7 * speed : 2.0 * pcs_event_slow(self, e, row);
}

// Allocates the friction of events; it stays NULL if the case has none.
pcs_status pcs_event_make_rub(pcs_scheme *self, pcs_events *e);
void pcs_event_begin_rub(const pcs_system *system, pcs_events *e);
// Computes pcs_event_accelerate with the present modes; a is M^-1 f before.
pcs_outcome pcs_event_accelerate_modes(pcs_scheme *self, pcs_events *e, const double *q, const double *v, double *a);
// Updates the directions of sliding from v.
void pcs_event_follow_slip(const pcs_scheme *self, pcs_events *e, const double *v);
// Returns true if forces of sliding rows have one solution: G_j M^-1 (G_j - mu d T_j)^T > 0, joints held.
bool pcs_event_is_unique(const pcs_scheme *self, pcs_events *e);
// Removes T v of sticking rows from v, with the rates of held rows.
void pcs_event_project_modes(pcs_scheme *self, pcs_events *e, double *v);
// Books la_t of an impact that changed v0 to v1.
void pcs_event_book_rub(const pcs_scheme *self, pcs_events *e, const double *v0, const double *v1);
// Returns -la_t . u of the last acceleration, W.
double pcs_event_rub_power(const pcs_scheme *self, const pcs_events *e, int row, const double *v);

#endif
