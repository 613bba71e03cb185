/* SPDX-License-Identifier: Apache-2.0 */
/* test_arrival.c - who comes late is found though no two machines' clocks agree */
#include "agent/worker/bench/arrival.h"
#include "tests/unit/seeded_noise.h"
#include "tests/unit/test.h"

#define RUNS 200
#define RANKS 8
#define PER_NODE 2
#define LATE_RANK 5
#define CALLS 20

struct world {
    struct noise noise;
    double late_ns;                 /* of LATE_RANK, at each call */
    double wire_ns;                 /* between nodes, at least */
    double offset_ns[RANKS], drift; /* of each rank's clock, whose seconds are longer */
    struct arrivals ranks[RANKS];
    double came_ns[CALLS][RANKS]; /* the truth */
    double skew_us[CALLS];        /* likewise, of the barriers */
};

static double message_ns(struct world *world, int from, int to)
{
    double least = from / PER_NODE == to / PER_NODE ? 200 : world->wire_ns;

    return least * (1 - 0.5 * log(noise_uniform(&world->noise)));
}

static int64_t shown(const struct world *world, int rank, double ns)
{
    double runs = rank / PER_NODE == 1 ? 1 + world->drift : 1;

    return (int64_t)(world->offset_ns[rank] + ns * runs);
}

/* Each rank leaves the barrier when it has heard of all. */
static double go_through(struct world *world, int call, double now)
{
    double in[RANKS], last = 0, first_out = HUGE_VAL, last_out = 0;

    for (int i = 0; i < RANKS; i++)
        in[i] = now + 2000 * noise_uniform(&world->noise);
    for (int i = 0; i < RANKS; i++) {
        double out = in[i], came;

        for (int k = 0; k < RANKS; k++) {
            double heard = in[k] + (k == i ? 0 : message_ns(world, k, i));
            out = heard > out ? heard : out;
        }
        came = out + (i == LATE_RANK ? world->late_ns : 0);
        arrivals_add(&world->ranks[i],
                     (struct arrival){.in_ns = shown(world, i, in[i]),
                                      .out_ns = shown(world, i, out),
                                      .came_ns = shown(world, i, came)});
        world->came_ns[call][i] = came;
        last = came > last ? came : last;
        first_out = out < first_out ? out : first_out;
        last_out = out > last_out ? out : last_out;
    }
    world->skew_us[call] = (last_out - first_out) / 1e3;
    return last + 50000;
}

static void play(struct world *world, uint64_t seed)
{
    double now = 1e9;

    world->noise.seed = seed * 7919;
    for (int i = 0; i < RANKS; i++) {
        world->ranks[i] = (struct arrivals){.clock = (uint64_t)(i / PER_NODE + 1)};
        world->offset_ns[i] =
            i % PER_NODE ? world->offset_ns[i - 1] : 1e13 * noise_uniform(&world->noise);
    }
    for (int call = 0; call < CALLS; call++)
        now = go_through(world, call, now);
}

/* By the same definition, on one clock. */
static double true_late_us(struct world *world, int rank)
{
    struct arrivals one[RANKS];
    double late_us[RANKS], error_us;

    for (int i = 0; i < RANKS; i++) {
        one[i] = (struct arrivals){.clock = 1};
        for (int call = 0; call < CALLS; call++)
            arrivals_add(&one[i],
                         (struct arrival){.came_ns = (int64_t)world->came_ns[call][i]});
    }
    arrivals_late_us(one, RANKS, late_us, &error_us);
    assert_true(error_us <= 0);
    return late_us[rank];
}

TEST(lateness_is_true_within_its_error)
{
    struct world world = {.late_ns = 300000, .wire_ns = 10000};
    double late_us[RANKS], error_us;

    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        play(&world, seed);
        arrivals_late_us(world.ranks, RANKS, late_us, &error_us);
        assert_true(error_us > 1 && error_us < 60);
        for (int i = 0; i < RANKS; i++)
            assert_true(fabs(late_us[i] - true_late_us(&world, i)) <= error_us);
        assert_true(late_us[LATE_RANK] > 250);
    }
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* As the lateness, but for two of the ranks' clocks. */
TEST(a_skew_is_true_within_the_clocks_error)
{
    struct world world = {.late_ns = 300000, .wire_ns = 10000};
    double late_us[RANKS], error_us;

    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        play(&world, seed);
        arrivals_late_us(world.ranks, RANKS, late_us, &error_us);
        qsort(world.skew_us, CALLS, sizeof(double), compare_numbers);
        double truth = (world.skew_us[CALLS / 2 - 1] + world.skew_us[CALLS / 2]) / 2;
        assert_true(truth > 5);
        assert_near(arrivals_skew_us(world.ranks, RANKS), truth, error_us);
    }
}

TEST(a_skew_on_one_clock_is_exact)
{
    struct arrivals ranks[3];

    for (int i = 0; i < 3; i++) {
        arrivals_init(&ranks[i]);
        for (int64_t call = 0; call < 3; call++)
            arrivals_add(&ranks[i], (struct arrival){.in_ns = call * 100000,
                                                     .out_ns = call * 100000 + 900 +
                                                               i * 1000 * (call + 1)});
    }
    assert_near(arrivals_skew_us(ranks, 3), 4, 1e-9); /* of 2, 4 and 6 */
}

TEST(a_clock_that_runs_faster_is_followed)
{
    struct world world = {.late_ns = 300000, .wire_ns = 10000, .drift = 1e-4};
    double late_us[RANKS], error_us;

    play(&world, 1);
    arrivals_late_us(world.ranks, RANKS, late_us, &error_us);
    assert_true(fabs(late_us[LATE_RANK] - true_late_us(&world, LATE_RANK)) <= error_us);
}

TEST(ranks_of_one_machine_have_no_error)
{
    struct arrivals here[3];
    double late_us[3], error_us;

    for (int i = 0; i < 3; i++) {
        arrivals_init(&here[i]);
        for (int64_t call = 0; call < ARRIVALS_MAX + 5; call++)
            arrivals_add(&here[i],
                         (struct arrival){.in_ns = call * 100000,
                                          .out_ns = call * 100000 + 900,
                                          .came_ns = call * 100000 + 1000 + 500 * i});
        assert_int_equal(here[i].n, ARRIVALS_MAX);
    }
    arrivals_late_us(here, 3, late_us, &error_us);
    assert_true(error_us <= 0);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(late_us[i] - 0.5 * (i - 1)) < 1e-9);
    for (int i = 0; i < 3; i++)
        here[i].clock = (uint64_t)i;
    arrivals_late_us(here, 3, late_us, &error_us);
    assert_true(error_us > 1.7 && error_us < 1.9);
}

/* As two ranks on one core do: who waits at the barrier goes on in its turn only. */
TEST(who_is_let_go_last_is_not_late)
{
    struct arrivals ranks[4];
    double late_us[4], error_us;

    for (int i = 0; i < 4; i++) {
        ranks[i] = (struct arrivals){.clock = (uint64_t)(i / 2)};
        for (int64_t call = 0; call < 10; call++) {
            int64_t out = call * 1000000 + (i % 2) * 58000;

            arrivals_add(&ranks[i],
                         (struct arrival){.in_ns = call * 1000000 - 100,
                                          .out_ns = out,
                                          .came_ns = out + 300 + 7000 * (i == 3)});
        }
    }
    arrivals_late_us(ranks, 4, late_us, &error_us);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(late_us[i]) < 0.001);
    assert_true(fabs(late_us[3] - 7) < 0.001);
}
