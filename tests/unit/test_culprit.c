/* SPDX-License-Identifier: Apache-2.0 */
/* test_culprit.c - the slow node, link or rack of seeded fleets is named, and of healthy
 * ones nothing is
 *
 * With RINGBENCH_PRINT_TABLES=1 it prints the tables of which bench/MEASUREMENTS.md has a
 * part. Everything is a function of fixed seeds. */
#include "common/base/json_util.h"
#include "server/plan/plan.h"
#include "server/analysis/culprit_model.h"
#include "tests/unit/seeded_noise.h"
#include "tests/unit/test.h"

#define FLEETS 200
#define FEWER test_seeds(50) /* of large ones LARGE; all are tried for the tables */
#define LARGE test_seeds(10)
#define NODES_MAX 256
#define GROUPS_MAX 4096
#define NONE SIZE_MAX

/* What is wrong with a fleet, and how it is measured. */
struct fault {
    size_t n_nodes, per_rack; /* 0: has no labels */
    size_t node, link;        /* the node's next is its other end; NONE: no such fault */
    size_t rack;
    bool is_slow_within;
    double factor;
    double noise;            /* of a case, besides what all have */
    double outliers, states; /* parts of the cases that take 2x, 3x as long */
    size_t rounds;           /* of pairs; 0: as a run has them by default */
};

struct fleet {
    struct fault fault;
    struct noise noise;
    struct culprit_node nodes[NODES_MAX];
    char names[NODES_MAX][16];
    struct culprit_group groups[GROUPS_MAX];
    size_t rounds[GROUPS_MAX];
    size_t n_groups;
    bool is_slow_state;
    struct culprit_fleet asked;
};

/* ---- A fleet ---- */

/* What is wrong is somewhere else in each. */
static struct fault placed(struct fault fault, uint64_t seed)
{
    if (fault.node != NONE)
        fault.node = (fault.node + seed - 1) % fault.n_nodes;
    if (fault.link != NONE)
        fault.link = (fault.link + seed - 1) % fault.n_nodes;
    if (fault.rack != NONE)
        fault.rack = (fault.rack + seed - 1) % (fault.n_nodes / fault.per_rack);
    return fault;
}

static struct fleet *make_fleet(const struct fault *fault, uint64_t seed)
{
    struct fleet *fleet = calloc(1, sizeof(*fleet));

    assert_non_null(fleet);
    fleet->fault = placed(*fault, seed);
    fleet->noise.seed = seed * 7919;
    for (size_t i = 0; i < fault->n_nodes; i++) {
        char rack[24];

        snprintf(fleet->names[i], sizeof(fleet->names[i]), "n%zu", i);
        snprintf(rack, sizeof(rack), "r%zu", fault->per_rack ? i / fault->per_rack : 0);
        fleet->nodes[i].name = fleet->names[i];
        if (fault->per_rack)
            fleet->nodes[i].labels =
                json_pack("{s:s, s:s}", "host", fleet->names[i], "rack", rack);
    }
    fleet->asked = (struct culprit_fleet){.nodes = fleet->nodes,
                                          .n_nodes = fault->n_nodes,
                                          .groups = fleet->groups,
                                          .unit = "GB/s"};
    return fleet;
}

static void free_fleet(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->fault.n_nodes; i++)
        json_decref((json_t *)(uintptr_t)fleet->nodes[i].labels);
    free(fleet);
}

/* The slowest of what the group uses. */
static double share_of(const struct fault *fault, const size_t nodes[2])
{
    size_t inside = 0, ends = 0;
    bool is_hit = false;

    for (size_t i = 0; i < 2; i++) {
        is_hit = is_hit || nodes[i] == fault->node;
        ends += fault->link != NONE && (nodes[i] == fault->link ||
                                        nodes[i] == (fault->link + 1) % fault->n_nodes);
        inside += fault->rack != NONE && nodes[i] / fault->per_rack == fault->rack;
    }
    is_hit = is_hit || ends == 2 || (inside && (inside < 2 || fault->is_slow_within));
    return is_hit ? fault->factor : 1;
}

/* What a case takes longer for reasons of its own: 1 % by itself, 1 % of its size, 2 % of
 * each of 8 calls. */
static double disturbance(struct fleet *fleet)
{
    struct noise *noise = &fleet->noise;
    double factor = exp(0.01 * noise_normal(noise) + 0.01 * noise_normal(noise) +
                        0.02 / sqrt(8) * noise_normal(noise));

    if (fleet->fault.noise > 0)
        factor *= exp(fleet->fault.noise * noise_normal(noise));
    if (noise_uniform(noise) < fleet->fault.outliers)
        factor *= 2;
    if (noise_uniform(noise) < 1.0 / 3)
        fleet->is_slow_state = noise_uniform(noise) < fleet->fault.states;
    return fleet->is_slow_state ? 3 * factor : factor;
}

static void measure(struct fleet *fleet, size_t round, const size_t nodes[2],
                    bool confirms)
{
    assert_true(fleet->n_groups < GROUPS_MAX);
    fleet->rounds[fleet->n_groups] = round;
    fleet->groups[fleet->n_groups++] = (struct culprit_group){
        .nodes = {nodes[0], nodes[1]},
        .figure = 46 / 1.02 * share_of(&fleet->fault, nodes) / disturbance(fleet),
        .confirms = confirms};
    fleet->asked.n_groups = fleet->n_groups;
}

/* By a plan, to its end or until it would confirm. */
static void measure_all(struct fleet *fleet, bool with_confirming)
{
    struct plan_pool pool = {.pattern = PATTERN_PAIRS,
                             .rounds = fleet->rounds,
                             .n_rounds = fleet->fault.rounds};
    struct plan_round made;
    bool goes_on = true;

    for (size_t round = 0; goes_on; round++) {
        pool.fleet = fleet->asked;
        plan_round_make(&pool, round, &made);
        goes_on = made.n > 0 && (with_confirming || !made.confirms);
        for (size_t i = 0; i < made.n && goes_on; i++)
            measure(fleet, round, &made.nodes[2 * i], made.confirms);
        plan_round_release(&made);
    }
}

static json_t *judge(const struct fault *fault, uint64_t seed, size_t *cases)
{
    struct fleet *fleet = make_fleet(fault, seed);
    json_t *verdict;

    measure_all(fleet, true);
    verdict = culprit_verdict(&fleet->asked);
    assert_non_null(verdict);
    *cases = fleet->n_groups;
    free_fleet(fleet);
    return verdict;
}

/* ---- Was it right ---- */

static const char *answer_of(const json_t *verdict)
{
    return json_get_str(verdict, "answer", "");
}

/* The verdict names the nodes of those that are guilty, and no others. */
static void check_nodes(const json_t *verdict)
{
    const json_t *suspects =
        json_object_get(json_object_get(verdict, "evidence"), "suspects");
    const json_t *named = json_object_get(verdict, "nodes"), *suspect, *node;
    size_t i, k, n = 0;

    json_array_foreach (suspects, i, suspect)
        if (strcmp(json_get_str(suspect, "state", ""), "guilty") == 0)
            json_array_foreach (json_object_get(suspect, "nodes"), k, node)
                n += node != NULL;
    assert_in_range(json_array_size(named), n > 0, n);
}

/* Those named, with a space behind each. */
static void named(const json_t *verdict, char *out, size_t size)
{
    const json_t *suspects =
        json_object_get(json_object_get(verdict, "evidence"), "suspects");
    size_t n = 0;

    *out = '\0';
    check_nodes(verdict);
    for (size_t i = 0; i < json_array_size(suspects); i++) {
        const json_t *it = json_array_get(suspects, i), *nodes;

        assert_null(json_object_get(it, "p")); /* it would be taken for a p value */
        if (strcmp(json_get_str(it, "state", ""), "guilty") != 0)
            continue;
        assert_true(json_get_num(it, "expected_by_chance", 1) <= CULPRIT_LEVEL);
        nodes = json_object_get(it, "nodes");
        if (json_object_get(it, "label"))
            n +=
                (size_t)snprintf(out + n, size - n, "%s ", json_get_str(it, "label", ""));
        else
            for (size_t k = 0; k < json_array_size(nodes); k++)
                n += (size_t)snprintf(out + n, size - n, "%s ",
                                      json_string_value(json_array_get(nodes, k)));
    }
}

static void expected(const struct fault *fault, const char **answer, char out[64])
{
    size_t other = (fault->link + 1) % fault->n_nodes;

    *answer = fault->node != NONE   ? "slow_node"
              : fault->link != NONE ? "slow_link"
              : fault->rack != NONE ? "slow_rack"
                                    : "none";
    *out = '\0';
    if (fault->node != NONE)
        snprintf(out, 64, "n%zu ", fault->node);
    else if (fault->link != NONE)
        snprintf(out, 64, "n%zu n%zu ", other < fault->link ? other : fault->link,
                 other < fault->link ? fault->link : other);
    else if (fault->rack != NONE)
        snprintf(out, 64, "r%zu ", fault->rack);
}

static bool shows_tables;

struct rates {
    size_t right, accused; /* as it is; something else was named */
    size_t open, missed;   /* no answer; "none" in spite of a fault */
    size_t fleets, cases;
};

static struct rates rates_of(const struct fault *fault)
{
    struct rates rates = {.fleets = shows_tables          ? FLEETS
                                    : fault->n_nodes < 64 ? FEWER
                                                          : LARGE};

    for (uint64_t seed = 1; seed <= rates.fleets; seed++) {
        size_t cases;
        json_t *verdict = judge(fault, seed, &cases);
        char names[1024], wanted[64];
        const char *answer;
        struct fault it = placed(*fault, seed);

        expected(&it, &answer, wanted);
        named(verdict, names, sizeof(names));
        if (strcmp(answer_of(verdict), answer) == 0 && strcmp(names, wanted) == 0)
            rates.right++;
        else if (names[0])
            rates.accused++;
        else if (strcmp(answer_of(verdict), "none") == 0)
            rates.missed++;
        else
            rates.open++;
        if (getenv("CULPRIT_SHOW") &&
            (strcmp(names, wanted) != 0 || strcmp(answer_of(verdict), answer) != 0))
            printf("      %llu: %s\n", (unsigned long long)seed,
                   json_get_str(verdict, "sentence", ""));
        rates.cases += cases;
        json_decref(verdict);
    }
    return rates;
}

/* ---- Tests ---- */

static const size_t counts[] = {8, 16, 64};
static const double factors[] = {0.25, 0.5, 0.8};

static struct fault fault_of(size_t n_nodes)
{
    return (struct fault){.n_nodes = n_nodes,
                          .per_rack = n_nodes == 8 ? 2 : 4,
                          .node = NONE,
                          .link = NONE,
                          .rack = NONE,
                          .factor = 1};
}

/* What is asked of it: so many right of 200, and so few wrongly accused. */
static void expect(const char *name, const struct fault *fault, size_t right,
                   size_t accused)
{
    const char *shown = getenv("CULPRIT_SHOW"); /* these alone, with what is wrong */
    struct rates rates;

    if (shown && !strstr(name, shown))
        return;
    rates = rates_of(fault);
    right -= FLEETS - rates.fleets < right ? FLEETS - rates.fleets : right;
    if (shows_tables)
        printf("| %s | %zu | %g | %zu | %zu | %zu | %zu | %zu |\n", name, fault->n_nodes,
               fault->factor, rates.right, rates.accused, rates.open, rates.missed,
               rates.cases / rates.fleets);
    else if (rates.right < right || rates.accused > accused)
        fail_msg("%s, %zu nodes, %g: %zu right, %zu wrong, %zu open", name,
                 fault->n_nodes, fault->factor, rates.right, rates.accused, rates.open);
}

static void each_factor(const char *name, struct fault fault, size_t right)
{
    for (size_t i = 0; i < 3; i++) {
        fault.factor = factors[i];
        expect(name, &fault, right, FLEETS - right);
    }
}

TEST(a_slow_node_is_named)
{
    for (size_t i = 0; i < 3; i++) {
        struct fault fault = fault_of(counts[i]);

        fault.node = 5;
        each_factor("node", fault, 198);
    }
}

/* A link is surely among the pairs only if all of them are measured. */
TEST(a_slow_link_is_named)
{
    for (size_t i = 0; i < 3; i++) {
        struct fault fault = fault_of(counts[i]);

        fault.rounds = fault.n_nodes;
        fault.link = 3;
        each_factor("link, all pairs", fault, 198);
    }
}

TEST(a_slow_rack_is_named)
{
    for (size_t i = 0; i < 3; i++) {
        struct fault fault = fault_of(counts[i]);

        fault.rack = 1;
        each_factor("rack's uplink", fault, 190);
        fault.is_slow_within = true;
        each_factor("all of a rack", fault, 190);
    }
}

TEST(of_a_healthy_fleet_nothing_is_named)
{
    for (size_t i = 0; i < 3; i++) {
        struct fault fault = fault_of(counts[i]);

        expect("healthy", &fault, 198, 1);
        fault.noise = 0.03;
        expect("the same, 3 % more noise", &fault, 180, 1);
    }
}

/* The smallest fault that is found surely, by the rounds that a run has by default. */
TEST(a_node_five_per_cent_behind_is_named)
{
    struct fault fault = fault_of(64);

    fault.node = 5;
    fault.factor = 0.95;
    expect("node", &fault, 198, 0);
}

/* Machines with moods give no answer often, and a wrong one never. */
TEST(moods_are_not_blamed_on_nodes)
{
    for (size_t i = 0; i < 3; i++) {
        struct fault fault = fault_of(counts[i]);

        fault.outliers = 0.1;
        expect("1 case of 10 takes twice as long", &fault, 0, 1);
        fault.outliers = 0;
        fault.states = 0.4;
        expect("two states 3x apart", &fault, 0, 1);
    }
}

static void small_faults_of(size_t n_nodes, double factor)
{
    struct fault fault = fault_of(n_nodes);

    fault.factor = factor;
    fault.node = 5;
    expect("node", &fault, 0, FLEETS);
    fault.node = NONE;
    fault.rack = 1;
    expect("rack's uplink", &fault, 0, FLEETS);
    fault.rack = NONE;
    fault.link = 3;
    fault.rounds = n_nodes;
    if (n_nodes <= 64)
        expect("link, all pairs", &fault, 0, FLEETS);
}

static void small_faults(void)
{
    static const size_t sizes[] = {8, 16, 64, 256};
    static const double small[] = {0.97, 0.95, 0.93, 0.9};
    struct fault large = fault_of(256);

    expect("healthy", &large, 0, FLEETS);
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 4; k++)
            small_faults_of(sizes[i], small[k]);
}

/* ---- Sentences ---- */

static void assert_sentence(const struct fault *fault, const char *answer,
                            const char *sentence)
{
    size_t cases;
    json_t *verdict = judge(fault, 1, &cases);

    assert_string_equal(answer_of(verdict), answer);
    if (!strstr(json_get_str(verdict, "sentence", ""), sentence))
        fail_msg("%s\nlacks: %s", json_get_str(verdict, "sentence", ""), sentence);
    json_decref(verdict);
}

/* Each node of 64 meets eight others. A link between neighbours is never among these
 * pairs: what was not measured is nobody's fault, and the sentence says that it would not
 * show. */
TEST(a_link_that_was_not_measured_is_not_cleared)
{
    struct fault fault = fault_of(64);

    fault.link = 3;
    fault.factor = 0.25;
    expect("link", &fault, 0, 0);
    assert_sentence(&fault, "none", "; a slow link that was not measured would not show");
}

/* A rail that only many nodes fill slows no pair. */
TEST(where_no_pair_is_slow_larger_groups_are_slow_together)
{
    struct fault fault = fault_of(16);

    assert_sentence(&fault, "none",
                    "a larger group is slow, its nodes are slow only together");
}

TEST(a_sentence_names_no_node_that_it_does_not_accuse)
{
    struct fault fault = fault_of(16);
    size_t cases;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        json_t *verdict = judge(&fault, seed, &cases);

        if (strcmp(answer_of(verdict), "none") == 0)
            assert_null(strstr(json_get_str(verdict, "sentence", ""), "(n"));
        json_decref(verdict);
    }
}

TEST(the_sentence_says_what_is_slow_and_what_is_not)
{
    struct fault fault = fault_of(16);

    assert_sentence(&fault, "none",
                    "no node, link or rack stands out; the largest deviation is ");
    fault.factor = 0.5;
    fault.node = 5;
    assert_sentence(&fault, "slow_node", "n5 is slow with 15 of 15 partners (2");
    assert_sentence(&fault, "slow_node", "; its partners are normal with each other");
    fault.node = NONE;
    fault.link = 3;
    assert_sentence(&fault, "slow_link", "the link between n3 and n4 is slow in ");
    fault.link = NONE;
    fault.rack = 2;
    assert_sentence(&fault, "slow_rack", "rack r2 is slow in ");
    assert_sentence(&fault, "slow_rack", "; its nodes are normal with each other");
}

/* Either may be to blame, and which is not to be seen. */
TEST(between_two_racks_the_boundary_is_named)
{
    struct fault fault = fault_of(8);

    fault.per_rack = 4;
    fault.rack = 1;
    fault.factor = 0.5;
    assert_sentence(&fault, "slow_rack",
                    "the network between rack r0 and r1 is slow in ");
}

/* A machine that others use: half of a node's bandwidth could be lost unseen. */
TEST(where_nothing_could_stand_out_none_is_no_answer)
{
    struct fault fault = fault_of(8);
    struct rates rates;

    fault.noise = 0.6;
    rates = rates_of(&fault);
    /* "none"; once in a while many may agree by chance. */
    assert_true(rates.right <= rates.fleets / 100);
    assert_true(rates.accused <= rates.fleets / 200);
    fault.noise = 0.02;
    rates = rates_of(&fault);
    assert_true(rates.right >= rates.fleets - rates.fleets / 10);
    assert_sentence(&(struct fault){.n_nodes = 8,
                                    .node = NONE,
                                    .link = NONE,
                                    .rack = NONE,
                                    .factor = 1,
                                    .noise = 0.6},
                    "not_enough_data", "a node could be ");
}

TEST(two_nodes_are_too_few)
{
    struct fault fault = fault_of(2);

    assert_sentence(&fault, "not_enough_data",
                    "2 of 2 nodes were measured, but at least 3");
}

TEST(a_suspect_without_confirmation_is_not_named)
{
    struct fault fault = fault_of(8);
    struct fleet *fleet;
    json_t *verdict;

    fault.node = 5;
    fault.factor = 0.25;
    fleet = make_fleet(&fault, 1);
    measure_all(fleet, false);
    verdict = culprit_verdict(&fleet->asked);
    assert_string_equal(answer_of(verdict), "not_enough_data");
    assert_non_null(strstr(json_get_str(verdict, "sentence", ""), "n5 looks slow (11"));
    json_decref(verdict);
    free_fleet(fleet);
}

TEST(how_slow_is_slow_is_the_users)
{
    static const double slow[] = {0, 0.15, 0.4, 0.9};
    struct fault fault = fault_of(16);

    fault.node = 5;
    fault.factor = 0.92;
    for (size_t i = 0; i < 4; i++) {
        struct fleet *fleet = make_fleet(&fault, 3);
        json_t *verdict;

        fleet->asked.slow = slow[i];
        measure_all(fleet, true);
        verdict = culprit_verdict(&fleet->asked);
        assert_string_equal(answer_of(verdict), i == 0 ? "slow_node" : "none");
        json_decref(verdict);
        free_fleet(fleet);
    }
}

/* What all nodes together are slow in is no fault of a pair, if none is slow. */
TEST(slow_together_is_an_answer_where_no_pair_is_slow)
{
    for (uint64_t seed = 1; seed <= 10; seed++)
        for (int has_fault = 0; has_fault < 2; has_fault++) {
            struct fault fault = fault_of(16);
            struct fleet *fleet;
            json_t *verdict;

            if (has_fault) {
                fault.node = 5;
                fault.factor = 0.5;
            }
            fleet = make_fleet(&fault, seed);
            fleet->asked.slow_together = "busbw is 20 GB/s";
            measure_all(fleet, true);
            verdict = culprit_verdict(&fleet->asked);
            assert_string_equal(answer_of(verdict),
                                has_fault ? "slow_node" : "slow_together");
            assert_int_equal(json_array_size(json_object_get(verdict, "nodes")),
                             has_fault ? 1 : 0);
            assert_true(has_fault || strstr(json_get_str(verdict, "sentence", ""),
                                            "busbw is 20 GB/s"));
            json_decref(verdict);
            free_fleet(fleet);
        }
}

TEST(a_node_that_never_ran_is_no_healthy_one)
{
    struct fault fault = fault_of(8);
    struct fleet *fleet = make_fleet(&fault, 1);
    json_t *verdict;

    measure_all(fleet, false);
    for (size_t i = 0; i < fleet->n_groups; i++)
        if (fleet->groups[i].nodes[0] == 2 || fleet->groups[i].nodes[1] == 2)
            fleet->groups[i].state = CULPRIT_FAILED;
    verdict = culprit_verdict(&fleet->asked);
    assert_string_equal(answer_of(verdict), "not_enough_data");
    assert_non_null(strstr(json_get_str(verdict, "sentence", ""),
                           "; 7 of 28 measurements failed; n2 was not measured"));
    json_decref(verdict);
    free_fleet(fleet);
}

/* Two cases of each pair: those with n0 are slow, that with n1 less than the others, so
 * that n0 is what is looked at first. One node may have run with n0 alone. */
static json_t *judge_pairs(size_t only_with_n0)
{
    struct fault fault = fault_of(6);
    struct fleet *fleet;
    json_t *verdict;

    fault.per_rack = 0;
    fault.node = 0;
    fault.factor = 0.5;
    fleet = make_fleet(&fault, 1);
    for (size_t a = 0; a < 6; a++)
        for (size_t b = a + 1; b < 6; b++)
            for (size_t times = 0; times < 2; times++)
                if (a == 0 || (a != only_with_n0 && b != only_with_n0))
                    measure(fleet, times, (const size_t[]){a, b}, false);
    for (size_t i = 0; i < fleet->n_groups; i++)
        if (fleet->groups[i].nodes[0] == 0 && fleet->groups[i].nodes[1] == 1)
            fleet->groups[i].figure *= 1.3;
    verdict = culprit_verdict(&fleet->asked);
    free_fleet(fleet);
    return verdict;
}

static bool suspects(const json_t *verdict, const char *node)
{
    const json_t *list =
        json_object_get(json_object_get(verdict, "evidence"), "suspects");
    size_t i;
    json_t *it;

    json_array_foreach (list, i, it) {
        const json_t *nodes = json_object_get(it, "nodes");

        if (json_array_size(nodes) == 1 &&
            strcmp(json_string_value(json_array_get(nodes, 0)), node) == 0)
            return true;
    }
    return false;
}

TEST(a_node_that_ran_with_a_slow_one_alone_is_a_suspect)
{
    json_t *verdict = judge_pairs(1);

    assert_true(suspects(verdict, "n0"));
    assert_true(suspects(verdict, "n1"));
    assert_false(suspects(verdict, "n2"));
    json_decref(verdict);
    verdict = judge_pairs(NONE);
    assert_true(suspects(verdict, "n0"));
    assert_false(suspects(verdict, "n1"));
    json_decref(verdict);
}

static int print_tables(void **state)
{
    (void)state;
    shows_tables = getenv("RINGBENCH_PRINT_TABLES");
    if (shows_tables)
        small_faults();
    return 0;
}

GROUP_FIXTURE(print_tables, NULL);
