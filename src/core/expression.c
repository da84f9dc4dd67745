#include "core/expression.h"

#include "core/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NESTING = 32, NUMBER_BYTES = 64, ANY_COUNT = -1 };

// Name, code, number of arguments.
// clang-format off
#define FUNCTIONS(X) \
    X(sqrt, SQRT, 1) X(sin, SIN, 1) X(cos, COS, 1) X(tan, TAN, 1) X(asin, ASIN, 1) X(acos, ACOS, 1) X(atan, ATAN, 1) \
    X(atan2, ATAN2, 2) X(sinh, SINH, 1) X(cosh, COSH, 1) X(tanh, TANH, 1) X(exp, EXP, 1) X(log, LOG, 1) \
    X(log10, LOG10, 1) X(abs, ABS, 1) X(hypot, HYPOT, 2) X(min, MIN, ANY_COUNT) X(max, MAX, ANY_COUNT) \
    X(mod, MOD, 2) X(floor, FLOOR, 1) X(ceil, CEIL, 1) X(round, ROUND, 1) X(step, STEP, 1)
// clang-format on

typedef struct function {
    const char *name;
    pcs_expression_code code;
    int narg; // ANY_COUNT for one or more
} function;

#define FUNCTION_ROW(name, code, narg) { #name, PCS_OP_##code, narg },
#define FUNCTION_NAME(name, code, narg) #name,

static const function functions[] = { FUNCTIONS(FUNCTION_ROW) };
static const char *const names[] = { FUNCTIONS(FUNCTION_NAME) "pi", "e", NULL };

enum { NFUNCTION = sizeof functions / sizeof *functions };

typedef struct compiler {
    const char *text, *p, *end;
    const char *const *variables;
    pcs_expression *out;
    pcs_expression_fault *fault;
    int depth, nesting; // values on the stack; open calls of the parser
} compiler;

static bool compile_sum(compiler *k);

static bool compile_fail(compiler *k, const char *at, size_t length, const char *format, const char *name)
{
    pcs_expression_fault *f = k->fault;
    *f = (pcs_expression_fault){ .at = (size_t)(at - k->text), .length = length };
    snprintf(f->what, sizeof f->what, format, name);
    return false;
}

static void compile_skip(compiler *k)
{
    while (k->p < k->end && isspace((unsigned char)*k->p)) k->p++;
}

static bool compile_is_name(char x)
{
    return isalpha((unsigned char)x) || x == '_';
}

// Returns the length of the number, name or sign at p, for messages.
static size_t compile_token(const compiler *k)
{
    const char *q = k->p;
    while (q < k->end && (isalnum((unsigned char)*q) || *q == '_' || *q == '.')) q++;
    if (q == k->p && q < k->end) q++;
    while (q < k->end && ((unsigned char)*q & 0xc0) == 0x80) q++; // the rest of a UTF-8 character
    return (size_t)(q - k->p);
}

static bool compile_unexpected(compiler *k, const char *wanted)
{
    char what[80], token[32];
    size_t length = compile_token(k);
    if (length == 0) {
        snprintf(what, sizeof what, "it ends too early, expected %s", wanted);
        return compile_fail(k, k->p, 0, "%s", what);
    }
    snprintf(token, sizeof token, "%.*s", length < 24 ? (int)length : 24, k->p);
    snprintf(what, sizeof what, "unexpected '%s', expected %s", token, wanted);
    return compile_fail(k, k->p, length, "%s", what);
}

static bool compile_emit(compiler *k, pcs_expression_op op, int more)
{
    if (k->out->count == PCS_EXPRESSION_OPS) return compile_fail(k, k->p, 0, "it is too long%s", "");
    k->depth += more;
    if (k->depth > PCS_EXPRESSION_DEPTH) return compile_fail(k, k->p, 0, "it is nested too deeply%s", "");
    k->out->ops[k->out->count++] = op;
    return true;
}

static bool compile_take(compiler *k, const char *sign)
{
    compile_skip(k);
    size_t length = strlen(sign);
    if ((size_t)(k->end - k->p) < length || strncmp(k->p, sign, length) != 0) return false;
    k->p += length;
    return true;
}

static const char *compile_digits(const compiler *k, const char *q)
{
    while (q < k->end && isdigit((unsigned char)*q)) q++;
    return q;
}

static bool compile_number(compiler *k)
{
    const char *q = compile_digits(k, k->p);
    if (q < k->end && *q == '.') q = compile_digits(k, q + 1);
    if (q < k->end && (*q == 'e' || *q == 'E')) {
        const char *digits = q + 1;
        if (digits < k->end && (*digits == '-' || *digits == '+')) digits++;
        const char *last = compile_digits(k, digits);
        if (last > digits) q = last;
    }
    char copy[NUMBER_BYTES];
    size_t length = (size_t)(q - k->p);
    if (length >= sizeof copy) return compile_fail(k, k->p, length, "the number is too long%s", "");
    memcpy(copy, k->p, length);
    copy[length] = '\0';
    const char *stop;
    double value = pcs_text_number(copy, &stop);
    if (stop != copy + length || !isfinite(value)) return compile_fail(k, k->p, length, "'%s' is no number", copy);
    k->p = q;
    return compile_emit(k, (pcs_expression_op){ .code = PCS_OP_NUMBER, .number = value }, 1);
}

static bool compile_wrong_count(compiler *k, const char *at, const function *f)
{
    char what[64];
    snprintf(what, sizeof what, "%s takes %d value%s", f->name, f->narg, f->narg == 1 ? "" : "s");
    return compile_fail(k, at, strlen(f->name), "%s", what);
}

// Compiles the arguments of a function, after its name; min and max of many as those of pairs.
static bool compile_call(compiler *k, const char *at, const function *f)
{
    if (!compile_take(k, "("))
        return compile_fail(k, at, strlen(f->name), "'%s' is a function and needs (...)", f->name);
    int count = 0;
    do {
        if (!compile_sum(k)) return false;
        count++;
        if (f->narg == ANY_COUNT && count > 1 && !compile_emit(k, (pcs_expression_op){ .code = f->code }, -1))
            return false;
    } while (compile_take(k, ","));
    if (!compile_take(k, ")")) return compile_unexpected(k, "',' or ')'");
    if (f->narg == ANY_COUNT) return true;
    if (count != f->narg) return compile_wrong_count(k, at, f);
    return compile_emit(k, (pcs_expression_op){ .code = f->code }, 1 - count);
}

static bool compile_is_same(const char *name, size_t length, const char *other)
{
    return strlen(other) == length && strncmp(name, other, length) == 0;
}

static bool compile_name(compiler *k)
{
    const char *at = k->p;
    while (k->p < k->end && (compile_is_name(*k->p) || isdigit((unsigned char)*k->p))) k->p++;
    size_t length = (size_t)(k->p - at);
    for (int i = 0; i < NFUNCTION; i++)
        if (compile_is_same(at, length, functions[i].name)) return compile_call(k, at, &functions[i]);
    if (compile_is_same(at, length, "pi"))
        return compile_emit(k, (pcs_expression_op){ .code = PCS_OP_NUMBER, .number = 3.14159265358979323846 }, 1);
    if (compile_is_same(at, length, "e"))
        return compile_emit(k, (pcs_expression_op){ .code = PCS_OP_NUMBER, .number = 2.71828182845904523536 }, 1);
    for (int i = 0; k->variables[i] != NULL; i++)
        if (compile_is_same(at, length, k->variables[i]))
            return compile_emit(k, (pcs_expression_op){ .code = PCS_OP_VARIABLE, .variable = i }, 1);
    char name[48];
    snprintf(name, sizeof name, "%.*s", length < 40 ? (int)length : 40, at);
    compile_fail(k, at, length, "unknown name '%s'", name);
    k->fault->is_name = true;
    return false;
}

static bool compile_value(compiler *k)
{
    compile_skip(k);
    if (k->p == k->end) return compile_unexpected(k, "a number, a name or '('");
    if (isdigit((unsigned char)*k->p)) return compile_number(k);
    if (*k->p == '.' && k->p + 1 < k->end && isdigit((unsigned char)k->p[1])) return compile_number(k);
    if (compile_is_name(*k->p)) return compile_name(k);
    if (!compile_take(k, "(")) return compile_unexpected(k, "a number, a name or '('");
    if (!compile_sum(k)) return false;
    return compile_take(k, ")") || compile_unexpected(k, "')'");
}

static bool compile_sign(compiler *k)
{
    bool is_negative = false;
    for (compile_skip(k); k->p < k->end && (*k->p == '-' || *k->p == '+'); compile_skip(k))
        is_negative ^= *k->p++ == '-';
    if (++k->nesting > NESTING) return compile_fail(k, k->p, 0, "it is nested too deeply%s", "");
    if (!compile_value(k)) return false;
    if (compile_take(k, "^") || compile_take(k, "**")) {
        if (!compile_sign(k) || !compile_emit(k, (pcs_expression_op){ .code = PCS_OP_POWER }, -1)) return false;
    }
    k->nesting--;
    return !is_negative || compile_emit(k, (pcs_expression_op){ .code = PCS_OP_NEGATE }, 0);
}

static bool compile_product(compiler *k)
{
    bool is_fine = compile_sign(k);
    while (is_fine) {
        bool is_division = compile_take(k, "/");
        if (!is_division && !compile_take(k, "*")) return true;
        pcs_expression_op op = { .code = is_division ? PCS_OP_DIVIDE : PCS_OP_MULTIPLY };
        is_fine = compile_sign(k) && compile_emit(k, op, -1);
    }
    return false;
}

static bool compile_sum(compiler *k)
{
    bool is_fine = compile_product(k);
    while (is_fine) {
        bool is_difference = compile_take(k, "-");
        if (!is_difference && !compile_take(k, "+")) return true;
        pcs_expression_op op = { .code = is_difference ? PCS_OP_SUBTRACT : PCS_OP_ADD };
        is_fine = compile_product(k) && compile_emit(k, op, -1);
    }
    return false;
}

bool pcs_expression_compile(const char *text, size_t length, const char *const *variables, pcs_expression *out,
                            pcs_expression_fault *fault)
{
    compiler k = { .text = text, .p = text, .end = text + length, .variables = variables, .out = out, .fault = fault };
    out->count = 0;
    if (!compile_sum(&k)) return false;
    compile_skip(&k);
    return k.p == k.end || compile_unexpected(&k, "an operator + - * / ^");
}

const char *const *pcs_expression_names(void)
{
    return names;
}

static double expression_one(pcs_expression_code code, double x)
{
    switch (code) {
    case PCS_OP_NEGATE: return -x;
    case PCS_OP_SQRT: return sqrt(x);
    case PCS_OP_SIN: return sin(x);
    case PCS_OP_COS: return cos(x);
    case PCS_OP_TAN: return tan(x);
    case PCS_OP_ASIN: return asin(x);
    case PCS_OP_ACOS: return acos(x);
    case PCS_OP_ATAN: return atan(x);
    case PCS_OP_SINH: return sinh(x);
    case PCS_OP_COSH: return cosh(x);
    case PCS_OP_TANH: return tanh(x);
    case PCS_OP_EXP: return exp(x);
    case PCS_OP_LOG: return log(x);
    case PCS_OP_LOG10: return log10(x);
    case PCS_OP_ABS: return fabs(x);
    case PCS_OP_FLOOR: return floor(x);
    case PCS_OP_CEIL: return ceil(x);
    case PCS_OP_ROUND: return round(x);
    case PCS_OP_STEP: return x < 0.0 ? 0.0 : 1.0;
    default: return NAN;
    }
}

// Applies the operation to x, or to x and y.
static double expression_apply(pcs_expression_code code, double x, double y)
{
    switch (code) {
    case PCS_OP_ADD: return x + y;
    case PCS_OP_SUBTRACT: return x - y;
    case PCS_OP_MULTIPLY: return x * y;
    case PCS_OP_DIVIDE: return x / y;
    case PCS_OP_POWER: return pow(x, y);
    case PCS_OP_ATAN2: return atan2(x, y);
    case PCS_OP_HYPOT: return hypot(x, y);
    case PCS_OP_MIN: return x < y ? x : y;
    case PCS_OP_MAX: return x > y ? x : y;
    case PCS_OP_MOD: return fma(-floor(x / y), y, x);
    default: return expression_one(code, x);
    }
}

double pcs_expression_value(const pcs_expression *e, const double *variables)
{
    double stack[PCS_EXPRESSION_DEPTH];
    int n = 0;
    for (int i = 0; i < e->count; i++) {
        const pcs_expression_op *op = &e->ops[i];
        if (op->code == PCS_OP_NUMBER) {
            stack[n++] = op->number;
        } else if (op->code == PCS_OP_VARIABLE) {
            stack[n++] = variables[op->variable];
        } else if (op->code >= PCS_OP_ADD) {
            n--;
            stack[n - 1] = expression_apply(op->code, stack[n - 1], stack[n]);
        } else {
            stack[n - 1] = expression_one(op->code, stack[n - 1]);
        }
    }
    return n == 1 ? stack[0] : NAN;
}

// Value and two derivatives of an expression by its variable t, exact to round-off: every operation carries
// (u, u', u'') along.
//
//   f(u)    f' = F1 u',                f'' = F2 u'^2 + F1 u''        F1, F2: derivatives of f by u
//   f(u, w) f' = Fu u' + Fw w',        f'' = Fuu u'^2 + 2 Fuw u' w' + Fww w'^2 + Fu u'' + Fw w''

static void rates_slopes(pcs_expression_code code, double x, double f[3])
{
    static const double ln10 = 2.30258509299404568402;
    double s = sin(x), c = cos(x), r = 1.0 - x * x, q = 1.0 + x * x;
    double slopes[2] = { 0.0, 0.0 }; // derivatives of what is constant between its jumps
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

// Evaluates the partial derivatives of an operation on a pair: by u, w, uu, uw, ww; f is its value.
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

// Evaluates those of a power; by w only if the exponent varies, since log u may not exist.
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
    double f = expression_apply(code, u[0], w[0]), d[5] = { 0 };
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
    double f[3] = { expression_apply(code, u[0], 0.0) };
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
        } else if (op->code >= PCS_OP_ADD) {
            n--;
            rates_pair(op->code, stack[n - 1], stack[n]);
        } else {
            rates_one(op->code, stack[n - 1]);
        }
    }
    memcpy(rates, stack[0], 3 * sizeof *rates);
}
