/* SPDX-License-Identifier: Apache-2.0 */
/* test_engine_call.c - commands of launchers: how they end, and what they said */
#include "server/launch/engine_call.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

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
    struct engine_calls calls;
    int64_t now_ms;
    struct launcher *a;
    int answers;
    char why[100], text[4200], complaint[100];
};

static void tick(struct fixture *f)
{
    engine_calls_tick(&f->calls, f->now_ms);
}

static void await_end(struct fixture *f)
{
    while (!TAILQ_EMPTY(&f->calls)) {
        tick(f);
        usleep(1000);
    }
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    TAILQ_INIT(&f->calls);
    f->a = calloc(1, sizeof(*f->a));
    assert_non_null(f->a);
    f->a->name = strdup("a");
    f->a->command_s = 3600;
    f->a->refs = 1;
    is_deaf = false;
    killed = 0;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    await_end(f);
    launcher_unref(f->a);
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
        engine_call_start(&f->calls, launcher, argv, env, f->now_ms, on_answer, f, &err);

    free(text);
    assert_non_null(call);
    return call;
}

static void answers(const char *script, const char *text, const char *complaint,
                    const char *why, struct fixture *f)
{
    f->answers = 0;
    begin(f, f->a, script);
    await_end(f);
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
    answers("kill -9 $$", "", "", "was killed by signal 9", f);
    answers("yes | head -c 60000", f->text, "", "", f);
    assert_int_equal(strlen(f->text), 4095); /* without the last line's end */
}

/* More than a pipe holds. */
TEST(what_a_command_writes_beyond_an_answer_is_dropped)
{
    struct fixture *f = *state;

    answers("yes | head -c 3000000; yes | head -c 3000000 >&2; exit 3", f->text,
            f->complaint, "ended with status 3", f);
    assert_int_equal(strlen(f->text), 4095);
}

/* The loop looks at it every half second. */
TEST(a_command_that_writes_much_is_in_time)
{
    struct fixture *f = *state;

    f->a->command_s = 30;
    begin(f, f->a, "yes | head -c 20000000");
    for (; !TAILQ_EMPTY(&f->calls); f->now_ms += 500) {
        tick(f);
        usleep(20000);
    }
    assert_string_equal(f->why, "");
}

TEST(a_command_is_looked_up_in_its_own_path)
{
    struct fixture *f = *state;
    char dir[] = "path-XXXXXX", path[64], script[64], program[] = "tool";
    char *argv[] = {program, NULL}, *env[] = {path, NULL};
    struct error err;
    FILE *file;

    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "PATH=/nonexistent:%s:/bin", dir);
    snprintf(script, sizeof(script), "%s/tool", dir);
    file = fopen(script, "w");
    assert_non_null(file);
    fputs("#!/bin/sh\necho found\n", file);
    fclose(file);
    assert_int_equal(chmod(script, 0700), 0);
    if (!engine_call_start(&f->calls, f->a, argv, env, f->now_ms, on_answer, f, &err))
        fail_msg("%s", err.text);
    await_end(f);
    assert_string_equal(f->text, "found");
    unlink(script);
    rmdir(dir);
}

TEST(what_a_command_leaves_behind_is_not_waited_for)
{
    struct fixture *f = *state;

    answers("sleep 3600 & echo $!", f->text, "", "", f);
    assert_int_equal(__real_kill(atoi(f->text), SIGKILL), 0);
}

TEST(a_command_that_cannot_be_run_says_why)
{
    struct fixture *f = *state;
    char program[] = "/nonexistent/sbatch", *argv[] = {program, NULL}, *env[] = {NULL};
    struct error err;

    assert_null(
        engine_call_start(&f->calls, f->a, argv, env, f->now_ms, on_answer, f, &err));
    assert_mentions(err.text, "/nonexistent/sbatch");
    await_end(f);
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
    await_end(f);
    assert_int_equal(engine_calls_count(&f->calls, "a"), 0);
    assert_int_equal(f->answers, 0);
}

TEST(what_takes_too_long_is_killed)
{
    struct fixture *f = *state;

    begin(f, f->a, SLEEPS);
    f->now_ms += 3599000;
    tick(f);
    assert_int_equal(killed, 0);
    f->now_ms += 1000;
    await_end(f);
    assert_true(killed > 0);
    assert_int_equal(f->answers, 1);
    assert_mentions(f->why, "killed");
}

/* As a process that waits in the kernel for a disk that does not answer. */
TEST(what_does_not_die_is_answered_and_keeps_its_place)
{
    struct fixture *f = *state;

    begin(f, f->a, SLEEPS);
    is_deaf = true;
    f->now_ms += 3600000;
    tick(f);
    assert_int_equal(f->answers, 0);
    f->now_ms += 5000;
    tick(f);
    assert_string_equal(f->why, "took too long and could not be killed");
    assert_int_equal(engine_calls_count(&f->calls, "a"), 1);
    assert_int_equal(__real_kill(-killed, SIGKILL), 0);
    await_end(f);
    assert_int_equal(f->answers, 1);
    assert_int_equal(engine_calls_count(&f->calls, "a"), 0);
}

TEST(what_is_abandoned_goes_on)
{
    struct fixture *f = *state;
    int status = -1;

    begin(f, f->a, "sleep 0.1");
    engine_calls_abandon(&f->calls);
    assert_true(waitpid(-1, &status, 0) > 0);
    assert_int_equal(status, 0);
    assert_int_equal(killed, 0);
    assert_int_equal(f->answers, 0);
}
