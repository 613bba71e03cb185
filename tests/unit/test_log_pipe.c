/* SPDX-License-Identifier: Apache-2.0 */
/* test_log_pipe.c - what processes write to a named pipe arrives, and none of them waits
 * for longer than the loop takes to come round */
#include <sys/stat.h>
#include <sys/wait.h>

#include "agent/case/log_pipe.h"
#include "common/base/buf.h"
#include "tests/unit/test.h"

struct fixture {
    uv_loop_t loop;
    char dir[64], path[80];
    struct log_pipe *log;
    struct buf text; /* "[line]", each */
    size_t n_bytes, n_lines, longest;
    int n_quiet;
    int echo; /* where each line is written to that comes; 0: nowhere */
};

static void on_line(void *arg, const char *line, size_t len, size_t dropped)
{
    struct fixture *fixture = arg;

    assert_int_equal(dropped, 0);
    fixture->n_bytes += len;
    fixture->n_lines++;
    fixture->longest = len > fixture->longest ? len : fixture->longest;
    if (fixture->echo)
        dprintf(fixture->echo, "again\n");
    if (fixture->text.len < 1000)
        buf_printf(&fixture->text, "[%.*s]", (int)(len < 100 ? len : 100), line);
}

static void on_quiet(void *arg)
{
    struct fixture *fixture = arg;

    fixture->n_quiet++;
}

static struct log_pipe *open_at(struct fixture *fixture, const char *path,
                                struct error *err)
{
    const struct log_pipe_handlers handlers = {on_line, on_quiet, 20, fixture};

    return log_pipe_open(&fixture->loop, path, &handlers, err);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct error err;

    assert_non_null(fixture);
    *state = fixture;
    uv_loop_init(&fixture->loop);
    buf_init(&fixture->text, 4096);
    snprintf(fixture->dir, sizeof(fixture->dir), "/tmp/test-log-pipe-XXXXXX");
    assert_non_null(mkdtemp(fixture->dir));
    snprintf(fixture->path, sizeof(fixture->path), "%s/log", fixture->dir);
    fixture->log = open_at(fixture, fixture->path, &err);
    assert_non_null(fixture->log);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    log_pipe_destroy(fixture->log);
    uv_run(&fixture->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&fixture->loop), 0);
    assert_int_equal(access(fixture->path, F_OK), -1);
    rmdir(fixture->dir);
    buf_release(&fixture->text);
    free(fixture);
    return 0;
}

EACH_FIXTURE(set_up, tear_down);

/* As NCCL does it. That it comes back says that nobody waits for a reader. */
static int open_log(const struct fixture *fixture)
{
    int fd = open(fixture->path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    assert_true(fd >= 0);
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void turn(struct fixture *fixture)
{
    uv_run(&fixture->loop, UV_RUN_NOWAIT);
}

static void assert_heard(const struct fixture *fixture, const char *text)
{
    assert_string_equal(fixture->text.data ? fixture->text.data : "", text);
}

TEST(a_line_may_come_in_pieces)
{
    struct fixture *fixture = *state;
    int fd = open_log(fixture);

    say(fd, "one\ntw");
    turn(fixture);
    assert_heard(fixture, "[one]");
    say(fd, "o");
    turn(fixture);
    say(fd, "\n\nthree\n");
    turn(fixture);
    assert_heard(fixture, "[one][two][][three]");
    close(fd);
}

TEST(processes_come_and_go)
{
    struct fixture *fixture = *state;
    int first = open_log(fixture), second;

    say(first, "first\n");
    close(first);
    turn(fixture);
    second = open_log(fixture);
    first = open_log(fixture);
    say(first, "again\n");
    say(second, "second\n");
    close(second);
    turn(fixture);
    say(first, "still\n");
    close(first);
    turn(fixture);
    assert_heard(fixture, "[first][again][second][still]");
}

TEST(a_very_long_line_comes_in_parts)
{
    struct fixture *fixture = *state;
    char *text = malloc(60000);
    int fd = open_log(fixture);

    assert_non_null(text);
    memset(text, 'x', 60000);
    assert_int_equal(write(fd, text, 60000), 60000);
    turn(fixture);
    say(fd, "\nshort\n");
    turn(fixture);
    assert_int_equal(fixture->n_bytes, 60005);
    assert_int_equal(fixture->longest, 4096);
    assert_int_equal(fixture->n_lines, 60000 / 4096 + 2);
    close(fd);
    free(text);
}

/* Until it would have to wait. */
static size_t fill(int fd)
{
    static const char line[] = "a line as long as any other, more or less, of the log\n";
    size_t n = 0;

    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    while (write(fd, line, sizeof(line) - 1) == sizeof(line) - 1)
        n++;
    assert_int_equal(errno, EAGAIN);
    return n;
}

TEST(one_turn_of_the_loop_makes_room_again)
{
    struct fixture *fixture = *state;
    int fd = open_log(fixture);
    size_t n = fill(fd);

    assert_true(n > 1000);
    turn(fixture);
    assert_int_equal(fixture->n_lines, n);
    assert_int_equal(fill(fd), n);
    turn(fixture);
    assert_int_equal(fixture->n_lines, 2 * n);
    close(fd);
}

#define MUCH 400000 /* lines of 10 bytes: many times what a pipe takes */

/* A process that never sees the loop, and says when it is through. */
static pid_t write_much(const struct fixture *fixture)
{
    pid_t pid = fork();
    FILE *file;

    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    file = fopen(fixture->path, "w");
    for (int i = 0; file && i < MUCH; i++)
        if (fprintf(file, "line %04d\n", i % 10000) != 10)
            _exit(1);
    _exit(!file || fclose(file) != 0);
}

TEST(who_writes_more_than_fits_goes_on)
{
    struct fixture *fixture = *state;
    pid_t pid = write_much(fixture);
    int status;

    while (fixture->n_lines < MUCH)
        uv_run(&fixture->loop, UV_RUN_ONCE);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(fixture->n_bytes, 9 * MUCH);
}

TEST(what_is_left_at_the_end_is_taken)
{
    struct fixture *fixture = *state;
    int fd = open_log(fixture);

    say(fd, "last\nand half a");
    close(fd);
    log_pipe_end(fixture->log);
    assert_heard(fixture, "[last][and half a]");
    assert_int_equal(access(fixture->path, F_OK), -1);
    turn(fixture);
    assert_int_equal(fixture->n_lines, 2);
}

/* Writes for as long as it lives. */
static pid_t write_for_ever(const struct fixture *fixture, bool minds_pipe)
{
    int fd = open_log(fixture);
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        signal(SIGPIPE, minds_pipe ? SIG_DFL : SIG_IGN);
        /* As exec would: the agent's end is among them. */
        for (int other = 3; other < 256; other++)
            if (other != fd)
                close(other);
        while (write(fd, "on and on\n", 10) == 10)
            ;
        _exit(errno == EPIPE ? 7 : 1);
    }
    close(fd);
    return pid;
}

/* Who writes as fast as is read would keep the agent busy for ever. */
TEST(the_end_takes_what_fits_and_no_more)
{
    struct fixture *fixture = *state;
    int fd = open_log(fixture);

    fill(fd);
    fixture->echo = fd;
    log_pipe_end(fixture->log);
    assert_in_range(fixture->n_bytes, 60000, 2 * 65536);
    close(fd);
}

TEST(who_outlives_the_end_holds_nobody_up)
{
    struct fixture *fixture = *state;
    pid_t pids[2] = {write_for_ever(fixture, true), write_for_ever(fixture, false)};
    size_t n;
    int status;

    while (fixture->n_lines < 10000)
        uv_run(&fixture->loop, UV_RUN_ONCE);
    log_pipe_end(fixture->log);
    n = fixture->n_lines;
    turn(fixture);
    assert_int_equal(fixture->n_lines, n);
    assert_true(kill(pids[0], 0) == 0 && kill(pids[1], 0) == 0);

    log_pipe_destroy(fixture->log);
    fixture->log = NULL;
    turn(fixture);
    assert_int_equal(waitpid(pids[0], &status, 0), pids[0]);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
    assert_int_equal(waitpid(pids[1], &status, 0), pids[1]);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    assert_int_equal(fixture->n_lines, n);
}

TEST(after_destroy_nothing_is_told)
{
    struct fixture *fixture = *state;
    int fd = open_log(fixture);

    say(fd, "unheard\n");
    log_pipe_destroy(fixture->log);
    fixture->log = NULL;
    uv_run(&fixture->loop, UV_RUN_DEFAULT);
    assert_heard(fixture, "");
    assert_int_equal(fixture->n_quiet, 0);
    close(fd);
}

TEST(silence_is_told_once)
{
    struct fixture *fixture = *state;
    int fd = open_log(fixture);

    say(fd, "something\n");
    while (fixture->n_quiet == 0)
        uv_run(&fixture->loop, UV_RUN_ONCE);
    assert_heard(fixture, "[something]");
    turn(fixture);
    assert_int_equal(fixture->n_quiet, 1);
    say(fd, "more\n");
    while (fixture->n_quiet == 1)
        uv_run(&fixture->loop, UV_RUN_ONCE);
    assert_heard(fixture, "[something][more]");
    close(fd);
}

TEST(what_is_in_its_place_is_replaced)
{
    struct fixture *fixture = *state;
    char path[96];
    struct error err;
    struct stat st;
    int fd;

    snprintf(path, sizeof(path), "%s/old", fixture->dir);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    say(fd, "of an agent that was killed\n");
    close(fd);
    struct log_pipe *log = open_at(fixture, path, &err);
    assert_non_null(log);
    assert_true(stat(path, &st) == 0 && S_ISFIFO(st.st_mode) &&
                (st.st_mode & 0777) == 0600);
    turn(fixture);
    assert_heard(fixture, "");
    log_pipe_destroy(log);
}

TEST(a_place_where_none_can_be_made_is_named)
{
    struct fixture *fixture = *state;
    struct error err;

    assert_null(open_at(fixture, "/nonexistent/log", &err));
    assert_string_equal(
        err.text, "cannot create the pipe /nonexistent/log: No such file or directory");
}
