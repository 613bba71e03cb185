/* SPDX-License-Identifier: Apache-2.0 */
/* test_greeting.c - strangers at a rank's port: at the port itself, and at real workers
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include "agent/worker/group/greeting.h"
#include "agent/worker/group/rendezvous_client.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "bench/worker_group.h"
#include "tests/unit/case_fixture.h"
#include "tests/unit/test.h"

#define WAIT_MS 60000
#define STRANGERS 200
#define RANKS 3

static int connect_to(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

/* ---- The port itself ---- */

struct fixture {
    struct greeting_port port;
    int number, errors; /* where stderr went before */
    FILE *log;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    fixture->log = tmpfile();
    fflush(stderr);
    fixture->errors = dup(STDERR_FILENO);
    dup2(fileno(fixture->log), STDERR_FILENO);
    *state = fixture;
    return greeting_listen(&fixture->port, NULL, &fixture->number, NULL);
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    greeting_close(&fixture->port);
    dup2(fixture->errors, STDERR_FILENO);
    close(fixture->errors);
    fclose(fixture->log);
    free(fixture);
    return 0;
}

/* Let one in. */
static struct greeting_caller accept_one(struct fixture *fixture)
{
    struct greeting_caller caller;
    int status = 0;

    while (!status)
        status = greeting_accept(&fixture->port, WAIT_MS, &caller, NULL);
    assert_int_equal(status, 1);
    close(caller.fd);
    return caller;
}

static bool is_closed(int fd)
{
    struct pollfd pollfd = {.fd = fd, .events = POLLIN};
    char byte;

    return poll(&pollfd, 1, 0) > 0 && recv(fd, &byte, 1, MSG_DONTWAIT) <= 0;
}

/* Nobody is let in until fd has been closed. */
static void await_close(struct fixture *fixture, int fd)
{
    struct greeting_caller caller;

    while (!is_closed(fd))
        assert_int_equal(greeting_accept(&fixture->port, 1, &caller, NULL), 0);
    close(fd);
}

static int count_lines(struct fixture *fixture, const char *part)
{
    char line[1024];
    int n = 0;

    rewind(fixture->log);
    while (fgets(line, sizeof(line), fixture->log))
        n += strstr(line, part) != NULL;
    return n;
}

TEST_WITH(set_up, tear_down, a_rank_gets_in_past_the_silent_ones)
{
    struct fixture *fixture = *state;
    int silent[8], fd;

    for (int i = 0; i < 8; i++)
        silent[i] = connect_to(fixture->number);
    fd = connect_to(fixture->number);
    assert_int_equal(greeting_send(fd, fixture->port.token, 7, 3, NULL), 0);
    struct greeting_caller caller = accept_one(fixture);
    assert_int_equal(caller.rank, 7);
    assert_int_equal(caller.purpose, 3);
    close(fd);
    for (int i = 0; i < 8; i++)
        close(silent[i]);
    assert_int_equal(count_lines(fixture, ""), 0);
}

/* Once the accepting loop has had time to find the connection without bytes. */
static void *greet_late(void *arg)
{
    const struct fixture *fixture = arg;
    int fd = connect_to(fixture->number);

    poll(NULL, 0, 20);
    greeting_send(fd, fixture->port.token, 7, 3, NULL);
    return (void *)(intptr_t)fd;
}

/* With SYN cookies, the kernel does not hold a connection back until it has bytes. */
TEST_WITH(set_up, tear_down, a_greeting_may_come_after_its_connection)
{
    struct fixture *fixture = *state;
    int at_once = 0;
    pthread_t thread;
    void *fd;

    assert_int_equal(setsockopt(fixture->port.listener, IPPROTO_TCP, TCP_DEFER_ACCEPT,
                                &at_once, sizeof(at_once)),
                     0);
    assert_int_equal(pthread_create(&thread, NULL, greet_late, fixture), 0);
    struct greeting_caller caller;
    assert_int_equal(greeting_accept(&fixture->port, WAIT_MS, &caller, NULL), 1);
    assert_int_equal(caller.rank, 7);
    close(caller.fd);
    pthread_join(thread, &fd);
    close((int)(intptr_t)fd);
    assert_int_equal(count_lines(fixture, ""), 0);
}

TEST_WITH(set_up, tear_down, a_wrong_greeting_is_closed_and_said_once)
{
    struct fixture *fixture = *state;
    unsigned char wrong[TOKEN_BYTES];
    char noise[64] = "GET / HTTP/1.1\r\n\r\n";

    for (int i = 0; i < TOKEN_BYTES; i++) {
        int fd = connect_to(fixture->number);
        memcpy(wrong, fixture->port.token, sizeof(wrong));
        wrong[i] ^= 1;
        assert_int_equal(greeting_send(fd, wrong, 1, 0, NULL), 0);
        await_close(fixture, fd);
    }
    for (size_t len = 1; len <= sizeof(noise); len *= 2) {
        int fd = connect_to(fixture->number);
        assert_int_equal(send(fd, noise, len, 0), len);
        await_close(fixture, fd);
    }
    assert_int_equal(count_lines(fixture, "closed a connection from 127.0.0.1 port "), 1);
    assert_int_equal(count_lines(fixture, "it did not send the greeting of a rank"), 1);
}

TEST_WITH(set_up, tear_down, a_token_is_read_as_it_is_written)
{
    struct fixture *fixture = *state;
    unsigned char token[TOKEN_BYTES];
    char text[TOKEN_TEXT];

    greeting_format_token(fixture->port.token, text);
    assert_int_equal(greeting_parse_token(text, token), 0);
    assert_memory_equal(token, fixture->port.token, TOKEN_BYTES);
    text[TOKEN_TEXT - 2] = '\0';
    assert_int_equal(greeting_parse_token(text, token), -1);
    memset(text, 'x', TOKEN_TEXT - 1);
    assert_int_equal(greeting_parse_token(text, token), -1);
}

/* ---- Real workers ---- */

static void write_case(const char *backend)
{
    json_t *json = json_pack(
        "{s:s, s:i, s:i, s:s, s:i, s:[s], s:[s], s:[s], s:i, s:b, s:i, s:i, s:i, s:i,"
        " s:s, s:i, s:[i]}",
        "run", "r", "case", 0, "attempt", 1, "backend", backend, "world_size", RANKS,
        "collectives", "all_reduce", "dtypes", "float32", "redops", "sum", "root", 0,
        "in_place", 0, "iters", 1, "warmup", 0, "agg_iters", 1, "check", 0, "timing",
        "throughput", "seed", 1, "sizes", 8);

    assert_non_null(json);
    case_write(json);
}

/* The port that a rank has published under this key. */
static int port_of(struct rendezvous_client *store, const char *key)
{
    struct buf text;

    buf_init(&text, 4096);
    assert_int_equal(rendezvous_client_wait(store, &key, 1, WAIT_MS, NULL), 0);
    assert_int_equal(rendezvous_client_get(store, key, &text, NULL), 0);
    json_t *record = json_parse(text.data, text.len, NULL);
    const json_t *port = json_object_get(record, "port");
    int number = json_is_string(port) ? atoi(json_string_value(port))
                                      : (int)json_integer_value(port);
    json_decref(record);
    buf_release(&text);
    assert_true(number > 0);
    return number;
}

struct seen {
    unsigned ok; /* ranks, a bit each */
    int64_t limit_ns;
    bool is_late;
};

static void note(void *arg, int rank, const char *line, size_t len)
{
    struct seen *seen = arg;
    json_t *event = json_parse(line, len, NULL);

    if (strcmp(json_get_str(event, "type", ""), "done") == 0 &&
        json_get_bool(event, "ok", false))
        seen->ok |= 1u << rank;
    json_decref(event);
    /* Workers that wait report that, too. */
    seen->is_late = clock_monotonic_ns() > seen->limit_ns;
}

static void check_workers(const char *backend, const char *program, const char *key)
{
    struct worker_group group;
    int strangers[STRANGERS];
    struct seen seen = {.limit_ns = clock_monotonic_ns() + WAIT_MS * INT64_C(1000000)};
    char port[16];

    write_case(backend);
    assert_int_equal(worker_group_open(&group, RANKS), 0);
    for (int rank = 0; rank < RANKS - 1; rank++)
        assert_int_equal(worker_group_add(&group, program, case_path, rank, 1), 0);
    snprintf(port, sizeof(port), "%d", group.store.port);
    struct rendezvous_client *store =
        rendezvous_client_connect("127.0.0.1", port, WAIT_MS, NULL, NULL);
    assert_non_null(store);
    for (int i = 0, at = port_of(store, key); i < STRANGERS; i++)
        strangers[i] = connect_to(at);
    /* The last rank comes when they are there. */
    assert_int_equal(worker_group_add(&group, program, case_path, RANKS - 1, 1), 0);
    assert_int_equal(worker_group_read(&group, WAIT_MS, &seen.is_late, note, &seen), 0);
    assert_int_equal(seen.ok, (1u << RANKS) - 1);
    for (int i = 0; i < STRANGERS; i++)
        close(strangers[i]);
    rendezvous_client_destroy(store);
    worker_group_end(&group);
}

TEST(strangers_hold_up_no_host_ranks)
{
    check_workers("host", WORKER_HOST, "ringbench/rank/0");
}

TEST(strangers_hold_up_no_simulated_ranks)
{
    check_workers("sim", WORKER_SIM, "ringbench/rank/0");
}

GROUP_FIXTURE(make_case_file, remove_case_file);
