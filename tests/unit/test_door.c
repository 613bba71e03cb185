/* test_door.c - strangers at a rank's port: at the door itself, and at real workers */
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include "agent/worker/group/door.h"
#include "agent/worker/group/rendezvous_client.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "bench/worker_group.h"
#include "tests/unit/case_fixture.h"
#include "tests/unit/test.h"

#define WAIT_MS 60000
#define STRANGERS 200
#define RANKS 3

static const unsigned char token[DOOR_TOKEN_BYTES] = "0123456789abcde";

static int connect_to(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

/* ---- The door itself ---- */

struct fixture {
    struct door door;
    int port, errors; /* where stderr went before */
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
    return door_open(&fixture->door, NULL, token, &fixture->port, NULL);
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    door_close(&fixture->door);
    dup2(fixture->errors, STDERR_FILENO);
    close(fixture->errors);
    fclose(fixture->log);
    free(fixture);
    return 0;
}

/* Let one in; its rank. */
static uint32_t admit(struct fixture *fixture)
{
    uint32_t rank = UINT32_MAX;
    int fd, status = 0;

    while (!status)
        status = door_admit(&fixture->door, WAIT_MS, -1, &rank, &fd, NULL);
    assert_int_equal(status, 1);
    close(fd);
    return rank;
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
    uint32_t rank;
    int admitted;

    while (!is_closed(fd))
        assert_int_equal(door_admit(&fixture->door, 1, fd, &rank, &admitted, NULL), 0);
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
        silent[i] = connect_to(fixture->port);
    fd = connect_to(fixture->port);
    assert_int_equal(door_greet(fd, token, 7, NULL), 0);
    assert_int_equal(admit(fixture), 7);
    close(fd);
    for (int i = 0; i < 8; i++) {
        assert_false(is_closed(silent[i]));
        close(silent[i]);
    }
}

TEST_WITH(set_up, tear_down, a_greeting_may_come_in_pieces)
{
    struct fixture *fixture = *state;
    int ends[2], fd = connect_to(fixture->port), other;
    char greeting[64];
    uint32_t rank;
    ssize_t len;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(door_greet(ends[0], token, 5, NULL), 0);
    len = recv(ends[1], greeting, sizeof(greeting), 0);
    assert_true(len > DOOR_TOKEN_BYTES);
    for (ssize_t i = 0; i < len - 1; i++) {
        assert_int_equal(send(fd, greeting + i, 1, 0), 1);
        assert_int_equal(door_admit(&fixture->door, 10, -1, &rank, &other, NULL), 0);
    }
    assert_int_equal(send(fd, greeting + len - 1, 1, 0), 1);
    assert_int_equal(admit(fixture), 5);
    close(fd);
    close(ends[0]);
    close(ends[1]);
}

TEST_WITH(set_up, tear_down, a_wrong_greeting_is_closed_and_said_once)
{
    struct fixture *fixture = *state;
    unsigned char wrong[DOOR_TOKEN_BYTES];
    char noise[64] = "GET / HTTP/1.1\r\n\r\n";

    for (int i = 0; i < DOOR_TOKEN_BYTES; i++) {
        int fd = connect_to(fixture->port);
        memcpy(wrong, token, sizeof(wrong));
        wrong[i] ^= 1;
        assert_int_equal(door_greet(fd, wrong, 1, NULL), 0);
        await_close(fixture, fd);
    }
    int fd = connect_to(fixture->port);
    assert_int_equal(send(fd, noise, sizeof(noise), 0), sizeof(noise));
    await_close(fixture, fd);
    assert_int_equal(count_lines(fixture, "closed a connection from 127.0.0.1 port "), 1);
    assert_int_equal(count_lines(fixture, "its greeting is not that of a rank"), 1);
}

TEST_WITH(set_up, tear_down, who_says_nothing_in_time_is_sent_away)
{
    struct fixture *fixture = *state;

    fixture->door.patience_ms = 1;
    await_close(fixture, connect_to(fixture->port));
    assert_int_equal(fixture->door.n_guests, 0);
    assert_int_equal(count_lines(fixture, "it has not greeted in time"), 1);
}

TEST_WITH(set_up, tear_down, the_oldest_goes_when_there_are_too_many)
{
    struct fixture *fixture = *state;
    int fds[DOOR_GUESTS_MAX], fd, other;
    uint32_t rank;

    for (int i = 0; i < DOOR_GUESTS_MAX; i++) {
        fds[i] = connect_to(fixture->port);
        assert_int_equal(door_admit(&fixture->door, WAIT_MS, -1, &rank, &other, NULL), 0);
        assert_int_equal(fixture->door.n_guests, i + 1);
    }
    fd = connect_to(fixture->port);
    assert_int_equal(door_greet(fd, token, 9, NULL), 0);
    assert_int_equal(admit(fixture), 9);
    assert_true(is_closed(fds[0]));
    for (int i = 1; i < DOOR_GUESTS_MAX; i++) {
        assert_false(is_closed(fds[i]));
        close(fds[i]);
    }
    close(fds[0]);
    close(fd);
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

TEST(strangers_hold_up_no_mesh)
{
    check_workers("host", WORKER_HOST, "ringbench/rank/0");
}

TEST(strangers_hold_up_no_tree)
{
    check_workers("sim", WORKER_SIM, "ringbench/rank/0");
}

GROUP_FIXTURE(make_case_file, remove_case_file);
