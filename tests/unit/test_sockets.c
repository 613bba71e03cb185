/* test_sockets.c - several sockets per peer, between real processes */
#include <sys/prctl.h>
#include <sys/wait.h>

#include "agent/worker/host/sockets.h"
#include "common/base/clock.h"
#include "bench/rendezvous_stub.h"
#include "tests/unit/test.h"

#define BYTES ((size_t)5 << 20)
#define PATIENCE_NS INT64_C(20000000000) /* within a second, but for a busy machine */

struct rank {
    int rank, n;
    struct host_options asked;
    struct rendezvous_client *store;
    struct mesh *mesh;
    struct sockets *sockets;
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
    struct mesh_config config = {.join = {.rank = self->rank,
                                          .world_size = self->n,
                                          .store = self->store,
                                          .timeout_ms = 30000},
                                 .hostid = hostid};
    self->mesh = self->store ? mesh_create(&config, &err) : NULL;
    if (!self->mesh ||
        sockets_connect(self->mesh, &config, &self->asked, &self->sockets, &err)) {
        fprintf(stderr, "rank %d: %s\n", self->rank, err.text);
        return 1;
    }
    int status = body(self);
    sockets_destroy(self->sockets);
    mesh_destroy(self->mesh);
    rendezvous_client_destroy(self->store);
    return status;
}

/* dead: the rank that a signal ends, or -1. */
static void run_ranks(int n, const struct host_options *asked, body_fn *body, int dead)
{
    struct rendezvous_stub stub;
    pid_t children[8];
    int status;

    assert_int_equal(rendezvous_stub_start(&stub, NULL, 0), 0);
    for (int rank = 0; rank < n; rank++) {
        children[rank] = fork();
        if (children[rank] == 0) {
            struct rank self = {.rank = rank, .n = n, .asked = asked[rank]};
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
    struct flow out = {&self->mesh->data[to], (char *)send, len, 0};
    struct flow in = {&self->mesh->data[from], (char *)recv, len, 0};

    return mesh_exchange(self->mesh, &out, 1, &in, 1);
}

static unsigned char byte_of(int rank, size_t i)
{
    return (unsigned char)(i * 7 + i / 4096 + (size_t)rank);
}

/* The same number of bytes, to a chunk, over each socket. */
static int is_spread(const struct rank *self, size_t total)
{
    int n = self->n, to = (self->rank + 1) % n, from = (self->rank + n - 1) % n;
    int count = sockets_count(self->sockets);
    size_t least = total / (size_t)count - SOCKETS_CHUNK_BYTES, sum[2] = {0};

    for (int at = 0; at < count; at++) {
        uint64_t sent = sockets_bytes(self->sockets, to, at, true);
        uint64_t received = sockets_bytes(self->sockets, from, at, false);
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
        status = status || mesh_barrier(self->mesh, NULL);
        total += sizes[k];
    }
    if (!status && sockets_count(self->sockets) > 1)
        status = !is_spread(self, total);
    free(send);
    free(recv);
    return status;
}

TEST(bytes_arrive_spread_over_all_sockets)
{
    static const struct host_options kinds[] = {
        {.sockets = 1}, {.sockets = 2}, {.sockets = 3}, {.sockets = HOST_SOCKETS_MAX}};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct host_options asked[3] = {kinds[i], kinds[i], kinds[i]};
        run_ranks(2, asked, exchange_all, -1);
        run_ranks(3, asked, exchange_all, -1);
    }
}

static int has_two_sockets(struct rank *self)
{
    return sockets_count(self->sockets) != 2 || exchange_all(self);
}

TEST(ranks_agree_on_the_least)
{
    static const struct host_options asked[] = {
        {.sockets = 4}, {.sockets = 2}, {.sockets = 8}};

    run_ranks(3, asked, has_two_sockets, -1);
}

/* The loopback has no speed. */
static int has_the_meshs_own(struct rank *self)
{
    return self->sockets != NULL || self->mesh->data != self->mesh->endpoints;
}

TEST(an_unknown_speed_means_one_socket)
{
    static const struct host_options asked[2] = {{.sockets = 0}, {.sockets = 0}};

    run_ranks(2, asked, has_the_meshs_own, -1);
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
    watch_reason(&self->mesh->watch, &err);
    fprintf(stderr, "rank %d: %s\n", self->rank, err.text);
    return strncmp(err.text, "lost rank 1: ", 13) != 0 ||
           clock_monotonic_ns() - start_ns > PATIENCE_NS;
}

TEST(the_death_of_a_peer_is_noticed)
{
    static const struct host_options asked[2] = {{.sockets = 4}, {.sockets = 4}};

    run_ranks(2, asked, notice_death, 1);
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
