/* SPDX-License-Identifier: Apache-2.0 */
/* test_tree.c - the control plane of a case, over real processes */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "agent/worker/group/tree.h"
#include "bench/rendezvous_stub.h"
#include "common/base/clock.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

#define RANKS 24
#define BIG 200000 /* more than a socket takes at once, times the ranks */
#define PATIENCE_NS INT64_C(20000000000) /* within 0.1 s, but for a busy machine */

#define REPORT_NS INT64_C(500000000)

/* What a rank does; its return value is the process's exit status. */
typedef int rank_fn(struct tree *tree);

static atomic_bool is_over;
static int late_rank = -1; /* whose watchdog comes after its other thread */

/* As the worker's watchdog does. */
static void *look_after(void *arg)
{
    struct tree *tree = arg;

    while (tree->rank == late_rank && !watch_check(&tree->watch) && !is_over)
        watch_nap();
    while (!is_over) {
        struct pollfd pollfd = {.fd = tree_fd(tree), .events = POLLIN};
        poll(&pollfd, 1, 50);
        tree_poll(tree);
    }
    return NULL;
}

static int as_rank(rank_fn *fn, int rank, int n, int per_host, int port)
{
    struct error err = {0};
    char text[16], hostid[32];
    pthread_t thread;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(text, sizeof(text), "%d", port);
    snprintf(hostid, sizeof(hostid), "host-%d", rank / per_host);
    struct rendezvous_client *store =
        rendezvous_client_connect("127.0.0.1", text, 10000, NULL, &err);
    struct tree_config config = {.rank = rank,
                                 .world_size = n,
                                 .store = store,
                                 .hostid = hostid,
                                 .timeout_ms = 20000};
    struct tree *tree = store ? tree_create(&config, &err) : NULL;
    if (!tree) {
        fprintf(stderr, "rank %d: %s\n", rank, err.text);
        return 99;
    }
    rendezvous_client_destroy(store);
    if (pthread_create(&thread, NULL, look_after, tree))
        return 98;
    int status = fn(tree);
    tree_leave(tree);
    is_over = true;
    pthread_join(thread, NULL);
    tree_destroy(tree);
    return status;
}

/* Run n ranks, so many of them on each host; statuses as of waitpid. */
static void run_ranks(rank_fn *fn, int n, int per_host, int *statuses)
{
    struct rendezvous_stub stub;
    pid_t pids[RANKS];

    assert_int_equal(rendezvous_stub_start(&stub, NULL, 0), 0);
    for (int rank = 0; rank < n; rank++) {
        pids[rank] = fork();
        if (pids[rank] == 0)
            _exit(as_rank(fn, rank, n, per_host, stub.port));
    }
    for (int rank = 0; rank < n; rank++)
        assert_int_equal(waitpid(pids[rank], &statuses[rank], 0), pids[rank]);
    rendezvous_stub_stop(&stub);
}

static int gather_all_sizes(struct tree *tree)
{
    static const size_t sizes[] = {0, 1, 16, 5000, BIG};
    size_t n = (size_t)tree->world_size;
    char *mine = malloc(BIG), *all = malloc(BIG * n);
    int wrong = 0;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t len = sizes[i];
        memset(mine, 'a' + tree->rank, len);
        if (len > 0)
            mine[0] = (char)('A' + tree->rank);
        wrong += tree_allgather(tree, mine, len, all, NULL) != 0;
        for (size_t other = 0; other < n && len > 0; other++) {
            const char *part = all + other * len;
            wrong += part[0] != (char)('A' + other);
            wrong += len > 1 && part[len - 1] != (char)('a' + other);
        }
        /* In place, too. */
        memmove(all + (size_t)tree->rank * len, mine, len);
        wrong +=
            tree_allgather(tree, all + (size_t)tree->rank * len, len, all, NULL) != 0;
        wrong += len > 1 && all[len * n - 1] != (char)('a' + n - 1);
        wrong += tree_barrier(tree, NULL) != 0;
    }
    free(mine);
    free(all);
    return wrong;
}

TEST(everybody_gets_everything)
{
    static const int per_host[] = {RANKS, 4, 1};
    int statuses[RANKS];

    for (size_t i = 0; i < sizeof(per_host) / sizeof(per_host[0]); i++) {
        run_ranks(gather_all_sizes, RANKS, per_host[i], statuses);
        for (int rank = 0; rank < RANKS; rank++)
            assert_int_equal(statuses[rank], 0);
    }
}

static int just_end(struct tree *tree)
{
    return tree_barrier(tree, NULL);
}

TEST(one_rank_is_enough)
{
    int status;

    run_ranks(just_end, 1, 1, &status);
    assert_int_equal(status, 0);
}

/* ---- Connections ---- */

static int option_of(int fd, int level, int option)
{
    int value = 0;
    socklen_t len = sizeof(value);

    return getsockopt(fd, level, option, &value, &len) ? -1 : value;
}

/* No more than a few, which are probed seldom, and live through 15 s without a network.
 */
static int is_sparing(struct tree *tree)
{
    int wrong = tree->n_links > TREE_WAYS + 1;

    wrong += tree->segment.self > 0 ? tree->n_links != 0 : tree->n_links == 0;
    for (int i = 0; i < tree->n_links; i++) {
        for (int k = 0; k < 2; k++) {
            int fd = k ? tree->links[i].fd : tree->links[i].notice_fd;
            int idle_s = option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE);
            int probing_s = option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL) *
                            option_of(fd, IPPROTO_TCP, TCP_KEEPCNT);
            wrong += option_of(fd, SOL_SOCKET, SO_KEEPALIVE) != 1;
            wrong += option_of(fd, IPPROTO_TCP, TCP_NODELAY) != 1;
            wrong += idle_s < 10 || probing_s <= 15 || idle_s + probing_s > 30;
        }
    }
    return wrong + tree_barrier(tree, NULL);
}

TEST(a_rank_has_few_connections_that_are_probed_seldom)
{
    int statuses[RANKS];

    run_ranks(is_sparing, RANKS, 2, statuses);
    for (int rank = 0; rank < RANKS; rank++)
        assert_int_equal(statuses[rank], 0);
}

/* ---- Deaths ---- */

static int victim;

static int check_loss(struct tree *tree, int64_t begun_ns)
{
    struct error err = {0};
    char start[32];

    snprintf(start, sizeof(start), "lost rank %d: ", victim);
    watch_reason(&tree->watch, &err);
    fprintf(stderr, "rank %d: %s, after %.1f ms\n", tree->rank, err.text,
            (double)(clock_monotonic_ns() - begun_ns) / 1e6);
    return tree->watch.lost != victim || err.code != ERROR_PEER ||
           strncmp(err.text, start, strlen(start)) != 0 ||
           tree_barrier(tree, NULL) != -1 ||
           clock_monotonic_ns() - begun_ns > PATIENCE_NS;
}

static int die_in_a_barrier(struct tree *tree)
{
    int64_t begun_ns;

    if (tree->rank == victim)
        kill(getpid(), SIGKILL);
    do
        begun_ns = clock_monotonic_ns();
    while (!tree_barrier(tree, NULL));
    return check_loss(tree, begun_ns);
}

/* The others do not use the tree: as ranks that measure. */
static int die_meanwhile(struct tree *tree)
{
    int64_t begun_ns = clock_monotonic_ns();

    if (tree->rank == victim)
        kill(getpid(), SIGKILL);
    while (!watch_check(&tree->watch) && clock_monotonic_ns() - begun_ns < PATIENCE_NS)
        watch_nap();
    return check_loss(tree, begun_ns);
}

static void check_deaths(int per_host, int who)
{
    static rank_fn *const kinds[] = {die_in_a_barrier, die_meanwhile};
    int statuses[12];

    victim = who;
    for (size_t i = 0; i < 2; i++) {
        run_ranks(kinds[i], 12, per_host, statuses);
        for (int rank = 0; rank < 12; rank++)
            assert_int_equal(statuses[rank], rank == who ? SIGKILL : 0);
    }
}

TEST(all_learn_of_a_death_on_their_host)
{
    check_deaths(12, 5);
    check_deaths(12, 0);
}

TEST(all_learn_of_a_death_on_another_host)
{
    check_deaths(3, 4); /* led by rank 3 */
    check_deaths(3, 3);
    check_deaths(3, 0);
    check_deaths(1, 11); /* below rank 1 in the tree */
    check_deaths(1, 1);
}

/* Rank 0 passes the news on from rank 3's host. */
TEST(a_measuring_thread_that_is_first_passes_a_death_on)
{
    int statuses[12];

    late_rank = 0;
    victim = 4;
    run_ranks(die_in_a_barrier, 12, 3, statuses);
    late_rank = -1;
    for (int rank = 0; rank < 12; rank++)
        assert_int_equal(statuses[rank], rank == victim ? SIGKILL : 0);
}

/* When this rank sleeps, and without a wake-up: that may have come too early. */
static void *publish_unseen(void *arg)
{
    struct tree *tree = arg;

    poll(NULL, 0, 50);
    int64_t now = clock_monotonic_ns();
    watch_publish(tree->watch.notice, 0, ERROR_PEER, "lost rank 0: by a test");
    return (void *)(intptr_t)now;
}

static int miss_a_wake_up(struct tree *tree)
{
    pthread_t thread;
    void *published_ns;

    if (tree->rank == 0) {
        while (!watch_check(&tree->watch))
            watch_nap();
        return 0;
    }
    if (pthread_create(&thread, NULL, publish_unseen, tree))
        return 97;
    tree_barrier(tree, NULL);
    int64_t end_ns = clock_monotonic_ns();
    pthread_join(thread, &published_ns);
    return end_ns - (intptr_t)published_ns > REPORT_NS;
}

TEST(a_missed_wake_up_delays_news_by_less_than_half_a_second)
{
    int statuses[2] = {0, 1};

    /* Several times, for a busy machine. */
    for (int i = 0; i < 5 && statuses[1] != 0; i++)
        run_ranks(miss_a_wake_up, 2, 2, statuses);
    assert_int_equal(statuses[1], 0);
}

/* ---- Joining ---- */

TEST(a_stop_ends_the_wait_for_the_others)
{
    struct rendezvous_stub stub;
    struct error err = {0};
    atomic_int stop = 1;
    char port[16];

    assert_int_equal(rendezvous_stub_start(&stub, NULL, 0), 0);
    snprintf(port, sizeof(port), "%d", stub.port);
    struct rendezvous_client *store =
        rendezvous_client_connect("127.0.0.1", port, 10000, &stop, &err);
    struct tree_config config = {
        .rank = 0, .world_size = 2, .store = store, .stop = &stop, .timeout_ms = 60000};
    if (store) /* else the stop was seen here already */
        assert_null(tree_create(&config, &err));
    assert_int_equal(err.code, ERROR_UNAVAILABLE);
    rendezvous_client_destroy(store);
    stop = 0;
    store = rendezvous_client_connect("127.0.0.1", port, 10000, &stop, &err);
    assert_non_null(store);
    config.store = store;
    config.timeout_ms = 500;
    assert_null(tree_create(&config, &err));
    assert_int_equal(err.code, ERROR_TIMEOUT);
    assert_mentions(err.text, "waiting for rank 1");
    rendezvous_client_destroy(store);
    rendezvous_stub_stop(&stub);
}

TEST(a_record_that_makes_no_sense_names_its_rank)
{
    static const char *const records[] = {
        "{}",
        "{\"hostid\":\"a\",\"machine\":\"b\",\"address\":\"a\",\"port\":1,\"pid\":1,"
        "\"fd\":3,\"token\":\"0011\"}",
    };
    struct rendezvous_stub stub;
    struct error err = {0};
    char port[16];

    assert_int_equal(rendezvous_stub_start(&stub, NULL, 0), 0);
    snprintf(port, sizeof(port), "%d", stub.port);
    struct rendezvous_client *store =
        rendezvous_client_connect("127.0.0.1", port, 10000, NULL, &err);
    struct tree_config config = {
        .rank = 0, .world_size = 2, .store = store, .timeout_ms = 20000};
    for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
        assert_int_equal(rendezvous_client_set(store, "ringbench/rank/1", records[i],
                                               strlen(records[i]), NULL),
                         0);
        assert_null(tree_create(&config, &err));
        assert_int_equal(err.code, ERROR_PEER);
        assert_mentions(err.text, "rank 1 malformed");
    }
    rendezvous_client_destroy(store);
    rendezvous_stub_stop(&stub);
}
