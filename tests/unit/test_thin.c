/* SPDX-License-Identifier: Apache-2.0 */
/* test_thin.c - what was remarkable in a line stays when it is thinned */
#include "server/summary/thin.h"
#include "tests/unit/test.h"

#define N 1000

static bool has(const size_t *kept, size_t n, size_t wanted)
{
    for (size_t i = 0; i < n; i++)
        if (kept[i] == wanted)
            return true;
    return false;
}

TEST(short_line_is_kept_whole)
{
    double values[5] = {1, 2, 3, 4, 5};
    size_t kept[5];

    assert_int_equal(thin_choose(values, NULL, 5, 5, kept), 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(kept[i], i);
}

TEST(ends_and_extremes_and_alarms_are_kept)
{
    double values[N];
    double alarms[N] = {[777] = 1.0}; /* the point that must not be lost */
    size_t kept[50], n;

    for (size_t i = 0; i < N; i++)
        values[i] = (double)(i % 7);
    values[123] = 100.0;
    values[456] = -100.0;
    for (size_t most = THIN_LEAST; most <= 50; most++) {
        n = thin_choose(values, alarms, N, most, kept);
        assert_true(n <= most);
        assert_true(has(kept, n, 0));
        assert_true(has(kept, n, N - 1));
        assert_true(has(kept, n, 123));
        assert_true(has(kept, n, 777));
        for (size_t i = 1; i < n; i++)
            assert_true(kept[i] > kept[i - 1]);
    }
    assert_true(has(kept, n, 456));
}

TEST(shares_stay_within_the_budget)
{
    const size_t sizes[] = {1, 4, 5, 100, 10000, 3, 77, 2};
    const size_t lines = sizeof(sizes) / sizeof(sizes[0]);
    size_t total = 0;

    for (size_t i = 0; i < lines; i++)
        total += sizes[i];
    for (size_t budget = lines * THIN_LEAST; budget < 2 * total; budget += 97) {
        size_t given = 0;

        for (size_t i = 0; i < lines; i++) {
            size_t share = thin_share(sizes[i], total, lines, budget);

            assert_true(share <= sizes[i]);
            assert_true(share >= (sizes[i] < THIN_LEAST ? sizes[i] : THIN_LEAST));
            given += share;
        }
        assert_true(given <= budget);
        assert_true(budget < total || given == total);
    }
}
