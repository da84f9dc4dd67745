// Lets a program run in another rounding mode of the processor: PERCUSS_ROUNDING=upward build/percuss run ...
// Linked into every program of a build with -DPERCUSS_ROUNDING=ON. Texts are read and written to the nearest number in
// every mode (cmake/flags.cmake leads the calls here), so that a case and its messages are the same.

#include <fenv.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int mode;
} modes[] = {
    { "nearest", FE_TONEAREST }, { "upward", FE_UPWARD }, { "downward", FE_DOWNWARD }, { "zero", FE_TOWARDZERO }
};

// Before main, so that threads have the mode, too.
__attribute__((constructor)) static void set_rounding(void)
{
    const char *wanted = getenv("PERCUSS_ROUNDING");
    if (wanted == NULL) return;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(wanted, modes[i].name) == 0 && fesetround(modes[i].mode) == 0) return;
    fprintf(stderr, "PERCUSS_ROUNDING is nearest, upward, downward or zero, not '%s'\n", wanted);
    exit(2);
}

static int begin_nearest(void)
{
    int mode = fegetround();
    fesetround(FE_TONEAREST);
    return mode;
}

double __real_strtod(const char *text, char **end);
double __wrap_strtod(const char *text, char **end);
double __wrap_strtod(const char *text, char **end)
{
    int mode = begin_nearest();
    double value = __real_strtod(text, end);
    fesetround(mode);
    return value;
}

int __real_vsnprintf(char *text, size_t size, const char *format, va_list arguments);
int __wrap_vsnprintf(char *text, size_t size, const char *format, va_list arguments);
int __wrap_vsnprintf(char *text, size_t size, const char *format, va_list arguments)
{
    int mode = begin_nearest(), length = __real_vsnprintf(text, size, format, arguments);
    fesetround(mode);
    return length;
}

int __wrap_snprintf(char *text, size_t size, const char *format, ...);
int __wrap_snprintf(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = __wrap_vsnprintf(text, size, format, arguments);
    va_end(arguments);
    return length;
}

int __wrap_fprintf(FILE *file, const char *format, ...);
int __wrap_fprintf(FILE *file, const char *format, ...)
{
    va_list arguments;
    int mode = begin_nearest();
    va_start(arguments, format);
    int length = vfprintf(file, format, arguments);
    va_end(arguments);
    fesetround(mode);
    return length;
}
