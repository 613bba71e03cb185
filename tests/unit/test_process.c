/* SPDX-License-Identifier: Apache-2.0 */
/* test_process.c - processes of a case: what they wrote is read to its end, and nothing
 * of a tree outlives it */
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "agent/case/process.h"
#include "tests/unit/test.h"

struct child {
    uv_loop_t *loop;
    struct process *process;
    char said[64]; /* as events */
    bool has_ended, is_signal;
    int number;
    struct child *keeps; /* the loop from the end of this one; may be NULL */
};

static struct {
    uv_loop_t loop;
    struct process_tree *tree;
    bool has_tree_ended;
    char left[200];
} fixture;

static char fifo[] = "/tmp/test-process-XXXXXX";

/* What daemonises: in a session of its own, and a child of nobody who knows it. It says
 * its pid, and holds no pipe of the test's. */
#define DAEMON "setsid sh -c 'sleep 1000 >&- 2>&- 3>&- & echo $! >&3'; "

static bool is_there(pid_t pid)
{
    return kill(pid, 0) == 0 || errno != ESRCH;
}

/* Of a child, which is left for the tree to wait for. */
static void await_end(pid_t pid)
{
    siginfo_t info;

    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

/* The other one says its last word and ends, and the loop does not get to run for more
 * than the second that a descendant may hold pipes. */
static void keep_loop_from(const struct child *child)
{
    FILE *go = fopen(fifo, "w");

    assert_non_null(go);
    fclose(go);
    await_end(process_pid(child->process));
    usleep(1200000);
}

static void on_data(void *arg, enum process_stream stream, const char *data, size_t len)
{
    struct child *child = arg;
    size_t have = strlen(child->said);

    assert_int_equal(stream, PROCESS_EVENTS);
    assert_true(have + len < sizeof(child->said));
    memcpy(child->said + have, data, len);
    uv_stop(child->loop);
    if (child->keeps)
        keep_loop_from(child->keeps);
    child->keeps = NULL;
}

static void on_end(void *arg, bool is_signal, int number)
{
    struct child *child = arg;

    child->has_ended = true;
    child->is_signal = is_signal;
    child->number = number;
    uv_stop(child->loop);
}

static void spawn(struct child *child, const char *script)
{
    char copy[160], shell[] = "sh", option[] = "-c", path[] = "PATH=/usr/bin:/bin";
    char *argv[] = {shell, option, copy, NULL};
    char *env[] = {path, NULL};
    struct process_params params = {.path = "/bin/sh", .argv = argv, .env = env};
    struct process_handlers handlers = {on_data, on_end, child};

    snprintf(copy, sizeof(copy), "%s", script);
    child->loop = process_tree_loop(fixture.tree);
    child->process = process_spawn(fixture.tree, &params, &handlers, NULL);
    assert_non_null(child->process);
}

static void on_tree_end(void *arg, const char *left)
{
    (void)arg;
    fixture.has_tree_ended = true;
    snprintf(fixture.left, sizeof(fixture.left), "%s", left);
    uv_stop(&fixture.loop);
}

static int set_up(void **state)
{
    struct error err = {.text = ""};

    (void)state;
    memset(&fixture, 0, sizeof(fixture));
    uv_loop_init(&fixture.loop);
    fixture.tree = process_tree_create(&fixture.loop, on_tree_end, NULL, &err);
    if (!fixture.tree)
        fail_msg("%s", err.text);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (fixture.tree && !fixture.has_tree_ended)
        process_tree_end(fixture.tree);
    while (fixture.tree && !fixture.has_tree_ended)
        uv_run(&fixture.loop, UV_RUN_DEFAULT);
    process_tree_destroy(fixture.tree);
    uv_run(&fixture.loop, UV_RUN_DEFAULT);
    return uv_loop_close(&fixture.loop);
}

EACH_FIXTURE(set_up, tear_down);

static void await(const bool *flag)
{
    while (!*flag)
        uv_run(&fixture.loop, UV_RUN_DEFAULT);
}

/* The pid that it has said. */
static pid_t await_pid(const struct child *child)
{
    while (!strchr(child->said, '\n'))
        uv_run(&fixture.loop, UV_RUN_DEFAULT);
    return (pid_t)strtol(child->said, NULL, 10);
}

TEST(last_words_are_heard_though_the_loop_is_late)
{
    struct child first = {0}, second = {0};
    char script[128];

    snprintf(script, sizeof(script), "read x < %s; echo done >&3", fifo);
    spawn(&second, script);
    spawn(&first, "echo first >&3");
    first.keeps = &second;
    /* Both its word and its end are there when the loop looks for the first time. */
    await_end(process_pid(first.process));
    await(&first.has_ended);
    await(&second.has_ended);
    assert_string_equal(first.said, "first\n");
    assert_string_equal(second.said, "done\n");
    process_destroy(first.process);
    process_destroy(second.process);
}

TEST(says_how_they_end)
{
    static const struct {
        const char *script;
        bool is_signal;
        int number;
    } cases[] = {
        {"exit 0", false, 0},
        {"exit 3", false, 3},
        {"kill -11 $$", true, SIGSEGV},
        {"kill -12 $$; exit 4", false, 4}, /* SIGUSR2 asks for stacks */
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct child child = {0};

        spawn(&child, cases[i].script);
        await(&child.has_ended);
        assert_int_equal(child.is_signal, cases[i].is_signal);
        assert_int_equal(child.number, cases[i].number);
        process_destroy(child.process);
    }
    process_tree_end(fixture.tree);
    await(&fixture.has_tree_ended);
    assert_string_equal(fixture.left, "");
}

/* More of them end at once than are waited for in one go. */
TEST(no_end_is_lost)
{
    enum { MANY = 600 };
    static struct child children[MANY];

    for (size_t i = 0; i < MANY; i++)
        spawn(&children[i], "exit 7");
    for (size_t i = 0; i < MANY; i++) {
        await(&children[i].has_ended);
        assert_int_equal(children[i].number, 7);
        process_destroy(children[i].process);
    }
}

TEST(names_what_can_not_run)
{
    char name[] = "nothing", *argv[] = {name, NULL}, *env[] = {NULL};
    struct process_params params = {.path = "/nonexistent", .argv = argv, .env = env};
    struct process_handlers handlers = {on_data, on_end, NULL};
    struct error err;

    assert_null(process_spawn(fixture.tree, &params, &handlers, &err));
    assert_string_equal(err.text, "cannot run /nonexistent: No such file or directory");
    params.path = "/bin/true";
    params.cwd = "/nonexistent";
    assert_null(process_spawn(fixture.tree, &params, &handlers, &err));
    assert_string_equal(
        err.text, "cannot run /bin/true in /nonexistent: No such file or directory");
}

/* All of it, `pid` for one. */
static void end_tree(pid_t pid)
{
    process_tree_end(fixture.tree);
    await(&fixture.has_tree_ended);
    assert_false(is_there(pid));
}

TEST(a_tree_ends_with_all_that_daemonised)
{
    struct child child = {0};
    pid_t pid;

    spawn(&child, DAEMON);
    pid = await_pid(&child);
    await(&child.has_ended);
    assert_true(is_there(pid));
    end_tree(pid);
    assert_string_equal(fixture.left, "");
    process_destroy(child.process);
}

/* As in a driver: this process may not kill what runs as another user. */
TEST(what_does_not_die_is_named_and_waited_for_no_longer)
{
    struct child child = {0};
    char expected[64];
    pid_t pid;

    if (geteuid() != 0)
        skip();
    spawn(&child, "exec sleep 1000");
    pid = process_pid(child.process);
    process_tree_limit(fixture.tree, 50);
    assert_int_equal(setresuid(65534, 65534, 0), 0);
    process_tree_end(fixture.tree);
    await(&fixture.has_tree_ended);
    await(&child.has_ended);
    assert_int_equal(setresuid(0, 0, 0), 0);
    assert_true(child.is_signal);
    assert_int_equal(child.number, SIGKILL);
    /* The shell may not have executed sleep yet. */
    snprintf(expected, sizeof(expected), "%d (", (int)pid);
    assert_memory_equal(fixture.left, expected, strlen(expected));
    assert_non_null(strstr(fixture.left, ") in state "));
    process_destroy(child.process);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* No list of children: without /proc. What it runs does not even die with its parent. */
TEST(ranks_end_where_children_are_not_listed)
{
    struct child child = {0};
    pid_t pid;

    if ((unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS)) ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("none", "/proc", "tmpfs", 0, NULL))
        skip();
    spawn(&child, "exec setpriv --pdeathsig clear sleep 1000");
    pid = process_pid(child.process);
    end_tree(pid);
    assert_string_equal(fixture.left, "");
    process_destroy(child.process);
    umount2("/proc", MNT_DETACH);
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

GROUP_FIXTURE(make_fifo, remove_fifo);
