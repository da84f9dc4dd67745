// Included files: keys of the including file win, paths are taken from the file that names them, faults name both.

#define _XOPEN_SOURCE 700 // mkdtemp

#include "case_sample.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 40, PATH_BYTES = 256 };

static char folder[PATH_BYTES];
static char written[MOST_FILES][PATH_BYTES];
static int nwritten;

static void path_of(const char *name, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%.120s/%.100s", folder, name);
}

static void put(const char *name, const char *text)
{
    path_of(name, written[nwritten]);
    FILE *file = fopen(written[nwritten++], "w");
    CHECK(file != NULL);
    fputs(text, file);
    CHECK(fclose(file) == 0);
}

static int open_folder(void **state)
{
    char sub[PATH_BYTES];
    snprintf(folder, sizeof folder, "%s", TESTS_OUTPUT_FOLDER "/include_XXXXXX");
    if (mkdtemp(folder) == NULL) return 1;
    path_of("sub", sub);
    return mkdir(sub, 0700) != 0 || set_up(state) != 0;
}

static int close_folder(void **state)
{
    char sub[PATH_BYTES];
    while (nwritten > 0) remove(written[--nwritten]);
    path_of("sub", sub);
    rmdir(sub);
    rmdir(folder);
    return tear_down(state);
}

#define TEST_IN_FOLDER(name) TEST_WITHIN(name, open_folder, close_folder)

static pcs_status load(const char *name, pcs_case **c)
{
    char path[PATH_BYTES];
    path_of(name, path);
    return pcs_case_load(context_of_test, path, c);
}

static void check_value(pcs_case *c, const char *path, const char *value)
{
    check_same_text(pcs_case_find(c, path)->text, value);
}

// The message after the name of the folder, which differs from run to run, is taken out.
static void check_message(const char *wanted)
{
    char text[4096];
    size_t used = 0, length = strlen(folder) + 1;
    for (const char *p = pcs_message(context_of_test); *p != '\0' && used + 1 < sizeof text;) {
        bool is_folder = strncmp(p, folder, length - 1) == 0;
        if (is_folder) p += length;
        else text[used++] = *p++;
    }
    text[used] = '\0';
    check_same_text(text, wanted);
}

TEST_IN_FOLDER(the_including_file_wins)
{
    pcs_case *c = NULL;
    put("main.yaml", "include: [base.yaml, sub/more.yaml]\nparameters: { L: 3 }\na: { x: 1 }\nd: [9]\n");
    put("base.yaml", "parameters: { L: 1, M: \"${2*L}\" }\na: { x: 0, y: ${L}, z: ${M} }\nb: 5\nd: [1, 2]\n");
    put("sub/more.yaml", "b: 6\nc: { include: deep.yaml, v: 2 }\n");
    put("sub/deep.yaml", "u: 1\nv: 1\n");
    CHECK_OK(context_of_test, load("main.yaml", &c));
    CHECK_OK(context_of_test, pcs_case_expand(c));
    CHECK(pcs_case_error_count(c) == 0);
    static const char *const values[][2] = {
        { "a.x", "1" }, { "a.y", "3" }, { "a.z", "6" }, { "b", "6" }, { "c.u", "1" }, { "c.v", "2" }, { "d.0", "9" },
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) check_value(c, values[i][0], values[i][1]);
    CHECK(pcs_case_find(c, "d")->count == 1 && pcs_case_root(c)->count == 4);
}

// Options of one type mean nothing to another.
TEST_IN_FOLDER(another_type_takes_the_place_of_the_whole)
{
    pcs_case *c = NULL;
    put("main.yaml", "include: base.yaml\ns: { type: b, y: 2 }\nr: { y: 2 }\n");
    put("base.yaml", "s: { type: a, x: 1 }\nr: { type: a, x: 1 }\n");
    CHECK_OK(context_of_test, load("main.yaml", &c));
    CHECK(pcs_case_find(c, "s")->count == 2 && pcs_case_find(c, "r")->count == 3);
    check_value(c, "s.type", "b");
}

TEST_IN_FOLDER(paths_are_those_of_the_file_that_names_them)
{
    static const pcs_option options[] = { { .name = "mesh", .kind = PCS_OPTION_FILE, .help = "f" }, { .name = NULL } };
    pcs_case *c = NULL;
    const char *file = NULL;
    char wanted[PATH_BYTES];
    put("main.yaml", "include: sub/part.yaml\n");
    put("sub/part.yaml", "mesh: shape.msh\n");
    put("sub/shape.msh", "\n");
    CHECK_OK(context_of_test, load("main.yaml", &c));
    CHECK(pcs_case_read(c, pcs_case_root(c), options, &file));
    path_of("sub/shape.msh", wanted);
    check_same_text(file, wanted);
}

TEST_IN_FOLDER(faults_name_their_files)
{
    pcs_case *c = NULL;
    sample s;
    put("main.yaml", "include: [sub/part.yaml, nope.yaml]\nE: 1\nQ: 2\n");
    put("sub/part.yaml", "n: 0\nfactor: ${1 + foo}\ninclude: [../empty.yaml, ../list.yaml]\n");
    put("empty.yaml", "# nothing\n");
    put("list.yaml", "\n- 1\n");
    CHECK_OK(context_of_test, load("main.yaml", &c));
    CHECK_OK(context_of_test, pcs_case_expand(c));
    CHECK(read_root(c, &s) == PCS_BAD_INPUT);
    check_message(
        "main.yaml:1:26: cannot include 'nope.yaml': No such file or directory\n"
        "main.yaml:3:1: unknown key 'Q', allowed: parameters, include, E, factor, n, mass, is_on, v, name\n"
        "sub/part.yaml:1:4: n must be in [1, 1000], is 0\n"
        "sub/part.yaml:2:15: factor: in '1 + foo': unknown name 'foo', known are: sqrt, sin, cos, tan, asin, "
        "acos, atan, atan2, sinh, cosh, tanh, exp, log, log10, abs, hypot, min, max, mod, floor, ceil, round, "
        "step, pi, e\n"
        "sub/../empty.yaml:1:1: a file that is included (at sub/part.yaml:3:11) must be a map of keys, is "
        "empty\n"
        "sub/../list.yaml:1:1: a file that is included (at sub/part.yaml:3:26) must be a map of keys, is a "
        "list");
}

TEST_IN_FOLDER(circles_and_broken_files_are_refused)
{
    pcs_case *c = NULL;
    put("a.yaml", "x: 1\ninclude: sub/b.yaml\n");
    put("sub/b.yaml", "include: ../a.yaml\n");
    CHECK_OK(context_of_test, load("a.yaml", &c));
    pcs_case_get(c, pcs_case_root(c), "x");
    CHECK(pcs_case_finish(c) == PCS_BAD_INPUT);
    check_message("sub/b.yaml:1:10: a file that includes itself: a.yaml includes sub/b.yaml includes a.yaml");
    put("c.yaml", "include: d.yaml\n");
    put("d.yaml", "x: [1\n");
    CHECK(load("c.yaml", &c) == PCS_BAD_INPUT);
    CHECK(strstr(pcs_message(context_of_test), "d.yaml:2:1: not valid YAML") != NULL);
    put("f.yaml", "include: { a: 1 }\n");
    CHECK_OK(context_of_test, load("f.yaml", &c));
    CHECK(pcs_case_finish(c) == PCS_BAD_INPUT);
    check_message("f.yaml:1:10: include must be a text, is a map");
    put("g.yaml", "include: sub\n");
    CHECK_OK(context_of_test, load("g.yaml", &c));
    CHECK(pcs_case_finish(c) == PCS_BAD_INPUT);
    check_message("g.yaml:1:10: cannot include: cannot open the file 'sub': Is a directory");
}

// A tower of files that each include the next twice would be 2^16 files.
TEST_IN_FOLDER(too_many_files_are_refused)
{
    pcs_case *c = NULL;
    for (int i = 0; i < 12; i++) {
        char name[16], text[64];
        snprintf(name, sizeof name, "t%d.yaml", i);
        snprintf(text, sizeof text, "include: [t%d.yaml, t%d.yaml]\n", i + 1, i + 1);
        put(name, i == 11 ? "x: 1\n" : text);
    }
    CHECK(load("t0.yaml", &c) == PCS_BAD_INPUT);
    CHECK(strstr(pcs_message(context_of_test), "cannot be included: at most 256 files are allowed") != NULL);
    for (int i = 0; i < 20; i++) {
        char name[16], text[64];
        snprintf(name, sizeof name, "u%d.yaml", i);
        snprintf(text, sizeof text, "include: u%d.yaml\n", i + 1);
        put(name, text);
    }
    CHECK(load("u0.yaml", &c) == PCS_BAD_INPUT);
    CHECK(strstr(pcs_message(context_of_test), "nested at most 16 deep") != NULL);
}
