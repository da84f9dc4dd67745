// Reads JSON by the reader of cases: JSON is YAML.

#include "case/json.h"
#include "core/text.h"

#include <math.h>
#include <string.h>

enum { MOST_BYTES = 1 << 26 };

pcs_status pcs_json_load(pcs_context *ctx, const char *path, const pcs_yaml **root)
{
    char *text = NULL;
    size_t size = 0;
    pcs_case *c = NULL;
    PCS_TRY(pcs_text_file(ctx, path, "the results", MOST_BYTES, &text, &size));
    pcs_status status = pcs_case_parse(ctx, path, text, size, &c);
    pcs_scratch_free(text);
    if (status == PCS_OK) *root = pcs_case_root(c);
    return status;
}

static const pcs_yaml *json_child(const pcs_yaml *map, const char *key, size_t length)
{
    if (pcs_yaml_get_kind(map) != PCS_YAML_MAP) return NULL;
    for (int i = 0; i < pcs_yaml_count(map); i++) {
        const char *name = pcs_yaml_key(map, i);
        if (strlen(name) == length && strncmp(name, key, length) == 0) return pcs_yaml_item(map, i);
    }
    return NULL;
}

const pcs_yaml *pcs_json_at(const pcs_yaml *map, const char *place)
{
    while (map != NULL && *place != '\0') {
        size_t length = strcspn(place, ".");
        map = json_child(map, place, length);
        place += length + (place[length] == '.');
    }
    bool is_null = map != NULL && pcs_yaml_get_kind(map) == PCS_YAML_SCALAR && strcmp(pcs_yaml_text(map), "null") == 0;
    return is_null ? NULL : map;
}

const char *pcs_json_string(const pcs_yaml *map, const char *place)
{
    const pcs_yaml *node = pcs_json_at(map, place);
    return node == NULL || pcs_yaml_get_kind(node) != PCS_YAML_SCALAR ? "" : pcs_yaml_text(node);
}

double pcs_json_number(const pcs_yaml *map, const char *place)
{
    const char *end, *text = pcs_json_string(map, place);
    double value = pcs_text_number(text, &end);
    return end != text && *end == '\0' ? value : NAN;
}

int pcs_json_count(const pcs_yaml *map, const char *place)
{
    const pcs_yaml *node = pcs_json_at(map, place);
    return node == NULL || pcs_yaml_get_kind(node) != PCS_YAML_LIST ? 0 : pcs_yaml_count(node);
}
