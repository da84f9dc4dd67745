// Value and two derivatives of an expression by its variable t, exact to round-off: every operation carries
// (u, u', u'') along.
//
//   f(u)    f' = F1 u',                f'' = F2 u'^2 + F1 u''        F1, F2: derivatives of f by u
//   f(u, w) f' = Fu u' + Fw w',        f'' = Fuu u'^2 + 2 Fuw u' w' + Fww w'^2 + Fu u'' + Fw w''

#include "core/expression.h"

#include <math.h>
#include <string.h>

static void rates_slopes(pcs_expression_code code, double x, double f[3])
{
    static const double ln10 = 2.30258509299404568402;
    double s = sin(x), c = cos(x), r = 1.0 - x * x, q = 1.0 + x * x;
    double slopes[2] = { 0.0, 0.0 }; // of what is constant between its jumps
    switch (code) {
    case PCS_OP_NEGATE: slopes[0] = -1.0; break;
    case PCS_OP_SQRT: slopes[0] = 0.5 / f[0], slopes[1] = -0.25 / (f[0] * x); break;
    case PCS_OP_SIN: slopes[0] = c, slopes[1] = -s; break;
    case PCS_OP_COS: slopes[0] = -s, slopes[1] = -c; break;
    case PCS_OP_TAN: slopes[0] = 1.0 + f[0] * f[0], slopes[1] = 2.0 * f[0] * slopes[0]; break;
    case PCS_OP_ASIN: slopes[0] = 1.0 / sqrt(r), slopes[1] = x * slopes[0] / r; break;
    case PCS_OP_ACOS: slopes[0] = -1.0 / sqrt(r), slopes[1] = x * slopes[0] / r; break;
    case PCS_OP_ATAN: slopes[0] = 1.0 / q, slopes[1] = -2.0 * x / (q * q); break;
    case PCS_OP_SINH: slopes[0] = cosh(x), slopes[1] = f[0]; break;
    case PCS_OP_COSH: slopes[0] = sinh(x), slopes[1] = f[0]; break;
    case PCS_OP_TANH: slopes[0] = 1.0 - f[0] * f[0], slopes[1] = -2.0 * f[0] * slopes[0]; break;
    case PCS_OP_EXP: slopes[0] = f[0], slopes[1] = f[0]; break;
    case PCS_OP_LOG: slopes[0] = 1.0 / x, slopes[1] = -1.0 / (x * x); break;
    case PCS_OP_LOG10: slopes[0] = 1.0 / (ln10 * x), slopes[1] = -1.0 / (ln10 * x * x); break;
    case PCS_OP_ABS: slopes[0] = x < 0.0 ? -1.0 : 1.0; break;
    default: break;
    }
    memcpy(f + 1, slopes, sizeof slopes);
}

// Partial derivatives of a pair: by u, w, uu, uw, ww; f is its value.
static void rates_partials(pcs_expression_code code, double u, double w, double f, double d[5])
{
    double q = u * u + w * w;
    memset(d, 0, 5 * sizeof *d);
    switch (code) {
    case PCS_OP_ADD: d[0] = d[1] = 1.0; break;
    case PCS_OP_SUBTRACT: d[0] = 1.0, d[1] = -1.0; break;
    case PCS_OP_MULTIPLY: d[0] = w, d[1] = u, d[3] = 1.0; break;
    case PCS_OP_DIVIDE: d[0] = 1.0 / w, d[1] = -f / w, d[3] = -1.0 / (w * w), d[4] = 2.0 * f / (w * w); break;
    case PCS_OP_ATAN2:
        d[0] = w / q, d[1] = -u / q;
        d[2] = -2.0 * u * w / (q * q), d[3] = (u * u - w * w) / (q * q), d[4] = -d[2];
        break;
    case PCS_OP_HYPOT:
        d[0] = u / f, d[1] = w / f;
        d[2] = w * w / (f * q), d[3] = -u * w / (f * q), d[4] = u * u / (f * q);
        break;
    case PCS_OP_MIN: d[u < w ? 0 : 1] = 1.0; break;
    case PCS_OP_MAX: d[u > w ? 0 : 1] = 1.0; break;
    default: d[0] = 1.0, d[1] = -floor(u / w); break; // PCS_OP_MOD
    }
}

// Powers: by w only where the exponent moves, for log u may not exist.
static void rates_power(double u, const double w[3], double f, double d[5])
{
    bool is_moving = w[1] != 0.0 || w[2] != 0.0;
    memset(d, 0, 5 * sizeof *d);
    d[0] = w[0] == 0.0 ? 0.0 : w[0] * pow(u, w[0] - 1.0);
    d[2] = w[0] == 0.0 || w[0] == 1.0 ? 0.0 : w[0] * (w[0] - 1.0) * pow(u, w[0] - 2.0);
    if (!is_moving) return;
    double ln = log(u);
    d[1] = f * ln;
    d[3] = pow(u, w[0] - 1.0) * (1.0 + w[0] * ln);
    d[4] = f * ln * ln;
}

static bool rates_is_constant(const double u[3])
{
    return u[1] == 0.0 && u[2] == 0.0;
}

static void rates_pair(pcs_expression_code code, double u[3], const double w[3])
{
    double f = pcs_expression_apply(code, u[0], w[0]), d[5] = { 0 };
    if (code == PCS_OP_POWER) {
        rates_power(u[0], w, f, d);
    } else {
        rates_partials(code, u[0], w[0], f, d);
    }
    if (rates_is_constant(u) && rates_is_constant(w)) memset(d, 0, sizeof d);
    double first = d[0] * u[1] + d[1] * w[1];
    u[2] = d[2] * u[1] * u[1] + 2.0 * d[3] * u[1] * w[1] + d[4] * w[1] * w[1] + d[0] * u[2] + d[1] * w[2];
    u[1] = first;
    u[0] = f;
}

static void rates_one(pcs_expression_code code, double u[3])
{
    double f[3] = { pcs_expression_apply(code, u[0], 0.0) };
    if (!rates_is_constant(u)) {
        rates_slopes(code, u[0], f);
        u[2] = f[2] * u[1] * u[1] + f[1] * u[2];
        u[1] *= f[1];
    }
    u[0] = f[0];
}

void pcs_expression_rates(const pcs_expression *e, double t, double rates[3])
{
    double stack[PCS_EXPRESSION_DEPTH][3];
    int n = 0;
    for (int i = 0; i < e->count; i++) {
        const pcs_expression_op *op = &e->ops[i];
        if (op->code == PCS_OP_NUMBER || op->code == PCS_OP_VARIABLE) {
            bool is_t = op->code == PCS_OP_VARIABLE;
            double value[3] = { is_t ? t : op->number, is_t ? 1.0 : 0.0, 0.0 };
            memcpy(stack[n++], value, sizeof value);
        } else if (pcs_expression_is_pair(op->code)) {
            n--;
            rates_pair(op->code, stack[n - 1], stack[n]);
        } else {
            rates_one(op->code, stack[n - 1]);
        }
    }
    memcpy(rates, stack[0], 3 * sizeof *rates);
}
