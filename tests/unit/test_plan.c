/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan.c - which nodes of a run measure together, round by round */
#include "server/plan/plan.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

/* "0,1 2,3": the groups of a round; "" where there is none. */
static void describe(const struct plan_pool *pool, size_t round, char *out, size_t size)
{
    struct plan_round made;
    const size_t *nodes;
    size_t n = 0;

    plan_round_make(pool, round, &made);
    nodes = made.nodes;
    out[0] = '\0';
    for (size_t i = 0; i < made.n; i++)
        for (size_t k = 0; k < made.sizes[i]; k++)
            n += (size_t)snprintf(out + n, size - n, "%s%zu",
                                  k   ? ","
                                  : i ? " "
                                      : "",
                                  *nodes++);
    plan_round_release(&made);
}

TEST(test_makes_rounds)
{
    static const struct {
        enum run_pattern pattern;
        size_t n;
        const char *rounds[7];
    } rows[] = {
        {PATTERN_ALL, 3, {"0,1,2", ""}},
        {PATTERN_PAIRS, 2, {"0,1"}},
        {PATTERN_PAIRS, 3, {"1,2", "0,2", "0,1"}},
        {PATTERN_PAIRS, 4, {"0,3 1,2", "0,2 1,3", "0,1 2,3"}},
        {PATTERN_SCALING, 1, {"0", ""}},
        {PATTERN_SCALING, 4, {"0", "0,1", "0,1,2", "0,1,2,3", ""}},
        {PATTERN_SCALING,
         7,
         {"0", "0,1", "0,1,2", "0,1,2,3", "0,1,2,3,4,5", "0,1,2,3,4,5,6", ""}},
    };
    char made[200];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct plan_pool pool = {.pattern = rows[i].pattern,
                                       .fleet = {.n_nodes = rows[i].n}};

        for (size_t k = 0; k < 7 && rows[i].rounds[k]; k++) {
            describe(&pool, k, made, sizeof(made));
            assert_string_equal(made, rows[i].rounds[k]);
        }
    }
}

/* Every pair once, and no node twice in a round. */
TEST(test_pairs_meet_once)
{
    const struct run_spec spec = {.pattern = PATTERN_PAIRS, .rounds = 141};

    for (size_t n = 2; n <= 141; n++) {
        const struct plan_pool pool = {
            .pattern = PATTERN_PAIRS, .fleet = {.n_nodes = n}, .n_rounds = 141};
        bool *met = calloc(n * n, sizeof(*met));
        size_t pairs = 0;

        for (size_t round = 0; round < plan_size(&spec, n).rounds; round++) {
            bool is_used[141] = {false};
            struct plan_round made;

            plan_round_make(&pool, round, &made);
            assert_int_equal(made.n, n / 2);
            for (size_t i = 0; i < made.n; i++) {
                size_t a = made.nodes[2 * i], b = made.nodes[2 * i + 1];

                assert_true(a < b && !is_used[a] && !is_used[b]);
                assert_false(met[a * n + b]);
                is_used[a] = is_used[b] = met[a * n + b] = true;
                pairs++;
            }
            plan_round_release(&made);
        }
        assert_int_equal(pairs, plan_size(&spec, n).groups);
        free(met);
    }
}

/* Above 16 nodes eight rounds find a slow node as surely as all of them. */
TEST(test_many_nodes_meet_in_eight_rounds)
{
    static const struct {
        size_t n, rounds, groups;
    } rows[] = {{2, 1, 1}, {15, 15, 105}, {16, 15, 120}, {17, 8, 64}, {1000, 8, 4000}};
    const struct run_spec spec = {.pattern = PATTERN_PAIRS};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(plan_size(&spec, rows[i].n).rounds, rows[i].rounds);
        assert_int_equal(plan_size(&spec, rows[i].n).groups, rows[i].groups);
    }
}

/* Who meets whom in a plan of so many rounds: of each node, how many of each rack. */
static void meet(size_t n, size_t rounds, size_t per_rack, size_t (*seen)[16])
{
    const struct plan_pool pool = {
        .pattern = PATTERN_PAIRS, .fleet = {.n_nodes = n}, .n_rounds = rounds};
    bool *met = calloc(n * n, sizeof(*met));
    struct plan_round made;

    for (size_t round = 0; round < rounds; round++) {
        plan_round_make(&pool, round, &made);
        assert_int_equal(made.n, n / 2);
        for (size_t k = 0; k < made.n; k++) {
            size_t a = made.nodes[2 * k], b = made.nodes[2 * k + 1];

            assert_false(met[a * n + b]);
            met[a * n + b] = true;
            seen[a][b / per_rack]++;
            seen[b][a / per_rack]++;
        }
        plan_round_release(&made);
    }
    free(met);
}

/* Each node but the first, which does not go round, meets some of every other rack. */
TEST(test_few_rounds_cross_all_racks)
{
    static const struct {
        size_t n, rounds, per_rack;
    } rows[] = {{64, 8, 16}, {150, 4, 75}, {511, 30, 32}, {512, 30, 32}, {512, 37, 32}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t(*seen)[16] = calloc(rows[i].n, sizeof(*seen));

        meet(rows[i].n, rows[i].rounds, rows[i].per_rack, seen);
        for (size_t node = 1; node < rows[i].n; node++)
            for (size_t rack = 0; rack * rows[i].per_rack < rows[i].n; rack++)
                if (seen[node][rack] == 0 && node / rows[i].per_rack != rack)
                    fail_msg("%zu nodes: %zu meets none of rack %zu", rows[i].n, node,
                             rack);
        free(seen);
    }
}

TEST(test_scales_over_what_is_left)
{
    const bool is_lost[6] = {false, true, false, false, true, false};
    const struct plan_pool pool = {
        .pattern = PATTERN_SCALING, .is_lost = is_lost, .fleet = {.n_nodes = 6}};
    char made[100];

    describe(&pool, 1, made, sizeof(made));
    assert_string_equal(made, "0,2");
    describe(&pool, 2, made, sizeof(made));
    assert_string_equal(made, "0,2,3");
    describe(&pool, 3, made, sizeof(made));
    assert_string_equal(made, "0,2,3,5");
    describe(&pool, 4, made, sizeof(made));
    assert_string_equal(made, "");
}

/* A projection needs four counts of three nodes or more. */
TEST(test_scaling_has_counts_for_a_projection)
{
    const struct run_spec spec = {.pattern = PATTERN_SCALING};

    for (size_t n = 7; n <= 64; n++) {
        const struct plan_pool pool = {.pattern = PATTERN_SCALING,
                                       .fleet = {.n_nodes = n}};
        size_t usable = 0, before = 0, last = 0;

        for (size_t k = 0; k < plan_size(&spec, n).rounds; k++) {
            struct plan_round made;

            plan_round_make(&pool, k, &made);
            last = made.sizes[0];
            assert_true(last > before);
            usable += last >= 3;
            before = last;
            plan_round_release(&made);
        }
        assert_int_equal(last, n);
        assert_in_range(usable, 4, 7);
    }
}

TEST(test_refuses_too_much)
{
    static const struct {
        enum run_pattern pattern;
        size_t n;
        long repeats, rounds;
        const char *names; /* each sentence is whole in one row */
    } rows[] = {
        {PATTERN_PAIRS, 128, 1, 128, NULL},
        {PATTERN_PAIRS, 141, 1, 200, NULL},
        {PATTERN_PAIRS, 512, 1, 600,
         "pattern pairs over 512 nodes makes 130816 cases, but a run may contain at most "
         "10000: use at most 37 rounds (to leave room for confirmations) or fewer nodes"},
        {PATTERN_PAIRS, 512, 1, 37, NULL},
        {PATTERN_PAIRS, 512, 1, 0, NULL},
        {PATTERN_PAIRS, 512, 1, 40, "pairs 512 10240 10000: 37"},
        {PATTERN_PAIRS, 128, 2, 200, "pairs 128 16256 10000: 73"},
        {PATTERN_PAIRS, 5000, 1, 0, "pairs 5000 20000 10000: 3"},
        {PATTERN_PAIRS, 512, 40, 1, "pairs 512 10240 10000: repeats"},
        {PATTERN_PAIRS, 1, 1, 0, "pattern pairs needs at least 2 nodes, not 1"},
        {PATTERN_SCALING, 1000, 1000, 0, "scaling 1000 11000 10000: repeats"},
        {PATTERN_ALL, 100000, 1000, 0, NULL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct run_spec spec = {.pattern = rows[i].pattern,
                                      .repeats = rows[i].repeats,
                                      .rounds = rows[i].rounds};
        char why[200] = "";

        assert_int_equal(plan_fits(&spec, rows[i].n, why, sizeof(why)), !rows[i].names);
        if (rows[i].names)
            assert_mentions(why, rows[i].names);
        else
            assert_string_equal(why, "");
    }
}

/* ---- Who is slow ---- */

#define FLEET 1000

struct fleet {
    size_t n;
    double share[FLEET]; /* of the usual figure that a node reaches; 0: it fails */
    size_t few;          /* rounds of pairs; 0: all */
    size_t slow_link;    /* not 0: between it and the next, in any group */
    struct culprit_node names[FLEET];
    char texts[FLEET][8];
    struct culprit_group groups[5 * FLEET];
    size_t rounds[5 * FLEET], n_groups;
};

static struct culprit_fleet known(const struct fleet *fleet)
{
    return (struct culprit_fleet){.nodes = fleet->names,
                                  .n_nodes = fleet->n,
                                  .groups = fleet->groups,
                                  .n_groups = fleet->n_groups,
                                  .unit = "GB/s"};
}

/* A group is as fast as its slowest node, and never twice the same to the last digit. */
static void measure(struct fleet *fleet, size_t round, const size_t nodes[2],
                    bool confirms)
{
    double least = 1.0 - 0.001 * (double)(fleet->n_groups * 7 % 11);
    size_t ends = 0;

    for (size_t i = 0; i < 2; i++) {
        least = fleet->share[nodes[i]] < least ? fleet->share[nodes[i]] : least;
        ends += fleet->slow_link > 0 && nodes[i] - fleet->slow_link < 2;
    }
    least *= ends == 2 ? 0.5 : 1;
    fleet->rounds[fleet->n_groups] = round;
    fleet->groups[fleet->n_groups++] =
        (struct culprit_group){.nodes = {nodes[0], nodes[1]},
                               .figure = 40.0 * least,
                               .state = least > 0 ? CULPRIT_RAN : CULPRIT_FAILED,
                               .confirms = confirms};
}

/* Another server may make each of the rounds: nothing but the groups is known of it. */
static void run(struct fleet *fleet)
{
    for (size_t round = 0;; round++) {
        const struct plan_pool pool = {.pattern = PATTERN_PAIRS,
                                       .fleet = known(fleet),
                                       .rounds = fleet->rounds,
                                       .n_rounds = fleet->few};
        bool is_used[FLEET] = {false};
        struct plan_round made;
        size_t n;

        assert_in_range(round, 0, 100);
        plan_round_make(&pool, round, &made);
        n = made.n;
        for (size_t i = 0; i < 2 * n; i++) {
            assert_false(is_used[made.nodes[i]]);
            is_used[made.nodes[i]] = true;
        }
        for (size_t i = 0; i < n; i++)
            measure(fleet, round, &made.nodes[2 * i], made.confirms);
        plan_round_release(&made);
        if (n == 0)
            return;
    }
}

static struct fleet *fleet_create(size_t n)
{
    struct fleet *fleet = calloc(1, sizeof(*fleet));

    assert_non_null(fleet);
    fleet->n = n;
    for (size_t i = 0; i < n; i++) {
        fleet->share[i] = 1.0;
        snprintf(fleet->texts[i], sizeof(fleet->texts[i]), "n%zu", i);
        fleet->names[i].name = fleet->texts[i];
    }
    return fleet;
}

static void require(struct fleet *fleet, const char *answer, const char *named)
{
    const struct culprit_fleet asked = known(fleet);
    json_t *verdict = culprit_verdict(&asked);
    const char *sentence = json_string_value(json_object_get(verdict, "sentence"));

    if (strcmp(json_string_value(json_object_get(verdict, "answer")), answer) != 0 ||
        !strstr(sentence, named))
        fail_msg("not %s %s, %zu nodes, %zu groups: %s", answer, named, fleet->n,
                 fleet->n_groups, sentence);
    json_decref(verdict);
}

TEST(test_measures_a_sound_fleet_once)
{
    static const size_t sizes[] = {9, 16, 64, 100, 1000};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct fleet *fleet = fleet_create(sizes[i]);

        run(fleet);
        assert_int_equal(
            fleet->n_groups,
            plan_size(&(struct run_spec){.pattern = PATTERN_PAIRS}, sizes[i]).groups);
        require(fleet, "none", "");
        free(fleet);
    }
}

TEST(test_finds_a_slow_node)
{
    static const struct {
        size_t n, rounds;
    } rows[] = {{8, 0}, {33, 33}, {64, 0}, {151, 6}, {1000, 0}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t slow = 0; slow < rows[i].n; slow += 1 + rows[i].n / 5) {
            const struct run_spec spec = {.pattern = PATTERN_PAIRS,
                                          .rounds = (long)rows[i].rounds};
            struct fleet *fleet = fleet_create(rows[i].n);
            char named[16];

            fleet->few = rows[i].rounds;
            fleet->share[slow] = 0.6;
            run(fleet);
            snprintf(named, sizeof(named), "n%zu ", slow);
            require(fleet, "slow_node", named);
            assert_in_range(fleet->n_groups, 1, plan_size(&spec, rows[i].n).groups + 6);
            free(fleet);
        }
    }
}

TEST(test_finds_a_slow_link)
{
    static const size_t sizes[] = {9, 16, 64};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (size_t link = 1; link + 1 < sizes[i]; link += 1 + sizes[i] / 5) {
            struct fleet *fleet = fleet_create(sizes[i]);
            char named[48];

            fleet->few = sizes[i];
            fleet->slow_link = link;
            run(fleet);
            snprintf(named, sizeof(named), "the link between n%zu and n%zu is slow", link,
                     link + 1);
            require(fleet, "slow_link", named);
            free(fleet);
        }
}

TEST(test_finds_several)
{
    struct fleet *fleet = fleet_create(256);

    fleet->share[3] = fleet->share[4] = 0.5;
    fleet->share[200] = 0.7;
    run(fleet);
    require(fleet, "slow_node", "n3");
    require(fleet, "slow_node", "n4");
    require(fleet, "slow_node", "n200");
    free(fleet);
}
