/* SPDX-License-Identifier: Apache-2.0 */
/* test_compare_level.c - how often verdicts are wrong, and how often they find what is
 * there: comparisons of simulated cases, whose noise is known
 *
 * RINGBENCH_PRINT_TABLES=1 prints the table from which bench/MEASUREMENTS.md has lines.
 * Everything is a function of fixed seeds. */
#include "agent/worker/sim/noise.h"
#include "server/analysis/compare.h"
#include "tests/unit/compare_fixture.h"
#include "tests/unit/test.h"

#define FAMILIES (int)test_seeds(200)
#define CALLS 20
#define SERIES "{\"collective\":\"all_reduce\",\"dtype\":\"float32\",\"redop\":\"sum\"}"

/* The 95 % bound for a true 5 %: more than 15 of 200 have a chance of 4 %, more than 3
 * of 20 one of 2 %. */
#define FALSE_ALARMS_MAX (FAMILIES < 200 ? 3 : 15)

/* Besides the simulation's noise. */
struct kind {
    const char *name;
    double outliers; /* part of the cases that take twice as long */
    double states; /* part of the cases in a state in which all takes 3 times as long, */
    double state_cases; /* which is drawn again after so many cases */
};

static const struct kind kinds[] = {
    {"1 % per case", 0, 0, 1},
    {"and 1 case of 10 twice as long", 0.1, 0, 1},
    {"and two states 3x apart, 3 cases each", 0, 0.4, 3},
    {"and two states 3x apart, per case", 0, 0.4, 1},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

enum stream { STREAM_OUTLIER = 100, STREAM_STATE, STREAM_SWITCH };

/* Whether what happens to `part` of the cases happens to this one. */
static bool happens(double part, uint64_t seed, enum stream stream, uint64_t number)
{
    return part > 0 && noise_uniform(noise_split(seed, stream), number) <= part;
}

/* A state was drawn in this case, or in an earlier one that it lasted from. */
static double factor_of(const struct kind *kind, uint64_t seed, uint64_t number)
{
    double factor = happens(kind->outliers, seed, STREAM_OUTLIER, number) ? 2 : 1;

    while (number > 0 && !happens(1 / kind->state_cases, seed, STREAM_SWITCH, number))
        number--;
    return happens(kind->states, seed, STREAM_STATE, number) ? 3 * factor : factor;
}

/* A plain curve of latency and bandwidth is enough: only the noise matters. */
static double model_us(double bytes)
{
    return 12 + bytes / 40e3;
}

static double row_us(const struct sim_params *params, uint64_t seed, int64_t size)
{
    return model_us((double)size) *
           noise_of_row(params, seed, COLLECTIVE_ALL_REDUCE, (double)size) *
           noise_of_calls(params, seed, (uint64_t)size, CALLS, 0);
}

/* Case `number` of the run in the order of time, as case_no of the made ones. shift: of
 * the times from 4 MiB up. */
static void make_case(struct made *made, const struct kind *kind, uint64_t seed,
                      uint64_t number, int case_no, double shift)
{
    struct sim_params params;
    uint64_t own = noise_split(seed, number);
    struct case_point points[24];
    size_t n = 0;

    sim_params_init(&params);
    double factor = noise_of_case(&params, seed, number) * factor_of(kind, seed, number);
    for (int64_t size = 8; size <= 64 << 20; size *= 2) {
        double us = factor * row_us(&params, own, size);

        if (band_of(size) == BAND_BANDWIDTH)
            us *= 1 + shift;
        points[n++] = (struct case_point){
            .size = size, .time_us = us, .busbw_gbs = (double)size / us / 1e3};
    }
    made_add(made, case_no, SERIES, points, n);
}

/* n repeats, interleaved with every second one backwards, or one side after the other. */
static struct compare *compare_once(struct made *made, const struct kind *kind,
                                    uint64_t seed, size_t n, bool is_paired, double shift)
{
    struct compare_lot lots[CASES_MAX];
    struct compare_sides sides = {.base = lots,
                                  .head = lots + n,
                                  .n_base = n,
                                  .n_head = n,
                                  .is_paired = is_paired,
                                  .margin = COMPARE_SAME};

    made_init(made);
    for (size_t i = 0; i < 2 * n; i++) {
        bool is_head = i >= n;
        size_t repeat = i % n;
        size_t number = is_paired ? 2 * repeat + (repeat % 2 ? !is_head : is_head) : i;

        make_case(made, kind, seed, number, (int)i, is_head ? shift : 0);
        lots[i] = (struct compare_lot){&made->values, (int)i};
    }
    return compare_create(&sides, NULL);
}

struct tally {
    int alarms, found, states;
};

static struct tally tally_of(const struct kind *kind, size_t n, bool is_paired,
                             double shift, uint64_t seed)
{
    struct tally tally = {0};

    for (uint64_t i = 0; i < (uint64_t)FAMILIES; i++) {
        struct made made;
        struct compare *compare =
            compare_once(&made, kind, noise_split(seed, i), n, is_paired, shift);

        assert_non_null(compare);
        tally.alarms +=
            compare->answer == VERDICT_WORSE || compare->answer == VERDICT_BETTER;
        tally.found += compare->bands[BAND_BANDWIDTH].answer == VERDICT_WORSE;
        tally.states += compare->bands[0].reason == COMPARE_STATES;
        compare_destroy(compare);
        made_release(&made);
    }
    return tally;
}

TEST(healthy_comparisons_seldom_raise_an_alarm)
{
    static const size_t repeats[] = {5, 10};

    for (size_t i = 0; i < KINDS; i++) {
        for (size_t k = 0; k < 2; k++) {
            struct tally paired = tally_of(&kinds[i], repeats[k], true, 0, 100 + k);
            struct tally separate = tally_of(&kinds[i], repeats[k], false, 0, 200 + k);

            if (paired.alarms > FALSE_ALARMS_MAX)
                fail_msg("%s, %zu repeats: %d", kinds[i].name, repeats[k], paired.alarms);
            if (separate.alarms > FALSE_ALARMS_MAX)
                fail_msg("%s, %zu cases: %d", kinds[i].name, repeats[k], separate.alarms);
        }
    }
}

/* Beyond the margin of 2 % with certainty: the interval has to end above it. */
TEST(five_per_cent_are_found_in_ten_repeats)
{
    struct tally ten = tally_of(&kinds[0], 10, true, 0.05, 300);
    struct tally five = tally_of(&kinds[0], 5, true, 0.05, 301);
    struct tally outliers = tally_of(&kinds[1], 10, true, 0.05, 302);

    assert_in_range(ten.found, FAMILIES * 90 / 100, FAMILIES);
    assert_in_range(five.found, FAMILIES * 30 / 100, FAMILIES);
    assert_in_range(outliers.found, FAMILIES * 20 / 100, FAMILIES);
}

TEST(two_states_are_said_in_five_repeats)
{
    struct tally tally = tally_of(&kinds[3], 5, true, 0, 400);

    assert_in_range(tally.states, FAMILIES * 80 / 100, FAMILIES);
}

/* For bench/MEASUREMENTS.md. */
static int print_table(void **state)
{
    static const size_t repeats[] = {3, 5, 8, 10, 20};

    (void)state;
    if (!getenv("RINGBENCH_PRINT_TABLES"))
        return 0;
    printf("| noise | repeats | alarms of %d, interleaved | alarms, separate | "
           "5 %% found, interleaved | not enough data for states |\n"
           "|---|---|---|---|---|---|\n",
           FAMILIES);
    for (size_t i = 0; i < KINDS; i++) {
        for (size_t k = 0; k < sizeof(repeats) / sizeof(repeats[0]); k++) {
            struct tally paired = tally_of(&kinds[i], repeats[k], true, 0, 100 + k);
            struct tally separate = tally_of(&kinds[i], repeats[k], false, 0, 200 + k);
            struct tally shifted = tally_of(&kinds[i], repeats[k], true, 0.05, 300 + k);

            printf("| %s | %zu | %d | %d | %.0f %% | %.0f %% |\n", kinds[i].name,
                   repeats[k], paired.alarms, separate.alarms,
                   100.0 * shifted.found / FAMILIES, 100.0 * paired.states / FAMILIES);
        }
    }
    return 0;
}

GROUP_FIXTURE(print_table, NULL);
