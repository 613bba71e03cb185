/* SPDX-License-Identifier: Apache-2.0 */
/* test_stacks.c - what a process says of its threads when it is asked by SIGUSR2 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#include "agent/worker/base/stacks.h"
#include "agent/worker/base/symbols.h"
#include "agent/worker/base/thread.h"
#include "tests/unit/test.h"

#define TEXT_MAX ((size_t)256 * 1024)

/* Threads that are stuck, each in its own way, until they are let go. */
struct stuck {
    int pipe[2];
    atomic_bool is_over;
    atomic_int tid; /* of the thread that was started last */
};

static void tell_tid(struct stuck *stuck)
{
    atomic_store(&stuck->tid, gettid());
}

__attribute__((noinline)) static void read_for_ever(struct stuck *stuck)
{
    char byte;

    tell_tid(stuck);
    assert_int_equal(read(stuck->pipe[0], &byte, 1), 0);
    tell_tid(stuck); /* no tail call, which would leave no frame */
}

__attribute__((noinline)) static void spin_for_ever(struct stuck *stuck)
{
    tell_tid(stuck);
    while (!atomic_load(&stuck->is_over))
        continue;
    tell_tid(stuck);
}

__attribute__((noinline)) static void be_deaf(struct stuck *stuck)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    read_for_ever(stuck);
    tell_tid(stuck);
}

static void *reader(void *arg)
{
    read_for_ever(arg);
    return NULL;
}

static void *spinner(void *arg)
{
    spin_for_ever(arg);
    return NULL;
}

static void *deaf(void *arg)
{
    be_deaf(arg);
    return NULL;
}

/* Start one; its thread's number. */
static int start(struct stuck *stuck, pthread_t *thread, const char *name,
                 void *(*run)(void *))
{
    int tid;

    atomic_store(&stuck->tid, 0);
    assert_int_equal(thread_start(thread, name, run, stuck), 0);
    do {
        tid = atomic_load(&stuck->tid);
    } while (!tid);
    return tid;
}

/* Send the question, and have stderr until `end`. */
static void ask(char *text)
{
    int ends[2], before = dup(STDERR_FILENO);
    size_t len = 0;

    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    kill(getpid(), SIGUSR2);
    text[0] = '\0';
    while (!strstr(text, "stack: end\n")) {
        ssize_t n = read(ends[0], text + len, TEXT_MAX - 1 - len);

        assert_true(n > 0);
        len += (size_t)n;
        text[len] = '\0';
    }
    dup2(before, STDERR_FILENO);
    close(before);
    close(ends[0]);
    close(ends[1]);
}

/* What is said of a thread: from its line to the next one's. */
static char *part_of(const char *text, int tid)
{
    char head[64];
    const char *begin, *end;

    snprintf(head, sizeof(head), "stack: thread %d (", tid);
    begin = strstr(text, head);
    if (!begin) {
        fail_msg("no %s in:\n%s", head, text);
        return NULL;
    }
    end = strstr(begin + strlen(head), "stack: thread");
    return strndup(begin, end ? (size_t)(end - begin) : strlen(begin));
}

static void assert_part(const char *text, int tid, const char *const *wanted)
{
    char *part = part_of(text, tid);
    const char *at = part;

    for (size_t i = 0; wanted[i]; i++) {
        at = strstr(at, wanted[i]);
        if (!at) {
            fail_msg("no '%s' (in this order) in:\n%s", wanted[i], part);
            break;
        }
    }
    free(part);
}

static int set_up_stuck(void **state)
{
    struct stuck *stuck = calloc(1, sizeof(*stuck));

    *state = stuck;
    return pipe(stuck->pipe);
}

static int tear_down_stuck(void **state)
{
    struct stuck *stuck = *state;

    close(stuck->pipe[0]);
    free(stuck);
    return 0;
}

TEST_WITH(set_up_stuck, tear_down_stuck,
          a_thread_in_a_system_call_and_one_that_spins_say_where)
{
    static const char *const in_read[] = {" (reader), state S", "read+0x",
                                          "? (units_worker+0x", NULL};
    static const char *const in_spin[] = {" (spinner), state ", "#0 ? (units_worker+0x",
                                          NULL};
    static const char *const main_text[] = {" (main), state ", "? (units_worker+0x",
                                            NULL};
    struct stuck *stuck = *state;
    char *text;
    pthread_t threads[2];

    /* The thread sanitizer keeps a signal until the thread calls something. */
#ifdef __SANITIZE_THREAD__
    skip();
#endif
    text = malloc(TEXT_MAX);
    int read_tid = start(stuck, &threads[0], "reader", reader);
    int spin_tid = start(stuck, &threads[1], "spinner", spinner);

    ask(text);
    assert_non_null(strstr(text, " threads of process "));
    assert_part(text, read_tid, in_read);
    assert_part(text, getpid(), main_text);
    assert_part(text, spin_tid, in_spin);
    /* The worker's own comes first. */
    char *first = strstr(text, "stack: thread ");

    assert_int_equal(strtol(first + strlen("stack: thread "), NULL, 10), getpid());
    /* None of the handler's own frames. */
    char *part = part_of(text, read_tid);
    assert_null(strstr(part, "#0 ? (units_worker"));
    free(part);
    atomic_store(&stuck->is_over, true);
    close(stuck->pipe[1]);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    free(text);
}

TEST_WITH(set_up_stuck, tear_down_stuck, a_thread_that_does_not_answer_is_named)
{
    static const char *const silent[] = {" (deaf), state S",
                                         "\nstack:   no answer in 1000 ms", "\n", NULL};
    struct stuck *stuck = *state;
    char *text = malloc(TEXT_MAX);
    pthread_t thread;
    int tid = start(stuck, &thread, "deaf", deaf);

    ask(text);
    assert_part(text, tid, silent);
    ask(text); /* and again */
    assert_part(text, tid, silent);
#ifndef __SANITIZE_THREAD__ /* where the question comes later than it was asked */
    assert_non_null(strstr(text, "(units_worker+0x"));
#endif
    close(stuck->pipe[1]);
    pthread_join(thread, NULL);
    free(text);
}

TEST_WITH(set_up_stuck, tear_down_stuck, many_threads_are_told_up_to_a_limit)
{
    struct stuck *stuck = *state;
    char *text = malloc(TEXT_MAX), *at = text;
    pthread_t threads[STACKS_THREADS_MAX];
    size_t told = 0;

    for (size_t i = 0; i < STACKS_THREADS_MAX; i++)
        start(stuck, &threads[i], "reader", reader);
    ask(text);
    while ((at = strstr(at, "stack: thread "))) {
        at++;
        told++;
    }
    assert_int_equal(told, STACKS_THREADS_MAX);
    assert_non_null(strstr(text, " more threads are not shown\nstack: end\n"));
    close(stuck->pipe[1]);
    for (size_t i = 0; i < STACKS_THREADS_MAX; i++)
        pthread_join(threads[i], NULL);
    free(text);
}

TEST(addresses_have_names_and_places)
{
    struct symbol symbol;

    symbol_find((uintptr_t)&be_deaf + 3, &symbol);
    assert_string_equal(symbol.module, "units_worker");
    assert_string_equal(symbol.name, "");
    assert_true(symbol.offset > 0 && symbol.offset < (uintptr_t)&be_deaf);
    /* One that no sanitizer replaces. */
    symbol_find((uintptr_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version") + 3, &symbol);
    assert_non_null(strstr(symbol.module, "libc.so"));
    assert_string_equal(symbol.name, "gnu_get_libc_version");
    assert_int_equal(symbol.into, 3);
    symbol_find(3, &symbol);
    assert_string_equal(symbol.module, "?");
    assert_string_equal(symbol.name, "");
    assert_int_equal(symbol.offset, 3);
}

static int begin(void **state)
{
    struct error err;

    (void)state;
    return stacks_start(&err);
}

GROUP_FIXTURE(begin, NULL);
