/* test_engine_call.c - commands of launchers: how many there may be, and how they end */
#include "server/launch/engine_call.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

static bool is_deaf; /* what is killed does not die */
static int killed;   /* the group, 0: none */

int __real_kill(int pid, int number);
int __wrap_kill(int pid, int number);

int __wrap_kill(int pid, int number)
{
    killed = -pid;
    return is_deaf ? 0 : __real_kill(pid, number);
}

struct fixture {
    uv_loop_t loop;
    struct engine_calls calls;
    struct launcher *a, *b;
    int answers;
    char why[100];
};

static struct launcher *make_launcher(const char *name, double command_s)
{
    struct launcher *launcher = calloc(1, sizeof(*launcher));

    assert_non_null(launcher);
    launcher->name = strdup(name);
    launcher->command_s = command_s;
    launcher->refs = 1;
    return launcher;
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    uv_loop_init(&f->loop);
    engine_calls_init(&f->calls, &f->loop);
    f->a = make_launcher("a", 3600);
    f->b = make_launcher("b", 0.05);
    is_deaf = false;
    killed = 0;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    launcher_unref(f->a);
    launcher_unref(f->b);
    free(f);
    return 0;
}

EACH_FIXTURE(set_up, tear_down);

static void on_answer(void *arg, const struct engine_answer *answer)
{
    struct fixture *f = arg;

    f->answers++;
    snprintf(f->why, sizeof(f->why), "%s", answer->why);
}

static struct engine_call *begin(struct fixture *f, struct launcher *launcher)
{
    char program[] = "sleep", time[] = "3600", path[] = "PATH=/usr/bin:/bin";
    char *argv[] = {program, time, NULL}, *env[] = {path, NULL};
    struct error err;
    struct engine_call *call =
        engine_call_start(&f->calls, launcher, argv, env, on_answer, f, &err);

    assert_non_null(call);
    return call;
}

TEST(so_many_run_and_a_few_more_that_stop_jobs)
{
    enum { ROOM = ENGINE_CALLS_OF_ONE - ENGINE_CALLS_SPARED };
    struct fixture *f = *state;
    struct engine_call *calls[ENGINE_CALLS_OF_ONE];
    int n = 0;

    while (engine_calls_have_room(&f->calls, "a", false))
        calls[n++] = begin(f, f->a);
    assert_int_equal(n, ROOM);
    assert_true(engine_calls_have_room(&f->calls, "b", false));
    while (engine_calls_have_room(&f->calls, "a", true))
        calls[n++] = begin(f, f->a);
    assert_int_equal(n, ENGINE_CALLS_OF_ONE);
    assert_int_equal(engine_calls_count(&f->calls, "a"), ENGINE_CALLS_OF_ONE);
    assert_int_equal(engine_calls_count(&f->calls, "b"), 0);

    for (int i = 0; i < n; i++)
        engine_call_cancel(calls[i]);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(engine_calls_count(&f->calls, "a"), 0);
    assert_int_equal(f->answers, 0);
}

TEST(all_launchers_share_the_room)
{
    struct fixture *f = *state;
    struct engine_call *calls[ENGINE_CALLS_MAX];
    struct launcher *launchers[ENGINE_CALLS_MAX];
    int n = 0;

    for (;;) {
        char name[16];

        snprintf(name, sizeof(name), "l%d", n);
        if (!engine_calls_have_room(&f->calls, name, false))
            break;
        launchers[n] = make_launcher(name, 3600);
        calls[n] = begin(f, launchers[n]);
        n++;
    }
    assert_int_equal(n, ENGINE_CALLS_MAX - ENGINE_CALLS_SPARED);
    assert_true(engine_calls_have_room(&f->calls, "a", true));
    for (int i = 0; i < n; i++) {
        engine_call_cancel(calls[i]);
        launcher_unref(launchers[i]);
    }
}

TEST(what_takes_too_long_is_killed)
{
    struct fixture *f = *state;
    struct engine_call *call = begin(f, f->b);
    int pid = engine_call_pid(call);

    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(killed, pid);
    assert_int_equal(f->answers, 1);
    assert_mentions(f->why, "killed");
}

/* As a process that waits in the kernel for a disk that does not answer. */
TEST(what_does_not_die_is_answered_and_keeps_its_place)
{
    struct fixture *f = *state;
    struct engine_call *call = begin(f, f->b);
    int pid = engine_call_pid(call);

    is_deaf = true;
    while (f->answers == 0)
        uv_run(&f->loop, UV_RUN_ONCE);
    assert_string_equal(f->why, "took too long and was killed, which has not ended it");
    assert_int_equal(engine_calls_count(&f->calls, "b"), 1);
    assert_int_equal(__real_kill(-pid, SIGKILL), 0);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(f->answers, 1);
    assert_int_equal(engine_calls_count(&f->calls, "b"), 0);
}

TEST(what_is_abandoned_goes_on)
{
    struct fixture *f = *state;
    int pid = engine_call_pid(begin(f, f->a));

    engine_calls_abandon(&f->calls);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(killed, 0);
    assert_int_equal(f->answers, 0);
    assert_int_equal(__real_kill(-pid, SIGKILL), 0);
}
