// Result files in JSON (RFC 8259), read into the nodes of cases.

#ifndef PCS_CASE_JSON_H
#define PCS_CASE_JSON_H

#include "case/case.h"

// What is no JSON object is PCS_BAD_INPUT, with the line.
pcs_status pcs_json_load(pcs_context *ctx, const char *path, const pcs_yaml **root);
// The same without the value of that key of the object, which may be large.
pcs_status pcs_json_load_but(pcs_context *ctx, const char *path, const char *key, const pcs_yaml **root);
// The node at "energy.final" below a map; NULL: there is none, or it is null.
const pcs_yaml *pcs_json_at(const pcs_yaml *map, const char *place);
// A number, NAN: there is none; a text, "": there is none; the number of items, 0: there is no such list.
double pcs_json_number(const pcs_yaml *map, const char *place);
const char *pcs_json_string(const pcs_yaml *map, const char *place);
int pcs_json_count(const pcs_yaml *map, const char *place);

#endif
