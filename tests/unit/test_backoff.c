/* SPDX-License-Identifier: Apache-2.0 */
/* test_backoff.c - waits that double, with a random half */
#include "agent/link/backoff.h"
#include "tests/unit/test.h"

TEST(doubles_up_to_its_maximum)
{
    struct backoff backoff = {0};
    uint64_t full = BACKOFF_MIN_MS;

    for (int i = 0; i < 1000; i++) {
        uint64_t wait = backoff_next(&backoff);

        assert_in_range(wait, full / 2, full);
        full = 2 * full > BACKOFF_MAX_MS ? BACKOFF_MAX_MS : 2 * full;
    }
    backoff_reset(&backoff);
    assert_in_range(backoff_next(&backoff), BACKOFF_MIN_MS / 2, BACKOFF_MIN_MS);
}

TEST(is_jittered)
{
    struct backoff backoff = {6};
    uint64_t first = backoff_next(&backoff);
    int same = 0;

    for (int i = 0; i < 20; i++)
        same += backoff_next(&backoff) == first;
    assert_true(same < 10);
}
