// Collected over a run for the summary: of each contact its intervals, impulses, forces and losses; extremes of
// reactions and probes.
//
// An interval begins with a step in which the contact passes on an impulse of more than round-off, and ends when it has
// stayed open for longer than `open_time`. It has a force only when it passes on more than impulses of impacts: what
// closes and opens within one step has an impulse, and a force would be that over the step, whatever the step is.
//
// Beside the largest force stands the largest moving mean over `window`,
//   F_w(t) = (I(t) - I(t - window)) / window,   I(t) the impulse since the interval began,
// over the times at which the interval is at least as old as the window: it does not see the ripple of the mesh.

#ifndef PCS_OUTPUT_SUMMARY_H
#define PCS_OUTPUT_SUMMARY_H

#include "output/file.h"
#include "output/observer.h"

#include <math.h>

enum { PCS_KEPT_INTERVALS = 64, PCS_WINDOW_POINTS = 72 };

typedef struct pcs_interval {
    long first_step, last_step;
    double start, end;               // s, from the start of the first step to the end of the last
    double peak_force, peak_time;    // N, s, largest smooth force and the time at which it is first reached, to 1e-9
    double smooth_peak, smooth_time; // N, s, largest moving mean, likewise; NAN if shorter than the window
    double peak_then, smooth_then;   // N, values at these times
    double smooth_impulse;           // N s, integral of the smooth force
    double impulse;                  // N s, total
    double pressed;                  // N s, without impacts; the interval has a force only if this is positive
    long nimpact;                    // number of points that closed
} pcs_interval;
_Static_assert(sizeof(pcs_interval) == 14 * 8, "words without gaps, for checkpoints");

// Impulse over the last `window` of time, piecewise linear through a few points.
typedef struct pcs_window {
    long count;
    double t[PCS_WINDOW_POINTS], impulse[PCS_WINDOW_POINTS]; // s, N s, since the start of the interval
} pcs_window;

// Members from ninterval on are contiguous words, which checkpoints store. Those before never change.
typedef struct pcs_contact_record {
    const char *name;              // borrowed
    double open_time, window_time; // s
    bool has_friction;             // the contact has friction
    bool is_joint;                 // joint of a closed-form system: only error, force and work
    long ninterval;
    long is_touching;                      // closed in the last step
    pcs_interval kept[PCS_KEPT_INTERVALS]; // first intervals
    pcs_interval last;                     // last interval, also while it lasts
    pcs_window window;                     // window of the last interval
    // Totals over the run, of all intervals:
    double touching_time, impulse;       // s, N s
    double pressed_time, smooth_impulse; // s, N s, over intervals with a force
    double peak_force, peak_time;        // N, s
    double smooth_peak, smooth_time;     // N, s
    double peak_then, smooth_then;       // N
    double min_gap, min_gap_time;        // m, s
    double impact_loss, friction_loss;   // J
    double work;                         // J, work of all its impulses on the model
    double slid;                         // m, sliding distance of the point that slid farthest
    double gap_error, gap_error_time;    // error of a joint, m or rad, and its time, s
    long nimpact;
} pcs_contact_record;

// Holds force, impulse (N s) and smallest gap (m) of one contact, over all its points, in one step.
typedef struct pcs_contact_step {
    double start, t, h; // s, start, end and size of the step
    double force, step_impulse, gap;
    double pressed; // N s, part of the impulse without impacts
    bool touches;   // impulse is more than round-off
    long step, nimpact;
} pcs_contact_step;

void pcs_contact_record_add(pcs_contact_record *c, const pcs_contact_step *now);

// Returns the mean force, N, NAN if there is no force.
static inline double pcs_interval_mean(const pcs_interval *i)
{
    double duration = i->end - i->start;
    return i->pressed > 0.0 && duration > 0.0 ? i->smooth_impulse / duration : NAN;
}

typedef struct pcs_reaction_record {
    double gap_error, gap_error_time; // error of a joint, m or rad, and its time, s
    double force, force_time;         // N, s, largest
    double moment, moment_time;       // N m, s, largest
    double work;                      // J, work of a joint on the model
} pcs_reaction_record;

// Extremes over the run of a column that the user asked for.
typedef struct pcs_probe_record {
    double start, end;
    double min, min_time, max, max_time; // times in s
    double min_then, max_then;           // values at these times
} pcs_probe_record;

// A point of contact at the end of the last step.
typedef struct pcs_point_record {
    double slip; // m/s
    double slid; // m, sliding distance so far while closed
    long is_closed;
} pcs_point_record; // contiguous words, for checkpoints

// The verdict on resolution in time and space (summary.c). An episode is the steps from one touch of a contact to
// the last one before it stays open. Members are words, for checkpoints.
enum { PCS_RESOLVED, PCS_COARSE, PCS_UNRESOLVED, PCS_VERDICTS };
enum { PCS_CLASS_FLEXIBLE, PCS_CLASS_LAW, PCS_CLASS_RIGID, PCS_CLASS_FREE, PCS_CLASS_WAVE, PCS_CLASSES };
enum { PCS_EPISODE_POINTS = 256 };
extern const char *const pcs_verdict_names[PCS_VERDICTS + 1]; // the last name is for a grade that does not apply
extern const char *const pcs_class_names[PCS_CLASSES];

typedef struct pcs_episode {
    long verdict, class, contact; // contact is -1 for motion without contact
    long first_step, steps;       // number of its first step; steps from first to last
    long flight;                  // steps since the episode before, or the start
    long has_opened;              // times that it has opened and closed again
    long lasts;                   // has not ended at the end of the run
    double start, end;            // s
    double impulse, largest;      // N s, total and largest of a step
    double net;                   // energy change by the method since the last episode, of the energy in play
    double ripple;                // excess of the rise and fall of the filtered force over a single one
    double cells, axial; // per wavelength of twice its duration, the shorter and the axial; INFINITY without bars
    double variation;    // sum of all changes of the numerical loss, relative to the energy in play
    double period;       // steps per period, without contact; else NAN
} pcs_episode;

// The present episode of a contact, and for each verdict the one with the largest impulse.
typedef struct pcs_contact_resolution {
    pcs_episode now, kept[PCS_VERDICTS];
    double net, net_before; // J, lost by the method until the last touch, and until the end of the episode before
    double spacing;         // s, between points
    long count;
    double t[PCS_EPISODE_POINTS], impulse[PCS_EPISODE_POINTS]; // s, N s, since it began
} pcs_contact_resolution;

typedef struct pcs_resolution {
    double energy, strain;           // J, largest kinetic and strain energy, and largest strain energy
    double variation, corrections;   // J, sums of |changes| of numerical loss and correction work
    double numerical, correction;    // J, of the ledger at the last step
    double least, most;              // J, smallest and largest kinetic energy
    double kinetic, slope;           // J, kinetic energy at the last step, and its last change
    double period;                   // steps in the shortest period of the model, NAN if not known
    double slopes2, curvatures2;     // J^2, sums of squares of first and second differences of the kinetic energy
    pcs_contact_resolution *contact; // [ncontact]; words before it
} pcs_resolution;

typedef struct pcs_summary pcs_summary;
// Grades impulse, velocity, duration, filtered peak and energy, and finds what to divide step and cells by.
enum { PCS_GRADES = 5 };
extern const char *const pcs_grade_names[PCS_GRADES];
typedef struct pcs_advice {
    long grade[PCS_GRADES];
    double step, cells; // factors, at least 1; both 1 if neither helps
    const char *reason; // what is missing, NULL if resolved
} pcs_advice;
pcs_advice pcs_resolution_advise(const pcs_episode *e, const pcs_resolution *r);

struct pcs_summary {
    pcs_resolution resolution;
    pcs_episode verdict; // at the end
    pcs_file *file;
    double t; // s, time of the last step added
    int ncontact;
    pcs_contact_record *contacts;   // [ncontact]
    pcs_contact_step *now;          // [ncontact] their last step
    double *joined;                 // last step of contacts, or joints, over all processes
    pcs_point_record *points;       // [rows of contacts]
    double open_time, window;       // s
    double speed;                   // m/s, largest speed of the model so far
    pcs_reaction_record *reactions; // [system->nreaction]
    pcs_probe_record *probes;       // [view->nprobe]
    int max_iterations;
    long max_iterations_step;
};

// Returns the verdict on a check in one word.
const char *pcs_check_verdict(const pcs_check *check);
const char *pcs_certificate_verdict(const pcs_certificate *certificate);

#endif
