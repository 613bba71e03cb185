/* SPDX-License-Identifier: Apache-2.0 */
/* test_worker_process.c - real worker processes: the contract, and what goes wrong */
#include <dirent.h>
#include <sys/wait.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/spec/collective.h"
#include "bench/worker_group.h"
#include "tests/unit/case_fixture.h"
#include "tests/unit/test.h"

#define RANKS 4
#define QUIET_MS 60000

static struct worker_group group;

/* What a test wants to know of the events. */
static struct {
    json_t *first[RANKS], *done[RANKS];
    int64_t done_ns[RANKS];
    json_t *results;                            /* array */
    bool has_progress[RANKS], has_all_progress; /* since the last result */
    bool is_running; /* some rank reports that it has begun operations */
} seen;

static void write_case(const char *members)
{
    char text[2048];

    snprintf(
        text, sizeof(text),
        "{\"run\":\"r\",\"case\":0,\"attempt\":1,\"backend\":\"host\","
        "\"world_size\":%d,\"collectives\":[\"all_reduce\"],\"dtypes\":[\"float32\"],"
        "\"redops\":[\"sum\"],\"root\":0,\"in_place\":false,\"warmup\":1,"
        "\"agg_iters\":1,\"check\":1,\"timing\":\"throughput\",\"seed\":1,%s}",
        RANKS, members);
    json_t *json = json_parse(text, strlen(text), NULL);
    assert_non_null(json);
    case_write(json);
}

static bool have_all_progress(void)
{
    for (int rank = 0; rank < RANKS; rank++)
        if (!seen.has_progress[rank])
            return false;
    return true;
}

static void forget_progress(void)
{
    memset(seen.has_progress, 0, sizeof(seen.has_progress));
    seen.has_all_progress = false;
}

static void note(void *arg, int rank, const char *line, size_t len)
{
    json_t *event = json_parse(line, len, NULL);
    const char *type = json_get_str(event, "type", "");

    (void)arg;
    assert_non_null(event);
    assert_null(seen.done[rank]); /* "done" is the last one */
    if (!seen.first[rank])
        seen.first[rank] = json_incref(event);
    if (strcmp(type, "done") == 0) {
        seen.done[rank] = json_incref(event);
        seen.done_ns[rank] = clock_monotonic_ns();
    } else if (strcmp(type, "result") == 0) {
        assert_int_equal(rank, 0);
        json_array_append(seen.results, event);
        forget_progress();
    } else if (strcmp(type, "progress") == 0) {
        seen.has_progress[rank] = true;
        seen.has_all_progress = have_all_progress();
        seen.is_running = seen.is_running || json_get_int(event, "op", 0) > 0;
    }
    json_decref(event);
}

static int end(void **state)
{
    (void)state;
    if (!seen.results)
        return 0;
    for (int rank = 0; rank < RANKS; rank++) {
        json_decref(seen.first[rank]);
        json_decref(seen.done[rank]);
    }
    json_decref(seen.results);
    seen.results = NULL;
    worker_group_end(&group);
    return 0;
}

EACH_FIXTURE(NULL, end);

static void start(int per_host)
{
    end(NULL);
    memset(&seen, 0, sizeof(seen));
    setenv("RINGBENCH_ALLOW_FAULTS", "1", 1);
    assert_int_equal(worker_group_start(&group, WORKER_HOST, case_path, RANKS, per_host),
                     0);
    seen.results = json_array();
}

static void read_to_end(void)
{
    assert_int_equal(worker_group_read(&group, QUIET_MS, NULL, note, NULL), 0);
}

static void run(int per_host)
{
    start(per_host);
    read_to_end();
}

static int ranks_ok(void)
{
    int n = 0;

    for (int rank = 0; rank < RANKS; rank++)
        n += seen.done[rank] && json_get_bool(seen.done[rank], "ok", false);
    return n;
}

static const char *code_of(int rank)
{
    return json_get_str(json_object_get(seen.done[rank], "error"), "code", "none");
}

TEST(a_case_ends_with_every_row_and_ok)
{
    write_case("\"sizes\":[8,100000],\"iters\":5");
    for (int per_host = 0; per_host <= 2; per_host++) {
        run(per_host);
        assert_int_equal(ranks_ok(), RANKS);
        assert_int_equal(json_array_size(seen.results), 2);
        for (int rank = 0; rank < RANKS; rank++) {
            assert_string_equal(json_get_str(seen.first[rank], "type", ""), "hello");
            assert_int_equal(json_get_int(seen.first[rank], "protocol", 0), 1);
            assert_int_equal(group.workers[rank].status, 0);
        }
    }
}

TEST(a_wrong_element_is_named)
{
    write_case("\"sizes\":[8,4000],\"iters\":2,"
               "\"fault\":{\"kind\":\"wrong\",\"rank\":2,\"row\":1,\"index\":77}");
    run(0);
    assert_int_equal(ranks_ok(), RANKS);
    const json_t *good = json_array_get(seen.results, 0);
    const json_t *bad = json_array_get(seen.results, 1);
    assert_int_equal(json_get_int(good, "wrong", -1), 0);
    assert_int_equal(json_get_int(bad, "wrong", -1), 1);
    const json_t *error = json_array_get(json_object_get(bad, "errors"), 0);
    assert_int_equal(json_get_int(error, "rank", -1), 2);
    assert_int_equal(json_get_int(error, "index", -1), 77);
    assert_string_not_equal(json_get_str(error, "expected", ""),
                            json_get_str(error, "got", ""));
}

/* Far below what the kernel's own timeouts of a dead link would take; the usual time is
 * some milliseconds, but a busy machine may be late. */
#define NOTICE_NS (120 * INT64_C(1000000000))

/* Survivors notice by themselves, and all name the dead rank. */
static void check_death(int per_host, const char *split)
{
    char members[256];

    snprintf(members, sizeof(members),
             "\"sizes\":[1000000],\"iters\":1000000,\"split\":%s", split);
    write_case(members);
    start(per_host);
    assert_int_equal(worker_group_read(&group, QUIET_MS, &seen.is_running, note, NULL),
                     1);
    int64_t killed_ns = clock_monotonic_ns();
    assert_int_equal(worker_group_signal(&group, 2, SIGKILL), 0);
    read_to_end();
    for (int rank = 0; rank < RANKS; rank++) {
        if (rank == 2) {
            assert_null(seen.done[rank]);
            continue;
        }
        assert_string_equal(code_of(rank), "peer_lost");
        assert_int_equal(
            json_get_int(json_object_get(seen.done[rank], "error"), "peer", -1), 2);
        assert_true(seen.done_ns[rank] - killed_ns < NOTICE_NS);
        assert_true(WIFEXITED(group.workers[rank].status));
        assert_int_equal(WEXITSTATUS(group.workers[rank].status), 1);
    }
}

TEST(a_death_is_noticed_in_shared_memory)
{
    check_death(0, "\"none\"");
}

TEST(a_death_is_noticed_over_sockets)
{
    check_death(1, "\"none\"");
}

TEST(a_death_is_noticed_with_both)
{
    check_death(2, "\"none\"");
}

/* Also in the group that it is not in, and by its number in the case. */
TEST(a_death_in_one_group_is_noticed_by_all)
{
    check_death(0, "{\"by\":\"mod\",\"value\":2}");
    check_death(2, "{\"by\":\"div\",\"value\":2}");
}

TEST(a_rank_that_kills_itself_in_a_row_is_named)
{
    write_case("\"sizes\":[8,16,32],\"iters\":50,"
               "\"fault\":{\"kind\":\"die\",\"rank\":1,\"row\":1}");
    run(0);
    assert_int_equal(json_array_size(seen.results), 1);
    assert_true(WIFSIGNALED(group.workers[1].status));
    assert_int_equal(json_get_int(json_object_get(seen.done[0], "error"), "peer", -1), 1);
}

static void stop_all(void)
{
    for (int rank = 0; rank < RANKS; rank++)
        assert_int_equal(worker_group_signal(&group, rank, SIGTERM), 0);
}

/* A SIGTERM ends what hangs after so many results, with the same word from every rank.
 * One that has reported progress handles signals. */
static void check_stop(const char *members, int per_host, size_t results)
{
    write_case(members);
    start(per_host);
    do {
        forget_progress();
        assert_int_equal(
            worker_group_read(&group, QUIET_MS, &seen.has_all_progress, note, NULL), 1);
    } while (json_array_size(seen.results) < results);
    int64_t stopped_ns = clock_monotonic_ns();
    stop_all();
    read_to_end();
    for (int rank = 0; rank < RANKS; rank++) {
        assert_string_equal(code_of(rank), "cancelled");
        assert_true(seen.done_ns[rank] - stopped_ns < NOTICE_NS);
        assert_int_equal(WEXITSTATUS(group.workers[rank].status), 1);
    }
}

TEST(a_stop_ends_a_running_case)
{
    check_stop("\"sizes\":[1000000],\"iters\":1000000", 0, 0);
    check_stop("\"sizes\":[1000000],\"iters\":1000000", 2, 0);
}

TEST(a_stop_ends_a_hang)
{
    static const char hang[] = "\"sizes\":[8,1000000],\"iters\":10,"
                               "\"fault\":{\"kind\":\"hang\",\"rank\":3,\"row\":1}";

    check_stop(hang, 0, 1);
    check_stop(hang, 1, 1);
}

TEST(a_stop_ends_the_wait_for_a_rank_that_never_joins)
{
    check_stop("\"sizes\":[8],\"iters\":10,\"fault\":{\"kind\":\"no_join\",\"rank\":1}",
               0, 0);
}

static volatile sig_atomic_t signals_here;

static void count_signal(int signum)
{
    (void)signum;
    signals_here++;
}

/* Its pid is 0 then, which would stand for all processes of this group. */
TEST(a_signal_to_a_worker_that_has_ended_reaches_nobody)
{
    struct sigaction count = {.sa_handler = count_signal}, before;

    write_case("\"sizes\":[8],\"iters\":1");
    run(0);
    sigaction(SIGTERM, &count, &before);
    assert_int_equal(worker_group_signal(&group, 2, SIGTERM), -1);
    sigaction(SIGTERM, &before, NULL);
    assert_int_equal(signals_here, 0);
}

TEST(a_slow_rank_shows_in_the_time)
{
    write_case("\"sizes\":[8],\"iters\":10,"
               "\"fault\":{\"kind\":\"slow\",\"rank\":1,\"us\":5000}");
    run(0);
    assert_true(json_get_num(json_array_get(seen.results, 0), "time_us", 0) > 4500);
}

TEST(what_does_not_fit_is_skipped_with_the_numbers)
{
    write_case("\"sizes\":[8,1099511627776],\"iters\":2");
    run(0);
    assert_int_equal(ranks_ok(), RANKS);
    const json_t *large = json_array_get(seen.results, 1);
    assert_non_null(strstr(json_get_str(large, "skipped", ""), "1.0 TiB"));
    assert_non_null(strstr(json_get_str(large, "skipped", ""), "shared by 4 ranks"));
    assert_null(json_object_get(large, "time_us"));
    assert_null(json_object_get(json_array_get(seen.results, 0), "skipped"));
}

TEST(a_bad_case_is_refused_before_it_joins)
{
    write_case("\"sizes\":[8],\"iters\":0");
    run(0);
    for (int rank = 0; rank < RANKS; rank++)
        assert_string_equal(code_of(rank), "bad_case");
}

/* Those of ours: others use the place too. */
static int count_names(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    int n = 0;

    while (dir && (entry = readdir(dir)))
        n += strstr(entry->d_name, "ringbench") != NULL;
    if (dir)
        closedir(dir);
    return n;
}

TEST(nothing_is_left_in_dev_shm_after_a_kill)
{
    int before = count_names("/dev/shm");

    write_case("\"sizes\":[1000000],\"iters\":1000000");
    start(0);
    assert_int_equal(worker_group_read(&group, QUIET_MS, &seen.is_running, note, NULL),
                     1);
    assert_int_equal(count_names("/dev/shm"), before);
    for (int rank = 0; rank < RANKS; rank++)
        assert_int_equal(worker_group_signal(&group, rank, SIGKILL), 0);
    read_to_end();
    assert_int_equal(count_names("/dev/shm"), before);
}

TEST(the_probe_is_json)
{
    FILE *pipe = popen(WORKER_HOST " --probe", "r");
    char text[8192];

    size_t len = fread(text, 1, sizeof(text), pipe);
    assert_int_equal(pclose(pipe), 0);
    json_t *probe = json_parse(text, len, NULL);
    assert_string_equal(json_get_str(probe, "backend", ""), "host");
    assert_true(json_get_bool(probe, "available", false));
    assert_true(json_is_null(json_object_get(probe, "reason")));
    assert_int_equal(json_array_size(json_object_get(probe, "devices")), 1);
    assert_int_equal(json_array_size(json_object_get(probe, "collectives")),
                     COLLECTIVE_COUNT);
    assert_int_equal(json_array_size(json_object_get(probe, "dtypes")), 12);
    assert_int_equal(json_array_size(json_object_get(probe, "redops")), 6);
    json_decref(probe);
}

GROUP_FIXTURE(make_case_file, remove_case_file);
