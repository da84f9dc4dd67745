// The case reader: places of structural errors, the grammar of values, near misses, defaults, assignments.

#include "case_sample.h"

#include <locale.h>

// ---- Structure

TEST_OF_CASE(structure_errors_have_their_place)
{
    static const struct {
        const char *text, *message;
    } table[] = {
        { "", "f:1:1: the file is empty" },
        { "# nothing\n", "f:1:1: the file is empty" },
        { "- a\n- b\n", "f:1:1: a case must be a map of keys, is a list" },
        { "\n  word\n", "f:2:3: a case must be a map of keys, is 'word'" },
        { "E: 1\nF: [1, 2\n",
          "f:3:1: not valid YAML: did not find expected ',' or ']' while parsing a flow sequence that begins at 2:4" },
        { "E: 1\n\tF: 2\n", "f:2:1: not valid YAML" },
        { "E: 1\n F: 2\n", "f:2:3: not valid YAML" },
        { "E: 'x\n", "f:2:1: not valid YAML" },
        { "[a, b]: 1\n", "f:1:1: a key must be a text, is a list" },
        { "E: 1\n? {a: 1}\n: 2\n", "f:2:3: a key must be a text, is a map" },
        { "E: \"a\\0b\"\n", "f:1:4: a text with a zero character is not allowed" },
        { "E: 1\nF: \xff\n", "f:2:4: not valid UTF-8 text" },
        { "\xff\xfe\x45\x00", "f:1:1: not valid UTF-8 text" },
        { "E: \x01\n", "f:1:4: not valid UTF-8 text" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        pcs_case *c = NULL;
        pcs_status status = pcs_case_parse(context_of_test, "f", table[i].text, strlen(table[i].text), &c);
        CHECK(status == PCS_BAD_INPUT);
        CHECK(c == NULL);
        CHECK_TEXT(pcs_message(context_of_test), table[i].message);
    }
}

TEST_OF_CASE(recoverable_errors_are_collected_with_the_rest)
{
    pcs_case *c = parse("E: &a -1\nE: 2\nfactor: *a\nv: !!seq [1, 2, 3]\nname: x\n'': 1\n---\nE: 1\n");
    sample s;
    CHECK(read_root(c, &s) == PCS_BAD_INPUT);
    check_same_text(pcs_message(context_of_test),
                    "f:1:4: anchors are not allowed: '&a'\n"
                    "f:1:4: E must be > 0, is -1\n"
                    "f:2:1: duplicate key 'E', first given at 1:1\n"
                    "f:3:9: aliases are not allowed: '*a'\n"
                    "f:3:9: factor must be a number, is '*a'\n"
                    "f:4:4: tags are not allowed: 'tag:yaml.org,2002:seq'\n"
                    "f:6:1: empty key\n"
                    "f:6:1: unknown key empty, allowed: E, factor, n, mass, is_on, v, name\n"
                    "f:7:1: only one document is allowed");
}

TEST_OF_CASE(nesting_ends_somewhere)
{
    char text[512] = "a: ";
    for (int depth = 62; depth <= 64; depth++) {
        memset(text + 3, '[', (size_t)depth);
        memset(text + 3 + depth, ']', (size_t)depth);
        text[3 + 2 * depth] = '\0';
        pcs_case *c = NULL;
        pcs_status status = pcs_case_parse(context_of_test, "f", text, strlen(text), &c);
        CHECK((status == PCS_OK) == (depth <= 63)); // the root is a level, too
    }
    CHECK_TEXT(pcs_message(context_of_test), "f:1:67: nested deeper than 64 levels");
}

TEST_OF_CASE(a_byte_order_mark_and_crlf_are_harmless)
{
    pcs_case *c = parse("\xef\xbb\xbf"
                        "E: 2.5\r\nname: Br\xc3\xbcls\r\n");
    sample s;
    CHECK_OK(context_of_test, read_root(c, &s));
    CHECK(s.E == 2.5);
    check_same_text(s.name, "Br\xc3\xbcls");
}

TEST_OF_CASE(columns_count_characters)
{
    pcs_case *c = parse("{ name: \xc3\xa9\xc3\xa9\xc3\xa9, E: -1 }\n");
    sample s;
    CHECK(read_root(c, &s) == PCS_BAD_INPUT);
    check_same_text(pcs_message(context_of_test), "f:1:17: E must be > 0, is -1");
}

// ---- Values

static const struct {
    const char *text, *message;
} wrong_values[] = {
    { "E: 10.0x", "f:1:4: E must be a number > 0, is '10.0x'" },
    { "E: 2*(3", "f:1:4: E must be a number > 0, is '2*(3' (a formula is written ${...})" },
    { "E: 10,0", "f:1:4: E must be a number > 0, is '10,0' (decimals take a point)" },
    { "E: .nan", "f:1:4: E must be a finite number > 0, is '.nan'" },
    { "E: inf", "f:1:4: E must be a finite number > 0, is 'inf'" },
    { "E: 1e999", "f:1:4: E must be a finite number > 0, is '1e999'" },
    { "E: 1e-999", "f:1:4: E must be 0 or a number above" },
    { "E: 0x10", "f:1:4: E must be a number > 0, is '0x10'" },
    { "E: 010", "f:1:4: E must be a number > 0, is '010'" },
    { "E: 1_000", "f:1:4: E must be a number > 0, is '1_000'" },
    { "E: 1 2", "f:1:4: E must be a number > 0, is '1 2'" },
    { "E: 1e", "f:1:4: E must be a number > 0, is '1e'" },
    { "E: .", "f:1:4: E must be a number > 0, is '.'" },
    { "E: --1", "f:1:4: E must be a number > 0, is '--1'" },
    { "E: 1.2.3", "f:1:4: E must be a number > 0, is '1.2.3'" },
    { "E: 1:30", "f:1:4: E must be a number > 0, is '1:30'" },
    { "E: \"5\"", "f:1:4: E must be a number > 0, is the text '5'" },
    { "E: |\n  5", "f:1:4: E must be a number > 0, is the text '5" },
    { "E:", "f:1:3: E must be a number > 0, is empty" },
    { "E: [1]", "f:1:4: E must be a number > 0, is a list" },
    { "E: 0", "f:1:4: E must be > 0, is 0" },
    { "n: 5", "f:1:1: missing key 'E' (modulus)" },
    { "E: 1\nn: 50.5", "f:2:4: n must be a whole number in [1, 1000], is '50.5'" },
    { "E: 1\nn: 50.0", "f:2:4: n must be a whole number of digits only, is '50.0', write 50" },
    { "E: 1\nn: 0", "f:2:4: n must be in [1, 1000], is 0" },
    { "E: 1\nn: 99999999999999999999999", "f:2:4: n must be in [1, 1000], is 9999999999999999" },
    { "E: 1\nn: x", "f:2:4: n must be a whole number in [1, 1000], is 'x'" },
    { "E: 1\nmass: lump", "f:2:7: mass must be one of consistent, lumped, is 'lump', did you mean 'lumped'?" },
    { "E: 1\nis_on: yes", "f:2:8: is_on must be true or false, is 'yes'" },
    { "E: 1\nis_on: 'true'", "f:2:8: is_on must be true or false, is the text 'true'" },
    { "E: 1\nv: [1, 2]", "f:2:4: v must be a list of 3 numbers [x, y, z], is a list of 2" },
    { "E: 1\nv: 1", "f:2:4: v must be a list of 3 numbers [x, y, z], is '1'" },
    { "E: 1\nv: [1, 2, z]", "f:2:11: v[2] must be a number, is 'z'" },
    { "E: 1\nname: ''", "f:2:7: name must be a text, is empty" },
    { "E: 1\nname: [a]", "f:2:7: name must be a text, is a list" },
    { "E: 1\nnmae: a", "f:2:1: unknown key 'nmae', did you mean 'name'? allowed: E, factor, n, mass, is_on, v, name" },
    { "E: 1\ncolour: a", "f:2:1: unknown key 'colour', allowed: E, factor, n, mass, is_on, v, name" },
    { "e: 1", "f:1:1: unknown key 'e', did you mean 'E'? allowed" },
};

TEST_OF_CASE(wrong_values_are_errors)
{
    for (size_t i = 0; i < sizeof wrong_values / sizeof *wrong_values; i++) {
        pcs_case *c = parse(wrong_values[i].text);
        sample s;
        CHECK(read_root(c, &s) == PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(context_of_test), wrong_values[i].message);
    }
}

TEST_OF_CASE(right_values_are_read_to_the_last_bit)
{
    static const struct {
        const char *text;
        double value;
    } table[] = {
        { "1", 1.0 },
        { "+1", 1.0 },
        { "0.1", 0.1 },
        { ".5", 0.5 },
        { "5.", 5.0 },
        { "2.1e11", 2.1e11 },
        { "2.1E+11", 2.1e11 },
        { "1e-3", 1e-3 },
        { "4.9e-324", 4.9e-324 },
        { "1.7976931348623157e308", 1.7976931348623157e308 },
        { "0.1000000000000000055511151231257827021181583404541015625", 0.1 },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[128];
        snprintf(text, sizeof text, "E: %s\n", table[i].text);
        sample s;
        CHECK_OK(context_of_test, read_root(parse(text), &s));
        CHECK(s.E == table[i].value);
    }
}

TEST_OF_CASE(defaults_fill_members_and_tree)
{
    pcs_case *c = parse("E: 1.0\n");
    sample s;
    CHECK_OK(context_of_test, read_root(c, &s));
    CHECK(s.factor == 0.1 && s.n == 7 && s.mass == 0 && s.is_on && s.v[2] == 30.0 && s.name == NULL);
    CHECK(pcs_case_root(c)->count == 6); // all but the name, which has no default
    check_same_text(pcs_case_get(c, pcs_case_root(c), "factor")->text, "0.1");
}

TEST_OF_CASE(a_wrong_value_leaves_the_default)
{
    sample s;
    CHECK(read_root(parse("E: 1\nn: x\nmass: lumped\n"), &s) == PCS_BAD_INPUT);
    CHECK(s.n == 7);
    CHECK(s.mass == LUMPED);
}

TEST_OF_CASE(a_decimal_comma_of_the_locale_changes_nothing)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", NULL };
    bool has_comma = false;
    for (int i = 0; names[i] != NULL && !has_comma; i++) has_comma = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!has_comma) skip(); // no such locale on this machine
    sample s;
    char text[PCS_NUMBER_BYTES];
    pcs_status status = read_root(parse("E: 2.5\n"), &s);
    pcs_case_number_text(2.5e-7, text);
    setlocale(LC_NUMERIC, "C");
    CHECK_OK(context_of_test, status);
    CHECK(s.E == 2.5);
    check_same_text(text, "2.5e-07");
}

// ---- Near misses

TEST_OF_CASE(near_misses_are_near)
{
    static const char *const names[] = { "rho_inf", "theta", "x", "gap", "beta", "alpha_ggl", NULL };
    static const struct {
        const char *name, *answer;
    } table[] = {
        { "rho_in", ", did you mean 'rho_inf'?" },
        { "rhoinf", ", did you mean 'rho_inf'?" },
        { "rho_ifn", ", did you mean 'rho_inf'?" },
        { "RHO_INF", ", did you mean 'rho_inf'?" },
        { "thetta", ", did you mean 'theta'?" },
        { "zeta", ", did you mean 'beta'?" },
        { "alpha_glg", ", did you mean 'alpha_ggl'?" },
        { "X", ", did you mean 'x'?" },
        { "gpa", ", did you mean 'gap'?" },
        { "y", "" },
        { "elephant", "" },
        { "", "" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char buffer[PCS_SPELLING_BYTES];
        check_same_text(pcs_spelling_hint(table[i].name, names, sizeof buffer, buffer), table[i].answer);
    }
    static const char *const ties[] = { "aab", "aac", NULL };
    char buffer[PCS_SPELLING_BYTES], giant[300];
    check_same_text(pcs_spelling_hint("aad", ties, sizeof buffer, buffer), ", did you mean 'aab'?");
    memset(giant, 'a', sizeof giant - 1);
    giant[sizeof giant - 1] = '\0';
    check_same_text(pcs_spelling_hint(giant, ties, sizeof buffer, buffer), "");
}

// ---- Messages

TEST_OF_CASE(many_errors_end_with_their_number)
{
    enum { COUNT = 1000 };
    static char text[COUNT * 16];
    size_t used = 0;
    for (int i = 0; i < COUNT; i++) used += (size_t)snprintf(text + used, sizeof text - used, "key%d: 1\n", i);
    sample s;
    pcs_case *c = parse(text);
    CHECK(read_root(c, &s) == PCS_BAD_INPUT);
    CHECK(pcs_case_error_count(c) == COUNT + 1);
    const char *message = pcs_message(context_of_test);
    int lines = 0;
    for (const char *p = message; *p != '\0'; p++) lines += *p == '\n';
    int rest = -1;
    const char *tail = strrchr(message, '\n');
    CHECK(sscanf(tail, "\n... and %d more errors", &rest) == 1);
    CHECK(lines + rest == COUNT + 1);
    CHECK(strlen(message) < 15100);
}

TEST_OF_CASE(a_giant_value_does_not_flood_the_message)
{
    static char text[40000] = "E: ";
    memset(text + 3, 'x', sizeof text - 4);
    sample s;
    CHECK(read_root(parse(text), &s) == PCS_BAD_INPUT);
    CHECK(strlen(pcs_message(context_of_test)) < 300);
    CHECK_TEXT(pcs_message(context_of_test), "xxx...'");
}

// ---- Assignments

TEST_OF_CASE(assignments_replace_add_and_report)
{
    pcs_case *c = parse("E: 1\nv: [1, 2, 3]\n");
    CHECK_OK(context_of_test, pcs_case_set(c, "E=2.5"));
    CHECK_OK(context_of_test, pcs_case_set(c, "v.1=-7"));
    CHECK_OK(context_of_test, pcs_case_set(c, "name=a b"));
    CHECK_OK(context_of_test, pcs_case_set(c, "mass=lumped"));
    sample s;
    CHECK_OK(context_of_test, read_root(c, &s));
    CHECK(s.E == 2.5 && s.v[0] == 1.0 && s.v[1] == -7.0 && s.mass == LUMPED);
    check_same_text(s.name, "a b");
}

TEST_OF_CASE(wrong_assignments_name_themselves)
{
    static const struct {
        const char *set, *message;
    } table[] = {
        { "E=-2", "--set E=-2: E must be > 0, is -2" },
        { "E", "--set E: no '=', expected path.to.key=value" },
        { "=1", "--set =1: an empty key, expected path.to.key=value" },
        { "a..b=1", "--set a..b=1: an empty key, expected path.to.key=value" },
        { "E=", "--set E=: no value after '='" },
        { "E.x=1", "--set E.x=1: E is a single value, it has no keys" },
        { "v.3=1", "--set v.3=1: v has no item '3', it has 3, numbered from 0" },
        { "v.x=1", "--set v.x=1: v has no item 'x', it has 3, numbered from 0" },
        { "v=[1, 2", "--set v=[1, 2: not valid YAML" },
        { "v=[1, 2, q]", "--set v=[1, 2, q]: v[2] must be a number, is 'q'" },
        { "fcator=1", "--set fcator=1: unknown key 'fcator', did you mean 'factor'?" },
        { "E=&a 1", "--set E=&a 1: anchors are not allowed: '&a'" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        pcs_case *c = parse("E: 1\nv: [1, 2, 3]\n");
        CHECK_OK(context_of_test, pcs_case_set(c, table[i].set));
        sample s;
        CHECK(read_root(c, &s) == PCS_BAD_INPUT);
        const char *message = pcs_message(context_of_test);
        CHECK(strncmp(message, table[i].message, strlen(table[i].message)) == 0);
        CHECK_TEXT(message, table[i].message);
    }
}

TEST_OF_CASE(assignments_come_after_the_file_in_the_report)
{
    pcs_case *c = parse("E: 0\nn: 0\n");
    CHECK_OK(context_of_test, pcs_case_set(c, "factor=x"));
    sample s;
    CHECK(read_root(c, &s) == PCS_BAD_INPUT);
    check_same_text(pcs_message(context_of_test), "f:1:4: E must be > 0, is 0\n"
                                                  "f:2:4: n must be in [1, 1000], is 0\n"
                                                  "--set factor=x: factor must be a number, is 'x'");
}
