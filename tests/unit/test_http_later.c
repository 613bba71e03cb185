/* SPDX-License-Identifier: Apache-2.0 */
/* test_http_later.c - answers that come later: parked requests, streams, closing */
#include <sys/socket.h>

#include "http_fixture.h"
#include "tests/unit/test.h"

#define PARKED_MANY 1000
#define GET(target) "GET " target " HTTP/1.1\r\nHost: localhost\r\n\r\n"

static struct fixture *fixture;

static int start(void **state)
{
    (void)state;
    fixture = fixture_start(&(struct fixture_options){.max_streams = 2});
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fixture_stop(fixture);
    return 0;
}

EACH_FIXTURE(start, stop);

static int ask(const char *text)
{
    int fd = client_connect(fixture);

    client_send(fd, text);
    return fd;
}

static void expect(int fd, int status, const char *body)
{
    struct reply reply;

    client_read(fd, false, &reply);
    assert_int_equal(reply.status, status);
    if (body)
        assert_string_equal(reply.body, body);
    reply_release(&reply);
}

TEST(answers_from_a_timer)
{
    int fd = ask(GET("/api/slow"));

    /* Nothing else happens on the server: the resume alone must wake it. */
    expect(fd, 200, "late\n");
    client_send(fd, GET("/api/slow"));
    expect(fd, 200, "late\n");
    close(fd);
}

TEST(keeps_order_behind_a_parked_request)
{
    int fd = ask(GET("/api/park") GET("/api/ok"));

    assert_true(fixture_wait(&fixture->on_parked, 1, WAIT_S));
    client_expect(fixture, "POST /api/wake", "", NULL, 200);
    expect(fd, 200, "woken\n");
    expect(fd, 200, "ok\n");
    close(fd);
}

TEST(notices_a_parked_client_that_leaves)
{
    int fd = ask(GET("/api/park"));

    assert_true(fixture_wait(&fixture->on_parked, 1, WAIT_S));
    assert_int_equal(fixture_counter(fixture, "connections"), 2);
    close(fd);
    assert_true(fixture_wait(&fixture->on_gone, 1, WAIT_S));
    fd = ask(GET("/api/park"));
    assert_true(fixture_wait(&fixture->on_parked, 1, WAIT_S));
    shutdown(fd, SHUT_WR);
    assert_true(fixture_wait(&fixture->on_gone, 1, WAIT_S));
    close(fd);
    client_expect(fixture, "POST /api/wake", "", NULL, 200);
}

TEST(parks_the_same_connection_again_and_again)
{
    int fd = client_connect(fixture);

    for (int i = 0; i < 50; i++) {
        client_send(fd, GET("/api/park"));
        assert_true(fixture_wait(&fixture->on_parked, 1, WAIT_S));
        client_expect(fixture, "POST /api/wake", "", NULL, 200);
        expect(fd, 200, "woken\n");
    }
    close(fd);
}

TEST(wakes_many)
{
    static int fds[PARKED_MANY];
    struct reply reply;

    for (int i = 0; i < PARKED_MANY; i++)
        fds[i] = ask(GET("/api/park"));
    assert_true(fixture_wait(&fixture->on_parked, PARKED_MANY, WAIT_S));
    client_ask(fixture, "POST /api/wake", "", NULL, &reply);
    assert_string_equal(reply.body, "{\"woken\":1000}\n");
    reply_release(&reply);
    for (int i = 0; i < PARKED_MANY; i++) {
        expect(fds[i], 200, "woken\n");
        client_send(fds[i], GET("/api/park"));
    }
    assert_true(fixture_wait(&fixture->on_parked, PARKED_MANY, WAIT_S));
    for (int i = 0; i < PARKED_MANY; i++)
        close(fds[i]);
    assert_true(fixture_wait(&fixture->on_gone, PARKED_MANY, WAIT_S));
}

TEST(streams_every_write_in_order)
{
    struct reply reply;
    int fd = ask(GET("/api/burst") GET("/api/ok"));
    char *line;

    client_read(fd, false, &reply);
    assert_int_equal(reply.status, 200);
    assert_false(reply.is_truncated);
    line = reply.body;
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(strtol(line, &line, 10), i);
        assert_int_equal(*line++, '\n');
    }
    assert_int_equal(*line, '\0');
    reply_release(&reply);
    /* The end of a stream is not the end of its connection. */
    expect(fd, 200, "ok\n");
    close(fd);
    fd = ask("HEAD /api/burst HTTP/1.1\r\nHost: localhost\r\n\r\n");
    client_read(fd, true, &reply);
    assert_int_equal(reply.status, 200);
    reply_release(&reply);
    close(fd);
}

/* All that was written arrives, and then no sign of a proper end. */
TEST(breaks_off_a_partial_stream)
{
    int fd = ask(GET("/api/partial"));
    struct reply reply;

    client_read(fd, false, &reply);
    assert_int_equal(reply.status, 200);
    assert_string_equal(reply.body, "half\n");
    assert_true(reply.is_truncated);
    reply_release(&reply);
    close(fd);
    fd = ask(GET("/api/ok"));
    expect(fd, 200, "ok\n");
    close(fd);
}

TEST(closes_a_stream_to_an_old_client)
{
    struct reply reply;
    int fd = ask("GET /api/burst HTTP/1.0\r\n\r\n");

    client_read(fd, false, &reply);
    assert_int_equal(reply.status, 200);
    assert_int_equal(reply.len, 48890);
    reply_release(&reply);
    close(fd);
}

TEST(lets_a_writer_wait_for_a_slow_reader)
{
    struct reply reply;
    int fd = ask(GET("/api/paced"));

    assert_true(fixture_wait(&fixture->on_stalled, 1, WAIT_S));
    /* The server serves others while this client reads nothing. */
    for (int i = 0; i < 20; i++)
        client_expect(fixture, "GET /api/slow", "", NULL, 200);
    client_read(fd, false, &reply);
    assert_false(reply.is_truncated);
    assert_int_equal(reply.len, (size_t)32 << 20);
    assert_true(fixture->max_queued <= FIXTURE_PACED_LIMIT + 65536);
    reply_release(&reply);
    close(fd);
}

TEST(notices_a_client_that_leaves_a_full_stream)
{
    int fd = ask(GET("/api/paced"));

    assert_true(fixture_wait(&fixture->on_stalled, 1, WAIT_S));
    close(fd);
    assert_true(fixture_wait(&fixture->on_gone, 1, WAIT_S));
}

TEST(drops_a_client_for_which_too_much_piles_up)
{
    struct reply reply;
    int fd = ask(GET("/api/flood"));

    assert_true(fixture_wait(&fixture->on_gone, 1, WAIT_S));
    client_read(fd, false, &reply);
    /* It may be dropped before the head of its answer is sent. */
    assert_true(reply.is_truncated || reply.status == 0);
    reply_release(&reply);
    close(fd);
}

/* Read what an open stream has sent so far, up to a text. */
static void read_until(int fd, const char *text)
{
    char got[1024] = "";
    size_t len = 0;

    while (!strstr(got, text)) {
        ssize_t n = client_receive(fd, got + len, sizeof(got) - 1 - len);

        assert_true(n > 0);
        len += (size_t)n;
        got[len] = '\0';
    }
}

TEST(notices_an_idle_stream_client_that_leaves)
{
    int fd = ask(GET("/api/open"));

    read_until(fd, ": hello");
    assert_int_equal(fixture_counter(fixture, "streams"), 1);
    for (int i = 0; i < 100; i++) {
        client_expect(fixture, "POST /api/publish", "", NULL, 204);
        read_until(fd, "data: x");
    }
    close(fd);
    assert_true(fixture_wait(&fixture->on_gone, 1, WAIT_S));
    client_expect(fixture, "POST /api/publish", "", NULL, 409);
    assert_int_equal(fixture_counter(fixture, "streams"), 0);
}

TEST(limits_streams)
{
    int a = ask(GET("/api/open")), b = ask(GET("/api/open")), c;

    read_until(a, ": hello");
    read_until(b, ": hello");
    c = ask(GET("/api/open"));
    expect(c, 503, NULL);
    close(a);
    assert_true(fixture_wait(&fixture->on_gone, 1, WAIT_S));
    /* The count falls when the connection is done, which is before gone runs. */
    client_send(c, GET("/api/open"));
    read_until(c, ": hello");
    close(b);
    close(c);
    assert_true(fixture_wait(&fixture->on_gone, 2, WAIT_S));
}

TEST(closes_with_everything_open)
{
    int parked[10], stream = ask(GET("/api/open")), slow = ask(GET("/api/paced"));
    int late = ask(GET("/api/unparked")), idle = client_connect(fixture);
    int half =
        ask("POST /api/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nx");
    struct reply reply;

    for (int i = 0; i < 10; i++)
        parked[i] = ask(GET("/api/park"));
    assert_true(fixture_wait(&fixture->on_parked, 11, WAIT_S));
    assert_true(fixture_wait(&fixture->on_stream, 1, WAIT_S));
    assert_true(fixture_wait(&fixture->on_stalled, 1, WAIT_S));
    fixture_begin_stop(fixture);
    /* Ten parked ones, two streams. */
    assert_true(fixture_wait(&fixture->on_gone, 12, WAIT_S));
    for (int i = 0; i < 10; i++) {
        expect(parked[i], 503, NULL);
        close(parked[i]);
    }
    expect(late, 503, NULL);
    client_read(stream, false, &reply);
    assert_int_equal(reply.status, 200);
    assert_string_equal(reply.body, ": hello\n\n");
    assert_false(reply.is_truncated);
    reply_release(&reply);
    assert_true(fixture_wait(&fixture->on_closed, 1, WAIT_S));
    assert_int_equal(client_receive(idle, &(char){0}, 1), 0);
    close(stream);
    close(slow);
    close(late);
    close(idle);
    close(half);
}

/* The grace for what is open would be a second, every time. */
TEST(closes_at_once_when_nothing_is_open)
{
    bool is_closed = false;

    for (int i = 0; i < 10 && !is_closed; i++) {
        if (i > 0) {
            stop(state);
            start(state);
        }
        fixture_begin_stop(fixture);
        is_closed = fixture_wait(&fixture->on_closed, 1, 0.5);
    }
    assert_true(is_closed);
}
