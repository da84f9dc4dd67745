// C threads by way of POSIX ones, which the thread sanitizer knows; linked into the programs of such a build in place
// of those of the C library, whose types these are.

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

_Static_assert(sizeof(thrd_t) == sizeof(pthread_t) && sizeof(mtx_t) == sizeof(pthread_mutex_t) &&
                   sizeof(cnd_t) == sizeof(pthread_cond_t),
               "the types of the C library are those of POSIX");

typedef struct beginning {
    thrd_start_t function;
    void *argument;
} beginning;

static void *begin(void *data)
{
    beginning b = *(beginning *)data;
    free(data);
    return (void *)(intptr_t)b.function(b.argument);
}

static int answer(int code)
{
    return code == 0 ? thrd_success : thrd_error;
}

int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    beginning *b = malloc(sizeof *b);
    if (b == NULL) return thrd_nomem;
    *b = (beginning){ function, argument };
    int code = pthread_create((pthread_t *)thread, NULL, begin, b);
    if (code != 0) free(b);
    return answer(code);
}

int thrd_join(thrd_t thread, int *result)
{
    void *value = NULL;
    int code = pthread_join((pthread_t)thread, &value);
    if (code == 0 && result != NULL) *result = (int)(intptr_t)value;
    return answer(code);
}

int mtx_init(mtx_t *lock, int type)
{
    (void)type; // plain ones only
    return answer(pthread_mutex_init((pthread_mutex_t *)lock, NULL));
}

int mtx_lock(mtx_t *lock)
{
    return answer(pthread_mutex_lock((pthread_mutex_t *)lock));
}

int mtx_unlock(mtx_t *lock)
{
    return answer(pthread_mutex_unlock((pthread_mutex_t *)lock));
}

void mtx_destroy(mtx_t *lock)
{
    pthread_mutex_destroy((pthread_mutex_t *)lock);
}

int cnd_init(cnd_t *condition)
{
    return answer(pthread_cond_init((pthread_cond_t *)condition, NULL));
}

int cnd_wait(cnd_t *condition, mtx_t *lock)
{
    return answer(pthread_cond_wait((pthread_cond_t *)condition, (pthread_mutex_t *)lock));
}

int cnd_signal(cnd_t *condition)
{
    return answer(pthread_cond_signal((pthread_cond_t *)condition));
}

int cnd_broadcast(cnd_t *condition)
{
    return answer(pthread_cond_broadcast((pthread_cond_t *)condition));
}

void cnd_destroy(cnd_t *condition)
{
    pthread_cond_destroy((pthread_cond_t *)condition);
}
