// Result files: aside and renamed, big-endian, and nothing half-done under a final name.

#include "test_output_fake.h"

#include "output/file.h"

typedef struct fixture {
    fake_run run;
    pcs_file *file;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f = (fixture){ 0 };
    CHECK(pcs_context_create(&f.run.ctx) == PCS_OK);
    fake_make_directory(&f.run, "file");
    CHECK_OK(f.run.ctx, pcs_file_create(f.run.ctx, f.run.directory, 32, 64, &f.file));
    unlink(fake_path(&f.run, "a.txt"));
    unlink(fake_path(&f.run, "a.txt.part"));
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fake_set_limit(0);
    pcs_context_destroy(&((fixture *)*state)->run.ctx);
    return 0;
}

TEST_WITHIN(a_file_appears_when_complete, set_up, tear_down)
{
    fixture *f = *state;
    CHECK_OK(f->run.ctx, pcs_file_open(f->file, "a.txt"));
    for (int i = 0; i < 20; i++) pcs_file_print(f->file, "line %d\n", i); // more than the buffer holds
    pcs_file_text(f->file, "0123456789012345678901234567890123456789012345678901234567890123456789\n");
    CHECK(!fake_exists(&f->run, "a.txt"));
    CHECK(fake_exists(&f->run, "a.txt.part"));
    CHECK_OK(f->run.ctx, pcs_file_commit(f->file));
    CHECK(!fake_exists(&f->run, "a.txt.part"));
    char *text = fake_read(&f->run, "a.txt");
    CHECK(strncmp(text, "line 0\nline 1\n", 14) == 0);
    CHECK_TEXT(text, "\nline 19\n0123456789012345678901234567890123456789012345678901234567890123456789\n");
    CHECK(strlen(text) == 10 * 7 + 10 * 8 + 71);
    free(text);
}

// On the disk, in the buffer of 64 bytes, and across both.
TEST_WITHIN(bytes_are_put_in_place_of_others, set_up, tear_down)
{
    fixture *f = *state;
    for (int place = 0; place <= 90; place++) {
        CHECK_OK(f->run.ctx, pcs_file_open(f->file, "a.txt"));
        for (int i = 0; i < 10; i++) pcs_file_text(f->file, "0123456789");
        CHECK(pcs_file_place(f->file) == 100);
        pcs_file_patch(f->file, place, "abcdefghij", 10);
        pcs_file_text(f->file, "end");
        CHECK(pcs_file_place(f->file) == 103);
        CHECK_OK(f->run.ctx, pcs_file_commit(f->file));
        char *text = fake_read(&f->run, "a.txt");
        CHECK(strlen(text) == 103 && strncmp(text + place, "abcdefghij", 10) == 0 && strcmp(text + 100, "end") == 0);
        for (int i = 0; i < 100; i++) CHECK((i >= place && i < place + 10) || text[i] == '0' + i % 10);
        free(text);
    }
}

TEST_WITHIN(columns_are_quoted_only_when_needed, set_up, tear_down)
{
    fixture *f = *state;
    CHECK_OK(f->run.ctx, pcs_file_open(f->file, "a.txt"));
    pcs_file_number(f->file, 0.1);
    pcs_file_column(f->file, "wall", 0, "gap");
    pcs_file_column(f->file, "wall", -1, "gap");
    pcs_file_column(f->file, "tip", -1, NULL);
    pcs_file_column(f->file, "a,\"b\"", 12, "force");
    CHECK_OK(f->run.ctx, pcs_file_commit(f->file));
    char *text = fake_read(&f->run, "a.txt");
    assert_string_equal(text, "0.1,wall[0].gap,wall.gap,tip,\"a,\"\"b\"\"[12].force\"");
    free(text);
}

TEST_WITHIN(a_full_disk_is_reported_with_the_path, set_up, tear_down)
{
    fixture *f = *state;
    fake_put(&f->run, "a.txt", "old");
    CHECK_OK(f->run.ctx, pcs_file_open(f->file, "a.txt"));
    fake_set_limit(100);
    for (int i = 0; i < 50; i++) pcs_file_text(f->file, "too much ");
    CHECK(pcs_file_reserve(f->file, 8) == NULL);
    CHECK_STATUS(f->run.ctx, pcs_file_commit(f->file), PCS_IO_ERROR);
    CHECK_TEXT(pcs_message(f->run.ctx), "cannot write ");
    CHECK_TEXT(pcs_message(f->run.ctx), "/file/a.txt: File too large");
    CHECK(!fake_exists(&f->run, "a.txt.part"));
    char *text = fake_read(&f->run, "a.txt"); // what was there stays
    assert_string_equal(text, "old");
    free(text);
}

TEST_WITHIN(only_whole_parts_are_left_behind, set_up, tear_down)
{
    fixture *f = *state;
    CHECK_OK(f->run.ctx, pcs_file_open(f->file, "a.txt"));
    pcs_file_text(f->file, "whole\n");
    CHECK_OK(f->run.ctx, pcs_file_flush(f->file));
    CHECK(f->file->written == 6);
    pcs_file_text(f->file, "ha");
    CHECK_OK(f->run.ctx, pcs_file_flush(f->file));
    pcs_file_leave(f->file, 6);
    char *text = fake_read(&f->run, "a.txt.part");
    assert_string_equal(text, "whole\n");
    free(text);
    CHECK(!fake_exists(&f->run, "a.txt"));
}

TEST_WITHIN(a_name_that_is_taken_is_an_error, set_up, tear_down)
{
    fixture *f = *state;
    mkdir(fake_path(&f->run, "taken"), 0777);
    CHECK_OK(f->run.ctx, pcs_file_open(f->file, "taken"));
    pcs_file_text(f->file, "text");
    CHECK_STATUS(f->run.ctx, pcs_file_commit(f->file), PCS_IO_ERROR);
    CHECK_TEXT(pcs_message(f->run.ctx), "/file/taken: Is a directory");
    CHECK(!fake_exists(&f->run, "taken.part"));
}

TEST_WITHIN(a_folder_that_cannot_be_is_an_error, set_up, tear_down)
{
    fixture *f = *state;
    fake_put(&f->run, "plain", "a file, not a folder");
    pcs_file *below;
    char directory[600];
    snprintf(directory, sizeof directory, "%s/plain", f->run.directory);
    CHECK_OK(f->run.ctx, pcs_file_create(f->run.ctx, directory, 32, 64, &below));
    CHECK_STATUS(f->run.ctx, pcs_file_open(below, "a.txt"), PCS_IO_ERROR);
    CHECK_TEXT(pcs_message(f->run.ctx), "cannot create ");
    CHECK_TEXT(pcs_message(f->run.ctx), "/plain/a.txt: Not a directory");
}
