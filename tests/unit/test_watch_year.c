/* SPDX-License-Identifier: Apache-2.0 */
/* test_watch_year.c - a year of nights: how often a watch is wrong, and when it finds
 * what is there
 *
 * 64 nodes in 8 racks. A run's level has an effect of the night (0.5 %), one of the run
 * (1 %), and drifts by 0.05 % a week. Every seventh night all pairs are measured.
 * RINGBENCH_PRINT_TABLES=1 prints what docs/reference/watches.md says. */
#include "server/watches/sweep.h"

#include "common/base/json_util.h"
#include "server/analysis/compare.h"
#include "server/analysis/culprit.h"
#include "server/plan/plan.h"
#include "server/watches/actions.h"
#include "tests/unit/compare_fixture.h"
#include "tests/unit/seeded_noise.h"
#include "tests/unit/test.h"

#define NIGHTS 365
#define NODES ((size_t)64)
#define PER_RACK ((size_t)8)
#define BASE_RUNS 20
#define ALL_PAIRS (NODES * NODES)
#define SERIES "{\"collective\":\"all_reduce\",\"dtype\":\"float32\",\"redop\":\"sum\"}"
#define BYTES (256 << 20)

enum place { PLACE_NODE, PLACE_LINK, PLACE_RACK };

/* A fault is there for so many nights, and then repaired. */
#define FAULT_NIGHTS 14
static const struct fault {
    enum place place;
    double factor;
    size_t at, to; /* node; link: the other end; rack */
    int night;
} faults[] = {
    {PLACE_NODE, 0.9, 5, 0, 20},   {PLACE_NODE, 0.8, 17, 0, 48},
    {PLACE_NODE, 0.5, 40, 0, 76},  {PLACE_LINK, 0.8, 30, 31, 104},
    {PLACE_RACK, 0.8, 3, 0, 132},  {PLACE_NODE, 0.9, 63, 0, 160},
    {PLACE_LINK, 0.5, 3, 40, 188}, {PLACE_RACK, 0.5, 6, 0, 216},
    {PLACE_NODE, 0.8, 0, 0, 244},  {PLACE_LINK, 0.5, 7, 8, 272},
    {PLACE_NODE, 0.5, 33, 0, 300}, {PLACE_RACK, 0.8, 0, 0, 328},
};

#define FAULTS (sizeof(faults) / sizeof(faults[0]))

struct year {
    struct noise noise;
    json_t *watch, *names, *standings;
    double levels[NIGHTS]; /* of runs that passed, the latest last */
    size_t n_levels;
    int runs;
    /* What it comes to: */
    int alarms, false_alarms, wrong, found[FAULTS], suspects;
};

static const struct fault *fault_on(int night)
{
    for (size_t i = 0; i < FAULTS; i++)
        if (night >= faults[i].night && night < faults[i].night + FAULT_NIGHTS)
            return &faults[i];
    return NULL;
}

/* The part of its bandwidth that a pair has. */
static double share_of(const struct fault *fault, size_t a, size_t b)
{
    bool is_hit = false;

    if (!fault)
        return 1;
    if (fault->place == PLACE_NODE)
        is_hit = a == fault->at || b == fault->at;
    else if (fault->place == PLACE_LINK)
        is_hit = (a == fault->at && b == fault->to) || (a == fault->to && b == fault->at);
    else
        is_hit = (a / PER_RACK == fault->at) != (b / PER_RACK == fault->at);
    return is_hit ? fault->factor : 1;
}

/* A ring over all nodes is as fast as its slowest result. */
static double ring_share(const struct fault *fault)
{
    double least = 1;

    for (size_t i = 0; i < NODES; i++)
        least = fmin(least, share_of(fault, i, (i + 1) % NODES));
    return least;
}

/* ---- Runs ---- */

static void make_run(struct made *made, double level)
{
    const struct case_point point = {
        .size = BYTES, .busbw_gbs = level, .time_us = BYTES / level / 1e3};

    made_init(made);
    made_add(made, 0, SERIES, &point, 1);
}

/* As a gate compares it with its baseline. */
static bool is_slower(const struct year *year, double level)
{
    static struct made base[BASE_RUNS], head;
    struct compare_lot lots[BASE_RUNS], own = {&head.values, 0};
    size_t n = year->n_levels < BASE_RUNS ? year->n_levels : BASE_RUNS;
    struct compare_sides sides = {.base = lots,
                                  .head = &own,
                                  .n_base = n,
                                  .n_head = 1,
                                  .by_run = true,
                                  .margin = COMPARE_SAME};
    struct compare *compare;
    bool is_worse;

    if (n == 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        make_run(&base[i], year->levels[year->n_levels - 1 - i]);
        lots[i] = (struct compare_lot){&base[i].values, 0};
    }
    make_run(&head, level);
    compare = compare_create(&sides, NULL);
    assert_non_null(compare);
    is_worse = compare->answer == VERDICT_WORSE || compare->answer == VERDICT_MIXED;
    compare_destroy(compare);
    for (size_t i = 0; i < n; i++)
        made_release(&base[i]);
    made_release(&head);
    return is_worse;
}

static json_t *run_of(struct year *year, const char *pattern, json_t *verdict)
{
    json_t *nodes = json_array(), *name;
    char id[16];
    size_t i;

    snprintf(id, sizeof(id), "r%d", year->runs++);
    json_array_foreach (year->names, i, name)
        json_array_append_new(nodes, json_pack("{s:O}", "name", name));
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:{s:s, s:[s], s:[i]}, s:[o]}", "id", id,
                     "state", "completed", "ended", "x", "backend", "host", "nodes",
                     nodes, "spec", "pattern", pattern, "collectives", "all_reduce",
                     "sizes", BYTES, "verdicts", verdict);
}

static void count_named(struct year *year, const struct fault *fault, int night,
                        const json_t *named)
{
    size_t in_fault = 0, i;
    json_t *name;

    json_array_foreach (named, i, name) {
        size_t node = (size_t)atoi(json_string_value(name) + 1);

        in_fault += fault && (fault->place == PLACE_RACK
                                  ? node / PER_RACK == fault->at
                                  : node == fault->at || (fault->place == PLACE_LINK &&
                                                          node == fault->to));
    }
    if (in_fault != json_array_size(named))
        year->wrong++;
    else if (in_fault > 0 && year->found[fault - faults] < 0)
        year->found[fault - faults] = night - fault->night;
}

/* The end of the run under way. */
static void end_run(struct year *year, const struct fault *fault, int night, json_t *run)
{
    struct sweep_result result;

    sweep_take_run(sweep_next(year->watch, NULL, NULL, false),
                   json_get_str(run, "id", ""));
    sweep_take_end(year->watch, run, night, &result);
    count_named(year, fault, night, result.named);
    for (size_t i = 0; i < NODES && result.has_judged; i++) {
        bool is_named = false;
        const char *name = json_string_value(json_array_get(year->names, i));
        json_t *node = standing_of(year->standings, name);

        for (size_t k = 0; k < json_array_size(result.named); k++)
            is_named |=
                strcmp(json_string_value(json_array_get(result.named, k)), name) == 0;
        year->suspects +=
            standing_take(node, "w", json_get_str(run, "id", ""), "",
                          is_named && result.answer == VERDICT_SLOW_NODE, "", night) &&
            standing_is_suspect(node);
    }
    json_decref(run);
}

static void measure_pairs(struct year *year, const struct fault *fault, int night,
                          size_t rounds)
{
    static struct culprit_group groups[ALL_PAIRS];
    static size_t round_of[ALL_PAIRS];
    struct culprit_node nodes[NODES];
    struct plan_pool pool = {
        .pattern = PATTERN_PAIRS, .rounds = round_of, .n_rounds = (long)rounds};
    struct plan_round made;
    size_t n = 0, made_groups = 1;

    for (size_t i = 0; i < NODES; i++) {
        char rack[8];

        snprintf(rack, sizeof(rack), "r%zu", i / PER_RACK);
        nodes[i].name = json_string_value(json_array_get(year->names, i));
        nodes[i].labels = json_pack("{s:s}", "rack", rack);
    }
    pool.fleet = (struct culprit_fleet){
        .nodes = nodes, .n_nodes = NODES, .groups = groups, .unit = "GB/s"};
    for (size_t round = 0; made_groups > 0; round++) {
        plan_round_make(&pool, round, &made);
        made_groups = made.n;
        for (size_t i = 0; i < made.n; i++) {
            const size_t *pair = &made.nodes[2 * i];

            assert_true(n < ALL_PAIRS);
            round_of[n] = round;
            groups[n++] =
                (struct culprit_group){.nodes = {pair[0], pair[1]},
                                       .figure = 46 * share_of(fault, pair[0], pair[1]) *
                                                 exp(0.01 * noise_normal(&year->noise)),
                                       .confirms = made.confirms};
            pool.fleet.n_groups = n;
        }
        plan_round_release(&made);
    }
    end_run(year, fault, night, run_of(year, "pairs", culprit_verdict(&pool.fleet)));
    for (size_t i = 0; i < NODES; i++)
        json_decref((json_t *)(uintptr_t)nodes[i].labels);
}

/* ---- Nights ---- */

static json_t *gate_of(bool is_alarm, bool has_failed)
{
    const char *answer = has_failed ? "fail" : "pass";
    json_t *check = json_pack("{s:s, s:s, s:s}", "check", "baseline", "answer", answer,
                              "sentence", "slower");

    if (is_alarm)
        json_object_set_new(check, "again", json_object());
    return json_pack("{s:s, s:s, s:s, s:[], s:{s:[o]}}", "kind", "gate", "answer", answer,
                     "sentence", "slower", "nodes", "evidence", "checks", check);
}

static double draw_level(struct year *year, const struct fault *fault, double effect)
{
    return 40 * ring_share(fault) * exp(effect + 0.01 * noise_normal(&year->noise));
}

static void live_night(struct year *year, int night)
{
    const struct fault *fault = fault_on(night);
    double effect = 0.005 * noise_normal(&year->noise) - 0.0005 * night / 7;
    double level = draw_level(year, fault, effect);
    bool is_alarm = is_slower(year, level);
    bool has_failed = is_alarm && is_slower(year, draw_level(year, fault, effect));

    sweep_begin(year->watch, year->names, 0, NULL, night, 0, night);
    if (standing_any_is_open(year->standings, year->names)) {
        measure_pairs(year, fault, night, NODES - 1);
        sweep_close(year->watch, night);
        return;
    }
    end_run(year, fault, night, run_of(year, "all", gate_of(is_alarm, has_failed)));
    if (!has_failed)
        year->levels[year->n_levels++] = level;
    year->alarms += is_alarm && !fault;
    year->false_alarms += has_failed && ring_share(fault) == 1;
    if (!sweep_is_over(year->watch)) {
        const json_t *batch = sweep_next(year->watch, NULL, NULL, false);
        const json_t *spec = json_object_get(batch, "spec");

        measure_pairs(year, fault, night, (size_t)json_get_int(spec, "rounds", 0));
    }
    sweep_close(year->watch, night);
    if (night % 7 == 3) {
        sweep_begin(year->watch, year->names, 0, NULL, night, 0, night);
        measure_pairs(year, fault, night, NODES - 1);
        sweep_close(year->watch, night);
    }
}

static void live_year(struct year *year, uint64_t seed)
{
    memset(year, 0, sizeof(*year));
    year->noise.seed = seed * 7919;
    year->names = json_array();
    year->standings = json_object();
    for (size_t i = 0; i < NODES; i++) {
        char name[16];

        snprintf(name, sizeof(name), "n%zu", i);
        json_array_append_new(year->names, json_string(name));
    }
    for (size_t i = 0; i < FAULTS; i++)
        year->found[i] = -1;
    year->watch = sweep_document("w", json_object(), NULL, 0);
    for (int night = 0; night < NIGHTS; night++)
        live_night(year, night);
    json_decref(year->watch);
    json_decref(year->names);
    json_decref(year->standings);
}

TEST(in_a_year_of_nights_faults_are_named_and_nobody_else)
{
    static const char *const places[] = {"node", "link", "rack"};
    int years = getenv("RINGBENCH_PRINT_TABLES") ? 20 : (int)test_seeds(2),
        found[FAULTS] = {0}, latest[FAULTS] = {0};
    int alarms = 0, false_alarms = 0, wrong = 0, suspects = 0;
    static struct year year;

    for (int seed = 1; seed <= years; seed++) {
        live_year(&year, (uint64_t)seed);
        alarms += year.alarms;
        false_alarms += year.false_alarms;
        wrong += year.wrong;
        suspects += year.suspects;
        assert_true(year.false_alarms <= 12);
        for (size_t i = 0; i < FAULTS; i++) {
            found[i] += year.found[i] >= 0;
            latest[i] = year.found[i] > latest[i] ? year.found[i] : latest[i];
        }
    }
    if (getenv("RINGBENCH_PRINT_TABLES")) {
        printf("%d years: %d first measurements outside, %d also the second, %d named "
               "wrongly, %d suspects\n",
               years, alarms, false_alarms, wrong, suspects);
        for (size_t i = 0; i < FAULTS; i++)
            printf("| %s at %.1f | %d of %d | %d |\n", places[faults[i].place],
                   faults[i].factor, found[i], years, latest[i]);
    }
    assert_int_equal(wrong, 0);
    for (size_t i = 0; i < FAULTS; i++)
        assert_int_equal(found[i], years);
}
