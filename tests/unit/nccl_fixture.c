/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_fixture.c - four processes of the NCCL worker over emulated libraries */
#include "tests/unit/nccl_fixture.h"

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "tests/unit/test.h"

const char nccl_quick[] =
    "\"collectives\":[\"all_reduce\"],\"dtypes\":[\"float32\"],\"redops\":[\"sum\"],"
    "\"in_place\":false,\"sizes\":[64,20000],\"iters\":5,\"root\":0";

const char nccl_endless[] =
    "\"collectives\":[\"all_reduce\"],\"dtypes\":[\"float32\"],\"redops\":[\"sum\"],"
    "\"in_place\":false,\"sizes\":[20000],\"iters\":1000000,\"root\":0";

const char nccl_plain[] = "\"agg_iters\":1,\"check\":1,\"timing\":\"throughput\"";

struct nccl_case nccl;

static char case_path[] = "/tmp/ringbench-nccl-XXXXXX";

/* The emulation's mark of a rank that hangs. */
static int drop_mark(int rank)
{
    char mark[sizeof(case_path) + 8];

    snprintf(mark, sizeof(mark), "%s.%d", case_path, rank);
    return unlink(mark);
}

static void drop_marks(void)
{
    for (int rank = 0; rank < RANKS; rank++)
        drop_mark(rank);
}

void nccl_write_case(const char *members, const char *more)
{
    char text[4096];

    snprintf(text, sizeof(text),
             "{\"run\":\"r\",\"case\":0,\"attempt\":1,\"backend\":\"nccl\","
             "\"world_size\":%d,\"warmup\":1,\"seed\":1,%s,%s}",
             RANKS, members, *more ? more : nccl_plain);
    json_t *json = json_parse(text, strlen(text), NULL);
    assert_non_null(json);
    assert_int_equal(json_write_file(json, case_path, NULL), 0);
    json_decref(json);
}

static void keep(json_t **place, json_t *event)
{
    assert_null(*place);
    *place = json_incref(event);
}

static void note(void *arg, int rank, const char *line, size_t len)
{
    json_t *event = json_parse(line, len, NULL);
    const char *type = json_get_str(event, "type", "");

    (void)arg;
    assert_non_null(event);
    nccl.has_read = true;
    if (strcmp(type, "hello") == 0) {
        keep(&nccl.hello[rank], event);
    } else if (strcmp(type, "done") == 0) {
        keep(&nccl.done[rank], event);
        nccl.done_ns[rank] = clock_monotonic_ns();
    } else if (strcmp(type, "result") == 0) {
        json_array_append(nccl.results, event);
    } else if (strcmp(type, "progress") == 0) {
        int64_t finished = json_get_int(event, "done", 0);
        nccl.has_begun[rank] = true;
        nccl.is_loading[rank] = strcmp(json_get_str(event, "phase", ""), "loading") == 0;
        nccl.steps += rank == 0 && finished > nccl.finished;
        nccl.finished = rank == 0 ? finished : nccl.finished;
        nccl.checked = rank == 0 ? json_get_int(event, "checked", 0) : nccl.checked;
    } else if (strcmp(json_get_str(event, "phase", ""), "connected") == 0) {
        keep(&nccl.connected[rank], event);
    }
    json_decref(event);
}

void nccl_start(const char *emulation)
{
    nccl_end(NULL);
    memset(&nccl, 0, sizeof(nccl));
    setenv("RINGBENCH_EMULATION", emulation, 1);
    drop_marks();
    assert_int_equal(worker_group_start(&nccl.group, WORKER_NCCL, case_path, RANKS, 0),
                     0);
    nccl.results = json_array();
}

int nccl_end(void **state)
{
    (void)state;
    if (!nccl.results)
        return 0;
    for (int rank = 0; rank < RANKS; rank++) {
        json_decref(nccl.hello[rank]);
        json_decref(nccl.connected[rank]);
        json_decref(nccl.done[rank]);
    }
    json_decref(nccl.results);
    nccl.results = NULL;
    worker_group_end(&nccl.group);
    return 0;
}

/* Read an event, or nothing for ms. A read by itself lasts until all have ended, and on a
 * busy machine the events of four ranks leave no pause that would end it before. */
static void read_some(int ms)
{
    nccl.has_read = false;
    assert_int_equal(worker_group_read(&nccl.group, ms, &nccl.has_read, note, NULL), 1);
}

void nccl_read(void)
{
    assert_int_equal(worker_group_read(&nccl.group, QUIET_MS, NULL, note, NULL), 0);
}

void nccl_run(const char *emulation)
{
    nccl_start(emulation);
    nccl_read();
}

void nccl_await_progress(void)
{
    for (int rank = 0; rank < RANKS; rank++)
        while (!nccl.has_begun[rank])
            read_some(200);
}

void nccl_await_loading(int rank)
{
    while (!nccl.is_loading[rank])
        read_some(20);
}

void nccl_await_hang(int rank)
{
    while (drop_mark(rank))
        read_some(20);
}

const char *nccl_error_of(int rank, const char *key)
{
    return json_get_str(json_object_get(nccl.done[rank], "error"), key, "none");
}

int nccl_rank_saying(const char *words)
{
    int rank = 0;

    while (rank < RANKS && !strstr(nccl_error_of(rank, "text"), words))
        rank++;
    return rank < RANKS ? rank : -1;
}

void nccl_assert_all_ok(void)
{
    for (int rank = 0; rank < RANKS; rank++) {
        assert_string_equal(nccl_error_of(rank, "text"), "none");
        assert_true(json_get_bool(nccl.done[rank], "ok", false));
        assert_int_equal(nccl.group.workers[rank].status, 0);
    }
}

void nccl_assert_rows_right(size_t rows)
{
    size_t i;
    json_t *row;

    assert_int_equal(json_array_size(nccl.results), rows);
    json_array_foreach (nccl.results, i, row) {
        const char *kind = json_get_str(row, "collective", "");
        bool is_timed_only =
            json_get_bool(row, "in_place", false) &&
            (strcmp(kind, "alltoall") == 0 || strcmp(kind, "sendrecv") == 0);
        assert_true(json_get_bool(row, "emulated", false));
        assert_null(json_object_get(row, "skipped"));
        assert_true(json_get_num(row, "time_us", 0) > 0);
        assert_int_equal(json_get_int(row, "wrong", -1), is_timed_only ? -1 : 0);
    }
}

int nccl_set_up(void **state)
{
    int fd = mkstemp(case_path);

    (void)state;
    setenv("RINGBENCH_CUDART_LIB", EMULATED_CUDART, 1);
    setenv("RINGBENCH_NCCL_LIB", EMULATED_NCCL, 1);
    setenv("RINGBENCH_EMULATION_MARK", case_path, 1);
    return fd < 0 ? -1 : close(fd);
}

json_t *nccl_probe(const char *emulation)
{
    char text[8192];

    setenv("RINGBENCH_EMULATION", emulation, 1);
    FILE *pipe = popen(WORKER_NCCL " --probe", "r");
    size_t len = fread(text, 1, sizeof(text), pipe);
    assert_int_equal(pclose(pipe), 0);
    json_t *answer = json_parse(text, len, NULL);
    assert_non_null(answer);
    return answer;
}

int nccl_tear_down(void **state)
{
    (void)state;
    drop_marks();
    return unlink(case_path);
}
