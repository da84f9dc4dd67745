// One table per implementation declares its options: it drives the case reader, --set,
// `percuss list` and the documentation.

#ifndef PCS_CORE_OPTION_H
#define PCS_CORE_OPTION_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef enum pcs_option_kind {
    PCS_OPTION_REAL,    // double; absent optional: NAN
    PCS_OPTION_COUNT,   // int, a whole number; absent optional: -1
    PCS_OPTION_FLAG,    // bool, true or false
    PCS_OPTION_CHOICE,  // int, index into `choices`
    PCS_OPTION_VECTOR,  // double[3]; absent optional: NAN, NAN, NAN
    PCS_OPTION_TEXT,    // const char *, non-empty; absent optional: NULL
    PCS_OPTION_LIST,    // pcs_list, numbers or rows of numbers; absent optional: empty
    PCS_OPTION_FILE,    // const char *, a path from the folder of the case; absent optional: NULL
    PCS_OPTION_NAMES,   // pcs_names, a text, texts or rows of texts; absent optional: empty
    PCS_OPTION_POINTS,  // pcs_points, a map of names to positions; absent optional: empty
    PCS_OPTION_FORMULA, // const pcs_expression *, of t; absent optional: NULL
    PCS_OPTION_PROFILE, // pcs_profile, a number that may vary along a line; absent optional: NAN everywhere
    PCS_OPTION_FORM // read by its form, into a member of the form's own type, or looked up by its owner, without one
} pcs_option_kind;

typedef struct pcs_list {
    int nrow, count;     // 1 x count, or nrow rows of equal length and count numbers in all
    const double *value; // [count] row by row
} pcs_list;

typedef struct pcs_names {
    int nrow, count;         // 1 x count, or nrow rows of equal length and count texts in all
    const char *const *text; // [count] row by row
} pcs_names;

typedef struct pcs_points {
    int count;
    const char *const *name; // [count]
    const double (*x)[3];    // [count]
} pcs_points;

// A number, constant along a line of cells or varying with the distance along it.
typedef struct pcs_profile {
    double value;                // value everywhere, or at the beginning of the line
    int count;                   // 0 if constant
    const double *place, *level; // [count] distance from the beginning of the line, m, rising from 0; value there
    bool is_stepped;             // constant from each place to the next; else linear between places
    bool is_relative;            // places from 0 to 1 over the complete line
} pcs_profile;

typedef struct pcs_range {
    double low, high;
    bool low_is_open, high_is_open; // the end does not belong to the range
} pcs_range;

// clang-format off
#define PCS_ANY_NUMBER       { -INFINITY, INFINITY, true, true }
#define PCS_POSITIVE         { 0.0, INFINITY, true, true }
#define PCS_NEGATIVE         { -INFINITY, 0.0, true, true }
#define PCS_NOT_NEGATIVE     { 0.0, INFINITY, false, true }
#define PCS_ZERO_TO_ONE      { 0.0, 1.0, false, false }
#define PCS_WITHIN(low, high) { (low), (high), false, false }
#define PCS_ABOVE(low, high)  { (low), (high), true, false } // the low end does not belong to the range
// clang-format on

typedef struct pcs_option {
    const char *name; // a NULL name ends a table
    pcs_option_kind kind;
    const char *help; // one line, with the unit if there is one
    size_t offset;    // offset of the member in the implementation's parameter struct
    bool is_required;
    bool may_be_auto;            // or `auto`: INFINITY as a real; a count has a number before it is read
    const char *preset;          // default as in a case file, NULL if absent
    pcs_range range;             // range of reals, counts, profiles and each entry of a vector or list
    const char *const *choices;  // ends with NULL
    const struct pcs_form *form; // allowed values of a form (build/maps.h)
} pcs_option;

// Returns the value of the text option `name` in `params`, NULL if there is no such option or value.
static inline const char *pcs_option_text(const pcs_option *options, const void *params, const char *name)
{
    const char *text = NULL;
    for (const pcs_option *o = options; o->name != NULL; o++)
        if (strcmp(o->name, name) == 0) memcpy(&text, (const char *)params + o->offset, sizeof text);
    return text;
}

// Lines of a table: name, parameter struct and member, need, range or choices, help. The need is one of the first
// three.
// clang-format off
#define PCS_REQUIRED         .is_required = true
#define PCS_REQUIRED_OR_AUTO .is_required = true, .may_be_auto = true
#define PCS_OPTIONAL         .preset = NULL
#define PCS_DEFAULT(text)    .preset = (text)

#define PCS_REAL(key, type, member, need, limits, text) \
    { .name = (key), .kind = PCS_OPTION_REAL, .help = text, .offset = offsetof(type, member), need, .range = limits }
#define PCS_PROFILE(key, type, member, need, limits, text) \
    { .name = (key), .kind = PCS_OPTION_PROFILE, .help = text, .offset = offsetof(type, member), need, .range = limits }
#define PCS_COUNT(key, type, member, need, limits, text) \
    { .name = (key), .kind = PCS_OPTION_COUNT, .help = text, .offset = offsetof(type, member), need, .range = limits }
#define PCS_VECTOR(key, type, member, need, limits, text) \
    { .name = (key), .kind = PCS_OPTION_VECTOR, .help = text, .offset = offsetof(type, member), need, .range = limits }
#define PCS_LIST(key, type, member, need, limits, text) \
    { .name = (key), .kind = PCS_OPTION_LIST, .help = text, .offset = offsetof(type, member), need, .range = limits }
#define PCS_POINTS(key, type, member, need, limits, text) \
    { .name = (key), .kind = PCS_OPTION_POINTS, .help = text, .offset = offsetof(type, member), need, .range = limits }
#define PCS_CHOICE(key, type, member, need, names, text) \
    { .name = (key), .kind = PCS_OPTION_CHOICE, .help = text, .offset = offsetof(type, member), need, .choices = names }
#define PCS_FLAG(key, type, member, need, text) \
    { .name = (key), .kind = PCS_OPTION_FLAG, .help = text, .offset = offsetof(type, member), need }
#define PCS_TEXT(key, type, member, need, text) \
    { .name = (key), .kind = PCS_OPTION_TEXT, .help = text, .offset = offsetof(type, member), need }
#define PCS_FILE(key, type, member, need, text) \
    { .name = (key), .kind = PCS_OPTION_FILE, .help = text, .offset = offsetof(type, member), need }
#define PCS_FORMULA(key, type, member, need, text) \
    { .name = (key), .kind = PCS_OPTION_FORMULA, .help = text, .offset = offsetof(type, member), need }
#define PCS_NAMES(key, type, member, need, text) \
    { .name = (key), .kind = PCS_OPTION_NAMES, .help = text, .offset = offsetof(type, member), need }
// clang-format on

#endif
