// percuss --version: what was built, by what, and which libraries are linked. Versions come from the libraries that
// are loaded, or from the build if these do not give one.

#define _GNU_SOURCE // dladdr, RTLD_DEFAULT

#include "case/case.h"
#include "cli/commands.h"
#include "linsolve/linsolve.h"
#include "percuss.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

void ilaver_(int *major, int *minor, int *patch);

// Writes the configuration of OpenBLAS, or the file name of another BLAS.
static void version_blas(size_t size, char *text)
{
    void *symbol = dlsym(RTLD_DEFAULT, "openblas_get_config");
    char *(*tell)(void) = NULL;
    Dl_info info;
    memcpy(&tell, &symbol, sizeof tell);
    if (tell != NULL) {
        snprintf(text, size, "%s", tell());
        return;
    }
    symbol = dlsym(RTLD_DEFAULT, "dgemm_");
    const char *name = symbol != NULL && dladdr(symbol, &info) != 0 ? info.dli_fname : "linked in";
    const char *slash = strrchr(name, '/');
    snprintf(text, size, "%s", slash == NULL ? name : slash + 1);
}

static void version_line(const char *name, const char *text)
{
    printf("%-12s %s\n", name, text);
}

static void version_numbers(const char *name, const int version[3])
{
    printf("%-12s %d.%d.%d\n", name, version[0], version[1], version[2]);
}

void pcs_cli_version(void)
{
    int suite[3], cholmod[3], lapack[3];
    char text[256] = "";
    printf("percuss %s\n", percuss_version());
    version_line("compiler", COMPILER);
    version_line("build", PERCUSS_BUILD);
    pcs_suitesparse_version(suite, cholmod);
    snprintf(text, sizeof text, "%d.%d.%d, CHOLMOD %d.%d.%d", suite[0], suite[1], suite[2], cholmod[0], cholmod[1],
             cholmod[2]);
    version_line("SuiteSparse", text);
    version_line("ARPACK", PERCUSS_ARPACK);
    version_blas(sizeof text, text);
    version_line("BLAS", text);
    ilaver_(&lapack[0], &lapack[1], &lapack[2]);
    version_numbers("LAPACK", lapack);
    version_line("libyaml", pcs_yaml_version());
    version_line("PETSc", PERCUSS_PETSC_VERSION);
}
