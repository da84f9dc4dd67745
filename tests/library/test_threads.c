// Simulations in several threads at once know nothing of each other: the same numbers as one after another. Under the
// thread sanitizer, no data races either.

#include "check.h"
#include "percuss.h"

#include <string.h>
#include <threads.h>

enum { NJOB = 6, MOST_DOFS = 4000 };

typedef struct job {
    const char *path, *set;
    int makes_modes;
    int answer;
    double time, q[MOST_DOFS];
} job;

static const job wanted[NJOB] = {
    { .path = "cases/bar_impact", .set = "time.end=0.6" },  { .path = "cases/beam_pendulum", .set = "time.end=0.05" },
    { .path = "cases/bar_impact", .set = "time.end=0.6" },  { .path = "cases/shaft_whirl", .makes_modes = 1 },
    { .path = "cases/ball_in_box", .set = "time.end=0.2" }, { .path = "cases/cantilever_stop", .makes_modes = 1 },
};

static int work(void *data)
{
    job *j = data;
    percuss *p = NULL;
    percuss_source source = { .path = j->path, .nset = j->set == NULL ? 0 : 1, .set = &j->set };
    j->answer = j->makes_modes ? percuss_modes(&source, NULL, &p) : percuss_open(&source, &p);
    while (j->answer == 0 && !percuss_is_done(p)) j->answer = percuss_step(p);
    int n = percuss_dofs(p) < MOST_DOFS ? percuss_dofs(p) : MOST_DOFS;
    const double *q = j->makes_modes ? percuss_mode_at(p, 2).re : percuss_displacement(p);
    if (j->answer == 0) memcpy(j->q, q, (size_t)n * sizeof *q);
    j->time = percuss_time(p);
    percuss_destroy(&p);
    return 0;
}

TEST(threads_share_nothing)
{
    static job alone[NJOB], together[NJOB];
    thrd_t thread[NJOB];
    memcpy(alone, wanted, sizeof alone);
    memcpy(together, wanted, sizeof together);
    for (int i = 0; i < NJOB; i++) work(&alone[i]);
    for (int i = 0; i < NJOB; i++) CHECK(thrd_create(&thread[i], work, &together[i]) == thrd_success);
    for (int i = 0; i < NJOB; i++) CHECK(thrd_join(thread[i], NULL) == thrd_success);
    for (int i = 0; i < NJOB; i++) {
        CHECK(alone[i].answer == 0 && together[i].answer == 0 && together[i].time == alone[i].time);
        if (memcmp(alone[i].q, together[i].q, sizeof alone[i].q) != 0) fail_msg("%s: other numbers", wanted[i].path);
    }
}
