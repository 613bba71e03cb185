/* SPDX-License-Identifier: Apache-2.0 */
/* test_reduce.c - the reduction loops against scalar arithmetic */
#include "agent/worker/data/numeric.h"
#include "agent/worker/host/reduce.h"
#include "tests/unit/test.h"

#define COUNT 259

extern const struct reduce_kernels reduce_kernels_base;

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void fill_random(char *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        data[i] = (char)next_random();
}

/* The widest variant and the portable one agree on any bits, at any length and also when
 * the output is an input. NaNs may differ in their bits. */
TEST(variants_agree_bit_for_bit)
{
    static char a[COUNT * 8], b[COUNT * 8], x[COUNT * 8], y[COUNT * 8];
    const struct reduce_kernels *best = reduce_kernels();

    for (int type = 0; type < DTYPE_COUNT; type++) {
        size_t size = dtype_size((enum dtype)type);
        bool is_integer = type <= DTYPE_UINT64;
        for (int op = 0; op < REDOP_COUNT; op++) {
            for (size_t count = 0; count <= COUNT; count += count < 40 ? 1 : 73) {
                fill_random(a, sizeof(a));
                fill_random(b, sizeof(b));
                memcpy(x, a, sizeof(a));
                best->reduce[type][op](x, x, b, count);
                reduce_kernels_base.reduce[type][op](y, a, b, count);
                if (is_integer)
                    assert_memory_equal(x, y, count * size);
                assert_memory_equal(x + count * size, a + count * size,
                                    sizeof(a) - count * size);
            }
        }
    }
}

TEST(integers_wrap_and_compare_by_sign)
{
    int8_t a[2] = {127, -128}, b[2] = {1, 5}, out[2];
    uint8_t u[1] = {200}, v[1] = {100}, w[1];
    int64_t p[1] = {INT64_MIN}, q[1] = {-1}, r[1];
    const struct reduce_kernels *k = reduce_kernels();

    k->reduce[DTYPE_INT8][REDOP_SUM](out, a, b, 2);
    assert_int_equal(out[0], -128);
    k->reduce[DTYPE_INT8][REDOP_MIN](out, a, b, 2);
    assert_int_equal(out[1], -128);
    k->reduce[DTYPE_UINT8][REDOP_MAX](w, u, v, 1);
    assert_int_equal(w[0], 200);
    k->reduce[DTYPE_UINT8][REDOP_PROD](w, u, v, 1);
    assert_int_equal(w[0], 20000 % 256);
    k->reduce[DTYPE_INT64][REDOP_PROD](r, p, q, 1);
    assert_true(r[0] == INT64_MIN);
    int32_t d[2] = {-7, 7};
    k->divide[DTYPE_INT32](d, 2, 2);
    assert_int_equal(d[0], -3);
    assert_int_equal(d[1], 3);
}

TEST(floats_round_once_per_pair)
{
    uint16_t a[1], b[1], out[1];
    const struct reduce_kernels *k = reduce_kernels();

    for (int i = 0; i < 20000; i++) {
        a[0] = (uint16_t)(next_random() & 0xfbffu);
        b[0] = (uint16_t)(next_random() & 0xfbffu);
        k->reduce[DTYPE_FLOAT16][REDOP_SUM](out, a, b, 1);
        float sum = float16_decode(a[0]) + float16_decode(b[0]);
        assert_int_equal(out[0], float16_encode(sum));
        k->reduce[DTYPE_BFLOAT16][REDOP_PROD](out, a, b, 1);
        float product = bfloat16_decode(a[0]) * bfloat16_decode(b[0]);
        if (product == product)
            assert_int_equal(out[0], bfloat16_encode(product));
    }
}

TEST(streaming_copies_every_length_and_alignment)
{
    static char from[512], to[512];

    for (size_t at = 0; at < 70; at += 7) {
        for (size_t len = 0; len < 300; len++) {
            fill_random(from, sizeof(from));
            memset(to, 0, sizeof(to));
            reduce_kernels()->stream(to + at, from + at / 2, len);
            reduce_finish_stream();
            assert_memory_equal(to + at, from + at / 2, len);
            assert_int_equal(to[at + len], 0);
        }
    }
}
