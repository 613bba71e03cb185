/* test_process.c - child processes of the agent: what they wrote is read to its end */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "agent/process.h"

struct child {
    struct process *process;
    char said[64]; /* as events */
    bool has_ended;
    struct child *keeps; /* the loop from the end of this one; may be NULL */
};

static char fifo[] = "/tmp/test-process-XXXXXX";

static void await_zombie(const struct child *child)
{
    siginfo_t info;

    assert_int_equal(
        waitid(P_PID, (id_t)process_pid(child->process), &info, WEXITED | WNOWAIT), 0);
}

/* The other one says its last word and ends, and the loop does not get to run for more
 * than the second that a descendant may hold pipes. */
static void keep_loop_from(const struct child *child)
{
    FILE *go = fopen(fifo, "w");

    assert_non_null(go);
    fclose(go);
    await_zombie(child);
    usleep(1200000);
}

static void on_data(void *arg, enum process_stream stream, const char *data, size_t len)
{
    struct child *child = arg;
    size_t have = strlen(child->said);

    assert_int_equal(stream, PROCESS_EVENTS);
    assert_true(have + len < sizeof(child->said));
    memcpy(child->said + have, data, len);
    if (child->keeps)
        keep_loop_from(child->keeps);
    child->keeps = NULL;
}

static void on_end(void *arg, bool is_signal, int code)
{
    struct child *child = arg;

    assert_false(is_signal);
    assert_int_equal(code, 0);
    child->has_ended = true;
}

static void spawn(struct process_table *table, struct child *child, const char *script)
{
    char copy[128], shell[] = "sh", option[] = "-c";
    char *argv[] = {shell, option, copy, NULL};
    char *env[] = {NULL};
    struct process_params params = {.path = "/bin/sh", .argv = argv, .env = env};
    struct process_handlers handlers = {on_data, on_end, child};

    snprintf(copy, sizeof(copy), "%s", script);
    child->process = process_spawn(table, &params, &handlers, NULL);
    assert_non_null(child->process);
}

static void last_words_are_heard_though_the_loop_is_late(void **state)
{
    struct child first = {0}, second = {0};
    struct process_table *table;
    char script[128];
    uv_loop_t loop;

    (void)state;
    uv_loop_init(&loop);
    table = process_table_create(&loop, NULL);
    assert_non_null(table);
    snprintf(script, sizeof(script), "read x < %s; echo done >&3", fifo);
    spawn(table, &second, script);
    spawn(table, &first, "echo first >&3");
    first.keeps = &second;
    /* Both its word and its end are there when the loop looks for the first time. */
    await_zombie(&first);
    while (!first.has_ended || !second.has_ended)
        uv_run(&loop, UV_RUN_ONCE);
    assert_string_equal(first.said, "first\n");
    assert_string_equal(second.said, "done\n");
    process_destroy(first.process);
    process_destroy(second.process);
    process_table_destroy(table);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}

static int make_fifo(void **state)
{
    int fd = mkstemp(fifo);

    (void)state;
    return fd < 0 || close(fd) || unlink(fifo) || mkfifo(fifo, 0600) ? -1 : 0;
}

static int remove_fifo(void **state)
{
    (void)state;
    return unlink(fifo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_words_are_heard_though_the_loop_is_late),
    };

    return cmocka_run_group_tests(tests, make_fifo, remove_fifo);
}
