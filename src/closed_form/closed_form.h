// Turns a closed-form definition into a system.

#ifndef PCS_CLOSED_FORM_CLOSED_FORM_H
#define PCS_CLOSED_FORM_CLOSED_FORM_H

#include "percuss_system.h"
#include "system/system.h"

enum { PCS_MAX_COORDINATES = 16, PCS_MAX_CLOSED_ROWS = 64 };

// The closed-form systems of this program, ends with NULL.
extern const percuss_system_definition *const pcs_closed_forms[];

// Returns the parameter table as options; `params` is then an array of doubles.
pcs_status pcs_closed_form_options(pcs_context *ctx, const percuss_system_definition *definition, pcs_option **out);

// Checks that the definition is complete: interface, names, required functions. PCS_BAD_INPUT names what is missing.
pcs_status pcs_closed_form_verify(pcs_context *ctx, const percuss_system_definition *definition);
// Checks that its functions agree with each other at and near a state. PCS_BAD_INPUT names those that do not.
pcs_status pcs_closed_form_compare(pcs_context *ctx, const percuss_system_definition *definition, const double *params,
                                   const double *q, const double *v);

// Creates the system; `params` are borrowed and must live as long as the context.
pcs_status pcs_closed_form_create(pcs_context *ctx, const percuss_system_definition *definition, const double *params,
                                  pcs_system **out);

#endif
