// Parameters, formulas and repeated entries: what plain YAML becomes of them, and errors with their places.

#include "case_sample.h"
#include "mesh/mesh.h"
#include "rows/source.h"

#include <stdlib.h>

static pcs_case *expanded(const char *text)
{
    pcs_case *c = parse(text);
    CHECK_OK(context_of_test, pcs_case_expand(c));
    return c;
}

// The text at a path.
static const char *at(pcs_case *c, const char *path)
{
    const pcs_yaml *node = pcs_case_find(c, path);
    CHECK(node->kind == PCS_YAML_SCALAR);
    return node->text;
}

typedef struct expected {
    const char *text, *path, *value;
} expected;

TEST_OF_CASE(formulas_become_digits)
{
    static const expected table[] = {
        { "parameters: { L: 0.5 }\nx: ${L/2}\n", "x", "0.25" },
        { "parameters: { L: 0.5 }\nx: [1, ${L}, {y: ${2*L}}]\n", "x.2.y", "1" },
        { "parameters: { a: 1, b: 7 }\nx: { y: ${max(a, b)}, z: [${min(a, b)}, 2] }\n", "x.y", "7" },
        { "x: ${0.1 + 0.2}\n", "x", "0.30000000000000004" },
        { "x: ${1/3}\n", "x", "0.3333333333333333" },
        { "x: ${2^53 - 1}\n", "x", "9007199254740991" },
        { "x: ${10^20}\n", "x", "1e+20" },
        { "x: ${1e-7*3}\n", "x", "3e-07" },
        { "x: \"${1 + 1}\"\n", "x", "2" },
        { "x: '${1 + 1}'\n", "x", "2" },
        { "x: part${3}.end\n", "x", "part3.end" },
        { "x: ${1}${2} and ${3.5}\n", "x", "12 and 3.5" },
        { "x: $${L} costs $5\n", "x", "${L} costs $5" },
        { "x: ${ ( 1 ) } # ${L\n", "x", "1" },
        { "parameters: { b: \"${a + c}\", a: \"${2*c}\", c: 3 }\nx: ${b}\n", "x", "9" },
        { "parameters: { L: 2, k: -3 }\namplitude: { expression: \"${k}^2*t + ${L}\" }\n", "amplitude.expression",
          "(-3)^2*t + 2" },
        { "x: \xee\x80\x81 {y}\n", "x", "\xee\x80\x81 {y}" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        pcs_case *c = expanded(table[i].text);
        check_same_text(at(c, table[i].path), table[i].value);
        CHECK(pcs_case_error_count(c) == 0);
    }
}

// A formula where a number, a whole number or a text is asked.
TEST_OF_CASE(formulas_serve_every_option)
{
    pcs_case *c = expanded("parameters: { N: 12 }\nE: ${210e9}\nn: ${N/4}\nv: [${N}, \"${N/7}\", 0]\nname: a${N}\n");
    sample s;
    CHECK_OK(context_of_test, read_root(c, &s));
    CHECK(s.E == 210e9 && s.n == 3 && s.v[0] == 12.0 && s.v[1] == 12.0 / 7.0);
    check_same_text(s.name, "a12");
}

TEST_OF_CASE(numbers_keep_their_bits)
{
    uint64_t seed = 12345;
    for (int i = 0; i < 200; i++) {
        char text[128];
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double a = ldexp((double)(seed >> 11), (int)(seed % 200) - 150), value;
        snprintf(text, sizeof text, "x: ${%.17g/3}\n", a);
        pcs_case *c = expanded(text);
        value = strtod(at(c, "x"), NULL);
        double third = a / 3.0;
        CHECK(memcmp(&value, &third, sizeof value) == 0);
    }
}

TEST_OF_CASE(entries_are_repeated)
{
    static const expected table[] = {
        { "a: { p: { x: ${i}, repeat: { count: 3 } } }\n", "a.p3.x", "3" },
        { "a: { p${2*i}_q: { x: 1, y: n${i}, repeat: { count: 2 } } }\n", "a.p4_q.y", "n2" },
        { "a: [0, { repeat: { count: 2 }, each: b${i} }, 9]\n", "a.2", "b2" },
        { "a: [0, { repeat: { count: 2 }, each: b${i} }, 9]\n", "a.3", "9" },
        { "a: [{ repeat: { count: 0 }, each: 1 }, 9]\n", "a.0", "9" },
        { "a: [{ repeat: { count: 2 }, each: [${i}, ${i^2}] }]\n", "a.1.1", "4" },
        { "a: [{ repeat: { count: 2 }, each: [${i}, { repeat: { count: 3 }, each: ${10*i} }, ${i}] }]\n", "a.1.3",
          "30" },
        { "a: [{ repeat: { count: 2 }, each: [${i}, { repeat: { count: 3 }, each: ${10*i} }, ${i}] }]\n", "a.1.4",
          "2" },
        { "parameters: { n: 3 }\na: { p: { repeat: { count: ${n} }, each: [${i*0.1}, 0, 0] } }\n", "a.p3.0",
          "0.30000000000000004" },
        { "a: { b: { repeat: { count: 3, shift: [0.1, 0, -1] }, from: [0.5, 2, 3], normal: [1, 0, 0] } }\n",
          "a.b3.from.0", "0.7" },
        { "a: { b: { repeat: { count: 3, shift: [0.1, 0, -1] }, from: [0.5, 2, 3], normal: [1, 0, 0] } }\n",
          "a.b3.normal.0", "1" },
        { "a: { b: { repeat: { count: 3, shift: [0, 0, -1] }, points: { p: [1, 2, 3] } } }\n", "a.b2.points.p.2", "2" },
        { "a: { b: { repeat: { count: 3, shift: [1, 1, 1] }, plane: [[1, 2, 3], [0, 0, 1]] } }\n", "a.b2.plane.0.2",
          "4" },
        { "a: { b: { repeat: { count: 3, shift: [1, 1, 1] }, plane: [[1, 2, 3], [0, 0, 1]] } }\n", "a.b2.plane.1.2",
          "1" },
        { "a: { b: { repeat: { count: 3, shift: [1, 1, 1] }, box: [[1, 2, 3], [4, 5, 6]] } }\n", "a.b3.box.1.0", "6" },
        { "mesh: { b: { repeat: { count: 3 }, x: 1 } }\nsets: { all: 1 }\n", "sets.b.cells.2", "b3" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        pcs_case *c = expanded(table[i].text);
        check_same_text(at(c, table[i].path), table[i].value);
        CHECK(pcs_case_error_count(c) == 0);
    }
}

static bool is_position(const pcs_option *o)
{
    static const char *const words[] = { "position", "point", "centre", "corner", NULL };
    bool can_be = o->kind == PCS_OPTION_VECTOR || o->kind == PCS_OPTION_LIST || o->kind == PCS_OPTION_POINTS;
    for (int i = 0; words[i] != NULL; i++)
        if (can_be && strstr(o->help, words[i]) != NULL) return true;
    return false;
}

static void check_shift(const pcs_option *options)
{
    for (const pcs_option *o = options; o != NULL && o->name != NULL; o++) {
        if (o->kind != PCS_OPTION_VECTOR && !is_position(o)) continue;
        char text[200], path[80];
        bool is_map = o->kind == PCS_OPTION_POINTS;
        const char *other = strcmp(o->name, "at") == 0 ? "" : "at: [0, 0, 0], "; // something that can be shifted
        snprintf(text, sizeof text, "m: { x: { repeat: { count: 2, shift: [1, 0, 0] }, %s%s: %s } }\n", other, o->name,
                 is_map ? "{ p: [5, 0, 0] }" : "[5, 0, 0]");
        snprintf(path, sizeof path, "m.x2.%s.%s", o->name, is_map ? "p.0" : "0");
        pcs_case *c = expanded(text);
        bool is_moved = strcmp(at(c, path), "6") == 0;
        if (is_moved != is_position(o)) print_message("'%s' (%s): moved %d\n", o->name, o->help, is_moved);
        CHECK(is_moved == is_position(o));
    }
}

// Whatever option of a part, joint or contact is a position, a shift moves it, and nothing else.
TEST_OF_CASE(shifts_move_positions_of_all_parts)
{
    for (int i = 0; pcs_mesh_sources[i] != NULL; i++) check_shift(pcs_mesh_sources[i]->options);
    for (int i = 0; pcs_gap_types[i] != NULL; i++) check_shift(pcs_gap_types[i]->options);
    for (int i = 0; pcs_joints[i] != NULL; i++) check_shift(pcs_joints[i]->options);
}

typedef struct fault {
    const char *text, *message;
} fault;

static const fault faults[] = {
    { "x: ${L/2}\n", "f:1:6: x: in 'L/2': unknown name 'L', known are: sqrt, sin" },
    { "parameters: { long: 1, v0: 2 }\nx:\n  - [1, ${2*lnog}]\n",
      "f:3:13: x[0][1]: in '2*lnog': unknown name 'lnog', did you mean 'long'? known are: long, v0, sqrt" },
    { "parameters: { a: 1 }\nx: \"\xc3\xa4 ${a} ${1 +}\"\n", "f:2:17: x: in '1 +': it ends too early" },
    { "x: ${sqr(2)}\n", "f:1:6: x: in 'sqr(2)': unknown name 'sqr', did you mean 'sqrt'?" },
    { "x: ${1/0}\n", "f:1:6: x: '1/0' must be a finite number, is inf" },
    { "x: ${sqrt(-1)}\n", "f:1:6: x: 'sqrt(-1)' must be a finite number, is" },
    { "x: a${1\n", "f:1:5: x: no '}' closes '${'" },
    { "x: ${}\n", "f:1:6: x: in '': it ends too early" },
    { "parameters: [1]\n", "f:1:13: parameters must be a map { key: value }, is a list" },
    { "parameters: { a: b }\n", "f:1:18: parameters.a must be a number or a formula ${...}, is 'b'" },
    { "parameters: { a: '3' }\n", "f:1:18: parameters.a must be a number or a formula ${...}, is the text '3'" },
    { "parameters: { a-b: 1 }\n", "f:1:15: the name of a parameter must start with a letter" },
    { "parameters: { e: 0.5 }\n", "f:1:15: 'e' is a reserved name in formulas" },
    { "parameters: { i: 1 }\n", "f:1:15: 'i' is a reserved name in formulas" },
    { "parameters:\n  a: ${b}\n  b: ${c}\n  c: ${a}\n", "f:2:6: parameters.a depends on itself: a -> b -> c -> a" },
    { "parameters:\n  a: ${a}\n", "f:2:6: parameters.a depends on itself: a -> a" },
    { "x: ${i}\n", "f:1:6: x: in 'i': unknown name 'i'" },
    { "x: [{ repeat: 3, each: 1 }]\n", "f:1:15: x[0].repeat must be a map { key: value }, is '3'" },
    { "x: [{ repeat: {}, each: 1 }]\n", "f:1:15: x[0].repeat: missing key 'count' (number of copies)" },
    { "x: [{ repeat: { count: 2.5 }, each: 1 }]\n", "f:1:24: x[0].repeat.count must be a whole number" },
    { "x: [{ repeat: { count: -1 }, each: 1 }]\n", "f:1:24: x[0].repeat.count must be in [0, 1048576], is -1" },
    { "x: [{ repeat: { count: 1, shfit: [0, 0, 0] }, each: 1 }]\n",
      "f:1:27: x[0].repeat: unknown key 'shfit', did you mean 'shift'?" },
    { "x: [{ repeat: { count: 1 }, each: 1, y: 2 }]\n", "f:1:35: x[0]: 'each' holds all that is copied" },
    { "x: { y: { repeat: { count: 2, shift: [1, 0, 0] }, z: 2 } }\n", "f:1:9: x.y: 'shift' finds no position" },
    { "x: { y: { repeat: { count: 2 }, z: 2 }, y2: 1 }\n", "f:1:41: duplicate key 'y2', first given at 1:6" },
    { "x: { y${3}: 1, y3: 2 }\n", "f:1:16: duplicate key 'y3', first given at 1:6" },
    { "x: [{ repeat: { count: 2 }, each: { repeat: { count: 2 }, each: 1 } }]\n",
      "f:1:45: x[0].each: a repeated entry cannot be repeated itself" },
    { "x: { y: { repeat: { count: 10001 }, each: 1 } }\n", "f:1:6: more than 10000 keys in one map" },
    { "x: [{ repeat: { count: 9000 }, each: [{ repeat: { count: 1000000 }, each: 1 }] }]\n",
      "f:1:39: x[0].each[0]: all repetitions together make more than 4194304 values" },
};

TEST_OF_CASE(faults_are_told_with_their_place)
{
    int nwrong = 0;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        pcs_case *c = expanded(faults[i].text);
        for (int k = 0; k < pcs_case_root(c)->count; k++)
            pcs_case_get(c, pcs_case_root(c), pcs_case_root(c)->keys[k].name);
        int count = pcs_case_error_count(c);
        pcs_case_finish(c);
        bool is_right = count == 1 && strstr(pcs_message(context_of_test), faults[i].message) != NULL;
        if (!is_right) print_message("%s gives %d:\n%s\n", faults[i].text, count, pcs_message(context_of_test));
        nwrong += !is_right;
        tear_down(NULL);
        set_up(NULL);
    }
    CHECK(nwrong == 0);
}

// One message for a value that is wrong in its formula, one for all copies of a wrong entry.
TEST_OF_CASE(nothing_is_told_twice)
{
    pcs_case *c = expanded("E: ${foo}\nn: ${bar}\n");
    sample s;
    CHECK(read_root(c, &s) == PCS_BAD_INPUT && pcs_case_error_count(c) == 2);
    c = expanded("x:\n  - repeat: { count: 5 }\n    n: ${i + 998}\n    F: 2\n");
    pcs_yaml *list = pcs_case_get(c, pcs_case_root(c), "x");
    CHECK(list->count == 5);
    for (int i = 0; i < 5; i++) pcs_case_read(c, list->items[i], sample_options, &s);
    CHECK(pcs_case_finish(c) == PCS_BAD_INPUT);
    // E is missing, F is unknown, n is too large from the third copy on.
    check_same_text(pcs_message(context_of_test),
                    "f:2:5: x[0]: missing key 'E' (modulus)\n"
                    "f:3:8: x[2].n must be in [1, 1000], is 1001\n"
                    "f:4:5: x[0]: unknown key 'F', allowed: E, factor, n, mass, is_on, v, name");
}

TEST_OF_CASE(assignments_reach_parameters_and_copies)
{
    pcs_case *c = parse("parameters: { n: 2, L: 1 }\na: { p: { x: ${L}, y: 5, repeat: { count: ${n} } } }\n");
    static const char *const sets[] = { "parameters.L=${n+40}", "parameters.n=3", "a.p.y=6", "a.p2.y=7" };
    for (size_t i = 0; i < 4; i++) CHECK_OK(context_of_test, pcs_case_set(c, sets[i]));
    CHECK_OK(context_of_test, pcs_case_expand(c));
    CHECK(pcs_case_error_count(c) == 0);
    check_same_text(at(c, "a.p3.x"), "43");
    check_same_text(at(c, "a.p1.y"), "6");
    check_same_text(at(c, "a.p2.y"), "7");
    c = parse("parameters: { length: 1 }\na: ${length}\n");
    CHECK_OK(context_of_test, pcs_case_set(c, "parameters.lenght=2"));
    CHECK_OK(context_of_test, pcs_case_expand(c));
    pcs_case_get(c, pcs_case_root(c), "a");
    CHECK(pcs_case_finish(c) == PCS_BAD_INPUT);
    check_same_text(pcs_message(context_of_test),
                    "--set parameters.lenght=2: no formula uses the parameter 'lenght', did you mean 'length'?");
    c = parse("paramters: { L: 1 }\nb: { repaet: { count: 3 } }\n");
    CHECK_OK(context_of_test, pcs_case_set(c, "include=x.yaml"));
    CHECK_OK(context_of_test, pcs_case_expand(c));
    pcs_case_get(c, pcs_case_root(c), "b");
    CHECK(pcs_case_finish(c) == PCS_BAD_INPUT);
    check_same_text(pcs_message(context_of_test),
                    "f:1:1: unknown key 'paramters', did you mean 'parameters'? allowed: parameters, include, b\n"
                    "f:2:6: b: unknown key 'repaet', did you mean 'repeat'? allowed: none\n"
                    "--set include=x.yaml: 'include' works in files, not in an assignment");
}
