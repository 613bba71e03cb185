/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_pattern.c - what device code computes element by element is what the host
 * writes in blocks */
#include "agent/worker/data/pattern.h"
#include "agent/worker/data/pattern_math.h"
#include "tests/unit/test.h"

#define RANKS 5
#define COUNT 77
#define FIRST 1000

static uint64_t mask_of(enum dtype type)
{
    size_t size = dtype_size(type);

    return size == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * size)) - 1;
}

static void compare(enum dtype type, const struct pattern *pattern, int source,
                    const unsigned char *block)
{
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t bits = pattern_load(pattern->element, block + i * pattern->element);
        assert_true(bits == (pattern_bits(pattern, source, FIRST + i) & mask_of(type)));
    }
}

TEST(inputs_and_reductions_agree)
{
    unsigned char block[COUNT * 8] __attribute__((aligned(8)));

    for (int type = 0; type < DTYPE_COUNT; type++) {
        for (int redop = -1; redop < REDOP_COUNT; redop++) {
            struct pattern *pattern = pattern_create((enum dtype)type, redop, RANKS, 3);
            for (int rank = 0; rank < RANKS; rank++) {
                pattern_input(pattern, rank, FIRST, COUNT, block);
                compare((enum dtype)type, pattern, rank, block);
            }
            if (redop >= 0) {
                pattern_expected(pattern, COLLECTIVE_ALL_REDUCE, 0, 0, COUNT, FIRST,
                                 COUNT, block);
                compare((enum dtype)type, pattern, -1, block);
            }
            pattern_destroy(pattern);
        }
    }
}

TEST(expected_elements_agree)
{
    unsigned char block[RANKS * COUNT * 4] __attribute__((aligned(8)));

    for (int kind = 0; kind < COLLECTIVE_COUNT; kind++) {
        int redop =
            collective_facts((enum collective_kind)kind)->reduces ? REDOP_SUM : -1;
        struct pattern *pattern = pattern_create(DTYPE_FLOAT32, redop, RANKS, 9);
        struct collective_layout layout;
        collective_layout((enum collective_kind)kind, COUNT * 4, DTYPE_FLOAT32, RANKS,
                          &layout);
        pattern_expected(pattern, (enum collective_kind)kind, 2, 1, layout.count, 0,
                         layout.recv_count, block);
        for (size_t i = 0; i < layout.recv_count; i++) {
            uint64_t from;
            int source;
            pattern_source((enum collective_kind)kind, RANKS, 2, 1, layout.count, i,
                           &source, &from);
            assert_int_equal(pattern_load(4, block + 4 * i),
                             (uint32_t)pattern_bits(pattern, source, from));
        }
        pattern_destroy(pattern);
    }
}

/* An average is scaled before it is added: the table must keep that within a few ulps, so
 * it has two terms, and every rank has one of them somewhere. */
TEST(averages_have_two_terms)
{
    struct pattern *pattern = pattern_create(DTYPE_FLOAT32, REDOP_AVG, RANKS, 3);
    bool has_term[RANKS] = {false};

    for (uint64_t i = 0; i < COUNT; i++) {
        int terms = 0;
        for (int rank = 0; rank < RANKS; rank++) {
            bool is_term = (pattern_bits(pattern, rank, i) & 0x7fffffffu) != 0;
            terms += is_term;
            has_term[rank] = has_term[rank] || is_term;
        }
        assert_int_equal(terms, 2);
    }
    for (int rank = 0; rank < RANKS; rank++)
        assert_true(has_term[rank]);
    pattern_destroy(pattern);
}
