/* SPDX-License-Identifier: Apache-2.0 */
/* test_rendezvous_client.c - the TCPStore client against a small store, and against a
 * peer that misbehaves */
#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "agent/worker/group/rendezvous_client.h"
#include "common/base/clock.h"
#include "bench/rendezvous_stub.h"
#include "tests/unit/test.h"

struct fixture {
    struct rendezvous_stub stub;
    char port[16];
};

static void start_store(struct fixture *fixture)
{
    assert_int_equal(rendezvous_stub_start(&fixture->stub, NULL, 0), 0);
    snprintf(fixture->port, sizeof(fixture->port), "%d", fixture->stub.port);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    assert_non_null(fixture);
    start_store(fixture);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    rendezvous_stub_stop(&fixture->stub);
    free(fixture);
    return 0;
}

GROUP_FIXTURE(set_up, tear_down);

static struct rendezvous_client *connect_to(const struct fixture *fixture)
{
    struct error err = {0};
    struct rendezvous_client *client =
        rendezvous_client_connect("127.0.0.1", fixture->port, 60000, NULL, &err);

    if (!client)
        fail_msg("%s", err.text);
    return client;
}

TEST(values_come_back_as_they_were_set)
{
    struct rendezvous_client *client = connect_to(*state);
    static char large[50000];
    struct buf out;

    buf_init(&out, sizeof(large) + 1);
    memset(large, 'x', sizeof(large));
    assert_int_equal(rendezvous_client_set(client, "k", "a\0b", 3, NULL), 0);
    assert_int_equal(rendezvous_client_get(client, "k", &out, NULL), 0);
    assert_int_equal(out.len, 3);
    assert_memory_equal(out.data, "a\0b", 3);
    buf_clear(&out);
    assert_int_equal(rendezvous_client_set(client, "large", large, sizeof(large), NULL),
                     0);
    assert_int_equal(rendezvous_client_get(client, "large", &out, NULL), 0);
    assert_int_equal(out.len, sizeof(large));
    buf_clear(&out);
    assert_int_equal(rendezvous_client_get(client, "none", &out, NULL), 0);
    assert_int_equal(out.len, 0);
    buf_release(&out);
    rendezvous_client_destroy(client);
}

TEST(add_counts_up_and_down)
{
    struct rendezvous_client *client = connect_to(*state);
    int64_t value = 0;

    assert_int_equal(rendezvous_client_add(client, "n", 5, &value, NULL), 0);
    assert_int_equal(value, 5);
    assert_int_equal(rendezvous_client_add(client, "n", -7, &value, NULL), 0);
    assert_int_equal(value, -2);
    rendezvous_client_destroy(client);
}

TEST(the_first_compare_set_wins)
{
    struct rendezvous_client *client = connect_to(*state);
    struct buf out;

    buf_init(&out, 100);
    assert_int_equal(rendezvous_client_compare_set(client, "w", "", "one", &out, NULL),
                     0);
    assert_string_equal(out.data, "one");
    buf_clear(&out);
    assert_int_equal(rendezvous_client_compare_set(client, "w", "", "two", &out, NULL),
                     0);
    assert_string_equal(out.data, "one");
    buf_release(&out);
    rendezvous_client_destroy(client);
}

TEST(wait_ends_when_another_client_sets_the_key)
{
    struct fixture *fixture = *state;
    struct rendezvous_client *client = connect_to(fixture);
    const char *keys[] = {"later"};

    pid_t child = fork();
    if (child == 0) {
        struct rendezvous_client *other = connect_to(fixture);
        rendezvous_client_set(other, "later", "1", 1, NULL);
        rendezvous_client_destroy(other);
        _exit(0);
    }
    assert_int_equal(rendezvous_client_wait(client, keys, 1, 10000, NULL), 0);
    waitpid(child, NULL, 0);
    rendezvous_client_destroy(client);
}

TEST(a_wait_that_timed_out_leaves_the_connection_usable)
{
    struct rendezvous_client *client = connect_to(*state);
    const char *keys[] = {"never"};
    struct error err = {0};
    int64_t value;

    assert_int_equal(rendezvous_client_wait(client, keys, 1, 50, &err), -1);
    assert_int_equal(err.code, ERROR_TIMEOUT);
    assert_int_equal(rendezvous_client_set(client, "never", "x", 1, NULL), 0);
    assert_int_equal(rendezvous_client_add(client, "after", 1, &value, NULL), 0);
    assert_int_equal(value, 1);
    rendezvous_client_destroy(client);
}

TEST(a_stop_ends_a_wait_at_once)
{
    struct fixture *fixture = *state;
    atomic_int stop = 0;
    const char *keys[] = {"nothing"};
    struct error err = {0};
    struct rendezvous_client *client =
        rendezvous_client_connect("127.0.0.1", fixture->port, 60000, &stop, NULL);

    atomic_store(&stop, 1);
    int64_t start = clock_monotonic_ns();
    assert_int_equal(rendezvous_client_wait(client, keys, 1, 60000, &err), -1);
    assert_int_equal(err.code, ERROR_UNAVAILABLE);
    assert_true(clock_monotonic_ns() - start < 30000000000);
    rendezvous_client_destroy(client);
}

TEST(an_over_long_key_is_refused_before_it_is_sent)
{
    struct rendezvous_client *client = connect_to(*state);
    static char key[STORE_KEY_MAX + 2];
    struct error err = {0};
    int64_t value;

    memset(key, 'k', STORE_KEY_MAX + 1);
    assert_int_equal(rendezvous_client_set(client, key, "", 0, &err), -1);
    assert_int_equal(err.code, ERROR_LIMIT);
    assert_int_equal(rendezvous_client_add(client, "after", 1, &value, NULL), 0);
    rendezvous_client_destroy(client);
}

TEST(a_refused_connection_is_given_up_at_the_deadline)
{
    struct error err = {0};

    assert_null(rendezvous_client_connect("127.0.0.1", "1", 100, NULL, &err));
    assert_non_null(strstr(err.text, "127.0.0.1 port 1"));
}

/* A peer that plays back `bytes` to the handshake. */
static struct rendezvous_client *connect_to_liar(const char *bytes, size_t len,
                                                 struct error *err)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t at_len = sizeof(at);
    char port[16], in[64];
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
    listen(listener, 1);
    getsockname(listener, (struct sockaddr *)&at, &at_len);
    snprintf(port, sizeof(port), "%d", ntohs(at.sin_port));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        for (;;) {
            int fd = accept(listener, NULL, NULL);
            if (read(fd, in, sizeof(in)) > 0)
                (void)!write(fd, bytes, len);
            close(fd);
        }
    }
    close(listener);
    struct rendezvous_client *client =
        rendezvous_client_connect("127.0.0.1", port, 3000, NULL, err);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return client;
}

TEST(a_wrong_nonce_is_not_a_store)
{
    struct error err = {0};

    assert_null(connect_to_liar("\xff\xff\xff\xff", 4, &err));
    assert_int_equal(err.code, ERROR_PEER);
}

TEST(a_store_that_closes_is_noticed)
{
    struct error err = {0};

    assert_null(connect_to_liar("", 0, &err));
    assert_int_equal(err.code, ERROR_PEER);
}

TEST(a_dead_store_fails_every_later_call)
{
    struct fixture own = {0};
    struct rendezvous_client *client;
    struct error err = {0};
    int64_t value;

    start_store(&own);
    client = connect_to(&own);
    rendezvous_stub_stop(&own.stub);
    assert_int_equal(rendezvous_client_add(client, "n", 1, &value, &err), -1);
    assert_int_equal(rendezvous_client_add(client, "n", 1, &value, &err), -1);
    assert_int_equal(err.code, ERROR_PEER);
    rendezvous_client_destroy(client);
}

/* ---- A name with two addresses ---- */

/* In the place of getaddrinfo: this name has two addresses. Nothing listens for others at
 * the first one. */
#define TWOFOLD "twofold.test"
#define SILENT_ADDRESS "127.0.0.2"

int __real_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **list);
int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **list);

int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **list)
{
    if (strcmp(host, TWOFOLD) != 0)
        return __real_getaddrinfo(host, port, hints, list);
    if (__real_getaddrinfo(SILENT_ADDRESS, port, hints, list))
        return EAI_FAIL;
    return __real_getaddrinfo("127.0.0.1", port, hints, &(*list)->ai_next);
}

#define BACKLOG_MAX 8

/* Listens and accepts nothing: the queue is full, and the kernel drops what comes then.
 */
struct silence {
    int listener, clients[BACKLOG_MAX];
    int n;
};

static void fall_silent(struct silence *silence, int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int connected = 1;

    inet_pton(AF_INET, SILENT_ADDRESS, &at.sin_addr);
    silence->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(silence->listener, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(silence->listener, 0), 0);
    for (silence->n = 0; connected > 0 && silence->n < BACKLOG_MAX; silence->n++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        struct pollfd pollfd = {.fd = fd, .events = POLLOUT};

        (void)connect(fd, (struct sockaddr *)&at, sizeof(at));
        connected = poll(&pollfd, 1, 300);
        silence->clients[silence->n] = fd;
    }
    assert_int_equal(connected, 0);
}

static void end_silence(struct silence *silence)
{
    for (int i = 0; i < silence->n; i++)
        close(silence->clients[i]);
    close(silence->listener);
}

TEST(the_second_address_is_tried_where_the_first_is_silent)
{
    const struct fixture *fixture = *state;
    struct rendezvous_client *client;
    struct silence silence;
    struct error err = {0};
    int64_t value;

    fall_silent(&silence, fixture->stub.port);
    client = rendezvous_client_connect(TWOFOLD, fixture->port, 20000, NULL, &err);
    if (!client)
        fail_msg("%s", err.text);
    assert_int_equal(rendezvous_client_add(client, "twofold", 1, &value, NULL), 0);
    rendezvous_client_destroy(client);
    /* Less time than an address may take: a half of it is the second one's. */
    client = rendezvous_client_connect(TWOFOLD, fixture->port, 8000, NULL, &err);
    assert_non_null(client);
    rendezvous_client_destroy(client);
    end_silence(&silence);
}
