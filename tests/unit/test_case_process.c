/* SPDX-License-Identifier: Apache-2.0 */
/* test_case_process.c - ringbench-case as its agent sees it: it answers, and nothing of a
 * case outlives it, whoever is killed */
#include <sys/prctl.h>

#include "agent/process/case_process.h"
#include "common/base/json_util.h"
#include "tests/unit/test.h"

static struct {
    uv_loop_t loop;
    struct case_table *table;
    struct case_process *process;
    pid_t rank, said; /* what was started, and the number that it printed */
    size_t n_logs, n_artifacts;
    bool has_ended, pauses;
    char fault[200], left[200], refusal[400];
} fixture;

/* What daemonises: in a session of its own, and a child of nobody who knows it. */
#define DAEMON "setsid sh -c 'sleep 1000 >&- 2>&- 3>&- & echo $!'; "

static bool is_there(pid_t pid)
{
    return kill(pid, 0) == 0 || errno != ESRCH;
}

static void on_event(void *arg, enum event_kind kind, int rank, const char *text,
                     size_t len)
{
    json_t *event = json_parse(text, len, NULL);

    (void)arg;
    assert_non_null(event);
    if (rank == CASE_NO_RANK) {
        assert_string_equal(json_get_str(event, "type", ""), "artifact");
        assert_string_equal(json_get_str(event, "text", ""), "hello\n");
        fixture.n_artifacts++;
        json_decref(event);
        return;
    }
    assert_int_equal(rank, 3);
    if (kind == EVENT_STARTED)
        fixture.rank = (pid_t)json_get_int(event, "pid", 0);
    if (strcmp(json_get_str(event, "type", ""), "output") == 0)
        fixture.said = (pid_t)strtol(json_get_str(event, "text", ""), NULL, 10);
    if (strcmp(json_get_str(event, "type", ""), "log") == 0 && ++fixture.n_logs == 1 &&
        fixture.pauses)
        case_process_pause(fixture.process, true);
    json_decref(event);
}

static void on_end(void *arg, const struct case_end *end)
{
    (void)arg;
    fixture.has_ended = true;
    snprintf(fixture.fault, sizeof(fixture.fault), "%s", end->fault ? end->fault : "");
    snprintf(fixture.left, sizeof(fixture.left), "%s", end->left);
}

static char artifact[] = "/tmp/test-case-process-XXXXXX";

static void start(const char *script)
{
    static const struct case_handlers handlers = {on_event, on_end, NULL};
    json_t *document = json_pack("{s:s, s:[s, s, s], s:[s], s:[{s:i}], s:{s:s}, s:{s:s}}",
                                 "path", "/bin/sh", "argv", "sh", "-c", script, "env",
                                 "PATH=/usr/bin:/bin", "ranks", "rank", 3, "files",
                                 artifact, "hello\n", "artifacts", "a", artifact);
    struct error err = {.text = ""};

    fixture.process = case_process_start(fixture.table, document, &handlers, &err);
    assert_string_equal(err.text, "");
    json_decref(document);
}

static int set_up(void **state)
{
    (void)state;
    memset(&fixture, 0, sizeof(fixture));
    uv_loop_init(&fixture.loop);
    fixture.table = case_table_create(&fixture.loop, NULL, NULL);
    return fixture.table ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    case_process_destroy(fixture.process);
    case_table_destroy(fixture.table);
    uv_run(&fixture.loop, UV_RUN_DEFAULT);
    return uv_loop_close(&fixture.loop);
}

EACH_FIXTURE(set_up, tear_down);

static int make_file(void **state)
{
    int fd = mkstemp(artifact);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(artifact);
}

GROUP_FIXTURE(make_file, remove_file);

static void await_daemon(void)
{
    while (fixture.said == 0)
        uv_run(&fixture.loop, UV_RUN_ONCE);
    assert_true(is_there(fixture.said));
}

static void await_end(void)
{
    while (!fixture.has_ended)
        uv_run(&fixture.loop, UV_RUN_ONCE);
    assert_false(is_there(fixture.rank));
    assert_true(fixture.said == 0 || !is_there(fixture.said));
    assert_string_equal(fixture.left, "");
}

/* The parent of the rank. */
static pid_t case_pid(void)
{
    char path[64];
    int parent = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)fixture.rank);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d (%*[^)]) %*c %d", &parent), 1);
    fclose(file);
    assert_true(parent > 1 && parent != getpid());
    return parent;
}

TEST(a_case_ends_when_asked_with_all_that_daemonised)
{
    start(DAEMON "sleep 1000");
    await_daemon();
    case_process_stop(fixture.process, false);
    await_end();
    assert_string_equal(fixture.fault, "");
    assert_int_equal(fixture.n_artifacts, 1);
}

TEST(what_can_not_run_is_an_orderly_end)
{
    static const struct case_handlers handlers = {NULL, on_end, NULL};
    json_t *document = json_pack("{s:s, s:[s], s:[], s:[]}", "path", "/bin/sh", "argv",
                                 "sh", "env", "ranks");

    fixture.process = case_process_start(fixture.table, document, &handlers, NULL);
    json_decref(document);
    while (!fixture.has_ended)
        uv_run(&fixture.loop, UV_RUN_ONCE);
    assert_string_equal(fixture.fault, "");
}

static void on_refused(void *arg, enum event_kind kind, int rank, const char *text,
                       size_t len)
{
    (void)arg;
    (void)kind;
    assert_int_equal(rank, CASE_NO_RANK);
    snprintf(fixture.refusal, sizeof(fixture.refusal), "%.*s", (int)len, text);
}

TEST(a_file_that_can_not_be_written_is_named_with_the_reason)
{
    const struct case_handlers handlers = {on_refused, on_end, NULL};
    json_t *document =
        json_pack("{s:s, s:[s], s:[], s:[{s:i}], s:{s:s}}", "path", "/bin/sh", "argv",
                  "sh", "env", "ranks", "rank", 3, "files", "/nonexistent/file", "text");

    fixture.process = case_process_start(fixture.table, document, &handlers, NULL);
    json_decref(document);
    while (!fixture.has_ended)
        uv_run(&fixture.loop, UV_RUN_ONCE);
    assert_non_null(
        strstr(fixture.refusal, "cannot write /nonexistent/file: No such file"));
}

TEST(nothing_outlives_one_that_is_killed)
{
    char expected[100];
    pid_t pid;

    start(DAEMON "sleep 1000");
    await_daemon();
    pid = case_pid();
    kill(pid, SIGKILL);
    await_end();
    snprintf(expected, sizeof(expected),
             "its process ringbench-case %d was killed by signal 9", (int)pid);
    assert_string_equal(fixture.fault, expected);
}

TEST(one_that_is_stopped_does_not_hold_up_the_end)
{
    start(DAEMON "sleep 1000");
    await_daemon();
    kill(case_pid(), SIGSTOP);
    case_table_limit(fixture.table, 0);
    case_process_stop(fixture.process, false);
    await_end();
    assert_non_null(strstr(fixture.fault, "was killed by signal 9"));
}

TEST(one_that_nobody_listens_to_ends)
{
    pid_t pids[3];

    start(DAEMON "sleep 1000");
    await_daemon();
    pids[0] = fixture.rank;
    pids[1] = fixture.said;
    pids[2] = case_pid();
    kill(pids[2], SIGSTOP);
    case_process_destroy(fixture.process);
    fixture.process = NULL;
    for (size_t i = 0; i < 3; i++) {
        while (is_there(pids[i])) {
            uv_run(&fixture.loop, UV_RUN_NOWAIT);
            usleep(1000);
        }
    }
}

/* Far more than sockets and pipes hold. */
#define MANY_LOGS                                                                        \
    "yes '{\"type\":\"log\",\"level\":\"info\",\"text\":\"0123456789012345\"}' | "       \
    "head -n 100000 >&3"

TEST(no_event_is_lost_while_it_is_not_read)
{
    fixture.pauses = true;
    start(MANY_LOGS);
    while (fixture.n_logs == 0)
        uv_run(&fixture.loop, UV_RUN_ONCE);
    usleep(100000);
    uv_run(&fixture.loop, UV_RUN_NOWAIT);
    assert_true(fixture.n_logs < 10000);
    case_process_pause(fixture.process, false);
    await_end();
    assert_string_equal(fixture.fault, "");
    assert_int_equal(fixture.n_logs, 100000);
}

/* It can't end before. */
TEST(one_that_is_not_read_is_not_late)
{
    fixture.pauses = true;
    start(MANY_LOGS "; sleep 1000");
    while (fixture.n_logs == 0)
        uv_run(&fixture.loop, UV_RUN_ONCE);
    case_table_limit(fixture.table, 0);
    case_process_stop(fixture.process, false);
    usleep(1000);
    uv_run(&fixture.loop, UV_RUN_NOWAIT);
    uv_run(&fixture.loop, UV_RUN_NOWAIT);
    case_table_limit(fixture.table, 60000);
    case_process_pause(fixture.process, false);
    await_end();
    assert_string_equal(fixture.fault, "");
}

/* What it tells last waits to be read: more than a socket holds, less than makes it pause
 * its ranks. */
TEST(a_stop_after_the_end_changes_nothing)
{
    fixture.pauses = true;
    start("yes '{\"type\":\"log\",\"level\":\"info\",\"text\":\"0123456789012345\"}' | "
          "head -n 10000 >&3");
    while (fixture.n_logs == 0)
        uv_run(&fixture.loop, UV_RUN_ONCE);
    while (is_there(fixture.rank))
        usleep(1000);
    usleep(100000);
    case_process_stop(fixture.process, false);
    uv_run(&fixture.loop, UV_RUN_NOWAIT);
    usleep(100000);
    case_process_pause(fixture.process, false);
    await_end();
    assert_string_equal(fixture.fault, "");
    assert_int_equal(fixture.n_logs, 10000);
    assert_int_equal(fixture.n_artifacts, 1);
}

/* Such as what a container's entrypoint starts before it executes the agent. */
TEST(a_child_from_before_is_left_alone)
{
    char text[400];
    pid_t child;

    case_table_destroy(fixture.table);
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pause();
        _exit(0);
    }
    assert_true(child > 0);
    fixture.table = case_table_create(&fixture.loop, NULL, NULL);
    assert_non_null(fixture.table);
    assert_false(case_table_lingers(fixture.table, text, sizeof(text)));
    start(DAEMON "sleep 1000");
    await_daemon();
    kill(case_pid(), SIGKILL);
    await_end();
    assert_true(is_there(child));
    kill(child, SIGKILL);
    while (is_there(child))
        uv_run(&fixture.loop, UV_RUN_ONCE);
}

static size_t read_proc(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    FILE *file;
    size_t len;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    file = fopen(path, "r");
    assert_non_null(file);
    len = fread(text, 1, size, file);
    fclose(file);
    return len;
}

/* Its libraries may be where only this variable says, as with environment modules. */
TEST(of_the_environment_it_has_what_its_loader_needs)
{
    static const char level[] = "RINGBENCH_LOG_LEVEL=", path[] = "LD_LIBRARY_PATH=/opt/x";
    char text[1000] = "";
    const char *second;
    size_t len;

    setenv("LD_LIBRARY_PATH", "/opt/x", 1);
    setenv("TEST_SECRET", "x", 1);
    start(DAEMON "sleep 1000");
    unsetenv("LD_LIBRARY_PATH");
    unsetenv("TEST_SECRET");
    await_daemon();
    len = read_proc(case_pid(), "environ", text, sizeof(text) - 1);
    assert_int_equal(strncmp(text, level, strlen(level)), 0);
    second = text + strlen(text) + 1;
    assert_string_equal(second, path);
    assert_int_equal(len, (size_t)(second - text) + sizeof(path));
}

/* Who waits for a pipe's end must not wait for it. */
TEST(it_has_no_descriptor_of_this_process)
{
    char path[64];
    int fds[2], fd;

    assert_int_equal(pipe(fds), 0);
    fd = fcntl(fds[1], F_DUPFD, 300);
    assert_true(fd >= 300);
    start(DAEMON "sleep 1000");
    await_daemon();
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)case_pid(), fd);
    assert_int_equal(access(path, F_OK), -1);
    close(fd);
    close(fds[0]);
    close(fds[1]);
}
