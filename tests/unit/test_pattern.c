/* SPDX-License-Identifier: Apache-2.0 */
/* test_pattern.c - check data: exact in any order, different where it matters */
#include "agent/worker/data/pattern.h"
#include "agent/worker/host/reduce.h"
#include "tests/unit/test.h"

#define ELEMENTS 61

static uint32_t random_state = 12345;

static uint32_t next_random(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

/* mulsum: what a backend adds are the inputs times their ranks' scalars. */
static void scale(enum dtype type, int redop, int rank, char *input)
{
    unsigned char scalar[8];

    if (redop == REDOP_MULSUM) {
        pattern_scalar(type, rank, scalar);
        reduce_kernels()->scale[type](input, input, ELEMENTS, scalar);
    }
}

/* Reduce n inputs pairwise in a random tree, rounding after each step. */
static void reduce_randomly(enum dtype type, int redop, char **inputs, int n)
{
    reduce_fn *reduce = reduce_kernels()->reduce[type][redop];

    for (int left = n; left > 1; left--) {
        int a = (int)(next_random() % (uint32_t)left);
        int b = (int)(next_random() % (uint32_t)(left - 1));
        b += b >= a;
        reduce(inputs[a], inputs[a], inputs[b], ELEMENTS);
        char *spent = inputs[b];
        inputs[b] = inputs[left - 1];
        inputs[left - 1] = spent;
    }
    if (redop == REDOP_AVG)
        reduce_kernels()->divide[type](inputs[0], ELEMENTS, n);
}

static void check_exact(enum dtype type, int redop, int n, uint64_t seed)
{
    struct pattern *pattern = pattern_create(type, redop, n, seed);
    char **inputs = calloc((size_t)n, sizeof(*inputs)), expected[ELEMENTS * 8];

    assert_non_null(pattern);
    for (int rank = 0; rank < n; rank++) {
        inputs[rank] = malloc(ELEMENTS * 8);
        pattern_input(pattern, rank, 1000, ELEMENTS, inputs[rank]);
        scale(type, redop, rank, inputs[rank]);
    }
    reduce_randomly(type, redop, inputs, n);
    pattern_expected(pattern, COLLECTIVE_ALL_REDUCE, 0, 0, ELEMENTS, 1000, ELEMENTS,
                     expected);
    for (int i = 0; i < ELEMENTS; i++) {
        char want[PATTERN_TEXT_MAX], got[PATTERN_TEXT_MAX];
        size_t at = (size_t)i * dtype_size(type);
        if (pattern_distance(type, expected + at, inputs[0] + at) != 0) {
            fail_msg("%s %s n %d element %d: expected %s, got %s", dtype_name(type),
                     redop_name((enum redop)redop), n, i,
                     pattern_format(type, expected + at, want),
                     pattern_format(type, inputs[0] + at, got));
        }
    }
    for (int rank = 0; rank < n; rank++)
        free(inputs[rank]);
    free(inputs);
    pattern_destroy(pattern);
}

TEST(every_reduction_is_exact_in_any_order)
{
    static const int ranks[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 64, 100, 129, 1024, 8000};

    for (int type = 0; type < DTYPE_COUNT; type++) {
        for (int redop = 0; redop < REDOP_COUNT; redop++) {
            for (size_t k = 0; k < sizeof(ranks) / sizeof(ranks[0]); k++)
                for (uint64_t seed = 1; seed <= 3; seed++)
                    check_exact((enum dtype)type, redop, ranks[k], seed);
        }
    }
}

/* Nothing overflows to infinity or is NaN, and not everything is the same. */
TEST(results_are_finite_and_vary)
{
    for (int type = 0; type < DTYPE_COUNT; type++) {
        for (int redop = 0; redop < REDOP_COUNT; redop++) {
            struct pattern *pattern = pattern_create((enum dtype)type, redop, 4, 9);
            size_t size = dtype_size((enum dtype)type);
            char data[ELEMENTS * 8], text[PATTERN_TEXT_MAX];
            int different = 0;
            pattern_expected(pattern, COLLECTIVE_ALL_REDUCE, 0, 0, ELEMENTS, 0, ELEMENTS,
                             data);
            for (size_t i = 0; i < ELEMENTS; i++) {
                pattern_format((enum dtype)type, data + i * size, text);
                assert_null(strpbrk(text, "xni"));
                different += memcmp(data, data + i * size, size) != 0;
            }
            assert_true(different > ELEMENTS / 2);
            pattern_destroy(pattern);
        }
    }
}

/* A rank left out must show in most reductions, soon. */
TEST(a_missing_rank_changes_the_result)
{
    for (int type = 0; type < DTYPE_COUNT; type++) {
        for (int redop = 0; redop < REDOP_AVG; redop++) {
            const int n = 4;
            size_t size = dtype_size((enum dtype)type);
            struct pattern *pattern = pattern_create((enum dtype)type, redop, n, 5);
            char sum[ELEMENTS * 8], input[ELEMENTS * 8], expected[ELEMENTS * 8];
            int different = 0;
            pattern_input(pattern, 0, 0, ELEMENTS, sum);
            for (int rank = 1; rank < n - 1; rank++) {
                pattern_input(pattern, rank, 0, ELEMENTS, input);
                reduce_kernels()->reduce[type][redop](sum, sum, input, ELEMENTS);
            }
            pattern_expected(pattern, COLLECTIVE_ALL_REDUCE, 0, 0, ELEMENTS, 0, ELEMENTS,
                             expected);
            for (size_t i = 0; i < ELEMENTS; i++)
                different += memcmp(sum + i * size, expected + i * size, size) != 0;
            assert_true(different > 4);
            pattern_destroy(pattern);
        }
    }
}

/* mulsum without the scalars, or with another rank's, is no plain sum. */
TEST(a_missing_scalar_changes_the_result)
{
    for (int type = 0; type < DTYPE_COUNT; type++) {
        size_t size = dtype_size((enum dtype)type);
        struct pattern *pattern = pattern_create((enum dtype)type, REDOP_MULSUM, 2, 5);
        char sum[ELEMENTS * 8], input[ELEMENTS * 8], expected[ELEMENTS * 8];
        int different = 0;
        pattern_input(pattern, 0, 0, ELEMENTS, sum);
        pattern_input(pattern, 1, 0, ELEMENTS, input);
        scale((enum dtype)type, REDOP_MULSUM, 0, sum);
        reduce_kernels()->reduce[type][REDOP_MULSUM](sum, sum, input, ELEMENTS);
        pattern_expected(pattern, COLLECTIVE_ALL_REDUCE, 0, 0, ELEMENTS, 0, ELEMENTS,
                         expected);
        for (size_t i = 0; i < ELEMENTS; i++)
            different += memcmp(sum + i * size, expected + i * size, size) != 0;
        assert_true(different > ELEMENTS / 2);
        pattern_destroy(pattern);
    }
}

TEST(any_part_is_the_same_as_in_the_whole)
{
    struct pattern *pattern = pattern_create(DTYPE_FLOAT32, REDOP_SUM, 3, 7);
    float whole[1000], part[10];

    pattern_input(pattern, 1, 0, 1000, whole);
    pattern_input(pattern, 1, 255, 10, part);
    assert_memory_equal(whole + 255, part, sizeof(part));
    pattern_input(pattern, 2, 255, 10, part);
    assert_memory_not_equal(whole + 255, part, sizeof(part));
    pattern_destroy(pattern);
}

/* Where copies come from, told from the definition of each collective. */
TEST(copies_are_expected_from_their_source)
{
    enum { N = 3, COUNT = 5 };
    uint32_t sent[N][N * COUNT], expected[N * COUNT];
    struct pattern *pattern = pattern_create(DTYPE_UINT32, -1, N, 3);

    for (int rank = 0; rank < N; rank++)
        pattern_input(pattern, rank, 0, N * COUNT, sent[rank]);
    pattern_expected(pattern, COLLECTIVE_ALL_GATHER, 1, -1, COUNT, 0, N * COUNT,
                     expected);
    for (int source = 0; source < N; source++)
        assert_memory_equal(expected + source * COUNT, sent[source], COUNT * 4);
    pattern_expected(pattern, COLLECTIVE_ALLTOALL, 1, -1, COUNT, 0, N * COUNT, expected);
    for (int source = 0; source < N; source++)
        assert_memory_equal(expected + source * COUNT, sent[source] + COUNT, COUNT * 4);
    pattern_expected(pattern, COLLECTIVE_SCATTER, 2, 1, COUNT, 0, COUNT, expected);
    assert_memory_equal(expected, sent[1] + 2 * COUNT, COUNT * 4);
    pattern_expected(pattern, COLLECTIVE_GATHER, 1, 1, COUNT, 3, 7, expected);
    assert_memory_equal(expected, sent[0] + 3, 2 * 4);
    assert_memory_equal(expected + 2, sent[1], 5 * 4);
    pattern_expected(pattern, COLLECTIVE_BROADCAST, 0, 2, COUNT, 1, 4, expected);
    assert_memory_equal(expected, sent[2] + 1, 4 * 4);
    pattern_expected(pattern, COLLECTIVE_SENDRECV, 0, -1, COUNT, 0, COUNT, expected);
    assert_memory_equal(expected, sent[2], COUNT * 4);
    assert_false(pattern_receives(COLLECTIVE_GATHER, 0, 1));
    assert_false(pattern_receives(COLLECTIVE_REDUCE, 0, 1));
    assert_true(pattern_receives(COLLECTIVE_REDUCE, 1, 1));
    assert_true(pattern_receives(COLLECTIVE_BROADCAST, 0, 1));
    pattern_destroy(pattern);
}

TEST(distances_count_units_in_the_last_place)
{
    float one = 1, next = nextafterf(1, 2), minus = -1, zero = 0, minus_zero = -0.0F;
    float nan_value = NAN;
    int32_t a = 1, b = 2;

    assert_int_equal(pattern_distance(DTYPE_FLOAT32, &one, &one), 0);
    assert_int_equal(pattern_distance(DTYPE_FLOAT32, &one, &next), 1);
    assert_true(pattern_distance(DTYPE_FLOAT32, &one, &minus) == UINT64_MAX);
    assert_int_equal(pattern_distance(DTYPE_FLOAT32, &zero, &minus_zero), 0);
    assert_true(pattern_distance(DTYPE_FLOAT32, &one, &nan_value) == UINT64_MAX);
    assert_true(pattern_distance(DTYPE_INT32, &a, &b) == UINT64_MAX);
}

TEST(elements_are_shown_as_numbers)
{
    char text[PATTERN_TEXT_MAX];
    int8_t minus = -3;
    uint64_t large = UINT64_MAX;
    uint16_t half = 0x3e00;
    float nan_value = NAN;

    assert_string_equal(pattern_format(DTYPE_INT8, &minus, text), "-3");
    assert_string_equal(pattern_format(DTYPE_UINT64, &large, text),
                        "18446744073709551615");
    assert_string_equal(pattern_format(DTYPE_FLOAT16, &half, text), "1.5");
    assert_string_equal(pattern_format(DTYPE_FLOAT32, &nan_value, text), "0x7fc00000");
}
