/* SPDX-License-Identifier: Apache-2.0 */
/* test_projection.c - projected times compared with those of rings whose terms are known,
 * and of the simulation's model. With RINGBENCH_PRINT_TABLES it prints the table that
 * bench/MEASUREMENTS.md sums up. Everything is a function of fixed seeds. */
#include "common/base/json_util.h"
#include "server/analysis/projection.h"
#include "tests/unit/mentions.h"
#include "tests/unit/sim_fixture.h"

#define RANKS_MAX 2048
#define COUNTS_MAX 6
#define SIZES_MAX 28

/* A call of the simulation by one algorithm, or as it chooses. */
struct way {
    enum collective_kind kind;
    enum sim_algorithm algorithm;
    bool is_chosen; /* whichever the model takes */
};

/* What a call takes on so many nodes of 8 ranks. */
static double modelled_us(const struct way *way, double bytes, size_t nodes)
{
    struct sim_cluster fleet;
    double us;

    sim_cluster_make(&fleet, (int)nodes, 8, "", 0, "");
    us = way->is_chosen ? sim_model_choose(&fleet.model, way->kind, bytes).us
                        : sim_model_us(&fleet.model, way->kind, bytes, way->algorithm);
    sim_cluster_release(&fleet);
    return us;
}

/* ---- Rings with noise ---- */

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*state >> 33) + 0.5) / 2147483648.0;
}

static double normal(uint64_t *state)
{
    return sqrt(-2 * log(uniform(state))) * cos(2 * M_PI * uniform(state));
}

struct ring {
    double constant_us, hop_us, byte_us;
    double congestion; /* added to the bytes' time with each doubling of the nodes */
};

static double ring_us(const struct ring *ring, double bytes, size_t nodes)
{
    double n = (double)nodes, ranks = 8 * n;

    return ring->constant_us + ring->hop_us * (n - 1) +
           ring->byte_us * bytes * 2 * (ranks - 1) / ranks *
               (1 + ring->congestion * log2(n));
}

struct condition {
    const char *name;
    size_t counts[COUNTS_MAX]; /* rising; 0 after the last */
    int size_from, size_to;    /* powers of 2 */
    double congestion;
    double noise, shared; /* of a time, and of all times on a node count */
    double may_refuse;    /* the part of rings; 0: a fifth */
};

static struct projection_point points[8 * SIZES_MAX];

/* One more time on so many nodes. */
static void add_point(struct projection_question *asked, size_t nodes, int power,
                      double time_us)
{
    points[asked->n_points++] = (struct projection_point){.nodes = nodes,
                                                          .ranks = 8 * nodes,
                                                          .size = (int64_t)1 << power,
                                                          .time_us = time_us,
                                                          .low_us = time_us,
                                                          .high_us = time_us,
                                                          .cases = 1};
    asked->points = points;
}

struct tally {
    size_t asked, done, covered;
    double width; /* of all that are done: half of the interval */
};

/* One random ring, one of its sizes, `factor` times the largest count. */
static void try_ring(const struct condition *when, size_t factor, uint64_t *seed,
                     struct tally *tally)
{
    struct ring ring = {5 + 20 * uniform(seed), 0.5 + 6 * uniform(seed),
                        (2.5 + 10 * uniform(seed)) / 1e6, when->congestion};
    int span = when->size_to - when->size_from + 1;
    struct projection_question asked = {.kind = COLLECTIVE_ALL_REDUCE};
    struct projection made;
    struct projection_point at;
    double truth;
    size_t largest = 0;

    for (size_t i = 0; i < COUNTS_MAX && when->counts[i] > 0; i++) {
        double shared = when->shared * normal(seed);

        largest = when->counts[i];
        for (int power = when->size_from; power <= when->size_to; power++)
            add_point(&asked, when->counts[i], power,
                      ring_us(&ring, ldexp(1, power), when->counts[i]) *
                          exp(shared + when->noise * normal(seed)));
    }
    asked.size = (int64_t)1 << (when->size_from + (int)(span * uniform(seed)));
    asked.nodes = factor * largest;
    asked.ranks = 8 * asked.nodes;
    projection_make(&asked, &made);
    tally->asked++;
    if (made.message != MESSAGE_PROJECTED)
        return;
    at = made.at;
    truth = ring_us(&ring, (double)asked.size, asked.nodes);
    tally->done++;
    tally->covered += at.low_us <= truth && truth <= at.high_us;
    tally->width += (at.high_us - at.low_us) / 2 / at.time_us;
}

#define RINGS 400

static const struct condition conditions[] = {
    {"noise of 1 %", {4, 8, 16, 32}, 20, 30, 0, 0.01, 0, 0},
    {"noise of 1 %, congestion of 2 % per doubling",
     {4, 8, 16, 32},
     20,
     30,
     0.02,
     0.01,
     0,
     0},
    {"noise of 1 %, congestion of 5 % per doubling",
     {4, 8, 16, 32},
     20,
     30,
     0.05,
     0.01,
     0,
     0},
    {"noise of 1 % that all sizes of a node count share",
     {4, 8, 16, 32},
     20,
     30,
     0,
     0,
     0.01,
     0},
    {"the same with congestion of 5 %", {4, 8, 16, 32}, 20, 30, 0.05, 0, 0.01, 0},
    {"8 B to 1 GiB, congestion of 5 %", {4, 8, 16, 32}, 3, 30, 0.05, 0.01, 0, 0},
    {"8 MiB to 128 MiB, congestion of 5 %", {4, 8, 16, 32}, 23, 27, 0.05, 0.01, 0, 0},
    {"on 3, 6, 12 and 24 nodes, congestion of 5 %",
     {3, 6, 12, 24},
     20,
     30,
     0.05,
     0.01,
     0,
     0},
    {"on 4, 8, 12 and 16 nodes, congestion of 5 %",
     {4, 8, 12, 16},
     20,
     30,
     0.05,
     0.01,
     0,
     0},
    {"on 3, 4, 6, 8, 12 and 16 nodes, congestion of 5 %",
     {3, 4, 6, 8, 12, 16},
     20,
     30,
     0.05,
     0.01,
     0,
     0},
    {"on 3, 4, 6 and 8 nodes, congestion of 5 %",
     {3, 4, 6, 8},
     20,
     30,
     0.05,
     0.01,
     0,
     0.4},
};

#define CONDITIONS (sizeof(conditions) / sizeof(conditions[0]))

static struct tally tally_of(const struct condition *when, size_t factor)
{
    struct tally tally = {0};
    uint64_t seed = 1 + factor;

    for (int i = 0; i < RINGS; i++)
        try_ring(when, factor, &seed, &tally);
    return tally;
}

TEST(the_interval_covers_and_most_are_answered)
{
    for (size_t i = 0; i < CONDITIONS; i++)
        for (size_t factor = 2; factor <= 8; factor *= 2) {
            struct tally tally = tally_of(&conditions[i], factor);
            double may_refuse =
                conditions[i].may_refuse > 0 ? conditions[i].may_refuse : 0.2;

            if ((double)tally.done < (1 - may_refuse) * (double)tally.asked ||
                (double)tally.covered < 0.93 * (double)tally.done)
                fail_msg("%s, %zu times the nodes: %zu of %d answered, %zu covered",
                         conditions[i].name, factor, tally.done, RINGS, tally.covered);
        }
}

static int print_table(void **state)
{
    (void)state;
    if (!getenv("RINGBENCH_PRINT_TABLES"))
        return 0;
    printf("| rings | answered | within the interval | half of the interval |\n");
    for (size_t i = 0; i < CONDITIONS; i++) {
        struct tally tally = tally_of(&conditions[i], 8);
        double done = (double)(tally.done > 0 ? tally.done : 1);

        printf("| %s | %.0f %% | %.1f %% | %.0f %% |\n", conditions[i].name,
               100 * (double)tally.done / (double)tally.asked,
               100 * (double)tally.covered / done, 100 * tally.width / done);
    }
    return 0;
}

GROUP_FIXTURE(print_table, NULL);

/* ---- The simulation's model ---- */

/* From times on 1, 2, 4 ... nodes, 8 B to 1 GiB by powers of 2. */
static struct projection_question asked_about(const struct way *way, size_t largest,
                                              size_t nodes)
{
    struct projection_question asked = {
        .kind = way->kind, .nodes = nodes, .ranks = 8 * nodes, .size = 1 << 20};

    for (size_t n = 1; n <= largest; n *= 2)
        for (int power = 3; power <= 30; power++)
            add_point(&asked, n, power, modelled_us(way, ldexp(1, power), n));
    return asked;
}

/* How many of 28 sizes are projected on 8 times as many nodes, each with its time in the
 * interval. */
static size_t assert_met(const struct way *way, size_t largest)
{
    struct projection_question asked = asked_about(way, largest, 8 * largest);
    size_t done = 0;

    for (int power = 3; power <= 30; power++) {
        double want = modelled_us(way, ldexp(1, power), 8 * largest);
        struct projection made;
        struct projection_point at;

        asked.size = (int64_t)1 << power;
        projection_make(&asked, &made);
        if (made.message != MESSAGE_PROJECTED)
            continue;
        at = made.at;
        done++;
        if (at.low_us > want || at.high_us < want)
            fail_msg("%d of %zu, 2^%d bytes: %.1f us (%.1f to %.1f), is %.1f; %.3f",
                     (int)way->kind, largest, power, at.time_us, at.low_us, at.high_us,
                     want, made.noise);
    }
    return done;
}

/* 256 nodes from runs on 4 to 32, by each algorithm. */
TEST(the_model_is_met)
{
    static const struct way ways[] = {
        {COLLECTIVE_ALL_REDUCE, SIM_RING, false},
        {COLLECTIVE_ALL_REDUCE, SIM_TREE, false},
        {COLLECTIVE_ALL_GATHER, SIM_RING, false},
        {COLLECTIVE_REDUCE_SCATTER, SIM_RING, false},
    };

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        assert_in_range(assert_met(&ways[i], 32), 7, 28);
}

/* Left to choose, it takes another algorithm on more nodes: these sizes are refused. */
TEST(a_size_of_another_algorithm_is_refused)
{
    static const struct way way = {.kind = COLLECTIVE_ALL_REDUCE, .is_chosen = true};

    assert_in_range(assert_met(&way, 32), 2, 25);
}

/* ---- What is refused ---- */

static const struct way ring = {COLLECTIVE_ALL_REDUCE, SIM_RING, false};

static struct projection made_of(const struct projection_question *asked)
{
    struct projection made;

    projection_make(asked, &made);
    return made;
}

TEST(a_ring_without_noise_is_told_exactly)
{
    const struct ring exact = {10, 3, 5e-6, 0.02};
    struct projection_question asked = {
        .kind = COLLECTIVE_ALL_REDUCE, .size = 1 << 22, .nodes = 128, .ranks = 1024};
    struct projection made;
    struct projection_point at;

    for (size_t nodes = 4; nodes <= 32; nodes *= 2)
        for (int power = 20; power <= 24; power++)
            add_point(&asked, nodes, power, ring_us(&exact, ldexp(1, power), nodes));
    made = made_of(&asked);
    assert_int_equal(made.message, MESSAGE_PROJECTED);
    at = made.at;
    assert_near(at.time_us, ring_us(&exact, 1 << 22, 128), 0.01);
    assert_true(at.low_us < at.time_us && at.high_us > at.time_us);
}

/* A curve that leaves the model between two sizes. */
TEST(times_of_two_algorithms_are_refused)
{
    const struct ring slow = {10, 3, 20e-6, 0}, fast = {200, 3, 5e-6, 0};
    struct projection_question asked = {
        .kind = COLLECTIVE_ALL_REDUCE, .size = 1 << 22, .nodes = 128, .ranks = 1024};

    for (size_t nodes = 4; nodes <= 32; nodes *= 2)
        for (int power = 20; power <= 24; power++)
            add_point(&asked, nodes, power,
                      ring_us(power < 22 ? &slow : &fast, ldexp(1, power), nodes));
    assert_int_equal(made_of(&asked).message, MESSAGE_PROJECTION_WIDE);
    assert_int_equal(made_of(&asked).measure, 64);
}

TEST(two_sizes_are_too_few)
{
    struct projection_question asked = {
        .kind = COLLECTIVE_ALL_REDUCE, .size = 1 << 20, .nodes = 64, .ranks = 512};

    for (size_t nodes = 4; nodes <= 32; nodes *= 2)
        for (int power = 20; power <= 21; power++)
            add_point(&asked, nodes, power, modelled_us(&ring, ldexp(1, power), nodes));
    assert_int_equal(made_of(&asked).message, MESSAGE_PROJECTION_FEW_SIZES);
    assert_int_equal(made_of(&asked).n_counts, 4);
    assert_int_equal(made_of(&asked).n_sizes, 2);
    assert_near(made_of(&asked).size_from, 1 << 18, 0);
    assert_near(made_of(&asked).size_to, 1 << 23, 0);
}

TEST(beyond_eight_times_the_count_to_measure_is_named)
{
    struct projection_question asked = asked_about(&ring, 32, 400);
    struct projection made = made_of(&asked);

    assert_int_equal(made.message, MESSAGE_PROJECTION_FAR);
    assert_int_equal(made.measure, 50);
}

TEST(three_counts_are_too_few)
{
    struct projection_question asked = asked_about(&ring, 16, 64);

    assert_int_equal(made_of(&asked).message, MESSAGE_PROJECTION_FEW_COUNTS);
}

/* The sentences state these limits. */
TEST(limits_are_those_of_the_sentences)
{
    assert_mentions(messages[MESSAGE_PROJECTION_FAR].text, "8");
    assert_int_equal(PROJECTION_FACTOR_MAX, 8);
    assert_mentions(messages[MESSAGE_PROJECTION_FEW_COUNTS].text, "4 3");
    assert_mentions(messages[MESSAGE_PROJECTION_FEW_SIZES].text, "3");
    assert_int_equal(PROJECTION_COUNTS_MIN, 4);
    assert_int_equal(PROJECTION_NODES_MIN, 3);
    assert_int_equal(PROJECTION_SIZES_MIN, 3);
}
