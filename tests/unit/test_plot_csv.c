// Tables read back from CSV: names, numbers, quotes, empty fields, and messages that say where a file is wrong; units
// of columns.

#include "support/check.h"

#include "elements/element.h"
#include "plot/csv.h"
#include "plot/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FILE_NAME TESTS_OUTPUT_FOLDER "/plot_table.csv"

static void write_file(const char *text, size_t size)
{
    FILE *file = fopen(FILE_NAME, "wb");
    CHECK(file != NULL);
    CHECK(fwrite(text, 1, size, file) == size);
    CHECK(fclose(file) == 0);
}

static pcs_csv *read_text(pcs_context *ctx, const char *text, bool keeps_texts)
{
    pcs_csv *csv = NULL;
    write_file(text, strlen(text));
    CHECK_OK(ctx, pcs_csv_read(ctx, FILE_NAME, keeps_texts, &csv));
    return csv;
}

TEST_WITH_CONTEXT(numbers_stand_in_columns)
{
    pcs_context *ctx = *state;
    pcs_csv *csv = read_text(ctx, "t,wall.force,wall.gap\n0,,5.005\n0.002,-1.5e3,4.985\n", false);
    CHECK(csv->ncolumn == 3 && csv->nrow == 2);
    CHECK(pcs_csv_find(csv, "wall.gap") == 2 && pcs_csv_find(csv, "wall.ga") == -1 && pcs_csv_find(csv, "t") == 0);
    CHECK(pcs_csv_column(csv, 0)[1] == 0.002);
    CHECK(isnan(pcs_csv_column(csv, 1)[0]) && pcs_csv_column(csv, 1)[1] == -1500.0);
    CHECK(pcs_csv_column(csv, 2)[0] == 5.005 && pcs_csv_column(csv, 2)[1] == 4.985);
    CHECK(csv->texts == NULL);
}

// Line ends of two kinds, a last line without one, comments and empty lines make no difference.
TEST(line_ends_do_not_matter)
{
    static const char *const texts[] = { "a,b\n1,2\n3,\n", "a,b\r\n1,2\r\n3,\r\n", "a,b\n1,2\n3,",
                                         "# by hand\na,b\n\n1,2\n# and more\n3,\n\n" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        pcs_context *ctx;
        CHECK(pcs_context_create(&ctx) == PCS_OK);
        pcs_csv *csv = read_text(ctx, texts[i], i % 2 == 0);
        CHECK(csv->ncolumn == 2 && csv->nrow == 2 && strcmp(csv->names[1], "b") == 0);
        CHECK(pcs_csv_column(csv, 0)[0] == 1.0 && pcs_csv_column(csv, 0)[1] == 3.0);
        CHECK(pcs_csv_column(csv, 1)[0] == 2.0 && isnan(pcs_csv_column(csv, 1)[1]));
        pcs_context_destroy(&ctx);
    }
}

TEST_WITH_CONTEXT(quotes_hide_commas_and_lines)
{
    pcs_context *ctx = *state;
    pcs_csv *csv = read_text(ctx, "\"a,b\",key,\"say \"\"x\"\"\"\n1,\"[1, 0]\",\"two\nlines\"\n2,,3\n", true);
    CHECK(csv->ncolumn == 3 && csv->nrow == 2);
    CHECK(strcmp(csv->names[0], "a,b") == 0 && strcmp(csv->names[2], "say \"x\"") == 0);
    CHECK(strcmp(pcs_csv_text(csv, 1, 0), "[1, 0]") == 0 && strcmp(pcs_csv_text(csv, 2, 0), "two\nlines") == 0);
    CHECK(isnan(pcs_csv_column(csv, 1)[0]) && pcs_csv_column(csv, 2)[1] == 3.0 && pcs_csv_column(csv, 0)[1] == 2.0);
    CHECK(strcmp(pcs_csv_text(csv, 1, 1), "") == 0);
}

TEST_WITH_CONTEXT(a_head_alone_is_a_table)
{
    pcs_context *ctx = *state;
    pcs_csv *csv = read_text(ctx, "t,x\n", false);
    CHECK(csv->ncolumn == 2 && csv->nrow == 0);
}

TEST(faults_are_told_with_their_place)
{
    static const char *const faults[][2] = {
        { "", "empty" },
        { "# nothing\n", "empty" },
        { "t,x\n0,1\n1\n", ":3: 1 field where the head names 2 columns" },
        { "t,x\n0,1,2\n", ":2: 3 fields" },
        { "t,x\n0,1\n1,2e\n", ":3: '2e' is no number" },
        { "t,x\n\n0,abc\n", ":3: 'abc' is no number" },
        { "t,t\n0,1\n", ":1: two columns are called 't'" },
        { "t,x\n0,\"1\n", ":2: a quote that does not end" },
        { "t,x\n\"0\"1,2\n", ":2: text behind a quote" },
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        pcs_context *ctx;
        pcs_csv *csv;
        CHECK(pcs_context_create(&ctx) == PCS_OK);
        write_file(faults[i][0], strlen(faults[i][0]));
        CHECK_STATUS(ctx, pcs_csv_read(ctx, FILE_NAME, false, &csv), PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(ctx), faults[i][1]);
        pcs_context_destroy(&ctx);
    }
}

TEST_WITH_CONTEXT(a_missing_file_is_told)
{
    pcs_context *ctx = *state;
    pcs_csv *csv;
    CHECK_STATUS(ctx, pcs_csv_read(ctx, TESTS_OUTPUT_FOLDER "/no_such.csv", false, &csv), PCS_BAD_INPUT);
    CHECK_TEXT(pcs_message(ctx), "no_such.csv");
}

// Only strains are pure numbers.
TEST(every_field_of_an_element_has_a_unit)
{
    for (int i = 0; pcs_elements[i] != NULL; i++)
        for (int list = 0; list < 2; list++) {
            const char *const *field = list == 0 ? pcs_elements[i]->fields : pcs_elements[i]->end_fields;
            for (; field != NULL && *field != NULL; field++) {
                bool has_unit = pcs_quantity_unit(*field)[0] != '\0';
                if (has_unit == (strstr(*field, "_strain") != NULL))
                    fail_msg("%s of %s", *field, pcs_elements[i]->name);
            }
        }
}
