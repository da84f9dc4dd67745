#include "rows/angle.h"

#include <math.h>
#include <string.h>

const double pcs_whole_turn = 6.283185307179586476925;

void pcs_angle_create(const pcs_joint_end *a, const pcs_joint_end *b, const double axis[3], pcs_joint_angle *out)
{
    out->adds_up = a->turning != PCS_TURNS_FREE && b->turning != PCS_TURNS_FREE;
    memcpy(out->axis, axis, sizeof out->axis);
    pcs_joint_frame(axis, out->first, out->second);
}

// Returns the index of the row's term for the node. Appends a zero term if the row has none yet.
static int angle_term(pcs_row_state *row, int node)
{
    pcs_row_direction *direction = &row->direction;
    for (int i = 0; i < direction->nterm; i++)
        if (direction->term[i].node == node) return i;
    direction->term[direction->nterm] = (pcs_row_term){ .node = node };
    row->rate[direction->nterm] = (pcs_row_rate){ 0 };
    return direction->nterm++;
}

// Adds `rate` times the direction of another row to the rates of a row, whose factor of it changes at this rate.
static void angle_add_rate(pcs_row_state *row, double rate, const pcs_row_state *other)
{
    for (int i = 0; i < other->direction.nterm; i++) {
        const pcs_row_term *from = &other->direction.term[i];
        pcs_row_rate *to = &row->rate[angle_term(row, from->node)];
        for (int k = 0; k < 3; k++) {
            to->force[k] += rate * from->force[k];
            to->moment[k] += rate * from->moment[k];
        }
    }
}

void pcs_row_add(pcs_row_state *row, double factor, const pcs_row_state *other)
{
    row->gap += factor * other->gap;
    row->bias += factor * other->bias;
    for (int i = 0; i < other->direction.nterm; i++) {
        const pcs_row_term *from = &other->direction.term[i];
        int place = angle_term(row, from->node);
        pcs_row_term *term = &row->direction.term[place];
        for (int k = 0; k < 3; k++) {
            term->force[k] += factor * from->force[k];
            term->moment[k] += factor * from->moment[k];
            row->rate[place].force[k] += factor * other->rate[i].force[k];
            row->rate[place].moment[k] += factor * other->rate[i].moment[k];
        }
    }
    for (int k = 0; k < 3; k++) row->couple[k] += factor * other->couple[k];
}

void pcs_row_turn(const pcs_end_now *a, const pcs_end_now *b, const pcs_joint_angle *angle, pcs_row_state *row)
{
    if (angle->adds_up) {
        pcs_row_angle(a, b, angle->axis, row);
        return;
    }
    pcs_rider u1 = pcs_rider_on(a, angle->first), u2 = pcs_rider_on(a, angle->second);
    pcs_rider w = pcs_rider_on(b, angle->first);
    pcs_row_state sine = { 0 }, cosine = { 0 };
    pcs_row_cross(a, b, &u2, &w, &sine);
    pcs_row_cross(a, b, &u1, &w, &cosine);
    double S = sine.gap, C = cosine.gap, size = C * C + S * S;
    double S1 = pcs_dot3(u2.rate, w.now) + pcs_dot3(u2.now, w.rate);
    double C1 = pcs_dot3(u1.rate, w.now) + pcs_dot3(u1.now, w.rate), rate = (C * S1 - S * C1) / size;
    pcs_row_add(row, C / size, &sine);
    pcs_row_add(row, -S / size, &cosine);
    row->gap = atan2(S, C);
    double growth = 2.0 * (C * C1 + S * S1) / size; // of C^2 + S^2, over it
    row->bias -= rate * growth;
    if (b->has_velocities) {
        angle_add_rate(row, (C1 - C * growth) / size, &sine);
        angle_add_rate(row, (S * growth - S1) / size, &cosine);
    }
    memcpy(row->point, b->point, sizeof row->point);
}
