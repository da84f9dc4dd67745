// Expressions: values to the last bit, faults with their place, derivatives against differences.

#include "core/expression.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const variables[] = { "L", "v0", "t_1", NULL };
static const double values[] = { 0.3, 7.0, -2.5 };

typedef struct expected {
    const char *text;
    double value;
} expected;

static void check_values(int count, const expected *table)
{
    for (int i = 0; i < count; i++) {
        pcs_expression e;
        pcs_expression_fault fault;
        bool is_fine = pcs_expression_compile(table[i].text, strlen(table[i].text), variables, &e, &fault);
        double value = is_fine ? pcs_expression_value(&e, values) : NAN;
        bool is_same = is_fine && memcmp(&value, &table[i].value, sizeof value) == 0;
        if (!is_same) print_message("%s = %.17g, wanted %.17g\n", table[i].text, value, table[i].value);
        CHECK(is_same);
    }
}

TEST(arithmetic_is_that_of_c)
{
    const double L = 0.3, v0 = 7.0, t = -2.5, pi = 3.14159265358979323846;
    const expected table[] = {
        { "0.1 + 0.2", 0.1 + 0.2 },
        { "L/2", L / 2 },
        { " 1e-3 ", 1e-3 },
        { "1.5E+2", 150.0 },
        { ".5", 0.5 },
        { "5.", 5.0 },
        { "2*3+4*5", 26.0 },
        { "2+3*4^2", 50.0 },
        { "10-4-3", 3.0 },
        { "100/10/5", 2.0 },
        { "2^3^2", 512.0 },
        { "2**3**2", 512.0 },
        { "-2^2", -4.0 },
        { "(-2)^2", 4.0 },
        { "2^-1", 0.5 },
        { "2^-1^2", 0.5 },
        { "--3", 3.0 },
        { "+-+3", -3.0 },
        { "2 - -3", 5.0 },
        { "2*-3", -6.0 },
        { "1/3", 1.0 / 3.0 },
        { "pi", pi },
        { "e", 2.71828182845904523536 },
        { "v0*t_1", v0 * t },
    };
    check_values(sizeof table / sizeof *table, table);
}

TEST(functions_are_those_of_c)
{
    volatile double L = 0.3, t = -2.5; // the compiler's own functions may round otherwise
    const expected table[] = {
        { "sqrt(2)", 1.4142135623730951 },
        { "sin(L)", sin(L) },
        { "cos(L)", cos(L) },
        { "tan(L)", tan(L) },
        { "asin(L)", asin(L) },
        { "acos(L)", acos(L) },
        { "atan(L)", atan(L) },
        { "atan2(L, t_1)", atan2(L, t) },
        { "sinh(L)", sinh(L) },
        { "cosh(L)", cosh(L) },
        { "tanh(L)", tanh(L) },
        { "exp(L)", exp(L) },
        { "log(L)", log(L) },
        { "log10(L)", log10(L) },
        { "abs(t_1)", 2.5 },
        { "hypot(3, 4)", 5.0 },
        { "min(3)", 3.0 },
        { "min(3, 1, 2)", 1.0 },
        { "max(3, 1, v0, 2)", 7.0 },
        { "mod(7, 4)", 3.0 },
        { "mod(-1, 4)", 3.0 },
        { "floor(t_1)", -3.0 },
        { "ceil(t_1)", -2.0 },
        { "round(t_1)", -3.0 },
        { "step(t_1) + 10*step(0)", 10.0 },
        { "round(98079.2)/1e5", 0.98079 },
    };
    check_values(sizeof table / sizeof *table, table);
}

TEST(faults_say_where_and_what)
{
    const struct {
        const char *text;
        size_t at;
        const char *what;
    } table[] = {
        { "", 0, "it ends too early, expected a number, a name or '('" },
        { "1 +", 3, "it ends too early" },
        { "2L", 1, "unexpected 'L', expected an operator" },
        { "1,5", 1, "unexpected ','" },
        { "1 + foo*2", 4, "unknown name 'foo'" },
        { "sin 2", 0, "'sin' is a function and needs (...)" },
        { "sin(1, 2)", 0, "sin takes 1 value" },
        { "1 + atan2(1)", 4, "atan2 takes 2 values" },
        { "(1 + 2", 6, "it ends too early, expected ')'" },
        { "min(1 2)", 6, "unexpected '2', expected ',' or ')'" },
        { "1.2.3", 3, "unexpected '.3'" },
        { "1e999", 0, "'1e999' is no number" },
        { "2 $ 3", 2, "unexpected '$'" },
        { "L(2)", 1, "unexpected '('" },
        { "1 / / 2", 4, "unexpected '/'" },
        { "()", 1, "unexpected ')'" },
        { "3 \xc3\xa4", 2, "unexpected '\xc3\xa4'" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        pcs_expression e;
        pcs_expression_fault fault = { 0 };
        CHECK(!pcs_expression_compile(table[i].text, strlen(table[i].text), variables, &e, &fault));
        bool is_said = strstr(fault.what, table[i].what) != NULL && fault.at == table[i].at;
        if (!is_said) print_message("'%s': at %zu, %s\n", table[i].text, fault.at, fault.what);
        CHECK(is_said && fault.is_name == (strstr(table[i].what, "unknown") != NULL));
    }
}

// Whatever its depth and length, a text is compiled or refused.
TEST(monsters_are_refused)
{
    static char text[20000];
    static const char *const pieces[] = { "(", "-", "1+(", "sin(", "2^", "1+" };
    pcs_expression e;
    pcs_expression_fault fault;
    for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
        text[0] = '\0';
        size_t length = strlen(pieces[k]);
        for (size_t used = 0; used + length + 2 < sizeof text; used += length)
            memcpy(text + used, pieces[k], length + 1);
        strcat(text, "1");
        bool is_fine = pcs_expression_compile(text, strlen(text), variables, &e, &fault);
        CHECK(is_fine == (pieces[k][0] == '-'));
    }
}

TEST(derivatives_are_those_of_differences)
{
    static const char *const names[] = { "t", NULL };
    static const char *const texts[] = {
        "3",
        "t",
        "-t*t",
        "sqrt(t)",
        "sin(3*t)",
        "cos(t^2)",
        "tan(t)",
        "asin(t/3)",
        "acos(t/3)",
        "atan(2*t)",
        "atan2(t, 2-t)",
        "sinh(t)",
        "cosh(t*t)",
        "tanh(t)",
        "exp(-t)*sin(t)",
        "log(t)",
        "log10(1+t)",
        "abs(t-5)",
        "hypot(t, t^2)",
        "min(t^2, 9)",
        "max(t, t^3)",
        "mod(t^2, 0.9)",
        "t^3.5",
        "2^t",
        "t^t",
        "(1-t^2)/(1+t)",
        "t - step(t-0.2)*t^2",
        "t^0 + t^1 + (t-1)^2",
        "sqrt(0)*t + 0^2",
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        pcs_expression e;
        pcs_expression_fault fault;
        CHECK(pcs_expression_compile(texts[k], strlen(texts[k]), names, &e, &fault));
        for (double t = 0.4; t < 0.9; t += 0.17) {
            double r[3], ahead[3], behind[3], eps = 1e-6;
            pcs_expression_rates(&e, t, r);
            pcs_expression_rates(&e, t + eps, ahead);
            pcs_expression_rates(&e, t - eps, behind);
            CHECK(r[0] == pcs_expression_value(&e, &t));
            for (int i = 0; i < 2; i++) {
                double slope = (ahead[i] - behind[i]) / (2.0 * eps);
                bool is_near = fabs(r[i + 1] - slope) <= 1e-7 * (1.0 + fabs(slope));
                if (!is_near) print_message("%s at %g: %.12g, by differences %.12g\n", texts[k], t, r[i + 1], slope);
                CHECK(is_near);
            }
        }
    }
}
