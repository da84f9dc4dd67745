// What the progress observer shows, on a terminal and elsewhere.

#include "test_output_fake.h"

extern const pcs_observer_ops pcs_observer_progress;

// The clock of the observers stands still but for what the tests let pass.
static double now = 1000.0;

double __wrap_pcs_clock(void);
double __wrap_pcs_clock(void)
{
    return now;
}

typedef struct screen {
    int count;
    char last[512];
} screen;

static void show(void *user, const char *text)
{
    screen *s = user;
    s->count++;
    snprintf(s->last, sizeof s->last, "%s", text);
}

static void start(fake_run *r, screen *s, bool is_terminal)
{
    *s = (screen){ 0 };
    fake_create(r, "progress", &pcs_observer_progress, NULL);
    r->view.show = show;
    r->view.show_user = s;
    r->view.is_terminal = is_terminal;
    fake_open(r);
}

TEST(a_terminal_has_one_line_that_is_rewritten)
{
    fake_run r;
    screen s;
    start(&r, &s, true);
    now += 0.15;
    for (long step = 1; step <= 5; step++) fake_step(&r, step);
    CHECK(s.count == 1);
    CHECK(s.last[0] == '\r' && strchr(s.last, '\n') == NULL);
    CHECK(strlen(s.last) == 79);
    CHECK_TEXT(s.last, "\r[=>              ]  10 %  t = 0.001 s  E = ");
    CHECK_TEXT(s.last, " s left");
    for (long step = 6; step <= 10; step++) fake_step(&r, step);
    fake_close(&r);
    CHECK(s.count == 2);
    CHECK_TEXT(s.last, "\r[================] 100 %  t = 0.01 s");
    CHECK_TEXT(s.last, " in all");
    CHECK(s.last[strlen(s.last) - 1] == '\n');
}

TEST(elsewhere_there_is_a_line_now_and_then)
{
    fake_run r;
    screen s;
    start(&r, &s, false);
    for (long step = 1; step <= 10; step++) {
        now += 0.45;
        fake_step(&r, step);
    }
    CHECK(s.count == 0);
    fake_close(&r);
    CHECK(s.count == 1);
    CHECK(strncmp(s.last, "100 %  t = 0.01 s  step 10 of 10  E = ", 38) == 0);
    CHECK(strchr(s.last, '\r') == NULL && s.last[strlen(s.last) - 1] == '\n');
}

TEST(a_run_that_stopped_is_not_shown_as_complete)
{
    fake_run r;
    screen s;
    start(&r, &s, true);
    for (long step = 1; step <= 7; step++) fake_step(&r, step);
    fake_close(&r);
    CHECK_TEXT(s.last, "[===========>    ]  70 %");
}

TEST(texts_keep_their_distance)
{
    fake_run r;
    screen s;
    start(&r, &s, true);
    r.view.nstep = 100000000;
    r.view.end_time = 1e5;
    // At any speed, and when it changes: ten a second at most, and not much less.
    long step = 0;
    for (double seconds = 1e-6; seconds < 0.1; seconds *= 10.0) {
        double begin = now;
        s.count = 0;
        while (now < begin + 10.0) {
            now += seconds;
            r.state.step = ++step;
            CHECK_OK(r.ctx, pcs_observer_progress.step(&r.observer));
        }
        CHECK(s.count <= 100 && s.count >= 50);
    }
    fake_close(&r);
}

TEST(nothing_is_shown_without_a_place)
{
    fake_run r;
    screen s;
    start(&r, &s, true);
    r.view.show = NULL;
    now += 0.15;
    for (long step = 1; step <= 10; step++) fake_step(&r, step);
    fake_close(&r);
    CHECK(s.count == 0);
}
