/* SPDX-License-Identifier: Apache-2.0 */
/* test_sockets.c - several sockets per peer, between real processes */
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "agent/worker/host/links.h"
#include "agent/worker/host/sockets.h"
#include "common/base/clock.h"
#include "bench/rendezvous_stub.h"
#include "tests/unit/test.h"

#define BYTES ((size_t)5 << 20)
#define PATIENCE_NS INT64_C(20000000000) /* within a second, but for a busy machine */

struct rank {
    int rank, n;
    int sockets; /* asked for */
    struct rendezvous_client *store;
    struct tree *tree;
    struct links *links;
};

/* In a process of its own: 0 is success. Every rank is a host of its own. */
typedef int body_fn(struct rank *self);

static int run_rank(struct rank *self, int port, body_fn *body)
{
    char text[16], hostid[32];
    struct error err = {0};

    snprintf(text, sizeof(text), "%d", port);
    snprintf(hostid, sizeof(hostid), "host-%d", self->rank);
    self->store = rendezvous_client_connect("127.0.0.1", text, 10000, NULL, &err);
    struct backend_env env = {.rank = self->rank,
                              .world_size = self->n,
                              .store = self->store,
                              .hostid = hostid,
                              .timeout_ms = 30000};
    struct tree_config config = backend_env_tree(&env);
    self->tree = self->store ? tree_create(&config, &err) : NULL;
    self->links = self->tree ? links_create(self->tree, &env, self->sockets, &err) : NULL;
    if (!self->links) {
        fprintf(stderr, "rank %d: %s\n", self->rank, err.text);
        return 1;
    }
    int status = body(self);
    tree_leave(self->tree);
    links_destroy(self->links);
    tree_destroy(self->tree);
    rendezvous_client_destroy(self->store);
    return status;
}

/* dead: the rank that a signal ends, or -1. */
static void run_ranks(int n, const int *asked, body_fn *body, int dead)
{
    struct rendezvous_stub stub;
    pid_t children[8];
    int status;

    assert_int_equal(rendezvous_stub_start(&stub, NULL, 0), 0);
    for (int rank = 0; rank < n; rank++) {
        children[rank] = fork();
        if (children[rank] == 0) {
            struct rank self = {.rank = rank, .n = n, .sockets = asked[rank]};
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            _exit(run_rank(&self, stub.port, body));
        }
    }
    for (int rank = 0; rank < n; rank++) {
        waitpid(children[rank], &status, 0);
        assert_int_equal(status, rank == dead ? SIGKILL : 0);
    }
    rendezvous_stub_stop(&stub);
}

static int exchange(struct rank *self, unsigned char *send, unsigned char *recv,
                    size_t len)
{
    int n = self->n, to = (self->rank + 1) % n, from = (self->rank + n - 1) % n;
    struct flow out = {links_to(self->links, to), (char *)send, len, 0};
    struct flow in = {links_to(self->links, from), (char *)recv, len, 0};

    return out.endpoint && in.endpoint ? links_exchange(self->links, &out, 1, &in, 1)
                                       : -1;
}

static unsigned char byte_of(int rank, size_t i)
{
    return (unsigned char)(i * 7 + i / 4096 + (size_t)rank);
}

/* The same number of bytes, to a chunk, over each socket. */
static int is_spread(const struct rank *self, size_t total)
{
    int n = self->n, to = (self->rank + 1) % n, from = (self->rank + n - 1) % n;
    int count = self->links->sockets;
    size_t least = total / (size_t)count - SOCKETS_CHUNK_BYTES, sum[2] = {0};

    for (int at = 0; at < count; at++) {
        uint64_t sent = sockets_bytes(&self->links->peers[to], at, true);
        uint64_t received = sockets_bytes(&self->links->peers[from], at, false);
        if (sent < least || received < least)
            return 0;
        sum[0] += sent;
        sum[1] += received;
    }
    return sum[0] == total && sum[1] == total;
}

/* Sizes that do not end with a chunk, so that each next one begins within one. */
static int exchange_all(struct rank *self)
{
    static const size_t sizes[] = {1, 131072, 70001, 8, BYTES - 3, 262144, 65537, BYTES};
    unsigned char *send = malloc(BYTES), *recv = malloc(BYTES);
    int from = (self->rank + self->n - 1) % self->n, status = 0;
    size_t total = 0;

    for (size_t i = 0; i < BYTES; i++)
        send[i] = byte_of(self->rank, i);
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]) && !status; k++) {
        memset(recv, 0, BYTES);
        status = exchange(self, send, recv, sizes[k]);
        for (size_t i = 0; i < sizes[k] && !status; i++)
            status = recv[i] != byte_of(from, i);
        status = status || tree_barrier(self->tree, NULL);
        total += sizes[k];
    }
    if (!status && self->links->sockets > 1)
        status = !is_spread(self, total);
    free(send);
    free(recv);
    return status;
}

TEST(bytes_arrive_spread_over_all_sockets)
{
    static const int kinds[] = {1, 2, 3, HOST_SOCKETS_MAX};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        int asked[3] = {kinds[i], kinds[i], kinds[i]};
        run_ranks(2, asked, exchange_all, -1);
        run_ranks(3, asked, exchange_all, -1);
    }
}

static int has_two_sockets(struct rank *self)
{
    return self->links->sockets != 2 || exchange_all(self);
}

TEST(ranks_agree_on_the_least)
{
    static const int asked[] = {4, 2, 8};

    run_ranks(3, asked, has_two_sockets, -1);
}

/* The loopback has no speed. */
static int has_one_socket(struct rank *self)
{
    return self->links->sockets != 1;
}

TEST(an_unknown_speed_means_one_socket)
{
    static const int asked[2] = {0, 0};

    run_ranks(2, asked, has_one_socket, -1);
}

/* ---- On first use ---- */

#define MANY 6

/* To which ranks there are sockets: a bit each. */
static unsigned opened(const struct rank *self)
{
    unsigned ranks = 0;

    for (int i = 0; i < self->n * self->links->sockets; i++)
        ranks |= self->links->fds[i] < 0 ? 0 : 1u << (i / self->links->sockets);
    return ranks;
}

static int opens_a_ring(struct rank *self)
{
    unsigned char send[8] = "a", recv[8];
    unsigned neighbours =
        1u << (self->rank + 1) % self->n | 1u << (self->rank + self->n - 1) % self->n;
    unsigned before = opened(self);
    int status = exchange(self, send, recv, sizeof(send));

    return status || before != 0 || opened(self) != neighbours;
}

TEST(an_algorithm_opens_the_sockets_that_it_names)
{
    static const int asked[MANY] = {1, 1, 1, 1, 1, 1}, several[MANY] = {2, 2, 2, 2, 2, 2};

    run_ranks(MANY, asked, opens_a_ring, -1);
    run_ranks(MANY, several, opens_a_ring, -1);
}

/* Rank 1 dies when it has all of the first bytes, which the other may still be reading.
 */
static int notice_death(struct rank *self)
{
    static unsigned char send[BYTES], recv[BYTES];
    struct error err = {0};
    int64_t start_ns = clock_monotonic_ns();

    if (self->rank == 1) {
        if (exchange(self, send, recv, BYTES))
            return 1;
        raise(SIGKILL);
    }
    while (!exchange(self, send, recv, BYTES))
        continue;
    watch_reason(&self->tree->watch, &err);
    fprintf(stderr, "rank %d: %s\n", self->rank, err.text);
    return strncmp(err.text, "lost rank 1: ", 13) != 0 ||
           clock_monotonic_ns() - start_ns > PATIENCE_NS;
}

TEST(the_death_of_a_peer_is_noticed)
{
    static const int asked[2] = {4, 4};

    run_ranks(2, asked, notice_death, 1);
}

/* As the worker's watchdog does, but later than the call fails. */
static void *learn_late(void *arg)
{
    struct rank *self = arg;

    poll(NULL, 0, 10);
    while (!watch_check(self->links->watch))
        tree_poll(self->tree);
    return NULL;
}

static int connect_to_the_dead(struct rank *self)
{
    unsigned char send[8] = "a", recv[8];
    pthread_t thread;

    if (self->rank == 0)
        raise(SIGKILL);
    struct pollfd pollfd = {.fd = self->tree->links[0].notice_fd, .events = POLLIN};
    poll(&pollfd, 1, -1);
    poll(NULL, 0, 20); /* until its port is closed, too */
    if (pthread_create(&thread, NULL, learn_late, self))
        return 1;
    int status = exchange(self, send, recv, sizeof(send));
    pthread_join(thread, NULL);
    return status == 0 || self->tree->watch.lost != 0;
}

TEST(a_death_before_the_first_call_is_named)
{
    static const int asked[2] = {1, 1};

    run_ranks(2, asked, connect_to_the_dead, 0);
}

TEST(the_number_follows_the_link)
{
    assert_int_equal(sockets_for_speed(-1), 1);
    assert_int_equal(sockets_for_speed(0), 1);
    assert_int_equal(sockets_for_speed(10000), 1);
    assert_int_equal(sockets_for_speed(25000), 1);
    assert_int_equal(sockets_for_speed(100000), 4);
    assert_int_equal(sockets_for_speed(800000), HOST_SOCKETS_MAX);
}
