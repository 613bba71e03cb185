/* test_engine_call.c - commands of launchers: how they end, and what they said */
#include "server/launch/engine_call.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

#define SLEEPS "exec sleep 3600"

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
    char why[100], text[4200], complaint[100];
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
    snprintf(f->text, sizeof(f->text), "%s", answer->text);
    snprintf(f->complaint, sizeof(f->complaint), "%s", answer->complaint);
}

static struct engine_call *begin(struct fixture *f, struct launcher *launcher,
                                 const char *script)
{
    char shell[] = "/bin/sh", option[] = "-c", path[] = "PATH=/usr/bin:/bin";
    char *text = strdup(script), *argv[] = {shell, option, text, NULL};
    char *env[] = {path, NULL};
    struct error err;
    struct engine_call *call =
        engine_call_start(&f->calls, launcher, argv, env, on_answer, f, &err);

    free(text);
    assert_non_null(call);
    return call;
}

static void answers(const char *script, const char *text, const char *complaint,
                    const char *why, struct fixture *f)
{
    f->answers = 0;
    begin(f, f->a, script);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(f->answers, 1);
    assert_string_equal(f->text, text);
    assert_string_equal(f->complaint, complaint);
    assert_string_equal(f->why, why);
}

TEST(an_answer_is_what_the_command_wrote)
{
    struct fixture *f = *state;

    answers("echo; echo ' 7'; echo two; echo one >&2; echo two >&2; exit 3", "7\ntwo",
            "one two", "ended with status 3", f);
    answers("printf 'f\\374r\\000x\\001y'", "f?r?x y", "", "", f);
    answers("kill -9 $$", "", "", "was ended by signal 9", f);
    answers("yes | head -c 60000", f->text, "", "", f);
    assert_int_equal(strlen(f->text), 4095); /* without the last line's end */
}

TEST(what_a_command_leaves_behind_is_not_waited_for)
{
    struct fixture *f = *state;
    uint64_t begin = uv_hrtime();

    answers("sleep 60 & echo $!", f->text, "", "", f);
    assert_true(uv_hrtime() - begin < UINT64_C(30000000000));
    assert_int_equal(__real_kill(atoi(f->text), SIGKILL), 0);
}

TEST(a_command_that_cannot_be_run_says_why)
{
    struct fixture *f = *state;
    char program[] = "/nonexistent/sbatch", *argv[] = {program, NULL}, *env[] = {NULL};
    struct error err;

    assert_null(engine_call_start(&f->calls, f->a, argv, env, on_answer, f, &err));
    assert_mentions(err.text, "/nonexistent/sbatch");
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(engine_calls_count(&f->calls, "a"), 0);
}

TEST(commands_are_counted_until_they_end)
{
    struct fixture *f = *state;
    struct engine_call *one = begin(f, f->a, SLEEPS), *two = begin(f, f->a, SLEEPS);

    assert_int_equal(engine_calls_count(&f->calls, "a"), 2);
    assert_int_equal(engine_calls_count(&f->calls, "b"), 0);
    engine_call_cancel(one);
    engine_call_cancel(two);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(engine_calls_count(&f->calls, "a"), 0);
    assert_int_equal(f->answers, 0);
}

TEST(what_takes_too_long_is_killed)
{
    struct fixture *f = *state;
    struct engine_call *call = begin(f, f->b, SLEEPS);
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
    struct engine_call *call = begin(f, f->b, SLEEPS);
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
    int pid = engine_call_pid(begin(f, f->a, SLEEPS));

    engine_calls_abandon(&f->calls);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(killed, 0);
    assert_int_equal(f->answers, 0);
    assert_int_equal(__real_kill(-pid, SIGKILL), 0);
}
