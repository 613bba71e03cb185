/* SPDX-License-Identifier: Apache-2.0 */
/* test_rendezvous_limits.c - what a TCPStore takes from its clients, and no more */
#include "tests/unit/rendezvous_fixture.h"
#include "tests/unit/test.h"

#include <poll.h>
#include <sys/resource.h>

TEST(stranger_is_refused)
{
    struct fixture *fixture = start_with((struct rendezvous_config){0});
    char address[] = "192.0.2.1", local[] = "::1";

    on_loop(fixture, open_store, address);
    expect_end(connect_to("127.0.0.1", fixture->port));
    expect_end(connect_to("::1", fixture->port));
    assert_int_equal(counters_of(fixture).refused[TCPSTORE_ADDRESS_NOT_ALLOWED], 2);
    on_loop(fixture, open_store, local);
    close(connect_v2(fixture));
    stop(fixture);
    free(fixture);
}

TEST(limit_of_connections_holds)
{
    struct fixture *fixture =
        start_with((struct rendezvous_config){.max_connections = 2});
    int a, b;

    a = connect_v2(fixture);
    b = connect_v2(fixture);
    expect_end(connect_to("127.0.0.1", fixture->port));
    expect_quiet(a);
    close(b);
    wait_for_connections(fixture, 1);
    b = connect_v2(fixture);
    close(a);
    close(b);
    stop(fixture);
    free(fixture);
}

TEST(limit_of_keys_and_bytes_closes_the_offender)
{
    struct fixture *fixture =
        start_with((struct rendezvous_config){.max_keys = 2, .max_bytes = 100000});
    int a, b;

    a = connect_v2(fixture);
    b = connect_v2(fixture);
    SEND(a, 11, "qssss", N(2), "/a", "1", "/b", "2");
    expect_quiet(a);
    SEND(b, 1, "ss", "/c", "3");
    expect_end(b);
    b = connect_v2(fixture);
    SEND(b, 1, "sz", "/a", (uint64_t)99990);
    expect_end(b);
    b = connect_v2(fixture);
    SEND(b, 1, "sz", "/a", (uint64_t)50000);
    expect_quiet(b);
    SEND(a, 3, "s", "/b");
    EXPECT(a, "s", "2");
    close(a);
    close(b);
    stop(fixture);
    free(fixture);
}

/* What many clients have sent in part counts, although each is small. */
TEST(unfinished_requests_are_bounded)
{
    struct fixture *fixture =
        start_with((struct rendezvous_config){.max_bytes = 1000000});
    struct pollfd fds[4];
    struct buf bytes;
    int closed = 0;

    buf_init(&bytes, REQUEST_MAX);
    put_request(&bytes, 1, "sz", "/k", (uint64_t)300000);
    for (int i = 0; i < 4; i++) {
        fds[i] = (struct pollfd){.fd = connect_v2(fixture), .events = POLLIN};
        send_all(fds[i].fd, bytes.data, bytes.len - 1);
    }
    assert_int_equal(poll(fds, 4, 60000), 1);
    for (int i = 0; i < 4; i++) {
        if (fds[i].revents) {
            expect_end(fds[i].fd);
            closed++;
            continue;
        }
        send_all(fds[i].fd, bytes.data + bytes.len - 1, 1);
        expect_quiet(fds[i].fd);
        close(fds[i].fd);
    }
    assert_int_equal(closed, 1);
    buf_release(&bytes);
    stop(fixture);
    free(fixture);
}

TEST(one_request_is_bounded)
{
    struct fixture *fixture =
        start_with((struct rendezvous_config){.max_bytes = 1000000});
    int fd = connect_v2(fixture), other = connect_v2(fixture);
    struct buf bytes;
    ssize_t n = 0;

    buf_init(&bytes, REQUEST_MAX);
    put_request(&bytes, 11, "qszszsz", N(3), "/a", (uint64_t)600000, "/b",
                (uint64_t)600000, "/c", (uint64_t)600000);
    for (size_t at = 0; n >= 0 && at < bytes.len; at += (size_t)n)
        n = send(fd, bytes.data + at, bytes.len - at, MSG_NOSIGNAL);
    buf_release(&bytes);
    expect_end(fd);
    assert_int_equal(counters_of(fixture).refused[TCPSTORE_STORE_UNREAD], 1);
    SEND(other, 7, "");
    EXPECT(other, "q", N(0));
    close(other);
    stop(fixture);
    free(fixture);
}

/* A client that asks for much and reads later gets it all; meanwhile others are served.
 */
TEST_WITH(setup, teardown, slow_reader_is_held_back_and_loses_nothing)
{
    enum { VALUES = 100 };
    struct fixture *fixture = *state;
    int slow = connect_v2(fixture), other = connect_v2(fixture);
    struct buf bytes;

    SEND(slow, 1, "sz", "/k", (uint64_t)1000000);
    buf_init(&bytes, REQUEST_MAX);
    for (int i = 0; i < VALUES; i++) {
        put_request(&bytes, 3, "s", "/k");
        put_request(&bytes, 4, "sq", "/n", N(1));
    }
    send_buf(slow, &bytes);
    expect_quiet(other);
    expect_quiet(other);
    for (int i = 1; i <= VALUES; i++)
        EXPECT(slow, "zq", (uint64_t)1000000, N(i));
    expect_quiet(slow);
    close(slow);
    close(other);
}

static long peak_kib(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* The server copies nothing of it, and a key that is set meanwhile does not change it. */
TEST_WITH(setup, teardown, a_long_answer_takes_no_memory_and_is_of_one_moment)
{
    enum { VALUES = 31, BYTES = 8 << 20 };
    struct fixture *fixture = *state;
    int slow = connect_v2(fixture), other = connect_v2(fixture);
    char name[3] = "/A";
    struct buf request;
    long before;

    buf_init(&request, REQUEST_MAX);
    buf_append(&request, "\x0a\x1f\0\0\0\0\0\0\0", 9);
    for (int i = 0; i < VALUES; i++, name[1]++) {
        SEND(other, 1, "sz", name, (uint64_t)BYTES);
        buf_append(&request, "\2\0\0\0\0\0\0\0", 8);
        buf_append(&request, name, 2);
    }
    expect_quiet(other);
    before = peak_kib();
    send_buf(slow, &request);
    for (int i = 0; i < VALUES; i++) {
        static char got[BYTES];
        EXPECT(slow, "q", N(BYTES));
        /* The answer is under way now. */
        for (name[1] = 'A'; i == 0 && name[1] < 'A' + VALUES; name[1]++)
            SEND(other, 1, "ss", name, "new");
        expect_quiet(other);
        receive_all(slow, got, BYTES, __LINE__);
        assert_true(got[0] == 'x' && memcmp(got, got + 1, BYTES - 1) == 0);
    }
    assert_in_range(peak_kib() - before, 0, 64 << 10);
    SEND(other, 3, "s", "/A");
    EXPECT(other, "s", "new");
    close(slow);
    close(other);
}

TEST_WITH(setup, teardown, a_long_list_comes_whole)
{
    enum { KEYS = 20000 };
    struct fixture *fixture = *state;
    int fd = connect_v2(fixture), other = connect_v2(fixture);
    struct buf bytes;
    char key[8];

    buf_init(&bytes, REQUEST_MAX);
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "%05d", i);
        put_request(&bytes, 1, "ss", key, "v");
    }
    send_buf(other, &bytes);
    expect_quiet(other);
    put_request(&bytes, 17, "");
    put_request(&bytes, 13, "u", 7u);
    send_buf(fd, &bytes);
    EXPECT(fd, "q", N(KEYS));
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "%05d", i);
        EXPECT(fd, "s", key);
    }
    EXPECT(fd, "u", 7u);
    close(fd);
    close(other);
}

TEST(unread_replies_are_bounded)
{
    struct fixture *fixture =
        start_with((struct rendezvous_config){.max_bytes = 3000000});
    int fds[6], other = connect_v2(fixture);
    struct buf bytes;

    SEND(other, 1, "sz", "/k", (uint64_t)900000);
    expect_quiet(other);
    for (int i = 0; i < 6; i++) {
        fds[i] = connect_v2(fixture);
        buf_init(&bytes, REQUEST_MAX);
        for (int j = 0; j < 100; j++)
            put_request(&bytes, 3, "s", "/k");
        send_buf(fds[i], &bytes);
    }
    while (counters_of(fixture).refused[TCPSTORE_STORE_UNREAD] == 0)
        usleep(1000);
    expect_quiet(other);
    for (int i = 0; i < 6; i++)
        close(fds[i]);
    close(other);
    stop(fixture);
    free(fixture);
}

/* Without descriptors nothing is accepted and nothing spins; later all is well. */
TEST_WITH(setup, teardown, accepting_goes_on_when_descriptors_are_free_again)
{
    struct fixture *fixture = *state;
    struct rlimit limit, low;
    int first = connect_v2(fixture), second;
    struct buf bytes;

    getrlimit(RLIMIT_NOFILE, &limit);
    second = socket(AF_INET, SOCK_STREAM, 0);
    close(second);
    low = limit;
    low.rlim_cur = (rlim_t)second + 1;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    second = connect_to("127.0.0.1", fixture->port);
    assert_true(second >= 0);
    buf_init(&bytes, 100);
    put_hello(&bytes);
    put_request(&bytes, 13, "u", 9u);
    send_buf(second, &bytes);
    expect_quiet(first);
    assert_int_equal(counters_of(fixture).cases.connections, 1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    EXPECT(second, "u", 9u);
    close(first);
    close(second);
}
