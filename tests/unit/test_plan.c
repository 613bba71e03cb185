/* test_plan.c - which nodes of a run measure together, round by round */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/plan/plan.h"

/* "0,1 2,3": the groups of a round; "" where there is none. */
static void describe(const struct plan_pool *pool, size_t round, char *out, size_t size)
{
    struct plan_round made;
    const int *nodes;
    size_t n = 0;

    assert_int_equal(plan_round_make(pool, round, &made), 0);
    nodes = made.nodes;
    out[0] = '\0';
    for (size_t i = 0; i < made.n; i++)
        for (size_t k = 0; k < made.sizes[i]; k++)
            n += (size_t)snprintf(out + n, size - n, "%s%d",
                                  k   ? ","
                                  : i ? " "
                                      : "",
                                  *nodes++);
    plan_round_release(&made);
}

static void test_makes_rounds(void **state)
{
    static const struct {
        enum run_pattern pattern;
        size_t n;
        const char *rounds[6];
    } rows[] = {
        {PATTERN_ALL, 3, {"0,1,2", ""}},
        {PATTERN_PAIRS, 2, {"0,1", ""}},
        {PATTERN_PAIRS, 3, {"1,2", "0,2", "0,1", ""}},
        {PATTERN_PAIRS, 4, {"0,3 1,2", "0,2 1,3", "0,1 2,3", ""}},
        {PATTERN_SCALING, 1, {"0", ""}},
        {PATTERN_SCALING, 4, {"0", "0,1", "0,1,2,3", ""}},
        {PATTERN_SCALING, 6, {"0", "0,1", "0,1,2,3", "0,1,2,3,4,5", ""}},
        {PATTERN_BISECT, 4, {"0,1 2,3"}},
        {PATTERN_BISECT, 9, {"0,1,2 3,4,5 6,7,8"}},
    };
    char made[200];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct plan_pool pool = {.pattern = rows[i].pattern, .n = rows[i].n};

        for (size_t k = 0; k < 6 && rows[i].rounds[k]; k++) {
            describe(&pool, k, made, sizeof(made));
            assert_string_equal(made, rows[i].rounds[k]);
        }
    }
}

/* Every pair once, and no node twice in a round. */
static void test_pairs_meet_once(void **state)
{
    (void)state;
    for (size_t n = 2; n <= 141; n++) {
        const struct plan_pool pool = {.pattern = PATTERN_PAIRS, .n = n};
        bool *met = calloc(n * n, sizeof(*met));
        size_t pairs = 0;

        for (size_t round = 0; round < plan_size(PATTERN_PAIRS, n).rounds; round++) {
            bool is_used[141] = {false};
            struct plan_round made;

            assert_int_equal(plan_round_make(&pool, round, &made), 0);
            assert_int_equal(made.n, n / 2);
            for (size_t i = 0; i < made.n; i++) {
                int a = made.nodes[2 * i], b = made.nodes[2 * i + 1];

                assert_true(a < b && !is_used[a] && !is_used[b]);
                assert_false(met[(size_t)a * n + (size_t)b]);
                is_used[a] = is_used[b] = met[(size_t)a * n + (size_t)b] = true;
                pairs++;
            }
            plan_round_release(&made);
        }
        assert_int_equal(pairs, plan_size(PATTERN_PAIRS, n).groups);
        free(met);
    }
}

static void test_scales_over_what_is_left(void **state)
{
    const bool is_lost[6] = {false, true, false, false, true, false};
    const struct plan_pool pool = {
        .pattern = PATTERN_SCALING, .n = 6, .is_lost = is_lost};
    char made[100];

    (void)state;
    describe(&pool, 1, made, sizeof(made));
    assert_string_equal(made, "0,2");
    describe(&pool, 2, made, sizeof(made));
    assert_string_equal(made, "0,2,3,5");
    describe(&pool, 3, made, sizeof(made));
    assert_string_equal(made, "");
}

static void test_refuses_too_much(void **state)
{
    static const struct {
        enum run_pattern pattern;
        size_t n;
        long repeats;
        const char *why;
    } rows[] = {
        {PATTERN_PAIRS, 128, 1, NULL},
        {PATTERN_PAIRS, 1000, 1,
         "pattern pairs over 1000 nodes makes 499500 cases, and a run may have 10000: "
         "use "
         "the pattern bisect, or fewer nodes"},
        {PATTERN_PAIRS, 128, 2,
         "pattern pairs over 128 nodes makes 16256 cases, and a run may have 10000: use "
         "the pattern bisect, or fewer nodes"},
        {PATTERN_PAIRS, 1, 1, "pattern pairs takes 2 nodes or more, not 1"},
        {PATTERN_BISECT, 3, 1, "pattern bisect takes 4 nodes or more, not 3"},
        {PATTERN_BISECT, 1000, 10, NULL},
        {PATTERN_SCALING, 1000, 1000,
         "pattern scaling over 1000 nodes makes 11000 cases, and a run may have 10000: "
         "use fewer repeats"},
        {PATTERN_ALL, 100000, 1000, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct run_spec spec = {
            .pattern = rows[i].pattern, .repeats = rows[i].repeats, .matrix = NULL};
        char why[200] = "";

        assert_int_equal(plan_fits(&spec, rows[i].n, why, sizeof(why)), !rows[i].why);
        assert_string_equal(why, rows[i].why ? rows[i].why : "");
    }
}

/* ---- Bisection ---- */

#define FLEET 1000

struct fleet {
    size_t n;
    double share[FLEET]; /* of the usual figure that a node reaches; 0: it fails */
    bool is_lost[FLEET];
    struct plan_past past[4 * FLEET];
    size_t n_past, rounds;
    int nodes[64 * FLEET];
    size_t n_nodes;
};

/* A group is as fast as its slowest node. */
static void measure(struct fleet *fleet, size_t round, const int *nodes, size_t n)
{
    struct plan_past *past = &fleet->past[fleet->n_past++];
    double least = 1.0;

    memcpy(fleet->nodes + fleet->n_nodes, nodes, n * sizeof(*nodes));
    for (size_t i = 0; i < n; i++) {
        assert_false(fleet->is_lost[nodes[i]]);
        least = fleet->share[nodes[i]] < least ? fleet->share[nodes[i]] : least;
    }
    *past = (struct plan_past){round, fleet->nodes + fleet->n_nodes, n, 40.0 * least};
    fleet->n_nodes += n;
}

static void bisect(struct fleet *fleet)
{
    for (size_t round = 0;; round++) {
        const struct plan_pool pool = {.pattern = PATTERN_BISECT,
                                       .n = fleet->n,
                                       .is_lost = fleet->is_lost,
                                       .past = fleet->past,
                                       .n_past = fleet->n_past};
        bool is_used[FLEET] = {false};
        struct plan_round made;
        const int *nodes;
        size_t n;

        assert_in_range(round, 0, 40);
        assert_int_equal(plan_round_make(&pool, round, &made), 0);
        n = made.n;
        nodes = made.nodes;
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < made.sizes[i]; k++) {
                assert_false(is_used[nodes[k]]);
                is_used[nodes[k]] = true;
            }
            measure(fleet, round, nodes, made.sizes[i]);
            nodes += made.sizes[i];
        }
        plan_round_release(&made);
        if (n == 0)
            return;
        fleet->rounds = round + 1;
    }
}

static struct fleet *fleet_create(size_t n)
{
    struct fleet *fleet = calloc(1, sizeof(*fleet));

    assert_non_null(fleet);
    fleet->n = n;
    for (size_t i = 0; i < n; i++)
        fleet->share[i] = 1.0;
    return fleet;
}

/* Groups that are slow and hold the node among nodes that are not. */
static size_t times_alone(const struct fleet *fleet, int node)
{
    size_t times = 0;

    for (size_t i = 0; i < fleet->n_past; i++) {
        size_t slow = 0, own = 0;

        for (size_t k = 0; k < fleet->past[i].n; k++) {
            slow += fleet->share[fleet->past[i].nodes[k]] < 1.0;
            own += fleet->past[i].nodes[k] == node;
        }
        times += slow == 1 && own == 1;
    }
    return times;
}

static void test_measures_a_sound_fleet_once(void **state)
{
    static const size_t sizes[] = {4, 16, 64, 100, 1000};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct fleet *fleet = fleet_create(sizes[i]);

        bisect(fleet);
        assert_int_equal(fleet->n_past, plan_size(PATTERN_BISECT, sizes[i]).groups);
        free(fleet);
    }
}

static void test_finds_slow_nodes(void **state)
{
    static const size_t sizes[] = {6, 16, 64, 1000};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (size_t slow = 0; slow < sizes[i]; slow += 1 + sizes[i] / 7) {
            struct fleet *fleet = fleet_create(sizes[i]);
            const struct plan_past *last;

            fleet->share[slow] = slow % 2 ? 0.6 : 0.0;
            bisect(fleet);
            last = &fleet->past[fleet->n_past - 1];
            assert_true(last->figure < 36.0);
            assert_true(times_alone(fleet, (int)slow) >= 2);
            /* Halves of a group of sqrt(n), and one more. */
            assert_in_range(fleet->n_past, 1,
                            plan_size(PATTERN_BISECT, sizes[i]).groups + 14);
            assert_in_range(fleet->rounds, 1, 9);
            free(fleet);
        }
    }
}

static void test_finds_several(void **state)
{
    struct fleet *fleet = fleet_create(256);

    (void)state;
    fleet->share[3] = fleet->share[4] = 0.5;
    fleet->share[200] = 0.7;
    bisect(fleet);
    assert_true(times_alone(fleet, 3) >= 2);
    assert_true(times_alone(fleet, 4) >= 2);
    assert_true(times_alone(fleet, 200) >= 2);
    free(fleet);
}

static void test_leaves_out_lost_nodes(void **state)
{
    struct fleet *fleet = fleet_create(64);

    (void)state;
    fleet->is_lost[5] = fleet->is_lost[6] = true;
    fleet->share[7] = 0.5;
    bisect(fleet);
    assert_true(times_alone(fleet, 7) >= 2);
    free(fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_makes_rounds),
        cmocka_unit_test(test_pairs_meet_once),
        cmocka_unit_test(test_scales_over_what_is_left),
        cmocka_unit_test(test_refuses_too_much),
        cmocka_unit_test(test_measures_a_sound_fleet_once),
        cmocka_unit_test(test_finds_slow_nodes),
        cmocka_unit_test(test_finds_several),
        cmocka_unit_test(test_leaves_out_lost_nodes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
