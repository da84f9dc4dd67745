#include "elements/axial_law.h"

#include <math.h>

const char *pcs_axial_law_check(const pcs_axial_law *law, const char **option)
{
    const double *row = law->table.value;
    *option = "table";
    if (law->table.count > 0 && law->polynomial.count > 0) return "table and polynomial are two springs: give one";
    if (law->table.count > 0 && (law->table.nrow < 2 || law->table.count != 2 * law->table.nrow))
        return "must be two or more rows [stretch, force]";
    for (int i = 1; i < law->table.nrow; i++)
        if (law->table.count > 0 && !(row[2 * i] > row[2 * i - 2])) return "the stretch must rise from row to row";
    if (law->stiffness != 0.0 && law->table.count + law->polynomial.count > 0)
        return "a table or polynomial has its stiffness: leave 'stiffness' out";
    *option = "polynomial";
    if (law->polynomial.count > 0 && law->polynomial.nrow > 1) return "must be one row of coefficients";
    *option = "clearance";
    if (law->clearance > 0.0 && law->table.count > 0) return "put the play into the table";
    *option = "stop";
    if (isnan(law->stop) != isnan(law->stop_stiffness)) return "stop and stop_stiffness are given both or not at all";
    *option = "damper_speed";
    if (law->exponent < 1.0 && law->speed == 0.0)
        return "a damper with an exponent below 1 needs the speed at which it is rounded off";
    return NULL;
}

// The segment of the table that speaks at s; the first and the last one beyond its ends.
static int law_segment(const pcs_list *table, double s)
{
    int low = 0, high = table->nrow - 2;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (table->value[2 * middle] <= s) low = middle;
        else high = middle - 1;
    }
    return low;
}

static double law_slope(const pcs_list *table, int segment)
{
    const double *row = table->value + 2 * segment;
    return (row[3] - row[1]) / (row[2] - row[0]);
}

// Force, slope, and the integral from s = 0: in the segment of s = 0 from there, in others from their end next to it.
// So the energy of a small stretch is no difference of large ones.
static pcs_axial_response law_of_table(const pcs_axial_law *law, double s)
{
    int segment = law_segment(&law->table, s), knot = segment + (segment < law->rest);
    const double *row = law->table.value + 2 * segment;
    double slope = law_slope(&law->table, segment), from = segment == law->rest ? 0.0 : law->table.value[2 * knot];
    double area = segment == law->rest ? 0.0 : law->area[knot], mean = row[1] + slope * (0.5 * (from + s) - row[0]);
    return (pcs_axial_response){ .force = row[1] + slope * (s - row[0]),
                                 .stiffness = slope,
                                 .energy = area + mean * (s - from) };
}

pcs_status pcs_axial_law_prepare(pcs_context *ctx, pcs_axial_law *law)
{
    const double *row = law->table.value;
    if (law->table.count == 0) return PCS_OK;
    PCS_TAKE(ctx, law->area, law->table.nrow, "a table of springs");
    int rest = law->rest = law_segment(&law->table, 0.0);
    double slope = law_slope(&law->table, rest);
    for (int i = rest; i < rest + 2; i++) law->area[i] = (row[2 * i + 1] - 0.5 * slope * row[2 * i]) * row[2 * i];
    for (int i = rest + 2; i < law->table.nrow; i++)
        law->area[i] = law->area[i - 1] + 0.5 * (row[2 * i + 1] + row[2 * i - 1]) * (row[2 * i] - row[2 * i - 2]);
    for (int i = rest - 1; i >= 0; i--)
        law->area[i] = law->area[i + 1] - 0.5 * (row[2 * i + 1] + row[2 * i + 3]) * (row[2 * i + 2] - row[2 * i]);
    return PCS_OK;
}

static pcs_axial_response law_of_polynomial(const pcs_list *k, double e)
{
    pcs_axial_response out = { 0 };
    for (int i = k->count; i >= 1; i--) {
        out.force = (out.force + k->value[i - 1]) * e;
        out.stiffness = out.stiffness * e + i * k->value[i - 1];
        out.energy = (out.energy + k->value[i - 1] / (i + 1)) * e;
    }
    out.energy *= e;
    return out;
}

static pcs_axial_response law_of_spring(const pcs_axial_law *law, double s)
{
    if (law->table.count > 0) return law_of_table(law, s);
    if (law->clearance > 0.0 && fabs(s) <= law->clearance) return (pcs_axial_response){ 0 };
    double e = s - copysign(law->clearance, s);
    if (law->polynomial.count > 0) return law_of_polynomial(&law->polynomial, e);
    return (pcs_axial_response){ law->stiffness * e, law->stiffness, 0.5 * law->stiffness * e * e, 0.0, 0.0 };
}

pcs_axial_response pcs_axial_law_at(const pcs_axial_law *law, double stretch, double rate)
{
    pcs_axial_response out = law_of_spring(law, stretch);
    if (fabs(stretch) > law->stop) {
        double over = stretch - copysign(law->stop, stretch);
        out.force += law->stop_stiffness * over;
        out.stiffness += law->stop_stiffness;
        out.energy += 0.5 * law->stop_stiffness * over * over;
    }
    if (law->exponent == 1.0) {
        out.drag = law->damper * rate;
        out.damping = law->damper;
        return out;
    }
    double square = rate * rate + law->speed * law->speed;
    if (law->damper == 0.0 || square == 0.0) return out;
    double factor = law->damper * pow(square, 0.5 * (law->exponent - 1.0));
    out.drag = factor * rate;
    out.damping = factor * (1.0 + (law->exponent - 1.0) * rate * rate / square);
    return out;
}

double pcs_axial_law_stiffest(const pcs_axial_law *law)
{
    double most = law->polynomial.count > 0 ? fabs(law->polynomial.value[0]) : law->stiffness;
    for (int i = 0; i + 1 < law->table.nrow; i++)
        if (law->table.count > 0) most = fmax(most, fabs(law_slope(&law->table, i)));
    return isinf(law->stop) ? most : most + law->stop_stiffness;
}
