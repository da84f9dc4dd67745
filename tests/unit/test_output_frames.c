// Frames and their list: which steps, which names, which times; left-overs, failures, contact frames.

#include "test_output_fake.h"

#include "output/frames.h"

extern const pcs_observer_ops pcs_observer_frames, pcs_observer_contact_frames;

static const pcs_frames_params unsaid = { .every = -1 }, every_4 = { .every = 4 }, none = { .every = 0 };

static void check_list(const fake_run *r, const char *name, const char *wanted)
{
    CHECK(fake_is_json(r, name));
    char *text = fake_read(r, name);
    assert_string_equal(text, wanted);
    free(text);
}

TEST(the_list_names_every_frame_with_its_time)
{
    fake_run r;
    fake_create(&r, "frames", &pcs_observer_frames, &every_4);
    fake_run_all(&r, 10);
    check_list(&r, "fake.vtk.series",
               "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [\n"
               "    { \"name\": \"fake_000000.vtk\", \"time\": 0 },\n"
               "    { \"name\": \"fake_000001.vtk\", \"time\": 0.004 },\n"
               "    { \"name\": \"fake_000002.vtk\", \"time\": 0.008 },\n"
               "    { \"name\": \"fake_000003.vtk\", \"time\": 0.01 }\n  ]\n}\n");
    CHECK(fake_exists(&r, "fake_000003.vtk"));
    CHECK(!fake_exists(&r, "fake_000004.vtk"));
    CHECK(!fake_exists(&r, "fake_000003.vtk.part"));
}

// What a killed run leaves: after each frame the list is whole and up to date.
TEST(the_list_is_complete_after_every_frame)
{
    fake_run r;
    fake_create(&r, "frames", &pcs_observer_frames, &every_4);
    fake_open(&r);
    CHECK(fake_is_json(&r, "fake.vtk.series"));
    for (long step = 1; step <= 4; step++) fake_step(&r, step);
    check_list(&r, "fake.vtk.series",
               "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [\n"
               "    { \"name\": \"fake_000000.vtk\", \"time\": 0 },\n"
               "    { \"name\": \"fake_000001.vtk\", \"time\": 0.004 }\n  ]\n}\n");
    fake_close(&r);
}

TEST(about_a_hundred_frames_by_default)
{
    static const struct {
        const pcs_frames_params *params;
        long nstep;
        const char *second;
    } kinds[] = { { &unsaid, 10, "0.001" }, { &unsaid, 750, "0.007" }, { &every_4, 750, "0.004" } };
    for (int k = 0; k < 3; k++) {
        fake_run r;
        char wanted[64];
        fake_create(&r, "frames", &pcs_observer_frames, kinds[k].params);
        r.view.nstep = kinds[k].nstep;
        snprintf(wanted, sizeof wanted, "fake_000001.vtk\", \"time\": %s }", kinds[k].second);
        fake_run_all(&r, 8);
        fake_has(&r, "fake.vtk.series", wanted);
    }
}

TEST(frames_of_an_earlier_run_are_removed)
{
    fake_run r;
    fake_create(&r, "frames", &pcs_observer_frames, &every_4);
    char name[32];
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "fake_%06d.vtk", i);
        fake_put(&r, name, "old");
    }
    fake_put(&r, "fake_notes.vtk", "the user's own");
    fake_run_all(&r, 4);
    CHECK(fake_exists(&r, "fake_000001.vtk"));
    for (int i = 2; i < 6; i++) {
        snprintf(name, sizeof name, "fake_%06d.vtk", i);
        CHECK(!fake_exists(&r, name));
    }
    CHECK(fake_exists(&r, "fake_notes.vtk"));
}

TEST(no_frames_when_not_wanted)
{
    fake_run r;
    fake_create(&r, "frames_none", &pcs_observer_frames, &none);
    fake_run_all(&r, 4);
    CHECK(!fake_exists(&r, "fake_000000.vtk"));
    CHECK(!fake_exists(&r, "fake.vtk.series"));
    fake_create(&r, "frames_none", &pcs_observer_frames, &every_4);
    r.system.picture = NULL; // a system that has nothing to show
    fake_run_all(&r, 4);
    CHECK(!fake_exists(&r, "fake_000000.vtk"));
}

TEST(names_stay_apart_from_the_contact_frames)
{
    fake_run r;
    fake_create(&r, "frames", &pcs_observer_frames, &every_4);
    r.view.case_name = "contacts";
    fake_run_all(&r, 0);
    CHECK(fake_exists(&r, "model_000000.vtk"));
    CHECK(fake_exists(&r, "model.vtk.series"));
}

TEST(odd_names_and_titles_do_no_harm)
{
    fake_run r;
    fake_create(&r, "frames", &pcs_observer_frames, &every_4);
    char title[400];
    memset(title, 'x', sizeof title - 1);
    title[sizeof title - 1] = '\0';
    memcpy(title, "two\nlines", 9);
    r.view.title = title;
    r.view.case_name = "a \"quoted\" \\ case\xff";
    fake_run_all(&r, 4);
    CHECK(fake_is_json(&r, "a \"quoted\" \\ case\xff.vtk.series"));
    char *text = fake_read(&r, "a \"quoted\" \\ case\xff_000000.vtk");
    CHECK(strncmp(text, "# vtk DataFile Version 3.0\ntwo linesxxx", 39) == 0);
    CHECK(strchr(text + 27, '\n') - (text + 27) == 255);
    free(text);
}

TEST(a_frame_that_does_not_fit_leaves_nothing)
{
    fake_run r;
    fake_create(&r, "frames_full", &pcs_observer_frames, &every_4);
    fake_open(&r);
    fake_move(&r, 4);
    fake_set_limit(500);
    CHECK_STATUS(r.ctx, r.observer.ops->step(&r.observer), PCS_IO_ERROR);
    CHECK_TEXT(pcs_message(r.ctx), "/frames_full/fake_000001.vtk: File too large");
    fake_move(&r, 5);
    fake_close(&r); // the fault was reported: nothing more is tried
    fake_set_limit(0);
    CHECK(fake_exists(&r, "fake_000000.vtk"));
    CHECK(!fake_exists(&r, "fake_000001.vtk"));
    CHECK(!fake_exists(&r, "fake_000001.vtk.part"));
    check_list(&r, "fake.vtk.series",
               "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [\n"
               "    { \"name\": \"fake_000000.vtk\", \"time\": 0 }\n  ]\n}\n");
}

// The list grows past the limit while the frames stay below it: it is put back as it was.
TEST(a_list_that_cannot_grow_stays_whole)
{
    fake_run r;
    const pcs_frames_params every_1 = { .every = 1 };
    fake_create(&r, "frames_list", &pcs_observer_frames, &every_1);
    fake_open(&r);
    fake_set_limit(2000);
    pcs_status status = PCS_OK;
    long step = 0;
    while (status == PCS_OK && step < 1000) {
        fake_move(&r, ++step);
        status = r.observer.ops->step(&r.observer);
    }
    fake_set_limit(0);
    CHECK_STATUS(r.ctx, status, PCS_IO_ERROR);
    CHECK_TEXT(pcs_message(r.ctx), "/frames_list/fake.vtk.series: File too large");
    CHECK(strstr(pcs_message(r.ctx), "damaged") == NULL);
    CHECK(fake_is_json(&r, "fake.vtk.series"));
    char *text = fake_read(&r, "fake.vtk.series"), wanted[64];
    snprintf(wanted, sizeof wanted, "{ \"name\": \"fake_%06ld.vtk\", ", step - 1);
    CHECK_TEXT(text, wanted);
    CHECK(step > 20 && strlen(text) < 2000);
    free(text);
    fake_close(&r);
}

TEST(contact_frames_follow_the_frames)
{
    fake_run r;
    fake_create(&r, "contact_frames", &pcs_observer_contact_frames, &unsaid);
    pcs_observer frames = { .ops = &pcs_observer_frames, .params = &every_4 };
    r.view.observers = &frames;
    r.view.nobserver = 1;
    fake_run_all(&r, 10);
    check_list(&r, "contacts.vtk.series",
               "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [\n"
               "    { \"name\": \"contacts_000000.vtk\", \"time\": 0 },\n"
               "    { \"name\": \"contacts_000001.vtk\", \"time\": 0.004 },\n"
               "    { \"name\": \"contacts_000002.vtk\", \"time\": 0.008 },\n"
               "    { \"name\": \"contacts_000003.vtk\", \"time\": 0.01 }\n  ]\n}\n");
    fake_has(&r, "contacts_000003.vtk", "\ncontacts of fake: 0 wall, 1 floor, \"left\"\nBINARY\nDATASET POLYDATA\n");
}

TEST(contact_frames_have_their_own_say)
{
    fake_run r;
    const pcs_frames_params every_5 = { .every = 5 };
    fake_create(&r, "contact_frames", &pcs_observer_contact_frames, &every_5);
    pcs_observer frames = { .ops = &pcs_observer_frames, .params = &every_4 };
    r.view.observers = &frames;
    r.view.nobserver = 1;
    fake_run_all(&r, 10);
    CHECK(fake_exists(&r, "contacts_000002.vtk"));
    CHECK(!fake_exists(&r, "contacts_000003.vtk"));
}

TEST(without_contacts_there_are_no_contact_frames)
{
    fake_run r;
    fake_create(&r, "contact_frames", &pcs_observer_contact_frames, &every_4);
    r.system.nrow = r.system.ncontact = 0;
    fake_run_all(&r, 10);
    CHECK(!fake_exists(&r, "contacts_000000.vtk"));
    CHECK(!fake_exists(&r, "contacts.vtk.series"));
}
