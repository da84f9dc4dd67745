#include "step/columns.h"

#include "core/loop.h"
#include "step/sums.h"

#include <math.h>
#include <string.h>

static const double negligible = 1e-30;
enum { SHORT = 16 }; // a column not worth a window

pcs_status pcs_columns_create(pcs_context *ctx, int n, int count, pcs_columns **out)
{
    pcs_columns *columns;
    PCS_TAKE(ctx, columns, 1, "contact columns");
    PCS_TAKE(ctx, columns->low, count, "contact columns");
    PCS_TAKE(ctx, columns->high, count, "contact columns");
    PCS_TAKE(ctx, columns->value, count, "contact columns");
    for (int i = 0; i < count; i++) PCS_TAKE(ctx, columns->value[i], n, "contact columns");
    columns->n = n;
    columns->count = count;
    *out = columns;
    return PCS_OK;
}

void pcs_columns_trim(pcs_columns *columns, int column)
{
    double *x = columns->value[column], largest = 0.0;
    if (columns->n <= SHORT) {
        columns->low[column] = 0;
        columns->high[column] = columns->n;
        return;
    }
    for (int i = 0; i < columns->n; i++) largest = fmax(largest, fabs(x[i]));
    int low = columns->n, high = 0;
    for (int i = 0; i < columns->n; i++) {
        if (fabs(x[i]) <= negligible * largest) {
            x[i] = 0.0;
            continue;
        }
        if (low > i) low = i;
        high = i + 1;
    }
    columns->low[column] = low < high ? low : 0;
    columns->high[column] = high;
}

PCS_WIDE static void columns_add(int low, int high, double scale, const double *value, double *x)
{
    PCS_INDEPENDENT
    for (int i = low; i < high; i++) x[i] += scale * value[i];
}

void pcs_columns_add(const pcs_columns *columns, int column, double scale, double *x)
{
    columns_add(columns->low[column], columns->high[column], scale, columns->value[column], x);
}

void pcs_columns_add_within(const pcs_columns *columns, int column, double scale, int low, int high, double *x)
{
    int first = columns->low[column] > low ? columns->low[column] : low;
    columns_add(first, columns->high[column] < high ? columns->high[column] : high, scale, columns->value[column], x);
}

double pcs_columns_dot(const pcs_columns *columns, int column, int n, const double *x)
{
    int low = columns->low[column], high = columns->high[column] < n ? columns->high[column] : n;
    return low < high ? pcs_sum_dot(high - low, columns->value[column] + low, x + low) : 0.0;
}
