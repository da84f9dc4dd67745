// A written case reads back to the same bits; cases are found as files and folders.

#include "case_sample.h"

static void write_and_load(pcs_case *c, pcs_case **again)
{
    char *text = NULL;
    pcs_status written = pcs_case_dump(c, false, &text);
    pcs_status loaded =
        written == PCS_OK ? pcs_case_parse(context_of_test, "case", text, strlen(text), again) : written;
    CHECK_OK(context_of_test, written);
    CHECK_OK(context_of_test, loaded);
}

TEST_OF_CASE(a_written_case_reads_back_to_the_same_bits)
{
    static const char *const texts[] = {
        "E: 1e-3\nfactor: 0.1000000000000000055511151231257827\nv: [1e5, -2.5E7, 1.25e-300]\nname: plain\n",
        "E: 2.1e11\nmass: lumped\nis_on: false\nn: 3\nname: 'on'\n",
        "E: .5\nfactor: -5.\nname: \"with \\\"quotes\\\", a # sign: and \\t\\n\\\\ more\"\n",
        "E: +7\nname: Bruls, Acary (2014)\n",
        "E: 3\nname: '12'\n",
        "E: 3\nname: 12\n",
        "E: 3\nname: \xc3\xbc\xe2\x82\xac\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        pcs_case *c = parse(texts[i]), *again = NULL;
        sample a, b;
        CHECK_OK(context_of_test, read_root(c, &a));
        write_and_load(c, &again);
        CHECK(pcs_case_root(again)->count == pcs_case_root(c)->count);
        CHECK_OK(context_of_test, read_root(again, &b));
        CHECK(memcmp(&a.E, &b.E, sizeof a.E) == 0 && memcmp(&a.factor, &b.factor, sizeof a.factor) == 0);
        CHECK(memcmp(a.v, b.v, sizeof a.v) == 0 && a.n == b.n && a.mass == b.mass && a.is_on == b.is_on);
        check_same_text(b.name, a.name);
    }
}

// A written case is plain: what looks like a formula in a text stays a text.
TEST_OF_CASE(texts_are_not_taken_for_formulas)
{
    static const char *const names[][2] = {
        { "$${x}", "${x}" },
        { "'$$${'", "$${" },
        { "\"a $5 $${\"", "a $5 ${" },
        { "n${1 + 1}", "n2" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[64];
        snprintf(text, sizeof text, "E: 3\nname: %s\n", names[i][0]);
        pcs_case *c = parse(text), *again = NULL;
        sample a, b;
        CHECK_OK(context_of_test, pcs_case_expand(c));
        CHECK_OK(context_of_test, read_root(c, &a));
        check_same_text(a.name, names[i][1]);
        write_and_load(c, &again);
        CHECK_OK(context_of_test, pcs_case_expand(again));
        CHECK_OK(context_of_test, read_root(again, &b));
        check_same_text(b.name, names[i][1]);
    }
}

// YAML 1.1 readers take a number for a text without its point or the sign of its exponent, and `off` for a flag.
TEST_OF_CASE(written_values_mean_the_same_to_other_readers)
{
    char *text = NULL;
    pcs_case *c = parse("E: 1e5\nfactor: 2.5e-3\nv: [.5e3, 5.e3, 7]\nname: off\n");
    sample s;
    CHECK_OK(context_of_test, read_root(c, &s));
    CHECK_OK(context_of_test, pcs_case_dump(c, false, &text));
    CHECK_TEXT(text, "\nE: 1.0e+5\nfactor: 2.5e-3\nv: [0.5e+3, 5.0e+3, 7]\nname: \"off\"\n");
}

TEST_OF_CASE(numbers_become_the_shortest_text)
{
    static const double values[] = { 0.1, 1.0 / 3.0, 2e-3, 1e22, 5e-324, 1.7976931348623157e308, 9.9246752e-8 };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[PCS_NUMBER_BYTES], line[64];
        snprintf(line, sizeof line, "E: %s\n", pcs_case_number_text(values[i], text));
        sample s;
        CHECK_OK(context_of_test, read_root(parse(line), &s));
        CHECK(s.E == values[i]);
        const char *exponent = strchr(text, 'e');
        CHECK(strchr(text, '.') != NULL && (exponent == NULL || strchr("+-", exponent[1]) != NULL));
    }
    char text[PCS_NUMBER_BYTES];
    check_same_text(pcs_case_number_text(2e-3, text), "0.002");
    check_same_text(pcs_case_number_text(2e-5, text), "2.0e-05");
}

TEST_OF_CASE(files_and_folders_are_found)
{
    pcs_case *c = NULL;
    CHECK(pcs_case_load(context_of_test, "no_such_case", &c) == PCS_IO_ERROR);
    CHECK_TEXT(pcs_message(context_of_test), "cannot open the case 'no_such_case': No such file");
    CHECK(pcs_case_load(context_of_test, "cases", &c) == PCS_IO_ERROR);
    CHECK_TEXT(pcs_message(context_of_test), "the folder 'cases' holds no case.yaml");
    CHECK_OK(context_of_test, pcs_case_load(context_of_test, "cases/bar_impact/", &c));
    check_same_text(pcs_case_name(c), "bar_impact");
    check_same_text(pcs_case_file(c), "cases/bar_impact/case.yaml");
    check_same_text(pcs_case_folder_of(c, pcs_case_root(c)), "cases/bar_impact");
}
