/* SPDX-License-Identifier: Apache-2.0 */
/* test_tcpstore_kv.c - what each query answers, and who is woken when */
#include "tests/unit/tcpstore_fake.h"
#include "tests/unit/test.h"

#define CLIENTS 4
#define LIMITS(keys, bytes)                                                              \
    ((struct tcpstore_limits){.max_keys = keys, .max_bytes = bytes})

struct bench {
    struct tcpstore_kv *kv;
    struct fake fakes[CLIENTS];
};

static void bench_init(struct bench *bench, struct tcpstore_limits limits)
{
    bench->kv = tcpstore_kv_create(&limits, "");
    for (int i = 0; i < CLIENTS; i++) {
        tcpstore_client_init(&bench->fakes[i].client, bench->kv, fake_on_wake);
        tcpstore_out_init(&bench->fakes[i].out, REQUEST_MAX);
    }
}

static void bench_release(struct bench *bench)
{
    for (int i = 0; i < CLIENTS; i++) {
        tcpstore_client_release(&bench->fakes[i].client);
        tcpstore_out_release(&bench->fakes[i].out);
    }
    tcpstore_kv_destroy(bench->kv);
}

static int setup(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    bench_init(bench, LIMITS(65536, (size_t)256 << 20));
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    bench_release(*state);
    free(*state);
    return 0;
}

EACH_FIXTURE(setup, teardown);

static size_t used_bytes(const struct bench *bench)
{
    struct tcpstore_usage usage;

    tcpstore_kv_usage(bench->kv, &usage);
    return usage.bytes;
}

/* Send a request as client i; it must (not) be answered by closing the connection. */
#define SEND(i, ...) send_expecting(bench, i, 0, __LINE__, __VA_ARGS__)
#define SEND_BAD(i, ...) send_expecting(bench, i, -1, __LINE__, __VA_ARGS__)
#define send_expecting(bench, i, rc, line, type, ...)                                    \
    do {                                                                                 \
        struct buf bytes;                                                                \
        enum tcpstore_refusal why;                                                       \
        buf_init(&bytes, REQUEST_MAX);                                                   \
        put_request(&bytes, type, __VA_ARGS__);                                          \
        if (fake_execute(&(bench)->fakes[i], &bytes, &why) != (rc))                      \
            fail_msg("line %d: %s", line, tcpstore_refusal_name(why));                   \
    } while (0)

/* Client i has got exactly these reply fields since it was last looked at. */
#define EXPECT(i, ...)                                                                   \
    do {                                                                                 \
        struct buf expected;                                                             \
        buf_init(&expected, REQUEST_MAX);                                                \
        put_request(&expected, 0, __VA_ARGS__);                                          \
        compare(&bench->fakes[i].out, &expected, __LINE__);                              \
    } while (0)

/* expected begins with a type byte that replies don't have. */
static void compare(struct tcpstore_out *out, struct buf *expected, int line)
{
    struct buf got;

    buf_init(&got, REQUEST_MAX);
    fake_take(out, SIZE_MAX, &got);
    if (got.len != expected->len - 1)
        fail_msg("line %d: a reply of %zu bytes is not the %zu expected", line, got.len,
                 expected->len - 1);
    if (got.len && memcmp(got.data, expected->data + 1, got.len) != 0)
        fail_msg("line %d: the reply differs", line);
    buf_release(&got);
    buf_release(expected);
}

TEST(a_long_reply_stays_as_it_was_asked_for)
{
    struct bench *bench = *state;

    for (int i = 0; i < 4; i++) {
        SEND(0, SET, "sz", "/k", (uint64_t)100000);
        SEND(1, GET, "s", "/k");
        if (i == 0)
            SEND(0, SET, "ss", "/k", "a short one");
        else if (i == 1)
            SEND(0, SET, "ss", "/k", "");
        else
            SEND(0, APPEND, "sz", "/k", (uint64_t)i);
        if (i == 3)
            SEND(0, DELETE, "s", "/k");
        EXPECT(1, "z", (uint64_t)100000);
    }
    EXPECT(0, "q", N(1));
}

TEST(values_are_kept_as_they_are)
{
    struct bench *bench = *state;

    SEND(0, SET, "ss", "/k", "v1");
    EXPECT(0, "");
    SEND(1, GET, "s", "/k");
    EXPECT(1, "s", "v1");
    SEND(1, SET, "ss", "/k", "a longer value than before");
    SEND(0, GET, "s", "/k");
    EXPECT(0, "s", "a longer value than before");
    SEND(0, SET, "ss", "/k", "");
    SEND(0, GET, "s", "/k");
    EXPECT(0, "s", "");
    SEND(0, GET, "s", "/absent");
    EXPECT(0, "s", "");
    SEND(0, NUMKEYS, "");
    EXPECT(0, "q", N(1));
    SEND(0, SET, "ss", "", "the empty key");
    SEND(0, GET, "s", "");
    EXPECT(0, "s", "the empty key");
}

TEST(add_reads_numbers_as_stoll_does)
{
    static const struct {
        const char *old;
        int64_t delta, result;
        bool is_bad;
    } cases[] = {
        {"5", 1, 6, false},
        {" 12abc", 1, 13, false},
        {"\t\n\v\f\r -7 8", 2, -5, false},
        {"+3", 1, 4, false},
        {"0009", 1, 10, false},
        {"9223372036854775807", -1, INT64_MAX - 1, false},
        {"-9223372036854775808", 0, INT64_MIN, false},
        {"9223372036854775807", 1, INT64_MIN, false},
        {"9223372036854775808", 0, 0, true},
        {"-9223372036854775809", 0, 0, true},
        {"99999999999999999999999", 0, 0, true},
        {"abc", 1, 0, true},
        {"", 1, 0, true},
        {"-", 1, 0, true},
        {"+-1", 1, 0, true},
        {"   ", 1, 0, true},
    };
    struct bench *bench = *state;
    char text[32];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        SEND(0, SET, "ss", "/n", cases[i].old);
        if (cases[i].is_bad) {
            SEND_BAD(0, ADD, "sq", "/n", cases[i].delta);
            SEND(0, GET, "s", "/n");
            EXPECT(0, "s", cases[i].old);
            continue;
        }
        SEND(0, ADD, "sq", "/n", cases[i].delta);
        EXPECT(0, "q", cases[i].result);
        SEND(0, GET, "s", "/n");
        snprintf(text, sizeof(text), "%lld", (long long)cases[i].result);
        EXPECT(0, "s", text);
    }
    SEND(0, ADD, "sq", "/new", N(-3));
    EXPECT(0, "q", N(-3));
}

TEST(compare_set_follows_its_table)
{
    struct bench *bench = *state;

    /* Absent and something expected: not stored, answered with what was expected. */
    SEND(0, CAS, "sss", "/k", "e", "d");
    EXPECT(0, "s", "e");
    SEND(0, CHECK, "qs", N(1), "/k");
    EXPECT(0, "b", 1u);
    /* Absent and nothing expected: stored. */
    SEND(0, CAS, "sss", "/k", "", "d");
    EXPECT(0, "s", "d");
    /* Present and equal: stored. */
    SEND(0, CAS, "sss", "/k", "d", "d2");
    EXPECT(0, "s", "d2");
    /* Present and different: answered with what is there. */
    SEND(0, CAS, "sss", "/k", "d", "d3");
    EXPECT(0, "s", "d2");
    SEND(0, CAS, "sss", "/k", "", "d3");
    EXPECT(0, "s", "d2");
    SEND(0, GET, "s", "/k");
    EXPECT(0, "s", "d2");
}

TEST(append_makes_and_lengthens)
{
    struct bench *bench = *state;
    size_t before = used_bytes(bench);

    SEND(0, APPEND, "ss", "/k", "ab");
    SEND(0, APPEND, "ss", "/k", "");
    SEND(0, APPEND, "ss", "/k", "cde");
    SEND(0, GET, "s", "/k");
    EXPECT(0, "s", "abcde");
    SEND(0, APPEND, "ss", "/empty", "");
    SEND(0, CHECK, "qs", N(1), "/empty");
    EXPECT(0, "b", 0u);
    for (int i = 0; i < 1000; i++)
        SEND(0, APPEND, "sz", "/big", (uint64_t)100);
    SEND(0, GET, "s", "/big");
    EXPECT(0, "z", (uint64_t)100000);
    SEND(0, DELETE, "s", "/k");
    SEND(0, DELETE, "s", "/big");
    SEND(0, DELETE, "s", "/empty");
    EXPECT(0, "qqq", N(1), N(1), N(1));
    assert_int_equal(used_bytes(bench), before);
}

TEST(delete_says_whether_it_was_there)
{
    struct bench *bench = *state;

    SEND(0, DELETE, "s", "/k");
    EXPECT(0, "q", N(0));
    SEND(0, SET, "ss", "/k", "v");
    SEND(0, DELETE, "s", "/k");
    EXPECT(0, "q", N(1));
    SEND(0, DELETE, "s", "/k");
    EXPECT(0, "q", N(0));
    SEND(0, NUMKEYS, "");
    EXPECT(0, "q", N(0));
}

TEST(lists_work_on_many_keys)
{
    struct bench *bench = *state;

    SEND(0, MULTI_SET, "qssssss", N(3), "/a", "1", "/b", "", "/a", "2");
    EXPECT(0, "");
    SEND(0, MULTI_GET, "qsss", N(3), "/a", "/absent", "/b");
    EXPECT(0, "sss", "2", "", "");
    SEND(0, CHECK, "qss", N(2), "/a", "/b");
    EXPECT(0, "b", 0u);
    SEND(0, CHECK, "qsss", N(3), "/a", "/absent", "/b");
    EXPECT(0, "b", 1u);
    SEND(0, CHECK, "q", N(0));
    EXPECT(0, "b", 0u);
    SEND(0, MULTI_GET, "q", N(0));
    EXPECT(0, "");
    SEND(0, LIST, "");
    EXPECT(0, "qss", N(2), "/a", "/b");
}

TEST(many_keys_are_listed)
{
    enum { KEYS = 10000 };
    struct bench *bench = *state;
    struct buf expected;
    char key[16];

    buf_init(&expected, REQUEST_MAX);
    put_request(&expected, 0, "q", N(KEYS));
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "k%05d", i);
        SEND(0, SET, "ss", key, "");
        tcpstore_put_blob(&expected, key, 6);
    }
    SEND(1, LIST, "");
    compare(&bench->fakes[1].out, &expected, __LINE__);
}

TEST(ping_answers_its_nonce)
{
    struct bench *bench = *state;

    SEND(0, PING, "u", 0xfeedfaceu);
    EXPECT(0, "u", 0xfeedfaceu);
}

/* ---- Waiting ---- */

TEST(wait_for_what_exists_ends_at_once)
{
    struct bench *bench = *state;

    SEND(0, SET, "ss", "/k", "");
    SEND(0, WAIT, "qs", N(1), "/k");
    EXPECT(0, "b", 0u);
    SEND(0, WAIT, "q", N(0));
    EXPECT(0, "b", 0u);
}

TEST(every_kind_of_writing_wakes)
{
    struct bench *bench = *state;
    const struct {
        int type;
        const char *format;
    } cases[] = {
        {SET, "ss"}, {ADD, "sq"}, {APPEND, "ss"}, {MULTI_SET, "qss"}, {CAS, "sss"}};

    for (int i = 0; i < 5; i++) {
        SEND(0, WAIT, "qs", N(1), "/k");
        SEND(1, WAIT, "qsss", N(3), "/k", "/k", "/k");
        EXPECT(0, "");
        if (cases[i].type == ADD)
            SEND(2, ADD, "sq", "/k", N(1));
        else if (cases[i].type == MULTI_SET)
            SEND(2, MULTI_SET, "qss", N(1), "/k", "v");
        else if (cases[i].type == CAS)
            SEND(2, CAS, "sss", "/k", "", "v");
        else
            SEND(2, cases[i].type, "ss", "/k", "v");
        EXPECT(0, "b", 0u);
        EXPECT(1, "b", 0u);
        tcpstore_out_release(&bench->fakes[2].out);
        SEND(2, DELETE, "s", "/k");
        EXPECT(2, "q", N(1));
        EXPECT(0, "");
    }
}

TEST(wait_ends_with_the_last_key)
{
    struct bench *bench = *state;

    SEND(1, SET, "ss", "/b", "");
    SEND(0, WAIT, "qsss", N(3), "/a", "/b", "/c");
    SEND(1, SET, "ss", "/c", "");
    SEND(1, SET, "ss", "/c", "");
    EXPECT(0, "");
    /* What has arrived stays arrived. */
    SEND(1, DELETE, "s", "/c");
    SEND(1, SET, "ss", "/a", "");
    EXPECT(0, "b", 0u);
    SEND(1, SET, "ss", "/a", "");
    EXPECT(0, "");
}

TEST(delete_wakes_nobody)
{
    struct bench *bench = *state;

    SEND(0, WAIT, "qs", N(1), "/k");
    SEND(1, DELETE, "s", "/k");
    EXPECT(0, "");
    SEND(1, CAS, "sss", "/k", "not there", "v");
    EXPECT(0, "");
    SEND(1, SET, "ss", "/k", "");
    EXPECT(0, "b", 0u);
}

TEST(other_queries_leave_a_wait_alone)
{
    struct bench *bench = *state;

    SEND(0, WAIT, "qs", N(1), "/k");
    SEND(0, GET, "s", "/k");
    SEND(0, PING, "u", 7u);
    EXPECT(0, "su", "", 7u);
    SEND(1, SET, "ss", "/k", "");
    EXPECT(0, "b", 0u);
}

TEST(cancel_answers_once_and_is_final)
{
    struct bench *bench = *state;
    size_t before = used_bytes(bench);

    SEND(0, CANCEL, "");
    EXPECT(0, "b", 1u);
    SEND(0, WAIT, "qss", N(2), "/k", "/l");
    SEND(0, CANCEL, "");
    EXPECT(0, "b", 1u);
    assert_int_equal(used_bytes(bench), before);
    SEND(1, SET, "ss", "/k", "");
    SEND(1, SET, "ss", "/l", "");
    EXPECT(0, "");
    /* The wake crossed the cancel on its way. */
    SEND(0, WAIT, "qs", N(1), "/m");
    SEND(1, SET, "ss", "/m", "");
    SEND(0, CANCEL, "");
    EXPECT(0, "bb", 0u, 1u);
}

TEST(second_wait_takes_the_place_of_the_first)
{
    struct bench *bench = *state;

    SEND(0, WAIT, "qs", N(1), "/a");
    SEND(0, WAIT, "qs", N(1), "/b");
    SEND(1, SET, "ss", "/a", "");
    EXPECT(0, "");
    SEND(1, SET, "ss", "/b", "");
    EXPECT(0, "b", 0u);
}

TEST(v1_client_gives_up_its_wait_with_its_next_query)
{
    struct bench *bench = *state;

    bench->fakes[0].client.is_v1 = true;
    SEND(0, WAIT, "qs", N(1), "/k");
    SEND(0, GET, "s", "/other");
    EXPECT(0, "s", "");
    SEND(1, SET, "ss", "/k", "");
    EXPECT(0, "");
}

TEST(client_that_left_is_not_woken)
{
    struct bench *bench = *state;
    struct tcpstore_usage usage;

    SEND(0, WAIT, "qss", N(2), "/k", "/l");
    tcpstore_client_release(&bench->fakes[0].client);
    SEND(1, SET, "ss", "/k", "");
    SEND(1, SET, "ss", "/l", "");
    EXPECT(0, "");
    tcpstore_kv_usage(bench->kv, &usage);
    assert_int_equal(usage.waits, 0);
    assert_int_equal(usage.keys, 2);
}

/* ---- Queues and barriers ---- */

TEST(queue_is_first_in_first_out)
{
    struct bench *bench = *state;
    size_t before = used_bytes(bench);

    SEND(0, POP, "s", "/q");
    EXPECT(0, "q", N(0));
    SEND(0, PUSH, "ss", "/q", "one");
    SEND(0, PUSH, "ss", "/q", "");
    SEND(0, LEN, "s", "/q");
    EXPECT(0, "q", N(2));
    SEND(0, CHECK, "qs", N(1), "/q");
    SEND(0, WAIT, "qs", N(1), "/q");
    EXPECT(0, "bb", 0u, 0u);
    SEND(0, NUMKEYS, "");
    SEND(0, LIST, "");
    EXPECT(0, "qq", N(0), N(0));
    SEND(0, POP, "s", "/q");
    EXPECT(0, "qs", N(2), "one");
    SEND(0, POP, "s", "/q");
    EXPECT(0, "qs", N(1), "");
    SEND(0, POP, "s", "/q");
    SEND(0, LEN, "s", "/q");
    EXPECT(0, "qq", N(0), N(0));
    assert_int_equal(used_bytes(bench), before);
}

TEST(push_wakes_one_client_and_leaves_no_trace)
{
    struct bench *bench = *state;

    SEND(0, WAIT, "qs", N(1), "/q");
    SEND(1, WAIT, "qs", N(1), "/q");
    SEND(2, PUSH, "ss", "/q", "x");
    EXPECT(0, "b", 0u);
    EXPECT(1, "");
    SEND(0, POP, "s", "/q");
    EXPECT(0, "qs", N(1), "x");
    /* The one that was woken waits for something else now: this push is not for it. */
    SEND(0, WAIT, "qs", N(1), "/other");
    SEND(2, PUSH, "ss", "/q", "y");
    EXPECT(0, "");
    EXPECT(1, "b", 0u);
}

TEST(push_counts_for_who_waits_for_more)
{
    struct bench *bench = *state;

    SEND(0, WAIT, "qss", N(2), "/q", "/k");
    SEND(1, WAIT, "qs", N(1), "/q");
    SEND(2, PUSH, "ss", "/q", "x");
    EXPECT(0, "");
    EXPECT(1, "b", 0u);
    SEND(2, SET, "ss", "/k", "");
    EXPECT(0, "b", 0u);
}

TEST(barrier_holds_until_all_are_there)
{
    struct bench *bench = *state;

    SEND(3, WAIT, "qs", N(1), "/b");
    SEND(0, BARRIER, "sq", "/b", N(3));
    SEND(1, BARRIER, "sq", "/b", N(3));
    EXPECT(0, "");
    EXPECT(3, "");
    SEND(3, CANCEL, "");
    SEND(3, GET, "s", "/b");
    SEND(3, CHECK, "qs", N(1), "/b");
    EXPECT(3, "bsb", 1u, "2", 0u);
    SEND(3, WAIT, "qs", N(1), "/b");
    EXPECT(3, "b", 0u);
    SEND(2, BARRIER, "sq", "/b", N(3));
    EXPECT(0, "b", 0u);
    EXPECT(1, "b", 0u);
    EXPECT(2, "b", 0u);
    /* It never starts again. */
    SEND(3, BARRIER, "sq", "/b", N(3));
    EXPECT(3, "b", 0u);
}

TEST(barrier_completion_wakes_who_waits_for_its_key)
{
    struct bench *bench = *state;

    SEND(0, WAIT, "qs", N(1), "/b");
    SEND(1, BARRIER, "sq", "/b", N(2));
    EXPECT(0, "");
    SEND(2, BARRIER, "sq", "/b", N(2));
    EXPECT(0, "b", 0u);
    EXPECT(1, "b", 0u);
    EXPECT(2, "b", 0u);
}

TEST(barrier_can_be_cancelled_but_counts)
{
    struct bench *bench = *state;

    SEND(0, BARRIER, "sq", "/b", N(2));
    SEND(0, CANCEL, "");
    EXPECT(0, "b", 1u);
    SEND(1, BARRIER, "sq", "/b", N(2));
    EXPECT(1, "b", 0u);
    EXPECT(0, "");
    SEND(1, SET, "ss", "/bad", "no number");
    SEND_BAD(1, BARRIER, "sq", "/bad", N(2));
    SEND(1, BARRIER, "sq", "/one", N(1));
    EXPECT(1, "b", 0u);
}

/* Nobody may be let out of a barrier by writing to its key. */
TEST(barrier_is_not_opened_by_a_set)
{
    struct bench *bench = *state;

    SEND(0, BARRIER, "sq", "/b", N(3));
    SEND(1, SET, "ss", "/b", "1");
    SEND(1, PUSH, "ss", "/b", "x");
    EXPECT(0, "");
    SEND(1, BARRIER, "sq", "/b", N(3));
    SEND(2, BARRIER, "sq", "/b", N(3));
    EXPECT(0, "b", 0u);
    EXPECT(1, "b", 0u);
    EXPECT(2, "b", 0u);
}

/* ---- Limits ---- */

TEST(limit_of_keys_holds)
{
    struct bench bench_here = {0}, *bench = &bench_here;

    bench_init(bench, LIMITS(3, 1 << 20));
    SEND(0, MULTI_SET, "qssss", N(2), "/a", "", "/b", "");
    /* The pairs before the one that has no room are stored. */
    SEND_BAD(0, MULTI_SET, "qssssss", N(3), "/b", "x", "/c", "", "/d", "");
    SEND(0, MULTI_GET, "qss", N(2), "/b", "/d");
    EXPECT(0, "ss", "x", "");
    SEND_BAD(0, SET, "ss", "/d", "");
    SEND_BAD(0, ADD, "sq", "/d", N(1));
    SEND_BAD(0, APPEND, "ss", "/d", "");
    SEND_BAD(0, CAS, "sss", "/d", "", "");
    SEND_BAD(0, PUSH, "ss", "/d", "");
    SEND_BAD(0, WAIT, "qs", N(1), "/d");
    SEND_BAD(0, BARRIER, "sq", "/d", N(2));
    SEND(0, SET, "ss", "/c", "v");
    SEND(0, MULTI_SET, "qssss", N(2), "/a", "x", "/b", "y");
    SEND(0, DELETE, "s", "/a");
    EXPECT(0, "q", N(1));
    SEND(0, SET, "ss", "/d", "");
    bench_release(bench);
}

TEST(limit_of_bytes_holds)
{
    struct bench bench_here = {0}, *bench = &bench_here;
    size_t before;

    bench_init(bench, LIMITS(100, 20000));
    SEND(0, SET, "sz", "/a", (uint64_t)15000);
    before = used_bytes(bench);
    SEND_BAD(0, SET, "sz", "/b", (uint64_t)15000);
    SEND_BAD(0, APPEND, "sz", "/a", (uint64_t)6000);
    SEND_BAD(0, APPEND, "sz", "/b", (uint64_t)6000);
    SEND_BAD(0, PUSH, "sz", "/b", (uint64_t)6000);
    SEND_BAD(0, CAS, "ssz", "/b", "", (uint64_t)6000);
    SEND_BAD(0, MULTI_SET, "qsz", N(1), "/b", (uint64_t)6000);
    SEND_BAD(0, SET, "zs", (uint64_t)6000, "");
    assert_int_equal(used_bytes(bench), before);
    SEND(0, NUMKEYS, "");
    EXPECT(0, "q", N(1));
    SEND(0, SET, "sz", "/a", (uint64_t)100);
    SEND(0, SET, "sz", "/b", (uint64_t)15000);
    bench_release(bench);
}

TEST(waits_count_as_bytes)
{
    enum { KEYS = 1000 };
    struct bench bench_here = {0}, *bench = &bench_here;
    enum tcpstore_refusal reason;
    struct buf request;
    size_t before;

    bench_init(bench, LIMITS(100, 10000));
    SEND(0, WAIT, "qss", N(2), "/a", "/b");
    before = used_bytes(bench);
    buf_init(&request, REQUEST_MAX);
    put_request(&request, WAIT, "q", N(KEYS));
    for (int i = 0; i < KEYS; i++)
        put_bytes(&request, "/a", 2);
    assert_int_equal(fake_execute(&bench->fakes[1], &request, &reason), -1);
    assert_int_equal(reason, TCPSTORE_STORE_BYTES);
    assert_int_equal(used_bytes(bench), before);
    SEND(3, MULTI_SET, "qssss", N(2), "/a", "", "/b", "");
    EXPECT(0, "b", 0u);
    SEND(3, DELETE, "s", "/a");
    SEND(3, DELETE, "s", "/b");
    assert_int_equal(used_bytes(bench), 0);
    bench_release(bench);
}

TEST(reply_over_its_limit_closes)
{
    struct bench *bench = *state;

    SEND(0, SET, "sz", "/a", (uint64_t)1000);
    bench->fakes[0].out.bytes.max = 3000;
    SEND_BAD(0, MULTI_GET, "qsss", N(3), "/a", "/a", "/a");
}

/* ---- What can be seen ---- */

/* The names and sizes of {"key","bytes"}, or the strings of an array. */
static void expect_keys(json_t *keys, const char *expected)
{
    struct buf seen;
    json_t *item;
    size_t i;

    buf_init(&seen, 1000);
    json_array_foreach (keys, i, item)
        if (json_is_string(item))
            buf_printf(&seen, "%s ", json_string_value(item));
        else
            buf_printf(&seen, "%s=%d ", json_string_value(json_object_get(item, "key")),
                       (int)json_integer_value(json_object_get(item, "bytes")));
    assert_string_equal(seen.data, expected);
    json_decref(keys);
    buf_release(&seen);
}

TEST(keys_and_waits_can_be_seen)
{
    struct bench *bench = *state;
    struct tcpstore_usage usage;

    SEND(0, SET, "ss", "/a", "123");
    SEND(0, PUSH, "ss", "/q", "12");
    SEND(1, WAIT, "qsss", N(3), "/a", "/b", "/c");
    SEND(0, SET, "ss", "/c", "");
    expect_keys(tcpstore_kv_keys_json(bench->kv, 100), "/c=0 /q=2 /a=3 ");
    expect_keys(tcpstore_kv_keys_json(bench->kv, 2), "/c=0 /q=2 ");
    expect_keys(tcpstore_client_keys_json(&bench->fakes[1].client, 100), "/b ");
    tcpstore_kv_usage(bench->kv, &usage);
    assert_int_equal(usage.keys, 2);
    assert_int_equal(usage.waits, 1);
}
