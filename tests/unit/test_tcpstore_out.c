/* test_tcpstore_out.c - replies that are made of bytes and of the store's own values */
#include "server/rendezvous/tcpstore_out.h"
#include "tests/unit/test.h"

#define PARTS 3
#define MAX (1u << 20)

static const size_t lengths[] = {1,    0,      255,   256, 70000, TCPSTORE_STEP_BYTES,
                                 9000, 200000, 40000, 1,   65537, 300};
#define VALUES (sizeof(lengths) / sizeof(lengths[0]))

static struct tcpstore_value *value_of(size_t i)
{
    struct tcpstore_value *value = tcpstore_value_create(lengths[i] + 1);

    assert_non_null(value);
    for (size_t at = 0; at < lengths[i]; at++)
        value->data[at] = (unsigned char)(at * 7 + i);
    return value;
}

/* Take what is next, `most` bytes at a time. */
static void drain(struct tcpstore_out *out, size_t most, struct buf *got)
{
    while (tcpstore_out_len(out)) {
        struct iovec parts[PARTS];
        size_t n = tcpstore_out_next(out, parts, PARTS), taken = 0, step = 0;

        assert_in_range(n, 1, PARTS);
        for (size_t i = 0; i < n; i++) {
            size_t len =
                parts[i].iov_len < most - taken ? parts[i].iov_len : most - taken;
            assert_int_equal(buf_append(got, parts[i].iov_base, len), 0);
            taken += len;
            step += parts[i].iov_len;
        }
        assert_in_range(step, 1, TCPSTORE_STEP_BYTES);
        tcpstore_out_sent(out, taken, 0);
    }
}

TEST(all_comes_in_order_in_any_steps)
{
    static const size_t steps[] = {1000, 65535, MAX};
    struct tcpstore_value *values[VALUES];
    struct tcpstore_out out;
    struct buf expected, got;

    for (size_t s = 0; s < 3; s++) {
        tcpstore_out_init(&out, MAX);
        buf_init(&expected, MAX);
        buf_init(&got, MAX);
        for (size_t i = 0; i < VALUES; i++) {
            values[i] = value_of(i);
            buf_append(&out.bytes, "length", 6);
            assert_int_equal(tcpstore_out_put_value(&out, values[i], lengths[i]), 0);
            buf_append(&expected, "length", 6);
            buf_append(&expected, values[i]->data, lengths[i]);
        }
        buf_append(&out.bytes, "end", 3);
        buf_append(&expected, "end", 3);
        assert_int_equal(tcpstore_out_len(&out), expected.len);
        assert_in_range(out.bytes.len, 1, 2 * TCPSTORE_STEP_BYTES);
        drain(&out, steps[s], &got);
        assert_int_equal(got.len, expected.len);
        assert_memory_equal(got.data, expected.data, got.len);
        for (size_t i = 0; i < VALUES; i++) {
            assert_int_equal(values[i]->users, 1);
            tcpstore_value_drop(values[i]);
        }
        assert_null(out.bytes.data);
        tcpstore_out_release(&out);
        buf_release(&expected);
        buf_release(&got);
    }
}

TEST(what_is_too_much_is_refused_and_changes_nothing)
{
    struct tcpstore_value *value = tcpstore_value_create(MAX);
    struct tcpstore_out out;

    memset(value->data, 0, MAX);
    tcpstore_out_init(&out, MAX);
    assert_int_equal(tcpstore_out_put_value(&out, value, MAX - 1), 0);
    assert_int_equal(tcpstore_out_put_value(&out, value, 2), -1);
    assert_int_equal(tcpstore_out_put_value(&out, value, (size_t)-1), -1);
    assert_int_equal(tcpstore_out_len(&out), MAX - 1);
    assert_int_equal(value->users, 2);
    tcpstore_out_release(&out);
    assert_int_equal(value->users, 1);
    tcpstore_value_drop(value);
}
