/* test_join.c - ranks find and connect to each other: two of them in this process */
#include "agent/worker/group/join.h"
#include "common/base/clock.h"
#include "bench/rendezvous_stub.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

#define RANKS 4

struct rank {
    struct join_config config;
    struct watch watch;
    struct join join;
    int fds[RANKS];
};

struct fixture {
    struct rendezvous_stub stub;
    struct rendezvous_client *store;
    struct rank host, guest; /* ranks 0 and 1 */
};

static const unsigned char token[DOOR_TOKEN_BYTES] = "a token of bytes";

static void begin(struct fixture *f, struct rank *rank, int number, int64_t timeout_ms)
{
    rank->config = (struct join_config){
        .rank = number, .world_size = RANKS, .store = f->store, .timeout_ms = timeout_ms};
    assert_int_equal(watch_init(&rank->watch, RANKS, NULL, NULL), 0);
    join_begin(&rank->join, &rank->config, &rank->watch, rank->fds);
}

static void end(struct rank *rank)
{
    join_end(&rank->join);
    watch_release(&rank->watch);
    for (int i = 0; i < RANKS; i++)
        if (rank->fds[i] >= 0)
            close(rank->fds[i]);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    char port[16];

    assert_non_null(f);
    assert_int_equal(rendezvous_stub_start(&f->stub, NULL, 0), 0);
    snprintf(port, sizeof(port), "%d", f->stub.port);
    f->store = rendezvous_client_connect("127.0.0.1", port, 10000, NULL, NULL);
    assert_non_null(f->store);
    begin(f, &f->host, 0, 20000);
    begin(f, &f->guest, 1, 20000);
    assert_int_equal(join_publish(&f->host.join, "key", token, NULL, NULL), 0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    end(&f->host);
    end(&f->guest);
    rendezvous_client_destroy(f->store);
    rendezvous_stub_stop(&f->stub);
    free(f);
    return 0;
}

EACH_FIXTURE(set_up, tear_down);

static void connect_guest(struct fixture *f)
{
    struct join_place place;
    json_t *record = join_read(&f->guest.join, "key", 0, &place, NULL);

    assert_non_null(record);
    json_decref(record);
    assert_int_equal(join_connect(&f->guest.join, 0, &place, NULL), 0);
    assert_true(f->guest.fds[0] >= 0);
}

TEST(who_reads_a_record_can_connect)
{
    struct fixture *f = *state;
    char byte = 'x';

    connect_guest(f);
    f->host.fds[1] = JOIN_AWAITED;
    assert_int_equal(join_admit(&f->host.join, NULL), 0);
    assert_true(f->host.fds[1] >= 0);
    assert_int_equal(write(f->host.fds[1], "!", 1), 1);
    while (read(f->guest.fds[0], &byte, 1) < 0) {}
    assert_int_equal(byte, '!');
}

TEST(more_may_stand_in_a_record)
{
    struct fixture *f = *state;
    struct join_place place;
    char text[8];

    assert_int_equal(join_publish(&f->guest.join, "more", token,
                                  json_pack("{s:s}", "hostid", "h-1"), NULL),
                     0);
    json_t *record = join_read(&f->host.join, "more", 1, &place, NULL);
    assert_non_null(record);
    assert_memory_equal(place.token, token, sizeof(token));
    assert_int_equal(join_copy_text(record, "hostid", text, sizeof(text)), 0);
    assert_string_equal(text, "h-1");
    assert_int_equal(join_copy_text(record, "hostid", text, 3), -1);
    assert_int_equal(join_copy_text(record, "absent", text, sizeof(text)), -1);
    json_decref(record);
}

TEST(a_record_that_makes_no_sense_names_its_rank)
{
    static const char *const records[] = {
        "{}",
        "{\"address\":\"\",\"port\":\"1\",\"token\":"
        "\"00112233445566778899aabbccddeeff\"}",
        "{\"address\":\"a\",\"port\":\"123456789\",\"token\":"
        "\"00112233445566778899aabbccddeeff\"}",
        "{\"address\":\"a\",\"port\":\"1\",\"token\":\"0011\"}",
    };
    static const int names[RANKS] = {4, 5, 6, 7};
    struct fixture *f = *state;
    struct join_place place;
    struct error err;

    f->host.watch.names = names;
    for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
        assert_int_equal(
            rendezvous_client_set(f->store, "bad", records[i], strlen(records[i]), NULL),
            0);
        assert_null(join_read(&f->host.join, "bad", 2, &place, &err));
        assert_int_equal(err.code, ERROR_PEER);
        assert_string_equal(err.text, "rank 6: its record in the store is malformed");
    }
}

TEST(who_is_missing_in_the_end_is_named)
{
    struct fixture *f = *state;
    struct error err;

    f->host.fds[2] = f->host.fds[3] = JOIN_AWAITED;
    f->host.join.deadline_ns = 0;
    assert_int_equal(join_admit(&f->host.join, &err), -1);
    assert_int_equal(err.code, ERROR_TIMEOUT);
    assert_string_equal(err.text,
                        "0 of 2 ranks have connected in time; missing rank 2 and 1 more");
}

struct heard {
    int n, rank;
    char text[200];
};

static void hear(void *arg, const char *over, int rank, const struct attempt_place *place,
                 const char *via, const char *reason)
{
    struct heard *heard = arg;

    heard->n++;
    heard->rank = rank;
    snprintf(heard->text, sizeof(heard->text), "%s %s %s %s %s", over, place->address,
             place->interface, via, reason);
}

/* A port that nobody has any more. */
static struct join_place closed_place(void)
{
    struct join_place place = {.address = "127.0.0.1", .interface = "lo"};
    struct door door;
    int port;

    assert_int_equal(door_open(&door, place.address, token, &port, NULL), 0);
    door_close(&door);
    snprintf(place.port, sizeof(place.port), "%d", port);
    return place;
}

TEST(an_address_that_is_not_reached_is_told_and_others_still_let_in)
{
    struct fixture *f = *state;
    struct join_place place = closed_place();
    struct heard heard = {0};
    struct error err;

    f->host.config.ear = (struct attempt_ear){hear, &heard};
    assert_int_equal(join_connect(&f->host.join, 2, &place, &err), 0);
    assert_int_equal(heard.n, 1);
    assert_int_equal(heard.rank, 2);
    assert_string_equal(heard.text, "mesh 127.0.0.1 lo lo Connection refused");
    connect_guest(f);
    f->host.fds[1] = JOIN_AWAITED;
    f->host.join.deadline_ns = clock_monotonic_ns() + 2000000000;
    assert_int_equal(join_admit(&f->host.join, &err), -1);
    assert_true(f->host.fds[1] >= 0);
    assert_mentions(err.text, "rank 2: connecting to 127.0.0.1 port");
    assert_mentions(err.text, "Connection refused");
    assert_int_equal(heard.n, 1);
}

TEST(where_nobody_hears_it_fails_at_once)
{
    struct fixture *f = *state;
    struct join_place place = closed_place();
    struct error err;

    assert_int_equal(join_connect(&f->host.join, 2, &place, &err), -1);
    assert_int_equal(err.code, ERROR_PEER);
    assert_mentions(err.text, "rank 2: 127.0.0.1");
}

TEST(the_loss_of_a_rank_ends_the_wait_for_others)
{
    struct fixture *f = *state;
    struct error err;

    connect_guest(f);
    f->host.fds[1] = JOIN_AWAITED;
    assert_int_equal(join_admit(&f->host.join, NULL), 0);
    end(&f->guest);
    begin(f, &f->guest, 1, 20000);
    f->host.fds[2] = JOIN_AWAITED;
    assert_int_equal(join_admit(&f->host.join, &err), -1);
    assert_int_equal(err.code, ERROR_PEER);
    assert_string_equal(err.text, "lost rank 1: connection closed");
    assert_int_equal(f->host.watch.lost, 1);
}
