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

void nccl_note(void *arg, int rank, const char *line, size_t len)
{
    struct nccl_seen *seen = arg;
    json_t *event = json_parse(line, len, NULL);
    const char *type = json_get_str(event, "type", "");

    assert_non_null(event);
    if (strcmp(type, "hello") == 0) {
        keep(&seen->hello[rank], event);
    } else if (strcmp(type, "done") == 0) {
        keep(&seen->done[rank], event);
        seen->done_ns[rank] = clock_monotonic_ns();
    } else if (strcmp(type, "result") == 0) {
        json_array_append(seen->results, event);
    } else if (strcmp(type, "progress") == 0) {
        int64_t finished = json_get_int(event, "done", 0);
        seen->progress++;
        seen->steps += rank == 0 && finished > seen->finished;
        seen->finished = rank == 0 ? finished : seen->finished;
        seen->checked = rank == 0 ? json_get_int(event, "checked", 0) : seen->checked;
        seen->is_running = seen->is_running || json_get_int(event, "op", 0) > 0;
    } else if (strcmp(json_get_str(event, "phase", ""), "connected") == 0) {
        keep(&seen->connected[rank], event);
    }
    json_decref(event);
}

void nccl_start(struct worker_group *group, struct nccl_seen *seen, const char *emulation)
{
    memset(seen, 0, sizeof(*seen));
    seen->results = json_array();
    setenv("RINGBENCH_EMULATION", emulation, 1);
    drop_marks();
    assert_int_equal(worker_group_start(group, WORKER_NCCL, case_path, RANKS, 0), 0);
}

void nccl_end(struct worker_group *group, struct nccl_seen *seen)
{
    for (int rank = 0; rank < RANKS; rank++) {
        json_decref(seen->hello[rank]);
        json_decref(seen->connected[rank]);
        json_decref(seen->done[rank]);
    }
    json_decref(seen->results);
    worker_group_end(group);
}

void nccl_run(struct worker_group *group, struct nccl_seen *seen, const char *emulation)
{
    nccl_start(group, seen, emulation);
    assert_int_equal(worker_group_read(group, QUIET_MS, NULL, nccl_note, seen), 0);
}

void nccl_await_hang(struct worker_group *group, struct nccl_seen *seen, int rank)
{
    while (drop_mark(rank)) {
        bool stop = false;
        assert_int_equal(worker_group_read(group, 20, &stop, nccl_note, seen), 1);
    }
}

const char *nccl_error_of(const struct nccl_seen *seen, int rank, const char *key)
{
    return json_get_str(json_object_get(seen->done[rank], "error"), key, "none");
}

int nccl_rank_saying(const struct nccl_seen *seen, const char *words)
{
    int rank = 0;

    while (rank < RANKS && !strstr(nccl_error_of(seen, rank, "text"), words))
        rank++;
    return rank < RANKS ? rank : -1;
}

void nccl_assert_all_ok(const struct worker_group *group, const struct nccl_seen *seen)
{
    for (int rank = 0; rank < RANKS; rank++) {
        assert_string_equal(nccl_error_of(seen, rank, "text"), "none");
        assert_true(json_get_bool(seen->done[rank], "ok", false));
        assert_int_equal(group->workers[rank].status, 0);
    }
}

void nccl_assert_rows_right(const struct nccl_seen *seen, size_t rows)
{
    size_t i;
    json_t *row;

    assert_int_equal(json_array_size(seen->results), rows);
    json_array_foreach (seen->results, i, row) {
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
