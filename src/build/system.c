// The `system` section: a closed-form system by its type, or one of the user's own from a shared object.

#define _XOPEN_SOURCE 700 // dlopen, realpath

#include "build/builder.h"
#include "closed_form/closed_form.h"
#include "core/open.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct system_keys {
    pcs_yaml *plugin;
} system_keys;

static const pcs_form plugin_form = { .shown = "path", .json = "'type':'string','minLength':1" };
static const pcs_option system_options[] = {
    PCS_NODE("plugin", system_keys, plugin, PCS_OPTIONAL, plugin_form,
             "a shared object with a system of your own, instead of `type`"),
    { .name = NULL },
};

static bool closed_form_parts(pcs_context *ctx, int i, pcs_map_part *out)
{
    const percuss_system_definition *d = pcs_closed_forms[i];
    pcs_option *options = NULL;
    if (d == NULL || (ctx != NULL && pcs_closed_form_options(ctx, d, &options) != PCS_OK)) return false;
    *out = (pcs_map_part){ d->name, d->summary, options, NULL, NULL };
    return true;
}

const pcs_map pcs_system_map = { .name = "system",
                                 .kind = PCS_MAP_TYPES,
                                 .options = system_options,
                                 .parts = closed_form_parts,
                                 .stands_for = "plugin" };

static void system_unload(void *handle)
{
    dlclose(handle);
}

pcs_status pcs_system_open(pcs_context *ctx, const char *path, const percuss_system_definition **out)
{
    long long size;
    int file = pcs_open_input(path, &size);
    if (file < 0 && errno != ENOENT)
        return pcs_fail(ctx, PCS_BAD_INPUT, "the plug-in cannot be loaded: %s: %s", path, pcs_open_reason(errno));
    if (file >= 0) close(file);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) return pcs_fail(ctx, PCS_BAD_INPUT, "the plug-in cannot be loaded: %s", dlerror());
    PCS_TRY(pcs_defer(ctx, system_unload, handle));
    const percuss_system_definition *definition = dlsym(handle, "percuss_system");
    if (definition == NULL)
        return pcs_fail(ctx, PCS_BAD_INPUT, "the plug-in '%s' has no symbol 'percuss_system'", path);
    PCS_TRY(pcs_closed_form_verify(ctx, definition));
    *out = definition;
    return PCS_OK;
}

// Loads the definition from a shared object; a relative path is taken from the folder of the file that names it.
static pcs_status system_load(pcs_build *b, pcs_yaml *section, const percuss_system_definition **out)
{
    char path[4096], whole[PATH_MAX];
    pcs_yaml *node = pcs_case_get(b->c, section, "plugin");
    const char *text = pcs_case_text(b->c, node);
    if (text == NULL) return PCS_OK;
    snprintf(path, sizeof path, "%s%s%s", text[0] == '/' ? "" : pcs_case_folder_of(b->c, node),
             text[0] == '/' ? "" : "/", text);
    pcs_status status = b->no_plugins
                            ? pcs_fail(b->ctx, PCS_BAD_INPUT, "--no-plugins: loading '%s' runs its code", path)
                            : pcs_system_open(b->ctx, path, out);
    if (status != PCS_OK) {
        pcs_case_leave(section); // it alone knows the parameters
        return pcs_build_blame(b, node, status);
    }
    // The resolved case lies in another folder and must find the object, too.
    return realpath(path, whole) == NULL ? PCS_OK : pcs_case_resolve(b->c, section, "plugin", whole);
}

static pcs_status system_find(pcs_build *b, pcs_yaml *section, const percuss_system_definition **out)
{
    const char *names[64] = { NULL };
    if (pcs_case_get(b->c, section, "plugin") != NULL) {
        if (pcs_case_get(b->c, section, "type") != NULL)
            pcs_case_error_at(b->c, section, "type", "'type' and 'plugin' are both given, only one is allowed");
        return system_load(b, section, out);
    }
    int count = 0;
    for (; pcs_closed_forms[count] != NULL && count < 62; count++) names[count] = pcs_closed_forms[count]->name;
    if (b->own != NULL) names[count] = b->own->name;
    int type = pcs_case_type(b->c, section, names);
    if (type >= 0) *out = type < count ? pcs_closed_forms[type] : b->own;
    return PCS_OK;
}

// Nobody has tested a system of the user before: its functions are compared where it starts.
static pcs_status system_compare(pcs_build *b, const percuss_system_definition *definition, const double *params)
{
    double q[PCS_MAX_COORDINATES] = { 0 }, v[PCS_MAX_COORDINATES] = { 0 };
    definition->start(params, q, v);
    return pcs_closed_form_compare(b->ctx, definition, params, q, v);
}

pcs_status pcs_build_system(pcs_build *b)
{
    pcs_yaml *section = pcs_case_get(b->c, pcs_case_root(b->c), "system");
    if (section == NULL) return PCS_OK;
    b->has_system = true;
    if (!pcs_case_is(b->c, section, PCS_YAML_MAP)) return PCS_OK;
    const percuss_system_definition *definition = NULL;
    PCS_TRY(system_find(b, section, &definition));
    if (definition == NULL) return PCS_OK;
    bool is_new = definition == b->own || pcs_case_get(b->c, section, "plugin") != NULL;
    pcs_option *options = NULL;
    double *params = NULL;
    const char *option = NULL;
    PCS_TRY(pcs_closed_form_options(b->ctx, definition, &options));
    int count = 0;
    while (options[count].name != NULL) count++;
    PCS_TAKE(b->ctx, params, count, "parameters");
    if (!pcs_case_read(b->c, section, options, params)) return PCS_OK;
    const char *fault = definition->check == NULL ? NULL : definition->check(params, &option);
    if (fault != NULL) {
        pcs_case_fault(b->c, section, option, fault);
        return PCS_OK;
    }
    b->sim->has_own_system = is_new;
    b->definition = definition;
    b->system_params = params;
    pcs_status status = is_new ? system_compare(b, definition, params) : PCS_OK;
    if (status == PCS_OK) status = pcs_closed_form_create(b->ctx, definition, params, &b->sim->system);
    return status == PCS_OK ? PCS_OK : pcs_build_blame(b, section, status);
}
