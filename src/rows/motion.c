#include "rows/motion.h"

#include "core/table.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

enum { NWAY = 8 };

// Returns NULL if exactly one form of motion is given, else the fault.
static const char *motion_check_count(const bool given[NWAY], const char **option)
{
    const char *const names[NWAY] = { "table",      "amplitude", "way",          "speed",
                                      "expression", "csv",       "displacement", "velocity" };
    int count = 0;
    *option = NULL;
    for (int i = 0; i < NWAY; i++) {
        count += given[i];
        if (given[i] && count == 2) *option = names[i];
    }
    if (count == 0)
        return "no motion is given: needs 'table', 'amplitude' and 'frequency', 'way' and 'rise', 'speed', "
               "'expression', 'csv', 'displacement' or 'velocity'";
    if (count > 1)
        return "a second motion; one of 'table', 'amplitude', 'way', 'speed', 'expression', 'csv', 'displacement' and "
               "'velocity' is enough";
    return NULL;
}

const char *pcs_motion_check(const pcs_motion_params *p, const char **option)
{
    const bool given[NWAY] = { p->table.count > 0,
                               !isnan(p->amplitude),
                               !isnan(p->way),
                               !isnan(p->speed),
                               p->expression != NULL,
                               p->csv != NULL,
                               pcs_amplitude_is_given(&p->displacement),
                               pcs_amplitude_is_given(&p->velocity) };
    const char *wrong = motion_check_count(given, option);
    if (wrong != NULL) return wrong;
    for (int i = 6; i < NWAY && wrong == NULL; i++) {
        *option = i == 7 ? "velocity" : "displacement";
        if (given[i]) wrong = pcs_amplitude_refuses(i == 7 ? &p->velocity : &p->displacement, i == 7);
    }
    if (wrong != NULL) return wrong;
    *option = "amplitude";
    if (given[1] && isnan(p->frequency)) return "'amplitude' needs 'frequency', too";
    *option = "frequency";
    if (!given[1] && !isnan(p->frequency)) return "'frequency' belongs to 'amplitude'";
    *option = "way";
    if (given[2] && !(p->rise > 0.0)) return "'way' needs 'rise', the time it takes, too";
    *option = "rise";
    if (given[4] && p->rise > 0.0) return "an expression says itself how the motion begins: 'rise' has no place";
    if ((given[6] || given[7]) && p->rise > 0.0)
        return "an amplitude says itself how the motion begins: 'rise' has no place";
    if ((given[0] || given[5]) && p->rise > 0.0)
        return "a table says itself how the motion begins: 'rise' has no place";
    *option = "table";
    if (given[0] && (p->table.count != 2 * p->table.nrow || p->table.nrow < 2))
        return "'table' must be two or more rows [time, position]";
    if (given[0])
        for (int i = 1; i < p->table.nrow; i++)
            if (!(p->table.value[2 * i] > p->table.value[2 * i - 2]))
                return "the times of 'table' must rise from row to row";
    return NULL;
}

pcs_status pcs_motion_load(pcs_context *ctx, pcs_motion_params *p)
{
    if (p->csv == NULL) return PCS_OK;
    pcs_status status = pcs_table_read(ctx, p->csv, &p->table);
    if (status == PCS_IO_ERROR) return PCS_BAD_INPUT; // a wrong path is a fault of the case
    if (status == PCS_OK && p->table.nrow < 2)
        return pcs_fail(ctx, PCS_BAD_INPUT, "%s: must have two or more rows 't, position'", p->csv);
    return status;
}

// Returns the slope of the cubics at entry i: that of the parabola through it and its neighbours, 0 at both ends.
static double motion_slope(const pcs_list *table, int i)
{
    const double *x = table->value;
    if (i == 0 || i == table->nrow - 1) return 0.0;
    double h0 = x[2 * i] - x[2 * i - 2], h1 = x[2 * i + 2] - x[2 * i];
    double d0 = (x[2 * i + 1] - x[2 * i - 1]) / h0, d1 = (x[2 * i + 3] - x[2 * i + 1]) / h1;
    return (h1 * d0 + h0 * d1) / (h0 + h1);
}

static void motion_table(const pcs_motion_params *p, double t, double s[3])
{
    const double *x = p->table.value;
    int n = p->table.nrow, i = 1;
    s[1] = s[2] = 0.0;
    s[0] = t <= x[0] ? x[1] : x[2 * n - 1];
    if (t <= x[0] || t > x[2 * n - 2]) return;
    while (i < n - 1 && t > x[2 * i]) i++;
    double h = x[2 * i] - x[2 * i - 2], u = (t - x[2 * i - 2]) / h, from = x[2 * i - 1], way = x[2 * i + 1] - from;
    if (p->interpolation == PCS_MOTION_LINEAR) {
        s[0] = from + u * way;
        s[1] = way / h;
        return;
    }
    double m0 = h * motion_slope(&p->table, i - 1), m1 = h * motion_slope(&p->table, i);
    double c2 = 3.0 * way - 2.0 * m0 - m1, c3 = m0 + m1 - 2.0 * way;
    s[0] = from + u * (m0 + u * (c2 + u * c3));
    s[1] = (m0 + u * (2.0 * c2 + u * 3.0 * c3)) / h;
    s[2] = (2.0 * c2 + 6.0 * u * c3) / (h * h);
}

// Evaluates r(t / T), its integral over time and its derivatives: out = { integral, r, r', r'' }.
static void motion_rise(double rise, double t, double out[4])
{
    double x = rise > 0.0 ? fmin(fmax(t / rise, 0.0), 1.0) : 1.0;
    out[0] = rise * x * x * x * x * (2.5 + x * (x - 3.0)) + (t > rise ? t - rise : 0.0);
    out[1] = x * x * x * (10.0 + x * (6.0 * x - 15.0));
    out[2] = rise > 0.0 ? 30.0 * x * x * (1.0 - x) * (1.0 - x) / rise : 0.0;
    out[3] = rise > 0.0 ? 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / (rise * rise) : 0.0;
}

void pcs_motion_at(const pcs_motion_params *p, double t, double s[3])
{
    double r[4];
    if (p->expression != NULL) {
        pcs_expression_rates(p->expression, t, s);
        return;
    }
    if (p->table.count > 0) {
        motion_table(p, t, s);
        return;
    }
    if (pcs_amplitude_is_given(&p->displacement) || pcs_amplitude_is_given(&p->velocity)) {
        bool is_velocity = pcs_amplitude_is_given(&p->velocity);
        pcs_amplitude_motion(is_velocity ? &p->velocity : &p->displacement, is_velocity, t, s);
        return;
    }
    motion_rise(p->rise, t, r);
    if (!isnan(p->way)) {
        for (int k = 0; k < 3; k++) s[k] = p->way * r[k + 1];
    } else if (!isnan(p->speed)) {
        for (int k = 0; k < 3; k++) s[k] = p->speed * r[k];
    } else {
        double w = 2.0 * pi * p->frequency, angle = w * t + p->phase, A = p->amplitude;
        double x = A * (sin(angle) - sin(p->phase)), v = A * w * cos(angle), a = -A * w * w * sin(angle);
        s[0] = r[1] * x;
        s[1] = r[1] * v + r[2] * x;
        s[2] = r[1] * a + 2.0 * r[2] * v + r[3] * x;
    }
}
