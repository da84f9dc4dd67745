// The bar cases and the schemes in a form that can be refined: elements and step together.

#ifndef REFINE_H
#define REFINE_H

#include "run_case.h"

enum { REFINE_PROBLEMS = 4, REFINE_METHODS = 6, REFINE_TEXT = 96, REFINE_SETS = 8 };

typedef struct refine_problem {
    const char *path;
    exact_bar (*exact)(void);
    case_place place;
    double end;            // s, what is measured
    const char *groups[2]; // names of mesh and element groups, the second may be NULL
} refine_problem;

typedef struct refine_method {
    const char *name;
    const char *scheme; // the case's `scheme`
    const char *mass;   // of the elements
    double courant;     // c h / l
    bool is_explicit;
} refine_method;

extern const refine_problem refine_problems[REFINE_PROBLEMS];
extern const refine_method refine_methods[REFINE_METHODS];

// The assignments for n elements per bar.
typedef struct refine_sets {
    char text[REFINE_SETS][REFINE_TEXT];
    const char *set[REFINE_SETS + 1]; // ends with NULL
} refine_sets;

// Step c h / l = courant (to 7 digits); the run ends with the first whole step at or after `end`.
void refine_assign(const refine_problem *problem, const refine_method *method, int n, double end, refine_sets *out);
case_errors refine_measure(const refine_problem *problem, const refine_method *method, int n, long samples);

#endif
