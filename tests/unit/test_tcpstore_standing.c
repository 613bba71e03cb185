/* test_tcpstore_standing.c - keys that expire and limits for each address, on a clock of
 * the test's own */
#include <malloc.h>

#include "tests/unit/tcpstore_fake.h"
#include "tests/unit/test.h"

#define CLIENTS 4
#define TTL_MS 3600000
#define HOUR_MS 3600000

/* Clients 0 and 1 are of one address, 2 and 3 of another. */
struct bench {
    struct tcpstore_kv *kv;
    struct fake fakes[CLIENTS];
    int64_t now_ms;
};

static void enter(struct bench *bench, int i)
{
    const unsigned char address[TCPSTORE_ADDRESS_BYTES] = {10, (unsigned char)(i / 2)};
    enum tcpstore_refusal why;

    tcpstore_client_init(&bench->fakes[i].client, bench->kv, fake_on_wake);
    if (tcpstore_client_enter(&bench->fakes[i].client, address, &why) < 0)
        fail_msg("%s", tcpstore_refusal_name(why));
}

static struct bench *bench_new(struct tcpstore_each each)
{
    const struct tcpstore_limits limits = {.max_keys = 100000,
                                           .max_bytes = (size_t)64 << 20,
                                           .max_waits = 1000,
                                           .ttl_ms = TTL_MS,
                                           .each = each};
    struct bench *bench = calloc(1, sizeof(*bench));

    bench->kv = tcpstore_kv_create(&limits);
    bench->now_ms = 1;
    tcpstore_kv_expire(bench->kv, bench->now_ms, 1);
    for (int i = 0; i < CLIENTS; i++) {
        enter(bench, i);
        tcpstore_out_init(&bench->fakes[i].out, REQUEST_MAX);
    }
    return bench;
}

static int setup(void **state)
{
    *state = bench_new((struct tcpstore_each){100, 50000, (size_t)32 << 20});
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;

    for (int i = 0; i < CLIENTS; i++) {
        tcpstore_client_release(&bench->fakes[i].client);
        tcpstore_out_release(&bench->fakes[i].out);
    }
    tcpstore_kv_destroy(bench->kv);
    free(bench);
    return 0;
}

static struct tcpstore_usage usage_of(const struct bench *bench)
{
    struct tcpstore_usage usage;

    tcpstore_kv_usage(bench->kv, &usage);
    return usage;
}

/* Let time pass; all that is due goes. */
static void pass(struct bench *bench, int64_t ms)
{
    bench->now_ms += ms;
    while (tcpstore_kv_expire(bench->kv, bench->now_ms, 100))
        continue;
}

#define SEND(i, ...) send_expecting(bench, i, TCPSTORE_NOT_REFUSED, __LINE__, __VA_ARGS__)
/* The request is refused for this reason. */
#define SEND_BAD(i, reason, ...) send_expecting(bench, i, reason, __LINE__, __VA_ARGS__)
#define send_expecting(bench, i, reason, line, type, ...)                                \
    do {                                                                                 \
        struct buf bytes;                                                                \
        enum tcpstore_refusal why;                                                       \
        int rc;                                                                          \
        buf_init(&bytes, REQUEST_MAX);                                                   \
        put_request(&bytes, type, __VA_ARGS__);                                          \
        rc = fake_execute(&(bench)->fakes[i], &bytes, &why);                             \
        if (rc != ((reason) ? -1 : 0) || why != (reason))                                \
            fail_msg("line %d: %s", line, tcpstore_refusal_name(why));                   \
    } while (0)

/* Whether the key is there, which nobody's clock notices. */
static void note_key(void *arg, const void *key, size_t len, size_t value_len)
{
    (void)value_len;
    buf_append(arg, key, len);
    buf_append_str(arg, " ");
}

static bool has(const struct bench *bench, const char *key)
{
    struct buf keys;
    bool is_there;

    buf_init(&keys, REQUEST_MAX);
    buf_append_str(&keys, " ");
    tcpstore_kv_each_key(bench->kv, SIZE_MAX, note_key, &keys);
    is_there = strstr(keys.data, key) != NULL;
    buf_release(&keys);
    return is_there;
}

/* ---- Expiry ---- */

TEST_WITH(setup, teardown, a_key_goes_when_nobody_used_it_for_its_time)
{
    struct bench *bench = *state;

    SEND(0, SET, "ss", "/old", "v");
    pass(bench, TTL_MS / 2);
    SEND(0, SET, "ss", "/new", "v");
    pass(bench, TTL_MS / 2 - 1);
    assert_true(has(bench, " /old ") && has(bench, " /new "));
    pass(bench, 1);
    assert_true(!has(bench, " /old ") && has(bench, " /new "));
    pass(bench, TTL_MS / 2);
    assert_int_equal(usage_of(bench).keys, 0);
    assert_int_equal(usage_of(bench).bytes, 0);
    assert_int_equal(usage_of(bench).expired, 2);
    SEND(0, GET, "s", "/old");
    assert_int_equal(bench->fakes[0].out.bytes.len, 8);
}

TEST_WITH(setup, teardown, every_query_that_names_a_key_uses_it)
{
    struct bench *bench = *state;

    for (int use = 0; use < 12; use++) {
        SEND(0, SET, "ss", "/k", "1");
        if (use == 11)
            SEND(0, PUSH, "ss", "/k", "item");
        pass(bench, TTL_MS - 1);
        switch (use) {
        case 0:
            SEND(1, SET, "ss", "/k", "2");
            break;
        case 1:
            SEND(1, CAS, "sss", "/k", "not this", "2");
            break;
        case 2:
            SEND(1, GET, "s", "/k");
            break;
        case 3:
            SEND(1, ADD, "sq", "/k", N(0));
            break;
        case 4:
            SEND(1, CHECK, "qs", N(1), "/k");
            break;
        case 5:
            SEND(1, WAIT, "qs", N(1), "/k");
            break;
        case 6:
            SEND(1, APPEND, "ss", "/k", "");
            break;
        case 7:
            SEND(1, MULTI_GET, "qss", N(2), "/other", "/k");
            break;
        case 8:
            SEND(1, MULTI_SET, "qss", N(1), "/k", "2");
            break;
        case 9:
            SEND(1, BARRIER, "sq", "/k", N(1));
            break;
        case 10:
            SEND(1, LEN, "s", "/k");
            break;
        default:
            SEND(1, POP, "s", "/k");
            break;
        }
        pass(bench, TTL_MS - 1);
        if (!has(bench, " /k "))
            fail_msg("use %d does not count", use);
        pass(bench, 1);
        assert_false(has(bench, " /k "));
    }
}

TEST_WITH(setup, teardown, looking_at_all_keys_uses_none)
{
    struct bench *bench = *state;

    SEND(0, SET, "ss", "/k", "1");
    pass(bench, TTL_MS - 1);
    SEND(0, LIST, "");
    SEND(0, NUMKEYS, "");
    pass(bench, 1);
    assert_false(has(bench, " /k "));
}

TEST_WITH(setup, teardown, waiting_is_using)
{
    struct bench *bench = *state;

    SEND(0, BARRIER, "sq", "/b", N(2));
    SEND(1, WAIT, "qs", N(1), "/late");
    for (int i = 0; i < 10; i++)
        pass(bench, TTL_MS);
    assert_true(has(bench, " /b "));
    /* The count of the first is still known, and so is who waits. */
    SEND(2, BARRIER, "sq", "/b", N(2));
    assert_int_equal(bench->fakes[0].out.bytes.len, 1);
    SEND(2, SET, "ss", "/late", "v");
    assert_int_equal(bench->fakes[1].out.bytes.len, 1);
    /* The time begins when the wait ends. */
    SEND(0, BARRIER, "sq", "/c", N(2));
    pass(bench, 5 * TTL_MS);
    SEND(0, CANCEL, "");
    pass(bench, TTL_MS - 1);
    assert_true(has(bench, " /c "));
    pass(bench, 1);
    assert_int_equal(usage_of(bench).keys, 0);
}

TEST_WITH(setup, teardown, queues_expire_too)
{
    struct bench *bench = *state;

    SEND(0, PUSH, "ss", "/q", "one");
    SEND(0, PUSH, "ss", "/q", "two");
    pass(bench, TTL_MS);
    SEND(0, LEN, "s", "/q");
    assert_memory_equal(bench->fakes[0].out.bytes.data, "\0\0\0\0\0\0\0\0", 8);
    assert_int_equal(usage_of(bench).bytes, 0);
}

TEST_WITH(setup, teardown, much_is_forgotten_in_portions)
{
    struct bench *bench = *state;
    char key[16];

    for (int i = 0; i < 25; i++) {
        snprintf(key, sizeof(key), "/%d", i);
        SEND(0, SET, "ss", key, "");
    }
    assert_true(tcpstore_kv_expire(bench->kv, bench->now_ms + TTL_MS, 10));
    assert_int_equal(usage_of(bench).keys, 15);
    assert_true(tcpstore_kv_expire(bench->kv, bench->now_ms + TTL_MS, 10));
    assert_false(tcpstore_kv_expire(bench->kv, bench->now_ms + TTL_MS, 10));
    assert_int_equal(usage_of(bench).keys, 0);
}

TEST_WITH(setup, teardown, keys_used_last_are_shown_first)
{
    struct bench *bench = *state;
    struct buf keys;

    buf_init(&keys, REQUEST_MAX);
    SEND(0, SET, "ss", "/a", "");
    SEND(0, SET, "ss", "/b", "");
    SEND(0, SET, "ss", "/c", "");
    pass(bench, 1);
    SEND(0, GET, "s", "/a");
    tcpstore_kv_each_key(bench->kv, 2, note_key, &keys);
    assert_string_equal(keys.data, "/a /c ");
    buf_release(&keys);
}

/* What one job leaves: clients of its own address, keys that nobody deletes. */
static void run_job(struct bench *bench, int number)
{
    unsigned char address[TCPSTORE_ADDRESS_BYTES] = {10, 1, (unsigned char)(number / 64),
                                                     (unsigned char)(number % 64)};
    struct fake *fake = &bench->fakes[0];
    char key[64];

    tcpstore_client_release(&fake->client);
    tcpstore_client_init(&fake->client, bench->kv, fake_on_wake);
    assert_int_equal(tcpstore_client_enter(&fake->client, address, NULL), 0);
    for (int i = 0; i < 20; i++) {
        snprintf(key, sizeof(key), "/torch.rendezvous.job%d.%d/%d", rand(), number, i);
        SEND(0, SET, "sz", key, (uint64_t)(rand() % 700));
        if (i % 4 == 0)
            SEND(0, PUSH, "sz", key, (uint64_t)(rand() % 100));
        if (i % 3 == 0)
            SEND(0, APPEND, "sz", key, (uint64_t)(rand() % 700));
    }
    snprintf(key, sizeof(key), "/late%d", rand());
    SEND(0, WAIT, "qss", N(2), key, "/never");
    tcpstore_out_sent(&fake->out, tcpstore_out_len(&fake->out), SIZE_MAX);
}

TEST_WITH(setup, teardown, months_of_jobs_leave_memory_as_it_was)
{
    enum { DAYS = 100, JOBS_AN_HOUR = 20 };
    struct bench *bench = *state;
    size_t most_bytes = 0, memory_then = 0, memory;

    srand(1);
    for (int hour = 0; hour < DAYS * 24; hour++) {
        for (int job = 0; job < JOBS_AN_HOUR; job++) {
            run_job(bench, rand() % 4096);
            pass(bench, HOUR_MS / JOBS_AN_HOUR);
        }
        if (usage_of(bench).bytes > most_bytes)
            most_bytes = usage_of(bench).bytes;
        /* One job's keys more or less is what there is of difference. */
        memory = mallinfo2().uordblks;
        if (hour == 24)
            memory_then = memory;
        if (hour > 24 && memory > memory_then + memory_then / 4)
            fail_msg("hour %d: %zu bytes, %zu after a day", hour, memory, memory_then);
        assert_in_range(usage_of(bench).keys, 1, (JOBS_AN_HOUR + 2) * 20);
        assert_in_range(usage_of(bench).addresses, 2, JOBS_AN_HOUR + 4);
    }
    assert_true(usage_of(bench).expired > (uint64_t)(DAYS - 1) * 24 * JOBS_AN_HOUR * 20);
    SEND(0, CANCEL, "");
    pass(bench, TTL_MS);
    assert_int_equal(usage_of(bench).keys, 0);
    assert_int_equal(usage_of(bench).bytes, 0);
    assert_int_equal(usage_of(bench).addresses, 3);
    assert_true(most_bytes < (size_t)4 << 20);
}

TEST(a_closed_store_gives_all_its_memory_back)
{
    size_t before, while_open;
    void *other = NULL;
    struct bench *bench;
    char key[32];

    before = mallinfo2().uordblks;
    setup(&other);
    bench = other;
    for (int i = 0; i < 20000; i++) {
        snprintf(key, sizeof(key), "/key%d", i);
        SEND(i % CLIENTS, SET, "sz", key, (uint64_t)100);
    }
    SEND(0, WAIT, "qss", N(2), "/a", "/b");
    while_open = mallinfo2().uordblks;
    teardown(&other);
    /* Less, where the first loop's own leftovers went as well. */
    assert_true(mallinfo2().uordblks <= before);
    assert_true(before == 0 || while_open > before + 20000 * 100);
}

/* ---- Limits for each address ---- */

TEST(an_address_has_so_many_clients)
{
    struct bench *bench = bench_new((struct tcpstore_each){2, 10, 10000});
    const unsigned char address[TCPSTORE_ADDRESS_BYTES] = {10, 1};
    struct tcpstore_client third;
    enum tcpstore_refusal why;
    void *here = bench;

    tcpstore_client_init(&third, bench->kv, fake_on_wake);
    assert_int_equal(tcpstore_client_enter(&third, address, &why), -1);
    assert_int_equal(why, TCPSTORE_ADDRESS_CONNECTIONS);
    tcpstore_client_release(&third);
    tcpstore_client_release(&bench->fakes[2].client);
    assert_int_equal(tcpstore_client_enter(&third, address, &why), 0);
    tcpstore_client_release(&third);
    teardown(&here);
}

TEST(an_address_has_so_many_keys)
{
    struct bench *bench = bench_new((struct tcpstore_each){2, 3, 10000});
    const enum tcpstore_refusal reason = TCPSTORE_ADDRESS_KEYS;
    void *here = bench;

    SEND(0, MULTI_SET, "qssss", N(2), "/a", "", "/b", "");
    SEND_BAD(1, reason, MULTI_SET, "qssssss", N(3), "/a", "x", "/c", "", "/d", "");
    SEND(1, WAIT, "qs", N(1), "/c");
    SEND_BAD(0, reason, SET, "ss", "/d", "");
    SEND_BAD(0, reason, BARRIER, "sq", "/d", N(2));
    SEND_BAD(0, reason, PUSH, "ss", "/d", "");
    SEND_BAD(0, reason, WAIT, "qs", N(1), "/d");
    assert_int_equal(usage_of(bench).keys, 2);
    /* Others are not concerned, and take over what they write to. */
    SEND(2, SET, "ss", "/d", "");
    SEND(2, SET, "ss", "/a", "x");
    SEND(0, SET, "ss", "/e", "");
    SEND(2, SET, "ss", "/f", "");
    SEND_BAD(3, reason, SET, "ss", "/b", "x");
    SEND_BAD(3, reason, MULTI_SET, "qssss", N(2), "/d", "set", "/b", "x");
    SEND(2, GET, "s", "/d");
    assert_memory_equal(bench->fakes[2].out.bytes.data, "\0\0\0\0\0\0\0\0", 8);
    /* What is deleted or has expired is free again. */
    SEND(0, DELETE, "s", "/d");
    SEND(3, SET, "ss", "/b", "x");
    SEND(0, GET, "s", "/b");
    SEND(1, CANCEL, "");
    pass(bench, TTL_MS);
    for (int i = 0; i < 3; i++) {
        char key[8];
        snprintf(key, sizeof(key), "/%d", i);
        SEND(0, SET, "ss", key, "");
    }
    teardown(&here);
}

TEST(an_address_has_so_many_bytes)
{
    struct bench *bench = bench_new((struct tcpstore_each){2, 100, 10000});
    const enum tcpstore_refusal reason = TCPSTORE_ADDRESS_BYTES;
    void *here = bench;

    SEND(0, SET, "sz", "/a", (uint64_t)7000);
    SEND_BAD(1, reason, SET, "sz", "/b", (uint64_t)7000);
    SEND_BAD(1, reason, APPEND, "sz", "/a", (uint64_t)4000);
    SEND_BAD(1, reason, PUSH, "sz", "/a", (uint64_t)4000);
    SEND_BAD(1, reason, CAS, "ssz", "/b", "", (uint64_t)4000);
    SEND_BAD(1, reason, MULTI_SET, "qszss", N(2), "/b", (uint64_t)4000, "/c", "");
    SEND(2, SET, "sz", "/b", (uint64_t)7000);
    /* To write to another's key is to have all of it. */
    SEND_BAD(2, reason, APPEND, "ss", "/a", "x");
    SEND_BAD(2, reason, MULTI_SET, "qssss", N(2), "/new", "", "/a", "x");
    assert_false(has(bench, " /new "));
    SEND(2, DELETE, "s", "/b");
    SEND(2, APPEND, "ss", "/a", "x");
    SEND(0, SET, "sz", "/b", (uint64_t)7000);
    teardown(&here);
}

TEST(what_is_held_for_clients_counts_by_address)
{
    struct bench *bench = bench_new((struct tcpstore_each){2, 100, 10000});
    void *here = bench;

    assert_true(tcpstore_client_hold(&bench->fakes[0].client, 6000));
    assert_false(tcpstore_client_hold(&bench->fakes[1].client, 6000));
    assert_true(tcpstore_client_hold(&bench->fakes[2].client, 6000));
    assert_true(tcpstore_client_hold(&bench->fakes[0].client, -6000));
    teardown(&here);
}
