/* SPDX-License-Identifier: Apache-2.0 */
/* test_bench_state.c - parts of the bench loop over a backend that moves nothing */
#include "agent/worker/bench/arrival.h"
#include "agent/worker/bench/check.h"
#include "agent/worker/bench/measure.h"
#include "agent/worker/bench/timed_data.h"
#include "tests/unit/test.h"

#define BUFFER_BYTES 4096

struct backend_comm {
    char send[BUFFER_BYTES], recv[BUFFER_BYTES];
    size_t filled; /* the most bytes that one fill was asked for */
    int fills;
    bool is_moving;
};

static int run(struct backend_comm *comm, const struct backend_call *call,
               struct error *err)
{
    (void)err;
    if (comm->is_moving)
        memcpy(call->recv, call->send, call->count * dtype_size(call->dtype));
    return 0;
}

static int fill(struct backend_comm *comm, void *to, const void *element, size_t size,
                size_t len, struct error *err)
{
    for (size_t i = 0; i < len && (char *)to + i < comm->recv + BUFFER_BYTES; i++)
        ((char *)to)[i] = ((const char *)element)[i % size];
    comm->fills++;
    (void)err;
    comm->filled = len > comm->filled ? len : comm->filled;
    return 0;
}

/* ---- The control plane of three ranks, of which the others are not there ---- */

static struct tree nobody;       /* has nothing of the others */
static struct tree alike;        /* they do as this rank */
static int n_skewed, n_barriers; /* n_skewed: exchanges by which rank 2 is late */
static size_t most_len;          /* of an exchange */

int __real_tree_barrier(struct tree *tree, struct error *err);
int __wrap_tree_barrier(struct tree *tree, struct error *err);
int __real_tree_allgather(struct tree *tree, const void *mine, size_t len, void *all,
                          struct error *err);
int __wrap_tree_allgather(struct tree *tree, const void *mine, size_t len, void *all,
                          struct error *err);

int __wrap_tree_barrier(struct tree *tree, struct error *err)
{
    n_barriers++;
    return tree == &nobody || tree == &alike ? 0 : __real_tree_barrier(tree, err);
}

int __wrap_tree_allgather(struct tree *tree, const void *mine, size_t len, void *all,
                          struct error *err)
{
    if (tree != &nobody && tree != &alike)
        return __real_tree_allgather(tree, mine, len, all, err);
    size_t n = tree == &alike ? (size_t)alike.world_size : 3;

    memset(all, 0, n * len);
    for (size_t i = 0; i < (tree == &alike ? n : 1); i++)
        memcpy((char *)all + i * len, mine, len);
    if (len == arrivals_bytes(1) && n_skewed-- > 0) {
        struct arrivals *late = (void *)((char *)all + 2 * len);

        late->of[0].out_ns += 1000000000;
    }
    most_len = len > most_len ? len : most_len;
    return 0;
}

static const struct backend silent = {.name = "silent", .run = run, .fill = fill};

/* Rank 0 of three in groups of two and one. */
static struct bench bench_of(struct backend_comm *comm, struct case_file *file,
                             struct progress *progress)
{
    static int of[] = {0, 0, 1}, place[] = {0, 1, 0}, sizes[] = {2, 1};
    static const atomic_int stop;

    memset(comm, 0, sizeof(*comm));
    memset(file, 0, sizeof(*file));
    memset(progress, 0, sizeof(*progress));
    file->groups = (struct split_groups){
        .n = 2, .n_ranks = 3, .of = of, .place = place, .sizes = sizes};
    return (struct bench){.backend = &silent,
                          .comm = comm,
                          .tree = &nobody,
                          .file = file,
                          .progress = progress,
                          .stop = &stop,
                          .send = comm->send,
                          .recv = comm->recv,
                          .buffer_bytes = BUFFER_BYTES};
}

/* The other group's row fits, this one's does not. */
TEST(an_idle_row_leaves_the_buffers_alone)
{
    struct backend_comm comm;
    struct case_file file;
    struct progress progress;
    struct bench bench = bench_of(&comm, &file, &progress);
    struct bench_row row = {.call = {.kind = COLLECTIVE_ALL_REDUCE,
                                     .dtype = DTYPE_FLOAT32,
                                     .redop = REDOP_SUM},
                            .is_idle = true};
    uint64_t wrong[2] = {0};
    json_t *errors[2] = {NULL, NULL};
    struct error err = {0};

    file.world_size = 3;
    row.layout.size_bytes = BUFFER_BYTES + 48;
    assert_int_equal(check_row(&bench, &row, 1, wrong, errors, &err), 0);
    assert_int_equal(comm.filled, 0);
    json_decref(errors[0]);
    json_decref(errors[1]);
}

/* What the rank sends: its input, from the buffer's beginning on. */
static void assert_own_input(const char *buffer, const struct backend_call *call,
                             size_t count)
{
    struct pattern *pattern = pattern_create(call->dtype, call->redop, 2, 7);
    char expected[BUFFER_BYTES];

    pattern_input(pattern, 0, 0, count, expected);
    assert_memory_equal(buffer, expected, count * dtype_size(call->dtype));
    pattern_destroy(pattern);
}

TEST(timed_calls_begin_with_the_ranks_own_data)
{
    struct backend_comm comm;
    struct case_file file;
    struct progress progress;
    struct bench bench = bench_of(&comm, &file, &progress);
    struct bench_row row = {.call = {.kind = COLLECTIVE_ALL_REDUCE,
                                     .dtype = DTYPE_FLOAT32,
                                     .redop = REDOP_PROD},
                            .recv_base = comm.recv};
    struct error err = {0};

    file.seed = 7;
    row.layout.size_bytes = 64;
    bench.data = timed_data_create();
    assert_int_equal(timed_data_begin(&bench, &row, &err), 0);
    assert_int_equal(comm.fills, 2);
    assert_own_input(comm.send, &row.call, BUFFER_BYTES / sizeof(float));
    assert_own_input(comm.recv, &row.call, BUFFER_BYTES / sizeof(float));
    /* Out of place nothing but results has changed; in place the input has. */
    memset(comm.recv, 1, BUFFER_BYTES);
    assert_int_equal(timed_data_begin(&bench, &row, &err), 0);
    assert_int_equal(comm.fills, 2);
    row.row.in_place = true;
    assert_int_equal(timed_data_begin(&bench, &row, &err), 0);
    assert_int_equal(comm.fills, 3);
    assert_own_input(comm.recv, &row.call, 64 / sizeof(float));
    assert_int_equal(comm.recv[64], 1);
    /* Another operation has other data. */
    row.row.in_place = false;
    row.call.redop = REDOP_AVG;
    assert_int_equal(timed_data_begin(&bench, &row, &err), 0);
    assert_int_equal(comm.fills, 5);
    assert_own_input(comm.send, &row.call, BUFFER_BYTES / sizeof(float));
    timed_data_destroy(bench.data);
}

/* A row of so many ranks that do alike. */
static void measure_alike(struct run_spec *spec, int ranks)
{
    int *of = calloc((size_t)ranks, sizeof(int)),
        *place = calloc((size_t)ranks, sizeof(int));
    struct backend_comm comm;
    struct case_file file;
    struct progress progress;
    struct bench bench = bench_of(&comm, &file, &progress);
    struct bench_row row = {.call = {.kind = COLLECTIVE_BROADCAST, .count = 1},
                            .offsets = 1};
    struct measurement out = {0};
    struct error err = {0};

    for (int i = 0; i < ranks; i++)
        place[i] = i;
    bench.tree = &alike;
    alike.world_size = ranks;
    file.spec = spec;
    file.world_size = ranks;
    file.groups = (struct split_groups){ranks, 1, of, place, &ranks};
    n_barriers = 0;
    most_len = 0;
    assert_int_equal(measure_row(&bench, &row, &out, &err), 0);
    assert_true(out.iters >= 20);
    assert_true(out.skew_us >= 0);
    measurement_release(&out);
    free(of);
    free(place);
}

/* Barriers behind the warm-up's: at most four before the row's own. */
static int barriers_with(int skewed)
{
    struct run_spec spec = {.iters = 20, .warmup = 1, .agg_iters = 1};

    n_skewed = skewed;
    measure_alike(&spec, 3);
    return n_barriers - 1;
}

TEST(a_barrier_is_repeated_while_ranks_leave_it_apart)
{
    assert_int_equal(barriers_with(0), 1 + 1);
    assert_int_equal(barriers_with(2), 3 + 1);
    assert_int_equal(barriers_with(100), 4 + 1);
}

/* 1,024 hosts of 8: what all ranks get of each, all of them get. */
TEST(thousands_of_ranks_exchange_few_bytes_for_a_skew)
{
    struct run_spec counted = {.iters = 20, .warmup = 1, .agg_iters = 1};
    struct run_spec many = {.warmup = 1,
                            .agg_iters = 1,
                            .block_ms = 0.1,
                            .samples = {.min = 40, .max = 40, .rel = 1}};

    n_skewed = 0;
    measure_alike(&counted, 8192);
    assert_true(most_len <= 256);
    measure_alike(&many, 8192);
    assert_true(most_len <= 256);
}
