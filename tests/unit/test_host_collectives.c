/* SPDX-License-Identifier: Apache-2.0 */
/* test_host_collectives.c - every collective, type and reduction over real processes:
 * sharing memory, over sockets, and mixed */
#include <sys/prctl.h>
#include <sys/wait.h>

#include "agent/worker/bench/bench.h"
#include "agent/worker/bench/group.h"
#include "agent/worker/host/host_comm.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "bench/rendezvous_stub.h"
#include "tests/unit/test.h"

static const char case_format[] =
    "{\"run\":\"r\",\"case\":0,\"attempt\":1,\"world_size\":%d,\"collectives\":%s,"
    "\"dtypes\":%s,\"redops\":%s,\"sizes\":%s,"
    "\"root\":%d,\"in_place\":\"both\",\"iters\":2,\"warmup\":1,\"agg_iters\":1,"
    "\"check\":%d,\"timing\":\"%s\",\"seed\":11,\"split\":%s,"
    "\"traffic\":{\"spread\":%g},\"unalign\":%d,"
    "\"host\":{\"sockets\":%d}}";

static const char all_collectives[] = "[\"all_reduce\",\"all_gather\",\"reduce_scatter\","
                                      "\"broadcast\",\"reduce\",\"alltoall\","
                                      "\"gather\",\"scatter\",\"sendrecv\","
                                      "\"hypercube\",\"alltoallv\"]";
static const char all_dtypes[] =
    "[\"int8\",\"uint8\",\"int32\",\"uint32\",\"int64\",\"uint64\",\"float16\","
    "\"float32\","
    "\"float64\",\"bfloat16\",\"float8e4m3\",\"float8e5m2\"]";

static const char all_redops[] = "[\"sum\",\"prod\",\"min\",\"max\",\"avg\",\"mulsum\"]";
/* prod, min and max move and scale data as sum does. */
static const char some_redops[] = "[\"sum\",\"avg\",\"mulsum\"]";

/* Allocations; then nothing is checked, since checks make some. */
static bool is_counting;

struct setup {
    int n, per_host; /* per_host 0: all on one */
    const char *dtypes, *sizes, *timing;
    int root;
    const char *split; /* JSON; NULL: none */
    double spread;
    int unalign;
    int sockets;        /* 0: one */
    const char *redops; /* NULL: some_redops */
};

static struct case_file *make_case(const struct setup *setup)
{
    char text[2048];
    struct error err = {0};

    snprintf(text, sizeof(text), case_format, setup->n, all_collectives, setup->dtypes,
             setup->redops ? setup->redops : some_redops, setup->sizes, setup->root,
             !is_counting, setup->timing, setup->split ? setup->split : "\"none\"",
             setup->spread, setup->unalign, setup->sockets ? setup->sockets : 1);
    json_t *json = json_parse(text, strlen(text), &err);
    struct case_file *file = json ? case_file_parse(json, false, &err) : NULL;
    json_decref(json);
    if (!file) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    return file;
}

/* ---- Allocations: no clock is read without a look at how many there were ---- */

static atomic_long allocations;
static long runs, seen; /* since the clock was read last; allocations then */
static long intervals;  /* with calls between two looks at the clock */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t size)
{
    allocations++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    allocations++;
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    allocations++;
    return __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    allocations++;
    return __real_strdup(text);
}

static int run_counted(struct backend_comm *comm, const struct backend_call *call,
                       struct error *err)
{
    runs++;
    return backend_host.run(comm, call, err);
}

int64_t __real_clock_monotonic_ns(void);
int64_t __wrap_clock_monotonic_ns(void);

int64_t __wrap_clock_monotonic_ns(void)
{
    long now = allocations;

    if (runs > 0 && now > seen) {
        fprintf(stderr, "%ld allocations in a timed loop\n", now - seen);
        _exit(1);
    }
    intervals += runs > 0;
    runs = 0;
    seen = now;
    return __real_clock_monotonic_ns();
}

static struct backend counted(void)
{
    struct backend backend = backend_host;

    json_set_alloc_funcs(__wrap_malloc, free); /* jansson's are of its own library */
    backend.run = run_counted;
    return backend;
}

static int run_rank(const struct setup *setup, int rank, int port, int events_fd)
{
    static struct progress progress;
    atomic_int stop = 0;
    char hostid[32] = "", text[16];
    struct events events;
    struct error err = {0};
    struct case_file *file = make_case(setup);

    snprintf(text, sizeof(text), "%d", port);
    if (setup->per_host)
        snprintf(hostid, sizeof(hostid), "host-%d", rank / setup->per_host);
    struct rendezvous_client *store =
        rendezvous_client_connect("127.0.0.1", text, 60000, NULL, &err);
    struct backend_env env = {.file = file,
                              .rank = rank,
                              .world_size = setup->n,
                              .store = store,
                              .hostid = hostid[0] ? hostid : NULL,
                              .stop = &stop,
                              .timeout_ms = 120000};
    int *members;
    group_find(file, &env, &members);
    struct tree_config config = backend_env_tree(&env);
    env.tree = store ? tree_create(&config, &err) : NULL;
    struct backend_comm *comm = env.tree ? backend_host.create(&env, &err) : NULL;
    if (comm && backend_host.connect(comm, &env, &err)) {
        backend_host.abort(comm);
        comm = NULL;
    }
    events_init(&events, events_fd);
    struct backend with_counts = counted();
    struct bench bench = {.backend = is_counting ? &with_counts : &backend_host,
                          .comm = comm,
                          .tree = env.tree,
                          .file = file,
                          .events = &events,
                          .progress = &progress,
                          .stop = &stop,
                          .rank = rank};
    int status = comm ? bench_run(&bench, &err) : -1;
    assert_true(intervals > 0 || !is_counting);
    if (status) {
        fprintf(stderr, "rank %d: %s\n", rank, err.text);
        backend_host.abort(comm);
    } else {
        backend_host.destroy(comm);
    }
    tree_destroy(env.tree);
    rendezvous_client_destroy(store);
    case_file_destroy(file);
    free(members);
    events_release(&events);
    return status ? 1 : 0;
}

struct tally {
    size_t rows, skipped, checked, samples;
    size_t by_group[16];
};

static void count_result(const char *line, size_t len, struct tally *tally)
{
    json_t *row = json_parse(line, len, NULL);

    assert_non_null(row);
    assert_int_equal(json_get_int(row, "row", -1), tally->rows);
    tally->rows++;
    if (json_object_get(row, "skipped")) {
        assert_true(json_get_int(row, "count", -1) == 0 ||
                    strcmp(json_get_str(row, "collective", ""), "hypercube") == 0);
        tally->skipped++;
    } else {
        const json_t *wrong = json_object_get(row, "wrong");
        if (json_is_integer(wrong) && json_integer_value(wrong) != 0)
            fail_msg("%s", line);
        tally->checked += json_is_integer(wrong);
        tally->samples += json_array_size(json_object_get(row, "samples_us"));
        assert_true(json_get_num(row, "time_us", 0) > 0);
        assert_true(json_get_num(row, "time_min_us", 0) <=
                    json_get_num(row, "time_us", 0));
        assert_true(json_get_num(row, "first_us", 0) > 0);
        /* One rank in place moves no data, unless it scales. hypercube counts no bytes of
         * a single rank. */
        bool is_alone = json_array_size(json_object_get(row, "times_us")) == 1;
        bool is_still =
            is_alone && ((json_get_bool(row, "in_place", false) &&
                          strcmp(json_get_str(row, "redop", ""), "mulsum") != 0) ||
                         strcmp(json_get_str(row, "collective", ""), "hypercube") == 0);
        assert_true((json_get_num(row, "algbw_gbs", -1) > 0) == !is_still);
        tally->by_group[json_get_int(row, "group", 0)] +=
            json_array_size(json_object_get(row, "times_us"));
    }
    json_decref(row);
}

static void count_results(int fd, struct tally *tally)
{
    FILE *stream = fdopen(fd, "r");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t len;

    while ((len = getline(&line, &capacity, stream)) > 0)
        count_result(line, (size_t)len, tally);
    free(line);
    fclose(stream);
}

static struct tally run_setup(const struct setup *setup)
{
    struct rendezvous_stub stub;
    struct tally tally = {0};
    pid_t children[16];
    int ends[2], status;

    assert_int_equal(rendezvous_stub_start(&stub, NULL, 0), 0);
    assert_int_equal(pipe(ends), 0);
    for (int rank = 0; rank < setup->n; rank++) {
        children[rank] = fork();
        if (children[rank] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            close(ends[0]);
            _exit(run_rank(setup, rank, stub.port, ends[1]));
        }
    }
    close(ends[1]);
    count_results(ends[0], &tally);
    for (int rank = 0; rank < setup->n; rank++) {
        waitpid(children[rank], &status, 0);
        assert_int_equal(status, 0);
    }
    rendezvous_stub_stop(&stub);
    struct case_file *file = make_case(setup);
    assert_int_equal(tally.rows, series_rows(&file->plan));
    case_file_destroy(file);
    return tally;
}

/* Sizes on both sides of every change of algorithm, and odd ones. */
static void run_types(int n, int per_host, const char *dtypes, const char *redops)
{
    struct setup setup = {.n = n,
                          .per_host = per_host,
                          .dtypes = dtypes,
                          .redops = redops,
                          .sizes = "[1000,40000,200008]",
                          .timing = "throughput",
                          .root = n - 1,
                          .spread = 1};
    struct tally tally = run_setup(&setup);

    assert_true(tally.checked > tally.rows / 2);
}

/* The arithmetic of a type does not depend on how data is moved: all types and reductions
 * are tried with one and three ranks, the narrowest and the widest type with other
 * numbers. What a sanitizer finds depends on a type's size at most. */
static void run_all(int n, int per_host)
{
    run_types(n, per_host, "[\"int8\",\"float64\"]", some_redops);
}

static void run_all_types(int n, int per_host)
{
    run_types(n, per_host,
              test_seeds(10) == 10 ? all_dtypes
                                   : "[\"int8\",\"bfloat16\",\"float32\",\"int64\"]",
              all_redops);
}

TEST(one_rank_alone)
{
    run_all_types(1, 0);
}

static bool is_full(void)
{
    return test_seeds(10) == 10;
}

/* Numbers of ranks. Eight take as long as all others together, and make a sanitizer see
 * nothing that five do not. */
static void run_each(int per_host)
{
    run_all(2, per_host);
    run_all_types(3, per_host);
    run_all(5, per_host);
    if (is_full()) {
        run_all(4, per_host);
        run_all(8, per_host);
    }
}

TEST(ranks_that_share_memory)
{
    run_each(0);
}

TEST(ranks_over_sockets)
{
    run_each(1);
}

/* The largest size moves as the one before it does, only for longer. */
TEST(ranks_over_several_sockets)
{
    static const int kinds[][2] = {{2, 4}, {3, 3}, {4, 2}};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        bool is_large = is_full() && i == 0;
        struct setup setup = {.n = kinds[i][0],
                              .per_host = 1,
                              .dtypes = "[\"int8\",\"float32\"]",
                              .sizes =
                                  is_large ? "[1000,200008,1500016]" : "[1000,200008]",
                              .timing = "throughput",
                              .spread = 1,
                              .sockets = kinds[i][1]};
        struct tally tally = run_setup(&setup);
        assert_true(tally.checked > tally.rows / 2);
        setup.n = 4;
        setup.per_host = 2;
        setup.sizes = is_large ? "[500000]" : "[200008]";
        run_setup(&setup);
        setup.split = "{\"by\":\"mod\",\"value\":2}";
        run_setup(&setup);
    }
}

TEST(two_hosts_of_two_ranks)
{
    run_all(4, 2);
}

TEST(hosts_of_unequal_size)
{
    run_all(5, 2);
    if (is_full())
        run_all(8, 3);
}

TEST(every_root_in_turn)
{
    struct setup setup = {.n = 5,
                          .per_host = 2,
                          .dtypes = "[\"float32\",\"int8\"]",
                          .sizes = "[64,50000]",
                          .timing = "throughput",
                          .root = -1,
                          .spread = 1};

    run_setup(&setup);
    setup.per_host = 0;
    run_setup(&setup);
}

TEST(large_buffers_go_past_the_caches)
{
    struct setup setup = {.n = 4,
                          .dtypes = "[\"float32\"]",
                          .sizes = "[8388608]",
                          .timing = "throughput",
                          .root = 1,
                          .spread = 1};

    if (!is_full())
        skip(); /* a sanitizer finds no more in them than in smaller ones */
    run_setup(&setup);
    setup.per_host = 2;
    setup.sizes = "[5000012]";
    run_setup(&setup);
}

TEST(isolated_timing_keeps_every_sample)
{
    struct setup setup = {.n = 3,
                          .dtypes = "[\"float32\"]",
                          .sizes = "[1024]",
                          .timing = "isolated",
                          .spread = 1};

    struct tally tally = run_setup(&setup);
    assert_int_equal(tally.samples, 2 * (tally.rows - tally.skipped));
}

/* Through shared memory, over sockets, and both. */
TEST(unaligned_buffers_are_right)
{
    static const int per_host[] = {0, 1, 2};
    const char *dtypes =
        is_full() ? "[\"int8\",\"float32\",\"float64\"]" : "[\"float32\"]";

    for (size_t i = 0; i < sizeof(per_host) / sizeof(per_host[0]); i++) {
        struct setup setup = {.n = 4,
                              .per_host = per_host[i],
                              .dtypes = dtypes,
                              .sizes = "[1000,200008]",
                              .timing = "throughput",
                              .spread = 1,
                              .unalign = 3};
        struct tally tally = run_setup(&setup);
        assert_int_equal(tally.skipped, 0);
        assert_true(tally.checked > tally.rows / 2);
    }
}

TEST(what_rounds_to_nothing_is_skipped)
{
    struct setup setup = {.n = 4,
                          .dtypes = "[\"float32\"]",
                          .sizes = "[8]",
                          .timing = "throughput",
                          .spread = 1};

    struct tally tally = run_setup(&setup);
    /* all_gather, reduce_scatter (3 reductions), alltoall, gather, scatter, hypercube,
     * alltoallv; twice each */
    assert_int_equal(tally.skipped, 2 * (1 + 3 + 1 + 1 + 1 + 1 + 1));
}

/* Times of each group's own ranks, data of each group's own. */
static void run_split(int n, int per_host, const char *split, const int *sizes)
{
    struct setup setup = {.n = n,
                          .per_host = per_host,
                          .dtypes = "[\"float32\"]",
                          .sizes = "[64,4096,200008]",
                          .timing = "isolated",
                          .split = split,
                          .spread = 0.25};
    struct tally tally = run_setup(&setup);
    size_t groups = 0;

    for (; sizes[groups]; groups++)
        assert_int_equal(tally.by_group[groups] % (size_t)sizes[groups], 0);
    assert_true(tally.by_group[groups - 1] > 0);
    assert_int_equal(tally.by_group[groups], 0);
    assert_true(tally.checked > tally.rows / 2);
}

TEST(groups_of_ranks_work_at_once)
{
    run_split(4, 0, "{\"by\":\"mod\",\"value\":2}", (int[]){2, 2, 0});
    run_split(4, 1, "{\"by\":\"div\",\"value\":2}", (int[]){2, 2, 0});
    /* Groups across hosts, of which one has two ranks; groups of unequal size. */
    run_split(5, 2, "{\"by\":\"mod\",\"value\":3}", (int[]){2, 2, 1, 0});
    run_split(5, 0, "{\"by\":\"div\",\"value\":3}", (int[]){3, 2, 0});
}

TEST(traffic_is_as_spread)
{
    struct setup setup = {.n = 3,
                          .dtypes = "[\"int8\",\"float64\"]",
                          .sizes = "[300,70000]",
                          .timing = "throughput",
                          .spread = 0.7};

    run_setup(&setup);
    setup.per_host = 1;
    run_setup(&setup);
}

/* Through shared memory, over sockets, and both. */
TEST(timed_loops_allocate_nothing)
{
    struct setup setup = {.n = 4,
                          .dtypes = "[\"int8\",\"float32\"]",
                          .sizes = "[1000,200008]",
                          .spread = 1};

    is_counting = true;
    for (setup.per_host = 0; setup.per_host <= 2; setup.per_host++) {
        setup.timing = "throughput";
        run_setup(&setup);
        setup.timing = "isolated";
        run_setup(&setup);
        setup.sockets = 2;
    }
    is_counting = false;
}
