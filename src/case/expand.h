// From the tree as it was written to plain YAML: parameters, formulas in texts, repeated entries; private to this
// folder.

#ifndef PCS_CASE_EXPAND_H
#define PCS_CASE_EXPAND_H

#include "case/tree.h"

enum {
    PCS_PARAMETER_NESTING = 32, // parameters that wait for one another
    PCS_MOST_COPIED = 1 << 22,  // nodes of all copies
};

typedef enum pcs_parameter_state {
    PCS_PARAMETER_UNSEEN,
    PCS_PARAMETER_OPEN, // is being evaluated
    PCS_PARAMETER_KNOWN,
    PCS_PARAMETER_WRONG
} pcs_parameter_state;

typedef struct pcs_expansion {
    pcs_case *c;
    int nparameter;
    const char **names;          // [nparameter + 2] of the parameters, then "i" within a repeated entry; ends with NULL
    pcs_yaml **nodes;            // [nparameter]
    double *values;              // [nparameter + 1]
    pcs_parameter_state *states; // [nparameter]
    bool *is_used;               // [nparameter]
    int nopen, open[PCS_PARAMETER_NESTING]; // those being evaluated, each for the one before
    long ncopied;
} pcs_expansion;

// What formulas call the number of a copy.
extern const char pcs_copy_name[];

// Takes the section `parameters` out of the root.
bool pcs_parameters_open(pcs_expansion *x, pcs_yaml *root);
// Evaluates all parameters that were not asked for, and reports assigned ones that nothing uses.
void pcs_parameters_close(pcs_expansion *x);
// Makes sure that values[k] is known; false when it is wrong, which has been told then.
bool pcs_parameters_need(pcs_expansion *x, const pcs_yaml *user, int k);
// Sets the number of the copy that ${i} stands for, 0: none; returns that before.
int pcs_parameters_copy(pcs_expansion *x, int number);

// Puts values for all ${...} of a scalar; false and an error when one is wrong.
bool pcs_expand_scalar(pcs_expansion *x, pcs_yaml *node);
bool pcs_expand_has_formula(const char *text);
// Expands a node and all that is below; false without memory.
bool pcs_expand_node(pcs_expansion *x, pcs_yaml *node);

// Moves the positions of an entry by `times` times `shift`; false when it has none.
bool pcs_shift_entry(pcs_case *c, pcs_yaml *entry, int times, const double shift[3]);

#endif
