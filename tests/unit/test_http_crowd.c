/* SPDX-License-Identifier: Apache-2.0 */
/* test_http_crowd.c - more connections than there is room for: who goes, and who gets in
 */
#include <sys/resource.h>
#include <sys/socket.h>

#include "http_fixture.h"
#include "tests/unit/test.h"

#define ROOM 40
#define CROWD 60
#define ASKED_MAX 100000
#define PACED_BYTES ((size_t)32 << 20)
#define LARGE_BYTES ((size_t)16 << 20)

static struct fixture *fixture;

static int start(void **state)
{
    (void)state;
    fixture = fixture_start(&(struct fixture_options){.max_connections = ROOM});
    return 0;
}

#define SMALL ((size_t)4 << 20) /* that may be unread */
#define MEDIUM ((size_t)40 << 20)

static int start_small(void **state)
{
    (void)state;
    fixture = fixture_start(&(struct fixture_options){.max_unread = SMALL});
    return 0;
}

static int start_medium(void **state)
{
    (void)state;
    fixture = fixture_start(&(struct fixture_options){.max_unread = MEDIUM});
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fixture_stop(fixture);
    return 0;
}

/* Whether the server has closed it, or does so before the client's patience ends. */
static bool is_closed(int fd)
{
    char byte;

    return client_receive(fd, &byte, 1) <= 0;
}

static void open_crowd(int fds[CROWD], const char *text)
{
    struct reply reply;

    for (int i = 0; i < CROWD; i++) {
        fds[i] = client_connect(fixture);
        client_send(fds[i], text);
        if (strstr(text, "\r\n\r\n")) {
            client_read(fds[i], false, &reply);
            assert_int_equal(reply.status, 200);
            reply_release(&reply);
        }
    }
}

static void close_crowd(int *fds, int n)
{
    for (int i = 0; i < n; i++)
        close(fds[i]);
}

static void lets_others_in_past(const char *text)
{
    int fds[CROWD];

    open_crowd(fds, text);
    client_expect(fixture, "GET /healthz", "", NULL, 200);
    assert_true(is_closed(fds[0]));
    assert_int_not_equal(fixture_counter(fixture, "reclaimed"), 0);
    close_crowd(fds, CROWD);
}

TEST_WITH(start, stop, lets_others_in_past_silent_connections)
{
    lets_others_in_past("");
}

TEST_WITH(start, stop, lets_others_in_past_halves_of_requests)
{
    lets_others_in_past("GET /healthz HTTP/1.1\r\nHost: loc");
}

TEST_WITH(start, stop, lets_others_in_past_idle_connections)
{
    lets_others_in_past("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

TEST_WITH(start, stop, lets_others_in_past_bodies_that_do_not_come)
{
    int fds[CROWD];

    for (int i = 0; i < CROWD; i++) {
        fds[i] = client_connect(fixture);
        client_send(fds[i], "POST /api/echo HTTP/1.1\r\nHost: localhost\r\n"
                            "Content-Length: 10\r\n\r\n");
    }
    client_expect(fixture, "GET /healthz", "", NULL, 200);
    assert_true(is_closed(fds[0]));
    close_crowd(fds, CROWD);
}

/* Each asks for more than the kernel holds for it, so that its last answer does not end.
 */
static void lets_others_in_past_those_that_do_not_read(const char *target)
{
    char request[128];
    int fds[CROWD];

    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
             target);
    for (int i = 0; i < CROWD; i++) {
        fds[i] = client_connect(fixture);
        for (int j = 0; j < 100; j++)
            client_send(fds[i], request);
    }
    for (int i = 0; i < 10; i++)
        client_expect(fixture, "GET /healthz", "", NULL, 200);
    close_crowd(fds, CROWD);
}

TEST_WITH(start, stop, lets_others_in_past_unread_small_answers)
{
    lets_others_in_past_those_that_do_not_read("/api/bytes/60000");
}

TEST_WITH(start, stop, lets_others_in_past_unread_large_answers)
{
    lets_others_in_past_those_that_do_not_read("/api/bytes/300000");
}

static void park(int *fds, int n)
{
    for (int i = 0; i < n; i++) {
        fds[i] = client_connect(fixture);
        client_send(fds[i], "GET /api/park HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_true(fixture_wait(&fixture->on_parked, 1, WAIT_S));
    }
}

TEST_WITH(start, stop, keeps_those_that_wait_for_their_answer)
{
    int parked[ROOM / 2], silent[CROWD];
    struct reply reply;

    park(parked, ROOM / 2);
    open_crowd(silent, "");
    client_expect(fixture, "POST /api/wake", "", NULL, 200);
    for (int i = 0; i < ROOM / 2; i++) {
        client_read(parked[i], false, &reply);
        assert_int_equal(reply.status, 200);
        reply_release(&reply);
    }
    close_crowd(parked, ROOM / 2);
    close_crowd(silent, CROWD);
}

TEST_WITH(start, stop, refuses_where_nobody_can_go)
{
    int parked[ROOM], one;

    park(parked, ROOM);
    one = client_connect(fixture);
    assert_true(is_closed(one));
    close(one);
    close(parked[0]);
    assert_true(fixture_wait(&fixture->on_gone, 1, WAIT_S));
    close_crowd(parked + 1, ROOM - 1);
}

TEST_WITH(start, stop, takes_a_head_in_pieces)
{
    static const char *const pieces[] = {
        "G", "ET /healthz HT", "TP/1.1\r", "\n", "Host: localhost\r\n", "\r", "\n"};
    int fd = client_connect(fixture);
    struct reply reply;

    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        client_send(fd, pieces[i]);
        /* Another exchange, so that the server has seen it. */
        client_expect(fixture, "GET /healthz", "", NULL, 200);
    }
    client_read(fd, false, &reply);
    assert_int_equal(reply.status, 200);
    reply_release(&reply);
    close(fd);
}

/* What may still become a request waits with the silent ones. */
TEST_WITH(start, stop, an_odd_opening_is_no_way_in)
{
    static const char *const openings[] = {"x", "\n", "\r\n", "\x16", "{\"a\":"};
    enum { OPENINGS = sizeof(openings) / sizeof(openings[0]) };
    int fds[OPENINGS];

    for (int i = 0; i < OPENINGS; i++) {
        fds[i] = client_connect(fixture);
        client_send(fds[i], openings[i]);
        assert_int_equal(fixture_counter(fixture, "waiting"), i + 1);
    }
    close_crowd(fds, OPENINGS);
}

/* Closes no more than it must where the process has no descriptor left. */
TEST_WITH(start, stop, one_makes_room_for_one)
{
    struct rlimit all, none;
    int silent[ROOM / 4], filler[256], n = 0, one;
    struct reply reply;

    for (int i = 0; i < ROOM / 4; i++)
        silent[i] = client_connect(fixture);
    assert_int_equal(fixture_counter(fixture, "waiting"), ROOM / 4);
    getrlimit(RLIMIT_NOFILE, &all);
    one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    none = (struct rlimit){256, all.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    while (n < 256 && (filler[n] = dup(one)) >= 0)
        n++;
    client_connect_on(one, fixture);
    client_send(one, "GET /counters HTTP/1.1\r\nHost: localhost\r\n\r\n");
    client_read(one, false, &reply);
    setrlimit(RLIMIT_NOFILE, &all);
    assert_int_equal(reply.status, 200);
    reply_release(&reply);
    /* None where the server was still to close the connection before. */
    assert_in_range(fixture_counter(fixture, "reclaimed"), 0, 1);
    assert_in_range(fixture_counter(fixture, "waiting"), ROOM / 4 - 1, ROOM / 4);
    close_crowd(silent, ROOM / 4);
    close_crowd(filler, n);
    close(one);
}

/* Until nothing moves any more: a connection that can still take bytes takes some between
 * two questions. */
static void await_standstill(void)
{
    long last = -1;

    for (int same = 0; same < 20; same++) {
        long unread = fixture_counter(fixture, "unread_bytes");

        if (unread != last)
            same = 0;
        last = unread;
    }
}

/* Clients that ask and do not read. Who does read gets all, and memory is bounded. */
static void serves_readers_past(int n, const char *target, size_t len, size_t unread)
{
    char request[128];
    int fds[CROWD], asked = 0;
    struct reply reply;

    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
             target);
    for (int i = 0; i < n; i++) {
        fds[i] = client_connect(fixture);
        client_send(fds[i], request);
    }
    while (fixture_counter(fixture, "dropped") == 0)
        if (++asked == ASKED_MAX)
            fail_msg("none of %d clients was dropped", n);
    await_standstill();
    snprintf(request, sizeof(request), "GET %s", target);
    client_ask(fixture, request, "", NULL, &reply);
    assert_int_equal(reply.status, 200);
    assert_false(reply.is_truncated);
    assert_int_equal(reply.len, len);
    reply_release(&reply);
    assert_in_range(fixture_counter(fixture, "unread_bytes"), 1, unread);
    close_crowd(fds, n);
}

TEST_WITH(start_small, stop, serves_readers_of_streams_past_others)
{
    serves_readers_past(CROWD, "/api/paced", PACED_BYTES, SMALL);
}

TEST_WITH(start_medium, stop, serves_readers_of_large_answers_past_others)
{
    serves_readers_past(6, "/api/large", LARGE_BYTES, MEDIUM);
}

/* Together they get ten times what may be unread, and the first read nothing. */
TEST_WITH(start_small, stop, drops_no_reader_of_what_all_get_at_once)
{
    enum { READERS = 16, SILENT = 2 };
    int silent[SILENT], readers[READERS];
    struct reply reply;

    park(readers, READERS);
    park(silent, SILENT); /* the last are woken first */
    client_expect(fixture, "POST /api/wake/2000000", "", NULL, 204);
    for (int i = READERS - 1; i >= 0; i--) {
        client_read(readers[i], false, &reply);
        assert_int_equal(reply.status, 200);
        assert_false(reply.is_truncated);
        reply_release(&reply);
    }
    assert_in_range(fixture_counter(fixture, "dropped"), 1, SILENT);
    close_crowd(silent, SILENT);
    close_crowd(readers, READERS);
}

static void expect(int fd, int status)
{
    struct reply reply;

    client_read(fd, false, &reply);
    assert_int_equal(reply.status, status);
    reply_release(&reply);
}

/* More than are made into text in a turn of the loop. */
TEST_WITH(start_medium, stop, answers_what_all_get_at_once_in_several_turns)
{
    enum { AGENTS = 220 };
    int fds[AGENTS];

    park(fds, AGENTS);
    client_expect(fixture, "POST /api/wake/10", "", NULL, 204);
    for (int i = 0; i < AGENTS; i++)
        expect(fds[i], 200);
    close_crowd(fds, AGENTS);
}

TEST_WITH(start_small, stop, forgets_who_left_before_its_turn)
{
    int fds[6];

    park(fds, 6);
    client_expect(fixture, "POST /api/wake/2000000", "", NULL, 204);
    assert_int_equal(fixture_counter(fixture, "dropped"), 0);
    close_crowd(fds, 6);
    client_expect(fixture, "GET /healthz", "", NULL, 200);
}

/* Ask, without reading the answer. */
static void ask(int fd, const char *target)
{
    char text[128];

    snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", target);
    client_send(fd, text);
}

/* The library has had a request of this one. */
static int known_client(void)
{
    int fd = client_connect(fixture);

    ask(fd, "/healthz");
    expect(fd, 200);
    return fd;
}

/* Keep the server's thread; what comes now is there all at once in its next turn. */
static void hold_server(int fd)
{
    ask(fd, "/api/hold");
    assert_true(fixture_wait(&fixture->on_held, 1, WAIT_S));
}

static void send_body_to(int fd, const char *target, size_t len)
{
    char *text = malloc(len + 128);
    int head = sprintf(text,
                       "POST %s HTTP/1.1\r\nHost: localhost\r\n"
                       "Content-Length: %zu\r\n\r\n",
                       target, len);

    memset(text + head, 'x', len);
    client_send_bytes(fd, text, (size_t)head + len);
    free(text);
}

static void send_body(int fd, size_t len)
{
    send_body_to(fd, "/api/length", len);
}

/* While the server is held by the client that is returned. */
static int send_bodies(int *fds, int n, size_t len)
{
    int held = known_client();

    for (int i = 0; i < n; i++)
        fds[i] = known_client();
    hold_server(held);
    for (int i = 0; i < n; i++)
        send_body(fds[i], len);
    return held;
}

TEST_WITH(start, stop, handles_one_large_body_per_turn)
{
    int fds[8], held = send_bodies(fds, 8, 60000);

    sem_post(&fixture->release);
    expect(held, 204);
    for (int i = 0; i < 8; i++)
        expect(fds[i], 200);
    close(held);
    close_crowd(fds, 8);
    assert_int_equal(fixture->most_bodies_per_turn, 1);
}

/* Others are served in between. */
TEST_WITH(start, stop, handles_slow_bodies_in_several_turns)
{
    int fds[8], held;

    fixture->body_ms = 5;
    held = send_bodies(fds, 8, 8000);
    sem_post(&fixture->release);
    expect(held, 204);
    for (int i = 0; i < 8; i++)
        expect(fds[i], 200);
    close(held);
    close_crowd(fds, 8);
    assert_int_equal(fixture->most_bodies_per_turn, 1);
}

TEST_WITH(start, stop, small_bodies_do_not_wait_for_large_ones)
{
    int fds[8], small = known_client(), held;

    fixture->held_body = 1;
    fixture->body_ms = 50; /* in which the small one comes */
    held = send_bodies(fds, 8, 60000);
    sem_post(&fixture->release);
    assert_true(fixture_wait(&fixture->on_held, 1, WAIT_S));
    send_body(small, 100);
    sem_post(&fixture->release);
    expect(small, 200);
    /* After the one under way, and not after all the others. */
    assert_in_range(fixture->small_body, 2, 5);
    expect(held, 204);
    for (int i = 0; i < 8; i++)
        expect(fds[i], 200);
    close_crowd(fds, 8);
    close_crowd((int[]){small, held}, 2);
}

/* A thousand agents may have news at the same time. */
TEST_WITH(start, stop, people_do_not_wait_for_agents)
{
    int fds[8], person = known_client(), held = known_client();

    fixture->held_body = 1;
    fixture->body_ms = 50; /* in which the person's comes */
    for (int i = 0; i < 8; i++)
        fds[i] = known_client();
    hold_server(held);
    for (int i = 0; i < 8; i++)
        send_body_to(fds[i], "/api/events", 8000);
    sem_post(&fixture->release);
    assert_true(fixture_wait(&fixture->on_held, 1, WAIT_S));
    send_body(person, 100);
    sem_post(&fixture->release);
    expect(person, 200);
    assert_in_range(fixture->small_body, 2, 5);
    expect(held, 204);
    for (int i = 0; i < 8; i++)
        expect(fds[i], 200);
    close_crowd(fds, 8);
    close_crowd((int[]){person, held}, 2);
}

TEST_WITH(start, stop, forgets_large_bodies_of_those_who_left)
{
    int fds[8], held = send_bodies(fds, 8, 60000);

    close_crowd(fds, 8);
    sem_post(&fixture->release);
    expect(held, 204);
    close(held);
    client_expect(fixture, "GET /healthz", "", NULL, 200);
}

/* They are told in several turns of the loop, since it takes long, and nothing else
 * happens then. */
TEST_WITH(start, stop, tells_all_streams_whose_clients_left)
{
    enum { STREAMS = 8 };
    int fds[STREAMS], held = known_client();

    fixture->gone_ms = 10;
    for (int i = 0; i < STREAMS; i++) {
        fds[i] = client_connect(fixture);
        ask(fds[i], "/api/open");
        assert_true(fixture_wait(&fixture->on_stream, 1, WAIT_S));
    }
    hold_server(held);
    close_crowd(fds, STREAMS);
    sem_post(&fixture->release);
    expect(held, 204);
    assert_true(fixture_wait(&fixture->on_gone, STREAMS, WAIT_S));
    close(held);
}
