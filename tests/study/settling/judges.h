// Verdicts on runs of the study of settling, each against a closed form or another program's digits.

#ifndef TESTS_STUDY_SETTLING_JUDGES_H
#define TESTS_STUDY_SETTLING_JUDGES_H

#include "support/campaign.h"

#include <math.h>
#include <stdio.h>

static const double judge_gravity = 9.81;

static inline double judge_probe(const pcs_sim *sim, int which)
{
    return sim->system->ops->probe(sim->system, &sim->probes[which], pcs_at(sim->state.t, sim->state.q, sim->state.v));
}

// |actual - expected| <= tolerance, or a fault that says so; the first one stays.
static inline void judge_near(campaign_notes *notes, const char *what, double actual, double expected, double tolerance)
{
    if (fabs(actual - expected) <= tolerance || notes->fault[0] != '\0') return;
    snprintf(notes->fault, sizeof notes->fault, "%s is %.6g, expected %.6g, allowed %.1g", what, actual, expected,
             tolerance);
}

// Where the ladder leaves the wall, and how fast it slides then: both are known (ladder.yaml). Row 0 is the wall.
static inline void judge_ladder(const pcs_sim *sim, bool is_done, campaign_notes *notes)
{
    const double mass = 10.002, inertia = 10.0 / 3.0 + 0.002, high = sqrt(0.75);
    if (sim->report.rows[0].step_impulse > 0.0) notes->number[0] = judge_probe(sim, 1);
    if (!is_done) return;
    double speed = sqrt(8.0 / 27.0 * mass * judge_gravity * high * high * high / (mass + inertia));
    judge_near(notes, "height at which the ladder leaves the wall", notes->number[0], 2.0 / 3.0 * high, 0.03);
    judge_near(notes, "speed of the ladder", judge_probe(sim, 2), speed, 0.01 * speed);
}

// The ball rolls at the end (ball.yaml), and does not turn about the normal.
static inline void judge_ball(const pcs_sim *sim, bool is_done, campaign_notes *notes)
{
    if (!is_done) return;
    judge_near(notes, "vx of the ball", judge_probe(sim, 3), 2.2 / 1.4, 0.01);
    judge_near(notes, "vy of the ball", judge_probe(sim, 4), -0.3 / 1.4, 0.01);
    judge_near(notes, "spin about the normal", judge_probe(sim, 7), 0.0, 1e-3);
}

// Rope or chain over a drum, 0.1 kg against 0.3 kg: how far it has gone, the mean of its ends, as a light rope after
// Euler and Eytelwein.
static inline void judge_capstan(const pcs_sim *sim, bool is_done, campaign_notes *notes)
{
    const double light = 0.1, heavy = 0.3;
    double drop = 0.5 * (judge_probe(sim, 2) - judge_probe(sim, 0)), t = sim->state.t,
           gain = exp(acos(-1.0) * sim->system->rows[0].friction);
    double a = judge_gravity * fmax(0.0, heavy - light * gain) / (heavy + light * gain);
    if (sim->state.step == 0) notes->number[0] = drop;
    if (is_done)
        judge_near(notes, "way of the rope", drop - notes->number[0], 0.5 * a * t * t,
                   0.05 * 0.5 * judge_gravity * t * t);
}

// Fall of the sleeve within 0.3 s, friction 0.3: 41.35 mm in the reference of Siconos' example.
static inline void judge_woodpecker(const pcs_sim *sim, bool is_done, campaign_notes *notes)
{
    if (!is_done || sim->system->rows[0].friction != 0.3) return;
    judge_near(notes, "height of the sleeve", sim->state.q[0], -0.04135, 0.005);
}

#endif
