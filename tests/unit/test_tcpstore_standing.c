/* SPDX-License-Identifier: Apache-2.0 */
/* test_tcpstore_standing.c - keys that expire and limits for each rendezvous id, on a
 * clock of the test's own */
#include <malloc.h>

#include "common/base/json_util.h"
#include "tests/unit/tcpstore_fake.h"
#include "tests/unit/test.h"

#define CLIENTS 4
#define TTL_MS 3600000
#define HOUR_MS 3600000

struct bench {
    struct tcpstore_kv *kv;
    struct fake fakes[CLIENTS];
    int64_t now_ms;
};

static struct bench *bench_new(size_t max_id_bytes)
{
    const struct tcpstore_limits limits = {.max_keys = 100000,
                                           .max_bytes = (size_t)64 << 20,
                                           .max_id_bytes = max_id_bytes,
                                           .ttl_ms = TTL_MS};
    struct bench *bench = calloc(1, sizeof(*bench));

    bench->kv = tcpstore_kv_create(&limits, "");
    bench->now_ms = 1;
    tcpstore_kv_expire(bench->kv, bench->now_ms);
    for (int i = 0; i < CLIENTS; i++) {
        tcpstore_client_init(&bench->fakes[i].client, bench->kv, fake_on_wake);
        tcpstore_out_init(&bench->fakes[i].out, REQUEST_MAX);
    }
    return bench;
}

static int setup(void **state)
{
    *state = bench_new((size_t)32 << 20);
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

/* Let time pass; everything that is due expires. */
static void pass(struct bench *bench, int64_t ms)
{
    bench->now_ms += ms;
    tcpstore_kv_expire(bench->kv, bench->now_ms);
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

/* Whether the key is there; asking does not use it. */
static bool has(const struct bench *bench, const char *key)
{
    json_t *keys = tcpstore_kv_keys_json(bench->kv, SIZE_MAX);
    bool is_there = json_find(keys, "key", key) != NULL;

    json_decref(keys);
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
    assert_true(has(bench, "/old") && has(bench, "/new"));
    pass(bench, 1);
    assert_true(!has(bench, "/old") && has(bench, "/new"));
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
        if (!has(bench, "/k"))
            fail_msg("use %d does not count", use);
        pass(bench, 1);
        assert_false(has(bench, "/k"));
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
    assert_false(has(bench, "/k"));
}

TEST_WITH(setup, teardown, waiting_is_using)
{
    struct bench *bench = *state;

    SEND(0, BARRIER, "sq", "/b", N(2));
    SEND(1, WAIT, "qs", N(1), "/late");
    for (int i = 0; i < 10; i++)
        pass(bench, TTL_MS);
    assert_true(has(bench, "/b"));
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
    assert_true(has(bench, "/c"));
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

/* Keys that nobody deletes, and a client that leaves while it waits. */
static void run_job(struct bench *bench, int number)
{
    struct fake *fake = &bench->fakes[0];
    char key[64];

    tcpstore_client_release(&fake->client);
    tcpstore_client_init(&fake->client, bench->kv, fake_on_wake);
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
    tcpstore_out_release(&fake->out);
}

TEST_WITH(setup, teardown, a_month_of_jobs_leaves_memory_as_it_was)
{
    enum { DAYS = 31, JOBS_AN_HOUR = 20 };
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
    }
    assert_true(usage_of(bench).expired > (uint64_t)(DAYS - 1) * 24 * JOBS_AN_HOUR * 20);
    SEND(0, CANCEL, "");
    pass(bench, TTL_MS);
    assert_int_equal(usage_of(bench).keys, 0);
    assert_int_equal(usage_of(bench).bytes, 0);
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

/* ---- Limits for each id ---- */

TEST(an_id_has_so_many_bytes)
{
    struct bench *bench = bench_new(10000);
    const enum tcpstore_refusal reason = TCPSTORE_ID_BYTES;
    size_t before = usage_of(bench).bytes;
    void *here = bench;

    SEND(0, SET, "sz", "/job/a", (uint64_t)7000);
    SEND_BAD(1, reason, SET, "sz", "/job/b", (uint64_t)7000);
    SEND_BAD(1, reason, APPEND, "sz", "/job/a", (uint64_t)4000);
    SEND_BAD(1, reason, PUSH, "sz", "/job/a", (uint64_t)4000);
    SEND_BAD(1, reason, CAS, "ssz", "/job/b", "", (uint64_t)4000);
    SEND_BAD(1, reason, MULTI_SET, "qszss", N(2), "/job/b", (uint64_t)4000, "/job/c", "");
    assert_int_equal(usage_of(bench).keys, 1);
    /* Others are not concerned. */
    SEND(1, SET, "sz", "/other/b", (uint64_t)7000);
    /* Deleted or expired bytes are free again. */
    SEND(1, DELETE, "s", "/job/a");
    SEND(0, SET, "sz", "/job/b", (uint64_t)7000);
    pass(bench, TTL_MS);
    assert_int_equal(usage_of(bench).bytes, before);
    SEND(0, SET, "sz", "/job/c", (uint64_t)7000);
    SEND(0, DELETE, "s", "/job/c");
    assert_int_equal(usage_of(bench).bytes, before);
    teardown(&here);
}

TEST(an_id_s_keys_take_bytes_too)
{
    struct bench *bench = bench_new(10000);
    void *here = bench;
    enum tcpstore_refusal reason = TCPSTORE_NOT_REFUSED;
    struct buf request;
    char key[32];
    int n = 0;

    for (; reason == TCPSTORE_NOT_REFUSED && n < 1000; n++) {
        snprintf(key, sizeof(key), "/job/%d", n);
        buf_init(&request, REQUEST_MAX);
        put_request(&request, SET, "ss", key, "");
        fake_execute(&bench->fakes[0], &request, &reason);
    }
    assert_int_equal(reason, TCPSTORE_ID_BYTES);
    assert_in_range(n, 10, 100);
    SEND_BAD(1, TCPSTORE_ID_BYTES, WAIT, "qs", N(1), "/job/never");
    SEND_BAD(1, TCPSTORE_ID_BYTES, BARRIER, "sq", "/job/never", N(2));
    SEND(1, WAIT, "qs", N(1), "/other/never");
    teardown(&here);
}

/* Which keys share a limit. */
TEST(keys_belong_to_their_id)
{
    static const struct {
        const char *one, *other;
        bool is_same;
    } cases[] = {
        {"/torch.rendezvous.7", "/torch.rendezvous.7.0/MASTER_ADDR", true},
        {"/torch.rendezvous.7.0/a", "/torch.rendezvous.7.12/b", true},
        {"/torch.rendezvous.7", "/torch.rendezvous.8", false},
        {"/torch.rendezvous.7.1", "/torch.rendezvous.7", false}, /* a step of a job */
        {"/torch.rendezvous.7.1", "/torch.rendezvous.7.1.0/a", true},
        {"/torch.rendezvous.7", "/torch.rendezvous.71.0/a", false},
        {"/torch.rendezvous.7/a", "/torch.rendezvous.7", true},
        {"/prefix.1/a", "/prefix.2/a", false},
        {"/prefix/a/b", "/prefix/c", true},
        {"/one", "/two", true},
        {"/one", "", true},
        {"/one", "/one/a", false},
        {"init/", "/init/a", true},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench *bench = bench_new(10000);
        enum tcpstore_refusal reason;
        void *here = bench;
        struct buf request;

        SEND(0, SET, "sz", cases[i].one, (uint64_t)7000);
        buf_init(&request, REQUEST_MAX);
        put_request(&request, SET, "sz", cases[i].other, (uint64_t)7000);
        fake_execute(&bench->fakes[0], &request, &reason);
        if (reason != (cases[i].is_same ? TCPSTORE_ID_BYTES : TCPSTORE_NOT_REFUSED))
            fail_msg("'%s' and '%s': %s", cases[i].one, cases[i].other,
                     tcpstore_refusal_name(reason));
        teardown(&here);
    }
}
