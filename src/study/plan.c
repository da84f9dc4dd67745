// Axes and points of a study.

#include "study/plan.h"
#include "core/text.h"
#include "study/functions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static char *plan_copy(pcs_context *ctx, const char *text, size_t length)
{
    char *copy = pcs_take(ctx, length + 1, 1, "a study");
    if (copy != NULL) memcpy(copy, text, length);
    return copy;
}

// a:b:c as numbers; false when the text is something else.
static bool plan_is_range(const char *text, double out[3])
{
    for (int k = 0; k < 3; k++) {
        const char *end;
        out[k] = pcs_text_number(text, &end);
        if (end == text || *end != (k < 2 ? ':' : '\0')) return false;
        text = end + 1;
    }
    return true;
}

// From a to b by c; b belongs to it where a whole number of steps leads there, to round-off.
static pcs_status plan_range(pcs_context *ctx, const char *key, const double r[3], int *count, const char ***out)
{
    double steps = floor((r[1] - r[0]) / r[2] + 1e-9);
    if (steps >= PCS_STUDY_POINTS && isfinite(steps))
        return pcs_fail(ctx, PCS_BAD_INPUT, "%s: a study has at most %d points, from %g to %g by %g are %.0f", key,
                        PCS_STUDY_POINTS, r[0], r[1], r[2], steps + 1.0);
    if (!isfinite(steps) || steps < 0.0)
        return pcs_fail(ctx, PCS_BAD_INPUT, "%s: no values from %g to %g by %g", key, r[0], r[1], r[2]);
    *count = (int)steps + 1;
    PCS_TAKE(ctx, *out, *count, "a study");
    for (int i = 0; i < *count; i++) {
        char text[PCS_NUMBER_BYTES];
        // 0.1 + 2 0.1 is 0.30000000000000004; twelve digits are what was meant.
        snprintf(text, sizeof text, "%.12g", r[0] + i * r[2]);
        pcs_text_set_point(text);
        (*out)[i] = pcs_take_text(ctx, text);
        if ((*out)[i] == NULL) return PCS_NO_MEMORY;
    }
    return PCS_OK;
}

// Length up to the comma that ends a value.
static size_t plan_part(const char *text)
{
    return pcs_text_part(text, ",", "[]{}");
}

pcs_status pcs_plan_values(pcs_context *ctx, const char *key, const char *text, int *count, const char ***out)
{
    double range[3];
    if (plan_is_range(text, range)) return plan_range(ctx, key, range, count, out);
    *count = 1;
    for (const char *p = text; p[plan_part(p)] != '\0'; p += plan_part(p) + 1) ++*count;
    PCS_TAKE(ctx, *out, *count, "a study");
    for (int i = 0; i < *count; i++) {
        size_t length = plan_part(text), begin = strspn(text, " ");
        if (begin >= length) return pcs_fail(ctx, PCS_BAD_INPUT, "%s: a value is empty", key);
        (*out)[i] = plan_copy(ctx, text + begin, length - begin);
        if ((*out)[i] == NULL) return PCS_NO_MEMORY;
        text += length + 1;
    }
    return PCS_OK;
}

pcs_status pcs_plan_add_axis(pcs_plan *plan, int nkey, const char *const *keys, int count, const char *const *values)
{
    if (plan->naxis == PCS_STUDY_AXES || plan->nkey + nkey > PCS_STUDY_KEYS)
        return pcs_fail(plan->ctx, PCS_BAD_INPUT, "a study varies at most %d keys", PCS_STUDY_KEYS);
    if ((double)plan->npoint * count > PCS_STUDY_POINTS)
        return pcs_fail(plan->ctx, PCS_BAD_INPUT, "a study has at most %d points, this has %.0f", PCS_STUDY_POINTS,
                        (double)plan->npoint * count);
    for (int k = 0; k < nkey; k++)
        for (int i = 0; i < plan->nkey; i++)
            if (strcmp(plan->keys[i], keys[k]) == 0)
                return pcs_fail(plan->ctx, PCS_BAD_INPUT, "'%s' is varied twice", keys[k]);
    plan->axes[plan->naxis++] = (pcs_axis){ plan->nkey, nkey, count, values };
    for (int k = 0; k < nkey; k++) plan->keys[plan->nkey++] = keys[k];
    plan->npoint *= count;
    return PCS_OK;
}

pcs_status pcs_plan_vary(pcs_plan *plan, const char *text)
{
    const char *sign = strchr(text, '=');
    if (sign == NULL || sign == text)
        return pcs_fail(plan->ctx, PCS_BAD_INPUT, "--vary %s: wanted is path.to.key=value,value or =from:to:by", text);
    const char *key = plan_copy(plan->ctx, text, (size_t)(sign - text));
    const char **keys, **values;
    int count;
    if (key == NULL) return PCS_NO_MEMORY;
    PCS_TAKE(plan->ctx, keys, 1, "a study");
    keys[0] = key;
    PCS_TRY(pcs_plan_values(plan->ctx, key, sign + 1, &count, &values));
    return pcs_plan_add_axis(plan, 1, keys, count, values);
}

pcs_status pcs_plan_refine(pcs_plan *plan, const char *what, int factor, int levels)
{
    bool is_mesh = strcmp(what, "mesh") == 0;
    if (!is_mesh && strcmp(what, "step") != 0)
        return pcs_fail(plan->ctx, PCS_BAD_INPUT, "refine: must be of mesh or step, is '%s'", what);
    if (factor < 2 || factor > 10 || levels < 3 || levels > 8)
        return pcs_fail(plan->ctx, PCS_BAD_INPUT,
                        "refine: %s: a factor from 2 to 10 and 3 to 8 levels are wanted, these are %d and %d", what,
                        factor, levels);
    *(is_mesh ? &plan->mesh : &plan->step) = (pcs_refinement){ factor, levels };
    return PCS_OK;
}

pcs_status pcs_plan_settle(pcs_plan *plan)
{
    const pcs_refinement *mesh = &plan->mesh, *step = &plan->step;
    bool has_both = mesh->levels > 0 && step->levels > 0;
    plan->nlevel = mesh->levels > step->levels ? mesh->levels : step->levels;
    if (plan->nlevel == 0) plan->nlevel = 1;
    if (plan->is_separate && !has_both)
        return pcs_fail(plan->ctx, PCS_BAD_INPUT, "refine: mesh and step are both needed to refine them separately");
    if (plan->is_separate) plan->nlevel = mesh->levels + step->levels - 1;
    if ((double)plan->npoint * plan->nlevel > PCS_STUDY_POINTS)
        return pcs_fail(plan->ctx, PCS_BAD_INPUT, "a study has at most %d runs, this has %.0f: %d points at %d levels",
                        PCS_STUDY_POINTS, (double)plan->npoint * plan->nlevel, plan->npoint, plan->nlevel);
    bool is_alike = mesh->levels == step->levels && mesh->factor == step->factor;
    if (!has_both || plan->is_separate || is_alike) return PCS_OK;
    return pcs_fail(plan->ctx, PCS_BAD_INPUT,
                    "refine: mesh and step go together with the same factor and levels, or separately");
}

int pcs_plan_power(const pcs_plan *plan, bool of_mesh, int level)
{
    int coarse = plan->step.levels - 1; // levels of the step, but its finest
    if (!plan->is_separate) return level;
    if (level < coarse) return of_mesh ? plan->mesh.levels - 1 : level;
    return of_mesh ? level - coarse : coarse;
}

int pcs_plan_sequence(const pcs_plan *plan, bool of_mesh, int levels[PCS_STUDY_LEVELS])
{
    int count = plan->nlevel, first = 0;
    if (plan->is_separate) count = of_mesh ? plan->mesh.levels : plan->step.levels;
    if (plan->is_separate && of_mesh) first = plan->step.levels - 1;
    for (int k = 0; k < count; k++) levels[k] = first + k;
    levels[count - 1] = plan->nlevel - 1;
    return count;
}

pcs_status pcs_plan_measure(pcs_plan *plan, const char *name, const char *place, const char *folder)
{
    pcs_measure_request *more;
    for (int m = 0; m < plan->nmeasure; m++)
        if (strcmp(plan->measures[m].name, name) == 0)
            return pcs_fail(plan->ctx, PCS_BAD_INPUT, "measure '%s' is there twice", name);
    pcs_status status = pcs_function_locate(plan->ctx, folder, place, &place);
    if (status != PCS_OK) return pcs_wrap(plan->ctx, status, "measure '%s'", name);
    plan->needs_history = plan->needs_history || pcs_function_is_used(place);
    PCS_TAKE(plan->ctx, more, plan->nmeasure + 1, "a study");
    if (plan->nmeasure > 0) memcpy(more, plan->measures, (size_t)plan->nmeasure * sizeof *more);
    more[plan->nmeasure++] = (pcs_measure_request){ name, place };
    plan->measures = more;
    return PCS_OK;
}

const char *pcs_plan_assignment(pcs_context *ctx, const char *key, const char *value)
{
    size_t room = strlen(key) + strlen(value) + 2;
    char *text = pcs_take(ctx, room, 1, "a study");
    if (text != NULL) snprintf(text, room, "%s=%s", key, value);
    return text;
}

const char *pcs_plan_value(const pcs_plan *plan, int point, int key)
{
    int place = point; // the last axis runs fastest
    for (int a = plan->naxis - 1; a >= 0; a--) {
        const pcs_axis *axis = &plan->axes[a];
        int at = place % axis->count;
        place /= axis->count;
        if (key >= axis->first_key && key < axis->first_key + axis->nkey)
            return axis->values[at * axis->nkey + key - axis->first_key];
    }
    return NULL;
}
