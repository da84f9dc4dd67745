// Arithmetic written as text, compiled once to a program for a stack machine and then evaluated without memory.
//
//   sum      = product { (+|-) product }
//   product  = sign { (*|/) sign }
//   sign     = { +|- } power
//   power    = value [ (^|**) sign ]          2^3^2 = 2^(3^2), -2^2 = -(2^2)
//   value    = number | name | function ( sum { , sum } ) | ( sum )
//
// Names are constants (pi, e) and the caller's variables. Nothing has side effects.

#ifndef PCS_CORE_EXPRESSION_H
#define PCS_CORE_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

enum {
    PCS_EXPRESSION_OPS = 256,  // most operations of a program
    PCS_EXPRESSION_DEPTH = 48, // most values on its stack
};

typedef enum pcs_expression_code {
    PCS_OP_NUMBER,
    PCS_OP_VARIABLE,
    PCS_OP_NEGATE,
    PCS_OP_SQRT,
    PCS_OP_SIN,
    PCS_OP_COS,
    PCS_OP_TAN,
    PCS_OP_ASIN,
    PCS_OP_ACOS,
    PCS_OP_ATAN,
    PCS_OP_SINH,
    PCS_OP_COSH,
    PCS_OP_TANH,
    PCS_OP_EXP,
    PCS_OP_LOG,
    PCS_OP_LOG10,
    PCS_OP_ABS,
    PCS_OP_FLOOR,
    PCS_OP_CEIL,
    PCS_OP_ROUND,
    PCS_OP_STEP,
    PCS_OP_ADD, // from here on operations on two values
    PCS_OP_SUBTRACT,
    PCS_OP_MULTIPLY,
    PCS_OP_DIVIDE,
    PCS_OP_POWER,
    PCS_OP_ATAN2,
    PCS_OP_HYPOT,
    PCS_OP_MIN,
    PCS_OP_MAX,
    PCS_OP_MOD
} pcs_expression_code;

typedef struct pcs_expression_op {
    pcs_expression_code code;
    int variable;  // index, for PCS_OP_VARIABLE
    double number; // value, for PCS_OP_NUMBER
} pcs_expression_op;

typedef struct pcs_expression {
    int count;
    pcs_expression_op ops[PCS_EXPRESSION_OPS]; // [count]
} pcs_expression;

// Describes a syntax error and its position in the text.
typedef struct pcs_expression_fault {
    size_t at, length; // bytes of the text; length 0 if it ends too early
    bool is_name;      // unknown name
    char what[112];
} pcs_expression_fault;

// Compiles a formula of NULL-terminated `variables`, numbered as in the array of values. False, with *fault, if wrong.
bool pcs_expression_compile(const char *text, size_t length, const char *const *variables, pcs_expression *out,
                            pcs_expression_fault *fault);
double pcs_expression_value(const pcs_expression *e, const double *variables);
// Evaluates the value and its first two derivatives by the only variable. At jumps and kinks: those of one side.
void pcs_expression_rates(const pcs_expression *e, double t, double rates[3]);
// Returns the names of functions and constants, NULL-terminated.
const char *const *pcs_expression_names(void);

#endif
