/* SPDX-License-Identifier: Apache-2.0 */
/* test_tcpstore_out.c - replies that are made of bytes and of the store's own values */
#include "server/rendezvous/tcpstore_out.h"
#include "tests/unit/tcpstore_fake.h"
#include "tests/unit/test.h"

#define LIMIT (1u << 20)

static const size_t lengths[] = {1,    0,      255,   256, 70000, TCPSTORE_STEP_BYTES,
                                 9000, 200000, 40000, 1,   65537, 300};
#define VALUES (sizeof(lengths) / sizeof(lengths[0]))

static struct tcpstore_value *value_of(size_t i)
{
    struct tcpstore_value *value = tcpstore_value_resize(NULL, lengths[i]);

    for (size_t at = 0; at < lengths[i]; at++)
        value->data[at] = (unsigned char)(at * 7 + i);
    return value;
}

TEST(all_comes_in_order_in_any_steps)
{
    static const size_t steps[] = {1000, 65535, LIMIT};
    struct tcpstore_value *values[VALUES];
    struct tcpstore_out out;
    struct buf expected, got;

    for (size_t s = 0; s < 3; s++) {
        tcpstore_out_init(&out, LIMIT);
        buf_init(&expected, LIMIT);
        buf_init(&got, LIMIT);
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
        fake_take(&out, steps[s], &got);
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
    struct tcpstore_value *value = tcpstore_value_resize(NULL, LIMIT);
    struct tcpstore_out out;

    memset(value->data, 0, LIMIT);
    tcpstore_out_init(&out, LIMIT);
    assert_int_equal(tcpstore_out_put_value(&out, value, LIMIT - 1), 0);
    assert_int_equal(tcpstore_out_put_value(&out, value, 2), -1);
    assert_int_equal(tcpstore_out_put_value(&out, value, (size_t)-1), -1);
    assert_int_equal(tcpstore_out_len(&out), LIMIT - 1);
    assert_int_equal(value->users, 2);
    tcpstore_out_release(&out);
    assert_int_equal(value->users, 1);
    tcpstore_value_drop(value);
}
