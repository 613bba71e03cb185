/* test_collective.c - names and arithmetic of the collectives, worked by hand from
 * nccl-tests' rules: count0 = size / element; A(x) = x down to a multiple of 16 bytes */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

#include "common/collective.h"

struct sample {
    enum collective_kind kind;
    uint64_t size;
    enum dtype type;
    int n;
    size_t count, send, recv, bytes, send_offset, recv_offset;
};

#define ALL_REDUCE COLLECTIVE_ALL_REDUCE
#define ALL_GATHER COLLECTIVE_ALL_GATHER
#define REDUCE_SCATTER COLLECTIVE_REDUCE_SCATTER
#define ALLTOALL COLLECTIVE_ALLTOALL
#define GATHER COLLECTIVE_GATHER
#define SCATTER COLLECTIVE_SCATTER
#define SENDRECV COLLECTIVE_SENDRECV
#define F32 DTYPE_FLOAT32

/* clang-format off */
static const struct sample samples[] = {
    /* Flat ones keep every whole element, whatever n. */
    {ALL_REDUCE, 8, F32, 2, 2, 2, 2, 8, 0, 0},
    {ALL_REDUCE, 1 << 20, F32, 3, 262144, 262144, 262144, 1 << 20, 0, 0},
    {ALL_REDUCE, 7, F32, 4, 1, 1, 1, 4, 0, 0},
    {ALL_REDUCE, 3, F32, 4, 0, 0, 0, 0, 0, 0},
    {ALL_REDUCE, 9, DTYPE_FLOAT8E4M3, 4, 9, 9, 9, 9, 0, 0},
    {ALL_REDUCE, 9, DTYPE_FLOAT64, 4, 1, 1, 1, 8, 0, 0},
    {COLLECTIVE_BROADCAST, 1000, DTYPE_BFLOAT16, 3, 500, 500, 500, 1000, 0, 0},
    {COLLECTIVE_REDUCE, 1001, DTYPE_FLOAT16, 3, 500, 500, 500, 1000, 0, 0},
    {SENDRECV, 65536, DTYPE_INT8, 2, 65536, 65536, 65536, 65536, 0, 0},
    /* 8 B on 2 ranks: one float each, down to a multiple of 4: nothing. */
    {ALL_GATHER, 8, F32, 2, 0, 0, 0, 0, 0, 0},
    {ALL_GATHER, 31, F32, 2, 0, 0, 0, 0, 0, 0},
    {ALL_GATHER, 32, F32, 2, 4, 4, 8, 32, 4, 0},
    /* 1 MiB on 3: 262144 / 3 = 87381, down to 87380; 87380 * 3 * 4 = 1048560. */
    {ALL_GATHER, 1 << 20, F32, 3, 87380, 87380, 262140, 1048560, 87380, 0},
    {REDUCE_SCATTER, 1 << 20, F32, 3, 87380, 262140, 87380, 1048560, 0, 87380},
    {ALLTOALL, 1 << 20, F32, 3, 87380, 262140, 262140, 1048560, 0, 0},
    {GATHER, 1 << 20, F32, 3, 87380, 87380, 262140, 1048560, 87380, 0},
    {SCATTER, 1 << 20, F32, 3, 87380, 262140, 87380, 1048560, 0, 87380},
    {COLLECTIVE_HYPERCUBE, 1 << 20, F32, 4, 65536, 65536, 262144, 1 << 20, 65536, 0},
    {COLLECTIVE_ALLTOALLV, 1 << 20, F32, 3, 87380, 262140, 262140, 1048560, 0, 0},
    /* One byte an element: multiples of 16. 1000 / 3 = 333, down to 320. */
    {ALL_GATHER, 1000, DTYPE_FLOAT8E5M2, 3, 320, 320, 960, 960, 320, 0},
    {REDUCE_SCATTER, 1000, DTYPE_UINT8, 3, 320, 960, 320, 960, 0, 320},
    {ALL_GATHER, 47, DTYPE_FLOAT8E4M3, 3, 0, 0, 0, 0, 0, 0},
    {ALL_GATHER, 48, DTYPE_FLOAT8E4M3, 3, 16, 16, 48, 48, 16, 0},
    /* Two bytes: multiples of 8. 500 / 3 = 166, down to 160. */
    {ALLTOALL, 1000, DTYPE_BFLOAT16, 3, 160, 480, 480, 960, 0, 0},
    /* Eight bytes: multiples of 2. 125 / 3 = 41, down to 40. */
    {SCATTER, 1000, DTYPE_INT64, 3, 40, 120, 40, 960, 0, 40},
    /* One rank. */
    {ALL_GATHER, 64, F32, 1, 16, 16, 16, 64, 16, 0},
    /* More than 32 bits. */
    {ALL_GATHER, UINT64_C(1) << 40, F32, 4, (size_t)1 << 36, (size_t)1 << 36,
     (size_t)1 << 38, (size_t)1 << 40, (size_t)1 << 36, 0},
};
/* clang-format on */

static void lays_out_as_nccl_tests_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        const struct sample *s = &samples[i];
        struct collective_layout l;

        collective_layout(s->kind, s->size, s->type, s->n, &l);
        if (l.count != s->count || l.send_count != s->send || l.recv_count != s->recv ||
            l.size_bytes != s->bytes || l.send_inplace_offset != s->send_offset ||
            l.recv_inplace_offset != s->recv_offset)
            fail_msg(
                "sample %zu (%s %llu %s n=%d): count %zu send %zu recv %zu bytes %zu "
                "offsets %zu %zu",
                i, collective_name(s->kind), (unsigned long long)s->size,
                dtype_name(s->type), s->n, l.count, l.send_count, l.recv_count,
                l.size_bytes, l.send_inplace_offset, l.recv_inplace_offset);
    }
}

/* For every kind, type, size and n: what any layout must keep to. */
static void check_invariants(enum collective_kind kind, enum dtype type, uint64_t size,
                             int n)
{
    struct collective_layout l;
    size_t most;

    collective_layout(kind, size, type, n, &l);
    most = l.send_count > l.recv_count ? l.send_count : l.recv_count;
    assert_int_equal(l.size_bytes, most * dtype_size(type));
    assert_true(l.size_bytes <= size);
    assert_true(l.send_count >= l.count && l.recv_count >= l.count);
    /* The last rank's part ends inside the one buffer of the in-place variant. */
    assert_true((size_t)(n - 1) * l.send_inplace_offset + l.send_count <= most);
    assert_true((size_t)(n - 1) * l.recv_inplace_offset + l.recv_count <= most);
}

static void every_layout_stays_inside_its_size(void **state)
{
    (void)state;
    for (int kind = 0; kind < COLLECTIVE_COUNT; kind++) {
        for (int type = 0; type < DTYPE_COUNT; type++) {
            for (int n = 1; n <= 9; n++) {
                for (uint64_t size = 1; size < 5000; size += 13)
                    check_invariants((enum collective_kind)kind, (enum dtype)type, size,
                                     n);
            }
        }
    }
}

static void bus_factors_are_nccl_tests(void **state)
{
    static const struct {
        enum collective_kind kind;
        double at[3]; /* n = 1, 3, 8 */
    } factors[] = {
        {COLLECTIVE_ALL_REDUCE, {0.0, 4.0 / 3.0, 1.75}},
        {COLLECTIVE_ALL_GATHER, {0.0, 2.0 / 3.0, 0.875}},
        {COLLECTIVE_REDUCE_SCATTER, {0.0, 2.0 / 3.0, 0.875}},
        {COLLECTIVE_BROADCAST, {1.0, 1.0, 1.0}},
        {COLLECTIVE_REDUCE, {1.0, 1.0, 1.0}},
        {COLLECTIVE_ALLTOALL, {0.0, 2.0 / 3.0, 0.875}},
        {COLLECTIVE_GATHER, {0.0, 2.0 / 3.0, 0.875}},
        {COLLECTIVE_SCATTER, {0.0, 2.0 / 3.0, 0.875}},
        {COLLECTIVE_SENDRECV, {1.0, 1.0, 1.0}},
        {COLLECTIVE_HYPERCUBE, {1.0, 1.0, 1.0}},
        {COLLECTIVE_ALLTOALLV, {0.0, 2.0 / 3.0, 0.875}},
    };
    static const int n[] = {1, 3, 8};

    (void)state;
    assert_int_equal(sizeof(factors) / sizeof(factors[0]), COLLECTIVE_COUNT);
    for (size_t i = 0; i < COLLECTIVE_COUNT; i++) {
        for (size_t k = 0; k < 3; k++) {
            double factor = collective_bus_factor(factors[i].kind, n[k]);

            if (fabs(factor - factors[i].at[k]) > 1e-12)
                fail_msg("%s n=%d: %f", collective_name(factors[i].kind), n[k], factor);
        }
    }
}

static void algorithm_bandwidth_is_size_over_time(void **state)
{
    struct collective_layout l;

    (void)state;
    collective_layout(ALL_GATHER, 1 << 20, F32, 3, &l);
    assert_true(fabs(collective_algbw_gbs(&l, 1e-3) - 1.04856) < 1e-12);
    assert_true(collective_algbw_gbs(&l, 0.0) == 0.0);
    /* hypercube: what each rank gets, 3 parts of 4. */
    collective_layout(COLLECTIVE_HYPERCUBE, 1 << 20, F32, 4, &l);
    assert_true(fabs(collective_algbw_gbs(&l, 1e-3) - 0.786432) < 1e-12);
}

static void names_and_lookups_agree(void **state)
{
    static const size_t sizes[DTYPE_COUNT] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

    (void)state;
    for (int i = 0; i < COLLECTIVE_COUNT; i++)
        assert_int_equal(collective_lookup(collective_name((enum collective_kind)i)), i);
    for (int i = 0; i < DTYPE_COUNT; i++) {
        assert_int_equal(dtype_lookup(dtype_name((enum dtype)i)), i);
        assert_int_equal(dtype_size((enum dtype)i), sizes[i]);
    }
    for (int i = 0; i < REDOP_COUNT; i++)
        assert_int_equal(redop_lookup(redop_name((enum redop)i)), i);
    assert_int_equal(collective_lookup("allreduce"), -1);
    assert_int_equal(dtype_lookup("float"), -1);
    assert_int_equal(redop_lookup(""), -1);
}

static void each_kind_has_its_properties(void **state)
{
    static const struct {
        bool reduces, rooted, checks_in_place;
    } expected[COLLECTIVE_COUNT] = {
        [COLLECTIVE_ALL_REDUCE] = {true, false, true},
        [COLLECTIVE_ALL_GATHER] = {false, false, true},
        [COLLECTIVE_REDUCE_SCATTER] = {true, false, true},
        [COLLECTIVE_BROADCAST] = {false, true, true},
        [COLLECTIVE_REDUCE] = {true, true, true},
        [COLLECTIVE_ALLTOALL] = {false, false, false},
        [COLLECTIVE_GATHER] = {false, true, true},
        [COLLECTIVE_SCATTER] = {false, true, true},
        [COLLECTIVE_SENDRECV] = {false, false, false},
        [COLLECTIVE_HYPERCUBE] = {false, false, true},
        [COLLECTIVE_ALLTOALLV] = {false, false, false},
    };

    (void)state;
    for (int i = 0; i < COLLECTIVE_COUNT; i++) {
        enum collective_kind kind = (enum collective_kind)i;

        assert_int_equal(collective_reduces(kind), expected[i].reduces);
        assert_int_equal(collective_is_rooted(kind), expected[i].rooted);
        assert_int_equal(collective_checks_in_place(kind), expected[i].checks_in_place);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lays_out_as_nccl_tests_does),
        cmocka_unit_test(every_layout_stays_inside_its_size),
        cmocka_unit_test(bus_factors_are_nccl_tests),
        cmocka_unit_test(algorithm_bandwidth_is_size_over_time),
        cmocka_unit_test(names_and_lookups_agree),
        cmocka_unit_test(each_kind_has_its_properties),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
