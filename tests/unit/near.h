/* near.h - comparing doubles in a test (cmocka's own assert compares floats) */
#ifndef RINGBENCH_TESTS_NEAR_H
#define RINGBENCH_TESTS_NEAR_H

#include <math.h>

#define assert_near(got, want, within)                                                   \
    do {                                                                                 \
        double near_got = (got), near_want = (want);                                     \
        if (!(fabs(near_got - near_want) <= (within))) {                                 \
            fail_msg("%s is %.12g, not %.12g", #got, near_got, near_want);               \
        }                                                                                \
    } while (0)

#endif
