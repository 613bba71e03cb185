/* SPDX-License-Identifier: Apache-2.0 */
/* test_spool.c - unacknowledged lines on disk, in order, none lost */
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "agent/link/spool.h"
#include "tests/unit/test.h"

struct fixture {
    char root[64], dir[96];
    struct spool *spool;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    snprintf(f->root, sizeof(f->root), "/tmp/test-spool-XXXXXX");
    assert_non_null(mkdtemp(f->root));
    snprintf(f->dir, sizeof(f->dir), "%s/spool", f->root);
    f->spool = spool_open(f->dir, NULL);
    assert_non_null(f->spool);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    if (f->spool)
        spool_reset(f->spool);
    spool_close(f->spool);
    rmdir(f->dir);
    assert_int_equal(rmdir(f->root), 0);
    free(f);
    return 0;
}

/* Line number n has a length that depends on n, some of them long. Asserts nothing: it is
 * called in a child as well, where a failed assertion would go on with the tests. */
static int put_line(struct spool *spool, uint64_t n)
{
    size_t len = (size_t)(n * 7919 % 300) + 30;
    char line[400];

    memset(line, 'x', len);
    snprintf(line, sizeof(line), "{\"seq\":%llu,", (unsigned long long)n);
    line[strlen(line)] = 'y';
    return spool_append(spool, line, len, NULL);
}

static void append(struct spool *spool, uint64_t n)
{
    assert_int_equal(spool_next(spool), n);
    assert_int_equal(put_line(spool, n), 0);
}

/* Read a batch and check that it holds the lines from `first` on; returns the last. */
static uint64_t read_batch(struct spool *spool, uint64_t first, size_t bytes,
                           int64_t lines)
{
    struct buf out;
    uint64_t last = 0;
    int64_t n;
    const char *at;

    buf_init(&out, 4 * 1024 * 1024);
    n = spool_read(spool, bytes, lines, &out, &last, NULL);
    assert_true(n >= 0);
    assert_true(n <= lines);
    assert_true(n <= 1 || out.len <= bytes);
    at = out.data;
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(strncmp(at, "{\"seq\":", 7), 0);
        assert_int_equal(strtoull(at + 7, NULL, 10), first + (uint64_t)i);
        at = strchr(at, '\n');
        assert_non_null(at);
        at++;
    }
    if (n > 0) {
        assert_ptr_equal(at, out.data + out.len);
        assert_int_equal(last, first + (uint64_t)n - 1);
    }
    buf_release(&out);
    return n > 0 ? last : first - 1;
}

static off_t file_size(const struct fixture *f)
{
    char path[160];
    struct stat st;

    snprintf(path, sizeof(path), "%s/events.db", f->dir);
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

TEST_WITH(set_up, tear_down, is_empty_at_first)
{
    const struct fixture *f = *state;

    assert_int_equal(spool_next(f->spool), 1);
    assert_int_equal(spool_acked(f->spool), 0);
    assert_int_equal(read_batch(f->spool, 1, 1000, 10), 0);
    assert_int_equal(spool_ack(f->spool, 0, NULL), 0);
    assert_int_equal(spool_ack(f->spool, 1, NULL), -1);
}

TEST_WITH(set_up, tear_down, gives_lines_until_they_are_acknowledged)
{
    const struct fixture *f = *state;

    for (uint64_t i = 1; i <= 100; i++)
        append(f->spool, i);
    assert_int_equal(read_batch(f->spool, 1, 1 << 20, 1000), 100);
    assert_int_equal(read_batch(f->spool, 1, 1 << 20, 1000), 100);
    assert_int_equal(read_batch(f->spool, 1, 1 << 20, 7), 7);
    /* Not what was read last: the place is looked for. */
    assert_int_equal(spool_ack(f->spool, 40, NULL), 0);
    assert_int_equal(spool_acked(f->spool), 40);
    assert_int_equal(read_batch(f->spool, 41, 1 << 20, 1000), 100);
    assert_int_equal(spool_ack(f->spool, 40, NULL), 0);
    assert_int_equal(spool_ack(f->spool, 39, NULL), -1);
    assert_int_equal(spool_ack(f->spool, 101, NULL), -1);
    assert_int_equal(spool_ack(f->spool, 100, NULL), 0);
    assert_int_equal(read_batch(f->spool, 101, 1 << 20, 1000), 100);
}

/* Partly on disk, partly in memory; what is acknowledged need not go there. */
TEST_WITH(set_up, tear_down, gives_lines_in_order_from_disk_and_memory)
{
    const struct fixture *f = *state;

    for (uint64_t i = 1; i <= 60; i++)
        append(f->spool, i);
    assert_true(spool_needs_flush(f->spool));
    assert_int_equal(spool_flush(f->spool, NULL), 0);
    assert_false(spool_needs_flush(f->spool));
    for (uint64_t i = 61; i <= 100; i++)
        append(f->spool, i);
    assert_int_equal(read_batch(f->spool, 1, 1 << 20, 1000), 60);
    assert_int_equal(read_batch(f->spool, 1, 2000, 1000) < 60, 1);
    assert_int_equal(spool_ack(f->spool, 50, NULL), 0);
    assert_int_equal(read_batch(f->spool, 51, 1 << 20, 1000), 60);
    assert_int_equal(spool_ack(f->spool, 70, NULL), 0);
    assert_int_equal(read_batch(f->spool, 71, 1 << 20, 1000), 100);
    assert_int_equal(spool_flush(f->spool, NULL), 0);
    assert_int_equal(read_batch(f->spool, 71, 1 << 20, 1000), 100);
    assert_int_equal(spool_ack(f->spool, 100, NULL), 0);
    assert_true(spool_needs_flush(f->spool)); /* to delete them */
    assert_int_equal(spool_flush(f->spool, NULL), 0);
    assert_false(spool_needs_flush(f->spool));
    append(f->spool, 101);
    assert_int_equal(spool_ack(f->spool, 101, NULL), 0);
    assert_false(spool_needs_flush(f->spool));
}

TEST_WITH(set_up, tear_down, a_line_above_the_batch_size_goes_alone)
{
    const struct fixture *f = *state;
    char *line = malloc(500000);
    struct buf out;
    uint64_t last;

    memset(line, 'z', 500000);
    assert_int_equal(spool_append(f->spool, line, 500000, NULL), 0);
    assert_int_equal(spool_append(f->spool, "b", 1, NULL), 0);
    buf_init(&out, 4 * 1024 * 1024);
    assert_int_equal(spool_read(f->spool, 1000, 10, &out, &last, NULL), 1);
    assert_int_equal(out.len, 500001);
    assert_int_equal(last, 1);
    buf_release(&out);
    free(line);
}

/* A producer that is always ahead: the file must not grow for ever. */
TEST_WITH(set_up, tear_down, the_file_stays_small_while_lines_flow)
{
    const struct fixture *f = *state;
    uint64_t next = 1, acked = 0;
    off_t max = 0;

    for (int turn = 0; turn < 3000; turn++) {
        for (int i = 0; i < 50; i++)
            append(f->spool, next++);
        if (turn < 10)
            continue; /* 500 lines ahead */
        while (acked + 500 < next) {
            uint64_t last = read_batch(f->spool, acked + 1, 4000, 1000);

            assert_int_equal(spool_ack(f->spool, last, NULL), 0);
            acked = last;
        }
        if (turn % 10 == 0)
            assert_int_equal(spool_flush(f->spool, NULL), 0);
        if (file_size(f) > max)
            max = file_size(f);
    }
    assert_true(next > 100000);
    assert_true(max < 5 * 1024 * 1024);
}

static void set_file_limit(rlim_t bytes)
{
    struct rlimit limit;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

TEST_WITH(set_up, tear_down, keeps_order_when_the_disk_is_full)
{
    const struct fixture *f = *state;
    struct error err;

    for (uint64_t i = 1; i <= 20; i++)
        append(f->spool, i);
    assert_int_equal(spool_flush(f->spool, NULL), 0);
    set_file_limit((rlim_t)file_size(f));
    for (uint64_t i = 21; i <= 500; i++)
        append(f->spool, i);
    assert_false(spool_is_blocked(f->spool));
    assert_int_equal(spool_flush(f->spool, &err), -1);
    assert_non_null(strstr(err.text, "events.db"));
    assert_true(spool_is_blocked(f->spool));
    /* First what is in the file, then what waits in memory. */
    assert_int_equal(read_batch(f->spool, 1, 1 << 20, 1000), 20);
    assert_int_equal(spool_ack(f->spool, 20, NULL), 0);
    assert_int_equal(read_batch(f->spool, 21, 1 << 20, 3), 23);
    assert_int_equal(spool_ack(f->spool, 23, NULL), 0);
    assert_int_equal(spool_flush(f->spool, NULL), -1);
    set_file_limit(RLIM_INFINITY);
    assert_int_equal(spool_flush(f->spool, NULL), 0);
    assert_false(spool_is_blocked(f->spool));
    append(f->spool, 501);
    assert_int_equal(read_batch(f->spool, 24, 1 << 20, 1000), 500);
    assert_int_equal(spool_ack(f->spool, 501, NULL), 0);
    assert_int_equal(spool_count(f->spool), 0);
}

/* Nothing has to be written any more. */
TEST_WITH(set_up, tear_down, is_not_blocked_once_all_is_acknowledged)
{
    const struct fixture *f = *state;

    set_file_limit((rlim_t)file_size(f));
    for (uint64_t i = 1; i <= 500; i++)
        append(f->spool, i);
    assert_int_equal(spool_flush(f->spool, NULL), -1);
    assert_int_equal(spool_ack(f->spool, 500, NULL), 0);
    assert_false(spool_is_blocked(f->spool));
    assert_int_equal(spool_flush(f->spool, NULL), 0);
    set_file_limit(RLIM_INFINITY);
}

TEST(a_file_system_that_nodes_share_is_named)
{
    assert_string_equal(spool_shared_system(0x6969), "NFS");
    assert_string_equal(spool_shared_system(0x0bd00bd0), "Lustre");
    assert_null(spool_shared_system(0xef53));     /* ext4 */
    assert_null(spool_shared_system(0x01021994)); /* tmpfs */
}

TEST_WITH(set_up, tear_down, counts_from_one_again_after_a_reset)
{
    const struct fixture *f = *state;

    for (uint64_t i = 1; i <= 10; i++)
        append(f->spool, i);
    assert_int_equal(spool_ack(f->spool, 4, NULL), 0);
    spool_reset(f->spool);
    assert_int_equal(spool_acked(f->spool), 0);
    append(f->spool, 1);
    assert_int_equal(read_batch(f->spool, 1, 1000, 10), 1);
}

/* The lines before the reset can't be deleted at once. */
TEST_WITH(set_up, tear_down, resets_although_the_disk_is_full)
{
    const struct fixture *f = *state;

    for (uint64_t i = 1; i <= 100; i++)
        append(f->spool, i);
    assert_int_equal(spool_flush(f->spool, NULL), 0);
    set_file_limit(0);
    spool_reset(f->spool);
    append(f->spool, 1);
    assert_int_equal(spool_flush(f->spool, NULL), -1);
    set_file_limit(RLIM_INFINITY);
    assert_int_equal(spool_flush(f->spool, NULL), 0);
    append(f->spool, 2);
    assert_int_equal(read_batch(f->spool, 1, 1 << 20, 1000), 1);
    assert_int_equal(spool_ack(f->spool, 1, NULL), 0);
    assert_int_equal(spool_ack(f->spool, 2, NULL), 0);
}

TEST_WITH(set_up, tear_down, refuses_a_directory_in_use)
{
    const struct fixture *f = *state;
    struct error err;

    assert_null(spool_open(f->dir, &err));
    assert_int_equal(err.code, ERROR_CONFLICT);
    assert_non_null(strstr(err.text, "another agent on this host"));
}

TEST_WITH(set_up, tear_down, refuses_a_directory_that_others_may_write)
{
    struct fixture *f = *state;
    struct error err;

    spool_close(f->spool);
    f->spool = NULL;
    assert_int_equal(mkdir(f->dir, 0700), 0);
    assert_int_equal(chmod(f->dir, 0777), 0);
    assert_null(spool_open(f->dir, &err));
    assert_non_null(strstr(err.text, "other users can write to the spool directory"));
}

TEST_WITH(set_up, tear_down, refuses_a_link_in_place_of_a_directory)
{
    struct fixture *f = *state;
    struct error err;

    spool_close(f->spool);
    f->spool = NULL;
    assert_int_equal(symlink("/", f->dir), 0);
    assert_null(spool_open(f->dir, &err));
    assert_int_equal(unlink(f->dir), 0);
}

/* As kill -9 would leave it: 50 lines, of which some are acknowledged, by a child that
 * does not close the spool. */
static void a_life_that_is_killed(const struct fixture *f, uint64_t acked)
{
    pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (pid == 0) {
        struct spool *spool = spool_open(f->dir, NULL);
        int failed = !spool;

        for (uint64_t i = 1; i <= 50 && !failed; i++)
            failed = put_line(spool, i);
        _exit(failed || spool_flush(spool, NULL) || spool_ack(spool, acked, NULL));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void open_again(struct fixture *f)
{
    f->spool = spool_open(f->dir, NULL);
    assert_non_null(f->spool);
}

static void close_first(struct fixture *f)
{
    spool_close(f->spool);
    f->spool = NULL;
}

static void count_line(void *arg, const char *line)
{
    size_t *n = arg;

    (*n)++;
    assert_int_equal(strncmp(line, "{\"seq\":", 7), 0);
}

TEST_WITH(set_up, tear_down, gives_what_a_killed_agent_left)
{
    struct fixture *f = *state;
    size_t n = 0;

    close_first(f);
    a_life_that_is_killed(f, 20);
    open_again(f);
    assert_int_equal(spool_next(f->spool), 51);
    assert_true(spool_count(f->spool) >= 30);
    spool_each(f->spool, count_line, &n);
    assert_int_equal(n, spool_count(f->spool));
    /* What the server says of the earlier life. */
    assert_int_equal(spool_ack(f->spool, 25, NULL), 0);
    append(f->spool, 51);
    assert_int_equal(read_batch(f->spool, 26, 1 << 20, 1000), 50);
    assert_int_equal(spool_ack(f->spool, 51, NULL), 0);
}

TEST_WITH(set_up, tear_down, goes_on_counting_where_the_server_is)
{
    struct fixture *f = *state;

    close_first(f);
    a_life_that_is_killed(f, 50);
    open_again(f);
    assert_int_equal(spool_ack(f->spool, 50, NULL), 0);
    assert_int_equal(spool_count(f->spool), 0);
    append(f->spool, 51);
    assert_int_equal(spool_ack(f->spool, 52, NULL), -1);
}

/* It had sent lines that it had not written: their numbers are not given again. */
TEST_WITH(set_up, tear_down, does_not_repeat_numbers_that_the_server_has)
{
    struct fixture *f = *state;

    close_first(f);
    a_life_that_is_killed(f, 20);
    open_again(f);
    assert_int_equal(spool_ack(f->spool, 60, NULL), 0);
    assert_int_equal(spool_count(f->spool), 0);
    append(f->spool, 61);
    assert_int_equal(read_batch(f->spool, 61, 1 << 20, 1000), 61);
    assert_int_equal(spool_flush(f->spool, NULL), 0);
    assert_int_equal(read_batch(f->spool, 61, 1 << 20, 1000), 61);
}

/* Nothing is written yet by the one that has it. */
TEST_WITH(set_up, tear_down, refuses_a_directory_in_use_by_one_that_has_resumed)
{
    struct fixture *f = *state;
    struct error err;

    close_first(f);
    a_life_that_is_killed(f, 20);
    open_again(f);
    assert_null(spool_open(f->dir, &err));
    assert_int_equal(err.code, ERROR_CONFLICT);
}

static void write_file(const struct fixture *f, off_t at, size_t size)
{
    char path[160];
    int fd;

    snprintf(path, sizeof(path), "%s/events.db", f->dir);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(pwrite(fd, "?", 1, at + (off_t)i), 1);
    assert_int_equal(close(fd), 0);
}

static void check_that_it_starts_anew(struct fixture *f)
{
    open_again(f);
    assert_int_equal(spool_count(f->spool), 0);
    /* The numbers that the server has are not given again. */
    assert_int_equal(spool_ack(f->spool, 60, NULL), 0);
    append(f->spool, 61);
    assert_int_equal(spool_flush(f->spool, NULL), 0);
    assert_int_equal(read_batch(f->spool, 61, 1 << 20, 1000), 61);
}

/* As a loss of power may leave it. */
TEST_WITH(set_up, tear_down, starts_anew_where_the_file_is_no_database)
{
    struct fixture *f = *state;

    close_first(f);
    assert_int_equal(mkdir(f->dir, 0700), 0);
    write_file(f, 0, 20000);
    check_that_it_starts_anew(f);
}

TEST_WITH(set_up, tear_down, starts_anew_where_a_page_is_damaged)
{
    struct fixture *f = *state;

    close_first(f);
    a_life_that_is_killed(f, 0);
    write_file(f, 4096, 200);
    check_that_it_starts_anew(f);
}

TEST_WITH(set_up, tear_down, keeps_what_nobody_has)
{
    struct fixture *f = *state;

    append(f->spool, 1);
    append(f->spool, 2);
    close_first(f);
    open_again(f);
    assert_int_equal(spool_count(f->spool), 2);
    assert_int_equal(spool_ack(f->spool, 2, NULL), 0);
}

TEST(in_memory_it_is_never_blocked_and_leaves_nothing)
{
    struct spool *spool = spool_create();
    struct buf out;
    uint64_t last = 0;

    buf_init(&out, 1 << 20);
    for (uint64_t n = 1; n <= 5; n++)
        put_line(spool, n);
    assert_false(spool_is_blocked(spool));
    assert_int_equal(spool_read(spool, 1 << 20, 3, &out, &last, NULL), 3);
    assert_int_equal(last, 3);
    assert_int_equal(spool_ack(spool, 3, NULL), 0);
    assert_int_equal(spool_read(spool, 1 << 20, 9, &out, &last, NULL), 2);
    assert_memory_equal(out.data, "{\"seq\":4,", 9);
    assert_int_equal(spool_ack(spool, 6, NULL), -1);
    spool_reset(spool);
    assert_int_equal(spool_next(spool), 1);
    assert_int_equal(spool_count(spool), 0);
    buf_release(&out);
    spool_close(spool);
}
